/* outer.c -- what is learned over tasks: adam on the mean gradient of a few tasks a step
 *
 * Every `validate_every` steps the state is tried on validation tasks, and the one of the best
 * accuracy there is kept. The numbers are float64, steps and states of the optimiser float32. */
#include "fewshot/state.h"

#include "net/optimizer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void krein__learned_clear(krein_ctx *ctx, krein_learned *l) {
    krein__free(ctx, l->detail);
    krein__free(ctx, l->look_step);
    krein__free(ctx, l->look_loss);
    krein__free(ctx, l->look_accuracy);
    *l = (krein_learned){0};
}

typedef struct run {
    krein_fewshot_run *f;
    krein_outer *o;
    krein_learned *out;
    krein_optimizer adam;
    krein_outer_kept now;
    double *g;
    float *g32, *move;
} run;

static krein_status begin(run *r) {
    krein_ctx *ctx = r->f->ctx;
    krein_status st = KREIN_OK;
    int64_t n = r->o->size, which;
    krein_learned *out = r->out;
    int64_t looks = r->o->steps / r->f->o.validate_every + 2;
    TRY(krein__parse_spec(ctx, "adam", "optimizer", krein__optimizers, krein__optimizer_count,
                          &which, &r->adam.values));
    r->adam.cls = (const krein_optimizer_class *)krein__optimizers[which];
    NEW(r->now.best, n);
    ZNEW(r->now.s, n);
    ZNEW(r->now.r, n);
    NEW(r->g, n);
    NEW(r->g32, n);
    NEW(r->move, n);
    NEW(out->look_step, looks);
    NEW(out->look_loss, looks);
    NEW(out->look_accuracy, looks);
    r->now.size = n;
    r->now.x = r->o->x;
    r->now.learned = out;
    r->now.most = looks;
    memcpy(r->now.best, r->o->x, (size_t)n * sizeof *r->now.best);
done:
    return st;
}

static void end(run *r) {
    krein_ctx *ctx = r->f->ctx;
    krein__values_clear(ctx, &r->adam.values);
    krein__free(ctx, r->now.best);
    krein__free(ctx, r->now.s);
    krein__free(ctx, r->now.r);
    krein__free(ctx, r->g);
    krein__free(ctx, r->g32);
    krein__free(ctx, r->move);
}

static krein_status look(run *r) {
    krein_status st = KREIN_OK;
    krein_outer_kept *k = &r->now;
    krein_learned *out = r->out;
    double accuracy;
    TRY(r->o->validate(r->o->user, r->o->x, &accuracy));
    double loss = k->seen > 0 ? k->loss / (double)k->seen : NAN;
    out->look_step[out->looks] = k->step;
    out->look_loss[out->looks] = loss;
    out->look_accuracy[out->looks++] = accuracy;
    k->loss = 0;
    k->seen = 0;
    krein__log(r->f->ctx, KREIN_LOG_DEBUG,
               "%s: step %lld: loss %.4g, accuracy %.4g on %lld validation tasks", r->o->what,
               (long long)k->step, loss, accuracy, (long long)r->f->o.validation_tasks);
    if (out->looks > 1 && !(accuracy > k->accuracy)) goto done;
    k->accuracy = accuracy;
    out->kept = k->step;
    memcpy(k->best, r->o->x, (size_t)r->o->size * sizeof *k->best);
done:
    return st;
}

static krein_status step(run *r) {
    krein_status st = KREIN_OK;
    krein_outer *o = r->o;
    krein_outer_kept *k = &r->now;
    double loss;
    TRY(o->gradient(o->user, k->step, o->x, &loss, r->g));
    bool good = isfinite(loss);
    for (int64_t i = 0; i < o->size; i++) {
        r->g32[i] = (float)r->g[i];
        good = good && isfinite(r->g32[i]);
    }
    k->step++;
    if (!good) {
        st =
            krein__fail(r->f->ctx, KREIN_ENUMERIC,
                        "%s: the loss is no number any more in step %lld; give a smaller `rate` or "
                        "`meta_rate`",
                        o->what, (long long)k->step);
        goto done;
    }
    k->loss += loss;
    k->seen++;
    krein_step u = r->adam.cls->step(&r->adam, k->step, o->rate);
    memset(r->move, 0, (size_t)o->size * sizeof *r->move);
    r->adam.cls->update(&u, o->size, r->move, r->g32, k->s, k->r);
    for (int64_t i = 0; i < o->size; i++) o->x[i] += (double)r->move[i];
    if (o->settle) TRY(o->settle(o->user, o->x));
done:
    return st;
}

static void tell(const run *r) {
    char text[64];
    if (r->out->looks > 1)
        snprintf(text, sizeof text, "%s: loss %.3g, validation %.3g", r->o->what,
                 r->out->look_loss[r->out->looks - 1], r->now.accuracy);
    else
        snprintf(text, sizeof text, "%s", r->o->what);
    krein__progress(r->f->ctx, text, (double)r->now.step, (double)r->o->steps);
}

static krein_status steps(run *r) {
    krein_status st = KREIN_OK;
    krein_fewshot_run *f = r->f;
    krein_outer_kept *k = &r->now;
    if (r->out->looks == 0) TRY(look(r));
    while (k->step < r->o->steps) {
        TRY(krein__poll(f->ctx));
        if (krein__late(f->deadline)) {
            krein__log(f->ctx, KREIN_LOG_WARNING, "%s: time limit: best of %lld steps", r->o->what,
                       (long long)k->step);
            break;
        }
        if (krein__state_due(f->state)) TRY(krein__state_keep(f->state, k, false));
        TRY(step(r));
        if (k->step % f->o.validate_every == 0 || k->step == r->o->steps) TRY(look(r));
        tell(r);
    }
    if (k->seen > 0) TRY(look(r)); /* the time was over between two looks */
done:
    return st;
}

krein_status krein__outer_run(krein_fewshot_run *f, krein_outer *o, krein_learned *out) {
    krein_status st = KREIN_OK;
    run r = {.f = f, .o = o, .out = out};
    TRY(begin(&r));
    TRY(krein__state_recall(f->state, &r.now));
    st = steps(&r);
    if (st == KREIN_ECANCEL) {
        krein_status kept = krein__state_keep(f->state, &r.now, true);
        if (kept != KREIN_OK) st = kept;
    }
    TRY(st);
    memcpy(o->x, r.now.best, (size_t)o->size * sizeof *o->x);
    krein__log(f->ctx, KREIN_LOG_INFO,
               "%s: %lld steps; best: step %lld, accuracy %.4g on %lld validation tasks", o->what,
               (long long)r.now.step, (long long)out->kept, r.now.accuracy,
               (long long)f->o.validation_tasks);
done:
    end(&r);
    return st;
}
