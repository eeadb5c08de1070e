/* test_special.c -- Bessel K and the Matern function. */
#include "num/special.h"
#include "test.h"

static const double pi = 3.14159265358979323846;

/* Abramowitz and Stegun, tables 9.8 and 10.8, with the digits that are known today. */
static void known_values(void) {
    CHECK_REL(krein__bessel_k(0, 1), 0.42102443824070833, 1e-14);
    CHECK_REL(krein__bessel_k(1, 1), 0.60190723019723457, 1e-14);
    CHECK_REL(krein__bessel_k(0, 0.1), 2.4270690247020166, 1e-14);
    CHECK_REL(krein__bessel_k(1, 2), 0.13986588181652243, 1e-14);
    CHECK_REL(krein__bessel_k(0, 10), 1.7780062316167652e-5, 1e-13);
    /* Two terms of the series at the origin: K_0 = -log(x/2) - gamma + O(x^2 log x). */
    CHECK_REL(krein__bessel_k(0, 1e-9), -log(0.5e-9) - 0.57721566490153286, 1e-14);
    CHECK_REL(krein__bessel_k(0, 1e-200), -log(0.5e-200) - 0.57721566490153286, 1e-13);
}

/* K_{n+1/2}(x) = sqrt(pi/(2x)) e^-x sum_k (n+k)!/(k! (n-k)!) (2x)^-k */
static void half_integers(void) {
    static const double xs[] = {0.013, 0.37, 1.9, 7.3, 41.0, 300.0, 690.0};
    for (int n = 0; n <= 50; n += n < 8 ? 1 : 7) {
        for (size_t i = 0; i < sizeof xs / sizeof *xs; i++) {
            const double x = xs[i];
            double sum = 0;
            for (int k = 0; k <= n; k++)
                sum += exp(lgamma(n + k + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) -
                           k * log(2 * x));
            CHECK_REL(krein__bessel_k(n + 0.5, x), sqrt(pi / (2 * x)) * exp(-x) * sum, 4e-13);
        }
    }
}

static void recurrence(void) {
    static const double xs[] = {0.021, 0.6, 3.1, 12.7, 90.0, 500.0};
    for (double nu = 1; nu < 50; nu += 0.83) {
        for (size_t i = 0; i < sizeof xs / sizeof *xs; i++) {
            const double x = xs[i];
            const double right = krein__bessel_k(nu - 1, x) + 2 * nu / x * krein__bessel_k(nu, x);
            CHECK_REL(krein__bessel_k(nu + 1, x), right, 3e-13);
        }
    }
}

static double det(int i, int j) { return sin(1.7 * i + 0.9 * j + 0.3 * i * j + 0.1); }

/* FORMULAS group 1. */
static void matern_reference(void) {
    static const double nu[] = {0.5, 1.5, 2.5, 2.2};
    static const double want[] = {.069321797468, .055243741043, .048217127245, .049897626517};
    double squared = 0;
    for (int j = 0; j < 3; j++) squared += (det(0, j) - det(1, j)) * (det(0, j) - det(1, j));
    for (int k = 0; k < 4; k++)
        CHECK_ABS(krein__matern_function(nu[k], sqrt(2 * nu[k] * squared) / 0.8), want[k], 6e-13);
}

static void matern_is_bessel(void) {
    for (double nu = 0.3; nu < 50; nu *= 1.7) {
        for (double u = 0.05; u < 400; u *= 2.3) {
            const double log_want =
                (1 - nu) * log(2) - lgamma(nu) + nu * log(u) + log(krein__bessel_k(nu, u));
            CHECK_REL(krein__matern_function(nu, u), exp(log_want), 2e-12);
        }
    }
}

/* The closed forms are limits of the integral: nu a hair away must agree. */
static void matern_continuous_in_nu(void) {
    static const double half[] = {0.5, 1.5, 2.5};
    for (int k = 0; k < 3; k++)
        for (double u = 1e-6; u < 600; u *= 3.7)
            CHECK_REL(krein__matern_function(half[k] + 1e-14, u),
                      krein__matern_function(half[k], u), 3e-13);
}

static void matern_limits(void) {
    static const double nu[] = {0.2, 0.5, 0.9, 1, 1.5, 2.2, 2.5, 3.5, 10, 49.3};
    for (int k = 0; k < 10; k++) {
        CHECK(krein__matern_function(nu[k], 0) == 1);
        CHECK(krein__matern_function(nu[k], 1e6) == 0);
        CHECK(krein__matern_function(nu[k], 1e300) == 0);
        CHECK(krein__matern_function(nu[k], INFINITY) == 0);
        CHECK_REL(krein__matern_function(nu[k], 1e-300), 1, 2e-14);
        double last = 1;
        for (double u = 1e-12; u < 2000; u *= 1.9) {
            const double m = krein__matern_function(nu[k], u);
            CHECK(m >= 0 && m <= 1 && m <= last * (1 + 3e-14));
            last = m;
        }
    }
    /* 1 - M = u^2/(4 (nu - 1)) + O(u^4) for nu > 2 */
    CHECK_REL(1 - krein__matern_function(6.3, 1e-3), 1e-6 / (4 * 5.3), 1e-6);
    CHECK(krein__bessel_k(2.3, 0) == INFINITY);
    CHECK(krein__bessel_k(2.3, 1e5) == 0);
}

int main(void) {
    RUN(known_values);
    RUN(half_integers);
    RUN(recurrence);
    RUN(matern_reference);
    RUN(matern_is_bessel);
    RUN(matern_continuous_in_nu);
    RUN(matern_limits);
    return DONE();
}
