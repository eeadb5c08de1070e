/* test_kernels.c -- base kernels and Gram matrices.
 *
 * Loops over the table of kernels: each needs an obvious formula in kernels.h. A value computed
 * from |x|^2 + |y|^2 - 2 <x, y> has the error that a change of that number by a few eps makes, so
 * the tolerance is taken from the formula itself at both ends of that interval. */
#include "kernels.h"

#include "kernel/gram.h"
#include "kernel/median.h"
#include "num/blas.h"

#include <float.h>

static void full(const krein_kernel *k, krein_rows x, krein_rows y, double *out) {
    krein_status st = krein__gram_full(ctx, k, &x, &y, out);
    if (st != KREIN_OK) printf("%s\n", krein_message(ctx));
    CHECK(st == KREIN_OK);
}

/* Checks value against the formula; eps of the type, a few units in the last place. */
static bool close_to(const krein_kernel *k, int64_t d, const double *x, const double *y,
                     double value, double eps) {
    formula f = formula_of(k);
    const double *p = k->values.number;
    double size = dot(d, x, x) + dot(d, y, y), e = 0;
    e = (k->kernel->rows32 ? 8 : 8 * sqrt((double)d)) * eps * (size + 1);
    double scale = 0, want = f(p, d, x, y, 0);
    /* The argument u of an exponential has a relative error: exp(-u) one of u eps. */
    double inner = fabs(want) > 0 ? fabs(log(fabs(want))) : 0;
    /* J_n(theta) comes from parts that cancel near theta = pi. */
    if (strstr("arccos ntk", k->kernel->cls.name))
        scale = sqrt(f(p, d, x, x, 0) * f(p, d, y, y, 0));
    double allowed = (16 + 4 * inner + 4 * (double)d) * eps * fabs(want) + 8 * eps * scale + 1e-37;
    if (fabs(value - want) <= allowed) return true; /* without the ends, which take long */
    double up = f(p, d, x, y, e), down = f(p, d, x, y, -e);
    allowed += fmax(fabs(up - want), fabs(down - want));
    bool good = fabs(value - want) <= allowed;
    if (!good)
        printf("%s, d=%lld: %.10g, want %.10g, error %.2g, allowed %.2g\n", k->kernel->cls.name,
               (long long)d, value, want, value - want, allowed);
    return good;
}

/* ---- values ------------------------------------------------------------- */

static void every_kernel_is_here(void) {
    for (int64_t i = 0; i < krein__kernel_count; i++) {
        bool found = false;
        if (((const krein_kernel_class *)krein__kernels[i])->family == KREIN_FAMILY_TABLE)
            continue; /* test_table.c */
        for (int b = 0; b < BASES; b++) {
            krein_kernel *k = kernel_of(bases[b]);
            found = found || (&k->kernel->cls == krein__kernels[i] && formula_of(k));
            krein__kernel_destroy(ctx, k);
        }
        if (!found) printf("no formula and case for %s in this test\n", krein__kernels[i]->name);
        CHECK(found);
        const krein_kernel_class *c = (const krein_kernel_class *)krein__kernels[i];
        bool rows = c->rows32 != NULL;
        CHECK(rows ? c->rows32 && c->rows64 : c->values32 && c->values64);
        CHECK((c->coordinate != NULL) == (c->finish != NULL));
        CHECK((c->count != NULL) == (c->numbers != NULL));
        CHECK(c->cls.summary && c->cls.cite);
        CHECK(!(c->low < c->high) || c->advice);
        if (krein__option_index(&c->cls, "sigma") >= 0) CHECK(c->metric != 0 && c->spread > 0);
        if (c->family == KREIN_FAMILY_RADIAL) CHECK((c->frequency != NULL) == (c->radius != NULL));
    }
}

static void print_kernel(const krein_kernel *k) {
    char *text = krein__kernel_text(ctx, k);
    printf("in %s\n", text ? text : "?");
    krein__free(ctx, text);
}

/* The functions of the class itself. n > 256: more than one chunk of matern. */
static void class_functions(const krein_kernel *k, int64_t d) {
    enum { N = 300 };
    const krein_kernel_class *c = k->kernel;
    double *p = numbers_of(k, d), sum[KREIN_SUMS_MAX];
    int64_t ld = d + 3, sums = c->sums ? c->sums(p) : 1;
    double *x = test_new(d, sizeof *x), *y = test_new(N * ld, sizeof *y);
    float *x32 = test_new(d, sizeof *x32), *y32 = test_new(N * ld, sizeof *y32);
    double v[N], yy[N], xx = 0;
    float v32[N], yy32[N];
    for (int64_t j = 0; j < d; j++) {
        x[j] = x32[j] = (float)det(3, j, 0.4);
        xx += x[j] * x[j];
    }
    for (int64_t i = 0; i < N; i++) {
        yy[i] = 0;
        for (int64_t j = 0; j < ld; j++) y[i * ld + j] = y32[i * ld + j] = (float)det(i, j, 1.9);
        for (int64_t j = 0; j < d && i == 7; j++) y[i * ld + j] = y32[i * ld + j] = x32[j];
        for (int64_t j = 0; j < d; j++) yy[i] += y[i * ld + j] * y[i * ld + j];
        yy32[i] = (float)yy[i];
        v[i] = dot(d, x, y + i * ld);
        v32[i] = (float)v[i];
    }
    if (c->rows32) {
        c->rows64(p, d, x, N, y, ld, v);
        c->rows32(p, d, x32, N, y32, ld, v32);
    } else {
        c->values64(p, N, v, xx, yy);
        c->values32(p, N, v32, (float)xx, yy32);
    }
    bool good = true;
    for (int64_t i = 0; i < N && good; i++) {
        good = close_to(k, d, x, y + i * ld, v[i], DBL_EPSILON) &&
               close_to(k, d, x, y + i * ld, (double)v32[i], FLT_EPSILON);
        if (c->coordinate) {
            for (int64_t t = 0; t < sums; t++) {
                sum[t] = 0;
                for (int64_t j = 0; j < d; j++)
                    sum[t] += c->coordinate(p, t * d + j, x[j], y[i * ld + j]);
            }
            good = good && close_to(k, d, x, y + i * ld, c->finish(p, sum), DBL_EPSILON);
        }
    }
    if (!good) print_kernel(k);
    CHECK(good);
    free(p);
    free(x);
    free(y);
    free(x32);
    free(y32);
}

static void values(void) {
    static const int64_t dims[] = {1, 3, 8, 19};
    for (int b = 0; b < BASES; b++) {
        krein_kernel *k = kernel_of(bases[b]);
        for (int i = 0; i < 4 && formula_of(k); i++) class_functions(k, dims[i]);
        krein__kernel_destroy(ctx, k);
    }
}

/* FORMULAS group 1: tau is the difference of the rows of det(2, 3). */
static void references(void) {
    static const struct {
        const char *text;
        double want;
    } cases[] = {
        {"gaussian(sigma=1.3)", .259542245747},       {"laplacian(sigma=1.3)", .073577486268},
        {"matern(nu=0.5, sigma=1.3)", .193503630226}, {"cauchy(sigma=1.3)", .180609952298},
        {"matern(nu=0.5, sigma=0.8)", .069321797468}, {"matern(nu=1.5, sigma=0.8)", .055243741043},
        {"matern(nu=2.5, sigma=0.8)", .048217127245}, {"matern(nu=2.2, sigma=0.8)", .049897626517},
        {"anova(c=0.7, sigma=1.3)", .456404813436}};
    double x[3], y[3];
    for (int j = 0; j < 3; j++) x[j] = det(0, j, 0), y[j] = det(1, j, 0);
    CHECK_ABS(x[0], .099833416647, 1e-12);
    CHECK_ABS(y[2], -.871575772414, 1e-12);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        krein_kernel *k = kernel_of(cases[i].text);
        const krein_kernel_class *c = k->kernel;
        double value, yy = dot(3, y, y);
        if (c->rows32) {
            c->rows64(k->values.number, 3, x, 1, y, 3, &value);
        } else {
            value = dot(3, x, y);
            c->values64(k->values.number, 1, &value, dot(3, x, x), &yy);
        }
        CHECK_ABS(value, cases[i].want, 1e-12);
        krein__kernel_destroy(ctx, k);
    }
}

/* Far apart, at the same place, with the widths at the ends of their range: never NaN. */
static void extremes(void) {
    static const float points[] = {0, 0, 1, -2, 1, -2, 3e4f, 1e3f, 1e-20f, 0};
    static const char *const widths[] = {"1e-30", "1e-6", "1e6", "1e30"};
    krein_rows rows = krein__rows_dense(5, 2, points, 2);
    double wide[25];
    float *narrow = test_new(KREIN_TILE * 5, sizeof *narrow);
    for (int64_t i = 0; i < krein__kernel_count; i++) {
        const krein_kernel_class *c = (const krein_kernel_class *)krein__kernels[i];
        if (!krein__is_stationary(c) || krein__option_index(&c->cls, "sigma") < 0) continue;
        for (int w = 0; w < 4; w++) {
            char text[100];
            snprintf(text, sizeof text, "%s(sigma=%s)", c->cls.name, widths[w]);
            krein_kernel *k = kernel_of(text);
            krein_gram_rows g;
            full(k, rows, rows, wide);
            CHECK(krein__gram_begin(ctx, k, rows, false, &g) == KREIN_OK);
            float *scratch = test_new(g.scratch, sizeof *scratch);
            krein__gram_tile32(&g, &rows, narrow, 5, scratch);
            int bad = 0;
            for (int a = 0; a < 5; a++)
                for (int b = 0; b < 5; b++) {
                    double v = wide[a * 5 + b], f = (double)narrow[a * 5 + b];
                    double low = c->sums ? -1 : 0; /* a sum of waves */
                    bad += !(v >= low && v <= 1 + 1e-12 && f >= low && f <= 1 + 1e-5);
                    bool same = a == b || (a + b == 3 && a * b == 2);
                    /* 1e30: the difference is nothing; 1e-30: a rounding of |x - y|^2 is huge */
                    if (w == 3 || (same && points[2 * a] == 0)) bad += !(v > 0.999 && f > 0.999);
                }
            if (bad)
                printf("%s: %d wrong values, first %g %g\n", text, bad, wide[0], (double)narrow[0]);
            CHECK(bad == 0);
            free(scratch);
            krein__gram_end(ctx, &g);
            krein__kernel_destroy(ctx, k);
        }
    }
    free(narrow);
}

/* ---- Gram matrices ------------------------------------------------------ */

static double evaluate(const krein_kernel *k, int64_t d, const double *x, const double *y,
                       double *scale) {
    double a, b, sa, sb;
    switch (k->node) {
    case KREIN_NODE_LEAF:
        a = formula_of(k)(k->values.number, d, x, y, 0);
        *scale = fabs(a);
        return a;
    case KREIN_NODE_SCALE:
        a = evaluate(k->left, d, x, y, &sa);
        *scale = fabs(k->number) * sa;
        return k->number * a;
    default:
        a = evaluate(k->left, d, x, y, &sa);
        b = evaluate(k->right, d, x, y, &sb);
        *scale = k->node == KREIN_NODE_SUM ? sa + sb : sa * sb;
        return k->node == KREIN_NODE_SUM ? a + b : a * b;
    }
}

/* gram_full and tile32 against the formula, for bases and expressions. */
static void gram_values(void) {
    enum { N = 200, M = 21, D = 5 };
    float *x = test_dense(N, D, 0.2), *y = test_dense(M, D, 0.9);
    double *out = test_new(N * M, sizeof *out);
    float *out32 = test_new(KREIN_TILE * (M + 2), sizeof *out32);
    for (int i = 0; i < ALL; i++) {
        krein_kernel *k = kernel_of(text_of(i));
        krein_rows rows = krein__rows_dense(N, D, x, D), ys = krein__rows_dense(M, D, y, D);
        krein_gram_rows g;
        full(k, rows, ys, out);
        CHECK(krein__gram_begin(ctx, k, ys, false, &g) == KREIN_OK);
        float *scratch = test_new(g.scratch, sizeof *scratch);
        krein_rows some = krein__rows_slice(&rows, 0, 150);
        krein__gram_tile32(&g, &some, out32, M + 2, scratch); /* a stride of its own */
        bool good = true;
        for (int64_t a = 0; a < N && good; a++)
            for (int64_t b = 0; b < M && good; b++) {
                double u[D], v[D], scale;
                for (int j = 0; j < D; j++)
                    u[j] = (double)x[a * D + j], v[j] = (double)y[b * D + j];
                double want, got = out[a * M + b];
                if (k->node == KREIN_NODE_LEAF) {
                    good = close_to(k, D, u, v, got, DBL_EPSILON);
                    if (a < 150)
                        good = good &&
                               close_to(k, D, u, v, (double)out32[a * (M + 2) + b], FLT_EPSILON);
                    continue;
                }
                want = evaluate(k, D, u, v, &scale);
                good = fabs(got - want) <= 1e-13 * (scale + 1);
                if (a < 150)
                    good =
                        good && fabs((double)out32[a * (M + 2) + b] - want) <= 2e-5 * (scale + 1);
                if (!good)
                    printf("%lld %lld: %.12g %.12g want %.12g\n", (long long)a, (long long)b, got,
                           a < 150 ? (double)out32[a * (M + 2) + b] : 0.0, want);
            }
        if (!good) printf("%s\n", text_of(i));
        CHECK(good);
        free(scratch);
        krein__gram_end(ctx, &g);
        krein__kernel_destroy(ctx, k);
    }
    free(x);
    free(y);
    free(out);
    free(out32);
}

/* The pieces of an expression combined element by element. */
static void combinations(void) {
    enum { N = 40, D = 4 };
    static const char *const a = "gaussian(sigma=1.3)", *const b = "laplacian(sigma=2)",
                             *const c = "poly(degree=2, c=0.5)";
    float *x = test_dense(N, D, 0.2);
    krein_rows rows = krein__rows_dense(N, D, x, D);
    double *m[7];
    char text[7][200];
    strcpy(text[0], a);
    strcpy(text[1], b);
    strcpy(text[2], c);
    snprintf(text[3], 200, "%s + %s - %s", a, b, c);
    snprintf(text[4], 200, "%s*%s*%s", a, b, c);
    snprintf(text[5], 200, "-0.3*%s + 2*(%s - 4*%s)", a, b, c);
    snprintf(text[6], 200, "(%s - %s)*(%s + 0.5*%s)", a, b, c, a);
    for (int i = 0; i < 7; i++) {
        krein_kernel *k = kernel_of(text[i]);
        m[i] = test_new(N * N, sizeof(double));
        full(k, rows, rows, m[i]);
        krein__kernel_destroy(ctx, k);
    }
    double worst = 0;
    for (int i = 0; i < N * N; i++) {
        double A = m[0][i], B = m[1][i], C = m[2][i], scale = 1 + fabs(C);
        worst = fmax(worst, fabs(m[3][i] - (A + B - C)) / scale);
        worst = fmax(worst, fabs(m[4][i] - A * B * C) / scale);
        worst = fmax(worst, fabs(m[5][i] - (-0.3 * A + 2 * (B - 4 * C))) / scale);
        worst = fmax(worst, fabs(m[6][i] - (A - B) * (C + 0.5 * A)) / scale);
    }
    CHECK(worst < 32 * DBL_EPSILON);
    for (int i = 0; i < 7; i++) free(m[i]);
    free(x);
}

static void symmetric_positive(void) {
    enum { N = 60, D = 3 };
    float *x = test_dense(N, D, 0.2);
    for (int j = 0; j < D; j++) x[5 * D + j] = x[50 * D + j]; /* twins: singular */
    krein_rows rows = krein__rows_dense(N, D, x, D);
    double *k = test_new(N * N, sizeof *k), w[N];
    for (int i = 0; i < ALL; i++) {
        krein_kernel *e = kernel_of(text_of(i));
        full(e, rows, rows, k);
        double asymmetry = 0, largest = 0;
        for (int a = 0; a < N; a++)
            for (int b = 0; b < N; b++) {
                asymmetry = fmax(asymmetry, fabs(k[a * N + b] - k[b * N + a]));
                largest = fmax(largest, fabs(k[a * N + b]));
            }
        if (!(asymmetry <= 1e-14 * (1 + largest))) printf("%s: %g\n", text_of(i), asymmetry);
        CHECK(asymmetry <= 1e-14 * (1 + largest));
        if (e->node == KREIN_NODE_LEAF && e->kernel->frequency) {
            double off = 0;
            double mass = e->kernel->mass ? e->kernel->mass(e->values.number, D) : 1;
            /* sqrt(|x|^2 eps) is what is left of a distance of zero in the roughest kernel */
            for (int a = 0; a < N; a++) off = fmax(off, fabs(k[a * N + a] / mass - 1));
            CHECK(off <= 1e-7);
            CHECK(largest <= mass * (1 + 1e-13));
        }
        bool positive = krein__kernel_positive(e);
        /* Rounding of a distance of zero (the twins): of sqrt(eps) in the roughest kernel. */
        double slack = rough(text_of(i)) ? 1e-7 : 1e-13;
        CHECK(krein__eigen(ctx, N, k, N, w) == KREIN_OK);
        if (positive && !(w[0] >= -slack * w[N - 1])) printf("%s: %g\n", text_of(i), w[0]);
        if (positive) CHECK(w[0] >= -slack * w[N - 1]);
        krein__kernel_destroy(ctx, e);
    }
    /* What does not claim it is not: the difference has a negative eigenvalue. */
    krein_kernel *e = kernel_of("gaussian(sigma=1.3) - gaussian(sigma=3)");
    full(e, rows, rows, k);
    CHECK(krein__eigen(ctx, N, k, N, w) == KREIN_OK && w[0] < -0.1);
    krein__kernel_destroy(ctx, e);
    free(x);
    free(k);
}

/* The same rows dense and CSR give the same values, to rounding. */
static void sparse_rows(void) {
    enum { N = 230, M = 40, D = 11 };
    float *x = test_dense(N, D, 0.2), *y = test_dense(M, D, 0.9);
    csr cx, cy;
    krein_rows sx = sparse(N, D, x, &cx), sy = sparse(M, D, y, &cy);
    krein_rows dx = krein__rows_dense(N, D, x, D), dy = krein__rows_dense(M, D, y, D);
    double *a = test_new(N * M, sizeof *a), *b = test_new(N * M, sizeof *b);
    float *f = test_new(KREIN_TILE * M, sizeof *f);
    for (int i = 0; i < ALL; i++) {
        krein_kernel *k = kernel_of(text_of(i));
        krein_gram_rows g;
        if (dense_only(k->kernel)) {
            CHECK(krein__gram_begin(ctx, k, sy, false, &g) == KREIN_EDATA);
            CHECK(krein__gram_full(ctx, k, &sx, &sy, b) == KREIN_EDATA);
            krein__kernel_destroy(ctx, k);
            continue;
        }
        full(k, dx, dy, a);
        full(k, sx, sy, b);
        CHECK(krein__gram_begin(ctx, k, sy, false, &g) == KREIN_OK);
        float *scratch = test_new(g.scratch, sizeof *scratch);
        krein_rows tile = krein__rows_slice(&sx, 0, KREIN_TILE);
        krein__gram_tile32(&g, &tile, f, M, scratch);
        double worst = 0, worst32 = 0;
        for (int64_t j = 0; j < N * M; j++) {
            worst = fmax(worst, fabs(a[j] - b[j]) / (1 + fabs(a[j])));
            if (j < KREIN_TILE * M)
                worst32 = fmax(worst32, fabs(a[j] - (double)f[j]) / (1 + fabs(a[j])));
        }
        /* Equal rows (the empty ones): the roughest kernel turns eps into its root. */
        bool wide = rough(text_of(i));
        if (!(worst <= (wide ? 1e-7 : 1e-13) && worst32 <= (wide ? 2e-3 : 2e-4)))
            printf("%s: %g %g\n", text_of(i), worst, worst32);
        CHECK(worst <= (wide ? 1e-7 : 1e-13));
        CHECK(worst32 <= (wide ? 2e-3 : 2e-4));
        free(scratch);
        krein__gram_end(ctx, &g);
        krein__kernel_destroy(ctx, k);
    }
    csr_free(&cx);
    csr_free(&cy);
    free(x);
    free(y);
    free(a);
    free(b);
    free(f);
}

/* Bits do not depend on threads, nor on where the rows are cut (at multiples of the tile). */
static void bits(void) {
    enum { N = 2 * KREIN_TILE + 37, M = 37, D = 13 };
    float *x = test_dense(N, D, 0.2), *y = test_dense(M, D, 0.9);
    double *one = test_new(N * M, sizeof *one), *other = test_new(N * M, sizeof *other);
    krein_rows dx = krein__rows_dense(N, D, x, D), dy = krein__rows_dense(M, D, y, D);
    for (int shape = 0; shape < 2; shape++) {
        csr cx = {0}, cy = {0};
        if (shape == 1) dx = sparse(N, D, x, &cx), dy = sparse(M, D, y, &cy);
        for (int i = 0; i < ALL; i++) {
            if (test_sanitized() && i % 2 != shape) continue; /* each kernel on one of them */
            krein_kernel *k = kernel_of(text_of(i));
            if (shape == 1 && dense_only(k->kernel)) {
                krein__kernel_destroy(ctx, k);
                continue;
            }
            full(k, dx, dy, one);
            for (int threads = 2; threads <= 3; threads++) {
                ctx->threads = threads;
                memset(other, 0, N * M * sizeof *other);
                full(k, dx, dy, other);
                CHECK(memcmp(one, other, N * M * sizeof *one) == 0);
            }
            ctx->threads = 1;
            for (int64_t cut = KREIN_TILE; cut < N; cut += KREIN_TILE) {
                krein_rows head = krein__rows_slice(&dx, 0, cut);
                krein_rows tail = krein__rows_slice(&dx, cut, N - cut);
                memset(other, 0, N * M * sizeof *other);
                full(k, head, dy, other);
                full(k, tail, dy, other + cut * M);
                CHECK(memcmp(one, other, N * M * sizeof *one) == 0);
            }
            krein__kernel_destroy(ctx, k);
        }
        if (shape == 1) csr_free(&cx), csr_free(&cy);
    }
    free(x);
    free(y);
    free(one);
    free(other);
}

/* The first rows of a full tile come out the same, to the bit, when they come alone. */
static void short_tiles(void) {
    enum { M = 30, D = 9 };
    float *x = test_dense(KREIN_TILE, D, 0.2), *y = test_dense(M, D, 0.9);
    csr cx, cy;
    float *xs = test_dense(KREIN_TILE, D, 0.2), *ys = test_dense(M, D, 0.9);
    krein_rows sx = sparse(KREIN_TILE, D, xs, &cx), sy = sparse(M, D, ys, &cy);
    krein_rows dx = krein__rows_dense(KREIN_TILE, D, x, D), dy = krein__rows_dense(M, D, y, D);
    float *a = test_new(KREIN_TILE * M, sizeof *a), *b = test_new(KREIN_TILE * M, sizeof *b);
    double *a64 = test_new(KREIN_TILE * M, sizeof *a64),
           *b64 = test_new(KREIN_TILE * M, sizeof *b64);
    static const int64_t sizes[] = {1, 2, 5, 12, 13, 100, 191};
    for (int i = 0; i < ALL; i++)
        for (int shape = 0; shape < 2; shape++) {
            krein_kernel *k = kernel_of(text_of(i));
            krein_gram_rows g, wide;
            if (shape == 1 && dense_only(k->kernel)) {
                krein__kernel_destroy(ctx, k);
                continue;
            }
            CHECK(krein__gram_begin(ctx, k, shape ? sy : dy, false, &g) == KREIN_OK);
            CHECK(krein__gram_begin(ctx, k, shape ? sy : dy, true, &wide) == KREIN_OK);
            float *scratch = test_new(g.scratch, sizeof *scratch);
            double *scratch64 = test_new(wide.scratch, sizeof *scratch64);
            const krein_rows *all = shape ? &sx : &dx;
            krein__gram_tile32(&g, all, a, M, scratch);
            krein__gram_tile64(&wide, all, a64, M, scratch64);
            bool good = true;
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                krein_rows some = krein__rows_slice(all, 0, sizes[s]);
                for (int64_t j = 0; j < g.scratch; j++) scratch[j] = NAN; /* left from before */
                for (int64_t j = 0; j < wide.scratch; j++) scratch64[j] = NAN;
                krein__gram_tile32(&g, &some, b, M, scratch);
                krein__gram_tile64(&wide, &some, b64, M, scratch64);
                good = good && memcmp(a, b, (size_t)(sizes[s] * M) * sizeof *a) == 0 &&
                       memcmp(a64, b64, (size_t)(sizes[s] * M) * sizeof *a64) == 0;
            }
            if (!good) printf("%s, %s\n", text_of(i), shape ? "sparse" : "dense");
            CHECK(good);
            free(scratch);
            free(scratch64);
            krein__gram_end(ctx, &g);
            krein__gram_end(ctx, &wide);
            krein__kernel_destroy(ctx, k);
        }
    csr_free(&cx);
    csr_free(&cy);
    free(x), free(y), free(xs), free(ys);
    free(a), free(b), free(a64), free(b64);
}

/* Less an offset, a few rows at a time, with more columns than are made together: the bits of whole
 * tiles, and these near the values in double. */
static void offsets(void) {
    enum { N = 50, M = 300, D = 5 };
    static const int64_t sizes[] = {1, 16, 24, 25, 50};
    float *x = test_dense(N, D, 0.2), *y = test_dense(M, D, 0.9), *offset = test_dense(1, M, 0.5);
    float *a = test_new(KREIN_TILE * M, sizeof *a), *b = test_new(KREIN_TILE * M, sizeof *b);
    double *want = test_new(KREIN_TILE * M, sizeof *want);
    krein_rows dx = krein__rows_dense(N, D, x, D), dy = krein__rows_dense(M, D, y, D);
    for (int i = 0; i < ALL; i++) {
        krein_kernel *k = kernel_of(text_of(i));
        krein_gram_rows g, wide;
        CHECK(krein__gram_begin(ctx, k, dy, false, &g) == KREIN_OK);
        CHECK(krein__gram_begin(ctx, k, dy, true, &wide) == KREIN_OK);
        float *scratch = test_new(g.scratch, sizeof *scratch);
        double *scratch64 = test_new(wide.scratch, sizeof *scratch64), worst = 0, most = 1;
        krein__gram_tile32(&g, &dx, a, M, scratch);
        krein__gram_tile64(&wide, &dx, want, M, scratch64);
        for (int64_t e = 0; e < N * M; e++) {
            worst = fmax(worst, fabs((double)a[e] - want[e]));
            most = fmax(most, fabs(want[e]));
        }
        CHECK_ELSE(worst < 1e-4 * most, "%s: off by %g of %g\n", text_of(i), worst, most);
        bool good = true;
        for (size_t q = 0; q < sizeof sizes / sizeof *sizes; q++)
            for (int64_t from = 0; from < N; from += sizes[q]) {
                krein_rows some = krein__rows_slice(&dx, from, krein__min(sizes[q], N - from));
                b[some.n * M] = -7;
                krein__gram_less32(&g, &some, offset, b, M, scratch);
                for (int64_t e = 0; e < some.n * M; e++) {
                    float less = a[from * M + e] - offset[e % M];
                    good = good && memcmp(&b[e], &less, sizeof less) == 0;
                }
                good = good && b[some.n * M] == -7;
            }
        CHECK_ELSE(good, "%s\n", text_of(i));
        free(scratch), free(scratch64);
        krein__gram_end(ctx, &g);
        krein__gram_end(ctx, &wide);
        krein__kernel_destroy(ctx, k);
    }
    free(x), free(y), free(offset), free(a), free(b), free(want);
}

/* Inner products of many inputs of one sign lose no more to rounding than those of few. */
static void many_inputs(void) {
    enum { D = 784, M = 70, N = 24 };
    float *x = test_new(N * D, sizeof *x), *y = test_new(M * D, sizeof *y);
    test_random_state = 2463534242;
    for (int64_t i = 0; i < N * D; i++) x[i] = (float)(test_random() + .5);
    for (int64_t i = 0; i < M * D; i++) y[i] = (float)(test_random() + .5);
    krein_rows dx = krein__rows_dense(N, D, x, D), dy = krein__rows_dense(M, D, y, D);
    krein_kernel *k = kernel_of("linear");
    krein_gram_rows g;
    CHECK(krein__gram_begin(ctx, k, dy, false, &g) == KREIN_OK);
    float *scratch = test_new(g.scratch, sizeof *scratch), *a = test_new(KREIN_TILE * M, sizeof *a);
    double error = 0;
    krein__gram_tile32(&g, &dx, a, M, scratch);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < M; j++) {
            double want = 0;
            for (int64_t c = 0; c < D; c++) want += (double)x[i * D + c] * (double)y[j * D + c];
            error += pow((double)a[i * M + j] / want - 1, 2) / (N * M);
        }
    /* a chain of c terms: about 2^-24 sqrt(c / 9) */
    CHECK_ELSE(sqrt(error) < ldexp(2.5, -24), "off by %g 2^-24\n", sqrt(error) * 0x1p24);
    krein__gram_end(ctx, &g);
    krein__kernel_destroy(ctx, k);
    void *all[] = {x, y, scratch, a};
    for (size_t q = 0; q < sizeof all / sizeof *all; q++) free(all[q]);
}

static void every_allocation_fails(void) {
    enum { N = 200, M = 10, D = 3 };
    float *x = test_dense(N, D, 0.2);
    csr c;
    krein_rows dx = krein__rows_dense(N, D, x, D), sx;
    float *y = test_dense(N, D, 0.2);
    sx = sparse(N, D, y, &c);
    double *out = test_new(N * M, sizeof *out);
    test_memory m;
    krein_ctx *mine = test_ctx_with(2, &m);
    for (int shape = 0; shape < 2; shape++) {
        krein_rows rows = shape ? sx : dx, few = krein__rows_slice(&rows, 0, M);
        TEST_EVERY_ALLOCATION(&m, i) {
            krein_kernel *k = NULL;
            krein_status st =
                krein__kernel_parse(mine, "gaussian + 2*laplacian*linear - cauchy", &k);
            if (st == KREIN_OK) st = krein__kernel_set_median_rows(mine, k, &few, KREIN_LOG_INFO);
            if (st == KREIN_OK) st = krein__gram_full(mine, k, &rows, &few, out);
            CHECK(st == (test_has_failed(&m) ? KREIN_EMEMORY : KREIN_OK));
            krein__kernel_destroy(mine, k);
        }
    }
    CHECK(atomic_load(&mine->held) == 0);
    krein_ctx_destroy(mine);
    csr_free(&c);
    free(x);
    free(y);
    free(out);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    ctx = test_ctx(1);
    RUN(every_kernel_is_here);
    RUN(values);
    RUN(references);
    RUN(extremes);
    RUN(gram_values);
    RUN(combinations);
    RUN(symmetric_positive);
    RUN(sparse_rows);
    RUN(bits);
    RUN(short_tiles);
    RUN(offsets);
    RUN(many_inputs);
    RUN(every_allocation_fails);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
    return DONE();
}
