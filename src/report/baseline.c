/* baseline.c -- what can be had without a kernel: a constant, and a linear model
 *
 * constant   the mean of the targets; the shares of the classes, of which the largest is predicted
 * linear     ridge regression on the encoded columns x_j and a constant, targets 0 and 1 for
 *            classes:  (sum w x x' + r diag(var_j)) b = sum w x y,  r = 1e-3 sum w
 *            The penalty has the units of each column, so that scaling does not matter.
 *
 * With the training rows both are made from these; without, from the rows of the report: the
 * constant from all of them, the linear model in five parts, each predicted by the other four. */
#include "report/report.h"

#include "num/blas.h"

#include <math.h>
#include <string.h>

enum { FOLDS = 5, COLUMNS = 1000, TARGETS = 100, BATCH = 256 };
static const double RIDGE = 1e-3;

/* Sums over the rows of a part. */
typedef struct sums {
    double *A; /* D x D, upper triangle; the last column is the constant */
    double *b; /* D x q */
} sums;

typedef struct linear {
    krein_reporting *r;
    int64_t d, D, q, folds;
    sums part[FOLDS];
    double *x, *y;  /* BATCH rows with the constant; targets */
    double *target; /* q, of a row */
    double *beta;   /* folds x D x q */
} linear;

void krein__baseline_clear(krein_ctx *ctx, krein_baseline *b) {
    krein__free(ctx, b->constant);
    krein__free(ctx, b->linear);
}

static void linear_clear(krein_ctx *ctx, linear *l) {
    for (int f = 0; f < FOLDS; f++) {
        krein__free(ctx, l->part[f].A);
        krein__free(ctx, l->part[f].b);
    }
    krein__free(ctx, l->x);
    krein__free(ctx, l->y);
    krein__free(ctx, l->target);
    krein__free(ctx, l->beta);
}

static int64_t targets_of(const krein_encoding *e) {
    return e->task == KREIN_TASK_REGRESSION ? e->outputs : e->nclass;
}

/* Targets of a row as numbers. */
static void fill_targets(const krein_encoding *e, const krein_data *data, const double *label,
                         double *y) {
    int64_t q = targets_of(e);
    for (int64_t c = 0; c < q; c++) {
        if (e->task == KREIN_TASK_REGRESSION)
            y[c] = label[c];
        else if (e->task == KREIN_TASK_MULTILABEL)
            y[c] = krein__set_has(data->sets, (int64_t)label[0], c);
        else
            y[c] = (int64_t)label[0] == c;
    }
}

/* Rows of a part, `have` of them, go into its sums; they are multiplied by sqrt(w) already. */
static void add_batch(linear *l, int64_t f, int64_t have) {
    krein__dsyrk(l->D, have, 1, l->x, l->D, 1, l->part[f].A, l->D);
    krein__dgemm(true, false, l->D, l->q, have, 1, l->x, l->D, l->y, l->q, 1, l->part[f].b, l->q);
}

/* One pass over rows; constant: q sums of targets, and the sum of weights. */
static krein_status add_rows(linear *l, krein_data *data, bool wide, double *constant) {
    krein_status st = KREIN_OK;
    const krein_encoding *e = &l->r->model->encoding;
    krein_stream *rows = NULL;
    krein_block b;
    double *target = l->target;
    krein_compute mode = krein__compute_begin();
    TRY(krein__stream_open(data, e, KREIN_PART_TRAIN, &rows));
    for (;;) {
        TRY(krein__stream_next(rows, &b));
        if (b.x.n == 0) break;
        for (int64_t f = 0; f < l->folds; f++) {
            int64_t have = 0;
            for (int64_t i = 0; i < b.x.n; i++) {
                if ((b.first + i) % l->folds != f) continue;
                double w = b.weight ? b.weight[i] : 1, root = sqrt(w);
                if (w == 0) continue;
                fill_targets(e, data, b.label + i * data->nlabel, target);
                for (int64_t c = 0; c < l->q; c++) constant[c] += w * target[c];
                constant[l->q] += w;
                if (wide) continue;
                double *x = l->x + have * l->D;
                krein__row_copy_double(&b.x, i, x);
                x[l->d] = 1;
                for (int64_t j = 0; j < l->D; j++) x[j] *= root;
                for (int64_t c = 0; c < l->q; c++) l->y[have * l->q + c] = root * target[c];
                if (++have == BATCH) {
                    add_batch(l, f, have);
                    have = 0;
                }
            }
            if (have > 0) add_batch(l, f, have);
        }
    }
done:
    krein__compute_end(mode);
    krein__stream_close(rows);
    return st;
}

/* Coefficients from the sums of all parts but one (-1: of all). */
static krein_status solve(linear *l, int64_t without, double *beta) {
    krein_ctx *ctx = l->r->ctx;
    krein_status st = KREIN_OK;
    int64_t D = l->D, pivot;
    double *A = NULL;
    ZNEW(A, D * D);
    memset(beta, 0, (size_t)(D * l->q) * sizeof *beta);
    for (int64_t f = 0; f < l->folds; f++) {
        if (f == without) continue;
        for (int64_t i = 0; i < D * D; i++) A[i] += l->part[f].A[i];
        for (int64_t i = 0; i < D * l->q; i++) beta[i] += l->part[f].b[i];
    }
    double weight = A[D * D - 1];
    if (!(weight > 0)) goto done; /* no row: predicts 0 */
    for (int64_t j = 0; j < l->d; j++) {
        double mean = A[j * D + l->d] / weight, var = A[j * D + j] / weight - mean * mean;
        A[j * D + j] += weight * (RIDGE * fmax(var, 0) + 1e-12 * A[j * D + j] / weight + 1e-12);
    }
    st = krein__cholesky(ctx, D, A, D, &pivot);
    if (st == KREIN_OK) st = krein__cholesky_solve(ctx, D, A, D, l->q, beta, l->q);
done:
    krein__free(ctx, A);
    return st;
}

/* Predictions of the kept rows. */
static krein_status predict(linear *l, krein_baseline *out) {
    krein_ctx *ctx = l->r->ctx;
    krein_status st = KREIN_OK;
    const krein_kept *k = &l->r->kept;
    krein_stream *rows = NULL;
    krein_block b;
    int64_t have = 0, used = 0;
    NEW(out->linear, k->n * l->q);
    TRY(krein__stream_open(l->r->data, &l->r->model->encoding, -1, &rows));
    while (have < k->n) {
        TRY(krein__stream_next(rows, &b));
        if (b.x.n == 0) break;
        for (int64_t i = 0; i < b.x.n && have < k->n; i++) {
            if (b.dropped && b.dropped[i]) continue;
            int64_t fold = l->r->train ? 0 : used % l->folds;
            used++;
            if (b.first + i != k->row[have]) continue;
            krein__row_copy_double(&b.x, i, l->x);
            l->x[l->d] = 1;
            krein__dgemv(true, l->D, l->q, 1, l->beta + fold * l->D * l->q, l->q, l->x, 1, 0,
                         out->linear + have * l->q);
            have++;
        }
    }
    if (have < k->n) st = krein__stream_changed(rows);
done:
    krein__stream_close(rows);
    return st;
}

static krein_status allocate(linear *l) {
    krein_ctx *ctx = l->r->ctx;
    krein_status st = KREIN_OK;
    for (int64_t f = 0; f < l->folds; f++) {
        ZNEW(l->part[f].A, l->D * l->D);
        ZNEW(l->part[f].b, l->D * l->q);
    }
    NEW(l->x, BATCH * l->D);
    NEW(l->y, BATCH * l->q);
    NEW(l->beta, l->folds * l->D * l->q);
done:
    return st;
}

krein_status krein__report_baseline(krein_reporting *r, krein_baseline *out) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    const krein_encoding *e = &r->model->encoding;
    linear l = {.r = r, .d = e->d, .D = e->d + 1, .q = targets_of(e)};
    bool many = l.q > TARGETS, wide = e->d > COLUMNS || many;
    l.folds = r->train ? 1 : FOLDS;
    krein__progress(ctx, "baselines", 0, 0);
    ZNEW(out->constant, l.q + 1);
    NEW(l.target, l.q);
    if (!wide) TRY(allocate(&l));
    TRY(add_rows(&l, r->train ? r->train : r->data, wide, out->constant));
    if (!(out->constant[l.q] > 0)) {
        st = krein__fail(ctx, KREIN_EDATA, "%s: there is no row with a weight",
                         (r->train ? r->train : r->data)->name);
        goto done;
    }
    for (int64_t c = 0; c < l.q; c++) out->constant[c] /= out->constant[l.q];
    out->word = many   ? "not computed for more than 100 classes"
                : wide ? "not computed for more than 1,000 encoded columns"
                : r->train
                    ? "ridge regression fitted to the training rows"
                    : "ridge regression fitted to these rows, each fifth predicted by the others";
    if (wide) goto done;
    for (int64_t f = 0; f < l.folds; f++) TRY(solve(&l, r->train ? -1 : f, l.beta + f * l.D * l.q));
    TRY(predict(&l, out));
done:
    linear_clear(ctx, &l);
    return st;
}
