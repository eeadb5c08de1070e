/* advise.h -- the sample that advice is drawn from, for advise and for train. */
#ifndef KREIN_ADVISE_H
#define KREIN_ADVISE_H

#include "learn/learn.h"
#include "select/capacity.h"

enum { KREIN_ADVISE_ROWS = 2000 };

typedef struct krein_sample {
    krein_ctx *ctx;
    krein_model *model; /* its encoding, for the targets */
    krein_kernel *kernel;
    krein_stream *stream;
    int64_t n, m, k; /* rows; sampled; outputs, 0: no labels */
    double *K, *y;   /* owned */
} krein_sample;

/* Fills K and y. */
krein_status krein__advise_gather(krein_sample *s, krein_data *data, uint64_t seed);
/* Rows, kernel matrix and labels, and what is computed from them. */
double krein__advise_sample_bytes(const krein_sample *s);

#endif
