/* writer.h -- files written whole or not at all (base/target.h): a temporary file,
 * renamed at the end; .gz by name; NPY and text on top of it. "-" is standard output. */
#ifndef KREIN_WRITER_H
#define KREIN_WRITER_H

#include "base/base.h"

typedef struct krein_writer krein_writer;

/* Opens a temporary file in the directory of path (compressed when path ends in .gz). */
krein_status krein__writer_open(krein_ctx *ctx, const char *path, krein_writer **out);
krein_status krein__writer_put(krein_writer *w, const void *bytes, size_t n);
/* Writes what is in the buffer: only the file system's own work is left to commit. Nothing may be
 * put after it. For files that shall appear together. */
krein_status krein__writer_complete(krein_writer *w);
/* Completes, syncs, closes, renames. The writer is gone afterwards, also on failure, when the
 * temporary file is removed and the old file, if any, is whole. */
krein_status krein__writer_commit(krein_writer *w);
/* Drops everything; NULL is fine. */
void krein__writer_abort(krein_writer *w);

/* NPY header for a C-order array; type "<f4", "<f8" or "|i1"; d < 0 for one dimension. */
krein_status krein__npy_header(krein_writer *w, const char *type, int64_t n, int64_t d);

#endif
