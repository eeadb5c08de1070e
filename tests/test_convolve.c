/* test_convolve.c -- circular convolutions against sums written out. */
#include "common.h"

#include "num/convolve.h"

static void convolution(void) {
    for (int64_t n = 1; n <= 256; n *= 2) {
        int64_t m = n * KREIN_LANES;
        float *roots = test_new(krein__roots_count(n), sizeof *roots);
        float *a = test_new(m, sizeof *a), *b = test_new(m, sizeof *b);
        float *u = test_new(m, sizeof *u), *v = test_new(m, sizeof *v);
        krein__roots_fill(n, roots);
        for (int64_t i = 0; i < m; i++) {
            u[i] = a[i] = (float)test_random();
            v[i] = b[i] = (float)test_random();
        }
        krein__lanes_forward(n, roots, u);
        krein__lanes_forward(n, roots, v);
        krein__lanes_multiply(n, v, u);
        krein__lanes_inverse(n, roots, u);
        double worst = 0;
        for (int64_t i = 0; i < KREIN_LANES; i++)
            for (int64_t k = 0; k < n; k++) {
                double sum = 0;
                for (int64_t j = 0; j < n; j++)
                    sum += (double)a[j * KREIN_LANES + i] *
                           (double)b[(k - j + n) % n * KREIN_LANES + i];
                worst = fmax(worst, fabs(sum - (double)u[k * KREIN_LANES + i]));
            }
        /* n products of size 1 with rounding errors that add up as log2 n of them do */
        CHECK(worst <= 6e-8 * sqrt((double)n) * (4 + 2 * log2((double)n)));
        free(roots), free(a), free(b), free(u), free(v);
    }
}

int main(void) {
    RUN(convolution);
    return DONE();
}
