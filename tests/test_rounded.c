/* test_rounded.c -- rows of float32 in 16 bits, against the definition in double. */
#include "common.h"

#include "num/rounded.h"

#include <float.h>

enum { N = 7, D = 203 }; /* no multiple of a vector */

typedef struct codes {
    float z[N * D], back[N * D], scale[N];
    int16_t code[N * D];
} codes;

static void convert(codes *s) {
    krein__round_rows(N, D, s->z, s->code, s->scale);
    krein__rounded_rows(N, D, s->code, s->scale, s->back);
}

/* Rows of sizes from 1e-20 to 1e20: each number within half a scale, and the row's largest kept. */
static void near(void) {
    static codes s;
    test_random_state = 88172645463325252u;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < D; j++)
            s.z[i * D + j] = (float)((test_random() - .5) * pow(10, -20 + 40. / (N - 1) * i));
    convert(&s);
    for (int i = 0; i < N; i++) {
        double most = 0, square = 0;
        for (int j = 0; j < D; j++) most = fmax(most, fabs((double)s.z[i * D + j]));
        CHECK_REL((double)s.scale[i], most / 32767, 1e-6);
        for (int j = 0; j < D; j++) {
            double z = (double)s.z[i * D + j], error = (double)s.back[i * D + j] - z;
            CHECK(fabs(error) <= most / 32767 * .501);
            CHECK(fabs((double)s.code[i * D + j] - z * 32767 / most) <= .51);
            if (fabs(z) == most) CHECK(abs(s.code[i * D + j]) == 32767);
            square += error * error;
        }
        /* uniform errors: a variance of 1/12, here the mean of 203 of them, 5 deviations wide */
        CHECK_ABS(square / D / (most * most) * 32767 * 32767, 1. / 12, 5 * .0745 / sqrt(D));
    }
}

/* Zeros, tiny numbers, and rows that are not finite, each beside others. */
static void odd_rows(void) {
    static codes s;
    for (int i = 0; i < N * D; i++) s.z[i] = 1;
    for (int j = 0; j < D; j++) {
        s.z[D + j] = 0;
        s.z[2 * D + j] = FLT_TRUE_MIN;
        s.z[6 * D + j] = (j % 2 ? .5F : -.5F) * FLT_MAX;
    }
    s.z[3 * D + 100] = INFINITY;
    s.z[4 * D + D - 1] = NAN;
    s.z[5 * D] = -INFINITY;
    convert(&s);
    for (int j = 0; j < D; j++) {
        CHECK_REL((double)s.back[j], 1, 1e-6);
        CHECK(s.back[D + j] == 0 && s.back[2 * D + j] == 0);
        for (int i = 3; i < 6; i++) CHECK(isnan(s.back[i * D + j]));
        CHECK(fabs((double)s.back[6 * D + j] / (double)s.z[6 * D + j] - 1) < 1e-6);
    }
}

/* With a scale that is given: numbers beyond it are cut, and those that are not finite are told. */
static void given_scale(void) {
    static codes s;
    test_random_state = 88172645463325252u;
    for (int j = 0; j < D; j++) s.z[j] = (float)test_random();
    s.z[5] = 3;
    s.z[D - 1] = -3;
    for (int d = 1; d <= D; d += 13) {
        CHECK(krein__round_by(d, s.z, 2.F / 32767, s.code));
        for (int j = 0; j < d; j++) {
            double want = fmax(-32767, fmin(32767, (double)s.z[j] * 32767 / 2));
            CHECK(fabs((double)s.code[j] - want) <= .51);
        }
    }
    CHECK(krein__round_by(D, s.z, 0, s.code) && s.code[5] == 0);
    for (int t = 0; t < 3; t++) {
        s.z[7] = t == 0 ? NAN : t == 1 ? INFINITY : -INFINITY;
        CHECK(!krein__round_by(D, s.z, 1, s.code) && krein__round_by(7, s.z, 1, s.code));
    }
}

/* Products with vectors, for numbers of rows and columns around those of the vectors, against sums
 * in double: sums of D products in float32 are within D 2^-24 of the sum of their sizes. */
static void products(void) {
    static codes s;
    enum { STEP = 3 };
    float v[D], x[N * STEP], out[N * STEP], to[D];
    double squares[N];
    test_random_state = 88172645463325252u;
    for (int i = 0; i < N * D; i++) s.z[i] = (float)(test_random() - .5);
    for (int j = 0; j < D; j++) v[j] = (float)(test_random() - .5);
    for (int i = 0; i < N * STEP; i++) x[i] = (float)(test_random() - .5);
    for (int n = 1; n <= N; n++)
        for (int d = n == N ? D : 60; d >= 1; d -= n == N ? 6 : 7) {
            krein__round_rows(n, d, s.z, s.code, s.scale);
            krein__rounded_rows(n, d, s.code, s.scale, s.back);
            memset(out, 0, sizeof out);
            for (int j = 0; j < d; j++) to[j] = 2;
            krein__rounded_times(n, d, s.code, s.scale, v, out, STEP);
            krein__rounded_squares(n, d, s.code, s.scale, squares);
            krein__rounded_add(n, d, s.code, s.scale, x, STEP, to);
            for (int i = 0; i < n; i++) {
                double sum = 0, size = 0, square = 0;
                for (int j = 0; j < d; j++) {
                    square += (double)s.back[i * d + j] * (double)s.back[i * d + j];
                    sum += (double)s.back[i * d + j] * (double)v[j];
                    size += fabs((double)s.back[i * d + j] * (double)v[j]);
                }
                CHECK_ABS((double)out[i * STEP], sum, (d + 4) * size / 16777216);
                CHECK_REL(squares[i], square, (d + 4) / 16777216.);
                CHECK(out[i * STEP + 1] == 0 && out[i * STEP + 2] == 0);
            }
            for (int j = 0; j < d; j++) {
                double sum = 2, size = 2;
                for (int i = 0; i < n; i++) {
                    sum += (double)s.back[i * d + j] * (double)x[i * STEP];
                    size += fabs((double)s.back[i * d + j] * (double)x[i * STEP]);
                }
                CHECK_ABS((double)to[j], sum, (n + 4) * size / 16777216);
            }
        }
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(near);
    RUN(odd_rows);
    RUN(given_scale);
    RUN(products);
    return DONE();
}
