/* svr -- support vector regression with the epsilon-insensitive loss
 *
 *     min 1/2 |w|^2 + C sum_i weight_i max(0, |y_i - f(x_i)| - epsilon),   f = w'z + b, b free
 *
 * C and epsilon are LIBSVM's; lambda = 1 / (2 n C), n the sum of the rows' weights. An epsilon that
 * is not given is a tenth of the targets' standard deviation. On features by dual coordinate
 * descent and Newton steps (learn/feature_machines.c), on the kernel matrix (map=exact) by pairs of
 * rows (learn/kernel_machine.c). Several targets: a machine each. */
#include "learn/vector_machine.h"

#include <math.h>

enum { C_, EPSILON, INTERCEPT, SPECTRUM, TOL };

static const krein_option options[] = {
    KREIN_OPTION_C,
    {.name = "epsilon",
     .type = KREIN_OPTION_NUMBER,
     .value = NAN,
     .low = 0,
     .high = INFINITY,
     .high_open = true,
     .derived = true,
     .help = "errors up to this cost nothing; a tenth of the targets' deviation when not given"},
    KREIN_OPTION_INTERCEPT,
    KREIN_OPTION_SPECTRUM,
    KREIN_OPTION_TOL,
    {0}};

static krein_status check(krein_ctx *ctx, const krein_values *v, const krein_map *map) {
    if (!map) return KREIN_OK;
    return krein__vector_machine_check(ctx, "svr", map, v->number[INTERCEPT] != 0,
                                       v->number[SPECTRUM] != 0);
}

/* Targets may have very different scales: the root mean square of their deviations. */
static krein_status deviation(krein_job *job, double *out) {
    krein_status st = KREIN_OK;
    krein_block block;
    double sum = 0, total = 0;
    int64_t k = job->model->k;
    TRY(krein__stream_rewind(job->rows));
    for (;;) {
        TRY(krein__stream_next(job->rows, &block));
        if (block.x.n == 0) break;
        for (int64_t i = 0; i < block.x.n * k; i++) {
            double weight = block.weight ? block.weight[i / k] : 1;
            sum += weight * pow(block.label[i] - job->data->label_mean[i % k], 2);
            total += weight;
        }
    }
    *out = total > 0 ? sqrt(sum / total) : 0;
done:
    return st;
}

static krein_status fit(krein_job *job, krein_values *v) {
    krein_status st = KREIN_OK;
    double *epsilon = &v->number[EPSILON], spread;
    TRY(deviation(job, &spread));
    if (isnan(*epsilon)) *epsilon = krein__round_digits(spread / 10, 3);
    krein_recipe recipe = {.loss = KREIN_LOSS_EPSILON,
                           .epsilon = *epsilon,
                           .unit = spread > 0 ? krein__round_digits(spread, 1) : 1,
                           .intercept = v->number[INTERCEPT] != 0,
                           .tol = v->number[TOL]};
    TRY(krein__vector_machine_fit(job, &recipe, (krein_repair)v->number[SPECTRUM], &v->number[C_]));
done:
    return st;
}

/* A pass for the deviation of the targets. */
static void cost(const krein_map *map, const krein_values *v, int64_t n, int64_t k, bool path,
                 krein_cost *out, int64_t *passes) {
    *passes = 1 + krein__vector_machine_cost(map, n, k, path && isnan(v->number[C_]),
                                             (krein_repair)v->number[SPECTRUM], out);
}

const krein_learner_class krein__learner_svr = {
    .cls =
        {"svr", "support vector regression", "drucker1997", options,
         "Errors up to epsilon cost nothing, larger ones their excess. On features by dual "
         "coordinate descent and Newton steps, or on the kernel matrix (map=exact) by sequential "
         "minimal optimisation. C and epsilon are LIBSVM's."},
    .tasks = KREIN_FOR_NUMBERS,
    .matrix = KREIN_MATRIX_FEW,
    .check = check,
    .fit = fit,
    .cost = cost};
