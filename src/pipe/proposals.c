/* proposals.c -- what a weighing proposes to the scorer, once the weights are known:
 *
 *     the weighed sum, the plain average of the kernels, and kernels alone, the heaviest first
 *
 * each by the held-out error of ridge regression on one seeded sample (select/scorer.c). The
 * weights stay what they are: the candidates are for the report, and a warning names the best of
 * them where it is better than the sum by more than chance. Cost: an eigendecomposition each, 9 N^3
 * flops, N <= 1000. Where there is no memory or no time for that, there are no candidates. */
#include "pipe/training.h"

#include "combine/mkl.h"
#include "learn/krr.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ALONE = 16, MOST = ALONE + 2, LEAST_ROWS = 100, LEAST_COMPARED = 30 };
enum { SUM = -1, AVERAGE = -2 }; /* in the place of a kernel's number */

typedef struct proposals {
    krein_training *t;
    krein_ctx *ctx;
    krein_criterion own, *criterion; /* the training's, or one of its own */
    krein_scorer scorer;
    krein_weighing plain; /* of the average */
    krein_kernel *average;
    int64_t n, which[MOST]; /* kernel of the list, or SUM, AVERAGE */
    krein_candidate c[MOST];
} proposals;

static const krein_combination *combination(const proposals *p) { return &p->t->combination; }

/* One kernel leaves nothing to compare; without a criterion nothing is scored. */
static bool wanted(const krein_training *t) {
    return t->weighing.cls && t->combination.list.n > 1 && t->criterion.cls;
}

static krein_bank_size size_of(const krein_training *t, const krein_map *map) {
    return krein__bank_size(map, t->pipe.rows, t->combination.list.n, t->pipe.job.model->k);
}

krein_cost krein__proposals_cost(const krein_training *t, const krein_map *map, double room) {
    krein_cost out = {0};
    if (!wanted(t)) return out;
    krein_bank_size size = size_of(t, map);
    int64_t n = krein__min(size.M, ALONE) + MOST - ALONE;
    if (krein__bank_sample_bytes(&size, 1) > room) return out;
    out.bytes =
        fmin(krein__bank_sample_bytes(&size, n), room); /* fewer at once where it is short */
    out.flops = (double)n * 9 * pow((double)krein__min(size.n, KREIN_BANK_SAMPLE), 3);
    return out;
}

/* ---- candidates --------------------------------------------------------- */

/* Rows of the sample; 0: there is no room, or no time. */
static krein_status choose_rows(krein_training *t, int64_t *rows) {
    krein_ctx *ctx = t->pipe.ctx;
    krein_status st = KREIN_OK;
    krein_bank_size size = size_of(t, t->pipe.job.model->map);
    int64_t n = krein__min(t->pipe.job.n, KREIN_BANK_SAMPLE), least = krein__min(n, LEAST_ROWS);
    double room = (double)ctx->budget - (double)atomic_load(&ctx->held);
    *rows = 0;
    if (krein__enough(ctx) || krein__bank_sample_bytes(&size, 1) > room) return KREIN_OK;
    TRY(krein__hurry_rows(t, krein__min(size.M, ALONE) + MOST - ALONE, &n));
    if (n >= least) *rows = n;
done:
    return st;
}

/* The criterion of the training where it has held-out errors of ridge regression with an intercept,
 * else the default. */
static krein_status choose_criterion(proposals *p) {
    krein_training *t = p->t;
    krein_trial trial = {0};
    if (t->criterion.cls->trial) t->criterion.cls->trial(&t->criterion.values, &trial);
    p->criterion = trial.intercept ? &t->criterion : &p->own;
    if (trial.intercept) return KREIN_OK;
    return krein__criterion_parse(p->ctx, t->grouped ? "cv" : KREIN_CRITERION_DEFAULT, &p->own);
}

static void add(proposals *p, int64_t which, krein_kernel *kernel) {
    p->which[p->n] = which;
    p->c[p->n++].kernel = kernel;
}

/* The kernels with equal weights; not where the weights are equal already. */
static krein_status add_average(proposals *p) {
    krein_ctx *ctx = p->ctx;
    krein_status st = KREIN_OK;
    const krein_combination *c = combination(p);
    krein_combination plain = *c;
    double *mu = NULL, far = 0;
    int64_t M = c->list.n;
    NEW(mu, M);
    for (int64_t m = 0; m < M; m++) {
        mu[m] = 1 / (double)M;
        far = fmax(far, fabs(c->mu[m] * (double)M - 1));
    }
    if (far < 1e-9) goto done;
    plain.mu = mu;
    TRY(krein__weighing_parse(ctx, "average", &p->plain));
    for (int64_t k = 0; k < KREIN_WEIGHING_OWN; k++)
        p->plain.values.number[k] = p->t->weighing.values.number[k];
    TRY(krein__combination_kernel(&plain, &p->average));
    add(p, AVERAGE, p->average);
done:
    krein__free(ctx, mu);
    return st;
}

/* A kernel with all of the weight is the sum. */
static krein_status add_alone(proposals *p) {
    krein_ctx *ctx = p->ctx;
    krein_status st = KREIN_OK;
    const krein_combination *c = combination(p);
    bool *taken = NULL;
    ZNEW(taken, c->list.n);
    for (int64_t k = 0; k < krein__min(c->list.n, ALONE); k++) {
        int64_t heaviest = -1;
        for (int64_t m = 0; m < c->list.n; m++)
            if (!taken[m] && (heaviest < 0 || c->mu[m] > c->mu[heaviest])) heaviest = m;
        taken[heaviest] = true;
        if (c->mu[heaviest] < 1) add(p, heaviest, c->list.kernel[heaviest]);
    }
done:
    krein__free(ctx, taken);
    return st;
}

/* ---- the report --------------------------------------------------------- */

static bool has_score(const krein_candidate *c) {
    return c->scored.scored && !c->scored.refused[0] && isfinite(c->scored.score[0].loss);
}

/* The candidate as it would have to be asked for, with ridge regression as it was scored, or with
 * the learner of the training. */
static char *learner_text(const proposals *p, int64_t i, bool scored) {
    const krein_training *t = p->t;
    const krein_class *base = scored ? &krein__learner_krr.cls : &t->learner->cls;
    if (p->which[i] < 0)
        return krein__mkl_text(p->ctx, base, &t->values,
                               p->which[i] == SUM ? &t->weighing : &p->plain);
    return scored ? krein__strdup(p->ctx, base->name) : krein__spec_text(p->ctx, base, &t->values);
}

/* "k1; k2; ...": the kernels of a sum, or the one. */
static char *kernel_text(const proposals *p, int64_t i) {
    const krein_model *model = p->t->pipe.job.model;
    size_t length = 1;
    if (p->which[i] >= 0) return krein__strdup(p->ctx, model->weights[p->which[i]].kernel);
    for (int64_t m = 0; m < model->kernels; m++) length += strlen(model->weights[m].kernel) + 2;
    char *out = krein__zalloc(p->ctx, (int64_t)length, 1), *at = out;
    for (int64_t m = 0; out && m < model->kernels; m++)
        at += sprintf(at, "%s%s", m > 0 ? "; " : "", model->weights[m].kernel);
    return out;
}

static krein_status report_one(const proposals *p, int64_t i, krein_tried *to) {
    krein_ctx *ctx = p->ctx;
    krein_status st = KREIN_OK;
    *to = (krein_tried){.metric = krein__encoding_metric(&p->t->pipe.job.model->encoding),
                        .rows = p->scorer.sample.n,
                        .error = p->c[i].scored.score[0].value};
    if (!(to->kernel = kernel_text(p, i)) || !(to->learner = learner_text(p, i, true)))
        return ctx->status;
    DUP(to->map, "exact");
done:
    return st;
}

/* Behind the candidates of a metric, where one was learned. */
static krein_status report(const proposals *p) {
    krein_status st = KREIN_OK;
    krein_tries *to = &p->t->tuning.tuned.tries;
    TRY(krein__tried_room(p->ctx, to, p->n));
    for (int64_t i = 0; i < p->n; i++)
        if (has_score(&p->c[i])) TRY(report_one(p, i, &to->tried[to->n++]));
done:
    return st;
}

/* ---- is the sum the best? ----------------------------------------------- */

/* Whether the i-th has less error than the sum by a hundredth, and by more than chance. Both are
 * scored on the same rows, and the standard error of the difference comes from these; two of them,
 * because the i-th is the best of many. */
static krein_status surely_better(const proposals *p, int64_t i, bool *out) {
    static const double LITTLE = 0.01, SURE = 2;
    krein_ctx *ctx = p->ctx;
    krein_status st = KREIN_OK;
    int64_t n = p->scorer.sample.n;
    double *of_sum = NULL, *of_one = NULL, all = 0, sum = 0, square = 0;
    NEW(of_sum, n);
    NEW(of_one, n);
    TRY(krein__scorer_rows(&p->scorer, &p->c[0], of_sum));
    TRY(krein__scorer_rows(&p->scorer, &p->c[i], of_one));
    for (int64_t r = 0; r < n; r++) all += of_sum[r], sum += of_sum[r] - of_one[r];
    for (int64_t r = 0; r < n; r++) {
        double d = of_sum[r] - of_one[r] - sum / (double)n;
        square += d * d;
    }
    *out = sum > LITTLE * all && sum > SURE * sqrt(square);
done:
    krein__free(ctx, of_sum);
    krein__free(ctx, of_one);
    return st;
}

static krein_status warn(const proposals *p, int64_t i) {
    krein_ctx *ctx = p->ctx;
    double sum = p->c[0].scored.score[0].value, one = p->c[i].scored.score[0].value;
    bool classes = p->scorer.sample.classes > 0, alone = p->which[i] >= 0;
    char *kernel = kernel_text(p, i), *learner = learner_text(p, i, false);
    if (kernel && learner && alone)
        krein__log(ctx, KREIN_LOG_WARNING,
                   "%s alone is better than the weighed sum: %s %.4g, the sum %.4g, by ridge "
                   "regression on held-out rows of a sample; to use it: `kernel` \"%s\" and "
                   "`learner` \"%s\", without `kernels`",
                   kernel, classes ? "share of errors" : "rmse", one, sum, kernel, learner);
    else if (kernel && learner)
        krein__log(ctx, KREIN_LOG_WARNING,
                   "the average of the kernels is better than the weighed sum: %s %.4g, the sum "
                   "%.4g, by ridge regression on held-out rows of a sample; to use it: "
                   "`learner` \"%s\"",
                   classes ? "share of errors" : "rmse", one, sum, learner);
    krein_status st = kernel && learner ? KREIN_OK : ctx->status;
    krein__free(ctx, kernel);
    krein__free(ctx, learner);
    return st;
}

static krein_status compare(const proposals *p) {
    krein_ctx *ctx = p->ctx;
    int64_t best = 0;
    bool better = false;
    if (!has_score(&p->c[0]) || p->scorer.sample.n < LEAST_COMPARED) return KREIN_OK;
    for (int64_t i = 1; i < p->n; i++)
        if (has_score(&p->c[i]) &&
            krein__score_better(&p->c[i].scored.score[0], &p->c[best].scored.score[0]))
            best = i;
    if (best == 0) return KREIN_OK;
    krein_status st = surely_better(p, best, &better);
    if (krein__is_refusal(st)) { /* not known */
        ctx->message[0] = 0;
        return ctx->status = KREIN_OK;
    }
    return st == KREIN_OK && better ? warn(p, best) : st;
}

/* ---- the whole ---------------------------------------------------------- */

krein_status krein__training_propose(krein_training *t) {
    krein_ctx *ctx = t->pipe.ctx;
    krein_status st = KREIN_OK;
    proposals *p = NULL;
    int64_t rows;
    if (!wanted(t)) return KREIN_OK;
    TRY(choose_rows(t, &rows));
    if (rows == 0) {
        krein__log(ctx, KREIN_LOG_INFO,
                   "the weighed sum is not compared with its kernels: no memory or no time for it");
        goto done;
    }
    ZNEW(p, 1);
    p->t = t;
    p->ctx = ctx;
    TRY(choose_criterion(p));
    add(p, SUM, t->pipe.kernel);
    TRY(add_average(p));
    TRY(add_alone(p));
    TRY(krein__scorer_begin(&t->pipe.job, p->criterion, 1, rows, &p->scorer));
    p->scorer.deadline = ctx->finish;
    p->scorer.what = "scoring kernels";
    TRY(krein__scorer_run(&p->scorer, p->c, p->n));
    TRY(report(p));
    TRY(compare(p));
done:
    if (p) {
        krein__candidates_clear(ctx, p->c, p->n);
        krein__scorer_end(&p->scorer);
        krein__kernel_destroy(ctx, p->average);
        krein__weighing_clear(ctx, &p->plain);
        krein__criterion_clear(ctx, &p->own);
    }
    krein__free(ctx, p);
    return st;
}
