/* mcmkl -- weights of bounded p-norm, learned with the multi-class machine of Crammer and Singer on
 * the sum (zien2007; kloft2011 for p > 1)
 *
 *     min over theta >= 0, |theta|_p <= r, f_jm in H_m, b:
 *         1/2 sum_j sum_m |f_jm|^2 / theta_m
 *             + C sum_i w_i max over j of (1 - [j = y_i] + f_j(x_i) - f_{y_i}(x_i)),
 *     f_j = b_j + sum_m f_jm,   j a class, m a kernel, r = M^(1/p - 1) as in lp.c
 *
 * For given theta it is the machine of K_theta = sum theta_m K_m (solve/multiclass.c), with the
 * value J(theta), convex and falling in theta. Any alpha that is feasible in its dual, s the sum of
 * the alpha_iy and g_m = sum_j alpha_j'K_m alpha_j, bounds it from below for all theta at once:
 *
 *     J(theta) >= s - 1/2 sum_m theta_m g_m,                                          (the cut)
 *
 * so the optimum is at least s - r/2 |g|_q, 1/p + 1/q = 1 (the dual of the whole; of the t alpha, t
 * <= 1, the best is taken). It is at most the primal value of the machine. The weights end where
 * the two bounds are within TOL of each other. Machine and weights take turns, each machine from
 * the last one's alpha.
 *
 *  p > 1  For given f the best weights are (kloft2011)
 *             theta_m ~ (theta_m^2 g_m)^(1/(p+1)),   |f_m|^2 = theta_m^2 g_m.                  (1)
 *         That never raises J, but for what the machine leaves of its gap. Steps are (1) stretched
 *         in log theta, further while J falls; after one that raised it (1) itself. 3 to 10 turns.
 *  p = 1  (1) is slow there. All cuts so far, as zien2007 have them, but not the least of a linear
 *         program over them, which may be far off: of the weights whose cuts are all below a level
 *         half way between the bounds those that are nearest to the best so far (the level method,
 *         xu2008). A nearest point under linear constraints is least squares with unknowns >= 0
 *         (lawson1974, chapter 23); the multipliers of the cuts weigh them to a cut that gives a
 *         better lower bound, and where there is no such point the level itself is one. 10 to 20
 *         turns. In the end weights below a fiftieth of the largest are set to zero, where the
 *         bounds hold without them.
 *
 * C is the option, or that of `lambda`, or chosen by cross-validation of the machine with the mean
 * of the kernels, on at most 1,000 rows. Two classes have one machine with that C.
 *
 * Kernel matrices of all rows, or of a sample as in bank.c; features of a map are not used. A turn
 * takes M (2 k + 2) n^2 flops and the machine. */
#include "combine/combine.h"
#include "combine/lp.h"
#include "learn/feature_machines.h"
#include "learn/kernel_multiclass.h"
#include "num/blas.h"
#include "num/nnls.h"

#include <math.h>
#include <string.h>

enum { TURNS = 100, LEVELS = 20 };
static const double TOL = 1e-3;               /* relative gap between the bounds */
static const double FIRST = 1e-2, PART = 0.1; /* gap of the machines: first, and of the last gap */
static const double STRETCH = 1.5, MOST = 32; /* of a step after another that was good; at most */
static const double SMALL = 0.02;             /* of the largest weight: may be left out */
static const double LEVEL = 0.5;              /* between the bounds */

typedef struct search {
    krein_ctx *ctx;
    const krein_bank *b;
    int64_t n, k, M; /* rows, classes, kernels */
    double p, r;
    double *K;                /* n x n: K_theta */
    double *cost, *product;   /* n; k x n */
    double *theta, *g;        /* M; and g there */
    double *next, *g_next;    /* M */
    double *best;             /* M: the weights of the least J */
    krein_multiclass machine; /* warm */
    double upper, lower;      /* bounds */
    double value, stretch;    /* J at theta; of the next step */
    int64_t cuts;             /* turns so far, each with its */
    double *sum, *slope;      /* s; g, M a cut */
} search;

/* ---- the machine -------------------------------------------------------- */

static void add_matrices(search *s, const double *theta) {
    int64_t n = s->n;
#pragma omp parallel for num_threads(s->ctx->threads) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        double *row = s->K + i * n;
        memset(row, 0, (size_t)n * sizeof *row);
        for (int64_t m = 0; m < s->M; m++)
            for (int64_t j = 0; j < n; j++) row[j] += theta[m] * s->b->K[m][i * n + j];
    }
}

static void norms(search *s, double *g) {
    const double *alpha = s->machine.alpha;
    for (int64_t m = 0; m < s->M; m++) {
        krein__pgemm(s->ctx, true, false, s->k, s->n, s->n, 1, alpha, s->k, s->b->K[m], s->n, 0,
                     s->product, s->n);
        g[m] = 0;
        for (int64_t e = 0; e < s->n * s->k; e++)
            g[m] += alpha[e] * s->product[e % s->k * s->n + e / s->k];
        g[m] = fmax(0, g[m]); /* rounding */
    }
}

/* The best bound among those of t alpha. */
static double lower_bound(const search *s, double sum, const double *g) {
    double size = s->r * krein__lp_norm(s->M, g, krein__lp_dual(s->p));
    double t = size > sum ? sum / size : 1;
    return t * sum - t * t / 2 * size;
}

/* g at theta, the cut and the bounds. */
static krein_status look(search *s, const double *theta, double tol, double *g) {
    krein_status st = KREIN_OK;
    double sum = 0;
    add_matrices(s, theta);
    s->machine.tol = tol;
    TRY(krein__multiclass(s->ctx, &s->machine));
    norms(s, g);
    for (int64_t i = 0; i < s->n; i++) sum += s->machine.alpha[i * s->k + s->machine.class[i]];
    s->sum[s->cuts] = sum;
    memcpy(s->slope + s->cuts++ * s->M, g, (size_t)s->M * sizeof *g);
    s->lower = fmax(s->lower, lower_bound(s, sum, g));
    if (s->machine.primal < s->upper) {
        s->upper = s->machine.primal;
        memcpy(s->best, theta, (size_t)s->M * sizeof *theta);
    }
done:
    return st;
}

/* ---- steps -------------------------------------------------------------- */

/* next: (1) from theta, stretched. */
static void simple_step(search *s) {
    double most = krein__lp_norm(s->M, s->g, INFINITY), large = -INFINITY;
    for (int64_t m = 0; m < s->M; m++) {
        double g = fmax(s->g[m], 1e-30 * most), t = log(s->theta[m]);
        s->next[m] = t + s->stretch * (log(g) - (s->p - 1) * t) / (s->p + 1);
        large = fmax(large, s->next[m]);
    }
    for (int64_t m = 0; m < s->M; m++) s->next[m] = exp(s->next[m] - large);
    krein__lp_onto(s->M, s->p, s->next);
}

/* Where it ended: taken, or one that raised J by too long a step taken back. */
static void judge(search *s) {
    double most = s->p > 1 ? fmin(MOST, (s->p + 1) / (s->p - 1)) : MOST;
    bool fell = s->machine.primal <= s->value;
    if (!fell && s->stretch > 1) {
        s->stretch = fmax(1, s->stretch / 4);
        return;
    }
    s->stretch = fell ? fmin(most, STRETCH * s->stretch) : 1;
    s->value = s->machine.primal;
    memcpy(s->theta, s->next, (size_t)s->M * sizeof *s->theta);
    memcpy(s->g, s->g_next, (size_t)s->M * sizeof *s->g);
}

/* Least squares: the columns are constraints a'x >= h of x = theta - best, with h below a. In units
 * of the upper bound. */
static void constraints(const search *s, double level, double *A) {
    int64_t M = s->M, m = M + 1, T = s->cuts;
    memset(A, 0, (size_t)(m * (T + M + 1)) * sizeof *A);
    for (int64_t t = 0; t < T; t++) { /* g_t'theta / 2 >= s_t - level */
        double *a = A + t * m;
        a[M] = (s->sum[t] - level) / s->upper;
        for (int64_t j = 0; j < M; j++) {
            a[j] = s->slope[t * M + j] / (2 * s->upper);
            a[M] -= a[j] * s->best[j];
        }
    }
    double *all = A + (T + M) * m; /* their sum is at most r */
    for (int64_t j = 0; j < M; j++) {
        double *a = A + (T + j) * m; /* theta >= 0 */
        a[j] = 1;
        a[M] = -s->best[j];
        all[j] = -1;
        all[M] += s->best[j];
    }
    all[M] -= s->r;
}

/* The bound of the cuts, each with its multiplier as the weight. */
static void bound_of_cuts(search *s, const double *multiplier) {
    double total = 0, most = 0, sum = 0;
    for (int64_t t = 0; t < s->cuts; t++) total += multiplier[t];
    if (!(total > 0)) return;
    for (int64_t j = 0; j < s->M; j++) {
        double g = 0;
        for (int64_t t = 0; t < s->cuts; t++) g += multiplier[t] / total * s->slope[t * s->M + j];
        most = fmax(most, g);
    }
    for (int64_t t = 0; t < s->cuts; t++) sum += multiplier[t] / total * s->sum[t];
    s->lower = fmax(s->lower, sum - s->r / 2 * most);
}

/* next: the weights nearest to the best ones with all cuts below the level. False: there are none,
 * or they are as far as rounding. */
static krein_status project(search *s, double level, double *A, double *x, bool *found) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    int64_t M = s->M, m = M + 1, columns = s->cuts + M + 1;
    double *f = NULL, *rest = NULL, size = 0;
    ZNEW(f, m);
    ZNEW(rest, m);
    constraints(s, level, A);
    f[M] = 1;
    TRY(krein__nnls(ctx, m, columns, A, f, x));
    for (int64_t j = 0; j < m; j++) {
        for (int64_t c = 0; c < columns; c++) rest[j] += A[c * m + j] * x[c];
        rest[j] -= f[j];
        size += rest[j] * rest[j];
    }
    *found = size > 1e-16 && rest[M] < 0;
    for (int64_t j = 0; j < M && *found; j++) s->next[j] = fmax(0, s->best[j] - rest[j] / rest[M]);
    if (*found) krein__lp_onto(M, s->p, s->next);
    bound_of_cuts(s, x);
done:
    krein__free(ctx, f);
    krein__free(ctx, rest);
    return st;
}

static krein_status level_step(search *s, bool *found) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    int64_t columns = s->cuts + s->M + 1;
    double *A = NULL, *x = NULL;
    *found = false;
    NEW(A, (s->M + 1) * columns);
    NEW(x, columns);
    for (int tries = 0; tries < LEVELS && !*found; tries++) {
        double level = s->lower + LEVEL * (s->upper - s->lower);
        TRY(project(s, level, A, x, found));
        if (!*found) s->lower = fmax(s->lower, level);
    }
done:
    krein__free(ctx, A);
    krein__free(ctx, x);
    return st;
}

/* Steps stop short of zero. Kernels of small weight are left out where the bounds hold without
 * them. */
static krein_status leave_out(search *s) {
    krein_status st = KREIN_OK;
    double most = krein__lp_norm(s->M, s->best, INFINITY), before = s->upper, sum = 0;
    int64_t small = 0;
    for (int64_t m = 0; m < s->M; m++) {
        s->next[m] = s->best[m] >= SMALL * most ? s->best[m] : 0;
        small += s->next[m] == 0 && s->best[m] >= s->r * 1e-9;
        sum += s->next[m];
    }
    if (small == 0) return KREIN_OK;
    for (int64_t m = 0; m < s->M; m++) s->next[m] *= s->r / sum;
    TRY(look(s, s->next, PART * TOL, s->g_next));
    if (s->machine.primal - s->lower > fmax(before - s->lower, TOL * s->upper)) return KREIN_OK;
    memcpy(s->best, s->next, (size_t)s->M * sizeof *s->best);
done:
    return st;
}

static krein_status minimise(search *s) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    double gap;
    s->stretch = 1;
    for (int64_t m = 0; m < s->M; m++) s->theta[m] = 1 / (double)s->M;
    TRY(look(s, s->theta, FIRST, s->g));
    s->value = s->machine.primal;
    for (;;) {
        bool level = s->p == 1;
        gap = s->upper > 0 ? (s->upper - s->lower) / s->upper : 0;
        krein__log(ctx, KREIN_LOG_DEBUG, "mcmkl, turn %lld: between %.8g and %.8g",
                   (long long)s->cuts, s->lower, s->upper);
        krein__progress(ctx, "weighing kernels", (double)s->cuts, (double)TURNS);
        if (!(gap > TOL) || s->cuts >= TURNS || krein__enough(ctx)) break;
        if (level) TRY(level_step(s, &level));
        if (!level) simple_step(s);
        TRY(look(s, s->next, fmax(PART * TOL, fmin(FIRST, PART * gap)), s->g_next));
        if (!level) judge(s);
        TRY(krein__poll(ctx));
    }
    if (s->p == 1 && s->cuts < TURNS) TRY(leave_out(s));
    krein__log(ctx, gap > 10 * TOL ? KREIN_LOG_WARNING : KREIN_LOG_INFO,
               "mcmkl: weights within %.2g of the least objective after %lld turns", gap,
               (long long)s->cuts);
done:
    return st;
}

/* ---- C ------------------------------------------------------------------ */

/* Weights of the rows, of mean one; *mean: what they were. */
static krein_status row_weights(krein_ctx *ctx, const krein_probe *rows, double **out,
                                double *mean) {
    krein_status st = KREIN_OK;
    double *w = NULL, sum = 0;
    NEW(w, rows->n);
    for (int64_t i = 0; i < rows->n; i++) sum += w[i] = rows->weight ? rows->weight[i] : 1;
    *mean = sum / (double)rows->n;
    if (!(sum > 0)) {
        st = krein__fail(ctx, KREIN_EDATA, "all row weights are zero");
        goto done;
    }
    for (int64_t i = 0; i < rows->n; i++) w[i] /= *mean;
    *out = w;
    w = NULL;
done:
    krein__free(ctx, w);
    return st;
}

/* By cross-validation of the machine with K_theta, on a sample. */
static krein_status choose_C(const search *s, double *weight, double unit, double *C) {
    krein_status st = KREIN_OK;
    const krein_probe *rows = &s->b->rows;
    krein_job job = *s->b->job;
    krein_model model = *job.model;
    krein_exact all = {.ctx = s->ctx,
                       .n = s->n,
                       .k = rows->k,
                       .K = s->K,
                       .y = rows->y,
                       .weight = weight,
                       .class = rows->class,
                       .group = rows->group};
    krein_kernel_problem p = {.ctx = s->ctx,
                              .job = &job,
                              .k = rows->k,
                              .classes = rows->classes,
                              .multi = KREIN_MULTI_CRAMMER,
                              .intercept = true,
                              .unit = unit,
                              .scale = 1,
                              .tol = TOL,
                              .all = all};
    bool few = s->n <= KREIN_BANK_SAMPLE;
    job.model = &model;
    model.head = KREIN_HEAD_BEST;
    if (!few) TRY(krein__exact_sample(&all, job.seed, KREIN_BANK_SAMPLE, &p.all));
    TRY(krein__kernel_choose_C(&p, C));
    krein__log(s->ctx, KREIN_LOG_INFO, "mcmkl: C = %g", *C);
done:
    if (!few) krein__exact_close(&p.all);
    return st;
}

/* ---- all of it ---------------------------------------------------------- */

enum { P_ = KREIN_WEIGHING_OWN, COST };

static krein_status search_begin(search *s, double C) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    krein_job *job = s->b->job;
    int64_t M = s->M;
    double *weight = NULL, unit = 1, total;
    NEW(s->K, s->n * s->n);
    NEW(s->cost, s->n);
    NEW(s->product, s->k * s->n);
    NEW(s->theta, M);
    NEW(s->g, M);
    NEW(s->next, M);
    NEW(s->g_next, M);
    NEW(s->best, M);
    NEW(s->sum, TURNS);
    NEW(s->slope, TURNS * M);
    ZNEW(s->machine.alpha, s->n * s->k);
    NEW(s->machine.w, s->n * s->k);
    ZNEW(s->machine.b, s->k);
    TRY(row_weights(ctx, &s->b->rows, &weight, &unit));
    TRY(krein__job_weight(job, &total));
    if (isnan(C) && job->lambda > 0) C = 1 / (2 * job->lambda * total);
    if (!isnan(C)) C *= total / ((double)s->n * unit); /* the same lambda on a sample */
    if (isnan(C)) {
        for (int64_t m = 0; m < M; m++) s->theta[m] = 1 / (double)M;
        add_matrices(s, s->theta);
        TRY(choose_C(s, weight, unit, &C));
    }
    /* of two classes as in learn/kernel_multiclass.c */
    for (int64_t i = 0; i < s->n; i++) s->cost[i] = C * unit * weight[i] / (s->k == 2 ? 2 : 1);
done:
    krein__free(ctx, weight);
    return st;
}

static void search_end(search *s) {
    krein_ctx *ctx = s->ctx;
    void *all[] = {
        s->K,    s->cost, s->product, s->theta,         s->g,         s->next,     s->g_next,
        s->best, s->sum,  s->slope,   s->machine.alpha, s->machine.w, s->machine.b};
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) krein__free(ctx, all[i]);
}

static krein_status find(krein_bank *given, const krein_values *v, double *mu) {
    krein_ctx *ctx = given->ctx;
    krein_status st = KREIN_OK;
    krein_bank own = {.ctx = ctx,
                      .job = given->job,
                      .M = given->M,
                      .kernel = given->kernel,
                      .scale = given->scale};
    search s = {.ctx = ctx, .b = given, .M = given->M, .p = krein__lp_exponent(v->number[P_])};
    s.r = krein__lp_radius(given->M, s.p);
    s.upper = INFINITY;
    s.lower = -INFINITY;
    if (!given->K) {
        s.b = &own;
        TRY(krein__bank_matrices(&own));
    }
    s.n = s.b->rows.n;
    s.k = s.b->rows.classes;
    TRY(search_begin(&s, v->number[COST]));
    s.machine.n = s.n;
    s.machine.classes = s.k;
    s.machine.K = s.K;
    s.machine.class = s.b->rows.class;
    s.machine.cost = s.cost;
    s.machine.intercept = KREIN_INTERCEPT_FREE;
    s.machine.deadline = given->job->deadline;
    TRY(minimise(&s));
    krein__lp_cut(given->M, s.best, mu);
done:
    search_end(&s);
    krein__bank_clear(&own);
    return st;
}

static void cost(const krein_bank_size *s, krein_cost *out) {
    enum { USUAL = 15 }; /* turns */
    krein_bank_size matrices = *s;
    int64_t n = krein__bank_rows(s->map->ctx, s->n, s->M), k = krein__max(2, s->k);
    double N = (double)n, sample = (double)krein__min(n, KREIN_BANK_SAMPLE);
    matrices.matrices = true;
    matrices.rows = matrices.side = N;
    krein__bank_cost(&matrices, out);
    out->bytes +=
        8 * N * N + 8 * N * (4 * (double)k + 4) + 8 * (double)s->M * (2 * TURNS + 8) +
        16 * (double)s->M * ((double)s->M + 2 * TURNS) +
        fmax(krein__multiclass_bytes(n, k),
             8 * sample * sample + krein__kernel_multiclass_bytes(s->map->ctx, (int64_t)sample, k) +
                 sample * (double)k * 80);
    out->flops += USUAL * ((double)s->M * N * N * (2 * (double)k + 2) + 100 * N * N * (double)k);
}

static const krein_option options[] = {
    KREIN_WEIGHING_OPTIONS,
    KREIN_OPTION_P,
    {.name = "cost",
     .value = NAN,
     .low = 0,
     .high = INFINITY,
     .low_open = true,
     .high_open = true,
     .help = "C of the machine that weighs; by cross-validation with the mean of the kernels when "
             "not given"},
    {0}};

const krein_weighing_class krein__weigh_mcmkl = {
    .cls = {"mcmkl", "the machine of all classes with a p-norm of the weights", "zien2007", options,
            "With base=svm and multi=crammer the machine that weighs is also the one that is "
            "trained on the sum."},
    .tasks = KREIN_FOR_CLASSES,
    .row_weights = true,
    .alone = true,
    .find = find,
    .cost = cost};
