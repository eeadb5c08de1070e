/* kernels.h -- every base kernel once more, as a slow obvious formula in double. */
#ifndef KREIN_TEST_KERNELS_H
#define KREIN_TEST_KERNELS_H

#include "parsed.h"

#include "kernel/kernel.h"
#include "num/matrix.h"
#include "num/special.h"

/* ---- obvious formulas --------------------------------------------------- */

/* error: added to |x - y|^2 of radial kernels and to <x, y> of the others. */
typedef double (*formula)(const double *p, int64_t d, const double *x, const double *y,
                          double error);

static double square(int64_t d, const double *x, const double *y, double error) {
    double sum = error;
    for (int64_t j = 0; j < d; j++) sum += (x[j] - y[j]) * (x[j] - y[j]);
    return sum > 0 ? sum : 0;
}
static double dot(int64_t d, const double *x, const double *y) {
    double sum = 0;
    for (int64_t j = 0; j < d; j++) sum += x[j] * y[j];
    return sum;
}
static double gaussian(const double *p, int64_t d, const double *x, const double *y, double e) {
    return exp(-square(d, x, y, e) / (2 * p[0] * p[0]));
}
static double laplacian(const double *p, int64_t d, const double *x, const double *y, double e) {
    double sum = 0 * e;
    for (int64_t j = 0; j < d; j++) sum += fabs(x[j] - y[j]);
    return exp(-sum / p[0]);
}
static double cauchy(const double *p, int64_t d, const double *x, const double *y, double e) {
    double product = 1 + 0 * e;
    for (int64_t j = 0; j < d; j++) product /= 1 + pow((x[j] - y[j]) / p[0], 2);
    return product;
}
static double anova(const double *p, int64_t d, const double *x, const double *y, double e) {
    double product = 1 + 0 * e;
    for (int64_t j = 0; j < d; j++)
        product *= (1 + p[0] * exp(-fabs(x[j] - y[j]) / p[1])) / (1 + p[0]);
    return product;
}
static double matern(const double *p, int64_t d, const double *x, const double *y, double e) {
    double nu = p[0], q = sqrt(square(d, x, y, e)) / p[1], u = sqrt(2 * nu) * q;
    if (nu == 0.5) return exp(-q);
    if (nu == 1.5) return (1 + sqrt(3) * q) * exp(-sqrt(3) * q);
    if (nu == 2.5) return (1 + sqrt(5) * q + 5 * q * q / 3) * exp(-sqrt(5) * q);
    if (u < 1e-4) return 1 - (nu > 1 ? u * u / (4 * (nu - 1)) : 0);
    return pow(2, 1 - nu) / tgamma(nu) * pow(u, nu) * krein__bessel_k(nu, u);
}
static double linear(const double *p, int64_t d, const double *x, const double *y, double e) {
    (void)p;
    return dot(d, x, y) + e;
}
static double poly(const double *p, int64_t d, const double *x, const double *y, double e) {
    return pow(p[2] * (dot(d, x, y) + e) + p[1], p[0]);
}

static double exponential(const double *p, int64_t d, const double *x, const double *y, double e) {
    return exp(-sqrt(square(d, x, y, e)) / p[0]);
}
static double rq(const double *p, int64_t d, const double *x, const double *y, double e) {
    return exp(-p[0] * log1p(square(d, x, y, e) / (2 * p[0] * p[1] * p[1])));
}
static double periodic(const double *p, int64_t d, const double *x, const double *y, double e) {
    double sum = 0;
    for (int64_t j = 0; j < d; j++) sum += pow(sin(M_PI * (x[j] - y[j] + e) / p[0]), 2);
    return exp(-2 * sum / (p[1] * p[1]));
}
static double sigmoid(const double *p, int64_t d, const double *x, const double *y, double e) {
    return tanh(p[0] * (dot(d, x, y) + e) + p[1]);
}
static double epanechnikov(const double *p, int64_t d, const double *x, const double *y, double e) {
    double r2 = square(d, x, y, e);
    return r2 < p[0] * p[0] ? pow(1 - r2 / (p[0] * p[0]), p[1]) : 0;
}
static double tl1(const double *p, int64_t d, const double *x, const double *y, double e) {
    double sum = e;
    for (int64_t j = 0; j < d; j++) sum += fabs(x[j] - y[j]);
    return fmax(p[0] - sum, 0);
}
/* FORMULAS group 7: J_n / pi */
static double arc(int order, double c) {
    double t = acos(fmax(-1, fmin(1, c)));
    c = cos(t);
    return (order == 0   ? M_PI - t
            : order == 1 ? sin(t) + (M_PI - t) * c
                         : 3 * sin(t) * c + (M_PI - t) * (1 + 2 * c * c)) /
           M_PI;
}
static double arccos(const double *p, int64_t d, const double *x, const double *y, double e) {
    double s = sqrt(dot(d, x, x) * dot(d, y, y));
    return s > 0 ? pow(s, p[0]) * arc((int)p[0], (dot(d, x, y) + e) / s) : 0;
}
static double ntk(const double *p, int64_t d, const double *x, const double *y, double e) {
    double bias = p[1] * p[1], scale = p[2] * p[2];
    double S = scale * (dot(d, x, y) + e) + bias, T = S;
    double xx = scale * dot(d, x, x) + bias, yy = scale * dot(d, y, y) + bias;
    for (int layer = 0; layer < (int)p[0]; layer++) {
        double norm = sqrt(xx * yy), c = norm > 0 ? S / norm : 0;
        S = norm * arc(1, c) + bias;
        T = T * arc(0, c) + S;
        xx += bias;
        yy += bias;
    }
    return T;
}
/* sum_k cos(k t) / k^q: Bernoulli polynomials; the sum itself where it is short; else
 * 1/Gamma(q) int x^(q-1) Re 1/(e^(x - it) - 1) dx, x = e^y, by the trapezoid rule */
static double cosine_sum(double q, double t) {
    double u = t / (2 * M_PI), sum = 0, h = q < 4 ? 0.2 : 0.1;
    if (t == 0) return krein__zeta(q);
    if (q == 2) return M_PI * M_PI * (u * u - u + 1. / 6);
    if (q == 4) return -pow(2 * M_PI, 4) / 48 * (u * u * (1 - u) * (1 - u) - 1. / 30);
    for (double k = 100; q >= 9 && k > 0; k--) sum += cos(k * t) / pow(k, q);
    if (q >= 9) return sum;
    for (double y = -40 / q; y < 6; y += h) {
        double x = exp(y), g = exp(-x), v = 2 * pow(sin(t / 2), 2);
        sum += pow(x, q) * (-expm1(-x) - v) * g / (pow(expm1(-x), 2) + 2 * g * v);
    }
    return sum * h / tgamma(q);
}
/* The first terms of it, one after the other. */
static double first_cosines(double q, double terms, double t) {
    double sum = 0;
    for (double k = terms; k > 0; k--) sum += cos(fmod(k * t, 2 * M_PI)) * pow(k, -q);
    return sum;
}
/* The error goes into every factor with the sign that hurts. */
static double spline(const double *p, int64_t d, const double *x, const double *y, double e) {
    double product = 1, size = 1, bound = 1;
    for (int64_t j = 0; j < d; j++) {
        double u = x[j] - y[j], t = 2 * M_PI * fabs(u - rint(u));
        double v = 1 + 2 * (p[1] > 0 ? first_cosines(p[0], p[1], t) : cosine_sum(p[0], t));
        product *= v;
        size *= fabs(v);
        bound *= fabs(v) + 8 * fabs(e);
    }
    return product + copysign(bound - size, e);
}
static double chi2(const double *p, int64_t d, const double *x, const double *y, double e) {
    double sum = 0 * e;
    (void)p;
    for (int64_t j = 0; j < d; j++)
        if (x[j] > 0 && y[j] > 0) sum += 2 * x[j] * y[j] / (x[j] + y[j]);
    return sum;
}
static double intersection(const double *p, int64_t d, const double *x, const double *y, double e) {
    double sum = 0 * e;
    (void)p;
    for (int64_t j = 0; j < d; j++) sum += fmax(0, fmin(x[j], y[j]));
    return sum;
}

/* Components drawn by the kernel's own seed; the error is one of the angles. */
static double spectral(const double *p, int64_t d, const double *x, const double *y, double e) {
    double sum = 0;
    for (int64_t c = 0; c < (int64_t)p[0]; c++) {
        double angle = 0, size = 1;
        for (int64_t j = 0; j < d; j++) {
            krein_rng g = {(uint64_t)p[2], KREIN_STREAM_MIXTURE};
            double mu = krein__rng_normal(g, (uint64_t)c, (uint64_t)j) / p[1];
            angle += mu * (x[j] - y[j]);
            size += fabs(mu);
        }
        sum += exp(-square(d, x, y, 0) / (8 * p[1] * p[1])) * (cos(angle) + size * e) / p[0];
    }
    return sum;
}

static const struct {
    const char *name;
    formula f;
} formulas[] = {{"gaussian", gaussian}, {"laplacian", laplacian}, {"exponential", exponential},
                {"cauchy", cauchy},     {"matern", matern},       {"rq", rq},
                {"periodic", periodic}, {"anova", anova},         {"linear", linear},
                {"poly", poly},         {"tanh", sigmoid},        {"epanechnikov", epanechnikov},
                {"tl1", tl1},           {"arccos", arccos},       {"ntk", ntk},
                {"spline", spline},     {"chi2", chi2},           {"intersection", intersection},
                {"spectral", spectral}};

static inline formula formula_of(const krein_kernel *leaf) {
    for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++)
        if (strcmp(formulas[i].name, leaf->kernel->cls.name) == 0) return formulas[i].f;
    return NULL;
}

/* What the functions of a leaf take on d columns; the caller frees it. */
static inline double *numbers_of(const krein_kernel *leaf, int64_t d) {
    const krein_kernel_class *c = leaf->kernel;
    double *p = test_new(c->count ? c->count(leaf, d) : KREIN_OPTIONS_MAX, sizeof *p);
    if (c->numbers)
        CHECK(c->numbers(ctx, leaf, d, p) == KREIN_OK);
    else
        memcpy(p, leaf->values.number, sizeof leaf->values.number);
    return p;
}

/* Every kernel of the table is here at least once, with values that are not 0, 1 or symmetric. */
static const char *const bases[] = {"gaussian(sigma=1.3)",
                                    "laplacian(sigma=2.3)",
                                    "exponential(sigma=1.4)",
                                    "cauchy(sigma=1.7)",
                                    "matern(nu=0.5, sigma=1.4)",
                                    "matern(nu=1.5, sigma=1.4)",
                                    "matern(nu=2.5, sigma=1.4)",
                                    "matern(nu=2.2, sigma=1.4)",
                                    "rq(sigma=1.2)",
                                    "rq(alpha=0.5, sigma=1.4)",
                                    "rq(alpha=3.5, sigma=1.4)",
                                    "rq(alpha=0.8, sigma=1.4)",
                                    "rq(alpha=1000, sigma=1.4)",
                                    "periodic(sigma=1.3)",
                                    "periodic(p=2.7, sigma=0.9)",
                                    "spectral(sigma=1.3)",
                                    "spectral(q=1, sigma=0.9, seed=5)",
                                    "spectral(q=37, sigma=1.8)",
                                    "anova(sigma=1.3)",
                                    "anova(c=7, sigma=0.9)",
                                    "linear",
                                    "poly(degree=1, c=0.4, gamma=0.3)",
                                    "poly(degree=3, c=0.4, gamma=0.3)",
                                    "poly(degree=6, c=0.7, gamma=-0.2)",
                                    "tanh(gamma=0.7, c=0.4)",
                                    "sigmoid(gamma=-0.2, c=-1)",
                                    "epanechnikov",
                                    "epanechnikov(a=2, m=3)",
                                    "epanechnikov(a=1.7, m=2.5)",
                                    "epanechnikov(a=1.7, m=0)",
                                    "tl1(rho=6.5)",
                                    "arccos(order=0)",
                                    "arccos",
                                    "arccos(order=2)",
                                    "ntk",
                                    "ntk(depth=1)",
                                    "ntk(depth=4, bias=0.3, scale=1.2)",
                                    "spline",
                                    "spline(q=4)",
                                    "spline(q=9)",
                                    "spline(q=2.4)",
                                    "spline(q=3.00001)",
                                    "spline(q=0.7, terms=11)",
                                    "spline(q=1, terms=300)",
                                    "chi2",
                                    "intersection"};
enum { BASES = sizeof bases / sizeof *bases };

/* Bases and expressions: sums, differences, products, factors, nesting on either side. */
static const char *const expressions[] = {
    "gaussian(sigma=1.3) - gaussian(sigma=3)",
    "0.7*laplacian(sigma=3) + 0.3*poly(degree=2, c=1)",
    "gaussian(sigma=1.3)*laplacian(sigma=2)*0.6",
    "linear*(gaussian(sigma=2) - 0.4*(cauchy(sigma=1.1) + linear))",
    "-(cauchy(sigma=1.1) + laplacian(sigma=2))*cauchy(sigma=3) - -2*cauchy(sigma=2)",
    "linear - (linear*gaussian(sigma=2) - (linear - (poly - gaussian(sigma=1))))"};
enum { EXPRESSIONS = sizeof expressions / sizeof *expressions, ALL = BASES + EXPRESSIONS };
static inline const char *text_of(int i) { return i < BASES ? bases[i] : expressions[i - BASES]; }

/* Kernels that are not smooth where the rows are equal: they turn eps into its root. */
static inline bool rough(const char *text) {
    static const char *const names[] = {"matern(nu=0.5", "exponential", "order=0", "ntk"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(text, names[i])) return true;
    return false;
}
static inline bool dense_only(const krein_kernel_class *c) {
    return c && c->rows32 && !c->coordinate;
}

/* About two thirds of the cells of x are set to zero, and the same rows as CSR. Row 1 is empty. */
typedef struct csr {
    int64_t *ptr;
    int32_t *col;
    float *val;
} csr;
static inline krein_rows sparse(int64_t n, int64_t d, float *x, csr *c) {
    c->ptr = test_new(n + 1, sizeof *c->ptr);
    c->col = test_new(n * d, sizeof *c->col);
    c->val = test_new(n * d, sizeof *c->val);
    int64_t at = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < d; j++) {
            if (i == 1 || (i * 7 + j * 5) % 3) x[i * d + j] = 0;
            if (x[i * d + j] == 0) continue;
            c->col[at] = (int32_t)j;
            c->val[at++] = x[i * d + j];
        }
        c->ptr[i + 1] = at;
    }
    return (krein_rows){.n = n, .d = d, .ptr = c->ptr, .col = c->col, .val = c->val};
}
static inline void csr_free(csr *c) {
    free(c->ptr);
    free(c->col);
    free(c->val);
}

#endif
