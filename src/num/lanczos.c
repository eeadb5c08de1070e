/* lanczos.c -- block Lanczos with full orthogonalisation and thick restarts
 *
 * V holds an orthonormal basis of at most `most` columns, W = A V, H = V'W. The newest block of W,
 * made orthogonal to V and to itself (twice), is the next block of V, so that V spans the block
 * Krylov space of its first block. When it is full
 *
 *     H = Y diag(h) Y',    |W y - h V y|       Ritz pairs and residuals
 *
 * tell whether the first k are good enough. If not, V starts again from its best Ritz vectors and
 * goes on with the block that was next (stewart2002). A block, since eigenvalues may coincide: a
 * graph in several pieces has the eigenvalue 1 once for each. A few more columns than asked for
 * (guards) make the last ones converge faster.
 *
 * Cost of a step: one product A times b columns and about 10 n m b flops for a basis of m. Sums
 * have a fixed order: the bits do not depend on the threads. */
#include "num/lanczos.h"

#include "num/blas.h"

#include <math.h>
#include <string.h>

typedef struct basis {
    krein_ctx *ctx;
    int64_t n, b, most; /* columns of a block; of V at most */
    int64_t m;          /* of V now */
    double *V, *W;      /* most x n: the columns, one after the other */
    double *H, *Y, *h;  /* most x most; its eigenvectors as rows, its eigenvalues */
    double *R;          /* b x n: the next block */
    double *in, *out;   /* n x b, for the operator */
    double *part;       /* chunks x most x b, of inner products */
} basis;

enum { CHUNK = 4096 };

static int64_t block_size(int64_t n, int64_t k) { return krein__min(n, k + krein__min(k, 4) + 2); }

static int64_t basis_size(int64_t n, int64_t k) {
    int64_t b = block_size(n, k);
    return krein__min(n, krein__max(8 * b, 64 + 2 * b));
}

double krein__top_eigen_bytes(int64_t n, int64_t k, int threads) {
    double b = (double)block_size(n, k), m = (double)basis_size(n, k), N = (double)n;
    double chunks = ceil(N / CHUNK);
    return 8 * (N * (2 * m + fmax(m / 3, 2 * b) + 3 * b) + chunks * m * b + 6 * m * m + 200 * m) +
           131072 + 8.0 * 25000 * threads;
}

static krein_status basis_begin(basis *s) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    NEW(s->V, s->most * s->n);
    NEW(s->W, s->most * s->n);
    NEW(s->H, s->most * s->most);
    NEW(s->Y, s->most * s->most);
    NEW(s->h, s->most);
    NEW(s->R, s->b * s->n);
    NEW(s->in, s->n * s->b);
    NEW(s->out, s->n * s->b);
    NEW(s->part, (s->n + CHUNK - 1) / CHUNK * s->most * s->b);
done:
    return st;
}

static void basis_end(basis *s) {
    krein_ctx *ctx = s->ctx;
    void *all[] = {s->V, s->W, s->H, s->Y, s->h, s->R, s->in, s->out, s->part};
    for (int64_t k = 0; k < KREIN__COUNT(all); k++) krein__free(ctx, all[k]);
}

/* C (p x q) = A B' for p rows of A and q of B, n long: chunks in parallel, added in order. p <=
 * most, q <= b. */
static void inner(basis *s, int64_t p, const double *a, int64_t q, const double *b, double *c,
                  int64_t ldc) {
    int64_t chunks = (s->n + CHUNK - 1) / CHUNK;
    krein_compute compute = krein__compute_begin();
#pragma omp parallel for num_threads(s->ctx->threads) schedule(dynamic)
    for (int64_t k = 0; k < chunks; k++) {
        krein__worker_begin();
        int64_t from = k * CHUNK, length = krein__min(CHUNK, s->n - from);
        krein__dgemm(false, true, p, q, length, 1, a + from, s->n, b + from, s->n, 0,
                     s->part + k * p * q, q);
        krein__worker_end(compute);
    }
    krein__compute_end(compute);
    for (int64_t i = 0; i < p; i++)
        for (int64_t j = 0; j < q; j++) {
            double sum = 0;
            for (int64_t k = 0; k < chunks; k++) sum += s->part[k * p * q + i * q + j];
            c[i * ldc + j] = sum;
        }
}

/* Takes the components along V off the first b rows of R. */
static void project_out(basis *s, int64_t b) {
    double *t = s->in; /* m x b fits: m <= n */
    if (s->m == 0) return;
    inner(s, s->m, s->V, b, s->R, t, b);
    krein__pgemm(s->ctx, true, false, b, s->n, s->m, -1, t, b, s->V, s->n, 1, s->R, s->n);
}

/* Makes the first b rows of R orthonormal among themselves; those that depend on the ones before
 * are left out. Returns how many there are then. */
static int64_t orthonormal(basis *s, int64_t b) {
    int64_t n = s->n, have = 0;
    for (int64_t c = 0; c < b; c++) {
        double *r = s->R + c * n, *to = s->R + have * n, before = sqrt(krein__ddot(n, r, r));
        for (int64_t j = 0; j < have; j++) {
            const double *v = s->R + j * n;
            double t = krein__ddot(n, v, r);
            for (int64_t i = 0; i < n; i++) r[i] -= t * v[i];
        }
        double left = sqrt(krein__ddot(n, r, r));
        if (!(left > 1e-10 * before) || !(left > 1e-300)) continue;
        for (int64_t i = 0; i < n; i++) to[i] = r[i] / left;
        have++;
    }
    return have;
}

/* Appends to V what is new in the first b rows of R; returns how many columns that were. */
static int64_t extend(basis *s, int64_t b) {
    for (int pass = 0; pass < 2; pass++) {
        project_out(s, b);
        b = orthonormal(s, b);
    }
    b = krein__min(b, s->most - s->m);
    memcpy(s->V + s->m * s->n, s->R, (size_t)(b * s->n) * sizeof *s->V);
    s->m += b;
    return b;
}

/* W for the columns of V from `first` on. */
static krein_status multiply(basis *s, int64_t first, krein_operator apply, void *state) {
    for (int64_t from = first; from < s->m; from += s->b) {
        int64_t k = krein__min(s->b, s->m - from);
        for (int64_t i = 0; i < s->n; i++)
            for (int64_t c = 0; c < k; c++) s->in[i * k + c] = s->V[(from + c) * s->n + i];
        krein_status st = apply(state, k, s->in, s->out);
        if (st != KREIN_OK) return st;
        for (int64_t i = 0; i < s->n; i++)
            for (int64_t c = 0; c < k; c++) s->W[(from + c) * s->n + i] = s->out[i * k + c];
    }
    return KREIN_OK;
}

/* The columns of H from `first` on, and below them by symmetry. */
static void extend_products(basis *s, int64_t first) {
    int64_t b = s->m - first, ld = s->most;
    inner(s, s->m, s->V, b, s->W + first * s->n, s->H + first, ld);
    for (int64_t i = 0; i < b; i++)
        for (int64_t j = 0; j < first + i; j++) {
            double *lower = s->H + (first + i) * ld + j, *upper = s->H + j * ld + first + i;
            if (j >= first) *upper = (*lower + *upper) / 2; /* the two computed apart */
            *lower = *upper;
        }
}

/* Eigenvectors of H, the largest eigenvalue first. */
static krein_status project(basis *s) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    int64_t m = s->m;
    double *a = NULL, *w = NULL;
    NEW(a, m * m);
    NEW(w, m);
    for (int64_t i = 0; i < m; i++) memcpy(a + i * m, s->H + i * s->most, (size_t)m * sizeof *a);
    TRY(krein__eigen(ctx, m, a, m, w));
    for (int64_t i = 0; i < m; i++) {
        memcpy(s->Y + i * m, a + (m - 1 - i) * m, (size_t)m * sizeof *a);
        s->h[i] = w[m - 1 - i];
    }
done:
    krein__free(ctx, a);
    krein__free(ctx, w);
    return st;
}

/* The largest residual of the first k Ritz pairs, measured by |A| as far as V knows it. */
static double residuals(basis *s, int64_t k) {
    int64_t n = s->n, m = s->m;
    double worst = 0, norm = fmax(fabs(s->h[0]), fabs(s->h[m - 1])), *r = s->in;
    krein__pgemm(s->ctx, false, false, k, n, m, 1, s->Y, m, s->V, n, 0, r, n);
    for (int64_t c = 0; c < k; c++)
        for (int64_t i = 0; i < n; i++) r[c * n + i] *= -s->h[c];
    krein__pgemm(s->ctx, false, false, k, n, m, 1, s->Y, m, s->W, n, 1, r, n);
    for (int64_t c = 0; c < k; c++) worst = fmax(worst, sqrt(krein__ddot(n, r + c * n, r + c * n)));
    return norm > 0 ? worst / norm : worst;
}

/* V and W become their best p Ritz vectors. */
static krein_status restart(basis *s, int64_t p) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    double *part = NULL, *all[] = {s->V, s->W};
    NEW(part, p * s->n);
    for (int k = 0; k < 2; k++) {
        krein__pgemm(ctx, false, false, p, s->n, s->m, 1, s->Y, s->m, all[k], s->n, 0, part, s->n);
        memcpy(all[k], part, (size_t)(p * s->n) * sizeof *part);
    }
    s->m = p;
    for (int64_t i = 0; i < p; i++)
        for (int64_t j = 0; j < p; j++) s->H[i * s->most + j] = i == j ? s->h[i] : 0;
done:
    krein__free(ctx, part);
    return st;
}

krein_status krein__apply_dense(void *state, int64_t k, const double *x, double *y) {
    const krein_dense_operator *s = state;
    krein__pgemm(s->ctx, false, false, s->n, k, s->n, 1, s->a, s->n, x, k, 0, y, k);
    return KREIN_OK;
}

krein_status krein__top_eigen(krein_ctx *ctx, int64_t n, int64_t k, krein_operator apply,
                              void *state, krein_rng g, double tolerance, int64_t steps,
                              double *value, double *vector, double *residual) {
    krein_status st = KREIN_OK;
    basis s = {.ctx = ctx, .n = n, .b = block_size(n, k), .most = basis_size(n, k)};
    int64_t made = 0;
    krein_compute compute = krein__compute_begin();
    TRY(basis_begin(&s));
    for (int64_t c = 0; c < s.b; c++)
        for (int64_t i = 0; i < n; i++)
            s.R[c * n + i] = krein__rng_normal(g, (uint64_t)i, (uint64_t)c);
    for (int64_t step = 0, b = s.b;; step++) {
        int64_t had = s.m;
        b = extend(&s, b);
        if (b > 0) {
            TRY(multiply(&s, had, apply, state));
            extend_products(&s, had);
            memcpy(s.R, s.W + had * n, (size_t)(b * n) * sizeof *s.R);
        }
        TRY(krein__poll(ctx));
        made += b;
        bool last = b == 0 || s.m == n || step >= steps; /* b = 0: an invariant space */
        if (!last && (s.m + b <= s.most || s.most == n)) continue;
        TRY(project(&s));
        *residual = residuals(&s, k);
        krein__progress(ctx, "eigenvectors", log(fmin(1, fmax(*residual, tolerance))),
                        log(tolerance));
        if (last || *residual <= tolerance) break;
        project_out(&s, b);
        TRY(restart(&s, krein__max(2 * s.b, s.most / 3)));
    }
    krein__log(ctx, KREIN_LOG_DEBUG,
               "eigenvectors: %lld products with a matrix of order %lld, residual %.1e of its norm",
               (long long)made, (long long)n, *residual);
    krein__pgemm(ctx, true, true, n, k, s.m, 1, s.V, n, s.Y, s.m, 0, vector, k);
    memcpy(value, s.h, (size_t)k * sizeof *value);
done:
    krein__compute_end(compute);
    basis_end(&s);
    return st;
}
