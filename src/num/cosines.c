/* cosines.c -- S(t) = sum_(k=1)^T c_k cos(k t), c_k = k^-q, by Clenshaw's recurrence
 *
 *   b_k = c_k + 2 cos(t) b_(k+1) - b_(k+2),   S = cos(t) b_1 - b_2,
 * in Reinsch's form, which keeps the difference d_k = b_k - b_(k+1) where t is near 0 (s = 1) and
 * the sum d_k = b_k + b_(k+1) where it is near pi (s = -1):
 *   d_k = s d_(k+1) + e b_(k+1) + c_k,   b_k = s b_(k+1) + d_k,   S = s d_1 + e b_1 / 2,
 *   e = 2 (cos(t) - s) = -4 sin^2(t/2) or 4 cos^2(t/2).
 * Its error is some T eps; that of the plain form T^2 eps near both ends    (oliver1977).
 *
 * The coefficients are made in chunks, once for all values of a block. A chunk is worked off by
 * GROUP values at a time, whose states stay in registers.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-trapping-math") /* as in vec.c */
#endif
#include "num/cosines.h"

#include <math.h>

#define INLINE static inline __attribute__((always_inline))

enum { GROUP = 16, BLOCK = 512, CHUNK = 256 };

/* Each an array of BLOCK values. */
typedef struct state {
    double s[BLOCK], e[BLOCK], b[BLOCK], d[BLOCK];
} state;

static void begin(state *x, int n, const double *u) {
    for (int i = 0; i < (n + GROUP - 1) / GROUP * GROUP; i++) {
        double v = i < n ? fabs(u[i] - rint(u[i])) : 0; /* t = 2 pi v, 0 <= v <= 1/2 */
        double root = v <= 0.25 ? sin(M_PI * v) : cos(M_PI * v);
        x->s[i] = v <= 0.25 ? 1 : -1;
        x->e[i] = -4 * x->s[i] * root * root;
        x->b[i] = x->d[i] = 0;
    }
}

/* From k = count - 1 down to 0; loops over the group inside, so that they vectorise. */
INLINE void advance_group(state *x, int from, const double *c, int count) {
    double s[GROUP], e[GROUP], b[GROUP], d[GROUP];
    for (int i = 0; i < GROUP; i++) {
        s[i] = x->s[from + i], e[i] = x->e[from + i];
        b[i] = x->b[from + i], d[i] = x->d[from + i];
    }
    for (int k = count - 1; k >= 0; k--)
        for (int i = 0; i < GROUP; i++) {
            d[i] = s[i] * d[i] + (e[i] * b[i] + c[k]);
            b[i] = s[i] * b[i] + d[i];
        }
    for (int i = 0; i < GROUP; i++) x->b[from + i] = b[i], x->d[from + i] = d[i];
}

#define PATH(NAME, TARGET)                                                                         \
    TARGET static void NAME(state *x, int n, const double *c, int count) {                         \
        for (int i = 0; i < n; i += GROUP) advance_group(x, i, c, count);                          \
    }
PATH(baseline, )
#if defined(__x86_64__)
PATH(avx2, __attribute__((target("avx2,fma"))))
#endif

static void advance(state *x, int n, const double *c, int count) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        avx2(x, n, c, count);
        return;
    }
#endif
    baseline(x, n, c, count);
}

static void sum_block(double q, int64_t terms, const double *table, int n, const double *u,
                      double *out) {
    state x;
    double c[CHUNK];
    begin(&x, n, u);
    for (int64_t end = terms; end > 0;) {
        int count = end < CHUNK ? (int)end : CHUNK;
        end -= count;
        for (int k = 0; k < count && !table; k++) c[k] = pow((double)(end + k + 1), -q);
        advance(&x, n, table ? table + end : c, count);
    }
    for (int i = 0; i < n; i++) out[i] = x.s[i] * x.d[i] + x.e[i] / 2 * x.b[i];
}

void krein__cosines(double q, int64_t terms, const double *table, int64_t n, const double *u,
                    double *out) {
    for (int64_t i = 0; i < n; i += BLOCK)
        sum_block(q, terms, table, n - i < BLOCK ? (int)(n - i) : BLOCK, u + i, out + i);
}
