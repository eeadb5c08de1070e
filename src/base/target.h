/* target.h -- an output file that appears whole or not at all.
 *
 *   open    "-", /dev/stdout, /dev/stderr, /dev/fd/N: that descriptor
 *           what exists and is no regular file (a device, a pipe): opened and written directly
 *           otherwise FILE.tmp.PID-K, a temporary file beside the one that path names
 *   commit  the temporary file is synced, closed and renamed
 *   drop    it is removed; also after commit, and on a zeroed target
 *
 * A link is followed, also one that leads to no file yet: the file that it names is replaced or
 * made, the link stays. A file that is replaced keeps its permissions, a new one has those of the
 * umask. A run that is killed leaves its temporary file behind: the next one for the same file
 * removes it. The owner holds a lock (flock) for as long as it lives, which works between
 * containers and machines as well, where numbers of processes say nothing.
 */
#ifndef KREIN_TARGET_H
#define KREIN_TARGET_H

#include "base/base.h"

typedef struct krein_target {
    krein_ctx *ctx;
    char *path;      /* as the caller wrote it: for messages */
    char *file;      /* links followed */
    char *temporary; /* NULL: written directly, or renamed */
    int fd;          /* where to write; valid while path is set */
    bool borrowed;   /* a descriptor of the process: not ours to close */
} krein_target;

krein_status krein__target_open(krein_ctx *ctx, const char *path, krein_target *out);
krein_status krein__target_commit(krein_target *t);
void krein__target_drop(krein_target *t);
/* KREIN_EIO with the reason and the way out of an errno of open, write, close or rename. */
krein_status krein__target_failure(krein_ctx *ctx, const char *path, int error);

#endif
