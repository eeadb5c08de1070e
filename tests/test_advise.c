/* test_advise.c -- krein_advise and what it rests on: spectra whose law is known, labels drawn from
 * a known source condition, theory's numbers by hand, leave-one-out and the local Rademacher
 * complexity against the obvious way, refusals, failing memory. */
#include "common.h"

#include "base/rng.h"
#include "select/capacity.h"

static krein_ctx *ctx;

static double noise_of(int64_t m, double top) { return (double)m * 0x1p-52 * top; }

static krein_capacity fitted(int64_t m, const double *s) {
    krein_capacity c;
    CHECK(krein__capacity_fit(ctx, m, s, noise_of(m, s[0]), 1, &c) == KREIN_OK);
    return c;
}

/* ---- eigenvalues -------------------------------------------------------- */

/* s_j = scale j^(-1/gamma): the decay is exact, and gamma is by construction. */
static void powers(void) {
    static const double gammas[] = {0.125, 0.25, 0.5, 1};
    static const int64_t sizes[] = {200, 1000};
    double s[1000];
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 2; k++) {
            int64_t m = sizes[k];
            for (int64_t j = 0; j < m; j++) s[j] = 7 * pow((double)(j + 1), -1 / gammas[i]);
            krein_capacity c = fitted(m, s);
            CHECK(c.fitted && c.low < c.high);
            CHECK_ABS(c.gamma, gammas[i], 1e-3);
            CHECK_REL(c.decay, 1 / gammas[i], 1e-9);
            CHECK(c.fast == (i == 0 && m == 1000)); /* 44 of them are above rounding errors */
        }
}

/* Faster than any power, no decay at all, few eigenvalues, few rows. */
static void other_spectra(void) {
    double s[400];
    for (int j = 0; j < 400; j++) s[j] = exp(-j);
    krein_capacity c = fitted(400, s);
    CHECK(c.fast && c.gamma < 0.11 && c.decay > 7);
    for (int j = 0; j < 400; j++) s[j] = j < 12 ? 1 : 0;
    c = fitted(400, s);
    CHECK(c.fast && c.gamma == krein__gamma_least && c.rank == 12 && c.decay < 1e-9);
    for (int j = 0; j < 400; j++) s[j] = j < 1 ? 1 : 0;
    c = fitted(400, s);
    CHECK(c.fast && c.gamma == krein__gamma_least && c.rank == 1 && isnan(c.decay));
    for (int j = 0; j < 400; j++) s[j] = 1.0 / 400;
    c = fitted(400, s);
    CHECK(!c.fast && c.gamma == 1 && c.decay < 1e-9);
    c = fitted(19, s);
    CHECK(!c.fitted && c.gamma == 1 && isnan(c.decay));
}

static void dimensions(void) {
    double s[300], sum = 0, inverse = 0;
    for (int j = 0; j < 300; j++) s[j] = 0.8 * pow(j + 1, -2.5);
    krein_capacity c = fitted(300, s);
    for (int j = 0; j < 300; j++) sum += s[j] / (s[j] + 1e-3);
    CHECK(c.low < 1e-3 && c.low > 0);
    CHECK_REL(krein__effective_dimension(&c, 1e-3), sum, 1e-13);
    CHECK_REL(krein__lambda_of_dimension(300, s, sum), 1e-3, 1e-10);
    for (int j = 0; j < 300; j++) inverse += 1 / s[j];
    CHECK_REL(krein__lambda_of_dimension(300, s, 299.9), 0.1 / inverse, 1e-2);
    /* The sample ends at m/5; below it N goes on as a power. */
    CHECK_REL(krein__effective_dimension(&c, c.low), 60, 1e-9);
    CHECK_REL(krein__effective_dimension(&c, c.low / 32), 60 * pow(32, c.gamma), 1e-9);
}

/* The fixed point of 2 sqrt((1/n) min_theta (theta r/4 + sum of the eigenvalues beyond theta)). */
static double obvious_bound(int64_t m, const double *s, double n, double r) {
    double least = INFINITY;
    for (int64_t theta = 0; theta <= m; theta++) {
        double sum = (double)theta * r / 4;
        for (int64_t j = theta; j < m; j++) sum += s[j];
        least = fmin(least, sum);
    }
    return 2 * sqrt(least / n);
}

static void rademacher(void) {
    double s[80], scaled[80];
    for (int law = 0; law < 3; law++)
        for (double n = 10; n < 1e7; n *= 100) {
            for (int j = 0; j < 80; j++) {
                s[j] = law == 0 ? pow(j + 1, -2) : law == 1 ? exp(-j) : j < 5 ? 0.2 : 0;
                scaled[j] = 3 * s[j];
            }
            double r = krein__local_rademacher(80, s, 1, n);
            CHECK_REL(obvious_bound(80, s, n, r), r, 1e-9);
            CHECK(obvious_bound(80, s, n, r / 2) > r / 2 && obvious_bound(80, s, n, 2 * r) < 2 * r);
            CHECK_REL(krein__local_rademacher(80, scaled, 3, n), r, 1e-12);
            /* of finite rank: rank / n, where that is within the eigenvalues */
            if (law == 2 && n > 10) CHECK_REL(r, 5 / n, 1e-9);
        }
}

/* ---- labels ------------------------------------------------------------- */

/* y = f + noise with theta_j = s_j^r g_j / sqrt j, in the basis of the eigenvectors. */
static void draw_labels(int64_t m, const double *s, double r, double signal, uint64_t seed,
                        double *square) {
    krein_rng g = {seed, 77};
    double power = 0;
    for (int64_t j = 0; j < m; j++) {
        square[j] = pow(s[j], r) * krein__rng_normal(g, (uint64_t)j, 0) / sqrt((double)(j + 1));
        power += square[j] * square[j];
    }
    for (int64_t j = 0; j < m; j++) {
        double noise = krein__rng_normal(g, (uint64_t)j, 1) / sqrt((double)m);
        square[j] = pow(square[j] + sqrt(power / signal) * noise, 2);
    }
}

/* Over 500 draws of such labels (gamma 1/4 or 1/2, 500 rows, ten times more signal than noise) the
 * mean of the guess is within 0.09 of r and its standard deviation 0.15 (r = 1/2, gamma = 1/2) to
 * 0.34 (r = 1, gamma = 1/4): the mean of 12 has to be within 0.3, three standard errors, and the
 * means of r = 1/2, 3/4, 1 in order. 94 to 98 % of the ranges hold r. */
static void sources(void) {
    enum { M = 500, DRAWS = 12 };
    static const double gammas[] = {0.25, 0.5}, radii[] = {0.5, 0.75, 1};
    double s[M], square[M], weight[M];
    int inside = 0;
    for (int64_t j = 0; j < M; j++) weight[j] = 1;
    for (int i = 0; i < 2; i++) {
        for (int64_t j = 0; j < M; j++) s[j] = pow((double)(j + 1), -1 / gammas[i]);
        krein_capacity c = fitted(M, s);
        double last = 0;
        for (int k = 0; k < 3; k++) {
            double mean = 0;
            for (uint64_t draw = 0; draw < DRAWS; draw++) {
                krein_source found;
                draw_labels(M, s, radii[k], 10, 1000 * (uint64_t)k + draw, square);
                CHECK(krein__source_fit(ctx, &c, square, weight, &found) == KREIN_OK);
                CHECK(found.fitted && found.r >= 0.5 && found.r <= 1);
                CHECK(found.low <= found.measured && found.measured <= found.high);
                inside += found.low - 1e-9 <= radii[k] && radii[k] <= found.high + 1e-9;
                mean += found.measured / DRAWS;
            }
            CHECK_ABS(mean, radii[k], 0.3);
            CHECK(mean > last);
            last = mean;
        }
    }
    CHECK(inside >= 6 * DRAWS * 85 / 100); /* 95 % less five standard errors: 82 % */
}

/* Noise alone, labels of one value, and the weight of a direction that centring took. */
static void no_source(void) {
    enum { M = 300 };
    double s[M], square[M] = {0}, weight[M];
    krein_source found, other;
    for (int64_t j = 0; j < M; j++) {
        s[j] = pow((double)(j + 1), -2);
        weight[j] = 1;
    }
    krein_capacity c = fitted(M, s);
    CHECK(krein__source_fit(ctx, &c, square, weight, &found) == KREIN_OK);
    CHECK(!found.fitted && found.r == 0.5 && isnan(found.measured));
    for (uint64_t j = 0; j < M; j++) square[j] = pow(krein__rng_normal((krein_rng){5, 6}, j, 0), 2);
    CHECK(krein__source_fit(ctx, &c, square, weight, &found) == KREIN_OK);
    CHECK(!found.fitted && found.r == 0.5);
    draw_labels(M, s, 0.75, 10, 3, square);
    weight[0] = 0;
    square[0] = 0;
    CHECK(krein__source_fit(ctx, &c, square, weight, &found) == KREIN_OK);
    square[0] = 100;
    CHECK(krein__source_fit(ctx, &c, square, weight, &other) == KREIN_OK);
    CHECK(found.fitted && found.measured == other.measured);
}

/* ---- theory ------------------------------------------------------------- */

static void theory(void) {
    krein_theory t;
    krein__theory(0.5, 1, 2, 1000000, &t);
    CHECK_REL(t.lambda, 2e-3, 1e-12);
    CHECK_REL(t.rate, 1e-3, 1e-12);
    CHECK(t.features == 1000 && t.landmarks == 1000 && t.parts == 1);
    krein__theory(1, 1, 1, 1000000, &t);
    CHECK_REL(t.lambda, 1e-2, 1e-12);
    CHECK_REL(t.rate, 1e-4, 1e-12);
    CHECK(t.features == 10000 && t.landmarks == 100 && t.parts == 100);
    krein__theory(1, 0.5, 1, 100000, &t); /* exponents 0.4, 0.8, 0.6, 0.4 */
    CHECK_REL(t.lambda, 1e-2, 1e-12);
    CHECK_REL(t.rate, 1e-4, 1e-12);
    CHECK(t.features == 1000 && t.landmarks == 100 && t.parts == 100);
    krein__theory(0.75, 0.3, 1, 1, &t);
    CHECK(t.features == 1 && t.landmarks == 1 && t.parts == 1 && t.lambda == 1);
}

static void practice(void) {
    double s[400];
    krein_theory t;
    krein_practice p;
    for (int j = 0; j < 400; j++) s[j] = pow(j + 1, -2);
    krein_capacity c = fitted(400, s);
    krein__theory(1, c.gamma, 1, 40000, &t);
    krein__practice(&c, 1, NAN, 40000, &t, &p);
    CHECK(p.lambda == t.lambda && p.parts >= 1 && p.parts <= t.parts);
    CHECK_REL(p.dimension, krein__effective_dimension(&c, t.lambda), 1e-12);
    /* 100 times the rows: lambda smaller by 100^(1 / 2.5), rounded to three digits */
    krein__practice(&c, 1, 1e-2, 40000, &t, &p);
    CHECK_REL(p.lambda, 1e-2 * pow(100, -0.4), 5e-3);
    double need = p.dimension * log(p.dimension);
    CHECK((double)p.features >= fmax(64, need) && (double)p.features <= fmax(64, 1.11 * need + 1));
    /* next to no regularisation: never more than there are rows */
    krein__practice(&c, 1, 1e-30, 40000, &t, &p);
    CHECK(p.features == 40000 && p.dimension == 40000 && p.parts == 1);
}

/* ---- a kernel matrix ---------------------------------------------------- */

static void gauss(int64_t m, const double *x, double sigma, double *K) {
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < m; j++)
            K[i * m + j] = exp(-pow(x[i] - x[j], 2) / (2 * sigma * sigma));
}

/* e_i = (A^-1 y)_i / (A^-1)_ii, A = K + m lambda I. */
static double obvious_loo(int64_t m, const double *K, const double *y, double lambda) {
    double *A = test_new(m * m, sizeof *A), *B = test_new(m * (m + 1), sizeof *B), sum = 0;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < m; j++) {
            A[i * m + j] = K[i * m + j] + (i == j ? (double)m * lambda : 0);
            B[i * (m + 1) + j] = i == j;
            B[i * (m + 1) + m] = y[i];
        }
    test_solve(m, m + 1, A, B);
    for (int64_t i = 0; i < m; i++) sum += pow(B[i * (m + 1) + m] / B[i * (m + 1) + i], 2);
    free(A);
    free(B);
    return sum;
}

static void leave_one_out(void) {
    enum { M = 60 };
    double x[M], y[M], K[M * M], V[M * M], sum = 0;
    krein_advice a;
    for (int i = 0; i < M; i++) {
        x[i] = 3 * det(i, 0, 0.3);
        y[i] = 5 + sin(2 * x[i]) + 0.3 * det(i, 1, 0.9);
    }
    gauss(M, x, 0.7, K);
    memcpy(V, K, sizeof V);
    CHECK(krein__advise(ctx, M, V, 1, y, 100 * M, &a) == KREIN_OK);
    CHECK(a.source.fitted && a.capacity.kappa == 1);
    for (int i = 0; i < M; i++) sum += y[i];
    CHECK_ABS(sum, 0, 1e-12);
    double best = obvious_loo(M, K, y, a.found);
    CHECK(best < obvious_loo(M, K, y, a.found * pow(10, 0.25)));
    CHECK(best < obvious_loo(M, K, y, a.found / pow(10, 0.25)));
    CHECK_REL(a.practice.lambda, a.found * pow(100, -1 / (2 * a.source.r + a.capacity.gamma)),
              5e-3);
    krein__advice_clear(ctx, &a);
    /* All rows are in the sample: lambda is the one found, N is not extrapolated. */
    memcpy(V, K, sizeof V);
    CHECK(krein__advise(ctx, M, V, 1, y, M, &a) == KREIN_OK);
    CHECK(a.practice.lambda == a.found && a.practice.dimension <= (double)a.capacity.rank);
    krein__advice_clear(ctx, &a);
}

/* ---- the entry point ---------------------------------------------------- */

enum { N = 120, D = 3 };

static krein_data *data_on(krein_ctx *on, int64_t n, int64_t d, const float *x, const double *y,
                           krein_task task) {
    krein_data *data = NULL;
    krein_data_options o;
    krein_data_options_init(&o);
    o.scale = KREIN_SCALE_NONE;
    o.task = task;
    krein_data_from_dense(on, n, d, x, d, y, NULL, &o, &data);
    return data;
}

static krein_status advise(krein_ctx *on, krein_data *data, const char *kernel, int64_t rows,
                           krein_advise_report *r) {
    krein_advise_options o;
    krein_advise_options_init(&o);
    o.kernel = kernel;
    o.rows = rows;
    return krein_advise(on, data, &o, r);
}

/* The spline kernel of order q has eigenvalues j^-q (twice each) on uniform rows. */
static void splines(void) {
    enum { ROWS = 500 };
    static const struct {
        const char *kernel;
        double gamma;
    } cases[] = {{"spline(q=2)", 0.5}, {"spline(q=4)", 0.25}, {"spline(q=8)", 0.125}};
    float x[ROWS];
    krein_advise_report r = KREIN_SIZED(krein_advise_report);
    for (int i = 0; i < ROWS; i++) x[i] = (float)(0.5 + 0.5 * test_random());
    krein_data *data = data_on(ctx, ROWS, 1, x, NULL, KREIN_TASK_AUTO);
    for (int i = 0; i < 3; i++) {
        CHECK(advise(ctx, data, cases[i].kernel, 0, &r) == KREIN_OK);
        CHECK_REL(r.gamma, cases[i].gamma, 0.1);
        CHECK_REL(r.decay, 1 / cases[i].gamma, 0.2);
        CHECK(r.r == 0.5 && isnan(r.r_measured) && isnan(r.sample_lambda));
        CHECK(r.task == KREIN_TASK_AUTO && r.practical_lambda == r.lambda);
        krein_advise_report_clear(ctx, &r);
    }
    krein_data_close(data);
}

/* 1 + 2 sum_k cos(2 pi k u) / k^q */
static double spline(double q, double u) {
    double sum = 1;
    for (int k = 1; k <= 400; k++) sum += 2 * cos(2 * M_PI * k * u) / pow(k, q);
    return sum;
}

/* The spline of order r/gamma + 1/2 has the source condition r for the kernel of order 1/gamma: its
 * coefficients are s_j^r / sqrt j. One draw of the noise: tolerance 0.25. */
static void spline_labels(void) {
    enum { ROWS = 500 };
    static const double radii[] = {0.5, 0.75, 1};
    float x[ROWS];
    double y[ROWS], last = 0;
    krein_advise_report r = KREIN_SIZED(krein_advise_report);
    for (int i = 0; i < ROWS; i++) x[i] = (float)(0.5 + 0.5 * test_random());
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < ROWS; i++)
            y[i] = spline(2 * radii[k] + 0.5, (double)x[i]) +
                   0.1 * krein__rng_normal((krein_rng){9, 1}, (uint64_t)i, (uint64_t)k);
        krein_data *data = data_on(ctx, ROWS, 1, x, y, KREIN_TASK_REGRESSION);
        CHECK(advise(ctx, data, "spline(q=2)", 0, &r) == KREIN_OK);
        CHECK_ABS(r.r_measured, radii[k], 0.25);
        CHECK(r.r_low <= radii[k] && radii[k] <= r.r_high && r.r_measured > last);
        last = r.r_measured;
        krein_advise_report_clear(ctx, &r);
        krein_data_close(data);
    }
}

static void labels(float *x, double *y) {
    for (int i = 0; i < N * D; i++) x[i] = (float)test_random();
    for (int i = 0; i < N; i++)
        y[i] = sin(3 * (double)x[i * D]) + (double)x[i * D + 1] + 0.2 * test_random();
}

static void same_report(const krein_advise_report *a, const krein_advise_report *b, double factor) {
    CHECK_REL(b->gamma, a->gamma, 1e-5);
    CHECK_ABS(b->r_measured, a->r_measured, 1e-9);
    CHECK_REL(b->lambda, factor * a->lambda, 1e-5);
    CHECK_REL(b->sample_lambda, factor * a->sample_lambda, 5e-3);
    CHECK_REL(b->rademacher, a->rademacher, 1e-6);
    CHECK(b->features == a->features && b->landmarks == a->landmarks && b->parts == a->parts);
}

static void reports(void) {
    float x[N * D];
    double y[N];
    krein_advise_report r = KREIN_SIZED(krein_advise_report),
                        other = KREIN_SIZED(krein_advise_report);
    labels(x, y);
    krein_data *data = data_on(ctx, N, D, x, y, KREIN_TASK_REGRESSION);
    CHECK(advise(ctx, data, "gaussian(sigma=0.7)", 100, &r) == KREIN_OK);
    CHECK(r.n == N && r.d == D && r.rows == 100 && r.task == KREIN_TASK_REGRESSION);
    CHECK_HAS(r.kernel, "gaussian(sigma=0.7");
    CHECK(r.kappa == 1 && r.gamma > 0 && r.gamma <= 1 && r.gamma_fitted && r.r_measured >= 0);
    CHECK(r.count >= 2 && r.spectrum[0].lambda > r.spectrum[1].lambda);
    for (int64_t i = 1; i < r.count; i++)
        CHECK(r.spectrum[i].dimension > r.spectrum[i - 1].dimension &&
              r.spectrum[i].dimension < 100);
    CHECK(r.features >= 1 && r.features <= N && r.practical_features <= N && r.parts >= 1);
    /* A multiple of the kernel: lambda is in its units, all else the same. On one thread too. */
    CHECK(advise(ctx, data, "8*gaussian(sigma=0.7)", 100, &other) == KREIN_OK);
    same_report(&r, &other, 8);
    krein_advise_report_clear(ctx, &other);
    krein_ctx *single = test_ctx(1);
    krein_data *again = data_on(single, N, D, x, y, KREIN_TASK_REGRESSION);
    CHECK(advise(single, again, "gaussian(sigma=0.7)", 100, &other) == KREIN_OK);
    CHECK(other.gamma == r.gamma && other.r_measured == r.r_measured);
    CHECK(other.sample_lambda == r.sample_lambda && other.rademacher == r.rademacher);
    krein_advise_report_clear(single, &other);
    krein_data_close(again);
    krein_ctx_destroy(single);
    krein_advise_report_clear(ctx, &r);
    krein_data_close(data);
}

/* Classes, equal labels, hardly any rows, a kernel of rank one. */
static void odd_data(void) {
    float x[N * D];
    double y[N];
    krein_advise_report r = KREIN_SIZED(krein_advise_report);
    labels(x, y);
    for (int i = 0; i < N; i++) y[i] = floor(1.5 + 0.9 * y[i]);
    krein_data *data = data_on(ctx, N, D, x, y, KREIN_TASK_CLASSIFICATION);
    CHECK(advise(ctx, data, "gaussian(sigma=0.7)", 0, &r) == KREIN_OK);
    CHECK(r.rows == N && r.task == KREIN_TASK_CLASSIFICATION && r.sample_lambda > 0);
    CHECK(r.practical_lambda == r.sample_lambda);
    krein_advise_report_clear(ctx, &r);
    CHECK(advise(ctx, data, "gaussian(sigma=1e6)", 0, &r) == KREIN_OK);
    CHECK(r.gamma_fast && r.gamma < 0.1);
    krein_advise_report_clear(ctx, &r);
    krein_data_close(data);
    for (int i = 0; i < N; i++) y[i] = 4;
    data = data_on(ctx, N, D, x, y, KREIN_TASK_REGRESSION);
    CHECK(advise(ctx, data, NULL, 0, &r) == KREIN_OK);
    CHECK(r.r == 0.5 && isnan(r.r_measured) && r.task == KREIN_TASK_AUTO);
    krein_advise_report_clear(ctx, &r);
    krein_data_close(data);
    for (int n = 2; n < 8; n++) {
        data = data_on(ctx, n, D, x, NULL, KREIN_TASK_AUTO);
        CHECK(advise(ctx, data, NULL, 0, &r) == KREIN_OK);
        CHECK(r.gamma == 1 && !r.gamma_fitted && r.features <= n && r.count >= 1);
        krein_advise_report_clear(ctx, &r);
        krein_data_close(data);
    }
}

static void refusals(void) {
    static const struct {
        const char *kernel;
        int64_t rows, max_exact;
        const char *says;
        krein_status status;
    } cases[] = {{NULL, 1, 100, "`rows`", KREIN_EARG},
                 {NULL, 101, 100, "`max_exact`", KREIN_EARG},
                 {NULL, 0, 1, "`max_exact`", KREIN_EARG},
                 {"gausian", 0, 100, "gaussian", KREIN_ESPEC},
                 {"0*gaussian(sigma=1)", 0, 100, "zero", KREIN_EDATA},
                 {"gaussian(sigma=1) - gaussian(sigma=3)", 0, 100, "repaired", KREIN_EDATA},
                 {"-1*gaussian(sigma=1)", 0, 100, "positive", KREIN_EDATA}};
    float *x = test_dense(N, D, 0.2);
    krein_data *data = data_on(ctx, N, D, x, NULL, KREIN_TASK_AUTO);
    krein_advise_report r = KREIN_SIZED(krein_advise_report);
    krein_advise_options o;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        krein_advise_options_init(&o);
        o.kernel = cases[i].kernel;
        o.rows = cases[i].rows;
        o.max_exact = cases[i].max_exact;
        CHECK(krein_advise(ctx, data, &o, &r) == cases[i].status);
        CHECK_HAS(krein_message(ctx), cases[i].says);
        CHECK(r.kernel == NULL && r.spectrum == NULL);
    }
    /* As many rows as --max-exact allows, where none were asked for. */
    krein_advise_options_init(&o);
    o.max_exact = 50;
    CHECK(krein_advise(ctx, data, &o, &r) == KREIN_OK && r.rows == 50);
    krein_advise_report_clear(ctx, &r);
    krein_data_close(data);
    free(x);
}

static void every_allocation_fails(void) {
    float x[N * D];
    double y[N];
    test_memory m;
    krein_ctx *on = test_ctx_with(2, &m);
    labels(x, y);
    TEST_EVERY_ALLOCATION(&m, k) {
        krein_advise_report r = KREIN_SIZED(krein_advise_report);
        krein_status st = KREIN_EMEMORY;
        krein_data *data = data_on(on, N, D, x, y, KREIN_TASK_REGRESSION);
        if (data) {
            st = advise(on, data, "gaussian", 30, &r);
            krein_advise_report_clear(on, &r);
        }
        CHECK(st == (test_has_failed(&m) ? KREIN_EMEMORY : KREIN_OK));
        krein_data_close(data);
    }
    krein_ctx_destroy(on);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    ctx = test_ctx(2);
    RUN(powers);
    RUN(other_spectra);
    RUN(dimensions);
    RUN(rademacher);
    RUN(sources);
    RUN(no_source);
    RUN(theory);
    RUN(practice);
    RUN(leave_one_out);
    RUN(splines);
    RUN(spline_labels);
    RUN(reports);
    RUN(odd_data);
    RUN(refusals);
    RUN(every_allocation_fails);
    krein_ctx_destroy(ctx);
    return DONE();
}
