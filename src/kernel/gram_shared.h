/* gram_shared.h -- the kernel matrices of several kernels on the same rows. */
#ifndef KREIN_GRAM_SHARED_H
#define KREIN_GRAM_SHARED_H

#include "kernel/kernel.h"

/* What base kernels are functions of. */
typedef enum krein_gram_basis {
    KREIN_GRAM_DOT = 0, /* <x, y>, |x|, |y| */
    KREIN_GRAM_L1 = 1,  /* |x - y|_1 */
    KREIN_GRAM_BASES = 2
} krein_gram_basis;

/* What the matrices share. The rows must outlive it. Read-only once made: several threads may make
 * matrices from it at the same time, each with a context of its own. */
typedef struct krein_gram_shared {
    krein_rows x;
    int64_t bands;
    double *x64;                     /* dense rows in double, padded to whole bands */
    double *xx;                      /* |x_i|^2 */
    double *basis[KREIN_GRAM_BASES]; /* upper triangle in bands; NULL: made anew for a matrix */
} krein_gram_shared;

/* Keeps what the kernels (their parameters do not matter) are functions of, as far as the memory
 * budget allows it and leaves `beside` bytes for what the caller goes on to allocate. Matrices are
 * the same to the bit whether it is kept or not, and may be of other kernels than these. */
krein_status krein__gram_share(krein_ctx *ctx, const krein_rows *x, krein_kernel *const *kernel,
                               int64_t n_kernels, double beside, krein_gram_shared *out);
void krein__gram_share_end(krein_ctx *ctx, krein_gram_shared *s);
/* K (n x n, both triangles, exactly symmetric) of a kernel without free parameters, on ctx->threads
 * threads; the same bits for any number of them. Kernels with tables are as krein__gram_full makes
 * them. */
krein_status krein__gram_shared_full(krein_ctx *ctx, const krein_kernel *kernel,
                                     const krein_gram_shared *s, double *K);
/* The same rounded to float32, the upper triangle alone: below the diagonal K keeps what it had, or
 * has the other half. */
krein_status krein__gram_shared_upper32(krein_ctx *ctx, const krein_kernel *kernel,
                                        const krein_gram_shared *s, float *K);
/* Bytes, never too few: of krein__gram_share where it keeps all, and of one krein__gram_shared_full
 * beside K where nothing was kept. */
double krein__gram_share_bytes(krein_kernel *const *kernel, int64_t n_kernels, int64_t n, int64_t d,
                               bool sparse, int threads);
double krein__gram_shared_full_bytes(const krein_kernel *kernel, int64_t n, int64_t d, int threads);

#endif
