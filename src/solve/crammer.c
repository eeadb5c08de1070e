/* crammer -- the multi-class machine of Crammer and Singer (crammer2001) on features, by the
 * sequential dual method (keerthi2008)
 *
 *     min over w, b   1/2 sum_m |w_m|^2 + sum_i C_i max_m (e_im + f_im - f_iy),
 *     f_im = w_m'z_i + b_m,   e_im = 1 - [m = y_i]
 *
 * The largest of k numbers is their largest convex combination. With p_i its weights and alpha_im =
 * C_i ([m = y_i] - p_im) the dual is
 *
 *     max  - 1/2 sum_m |w_m|^2 - sum_im e_im alpha_im,   w_m = sum_i alpha_im z_i,
 *     sum_m alpha_im = 0,   alpha_im <= C_i [m = y_i],   and sum_i alpha_im = 0 where b is free.
 *
 * One row at a time, all its classes at once: with G_m = f_im + e_im and H = |z_i|^2 + B^2, the new
 * alpha_i minimises  sum_m H/2 (a_m - alpha_im)^2 + G_m a_m  under the first two constraints. With
 * u_m = C_i [m = y_i] and V_m = G_m - H alpha_im + H u_m that is
 *
 *     a_m = u_m - max(0, V_m - v) / H,   v such that  sum_m max(0, V_m - v) = H C_i,
 *
 * the projection onto a simplex (krein__water_level, in place of the paper's sorting).
 *
 * The intercepts are multipliers of sum_i alpha_im = 0, as in dcd.c: b_m = base_m + B^2 sum_i
 * alpha_im, and base <- b after each check. B^2 is first a tenth of the mean |z|^2, which keeps the
 * steps long, and grows up to the mean where a check finds the sums not half of what they were.
 *
 * Pairs of row and class whose alpha is at its bound and whose G is below those of all that could
 * grow, by more than a tenth of the largest violation of the last pass, are left out of the passes
 * that follow (shrinking); most rows soon look at a few classes only. A row violates by max_m G_m -
 * min over alpha_im < u_m of G_m. When the largest violation is below an inner tolerance, a pass
 * over all rows checks, by matrix products:
 *
 *     primal   at the mean of w and b over the passes since the last check, later ones with more
 *              weight: where C is large the steps of single rows leave noise in w,
 *     dual     at an alpha that satisfies all constraints, see below.
 *
 * sum_i alpha_im = 0 is made true (multiclass_dual.c) by making some p_im smaller in proportion;
 * p_iy gains.
 *
 * The difference of the least primal and the largest dual value seen is therefore a bound of the
 * distance from the optimum without further assumptions. It ends where that is <= tol primal (or
 * tol 1e-6 sum C, where nothing is lost), or where 20 checks have gained nothing. The
 * repaired alpha, and w summed anew in float64, are where the next passes start.
 *
 * Blocks are visited in a random order, the rows of a block in a random order, all from the seed.
 * Scores are float32, which leaves about 1e-7 sum_i C_i |w| |z| of the gap: classes that C large
 * separates without a loss cannot be told to be optimal to a small tol.
 *
 * One row changes what the next one sees: passes have one thread; checks have all. A pass costs 2
 * D flops for each pair visited and as many again for each that changes. The paper's method has no
 * intercept, and LIBLINEAR's (-s 4) a penalised one.
 */
#include "solve/crammer.h"
#include "base/rng.h"
#include "base/spec.h"
#include "num/blas.h"
#include "solve/multiclass_dual.h"
#include "solve/order.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { ROWS = 256, COLUMNS = 128, WORKERS = 16, CLASSES_MAX = 65535, IDLE = 20 };
static const double WORK = 300;      /* passes over all pairs, at most, */
static const double FLOPS = 5e8;     /* or multiplications where these are more */
static const double BETWEEN = 20;    /* passes over all pairs without a check, at most */
static const double LEAST = 0.02;    /* what a pass counts for: features may be made again */
static const double INNER = 0.5;     /* first inner tolerance; margins are 1 */
static const double ROUNDING = 1e-6; /* of sum C, what w = 0 loses: tol refers to no less */
static const double SHRINK = 0.1;    /* of the last pass' largest violation */
static const double PENALTY = 0.1;   /* first B^2, of the mean |z|^2 */
static const double FINEST = 1e-7;   /* no inner tolerance below: scores are float32 */

typedef struct solver {
    krein_ctx *ctx;
    krein_features *z;
    const krein_machine_options *o;
    krein_crammer *m;
    int64_t n, k, D;
    int64_t per_block, tiles; /* tiles of ROWS rows: of a block, in all */
    int64_t *start;           /* tiles + 1: where their rows begin in m */
    int32_t *order;           /* n: rows of m by block, those visited first */
    int32_t *visited;         /* blocks: how many are */
    int32_t *count;           /* n: classes of a row that are visited */
    uint16_t *class;          /* n x k: its classes, those visited first */
    float *norm;              /* n: H without B^2 */
    float *w;                 /* k x D */
    double *b;                /* k */
    float *mean_w;            /* k x D: mean over the passes since the last check */
    double *mean_b;           /* k */
    int64_t averaged;         /* passes in it */
    double *fresh;            /* k x D: sum alpha z, by a check */
    double *loss;             /* tiles: by a check */
    double *G, *V;            /* k, of one row */
    double penalty, mean;     /* B^2, 0: no intercept; mean |z|^2 */
    double taken;             /* flow that the last check took away */
    double inner, violation, last_violation;
    double visits, since; /* pairs; of them since the last check */
    float *score;         /* workers x ROWS x k */
    double *wide;         /* workers x ROWS x COLUMNS */
    int workers;
    int idle;    /* checks without a gain */
    double cost; /* sum of C */
} solver;

static int32_t row_of(const krein_crammer *m, int64_t i) { return m->row ? m->row[i] : (int32_t)i; }

/* ---- one row ------------------------------------------------------------ */

static double bound(const krein_crammer *m, int64_t i, int64_t class) {
    return class == m->class[i] ? m->cost[i] : 0;
}

/* G of the classes visited; what the row violates by. *least: of those that can grow. */
static double gradient(const solver *v, int64_t i, const float *row, double *least) {
    const uint16_t *class = v->class + i * v->k;
    const double *alpha = v->m->alpha + i * v->k;
    double high = -INFINITY, low = INFINITY;
    for (int64_t a = 0; a < v->count[i]; a++) {
        int64_t c = class[a];
        double g = (double)krein__sdot(v->D, v->w + c * v->D, row) + v->b[c];
        g += c != v->m->class[i];
        v->G[a] = g;
        high = fmax(high, g);
        if (alpha[c] < bound(v->m, i, c)) low = fmin(low, g);
    }
    *least = low;
    return fmax(high - low, 0);
}

/* Leaves out classes that stay at their bound. */
static void shrink(const solver *v, int64_t i, double least) {
    uint16_t *class = v->class + i * v->k;
    const double *alpha = v->m->alpha + i * v->k;
    double below = least - SHRINK * v->last_violation;
    for (int64_t a = 0; a < v->count[i]; a++) {
        uint16_t c = class[a];
        if (!(v->G[a] < below) || alpha[c] < bound(v->m, i, c)) continue;
        int64_t last = --v->count[i];
        class[a] = class[last];
        class[last] = c;
        v->G[a] = v->G[last];
        a--;
    }
}

/* The best alpha of the row's visited classes, and w and b with it. */
static void step(solver *v, int64_t i, const float *row) {
    const uint16_t *class = v->class + i * v->k;
    double *alpha = v->m->alpha + i * v->k;
    double H = (double)v->norm[i] + v->penalty;
    int64_t n = v->count[i];
    for (int64_t a = 0; a < n; a++)
        v->V[a] = v->G[a] + H * (bound(v->m, i, class[a]) - alpha[class[a]]);
    double level = krein__water_level(n, v->V, H * v->m->cost[i], 0);
    for (int64_t a = 0; a < n; a++) {
        int64_t c = class[a];
        double best = bound(v->m, i, c) - fmax(0, v->V[a] - level) / H;
        double change = best - alpha[c];
        if (change == 0) continue;
        alpha[c] = best;
        v->b[c] += v->penalty * change;
        krein__saxpy(v->D, (float)change, row, v->w + c * v->D);
    }
}

/* ---- a pass ------------------------------------------------------------- */

static uint64_t seed_of(const solver *v, int64_t block) {
    krein_rng g = {v->o->seed, KREIN_STREAM_CRAMMER};
    return krein__rng_bits(g, (uint64_t)v->m->passes, (uint64_t)block);
}

static int64_t block_start(const solver *v, int64_t block) {
    return v->start[krein__min(block * v->per_block, v->tiles)];
}

static krein_status pass_block(solver *v, int64_t block) {
    krein_status st = KREIN_OK;
    int32_t *order = v->order + block_start(v, block);
    const float *z;
    int64_t n, first = block * v->z->rows;
    if (v->visited[block] == 0) return KREIN_OK;
    TRY(krein__features_block(v->z, block, &z, &n));
    krein__shuffle(order, v->visited[block], seed_of(v, block));
    krein_compute compute = krein__compute_begin();
    for (int64_t q = 0; q < v->visited[block]; q++) {
        int64_t i = order[q];
        const float *row = z + (row_of(v->m, i) - first) * v->D;
        double least;
        v->visits += v->count[i];
        double violation = gradient(v, i, row, &least);
        shrink(v, i, least);
        if (v->count[i] <= 1) { /* nothing to exchange with */
            int32_t last = order[--v->visited[block]];
            order[v->visited[block]] = order[q];
            order[q--] = last;
            continue;
        }
        v->violation = fmax(v->violation, violation);
        if (violation > 1e-12) step(v, i, row);
    }
    krein__compute_end(compute);
    st = krein__poll(v->ctx);
done:
    return st;
}

/* Takes w and b into their means, late passes with more weight (t^3 in the end). */
static void average(solver *v) {
    float share = (float)(4 / (double)(++v->averaged + 3));
    for (int64_t e = 0; e < v->k * v->D; e++) v->mean_w[e] += share * (v->w[e] - v->mean_w[e]);
    for (int64_t c = 0; c < v->k; c++) v->mean_b[c] += (double)share * (v->b[c] - v->mean_b[c]);
}

static krein_status pass(solver *v, int32_t *blocks) {
    krein_status st = KREIN_OK;
    double before = v->visits;
    v->violation = 0;
    for (int64_t b = 0; b < v->z->blocks; b++) blocks[b] = (int32_t)b;
    krein__shuffle(blocks, v->z->blocks, seed_of(v, v->z->blocks));
    bool first = v->m->passes == 0; /* without it the machine would be zero */
    for (int64_t b = 0; b < v->z->blocks && (first || !krein__late(v->o->deadline)); b++)
        TRY(pass_block(v, blocks[b]));
    v->last_violation = v->violation;
    v->visits = fmax(v->visits, before + LEAST * (double)(v->n * v->k));
    v->since += v->visits - before;
    v->m->passes++;
    average(v);
done:
    return st;
}

static void visit_all(solver *v) {
    for (int64_t b = 0; b < v->z->blocks; b++) {
        int64_t from = block_start(v, b), to = block_start(v, b + 1);
        v->visited[b] = 0;
        for (int64_t i = from; i < to; i++)
            if (v->m->cost[i] > 0) v->order[from + v->visited[b]++] = (int32_t)i;
    }
    for (int64_t i = 0; i < v->n; i++) v->count[i] = (int32_t)v->k;
    v->last_violation = INFINITY; /* the next pass leaves nothing out */
}

/* ---- alpha that satisfies the constraints ------------------------------- */

static void restore_rows(krein_crammer *m) {
    krein__multiclass_restore(m->n, m->classes, m->class, m->cost, m->alpha);
}

/* sum_i alpha_im = 0 for every m. */
static krein_status balance(solver *v) {
    krein_crammer *m = v->m;
    double taken;
    krein_status st =
        krein__multiclass_balance(v->ctx, m->n, m->classes, m->class, m->cost, m->alpha, &taken);
    if (st != KREIN_OK) return st;
    if (taken > v->taken / 2) v->penalty = fmin(2 * v->penalty, v->mean);
    v->taken = taken;
    return KREIN_OK;
}

/* ---- a check ------------------------------------------------------------ */

/* The loss of the rows of a tile; z: its first row. */
static double tile_loss(const solver *v, int64_t tile, int64_t rows, int64_t first, const float *z,
                        float *score) {
    const krein_crammer *m = v->m;
    int64_t k = v->k;
    double sum = 0;
    krein__sgemm(false, true, rows, k, v->D, 1, z, v->D, v->mean_w, v->D, 0, score, k);
    for (int64_t i = v->start[tile]; i < v->start[tile + 1]; i++) {
        const float *f = score + (row_of(m, i) - first) * k;
        double own = (double)f[m->class[i]] + v->mean_b[m->class[i]], most = 0;
        for (int64_t c = 0; c < k; c++)
            if (c != m->class[i]) most = fmax(most, 1 + (double)f[c] + v->mean_b[c] - own);
        sum += m->cost[i] * most;
    }
    return sum;
}

/* Columns `from` to `to` of fresh += alpha' z over the rows of a block. z: row `first`. */
static void add_columns(const solver *v, int64_t tile, int64_t end, int64_t first, const float *z,
                        int64_t from, int64_t to, double *wide) {
    int64_t width = to - from, k = v->k;
    for (; tile < end; tile++) {
        int64_t i0 = v->start[tile], n = v->start[tile + 1] - i0;
        if (n == 0) continue;
        for (int64_t i = 0; i < n; i++) {
            const float *row = z + (row_of(v->m, i0 + i) - first) * v->D + from;
            for (int64_t j = 0; j < width; j++) wide[i * width + j] = (double)row[j];
        }
        krein__dgemm(true, false, k, width, n, 1, v->m->alpha + i0 * k, k, wide, width, 1,
                     v->fresh + from, v->D);
    }
}

/* fresh = sum alpha z; with losses also what w and b lose on every tile. */
static krein_status sum_rows(solver *v, bool losses) {
    krein_status st = KREIN_OK;
    int64_t D = v->D, parts = (D + COLUMNS - 1) / COLUMNS;
    memset(v->fresh, 0, (size_t)(v->k * D) * sizeof *v->fresh);
    for (int64_t block = 0; block < v->z->blocks; block++) {
        const float *z;
        int64_t n, first = block * v->z->rows;
        int64_t tile = block * v->per_block, end = krein__min(tile + v->per_block, v->tiles);
        TRY(krein__features_block(v->z, block, &z, &n));
        krein_compute c = krein__compute_begin();
#pragma omp parallel num_threads(v->workers)
        {
            krein__worker_begin();
            int own = omp_get_thread_num();
#pragma omp for schedule(dynamic) nowait
            for (int64_t p = 0; p < parts; p++)
                add_columns(v, tile, end, first, z, p * COLUMNS, krein__min((p + 1) * COLUMNS, D),
                            v->wide + own * ROWS * COLUMNS);
#pragma omp for schedule(dynamic)
            for (int64_t t = tile; t < (losses ? end : tile); t++) {
                int64_t at = (t - tile) * ROWS;
                v->loss[t] = tile_loss(v, t, krein__min(ROWS, n - at), first + at, z + at * D,
                                       v->score + own * ROWS * v->k);
            }
            krein__worker_end(c);
        }
        krein__compute_end(c);
        TRY(krein__poll(v->ctx));
    }
done:
    return st;
}

static double primal_value(const solver *v) {
    double value = 0;
    for (int64_t e = 0; e < v->k * v->D; e++)
        value += (double)v->mean_w[e] * (double)v->mean_w[e] / 2;
    for (int64_t t = 0; t < v->tiles; t++) value += v->loss[t];
    return value;
}

static double dual_value(const solver *v) {
    const krein_crammer *m = v->m;
    double value = -krein__ddot(v->k * v->D, v->fresh, v->fresh) / 2;
    for (int64_t i = 0; i < m->n; i++) value += m->alpha[i * v->k + m->class[i]];
    return value;
}

/* w and b of the moment, the best so far. */
static void keep(const solver *v) {
    krein_crammer *m = v->m;
    double mean = 0;
    for (int64_t c = 0; c < v->k; c++) mean += v->mean_b[c] / (double)v->k; /* of rounding */
    for (int64_t c = 0; c < v->k; c++) {
        m->b[c] = v->mean_b[c] - mean;
        for (int64_t j = 0; j < v->D; j++) m->w[j * v->k + c] = (double)v->mean_w[c * v->D + j];
    }
}

static krein_status check(solver *v) {
    krein_status st = KREIN_OK;
    krein_crammer *m = v->m;
    if (v->penalty > 0)
        TRY(balance(v));
    else
        restore_rows(m);
    TRY(sum_rows(v, true));
    double primal = primal_value(v), dual = dual_value(v);
    v->idle = primal < m->primal || dual > m->dual_value ? 0 : v->idle + 1;
    if (primal < m->primal) {
        m->primal = primal;
        keep(v);
    }
    m->dual_value = fmax(m->dual_value, dual);
    double size = fmax(fabs(m->primal), ROUNDING * v->cost);
    m->converged = m->primal - m->dual_value <= v->o->tol * size;
    krein__log(v->ctx, KREIN_LOG_DEBUG,
               "crammer, pass %lld: primal %.8g, dual %.8g, violation %.3g of %.3g, work %.3g",
               (long long)m->passes, primal, dual, v->violation, v->inner,
               v->visits / (double)(v->n * v->k));
    for (int64_t e = 0; e < v->k * v->D; e++) v->w[e] = (float)v->fresh[e];
    if (v->violation <= v->inner) v->inner = fmax(v->violation / 2, FINEST);
    v->since = 0;
    v->averaged = 0;
    visit_all(v);
done:
    return st;
}

/* ---- the whole ---------------------------------------------------------- */

static void tile_starts(solver *v) {
    int64_t at = 0;
    for (int64_t t = 0; t <= v->tiles; t++) {
        int64_t row = t / v->per_block * v->z->rows + t % v->per_block * ROWS;
        while (at < v->n && (t == v->tiles || row_of(v->m, at) < row)) at++;
        v->start[t] = at;
    }
}

/* |z|^2, not below a thousandth of the mean: a step that is too short does no harm. */
static krein_status norms(solver *v) {
    krein_status st = KREIN_OK;
    double mean = 0;
    for (int64_t block = 0; block < v->z->blocks; block++) {
        const float *z;
        int64_t n, first = block * v->z->rows;
        TRY(krein__features_block(v->z, block, &z, &n));
        for (int64_t i = block_start(v, block); i < block_start(v, block + 1); i++) {
            const float *row = z + (row_of(v->m, i) - first) * v->D;
            v->norm[i] = krein__sdot(v->D, row, row);
            mean += (double)v->norm[i] / (double)v->n;
        }
    }
    if (!(mean > 0)) mean = 1;
    for (int64_t i = 0; i < v->n; i++) v->norm[i] = fmaxf(v->norm[i], (float)(mean / 1000));
    v->mean = mean;
    v->penalty = v->o->intercept ? PENALTY * mean : 0;
    v->taken = INFINITY;
done:
    return st;
}

/* w and b of the alpha given. */
static krein_status warm_start(solver *v) {
    krein_status st = KREIN_OK;
    krein_crammer *m = v->m;
    bool any = false;
    double mean = 0;
    restore_rows(m);
    for (int64_t e = 0; e < v->n * v->k && !any; e++) any = m->alpha[e] != 0;
    for (int64_t c = 0; c < v->k; c++) mean += m->b[c] / (double)v->k;
    for (int64_t c = 0; c < v->k; c++) v->b[c] = v->o->intercept ? m->b[c] - mean : 0;
    if (!any) return KREIN_OK;
    if (v->penalty > 0) TRY(balance(v));
    TRY(sum_rows(v, false));
    for (int64_t e = 0; e < v->k * v->D; e++) v->w[e] = (float)v->fresh[e];
done:
    return st;
}

static krein_status solver_begin(solver *v) {
    krein_ctx *ctx = v->ctx;
    krein_status st = KREIN_OK;
    int64_t k = v->k, D = v->D;
    int64_t rest = v->z->n - (v->z->blocks - 1) * v->z->rows;
    v->per_block = (v->z->rows + ROWS - 1) / ROWS;
    v->tiles = (v->z->blocks - 1) * v->per_block + (rest + ROWS - 1) / ROWS;
    v->workers = (int)krein__min(ctx->threads, WORKERS);
    v->inner = INNER;
    for (int64_t i = 0; i < v->n; i++) v->cost += v->m->cost[i];
    NEW(v->start, v->tiles + 1);
    NEW(v->order, v->n);
    NEW(v->visited, v->z->blocks);
    NEW(v->count, v->n);
    NEW(v->class, v->n * k);
    NEW(v->norm, v->n);
    ZNEW(v->w, k * D);
    NEW(v->b, k);
    ZNEW(v->mean_w, k * D);
    ZNEW(v->mean_b, k);
    NEW(v->fresh, k * D);
    ZNEW(v->loss, v->tiles);
    NEW(v->G, k);
    NEW(v->V, k);
    NEW(v->score, v->workers * ROWS * k);
    NEW(v->wide, v->workers * ROWS * COLUMNS);
    tile_starts(v);
    for (int64_t e = 0; e < v->n * k; e++) v->class[e] = (uint16_t)(e % k);
    TRY(norms(v));
    TRY(warm_start(v));
    visit_all(v);
done:
    return st;
}

static void solver_end(solver *v) {
    krein_ctx *ctx = v->ctx;
    krein__free(ctx, v->start);
    krein__free(ctx, v->order);
    krein__free(ctx, v->visited);
    krein__free(ctx, v->count);
    krein__free(ctx, v->class);
    krein__free(ctx, v->norm);
    krein__free(ctx, v->w);
    krein__free(ctx, v->b);
    krein__free(ctx, v->mean_w);
    krein__free(ctx, v->mean_b);
    krein__free(ctx, v->fresh);
    krein__free(ctx, v->loss);
    krein__free(ctx, v->G);
    krein__free(ctx, v->V);
    krein__free(ctx, v->score);
    krein__free(ctx, v->wide);
}

static void report(const solver *v, bool stopped) {
    krein_crammer *m = v->m;
    double gap = (m->primal - m->dual_value) / fmax(fabs(m->primal), 1e-300);
    m->support = 0;
    for (int64_t i = 0; i < m->n; i++) m->support += m->alpha[i * v->k + m->class[i]] != 0;
    if (m->converged || stopped)
        krein__log(v->ctx, KREIN_LOG_DEBUG,
                   "crammer: %s after %lld passes, %lld support vectors, gap %.3g",
                   m->converged ? "converged" : "time limit, the best so far", (long long)m->passes,
                   (long long)m->support, gap);
    else
        krein__log(
            v->ctx, KREIN_LOG_WARNING,
            "the machine of all classes at once has not converged: relative gap %.2g, wanted "
            "%.2g, after %lld passes; a smaller C or multi=ovr converges faster",
            gap, v->o->tol, (long long)m->passes);
}

krein_status krein__crammer(krein_features *z, krein_crammer *m, const krein_machine_options *o) {
    krein_ctx *ctx = z->ctx;
    krein_status st = KREIN_OK;
    solver v = {.ctx = ctx, .z = z, .o = o, .m = m, .n = m->n, .k = m->classes, .D = z->D};
    int32_t *blocks = NULL;
    if (m->classes > CLASSES_MAX)
        return krein__fail(ctx, KREIN_ESPEC,
                           "crammer: %lld classes, and at most %d are possible; use multi=ovr",
                           (long long)m->classes, CLASSES_MAX);
    m->passes = m->support = 0;
    m->converged = false;
    m->primal = INFINITY;
    m->dual_value = -INFINITY;
    NEW(blocks, z->blocks);
    TRY(solver_begin(&v));
    double pairs = (double)(m->n * m->classes);
    double limit = fmax(WORK * pairs, FLOPS / (double)(z->D + 32));
    for (bool last = false; !m->converged && !last;) {
        TRY(pass(&v, blocks));
        last = krein__late(o->deadline) || v.visits > limit || v.idle >= IDLE;
        if (last || v.violation <= v.inner || v.since > BETWEEN * pairs) TRY(check(&v));
        if (o->what) krein__progress(ctx, o->what, fmin(v.visits, limit), limit);
    }
    report(&v, krein__late(o->deadline));
done:
    solver_end(&v);
    krein__free(ctx, blocks);
    return st;
}

double krein__crammer_bytes(int64_t rows, int64_t D, int64_t classes) {
    double n = (double)rows, k = (double)classes, tiles = n / ROWS + 2;
    double worker = ROWS * (4 * k + 8 * COLUMNS) + 64;
    return n * (12 + 2 * k) + 16 * k * (double)D + 16 * k * k + 48 * k + 16 * tiles +
           WORKERS * worker + 4096;
}

const krein_class krein__solver_crammer = {
    "crammer", "sequential dual method for the machine of Crammer and Singer", "keerthi2008", NULL,
    "All classes in one machine, on features, with free intercepts by the method of multipliers. "
    "Stops by the duality gap."};
