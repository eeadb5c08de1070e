/* capacity.c -- capacity, source condition, and what theory asks for
 *
 * Capacity [caponnetto2007]: N(lambda) = sum_j s_j / (s_j + lambda), the number of directions in
 * which ridge regression is free, grows as lambda^-gamma, 0 < gamma <= 1; eigenvalues s_j ~
 * j^(-1/gamma) have that gamma. On a sample it is the slope of log N against -log lambda between
 * N = 3 and N = m/5: few directions do not show a law, and eigenvalues beyond are the sample's more
 * than the kernel's. Even a pure power j^(-1/g), j <= m, has not the slope g there, since the sum
 * ends at m (0.82 for g = 1, m = 2,000) and at the noise; so gamma is the g whose pure power shows
 * the slope that was measured, found by bisection. Where the eigenvalues end in noise before N =
 * m/5, the range is from N = 1 down to the noise: exponential decay and finite rank then give a
 * slope near 0, and gamma is at least krein__gamma_least.
 *
 * Source condition: f = L^r h, L the kernel's integral operator, |h| finite. With the coefficients
 * z_j = u_j'y of centred labels, z_j^2 has the mean sigma^2 + m theta_j^2; f of smoothness just r
 * has theta_j^2 of the order s_j^2r / j (1/j is where sums begin to converge). So
 *     z_j ~ N(0, sigma^2 (1 + rho q_j)),   q_j = (s_j/s_1)^2r / j,
 * and r, rho and sigma maximise the likelihood [knapik2016]: sigma in closed form, rho on a grid
 * refined by sections, r on a grid. r within 1.92 of the largest log-likelihood are not
 * contradicted. The slope of the bias against lambda says the same with more noise: every clipped
 * or subtracted coefficient of the tail counts in it.
 *
 * Theory: lambda = n^(-1/(2r+gamma)), excess risk n^(-2r/(2r+gamma)) [caponnetto2007]; random
 * features M = n^(((2r-1)gamma+1)/(2r+gamma)) [rudi2017]; landmarks n^(1/(2r+gamma)) [rudi2015];
 * parts of a divided data set n^((2r-1)/(2r+gamma)), with random features too [li2020]. It assumes
 * k(x, x) <= 1: lambda is in units of kappa, the mean of k(x, x).
 *
 * Local Rademacher complexity [bartlett2005; li2020, (3.27) with L = 1]: R(H_r) <= 2 sqrt((1/n)
 * min_theta (theta r/4 + sum_{j>theta} t_j)), and the minimum over theta is sum_j min(r/4, t_j).
 */
#include "select/capacity.h"

#include <math.h>

const double krein__gamma_least = 0.05;

enum { DIMENSION_LEAST = 3, SHARE = 5, ROWS_LEAST = 20, POINTS = 17 };

/* ---- effective dimension ------------------------------------------------ */

static double dimension(int64_t rank, const double *s, double lambda) {
    double sum = 0;
    for (int64_t j = 0; j < rank; j++) sum += s[j] / (s[j] + lambda);
    return sum;
}

double krein__lambda_of_dimension(int64_t rank, const double *s, double wanted) {
    double low = log(s[rank - 1]) - 40, high = log(s[0] * (double)rank / wanted) + 1;
    for (int step = 0; step < 60; step++) {
        double middle = 0.5 * (low + high);
        if (dimension(rank, s, exp(middle)) > wanted)
            low = middle;
        else
            high = middle;
    }
    return exp(0.5 * (low + high));
}

double krein__effective_dimension(const krein_capacity *c, double lambda) {
    double at = fmax(lambda, c->low);
    return dimension(c->rank, c->s, at) * pow(at / lambda, c->gamma);
}

/* ---- gamma -------------------------------------------------------------- */

/* Slope of y against x. */
static double slope(int64_t n, const double *x, const double *y) {
    double mx = 0, my = 0, xx = 0, xy = 0;
    for (int64_t i = 0; i < n; i++) {
        mx += x[i] / (double)n;
        my += y[i] / (double)n;
    }
    for (int64_t i = 0; i < n; i++) {
        xx += (x[i] - mx) * (x[i] - mx);
        xy += (x[i] - mx) * (y[i] - my);
    }
    return xx > 0 ? xy / xx : 0;
}

static int64_t rank_of(int64_t m, const double *s, double noise) {
    int64_t rank = 0;
    while (rank < m && s[rank] > noise) rank++;
    return rank;
}

/* The lambdas between which N is resolved; low = high where there are none. */
static void resolve(int64_t m, int64_t rank, const double *s, double noise, double least,
                    double *low, double *high) {
    double most = fmax((double)m / SHARE, 2 * DIMENSION_LEAST);
    *low = noise;
    if ((double)rank > most) *low = fmax(noise, krein__lambda_of_dimension(rank, s, most));
    *high = (double)rank > least ? krein__lambda_of_dimension(rank, s, least) : s[0];
    *high = fmax(*high, *low);
}

/* Slope of log N against -log lambda in that range. */
static double growth(int64_t m, const double *s, double noise, double least) {
    double x[POINTS], y[POINTS], low, high;
    int64_t rank = rank_of(m, s, noise);
    if ((double)rank <= least) return 0;
    resolve(m, rank, s, noise, least, &low, &high);
    for (int64_t i = 0; i < POINTS; i++) {
        double lambda = low * pow(high / low, (double)i / (POINTS - 1));
        x[i] = -log(lambda);
        y[i] = log(dimension(rank, s, lambda));
    }
    return slope(POINTS, x, y);
}

static double power_growth(int64_t m, double gamma, double noise, double least, double *s) {
    for (int64_t j = 0; j < m; j++) s[j] = pow((double)(j + 1), -1 / gamma);
    return growth(m, s, noise, least);
}

/* The pure power of the same growth; noise relative to the largest eigenvalue. */
static krein_status gamma_of(krein_ctx *ctx, int64_t m, double wanted, double noise, double least,
                             double *out) {
    krein_status st = KREIN_OK;
    double low = krein__gamma_least, high = 1, *s = NULL;
    NEW(s, m);
    if (wanted <= power_growth(m, low, noise, least, s)) high = low;
    if (wanted >= power_growth(m, high, noise, least, s)) low = high;
    while (high - low > 1e-6) {
        double middle = 0.5 * (low + high);
        if (power_growth(m, middle, noise, least, s) < wanted)
            low = middle;
        else
            high = middle;
    }
    *out = 0.5 * (low + high);
done:
    krein__free(ctx, s);
    return st;
}

/* Least squares of log s_j against log j over the eigenvalues that gamma is seen on. */
static krein_status decay_of(krein_ctx *ctx, int64_t m, int64_t rank, const double *s,
                             double *out) {
    krein_status st = KREIN_OK;
    int64_t first = DIMENSION_LEAST - 1, last = krein__min(rank, krein__max(m / SHARE, 6));
    double *x = NULL, *y = NULL;
    *out = NAN;
    if (last - first < 2) return KREIN_OK;
    NEW(x, last);
    NEW(y, last);
    for (int64_t j = first; j < last; j++) {
        x[j] = log((double)(j + 1));
        y[j] = log(s[j]);
    }
    *out = fmax(0, -slope(last - first, x + first, y + first));
done:
    krein__free(ctx, x);
    krein__free(ctx, y);
    return st;
}

krein_status krein__capacity_fit(krein_ctx *ctx, int64_t m, const double *s, double noise,
                                 double kappa, krein_capacity *out) {
    krein_status st = KREIN_OK;
    int64_t rank = rank_of(m, s, noise);
    *out = (krein_capacity){.m = m,
                            .rank = rank,
                            .s = s,
                            .kappa = kappa,
                            .noise = noise,
                            .gamma = 1,
                            .fitted = m >= ROWS_LEAST};
    out->fast = out->fitted && rank <= m / SHARE;
    double least = out->fast ? 1 : DIMENSION_LEAST;
    resolve(m, rank, s, noise, least, &out->low, &out->high);
    if (!out->fitted) {
        out->decay = NAN;
        return KREIN_OK;
    }
    TRY(gamma_of(ctx, m, growth(m, s, noise, least), noise / s[0], least, &out->gamma));
    TRY(decay_of(ctx, m, rank, s, &out->decay));
done:
    return st;
}

/* ---- local Rademacher complexity ---------------------------------------- */

/* (2 sqrt(sum / n) / r)^2 falls with r. */
double krein__local_rademacher(int64_t rank, const double *s, double kappa, double n) {
    double low = log(1e-300), high = log(4 / sqrt(n)) + 1;
    for (int step = 0; step < 200; step++) {
        double middle = 0.5 * (low + high), r = exp(middle), sum = 0;
        for (int64_t j = 0; j < rank; j++) sum += fmin(0.25 * r, s[j] / kappa);
        if (4 * sum / n > r * r)
            low = middle;
        else
            high = middle;
    }
    return exp(0.5 * (low + high));
}

/* ---- source condition --------------------------------------------------- */

enum { RADII = 61 }; /* r = 0, 0.025, ... 1.5 */
static const double RADIUS_STEP = 0.025;

typedef struct likelihood {
    int64_t m, rank;
    const double *square, *weight;
    double total;            /* of the weights */
    double *level, *q, tail; /* log(s_j / s_1); q_j; sum of w z^2 beyond the rank */
} likelihood;

/* Twice the log-likelihood at the best sigma. */
static double fit(const likelihood *l, double log_rho) {
    double rho = exp(log_rho), sum = l->tail, logs = 0;
    for (int64_t j = 0; j < l->rank; j++) {
        double v = 1 + rho * l->q[j];
        sum += l->weight[j] * l->square[j] * (double)l->m / v;
        logs += l->weight[j] * log(v);
    }
    return -l->total * log(fmax(sum, 1e-300)) - logs;
}

/* The best rho: a grid, since there may be two hills, then golden sections around its best. */
static double best_fit(const likelihood *l) {
    static const double GOLD = 0.6180339887498949, LEAST = -8, STEP = 2;
    enum { GRID = 27 };
    double best = -INFINITY, at = LEAST;
    for (int g = 0; g < GRID; g++) {
        double x = LEAST + STEP * g, value = fit(l, x);
        if (value > best) best = value, at = x;
    }
    double a = at - STEP, b = at + STEP;
    double x = b - GOLD * (b - a), y = a + GOLD * (b - a), fx = fit(l, x), fy = fit(l, y);
    while (b - a > 0.02) {
        if (fx > fy) {
            b = y, y = x, fy = fx;
            fx = fit(l, x = b - GOLD * (b - a));
        } else {
            a = x, x = y, fx = fy;
            fy = fit(l, y = a + GOLD * (b - a));
        }
    }
    return fmax(best, fmax(fx, fy));
}

static void choose_source(const double *value, double none, krein_source *out) {
    static const double DROP = 3.84; /* chi-square, one degree of freedom, 95 % */
    int best = 0;
    for (int i = 1; i < RADII; i++)
        if (value[i] > value[best]) best = i;
    out->fitted = value[best] > none + DROP;
    if (!out->fitted) return;
    int low = best, high = best;
    for (int i = 0; i < RADII; i++) {
        if (value[i] < value[best] - DROP) continue;
        low = i < low ? i : low;
        high = i > high ? i : high;
    }
    out->measured = best * RADIUS_STEP;
    out->low = low * RADIUS_STEP;
    out->high = high * RADIUS_STEP;
    out->r = fmin(1, fmax(0.5, out->measured));
}

krein_status krein__source_fit(krein_ctx *ctx, const krein_capacity *c, const double *square,
                               const double *weight, krein_source *out) {
    krein_status st = KREIN_OK;
    likelihood l = {.m = c->m, .rank = c->rank, .square = square, .weight = weight};
    double value[RADII], none = 0;
    *out = (krein_source){.measured = NAN, .low = NAN, .high = NAN, .r = 0.5};
    NEW(l.level, c->rank);
    ZNEW(l.q, c->rank);
    for (int64_t j = 0; j < c->m; j++) {
        l.total += weight[j];
        none += weight[j] * square[j];
        if (j >= c->rank) l.tail += weight[j] * square[j] * (double)c->m;
    }
    if (!c->fitted || !(none > 0)) goto done;
    for (int64_t j = 0; j < c->rank; j++) l.level[j] = log(c->s[j] / c->s[0]);
    none = fit(&l, 0); /* q = 0: noise alone */
    for (int i = 0; i < RADII; i++) {
        for (int64_t j = 0; j < c->rank; j++)
            l.q[j] = exp(2 * i * RADIUS_STEP * l.level[j]) / (double)(j + 1);
        value[i] = best_fit(&l);
        TRY(krein__poll(ctx));
    }
    choose_source(value, none, out);
done:
    krein__free(ctx, l.level);
    krein__free(ctx, l.q);
    return st;
}

/* ---- theory ------------------------------------------------------------- */

/* n to the power, as a count from 1 to n. Powers of whole numbers must not round up. */
static int64_t count(double n, double power, bool up) {
    double x = pow(n, power);
    x = up ? ceil(x * (1 - 1e-9)) : floor(x * (1 + 1e-9));
    return (int64_t)fmin(fmax(x, 1), n);
}

void krein__theory(double r, double gamma, double kappa, int64_t n, krein_theory *out) {
    double rows = (double)n, below = 2 * r + gamma;
    out->lambda = kappa * pow(rows, -1 / below);
    out->rate = pow(rows, -2 * r / below);
    out->features = count(rows, ((2 * r - 1) * gamma + 1) / below, true);
    out->landmarks = count(rows, 1 / below, true);
    out->parts = count(rows, (2 * r - 1) / below, false);
}

/* Up to a number that is easy to say: two digits. */
static double round_up(double x) {
    double unit = pow(10, floor(log10(fmax(x, 1))) - 1);
    return unit < 1 ? ceil(x) : ceil(x / unit * (1 - 1e-9)) * unit;
}

void krein__practice(const krein_capacity *c, double r, double found, int64_t n,
                     const krein_theory *theory, krein_practice *out) {
    enum { LEAST = 64 };
    double rows = (double)n, share = rows / (double)c->m;
    out->lambda = theory->lambda;
    if (isfinite(found))
        out->lambda = krein__round_digits(found * pow(share, -1 / (2 * r + c->gamma)), 3);
    out->dimension = fmin(rows, krein__effective_dimension(c, out->lambda));
    double need = out->dimension * fmax(1, log(out->dimension));
    out->features = krein__min(n, (int64_t)fmax(LEAST, round_up(need)));
    double most = floor(rows / fmax(need, 1)); /* a part must see all these directions itself */
    out->parts = (int64_t)fmax(1, fmin((double)theory->parts, most));
}
