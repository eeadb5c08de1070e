/* test_paired.c -- tests of methods against each other: distributions, the worked examples of
 * demsar2006, values of scipy 1.10, and slow code that goes through all signs. */
#include "common.h"

#include "num/paired.h"
#include "num/quantile.h"

/* scipy.stats.t, f, chi2 */
static void student(void) {
    CHECK_REL(krein__t_outside(1, 0.5), 0.7048327646991336, 1e-13);
    CHECK_REL(krein__t_outside(4, 2.1), 0.10365328631760218, 1e-13);
    CHECK_REL(krein__t_outside(13, -3.3), 0.005747719437230951, 1e-12);
    CHECK_REL(krein__t_outside(29, 0.02), 0.9841803478530327, 1e-13);
    CHECK_REL(krein__t_outside(99, 7.5), 2.780277322793089e-11, 1e-11);
    CHECK(krein__t_outside(5, INFINITY) == 0 && krein__t_outside(5, 0) == 1);
    for (double u = 0.03; u < 1; u += 0.11)
        CHECK_REL(krein__t_quantile(1, u), tan(M_PI * (u - 0.5)), 1e-11);
    /* the quantiles of scipy 1.10 have nine digits */
    CHECK_REL(krein__t_quantile(9, 0.975), 2.2621571627409915, 1e-8);
    CHECK_REL(krein__t_quantile(29, 0.6), 0.2556836339671376, 1e-8);
    CHECK_REL(krein__t_quantile(29, 0.05), -1.6991270265334977, 1e-8);
    CHECK_REL(krein__t_outside(29, krein__t_quantile(29, 0.975)), 0.05, 1e-12);
    CHECK_REL(krein__f_upper(3, 39, 3.69), 0.019744099689488835, 1e-12);
    CHECK_REL(krein__f_upper(2, 2, 0.4), 0.7142857142857143, 1e-13);
    CHECK_REL(krein__f_upper(5, 20, 11), 3.402427709406649e-05, 1e-12);
    CHECK_REL(krein__f_upper(1, 7, 2.2), 0.18157715948413916, 1e-12);
    CHECK_REL(krein__chi2_upper(3, 9.28), 0.025790724198756772, 1e-12);
    CHECK_REL(krein__chi2_upper(1, 0.2), 0.6547208460185768, 1e-12);
    CHECK_REL(krein__chi2_upper(10, 35), 0.0001248652527830378, 1e-10);
    /* one degree of freedom: arctan; I_x(a, b) + I_(1-x)(b, a) = 1 */
    for (double t = 0.01; t < 100; t *= 1.7)
        CHECK_REL(krein__t_outside(1, t), 1 - 2 / M_PI * atan(t), 1e-12);
    for (double a = 0.3; a < 60; a *= 2.1)
        for (double x = 0.03; x < 1; x += 0.09)
            CHECK_ABS(krein__beta_cdf(a, 2.5, x) + krein__beta_cdf(2.5, a, 1 - x), 1, 1e-13);
}

/* scipy.stats.studentized_range with df = inf, and table 5 (a) of demsar2006: q / sqrt(2). */
static void range(void) {
    static const struct {
        int64_t k;
        double u, q;
    } known[] = {{2, 0.9, 2.3261743073533476},  {2, 0.95, 2.771807648699355},
                 {3, 0.95, 3.314493155398122},  {4, 0.9, 3.240446220927359},
                 {4, 0.95, 3.6331595749026278}, {6, 0.99, 4.757047249408221},
                 {10, 0.9, 4.129346398236873},  {20, 0.95, 5.0116887941184425},
                 {50, 0.99, 6.228392608582205}};
    static const double five[] = {1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164};
    static const double ten[] = {1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        CHECK_REL(krein__range_quantile(known[i].k, known[i].u), known[i].q, 1e-7);
        CHECK_REL(krein__range_cdf(known[i].k, known[i].q), known[i].u, 1e-8);
    }
    CHECK_REL(krein__range_cdf(2, 1), erf(0.5), 1e-13); /* |X - Y| <= 1 */
    CHECK_REL(krein__range_cdf(7, 0.7), 0.0010733932980357328, 1e-7);
    for (int k = 2; k <= 10; k++) { /* the table is cut, not rounded, in places */
        CHECK_ABS(krein__range_quantile(k, 0.95) * M_SQRT1_2, five[k - 2], 1.1e-3);
        CHECK_ABS(krein__range_quantile(k, 0.9) * M_SQRT1_2, ten[k - 2], 1.1e-3);
    }
    CHECK(krein__range_cdf(3, 0) == 0 && krein__range_cdf(3, INFINITY) == 1);
}

/* Nadeau and Bengio's statistic by its formula, on numbers that are easy to follow. */
static void resampled(void) {
    static const double d[] = {1, 2, 3, 6};
    double t, mean, sd;
    krein__moments(4, d, &mean, &sd);
    CHECK_REL(mean, 3, 1e-15);
    CHECK_REL(sd * sd, 14.0 / 3, 1e-15);
    double p = krein__resampled_t(4, d, 0.5, &t);
    CHECK_REL(t, 3 / sqrt((0.25 + 0.5) * 14 / 3), 1e-14);
    CHECK_REL(p, krein__t_outside(3, t), 1e-15);
    /* without overlap it is the paired t test: scipy.stats.ttest_1samp(d, 0) */
    CHECK_REL(krein__resampled_t(4, d, 0, NULL), 0.0691368692644287, 1e-12);
    CHECK(p > krein__resampled_t(4, d, 0, NULL));
    /* zero lies at the end of the interval of level 1 - p */
    CHECK_REL(krein__resampled_half(4, sd, 0.5, 1 - p), mean, 1e-10);
    static const double same[] = {2, 2, 2}, none[] = {0, 0, 0};
    CHECK(krein__resampled_t(3, same, 0.5, NULL) == 0);
    CHECK(krein__resampled_t(3, none, 0.5, NULL) == 1);
    CHECK(isnan(krein__resampled_t(1, same, 0.5, NULL)));
}

/* p over all signs of the differences that are not zero. */
static double all_signs(int n, const double *d, double positive) {
    double rank[20];
    int64_t low = 0, high = 0, all = 0;
    for (int i = 0; i < n; i++) {
        rank[i] = 0.5;
        for (int j = 0; j < n; j++)
            rank[i] += fabs(d[j]) < fabs(d[i]) ? 1 : fabs(d[j]) == fabs(d[i]) ? 0.5 : 0;
    }
    for (int signs = 0; signs < 1 << n; signs++) {
        double sum = 0;
        bool counted = true;
        for (int i = 0; i < n; i++) {
            const bool plus = signs >> i & 1;
            if (d[i] == 0 && plus) counted = false; /* it has no sign */
            if (d[i] == 0) sum += 0.5 * rank[i];
            if (d[i] != 0 && plus) sum += rank[i];
        }
        if (!counted) continue;
        all++;
        low += sum <= positive + 1e-9;
        high += sum >= positive - 1e-9;
    }
    return fmin(1, 2 * (double)(low < high ? low : high) / (double)all);
}

static void signed_ranks(void) {
    static const double d[] = {.3, -.1, .25, .7, -.05, .9, .41, -.33, .6, .15};
    krein_wilcoxon w = krein__wilcoxon(10, d);
    CHECK(w.exact && w.negative == 9 && w.positive == 46);
    CHECK_REL(w.p, 0.064453125, 1e-14); /* scipy.stats.wilcoxon(d, mode="exact") */
    static const double hard[] = {0, .2, -.2, .2, 0, .5, -.1, .3, .3, 0, .7, -.3};
    for (int n = 2; n <= 12; n++) {
        w = krein__wilcoxon(n, hard);
        CHECK_ABS(w.positive + w.negative, n * (n + 1) / 2.0, 1e-12);
        CHECK_REL(w.p, all_signs(n, hard, w.positive), 1e-13);
    }
    static const double zeros[] = {0, 0, 0};
    CHECK(krein__wilcoxon(3, zeros).p == 1 && isnan(krein__wilcoxon(0, zeros).p));
    /* scipy.stats.wilcoxon(d, zero_method="pratt", mode="approx"), 60 values with equal ones */
    static const double many[] = {
        2.1,  0.7,  0.4,  -1.6, 0.0,  -0.1, 0.2,  -0.3, 0.3, -0.2, -1.0, 1.2, 1.2,  2.0,  0.4,
        -0.1, -0.2, -1.2, 1.3,  -0.8, -0.9, 0.1,  1.8,  0.5, -0.7, -0.4, 0.9, 0.1,  -0.5, 0.1,
        1.0,  2.3,  -0.9, -0.3, -0.5, -2.1, -0.6, -0.7, 1.4, 0.2,  -1.3, 0.9, -0.1, -1.4, -0.3,
        -0.3, -0.6, 0.3,  -1.9, 0.0,  1.3,  1.2,  1.4,  1.4, 1.8,  -0.8, 1.1, -1.6, -0.3, -1.6};
    w = krein__wilcoxon(60, many);
    CHECK(!w.exact);
    CHECK_REL(w.p, 0.7626554406426024, 1e-12);
    /* the exact one and the normal one are near each other where both may be used */
    w = krein__wilcoxon(50, many);
    CHECK(w.exact);
    CHECK_ABS(w.p, 2 * krein__normal_upper(-w.z), 0.01);
}

/* Table 6 of demsar2006: areas of four classifiers on 14 data sets. The two equal numbers of the
 * set voting have different ranks there, so that one gets a digit more. */
static const double areas[14][4] = {{.763, .768, .771, .798},  {.599, .591, .590, .569},
                                    {.954, .971, .968, .967},  {.628, .661, .654, .657},
                                    {.882, .888, .886, .898},  {.936, .931, .916, .931},
                                    {.661, .668, .609, .685},  {.583, .583, .563, .625},
                                    {.775, .838, .866, .875},  {1, 1, 1, 1},
                                    {.940, .962, .965, .962},  {.619, .666, .614, .669},
                                    {.972, .981, .9751, .975}, {.957, .978, .946, .970}};

static void demsar(void) {
    double mean[4] = {0}, rank[4], d[14];
    for (int i = 0; i < 14; i++) {
        krein__ranks(4, areas[i], true, rank);
        for (int j = 0; j < 4; j++) mean[j] += rank[j] / 14;
        /* differences as printed, so that equal ones are equal */
        d[i] = rint(1000 * (areas[i][1] - areas[i][0])) / 1000;
    }
    static const double printed[] = {3.143, 2.000, 2.893, 1.964};
    for (int j = 0; j < 4; j++) CHECK_ABS(mean[j], printed[j], 5e-4);
    krein_friedman five = krein__friedman(14, 4, mean, 0.05),
                   ten = krein__friedman(14, 4, mean, 0.1);
    CHECK_ABS(five.chi2, 9.28, 0.005);
    CHECK_ABS(five.f, 3.69, 0.005);
    CHECK(five.f_p < 0.05); /* the critical value of F(3, 39) is 2.85 */
    CHECK_ABS(five.difference, 1.25, 0.005);
    CHECK_ABS(ten.difference, 1.12, 0.005);
    krein_wilcoxon w = krein__wilcoxon(14, d);
    CHECK(w.positive == 93 && w.negative == 12);
    CHECK(w.p < 0.05 && w.p > 0.001); /* the critical T is 21 */
}

static void friedman(void) {
    /* scipy.stats.friedmanchisquare of five sets, three methods, no equal values */
    static const double x[5][3] = {
        {.3, .5, .2}, {.7, .1, .4}, {.25, .66, .33}, {.1, .2, .05}, {.9, .8, .7}};
    double mean[3] = {0}, rank[3];
    for (int i = 0; i < 5; i++) {
        krein__ranks(3, x[i], false, rank);
        for (int j = 0; j < 3; j++) mean[j] += rank[j] / 5;
    }
    krein_friedman f = krein__friedman(5, 3, mean, 0.05);
    CHECK_REL(f.chi2, 2.8, 1e-12);
    CHECK_REL(f.chi2_p, 0.24659696394160596, 1e-12);
    /* all sets agree: as sure as it can be */
    static const double sure[] = {1, 2, 3};
    f = krein__friedman(4, 3, sure, 0.05);
    CHECK(isinf(f.f) && f.f_p == 0);
    static const double equal[] = {2, 2, 2};
    f = krein__friedman(4, 3, equal, 0.05);
    CHECK(f.chi2 == 0 && f.chi2_p == 1 && f.f_p == 1);
}

int main(void) {
    RUN(student);
    RUN(range);
    RUN(resampled);
    RUN(signed_ranks);
    RUN(demsar);
    RUN(friedman);
    return DONE();
}
