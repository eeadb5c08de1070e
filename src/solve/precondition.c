/* precondition -- two Cholesky factors for ridge regression on kernel values at landmarks
 *
 *     min over a, b of  sum w_i (y_i - k_i'a - b)^2 / W + lambda a'Ka,     K + jitter I = T'T
 *
 * In the coordinates w = T a the penalty is lambda |w|^2 (but for the jitter), the features are z =
 * T^-T k, and the landmarks' own have the covariance TT'/m less their mean's square: P = S + lambda
 * I = U'U is a preconditioner that costs two factorisations and no pass over the rows (rudi2017b).
 * Rows beside the landmarks can be added to S. Without K it is the covariance of a sample.
 *
 * The jitter. Kernel values and products of single precision have rounding errors of a root mean
 * square `noise`, which are noise / sqrt(mu_j) in z along an eigenvalue mu_j of K. Where mu_j is
 * small, they are features like others: rounding errors that are fitted to the targets, and
 * products that are not those of a symmetric matrix. A jitter takes such directions away, and is an
 * error itself where a direction's variance mu_j / m is not far below lambda. Errors of
 * predictions, in parts of their deviation (1,600 rows of 6 inputs, 400 landmarks, a Gaussian of
 * width 4, noise 1e-7):
 *
 *   jitter       9e-9    9e-8    9e-7    9e-6    9e-5
 *   lambda 0.1                 6.7e-7  5.4e-6  4.9e-5
 *   1e-4       7.5e-4  6.2e-5  1.8e-5
 *   1e-5       4.0e-3  4.2e-4  1.2e-4  6.1e-4
 *   1e-6               6.2e-3  9.4e-4  4.4e-3
 *
 * so that it is a few times the noise, or more where that is below BIAS m lambda, or where lambda
 * is so small that the noise in z, noise^2 / jitter, would not be. Steps are powers of ten, so that
 * lambdas share a factor.
 *
 * S and U, K and T share a square each: 16 n^2 bytes for both, and 4 n^2 while S or U is made. n^3
 * / 3 flops a factor and as many for S; T is in double, S and U are made in single precision. */
#include "solve/precondition.h"

#include "num/blas.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <string.h>

enum { TILE = 256, COPY = 64 };

/* The upper triangle of a becomes what stands below the diagonal; the diagonal is d + more. */
static void restore(krein_ctx *ctx, int64_t n, double *a, const double *d, double more) {
    int64_t tiles = (n + COPY - 1) / COPY;
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 1)
    for (int64_t q = 0; q < tiles * tiles; q++) {
        int64_t i0 = q / tiles * COPY, j0 = q % tiles * COPY;
        if (i0 > j0) continue;
        for (int64_t i = i0; i < krein__min(i0 + COPY, n); i++)
            for (int64_t j = krein__max(j0, i + 1); j < krein__min(j0 + COPY, n); j++)
                a[i * n + j] = a[j * n + i];
    }
    for (int64_t i = 0; i < n; i++) a[i * n + i] = d[i] + more;
}

/* The upper triangle to the lower one. */
static void lower(krein_ctx *ctx, int64_t n, double *a) {
    int64_t tiles = (n + COPY - 1) / COPY;
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 1)
    for (int64_t q = 0; q < tiles * tiles; q++) {
        int64_t i0 = q / tiles * COPY, j0 = q % tiles * COPY;
        if (i0 < j0) continue;
        for (int64_t i = i0; i < krein__min(i0 + COPY, n); i++)
            for (int64_t j = j0; j < krein__min(j0 + COPY, i); j++) a[i * n + j] = a[j * n + i];
    }
}

/* ---- coordinates -------------------------------------------------------- */

krein_status krein__basis_make(krein_ctx *ctx, int64_t n, double *K, double noise, krein_basis *b) {
    krein_status st = KREIN_OK;
    *b = (krein_basis){.ctx = ctx, .n = n, .k = K, .noise = noise, .jitter = -1};
    NEW(b->diagonal, n);
    for (int64_t i = 0; i < n; i++) {
        b->diagonal[i] = K[i * n + i];
        b->size += K[i * n + i] / (double)n;
    }
    if (!(b->size > 0))
        st = krein__fail(ctx, KREIN_ENUMERIC, "nystrom: the kernel is zero on the landmarks");
done:
    return st;
}

void krein__basis_clear(krein_basis *b) {
    if (!b->ctx) return;
    krein__free(b->ctx, b->k);
    krein__free(b->ctx, b->diagonal);
    memset(b, 0, sizeof *b);
}

static const double BIAS = 1e-7;

static double jitter_for(const krein_basis *b, double lambda) {
    double least = fmax(DBL_EPSILON * (double)b->n * b->size, 4 * b->noise);
    double wanted = fmax(BIAS * (double)b->n * lambda, 10 * b->noise * b->noise / lambda);
    wanted = fmin(wanted, 1e-3 * b->size);
    return wanted > least ? least * pow(10, ceil(log10(wanted / least) - 1e-9)) : least;
}

krein_status krein__basis_factor(krein_basis *b, double lambda, bool *changed) {
    krein_ctx *ctx = b->ctx;
    double jitter = jitter_for(b, lambda);
    *changed = b->jitter < 0 || jitter != b->jitter;
    if (!*changed) return KREIN_OK;
    for (;; jitter *= 10) {
        restore(ctx, b->n, b->k, b->diagonal, jitter);
        krein_status st = krein__cholesky(ctx, b->n, b->k, b->n, NULL);
        b->jitter = st == KREIN_OK ? jitter : -1;
        if (st != KREIN_ENUMERIC || jitter > 1e-3 * b->size) return st;
        krein__log(ctx, KREIN_LOG_INFO,
                   "nystrom: the landmarks' kernel matrix is not positive with %.1e on its "
                   "diagonal; trying %.1e",
                   jitter, jitter * 10);
    }
}

void krein__basis_to_raw(const krein_basis *b, int64_t m, double *v) {
    krein__triangle_solve(b->ctx, false, b->n, b->k, b->n, m, v, b->n);
}

void krein__basis_from_raw(const krein_basis *b, int64_t m, double *v) {
    krein__triangle_solve(b->ctx, true, b->n, b->k, b->n, m, v, b->n);
}

double krein__basis_bytes(int64_t n) { return 8 * (double)n * (double)n + 8 * (double)n + 4096; }

/* ---- the preconditioner ------------------------------------------------- */

static krein_status begin(krein_ctx *ctx, int64_t n, krein_factor *f) {
    krein_status st = KREIN_OK;
    *f = (krein_factor){.ctx = ctx, .n = n, .lambda = -1};
    NEW(f->s, n * n);
    NEW(f->diagonal, n);
done:
    return st;
}

static void end(krein_factor *f) {
    f->trace = 0;
    for (int64_t i = 0; i < f->n; i++) {
        f->diagonal[i] = f->s[i * f->n + i];
        f->trace += f->diagonal[i];
    }
}

/* T in float32, zeros below the diagonal: an error of the preconditioner alone. Products of its
 * rows are off by 2^-24 of their lengths, which are those of kernel values: as a matrix that is
 * 2^-24 / sqrt(n), far below every lambda. */
static void narrow(const krein_basis *b, float *t) {
    int64_t n = b->n;
#pragma omp parallel for num_threads(b->ctx->threads) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        memset(t + i * n, 0, (size_t)i * sizeof *t);
        for (int64_t j = i; j < n; j++) t[i * n + j] = (float)b->k[i * n + j];
    }
}

/* A tile of TT' / n - mean mean', rows from i and columns from j <= i. own: TILE^2. */
static void product_tile(int64_t n, const float *t, const double *mean, int64_t i, int64_t j,
                         float *own, double *s) {
    int64_t ti = krein__min(TILE, n - i), tj = krein__min(TILE, n - j);
    krein__sgemm(false, true, ti, tj, n - i, 1 / (float)n, t + i * n + i, n, t + j * n + i, n, 0,
                 own, tj);
    for (int64_t a = 0; a < ti; a++)
        for (int64_t c = 0; c < tj; c++)
            s[(i + a) * n + j + c] = (double)own[a * tj + c] - mean[i + a] * mean[j + c];
}

krein_status krein__factor_of_basis(const krein_basis *b, krein_factor *f) {
    krein_ctx *ctx = b->ctx;
    krein_status st = KREIN_OK;
    int64_t n = b->n, tiles = (n + TILE - 1) / TILE;
    double *mean = NULL;
    float *t = NULL, *own = NULL;
    if (!f->s) TRY(begin(ctx, n, f));
    f->lambda = -1;
    ZNEW(mean, n);
    NEW(t, n * n);
    NEW(own, ctx->threads * TILE * TILE);
    narrow(b, t);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i; j < n; j++) mean[i] += b->k[i * n + j] / (double)n;
    krein_compute compute = krein__compute_begin();
#pragma omp parallel num_threads(ctx->threads)
    {
        krein__worker_begin();
        /* The longest sums are the first. */
#pragma omp for schedule(dynamic, 1)
        for (int64_t q = 0; q < tiles * tiles; q++)
            if (q / tiles >= q % tiles)
                product_tile(n, t, mean, q / tiles * TILE, q % tiles * TILE,
                             own + omp_get_thread_num() * TILE * TILE, f->s);
        krein__worker_end(compute);
    }
    krein__compute_end(compute);
    end(f);
done:
    krein__free(ctx, mean);
    krein__free(ctx, t);
    krein__free(ctx, own);
    return st;
}

/* The upper triangle of S += Z'Z in float32 products, then times scale, and the lower one. */
static krein_status add_rows(krein_factor *f, int64_t rows, const float *z, double scale) {
    enum { ROWS = 2048 };
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    int64_t n = f->n;
    float *scratch = NULL;
    NEW(scratch, ctx->threads * krein__syrk_tile(n) * krein__syrk_tile(n));
    for (int64_t i = 0; i < rows; i += ROWS) {
        krein__syrk_add(ctx, n, krein__min(ROWS, rows - i), z + i * n, n, f->s, n, scratch);
        TRY(krein__poll(ctx));
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i; j < n; j++) f->s[i * n + j] *= scale;
    lower(ctx, n, f->s);
    end(f);
done:
    krein__free(ctx, scratch);
    return st;
}

krein_status krein__factor_of_rows(krein_ctx *ctx, int64_t rows, int64_t n, const float *z,
                                   double weight, krein_factor *f) {
    krein_status st = KREIN_OK;
    TRY(begin(ctx, n, f));
    memset(f->s, 0, (size_t)(n * n) * sizeof *f->s);
    TRY(add_rows(f, rows, z, 1 / weight));
done:
    return st;
}

/* Z = R T^-1, by T in float32: an error of the preconditioner alone. */
static krein_status to_basis(const krein_basis *b, int64_t rows, float *r) {
    enum { ROWS = 128 };
    krein_ctx *ctx = b->ctx;
    krein_status st = KREIN_OK;
    int64_t n = b->n;
    float *t = NULL;
    NEW(t, n * n);
    narrow(b, t);
    krein_compute compute = krein__compute_begin();
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 1)
    for (int64_t i = 0; i < rows; i += ROWS) {
        krein__worker_begin();
        krein__strsm(krein__min(ROWS, rows - i), n, t, n, r + i * n, n);
        krein__worker_end(compute);
    }
    krein__compute_end(compute);
    krein__free(ctx, t);
    TRY(krein__poll(ctx));
done:
    return st;
}

krein_status krein__factor_add_rows(krein_factor *f, const krein_basis *b, int64_t rows, float *r,
                                    double weight) {
    krein_status st = KREIN_OK;
    int64_t n = f->n;
    double share = weight / (double)rows; /* of one of the points */
    TRY(to_basis(b, rows, r));
    restore(f->ctx, n, f->s, f->diagonal, 0);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i; j < n; j++) f->s[i * n + j] *= share * (double)n;
    TRY(add_rows(f, rows, r, 1 / (weight + share * (double)n)));
done:
    return st;
}

void krein__factor_clear(krein_factor *f) {
    if (!f->ctx) return;
    krein__free(f->ctx, f->s);
    krein__free(f->ctx, f->diagonal);
    memset(f, 0, sizeof *f);
}

/* In float32, which is enough for a preconditioner where S + lambda is positive to that: errors are
 * parts of 2^-24 of the diagonal, entry by entry. *made: it was. */
static krein_status factor32(krein_factor *f, double lambda, bool *made) {
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    int64_t n = f->n;
    float *u = NULL;
    *made = false;
    NEW(u, n * n);
    restore(ctx, n, f->s, f->diagonal, lambda);
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i; j < n; j++) u[i * n + j] = (float)f->s[i * n + j];
    st = krein__cholesky32(ctx, n, u, n, NULL);
    if (st == KREIN_ENUMERIC) {
        ctx->status = st = KREIN_OK;
        ctx->message[0] = 0;
        goto done;
    }
    TRY(st);
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i; j < n; j++) f->s[i * n + j] = (double)u[i * n + j];
    *made = true;
done:
    krein__free(ctx, u);
    return st;
}

krein_status krein__factor_at(krein_factor *f, double lambda) {
    krein_status st = KREIN_OK;
    bool single = false;
    if (f->lambda == lambda) return KREIN_OK;
    f->lambda = -1;
    if ((st = factor32(f, lambda, &single)) != KREIN_OK) return st;
    if (single) {
        f->lambda = lambda;
        return KREIN_OK;
    }
    /* S is rounded: a lambda below that is lifted, in the preconditioner alone. */
    for (double lift = lambda, least = 1e-15 * f->trace;; lift = fmax(100 * lift, least)) {
        restore(f->ctx, f->n, f->s, f->diagonal, lift);
        st = krein__cholesky(f->ctx, f->n, f->s, f->n, NULL);
        if (st != KREIN_ENUMERIC || lift > f->trace) break;
    }
    if (st == KREIN_OK) f->lambda = lambda;
    return st;
}

void krein__factor_apply(const krein_factor *f, int64_t m, const double *r, double *out) {
    memcpy(out, r, (size_t)(m * f->n) * sizeof *r);
    krein__triangle_solve(f->ctx, true, f->n, f->s, f->n, m, out, f->n);
    krein__triangle_solve(f->ctx, false, f->n, f->s, f->n, m, out, f->n);
}

/* Some steps of the power method from the diagonal. */
krein_status krein__factor_top(const krein_factor *f, double *out) {
    enum { STEPS = 8 };
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    int64_t n = f->n;
    double *x = NULL, *y = NULL;
    *out = 0;
    NEW(x, n);
    NEW(y, n);
    for (int64_t i = 0; i < n; i++) x[i] = f->diagonal[i] + f->trace / (double)n;
    for (int step = 0; step < STEPS; step++) {
        for (int64_t i = 0; i < n; i++) y[i] = f->diagonal[i] * x[i];
        for (int64_t i = 0; i < n; i++) {
            const double *row = f->s + i * n;
            y[i] += krein__ddot(i, row, x);
            for (int64_t j = 0; j < i; j++) y[j] += row[j] * x[i];
        }
        double xx = krein__ddot(n, x, x), yy = krein__ddot(n, y, y);
        if (!(xx > 0) || !(yy > 0)) break;
        *out = krein__ddot(n, x, y) / xx;
        for (int64_t i = 0; i < n; i++) x[i] = y[i] / sqrt(yy);
    }
done:
    krein__free(ctx, x);
    krein__free(ctx, y);
    return st;
}

double krein__factor_bytes(int64_t n, int threads) {
    double tile = (double)krein__max(TILE, krein__syrk_tile(n));
    return 12 * (double)n * (double)n + 32 * (double)n + 8 * threads * tile * tile + 8192;
}
