/* trim.c -- the scale of columns with outliers
 *
 * A value at a hundred deviations makes the deviation large and leaves all other values in a
 * corner, where a clip at 8 does not help. The scale sought is the deviation s of the column after
 * it was cut at mean +- clip s: repeated from the plain deviation until it stays. Not below the
 * quartiles' distance / 1.349, the deviation of a Gaussian with these quartiles; a column whose
 * quartiles are the same (a rare category) keeps its deviation. */
#include "encode/trim.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

void krein__sort_column(int64_t n, float *v) { qsort(v, (size_t)n, sizeof *v, ascending); }

/* Mean and deviation of the sorted values cut at mean +- clip s. */
static void cut_moments(int64_t n, const float *v, double clip, double *mean, double *s) {
    double low = *mean - clip * *s, high = *mean + clip * *s, sum = 0, square = 0;
    for (int64_t i = 0; i < n; i++) sum += fmin(fmax((double)v[i], low), high);
    *mean = sum / (double)n;
    for (int64_t i = 0; i < n; i++) square += pow(fmin(fmax((double)v[i], low), high) - *mean, 2);
    *s = sqrt(square / (double)n);
}

bool krein__outliers(int64_t n, const float *v, double clip, double *mean, double *s) {
    static const double GAUSS = 1.349, LESS = 0.7;
    enum { TURNS = 50 };
    double least = ((double)v[3 * n / 4] - (double)v[n / 4]) / GAUSS, before;
    int turn = 0;
    if (!(least > 0)) return false;
    *mean = 0;
    *s = 1e30;
    cut_moments(n, v, 1, mean, s); /* nothing is cut */
    do {
        before = *s;
        cut_moments(n, v, clip, mean, s);
        *s = fmax(*s, least);
    } while (*s < 0.999 * before && ++turn < TURNS);
    return *s < LESS; /* the encoding's own deviation is 1 */
}

krein_status krein__encoding_trim(krein_ctx *ctx, krein_encoding *e, float clip, krein_matrix *x) {
    krein_status st = KREIN_OK;
    int64_t n = x->n, d = e->d;
    float *v = NULL;
    if (e->sparse || e->scale == KREIN_SCALE_UNIT) return KREIN_OK;
    e->clip = clip;
    NEW(v, n);
    for (int64_t j = 0; j < d && n >= 4; j++) {
        double mean = 0, s = 1;
        for (int64_t i = 0; i < n; i++) v[i] = x->x[i * d + j];
        krein__sort_column(n, v);
        if (e->scale != KREIN_SCALE_STANDARD || !krein__outliers(n, v, (double)clip, &mean, &s))
            continue;
        double factor = (double)e->factor[j];
        e->centre[j] = (float)((double)e->centre[j] + mean / factor);
        e->factor[j] = (float)(factor / s);
        for (int64_t i = 0; i < n; i++)
            x->x[i * d + j] = (float)(((double)x->x[i * d + j] - mean) / s);
    }
    for (int64_t i = 0; i < n * d; i++) x->x[i] = fminf(fmaxf(x->x[i], -clip), clip);
done:
    krein__free(ctx, v);
    return st;
}
