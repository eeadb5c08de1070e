/* combine.c -- the weights of several kernels by one of the methods, and what does not go
 * together. */
#include "combine/combine.h"

#include "map/joint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const krein_combiner *const methods[] = {[KREIN_MKL_AVERAGE] = &krein__combine_average,
                                                [KREIN_MKL_EASYMKL] = &krein__combine_easymkl,
                                                [KREIN_MKL_PWMK] = &krein__combine_pwmk,
                                                [KREIN_MKL_ALIGNMENT] = &krein__combine_alignment,
                                                [KREIN_MKL_CENTERED] = &krein__combine_centered,
                                                [KREIN_MKL_LP] = &krein__combine_lp,
                                                [KREIN_MKL_CONV] = &krein__combine_conv,
                                                [KREIN_MKL_SMSD] = &krein__combine_smsd,
                                                [KREIN_MKL_UFO] = &krein__combine_ufo,
                                                [KREIN_MKL_NSMKL] = &krein__combine_alignment};

/* As the user wrote it. */
typedef struct name {
    char text[16];
} name;
static name name_of(const krein_mkl *o) {
    name out;
    const krein_option *method = &krein__learner_mkl.cls.options[0];
    krein__word(method->words, (int64_t)o->method, out.text, sizeof out.text);
    return out;
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

/* A matrix that the user brings may be anything; what it is shows when it is factored. */
static bool in_a_file(const krein_kernel *k) {
    if (k->node == KREIN_NODE_LEAF) return k->kernel->family == KREIN_FAMILY_TABLE;
    return in_a_file(k->left) || (k->right && in_a_file(k->right));
}

krein_status krein__combine_check(krein_ctx *ctx, const krein_mkl *o,
                                  const krein_kernel_list *list) {
    if (list->n > KREIN_PARTS_MAX)
        return krein__fail(ctx, KREIN_ESPEC, "mkl combines at most %d kernels, the list has %lld",
                           KREIN_PARTS_MAX, (long long)list->n);
    if (list->n == 1)
        krein__log(ctx, KREIN_LOG_WARNING,
                   "mkl with one kernel: its weight is 1, and the base learner is trained on it");
    for (int64_t i = 0; i < list->n && !methods[o->method]->indefinite; i++) {
        if (krein__kernel_definite(list->kernel[i]) != KREIN_DEFINITE_NO ||
            in_a_file(list->kernel[i]))
            continue;
        char *text = krein__kernel_text(ctx, list->kernel[i]);
        if (!text) return ctx->status;
        krein_status st = krein__fail(
            ctx, KREIN_ESPEC,
            "mkl(method=%s) needs positive definite kernels, and %s is none; average, alignment "
            "and pwmk carry it with its signature",
            name_of(o).text, text);
        krein__free(ctx, text);
        return st;
    }
    return say_identical(ctx, list);
}

krein_status krein__combine_meet(const krein_job *job, const krein_mkl *o) {
    const krein_combiner *c = methods[o->method];
    int task = krein__job_classes(job) ? KREIN_FOR_CLASSES : KREIN_FOR_NUMBERS;
    if (!(c->tasks & task))
        return krein__fail(job->ctx, KREIN_EDATA,
                           "mkl(method=%s) is for classes and the labels are numbers; use "
                           "alignment, centered, lp or average",
                           name_of(o).text);
    if (job->data->has_weight && !c->row_weights)
        return krein__fail(job->ctx, KREIN_EDATA,
                           "mkl(method=%s) takes no row weights; use alignment, centered, lp or "
                           "average",
                           name_of(o).text);
    return KREIN_OK;
}

/* ---- weights ------------------------------------------------------------ */

static krein_status normalise(krein_ctx *ctx, const krein_mkl *o, int64_t M, double *mu) {
    double sum = 0;
    for (int64_t m = 0; m < M; m++) {
        if (!(mu[m] >= 0) || isinf(mu[m]))
            return krein__fail(ctx, KREIN_ENUMERIC,
                               "mkl(method=%s): the weight of kernel %lld is %g; are inputs or "
                               "kernel values very large? scale the inputs, or use another method",
                               name_of(o).text, (long long)m + 1, mu[m]);
        sum += mu[m];
    }
    const char *way_out = methods[o->method]->way_out;
    if (!(sum > 0))
        return krein__fail(ctx, KREIN_ENUMERIC,
                           "mkl(method=%s) gives all kernels the weight zero; %s", name_of(o).text,
                           way_out ? way_out
                                   : "are the labels constant, or the kernels? use method=average");
    for (int64_t m = 0; m < M; m++) mu[m] /= sum;
    return KREIN_OK;
}

bool krein__combine_alone(const krein_mkl *o) { return methods[o->method]->alone; }

krein_status krein__combine(krein_job *job, const krein_mkl *o, const krein_kernel_list *list,
                            const double *scale, const krein_map *map, double *mu) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_bank bank = {
        .ctx = ctx, .job = job, .M = list->n, .kernel = list->kernel, .scale = scale};
    const krein_combiner *c = methods[o->method];
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
    TRY(c->find(&bank, o, mu));
    TRY(normalise(ctx, o, list->n, mu));
done:
    krein__bank_clear(&bank);
    return st;
}

krein_cost krein__combine_cost(const krein_mkl *o, const krein_map *map, int64_t n, int64_t M,
                               int64_t k) {
    const krein_combiner *c = methods[o->method];
    krein_bank_size size = krein__bank_size(map, n, M, k);
    krein_cost of_map = {0}, out = {0};
    map->cls->cost(map, n, &of_map);
    out.bytes = of_map.bytes;
    if (!c->alone) krein__bank_cost(&size, &out);
    if (c->cost) c->cost(&size, &out);
    return out;
}

/* ---- random tangent kernels --------------------------------------------- */

/* Depths differ as long as there are others; the scale only matters with normalize=no. */
krein_status krein__combine_draw(krein_ctx *ctx, const krein_mkl *o, uint64_t seed,
                                 krein_kernel_list *out) {
    enum { DEPTHS = 5, SCALES = 9, LENGTH = 48 };
    krein_status st = KREIN_OK;
    char *text = NULL;
    int64_t order[DEPTHS];
    size_t used = 0, size = (size_t)o->count * LENGTH + 1;
    NEW(text, (int64_t)size);
    for (int64_t i = 0; i < o->count; i++) {
        krein_rng depths = krein__substream(seed, KREIN_STREAM_KERNELS, i / DEPTHS + 1);
        krein_rng scales = {seed, KREIN_STREAM_KERNELS};
        if (i % DEPTHS == 0) krein__rng_permute(depths, DEPTHS, order);
        int scale = (int)krein__rng_below(scales, (uint64_t)i, 0, SCALES) - 5;
        int wrote = snprintf(text + used, size - used, "%s1e%d*ntk(depth=%d)", i ? "; " : "", scale,
                             (int)order[i % DEPTHS] + 1);
        used += (size_t)wrote;
    }
    TRY(krein__kernels_parse(ctx, text, out));
done:
    krein__free(ctx, text);
    return st;
}
