/* encoding.h -- everything done to the data at training, kept so that prediction can take raw
 * files: which columns, which categories, which classes, which scaling.
 *
 * A dense row of the file becomes d numbers: numeric columns stay, a text column becomes one
 * indicator per category, in column order. A column with missing cells in training has one more
 * where they are to be seen (missing=auto): 1 where the cell is missing. Then, column by column,
 *
 *     x_j = (raw_j - shift_j - centre_j) * factor_j
 *
 * where shift (the column's first value) is taken off in double before the value becomes
 * float32, so that a large common offset costs no digits. Where the column has an offset c > 0 in
 * log, log(max(raw_j, 0) + c) takes the place of raw_j - shift_j (log.h). Sparse rows are only
 * multiplied.
 * Columns of an image have one centre and one factor a channel, and no shift.
 * scale=unit divides the row by its length instead. Then, where they are set,
 *
 *     x_j := min(max(x_j, -clip), clip)    dense rows, not with scale=unit
 *     x_j := x_j * metric_j                all rows
 *     x   := matrix x                      dense rows of at most KREIN_MATRIX_MAX columns
 */
#ifndef KREIN_ENCODING_H
#define KREIN_ENCODING_H

#include "encode/stats.h"
#include "encode/target.h"
#include "num/matrix.h"

/* How a text column is encoded. */
typedef enum krein_texts {
    KREIN_TEXTS_ONEHOT = 0, /* one indicator for each category */
    KREIN_TEXTS_TARGET = 1, /* means of the target (target.h) */
    KREIN_TEXTS_HASH = 2    /* 1 or -1 in one of KREIN_HASHED / 2 columns, by a hash of the text */
} krein_texts;

/* Why a column of the inputs gives no encoded column. */
typedef enum krein_left_out {
    KREIN_LEFT_NOT = 0,
    KREIN_LEFT_EMPTY = 1,    /* no cell of the training rows has a value */
    KREIN_LEFT_DISTINCT = 2, /* nearly all of its texts are distinct */
    KREIN_LEFT_MANY = 3      /* more texts than a dictionary holds, and no labels to use */
} krein_left_out;

typedef struct krein_input {
    char *name; /* NULL without a header */
    krein_role role;
    bool text;
    krein_reading reading; /* how cells become numbers, of a column that is not text */
    double shift;          /* of the last of them */
    krein_dict dict;       /* categories of a text feature */
    krein_texts texts;
    krein_target_means target; /* KREIN_TEXTS_TARGET */
    int64_t at;                /* first encoded column, -1 if it has none */
    krein_left_out left_out;   /* its role is then KREIN_ROLE_IGNORE */
    bool indicator; /* the last of its encoded columns says whether the cell is missing */
} krein_input;

typedef struct krein_encoding {
    int64_t ninput; /* columns of the training file; LIBSVM: 0 */
    krein_input *input;
    bool header, sparse;
    int64_t d;        /* encoded columns */
    int64_t image[3]; /* a row is an image: height, width, channels, d = h w c; zeros: it is not */
    krein_scale scale;
    float *log;             /* d, or NULL: offsets of logarithms, 0: none is taken */
    float *centre, *factor; /* d each */
    double low, high;       /* of the training rows, before clip and metric; not saved */
    /* krein__encoding_ranges each, or NULL: not known. Least and greatest value of the inputs in
     * the training rows that have weight, as the file has them; 0 and 0 where it has texts. */
    double *range_low, *range_high;
    float *fill;   /* d: value of a missing cell (after shift, before log and scaling) */
    float clip;    /* 0 or infinite: none */
    float *metric; /* d, or NULL: ones */
    float *matrix; /* d x d, or NULL: the identity */
    krein_missing missing;
    bool unknown_ignore;
    krein_task task;
    int64_t outputs;     /* targets of a regression, else 1 */
    bool label_text;     /* class names came as text */
    bool label_blanks;   /* of several labels a row: blanks are between them, not | */
    int64_t nclass;      /* classes, or labels of which a row has several */
    char **class_name;   /* ascending: by number, or by bytes */
    double *class_value; /* of numeric labels */
} krein_encoding;

enum { KREIN_CATEGORIES_MAX = 1000, KREIN_CLASSES_MAX = 10000, KREIN_MATRIX_MAX = 2000 };

/* Inputs and encoded columns from the columns of a file that has been read once: roles, names,
 * dictionaries and statistics are known, where there are labels to be used (`labels`) also the
 * task. The dictionaries of text features are frozen. Columns that become KREIN_TEXTS_HASH are
 * hashed from then on; the codes that are there already are the caller's to change
 * (krein_input.dict has their words). */
krein_status krein__encode_inputs(krein_ctx *ctx, krein_reader *r, const krein_stats *stats,
                                  krein_categories how, bool labels, krein_encoding *e);
/* Some input has means of the target, which training rows see without their own fold. */
bool krein__encoding_folds(const krein_encoding *e);
/* Encoded columns of an input without its indicator. */
int64_t krein__input_values(const krein_input *in);
/* Where the encoded columns of the inputs are; their number. */
int64_t krein__place_inputs(krein_encoding *e);
/* Centres, factors, values of missing cells and bounds, once the inputs and e->scale are set. Some
 * row has a weight. */
krein_status krein__encode_scaling(const krein_reader *r, const krein_stats *stats,
                                   krein_encoding *e);
/* Sets the factors of the metric (d; NULL: none), whatever they were before. Streams that are open
 * with this encoding give rows under it from their next block on. KREIN_ENUMERIC where one is
 * not finite in float32. */
krein_status krein__encoding_set_metric(krein_ctx *ctx, krein_encoding *e, const double *a);
/* The same for the matrix (d x d), which is KREIN_ESPEC for sparse rows and for too many columns.
 */
krein_status krein__encoding_set_matrix(krein_ctx *ctx, krein_encoding *e, const double *A);
krein_metric_kind krein__encoding_metric(const krein_encoding *e);
/* There is a clip, and it holds for these rows. */
bool krein__encoding_clips(const krein_encoding *e);
/* Rows that are images of bytes need no more than centres and factors. */
bool krein__encoding_bytes(const krein_encoding *e);
/* Ranges of inputs: one for each column of the file, of sparse rows for each of the d. */
int64_t krein__encoding_ranges(const krein_encoding *e);
/* The range of column j of them; false: it has none. */
bool krein__encoding_range(const krein_encoding *e, int64_t j, double *low, double *high);
/* Whether a value of the file, which may have been rounded to float32, is outside of that. */
bool krein__encoding_outside(const krein_encoding *e, int64_t j, double value);
/* Bounds of the encoded inputs of the training rows. */
void krein__encoding_bounds(const krein_encoding *e, double *low, double *high);
void krein__encoding_clear(krein_ctx *ctx, krein_encoding *e);
/* Rows of a compute block: a constant for up to 4,096 columns, less above. It depends on d alone,
 * so that results do not depend on memory, threads or where the rows come from. */
int64_t krein__block_rows(int64_t d);
/* Label sets, by their codes (labels.h). */
typedef struct krein_sets krein_sets;
/* The labels of a set as -1 and +1 (nclass of them). */
void krein__set_codes(const krein_sets *s, int64_t set, int64_t nclass, double *y);
bool krein__set_has(const krein_sets *s, int64_t set, int64_t label);

/* Class of a label (a number, or a code in the text label's dictionary through `map`), or -1. */
int64_t krein__class_of(const krein_encoding *e, const int64_t *map, double label);
const char *krein__scale_name(krein_scale scale);

/* The j-th encoded column by name (names.c), cut short where there is no room. */
void krein__encoded_name(const krein_encoding *e, int64_t j, char *text, size_t size);

/* What was decided about the columns, one line each, for people (notes.c). */
krein_status krein__encoding_notes(krein_ctx *ctx, const krein_encoding *e, char ***note,
                                   int64_t *n);
void krein__notes_free(krein_ctx *ctx, char **note, int64_t n);
/* Says them in the log. */
krein_status krein__encoding_say(krein_ctx *ctx, const krein_encoding *e);

#endif
