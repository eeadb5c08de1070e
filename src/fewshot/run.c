/* run.c -- the table of methods; tasks over threads and processes. */
#include "fewshot/fewshot.h"

#include "dist/dist.h"
#include "num/blas.h"

#include <math.h>
#include <omp.h>
#include <string.h>

const krein_class *const krein__fewshot_methods[] = {
#define METHOD(name) &name.cls,
#include "fewshot/methods.def"
#undef METHOD
};
const int64_t krein__fewshot_method_count = KREIN__COUNT(krein__fewshot_methods);

static const krein_pool *pool_of(const krein_fewshot_run *f, krein_episode_use use) {
    if (use == KREIN_EPISODE_VALIDATE) return &f->validate;
    return use == KREIN_EPISODE_TEST ? &f->test : &f->train;
}

bool krein__tasks_together(const krein_fewshot_run *f) { return krein__comm_size(f->ctx) > 1; }
bool krein__tasks_first(const krein_fewshot_run *f) { return krein__comm_rank(f->ctx) == 0; }
krein_status krein__tasks_agree(const krein_fewshot_run *f, krein_status st) {
    return krein__comm_agree(f->ctx, st);
}

/* Results of all processes, each at the place of its task: rank r has tasks r, r + ranks, ... */
static krein_status exchange(krein_ctx *ctx, int64_t n, const krein_task_result *out) {
    krein_status st = KREIN_OK;
    int64_t ranks = krein__comm_size(ctx), rank = krein__comm_rank(ctx), mine = 0, at = 0, bytes;
    size_t each = out->each;
    char *own = NULL, *all = NULL, *data = out->data;
    NEW(own, krein__max(1, n * (int64_t)each));
    for (int64_t i = rank; i < n; i += ranks, mine++)
        memcpy(own + (size_t)mine * each, data + (size_t)i * each, each);
    TRY(krein__comm_join(ctx, own, mine * (int64_t)each, 1, &all, &bytes));
    for (int64_t r = 0; r < ranks; r++)
        for (int64_t i = r; i < n; i += ranks, at++)
            memcpy(data + (size_t)i * each, all + (size_t)at * each, each);
done:
    krein__free(ctx, own);
    krein__free(ctx, all);
    return st;
}

krein_status krein__each_task(krein_fewshot_run *f, krein_episode_use use, int64_t first, int64_t n,
                              const char *what, krein_each_fn *fn, void *user,
                              const krein_task_result *out, int64_t outs) {
    krein_ctx *ctx = f->ctx;
    krein_workers all;
    _Atomic int64_t made = 0;
    const int64_t turn = krein__comm_rank(ctx), turns = krein__comm_size(ctx);
    int threads = (int)krein__max(1, krein__min(f->benches, (n + turns - 1) / turns));
    krein_status st = krein__poll(ctx);
    if (st != KREIN_OK) return st;
    krein__workers_begin(&all, ctx, threads);
    krein_compute compute = krein__compute_begin();
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t i = 0; i < n; i++) {
        if (atomic_load(&all.stop) || i % turns != turn || (i > 0 && krein__late(f->end))) continue;
        krein_bench *b = &f->bench[omp_get_thread_num()];
        krein_ctx local = all.own;
        krein__worker_begin();
        b->e.size.queries = use == KREIN_EPISODE_TRAIN ? f->o.meta_queries : f->size.queries;
        krein__episode_draw(&b->e, pool_of(f, use), f->o.seed, use, first + i);
        krein_status own = fn(&local, user, b, i);
        krein__worker_end(compute);
        krein__workers_note(&all, own, &local);
        made++;
        if (what && omp_get_thread_num() == 0)
            krein__progress(ctx, what, (double)(made * turns), (double)n);
        krein__workers_stopped(&all);
    }
    krein__compute_end(compute);
    st = krein__workers_end(&all);
    for (int64_t k = 0; k < outs && turns > 1 && st == KREIN_OK; k++)
        st = exchange(ctx, n, &out[k]);
    return st;
}

typedef struct measuring {
    const krein_fewshot_method *method;
    const krein_learned *l;
    double *accuracy;
} measuring;

static krein_status measure(krein_ctx *ctx, void *user, krein_bench *b, int64_t which) {
    const measuring *m = user;
    return m->method->solve(ctx, m->l, b, m->accuracy + which * m->l->points);
}

krein_status krein__measure(krein_fewshot_run *f, const krein_fewshot_method *method,
                            const krein_learned *l, krein_episode_use use, int64_t n,
                            const char *what, double *accuracy) {
    measuring m = {method, l, accuracy};
    for (int64_t i = 0; i < n * l->points; i++) accuracy[i] = NAN;
    krein_task_result out = {accuracy, (size_t)l->points * sizeof *accuracy};
    return krein__each_task(f, use, 0, n, what, measure, &m, &out, 1);
}

void krein__means(int64_t n, int64_t points, const double *accuracy, double *mean) {
    for (int64_t k = 0; k < points; k++) {
        double sum = 0;
        int64_t some = 0;
        for (int64_t i = 0; i < n; i++) {
            if (isnan(accuracy[i * points + k])) continue; /* there was no time for it */
            sum += accuracy[i * points + k];
            some++;
        }
        mean[k] = some > 0 ? sum / (double)some : NAN;
    }
}
