/* pick.h -- which rows become landmarks. */
#ifndef KREIN_PICK_H
#define KREIN_PICK_H

#include "map/map.h"

typedef enum krein_pick {
    KREIN_PICK_UNIFORM = 0,
    KREIN_PICK_KMEANS = 1,
    KREIN_PICK_LEVERAGE = 2
} krein_pick;

/* At most m landmarks from the n rows of the stream, dense or CSR as they are. Leverage scores need
 * a positive definite kernel; without one the draw is uniform, with a warning. */
krein_status krein__pick(krein_map *map, krein_stream *rows, int64_t n, int64_t m, krein_pick how,
                         krein_matrix *out);
/* Bytes held meanwhile, and operations. */
void krein__pick_cost(const krein_map *map, int64_t n, int64_t m, krein_pick how, krein_cost *out);

/* Ridge leverage scores of the rows x from a uniform sample s of them (see pick.c). target: the
 * effective dimension that sets the ridge, of the sample. KREIN_ENUMERIC: the kernel is indefinite
 * on the sample. */
krein_status krein__row_scores(krein_ctx *ctx, const krein_kernel *kernel, const krein_rows *x,
                               const krein_rows *s, double target, double *ridge, double *score);

#endif
