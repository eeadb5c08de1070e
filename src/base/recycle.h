/* recycle.h -- large pieces of memory that are used again instead of being given back. */
#ifndef KREIN_RECYCLE_H
#define KREIN_RECYCLE_H

#include "base/base.h"

#include <pthread.h>

enum { KREIN_RECYCLE = 64 }; /* pieces that are known at a time */

typedef struct krein_recycler {
    krein_allocator inner; /* what the context had */
    uint64_t budget;       /* of pieces in use and kept */
    pthread_mutex_t lock;
    int n;
    struct {
        void *p;
        size_t bytes;
        bool used;
    } piece[KREIN_RECYCLE];
} krein_recycler;

/* From here on the context, and those of workers made from it, keep large pieces that are freed for
 * those that are asked for later. r must not move. Not to be nested. */
void krein__recycle_begin(krein_ctx *ctx, krein_recycler *r);
/* Gives back what is kept. Pieces in use stay valid, and are freed as any other. */
void krein__recycle_end(krein_ctx *ctx, krein_recycler *r);

#endif
