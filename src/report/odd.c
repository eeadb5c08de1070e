/* odd.c -- what is odd: rows with the largest errors, inputs outside the range of training, rows
 * that are among the training rows.
 *
 * The error of a row is the size of its residual (root mean square over several outputs), one less
 * the probability of its class, or without probabilities how far the score of another class is
 * above that of its own; of label sets the share of wrong labels. Equal rows are found by a hash of
 * 64 bits of their encoded columns: two different ones of a million have the same with probability
 * 1e-7. */
#include "report/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the largest errors ------------------------------------------------- */

static double class_error(const krein_model *m, int64_t truth, const double *score,
                          const double *p) {
    int64_t classes = m->encoding.nclass;
    double other = -INFINITY;
    if (p) return 1 - p[truth];
    if (m->head == KREIN_HEAD_VOTES) return krein__model_decide(m, score) != truth;
    if (classes == 2) return truth == 1 ? -score[0] : score[0];
    for (int64_t c = 0; c < classes; c++)
        if (c != truth) other = fmax(other, score[c]);
    return other - score[truth];
}

/* Numbers, or names of labels, with commas between them. */
static char *list_text(krein_ctx *ctx, const krein_encoding *e, int64_t n, const double *v) {
    krein_buffer b = {.ctx = ctx};
    bool first = true;
    for (int64_t c = 0; c < n && b.size < 200; c++) {
        if (e->task == KREIN_TASK_MULTILABEL && !(v[c] > 0)) continue;
        if (!first) krein__buffer_put(&b, ", ");
        if (e->task == KREIN_TASK_MULTILABEL)
            krein__buffer_put(&b, e->class_name[c]);
        else
            krein__buffer_add(&b, "%.6g", v[c]);
        first = false;
    }
    if (first) krein__buffer_put(&b, "none");
    char *text = b.status == KREIN_OK ? krein__strdup(ctx, b.text) : NULL;
    krein__buffer_end(&b);
    return text;
}

static krein_status tell(krein_reporting *r, const krein_block *b, int64_t i, const double *score,
                         krein_odd_row *to) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    const krein_model *m = r->model;
    const krein_encoding *e = &m->encoding;
    const double *label = b->label + i * r->data->nlabel;
    double *set = NULL;
    if (e->task == KREIN_TASK_CLASSIFICATION) {
        DUP(to->truth, e->class_name[(int64_t)label[0]]);
        DUP(to->predicted, e->class_name[krein__model_decide(m, score)]);
    } else if (e->task == KREIN_TASK_MULTILABEL) {
        NEW(set, e->nclass);
        for (int64_t c = 0; c < e->nclass; c++)
            set[c] = krein__set_has(r->data->sets, (int64_t)label[0], c);
        to->truth = list_text(ctx, e, e->nclass, set);
        for (int64_t c = 0; c < e->nclass; c++) set[c] = krein__model_has(m, c, score[c]);
        to->predicted = list_text(ctx, e, e->nclass, set);
    } else {
        to->truth = list_text(ctx, e, m->k, label);
        to->predicted = list_text(ctx, e, m->k, score);
    }
    if (!to->truth || !to->predicted) st = ctx->status;
    if (st == KREIN_OK && b->id && b->id[i]) DUP(to->id, b->id[i]);
done:
    krein__free(ctx, set);
    return st;
}

static void odd_clear(krein_ctx *ctx, krein_odd_row *row) {
    krein__free(ctx, row->truth);
    krein__free(ctx, row->predicted);
    krein__free(ctx, row->id);
    *row = (krein_odd_row){0};
}

krein_status krein__odd_offer(krein_reporting *r, const krein_block *b, int64_t i,
                              const double *score, const double *p) {
    const krein_model *m = r->model;
    krein_report_numbers *out = r->out;
    const double *label = b->label + i * r->data->nlabel;
    double error = m->encoding.task == KREIN_TASK_CLASSIFICATION
                       ? class_error(m, (int64_t)label[0], score, p)
                       : krein__report_loss(r, label, score);
    if (m->encoding.task == KREIN_TASK_REGRESSION) error = sqrt(error);
    if (b->weight && b->weight[i] == 0) return KREIN_OK;
    if (m->encoding.task != KREIN_TASK_REGRESSION && krein__report_loss(r, label, score) == 0)
        return KREIN_OK; /* it is right */
    int64_t at = out->nodd;
    while (at > 0 && out->odd[at - 1].error < error) at--;
    if (at == KREIN_REPORT_ODD) return KREIN_OK;
    if (out->nodd == KREIN_REPORT_ODD)
        odd_clear(r->ctx, &out->odd[out->nodd - 1]);
    else
        out->nodd++;
    memmove(out->odd + at + 1, out->odd + at, (size_t)(out->nodd - 1 - at) * sizeof *out->odd);
    out->odd[at] = (krein_odd_row){.row = b->first + i + 1, .error = error};
    return tell(r, b, i, score, &out->odd[at]);
}

/* ---- rows and ranges ---------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t v) { /* the finaliser of splitmix64 */
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
    h = (h ^ h >> 27) * 0x94d049bb133111ebu;
    return h ^ h >> 31;
}

/* Of a row's columns that are not zero. */
static uint64_t digest(const krein_rows *x, int64_t i) {
    uint64_t h = 1;
    int64_t n = x->ptr ? x->ptr[i + 1] - x->ptr[i] : x->d;
    for (int64_t k = 0; k < n; k++) {
        float v = x->ptr ? x->val[x->ptr[i] + k] : x->x[i * x->ld + k];
        int64_t j = x->ptr ? x->col[x->ptr[i] + k] : k;
        uint32_t bits;
        if (v == 0) continue;
        memcpy(&bits, &v, sizeof bits);
        h = mix(h, (uint64_t)j << 32 | bits);
    }
    return h;
}

static uint64_t with_label(uint64_t h, const krein_block *b, int64_t i, int64_t labels) {
    for (int64_t c = 0; c < labels; c++) {
        uint64_t bits;
        memcpy(&bits, &b->label[i * labels + c], sizeof bits);
        h = mix(h, bits);
    }
    return h;
}

static int by_number(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static bool found(const uint64_t *sorted, int64_t n, uint64_t h) {
    return n > 0 && bsearch(&h, sorted, (size_t)n, sizeof h, by_number);
}

/* Hashes of the training rows, without and with their labels. */
typedef struct trained {
    uint64_t *row, *labelled;
    int64_t n, room;
} trained;

static krein_status read_trained(krein_reporting *r, trained *t) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    krein_stream *rows = NULL;
    krein_block b;
    TRY(krein__stream_open(r->train, &r->base, KREIN_PART_TRAIN, &rows));
    for (;;) {
        TRY(krein__stream_next(rows, &b));
        if (b.x.n == 0) break;
        if (t->n + b.x.n > t->room) {
            int64_t room = 2 * t->room + b.x.n;
            uint64_t *more = krein__resize(ctx, t->row, room, sizeof *more);
            if (more) t->row = more;
            uint64_t *other = more ? krein__resize(ctx, t->labelled, room, sizeof *other) : NULL;
            if (!other) {
                st = ctx->status;
                goto done;
            }
            t->labelled = other;
            t->room = room;
        }
        for (int64_t i = 0; i < b.x.n; i++, t->n++) {
            t->row[t->n] = digest(&b.x, i);
            t->labelled[t->n] = with_label(t->row[t->n], &b, i, r->train->nlabel);
        }
        krein__progress(ctx, "training rows", (double)t->n, (double)r->train->nrows);
    }
    if (t->n == 0) goto done;
    qsort(t->row, (size_t)t->n, sizeof *t->row, by_number);
    qsort(t->labelled, (size_t)t->n, sizeof *t->labelled, by_number);
done:
    krein__stream_close(rows);
    return st;
}

/* Inputs of a row outside of their ranges; counted for each input. */
static bool look_outside(krein_reporting *r, const krein_rows *x, int64_t i, float *dense) {
    krein_report_numbers *out = r->out;
    bool any = false;
    krein__row_copy(x, i, dense);
    for (int64_t j = 0; j < out->ninputs; j++) {
        krein_input_numbers *in = &out->input[j];
        if (in->outside < 0) continue;
        double value = krein__report_raw(r, in, (double)dense[krein__report_number_column(r, in)]);
        in->low = fmin(in->low, value);
        in->high = fmax(in->high, value);
        if (!krein__report_outside(r, in, value)) continue;
        in->outside++;
        any = true;
    }
    return any;
}

krein_status krein__report_odd(krein_reporting *r) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    krein_report_numbers *out = r->out;
    const krein_encoding *e = &r->model->encoding;
    krein_stream *rows = NULL;
    krein_block b;
    trained t = {0};
    float *dense = NULL;
    for (int64_t j = 0; j < out->ninputs; j++) {
        krein_input_numbers *in = &out->input[j];
        if (!krein__report_trained_range(r, in, &in->trained_low, &in->trained_high)) continue;
        out->ranges = true;
        in->outside = 0;
        in->low = INFINITY;
        in->high = -INFINITY;
    }
    if (!out->ranges && !r->train) return st;
    NEW(dense, e->d);
    if (r->train) {
        TRY(read_trained(r, &t));
        out->compared = true;
        out->train_rows = t.n;
    }
    TRY(krein__stream_open(r->data, &r->base, KREIN_PART_TRAIN, &rows));
    for (;;) {
        TRY(krein__stream_next(rows, &b));
        if (b.x.n == 0) break;
        for (int64_t i = 0; i < b.x.n; i++) {
            uint64_t h = r->train ? digest(&b.x, i) : 0;
            bool twin = r->train && found(t.row, t.n, h);
            out->duplicates += twin;
            out->same_label += twin && out->labelled &&
                               found(t.labelled, t.n, with_label(h, &b, i, r->data->nlabel));
            if (out->ranges) out->outside_rows += look_outside(r, &b.x, i, dense);
        }
        krein__progress(ctx, "looking for odd rows", (double)(b.first + b.x.n), (double)out->n);
    }
done:
    krein__stream_close(rows);
    krein__free(ctx, dense);
    krein__free(ctx, t.row);
    krein__free(ctx, t.labelled);
    return st;
}
