/* mixture.c -- Gaussians fitted to a profile by least squares.
 *
 * Signed: min_s |sum_i c_i(s) exp(-z^2 / (2 s_i^2)) - k(z)|^2 on Chebyshev points of [0, R], where
 * c(s) solves the linear least squares problem with a small weight on |c|^2 (variable projection).
 * Clipped: the measure is f+ = max(0, sum_i c_i s_i chi_d(s_i r)), k(z) = int f+ Omega_d(r z) dr is
 * summed on a grid of log r, unknowns are c and s. Both from several fixed starts, best kept.
 */
#include "kernel/mixture.h"

#include "num/blas.h"
#include "num/leastsq.h"

#include <math.h>
#include <string.h>

extern const krein_kernel_class krein__kernel_gaussian;

enum { POINTS = 40, RADII = 128, STARTS = 5 };

typedef struct problem {
    int64_t n, d;
    double R, top, ridge;
    double z[POINTS], k[POINTS];
    double c[KREIN_MIXTURE];                       /* of the last evaluation */
    double logr[RADII], dv, omega[POINTS * RADII]; /* grid of the clipped measure */
    double constant;                               /* log of chi_d's */
    double middle, half;                           /* of the range of log s */
} problem;

/* ---- signed -------------------------------------------------------------- */

/* Unknowns run over all numbers, widths from R/50 to 10 R. */
static double log_width(const problem *p, double x) { return p->middle + p->half * tanh(x); }

static double gaussian(double z, double s) { return exp(-z * z / (2 * s * s)); }

/* x: widths. Residuals at the points, then the ridge's. */
static void signed_residual(void *user, const double *x, double *out) {
    problem *p = user;
    int64_t n = p->n;
    double a[KREIN_MIXTURE * POINTS], h[KREIN_MIXTURE * KREIN_MIXTURE];
    for (int64_t i = 0; i < n; i++) {
        double s = exp(log_width(p, x[i]));
        for (int64_t q = 0; q < POINTS; q++) a[i * POINTS + q] = gaussian(p->z[q], s);
    }
    for (int64_t i = 0; i < n; i++) {
        p->c[i] = krein__ddot(POINTS, a + i * POINTS, p->k);
        for (int64_t j = i; j < n; j++)
            h[i * n + j] = krein__ddot(POINTS, a + i * POINTS, a + j * POINTS);
        h[i * n + i] += p->ridge * POINTS;
    }
    if (krein__dpotrf(n, h, n) == 0) {
        krein__dtrsm(true, n, 1, h, n, p->c, 1);
        krein__dtrsm(false, n, 1, h, n, p->c, 1);
    }
    for (int64_t q = 0; q < POINTS; q++) {
        out[q] = -p->k[q];
        for (int64_t i = 0; i < n; i++) out[q] += p->c[i] * a[i * POINTS + q];
    }
    for (int64_t i = 0; i < n; i++) out[POINTS + i] = sqrt(p->ridge * POINTS) * p->c[i];
}

/* ---- clipped ------------------------------------------------------------- */

/* f+(r) r at the grid. */
static void clipped_measure(const problem *p, const double *c, const double *x, double *f) {
    for (int64_t j = 0; j < RADII; j++) {
        double sum = 0;
        for (int64_t i = 0; i < p->n; i++) {
            double t = log_width(p, x[i]) + p->logr[j]; /* log of s r */
            sum += c[i] * exp((double)p->d * t - exp(2 * t) / 2 - p->constant);
        }
        f[j] = fmax(sum, 0) * p->dv;
    }
}

/* x: c, then widths. */
static void clipped_residual(void *user, const double *x, double *out) {
    problem *p = user;
    double f[RADII];
    clipped_measure(p, x, x + p->n, f);
    for (int64_t q = 0; q < POINTS; q++)
        out[q] = krein__ddot(RADII, p->omega + q * RADII, f) - p->k[q];
    for (int64_t i = 0; i < p->n; i++) out[POINTS + i] = 1e-4 * x[i];
}

static void radius_grid(problem *p, double narrow) {
    double root = sqrt((double)p->d), low = log(0.05 * root / p->R), high = log(12 * root / narrow);
    int sign;
    p->constant = (double)p->d / 2 * log(2.0) - log(2.0) + lgamma_r((double)p->d / 2, &sign);
    p->dv = (high - low) / (RADII - 1);
    for (int64_t j = 0; j < RADII; j++) p->logr[j] = low + p->dv * (double)j;
    for (int64_t q = 0; q < POINTS; q++)
        for (int64_t j = 0; j < RADII; j++)
            p->omega[q * RADII + j] = krein__omega(p->d, exp(p->logr[j]) * p->z[q]);
}

/* ---- both ---------------------------------------------------------------- */

/* The width to start around: where the profile has gone half its way. */
static double width(const problem *p) {
    double most = 0;
    for (int64_t q = 0; q < POINTS; q++) most = fmax(most, fabs(p->k[q] - p->k[0]));
    for (int64_t q = 1; q < POINTS; q++)
        if (fabs(p->k[q] - p->k[0]) > most / 2) return p->z[q] / 1.2;
    return p->R;
}

static krein_status best_start(krein_ctx *ctx, problem *p, bool clip, krein_mixture *out) {
    krein_status st = KREIN_OK;
    double x[2 * KREIN_MIXTURE], keep[2 * KREIN_MIXTURE] = {0}, least = INFINITY, square;
    double around = log(width(p)), residual[POINTS + KREIN_MIXTURE];
    for (int start = 0; start < STARTS; start++) {
        double spread = 0.3 + 0.35 * (start % 3), shift = start < 3 ? 0 : 0.6;
        double *widths = clip ? x + p->n : x;
        for (int64_t i = 0; i < p->n; i++) {
            double at = around + shift + spread * ((double)i - 0.5 * (double)(p->n - 1));
            widths[i] = atanh(fmin(fmax((at - p->middle) / p->half, -0.95), 0.95));
            if (clip) x[i] = i % 2 ? 1 : -0.3; /* k(0) = 1 is near for most */
        }
        TRY(krein__leastsq(ctx, clip ? 2 * p->n : p->n, POINTS + p->n,
                           clip ? clipped_residual : signed_residual, p, clip ? 20 : 40, x,
                           &square));
        if (!(square < least)) continue;
        least = square;
        memcpy(keep, x, sizeof keep);
    }
    (clip ? clipped_residual : signed_residual)(p, keep, residual); /* and c of the best */
    for (int64_t q = 0; q < POINTS; q++) out->error = fmax(out->error, fabs(residual[q]) * p->top);
    for (int64_t i = 0; i < p->n; i++) {
        out->c[i] = (clip ? keep[i] : p->c[i]) * p->top;
        out->s[i] = exp(log_width(p, keep[clip ? p->n + i : i]));
    }
    out->n = p->n;
done:
    return st;
}

static krein_status law_of(krein_ctx *ctx, const problem *p, bool clip, krein_mixture *m) {
    krein_component c[KREIN_MIXTURE];
    for (int64_t i = 0; i < m->n; i++)
        c[i] = (krein_component){m->c[i], krein__kernel_gaussian.density, {m->s[i]}};
    krein_status st = krein__law_make(ctx, p->d, c, m->n, &m->law);
    if (st == KREIN_OK && clip) m->law.mass[1] = 0;
    return st;
}

krein_status krein__mixture_fit(krein_ctx *ctx, const krein_kernel *kernel, bool unit, int64_t d,
                                double R, bool clip, krein_mixture *out) {
    krein_status st = KREIN_OK;
    problem *p = NULL;
    memset(out, 0, sizeof *out);
    ZNEW(p, 1);
    p->d = d;
    p->R = R;
    p->n = clip ? 3 : 4;
    p->ridge = 3e-8;
    p->middle = log(R * sqrt(0.2));
    p->half = log(10 * R) - p->middle;
    for (int64_t q = 0; q < POINTS; q++) {
        p->z[q] = R / 2 * (1 - cos(M_PI * (double)q / (POINTS - 1)));
        p->k[q] = krein__kernel_profile(kernel, unit, p->z[q]);
        p->top = fmax(p->top, fabs(p->k[q]));
    }
    if (!(p->top > 0)) {
        st = krein__fail(ctx, KREIN_ENUMERIC, "the kernel is zero at all distances of the data");
        goto done;
    }
    for (int64_t q = 0; q < POINTS; q++) p->k[q] /= p->top;
    if (clip) radius_grid(p, width(p));
    TRY(best_start(ctx, p, clip, out));
    TRY(law_of(ctx, p, clip, out));
done:
    if (st != KREIN_OK) krein__law_clear(ctx, &out->law);
    krein__free(ctx, p);
    return st;
}
