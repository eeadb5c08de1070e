/* npy.h -- arrays of numbers from .npy files, for the benchmark programs. */
#ifndef KREIN_BENCH_NPY_H
#define KREIN_BENCH_NPY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An .npy of float32 or float64 in C order, as `krein transform`, `krein gram` and numpy write it:
 * n x d floats, or doubles where `wide`, aligned as krein keeps features. Ends the program where it
 * cannot be read. */
static inline void *npy_load(const char *path, bool wide, int64_t *n, int64_t *d) {
    FILE *f = fopen(path, "rb");
    unsigned char head[10];
    char text[4096] = "", *end;
    void *out = NULL;
    if (!f || fread(head, 1, 10, f) != 10) goto bad;
    size_t length = head[8] + 256u * head[9];
    if (length >= sizeof text || fread(text, 1, length, f) != length) goto bad;
    bool doubles = strstr(text, "<f8") != NULL;
    const char *shape = strstr(text, "'shape': (");
    if (!shape || (!doubles && !strstr(text, "<f4"))) goto bad;
    *n = strtoll(shape + 10, &end, 10);
    *d = end[0] == ',' && end[1] == ' ' ? strtoll(end + 1, NULL, 10) : 1;
    size_t count = (size_t)(*n * *d), bytes = count * (wide ? sizeof(double) : sizeof(float));
    out = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!out) goto bad;
    for (size_t i = 0; i < count; i++) {
        double value = 0;
        float small = 0;
        if (fread(doubles ? (void *)&value : (void *)&small, doubles ? 8 : 4, 1, f) != 1) goto bad;
        if (wide)
            ((double *)out)[i] = doubles ? value : (double)small;
        else
            ((float *)out)[i] = doubles ? (float)value : small;
    }
    fclose(f);
    return out;
bad:
    fprintf(stderr, "%s cannot be read\n", path);
    exit(1);
}

#endif
