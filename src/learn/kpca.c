/* kpca -- kernel principal components: the directions in feature space along which the rows vary
 * most (schoelkopf1998)
 *
 * With weights w_i of the rows (1 where there are none), W their sum, m = sum w_i phi(x_i) / W:
 *     C = sum w_i (phi(x_i) - m)(phi(x_i) - m)' / W,   C v = mu v,   |v| = 1
 * mu is the variance along v and v'(phi(x) - m) the component of a row. The sum of all mu is the
 * total variance. Components are linear in the raw features, so the result is a model like others.
 *
 * On the kernel matrix (map=exact): with S = diag(sqrt w) and Kc the kernel matrix of the centred
 * phi(x_i) - m, S Kc S u = W mu u gives v = sum_i a_i phi(x_i), a = S u / sqrt(W mu). sum_i a_i = 0
 * because Kc w = 0, so nothing but the constant v'm is left of the centring in new rows.
 *
 * On features: C from one pass over the rows, products of float32 blocks added up in float64
 * (solve/ridge.c, without targets). Directions with less variance than the rounding of that are not
 * counted in the rank.
 *
 * Indefinite kernels. Eigenvalues of S Kc S may be negative: along their directions rows have
 * squared distances below zero, and no variance. Components are those of the positive ones; the
 * total is the sum of these. On features with a signature J the kernel matrix is Z J Z', and with
 * C = L L' the eigenpairs W mu, u come from the symmetric L'JL q = mu q: the weights of the
 * features are J L q / sqrt(mu). (J = I: L q / sqrt(mu) is the eigenvector of C.)
 *
 * The sign of a component is free: the largest entry of u, or of v on features, is positive.
 *
 * Cost: n^2 d + n^2 C a step, or n D^2 + D^2 C a step (num/eigen_top.c); indefinite: n^3 or D^3.
 */
#include "learn/kpca.h"

#include "learn/blocks.h"
#include "num/blas.h"
#include "num/eigen_top.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What came out of an eigendecomposition: `count` values (times W) and vectors of length n. */
typedef struct spectrum {
    int64_t n, count;
    double *value, *vector; /* descending; count x n */
    double total;           /* sum of the positive values, found here or not */
    double negative;        /* share of the negative ones in the sum of sizes */
} spectrum;

static void spectrum_end(krein_ctx *ctx, spectrum *s) {
    krein__free(ctx, s->value);
    krein__free(ctx, s->vector);
}

static void mirror(int64_t n, double *a) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) a[i * n + j] = a[j * n + i];
}

static double trace(int64_t n, const double *a) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i * n + i];
    return sum;
}

static krein_status spectrum_room(krein_ctx *ctx, int64_t n, int64_t count, spectrum *s) {
    krein_status st = KREIN_OK;
    s->n = n;
    s->count = krein__min(count, n);
    NEW(s->value, s->count);
    NEW(s->vector, s->count * n);
done:
    return st;
}

/* Of a positive matrix: the largest eigenvalues are enough. */
static krein_status positive_spectrum(krein_ctx *ctx, int64_t n, double *a, int64_t count,
                                      spectrum *s) {
    krein_status st = spectrum_room(ctx, n, count, s);
    if (st != KREIN_OK) return st;
    s->total = trace(n, a);
    return krein__eigen_top(ctx, n, a, s->count, s->value, s->vector);
}

/* Of any symmetric matrix: all eigenvalues, to know what is negative. */
static krein_status mixed_spectrum(krein_ctx *ctx, int64_t n, double *a, int64_t count,
                                   spectrum *s) {
    krein_status st = KREIN_OK;
    double *w = NULL, below = 0;
    TRY(spectrum_room(ctx, n, count, s));
    NEW(w, n);
    TRY(krein__eigen(ctx, n, a, n, w));
    double noise = (double)n * 0x1p-52 * fmax(fabs(w[0]), fabs(w[n - 1]));
    for (int64_t j = 0; j < n; j++) {
        s->total += fmax(w[j], 0);
        if (w[j] < -noise) below -= w[j];
    }
    s->negative = below > 0 ? below / (s->total + below) : 0;
    for (int64_t j = 0; j < s->count; j++) {
        s->value[j] = w[n - 1 - j];
        memcpy(s->vector + j * n, a + (n - 1 - j) * n, (size_t)n * sizeof *a);
    }
done:
    krein__free(ctx, w);
    return st;
}

/* Refuses more components than there are eigenvalues above `cut`. */
static krein_status check_rank(const krein_job *job, const spectrum *s, int64_t wanted, double cut,
                               bool exact) {
    int64_t rank = 0;
    bool few = !exact && wanted > s->n;
    while (rank < s->count && s->value[rank] > cut) rank++;
    if (rank >= wanted) return KREIN_OK;
    if (rank == 0)
        return krein__fail(job->ctx, KREIN_EDATA,
                           "%s: the rows do not vary under this kernel, so there are no "
                           "components; look at the columns, or at the kernel's parameters",
                           job->data->name);
    return krein__fail(job->ctx, KREIN_EDATA,
                       "%s: %lld components asked for, but the centred %s %s rank %lld; use "
                       "`components=%lld` or fewer%s",
                       job->data->name, (long long)wanted, exact ? "kernel matrix" : "features",
                       exact ? "has" : "have", (long long)rank, (long long)rank,
                       few ? ", or more features" : "");
}

static void fix_sign(int64_t n, double *v) {
    int64_t at = 0;
    for (int64_t i = 1; i < n; i++)
        if (fabs(v[i]) > fabs(v[at])) at = i;
    bool flip = v[at] < 0;
    for (int64_t i = 0; flip && i < n; i++) v[i] = -v[i];
}

/* The model's variances, and room for the rest. */
static krein_status begin_model(krein_model *m, const spectrum *s, int64_t components,
                                double weight) {
    krein_ctx *ctx = m->ctx;
    krein_status st = KREIN_OK;
    m->head = KREIN_HEAD_VALUES;
    m->k = components;
    NEW(m->w, m->map->R * components);
    ZNEW(m->intercept, components);
    NEW(m->variance, components);
    for (int64_t c = 0; c < components; c++) m->variance[c] = s->value[c] / weight;
    m->variance_total = s->total / weight;
done:
    return st;
}

/* ---- on the kernel matrix ----------------------------------------------- */

static krein_status sum_weights(krein_ctx *ctx, int64_t n, const double *weight, double *sum) {
    *sum = 0;
    for (int64_t i = 0; i < n; i++) *sum += weight[i];
    return *sum > 0 ? KREIN_OK : krein__fail(ctx, KREIN_EDATA, "all row weights are zero");
}

/* K becomes S Kc S; mean_i = sum_j w_j K_ij / W of the K that was. */
static void centre(krein_ctx *ctx, int64_t n, double *K, const double *weight, double W,
                   double *mean) {
    double all = 0;
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++) sum += weight[j] * K[i * n + j];
        mean[i] = sum / W;
    }
    for (int64_t i = 0; i < n; i++) all += weight[i] * mean[i] / W;
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            K[i * n + j] = sqrt(weight[i] * weight[j]) * (K[i * n + j] - mean[i] - mean[j] + all);
}

/* a = S u / sqrt(W mu) with sum_i a_i = 0 to the last digit, and -v'm. */
static void kernel_weights(krein_model *m, const spectrum *s, const double *weight, double W,
                           const double *mean) {
    int64_t n = s->n, k = m->k;
    for (int64_t c = 0; c < k; c++) {
        double *u = s->vector + c * n, along = 0, root = sqrt(s->value[c]);
        fix_sign(n, u);
        for (int64_t i = 0; i < n; i++) along += sqrt(weight[i]) * u[i];
        for (int64_t i = 0; i < n; i++) {
            double a = (sqrt(weight[i]) * u[i] - weight[i] * along / W) / root;
            m->w[i * k + c] = a;
            m->intercept[c] -= a * mean[i];
        }
    }
}

/* Rounding of the kernel values and of the decomposition: below there is nothing to be seen. */
static const double RANK = 1e-12, NOISE = 1e-14;

static krein_status on_kernel(krein_job *job, int64_t components, double *negative) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_model *m = job->model;
    int64_t n = job->n;
    double *K = NULL, *weight = NULL, *mean = NULL, W, before = 0;
    spectrum s = {0};
    NEW(K, n * n);
    NEW(weight, n);
    NEW(mean, n);
    TRY(krein__job_targets(job, NULL, NULL, weight, NULL));
    TRY(sum_weights(ctx, n, weight, &W));
    krein_rows x = krein__map_landmarks(m->map);
    krein__progress(ctx, "kernel matrix", 0, 0);
    TRY(krein__gram_full(ctx, m->map->kernel, &x, &x, K));
    for (int64_t i = 0; i < n; i++) before += weight[i] * fabs(K[i * n + i]);
    centre(ctx, n, K, weight, W, mean);
    TRY(krein__poll(ctx));
    krein__progress(ctx, "components", 0, 0);
    TRY(krein__kernel_positive(m->map->kernel) ? positive_spectrum(ctx, n, K, components, &s)
                                               : mixed_spectrum(ctx, n, K, components, &s));
    TRY(check_rank(job, &s, components, fmax(RANK * s.value[0], NOISE * before), true));
    TRY(begin_model(m, &s, components, W));
    kernel_weights(m, &s, weight, W, mean);
    *negative = s.negative;
done:
    krein__free(ctx, K);
    krein__free(ctx, weight);
    krein__free(ctx, mean);
    spectrum_end(ctx, &s);
    return st;
}

/* ---- on features -------------------------------------------------------- */

static krein_status accumulate(krein_job *job, krein_blocks *b, krein_ridge *sums) {
    krein_status st = KREIN_OK;
    krein_block block;
    TRY(krein__stream_rewind(job->rows));
    for (;;) {
        TRY(krein__stream_next(job->rows, &block));
        if (block.x.n == 0) break;
        float *z = krein__blocks_features(b, &block.x);
        krein__ridge_add(sums, block.x.n, z, NULL, block.weight);
        krein__progress(job->ctx, "covariance", (double)(block.first + block.x.n), (double)job->n);
    }
done:
    return st;
}

/* C = L L' and L'JL q = mu q; the vectors become J L q / sqrt(mu). C is overwritten. */
static krein_status signed_spectrum(krein_ctx *ctx, int64_t D, double *C, const int8_t *sign,
                                    int64_t count, spectrum *s) {
    krein_status st = KREIN_OK;
    double *c = NULL, *flipped = NULL, *M = NULL, *q = NULL;
    NEW(c, D);
    NEW(flipped, D * D);
    NEW(M, D * D);
    TRY(krein__eigen(ctx, D, C, D, c)); /* row j: eigenvector j; becomes column j of L */
    for (int64_t j = 0; j < D; j++)
        for (int64_t i = 0; i < D; i++) {
            C[j * D + i] *= sqrt(fmax(c[j], 0));
            flipped[j * D + i] = sign[i] * C[j * D + i];
        }
    krein__pgemm(ctx, false, true, D, D, D, 1, C, D, flipped, D, 0, M, D);
    TRY(mixed_spectrum(ctx, D, M, count, s));
    NEW(q, s->count * D);
    memcpy(q, s->vector, (size_t)(s->count * D) * sizeof *q);
    for (int64_t k = 0; k < s->count; k++)
        for (int64_t i = 0; i < D; i++)
            q[k * D + i] /= s->value[k] > 0 ? sqrt(s->value[k]) : INFINITY;
    krein__pgemm(ctx, false, false, s->count, D, D, 1, q, D, flipped, D, 0, s->vector, D);
done:
    krein__free(ctx, c);
    krein__free(ctx, flipped);
    krein__free(ctx, M);
    krein__free(ctx, q);
    return st;
}

/* v as weights of the raw features, and -v'm. The system's mean is that of z less the offset. */
static void feature_weights(krein_model *m, const spectrum *s, const krein_system *system,
                            const float *offset) {
    const krein_map *map = m->map;
    int64_t D = s->n, k = m->k;
    for (int64_t c = 0; c < k; c++) {
        double *v = s->vector + c * D;
        fix_sign(D, v);
        for (int64_t j = 0; j < D; j++) m->intercept[c] -= system->mean[j] * v[j];
        for (int64_t j = 0; !map->mix && j < D; j++) m->w[j * k + c] = v[j];
    }
    if (map->mix)
        krein__pgemm(m->ctx, false, true, map->R, k, D, 1, map->mix, D, s->vector, D, 0, m->w, k);
    for (int64_t j = 0; j < map->R; j++)
        for (int64_t c = 0; c < k; c++) m->intercept[c] -= (double)offset[j] * m->w[j * k + c];
}

/* Variance below this is rounding: of the sums (krein__system_floor), and of float32 features of
 * about the size of their mean. */
static double feature_noise(const krein_system *system, const krein_map *map, const float *offset) {
    double square = 0;
    for (int64_t j = 0; !map->mix && j < map->R; j++)
        square += (double)offset[j] * (double)offset[j];
    return system->weight * fmax(krein__system_floor(system), NOISE * square);
}

static krein_status on_features(krein_job *job, int64_t components, double *negative) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_model *m = job->model;
    const krein_map *map = m->map;
    int64_t D = map->D;
    krein_blocks b = {0};
    krein_ridge sums = {0};
    krein_system system = {0};
    spectrum s = {0};
    TRY(krein__blocks_begin(map, job->rows, false, &b));
    TRY(krein__ridge_begin(ctx, D, 0, b.rows, &sums));
    TRY(accumulate(job, &b, &sums));
    TRY(krein__ridge_system(&sums, NULL, 0, D, &system));
    krein__ridge_clear(&sums);
    krein__progress(ctx, "components", 0, 0);
    mirror(D, system.G);
    double noise = feature_noise(&system, map, b.offset);
    TRY(map->sign ? signed_spectrum(ctx, D, system.G, map->sign, components, &s)
                  : positive_spectrum(ctx, D, system.G, components, &s));
    TRY(check_rank(job, &s, components, noise, false));
    TRY(begin_model(m, &s, components, system.weight));
    feature_weights(m, &s, &system, b.offset);
    *negative = s.negative;
done:
    krein__blocks_end(&b);
    krein__ridge_clear(&sums);
    krein__system_clear(ctx, &system);
    spectrum_end(ctx, &s);
    return st;
}

/* ---- both --------------------------------------------------------------- */

krein_status krein__kpca(krein_job *job, int64_t components, double *negative) {
    krein_ctx *ctx = job->ctx;
    krein_model *m = job->model;
    bool exact = m->map->cls->traits & KREIN_MAP_DUAL;
    krein_status st =
        exact ? on_kernel(job, components, negative) : on_features(job, components, negative);
    if (st != KREIN_OK) return st;
    for (int64_t i = 0; i < m->map->R * m->k; i++)
        if (!isfinite(m->w[i]))
            return krein__fail(ctx, KREIN_ENUMERIC,
                               "the components are not finite; scale the data (`scale=standard`)");
    m->learner = krein__format(ctx, "kpca(components=%lld)", (long long)components);
    return m->learner ? KREIN_OK : ctx->status;
}

double krein__kpca_bytes(const krein_map *map, int64_t n, int64_t components) {
    bool exact = map->cls->traits & KREIN_MAP_DUAL;
    double N = (double)n, k = (double)components;
    if (exact)
        return 8 * N * N + 16 * N + 8 * N * k +
               krein__eigen_top_bytes(n, components, map->ctx->threads,
                                      !krein__kernel_positive(map->kernel));
    double D = (double)map->cls->features(map, n);
    int64_t rows = krein__block_rows(map->d);
    /* A signature is not known before the fit: two matrices and a full decomposition. */
    bool mixed = !krein__kernel_positive(map->kernel);
    return krein__blocks_bytes(map, n) +
           krein__ridge_bytes((int64_t)D, 0, rows, map->ctx->threads) + 16 * D * k +
           (mixed ? 16 * D * D : 0) +
           krein__eigen_top_bytes((int64_t)D, components, map->ctx->threads, mixed);
}
