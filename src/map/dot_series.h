/* dot_series.h -- what the maps of dot-product kernels share: k = sum_n a_n <x, y>^n, and how D
 * features are split over the degrees n. */
#ifndef KREIN_DOT_H
#define KREIN_DOT_H

#include "map/map.h"

enum { KREIN_DOT_MAX = 128 };

typedef struct krein_dot {
    int64_t degree; /* the largest */
    double a[KREIN_DOT_MAX];
    double norm; /* |x|^2 <= norm on the rows it is for; 0: a polynomial, for all rows */
    double rest; /* what was cut off, as a part of sum_n |a_n| norm^n */
} krein_dot;

/* KREIN_ESPEC for kernels that are no series, or polynomial of at most this degree, even on rows of
 * length one. KREIN_DOT_ANY: a series of any length. */
enum { KREIN_DOT_ANY = 1 << 20 };
krein_status krein__dot_accepts(krein_ctx *ctx, const krein_kernel *kernel, const char *name,
                                int64_t degree);
/* The whole of fit for a map whose state, of so many bytes, begins with its krein_dot: the series
 * of the kernel, and what `build` makes of it for D features. Polynomials need no rows. For the
 * others `rows` must have length one, or be shorter than the reach of the series: KREIN_EDATA with
 * the way out. rows NULL: they are taken to have length one. */
typedef krein_status (*krein_dot_build)(krein_map *map, int64_t D);
krein_status krein__dot_fit(krein_map *map, krein_stream *rows, size_t state,
                            krein_dot_build build);
/* Saves and loads the series; a map that is loaded is built again. */
krein_status krein__dot_io(krein_map *map, krein_archive *a, size_t state, krein_dot_build build);
/* The same without rows, for estimates; false where there is none (yet: free parameters). */
bool krein__dot_guess(const krein_map *map, krein_dot *out);
/* Facts of a fitted map: the degree and what was cut off. */
bool krein__dot_fact(const krein_map *map, int64_t i, krein_fact *out);
bool krein__dot_mixed(const krein_dot *s);  /* some a_n is negative */
bool krein__dot_affine(const krein_dot *s); /* a_0 + a_1 <x, y> */

/* D features over the degrees. Degree n has count[n] of them, which together have the mean
 * mass[n] <x, y>^n where count[n] > 0; mass[n] = |a_n| / P[count[n] > 0]. */
typedef struct krein_split {
    int64_t total;
    bool constant, linear; /* degree 0 is one constant, degree 1 the row itself: exact */
    int64_t count[KREIN_DOT_MAX];
    double mass[KREIN_DOT_MAX];
} krein_split;
/* How a map splits D. */
typedef void (*krein_split_fn)(const krein_map *map, const krein_dot *s, int64_t D,
                               krein_split *out);
/* Features that a split of the map's D makes, before it is fitted; D with a free parameter. */
int64_t krein__dot_features(const krein_map *map, krein_split_fn split);
/* u: a uniform number that decides where shares are not whole. */
void krein__dot_split(const krein_dot *s, int64_t d, int64_t D, double u, krein_split *out);
/* The uniform number of a map, from its seed. */
double krein__dot_uniform(const krein_map *map);
/* map->sign from the signs of a_n, features in the order of their degrees; none where all are +1.
 */
krein_status krein__dot_signs(krein_map *map, const krein_dot *s, const krein_split *split);

#endif
