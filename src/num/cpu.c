/* cpu.c -- whether OpenBLAS uses the best kernels for this CPU
 *
 * A DYNAMIC_ARCH OpenBLAS picks its kernels by CPU family and model, and one that is older
 * than the CPU does not know the model: Debian 12's 0.3.21 runs Sapphire Rapids and its
 * successors on the kernels of a Prescott, at a tenth of the speed or worse. The features a
 * CPU has are a safer guide than its model number, so the choice is compared with them:
 *
 *   kernels chosen use     the CPU has            better
 *   at most AVX            AVX-512 F DQ BW VL     SkylakeX
 *   at most AVX            AVX2 and FMA           Haswell, or Zen on AMD
 *   at most SSE            AVX                    Sandybridge
 *
 * A library cannot change the choice after OpenBLAS has been loaded; the program sets
 * OPENBLAS_CORETYPE to the answer and starts itself again. Nothing is better than a choice
 * that already uses AVX2: the user may have made it on purpose. */
#include "num/blas.h"

#include <string.h>
#include <strings.h>

static bool among(const char *name, const char *const *list) {
    for (; *list; list++)
        if (strcasecmp(name, *list) == 0) return true;
    return false;
}

const char *krein__core_for(const char *chosen, bool avx, bool avx2fma, bool avx512, bool amd) {
    static const char *const with_avx2[] = {"Haswell",        "Zen",       "SkylakeX", "Cooperlake",
                                            "Sapphirerapids", "Excavator", NULL};
    static const char *const with_avx[] = {"Sandybridge", "Bulldozer", "Piledriver", "Steamroller",
                                           NULL};
    const char *name = chosen ? chosen : "";
    if (among(name, with_avx2)) return NULL;
    if (avx512) return "SkylakeX";
    if (avx2fma) return amd ? "Zen" : "Haswell";
    if (avx && !among(name, with_avx)) return "Sandybridge";
    return NULL;
}

const char *krein_blas_core(const char **better) {
    if (better) *better = krein__blas_better_core();
    return krein__blas_core();
}

const char *krein__blas_better_core(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_cpu_init();
    bool avx = __builtin_cpu_supports("avx");
    bool avx2fma = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    bool avx512 = avx2fma && __builtin_cpu_supports("avx512f") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512vl");
    return krein__core_for(krein__blas_core(), avx, avx2fma, avx512, __builtin_cpu_is("amd"));
#else
    return NULL;
#endif
}
