/* paired.c -- see paired.h. */
#include "num/paired.h"

#include "num/quantile.h"

#include <math.h>

void krein__moments(int64_t n, const double *x, double *mean, double *sd) {
    double sum = 0, square = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i];
    *mean = n > 0 ? sum / (double)n : NAN;
    for (int64_t i = 0; i < n; i++) square += (x[i] - *mean) * (x[i] - *mean);
    *sd = n > 1 ? sqrt(square / (double)(n - 1)) : NAN;
}

double krein__resampled_t(int64_t n, const double *d, double ratio, double *t) {
    double mean, sd;
    krein__moments(n, d, &mean, &sd);
    const double spread = sqrt(1 / (double)n + ratio) * sd;
    double own = mean / spread;
    if (n > 1 && spread == 0) own = mean == 0 ? 0 : copysign(INFINITY, mean);
    if (t) *t = own;
    return n > 1 ? krein__t_outside((double)(n - 1), own) : NAN;
}

double krein__resampled_half(int64_t n, double sd, double ratio, double level) {
    if (n < 2) return NAN;
    return krein__t_quantile((double)(n - 1), 0.5 + 0.5 * level) * sqrt(1 / (double)n + ratio) * sd;
}

void krein__ranks(int64_t n, const double *x, bool larger, double *rank) {
    for (int64_t i = 0; i < n; i++) {
        int64_t before = 0, equal = 0;
        for (int64_t j = 0; j < n; j++) {
            before += larger ? x[j] > x[i] : x[j] < x[i];
            equal += x[j] == x[i];
        }
        rank[i] = (double)before + 0.5 * (double)(equal + 1);
    }
}

/* The mean rank of the size of d[i]; by counting, for data sets are few. */
static double size_rank(int64_t n, const double *d, int64_t i) {
    int64_t before = 0, equal = 0;
    for (int64_t j = 0; j < n; j++) {
        before += fabs(d[j]) < fabs(d[i]);
        equal += fabs(d[j]) == fabs(d[i]);
    }
    return (double)before + 0.5 * (double)(equal + 1);
}

/* P(sum of the ranks of positive differences <= least) over all signs: ways[s] of the signs of the
 * first few give twice the sum s, which is whole. */
static double exact_lower(int64_t n, const double *d, double least) {
    enum { MOST = KREIN_WILCOXON_EXACT * (KREIN_WILCOXON_EXACT + 1) };
    double ways[MOST + 1] = {1}, below = 0, all = 0;
    int64_t most = 0;
    for (int64_t i = 0; i < n; i++) {
        if (d[i] == 0) continue;
        const int64_t twice = (int64_t)rint(2 * size_rank(n, d, i));
        for (int64_t s = most; s >= 0; s--) ways[s + twice] += ways[s];
        most += twice;
    }
    for (int64_t s = 0; s <= most; s++) {
        all += ways[s];
        if ((double)s <= 2 * least + 0.25) below += ways[s];
    }
    return below / all;
}

krein_wilcoxon krein__wilcoxon(int64_t n, const double *d) {
    krein_wilcoxon w = {.z = 0, .p = NAN, .exact = n <= KREIN_WILCOXON_EXACT};
    double zeros = 0, square = 0; /* sums of the ranks of zeros, of squared ranks of the others */
    if (n == 0) return w;
    for (int64_t i = 0; i < n; i++) {
        const double rank = size_rank(n, d, i);
        if (d[i] == 0) zeros += rank;
        if (d[i] > 0) w.positive += rank;
        if (d[i] < 0) w.negative += rank;
        if (d[i] != 0) square += rank * rank;
    }
    const double least = fmin(w.positive, w.negative), sum = w.positive + w.negative;
    w.positive += 0.5 * zeros;
    w.negative += 0.5 * zeros;
    w.p = 1;
    if (square == 0) return w;
    w.z = (least - 0.5 * sum) / (0.5 * sqrt(square));
    w.p = fmin(1, 2 * (w.exact ? exact_lower(n, d, least) : krein__normal_upper(-w.z)));
    return w;
}

krein_friedman krein__friedman(int64_t n, int64_t k, const double *mean_rank, double alpha) {
    const double N = (double)n, K = (double)k;
    double square = 0;
    for (int64_t j = 0; j < k; j++) square += mean_rank[j] * mean_rank[j];
    krein_friedman out;
    out.chi2 = fmax(0, 12 * N / (K * (K + 1)) * (square - K * (K + 1) * (K + 1) / 4));
    /* All data sets rank the methods in the same way: rounding must not make it less than none. */
    const double rest = N * (K - 1) - out.chi2;
    out.f = rest > 1e-9 * N * K ? (N - 1) * out.chi2 / rest : INFINITY;
    out.chi2_p = krein__chi2_upper(K - 1, out.chi2);
    out.f_p = krein__f_upper(K - 1, (K - 1) * (N - 1), out.f);
    out.difference = krein__range_quantile(k, 1 - alpha) * M_SQRT1_2 * sqrt(K * (K + 1) / (6 * N));
    return out;
}
