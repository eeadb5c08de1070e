/* source.h -- the text of a C file on its way. */
#ifndef KREIN_SOURCE_H
#define KREIN_SOURCE_H

#include "base/buffer.h"
#include "model/model.h"
#include "num/codes.h"

typedef struct krein_source {
    krein_buffer out;
    const char *name; /* of the functions: NAME_predict */
    bool libm;        /* math.h may be used */
    bool wide;        /* sums and kernel values are double */
    bool stored;      /* frequencies are constants also where they could be drawn again */
    bool drawn;       /* out: they are drawn */
    bool beyond;      /* out: a number was too large for a float */
    /* What is added up on the way, for the comment at the top. */
    double bytes, flops, stack, once; /* constants; of a row; of a call; static memory */
} krein_source;

void krein__source_end(krein_source *s);
/* Adds text by a format. */
void krein__source_add(krein_source *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* static const float NAME[n] = {...}; and the same for double, int and codes of a byte. */
void krein__source_floats(krein_source *s, const char *name, int64_t n, const float *v);
void krein__source_doubles(krein_source *s, const char *name, int64_t n, const double *v);
/* Doubles as the program's own type: float, or double where sums are. */
void krein__source_reals(krein_source *s, const char *name, int64_t n, const double *v);
void krein__source_ints(krein_source *s, const char *name, int64_t n, const int64_t *v);
void krein__source_bytes(krein_source *s, const char *name, int64_t n, const uint8_t *v);
void krein__source_uint32(krein_source *s, const char *name, int64_t n, const uint32_t *v);
/* Whole numbers of a type that has so many bytes. */
void krein__source_words(krein_source *s, const char *type, size_t bytes, const char *name,
                         int64_t n, const int64_t *v);
/* A text as a literal of C. */
void krein__source_text(krein_source *s, const char *text);

/* Functions of numbers that occur in the body (functions.c). */
void krein__source_functions(krein_source *s, const char *body);
/* static void encode(const float *x, float *z): raw columns to encoded ones (columns.c). */
krein_status krein__source_columns(krein_source *s, const krein_encoding *e);
/* static void turns(int i, const float *z, real *t): frequencies times the row (turns.c). They come
 * in blocks of WIDTH, PER_TERM for each term of the kernel. */
typedef struct krein_turns {
    int64_t width, per_term, terms;
    bool phases; /* can be drawn too */
} krein_turns;
krein_status krein__source_turns(krein_source *s, const krein_map *map, const krein_waves *waves,
                                 krein_turns *out);
/* static void score(const float *z, real *f): by waves, by kernel values at rows, or linear. */
krein_status krein__source_waves(krein_source *s, const krein_model *m);
krein_status krein__source_values(krein_source *s, const krein_model *m);
krein_status krein__source_linear(krein_source *s, const krein_model *m);
/* The same for stacked layers (layers.c). */
krein_status krein__source_layers(krein_source *s, const krein_model *m);
/* How codes lie in a row of the program, int16_t s[room] with zeros where there are none: one
 * behind the other (block 0), or features 2i and 2i + 1, cosine and sine, as so many cosines and
 * then their sines. */
typedef struct krein_row_order {
    int64_t n, block;
} krein_row_order;
int64_t krein__row_room(const krein_row_order *r);
int64_t krein__row_place(const krein_row_order *r, int64_t j);
/* Outputs that are computed together: BLOCK of the program, for n matrices. */
int64_t krein__source_block(int64_t n, const int64_t *outputs);
/* static uint32_t NAME_dot(int i, const int16_t *s): product of the row with output i. */
krein_status krein__source_dot(krein_source *s, const char *name, const krein_codes *w,
                               const krein_row_order *order);
/* static void NAME_dots(int i, const int16_t *s, uint32_t *q): with outputs i, ..., i + BLOCK - 1;
 * anything where there are none. The row has codes of at most 8 bits. */
krein_status krein__source_dots(krein_source *s, const char *name, const krein_codes *w,
                                const krein_row_order *order, int64_t block);
/* uint32_t NAME[]: the codes in bit planes of words; and the expression of the product of output i
 * with a row s of so many bits, in planes. */
int64_t krein__plane_words(int64_t n);
krein_status krein__source_planes(krein_source *s, const char *name, const krein_codes *w);
void krein__source_planes_dot(krein_source *s, const char *name, const krein_codes *w, int rows);
/* static void wave_codes(const uint16_t *u, int16_t *to): a block of turns to codes of cosines and
 * of sines; single: static uint32_t cosine_code(uint32_t u) (cosines.c). */
krein_status krein__source_wave_codes(krein_source *s, int bits, const krein_wave_codes *table,
                                      bool single);
/* static void row_codes(const float *z, int16_t *s): encoded columns, multiplied by unit (NULL: as
 * they are), to codes of 8 bits. */
void krein__source_row_codes(krein_source *s, const krein_quant *q, const krein_row_order *order,
                             const float *unit);
/* static void weigh(const int16_t *s, real *f): scores of features in codes, by weights in codes;
 * order NULL: s are bit planes in words. */
krein_status krein__source_packed(krein_source *s, const krein_model *m,
                                  const krein_row_order *order);
/* The same by weights in float. */
krein_status krein__source_weights(krein_source *s, const krein_model *m,
                                   const krein_row_order *order);
/* static void score, for kernel values in codes. */
krein_status krein__source_coded(krein_source *s, const krein_model *m);
/* static const real intercept[SCORES]. */
void krein__source_intercept(krein_source *s, const krein_model *m);
/* Scores (n x k) of n encoded rows, dense whatever the model takes. */
krein_status krein__source_try(krein_ctx *ctx, const krein_model *m, int64_t n, const float *x,
                               double *out);
/* The expression of k(a, b) can be written. */
bool krein__source_has_kernel(const krein_kernel *k);

#endif
