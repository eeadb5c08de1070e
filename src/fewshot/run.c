/* run.c -- the table of methods; tasks over threads. */
#include "fewshot/fewshot.h"

#include "num/blas.h"

#include <math.h>
#include <omp.h>

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

krein_status krein__each_task(krein_fewshot_run *f, krein_episode_use use, int64_t first, int64_t n,
                              const char *what, krein_each_fn *fn, void *user) {
    krein_ctx *ctx = f->ctx;
    krein_workers all;
    _Atomic int64_t made = 0;
    int threads = (int)krein__max(1, krein__min(f->benches, n));
    krein_status st = krein__poll(ctx);
    if (st != KREIN_OK) return st;
    krein__workers_begin(&all, ctx, threads);
    krein_compute compute = krein__compute_begin();
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t i = 0; i < n; i++) {
        if (atomic_load(&all.stop) || (f->end > 0 && i > 0 && krein__late(f->end))) continue;
        krein_bench *b = &f->bench[omp_get_thread_num()];
        krein_ctx local = all.own;
        krein__worker_begin();
        b->e.size.queries = use == KREIN_EPISODE_TRAIN ? f->o.meta_queries : f->size.queries;
        krein__episode_draw(&b->e, pool_of(f, use), f->o.seed, use, first + i);
        krein_status own = fn(&local, user, b, i);
        krein__worker_end(compute);
        krein__workers_note(&all, own, &local);
        made++;
        if (what && omp_get_thread_num() == 0) krein__progress(ctx, what, (double)made, (double)n);
        krein__workers_stopped(&all);
    }
    krein__compute_end(compute);
    return krein__workers_end(&all);
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
    return krein__each_task(f, use, 0, n, what, measure, &m);
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
