/* combine.c -- the weights of several kernels by one of the methods, and what does not go
 * together. */
#include "combine/combine.h"

#include "map/joint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WEIGHING(class) extern const krein_weighing_class class;
#include "combine/weighings.def"
#undef WEIGHING

const krein_class *const krein__weighings[] = {
#define WEIGHING(class) &class.cls,
#include "combine/weighings.def"
#undef WEIGHING
};
const int64_t krein__weighing_count = KREIN__COUNT(krein__weighings);

krein_status krein__weighing_parse(krein_ctx *ctx, const char *spec, krein_weighing *out) {
    int64_t which;
    krein_status st = krein__parse_spec(ctx, spec, "weighing", krein__weighings,
                                        krein__weighing_count, &which, &out->values);
    out->cls = st == KREIN_OK ? (const krein_weighing_class *)krein__weighings[which] : NULL;
    return st;
}

void krein__weighing_clear(krein_ctx *ctx, krein_weighing *w) {
    krein__values_clear(ctx, &w->values);
    *w = (krein_weighing){0};
}

/* ---- what does not go together ------------------------------------------ */

/* The same kernel twice is no mistake, but hardly meant. */
static krein_status say_identical(krein_ctx *ctx, const krein_kernel_list *list) {
    krein_status st = KREIN_OK;
    char **text = NULL;
    if (!(text = krein__zalloc(ctx, list->n, sizeof *text))) return ctx->status;
    for (int64_t i = 0; i < list->n; i++) {
        bool said = false;
        if (!(text[i] = krein__kernel_text(ctx, list->kernel[i]))) {
            st = ctx->status;
            goto done;
        }
        for (int64_t j = 0; j < i && !said; j++) {
            said = strcmp(text[i], text[j]) == 0;
            if (said) krein__log(ctx, KREIN_LOG_WARNING, "%s is there more than once", text[i]);
        }
    }
done:
    for (int64_t i = 0; i < list->n; i++) krein__free(ctx, text[i]);
    krein__free(ctx, text);
    return st;
}

krein_status krein__combine_check(krein_ctx *ctx, const krein_weighing *w,
                                  const krein_kernel_list *list) {
    if (list->n > KREIN_PARTS_MAX)
        return krein__fail(ctx, KREIN_ESPEC, "mkl combines at most %d kernels, the list has %lld",
                           KREIN_PARTS_MAX, (long long)list->n);
    if (list->n == 1)
        krein__log(ctx, KREIN_LOG_WARNING,
                   "mkl with one kernel: its weight is 1, and the base learner is trained on it");
    for (int64_t i = 0; i < list->n && !w->cls->indefinite; i++) {
        if (!krein__kernel_indefinite(list->kernel[i])) continue;
        char *text = krein__kernel_text(ctx, list->kernel[i]);
        if (!text) return ctx->status;
        krein_status st = krein__fail(
            ctx, KREIN_ESPEC,
            "mkl(method=%s) needs positive definite kernels, and %s is none; average, alignment "
            "and pwmk carry it with its signature",
            w->cls->cls.name, text);
        krein__free(ctx, text);
        return st;
    }
    return say_identical(ctx, list);
}

krein_status krein__combine_meet(const krein_job *job, const krein_weighing *w) {
    const krein_weighing_class *c = w->cls;
    int task = krein__job_classes(job) ? KREIN_FOR_CLASSES : KREIN_FOR_NUMBERS;
    if (!(c->tasks & task))
        return krein__fail(job->ctx, KREIN_EDATA,
                           "mkl(method=%s) is for classes and %s; use alignment, centered, lp or "
                           "average",
                           w->cls->cls.name,
                           krein__job_labels(job) ? "rows have several labels"
                                                  : "the labels are numbers");
    if (job->data->has_weight && !c->row_weights)
        return krein__fail(job->ctx, KREIN_EDATA,
                           "mkl(method=%s) takes no row weights; use alignment, centered, lp or "
                           "average",
                           w->cls->cls.name);
    return KREIN_OK;
}

/* ---- weights ------------------------------------------------------------ */

static krein_status normalise(krein_ctx *ctx, const krein_weighing *w, int64_t M, double *mu) {
    double sum = 0;
    for (int64_t m = 0; m < M; m++) {
        if (!(mu[m] >= 0) || isinf(mu[m]))
            return krein__fail(ctx, KREIN_ENUMERIC,
                               "mkl(method=%s): the weight of kernel %lld is %g; are inputs or "
                               "kernel values very large? scale the inputs, or use another method",
                               w->cls->cls.name, (long long)m + 1, mu[m]);
        sum += mu[m];
    }
    const char *way_out = w->cls->way_out;
    if (!(sum > 0))
        return krein__fail(ctx, KREIN_ENUMERIC,
                           "mkl(method=%s) gives all kernels the weight zero; %s", w->cls->cls.name,
                           way_out ? way_out
                                   : "are the labels constant, or the kernels? use method=average");
    for (int64_t m = 0; m < M; m++) mu[m] /= sum;
    return KREIN_OK;
}

bool krein__combine_alone(const krein_weighing *w) { return w->cls->alone; }

krein_status krein__combine(krein_job *job, const krein_weighing *w, const krein_kernel_list *list,
                            const double *scale, const krein_map *map, double *mu) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_bank bank = {
        .ctx = ctx, .job = job, .M = list->n, .kernel = list->kernel, .scale = scale};
    const krein_weighing_class *c = w->cls;
    mu[0] = 1;
    if (list->n == 1) return KREIN_OK;
    if (!c->alone) {
        if (!map || map->cls->traits & KREIN_MAP_DUAL) {
            TRY(krein__bank_matrices(&bank));
        } else {
            bank.map = map;
            NEW(bank.first, list->n + 1);
            krein__joint_first(map, bank.first);
        }
    }
    TRY(c->find(&bank, &w->values, mu));
    TRY(normalise(ctx, w, list->n, mu));
done:
    krein__bank_clear(&bank);
    return st;
}

krein_cost krein__combine_cost(const krein_weighing *w, const krein_map *map, int64_t n, int64_t M,
                               int64_t k) {
    const krein_weighing_class *c = w->cls;
    krein_bank_size size = krein__bank_size(map, n, M, k);
    krein_cost of_map = {0}, out = {0};
    map->cls->cost(map, n, &of_map);
    out.bytes = of_map.bytes;
    if (!c->alone) krein__bank_cost(&size, &out);
    if (c->cost) c->cost(&size, &out);
    return out;
}
