/* adam -- steps in units of the gradient's size                                  (kingma2015)
 *     m <- beta1 m + (1 - beta1) g,   v <- beta2 v + (1 - beta2) g^2
 *     p <- p - rate m^ / (sqrt(v^) + eps),   m^ = m / (1 - beta1^t),   v^ = v / (1 - beta2^t)
 * with the two corrections in the rate and in eps. */
#include "net/optimizer.h"

#include <math.h>

enum { BETA1, BETA2 };
static const double EPSILON = 1e-8;

static krein_step step(const krein_optimizer *o, int64_t t, double rate) {
    double one = o->values.number[BETA1], two = o->values.number[BETA2], T = (double)t;
    double root = sqrt(1 - pow(two, T));
    return (krein_step){.rate = (float)(rate * root / (1 - pow(one, T))),
                        .a = (float)one,
                        .b = (float)two,
                        .c = (float)(EPSILON * root)};
}

KREIN_UPDATE(update, {
    s[i] = a * s[i] + (1 - a) * g;
    r[i] = b * r[i] + (1 - b) * g * g;
    p[i] -= rate * s[i] / (__builtin_sqrtf(r[i]) + c);
})

static const krein_option options[] = {{.name = "beta1",
                                        .type = KREIN_OPTION_NUMBER,
                                        .value = 0.9,
                                        .low = 0,
                                        .high = 1,
                                        .high_open = true,
                                        .help = "share of the mean gradient that is kept"},
                                       {.name = "beta2",
                                        .type = KREIN_OPTION_NUMBER,
                                        .value = 0.999,
                                        .low = 0,
                                        .high = 1,
                                        .high_open = true,
                                        .help = "share of its mean square that is kept"},
                                       {0}};

const krein_optimizer_class krein__optimizer_adam = {
    .cls = {"adam", "steps in units of the gradient's size", "kingma2015", options, NULL},
    .rate = 0.003,
    .states = 2,
    .step = step,
    .update = update};
