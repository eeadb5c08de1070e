/* weights.h -- the kernels of a combination and their weights, in models and reports. */
#ifndef KREIN_WEIGHTS_H
#define KREIN_WEIGHTS_H

#include "file/archive.h"

enum { KREIN_WEIGHTS_MAX = 512 };

void krein__weights_free(krein_ctx *ctx, int64_t n, krein_kernel_weight *w); /* w may be NULL */
/* n = 0: NULL. */
krein_status krein__weights_copy(krein_ctx *ctx, int64_t n, const krein_kernel_weight *from,
                                 krein_kernel_weight **out);
/* Nothing is written where there are none, as in files of before there were any. What was read is
 * the caller's to free, also after a failure. */
krein_status krein__weights_io(krein_archive *a, krein_ctx *ctx, int64_t *n,
                               krein_kernel_weight **w);

#endif
