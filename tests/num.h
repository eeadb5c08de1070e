/* num.h -- contexts and random numbers for tests of the numerical floor. */
#ifndef KREIN_TEST_NUM_H
#define KREIN_TEST_NUM_H

#include "test.h"
#include "base/base.h"
#include "base/threads.h"
#include "num/blas.h"
#include "num/matrix.h"
#include "num/vec.h"

#include <float.h>
#include <omp.h>

/* ---- helpers ------------------------------------------------------------ */

/* Counts down to the allocation that fails; never when negative. */
typedef struct faults {
    int64_t left, live;
} faults;

static inline void *fault_alloc(void *user, size_t bytes) {
    faults *f = user;
    if (f->left >= 0 && f->left-- == 0) return NULL;
    void *p = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (p) f->live++;
    return p;
}
static inline void fault_release(void *user, void *p) {
    faults *f = user;
    if (p) f->live--;
    free(p);
}

static inline krein_ctx *context(int threads, faults *f) {
    krein_ctx_options o;
    krein_ctx *ctx = NULL;
    krein_ctx_options_init(&o);
    o.threads = threads;
    if (f) o.memory = (krein_allocator){fault_alloc, fault_release, f};
    if (krein_ctx_create(&o, &ctx) != KREIN_OK) {
        printf("no context\n");
        exit(1);
    }
    return ctx;
}

static uint64_t state = 88172645463325252u;
static inline double uniform(void) { /* (-1, 1), xorshift */
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) * 0x1p-52 - 1;
}
static inline void *need(int64_t count, size_t size) {
    void *p = calloc((size_t)(count > 0 ? count : 1), size);
    if (!p) exit(1);
    return p;
}
static inline double *random_double(int64_t n) {
    double *x = need(n, sizeof *x);
    for (int64_t i = 0; i < n; i++) x[i] = uniform();
    return x;
}
static inline float *random_float(int64_t n) {
    float *x = need(n, sizeof *x);
    for (int64_t i = 0; i < n; i++) x[i] = (float)uniform();
    return x;
}
static inline bool same(const void *a, const void *b, int64_t n, size_t size) {
    return memcmp(a, b, (size_t)n * size) == 0;
}

/* ---- factorisations ----------------------------------------------------- */

/* Upper triangle of G'G / n + I, NaN below: it must be neither read nor written. */
static inline double *spd(int64_t n, int64_t lda) {
    double *g = random_double(n * n), *a = need(n * lda, 8);
    for (int64_t i = 0; i < n * lda; i++) a[i] = (double)NAN;
    krein__dsyrk(n, n, 1.0 / (double)n, g, n, 0, a, lda);
    for (int64_t i = 0; i < n; i++) a[i * lda + i] += 1;
    free(g);
    return a;
}

#endif
