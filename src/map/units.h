/* units.h -- layers of random units sqrt(2/m) step(w'x) (w'x)^n with w ~ N(0, I), whose inner
 * products have the mean A_n(x, y) of the arc-cosine kernels: what arccos, ntkrf and ntksketch
 * share. */
#ifndef KREIN_UNITS_H
#define KREIN_UNITS_H

#include "map/map.h"

typedef struct krein_units {
    int64_t in, m;
    float *W; /* in x m, row-major: column f is the weights of unit f */
} krein_units;

enum { KREIN_UNITS_CHUNK = 512 }; /* units at a time: KREIN_TILE x 512 floats stay in cache */

/* Weights of unit f, input j at (f, j) of the stream. orthogonal: units come in blocks of `in`
 * whose directions are orthonormal and Haar distributed, with chi lengths: each unit is N(0, I)
 * as before, so that means do not change. */
krein_status krein__units_create(krein_ctx *ctx, krein_rng g, int64_t in, int64_t m,
                                 bool orthogonal, krein_units *out);
void krein__units_clear(krein_ctx *ctx, krein_units *u);
/* Bytes held, and more while they are drawn. */
double krein__units_bytes(double in, double m, bool orthogonal, double *drawing);
double krein__units_fit_flops(double in, double m, bool orthogonal);

/* out[i][f] = scale * step(t) t^order, t = w_f'x_i, for m units from `from` on; x is a whole tile
 * of stride ldx, and all KREIN_TILE rows of out are written. */
void krein__units_dense(const krein_units *u, int order, float scale, const float *x, int64_t ldx,
                        int64_t from, int64_t m, float *out, int64_t ld);
/* The same of CSR rows, an input behind the last column being 1; rows->n rows of out. */
void krein__units_sparse(const krein_units *u, int order, float scale, const krein_rows *rows,
                         int64_t from, int64_t m, float *out, int64_t ld);

/* Where term t of n has its share of D features: [first, next); the remainder goes evenly. */
static inline int64_t krein__units_first(int64_t D, int64_t t, int64_t n) { return D * t / n; }
/* map->sign where a coefficient is negative; features first[t] .. first[t+1]-1 are of term t. */
krein_status krein__units_signs(krein_map *map, const krein_term *terms, int64_t n,
                                const int64_t *first);

#endif
