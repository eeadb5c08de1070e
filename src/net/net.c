/* net.c -- a batch forwards and backwards through the layers; the table of layers and optimisers.
 *
 * The pieces of work (layer.h) are the same for any number of threads, and each is done by one. */
#include "net/codes.h"

#include "net/optimizer.h"
#include "num/blas.h"

#include <omp.h>
#include <string.h>

const krein_class *const krein__layers[] = {
#define LAYER(name) &name.cls,
#include "net/layers.def"
#undef LAYER
};
const int64_t krein__layer_count = KREIN__COUNT(krein__layers);

const krein_class *const krein__optimizers[] = {
#define OPTIMIZER(name) &name.cls,
#include "net/optimizers.def"
#undef OPTIMIZER
};
const int64_t krein__optimizer_count = KREIN__COUNT(krein__optimizers);

enum { LINE = 16 }; /* floats of a cache line */

/* ---- the net ------------------------------------------------------------ */

void krein__net_begin(krein_ctx *ctx, int64_t in, krein_net *net) {
    *net = (krein_net){.ctx = ctx, .in = in};
}

int64_t krein__net_out(const krein_net *net) {
    return net->layers > 0 ? net->layer[net->layers - 1].out : net->in;
}

krein_status krein__net_add(krein_net *net, const char *spec) {
    krein_status st = KREIN_OK;
    int64_t which;
    if (net->layers == KREIN_NET_LAYERS)
        return krein__fail(net->ctx, KREIN_ESPEC, "a net has at most %d layers", KREIN_NET_LAYERS);
    krein_layer *l = &net->layer[net->layers];
    int64_t in = krein__net_out(net);
    TRY(krein__parse_spec(net->ctx, spec, "layer", krein__layers, krein__layer_count, &which,
                          &l->values));
    net->layers++;
    l->cls = (const krein_layer_class *)krein__layers[which];
    l->in = in;
    l->first = net->count;
    l->cls->shape(l);
    net->count += (l->parameters + LINE - 1) / LINE * LINE;
done:
    return st;
}

krein_status krein__net_ready(krein_net *net) {
    krein_ctx *ctx = net->ctx;
    krein_status st = KREIN_OK;
    ZNEW(net->p, net->count);
    TRY(krein__net_codes_ready(net));
done:
    return st;
}

void krein__net_clear(krein_net *net) {
    if (!net->ctx) return;
    for (int64_t l = 0; l < net->layers; l++) krein__values_clear(net->ctx, &net->layer[l].values);
    krein__free(net->ctx, net->p);
    krein__net_codes_clear(net);
    *net = (krein_net){0};
}

double krein__net_bytes(const krein_net *net) {
    return 4 * (double)net->count + krein__net_codes_bytes(net);
}

/* ---- buffers ------------------------------------------------------------ */

/* Scratch of a thread: of a layer, and a part of its gradient. */
static int64_t scratch_of(const krein_net *net, int64_t rows) {
    int64_t most = 0, part = 0;
    for (int64_t l = 0; l < net->layers; l++) {
        most = krein__max(most, net->layer[l].scratch);
        part = krein__max(part, net->layer[l].part_size);
    }
    return (most * krein__max(rows, KREIN_NET_TILE) + part + LINE - 1) / LINE * LINE;
}

static int64_t tiles_of(int64_t rows) { return (rows + KREIN_NET_TILE - 1) / KREIN_NET_TILE; }

double krein__net_work_bytes(const krein_net *net, int64_t rows, bool back) {
    double floats = (double)net->in + 64, tiled = 0;
    for (int64_t l = 0; l < net->layers; l++) {
        const krein_layer *at = &net->layer[l];
        floats += (double)at->out * (back ? 2 : 1) + (back ? (double)at->kept : 0);
        if (at->by_columns) tiled += (double)at->in;
    }
    return 4 * ((double)rows * floats + (double)(tiles_of(rows) * KREIN_NET_TILE) * tiled +
                (double)net->ctx->threads * (double)scratch_of(net, rows));
}

krein_status krein__net_work_begin(const krein_net *net, int64_t rows, bool back,
                                   krein_net_work *w) {
    krein_ctx *ctx = net->ctx;
    krein_status st = KREIN_OK;
    *w = (krein_net_work){.net = net, .rows = rows, .each = scratch_of(net, rows)};
    NEW(w->x, rows * net->in);
    for (int64_t l = 0; l < net->layers; l++) {
        const krein_layer *at = &net->layer[l];
        krein_pass *b = &w->pass[l];
        NEW(b->out, rows * at->out);
        if (at->by_columns) ZNEW(b->columns, tiles_of(rows) * KREIN_NET_TILE * at->in);
        if (back) NEW(b->kept, rows * krein__max(1, at->kept));
        if (back) NEW(w->gradient[l], rows * at->out);
        b->x = l > 0 ? w->pass[l - 1].out : w->x;
        b->gout = w->gradient[l];
        b->gx = l > 0 ? w->gradient[l - 1] : NULL;
    }
    NEW(w->scratch, ctx->threads * w->each);
done:
    if (st != KREIN_OK) krein__net_work_end(w);
    return st;
}

void krein__net_work_end(krein_net_work *w) {
    if (!w->net) return;
    krein_ctx *ctx = w->net->ctx;
    for (int64_t l = 0; l < w->net->layers; l++) {
        krein__free(ctx, w->pass[l].out);
        krein__free(ctx, w->pass[l].columns);
        krein__free(ctx, w->pass[l].kept);
        krein__free(ctx, w->gradient[l]);
    }
    krein__free(ctx, w->x);
    krein__free(ctx, w->scratch);
    *w = (krein_net_work){0};
}

/* ---- a batch ------------------------------------------------------------ */

void krein__net_load(krein_net_work *w, const krein_rows *x, const int64_t *index, int64_t n) {
    int64_t d = w->net->in;
    for (int64_t i = 0; i < n; i++) krein__row_copy(x, index ? index[i] : i, w->x + i * d);
    krein__net_round_input(w->net, n, w->x);
}

static float *scratch_here(const krein_net_work *w) {
    return w->scratch + omp_get_thread_num() * w->each;
}

static int threads_for(const krein_net_work *w, int64_t pieces) {
    return (int)krein__max(1, krein__min(w->net->ctx->threads, pieces));
}

/* PART columns of a tile of the input. */
static void by_columns(const krein_layer *l, const krein_pass *b, int64_t row, int64_t n,
                       int64_t part) {
    int64_t from = part * KREIN_NET_PART, to = krein__min(l->in, from + KREIN_NET_PART);
    float *out = b->columns + row * l->in;
    for (int64_t first = from; first < to; first += LINE)
        for (int64_t i = 0; i < n; i++) {
            const float *x = b->x + (row + i) * l->in;
            for (int64_t j = first; j < krein__min(to, first + LINE); j++)
                out[j * KREIN_NET_TILE + i] = x[j];
        }
}

const float *krein__net_forward(krein_net_work *w, int64_t n) {
    const krein_net *net = w->net;
    int64_t tiles = tiles_of(n);
    krein_compute c = krein__compute_begin();
    for (int64_t l = 0; l < net->layers; l++) {
        const krein_layer *at = &net->layer[l];
        krein_pass *b = &w->pass[l];
        int64_t strips = at->by_columns ? krein__net_parts(at->in) : 0;
        int threads = threads_for(w, tiles * at->parts);
        /* A part with all its tiles, and some parts behind each other, are one thread's where there
         * are many: parameters are then fetched once, and in their order. */
        int64_t together =
            at->parts >= 4 * threads ? krein__max(1, at->parts / (8 * threads)) * tiles : 1;
        const float *p = krein__layer_parameters(net, l);
        b->n = n;
#pragma omp parallel num_threads(threads)
        {
            krein__worker_begin();
#pragma omp for schedule(static)
            for (int64_t i = 0; i < tiles * strips; i++) {
                int64_t row = i / strips * KREIN_NET_TILE;
                by_columns(at, b, row, krein__min(KREIN_NET_TILE, n - row), i % strips);
            }
#pragma omp for schedule(dynamic, together)
            for (int64_t i = 0; i < tiles * at->parts; i++) {
                int64_t row = i % tiles * KREIN_NET_TILE, m = krein__min(KREIN_NET_TILE, n - row);
                at->cls->forward(at, p, b, row, m, i / tiles, scratch_here(w));
            }
            if (at->bits > 0 && at->most > 0) {
#pragma omp for schedule(static)
                for (int64_t i = 0; i < tiles; i++)
                    krein__layer_round_output(
                        at, krein__min(KREIN_NET_TILE, n - i * KREIN_NET_TILE) * at->out,
                        b->out + i * KREIN_NET_TILE * at->out);
            }
            krein__worker_end(c);
        }
    }
    krein__compute_end(c);
    return net->layers > 0 ? w->pass[net->layers - 1].out : w->x;
}

void krein__net_backward(krein_net_work *w, int64_t l) {
    const krein_layer *at = &w->net->layer[l];
    const krein_pass *b = &w->pass[l];
    int64_t tiles = tiles_of(b->n);
    int threads = threads_for(w, tiles);
    if (l == 0) return;
    krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t t = 0; t < tiles; t++) {
        krein__worker_begin();
        int64_t row = t * KREIN_NET_TILE, m = krein__min(KREIN_NET_TILE, b->n - row);
        at->cls->backward(at, krein__layer_parameters(w->net, l), b, row, m, scratch_here(w));
        krein__worker_end(c);
    }
    krein__compute_end(c);
}

void krein__net_gradient(krein_net_work *w, int64_t l, krein_part_fn *use, void *user) {
    const krein_layer *at = &w->net->layer[l];
    int threads = threads_for(w, at->weights_parts);
    int64_t together = krein__max(1, at->weights_parts / (32 * threads));
    krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(threads) schedule(dynamic, together)
    for (int64_t i = 0; i < at->weights_parts; i++) {
        krein__worker_begin();
        krein_range range[KREIN_NET_RANGES];
        float *g = scratch_here(w), *rest = g + at->part_size;
        int64_t ranges = at->cls->ranges(at, i, range);
        at->cls->gradient(at, &w->pass[l], i, g, rest);
        if (at->bits > 0) krein__layer_cut_gradient(at, w->net->p, i, range, g);
        use(user, l, ranges, range, g);
        krein__worker_end(c);
    }
    krein__compute_end(c);
}
