/* search.c -- the search over free kernel parameters.
 *
 * A free scale starts from the median distance. On a coarse sample a grid of factors of two is
 * scored (and extended while the best one lies at an end), then on a finer sample the few best of
 * them and the neighbours of the winner in steps of sqrt 2; a finer sample that is scored by random
 * features where the model will use them (score_features.c). Of candidates that are as good as each
 * other the one nearest to the median wins. A second free parameter follows the first. Samples are
 * seeded and nested; candidates run in parallel, each on one thread, so the choice does not depend
 * on the threads. The work is bounded by the sizes of the samples: about 10 coarse and 6 fine
 * candidates, an eigendecomposition each for most criteria.
 */
#include "select/select.h"

#include "kernel/median.h"
#include "num/blas.h"
#include "num/speed.h"

#include <math.h>
#include <string.h>

enum { COARSE = 800, FINE = 2000, FEATURE_ROWS = 8192, FINALISTS = 3, CANDIDATES = 32 };

typedef struct search {
    krein_job *job;
    krein_ctx *ctx;
    double deadline; /* 0: none */
    krein_kernel *kernel;
    krein_kernel *leaf[2];
    int64_t slot[2];
    double centre[2]; /* the median distance, in the kernel's scale */
    krein_scorer coarse, fine;
    const char *map;    /* used to score the finer sample; NULL: the kernel itself */
    krein_tries *tries; /* what was tried is added here; NULL: it is not kept */
    const char *criterion;
    int64_t done, total;
} search;

/* ---- candidates --------------------------------------------------------- */

typedef struct candidate {
    double value;
    krein_score score;
} candidate;

/* Error of the best lambda (0 where there is none), and the loss. */
static double error_of(const candidate *c) { return isnan(c->score.error) ? 0 : c->score.error; }
static double loss_of(const candidate *c) { return c->score.loss; }
static bool has_loss(const candidate *c) { return !isnan(c->score.loss); }

/* Not worse than the best by more than a hundredth of the error and of the loss. */
static bool as_good(const candidate *c, const candidate *best) {
    enum { PARTS = 100 };
    return error_of(c) <= error_of(best) * (1 + 1.0 / PARTS) &&
           loss_of(c) <= loss_of(best) + fabs(loss_of(best)) / PARTS;
}

/* Kernel matrix, eigenvectors, workspace; rows in double; scores along the path. */
static double candidate_bytes(int64_t rows, int64_t d, int64_t k, bool features) {
    double n = (double)krein__min(rows, FINE);
    double exact = 8 * (6 * n * n + 100 * n * (double)(k + 1) + 2 * n * (double)d) + (1 << 20);
    return features ? fmax(exact, krein__score_sample_bytes(d, k)) : exact;
}

/* The kernel with the searched parameter, which is NaN in the original. */
static krein_status with_value(const search *s, double value, krein_kernel **out) {
    krein_kernel *leaf = NULL;
    int64_t slot;
    krein_status st = krein__kernel_copy(s->ctx, s->kernel, out);
    if (st != KREIN_OK) return st;
    krein__kernel_free(*out, 0, &leaf, &slot);
    leaf->values.number[slot] = value;
    return KREIN_OK;
}

/* Stops if any candidate is refused. */
static krein_status take_scores(krein_ctx *ctx, const krein_candidate *from, int64_t n,
                                candidate *c) {
    for (int64_t i = 0; i < n; i++) {
        const krein_scored *v = &from[i].scored;
        if (v->refused[0]) return krein__fail(ctx, KREIN_ESPEC, "%s", v->refused[0]);
        c[i].score = v->score[0];
    }
    return KREIN_OK;
}

static krein_status score_all(search *s, const krein_scorer *scorer, candidate *c, int64_t n) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    krein_candidate *all = NULL;
    ZNEW(all, n);
    for (int64_t i = 0; i < n; i++) {
        all[i].map = scorer == &s->fine ? s->map : NULL;
        TRY(with_value(s, c[i].value, &all[i].kernel));
    }
    TRY(krein__scorer_run(scorer, all, n));
    TRY(take_scores(ctx, all, n, c));
    s->done = krein__min(s->done + n, s->total - 1); /* how many there will be is not known */
    krein__progress(ctx, "selecting the kernel", (double)s->done, (double)s->total);
done:
    krein__candidates_clear(ctx, all, n);
    for (int64_t i = 0; all && i < n; i++) krein__kernel_destroy(ctx, all[i].kernel);
    krein__free(ctx, all);
    return st;
}

static krein_status keep(const search *s, const krein_scorer *scorer, int64_t which,
                         const candidate *c) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    krein_kernel *kernel = NULL;
    char *text = NULL;
    const krein_searched one = {.metric = krein__encoding_metric(&s->job->model->encoding),
                                .rows = scorer->sample.n,
                                .value = c->value,
                                .lambda = c->score.lambda,
                                .score = c->score.value};
    if (!s->tries) return KREIN_OK;
    TRY(with_value(s, c->value, &kernel));
    if (!(text = krein__kernel_text(ctx, kernel))) {
        st = ctx->status;
        goto done;
    }
    TRY(krein__searched_add(ctx, s->tries, &one, text,
                            s->leaf[which]->kernel->cls.options[s->slot[which]].name,
                            s->criterion));
done:
    krein__free(ctx, text);
    krein__kernel_destroy(ctx, kernel);
    return st;
}

static bool late(const search *s) { return s->deadline > 0 && krein__clock() > s->deadline; }

/* Values tried for one parameter on one sample. */
typedef struct tried {
    candidate c[CANDIDATES];
    int64_t n, best;
} tried;

/* Whether candidate i has a loss, and less than candidate `than` (-1: there is none). */
static bool less(const tried *t, int64_t i, int64_t than) {
    return has_loss(&t->c[i]) && (than < 0 || loss_of(&t->c[i]) < loss_of(&t->c[than]));
}

/* The least loss among those whose error is within half a standard error of the least: errors of
 * few rows that differ by less are ties. Regression has no error, and the least loss wins. A
 * candidate without a loss takes no part; -1: none has one. */
static int64_t pick(const tried *t, int64_t rows) {
    double least = INFINITY;
    for (int64_t i = 0; i < t->n; i++)
        if (has_loss(&t->c[i])) least = fmin(least, error_of(&t->c[i]));
    double tie = least + 0.5 * sqrt(fmax(0, least * (1 - least)) / (double)rows);
    int64_t best = -1;
    for (int64_t i = 0; i < t->n; i++)
        if (error_of(&t->c[i]) <= tie && less(t, i, best)) best = i;
    return best;
}

/* Scores the values appended behind `first`, and finds the best of all. */
static krein_status try_values(search *s, const krein_scorer *scorer, int64_t which, tried *t,
                               int64_t first) {
    krein_status st = score_all(s, scorer, t->c + first, t->n - first);
    for (int64_t i = first; st == KREIN_OK && i < t->n; i++) {
        const krein_score *c = &t->c[i].score;
        char error[40];
        krein__log(s->ctx, KREIN_LOG_DEBUG, "%s = %g on %lld rows: loss %.6g%s, lambda %g",
                   s->leaf[which]->kernel->cls.options[s->slot[which]].name, t->c[i].value,
                   (long long)scorer->sample.n, c->loss, krein__error_text(c->error, error),
                   c->lambda);
        st = keep(s, scorer, which, &t->c[i]);
    }
    if (st != KREIN_OK) return st;
    t->best = pick(t, scorer->sample.n);
    if (t->best >= 0) return KREIN_OK;
    return krein__fail(s->ctx, KREIN_ENUMERIC,
                       "no %s that was tried has a score that is a number; give it a value",
                       s->leaf[which]->kernel->cls.options[s->slot[which]].name);
}

static bool known(const tried *t, double value) {
    for (int64_t i = 0; i < t->n; i++)
        if (fabs(t->c[i].value / value - 1) < 0.01) return true;
    return false;
}

/* Appends value if it is new, there is room, and it lies between a hundredth and eight times the
 * median: beyond that a kernel is a polynomial, which fits and then extrapolates without bounds. */
static void propose(tried *t, double median, double value) {
    value = krein__round_digits(value, 4);
    if (value > 8.1 * median || value < 0.01 * median) return;
    if (t->n < CANDIDATES && !known(t, value)) t->c[t->n++].value = value;
}

/* Walks on from the best in factors of `step`, while it lies at an end, `reach` times. */
static krein_status climb(search *s, const krein_scorer *scorer, int64_t which, double step,
                          int reach, tried *t) {
    for (; reach > 0 && !late(s); reach--) {
        int64_t first = t->n;
        propose(t, s->centre[which], t->c[t->best].value / step);
        propose(t, s->centre[which], t->c[t->best].value * step);
        if (t->n == first) break;
        krein_status st = try_values(s, scorer, which, t, first);
        if (st != KREIN_OK) return st;
    }
    return KREIN_OK;
}

/* Coarse: factors of two from centre / 16 to 8 centre, and beyond an end that is the best. */
static krein_status search_coarse(search *s, int64_t which, tried *t) {
    for (int e = -4; e <= 3; e++) propose(t, s->centre[which], s->centre[which] * pow(2, e));
    krein_status st = try_values(s, &s->coarse, which, t, 0);
    return st == KREIN_OK ? climb(s, &s->coarse, which, 2, 6, t) : st;
}

/* Fine: the FINALISTS best of the coarse ones again on more rows (leave-one-out on few rows is
 * noisy, and may have two valleys), then steps of sqrt 2 around the best. The first is the best by
 * the criterion, the others by loss, which says more than the error of few rows of many classes. */
static krein_status search_fine(search *s, int64_t which, const tried *coarse, tried *t) {
    bool taken[CANDIDATES] = {false};
    for (int k = 0; k < FINALISTS; k++) {
        int64_t best = k == 0 ? coarse->best : -1;
        for (int64_t i = 0; k > 0 && i < coarse->n; i++)
            if (!taken[i] && less(coarse, i, best)) best = i;
        if (best < 0) break;
        taken[best] = true;
        propose(t, s->centre[which], coarse->c[best].value);
    }
    krein_status st = try_values(s, &s->fine, which, t, 0);
    return st == KREIN_OK ? climb(s, &s->fine, which, M_SQRT2, 3, t) : st;
}

/* The value nearest to the median among those as good as the best. */
static double settle(const tried *t, double median) {
    int64_t chosen = t->best;
    for (int64_t i = 0; i < t->n; i++)
        if (as_good(&t->c[i], &t->c[t->best]) &&
            fabs(log(t->c[i].value / median)) < fabs(log(t->c[chosen].value / median)))
            chosen = i;
    return t->c[chosen].value;
}

static krein_status search_one(search *s, int64_t which) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    double *value = &s->leaf[which]->values.number[s->slot[which]], found = s->centre[which];
    tried *coarse = NULL, *fine = NULL;
    *value = NAN; /* free again: candidates set it in their copies */
    ZNEW(coarse, 1);
    ZNEW(fine, 1);
    TRY(search_coarse(s, which, coarse));
    found = settle(coarse, s->centre[which]);
    if (!late(s)) {
        TRY(search_fine(s, which, coarse, fine));
        found = settle(fine, s->centre[which]);
    }
done:
    *value = found;
    krein__free(ctx, coarse);
    krein__free(ctx, fine);
    return st;
}

static krein_status find_free(search *s, int64_t free) {
    for (int64_t i = 0; i < free; i++) {
        krein__kernel_free(s->kernel, i, &s->leaf[i], &s->slot[i]);
        if (s->leaf[i]->kernel->metric == 0)
            return krein__fail(s->ctx, KREIN_ESPEC, "%s needs a value for %s",
                               s->leaf[i]->kernel->cls.name,
                               s->leaf[i]->kernel->cls.options[s->slot[i]].name);
    }
    krein_rows x = krein__matrix_rows(&s->fine.sample.x);
    for (int64_t i = 0; i < free; i++) {
        double median;
        krein_status st = krein__median_distance(s->ctx, &x, s->leaf[i]->kernel->metric, &median);
        if (st != KREIN_OK) return st;
        s->centre[i] = median * s->leaf[i]->kernel->spread;
    }
    return KREIN_OK;
}

/* Rows of samples with a time limit: half of it for each of the two, whose candidates are about so
 * many. Features are too many where even one round of them takes longer. */
static krein_status fit_time(search *s, double time_limit, int64_t *fine, int64_t *coarse) {
    enum { COARSE_ROUND = 8, FINE_ROUND = 6 };
    static const double D = KREIN_FEATURES_MAX;
    double speed;
    if (!(time_limit > 0)) return KREIN_OK;
    krein_status st = krein__speed(s->ctx, &speed);
    if (st != KREIN_OK) return st;
    double half = time_limit * speed / 2;
    if (FINE_ROUND * (9 * D * D * D + 3 * (double)*fine * D * D) > half) s->map = NULL;
    if (!s->map) *fine = krein__min(*fine, krein__eigen_rows(half / FINE_ROUND));
    *coarse = krein__min(krein__min(*coarse, *fine), krein__eigen_rows(half / COARSE_ROUND));
    return KREIN_OK;
}

/* Wide rows: fewer of them. */
static int64_t wide_rows(const krein_job *job) {
    return krein__max(100, ((int64_t)1 << 27) / job->model->encoding.d);
}

krein_status krein__select_kernel(krein_job *job, krein_criterion *criterion, const char *map,
                                  double time_limit, krein_tries *tries, krein_kernel *kernel) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    search s = {.job = job,
                .ctx = ctx,
                .deadline = time_limit > 0 ? krein__clock() + time_limit : 0,
                .kernel = kernel,
                .map = map,
                .tries = tries};
    char *text = NULL;
    int64_t free = krein__kernel_free(kernel, -1, NULL, NULL);
    if (free == 0) return KREIN_OK;
    if (free > 2)
        return krein__fail(ctx, KREIN_ESPEC,
                           "the kernel has %lld free parameters; at most two can be selected: give "
                           "values to the others",
                           (long long)free);
    int64_t n = krein__min(krein__min(job->n, map ? FEATURE_ROWS : FINE), wide_rows(job));
    int64_t coarse = krein__min(n, COARSE);
    if (!(text = krein__spec_text(ctx, &criterion->cls->cls, &criterion->values))) {
        st = ctx->status;
        goto done;
    }
    s.criterion = text;
    TRY(fit_time(&s, time_limit, &n, &coarse));
    TRY(krein__scorer_begin(job, criterion, 1, n, &s.fine));
    TRY(krein__scorer_thin(&s.fine, coarse, &s.coarse));
    TRY(find_free(&s, free));
    s.total = free * 16;
    for (int64_t i = 1; i < free; i++)
        s.leaf[i]->values.number[s.slot[i]] = krein__round_digits(s.centre[i], 4);
    for (int64_t i = 0; i < free && (i == 0 || !late(&s)); i++) TRY(search_one(&s, i));
    krein__progress(ctx, "selecting the kernel", (double)s.total, (double)s.total);
done:
    krein__free(ctx, text);
    krein__scorer_end(&s.coarse);
    krein__scorer_end(&s.fine);
    return st;
}

/* ---- from a list -------------------------------------------------------- */

static krein_status propose_list(krein_job *job, const krein_kernel_list *list,
                                 const krein_probe *sample, krein_candidate *c) {
    krein_status st = KREIN_OK;
    krein_rows x = krein__matrix_rows(&sample->x);
    for (int64_t i = 0; i < list->n; i++) {
        TRY(krein__kernel_copy(job->ctx, list->kernel[i], &c[i].kernel));
        TRY(krein__kernel_set_median_rows(job->ctx, c[i].kernel, &x, KREIN_LOG_DEBUG));
    }
done:
    return st;
}

static bool has_score(const krein_candidate *c) {
    return c->scored.scored && !c->scored.refused[0] && !isnan(c->scored.score[0].loss);
}

/* The first of the best; why there is none, where all were refused. */
static krein_status winner(krein_ctx *ctx, const krein_candidate *c, int64_t n, int64_t *best) {
    *best = -1;
    for (int64_t i = 0; i < n; i++)
        if (has_score(&c[i]) &&
            (*best < 0 || krein__score_better(&c[i].scored.score[0], &c[*best].scored.score[0])))
            *best = i;
    if (*best >= 0) return KREIN_OK;
    return krein__fail(ctx, KREIN_ESPEC, "no kernel of the list has a score: %s",
                       c[0].scored.refused[0] ? c[0].scored.refused[0]
                       : c[0].scored.scored   ? "it is not a number"
                                              : "there was no time");
}

static void tell(krein_ctx *ctx, const krein_candidate *c, int64_t rows) {
    char *text = has_score(c) ? krein__kernel_text(ctx, c->kernel) : NULL;
    if (text)
        krein__log(ctx, KREIN_LOG_DEBUG, "%s on %lld rows: %.6g", text, (long long)rows,
                   c->scored.score[0].value);
    krein__free(ctx, text);
}

/* Held-out errors of ridge regression become candidates that were tried. */
static krein_status keep_tried(const krein_scorer *s, const krein_candidate *c, int64_t n,
                               krein_tries *to) {
    krein_ctx *ctx = s->job->ctx;
    krein_status st = KREIN_OK;
    TRY(krein__tried_room(ctx, to, n));
    for (int64_t i = 0; i < n; i++) {
        if (!has_score(&c[i])) continue;
        krein_tried *one = &to->tried[to->n++];
        *one = (krein_tried){.metric = krein__encoding_metric(&s->job->model->encoding),
                             .rows = s->sample.n,
                             .error = c[i].scored.score[0].value};
        if (!(one->kernel = krein__kernel_text(ctx, c[i].kernel))) return ctx->status;
        DUP(one->map, "exact");
        DUP(one->learner, "krr");
    }
done:
    return st;
}

krein_status krein__select_from(krein_job *job, krein_criterion *criterion,
                                const krein_kernel_list *list, double time_limit,
                                krein_tries *tries, int64_t *best) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_scorer s = {0};
    krein_candidate *c = NULL;
    double speed;
    int64_t n = krein__min(krein__min(job->n, FINE), wide_rows(job));
    ZNEW(c, list->n);
    if (time_limit > 0) {
        TRY(krein__speed(ctx, &speed));
        n = krein__min(n, krein__eigen_rows(time_limit * speed / (double)list->n));
    }
    TRY(krein__scorer_begin(job, criterion, 1, n, &s));
    s.deadline = time_limit > 0 ? krein__clock() + time_limit : 0;
    s.what = "scoring kernels";
    TRY(propose_list(job, list, &s.sample, c));
    TRY(krein__scorer_run(&s, c, list->n));
    TRY(winner(ctx, c, list->n, best));
    for (int64_t i = 0; i < list->n; i++) tell(ctx, &c[i], s.sample.n);
    if (criterion->cls->trial) TRY(keep_tried(&s, c, list->n, tries));
done:
    krein__candidates_clear(ctx, c, list->n);
    for (int64_t i = 0; c && i < list->n; i++) krein__kernel_destroy(ctx, c[i].kernel);
    krein__free(ctx, c);
    krein__scorer_end(&s);
    return st;
}

double krein__select_flops(int64_t n, int64_t free, int64_t listed, bool features) {
    double a = (double)krein__min(n, COARSE), b = (double)krein__min(n, FINE);
    double D = KREIN_FEATURES_MAX, rows = (double)krein__min(n, FEATURE_ROWS);
    double fine = features ? 9 * D * D * D + 3 * rows * D * D : 9 * b * b * b;
    return (double)free * (10 * 9 * a * a * a + 6 * fine) + (double)listed * 9 * b * b * b;
}

double krein__select_bytes(krein_ctx *ctx, int64_t n, int64_t d, int64_t k, bool features) {
    int64_t rows = krein__min(n, features ? FEATURE_ROWS : FINE);
    double each = candidate_bytes(rows, d, k, features);
    return krein__score_workers(ctx, 0, each, FINALISTS) * each +
           (double)rows * (6 * (double)d + 16 * (double)k + 32);
}
