/* layer.h -- layers that can be differentiated: rows of numbers in, rows of numbers out.
 *
 * A batch of rows passes the layers of a net forwards, the gradient of the loss passes them
 * backwards. Work is divided into fixed pieces, so that the number of threads does not matter:
 *
 *     forward     a tile of rows times a part of the columns of the output
 *     backward    a tile of rows: the gradient of the input
 *     gradient    a part of the parameters, over all rows of the batch in one product
 *
 * A part of the gradient is small enough to stay in the cache until the optimiser has used it, and
 * is nowhere stored: the gradient of all parameters is made only where its norm is wanted first. */
#ifndef KREIN_LAYER_H
#define KREIN_LAYER_H

#include "base/spec.h"
#include "num/panels.h"
#include "num/quant.h"

enum { KREIN_NET_TILE = 48 };  /* rows: a multiple of the 12 that OpenBLAS takes at a time */
enum { KREIN_NET_PART = 128 }; /* columns of a part; rows of weights where these are a part */
enum { KREIN_NET_RANGES = 2 }; /* of a part of the parameters, at most */

typedef struct krein_layer krein_layer;

/* Parameters rows x columns with stride ld, from `first` of the net's vector on. */
typedef struct krein_range {
    int64_t first, rows, columns, ld;
    bool weights; /* penalties of the layer hold for them; no intercepts */
} krein_range;

/* What one layer reads and writes for a batch of n rows; all with strides equal to their width. */
typedef struct krein_pass {
    int64_t n;
    const float *x;    /* n x in */
    float *columns;    /* x by columns, in x KREIN_NET_TILE of each tile; NULL: not wanted */
    float *out;        /* n x out */
    float *kept;       /* n x kept, for the way back; NULL: there is none */
    const float *gout; /* n x out: gradient of the output */
    float *gx;         /* n x in: of the input */
    const float *ahead[KREIN_AHEAD]; /* vectors like the net's, read with its gradient; or NULL */
} krein_pass;

typedef struct krein_layer_class {
    krein_class cls; /* the first option is `width`: numbers of a row of output */
    /* Sets what follows from `in` and the options. */
    void (*shape)(krein_layer *l);
    /* Rows row .. row + n - 1 of out (and kept), columns of that part. p: the net's vector. */
    void (*forward)(const krein_layer *l, const float *p, const krein_pass *b, int64_t row,
                    int64_t n, int64_t part, float *scratch);
    /* Rows row .. row + n - 1 of gx. */
    void (*backward)(const krein_layer *l, const float *p, const krein_pass *b, int64_t row,
                     int64_t n, float *scratch);
    /* The ranges of a part of the parameters; their number. */
    int64_t (*ranges)(const krein_layer *l, int64_t part, krein_range *out);
    /* The gradient of these over all rows, range behind range without gaps. */
    void (*gradient)(const krein_layer *l, const krein_pass *b, int64_t part, float *g,
                     float *scratch);
    /* Layers that may be in codes (codes.h): which quantiser of the layer's a column of the weights
     * of a part belongs to; -1: a column of zeros that fill up. NULL: they may not. */
    int64_t (*quantiser)(const krein_layer *l, int64_t part, int64_t column);
} krein_layer_class;

struct krein_layer {
    const krein_layer_class *cls;
    krein_values values;
    int64_t in, out;
    int64_t first;         /* of its parameters in the net's vector */
    int64_t parameters;    /* their number */
    int64_t kept;          /* floats of a row that backward and gradient need */
    int64_t parts;         /* of the output */
    int64_t weights_parts; /* of the parameters; 0: nothing is trained */
    int64_t part_size;     /* the most parameters of a part */
    int64_t scratch;       /* floats of a thread, for a batch of n rows: n times this */
    bool by_columns;       /* forward reads the input by columns */
    double flops;          /* of a row, forwards */
    int64_t quantisers;    /* of the weights where these are codes */
    bool even;             /* these are on [-u, u], else on [lo, hi] */
    double most;           /* of the output, in size; 0: it has no bound and stays as it is */
    int bits;              /* of weights and output; 0: they are no codes */
    krein_quant *quant;    /* of the weights now; the net's */
};

static inline int64_t krein__net_parts(int64_t n) {
    return (n + KREIN_NET_PART - 1) / KREIN_NET_PART;
}

#define LAYER(name) extern const krein_layer_class name;
#include "net/layers.def"
#undef LAYER
extern const krein_class *const krein__layers[];
extern const int64_t krein__layer_count;

/* Spectral layers (spectral.c): where the frequencies and phases of the layer begin in the net's
 * vector. Frequencies are in radians, in x F in panels (panels.h); second: those of the other term,
 * the same where the spectrum is stationary; phases in turns, or NULL where the layer has none. */
typedef struct krein_spectrum_at {
    int64_t F;
    float *first, *second, *phase;
} krein_spectrum_at;
krein_spectrum_at krein__spectral_at(const krein_layer *l, float *p);

#endif
