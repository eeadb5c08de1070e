/* fourier.h -- what maps made of frequencies share: terms, blocks, cos and sin. */
#ifndef KREIN_FOURIER_H
#define KREIN_FOURIER_H

#include "map/map.h"

/* Frequencies in turns, w / (2 pi), so that the range reduction of cos is exact; column f of W
 * (d x F, row-major) is frequency f; with phases row d of W holds them, for an input that is
 * always 1. Features are interleaved cos, sin pairs with the factor
 * sqrt(|c| / F_t), or with phases sqrt(2 |c| / F_t) cos(w'x + b); c is the coefficient of the term
 * times k(0) of its base kernels. */
typedef struct krein_fourier {
    int64_t F;  /* frequencies */
    bool phase; /* one cos with a phase, else cos and sin */
    float *W;   /* d x F, (d + 1) x F with phases */
    int64_t nterm;
    int64_t first[KREIN_TERMS_MAX + 1]; /* frequencies first[t] .. first[t+1]-1 are of term t */
    float scale[KREIN_TERMS_MAX];
    float *amp;  /* F, or NULL: a further factor of each frequency's features */
    double unit; /* > 0: rows of features are brought to this squared length (nrff) */
} krein_fourier;

/* orf's draws beside the lengths. */
enum { KREIN_ROLE_DIRECTIONS = 1 };

/* Which frequencies of a term are drawn in one call: the memory of a fit. */
typedef enum krein_drawn {
    KREIN_DRAWN_SINGLY,    /* any, in pieces as small as memory likes */
    KREIN_DRAWN_IN_BLOCKS, /* whole blocks of d */
    KREIN_DRAWN_TOGETHER   /* all: first = 0, n = all */
} krein_drawn;

/* Draws frequencies first .. first + n - 1 of one base kernel and adds them to w (n x d). */
typedef krein_status (*krein_draw_fn)(krein_map *map, const krein_kernel *leaf, krein_rng g,
                                      int64_t first, int64_t n, double *w);

/* w (n x d): frequencies first .. first + n - 1 of term t, the sum of those of its base kernels.
 * Polls once. */
krein_status krein__term_draw(krein_map *map, int64_t t, const krein_term *term, krein_draw_fn draw,
                              int64_t first, int64_t n, double *w);
/* KREIN_ESPEC where a base kernel has not the property; what: "radial kernels". */
krein_status krein__fourier_accepts(krein_ctx *ctx, const krein_kernel *kernel, const char *name,
                                    bool (*is)(const krein_kernel_class *), const char *what);
/* The same for radial kernels that are mixtures of Gaussians. */
krein_status krein__mixture_accepts(krein_ctx *ctx, const krein_kernel *kernel, const char *name);
/* Independent draws from the spectral measure: rff's. */
krein_status krein__fourier_draw(krein_map *map, const krein_kernel *leaf, krein_rng g,
                                 int64_t first, int64_t n, double *w);
/* Coefficient of a term times k(0) of its base kernels; KREIN_ESPEC where float32 features could
 * not add up to it. */
krein_status krein__term_mass(const krein_map *map, const krein_term *term, double *mass);
/* Splits D over the terms of the kernel (room for KREIN_TERMS_MAX), equally: fills s but for W,
 * and D, R, sign and scratch of the map. */
krein_status krein__fourier_split(krein_map *map, bool phase, krein_fourier *s, krein_term *terms);
/* Splits D over the terms of the kernel, draws each with `draw`, fills map->state (a
 * krein_fourier), D, R, sign and scratch. */
krein_status krein__fourier_fit(krein_map *map, bool phase, krein_drawn how, krein_draw_fn draw);
void krein__fourier_tile(const krein_map *map, const krein_rows *x, float *out, int64_t ld,
                         float *scratch);
/* As the class has it (waves.h). */
krein_status krein__fourier_waves(krein_ctx *ctx, const krein_map *map, krein_waves *out);
/* Frequencies as they stand in W, and their factors. */
bool krein__fourier_array(const krein_map *map, int64_t i, krein_named_array *out);
void krein__fourier_clear(krein_map *map);
int64_t krein__fourier_features(const krein_map *map, bool phase);
int64_t krein__fourier_pairs(const krein_map *map,
                             int64_t n); /* without phases, as a class has it */
void krein__fourier_cost(const krein_map *map, bool phase, krein_drawn how, krein_cost *out);
/* The same for a number of features that does not follow from the kernel's terms. */
void krein__fourier_cost_of(const krein_map *map, int64_t features, bool phase, krein_drawn how,
                            krein_cost *out);
/* Given frequencies (F x d, radians) and phases (or NULL) instead: each with the factor
 * sqrt(1 / F), or sqrt(2 / F) with phases. Maps with fitted frequencies, and tests. */
krein_status krein__fourier_given(krein_map *map, int64_t F, const double *w, const double *phase);
/* The same with a coefficient each (k ~= sum_f c_f cos w_f'(x - y)); their signs become the
 * signature. */
krein_status krein__fourier_weighted(krein_map *map, int64_t F, const double *w, const double *c);
/* Saves and loads fitted frequencies, factors and signs. */
krein_status krein__fourier_io(krein_map *map, krein_archive *a);

#endif
