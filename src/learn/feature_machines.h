/* feature_machines.h -- what svm and svr share on features: machines made of examples, their C
 * chosen by cross-validation, the fit, and held-out scores for probabilities. */
#ifndef KREIN_MACHINES_H
#define KREIN_MACHINES_H

#include "learn/learn.h"
#include "solve/machine.h"

typedef enum krein_multi {
    KREIN_MULTI_OVR = 0,    /* each class against the rest */
    KREIN_MULTI_OVO = 1,    /* each pair of classes */
    KREIN_MULTI_CRAMMER = 2 /* all in one machine */
} krein_multi;

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

/* Options that both have, of the same meaning. */
#define KREIN_OPTION_C                                                                             \
    {                                                                                              \
        .name = "C", .type = KREIN_OPTION_NUMBER, .value = NAN, .low = 0, .high = INFINITY,        \
        .low_open = true, .high_open = true, .derived = true,                                      \
        .help = "weight of the losses; chosen by cross-validation when not given"                  \
    }
#define KREIN_OPTION_INTERCEPT                                                                     \
    { .name = "intercept", .type = KREIN_OPTION_YESNO, .value = 1, .help = "with a free intercept" }
#define KREIN_OPTION_SPECTRUM                                                                      \
    {                                                                                              \
        .name = "spectrum", .type = KREIN_OPTION_WORD, .value = 0,                                 \
        .words = "asis|clip|flip|shift",                                                           \
        .help = "map=exact and an indefinite kernel: what happens to negative eigenvalues"         \
    }
#define KREIN_OPTION_TOL                                                                           \
    {                                                                                              \
        .name = "tol", .type = KREIN_OPTION_NUMBER, .value = 1e-3, .low = 1e-9, .high = 1,         \
        .help = "relative duality gap to stop at (map=exact: LIBSVM's tolerance)"                  \
    }
/* What they rule out for a map. */
krein_status krein__machines_check(krein_ctx *ctx, const char *learner, const krein_map *map,
                                   bool intercept, bool spectrum);

/* Fits the model with C, or where that is not a number with the C of least cross-validated error,
 * which it leaves there. */
krein_status krein__machines_fit(krein_job *job, const krein_recipe *recipe, double *C);
void krein__machines_cost(const krein_map *map, int64_t n, int64_t k, bool choose, krein_cost *out);

#endif
