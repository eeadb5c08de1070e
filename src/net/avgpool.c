/* avgpool -- the mean of each window of size x size, channel by channel; whole=yes: of the image
 * Linear: R{out} and R{gx} are the same maps of R{x} and R{gout}. */
#include "net/pool.h"

#include <string.h>

enum { SIZE, WHOLE };

static int64_t high(const krein_layer *l) {
    return l->values.number[WHOLE] > 0 ? l->from.h : (int64_t)l->values.number[SIZE];
}
static int64_t wide(const krein_layer *l) {
    return l->values.number[WHOLE] > 0 ? l->from.w : (int64_t)l->values.number[SIZE];
}

static krein_status shape(const struct krein_net *net, krein_layer *l) {
    return krein__pool_shape(net, l, high(l), wide(l));
}

/* out: means of x */
static void means(const krein_layer *l, int64_t row, int64_t n, const float *x, float *out) {
    int64_t h = high(l), w = wide(l), c = l->to.c;
    float each = 1 / (float)(h * w);
    for (int64_t i = row; i < row + n; i++)
        for (int64_t y = 0; y < l->to.h; y++)
            for (int64_t z = 0; z < l->to.w; z++) {
                float *restrict to = out + krein__pool_out(l, i, y, z);
                memset(to, 0, (size_t)c * sizeof *to);
                for (int64_t q = 0; q < h * w; q++) {
                    const float *restrict in =
                        x + krein__pool_in(l, i, y * h + q / w, z * w + q % w);
                    for (int64_t j = 0; j < c; j++) to[j] += in[j];
                }
                for (int64_t j = 0; j < c; j++) to[j] *= each;
            }
}

/* gx: its transpose */
static void spread(const krein_layer *l, int64_t row, int64_t n, const float *g, float *gx) {
    int64_t h = high(l), w = wide(l), c = l->to.c;
    float each = 1 / (float)(h * w);
    memset(gx + row * l->in, 0, (size_t)(n * l->in) * sizeof *gx);
    for (int64_t i = row; i < row + n; i++)
        for (int64_t y = 0; y < l->to.h; y++)
            for (int64_t z = 0; z < l->to.w; z++) {
                const float *restrict from = g + krein__pool_out(l, i, y, z);
                for (int64_t q = 0; q < h * w; q++) {
                    float *restrict to = gx + krein__pool_in(l, i, y * h + q / w, z * w + q % w);
                    for (int64_t j = 0; j < c; j++) to[j] = each * from[j];
                }
            }
}

static void forward(const krein_layer *l, const float *p, const krein_pass *b, int64_t row,
                    int64_t n, int64_t part, float *scratch) {
    (void)p, (void)part, (void)scratch;
    means(l, row, n, b->x, b->out);
}

static void backward(const krein_layer *l, const float *p, const krein_pass *b, int64_t row,
                     int64_t n, float *scratch) {
    (void)p, (void)scratch;
    spread(l, row, n, b->gout, b->gx);
}

static void r_forward(const krein_layer *l, const float *p, const float *v, const krein_pass *b,
                      int64_t row, int64_t n, int64_t part, float *scratch) {
    (void)p, (void)v, (void)part, (void)scratch;
    means(l, row, n, b->rx, b->rout);
}

static void r_backward(const krein_layer *l, const float *p, const float *v, const krein_pass *b,
                       int64_t row, int64_t n, float *scratch) {
    (void)p, (void)v, (void)scratch;
    spread(l, row, n, b->rgout, b->rgx);
}

static const krein_option options[] = {{.name = "size",
                                        .type = KREIN_OPTION_INTEGER,
                                        .value = 2,
                                        .low = 1,
                                        .high = 1e4,
                                        .help = "of a window, in both directions"},
                                       {.name = "whole",
                                        .type = KREIN_OPTION_YESNO,
                                        .value = 0,
                                        .help = "the whole image is one window"},
                                       {0}};

const krein_layer_class krein__layer_avgpool = {
    .cls = {"avgpool", "the mean of each window", "", options, NULL},
    .shape = shape,
    .forward = forward,
    .backward = backward,
    .r_forward = r_forward,
    .r_backward = r_backward};
