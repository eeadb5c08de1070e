/* test_quantile.c -- distribution functions, their inverses, and both together. */
#include "common.h"

#include "num/quantile.h"

static void normal(void) {
    CHECK_REL(krein__normal_quantile(0.1), -1.281551565545, 1e-12);
    CHECK_REL(krein__normal_quantile(0.3), -0.524400512708, 1e-12);
    CHECK_REL(krein__normal_quantile(0.975), 1.95996398454, 1e-12);
    CHECK_ABS(krein__normal_quantile(0.5), 0, 1e-16);
    CHECK(krein__normal_quantile(0) == -INFINITY && krein__normal_quantile(1) == INFINITY);
    CHECK(isnan(krein__normal_quantile(NAN)) && isnan(krein__normal_quantile(2)));
    for (double x = -37; x <= 8; x += 0.173) {
        double u = 0.5 * erfc(-x * M_SQRT1_2);
        /* near 1 the rounding of u is the error */
        CHECK_ABS(krein__normal_quantile(u), x,
                  1e-14 * fmax(1, fabs(x)) + 1e-16 / (exp(-0.5 * x * x) / 2.5) * (x > 0));
    }
}

static void cdf(void) {
    for (double x = 0.01; x < 40; x *= 1.3) {
        CHECK_REL(krein__gamma_cdf(1, x), -expm1(-x), 1e-14);
        CHECK_REL(krein__gamma_cdf(0.5, x), erf(sqrt(x)), 1e-14);
        CHECK_REL(krein__gamma_cdf(2, x), -expm1(-x) - x * exp(-x), 1e-12);
    }
    /* P(a + 1, x) = P(a, x) - x^a e^-x / Gamma(a + 1), across the change of method */
    for (double a = 0.05; a < 2000; a *= 1.9)
        for (double r = 0.3; r < 3; r *= 1.15) {
            double x = a * r;
            double step = exp(a * log(x) - x - lgamma(a + 1));
            CHECK_ABS(krein__gamma_cdf(a + 1, x) + step, krein__gamma_cdf(a, x), 3e-16 * (10 + a));
        }
    CHECK(krein__gamma_cdf(3, 0) == 0 && krein__gamma_cdf(3, -1) == 0);
    CHECK(krein__gamma_cdf(3, INFINITY) == 1 && isnan(krein__gamma_cdf(3, NAN)));
}

static void inverse(void) {
    CHECK_REL(krein__chi_quantile(3, 0.5), 1.538172254455, 1e-12);
    CHECK_REL(krein__chi_quantile(16, 0.5), 3.916439567388, 1e-12);
    CHECK(krein__gamma_quantile(2, 0) == 0 && krein__gamma_quantile(2, 1) == INFINITY);
    CHECK(isnan(krein__gamma_quantile(2, -1)) && isnan(krein__gamma_quantile(2, NAN)));
    static const double level[] = {1e-300, 1e-30,    1e-9, 0.01,  0.3,
                                   0.5,    0.500001, 0.9,  0.999, 1 - 1e-12};
    for (double a = 0.01; a < 1e6; a *= 2.7) {
        double last = -1;
        for (int64_t i = 0; i < KREIN__COUNT(level); i++) {
            double x = krein__gamma_quantile(a, level[i]);
            CHECK(x >= last);
            last = x;
            if (x < 1e-300) continue; /* below the smallest number */
            double u = krein__gamma_cdf(a, x);
            CHECK_REL(u, level[i], 1e-14 * (100 + sqrt(a) * 10 + fabs(log(level[i]))));
            CHECK_REL(1 - u, 1 - level[i], 1e-14 * (100 + sqrt(a) * 10) + 1e-16 / (1 - level[i]));
        }
    }
    /* exponential law */
    for (double u = 0.001; u < 1; u += 0.037)
        CHECK_REL(krein__gamma_quantile(1, u), -log1p(-u), 1e-14);
}

int main(void) {
    RUN(normal);
    RUN(cdf);
    RUN(inverse);
    return DONE();
}
