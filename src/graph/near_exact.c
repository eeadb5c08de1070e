/* near_exact.c -- the nearest rows by comparing all pairs, in blocks of float32 products
 *
 *     |x - y|^2 = |x|^2 + |y|^2 - 2 <x, y>
 *
 * A product of two blocks gives all <x, y> of their rows at once, for the lists of both. It is
 * rounded, so that it only says which pairs may belong into a list: their distances are then
 * computed from the rows in float64 (krein__near_square), some k log(n / k) of them a row. With the
 * rounding unit u = 2^-24 and rows less their mean, the rounded value of |y|^2 - 2 <x, y> is off by
 * at most
 *
 *     u (2 |y|^2 + 2 (d + 2) |x| |y| + 2 (|x| + |y|)^2 + ...)  <=  u (d + 12) (|x|^2 + |y|^2),
 *
 * so that a pair with |x - y|^2 <= t has
 *
 *     |y|^2 (1 - c) - 2 <x, y>  <=  t - |x|^2 (1 - c),    c = u (d + 12),
 *
 * in rounded numbers too: nothing is missed, and the lists are those of brute force.
 *
 * Sparse rows with few entries have their products from an index by column of one block, in
 * float64; the rest is the same with c = 2^-53 (entries + 12). Others are written out densely.
 *
 * Pairs of blocks come in rounds in which no block is in two pairs, so that threads never share a
 * list. n^2 d multiplications in time, O(n (d + k)) memory. */
#include "graph/near.h"

#include "num/blas.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <string.h>

enum { BLOCK = 2048, CHUNK = 512, SCAN = 64 };
enum { DENSE = 8 }; /* CSR: at least one in so many entries */

/* Sparse rows of a block by column. */
typedef struct by_column {
    int64_t columns;
    int32_t *column; /* that occur, in any order */
    int64_t *ptr;    /* columns + 1, and one more */
    int32_t *row;    /* in the block */
    float *val;
} by_column;

typedef struct search {
    krein_ctx *ctx;
    const krein_rows *rows;
    int64_t n, d, k;
    const double *weight;
    krein_nearest *out;
    float *x;             /* n x d, less the mean; NULL: sparse */
    double *own;          /* |x|^2 (1 - c) */
    float *low;           /* the same in float32, infinite where a row may not be named */
    float *most;          /* below which a value may belong into the list of the row */
    by_column *block;     /* sparse */
    int64_t size, blocks; /* rows of a block */
} search;

static int64_t block_end(const search *s, int64_t b) { return krein__min(s->n, (b + 1) * s->size); }

/* ---- a pair of rows ----------------------------------------------------- */

/* From the k-th square of a list. */
static void set_most(search *s, int64_t i) {
    double far = s->out->square[i * s->k + s->k - 1], t = far - s->own[i];
    if (!(far < INFINITY)) return;
    t += 4 * DBL_EPSILON * (far + s->own[i]);
    float f = (float)t;
    s->most[i] = (double)f < t ? nextafterf(f, INFINITY) : f;
}

static bool named(const search *s, int64_t j) { return !s->weight || s->weight[j] > 0; }

static void offer(search *s, int64_t i, int64_t j, double square) {
    if (krein__near_offer(s->out, i, j, square)) set_most(s, i);
}

/* v: -2 <x, y>, rounded. */
static void consider(search *s, int64_t i, int64_t j, float v) {
    bool left = named(s, j) && s->low[j] + v <= s->most[i],
         right = named(s, i) && s->low[i] + v <= s->most[j];
    if (i == j || (!left && !right)) return;
    double square = krein__near_distance(s->rows, i, j);
    if (left) offer(s, i, j, square);
    if (right) offer(s, j, i, square);
}

/* ---- a pair of blocks, dense -------------------------------------------- */

/* Row i against rows from .. until - 1, whose products are in v. */
static void scan(search *s, int64_t i, int64_t from, int64_t until, const float *v) {
    const float low = s->low[i];
    for (int64_t j = from; j < until; j += SCAN, v += SCAN) {
        const int64_t m = krein__min(SCAN, until - j);
        const float *lows = s->low + j, *mosts = s->most + j, most = s->most[i];
        int hit = 0;
        for (int64_t t = 0; t < m; t++) hit |= (lows[t] + v[t] <= most) | (low + v[t] <= mosts[t]);
        for (int64_t t = 0; hit && t < m; t++) consider(s, i, j + t, v[t]);
    }
}

static void dense_pair(search *s, int64_t a, int64_t b, float *v) {
    const int64_t d = s->d;
    for (int64_t i = a * s->size; i < block_end(s, a); i += KREIN_TILE) {
        int64_t m = krein__min(KREIN_TILE, block_end(s, a) - i);
        for (int64_t j = b * s->size; j < block_end(s, b); j += CHUNK) {
            int64_t w = krein__min(CHUNK, block_end(s, b) - j);
            if (a == b && j + w <= i) continue; /* met the other way round */
            krein__sgemm(false, true, m, w, d, -2, s->x + i * d, d, s->x + j * d, d, 0, v, CHUNK);
            for (int64_t t = 0; t < m; t++) {
                int64_t from = a == b ? krein__max(j, i + t + 1) : j;
                if (from < j + w) scan(s, i + t, from, j + w, v + t * CHUNK + from - j);
            }
        }
    }
}

/* ---- a pair of blocks, sparse ------------------------------------------- */

static void add_row(const search *s, const by_column *b, const int32_t *at, int64_t i,
                    double *sum) {
    const krein_rows *x = s->rows;
    for (int64_t e = x->ptr[i]; e < x->ptr[i + 1]; e++) {
        int32_t c = at[x->col[e]];
        if (c < 0) continue;
        for (int64_t t = b->ptr[c]; t < b->ptr[c + 1]; t++)
            sum[b->row[t]] += (double)x->val[e] * (double)b->val[t];
    }
}

/* at: d times -1, and so again afterwards; sum: BLOCK zeros, likewise. */
static void sparse_pair(search *s, int64_t a, int64_t b, int32_t *at, double *sum) {
    const by_column *of = &s->block[b];
    const int64_t first = b * s->size, m = block_end(s, b) - first;
    for (int64_t c = 0; c < of->columns; c++) at[of->column[c]] = (int32_t)c;
    for (int64_t i = a * s->size; i < block_end(s, a); i++) {
        add_row(s, of, at, i, sum);
        for (int64_t t = a == b ? i - first + 1 : 0; t < m; t++) {
            /* rounded to both sides by less than the float32 bound has to spare */
            float v = (float)(-2 * sum[t]);
            if (s->low[first + t] + v <= s->most[i] || s->low[i] + v <= s->most[first + t])
                consider(s, i, first + t, v);
        }
        memset(sum, 0, (size_t)m * sizeof *sum);
    }
    for (int64_t c = 0; c < of->columns; c++) at[of->column[c]] = -1;
}

/* slot: d times -1, and so again afterwards. */
static krein_status index_begin(const search *s, int64_t b, int32_t *slot, by_column *out) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    const krein_rows *x = s->rows;
    int64_t first = b * s->size, end = block_end(s, b), from = x->ptr[first],
            entries = x->ptr[end] - from;
    NEW(out->column, entries);
    NEW(out->row, entries);
    NEW(out->val, entries);
    for (int64_t e = from; e < from + entries; e++) {
        int32_t c = x->col[e];
        if (slot[c] >= 0) continue;
        slot[c] = (int32_t)out->columns;
        out->column[out->columns++] = c;
    }
    ZNEW(out->ptr, out->columns + 2);
    for (int64_t e = from; e < from + entries; e++) out->ptr[slot[x->col[e]] + 2]++;
    for (int64_t c = 0; c < out->columns; c++) out->ptr[c + 2] += out->ptr[c + 1];
    for (int64_t i = first; i < end; i++) /* ptr[c + 1] moves from the start of c to its end */
        for (int64_t e = x->ptr[i]; e < x->ptr[i + 1]; e++) {
            int64_t to = out->ptr[slot[x->col[e]] + 1]++;
            out->row[to] = (int32_t)(i - first);
            out->val[to] = x->val[e];
        }
    for (int64_t c = 0; c < out->columns; c++) slot[out->column[c]] = -1;
done:
    return st;
}

static void index_end(krein_ctx *ctx, by_column *b) {
    krein__free(ctx, b->column);
    krein__free(ctx, b->ptr);
    krein__free(ctx, b->row);
    krein__free(ctx, b->val);
}

static krein_status index_blocks(search *s) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    int32_t *slot = NULL;
    ZNEW(s->block, s->blocks);
    NEW(slot, s->d);
    memset(slot, 0xff, (size_t)s->d * sizeof *slot);
    for (int64_t b = 0; b < s->blocks; b++) TRY(index_begin(s, b, slot, &s->block[b]));
done:
    krein__free(ctx, slot);
    return st;
}

/* ---- rounds ------------------------------------------------------------- */

typedef struct scratch {
    float *v;    /* KREIN_TILE x CHUNK */
    int32_t *at; /* d */
    double *sum; /* BLOCK */
} scratch;

static krein_status scratch_begin(const search *s, scratch *t) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    if (s->x) NEW(t->v, KREIN_TILE * CHUNK);
    if (s->x) return st;
    NEW(t->at, s->d);
    memset(t->at, 0xff, (size_t)s->d * sizeof *t->at);
    ZNEW(t->sum, BLOCK);
done:
    return st;
}

static void scratch_end(krein_ctx *ctx, scratch *t) {
    krein__free(ctx, t->v);
    krein__free(ctx, t->at);
    krein__free(ctx, t->sum);
}

static void pair(search *s, int64_t a, int64_t b, const scratch *t) {
    if (a >= s->blocks || b >= s->blocks) return;
    if (s->x)
        dense_pair(s, a, b, t->v);
    else
        sparse_pair(s, a, b, t->at, t->sum);
}

/* Round 0: each with itself; then all pairs of m blocks (m even) in m - 1 rounds. */
static void pair_of(int64_t round, int64_t i, int64_t m, int64_t *a, int64_t *b) {
    int64_t r = round - 1, c = m - 1;
    *a = round == 0 ? i : i == 0 ? c : (r + i) % c;
    *b = round == 0 ? i : i == 0 ? r : (r - i + c) % c;
}

static krein_status search_all(search *s) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    int64_t m = s->blocks + s->blocks % 2, rounds = m;
    scratch *own = NULL;
    ZNEW(own, ctx->threads);
    for (int t = 0; t < ctx->threads; t++) TRY(scratch_begin(s, &own[t]));
    for (int64_t round = 0; round < rounds; round++) {
        int64_t pairs = round == 0 ? s->blocks : m / 2;
        krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
        for (int64_t i = 0; i < pairs; i++) {
            int64_t a, b;
            krein__worker_begin();
            pair_of(round, i, m, &a, &b);
            pair(s, a, b, &own[omp_get_thread_num()]);
            krein__worker_end(c);
        }
        krein__compute_end(c);
        krein__progress(ctx, "neighbours", (double)(round + 1), (double)rounds);
        TRY(krein__poll(ctx));
    }
done:
    for (int t = 0; own && t < ctx->threads; t++) scratch_end(ctx, &own[t]);
    krein__free(ctx, own);
    return st;
}

/* ---- set-up ------------------------------------------------------------- */

/* Rows less the mean of their columns. */
static krein_status centre_rows(search *s) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    double *mean = NULL;
    NEW(s->x, s->n * s->d);
    ZNEW(mean, s->d);
    for (int64_t i = 0; i < s->n; i++) {
        float *to = s->x + i * s->d;
        krein__row_copy(s->rows, i, to);
        for (int64_t j = 0; j < s->d; j++) mean[j] += (double)to[j];
    }
    for (int64_t j = 0; j < s->d; j++) mean[j] /= (double)s->n;
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t j = 0; j < s->d; j++)
            s->x[i * s->d + j] = (float)((double)s->x[i * s->d + j] - mean[j]);
done:
    krein__free(ctx, mean);
    return st;
}

static double length2(int64_t n, const float *x) {
    double sum = 0;
    for (int64_t j = 0; j < n; j++) sum += (double)x[j] * (double)x[j];
    return sum;
}

static bool write_out(const krein_rows *x) {
    return !krein__rows_sparse(x) || x->d <= 64 ||
           (double)(x->ptr[x->n] - x->ptr[0]) * DENSE >= (double)x->n * (double)x->d;
}

static krein_status search_begin(search *s) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    const krein_rows *x = s->rows;
    const bool dense = write_out(x);
    NEW(s->own, s->n);
    NEW(s->low, s->n);
    NEW(s->most, s->n);
    if (dense) TRY(centre_rows(s));
    const double c = FLT_EPSILON / 2 * (dense ? 1.01 * (double)s->d + 12 : 16);
    for (int64_t i = 0; i < s->n; i++) {
        s->own[i] = (1 - c) * (dense ? length2(s->d, s->x + i * s->d)
                                     : length2(x->ptr[i + 1] - x->ptr[i], x->val + x->ptr[i]));
        s->low[i] = named(s, i) ? (float)s->own[i] : INFINITY;
        s->most[i] = INFINITY;
    }
    int64_t parts = 8 * ctx->threads;
    s->size = krein__max(KREIN_TILE, krein__min(BLOCK, (s->n + parts - 1) / parts));
    s->blocks = (s->n + s->size - 1) / s->size;
    if (!dense) TRY(index_blocks(s));
done:
    return st;
}

static void search_end(search *s) {
    krein_ctx *ctx = s->ctx;
    for (int64_t b = 0; s->block && b < s->blocks; b++) index_end(ctx, &s->block[b]);
    krein__free(ctx, s->block);
    krein__free(ctx, s->x);
    krein__free(ctx, s->own);
    krein__free(ctx, s->low);
    krein__free(ctx, s->most);
}

krein_status krein__near_exact(krein_ctx *ctx, const krein_rows *x, const double *weight,
                               krein_nearest *out) {
    krein_status st = KREIN_OK;
    search s = {.ctx = ctx, .rows = x, .n = x->n, .d = x->d, .k = out->k, .weight = weight};
    s.out = out;
    TRY(search_begin(&s));
    TRY(search_all(&s));
done:
    search_end(&s);
    return st;
}

double krein__near_exact_flops(int64_t n, int64_t d) {
    return (double)n * (double)n * ((double)d + 16); /* and looking at each */
}

double krein__near_exact_bytes(int64_t n, int64_t d, bool sparse, int threads) {
    double N = (double)n, D = (double)d;
    return N * (sparse ? 8 * fmin(D, 1024) : 4 * D) + 24 * N + 8 * D +
           threads * (4.0 * KREIN_TILE * CHUNK + 4 * D + 8.0 * BLOCK) + 65536;
}
