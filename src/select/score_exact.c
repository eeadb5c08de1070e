/* score_exact.c -- candidates ranked by criteria, from their kernel matrices on a sample
 *
 * The criteria of a ranking share one view of each kernel (view.h). The rows' inner products are
 * made once, and candidates run in parallel. Where time may run out, candidates of a range are
 * visited from far apart to near, so that what was scored covers the range.
 */
#include "base/threads.h"
#include "dist/dist.h"
#include "kernel/gram_shared.h"
#include "num/blas.h"
#include "select/select.h"

#include <math.h>
#include <omp.h>
#include <string.h>

void krein__scoring_begin(krein_criterion *criterion, int64_t n, int64_t rows,
                          krein_scoring *scoring) {
    memset(scoring, 0, sizeof *scoring);
    scoring->criterion = criterion;
    scoring->n = n;
    for (int64_t c = 0; c < n; c++) {
        const krein_criterion_class *cls = criterion[c].cls;
        if (cls->needs) cls->needs(&criterion[c].values, rows, &scoring->needs);
        scoring->trial_of[c] = -1;
        if (!cls->trial) continue;
        krein_trial *t = &scoring->trial[scoring->trial_of[c] = scoring->trials++];
        cls->trial(&criterion[c].values, t);
        t->folds = krein__min(t->folds, rows);
    }
}

void krein__scored_clear(krein_ctx *ctx, krein_scored *v) {
    for (int64_t c = 0; c < KREIN_CRITERIA_MAX; c++) krein__free(ctx, v->refused[c]);
    krein__free(ctx, v->map);
    memset(v, 0, sizeof *v);
}

static krein_status refuse(krein_ctx *ctx, const char *why, krein_scored *v, int64_t c) {
    krein_status st = KREIN_OK;
    v->score[c] = (krein_score){NAN, NAN, NAN, NAN};
    DUP(v->refused[c], why);
done:
    return st;
}

/* One criterion on a view that could be made. */
static krein_status score_one(krein_ctx *ctx, const krein_criterion *k, const krein_view *view,
                              const krein_trial *trial, krein_scored *v, int64_t c) {
    if (trial && trial->status != KREIN_OK) return refuse(ctx, trial->message, v, c);
    krein_status st = k->cls->score(view, &k->values, trial, &v->score[c]);
    if (st == KREIN_OK && !isfinite(v->score[c].loss))
        st = krein__fail(ctx, KREIN_ENUMERIC, "the score is not a finite number");
    return krein__is_refusal(st) ? refuse(ctx, ctx->message, v, c) : st;
}

krein_status krein__scoring_apply(krein_ctx *ctx, const krein_scoring *scoring, krein_status seen,
                                  const krein_view *view, const krein_trial *trial,
                                  krein_scored *v) {
    krein_status st = KREIN_OK;
    if (seen != KREIN_OK && !krein__is_refusal(seen)) return seen;
    for (int64_t c = 0; c < scoring->n; c++) {
        int64_t t = scoring->trial_of[c];
        TRY(seen != KREIN_OK
                ? refuse(ctx, ctx->message, v, c)
                : score_one(ctx, &scoring->criterion[c], view, t >= 0 ? &trial[t] : NULL, v, c));
    }
    v->scored = true;
done:
    return st;
}

/* The middle first: by the bits of i from the other end, and 0 last. */
void krein__far_to_near(int64_t n, int64_t *order) {
    int64_t span = 1, filled = 0;
    while (span < n) span *= 2;
    for (int64_t i = 1; i <= span; i++) {
        int64_t r = 0;
        for (int64_t bit = 1, back = span / 2; bit < span; bit *= 2, back /= 2)
            if (i & bit) r += back;
        if (r < n) order[filled++] = r;
    }
}

/* ---- candidates in parallel --------------------------------------------- */

int krein__score_workers(krein_ctx *ctx, double shared, double bytes, int64_t n) {
    double room = (double)ctx->budget - (double)atomic_load(&ctx->held) - shared;
    int64_t fit = (int64_t)fmin(room / fmax(bytes, 1), 1e6);
    return (int)krein__max(1, krein__min(fit, krein__min(ctx->threads, n)));
}

/* ---- candidates on several processes ------------------------------------ */

/* Each process scores some; what it found goes to all, as numbers and texts. */
enum { TEXTS = KREIN_CRITERIA_MAX + 1 };
typedef struct record {
    int64_t i, scored, length[TEXTS]; /* 0: no text */
    krein_score score[KREIN_CRITERIA_MAX];
} record;

static const char *text_of(const krein_scored *v, int64_t k) {
    return k < KREIN_CRITERIA_MAX ? v->refused[k] : v->map;
}

static krein_status write_records(krein_ctx *ctx, int64_t n, const int64_t *order,
                                  const krein_scored *v, char **out, int64_t *bytes) {
    krein_status st = KREIN_OK;
    int64_t size = krein__comm_size(ctx), rank = krein__comm_rank(ctx), room = 0;
    for (int64_t i = rank; i < n; i += size) {
        room += (int64_t)sizeof(record);
        for (int64_t k = 0; k < TEXTS; k++) {
            const char *text = text_of(&v[order[i]], k);
            room += text ? (int64_t)strlen(text) + 1 : 0;
        }
    }
    NEW(*out, krein__max(1, room));
    char *at = *out;
    for (int64_t i = rank; i < n; i += size) {
        const krein_scored *one = &v[order[i]];
        record l = {.i = order[i], .scored = one->scored};
        memcpy(l.score, one->score, sizeof l.score);
        for (int64_t k = 0; k < TEXTS; k++)
            l.length[k] = text_of(one, k) ? (int64_t)strlen(text_of(one, k)) + 1 : 0;
        memcpy(at, &l, sizeof l);
        at += sizeof l;
        for (int64_t k = 0; k < TEXTS; k++) {
            if (l.length[k]) memcpy(at, text_of(one, k), (size_t)l.length[k]);
            at += l.length[k];
        }
    }
    *bytes = room;
done:
    return st;
}

static krein_status read_records(krein_ctx *ctx, const char *at, const char *end, krein_scored *v) {
    krein_status st = KREIN_OK;
    while (at < end) {
        record l;
        memcpy(&l, at, sizeof l);
        at += sizeof l;
        krein_scored *one = &v[l.i];
        krein__scored_clear(ctx, one);
        one->scored = l.scored;
        memcpy(one->score, l.score, sizeof l.score);
        for (int64_t k = 0; k < TEXTS; k++) {
            char **to = k < KREIN_CRITERIA_MAX ? &one->refused[k] : &one->map;
            if (l.length[k]) DUP(*to, at);
            at += l.length[k];
        }
    }
done:
    return st;
}

static krein_status exchange(krein_ctx *ctx, int64_t n, const int64_t *order, krein_scored *v) {
    krein_status st = KREIN_OK;
    char *mine = NULL, *all = NULL;
    int64_t bytes = 0;
    TRY(write_records(ctx, n, order, v, &mine, &bytes));
    TRY(krein__comm_join(ctx, mine, bytes, 1, &all, &bytes));
    TRY(read_records(ctx, all, all + bytes, v));
done:
    krein__free(ctx, mine);
    krein__free(ctx, all);
    return st;
}

krein_status krein__score_each(krein_ctx *ctx, int64_t n, int threads, double deadline,
                               const char *what, krein_score_one *one, const void *state,
                               krein_scored *out) {
    krein_status st = KREIN_OK;
    int64_t *order = NULL;
    krein_workers all;
    _Atomic int64_t scored = 0;
    NEW(order, n);
    krein__far_to_near(n, order);
    const int64_t turn = krein__comm_rank(ctx), turns = krein__comm_size(ctx);
    krein__workers_begin(&all, ctx, threads);
    krein_compute compute = krein__compute_begin();
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t i = 0; i < n; i++) {
        if (atomic_load(&all.stop) || i % turns != turn || (i > 0 && krein__late(deadline)))
            continue;
        krein_ctx local = all.own, *mine = threads > 1 ? &local : ctx;
        krein__worker_begin();
        krein_status own = one(mine, state, order[i], &out[order[i]]);
        krein__worker_end(compute);
        krein__workers_note(&all, own, mine);
        scored++;
        if (what && omp_get_thread_num() == 0)
            krein__progress(ctx, what, (double)scored, (double)n);
        krein__workers_stopped(&all);
    }
    krein__compute_end(compute);
    st = krein__workers_end(&all);
    if (st == KREIN_OK && turns > 1) st = exchange(ctx, n, order, out);
done:
    krein__free(ctx, order);
    return st;
}

/* ---- by matrices -------------------------------------------------------- */

typedef struct matrices {
    krein_kernel *const *kernel;
    const krein_probe *s;
    const krein_scoring *scoring;
    krein_labels labels;
    krein_gram_shared shared;
    double *K; /* a matrix for each worker: fresh pages would have to be cleared every time */
} matrices;

static krein_status score_matrix(krein_ctx *ctx, const void *state, int64_t i, krein_scored *v) {
    krein_status st = KREIN_OK;
    const matrices *m = state;
    const krein_scoring *scoring = m->scoring;
    krein_trial trial[KREIN_CRITERIA_MAX];
    krein_view view = {0};
    double *K = m->K + omp_get_thread_num() * m->s->n * m->s->n;
    memcpy(trial, scoring->trial, sizeof trial);
    st = krein__gram_shared_full(ctx, m->kernel[i], &m->shared, K);
    if (st == KREIN_OK)
        st = krein__view_exact(ctx, m->kernel[i], m->s, &m->labels, &scoring->needs, trial,
                               scoring->trials, K, &view);
    st = krein__scoring_apply(ctx, scoring, st, &view, trial, v);
    krein__view_clear(&view);
    return st;
}

double krein__score_exact_bytes(const krein_kernel *k, int64_t n, int64_t d, int64_t labels,
                                int64_t columns, const krein_scoring *scoring) {
    double matrix = 8 * (double)n * (double)n;
    return matrix + fmax(krein__gram_shared_full_bytes(k, n, d, 1),
                         krein__view_exact_bytes(n, labels, columns, &scoring->needs,
                                                 scoring->trial, scoring->trials));
}

krein_status krein__score_exact(krein_ctx *ctx, krein_kernel *const *kernel, int64_t n,
                                const krein_probe *s, const krein_scoring *scoring, double deadline,
                                const char *what, krein_scored *out) {
    krein_status st = KREIN_OK;
    matrices m = {.kernel = kernel, .s = s, .scoring = scoring};
    krein_rows x = krein__matrix_rows(&s->x);
    double most = 0, matrix = 8 * (double)s->n * (double)s->n;
    TRY(krein__labels_of(ctx, s, &m.labels));
    for (int64_t i = 0; i < n; i++)
        most = fmax(most,
                    krein__score_exact_bytes(kernel[i], s->n, s->x.d, s->k, m.labels.m, scoring));
    double shared = krein__gram_share_bytes(NULL, 0, s->n, s->x.d, x.ptr != NULL, ctx->threads);
    int count = krein__score_workers(ctx, shared, most, n);
    NEW(m.K, count * s->n * s->n);
    TRY(krein__gram_share(ctx, &x, kernel, n, count * (most - matrix), &m.shared));
    TRY(krein__score_each(ctx, n, count, deadline, what, score_matrix, &m, out));
done:
    krein__free(ctx, m.K);
    krein__gram_share_end(ctx, &m.shared);
    krein__labels_end(ctx, &m.labels);
    return st;
}
