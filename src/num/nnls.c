/* nnls.c -- the active set method of Lawson and Hanson (lawson1974, chapter 23).
 *
 * The positive unknowns P are solved for by a QR decomposition of their columns. A column enters
 * by two rounds of Gram-Schmidt and leaves by Givens rotations, O(m |P|) each; a round costs one
 * product with A', O(m n). For a few hundred columns of which some ten stay: milliseconds.
 * At the end A'(b - A x) <= 0, and = 0 where x > 0.
 */
#include "num/nnls.h"

#include "num/blas.h"

#include <math.h>
#include <string.h>

typedef struct work {
    int64_t m, n, k, most; /* k columns are in, of at most `most` */
    const double *a, *b;
    double *q, *r;  /* m x k by columns; most x most, r[i * most + j], i <= j */
    double *z;      /* most: the solution on P */
    double *rest;   /* m: b - A x */
    int64_t *index; /* most: which column */
    uint8_t *state; /* n: FREE, IN, or BLOCKED until the next success */
} work;

enum { FREE = 0, IN = 1, BLOCKED = 2 };

/* False where the column depends on those that are in. */
static bool enter(work *w, int64_t j) {
    int64_t m = w->m, k = w->k;
    double *v = w->q + k * m;
    if (k == w->most) return false;
    memcpy(v, w->a + j * m, (size_t)m * sizeof *v);
    double before = sqrt(krein__ddot(m, v, v));
    for (int64_t i = 0; i < k; i++) w->r[i * w->most + k] = 0;
    for (int round = 0; round < 2; round++)
        for (int64_t i = 0; i < k; i++) {
            const double *q = w->q + i * m;
            double h = krein__ddot(m, q, v);
            w->r[i * w->most + k] += h;
            for (int64_t l = 0; l < m; l++) v[l] -= h * q[l];
        }
    double left = sqrt(krein__ddot(m, v, v));
    if (!(left > 1e-11 * before)) return false;
    for (int64_t l = 0; l < m; l++) v[l] /= left;
    w->r[k * w->most + k] = left;
    w->index[k] = j;
    w->state[j] = IN;
    w->k++;
    return true;
}

static void leave(work *w, int64_t p) {
    int64_t m = w->m, most = w->most;
    w->state[w->index[p]] = FREE;
    w->k--;
    for (int64_t j = p; j < w->k; j++) {
        w->index[j] = w->index[j + 1];
        for (int64_t i = 0; i <= j + 1; i++) w->r[i * most + j] = w->r[i * most + j + 1];
    }
    for (int64_t i = p; i < w->k; i++) { /* the entry below the diagonal goes */
        double x = w->r[i * most + i], y = w->r[(i + 1) * most + i], h = hypot(x, y);
        double c = x / h, s = y / h, *q = w->q + i * m, *q2 = q + m;
        for (int64_t j = i; j < w->k; j++) {
            double *u = &w->r[i * most + j], *v = &w->r[(i + 1) * most + j], t = *u;
            *u = c * t + s * *v;
            *v = c * *v - s * t;
        }
        for (int64_t l = 0; l < m; l++) {
            double t = q[l];
            q[l] = c * t + s * q2[l];
            q2[l] = c * q2[l] - s * t;
        }
    }
}

static void solve(work *w) {
    for (int64_t i = w->k - 1; i >= 0; i--) {
        double sum = krein__ddot(w->m, w->q + i * w->m, w->b);
        for (int64_t j = i + 1; j < w->k; j++) sum -= w->r[i * w->most + j] * w->z[j];
        w->z[i] = sum / w->r[i * w->most + i];
    }
}

/* Towards z as far as all stay positive; those that reach zero leave, until all of z is. */
static void settle(work *w, double *x) {
    for (;;) {
        double step = 1;
        int64_t first = -1;
        solve(w);
        for (int64_t i = 0; i < w->k; i++) {
            double now = x[w->index[i]];
            if (w->z[i] > 0 || now / (now - w->z[i]) > step) continue;
            step = now / (now - w->z[i]);
            first = i;
        }
        for (int64_t i = 0; i < w->k; i++) x[w->index[i]] += step * (w->z[i] - x[w->index[i]]);
        if (first < 0) return;
        x[w->index[first]] = 0;
        for (int64_t i = w->k - 1; i >= 0; i--)
            if (!(x[w->index[i]] > 0)) {
                x[w->index[i]] = 0;
                leave(w, i);
            }
    }
}

static void residual(work *w, const double *x) {
    memcpy(w->rest, w->b, (size_t)w->m * sizeof *w->rest);
    for (int64_t i = 0; i < w->k; i++) {
        const double *a = w->a + w->index[i] * w->m;
        double v = x[w->index[i]];
        for (int64_t l = 0; l < w->m; l++) w->rest[l] -= v * a[l];
    }
}

/* The free column with the steepest descent, -1 where none descends. */
static int64_t steepest(const work *w, double least) {
    int64_t best = -1;
    for (int64_t j = 0; j < w->n; j++) {
        if (w->state[j] != FREE) continue;
        double slope = krein__ddot(w->m, w->a + j * w->m, w->rest);
        if (slope > least) {
            least = slope;
            best = j;
        }
    }
    return best;
}

static void iterate(work *w, double *x) {
    double scale = 0;
    for (int64_t j = 0; j < w->n; j++)
        scale = fmax(scale, krein__ddot(w->m, w->a + j * w->m, w->a + j * w->m));
    double least = 1e-13 * sqrt(scale * krein__ddot(w->m, w->b, w->b));
    for (int64_t round = 0; round < 3 * w->n; round++) {
        residual(w, x);
        int64_t j = steepest(w, least);
        if (j < 0) return;
        bool in = enter(w, j);
        if (in) solve(w);
        if (!in || !(w->z[w->k - 1] > 0)) { /* rounding: its own unknown would fall */
            if (in) leave(w, w->k - 1);
            w->state[j] = BLOCKED;
            continue;
        }
        settle(w, x);
        for (int64_t i = 0; i < w->n; i++)
            if (w->state[i] == BLOCKED) w->state[i] = FREE;
    }
}

krein_status krein__nnls(krein_ctx *ctx, int64_t m, int64_t n, const double *a, const double *b,
                         double *x) {
    krein_status st = KREIN_OK;
    work w = {.m = m, .n = n, .most = krein__min(m, n), .a = a, .b = b};
    memset(x, 0, (size_t)n * sizeof *x);
    NEW(w.q, m * w.most);
    NEW(w.r, w.most * w.most);
    NEW(w.z, w.most);
    NEW(w.rest, m);
    NEW(w.index, w.most);
    ZNEW(w.state, n);
    iterate(&w, x);
done:
    krein__free(ctx, w.q);
    krein__free(ctx, w.r);
    krein__free(ctx, w.z);
    krein__free(ctx, w.rest);
    krein__free(ctx, w.index);
    krein__free(ctx, w.state);
    return st;
}

/* |Ux - U'^-1 b|^2 with S = U'U. */
krein_status krein__nnls_form(krein_ctx *ctx, int64_t n, double *S, double *b, double *x) {
    krein_status st = KREIN_OK;
    double *columns = NULL;
    ZNEW(columns, n * n);
    if (krein__dpotrf(n, S, n) != 0) {
        st = krein__fail(ctx, KREIN_ENUMERIC, "the quadratic form is not positive definite");
        goto done;
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i; j < n; j++) columns[j * n + i] = S[i * n + j];
    krein__dtrsm(true, n, 1, S, n, b, 1);
    TRY(krein__nnls(ctx, n, n, columns, b, x));
done:
    krein__free(ctx, columns);
    return st;
}
