/* layer.h -- layers that can be differentiated: rows of numbers in, rows of numbers out.
 *
 * A batch of rows passes the layers of a net forwards, the gradient of the loss passes them
 * backwards. Work is divided into fixed pieces, so that the number of threads does not matter:
 *
 *     gather      a group of rows: sums that are wanted before one of the others begins
 *     settle      what follows from the sums of all groups, or from the parameters alone
 *     forward     a tile of rows times a part of the columns of the output
 *     backward    a tile of rows: the gradient of the input
 *     gradient    a part of the parameters, over all rows of the batch in one product
 *
 * The directional derivative of all this along v, a vector like the parameters', is the R-operator
 * (pearlmutter1994): r_forward, r_backward and r_gradient make R{out}, R{gx} and R{gradient}, and
 * the last of these is the product of the Hessian of the loss and v.
 *
 * A row may be an image: h x w x c, channels last.
 *
 * A part of the gradient is small enough to stay in the cache until the optimiser has used it, and
 * is nowhere stored: the gradient of all parameters is made only where its norm is wanted first. */
#ifndef KREIN_LAYER_H
#define KREIN_LAYER_H

#include "base/rng.h"
#include "base/spec.h"
#include "num/panels.h"
#include "num/quant.h"

enum { KREIN_NET_TILE = 48 };   /* rows: a multiple of the 12 that OpenBLAS takes at a time */
enum { KREIN_NET_PART = 128 };  /* columns of a part; rows of weights where these are a part */
enum { KREIN_NET_RANGES = 2 };  /* of a part of the parameters, at most */
enum { KREIN_NET_GROUPS = 16 }; /* of the rows of a batch, at most */

typedef struct krein_layer krein_layer;
struct krein_net;

/* Of a row; plain rows have h = w = 1. */
typedef struct krein_shape {
    int64_t h, w, c;
} krein_shape;
static inline int64_t krein__shape_size(krein_shape s) { return s.h * s.w * s.c; }

/* Where normalising layers have their means and variances from. */
typedef enum krein_statistics {
    KREIN_STATISTICS_BATCH = 0,  /* the rows of the batch */
    KREIN_STATISTICS_RUNNING = 1 /* the parameters, see krein__net_note_statistics */
} krein_statistics;

/* What is made, one bit each. */
typedef enum krein_way {
    KREIN_WAY_FORWARD = 1,
    KREIN_WAY_BACKWARD = 2,
    KREIN_WAY_GRADIENT = 4,
    KREIN_WAY_R_FORWARD = 8,
    KREIN_WAY_R_BACKWARD = 16,
    KREIN_WAY_R_GRADIENT = 32
} krein_way;

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
    float *whole;                    /* the layer's `whole` numbers of the batch */
    float *sums;                     /* GROUPS x the layer's `sums` */
    const float *aside; /* of layers with a shortcut: output of the layer that it comes from */
    bool add;           /* to what is there: forward, backward, gather, gradient; no intercepts */
    krein_statistics statistics;
    /* Directional derivatives, where they are made; still: the input has none. */
    bool still;
    const float *rx, *rgout, *raside;
    float *rout, *rgx, *rkept, *rwhole;
} krein_pass;

typedef struct krein_layer_class {
    krein_class cls; /* the first option is `width` where the layer has one: numbers of a row of
                        output, channels of an image */
    /* Sets what follows from `in`, `from` and the options; `to` is h = w = 1 where it is not set.
     */
    krein_status (*shape)(const struct krein_net *net, krein_layer *l);
    /* Parameters to begin a training with: normal numbers of stream g. NULL: zeros. */
    void (*start)(const krein_layer *l, krein_rng g, float *p);
    /* Ways that these are called for. Sums of rows row .. row + n - 1; then once, with the sums of
     * all groups in b->sums. v is NULL but for derivatives. */
    unsigned gathers, settles;
    void (*gather)(const krein_layer *l, const krein_pass *b, krein_way way, int64_t row, int64_t n,
                   float *sum, float *scratch);
    void (*settle)(const krein_layer *l, const float *p, const float *v, const krein_pass *b,
                   krein_way way, int64_t groups);
    /* Rows row .. row + n - 1 of out (and kept), columns of that part. p: the net's vector. */
    void (*forward)(const krein_layer *l, const float *p, const krein_pass *b, int64_t row,
                    int64_t n, int64_t part, float *scratch);
    /* Rows row .. row + n - 1 of gx. */
    void (*backward)(const krein_layer *l, const float *p, const krein_pass *b, int64_t row,
                     int64_t n, float *scratch);
    bool over_input;   /* out may stand where x stood, and gx where gout did; R{.} of them, too */
    bool reads_output; /* out is read on the way back */
    /* The ranges of a part of the parameters; their number. */
    int64_t (*ranges)(const krein_layer *l, int64_t part, krein_range *out);
    /* The gradient of these over all rows, range behind range without gaps. */
    void (*gradient)(const krein_layer *l, const krein_pass *b, int64_t part, float *g,
                     float *scratch);
    /* Layers with a shortcut: rows of `to`, the gradient of the output that it comes from, get what
     * comes through it from the gradient g of the layer's output. */
    void (*back_aside)(const krein_layer *l, const float *g, int64_t row, int64_t n, float *to);
    /* Normalising layers: see krein__net_note_statistics. */
    void (*note)(const krein_layer *l, const krein_pass *b, double momentum, float *p);
    /* The same three for derivatives along v. */
    void (*r_forward)(const krein_layer *l, const float *p, const float *v, const krein_pass *b,
                      int64_t row, int64_t n, int64_t part, float *scratch);
    void (*r_backward)(const krein_layer *l, const float *p, const float *v, const krein_pass *b,
                       int64_t row, int64_t n, float *scratch);
    void (*r_gradient)(const krein_layer *l, const krein_pass *b, int64_t part, float *g,
                       float *scratch);
    /* Layers that may be in codes (codes.h): which quantiser of the layer's a column of the weights
     * of a part belongs to; -1: a column of zeros that fill up. NULL: they may not. */
    int64_t (*quantiser)(const krein_layer *l, int64_t part, int64_t column);
} krein_layer_class;

struct krein_layer {
    const krein_layer_class *cls;
    krein_values values;
    int64_t in, out;
    krein_shape from, to;  /* in and out are their sizes */
    int64_t back;          /* layers between this one and the source of its shortcut; 0: has none */
    krein_shape aside;     /* of that source */
    int64_t tile;          /* rows that are one piece of work, at most KREIN_NET_TILE */
    int64_t first;         /* of its parameters in the net's vector */
    int64_t parameters;    /* their number */
    int64_t kept;          /* floats of a row that backward and gradient need */
    int64_t parts;         /* of the output */
    int64_t weights_parts; /* of the parameters; 0: nothing is trained */
    int64_t part_size;     /* the most parameters of a part */
    int64_t scratch;       /* floats of a thread, for a batch of n rows: n times this */
    int64_t fixed;         /* and this, whatever the batch is */
    int64_t whole;         /* floats of a batch */
    int64_t sums;          /* floats of a group */
    int64_t rkept;         /* floats of a row that r_backward and r_gradient need */
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

/* Rows of images that are enough for a piece of work. */
static inline int64_t krein__image_tile(int64_t floats) {
    return krein__max(1, krein__min(KREIN_NET_TILE, 8192 / krein__max(1, floats)));
}
/* Weights rows x out that stand first, and out intercepts behind them, in parts of PART rows. */
void krein__weights_shape(krein_layer *l, int64_t rows, bool intercept);
int64_t krein__weights_ranges(const krein_layer *l, int64_t rows, bool intercept, int64_t part,
                              krein_range *out);
/* Normal numbers of variance 2 / rows, intercepts 0 (he2015). */
void krein__weights_start(const krein_layer *l, int64_t rows, krein_rng g, float *p);
/* Layers that are linear in their input and in their parameters: the three from those above, which
 * keep to b->add; what `settle` makes of v stands in b->rwhole. */
void krein__bilinear_r_forward(const krein_layer *l, const float *p, const float *v,
                               const krein_pass *b, int64_t row, int64_t n, int64_t part,
                               float *scratch);
void krein__bilinear_r_backward(const krein_layer *l, const float *p, const float *v,
                                const krein_pass *b, int64_t row, int64_t n, float *scratch);
void krein__bilinear_r_gradient(const krein_layer *l, const krein_pass *b, int64_t part, float *g,
                                float *scratch);

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
