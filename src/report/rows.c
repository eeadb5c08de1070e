/* rows.c -- the rows of a report: one pass for the metrics, one that keeps scores and finds the
 * largest errors, one for the sample of inputs. */
#include "report/report.h"

#include "encode/finish.h"
#include "num/blas.h"

#include <math.h>
#include <string.h>

enum { DENSE_MAX = 4096 }; /* columns of sparse rows that are written out */

double krein__report_loss(const krein_reporting *r, const double *label, const double *score) {
    const krein_model *m = r->model;
    const krein_encoding *e = &m->encoding;
    double sum = 0;
    if (e->task == KREIN_TASK_CLASSIFICATION)
        return krein__model_decide(m, score) != (int64_t)label[0];
    if (e->task == KREIN_TASK_MULTILABEL) {
        for (int64_t c = 0; c < m->k; c++)
            sum += krein__set_has(r->data->sets, (int64_t)label[0], c) !=
                   krein__model_has(m, c, score[c]);
        return sum / (double)m->k;
    }
    for (int64_t c = 0; c < m->k; c++) sum += pow(label[c] - score[c], 2);
    return sum / (double)m->k;
}

/* ---- finishing and scoring rows of the sample --------------------------- */

/* Entries that are not zero, of n dense rows. */
static krein_status to_sparse(krein_ctx *ctx, int64_t n, int64_t d, const float *x,
                              krein_matrix *out) {
    krein_status st = KREIN_OK;
    int64_t at = 0;
    *out = (krein_matrix){.n = n, .d = d};
    for (int64_t i = 0; i < n * d; i++) out->nnz += x[i] != 0;
    NEW(out->ptr, n + 1);
    NEW(out->col, krein__max(1, out->nnz));
    NEW(out->val, krein__max(1, out->nnz));
    out->ptr[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < d; j++) {
            if (x[i * d + j] == 0) continue;
            out->col[at] = (int32_t)j;
            out->val[at++] = x[i * d + j];
        }
        out->ptr[i + 1] = at;
    }
done:
    return st;
}

krein_status krein__report_scores(krein_reporting *r, int64_t m, float *x, double *scores) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    const krein_encoding *e = &r->model->encoding;
    krein_matrix sparse = {0};
    float *tile = NULL;
    bool clips = krein__encoding_clips(e);
    TRY(krein__poll(ctx));
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t i = 0; i < m; i++) krein__finish_row(e, clips, x + i * e->d);
    if (e->matrix) {
        NEW(tile, ctx->threads * KREIN_TILE * e->d);
        krein__finish_matrix(ctx, e, m, x, tile);
    }
    if (e->sparse) TRY(to_sparse(ctx, m, e->d, x, &sparse));
    krein_rows rows = e->sparse ? krein__matrix_rows(&sparse) : krein__rows_dense(m, e->d, x, e->d);
    krein__predictor_run(&r->predictor, &rows, scores);
done:
    krein__matrix_clear(ctx, &sparse);
    krein__free(ctx, tile);
    return st;
}

/* ---- all rows ----------------------------------------------------------- */

static krein_status count_rows(krein_reporting *r, int64_t *n) {
    krein_status st = KREIN_OK;
    krein_stream *rows = NULL;
    krein_block b;
    *n = 0;
    TRY(krein__stream_open(r->data, &r->model->encoding, KREIN_PART_TRAIN, &rows));
    do {
        TRY(krein__stream_next(rows, &b));
        *n += b.x.n;
    } while (b.x.n > 0);
    if (*n == 0)
        st = krein__fail(r->ctx, KREIN_EDATA, "%s: there is no row to report on", r->data->name);
done:
    krein__stream_close(rows);
    return st;
}

static krein_status allocate_kept(krein_reporting *r, int64_t n) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    const krein_model *m = r->model;
    const krein_encoding *e = &m->encoding;
    krein_kept *k = &r->kept;
    int64_t each = m->k + e->nclass;
    k->k = m->k;
    k->classes = e->nclass;
    k->outputs = e->task == KREIN_TASK_REGRESSION   ? m->k
                 : e->task == KREIN_TASK_MULTILABEL ? e->nclass
                                                    : 1;
    k->n = krein__min(n, krein__min(KREIN_REPORT_KEPT, krein__max(100, KREIN_REPORT_CELLS / each)));
    NEW(k->row, k->n);
    NEW(k->at, k->n);
    NEW(k->f, k->n * m->k);
    if (r->out->labelled) NEW(k->y, k->n * k->outputs);
    if (r->data->has_weight) NEW(k->weight, k->n);
    if (m->calibration.slope) NEW(k->p, k->n * e->nclass);
done:
    return st;
}

/* Row i of a block becomes the one numbered `to` of those that are kept. */
static void keep_row(krein_reporting *r, const krein_block *b, int64_t i, const double *score,
                     const double *p, int64_t to) {
    krein_kept *k = &r->kept;
    k->row[to] = b->first + i;
    memcpy(k->f + to * k->k, score, (size_t)k->k * sizeof *score);
    if (k->weight) k->weight[to] = b->weight[i];
    for (int64_t c = 0; k->p && c < k->classes; c++) k->p[to * k->classes + c] = (float)p[c];
    if (!k->y) return;
    int64_t labels = r->data->nlabel;
    for (int64_t c = 0; c < k->outputs; c++)
        k->y[to * k->outputs + c] = r->model->encoding.task == KREIN_TASK_MULTILABEL
                                        ? krein__set_has(r->data->sets, (int64_t)b->label[i], c)
                                        : b->label[i * labels + c];
}

static krein_status keep_rows(krein_reporting *r, int64_t n) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    const krein_model *m = r->model;
    krein_stream *rows = NULL;
    krein_block b;
    double *score = NULL, *p = NULL;
    int64_t *index = NULL, have = 0, at = 0, block = krein__block_rows(m->encoding.d);
    TRY(allocate_kept(r, n));
    NEW(index, r->kept.n);
    NEW(score, block * m->k);
    if (m->calibration.slope) NEW(p, block * m->encoding.nclass);
    krein__rng_choose(krein__report_stream(r, KREIN_REPORT_KEPT_ROWS), n, r->kept.n, index);
    TRY(krein__stream_open(r->data, &m->encoding, -1, &rows));
    for (;;) {
        TRY(krein__stream_next(rows, &b));
        if (b.x.n == 0) break;
        krein__predictor_run(&r->predictor, &b.x, score);
        if (p) krein__predictor_probabilities(&r->predictor, b.x.n, score, p);
        for (int64_t i = 0; i < b.x.n; i++) {
            if (b.dropped && b.dropped[i]) continue;
            const double *s = score + i * m->k, *q = p ? p + i * m->encoding.nclass : NULL;
            if (have < r->kept.n && index[have] == at) {
                r->kept.at[have] = at;
                keep_row(r, &b, i, s, q, have++);
            }
            if (r->out->cluster_size) r->out->cluster_size[krein__model_decide(m, s)]++;
            if (r->out->labelled) TRY(krein__odd_offer(r, &b, i, s, q));
            at++;
        }
        krein__progress(ctx, "predicting", (double)at, (double)n);
    }
    if (have < r->kept.n) st = krein__stream_changed(rows);
done:
    krein__stream_close(rows);
    krein__free(ctx, index);
    krein__free(ctx, score);
    krein__free(ctx, p);
    return st;
}

/* ---- the sample --------------------------------------------------------- */

/* Dense rows with room for whole tiles; out NULL: too wide. */
static krein_status write_out(krein_ctx *ctx, const krein_matrix *x, float **out) {
    krein_status st = KREIN_OK;
    krein_rows rows = krein__matrix_rows(x);
    *out = NULL;
    if (x->ptr && x->d > DENSE_MAX) return KREIN_OK;
    NEW(*out, (x->n + KREIN_TILE) * x->d);
    for (int64_t i = 0; i < x->n; i++) krein__row_copy(&rows, i, *out + i * x->d);
done:
    return st;
}

static krein_status take_sample(krein_reporting *r, int64_t n) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    krein_stream *rows = NULL;
    krein_matrix x = {0};
    int64_t *index = NULL;
    r->m = krein__min(n, r->rows);
    NEW(index, r->m);
    if (r->out->labelled) NEW(r->label, r->m * r->data->nlabel);
    NEW(r->weight, r->m);
    krein__rng_choose(krein__report_stream(r, KREIN_REPORT_SAMPLE), n, r->m, index);
    TRY(krein__stream_open(r->data, &r->base, KREIN_PART_TRAIN, &rows));
    TRY(krein__stream_gather(rows, index, r->m, &x, r->label, r->weight, NULL));
    TRY(write_out(ctx, &x, &r->x));
    krein__stream_close(rows);
    rows = NULL;
    TRY(krein__stream_open(r->data, &r->model->encoding, KREIN_PART_TRAIN, &rows));
    TRY(krein__stream_gather(rows, index, r->m, &r->full, NULL, NULL, NULL));
done:
    krein__stream_close(rows);
    krein__matrix_clear(ctx, &x);
    krein__free(ctx, index);
    return st;
}

krein_status krein__report_few(const krein_reporting *r, int64_t most, krein_matrix *x,
                               int64_t **index) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    const int64_t m = krein__min(r->m, most);
    krein_rows all = krein__matrix_rows(&r->full);
    *x = (krein_matrix){0};
    NEW(*index, m);
    for (int64_t i = 0; i < m; i++) (*index)[i] = i * r->m / m;
    TRY(krein__matrix_gather(ctx, &all, *index, m, x));
done:
    return st;
}

krein_status krein__report_rows(krein_reporting *r) {
    krein_status st = KREIN_OK;
    krein_report_numbers *out = r->out;
    krein_ctx *ctx = r->ctx;
    if (!out->labelled) TRY(krein__report_own_classes(r));
    TRY(krein__data_match(r->data, &r->model->encoding, out->labelled));
    if (r->model->clusters) {
        out->nclusters = r->model->encoding.nclass;
        ZNEW(out->cluster_size, out->nclusters);
    }
    if (out->labelled) {
        /* Coverage is that of the sampled rows (curves.c). */
        TRY(krein__model_measure(r->ctx, r->model, r->data, KREIN_PART_TRAIN, 0, &out->metrics));
        out->n = out->metrics.n;
    } else {
        TRY(count_rows(r, &out->n));
    }
    TRY(krein__predictor_begin(r->ctx, r->model, &r->predictor));
    TRY(keep_rows(r, out->n));
    TRY(take_sample(r, out->n));
    out->kept = r->kept.n;
    out->sampled = r->m;
done:
    return st;
}

void krein__report_rows_clear(krein_reporting *r) {
    krein_ctx *ctx = r->ctx;
    krein_kept *k = &r->kept;
    void *all[] = {k->row, k->at, k->weight, k->y, k->f, k->p, r->x, r->label, r->weight, r->own};
    for (int64_t c = 0; r->own_names && c < r->own_classes; c++) krein__free(ctx, r->own_names[c]);
    krein__free(ctx, r->own_names);
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) krein__free(ctx, all[i]);
    krein__predictor_end(&r->predictor);
    krein__matrix_clear(ctx, &r->full);
}
