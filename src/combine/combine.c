/* combine.c -- the weights of several kernels by one of the methods, and what does not go
 * together. */
#include "combine/combine.h"

#include "learn/examples.h"
#include "map/joint.h"
#include "solve/machine.h"
#include "solve/mirror.h"

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

/* The options that may have taken all kernels out. */
static const char *way_out(krein_mkl_method method) {
    switch (method) {
    case KREIN_MKL_SMSD:
    case KREIN_MKL_UFO:
        return "lower beta";
    case KREIN_MKL_PWMK:
        return "lower delta";
    default:
        return "are the labels constant, or the kernels? use method=average";
    }
}

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
    if (!(sum > 0))
        return krein__fail(ctx, KREIN_ENUMERIC,
                           "mkl(method=%s) gives all kernels the weight zero; %s", name_of(o).text,
                           way_out(o->method));
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

/* Ridge regressions with a path of lambdas on a sample, `at_once` of them: krein__judge_exact, and
 * krein__bank_lambda. Each has its matrix, eigenvectors, workspace and errors; what they share are
 * inner products and distances. */
static double sample_bytes(const krein_map *map, int64_t n, int64_t k, int64_t at_once) {
    enum { ROWS = 1000, BAND = 192 };
    double N = (double)krein__min(n, ROWS), d = (double)map->d;
    double each = 8 * N * (6 * N + 100 * (double)(k + 1) + 2 * BAND) + (1 << 20);
    double shared = 8 * (N + BAND) * (N + BAND + d) + 8 * d * map->ctx->threads + (1 << 20);
    return shared + N * (12 * d + 32 * (double)k + 64) +
           krein__judge_workers(map->ctx, shared, each, at_once) * each;
}

/* Features that are visited many times are kept, or made again. */
static double visit_bytes(const krein_map *map, int64_t n, int64_t M, int64_t k) {
    if (map->cls->traits & KREIN_MAP_DUAL)
        return krein__mirror_bytes(krein__bank_rows(map->ctx, n, M), M, krein__max(k, 2), 0, true);
    int64_t D = map->cls->features(map, n);
    return krein__examples_bytes(map, n) + 32 * (double)D * (double)(k + 2) +
           krein__machines_bytes(map->ctx, n, D, k);
}

/* combine/ridge_sum.c, and the lambda for it. */
static double sum_bytes(const krein_map *map, int64_t n, int64_t M, int64_t k) {
    bool matrices = map->cls->traits & KREIN_MAP_DUAL;
    double D = (double)(matrices ? krein__bank_rows(map->ctx, n, M) : map->cls->features(map, n));
    return 16 * D * (double)(M * k) + 8 * D * (D + 4 * (double)k + 4) + sample_bytes(map, n, k, 1);
}

/* Sums of centered.c, the same for any threads. */
static double product_bytes(const krein_map *map, int64_t n, int64_t M, int64_t k) {
    enum { TASKS = 64, ENTRIES = 32768 };
    double kernels = (double)M, rows = (double)krein__bank_rows(map->ctx, n, M);
    if (!(map->cls->traits & KREIN_MAP_DUAL)) return 0;
    return 8 * (rows * (kernels + (double)k + 6) + TASKS * kernels * kernels +
                map->ctx->threads * (ENTRIES + 64 * kernels));
}

double krein__combine_bytes(const krein_mkl *o, const krein_map *map, int64_t n, int64_t M,
                            int64_t k) {
    krein_cost cost = {0};
    double kernels = (double)M, own = 0;
    map->cls->cost(map, n, &cost);
    switch (o->method) {
    case KREIN_MKL_AVERAGE:
        return cost.bytes;
    case KREIN_MKL_PWMK:
        return cost.bytes + sample_bytes(map, n, k, M);
    case KREIN_MKL_CENTERED:
        own = product_bytes(map, n, M, k);
        break;
    case KREIN_MKL_LP:
    case KREIN_MKL_CONV:
        own = sum_bytes(map, n, M, k);
        break;
    case KREIN_MKL_EASYMKL:
    case KREIN_MKL_SMSD:
    case KREIN_MKL_UFO:
        own = visit_bytes(map, n, M, k);
        break;
    default:
        break;
    }
    return cost.bytes + krein__bank_bytes(map, n, M, k) + own + 8 * 16 * kernels * kernels;
}

/* Products of features, steps of lp and visits of rows, about as many as there usually are. */
double krein__combine_flops(const krein_mkl *o, const krein_map *map, int64_t n, int64_t M,
                            int64_t k) {
    enum { STEPS = 15, VISITS = 60 };
    bool matrices = map->cls->traits & KREIN_MAP_DUAL;
    double rows = (double)(matrices ? krein__bank_rows(map->ctx, n, M) : n), count = (double)M;
    double D = matrices ? rows : (double)map->cls->features(map, n);
    double gram = matrices ? count * rows * rows * 40 : rows * D * D / count;
    double all = matrices ? rows * rows * count * count : rows * D * D;
    switch (o->method) {
    case KREIN_MKL_AVERAGE:
        return 0;
    case KREIN_MKL_PWMK:
        return count * 9 * pow(fmin((double)n, 500), 3);
    case KREIN_MKL_CENTERED:
        return gram + all;
    case KREIN_MKL_LP:
        return all + STEPS * D * D * D / 3;
    case KREIN_MKL_CONV:
        return gram + all + STEPS * D * D * D / 3;
    case KREIN_MKL_EASYMKL:
    case KREIN_MKL_SMSD:
    case KREIN_MKL_UFO:
        return gram + VISITS * rows * D * (double)(k + 1);
    default:
        return gram;
    }
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
        krein_rng depths = {seed, KREIN_STREAM_KERNELS | (uint64_t)(i / DEPTHS + 1) << 32};
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
