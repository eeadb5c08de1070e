/* features.c -- a network trained to tell all training classes apart, for its features
 *
 * The usual training by mini-batches (net/fit.c): adam, softmax, a rate that falls to 0. Features
 * are what the last affine layer gets, by running statistics, each row made of length one. Behind
 * every epoch the queries of validation tasks go to the class with the nearest mean of its
 * support's features; the epoch with the best accuracy is kept. */
#include "fewshot/fewshot.h"

#include "net/fit.h"

#include <math.h>
#include <string.h>

enum { BATCH = 64, AT_ONCE = 96 };
static const double RATE = 0.002;

typedef struct krein_feature_net {
    krein_net net;
    int64_t width;
    krein_matrix z[2]; /* of both files; NULL: not made yet */
} feature_net;

typedef struct training {
    krein_fewshot_run *f;
    feature_net *own;
    krein_net_work work;
    int64_t epoch; /* steps of one */
    float *best;
    double accuracy;
    int64_t kept;  /* epoch */
    double *found; /* accuracies of the validation tasks */
    krein_window all;
} training;

void krein__features_clear(krein_fewshot_run *f) {
    feature_net *own = f->features;
    if (!own) return;
    for (int k = 0; k < 2; k++) krein__matrix_clear(f->ctx, &own->z[k]);
    krein__net_clear(&own->net);
    krein__free(f->ctx, own);
    f->features = NULL;
}

krein_rows krein__task_space(const krein_fewshot_run *f, const krein_images *im, bool features) {
    if (!features) return krein__matrix_rows(&im->x);
    return krein__matrix_rows(&f->features->z[im - f->images]);
}

/* ---- features ----------------------------------------------------------- */

/* Of the listed rows (NULL: all n) to z, at their own places. */
static krein_status embed(training *t, const float *p, const krein_images *im, const int64_t *index,
                          int64_t n, float *z) {
    krein_status st = KREIN_OK;
    krein_net_work *w = &t->work;
    const krein_net *net = &t->own->net;
    int64_t width = t->own->width, list[AT_ONCE];
    krein_rows x = krein__matrix_rows(&im->x);
    w->p = p;
    w->statistics = KREIN_STATISTICS_RUNNING;
    for (int64_t from = 0; from < n; from += AT_ONCE) {
        int64_t m = krein__min(AT_ONCE, n - from);
        TRY(krein__poll(t->f->ctx));
        for (int64_t i = 0; i < m; i++) list[i] = index ? index[from + i] : from + i;
        krein__net_load(w, &x, list, m);
        krein__net_forward(w, m);
        const float *out = w->pass[net->layers - 2].out;
        for (int64_t i = 0; i < m; i++) {
            double sum = 0;
            for (int64_t j = 0; j < width; j++)
                sum += (double)out[i * width + j] * (double)out[i * width + j];
            float scale = sum > 0 ? (float)(1 / sqrt(sum)) : 0;
            for (int64_t j = 0; j < width; j++) z[list[i] * width + j] = scale * out[i * width + j];
        }
    }
done:
    return st;
}

/* Rows of the classes of a pool. */
static krein_status rows_of(krein_ctx *ctx, const krein_pool *pool, int64_t **row, int32_t **label,
                            int64_t *n) {
    krein_status st = KREIN_OK;
    const krein_images *im = pool->images;
    *n = 0;
    for (int64_t c = 0; c < pool->n; c++)
        *n += im->start[pool->class[c] + 1] - im->start[pool->class[c]];
    NEW(*row, *n);
    NEW(*label, *n);
    int64_t at = 0;
    for (int64_t c = 0; c < pool->n; c++)
        for (int64_t i = im->start[pool->class[c]]; i < im->start[pool->class[c] + 1]; i++) {
            (*label)[at] = (int32_t)c;
            (*row)[at++] = im->row[i];
        }
done:
    return st;
}

/* ---- validation --------------------------------------------------------- */

static krein_status nearest_mean(krein_ctx *ctx, void *user, krein_bench *b, int64_t which) {
    krein_status st = KREIN_OK;
    const training *t = user;
    const krein_episode *e = &b->e;
    krein_rows z = krein__task_space(t->f, e->images, true);
    krein_episode_size size = e->size;
    int64_t right = 0;
    double *mean = NULL;
    ZNEW(mean, size.ways * z.d);
    for (int64_t i = 0; i < size.ways * size.shots; i++)
        for (int64_t j = 0; j < z.d; j++)
            mean[e->support_label[i] * z.d + j] += (double)z.x[e->support[i] * z.ld + j];
    for (int64_t q = 0; q < size.ways * size.queries; q++) {
        int64_t best = 0;
        double most = -INFINITY;
        for (int64_t c = 0; c < size.ways; c++) { /* |mean|^2 counts where shots differ */
            double dot = 0, length = 0;
            for (int64_t j = 0; j < z.d; j++) {
                double v = mean[c * z.d + j] / (double)size.shots;
                dot += v * (double)z.x[e->query[q] * z.ld + j];
                length += v * v;
            }
            if (dot - length / 2 <= most) continue;
            most = dot - length / 2;
            best = c;
        }
        right += best == e->query_label[q];
    }
    t->found[which] = (double)right / (double)(size.ways * size.queries);
done:
    krein__free(ctx, mean);
    return st;
}

static krein_status make_z(training *t, int k, const float *p, const int64_t *row, int64_t n) {
    krein_ctx *ctx = t->f->ctx;
    krein_status st = KREIN_OK;
    const krein_images *im = &t->f->images[k];
    krein_matrix *z = &t->own->z[k];
    if (im->n == 0) return KREIN_OK;
    if (!z->x) {
        ZNEW(z->x, im->n * t->own->width);
        z->n = im->n;
        z->d = t->own->width;
    }
    TRY(embed(t, p, im, row, n, z->x));
done:
    return st;
}

static krein_status record(void *user, int64_t step, const float *p) {
    training *t = user;
    krein_fewshot_run *f = t->f;
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    int64_t n, tasks = f->o.validation_tasks, *row = NULL;
    int32_t *label = NULL;
    double mean;
    if (step == 0 || step % t->epoch != 0) return KREIN_OK;
    TRY(rows_of(ctx, &f->validate, &row, &label, &n));
    TRY(make_z(t, (int)(f->validate.images - f->images), p, row, n));
    for (int64_t i = 0; i < tasks; i++) t->found[i] = NAN;
    krein_task_result found = {t->found, sizeof *t->found};
    TRY(krein__each_task(f, KREIN_EPISODE_VALIDATE, 0, tasks, NULL, nearest_mean, t, &found, 1));
    krein__means(tasks, 1, t->found, &mean);
    krein__log(ctx, KREIN_LOG_DEBUG, "features: epoch %lld: accuracy %.4g on %lld validation tasks",
               (long long)(step / t->epoch), mean, (long long)tasks);
    if (!(mean > t->accuracy)) goto done;
    t->accuracy = mean;
    t->kept = step / t->epoch;
    memcpy(t->best, p, (size_t)t->own->net.count * sizeof *p);
done:
    krein__free(ctx, row);
    krein__free(ctx, label);
    return st;
}

/* ---- training ----------------------------------------------------------- */

static krein_status window(void *user, int64_t which, krein_window *out) {
    (void)which;
    *out = ((training *)user)->all;
    return KREIN_OK;
}

static krein_status train(training *t) {
    krein_fewshot_run *f = t->f;
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    krein_optimizer adam = {0};
    krein_fit_report report;
    krein_matrix x = {0};
    int64_t n, which, *row = NULL;
    int32_t *label = NULL;
    float *y = NULL;
    krein_rows from = krein__matrix_rows(&f->train.images->x);
    TRY(krein__parse_spec(ctx, "adam", "optimizer", krein__optimizers, krein__optimizer_count,
                          &which, &adam.values));
    adam.cls = (const krein_optimizer_class *)krein__optimizers[which];
    TRY(rows_of(ctx, &f->train, &row, &label, &n));
    TRY(krein__matrix_gather(ctx, &from, row, n, &x));
    ZNEW(y, n * f->train.n);
    t->all = (krein_window){krein__matrix_rows(&x), {y, label, NULL}};
    t->epoch = (n + BATCH - 1) / BATCH;
    krein_fit_rows rows = {.n = n, .windows = 1, .window = window, .user = t};
    krein_fit_options o = {.loss = &krein__loss_softmax,
                           .optimizer = adam,
                           .rate = RATE,
                           .schedule = KREIN_SCHEDULE_COSINE,
                           .epochs = f->o.epochs,
                           .batch = krein__min(BATCH, n),
                           .seed = f->o.seed,
                           .deadline = f->deadline,
                           .record = record,
                           .record_user = t};
    TRY(krein__net_fit(&t->own->net, &rows, &o, &report));
    if (t->kept > 0) memcpy(t->own->net.p, t->best, (size_t)t->own->net.count * sizeof *t->best);
    krein__log(ctx, KREIN_LOG_INFO,
               "features: %lld epochs over %lld rows of %lld classes; best: epoch %lld, accuracy "
               "%.4g on %lld validation tasks by class means",
               (long long)report.epochs, (long long)n, (long long)f->train.n, (long long)t->kept,
               t->accuracy, (long long)f->o.validation_tasks);
done:
    krein__values_clear(ctx, &adam.values);
    krein__matrix_clear(ctx, &x);
    krein__free(ctx, row);
    krein__free(ctx, label);
    krein__free(ctx, y);
    return st;
}

krein_status krein__features_learn(krein_fewshot_run *f) {
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    training t = {.f = f, .accuracy = -1};
    if (f->features) return KREIN_OK;
    ZNEW(f->features, 1);
    t.own = f->features;
    TRY(krein__net_arch(ctx, f->arch, f->train.images->shape, f->train.n, &t.own->net));
    krein__net_start(&t.own->net, f->o.seed);
    t.own->width = t.own->net.layer[t.own->net.layers - 1].in;
    TRY(krein__net_work_begin(&t.own->net, AT_ONCE, false, &t.work));
    NEW(t.best, t.own->net.count);
    NEW(t.found, f->o.validation_tasks);
    TRY(train(&t));
    for (int k = 0; k < 2; k++) TRY(make_z(&t, k, t.own->net.p, NULL, f->images[k].n));
done:
    krein__net_work_end(&t.work);
    krein__free(ctx, t.best);
    krein__free(ctx, t.found);
    if (st != KREIN_OK) krein__features_clear(f);
    return st;
}
