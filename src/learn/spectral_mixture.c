/* spectral_mixture.c -- learns the spectral mixture that a map's frequencies are drawn from
 *
 * The evidence (evidence.c) has many local maxima: a mean finds the frequencies of the data only
 * where its component's band, +- sqrt(V), reaches them. So there are STARTS starts, with means and
 * deviations of the kernel times 1, 2, 4, 8: wider bands see higher frequencies, at less contrast.
 * Each goes some steps on few rows; the best of them goes on on more.
 *
 * A start is the mixture of the kernel `spectral`; for another kernel means are frequencies that
 * the map has drawn from its spectral measure, other ones for each start, and the variance of a
 * column is a quarter of that of a normal with their median, as `spectral` has it for draws. */
#include "learn/spectral_mixture.h"

#include "kernel/spectral_mixture.h"
#include "learn/evidence.h"
#include "map/learned.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STARTS = 4, FEW = 400, ROWS = 1000, FEW_STEPS = 40, STEPS = 80 };
static const double NOISE = 0.05; /* at the start, of the variance of the process */

int64_t krein__spectral_mixture_own(const krein_kernel *k) {
    if (k->node != KREIN_NODE_LEAF || k->kernel != &krein__kernel_spectral) return 0;
    int64_t slot = krein__option_index(&k->kernel->cls, "q");
    return (int64_t)k->values.number[slot];
}

void krein__spectral_mixture_cost(int64_t n, int64_t d, int64_t k, int64_t q, krein_cost *out) {
    int64_t few = krein__min(n, FEW), m = krein__min(n, ROWS);
    double numbers = 8 * (STARTS + 2) * (double)krein__spectral_mixture_count(q, d);
    out->bytes = krein__evidence_bytes(m, d, k, q) +
                 (double)m * (12 * (double)d + 16 * (double)k + 32) + 8 * (double)n + numbers;
    out->flops = STARTS * krein__evidence_flops(few, d, q, FEW_STEPS) +
                 krein__evidence_flops(m, d, q, n > FEW ? STEPS : FEW_STEPS);
}

/* ---- rows --------------------------------------------------------------- */

/* m rows with their targets; the first `few` of them are a sample of their own. */
typedef struct sample {
    krein_evidence_rows rows;
    double *x, *y, *w;
} sample;

static void clear(krein_ctx *ctx, sample *s) {
    krein__free(ctx, s->x);
    krein__free(ctx, s->y);
    krein__free(ctx, s->w);
}

/* Targets less their weighted mean. */
static void centre(int64_t m, int64_t k, const double *w, double *y) {
    for (int64_t c = 0; c < k; c++) {
        double sum = 0, total = 0;
        for (int64_t i = 0; i < m; i++) {
            sum += w[i] * y[i * k + c];
            total += w[i];
        }
        for (int64_t i = 0; i < m; i++) y[i * k + c] -= sum / total;
    }
}

/* Numbers of the job's rows that are trained on with a weight, and where their targets stand. */
static int64_t usable(const krein_windows *w, int64_t *row, int64_t *at) {
    int64_t n = 0, trained = 0;
    for (int64_t i = 0; i < w->job->n; i++) {
        if (w->is_held[i]) continue;
        if (w->weight[trained] > 0) {
            row[n] = i;
            at[n++] = trained;
        }
        trained++;
    }
    return n;
}

static krein_status gather(krein_job *job, const krein_windows *w, sample *s) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    int64_t *row = NULL, *at = NULL, *chosen = NULL, *order = NULL, k = w->k;
    int64_t d = job->model->map->d;
    krein_matrix x = {0};
    krein_rng g = krein__substream(job->seed, KREIN_STREAM_SAMPLE, KREIN_SAMPLE_LEARN);
    NEW(row, job->n);
    NEW(at, job->n);
    int64_t n = usable(w, row, at), m = krein__min(n, ROWS);
    if (n < 2) {
        st = krein__fail(ctx, KREIN_EDATA, "askl: there are too few rows to learn a mixture from");
        goto done;
    }
    NEW(chosen, m);
    NEW(order, m);
    krein__rng_choose(g, n, m, chosen);
    for (int64_t i = 0; i < m; i++) { /* ascending: in place */
        row[i] = row[chosen[i]];
        at[i] = at[chosen[i]];
    }
    TRY(krein__stream_gather(job->rows, row, m, &x, NULL, NULL, NULL));
    krein__rng_permute(g, m, order);
    NEW(s->x, m * d);
    NEW(s->y, m * k);
    NEW(s->w, m);
    krein_rows rows = krein__matrix_rows(&x);
    for (int64_t i = 0; i < m; i++) {
        krein__row_copy_double(&rows, order[i], s->x + i * d);
        s->w[i] = (double)w->weight[at[order[i]]];
        for (int64_t c = 0; c < k; c++) s->y[i * k + c] = (double)w->y[at[order[i]] * k + c];
    }
    centre(m, k, s->w, s->y);
    s->rows = (krein_evidence_rows){m, d, k, s->x, s->y, s->w};
done:
    krein__matrix_clear(ctx, &x);
    krein__free(ctx, row);
    krein__free(ctx, at);
    krein__free(ctx, chosen);
    krein__free(ctx, order);
    return st;
}

/* ---- starts ------------------------------------------------------------- */

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The deviation of a normal whose median of |w| is that of a column of frequencies. */
static double deviation(int64_t F, const float *turns, double *spare) {
    static const double MEDIAN = 0.674489750196082; /* of |N(0, 1)| */
    for (int64_t f = 0; f < F; f++) spare[f] = fabs((double)turns[f]);
    qsort(spare, (size_t)F, sizeof *spare, ascending);
    return 2 * M_PI * spare[F / 2] / MEDIAN;
}

/* From the map's frequencies: those of start number `which`. */
static krein_status from_draws(const krein_map *map, int64_t which, int64_t q, double *p) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    const krein_learned *s = krein__learned(map);
    int64_t d = map->d, F = s->F;
    krein_spectral_mixture m = krein__spectral_mixture_begin(p, q, d);
    double *spare = NULL;
    NEW(spare, F);
    for (int64_t c = 0; c < q; c++) m.w[c] = 1 / (double)q;
    for (int64_t j = 0; j < d; j++) {
        double v = deviation(F, s->W + j * F, spare) / 2;
        for (int64_t c = 0; c < q; c++) {
            m.V[c * d + j] = v * v;
            m.mu[c * d + j] = (double)s->W[j * F + (which * q + c) % F];
        }
    }
done:
    krein__free(ctx, spare);
    return st;
}

static krein_status start(const krein_map *map, int64_t which, int64_t q, double *p) {
    krein_status st = KREIN_OK;
    int64_t d = map->d;
    double factor = ldexp(1, (int)which);
    if (krein__spectral_mixture_own(map->kernel) > 0)
        TRY(krein__kernel_spectral.numbers(map->ctx, map->kernel, d, p));
    else
        TRY(from_draws(map, which, q, p));
    krein_spectral_mixture m = krein__spectral_mixture(p);
    for (int64_t i = 0; i < m.q * m.d; i++) {
        m.V[i] *= factor * factor;
        m.mu[i] *= factor;
    }
done:
    return st;
}

/* ---- the fit ------------------------------------------------------------ */

static void tell(krein_ctx *ctx, const double *p, const krein_evidence *e, int64_t m) {
    krein_spectral_mixture s = krein__spectral_mixture(p);
    krein__log(ctx, KREIN_LOG_INFO,
               "askl: a mixture of %lld components from %lld rows: log evidence %.4g a row, noise "
               "%.3g of the variance",
               (long long)s.q, (long long)m, e->value, e->lambda);
    for (int64_t c = 0; c < s.q; c++) {
        double mean = 0, spread = 0;
        for (int64_t i = c * s.d; i < (c + 1) * s.d; i++) {
            mean += pow(2 * M_PI * s.mu[i], 2);
            spread += s.V[i];
        }
        krein__log(ctx, KREIN_LOG_DEBUG,
                   "component %lld: weight %.3g, |mu| %.4g, deviation %.3g a column", (long long)c,
                   s.w[c], sqrt(mean), sqrt(spread / (double)s.d));
    }
}

/* Each start on few rows; the best is in p. */
static krein_status try_starts(krein_job *job, const sample *s, int64_t q, double deadline,
                               double *p, krein_evidence *best) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    int64_t count = krein__spectral_mixture_count(q, s->rows.d);
    krein_evidence_rows few = s->rows;
    double *one = NULL;
    bool any = false;
    few.n = krein__min(few.n, FEW);
    NEW(one, count);
    for (int64_t i = 0; i < STARTS; i++) {
        krein_evidence e = {.lambda = NOISE};
        krein__progress(ctx, "spectral mixture", (double)i, STARTS + 1);
        TRY(start(job->model->map, i, q, one));
        TRY(krein__evidence_learn(ctx, &few, FEW_STEPS, deadline, one, &e));
        krein__log(ctx, KREIN_LOG_DEBUG, "start %lld: log evidence %.5g, %.5g after %lld steps",
                   (long long)i, e.start, e.value, (long long)e.steps);
        if (any && !(e.value > best->value)) continue;
        any = true;
        *best = e;
        memcpy(p, one, (size_t)count * sizeof *p);
    }
done:
    krein__free(ctx, one);
    return st;
}

krein_status krein__spectral_mixture_learn(krein_job *job, const krein_windows *rows, int64_t q) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_map *map = job->model->map;
    sample s = {0};
    krein_evidence e = {0};
    double *p = NULL, now = krein__clock();
    double deadline = job->deadline > 0 ? now + (job->deadline - now) / 3 : 0; /* not all of it */
    TRY(gather(job, rows, &s));
    NEW(p, krein__spectral_mixture_count(q, map->d));
    TRY(try_starts(job, &s, q, deadline, p, &e));
    if (s.rows.n > FEW) {
        krein__progress(ctx, "spectral mixture", STARTS, STARTS + 1);
        TRY(krein__evidence_learn(ctx, &s.rows, STEPS, deadline, p, &e));
    }
    tell(ctx, p, &e, s.rows.n);
    TRY(krein__learned_mix(map, p));
done:
    clear(ctx, &s);
    krein__free(ctx, p);
    return st;
}
