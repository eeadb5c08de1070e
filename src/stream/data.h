/* data.h -- a data set: a file or the caller's rows, scanned or matched to an
 * encoding, then streamed as encoded compute blocks. */
#ifndef KREIN_DATA_H
#define KREIN_DATA_H

#include "base/rng.h"
#include "share/share.h"

/* Raw rows kept in memory; num has row stride ld. */
typedef struct krein_segment {
    krein_raw raw;
    int64_t ld;
} krein_segment;

enum {
    KREIN_PART_TRAIN = 0,
    KREIN_PART_HELD = 1,
    KREIN_PART_DROPPED = 2,
    KREIN_PART_UNLABELLED = 3,
    KREIN_PART_CALIBRATE =
        4, /* labelled, and kept from the training for what its model is sure of */
    KREIN_PARTS = 5
};

struct krein_data {
    krein_ctx *ctx;
    char *name; /* path or "(memory)" */
    krein_data_options options;
    char *owned[9];       /* copies of the option strings */
    krein_reader *reader; /* of a file, or of the caller's rows (memory.h) */
    krein_reader *labels; /* --labels FILE.npy */
    krein_segment *segment;
    int64_t nsegment, capacity;
    bool in_memory;  /* all rows are in segments */
    bool share_rows; /* the next scan or match: the processes read a part of the rows each */
    krein_share share;
    int64_t image[3]; /* the inputs are images: height, width, channels; zeros: they are not */
    int64_t nrows;    /* rows of the file, once known, else -1 */
    bool has_label, has_weight;
    int64_t nlabel;
    int64_t label_column; /* in the reader, -1 none */
    bool label_guessed;   /* it is the first column, because nothing named another */
    bool once;            /* one pass is all there will be: rows are not kept */
    bool one_class;       /* labels of one class will do */
    bool nested;          /* rows held out for a fraction are so for every larger one */
    bool unlabelled;      /* rows without a label are a part of their own, not an error */
    int calibrate; /* bits 1 << task: for labels of these the next scan keeps training rows apart
                      (KREIN_PART_CALIBRATE) */
    bool by_name;  /* columns were matched to an encoding by their names */
    int64_t *label_map;          /* text label code -> class */
    bool label_open;             /* scanned, and the text label's words are not all known yet */
    krein_sets *sets;            /* text label code -> labels, of several labels a row; or NULL */
    uint8_t *part;               /* of the rows read here, or NULL: all are training rows */
    int64_t count[KREIN_PARTS];  /* rows of each part, those of all processes */
    int64_t here[KREIN_PARTS];   /* of these, the rows that this process reads */
    int64_t before[KREIN_PARTS]; /* and those of the processes before it */
    int root[KREIN_PARTS];       /* the first process that has some */
    bool scanned;                /* nrows and count are known: a file must not change after that */
    double label_mean[64];
    double label_most;     /* the largest size of a label */
    double seconds_read;   /* reading and parsing */
    double seconds_waited; /* of these, the time in which nothing else was done */
    int64_t passes;
    krein_raw label_batch; /* rows of the label file not used yet, from label_at */
    int64_t label_at;
    int64_t label_skip;        /* rows to be left out there, after a seek */
    struct krein_ahead *ahead; /* the thread that reads now, or NULL */
    double batch_bytes;        /* of the largest batch read so far, and of its text or array */
    double ahead_room;         /* bytes that may be used to read ahead; < 0: by the budget */
};

/* Targets of several labels a row: -1 and +1 for each label, from a label of a block. */
static inline void krein__data_labels(const krein_data *data, const krein_encoding *e, double label,
                                      double *y) {
    krein__set_codes(data->sets, (int64_t)label, e->nclass, y);
}

/* Inside the room: roles of the columns, one batch, memory of batches. */
/* What the options and the file say of images; that the inputs are as many numbers (image.c). */
krein_status krein__data_image(krein_data *data);
krein_status krein__data_image_check(const krein_data *data);
/* The columns that are inputs so far are an image, and nothing else. */
bool krein__data_image_alone(const krein_data *data);
/* Images of these data are for an encoding of others. */
krein_status krein__data_image_match(const krein_data *data, const krein_encoding *e);
/* Rows that a pass over the raw rows gives, once known. */
int64_t krein__data_rows_here(const krein_data *data);
/* The number among the rows of all processes of a row of a raw batch, from 0; after the scan. */
int64_t krein__data_row(const krein_data *data, int64_t row);
/* The rows in memory become others, of the same options. */
krein_status krein__data_reopen(krein_data *data, const krein_rows_view *view);
krein_status krein__data_side_roles(krein_data *data);
krein_status krein__data_label_role(krein_data *data);
/* The label column becomes one of sets of names, or is not (any more). */
krein_status krein__data_label_sets(krein_data *data, bool sets);
/* The text label's words, all that there are so far, as classes or label sets of the encoding. */
krein_status krein__data_label_words(krein_data *data, const krein_encoding *e);
/* Divides the rows of the file among the processes, where they are to share them; rows of their own
 * are divided already. */
krein_status krein__data_share(krein_data *data);
krein_status krein__data_begin(krein_data *data);
krein_status krein__data_read(krein_data *data, krein_raw *raw);
/* The same without progress and times, from any thread: messages go to ctx. */
krein_status krein__data_fetch(krein_data *data, krein_ctx *ctx, krein_raw *raw);
/* Ends reading ahead, if there is any: the reader can be used again. */
void krein__data_quiet(krein_data *data);
krein_status krein__data_keep(krein_data *data, krein_raw *raw); /* takes the batch over */
void krein__data_forget(krein_data *data);                       /* the kept rows */
void krein__data_reset(krein_data *data); /* all that was found or matched before */

/* A pass over the raw rows, from memory or from the file, whose next batches are then read beside
 * what is done with the last one (pass.c). Zeroed before its first begin. */
typedef struct krein_ahead krein_ahead;
typedef struct krein_raw_pass {
    krein_data *data;
    int64_t segment, batches;
    krein_raw buffer;
    double batch_bytes; /* of the last batch, and the rows up to its end */
    int64_t rows;
    int64_t skip; /* rows still to be left out, after a seek */
    bool ended;
    bool alone; /* it must not be read ahead */
    krein_ahead *ahead;
} krein_raw_pass;
krein_status krein__raw_begin(krein_raw_pass *p, krein_data *data);
/* Right after begin: the first rows are not wanted. from and labels are marks of earlier batches,
 * at or before that row. */
krein_status krein__raw_seek(krein_raw_pass *p, int64_t row, const krein_mark *from,
                             const krein_mark *labels);
/* *raw is NULL at the end. It is good until the next call; the caller may take its arrays over. */
krein_status krein__raw_next(krein_raw_pass *p, krein_raw **raw, int64_t *ld);
/* How many rows at the front of the batch are not wanted; asked once a batch. */
int64_t krein__raw_skip(krein_raw_pass *p, const krein_raw *raw);
void krein__raw_end(krein_raw_pass *p);
/* The part of row i as far as the row itself says: dropped (if `drop`) where an input or the label
 * is missing, unlabelled, else a training row. */
int krein__raw_part(const krein_data *data, const krein_raw *raw, int64_t ld, int64_t i, bool drop);

/* What labels are for. Where they are wanted and there are none it is an error. */
typedef enum krein_label_use {
    KREIN_LABELS_IGNORED = false,
    KREIN_LABELS_WANTED = true, /* the task matters, and is said where it was guessed */
    KREIN_LABELS_CARRIED = 2    /* written again as they stand: numbers, or numbers of classes */
} krein_label_use;

/* Reads the data once: finds task, classes, categories, the part of every row (holdout by class)
 * and the column statistics of the training rows. Fills *e (which the caller clears). */
krein_status krein__data_scan(krein_data *data, krein_label_use labels, double holdout,
                              uint64_t seed, krein_encoding *e);
/* How many of n training rows are kept apart for calibration; 0: they are too few for that. */
int64_t krein__calibration_rows(int64_t n);
/* What the scan found beside the encoding: enough to read the rows of a file again without a scan
 * (no rows may be held out). */
typedef struct krein_scanned {
    int64_t nrows, count[3];
    double label_mean[64], label_most;
} krein_scanned;
void krein__data_scanned(const krein_data *data, krein_scanned *out);
krein_status krein__data_recall(krein_data *data, const krein_scanned *l, const krein_encoding *e);
/* Prepares the data to be read with an encoding learned elsewhere: matches columns by name or
 * width. need_label: without labels it is an error; else a label column is ignored. */
krein_status krein__data_match(krein_data *data, const krein_encoding *e, bool need_label);

/* Where each process has rows of its own: all have the same columns, or the call fails; a process
 * without rows takes over those of the others. Collective, at the beginning of a call that the
 * processes make together (own_rows.c). */
krein_status krein__data_agree(krein_data *data);

/* A label column is not ruled out; whether there is one, the scan shows. */
bool krein__data_may_have_labels(const krein_data *data);

/* What happens to missing cells and unknown categories: as at training, unless the data's own
 * options say something else. */
krein_missing krein__data_missing(const krein_data *data, const krein_encoding *e);
bool krein__data_unknown(const krein_data *data, const krein_encoding *e);

/* Encoded rows, in file order. */
typedef struct krein_block {
    krein_rows x;
    const uint8_t *byte;  /* n x d, where krein__stream_in_bytes: x is (byte - centre) factor */
    const double *label;  /* n x nlabel: targets, or class codes; NULL without labels */
    const double *weight; /* n, or NULL */
    const int32_t *group; /* n, or NULL */
    int64_t first;        /* number of the first row among the streamed ones of all processes */
    const bool *dropped;  /* n, or NULL: rows with missing cells under --missing drop, kept so
                             that predictions stay in step with the file */
    char *const *id;      /* n, or NULL */
} krein_block;

typedef struct krein_stream krein_stream;

/* part: rows of that part only; -1: every row, dropped ones flagged. Where the processes share the
 * rows, a stream gives those of its own process, with the numbers that they have among all. */
krein_status krein__stream_open(krein_data *data, const krein_encoding *e, int part,
                                krein_stream **out);
/* Bytes that an open stream holds, about. */
double krein__stream_bytes(const krein_data *data, const krein_encoding *e);
/* Next compute block, always full (krein__block_rows) but for the last; x.n == 0: the end. */
krein_status krein__stream_next(krein_stream *s, krein_block *out);
krein_status krein__stream_rewind(krein_stream *s);
/* Where the next row stands, for another stream of the same part of the same rows; from memory or
 * from the file, with batches of any size. */
typedef struct krein_place {
    int64_t row, streamed;   /* rows of the data before it; of these, streamed */
    krein_mark from, labels; /* rows in the file(s) from which it can be reached */
} krein_place;
void krein__stream_tell(const krein_stream *s, krein_place *out);
krein_status krein__stream_seek(krein_stream *s, const krein_place *to);
void krein__stream_close(krein_stream *s);
krein_data *krein__stream_data(const krein_stream *s);
/* The rows are bytes, and x_j = (byte_j - centre_j) factor_j with the numbers of the encoding:
 * images that need no more than scaling. Blocks have the bytes, too. */
bool krein__stream_in_bytes(const krein_stream *s);
/* The processes have a part of the rows each: what is added up over a stream is put together with
 * the others' (stream/together.h). Not with NULL: a plan has no stream. */
bool krein__stream_shared(const krein_stream *s);
/* The first rank that has rows in the stream (0 where it is not shared), known after the scan. */
int krein__stream_root(const krein_stream *s);
const krein_encoding *krein__stream_encoding(const krein_stream *s);
int64_t krein__stream_labels(const krein_stream *s); /* columns of krein_block.label, 0: none */
/* Of the streamed rows, of which all processes have `total`, this one has first .. end - 1. */
void krein__stream_range(const krein_stream *s, int64_t *first, int64_t *end, int64_t *total);
/* Fails: there are other rows than at the first pass. */
krein_status krein__stream_changed(const krein_stream *s);
/* The rows with the given ascending numbers among the streamed ones, and their labels
 * (n x nlabel), weights and groups (any may be NULL). One pass. Where the processes share the rows,
 * all of them ask for the same ones, and get them. */
krein_status krein__stream_gather(krein_stream *s, const int64_t *index, int64_t n, krein_matrix *x,
                                  double *label, double *weight, int32_t *group);
/* Rows named in a file: rows with the columns of the streamed data (encoded like them), or, where
 * that has several columns, one column of row numbers of the data, from 1. At most `most` (called D
 * in the message). */
krein_status krein__rows_given(krein_stream *s, const char *path, int64_t most, krein_matrix *out);

#endif
