/* descend_newton.c -- support vector machines: coordinate descent first, Newton steps where it is
 * not enough.
 *
 * Coordinate descent reaches the usual tolerances in a few passes where C is small, and needs
 * thousands where it is large; Newton steps take 20 to 50 passes and a factorisation each,
 * whatever C is. So the first has a budget of passes. Machines are finished by the second one after
 * the other with all threads, or, where there are many, several at once with a thread each: the
 * bits are the same. */
#include "base/threads.h"
#include "num/blas.h"
#include "solve/machine.h"

#include <math.h>

/* Passes that cost about what 35 Newton steps do, of min(n / 4, D) rows inside their box, where a
 * product of matrices is 30 times as fast as a row's visit; and 60 more. */
static double work(int64_t n, int64_t D) {
    double m = (double)krein__min(n / 4, D);
    return 60 + 0.6 * m * m * (2 + m / (3 * (double)D)) / (double)krein__max(1, n);
}

/* Machines that run at once, each with memory of its own: a rule of sizes alone, so that what
 * krein__machines_bytes says holds. */
static int at_once(const krein_ctx *ctx, int64_t rows, int64_t D, int64_t machines) {
    double all = ctx->threads * krein__ssn_bytes(rows, D, 1);
    return machines >= 2 * ctx->threads && 8 * all <= (double)ctx->budget ? ctx->threads : 1;
}

static krein_status finish_many(krein_features *z, krein_machine *m, int64_t machines, int threads,
                                const krein_machine_options *o) {
    krein_workers all;
    krein__workers_begin(&all, z->ctx, threads);
    krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t i = 0; i < machines; i++) {
        if (m[i].converged || atomic_load(&all.stop)) continue;
        krein__worker_begin();
        krein_ctx own = all.own;
        krein_features features = *z;
        features.ctx = &own;
        krein__workers_note(&all, krein__ssn(&features, &m[i], o), &own);
        krein__worker_end(c);
    }
    krein__compute_end(c);
    return krein__workers_end(&all);
}

krein_status krein__machines_train(krein_features *z, krein_machine *m, int64_t machines,
                                   const krein_machine_options *o) {
    krein_status st = KREIN_OK;
    int64_t rows = 1, open = 0;
    for (int64_t i = 0; i < machines; i++) rows = krein__max(rows, m[i].n);
    TRY(krein__dcd(z, m, machines, o->work > 0 ? o->work : work(rows, z->D), o));
    if (o->work > 0) return KREIN_OK;
    /* Out of time: what there is has its gap already. */
    if (krein__late(o->deadline)) return KREIN_OK;
    for (int64_t i = 0; i < machines; i++) open += !m[i].converged;
    int threads = z->kept ? at_once(z->ctx, z->n, z->D, open) : 1;
    if (threads > 1) return finish_many(z, m, machines, threads, o);
    for (int64_t i = 0; i < machines; i++) {
        if (o->what) krein__progress(z->ctx, o->what, (double)i, (double)machines);
        if (!m[i].converged) TRY(krein__ssn(z, &m[i], o));
    }
done:
    return st;
}

double krein__machines_bytes(krein_ctx *ctx, int64_t rows, int64_t D, int64_t machines) {
    double own = (double)machines * (24 * (double)rows + 8 * (double)D);
    int many = at_once(ctx, rows, D, machines);
    double newton = many > 1 ? many * krein__ssn_bytes(rows, D, 1) : 0;
    return own + krein__dcd_bytes(rows, D, machines) +
           fmax(newton, krein__ssn_bytes(rows, D, ctx->threads));
}
