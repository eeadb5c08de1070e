/* writer.c -- files written whole or not at all.
 *
 *   open    path exists and is a device, pipe or socket, or lies in /dev: written directly
 *           otherwise: path.tmp.PID-K is created beside it (O_EXCL, so never another's)
 *   put     buffered; deflated into the gzip format when path ends in .gz
 *   commit  flush, fsync, close, rename over path
 *   abort   close, unlink
 *
 * A link is followed, so the file it names is replaced and not the link; a file that is
 * replaced keeps its permissions, a new one has those of the umask. The gzip header
 * carries no time: the same contents give the same bytes.
 *
 * NPY 1.0: "\x93NUMPY" 1 0, length of the header as two bytes (little-endian), a Python
 * dictionary padded with spaces and a newline so that the data start at a multiple of 64.
 */
#include "file/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { BUFFER = 1 << 17, TRIES = 1000 };

struct krein_writer {
    krein_ctx *ctx;
    char *path;      /* as the caller wrote it: for messages */
    char *target;    /* links resolved */
    char *temporary; /* NULL when written directly */
    int fd;
    bool standard;       /* standard output: not ours to close */
    krein_status status; /* of the first failure: the rest would leave a hole */
    size_t used;
    unsigned char *buffer; /* what goes to the file next */
    bool gzip;
    z_stream z;
};

/* The reason and the way out of an errno of open, write, close or rename. */
static krein_status failure(krein_ctx *ctx, const char *path, int error) {
    const char *advice = "";
    switch (error) {
    case ENOSPC:
    case EDQUOT:
        advice = "; free some space or write to another disk";
        break;
    case EACCES:
    case EPERM:
    case EROFS:
        advice = "; choose a place that you may write to";
        break;
    case ENOENT:
    case ENOTDIR:
        advice = "; create the directory first";
        break;
    case EISDIR:
        advice = "; give the name of a file";
        break;
    case EFBIG:
        advice = "; the file system or a limit (ulimit -f) allows no larger file";
        break;
    default:
        break;
    }
    return krein__fail(ctx, KREIN_EIO, "%s: %s%s", path, strerror(error), advice);
}

static krein_status write_all(krein_writer *w, const unsigned char *p, size_t n) {
    while (n) {
        const ssize_t done = write(w->fd, p, n);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return failure(w->ctx, w->path, done < 0 ? errno : EIO);
        p += done;
        n -= (size_t)done;
    }
    return KREIN_OK;
}

static krein_status drain(krein_writer *w) {
    const size_t n = w->used;
    w->used = 0;
    return write_all(w, w->buffer, n);
}

/* Compresses what is given; with Z_FINISH also what zlib still holds. */
static krein_status squeeze(krein_writer *w, const unsigned char *p, size_t n, int flush) {
    krein_status st = KREIN_OK;
    for (;;) {
        const uInt part = n > UINT_MAX ? UINT_MAX : (uInt)n;
        union {
            const unsigned char *in;
            unsigned char *z;
        } next = {.in = p}; /* zlib's pointer is not const unless ZLIB_CONST */
        w->z.next_in = next.z;
        w->z.avail_in = part;
        w->z.next_out = w->buffer + w->used;
        w->z.avail_out = (uInt)(BUFFER - w->used);
        const int r = deflate(&w->z, part == n ? flush : Z_NO_FLUSH);
        p += part - w->z.avail_in;
        n -= part - w->z.avail_in;
        w->used = BUFFER - w->z.avail_out;
        if (r == Z_STREAM_END || (r == Z_BUF_ERROR && !n && flush == Z_NO_FLUSH)) break;
        if (r != Z_OK && r != Z_BUF_ERROR)
            return krein__fail(w->ctx, KREIN_EIO, "%s: compression failed (zlib %d)", w->path, r);
        if (!n && flush == Z_NO_FLUSH && w->z.avail_out) break;
        if (w->used == BUFFER) TRY(drain(w));
    }
done:
    return st;
}

static void *z_alloc(void *ctx, uInt count, uInt size) { return krein__alloc(ctx, count, size); }
static void z_free(void *ctx, void *p) { krein__free(ctx, p); }

/* Releases everything; the temporary file goes when it was not renamed. */
static void destroy(krein_writer *w) {
    if (!w) return;
    if (w->fd >= 0 && !w->standard) (void)close(w->fd);
    if (w->temporary) (void)unlink(w->temporary);
    if (w->gzip) (void)deflateEnd(&w->z);
    krein_ctx *ctx = w->ctx;
    krein__free(ctx, w->buffer);
    krein__free(ctx, w->temporary);
    krein__free(ctx, w->target);
    krein__free(ctx, w->path);
    krein__free(ctx, w);
}

/* A file beside the target that nobody else has, with the mode of the one it replaces. */
static krein_status create_temporary(krein_writer *w, const struct stat *old) {
    krein_ctx *ctx = w->ctx;
    for (int k = 0; k < TRIES; k++) {
        char *name = krein__format(ctx, "%s.tmp.%ld-%d", w->target, (long)getpid(), k);
        if (!name) return ctx->status;
        w->fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (w->fd >= 0) {
            w->temporary = name;
            /* Where that is refused the file has the umask's mode, which is no loss. */
            if (old && fchmod(w->fd, old->st_mode & 0777) != 0) errno = 0;
            return KREIN_OK;
        }
        const int error = errno;
        krein__free(ctx, name);
        if (error != EEXIST) return failure(ctx, w->path, error);
    }
    return krein__fail(ctx, KREIN_EIO,
                       "%s: cannot make a temporary file beside it; remove %s.tmp.*", w->path,
                       w->path);
}

static krein_status open_target(krein_writer *w) {
    krein_ctx *ctx = w->ctx;
    krein_status st = KREIN_OK;
    struct stat old;
    char real[PATH_MAX];
    if (!*w->path) return krein__fail(ctx, KREIN_EARG, "output: the file name is empty");
    if (strcmp(w->path, "-") == 0 || strcmp(w->path, "/dev/stdout") == 0) {
        w->standard = true;
        w->fd = STDOUT_FILENO;
        return KREIN_OK;
    }
    const bool exists = stat(w->path, &old) == 0;
    if (exists && S_ISDIR(old.st_mode)) return failure(ctx, w->path, EISDIR);
    if (exists && (!S_ISREG(old.st_mode) || strncmp(w->path, "/dev/", 5) == 0)) {
        w->fd = open(w->path, O_WRONLY | O_CLOEXEC);
        return w->fd >= 0 ? KREIN_OK : failure(ctx, w->path, errno);
    }
    /* A read-only file in a writable directory could be replaced; its owner said no. */
    if (exists && access(w->path, W_OK) != 0) return failure(ctx, w->path, errno);
    DUP(w->target, exists && realpath(w->path, real) ? real : w->path);
    TRY(create_temporary(w, exists ? &old : NULL));
done:
    return st;
}

krein_status krein__writer_open(krein_ctx *ctx, const char *path, krein_writer **out) {
    krein_status st = KREIN_OK;
    krein_writer *w = NULL;
    *out = NULL;
    ZNEW(w, 1);
    w->ctx = ctx;
    w->fd = -1;
    DUP(w->path, path);
    NEW(w->buffer, BUFFER);
    const size_t length = strlen(path);
    if (length > 3 && strcmp(path + length - 3, ".gz") == 0) {
        w->z.zalloc = z_alloc;
        w->z.zfree = z_free;
        w->z.opaque = ctx;
        /* Level 4: numbers as text hardly shrink further and take twice the time. */
        const int r = deflateInit2(&w->z, 4, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
        if (r != Z_OK) {
            st = r == Z_MEM_ERROR ? ctx->status
                                  : krein__fail(ctx, KREIN_EIO, "%s: zlib failed (%d)", path, r);
            goto done;
        }
        w->gzip = true;
    }
    TRY(open_target(w));
    *out = w;
    w = NULL;
done:
    destroy(w);
    return st;
}

krein_status krein__writer_put(krein_writer *w, const void *bytes, size_t n) {
    krein_status st = w->status;
    const unsigned char *p = bytes;
    if (st != KREIN_OK || n == 0) return st;
    if (w->gzip) {
        TRY(squeeze(w, p, n, Z_NO_FLUSH));
    } else if (n > BUFFER - w->used) {
        TRY(drain(w));
        if (n >= BUFFER) return w->status = write_all(w, p, n);
        memcpy(w->buffer, p, n);
        w->used = n;
    } else {
        memcpy(w->buffer + w->used, p, n);
        w->used += n;
    }
done:
    return w->status = st;
}

krein_status krein__writer_commit(krein_writer *w) {
    krein_ctx *ctx = w->ctx;
    krein_status st = w->status;
    if (st != KREIN_OK) goto done;
    if (w->gzip) TRY(squeeze(w, w->buffer, 0, Z_FINISH));
    TRY(drain(w));
    /* Some file systems have no fsync; close still reports what they lost. */
    if (w->temporary && fsync(w->fd) != 0 && errno != EINVAL && errno != ENOTSUP) {
        st = failure(ctx, w->path, errno);
        goto done;
    }
    if (!w->standard) {
        const int r = close(w->fd);
        w->fd = -1;
        if (r != 0 && errno != EINTR) {
            st = failure(ctx, w->path, errno);
            goto done;
        }
    }
    if (w->temporary) {
        if (rename(w->temporary, w->target) != 0) {
            st = failure(ctx, w->path, errno);
            goto done;
        }
        krein__free(ctx, w->temporary);
        w->temporary = NULL;
    }
done:
    destroy(w);
    return st;
}

void krein__writer_abort(krein_writer *w) { destroy(w); }

krein_status krein__npy_header(krein_writer *w, const char *type, int64_t n, int64_t d) {
    static const char magic[] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0};
    char text[192], shape[64];
    if (d < 0)
        snprintf(shape, sizeof shape, "(%lld,)", (long long)n);
    else
        snprintf(shape, sizeof shape, "(%lld, %lld)", (long long)n, (long long)d);
    const int used =
        snprintf(text + 10, sizeof text - 10,
                 "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", type, shape);
    const size_t end = 10 + (size_t)used, total = (end + 1 + 63) / 64 * 64;
    memcpy(text, magic, sizeof magic);
    text[8] = (char)((total - 10) & 0xff);
    text[9] = (char)((total - 10) >> 8);
    memset(text + end, ' ', total - end);
    text[total - 1] = '\n';
    return krein__writer_put(w, text, total);
}
