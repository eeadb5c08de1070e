/* given.c -- a job on encoded rows in memory: they are a data set whose encoding leaves them as
 * they are, and a model beside the one of the job, with the same map. */
#include "learn/given.h"

#include <stdio.h>
#include <string.h>

/* ---- the encoding ------------------------------------------------------- */

/* Classes are their numbers. */
static krein_status number_classes(krein_ctx *ctx, int64_t classes, krein_encoding *e) {
    krein_status st = KREIN_OK;
    char text[32];
    e->nclass = classes;
    ZNEW(e->class_name, classes);
    NEW(e->class_value, classes);
    for (int64_t c = 0; c < classes; c++) {
        snprintf(text, sizeof text, "%lld", (long long)c);
        DUP(e->class_name[c], text);
        e->class_value[c] = (double)c;
    }
done:
    return st;
}

static krein_status plain_encoding(krein_ctx *ctx, const krein_encoding *like, int64_t outputs,
                                   krein_encoding *e) {
    krein_status st = KREIN_OK;
    *e = (krein_encoding){.d = like->d,
                          .sparse = like->sparse,
                          .scale = KREIN_SCALE_NONE,
                          .missing = KREIN_MISSING_ERROR,
                          .low = like->low,
                          .high = like->high,
                          .task = outputs ? KREIN_TASK_REGRESSION : KREIN_TASK_CLASSIFICATION,
                          .outputs = outputs ? outputs : 1};
    ZNEW(e->centre, e->d);
    NEW(e->factor, e->d);
    ZNEW(e->fill, e->d);
    for (int64_t j = 0; j < e->d; j++) e->factor[j] = 1;
    if (!outputs) TRY(number_classes(ctx, like->nclass, e));
done:
    return st;
}

/* ---- the data ----------------------------------------------------------- */

static krein_rows_view view_of(const krein_rows *x, int64_t outputs, const double *label,
                               const double *weight) {
    krein_rows_view v;
    krein_rows_view_init(&v);
    v.n = x->n;
    v.d = x->d;
    v.type = KREIN_FLOAT32;
    if (krein__rows_sparse(x)) {
        v.indptr = x->ptr;
        v.indptr_type = KREIN_INT64;
        v.indices = x->col;
        v.index_type = KREIN_INT32;
        v.values = x->val;
    } else {
        v.x = x->x;
        v.row_stride = x->ld;
        v.column_stride = 1;
    }
    v.targets = label;
    v.ntargets = outputs;
    v.weights = weight;
    return v;
}

/* What a scan would find. */
static void know(krein_data *data, const krein_rows *x, int64_t outputs, const double *label,
                 const double *weight) {
    double sum = 0;
    data->nrows = x->n;
    data->count[KREIN_PART_TRAIN] = data->here[KREIN_PART_TRAIN] = x->n;
    data->scanned = true;
    memset(data->label_mean, 0, sizeof data->label_mean);
    data->label_most = 0;
    if (!label) return;
    for (int64_t i = 0; i < x->n; i++) {
        double w = weight ? weight[i] : 1;
        sum += w;
        for (int64_t c = 0; c < outputs; c++) {
            data->label_mean[c] += w * label[i * outputs + c];
            data->label_most = fmax(data->label_most, fabs(label[i * outputs + c]));
        }
    }
    for (int64_t c = 0; c < outputs; c++) data->label_mean[c] /= sum > 0 ? sum : 1;
}

krein_status krein__given_begin(krein_job *from, const krein_rows *x, int64_t outputs,
                                const double *label, const double *weight, krein_given *g) {
    krein_ctx *ctx = from->ctx;
    krein_status st = KREIN_OK;
    krein_rows_view view = view_of(x, outputs, label, weight);
    krein_encoding *e = &g->model.encoding;
    memset(g, 0, sizeof *g);
    g->from = from;
    g->job = *from;
    g->model = (krein_model){.ctx = ctx,
                             .map = from->model->map,
                             .n = x->n,
                             .head = outputs ? KREIN_HEAD_VALUES : from->model->head,
                             .k = outputs ? outputs : from->model->k};
    TRY(plain_encoding(ctx, &from->model->encoding, outputs, e));
    TRY(krein_data_from_rows(ctx, &view, NULL, &g->data));
    TRY(krein__data_match(g->data, e, label != NULL));
    know(g->data, x, outputs, label, weight);
    g->job.data = g->data;
    g->job.rows = NULL;
    g->job.n = x->n;
    g->job.model = &g->model;
    g->job.unlabelled = (krein_unlabelled){0};
    g->job.checkpoint = NULL;
    g->job.apart = NULL;
    g->job.sums = (krein_sums){0};
    g->job.lambda_start = g->job.weight = 0;
    TRY(krein__stream_open(g->data, e, KREIN_PART_TRAIN, &g->job.rows));
done:
    return st;
}

/* ---- map and learner ---------------------------------------------------- */

static krein_status same_map(const krein_map *map, krein_map **out) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    char *text = krein__map_text(map);
    *out = NULL;
    if (!text) return ctx->status;
    TRY(krein__map_create(ctx, text, map->kernel, 0, map->seed, out));
done:
    krein__free(ctx, text);
    return st;
}

void krein__given_raw(krein_given *g, const krein_learner_class *learner,
                      const krein_values *values) {
    krein_map *map = g->model.map;
    map->unmixed = learner->raw && learner->raw(&g->job, map, values);
}

krein_status krein__given_map(krein_given *g, bool again) {
    krein_status st = KREIN_OK;
    krein_job *from = g->from;
    krein_model *m = from->model;
    krein_map *map = NULL;
    if (m->map->R > 0 && !again) return KREIN_OK;
    bool labels = krein__map_traits(m->map) & KREIN_MAP_LABELS, first = !m->map_text;
    krein_stream *rows = labels ? from->rows : g->job.rows;
    int64_t n = labels ? from->n : g->job.n;
    if (m->map->R > 0) {
        TRY(same_map(m->map, &map));
        krein__map_destroy(m->map);
        g->model.map = m->map = map;
    }
    TRY(first ? krein__map_fit(m->map, m->encoding.d, m->encoding.sparse, rows, n)
              : krein__map_fit_silently(m->map, m->encoding.d, m->encoding.sparse, rows, n));
    if (first) TRY(krein__model_finish(m));
done:
    return st;
}

static void forget_weights(krein_ctx *ctx, krein_model *m) {
    krein__free(ctx, m->w);
    krein__free(ctx, m->intercept);
    krein__free(ctx, m->calibration.slope);
    krein__free(ctx, m->calibration.shift);
    m->w = m->intercept = NULL;
    m->calibration = (krein_calibration){0};
}

krein_status krein__given_learn(krein_given *g, const krein_learner_class *learner,
                                krein_values *values) {
    krein_ctx *ctx = g->job.ctx;
    krein_status st = KREIN_OK;
    forget_weights(ctx, &g->model);
    ZNEW(g->model.w, g->model.map->R * g->model.k);
    ZNEW(g->model.intercept, g->model.k);
    TRY(learner->fit(&g->job, values));
done:
    return st;
}

void krein__given_take(krein_given *g) {
    krein_model *m = g->from->model;
    forget_weights(g->job.ctx, m);
    m->w = g->model.w;
    m->intercept = g->model.intercept;
    m->calibration = g->model.calibration;
    m->lambda = g->model.lambda;
    m->path = g->model.path;
    m->k = g->model.k;
    g->from->loo = g->job.loo;
    g->from->cv_folds = g->job.cv_folds;
    g->model.w = g->model.intercept = NULL;
    g->model.calibration = (krein_calibration){0};
}

void krein__given_end(krein_given *g) {
    krein_ctx *ctx = g->job.ctx;
    if (!ctx) return;
    if (g->data) krein__stream_close(g->job.rows);
    krein_data_close(g->data);
    forget_weights(ctx, &g->model);
    krein__encoding_clear(ctx, &g->model.encoding);
    memset(g, 0, sizeof *g);
}
