/* labels.h -- what the labels are: distinct values, task, classes. */
#ifndef KREIN_LABELS_H
#define KREIN_LABELS_H

#include "encode/encoding.h"

/* Collects the distinct values of a numeric label, up to KREIN_CLASSES_MAX. */
typedef struct krein_label_set {
    double *value; /* ascending */
    int64_t n, capacity;
    bool many;  /* more than the limit: not a set of classes */
    bool whole; /* all whole numbers so far */
} krein_label_set;

krein_status krein__label_set_add(krein_ctx *ctx, krein_label_set *set, double value);
void krein__label_set_clear(krein_ctx *ctx, krein_label_set *set);
/* Decides the task and fills e->task, classes and their names. words is the dictionary of a text
 * label, or NULL. */
krein_status krein__task_decide(krein_ctx *ctx, const char *path, krein_task asked, int64_t targets,
                                const krein_label_set *set, const krein_dict *words,
                                krein_encoding *e);
/* code in `words` -> class (-1 where the class is unknown). Owned by the caller. */
krein_status krein__class_codes(krein_ctx *ctx, const krein_dict *words, const krein_encoding *e,
                                int64_t **out);

#endif
