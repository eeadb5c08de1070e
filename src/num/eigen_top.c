/* eigen_top.c -- a few of the largest eigenvalues of a symmetric matrix A, and their vectors
 *
 * A space spanned by the orthonormal rows of V starts at random (halko2011) and is widened by the
 * residuals A x - theta x of its best Ritz pairs (theta, x), a block at a time: that is the block
 * Lanczos method with full orthogonalisation. When the space has ROOM blocks it starts again from
 * the best pairs (wu2000). It ends when every wanted residual is below ENOUGH |A|: the pairs are
 * then those of a matrix that differs from A by no more than that. Unlike powers of A this finds
 * the largest eigenvalues also where negative ones are larger in size. A block has a few rows more
 * than pairs are wanted, so that an eigenvalue may repeat as often as it likes.
 *
 * Cost: 2 n^2 flops a row of a block, on all threads. A full decomposition takes 9 n^3, half of
 * them on one thread. It is the way out for small matrices, for many pairs, and where the
 * iteration has taken n products without an end (a flat spectrum).
 */
#include "num/eigen_top.h"

#include "base/rng.h"
#include "num/blas.h"

#include <math.h>
#include <string.h>

static const double ENOUGH = 1e-11;
/* Measured on one thread with kernel matrices: from order LEAST on, and with blocks of at most a
 * SHARE-th of it, iterating is faster than the full decomposition also where the spectrum falls
 * slowly; 15 to 30 times for two pairs at order 2,048. */
enum { EXTRA = 8, ROOM = 4, LEAST = 512, SHARE = 32 };

typedef struct space {
    krein_ctx *ctx;
    const double *a;
    int64_t n, b, room, p;   /* order of A; rows of a block, of V at most, of V now */
    double *v, *av;          /* room x n: V and VA */
    double *h, *theta, *mix; /* room x room: its Ritz pairs; room; b x room */
    double *x, *ax;          /* b x n: the best Ritz vectors, and times A */
    double *size;            /* b: lengths of their residuals */
    int64_t products;
} space;

static void space_end(space *s) {
    void *all[] = {s->v, s->av, s->h, s->theta, s->mix, s->x, s->ax, s->size};
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) krein__free(s->ctx, all[i]);
}

static int64_t block_rows(int64_t n, int64_t m) { return krein__min(n, m + EXTRA); }
static int64_t most_rows(int64_t n, int64_t b) { return krein__min(n, ROOM * b); }

static krein_status space_begin(krein_ctx *ctx, int64_t n, const double *a, int64_t m, space *s) {
    krein_status st = KREIN_OK;
    int64_t b = block_rows(n, m), room = most_rows(n, b);
    *s = (space){.ctx = ctx, .a = a, .n = n, .b = b, .room = room};
    NEW(s->v, room * n);
    NEW(s->av, room * n);
    NEW(s->h, room * room);
    NEW(s->theta, room);
    NEW(s->mix, b * room);
    NEW(s->x, b * n);
    NEW(s->ax, b * n);
    NEW(s->size, b);
done:
    return st;
}

/* Takes in q directions that stand behind the rows of V. Twice: what the first pass leaves of V in
 * them is rounding made large again by the scaling to length one. */
static krein_status widen(space *s, int64_t q) {
    krein_status st = KREIN_OK;
    krein_ctx *ctx = s->ctx;
    int64_t n = s->n, p = s->p;
    double *fresh = s->v + p * n;
    for (int pass = 0; pass < 2; pass++) {
        if (p > 0) {
            krein__pgemm(ctx, false, true, q, p, n, 1, fresh, n, s->v, n, 0, s->mix, p);
            krein__pgemm(ctx, false, false, q, n, p, -1, s->mix, p, s->v, n, 1, fresh, n);
        }
        TRY(krein__haar_rows(ctx, q, n, fresh));
    }
    krein__pgemm(ctx, false, false, q, n, n, 1, fresh, n, s->a, n, 0, s->av + p * n, n);
    s->p += q;
    s->products += q;
    TRY(krein__poll(ctx));
done:
    return st;
}

/* The best b Ritz pairs: theta descending, x, ax, and how long their residuals are. */
static krein_status ritz(space *s) {
    krein_status st = KREIN_OK;
    krein_ctx *ctx = s->ctx;
    int64_t n = s->n, p = s->p, b = s->b;
    krein__pgemm(ctx, false, true, p, p, n, 1, s->v, n, s->av, n, 0, s->h, p);
    TRY(krein__eigen(ctx, p, s->h, p, s->theta));
    for (int64_t j = 0; j < b; j++)
        memcpy(s->mix + j * p, s->h + (p - 1 - j) * p, (size_t)p * sizeof *s->mix);
    krein__pgemm(ctx, false, false, b, n, p, 1, s->mix, p, s->v, n, 0, s->x, n);
    krein__pgemm(ctx, false, false, b, n, p, 1, s->mix, p, s->av, n, 0, s->ax, n);
    for (int64_t j = 0; j < b; j++) {
        double square = 0, theta = s->theta[p - 1 - j];
        for (int64_t i = 0; i < n; i++) {
            double r = s->ax[j * n + i] - theta * s->x[j * n + i];
            square += r * r;
        }
        s->size[j] = sqrt(square);
    }
done:
    return st;
}

/* Residuals of the pairs that are not good enough, behind the rows of V; how many. */
static int64_t residuals(space *s, double enough) {
    int64_t n = s->n, q = 0;
    for (int64_t j = 0; j < s->b && s->p + q < s->room; j++) {
        double theta = s->theta[s->p - 1 - j], *to = s->v + (s->p + q) * n;
        if (s->size[j] <= enough) continue;
        for (int64_t i = 0; i < n; i++) to[i] = s->ax[j * n + i] - theta * s->x[j * n + i];
        q++;
    }
    return q;
}

/* V becomes the best Ritz vectors; theta keeps their values at its end. */
static void restart(space *s) {
    size_t bytes = (size_t)(s->b * s->n) * sizeof *s->v;
    memcpy(s->v, s->x, bytes);
    memcpy(s->av, s->ax, bytes);
    memmove(s->theta, s->theta + s->p - s->b, (size_t)s->b * sizeof *s->theta);
    s->p = s->b;
}

static krein_status iterate(space *s, int64_t m, bool *found) {
    krein_status st = KREIN_OK;
    const krein_rng g = {1, KREIN_STREAM_SAMPLE | (uint64_t)2 << 32};
    for (int64_t j = 0; j < s->b; j++)
        for (int64_t i = 0; i < s->n; i++)
            s->v[j * s->n + i] = krein__rng_normal(g, (uint64_t)j, (uint64_t)i);
    TRY(widen(s, s->b));
    for (;;) {
        TRY(ritz(s));
        double norm = fmax(fabs(s->theta[0]), fabs(s->theta[s->p - 1])), enough = ENOUGH * norm;
        int64_t good = 0;
        while (good < m && s->size[good] <= enough) good++;
        *found = good == m;
        if (*found || s->products > s->n) break;
        if (s->p + s->b > s->room) restart(s);
        TRY(widen(s, residuals(s, enough)));
    }
done:
    return st;
}

krein_status krein__eigen_top_iterate(krein_ctx *ctx, int64_t n, const double *a, int64_t m,
                                      double *w, double *v, bool *found) {
    krein_status st = KREIN_OK;
    space s = {0};
    *found = false;
    TRY(space_begin(ctx, n, a, m, &s));
    TRY(iterate(&s, m, found));
    krein__log(ctx, KREIN_LOG_DEBUG, "eigenvalues: %lld products of a matrix of order %lld%s",
               (long long)s.products, (long long)n, *found ? "" : ", no end in sight");
    for (int64_t j = 0; *found && j < m; j++) {
        w[j] = s.theta[s.p - 1 - j];
        memcpy(v + j * n, s.x + j * n, (size_t)n * sizeof *v);
    }
done:
    space_end(&s);
    return st;
}

krein_status krein__eigen_top_full(krein_ctx *ctx, int64_t n, double *a, int64_t m, double *w,
                                   double *v) {
    krein_status st = KREIN_OK;
    double *all = NULL;
    NEW(all, n);
    TRY(krein__eigen(ctx, n, a, n, all));
    for (int64_t j = 0; j < m; j++) {
        w[j] = all[n - 1 - j];
        memcpy(v + j * n, a + (n - 1 - j) * n, (size_t)n * sizeof *v);
    }
done:
    krein__free(ctx, all);
    return st;
}

static bool iteration_pays(int64_t n, int64_t m) {
    return n >= LEAST && SHARE * block_rows(n, m) <= n;
}

double krein__eigen_top_bytes(int64_t n, int64_t m, bool full) {
    double N = (double)n, b = (double)block_rows(n, m), room = (double)most_rows(n, (int64_t)b);
    if (full || !iteration_pays(n, m)) return 16 * N * N + 8 * 64 * N + (1 << 20);
    return 16 * N * (room + b) + 8 * room * (4 * room + b) + 8 * 64 * (room + b) + (1 << 20);
}

krein_status krein__eigen_top(krein_ctx *ctx, int64_t n, double *a, int64_t m, double *w,
                              double *v) {
    bool found = false;
    if (iteration_pays(n, m)) {
        krein_status st = krein__eigen_top_iterate(ctx, n, a, m, w, v, &found);
        if (st != KREIN_OK) return st;
    }
    return found ? KREIN_OK : krein__eigen_top_full(ctx, n, a, m, w, v);
}
