/* clusters.c -- clusters and principal components: the plane, sizes, silhouettes, agreement with
 * the labels where the data have classes.
 *
 * The plane of a clustering has the first two principal components of the kernel on the sampled
 * rows: centred K = V'diag(w)V, row i is at sqrt(w_1) v_1i, sqrt(w_2) v_2i. That of a PCA model has
 * its own first two. Silhouettes are by the kernel's distance (learn/measures.c). */
#include "report/report.h"

#include "kernel/gram.h"
#include "learn/clustering.h"
#include "num/eigen_top.h"

#include <math.h>

enum { CLASSES_MAX = 40 };

/* ---- classes that the data have ----------------------------------------- */

static krein_status copy_names(krein_ctx *ctx, int64_t n, char *const *from, char ***to) {
    krein_status st = KREIN_OK;
    ZNEW(*to, n);
    for (int64_t c = 0; c < n; c++) DUP((*to)[c], from[c]);
done:
    return st;
}

/* The data are scanned for themselves; afterwards they are matched to the model again. */
krein_status krein__report_own_classes(krein_reporting *r) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    krein_data *data = r->data;
    krein_encoding e = {0};
    krein_stream *rows = NULL;
    krein_block b;
    int64_t room = 0;
    if (!krein__data_may_have_labels(data)) return st;
    data->one_class = true;
    TRY(krein__data_scan(data, KREIN_LABELS_WANTED, 0, r->seed, &e));
    if (!data->has_label || e.task != KREIN_TASK_CLASSIFICATION || e.nclass > CLASSES_MAX)
        goto done;
    TRY(krein__stream_open(data, &e, KREIN_PART_TRAIN, &rows));
    for (;;) {
        TRY(krein__stream_next(rows, &b));
        if (b.x.n == 0) break;
        if (r->nown + b.x.n > room) {
            room = 2 * room + b.x.n;
            int32_t *more = krein__resize(ctx, r->own, room, sizeof *more);
            if (!more) {
                st = ctx->status;
                goto done;
            }
            r->own = more;
        }
        for (int64_t i = 0; i < b.x.n; i++) r->own[r->nown++] = (int32_t)b.label[i * data->nlabel];
    }
    r->own_classes = e.nclass;
    TRY(copy_names(ctx, e.nclass, e.class_name, &r->own_names));
done:
    data->one_class = false;
    krein__stream_close(rows);
    krein__encoding_clear(ctx, &e);
    return st;
}

/* ---- clusters ----------------------------------------------------------- */

/* K becomes centred, and its first two components the plane. */
static krein_status lay_out(krein_reporting *r, int64_t m, double *K, const int32_t *cluster) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    krein_report_numbers *out = r->out;
    double *mean = NULL, *v = NULL, w[2] = {0}, all = 0, trace = 0;
    int64_t two = krein__min(2, m);
    ZNEW(mean, m);
    ZNEW(v, 2 * m);
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < m; j++) mean[i] += K[i * m + j] / (double)m;
        all += mean[i] / (double)m;
    }
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < m; j++) K[i * m + j] += all - mean[i] - mean[j];
    for (int64_t i = 0; i < m; i++) trace += K[i * m + i];
    TRY(krein__eigen_top(ctx, m, K, two, w, v));
    NEW(out->plane, m);
    out->nplane = m;
    for (int64_t i = 0; i < m; i++)
        out->plane[i] = (krein_plane_point){sqrt(fmax(w[0], 0)) * v[i],
                                            sqrt(fmax(w[1], 0)) * v[m + i], cluster[i]};
    for (int c = 0; c < 2; c++) out->plane_share[c] = trace > 0 ? fmax(w[c], 0) / trace : NAN;
done:
    krein__free(ctx, mean);
    krein__free(ctx, v);
    return st;
}

static krein_status silhouettes(krein_reporting *r, int64_t m, const double *K,
                                const int32_t *cluster, const double *weight) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    krein_report_numbers *out = r->out;
    double *each = NULL, *all = NULL;
    NEW(each, m);
    ZNEW(all, out->nclusters);
    ZNEW(out->silhouette, out->nclusters);
    TRY(krein__silhouette(ctx, m, K, out->nclusters, cluster, weight, each, &out->silhouette_mean));
    out->silhouette_rows = m;
    for (int64_t i = 0; i < m; i++) {
        double w = weight ? weight[i] : 1;
        out->silhouette[cluster[i]] += w * each[i];
        all[cluster[i]] += w;
    }
    for (int64_t c = 0; c < out->nclusters; c++)
        out->silhouette[c] = all[c] > 0 ? out->silhouette[c] / all[c] : NAN;
done:
    krein__free(ctx, each);
    krein__free(ctx, all);
    return st;
}

/* Of the kept rows, which are numbered among all of them. */
static krein_status agree(krein_reporting *r) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    const krein_kept *k = &r->kept;
    int32_t *cluster = NULL, *class = NULL;
    if (!r->own || r->nown != r->out->n) return st;
    NEW(cluster, k->n);
    NEW(class, k->n);
    for (int64_t i = 0; i < k->n; i++) {
        cluster[i] = (int32_t)krein__model_decide(r->model, k->f + i * k->k);
        class[i] = r->own[k->at[i]];
    }
    TRY(krein__agreement(ctx, k->n, r->out->nclusters, cluster, r->own_classes, class, k->weight,
                         &r->out->ari, &r->out->nmi));
done:
    krein__free(ctx, cluster);
    krein__free(ctx, class);
    return st;
}

static krein_status of_clusters(krein_reporting *r) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    krein_report_numbers *out = r->out;
    const krein_model *model = r->model;
    krein_matrix few = {0};
    int64_t *index = NULL, m;
    double *K = NULL, *score = NULL, *weight = NULL;
    int32_t *cluster = NULL;
    TRY(krein__report_few(r, KREIN_REPORT_SPECTRUM, &few, &index));
    const krein_rows x = krein__matrix_rows(&few);
    m = x.n;
    if (r->data->has_weight) {
        NEW(weight, m);
        for (int64_t i = 0; i < m; i++) weight[i] = r->weight[index[i]];
    }
    NEW(K, m * m);
    NEW(score, m * model->k);
    NEW(cluster, m);
    krein__predictor_run(&r->predictor, &x, score);
    for (int64_t i = 0; i < m; i++)
        cluster[i] = (int32_t)krein__model_decide(model, score + i * model->k);
    TRY(krein__gram_full(ctx, model->map->kernel, &x, &x, K));
    TRY(copy_names(ctx, out->nclusters, model->encoding.class_name, &out->plane_names));
    TRY(silhouettes(r, m, K, cluster, weight));
    TRY(lay_out(r, m, K, cluster));
    TRY(agree(r));
done:
    krein__matrix_clear(ctx, &few);
    krein__free(ctx, index);
    krein__free(ctx, weight);
    krein__free(ctx, K);
    krein__free(ctx, score);
    krein__free(ctx, cluster);
    return st;
}

/* ---- components --------------------------------------------------------- */

static krein_status of_components(krein_reporting *r) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    krein_report_numbers *out = r->out;
    const krein_model *m = r->model;
    const krein_kept *k = &r->kept;
    bool classes = r->own && r->nown == out->n;
    int64_t step = krein__max(1, k->n / KREIN_REPORT_SPECTRUM);
    NEW(out->plane, k->n / step + 1);
    for (int64_t i = 0; i < k->n; i += step)
        out->plane[out->nplane++] = (krein_plane_point){
            k->f[i * k->k], k->k > 1 ? k->f[i * k->k + 1] : 0, classes ? r->own[k->at[i]] : -1};
    for (int64_t c = 0; c < 2; c++)
        out->plane_share[c] =
            c < m->k && m->variance_total > 0 ? m->variance[c] / m->variance_total : NAN;
    if (classes) {
        out->nclusters = r->own_classes;
        TRY(copy_names(ctx, out->nclusters, r->own_names, &out->plane_names));
    }
done:
    return st;
}

krein_status krein__report_clusters(krein_reporting *r) {
    r->out->ari = r->out->nmi = r->out->silhouette_mean = NAN;
    krein__progress(r->ctx, "clusters", 0, 0);
    if (r->model->clusters) return of_clusters(r);
    return r->model->variance ? of_components(r) : KREIN_OK;
}
