/* tune.c -- the default model (tune.h): who competes, in which order, and what wins.
 *
 *     1  every kernel without a metric, on FEW rows: scale and lambda by leave-one-out, error on V
 *     1a again with the logarithms of all heavy-tailed columns (log.h), if there are any: they stay
 *        where the error on V is less by more than its standard error
 *     2  the metric: gradients of the first kernel's predictor on all of S, up to STEPS times; the
 *        step of least error on V is kept (radhakrishnan2024)
 *     3  the other kernels under that metric, the L1 kernel under its square too, on FEW rows
 *     4  the best without and the best with a metric, and others not far behind, on all of S
 *     5  least squared error on V wins; a metric must win by more than chance, 1.5 / sqrt(|V|) of
 *        the error, and leave no more rows in a wrong class
 *
 * METRIC's rules; rows are counted so that two cores need a second or two. */
#include "select/tune.h"

#include "base/threads.h"
#include "num/blas.h"
#include "select/agop.h"
#include "select/tune_fit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FEW = 600, FIT = 2500, HELD = 2000, LEAST_FOR_METRIC = 500 };
enum { BASES = 8, VIEWS = 24, CANDIDATES = 52, STEPS = 6 };
enum { KINDS = KREIN_METRIC_FULL + 1 };
static const double FULL_GAIN = 0.1; /* a matrix has to win by: it has seen many labels */
enum { LEARNER = 0 };                /* the kernel whose gradients are taken */

/* A kernel with a free scale. */
typedef struct base {
    krein_kernel *kernel;
    int metric;         /* 1: its distance is L1, 2: L2 */
    double spread;      /* the scale is c * spread * median distance */
    double least, most; /* c */
} base;

typedef struct candidate {
    int base, view;
    int64_t n;     /* rows of S */
    double c;      /* scale */
    double step;   /* by which the scale is searched; 1: it stays; 0: and so does lambda */
    double lambda; /* in: where to start */
    double loo, loss, error;
    double *alpha;  /* n x k; NULL: not kept */
    double *square; /* m, of the rows of V; NULL: not kept */
} candidate;

typedef struct tuner {
    krein_ctx *ctx;
    const krein_tune_options *o;
    krein_encoding *encoding;
    krein_tune_sample s;
    base base[BASES];
    int bases;
    krein_tune_view view[VIEWS];
    int views;
    candidate all[CANDIDATES]; /* scored, in the order tried */
    int n;
    krein_tuned *out;
} tuner;

static bool late(const tuner *t) { return krein__late(t->o->deadline); }
static int64_t few(const tuner *t) { return krein__min(FEW, t->s.n); }

/* ---- one candidate ------------------------------------------------------ */

static krein_status kernel_of(krein_ctx *ctx, const tuner *t, const candidate *c,
                              krein_kernel **out) {
    const base *b = &t->base[c->base];
    krein_kernel *leaf;
    int64_t slot;
    krein_status st = krein__kernel_copy(ctx, b->kernel, out);
    if (st != KREIN_OK) return st;
    krein__kernel_free(*out, 0, &leaf, &slot);
    leaf->values.number[slot] =
        krein__round_digits(c->c * b->spread * t->view[c->view].median[b->metric], 4);
    return KREIN_OK;
}

/* The matrices of one fit. */
typedef struct room {
    krein_gram_shared shared;
    double *K, *work;
} room;

static void room_end(krein_ctx *ctx, room *r) {
    krein__gram_share_end(ctx, &r->shared);
    krein__free(ctx, r->K);
    krein__free(ctx, r->work);
}

static krein_status room_begin(krein_ctx *ctx, const tuner *t, const candidate *c, room *r) {
    krein_status st = KREIN_OK;
    int64_t n = c->n;
    krein_rows all = krein__matrix_rows(&t->view[c->view].fit);
    krein_rows x = krein__rows_slice(&all, 0, n);
    krein_kernel *kernel = t->base[c->base].kernel;
    *r = (room){0};
    NEW(r->K, n * n);
    NEW(r->work, n * n);
    TRY(krein__gram_share(ctx, &x, &kernel, 1, 8.0 * (double)(t->s.m * n), &r->shared));
done:
    return st;
}

/* Fits the candidate with its scale; f->lambda is where to start. */
static krein_status fit_scale(krein_ctx *ctx, const tuner *t, const candidate *c, room *r,
                              krein_tune_fit *f) {
    krein_status st = KREIN_OK;
    krein_kernel *kernel = NULL;
    TRY(kernel_of(ctx, t, c, &kernel));
    TRY(krein__gram_shared_full(ctx, kernel, &r->shared, r->K));
    TRY(krein__tune_solve(ctx, &t->s, r->K, r->work, f));
done:
    krein__kernel_destroy(ctx, kernel);
    return st;
}

/* Tries the scale times `factor` until that is no better; *moved: it was, once at least. */
static krein_status climb(krein_ctx *ctx, const tuner *t, candidate *c, room *r, krein_tune_fit *f,
                          double factor, bool *moved) {
    krein_status st = KREIN_OK;
    krein_tune_fit other = *f;
    other.fixed = c->n > few(t); /* lambda follows on few rows only, where that is cheap */
    *moved = false;
    NEW(other.alpha, f->n * t->s.k);
    while (!late(t)) {
        candidate next = *c;
        next.c *= factor;
        other.lambda = f->lambda;
        if (next.c < t->base[c->base].least || next.c > t->base[c->base].most) break;
        TRY(fit_scale(ctx, t, &next, r, &other));
        if (!(other.loo < f->loo)) break;
        f->loo = other.loo;
        f->lambda = other.lambda;
        memcpy(f->alpha, other.alpha, (size_t)(f->n * t->s.k) * sizeof *f->alpha);
        c->c = next.c;
        *moved = true;
    }
done:
    krein__free(ctx, other.alpha);
    return st;
}

/* Coefficients with the scale and the lambda that the candidate has. */
static krein_status fit_as_it_is(krein_ctx *ctx, const tuner *t, const candidate *c, room *r,
                                 krein_tune_fit *f) {
    krein_status st = KREIN_OK;
    krein_kernel *kernel = NULL;
    f->loo = NAN;
    TRY(kernel_of(ctx, t, c, &kernel));
    TRY(krein__gram_shared_full(ctx, kernel, &r->shared, r->K));
    TRY(krein__tune_at(ctx, &t->s, r->K, r->work, c->lambda, f));
done:
    krein__kernel_destroy(ctx, kernel);
    return st;
}

/* Scale and lambda by leave-one-out, then the error on V. */
static krein_status run(krein_ctx *ctx, const tuner *t, candidate *c) {
    krein_status st = KREIN_OK;
    room r = {0};
    krein_tune_fit f = {.n = c->n, .lambda = c->lambda, .square = c->square};
    krein_kernel *kernel = NULL;
    bool moved = false;
    NEW(f.alpha, c->n * t->s.k);
    TRY(room_begin(ctx, t, c, &r));
    TRY(c->step == 0 ? fit_as_it_is(ctx, t, c, &r, &f) : fit_scale(ctx, t, c, &r, &f));
    if (c->step > 1) TRY(climb(ctx, t, c, &r, &f, 1 / c->step, &moved));
    if (c->step > 1 && !moved) TRY(climb(ctx, t, c, &r, &f, c->step, &moved));
    TRY(kernel_of(ctx, t, c, &kernel));
    TRY(krein__tune_score(ctx, &t->s, &t->view[c->view], kernel, &f, &c->loss, &c->error));
    c->loo = f.loo;
    c->lambda = f.lambda;
    if (c->alpha) memcpy(c->alpha, f.alpha, (size_t)(c->n * t->s.k) * sizeof *f.alpha);
done:
    krein__kernel_destroy(ctx, kernel);
    krein__free(ctx, f.alpha);
    room_end(ctx, &r);
    return st;
}

/* For the report. */
static krein_status record(tuner *t, const candidate *c, int64_t rows, double error,
                           const char *learner) {
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    krein_kernel *kernel = NULL;
    krein_tried *to = &t->out->tried[t->out->n];
    if (t->out->n == CANDIDATES) return KREIN_OK;
    TRY(kernel_of(ctx, t, c, &kernel));
    *to = (krein_tried){.metric = t->view[c->view].metric, .rows = rows, .error = error};
    t->out->n++;
    if (!(to->kernel = krein__kernel_text(ctx, kernel))) {
        st = ctx->status;
        goto done;
    }
    DUP(to->map, "exact");
    DUP(to->learner, learner);
done:
    krein__kernel_destroy(ctx, kernel);
    return st;
}

static krein_status note(tuner *t, const candidate *c) {
    krein_status st = record(t, c, c->n, c->error, "krr");
    if (st != KREIN_OK || t->n == CANDIDATES) return st;
    char loo[48] = "";
    if (!isnan(c->loo)) snprintf(loo, sizeof loo, " (leave-one-out %.4g)", c->loo);
    krein__log(t->ctx, KREIN_LOG_DEBUG, "%s%s on %lld rows: squared error %.4g%s, error %.4g",
               t->out->tried[t->out->n - 1].kernel, t->view[c->view].metric ? " with a metric" : "",
               (long long)c->n, c->loss, loo, c->error);
    t->all[t->n] = *c;
    t->all[t->n++].alpha = NULL;
    return KREIN_OK;
}

/* Several at once, a thread each; the results do not depend on how many there are. */
static krein_status run_all(tuner *t, candidate *c, int n) {
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    krein_workers all;
    int threads = (int)krein__min(ctx->threads, n);
    if (threads <= 1) {
        for (int i = 0; i < n; i++) TRY(run(ctx, t, &c[i]));
    } else {
        krein__workers_begin(&all, ctx, threads);
        krein_compute compute = krein__compute_begin();
#pragma omp parallel for num_threads(threads) schedule(dynamic)
        for (int i = 0; i < n; i++) {
            if (atomic_load(&all.stop)) continue;
            krein_ctx own = all.own;
            krein__worker_begin();
            krein__workers_note(&all, run(&own, t, &c[i]), &own);
            krein__worker_end(compute);
            krein__workers_stopped(&all);
        }
        krein__compute_end(compute);
        TRY(krein__workers_end(&all));
    }
    for (int i = 0; i < n; i++) TRY(note(t, &c[i]));
done:
    return st;
}

/* ---- the metric --------------------------------------------------------- */

/* The gradient says nothing where lambda was chosen to predict the mean: then that of a fit that
 * nearly interpolates. */
static krein_status signal(tuner *t, candidate *c) {
    static const double NEARLY = 0.01, NO_SIGNAL = 0.95;
    krein_status st = KREIN_OK;
    room r = {0};
    candidate near = *c;
    krein_tune_fit f = {.n = c->n, .alpha = c->alpha};
    if (c->loss <= NO_SIGNAL * t->s.total) return KREIN_OK;
    near.lambda = NEARLY;
    TRY(room_begin(t->ctx, t, &near, &r));
    TRY(fit_as_it_is(t->ctx, t, &near, &r, &f));
done:
    room_end(t->ctx, &r);
    return st;
}

/* The next view from the gradients of a fit; *more: there is one. */
static krein_status next_view(tuner *t, krein_metric_kind kind, candidate *c, bool *more) {
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    krein_kernel *kernel = NULL;
    double *h = NULL, *a = NULL;
    krein_tune_view *v = &t->view[c->view];
    krein_rows all = krein__matrix_rows(&v->fit), x = krein__rows_slice(&all, 0, c->n);
    int64_t d = t->s.d, size = kind == KREIN_METRIC_FULL ? d * d : d;
    NEW(h, size);
    NEW(a, size);
    TRY(signal(t, c));
    TRY(kernel_of(ctx, t, c, &kernel));
    if (kind == KREIN_METRIC_FULL) {
        TRY(krein__agop_full(ctx, kernel, &x, t->s.k, c->alpha, v->factor, h));
        TRY(krein__metric_matrix(ctx, d, h, 1, a, more));
    } else {
        TRY(krein__agop_diagonal(ctx, kernel, &x, t->s.k, c->alpha, v->factor, h));
        *more = krein__metric_factors(d, h, 1, a);
    }
    if (!*more) goto done;
    TRY(krein__tune_view(&t->s, kind, a, &t->view[t->views]));
    t->views++;
done:
    krein__kernel_destroy(ctx, kernel);
    krein__free(ctx, h);
    krein__free(ctx, a);
    return st;
}

/* Ends two steps behind the best, or far from it; but not while nothing was found at all. */
static bool goes_on(const tuner *t, int step, int best, double loss, double least) {
    if (least > 0.9 * t->s.total) return true;
    return step - best < 2 && loss <= 1.3 * least;
}

/* Scale and lambda again, on few rows. */
static krein_status search_few(tuner *t, candidate *c) {
    candidate on_few = *c;
    on_few.n = few(t);
    on_few.step = 2;
    on_few.alpha = NULL;
    krein_status st = run(t->ctx, t, &on_few);
    c->c = on_few.c;
    c->lambda = on_few.lambda;
    return st;
}

/* The path of metrics from a candidate without one; *best: the candidate of the best step. */
static krein_status learn_metric(tuner *t, krein_metric_kind kind, const candidate *from,
                                 candidate *best) {
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    candidate c = *from;
    int best_step = 0;
    bool more;
    c.n = t->s.n;
    c.step = 0;
    NEW(c.alpha, c.n * t->s.k);
    TRY(run(ctx, t, &c));
    *best = c;
    for (int step = 1; step <= STEPS && !late(t) && t->views < VIEWS - 1; step++) {
        TRY(next_view(t, kind, &c, &more));
        if (!more) break;
        c.view = t->views - 1;
        if (step == 1 || step == 3) TRY(search_few(t, &c));
        TRY(run_all(t, &c, 1));
        if (c.loss < best->loss) *best = c, best_step = step;
        if (!goes_on(t, step, best_step, c.loss, best->loss)) break;
    }
done:
    krein__free(ctx, c.alpha);
    best->alpha = NULL;
    return st;
}

/* The metric to the power of two. */
static krein_status square_view(tuner *t, int view, int *out) {
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    double *a = NULL, mean = 0;
    int64_t d = t->s.d;
    NEW(a, d);
    for (int64_t j = 0; j < d; j++) a[j] = pow(t->view[view].factor[j], 2);
    for (int64_t j = 0; j < d; j++) mean += a[j] * a[j] / (double)d;
    for (int64_t j = 0; j < d; j++) a[j] /= sqrt(mean);
    TRY(krein__tune_view(&t->s, KREIN_METRIC_DIAGONAL, a, &t->view[t->views]));
    *out = t->views++;
done:
    krein__free(ctx, a);
    return st;
}

/* ---- the procedure ------------------------------------------------------ */

static krein_status parse_bases(tuner *t) {
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    krein_kernel_list list = {0};
    krein_kernel *leaf;
    int64_t slot;
    TRY(krein__kernels_parse(ctx, t->o->kernels, &list));
    for (int64_t i = 0; i < list.n && t->bases < BASES; i++) {
        base *b = &t->base[t->bases];
        krein__kernel_free(list.kernel[i], 0, &leaf, &slot);
        krein__kernel_settle(list.kernel[i], t->s.d);
        bool rough = leaf->kernel->second_moment != NULL;
        *b = (base){.kernel = list.kernel[i],
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

/* The best so far on that many rows with a metric of that kind; -1: of any. */
static int best_of(const tuner *t, int64_t rows, int metric) {
    int best = -1;
    for (int i = 0; i < t->n; i++) {
        int kind = (int)t->view[t->all[i].view].metric;
        if (t->all[i].n != rows || (metric >= 0 && kind != metric)) continue;
        if (best < 0 || t->all[i].loss < t->all[best].loss) best = i;
    }
    return best;
}

static krein_status plain(tuner *t, int view) {
    candidate c[BASES];
    for (int i = 0; i < t->bases; i++) /* the slowest first */
        c[t->bases - 1 - i] =
            (candidate){.base = i, .view = view, .n = few(t), .c = 1, .step = 2, .lambda = 0.1};
    return run_all(t, c, t->bases);
}

static const candidate *plain_of(const tuner *t, int which) {
    for (int i = 0; i < t->n; i++)
        if (t->all[i].base == which && t->all[i].view == 0) return &t->all[i];
    return NULL;
}

/* The other kernels under the metric of the learner's best step. */
static krein_status users(tuner *t, const candidate *best) {
    krein_status st = KREIN_OK;
    candidate c[2 * BASES];
    int n = 0, square = 0;
    bool diagonal = t->view[best->view].metric == KREIN_METRIC_DIAGONAL;
    if (diagonal) TRY(square_view(t, best->view, &square));
    for (int i = 0; i < t->bases; i++) {
        candidate next = *plain_of(t, i);
        next.step = 2;
        next.view = best->view;
        c[n++] = next;
        if (t->base[i].metric != 1 || !diagonal) continue;
        next.view = square;
        c[n++] = next;
    }
    TRY(run_all(t, c, n));
done:
    return st;
}

/* Whether such a candidate was fitted to all of S, with a scale of its own. */
static bool was_final(const tuner *t, const candidate *c) {
    for (int i = 0; i < t->n; i++)
        if (t->all[i].n == t->s.n && t->all[i].base == c->base && t->all[i].view == c->view &&
            t->all[i].step > 1)
            return true;
    return false;
}

/* Those of FEW rows that are worth all of S: the best with and without a metric, and what is not
 * far behind. */
static krein_status finals(tuner *t) {
    enum { MOST = 4 };
    static const double BEHIND = 1.15;
    candidate c[MOST];
    int n = 0, end = t->n, top = best_of(t, few(t), -1), best[KINDS];
    for (int kind = 0; kind < KINDS; kind++) best[kind] = best_of(t, few(t), kind);
    if (few(t) == t->s.n) return KREIN_OK;
    for (int turn = 0; turn < 2; turn++) /* the best of each kind first */
        for (int i = 0; i < end && n < MOST; i++) {
            bool first = false;
            for (int kind = 0; kind < KINDS; kind++) first = first || i == best[kind];
            if (t->all[i].n != few(t) || first != (turn == 0) || was_final(t, &t->all[i])) continue;
            if (!first && t->all[i].loss > BEHIND * t->all[top].loss) continue;
            c[n] = t->all[i];
            c[n].n = t->s.n;
            c[n++].step = sqrt(2);
        }
    return run_all(t, c, n);
}

/* By more than chance, and with no more rows in a wrong class. */
static bool beats(const tuner *t, const candidate *c, const candidate *than, double chance) {
    return c->loss < (1 - chance) * than->loss && (!t->s.classes || c->error <= than->error);
}

/* Forgets n candidates from the i-th on. */
static void forget(tuner *t, int i, int n) {
    krein_tried *tried = t->out->tried;
    for (int k = i; k < i + n; k++) {
        krein__free(t->ctx, tried[k].kernel);
        krein__free(t->ctx, tried[k].map);
        krein__free(t->ctx, tried[k].learner);
    }
    t->n -= n;
    t->out->n -= n;
    memmove(&tried[i], &tried[i + n], (size_t)(t->n - i) * sizeof *tried);
    memmove(&t->all[i], &t->all[i + n], (size_t)(t->n - i) * sizeof *t->all);
}

/* Whether a candidate has a smaller error than another by more than chance. Both have been scored
 * on the same rows of V and err on mostly the same of them, so the difference is known better than
 * the errors: its standard error comes from the rows. */
static krein_status surely_better(tuner *t, candidate c, candidate than, bool *out) {
    static const double SURE = 1; /* standard errors: neither has seen the labels of V */
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    int64_t m = t->s.m;
    double sum = 0, square = 0;
    c.step = than.step = 0;
    NEW(c.square, m);
    NEW(than.square, m);
    TRY(run(ctx, t, &c));
    TRY(run(ctx, t, &than));
    for (int64_t i = 0; i < m; i++) sum += than.square[i] - c.square[i];
    for (int64_t i = 0; i < m; i++)
        square += pow(than.square[i] - c.square[i] - sum / (double)m, 2);
    *out = sum > SURE * sqrt(square) && (!t->s.classes || c.error <= than.error);
done:
    krein__free(ctx, c.square);
    krein__free(ctx, than.square);
    return st;
}

/* The kernels once more with the logarithms of heavy-tailed columns. Everything later is about the
 * rows that won, and so is the report. */
static krein_status logs(tuner *t) {
    krein_status st = KREIN_OK;
    int n = t->n, without = best_of(t, few(t), -1);
    if (t->s.logs.n == 0 || late(t)) return KREIN_OK;
    krein__tune_swap_logs(&t->s);
    TRY(krein__tune_view(&t->s, KREIN_METRIC_NONE, NULL, &t->view[t->views++]));
    TRY(plain(t, 1));
    int best = n;
    for (int i = n + 1; i < t->n; i++)
        if (t->all[i].loss < t->all[best].loss) best = i;
    bool won = false;
    TRY(surely_better(t, t->all[best], t->all[without], &won));
    krein__log(t->ctx, KREIN_LOG_DEBUG,
               "logarithms of %lld columns: squared error %.4g, without %.4g",
               (long long)t->s.logs.n, t->all[best].loss, t->all[without].loss);
    if (won) {
        krein_tune_view with = t->view[1];
        t->view[1] = t->view[0];
        t->view[0] = with;
        TRY(krein__encoding_set_logs(t->ctx, t->encoding, &t->s.logs));
    } else {
        krein__tune_swap_logs(&t->s);
    }
    forget(t, won ? 0 : n, n);
    for (int i = 0; i < t->n; i++) t->all[i].view = 0;
    krein__tune_view_end(t->ctx, &t->view[--t->views]);
done:
    return st;
}

/* By rule 5, of the candidates on all of S; where there was no time for any, of those on fewer. */
static int winner(const tuner *t) {
    int64_t most = 0;
    for (int i = 0; i < t->n; i++) most = krein__max(most, t->all[i].n);
    double chance[KINDS] = {0, 1.5 / sqrt((double)t->s.m), FULL_GAIN};
    int best = -1;
    for (int kind = 0; kind < KINDS; kind++) {
        int next = best_of(t, most, kind);
        if (next < 0) continue;
        if (best < 0 || beats(t, &t->all[next], &t->all[best], chance[kind])) best = next;
    }
    return best;
}

/* ---- support vector machines --------------------------------------------- */

/* The least error on V over a few C; of ties the smallest C. */
static krein_status machines_of(tuner *t, const candidate *c, double *C, double *error) {
    static const double tried[] = {4, 32, 256};
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    krein_kernel *kernel = NULL;
    double *K = NULL, *Kv = NULL, e;
    const krein_tune_view *v = &t->view[c->view];
    krein_rows fit = krein__matrix_rows(&v->fit), held = krein__matrix_rows(&v->held);
    *error = INFINITY;
    NEW(K, t->s.n * t->s.n);
    NEW(Kv, t->s.m * t->s.n);
    TRY(kernel_of(ctx, t, c, &kernel));
    TRY(krein__gram_full(ctx, kernel, &fit, &fit, K));
    TRY(krein__gram_full(ctx, kernel, &held, &fit, Kv));
    for (int64_t i = 0; i < KREIN__COUNT(tried) && !late(t); i++) {
        TRY(krein__tune_svm(ctx, &t->s, K, Kv, tried[i], &e));
        if (e < *error) *error = e, *C = tried[i];
    }
done:
    krein__kernel_destroy(ctx, kernel);
    krein__free(ctx, K);
    krein__free(ctx, Kv);
    return st;
}

/* Every kernel without a metric, and the winner, where rows are few and ridge regression leaves
 * errors. They must leave fewer by more than one deviation of the difference. */
static krein_status machines(tuner *t, const candidate **winner) {
    enum { FEW_CLASSES = 12, LEAST_WRONG = 4 };
    krein_status st = KREIN_OK;
    const candidate *ridge = *winner;
    double m = (double)t->s.m, least = ridge->error, error, C = 0;
    char text[KREIN_SVM_TEXT];
    bool fits = t->o->machines && t->s.classes && !t->s.weight && t->s.nclass <= FEW_CLASSES &&
                ridge->error * m >= LEAST_WRONG;
    for (int i = -1; i < t->bases && fits && !late(t); i++) {
        const candidate *c = i < 0 ? ridge : plain_of(t, i);
        if (i >= 0 && c == ridge) continue;
        TRY(machines_of(t, c, &C, &error));
        krein__tune_svm_text(C, text);
        TRY(record(t, c, t->s.n, error, text));
        krein__log(t->ctx, KREIN_LOG_DEBUG, "support vector machines: error %.4g, C %g", error, C);
        if (!(error < least)) continue;
        least = error;
        if ((ridge->error - error) * m < sqrt((ridge->error + error) * m)) continue;
        *winner = c;
        t->out->C = C;
    }
done:
    return st;
}

static krein_status take(tuner *t, const candidate *c) {
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    krein_tuned *out = t->out;
    const krein_tune_view *v = &t->view[c->view];
    TRY(kernel_of(ctx, t, c, &out->kernel));
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
static bool full_fits(const tuner *t) {
    return t->o->metric == KREIN_METRIC_FULL && t->s.d * (t->s.d + 1) / 2 <= t->s.n;
}

static krein_status procedure(tuner *t) {
    krein_status st = KREIN_OK;
    candidate best = {0};
    TRY(krein__tune_view(&t->s, KREIN_METRIC_NONE, NULL, &t->view[t->views++]));
    TRY(plain(t, 0));
    TRY(logs(t));
    bool metric = t->o->metric != KREIN_METRIC_NONE && t->o->effort >= 0.5 && t->s.dense &&
                  t->s.d > 1 && t->s.n + t->s.m >= LEAST_FOR_METRIC && !late(t);
    if (metric) {
        TRY(learn_metric(t, KREIN_METRIC_DIAGONAL, plain_of(t, LEARNER), &best));
        if (best.view > 0 && !late(t)) TRY(users(t, &best));
    }
    if (metric && full_fits(t) && !late(t)) {
        TRY(learn_metric(t, KREIN_METRIC_FULL, plain_of(t, LEARNER), &best));
        if (best.view > 0 && !late(t)) TRY(users(t, &best));
    }
    if (!late(t)) TRY(finals(t));
    const candidate *best_of_all = &t->all[winner(t)];
    TRY(machines(t, &best_of_all));
    TRY(take(t, best_of_all));
done:
    return st;
}

void krein__tried_clear(krein_ctx *ctx, krein_tried *tried, int64_t n) {
    for (int64_t i = 0; tried && i < n; i++) {
        krein__free(ctx, tried[i].kernel);
        krein__free(ctx, tried[i].map);
        krein__free(ctx, tried[i].learner);
    }
    krein__free(ctx, tried);
}

void krein__tuned_clear(krein_ctx *ctx, krein_tuned *t) {
    krein__kernel_destroy(ctx, t->kernel);
    krein__free(ctx, t->factor);
    krein__tried_clear(ctx, t->tried, t->n);
    *t = (krein_tuned){0};
}

/* A third of the rows scores the others, at most HELD. */
static void sizes(int64_t n, double effort, int64_t *fit, int64_t *held) {
    double grow = cbrt(effort);
    *held = krein__min(n / 3, (int64_t)(HELD * grow));
    *fit = krein__min(n - *held, (int64_t)(FIT * grow));
}

krein_status krein__tune(krein_job *job, const krein_tune_options *o, krein_tuned *out) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    int64_t fit, held;
    tuner *t = NULL;
    *out = (krein_tuned){0};
    ZNEW(t, 1);
    t->ctx = ctx;
    t->o = o;
    t->encoding = &job->model->encoding;
    t->out = out;
    NEW(out->tried, CANDIDATES);
    sizes(job->n, o->effort, &fit, &held);
    TRY(krein__tune_sample(job, fit, held, o->clip, o->logs, &t->s));
    TRY(parse_bases(t));
    TRY(procedure(t));
done:
    for (int i = 0; t && i < t->views; i++) krein__tune_view_end(ctx, &t->view[i]);
    for (int i = 0; t && i < t->bases; i++) krein__kernel_destroy(ctx, t->base[i].kernel);
    if (t) krein__tune_sample_end(&t->s);
    krein__free(ctx, t);
    if (st != KREIN_OK) krein__tuned_clear(ctx, out);
    return st;
}

double krein__tune_flops(int64_t n, int64_t d, int64_t k, double effort) {
    int64_t fit, held;
    sizes(n, effort, &fit, &held);
    double F = (double)fit, S = (double)krein__min(FEW, fit), D = (double)d, V = (double)held;
    double small = 60 * S * S * (S + 2 * D), large = 40 * F * F * (F + 2 * D + 2 * (double)k);
    return small + large + STEPS * 4 * F * F * D * (double)(k + 1) + 20 * 2 * V * F * D;
}

double krein__tune_bytes(int64_t n, int64_t d, int64_t k, double effort, int threads) {
    int64_t fit, held;
    sizes(n, effort, &fit, &held);
    double F = (double)fit, V = (double)held, D = (double)d;
    threads = (int)krein__min(threads, BASES); /* no more candidates run at once */
    return threads * 8 * (4 * F * F + V * F + 4 * F * (double)k) + 4 * (VIEWS + 2) * (F + V) * D;
}
