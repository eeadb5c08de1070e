/* cluster.c -- the public entry point that clusters rows:
 *
 *     data -> encoding -> kernel -> map (fitted) or graph -> clusters -> measures, model
 */
#include "kernel/inputs.h"
#include "kernel/median.h"
#include "learn/clustering.h"

#include <math.h>
#include <string.h>

/* Most rows for which the kernel matrix is the default, for which a graph is made, and of the
 * silhouette. */
enum { EXACT_ROWS = 4000, GRAPH_ROWS = 200000, SILHOUETTE_ROWS = 2000, STEPS = 300 };

void krein_cluster_options_init(krein_cluster_options *o) {
    memset(o, 0, sizeof *o);
    o->size = sizeof *o;
    o->neighbours = 10;
    o->restarts = 10;
    o->seed = 1;
    o->max_exact = 10000;
}

void krein_cluster_report_clear(krein_ctx *ctx, krein_cluster_report *r) {
    krein__free(ctx, r->sizes);
    krein__free(ctx, r->kernel);
    krein__free(ctx, r->map);
    memset(r, 0, sizeof *r);
}

/* What goes through all the steps. */
typedef struct setup {
    krein_ctx *ctx;
    krein_cluster_options o;
    krein_data *data;
    krein_kernel *kernel;
    krein_model *model;
    krein_stream *rows;
    krein_cluster_job c;
    bool tight; /* no room for a kernel matrix that was not asked for */
} setup;

static void setup_clear(setup *s) {
    krein__stream_close(s->rows);
    krein__cluster_clear(&s->c);
    krein__kernel_destroy(s->ctx, s->kernel);
    krein_model_destroy(s->model);
}

/* ---- before any row is read --------------------------------------------- */

static krein_status check_counts(krein_ctx *ctx, const krein_cluster_options *o) {
    if (o->clusters < 1)
        return krein__fail(ctx, KREIN_EARG, "`clusters` takes a number of at least 1");
    if (o->restarts < 1)
        return krein__fail(ctx, KREIN_EARG, "`restarts` takes a number of at least 1");
    if (o->neighbours < 1)
        return krein__fail(ctx, KREIN_EARG, "`neighbours` takes a number of at least 1");
    if (o->features < 0 || o->features > 10000000)
        return krein__fail(ctx, KREIN_EARG, "`features` takes a number from 1 to 10,000,000");
    if (o->max_exact < 0 || o->max_exact > 32000)
        return krein__fail(ctx, KREIN_EARG, "`max_exact` takes a number from 0 to 32,000");
    return KREIN_OK;
}

/* Options that do not go together. */
static krein_status check_options(krein_ctx *ctx, const krein_cluster_options *o,
                                  const krein_data *data, bool model) {
    bool knn = o->graph == KREIN_GRAPH_KNN;
    if (knn && o->method != KREIN_CLUSTER_SPECTRAL)
        return krein__fail(ctx, KREIN_EARG, "`graph` is for `method=spectral`");
    if (knn && (o->map || o->features > 0))
        return krein__fail(
            ctx, KREIN_EARG,
            "`graph=knn` compares rows by the kernel itself: leave `map` and `features` out");
    if (model && o->method == KREIN_CLUSTER_SPECTRAL)
        return krein__fail(ctx, KREIN_EARG,
                           "spectral clustering places the rows it was given and no others: there "
                           "is no model of it; use `method=kmeans`");
    if (model && o->clusters == 1)
        return krein__fail(ctx, KREIN_EARG, "one cluster needs no model: every row is in it");
    if (model && o->clusters > KREIN_CLASSES_MAX)
        return krein__fail(ctx, KREIN_EARG, "a model has at most %d clusters", KREIN_CLASSES_MAX);
    if (data->options.weights || (data->reader->memory && data->has_weight))
        return krein__fail(ctx, KREIN_EARG,
                           "cluster has no row weights; `ignore` leaves the column out");
    return KREIN_OK;
}

static krein_status setup_begin(setup *s, const krein_cluster_options *given, bool model) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    krein_map *map = NULL;
    krein_cluster_options_init(&s->o);
    if (given) memcpy(&s->o, given, given->size < sizeof s->o ? given->size : sizeof s->o);
    TRY(check_counts(ctx, &s->o));
    TRY(check_options(ctx, &s->o, s->data, model));
    TRY(krein__kernel_parse(ctx, s->o.kernel ? s->o.kernel : "gaussian", &s->kernel));
    if (s->o.map) {
        TRY(krein__map_create(ctx, s->o.map, s->kernel, s->o.features, s->o.seed, &map));
        TRY(krein__map_check(map, s->o.features, "clusters"));
    }
    ZNEW(s->model, 1);
    s->model->ctx = ctx;
done:
    krein__map_destroy(map);
    return st;
}

/* ---- data --------------------------------------------------------------- */

/* Whoever has no labels must learn where the first column went. */
static void say_label(const setup *s) {
    const krein_encoding *e = &s->model->encoding;
    bool classes = e->task == KREIN_TASK_CLASSIFICATION;
    if (!s->data->has_label) return;
    if (s->data->label_guessed)
        krein__log(s->ctx, classes ? KREIN_LOG_INFO : KREIN_LOG_WARNING,
                   "the first column is taken for the label and is no input; `label=none` makes "
                   "every column an input");
    if (!classes)
        krein__log(s->ctx, KREIN_LOG_INFO,
                   "the labels are numbers, not classes: clusters are not compared with them");
}

static krein_status learn(setup *s) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    krein_encoding *e = &s->model->encoding;
    s->data->one_class = true;
    TRY(krein__data_scan(
        s->data, krein__data_may_have_labels(s->data) ? KREIN_LABELS_WANTED : KREIN_LABELS_IGNORED,
        0, s->o.seed, e));
    say_label(s);
    int64_t n = s->data->count[KREIN_PART_TRAIN], distinct;
    s->model->n = n;
    if (s->o.clusters > n) {
        st = krein__fail(ctx, KREIN_EDATA, "%s: %lld clusters of %lld rows; ask for fewer",
                         s->data->name, (long long)s->o.clusters, (long long)n);
        goto done;
    }
    TRY(krein__kernel_meet(ctx, s->kernel, e));
    TRY(krein__stream_open(s->data, e, KREIN_PART_TRAIN, &s->rows));
    TRY(krein__kernel_meet_rows(ctx, s->kernel, s->rows, true));
    /* very many wide rows are not compared here: k-means notices equal ones by itself */
    int64_t wanted = krein__min(s->o.clusters, krein__max(2, ((int64_t)1 << 24) / e->d));
    TRY(krein__distinct_rows(ctx, s->rows, wanted, &distinct));
    if (distinct < wanted) {
        st =
            krein__fail(ctx, KREIN_EDATA,
                        "%s: %lld clusters, but only %lld of the rows are different; ask for fewer",
                        s->data->name, (long long)s->o.clusters, (long long)distinct);
        goto done;
    }
    TRY(krein__kernel_set_median(ctx, s->kernel, s->rows, n, s->o.seed));
done:
    s->data->one_class = false;
    return st;
}

/* ---- map ---------------------------------------------------------------- */

/* The kernel matrix of few rows; of a linear kernel the rows themselves. Spectral clustering needs
 * similarities that hardly ever come out negative: landmarks. */
static const char *default_map(const setup *s, int64_t n, int64_t d, int64_t D) {
    if (krein__is_linear(s->kernel) && d <= 4096) return "explicit";
    bool few = n <= krein__min(EXACT_ROWS, s->o.max_exact);
    if (few && s->o.features == 0 && !s->tight) return "exact";
    return s->o.method == KREIN_CLUSTER_SPECTRAL ? "nystrom" : krein__map_default(s->kernel, d, D);
}

static krein_status make_map(setup *s, int64_t n) {
    krein_ctx *ctx = s->ctx;
    const krein_encoding *e = &s->model->encoding;
    bool linear = krein__is_linear(s->kernel) && e->d <= 4096;
    int64_t D = s->o.features > 0 ? s->o.features : linear ? e->d : krein__min(1024, n);
    const char *spec = s->o.map ? s->o.map : default_map(s, n, e->d, D);
    krein_status st =
        krein__map_create(ctx, spec, s->kernel, s->o.features, s->o.seed, &s->model->map);
    if (st != KREIN_OK) return st;
    krein_map *map = s->model->map;
    map->d = e->d;
    map->sparse = e->sparse;
    bool dual = map->cls->traits & KREIN_MAP_DUAL;
    if (!dual && map->D == 0) map->D = D;
    return krein__map_check_rows(map, n, s->o.max_exact, krein__map_default(s->kernel, e->d, D));
}

/* Distances and similarities need a positive definite kernel, or a way to do without. */
static krein_status check_definite(const setup *s) {
    const krein_map *map = s->model->map;
    bool dual = map && map->cls->traits & KREIN_MAP_DUAL;
    bool spectral = s->o.method == KREIN_CLUSTER_SPECTRAL;
    if (!map || krein__kernel_definite(s->kernel) != KREIN_DEFINITE_NO) return KREIN_OK;
    if (spectral && dual) return KREIN_OK; /* any similarities will do */
    if (spectral)
        return krein__fail(s->ctx, KREIN_ESPEC,
                           "spectral clustering on features needs a positive definite kernel; use "
                           "`map=exact` or `graph=knn`");
    if (dual)
        return krein__fail(s->ctx, KREIN_ESPEC,
                           "k-means needs distances, and the kernel is not positive definite; use "
                           "a feature map, or `method=spectral`");
    krein__log(s->ctx, KREIN_LOG_WARNING,
               "the kernel is not positive definite: distances are those of the features, without "
               "their signs");
    return KREIN_OK;
}

static krein_status check_memory(const setup *s) {
    bool dual = s->model->map && s->model->map->cls->traits & KREIN_MAP_DUAL;
    return krein__reserve_check(
        s->ctx, krein__cluster_bytes(&s->c), "clustering",
        s->c.neighbours > 0 ? "use fewer `neighbours`, `method=kmeans`, or raise `max_memory`"
        : dual              ? "use a feature map (`map`), or raise `max_memory`"
                            : "use fewer `features`, or raise `max_memory`");
}

/* A kernel matrix that does not fit and was not asked for gives way to features. */
static krein_status choose_map(setup *s, int64_t n) {
    krein_status st = make_map(s, n);
    double left = (double)s->ctx->budget - (double)atomic_load(&s->ctx->held);
    if (st != KREIN_OK || s->o.map || krein__cluster_bytes(&s->c) <= left) return st;
    if (!(s->model->map->cls->traits & KREIN_MAP_DUAL)) return st;
    krein__map_destroy(s->model->map);
    s->model->map = NULL;
    s->tight = true;
    return make_map(s, n);
}

static krein_status check_graph(const setup *s, int64_t n) {
    if (n > GRAPH_ROWS)
        return krein__fail(
            s->ctx, KREIN_EARG,
            "`graph=knn` compares all pairs of rows, and %lld are more than %d; leave `graph` out",
            (long long)n, GRAPH_ROWS);
    if (s->o.neighbours >= n)
        return krein__fail(s->ctx, KREIN_EARG, "%lld rows do not have %lld `neighbours` each",
                           (long long)n, (long long)s->o.neighbours);
    return KREIN_OK;
}

/* ---- the work ----------------------------------------------------------- */

static krein_status run(setup *s, bool weights) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    krein_cluster_job *c = &s->c;
    int64_t n = s->model->n;
    bool knn = s->o.graph == KREIN_GRAPH_KNN;
    c->job = (krein_job){.ctx = ctx, .data = s->data, .rows = s->rows, .n = n, .model = s->model};
    c->job.seed = s->o.seed;
    c->kernel = s->kernel;
    c->o = (krein_kmeans_options){.clusters = s->o.clusters,
                                  .restarts = s->o.clusters == 1 ? 1 : s->o.restarts,
                                  .steps = STEPS,
                                  .rng = {s->o.seed, KREIN_STREAM_CLUSTER}};
    c->spectral = s->o.method == KREIN_CLUSTER_SPECTRAL;
    c->weights = weights;
    c->neighbours = knn ? s->o.neighbours : 0;
    c->sample = SILHOUETTE_ROWS;
    if (knn)
        TRY(check_graph(s, n));
    else
        TRY(choose_map(s, n));
    TRY(check_definite(s));
    TRY(check_memory(s));
    if (!knn) {
        const krein_encoding *e = &s->model->encoding;
        TRY(krein__map_fit(s->model->map, e->d, e->sparse, s->rows, n));
    }
    TRY(krein__cluster(c));
done:
    return st;
}

/* The labels of the rows, where they are classes, against the clusters. */
static krein_status compare(setup *s, int64_t classes, krein_cluster_report *r) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    int32_t *class = NULL;
    NEW(class, s->model->n);
    TRY(krein__job_targets(&s->c.job, NULL, class, NULL, NULL));
    TRY(krein__agreement(ctx, s->model->n, s->o.clusters, s->c.result.cluster, classes, class,
                         &r->ari, &r->nmi));
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
    TRY(krein__stream_open(s->data, &s->model->encoding, -1, &all));
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
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    const krein_kmeans *found = &s->c.result;
    const krein_map *map = s->model->map;
    bool spectral = s->o.method == KREIN_CLUSTER_SPECTRAL;
    r->n = s->model->n;
    r->d = s->model->encoding.d;
    r->D = map ? map->D : -1;
    r->method = s->o.method;
    r->clusters = s->o.clusters;
    r->inertia = spectral ? NAN : found->inertia;
    r->silhouette = s->c.silhouette;
    r->silhouette_rows = krein__min(r->n, SILHOUETTE_ROWS);
    r->steps = found->steps;
    r->settled = found->settled;
    NEW(r->sizes, r->clusters);
    memcpy(r->sizes, found->size, (size_t)r->clusters * sizeof *r->sizes);
    if (!(r->kernel = krein__kernel_text(ctx, s->kernel)) ||
        (map && !(r->map = krein__map_text(map))))
        st = ctx->status;
done:
    return st;
}

/* The classes of the model are the clusters; until here they were the data's. */
static krein_status finish_model(setup *s, const krein_cluster_report *r) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    TRY(krein__cluster_classes(ctx, &s->model->encoding, s->o.clusters));
    s->model->lambda = NAN;
    s->model->learner = krein__format(ctx, "kmeans(clusters=%lld)", (long long)s->o.clusters);
    if (!s->model->learner) return ctx->status;
    DUP(s->model->kernel_text, r->kernel);
    DUP(s->model->map_text, r->map);
done:
    return st;
}

krein_status krein_cluster(krein_ctx *ctx, krein_data *data, const krein_cluster_options *options,
                           krein_predict_fn fn, void *user, krein_cluster_report *report,
                           krein_model **model) {
    krein_status st = KREIN_OK;
    krein_cluster_report own = {0}, *r = report ? report : &own;
    setup s = {.ctx = ctx, .data = data};
    s.c.job.ctx = ctx;
    double start = krein__clock();
    if (model) *model = NULL;
    memset(r, 0, sizeof *r);
    r->ari = r->nmi = NAN;
    r->classes = -1;
    TRY(setup_begin(&s, options, model != NULL));
    TRY(learn(&s));
    const krein_encoding *e = &s.model->encoding;
    int64_t classes = data->has_label && e->task == KREIN_TASK_CLASSIFICATION ? e->nclass : 0;
    TRY(run(&s, model != NULL));
    if (classes > 0) TRY(compare(&s, classes, r));
    if (fn) TRY(tell_rows(&s, fn, user));
    TRY(fill_report(&s, r));
    if (model) TRY(finish_model(&s, r));
    r->seconds = krein__clock() - start;
    if (model) {
        *model = s.model;
        s.model = NULL;
    }
done:
    setup_clear(&s);
    if (st != KREIN_OK || !report) krein_cluster_report_clear(ctx, r);
    return st;
}
