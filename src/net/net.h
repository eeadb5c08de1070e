/* net.h -- layers behind each other with their parameters in one vector. */
#ifndef KREIN_NET_H
#define KREIN_NET_H

#include "net/layer.h"
#include "num/matrix.h"

enum { KREIN_NET_LAYERS = 16 };

typedef struct krein_net {
    krein_ctx *ctx;
    int64_t in, layers;
    krein_layer layer[KREIN_NET_LAYERS];
    int64_t count; /* parameters, with gaps that bring layers to cache lines */
    float *p;
    struct krein_net_codes *codes; /* where layers are in codes (codes.h); NULL: none is */
} krein_net;

void krein__net_begin(krein_ctx *ctx, int64_t in, krein_net *net);
/* One layer more, by its spec: "affine(width=3)". */
krein_status krein__net_add(krein_net *net, const char *spec);
/* After the last: the vector, zeros. */
krein_status krein__net_ready(krein_net *net);
void krein__net_clear(krein_net *net);
double krein__net_bytes(const krein_net *net);
int64_t krein__net_out(const krein_net *net);

/* Buffers for batches of at most n rows. */
typedef struct krein_net_work {
    const krein_net *net;
    int64_t rows;
    float *x;                          /* rows x in */
    krein_pass pass[KREIN_NET_LAYERS]; /* of each layer */
    float *gradient[KREIN_NET_LAYERS]; /* rows x out of each layer: of its output */
    float *scratch;                    /* of all threads */
    int64_t each;                      /* floats of a thread */
} krein_net_work;
/* back: gradients will be wanted. */
krein_status krein__net_work_begin(const krein_net *net, int64_t rows, bool back,
                                   krein_net_work *out);
void krein__net_work_end(krein_net_work *w);
double krein__net_work_bytes(const krein_net *net, int64_t rows, bool back);

/* Rows index[0 .. n-1] of x (dense or CSR) become the batch; NULL: the first n. */
void krein__net_load(krein_net_work *w, const krein_rows *x, const int64_t *index, int64_t n);
/* Scores of the n rows of the batch, n x out, until the next. */
const float *krein__net_forward(krein_net_work *w, int64_t n);
/* Backwards through layer l: the gradient of its output is in w->gradient[l]; that of the layer
 * below is made (not below the first). */
void krein__net_backward(krein_net_work *w, int64_t l);
/* What is done with a part of a layer's gradient: range behind range, compact. Called on several
 * threads, for each part once. */
typedef void krein_part_fn(void *user, int64_t layer, int64_t ranges, const krein_range *range,
                           float *g);
void krein__net_gradient(krein_net_work *w, int64_t l, krein_part_fn *use, void *user);

#endif
