/* weighings.h -- weighings of kernels, called with options by name. */
#ifndef TEST_WEIGHINGS_H
#define TEST_WEIGHINGS_H

#include "combine/combine.h"

#include <math.h>

#define WEIGHING(class) extern const krein_weighing_class class;
#include "combine/weighings.def"
#undef WEIGHING

/* Options of all weighings; each takes those that it has. */
typedef struct weighing_options {
    bool normalize;
    double lambda, delta, p, cost, theta, alpha, beta;
    int64_t epochs;
} weighing_options;

static inline krein_values weighing_values(const krein_weighing_class *c, weighing_options o) {
    const struct {
        const char *name;
        double value;
    } all[] = {{"normalize", o.normalize},
               {"lambda", o.lambda},
               {"delta", o.delta},
               {"p", o.p},
               {"cost", o.cost},
               {"theta", o.theta},
               {"alpha", o.alpha},
               {"beta", o.beta},
               {"epochs", (double)o.epochs}};
    krein_values v = {0};
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) {
        int64_t slot = krein__option_index(&c->cls, all[i].name);
        if (slot >= 0) v.number[slot] = all[i].value;
    }
    return v;
}

static inline krein_status find_weights(const krein_weighing_class *c, krein_bank *bank,
                                        weighing_options o, double *mu) {
    krein_values v = weighing_values(c, o);
    return c->find(bank, &v, mu);
}

#endif
