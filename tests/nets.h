/* nets.h -- layers and losses of one row, slowly and in double, by the formulas at the top of their
 * files. */
#ifndef KREIN_TEST_NETS_H
#define KREIN_TEST_NETS_H

#include "net/fit.h"

#include <math.h>

/* p: the layer's own parameters. */
static inline void slow_affine(const krein_layer *l, const double *p, const double *x,
                               double *out) {
    bool intercept = l->values.number[1] > 0;
    for (int64_t c = 0; c < l->out; c++) {
        out[c] = intercept ? p[l->in * l->out + c] : 0;
        for (int64_t j = 0; j < l->in; j++) out[c] += x[j] * p[j * l->out + c];
    }
}

static inline void slow_spectral(const krein_layer *l, const double *p, const double *x,
                                 double *out) {
    bool sines = l->values.number[2] > 0, two = l->values.number[1] > 0;
    int64_t F = sines ? l->out / 2 : l->out, size = l->in * krein__panels(F) * KREIN_PANEL;
    for (int64_t f = 0; f < F; f++) {
        double phase = sines ? 0 : 2 * M_PI * p[(two ? 2 : 1) * size + f], a = phase, b = phase;
        for (int64_t j = 0; j < l->in; j++) {
            a += x[j] * p[krein__panel_index(l->in, j, f)];
            b += x[j] * p[(two ? size : 0) + krein__panel_index(l->in, j, f)];
        }
        double s = 1 / sqrt((sines ? 4 : 2) * (double)F);
        out[sines ? 2 * f : f] = s * (cos(a) + cos(b));
        if (sines) out[2 * f + 1] = s * (sin(a) + sin(b));
    }
}

static inline double slow_loss(const krein_loss_class *loss, int64_t k, const double *f,
                               const float *y, int32_t class) {
    double sum = 0, rival = -INFINITY;
    for (int64_t c = 0; c < k; c++) {
        if (loss == &krein__loss_square) sum += (f[c] - (double)y[c]) * (f[c] - (double)y[c]);
        if (loss == &krein__loss_logistic || (loss == &krein__loss_softmax && k == 1))
            sum += log(1 + exp(-(double)y[c] * f[c]));
        if (loss == &krein__loss_softmax && k > 1) sum += exp(f[c]);
        if (c != class) rival = fmax(rival, f[c]);
    }
    if (loss == &krein__loss_softmax && k > 1) return log(sum) - f[class];
    double hinge = fmax(0, k == 1 ? 1 - (double)y[0] * f[0] : 1 + rival - f[class]);
    if (loss == &krein__loss_hinge) return hinge;
    return loss == &krein__loss_hinge2 ? hinge * hinge : sum;
}

#endif
