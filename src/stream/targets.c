/* targets.c -- the means of the target by category, for the inputs that are encoded by them: one
 * pass over the training rows, whose categories and classes are known. */
#include "stream/scan.h"
#include "dist/dist.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = 64 }; /* targets, or at most 20 classes or labels */

/* What the means are of: the targets, or whether the row is of a class, or has a label. */
static void targets_of(const krein_data *data, const krein_encoding *e, const double *label,
                       double *y) {
    if (e->task == KREIN_TASK_REGRESSION) {
        memcpy(y, label, (size_t)e->outputs * sizeof *y);
        return;
    }
    if (e->task == KREIN_TASK_MULTILABEL) {
        krein__data_labels(data, e, label[0], y);
        for (int64_t k = 0; k < e->nclass; k++) y[k] = y[k] > 0;
        return;
    }
    int64_t class = krein__class_of(e, data->label_map, label[0]);
    if (e->nclass == 2)
        y[0] = class == 1;
    else
        for (int64_t k = 0; k < e->nclass; k++) y[k] = class == k;
}

typedef struct sums {
    krein_scan *s;
    krein_target_means **of; /* of each text column, in the order of the codes; NULL: it has none */
    int64_t columns;
    double all[COLUMNS], weight; /* of all training rows */
} sums;

static void add_row(sums *t, const krein_encoding *e, const krein_raw *raw, int64_t i) {
    double y[COLUMNS], w = raw->weight ? raw->weight[i] : 1;
    int fold = krein__target_fold(krein__data_row(t->s->data, raw->from.row + i));
    targets_of(t->s->data, e, raw->label + i * raw->nlabel, y);
    for (int64_t k = 0; k < t->columns; k++) t->all[k] += w * y[k];
    t->weight += w;
    for (int64_t k = 0; k < raw->ncat; k++)
        if (t->of[k]) krein__target_add(t->of[k], raw->cat[i * raw->ncat + k], fold, w, y);
}

static krein_status add_rows(sums *t, const krein_encoding *e) {
    krein_data *data = t->s->data;
    krein_status st = KREIN_OK;
    krein_raw_pass pass = {0};
    krein_raw *raw;
    int64_t ld, row = 0;
    bool drop = data->options.missing == KREIN_MISSING_DROP;
    TRY(krein__raw_begin(&pass, data));
    for (;;) {
        TRY(krein__raw_next(&pass, &raw, &ld));
        if (!raw) break;
        for (int64_t i = 0; i < raw->n; i++, row++) {
            int part = data->part ? data->part[row] : krein__raw_part(data, raw, ld, i, drop);
            if (part == KREIN_PART_TRAIN) add_row(t, e, raw, i);
        }
    }
done:
    krein__raw_end(&pass);
    return st;
}

static krein_status put_together(sums *t) {
    krein_ctx *ctx = t->s->ctx;
    krein_status st = KREIN_OK;
    TRY(krein__comm_sum(ctx, t->columns, t->all));
    TRY(krein__comm_sum(ctx, 1, &t->weight));
    for (int64_t k = 0; k < t->s->stats.ncat; k++) {
        krein_target_means *m = t->of[k];
        if (!m) continue;
        TRY(krein__comm_sum(ctx, KREIN_FOLDS * (m->words + 1) * m->columns, m->sum));
        TRY(krein__comm_sum(ctx, KREIN_FOLDS * (m->words + 1), m->weight));
    }
done:
    return st;
}

krein_status krein__scan_targets(krein_scan *s, krein_encoding *e) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    sums t = {.s = s};
    int64_t cat = 0;
    ZNEW(t.of, krein__max(1, s->stats.ncat));
    for (int64_t j = 0; j < e->ninput; j++) {
        krein_input *in = &e->input[j];
        if (!in->text || s->data->reader->column[j].role != KREIN_ROLE_FEATURE) continue;
        if (in->texts == KREIN_TEXTS_TARGET) t.of[cat] = &in->target;
        if (in->texts == KREIN_TEXTS_TARGET) t.columns = in->target.columns;
        cat++;
    }
    if (t.columns == 0) goto done;
    TRY(add_rows(&t, e));
    if (s->data->share.on) TRY(put_together(&t));
    for (int64_t k = 0; k < t.columns; k++) t.all[k] /= t.weight;
    for (int64_t k = 0; k < cat; k++)
        if (t.of[k]) TRY(krein__target_end(ctx, t.of[k], t.all));
done:
    krein__free(ctx, t.of);
    return st;
}
