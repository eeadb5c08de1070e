/* tune.c -- the default model (tune.h): who competes, in which order, and what wins.
 *
 *     1  every kernel without a metric, on few rows: scale and lambda by leave-one-out, error on V
 *     1a again with the logarithms of heavy-tailed columns (log.h), all and some (tune_logs.c), if
 *        there are any: they stay where the error on V is less by more than its standard error
 *     2  the metric: gradients of the better of the L1 and the L2 kernel on all of S, some times;
 *        the step of least error on V is kept (radhakrishnan2024). The first fit has no metric, or
 *        factors of what the columns tell alone and two at a time (screen.h), if these are better
 *     3  every kernel under that metric, the L1 kernel under its square too, on few rows
 *     4  the best without and the best with a metric, and others not far behind, on all of S
 *     5  least squared error on V wins; a metric must win by more than chance, 1.5 / sqrt(|V|) of
 *        the error, and leave no more rows in a wrong class
 *     6  with more effort sums of the winner and another kernel (tune_mix.c); on few rows support
 *        vector machines (tune_svm.c)
 *
 * METRIC's rules; rows are counted so that two cores need a second or two. */
#include "select/tuner.h"

#include "base/recycle.h"
#include "select/screen.h"

#include <math.h>
#include <string.h>

enum { FIT = 2500, FIT_CLASSES = 2000, HELD = 2000, LEAST_FOR_METRIC = 500 };
enum { FACTORED = 4500 }; /* rows: their kernel matrix is factored in less time than the choice */
enum { KINDS = KREIN_METRIC_FULL + 1 };
static const double MIXTURES_FROM = 2; /* effort */
static const double FULL_GAIN = 0.1;   /* a matrix has to win by: it has seen many labels */

static krein_status parse_bases(krein_tuner *t) {
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    krein_kernel_list list = {0};
    krein_kernel *leaf;
    int64_t slot;
    TRY(krein__kernels_parse(ctx, t->o->kernels, &list));
    for (int64_t i = 0; i < list.n && t->bases < KREIN_TUNER_BASES; i++) {
        krein_tuner_base *b = &t->base[t->bases];
        krein__kernel_free(list.kernel[i], 0, &leaf, &slot);
        TRY(krein__kernel_settle(ctx, list.kernel[i], t->s.d, NULL));
        bool rough = leaf->kernel->second_moment != NULL;
        *b = (krein_tuner_base){.kernel = list.kernel[i],
                                .metric = leaf->kernel->metric,
                                .spread = leaf->kernel->spread,
                                .least = rough ? 0.2 : 0.35,
                                .most = rough ? 4 : 64}; /* wider ones differ in lambda only */
        list.kernel[i] = NULL;
        t->bases++;
    }
done:
    krein__kernels_clear(ctx, &list);
    return st;
}

/* Where this kernel with this scale under this metric was fitted to n rows; -1: nowhere. */
static int fitted(const krein_tuner *t, const krein_tuner_candidate *c, int64_t n) {
    for (int i = 0; i < t->n; i++)
        if (t->all[i].n == n && t->all[i].base == c->base && t->all[i].view == c->view &&
            t->all[i].c == c->c)
            return i;
    return -1;
}

/* Those fitted to `from` rows that are worth more: the best with and without a metric, unless it is
 * out of reach, and what is not far behind. */
static krein_status enlarge(krein_tuner *t, int64_t from, int64_t rows, double behind,
                            double step) {
    enum { MOST = 4 };
    static const double REACH = 1.2;
    krein_tuner_candidate c[MOST];
    int n = 0, end = t->n, top = krein__tuner_best(t, from, -1), best[KINDS];
    for (int kind = 0; kind < KINDS; kind++) best[kind] = krein__tuner_best(t, from, kind);
    for (int turn = 0; turn < 2; turn++) /* the best of each kind first */
        for (int i = 0; i < end && n < MOST; i++) {
            bool first = false;
            for (int kind = 0; kind < KINDS; kind++) first = first || i == best[kind];
            if (t->all[i].n != from || first != (turn == 0)) continue;
            if (t->all[i].loss > (first ? REACH : behind) * t->all[top].loss) continue;
            if (step == 0 && fitted(t, &t->all[i], t->s.n) >= 0)
                continue; /* on the path of metrics */
            c[n] = t->all[i];
            c[n].n = rows;
            c[n++].step = step;
        }
    return krein__tuner_run_all(t, c, n);
}

/* By more than chance, and with no more rows in a wrong class. */
static bool beats(const krein_tuner *t, const krein_tuner_candidate *c,
                  const krein_tuner_candidate *than, double chance) {
    return c->loss < (1 - chance) * than->loss && (!t->s.classes || c->error <= than->error);
}

/* By rule 5, of the candidates on all of S; where there was no time for any, of those on fewer. */
static int winner(const krein_tuner *t) {
    int64_t most = 0;
    for (int i = 0; i < t->n; i++) most = krein__max(most, t->all[i].n);
    double chance[KINDS] = {0, 1.5 / sqrt((double)t->s.m), FULL_GAIN};
    int best = -1;
    for (int kind = 0; kind < KINDS; kind++) {
        int next = krein__tuner_best(t, most, kind);
        if (next < 0) continue;
        if (best < 0 || beats(t, &t->all[next], &t->all[best], chance[kind])) best = next;
    }
    return best;
}

/* Scale and lambda of the winner again, on more rows than before: all of S, for classes some of it.
 * Where the whole is not larger than a matrix that is factored, the search must not take longer
 * than the fit: on some of S, and for classes lambda alone, where it may be that of the first look
 * (seven sets of 4,000 rows: the same errors). What it finds takes the place of what it began with:
 * V has chosen kernel and metric, and would choose a scale by chance. */
static krein_status refine(krein_tuner *t) {
    enum { MORE = 1600 };
    krein_status st = KREIN_OK;
    int at = winner(t);
    krein_tuner_candidate c = t->all[at];
    bool small = t->rows <= FACTORED;
    c.n = small || t->s.classes ? krein__min(MORE, t->s.n) : t->s.n;
    c.step = sqrt(2);
    if (small && t->s.classes) {
        c.n = krein__tuner_some(t);
        c.step = 1;
        int some = fitted(t, &c, c.n);
        if (some >= 0) {
            t->all[at].lambda = t->all[some].lambda;
            goto done;
        }
    }
    TRY(krein__tuner_search(t->ctx, t, &c));
    TRY(krein__tuner_walked(t, &c));
    t->all[at].lambda = c.lambda;
    if (c.c == t->all[at].c) goto done;
    for (int i = t->n - 1; i >= 0; i--)
        if (t->all[i].n == t->s.n && t->all[i].base == c.base && t->all[i].view == c.view)
            krein__tuner_forget(t, i, 1);
    c.n = t->s.n;
    c.step = 0;
    TRY(krein__tuner_run_all(t, &c, 1));
done:
    return st;
}

/* In three steps: scale and lambda follow on some more rows, where that is cheap; then all of S as
 * it is; then the best once more. On few rows all were searched on all of S. */
static krein_status finals(krein_tuner *t) {
    krein_status st = KREIN_OK;
    int64_t few = krein__tuner_few(t), some = krein__tuner_some(t);
    if (few == t->s.n) goto done;
    TRY(enlarge(t, few, some, 1.15, sqrt(2)));
    if (some == t->s.n || krein__tuner_late(t)) goto done;
    TRY(enlarge(t, some, t->s.n, 1.05, 0));
    if (!krein__tuner_late(t)) TRY(refine(t));
done:
    return st;
}

static krein_status take(krein_tuner *t, const krein_tuner_candidate *c) {
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    krein_tuned *out = t->out;
    const krein_tune_view *v = &t->view[c->view];
    TRY(krein__tuner_kernel(ctx, t, c, &out->kernel));
    out->lambda = c->lambda;
    out->metric = v->metric;
    out->decay = NAN;
    for (int i = 0; i < t->n; i++)
        if (t->all[i].base == c->base && t->all[i].view == c->view && t->all[i].n < c->n)
            out->decay = log(t->all[i].loss / c->loss) / log((double)c->n / (double)t->all[i].n);
    if (!v->factor) goto done;
    int64_t size = v->metric == KREIN_METRIC_FULL ? t->s.d * t->s.d : t->s.d;
    NEW(out->factor, size);
    memcpy(out->factor, v->factor, (size_t)size * sizeof *out->factor);
done:
    return st;
}

/* A matrix has d (d + 1) / 2 numbers to learn from the rows of S. */
static bool full_fits(const krein_tuner *t) {
    return t->o->metric == KREIN_METRIC_FULL && t->s.d * (t->s.d + 1) / 2 <= t->s.n;
}

/* Why no metric can be learned; NULL: one can. */
static const char *no_metric(const krein_tuner *t) {
    if (t->s.n + t->s.m < LEAST_FOR_METRIC) return "it takes 500 rows";
    if (t->s.d < 2) return "there is one column";
    if (!t->s.dense) return "sparse rows have too many columns";
    return t->o->effort < 0.5 ? "it takes an `effort` of 0.5" : NULL;
}

static bool try_metric(const krein_tuner *t) {
    if (t->o->metric == KREIN_METRIC_NONE) return false;
    const char *why = no_metric(t);
    if (why && t->o->asked)
        krein__log(t->s.ctx, KREIN_LOG_WARNING, "metric: none is learned: %s", why);
    if (!why && t->o->asked && t->o->metric == KREIN_METRIC_FULL && !full_fits(t))
        krein__log(t->s.ctx, KREIN_LOG_WARNING,
                   "metric: diagonal instead of full: a matrix of %lld columns has more numbers "
                   "than the %lld rows that it would be learned from",
                   (long long)t->s.d, (long long)t->s.n);
    return !why && !krein__tuner_late(t);
}

/* Whose gradients make the metric: the first kernel, or that of the other distance where it was
 * better without a metric. Gradients of the L1 kernel have no form as a matrix product, and are too
 * slow for many columns and targets. */
static const krein_tuner_candidate *learner(const krein_tuner *t) {
    enum { MANY = 1000 };
    const krein_tuner_candidate *best = krein__tuner_plain_of(t, 0);
    for (int i = 1; i < t->bases; i++) {
        const krein_tuner_candidate *next = krein__tuner_plain_of(t, i);
        bool slow = t->base[i].metric == 1 && t->s.d * (t->s.k + 1) > MANY;
        if (t->base[i].metric != t->base[0].metric && !slow && next->loss < best->loss) best = next;
    }
    return best;
}

/* The diagonal metric: the path from where it starts (krein__tuner_start). Where that is not the
 * plain kernel, though the plain kernel has seen something of the target, the path from there is
 * followed too: its gradients know of all columns together (kin40k, 4,000 rows: rmse 0.18 for
 * 0.20).
 */
static krein_status learn_diagonal(krein_tuner *t, krein_tuner_candidate *best) {
    static const double SEEN = 0.9;
    krein_status st = KREIN_OK;
    krein_tuner_candidate plain = *learner(t), start, other;
    TRY(krein__tuner_start(t, &plain, &start));
    TRY(krein__tuner_learn_metric(t, KREIN_METRIC_DIAGONAL, &start, best));
    if (start.view == plain.view || plain.loss > SEEN * t->s.total || krein__tuner_late(t))
        goto done;
    TRY(krein__tuner_learn_metric(t, KREIN_METRIC_DIAGONAL, &plain, &other));
    if (other.loss < best->loss) *best = other;
done:
    return st;
}

static krein_status procedure(krein_tuner *t) {
    krein_status st = KREIN_OK;
    krein_tuner_candidate best = {0};
    TRY(krein__tune_view(&t->s, KREIN_METRIC_NONE, NULL, &t->view[t->views++]));
    TRY(krein__tuner_plain(t, 0));
    TRY(krein__tuner_logs(t));
    bool metric = try_metric(t);
    if (metric) {
        TRY(learn_diagonal(t, &best));
        if (best.view > 0 && !krein__tuner_late(t)) TRY(krein__tuner_users(t, &best));
    }
    if (metric && full_fits(t) && !krein__tuner_late(t)) {
        TRY(krein__tuner_learn_metric(t, KREIN_METRIC_FULL, learner(t), &best));
        if (best.view > 0 && !krein__tuner_late(t)) TRY(krein__tuner_users(t, &best));
    }
    if (!krein__tuner_late(t)) TRY(finals(t));
    const krein_tuner_candidate *best_of_all = &t->all[winner(t)];
    if (t->o->effort >= MIXTURES_FROM && !krein__tuner_late(t))
        TRY(krein__tuner_mixtures(t, &best_of_all));
    TRY(krein__tuner_machines(t, &best_of_all));
    TRY(take(t, best_of_all));
done:
    return st;
}

void krein__tuned_clear(krein_ctx *ctx, krein_tuned *t) {
    krein__kernel_destroy(ctx, t->kernel);
    krein__free(ctx, t->factor);
    krein__tries_clear(ctx, &t->tries);
    *t = (krein_tuned){0};
}

/* A third of the rows scores the others, at most HELD. Where the whole is not larger than a matrix
 * that is factored, fewer of them choose among classifiers: their choice must not take longer than
 * the fit (seven sets of 4,000 rows: errors 1.005 times those of FIT rows, with a standard error of
 * 0.013). */
static void sizes(int64_t n, bool classes, double effort, int64_t *fit, int64_t *held) {
    double grow = cbrt(effort);
    *held = krein__min(n / 3, (int64_t)(HELD * grow));
    *fit = krein__min(n - *held, (int64_t)(FIT * grow));
    if (classes && n <= FACTORED) *fit = krein__min(*fit, (int64_t)(FIT_CLASSES * grow));
}

krein_status krein__tune(krein_job *job, const krein_tune_options *o, krein_tuned *out) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    int64_t fit, held;
    krein_tuner *t = NULL;
    krein_recycler pieces;
    *out = (krein_tuned){0};
    krein__recycle_begin(ctx, &pieces); /* matrices of a few sizes, again and again */
    ZNEW(t, 1);
    t->ctx = ctx;
    t->o = o;
    t->encoding = &job->model->encoding;
    t->out = out;
    t->rows = job->n;
    NEW(out->tries.tried, KREIN_TUNER_CANDIDATES);
    sizes(job->n, krein__job_classes(job), o->effort, &fit, &held);
    TRY(krein__tune_sample(job, fit, held, o->clip, o->logs, &t->s));
    TRY(parse_bases(t));
    TRY(procedure(t));
done:
    for (int i = 0; t && i < t->views; i++) krein__tune_view_end(ctx, &t->view[i]);
    for (int i = 0; t && i < t->bases + t->mixtures; i++)
        krein__kernel_destroy(ctx, t->base[i].kernel);
    if (t) krein__tune_sample_end(&t->s);
    krein__free(ctx, t);
    krein__recycle_end(ctx, &pieces);
    if (st != KREIN_OK) krein__tuned_clear(ctx, out);
    return st;
}

double krein__tune_flops(int64_t n, int64_t d, int64_t k, double effort) {
    int64_t fit, held;
    sizes(n, false, effort, &fit, &held);
    double F = (double)fit, S = (double)krein__min(KREIN_TUNER_FEW, fit), D = (double)d,
           V = (double)held;
    double small = 60 * S * S * (S + 2 * D), large = 40 * F * F * (F + 2 * D + 2 * (double)k);
    return small + large + KREIN_TUNER_STEPS * 4 * F * F * D * (double)(k + 1) +
           20 * 2 * V * F * D + krein__screen_flops(fit, d, k);
}

double krein__tune_bytes(int64_t n, int64_t d, int64_t k, double effort, int threads) {
    int64_t fit, held;
    sizes(n, false, effort, &fit, &held);
    double F = (double)fit, V = (double)held, D = (double)d;
    double screen = krein__screen_bytes(fit, d, k, threads);
    threads = (int)krein__min(threads, KREIN_TUNER_BASES); /* no more candidates run at once */
    return threads * 8 * (4 * F * F + V * F + 4 * F * (double)k) +
           4 * (KREIN_TUNER_VIEWS + 2) * (F + V) * D + screen;
}
