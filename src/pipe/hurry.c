/* hurry.c -- how large a fit with a time limit may be: seconds are predicted from the counted flops
 * and the speed of a product of matrices, measured now on all threads. Flops of other kinds are
 * slower; what the reserve took over its own prediction corrects for that. */
#include "pipe/hurry.h"

#include "learn/krr.h"
#include "num/speed.h"
#include "pipe/training.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double CHOICE = 0.4;  /* of what is left: choosing */
static const double STAGE = 0.6;   /* of what is left: after that a choice is given up */
static const double FIT = 0.8;     /* of what is left: the predicted fit */
static const double BESIDE = 0.1;  /* of what is left: other work before the fit */
static const double AMPLE = 0.02;  /* of what is left: such a fit needs no care */
static const double CLEARLY = 1.2; /* loss of a learner that was done over that of the reserve */
static const double FACTOR_MAX = 8, OVERHEAD = 0.01;

static void forget_failure(krein_ctx *ctx) {
    ctx->status = KREIN_OK;
    ctx->message[0] = 0;
}

/* ---- the clock ---------------------------------------------------------- */

void krein__hurry_begin(krein_training *t, double start) {
    krein_ctx *ctx = t->pipe.ctx;
    double limit = t->o.time_limit;
    krein__hurry_end(ctx);
    if (!(limit > 0)) return;
    t->pipe.job.deadline = ctx->finish = start + limit;
    ctx->deadline = start + 1.05 * limit + 0.3;
}

void krein__hurry_end(krein_ctx *ctx) { ctx->finish = ctx->deadline = 0; }

/* Where the limit has passed almost or entirely, half of what may come behind it. */
double krein__hurry_left(const krein_training *t) {
    const krein_ctx *ctx = t->pipe.ctx;
    double now = krein__clock();
    if (!(ctx->finish > 0)) return 0;
    return fmax(1e-3, fmax(ctx->finish - now, (ctx->deadline - now) / 2));
}

double krein__hurry_choice(const krein_training *t) { return CHOICE * krein__hurry_left(t); }

krein_status krein__hurry_choose(krein_training *t, krein_status (*choice)(krein_training *t)) {
    krein_ctx *ctx = t->pipe.ctx;
    double end = ctx->deadline;
    if (end == 0) return choice(t);
    ctx->deadline = krein__clock() + STAGE * krein__hurry_left(t);
    krein_status st = choice(t);
    ctx->deadline = end;
    if (st != KREIN_ETIME || krein__late(end)) return st;
    forget_failure(ctx);
    t->hurry.unchosen = true;
    krein__log(ctx, KREIN_LOG_WARNING,
               "time limit: no time to choose the kernel; free parameters get the median distance");
    return KREIN_OK;
}

/* ---- seconds ------------------------------------------------------------ */

static krein_status measure_once(krein_training *t) {
    t->hurry.factor = fmax(1, t->hurry.factor);
    return t->hurry.speed > 0 ? KREIN_OK : krein__speed(t->pipe.ctx, &t->hurry.speed);
}

krein_status krein__hurry_rows(krein_training *t, int64_t count, int64_t *n) {
    krein_status st = KREIN_OK;
    if (t->pipe.ctx->finish == 0) return KREIN_OK;
    TRY(measure_once(t));
    double each = BESIDE * krein__hurry_left(t) / (double)count;
    *n = krein__min(*n, krein__eigen_rows(each * t->hurry.speed));
done:
    return st;
}

double krein__hurry_seconds(const krein_training *t, const krein_map *map,
                            const krein_learner_class *learner, const krein_values *values) {
    const krein_data *data = t->pipe.job.data;
    krein_cost of_map, fit;
    int64_t passes;
    double flops = krein__training_fit_cost(t, map, learner, values, &of_map, &fit, &passes);
    double pass = data->in_memory ? 0 : data->seconds_read / (double)krein__max(1, data->passes);
    passes += (krein__map_traits(map) & KREIN_MAP_DATA) != 0;
    return t->hurry.factor * (flops - fit.early) / t->hurry.speed + (double)passes * pass;
}

/* ---- sizes -------------------------------------------------------------- */

static double predicted(const krein_training *t) {
    return krein__hurry_seconds(t, t->pipe.job.model->map, t->learner, &t->values);
}

/* The training goes on without a reserve where its kernel has no features, or its data none that
 * ridge regression can use. */
static bool does_without(krein_status st) {
    return st == KREIN_ESPEC || st == KREIN_EARG || st == KREIN_EDATA || st == KREIN_ENUMERIC;
}

/* What the reserve takes over what is predicted of it corrects further predictions. */
static krein_status fit_reserve(krein_training *t) {
    krein_status st = KREIN_OK;
    krein_hurry *h = &t->hurry;
    krein_learner_class const *learner = NULL;
    krein_weighing none = {0};
    krein_values values = {0};
    double start = krein__clock();
    st = krein__reserve_fit(t);
    if (does_without(st)) {
        krein__log(t->pipe.ctx, KREIN_LOG_DEBUG, "time limit: nothing in reserve: %s",
                   t->pipe.ctx->message);
        krein__reserve_clear(t);
        forget_failure(t->pipe.ctx);
        return KREIN_OK;
    }
    TRY(st);
    double took = krein__clock() - start;
    TRY(krein__learner_parse(t->pipe.ctx, KREIN_LEARNER_DEFAULT, &learner, &values, &none));
    double said = krein__hurry_seconds(t, h->reserve->map, learner, &values);
    h->factor = fmin(FACTOR_MAX, fmax(1, (took - OVERHEAD) / fmax(said, 1e-9)));
    krein__log(t->pipe.ctx, KREIN_LOG_DEBUG,
               "time limit: %.3g flops a second; %lld features took %.3g s, predicted %.3g",
               h->speed, (long long)h->reserve->map->D, took, said);
done:
    krein__values_clear(t->pipe.ctx, &values);
    krein__weighing_clear(t->pipe.ctx, &none);
    return st;
}

static krein_status shrink(krein_training *t, krein_need *need) {
    krein_pipe *p = &t->pipe;
    krein_ctx *ctx = p->ctx;
    krein_status st = KREIN_OK;
    char *before = NULL, *after = NULL;
    bool smaller = true, *changed = &t->hurry.smaller;
    double left = krein__hurry_left(t);
    /* No use for features, or none there: it is done in time or not. */
    if (krein__pipe_is_exact(p) && (t->learner->matrix == KREIN_MATRIX_ALWAYS || !t->hurry.reserve))
        return KREIN_OK;
    if (!(before = krein__map_text(p->job.model->map))) return ctx->status;
    while (smaller && (predicted(t) > FIT * left || (*changed && !need->fits))) {
        krein__log(ctx, KREIN_LOG_DEBUG, "time limit: %lld features take about %.3g s of %.3g",
                   (long long)p->job.model->map->D, predicted(t), left);
        TRY(krein__pipe_smaller(p, need, &smaller));
        *changed |= smaller;
    }
    t->hurry.only_reserve = !smaller && t->hurry.reserve;
    if (!*changed || t->hurry.only_reserve) goto done;
    if (!(after = krein__map_text(p->job.model->map))) {
        st = ctx->status;
        goto done;
    }
    krein__log(ctx, KREIN_LOG_INFO, "time limit: %s instead of %s", after, before);
done:
    krein__free(ctx, before);
    krein__free(ctx, after);
    return st;
}

/* A map that was asked for is refused before the work where there is far too little time: ridge
 * regression is no iteration that could end early. */
static krein_status check_asked(const krein_training *t) {
    static const double FAR = 3, ITERATED = 20;
    const krein_map *map = t->pipe.job.model->map;
    krein_cost of_map, fit;
    int64_t passes;
    double left = t->pipe.ctx->deadline - krein__clock(), seconds = predicted(t);
    krein__training_fit_cost(t, map, t->learner, &t->values, &of_map, &fit, &passes);
    bool iterated = t->learner != &krein__learner_krr;
    if (of_map.fit_flops <= t->hurry.speed * left && seconds <= (iterated ? ITERATED : FAR) * left)
        return KREIN_OK;
    return krein__fail(
        t->pipe.ctx, KREIN_ETIME,
        "`time_limit`: %s on %s with %lld features would take about %.2g s, and %.2g "
        "s are left of %g; give more time, or leave out `map` and `features`: then "
        "they are as small as the time needs",
        t->learner->cls.name, map->cls->cls.name, (long long)map->D, seconds, fmax(0, left),
        t->o.time_limit);
}

krein_status krein__hurry_size(krein_training *t, krein_need *need) {
    krein_status st = KREIN_OK;
    const krein_map *map = t->pipe.job.model->map;
    if (t->pipe.ctx->finish == 0 || t->weighing.cls || t->recalled) return KREIN_OK;
    TRY(measure_once(t));
    if (krein__pipe_asked(&t->pipe, map)) return check_asked(t);
    if (predicted(t) <= AMPLE * krein__hurry_left(t)) goto done;
    TRY(fit_reserve(t));
    TRY(shrink(t, need));
done:
    return st;
}

/* ---- the end ------------------------------------------------------------ */

static krein_status refuse(krein_training *t, const char *what) {
    const krein_model *m = t->pipe.job.model;
    bool asked = krein__pipe_asked(&t->pipe, m->map);
    return krein__fail(t->pipe.ctx, KREIN_ETIME,
                       "`time_limit`: %s on %s %s after %g s; give more time, or %s",
                       t->learner->cls.name, m->map_text ? m->map_text : m->map->cls->cls.name,
                       what, t->o.time_limit,
                       asked ? "leave out `map` and `features`: then they are as small as the time "
                               "needs"
                             : "fewer rows");
}

krein_status krein__hurry_keep(krein_training *t, krein_status st) {
    krein_ctx *ctx = t->pipe.ctx;
    bool late = krein__enough(ctx), better = false;
    if (ctx->finish == 0 || (st != KREIN_OK && st != KREIN_ETIME)) return st;
    krein__hurry_end(ctx);
    if (st == KREIN_OK && !late && !t->hurry.smaller) return KREIN_OK;
    if (st == KREIN_OK) {
        st = krein__reserve_better(t, late ? 1 : CLEARLY, &better);
        if (st != KREIN_OK || !better) return st;
    }
    if (!t->hurry.reserve)
        return refuse(t, better ? "was still worse than a constant" : "was not done");
    krein__log(ctx, KREIN_LOG_WARNING,
               better ? "time limit: %s came less far than %s on %s, which is the model instead"
                      : "time limit: %s was not done in time; the model is %s on %s instead",
               t->learner->cls.name, t->hurry.reserve->learner, t->hurry.reserve->map_text);
    forget_failure(ctx);
    krein__reserve_take(t);
    return KREIN_OK;
}
