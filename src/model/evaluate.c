/* evaluate.c -- metrics of a model on labelled rows.
 *   regression      rmse, mae, r2 = 1 - sum (y-f)^2 / sum (y-mean)^2, over all outputs
 *   classification  accuracy, error, macro averages over the classes that occur, confusion */
#include "model/model.h"

#include <math.h>
#include <string.h>

void krein_metrics_clear(krein_ctx *ctx, krein_metrics *m) {
    krein__free(ctx, m->confusion);
    for (int64_t c = 0; m->class_names && c < m->classes; c++) krein__free(ctx, m->class_names[c]);
    krein__free(ctx, m->class_names);
    memset(m, 0, sizeof *m);
}

static krein_status begin(krein_ctx *ctx, const krein_encoding *e, krein_metrics *out) {
    krein_status st = KREIN_OK;
    memset(out, 0, sizeof *out);
    out->task = e->task;
    out->rmse = out->mae = out->r2 = NAN;
    out->accuracy = out->error = out->macro_precision = out->macro_recall = out->macro_f1 = NAN;
    out->log_loss = out->auc = NAN;
    if (e->task != KREIN_TASK_CLASSIFICATION) return KREIN_OK;
    out->classes = e->nclass;
    ZNEW(out->confusion, e->nclass * e->nclass);
    ZNEW(out->class_names, e->nclass);
    for (int64_t c = 0; c < e->nclass; c++) DUP(out->class_names[c], e->class_name[c]);
done:
    if (st != KREIN_OK) krein_metrics_clear(ctx, out);
    return st;
}

static void end_classes(krein_metrics *m) {
    int64_t right = 0, classes = m->classes, present = 0;
    double precision = 0, recall = 0, f1 = 0;
    for (int64_t c = 0; c < classes; c++) {
        int64_t row = 0, column = 0, hit = m->confusion[c * classes + c];
        for (int64_t o = 0; o < classes; o++) {
            row += m->confusion[c * classes + o];
            column += m->confusion[o * classes + c];
        }
        right += hit;
        if (row == 0 && column == 0) continue; /* neither true nor predicted anywhere */
        present++;
        double p = column ? (double)hit / (double)column : 0;
        double r = row ? (double)hit / (double)row : 0;
        precision += p;
        recall += r;
        f1 += p + r > 0 ? 2 * p * r / (p + r) : 0;
    }
    m->accuracy = (double)right / (double)m->n;
    m->error = 1 - m->accuracy;
    m->macro_precision = precision / (double)present;
    m->macro_recall = recall / (double)present;
    m->macro_f1 = f1 / (double)present;
}

typedef struct sums {
    double square, absolute, count;
    double mean[64], m2[64]; /* of the targets, by Welford */
} sums;

static void add_number(sums *s, int64_t rows, int64_t c, double y, double f) {
    double e = y - f, delta = y - s->mean[c];
    s->square += e * e;
    s->absolute += fabs(e);
    s->count += 1;
    s->mean[c] += delta / (double)rows;
    s->m2[c] += delta * (y - s->mean[c]);
}

krein_status krein__model_measure(const krein_model *m, krein_data *data, int part,
                                  krein_metrics *out) {
    krein_ctx *ctx = m->ctx;
    krein_status st = KREIN_OK;
    krein_stream *stream = NULL;
    krein_scorer scorer = {0};
    krein_block b;
    double *score = NULL;
    sums s = {0};
    bool classes = m->encoding.task == KREIN_TASK_CLASSIFICATION;
    TRY(begin(ctx, &m->encoding, out));
    TRY(krein__stream_open(data, &m->encoding, part, &stream));
    TRY(krein__scorer_begin(m, &scorer));
    NEW(score, krein__block_rows(m->encoding.d) * m->k);
    for (;;) {
        TRY(krein__stream_next(stream, &b));
        if (b.x.n == 0) break;
        krein__scorer_run(&scorer, &b.x, score);
        for (int64_t i = 0; i < b.x.n; i++) {
            out->n++;
            if (classes) {
                int64_t truth = (int64_t)b.label[i];
                out->confusion[truth * out->classes + krein__model_decide(m, score + i * m->k)]++;
            }
            for (int64_t c = 0; !classes && c < m->k; c++)
                add_number(&s, out->n, c, b.label[i * m->k + c], score[i * m->k + c]);
        }
    }
    if (out->n == 0) {
        st = krein__fail(ctx, KREIN_EDATA, "%s: there is no row to evaluate", data->name);
        goto done;
    }
    if (classes) {
        end_classes(out);
    } else {
        double spread = 0;
        for (int64_t c = 0; c < m->k; c++) spread += s.m2[c];
        out->rmse = sqrt(s.square / s.count);
        out->mae = s.absolute / s.count;
        out->r2 = spread > 0 ? 1 - s.square / spread : NAN;
    }
done:
    krein__scorer_end(&scorer);
    krein__stream_close(stream);
    krein__free(ctx, score);
    if (st != KREIN_OK) krein_metrics_clear(ctx, out);
    return st;
}

krein_status krein_evaluate(krein_ctx *ctx, const krein_model *m, krein_data *data,
                            krein_metrics *out) {
    memset(out, 0, sizeof *out);
    if (m->encoding.task == KREIN_TASK_AUTO)
        return krein__fail(ctx, KREIN_EARG,
                           "a model made by %s predicts no label, so there is nothing to evaluate; "
                           "use predict",
                           m->learner);
    krein_status st = krein__data_match(data, &m->encoding, true);
    return st == KREIN_OK ? krein__model_measure(m, data, KREIN_PART_TRAIN, out) : st;
}
