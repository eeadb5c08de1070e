/* npy.h -- the header of a NumPy array, and its elements. */
#ifndef KREIN_NPY_H
#define KREIN_NPY_H

#include "file/bytes.h"

typedef struct krein_npy {
    char kind; /* f, i, u or b */
    int size;
    bool swap, fortran;
    int64_t n, d, offset; /* rows, columns (1 for a vector), where the data start */
    int64_t image[3];     /* n x h x w or n x h x w x c: h, w and c, d = h w c; else zeros */
} krein_npy;

/* Reads the header at the beginning of a source. */
krein_status krein__npy_open(krein_ctx *ctx, const char *path, krein_bytes *in, krein_npy *out);
/* A source that is not gzipped has exactly the bytes that type and shape say. */
krein_status krein__npy_check_size(krein_ctx *ctx, const char *path, krein_bytes *in,
                                   const krein_npy *a);
/* KREIN_EFORMAT: the file is `what` ("shorter", "longer") than its header says. */
krein_status krein__npy_wrong_size(krein_ctx *ctx, const char *path, const krein_npy *a,
                                   const char *what);
/* The element whose bytes stand at p. */
double krein__npy_element(const krein_npy *a, const unsigned char *p);

#endif
