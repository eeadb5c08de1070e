/* label_metrics.c -- metrics of label sets: L labels, rows with sets Y_i, predicted sets P_i
 *   hamming_loss     mean over rows and labels of [in one of Y_i and P_i only]
 *   subset_accuracy  share of rows with P_i = Y_i
 *   micro_f1         2 TP / (2 TP + FP + FN), all labels counted together; 0 where all are 0
 *   macro_f1         the mean of each label's F1; labels that no row has or gets are left out, as
 *                    they are of macro_precision and macro_recall
 *   ranking_loss     mean over rows of the share of pairs (label in Y_i, label not in Y_i) whose
 *                    scores are in the wrong order or equal; 0 where there is no such pair
 *   auc              mean over the labels that some rows have and some have not; exact, from all
 *                    scores, 16 bytes for each, up to a quarter of the memory budget
 *   log_loss         mean over rows and labels of -log of the probability of what is true
 * All but auc and log_loss are those of scikit-learn (tsoumakas2010 has them all). */
#include "model/label_metrics.h"

#include "stream/together.h"

#include <math.h>
#include <string.h>

krein_status krein__label_metrics_begin(krein_ctx *ctx, const krein_model *m,
                                        const krein_data *data, krein_label_metrics *t) {
    krein_status st = KREIN_OK;
    *t = (krein_label_metrics){.ctx = ctx, .m = m, .data = data, .k = m->k};
    t->calibrated = m->calibration.slope != NULL;
    NEW(t->y, t->k);
    ZNEW(t->hit, t->k);
    ZNEW(t->truth, t->k);
    ZNEW(t->guess, t->k);
    ZNEW(t->rows, t->k);
    for (int s = 0; s < 2; s++) ZNEW(t->side[s], t->k);
done:
    return st;
}

static void forget_scores(krein_label_metrics *t) {
    for (int s = 0; s < 2; s++) {
        for (int64_t c = 0; t->side[s] && c < t->k; c++) krein__ranks_clear(t->ctx, &t->side[s][c]);
        krein__free(t->ctx, t->side[s]);
        t->side[s] = NULL;
    }
}

void krein__label_metrics_clear(krein_label_metrics *t) {
    if (!t->ctx) return;
    forget_scores(t);
    krein__free(t->ctx, t->y);
    krein__free(t->ctx, t->hit);
    krein__free(t->ctx, t->truth);
    krein__free(t->ctx, t->guess);
    krein__free(t->ctx, t->rows);
    memset(t, 0, sizeof *t);
}

static krein_status keep_scores(krein_label_metrics *t, double w, const double *score) {
    krein_status st = KREIN_OK;
    t->kept += t->k;
    if (16 * (double)t->kept > (double)t->ctx->budget / 4) forget_scores(t);
    for (int64_t c = 0; t->side[0] && c < t->k; c++)
        TRY(krein__ranks_add(t->ctx, &t->side[t->y[c] > 0][c], score[c], w));
done:
    return st;
}

/* The share of pairs in the wrong order. */
static double misordered(int64_t k, const double *y, const double *f) {
    int64_t in = 0, wrong = 0;
    for (int64_t a = 0; a < k; a++) {
        if (!(y[a] > 0)) continue;
        in++;
        for (int64_t b = 0; b < k; b++) wrong += !(y[b] > 0) && !(f[a] > f[b]);
    }
    return wrong > 0 ? (double)wrong / (double)in / (double)(k - in) : 0;
}

krein_status krein__label_metrics_add(krein_label_metrics *t, double w, double label,
                                      const double *score, const double *p) {
    int64_t wrong = 0;
    krein__data_labels(t->data, &t->m->encoding, label, t->y);
    for (int64_t c = 0; c < t->k; c++) {
        bool is = t->y[c] > 0, said = krein__model_has(t->m, c, score[c]);
        wrong += is != said;
        t->hit[c] += is && said ? w : 0;
        t->truth[c] += is ? w : 0;
        t->guess[c] += said ? w : 0;
        t->rows[c] += is;
        if (p) t->loss += w * krein__log_loss(is ? p[c] : 1 - p[c]) / (double)t->k;
    }
    t->wrong += w * (double)wrong / (double)t->k;
    t->exact += wrong == 0 ? w : 0;
    t->misorder += w * misordered(t->k, t->y, score);
    return keep_scores(t, w, score);
}

krein_status krein__label_metrics_join(krein_stream *rows, krein_label_metrics *t) {
    krein_status st = KREIN_OK;
    double *each[] = {t->hit, t->truth, t->guess},
           *one[] = {&t->wrong, &t->exact, &t->misorder, &t->loss};
    int64_t without = t->side[0] == NULL;
    for (int64_t i = 0; i < KREIN__COUNT(each); i++) TRY(krein__stream_sum(rows, t->k, each[i]));
    for (int64_t i = 0; i < KREIN__COUNT(one); i++) TRY(krein__stream_sum(rows, 1, one[i]));
    TRY(krein__stream_count(rows, t->k, t->rows));
    TRY(krein__stream_count(rows, 1, &without)); /* processes without room for scores */
    if (without > 0) forget_scores(t);
    for (int s = 0; s < 2; s++)
        for (int64_t c = 0; t->side[s] && c < t->k; c++)
            TRY(krein__ranks_join(rows, &t->side[s][c]));
done:
    return st;
}

krein_status krein__label_metrics_end(krein_label_metrics *t, double weight, krein_metrics *out) {
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    double hit = 0, sides = 0, precision = 0, recall = 0, f1 = 0, area = 0;
    int64_t present = 0, areas = 0;
    NEW(out->label_f1, t->k);
    NEW(out->label_auc, t->k);
    NEW(out->label_rows, t->k);
    for (int64_t c = 0; c < t->k; c++) {
        double both = t->truth[c] + t->guess[c];
        out->label_rows[c] = t->rows[c];
        out->label_f1[c] = both > 0 ? 2 * t->hit[c] / both : NAN;
        out->label_auc[c] = t->side[0] ? krein__ranks_area(&t->side[0][c], &t->side[1][c]) : NAN;
        if (!isnan(out->label_auc[c])) {
            area += out->label_auc[c];
            areas++;
        }
        hit += t->hit[c];
        sides += both;
        if (!(both > 0)) continue;
        present++;
        precision += t->guess[c] > 0 ? t->hit[c] / t->guess[c] : 0;
        recall += t->truth[c] > 0 ? t->hit[c] / t->truth[c] : 0;
        f1 += out->label_f1[c];
    }
    out->hamming_loss = t->wrong / weight;
    out->subset_accuracy = t->exact / weight;
    out->ranking_loss = t->misorder / weight;
    out->micro_f1 = sides > 0 ? 2 * hit / sides : 0;
    out->macro_precision = present > 0 ? precision / (double)present : NAN;
    out->macro_recall = present > 0 ? recall / (double)present : NAN;
    out->macro_f1 = present > 0 ? f1 / (double)present : NAN;
    if (areas > 0) out->auc = area / (double)areas;
    if (t->calibrated) out->log_loss = t->loss / weight;
    if (!t->side[0])
        krein__log(ctx, KREIN_LOG_INFO,
                   "%s: no areas under the curve: all scores would take more than a quarter of the "
                   "memory that may be used",
                   t->data->name);
done:
    return st;
}
