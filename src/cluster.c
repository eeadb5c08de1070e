/* cluster.c -- the public entry point that clusters rows:
 *
 *     data -> encoding -> kernel -> map (fitted) or graph -> clusters -> measures, model
 */
#include "learn/clustering.h"
#include "pipe/pipe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Most rows for which a graph is made, and of the silhouette; most columns of a linear kernel whose
 * rows are clustered as they are. */
enum { GRAPH_ROWS = 200000, SILHOUETTE_ROWS = 2000, STEPS = 300, LINEAR_COLUMNS = 4096 };

void krein_cluster_options_init_sized(krein_cluster_options *given, size_t size) {
    krein_cluster_options own = KREIN_SIZED(krein_cluster_options), *o = &own;
    o->neighbours = 10;
    o->restarts = 10;
    o->seed = 1;
    o->max_exact = KREIN_MAX_EXACT;
    krein__options_give(given, size, o);
}

void krein_cluster_report_clear(krein_ctx *ctx, krein_cluster_report *report) {
    krein_cluster_report r = KREIN_SIZED(krein_cluster_report);
    if (!report) return;
    krein__report_take(&r, report);
    krein__free(ctx, r.sizes);
    krein__free(ctx, r.kernel);
    krein__free(ctx, r.map);
}

/* What goes through all the steps. */
typedef struct setup {
    krein_cluster_options o;
    krein_pipe pipe;
    krein_cluster_job c;
} setup;

static void setup_clear(setup *s) {
    krein__cluster_clear(&s->c);
    krein__pipe_end(&s->pipe);
}

/* ---- the map ------------------------------------------------------------ */

static const krein_cluster_options *options_of(const krein_pipe *p) {
    return &((const setup *)p->purpose.user)->o;
}

/* Of a linear kernel the rows themselves, where they are not too wide. */
static bool rows_as_they_are(const krein_pipe *p) {
    return krein__is_linear(p->kernel) && p->job.model->encoding.d <= LINEAR_COLUMNS;
}

static int64_t features(const krein_pipe *p) {
    if (rows_as_they_are(p)) return p->job.model->encoding.d;
    return krein__min(KREIN_FEATURES, p->rows);
}

/* Spectral clustering needs similarities that hardly ever come out negative: landmarks. */
static const char *default_map(const krein_pipe *p, int64_t D) {
    int64_t d = p->job.model->encoding.d;
    bool spectral = options_of(p)->method == KREIN_CLUSTER_SPECTRAL;
    if (spectral && !rows_as_they_are(p)) return "nystrom";
    return krein__map_default(p->kernel, d, D);
}

static void cost(const krein_pipe *p, krein_need *out) {
    const setup *s = p->purpose.user;
    out->bytes = krein__cluster_bytes(&s->c);
}

static bool advice(const krein_pipe *p, char *text, size_t size) {
    const setup *s = p->purpose.user;
    if (s->c.neighbours == 0) return false;
    snprintf(text, size, "use fewer `neighbours`, `method=kmeans`, or raise `max_memory`");
    return true;
}

/* ---- before any row is read --------------------------------------------- */

static krein_status check_counts(krein_ctx *ctx, const krein_cluster_options *o) {
    krein_status st = KREIN_OK;
    TRY(krein__limit_check(ctx, "clusters", (double)o->clusters));
    TRY(krein__limit_check(ctx, "restarts", (double)o->restarts));
    TRY(krein__limit_check(ctx, "neighbours", (double)o->neighbours));
done:
    return st;
}

/* Options that do not go together. */
static krein_status check_options(krein_ctx *ctx, const krein_cluster_options *o, bool model) {
    bool knn = o->graph == KREIN_GRAPH_KNN;
    if (knn && o->method != KREIN_CLUSTER_SPECTRAL)
        return krein__fail(ctx, KREIN_EARG, "`graph` is for `method=spectral`");
    if (knn && (o->map || o->features > 0))
        return krein__fail(
            ctx, KREIN_EARG,
            "`graph=knn` compares rows by the kernel itself: leave `map` and `features` out");
    if (o->graph_file && !knn)
        return krein__fail(ctx, KREIN_EARG, "`graph_file` is for `graph=knn`");
    if (model && o->method == KREIN_CLUSTER_SPECTRAL)
        return krein__fail(ctx, KREIN_EARG,
                           "spectral clustering places the rows it was given and no others: there "
                           "is no model of it; use `method=kmeans`");
    if (model && o->clusters == 1)
        return krein__fail(ctx, KREIN_EARG, "one cluster needs no model: every row is in it");
    if (model && o->clusters > KREIN_CLASSES_MAX)
        return krein__fail(ctx, KREIN_EARG, "a model has at most %d clusters", KREIN_CLASSES_MAX);
    return KREIN_OK;
}

static krein_status setup_begin(setup *s, krein_ctx *ctx, const krein_cluster_options *given,
                                bool model) {
    krein_status st = KREIN_OK;
    krein_cluster_options *o = &s->o;
    krein_cluster_options_init(o);
    TRY(krein__options_copy(ctx, given, o, "krein_cluster_options"));
    TRY(check_counts(ctx, o));
    TRY(check_options(ctx, o, model));
    krein_pipe_options asked = {.kernel = o->kernel,
                                .map = o->map,
                                .features = o->features,
                                .seed = o->seed,
                                .max_exact = o->max_exact};
    krein_purpose purpose = {.what = "clustering",
                             .blind = "clusters",
                             .matrix = KREIN_MATRIX_FEW,
                             .user = s,
                             .features = features,
                             .map = default_map,
                             .cost = cost,
                             .advice = advice};
    TRY(krein__pipe_begin(ctx, &asked, &purpose, &s->pipe));
done:
    return st;
}

/* ---- data --------------------------------------------------------------- */

/* Whoever has no labels must learn where the first column went. */
static void say_label(const krein_data *data, const krein_encoding *e) {
    bool classes = e->task == KREIN_TASK_CLASSIFICATION;
    if (!data->has_label) return;
    if (data->label_guessed)
        krein__log(data->ctx, classes ? KREIN_LOG_INFO : KREIN_LOG_WARNING,
                   "the first column is taken for the label and is no input; `label=none` makes "
                   "every column an input");
    if (!classes)
        krein__log(data->ctx, KREIN_LOG_INFO,
                   "the labels are numbers, not classes: clusters are not compared with them");
}

/* Very many wide rows are not compared: k-means notices equal ones by itself. */
static krein_status check_distinct(setup *s) {
    krein_ctx *ctx = s->pipe.ctx;
    const krein_job *job = &s->pipe.job;
    int64_t clusters = s->o.clusters, distinct;
    if (clusters > job->n)
        return krein__fail(ctx, KREIN_EDATA, "%s: %lld clusters of %lld rows; ask for fewer",
                           job->data->name, (long long)clusters, (long long)job->n);
    int64_t wanted =
        krein__min(clusters, krein__max(2, ((int64_t)1 << 24) / job->model->encoding.d));
    krein_status st = krein__distinct_rows(ctx, job->rows, wanted, &distinct);
    if (st != KREIN_OK || distinct >= wanted) return st;
    return krein__fail(ctx, KREIN_EDATA,
                       "%s: %lld clusters, but only %lld of the rows are different; ask for fewer",
                       job->data->name, (long long)clusters, (long long)distinct);
}

static krein_status meet(setup *s, krein_data *data) {
    krein_status st = KREIN_OK;
    bool labels = krein__data_may_have_labels(data);
    data->one_class = true;
    TRY(krein__pipe_meet(&s->pipe, data, labels ? KREIN_LABELS_WANTED : KREIN_LABELS_IGNORED));
    say_label(data, &s->pipe.job.model->encoding);
    TRY(check_distinct(s));
    TRY(krein__pipe_median(&s->pipe));
done:
    data->one_class = false;
    return st;
}

/* Distances and similarities need a positive definite kernel, or a way to do without. */
static krein_status check_definite(const setup *s) {
    krein_ctx *ctx = s->pipe.ctx;
    bool dual = krein__pipe_is_exact(&s->pipe);
    bool spectral = s->o.method == KREIN_CLUSTER_SPECTRAL;
    if (krein__kernel_definite(s->pipe.kernel) != KREIN_DEFINITE_NO) return KREIN_OK;
    if (spectral && dual) return KREIN_OK; /* any similarities will do */
    if (spectral)
        return krein__fail(ctx, KREIN_ESPEC,
                           "spectral clustering on features needs a positive definite kernel; use "
                           "`map=exact` or `graph=knn`");
    if (dual)
        return krein__fail(ctx, KREIN_ESPEC,
                           "k-means needs distances, and the kernel is not positive definite; use "
                           "a feature map, or `method=spectral`");
    krein__log(ctx, KREIN_LOG_WARNING,
               "the kernel is not positive definite: distances are those of the features, without "
               "their signs");
    return KREIN_OK;
}

static krein_status check_graph(const setup *s, int64_t n) {
    krein_ctx *ctx = s->pipe.ctx;
    if (n > GRAPH_ROWS && !krein__graph_by_distance(s->pipe.kernel))
        return krein__fail(ctx, KREIN_EARG,
                           "`graph=knn` compares all pairs of rows by this kernel, and %lld are "
                           "more than %d; take a "
                           "kernel that falls with the distance (gaussian), or leave `graph` out",
                           (long long)n, GRAPH_ROWS);
    return krein__reserve_check(ctx, krein__cluster_bytes(&s->c), "clustering",
                                "use fewer `neighbours`, `method=kmeans`, or raise `max_memory`");
}

/* ---- the work ----------------------------------------------------------- */

static krein_status run(setup *s, bool weights) {
    krein_status st = KREIN_OK;
    krein_cluster_job *c = &s->c;
    krein_pipe *p = &s->pipe;
    bool knn = s->o.graph == KREIN_GRAPH_KNN;
    c->job = p->job;
    c->kernel = p->kernel;
    c->o = (krein_kmeans_options){.clusters = s->o.clusters,
                                  .restarts = s->o.clusters == 1 ? 1 : s->o.restarts,
                                  .steps = STEPS,
                                  .rng = {s->o.seed, KREIN_STREAM_CLUSTER}};
    c->spectral = s->o.method == KREIN_CLUSTER_SPECTRAL;
    c->weights = weights;
    c->neighbours = knn ? s->o.neighbours : 0;
    c->graph_file = s->o.graph_file;
    c->sample = SILHOUETTE_ROWS;
    if (knn) {
        TRY(check_graph(s, p->job.n));
    } else {
        if (rows_as_they_are(p)) p->purpose.matrix = KREIN_MATRIX_NEVER;
        TRY(krein__pipe_map(p, NULL));
        TRY(check_definite(s));
        TRY(krein__pipe_fit(p));
        c->kernel = p->job.model->map->kernel;
    }
    TRY(krein__cluster(c));
done:
    return st;
}

/* The labels of the rows, where they are classes, against the clusters. */
static krein_status compare(setup *s, int64_t classes, krein_cluster_report *r) {
    krein_ctx *ctx = s->pipe.ctx;
    krein_status st = KREIN_OK;
    int32_t *class = NULL;
    NEW(class, s->pipe.job.n);
    TRY(krein__job_targets(&s->c.job, NULL, class, NULL, NULL));
    TRY(krein__agreement(ctx, s->pipe.job.n, s->o.clusters, s->c.result.cluster, classes, class,
                         s->c.row_weight, &r->ari, &r->nmi));
    r->classes = classes;
done:
    krein__free(ctx, class);
    return st;
}

static krein_status tell_rows(setup *s, krein_predict_fn fn, void *user) {
    krein_status st = KREIN_OK;
    krein_stream *all = NULL;
    krein_block b;
    int64_t used = 0;
    TRY(krein__stream_open(s->pipe.job.data, &s->pipe.job.model->encoding, -1, &all));
    for (;;) {
        TRY(krein__stream_next(all, &b));
        if (b.x.n == 0) break;
        for (int64_t i = 0; i < b.x.n; i++) {
            bool dropped = b.dropped && b.dropped[i];
            krein_prediction p = {.row = b.first + i, .label = -1, .id = b.id ? b.id[i] : NULL};
            if (!dropped) p.label = s->c.result.cluster[used++];
            TRY(fn(user, &p));
        }
    }
done:
    krein__stream_close(all);
    return st;
}

static krein_status fill_report(const setup *s, krein_cluster_report *r) {
    krein_ctx *ctx = s->pipe.ctx;
    krein_status st = KREIN_OK;
    const krein_kmeans *found = &s->c.result;
    const krein_model *m = s->pipe.job.model;
    const krein_map *map = m->map;
    bool spectral = s->o.method == KREIN_CLUSTER_SPECTRAL;
    r->n = m->n;
    r->d = m->encoding.d;
    r->D = map ? map->D : -1;
    r->method = s->o.method;
    r->clusters = s->o.clusters;
    r->inertia = spectral ? NAN : found->inertia;
    r->silhouette = s->c.silhouette;
    r->silhouette_rows = s->c.sample;
    r->steps = found->steps;
    r->settled = found->settled;
    NEW(r->sizes, r->clusters);
    memcpy(r->sizes, found->size, (size_t)r->clusters * sizeof *r->sizes);
    if (!(r->kernel = krein__kernel_text(ctx, s->c.kernel)) ||
        (map && !(r->map = krein__map_text(map))))
        st = ctx->status;
done:
    return st;
}

/* The classes of the model are the clusters; until here they were the data's. */
static krein_status finish_model(setup *s) {
    krein_ctx *ctx = s->pipe.ctx;
    krein_status st = KREIN_OK;
    krein_model *m = s->pipe.job.model;
    TRY(krein__cluster_classes(ctx, &m->encoding, s->o.clusters));
    m->learner = krein__format(ctx, "kmeans(clusters=%lld)", (long long)s->o.clusters);
    if (!m->learner) st = ctx->status;
    m->clusters = true;
done:
    return st;
}

krein_status krein_cluster(krein_ctx *ctx, krein_data *data, const krein_cluster_options *options,
                           krein_predict_fn fn, void *user, krein_cluster_report *report,
                           krein_model **model) {
    krein_status st = KREIN_OK;
    krein_cluster_report own = KREIN_SIZED(krein_cluster_report), *r = &own;
    setup s = {.c = {.job = {.ctx = ctx}}};
    double start = krein__clock();
    if (model) *model = NULL;
    r->ari = r->nmi = NAN;
    r->classes = -1;
    TRY(krein__report_check(ctx, report, "krein_cluster_report"));
    TRY(setup_begin(&s, ctx, options, model != NULL));
    TRY(meet(&s, data));
    const krein_encoding *e = &s.pipe.job.model->encoding;
    int64_t classes = data->has_label && e->task == KREIN_TASK_CLASSIFICATION ? e->nclass : 0;
    TRY(run(&s, model != NULL));
    if (classes > 0) TRY(compare(&s, classes, r));
    if (fn) TRY(tell_rows(&s, fn, user));
    TRY(fill_report(&s, r));
    if (model) TRY(finish_model(&s));
    r->seconds = krein__clock() - start;
    if (model) *model = krein__pipe_take_model(&s.pipe);
done:
    setup_clear(&s);
    krein__report_finish(st, report, r);
    krein_cluster_report_clear(ctx, r);
    return st;
}

typedef struct numbers {
    krein_ctx *ctx;
    int64_t *to, room;
} numbers;

static krein_status take_number(void *user, const krein_prediction *p) {
    const numbers *n = user;
    if (p->row >= n->room)
        return krein__fail(n->ctx, KREIN_EARG,
                           "there are more than the %lld rows that there is room for",
                           (long long)n->room);
    n->to[p->row] = p->label;
    return KREIN_OK;
}

krein_status krein_cluster_labels(krein_ctx *ctx, krein_data *data,
                                  const krein_cluster_options *options, int64_t *out, int64_t room,
                                  krein_cluster_report *report, krein_model **model) {
    numbers n = {ctx, out, room};
    return krein_cluster(ctx, data, options, take_number, &n, report, model);
}
