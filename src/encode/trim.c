/* trim.c -- the scale of columns with outliers
 *
 * A value at a hundred deviations makes the deviation large and leaves all other values in a
 * corner, where a clip at 8 does not help. The scale sought is the deviation s of the column after
 * it was cut at mean +- clip s: repeated from the plain deviation until it stays. Not below the
 * quartiles' distance / 1.349, the deviation of a Gaussian with these quartiles; a column whose
 * quartiles are the same (a rare category) keeps its deviation.
 *
 * Missing cells hold the mean, which the outliers have moved: they do not count, and get the new
 * centre. Next to an outlier of 1e12 all other values are one number in single precision once they
 * are scaled; such columns are looked at without scaling. */
#include "encode/trim.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

void krein__sort_column(int64_t n, float *v) { qsort(v, (size_t)n, sizeof *v, ascending); }

/* Mean and deviation of the values cut at mean +- clip s. */
static void cut_moments(int64_t n, const float *v, double clip, double *mean, double *s) {
    double low = *mean - clip * *s, high = *mean + clip * *s, sum = 0, square = 0;
    for (int64_t i = 0; i < n; i++) sum += fmin(fmax((double)v[i], low), high);
    *mean = sum / (double)n;
    for (int64_t i = 0; i < n; i++) square += pow(fmin(fmax((double)v[i], low), high) - *mean, 2);
    *s = sqrt(square / (double)n);
}

static const double LESS = 0.7, ALL = 1e60;

bool krein__outliers(int64_t n, const float *v, double clip, double own, double *mean, double *s) {
    static const double GAUSS = 1.349;
    enum { TURNS = 500 };
    if (n < 4) return false;
    double least = ((double)v[3 * n / 4] - (double)v[n / 4]) / GAUSS, before;
    int turn = 0;
    if (!(least > 0)) return false;
    *mean = 0;
    *s = ALL;
    cut_moments(n, v, 1, mean, s); /* nothing is cut */
    do {
        before = *s;
        cut_moments(n, v, clip, mean, s);
        *s = fmax(*s, least);
    } while (*s < 0.999 * before && ++turn < TURNS);
    return *s < LESS * own;
}

/* The encoded value of a missing cell, as rows have it. */
static float hole_of(const krein_encoding *e, int64_t j) {
    return (e->fill[j] - e->centre[j]) * e->factor[j];
}

/* The cells of column j that are not missing; how many, and the largest by its size. */
static int64_t present(const krein_encoding *e, const krein_matrix *x, int64_t j, float *v,
                       double *most) {
    float hole = hole_of(e, j);
    int64_t m = 0;
    *most = 0;
    for (int64_t i = 0; i < x->n; i++) {
        float cell = x->x[i * x->d + j];
        if (cell == hole) continue;
        v[m++] = cell;
        *most = fmax(*most, fabs((double)cell));
    }
    return m;
}

/* The first cut of krein__outliers takes nothing, and the deviation is not small: it would find
 * none. Most columns need not be sorted. */
static bool surely_none(int64_t n, const float *v, double clip, double own, double most) {
    double mean = 0, s = ALL;
    cut_moments(n, v, 1, &mean, &s);
    return most + fabs(mean) <= clip * s && s >= LESS * own;
}

krein_status krein__encoding_unscale(krein_ctx *ctx, krein_encoding *e, float clip,
                                     const krein_matrix *x, krein_unscaled **out) {
    static const double FINE = 1e-3, FAR = 1e6;
    krein_status st = KREIN_OK;
    float *v = NULL;
    *out = NULL;
    if (e->sparse || e->scale != KREIN_SCALE_STANDARD) return KREIN_OK;
    NEW(v, x->n);
    for (int64_t j = 0; j < e->d; j++) {
        double most;
        int64_t m = present(e, x, j, v, &most);
        if (m < 4 || most <= (double)clip || most <= FAR * (double)e->factor[j]) continue;
        krein__sort_column(m, v);
        double low = (double)v[m / 4], high = (double)v[3 * m / 4];
        if (high - low > FINE * fmax(fabs(low), fabs(high))) continue;
        if (!*out) ZNEW(*out, e->d);
        (*out)[j] = (krein_unscaled){.centre = e->centre[j], .factor = e->factor[j]};
        e->centre[j] = 0;
        e->factor[j] = 1;
    }
done:
    krein__free(ctx, v);
    return st;
}

/* Column j of the sample and of the encoding, under another centre and factor. */
static void rescale(krein_encoding *e, krein_matrix *x, int64_t j, double mean, double s) {
    double factor = (double)e->factor[j];
    e->centre[j] = (float)((double)e->centre[j] + mean / factor);
    e->factor[j] = (float)(factor / s);
    for (int64_t i = 0; i < x->n; i++) {
        float *cell = &x->x[i * x->d + j];
        *cell = (float)(((double)*cell - mean) / s);
    }
}

static void trim_column(krein_encoding *e, float clip, const krein_unscaled *was, krein_matrix *x,
                        int64_t j, float *v) {
    double own = was ? 1 / (double)was->factor : 1, mean = 0, s = 1, most;
    float hole = hole_of(e, j);
    int64_t m = present(e, x, j, v, &most);
    bool none = m == 0 || surely_none(m, v, (double)clip, own, most);
    if (!none) krein__sort_column(m, v);
    if (none || !krein__outliers(m, v, (double)clip, own, &mean, &s)) {
        if (was) rescale(e, x, j, (double)was->centre, own);
        return;
    }
    for (int64_t i = 0; i < x->n; i++)
        if (x->x[i * x->d + j] == hole) x->x[i * x->d + j] = (float)mean;
    rescale(e, x, j, mean, s);
    e->fill[j] = e->centre[j];
}

krein_status krein__encoding_trim(krein_ctx *ctx, krein_encoding *e, float clip,
                                  const krein_unscaled *was, krein_matrix *x) {
    krein_status st = KREIN_OK;
    int64_t n = x->n, d = e->d;
    float *v = NULL;
    if (e->sparse || e->scale == KREIN_SCALE_UNIT) return KREIN_OK;
    e->clip = clip;
    NEW(v, n);
    for (int64_t j = 0; j < d && e->scale == KREIN_SCALE_STANDARD; j++)
        trim_column(e, clip, was && was[j].factor > 0 ? &was[j] : NULL, x, j, v);
    for (int64_t i = 0; i < n * d; i++) x->x[i] = fminf(fmaxf(x->x[i], -clip), clip);
done:
    krein__free(ctx, v);
    return st;
}
