/* graph_file.c -- a graph in a file, to be used again
 *
 * The container is that of model files (file/archive.h). The file has the options that the graph
 * was made with and a number (XXH3) for the rows, their weights and the kernel, so that the graph
 * of other rows is refused. */
#include "graph/graph.h"
#include "file/archive.h"

#include <math.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

static uint64_t add(uint64_t h, const void *at, int64_t count, size_t size) {
    return XXH3_64bits_withSeed(at, (size_t)count * size, h);
}

uint64_t krein__graph_digest(const krein_rows *x, const double *weight, const char *kernel) {
    int64_t shape[3] = {x->n, x->d, krein__rows_sparse(x)};
    uint64_t h = add(0, shape, 3, sizeof *shape);
    for (int64_t i = 0; !krein__rows_sparse(x) && i < x->n; i++)
        h = add(h, x->x + i * x->ld, x->d, sizeof *x->x);
    if (krein__rows_sparse(x)) {
        int64_t from = x->ptr[0], entries = x->ptr[x->n] - from;
        for (int64_t i = 0; i < x->n; i++) {
            int64_t m = x->ptr[i + 1] - x->ptr[i];
            h = add(h, &m, 1, sizeof m);
        }
        h = add(h, x->col + from, entries, sizeof *x->col);
        h = add(h, x->val + from, entries, sizeof *x->val);
    }
    if (weight) h = add(h, weight, x->n, sizeof *weight);
    return kernel ? add(h, kernel, (int64_t)strlen(kernel), 1) : h;
}

enum { KIND = 0x6b67 }; /* an archive that is a graph */

typedef struct header {
    int64_t kind, k, near, edges, high, low;
    double width, asked, recall;
} header;

static krein_status visit(krein_archive *a, header *h, krein_graph *g) {
    krein_status st = KREIN_OK;
    int64_t nnz = g->ptr ? g->ptr[g->n] : 0;
    TRY(krein__archive_int(a, "graph.kind", &h->kind, KIND, KIND));
    TRY(krein__archive_int(a, "graph.n", &g->n, 1, INT32_MAX));
    TRY(krein__archive_int(a, "graph.k", &h->k, 1, INT32_MAX));
    TRY(krein__archive_int(a, "graph.near", &h->near, KREIN_NEAR_EXACT, KREIN_NEAR_DESCENT));
    TRY(krein__archive_int(a, "graph.edges", &h->edges, KREIN_EDGES_HEAT, KREIN_EDGES_MEAN));
    TRY(krein__archive_double(a, "graph.asked", &h->asked));
    TRY(krein__archive_double(a, "graph.width", &h->width));
    TRY(krein__archive_double(a, "graph.recall", &h->recall));
    TRY(krein__archive_int(a, "graph.rows.high", &h->high, 0, UINT32_MAX));
    TRY(krein__archive_int(a, "graph.rows.low", &h->low, 0, UINT32_MAX));
    TRY(krein__archive_int(a, "graph.entries", &nnz, 0, INT64_MAX / 16));
    TRY(krein__archive_array(a, "graph.ptr", KREIN_TYPE_I64, &g->ptr, g->n + 1));
    TRY(krein__archive_array(a, "graph.col", KREIN_TYPE_I32, &g->col, nnz));
    TRY(krein__archive_array(a, "graph.val", KREIN_TYPE_F64, &g->val, nnz));
    if (g->ptr[g->n] != nnz) g->ptr[0] = -1; /* valid() refuses it */
done:
    return st;
}

krein_status krein__graph_save(krein_ctx *ctx, const char *path, const krein_graph *g,
                               const krein_graph_options *o, uint64_t digest) {
    krein_status st = KREIN_OK;
    krein_archive *a = NULL;
    krein_graph copy = *g;
    header h = {.kind = KIND,
                .k = o->k,
                .near = g->near,
                .edges = o->edges,
                .high = (int64_t)(digest >> 32),
                .low = (int64_t)(digest & UINT32_MAX),
                .width = isnan(g->width) ? 0 : g->width,
                .asked = o->width,
                .recall = g->recall};
    TRY(krein__archive_create(ctx, &a));
    TRY(visit(a, &h, &copy));
    TRY(krein__archive_save(a, path));
done:
    krein__archive_destroy(a);
    return st;
}

/* Whatever the file says: rows ascend, every edge has its other direction with the same weight. */
static double weight_of(const krein_graph *g, int64_t i, int64_t j) {
    int64_t from = g->ptr[i], until = g->ptr[i + 1];
    while (from < until) {
        int64_t mid = from + (until - from) / 2;
        if (g->col[mid] == j) return g->val[mid];
        if (g->col[mid] < j)
            from = mid + 1;
        else
            until = mid;
    }
    return -1;
}

static bool valid(const krein_graph *g) {
    if (g->ptr[0] != 0) return false;
    for (int64_t i = 0; i < g->n; i++) {
        if (g->ptr[i] > g->ptr[i + 1] || g->ptr[i + 1] > g->ptr[g->n]) return false;
        for (int64_t e = g->ptr[i]; e < g->ptr[i + 1]; e++) {
            if (g->col[e] < 0 || g->col[e] >= g->n || g->col[e] == i) return false;
            if (e > g->ptr[i] && g->col[e] <= g->col[e - 1]) return false;
            if (!(g->val[e] >= 0 && g->val[e] <= 1)) return false;
        }
    }
    for (int64_t i = 0; i < g->n; i++)
        for (int64_t e = g->ptr[i]; e < g->ptr[i + 1]; e++)
            if (weight_of(g, g->col[e], i) != g->val[e]) return false;
    return true;
}

static const char *word(const char *words, int64_t at, char *out, size_t size) {
    return krein__word(words, at, out, size) ? out : "?";
}

static krein_status check(krein_ctx *ctx, const char *path, const header *h, const krein_graph *g,
                          const krein_graph_options *o, int64_t n, uint64_t digest) {
    static const char edges[] = "heat|binary|mean", near[] = "auto|exact|tree|descent";
    char was[16], is[16];
    uint64_t has = (uint64_t)h->high << 32 | (uint64_t)h->low;
    if (g->n != n || has != digest)
        return krein__fail(
            ctx, KREIN_EDATA,
            "%s is the graph of other rows (it has %lld nodes, these rows have %lld), "
            "or of the same ones scaled or weighted otherwise; name another file, or "
            "delete it to have the graph made again",
            path, (long long)g->n, (long long)n);
    if (h->k != o->k)
        return krein__fail(ctx, KREIN_EDATA,
                           "%s is a graph of %lld neighbours, asked for are %lld; ask for as many, "
                           "or name another file",
                           path, (long long)h->k, (long long)o->k);
    if (h->edges != (int64_t)o->edges || (o->edges == KREIN_EDGES_HEAT && h->asked != o->width))
        return krein__fail(
            ctx, KREIN_EDATA,
            "%s is a graph with edges=%s, width=%g (0: from the rows), asked for are "
            "edges=%s, width=%g; ask for the same, or name another file",
            path, word(edges, h->edges, was, sizeof was), h->asked,
            word(edges, (int64_t)o->edges, is, sizeof is), o->width);
    bool exact = h->near != KREIN_NEAR_DESCENT;
    if (o->near != KREIN_NEAR_AUTO && exact != (o->near != KREIN_NEAR_DESCENT))
        return krein__fail(ctx, KREIN_EDATA,
                           "%s is a graph made with near=%s, asked for is near=%s; ask for the "
                           "same, or name another file",
                           path, word(near, h->near, was, sizeof was),
                           word(near, (int64_t)o->near, is, sizeof is));
    return KREIN_OK;
}

krein_status krein__graph_load(krein_ctx *ctx, const char *path, const krein_graph_options *o,
                               int64_t n, uint64_t digest, krein_graph *out) {
    krein_status st = KREIN_OK;
    krein_archive *a = NULL;
    header h = {0};
    memset(out, 0, sizeof *out);
    TRY(krein__archive_load(ctx, path, &a));
    if (!krein__archive_has(a, "graph.kind")) {
        st = krein__fail(ctx, KREIN_EMODEL,
                         "%s is not a graph; `graph_file` names a file that is written where it "
                         "does not exist",
                         path);
        goto done;
    }
    TRY(visit(a, &h, out));
    if (!valid(out)) {
        st = krein__fail(ctx, KREIN_EMODEL, "%s is damaged: it is not a symmetric graph", path);
        goto done;
    }
    TRY(check(ctx, path, &h, out, o, n, digest));
    out->near = h.near;
    out->width = o->edges == KREIN_EDGES_HEAT ? h.width : NAN;
    out->recall = h.recall;
done:
    krein__archive_destroy(a);
    if (st != KREIN_OK) krein__graph_clear(ctx, out);
    return st;
}

krein_status krein__graph_get(krein_ctx *ctx, const char *path, const krein_kernel *kernel,
                              const krein_rows *x, const double *weight,
                              const krein_graph_options *o, krein_graph *out) {
    krein_status st = KREIN_OK;
    char *text = NULL;
    if (!path) return krein__graph_make(ctx, kernel, x, weight, o, out);
    memset(out, 0, sizeof *out);
    if (kernel && !(text = krein__kernel_text(ctx, kernel))) return ctx->status;
    uint64_t digest = krein__graph_digest(x, weight, text);
    if (access(path, F_OK) == 0) {
        TRY(krein__graph_load(ctx, path, o, x->n, digest, out));
        krein__log(ctx, KREIN_LOG_INFO, "%s: the graph is read, not made", path);
    } else {
        TRY(krein__graph_make(ctx, kernel, x, weight, o, out));
        TRY(krein__graph_save(ctx, path, out, o, digest));
    }
done:
    krein__free(ctx, text);
    if (st != KREIN_OK) krein__graph_clear(ctx, out);
    return st;
}
