/* net.c -- a batch forwards and backwards through the layers; the table of layers and optimisers.
 *
 * The pieces of work (layer.h) are the same for any number of threads, and each is done by one.
 *
 * Where a layer has a shortcut, the gradient of the output that it comes from is the sum of two:
 * that of the layer above it, which is made first, and what comes through the shortcut.
 *
 * Hessian times v (pearlmutter1994): with R{.} the derivative along v of everything that the
 * parameters decide,
 *     R{out} forwards, R{dloss/df} = (second derivative of the loss) R{f}, R{gx} backwards,
 *     and R{gradient} of each layer. Cost: about that of two gradients. */
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

void krein__net_begin_image(krein_ctx *ctx, krein_shape image, krein_net *net) {
    *net = (krein_net){.ctx = ctx, .in = krein__shape_size(image), .image = image};
}

void krein__net_begin(krein_ctx *ctx, int64_t in, krein_net *net) {
    krein__net_begin_image(ctx, (krein_shape){1, 1, in}, net);
}

krein_shape krein__net_shape(const krein_net *net) {
    return net->layers > 0 ? net->layer[net->layers - 1].to : net->image;
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
    TRY(krein__parse_spec(net->ctx, spec, "layer", krein__layers, krein__layer_count, &which,
                          &l->values));
    l->cls = (const krein_layer_class *)krein__layers[which];
    l->in = krein__net_out(net);
    l->from = krein__net_shape(net);
    l->first = net->count;
    l->tile = KREIN_NET_TILE;
    st = l->cls->shape(net, l);
    if (st != KREIN_OK) {
        krein__values_clear(net->ctx, &l->values);
        *l = (krein_layer){0};
        return st;
    }
    if (l->to.c == 0) l->to = (krein_shape){1, 1, l->out};
    l->out = krein__shape_size(l->to);
    net->layers++;
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

void krein__net_start(krein_net *net, uint64_t seed) {
    memset(net->p, 0, (size_t)net->count * sizeof *net->p);
    for (int64_t l = 0; l < net->layers; l++)
        if (net->layer[l].cls->start)
            net->layer[l].cls->start(&net->layer[l], krein__substream(seed, KREIN_STREAM_NET, l),
                                     net->p);
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
int64_t krein__net_scratch(const krein_net *net, int64_t rows) {
    int64_t most = 0, part = 0, fixed = 0;
    for (int64_t l = 0; l < net->layers; l++) {
        most = krein__max(most, net->layer[l].scratch);
        fixed = krein__max(fixed, net->layer[l].fixed);
        part = krein__max(part, net->layer[l].part_size);
    }
    return (most * krein__max(rows, KREIN_NET_TILE) + fixed + part + LINE - 1) / LINE * LINE;
}

static int64_t tiles_of(int64_t rows) { return (rows + KREIN_NET_TILE - 1) / KREIN_NET_TILE; }

/* Layer l writes over its input: nobody else reads that. The output of the first layer stays as it
 * is (fit.c has a penalty on it). */
static bool over_input(const krein_net *net, int64_t l) {
    if (l < 2 || !net->layer[l].cls->over_input || net->layer[l - 1].cls->reads_output)
        return false;
    for (int64_t i = l + 1; i < net->layers; i++)
        if (net->layer[i].back > 0 && i - 1 - net->layer[i].back == l - 1) return false;
    return true;
}

double krein__net_work_bytes(const krein_net *net, int64_t rows, bool back) {
    double floats = (double)net->in + 64, tiled = 0, once = 0;
    for (int64_t l = 0; l < net->layers; l++) {
        const krein_layer *at = &net->layer[l];
        if (!over_input(net, l)) floats += (double)at->out * (back ? 2 : 1);
        if (back) floats += (double)at->kept;
        if (at->by_columns) tiled += (double)at->in;
        once += (double)(at->whole + KREIN_NET_GROUPS * at->sums);
    }
    return 4 * ((double)rows * floats + once + (double)(tiles_of(rows) * KREIN_NET_TILE) * tiled +
                (double)net->ctx->threads * (double)krein__net_scratch(net, rows));
}

krein_status krein__net_work_begin(const krein_net *net, int64_t rows, bool back,
                                   krein_net_work *w) {
    krein_ctx *ctx = net->ctx;
    krein_status st = KREIN_OK;
    *w = (krein_net_work){
        .net = net, .rows = rows, .each = krein__net_scratch(net, rows), .p = net->p};
    NEW(w->x, rows * net->in);
    for (int64_t l = 0; l < net->layers; l++) {
        const krein_layer *at = &net->layer[l];
        krein_pass *b = &w->pass[l];
        bool over = over_input(net, l);
        if (over)
            b->out = w->pass[l - 1].out;
        else
            NEW(b->out, rows * at->out);
        if (at->by_columns) ZNEW(b->columns, tiles_of(rows) * KREIN_NET_TILE * at->in);
        if (back) NEW(b->kept, rows * krein__max(1, at->kept));
        if (over)
            w->gradient[l] = w->gradient[l - 1];
        else if (back)
            NEW(w->gradient[l], rows * at->out);
        if (at->whole > 0) ZNEW(b->whole, at->whole);
        if (at->sums > 0) NEW(b->sums, KREIN_NET_GROUPS * at->sums);
        b->x = l > 0 ? w->pass[l - 1].out : w->x;
        b->gout = w->gradient[l];
        b->gx = l > 0 ? w->gradient[l - 1] : NULL;
        if (at->back > 0) b->aside = l - 1 - at->back >= 0 ? w->pass[l - 1 - at->back].out : w->x;
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
        if (over_input(w->net, l)) /* not its own */
            w->pass[l].out = w->pass[l].rout = w->gradient[l] = w->rgradient[l] = NULL;
        krein__free(ctx, w->pass[l].out);
        krein__free(ctx, w->pass[l].columns);
        krein__free(ctx, w->pass[l].kept);
        krein__free(ctx, w->pass[l].whole);
        krein__free(ctx, w->pass[l].sums);
        krein__free(ctx, w->pass[l].rout);
        krein__free(ctx, w->pass[l].rkept);
        krein__free(ctx, w->pass[l].rwhole);
        krein__free(ctx, w->gradient[l]);
        krein__free(ctx, w->rgradient[l]);
    }
    krein__free(ctx, w->x);
    krein__free(ctx, w->still);
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
    if (omp_in_parallel()) return 1;
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

/* Tiles of a layer. */
static int64_t layer_tiles(const krein_layer *l, int64_t n) { return (n + l->tile - 1) / l->tile; }

static int64_t groups_of(int64_t n) { return krein__min(KREIN_NET_GROUPS, n); }

/* Inside a parallel region: what comes before the pieces of that way. */
static void prepare(const krein_net_work *w, int64_t l, krein_way way, const float *v) {
    const krein_layer *at = &w->net->layer[l];
    const krein_pass *b = &w->pass[l];
    int64_t n = b->n, groups = groups_of(n);
    if (at->cls->gathers & (unsigned)way) {
#pragma omp for schedule(dynamic)
        for (int64_t g = 0; g < groups; g++) {
            int64_t row = n * g / groups;
            at->cls->gather(at, b, way, row, n * (g + 1) / groups - row, b->sums + g * at->sums,
                            scratch_here(w));
        }
    }
    if (at->cls->settles & (unsigned)way) {
#pragma omp single
        at->cls->settle(at, krein__layer_uses(w->net, l, w->p), v, b, way, groups);
    }
}

/* Pieces that may be done at the same time. */
static int64_t pieces_of(const krein_layer *l, krein_way way, int64_t n, int64_t pieces) {
    return l->cls->gathers & (unsigned)way ? krein__max(pieces, groups_of(n)) : pieces;
}

/* Forwards through layer l, or R{.} of that where there is a v. */
static void forward(krein_net_work *w, int64_t l, int64_t n, const float *v) {
    const krein_net *net = w->net;
    const krein_layer *at = &net->layer[l];
    krein_pass *b = &w->pass[l];
    krein_way way = v ? KREIN_WAY_R_FORWARD : KREIN_WAY_FORWARD;
    const float *p = krein__layer_uses(net, l, w->p);
    int64_t tiles = layer_tiles(at, n), columns = tiles_of(n);
    int64_t strips = at->by_columns && !v ? krein__net_parts(at->in) : 0;
    int threads = threads_for(w, pieces_of(at, way, n, tiles * at->parts));
    /* A part with all its tiles, and some parts behind each other, are one thread's where there
     * are many: parameters are then fetched once, and in their order. */
    int64_t together =
        at->parts >= 4 * threads ? krein__max(1, at->parts / (8 * threads)) * tiles : 1;
    krein_compute c = krein__compute_begin();
    b->n = n;
    b->statistics = w->statistics;
#pragma omp parallel num_threads(threads)
    {
        krein__worker_begin();
#pragma omp for schedule(static)
        for (int64_t i = 0; i < columns * strips; i++) {
            int64_t row = i / strips * KREIN_NET_TILE;
            by_columns(at, b, row, krein__min(KREIN_NET_TILE, n - row), i % strips);
        }
        prepare(w, l, way, v);
#pragma omp for schedule(dynamic, together)
        for (int64_t i = 0; i < tiles * at->parts; i++) {
            int64_t row = i % tiles * at->tile, m = krein__min(at->tile, n - row);
            if (v)
                at->cls->r_forward(at, p, v, b, row, m, i / tiles, scratch_here(w));
            else
                at->cls->forward(at, p, b, row, m, i / tiles, scratch_here(w));
        }
        if (at->bits > 0 && at->most > 0 && !v) {
#pragma omp for schedule(static)
            for (int64_t i = 0; i < tiles; i++)
                krein__layer_round_output(at, krein__min(at->tile, n - i * at->tile) * at->out,
                                          b->out + i * at->tile * at->out);
        }
        krein__worker_end(c);
    }
    krein__compute_end(c);
}

const float *krein__net_forward(krein_net_work *w, int64_t n) {
    for (int64_t l = 0; l < w->net->layers; l++) forward(w, l, n, NULL);
    return w->net->layers > 0 ? w->pass[w->net->layers - 1].out : w->x;
}

/* What comes through shortcuts to the output of layer l, rows row .. row + n - 1. */
static void add_asides(const krein_net_work *w, int64_t l, float *const *gradient, int64_t row,
                       int64_t n) {
    for (int64_t i = l + 2; i < w->net->layers; i++) {
        const krein_layer *at = &w->net->layer[i];
        if (at->back > 0 && i - 1 - at->back == l)
            at->cls->back_aside(at, gradient[i], row, n, gradient[l]);
    }
}

/* Backwards through layer l, or R{.} of that. */
static void backward(krein_net_work *w, int64_t l, const float *v) {
    const krein_layer *at = &w->net->layer[l];
    const krein_pass *b = &w->pass[l];
    krein_way way = v ? KREIN_WAY_R_BACKWARD : KREIN_WAY_BACKWARD;
    const float *p = krein__layer_uses(w->net, l, w->p);
    int64_t tiles = layer_tiles(at, b->n);
    int threads = threads_for(w, pieces_of(at, way, b->n, tiles));
    if (l == 0) return;
    krein_compute c = krein__compute_begin();
#pragma omp parallel num_threads(threads)
    {
        krein__worker_begin();
        prepare(w, l, way, v);
#pragma omp for schedule(dynamic)
        for (int64_t t = 0; t < tiles; t++) {
            int64_t row = t * at->tile, m = krein__min(at->tile, b->n - row);
            if (v)
                at->cls->r_backward(at, p, v, b, row, m, scratch_here(w));
            else
                at->cls->backward(at, p, b, row, m, scratch_here(w));
            add_asides(w, l - 1, v ? w->rgradient : w->gradient, row, m);
        }
        krein__worker_end(c);
    }
    krein__compute_end(c);
}

void krein__net_backward(krein_net_work *w, int64_t l) { backward(w, l, NULL); }

static void gradient(krein_net_work *w, int64_t l, const float *v, krein_part_fn *use, void *user) {
    const krein_layer *at = &w->net->layer[l];
    krein_way way = v ? KREIN_WAY_R_GRADIENT : KREIN_WAY_GRADIENT;
    int threads = threads_for(w, pieces_of(at, way, w->pass[l].n, at->weights_parts));
    int64_t together = krein__max(1, at->weights_parts / (32 * threads));
    if (at->weights_parts == 0) return;
    krein_compute c = krein__compute_begin();
#pragma omp parallel num_threads(threads)
    {
        krein__worker_begin();
        prepare(w, l, way, v);
#pragma omp for schedule(dynamic, together)
        for (int64_t i = 0; i < at->weights_parts; i++) {
            krein_range range[KREIN_NET_RANGES];
            float *g = scratch_here(w), *rest = g + at->part_size;
            int64_t ranges = at->cls->ranges(at, i, range);
            if (v)
                at->cls->r_gradient(at, &w->pass[l], i, g, rest);
            else
                at->cls->gradient(at, &w->pass[l], i, g, rest);
            if (at->bits > 0) krein__layer_cut_gradient(at, w->net->p, i, range, g);
            use(user, l, ranges, range, g);
        }
        krein__worker_end(c);
    }
    krein__compute_end(c);
}

void krein__net_gradient(krein_net_work *w, int64_t l, krein_part_fn *use, void *user) {
    gradient(w, l, NULL, use, user);
}

void krein__net_store_part(void *user, int64_t layer, int64_t ranges, const krein_range *range,
                           float *g) {
    float *to = user;
    (void)layer;
    for (int64_t q = 0; q < ranges; q++)
        for (int64_t i = 0; i < range[q].rows; i++, g += range[q].columns)
            memcpy(to + range[q].first + i * range[q].ld, g, (size_t)range[q].columns * sizeof *g);
}

void krein__net_gradient_all(krein_net_work *w, float *g) {
    memset(g, 0, (size_t)w->net->count * sizeof *g);
    for (int64_t l = 0; l < w->net->layers; l++) gradient(w, l, NULL, krein__net_store_part, g);
}

double krein__net_loss_gradient(krein_net_work *w, const float *p, const krein_loss_class *loss,
                                const krein_aims *aims, int64_t n, float *g) {
    int64_t last = w->net->layers - 1, k = krein__net_out(w->net);
    w->p = p;
    const float *f = krein__net_forward(w, n);
    double sum = krein__loss_rows(loss, n, k, f, aims, 1 / (double)n, w->gradient[last]);
    for (int64_t l = last; l > 0; l--) backward(w, l, NULL);
    krein__net_gradient_all(w, g);
    return sum / (double)n;
}

void krein__net_note_statistics(const krein_net_work *w, double momentum, float *p) {
    for (int64_t l = 0; l < w->net->layers; l++)
        if (w->net->layer[l].cls->note)
            w->net->layer[l].cls->note(&w->net->layer[l], &w->pass[l], momentum, p);
}

/* ---- second derivatives ------------------------------------------------- */

krein_status krein__net_work_second(krein_net_work *w) {
    const krein_net *net = w->net;
    krein_ctx *ctx = net->ctx;
    krein_status st = KREIN_OK;
    ZNEW(w->still, w->rows * net->in);
    for (int64_t l = 0; l < net->layers; l++) {
        const krein_layer *at = &net->layer[l];
        krein_pass *b = &w->pass[l];
        if (at->bits > 0)
            TRY(krein__fail(ctx, KREIN_EARG,
                            "a net in codes of a few bits has no second derivatives"));
        if (over_input(net, l)) {
            b->rout = w->pass[l - 1].rout;
            w->rgradient[l] = w->rgradient[l - 1];
        } else {
            NEW(b->rout, w->rows * at->out);
            NEW(w->rgradient[l], w->rows * at->out);
        }
        if (at->rkept > 0) NEW(b->rkept, w->rows * at->rkept);
        if (at->whole > 0) ZNEW(b->rwhole, at->whole);
        b->still = l == 0;
        b->rx = l > 0 ? w->pass[l - 1].rout : w->still;
        b->rgout = w->rgradient[l];
        b->rgx = l > 0 ? w->rgradient[l - 1] : NULL;
        if (at->back > 0)
            b->raside = l - 1 - at->back >= 0 ? w->pass[l - 1 - at->back].rout : w->still;
    }
done:
    return st;
}

void krein__net_hessian_vector(krein_net_work *w, const krein_loss_class *loss,
                               const krein_aims *aims, const float *v, float *Hv) {
    int64_t last = w->net->layers - 1, n = w->pass[last].n, k = krein__net_out(w->net);
    for (int64_t l = 0; l <= last; l++) forward(w, l, n, v);
    krein__loss_r_rows(loss, n, k, w->pass[last].out, aims, 1 / (double)n, w->pass[last].rout,
                       w->rgradient[last]);
    memset(Hv, 0, (size_t)w->net->count * sizeof *Hv);
    for (int64_t l = last; l >= 0; l--) {
        backward(w, l, v);
        gradient(w, l, v, krein__net_store_part, Hv);
    }
}
