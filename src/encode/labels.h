/* labels.h -- what the labels are: distinct values, task, classes. */
#ifndef KREIN_LABELS_H
#define KREIN_LABELS_H

#include "encode/encoding.h"

/* Collects the distinct values of a numeric label, up to KREIN_CLASSES_MAX. */
typedef struct krein_label_set {
    double *value;  /* ascending */
    int64_t *count; /* rows that have it */
    double last;    /* the one that was added last */
    int64_t n, capacity;
    bool many;  /* more than the limit: not a set of classes */
    bool whole; /* all whole numbers so far */
    bool steps; /* each was the one before and one more: row numbers look like that */
    int64_t rows;
} krein_label_set;

krein_status krein__label_set_add(krein_ctx *ctx, krein_label_set *set, double value);
/* The same value many times; it says nothing about steps. */
krein_status krein__label_set_count(krein_ctx *ctx, krein_label_set *set, double value,
                                    int64_t rows);
void krein__label_set_clear(krein_ctx *ctx, krein_label_set *set);
/* The column that holds the labels, for messages. */
typedef struct krein_label_column {
    const char *path, *name; /* name: NULL where it has none */
    int64_t number;          /* from 1; 0: it is no column of the data */
    bool guessed;            /* nobody named it */
    bool commas;             /* of several labels a row: commas are between them (LIBSVM) */
} krein_label_column;
/* Decides the task and fills e->task, classes and their names. words is the dictionary of a text
 * label, or NULL. */
krein_status krein__task_decide(krein_ctx *ctx, const krein_label_column *column, krein_task asked,
                                int64_t targets, const krein_label_set *set,
                                const krein_dict *words, krein_encoding *e);
/* KREIN_EDATA where the label can hardly be one: texts that are nearly all distinct, or the row
 * numbers of a first column that nobody named. */
krein_status krein__label_check(krein_ctx *ctx, const krein_label_column *column, krein_task asked,
                                const krein_label_set *set, const krein_dict *words);
/* code in `words` -> class (-1 where the class is unknown). Owned by the caller. */
krein_status krein__class_codes(krein_ctx *ctx, const krein_dict *words, const krein_encoding *e,
                                int64_t **out);

/* The label sets of rows with several labels: the texts of the label column, by their codes. */
struct krein_sets {
    int64_t n;      /* sets so far */
    int64_t *start; /* labels of set s: label[start[s]] .. label[start[s + 1] - 1]; n + 1 of them */
    int32_t *label; /* -1: a name that the encoding does not have */
    int64_t room, label_room;
    krein_dict name; /* of the labels */
};

/* What stands between the names in a cell; commas: of a LIBSVM file. */
char krein__sets_between(const krein_encoding *e, bool commas);
/* Adds the sets of the words behind those that are there. */
krein_status krein__sets_grow(krein_ctx *ctx, const krein_dict *words, const krein_encoding *e,
                              bool commas, krein_sets *s);
/* A name in the word that the encoding does not have, for a message; false: there is none. */
bool krein__sets_unknown(const krein_sets *s, const char *word, char between, char out[48]);
void krein__sets_clear(krein_ctx *ctx, krein_sets *s);

#endif
