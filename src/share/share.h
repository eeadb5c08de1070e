/* share.h -- data that several processes read together: which rows are whose, and what they found
 * in them put together, so that all hold what one process would have found.
 *
 * Everything here but krein__share_own and krein__share_begin is collective: all processes call it
 * in the same order. */
#ifndef KREIN_SHARE_H
#define KREIN_SHARE_H

#include "encode/labels.h"
#include "encode/stats.h"

/* The rows of a file that this process reads, where several share it; off: all. */
typedef struct krein_share {
    bool on;
    bool own; /* they are all that the reader has: each process has rows of its own */
    int64_t first, rows, total; /* rows first .. first + rows - 1 of all */
    krein_mark from, labels;    /* where the first of them stands, in both files */
    int64_t left;               /* of them, in the pass that is being made */
} krein_share;

/* Divides the rows of the file: the columns have their roles. labels: the separate file of them, or
 * NULL. Leaves *s off where there is one process. */
krein_status krein__share_find(krein_reader *rows, krein_reader *labels, krein_share *s);
/* Each process has rows of its own, as many as there are when they have been read. */
void krein__share_own(krein_ctx *ctx, krein_share *s);
krein_status krein__share_number(krein_ctx *ctx, int64_t rows, krein_share *s);
/* The reader may have rows behind those of this process. */
static inline bool krein__share_cut(const krein_share *s) { return s->on && !s->own; }
/* A pass over the rows of this process begins: after both readers did. */
krein_status krein__share_begin(krein_share *s, krein_reader *rows, krein_reader *labels);
/* n numbers of rows here: count becomes those of all processes, before those of the processes
 * before this one, root the first process that has some (the last where none has). */
krein_status krein__share_counts(krein_ctx *ctx, int64_t n, const int64_t *here, int64_t *count,
                                 int64_t *before, int *root);

/* New codes of the words of text columns: old code -> new one. NULL: there are none. */
typedef struct krein_recode {
    int64_t ncat, **cat; /* of the features */
    int64_t *label, *group;
} krein_recode;
/* Makes the dictionaries of all processes one, in the order of the file. label: the column with the
 * text labels, in either file, or NULL. What has the old codes is the caller's to recode. */
krein_status krein__share_words(krein_reader *rows, krein_column *label, krein_recode *out);
void krein__recode_clear(krein_ctx *ctx, krein_recode *r);

krein_status krein__share_labels(krein_ctx *ctx, krein_label_set *set);
/* After krein__stats_end; codes are the new ones. */
krein_status krein__share_stats(krein_ctx *ctx, krein_stats *s);

#endif
