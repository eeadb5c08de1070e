/* machines.c -- support vector machines: coordinate descent first, Newton steps where it is not
 * enough.
 *
 * Coordinate descent reaches the usual tolerances in a few passes where C is small, and needs
 * thousands where it is large; Newton steps take 20 to 50 passes and a factorisation each,
 * whatever C is. So the first has a budget of passes. Machines are finished by the second one after
 * the other with all threads, or, where there are many, several at once with a thread each: the
 * bits are the same. */
#include "num/blas.h"
#include "solve/machine.h"

/* Passes that cost about what 35 Newton steps do, of min(n / 4, D) rows inside their box, where a
 * product of matrices is 30 times as fast as a row's visit; and 60 more. */
static double work(int64_t n, int64_t D) {
    double m = (double)krein__min(n / 4, D);
    return 60 + 0.6 * m * m * (2 + m / (3 * (double)D)) / (double)krein__max(1, n);
}

/* Machines that run at once, each with a share of the memory. */
static int at_once(const krein_features *z, const krein_machine *m, int64_t machines) {
    krein_ctx *ctx = z->ctx;
    int64_t rows = 0, open = 0;
    for (int64_t i = 0; i < machines; i++) {
        rows = krein__max(rows, m[i].n);
        open += !m[i].converged;
    }
    double room = (double)(ctx->budget - atomic_load(&ctx->held));
    bool fit = room > 1.2 * ctx->threads * krein__ssn_bytes(rows, z->D, 1);
    return z->kept && fit && open >= 2 * ctx->threads ? ctx->threads : 1;
}

static krein_status finish_many(krein_features *z, krein_machine *m, int64_t machines, int threads,
                                const krein_machine_options *o) {
    krein_ctx *ctx = z->ctx;
    krein_status st = KREIN_OK;
    const krein_ctx fresh = krein__ctx_share(ctx, threads);
    krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t i = 0; i < machines; i++) {
        if (m[i].converged) continue;
        krein__worker_begin();
        krein_ctx own = fresh;
        krein_features features = *z;
        features.ctx = &own;
        krein_status status = krein__ssn(&features, &m[i], o);
        if (status != KREIN_OK) {
#pragma omp critical(krein_machines)
            st = krein__fail(ctx, status, "%s", own.message);
        }
        krein__worker_end(c);
    }
    krein__compute_end(c);
    return st == KREIN_OK ? krein__poll(ctx) : st;
}

krein_status krein__machines_train(krein_features *z, krein_machine *m, int64_t machines,
                                   const krein_machine_options *o) {
    krein_status st = KREIN_OK;
    int64_t rows = 1;
    for (int64_t i = 0; i < machines; i++) rows = krein__max(rows, m[i].n);
    TRY(krein__dcd(z, m, machines, work(rows, z->D), o));
    int threads = at_once(z, m, machines);
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
    return own + krein__dcd_bytes(rows, D, machines) + krein__ssn_bytes(rows, D, ctx->threads);
}
