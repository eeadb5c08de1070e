/* images.h -- generated images, as arrays and as NPY files. */
#ifndef KREIN_TEST_IMAGES_H
#define KREIN_TEST_IMAGES_H

#include "common.h"

#include <math.h>

typedef struct images {
    int64_t n, h, w, c;
    uint8_t *x;
    int32_t *y; /* 0: stripes across, 1: up, 2: along the diagonal */
} images;

static inline int64_t image_size(const images *m) { return m->h * m->w * m->c; }

/* Stripes of a random phase, with noise; channels differ in brightness. */
static inline images stripes(int64_t n, int64_t h, int64_t w, int64_t c, int classes,
                             uint64_t seed) {
    images m = {n, h, w, c, test_new(n * h * w * c, 1), test_new(n, sizeof(int32_t))};
    test_random_state = 88172645463325252u ^ (seed * 0x9e3779b97f4a7c15u);
    for (int i = 0; i < 20; i++) test_random_bits();
    for (int64_t i = 0; i < n; i++) {
        double phase = 3.1 * test_random();
        m.y[i] = (int32_t)(i % classes);
        for (int64_t e = 0; e < h * w * c; e++) {
            double row = (double)(e / c / w), column = (double)(e / c % w), k = (double)(e % c);
            double at = m.y[i] == 0 ? row : m.y[i] == 1 ? column : .7 * (row + column);
            double v = 90 + 30 * k + 60 * sin(1.8 * at + phase) + 25 * test_random();
            m.x[i * h * w * c + e] = (uint8_t)fmin(255, fmax(0, rint(v)));
        }
    }
    return m;
}

static inline void drop_images(images *m) {
    free(m->x);
    free(m->y);
}

/* n x d of the same numbers in float. */
static inline float *as_floats(const images *m) {
    float *x = test_new(m->n * image_size(m), sizeof *x);
    for (int64_t i = 0; i < m->n * image_size(m); i++) x[i] = (float)m->x[i];
    return x;
}

/* shape as Python writes it: "(3, 2)". */
static inline const char *write_npy(const char *name, const char *type, const char *shape,
                                    bool fortran, const void *data, size_t bytes) {
    const char *path = test_path(name);
    FILE *f = fopen(path, "wb");
    char text[118];
    if (!f) exit(1);
    int n = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", type,
                     fortran ? "True" : "False", shape);
    memset(text + n, ' ', sizeof text - (size_t)n);
    text[sizeof text - 1] = '\n';
    fwrite("\x93NUMPY\1\0\x76\0", 1, 10, f);
    fwrite(text, 1, sizeof text, f);
    fwrite(data, 1, bytes, f);
    fclose(f);
    return path;
}

static inline const char *write_images(const char *name, const images *m) {
    char shape[96];
    snprintf(shape, sizeof shape, "(%d, %d, %d, %d)", (int)m->n, (int)m->h, (int)m->w, (int)m->c);
    return write_npy(name, "|u1", shape, false, m->x, (size_t)(m->n * image_size(m)));
}
static inline const char *write_classes(const char *name, const images *m) {
    char shape[32];
    snprintf(shape, sizeof shape, "(%d,)", (int)m->n);
    return write_npy(name, "<i4", shape, false, m->y, (size_t)m->n * sizeof *m->y);
}

#endif
