/* kmeans.c -- Lloyd's k-means on a table of features, several runs side by side
 *
 *     minimise  sum_i w_i |z_i - c(i)|^2,   c(i) the nearest of m centres, w_i weights of the rows
 *
 * A row of weight w counts as w equal rows: seeds are drawn by w, centres are weighted means.
 * Each run starts from k-means++ seeds (arthur2007; the best of some candidates for each, as its
 * authors suggest) and alternates between nearest centres and
 * means (lloyd1982) until no row moves. The runs go through the table together: a block of features
 * is made or read once for all of them, and the nearest centres of all runs are one matrix product,
 *
 *     |c|^2 - 2 <z, c>     float32, ties to the lowest number.
 *
 * Sums of the rows of a cluster are float64 and follow the moves: only a row that changes its
 * cluster is taken off one sum and put on another, in the order of rows, columns shared among the
 * threads. Nothing depends on the number of threads, or on whether the table is kept. Runs that
 * have settled leave the product. At most 256 centres go side by side; further runs come after.
 *
 * All runs stop when fewer than one row in a thousand moves; the best of them then goes on alone
 * until none does. (The last steps of a run are many and change its inertia little.)
 *
 * A cluster left empty takes the row that is farthest from its centre. At the end the sums of
 * squared distances are taken in float64 and the best run is kept.
 *
 * Cost of a step: 2 n D m flops for each run, and n D for the rows that move. */
#include "solve/kmeans.h"

#include "num/centres.h"

#include <math.h>
#include <string.h>

enum { ABREAST = 256, STRIPE = 64, FEW = 1000 };

static int64_t runs_abreast(const krein_kmeans_options *o) {
    return krein__max(1, krein__min(o->restarts, ABREAST / o->clusters));
}

typedef struct work {
    krein_ctx *ctx;
    krein_features *t;
    const krein_kmeans_options *o;
    int64_t m, tries;            /* clusters, candidates for each seed */
    int64_t runs, first;         /* runs side by side; the number of the first */
    int64_t *active, nactive;    /* runs that go on */
    int32_t *cluster;            /* n x runs, -1: none yet */
    double *sum;                 /* runs x m x D */
    int64_t *count, *steps;      /* runs x m: rows with a weight; runs */
    double *mass;                /* runs x m: sums of weights */
    bool *settled;               /* runs */
    double *near;                /* runs x n: distances to the seeds, then to the centres */
    double *square;              /* n: |z|^2 */
    float *centre, *centre2;     /* nactive x m x D, |c|^2 */
    int32_t *nearest;            /* of a block: rows x nactive */
    float *gain, *scratch, *row; /* likewise; candidates, runs x tries x D */
    double *part, *total;        /* of the candidates */
    int64_t *moved;              /* of a block */
} work;

static void work_end(work *w) {
    krein_ctx *ctx = w->ctx;
    void *all[] = {w->active, w->cluster, w->sum,    w->count,   w->steps, w->settled,
                   w->near,   w->square,  w->centre, w->centre2, w->gain,  w->scratch,
                   w->row,    w->nearest, w->moved,  w->part,    w->total, w->mass};
    for (int64_t k = 0; k < KREIN__COUNT(all); k++) krein__free(ctx, all[k]);
}

static krein_status work_begin(work *w) {
    krein_ctx *ctx = w->ctx;
    krein_status st = KREIN_OK;
    int64_t n = w->t->n, D = w->t->D, rows = w->t->rows, all = w->runs * w->m;
    NEW(w->active, w->runs);
    NEW(w->cluster, n * w->runs);
    NEW(w->sum, all * D);
    NEW(w->count, all);
    NEW(w->mass, all);
    NEW(w->steps, w->runs);
    NEW(w->settled, w->runs);
    NEW(w->near, w->runs * n);
    NEW(w->square, n);
    NEW(w->centre, all * D);
    NEW(w->centre2, all);
    NEW(w->nearest, rows * w->runs);
    NEW(w->gain, rows * w->runs);
    NEW(w->moved, rows * w->runs);
    NEW(w->scratch, krein__centres_scratch(ctx, krein__max(w->m, w->tries), w->runs));
    NEW(w->row, w->runs * w->tries * D);
    NEW(w->part, krein__centres_parts(rows, w->tries, w->runs));
    NEW(w->total, w->runs * w->tries);
done:
    return st;
}

double krein__kmeans_features_bytes(int64_t n, int64_t D, int64_t rows,
                                    const krein_kmeans_options *o, int threads) {
    int64_t tries = krein__centres_tries(o->clusters), wide = krein__max(tries, o->clusters);
    double runs = (double)runs_abreast(o), all = runs * (double)o->clusters, d = (double)D;
    return (double)n * (12 * runs + 8 + 4) + all * (12 * d + 20) +
           768.0 * threads * runs * (double)wide + (double)rows * runs * 16 +
           runs * (double)tries * (4 * d + 8 + (double)rows / 16) +
           8 * (double)o->clusters * (d + 1) + 65536;
}

krein_status krein__kmeans_too_few(krein_ctx *ctx, int64_t distinct, int64_t m) {
    return krein__fail(
        ctx, KREIN_EDATA,
        "k-means: only %lld of the rows are different to the kernel, fewer than %lld "
        "clusters; ask for fewer clusters, or use a kernel or map that tells more "
        "rows apart",
        (long long)distinct, (long long)m);
}

/* ---- seeds -------------------------------------------------------------- */

static krein_status read_row(krein_features *t, int64_t i, float *out) {
    const float *z;
    int64_t n;
    krein_status st = krein__features_block(t, i / t->rows, &z, &n);
    if (st == KREIN_OK) memcpy(out, z + i % t->rows * t->D, (size_t)t->D * sizeof *out);
    return st;
}

/* near of every run, shortened to its newest seed, which stands in w->row. */
static krein_status approach(work *w) {
    krein_features *t = w->t;
    for (int64_t b = 0; b < t->blocks; b++) {
        const float *z;
        int64_t n;
        krein_status st = krein__features_block(t, b, &z, &n);
        if (st != KREIN_OK) return st;
        krein_rows x = krein__rows_dense(n, t->D, z, t->D);
        for (int64_t r = 0; r < w->runs; r++)
            krein__centres_approach(w->ctx, &x, w->row + r * t->D, w->o->least,
                                    w->near + r * t->n + b * t->rows);
    }
    return krein__poll(w->ctx);
}

int64_t krein__kmeans_first(const krein_kmeans_options *o, int64_t n, int64_t run) {
    if (!o->weight)
        return (int64_t)krein__rng_below(o->rng, (uint64_t)run, UINT64_MAX, (uint64_t)n);
    return krein__centres_draw(n, o->weight, NULL,
                               krein__rng_uniform(o->rng, (uint64_t)run, UINT64_MAX));
}

/* Candidates for seed k of every run, in w->row: drawn by their distance. */
static krein_status draw(work *w, int64_t k) {
    krein_features *t = w->t;
    krein_status st = KREIN_OK;
    for (int64_t q = 0; q < w->runs * w->tries; q++) {
        krein_rng g = w->o->rng;
        int64_t r = q / w->tries;
        uint64_t run = (uint64_t)(w->first + r), at = (uint64_t)(k * w->tries + q % w->tries);
        int64_t i = k == 0 ? krein__kmeans_first(w->o, t->n, w->first + r)
                           : krein__centres_draw(t->n, w->near + r * t->n, w->o->weight,
                                                 krein__rng_uniform(g, run, at));
        if (i < 0) return krein__kmeans_too_few(w->ctx, k, w->m);
        TRY(read_row(t, i, w->row + q * t->D));
    }
done:
    return st;
}

/* The best candidate of each run becomes the first `runs` rows of w->row. */
static krein_status choose(work *w) {
    krein_features *t = w->t;
    krein_status st = KREIN_OK;
    memset(w->total, 0, (size_t)(w->runs * w->tries) * sizeof *w->total);
    for (int64_t b = 0; b < t->blocks; b++) {
        const float *z;
        int64_t n;
        TRY(krein__features_block(t, b, &z, &n));
        krein_rows x = krein__rows_dense(n, t->D, z, t->D);
        krein__centres_try(w->ctx, &x, w->tries, w->runs, w->row, w->square + b * t->rows,
                           w->o->weight ? w->o->weight + b * t->rows : NULL, w->near + b * t->rows,
                           t->n, w->scratch, w->part, w->total);
    }
    for (int64_t r = 0; r < w->runs; r++) {
        int64_t best = r * w->tries;
        for (int64_t q = best + 1; q < (r + 1) * w->tries; q++)
            if (w->total[q] < w->total[best]) best = q;
        memmove(w->row + r * t->D, w->row + best * t->D, (size_t)t->D * sizeof *w->row);
    }
done:
    return st;
}

/* Centres of all runs by k-means++. */
static krein_status seed(work *w) {
    krein_features *t = w->t;
    krein_status st = KREIN_OK;
    for (int64_t i = 0; i < w->runs * t->n; i++) w->near[i] = INFINITY;
    for (int64_t k = 0; k < w->m; k++) {
        TRY(draw(w, k));
        TRY(choose(w));
        for (int64_t r = 0; r < w->runs; r++)
            memcpy(w->centre + (r * w->m + k) * t->D, w->row + r * t->D,
                   (size_t)t->D * sizeof *w->row);
        if (k + 1 < w->m) TRY(approach(w));
        krein__progress(w->ctx, "starting points", (double)(k + 1), (double)w->m);
    }
done:
    return st;
}

/* ---- steps -------------------------------------------------------------- */

static void block_squares(const krein_features *t, const float *z, int64_t n, double *square) {
#pragma omp parallel for num_threads(t->ctx->threads) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t j = 0; j < t->D; j++) sum += (double)z[i * t->D + j] * (double)z[i * t->D + j];
        square[i] = sum;
    }
}

static krein_status squares(work *w) {
    for (int64_t b = 0; b < w->t->blocks; b++) {
        const float *z;
        int64_t n;
        krein_status st = krein__features_block(w->t, b, &z, &n);
        if (st != KREIN_OK) return st;
        block_squares(w->t, z, n, w->square + b * w->t->rows);
    }
    return KREIN_OK;
}

/* Row i of the block goes from one sum to the other, for each of the moves (i * nactive + a). */
static void move_rows(work *w, const float *z, int64_t first, int64_t moves) {
    int64_t D = w->t->D, stripes = (D + STRIPE - 1) / STRIPE;
#pragma omp parallel for num_threads(w->ctx->threads) schedule(static) if (moves * D > 65536)
    for (int64_t s = 0; s < stripes; s++) {
        int64_t from = s * STRIPE, to = krein__min(from + STRIPE, D);
        for (int64_t q = 0; q < moves; q++) {
            int64_t i = w->moved[q] / w->nactive, run = w->active[w->moved[q] % w->nactive];
            int64_t old = w->cluster[(first + i) * w->runs + run], new = w->nearest[w->moved[q]];
            const float *row = z + i * D;
            double *add = w->sum + (run * w->m + new) * D;
            double *take = old < 0 ? NULL : w->sum + (run * w->m + old) * D;
            double weight = krein__kmeans_weight(w->o, first + i);
            for (int64_t j = from; j < to; j++) add[j] += weight * (double)row[j];
            for (int64_t j = from; take && j < to; j++) take[j] -= weight * (double)row[j];
        }
    }
}

/* Counts and mass for a row that goes from one cluster of a run (-1: none) to another. */
static void recount(work *w, int64_t run, int64_t row, int32_t from, int32_t to) {
    double weight = krein__kmeans_weight(w->o, row), *mass = w->mass + run * w->m;
    int64_t *count = w->count + run * w->m;
    if (weight == 0) return;
    if (from >= 0) mass[from] = --count[from] > 0 ? mass[from] - weight : 0;
    count[to]++;
    mass[to] += weight;
}

/* Nearest centres of a block of rows; sums, counts and clusters follow. changed: of the runs. */
static void assign(work *w, const float *z, int64_t first, int64_t n, int64_t *changed) {
    int64_t D = w->t->D, moves = 0;
    krein_rows x = krein__rows_dense(n, D, z, D);
    krein__centres_assign(w->ctx, &x, w->m, w->nactive, w->centre, w->centre2, w->scratch,
                          w->nearest, w->gain);
    for (int64_t i = 0; i < n; i++)
        for (int64_t a = 0; a < w->nactive; a++) {
            int64_t run = w->active[a], at = i * w->nactive + a;
            double near = fmax(0, w->square[first + i] + (double)w->gain[at]);
            /* a row without weight is no centre */
            w->near[run * w->t->n + first + i] =
                krein__kmeans_weight(w->o, first + i) > 0 ? near : 0;
            if (w->nearest[at] != w->cluster[(first + i) * w->runs + run]) w->moved[moves++] = at;
        }
    move_rows(w, z, first, moves);
    for (int64_t q = 0; q < moves; q++) {
        int64_t i = w->moved[q] / w->nactive, run = w->active[w->moved[q] % w->nactive];
        int32_t *cluster = &w->cluster[(first + i) * w->runs + run], to = w->nearest[w->moved[q]];
        recount(w, run, first + i, *cluster, to);
        *cluster = to;
        changed[run]++;
    }
}

/* A single row of one run moves. */
typedef struct mover {
    work *w;
    int64_t run;
} mover;

static krein_status move_one(void *state, int64_t row, int32_t to) {
    mover *v = state;
    work *w = v->w;
    int64_t D = w->t->D;
    int32_t *cluster = &w->cluster[row * w->runs + v->run];
    krein_status st = read_row(w->t, row, w->row);
    if (st != KREIN_OK) return st;
    double *add = w->sum + (v->run * w->m + to) * D,
           *take = w->sum + (v->run * w->m + *cluster) * D;
    double weight = krein__kmeans_weight(w->o, row);
    for (int64_t j = 0; j < D; j++) {
        add[j] += weight * (double)w->row[j];
        take[j] -= weight * (double)w->row[j];
    }
    recount(w, v->run, row, *cluster, to);
    *cluster = to;
    return KREIN_OK;
}

krein_status krein__kmeans_fill(int64_t n, int64_t m, const int32_t *cluster, int64_t stride,
                                const int64_t *count, double *distance, krein_kmeans_move move,
                                void *state, int64_t *filled) {
    *filled = 0;
    for (int64_t c = 0; c < m; c++) {
        if (count[c] > 0) continue;
        int64_t far = -1;
        for (int64_t i = 0; i < n; i++)
            if (distance[i] > (far < 0 ? 0 : distance[far]) && count[cluster[i * stride]] > 1)
                far = i;
        if (far < 0) return KREIN_OK; /* every row is a centre */
        distance[far] = 0;
        krein_status st = move(state, far, (int32_t)c);
        if (st != KREIN_OK) return st;
        ++*filled;
    }
    return KREIN_OK;
}

/* The centres of the active runs, packed for the product. An empty cluster, where nothing could
 * fill it, is as far away as can be. */
static void pack(work *w) {
    int64_t D = w->t->D, m = w->m;
    for (int64_t a = 0; a < w->nactive; a++)
        for (int64_t c = 0; c < m; c++) {
            int64_t from = w->active[a] * m + c;
            for (int64_t j = 0; j < D; j++)
                w->centre[(a * m + c) * D + j] =
                    w->count[from] ? (float)(w->sum[from * D + j] / w->mass[from]) : 0;
        }
    krein__centres_squares(w->nactive * m, D, w->centre, w->centre2);
    for (int64_t a = 0; a < w->nactive; a++)
        for (int64_t c = 0; c < m; c++)
            if (!w->count[w->active[a] * m + c]) w->centre2[a * m + c] = INFINITY;
}

/* One step of all active runs; those in which no more than `few` rows moved are done. changed: room
 * for runs. */
static krein_status step(work *w, int64_t few, int64_t *changed) {
    krein_features *t = w->t;
    krein_status st = KREIN_OK;
    memset(changed, 0, (size_t)w->runs * sizeof *changed);
    for (int64_t b = 0; b < t->blocks; b++) {
        const float *z;
        int64_t n;
        TRY(krein__features_block(t, b, &z, &n));
        assign(w, z, b * t->rows, n, changed);
    }
    int64_t left = 0;
    for (int64_t a = 0; a < w->nactive; a++) {
        int64_t run = w->active[a], filled;
        mover v = {w, run};
        TRY(krein__kmeans_fill(t->n, w->m, w->cluster + run, w->runs, w->count + run * w->m,
                               w->near + run * t->n, move_one, &v, &filled));
        w->steps[run]++;
        w->settled[run] = changed[run] + filled == 0;
        if (changed[run] + filled > few && w->steps[run] < w->o->steps) w->active[left++] = run;
    }
    w->nactive = left;
    pack(w);
    TRY(krein__poll(w->ctx));
done:
    return st;
}

static krein_status go(work *w, int64_t few) {
    krein_ctx *ctx = w->ctx;
    krein_status st = KREIN_OK;
    int64_t *changed = NULL;
    NEW(changed, w->runs);
    for (int64_t k = 0; w->nactive > 0; k++) {
        TRY(step(w, few, changed));
        krein__progress(ctx, "k-means steps", (double)(k + 1), 0);
    }
done:
    krein__free(ctx, changed);
    return st;
}

/* All runs from their seeds, but for the last steps. */
static krein_status lloyd(work *w) {
    int64_t all = w->runs * w->m;
    for (int64_t r = 0; r < w->runs; r++) {
        w->active[r] = r;
        w->steps[r] = 0;
        w->settled[r] = false;
    }
    w->nactive = w->runs;
    memset(w->sum, 0, (size_t)(all * w->t->D) * sizeof *w->sum);
    memset(w->count, 0, (size_t)all * sizeof *w->count);
    memset(w->mass, 0, (size_t)all * sizeof *w->mass);
    for (int64_t i = 0; i < w->t->n * w->runs; i++) w->cluster[i] = -1;
    krein__centres_squares(all, w->t->D, w->centre, w->centre2);
    return go(w, w->t->n / FEW);
}

/* The last steps of one run. */
static krein_status finish(work *w, int64_t run) {
    if (w->settled[run] || w->steps[run] >= w->o->steps) return KREIN_OK;
    w->active[0] = run;
    w->nactive = 1;
    pack(w);
    return go(w, 0);
}

/* ---- the best run ------------------------------------------------------- */

static void distances(const work *w, const float *z, int64_t first, int64_t n, int64_t run) {
    int64_t D = w->t->D;
#pragma omp parallel for num_threads(w->ctx->threads) schedule(static)
    for (int64_t i = first; i < first + n; i++) {
        int64_t c = run * w->m + w->cluster[i * w->runs + run];
        const float *row = z + (i - first) * D;
        double sum = 0, scale = w->count[c] ? 1 / w->mass[c] : 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t j = 0; j < D; j++) {
            double e = (double)row[j] - w->sum[c * D + j] * scale;
            sum += e * e;
        }
        w->near[run * w->t->n + i] = sum;
    }
}

/* Of the runs first .. last - 1. */
static krein_status inertias(work *w, int64_t first_run, int64_t last, double *inertia) {
    krein_features *t = w->t;
    for (int64_t r = first_run; r < last; r++) inertia[r] = 0;
    for (int64_t b = 0; b < t->blocks; b++) {
        const float *z;
        int64_t n, first = b * t->rows;
        krein_status st = krein__features_block(t, b, &z, &n);
        if (st != KREIN_OK) return st;
        for (int64_t r = first_run; r < last; r++) {
            distances(w, z, first, n, r);
            for (int64_t i = first; i < first + n; i++)
                inertia[r] += krein__kmeans_weight(w->o, i) * w->near[r * t->n + i];
        }
    }
    return KREIN_OK;
}

static void keep(const work *w, int64_t run, double inertia, krein_kmeans *out) {
    int64_t D = w->t->D;
    out->inertia = inertia;
    out->steps = w->steps[run];
    out->settled = w->settled[run];
    for (int64_t i = 0; i < w->t->n; i++) out->cluster[i] = w->cluster[i * w->runs + run];
    krein__kmeans_count(w->t->n, w->m, out);
    for (int64_t c = 0; c < w->m; c++) {
        int64_t from = run * w->m + c;
        out->mass[c] = w->mass[from];
        for (int64_t j = 0; j < D; j++)
            out->centre[c * D + j] = w->count[from] ? w->sum[from * D + j] / w->mass[from] : 0;
    }
}

krein_status krein__kmeans_features(krein_features *t, const krein_kmeans_options *o,
                                    krein_kmeans *out) {
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    double *inertia = NULL;
    work w = {.ctx = ctx, .t = t, .o = o, .m = o->clusters, .runs = runs_abreast(o)};
    w.tries = krein__centres_tries(w.m);
    memset(out, 0, sizeof *out);
    out->inertia = INFINITY;
    NEW(out->cluster, t->n);
    NEW(out->size, w.m);
    NEW(out->mass, w.m);
    NEW(out->centre, w.m * t->D);
    NEW(inertia, w.runs);
    TRY(work_begin(&w));
    TRY(squares(&w));
    for (; w.first < o->restarts; w.first += w.runs) {
        w.runs = krein__min(w.runs, o->restarts - w.first);
        TRY(seed(&w));
        TRY(lloyd(&w));
        TRY(inertias(&w, 0, w.runs, inertia));
        int64_t best = 0;
        for (int64_t r = 0; r < w.runs; r++) {
            krein__log(ctx, KREIN_LOG_DEBUG, "k-means run %lld: inertia %.9g after %lld steps",
                       (long long)(w.first + r + 1), inertia[r], (long long)w.steps[r]);
            if (inertia[r] < inertia[best]) best = r;
        }
        if (!(inertia[best] < out->inertia)) continue;
        TRY(finish(&w, best));
        TRY(inertias(&w, best, best + 1, inertia));
        keep(&w, best, inertia[best], out);
    }
    if (!isfinite(out->inertia))
        st = krein__fail(ctx, KREIN_ENUMERIC, "k-means: the distances are not finite");
done:
    krein__free(ctx, inertia);
    work_end(&w);
    return st;
}

void krein__kmeans_count(int64_t n, int64_t m, krein_kmeans *r) {
    memset(r->size, 0, (size_t)m * sizeof *r->size);
    for (int64_t i = 0; i < n; i++) r->size[r->cluster[i]]++;
}

void krein__kmeans_clear(krein_ctx *ctx, krein_kmeans *r) {
    krein__free(ctx, r->cluster);
    krein__free(ctx, r->size);
    krein__free(ctx, r->mass);
    krein__free(ctx, r->centre);
    memset(r, 0, sizeof *r);
}
