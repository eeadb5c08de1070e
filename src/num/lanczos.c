/* lanczos.c -- block Lanczos with full orthogonalisation and thick restarts
 *
 * V holds an orthonormal basis of at most m columns, W = A V. Each step
 *
 *     H = V'W = Y diag(h) Y',    R = W Y_k - V Y_k diag(h_k)       Ritz pairs and residuals
 *
 * stops where the residuals of the first k are small, and otherwise appends R, made orthogonal to V and
 * to itself (twice), to the basis: V then spans the block Krylov space of its first block. When it
 * is full it starts again from the best Ritz vectors (stewart2002). A block, since eigenvalues may
 * coincide: a graph in several pieces has the eigenvalue 1 once for each. A few more columns than
 * asked for (guards) make the last ones converge faster.
 *
 * Cost of a step: one product A times b columns, 4 n m b flops, and an eigendecomposition of order
 * m. Sums have a fixed order: the bits do not depend on the threads. */
#include "num/lanczos.h"

#include "num/blas.h"

#include <math.h>
#include <string.h>

typedef struct basis {
    krein_ctx *ctx;
    int64_t n, b, most; /* columns of a block; of V at most */
    int64_t m;          /* of V now */
    double *V, *W;      /* most x n: the columns, one after the other */
    double *H, *Y, *h;  /* most x most, its eigenvectors as rows, its eigenvalues */
    double *R;          /* 2 b x n */
    double *in, *out;   /* n x b, for the operator */
} basis;

static int64_t block_size(int64_t n, int64_t k) { return krein__min(n, k + krein__min(k, 4) + 2); }

static int64_t basis_size(int64_t n, int64_t k) {
    int64_t b = block_size(n, k);
    return krein__min(n, krein__max(8 * b, 64 + 2 * b));
}

double krein__top_eigen_bytes(int64_t n, int64_t k) {
    double b = (double)block_size(n, k), m = (double)basis_size(n, k), N = (double)n;
    return 8 * (N * (3 * m + 4 * b) + 5 * m * m + 200 * m) + 65536;
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
done:
    return st;
}

static void basis_end(basis *s) {
    krein_ctx *ctx = s->ctx;
    void *all[] = {s->V, s->W, s->H, s->Y, s->h, s->R, s->in, s->out};
    for (int64_t k = 0; k < KREIN__COUNT(all); k++) krein__free(ctx, all[k]);
}

/* Takes the components along V off the first b rows of R. */
static void project_out(basis *s, int64_t b) {
    double *t = s->in; /* b x m fits: m <= n */
    if (s->m == 0) return;
    krein__pgemm(s->ctx, false, true, b, s->m, s->n, 1, s->R, s->n, s->V, s->n, 0, t, s->m);
    krein__pgemm(s->ctx, false, false, b, s->n, s->m, -1, t, s->m, s->V, s->n, 1, s->R, s->n);
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

/* H = V'W with its eigenvectors, the largest eigenvalue first. */
static krein_status project(basis *s) {
    int64_t m = s->m;
    krein__pgemm(s->ctx, false, true, m, m, s->n, 1, s->V, s->n, s->W, s->n, 0, s->H, m);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = i + 1; j < m; j++)
            s->H[i * m + j] = (s->H[i * m + j] + s->H[j * m + i]) / 2;
    krein_status st = krein__eigen(s->ctx, m, s->H, m, s->h);
    for (int64_t i = 0; i < m; i++)
        memcpy(s->Y + i * m, s->H + (m - 1 - i) * m, (size_t)m * sizeof *s->Y);
    for (int64_t i = 0; i < m / 2; i++) {
        double t = s->h[i];
        s->h[i] = s->h[m - 1 - i];
        s->h[m - 1 - i] = t;
    }
    return st;
}

/* Residuals of the first b Ritz pairs in R; the largest length among the first k. */
static double residuals(basis *s, int64_t b, int64_t k) {
    double worst = 0;
    int64_t n = s->n, m = s->m;
    krein__pgemm(s->ctx, false, false, b, n, m, 1, s->Y, m, s->V, n, 0, s->R, n);
    for (int64_t c = 0; c < b; c++)
        for (int64_t i = 0; i < n; i++) s->R[c * n + i] *= -s->h[c];
    krein__pgemm(s->ctx, false, false, b, n, m, 1, s->Y, m, s->W, n, 1, s->R, n);
    for (int64_t c = 0; c < k; c++)
        worst = fmax(worst, sqrt(krein__ddot(n, s->R + c * n, s->R + c * n)));
    return worst;
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
done:
    krein__free(ctx, part);
    return st;
}

krein_status krein__top_eigen(krein_ctx *ctx, int64_t n, int64_t k, krein_operator apply,
                              void *state, krein_rng g, double tolerance, int64_t steps,
                              double *value, double *vector, double *residual) {
    krein_status st = KREIN_OK;
    basis s = {.ctx = ctx, .n = n, .b = block_size(n, k), .most = basis_size(n, k)};
    krein_compute compute = krein__compute_begin();
    TRY(basis_begin(&s));
    for (int64_t c = 0; c < s.b; c++)
        for (int64_t i = 0; i < n; i++)
            s.R[c * n + i] = krein__rng_normal(g, (uint64_t)i, (uint64_t)c);
    extend(&s, s.b);
    TRY(multiply(&s, 0, apply, state));
    for (int64_t step = 0;; step++) {
        TRY(project(&s));
        int64_t b = krein__min(s.b, s.m);
        *residual = residuals(&s, b, krein__min(k, b));
        if (*residual <= tolerance || step == steps || s.m == n) break;
        if (s.m + b > s.most && s.most < n) {
            TRY(restart(&s, krein__min(s.m, krein__max(2 * s.b, s.most / 3))));
        }
        int64_t had = s.m;
        if (extend(&s, b) == 0) break; /* an invariant space */
        TRY(multiply(&s, had, apply, state));
        TRY(krein__poll(ctx));
        krein__progress(ctx, "eigenvectors", log(fmin(1, *residual)), log(tolerance));
    }
    krein__pgemm(ctx, true, true, n, k, s.m, 1, s.V, n, s.Y, s.m, 0, vector, k);
    memcpy(value, s.h, (size_t)k * sizeof *value);
done:
    krein__compute_end(compute);
    basis_end(&s);
    return st;
}
