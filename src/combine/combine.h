/* combine.h -- weights of several kernels: which sum of them to train on.
 *
 *     k = sum_m mu_m c_m k_m,   mu >= 0, sum mu = 1,   c_m = n / sum_i k_m(x_i, x_i)
 *
 * One file a method; each works on matrices (few rows: can be checked) and on features (many rows:
 * nothing is as large as n x n), see bank.h. */
#ifndef KREIN_COMBINE_H
#define KREIN_COMBINE_H

#include "combine/bank.h"
#include "learn/mkl.h"

/* A way to find weights. `find` fills mu (M, >= 0, any scale; all zero where the method left no
 * kernel over). */
typedef struct krein_combiner {
    int tasks;       /* KREIN_FOR_... */
    bool indefinite; /* such kernels may take part, with their signature */
    bool row_weights;
    bool alone; /* it needs neither matrices nor features of the bank */
    const char
        *way_out; /* what to change where it leaves no kernel over; NULL: nothing of its own */
    krein_status (*find)(krein_bank *bank, const krein_mkl *o, double *mu);
    /* Bytes and flops, roughly, beside those of the bank, added to out; NULL: none to speak of. */
    void (*cost)(const krein_bank_size *size, krein_cost *out);
} krein_combiner;

extern const krein_combiner krein__combine_average, krein__combine_alignment,
    krein__combine_centered, krein__combine_easymkl, krein__combine_pwmk, krein__combine_lp,
    krein__combine_conv, krein__combine_smsd, krein__combine_ufo;

/* What does not go together, before any row is read: the method and the kernels of a list. */
krein_status krein__combine_check(krein_ctx *ctx, const krein_mkl *o,
                                  const krein_kernel_list *list);
/* And the method and the data. */
krein_status krein__combine_meet(const krein_job *job, const krein_mkl *o);
/* Whether the method needs neither matrices nor features: a map need not be fitted for it. */
bool krein__combine_alone(const krein_mkl *o);
/* mu (M, >= 0, sum one). map: NULL or a map of kernel values: by matrices; else the kernels'
 * features side by side, fitted, each kernel's times sqrt(scale). */
krein_status krein__combine(krein_job *job, const krein_mkl *o, const krein_kernel_list *list,
                            const double *scale, const krein_map *map, double *mu);
/* Bytes and flops for a model with that map, whose bytes are among them. */
krein_cost krein__combine_cost(const krein_mkl *o, const krein_map *map, int64_t n, int64_t M,
                               int64_t k);
/* Kernels of method nsmkl where none are given: `count` tangent kernels of random depth 1 .. 5 and
 * scale. */
krein_status krein__combine_draw(krein_ctx *ctx, const krein_mkl *o, uint64_t seed,
                                 krein_kernel_list *out);

#endif
