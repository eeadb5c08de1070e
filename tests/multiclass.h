/* multiclass.h -- small problems of machines of all classes at once: rows around centres, and the
 * least objective with free intercepts by an interior point method. */
#ifndef KREIN_TEST_MULTICLASS_H
#define KREIN_TEST_MULTICLASS_H

#include "common.h"

/* ---- inputs ------------------------------------------------------------- */

typedef struct set {
    int64_t n, D, k;
    float *x;
    int32_t *class;
    double *y, *cost;
} set;

/* Classes around k centres that overlap; rows of length about 1. */
static inline set make(int64_t n, int64_t D, int64_t k, double noise, double C) {
    set s = {.n = n, .D = D, .k = k};
    s.x = test_new(n * D, sizeof *s.x);
    s.class = test_new(n, sizeof *s.class);
    s.y = test_new(n, sizeof *s.y);
    s.cost = test_new(n, sizeof *s.cost);
    test_random_state = 88172645463325252u;
    for (int64_t i = 0; i < n; i++) {
        int64_t c = test_random_below(k);
        s.class[i] = (int32_t)c;
        s.y[i] = (double)c;
        s.cost[i] = C;
        for (int64_t j = 0; j < D; j++) {
            double v = .3 + det(c, j, .5) + noise * sqrt((double)D / 3) * test_random();
            s.x[i * D + j] = (float)(v / sqrt((double)D) / (.7 + .3 * noise * sqrt((double)D)));
        }
    }
    return s;
}
static inline void drop(set *s) {
    free(s->x);
    free(s->class);
    free(s->y);
    free(s->cost);
}

/* ---- an interior point method ------------------------------------------- */

/* Variables: w (D x k), b_1 .. b_{k-1} (b_0 = 0), xi (n); constraints xi_i >= e_im + f_im - f_iy.
 */
typedef struct barrier {
    const set *s;
    int64_t size, free; /* variables; those before xi */
    double *v, *g, *H, t;
} barrier;

/* The constraint of row i and class c: its slack; a: its gradient. */
static inline double slack(const barrier *p, const double *v, int64_t i, int64_t c, double *a) {
    const set *s = p->s;
    int64_t y = s->class[i];
    double value = 0;
    memset(a, 0, (size_t)p->size * sizeof *a);
    a[p->free + i] = 1;
    if (c != y) {
        for (int64_t j = 0; j < s->D; j++) {
            a[j * s->k + c] -= (double)s->x[i * s->D + j];
            a[j * s->k + y] += (double)s->x[i * s->D + j];
        }
        if (c > 0) a[s->D * s->k + c - 1] -= 1;
        if (y > 0) a[s->D * s->k + y - 1] += 1;
        value = -1;
    }
    for (int64_t e = 0; e < p->size; e++) value += a[e] * v[e];
    return value;
}

static inline double primal_of(const barrier *p, const double *v) {
    double value = 0;
    for (int64_t e = 0; e < p->s->D * p->s->k; e++) value += v[e] * v[e] / 2;
    for (int64_t i = 0; i < p->s->n; i++) value += p->s->cost[i] * v[p->free + i];
    return value;
}

static inline double barrier_of(const barrier *p, const double *v, double *a) {
    double value = p->t * primal_of(p, v);
    for (int64_t i = 0; i < p->s->n; i++)
        for (int64_t c = 0; c < p->s->k; c++) {
            double r = slack(p, v, i, c, a);
            if (!(r > 0)) return INFINITY;
            value -= log(r);
        }
    return value;
}

/* One Newton step with backtracking; the decrease expected of it. */
static inline double newton(barrier *p, double *a, double *to) {
    const set *s = p->s;
    int64_t m = p->size;
    memset(p->H, 0, (size_t)(m * m) * sizeof *p->H);
    for (int64_t e = 0; e < m; e++) {
        p->g[e] = e < s->D * s->k ? p->t * p->v[e] : e < p->free ? 0 : p->t * s->cost[e - p->free];
        p->H[e * m + e] = e < s->D * s->k ? p->t : 1e-12;
    }
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t c = 0; c < s->k; c++) {
            double r = slack(p, p->v, i, c, a);
            for (int64_t e = 0; e < m; e++) {
                if (a[e] == 0) continue;
                p->g[e] -= a[e] / r;
                for (int64_t f = 0; f < m; f++) p->H[e * m + f] += a[e] * a[f] / (r * r);
            }
        }
    double *step = test_new(m, sizeof *step), slope = 0;
    memcpy(step, p->g, (size_t)m * sizeof *step);
    test_solve(m, 1, p->H, step);
    for (int64_t e = 0; e < m; e++) slope += step[e] * p->g[e];
    double here = barrier_of(p, p->v, a);
    for (double length = 1; length > 1e-10; length /= 2) {
        for (int64_t e = 0; e < m; e++) to[e] = p->v[e] - length * step[e];
        if (barrier_of(p, to, a) > here - .1 * length * slope) continue;
        memcpy(p->v, to, (size_t)m * sizeof *to);
        break;
    }
    free(step);
    return slope;
}

/* The least objective with free intercepts, to 1e-7. */
static inline double interior_point(const set *s) {
    barrier p = {.s = s, .free = s->D * s->k + s->k - 1, .t = 1};
    p.size = p.free + s->n;
    p.v = test_new(p.size, sizeof *p.v);
    p.g = test_new(p.size, sizeof *p.g);
    p.H = test_new(p.size * p.size, sizeof *p.H);
    double *a = test_new(p.size, sizeof *a), *to = test_new(p.size, sizeof *to);
    for (int64_t i = 0; i < s->n; i++) p.v[p.free + i] = 2;
    double value = 0;
    for (; value == 0 || (double)(s->n * s->k) / p.t > 1e-7 * value; p.t *= 8) {
        for (int i = 0; i < 50 && newton(&p, a, to) > 1e-6; i++) continue;
        value = primal_of(&p, p.v);
    }
    free(p.v);
    free(p.g);
    free(p.H);
    free(a);
    free(to);
    return value;
}

#endif
