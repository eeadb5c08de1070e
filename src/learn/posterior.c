/* posterior.c -- what says how sure a model of ridge regression is, made after its weights
 *
 * Formulas: model/posterior.c. Whatever solver made the weights, one pass over the rows adds up
 * the products of their features here, in float64: what float32 leaves of them is enough for
 * weights, not for one minus a leverage. On features a second pass takes rows out one by one: all
 * of them, or a seeded sample of at most SAMPLE rows (and a gigabyte). On the kernel matrix all of
 * that comes from the inverse factor, without cancellation:
 *
 *     P = M^-1 - aa' / (1'a),   r_-i = (P y)_i / P_ii,   w_i (1 - h_i) = W lambda P_ii.
 *
 * A row that only its own target says anything of (1 - h_i below 1e-8), or without a weight, does
 * not count. Cost: n R^2 + 2 D^3 flops on features, with a mix 2 R D^2 more; n^3 on the kernel. */
#include "learn/posterior.h"

#include "learn/krr.h"
#include "model/posterior.h"
#include "num/blas.h"
#include "num/order.h"
#include "stream/together.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 100000, ROWS = 768, STRIP = 256 };
static const double ALONE = 1e-8, NOVEL = 0.99;

static double total(int64_t n, const double *x) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i];
    return sum;
}

/* A = U'U, then U^-1 in its place, zeros below. Where rounding left A indefinite its diagonal is
 * lifted by the least that helps; the lower triangle still has A. */
static krein_status invert(krein_ctx *ctx, int64_t n, double *a) {
    krein_status st = KREIN_OK;
    double *diagonal = NULL, most = 0;
    int64_t pivot;
    NEW(diagonal, n);
    for (int64_t i = 0; i < n; i++) {
        diagonal[i] = a[i * n + i];
        most = fmax(most, diagonal[i]);
        for (int64_t j = 0; j < i; j++) a[i * n + j] = a[j * n + i];
    }
    st = krein__cholesky(ctx, n, a, n, &pivot);
    for (double lift = 1e-15; st == KREIN_ENUMERIC && lift < 1e-6; lift *= 4) {
        for (int64_t i = 0; i < n; i++) {
            a[i * n + i] = diagonal[i] + lift * most;
            for (int64_t j = 0; j < i; j++) a[j * n + i] = a[i * n + j];
        }
        st = krein__cholesky(ctx, n, a, n, &pivot);
    }
    if (st == KREIN_ENUMERIC)
        st = krein__fail(ctx, st,
                         "`uncertainty`: lambda is too small for a posterior variance; give a "
                         "larger `lambda`");
    TRY(st);
    TRY(krein__poll(ctx));
    TRY(krein__cholesky_inverse_diagonal(ctx, n, a, n, diagonal));
    for (int64_t i = 0; i < n; i++) memset(a + i * n, 0, (size_t)i * sizeof *a);
done:
    krein__free(ctx, diagonal);
    return st;
}

/* ---- rows left out ------------------------------------------------------ */

/* Of n rows that count: residuals left out (n x k), w (1 - h), and q left out. What the posterior
 * keeps of them beside the residuals themselves. */
typedef struct leftover {
    int64_t n;
    double *left, *rest, *q;
} leftover;

static krein_status leftover_begin(krein_ctx *ctx, int64_t n, int64_t k, leftover *o) {
    krein_status st = KREIN_OK;
    NEW(o->left, n * krein__max(1, k));
    NEW(o->rest, n);
    NEW(o->q, n);
done:
    return st;
}

static void leftover_clear(krein_ctx *ctx, leftover *o) {
    krein__free(ctx, o->left);
    krein__free(ctx, o->rest);
    krein__free(ctx, o->q);
}

static krein_status learn_noise(krein_ctx *ctx, krein_posterior *p, leftover *o) {
    krein_status st = KREIN_OK;
    if (o->n == 0)
        return krein__fail(ctx, KREIN_EDATA,
                           "`uncertainty`: no row can be left out, each is fitted by itself alone; "
                           "give a larger `lambda`, or more rows");
    p->rows = o->n;
    qsort(o->q, (size_t)o->n, sizeof *o->q, krein__ascending);
    p->reach = fmax(1e-300, o->q[krein__min(o->n, krein__cover_rank(o->n, NOVEL)) - 1]);
    if (p->k == 0) goto done;
    NEW(p->noise, p->k);
    for (int64_t c = 0; c < p->k; c++) {
        double sum = 0;
        for (int64_t i = 0; i < o->n; i++)
            sum += o->rest[i] * o->left[i * p->k + c] * o->left[i * p->k + c];
        p->noise[c] = sqrt(sum / (double)o->n);
    }
done:
    return st;
}

/* ---- on features -------------------------------------------------------- */

/* Sums over the rows. */
typedef struct moments {
    double weight, *mean, *G; /* G: R x R, upper */
} moments;

/* Products of n rows, as doubles times the root of their weights. */
static void add_products(krein_ctx *ctx, int64_t R, int64_t n, const double *x, double *G) {
    for (int64_t i = 0; i < R; i += STRIP) {
        int64_t rows = krein__min(STRIP, R - i);
        krein__pgemm(ctx, true, false, rows, R - i, n, 1, x + i, R, x + i, R, 1, G + i * R + i, R);
    }
}

static void widen(int64_t R, int64_t n, const float *raw, const double *weight, double *x,
                  moments *s) {
    for (int64_t i = 0; i < n; i++) {
        double w = weight ? weight[i] : 1, root = sqrt(w);
        s->weight += w;
        for (int64_t j = 0; j < R; j++) {
            double r = (double)raw[i * R + j];
            s->mean[j] += w * r;
            x[i * R + j] = root * r;
        }
    }
}

static krein_status add_rows(krein_job *job, moments *s) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_block block;
    krein_map map = krein__map_on(ctx, job->model->map);
    int64_t R = map.R, n;
    float *raw = NULL, *scratch = NULL;
    double *x = NULL;
    NEW(raw, ROWS * R);
    NEW(x, ROWS * R);
    NEW(scratch, krein__map_scratch(&map));
    TRY(krein__stream_rewind(job->rows));
    for (;;) {
        TRY(krein__stream_next(job->rows, &block));
        if (block.x.n == 0) break;
        for (int64_t i = 0; i < block.x.n; i += n) {
            n = krein__min(ROWS, block.x.n - i);
            krein_rows some = krein__rows_slice(&block.x, i, n);
            krein__map_raw(&map, &some, NULL, raw, scratch);
            widen(R, n, raw, block.weight ? block.weight + i : NULL, x, s);
            add_products(ctx, R, n, x, s->G);
            TRY(krein__poll(ctx));
        }
        krein__progress(ctx, "uncertainty", (double)(block.first + block.x.n), (double)job->n);
    }
    TRY(krein__stream_sum(job->rows, 1, &s->weight));
    TRY(krein__stream_sum(job->rows, R, s->mean));
    TRY(krein__stream_sum(job->rows, R * R, s->G));
    for (int64_t j = 0; j < R; j++) s->mean[j] /= s->weight;
    for (int64_t i = 0; i < R; i++)
        for (int64_t j = i; j < R; j++) s->G[i * R + j] -= s->weight * s->mean[i] * s->mean[j];
done:
    krein__free(ctx, raw);
    krein__free(ctx, x);
    krein__free(ctx, scratch);
    return st;
}

/* F (R x D) as a trapezoid: with the rows in reverse order, F' = Q T by a QR decomposition, and
 * T'T = F F'. */
static krein_status pack_full(krein_ctx *ctx, const krein_posterior *p, const double *full,
                              double **out) {
    krein_status st = KREIN_OK;
    int64_t R = p->R, D = p->D;
    double *turned = NULL;
    NEW(turned, R * D);
    for (int64_t r = 0; r < R; r++)
        memcpy(turned + (R - 1 - r) * D, full + r * D, (size_t)D * sizeof *full);
    TRY(krein__trapezoid(ctx, R, D, turned));
    TRY(krein__posterior_pack(ctx, p, turned + R * D - 1, -D, -1, out));
done:
    krein__free(ctx, turned);
    return st;
}

/* F = mix U^-1; on landmarks also the mix itself. */
static krein_status pack_mixed(krein_ctx *ctx, const krein_map *map, const double *inverse,
                               krein_posterior *p) {
    krein_status st = KREIN_OK;
    int64_t R = p->R, D = p->D;
    double *full = NULL;
    NEW(full, R * D);
    krein__pgemm(ctx, false, false, R, D, D, 1, map->mix, D, inverse, D, 0, full, D);
    TRY(pack_full(ctx, p, full, &p->factor));
    if (krein__map_traits(map) & KREIN_MAP_VALUES && p->ridge > 0)
        TRY(pack_full(ctx, p, map->mix, &p->inner));
done:
    krein__free(ctx, full);
    return st;
}

/* The products of features z from those of raw ones. */
static krein_status mix_products(krein_ctx *ctx, const krein_map *map, double **G) {
    krein_status st = KREIN_OK;
    int64_t R = map->R, D = map->D;
    double *half = NULL, *out = NULL;
    NEW(half, R * D);
    NEW(out, D * D);
    for (int64_t i = 0; i < R; i++)
        for (int64_t j = 0; j < i; j++) (*G)[i * R + j] = (*G)[j * R + i];
    krein__pgemm(ctx, false, false, R, D, R, 1, *G, R, map->mix, D, 0, half, D);
    krein__pgemm(ctx, true, false, D, D, R, 1, map->mix, D, half, D, 0, out, D);
    krein__free(ctx, *G);
    *G = out;
    out = NULL;
done:
    krein__free(ctx, half);
    krein__free(ctx, out);
    return st;
}

/* F'm by panels: as a row of raw features would be projected. */
static void project_mean(const krein_posterior *p, const double *mean, double *out) {
    const double *at = p->factor;
    for (int64_t c = 0; c < p->D; c += KREIN_POSTERIOR_PANEL) {
        int64_t columns = krein__min(KREIN_POSTERIOR_PANEL, p->D - c);
        int64_t rows = p->R - p->D + c + columns;
        krein__dgemv(true, rows, columns, 1, at, columns, mean, 1, 0, out + c);
        at += rows * columns;
    }
}

static krein_status factor_features(krein_job *job, krein_posterior *p) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    const krein_map *map = job->model->map;
    int64_t R = map->R, D = map->mix ? map->D : R;
    moments s = {0};
    p->R = R;
    p->D = D;
    ZNEW(s.mean, R);
    ZNEW(s.G, R * R);
    TRY(add_rows(job, &s));
    p->ridge = s.weight * job->model->lambda;
    p->flat = 1 / s.weight;
    if (map->mix) TRY(mix_products(ctx, map, &s.G));
    for (int64_t i = 0; i < D; i++) s.G[i * D + i] += p->ridge;
    TRY(invert(ctx, D, s.G));
    TRY(map->mix ? pack_mixed(ctx, map, s.G, p)
                 : krein__posterior_pack(ctx, p, s.G, D, 1, &p->factor));
    NEW(p->centre, D);
    project_mean(p, s.mean, p->centre);
done:
    krein__free(ctx, s.mean);
    krein__free(ctx, s.G);
    return st;
}

/* The rows of a sample, left out. */
static krein_status leave_out(krein_job *job, const krein_krr_sample *s, krein_posterior *p,
                              leftover *o) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    const krein_model *m = job->model;
    krein_predictor predictor = {0};
    krein_teller teller = {0};
    krein_asked nothing = {0};
    krein_rows all = krein__matrix_rows(&s->x);
    int64_t k = m->k, rows = krein__block_rows(m->encoding.d), n;
    double *score = NULL, *q = NULL, *beyond = NULL;
    NEW(score, rows * k);
    NEW(q, rows);
    NEW(beyond, rows);
    TRY(krein__predictor_begin(ctx, m, &predictor));
    TRY(krein__teller_begin(ctx, m, &nothing, rows, &teller));
    for (int64_t i = 0; i < s->targets.n; i += n) {
        n = krein__min(rows, s->targets.n - i);
        krein_rows some = krein__rows_slice(&all, i, n);
        krein__predictor_run(&predictor, &some, score);
        TRY(krein__teller_q(&teller, &some, q, beyond));
        for (int64_t r = 0; r < n; r++) {
            double w = s->weight[i + r], rest = 1 - w * q[r];
            if (!(w > 0) || !(rest > ALONE)) continue;
            o->rest[o->n] = w * rest;
            o->q[o->n] = q[r] / rest + beyond[r];
            for (int64_t c = 0; c < p->k; c++) {
                double y = s->y[(i + r) * k + c] + job->data->label_mean[c];
                o->left[o->n * k + c] = (y - score[r * k + c]) / rest;
            }
            o->n++;
        }
        krein__progress(ctx, "uncertainty", (double)(i + n), (double)s->targets.n);
        TRY(krein__poll(ctx));
    }
done:
    krein__predictor_end(&predictor);
    krein__teller_end(&teller);
    krein__free(ctx, score);
    krein__free(ctx, q);
    krein__free(ctx, beyond);
    return st;
}

/* Wide rows: no more than take a gigabyte. */
static int64_t sample_rows(int64_t n, int64_t d) {
    return krein__min(n, krein__min(SAMPLE, krein__max(1024, ((int64_t)1 << 28) / d)));
}

static krein_status fit_features(krein_job *job, krein_posterior *p) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_krr_sample s = {0};
    leftover o = {0};
    int64_t n = sample_rows(job->n, job->model->encoding.d);
    TRY(factor_features(job, p));
    TRY(krein__krr_sample(job, n, NULL, &s));
    TRY(leftover_begin(ctx, n, p->k, &o));
    TRY(leave_out(job, &s, p, &o));
    TRY(learn_noise(ctx, p, &o));
    if (p->k == 0) goto done;
    NEW(p->score, p->k * o.n);
    for (int64_t c = 0; c < p->k; c++) {
        double *to = p->score + c * o.n;
        for (int64_t i = 0; i < o.n; i++) to[i] = fabs(o.left[i * p->k + c]) * sqrt(o.rest[i]);
        qsort(to, (size_t)o.n, sizeof *to, krein__ascending);
    }
done:
    krein__krr_sample_clear(ctx, &s);
    leftover_clear(ctx, &o);
    return st;
}

/* ---- on the kernel matrix ----------------------------------------------- */

/* out (n x k) = F F'y for an upper triangle F. */
static krein_status apply(krein_ctx *ctx, int64_t n, int64_t k, const double *F, const double *y,
                          double *out) {
    krein_status st = KREIN_OK;
    double *half = NULL;
    ZNEW(half, n * k);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i; j < n; j++)
            for (int64_t c = 0; c < k; c++) half[j * k + c] += F[i * n + j] * y[i * k + c];
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < k; c++) {
            double sum = 0;
            for (int64_t j = i; j < n; j++) sum += F[i * n + j] * half[j * k + c];
            out[i * k + c] = sum;
        }
done:
    krein__free(ctx, half);
    return st;
}

/* F = S U^-1 with S K S + W lambda I = U'U, in the upper triangle of *out. */
static krein_status factor_kernel(krein_job *job, const double *weight, krein_posterior *p,
                                  double **out) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    const krein_map *map = job->model->map;
    krein_rows x = krein__map_landmarks(map);
    int64_t n = job->n;
    double *K = NULL;
    NEW(K, n * n);
    *out = K;
    krein__progress(ctx, "uncertainty", 0, 0);
    TRY(krein__gram_full(ctx, map->kernel, &x, &x, K));
    p->ridge = total(n, weight) * job->model->lambda;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i; j < n; j++)
            K[i * n + j] = sqrt(weight[i] * weight[j]) * K[i * n + j] + (i == j ? p->ridge : 0);
    TRY(invert(ctx, n, K));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i; j < n; j++) K[i * n + j] *= sqrt(weight[i]);
    TRY(krein__posterior_pack(ctx, p, K, n, 1, &p->factor));
done:
    return st;
}

static krein_status fit_kernel(krein_job *job, krein_posterior *p) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    int64_t n = job->n, k = p->k, wide = job->model->k;
    double *F = NULL, *y = NULL, *weight = NULL, *ones = NULL, *alpha = NULL, *mean = NULL;
    leftover o = {0};
    p->kernel = true;
    p->R = p->D = n;
    NEW(y, n * wide);
    NEW(weight, n);
    NEW(ones, n);
    ZNEW(mean, wide);
    NEW(p->centre, n);
    NEW(alpha, n * wide);
    TRY(leftover_begin(ctx, n, k, &o));
    TRY(krein__job_targets(job, y, NULL, weight, NULL));
    TRY(factor_kernel(job, weight, p, &F));
    for (int64_t i = 0; i < n; i++) ones[i] = 1;
    TRY(apply(ctx, n, 1, F, ones, p->centre));
    p->flat = 1 / total(n, p->centre);
    TRY(apply(ctx, n, wide, F, y, alpha));
    if (k > 0) {
        ZNEW(p->left, n * k);
        ZNEW(p->rest, n);
    }
    for (int64_t c = 0; c < k; c++) /* a'y / (1'a) */
        for (int64_t i = 0; i < n; i++) mean[c] += p->centre[i] * y[i * k + c] * p->flat;
    for (int64_t i = 0; i < n; i++) {
        double diagonal = -p->centre[i] * p->centre[i] * p->flat;
        for (int64_t j = i; j < n; j++) diagonal += F[i * n + j] * F[i * n + j];
        double rest = p->ridge * diagonal;
        if (!(weight[i] > 0) || !(rest > ALONE * weight[i])) continue;
        o.rest[o.n] = rest;
        o.q[o.n] = fmax(0, 1 / rest - 1 / weight[i]);
        for (int64_t c = 0; c < k; c++)
            o.left[o.n * k + c] = p->left[i * k + c] =
                (alpha[i * k + c] - p->centre[i] * mean[c]) / diagonal;
        if (k > 0) p->rest[i] = rest;
        o.n++;
    }
    TRY(learn_noise(ctx, p, &o));
done:
    krein__free(ctx, F);
    krein__free(ctx, y);
    krein__free(ctx, weight);
    krein__free(ctx, ones);
    krein__free(ctx, mean);
    krein__free(ctx, alpha);
    leftover_clear(ctx, &o);
    return st;
}

/* ---- the whole ---------------------------------------------------------- */

krein_status krein__posterior_fit(krein_job *job) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_model *m = job->model;
    krein_posterior *p = NULL;
    ZNEW(p, 1);
    m->posterior = p;
    p->k = krein__job_classes(job) ? 0 : m->k;
    TRY(m->map->cls->traits & KREIN_MAP_DUAL ? fit_kernel(job, p) : fit_features(job, p));
done:
    return st;
}

void krein__posterior_cost(const krein_map *map, int64_t n, int64_t k, krein_cost *out,
                           int64_t *passes) {
    double N = (double)n, R = (double)map->cls->features(map, n), K = (double)k;
    double threads = map->ctx->threads, rows = (double)sample_rows(n, map->d);
    bool mixed = krein__map_traits(map) & KREIN_MAP_MIX;
    double tiles = threads * (16.0 * KREIN_TILE * R + 8 * R);
    bool values = krein__map_traits(map) & KREIN_MAP_VALUES;
    double kept = 4 * R * (R + KREIN_POSTERIOR_PANEL) * (values ? 2 : 1) + 8 * R * (K + 2);
    if (map->cls->traits & KREIN_MAP_DUAL) {
        out->bytes += kept + 8 * N * N + 8 * N * (4 * K + 8);
        out->flops += N * N * krein__gram_flops(map->kernel, map->d) + N * N * N;
        *passes += 1;
        return;
    }
    out->bytes += kept + 8 * R * R + (mixed ? 16 * R * R : 0) + 12.0 * ROWS * R + tiles +
                  rows * (4 * (double)map->d + 24 * K + 40);
    out->flops += N * R * R + R * R * R + (mixed ? 8 * R * R * R : 0) + rows * R * R;
    *passes += 2;
}
