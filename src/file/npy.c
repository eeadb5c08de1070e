/* npy.c -- the NPY format: header and elements.
 *
 *   file   := "\x93NUMPY" major minor length header data     length: 2 bytes (1.0), 4 (2.0, 3.0)
 *   header := "{'descr': '<f8', 'fortran_order': False, 'shape': (n, d), }" padded with blanks
 *   data   := element (i, j) at (i d + j) size, or (j n + i) size in Fortran order
 *
 * An array n x h x w x c (n x h x w: c = 1) is n rows of d = h w c numbers, which are images.
 *
 * The header is not trusted: the size of the data must be exactly what type and shape say.
 */
#include "file/npy.h"

#include "file/lines.h"

#include <string.h>

enum { MAX_HEADER = 1 << 20 };

typedef struct cursor {
    const char *p, *end;
} cursor;

static char peek(cursor *c) {
    while (c->p < c->end && (*c->p == ' ' || *c->p == '\n' || *c->p == '\t' || *c->p == '\r'))
        c->p++;
    return c->p < c->end ? *c->p : 0;
}
static bool eat(cursor *c, char what) {
    if (peek(c) != what || !what) return false;
    c->p++;
    return true;
}
static bool quoted(cursor *c, char *out, size_t room) {
    char q = peek(c);
    size_t n = 0;
    if (q != '\'' && q != '"') return false;
    for (c->p++; c->p < c->end && *c->p != q; c->p++) {
        if (*c->p == '\\' || n + 1 >= room) return false;
        out[n++] = *c->p;
    }
    out[n] = 0;
    return eat(c, q);
}

enum { DIMS = 4 };

/* A tuple of at most DIMS numbers; *dims counts all of them. */
static bool shape(cursor *c, int64_t *extent, int *dims) {
    *dims = 0;
    if (!eat(c, '(')) return false;
    while (peek(c) != ')') {
        int64_t v = 0;
        const char *start = (peek(c), c->p);
        for (; c->p < c->end && *c->p >= '0' && *c->p <= '9'; c->p++)
            if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *c->p - '0', &v))
                return false;
        if (c->p == start) return false;
        if (c->p < c->end && *c->p == 'L') c->p++; /* Python 2 */
        if (*dims < DIMS) extent[*dims] = v;
        if (++*dims > 32) return false;
        if (!eat(c, ',') && peek(c) != ')') return false;
    }
    return eat(c, ')');
}

static krein_status refuse(krein_ctx *ctx, const char *path, const char *why) {
    return krein__fail(ctx, KREIN_EFORMAT, "%s: %s", path, why);
}

static krein_status bad_type(krein_ctx *ctx, const char *path, const char *descr) {
    char kind = descr[strspn(descr, "<>|=")], shown[48];
    const char *what = kind == 'U' || kind == 'S' || kind == 'a' ? "text"
                       : kind == 'c'                             ? "complex numbers"
                       : kind == 'O'                             ? "Python objects"
                       : kind == 'M' || kind == 'm'              ? "dates or times"
                       : kind == 'V' || kind == '['              ? "records"
                                                                 : "an unknown type";
    return krein__fail(ctx, KREIN_EFORMAT,
                       "%s: the array holds %s ('%s'); save it as float32, float64, integers or "
                       "booleans, for example with numpy's astype",
                       path, what, krein__cell_text(descr, strlen(descr), shown));
}

static krein_status parse_type(krein_ctx *ctx, const char *path, krein_npy *a, const char *descr) {
    const char *p = descr + strspn(descr, "<>|=");
    bool big = *descr == '>';
    a->kind = *p;
    if (p - descr > 1 || !*p || p[1] < '1' || p[1] > '8' || p[2]) return bad_type(ctx, path, descr);
    a->size = p[1] - '0';
    bool ok = a->kind == 'f'                     ? a->size == 4 || a->size == 8
              : a->kind == 'i' || a->kind == 'u' ? !(a->size & (a->size - 1))
                                                 : a->kind == 'b' && a->size == 1;
    if (!ok) return bad_type(ctx, path, descr);
    a->swap = *descr == '=' || *descr == '|' || a->size == 1
                  ? false
                  : big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    return KREIN_OK;
}

static krein_status take_shape(krein_ctx *ctx, const char *path, krein_npy *a,
                               const int64_t *extent, int dims, bool fortran) {
    int64_t bytes;
    if (dims < 1 || dims > DIMS)
        return krein__fail(ctx, KREIN_EFORMAT,
                           "%s: the array has %d dimensions; rows need 1 or 2, images 3 or 4: for "
                           "example x.reshape(len(x), -1)",
                           path, dims);
    a->n = extent[0];
    a->d = 1;
    for (int k = 1; k < dims; k++)
        if (__builtin_mul_overflow(a->d, extent[k], &a->d))
            return refuse(ctx, path, "the shape in the NPY header is too large");
    if (dims > 2) memcpy(a->image, extent + 1, sizeof a->image);
    if (fortran && dims > 2)
        return refuse(ctx, path,
                      "images in Fortran order are not read; save them by "
                      "numpy.ascontiguousarray(x)");
    a->fortran = fortran && a->d > 1;
    if (a->n == 0) return refuse(ctx, path, "the array is empty: no rows");
    if (a->d == 0) return refuse(ctx, path, "the array is empty: no columns");
    if (__builtin_mul_overflow(a->n, a->d, &bytes) ||
        __builtin_mul_overflow(bytes, a->size, &bytes) || bytes > INT64_MAX / 2)
        return refuse(ctx, path, "the shape in the NPY header is too large");
    return KREIN_OK;
}

static krein_status parse_header(krein_ctx *ctx, const char *path, krein_npy *a, const char *text,
                                 size_t length) {
    cursor c = {text, text + length};
    char key[32], descr[64] = "";
    int64_t extent[DIMS] = {1, 1, 1, 1};
    int dims = -1, order = -1;
    const char *broken = "the NPY header is damaged";
    if (!eat(&c, '{')) return refuse(ctx, path, broken);
    while (peek(&c) != '}') {
        if (!quoted(&c, key, sizeof key) || !eat(&c, ':')) return refuse(ctx, path, broken);
        if (!strcmp(key, "descr")) {
            if (peek(&c) == '[') return bad_type(ctx, path, "[");
            if (!quoted(&c, descr, sizeof descr)) return refuse(ctx, path, broken);
        } else if (!strcmp(key, "fortran_order")) {
            peek(&c);
            if (c.end - c.p >= 5 && !memcmp(c.p, "False", 5))
                order = 0;
            else if (c.end - c.p >= 4 && !memcmp(c.p, "True", 4))
                order = 1;
            else
                return refuse(ctx, path, broken);
            c.p += order ? 4 : 5;
        } else if (!strcmp(key, "shape")) {
            if (!shape(&c, extent, &dims))
                return refuse(ctx, path,
                              "the shape in the NPY header is damaged, negative or too large");
        } else {
            return refuse(ctx, path, broken);
        }
        if (!eat(&c, ',') && peek(&c) != '}') return refuse(ctx, path, broken);
    }
    c.p++;
    if (peek(&c) || c.p < c.end || !*descr || order < 0 || dims < 0)
        return refuse(ctx, path, broken);
    krein_status st = parse_type(ctx, path, a, descr);
    if (st) return st;
    return take_shape(ctx, path, a, extent, dims, order == 1);
}

krein_status krein__npy_wrong_size(krein_ctx *ctx, const char *path, const krein_npy *a,
                                   const char *what) {
    return krein__fail(ctx, KREIN_EFORMAT,
                       "%s: the file is %s than its shape (%lld, %lld) says; it is damaged, or "
                       "was not written to the end",
                       path, what, (long long)a->n, (long long)a->d);
}

krein_status krein__npy_open(krein_ctx *ctx, const char *path, krein_bytes *in, krein_npy *a) {
    krein_status st = KREIN_OK;
    unsigned char head[12];
    char *text = NULL;
    size_t got, length;
    memset(a, 0, sizeof *a);
    TRY(krein__bytes_rewind(in));
    TRY(krein__bytes_read(in, head, 10, &got));
    if (got < 10 || memcmp(head, "\x93NUMPY", 6)) {
        st = refuse(ctx, path,
                    got ? "not an NPY file, or cut off in its header" : "the file is empty");
        goto done;
    }
    if (head[6] < 1 || head[6] > 3 || head[7] != 0) {
        st = krein__fail(ctx, KREIN_EFORMAT, "%s: NPY version %d.%d; 1.0, 2.0 and 3.0 are known",
                         path, head[6], head[7]);
        goto done;
    }
    length = (size_t)head[8] | (size_t)head[9] << 8;
    a->offset = 10;
    if (head[6] > 1) {
        TRY(krein__bytes_read(in, head + 10, 2, &got));
        length |= (size_t)head[10] << 16 | (size_t)head[11] << 24;
        a->offset = 12;
        if (got < 2) length = MAX_HEADER + 1;
    }
    if (length > MAX_HEADER) {
        st = refuse(ctx, path, "the NPY header is damaged or longer than 1 MB");
        goto done;
    }
    NEW(text, (int64_t)length + KREIN__PAD);
    TRY(krein__bytes_read(in, text, length, &got));
    if (got < length) {
        st = refuse(ctx, path, "the file ends inside its NPY header");
        goto done;
    }
    a->offset += (int64_t)length;
    TRY(parse_header(ctx, path, a, text, length));
done:
    krein__free(ctx, text);
    return st;
}

krein_status krein__npy_check_size(krein_ctx *ctx, const char *path, krein_bytes *in,
                                   const krein_npy *a) {
    if (krein__bytes_gzip(in)) return KREIN_OK; /* seen when it is read */
    int64_t have = krein__bytes_size(in) - a->offset, need = a->n * a->d * a->size;
    if (have == need) return KREIN_OK;
    return krein__npy_wrong_size(ctx, path, a, have < need ? "shorter" : "longer");
}

double krein__npy_element(const krein_npy *a, const unsigned char *p) {
    uint64_t u = 0;
    switch (a->size) {
    case 1:
        u = *p;
        break;
    case 2: {
        uint16_t v;
        memcpy(&v, p, 2);
        u = a->swap ? __builtin_bswap16(v) : v;
        break;
    }
    case 4: {
        uint32_t v;
        memcpy(&v, p, 4);
        u = a->swap ? __builtin_bswap32(v) : v;
        break;
    }
    default:
        memcpy(&u, p, 8);
        u = a->swap ? __builtin_bswap64(u) : u;
    }
    switch (a->kind) {
    case 'f':
        if (a->size == 4) {
            uint32_t w = (uint32_t)u;
            float f;
            memcpy(&f, &w, 4);
            return (double)f;
        } else {
            double f;
            memcpy(&f, &u, 8);
            return f;
        }
    case 'i':
        return a->size == 1   ? (double)(int8_t)u
               : a->size == 2 ? (double)(int16_t)u
               : a->size == 4 ? (double)(int32_t)u
                              : (double)(int64_t)u;
    case 'b':
        return u != 0;
    default:
        return (double)u;
    }
}
