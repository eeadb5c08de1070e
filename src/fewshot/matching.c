/* matching -- matching networks                                                 (vinyals2016)
 *     P(c | q) = sum over support rows i of class c of a_i,   a = softmax_i(10 cos(z(q), z(x_i)))
 * z the network without its last affine layer, trained by adam over tasks of the training classes
 * to make -log P of the queries' classes small. The factor 10 is ours (cosines alone make flat
 * attentions); full context embeddings are left out. Support and queries pass the network together,
 * with the statistics of all of them in normalising layers. */
#include "fewshot/fewshot.h"

#include <math.h>
#include <string.h>

static const double SHARPNESS = 10, RATE = 0.001;

typedef struct matching {
    krein_fewshot_run *f;
    const krein_fewshot_method *method;
    krein_net net;
    krein_trained trained;
    double *x;            /* trained parameters now */
    krein_net_work *work; /* of each bench */
    float **p;            /* of each bench */
    float **g;
    double **z;      /* rows x width: unit vectors, and the gradient by these */
    float *gradient; /* tasks x m */
    double *loss, *accuracy;
} matching;

static void clear_all(matching *t) {
    krein_ctx *ctx = t->f->ctx;
    int64_t n = t->f->benches;
    for (int64_t i = 0; i < n; i++) {
        if (t->work) krein__net_work_end(&t->work[i]);
        if (t->p) krein__free(ctx, t->p[i]);
        if (t->g) krein__free(ctx, t->g[i]);
        if (t->z) krein__free(ctx, t->z[i]);
    }
    krein__free(ctx, t->work);
    krein__free(ctx, t->p);
    krein__free(ctx, t->g);
    krein__free(ctx, t->z);
    krein__free(ctx, t->gradient);
    krein__free(ctx, t->loss);
    krein__free(ctx, t->accuracy);
    krein__free(ctx, t->x);
    krein__trained_clear(&t->trained);
    krein__net_clear(&t->net);
    krein__free(ctx, t);
}

static krein_status make(krein_fewshot_run *f, matching *t) {
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    int64_t rows = f->size.ways * (f->size.shots + f->size.queries);
    TRY(krein__net_arch(ctx, f->arch, f->train.images->shape, 0, &t->net));
    krein__net_start(&t->net, f->o.seed);
    TRY(krein__trained_find(ctx, &t->net, &t->trained));
    NEW(t->x, t->trained.m);
    krein__trained_gather64(&t->trained, t->net.p, t->x);
    ZNEW(t->work, f->benches);
    ZNEW(t->p, f->benches);
    ZNEW(t->g, f->benches);
    ZNEW(t->z, f->benches);
    for (int64_t i = 0; i < f->benches; i++) {
        TRY(krein__net_work_begin(&t->net, rows, true, &t->work[i]));
        NEW(t->p[i], t->net.count);
        NEW(t->g[i], t->net.count);
        NEW(t->z[i], (2 * krein__net_out(&t->net) + 2) * rows);
        memcpy(t->p[i], t->net.p, (size_t)t->net.count * sizeof *t->p[i]);
    }
    NEW(t->gradient, f->o.meta_tasks * t->trained.m);
    NEW(t->loss, f->o.meta_tasks);
    NEW(t->accuracy, f->o.validation_tasks);
done:
    return st;
}

/* Unit vectors z of all rows (support first), and 1 / their lengths. */
static void embed(matching *t, krein_bench *b, double *z, double *inverse) {
    int64_t at = b - t->f->bench, width = krein__net_out(&t->net);
    const krein_episode *e = &b->e;
    int64_t supports = e->size.ways * e->size.shots, queries = e->size.ways * e->size.queries;
    krein_rows x = krein__matrix_rows(&e->images->x);
    krein_net_work *w = &t->work[at];
    krein__trained_scatter64(&t->trained, t->x, t->p[at]);
    w->p = t->p[at];
    krein__net_load(w, &x, e->support, supports);
    for (int64_t i = 0; i < queries; i++)
        krein__row_copy(&x, e->query[i], w->x + (supports + i) * x.d);
    const float *out = krein__net_forward(w, supports + queries);
    for (int64_t i = 0; i < supports + queries; i++) {
        double sum = 1e-12;
        for (int64_t j = 0; j < width; j++)
            sum += (double)out[i * width + j] * (double)out[i * width + j];
        inverse[i] = 1 / sqrt(sum);
        for (int64_t j = 0; j < width; j++)
            z[i * width + j] = (double)out[i * width + j] * inverse[i];
    }
}

static double dot(int64_t n, const double *a, const double *b) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* Attentions of query row q; the probability of its class. */
static double attend(const krein_episode *e, int64_t width, const double *z, int64_t q, double *a,
                     int64_t *best) {
    int64_t n = e->size.ways * e->size.shots;
    const double *zq = z + (n + q) * width;
    double top = -INFINITY, sum = 0, right = 0, most = -1;
    for (int64_t i = 0; i < n; i++) {
        a[i] = SHARPNESS * dot(width, z + i * width, zq);
        top = fmax(top, a[i]);
    }
    for (int64_t i = 0; i < n; i++) sum += a[i] = exp(a[i] - top);
    for (int64_t c = 0; c < e->size.ways; c++) {
        double p = 0;
        for (int64_t i = 0; i < n; i++)
            if (e->support_label[i] == c) p += a[i] / sum;
        if (p > most) {
            most = p;
            *best = c;
        }
        if (c == e->query_label[q]) right = p;
    }
    for (int64_t i = 0; i < n; i++) a[i] /= sum;
    return right;
}

/* The gradient by unit vectors becomes that by the outputs of the net. */
static void through_lengths(int64_t rows, int64_t width, const double *z, const double *inverse,
                            const double *gz, float *out) {
    for (int64_t i = 0; i < rows; i++) {
        double along = dot(width, z + i * width, gz + i * width);
        for (int64_t j = 0; j < width; j++)
            out[i * width + j] =
                (float)((gz[i * width + j] - along * z[i * width + j]) * inverse[i]);
    }
}

static krein_status one(krein_ctx *ctx, void *user, krein_bench *b, int64_t which) {
    krein_status st = KREIN_OK;
    matching *t = user;
    const krein_episode *e = &b->e;
    int64_t at = b - t->f->bench, width = krein__net_out(&t->net), best;
    int64_t n = e->size.ways * e->size.shots, queries = e->size.ways * e->size.queries;
    double *z = t->z[at], *gz = z + (n + queries) * width, *inverse = gz + (n + queries) * width;
    double *a = NULL, loss = 0;
    krein_net_work *w = &t->work[at];
    NEW(a, n);
    embed(t, b, z, inverse);
    memset(gz, 0, (size_t)((n + queries) * width) * sizeof *gz);
    for (int64_t q = 0; q < queries; q++) {
        double right = fmax(attend(e, width, z, q, a, &best), 1e-30);
        loss -= log(right) / (double)queries;
        for (int64_t i = 0; i < n; i++) { /* of the loss by cos(z_q, z_i) */
            double hit = e->support_label[i] == e->query_label[q] ? a[i] / right : 0;
            double slope = SHARPNESS * (a[i] - hit) / (double)queries;
            for (int64_t j = 0; j < width; j++) {
                gz[i * width + j] += slope * z[(n + q) * width + j];
                gz[(n + q) * width + j] += slope * z[i * width + j];
            }
        }
    }
    t->loss[which] = loss;
    through_lengths(n + queries, width, z, inverse, gz, w->gradient[t->net.layers - 1]);
    for (int64_t l = t->net.layers - 1; l >= 0; l--) krein__net_backward(w, l);
    krein__net_gradient_all(w, t->g[at]);
    krein__trained_gather(&t->trained, t->g[at], t->gradient + which * t->trained.m);
done:
    krein__free(ctx, a);
    return st;
}

static krein_status gradient(void *user, int64_t step, const double *x, double *loss, double *g) {
    krein_status st = KREIN_OK;
    matching *t = user;
    int64_t tasks = t->f->o.meta_tasks, m = t->trained.m;
    krein_task_result out[] = {{t->gradient, (size_t)m * sizeof *t->gradient},
                               {t->loss, sizeof *t->loss}};
    (void)x; /* it is t->x */
    TRY(krein__each_task(t->f, KREIN_EPISODE_TRAIN, step * tasks, tasks, NULL, one, t, out, 2));
    *loss = 0;
    memset(g, 0, (size_t)m * sizeof *g);
    for (int64_t k = 0; k < tasks; k++) {
        *loss += t->loss[k] / (double)tasks;
        for (int64_t i = 0; i < m; i++) g[i] += (double)t->gradient[k * m + i] / (double)tasks;
    }
done:
    return st;
}

static krein_status solve(krein_ctx *ctx, const krein_learned *l, krein_bench *b,
                          double *accuracy) {
    krein_status st = KREIN_OK;
    matching *t = l->own;
    const krein_episode *e = &b->e;
    int64_t at = b - t->f->bench, width = krein__net_out(&t->net), right = 0, best = 0;
    int64_t n = e->size.ways * e->size.shots, queries = e->size.ways * e->size.queries;
    double *z = t->z[at], *inverse = z + 2 * (n + queries) * width, *a = NULL;
    NEW(a, n);
    embed(t, b, z, inverse);
    for (int64_t q = 0; q < queries; q++) {
        attend(e, width, z, q, a, &best);
        right += best == e->query_label[q];
    }
    *accuracy = (double)right / (double)queries;
done:
    krein__free(ctx, a);
    return st;
}

static krein_status validate(void *user, const double *x, double *accuracy) {
    krein_status st = KREIN_OK;
    matching *t = user;
    krein_learned as = {.points = 1, .own = t};
    int64_t n = t->f->o.validation_tasks;
    (void)x;
    TRY(krein__measure(t->f, t->method, &as, KREIN_EPISODE_VALIDATE, n, NULL, t->accuracy));
    krein__means(n, 1, t->accuracy, accuracy);
done:
    return st;
}

static krein_status learn(krein_fewshot_run *f, int64_t variant, krein_learned *out) {
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    matching *t;
    (void)variant;
    ZNEW(t, 1);
    t->f = f;
    t->method = &krein__fewshot_matching;
    out->own = t;
    out->points = 1;
    TRY(make(f, t));
    krein_outer o = {.what = "matching",
                     .size = t->trained.m,
                     .x = t->x,
                     .rate = RATE,
                     .steps = f->o.meta_steps,
                     .gradient = gradient,
                     .validate = validate,
                     .user = t};
    TRY(krein__outer_run(f, &o, out));
done:
    return st;
}

static void clear(krein_fewshot_run *f, krein_learned *l) {
    (void)f;
    if (l->own) clear_all(l->own);
    l->own = NULL;
}

const krein_fewshot_method krein__fewshot_matching = {
    .cls = {"matching", "matching networks: attention over the support", "vinyals2016", NULL, NULL},
    .variants = 1,
    .learns = true,
    .learn = learn,
    .solve = solve,
    .clear = clear};
