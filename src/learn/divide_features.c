/* divide_features.c -- ridge regression on features, part by part
 *
 *     (G_j + W_j lambda I) w_j = B_j,   w = sum_j s_j w_j,   s_j = W_j / sum W
 *
 * with G_j, B_j centred by the means of part j (solve/ridge.c) and intercepts averaged like the
 * weights. Parts in the order of the data take one pass, whatever their number; shuffled ones take
 * a pass for as many parts as have room for their G at once. Sums are made with all threads, then
 * the parts of a group are solved side by side.
 *
 * Lambda by leave-one-out of the average (divide.h): an eigendecomposition for each part that
 * judges gives w_j at every lambda of one path, and leverages h_i of the part's sampled rows. With
 * residual e_i = y_i - f_j(x_i) and weight w_i,
 *     f_j,-i(x_i) - f_j(x_i) = -e_i w_i h_i / (1 - w_i h_i).
 *
 * Rows without labels (sskrr) add to G_j alone. With M_j the weight of all rows of the part and W_j
 * that of the labelled ones, the right side is M_j / W_j sum over labelled i of w_i (z_i - m)(y_i -
 * ybar), m the mean of all rows and ybar that of the labels. A further target, one where there is a
 * label, carries what centring by ybar takes. Leave-one-out takes the label of a row away, and the
 * row stays: with a, c = (z_i - m)'A^-1 B of y and of that target, h = (z_i - m)'A^-1 (z_i - m),
 *     f_-i(x_i) = ybar' + M / (W - w_i) ((a - w_i h y_i) - ybar' (c - w_i h)),   ybar' without i.
 */
#include "dist/dist.h"
#include "learn/divide.h"
#include "learn/krr.h"
#include "num/blas.h"

#include <math.h>
#include <string.h>

/* ---- rows --------------------------------------------------------------- */

/* Streams one after the other, as slices of blocks. */
typedef struct walk {
    krein_stream *const *stream;
    int64_t streams, which, row, at; /* row: over all of them; at: in the block */
    krein_block block;
} walk;

static krein_status walk_begin(krein_stream *const *stream, int64_t streams, int64_t first,
                               walk *w) {
    *w = (walk){.stream = stream, .streams = streams, .row = first};
    return streams > 0 ? krein__stream_rewind(stream[0]) : KREIN_OK;
}

/* The next rows, none at `until` or behind; x.n == 0: there. */
static krein_status walk_next(walk *w, int64_t until, krein_block *out) {
    krein_status st = KREIN_OK;
    memset(out, 0, sizeof *out);
    while (w->row < until && w->at == w->block.x.n && w->which < w->streams) {
        TRY(krein__stream_next(w->stream[w->which], &w->block));
        w->at = 0;
        if (w->block.x.n == 0 && ++w->which < w->streams)
            TRY(krein__stream_rewind(w->stream[w->which]));
    }
    if (w->row < until && w->at == w->block.x.n) {
        krein_data *data = krein__stream_data(w->stream[w->streams - 1]);
        st = krein__fail(data->ctx, KREIN_EIO, "%s changed while it was read: it has fewer rows",
                         data->name);
        goto done;
    }
    int64_t n = krein__min(w->block.x.n - w->at, krein__max(0, until - w->row)), at = w->at;
    int64_t labels = w->which < w->streams ? krein__stream_labels(w->stream[w->which]) : 0;
    *out = w->block;
    out->x = krein__rows_slice(&w->block.x, at, n);
    out->first = w->row;
    if (out->label) out->label += at * labels;
    if (out->weight) out->weight += at;
    w->at += n;
    w->row += n;
done:
    return st;
}

static krein_status walk_skip(walk *w, int64_t until) {
    krein_status st = KREIN_OK;
    krein_block rows;
    do {
        TRY(walk_next(w, until, &rows));
    } while (rows.x.n > 0);
done:
    return st;
}

/* ---- sums --------------------------------------------------------------- */

/* Where rows come from: those with labels, or those without. */
typedef struct source {
    krein_stream *const *stream;
    int64_t streams;
    krein_cut cut;
    bool labelled;
} source;

typedef struct divide {
    krein_job *job;
    krein_krr b;
    source from[2];
    bool shared;              /* both read one file, which has one place where it is read */
    int64_t sources, columns; /* columns: targets, and with two sources the one more */
    int64_t slots;            /* parts of a group */
    krein_ridge *sum;
    krein_system *system;
    double *y;               /* block x columns */
    float *part_z;           /* shuffled: the rows of one part in a block */
    double *part_y, *part_w; /* and what goes with them */
} divide;

/* Targets of a block (n x columns). */
static void fill_targets(divide *d, const source *s, const krein_block *rows) {
    int64_t n = rows->x.n, k = d->job->model->k, columns = d->columns;
    double *y = columns == k ? d->y : d->b.y;
    if (s->labelled) krein__targets_fill(d->job->model, d->job->data, n, rows->label, y, NULL);
    if (columns == k) return;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t c = 0; c < k; c++) d->y[i * columns + c] = s->labelled ? d->b.y[i * k + c] : 0;
        d->y[i * columns + k] = s->labelled;
    }
}

static krein_status add_in_order(divide *d, const source *s, walk *w, int64_t part,
                                 krein_ridge *sum) {
    krein_status st = KREIN_OK;
    krein_block rows;
    const krein_cut *cut = &s->cut; /* of a joint part the process has some rows */
    int64_t until = krein__min(cut->bound[part + 1], cut->first + cut->rows);
    TRY(walk_skip(w, krein__max(cut->bound[part], cut->first)));
    for (;;) {
        TRY(walk_next(w, until, &rows));
        if (rows.x.n == 0) break;
        float *z = krein__blocks_features(&d->b.z, &rows.x);
        fill_targets(d, s, &rows);
        krein__ridge_add(sum, rows.x.n, z, d->y, rows.weight);
        if (s->labelled) krein__progress(d->job->ctx, "parts", (double)w->row, (double)s->cut.n);
    }
done:
    return st;
}

/* Copies the rows of a part out of a block; their number. */
static int64_t pick(divide *d, const int32_t *owner, int64_t part, const float *z,
                    const krein_block *rows) {
    int64_t m = 0, width = d->b.z.width, columns = d->columns;
    for (int64_t i = 0; i < rows->x.n; i++) {
        if (owner[i] != part) continue;
        memcpy(d->part_z + m * width, z + i * width, (size_t)width * sizeof *z);
        memcpy(d->part_y + m * columns, d->y + i * columns, (size_t)columns * sizeof *d->y);
        d->part_w[m++] = rows->weight ? rows->weight[i] : 1;
    }
    return m;
}

static krein_status add_shuffled(divide *d, const source *s, const int64_t *part, int64_t count) {
    krein_status st = KREIN_OK;
    walk w;
    krein_block rows;
    TRY(walk_begin(s->stream, s->streams, s->cut.first, &w));
    for (;;) {
        TRY(walk_next(&w, s->cut.n, &rows));
        if (rows.x.n == 0) break;
        const float *z = krein__blocks_features(&d->b.z, &rows.x);
        fill_targets(d, s, &rows);
        for (int64_t i = 0; i < count; i++) {
            int64_t m = pick(d, s->cut.owner + rows.first, part[i], z, &rows);
            krein__ridge_add(&d->sum[i], m, d->part_z, d->part_y, rows.weight ? d->part_w : NULL);
        }
        if (s->labelled) krein__progress(d->job->ctx, "parts", (double)w.row, (double)s->cut.n);
    }
done:
    return st;
}

/* The sums of `count` parts; the walks are where the parts before ended. */
static krein_status add_group(divide *d, walk *w, const int64_t *part, int64_t count) {
    krein_status st = KREIN_OK;
    for (int64_t i = 0; i < count; i++)
        TRY(krein__ridge_begin(d->job->ctx, d->b.z.width, d->columns, d->b.z.rows, &d->sum[i]));
    for (int64_t s = 0; s < d->sources; s++) {
        const source *of = &d->from[s];
        if (d->shared) TRY(walk_begin(of->stream, of->streams, of->cut.first, &w[s]));
        if (d->from[s].cut.owner) TRY(add_shuffled(d, &d->from[s], part, count));
        for (int64_t i = 0; i < count && !d->from[s].cut.owner; i++)
            TRY(add_in_order(d, &d->from[s], &w[s], part[i], &d->sum[i]));
    }
    if (d->from[0].cut.joint) TRY(krein__ridge_together(&d->sum[0]));
done:
    return st;
}

static void clear_group(divide *d) {
    for (int64_t i = 0; i < d->slots; i++) {
        krein__ridge_clear(&d->sum[i]);
        krein__system_clear(d->job->ctx, &d->system[i]);
    }
}

/* Parts whose rows have no weight stay without a system. */
static krein_status make_systems(divide *d, int64_t count, double lambda) {
    krein_status st = KREIN_OK;
    for (int64_t i = 0; i < count; i++) {
        krein_ridge *sum = &d->sum[i];
        bool none = !(sum->weight > 0) ||
                    (d->columns > d->job->model->k && !(sum->ysum[d->columns - 1] > 0));
        if (!none) TRY(krein__krr_system(&d->b, sum, lambda, &d->system[i]));
        krein__ridge_clear(sum);
    }
done:
    return st;
}

/* Goes over the systems of the listed parts, ascending, a group at a time: `first` of the list and
 * so many. */
typedef krein_status group_work(divide *d, void *state, int64_t first, int64_t count);

static krein_status visit(divide *d, const int64_t *part, int64_t parts, double lambda,
                          group_work *work, void *state) {
    krein_status st = KREIN_OK;
    walk w[2];
    const krein_cut *cut = &d->from[0].cut;
    int64_t first = 0;
    for (int64_t s = 0; s < d->sources; s++)
        TRY(walk_begin(d->from[s].stream, d->from[s].streams, d->from[s].cut.first, &w[s]));
    while (first < parts && part[first] < cut->from) first++; /* those of this process */
    while (parts > first && part[parts - 1] >= cut->to) parts--;
    for (; first < parts; first += d->slots) {
        int64_t count = krein__min(d->slots, parts - first);
        TRY(add_group(d, w, part + first, count));
        TRY(make_systems(d, count, lambda));
        TRY(work(d, state, first, count));
        clear_group(d);
    }
done:
    clear_group(d);
    return st;
}

/* Its share in the average: the weight of its labelled rows. */
static double share(const divide *d, const krein_system *s) {
    if (!s->G) return 0;
    return d->columns > d->job->model->k ? s->weight * s->ymean[s->k - 1] : s->weight;
}

/* Parts are on several processes. */
static bool divided(const divide *d) { return d->from[0].cut.rank != NULL; }

/* ---- the fit ------------------------------------------------------------ */

typedef struct average {
    divide *d;
    double lambda, weight;
    double *w, *b;         /* of each part of a group: width x k, k */
    double *sum_w, *sum_b; /* over all */
} average;

/* Labels centred by their own mean, times M / W. */
static void drop_column(krein_system *s) {
    int64_t k = s->k - 1, D = s->D;
    double part = s->ymean[k];
    for (int64_t c = 0; c < k; c++) s->ymean[c] /= part;
    for (int64_t j = 0; j < D; j++) {
        const double *from = s->B + j * (k + 1);
        double one = from[k];
        for (int64_t c = 0; c < k; c++) s->B[j * k + c] = (from[c] - s->ymean[c] * one) / part;
    }
    s->k = k;
}

static krein_status solve_part(krein_ctx *ctx, void *state, int64_t i) {
    const average *a = state;
    krein_system *s = &a->d->system[i];
    int64_t k = a->d->job->model->k;
    if (!s->G) return KREIN_OK;
    if (s->k > k) drop_column(s);
    return krein__system_solve(ctx, s, a->lambda, a->w + i * a->d->b.z.width * k, a->b + i * k);
}

static krein_status add_parts(divide *d, void *state, int64_t first, int64_t count) {
    (void)first;
    krein_status st = KREIN_OK;
    average *a = state;
    int64_t k = d->job->model->k, size = d->b.z.width * k;
    double each[KREIN_JUDGES];
    for (int64_t i = 0; i < count; i++) each[i] = share(d, &d->system[i]);
    TRY(krein__parts_each(d->job->ctx, count, (int)krein__min(count, d->job->ctx->threads),
                          solve_part, a));
    for (int64_t i = 0; i < count; i++) {
        if (!(each[i] > 0)) continue;
        a->weight += each[i];
        for (int64_t e = 0; e < size; e++) a->sum_w[e] += each[i] * a->w[i * size + e];
        for (int64_t c = 0; c < k; c++) a->sum_b[c] += each[i] * a->b[i * k + c];
    }
done:
    return st;
}

static krein_status solve_parts(divide *d) {
    krein_ctx *ctx = d->job->ctx;
    krein_status st = KREIN_OK;
    krein_model *m = d->job->model;
    int64_t size = d->b.z.width * m->k, parts = d->from[0].cut.parts, *part = NULL;
    average a = {.d = d, .lambda = d->job->lambda};
    NEW(part, parts);
    NEW(a.w, d->slots * size);
    NEW(a.b, d->slots * m->k);
    ZNEW(a.sum_w, size);
    ZNEW(a.sum_b, m->k);
    for (int64_t j = 0; j < parts; j++) part[j] = j;
    TRY(visit(d, part, parts, a.lambda, add_parts, &a));
    if (divided(d)) { /* the one message: the weights of a model */
        TRY(krein__comm_sum(ctx, size, a.sum_w));
        TRY(krein__comm_sum(ctx, m->k, a.sum_b));
        TRY(krein__comm_sum(ctx, 1, &a.weight));
    }
    if (!(a.weight > 0)) {
        st = krein__fail(ctx, KREIN_EDATA, "all row weights are zero");
        goto done;
    }
    for (int64_t e = 0; e < size; e++) a.sum_w[e] /= a.weight;
    for (int64_t c = 0; c < m->k; c++) m->intercept[c] = a.sum_b[c] / a.weight;
    krein__krr_weights(d->job, &d->b, a.sum_w);
done:
    krein__free(ctx, part);
    krein__free(ctx, a.w);
    krein__free(ctx, a.b);
    krein__free(ctx, a.sum_w);
    krein__free(ctx, a.sum_b);
    return st;
}

/* ---- lambda ------------------------------------------------------------- */

typedef struct court {
    divide *d;
    krein_jurors j;
    krein_path path;
    int64_t first;         /* of the group, among those that judge */
    double weight;         /* of all judging parts */
    double *share;         /* of each of them */
    float *z;              /* n x width: features of the sampled rows */
    float *own;            /* n x (L k): f_j,-i - f_j */
    float *w;              /* of each part of a group: width x (L columns) */
    double *sum_w, *sum_b; /* width x (L k), L k: weighted */
} court;

static void court_end(krein_ctx *ctx, court *t) {
    krein__jurors_end(ctx, &t->j);
    void *all[] = {t->share, t->z, t->own, t->w, t->sum_w, t->sum_b};
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) krein__free(ctx, all[i]);
}

static krein_status juror_features(divide *d, court *t) {
    krein_ctx *ctx = d->job->ctx;
    krein_status st = KREIN_OK;
    int64_t n = t->j.n, width = d->b.z.width;
    krein_rows all = krein__matrix_rows(&t->j.x);
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

static centring centring_of(const divide *d, const krein_system *s, int64_t c) {
    if (d->columns == d->job->model->k) return (centring){1, s->ymean[c], s->weight};
    double part = s->ymean[s->k - 1];
    return (centring){1 / part, s->ymean[c] / part, s->weight * part};
}

/* f_j,-i - f_j of one row: fit and lever as krein__scores_rows gives them. A row that nothing but
 * itself speaks for judges every lambda as bad. */
static double leave_out(const divide *d, const krein_system *s, int64_t c, const float *fit,
                        double lever, double y, double w) {
    centring t = centring_of(d, s, c);
    double bad = 1e3 * (1 + fabs(y)), a = (double)fit[c];
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
    court *t = state;
    const divide *d = t->d;
    const krein_system *s = &d->system[i];
    int64_t k = d->job->model->k, L = t->path.n, width = d->b.z.width, m = 0;
    int64_t *index = NULL;
    float *z = NULL, *fit = NULL, *lever = NULL;
    krein_scores *scores = NULL;
    krein_path path = t->path;
    if (!s->G) return KREIN_OK;
    TRY(krein__scores_begin(ctx, s, true, &path, &scores));
    krein__scores_weights(scores, t->w + i * width * L * d->columns);
    NEW(index, t->j.n);
    for (int64_t r = 0; r < t->j.n; r++)
        if (t->j.owner[r] == t->first + i) index[m++] = r;
    NEW(z, m * width);
    NEW(fit, m * L * d->columns);
    NEW(lever, m * L);
    for (int64_t r = 0; r < m; r++)
        memcpy(z + r * width, t->z + index[r] * width, (size_t)width * sizeof *z);
    krein__scores_rows(scores, m, z, fit, lever);
    for (int64_t r = 0; r < m; r++)
        for (int64_t e = 0; e < L * k; e++) {
            int64_t l = e / k, c = e % k, row = index[r];
            double w = t->j.targets.weight ? t->j.weight[row] : 1;
            t->own[row * L * k + e] =
                (float)leave_out(d, s, c, fit + (r * L + l) * d->columns, (double)lever[r * L + l],
                                 t->j.y[row * k + c], w);
        }
done:
    krein__scores_end(scores);
    krein__free(ctx, index);
    krein__free(ctx, z);
    krein__free(ctx, fit);
    krein__free(ctx, lever);
    return st;
}

static void add_weights(court *t, int64_t i) {
    const divide *d = t->d;
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
static void set_path(const divide *d, krein_path *p) {
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

static krein_status open_court(divide *d, court *t) {
    krein_ctx *ctx = d->job->ctx;
    krein_status st = KREIN_OK;
    int64_t size;
    set_path(d, &t->path);
    if (divided(d)) /* the path of the process that has the first of them */
        TRY(krein__comm_broadcast(ctx, (int)d->from[0].cut.rank[t->j.part[0]], &t->path,
                                  sizeof t->path));
    size = t->path.n * d->job->model->k;
    ZNEW(t->own, t->j.n * size);
    NEW(t->w, d->slots * d->b.z.width * t->path.n * d->columns);
    ZNEW(t->sum_w, d->b.z.width * size);
    ZNEW(t->sum_b, size);
done:
    return st;
}

static krein_status hear_parts(divide *d, void *state, int64_t first, int64_t count) {
    krein_status st = KREIN_OK;
    court *t = state;
    t->first = first;
    if (t->path.n == 0) TRY(open_court(d, t));
    krein__progress(d->job->ctx, "leave-one-out", (double)first, (double)t->j.parts);
    TRY(krein__parts_each(d->job->ctx, count, (int)krein__min(count, d->job->ctx->threads),
                          score_part, t));
    for (int64_t i = 0; i < count; i++) {
        t->share[first + i] = share(d, &d->system[i]);
        t->weight += t->share[first + i];
        if (t->share[first + i] > 0) add_weights(t, i);
    }
done:
    return st;
}

/* What the parts of all processes say. */
static krein_status join_courts(krein_ctx *ctx, const divide *d, court *t) {
    krein_status st = KREIN_OK;
    int64_t size = t->path.n * d->job->model->k, n = t->j.n * size;
    double *own = NULL;
    NEW(own, n);
    for (int64_t e = 0; e < n; e++) own[e] = (double)t->own[e];
    TRY(krein__comm_sum(ctx, n, own));
    for (int64_t e = 0; e < n; e++) t->own[e] = (float)own[e];
    TRY(krein__comm_sum(ctx, d->b.z.width * size, t->sum_w));
    TRY(krein__comm_sum(ctx, size, t->sum_b));
    TRY(krein__comm_sum(ctx, t->j.parts, t->share));
    TRY(krein__comm_sum(ctx, 1, &t->weight));
done:
    krein__free(ctx, own);
    return st;
}

/* Scores of the average without the row, in tiles: losses are added in the order of the rows. */
static krein_status judge(divide *d, court *t) {
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
    for (int64_t from = 0; from < t->j.n; from += ROWS) {
        int64_t m = krein__min(ROWS, t->j.n - from);
        krein_targets rows = {m, k, t->j.y + from * k,
                              t->j.targets.weight ? t->j.weight + from : NULL,
                              t->j.targets.class ? t->j.class + from : NULL};
        krein__sgemm(false, false, m, size, width, 1, t->z + from * width, width, w, size, 0, fit,
                     size);
        for (int64_t i = 0; i < m; i++) {
            double own = t->share[t->j.owner[from + i]] / t->weight;
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

/* Rows that judge, and how many parts: an eigendecomposition each. */
static int64_t juror_rows(int64_t n, int64_t k, int64_t width) {
    int64_t most = krein__min(16384, krein__max(2048, 65536 / k));
    return krein__min(n, krein__min(most, krein__max(1024, ((int64_t)1 << 25) / width)));
}

static int64_t judging_parts(int64_t D) {
    return D > KREIN_EIGEN_MAX ? KREIN_JUDGES / 4 : KREIN_JUDGES;
}

static krein_status choose(divide *d) {
    krein_ctx *ctx = d->job->ctx;
    krein_status st = KREIN_OK;
    krein_job *job = d->job;
    int64_t width = d->b.z.width;
    court t = {.d = d};
    TRY(krein__jurors_begin(job, &d->from[0].cut, judging_parts(width),
                            juror_rows(job->n, job->model->k, width), &t.j));
    ZNEW(t.share, t.j.parts);
    TRY(juror_features(d, &t));
    TRY(visit(d, t.j.part, t.j.parts, d->b.z.map->fused_lambda, hear_parts, &t));
    if (t.path.n == 0) TRY(open_court(d, &t)); /* none of them is here */
    if (divided(d)) TRY(join_courts(ctx, d, &t));
    if (!(t.weight > 0)) {
        st = krein__fail(ctx, KREIN_EDATA, "all row weights are zero");
        goto done;
    }
    TRY(judge(d, &t));
    krein__krr_report(job, &t.path);
done:
    court_end(ctx, &t);
    return st;
}

/* ---- set-up ------------------------------------------------------------- */

/* Bytes of a part in a group: its sums, and a system beside (all that a mix needs); its
 * decomposition. */
static double part_bytes(double D, double k, bool mixed, bool path) {
    double L = KREIN_PATH_MAX, square = 8 * D * D;
    double solve = square + 16 * D * (k + 1);
    double eigen = 3.5 * square + 4 * D * D + 8 * D * L * (k + 1);
    return square * (mixed ? 3 : 1) + 8 * D * (3 * k + 4) + (path ? fmax(eigen, solve) : solve);
}

/* Groups are as large as there are workers; shuffled parts as many as fit, to pass less often. */
static int64_t group_size(const krein_ctx *ctx, int64_t parts, double D, double k, bool mixed,
                          bool shuffle, bool path) {
    double bytes = part_bytes(D, k, mixed, path);
    int64_t many = krein__parts_workers(ctx, parts, bytes);
    double room = (double)ctx->budget / 4 / bytes;
    if (shuffle) many = krein__max(many, room < KREIN_JUDGES ? (int64_t)room : KREIN_JUDGES);
    return krein__min(parts, krein__min(many, KREIN_JUDGES));
}

/* Of rows with labels and of those without, or NULL. */
typedef struct cuts {
    const krein_cut *labelled, *unlabelled;
} cuts;

static krein_status begin(krein_job *job, const cuts *c, bool fused, divide *d) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    const krein_map *map = job->model->map;
    const krein_cut *cut = c->labelled;
    int64_t k = job->model->k, rows = krein__block_rows(map->d);
    *d = (divide){.job = job, .sources = 1, .columns = k};
    d->from[0] = (source){.stream = &job->rows, .streams = 1, .cut = *cut, .labelled = true};
    if (c->unlabelled) {
        d->from[d->sources++] = (source){.stream = job->unlabelled.rows,
                                         .streams = job->unlabelled.streams,
                                         .cut = *c->unlabelled};
        d->columns++;
        d->shared =
            !job->data->in_memory && krein__stream_data(job->unlabelled.rows[0]) == job->data;
    }
    TRY(krein__krr_begin(job, fused, NULL, &d->b));
    d->slots = group_size(ctx, cut->parts, (double)d->b.z.width, (double)d->columns,
                          map->mix != NULL, cut->owner != NULL, job->lambda < 0);
    ZNEW(d->sum, d->slots);
    ZNEW(d->system, d->slots);
    NEW(d->y, rows * d->columns);
    if (cut->owner) {
        NEW(d->part_z, rows * d->b.z.width);
        NEW(d->part_y, rows * d->columns);
        NEW(d->part_w, rows);
    }
done:
    return st;
}

static void end(divide *d) {
    krein_ctx *ctx = d->job->ctx;
    krein__krr_end(ctx, &d->b);
    void *all[] = {d->sum, d->system, d->y, d->part_z, d->part_y, d->part_w};
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) krein__free(ctx, all[i]);
}

static krein_status fit_blocks(krein_job *job, int64_t pass, bool fused, const void *state) {
    krein_status st = KREIN_OK;
    (void)pass; /* of checkpoints, which it does not keep */
    divide d;
    TRY(begin(job, state, fused, &d));
    if (job->lambda < 0) TRY(job->folds > 0 ? krein__krr_choose_folds(job, &d.b) : choose(&d));
    if (d.b.z.map->mix && fused && job->lambda < 2 * d.b.z.map->fused_lambda)
        goto done; /* features are next */
    TRY(solve_parts(&d));
done:
    end(&d);
    return st;
}

krein_status krein__divide_features(krein_job *job, const krein_cut *cut,
                                    const krein_cut *unlabelled) {
    cuts c = {cut, unlabelled};
    return krein__krr_fit(job, fit_blocks, &c);
}

double krein__divide_features_bytes(const krein_map *map, int64_t n, int64_t parts, int64_t k,
                                    bool shuffle, bool path) {
    double D = (double)map->cls->features(map, n), K = (double)k + 1, L = KREIN_PATH_MAX;
    double rows = (double)krein__block_rows(map->d), N = (double)juror_rows(n, k, (int64_t)D);
    int threads = map->ctx->threads;
    bool mixed = krein__map_traits(map) & KREIN_MAP_MIX;
    int64_t group = group_size(map->ctx, parts, D, K, mixed, shuffle, path);
    double one = krein__ridge_bytes((int64_t)D, k + 1, (int64_t)rows, threads) - 8 * D * D;
    double choice = N * (4 * D + 4 * (double)map->d + 12 * L * K + 16 * K + 64) + 24 * D * L * K +
                    threads * 4.0 * 256 * (3 * D + 3 * L * K + L);
    return krein__blocks_bytes(map, n) + (double)group * (part_bytes(D, K, mixed, path) + one) +
           8 * rows * (2 * K + 2) + (shuffle ? 4 * rows * D + 20 * (double)n : 0) + 16 * D * K +
           (path ? choice : 0) + 16 * (double)parts;
}
