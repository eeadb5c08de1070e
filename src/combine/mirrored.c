/* mirrored.c -- rows of a bank for mirror descent.
 *
 * On features rows are examples in memory, with the features kept or made again (learn/examples.h);
 * matrices are visited in the same order, so that both ways find the same weights. */
#include "combine/mirrored.h"

#include "learn/examples.h"
#include "solve/mirror.h"

#include <math.h>

static void tell(krein_ctx *ctx, const krein_mirror *m) {
    double passes = (double)m->visits / (double)m->n, value = m->loss + m->regulariser;
    if (m->visits % m->n)
        krein__log(ctx, KREIN_LOG_INFO, "time limit: weights after %.3g passes over the rows",
                   passes);
    else
        krein__log(ctx, KREIN_LOG_INFO,
                   "weights after %.3g passes over the rows, objective %.3g (about %.2g less is "
                   "possible at most)",
                   passes, value, fmax(0, value - m->bound));
}

static krein_status by_matrices(krein_bank *bank, krein_mirror m) {
    krein_ctx *ctx = bank->ctx;
    krein_status st = KREIN_OK;
    int64_t *order = NULL;
    NEW(order, bank->rows.n);
    krein__examples_order(bank->job, bank->rows.n, order);
    m.n = bank->rows.n;
    m.K = bank->K;
    m.order = order;
    m.class = bank->rows.class;
    m.weight = bank->rows.weight;
    TRY(krein__mirror(&m));
    tell(bank->ctx, &m);
done:
    krein__free(ctx, order);
    return st;
}

static krein_status by_features(krein_bank *bank, krein_mirror m) {
    krein_status st = KREIN_OK;
    krein_job job = *bank->job;
    krein_model model = *job.model;
    krein_examples ex = {0};
    model.map = (krein_map *)bank->map;
    job.model = &model;
    TRY(krein__examples_open(&job, job.n, false, &ex));
    m.n = ex.n;
    m.z = &ex.features;
    m.first = bank->first;
    m.class = ex.class;
    m.weight = ex.weight;
    TRY(krein__mirror(&m));
    tell(bank->ctx, &m);
done:
    krein__examples_close(&ex);
    return st;
}

/* Both fall with the root of the rows, as the noise in the mean of a gradient does: the dual
 * weights of a kernel that has nothing to do with the labels are about sqrt(2 t) long after t rows,
 * and a beta of 1 / sqrt(n) takes t r / sqrt(n) off. On few rows that may be all there is: then a
 * smaller beta is taken. On alpha they depend little between 0.1 and 0.01 (11
 * real sets of 90 to 300 rows; down to 0.001 on 4 of 1,500 rows; 10 to 12 kernels). Far below,
 * every row is learned by heart, also by kernels of noise. */
static void choose(krein_mirror *m, double n) {
    if (isnan(m->alpha)) m->alpha = 0.5 / sqrt(n);
    if (isnan(m->beta)) m->beta = 1 / sqrt(n);
}

enum { ALPHA, BETA, EPOCHS };

/* Below this part of the loss a penalty is none. */
static const double LEAST = 1e-4;

static bool any(int64_t M, const double *mu) {
    for (int64_t m = 0; m < M; m++)
        if (mu[m] > 0) return true;
    return false;
}

krein_status krein__mirrored(krein_bank *bank, const double *option, const double *r, double *mu) {
    krein_mirror m = {.ctx = bank->ctx,
                      .M = bank->M,
                      .classes = bank->job->model->encoding.nclass,
                      .r = r,
                      .alpha = option[ALPHA],
                      .beta = option[BETA],
                      .epochs = (int64_t)option[EPOCHS],
                      .tol = 0.02,
                      .deadline = bank->job->deadline,
                      .what = "weighing kernels",
                      .mu = mu};
    choose(&m, (double)(bank->K ? bank->rows.n : bank->job->n));
    for (;;) {
        krein_status st = bank->K ? by_matrices(bank, m) : by_features(bank, m);
        if (st != KREIN_OK || !isnan(option[BETA]) || any(bank->M, mu) || m.beta == 0) return st;
        m.beta = m.beta > LEAST ? m.beta / 4 : 0;
    }
}

/* Rows are examples, or those of the matrices. */
void krein__mirrored_cost(const krein_bank_size *s, krein_cost *out) {
    enum { USUAL = 10 }; /* epochs */
    int64_t classes = krein__max(s->k, 2), D = s->matrices ? 0 : (int64_t)s->side;
    out->flops += USUAL * 4 * s->rows * s->side * (double)classes;
    out->bytes += krein__mirror_bytes((int64_t)s->rows, s->M, classes, D, s->matrices);
    if (!s->matrices) out->bytes += krein__examples_bytes(s->map, s->n);
}
