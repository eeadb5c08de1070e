/* alike.c -- compares what a column is multiplied by, and what is done before that. */
#include "kernel/alike.h"

#include <math.h>
#include <stdio.h>

/* Of two samples of the same rows deviations differ by less. */
static const double MOST = 1.5;

typedef struct columns {
    int64_t scale;
    float *factor, *metric;
    bool matrix, log;
} columns;

static krein_status read_columns(krein_archive *a, int64_t d, columns *c) {
    krein_status st = KREIN_OK;
    TRY(krein__archive_int(a, "encoding.scale", &c->scale, 0, KREIN_SCALE_NONE));
    TRY(krein__archive_array(a, "encoding.factor", KREIN_TYPE_F32, &c->factor, d));
    if (krein__archive_has(a, "encoding.metric"))
        TRY(krein__archive_array(a, "encoding.metric", KREIN_TYPE_F32, &c->metric, d));
    c->matrix = krein__archive_has(a, "encoding.matrix");
    c->log = krein__archive_has(a, "encoding.log");
done:
    return st;
}

static double factor_of(const float *factor, const float *metric, int64_t j) {
    return (double)factor[j] * (metric ? (double)metric[j] : 1);
}

/* The first difference, in words; false: there is none. */
static bool differ(const columns *c, const krein_encoding *e, char *text, size_t size) {
    if (c->scale != (int64_t)e->scale) {
        snprintf(text, size, "its `scale` is %s, here it is %s",
                 krein__scale_name((krein_scale)c->scale), krein__scale_name(e->scale));
        return true;
    }
    if (c->matrix || e->matrix) {
        snprintf(text, size, "%s a metric that mixes the columns was learned",
                 c->matrix ? "there" : "here");
        return true;
    }
    if (c->log != (e->log != NULL)) {
        snprintf(text, size, "%s logarithms are taken", c->log ? "there" : "here");
        return true;
    }
    for (int64_t j = 0; j < e->d && e->scale != KREIN_SCALE_UNIT; j++) {
        double there = factor_of(c->factor, c->metric, j),
               here = factor_of(e->factor, e->metric, j);
        if (there <= MOST * here && here <= MOST * there) continue;
        char name[64];
        krein__encoded_name(e, j, name, sizeof name);
        snprintf(text, size, "%s is multiplied by %.4g there, by %.4g here", name, there, here);
        return true;
    }
    return false;
}

krein_status krein__encoding_alike(krein_ctx *ctx, krein_archive *model, const krein_encoding *e,
                                   const char *what) {
    krein_status st = KREIN_OK;
    columns c = {0};
    char text[200];
    TRY(read_columns(model, e->d, &c));
    if (differ(&c, e, text, sizeof text))
        krein__log(ctx, KREIN_LOG_WARNING,
                   "%s was trained on columns that are encoded otherwise: %s; take its encoding by "
                   "`metric=file=MODEL`, or train both with the same `scale` and a `kernel`",
                   what, text);
done:
    krein__free(ctx, c.factor);
    krein__free(ctx, c.metric);
    return st;
}
