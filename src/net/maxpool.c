/* maxpool -- the largest number of each window of size x size, channel by channel
 * The gradient goes to the first of the largest ones; R{out} is R{x} there. Which one that is
 * follows from x and out again. */
#include "net/pool.h"

#include "num/largest.h"

#include <string.h>

static krein_status shape(const struct krein_net *net, krein_layer *l) {
    int64_t size = (int64_t)l->values.number[0];
    return krein__pool_shape(net, l, size, size);
}

/* A row of windows at a time, rows row .. row + n - 1: `from` and `to` are those of largest.h. */
typedef void rows_fn(const krein_squares *w, const float *x, float *out, const float *from,
                     float *to);
static void each_row(const krein_layer *l, const krein_pass *b, int64_t row, int64_t n,
                     rows_fn *use, const float *from, bool from_in, float *to, bool to_in) {
    int64_t size = (int64_t)l->values.number[0];
    krein_squares w = {l->to.w, size, l->to.c, l->from.w * l->from.c};
    for (int64_t i = row; i < row + n; i++)
        for (int64_t y = 0; y < l->to.h; y++) {
            int64_t in = krein__pool_in(l, i, y * size, 0), out = krein__pool_out(l, i, y, 0);
            if (use)
                use(&w, b->x + in, b->out + out, from + (from_in ? in : out),
                    to + (to_in ? in : out));
            else
                krein__largest(&w, b->x + in, b->out + out);
        }
}

static void forward(const krein_layer *l, const float *p, const krein_pass *b, int64_t row,
                    int64_t n, int64_t part, float *scratch) {
    (void)p, (void)part, (void)scratch;
    each_row(l, b, row, n, NULL, NULL, false, NULL, false);
}

/* gx: g at the largest, 0 elsewhere. */
static void spread(const krein_layer *l, const krein_pass *b, int64_t row, int64_t n,
                   const float *g, float *gx) {
    int64_t size = (int64_t)l->values.number[0];
    if (l->from.h % size || l->from.w % size)
        memset(gx + row * l->in, 0, (size_t)(n * l->in) * sizeof *gx);
    each_row(l, b, row, n, krein__largest_spread, g, false, gx, true);
}

static void backward(const krein_layer *l, const float *p, const krein_pass *b, int64_t row,
                     int64_t n, float *scratch) {
    (void)p, (void)scratch;
    spread(l, b, row, n, b->gout, b->gx);
}

static void r_forward(const krein_layer *l, const float *p, const float *v, const krein_pass *b,
                      int64_t row, int64_t n, int64_t part, float *scratch) {
    (void)p, (void)v, (void)part, (void)scratch;
    each_row(l, b, row, n, krein__largest_collect, b->rx, true, b->rout, false);
}

static void r_backward(const krein_layer *l, const float *p, const float *v, const krein_pass *b,
                       int64_t row, int64_t n, float *scratch) {
    (void)p, (void)v, (void)scratch;
    spread(l, b, row, n, b->rgout, b->rgx);
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
    .reads_output = true,
    .r_forward = r_forward,
    .r_backward = r_backward};
