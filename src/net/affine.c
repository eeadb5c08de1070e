/* affine -- weights and intercepts
 *     out = x W + b,   gx = gout W',   gW = x'gout,   gb = sum of gout over rows
 * W is in x out. A part of the parameters is PART rows of W; the intercepts go with the first. The
 * intercepts stand behind W. Cost: 2 in out flops a row forwards, twice that backwards. */
#include "net/layer.h"

#include "num/blas.h"

#include <math.h>
#include <string.h>

enum { WIDTH, INTERCEPT };

static bool intercept(const krein_layer *l) { return l->values.number[INTERCEPT] > 0; }
static int64_t bias_at(const krein_layer *l) { return l->first + l->in * l->out; }

static krein_status shape(const struct krein_net *net, krein_layer *l) {
    (void)net;
    l->out = (int64_t)l->values.number[WIDTH];
    krein__weights_shape(l, l->in, intercept(l));
    l->parts = krein__net_parts(l->out);
    l->quantisers = l->out;
    l->even = true;
    l->flops = 2 * (double)l->in * (double)l->out;
    return KREIN_OK;
}

static void start(const krein_layer *l, krein_rng g, float *p) {
    krein__weights_start(l, l->in, g, p);
}

static void forward(const krein_layer *l, const float *p, const krein_pass *b, int64_t row,
                    int64_t n, int64_t part, float *scratch) {
    int64_t from = part * KREIN_NET_PART, m = krein__min(KREIN_NET_PART, l->out - from);
    float *out = b->out + row * l->out + from;
    (void)scratch;
    for (int64_t i = 0; i < n && !b->add; i++)
        if (intercept(l))
            memcpy(out + i * l->out, p + bias_at(l) + from, (size_t)m * sizeof *out);
        else
            memset(out + i * l->out, 0, (size_t)m * sizeof *out);
    krein__sgemm(false, false, n, m, l->in, 1, b->x + row * l->in, l->in, p + l->first + from,
                 l->out, 1, out, l->out);
}

static void backward(const krein_layer *l, const float *p, const krein_pass *b, int64_t row,
                     int64_t n, float *scratch) {
    (void)scratch;
    krein__sgemm(false, true, n, l->in, l->out, 1, b->gout + row * l->out, l->out, p + l->first,
                 l->out, b->add, b->gx + row * l->in, l->in);
}

static int64_t ranges(const krein_layer *l, int64_t part, krein_range *out) {
    return krein__weights_ranges(l, l->in, intercept(l), part, out);
}

/* One for each number of the output. */
static int64_t quantiser(const krein_layer *l, int64_t part, int64_t column) {
    (void)l, (void)part;
    return column;
}

static void gradient(const krein_layer *l, const krein_pass *b, int64_t part, float *g,
                     float *scratch) {
    int64_t from = part * KREIN_NET_PART, m = krein__min(KREIN_NET_PART, l->in - from);
    (void)scratch;
    krein__sgemm(true, false, m, l->out, b->n, 1, b->x + from, l->in, b->gout, l->out, b->add, g,
                 l->out);
    if (part > 0 || !intercept(l) || b->add) return;
    for (int64_t c = 0; c < l->out; c++) {
        double sum = 0;
        for (int64_t i = 0; i < b->n; i++) sum += (double)b->gout[i * l->out + c];
        g[m * l->out + c] = (float)sum;
    }
}

static const krein_option options[] = {{.name = "width",
                                        .type = KREIN_OPTION_INTEGER,
                                        .value = NAN,
                                        .low = 1,
                                        .high = 1e7,
                                        .help = "numbers of a row of output"},
                                       {.name = "intercept",
                                        .type = KREIN_OPTION_YESNO,
                                        .value = 1,
                                        .help = "add a number to each of them"},
                                       {0}};

const krein_layer_class krein__layer_affine = {
    .cls = {"affine", "weights and intercepts", "", options, NULL},
    .shape = shape,
    .start = start,
    .forward = forward,
    .backward = backward,
    .ranges = ranges,
    .gradient = gradient,
    .r_forward = krein__bilinear_r_forward,
    .r_backward = krein__bilinear_r_backward,
    .r_gradient = krein__bilinear_r_gradient,
    .quantiser = quantiser};
