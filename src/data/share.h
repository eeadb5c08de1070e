/* share.h -- data that several processes read together: which rows are whose, and what they learned
 * of them put together, so that all hold what one process would have found.
 *
 * Everything here is collective where data->share_rows is set (and a plain return elsewhere): all
 * processes call it in the same order. */
#ifndef KREIN_SHARE_H
#define KREIN_SHARE_H

#include "data/data.h"
#include "data/labels.h"
#include "data/stats.h"

/* Divides the rows of the file, once: the columns have their roles. */
krein_status krein__share_find(krein_data *data);
/* A pass over the rows of this process begins: after both readers did. */
krein_status krein__share_begin(krein_data *data);
/* The file ends before the share does. */
krein_status krein__share_changed(const krein_data *data, krein_ctx *ctx);
/* From here[] to before[] and count[]. */
krein_status krein__share_counts(krein_data *data);

/* New codes of the words of text columns: old code -> new one. NULL: there are none. */
typedef struct krein_recode {
    int64_t ncat, **cat; /* of the features */
    int64_t *label, *group;
} krein_recode;
/* Makes the dictionaries of all processes one, in the order of the file, and gives the rows that
 * are kept in memory the new codes. What else has codes is the caller's. */
krein_status krein__share_words(krein_data *data, krein_recode *out);
void krein__recode_clear(krein_ctx *ctx, krein_recode *r);

krein_status krein__share_labels(krein_ctx *ctx, krein_label_set *set);
/* After krein__stats_end; codes are the new ones. */
krein_status krein__share_stats(krein_ctx *ctx, krein_stats *s);

#endif
