/* measure.h -- signed radial spectral measures: k(z) = int f(r) Omega_d(r z) dr.
 *
 * Two ways to one: the law, where f is a sum of known densities, for all distances; atoms, where
 * k is any smooth function of the distance, for 0 <= z <= R.
 */
#ifndef KREIN_MEASURE_H
#define KREIN_MEASURE_H

#include "kernel/kernel.h"
#include "num/omega.h"

/* Whether k is a difference of two positive definite kernels of the distance: whether its measure
 * on R^d has finite mass. */
typedef enum krein_mass {
    KREIN_MASS_FINITE = 0,
    KREIN_MASS_WITHIN = 1,  /* that of a function which is k on [0, R] has; k itself is not known */
    KREIN_MASS_INFINITE = 2 /* every measure that gives k on [0, R] */
} krein_mass;
typedef struct krein_decomposition {
    krein_mass mass;
    double edge, power; /* where that is not finite and a base kernel is cut off: as it is there */
} krein_decomposition;
krein_decomposition krein__decomposition(const krein_kernel *k, int64_t d, double R);

/* f(r) = sum of a * density(p, d, r) */
typedef struct krein_component {
    double a;
    double (*density)(const double *p, int64_t d, double r);
    double p[KREIN_OPTIONS_MAX];
} krein_component;

/* The components of a kernel whose terms have known radial densities: one radial base kernel each,
 * or a product of Gaussians. out has KREIN_TERMS_MAX; *n = 0 where there is another term. */
krein_status krein__kernel_components(krein_ctx *ctx, const krein_kernel *k, int64_t d,
                                      krein_component *out, int64_t *n);

/* The positive part of f (0) and the negative one (1): masses, and cumulative masses at radii. */
typedef struct krein_law {
    int64_t n;
    double *r, *cumulative[2];
    double mass[2];
} krein_law;

krein_status krein__law_make(krein_ctx *ctx, int64_t d, const krein_component *c, int64_t n,
                             krein_law *out);
/* The radius below which there is the share u of a part. */
double krein__law_quantile(const krein_law *law, int part, double u);
void krein__law_clear(krein_ctx *ctx, krein_law *law);

/* sum_j a_j Omega_d(r_j z), ascending r. */
enum { KREIN_ATOMS_MAX = 160 };
typedef struct krein_atoms {
    int64_t n;
    double r[KREIN_ATOMS_MAX], a[KREIN_ATOMS_MAX];
    double mass[2]; /* of the positive ones, of the negative ones */
    double error;   /* max |sum - k| on [0, R] */
} krein_atoms;

/* The least squares problem behind them; one for all weights of the mass. */
typedef struct krein_atom_grid {
    int64_t d, nz, nr, ncheck;
    double R, top; /* top: max |k| */
    bool positive; /* positive atoms only */
    krein_omega_table omega;
    double *z, *k, *r;        /* nz, nz, nr */
    double *zcheck, *kcheck;  /* ncheck */
    double *a, *b, *unknowns; /* (nz + 1) x columns, nz + 1, columns */
} krein_atom_grid;

/* k = krein__kernel_profile(kernel, unit, z). A kernel that is positive definite on R^d has
 * positive atoms. */
krein_status krein__atom_grid(krein_ctx *ctx, const krein_kernel *kernel, bool unit, int64_t d,
                              double R, krein_atom_grid *out);
/* delta: weight of the mass, relative to max |k|; 1e-2 gives an error of about 1e-2, 1e-4 of
 * 3e-4. */
krein_status krein__atoms_fit(krein_ctx *ctx, krein_atom_grid *grid, double delta,
                              krein_atoms *out);
/* Joins neighbours of one sign until at most `most` are left. */
void krein__atoms_merge(const krein_atom_grid *grid, int64_t most, krein_atoms *atoms);
double krein__atoms_value(const krein_omega_table *omega, const krein_atoms *atoms, double z);
void krein__atom_grid_clear(krein_ctx *ctx, krein_atom_grid *grid);

#endif
