/* unlabelled.c -- the rows without labels of a training: those of the data with an empty
 * label, and those of a file of their own, encoded like the data. */
#include "pipe/training.h"

#include "stream/together.h"

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

static const char *whose(bool shared) {
    return shared ? "divided among the processes" : "in memory, the same on all processes";
}

krein_status krein__training_unlabelled(krein_training *t) {
    krein_status st = KREIN_OK;
    krein_data *data = t->pipe.job.data, *more = t->o.unlabeled;
    const krein_encoding *e = &t->pipe.job.model->encoding;
    krein_unlabelled *u = &t->pipe.job.unlabelled;
    krein_stream **next = u->rows;
    if (!t->learner->unlabelled) return KREIN_OK;
    if (data->count[KREIN_PART_UNLABELLED] > 0) {
        TRY(krein__stream_open(data, e, KREIN_PART_UNLABELLED, next));
        u->here += data->here[KREIN_PART_UNLABELLED];
        next++;
        u->streams++;
    }
    if (more) {
        const bool shared = krein__stream_shared(t->pipe.job.rows);
        TRY(krein__data_agree(more));
        more->share_rows = shared || more->options.own_rows;
        TRY(krein__data_match(more, e, false));
        TRY(krein__stream_open(more, e, KREIN_PART_TRAIN, next));
        u->streams++;
        if (krein__stream_shared(*next) != shared) {
            st = krein__fail(t->pipe.ctx, KREIN_EARG,
                             "%s: the rows without labels are %s, and those with labels are %s; "
                             "give both as files, or both as rows in memory with `own_rows`",
                             more->name, whose(!shared), whose(shared));
            goto done;
        }
        TRY(count_rows(*next, &u->here));
    }
    u->n = u->here;
    TRY(krein__stream_before(t->pipe.job.rows, &u->n, &u->before));
    int64_t with = t->pipe.job.n, all = with + u->n;
    if (u->streams > 0 || t->learner->fits_map)
        krein__log(t->pipe.ctx, KREIN_LOG_INFO, "%lld rows; %lld have labels (%.3g %%)",
                   (long long)all, (long long)with, 100 * (double)with / (double)all);
done:
    return st;
}

void krein__unlabelled_close(krein_unlabelled *u) {
    for (int64_t i = 0; i < KREIN__COUNT(u->rows); i++) krein__stream_close(u->rows[i]);
    *u = (krein_unlabelled){0};
}
