/* optimizer.h -- how parameters follow their gradient. */
#ifndef KREIN_OPTIMIZER_H
#define KREIN_OPTIMIZER_H

#include "base/spec.h"
#include "num/simd.h"

/* The numbers of one step, the same for all parameters. */
typedef struct krein_step {
    float rate;
    float decay; /* 2 lambda of the penalty lambda |p|^2: decay times p is added to the gradient */
    float a, b, c; /* the optimiser's own */
    float reach;   /* gradients that stay move p by so many rates a step in the long run; 0: one, or
                      it is not known */
} krein_step;

typedef struct krein_optimizer krein_optimizer;
typedef struct krein_optimizer_class {
    krein_class cls;
    double rate; /* the default */
    int states;  /* floats that it keeps of a parameter: at most two, zeros at the start */
    /* Step number t, from 1, with that rate. */
    krein_step (*step)(const krein_optimizer *o, int64_t t, double rate);
    /* n parameters p with the gradient g; s, r: the states (r is NULL where there is one). */
    void (*update)(const krein_step *u, int64_t n, float *p, const float *g, float *s, float *r);
} krein_optimizer_class;

struct krein_optimizer {
    const krein_optimizer_class *cls;
    krein_values values;
};

#define OPTIMIZER(name) extern const krein_optimizer_class name;
#include "net/optimizers.def"
#undef OPTIMIZER
extern const krein_class *const krein__optimizers[];
extern const int64_t krein__optimizer_count;

/* An update for all instruction sets: NAME is a function by the body BODY, compiled for each, of
 * the i-th parameter. Products and sums may be fused where the CPU can: another CPU has other last
 * digits. */
#define KREIN__UPDATE(PATH, TARGET, BODY)                                                          \
    TARGET static void PATH(const krein_step *u, int64_t n, float *restrict p,                     \
                            const float *restrict grad, float *restrict s, float *restrict r) {    \
        const float rate = u->rate, decay = u->decay, a = u->a, b = u->b, c = u->c;                \
        (void)a, (void)b, (void)c, (void)r;                                                        \
        for (int64_t i = 0; i < n; i++) {                                                          \
            float g = grad[i] + decay * p[i];                                                      \
            BODY                                                                                   \
        }                                                                                          \
    }
#if defined(__x86_64__)
#define KREIN_UPDATE(NAME, BODY)                                                                   \
    KREIN__UPDATE(NAME##_baseline, , BODY)                                                         \
    KREIN__UPDATE(NAME##_avx2, __attribute__((target("avx2,fma"))), BODY)                          \
    KREIN__UPDATE(NAME##_avx512, __attribute__((target(KREIN_AVX512))), BODY)                      \
    static void NAME(const krein_step *u, int64_t n, float *p, const float *g, float *s,           \
                     float *r) {                                                                   \
        krein_simd level = krein__simd();                                                          \
        if (level == KREIN_SIMD_AVX512)                                                            \
            NAME##_avx512(u, n, p, g, s, r);                                                       \
        else if (level == KREIN_SIMD_AVX2)                                                         \
            NAME##_avx2(u, n, p, g, s, r);                                                         \
        else                                                                                       \
            NAME##_baseline(u, n, p, g, s, r);                                                     \
    }
#else
#define KREIN_UPDATE(NAME, BODY) KREIN__UPDATE(NAME, , BODY)
#endif

#endif
