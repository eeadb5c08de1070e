/* lbfgs.c -- limited-memory quasi-Newton steps                                       (liu1989)
 *     x <- x - t H g,   H from the last KEPT pairs s = dx, y = dg by the two-loop recursion
 * t = 1, or as much less as `reach` allows, then halved until f falls by 1e-4 of what the slope
 * promises. A pair with s'y too small (f is not convex there) is left out. The first step, and one
 * after directions that do not descend, goes along the gradient. */
#include "num/lbfgs.h"

#include <math.h>
#include <string.h>

enum { KEPT = 10, HALVES = 30 };

typedef struct work {
    int64_t n, pairs;                /* pairs: made so far */
    double *s, *y;                   /* KEPT x n, the k-th pair in place k % KEPT */
    double *g, *next_x, *next_g, *u; /* n: gradient; the next point; direction */
    double rho[KEPT];
} work;

static double dot(int64_t n, const double *a, const double *b) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static double largest(int64_t n, const double *a) {
    double most = 0;
    for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(a[i]));
    return most;
}

/* u = -H g */
static void direct(work *w) {
    int64_t n = w->n, first = krein__max(0, w->pairs - KEPT);
    double alpha[KEPT];
    for (int64_t i = 0; i < n; i++) w->u[i] = -w->g[i];
    for (int64_t k = w->pairs - 1; k >= first; k--) {
        const double *s = w->s + k % KEPT * n, *y = w->y + k % KEPT * n;
        alpha[k % KEPT] = w->rho[k % KEPT] * dot(n, s, w->u);
        for (int64_t i = 0; i < n; i++) w->u[i] -= alpha[k % KEPT] * y[i];
    }
    if (w->pairs > 0) {
        const double *y = w->y + (w->pairs - 1) % KEPT * n;
        double scale = 1 / (w->rho[(w->pairs - 1) % KEPT] * dot(n, y, y));
        for (int64_t i = 0; i < n; i++) w->u[i] *= scale;
    }
    for (int64_t k = first; k < w->pairs; k++) {
        const double *s = w->s + k % KEPT * n, *y = w->y + k % KEPT * n;
        double beta = w->rho[k % KEPT] * dot(n, y, w->u);
        for (int64_t i = 0; i < n; i++) w->u[i] += (alpha[k % KEPT] - beta) * s[i];
    }
}

static void keep_pair(work *w, const double *x) {
    int64_t n = w->n, at = w->pairs % KEPT;
    double *s = w->s + at * n, *y = w->y + at * n;
    for (int64_t i = 0; i < n; i++) {
        s[i] = w->next_x[i] - x[i];
        y[i] = w->next_g[i] - w->g[i];
    }
    double sy = dot(n, s, y);
    if (!(sy > 1e-10 * sqrt(dot(n, s, s) * dot(n, y, y)))) return;
    w->rho[at] = 1 / sy;
    w->pairs++;
}

static krein_status begin(krein_ctx *ctx, int64_t n, work *w) {
    krein_status st = KREIN_OK;
    *w = (work){.n = n};
    NEW(w->s, KEPT * n);
    NEW(w->y, KEPT * n);
    NEW(w->g, n);
    NEW(w->next_x, n);
    NEW(w->next_g, n);
    NEW(w->u, n);
done:
    return st;
}

static void end(krein_ctx *ctx, work *w) {
    double *all[] = {w->s, w->y, w->g, w->next_x, w->next_g, w->u};
    for (int64_t k = 0; k < KREIN__COUNT(all); k++) krein__free(ctx, all[k]);
}

/* A point along u where f is enough lower; *found: there is one. */
static krein_status search(krein_ctx *ctx, work *w, krein_smooth_fn *fn, void *user, double reach,
                           const double *x, double value, double *next, int64_t *evaluations,
                           bool *found) {
    krein_status st = KREIN_OK;
    double slope = dot(w->n, w->g, w->u), most = largest(w->n, w->u);
    double t = w->pairs > 0 ? fmin(1, reach / most) : 0.25 * reach / most;
    *found = false;
    if (!(slope < 0) || !isfinite(most)) return KREIN_OK;
    for (int k = 0; k < HALVES && !*found; k++, t /= 2) {
        for (int64_t i = 0; i < w->n; i++) w->next_x[i] = x[i] + t * w->u[i];
        TRY(krein__poll(ctx));
        TRY(fn(user, w->next_x, next, w->next_g));
        ++*evaluations;
        *found = isfinite(*next) && *next <= value + 1e-4 * t * slope;
    }
done:
    return st;
}

krein_status krein__lbfgs(krein_ctx *ctx, int64_t n, krein_smooth_fn *fn, void *user,
                          const krein_lbfgs_options *o, double *x, krein_lbfgs_report *out) {
    krein_status st = KREIN_OK;
    work w = {0};
    int small = 0;
    *out = (krein_lbfgs_report){.evaluations = 1};
    TRY(begin(ctx, n, &w));
    TRY(fn(user, x, &out->value, w.g));
    out->start = out->value;
    while (isfinite(out->value) && out->steps < o->steps && !out->converged) {
        bool found;
        double next;
        if (krein__late(o->deadline) || krein__enough(ctx)) break;
        direct(&w);
        TRY(search(ctx, &w, fn, user, o->reach, x, out->value, &next, &out->evaluations, &found));
        if (!found) {
            out->converged = w.pairs == 0; /* not even the gradient leads down */
            w.pairs = 0;
            continue;
        }
        keep_pair(&w, x);
        small = out->value - next < o->least * (1 + fabs(next)) ? small + 1 : 0;
        out->converged = small > 1;
        out->value = next;
        out->steps++;
        memcpy(x, w.next_x, (size_t)n * sizeof *x);
        memcpy(w.g, w.next_g, (size_t)n * sizeof *x);
    }
done:
    end(ctx, &w);
    return st;
}
