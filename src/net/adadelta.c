/* adadelta -- steps in units of the last steps                                   (zeiler2012)
 *     v <- rho v + (1 - rho) g^2,   x = g sqrt(w + eps) / sqrt(v + eps)
 *     w <- rho w + (1 - rho) x^2,   p <- p - rate x
 * The rate of the paper is 1. */
#include "net/optimizer.h"

enum { RHO };
static const float EPSILON = 1e-6f;

static krein_step step(const krein_optimizer *o, int64_t t, double rate) {
    (void)t;
    return (krein_step){.rate = (float)rate, .a = (float)o->values.number[RHO], .c = EPSILON};
}

KREIN_UPDATE(update, {
    s[i] = a * s[i] + (1 - a) * g * g;
    float x = g * __builtin_sqrtf(r[i] + c) / __builtin_sqrtf(s[i] + c);
    r[i] = a * r[i] + (1 - a) * x * x;
    p[i] -= rate * x;
})

static const krein_option options[] = {{.name = "rho",
                                        .type = KREIN_OPTION_NUMBER,
                                        .value = 0.95,
                                        .low = 0,
                                        .high = 1,
                                        .high_open = true,
                                        .help = "share of the mean squares that is kept"},
                                       {0}};

const krein_optimizer_class krein__optimizer_adadelta = {
    .cls = {"adadelta", "steps in units of the last steps", "zeiler2012", options, NULL},
    .rate = 1,
    .states = 2,
    .step = step,
    .update = update};
