/* train_unlabelled.c -- the rows without labels of a training: those of the data with an empty
 * label, and those of a file of their own, encoded like the data. */
#include "train.h"

#include "dist/dist.h"

/* One pass: a file does not say how many rows it has. */
static krein_status count_rows(krein_stream *rows, int64_t *n) {
    krein_status st = KREIN_OK;
    krein_block block;
    do {
        TRY(krein__stream_next(rows, &block));
        *n += block.x.n;
    } while (block.x.n > 0);
done:
    return st;
}

krein_status krein__setup_unlabelled(const krein_setup *s, krein_data *data,
                                     const krein_encoding *e, krein_unlabelled *u) {
    krein_status st = KREIN_OK;
    krein_stream **next = u->rows;
    if (!s->learner->unlabelled) return KREIN_OK;
    if (data->count[KREIN_PART_UNLABELLED] > 0) {
        TRY(krein__stream_open(data, e, KREIN_PART_UNLABELLED, next));
        u->here += data->here[KREIN_PART_UNLABELLED];
        next++;
        u->streams++;
    }
    if (s->o.unlabeled) {
        s->o.unlabeled->share_rows = true;
        TRY(krein__data_match(s->o.unlabeled, e, false));
        TRY(krein__stream_open(s->o.unlabeled, e, KREIN_PART_TRAIN, next));
        u->streams++;
        TRY(count_rows(*next, &u->here));
    }
    u->n = u->here;
    TRY(krein__comm_before(s->ctx, 1, &u->n, &u->before));
    krein__log(s->ctx, KREIN_LOG_INFO, "%lld rows without labels", (long long)u->n);
done:
    return st;
}

void krein__unlabelled_close(krein_unlabelled *u) {
    for (int64_t i = 0; i < KREIN__COUNT(u->rows); i++) krein__stream_close(u->rows[i]);
    *u = (krein_unlabelled){0};
}
