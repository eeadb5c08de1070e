/* mirrored.c -- rows of a bank for mirror descent.
 *
 * On features rows are examples in memory, with the features kept or made again (learn/examples.h);
 * matrices are visited in the same order, so that both ways find the same weights. */
#include "combine/mirrored.h"

#include "learn/examples.h"
#include "solve/mirror.h"

#include <math.h>

static krein_status by_matrices(krein_bank *bank, krein_mirror *m) {
    krein_ctx *ctx = bank->ctx;
    krein_status st = KREIN_OK;
    int64_t *order = NULL;
    NEW(order, bank->rows.n);
    krein__examples_order(bank->job, bank->rows.n, order);
    m->n = bank->rows.n;
    m->K = bank->K;
    m->order = order;
    m->class = bank->rows.class;
    m->weight = bank->rows.weight;
    TRY(krein__mirror(m));
done:
    krein__free(ctx, order);
    return st;
}

static krein_status by_features(krein_bank *bank, krein_mirror *m) {
    krein_status st = KREIN_OK;
    krein_job job = *bank->job;
    krein_model model = *job.model;
    krein_examples ex = {0};
    model.map = (krein_map *)bank->map;
    job.model = &model;
    TRY(krein__examples_open(&job, job.n, false, &ex));
    m->n = ex.n;
    m->z = &ex.features;
    m->first = bank->first;
    m->class = ex.class;
    m->weight = ex.weight;
    TRY(krein__mirror(m));
done:
    krein__examples_close(&ex);
    return st;
}

krein_status krein__mirrored(krein_bank *bank, const krein_mkl *o, const double *r, double *mu) {
    krein_mirror m = {.ctx = bank->ctx,
                      .M = bank->M,
                      .classes = bank->job->model->encoding.nclass,
                      .r = r,
                      .alpha = o->alpha,
                      .beta = o->beta,
                      .epochs = o->epochs,
                      .deadline = bank->job->deadline,
                      .what = "weighing kernels",
                      .mu = mu};
    krein_status st = bank->K ? by_matrices(bank, &m) : by_features(bank, &m);
    if (st == KREIN_OK && m.visits < m.n * m.epochs)
        krein__log(bank->ctx, KREIN_LOG_INFO, "time limit: weights after %.1f of %lld passes",
                   (double)m.visits / (double)m.n, (long long)m.epochs);
    return st;
}
