/* bank.h -- several kernels on the training rows, as the methods that weigh them see them: each
 * times its scale c_m, which makes its mean diagonal one.
 *
 * Few rows: they are in memory with the matrix of every kernel. Many: a feature map with the
 * kernels' features side by side, and passes over the rows. */
#ifndef KREIN_BANK_H
#define KREIN_BANK_H

#include "kernel/gram_shared.h"
#include "select/select.h"

/* Rows of the samples on which single kernels, or their mean, are tried by ridge regression. */
enum { KREIN_BANK_SAMPLE = 1000 };

typedef struct krein_bank {
    krein_ctx *ctx;
    krein_job *job;
    int64_t M;
    krein_kernel *const *kernel; /* M, without c_m */
    const double *scale;         /* M: c_m */
    /* by matrices; K = NULL: by features */
    krein_probe rows;
    double **K; /* M matrices c_m K_m, rows.n x rows.n, symmetric */
    /* by features: fitted, of kernel m the features first[m] .. first[m+1]-1, times sqrt c_m */
    const krein_map *map;
    int64_t *first; /* M + 1 */
} krein_bank;

/* c_m = 1 / mean of k_m(x, x) over the training rows (M), from one pass. */
krein_status krein__bank_scales(krein_job *job, krein_kernel *const *kernel, int64_t M,
                                double *scale);
/* Rows and matrices of a bank that has ctx, job, M, kernel and scale; a seeded sample where the
 * rows are many. */
krein_status krein__bank_matrices(krein_bank *bank);
void krein__bank_clear(krein_bank *bank);
/* Rows of the matrices. */
int64_t krein__bank_rows(krein_ctx *ctx, int64_t n, int64_t M);

/* How large a bank of M kernels is, for a model of k outputs on n rows with that map. */
typedef struct krein_bank_size {
    const krein_map *map;
    int64_t n, M, k;
    bool matrices;
    double rows; /* of the matrices, or all of them */
    double side; /* of what is factored: those rows, or features */
} krein_bank_size;
krein_bank_size krein__bank_size(const krein_map *map, int64_t n, int64_t M, int64_t k);
/* Bytes and flops of its matrices, or of the moments of its features (those of each kernel alone),
 * added to out; flops of the products between all kernels; bytes of ridge regressions on a sample,
 * `at_once` of them (krein__score_exact, krein__bank_lambda). */
void krein__bank_cost(const krein_bank_size *s, krein_cost *out);
double krein__bank_cross_flops(const krein_bank_size *s);
double krein__bank_sample_bytes(const krein_bank_size *s, int64_t at_once);

/* Second moments of the features of all rows, from one pass, as they are (not centred). Row
 * weights w count as repeated rows. Of y only what krein__scored_fill makes: +-1 codes of the
 * classes (one column for two of them), or numbers less the mean of the data. */
typedef struct krein_moments {
    int64_t D, k;
    double weight;   /* sum of w */
    double *G;       /* D x D, both triangles: sum w zz'; zero outside the kernels' own blocks where
                        cross was not asked for */
    double *mean;    /* D: sum wz / weight */
    double *B;       /* D x k: sum w z y' */
    double *ymean;   /* k */
    double *ysquare; /* k: sum w y^2 */
} krein_moments;
krein_status krein__moments_of(krein_bank *bank, bool cross, krein_moments *out);
void krein__moments_clear(krein_ctx *ctx, krein_moments *m);
/* G - W mm' and B - W m ym', in place: the moments of features and targets less their means. */
void krein__moments_centre(krein_moments *m);

/* The best lambda by leave-one-out of ridge regression with the mean of the kernels, on a sample
 * of the rows; the job's own where it has one. */
krein_status krein__bank_lambda(krein_bank *bank, double *lambda);
/* Classes of two have one problem +1 / -1, others one for each class against the rest: their
 * number, and the labels of n rows in the p-th. */
int64_t krein__bank_problems(const krein_bank *bank);
void krein__bank_signs(const krein_bank *bank, int64_t p, int64_t n, const int32_t *class,
                       double *y);

#endif
