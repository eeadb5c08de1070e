/* bytes.c -- plain and gzipped files as one kind of byte source.
 *
 *   gzip file := member { member }      (RFC 1952; bytes after a member that do not start
 *                                        another one are ignored when zero, as gzip does)
 *
 * A file that ends inside a member, a wrong check sum and damaged blocks are errors; what was
 * decompressed before them is handed out first.
 */
#include "file/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { CHUNK = 1 << 16, SPOOL = 1 << 18, PART = 1 << 20, PARTS = 64 };

struct krein_bytes {
    krein_ctx *ctx;
    const char *path;
    int fd;
    bool gzip, end;
    int64_t size, done;
    z_stream z;
    bool z_ready;
    unsigned char *in; /* CHUNK compressed bytes */
    const char *bad;   /* what is wrong with the gzip data, or NULL */
    int error;         /* errno of a failed read, or 0 */
};

static krein_status io_error(krein_bytes *b, int error) {
    return krein__fail(b->ctx, KREIN_EIO, "%s: %s", b->path, strerror(error));
}

/* read() until count bytes or the end of file. */
static int read_all(int fd, void *buf, size_t count, size_t *got) {
    *got = 0;
    while (*got < count) {
        size_t step = count - *got < (size_t)1 << 30 ? count - *got : (size_t)1 << 30;
        ssize_t k = read(fd, (char *)buf + *got, step);
        if (k < 0 && errno == EINTR) continue;
        if (k < 0) return errno;
        if (k == 0) break;
        *got += (size_t)k;
    }
    return 0;
}

/* pread() until count bytes or the end of file. */
static int read_at(int fd, int64_t offset, char *buf, size_t count, size_t *got) {
    *got = 0;
    while (*got < count) {
        size_t step = count - *got < (size_t)1 << 30 ? count - *got : (size_t)1 << 30;
        ssize_t k = pread(fd, buf + *got, step, (off_t)(offset + (int64_t)*got));
        if (k < 0 && errno == EINTR) continue;
        if (k < 0) return errno;
        if (k == 0) break;
        *got += (size_t)k;
    }
    return 0;
}

/* The same as read_all; long stretches in parts at once, one for each thread: copying out of the
 * page cache takes a good part of the time that several threads need to parse the text. */
static int read_parts(int threads, int fd, char *buf, size_t count, size_t *got) {
    size_t part[PARTS];
    int error[PARTS], n = (int)(count / PART < PARTS ? count / PART : PARTS);
    off_t start = lseek(fd, 0, SEEK_CUR);
    if (n > threads) n = threads;
    if (n < 2 || start < 0) return read_all(fd, buf, count, got); /* a pipe has no place */
#pragma omp parallel for num_threads(n) schedule(static, 1)
    for (int i = 0; i < n; i++) {
        size_t from = count / (size_t)n * (size_t)i;
        size_t to = i < n - 1 ? count / (size_t)n * (size_t)(i + 1) : count;
        error[i] = read_at(fd, (int64_t)start + (int64_t)from, buf + from, to - from, &part[i]);
    }
    *got = 0;
    for (int i = 0; i < n; i++) { /* what lies behind an error or the end is not there */
        *got += part[i];
        if (error[i]) return error[i];
        if (*got < count / (size_t)n * (size_t)(i + 1)) break;
    }
    return lseek(fd, start + (off_t)*got, SEEK_SET) < 0 ? errno : 0;
}

static int write_all(int fd, const void *buf, size_t count) {
    for (size_t at = 0; at < count;) {
        ssize_t k = write(fd, (const char *)buf + at, count - at);
        if (k < 0 && errno == EINTR) continue;
        if (k < 0) return errno;
        at += (size_t)k;
    }
    return 0;
}

krein_status krein__temporary_file(krein_ctx *ctx, const char *what, int *out) {
    const char *dir = getenv("TMPDIR");
    if (!dir || !*dir) dir = "/tmp";
    char *name = krein__format(ctx, "%s/krein-XXXXXX", dir);
    if (!name) return ctx->status;
    krein_status st = KREIN_OK;
    *out = mkstemp(name);
    if (*out < 0) {
        st = krein__fail(ctx, KREIN_EIO,
                         "%s: no temporary file in %s: %s; name a writable folder in TMPDIR", what,
                         dir, strerror(errno));
    } else {
        unlink(name);
        fcntl(*out, F_SETFD, FD_CLOEXEC);
    }
    krein__free(ctx, name);
    return st;
}

/* Copies at most `most` bytes of the source into a temporary file, which takes its place. */
static krein_status spool(krein_bytes *b, int64_t most) {
    krein_ctx *ctx = b->ctx;
    krein_status st = KREIN_OK;
    char *buf = NULL;
    int fd = -1;
    int64_t size = 0;
    size_t got = 1;
    TRY(krein__temporary_file(ctx, b->path, &fd));
    NEW(buf, SPOOL);
    while (got > 0 && size < most) {
        TRY(krein__bytes_read(b, buf, (size_t)krein__min(SPOOL, most - size), &got));
        int error = write_all(fd, buf, got);
        if (error) {
            st = krein__fail(ctx, KREIN_EIO,
                             "%s: the temporary copy cannot be written: %s; name a folder with "
                             "more room in TMPDIR",
                             b->path, strerror(error));
            goto done;
        }
        size += (int64_t)got;
        TRY(krein__poll(ctx));
    }
    if (lseek(fd, 0, SEEK_SET) < 0) {
        st = io_error(b, errno);
        goto done;
    }
    if (b->fd > STDERR_FILENO) close(b->fd);
    b->fd = fd;
    fd = -1;
    b->size = size;
    b->done = 0;
    b->gzip = b->end = false;
done:
    krein__free(ctx, buf);
    if (fd >= 0) close(fd);
    return st;
}

krein_status krein__bytes_open(krein_ctx *ctx, const char *path, krein_bytes **out) {
    krein_status st = KREIN_OK;
    krein_bytes *b = NULL;
    struct stat info;
    unsigned char magic[2];
    size_t got;
    *out = NULL;
    ZNEW(b, 1);
    b->ctx = ctx;
    b->path = path;
    b->fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    if (b->fd < 0 || fstat(b->fd, &info)) {
        st = io_error(b, errno);
        goto done;
    }
    if (S_ISDIR(info.st_mode)) {
        st = io_error(b, EISDIR);
        goto done;
    }
    b->size = (int64_t)info.st_size;
    /* a redirected standard input may stand anywhere in its file: copy it as well */
    if (b->fd == STDIN_FILENO || !S_ISREG(info.st_mode)) TRY(spool(b, INT64_MAX));
    int error = read_all(b->fd, magic, 2, &got);
    if (!error && lseek(b->fd, 0, SEEK_SET) < 0) error = errno;
    if (error) {
        st = io_error(b, error);
        goto done;
    }
    b->gzip = got == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
    if (b->gzip) {
        NEW(b->in, CHUNK);
        if (inflateInit2(&b->z, 15 + 16) != Z_OK) {
            st = krein__fail(ctx, KREIN_EMEMORY, "%s: no memory to decompress", path);
            goto done;
        }
        b->z_ready = true;
    }
    *out = b;
    b = NULL;
done:
    krein__bytes_close(b);
    return st;
}

/* More compressed bytes into z; false at the end of file or on an error. */
static bool refill(krein_bytes *b) {
    size_t got;
    b->error = read_all(b->fd, b->in, CHUNK, &got);
    b->done += (int64_t)got;
    b->z.next_in = b->in;
    b->z.avail_in = (uInt)got;
    return !b->error && got > 0;
}

/* After the end of a member: 1 another one follows, 0 the end, -1 something else. */
static int next_member(krein_bytes *b) {
    for (;;) {
        if (b->z.avail_in == 0 && !refill(b)) return 0;
        if (*b->z.next_in) return *b->z.next_in == 0x1f ? 1 : -1;
        b->z.next_in++; /* padding */
        b->z.avail_in--;
    }
}

static void inflate_into(krein_bytes *b, unsigned char *buf, size_t want, size_t *got) {
    while (*got < want && !b->end && !b->bad && !b->error) {
        if (b->z.avail_in == 0 && !refill(b)) {
            if (!b->error) b->bad = "the gzip data end too early: the file is truncated";
            break;
        }
        size_t room = want - *got < (size_t)1 << 30 ? want - *got : (size_t)1 << 30;
        b->z.next_out = buf + *got;
        b->z.avail_out = (uInt)room;
        int code = inflate(&b->z, Z_NO_FLUSH);
        *got += room - b->z.avail_out;
        if (code == Z_STREAM_END) {
            int next = next_member(b);
            if (next < 0) b->bad = "there is something else behind the gzip data";
            if (next == 0) b->end = true;
            if (next > 0 && inflateReset(&b->z) != Z_OK) b->bad = "damaged gzip data";
        } else if (code == Z_MEM_ERROR) {
            b->error = ENOMEM;
        } else if (code != Z_OK && code != Z_BUF_ERROR) {
            b->bad = "damaged gzip data";
        }
    }
}

krein_status krein__bytes_read(krein_bytes *b, void *buf, size_t want, size_t *got) {
    *got = 0;
    if (b->gzip) {
        inflate_into(b, buf, want, got);
    } else if (!b->error) {
        b->error = read_parts(b->ctx->threads, b->fd, buf, want, got);
        b->done += (int64_t)*got;
    }
    if (b->error) return io_error(b, b->error);
    if (b->bad)
        return krein__fail(b->ctx, KREIN_EIO,
                           "%s: %s; unpack it with gunzip to see how far it goes", b->path, b->bad);
    return KREIN_OK;
}

krein_status krein__bytes_rewind(krein_bytes *b) {
    b->done = 0;
    b->end = false;
    b->bad = NULL;
    b->error = 0;
    if (lseek(b->fd, 0, SEEK_SET) < 0) return io_error(b, errno);
    if (b->gzip) {
        b->z.avail_in = 0;
        if (inflateReset(&b->z) != Z_OK)
            return krein__fail(b->ctx, KREIN_EIO, "%s: cannot start again", b->path);
    }
    return KREIN_OK;
}

krein_status krein__bytes_seek(krein_bytes *b, int64_t offset) {
    krein_ctx *ctx = b->ctx;
    krein_status st = KREIN_OK;
    char *skipped = NULL;
    size_t got;
    TRY(krein__bytes_rewind(b));
    if (!b->gzip) {
        if (lseek(b->fd, (off_t)offset, SEEK_SET) < 0) st = io_error(b, errno);
        b->done = offset;
        goto done;
    }
    NEW(skipped, SPOOL);
    for (int64_t left = offset; left > 0; left -= (int64_t)got) {
        TRY(krein__bytes_read(b, skipped, (size_t)krein__min(left, SPOOL), &got));
        if (got == 0) {
            st = krein__fail(ctx, KREIN_EIO, "%s: the file is shorter than it was", b->path);
            goto done;
        }
        TRY(krein__poll(ctx));
    }
done:
    krein__free(ctx, skipped);
    return st;
}

void krein__bytes_use(krein_bytes *b, krein_ctx *ctx) { b->ctx = ctx; }

krein_status krein__bytes_at(krein_bytes *b, int64_t offset, void *buf, size_t count) {
    size_t got;
    int error = read_at(b->fd, offset, buf, count, &got);
    if (error) return io_error(b, error);
    if (got < count)
        return krein__fail(b->ctx, KREIN_EIO, "%s: the file became shorter while it was read",
                           b->path);
    b->done += (int64_t)count;
    return KREIN_OK;
}

krein_status krein__bytes_spool(krein_bytes *b, int64_t most) {
    if (!b->gzip) return KREIN_OK;
    krein_status st = krein__bytes_rewind(b);
    return st ? st : spool(b, most);
}

bool krein__bytes_gzip(const krein_bytes *b) { return b->gzip; }
int64_t krein__bytes_size(const krein_bytes *b) { return b->size; }
int64_t krein__bytes_done(const krein_bytes *b) { return b->done; }

void krein__bytes_close(krein_bytes *b) {
    if (!b) return;
    if (b->z_ready) inflateEnd(&b->z);
    if (b->fd > STDERR_FILENO) close(b->fd);
    krein__free(b->ctx, b->in);
    krein__free(b->ctx, b);
}
