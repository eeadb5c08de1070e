/* strips.c -- C = A B with an A that is read where it stands: see strips.h. */
#include "num/strips.h"

void krein__strips(bool add, int64_t m, int64_t columns, const krein_strips *s, float *c,
                   int64_t ldc) {
    for (int64_t i = 0; i < m; i++) {
        float sum[KREIN_PANEL];
        for (int64_t j = 0; j < columns; j++) sum[j] = add ? c[i * ldc + j] : 0;
        for (int64_t t = 0; t < s->pieces; t++)
            for (int64_t k = 0; k < s->k; k++) {
                float a = s->a[t * s->a_next + i * s->a_row + k * s->a_term];
                const float *b = s->b + t * s->b_next + k * s->b_row;
                for (int64_t j = 0; j < columns; j++) sum[j] += a * b[j];
            }
        for (int64_t j = 0; j < columns; j++) c[i * ldc + j] = sum[j];
    }
}
