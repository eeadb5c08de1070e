/* fitted.h -- small data and maps fitted to it, for tests of maps that look at the data. ctx is the
 * context that everything is made in. */
#ifndef KREIN_TEST_FITTED_H
#define KREIN_TEST_FITTED_H

#include "mapped.h"

typedef struct source {
    krein_data *data;
    krein_encoding e;
    krein_stream *stream;
    int64_t n;
} source;

static inline void source_close(source *s) {
    krein__stream_close(s->stream);
    if (s->data) krein__encoding_clear(ctx, &s->e);
    krein_data_close(s->data);
    memset(s, 0, sizeof *s);
}
static inline krein_status source_open(source *s, bool labels, double holdout) {
    krein_status st = krein__data_scan(s->data, labels, holdout, 1, &s->e);
    if (st == KREIN_OK) st = krein__stream_open(s->data, &s->e, KREIN_PART_TRAIN, &s->stream);
    s->n = s->data->count[KREIN_PART_TRAIN];
    return st;
}
static inline void source_dense(source *s, int64_t n, int64_t d, const float *x, const double *y,
                                krein_task task) {
    krein_data_options o;
    memset(s, 0, sizeof *s);
    krein_data_options_init(&o);
    o.scale = KREIN_SCALE_NONE;
    o.task = task;
    CHECK(krein_data_from_dense(ctx, n, d, x, d, y, NULL, &o, &s->data) == KREIN_OK);
    CHECK(source_open(s, y != NULL, 0) == KREIN_OK);
}
static inline krein_status make(const char *spec, const char *kernel, uint64_t seed, source *s,
                                krein_map **out) {
    krein_kernel *k = kernel_of(kernel);
    krein_status st = krein__map_create(ctx, spec, k, 0, seed, out);
    if (st == KREIN_OK) st = krein__map_fit(*out, s->e.d, s->e.sparse, s->stream, s->n);
    if (st != KREIN_OK) {
        krein__map_destroy(*out);
        *out = NULL;
    }
    krein__kernel_destroy(ctx, k);
    return st;
}
static inline krein_map *need(const char *spec, const char *kernel, uint64_t seed, source *s) {
    krein_map *map = NULL;
    if (make(spec, kernel, seed, s, &map) != KREIN_OK) {
        printf("%s, %s: %s\n", spec, kernel, krein_message(ctx));
        test_bad++;
    }
    return map;
}
#endif
