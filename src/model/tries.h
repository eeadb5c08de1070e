/* tries.h -- what was tried before a model was trained, in models, checkpoints and reports:
 * candidates with their held-out errors, and values of free kernel parameters with their scores. */
#ifndef KREIN_TRIES_H
#define KREIN_TRIES_H

#include "file/archive.h"

typedef struct krein_tries {
    int64_t n; /* candidates, in the order tried */
    krein_tried *tried;
    int64_t nsearched; /* values of parameters */
    krein_searched *searched;
} krein_tries;

enum { KREIN_TRIED_MAX = 100000, KREIN_SEARCHED_MAX = 10000 };

void krein__tried_clear(krein_ctx *ctx, krein_tried *tried, int64_t n);
/* n = 0: NULL. */
krein_status krein__tried_copy(krein_ctx *ctx, int64_t n, const krein_tried *from,
                               krein_tried **out);
/* Room for more candidates behind those tried, for the caller to fill. */
krein_status krein__tried_room(krein_ctx *ctx, krein_tries *t, int64_t more);
/* One value more, and copies of the texts that go with it; nothing where the value or the score is
 * no number, or there are very many. */
krein_status krein__searched_add(krein_ctx *ctx, krein_tries *t, const krein_searched *one,
                                 const char *kernel, const char *parameter, const char *criterion);
/* Forgets n values from the i-th on. */
void krein__searched_drop(krein_ctx *ctx, krein_tries *t, int64_t i, int64_t n);
void krein__tries_clear(krein_ctx *ctx, krein_tries *t);
/* Nothing is written where there is nothing, as in files of before there was any. What was read is
 * the caller's to clear, also after a failure. */
krein_status krein__tries_io(krein_archive *a, krein_ctx *ctx, krein_tries *t);

#endif
