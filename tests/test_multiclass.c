/* test_multiclass.c -- machines of all classes at once on a kernel matrix: against projected
 * gradients, an interior point method and the problem of least norm over a simplex, by their own
 * certificate, and against the solver on features. */
#include "multiclass.h"

#include "solve/crammer.h"
#include "solve/multiclass.h"

static const krein_multiclass_loss LARGEST = KREIN_MULTICLASS_LARGEST,
                                   PAIRS = KREIN_MULTICLASS_PAIRS;
static const krein_multiclass_intercept NONE = KREIN_INTERCEPT_NONE, FREE = KREIN_INTERCEPT_FREE,
                                        PENALISED = KREIN_INTERCEPT_PENALISED;

/* ---- problems ----------------------------------------------------------- */

/* width > 0: the Gaussian kernel of it, 0: the linear one. */
static double *matrix_of(const set *s, double width) {
    double *K = test_new(s->n * s->n, sizeof *K);
    for (int64_t e = 0; e < s->n * s->n; e++) {
        const float *x = s->x + e / s->n * s->D, *y = s->x + e % s->n * s->D;
        double distance = 0, product = 0;
        for (int64_t j = 0; j < s->D; j++) {
            distance += ((double)x[j] - (double)y[j]) * ((double)x[j] - (double)y[j]);
            product += (double)x[j] * (double)y[j];
        }
        K[e] = width > 0 ? exp(-distance / (2 * width * width)) : product;
    }
    return K;
}

static krein_multiclass machine(const set *s, const double *K, krein_multiclass_loss loss,
                                krein_multiclass_intercept intercept, double tol) {
    return (krein_multiclass){.n = s->n,
                              .classes = s->k,
                              .K = K,
                              .class = s->class,
                              .cost = s->cost,
                              .loss = loss,
                              .intercept = intercept,
                              .tol = tol,
                              .alpha = test_new(s->n * s->k, sizeof(double)),
                              .w = test_new(s->n * s->k, sizeof(double)),
                              .b = test_new(s->k, sizeof(double))};
}
static void clear(krein_multiclass *m) {
    free(m->alpha);
    free(m->w);
    free(m->b);
}
static krein_multiclass solve(krein_ctx *ctx, const set *s, const double *K,
                              krein_multiclass_loss loss, krein_multiclass_intercept intercept,
                              double tol) {
    krein_multiclass m = machine(s, K, loss, intercept, tol);
    CHECK(krein__multiclass(ctx, &m) == KREIN_OK);
    CHECK(m.converged && m.primal - m.dual_value <= tol * m.primal + 1e-9);
    return m;
}

/* ---- slow sums ---------------------------------------------------------- */

/* sum_j K_ij a_jc */
static double score(const set *s, const double *K, const double *a, int64_t i, int64_t c) {
    double sum = 0;
    for (int64_t j = 0; j < s->n; j++) sum += K[i * s->n + j] * a[j * s->k + c];
    return sum;
}
static double square(const set *s, const double *K, const double *a) {
    double sum = 0;
    for (int64_t e = 0; e < s->n * s->k; e++) sum += a[e] * score(s, K, a, e / s->k, e % s->k);
    return sum;
}
static double slow_primal(const set *s, const double *K, krein_multiclass_loss loss,
                          krein_multiclass_intercept intercept, const double *w, const double *b) {
    double value = square(s, K, w) / 2;
    for (int64_t c = 0; c < s->k; c++)
        if (intercept == PENALISED) value += b[c] * b[c] / 2;
    for (int64_t i = 0; i < s->n; i++) {
        int64_t y = s->class[i];
        double own = score(s, K, w, i, y) + b[y], most = 0, squares = 0;
        for (int64_t c = 0; c < s->k; c++) {
            double xi = c == y ? 0 : fmax(0, 1 - own + score(s, K, w, i, c) + b[c]);
            most = fmax(most, xi);
            squares += xi * xi;
        }
        value += s->cost[i] * (loss == PAIRS ? squares : most);
    }
    return value;
}
/* Of alpha, with the penalised intercept's part. */
static double slow_dual(const set *s, const double *K, krein_multiclass_loss loss,
                        krein_multiclass_intercept intercept, const double *alpha) {
    double value = -square(s, K, alpha) / 2;
    for (int64_t c = 0; c < s->k; c++) {
        double sum = 0;
        for (int64_t i = 0; i < s->n; i++) sum += alpha[i * s->k + c];
        if (intercept == PENALISED) value -= sum * sum / 2;
    }
    for (int64_t e = 0; e < s->n * s->k; e++) {
        if (e % s->k == s->class[e / s->k])
            value += alpha[e];
        else if (loss == PAIRS && s->cost[e / s->k] > 0)
            value -= alpha[e] * alpha[e] / (4 * s->cost[e / s->k]);
    }
    return value;
}

static void check_feasible(const set *s, const krein_multiclass *m) {
    double total = 0;
    for (int64_t i = 0; i < s->n; i++) {
        double sum = 0, size = 0;
        for (int64_t c = 0; c < s->k; c++) {
            double a = m->alpha[i * s->k + c];
            CHECK(c == s->class[i] ? a >= 0 : a <= 0);
            if (c == s->class[i] && m->loss == LARGEST) CHECK(a <= s->cost[i]);
            sum += a;
            size += fabs(a);
        }
        CHECK_ABS(sum, 0, 1e-11 * size);
        if (s->cost[i] == 0) CHECK(size == 0);
        total += size;
    }
    for (int64_t c = 0; m->intercept == FREE && c < s->k; c++) {
        double sum = 0;
        for (int64_t i = 0; i < s->n; i++) sum += m->alpha[i * s->k + c];
        CHECK_ABS(sum, 0, 1e-11 * total);
    }
}

/* All losses and intercepts that a learner asks for, and the two that none does. */
static const struct kind {
    krein_multiclass_loss loss;
    krein_multiclass_intercept intercept;
} kinds[] = {{KREIN_MULTICLASS_LARGEST, KREIN_INTERCEPT_NONE},
             {KREIN_MULTICLASS_LARGEST, KREIN_INTERCEPT_FREE},
             {KREIN_MULTICLASS_LARGEST, KREIN_INTERCEPT_PENALISED},
             {KREIN_MULTICLASS_PAIRS, KREIN_INTERCEPT_NONE},
             {KREIN_MULTICLASS_PAIRS, KREIN_INTERCEPT_FREE},
             {KREIN_MULTICLASS_PAIRS, KREIN_INTERCEPT_PENALISED}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- the certificate ---------------------------------------------------- */

static void certificate(void) {
    static const struct {
        int64_t n, k;
        double C, width;
    } all[] = {{80, 3, 1, 1}, {150, 6, 20, .5}, {60, 2, 300, 3}, {90, 5, .02, 0}};
    krein_ctx *ctx = test_ctx(2);
    for (size_t t = 0; t < sizeof all / sizeof *all; t++)
        for (int q = 0; q < KINDS; q++) {
            set s = make(all[t].n, 4, all[t].k, 1.5, all[t].C);
            double *K = matrix_of(&s, all[t].width), mean = 0;
            krein_multiclass m = solve(ctx, &s, K, kinds[q].loss, kinds[q].intercept, 1e-4);
            check_feasible(&s, &m);
            CHECK_REL(m.primal, slow_primal(&s, K, m.loss, m.intercept, m.w, m.b), 1e-9);
            CHECK_REL(m.last_dual, slow_dual(&s, K, m.loss, m.intercept, m.alpha), 1e-9);
            CHECK(m.last_dual <= m.dual_value && m.dual_value <= m.primal * (1 + 1e-9));
            for (int64_t c = 0; c < s.k; c++) {
                mean += m.b[c];
                if (m.intercept == NONE) CHECK_ABS(m.b[c], 0, 1e-12);
            }
            CHECK_ABS(mean, 0, 1e-9 * (1 + fabs(m.b[0])));
            CHECK(m.support > 0 && m.rounds > 0);
            clear(&m);
            drop(&s);
            free(K);
        }
    krein_ctx_destroy(ctx);
}

/* Slopes of the beta that are not zero are the largest of their row, and zero short of the cap. */
static void conditions(void) {
    krein_ctx *ctx = test_ctx(1);
    for (int q = 0; q < KINDS; q++) {
        set s = make(100, 3, 4, 1.5, 2);
        double *K = matrix_of(&s, .7), worst = 0;
        krein_multiclass m = solve(ctx, &s, K, kinds[q].loss, kinds[q].intercept, 1e-10);
        for (int64_t i = 0; i < s.n; i++) {
            int64_t y = s.class[i];
            double own = score(&s, K, m.w, i, y) + m.b[y], high = 0, low = INFINITY;
            if (m.loss == PAIRS || m.alpha[i * s.k + y] < s.cost[i] * (1 - 1e-6)) low = 0;
            for (int64_t c = 0; c < s.k; c++) {
                double a = m.alpha[i * s.k + c], D = m.loss == PAIRS ? 1 / (2 * s.cost[i]) : 0;
                double slope = 1 - own + score(&s, K, m.w, i, c) + m.b[c] + D * a;
                if (c == y) continue;
                high = fmax(high, slope);
                if (a < -1e-6 * s.cost[i]) low = fmin(low, slope);
            }
            worst = fmax(worst, high - low);
        }
        CHECK_ABS(worst, 0, 1e-4);
        CHECK(m.support > 10);
        clear(&m);
        drop(&s);
        free(K);
    }
    krein_ctx_destroy(ctx);
}

/* ---- projected gradients ------------------------------------------------ */

/* The nearest beta >= 0 of sum at most cap, by bisection. */
static void onto_cap(int64_t k, int64_t y, double cap, double *beta) {
    double sum = 0, low = 0, high = 0;
    for (int64_t c = 0; c < k; c++) {
        beta[c] = c == y ? 0 : fmax(0, beta[c]);
        sum += beta[c];
        high = fmax(high, beta[c]);
    }
    if (sum <= cap) return;
    for (int t = 0; t < 100; t++) {
        double middle = (low + high) / 2, rest = 0;
        for (int64_t c = 0; c < k; c++) rest += c == y ? 0 : fmax(0, beta[c] - middle);
        *(rest > cap ? &low : &high) = middle;
    }
    for (int64_t c = 0; c < k; c++) beta[c] = c == y ? 0 : fmax(0, beta[c] - high);
}

static void alpha_of(const set *s, const double *beta, double *alpha) {
    for (int64_t i = 0; i < s->n; i++) {
        double sum = 0;
        for (int64_t c = 0; c < s->k; c++) {
            alpha[i * s->k + c] = -beta[i * s->k + c];
            sum += beta[i * s->k + c];
        }
        alpha[i * s->k + s->class[i]] = sum;
    }
}

/* The largest dual value by projected gradients with momentum, intercepts other than free. */
static double by_projection(const set *s, const double *K, krein_multiclass_loss loss,
                            krein_multiclass_intercept intercept, int64_t steps) {
    int64_t size = s->n * s->k;
    double *Q = test_new(s->n * s->n, sizeof *Q), *beta = test_new(size, sizeof *beta),
           *at = test_new(size, sizeof *at), *old = test_new(size, sizeof *old),
           *alpha = test_new(size, sizeof *alpha), largest = 0, t = 1, ridge = 0, rowsum;
    for (int64_t e = 0; e < s->n * s->n; e++) Q[e] = K[e] + (intercept == PENALISED);
    for (int64_t i = 0; i < s->n; i++) {
        rowsum = 0;
        for (int64_t j = 0; j < s->n; j++) rowsum += fabs(Q[i * s->n + j]);
        largest = fmax(largest, rowsum);
        if (loss == PAIRS) ridge = fmax(ridge, 1 / (2 * s->cost[i]));
    }
    double rate = 1 / ((double)s->k * largest + ridge), best = -INFINITY;
    for (int64_t step = 0; step < steps; step++) {
        double next = (1 + sqrt(1 + 4 * t * t)) / 2;
        alpha_of(s, at, alpha);
        memcpy(old, beta, (size_t)size * sizeof *old);
        for (int64_t i = 0; i < s->n; i++) {
            double own = score(s, Q, alpha, i, s->class[i]);
            double cap = loss == PAIRS ? INFINITY : s->cost[i];
            for (int64_t c = 0; c < s->k; c++) {
                double D = loss == PAIRS ? 1 / (2 * s->cost[i]) : 0;
                double slope = 1 - own + score(s, Q, alpha, i, c) - D * at[i * s->k + c];
                beta[i * s->k + c] = at[i * s->k + c] + rate * slope;
            }
            onto_cap(s->k, s->class[i], cap, beta + i * s->k);
        }
        for (int64_t e = 0; e < size; e++) at[e] = beta[e] + (t - 1) / next * (beta[e] - old[e]);
        t = next;
        if (step % 50 < 49) continue;
        alpha_of(s, beta, alpha);
        double value = slow_dual(s, K, loss, intercept, alpha);
        if (value < best) t = 1;
        best = fmax(best, value);
    }
    free(Q);
    free(beta);
    free(at);
    free(old);
    free(alpha);
    return best;
}

static void against_projection(void) {
    krein_ctx *ctx = test_ctx(1);
    for (int q = 0; q < KINDS; q++) {
        if (kinds[q].intercept == FREE) continue;
        for (int t = 0; t < 2; t++) {
            set s = make(20, 3, t ? 4 : 3, 1.5, t ? 3 : .4);
            for (int64_t i = 0; i < s.n; i++) s.cost[i] *= .5 + .5 * (double)(i % 3);
            double *K = matrix_of(&s, t ? .8 : 0);
            krein_multiclass m = solve(ctx, &s, K, kinds[q].loss, kinds[q].intercept, 1e-8);
            CHECK_REL(m.primal,
                      by_projection(&s, K, m.loss, m.intercept, test_sanitized() ? 1500 : 4000),
                      1e-6);
            clear(&m);
            drop(&s);
            free(K);
        }
    }
    krein_ctx_destroy(ctx);
}

/* Free intercepts: the least objective of the linear kernel by an interior point method. */
static void free_intercepts(void) {
    krein_ctx *ctx = test_ctx(1);
    for (int t = 0; t < 4; t++) {
        set s = make(24 + 2 * t, 2, t < 2 ? 3 : 4, 1.5, t % 2 ? 5 : .5);
        for (int64_t i = 0; i < s.n; i++) {
            s.x[i * s.D] += 1; /* so that an intercept matters */
            if (t >= 2) s.cost[i] *= .1 + (double)(i % 3);
        }
        double *K = matrix_of(&s, 0), best = interior_point(&s);
        krein_multiclass m = solve(ctx, &s, K, LARGEST, FREE, 1e-6);
        krein_multiclass none = solve(ctx, &s, K, LARGEST, NONE, 1e-6);
        CHECK_REL(m.primal, best, 2e-6);
        CHECK(none.primal > best * 1.001);
        clear(&m);
        clear(&none);
        drop(&s);
        free(K);
    }
    krein_ctx_destroy(ctx);
}

/* ---- the problem of least norm ------------------------------------------ */

/* min a'Ha over the simplex, by moving weight from the worst of its points to the best (Mitchell,
 * Demyanov and Malozemov), and the scores of the machine that a / (a'Ha) is. Points are the pairs
 * of a row i and a class c other than its own; the kernel is K + 1. */
static void least_norm(const set *s, const double *K, double *scores) {
    int64_t n = s->n, k = s->k, size = n * k;
    double *H = test_new(size * size, sizeof *H), *a = test_new(size, sizeof *a),
           *G = test_new(size, sizeof *G), *alpha = test_new(size, sizeof *alpha), norm = 0;
    int64_t first = s->class[0] == 0;
    for (int64_t e = 0; e < size; e++)
        for (int64_t f = 0; f < size; f++) {
            int64_t i = e / k, c = e % k, j = f / k, d = f % k, y = s->class[i], z = s->class[j];
            double sign = (double)((y == z) + (c == d) - (y == d) - (c == z));
            H[e * size + f] = (K[i * n + j] + 1) * sign + (e == f ? 1 / (2 * s->cost[i]) : 0);
        }
    a[first] = 1;
    for (int64_t e = 0; e < size; e++) G[e] = H[first * size + e];
    for (int64_t step = 0; step < 400000; step++) {
        int64_t low = -1, high = -1;
        for (int64_t e = 0; e < size; e++) {
            if (e % k == s->class[e / k]) continue;
            if (low < 0 || G[e] < G[low]) low = e;
            if (a[e] > 0 && (high < 0 || G[e] > G[high])) high = e;
        }
        double slope = G[high] - G[low];
        if (slope < 1e-12) break;
        double curve = H[low * size + low] + H[high * size + high] - 2 * H[low * size + high];
        double t = fmin(slope / curve, a[high]);
        a[low] += t;
        a[high] = t < a[high] ? a[high] - t : 0;
        for (int64_t e = 0; e < size; e++) G[e] += t * (H[low * size + e] - H[high * size + e]);
    }
    for (int64_t e = 0; e < size; e++) norm += a[e] * G[e];
    for (int64_t e = 0; e < size; e++) a[e] /= norm;
    alpha_of(s, a, alpha);
    for (int64_t e = 0; e < size; e++) {
        scores[e] = score(s, K, alpha, e / k, e % k);
        for (int64_t i = 0; i < n; i++) scores[e] += alpha[i * k + e % k];
    }
    free(H);
    free(a);
    free(G);
    free(alpha);
}

static void as_least_norm(void) {
    krein_ctx *ctx = test_ctx(1);
    for (int t = 0; t < 3; t++) {
        set s = make(18, 3, 2 + t, 1.5, t == 1 ? 10 : .7);
        double *K = matrix_of(&s, .9), *scores = test_new(s.n * s.k, sizeof *scores);
        krein_multiclass m = solve(ctx, &s, K, PAIRS, PENALISED, 1e-12);
        least_norm(&s, K, scores);
        for (int64_t e = 0; e < s.n * s.k; e++)
            CHECK_ABS(score(&s, K, m.w, e / s.k, e % s.k) + m.b[e % s.k], scores[e], 1e-5);
        clear(&m);
        drop(&s);
        free(K);
        free(scores);
    }
    krein_ctx_destroy(ctx);
}

/* ---- the solver on features --------------------------------------------- */

static void like_features(void) {
    krein_ctx *ctx = test_ctx(2);
    for (int open = 0; open < 2; open++) {
        set s = make(300, 8, 5, 1.5, .7);
        double *K = matrix_of(&s, 0);
        krein_multiclass m = solve(ctx, &s, K, LARGEST, open ? FREE : NONE, 1e-5);
        krein_features z = {
            .ctx = ctx, .n = s.n, .D = s.D, .rows = 128, .blocks = 3, .kept = s.x, .at = -1};
        krein_machine_options o = {.intercept = open, .tol = 1e-5, .seed = 7};
        krein_crammer other = {.n = s.n,
                               .classes = s.k,
                               .class = s.class,
                               .cost = s.cost,
                               .alpha = test_new(s.n * s.k, sizeof(double)),
                               .w = test_new(s.D * s.k, sizeof(double)),
                               .b = test_new(s.k, sizeof(double))};
        CHECK(krein__crammer(&z, &other, &o) == KREIN_OK && other.converged);
        CHECK_REL(m.primal, other.primal, 3e-5);
        free(other.alpha);
        free(other.w);
        free(other.b);
        clear(&m);
        drop(&s);
        free(K);
    }
    krein_ctx_destroy(ctx);
}

/* ---- what is given ------------------------------------------------------ */

/* Cost 2 is the row twice, cost 0 is no row. */
static void costs(void) {
    krein_ctx *ctx = test_ctx(1);
    for (int q = 0; q < KINDS; q++) {
        set s = make(60, 3, 3, 1.5, 1), some = make(60, 3, 3, 1.5, 1);
        some.n = 0;
        for (int64_t i = 0; i < s.n; i++) {
            s.cost[i] = (double)(i % 3);
            for (int64_t t = 0; t < i % 3; t++, some.n++) {
                memcpy(some.x + some.n * 3, s.x + i * 3, 3 * sizeof *s.x);
                some.class[some.n] = s.class[i];
            }
        }
        double *K = matrix_of(&s, .8);
        double *Ks = matrix_of(&some, .8);
        krein_multiclass m = solve(ctx, &s, K, kinds[q].loss, kinds[q].intercept, 1e-7);
        krein_multiclass t = solve(ctx, &some, Ks, kinds[q].loss, kinds[q].intercept, 1e-7);
        CHECK(some.n == 60);
        CHECK_REL(m.primal, t.primal, 1e-6);
        check_feasible(&s, &m);
        clear(&m);
        clear(&t);
        drop(&s);
        drop(&some);
        free(K);
        free(Ks);
    }
    krein_ctx_destroy(ctx);
}

/* K times t and C over t: scores as they were, alpha over t. The penalised intercept knows units.
 */
static void units(void) {
    krein_ctx *ctx = test_ctx(1);
    for (int q = 0; q < KINDS; q++) {
        if (kinds[q].intercept == PENALISED) continue;
        for (int t = 0; t < 2; t++) {
            double factor = t ? 0x1p20 : 0x1p-20;
            set s = make(50, 3, 3, 1.5, 4);
            double *K = matrix_of(&s, .7);
            krein_multiclass m = solve(ctx, &s, K, kinds[q].loss, kinds[q].intercept, 1e-4);
            for (int64_t i = 0; i < s.n; i++) s.cost[i] /= factor;
            for (int64_t e = 0; e < s.n * s.n; e++) K[e] *= factor;
            krein_multiclass o = solve(ctx, &s, K, kinds[q].loss, kinds[q].intercept, 1e-4);
            for (int64_t e = 0; e < s.n * s.k; e++)
                CHECK_ABS(o.alpha[e] * factor, m.alpha[e], 1e-9);
            clear(&m);
            clear(&o);
            drop(&s);
            free(K);
        }
    }
    krein_ctx_destroy(ctx);
}

static void warm_start(void) {
    krein_ctx *ctx = test_ctx(1);
    for (int q = 0; q < KINDS; q++) {
        set s = make(120, 4, 4, 1.5, 1);
        double *K = matrix_of(&s, .8);
        krein_multiclass m = solve(ctx, &s, K, kinds[q].loss, kinds[q].intercept, 1e-5);
        double primal = m.primal;
        int64_t cold = m.steps;
        m.tol = 1e-4;
        CHECK(krein__multiclass(ctx, &m) == KREIN_OK && m.converged);
        CHECK_REL(m.primal, primal, 2e-4);
        CHECK(m.steps < cold / 2);
        for (int64_t e = 0; e < s.n * s.k; e++) m.alpha[e] = 3 * test_random(); /* anything */
        CHECK(krein__multiclass(ctx, &m) == KREIN_OK && m.converged);
        CHECK_REL(m.primal, primal, 2e-4);
        check_feasible(&s, &m);
        clear(&m);
        drop(&s);
        free(K);
    }
    krein_ctx_destroy(ctx);
}

static void same_bits(void) {
    set s = make(test_sanitized() ? 300 : 700, 6, 5, 2, 30);
    double *K = matrix_of(&s, 1.5);
    for (int q = 1; q < KINDS; q += 4) {
        krein_multiclass m[3];
        for (int t = 0; t < 3; t++) {
            krein_ctx *ctx = test_ctx(t + 1);
            m[t] = solve(ctx, &s, K, kinds[q].loss, kinds[q].intercept, 1e-3);
            CHECK(m[t].rounds > 1);
            CHECK(m[t].primal == m[0].primal && m[t].dual_value == m[0].dual_value);
            CHECK(!memcmp(m[t].w, m[0].w, (size_t)(s.n * s.k) * sizeof(double)));
            CHECK(!memcmp(m[t].b, m[0].b, (size_t)s.k * sizeof(double)));
            CHECK(!memcmp(m[t].alpha, m[0].alpha, (size_t)(s.n * s.k) * sizeof(double)));
            krein_ctx_destroy(ctx);
        }
        for (int t = 0; t < 3; t++) clear(&m[t]);
    }
    drop(&s);
    free(K);
}

/* ---- limits ------------------------------------------------------------- */

/* One class, classes without rows, a kernel of zeros. */
static void edges(void) {
    krein_ctx *ctx = test_ctx(1);
    for (int q = 0; q < KINDS; q++) {
        krein_multiclass_loss loss = kinds[q].loss;
        krein_multiclass_intercept intercept = kinds[q].intercept;
        set s = make(60, 4, 3, 1, 1);
        double *K = matrix_of(&s, .8);
        for (int64_t i = 0; i < s.n; i++) s.class[i] = 1;
        krein_multiclass m = solve(ctx, &s, K, loss, intercept, 1e-4);
        if (intercept == FREE) CHECK_ABS(m.primal, 0, 1e-6);
        for (int64_t i = 0; i < s.n; i++)
            for (int64_t c = 0; c < 3; c += 2)
                CHECK(score(&s, K, m.w, i, 1) + m.b[1] > score(&s, K, m.w, i, c) + m.b[c]);
        clear(&m);
        for (int64_t i = 0; i < s.n; i++) s.class[i] = i % 3 ? 2 : 0; /* 1 has no rows */
        m = solve(ctx, &s, K, loss, intercept, 1e-4);
        clear(&m);
        memset(K, 0, (size_t)(s.n * s.n) * sizeof *K);
        m = solve(ctx, &s, K, loss, intercept, 1e-4);
        /* the majority is right by a margin and the others lose 2 each; or all lose 1; or squares:
         * of b with 40 (1 - b)^2 + 20 (1 + b)^2 the least, and nothing against the absent class */
        if (loss == LARGEST && intercept != PENALISED)
            CHECK_REL(m.primal, intercept == FREE ? 40 : 60, 1e-3);
        if (loss == PAIRS && intercept == FREE) CHECK_REL(m.primal, 160. / 3, 1e-3);
        if (loss == PAIRS && intercept == NONE) CHECK_REL(m.primal, 120, 1e-3);
        clear(&m);
        for (int64_t i = 0; i < s.n; i++) s.cost[i] = 0;
        m = machine(&s, K, loss, intercept, 1e-3);
        CHECK(krein__multiclass(ctx, &m) == KREIN_OK && m.primal == 0 && m.support == 0);
        clear(&m);
        drop(&s);
        free(K);
    }
    krein_ctx_destroy(ctx);
}

static void not_positive(void) {
    krein_ctx *ctx = test_ctx(1);
    for (int q = 0; q < KINDS; q++) {
        set s = make(60, 4, 3, 1, 10);
        double *K = matrix_of(&s, .8);
        for (int64_t e = 0; e < s.n * s.n; e++) K[e] = e % (s.n + 1) ? -K[e] : K[e];
        krein_multiclass m = machine(&s, K, kinds[q].loss, kinds[q].intercept, 1e-6);
        CHECK(krein__multiclass(ctx, &m) == KREIN_ENUMERIC);
        CHECK_HAS(krein_message(ctx), "not positive semidefinite");
        CHECK_HAS(krein_message(ctx), "spectrum=clip");
        clear(&m);
        drop(&s);
        free(K);
    }
    krein_ctx_destroy(ctx);
}

static int cancelled(void *user) {
    (void)user;
    return 1;
}

static void ends_early(void) {
    krein_ctx *ctx = test_ctx(1);
    set s = make(300, 4, 4, 2, 1e4);
    double *K = matrix_of(&s, 3);
    krein_multiclass m = machine(&s, K, LARGEST, FREE, 1e-9);
    m.deadline = krein__clock() - 1;
    CHECK(krein__multiclass(ctx, &m) == KREIN_OK && !m.converged && m.rounds == 1);
    CHECK(isfinite(m.primal) && m.dual_value <= m.primal);
    check_feasible(&s, &m);
    m.deadline = 0;
    m.most = 3;
    CHECK(krein__multiclass(ctx, &m) == KREIN_OK && !m.converged && m.rounds == 3);
    check_feasible(&s, &m);
    ctx->cancel = cancelled;
    CHECK(krein__multiclass(ctx, &m) == KREIN_ECANCEL);
    clear(&m);
    drop(&s);
    free(K);
    krein_ctx_destroy(ctx);
}

static void memory(void) {
    static const struct { int64_t n, k; } all[] = {{40, 3}, {200, 30}, {300, 2}};
    for (size_t t = 0; t < sizeof all / sizeof *all; t++) {
        krein_ctx *ctx = test_ctx(3);
        set s = make(all[t].n, 3, all[t].k, 1, .1);
        double *K = matrix_of(&s, 1);
        krein_multiclass m = solve(ctx, &s, K, LARGEST, FREE, 1e-2);
        CHECK((double)ctx->peak <= krein__multiclass_bytes(s.n, s.k));
        clear(&m);
        drop(&s);
        free(K);
        krein_ctx_destroy(ctx);
    }
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    set s = make(40, 3, 3, 1, 1);
    double *K = matrix_of(&s, 1);
    TEST_EVERY_ALLOCATION(&memory, k) {
        krein_multiclass m = machine(&s, K, LARGEST, FREE, 1e-4);
        krein_status st = krein__multiclass(ctx, &m);
        CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
        clear(&m);
    }
    drop(&s);
    free(K);
    krein_ctx_destroy(ctx);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(certificate);
    RUN(conditions);
    RUN(against_projection);
    RUN(free_intercepts);
    RUN(as_least_norm);
    RUN(like_features);
    RUN(costs);
    RUN(units);
    RUN(warm_start);
    RUN(same_bits);
    RUN(edges);
    RUN(not_positive);
    RUN(ends_early);
    RUN(memory);
    return DONE();
}
