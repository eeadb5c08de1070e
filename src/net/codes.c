/* codes.c -- layers in a few bits, quantisation-aware: see codes.h           (luo2022, chapter 3)
 *     wq = c (code + z),   code = clip(rint(w / c - z), 0, 2^b - 1)
 *
 * A layer's weights have one quantiser, or one for each of its outputs (even: on [-u, u], as
 * model/packed.c has them). The thesis takes the range that the weights have. With few bits the
 * weights far out then take the codes of all others; here the range is no wider than a deviations
 * around the mean, a such that the error of normal weights is least (max1960): 3.9 for 8 bits, 2.5
 * for 4, 1.5 for 2, 0.8 for 1. Of weights beyond it the gradient passes where it leads back into
 * the range, and is 0 where it leads further out.
 *
 * The range is found anew before every step, from sums over the parts of the parameters (layer.h),
 * which are added in order: the number of threads does not matter. Cost: four passes over the
 * weights, of four operations each. */
#include "net/codes.h"

#include <math.h>
#include <string.h>

/* Of the weights of a part that belong to one quantiser. */
typedef struct sums {
    double n, sum, square;
    float low, high;
} sums;

struct krein_net_codes {
    int64_t quants;     /* of all layers */
    krein_quant *quant; /* of these, layer by layer */
    float *q;           /* like the net's vector: the rounded parameters of layers in codes */
    sums *sums;         /* parts x quantisers of the largest layer */
    krein_quant input;  /* of the rows that come in; with unit */
    float *unit;        /* in, or NULL: rows come in as they are */
};

enum { COLUMNS = 64 }; /* at a time */

/* Deviations. */
static double reach(int bits) {
    return bits == 8 ? 3.924 : bits == 4 ? 2.514 : bits == 2 ? 1.494 : 0.798;
}

/* ---- making them -------------------------------------------------------- */

krein_status krein__net_in_codes(krein_net *net, int bits) {
    krein_layer *l = &net->layer[net->layers - 1];
    int64_t trained = 0;
    krein_range range[KREIN_NET_RANGES];
    for (int64_t part = 0; part < l->weights_parts; part++)
        for (int64_t q = l->cls->ranges(l, part, range) - 1; q >= 0; q--)
            trained += range[q].rows * range[q].columns;
    if (!l->cls->quantiser || trained != l->parameters)
        return krein__fail(net->ctx, KREIN_EARG, "the layer %s cannot be in codes",
                           l->cls->cls.name);
    l->bits = bits;
    return KREIN_OK;
}

static int64_t sums_of(const krein_net *net) {
    int64_t most = 0;
    for (int64_t l = 0; l < net->layers; l++)
        if (net->layer[l].bits > 0)
            most = krein__max(most, net->layer[l].weights_parts * net->layer[l].quantisers);
    return most;
}

static int64_t quants_of(const krein_net *net) {
    int64_t all = 0;
    for (int64_t l = 0; l < net->layers; l++)
        if (net->layer[l].bits > 0) all += net->layer[l].quantisers;
    return all;
}

double krein__net_codes_bytes(const krein_net *net) {
    int64_t quants = quants_of(net);
    if (quants == 0) return 0;
    return 4 * (double)net->count + (double)quants * sizeof(krein_quant) +
           (double)sums_of(net) * sizeof(sums) + 4 * (double)net->in +
           sizeof(struct krein_net_codes);
}

krein_status krein__net_codes_ready(krein_net *net) {
    krein_ctx *ctx = net->ctx;
    krein_status st = KREIN_OK;
    struct krein_net_codes *c = NULL;
    int64_t quants = quants_of(net), at = 0;
    if (quants == 0) return KREIN_OK;
    ZNEW(c, 1);
    net->codes = c;
    c->quants = quants;
    ZNEW(c->quant, quants);
    ZNEW(c->q, net->count);
    NEW(c->sums, sums_of(net));
    for (int64_t l = 0; l < net->layers; l++) {
        krein_layer *layer = &net->layer[l];
        if (layer->bits == 0) continue;
        layer->quant = c->quant + at;
        at += layer->quantisers;
    }
done:
    return st;
}

krein_status krein__net_input_codes(krein_net *net, int bits, const float *unit) {
    krein_ctx *ctx = net->ctx;
    krein_status st = KREIN_OK;
    struct krein_net_codes *c = net->codes;
    NEW(c->unit, net->in);
    memcpy(c->unit, unit, (size_t)net->in * sizeof *unit);
    c->input = krein__quant(bits, -1, 1);
done:
    return st;
}

void krein__net_codes_clear(krein_net *net) {
    struct krein_net_codes *c = net->codes;
    if (!c) return;
    krein__free(net->ctx, c->quant);
    krein__free(net->ctx, c->q);
    krein__free(net->ctx, c->sums);
    krein__free(net->ctx, c->unit);
    krein__free(net->ctx, c);
    net->codes = NULL;
}

const float *krein__layer_uses(const krein_net *net, int64_t l, const float *p) {
    return net->layer[l].bits > 0 ? net->codes->q : p;
}

const float *krein__layer_parameters(const krein_net *net, int64_t l) {
    return krein__layer_uses(net, l, net->p);
}

/* ---- ranges ------------------------------------------------------------- */

/* Sums over the rows of m columns, in float: a part has few rows. */
static void column_sums(const krein_range *r, const float *p, int64_t from, int64_t m, float *sum,
                        float *square, float *low, float *high) {
    for (int64_t j = 0; j < m; j++) {
        sum[j] = square[j] = 0;
        low[j] = INFINITY;
        high[j] = -INFINITY;
    }
    for (int64_t i = 0; i < r->rows; i++) {
        const float *x = p + r->first + i * r->ld + from;
        for (int64_t j = 0; j < m; j++) {
            sum[j] += x[j];
            square[j] += x[j] * x[j];
            low[j] = x[j] < low[j] ? x[j] : low[j];
            high[j] = x[j] > high[j] ? x[j] : high[j];
        }
    }
}

/* to: one for each quantiser of the layer. */
static void part_sums(const krein_layer *l, const float *p, int64_t part, sums *to) {
    krein_range range[KREIN_NET_RANGES];
    float sum[COLUMNS], square[COLUMNS], low[COLUMNS], high[COLUMNS];
    l->cls->ranges(l, part, range);
    for (int64_t q = 0; q < l->quantisers; q++) to[q] = (sums){.low = INFINITY, .high = -INFINITY};
    for (int64_t from = 0; from < range[0].columns; from += COLUMNS) {
        int64_t m = krein__min(COLUMNS, range[0].columns - from);
        column_sums(&range[0], p, from, m, sum, square, low, high);
        for (int64_t j = 0; j < m; j++) {
            int64_t q = l->cls->quantiser(l, part, from + j);
            if (q < 0) continue;
            to[q].n += (double)range[0].rows;
            to[q].sum += (double)sum[j];
            to[q].square += (double)square[j];
            to[q].low = fminf(to[q].low, low[j]);
            to[q].high = fmaxf(to[q].high, high[j]);
        }
    }
}

static krein_quant quant_of(const krein_layer *l, const sums *s) {
    double lo = (double)s->low, hi = (double)s->high, a = reach(l->bits);
    if (l->even) {
        double u = fmin(fmax(-lo, hi), a * sqrt(s->square / s->n));
        return krein__quant(l->bits, -u, u);
    }
    double mean = s->sum / s->n, deviation = sqrt(fmax(0, s->square / s->n - mean * mean));
    return krein__quant(l->bits, fmax(lo, mean - a * deviation), fmin(hi, mean + a * deviation));
}

/* ---- rounding ----------------------------------------------------------- */

static const float ROUND = 0x1.8p23f; /* added and taken off again it rounds half to even */

/* n numbers of one quantiser. */
static void round_row(const krein_quant *q, int64_t n, const float *x, float *to) {
    const float c = (float)q->scale, each = (float)(1 / q->scale), z = (float)q->zero,
                top = (float)((1 << q->bits) - 1);
    for (int64_t j = 0; j < n; j++) {
        float v = x[j] * each - z;
        v = v > 0 ? v : 0;
        v = v < top ? v : top;
        to[j] = c * (((v + ROUND) - ROUND) + z);
    }
}

static void round_part(const krein_layer *l, const float *p, int64_t part, float *to) {
    krein_range range[KREIN_NET_RANGES];
    int64_t ranges = l->cls->ranges(l, part, range);
    for (int64_t i = 0; i < range[0].rows; i++) {
        int64_t at = range[0].first + i * range[0].ld;
        if (l->quantisers == 1)
            round_row(l->quant, range[0].columns, p + at, to + at);
        else
            for (int64_t j = 0; j < range[0].columns; j++)
                round_row(&l->quant[l->cls->quantiser(l, part, j)], 1, p + at + j, to + at + j);
    }
    for (int64_t q = 1; q < ranges; q++) /* intercepts */
        for (int64_t i = 0; i < range[q].rows; i++) {
            int64_t at = range[q].first + i * range[q].ld;
            memcpy(to + at, p + at, (size_t)range[q].columns * sizeof *to);
        }
}

void krein__net_round(krein_net *net) {
    struct krein_net_codes *c = net->codes;
    if (!c) return;
    for (int64_t i = 0; i < net->layers; i++) {
        krein_layer *l = &net->layer[i];
        int64_t parts = l->weights_parts, m = l->quantisers;
        int threads = (int)krein__max(1, krein__min(net->ctx->threads, parts));
        if (l->bits == 0) continue;
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int64_t part = 0; part < parts; part++) part_sums(l, net->p, part, c->sums + part * m);
        for (int64_t q = 0; q < m; q++) {
            sums all = c->sums[q];
            for (int64_t part = 1; part < parts; part++) {
                const sums *s = &c->sums[part * m + q];
                all.n += s->n;
                all.sum += s->sum;
                all.square += s->square;
                all.low = fminf(all.low, s->low);
                all.high = fmaxf(all.high, s->high);
            }
            l->quant[q] = quant_of(l, &all);
        }
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int64_t part = 0; part < parts; part++) round_part(l, net->p, part, c->q);
    }
}

void krein__layer_round_output(const krein_layer *l, int64_t n, float *out) {
    krein_quant q = krein__quant(l->bits, -l->most, l->most);
    round_row(&q, n, out, out);
}

/* By the functions of the integers' own path: its inputs are the same. */
void krein__net_round_input(const krein_net *net, int64_t n, float *x) {
    enum { CHUNK = 256 };
    const struct krein_net_codes *c = net->codes;
    uint8_t code[CHUNK];
    if (!c || !c->unit) return;
    for (int64_t i = 0; i < n; i++, x += net->in)
        for (int64_t from = 0; from < net->in; from += CHUNK) {
            int64_t m = krein__min(CHUNK, net->in - from);
            for (int64_t j = from; j < from + m; j++) x[j] *= c->unit[j];
            krein__quant_codes(&c->input, m, x + from, code);
            krein__quant_reals(&c->input, m, code, x + from);
        }
}

void krein__layer_cut_gradient(const krein_layer *l, const float *p, int64_t part,
                               const krein_range *range, float *g) {
    for (int64_t j = 0; j < range->columns; j++) {
        int64_t which = l->cls->quantiser(l, part, j);
        if (which < 0) continue;
        const krein_quant *q = &l->quant[which];
        const float lo = (float)(q->scale * q->zero),
                    hi = (float)(q->scale * (q->zero + (double)((1 << q->bits) - 1)));
        for (int64_t i = 0; i < range->rows; i++) {
            const float at = p[range->first + i * range->ld + j];
            float *d = &g[i * range->columns + j];
            if ((at > hi && *d < 0) || (at<lo && * d> 0)) *d = 0;
        }
    }
}
