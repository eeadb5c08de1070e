/* joint.h -- one map for several kernels, each with a map of its own: an `auto` map whose parts are
 * given. */
#ifndef KREIN_JOINT_H
#define KREIN_JOINT_H

#include "map/parts.h"

typedef struct krein_joint {
    int64_t n;                   /* kernels, at most KREIN_PARTS_MAX */
    krein_kernel *const *kernel; /* n */
    const double *coefficient;   /* n, positive: features are times its root */
    const char *const *spec;     /* n, or NULL: the default map of each kernel */
    const double *share;         /* n: of D, in any unit; NULL: equal */
} krein_joint;

/* A map of sum_m c_m k_m, not yet fitted, with about D features in all. Each kernel has at least
 * two for each of its terms; exact maps (explicit) take what they need of theirs and leave the rest
 * to the others; a spec that has its own D keeps it, outside the shares. */
krein_status krein__joint_create(krein_ctx *ctx, const krein_joint *joint, int64_t D, int64_t d,
                                 bool sparse, uint64_t seed, krein_map **out);
/* Once fitted: kernel m has the features first[m] .. first[m+1]-1. */
void krein__joint_first(const krein_map *map, int64_t *first);

/* The maps of the parts, "m1; m2; ...", as the user would ask for them; NULL where it has none
 * or all are the default ones: krein__map_text then says it all. Owned by the caller. */
krein_status krein__joint_text(const krein_map *map, char **out);

#endif
