/* easymkl -- weights by the margin of the sum of the kernels (aiolli2015)
 *
 *     g   = argmin (1 - lambda) g'Y K Y g + lambda sum_i g_i^2 / w_i,   K = sum_r K_r,
 *           g >= 0, sum of g over each class 1
 *     u_r = g'Y K_r Y g,   mu ~ u
 *
 * In the space of the sum, w = sum_i y_i g_i phi(x_i) joins two points of the softened hulls of the
 * classes, and u_r is the share of kernel r in |w|^2. Weights sum to one, as in MKLpy; the paper
 * has their squares sum to one. Several classes: u of each against the rest, of sum one, and their
 * mean. A class without rows is left out. Row weights w count as repeated rows (solve/hulls.c).
 *
 * On matrices: solve/hulls.h. On features Z = [Z_1 ... Z_M] it is a machine with squared hinge loss
 * and intercept. For lambda < 1 let rho = lambda / (1 - lambda), C = 1 / (2 rho). The dual of
 *
 *     min 1/2 |v|^2 + C sum_i w_i max(0, 1 - y_i (v'z_i + b))^2
 * is  max 1'a - 1/2 a'Y (ZZ' + rho W^-1) Y a   over a >= 0, y'a = 0,   with v = Z'Ya.
 *
 * y'a = 0: both classes have the same sum of a, say t, so a = t g with g as above, and the dual is
 * max over g and t of 2t - t^2/2 q(g), q = g'Y (ZZ' + rho W^-1) Y g. The best t is 2 / q(g), which
 * leaves 2 / q(g): g is the minimum of q, the one above, and v = t Z'Yg, so |v_r|^2 = t^2 u_r. An
 * offset taken off all z_i changes neither (y'a = 0; b follows). lambda = 1: g are weights
 * over those of the classes, v the difference of their means.
 *
 * 2 n^2 M flops for the sum and the u_r (each matrix is read once, and half of it again), and those
 * of the solver. */
#include "combine/combine.h"
#include "learn/examples.h"
#include "num/blas.h"
#include "solve/hulls.h"
#include "solve/machine.h"

#include <math.h>
#include <string.h>

/* Gap of the hulls, and of machines where features are few or many: an error of v, hence of the
 * weights, is at most about the root of it, and by experience far below. */
static const double TOL = 1e-7, TOL_FEW = 1e-11, TOL_MANY = 1e-3;
static const double FEW = 1 << 20; /* features in all */
static const double VISITS = 100;  /* of every row where they are many: then it is near enough */

enum { COLUMNS = 256 };

/* Adds u / sum u to mu; u that are all zero say nothing. */
static void add_share(int64_t M, const double *u, double *mu) {
    double sum = 0;
    for (int64_t r = 0; r < M; r++) sum += u[r];
    for (int64_t r = 0; r < M && sum > 0; r++) mu[r] += u[r] / sum;
}

/* Of the rows with a weight. */
static bool both_signs(int64_t n, const double *y, const double *weight) {
    bool there[2] = {false, false};
    for (int64_t i = 0; i < n; i++)
        if (!weight || weight[i] > 0) there[y[i] > 0] = true;
    return there[0] && there[1];
}

/* ---- matrices ----------------------------------------------------------- */

/* Whole rows, though half would do: long runs of memory, and nothing to mirror. */
static void sum_matrices(const krein_bank *b, double *sum) {
    int64_t n = b->rows.n;
#pragma omp parallel for num_threads(b->ctx->threads) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        double *row = sum + i * n;
        memcpy(row, b->K[0] + i * n, (size_t)n * sizeof *row);
        for (int64_t m = 1; m < b->M; m++)
            for (int64_t j = 0; j < n; j++) row[j] += b->K[m][i * n + j];
    }
}

/* u_r = v'K_r v, from the upper triangles; part: n numbers of scratch for each matrix. */
static void forms(const krein_bank *b, const double *v, double *part, double *u) {
    int64_t n = b->rows.n;
    krein_compute compute = krein__compute_begin();
#pragma omp parallel num_threads(b->ctx->threads)
    {
        krein__worker_begin();
#pragma omp for collapse(2) schedule(dynamic, 64)
        for (int64_t r = 0; r < b->M; r++)
            for (int64_t i = 0; i < n; i++) {
                const double *K = b->K[r] + i * n;
                double rest = v[i] == 0 ? 0 : krein__ddot(n - i - 1, K + i + 1, v + i + 1);
                part[r * n + i] = v[i] * (K[i] * v[i] + 2 * rest);
            }
        krein__worker_end(compute);
    }
    krein__compute_end(compute);
    for (int64_t r = 0; r < b->M; r++) {
        u[r] = 0;
        for (int64_t i = 0; i < n; i++) u[r] += part[r * n + i];
        u[r] = fmax(0, u[r]);
    }
}

static krein_status by_matrices(krein_bank *b, double lambda, double *mu) {
    krein_ctx *ctx = b->ctx;
    krein_status st = KREIN_OK;
    int64_t n = b->rows.n, problems = krein__bank_problems(b);
    double *sum = NULL, *y = NULL, *g = NULL, *part = NULL, *u = NULL;
    NEW(y, n);
    NEW(g, n);
    NEW(part, n * b->M);
    NEW(u, b->M);
    if (lambda < 1) {
        NEW(sum, n * n);
        sum_matrices(b, sum);
    }
    for (int64_t p = 0; p < problems; p++) {
        krein__bank_signs(b, p, n, b->rows.class, y);
        if (!both_signs(n, y, b->rows.weight)) continue;
        krein_hulls h = {.n = n,
                         .K = sum,
                         .y = y,
                         .weight = b->rows.weight,
                         .lambda = lambda,
                         .tol = TOL,
                         .g = g};
        TRY(krein__hulls(ctx, &h));
        krein__log(ctx, h.converged ? KREIN_LOG_DEBUG : KREIN_LOG_WARNING,
                   "easymkl: %s a relative gap of %.2g after %lld rounds",
                   h.converged ? "hulls to" : "stopped at", h.gap / h.value, (long long)h.rounds);
        for (int64_t i = 0; i < n; i++) y[i] *= g[i];
        forms(b, y, part, u);
        add_share(b->M, u, mu);
        krein__progress(ctx, "weighing kernels", (double)(p + 1), (double)problems);
    }
done:
    krein__free(ctx, sum);
    krein__free(ctx, y);
    krein__free(ctx, g);
    krein__free(ctx, part);
    krein__free(ctx, u);
    return st;
}

/* ---- features ----------------------------------------------------------- */

/* One machine for each problem that has both classes. */
typedef struct set {
    krein_examples ex;
    int64_t count;
    krein_machine *m;
} set;

static void set_end(krein_ctx *ctx, set *s) {
    for (int64_t p = 0; p < s->count; p++) {
        krein__free(ctx, s->m[p].dual);
        krein__free(ctx, s->m[p].w);
    }
    krein__free(ctx, s->m);
    krein__examples_close(&s->ex);
}

static krein_status set_add(krein_ctx *ctx, set *s, const double *y, double C) {
    krein_status st = KREIN_OK;
    krein_machine *m = &s->m[s->count++];
    m->n = s->ex.n;
    NEW(m->dual, m->n);
    ZNEW(m->w, s->ex.features.D);
    for (int64_t i = 0; i < m->n; i++) {
        double weight = s->ex.weight ? s->ex.weight[i] : 1;
        m->dual[i] = (krein_dual){(int32_t)i, (float)y[i], weight * C, 0};
    }
done:
    return st;
}

/* A sample, where the machines of all rows would take minutes. */
static int64_t rows_of(const krein_bank *b, int64_t problems) {
    const int64_t most = (int64_t)1 << 30, least = 8192;
    return krein__min(b->job->n, krein__max(least, most / (b->map->D * problems)));
}

static krein_status set_begin(krein_bank *b, double lambda, set *s) {
    krein_ctx *ctx = b->ctx;
    krein_status st = KREIN_OK;
    int64_t problems = krein__bank_problems(b);
    double *y = NULL;
    krein_job job = *b->job;
    krein_model model = *job.model;
    model.map = (krein_map *)b->map;
    job.model = &model;
    int64_t rows = rows_of(b, problems);
    if (rows < job.n)
        krein__log(ctx, KREIN_LOG_INFO, "weights of the kernels from %lld of the rows",
                   (long long)rows);
    TRY(krein__examples_open(&job, rows, true, &s->ex));
    NEW(y, s->ex.n);
    ZNEW(s->m, problems);
    for (int64_t p = 0; p < problems; p++) {
        krein__bank_signs(b, p, s->ex.n, s->ex.class, y);
        if (both_signs(s->ex.n, y, s->ex.weight))
            TRY(set_add(ctx, s, y, (1 - lambda) / (2 * lambda)));
    }
done:
    krein__free(ctx, y);
    return st;
}

static krein_status train(krein_bank *b, set *s) {
    krein_status st = KREIN_OK;
    bool few = (double)s->ex.n * (double)s->ex.features.D <= FEW;
    krein_machine_options o = {.loss = KREIN_LOSS_HINGE2,
                               .intercept = true,
                               .tol = few ? TOL_FEW : TOL_MANY,
                               .deadline = b->job->deadline,
                               .seed = b->job->seed,
                               .work = few ? 0 : VISITS,
                               .what = "weighing kernels"};
    double worst = 0;
    TRY(krein__machines_train(&s->ex.features, s->m, s->count, &o));
    for (int64_t p = 0; p < s->count; p++)
        worst = fmax(worst, (s->m[p].primal - s->m[p].dual_value) / s->m[p].primal);
    krein__log(b->ctx, KREIN_LOG_DEBUG, "easymkl: machines to a relative gap of %.2g", worst);
done:
    return st;
}

/* w of each machine: the mean of its positive rows less that of the others. */
static krein_status means(set *s) {
    krein_ctx *ctx = s->ex.ctx;
    krein_status st = KREIN_OK;
    krein_features *x = &s->ex.features;
    int64_t D = x->D;
    double *count = NULL;
    ZNEW(count, 2 * s->count);
    for (int64_t p = 0; p < s->count; p++)
        for (int64_t i = 0; i < x->n; i++)
            count[2 * p + (s->m[p].dual[i].target > 0)] += s->ex.weight ? s->ex.weight[i] : 1;
    for (int64_t block = 0; block < x->blocks; block++) {
        const float *z;
        int64_t n, first = block * x->rows;
        TRY(krein__features_block(x, block, &z, &n));
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
        for (int64_t from = 0; from < D; from += COLUMNS)
            for (int64_t i = 0; i < n; i++)
                for (int64_t p = 0; p < s->count; p++) {
                    bool positive = s->m[p].dual[first + i].target > 0;
                    double weight = s->ex.weight ? s->ex.weight[first + i] : 1, *w = s->m[p].w;
                    double a = (positive ? weight : -weight) / count[2 * p + positive];
                    for (int64_t j = from; j < krein__min(D, from + COLUMNS); j++)
                        w[j] += a * (double)z[i * D + j];
                }
    }
done:
    krein__free(ctx, count);
    return st;
}

static krein_status by_features(krein_bank *b, double lambda, double *mu) {
    krein_ctx *ctx = b->ctx;
    krein_status st = KREIN_OK;
    set s = {0};
    double *u = NULL;
    NEW(u, b->M);
    TRY(set_begin(b, lambda, &s));
    TRY(lambda < 1 ? train(b, &s) : means(&s));
    for (int64_t p = 0; p < s.count; p++) {
        for (int64_t r = 0; r < b->M; r++) {
            u[r] = 0;
            for (int64_t j = b->first[r]; j < b->first[r + 1]; j++)
                u[r] += s.m[p].w[j] * s.m[p].w[j];
        }
        add_share(b->M, u, mu);
    }
done:
    set_end(ctx, &s);
    krein__free(ctx, u);
    return st;
}

enum { LAMBDA = KREIN_WEIGHING_OWN };

static krein_status find(krein_bank *b, const krein_values *v, double *mu) {
    memset(mu, 0, (size_t)b->M * sizeof *mu);
    return b->K ? by_matrices(b, v->number[LAMBDA], mu) : by_features(b, v->number[LAMBDA], mu);
}

static void cost(const krein_bank_size *s, krein_cost *out) {
    double D = s->side, k = (double)s->k;
    out->flops += VISITS * s->rows * D * (k + 1);
    if (s->matrices) /* the sum of the matrices, and what the solver keeps of it (solve/hulls.c) */
        out->bytes += 16 * D * D + 8 * D * ((double)s->M + 64);
    else
        out->bytes += krein__examples_bytes(s->map, s->n) + 32 * D * (k + 2) +
                      krein__machines_bytes(s->map->ctx, s->n, (int64_t)D, s->k);
}

static const krein_option options[] = {
    KREIN_WEIGHING_OPTIONS,
    {.name = "lambda",
     .value = 0.1,
     .low = 0,
     .low_open = true,
     .high = 1,
     .help = "from the margin (0) to the distance of the classes' means (1)"},
    {0}};

const krein_weighing_class krein__weigh_easymkl = {
    .cls = {"easymkl", "by the margin between the classes", "aiolli2015", options, NULL},
    .tasks = KREIN_FOR_CLASSES,
    .row_weights = true,
    .find = find,
    .cost = cost};
