/* laprls_choice.c -- lambda and lambda_i of laprls by leave-one-out over the labelled rows
 *
 * With rho = mu / lambda, mu = lambda_i / n*^2, the penalty is lambda (|g|^2 + rho g'Lg): that of a
 * kernel deformed by the graph (sindhwani2005). On features z it is
 *     k~(x, y) = z(x)'(I + rho Z'LZ)^-1 z(y)
 * so that for each rho there is one Cholesky factor, and then ridge regression on the labelled rows
 * with that kernel: leave-one-out in closed form at all lambdas at once (solve/dual.c). A row that
 * is left out loses its label and stays in the graph. rho = 0 is among the values, that is krr; the
 * others are powers of ten around D / trace Z'LZ, and more of them while the best is the last. Of
 * losses below NOTHING of the labels' variance the one of the least rho is the best: they differ by
 * rounding, and conjugate gradients end late where rho is large.
 * With folds asked for, their error takes the place of leave-one-out.
 *
 * Where one of the two is given, the other is chosen alone. Above KREIN_LAPRLS_CHOICE_ROWS labelled
 * rows a seeded sample of them is scored; lambda then counts for its share (solve/dual.c does the
 * same). */
#include "learn/laprls.h"
#include "num/blas.h"
#include "solve/dual.h"

#include <math.h>
#include <string.h>

enum { RHOS = 8, RHOS_MOST = 11, LAMBDAS = 17 };
static const double NOTHING = 1e-6;

double krein__laprls_least(int64_t D, double square) { return 1e-7 * square / sqrt((double)D); }

bool krein__laprls_open(const krein_laprls *s) { return s->job->lambda < 0 || isnan(s->lambda_i); }

bool krein__laprls_looks(const krein_laprls *s) {
    return krein__laprls_open(s) || krein__laprls_by_folds(s);
}

double krein__laprls_choose_bytes(int64_t rows, int64_t D) {
    double M = (double)krein__min(rows, KREIN_LAPRLS_CHOICE_ROWS), d = (double)D;
    return 8 * (d * d + M * d + 4 * M * M) + 16 * M * KREIN_PATH_MAX * 8;
}

krein_status krein__laprls_deform(krein_ctx *ctx, int64_t D, const double *GL, double rho,
                                  int64_t m, const double *Z, double *U, double *V, double *K) {
    krein_status st = KREIN_OK;
    double trace = 0;
    for (int64_t i = 0; i < D; i++) trace += rho * GL[i * D + i];
    /* Float32 sums leave GL with small negative eigenvalues: more on the diagonal where it shows.
     */
    for (double more = 0;; more = fmax(10 * more, 1e-9 * trace / (double)D)) {
        for (int64_t e = 0; e < D * D; e++) U[e] = rho * GL[e];
        for (int64_t i = 0; i < D; i++) U[i * D + i] += 1 + more;
        st = krein__cholesky(ctx, D, U, D, NULL);
        if (st != KREIN_ENUMERIC || more > trace) break;
    }
    TRY(st);
    memcpy(V, Z, (size_t)(m * D) * sizeof *V);
    krein__triangle_solve(ctx, true, D, U, D, m, V, D);
    krein__pgemm(ctx, false, true, m, m, D, 1, V, D, V, D, 0, K, m);
    TRY(krein__poll(ctx));
done:
    return st;
}

typedef struct search {
    krein_laprls *s;
    const krein_laprls_view *view;
    krein_subset subset;
    krein_targets rows; /* the sample */
    int32_t *fold;      /* of its rows, or NULL: leave-one-out */
    double *U, *V, *K;
    krein_path best;
    double rho, least; /* of the best; and of rho = 0: error or loss */
    double nothing;    /* a loss that is none */
} search;

static krein_status kernel_at(search *t, double rho) {
    int64_t m = t->rows.n, D = t->view->D;
    krein_ctx *ctx = t->s->job->ctx;
    if (rho > 0)
        return krein__laprls_deform(ctx, D, t->view->GL, rho, m, t->view->Z, t->U, t->V, t->K);
    if (t->view->K0)
        memcpy(t->K, t->view->K0, (size_t)(m * m) * sizeof *t->K);
    else
        krein__pgemm(ctx, false, true, m, m, D, 1, t->view->Z, D, t->view->Z, D, 0, t->K, m);
    return KREIN_OK;
}

static bool better(const search *t, const krein_path *a, const krein_path *b) {
    double ea = a->error[a->best], eb = b->error[b->best];
    if (t->rows.class && ea != eb) return ea < eb;
    return a->loss[a->best] < b->loss[b->best] && b->loss[b->best] > t->nothing;
}

/* Scores rho at the lambdas of the path, or at all that make sense (n = 0). */
static krein_status score(search *t, double rho, krein_path *p) {
    krein_status st = KREIN_OK;
    krein_job *job = t->s->job;
    krein_ctx *ctx = job->ctx;
    krein__progress(ctx, "leave-one-out", 0, 0);
    TRY(kernel_at(t, rho));
    if (t->fold)
        TRY(krein__dual_cv(ctx, t->K, &t->rows, t->fold, job->folds, p));
    else if (p->n == 1)
        TRY(krein__dual_loo_at(ctx, t->K, &t->rows, p->lambda[0], true, p, NULL));
    else
        TRY(krein__dual_path(ctx, t->K, &t->rows, p));
    for (int64_t l = 0; l < p->n - 1; l++) /* what the features' digits do not say */
        if (p->lambda[l] < t->view->least) p->loss[l] = p->error[l] = INFINITY;
    krein__path_choose(p);
    krein__log(ctx, KREIN_LOG_DEBUG, "%s: lambda_i / (lambda n^2) %g, lambda %g: loss %g, error %g",
               t->s->name, rho, p->lambda[p->best], p->loss[p->best], p->error[p->best]);
    if (rho == 0) t->least = t->rows.class ? p->error[p->best] : sqrt(p->loss[p->best]);
    if (t->best.n == 0 || better(t, p, &t->best)) {
        t->best = *p;
        t->rho = rho;
    }
done:
    return st;
}

/* lambda_i, and lambda where it is free. */
static krein_status over_rho(search *t, double lambda) {
    krein_status st = KREIN_OK;
    int64_t D = t->view->D, count = t->s->laplacian.g ? RHOS : 1;
    double trace = 0;
    for (int64_t i = 0; count > 1 && i < D; i++) trace += t->view->GL[i * D + i];
    if (!(trace > 0)) count = 1;
    for (int64_t i = 0; i < count; i++) {
        double rho = i == 0 ? 0 : pow(10, (double)i - 3) * (double)D / trace;
        krein_path path = {0};
        if (lambda > 0) {
            path.n = 1;
            path.lambda[0] = lambda;
        }
        TRY(score(t, rho, &path));
        if (i > 0 && i == count - 1 && t->rho == rho && count < RHOS_MOST) count++;
    }
done:
    return st;
}

/* lambda alone, at mu. */
static krein_status over_lambda(search *t, double mu) {
    krein_status st = KREIN_OK;
    int64_t m = t->rows.n, D = t->view->D;
    double top = 0;
    krein_path all = {0};
    for (int64_t e = 0; e < m * D; e++) top += t->view->Z[e] * t->view->Z[e] / (double)m;
    for (int64_t i = 0; i < LAMBDAS; i++) {
        krein_path path = {.n = 1};
        path.lambda[0] = krein__round_digits(top * pow(10, -(double)i / 2), 3);
        TRY(score(t, mu / path.lambda[0], &path));
        all.lambda[LAMBDAS - 1 - i] = path.lambda[0];
        all.loss[LAMBDAS - 1 - i] = path.loss[0];
        all.error[LAMBDAS - 1 - i] = path.error[0];
        all.n = LAMBDAS;
    }
    t->best = all;
    krein__path_choose(&t->best);
done:
    return st;
}

/* The folds of the sample's rows. */
static krein_status pick_folds(const search *t, int64_t folds, int32_t *out) {
    krein_job *job = t->s->job;
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    int32_t *fold = NULL;
    NEW(fold, job->n);
    TRY(krein__krr_folds(job, folds, fold));
    for (int64_t i = 0; i < t->rows.n; i++) out[i] = fold[t->s->some[i]];
done:
    krein__free(ctx, fold);
    return st;
}

static krein_status begin(search *t) {
    krein_laprls *s = t->s;
    krein_job *job = s->job;
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    int64_t m = s->nsome, D = t->view->D;
    NEW(t->U, D * D);
    NEW(t->V, m * D);
    NEW(t->K, m * m);
    TRY(krein__subset_begin(ctx, &s->rows, &t->subset));
    t->rows = krein__subset_pick(&s->rows, s->some, m, &t->subset);
    for (int64_t c = 0; c < s->form.k; c++)
        t->nothing += NOTHING * s->form.square[c] / (double)s->form.k;
    if (job->folds > 0) {
        NEW(t->fold, m);
        TRY(pick_folds(t, job->folds, t->fold));
    }
done:
    return st;
}

/* Probabilities by scores of folds; rows of a fold that leaves too few to learn from count for
 * nothing. */
static krein_status score_folds(search *t, double share) {
    krein_laprls *s = t->s;
    krein_job *job = s->job;
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    int64_t m = t->rows.n, k = t->rows.k, folds = krein__krr_calibration_folds(job->folds, true, m);
    int32_t *fold = NULL;
    double *score = NULL, *weight = NULL;
    NEW(fold, m);
    NEW(score, m * k);
    NEW(weight, m);
    TRY(pick_folds(t, folds, fold));
    TRY(kernel_at(t, s->lambda_i / s->square / job->lambda));
    TRY(krein__dual_folds_at(ctx, t->K, &t->rows, fold, folds, job->lambda / share, score));
    for (int64_t i = 0; i < m; i++) {
        weight[i] = isfinite(score[i * k]) ? s->weight[s->some[i]] : 0;
        for (int64_t c = 0; c < k && weight[i] == 0; c++) score[i * k + c] = 0;
    }
    TRY(krein__krr_calibrate(job, folds, m, score, t->rows.class, t->rows.y, weight));
done:
    krein__free(ctx, fold);
    krein__free(ctx, score);
    krein__free(ctx, weight);
    return st;
}

static krein_status choose(search *t, double share) {
    krein_laprls *s = t->s;
    krein_job *job = s->job;
    krein_status st = KREIN_OK;
    bool lambda = job->lambda < 0, both = lambda && isnan(s->lambda_i);
    double given = job->lambda;
    krein_path alone = {0};
    if (isnan(s->lambda_i))
        TRY(over_rho(t, given > 0 ? given / share : -1));
    else if (s->lambda_i == 0)
        TRY(score(t, 0, &alone));
    else
        TRY(over_lambda(t, s->lambda_i / s->square / share));
    for (int64_t l = 0; l < t->best.n; l++)
        t->best.lambda[l] = krein__round_digits(t->best.lambda[l] * share, 3);
    krein__krr_report(job, &t->best);
    if (!lambda) job->lambda = given;
    if (isnan(s->lambda_i)) s->lambda_i = krein__round_digits(t->rho * job->lambda * s->square, 3);
    if (s->laplacian.g)
        krein__log(job->ctx, KREIN_LOG_INFO, "%s: lambda %g, lambda_i %g: %s %.4g%s", s->name,
                   job->lambda, s->lambda_i, t->fold ? "folds" : "leave-one-out", job->loo,
                   both && s->lambda_i == 0 ? ", the best without the graph" : "");
    if (both && s->lambda_i > 0 && isfinite(t->least))
        krein__log(job->ctx, KREIN_LOG_INFO, "%s: without the graph %.4g", s->name, t->least);
done:
    return st;
}

krein_status krein__laprls_choose(krein_laprls *s, const krein_laprls_view *view) {
    krein_ctx *ctx = s->job->ctx;
    krein_status st = KREIN_OK;
    search t = {.s = s, .view = view, .least = NAN};
    TRY(begin(&t));
    double share = krein__total_weight(&t.rows) / krein__total_weight(&s->rows);
    if (krein__laprls_open(s)) TRY(choose(&t, share));
    if (krein__laprls_by_folds(s)) TRY(score_folds(&t, share));
done:
    krein__subset_end(ctx, &t.subset);
    krein__free(ctx, t.fold);
    krein__free(ctx, t.U);
    krein__free(ctx, t.V);
    krein__free(ctx, t.K);
    return st;
}
