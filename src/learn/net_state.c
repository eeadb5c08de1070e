/* net_state.c -- a net on its way as a part of a checkpoint: parameters, states of the optimiser,
 * the best epoch so far, and where the next step is. A training that is done leaves its parameters
 * alone, for what comes behind it. */
#include "learn/windows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char NET[] = "net", ROWS[] = "windows";
static const int64_t MOST = INT64_MAX / 4; /* numbers that are counted on */

/* ---- the size of the windows -------------------------------------------- */

/* It follows from the memory budget, which may be another one now. */
static krein_status rows_io(krein_archive *a, krein_ctx *ctx, void *state) {
    krein_windows *w = state;
    (void)ctx;
    return krein__archive_int(a, "windows.rows", &w->rows, 1, krein__max(1, w->n));
}

krein_status krein__windows_recall(krein_windows *w) {
    krein_checkpoint *c = w->job->checkpoint;
    krein_part_kept part = {ROWS, rows_io, w};
    krein_status st = KREIN_OK;
    if (krein__checkpoint_has(c, ROWS)) st = krein__checkpoint_take(c, &part);
    krein__checkpoint_add(c, &part);
    return st;
}

void krein__windows_forget(krein_windows *w) {
    krein__checkpoint_drop(w->job->checkpoint, ROWS);
    krein__checkpoint_drop(w->job->checkpoint, NET);
}

/* ---- the state ---------------------------------------------------------- */

static krein_status epoch_io(krein_archive *a, const char *which, krein_fit_state *s) {
    krein_status st = KREIN_OK;
    double *all[] = {&s->loss, &s->objective, &s->held, &s->error};
    static const char *const part[] = {"loss", "objective", "held", "error"};
    char name[40];
    snprintf(name, sizeof name, "net.%s.epoch", which);
    TRY(krein__archive_int(a, name, &s->epoch, 0, MOST));
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) {
        snprintf(name, sizeof name, "net.%s.%s", which, part[i]);
        TRY(krein__archive_double(a, name, all[i]));
    }
done:
    return st;
}

static krein_status report_io(krein_archive *a, krein_fit_report *r) {
    krein_status st = KREIN_OK;
    int64_t end = (int64_t)r->end;
    TRY(krein__archive_int(a, "net.end", &end, KREIN_FIT_EPOCHS, KREIN_FIT_DIVERGED));
    r->end = (krein_fit_end)end;
    TRY(krein__archive_int(a, "net.epochs", &r->epochs, 0, MOST));
    TRY(krein__archive_int(a, "net.steps", &r->steps, 0, MOST));
    TRY(epoch_io(a, "best", &r->best));
    TRY(epoch_io(a, "last", &r->last));
done:
    return st;
}

static krein_status place_io(krein_archive *a, krein_fit_place *p) {
    krein_status st = KREIN_OK;
    TRY(krein__archive_int(a, "net.epoch", &p->epoch, 1, INT32_MAX)); /* addresses have it */
    TRY(krein__archive_int(a, "net.window", &p->window, 0, INT32_MAX));
    TRY(krein__archive_int(a, "net.batch", &p->batch, 0, MOST));
    TRY(krein__archive_int(a, "net.step", &p->step, 0, MOST));
    TRY(krein__archive_int(a, "net.seen", &p->seen, 0, MOST));
    TRY(krein__archive_int(a, "net.batches", &p->batches, 0, MOST));
    TRY(krein__archive_double(a, "net.loss", &p->loss));
    TRY(krein__archive_double(a, "net.activity", &p->activity));
    TRY(krein__archive_bool(a, "net.done", &p->done));
done:
    return st;
}

/* An array that is there, in both directions. */
static krein_status array_io(krein_archive *a, krein_ctx *ctx, const char *name, float *x,
                             int64_t n) {
    float *copy = x;
    krein_status st = krein__archive_array(a, name, KREIN_TYPE_F32, &copy, n);
    if (st != KREIN_OK || !krein__archive_reading(a)) return st;
    memcpy(x, copy, (size_t)n * sizeof *x);
    krein__free(ctx, copy);
    return KREIN_OK;
}

static krein_status net_io(krein_archive *a, krein_ctx *ctx, void *state) {
    krein_status st = KREIN_OK;
    krein_fit_snapshot *t = state;
    int64_t n = t->count;
    TRY(krein__archive_int(a, "net.count", &n, t->count, t->count));
    TRY(place_io(a, &t->at));
    TRY(report_io(a, &t->report));
    TRY(array_io(a, ctx, "net.p", t->p, n));
    if (t->at.done) goto done;
    TRY(array_io(a, ctx, "net.best", t->best, n));
    TRY(array_io(a, ctx, "net.s", t->s, n));
    if (t->r) TRY(array_io(a, ctx, "net.r", t->r, n));
done:
    return st;
}

/* ---- keeping it --------------------------------------------------------- */

static bool due(void *user) {
    const krein_windows *w = user;
    return krein__checkpoint_due(w->job->checkpoint);
}

/* What is done stays in the file while others keep theirs. */
static void keep_with(krein_windows *w, const krein_fit_snapshot *now) {
    w->kept = *now;
    krein__checkpoint_add(w->job->checkpoint, &(krein_part_kept){NET, net_io, &w->kept});
}

static krein_status keep(void *user, const krein_fit_snapshot *now, bool must) {
    krein_windows *w = user;
    char done[40];
    snprintf(done, sizeof done, "%lld steps", (long long)now->at.step);
    keep_with(w, now);
    krein_status st = krein__checkpoint_keep(w->job->checkpoint, done, must);
    if (!now->at.done) krein__checkpoint_drop(w->job->checkpoint, NET);
    return st;
}

static krein_status recall(void *user, krein_fit_snapshot *to, bool *found) {
    krein_windows *w = user;
    krein_checkpoint *c = w->job->checkpoint;
    *found = krein__checkpoint_has(c, NET);
    if (!*found) return KREIN_OK;
    krein_status st = krein__checkpoint_take(c, &(krein_part_kept){NET, net_io, to});
    if (st == KREIN_OK && to->at.done) keep_with(w, to);
    return st;
}

krein_status krein__windows_fit(krein_windows *w, krein_net *net, const krein_fit_options *o,
                                krein_fit_report *out) {
    krein_fit_keeper keeper = {recall, due, keep, w};
    krein_fit_options own = *o;
    if (w->job->checkpoint) own.keeper = &keeper;
    return krein__net_fit(net, &w->fit, &own, out);
}
