/* rng.c -- Philox4x64-10 and the distributions on top of it.
 *
 *   word[0..3] = philox4x64(counter = {column, row, stream, attempt}, key = {seed, 0})
 *   uniform    u = (top 52 bits + 1/2) / 2^52, never 0 or 1
 *   normal     sqrt(-2 log u0) cos(2 pi u1)                              Box and Muller
 *   gamma(a)   b v, b = a - 1/3, v = (1 + z / sqrt(9 b))^3, z normal, accepted when
 *              log u2 < z^2/2 + b - b v + b log v       Marsaglia and Tsang 2000, a >= 1
 *              gamma(a) = gamma(a + 1) u3^(1/a) for a < 1, u3 from attempt 0
 *   chi2(k) = 2 gamma(k/2),  chi = sqrt(chi2),  t(k) = normal / sqrt(chi2(k)/k)
 *   Cauchy tan(pi (u - 1/2)),  exponential -log u,  Laplace +-exponential
 *
 * Draws of different kinds at one address of one stream share words and are therefore
 * dependent: a use needs its own stream or column. Within t the normal has an attempt
 * word that the rejections of its chi2 never reach.
 */
#include "base/rng.h"

#include <Random123/philox.h>

#include <math.h>
#include <stdbool.h>
#include <string.h>

__extension__ typedef unsigned __int128 uint128;

static const double two_pi = 6.283185307179586476925286766559;
static const uint64_t far_attempt = UINT64_C(1) << 63;

void krein__philox(uint64_t seed, uint64_t stream, uint64_t row, uint64_t column, uint64_t attempt,
                   uint64_t out[4]) {
    philox4x64_ctr_t counter = {{column, row, stream, attempt}};
    philox4x64_key_t key = {{seed, 0}};
    counter = philox4x64(counter, key);
    memcpy(out, counter.v, 4 * sizeof *out);
}

/* 52 bits, not 53: 2^53 - 1/2 has no double and would round up to 1. */
static double unit(uint64_t bits) { return ((double)(bits >> 12) + 0.5) * 0x1p-52; }

static double box_muller(const uint64_t w[4]) {
    return sqrt(-2 * log(unit(w[0]))) * cos(two_pi * unit(w[1]));
}

uint64_t krein__rng_bits(krein_rng g, uint64_t row, uint64_t column) {
    uint64_t w[4];
    krein__philox(g.seed, g.stream, row, column, 0, w);
    return w[0];
}

double krein__rng_uniform(krein_rng g, uint64_t row, uint64_t column) {
    return unit(krein__rng_bits(g, row, column));
}

/* Lemire's multiplication: the low half is biased only where it is below 2^64 mod bound. */
uint64_t krein__rng_below(krein_rng g, uint64_t row, uint64_t column, uint64_t bound) {
    const uint64_t biased = (0 - bound) % bound;
    for (uint64_t attempt = 0;; attempt++) {
        uint64_t w[4];
        krein__philox(g.seed, g.stream, row, column, attempt, w);
        for (int j = 0; j < 4; j++) {
            const uint128 product = (uint128)w[j] * bound;
            if ((uint64_t)product >= biased) return (uint64_t)(product >> 64);
        }
    }
}

double krein__rng_normal(krein_rng g, uint64_t row, uint64_t column) {
    uint64_t w[4];
    krein__philox(g.seed, g.stream, row, column, 0, w);
    return box_muller(w);
}

double krein__rng_exponential(krein_rng g, uint64_t row, uint64_t column) {
    return -log(krein__rng_uniform(g, row, column));
}

double krein__rng_laplace(krein_rng g, uint64_t row, uint64_t column) {
    uint64_t w[4];
    krein__philox(g.seed, g.stream, row, column, 0, w);
    const double size = -log(unit(w[0]));
    return w[1] >> 63 ? -size : size;
}

double krein__rng_cauchy(krein_rng g, uint64_t row, uint64_t column) {
    return tan(two_pi / 2 * (krein__rng_uniform(g, row, column) - 0.5));
}

double krein__rng_gamma(krein_rng g, uint64_t row, uint64_t column, double shape) {
    const double b = (shape < 1 ? shape + 1 : shape) - 1.0 / 3, c = 1 / sqrt(9 * b);
    double boost = 1;
    for (uint64_t attempt = 0;; attempt++) {
        uint64_t w[4];
        krein__philox(g.seed, g.stream, row, column, attempt, w);
        if (attempt == 0 && shape < 1) boost = pow(unit(w[3]), 1 / shape);
        const double z = box_muller(w), root = 1 + c * z;
        if (root <= 0) continue;
        const double v = root * root * root;
        if (log(unit(w[2])) < 0.5 * z * z + b - b * v + b * log(v)) return b * v * boost;
    }
}

double krein__rng_chi2(krein_rng g, uint64_t row, uint64_t column, double dof) {
    return 2 * krein__rng_gamma(g, row, column, dof / 2);
}

double krein__rng_chi(krein_rng g, uint64_t row, uint64_t column, double dof) {
    return sqrt(krein__rng_chi2(g, row, column, dof));
}

double krein__rng_t(krein_rng g, uint64_t row, uint64_t column, double dof) {
    uint64_t w[4];
    krein__philox(g.seed, g.stream, row, column, far_attempt, w);
    return box_muller(w) / sqrt(krein__rng_chi2(g, row, column, dof) / dof);
}

/* ---- subsets and permutations ------------------------------------------- */

/* Columns, so that the two ways of choosing and permuting share no numbers. */
enum { SELECT = 0, DRAW = 1, PERMUTE = 2 };

static void sift(int64_t *a, int64_t root, int64_t n) {
    const int64_t value = a[root];
    for (int64_t child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && a[child + 1] > a[child]) child++;
        if (a[child] <= value) break;
        a[root] = a[child];
    }
    a[root] = value;
}

/* Heapsort: in place and without the allocation that qsort may make. */
static void sort(int64_t *a, int64_t n) {
    for (int64_t i = n / 2; i-- > 0;) sift(a, i, n);
    for (int64_t i = n; i-- > 1;) {
        const int64_t top = a[0];
        a[0] = a[i], a[i] = top;
        sift(a, 0, i);
    }
}

/* Puts value into the ascending a[0..n) unless it is there. */
static bool insert(int64_t *a, int64_t n, int64_t value) {
    int64_t low = 0, high = n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (a[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < n && a[low] == value) return false;
    memmove(a + low + 1, a + low, (size_t)(n - low) * sizeof *a);
    a[low] = value;
    return true;
}

/* A small share: independent draws until k distinct ones are there; by symmetry every
 * subset is equally likely. As many are drawn at a time as are missing, so that the
 * count is never overrun, and at most an eighth of them repeat an earlier one.
 * A large share: selection sampling, index i with probability (missing)/(n - i). */
void krein__rng_choose(krein_rng g, int64_t n, int64_t k, int64_t *out) {
    int64_t have = 0;
    if (k > n / 8) {
        for (int64_t i = 0; have < k; i++) {
            const uint64_t left = (uint64_t)(n - i), missing = (uint64_t)(k - have);
            if (krein__rng_below(g, (uint64_t)i, SELECT, left) < missing) out[have++] = i;
        }
        return;
    }
    uint64_t draws = 0;
    while (k - have > 64) {
        for (int64_t i = have; i < k; i++)
            out[i] = (int64_t)krein__rng_below(g, draws++, DRAW, (uint64_t)n);
        sort(out, k);
        have = 1;
        for (int64_t i = 1; i < k; i++)
            if (out[i] != out[have - 1]) out[have++] = out[i];
    }
    while (have < k)
        have += insert(out, have, (int64_t)krein__rng_below(g, draws++, DRAW, (uint64_t)n));
}

void krein__rng_permute(krein_rng g, int64_t n, int64_t *out) {
    for (int64_t i = 0; i < n; i++) {
        const int64_t j = (int64_t)krein__rng_below(g, (uint64_t)i, PERMUTE, (uint64_t)i + 1);
        if (j < i) out[i] = out[j];
        out[j] = i;
    }
}
