/* alike.h -- frequencies of a model are for columns that are encoded as its own. */
#ifndef KREIN_KERNEL_ALIKE_H
#define KREIN_KERNEL_ALIKE_H

#include "encode/encoding.h"
#include "file/archive.h"

/* A warning where the columns of a model file (of as many) are scaled otherwise than those of e;
 * what: who asks, and the file. A shift is no difference: it is one of the phases. */
krein_status krein__encoding_alike(krein_ctx *ctx, krein_archive *model, const krein_encoding *e,
                                   const char *what);

#endif
