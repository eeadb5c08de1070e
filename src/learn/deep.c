/* deep -- stacked layers of random Fourier features, trained end to end, in float or in a few bits
 *                                                               (xie2019, luo2022 chapter 3)
 *     min over W_1 .. W_L, w, b   mean loss(w's_L + b, y_i) + lambda_a |w|^2
 *     s_0 = x,   s_l = [cos(W_l's_l-1), sin(W_l's_l-1)]
 *
 * by mini-batches and back-propagation (net/fit.c). A layer has D_l = width frequencies and twice
 * as many features, in [-1, 1]. W_1 starts as draws from the spectral measure of the kernel, whose
 * parameter is chosen as usual; the others as N(0, spread^2 / width), since |s_l|^2 = width; w
 * starts at zero. In the net the features are s_l / sqrt(width), of length one (net/spectral.c);
 * in the model (map/deep.c) the factor is in the next layer's weights.
 *
 * With bits = 8, 4, 2 or 1 the weights of all layers, the features and w are codes of so many bits
 * while they are trained (net/codes.c), and the columns of x are codes of 8 bits, cut where few
 * rows are; straight-through gradients move weights in float. The model has the codes alone, and
 * predicts with whole numbers: what it predicts is what the net did, but for cosines that lie in
 * the middle between two codes.
 *
 * memory = M gives the width by (3.18) of the thesis, D_l = sqrt(M / (2 b (L - 1))): 2 D_l^2
 * weights of b bits between two layers; the first layer and w are not counted.
 *
 * Steps of adam in W are in units of the typical size of its layer at the start. How rows are held
 * out, and the refit, stand in net_machine.c; weights in a few bits are not solved for again.
 *
 * Cost: 6 epochs n (d D_l + 2 (L - 1) D_l^2) flops. */
#include "learn/net_machine.h"
#include "map/deep.h"
#include "net/codes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LAYERS,
    WIDTH,
    BITS,
    MEMORY,
    LAMBDA_A,
    SPREAD,
    LOSS /* and the others of net_machine.h */
};
static const double TURN = 0.5 / M_PI;
static const double RATE = 0.01; /* of adam */
enum { WIDTH_DEFAULT = 128 };

static const krein_option options[] = {
    [LAYERS] = {.name = "layers",
                .type = KREIN_OPTION_INTEGER,
                .value = 3,
                .low = 1,
                .high = KREIN_DEEP_LAYERS,
                .help = "layers of features"},
    [WIDTH] = {.name = "width",
               .type = KREIN_OPTION_INTEGER,
               .value = NAN,
               .low = 1,
               .high = 1e6,
               .help = "frequencies of a layer, which has twice as many features; 128 when neither "
                       "it nor memory is given"},
    [BITS] = {.name = "bits",
              .type = KREIN_OPTION_INTEGER,
              .value = KREIN_DEEP_FLOAT,
              .low = 1,
              .high = KREIN_DEEP_FLOAT,
              .help = "of weights and features: 32, or whole numbers of 8, 4, 2 or 1"},
    [MEMORY] = {.name = "memory",
                .type = KREIN_OPTION_NUMBER,
                .value = NAN,
                .low = 0,
                .low_open = true,
                .high = 1e15,
                .help = "in place of width: bits that the weights between the layers may take"},
    [LAMBDA_A] = {.name = "lambda_a",
                  .type = KREIN_OPTION_NUMBER,
                  .value = 1e-5,
                  .low = 0,
                  .high = 1e6,
                  .help = "penalty of the weights of the last layer"},
    [SPREAD] = {.name = "spread",
                .type = KREIN_OPTION_NUMBER,
                .value = 1.2,
                .low = 0,
                .low_open = true,
                .high = 1e6,
                .help = "deviation of a phase at the start, in layers behind the first"},
    [LOSS] = KREIN_NET_OPTIONS(48, "0.01 with adam, the optimiser's own with others", "the rate"),
    [LOSS + KREIN_NET_OWN] = {0}};

/* ---- options ------------------------------------------------------------ */

typedef struct shape {
    int64_t layers, width;
    int bits;
} shape;

static krein_status width_of_memory(krein_ctx *ctx, double memory, shape *s) {
    double each = 2 * (double)s->bits * (double)(s->layers - 1);
    if (s->layers == 1)
        return krein__fail(ctx, KREIN_EARG,
                           "deep: memory counts the weights between layers, and layers=1 has "
                           "none; give `width`");
    if (memory < each)
        return krein__fail(ctx, KREIN_EARG,
                           "deep: memory=%.0f bits is too small for %lld layers of width 1 in %d "
                           "bits, which take %.0f; give more, fewer layers or fewer bits",
                           memory, (long long)s->layers, s->bits, each);
    s->width = (int64_t)sqrt(memory / each);
    return KREIN_OK;
}

static krein_status shape_of(krein_ctx *ctx, const krein_values *v, shape *s) {
    bool width = v->given[WIDTH] && !isnan(v->number[WIDTH]);
    bool memory = v->given[MEMORY] && !isnan(v->number[MEMORY]);
    *s = (shape){(int64_t)v->number[LAYERS], WIDTH_DEFAULT, (int)v->number[BITS]};
    if (!krein__deep_offers(s->bits))
        return krein__fail(ctx, KREIN_EARG, "deep: bits=%d is not offered: 32, 8, 4, 2 or 1",
                           s->bits);
    if (width && memory)
        return krein__fail(ctx, KREIN_EARG,
                           "deep: memory says what the width is; give one of the two");
    if (width) s->width = (int64_t)v->number[WIDTH];
    if (memory) {
        krein_status st = width_of_memory(ctx, v->number[MEMORY], s);
        if (st != KREIN_OK) return st;
    }
    if (s->bits != KREIN_DEEP_FLOAT && 2 * s->width > krein__product_inputs(s->bits))
        return krein__fail(ctx, KREIN_EARG,
                           "deep: width=%lld is too large for sums of codes of %d bits; at most "
                           "%lld",
                           (long long)s->width, s->bits,
                           (long long)krein__product_inputs(s->bits) / 2);
    return KREIN_OK;
}

/* In float: that is what the layers start from, and what the kernel is chosen by. */
static char *map_spec(krein_ctx *ctx, const krein_values *v) {
    shape s;
    if (shape_of(ctx, v, &s) != KREIN_OK) return NULL;
    return krein__format(ctx, "deep(D=%lld, layers=%lld)", (long long)(2 * s.width),
                         (long long)s.layers);
}

static krein_status check(krein_ctx *ctx, const krein_values *v, const krein_map *map) {
    shape s;
    krein_status st = shape_of(ctx, v, &s);
    if (st != KREIN_OK) return st;
    double refit = v->number[LOSS + KREIN_NET_REFIT];
    if (s.bits != KREIN_DEEP_FLOAT && !isnan(refit) && refit > 0)
        return krein__fail(ctx, KREIN_EARG,
                           "deep: weights in %d bits are not solved for; use refit=no, or bits=32",
                           s.bits);
    if (!map) return KREIN_OK;
    if (!krein__map_is_deep(map))
        return krein__fail(ctx, KREIN_EARG,
                           "the learner deep trains layers of its own, which the map %s does not "
                           "have; leave `map` out",
                           map->cls->cls.name);
    if (krein__deep_layers(map) != s.layers || (map->D > 0 && map->D != 2 * s.width))
        return krein__fail(ctx, KREIN_EARG,
                           "the learner deep has %lld layers of %lld features, and its map others; "
                           "leave `map` and `features` out, and give layers and width to the "
                           "learner",
                           (long long)s.layers, (long long)(2 * s.width));
    return KREIN_OK;
}

/* ---- the net ------------------------------------------------------------ */

static krein_status make_net(krein_ctx *ctx, const shape *s, int64_t d, int64_t k, krein_net *net) {
    krein_status st = KREIN_OK;
    char spec[96];
    krein__net_begin(ctx, d, net);
    for (int64_t l = 0; l <= s->layers; l++) {
        if (l < s->layers)
            snprintf(spec, sizeof spec, "spectral(width=%lld, spectrum=stationary, sines=yes)",
                     (long long)(2 * s->width));
        else
            snprintf(spec, sizeof spec, "affine(width=%lld)", (long long)k);
        TRY(krein__net_add(net, spec));
        if (s->bits != KREIN_DEEP_FLOAT) TRY(krein__net_in_codes(net, s->bits));
    }
done:
    return st;
}

/* A column's reach: what is cut is beyond 1.5 times the size that one in 200 rows exceeds. */
static int by_size(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static float reach_of(int64_t n, float *size) {
    qsort(size, (size_t)n, sizeof *size, by_size);
    float most = size[n - 1], usual = 1.5f * size[(n - 1) * 199 / 200];
    if (!(usual > 0)) usual = most;
    return most > 0 ? fminf(most, usual) : 1;
}

/* Rows that the reach of the columns is found from. */
static int64_t sample_rows(int64_t d) {
    enum { LEAST = 200, MOST = 4096, NUMBERS = 1 << 22 };
    return krein__max(LEAST, krein__min(MOST, NUMBERS / d));
}

/* Columns times these lie in [-1, 1] but where they are cut; from rows that stand evenly in the
 * first window. */
static krein_status find_units(krein_net_machine *m, int64_t d, float *unit) {
    enum { CHUNK = 64 };
    krein_ctx *ctx = m->job->ctx;
    krein_status st = KREIN_OK;
    krein_window w;
    float *x = NULL, *size = NULL;
    TRY(m->w.fit.window(m->w.fit.user, 0, &w));
    int64_t n = krein__min(w.x.n, sample_rows(d));
    NEW(x, n * d);
    NEW(size, n);
    for (int64_t i = 0; i < n; i++) krein__row_copy(&w.x, w.x.n * i / n, x + i * d);
    for (int64_t j = 0; j < d; j++) {
        if (j % CHUNK == 0) TRY(krein__poll(ctx));
        for (int64_t i = 0; i < n; i++) size[i] = fabsf(x[i * d + j]);
        unit[j] = 1 / reach_of(n, size);
    }
done:
    krein__free(ctx, x);
    krein__free(ctx, size);
    return st;
}

/* What a frequency of layer l in the net is in turns of the map. */
static double turns(const shape *s, int64_t l) {
    return l == 0 ? TURN : TURN / sqrt((double)s->width);
}

/* A map that was asked for in a few bits has no weights in float: one that has. */
static krein_status draw(const krein_map *map, const shape *s, krein_map **out) {
    krein_status st = KREIN_OK;
    char spec[64];
    snprintf(spec, sizeof spec, "deep(layers=%lld)", (long long)s->layers);
    TRY(krein__map_create(map->ctx, spec, map->kernel, 2 * s->width, map->seed, out));
    TRY(krein__map_fit_silently(*out, map->d, map->sparse, NULL, 0));
done:
    return st;
}

/* The frequencies of the map to the net. */
static krein_status start_net(const krein_map *map, const shape *s, double spread,
                              const float *unit, krein_net *net) {
    krein_ctx *ctx = net->ctx;
    krein_status st = KREIN_OK;
    krein_map *drawn = NULL;
    float *W = NULL;
    if (krein__deep(map)->bits != KREIN_DEEP_FLOAT) TRY(draw(map, s, &drawn));
    NEW(W, krein__max(map->d, 2 * s->width) * s->width);
    for (int64_t l = 0; l < s->layers; l++) {
        const krein_deep_layer *from = &krein__deep(drawn ? drawn : map)->layer[l];
        for (int64_t e = 0; e < from->in * from->F; e++) {
            double each = l > 0 ? spread : unit ? 1 / (double)unit[e / from->F] : 1;
            W[e] = (float)((double)from->W[e] / turns(s, l) * each);
        }
        krein__panels_from(from->in, from->F, W, krein__spectral_at(&net->layer[l], net->p).first);
    }
done:
    krein__map_destroy(drawn);
    krein__free(ctx, W);
    return st;
}

/* ---- what came out ------------------------------------------------------ */

/* The layers of the net become those of the map: numbers, or codes. */
static krein_status give_layers(krein_map *map, const shape *s, const float *unit,
                                const krein_net *net) {
    krein_ctx *ctx = net->ctx;
    krein_status st = KREIN_OK;
    bool codes = s->bits != KREIN_DEEP_FLOAT;
    float *W[KREIN_DEEP_LAYERS] = {NULL};
    uint8_t *code[KREIN_DEEP_LAYERS] = {NULL};
    krein_quant quant[KREIN_DEEP_LAYERS];
    int64_t F[KREIN_DEEP_LAYERS];
    for (int64_t l = 0; l < s->layers; l++) {
        const krein_layer *layer = &net->layer[l];
        int64_t size = layer->in * s->width;
        F[l] = s->width;
        NEW(W[l], size);
        krein__panels_to(layer->in, s->width, krein__layer_parameters(net, l) + layer->first, W[l]);
        if (codes) {
            NEW(code[l], size);
            krein__quant_codes(layer->quant, size, W[l], code[l]);
            quant[l] = *layer->quant;
            quant[l].scale *= turns(s, l);
        } else {
            for (int64_t e = 0; e < size; e++) W[l][e] = (float)((double)W[l][e] * turns(s, l));
        }
    }
    krein_deep_given given = {.layers = s->layers,
                              .F = F,
                              .W = (const float *const *)W,
                              .codes = codes ? (const uint8_t *const *)code : NULL,
                              .quant = quant,
                              .bits = s->bits,
                              .reach = 1,
                              .mass = 1,
                              .unit = unit};
    TRY(krein__deep_give(map, &given));
done:
    for (int64_t l = 0; l < s->layers; l++) {
        krein__free(ctx, W[l]);
        krein__free(ctx, code[l]);
    }
    return st;
}

/* Weights of 0 have no code of their own on [-u, u]: their unit is next to nothing. */
static krein_status give_weights(krein_net_machine *n) {
    krein_model *m = n->job->model;
    int bits = n->net.layer[0].bits;
    krein__net_weights(n, 1, m->w, m->intercept);
    if (bits == 0) return KREIN_OK;
    for (int64_t c = 0; c < m->k; c++) {
        bool some = false;
        for (int64_t i = 0; i < m->map->R; i++) some |= m->w[i * m->k + c] != 0;
        if (!some) m->w[c] = 1e-30;
    }
    return krein__model_pack(m, bits, m->w, NULL);
}

/* ---- the learner -------------------------------------------------------- */

/* Options that had no value, and those that the shape decides. */
static void settle(krein_values *v, const shape *s) {
    v->number[WIDTH] = (double)s->width;
    v->given[WIDTH] = true;
    v->number[MEMORY] = NAN;
    v->given[MEMORY] = false;
    if (s->bits != KREIN_DEEP_FLOAT) v->number[LOSS + KREIN_NET_REFIT] = 0;
}

static krein_status check_columns(krein_ctx *ctx, const shape *s, int64_t d) {
    int64_t most = krein__product_inputs(KREIN_DEEP_INPUT_BITS);
    if (s->bits == KREIN_DEEP_FLOAT || d <= most) return KREIN_OK;
    return krein__fail(ctx, KREIN_EARG,
                       "deep: %lld encoded columns are too many for sums of codes; at most %lld, "
                       "or bits=32",
                       (long long)d, (long long)most);
}

static krein_status fit(krein_job *job, krein_values *values) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_map *map = job->model->map;
    krein_net_machine m = {.name = "deep", .first = LOSS, .job = job};
    float *unit = NULL;
    shape s;
    TRY(shape_of(ctx, values, &s));
    TRY(check_columns(ctx, &s, map->d));
    settle(values, &s);
    TRY(krein__net_machine_begin(&m, values, RATE, 1));
    m.o.penalty = KREIN_PENALTY_FROBENIUS;
    m.o.lambda_a = values->number[LAMBDA_A];
    TRY(make_net(ctx, &s, map->d, job->model->k, &m.net));
    TRY(krein__net_ready(&m.net));
    TRY(krein__windows_open(job, false, &m.w));
    if (s.bits != KREIN_DEEP_FLOAT) {
        NEW(unit, map->d);
        TRY(find_units(&m, map->d, unit));
        TRY(krein__net_input_codes(&m.net, KREIN_DEEP_INPUT_BITS, unit));
    }
    TRY(start_net(map, &s, values->number[SPREAD], unit, &m.net));
    for (int64_t l = 0; l < s.layers; l++) krein__net_machine_pace(&m, values, l);
    TRY(krein__net_machine_train(&m));
    TRY(give_layers(map, &s, unit, &m.net));
    TRY(krein__model_retell_map(job->model));
    TRY(krein__net_machine_end(&m, give_weights));
done:
    krein__free(ctx, unit);
    krein__net_machine_clear(&m);
    return st;
}

static void cost(const krein_map *map, const krein_values *values, int64_t n, int64_t k, bool path,
                 krein_cost *out, int64_t *passes) {
    static const bool frozen[KREIN_NET_LAYERS] = {false};
    krein_values v = *values;
    krein_net_machine m = {.name = "deep", .first = LOSS};
    shape s;
    if (shape_of(map->ctx, &v, &s) != KREIN_OK) return;
    if (s.bits != KREIN_DEEP_FLOAT) v.number[LOSS + KREIN_NET_REFIT] = 0;
    if (make_net(map->ctx, &s, map->d, k, &m.net) != KREIN_OK) return;
    krein__net_machine_cost(&m, map, &v, n, k, path, frozen, out, passes);
    /* A sample of the rows for the reach; the layers once more, on their way to the map. */
    out->bytes += 4 * (double)(sample_rows(map->d) * map->d) + 10 * (double)m.net.count;
    krein__net_clear(&m.net);
}

const krein_learner_class krein__learner_deep = {
    .cls =
        {"deep", "stacked layers of random Fourier features, trained, in float or in a few bits",
         "luo2022", options,
         "For numbers and classes. Cosines and sines of one layer are the inputs of the next; the "
         "frequencies of the first start from the spectral measure of the kernel (one stationary "
         "kernel, or a product of such), those of the others are Gaussian, and all are trained "
         "with the weights by mini-batches. A tenth of the rows is held out to choose the epoch. "
         "With bits below 32 the layers are trained as they will be used: weights and features "
         "are whole numbers of so many bits, and the model has and uses nothing else. `memory` "
         "gives the width from a budget of bits. With bits=32 and the square loss the weights are "
         "then solved for as by krr. loss=softmax has probabilities by itself; with other losses "
         "they are calibrated on the rows held out."},
    .tasks = KREIN_FOR_NUMBERS | KREIN_FOR_CLASSES | KREIN_FOR_LABELS,
    .probabilities = true,
    .checkpoint = true,
    .map = map_spec,
    .check = check,
    .fit = fit,
    .cost = cost};
