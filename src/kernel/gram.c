/* gram.c -- kernel values in tiles.
 *
 * <x, y> for a tile of rows is a matrix product; radial kernels take |x|^2 + |y|^2 - 2 <x, y>
 * from it, row by row, while the tile is in cache. Others walk the rows. Expressions have the inner
 * products of a tile once for all of their base kernels (and the L1 distances, in float64, where
 * several want them), and are evaluated in pieces of a row: a sum of many kernels costs their
 * exponentials and little else. float32 for feature blocks, float64 for Gram matrices.
 */
#include "kernel/gram.h"

#include "num/distance.h"
#include "num/blas.h"
#include "num/panels.h"
#include "num/vec.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { PIECE = 384 };

static void l1_rows(const double *p, int64_t d, const double *x, int64_t n, const double *y,
                    int64_t ldy, double *out) {
    (void)p;
    krein__distances64(d, x, n, y, ldy, out);
}
static double l1_coordinate(const double *p, int64_t at, double x, double y) {
    (void)p, (void)at;
    return fabs(x - y);
}
/* The sum is corrected where both rows have an entry: it may fall below zero by a rounding. */
static double l1_finish(const double *p, const double *sum) {
    (void)p;
    return fmax(*sum, 0);
}
const krein_kernel_class krein__gram_l1 = {
    .rows64 = l1_rows, .coordinate = l1_coordinate, .finish = l1_finish};

int64_t krein__gram_near(int64_t bytes) {
    enum { CACHE = 256 << 10, WHOLE = 64 }; /* whole vectors of any kind */
    return krein__max(WHOLE, CACHE / krein__max(bytes, 1) / WHOLE * WHOLE);
}

static double squared_length(const krein_rows *r, int64_t i) {
    double sum = 0;
    if (r->ptr)
        for (int64_t k = r->ptr[i]; k < r->ptr[i + 1]; k++)
            sum += (double)r->val[k] * (double)r->val[k];
    else
        for (int64_t j = 0; j < r->d; j++)
            sum += (double)r->x[i * r->ld + j] * (double)r->x[i * r->ld + j];
    return sum;
}

/* Rows that meet all panels together; columns of their products at a time: both stay in the
 * first-level cache. */
enum { GROUP = 24, WIDE = 8 * KREIN_PANEL };

/* n dense rows of width d as columns, GROUP of them at a time. */
static void turn(int64_t n, int64_t d, const float *x, int64_t ld, float *out) {
    for (int64_t from = 0; from < n; from += GROUP) {
        int64_t rows = krein__min(GROUP, n - from);
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < d; j++) out[from * d + j * rows + i] = x[(from + i) * ld + j];
    }
}

/* Terms of a float32 sum; sums of so many are added up. In one chain 784 inputs between 0 and 1
 * lose three times as much to rounding. */
enum { CHAIN = 64 };

/* out (n x KREIN_PANEL, stride ld) += part (compact) */
static void add_part(int64_t n, const float *part, float *out, int64_t ld) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < KREIN_PANEL; j++) out[i * ld + j] += part[i * KREIN_PANEL + j];
}

/* <x_i, y_j> of a group of rows x that were turned, and m rows of y from j on. OpenBLAS packs y
 * again for every tile, and reached a fifth of this for 8 inputs, and three quarters for 54
 * (num/panels.c). out has room for whole panels. */
static void dots_panels(const krein_gram_rows *g, int64_t n, const float *turned, int64_t j,
                        int64_t m, float *out, int64_t ld) {
    int64_t d = g->y.d;
    float part[GROUP * KREIN_PANEL];
    for (int64_t at = 0; at < m; at += KREIN_PANEL) {
        const float *y = g->panels + (j + at) * d;
        krein__panel_product(false, n, krein__min(CHAIN, d), turned, n, y, out + at, ld, NULL);
        for (int64_t from = CHAIN; from < d; from += CHAIN) {
            krein__panel_product(false, n, krein__min(CHAIN, d - from), turned + from * n, n,
                                 y + from * KREIN_PANEL, part, KREIN_PANEL, NULL);
            add_part(n, part, out + at, ld);
        }
    }
}

/* Of n dense rows x (stride d) with all y; scratch: GROUP d. */
static void dots_dense32(const krein_gram_rows *g, int64_t n, const float *x, float *out,
                         int64_t ld, float *scratch) {
    int64_t m = g->y.n, d = g->y.d, whole = m / KREIN_PANEL * KREIN_PANEL;
    float last[GROUP * KREIN_PANEL];
    for (int64_t i = 0; i < n; i += GROUP) {
        int64_t rows = krein__min(GROUP, n - i);
        turn(rows, d, x + i * d, d, scratch);
        dots_panels(g, rows, scratch, 0, whole, out + i * ld, ld);
        if (whole == m) continue;
        dots_panels(g, rows, scratch, whole, m - whole, last, KREIN_PANEL);
        for (int64_t r = 0; r < rows; r++)
            memcpy(out + (i + r) * ld + whole, last + r * KREIN_PANEL,
                   (size_t)(m - whole) * sizeof *out);
    }
}

/* Values of one base kernel of inner products, less the offset. scratch: x->n d. */
static void leaf_panels(const krein_gram_rows *g, const krein_rows *x, const float *offset,
                        float *out, int64_t ld, float *scratch) {
    const krein_kernel *k = g->kernel;
    const double *p = krein__table_numbers(g->table, g->tables, k);
    int64_t m = g->y.n, d = g->y.d;
    float v[GROUP * WIDE], xx[KREIN_TILE];
    turn(x->n, d, x->x, x->ld, scratch);
    for (int64_t i = 0; i < x->n; i++) xx[i] = (float)squared_length(x, i);
    for (int64_t j = 0; j < m; j += WIDE) /* wide rows of y are read once for all groups */
        for (int64_t i = 0; i < x->n; i += GROUP) {
            int64_t rows = krein__min(GROUP, x->n - i), wide = krein__min(WIDE, m - j);
            dots_panels(g, rows, scratch + i * d, j, wide, v, WIDE);
            for (int64_t r = 0; r < rows; r++) {
                float *row = v + r * WIDE, *to = out + (i + r) * ld + j;
                k->kernel->values32(p, wide, row, xx[i + r], g->yy32 + j);
                if (offset)
                    krein__vless32(wide, row, offset + j, to);
                else
                    memcpy(to, row, (size_t)wide * sizeof *to);
            }
        }
}

/* x is padded to KREIN_TILE rows: BLAS may add up in another order at the end of a product. */
static void dots_dense64(const krein_gram_rows *g, int64_t n, const double *x, double *out,
                         int64_t ld, double *scratch) {
    int64_t d = g->y.d;
    (void)n, (void)scratch;
    krein__dgemm(false, true, KREIN_TILE, g->y.n, d, 1, x, d, g->y64, d, 0, out, ld);
}

#define T float
#define NAME(x) x##32
#define PADDED(n) (n)
#define VALUES values32
#define ROWS rows32
#define FROM_L1(c, p, n, v) (void)(c) /* distances are not shared in float32 */
#define Y(g) ((g)->y.x)
#define Y_LD(g) ((g)->y.ld)
#define YY(g) ((g)->yy32)
#include "kernel/gram_tile.inc"
#undef T
#undef NAME
#undef PADDED
#undef VALUES
#undef ROWS
#undef FROM_L1
#undef Y
#undef Y_LD
#undef YY

#define T double
#define NAME(x) x##64
#define PADDED(n) KREIN_TILE
#define VALUES values64
#define ROWS rows64
#define FROM_L1(c, p, n, v) (c)->from_l1(p, n, v)
#define Y(g) ((g)->y64)
#define Y_LD(g) ((g)->y.d)
#define YY(g) ((g)->yy64)
#include "kernel/gram_tile.inc"

void krein__gram_less32(const krein_gram_rows *g, const krein_rows *x, const float *offset,
                        float *out, int64_t ld, float *scratch) {
    const krein_kernel *k = g->kernel;
    if (g->panels && k->node == KREIN_NODE_LEAF && krein__from_dots(k->kernel)) {
        leaf_panels(g, x, offset, out, ld, scratch);
        return;
    }
    tile32(g, x, out, ld, scratch);
    for (int64_t i = 0; offset && i < x->n; i++)
        for (int64_t j = 0; j < g->y.n; j++) out[i * ld + j] -= offset[j];
}
void krein__gram_tile32(const krein_gram_rows *g, const krein_rows *x, float *out, int64_t ld,
                        float *scratch) {
    krein__gram_less32(g, x, NULL, out, ld, scratch);
}
void krein__gram_tile64(const krein_gram_rows *g, const krein_rows *x, double *out, int64_t ld,
                        double *scratch) {
    tile64(g, x, out, ld, scratch);
}

void krein__gram_values32(const krein_gram_rows *g, int64_t n, const float *dot, const float *xx,
                          float *out, int64_t ld, float *scratch) {
    work32 w = {.g = g, .dot = dot};
    memcpy(w.xx, xx, (size_t)n * sizeof *xx);
    pieces32(&w, n, out, ld, scratch);
}

void krein__gram_dots_sparse(const krein_rows *rows, const krein_rows *y, double *out, int64_t ld,
                             double *zeros) {
    dots_sparse64(rows, y, out, ld, zeros);
}
void krein__gram_rows_sparse(const krein_kernel_class *c, const double *p, const krein_rows *rows,
                             const krein_rows *y, double *out, int64_t ld, double *zeros) {
    rows_sparse64(c, p, rows, y, out, ld, zeros);
}

int64_t krein__gram_spares(const krein_kernel *k) {
    if (k->node == KREIN_NODE_LEAF) return 0;
    int64_t left = krein__gram_spares(k->left);
    return k->right ? krein__max(left, 1 + krein__gram_spares(k->right)) : left;
}

static int64_t l1_leaves(const krein_kernel *k) {
    if (!k) return 0;
    if (k->node == KREIN_NODE_LEAF) return k->kernel->from_l1 != NULL;
    return l1_leaves(k->left) + l1_leaves(k->right);
}

static void pack(const krein_rows *y, float *panels) {
    memset(panels, 0, (size_t)(krein__panels(y->n) * KREIN_PANEL * y->d) * sizeof *panels);
    for (int64_t i = 0; i < y->n; i++)
        for (int64_t j = 0; j < y->d; j++)
            panels[krein__panel_index(y->d, j, i)] = y->x[i * y->ld + j];
}

krein_status krein__gram_begin(krein_ctx *ctx, const krein_kernel *kernel, krein_rows y, bool wide,
                               krein_gram_rows *g) {
    krein_status st = KREIN_OK;
    memset(g, 0, sizeof *g);
    g->kernel = kernel;
    g->y = y;
    g->wide = wide;
    g->dots = !krein__kernel_all(kernel, krein__has_rows);
    g->l1 = wide && l1_leaves(kernel) > 1;
    g->scratch = y.ptr ? y.d : (KREIN_TILE + GROUP) * y.d;
    if (kernel->node != KREIN_NODE_LEAF)
        g->scratch += (g->dots ? KREIN_TILE * y.n : 0) +
                      (krein__gram_spares(kernel) + g->l1) * krein__min(y.n, PIECE);
    /* not every kernel on rows has a way through sparse ones */
    TRY(krein__kernel_check_inputs(ctx, kernel, INFINITY, -INFINITY, y.ptr != NULL));
    TRY(krein__tables_open(ctx, kernel, y.d, &g->table, &g->tables));
    if (krein__has_tables(kernel) && y.d != 1) {
        st = krein__fail(ctx, KREIN_EDATA,
                         "precomputed takes one input, the row number in the matrix");
        goto done;
    }
    if (wide)
        NEW(g->yy64, y.n);
    else
        NEW(g->yy32, y.n);
    for (int64_t i = 0; i < y.n; i++) {
        double square = squared_length(&y, i);
        if (wide)
            g->yy64[i] = square;
        else
            g->yy32[i] = (float)square;
    }
    if (!wide && !y.ptr && g->dots) {
        NEW(g->panels, krein__panels(y.n) * KREIN_PANEL * y.d);
        pack(&y, g->panels);
    }
    if (wide && !y.ptr) {
        NEW(g->y64, y.n * y.d);
        for (int64_t i = 0; i < y.n; i++) krein__row_copy_double(&y, i, g->y64 + i * y.d);
    }
done:
    if (st != KREIN_OK) krein__gram_end(ctx, g);
    return st;
}

void krein__gram_end(krein_ctx *ctx, krein_gram_rows *g) {
    krein__free(ctx, g->yy32);
    krein__free(ctx, g->yy64);
    krein__free(ctx, g->panels);
    krein__free(ctx, g->y64);
    krein__tables_close(ctx, g->table, g->tables);
    memset(g, 0, sizeof *g);
}

void krein__gram_unpack(krein_ctx *ctx, krein_gram_rows *g) {
    krein__free(ctx, g->panels);
    g->panels = NULL;
}

krein_status krein__gram_full(krein_ctx *ctx, const krein_kernel *kernel, const krein_rows *x,
                              const krein_rows *y, double *out) {
    krein_status st = KREIN_OK;
    krein_gram_rows g = {0};
    double *scratch = NULL;
    int64_t m = y->n, tiles = (x->n + KREIN_TILE - 1) / KREIN_TILE;
    TRY(krein__gram_begin(ctx, kernel, *y, true, &g));
    /* Each thread: scratch, and one output tile for the padded last rows. */
    int64_t each = g.scratch + KREIN_TILE * m;
    NEW(scratch, ctx->threads * each);
    krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
    for (int64_t t = 0; t < tiles; t++) {
        krein__worker_begin();
        double *mine = scratch + omp_get_thread_num() * each;
        krein_rows rows =
            krein__rows_slice(x, t * KREIN_TILE, krein__min(KREIN_TILE, x->n - t * KREIN_TILE));
        double *to = out + t * KREIN_TILE * m;
        if (rows.n == KREIN_TILE) {
            tile64(&g, &rows, to, m, mine);
        } else {
            double *spare = mine + g.scratch;
            tile64(&g, &rows, spare, m, mine);
            memcpy(to, spare, (size_t)(rows.n * m) * sizeof *to);
        }
        krein__worker_end(c);
    }
    krein__compute_end(c);
done:
    krein__free(ctx, scratch);
    krein__gram_end(ctx, &g);
    return st;
}

krein_status krein__gram_diagonal(krein_ctx *ctx, const krein_kernel *kernel, const krein_rows *x,
                                  double *out) {
    enum { FEW = 32 };
    krein_status st = KREIN_OK;
    double k[FEW * FEW];
    for (int64_t i = 0; i < x->n && st == KREIN_OK; i += FEW) {
        krein_rows some = krein__rows_slice(x, i, krein__min(FEW, x->n - i));
        st = krein__gram_full(ctx, kernel, &some, &some, k);
        for (int64_t j = 0; j < some.n; j++) out[i + j] = k[j * some.n + j];
    }
    return st;
}

double krein__gram_tile_bytes(const krein_kernel *k, int64_t m, int64_t d, double size) {
    double pieces = (double)(krein__gram_spares(k) + 1) * (double)krein__min(m, PIECE);
    return size * (KREIN_TILE * ((double)d + (double)m) + GROUP * (double)d + pieces);
}

double krein__gram_rows_bytes(int64_t m, int64_t d) {
    return 4.0 * ((double)m + KREIN_PANEL) * (double)d + 4.0 * (double)m + 256;
}

double krein__gram_full_bytes(const krein_kernel *k, int64_t m, int64_t d, int threads) {
    double tile = krein__gram_tile_bytes(k, m, d, 8) + 8.0 * KREIN_TILE * (double)m;
    return threads * tile + 8.0 * (double)m * ((double)d + 1) + krein__tables_bytes(k, d) + 4096;
}

/* Of the base kernels, without what they have in common. */
static double value_flops(const krein_kernel *k, int64_t d) {
    if (!k) return 0;
    if (k->node == KREIN_NODE_LEAF) {
        double column = k->kernel->flops ? k->kernel->flops(k->values.number) : 4;
        return krein__has_rows(k->kernel) ? column * (double)d + 20 : 20;
    }
    return 1 + value_flops(k->left, d) + value_flops(k->right, d);
}

double krein__gram_flops(const krein_kernel *k, int64_t d) {
    return value_flops(k, d) + (krein__kernel_all(k, krein__has_rows) ? 0 : 2.0 * (double)d);
}
