/* tanh -- out = tanh x
 *     gx     = (1 - out^2) gout
 *     R{out} = (1 - out^2) R{x}
 *     R{gx}  = (1 - out^2) R{gout} - 2 out R{out} gout */
#include "net/layer.h"

#include "num/vec.h"

static krein_status shape(const struct krein_net *net, krein_layer *l) {
    (void)net;
    l->to = l->from;
    l->parts = 1;
    l->tile = krein__image_tile(l->in);
    l->flops = 20 * (double)l->in;
    return KREIN_OK;
}

static void forward(const krein_layer *l, const float *p, const krein_pass *b, int64_t row,
                    int64_t n, int64_t part, float *scratch) {
    (void)p, (void)part, (void)scratch;
    krein__vtanhf(n * l->in, b->x + row * l->in, b->out + row * l->in);
}

/* to <- (1 - out^2) from */
static void slope(const krein_layer *l, const krein_pass *b, int64_t row, int64_t n,
                  const float *restrict from, float *restrict to) {
    const float *restrict h = b->out + row * l->in;
    from += row * l->in, to += row * l->in;
    for (int64_t i = 0; i < n * l->in; i++) to[i] = (1 - h[i] * h[i]) * from[i];
}

static void backward(const krein_layer *l, const float *p, const krein_pass *b, int64_t row,
                     int64_t n, float *scratch) {
    (void)p, (void)scratch;
    slope(l, b, row, n, b->gout, b->gx);
}

static void r_forward(const krein_layer *l, const float *p, const float *v, const krein_pass *b,
                      int64_t row, int64_t n, int64_t part, float *scratch) {
    (void)p, (void)v, (void)part, (void)scratch;
    slope(l, b, row, n, b->rx, b->rout);
}

static void r_backward(const krein_layer *l, const float *p, const float *v, const krein_pass *b,
                       int64_t row, int64_t n, float *scratch) {
    int64_t at = row * l->in;
    const float *restrict h = b->out + at, *restrict rh = b->rout + at, *restrict g = b->gout + at;
    float *restrict to = b->rgx + at;
    (void)p, (void)v, (void)scratch;
    slope(l, b, row, n, b->rgout, b->rgx);
    for (int64_t i = 0; i < n * l->in; i++) to[i] -= 2 * h[i] * rh[i] * g[i];
}

const krein_layer_class krein__layer_tanh = {.cls = {"tanh", "hyperbolic tangent", "", NULL, NULL},
                                             .shape = shape,
                                             .forward = forward,
                                             .backward = backward,
                                             .reads_output = true,
                                             .r_forward = r_forward,
                                             .r_backward = r_backward};
