/* train_parts.c -- the number of parts of a learner that divides the rows, where it was not given:
 * what theory allows for the kernel and the labels (select/capacity.h), from a sample. With the
 * kernel matrix at least as many as keep a part's matrix within --max-exact and the budget.
 */
#include "train.h"

#include "advise.h"
#include "dist/dist.h"

#include <math.h>

/* Rows of the sample: fewer where there is no room for their matrix. */
static krein_status choose_sample(krein_sample *s) {
    double room = (double)s->ctx->budget - (double)atomic_load(&s->ctx->held);
    s->m = krein__min(s->n, KREIN_ADVISE_ROWS);
    while (s->m > 16 && krein__advise_sample_bytes(s) > room / 2) s->m /= 2;
    return krein__comm_fold(s->ctx, KREIN_FOLD_MIN, 1, &s->m);
}

/* A kernel that advice is not for has one part. */
static krein_status advised(krein_setup *setup, krein_job *job, int64_t *parts) {
    krein_ctx *ctx = setup->ctx;
    krein_status st = KREIN_OK;
    krein_advice advice = {0};
    krein_sample s = {.ctx = ctx,
                      .model = job->model,
                      .kernel = setup->kernel,
                      .stream = job->rows,
                      .n = job->n,
                      .k = job->model->k};
    *parts = 1;
    TRY(choose_sample(&s));
    if (s.m < 2) return KREIN_OK;
    TRY(krein__advise_gather(&s, job->data, setup->o.seed));
    st = krein__advise(ctx, s.m, s.K, s.k, s.y, s.n, &advice);
    if (st == KREIN_EDATA || st == KREIN_ENUMERIC) {
        krein__log(ctx, KREIN_LOG_INFO, "no advice on the number of parts: %s", ctx->message);
        ctx->message[0] = 0;
        st = ctx->status = KREIN_OK;
    } else if (st == KREIN_OK) {
        *parts = advice.practice.parts;
    }
done:
    krein__advice_clear(ctx, &advice);
    krein__free(ctx, s.K);
    krein__free(ctx, s.y);
    return st;
}

/* Parts of features are not divided between processes: one at least for each that has rows. */
static krein_status enough_parts(krein_job *job, const krein_map *map, int64_t *parts) {
    krein_ctx *ctx = job->ctx;
    int64_t busy = job->data->here[KREIN_PART_TRAIN] > 0;
    if (!krein__stream_shared(job->rows) || map->cls->traits & KREIN_MAP_DUAL) return KREIN_OK;
    krein_status st = krein__comm_fold(ctx, KREIN_FOLD_SUM, 1, &busy);
    if (st != KREIN_OK || *parts >= busy) return st;
    krein__log(ctx, KREIN_LOG_WARNING,
               "as many parts as processes, %lld, where %lld are advised: krr is exact on any "
               "number of processes",
               (long long)busy, (long long)*parts);
    *parts = busy;
    return KREIN_OK;
}

krein_status krein__setup_parts(krein_setup *s, krein_job *job, const krein_map *map) {
    krein_status st = KREIN_OK;
    const krein_learner_class *l = s->learner;
    int64_t slot = l->advised ? krein__option_index(&l->cls, l->advised) : -1, parts = 1;
    if (slot < 0 || !isnan(s->learner_values.number[slot])) return KREIN_OK;
    TRY(advised(s, job, &parts));
    if (map->cls->traits & KREIN_MAP_DUAL && l->matrix_rows) {
        int64_t rows = l->matrix_rows(s->ctx, &s->learner_values, job->n, s->o.max_exact);
        parts = krein__max(parts, (job->n + rows - 1) / rows);
    }
    TRY(krein__comm_broadcast(s->ctx, 0, &parts, sizeof parts)); /* others may round differently */
    TRY(enough_parts(job, map, &parts));
    s->learner_values.number[slot] = (double)parts;
    krein__log(s->ctx, KREIN_LOG_INFO, "%s: %lld part%s", l->cls.name, (long long)parts,
               parts == 1 ? "" : "s");
done:
    return st;
}
