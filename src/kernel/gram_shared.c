/* gram_shared.c -- the kernel matrices of several kernels on the same rows.
 *
 * Most base kernels are functions of <x, y>, |x| and |y|, or of |x - y|_1. These n (n+1)/2 numbers
 * are computed once and kept, n^2 d operations; each matrix then costs the n^2/2 values (mostly
 * exponentials) of one triangle, and the writing of both.
 *
 * BANDS. The upper triangle is cut into bands of BAND rows, from the diagonal to the last column;
 * a band is one matrix product, and the work of one thread. Both sides are padded with zeros to
 * whole bands, a multiple of what the kernels of OpenBLAS take at a time: inner products of equal
 * rows are summed in the same order and cancel in |x|^2 + |y|^2 - 2 <x, y>. |x_i|^2 is such a
 * product too, and stands on the diagonal: k(x, x) of a radial kernel is k(0) to the bit.
 *
 * CHUNKS. A band is evaluated in pieces of CHUNK columns, one row at a time in the first-level
 * cache. Of a whole matrix it is mirrored while it is still in the second; for the upper triangle
 * in float32 it is rounded there. What is not kept is made for a band at a time, by the same code.
 * Base kernels that are functions of neither walk the rows of a chunk.
 */
#include "kernel/gram_shared.h"

#include "kernel/gram.h"
#include "num/blas.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { BAND = 96, CHUNK = 384 };

static int64_t bands_of(int64_t n) { return (n + BAND - 1) / BAND; }

/* Numbers in the first t of so many bands. */
static int64_t packed(int64_t bands, int64_t t) {
    return (int64_t)BAND * BAND * (t * bands - t * (t - 1) / 2);
}

static int64_t stride(const krein_gram_shared *s, int64_t t) { return (s->bands - t) * BAND; }

static int64_t rows_of(const krein_gram_shared *s, int64_t t) {
    return krein__min(BAND, s->x.n - t * BAND);
}

/* Some base kernel is a function of it. */
static bool uses(const krein_kernel *k, krein_gram_basis b) {
    if (!k) return false;
    if (k->node != KREIN_NODE_LEAF) return uses(k->left, b) || uses(k->right, b);
    return (b == KREIN_GRAM_DOT ? k->kernel->values64 != NULL : k->kernel->from_l1 != NULL);
}

/* Kernels with tables go their own way. */
static bool some_use(krein_kernel *const *kernel, int64_t n, krein_gram_basis b) {
    for (int64_t i = 0; i < n; i++)
        if (!krein__has_tables(kernel[i]) && uses(kernel[i], b)) return true;
    return false;
}

/* ---- what is shared ------------------------------------------------------ */

/* zeros: d of them, for sparse rows. */
static void dot_band(const krein_gram_shared *s, int64_t t, double *out, double *zeros) {
    int64_t first = t * BAND, ld = stride(s, t), d = s->x.d, n = rows_of(s, t);
    if (!s->x.ptr) {
        const double *x = s->x64 + first * d;
        krein__dgemm(false, true, BAND, ld, d, 1, x, d, x, d, 0, out, ld);
    } else {
        krein_rows x = krein__rows_slice(&s->x, first, n);
        krein_rows y = krein__rows_slice(&s->x, first, s->x.n - first);
        krein__gram_dots_sparse(&x, &y, out, ld, zeros);
    }
    for (int64_t i = 0; i < n; i++) out[i * ld + i] = s->xx[first + i];
}

static void l1_chunk(const krein_gram_shared *s, int64_t i, int64_t from, int64_t to, double *out,
                     double *zeros) {
    int64_t d = s->x.d;
    if (s->x.ptr) {
        krein_rows x = krein__rows_slice(&s->x, i, 1),
                   y = krein__rows_slice(&s->x, from, to - from);
        krein__gram_rows_sparse(&krein__gram_l1, NULL, &x, &y, out, to - from, zeros);
    } else {
        krein__gram_l1.rows64(NULL, d, s->x64 + i * d, to - from, s->x64 + from * d, d, out);
    }
}

static void l1_band(const krein_gram_shared *s, int64_t t, double *out, double *zeros) {
    int64_t first = t * BAND, ld = stride(s, t), n = rows_of(s, t);
    int64_t chunk = krein__min(CHUNK, krein__gram_near(s->x.d * (int64_t)sizeof *out));
    for (int64_t c = first; c < s->x.n; c += chunk)
        for (int64_t i = 0; i < n; i++) {
            int64_t from = krein__max(c, first + i), to = krein__min(c + chunk, s->x.n);
            if (from < to) l1_chunk(s, first + i, from, to, out + i * ld + from - first, zeros);
        }
    for (int64_t i = 0; i < n; i++) out[i * ld + i] = 0;
}

static void basis_band(const krein_gram_shared *s, krein_gram_basis b, int64_t t, double *out,
                       double *zeros) {
    if (b == KREIN_GRAM_DOT)
        dot_band(s, t, out, zeros);
    else
        l1_band(s, t, out, zeros);
}

/* |x_i|^2 of a band, as an inner product like the others. block: BAND^2 numbers, for dense rows. */
static void squares(krein_gram_shared *s, int64_t t, double *block, double *zeros) {
    int64_t first = t * BAND, d = s->x.d;
    if (!s->x.ptr) {
        const double *x = s->x64 + first * d;
        krein__dgemm(false, true, BAND, BAND, d, 1, x, d, x, d, 0, block, BAND);
    }
    for (int64_t i = 0; i < rows_of(s, t); i++) {
        krein_rows x = krein__rows_slice(&s->x, first + i, 1);
        if (s->x.ptr)
            krein__gram_dots_sparse(&x, &x, &s->xx[first + i], 1, zeros);
        else
            s->xx[first + i] = block[i * BAND + i];
    }
}

static krein_status fill(krein_ctx *ctx, krein_gram_shared *s) {
    krein_status st = KREIN_OK;
    double *scratch = NULL;
    int64_t each = s->x.ptr ? s->x.d : BAND * BAND, bands = s->bands;
    ZNEW(scratch, ctx->threads * each);
    krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
    for (int64_t t = 0; t < bands; t++) {
        krein__worker_begin();
        double *mine = scratch + omp_get_thread_num() * each;
        squares(s, t, mine, mine);
        for (int b = 0; b < KREIN_GRAM_BASES; b++)
            if (s->basis[b])
                basis_band(s, (krein_gram_basis)b, t, s->basis[b] + packed(bands, t), mine);
        krein__worker_end(c);
    }
    krein__compute_end(c);
done:
    krein__free(ctx, scratch);
    return st;
}

static krein_status widen(krein_ctx *ctx, krein_gram_shared *s) {
    krein_status st = KREIN_OK;
    int64_t n = s->x.n, d = s->x.d, whole = s->bands * BAND;
    NEW(s->x64, whole * d);
    for (int64_t i = 0; i < n; i++) krein__row_copy_double(&s->x, i, s->x64 + i * d);
    memset(s->x64 + n * d, 0, (size_t)((whole - n) * d) * sizeof *s->x64);
done:
    return st;
}

/* What the budget has left. */
static double room(const krein_ctx *ctx) {
    return (double)ctx->budget - (double)atomic_load(&ctx->held);
}

/* Scratch of fill, and a little. */
static double fill_bytes(int64_t d, bool sparse, int threads) {
    return 8.0 * threads * (sparse ? (double)d : BAND * BAND) + 1024;
}

krein_status krein__gram_share(krein_ctx *ctx, const krein_rows *x, krein_kernel *const *kernel,
                               int64_t n_kernels, double beside, krein_gram_shared *s) {
    krein_status st = KREIN_OK;
    memset(s, 0, sizeof *s);
    s->x = *x;
    s->bands = bands_of(x->n);
    int64_t size = packed(s->bands, s->bands);
    double other = beside + fill_bytes(x->d, x->ptr != NULL, ctx->threads);
    if (!x->ptr) TRY(widen(ctx, s));
    NEW(s->xx, s->bands * BAND);
    for (int b = 0; b < KREIN_GRAM_BASES; b++)
        if (some_use(kernel, n_kernels, (krein_gram_basis)b) &&
            8.0 * (double)size + other <= room(ctx))
            NEW(s->basis[b], size);
    TRY(fill(ctx, s));
done:
    if (st != KREIN_OK) krein__gram_share_end(ctx, s);
    return st;
}

void krein__gram_share_end(krein_ctx *ctx, krein_gram_shared *s) {
    krein__free(ctx, s->x64);
    krein__free(ctx, s->xx);
    for (int b = 0; b < KREIN_GRAM_BASES; b++) krein__free(ctx, s->basis[b]);
    memset(s, 0, sizeof *s);
}

/* ---- one matrix ---------------------------------------------------------- */

typedef struct work {
    const krein_gram_shared *s;
    int64_t first, ld;                     /* of the band */
    const double *basis[KREIN_GRAM_BASES]; /* its numbers */
    double *spare;                         /* CHUNK numbers for each level of the expression */
    double *zeros;                         /* d of them, for sparse rows */
    const krein_table *table;              /* of the kernel's leaves */
    int64_t tables;
} work;

/* Columns from .. from + n - 1 of row i, n <= CHUNK. */
static void leaf(const work *w, const krein_kernel *k, int64_t i, int64_t from, int64_t n,
                 double *out) {
    const krein_gram_shared *s = w->s;
    const krein_kernel_class *c = k->kernel;
    const double *p = krein__table_numbers(w->table, w->tables, k);
    int64_t at = (i - w->first) * w->ld + from - w->first, d = s->x.d;
    if (c->values64) {
        memcpy(out, w->basis[KREIN_GRAM_DOT] + at, (size_t)n * sizeof *out);
        c->values64(p, n, out, s->xx[i], s->xx + from);
    } else if (c->from_l1) {
        memcpy(out, w->basis[KREIN_GRAM_L1] + at, (size_t)n * sizeof *out);
        c->from_l1(p, n, out);
    } else if (s->x.ptr) {
        krein_rows x = krein__rows_slice(&s->x, i, 1), y = krein__rows_slice(&s->x, from, n);
        krein__gram_rows_sparse(c, p, &x, &y, out, n, w->zeros);
    } else {
        c->rows64(p, d, s->x64 + i * d, n, s->x64 + from * d, d, out);
    }
}

static void node(const work *w, const krein_kernel *k, int64_t i, int64_t from, int64_t n,
                 double *out, double *spare) {
    if (k->node == KREIN_NODE_LEAF) {
        leaf(w, k, i, from, n, out);
        return;
    }
    node(w, k->left, i, from, n, out, spare);
    if (k->node == KREIN_NODE_SCALE) {
        for (int64_t j = 0; j < n; j++) out[j] *= k->number;
        return;
    }
    node(w, k->right, i, from, n, spare, spare + CHUNK);
    if (k->node == KREIN_NODE_SUM)
        for (int64_t j = 0; j < n; j++) out[j] += spare[j];
    else
        for (int64_t j = 0; j < n; j++) out[j] *= spare[j];
}

enum { LINE = 8 }; /* numbers in a cache line */

/* K[j][i] = K[i][j] for LINE rows and columns from i0, j0; the compiler unrolls it. The lines that
 * are written next are asked for: an eighth of the whole time for 2,000 rows. */
static void mirror_square(int64_t n, double *restrict K, int64_t i0, int64_t j0) {
    const double *from = K + i0 * n + j0;
    double *to = K + j0 * n + i0;
    for (int64_t j = LINE; j < 2 * LINE && j0 + j < n; j++) __builtin_prefetch(to + j * n, 1);
    for (int64_t j = 0; j < LINE; j++)
        for (int64_t i = 0; i < LINE; i++) to[j * n + i] = from[i * n + j];
}

/* The same for rows a <= i < b and columns c <= j < e with i < j. */
static void mirror(int64_t n, double *K, int64_t a, int64_t b, int64_t c, int64_t e) {
    for (int64_t j0 = c; j0 < e; j0 += LINE)
        for (int64_t i0 = a; i0 < krein__min(b, j0 + LINE); i0 += LINE) {
            if (i0 + LINE <= krein__min(b, j0) && j0 + LINE <= e) {
                mirror_square(n, K, i0, j0);
                continue;
            }
            for (int64_t j = j0; j < krein__min(e, j0 + LINE); j++)
                for (int64_t i = i0; i < krein__min(krein__min(b, j), i0 + LINE); i++)
                    K[j * n + i] = K[i * n + j];
        }
}

static void evaluate(const work *w, const krein_kernel *kernel, double *K) {
    int64_t n = w->s->x.n, a = w->first, b = krein__min(a + BAND, n);
    for (int64_t c = a; c < n; c += CHUNK) {
        int64_t end = krein__min(c + CHUNK, n);
        for (int64_t i = a; i < b; i++) {
            int64_t from = krein__max(c, i);
            if (from < end) node(w, kernel, i, from, end - from, K + i * n + from, w->spare);
        }
        mirror(n, K, a, b, c, end);
    }
}

static void evaluate_upper(const work *w, const krein_kernel *kernel, float *K) {
    int64_t n = w->s->x.n, a = w->first, b = krein__min(a + BAND, n);
    double *row = w->spare;
    for (int64_t i = a; i < b; i++)
        for (int64_t from = i; from < n; from += CHUNK) {
            int64_t wide = krein__min(CHUNK, n - from);
            node(w, kernel, i, from, wide, row, row + CHUNK);
            for (int64_t j = 0; j < wide; j++) K[i * n + from + j] = (float)row[j];
        }
}

/* Numbers of scratch a thread needs where `made` bases are not kept. */
static int64_t scratch_of(const krein_kernel *k, int64_t bands, int64_t d, int64_t made) {
    return d + CHUNK * (1 + krein__gram_spares(k)) + made * BAND * BAND * bands;
}

/* To K, or the upper triangle alone to `upper`. */
static krein_status all_bands(krein_ctx *ctx, const krein_kernel *kernel,
                              const krein_gram_shared *s, double *K, float *upper) {
    krein_status st = KREIN_OK;
    double *scratch = NULL;
    krein_table *table = NULL;
    bool wanted[KREIN_GRAM_BASES];
    int64_t tables = 0, made = 0, bands = s->bands, d = s->x.d;
    for (int b = 0; b < KREIN_GRAM_BASES; b++) {
        wanted[b] = uses(kernel, (krein_gram_basis)b);
        made += wanted[b] && !s->basis[b];
    }
    int64_t each = scratch_of(kernel, bands, d, made);
    TRY(krein__tables_open(ctx, kernel, d, &table, &tables));
    NEW(scratch, ctx->threads * each);
    krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
    for (int64_t t = 0; t < bands; t++) {
        krein__worker_begin();
        double *mine = scratch + omp_get_thread_num() * each;
        work w = {.s = s,
                  .first = t * BAND,
                  .ld = stride(s, t),
                  .zeros = mine,
                  .spare = mine + d,
                  .table = table,
                  .tables = tables};
        double *next = w.spare + CHUNK * (1 + krein__gram_spares(kernel));
        memset(w.zeros, 0, (size_t)d * sizeof *w.zeros);
        for (int b = 0; b < KREIN_GRAM_BASES; b++) {
            if (!wanted[b]) continue;
            if (s->basis[b]) {
                w.basis[b] = s->basis[b] + packed(bands, t);
            } else {
                basis_band(s, (krein_gram_basis)b, t, next, w.zeros);
                w.basis[b] = next;
                next += BAND * BAND * bands;
            }
        }
        if (K)
            evaluate(&w, kernel, K);
        else
            evaluate_upper(&w, kernel, upper);
        krein__worker_end(c);
    }
    krein__compute_end(c);
done:
    krein__free(ctx, scratch);
    krein__tables_close(ctx, table, tables);
    return st;
}

krein_status krein__gram_shared_full(krein_ctx *ctx, const krein_kernel *kernel,
                                     const krein_gram_shared *s, double *K) {
    if (krein__has_tables(kernel)) return krein__gram_full(ctx, kernel, &s->x, &s->x, K);
    krein_status st =
        krein__kernel_check_inputs(ctx, kernel, INFINITY, -INFINITY, s->x.ptr != NULL);
    return st == KREIN_OK ? all_bands(ctx, kernel, s, K, NULL) : st;
}

krein_status krein__gram_shared_upper32(krein_ctx *ctx, const krein_kernel *kernel,
                                        const krein_gram_shared *s, float *K) {
    if (krein__has_tables(kernel)) return krein__gram_symmetric32(ctx, kernel, &s->x, K);
    krein_status st =
        krein__kernel_check_inputs(ctx, kernel, INFINITY, -INFINITY, s->x.ptr != NULL);
    return st == KREIN_OK ? all_bands(ctx, kernel, s, NULL, K) : st;
}

/* ---- cost ---------------------------------------------------------------- */

double krein__gram_share_bytes(krein_kernel *const *kernel, int64_t n_kernels, int64_t n, int64_t d,
                               bool sparse, int threads) {
    int64_t bands = bands_of(n);
    double whole = (double)(bands * BAND), bytes = fill_bytes(d, sparse, threads);
    for (int b = 0; b < KREIN_GRAM_BASES; b++)
        if (some_use(kernel, n_kernels, (krein_gram_basis)b))
            bytes += 8.0 * (double)packed(bands, bands);
    return bytes + 8 * whole * (sparse ? 1 : (double)d + 1);
}

double krein__gram_shared_full_bytes(const krein_kernel *kernel, int64_t n, int64_t d,
                                     int threads) {
    if (krein__has_tables(kernel)) return krein__gram_full_bytes(kernel, n, d, threads);
    int64_t made = uses(kernel, KREIN_GRAM_DOT) + uses(kernel, KREIN_GRAM_L1);
    return 8.0 * threads * (double)scratch_of(kernel, bands_of(n), d, made) +
           krein__tables_bytes(kernel, d) + 1024;
}
