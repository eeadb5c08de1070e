/* neighbours.c -- the graph of nearest neighbours, by comparing all pairs of rows
 *
 *     |phi(x) - phi(y)|^2 = k(x, x) - 2 k(x, y) + k(y, y),
 *
 * kernel values in float64, tile by tile; a tile's rows keep the k best they have seen. For a
 * radial kernel that falls with the distance these are the nearest rows as such. n^2 kernel values
 * in time, O(n k) memory. An edge has the weight (a_ij + a_ji) / 2, a_ij = 1 where j is one of the
 * neighbours of i. Rows of weight 0 have neighbours and are none. */
#include "learn/clustering.h"

#include "num/blas.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { CHUNK = 1024 };

void krein__graph_clear(krein_ctx *ctx, krein_graph *g) {
    krein__free(ctx, g->ptr);
    krein__free(ctx, g->col);
    krein__free(ctx, g->val);
    memset(g, 0, sizeof *g);
}

double krein__neighbours_bytes(const krein_kernel *kernel, int64_t n, int64_t d, int64_t k,
                               int threads) {
    double N = (double)n, chunks = ceil(N / CHUNK);
    double tile =
        krein__gram_tile_bytes(kernel, CHUNK, d, 8) + 8.0 * KREIN_TILE * (CHUNK + 1.0 * (double)k);
    return N * (8 * (double)d + 16 + 40 * (double)k + 32) + chunks * 512 + threads * tile +
           krein__gram_full_bytes(kernel, 32, d, threads) + 65536;
}

/* ---- the nearest -------------------------------------------------------- */

typedef struct search {
    krein_ctx *ctx;
    krein_rows x;
    int64_t k, chunks;
    const double *weight; /* n, or NULL */
    krein_gram_rows *chunk;
    double *diagonal;
    int32_t *near; /* n x k, unordered in the end */
    int64_t each;  /* doubles of scratch for a thread */
} search;

/* Puts (value, j) into the ascending list of the k smallest. */
static void insert(int64_t k, double *value, int32_t *near, double v, int64_t j) {
    int64_t at = k - 1;
    for (; at > 0 && v < value[at - 1]; at--) {
        value[at] = value[at - 1];
        near[at] = near[at - 1];
    }
    value[at] = v;
    near[at] = (int32_t)j;
}

static void search_tile(const search *s, int64_t first, double *scratch) {
    int64_t k = s->k;
    krein_rows rows = krein__rows_slice(&s->x, first, krein__min(KREIN_TILE, s->x.n - first));
    double *K = scratch, *value = K + KREIN_TILE * CHUNK, *rest = value + KREIN_TILE * k;
    for (int64_t i = 0; i < KREIN_TILE * k; i++) value[i] = INFINITY;
    for (int64_t c = 0; c < s->chunks; c++) {
        krein__gram_tile64(&s->chunk[c], &rows, K, CHUNK, rest);
        for (int64_t i = 0; i < rows.n; i++) {
            double *mine = value + i * k;
            for (int64_t j = 0; j < s->chunk[c].y.n; j++) {
                int64_t y = c * CHUNK + j;
                double v = s->diagonal[y] - 2 * K[i * CHUNK + j];
                if (s->weight && s->weight[y] == 0) continue;
                if (v < mine[k - 1] && y != first + i)
                    insert(k, mine, s->near + (first + i) * k, v, y);
            }
        }
    }
}

static krein_status search_all(search *s) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    double *scratch = NULL;
    int64_t tiles = (s->x.n + KREIN_TILE - 1) / KREIN_TILE, wave = 4 * ctx->threads;
    NEW(scratch, ctx->threads * s->each);
    for (int64_t from = 0; from < tiles; from += wave) {
        krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
        for (int64_t t = from; t < krein__min(tiles, from + wave); t++) {
            krein__worker_begin();
            search_tile(s, t * KREIN_TILE, scratch + omp_get_thread_num() * s->each);
            krein__worker_end(c);
        }
        krein__compute_end(c);
        krein__progress(ctx, "neighbours", (double)krein__min(tiles, from + wave), (double)tiles);
        TRY(krein__poll(ctx));
    }
done:
    krein__free(ctx, scratch);
    return st;
}

static krein_status search_begin(search *s, const krein_kernel *kernel) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    int64_t chunks = (s->x.n + CHUNK - 1) / CHUNK;
    NEW(s->near, s->x.n * s->k);
    NEW(s->diagonal, s->x.n);
    ZNEW(s->chunk, chunks);
    TRY(krein__gram_diagonal(ctx, kernel, &s->x, s->diagonal));
    for (int64_t i = 0; i < s->x.n * s->k; i++) s->near[i] = -1;
    for (; s->chunks < chunks; s->chunks++) {
        int64_t from = s->chunks * CHUNK;
        krein_rows y = krein__rows_slice(&s->x, from, krein__min(CHUNK, s->x.n - from));
        TRY(krein__gram_begin(ctx, kernel, y, true, &s->chunk[s->chunks]));
        s->each = krein__max(s->each, s->chunk[s->chunks].scratch);
    }
    s->each += KREIN_TILE * (CHUNK + s->k);
done:
    return st;
}

static void search_end(search *s) {
    krein_ctx *ctx = s->ctx;
    for (int64_t c = 0; c < s->chunks; c++) krein__gram_end(ctx, &s->chunk[c]);
    krein__free(ctx, s->chunk);
    krein__free(ctx, s->diagonal);
    krein__free(ctx, s->near);
}

/* ---- the graph ---------------------------------------------------------- */

static void sort(int64_t k, int32_t *a) {
    for (int64_t i = 1; i < k; i++) {
        int32_t v = a[i];
        int64_t j = i;
        for (; j > 0 && a[j - 1] > v; j--) a[j] = a[j - 1];
        a[j] = v;
    }
}

/* Row i of (A + A') / 2 from the two ascending lists; returns how many entries. col may be NULL. */
static int64_t merge(int64_t na, const int32_t *a, int64_t nb, const int32_t *b, int32_t *col,
                     double *val) {
    int64_t n = 0;
    for (int64_t i = 0, j = 0; i < na || j < nb; n++) {
        bool left = i < na && (j == nb || a[i] <= b[j]),
             right = j < nb && (i == na || b[j] <= a[i]);
        if (col) {
            col[n] = left ? a[i] : b[j];
            val[n] = left && right ? 1 : .5;
        }
        i += left;
        j += right;
    }
    return n;
}

static krein_status symmetric(krein_ctx *ctx, int64_t n, int64_t k, int32_t *near, krein_graph *g) {
    krein_status st = KREIN_OK;
    int64_t *ptr = NULL; /* of A', whose row i lists those that name i */
    int32_t *back = NULL;
    g->n = n;
    ZNEW(ptr, n + 2);
    NEW(back, n * k);
    NEW(g->ptr, n + 1);
    for (int64_t i = 0; i < n * k; i++) ptr[near[i] + 2]++;
    for (int64_t i = 0; i < n; i++) ptr[i + 2] += ptr[i + 1];
    for (int64_t i = 0; i < n; i++) {
        sort(k, near + i * k);
        for (int64_t j = 0; j < k; j++) back[ptr[near[i * k + j] + 1]++] = (int32_t)i;
    }
    g->ptr[0] = 0;
    for (int64_t i = 0; i < n; i++)
        g->ptr[i + 1] =
            g->ptr[i] + merge(k, near + i * k, ptr[i + 1] - ptr[i], back + ptr[i], NULL, NULL);
    NEW(g->col, g->ptr[n]);
    NEW(g->val, g->ptr[n]);
    for (int64_t i = 0; i < n; i++)
        merge(k, near + i * k, ptr[i + 1] - ptr[i], back + ptr[i], g->col + g->ptr[i],
              g->val + g->ptr[i]);
done:
    krein__free(ctx, ptr);
    krein__free(ctx, back);
    return st;
}

krein_status krein__neighbours(krein_ctx *ctx, const krein_kernel *kernel, const krein_rows *x,
                               const double *weight, int64_t k, krein_graph *out) {
    krein_status st = KREIN_OK;
    search s = {.ctx = ctx, .x = *x, .k = k, .weight = weight};
    memset(out, 0, sizeof *out);
    TRY(search_begin(&s, kernel));
    TRY(search_all(&s));
    for (int64_t i = 0; i < x->n * k; i++)
        if (s.near[i] < 0) {
            st = krein__fail(ctx, KREIN_ENUMERIC, "neighbours: kernel values are not finite");
            goto done;
        }
    TRY(symmetric(ctx, x->n, k, s.near, out));
done:
    search_end(&s);
    if (st != KREIN_OK) krein__graph_clear(ctx, out);
    return st;
}

static int32_t root(int32_t *up, int32_t i) {
    while (up[i] != i) i = up[i] = up[up[i]];
    return i;
}

int64_t krein__graph_pieces(krein_ctx *ctx, const krein_graph *g) {
    int64_t pieces = g->n;
    int32_t *up = krein__alloc(ctx, g->n, sizeof *up);
    if (!up) return -1;
    for (int64_t i = 0; i < g->n; i++) up[i] = (int32_t)i;
    for (int64_t i = 0; i < g->n; i++)
        for (int64_t e = g->ptr[i]; e < g->ptr[i + 1]; e++) {
            int32_t a = root(up, (int32_t)i), b = root(up, g->col[e]);
            if (a == b) continue;
            up[a > b ? a : b] = a > b ? b : a;
            pieces--;
        }
    krein__free(ctx, up);
    return pieces;
}
