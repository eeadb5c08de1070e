/* laprls_kernel.c -- laprls on the kernel matrix of all nodes
 *
 * Closed form. With K = U'U and rho = mu / lambda the labelled rows have the deformed kernel
 *     K~ = U'(I + rho ULU')^-1 U
 * (laprls_choice.c): the coefficients a of ridge regression with it on the labelled rows (dual.c),
 * and then  alpha = a - rho L g,  g = K~ a on all nodes. With lambda_i = 0 that is krr.
 *
 * Conjugate gradients (solve/manifold.c), preconditioned by the Nystrom approximation from
 * LANDMARKS nodes or a tenth of all, the labelled ones first: where these are all among them the
 * loss is approximated exactly. Its Laplacian term is not that of the graph of the landmarks, which
 * has few edges, but B'LB of all nodes. The same approximation chooses the lambdas. */
#include "learn/laprls.h"
#include "num/blas.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { LANDMARKS = 2000, LANDMARKS_MOST = 3000, SHARE = 10 };

static int64_t landmarks_of(int64_t n) {
    return krein__min(n, krein__max(LANDMARKS, krein__min(LANDMARKS_MOST, n / SHARE)));
}

/* ---- closed form -------------------------------------------------------- */

typedef struct closed {
    krein_laprls *s;
    int64_t n;
    double *U, *T, *GL; /* n x n: factor, its transpose, ULU' */
    double *Z;          /* labelled rows x n: their rows of T */
} closed;

/* K, then its factor: with as little on the diagonal as makes it positive. */
static krein_status factor(closed *c, const double *K, double *U) {
    krein_ctx *ctx = c->s->job->ctx;
    krein_status st = KREIN_ENUMERIC;
    int64_t n = c->n;
    double top = 0;
    for (int64_t i = 0; i < n; i++) top = fmax(top, K[i * n + i]);
    for (double jitter = DBL_EPSILON * (double)n * top; jitter <= 1e-6 * top && st != KREIN_OK;
         jitter *= 10) {
        memcpy(U, K, (size_t)(n * n) * sizeof *U);
        for (int64_t i = 0; i < n; i++) U[i * n + i] += jitter;
        st = krein__cholesky(ctx, n, U, n, NULL);
        if (st != KREIN_OK && st != KREIN_ENUMERIC) return st;
    }
    if (st == KREIN_ENUMERIC)
        st = krein__fail(ctx, KREIN_ENUMERIC,
                         "laprls: the kernel matrix is not positive definite; use another kernel, "
                         "or lambda_i=0");
    return st;
}

static krein_status make_closed(closed *c, const double *K) {
    krein_laprls *s = c->s;
    krein_ctx *ctx = s->job->ctx;
    krein_status st = KREIN_OK;
    int64_t n = c->n, rows = s->rows.n;
    double *LT = NULL;
    NEW(c->U, n * n);
    NEW(c->T, n * n);
    NEW(c->Z, rows * n);
    TRY(factor(c, K, c->U));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) c->T[i * n + j] = j <= i ? c->U[j * n + i] : 0;
    for (int64_t i = 0; i < rows; i++)
        memcpy(c->Z + i * n, c->T + s->points.node[i] * n, (size_t)n * sizeof *c->Z);
    NEW(LT, n * n);
    NEW(c->GL, n * n);
    krein__laplacian_apply(&s->laplacian, n, c->T, LT);
    TRY(krein__poll(ctx));
    krein__pgemm(ctx, true, false, n, n, n, 1, c->T, n, LT, n, 0, c->GL, n);
    TRY(krein__poll(ctx));
done:
    krein__free(ctx, LT);
    return st;
}

/* Kernel values of the labelled rows, from those of the nodes. */
static void labelled(const krein_laprls *s, int64_t m, const int64_t *index, const double *K,
                     double *out) {
    int64_t n = s->points.nodes;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < m; j++)
            out[i * m + j] = K[(int64_t)s->points.node[index ? index[i] : i] * n +
                               s->points.node[index ? index[j] : j]];
}

static krein_status choose_closed(closed *c, const double *K) {
    krein_laprls *s = c->s;
    krein_ctx *ctx = s->job->ctx;
    krein_status st = KREIN_OK;
    int64_t m = s->nsome, n = c->n;
    double *K0 = NULL, *Z = NULL;
    NEW(K0, m * m);
    labelled(s, m, s->some, K, K0);
    if (c->Z) {
        NEW(Z, m * n);
        for (int64_t i = 0; i < m; i++)
            memcpy(Z + i * n, c->Z + s->some[i] * n, (size_t)n * sizeof *Z);
    } else { /* no graph: its sizes are all that is looked at */
        NEW(Z, m);
        for (int64_t i = 0; i < m; i++) Z[i] = sqrt(fmax(K0[i * m + i], 0));
    }
    krein_laprls_view view = {c->Z ? n : 1, c->GL, Z, K0, 0};
    TRY(krein__laprls_choose(s, &view));
done:
    krein__free(ctx, K0);
    krein__free(ctx, Z);
    return st;
}

/* The model at both lambdas. */
static krein_status solve_closed(closed *c, const double *K) {
    krein_laprls *s = c->s;
    krein_model *m = s->job->model;
    krein_ctx *ctx = s->job->ctx;
    krein_status st = KREIN_OK;
    int64_t n = c->n, rows = s->rows.n, k = m->k;
    double rho = s->lambda_i / s->square / s->job->lambda;
    double *small = NULL, *a = NULL, *F = NULL, *V = NULL, *w = NULL, *g = NULL, *Lg = NULL;
    NEW(small, rows * rows);
    NEW(a, rows * k);
    if (rho > 0) {
        NEW(F, n * n);
        NEW(V, rows * n);
        TRY(krein__laprls_deform(ctx, n, c->GL, rho, rows, c->Z, F, V, small));
    } else {
        labelled(s, rows, NULL, K, small);
    }
    if (s->job->probabilities) TRY(krein__laprls_calibrate_kernel(s, small));
    TRY(krein__dual_solve(ctx, small, &s->rows, s->job->lambda, a, m->intercept));
    memset(m->w, 0, (size_t)(n * k) * sizeof *m->w);
    if (rho > 0) {
        NEW(w, k * n);
        NEW(g, n * k);
        NEW(Lg, n * k);
        krein__pgemm(ctx, true, false, k, n, rows, 1, a, k, V, n, 0, w, n);
        krein__triangle_solve(ctx, false, n, F, n, k, w, n);
        krein__pgemm(ctx, false, true, n, k, n, 1, c->T, n, w, n, 0, g, k);
        krein__laplacian_apply(&s->laplacian, k, g, Lg);
        for (int64_t e = 0; e < n * k; e++) m->w[e] = -rho * Lg[e];
    }
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < k; j++) m->w[s->points.node[i] * k + j] += a[i * k + j];
done:;
    void *all[] = {small, a, F, V, w, g, Lg};
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) krein__free(ctx, all[i]);
    return st;
}

static krein_status direct(krein_laprls *s) {
    krein_ctx *ctx = s->job->ctx;
    krein_status st = KREIN_OK;
    closed c = {.s = s, .n = s->points.nodes};
    double *K = NULL;
    NEW(K, c.n * c.n);
    TRY(krein__gram_full(ctx, s->job->model->map->kernel, &s->points.x, &s->points.x, K));
    if (s->laplacian.g && s->lambda_i != 0) TRY(make_closed(&c, K));
    if (krein__laprls_looks(s)) TRY(choose_closed(&c, K));
    TRY(solve_closed(&c, K));
done:
    krein__free(ctx, K);
    krein__free(ctx, c.U);
    krein__free(ctx, c.T);
    krein__free(ctx, c.GL);
    krein__free(ctx, c.Z);
    return st;
}

/* ---- conjugate gradients ------------------------------------------------ */

/* Nodes of the approximation: labelled ones up to two thirds, others at random. */
static krein_status pick(const krein_laprls *s, int64_t m, int64_t *index) {
    krein_ctx *ctx = s->job->ctx;
    krein_status st = KREIN_OK;
    int64_t n = s->points.nodes, counts[2] = {0, 0}, *list[2] = {NULL, NULL}, *chosen = NULL;
    krein_rng g = krein__substream(s->job->seed, KREIN_STREAM_SAMPLE, KREIN_SAMPLE_PRECONDITION);
    NEW(list[0], n);
    NEW(list[1], n);
    NEW(chosen, m);
    for (int64_t i = 0; i < n; i++) {
        int without = !(s->form.share[i] > 0);
        list[without][counts[without]++] = i;
    }
    int64_t with = krein__max(krein__min(counts[0], 2 * m / 3), m - counts[1]);
    krein__rng_choose(g, counts[0], with, chosen);
    for (int64_t i = 0; i < with; i++) index[i] = list[0][chosen[i]];
    krein__rng_choose(g, counts[1], m - with, chosen);
    for (int64_t i = with; i < m; i++) index[i] = list[1][chosen[i - with]];
done:
    krein__free(ctx, list[0]);
    krein__free(ctx, list[1]);
    krein__free(ctx, chosen);
    return st;
}

static krein_status choose_on(krein_laprls *s, const krein_nystrom *B, double *GL) {
    krein_ctx *ctx = s->job->ctx;
    krein_status st = KREIN_OK;
    krein_laprls_view view = {.D = B->m, .GL = GL};
    NEW(view.Z, s->nsome * B->m);
    for (int64_t i = 0; i < s->nsome; i++)
        for (int64_t j = 0; j < B->m; j++)
            view.Z[i * B->m + j] = (double)B->B[s->points.node[s->some[i]] * B->m + j];
    for (int64_t e = 0; e < s->nsome * B->m; e++)
        view.least += view.Z[e] * view.Z[e] / (double)s->nsome;
    view.least = krein__laprls_least(1, view.least); /* what the approximation resolves */
    TRY(krein__laprls_choose(s, &view));
done:
    krein__free(ctx, view.Z);
    return st;
}

/* Nodes in the coordinates of the Nystrom approximation, and g = K alpha there. */
typedef struct fitted {
    const krein_nystrom *B;
    const double *g; /* of all nodes */
    int64_t k;
} fitted;

static krein_status at_nodes(void *user, int64_t m, const int64_t *node, double *z, double *g) {
    const fitted *f = user;
    int64_t D = f->B->m;
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < D; j++) z[i * D + j] = (double)f->B->B[node[i] * D + j];
        for (int64_t c = 0; c < f->k; c++) g[i * f->k + c] = f->g[node[i] * f->k + c];
    }
    return KREIN_OK;
}

static krein_status calibrate(krein_laprls *s, krein_kernel_product *K, const krein_nystrom *B,
                              const double *F) {
    krein_model *model = s->job->model;
    krein_ctx *ctx = s->job->ctx;
    krein_status st = KREIN_OK;
    double *g = NULL;
    NEW(g, s->points.nodes * model->k);
    TRY(krein__kernel_product(K, model->w, g));
    fitted f = {B, g, model->k};
    TRY(krein__laprls_calibrate(s, B->m, at_nodes, &f, F, model->intercept));
done:
    krein__free(ctx, g);
    return st;
}

static krein_status iterate(krein_laprls *s) {
    krein_job *job = s->job;
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    const krein_kernel *kernel = job->model->map->kernel;
    int64_t n = s->points.nodes, m = landmarks_of(n), *index = NULL;
    bool pcg = s->solver == KREIN_LAPRLS_PCG, graph = s->laplacian.g != NULL,
         levers = job->probabilities && !krein__laprls_by_folds(s);
    krein_nystrom B = {0};
    krein_kernel_product *K = NULL;
    double *GC = NULL, *GL = NULL, *F = NULL;
    if (pcg || levers || krein__laprls_looks(s)) {
        NEW(index, m);
        NEW(GC, m * m);
        if (graph) NEW(GL, m * m);
        TRY(pick(s, m, index));
        TRY(krein__nystrom_make(ctx, kernel, &s->points.x, index, m, &B));
        TRY(krein__manifold_labels_gram(&s->form, m, B.B, GC));
        if (graph) TRY(krein__manifold_laplacian_gram(ctx, &s->laplacian, m, B.B, GL));
    }
    if (krein__laprls_looks(s)) TRY(choose_on(s, &B, GL));
    s->form.mu = s->lambda_i / s->square;
    if (pcg || levers) {
        NEW(F, m * m);
        double sure = job->lambda + krein__manifold_rounding(m, GC, GL, s->form.mu);
        TRY(krein__manifold_factor(ctx, m, GC, GL, sure, s->form.mu, F));
    }
    krein__free(ctx, GC);
    krein__free(ctx, GL);
    GC = GL = NULL;
    double room = (double)ctx->budget - (double)atomic_load(&ctx->held) -
                  2 * krein__cg_bytes(n + 1, job->model->k);
    TRY(krein__kernel_product_create(ctx, kernel, &s->points.x, job->model->k, room, &K));
    TRY(krein__manifold_kernel_cg(&s->form, K, &B, pcg ? F : NULL, job->lambda, &s->limits,
                                  job->model->w, job->model->intercept, &s->result));
    if (levers) TRY(calibrate(s, K, &B, F));
done:
    krein__kernel_product_destroy(K);
    krein__nystrom_clear(&B);
    krein__free(ctx, index);
    krein__free(ctx, GC);
    krein__free(ctx, GL);
    krein__free(ctx, F);
    return st;
}

krein_status krein__laprls_kernel(krein_laprls *s) {
    return s->solver == KREIN_LAPRLS_DIRECT ? direct(s) : iterate(s);
}

double krein__laprls_kernel_bytes(const krein_map *map, krein_laprls_solver solver, int64_t n,
                                  int64_t k) {
    double N = (double)n, M = (double)landmarks_of(n), room = (double)map->ctx->budget / 2;
    int64_t d = map->sparse ? krein__min(map->d, 1024) : map->d;
    if (solver == KREIN_LAPRLS_DIRECT)
        return 8 * 8 * N * N + 64 * N * (double)k + krein__krr_calibration_bytes(n, k);
    return 4 * N * M + 8 * 4 * M * M + 8 * N * (double)k +
           krein__laprls_calibrate_bytes(n, (int64_t)M, k) +
           krein__manifold_gram_bytes(n, (int64_t)M, map->ctx->threads) +
           krein__laprls_choose_bytes(n, (int64_t)M) + 2 * krein__cg_bytes(n + 1, k) +
           krein__kernel_product_bytes(map->kernel, n, d, k, map->ctx->threads, room);
}
