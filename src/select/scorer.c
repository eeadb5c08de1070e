/* scorer.c -- the one way in which candidates get their scores: on a seeded sample of the rows or
 * on all of them, by the kernel itself (score_exact.c) or by features (score_features.c). Who
 * proposes candidates does not know how they are scored. */
#include "select/select.h"

#include <string.h>

krein_status krein__scorer_begin(krein_job *job, krein_criterion *criterion, int64_t criteria,
                                 int64_t rows, krein_scorer *s) {
    *s = (krein_scorer){.job = job};
    krein__scoring_begin(criterion, criteria, rows > 0 ? rows : job->n, &s->scoring);
    return rows > 0 ? krein__probe_gather(job, rows, &s->sample) : KREIN_OK;
}

krein_status krein__scorer_thin(const krein_scorer *from, int64_t rows, krein_scorer *s) {
    *s = (krein_scorer){.job = from->job};
    krein__scoring_begin(from->scoring.criterion, from->scoring.n, rows, &s->scoring);
    return krein__probe_thin(from->job->ctx, &from->sample, rows, &s->sample);
}

void krein__scorer_end(krein_scorer *s) {
    if (s->job) krein__probe_end(s->job->ctx, &s->sample);
}

static bool same_map(const krein_candidate *a, const krein_candidate *b) {
    bool both = a->map && b->map;
    return a->D == b->D && (both ? strcmp(a->map, b->map) == 0 : a->map == b->map);
}

/* Candidates of one map. */
static krein_status run(const krein_scorer *s, const krein_candidate *like,
                        krein_kernel *const *kernel, int64_t n, krein_scored *out) {
    krein_ctx *ctx = s->job->ctx;
    if (s->sample.n == 0)
        return krein__score_features(s->job, kernel, n, like->map, like->D, &s->scoring,
                                     s->deadline, out);
    if (like->map)
        return krein__score_sample(ctx, kernel, n, like->map, &s->sample, &s->scoring, out);
    return krein__score_exact(ctx, kernel, n, &s->sample, &s->scoring, s->deadline, s->what, out);
}

krein_status krein__scorer_run(const krein_scorer *s, krein_candidate *c, int64_t n) {
    krein_ctx *ctx = s->job->ctx;
    krein_status st = KREIN_OK;
    krein_kernel **kernel = NULL;
    krein_scored *scored = NULL;
    if (!(kernel = krein__zalloc(ctx, n, sizeof *kernel))) return ctx->status;
    ZNEW(scored, n);
    for (int64_t i = 0; i < n; i++) kernel[i] = c[i].kernel;
    for (int64_t from = 0, to; from < n && st == KREIN_OK; from = to) {
        for (to = from + 1; to < n && same_map(&c[from], &c[to]);) to++;
        st = run(s, &c[from], kernel + from, to - from, scored + from);
    }
    for (int64_t i = 0; i < n; i++) c[i].scored = scored[i];
done:
    krein__free(ctx, kernel);
    krein__free(ctx, scored);
    return st;
}

/* Held-out scores (n x k) at one lambda. */
static krein_status held_out(const krein_scorer *s, const krein_targets *rows, double lambda,
                             double *K, double *score) {
    krein_ctx *ctx = s->job->ctx;
    krein_status st = KREIN_OK;
    const krein_probe *x = &s->sample;
    int64_t folds = s->scoring.trial[0].folds;
    int32_t *fold = NULL;
    krein_path path;
    if (folds == 0) return krein__dual_loo_at(ctx, K, rows, lambda, true, &path, score);
    NEW(fold, x->n);
    TRY(krein__folds(ctx, x->seed, x->n, folds, x->group, x->class, fold));
    TRY(krein__dual_folds_at(ctx, K, rows, fold, folds, lambda, score));
done:
    krein__free(ctx, fold);
    return st;
}

krein_status krein__scorer_rows(const krein_scorer *s, const krein_candidate *c, double *loss) {
    krein_ctx *ctx = s->job->ctx;
    krein_status st = KREIN_OK;
    const krein_probe *x = &s->sample;
    krein_targets rows = {x->n, x->k, x->y, x->weight, x->class};
    krein_rows values = krein__matrix_rows(&x->x);
    double *K = NULL, *score = NULL;
    NEW(K, x->n * x->n);
    NEW(score, x->n * x->k);
    TRY(krein__gram_full(ctx, c->kernel, &values, &values, K));
    TRY(held_out(s, &rows, c->scored.score[0].lambda, K, score));
    for (int64_t i = 0; i < x->n; i++) {
        krein_tally tally = {0};
        krein_targets one = {1, x->k, x->y + i * x->k, x->weight ? x->weight + i : NULL,
                             x->class ? x->class + i : NULL};
        krein__tally_add(&tally, &one, 1, score + i * x->k);
        loss[i] = x->class ? tally.error[0] : tally.loss[0];
    }
done:
    krein__free(ctx, K);
    krein__free(ctx, score);
    return st;
}

void krein__candidates_clear(krein_ctx *ctx, krein_candidate *c, int64_t n) {
    for (int64_t i = 0; c && i < n; i++) krein__scored_clear(ctx, &c[i].scored);
}
