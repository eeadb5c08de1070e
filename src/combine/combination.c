/* combination.c -- from a list of kernels to one kernel and one map. */
#include "combine/combination.h"

#include "kernel/inputs.h"
#include "kernel/median.h"
#include "map/joint.h"

#include <math.h>
#include <string.h>

/* ---- specs -------------------------------------------------------------- */

/* Copies the text without the spaces around it. */
static char *trimmed(krein_ctx *ctx, const char *text, size_t length) {
    while (length > 0 && *text == ' ') text++, length--;
    while (length > 0 && text[length - 1] == ' ') length--;
    char *out = krein__zalloc(ctx, (int64_t)length + 1, 1);
    if (out) memcpy(out, text, length);
    return out;
}

/* "m1; m2; ...": one map for all kernels, or one for each. A ';' at the end says nothing. */
static krein_status split_maps(krein_combination *c, const char *maps) {
    krein_ctx *ctx = c->ctx;
    int64_t n = 1;
    for (const char *at = maps; *at; at++) n += *at == ';' && at[1 + strspn(at + 1, " ")] != 0;
    if (n != 1 && n != c->list.n)
        return krein__fail(ctx, KREIN_ESPEC,
                           "%lld maps for %lld kernels; give `map` one for all of them or one for "
                           "each, with ';' between them (a range among `kernels` counts as many)",
                           (long long)n, (long long)c->list.n);
    if (!(c->spec = krein__zalloc(ctx, n, sizeof *c->spec))) return ctx->status;
    for (const char *at = maps; c->specs < n; c->specs++) {
        size_t length = strcspn(at, ";");
        if (!(c->spec[c->specs] = trimmed(ctx, at, length))) return ctx->status;
        at += length + (at[length] == ';');
    }
    return KREIN_OK;
}

const char *krein__combination_spec(const krein_combination *c, int64_t m) {
    return c->specs == 0 ? NULL : c->spec[c->specs == 1 ? 0 : m];
}

static krein_status find_kernels(krein_combination *c, const char *kernels, uint64_t seed) {
    if (kernels) return krein__kernels_parse(c->ctx, kernels, &c->list);
    if (c->w->cls->draw) return c->w->cls->draw(c->ctx, &c->w->values, seed, &c->list);
    return krein__fail(
        c->ctx, KREIN_EARG,
        "mkl needs the kernels to combine: `kernels` \"gaussian; linear; poly(degree=2..4:3)\"");
}

krein_status krein__combination_begin(krein_ctx *ctx, const krein_weighing *w, const char *kernels,
                                      const char *maps, uint64_t seed, krein_combination *out) {
    krein_status st = KREIN_OK;
    memset(out, 0, sizeof *out);
    out->ctx = ctx;
    out->w = w;
    TRY(find_kernels(out, kernels, seed));
    TRY(krein__combine_check(ctx, w, &out->list));
    if (maps) TRY(split_maps(out, maps));
    NEW(out->scale, out->list.n);
    for (int64_t m = 0; m < out->list.n; m++) out->scale[m] = 1;
done:
    return st;
}

void krein__combination_end(krein_combination *c) {
    krein_ctx *ctx = c->ctx;
    if (!ctx) return;
    krein__kernels_clear(ctx, &c->list);
    for (int64_t m = 0; m < c->specs; m++) krein__free(ctx, c->spec[m]);
    krein__free(ctx, c->spec);
    krein__free(ctx, c->scale);
    krein__free(ctx, c->mu);
    memset(c, 0, sizeof *c);
}

/* ---- data --------------------------------------------------------------- */

krein_status krein__combination_meet(krein_combination *c, const krein_encoding *e) {
    krein_status st = KREIN_OK;
    for (int64_t m = 0; m < c->list.n && st == KREIN_OK; m++)
        st = krein__kernel_meet(c->ctx, c->list.kernel[m], e);
    return st;
}

krein_status krein__combination_settle(krein_combination *c, krein_job *job,
                                       krein_criterion *criterion, double time_limit) {
    krein_ctx *ctx = c->ctx;
    krein_status st = KREIN_OK;
    double each = time_limit / (double)c->list.n;
    TRY(krein__combine_meet(job, c->w));
    for (int64_t m = 0; m < c->list.n; m++) {
        krein_kernel *kernel = c->list.kernel[m];
        TRY(krein__kernel_meet_rows(ctx, kernel, job->rows, true));
        if (criterion->cls)
            TRY(krein__select_kernel(job, criterion, NULL, each, NULL, kernel));
        else
            TRY(krein__kernel_set_median(ctx, kernel, job->rows, job->n, job->seed));
    }
    if (c->w->values.number[KREIN_WEIGHING_NORMALIZE] != 0)
        TRY(krein__bank_scales(job, c->list.kernel, c->list.n, c->scale));
done:
    return st;
}

krein_status krein__combination_weigh(krein_combination *c, krein_job *job, const krein_map *map) {
    krein_ctx *ctx = c->ctx;
    krein_status st = KREIN_OK;
    double *mu = NULL;
    NEW(mu, c->list.n);
    TRY(krein__combine(job, c->w, &c->list, c->scale, map, mu));
    c->mu = mu;
    mu = NULL;
done:
    krein__free(ctx, mu);
    return st;
}

/* ---- one kernel, one map ------------------------------------------------ */

/* The kernels that take part: all but those whose weight is zero. */
typedef struct part {
    int64_t n;
    krein_kernel **kernel;
    double *coefficient, *share;
    const char **spec;
} part;

static void part_end(krein_ctx *ctx, part *p) {
    krein__free(ctx, p->kernel);
    krein__free(ctx, p->coefficient);
    krein__free(ctx, p->share);
    krein__free(ctx, p->spec);
}

static krein_status part_begin(const krein_combination *c, part *p) {
    krein_ctx *ctx = c->ctx;
    krein_status st = KREIN_OK;
    int64_t M = c->list.n;
    if (!(p->kernel = krein__zalloc(ctx, M, sizeof *p->kernel))) return ctx->status;
    if (!(p->spec = krein__zalloc(ctx, M, sizeof *p->spec))) return ctx->status;
    NEW(p->coefficient, M);
    NEW(p->share, M);
    bool weighted = c->mu && c->w->values.number[KREIN_WEIGHING_SPLIT] == KREIN_SPLIT_WEIGHT;
    for (int64_t m = 0; m < M; m++) {
        double mu = c->mu ? c->mu[m] : 1;
        if (mu == 0) continue;
        p->kernel[p->n] = c->list.kernel[m];
        p->spec[p->n] = krein__combination_spec(c, m);
        p->coefficient[p->n] = c->scale[m] * mu;
        p->share[p->n++] = weighted ? mu : 1;
    }
done:
    return st;
}

krein_status krein__combination_kernel(const krein_combination *c, krein_kernel **out) {
    krein_status st = KREIN_OK;
    part p = {0};
    TRY(part_begin(c, &p));
    TRY(krein__kernel_weighted_sum(c->ctx, p.kernel, p.coefficient, p.n, out));
done:
    part_end(c->ctx, &p);
    return st;
}

krein_status krein__combination_map(const krein_combination *c, int64_t D, int64_t d, bool sparse,
                                    uint64_t seed, krein_map **out) {
    krein_status st = KREIN_OK;
    part p = {0};
    TRY(part_begin(c, &p));
    krein_joint joint = {.n = p.n,
                         .kernel = p.kernel,
                         .coefficient = p.coefficient,
                         .spec = c->specs > 0 ? p.spec : NULL,
                         .share = p.share};
    TRY(krein__joint_create(c->ctx, &joint, D, d, sparse, seed, out));
done:
    part_end(c->ctx, &p);
    return st;
}

krein_status krein__combination_tell(const krein_combination *c, krein_model *model) {
    krein_ctx *ctx = c->ctx;
    krein_status st = KREIN_OK;
    ZNEW(model->weights, c->list.n);
    for (; model->kernels < c->list.n; model->kernels++) {
        krein_kernel_weight *w = &model->weights[model->kernels];
        if (!(w->kernel = krein__kernel_text(ctx, c->list.kernel[model->kernels])))
            return ctx->status;
        w->weight = c->mu[model->kernels];
    }
done:
    return st;
}
