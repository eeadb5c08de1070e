/* structured.h -- what maps with structured frequency matrices share.
 *
 * The frequencies of a term come in independent blocks of P = the power of two at or above d: a
 * block is a P x P matrix M with a fast product, of which the first d columns count (the row is
 * padded with zeros) and whose row f is multiplied by scale[f]. Rows of M are N(0, I), or like it;
 * so every kernel that is a mixture of Gaussians is served: scale = mixture(u_f). The kernels of a
 * product add independent frequencies, and the sum of Gaussians of scales a and b is one
 * of scale sqrt(a^2 + b^2): a product needs no second matrix. */
#ifndef KREIN_STRUCTURED_H
#define KREIN_STRUCTURED_H

#include "map/fourier.h"
#include "num/fft.h"

typedef struct krein_structured krein_structured;

/* One block: what the product needs. */
typedef struct krein_freq_block {
    float *state; /* the random parts of the matrix */
    float *scale; /* of each frequency, in turns: 1 / (2 pi) is in it */
    int64_t m;    /* frequencies that are wanted, m <= P */
    int64_t term;
} krein_freq_block;

/* The random factors of a block, in the order in which they meet the row. A Walsh-Hadamard
 * transform follows each but a permutation. Number b of them is at row b of the stream of its role.
 */
typedef enum krein_factor_kind {
    KREIN_FACTOR_NONE,
    KREIN_FACTOR_SIGNS,      /* krein__signs */
    KREIN_FACTOR_NORMALS,    /* at columns 0 .. P-1 */
    KREIN_FACTOR_PERMUTATION /* int32_t: entry i comes from Pi[i]; by krein__structured_swap */
} krein_factor_kind;

typedef struct krein_factor {
    krein_factor_kind kind;
    uint64_t role;
} krein_factor;

enum { KREIN_FACTORS = 4 };

/* How a map makes and multiplies its blocks. */
typedef struct krein_structure {
    /* Maps that are such factors and no more: P numbers of the state each, drawn before `draw`.
     * Else none: `draw` makes the state. */
    krein_factor factor[KREIN_FACTORS];
    /* The role of chi_P (row: the frequency) over the length of the normals, a part of the scale.
     * 0: there is none. */
    uint64_t lengths;
    int64_t state, scratch; /* floats of a block and of a thread, in units of P */
    int64_t width;          /* length of the padded row, in units of P */
    int64_t direct;         /* up to so many columns a product with W is faster (bench_maps) */
    bool fft;               /* wants an FFT of the length of the padded row */
    int64_t columns;        /* takes no more, 0: any number; what to try instead */
    const char *beyond;
    /* What all blocks share; NULL: nothing. */
    krein_status (*begin)(krein_map *map, krein_structured *s, const krein_term *terms);
    /* Fills the state of block number b of its term (streams: krein__role), completes scale. */
    void (*draw)(const krein_map *map, const krein_structured *s, const krein_term *term,
                 krein_rng g, int64_t b, krein_freq_block *block);
    /* Once a row: x (padded) becomes what the blocks multiply; NULL: as it is. */
    void (*prepare)(const krein_structured *s, float *x);
    /* The turns of m frequencies, somewhere in scratch. */
    float *(*multiply)(const krein_structured *s, const krein_freq_block *block, const float *x,
                       float *scratch);
} krein_structure;

struct krein_structured {
    krein_fourier fourier; /* first; its W is there where d is small and a matrix product faster */
    const krein_structure *how;
    int64_t d, P, per_term; /* blocks a term */
    float *state, *scale;
    float *shared; /* of begin */
    krein_fft *fft;
    bool gaussian[KREIN_TERMS_MAX];    /* the term has kernels with a mixture */
    bool independent[KREIN_TERMS_MAX]; /* and others, with independent coordinates */
};

void krein__signs(krein_rng g, int64_t row, int64_t n, float *out);
/* Fisher-Yates, i from P - 1 down to 1: entry i changes places with this one of 0 .. i. */
int64_t krein__structured_swap(krein_rng g, int64_t b, int64_t i);
/* out[i] = in[i] * scale[i], the last step of a product. */
void krein__scale_turns(int64_t m, const float *in, const float *scale, float *out);
/* The first m entries of H (diagonal . x), H +-1 of order P; out has room for P. */
void krein__hadamard_head(int64_t P, int64_t m, const float *x, const float *diagonal, float *out);

/* As the class has them, with its structure. */
krein_status krein__structured_fit(krein_map *map, krein_stream *rows, int64_t n);
void krein__structured_tile(const krein_map *map, const krein_rows *x, float *out, int64_t ld,
                            float *scratch);
void krein__structured_cost(const krein_map *map, int64_t n, krein_cost *out);
void krein__structured_clear(krein_map *map);
krein_status krein__structured_waves(krein_ctx *ctx, const krein_map *map, krein_waves *out);

/* The products by themselves, for tests. sorf: signs is D3, D2, D1 (3 P). */
float *krein__sorf_turns(int64_t P, const float *signs, const float *scale, int64_t m,
                         const float *x, float *scratch);
float *krein__fastfood_turns(int64_t P, const float *B, const int32_t *Pi, const float *G,
                             const float *scale, int64_t m, const float *x, float *scratch);
/* The spectrum of h with (h * x)[i] = sum_j w[(j - i) mod P] x[j]; spectrum may be w. */
void krein__circulant_spectrum(const krein_fft *fft, int64_t P, const float *w, float *spectrum);

#endif
