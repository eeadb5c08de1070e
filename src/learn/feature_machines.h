/* feature_machines.h -- support vector machines on features: made of examples, their C chosen by
 * cross-validation, the fit, and held-out scores for probabilities. */
#ifndef KREIN_MACHINES_H
#define KREIN_MACHINES_H

#include "learn/learn.h"
#include "solve/machine.h"

typedef enum krein_multi {
    KREIN_MULTI_OVR = 0,     /* each class against the rest */
    KREIN_MULTI_OVO = 1,     /* each pair of classes */
    KREIN_MULTI_CRAMMER = 2, /* all in one machine: the largest hinge loss of a row */
    KREIN_MULTI_GMNP = 3     /* squared hinge losses of a row against all classes; on matrices */
} krein_multi;
static inline bool krein__multi_joint(int multi) {
    return multi == KREIN_MULTI_CRAMMER || multi == KREIN_MULTI_GMNP;
}

typedef struct krein_recipe {
    krein_loss loss;
    double epsilon;
    double unit; /* of C: the spread of targets, 1 for classes */
    krein_multi multi;
    bool intercept, balanced; /* classes of equal weight in sum */
    double tol;
} krein_recipe;

/* The path of C is walked at least to so much over the spread of the rows in feature space: below,
 * all coefficients are at their bound, and what rises is noise. */
enum { KREIN_SATURATED = 4 };

/* Fits the model with C, or where that is not a number with the C of least cross-validated error,
 * which it leaves there. */
krein_status krein__machines_fit(krein_job *job, const krein_recipe *recipe, double *C);
void krein__machines_cost(const krein_map *map, int64_t n, int64_t k, bool choose, krein_cost *out);

#endif
