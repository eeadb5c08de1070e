/* view_trials.c -- held-out errors of ridge regression on features, by folds or leave-one-out
 *
 * Cross-validation: G = Z'Z and B = Z'[y, 1] are sums over the rows, so those of the rows outside
 * fold p are the sums of the other folds' products,
 *     G_(-p) = sum_(q != p) G_q,  B_(-p) = sum_(q != p) B_q.
 * A first pass makes G_q and B_q of each fold, n D^2 flops in all whatever the number of folds.
 * Then each fold gets a model of the others, all lambdas of the path from one decomposition, and a
 * second pass scores every row by the model that has not seen it. Sums of the others, not G - G_p:
 * that would lose digits where one fold has most of the weight.
 *
 * Leave-one-out: y_i - f_(-i)(x_i) = (y_i - f_i) / (1 - H_ii) with the model of all rows, from the
 * G of the view; the second pass scores every row, or every stride-th of many.
 * The models are those of solve/ridge.c, with an intercept.
 */
#include "select/view_trials.h"

#include <math.h>
#include <string.h>

/* Leave-one-out is exact for each row; the mean is over about so many of them. */
enum { LOO_ROWS = 16384 };

typedef struct krein_trial_state {
    krein_ridge *part; /* of each fold */
    krein_scores **scores;
    krein_tally tally;
} trial_state;

/* ---- begin -------------------------------------------------------------- */

static void refuse_plain(krein_ctx *ctx, krein_trial *trial) {
    if (trial->intercept) return;
    krein_status st = krein__fail(ctx, KREIN_ESPEC,
                                  "ridge regression on features has an intercept; for intercept=no "
                                  "use the kernel itself: fewer rows, or a larger `max_exact`");
    krein__trial_refused(ctx, st, trial);
}

/* Cross-validation keeps the products of each fold. */
static krein_status begin_trial(krein_feature_trials *f, int64_t t, int64_t rows) {
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    krein_trial *trial = &f->trial[t];
    trial_state *s = &f->state[t];
    trial->path.n = 0;
    if (!isnan(trial->lambda)) trial->path.lambda[trial->path.n++] = trial->lambda;
    s->scores = krein__zalloc(ctx, krein__max(1, trial->folds), sizeof(krein_scores *));
    if (!s->scores) return ctx->status;
    if (trial->folds == 0) return KREIN_OK;
    ZNEW(s->part, trial->folds);
    for (int64_t p = 0; p < trial->folds; p++)
        TRY(krein__ridge_begin(ctx, f->D, f->k, rows, &s->part[p]));
done:
    return st;
}

krein_status krein__feature_trials_begin(krein_ctx *ctx, const krein_labels *labels, int64_t D,
                                         int64_t rows, krein_trial *trial, int64_t trials,
                                         krein_feature_trials *f) {
    krein_status st = KREIN_OK;
    *f = (krein_feature_trials){
        .ctx = ctx, .labels = labels, .trial = trial, .D = D, .k = labels->k};
    if (trials == 0) return KREIN_OK;
    ZNEW(f->state, trials);
    f->n = trials;
    NEW(f->kept, rows * D);
    NEW(f->kept_y, rows * f->k);
    NEW(f->kept_weight, rows);
    NEW(f->kept_class, rows);
    for (int64_t t = 0; t < trials; t++) {
        refuse_plain(ctx, &trial[t]);
        TRY(begin_trial(f, t, rows));
    }
done:
    return st;
}

void krein__feature_trials_clear(krein_feature_trials *f) {
    krein_ctx *ctx = f->ctx;
    for (int64_t t = 0; t < f->n; t++) {
        trial_state *s = &f->state[t];
        int64_t folds = f->trial[t].folds;
        for (int64_t p = 0; s->part && p < folds; p++) krein__ridge_clear(&s->part[p]);
        for (int64_t p = 0; s->scores && p < krein__max(1, folds); p++)
            krein__scores_end(s->scores[p]);
        krein__free(ctx, s->part);
        krein__free(ctx, s->scores);
    }
    void *all[] = {f->state, f->kept, f->kept_y, f->kept_weight, f->kept_class};
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) krein__free(ctx, all[i]);
    memset(f, 0, sizeof *f);
}

/* ---- one block ---------------------------------------------------------- */

/* The rows of a block that belong to a fold, or every stride-th one: features and targets. */
static krein_targets keep(krein_feature_trials *f, const float *z, int64_t at,
                          const krein_targets *rows, const int32_t *fold, int64_t which,
                          int64_t stride) {
    int64_t n = 0, D = f->D, k = f->k;
    for (int64_t i = 0; i < rows->n; i++) {
        if (fold ? fold[at + i] != which : (at + i) % stride != 0) continue;
        memcpy(f->kept + n * D, z + i * D, (size_t)D * sizeof *z);
        memcpy(f->kept_y + n * k, rows->y + i * k, (size_t)k * sizeof *rows->y);
        f->kept_weight[n] = rows->weight ? rows->weight[i] : 1;
        f->kept_class[n++] = rows->class ? rows->class[i] : 0;
    }
    return (krein_targets){n, k, f->kept_y, rows->weight ? f->kept_weight : NULL,
                           rows->class ? f->kept_class : NULL};
}

static krein_status add_trial(krein_feature_trials *f, int64_t t, const float *z, int64_t at,
                              const krein_targets *rows) {
    krein_status st = KREIN_OK;
    const krein_trial *trial = &f->trial[t];
    trial_state *s = &f->state[t];
    int64_t stride = (f->labels->n + LOO_ROWS - 1) / LOO_ROWS;
    if (trial->status != KREIN_OK) return KREIN_OK;
    if (f->pass > 1 || (f->pass == 0 && trial->folds == 0)) return KREIN_OK;
    for (int64_t p = 0; p < krein__max(1, trial->folds); p++) {
        krein_targets some = keep(f, z, at, rows, trial->fold, p, stride);
        if (some.n == 0) continue;
        if (f->pass == 0)
            krein__ridge_add(&s->part[p], some.n, f->kept, some.y, some.weight);
        else
            TRY(krein__scores_add(s->scores[p], f->kept, &some, &s->tally));
    }
done:
    return st;
}

krein_status krein__feature_trials_add(krein_feature_trials *f, const float *z, int64_t at,
                                       const krein_targets *rows) {
    krein_status st = KREIN_OK;
    for (int64_t t = 0; t < f->n; t++) TRY(add_trial(f, t, z, at, rows));
done:
    return st;
}

/* ---- after a pass ------------------------------------------------------- */

krein_status krein__feature_trials_leave_one_out(krein_feature_trials *f, const krein_system *all) {
    krein_status st = KREIN_OK;
    for (int64_t t = 0; t < f->n; t++)
        if (f->trial[t].folds == 0)
            TRY(krein__scores_begin(f->ctx, all, true, &f->trial[t].path, &f->state[t].scores[0]));
done:
    return st;
}

static void join(krein_ridge *a, const krein_ridge *b) {
    for (int64_t i = 0; i < a->R * a->R; i++) a->G[i] += b->G[i];
    for (int64_t i = 0; i < a->R * (a->k + 1); i++) a->B[i] += b->B[i];
    for (int64_t c = 0; c < a->k; c++) a->ysum[c] += b->ysum[c];
    a->weight += b->weight;
    a->n += b->n;
}

/* For each fold the model of the others. */
static krein_status fit_folds(krein_feature_trials *f, int64_t t) {
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    krein_trial *trial = &f->trial[t];
    trial_state *s = &f->state[t];
    krein_ridge rest = {0};
    krein_system system = {0};
    for (int64_t p = 0; p < trial->folds; p++) {
        TRY(krein__ridge_begin(ctx, f->D, f->k, 1, &rest));
        for (int64_t q = 0; q < trial->folds; q++)
            if (q != p) join(&rest, &s->part[q]);
        TRY(krein__ridge_system(&rest, NULL, f->D, f->D, &system));
        TRY(krein__scores_begin(ctx, &system, false, &trial->path, &s->scores[p]));
        krein__system_clear(ctx, &system);
        krein__ridge_clear(&rest);
    }
done:
    krein__system_clear(ctx, &system);
    krein__ridge_clear(&rest);
    return st;
}

krein_status krein__feature_trials_together(krein_feature_trials *f, krein_stream *rows) {
    krein_status st = KREIN_OK;
    for (int64_t t = 0; t < f->n && f->pass < 2; t++) {
        trial_state *s = &f->state[t];
        if (f->pass == 1) TRY(krein__tally_together(&s->tally, rows));
        for (int64_t p = 0; f->pass == 0 && p < f->trial[t].folds; p++)
            TRY(krein__ridge_together(&s->part[p], rows));
    }
done:
    return st;
}

krein_status krein__feature_trials_end_pass(krein_feature_trials *f) {
    krein_status st = KREIN_OK;
    if (f->pass++ > 0) return KREIN_OK;
    for (int64_t t = 0; t < f->n; t++)
        if (f->trial[t].folds > 0 && f->trial[t].status == KREIN_OK)
            TRY(krein__trial_refused(f->ctx, fit_folds(f, t), &f->trial[t]));
done:
    return st;
}

void krein__feature_trials_finish(krein_feature_trials *f) {
    for (int64_t t = 0; t < f->n; t++)
        krein__tally_end(&f->state[t].tally, f->labels->classes > 0, &f->trial[t].path);
}

/* ---- memory ------------------------------------------------------------- */

/* A trial keeps the products of its folds (and of the others of one) and a model of each. */
static double trial_bytes(const krein_map *map, int64_t D, int64_t k, const krein_trial *trial) {
    int threads = map->ctx->threads;
    int64_t folds = trial->folds;
    double products = folds > 0 ? krein__ridge_bytes(D, k, krein__block_rows(map->d), threads) : 0;
    return (double)(folds + 1) * products +
           (double)krein__max(1, folds) * krein__scores_bytes(D, k, threads);
}

double krein__feature_trials_bytes(const krein_map *map, int64_t D, int64_t k,
                                   const krein_trial *trial, int64_t trials) {
    double rows = (double)krein__block_rows(map->d), bytes = 0;
    if (trials > 0) bytes += rows * (4 * (double)D + 8 * (double)k + 12);
    for (int64_t t = 0; t < trials; t++) bytes += trial_bytes(map, D, k, &trial[t]);
    return bytes;
}
