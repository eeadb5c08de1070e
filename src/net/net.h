/* net.h -- layers behind each other with their parameters in one vector. */
#ifndef KREIN_NET_H
#define KREIN_NET_H

#include "net/layer.h"
#include "net/loss.h"
#include "num/matrix.h"

enum { KREIN_NET_LAYERS = 128 };

typedef struct krein_net {
    krein_ctx *ctx;
    int64_t in, layers;
    krein_shape image; /* of the rows that come in */
    krein_layer layer[KREIN_NET_LAYERS];
    int64_t count; /* parameters, with gaps that bring layers to cache lines */
    float *p;
    struct krein_net_codes *codes; /* where layers are in codes (codes.h); NULL: none is */
} krein_net;

void krein__net_begin(krein_ctx *ctx, int64_t in, krein_net *net);
/* Rows that are images. */
void krein__net_begin_image(krein_ctx *ctx, krein_shape image, krein_net *net);
/* One layer more, by its spec: "affine(width=3)". */
krein_status krein__net_add(krein_net *net, const char *spec);
/* After the last: the vector, zeros. */
krein_status krein__net_ready(krein_net *net);
void krein__net_clear(krein_net *net);
double krein__net_bytes(const krein_net *net);
int64_t krein__net_out(const krein_net *net);
krein_shape krein__net_shape(const krein_net *net); /* of what comes out */
/* Parameters that a training starts from, drawn by seed. */
void krein__net_start(krein_net *net, uint64_t seed);
/* A net by the name of its architecture, ready, with a last affine layer of that many scores (0:
 * without it): "convnet(3-32-32-32)", "resnet(20)", "mlp(64-64)". See arch.c. */
krein_status krein__net_arch(krein_ctx *ctx, const char *arch, krein_shape image, int64_t scores,
                             krein_net *net);
/* There is such a name, with numbers; whether they suit the rows is seen with these. */
krein_status krein__net_arch_check(krein_ctx *ctx, const char *arch);

/* Buffers for batches of at most n rows. Works of one net may be used by several threads at the
 * same time, one each: inside a parallel region they use one thread. */
typedef struct krein_net_work {
    const krein_net *net;
    int64_t rows;
    float *x;                           /* rows x in */
    krein_pass pass[KREIN_NET_LAYERS];  /* of each layer */
    float *gradient[KREIN_NET_LAYERS];  /* rows x out of each layer: of its output */
    const float *p;                     /* the parameters that are used: the net's at first */
    krein_statistics statistics;        /* of normalising layers: the batch's at first */
    float *still;                       /* rows x in zeros, with second derivatives; else NULL */
    float *rgradient[KREIN_NET_LAYERS]; /* derivatives of the gradients along v */
    float *scratch;                     /* of all threads */
    int64_t each;                       /* floats of a thread */
} krein_net_work;
/* back: gradients will be wanted. */
krein_status krein__net_work_begin(const krein_net *net, int64_t rows, bool back,
                                   krein_net_work *out);
void krein__net_work_end(krein_net_work *w);
/* Floats that a thread needs for layers on batches of so many rows. */
int64_t krein__net_scratch(const krein_net *net, int64_t rows);
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
/* One of these: a part goes to its place in `user`, a vector like the net's. */
krein_part_fn krein__net_store_part;
/* Behind krein__net_backward of all layers: the whole gradient, zeros where nothing is trained. */
void krein__net_gradient_all(krein_net_work *w, float *g);
/* Mean loss of the n rows of the batch by parameters p, and its gradient; all of the above in one
 * call. */
double krein__net_loss_gradient(krein_net_work *w, const float *p, const krein_loss_class *loss,
                                const krein_aims *aims, int64_t n, float *g);
#define KREIN_NET_MOMENTUM 0.1 /* of the running statistics, in a step of training */
/* The running means and variances in p, a vector like the net's, move by `momentum` towards those
 * of the batch that went forwards last. */
void krein__net_note_statistics(const krein_net_work *w, double momentum, float *p);

/* Buffers for what follows. Not of nets with layers in codes. */
krein_status krein__net_work_second(krein_net_work *w);
/* Hv: the Hessian of the mean loss times v, both like the net's vector; behind
 * krein__net_loss_gradient of the same batch. Of v what is not trained is not read; Hv is 0 there.
 * At corners (ReLU, maxima, hinge) the second derivative is that of the side taken. */
void krein__net_hessian_vector(krein_net_work *w, const krein_loss_class *loss,
                               const krein_aims *aims, const float *v, float *Hv);

#endif
