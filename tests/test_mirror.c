/* test_mirror.c -- mirror descent for several kernels: steps and runs with known values, the
 * optimum and its bound, matrices against features. */
#include "common.h"

#include "num/blas.h"
#include "solve/mirror.h"

enum { MOST = 8 };

/* ---- the step ----------------------------------------------------------- */

static void steps(void) {
    const double a[] = {1, 0.6, 2, 0.2}, r[] = {0.5, 1, 0.1, 2};
    const double two[] = {1.2142857143, 0.4285714286, 2.8142857143, 0},
                 three[] = {0.510053973, 0.063536135, 2.7397487388, 0};
    double c[4], mu[4];
    krein__mirror_weights(4, a, r, 0.7, 0.3, 2, 1, c, mu);
    for (int m = 0; m < 4; m++) CHECK_ABS(c[m], two[m], 1e-10);
    for (int m = 0; m < 4; m++) CHECK_ABS(mu[m] * a[m], c[m], 1e-15);
    krein__mirror_weights(4, a, r, 0.7, 0.3, 3, 1, c, mu);
    for (int m = 0; m < 4; m++) CHECK_ABS(c[m], three[m], 1e-10);
    CHECK_REL(krein__mirror_q(20), 2 * log(20), 1e-15);
    CHECK(krein__mirror_q(2) == 2 && krein__mirror_q(1) == 2);
}

/* c minimises (t beta r - a)'c + t alpha/2 |c|_p^2: nothing next to it is better. */
static double step_value(int64_t M, const double *a, const double *r, double alpha, double beta,
                         double q, double t, const double *c) {
    double p = q / (q - 1), sum = 0, value = 0;
    for (int64_t m = 0; m < M; m++) {
        sum += pow(c[m], p);
        value += (t * beta * r[m] - a[m]) * c[m];
    }
    return value + t * alpha / 2 * pow(sum, 2 / p);
}

static void steps_are_minima(void) {
    for (int trial = 0; trial < 200; trial++) {
        double a[MOST], r[MOST], c[MOST], mu[MOST], q = 2 + 6 * fabs(test_random());
        double alpha = exp(3 * test_random()), beta = exp(test_random()), t = 1 + trial;
        int64_t M = 1 + test_random_below(MOST);
        for (int64_t m = 0; m < M; m++) a[m] = t * fabs(test_random());
        for (int64_t m = 0; m < M; m++) r[m] = fabs(test_random());
        krein__mirror_weights(M, a, r, alpha, beta, q, t, c, mu);
        double best = step_value(M, a, r, alpha, beta, q, t, c);
        CHECK(best <= 0);
        for (int64_t m = 0; m < M; m++)
            for (int side = -1; side <= 1; side += 2) {
                double old = c[m];
                c[m] = fmax(0, old + side * 1e-3 * (1 + old));
                CHECK(step_value(M, a, r, alpha, beta, q, t, c) >= best - 1e-12 * fabs(best));
                c[m] = old;
            }
    }
}

/* Powers far beyond the range of a double, and nothing at all. */
static void extreme_steps(void) {
    const double huge[] = {1e300, 2e300}, none[] = {0, 0}, r[] = {0, 0};
    double c[2], mu[2];
    krein__mirror_weights(2, huge, r, 1, 1, 8, 1, c, mu);
    CHECK(isfinite(c[0]) && isfinite(c[1]) && mu[1] > mu[0] && mu[0] > 0);
    krein__mirror_weights(2, none, r, 1, 1, 8, 1, c, mu);
    CHECK(c[0] == 0 && c[1] == 0 && mu[0] == 0 && mu[1] == 0);
}

/* ---- problems ----------------------------------------------------------- */

/* Kernels on n rows of three classes; their features by eigenvectors. */
typedef struct problem {
    krein_ctx *ctx;
    int64_t n, M;
    double *K[MOST], r[MOST];
    int32_t *class;
    krein_features z;
    int64_t first[MOST + 1];
} problem;

static double distance(const double *x, const double *y, int64_t d) {
    double sum = 0;
    for (int64_t j = 0; j < d; j++) sum += (x[j] - y[j]) * (x[j] - y[j]);
    return sum;
}
static double product(const double *x, const double *y, int64_t d) {
    double sum = 0;
    for (int64_t j = 0; j < d; j++) sum += x[j] * y[j];
    return sum;
}
static double value_of(int kind, const double *x, const double *y, int64_t d) {
    double s = product(x, y, d);
    return kind == 1 ? s : kind == 2 ? (1 + s) * (1 + s) : exp(-distance(x, y, d) / 2);
}

/* Kernels 0 to 2: Gaussian, linear, quadratic; 3: Gaussian of columns without the classes. */
static void problem_open(krein_ctx *ctx, int64_t n, int64_t d, int64_t M, problem *p) {
    double *x = test_new(n * d, sizeof *x), *noise = test_new(n * 2, sizeof *noise);
    memset(p, 0, sizeof *p);
    p->ctx = ctx;
    p->n = n;
    p->M = M;
    p->class = test_new(n, sizeof *p->class);
    for (int64_t i = 0; i < n; i++) {
        p->class[i] = (int32_t)(i % 3);
        for (int64_t j = 0; j < d; j++)
            x[i * d + j] = det(i, j, 0) + (j == 0 ? (double)(i % 3) : 0);
        for (int64_t j = 0; j < 2; j++) noise[i * 2 + j] = det(i, j, 5);
    }
    for (int64_t m = 0; m < M; m++) {
        const double *rows = m == 3 ? noise : x;
        int64_t columns = m == 3 ? 2 : d;
        p->r[m] = 1;
        p->K[m] = test_new(n * n, sizeof **p->K);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++)
                p->K[m][i * n + j] =
                    value_of((int)m, rows + i * columns, rows + j * columns, columns);
    }
    free(x);
    free(noise);
}

static void normalize(problem *p) {
    int64_t n = p->n;
    for (int64_t m = 0; m < p->M; m++) {
        double trace = 0;
        for (int64_t i = 0; i < n; i++) trace += p->K[m][i * n + i];
        for (int64_t i = 0; i < n * n; i++) p->K[m][i] *= (double)n / trace;
    }
}

static krein_status copy_block(void *state, int64_t block, float *out) {
    const krein_features *all = state;
    int64_t first = block * all->rows, n = krein__min(all->rows, all->n - first);
    memcpy(out, all->kept + first * all->D, (size_t)(n * all->D) * sizeof *out);
    return KREIN_OK;
}

/* K_m = Z_m Z_m', a feature for every eigenvector; K_m then is that of the features, whose rounding
 * is not the matter here. */
static void make_features(problem *p) {
    int64_t n = p->n, D = n * p->M;
    double *V = test_new(n * n, sizeof *V), *w = test_new(n, sizeof *w);
    p->z =
        (krein_features){.ctx = p->ctx, .n = n, .D = D, .rows = 7, .blocks = (n + 6) / 7, .at = -1};
    p->z.kept = test_new(n * D, sizeof *p->z.kept);
    for (int64_t m = 0; m < p->M; m++) {
        p->first[m + 1] = (m + 1) * n;
        memcpy(V, p->K[m], (size_t)(n * n) * sizeof *V);
        CHECK(krein__eigen(p->ctx, n, V, n, w) == KREIN_OK);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++)
                p->z.kept[i * D + m * n + j] = (float)(V[j * n + i] * sqrt(fmax(0, w[j])));
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) {
                const float *zi = p->z.kept + i * D + m * n, *zj = p->z.kept + j * D + m * n;
                p->K[m][i * n + j] = 0;
                for (int64_t l = 0; l < n; l++) p->K[m][i * n + j] += (double)zi[l] * (double)zj[l];
            }
    }
    free(V);
    free(w);
}

static void problem_close(problem *p) {
    for (int64_t m = 0; m < p->M; m++) free(p->K[m]);
    free(p->class);
    free(p->z.kept);
}

static krein_mirror mirror_of(problem *p, double alpha, double beta, int64_t epochs, double *mu) {
    return (krein_mirror){.ctx = p->ctx,
                          .n = p->n,
                          .M = p->M,
                          .classes = 3,
                          .K = p->K,
                          .class = p->class,
                          .r = p->r,
                          .alpha = alpha,
                          .beta = beta,
                          .epochs = epochs,
                          .mu = mu};
}

/* The objective from mu and B, by the definition. */
static double objective(const problem *p, const krein_mirror *m, double *loss) {
    int64_t n = p->n;
    double q = krein__mirror_q(p->M), power = q / (q - 1), sum = 0, penalty = 0;
    *loss = 0;
    for (int64_t k = 0; k < p->M; k++) {
        double square = 0;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++)
                for (int c = 0; c < 3; c++)
                    square += m->B[i * 3 + c] * m->B[j * 3 + c] * p->K[k][i * n + j];
        double norm = m->mu[k] * sqrt(fmax(0, square));
        penalty += p->r[k] * norm;
        sum += pow(norm, power);
    }
    for (int64_t i = 0; i < n; i++) {
        double f[3] = {0}, other = -INFINITY;
        for (int c = 0; c < 3; c++)
            for (int64_t k = 0; k < p->M; k++)
                for (int64_t j = 0; j < n; j++)
                    f[c] += m->mu[k] * m->B[j * 3 + c] * p->K[k][i * n + j];
        for (int c = 0; c < 3; c++)
            if (c != p->class[i]) other = fmax(other, f[c]);
        *loss += fmax(0, 1 - f[p->class[i]] + other) / (double)n;
    }
    return *loss + m->alpha / 2 * pow(sum, 2 / power) + m->beta * penalty;
}

/* ---- runs --------------------------------------------------------------- */

static void known_run(void) {
    krein_ctx *ctx = test_ctx(1);
    problem p;
    const double want[] = {0.501833151154, 0.614023197406, 0.552920641279};
    const double rows[9][3] = {{2, -2, 0}, {-1, 3, -2}, {0, -1, 1},
                               {0, 0, 0},  {0, 1, -1},  {0, -1, 1}};
    double mu[3], norm[3], B[27], each[3], loss;
    problem_open(ctx, 9, 2, 3, &p);
    p.r[0] = 2.902118060748, p.r[1] = 0, p.r[2] = 13.011589641515;
    krein_mirror m = mirror_of(&p, 0.05, 0.01, 3, mu);
    m.norm = norm, m.B = B, m.objective = each;
    CHECK(krein__mirror(&m) == KREIN_OK);
    for (int k = 0; k < 3; k++) CHECK_ABS(mu[k], want[k], 1e-11);
    for (int i = 0; i < 27; i++) CHECK(B[i] == rows[i / 3][i % 3]);
    CHECK_ABS(each[2], 3.308122650372, 1e-10);
    CHECK_ABS(objective(&p, &m, &loss), each[2], 1e-12);
    CHECK(loss == 0);
    CHECK(m.visits == 27);
    CHECK(each[0] > each[1] && each[1] > each[2]);
    CHECK(m.bound < each[2]);
    problem_close(&p);
    krein_ctx_destroy(ctx);
}

/* The minimum by SLSQP (scipy 1.10) of the dual problem, max sum_i s_i / n - |v|_q^2 / (2 alpha);
 * the primal value of its solution is the same to 1e-9. */
static const double least = 0.440607644;

static void toward_the_optimum(void) {
    krein_ctx *ctx = test_ctx(1);
    problem p;
    const int64_t epochs = test_sanitized() ? 300 : 2000;
    const double norms[] = {1.07744569, 0.57049204, 0.78075506, 0.7152507};
    double mu[4], norm[4], *each = test_new(epochs, sizeof *each), B[72], loss;
    problem_open(ctx, 24, 3, 4, &p);
    normalize(&p);
    p.r[1] = 0.5, p.r[2] = 0.2;
    krein_mirror m = mirror_of(&p, 0.1, 0.05, epochs, mu);
    m.norm = norm, m.objective = each, m.B = B;
    CHECK(krein__mirror(&m) == KREIN_OK);
    CHECK_ABS(each[epochs - 1], least, 1.5 / (double)epochs);
    CHECK(each[epochs - 1] >= least - 1e-9);
    CHECK(m.bound <= least + 1e-9 && m.bound > least - 1.5 / (double)epochs);
    CHECK(each[0] > each[9] && each[9] > each[99] && each[99] > each[epochs - 1]);
    CHECK_REL(objective(&p, &m, &loss), each[epochs - 1], 1e-10);
    for (int k = 0; k < 4; k++) CHECK_REL(norm[k], norms[k], 10.0 / (double)epochs);
    CHECK_REL(m.loss + m.regulariser, each[epochs - 1], 10.0 / (double)epochs);
    /* and the end of its own accord */
    m.tol = 0.05;
    CHECK(krein__mirror(&m) == KREIN_OK);
    int64_t last = m.visits / p.n - 1;
    CHECK(m.visits % p.n == 0 && last > 2 && last < 200);
    CHECK(each[last] <= least * 1.05 && isnan(each[last + 1]));
    free(each);
    problem_close(&p);
    krein_ctx_destroy(ctx);
}

/* The same weights from matrices and from features, in any order of the rows. Products are float32
 * ones on features. */
static void matrices_and_features(void) {
    krein_ctx *ctx = test_ctx(2);
    problem p;
    enum { N = 60 };
    double a[4], b[4], c[4], each[2][10], B[2][N * 3];
    problem_open(ctx, N, 3, 4, &p);
    normalize(&p);
    make_features(&p);
    krein_mirror m = mirror_of(&p, 0.02, 0.05, 10, a);
    m.objective = each[0], m.B = B[0];
    CHECK(krein__mirror(&m) == KREIN_OK);
    krein_mirror f = mirror_of(&p, 0.02, 0.05, 10, b);
    f.K = NULL, f.z = &p.z, f.first = p.first, f.objective = each[1], f.B = B[1];
    CHECK(krein__mirror(&f) == KREIN_OK);
    for (int k = 0; k < 4; k++) CHECK_REL(b[k], a[k], 1e-6);
    for (int e = 0; e < 10; e++) CHECK_REL(each[1][e], each[0][e], 1e-5);
    CHECK(memcmp(B[0], B[1], sizeof B[0]) == 0);
    CHECK_REL(f.bound, m.bound, 1e-5);
    /* features that are made again for each visit: the same bits */
    krein_features made = p.z;
    made.kept = NULL;
    made.made = test_new(made.rows * made.D, sizeof *made.made);
    made.make = copy_block;
    made.state = &p.z;
    f.z = &made, f.mu = c;
    CHECK(krein__mirror(&f) == KREIN_OK);
    CHECK(memcmp(b, c, sizeof b) == 0);
    /* another order */
    int64_t order[N];
    for (int64_t i = 0; i < N; i++) order[i] = (i * 7 + 3) % N;
    float *mixed = test_new(N * p.z.D, sizeof *mixed);
    int32_t class[N];
    for (int64_t i = 0; i < N; i++) {
        memcpy(mixed + i * p.z.D, p.z.kept + order[i] * p.z.D, (size_t)p.z.D * sizeof *mixed);
        class[i] = p.class[order[i]];
    }
    krein_features moved = p.z;
    moved.kept = mixed;
    m.order = order;
    f.z = &moved, f.class = class, f.mu = b;
    CHECK(krein__mirror(&m) == KREIN_OK && krein__mirror(&f) == KREIN_OK);
    for (int k = 0; k < 4; k++) CHECK_REL(b[k], a[k], 1e-6);
    free(mixed);
    free(made.made);
    problem_close(&p);
    krein_ctx_destroy(ctx);
}

/* ---- what the penalty does ---------------------------------------------- */

static void penalties(void) {
    krein_ctx *ctx = test_ctx(1);
    problem p;
    double mu[4], none[4];
    int kept = 0;
    problem_open(ctx, 60, 3, 4, &p);
    normalize(&p);
    make_features(&p);
    krein_mirror m = mirror_of(&p, 0.02, 0, 20, mu);
    CHECK(krein__mirror(&m) == KREIN_OK);
    for (int k = 0; k < 4; k++) CHECK(mu[k] > 0);
    /* some kernels go, the one without the classes first */
    m.beta = 0.25;
    CHECK(krein__mirror(&m) == KREIN_OK);
    for (int k = 0; k < 4; k++) kept += mu[k] > 0;
    CHECK(mu[3] == 0 && kept > 0 && kept < 4);
    /* a kernel without a penalty stays longest */
    p.r[3] = 0;
    CHECK(krein__mirror(&m) == KREIN_OK);
    CHECK(mu[3] > 0);
    p.r[3] = 1;
    /* and none is left, by matrices and by features */
    m.beta = 1e3;
    CHECK(krein__mirror(&m) == KREIN_OK);
    krein_mirror f = mirror_of(&p, 0.02, 1e3, 2, none);
    f.K = NULL, f.z = &p.z, f.first = p.first;
    CHECK(krein__mirror(&f) == KREIN_OK);
    for (int k = 0; k < 4; k++) CHECK(mu[k] == 0 && none[k] == 0);
    CHECK_ABS(m.loss, 1, 1e-12);
    CHECK(m.regulariser == 0);
    problem_close(&p);
    krein_ctx_destroy(ctx);
}

/* One kernel; two that are the same have the same weight, whatever the others. */
static void few_kernels(void) {
    krein_ctx *ctx = test_ctx(1);
    problem p;
    double mu[4], one;
    problem_open(ctx, 30, 2, 3, &p);
    normalize(&p);
    memcpy(p.K[2], p.K[0], (size_t)(30 * 30) * sizeof(double));
    krein_mirror m = mirror_of(&p, 0.05, 0.02, 5, mu);
    CHECK(krein__mirror(&m) == KREIN_OK);
    CHECK(mu[0] == mu[2] && mu[0] > 0);
    m.M = 1;
    m.mu = &one;
    CHECK(krein__mirror(&m) == KREIN_OK);
    CHECK(one > 0 && isfinite(one));
    problem_close(&p);
    krein_ctx_destroy(ctx);
}

/* A row of weight two is two rows; one of weight zero is none. */
static void row_weights(void) {
    krein_ctx *ctx = test_ctx(1);
    enum { N = 12, ALL = 15 };
    problem p, q;
    double mu[2][2], weight[N + 1], norm[2][2];
    problem_open(ctx, ALL, 2, 2, &p);
    problem_open(ctx, N + 1, 2, 2, &q);
    for (int64_t i = 0; i <= N; i++) weight[i] = i < 3 ? 0.5 : i == N ? 0 : 0.25;
    for (int k = 0; k < 2; k++) /* rows 12, 13, 14 of p repeat its rows 0, 1, 2 */
        for (int64_t i = 0; i < ALL; i++)
            for (int64_t j = 0; j < ALL; j++) p.K[k][i * ALL + j] = q.K[k][i % N * (N + 1) + j % N];
    krein_mirror a = mirror_of(&p, 0.2, 0.05, 3000, mu[0]);
    krein_mirror b = mirror_of(&q, 0.2, 0.05, 3000, mu[1]);
    a.norm = norm[0], b.norm = norm[1], b.weight = weight;
    CHECK(krein__mirror(&a) == KREIN_OK && krein__mirror(&b) == KREIN_OK);
    for (int k = 0; k < 2; k++) CHECK_REL(norm[1][k], norm[0][k], 5e-3);
    CHECK_REL(b.bound, a.bound, 2e-3);
    problem_close(&p);
    problem_close(&q);
    krein_ctx_destroy(ctx);
}

/* ---- conduct ------------------------------------------------------------ */

/* Enough kernels for the threads to share them; four of them again and again. */
static void threads_do_not_matter(void) {
    enum { N = 520, MANY = 64 };
    double mu[2][MANY];
    for (int threads = 1; threads <= 2; threads++) {
        krein_ctx *ctx = test_ctx(threads);
        problem p;
        double *K[MANY], r[MANY];
        problem_open(ctx, N, 3, 4, &p);
        normalize(&p);
        for (int k = 0; k < MANY; k++) K[k] = p.K[k % 4], r[k] = 1;
        krein_mirror m = mirror_of(&p, 0.1, 0.02, 1, mu[threads - 1]);
        m.M = MANY, m.K = K, m.r = r;
        CHECK(krein__mirror(&m) == KREIN_OK);
        problem_close(&p);
        krein_ctx_destroy(ctx);
    }
    CHECK(memcmp(mu[0], mu[1], sizeof mu[0]) == 0);
    for (int k = 4; k < MANY; k++) CHECK(mu[0][k] == mu[0][k - 4]);
}

static void time_is_over(void) {
    krein_ctx *ctx = test_ctx(1);
    problem p;
    double mu[3], each[50];
    problem_open(ctx, 30, 2, 3, &p);
    krein_mirror m = mirror_of(&p, 0.05, 0.02, 50, mu);
    m.objective = each;
    m.deadline = krein__clock() - 1;
    CHECK(krein__mirror(&m) == KREIN_OK);
    CHECK(m.visits == 30 && mu[0] > 0); /* a look at the clock every 1,024 rows and every epoch */
    CHECK(isfinite(each[0]) && isnan(each[49]));
    problem_close(&p);
    krein_ctx_destroy(ctx);
}

static int stop_at_once(void *user) {
    (void)user;
    return 1;
}

static void stopped(void) {
    krein_ctx *ctx = test_ctx(1);
    problem p;
    double mu[3];
    problem_open(ctx, 30, 2, 3, &p);
    krein_mirror m = mirror_of(&p, 0.05, 0.02, 50, mu);
    ctx->cancel = stop_at_once;
    CHECK(krein__mirror(&m) == KREIN_ECANCEL);
    problem_close(&p);
    krein_ctx_destroy(ctx);
}

static void every_allocation_fails(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    problem p;
    double mu[3];
    problem_open(ctx, 12, 2, 3, &p);
    make_features(&p);
    for (int features = 0; features < 2; features++) TEST_EVERY_ALLOCATION(&memory, k) {
            krein_mirror m = mirror_of(&p, 0.05, 0.02, 2, mu);
            if (features) m.K = NULL, m.z = &p.z, m.first = p.first;
            uint64_t before = atomic_load(&ctx->held);
            atomic_store(&ctx->peak, before);
            krein_status st = krein__mirror(&m);
            CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
            CHECK((double)(atomic_load(&ctx->peak) - before) <=
                  krein__mirror_bytes(p.n, p.M, 3, p.z.D, !features));
        }
    problem_close(&p);
    CHECK(test_live(&memory) == 0);
    krein_ctx_destroy(ctx);
}

int main(void) {
    RUN(steps);
    RUN(steps_are_minima);
    RUN(extreme_steps);
    RUN(known_run);
    RUN(toward_the_optimum);
    RUN(matrices_and_features);
    RUN(penalties);
    RUN(few_kernels);
    RUN(row_weights);
    RUN(threads_do_not_matter);
    RUN(time_is_over);
    RUN(stopped);
    RUN(every_allocation_fails);
    return DONE();
}
