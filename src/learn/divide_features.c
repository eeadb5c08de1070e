/* divide_features.c -- ridge regression on features, part by part
 *
 *     (G_j + W_j lambda I) w_j = B_j,   w = sum_j s_j w_j,   s_j = W_j / sum W
 *
 * with G_j, B_j centred by the means of part j (solve/ridge.c) and intercepts averaged like the
 * weights. Parts in the order of the data take one pass, whatever their number; shuffled ones take
 * a pass for as many parts as have room for their G at once. Sums are made with all threads, then
 * the parts of a group are solved side by side.
 *
 * Lambda: divide_lambda.c.
 *
 * Rows without labels (sskrr) add to G_j alone. With M_j the weight of all rows of the part and W_j
 * that of the labelled ones, the right side is M_j / W_j sum over labelled i of w_i (z_i - m)(y_i -
 * ybar), m the mean of all rows and ybar that of the labels. A further target, one where there is a
 * label, carries what centring by ybar takes. Leave-one-out takes the label of a row away, and the
 * row stays: with a, c = (z_i - m)'A^-1 B of y and of that target, h = (z_i - m)'A^-1 (z_i - m),
 *     f_-i(x_i) = ybar' + M / (W - w_i) ((a - w_i h y_i) - ybar' (c - w_i h)),   ybar' without i.
 */
#include "stream/together.h"
#include "learn/divide_features.h"
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

/* Targets of a block (n x columns). */
static void fill_targets(krein_divide *d, const krein_source *s, const krein_block *rows) {
    int64_t n = rows->x.n, k = d->job->model->k, columns = d->columns;
    double *y = columns == k ? d->y : d->b.y;
    if (s->labelled) krein__targets_fill(d->job->model, d->job->data, n, rows->label, y, NULL);
    if (columns == k) return;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t c = 0; c < k; c++) d->y[i * columns + c] = s->labelled ? d->b.y[i * k + c] : 0;
        d->y[i * columns + k] = s->labelled;
    }
}

static krein_status add_in_order(krein_divide *d, const krein_source *s, walk *w, int64_t part,
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
static int64_t pick(krein_divide *d, const int32_t *owner, int64_t part, const float *z,
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

static krein_status add_shuffled(krein_divide *d, const krein_source *s, const int64_t *part,
                                 int64_t count) {
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
static krein_status add_group(krein_divide *d, walk *w, const int64_t *part, int64_t count) {
    krein_status st = KREIN_OK;
    for (int64_t i = 0; i < count; i++)
        TRY(krein__ridge_begin(d->job->ctx, d->b.z.width, d->columns, d->b.z.rows, &d->sum[i]));
    for (int64_t s = 0; s < d->sources; s++) {
        const krein_source *of = &d->from[s];
        if (d->shared) TRY(walk_begin(of->stream, of->streams, of->cut.first, &w[s]));
        if (d->from[s].cut.owner) TRY(add_shuffled(d, &d->from[s], part, count));
        for (int64_t i = 0; i < count && !d->from[s].cut.owner; i++)
            TRY(add_in_order(d, &d->from[s], &w[s], part[i], &d->sum[i]));
    }
    if (d->from[0].cut.joint) TRY(krein__ridge_together(&d->sum[0], d->job->rows));
done:
    return st;
}

static void clear_group(krein_divide *d) {
    for (int64_t i = 0; i < d->slots; i++) {
        krein__ridge_clear(&d->sum[i]);
        krein__system_clear(d->job->ctx, &d->system[i]);
    }
}

/* Parts whose rows have no weight stay without a system. */
static krein_status make_systems(krein_divide *d, int64_t count, double lambda) {
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

krein_status krein__divide_visit(krein_divide *d, const int64_t *part, int64_t parts, double lambda,
                                 krein_divide_work *work, void *state) {
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
double krein__divide_share(const krein_divide *d, const krein_system *s) {
    if (!s->G) return 0;
    return d->columns > d->job->model->k ? s->weight * s->ymean[s->k - 1] : s->weight;
}

/* Parts are on several processes. */
bool krein__divided(const krein_divide *d) { return d->from[0].cut.rank != NULL; }

/* ---- the fit ------------------------------------------------------------ */

typedef struct average {
    krein_divide *d;
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

static krein_status add_parts(krein_divide *d, void *state, int64_t first, int64_t count) {
    (void)first;
    krein_status st = KREIN_OK;
    average *a = state;
    int64_t k = d->job->model->k, size = d->b.z.width * k;
    double each[KREIN_LOO_PARTS];
    for (int64_t i = 0; i < count; i++) each[i] = krein__divide_share(d, &d->system[i]);
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

static krein_status solve_parts(krein_divide *d) {
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
    TRY(krein__divide_visit(d, part, parts, a.lambda, add_parts, &a));
    if (krein__divided(d)) { /* the one message: the weights of a model */
        TRY(krein__stream_sum(d->job->rows, size, a.sum_w));
        TRY(krein__stream_sum(d->job->rows, m->k, a.sum_b));
        TRY(krein__stream_sum(d->job->rows, 1, &a.weight));
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
    if (shuffle) many = krein__max(many, room < KREIN_LOO_PARTS ? (int64_t)room : KREIN_LOO_PARTS);
    return krein__min(parts, krein__min(many, KREIN_LOO_PARTS));
}

/* Of rows with labels and of those without, or NULL. */
typedef struct cuts {
    const krein_cut *labelled, *unlabelled;
} cuts;

static krein_status begin(krein_job *job, const cuts *c, bool fused, krein_divide *d) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    const krein_map *map = job->model->map;
    const krein_cut *cut = c->labelled;
    int64_t k = job->model->k, rows = krein__block_rows(map->d);
    *d = (krein_divide){.job = job, .sources = 1, .columns = k};
    d->from[0] = (krein_source){.stream = &job->rows, .streams = 1, .cut = *cut, .labelled = true};
    if (c->unlabelled) {
        d->from[d->sources++] = (krein_source){.stream = job->unlabelled.rows,
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

static void end(krein_divide *d) {
    krein_ctx *ctx = d->job->ctx;
    krein__krr_end(ctx, &d->b);
    void *all[] = {d->sum, d->system, d->y, d->part_z, d->part_y, d->part_w};
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) krein__free(ctx, all[i]);
}

static krein_status fit_blocks(krein_job *job, int64_t pass, bool fused, const void *state) {
    krein_status st = KREIN_OK;
    (void)pass; /* of checkpoints, which it does not keep */
    krein_divide d;
    TRY(begin(job, state, fused, &d));
    if (job->lambda < 0)
        TRY(job->folds > 0 ? krein__krr_choose_folds(job, &d.b) : krein__divide_choose(&d));
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
    double rows = (double)krein__block_rows(map->d),
           N = (double)krein__divide_loo_rows(n, k, (int64_t)D);
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
