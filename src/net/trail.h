/* trail.h -- the path that the parameters of a net take in a training, and its subspace. */
#ifndef KREIN_NET_TRAIL_H
#define KREIN_NET_TRAIL_H

#include "net/subspace.h"

typedef struct krein_trail {
    krein_ctx *ctx;
    krein_trained trained;
    int64_t every; /* steps between two snapshots */
    int64_t last;  /* step behind which none is taken; 0: never */
    int64_t room;  /* snapshots in memory */
    int64_t n;     /* snapshots */
    float *kept;   /* room x m */
    float *start;  /* m: before the first step; NULL: not seen */
    float *row;    /* m */
    int file;      /* of those that have no room, or -1 */
    double most;   /* bytes of snapshots in memory */
} krein_trail;

/* The net is ready. most: bytes of snapshots in memory; 0: by the budget. */
krein_status krein__trail_begin(krein_ctx *ctx, const krein_net *net, int64_t every, double most,
                                krein_trail *t);
void krein__trail_end(krein_trail *t);
/* Parameters p (like the net's) behind so many steps: kept if it is one of those. Step 0 is the
 * start. */
krein_status krein__trail_note(krein_trail *t, int64_t step, const float *p);
/* The s first principal components of the snapshots; fewer where there are fewer. The net's kind
 * is copied. */
krein_status krein__trail_components(krein_trail *t, const krein_net_kind *kind, int64_t s,
                                     krein_subspace *out);

#endif
