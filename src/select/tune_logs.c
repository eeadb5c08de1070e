/* tune_logs.c -- the logarithms of heavy-tailed columns in tune.c (encode/log.h): of which
 *
 * The kernels compete once more with the logarithms of all these columns. From the better of both,
 * none or all, each column by itself then takes the other form, with the best kernel as it is; the
 * columns whose error on V that lowers by more than its standard error change together, and the
 * kernels compete a third time. Logarithms stay where the best kernel with them is surely better
 * than the best without. */
#include "select/tuner.h"

#include <math.h>
#include <string.h>

/* Columns that are tried by themselves: a view each, and three for all. */
enum { MOST = KREIN_TUNER_VIEWS - 3 };

/* The kernels on the rows of a view, and what they have left in the tuner. */
typedef struct contest {
    int view, from, best;    /* candidates `from` on, as many as there are kernels */
    int64_t searched, walks; /* values of the report */
    bool *taken;             /* of the columns */
} contest;

static krein_status compete(krein_tuner *t, const bool *taken, contest *c) {
    krein_status st = KREIN_OK;
    *c = (contest){.view = t->views, .from = t->n, .best = t->n};
    c->searched = t->out->tries.nsearched;
    c->taken = krein__alloc(t->ctx, t->s.logs.n, sizeof *taken);
    if (!c->taken) return t->ctx->status;
    memcpy(c->taken, taken, (size_t)t->s.logs.n * sizeof *taken);
    TRY(krein__tune_view(&t->s, KREIN_METRIC_NONE, NULL, &t->view[t->views++]));
    TRY(krein__tuner_plain(t, c->view));
    for (int i = c->from; i < t->n; i++)
        if (t->all[i].loss < t->all[c->best].loss) c->best = i;
    c->walks = t->out->tries.nsearched - c->searched;
done:
    return st;
}

/* The rows take the forms of `to`; `now`: those that they have. */
static void change(krein_tuner *t, bool *now, const bool *to) {
    for (int64_t k = 0; k < t->s.logs.n; k++)
        if (now[k] != to[k]) krein__tune_swap_log(&t->s, k);
    memcpy(now, to, (size_t)t->s.logs.n * sizeof *now);
}

/* Of the columns that are `now` as they are in the contest: those that would gain by the other form
 * take it in `to`; *any: there are some. */
static krein_status by_column(krein_tuner *t, const contest *from, bool *to, bool *any) {
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    int n = (int)t->s.logs.n, first = t->views;
    int64_t m = t->s.m;
    krein_tuner_candidate c[MOST + 1];
    double *square = NULL;
    NEW(square, (n + 1) * m);
    for (int k = 0; k <= n; k++) {
        c[k] = t->all[from->best];
        c[k].step = k < n;
        c[k].steps = 0;
        c[k].square = square + k * m;
        if (k == n) continue;
        c[k].view = t->views;
        krein__tune_swap_log(&t->s, k);
        TRY(krein__tune_view(&t->s, KREIN_METRIC_NONE, NULL, &t->view[t->views++]));
        krein__tune_swap_log(&t->s, k);
    }
    for (int k = 0; k <= n; k += KREIN_TUNER_BASES) /* no more at once than kernels: memory */
        TRY(krein__tuner_at_once(t, krein__tuner_run, c + k,
                                 (int)krein__min(KREIN_TUNER_BASES, n + 1 - k)));
    for (int k = 0; k < n; k++) {
        bool gains = krein__tuner_gains(m, c[k].square, c[n].square);
        to[k] = from->taken[k] != gains;
        *any = *any || gains;
    }
done:
    while (t->views > first) krein__tune_view_end(ctx, &t->view[--t->views]);
    krein__free(ctx, square);
    return st;
}

/* What the winner has left stays, as if it were the first; the others' is forgotten. */
static void keep(krein_tuner *t, const contest *all, int contests, int won) {
    krein_tune_view view = t->view[all[won].view];
    t->view[all[won].view] = t->view[0];
    t->view[0] = view;
    for (int i = contests - 1; i >= 0; i--) {
        if (i != won) krein__tuner_forget(t, all[i].from, t->bases);
        if (i != won) krein__searched_drop(t->ctx, &t->out->tries, all[i].searched, all[i].walks);
        if (i > 0) krein__tune_view_end(t->ctx, &t->view[--t->views]);
    }
    for (int i = 0; i < t->n; i++) t->all[i].view = 0;
}

krein_status krein__tuner_logs(krein_tuner *t) {
    enum { NONE, ALL, SOME, CONTESTS };
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    int64_t n = t->s.logs.n;
    bool *now = NULL, *to = NULL, any = false, won = false;
    contest c[CONTESTS] = {
        {.best = krein__tuner_best(t, krein__tuner_few(t), -1), .walks = t->out->tries.nsearched}};
    int contests = 1, best = NONE;
    if (n == 0 || krein__tuner_late(t)) return KREIN_OK;
    ZNEW(now, n);
    ZNEW(to, n);
    ZNEW(c[NONE].taken, n);
    for (int64_t k = 0; k < n; k++) to[k] = true;
    change(t, now, to);
    TRY(compete(t, now, &c[contests++]));
    best = t->all[c[ALL].best].loss < t->all[c[NONE].best].loss ? ALL : NONE;
    change(t, now, c[best].taken);
    if (n > 1 && n <= MOST && !krein__tuner_late(t)) TRY(by_column(t, &c[best], to, &any));
    if (any) {
        change(t, now, to);
        TRY(compete(t, now, &c[contests++]));
        if (t->all[c[SOME].best].loss < t->all[c[best].best].loss) best = SOME;
    }
    if (best != NONE) TRY(krein__tuner_surely(t, t->all[c[best].best], t->all[c[NONE].best], &won));
    krein__log(ctx, KREIN_LOG_DEBUG, "logarithms of %lld columns: squared error %.4g, without %.4g",
               (long long)n, t->all[c[ALL].best].loss, t->all[c[NONE].best].loss);
    if (any)
        krein__log(ctx, KREIN_LOG_DEBUG, "logarithms of some: squared error %.4g",
                   t->all[c[SOME].best].loss);
    if (!won) best = NONE;
    change(t, now, c[best].taken);
    if (won) TRY(krein__encoding_set_logs(ctx, t->encoding, &t->s.logs, now));
    keep(t, c, contests, best);
done:
    for (int i = 0; i < contests; i++) krein__free(ctx, c[i].taken);
    krein__free(ctx, now);
    krein__free(ctx, to);
    return st;
}
