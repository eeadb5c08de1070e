/* together.c -- a training on several processes that share the rows.
 *
 * All of them run the same program on the same options. What depends on the rows of one is put
 * together where it is made (dist/dist.h); what is chosen by the clock, or kept in a file of one
 * process, is refused. Computers of different kinds may round differently, and need other memory
 * for another number of threads: kernel and map are those of the first process. */
#include "pipe/training.h"

#include "dist/dist.h"

#include <string.h>

krein_status krein__training_together(const krein_training *t) {
    krein_ctx *ctx = t->pipe.ctx;
    const krein_learner_class *l = t->learner;
    bool sum = t->weighing.cls != NULL;
    int size = krein__comm_size(ctx);
    if (size == 1) return KREIN_OK;
    if (sum || !l->together)
        return krein__fail(
            ctx, KREIN_EARG,
            "%s trains in one process, and there are %d%s; use krr, dckrr or sskrr, or "
            "start it without a launcher",
            sum ? "mkl" : l->cls.name, size,
            l->graph      ? ": its graph joins rows wherever they are"
            : l->fits_map ? ": it holds all rows, those without labels too"
                          : "");
    if (t->o.checkpoint)
        return krein__fail(ctx, KREIN_EARG,
                           "`checkpoint` keeps the state of one process, and there are %d; leave "
                           "it out, or start the training without a launcher",
                           size);
    if (t->o.time_limit > 0)
        return krein__fail(ctx, KREIN_EARG,
                           "`time_limit` is for one process: %d have as many clocks; leave it out",
                           size);
    return KREIN_OK;
}

/* The text that the first process has there; NULL where it is this one's. Takes mine over. */
static krein_status first_text(krein_ctx *ctx, char *mine, char **other) {
    krein_status st = mine ? KREIN_OK : ctx->status;
    char *text = NULL;
    int64_t length = mine ? (int64_t)strlen(mine) + 1 : 0;
    *other = NULL;
    TRY(st);
    TRY(krein__comm_broadcast(ctx, 0, &length, sizeof length));
    NEW(text, length);
    if (krein__comm_rank(ctx) == 0) memcpy(text, mine, (size_t)length);
    TRY(krein__comm_broadcast(ctx, 0, text, length));
    if (strcmp(text, mine) != 0) {
        *other = text;
        text = NULL;
    }
done:
    krein__free(ctx, mine);
    krein__free(ctx, text);
    return st;
}

krein_status krein__training_agree(krein_training *t) {
    krein_pipe *p = &t->pipe;
    krein_ctx *ctx = p->ctx;
    krein_status st = KREIN_OK;
    char *text = NULL;
    if (krein__comm_size(ctx) == 1) return KREIN_OK;
    TRY(first_text(ctx, krein__kernel_text(ctx, p->kernel), &text));
    if (!text) goto done;
    krein__kernel_destroy(ctx, p->kernel);
    p->kernel = NULL;
    TRY(krein__kernel_parse(ctx, text, &p->kernel));
done:
    krein__free(ctx, text);
    return st;
}

krein_status krein__training_agree_map(krein_training *t) {
    krein_pipe *p = &t->pipe;
    krein_ctx *ctx = p->ctx;
    krein_status st = KREIN_OK;
    krein_map *old = p->job.model->map, *new = NULL;
    char *text = NULL;
    if (krein__comm_size(ctx) == 1) return KREIN_OK;
    TRY(first_text(ctx, krein__map_text(old), &text));
    if (!text) goto done;
    TRY(krein__map_create(ctx, text, p->kernel, 0, p->o.seed, &new));
    new->d = old->d;
    new->sparse = old->sparse;
    krein__map_destroy(old);
    p->job.model->map = new;
done:
    krein__free(ctx, text);
    return st;
}
