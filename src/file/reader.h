/* reader.h -- from a file to raw rows: CSV, LIBSVM, NPY, plain or gzipped.
 *
 * A path that is no file but a pattern (* ? [) stands for all files that match it, in the order of
 * their names: their rows follow each other as if they were in one file (read_chain.c).
 *
 * A reader is opened on a path, looks at the beginning (format, delimiter, header,
 * which columns are text) and fills its columns. The caller then gives every column
 * a role (krein__reader_begin checks them) and asks for batches of rows in file
 * order until n == 0; krein__reader_rewind starts again. A batch has as many rows as
 * fit the buffers: nothing may depend on where batches end.
 *
 * Cells
 *   numeric features  float32(value - shift) in num, row-major, in column order
 *                     a column with a `reading` may become several numbers
 *                     in `byte` instead where all of them are bytes that nothing is taken from
 *   text features     codes in cat; the dictionary of the column grows in order of
 *                     first appearance in the file, up to KREIN_WORDS_MAX, or is frozen: a
 *                     word that is not in it gets code -2; of a frozen one that is an error
 *                     if `known_only`, unless the column is `open`
 *                     a column that is `hashed` has no dictionary, its codes are hashes
 *   missing cells     (empty, "?", NaN spelled any way) NaN, or code -1, if `missing_ok`;
 *                     else an error
 *   label(s)          numbers in label (n x nlabel), or codes as numbers when the label
 *                     column is text (its dictionary is never frozen; see label_dict);
 *                     NaN when missing and `label_optional`; an empty cell of a column of `sets` is
 *                     a word, and not missing
 *   weight            a finite number >= 0, else an error
 *   group             code in an always-growing dictionary (numbers are taken as their text)
 *   id                the cell's text, NUL-terminated
 * Infinite values and numbers that overflow double (1e400) are errors wherever a number
 * is read. Every error names the path as given, the 1-based line (NPY: row), the
 * column by number and name, what is wrong and a way out:
 *   "train.csv:1042: column 3 (age) is empty; drop the row with --missing drop, ..."
 */
#ifndef KREIN_READER_H
#define KREIN_READER_H

#include "base/base.h"
#include "file/dict.h"
#include "file/reading.h"

typedef enum krein_format {
    KREIN_FORMAT_CSV = 0,
    KREIN_FORMAT_LIBSVM = 1,
    KREIN_FORMAT_NPY = 2,
    KREIN_FORMAT_MEMORY = 3
} krein_format;

typedef enum krein_role {
    KREIN_ROLE_FEATURE = 0,
    KREIN_ROLE_LABEL = 1,
    KREIN_ROLE_WEIGHT = 2,
    KREIN_ROLE_GROUP = 3,
    KREIN_ROLE_ID = 4,
    KREIN_ROLE_IGNORE = 5
} krein_role;

typedef struct krein_column {
    char *name; /* from the header, else NULL */
    bool text;  /* one of the first 1,000 cells is not a number */
    krein_role role;
    double shift; /* subtracted from numeric feature cells (dense formats) */
    double first; /* the first cell that is a number, 0 if none was looked at: a good shift */
    krein_dict dict;
    krein_reading guess;   /* of a text column: what its texts look like */
    krein_reading reading; /* of a column that is not text: how its cells become numbers */
    bool frozen;
    bool open;        /* words that the dictionary lacks are none to speak of */
    bool hashed;      /* codes are krein__word_hash */
    bool sets;        /* a label that is text: sets of names (sets.h), of which "" is one */
    krein_role given; /* rows in memory: what the caller said it is, and whether it is text */
    bool given_text;
} krein_column;

typedef struct krein_reader_options {
    const char *format; /* NULL: by content */
    char delimiter;     /* 0: detected */
    int header;         /* -1 detected, 0, 1 */
    size_t buffer;      /* bytes of text read at a time; 0: a good size */
    int64_t look;       /* rows to be looked at; 0: 1,000 */
    bool plain;         /* no guesses what texts may mean */
} krein_reader_options;

/* Where a row begins. row counts from the start of the data, byte from that of the (uncompressed)
 * file; line is for messages. */
typedef struct krein_mark {
    int64_t row, byte, line, file;
} krein_mark;

enum { KREIN_WORDS_MAX = 1 << 18 }; /* of a text feature */

enum { KREIN_RAW_ARRAYS = 11 };

typedef struct krein_raw {
    int64_t n;
    int64_t nnum, ncat, nlabel;
    float *num;     /* n x nnum; NULL for sparse, and where there are bytes */
    uint8_t *byte;  /* n x nnum: the same numbers; NULL: they are in num */
    int32_t *cat;   /* n x ncat */
    double *label;  /* n x nlabel */
    double *weight; /* n, or NULL when no column has the role */
    int32_t *group; /* n, or NULL */
    char **id;      /* n, or NULL; the texts live in id_text */
    char *id_text;
    int64_t *ptr; /* CSR: n + 1, from 0 */
    int32_t *col;
    float *val;
    bool any_missing;  /* some NaN or -1 among the features */
    krein_mark from;   /* the batch's first row; row numbers count from 0 */
    krein_mark labels; /* a row of the separate file of labels from which this one can be reached */
    int64_t room[KREIN_RAW_ARRAYS]; /* elements that the arrays have room for */
} krein_raw;

/* Frees what a batch owns. A batch may be kept by the caller (moved out by struct copy and
 * zeroed): the next call then makes a new one, otherwise it reuses the arrays. */
void krein__raw_clear(krein_ctx *ctx, krein_raw *raw);

/* Number j of row i, of rows with the stride ld. */
static inline float krein__raw_number(const krein_raw *raw, int64_t ld, int64_t i, int64_t j) {
    return raw->byte ? (float)raw->byte[i * ld + j] : raw->num[i * ld + j];
}

typedef struct krein_reader krein_reader;

struct krein_reader {
    krein_ctx *ctx;
    char *path; /* as given, for messages */
    krein_format format;
    bool header, sparse, gzip;
    char delimiter;
    /* CSV, NPY: all columns. LIBSVM: one column, the label; features are counted in d. */
    krein_column *column;
    int64_t ncolumn;
    int64_t d;         /* LIBSVM: largest index seen so far (grows), or max_index when set */
    int64_t max_index; /* LIBSVM: 0, or indices above it are dropped silently (predict) */
    int64_t n;         /* rows if known beforehand (NPY), else -1 */
    int64_t bytes;     /* size of the file, -1 unknown: for progress and memory estimates */
    int64_t bytes_done;
    int64_t image[3]; /* rows that the file says are images: height, width, channels; else 0 */
    bool in_bytes;    /* since begin: batches have `byte`, all of them */
    bool memory;      /* the caller's arrays, no file (stream/memory.c) */
    bool alone;       /* read on the thread that entered the library only */
    bool again;       /* reading costs little: rows need not be kept for the next pass */
    bool missing_ok, label_optional;
    bool known_only;                  /* a word that a frozen dictionary lacks is an error */
    double seconds;                   /* spent reading and parsing */
    struct krein_reader_state *state; /* private to the format */
    const struct krein_reader_class *cls;
};

typedef struct krein_reader_class {
    const char *name;
    krein_status (*open)(krein_reader *r, const krein_reader_options *options);
    krein_status (*begin)(krein_reader *r); /* roles are set; rewinds too */
    krein_status (*next)(krein_reader *r, krein_raw *raw);
    krein_status (*seek)(krein_reader *r, const krein_mark *to); /* after begin */
    void (*close)(krein_reader *r);
    void (*use)(krein_reader *r, krein_ctx *ctx); /* readers of its own; NULL: none */
} krein_reader_class;

krein_status krein__reader_open(krein_ctx *ctx, const char *path,
                                const krein_reader_options *options, krein_reader **out);
/* Call after roles, shifts, frozen and missing_ok are set; starts (again) at the first row. */
krein_status krein__reader_begin(krein_reader *r);
/* To a row whose mark a batch had (after begin). Gzipped files are unpacked up to there. */
krein_status krein__reader_seek(krein_reader *r, const krein_mark *to);
/* Errors and memory go to another context from now on: that of the thread that reads. */
void krein__reader_use(krein_reader *r, krein_ctx *ctx);
/* Bytes to read at a time unless the options say it: some megabytes for each thread, but a small
 * part of the memory budget, and not much more than the file has. */
size_t krein__reader_good_buffer(const krein_reader *r, const krein_reader_options *options);
/* Bytes read at a time, from the next begin on. */
void krein__reader_buffer(krein_reader *r, size_t bytes);
/* What reading a batch takes, roughly: its text or array, and the rows made of it. */
double krein__reader_bytes(const krein_reader *r);
/* raw must be zeroed before the first call. raw->n == 0: the end. */
krein_status krein__reader_next(krein_reader *r, krein_raw *raw);
void krein__reader_close(krein_reader *r);

/* The files behind a reader, one where the path is no pattern. */
int64_t krein__reader_files(const krein_reader *r);
const char *krein__reader_file(const krein_reader *r, int64_t k);

/* The number of column j for people: from 1, labels that the caller gave apart not counted. */
int64_t krein__reader_number(const krein_reader *r, int64_t j);
/* The column meant by a user's word (name, 1-based number, "first", "last"); a number that
 * is also a name means the name. KREIN_EARG names what there is, and the nearest name.
 * `option` is for the message ("--label"). */
krein_status krein__reader_find(krein_reader *r, const char *word, const char *option,
                                int64_t *out);

#endif
