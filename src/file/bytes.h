/* bytes.h -- where the bytes of a data file come from: a plain file or gzip, always
 * rewindable. "-" and whatever cannot be rewound (a pipe) are first copied into an unlinked
 * temporary file in $TMPDIR or /tmp.
 */
#ifndef KREIN_BYTES_H
#define KREIN_BYTES_H

#include "base/base.h"

typedef struct krein_bytes krein_bytes;

/* path must live as long as the source. */
krein_status krein__bytes_open(krein_ctx *ctx, const char *path, krein_bytes **out);
/* Fills buf unless the end or an error comes first. *got bytes are valid in either case; an
 * error stays: every later read reports it again. */
krein_status krein__bytes_read(krein_bytes *b, void *buf, size_t want, size_t *got);
krein_status krein__bytes_rewind(krein_bytes *b);
/* The next read begins at that byte of the uncompressed content. */
krein_status krein__bytes_seek(krein_bytes *b, int64_t offset);
void krein__bytes_use(krein_bytes *b, krein_ctx *ctx);
/* Exactly `count` bytes of the (uncompressed) content at an offset; not for gzip before
 * krein__bytes_spool. */
krein_status krein__bytes_at(krein_bytes *b, int64_t offset, void *buf, size_t count);
/* Turns a gzip source into a plain one by decompressing at most so many bytes of it into a
 * temporary file. */
krein_status krein__bytes_spool(krein_bytes *b, int64_t most);
bool krein__bytes_gzip(const krein_bytes *b);
int64_t krein__bytes_size(const krein_bytes *b); /* of the file, compressed if it is */
int64_t krein__bytes_done(const krein_bytes *b); /* of that size, read so far */
void krein__bytes_close(krein_bytes *b);
/* A file in $TMPDIR or /tmp that nobody else sees and that vanishes with its descriptor; what: for
 * the message. */
krein_status krein__temporary_file(krein_ctx *ctx, const char *what, int *out);

#endif
