/* speed.c -- how fast the machine is now, for work that has a time limit. */
#include "num/speed.h"

#include "num/blas.h"

#include <math.h>

krein_status krein__speed(krein_ctx *ctx, double *speed) {
    enum { N = 256, TIMES = 8 };
    krein_status st = KREIN_OK;
    double *a = NULL, *c = NULL;
    NEW(a, N * N);
    NEW(c, N * N);
    for (int64_t i = 0; i < N * N; i++) a[i] = 1 / (double)(1 + i % 7);
    double start = krein__clock();
    for (int i = 0; i < TIMES; i++)
        krein__pgemm(ctx, false, false, N, N, N, 1, a, N, a, N, 0, c, N);
    double seconds = krein__clock() - start;
    *speed = TIMES * 2.0 * N * N * N / fmax(seconds, 1e-9);
done:
    krein__free(ctx, a);
    krein__free(ctx, c);
    return st;
}

int64_t krein__eigen_rows(double flops) {
    static const double EIGEN = 30; /* times n^3: about 9, and slower than a product */
    return krein__max(64, (int64_t)cbrt(flops / EIGEN));
}
