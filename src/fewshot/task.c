/* task.c -- a task on a network, as functions of its trained parameters
 *
 * The network is float32; parameters come and gradients go in float64, so that the algebra of a
 * subspace adds no rounding of its own. Normalising layers use the statistics of the rows that pass
 * together: the support's, and for queries those of the queries (as in transductive MAML). */
#include "fewshot/fewshot.h"

#include "net/fit.h"

#include <string.h>

void krein__bench_end(krein_bench *b) {
    if (!b->f) return;
    krein_ctx *ctx = b->f->ctx;
    krein__episode_end(&b->e);
    krein__net_work_end(&b->support);
    krein__net_work_end(&b->query);
    krein__free(ctx, b->p);
    krein__free(ctx, b->q);
    krein__free(ctx, b->v);
    krein__free(ctx, b->Hv);
    krein__free(ctx, b->y);
    krein__free(ctx, b->th);
    krein__free(ctx, b->g);
    krein__free(ctx, b->a);
    krein__free(ctx, b->room);
    *b = (krein_bench){0};
}

krein_status krein__bench_begin(krein_fewshot_run *f, krein_bench *b) {
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    int64_t m = f->trained.m, count = f->net.count, ways = f->size.ways;
    int64_t supports = ways * f->size.shots, queries = ways * f->size.queries;
    int64_t rows =
        krein__max(krein__pool_most_rows(&f->train), krein__max(krein__pool_most_rows(&f->validate),
                                                                krein__pool_most_rows(&f->test)));
    int64_t classes = krein__max(f->train.n, krein__max(f->validate.n, f->test.n));
    *b = (krein_bench){.f = f};
    TRY(krein__episode_begin(ctx, f->size, classes, rows, &b->e));
    TRY(krein__net_work_begin(&f->net, supports, true, &b->support));
    TRY(krein__net_work_second(&b->support));
    TRY(krein__net_work_begin(&f->net, queries, true, &b->query));
    NEW(b->p, count);
    NEW(b->q, count);
    memcpy(b->p, f->net.p, (size_t)count * sizeof *b->p);
    memcpy(b->q, f->net.p, (size_t)count * sizeof *b->q);
    ZNEW(b->v, count);
    ZNEW(b->Hv, count);
    ZNEW(b->y, krein__max(supports, queries) * ways);
    NEW(b->th, m);
    NEW(b->g, m);
    NEW(b->a, krein__max(1, f->o.dimensions));
done:
    if (st != KREIN_OK) krein__bench_end(b);
    return st;
}

void krein__bench_load(krein_bench *b) {
    const krein_episode *e = &b->e;
    krein_rows x = krein__matrix_rows(&e->images->x);
    krein__net_load(&b->support, &x, e->support, e->size.ways * e->size.shots);
    krein__net_load(&b->query, &x, e->query, e->size.ways * e->size.queries);
}

/* p: parameters of that batch alone, since the Hessian of the support still needs its own. */
static double loss_of(krein_bench *b, krein_net_work *w, float *p, const int32_t *label, int64_t n,
                      const double *th, double *g) {
    const krein_trained *t = &b->f->trained;
    krein_aims aims = {b->y, label, NULL};
    krein__trained_scatter64(t, th, p);
    double loss = krein__net_loss_gradient(w, p, &krein__loss_softmax, &aims, n, b->Hv);
    krein__trained_gather64(t, b->Hv, g);
    return loss;
}

static double support(void *user, const double *th, double *g) {
    krein_bench *b = user;
    const krein_episode *e = &b->e;
    return loss_of(b, &b->support, b->p, e->support_label, e->size.ways * e->size.shots, th, g);
}

static double query(void *user, const double *th, double *g) {
    krein_bench *b = user;
    const krein_episode *e = &b->e;
    return loss_of(b, &b->query, b->q, e->query_label, e->size.ways * e->size.queries, th, g);
}

static void hessian(void *user, const double *v, double *Hv) {
    krein_bench *b = user;
    const krein_trained *t = &b->f->trained;
    krein_aims aims = {b->y, b->e.support_label, NULL};
    krein__trained_scatter64(t, v, b->v);
    krein__net_hessian_vector(&b->support, &krein__loss_softmax, &aims, b->v, b->Hv);
    krein__trained_gather64(t, b->Hv, Hv);
}

krein_fewshot_task krein__bench_task(krein_bench *b) {
    return (krein_fewshot_task){b->f->trained.m, support, hessian, query, b};
}

double krein__bench_accuracy(krein_bench *b, const double *th) {
    const krein_episode *e = &b->e;
    int64_t n = e->size.ways * e->size.queries, k = e->size.ways, right = 0;
    krein__trained_scatter64(&b->f->trained, th, b->q);
    b->query.p = b->q;
    const float *f = krein__net_forward(&b->query, n);
    for (int64_t i = 0; i < n; i++)
        right += !krein__net_wrong(k, f + i * k, b->y, e->query_label[i]);
    return (double)right / (double)n;
}

void krein__bench_descend(krein_bench *b, const krein_inner *in, double *accuracy) {
    const krein_fewshot_run *f = b->f;
    krein_fewshot_task task = krein__bench_task(b);
    memcpy(b->th, f->start, (size_t)in->m * sizeof *b->th);
    for (int64_t t = 0, at = 0; at < f->points; t++) {
        if (f->point[at] == t) accuracy[at++] = krein__bench_accuracy(b, b->th);
        if (at < f->points) krein__inner_step(in, &task, b->th, b->g, b->a);
    }
}
