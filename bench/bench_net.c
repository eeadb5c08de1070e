/* bench_net.c -- an epoch of a net with trained frequencies, and its matrix products alone
 *
 *   bench_net ROWS CLASSES START n d k D
 *
 * ROWS has n x d float32, CLASSES n int32, START the d x D frequencies W, as many V and D phases in
 * turns, float32, row after row. The net is a spectral layer of D cosines and an affine one of k
 * scores, with softmax and adam of rate 0.001. Answers lines of its standard input, until these
 * end:
 *
 *   fit BATCH THREADS        an epoch from the start
 *   penalties BATCH THREADS  the same with the penalties that askl has by default
 *   sgemm BATCH THREADS      the matrix products of an epoch by OpenBLAS: those of whole batches,
 *                            with its own threads, or a thread for each part of the columns
 *
 * with seconds, CPU seconds and the loss (of sgemm 0). bench/net.py runs it and compares. */
#include "side.h"

#include "base/base.h"
#include "net/fit.h"

#include <omp.h>
#include <string.h>

typedef struct problem {
    int64_t n, d, k, D;
    float *x, *y, *start;
    int32_t *class;
} problem;

/* ---- the engine --------------------------------------------------------- */

static krein_status window(void *user, int64_t which, krein_window *out) {
    const problem *p = user;
    (void)which;
    *out = (krein_window){.x = krein__rows_dense(p->n, p->d, p->x, p->d),
                          .aims = {.y = p->y, .class = p->class}};
    return KREIN_OK;
}

static krein_status make_net(krein_ctx *ctx, const problem *p, krein_net *net) {
    krein_status st = KREIN_OK;
    char spec[64];
    krein__net_begin(ctx, p->d, net);
    snprintf(spec, sizeof spec, "spectral(width=%lld)", (long long)p->D);
    TRY(krein__net_add(net, spec));
    snprintf(spec, sizeof spec, "affine(width=%lld)", (long long)p->k);
    TRY(krein__net_add(net, spec));
    TRY(krein__net_ready(net));
    krein_spectrum_at at = krein__spectral_at(&net->layer[0], net->p);
    krein__panels_from(p->d, p->D, p->start, at.first);
    krein__panels_from(p->d, p->D, p->start + p->d * p->D, at.second);
    memcpy(at.phase, p->start + 2 * p->d * p->D, (size_t)p->D * sizeof *at.phase);
done:
    return st;
}

static double fit(problem *p, int64_t batch, int threads, bool penalties) {
    krein_ctx *ctx = NULL;
    krein_status st = KREIN_OK;
    krein_ctx_options how;
    krein_net net = {0};
    krein_fit_report report = {0};
    krein_fit_rows rows = {.n = p->n, .windows = 1, .window = window, .user = p};
    krein_fit_options o = {.loss = &krein__loss_softmax,
                           .rate = 0.001,
                           .epochs = 1,
                           .batch = batch,
                           .penalty = penalties ? KREIN_PENALTY_TRACE : KREIN_PENALTY_FROBENIUS,
                           .lambda_a = penalties ? 1e-5 : 0,
                           .lambda_b = penalties ? 1e-3 : 0,
                           .seed = 1};
    int64_t which;
    krein_ctx_options_init(&how);
    how.threads = threads;
    if (krein_ctx_create(&how, &ctx) != KREIN_OK) fail("no context");
    TRY(krein__parse_spec(ctx, "adam", "optimizer", krein__optimizers, krein__optimizer_count,
                          &which, &o.optimizer.values));
    o.optimizer.cls = (const krein_optimizer_class *)krein__optimizers[which];
    TRY(make_net(ctx, p, &net));
    TRY(krein__net_fit(&net, &rows, &o, &report));
done:
    if (st != KREIN_OK) fail(krein_message(ctx));
    krein__values_clear(ctx, &o.optimizer.values);
    krein__net_clear(&net);
    krein_ctx_destroy(ctx);
    return report.last.loss;
}

/* ---- its products ------------------------------------------------------- */

typedef struct products {
    float *w, *g, *t, *head, *scores;
} products;

/* Columns from .. from + m - 1 of the two products with the frequencies, for one batch. */
static void frequencies(const problem *p, const products *q, const float *x, int64_t batch,
                        int64_t from, int64_t m, bool back) {
    int64_t F = 2 * p->D;
    if (back)
        krein__sgemm(true, false, p->d, m, batch, 1, x, p->d, q->t + from, F, 0, q->g + from, F);
    else
        krein__sgemm(false, false, batch, m, p->d, 1, x, p->d, q->w + from, F, 0, q->t + from, F);
}

static void one_batch(const problem *p, const products *q, const float *x, int64_t batch,
                      int threads, bool own) {
    int64_t F = 2 * p->D, k = p->k;
    for (int back = 0; back < 2; back++) {
        if (own) {
            frequencies(p, q, x, batch, 0, F, back);
        } else {
#pragma omp parallel num_threads(threads)
            {
                int64_t i = omp_get_thread_num(), all = omp_get_num_threads();
                frequencies(p, q, x, batch, F * i / all, F * (i + 1) / all - F * i / all, back);
            }
        }
        if (back) break;
        krein__sgemm(false, false, batch, k, p->D, 1, q->t, F, q->head, k, 0, q->scores, k);
        krein__sgemm(true, false, p->D, k, batch, 1, q->t, F, q->scores, k, 0, q->head, k);
        krein__sgemm(false, true, batch, p->D, k, 1, q->scores, k, q->head, k, 0, q->t, F);
    }
}

/* Seconds of an epoch by the faster way, which a tenth of it shows; CPU seconds of that. */
static double products_of(const problem *p, int64_t batch, int threads, double *cpu) {
    int64_t size = 2 * p->D;
    products q = {need(p->d * size, 4), need(p->d * size, 4), need(batch * size, 4),
                  need(p->D * p->k, 4), need(batch * p->k, 4)};
    double taken[3], seconds[2];
    for (int64_t i = 0; i < p->d * size; i++) q.w[i] = p->start[i];
    memset(q.head, 0, (size_t)(p->D * p->k) * sizeof *q.head);
    for (int turn = 0; turn < 3; turn++) {
        bool own = threads > 1 && (turn < 2 ? turn == 1 : taken[1] < taken[0]);
        int64_t last = turn < 2 ? p->n / 10 : p->n;
        seconds[0] = krein__clock(), seconds[1] = cpu_seconds();
        krein_compute c = {0};
        if (!own) c = krein__compute_begin();
        for (int64_t i = 0; i < last; i += batch)
            one_batch(p, &q, p->x + i * p->d, krein__min(batch, p->n - i), threads, own);
        if (!own) krein__compute_end(c);
        taken[turn] = krein__clock() - seconds[0];
        *cpu = cpu_seconds() - seconds[1];
    }
    free(q.w), free(q.g), free(q.t), free(q.head), free(q.scores);
    return taken[2];
}

/* ---- what is asked for -------------------------------------------------- */

int main(int argc, char **argv) {
    char line[128], what[32];
    long long batch;
    int threads;
    if (argc != 8) {
        fprintf(stderr, "usage: bench_net ROWS CLASSES START n d k D\n");
        return 2;
    }
    restart(argv);
    problem p = {
        .n = atoll(argv[4]), .d = atoll(argv[5]), .k = atoll(argv[6]), .D = atoll(argv[7])};
    p.x = contents(argv[1], p.n * p.d, sizeof *p.x);
    p.class = contents(argv[2], p.n, sizeof *p.class);
    p.start = contents(argv[3], (2 * p.d + 1) * p.D, sizeof *p.start);
    p.y = need(p.n * p.k, sizeof *p.y);
    for (int64_t i = 0; i < p.n * p.k; i++) p.y[i] = i % p.k == p.class[i / p.k] ? 1 : -1;
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "%31s %lld %d", what, &batch, &threads) != 3) fail(line);
        double seconds = krein__clock(), cpu = cpu_seconds(), loss = 0;
        if (strcmp(what, "sgemm") == 0) {
            seconds = products_of(&p, batch, threads, &cpu);
        } else {
            loss = fit(&p, batch, threads, strcmp(what, "penalties") == 0);
            seconds = krein__clock() - seconds;
            cpu = cpu_seconds() - cpu;
        }
        printf("%.6f %.6f %.6f\n", seconds, cpu, loss);
        fflush(stdout);
    }
    return 0;
}
