/* sgd -- gradient descent with momentum: v <- mu v + g,  p <- p - rate v. A gradient that stays
 * makes v = g / (1 - mu). */
#include "net/optimizer.h"

enum { MOMENTUM };

static krein_step step(const krein_optimizer *o, int64_t t, double rate) {
    double mu = o->values.number[MOMENTUM];
    (void)t;
    return (krein_step){.rate = (float)rate, .a = (float)mu, .reach = (float)(1 / (1 - mu))};
}

KREIN_UPDATE(update, {
    s[i] = a * s[i] + g;
    p[i] -= rate * s[i];
})

static const krein_option options[] = {{.name = "momentum",
                                        .type = KREIN_OPTION_NUMBER,
                                        .value = 0.9,
                                        .low = 0,
                                        .high = 1,
                                        .high_open = true,
                                        .help = "share of the last step that is kept"},
                                       {0}};

const krein_optimizer_class krein__optimizer_sgd = {
    .cls = {"sgd", "gradient descent with momentum", "polyak1964", options, NULL},
    .rate = 0.1,
    .states = 1,
    .step = step,
    .update = update};
