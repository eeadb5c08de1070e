/* order.h -- a random order of rows that follows from a seed. */
#ifndef KREIN_ORDER_H
#define KREIN_ORDER_H

#include <stdint.h>

/* Fisher-Yates with the numbers of splitmix64: one shuffle of a pass needs many. */
static inline void krein__shuffle(int32_t *a, int64_t n, uint64_t seed) {
    for (int64_t i = n - 1; i > 0; i--) {
        uint64_t v = seed += 0x9e3779b97f4a7c15u;
        v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9u;
        v = (v ^ v >> 27) * 0x94d049bb133111ebu;
        v ^= v >> 31;
        int64_t j = (int64_t)((v >> 32) * (uint64_t)(i + 1) >> 32);
        int32_t keep = a[i];
        a[i] = a[j];
        a[j] = keep;
    }
}

#endif
