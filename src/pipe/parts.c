/* parts.c -- the number of parts of a learner that divides the rows, where it was not given:
 * what theory allows for the kernel and the labels (select/capacity.h), from a sample. With the
 * kernel matrix at least as many as keep a part's matrix within `max_exact` and the budget. */
#include "pipe/training.h"

#include "stream/together.h"
#include "pipe/sample.h"
#include "select/capacity.h"

/* Rows of the sample: fewer where there is no room for their matrix, or no time. */
static krein_status choose_rows(krein_training *t, int64_t *m) {
    const krein_pipe *p = &t->pipe;
    double room = (double)p->ctx->budget - (double)atomic_load(&p->ctx->held);
    int64_t k = p->job.model->k;
    *m = krein__min(p->job.n, KREIN_ADVISE_ROWS);
    while (*m > 16 && krein__sample_bytes(p, *m, k) + krein__advise_bytes(*m, k) > room / 2)
        *m /= 2;
    krein_status st = krein__hurry_rows(t, 1, m);
    if (st != KREIN_OK) return st;
    return krein__stream_least(p->job.rows, m);
}

/* A kernel that advice is not for has one part. */
static krein_status advised(krein_training *t, int64_t *parts) {
    krein_pipe *p = &t->pipe;
    krein_ctx *ctx = p->ctx;
    krein_status st = KREIN_OK;
    krein_advice advice = {0};
    krein_sample s = {0};
    int64_t m;
    *parts = 1;
    TRY(choose_rows(t, &m));
    if (m < 2) return KREIN_OK;
    TRY(krein__sample_gather(p, m, true, &s));
    st = krein__advise(ctx, s.m, s.K, s.k, s.y, p->job.n, &advice);
    if (st == KREIN_EDATA || st == KREIN_ENUMERIC) {
        krein__log(ctx, KREIN_LOG_INFO, "no advice on the number of parts: %s", ctx->message);
        ctx->message[0] = 0;
        st = ctx->status = KREIN_OK;
    } else if (st == KREIN_OK) {
        *parts = advice.practice.parts;
    }
done:
    krein__advice_clear(ctx, &advice);
    krein__sample_end(ctx, &s);
    return st;
}

/* Parts of features are not divided between processes: one at least for each that has rows. */
static krein_status enough_parts(const krein_pipe *p, int64_t *parts) {
    krein_ctx *ctx = p->ctx;
    int64_t busy = p->job.data->here[KREIN_PART_TRAIN] > 0;
    if (!krein__stream_shared(p->job.rows) || krein__pipe_is_exact(p)) return KREIN_OK;
    krein_status st = krein__stream_count(p->job.rows, 1, &busy);
    if (st != KREIN_OK || *parts >= busy) return st;
    krein__log(ctx, KREIN_LOG_WARNING,
               "as many parts as processes, %lld, where %lld are advised: krr is exact on any "
               "number of processes",
               (long long)busy, (long long)*parts);
    *parts = busy;
    return KREIN_OK;
}

krein_status krein__training_parts(krein_training *t) {
    krein_pipe *p = &t->pipe;
    krein_status st = KREIN_OK;
    const krein_learner_class *l = t->learner;
    int64_t slot = l->advised ? krein__option_index(&l->cls, l->advised) : -1, parts = 1;
    int64_t n = p->job.n;
    if (slot < 0 || !isnan(t->values.number[slot])) return KREIN_OK;
    TRY(advised(t, &parts));
    if (krein__pipe_is_exact(p) && l->matrix_rows) {
        int64_t rows = l->matrix_rows(p->ctx, &t->values, n, t->o.max_exact);
        parts = krein__max(parts, (n + rows - 1) / rows);
    }
    /* Others may round differently. */
    TRY(krein__stream_from_root(p->job.rows, &parts, sizeof parts));
    TRY(enough_parts(p, &parts));
    t->values.number[slot] = (double)parts;
    krein__log(p->ctx, KREIN_LOG_INFO, "%s: %lld part%s", l->cls.name, (long long)parts,
               parts == 1 ? "" : "s");
done:
    return st;
}
