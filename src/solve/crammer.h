/* crammer.h -- the machine of Crammer and Singer for several classes. */
#ifndef KREIN_CRAMMER_H
#define KREIN_CRAMMER_H
#include "solve/machine.h"
typedef struct krein_crammer {
    int64_t n;
    const int32_t *row, *class;
    double *cost;
    int64_t classes;
    double *alpha, *w, *b;
    double primal, dual_value;
    int64_t passes, support;
    bool converged;
} krein_crammer;
static inline krein_status krein__crammer(krein_features *z, krein_crammer *m,
                                          const krein_machine_options *o) {
    (void)m;
    (void)o;
    return krein__fail(z->ctx, KREIN_EARG, "crammer");
}
#endif
