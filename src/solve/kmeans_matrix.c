/* kmeans_matrix.c -- k-means in the space of a kernel, from the kernel matrix alone
 *
 *     |phi(x_i) - c|^2  =  K_ii - 2 S_ci / n_c + q_c / n_c^2,
 *     S_ci = sum_{j in c} w_j K_ij,   q_c = sum_{i in c} w_i S_ci,   n_c = sum_{i in c} w_i
 *
 * with the weights w of the rows (dhillon2004).
 * The centres are never written down. S (m x n) follows the moves as the sums do in kmeans.c: a row
 * that changes its cluster is taken off one row of S and put on another, n operations, the columns
 * shared among the threads. Everything is float64. One run after the other; each starts from
 * k-means++ seeds. Cost of a step: n m, and n for each row that moves; n^2 for the first. */
#include "solve/kmeans.h"

#include "num/centres.h"

#include <math.h>
#include <string.h>

enum { STRIPE = 512 };

typedef struct work {
    krein_ctx *ctx;
    int64_t n, m;
    const double *K;
    const krein_kmeans_options *o;
    double *S, *shift;             /* m x n; m: q_c / n_c^2 */
    double *distance;              /* n */
    int32_t *cluster, *next;       /* n, -1: none yet */
    int64_t *count, *moved, *seed; /* m: rows with a weight; n; m */
    double *mass;                  /* m: n_c */
} work;

double krein__kmeans_matrix_bytes(int64_t n, const krein_kmeans_options *o) {
    return (double)n * (8 * (double)o->clusters + 32) + 64 * (double)o->clusters + 65536;
}

/* |phi(x_i) - phi(x_s)|^2; of equal rows, a rounding error is left */
static double between(const work *w, int64_t i, int64_t s) {
    double a = w->K[i * w->n + i], b = w->K[s * w->n + s], t = a + b - 2 * w->K[s * w->n + i];
    return i == s || t <= fmax(w->o->least, 1e-14 * (a + b)) ? 0 : t;
}

/* How far the rows would be from their nearest seeds with s among them. */
static double potential(const work *w, int64_t s) {
    double sum = 0;
    for (int64_t i = 0; i < w->n; i++)
        sum += krein__kmeans_weight(w->o, i) * fmin(w->distance[i], between(w, i, s));
    return sum;
}

/* k-means++, the best of some candidates for each seed. */
static krein_status seed(work *w, int64_t run) {
    int64_t n = w->n, tries = krein__centres_tries(w->m);
    krein_rng g = w->o->rng;
    for (int64_t i = 0; i < n; i++) w->distance[i] = INFINITY;
    for (int64_t k = 0; k < w->m; k++) {
        int64_t best = krein__kmeans_first(w->o, n, run);
        double least = INFINITY;
        for (int64_t t = 0; k > 0 && t < tries; t++) {
            double u = krein__rng_uniform(g, (uint64_t)run, (uint64_t)(k * tries + t));
            int64_t s = krein__centres_draw(n, w->distance, w->o->weight, u);
            if (s < 0) return krein__kmeans_too_few(w->ctx, k, w->m);
            double far = potential(w, s);
            if (far < least) {
                least = far;
                best = s;
            }
        }
        w->seed[k] = best;
        for (int64_t i = 0; i < n; i++) w->distance[i] = fmin(w->distance[i], between(w, i, best));
    }
    return krein__poll(w->ctx);
}

/* The nearest seed of each row. */
static void begin(work *w) {
    for (int64_t i = 0; i < w->n; i++) {
        int32_t best = 0;
        double near = INFINITY;
        for (int64_t k = 0; k < w->m; k++) {
            double t = between(w, i, w->seed[k]);
            if (t < near) {
                near = t;
                best = (int32_t)k;
            }
        }
        w->next[i] = best;
        w->distance[i] = krein__kmeans_weight(w->o, i) > 0 ? near : 0; /* else it is no centre */
    }
}

static void nearest(work *w) {
    int64_t n = w->n;
#pragma omp parallel for num_threads(w->ctx->threads) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        int32_t best = 0;
        double near = INFINITY;
        for (int64_t c = 0; c < w->m; c++) {
            if (w->count[c] == 0) continue;
            double t = w->shift[c] - 2 * w->S[c * n + i] / w->mass[c];
            if (t < near) {
                near = t;
                best = (int32_t)c;
            }
        }
        w->next[i] = best;
        w->distance[i] = krein__kmeans_weight(w->o, i) > 0 ? fmax(0, w->K[i * n + i] + near) : 0;
    }
}

/* S for the moved rows, in their order. */
static void follow(work *w, int64_t moves) {
    int64_t n = w->n, stripes = (n + STRIPE - 1) / STRIPE;
#pragma omp parallel for num_threads(w->ctx->threads) schedule(static)
    for (int64_t s = 0; s < stripes; s++) {
        int64_t from = s * STRIPE, to = krein__min(from + STRIPE, n);
        for (int64_t q = 0; q < moves; q++) {
            int64_t row = w->moved[q], old = w->cluster[row];
            const double *k = w->K + row * n;
            double *add = w->S + w->next[row] * n, *take = old < 0 ? NULL : w->S + old * n;
            double weight = krein__kmeans_weight(w->o, row);
            for (int64_t i = from; i < to; i++) add[i] += weight * k[i];
            for (int64_t i = from; take && i < to; i++) take[i] -= weight * k[i];
        }
    }
    for (int64_t q = 0; q < moves; q++) {
        int64_t row = w->moved[q], old = w->cluster[row], new = w->next[row];
        double weight = krein__kmeans_weight(w->o, row);
        w->cluster[row] = w->next[row];
        if (weight == 0) continue;
        if (old >= 0) w->mass[old] = --w->count[old] > 0 ? w->mass[old] - weight : 0;
        w->count[new]++;
        w->mass[new] += weight;
    }
}

static krein_status move_one(void *state, int64_t row, int32_t to) {
    work *w = state;
    w->next[row] = to;
    w->moved[0] = row;
    follow(w, 1);
    return KREIN_OK;
}

/* Moves the rows to `next`; q_c after that. */
static krein_status settle(work *w, int64_t *changed) {
    krein_status st = KREIN_OK;
    int64_t moves = 0, filled;
    for (int64_t i = 0; i < w->n; i++)
        if (w->next[i] != w->cluster[i]) w->moved[moves++] = i;
    follow(w, moves);
    TRY(krein__kmeans_fill(w->n, w->m, w->cluster, 1, w->count, w->distance, move_one, w, &filled));
    *changed = moves + filled;
    for (int64_t c = 0; c < w->m; c++) w->shift[c] = 0;
    for (int64_t i = 0; i < w->n; i++)
        w->shift[w->cluster[i]] += krein__kmeans_weight(w->o, i) * w->S[w->cluster[i] * w->n + i];
    for (int64_t c = 0; c < w->m; c++)
        if (w->count[c]) w->shift[c] /= w->mass[c] * w->mass[c];
    TRY(krein__poll(w->ctx));
done:
    return st;
}

static krein_status run(work *w, int64_t number, int64_t *steps, bool *settled) {
    krein_status st = KREIN_OK;
    int64_t changed = 1;
    memset(w->S, 0, (size_t)(w->m * w->n) * sizeof *w->S);
    memset(w->count, 0, (size_t)w->m * sizeof *w->count);
    memset(w->mass, 0, (size_t)w->m * sizeof *w->mass);
    for (int64_t i = 0; i < w->n; i++) w->cluster[i] = -1;
    TRY(seed(w, number));
    begin(w);
    for (*steps = 0; *steps < w->o->steps && changed > 0; ++*steps) {
        if (*steps > 0) nearest(w);
        TRY(settle(w, &changed));
    }
    *settled = changed == 0;
done:
    return st;
}

/* sum_i w_i K_ii - sum_c q_c / n_c */
static double inertia(const work *w) {
    double sum = 0;
    for (int64_t i = 0; i < w->n; i++) sum += krein__kmeans_weight(w->o, i) * w->K[i * w->n + i];
    for (int64_t c = 0; c < w->m; c++) sum -= w->shift[c] * w->mass[c];
    return fmax(0, sum);
}

static void keep(const work *w, double value, int64_t steps, bool settled, krein_kmeans *out) {
    out->inertia = value;
    out->steps = steps;
    out->settled = settled;
    memcpy(out->cluster, w->cluster, (size_t)w->n * sizeof *out->cluster);
    memcpy(out->mass, w->mass, (size_t)w->m * sizeof *out->mass);
    krein__kmeans_count(w->n, w->m, out);
}

krein_status krein__kmeans_matrix(krein_ctx *ctx, int64_t n, const double *K,
                                  const krein_kmeans_options *o, krein_kmeans *out) {
    krein_status st = KREIN_OK;
    work w = {.ctx = ctx, .n = n, .m = o->clusters, .K = K, .o = o};
    memset(out, 0, sizeof *out);
    out->inertia = INFINITY;
    NEW(out->cluster, n);
    NEW(out->size, w.m);
    NEW(out->mass, w.m);
    NEW(w.S, w.m * n);
    NEW(w.shift, w.m);
    NEW(w.distance, n);
    NEW(w.cluster, n);
    NEW(w.next, n);
    NEW(w.count, w.m);
    NEW(w.mass, w.m);
    NEW(w.moved, n);
    NEW(w.seed, w.m);
    for (int64_t r = 0; r < o->restarts; r++) {
        int64_t steps;
        bool settled;
        TRY(run(&w, r, &steps, &settled));
        double value = inertia(&w);
        krein__log(ctx, KREIN_LOG_DEBUG, "k-means run %lld: inertia %.9g after %lld steps",
                   (long long)r + 1, value, (long long)steps);
        if (value < out->inertia) keep(&w, value, steps, settled, out);
        krein__progress(ctx, "k-means runs", (double)(r + 1), (double)o->restarts);
    }
    if (!isfinite(out->inertia))
        st = krein__fail(ctx, KREIN_ENUMERIC, "k-means: the kernel values are not finite");
done:;
    void *all[] = {w.S, w.shift, w.distance, w.cluster, w.next, w.count, w.mass, w.moved, w.seed};
    for (int64_t k = 0; k < KREIN__COUNT(all); k++) krein__free(ctx, all[k]);
    return st;
}
