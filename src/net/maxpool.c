/* maxpool -- the largest number of each window of size x size, channel by channel
 * The gradient goes to the first of the largest ones; R{out} is R{x} there. Which one that is
 * follows from x and out again. */
#include "net/pool.h"

#include <string.h>

static krein_status shape(const struct krein_net *net, krein_layer *l) {
    int64_t size = (int64_t)l->values.number[0];
    l->fixed = l->from.c;
    return krein__pool_shape(net, l, size, size);
}

static void forward(const krein_layer *l, const float *p, const krein_pass *b, int64_t row,
                    int64_t n, int64_t part, float *scratch) {
    int64_t size = (int64_t)l->values.number[0], c = l->to.c;
    (void)p, (void)part, (void)scratch;
    for (int64_t i = row; i < row + n; i++)
        for (int64_t y = 0; y < l->to.h; y++)
            for (int64_t x = 0; x < l->to.w; x++) {
                float *restrict out = b->out + krein__pool_out(l, i, y, x);
                for (int64_t q = 0; q < size * size; q++) {
                    const float *restrict in =
                        b->x + krein__pool_in(l, i, y * size + q / size, x * size + q % size);
                    if (q == 0)
                        memcpy(out, in, (size_t)c * sizeof *out);
                    else
                        for (int64_t j = 0; j < c; j++) out[j] = in[j] > out[j] ? in[j] : out[j];
                }
            }
}

/* gx <- gout at the largest, 0 elsewhere; or gout <- gx there. `left` has c numbers. */
static void route(const krein_layer *l, const krein_pass *b, int64_t row, int64_t n,
                  const float *down, float *gx, const float *up, float *gout, float *left) {
    int64_t size = (int64_t)l->values.number[0], c = l->to.c;
    if (gx) memset(gx + row * l->in, 0, (size_t)(n * l->in) * sizeof *gx);
    for (int64_t i = row; i < row + n; i++)
        for (int64_t y = 0; y < l->to.h; y++)
            for (int64_t x = 0; x < l->to.w; x++) {
                int64_t to = krein__pool_out(l, i, y, x);
                const float *restrict out = b->out + to;
                for (int64_t j = 0; j < c; j++) left[j] = 1;
                for (int64_t q = 0; q < size * size; q++) {
                    int64_t at = krein__pool_in(l, i, y * size + q / size, x * size + q % size);
                    const float *restrict in = b->x + at;
                    for (int64_t j = 0; j < c; j++) {
                        float here = in[j] == out[j] ? left[j] : 0;
                        left[j] -= here;
                        if (gx)
                            gx[at + j] = here * down[to + j];
                        else
                            gout[to + j] = (q > 0 ? gout[to + j] : 0) + here * up[at + j];
                    }
                }
            }
}

static void backward(const krein_layer *l, const float *p, const krein_pass *b, int64_t row,
                     int64_t n, float *scratch) {
    (void)p;
    route(l, b, row, n, b->gout, b->gx, NULL, NULL, scratch);
}

static void r_forward(const krein_layer *l, const float *p, const float *v, const krein_pass *b,
                      int64_t row, int64_t n, int64_t part, float *scratch) {
    (void)p, (void)v, (void)part;
    route(l, b, row, n, NULL, NULL, b->rx, b->rout, scratch);
}

static void r_backward(const krein_layer *l, const float *p, const float *v, const krein_pass *b,
                       int64_t row, int64_t n, float *scratch) {
    (void)p, (void)v;
    route(l, b, row, n, b->rgout, b->rgx, NULL, NULL, scratch);
}

static const krein_option options[] = {{.name = "size",
                                        .type = KREIN_OPTION_INTEGER,
                                        .value = 2,
                                        .low = 1,
                                        .high = 1e4,
                                        .help = "of a window, in both directions"},
                                       {0}};

const krein_layer_class krein__layer_maxpool = {
    .cls = {"maxpool", "the largest number of each window", "", options, NULL},
    .shape = shape,
    .forward = forward,
    .backward = backward,
    .r_forward = r_forward,
    .r_backward = r_backward};
