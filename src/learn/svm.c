/* svm -- support vector machines for classes
 *
 *     min 1/2 |w|^2 + C sum_i weight_i loss(y_i f(x_i)),   f = w'z + b, b free,
 *     loss(m) = max(0, 1 - m) (hinge) or max(0, 1 - m)^2 (hinge2)
 *
 * C is LIBSVM's; lambda = 1 / (2 n C), n the sum of the rows' weights. More than two classes: one
 * machine for each class against the rest (the largest score wins; of several labels a row, one for
 * each label), one for each pair (votes), or
 * one for all: that of Crammer and Singer, or with squared losses of all pairs (gmnp, on the kernel
 * matrix, with a penalised intercept), see solve/crammer.c and solve/multiclass.c. penalty=l1 has
 * the sum of |w| in place of 1/2 |w|^2 (solve/crammer_l1.c); lambda is 1 / (2 n C) all the same, so
 * that the penalty is 2 lambda |w|. On features by dual coordinate descent and Newton steps
 * (learn/feature_machines.c), on the kernel matrix (map=exact) by pairs of rows
 * (learn/kernel_machine.c), also with an indefinite kernel, whose spectrum is taken as it is,
 * clipped, flipped or shifted. C that is not given is chosen by cross-validation. */
#include "learn/kernel_multiclass.h"
#include "learn/vector_machine.h"
#include "solve/crammer.h"

#include <math.h>

enum { C_, LOSS, MULTI, INTERCEPT, WEIGHTS, SPECTRUM, TOL, PENALTY };

static const krein_option options[] = {
    KREIN_OPTION_C,
    {.name = "loss",
     .type = KREIN_OPTION_WORD,
     .value = 0,
     .words = "hinge|hinge2",
     .help = "hinge, or its square"},
    {.name = "multi",
     .type = KREIN_OPTION_WORD,
     .value = 0,
     .words = "ovr|ovo|crammer|gmnp",
     .help = "several classes: one against the rest, pairs, or all in one (crammer, gmnp)"},
    KREIN_OPTION_INTERCEPT,
    {.name = "class_weights",
     .type = KREIN_OPTION_WORD,
     .value = 0,
     .words = "equal|balanced",
     .help = "balanced: each class weighs the same in sum"},
    KREIN_OPTION_SPECTRUM,
    KREIN_OPTION_TOL,
    {.name = "penalty",
     .type = KREIN_OPTION_WORD,
     .value = 0,
     .words = "l2|l1",
     .help = "|w|^2 / 2, or the sum of |w|, which leaves features out: multi=crammer, on few "
             "features"},
    {0}};

static krein_status check(krein_ctx *ctx, const krein_values *v, const krein_map *map) {
    bool sparse = v->number[PENALTY] == 1;
    if (sparse && v->number[MULTI] != KREIN_MULTI_CRAMMER)
        return krein__fail(ctx, KREIN_ESPEC, "svm(penalty=l1) is for multi=crammer");
    if (v->number[MULTI] == KREIN_MULTI_CRAMMER && v->number[LOSS] == KREIN_LOSS_HINGE2)
        return krein__fail(ctx, KREIN_ESPEC,
                           "svm(multi=crammer) has the hinge loss; use multi=gmnp, ovr or ovo with "
                           "loss=hinge2");
    if (!map) return KREIN_OK;
    bool exact = map->cls->traits & KREIN_MAP_DUAL;
    bool joint = krein__multi_joint((int)v->number[MULTI]);
    if (exact && sparse)
        return krein__fail(ctx, KREIN_ESPEC,
                           "svm(penalty=l1) works on features, not with map=exact; use a map such "
                           "as explicit, for the linear kernel");
    if (!exact && v->number[MULTI] == KREIN_MULTI_GMNP)
        return krein__fail(ctx, KREIN_ESPEC,
                           "svm(multi=gmnp) works on the kernel matrix (map=exact), not on "
                           "features; use multi=crammer, or ask for map=exact");
    if (exact && joint && v->number[SPECTRUM] == KREIN_REPAIR_NONE &&
        krein__kernel_indefinite(map->kernel))
        return krein__fail(ctx, KREIN_ESPEC,
                           "one machine for all classes needs a positive definite kernel on the "
                           "kernel matrix; use spectrum=clip, flip or shift, or multi=ovr or ovo");
    return krein__vector_machine_check(ctx, "svm", map, joint || v->number[INTERCEPT] != 0,
                                       v->number[SPECTRUM] != 0);
}

static krein_head head(const krein_values *v, const krein_encoding *e) {
    bool pairs = v->number[MULTI] == KREIN_MULTI_OVO && e->nclass > 2;
    if (e->task == KREIN_TASK_MULTILABEL) return krein__task_head(e->task);
    return pairs ? KREIN_HEAD_VOTES : KREIN_HEAD_BEST;
}

static krein_status fit(krein_job *job, krein_values *v) {
    if (krein__job_labels(job) && (v->number[MULTI] != KREIN_MULTI_OVR || v->number[WEIGHTS] == 1))
        return krein__fail(job->ctx, KREIN_EARG,
                           "svm has one machine for each of several labels a row: leave %s out",
                           v->number[WEIGHTS] == 1 ? "class_weights" : "multi");
    krein_recipe recipe = {.loss = v->number[LOSS] == 1 ? KREIN_LOSS_HINGE2 : KREIN_LOSS_HINGE,
                           .unit = 1,
                           .multi = (krein_multi)v->number[MULTI],
                           .intercept = v->number[INTERCEPT] != 0,
                           .balanced = v->number[WEIGHTS] == 1,
                           .sparse = v->number[PENALTY] == 1,
                           .tol = v->number[TOL]};
    return krein__vector_machine_fit(job, &recipe, (krein_repair)v->number[SPECTRUM],
                                     &v->number[C_]);
}

static void cost(const krein_map *map, const krein_values *v, int64_t n, int64_t k, bool path,
                 krein_cost *out, int64_t *passes) {
    *passes = krein__vector_machine_cost(map, n, k, path && isnan(v->number[C_]),
                                         (krein_repair)v->number[SPECTRUM], out);
    bool exact = map->cls->traits & KREIN_MAP_DUAL;
    if (exact && krein__multi_joint((int)v->number[MULTI]))
        out->bytes += krein__kernel_multiclass_bytes(map->ctx, n, k);
    if (!exact && v->number[PENALTY] == 1)
        out->bytes += krein__crammer_l1_bytes(map->ctx, n, krein__min(n, krein__block_rows(map->d)),
                                              map->cls->features(map, n), krein__max(2, k));
}

const krein_learner_class krein__learner_svm = {
    .cls =
        {"svm", "support vector machine for classes", "cortes1995", options,
         "On features by dual coordinate descent and Newton steps, linear in the number of rows, "
         "or on the kernel matrix (map=exact) by sequential minimal optimisation. C is LIBSVM's; "
         "where it is not given it is chosen by cross-validation along a path of values."},
    .tasks = KREIN_FOR_CLASSES | KREIN_FOR_LABELS,
    .matrix = KREIN_MATRIX_FEW,
    .probabilities = true,
    .check = check,
    .head = head,
    .fit = fit,
    .cost = cost};
