/* dcd -- support vector machines on features by dual coordinate descent (Hsieh et al. 2008)
 *
 *     min over w, b   1/2 |w|^2 + sum_i loss_i(w'z_i + b)
 *
 * All three losses are conjugate to a quadratic on a box: with beta_i the weight of row i,
 *
 *     loss_i(f) = max over low <= beta <= high of  beta (t - f) - epsilon |beta| - delta beta^2 / 2
 *
 *     hinge     t = y, epsilon = 0, delta = 0,      y beta in [0, C]
 *     hinge2    t = y, epsilon = 0, delta = 1/(2C), y beta in [0, inf)
 *     epsilon   t = the target, delta = 0,          beta in [-C, C]
 *
 * so the dual is   min 1/2 |sum beta z|^2 + sum delta beta^2 / 2 + epsilon |beta| - t beta   over
 * the box, and sum beta = 0 where there is a free intercept. One coordinate at a time: with g =
 * w'z_i + b - t_i + delta beta_i and H = |z_i|^2 + B^2 + delta,
 *
 *     beta_i <- clip(soft(beta_i - g / H, epsilon / H)),   w += (change) z_i.
 *
 * One coordinate cannot move under sum beta = 0. So the intercept is found by the method of
 * multipliers (the proximal point method on b): b = b0 + B^2 sum beta, as if every row had one more
 * feature B, and b0 <- b after each check, which makes sum beta vanish without the penalty on b
 * that such a feature brings by itself. B^2 is 0.03 of the mean |z|^2 (of what was tried between
 * 0.0003 and 10 on kernel features, it took the fewest passes; 1 three times as many), and grows to
 * ten times the mean while sum beta does not halve from one check to the next; or it is what takes
 * b to the targets where C is so small that betas at their bounds would not.
 *
 * Rows at a bound that a pass found well inside the optimal side are left out of the passes that
 * follow (shrinking). When the largest projected gradient is below an inner tolerance, a pass
 * over all rows checks: it sums w anew in float64, finds the best intercept for it, and with that
 *
 *     gap = primal - dual + R |sum beta|,   R a bound of |b|,
 *
 * the distance from the optimum at most. All rows come back, and the inner tolerance falls, until
 * gap <= tol primal.
 *
 * Blocks of rows are visited in a random order, and slabs of rows that fit in the cache in a random
 * order inside a block; rows inside a slab in a random order too where most are shrunk, and in the
 * order they stand in while most are visited, which memory delivers nearly three times as fast. The
 * order follows from the seed.
 * Machines (classes, folds) are independent and share the slab in the cache: that is where the
 * threads are. A pass costs 2 n D flops and as many again for rows that move; memory is read at the
 * speed it has.
 */

#include "base/rng.h"
#include "base/spec.h"
#include "num/blas.h"
#include "solve/conjugate.h"
#include "solve/order.h"

#include <math.h>
#include <string.h>

/* SHARE: elements of the features that are worth a start of the threads. */
enum { SHARE = 1 << 20, SLAB_BYTES = 1 << 19, SLAB_MIN = 16, SLAB_MOST = 1024, COLUMNS = 256 };

typedef struct state {
    krein_machine *m;
    bool done, checking, checked, last;
    bool sequential; /* most rows are visited: in the order they stand in */
    int64_t visits;
    float *w;
    int64_t *start;  /* slabs + 1: where their rows begin in dual */
    int32_t *order;  /* n: numbers of rows in dual by slab, those visited first */
    int32_t *active; /* slabs: how many are visited */
    double b, base, sum, penalty;
    double last_sum, most_penalty; /* sum beta of the last check; the penalty grows up to it */
    double low, high;              /* projected gradients of this pass */
    double old_low, old_high;      /* of the last: the bounds for shrinking */
    double inner;                  /* tolerance of low .. high */
    double scale;                  /* of targets, for the inner tolerance */
    double *fresh;                 /* D: w summed anew by a check */
    float *score;                  /* n: w'z of a check */
} state;

typedef struct solver {
    krein_ctx *ctx;
    krein_features *z;
    const krein_machine_options *o;
    state *s;
    int64_t machines;
    int64_t slab, slabs, per_block; /* rows of a slab, slabs in all, slabs of a block */
    float *norm;                    /* n: |z_i|^2 */
} solver;

/* ---- one coordinate ----------------------------------------------------- */

/* How far the gradient g (without epsilon) is from optimal at beta; `slack` is how far inside the
 * optimal side it lies where beta can stay, < 0 where it must move. */
static double violation(const krein_box *b, double epsilon, double beta, double g, double *slack) {
    double up = g + (beta < 0 ? -epsilon : epsilon);   /* derivative to the right */
    double down = g + (beta > 0 ? epsilon : -epsilon); /* and to the left */
    double right = beta < b->high ? up : INFINITY, left = beta > b->low ? down : -INFINITY;
    *slack = fmin(right, -left);
    return right < 0 ? right : left > 0 ? left : 0;
}

/* ---- a pass ------------------------------------------------------------- */

/* Steps through the visited rows of a slab. z: row `first` of the features on. */
static void descend(const solver *v, state *s, int64_t slab, const float *z, int64_t first,
                    uint64_t seed) {
    const krein_machine_options *o = v->o;
    int64_t D = v->z->D;
    int32_t *order = s->order + s->start[slab];
    if (!s->sequential) krein__shuffle(order, s->active[slab], seed);
    s->visits += s->active[slab];
    int32_t gone[SLAB_MOST], left = 0;
    for (int64_t i = 0; i < s->active[slab]; i++) {
        krein_dual *d = &s->m->dual[order[i]];
        const float *row = z + (d->row - first) * D;
        bool more = !s->sequential && i + 2 < s->active[slab];
        const float *ahead = more ? z + (s->m->dual[order[i + 2]].row - first) * D : row;
        krein_box b = krein__box(o->loss, d);
        double f = (double)krein__sdot_ahead(D, s->w, row, ahead) + s->b, slack;
        double g = f - (double)d->target + b.delta * d->beta;
        double v1 = violation(&b, o->epsilon, d->beta, g, &slack);
        double side = o->loss != KREIN_LOSS_EPSILON && d->target < 0 ? -1 : 1;
        double limit = fmax(s->old_high, -s->old_low);
        if (o->loss != KREIN_LOSS_EPSILON) limit = d->beta == 0 ? s->old_high : -s->old_low;
        if (v1 == 0 && slack > limit) { /* shrink */
            gone[left++] = order[i];
            continue;
        }
        order[i - left] = order[i];
        s->high = fmax(s->high, side * v1);
        s->low = fmin(s->low, side * v1);
        if (fabs(v1) < 1e-12) continue;
        double H = (double)v->norm[d->row] + s->penalty + b.delta;
        double beta = H > 0 ? krein__clip(&b, krein__soft(d->beta - g / H, o->epsilon / H))
                            : krein__loss_beta(&b, o->epsilon, -g); /* an empty row */
        double change = beta - d->beta;
        if (change == 0) continue;
        d->beta = beta;
        krein__saxpy(D, (float)change, row, s->w);
        s->sum += change;
        s->b += s->penalty * change;
    }
    s->active[slab] -= left;
    if (left > 0) memcpy(order + s->active[slab], gone, (size_t)left * sizeof *gone);
}

static void score(const solver *v, state *s, int64_t slab, const float *z, int64_t first) {
    int64_t D = v->z->D;
    for (int64_t i = s->start[slab]; i < s->start[slab + 1]; i++)
        s->score[i] = krein__sdot(D, s->w, z + (s->m->dual[i].row - first) * D);
}

/* Columns from .. to - 1 of w summed anew. */
static void add(const solver *v, state *s, int64_t slab, const float *z, int64_t first,
                int64_t from, int64_t to) {
    for (int64_t i = s->start[slab]; i < s->start[slab + 1]; i++) {
        const krein_dual *d = &s->m->dual[i];
        const float *row = z + (d->row - first) * v->z->D;
        if (d->beta == 0) continue;
        for (int64_t j = from; j < to; j++) s->fresh[j] += d->beta * (double)row[j];
    }
}

/* One machine: the threads share slabs, then columns. */
static void check_alone(const solver *v, const int32_t *slabs, int64_t n, const float *z,
                        int64_t first, krein_compute c) {
    int64_t D = v->z->D;
#pragma omp parallel num_threads(v->ctx->threads)
    {
        krein__worker_begin();
#pragma omp for schedule(dynamic)
        for (int64_t k = 0; k < n; k++) score(v, &v->s[0], slabs[k], z, first);
#pragma omp for schedule(dynamic)
        for (int64_t from = 0; from < D; from += COLUMNS)
            for (int64_t k = 0; k < n; k++)
                add(v, &v->s[0], slabs[k], z, first, from, krein__min(from + COLUMNS, D));
        krein__worker_end(c);
    }
}

static uint64_t seed_of(const solver *v, int64_t pass, int64_t slab, int64_t machine) {
    return krein__rng_bits(krein__substream(v->o->seed, KREIN_STREAM_DCD, machine), (uint64_t)pass,
                           (uint64_t)slab);
}

static void visit(const solver *v, int64_t machine, int64_t pass, int64_t slab, const float *z,
                  int64_t first) {
    state *s = &v->s[machine];
    if (s->done) return;
    if (s->checking) {
        score(v, s, slab, z, first);
        add(v, s, slab, z, first, 0, v->z->D);
    } else {
        descend(v, s, slab, z, first, seed_of(v, pass, slab, machine + 1));
    }
}

/* Rows of a slab that some machine visits, counted for each. */
static int64_t wanted(const solver *v, int64_t slab) {
    int64_t rows = 0;
    for (int64_t i = 0; i < v->machines; i++) {
        const state *s = &v->s[i];
        if (!s->done) rows += s->checking ? s->start[slab + 1] - s->start[slab] : s->active[slab];
    }
    return rows;
}

/* All machines visit n slabs. */
static void visit_slabs(const solver *v, int64_t pass, const int32_t *slabs, int64_t n,
                        const float *z, int64_t first, int threads, krein_compute c) {
#pragma omp parallel for num_threads(threads) schedule(dynamic) if (threads > 1)
    for (int64_t i = 0; i < v->machines; i++) {
        krein__worker_begin();
        for (int64_t k = 0; k < n; k++) visit(v, i, pass, slabs[k], z, first);
        krein__worker_end(c);
    }
}

static krein_status pass_block(solver *v, int64_t pass, int64_t block, int32_t *slabs) {
    krein_status st = KREIN_OK;
    const float *z;
    int64_t n, count = 0, visits = 0, first = block * v->z->rows;
    int64_t from = block * v->per_block;
    int64_t to = krein__min(from + v->per_block, v->slabs);
    for (int64_t k = from; k < to; k++) {
        int64_t rows = wanted(v, k);
        if (rows > 0) slabs[count++] = (int32_t)k;
        visits += rows;
    }
    if (count == 0) return KREIN_OK;
    TRY(krein__features_block(v->z, block, &z, &n));
    krein__shuffle(slabs, count, seed_of(v, pass, block, 0));
    krein_compute c = krein__compute_begin();
    /* Where few rows are left, several slabs at a time, or no threads: starting them costs more. */
    int64_t work = visits * v->z->D, group = krein__max(1, krein__min(count, count * SHARE / work));
    int threads = work < SHARE / 8 ? 1 : (int)krein__min(v->ctx->threads, v->machines);
    if (v->machines == 1) group = 1;
    if (v->machines == 1 && v->s[0].checking && !v->s[0].done) {
        check_alone(v, slabs, count, z, first, c);
        count = 0;
    }
    for (int64_t k = 0; k < count && st == KREIN_OK; k += group) {
        st = krein__poll(v->ctx);
        visit_slabs(v, pass, slabs + k, krein__min(group, count - k), z, first, threads, c);
    }
    krein__compute_end(c);
done:
    return st;
}

/* ---- checks ------------------------------------------------------------- */

static double total_loss(const solver *v, const state *s, double b, double *slope) {
    double sum = 0;
    *slope = 0;
    for (int64_t i = 0; i < s->m->n; i++) {
        const krein_dual *d = &s->m->dual[i];
        krein_box x = krein__box(v->o->loss, d);
        double r = (double)d->target - (double)s->score[i] - b;
        sum += krein__loss(&x, v->o->epsilon, r);
        *slope -= krein__loss_beta(&x, v->o->epsilon, r);
    }
    return sum;
}

/* The intercept that is best for w, by bisection of the slope (the loss is convex in b). */
static double best_intercept(const solver *v, const state *s) {
    double slope, step = s->scale, low = s->b, high = s->b;
    total_loss(v, s, s->b, &slope);
    if (slope == 0) return s->b;
    for (int i = 0; i < 60 && slope != 0; i++, step *= 2) { /* bracket */
        bool down = slope > 0;
        double b = down ? low - step : high + step;
        double here;
        total_loss(v, s, b, &here);
        if (down) {
            high = low;
            low = b;
        } else {
            low = high;
            high = b;
        }
        if (here == 0) return b;
        if ((here > 0) != down) break;
    }
    for (int i = 0; i < 40 && high - low > 1e-12 * s->scale; i++) {
        double b = (low + high) / 2, here;
        total_loss(v, s, b, &here);
        if (here == 0) return b;
        *(here > 0 ? &high : &low) = b;
    }
    return (low + high) / 2;
}

static double dual_value(const solver *v, const state *s, double square) {
    double value = -square / 2;
    for (int64_t i = 0; i < s->m->n; i++) {
        const krein_dual *d = &s->m->dual[i];
        krein_box x = krein__box(v->o->loss, d);
        value += krein__conjugate_at(&x, v->o->epsilon, d->beta, (double)d->target);
    }
    return value;
}

static void unshrink(const solver *v, state *s) {
    for (int64_t k = 0; k < v->slabs; k++) s->active[k] = (int32_t)(s->start[k + 1] - s->start[k]);
    for (int64_t i = 0; i < s->m->n; i++) s->order[i] = (int32_t)i;
    s->sequential = true;
    s->old_high = s->old_low = INFINITY; /* the next pass leaves nothing out */
    s->old_low = -INFINITY;
}

static void end_check(const solver *v, state *s) {
    krein_machine *m = s->m;
    m->passes++;
    int64_t D = v->z->D;
    double square = 0, slope, b = 0;
    s->sum = 0;
    /* The scores are those of the w that steps added up; so that is the machine's, and the primal
     * its own. */
    for (int64_t j = 0; j < D; j++) {
        m->w[j] = (double)s->w[j];
        square += m->w[j] * m->w[j];
    }
    m->support = 0;
    for (int64_t i = 0; i < m->n; i++) {
        s->sum += m->dual[i].beta;
        m->support += m->dual[i].beta != 0;
    }
    if (v->o->intercept) b = best_intercept(v, s);
    m->primal = square / 2 + total_loss(v, s, b, &slope);
    double bound = v->o->intercept ? (2 * fabs(b) + s->scale) * fabs(s->sum) : 0;
    double dual = dual_value(v, s, krein__ddot(D, s->fresh, s->fresh)) - bound;
    m->dual_value = fmin(dual, m->primal); /* not above it by rounding */
    m->b = b;
    m->converged = m->primal - m->dual_value <= v->o->tol * m->primal;
    s->done = m->converged || s->last;
    for (int64_t j = 0; j < D; j++) s->w[j] = (float)s->fresh[j];
    memset(s->fresh, 0, (size_t)D * sizeof *s->fresh);
    if (v->o->intercept) { /* a step of the multiplier */
        s->base = s->b;
        if (fabs(s->sum) > fabs(s->last_sum) / 2)
            s->penalty = fmin(3 * s->penalty, s->most_penalty);
        s->last_sum = s->sum;
        s->b = s->base + s->penalty * s->sum;
    }
    /* as far as the gap has to fall, which falls about as fast; not by more than 4 at a time */
    double need = v->o->tol * fabs(m->primal) / fmax(m->primal - m->dual_value, 1e-300);
    s->inner = fmax(s->inner * fmin(0.7, fmax(0.25, need)), 1e-7 * s->scale);
    s->checking = false;
    unshrink(v, s);
}

static void end_descent(const solver *v, state *s) {
    int64_t rows = 0;
    for (int64_t k = 0; k < v->slabs; k++) rows += s->active[k];
    s->sequential = s->sequential && 2 * rows > s->m->n;
    s->m->passes++;
    double high = s->high, low = s->low;
    s->old_high = high > 0 ? high : INFINITY;
    s->old_low = low < 0 ? low : -INFINITY;
    s->checking = high - low <= s->inner;
    s->high = s->low = 0;
}

/* ---- the whole ---------------------------------------------------------- */

static krein_status norms(solver *v) {
    krein_ctx *ctx = v->ctx;
    krein_status st = KREIN_OK;
    int64_t D = v->z->D;
    NEW(v->norm, v->z->n);
    for (int64_t b = 0; b < v->z->blocks; b++) {
        const float *z;
        int64_t n;
        TRY(krein__features_block(v->z, b, &z, &n));
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
        for (int64_t i = 0; i < n; i++)
            v->norm[b * v->z->rows + i] = krein__sdot(D, z + i * D, z + i * D);
    }
done:
    return st;
}

/* w = sum beta z, where a start is given. */
static krein_status warm_start(solver *v) {
    krein_status st = KREIN_OK;
    int64_t D = v->z->D;
    bool any = false;
    for (int64_t k = 0; k < v->machines; k++)
        for (int64_t i = 0; i < v->s[k].m->n && !any; i++) any = v->s[k].m->dual[i].beta != 0;
    for (int64_t b = 0; any && b < v->z->blocks; b++) {
        const float *z;
        int64_t n, first = b * v->z->rows;
        TRY(krein__features_block(v->z, b, &z, &n));
        krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(v->ctx->threads) schedule(dynamic)
        for (int64_t k = 0; k < v->machines; k++) {
            krein__worker_begin();
            state *s = &v->s[k];
            int64_t from = s->start[b * v->per_block];
            int64_t to = s->start[krein__min((b + 1) * v->per_block, v->slabs)];
            for (int64_t i = from; i < to; i++) {
                const krein_dual *d = &s->m->dual[i];
                if (d->beta == 0) continue;
                s->sum += d->beta;
                krein__saxpy(D, (float)d->beta, z + (d->row - first) * D, s->w);
            }
            krein__worker_end(c);
        }
        krein__compute_end(c);
    }
done:
    return st;
}

/* Targets are centred numbers, or -1 and +1: their root mean square. */
static double target_scale(const krein_machine *m) {
    double sum = 0;
    for (int64_t i = 0; i < m->n; i++) sum += (double)m->dual[i].target * (double)m->dual[i].target;
    return sum > 0 ? sqrt(sum / (double)m->n) : 1;
}

static krein_status state_begin(solver *v, state *s, krein_machine *m) {
    krein_ctx *ctx = v->ctx;
    krein_status st = KREIN_OK;
    s->m = m;
    s->scale = target_scale(m);
    m->passes = 0;
    ZNEW(s->w, v->z->D);
    ZNEW(s->fresh, v->z->D);
    NEW(s->score, m->n);
    NEW(s->order, m->n);
    NEW(s->active, v->slabs);
    NEW(s->start, v->slabs + 1);
    int64_t at = 0;
    for (int64_t k = 0; k <= v->slabs; k++) {
        int64_t block = k / v->per_block;
        int64_t row = krein__min(block * v->z->rows + k % v->per_block * v->slab, v->z->n);
        while (at < m->n && m->dual[at].row < row) at++;
        s->start[k] = at;
    }
    double norm = 0, cost = 0;
    for (int64_t i = 0; i < m->n; i++) {
        krein_dual *d = &m->dual[i];
        krein_box box = krein__box(v->o->loss, d);
        d->beta = krein__clip(&box, d->beta); /* a start for another C */
        s->order[i] = (int32_t)i;
        norm += (double)v->norm[d->row];
        cost += d->cost;
    }
    if (v->o->intercept && cost > 0) {
        double mean = norm / (double)m->n;
        s->penalty = fmax(0.03 * mean, s->scale / cost);
        s->most_penalty = fmax(10 * mean, s->penalty);
    }
    s->last_sum = INFINITY;
    s->done = krein__trivial(m, v->o, v->z->D);
    s->inner = 0.3 * s->scale;
    unshrink(v, s);
done:
    return st;
}

static void state_end(krein_ctx *ctx, state *s) {
    krein__free(ctx, s->w);
    krein__free(ctx, s->fresh);
    krein__free(ctx, s->score);
    krein__free(ctx, s->order);
    krein__free(ctx, s->active);
    krein__free(ctx, s->start);
}

static krein_status solver_begin(solver *v, krein_machine *machine, int64_t machines) {
    krein_ctx *ctx = v->ctx;
    krein_status st = KREIN_OK;
    v->slab = krein__max(SLAB_MIN, krein__min(SLAB_MOST, SLAB_BYTES / (4 * v->z->D)));
    v->slab = krein__min(v->slab, v->z->rows);
    v->per_block = (v->z->rows + v->slab - 1) / v->slab;
    int64_t rest = v->z->n - (v->z->blocks - 1) * v->z->rows;
    v->slabs = (v->z->blocks - 1) * v->per_block + (rest + v->slab - 1) / v->slab;
    TRY(norms(v));
    ZNEW(v->s, machines);
    v->machines = machines;
    for (int64_t i = 0; i < machines; i++) TRY(state_begin(v, &v->s[i], &machine[i]));
    TRY(warm_start(v));
    for (int64_t i = 0; i < machines && v->o->intercept; i++) {
        v->s[i].base = machine[i].b;
        v->s[i].b = machine[i].b + v->s[i].penalty * v->s[i].sum;
    }
done:
    return st;
}

/* Returns how many machines are left. A check goes over a machine's rows some fifty times for the
 * intercept: threads share the machines. */
static int64_t end_pass(solver *v) {
    int64_t left = 0;
    krein_compute c = krein__compute_begin();
    int threads = (int)krein__min(v->ctx->threads, v->machines);
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t i = 0; i < v->machines; i++) {
        krein__worker_begin();
        state *s = &v->s[i];
        s->checked = s->checking && !s->done;
        if (s->checked)
            end_check(v, s);
        else if (!s->done)
            end_descent(v, s);
        krein__worker_end(c);
    }
    krein__compute_end(c);
    for (int64_t i = 0; i < v->machines; i++) {
        const state *s = &v->s[i];
        left += !s->done;
        if (s->checked)
            krein__log(v->ctx, KREIN_LOG_DEBUG,
                       "machine %lld, pass %lld, %.1f visits of a row: primal %.8g, dual %.8g",
                       (long long)i, (long long)s->m->passes,
                       (double)s->visits / (double)krein__max(1, s->m->n), s->m->primal,
                       s->m->dual_value);
    }
    return left;
}

static krein_status one_pass(solver *v, int64_t pass, int32_t *blocks, int32_t *slabs) {
    krein_status st = KREIN_OK;
    for (int64_t b = 0; b < v->z->blocks; b++) blocks[b] = (int32_t)b;
    krein__shuffle(blocks, v->z->blocks, seed_of(v, pass, v->slabs, 0));
    for (int64_t b = 0; b < v->z->blocks; b++) TRY(pass_block(v, pass, blocks[b], slabs));
done:
    return st;
}

krein_status krein__dcd(krein_features *z, krein_machine *machine, int64_t machines, double work,
                        const krein_machine_options *o) {
    krein_ctx *ctx = z->ctx;
    krein_status st = KREIN_OK;
    solver v = {.ctx = ctx, .z = z, .o = o};
    int32_t *blocks = NULL, *slabs = NULL;
    krein_compute compute = krein__compute_begin(); /* BLAS must not split sums by its threads */
    TRY(solver_begin(&v, machine, machines));
    NEW(blocks, z->blocks);
    NEW(slabs, v.per_block);
    for (int64_t pass = 0, left = machines; left > 0; pass++) {
        /* Without any pass all machines would be zero. */
        bool late = pass > 0 && krein__late(o->deadline);
        for (int64_t i = 0; i < machines; i++) {
            state *s = &v.s[i];
            s->last = late || (double)s->visits > work * (double)s->m->n;
            s->checking |= s->last;
        }
        TRY(one_pass(&v, pass, blocks, slabs));
        left = end_pass(&v);
        if (o->what) krein__progress(ctx, o->what, (double)(machines - left), (double)machines);
    }
done:
    for (int64_t i = 0; i < v.machines; i++) state_end(ctx, &v.s[i]);
    krein__free(ctx, v.s);
    krein__free(ctx, v.norm);
    krein__free(ctx, blocks);
    krein__free(ctx, slabs);
    krein__compute_end(compute);
    return st;
}

double krein__dcd_bytes(int64_t rows, int64_t D, int64_t machines) {
    double n = (double)rows, m = (double)machines;
    /* a block's last slab may be short */
    double slabs =
        2 * n / (double)krein__max(SLAB_MIN, krein__min(SLAB_MOST, SLAB_BYTES / (4 * D))) + 2;
    return 4 * n + 8 * slabs + m * (8 * n + 12 * (double)D + 12 * slabs + 1024) + 1024;
}

const krein_class krein__solver_dcd = {
    "dcd", "dual coordinate descent with shrinking, for hinge and epsilon losses", "hsieh2008",
    NULL,
    "Support vector machines on features, with a free intercept by the method of multipliers. "
    "Stops by the duality gap."};
