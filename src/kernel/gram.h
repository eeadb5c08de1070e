/* gram.h -- kernel values against a fixed set of rows, in tiles. */
#ifndef KREIN_GRAM_H
#define KREIN_GRAM_H

#include "kernel/table.h"

/* y must outlive this; so must the kernel, which must have no free parameter. */
typedef struct krein_gram_rows {
    const krein_kernel *kernel;
    krein_rows y;
    bool wide;          /* float64 values */
    float *yy32;        /* |y_i|^2 */
    float *panels;      /* dense y in panels (num/panels.h), where inner products are not wide */
    double *yy64, *y64; /* wide: y in double */
    int64_t scratch;    /* elements of scratch a thread needs */
    bool dots;          /* some leaf needs <x, y> */
    bool l1;            /* several need |x - y|_1, which they share */
    krein_table *table; /* of the leaves that have more than their options */
    int64_t tables;
} krein_gram_rows;

krein_status krein__gram_begin(krein_ctx *ctx, const krein_kernel *kernel, krein_rows y, bool wide,
                               krein_gram_rows *out);
void krein__gram_end(krein_ctx *ctx, krein_gram_rows *g);
/* k(x_i, y_j) for at most KREIN_TILE rows x, to out with row stride ld >= y.n. out has room for
 * KREIN_TILE rows whatever x.n is (tile32: for x.n). scratch: g->scratch elements of the type. */
void krein__gram_tile32(const krein_gram_rows *g, const krein_rows *x, float *out, int64_t ld,
                        float *scratch);
/* The same less offset[j] (NULL: nothing). */
void krein__gram_less32(const krein_gram_rows *g, const krein_rows *x, const float *offset,
                        float *out, int64_t ld, float *scratch);
void krein__gram_tile64(const krein_gram_rows *g, const krein_rows *x, double *out, int64_t ld,
                        double *scratch);
/* The same from inner products that are there: dot[i * y.n + j] = <x_i, y_j> and xx[i] = |x_i|^2 of
 * n <= KREIN_TILE rows; every base kernel is computed from these (krein__from_dots). */
void krein__gram_values32(const krein_gram_rows *g, int64_t n, const float *dot, const float *xx,
                          float *out, int64_t ld, float *scratch);
/* Parts of a tile of sparse rows, float64, for any number of rows. zeros: d of them, zeros again
 * afterwards. dots: <x_i, y_j>; rows: a base kernel that is computed row by row. */
void krein__gram_dots_sparse(const krein_rows *x, const krein_rows *y, double *out, int64_t ld,
                             double *zeros);
void krein__gram_rows_sparse(const krein_kernel_class *c, const double *p, const krein_rows *x,
                             const krein_rows *y, double *out, int64_t ld, double *zeros);
/* Rows of so many bytes that stay in the second-level cache while others are compared with them. */
int64_t krein__gram_near(int64_t bytes);
/* |x - y|_1 in double, as if it were a base kernel. */
extern const krein_kernel_class krein__gram_l1;
/* Pieces of scratch that an expression needs beside its output, each as large as that: one for a
 * sum, however long. */
int64_t krein__gram_spares(const krein_kernel *k);
/* All of k(x_i, y_j), float64, threaded over tiles; out is x.n x y.n with stride y.n. */
krein_status krein__gram_full(krein_ctx *ctx, const krein_kernel *kernel, const krein_rows *x,
                              const krein_rows *y, double *out);
/* All of k(x_i, x_j) in float32, both triangles, threaded; and the bytes beside out. */
krein_status krein__gram_symmetric32(krein_ctx *ctx, const krein_kernel *kernel,
                                     const krein_rows *x, float *out);
double krein__gram_symmetric_bytes(const krein_kernel *k, int64_t n, int64_t d, int threads);
/* k(x_i, x_i) of all rows. */
krein_status krein__gram_diagonal(krein_ctx *ctx, const krein_kernel *kernel, const krein_rows *x,
                                  double *out);
/* Bytes that krein__gram_full against m rows of width d holds beside its output, on so many
 * threads; tile: those of one thread's scratch for a tile of values of `size` bytes. */
double krein__gram_full_bytes(const krein_kernel *k, int64_t m, int64_t d, int threads);
double krein__gram_tile_bytes(const krein_kernel *k, int64_t m, int64_t d, double size);
/* What krein_gram_rows holds of m dense rows of width d, in float32. */
double krein__gram_rows_bytes(int64_t m, int64_t d);
/* Gives back what inner products of dense rows take, where only krein__gram_values32 is used. */
void krein__gram_unpack(krein_ctx *ctx, krein_gram_rows *g);
/* Flops of one value, roughly. */
double krein__gram_flops(const krein_kernel *k, int64_t d);

#endif
