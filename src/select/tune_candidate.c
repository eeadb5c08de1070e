/* tune_candidate.c -- one candidate of tune.c: scale and lambda by leave-one-out on S,
 * error on V. */
#include "select/tuner.h"

#include "base/threads.h"
#include "num/blas.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool krein__tuner_late(const krein_tuner *t) { return krein__late(t->o->deadline); }
int64_t krein__tuner_few(const krein_tuner *t) { return krein__min(KREIN_TUNER_FEW, t->s.n); }
int64_t krein__tuner_some(const krein_tuner *t) { return krein__min(KREIN_TUNER_SOME, t->s.n); }

/* The value of the kernel's free parameter. */
static double scale_of(const krein_tuner *t, const krein_tuner_candidate *c) {
    const krein_tuner_base *b = &t->base[c->base];
    return krein__round_digits(c->c * b->spread * t->view[c->view].median[b->metric], 4);
}

krein_status krein__tuner_kernel(krein_ctx *ctx, const krein_tuner *t,
                                 const krein_tuner_candidate *c, krein_kernel **out) {
    krein_kernel *leaf;
    int64_t slot;
    krein_status st = krein__kernel_copy(ctx, t->base[c->base].kernel, out);
    if (st != KREIN_OK) return st;
    if (krein__kernel_free(*out, 0, &leaf, &slot) == 0) return KREIN_OK; /* a mixture */
    leaf->values.number[slot] = scale_of(t, c);
    return KREIN_OK;
}

/* The matrices of one fit, upper triangles. Where one lambda is solved K becomes the factor. */
typedef struct room {
    krein_gram_shared shared;
    float *K, *work;
} room;

static void room_end(krein_ctx *ctx, room *r) {
    krein__gram_share_end(ctx, &r->shared);
    if (r->work != r->K) krein__free(ctx, r->work);
    krein__free(ctx, r->K);
}

static krein_status room_begin(krein_ctx *ctx, const krein_tuner *t, const krein_tuner_candidate *c,
                               room *r) {
    krein_status st = KREIN_OK;
    int64_t n = c->n;
    krein_rows all = krein__matrix_rows(&t->view[c->view].fit);
    krein_rows x = krein__rows_slice(&all, 0, n);
    krein_kernel *kernel = t->base[c->base].kernel;
    int64_t kernels = c->step == 0 ? 0 : 1; /* nothing is shared where there is one matrix */
    *r = (room){0};
    NEW(r->K, n * n);
    r->work = r->K;
    if (c->step > 0) {
        r->work = NULL;
        NEW(r->work, n * n);
    }
    TRY(krein__gram_share(ctx, &x, &kernel, kernels, 0, &r->shared));
done:
    return st;
}

/* Fits the candidate with its scale; f->lambda is where to start. The step is kept with `of`. */
static krein_status fit_scale(krein_ctx *ctx, const krein_tuner *t, const krein_tuner_candidate *c,
                              room *r, krein_tuner_candidate *of, krein_tune_fit *f) {
    krein_status st = KREIN_OK;
    krein_kernel *kernel = NULL;
    TRY(krein__tuner_kernel(ctx, t, c, &kernel));
    TRY(krein__gram_shared_upper32(ctx, kernel, &r->shared, r->K));
    TRY(krein__tune_solve(ctx, &t->s, r->K, r->work, f));
    if (of->steps < KREIN_TUNER_WALK)
        of->walk[of->steps++] = (krein_tuner_step){c->c, f->lambda, f->error};
done:
    krein__kernel_destroy(ctx, kernel);
    return st;
}

/* Tries the scale times `factor` until that is no better; *moved: it was, once at least. */
static krein_status climb(krein_ctx *ctx, const krein_tuner *t, krein_tuner_candidate *c, room *r,
                          krein_tune_fit *f, double factor, bool *moved) {
    krein_status st = KREIN_OK;
    krein_tune_fit other = *f;
    other.fixed =
        c->n > krein__tuner_few(t); /* lambda follows on few rows only, where that is cheap */
    *moved = false;
    NEW(other.alpha, f->n * t->s.k);
    while (!krein__tuner_late(t)) {
        krein_tuner_candidate next = *c;
        next.c *= factor;
        other.lambda = f->lambda;
        if (next.c < t->base[c->base].least || next.c > t->base[c->base].most) break;
        TRY(fit_scale(ctx, t, &next, r, c, &other));
        if (!(other.loo < f->loo)) break;
        f->loo = other.loo;
        f->lambda = other.lambda;
        memcpy(f->alpha, other.alpha, (size_t)(f->n * t->s.k) * sizeof *f->alpha);
        c->c = next.c;
        *moved = true;
    }
done:
    krein__free(ctx, other.alpha);
    return st;
}

/* Coefficients with the scale and the lambda that the candidate has. */
static krein_status as_it_is(krein_ctx *ctx, const krein_tuner *t, const krein_tuner_candidate *c,
                             room *r, krein_tune_fit *f) {
    krein_status st = KREIN_OK;
    krein_kernel *kernel = NULL;
    f->loo = NAN;
    TRY(krein__tuner_kernel(ctx, t, c, &kernel));
    TRY(krein__gram_shared_upper32(ctx, kernel, &r->shared, r->K));
    TRY(krein__tune_at(ctx, &t->s, r->K, r->work, c->lambda, f));
done:
    krein__kernel_destroy(ctx, kernel);
    return st;
}

krein_status krein__tuner_coefficients(krein_tuner *t, const krein_tuner_candidate *c,
                                       krein_tune_fit *f) {
    krein_status st = KREIN_OK;
    room r = {0};
    TRY(room_begin(t->ctx, t, c, &r));
    TRY(as_it_is(t->ctx, t, c, &r, f));
done:
    room_end(t->ctx, &r);
    return st;
}

/* Scale and lambda of a candidate, and the coefficients with them in f. */
static krein_status search(krein_ctx *ctx, const krein_tuner *t, krein_tuner_candidate *c,
                           krein_tune_fit *f) {
    krein_status st = KREIN_OK;
    room r = {0};
    bool moved = false;
    c->steps = 0;
    *f = (krein_tune_fit){.n = c->n, .lambda = c->lambda, .square = c->square};
    NEW(f->alpha, c->n * t->s.k);
    TRY(room_begin(ctx, t, c, &r));
    TRY(c->step == 0 ? as_it_is(ctx, t, c, &r, f) : fit_scale(ctx, t, c, &r, c, f));
    if (c->step > 1) TRY(climb(ctx, t, c, &r, f, 1 / c->step, &moved));
    if (c->step > 1 && !moved) TRY(climb(ctx, t, c, &r, f, c->step, &moved));
    c->loo = f->loo;
    c->lambda = f->lambda;
    if (c->alpha) memcpy(c->alpha, f->alpha, (size_t)(c->n * t->s.k) * sizeof *f->alpha);
done:
    room_end(ctx, &r);
    return st;
}

krein_status krein__tuner_search(krein_ctx *ctx, const krein_tuner *t, krein_tuner_candidate *c) {
    krein_tune_fit f;
    krein_status st = search(ctx, t, c, &f);
    krein__free(ctx, f.alpha);
    return st;
}

krein_status krein__tuner_run(krein_ctx *ctx, const krein_tuner *t, krein_tuner_candidate *c) {
    krein_status st = KREIN_OK;
    krein_tune_fit f;
    krein_kernel *kernel = NULL;
    TRY(search(ctx, t, c, &f));
    TRY(krein__tuner_kernel(ctx, t, c, &kernel));
    TRY(krein__tune_score(ctx, &t->s, &t->view[c->view], kernel, &f, &c->loss, &c->error));
done:
    krein__kernel_destroy(ctx, kernel);
    krein__free(ctx, f.alpha);
    return st;
}

krein_status krein__tuner_walked(krein_tuner *t, const krein_tuner_candidate *c) {
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    krein_kernel *kernel = NULL, *leaf;
    char *text = NULL;
    int64_t slot;
    if (krein__kernel_free(t->base[c->base].kernel, 0, &leaf, &slot) == 0) return KREIN_OK;
    for (int i = 0; i < c->steps; i++) {
        krein_tuner_candidate at = *c;
        at.c = c->walk[i].c;
        TRY(krein__tuner_kernel(ctx, t, &at, &kernel));
        if (!(text = krein__kernel_text(ctx, kernel))) {
            st = ctx->status;
            goto done;
        }
        const krein_searched one = {.metric = t->view[c->view].metric,
                                    .rows = c->n,
                                    .value = scale_of(t, &at),
                                    .lambda = c->walk[i].lambda / (double)c->n,
                                    .score = c->walk[i].error};
        TRY(krein__searched_add(ctx, &t->out->tries, &one, text,
                                leaf->kernel->cls.options[slot].name, KREIN_CRITERION_DEFAULT));
        krein__free(ctx, text);
        krein__kernel_destroy(ctx, kernel);
        text = NULL;
        kernel = NULL;
    }
done:
    krein__free(ctx, text);
    krein__kernel_destroy(ctx, kernel);
    return st;
}

krein_status krein__tuner_record(krein_tuner *t, const krein_tuner_candidate *c, int64_t rows,
                                 double error, const char *learner) {
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    krein_kernel *kernel = NULL;
    krein_tried *to = &t->out->tries.tried[t->out->tries.n];
    if (t->out->tries.n == KREIN_TUNER_CANDIDATES) return KREIN_OK;
    TRY(krein__tuner_kernel(ctx, t, c, &kernel));
    *to = (krein_tried){.metric = t->view[c->view].metric, .rows = rows, .error = error};
    t->out->tries.n++;
    if (!(to->kernel = krein__kernel_text(ctx, kernel))) {
        st = ctx->status;
        goto done;
    }
    DUP(to->map, "exact");
    DUP(to->learner, learner);
done:
    krein__kernel_destroy(ctx, kernel);
    return st;
}

static krein_status note(krein_tuner *t, const krein_tuner_candidate *c) {
    krein_status st = krein__tuner_record(t, c, c->n, c->error, "krr");
    if (st != KREIN_OK || t->n == KREIN_TUNER_CANDIDATES) return st;
    char loo[48] = "";
    if (!isnan(c->loo)) snprintf(loo, sizeof loo, " (leave-one-out %.4g)", c->loo);
    krein__log(t->ctx, KREIN_LOG_DEBUG, "%s%s on %lld rows: squared error %.4g%s, error %.4g",
               t->out->tries.tried[t->out->tries.n - 1].kernel,
               t->view[c->view].metric ? " with a metric" : "", (long long)c->n, c->loss, loo,
               c->error);
    t->all[t->n] = *c;
    t->all[t->n++].alpha = NULL;
    return KREIN_OK;
}

krein_status krein__tuner_at_once(const krein_tuner *t, krein_tuner_work *work,
                                  krein_tuner_candidate *c, int n) {
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    krein_workers all;
    int threads = (int)krein__min(ctx->threads, n);
    if (threads <= 1) {
        for (int i = 0; i < n && st == KREIN_OK; i++) st = work(ctx, t, &c[i]);
        return st;
    }
    krein__workers_begin(&all, ctx, threads);
    krein_compute compute = krein__compute_begin();
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int i = 0; i < n; i++) {
        if (atomic_load(&all.stop)) continue;
        krein_ctx own = all.own;
        krein__worker_begin();
        krein__workers_note(&all, work(&own, t, &c[i]), &own);
        krein__worker_end(compute);
        krein__workers_stopped(&all);
    }
    krein__compute_end(compute);
    return krein__workers_end(&all);
}

krein_status krein__tuner_run_all(krein_tuner *t, krein_tuner_candidate *c, int n) {
    krein_status st = krein__tuner_at_once(t, krein__tuner_run, c, n);
    for (int i = 0; i < n && st == KREIN_OK; i++) {
        st = krein__tuner_walked(t, &c[i]);
        if (st == KREIN_OK) st = note(t, &c[i]);
    }
    return st;
}

/* The best so far on that many rows with a metric of that kind; -1: of any. */
int krein__tuner_best(const krein_tuner *t, int64_t rows, int metric) {
    int best = -1;
    for (int i = 0; i < t->n; i++) {
        int kind = (int)t->view[t->all[i].view].metric;
        if (t->all[i].n != rows || (metric >= 0 && kind != metric)) continue;
        if (best < 0 || t->all[i].loss < t->all[best].loss) best = i;
    }
    return best;
}

krein_status krein__tuner_plain(krein_tuner *t, int view) {
    krein_tuner_candidate c[KREIN_TUNER_BASES];
    for (int i = 0; i < t->bases; i++) /* the slowest first */
        c[t->bases - 1 - i] = (krein_tuner_candidate){
            .base = i, .view = view, .n = krein__tuner_few(t), .c = 1, .step = 2, .lambda = 0.1};
    return krein__tuner_run_all(t, c, t->bases);
}

const krein_tuner_candidate *krein__tuner_plain_of(const krein_tuner *t, int which) {
    for (int i = 0; i < t->n; i++)
        if (t->all[i].base == which && t->all[i].view == 0) return &t->all[i];
    return NULL;
}

/* Forgets n candidates from the i-th on. */
void krein__tuner_forget(krein_tuner *t, int i, int n) {
    krein_tried *tried = t->out->tries.tried;
    for (int k = i; k < i + n; k++) {
        krein__free(t->ctx, tried[k].kernel);
        krein__free(t->ctx, tried[k].map);
        krein__free(t->ctx, tried[k].learner);
    }
    t->n -= n;
    t->out->tries.n -= n;
    memmove(&tried[i], &tried[i + n], (size_t)(t->n - i) * sizeof *tried);
    memmove(&t->all[i], &t->all[i + n], (size_t)(t->n - i) * sizeof *t->all);
}

/* Both are of the same rows of V and err on mostly the same of them, so the difference is known
 * better than the errors: its standard error comes from the rows. */
bool krein__tuner_gains(int64_t m, const double *square, const double *than) {
    static const double SURE = 1; /* standard errors: neither has seen the labels of V */
    double sum = 0, spread = 0;
    for (int64_t i = 0; i < m; i++) sum += than[i] - square[i];
    for (int64_t i = 0; i < m; i++) spread += pow(than[i] - square[i] - sum / (double)m, 2);
    return sum > SURE * sqrt(spread);
}

krein_status krein__tuner_surely(krein_tuner *t, krein_tuner_candidate c,
                                 krein_tuner_candidate than, bool *out) {
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    int64_t m = t->s.m;
    c.step = than.step = 0;
    NEW(c.square, m);
    NEW(than.square, m);
    TRY(krein__tuner_run(ctx, t, &c));
    TRY(krein__tuner_run(ctx, t, &than));
    *out = krein__tuner_gains(m, c.square, than.square) && (!t->s.classes || c.error <= than.error);
done:
    krein__free(ctx, c.square);
    krein__free(ctx, than.square);
    return st;
}
