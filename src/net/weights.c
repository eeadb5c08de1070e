/* weights.c -- what layers with a matrix of weights share: its parts, its start, and derivatives of
 * maps that are linear in the input and in the parameters.
 *
 * For such a layer out = f(x, p), and along a direction v of the parameters
 *     R{out} = f(x, v) + f(R{x}, p)
 *     R{gx}  = b(R{gout}, p) + b(gout, v)        with gx = b(gout, p)
 *     R{g}   = g(x, R{gout}) + g(R{x}, gout)     with g the gradient of p
 * Intercepts are in the first term of each alone. */
#include "net/layer.h"

#include <math.h>

void krein__weights_shape(krein_layer *l, int64_t rows, bool intercept) {
    int64_t columns = l->to.c > 0 ? l->to.c : l->out;
    l->parameters = (rows + intercept) * columns;
    l->weights_parts = krein__net_parts(rows);
    l->part_size = (krein__min(rows, KREIN_NET_PART) + 1) * columns;
}

int64_t krein__weights_ranges(const krein_layer *l, int64_t rows, bool intercept, int64_t part,
                              krein_range *out) {
    int64_t from = part * KREIN_NET_PART, m = krein__min(KREIN_NET_PART, rows - from), c = l->to.c;
    out[0] = (krein_range){l->first + from * c, m, c, c, true};
    out[1] = (krein_range){l->first + rows * c, 1, c, c, false};
    return part == 0 && intercept ? 2 : 1;
}

void krein__weights_start(const krein_layer *l, int64_t rows, krein_rng g, float *p) {
    double scale = sqrt(2 / (double)rows);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < l->to.c; j++)
            p[l->first + i * l->to.c + j] =
                (float)(scale * krein__rng_normal(g, (uint64_t)i, (uint64_t)j));
}

void krein__bilinear_r_forward(const krein_layer *l, const float *p, const float *v,
                               const krein_pass *b, int64_t row, int64_t n, int64_t part,
                               float *scratch) {
    krein_pass t = *b;
    t.out = b->rout;
    t.whole = b->rwhole;
    l->cls->forward(l, v, &t, row, n, part, scratch);
    if (b->still) return;
    t.x = b->rx;
    t.whole = b->whole;
    t.add = true;
    l->cls->forward(l, p, &t, row, n, part, scratch);
}

void krein__bilinear_r_backward(const krein_layer *l, const float *p, const float *v,
                                const krein_pass *b, int64_t row, int64_t n, float *scratch) {
    krein_pass t = *b;
    t.gx = b->rgx;
    t.gout = b->rgout;
    l->cls->backward(l, p, &t, row, n, scratch);
    t.gout = b->gout;
    t.whole = b->rwhole;
    t.add = true;
    l->cls->backward(l, v, &t, row, n, scratch);
}

void krein__bilinear_r_gradient(const krein_layer *l, const krein_pass *b, int64_t part, float *g,
                                float *scratch) {
    krein_pass t = *b;
    for (int i = 0; i < KREIN_AHEAD; i++) t.ahead[i] = NULL;
    t.gout = b->rgout;
    l->cls->gradient(l, &t, part, g, scratch);
    if (b->still) return;
    t.x = b->rx;
    t.gout = b->gout;
    t.add = true;
    l->cls->gradient(l, &t, part, g, scratch);
}
