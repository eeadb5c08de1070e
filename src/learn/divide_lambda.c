/* divide_lambda.c -- the lambda of ridge regressions on parts, averaged
 *
 * Lambda by leave-one-out of the average (divide.h): an eigendecomposition for each part of the
 * sample gives w_j at every lambda of one path, and leverages h_i of the part's sampled rows. With
 * residual e_i = y_i - f_j(x_i) and weight w_i,
 *     f_j,-i(x_i) - f_j(x_i) = -e_i w_i h_i / (1 - w_i h_i).
 * With rows without labels: divide_features.c.
 */
#include "stream/together.h"
#include "learn/divide_features.h"
#include "num/blas.h"

#include <math.h>
#include <string.h>

typedef struct choice {
    krein_divide *d;
    krein_loo_sample sample;
    krein_path path;
    int64_t first;         /* of the group, among the parts of the sample */
    double weight;         /* of all parts of the sample */
    double *share;         /* of each of them */
    float *z;              /* n x width: features of the sampled rows */
    float *own;            /* n x (L k): f_j,-i - f_j */
    float *w;              /* of each part of a group: width x (L columns) */
    double *sum_w, *sum_b; /* width x (L k), L k: weighted */
} choice;

static void choice_end(krein_ctx *ctx, choice *t) {
    krein__loo_sample_end(ctx, &t->sample);
    void *all[] = {t->share, t->z, t->own, t->w, t->sum_w, t->sum_b};
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) krein__free(ctx, all[i]);
}

static krein_status sample_features(krein_divide *d, choice *t) {
    krein_ctx *ctx = d->job->ctx;
    krein_status st = KREIN_OK;
    int64_t n = t->sample.n, width = d->b.z.width;
    krein_rows all = krein__matrix_rows(&t->sample.x);
    NEW(t->z, n * width);
    for (int64_t i = 0; i < n; i += d->b.z.rows) {
        krein_rows rows = krein__rows_slice(&all, i, krein__min(d->b.z.rows, n - i));
        memcpy(t->z + i * width, krein__blocks_features(&d->b.z, &rows),
               (size_t)(rows.n * width) * sizeof *t->z);
    }
done:
    return st;
}

/* What a part's weights and intercepts are made of: y less its mean, times scale. */
typedef struct centring {
    double scale, ybar, labelled; /* labelled: the weight W */
} centring;

static centring centring_of(const krein_divide *d, const krein_system *s, int64_t c) {
    if (d->columns == d->job->model->k) return (centring){1, s->ymean[c], s->weight};
    double part = s->ymean[s->k - 1];
    return (centring){1 / part, s->ymean[c] / part, s->weight * part};
}

/* f_j,-i - f_j of one row: fit and lever as krein__scores_rows gives them. Where nothing is
 * left without the row, every lambda gets a large loss. */
static double leave_out(const krein_divide *d, const krein_system *s, int64_t c, const float *fit,
                        double lever, double y, double w) {
    centring t = centring_of(d, s, c);
    double bad = krein__score_of_nothing(y) - y, a = (double)fit[c];
    if (d->columns == d->job->model->k) {
        double rest = 1 - w * (1 / s->weight + lever);
        return rest > 1e-6 ? -(y - t.ybar - a) * (1 - rest) / rest : bad;
    }
    double one = (double)fit[s->k - 1], f = t.ybar + t.scale * (a - t.ybar * one);
    double left = t.labelled - w, ybar = (t.ybar * t.labelled - w * y) / left;
    if (!(left > 1e-9 * t.labelled)) return bad;
    return ybar + s->weight / left * ((a - w * lever * y) - ybar * (one - w * lever)) - f;
}

/* The i-th part of the group: weights at every lambda, and what its rows lose without themselves.
 */
static krein_status score_part(krein_ctx *ctx, void *state, int64_t i) {
    krein_status st = KREIN_OK;
    choice *t = state;
    const krein_divide *d = t->d;
    const krein_system *s = &d->system[i];
    int64_t k = d->job->model->k, L = t->path.n, width = d->b.z.width, m = 0;
    int64_t *index = NULL;
    float *z = NULL, *fit = NULL, *lever = NULL;
    krein_scores *scores = NULL;
    krein_path path = t->path;
    if (!s->G) return KREIN_OK;
    TRY(krein__scores_begin(ctx, s, true, &path, &scores));
    krein__scores_weights(scores, t->w + i * width * L * d->columns);
    NEW(index, t->sample.n);
    for (int64_t r = 0; r < t->sample.n; r++)
        if (t->sample.owner[r] == t->first + i) index[m++] = r;
    NEW(z, m * width);
    NEW(fit, m * L * d->columns);
    NEW(lever, m * L);
    for (int64_t r = 0; r < m; r++)
        memcpy(z + r * width, t->z + index[r] * width, (size_t)width * sizeof *z);
    krein__scores_rows(scores, m, z, fit, lever);
    for (int64_t r = 0; r < m; r++)
        for (int64_t e = 0; e < L * k; e++) {
            int64_t l = e / k, c = e % k, row = index[r];
            double w = t->sample.targets.weight ? t->sample.weight[row] : 1;
            t->own[row * L * k + e] =
                (float)leave_out(d, s, c, fit + (r * L + l) * d->columns, (double)lever[r * L + l],
                                 t->sample.y[row * k + c], w);
        }
done:
    krein__scores_end(scores);
    krein__free(ctx, index);
    krein__free(ctx, z);
    krein__free(ctx, fit);
    krein__free(ctx, lever);
    return st;
}

static void add_weights(choice *t, int64_t i) {
    const krein_divide *d = t->d;
    const krein_system *s = &d->system[i];
    int64_t k = d->job->model->k, L = t->path.n, width = d->b.z.width, columns = d->columns;
    const float *w = t->w + i * width * L * columns;
    double each = t->share[t->first + i];
    for (int64_t e = 0; e < L * k; e++) {
        int64_t at = e / k * columns;
        centring n = centring_of(d, s, e % k);
        t->sum_b[e] += each * n.ybar;
        for (int64_t j = 0; j < width; j++) {
            const float *row = w + j * L * columns + at;
            double v = (double)row[e % k];
            if (columns > k) v = n.scale * (v - n.ybar * (double)row[k]);
            t->sum_w[j * L * k + e] += each * v;
            t->sum_b[e] -= each * s->mean[j] * v;
        }
    }
}

/* One path for all, from the first part that has a system: far above the largest eigenvalue down to
 * what float32 products resolve, those of the mean that centring takes off included. */
static void set_path(const krein_divide *d, krein_path *p) {
    const krein_system *s = NULL;
    double trace = 0, square = 0;
    for (int64_t i = 0; i < d->slots && !s; i++)
        if (d->system[i].G) s = &d->system[i];
    for (int64_t j = 0; s && j < s->D; j++) trace += s->G[j * s->D + j];
    for (int64_t j = 0; s && j < s->R; j++) square += s->mean[j] * s->mean[j];
    double top = s ? fmax(fmax(trace / s->weight, 1e-5 * square), 1e-30) : 1;
    double floor = s ? fmax(krein__system_floor(s), 1e-6 * square) : 0;
    krein__path_grid(p, fmin(top, fmax(top * 1e-10, floor)), top * 10, 4);
}

static bool any_system(const krein_divide *d) {
    bool any = false;
    for (int64_t i = 0; i < d->slots; i++) any = any || d->system[i].G;
    return any;
}

static krein_status choice_begin(krein_divide *d, choice *t) {
    krein_ctx *ctx = d->job->ctx;
    krein_status st = KREIN_OK;
    int64_t size;
    set_path(d, &t->path);
    if (krein__divided(d)) /* that of the first process that has it from a part */
        TRY(krein__stream_from_first(d->job->rows, any_system(d), &t->path, sizeof t->path));
    size = t->path.n * d->job->model->k;
    ZNEW(t->own, t->sample.n * size);
    NEW(t->w, d->slots * d->b.z.width * t->path.n * d->columns);
    ZNEW(t->sum_w, d->b.z.width * size);
    ZNEW(t->sum_b, size);
done:
    return st;
}

static krein_status score_parts(krein_divide *d, void *state, int64_t first, int64_t count) {
    krein_status st = KREIN_OK;
    choice *t = state;
    t->first = first;
    if (!any_system(d)) return KREIN_OK; /* no row of theirs has a weight */
    if (t->path.n == 0) TRY(choice_begin(d, t));
    krein__progress(d->job->ctx, "leave-one-out", (double)first, (double)t->sample.parts);
    TRY(krein__parts_each(d->job->ctx, count, (int)krein__min(count, d->job->ctx->threads),
                          score_part, t));
    for (int64_t i = 0; i < count; i++) {
        t->share[first + i] = krein__divide_share(d, &d->system[i]);
        t->weight += t->share[first + i];
        if (t->share[first + i] > 0) add_weights(t, i);
    }
done:
    return st;
}

/* What the parts of all processes say. */
static krein_status choice_together(const krein_divide *d, choice *t) {
    krein_ctx *ctx = d->job->ctx;
    krein_stream *rows = d->job->rows;
    krein_status st = KREIN_OK;
    int64_t size = t->path.n * d->job->model->k, n = t->sample.n * size;
    double *own = NULL;
    NEW(own, n);
    for (int64_t e = 0; e < n; e++) own[e] = (double)t->own[e];
    TRY(krein__stream_sum(rows, n, own));
    for (int64_t e = 0; e < n; e++) t->own[e] = (float)own[e];
    TRY(krein__stream_sum(rows, d->b.z.width * size, t->sum_w));
    TRY(krein__stream_sum(rows, size, t->sum_b));
    TRY(krein__stream_sum(rows, t->sample.parts, t->share));
    TRY(krein__stream_sum(rows, 1, &t->weight));
done:
    krein__free(ctx, own);
    return st;
}

/* Scores of the average without the row, in tiles: losses are added in the order of the rows. */
static krein_status score_average(krein_divide *d, choice *t) {
    enum { ROWS = 256 };
    krein_ctx *ctx = d->job->ctx;
    krein_status st = KREIN_OK;
    int64_t k = d->job->model->k, width = d->b.z.width, size = t->path.n * k;
    krein_tally tally = {0};
    float *w = NULL, *fit = NULL;
    double *score = NULL;
    NEW(w, width * size);
    NEW(fit, ROWS * size);
    NEW(score, ROWS * size);
    for (int64_t e = 0; e < width * size; e++) w[e] = (float)(t->sum_w[e] / t->weight);
    krein_compute compute = krein__compute_begin();
    for (int64_t from = 0; from < t->sample.n; from += ROWS) {
        int64_t m = krein__min(ROWS, t->sample.n - from);
        krein_targets rows = {m, k, t->sample.y + from * k,
                              t->sample.targets.weight ? t->sample.weight + from : NULL,
                              t->sample.targets.class ? t->sample.class + from : NULL};
        krein__sgemm(false, false, m, size, width, 1, t->z + from * width, width, w, size, 0, fit,
                     size);
        for (int64_t i = 0; i < m; i++) {
            double own = t->share[t->sample.owner[from + i]] / t->weight;
            for (int64_t e = 0; e < size; e++)
                score[i * size + e] = (double)fit[i * size + e] + t->sum_b[e] / t->weight +
                                      own * (double)t->own[(from + i) * size + e];
        }
        krein__tally_add(&tally, &rows, t->path.n, score);
    }
    krein__compute_end(compute);
    krein__tally_end(&tally, krein__job_classes(d->job), &t->path);
done:
    krein__free(ctx, w);
    krein__free(ctx, fit);
    krein__free(ctx, score);
    return st;
}

/* Rows to sample, and parts: an eigendecomposition each. */
int64_t krein__divide_loo_rows(int64_t n, int64_t k, int64_t width) {
    int64_t most = krein__min(16384, krein__max(2048, 65536 / k));
    return krein__min(n, krein__min(most, krein__max(1024, ((int64_t)1 << 25) / width)));
}

static int64_t loo_parts(int64_t D) {
    return D > KREIN_EIGEN_MAX ? KREIN_LOO_PARTS / 4 : KREIN_LOO_PARTS;
}

krein_status krein__divide_choose(krein_divide *d) {
    krein_ctx *ctx = d->job->ctx;
    krein_status st = KREIN_OK;
    krein_job *job = d->job;
    int64_t width = d->b.z.width;
    choice t = {.d = d};
    TRY(krein__loo_sample_begin(job, &d->from[0].cut, loo_parts(width),
                                krein__divide_loo_rows(job->n, job->model->k, width), &t.sample));
    ZNEW(t.share, t.sample.parts);
    TRY(sample_features(d, &t));
    TRY(krein__divide_visit(d, t.sample.part, t.sample.parts, d->b.z.map->fused_lambda, score_parts,
                            &t));
    if (t.path.n == 0) TRY(choice_begin(d, &t)); /* none of them is here, or has a weight */
    if (krein__divided(d)) TRY(choice_together(d, &t));
    if (!(t.weight > 0)) {
        st = krein__fail(ctx, KREIN_EDATA, "all row weights are zero");
        goto done;
    }
    TRY(score_average(d, &t));
    krein__krr_report(job, &t.path);
done:
    choice_end(ctx, &t);
    return st;
}
