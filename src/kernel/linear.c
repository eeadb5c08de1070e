/* linear -- k(x, y) = <x, y> */
#include "kernel/kernel.h"

#define VALUES(T, name)                                                                            \
    static void name(const double *p, int64_t n, T *v, T xx, const T *yy) {                        \
        (void)p, (void)n, (void)v, (void)xx, (void)yy; /* the dot product is the value */          \
    }
VALUES(float, values32)
VALUES(double, values64)

static bool series(const double *p, bool unit, int64_t count, double *a, double *reach) {
    (void)p, (void)unit, (void)reach;
    for (int64_t n = 0; n < count; n++) a[n] = n == 1;
    return count > 1;
}

static bool source(const double *p, krein_kernel_source *out) {
    (void)p;
    return krein__kernel_source(out, "a * b", "s");
}

const krein_kernel_class krein__kernel_linear = {.cls = {"linear", "<x, y>", "", NULL, NULL},
                                                 .family = KREIN_FAMILY_DOT,
                                                 .map = "explicit",
                                                 .source = source,
                                                 .values32 = values32,
                                                 .values64 = values64,
                                                 .series = series};
