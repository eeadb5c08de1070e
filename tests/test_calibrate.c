/* test_calibrate.c -- probabilities fitted to held-out scores: against scikit-learn, by their
 * gradient, by what they recover, and on scores that are hard to fit. */
#include "common.h"

#include "base/rng.h"
#include "model/probability.h"

static krein_ctx *ctx;

/* ---- Platt's sigmoid ------------------------------------------------------ */

/* scikit-learn 1.2, calibration._sigmoid_calibration, signs turned. */
static void platt(void) {
    static const struct {
        int64_t n;
        double scale, offset, slope, shift;
    } ref[] = {{60, 2, 0, .5798014135274, -.2323696499707},
               {200, 1e-3, 5, 1430.983, -7155.2152},
               {41, 50, -3, .02777581846356, -.2091990806637}};
    double f[200];
    int32_t y[200];
    for (int r = 0; r < 3; r++) {
        krein_calibration c;
        for (int64_t i = 0; i < ref[r].n; i++) {
            f[i] = ref[r].scale * det(i, 0, 0) + ref[r].offset;
            y[i] = det(i, 0, 0) + 1.2 * det(i, 3, 0.5) > 0.2;
        }
        for (int head = KREIN_HEAD_BEST; head <= KREIN_HEAD_VOTES; head++) {
            CHECK(krein__calibrate(ctx, (krein_head)head, 2, ref[r].n, 1, f, y, NULL, &c) ==
                  KREIN_OK);
            CHECK_REL(c.slope[0], ref[r].slope, 1e-6);
            CHECK_REL(c.shift[0], ref[r].shift, 1e-6);
            krein__free(ctx, c.slope);
            krein__free(ctx, c.shift);
        }
    }
}

/* ---- the fit in general --------------------------------------------------- */

typedef struct sample {
    int64_t n, K;
    double *f; /* n x K */
    int32_t *y;
} sample;

static sample sample_new(int64_t n, int64_t K) {
    return (sample){n, K, test_new(n * K, sizeof(double)), test_new(n, sizeof(int32_t))};
}
static void sample_free(sample *s) {
    free(s->f);
    free(s->y);
}
/* Scores uniform in (-width, width), classes drawn from the softmax of a f + b. */
static sample simulated(int64_t n, int64_t K, double width, double a, const double *b,
                        uint64_t seed) {
    sample s = sample_new(n, K);
    krein_rng g = {seed, 7};
    for (int64_t i = 0; i < n; i++) {
        double sum = 0, upto = 0;
        for (int64_t c = 0; c < K; c++) {
            s.f[i * K + c] = width * (2 * krein__rng_uniform(g, (uint64_t)i, (uint64_t)c) - 1);
            sum += exp(a * s.f[i * K + c] + b[c]);
        }
        double u = krein__rng_uniform(g, (uint64_t)i, (uint64_t)K);
        s.y[i] = -1;
        for (int64_t c = 0; c < K && s.y[i] < 0; c++) {
            upto += exp(a * s.f[i * K + c] + b[c]) / sum;
            if (u < upto || c == K - 1) s.y[i] = (int32_t)c;
        }
    }
    return s;
}

/* Gradient of the smoothed likelihood in (a, b_1, ...) and its Hessian, the obvious way, rows with
 * weights; returns the number of rows that the weights are worth. */
static double slow(const sample *s, const double *weight, const krein_calibration *c, double *g,
                   double *h) {
    int64_t K = s->K;
    double *count = test_new(K, sizeof *count), *p = test_new(K, sizeof *p);
    double sum = 0, square = 0;
    for (int64_t i = 0; i < s->n; i++) {
        double w = weight ? weight[i] : 1;
        sum += w, square += w * w;
    }
    double worth = sum * sum / square;
    for (int64_t i = 0; i < s->n; i++) count[s->y[i]] += (weight ? weight[i] : 1) * worth / sum;
    memset(g, 0, (size_t)K * sizeof *g);
    memset(h, 0, (size_t)(K * K) * sizeof *h);
    for (int64_t i = 0; i < s->n; i++) {
        const double *f = s->f + i * K;
        double w = (weight ? weight[i] : 1) / sum, N = count[s->y[i]], mean = 0;
        krein__probabilities(KREIN_HEAD_BEST, K, c, f, p, NULL);
        for (int64_t j = 0; j < K; j++) mean += p[j] * f[j];
        for (int64_t j = 0; j < K; j++) {
            double t = (j == s->y[i] ? N + 1 : 1 / (double)(K - 1)) / (N + 2);
            g[0] += w * (p[j] - t) * f[j];
            h[0] += w * p[j] * (f[j] - mean) * (f[j] - mean);
            if (j == 0) continue;
            g[j] += w * (p[j] - t);
            h[j] += w * p[j] * (f[j] - mean);
            h[j * K] = h[j];
            for (int64_t l = 1; l < K; l++) h[j * K + l] += w * p[j] * ((j == l) - p[l]);
        }
    }
    free(count);
    free(p);
    return worth;
}

static krein_status fit(const sample *s, const double *weight, krein_calibration *c) {
    return krein__calibrate(ctx, KREIN_HEAD_BEST, s->K, s->n, s->K, s->f, s->y, weight, c);
}
static void release(krein_calibration *c) {
    krein__free(ctx, c->slope);
    krein__free(ctx, c->shift);
    memset(c, 0, sizeof *c);
}

/* Slope and shifts that the classes were drawn with come back, as exactly as the likelihood's
 * curvature promises, in any unit of the scores, and the gradient there is zero. */
static void recovered(void) {
    static const double b[6] = {0, 0.7, -0.4, 1.1, -1.5, 0.2}, a = 0.8;
    static const double unit[] = {1, 1e-8, 1e8};
    static const int64_t counts[] = {3, 6};
    for (int n = 0; n < 2; n++)
        for (int scale = 0; scale < 3; scale++) {
            int64_t K = counts[n];
            sample s = simulated(4000, K, 3, a, b, 5);
            krein_calibration c;
            double g[6], h[36], e[6];
            for (int64_t i = 0; i < s.n * K; i++) s.f[i] *= unit[scale];
            CHECK(fit(&s, NULL, &c) == KREIN_OK);
            slow(&s, NULL, &c, g, h);
            CHECK_ABS(g[0], 0, 1e-9 * unit[scale]);
            for (int64_t j = 1; j < K; j++) CHECK_ABS(g[j], 0, 1e-9);
            for (int64_t j = 0; j < K; j++) {
                double copy[36];
                memcpy(copy, h, sizeof copy);
                for (int64_t l = 0; l < K; l++) e[l] = l == j;
                test_solve(K, 1, copy, e);
                double got = j ? c.shift[j] : c.slope[0], want = j ? b[j] : a / unit[scale];
                CHECK_Z(got, want, e[j], s.n);
                CHECK(c.slope[j] == c.slope[0]);
            }
            CHECK(c.shift[0] == 0);
            release(&c);
            sample_free(&s);
        }
}

/* Their unit does not matter, a row without weight is no row, and equal ones are none. */
static void weighted(void) {
    static const double b[4] = {0, 0.5, -1, 0.3};
    sample s = simulated(300, 4, 2, 1.3, b, 9);
    double w[300], g[4], h[16];
    krein_calibration c, d;
    for (int64_t i = 0; i < 300; i++) w[i] = i % 3 ? 0.2 + fabs(det(i, 0, 0)) : 0;
    CHECK(fit(&s, w, &c) == KREIN_OK);
    slow(&s, w, &c, g, h);
    for (int64_t j = 0; j < 4; j++) CHECK_ABS(g[j], 0, 1e-9);
    for (int64_t i = 0; i < 300; i++) w[i] *= 1e6;
    CHECK(fit(&s, w, &d) == KREIN_OK);
    for (int64_t j = 0; j < 4; j++) {
        CHECK_REL(d.slope[j], c.slope[j], 1e-9);
        CHECK_ABS(d.shift[j], c.shift[j], 1e-9);
    }
    release(&d);
    sample kept = sample_new(0, 4); /* the rows with a weight alone */
    kept.f = realloc(kept.f, 1200 * sizeof *kept.f);
    kept.y = realloc(kept.y, 300 * sizeof *kept.y);
    for (int64_t i = 0; i < 300; i++) {
        if (w[i] == 0) continue;
        memcpy(kept.f + kept.n * 4, s.f + i * 4, 4 * sizeof *s.f);
        kept.y[kept.n] = s.y[i];
        w[kept.n++] = w[i];
    }
    CHECK(fit(&kept, w, &d) == KREIN_OK);
    CHECK_REL(d.slope[0], c.slope[0], 1e-9);
    release(&c);
    release(&d);
    for (int64_t i = 0; i < 300; i++) w[i] = 7;
    CHECK(fit(&s, NULL, &c) == KREIN_OK && fit(&s, w, &d) == KREIN_OK);
    for (int64_t j = 0; j < 4; j++) CHECK_ABS(d.shift[j], c.shift[j], 1e-9);
    release(&c);
    release(&d);
    sample_free(&s);
    sample_free(&kept);
}

/* ---- scores that are hard to fit ------------------------------------------ */

static void separated(void) {
    for (int64_t K = 2; K < 6; K++)
        for (int wide = 0; wide < 3; wide++) {
            int64_t n = 500;
            sample s = sample_new(n, K);
            double size = wide == 0 ? 1 : wide == 1 ? 1e150 : 1e-100, p[5];
            krein_calibration c;
            for (int64_t i = 0; i < n; i++) {
                s.y[i] = (int32_t)(i % K);
                for (int64_t j = 0; j < K; j++)
                    s.f[i * K + j] = size * ((j == s.y[i] ? 1 : -1) + 0.1 * det(i, j, 0));
            }
            if (K == 2) /* one score */
                for (int64_t i = 0; i < n; i++)
                    s.f[i] = size * (2 * s.y[i] - 1 + 0.1 * det(i, 0, 0));
            CHECK(krein__calibrate(ctx, KREIN_HEAD_BEST, K, n, K == 2 ? 1 : K, s.f, s.y, NULL,
                                   &c) == KREIN_OK);
            CHECK(isfinite(c.slope[0]) && c.slope[0] * size > 1 && c.slope[0] * size < 100);
            for (int64_t i = 0; i < n; i++) {
                krein__probabilities(KREIN_HEAD_BEST, K, &c, s.f + i * (K == 2 ? 1 : K), p, NULL);
                CHECK(p[s.y[i]] > 0.95 && p[s.y[i]] < 1);
            }
            release(&c);
            sample_free(&s);
        }
}

static void constant(void) {
    static const double level[] = {0, 0.1, -3e7, 1e300, 1e-300};
    for (int l = 0; l < 5; l++)
        for (int64_t K = 2; K < 5; K++) {
            int64_t n = 90;
            sample s = sample_new(n, K);
            krein_calibration c;
            double p[4], count[4] = {0};
            for (int64_t i = 0; i < n; i++) {
                s.y[i] = (int32_t)(i % 3 ? 0 : i % K);
                count[s.y[i]]++;
                for (int64_t j = 0; j < K; j++) s.f[i * K + j] = level[l] * (double)(j + 1);
            }
            if (K == 2)
                for (int64_t i = 0; i < n; i++) s.f[i] = level[l];
            CHECK(krein__calibrate(ctx, KREIN_HEAD_BEST, K, n, K == 2 ? 1 : K, s.f, s.y, NULL,
                                   &c) == KREIN_OK);
            CHECK(c.slope[0] == 0);
            krein__probabilities(KREIN_HEAD_BEST, K, &c, s.f, p, NULL);
            for (int64_t j = 0; j < K; j++) CHECK_ABS(p[j], count[j] / (double)n, 0.04);
            release(&c);
            sample_free(&s);
        }
}

/* A class without a row is unlikely, and no more. */
static void absent(void) {
    static const double b[4] = {0, 0.5, -1, 0.3};
    for (int gone = 0; gone < 4; gone++) {
        sample s = simulated(200, 4, 2, 1, b, 3);
        double p[4];
        krein_calibration c;
        for (int64_t i = 0; i < s.n; i++)
            if (s.y[i] == gone) s.y[i] = (int32_t)((gone + 1) % 4);
        CHECK(fit(&s, NULL, &c) == KREIN_OK);
        for (int64_t i = 0; i < s.n; i++) {
            krein__probabilities(KREIN_HEAD_BEST, 4, &c, s.f + i * 4, p, NULL);
            CHECK(p[gone] > 0 && p[gone] < 0.1);
        }
        release(&c);
        sample_free(&s);
    }
    /* pairs: one of the two classes, or both, without rows */
    double f[30];
    int32_t y[10];
    krein_calibration c;
    for (int64_t i = 0; i < 30; i++) f[i] = det(i, 0, 0);
    for (int64_t i = 0; i < 10; i++) y[i] = 1;
    CHECK(krein__calibrate(ctx, KREIN_HEAD_VOTES, 3, 10, 3, f, y, NULL, &c) == KREIN_OK);
    CHECK_ABS(c.slope[0], 0, 1e-9);
    CHECK_ABS(c.shift[0], log(11), 1e-9); /* class 1 against 0: ten rows to none */
    CHECK(c.slope[1] == 0 && c.shift[1] == 0);
    CHECK_ABS(c.shift[2], -log(11), 1e-9);
    release(&c);
}

/* Scores that say the opposite: no slope for many classes, a negative one for two. */
static void opposite(void) {
    static const double b[3] = {0, 0.5, -1};
    sample s = simulated(600, 3, 2, -1, b, 4);
    krein_calibration c;
    double p[3], mean[3] = {0};
    CHECK(fit(&s, NULL, &c) == KREIN_OK);
    CHECK(c.slope[0] == 0 && c.shift[0] == 0);
    krein__probabilities(KREIN_HEAD_BEST, 3, &c, s.f, p, NULL);
    for (int64_t i = 0; i < s.n; i++) mean[s.y[i]] += 1.0 / 600;
    for (int64_t j = 0; j < 3; j++) CHECK_ABS(p[j], mean[j], 0.01);
    release(&c);
    for (int64_t i = 0; i < s.n; i++) s.y[i] = s.f[i] < 0;
    CHECK(krein__calibrate(ctx, KREIN_HEAD_BEST, 2, s.n, 1, s.f, s.y, NULL, &c) == KREIN_OK);
    CHECK(c.slope[0] < -1);
    release(&c);
    sample_free(&s);
}

/* Each pair is Platt's sigmoid on the rows of its two classes. */
static void pairs(void) {
    int64_t n = 120, K = 4, k = 6;
    double *f = test_new(n * k, sizeof *f), *one = test_new(n, sizeof *one);
    int32_t *y = test_new(n, sizeof *y), *side = test_new(n, sizeof *side);
    krein_calibration c, d;
    for (int64_t i = 0; i < n; i++) {
        y[i] = (int32_t)test_random_below(K);
        for (int64_t a = 0; a < K; a++)
            for (int64_t b = a + 1; b < K; b++)
                f[i * k + krein__pair(K, a, b)] = (y[i] == b) - (y[i] == a) + 2 * test_random();
    }
    CHECK(krein__calibrate(ctx, KREIN_HEAD_VOTES, K, n, k, f, y, NULL, &c) == KREIN_OK);
    for (int64_t a = 0; a < K; a++)
        for (int64_t b = a + 1; b < K; b++) {
            int64_t m = 0, j = krein__pair(K, a, b);
            for (int64_t i = 0; i < n; i++)
                if (y[i] == a || y[i] == b) {
                    one[m] = f[i * k + j];
                    side[m++] = y[i] == b;
                }
            CHECK(krein__calibrate(ctx, KREIN_HEAD_BEST, 2, m, 1, one, side, NULL, &d) == KREIN_OK);
            CHECK(c.slope[j] == d.slope[0] && c.shift[j] == d.shift[0]);
            release(&d);
        }
    release(&c);
    free(f);
    free(one);
    free(y);
    free(side);
}

static void refused(void) {
    double f[4] = {0, 1, NAN, 2}, w[4] = {0};
    int32_t y[4] = {0, 1, 0, 1};
    krein_calibration c;
    CHECK(krein__calibrate(ctx, KREIN_HEAD_BEST, 2, 4, 1, f, y, NULL, &c) == KREIN_ENUMERIC);
    CHECK_HAS(krein_message(ctx), "row 3 is not finite");
    CHECK(!c.slope && !c.shift);
    f[2] = INFINITY;
    CHECK(krein__calibrate(ctx, KREIN_HEAD_BEST, 2, 4, 1, f, y, NULL, &c) == KREIN_ENUMERIC);
    f[2] = 0;
    CHECK(krein__calibrate(ctx, KREIN_HEAD_BEST, 2, 4, 1, f, y, w, &c) == KREIN_EDATA);
    CHECK(krein__calibrate(ctx, KREIN_HEAD_BEST, 2, 0, 1, f, y, NULL, &c) == KREIN_EDATA);
    CHECK_HAS(krein_message(ctx), "without `probabilities`");
}

static int asked, stop_at;
static int count_steps(void *user) {
    (void)user;
    return ++asked == stop_at;
}

/* Each step asks once whether to go on: Newton's method takes few, from any start, and stops. */
static void steps(void) {
    static const double b[4] = {0, 2, -3, 1};
    static const double width[] = {0.1, 3, 100};
    for (int i = 0; i < 3; i++) {
        sample s = simulated(1000, 4, width[i], 1, b, 6);
        krein_calibration c;
        krein_cancel_fn before = ctx->cancel;
        ctx->cancel = count_steps;
        asked = stop_at = 0;
        CHECK(fit(&s, NULL, &c) == KREIN_OK);
        CHECK(asked > 2 && asked <= 20);
        if (asked > 20) printf("width %g: %d steps\n", width[i], asked);
        release(&c);
        asked = 0;
        stop_at = 2;
        CHECK(fit(&s, NULL, &c) == KREIN_ECANCEL && !c.slope && !c.shift);
        ctx->cancel = before;
        sample_free(&s);
    }
}

static void every_allocation_fails(void) {
    test_memory memory;
    krein_ctx *own = test_ctx_with(1, &memory);
    static const double b[3] = {0, 1, -1};
    sample s = simulated(60, 3, 2, 1, b, 2);
    int runs = 0;
    for (int head = KREIN_HEAD_BEST; head <= KREIN_HEAD_VOTES; head++)
        TEST_EVERY_ALLOCATION(&memory, k) {
            krein_calibration c;
            krein_status st =
                krein__calibrate(own, (krein_head)head, 3, s.n, 3, s.f, s.y, NULL, &c);
            CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
            krein__free(own, c.slope);
            krein__free(own, c.shift);
            runs++;
        }
    CHECK(runs > 20);
    krein_ctx_destroy(own);
    sample_free(&s);
}

int main(void) {
    ctx = test_ctx(1);
    RUN(platt);
    RUN(recovered);
    RUN(weighted);
    RUN(separated);
    RUN(constant);
    RUN(absent);
    RUN(opposite);
    RUN(pairs);
    RUN(refused);
    RUN(steps);
    RUN(every_allocation_fails);
    krein_ctx_destroy(ctx);
    return DONE();
}
