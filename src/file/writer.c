/* writer.c -- files written whole or not at all (base/target.h), buffered; deflated into the gzip
 * format when path ends in .gz. The gzip header carries no time: the same contents give the same
 * bytes.
 *
 * NPY 1.0: "\x93NUMPY" 1 0, length of the header as two bytes (little-endian), a Python
 * dictionary padded with spaces and a newline so that the data start at a multiple of 64.
 */
#include "file/writer.h"

#include "base/target.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { BUFFER = 1 << 17 };

struct krein_writer {
    krein_ctx *ctx;
    krein_target target;
    krein_status status; /* of the first failure: the rest would leave a hole */
    size_t used;
    unsigned char *buffer; /* what goes to the file next */
    bool complete;         /* nothing is left in the buffer, and nothing may be put any more */
    bool gzip;
    z_stream z;
};

static krein_status write_all(krein_writer *w, const unsigned char *p, size_t n) {
    while (n) {
        const ssize_t done = write(w->target.fd, p, n);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return krein__target_failure(w->ctx, w->target.path, done < 0 ? errno : EIO);
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
            return krein__fail(w->ctx, KREIN_EIO, "%s: compression failed (zlib %d)",
                               w->target.path, r);
        if (!n && flush == Z_NO_FLUSH && w->z.avail_out) break;
        if (w->used == BUFFER) TRY(drain(w));
    }
done:
    return st;
}

static void *z_alloc(void *ctx, uInt count, uInt size) { return krein__alloc(ctx, count, size); }
static void z_free(void *ctx, void *p) { krein__free(ctx, p); }

/* Releases everything; the file goes when it was not committed. */
static void destroy(krein_writer *w) {
    if (!w) return;
    krein__target_drop(&w->target);
    if (w->gzip) (void)deflateEnd(&w->z);
    krein__free(w->ctx, w->buffer);
    krein__free(w->ctx, w);
}

krein_status krein__writer_open(krein_ctx *ctx, const char *path, krein_writer **out) {
    krein_status st = KREIN_OK;
    krein_writer *w = NULL;
    *out = NULL;
    ZNEW(w, 1);
    w->ctx = ctx;
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
    TRY(krein__target_open(ctx, path, &w->target));
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

krein_status krein__writer_complete(krein_writer *w) {
    krein_status st = w->status;
    if (st != KREIN_OK || w->complete) return st;
    if (w->gzip) TRY(squeeze(w, w->buffer, 0, Z_FINISH));
    TRY(drain(w));
    w->complete = true;
done:
    return w->status = st;
}

krein_status krein__writer_commit(krein_writer *w) {
    krein_status st = krein__writer_complete(w);
    if (st == KREIN_OK) st = krein__target_commit(&w->target);
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
