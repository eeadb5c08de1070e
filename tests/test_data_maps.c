/* test_data_maps.c -- frequencies chosen by the data: scores against reference values, draws with
 * given probabilities, and that each method is worth having. */
#include "fitted.h"

#include "map/fourier.h"
#include "map/pool.h"
#include "map/scores.h"
#include "num/blas.h"

/* ---- reference values (FORMULAS group 6) -------------------------------- */

static void reference_scores(void) {
    enum { ROWS = 6, S = 4 };
    static const double b[] = {.1, 1.2, 2.3, 3.4}, y[] = {1, -1, 1, 1, -1, -1};
    static const double leverage[] = {.566285475182, .496220780694, .604743335293, .520551411029};
    static const double surrogate[] = {13.414435224292, 17.855341169241, 21.543451109286,
                                       10.617807773172};
    double z[ROWS * S], scaled[ROWS * S], K[ROWS * ROWS] = {0}, got[S];
    for (int i = 0; i < ROWS; i++)
        for (int f = 0; f < S; f++) {
            double t = b[f];
            for (int j = 0; j < 3; j++) t += det(i, j, 0) * det(f, j, .7);
            z[i * S + f] = sqrt(2) * cos(t);
            scaled[i * S + f] = z[i * S + f] / sqrt(S);
        }
    krein__leverage_add(ctx, ROWS, S, scaled, K);
    CHECK(krein__leverage_factor(ctx, ROWS, ROWS * .1, K) == KREIN_OK);
    krein__leverage_score(ctx, ROWS, S, scaled, K, got);
    for (int f = 0; f < S; f++) {
        double product = 0, square = 0;
        for (int i = 0; i < ROWS; i++) {
            product += y[i] * z[i * S + f];
            square += z[i * S + f] * z[i * S + f];
        }
        CHECK_ABS(got[f], leverage[f], 1e-11);
        CHECK_ABS(krein__surrogate_score(ROWS, product * product, square, .1), surrogate[f], 1e-10);
    }
}

static void reference_alignment(void) {
    static const double v[] = {3, 1, .5, 2, .1}, p[] = {.5, .8, -.2, .1};
    static const double want[] = {.425549077687, .157038270917, .089910569224, .291293674302,
                                  .03620840787};
    static const double projected[] = {.35, .65, 0, 0};
    double q[5], value = 0, reached;
    CHECK(krein__simplex_project(ctx, 4, p, q) == KREIN_OK);
    for (int i = 0; i < 4; i++) CHECK_ABS(q[i], projected[i], 1e-15);
    CHECK(krein__aligned_weights(ctx, 5, v, .5, 5, q, &reached) == KREIN_OK);
    for (int i = 0; i < 5; i++) {
        CHECK_ABS(q[i], want[i], 1e-11);
        value += q[i] * v[i];
    }
    CHECK_ABS(value, 2.06484897798, 1e-11);
    CHECK_ABS(reached, .5, 1e-12);
}

static int positive(int64_t n, const double *q) {
    int count = 0;
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        CHECK(q[i] >= 0);
        count += q[i] > 0;
        sum += q[i];
    }
    CHECK_ABS(sum, 1, 1e-12);
    return count;
}

/* The ball: from uniform to the largest alone; ties; a bound on how many are left. */
static void alignment_limits(void) {
    enum { S = 40 };
    double v[S], q[S], reached, before = 0;
    for (int i = 0; i < S; i++) v[i] = 5 + det(i, 3, .2);
    CHECK(krein__aligned_weights(ctx, S, v, 0, S, q, &reached) == KREIN_OK);
    CHECK(positive(S, q) == S && fabs(reached) < 1e-12);
    for (double rho = .25; rho < 64; rho *= 2) {
        double value = 0;
        CHECK(krein__aligned_weights(ctx, S, v, rho, S, q, &reached) == KREIN_OK);
        int left = positive(S, q);
        CHECK_ABS(reached, fmin(rho, S - 1), 1e-9);
        for (int i = 0; i < S; i++) value += q[i] * v[i];
        CHECK(value > before || left == 1);
        before = value;
        /* q is the optimum: v = a + b q on the support for some b > 0, and below a elsewhere */
        double a = INFINITY;
        for (int i = 0; i < S; i++)
            if (q[i] > 0) a = fmin(a, v[i]);
        for (int i = 0; i < S; i++) CHECK(q[i] > 0 || v[i] <= a);
    }
    CHECK_ABS(before, 5 + 1, 1e-2); /* the largest of the v */
    for (int most = 1; most < S; most++) {
        CHECK(krein__aligned_weights(ctx, S, v, 0, most, q, &reached) == KREIN_OK);
        CHECK(positive(S, q) == most);
        CHECK(reached >= (double)S / most - 1 - 1e-9);
    }
    for (int i = 0; i < S; i++) v[i] = i % 4 == 0; /* ten ties */
    CHECK(krein__aligned_weights(ctx, S, v, 50, S, q, &reached) == KREIN_OK);
    CHECK(positive(S, q) == 10 && q[0] == .1 && q[4] == .1);
    CHECK(krein__aligned_weights(ctx, S, v, 0, 3, q, &reached) == KREIN_OK);
    CHECK(positive(S, q) == 3 && q[0] > 0 && q[4] > 0 && q[8] > 0);
    for (int i = 0; i < S; i++) v[i] = 2;
    CHECK(krein__aligned_weights(ctx, S, v, 1, S, q, &reached) == KREIN_OK);
    CHECK(positive(S, q) == S);
}

/* ---- draws -------------------------------------------------------------- */

static void inclusion(void) {
    enum { S = 12, M = 5 };
    double score[S], p[S];
    for (int i = 0; i < S; i++) score[i] = exp(3 * det(i, 1, 0));
    score[4] = 0; /* has a chance all the same */
    krein__inclusion(S, score, M, p);
    double sum = 0, ratio = 0;
    int certain = 0;
    for (int i = 0; i < S; i++) {
        sum += p[i];
        CHECK(p[i] > 0 && p[i] <= 1);
        certain += p[i] == 1;
        if (p[i] == 1 || i == 4) continue;
        if (ratio > 0) CHECK_REL(p[i] / score[i], ratio, 1e-12);
        ratio = p[i] / score[i];
    }
    CHECK_ABS(sum, M, 1e-12);
    CHECK(certain > 0 && certain < M);
    for (int i = 0; i < S; i++)
        if (p[i] == 1) CHECK(score[i] * ratio >= 1);
    krein__inclusion(S, score, S, p); /* all */
    for (int i = 0; i < S; i++) CHECK_ABS(p[i], 1, 1e-12);
    memset(score, 0, sizeof score);
    krein__inclusion(S, score, M, p); /* nothing is known: uniform */
    for (int i = 0; i < S; i++) CHECK_REL(p[i], (double)M / S, 1e-12);

    /* Each is drawn as often as its probability says; m of them, different, in order. */
    int64_t R = test_sanitized() ? 500 : 5000, index[S];
    double often[S] = {0};
    for (int i = 0; i < S; i++) score[i] = exp(3 * det(i, 1, 0));
    krein__inclusion(S, score, M, p);
    for (int64_t seed = 0; seed < R; seed++) {
        krein_rng g = {(uint64_t)seed, 99};
        CHECK(krein__draw_fixed(ctx, g, S, p, M, index) == KREIN_OK);
        for (int k = 0; k < M; k++) {
            CHECK(k == 0 || index[k] > index[k - 1]);
            often[index[k]] += 1 / (double)R;
        }
    }
    for (int i = 0; i < S; i++) CHECK_Z(often[i], p[i], p[i] * (1 - p[i]) + 1e-20, R);
}

/* ---- frequencies -------------------------------------------------------- */

/* Scores of the pool are those of the formula, over pairs, and add up to the effective dimension;
 * pool=1 keeps every candidate with the weight it had: rff. */
static void pool_of_one_is_rff(void) {
    enum { ROWS = 50, D3 = 3 };
    static const char *const some[] = {"gaussian(sigma=1.2)", "0.5*cauchy(sigma=2)"};
    float *x = test_dense(ROWS, D3, .4);
    double y[ROWS];
    for (int i = 0; i < ROWS; i++) y[i] = det(i, 5, 0);
    krein_rows rows = krein__rows_dense(ROWS, D3, x, D3);
    source s;
    source_dense(&s, ROWS, D3, x, y, KREIN_TASK_REGRESSION);
    for (int k = 0; k < 2; k++)
        for (int which = 0; which < 3; which++) {
            static const char *const maps[] = {"leverage(D=40, pool=1)", "surrogate(D=40, pool=1)",
                                               "aligned(D=40, pool=1)"};
            krein_map *map = need(maps[which], some[k], 3, &s);
            krein_map *rff = need("rff(D=40)", some[k], 3, &s);
            if (!map || !rff) return;
            float *a = features(map, &rows), *b = features(rff, &rows);
            double worst = 0;
            for (int i = 0; i < ROWS * 40; i++) worst = fmax(worst, fabs((double)(a[i] - b[i])));
            CHECK(worst < 1e-6);
            free(a);
            free(b);
            krein__map_destroy(map);
            krein__map_destroy(rff);
        }
    source_close(&s);
    free(x);
}

/* E z'z = k over the seed, for d = 3, 16, 100 and five kernels, one of them indefinite. */
static void unbiased(void) {
    enum { POINTS = 4, MOST = 100 };
    static const char *const some[] = {"gaussian(sigma=%g)", "matern(nu=1.5, sigma=%g)",
                                       "laplacian(sigma=%g)", "0.3*cauchy(sigma=%g)",
                                       "gaussian(sigma=%g) - 0.5*gaussian(sigma=2)"};
    static const int64_t dims[] = {3, 16, 100};
    int64_t R = test_sanitized() ? 60 : 400;
    double y[POINTS] = {0, 1, 1, 0};
    for (int q = 0; q < 3; q++) {
        int64_t d = dims[q];
        float x[POINTS * MOST];
        for (int i = 0; i < POINTS; i++)
            for (int64_t j = 0; j < d; j++)
                x[i * d + j] = (float)(det(i, j, .3) * sqrt(3.0 / (double)d));
        krein_rows rows = krein__rows_dense(POINTS, d, x, d);
        source s;
        source_dense(&s, POINTS, d, x, y, KREIN_TASK_AUTO);
        for (int k = 0; k < 5; k++)
            for (int which = 0; which < 2; which++) {
                char kernel[100];
                double K[POINTS * POINTS], sum[6] = {0}, squares[6] = {0};
                snprintf(kernel, sizeof kernel, some[k], k == 2 ? 1.5 * sqrt((double)d) : 1.4);
                krein_kernel *e = kernel_of(kernel);
                CHECK(krein__gram_full(ctx, e, &rows, &rows, K) == KREIN_OK);
                krein__kernel_destroy(ctx, e);
                for (int64_t seed = 0; seed < R; seed++) {
                    krein_map *map = need(which ? "surrogate(D=10, pool=3)" : "leverage(D=10)",
                                          kernel, (uint64_t)seed, &s);
                    if (!map) return;
                    float *z = features(map, &rows);
                    for (int a = 0, p = 0; a < POINTS; a++)
                        for (int b = 0; b < a; b++, p++) {
                            double value = inner(map, z + a * map->D, z + b * map->D);
                            sum[p] += value / (double)R;
                            squares[p] += value * value / (double)R;
                        }
                    free(z);
                    krein__map_destroy(map);
                }
                for (int a = 0, p = 0; a < POINTS; a++)
                    for (int b = 0; b < a; b++, p++)
                        CHECK_Z(sum[p], K[a * POINTS + b], squares[p] - sum[p] * sum[p], R - 1);
            }
        source_close(&s);
    }
}

/* Given one pool, the drawn kernel is that of the pool on average: over draws, not over pools. */
static void unbiased_given_the_pool(void) {
    enum { F = 24, M = 7, D2 = 2 };
    double score[F], p[F], total = 0, sum = 0, squares = 0;
    int64_t R = test_sanitized() ? 500 : 4000, index[M];
    float x[2 * D2] = {.3f, -.2f, .9f, .4f};
    krein_map map = {.ctx = ctx, .kernel = kernel_of("gaussian(sigma=.8)"), .d = D2, .seed = 4};
    krein_pool pool;
    CHECK(krein__pool_draw(&map, F, &pool) == KREIN_OK);
    CHECK(pool.F == F);
    for (int f = 0; f < F; f++) {
        double t =
            pool.w[f * D2] * (double)(x[0] - x[2]) + pool.w[f * D2 + 1] * (double)(x[1] - x[3]);
        score[f] = 1 + det(f, 0, 0); /* any scores do */
        total += pool.c[f] * cos(t);
    }
    krein__inclusion(F, score, M, p);
    for (int64_t seed = 0; seed < R; seed++) {
        double value = 0;
        CHECK(krein__draw_fixed(ctx, (krein_rng){(uint64_t)seed, 5}, F, p, M, index) == KREIN_OK);
        for (int k = 0; k < M; k++) {
            const double *w = pool.w + index[k] * D2;
            double t = w[0] * (double)(x[0] - x[2]) + w[1] * (double)(x[1] - x[3]);
            value += pool.c[index[k]] / p[index[k]] * cos(t);
        }
        sum += value / (double)R;
        squares += value * value / (double)R;
    }
    CHECK_Z(sum, total, squares - sum * sum, R);
    krein__pool_clear(&pool);
    krein__kernel_destroy(ctx, map.kernel);
}

/* |H(ZZ' - K)H| with H = (K + n lambda I)^(-1/2), the largest eigenvalue: what a ridge regression
 * sees of the error. */
static double ridge_norm(const krein_map *map, const krein_rows *x, double lambda) {
    int64_t n = x->n;
    double *K = test_new(n * n, sizeof *K), *V = test_new(n * n, sizeof *V);
    double *T = test_new(n * n, sizeof *T), *w = test_new(n, sizeof *w);
    float *z = features(map, x);
    CHECK(krein__gram_full(ctx, map->kernel, x, x, K) == KREIN_OK);
    memcpy(V, K, (size_t)(n * n) * sizeof *V);
    CHECK(krein__eigen(ctx, n, V, n, w) == KREIN_OK);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            K[i * n + j] -= inner(map, z + i * map->D, z + j * map->D);
            V[i * n + j] /= sqrt(fmax(w[i], 0) + (double)n * lambda);
        }
    krein__dgemm(false, false, n, n, n, 1, V, n, K, n, 0, T, n);
    krein__dgemm(false, true, n, n, n, 1, T, n, V, n, 0, K, n);
    CHECK(krein__eigen(ctx, n, K, n, w) == KREIN_OK);
    double worst = fmax(fabs(w[0]), fabs(w[n - 1]));
    free(K);
    free(V);
    free(T);
    free(w);
    free(z);
    return worst;
}

static void leverage_pays(void) {
    enum { ROWS = 150, D2 = 2 };
    float x[ROWS * D2];
    int seeds = test_sanitized() ? 4 : 12;
    double rff = 0, leverage = 0;
    for (int i = 0; i < ROWS * D2; i++)
        x[i] = (float)(test_random() + test_random() + test_random()); /* close to normal */
    krein_rows rows = krein__rows_dense(ROWS, D2, x, D2);
    source s;
    source_dense(&s, ROWS, D2, x, NULL, KREIN_TASK_AUTO);
    for (int seed = 1; seed <= seeds; seed++)
        for (int which = 0; which < 2; which++) {
            krein_map *map = need(which ? "leverage(D=100, lambda=1e-3)" : "rff(D=100)",
                                  "gaussian(sigma=0.8)", (uint64_t)seed, &s);
            if (!map) return;
            *(which ? &leverage : &rff) += ridge_norm(map, &rows, 1e-3) / seeds;
            krein__map_destroy(map);
        }
    printf("ridge norm of the error, 100 features: rff %.3f, leverage %.3f\n", rff, leverage);
    CHECK(leverage < .8 * rff);
    source_close(&s);
}

/* Squared error of ridge regression on the features, on rows it has not seen. */
static double ridge_error(const krein_map *map, const krein_rows *x, const double *y,
                          const krein_rows *xt, const double *yt, double ridge) {
    int64_t D = map->D;
    float *z = features(map, x), *zt = features(map, xt);
    double *G = test_new(D * D, sizeof *G), *w = test_new(D, sizeof *w), off = 0, all = 0;
    for (int64_t i = 0; i < x->n; i++)
        for (int64_t a = 0; a < D; a++) {
            w[a] += (double)z[i * D + a] * y[i];
            for (int64_t b = 0; b < D; b++)
                G[a * D + b] += (double)z[i * D + a] * (double)z[i * D + b];
        }
    for (int64_t a = 0; a < D; a++) G[a * D + a] += ridge;
    test_solve(D, 1, G, w);
    for (int64_t i = 0; i < xt->n; i++) {
        double f = 0;
        for (int64_t a = 0; a < D; a++) f += (double)zt[i * D + a] * w[a];
        off += (f - yt[i]) * (f - yt[i]);
        all += yt[i] * yt[i];
    }
    free(z);
    free(zt);
    free(G);
    free(w);
    return off / all;
}

/* A target made of two frequencies: aligned features beat as many random ones, for numbers and for
 * classes. */
static void alignment_pays(void) {
    enum { ROWS = 700, MORE = 300, D4 = 4, ALL = ROWS + MORE };
    float *x = test_new(ALL * D4, sizeof *x);
    for (int i = 0; i < ALL * D4; i++) x[i] = (float)(1.7 * test_random());
    krein_rows train = krein__rows_dense(ROWS, D4, x, D4);
    krein_rows test = krein__rows_dense(MORE, D4, x + ROWS * D4, D4);
    for (int classes = 0; classes < 2; classes++) {
        double y[ALL], code[ALL], rff = 0, aligned = 0;
        int seeds = test_sanitized() ? 2 : 5;
        for (int i = 0; i < ALL; i++) {
            const float *r = x + i * D4;
            double t = sin(1.6 * (double)r[0] - 1.1 * (double)r[1]) +
                       cos(.9 * (double)r[2] + 1.3 * (double)r[3] + .5);
            y[i] = !classes ? t : t > .3 ? 1 : -1;
            code[i] = classes ? y[i] > 0 : t;
        }
        source s;
        source_dense(&s, ROWS, D4, x, code,
                     classes ? KREIN_TASK_CLASSIFICATION : KREIN_TASK_REGRESSION);
        for (int seed = 1; seed <= seeds; seed++)
            for (int which = 0; which < 2; which++) {
                krein_map *map = need(which ? "aligned(D=30, pool=40)" : "rff(D=30)",
                                      "gaussian(sigma=0.7)", (uint64_t)seed, &s);
                if (!map) return;
                *(which ? &aligned : &rff) +=
                    ridge_error(map, &train, y, &test, y + ROWS, .1) / seeds;
                krein__map_destroy(map);
            }
        printf("30 features, %s: squared error rff %.4f, aligned %.4f\n",
               classes ? "classes" : "numbers", rff, aligned);
        CHECK(aligned < (classes ? .8 : .3) * rff);
        source_close(&s);
    }
    free(x);
}

/* More than rho = what D asks for keeps fewer features than D. */
static void alignment_prunes(void) {
    float *x = test_dense(60, 3, .2);
    double y[60];
    for (int i = 0; i < 60; i++) y[i] = (double)x[3 * i] * (double)x[3 * i + 1];
    source s;
    source_dense(&s, 60, 3, x, y, KREIN_TASK_REGRESSION);
    int64_t before = 41;
    for (int k = 0; k < 4; k++) {
        char spec[80];
        snprintf(spec, sizeof spec, "aligned(D=40, rho=%g)", k * k * 30.0);
        krein_map *map = need(spec, "gaussian(sigma=1)", 1, &s);
        if (!map) continue;
        float *z = features(map, &(krein_rows){.n = 1, .d = 3, .x = x, .ld = 3});
        CHECK(map->D < before && map->D % 2 == 0);
        CHECK_ABS(inner(map, z, z), 1, 1e-5); /* the weights add up to k(0) */
        if (k == 0) CHECK(map->D == 40);
        before = map->D;
        free(z);
        krein__map_destroy(map);
    }
    CHECK(before == 2); /* rho above N - 1: the best one alone */
    source_close(&s);
    free(x);
}

/* Several classes, many classes, several targets; none at all is an error that names the map. */
static void labels(void) {
    enum { ROWS = 300, D3 = 3 };
    float *x = test_dense(ROWS, D3, .2);
    double y[2 * ROWS];
    static const int counts[] = {2, 3, 20, 100};
    krein_rows rows = krein__rows_dense(ROWS, D3, x, D3);
    for (int which = 0; which < 2; which++) {
        const char *spec = which ? "surrogate(D=20)" : "aligned(D=20)";
        for (int k = 0; k < 5; k++) {
            krein_data_options o;
            source s = {0};
            for (int i = 0; i < 2 * ROWS; i++) y[i] = k < 4 ? i % counts[k] : det(i, 2, 0);
            krein_data_options_init(&o);
            o.task = k < 4 ? KREIN_TASK_CLASSIFICATION : KREIN_TASK_REGRESSION;
            o.targets = k < 4 ? 0 : 2;
            CHECK(krein_data_from_dense(ctx, ROWS, D3, x, D3, y, NULL, &o, &s.data) == KREIN_OK);
            CHECK(source_open(&s, true, 0) == KREIN_OK);
            krein_map *map = need(spec, "gaussian(sigma=1)", 1, &s);
            if (map) {
                float *z = features(map, &rows);
                CHECK(isfinite(inner(map, z, z)));
                free(z);
            }
            krein_sample sample;
            CHECK(krein__sample_draw(map, s.stream, ROWS, ROWS, true, &sample) == KREIN_OK);
            CHECK(sample.k == (k == 0 ? 1 : k == 4 ? 2 : counts[k] < 64 ? counts[k] : 64));
            double square = 0;
            for (int64_t c = 0; c < sample.k; c++) {
                double mean = 0;
                for (int64_t i = 0; i < ROWS; i++) {
                    mean += sample.y[i * sample.k + c] / ROWS;
                    square += pow(sample.y[i * sample.k + c], 2);
                }
                CHECK_ABS(mean, 0, 1e-12);
            }
            CHECK_REL(square, ROWS, 1e-10);
            krein__sample_clear(ctx, &sample);
            krein__map_destroy(map);
            source_close(&s);
        }
        source s;
        source_dense(&s, ROWS, D3, x, NULL, KREIN_TASK_AUTO);
        krein_map *map = NULL;
        CHECK(make(spec, "gaussian(sigma=1)", 1, &s, &map) == KREIN_EARG);
        CHECK_HAS(krein_message(ctx), which ? "surrogate needs labels" : "aligned needs labels");
        CHECK_HAS(krein_message(ctx), "orf");
        source_close(&s);
    }
    free(x);
    CHECK(atomic_load(&ctx->held) == 0);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    ctx = test_ctx(2);
    RUN(reference_scores);
    RUN(reference_alignment);
    RUN(alignment_limits);
    RUN(inclusion);
    RUN(pool_of_one_is_rff);
    RUN(unbiased);
    RUN(unbiased_given_the_pool);
    RUN(leverage_pays);
    RUN(alignment_pays);
    RUN(alignment_prunes);
    RUN(labels);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
    return DONE();
}
