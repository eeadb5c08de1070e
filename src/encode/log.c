/* log.c -- logarithms of heavy-tailed columns
 *
 *     x = (log(max(v, 0) + c) - centre) * factor,   v the number of the file
 *
 * c is the least positive number of the sample: counts become log(1 + v), and zeros stay apart
 * from the least that is there. A column is heavy-tailed where no number is negative, its skewness
 * is above SKEW and its 99 % quantile above TAIL medians: the last leaves alone columns in which a
 * few outliers make the skewness, for which there is trim.h. */
#include "encode/log.h"

#include "encode/trim.h"

#include <math.h>
#include <string.h>

void krein__logs_clear(krein_ctx *ctx, krein_logs *logs) {
    krein__free(ctx, logs->column);
    krein__free(ctx, logs->offset);
    krein__free(ctx, logs->centre);
    krein__free(ctx, logs->factor);
    krein__free(ctx, logs->fill);
    krein__free(ctx, logs->x);
    *logs = (krein_logs){0};
}

/* The numbers of an encoded column as they are in the file. Those that rounding does not tell from
 * zero are zero. */
static void numbers_of(const krein_encoding *e, const krein_input *in, const krein_matrix *x,
                       double *v) {
    static const double ROUNDING = 0x1p-21;
    double centre = (double)e->centre[in->at], factor = (double)e->factor[in->at];
    for (int64_t i = 0; i < x->n; i++) {
        double part = (double)x->x[i * x->d + in->at] / factor;
        double sum = part + centre + in->shift;
        double noise = ROUNDING * (fabs(part) + fabs(centre) + fabs(in->shift));
        v[i] = fabs(sum) <= noise ? 0 : sum;
    }
}

static void moments(int64_t n, const double *v, double *mean, double *deviation, double *skewness) {
    double sum = 0, square = 0, cube = 0;
    for (int64_t i = 0; i < n; i++) sum += v[i];
    *mean = sum / (double)n;
    for (int64_t i = 0; i < n; i++) {
        double a = v[i] - *mean;
        square += a * a;
        cube += a * a * a;
    }
    *deviation = sqrt(square / (double)n);
    *skewness = cube / (double)n / pow(*deviation, 3);
}

/* No number below zero, and skewed to the right: what needs no sorted column. */
static bool skewed(int64_t n, const double *v) {
    static const double SKEW = 1.5;
    double mean, deviation, skewness;
    for (int64_t i = 0; i < n; i++)
        if ((float)v[i] < 0) return false;
    moments(n, v, &mean, &deviation, &skewness);
    return skewness > SKEW;
}

/* sorted: n values. */
static bool heavy_tailed(int64_t n, const float *sorted) {
    static const double TAIL = 4;
    enum { DISTINCT = 10 };
    int64_t distinct = 1;
    if (!((double)sorted[99 * n / 100] > TAIL * (double)sorted[n / 2])) return false;
    for (int64_t i = 1; i < n && distinct < DISTINCT; i++) distinct += sorted[i] > sorted[i - 1];
    return distinct >= DISTINCT;
}

/* Takes the logarithms of the numbers v and adds the column to the others. room: n values. */
static void add_column(int64_t n, int64_t at, double clip, float least, double *v, float *room,
                       krein_logs *out) {
    double mean, deviation, skewness, rest = 0, s = 1;
    int64_t k = out->n++;
    out->column[k] = at;
    out->offset[k] = least;
    for (int64_t i = 0; i < n; i++) v[i] = log(v[i] + (double)least);
    moments(n, v, &mean, &deviation, &skewness);
    for (int64_t i = 0; i < n; i++) room[i] = (float)((v[i] - mean) / deviation);
    krein__sort_column(n, room);
    if (isfinite(clip) && krein__outliers(n, room, clip, 1, &rest, &s)) {
        mean += rest * deviation;
        deviation *= s;
    }
    out->centre[k] = (float)mean;
    out->factor[k] = (float)(1 / deviation);
    for (int64_t i = 0; i < n; i++)
        room[i] = (float)fmin(fmax((v[i] - mean) / deviation, -clip), clip);
    memcpy(out->x + k * n, room, (size_t)n * sizeof *room);
}

krein_status krein__logs_find(krein_ctx *ctx, const krein_encoding *e, double clip,
                              const krein_matrix *x, krein_logs *out) {
    enum { LEAST = 100 };
    krein_status st = KREIN_OK;
    int64_t n = x->n;
    double *v = NULL;
    float *sorted = NULL;
    *out = (krein_logs){0};
    if (e->sparse || e->scale != KREIN_SCALE_STANDARD || n < LEAST) return KREIN_OK;
    NEW(v, n);
    NEW(sorted, n);
    for (int64_t j = 0; j < e->ninput; j++) {
        const krein_input *in = &e->input[j];
        bool amount = in->reading.as == KREIN_AS_PLAIN || in->reading.as == KREIN_AS_AMOUNT;
        if (in->at < 0 || in->text || !amount) continue;
        numbers_of(e, in, x, v);
        if (!skewed(n, v)) continue;
        for (int64_t i = 0; i < n; i++) sorted[i] = (float)v[i];
        krein__sort_column(n, sorted);
        if (!heavy_tailed(n, sorted)) continue;
        int64_t first = 0;
        while (!(sorted[first] > 0)) first++;
        if (!out->column) {
            NEW(out->column, e->ninput);
            NEW(out->offset, e->ninput);
            NEW(out->centre, e->ninput);
            NEW(out->factor, e->ninput);
            NEW(out->fill, e->ninput);
        }
        float *more = krein__resize(ctx, out->x, (out->n + 1) * n, sizeof *more);
        if (!more) {
            st = ctx->status;
            goto done;
        }
        out->x = more;
        out->fill[out->n] = e->fill[in->at];
        add_column(n, in->at, clip, sorted[first], v, sorted, out);
    }
done:
    krein__free(ctx, v);
    krein__free(ctx, sorted);
    if (st != KREIN_OK) krein__logs_clear(ctx, out);
    return st;
}

krein_status krein__encoding_set_logs(krein_ctx *ctx, krein_encoding *e, const krein_logs *logs,
                                      const bool *which) {
    krein_status st = KREIN_OK;
    float *offset = NULL;
    ZNEW(offset, e->d);
    for (int64_t k = 0; k < logs->n; k++) {
        int64_t at = logs->column[k];
        if (which && !which[k]) continue;
        offset[at] = logs->offset[k];
        e->centre[at] = logs->centre[k];
        e->factor[at] = logs->factor[k];
        e->fill[at] = logs->fill[k];
    }
    krein__free(ctx, e->log);
    e->log = offset;
done:
    return st;
}
