/* work.c -- the runs of a comparison over threads and processes.
 *
 * Runs are taken in the order of data sets, splits and methods, each by the next thread that is
 * free. Processes that work together take them in turn, in rounds: behind each round all know what
 * came out, and the first one appends it to the file. A result follows from the run alone, so that
 * none depends on who made it. */
#include "compare/compare.h"

#include "dist/dist.h"
#include "num/blas.h"

#include <math.h>
#include <omp.h>
#include <string.h>
#include <time.h>

/* Runs of a thread in a round; bytes of a message; numbers of a run that is known. */
enum { ROUND = 4, WHY = 512, KNOWN = 5 };

/* What other processes are told. */
typedef struct outcome {
    int64_t run;
    double value, seconds, bytes, cpu;
    int failed;
    char why[WHY];
} outcome;

typedef struct place {
    int64_t set, split, method;
} place;

static place place_of(const krein_comparison *c, int64_t run) {
    const int64_t split = run / c->methods;
    return (place){split / c->repeats, split % c->repeats, run % c->methods};
}

/* The result, or why there is none; other failures end the comparison. */
static krein_status settle(krein_comparison *c, krein_ctx *ctx, int64_t run, krein_status st) {
    krein_run *r = &c->run[run];
    krein_status own = KREIN_OK;
    if (st == KREIN_ECANCEL) return st;
    r->again = st == KREIN_EMEMORY && c->workers > 1 && !r->again;
    if (r->again) return KREIN_OK;
    if (st != KREIN_OK && !(r->failed = krein__strdup(c->ctx, ctx->message))) {
        own = krein__fail(ctx, KREIN_EMEMORY, "out of memory");
        return own;
    }
    r->done = true;
    const place at = place_of(c, run);
    return krein__results_add(c, ctx, at.set, at.split, at.method);
}

static krein_status one(krein_comparison *c, krein_ctx *ctx, int64_t run) {
    const place at = place_of(c, run);
    const krein_method *m = &c->method[at.method];
    krein_run *r = &c->run[run];
    ctx->peak = atomic_load(&ctx->held); /* what this run takes */
    krein_status st = m->command ? krein__run_command(c, ctx, at.set, at.split, m, r)
                                 : krein__run_training(c, ctx, at.set, at.split, m, r);
    if (st == KREIN_OK && !isfinite(r->value))
        st = krein__fail(ctx, KREIN_EDATA, "the %s of its predictions is no finite number",
                         krein__measure_name(c->measure));
    return settle(c, ctx, run, st);
}

/* The caller asks whether to stop until the others are done. */
static void wait_for(krein_workers *w, const atomic_int *busy) {
    const struct timespec moment = {0, 20000000};
    while (atomic_load(busy) > 0) {
        krein__workers_stopped(w);
        nanosleep(&moment, NULL);
    }
}

static void say_progress(const krein_comparison *c, int64_t done) {
    krein__progress(c->ctx, "comparing", (double)(c->reused + done),
                    (double)(c->sets * c->repeats * c->methods));
}

/* The runs todo[0], ..., on so many threads; *before: runs that were made before them. */
static krein_status run_all(krein_comparison *c, int64_t n, const int64_t *todo, int workers,
                            int64_t before) {
    krein_workers all;
    krein__workers_begin(&all, c->ctx, 1);
    all.own.overlaps = true;
    if (workers == 1) all.own.threads = c->workers == 1 ? c->ctx->threads : 1;
    atomic_int busy = workers;
    _Atomic int64_t next = 0;
    krein_compute compute = krein__compute_begin();
#pragma omp parallel num_threads(workers)
    {
        krein__worker_begin();
        for (int64_t i; !krein__workers_stopped(&all) && (i = atomic_fetch_add(&next, 1)) < n;) {
            krein_ctx own = all.own;
            krein__workers_note(&all, one(c, &own, todo[i]), &own);
            if (omp_get_thread_num() == 0) say_progress(c, before + atomic_load(&next));
        }
        atomic_fetch_sub(&busy, 1);
        if (omp_get_thread_num() == 0) wait_for(&all, &busy);
        krein__worker_end(compute);
    }
    krein__compute_end(compute);
    return krein__workers_end(&all);
}

/* Those that had no memory beside others, one after the other. */
static krein_status run_again(krein_comparison *c, int64_t n, const int64_t *todo, int64_t before) {
    krein_status st = KREIN_OK;
    for (int64_t i = 0; i < n; i++)
        if (c->run[todo[i]].again) TRY(run_all(c, 1, &todo[i], 1, before + i));
done:
    return st;
}

/* ---- processes ---------------------------------------------------------- */

/* What the file had is known to the first process alone. */
static krein_status tell_known(krein_comparison *c) {
    krein_ctx *ctx = c->ctx;
    krein_status st = KREIN_OK;
    const int64_t n = c->sets * c->repeats * c->methods;
    double *known = NULL;
    if (krein__comm_size(ctx) == 1) return KREIN_OK;
    NEW(known, KNOWN * n);
    for (int64_t i = 0; i < n; i++) {
        const krein_run *r = &c->run[i];
        const double numbers[] = {r->done, r->value, r->seconds, r->bytes, r->cpu};
        memcpy(known + KNOWN * i, numbers, sizeof numbers);
    }
    TRY(krein__comm_broadcast(ctx, 0, known, (int64_t)sizeof *known * KNOWN * n));
    c->reused = 0;
    for (int64_t i = 0; i < n; i++) {
        krein_run *r = &c->run[i];
        const double *numbers = known + KNOWN * i;
        r->done = r->reused = numbers[0] != 0;
        r->value = numbers[1];
        r->seconds = numbers[2];
        r->bytes = numbers[3];
        r->cpu = numbers[4];
        c->reused += r->done;
    }
done:
    krein__free(ctx, known);
    return st;
}

/* All get to know the runs todo[0], ..., of which each process has made its own. */
static krein_status exchange(krein_comparison *c, int64_t n, const int64_t *todo) {
    krein_ctx *ctx = c->ctx;
    krein_status st = KREIN_OK;
    outcome *mine = NULL, *all = NULL;
    const int64_t rank = krein__comm_rank(ctx), size = krein__comm_size(ctx);
    int64_t made = 0, count = 0;
    if (size == 1) return KREIN_OK;
    ZNEW(mine, krein__max(1, n));
    for (int64_t i = rank; i < n; i += size) {
        const krein_run *r = &c->run[todo[i]];
        outcome *o = &mine[made++];
        *o = (outcome){todo[i], r->value, r->seconds, r->bytes, r->cpu, r->failed != NULL, ""};
        if (r->failed) strncat(o->why, r->failed, WHY - 1);
    }
    TRY(krein__comm_join(ctx, mine, made, sizeof *mine, &all, &count));
    for (int64_t i = 0; i < count; i++) {
        krein_run *r = &c->run[all[i].run];
        const place at = place_of(c, all[i].run);
        if (r->done) continue;
        r->value = all[i].value;
        r->seconds = all[i].seconds;
        r->bytes = all[i].bytes;
        r->cpu = all[i].cpu;
        if (all[i].failed) DUP(r->failed, all[i].why);
        r->done = true;
        TRY(krein__results_add(c, ctx, at.set, at.split, at.method));
    }
done:
    krein__free(ctx, mine);
    krein__free(ctx, all);
    return st;
}

krein_status krein__compare_run(krein_comparison *c) {
    krein_ctx *ctx = c->ctx;
    krein_status st = KREIN_OK;
    const int64_t runs = c->sets * c->repeats * c->methods;
    const int64_t rank = krein__comm_rank(ctx), size = krein__comm_size(ctx);
    int64_t *todo = NULL, *own = NULL, n = 0;
    if (rank == 0 && c->o.results) TRY(krein__results_open(c));
    TRY(tell_known(c));
    NEW(todo, runs);
    NEW(own, runs);
    for (int64_t i = 0; i < runs; i++)
        if (!c->run[i].done) todo[n++] = i;
    const int64_t round = size == 1 ? n : size * c->workers * ROUND;
    for (int64_t from = 0; from < n; from += round) {
        const int64_t m = krein__min(round, n - from);
        int64_t made = 0;
        for (int64_t i = rank; i < m; i += size) own[made++] = todo[from + i];
        TRY(run_all(c, made, own, (int)krein__min(c->workers, krein__max(1, made)), from));
        TRY(run_again(c, made, own, from));
        TRY(exchange(c, m, todo + from));
        say_progress(c, from + m);
    }
done:
    krein__free(ctx, todo);
    krein__free(ctx, own);
    return st;
}
