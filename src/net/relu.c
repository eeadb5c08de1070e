/* relu -- out = max(0, x), gx = gout where x > 0
 * Its second derivative is 0: R{out} and R{gx} are the same maps of R{x} and R{gout}. Parts: none,
 * a tile is a few rows. A NaN comes out as one. */
#include "net/layer.h"

#include "num/channels.h"

static krein_status shape(const struct krein_net *net, krein_layer *l) {
    (void)net;
    l->to = l->from;
    l->parts = 1;
    l->tile = krein__image_tile(l->in);
    l->flops = (double)l->in;
    return KREIN_OK;
}

static void forward(const krein_layer *l, const float *p, const krein_pass *b, int64_t row,
                    int64_t n, int64_t part, float *scratch) {
    (void)p, (void)part, (void)scratch;
    krein__above(n * l->in, b->x + row * l->in, b->out + row * l->in);
}

/* to <- from where the output is above 0. */
static void pass(const krein_layer *l, const krein_pass *b, int64_t row, int64_t n,
                 const float *from, float *to) {
    int64_t at = row * l->in;
    krein__where_above(n * l->in, b->out + at, from + at, to + at);
}

static void backward(const krein_layer *l, const float *p, const krein_pass *b, int64_t row,
                     int64_t n, float *scratch) {
    (void)p, (void)scratch;
    pass(l, b, row, n, b->gout, b->gx);
}

static void r_forward(const krein_layer *l, const float *p, const float *v, const krein_pass *b,
                      int64_t row, int64_t n, int64_t part, float *scratch) {
    (void)p, (void)v, (void)part, (void)scratch;
    pass(l, b, row, n, b->rx, b->rout);
}

static void r_backward(const krein_layer *l, const float *p, const float *v, const krein_pass *b,
                       int64_t row, int64_t n, float *scratch) {
    (void)p, (void)v, (void)scratch;
    pass(l, b, row, n, b->rgout, b->rgx);
}

const krein_layer_class krein__layer_relu = {.cls = {"relu", "what is above 0", "", NULL, NULL},
                                             .shape = shape,
                                             .forward = forward,
                                             .backward = backward,
                                             .over_input = true,
                                             .reads_output = true,
                                             .r_forward = r_forward,
                                             .r_backward = r_backward};
