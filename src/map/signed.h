/* signed.h -- what maps with a signed radial measure share: the distances of the data, layouts of
 * frequencies and their variance, drawing.
 *
 * A layout says how F frequencies w = r u share the mass of a measure. Its frequencies form lists;
 * position p of a list has direction u_p of the list's sequence, so lists of one sequence share
 * directions. A list holds groups of one radius (atoms), or the radii of one part of a law.
 */
#ifndef KREIN_SIGNED_H
#define KREIN_SIGNED_H

#include "kernel/measure.h"
#include "map/fourier.h"

/* The distances between rows. */
enum { KREIN_DISTANCES = 16 };
typedef struct krein_spread {
    bool unit;                 /* all rows have length one */
    double R;                  /* no two rows are farther apart */
    double z[KREIN_DISTANCES]; /* evenly spaced quantiles of the distances of a sample */
} krein_spread;

/* One pass over the rows. KREIN_EDATA where the kernel is a function of <x, y> and the rows are
 * not of length one. */
krein_status krein__spread(krein_map *map, krein_stream *rows, int64_t n, krein_spread *out);

typedef enum krein_route { KREIN_ROUTE_DENSITY = 1, KREIN_ROUTE_ATOMS = 2 } krein_route;
typedef enum krein_coupling {
    KREIN_COUPLING_NONE = 0, /* independent directions */
    KREIN_COUPLING_NESTED = 1,
    KREIN_COUPLING_FULL = 2,
    KREIN_COUPLING_SEPARATE = 3
} krein_coupling;

enum { KREIN_GROUPS = 12 }; /* that stand for one part of a law in the variance */

typedef struct krein_layout {
    krein_coupling coupling;
    int64_t d, nlist, ngroup;
    const krein_law *law; /* NULL: atoms */
    struct {
        int sequence;
        int64_t first, groups; /* groups first .. first + groups - 1 */
        int64_t total;         /* frequencies */
        double mass;           /* with its sign */
    } list[KREIN_ATOMS_MAX];
    struct {
        double r, a, n; /* coefficient of all n frequencies together */
    } group[KREIN_ATOMS_MAX];
} krein_layout;

/* False where F frequencies are too few. */
bool krein__layout_atoms(int64_t d, int64_t F, const krein_atoms *atoms, krein_coupling coupling,
                         krein_layout *out);
bool krein__layout_law(int64_t d, int64_t F, const krein_law *law, krein_coupling coupling,
                       krein_layout *out);
/* The exact variance of sum_i c_i cos w_i'(x - y) at |x - y| = z (of a law in groups: nearly). */
double krein__layout_variance(const krein_layout *layout, const krein_omega_table *omega, double z);

/* Facts of a fitted map; saved with it. */
typedef struct krein_signed {
    krein_fourier fourier; /* first: tile() and clear() of fourier.c take it */
    double fact[8];
} krein_signed;
enum {
    KREIN_FACT_ROUTE = 0,
    KREIN_FACT_COUPLING = 1,
    KREIN_FACT_POSITIVE = 2,
    KREIN_FACT_NEGATIVE = 3,
    KREIN_FACT_ATOMS = 4,
    KREIN_FACT_ERROR = 5,
    KREIN_FACT_REACH = 6,
    KREIN_FACT_EXPECTED = 7
};

/* Draws the frequencies of a layout and makes the map's state. fact: 8 values. */
krein_status krein__signed_draw(krein_map *map, const krein_layout *layout, const double *fact);

/* Options of grff and gorf. */
#define KREIN_OPTION_ROUTE                                                                         \
    {                                                                                              \
        .name = "route", .type = KREIN_OPTION_WORD, .value = 0, .words = "auto|density|atoms",     \
        .help = "where radii come from: the spectral density, or atoms fitted to the kernel"       \
    }
#define KREIN_OPTION_TOL                                                                           \
    {                                                                                              \
        .name = "tol", .value = NAN, .low = 0, .low_open = true, .high = 1,                        \
        .help = "greatest error of atoms, relative to the largest kernel value; chosen with the "  \
                "variance when not given"                                                          \
    }

/* The whole of grff and gorf: finds measure and layout by their expected error, draws. A choice of
 * 0 is open; independent: grff's. tol: NAN or the greatest error of atoms, relative to max |k|. */
typedef struct krein_signed_options {
    const char *name;
    bool independent;
    int route, coupling;
    double tol;
    bool clip; /* mixtures: positive measures only */
} krein_signed_options;
krein_status krein__signed_fit(krein_map *map, krein_stream *rows, int64_t n,
                               const krein_signed_options *o);
/* The whole of srf and digmm: a mixture of Gaussians is fitted, and its law drawn from. */
krein_status krein__signed_mixture(krein_map *map, krein_stream *rows, int64_t n,
                                   const krein_signed_options *o);

krein_status krein__signed_accepts(krein_ctx *ctx, const krein_kernel *kernel, const char *name);
int64_t krein__signed_features(const krein_map *map, int64_t n);
void krein__signed_cost(const krein_map *map, int64_t n, krein_cost *out);
krein_status krein__signed_io(krein_map *map, krein_archive *a);
bool krein__signed_fact(const krein_map *map, int64_t i, krein_fact *out);

#endif
