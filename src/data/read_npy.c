/* read_npy.c -- NumPy arrays: n x d or n numbers, C or Fortran order, either byte order.
 *
 *   file   := "\x93NUMPY" major minor length header data     length: 2 bytes (1.0), 4 (2.0, 3.0)
 *   header := "{'descr': '<f8', 'fortran_order': False, 'shape': (n, d), }" padded with blanks
 *   data   := element (i, j) at (i d + j) size, or (j n + i) size in Fortran order
 *
 * Nothing is mapped: a batch reads its rows (Fortran order: its part of every column) with pread,
 * so resident memory stays at one buffer. Gzipped arrays are read in sequence, in Fortran order
 * after unpacking into a temporary file. The header is not trusted: the size of the data must be
 * exactly what type and shape say.
 */
#include "data/rows.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_HEADER = 1 << 20, ID = 40 };

typedef struct npy {
    char kind; /* f, i, u or b */
    int size;
    bool swap, fortran;
    int64_t n, d, offset, i; /* i: rows read */
    unsigned char *buf;
    int64_t room; /* rows */
} npy;

/* ---- header ------------------------------------------------------------------------ */

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

/* A tuple of at most two numbers; *dims counts all of them. */
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
        if (*dims < 2) extent[*dims] = v;
        if (++*dims > 32) return false;
        if (!eat(c, ',') && peek(c) != ')') return false;
    }
    return eat(c, ')');
}

static krein_status refuse(krein_reader *r, const char *why) {
    return krein__fail(r->ctx, KREIN_EFORMAT, "%s: %s", r->path, why);
}

static krein_status bad_type(krein_reader *r, const char *descr) {
    char kind = descr[strspn(descr, "<>|=")], shown[48];
    const char *what = kind == 'U' || kind == 'S' || kind == 'a' ? "text"
                       : kind == 'c'                             ? "complex numbers"
                       : kind == 'O'                             ? "Python objects"
                       : kind == 'M' || kind == 'm'              ? "dates or times"
                       : kind == 'V' || kind == '['              ? "records"
                                                                 : "an unknown type";
    return krein__fail(r->ctx, KREIN_EFORMAT,
                       "%s: the array holds %s ('%s'); save it as float32, float64, integers or "
                       "booleans, for example with numpy's astype",
                       r->path, what, krein__cell_text(descr, strlen(descr), shown));
}

static krein_status parse_type(krein_reader *r, npy *a, const char *descr) {
    const char *p = descr + strspn(descr, "<>|=");
    bool big = *descr == '>';
    a->kind = *p;
    if (p - descr > 1 || !*p || p[1] < '1' || p[1] > '8' || p[2]) return bad_type(r, descr);
    a->size = p[1] - '0';
    bool ok = a->kind == 'f'                     ? a->size == 4 || a->size == 8
              : a->kind == 'i' || a->kind == 'u' ? !(a->size & (a->size - 1))
                                                 : a->kind == 'b' && a->size == 1;
    if (!ok) return bad_type(r, descr);
    a->swap = *descr == '=' || *descr == '|' || a->size == 1
                  ? false
                  : big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    return KREIN_OK;
}

static krein_status parse_header(krein_reader *r, npy *a, const char *text, size_t length) {
    cursor c = {text, text + length};
    char key[32], descr[64] = "";
    int64_t extent[2] = {1, 1}, bytes;
    int dims = -1, order = -1;
    const char *broken = "the NPY header is damaged";
    if (!eat(&c, '{')) return refuse(r, broken);
    while (peek(&c) != '}') {
        if (!quoted(&c, key, sizeof key) || !eat(&c, ':')) return refuse(r, broken);
        if (!strcmp(key, "descr")) {
            if (peek(&c) == '[') return bad_type(r, "[");
            if (!quoted(&c, descr, sizeof descr)) return refuse(r, broken);
        } else if (!strcmp(key, "fortran_order")) {
            peek(&c);
            if (c.end - c.p >= 5 && !memcmp(c.p, "False", 5))
                order = 0;
            else if (c.end - c.p >= 4 && !memcmp(c.p, "True", 4))
                order = 1;
            else
                return refuse(r, broken);
            c.p += order ? 4 : 5;
        } else if (!strcmp(key, "shape")) {
            if (!shape(&c, extent, &dims))
                return refuse(r, "the shape in the NPY header is damaged, negative or too large");
        } else {
            return refuse(r, broken);
        }
        if (!eat(&c, ',') && peek(&c) != '}') return refuse(r, broken);
    }
    c.p++;
    if (peek(&c) || c.p < c.end || !*descr || order < 0 || dims < 0) return refuse(r, broken);
    krein_status st = parse_type(r, a, descr);
    if (st) return st;
    if (dims != 1 && dims != 2)
        return krein__fail(r->ctx, KREIN_EFORMAT,
                           "%s: the array has %d dimensions; rows need 1 or 2, for example "
                           "x.reshape(len(x), -1)",
                           r->path, dims);
    a->n = extent[0];
    a->d = dims == 2 ? extent[1] : 1;
    a->fortran = order == 1 && dims == 2 && a->d > 1;
    if (a->n == 0) return refuse(r, "the array is empty: no rows");
    if (a->d == 0) return refuse(r, "the array is empty: no columns");
    if (__builtin_mul_overflow(a->n, a->d, &bytes) ||
        __builtin_mul_overflow(bytes, a->size, &bytes) || bytes > INT64_MAX / 2)
        return refuse(r, "the shape in the NPY header is too large");
    return KREIN_OK;
}

static krein_status wrong_size(krein_reader *r, const npy *a, const char *what) {
    return krein__fail(r->ctx, KREIN_EFORMAT,
                       "%s: the file is %s than its shape (%lld, %lld) says; it is damaged, or "
                       "was not written to the end",
                       r->path, what, (long long)a->n, (long long)a->d);
}

static void npy_close(krein_reader *r) {
    npy *a = r->state->own;
    if (a) krein__free(r->ctx, a->buf);
    krein__free(r->ctx, a);
    r->state->own = NULL;
}

static krein_status npy_open(krein_reader *r, const krein_reader_options *options) {
    krein_ctx *ctx = r->ctx;
    krein_bytes *in = r->state->in;
    krein_status st = KREIN_OK;
    unsigned char head[12];
    char *text = NULL;
    size_t got, length;
    npy *a;
    (void)options;
    ZNEW(a, 1);
    r->state->own = a;
    TRY(krein__bytes_rewind(in));
    TRY(krein__bytes_read(in, head, 10, &got));
    if (got < 10 || memcmp(head, "\x93NUMPY", 6)) {
        st = refuse(r, got ? "not an NPY file, or cut off in its header" : "the file is empty");
        goto done;
    }
    if (head[6] < 1 || head[6] > 3 || head[7] != 0) {
        st = krein__fail(ctx, KREIN_EFORMAT, "%s: NPY version %d.%d; 1.0, 2.0 and 3.0 are known",
                         r->path, head[6], head[7]);
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
        st = refuse(r, "the NPY header is damaged or longer than 1 MB");
        goto done;
    }
    NEW(text, (int64_t)length + KREIN__PAD);
    TRY(krein__bytes_read(in, text, length, &got));
    if (got < length) {
        st = refuse(r, "the file ends inside its NPY header");
        goto done;
    }
    a->offset += (int64_t)length;
    TRY(parse_header(r, a, text, length));
    if (a->fortran) TRY(krein__bytes_spool(in));
    if (!krein__bytes_gzip(in)) {
        int64_t have = krein__bytes_size(in) - a->offset, need = a->n * a->d * a->size;
        if (have != need) {
            st = wrong_size(r, a, have < need ? "shorter" : "longer");
            goto done;
        }
        r->bytes = krein__bytes_size(in);
    }
    ZNEW(r->column, a->d);
    r->ncolumn = a->d;
    r->n = a->n;
    TRY(krein__block_init(r, false, false));
done:
    krein__free(ctx, text);
    return st;
}

/* ---- rows ---------------------------------------------------------------------------- */

static double element(const npy *a, const unsigned char *p) {
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

static bool fault(krein_reader *r, krein_piece *piece, int64_t i, int64_t j, double v) {
    char column[96], number[40];
    krein_role role = r->column[j].role;
    krein__column_text(r, j, column);
    piece->status = KREIN_EDATA;
    piece->bad_line = r->state->row + i + 1;
    krein__number_text(v, number);
    const char *text = isnan(v) ? "NaN" : isinf(v) ? "infinite" : number;
    snprintf(piece->text, sizeof piece->text, "%s is %s%s", column, text,
             isinf(v)                    ? "; values must be finite, or NaN where missing"
             : role == KREIN_ROLE_WEIGHT ? "; row weights must be numbers >= 0"
             : role == KREIN_ROLE_GROUP  ? "; every row needs a group, or none"
             : role == KREIN_ROLE_LABEL
                 ? ": the row has no label; give it one, or drop such rows with --missing drop"
             : isnan(v) ? "; drop such rows with --missing drop or fill them with --missing mean"
                        : ", too large for single precision; features must stay below 3.4e38");
    return false;
}

static bool take(krein_reader *r, krein_raw *raw, krein_piece *piece, int64_t i, int64_t j,
                 double v, int64_t *num, int64_t *label) {
    const krein_column *c = &r->column[j];
    char text[ID], *id;
    int64_t code;
    if (isinf(v) && c->role != KREIN_ROLE_IGNORE) return fault(r, piece, i, j, v);
    switch (c->role) {
    case KREIN_ROLE_FEATURE: {
        float f = (float)(v - c->shift);
        if (!(fabsf(f) <= FLT_MAX)) {
            if (!isnan(v) || !r->missing_ok) return fault(r, piece, i, j, v);
            piece->missing = true;
        }
        raw->num[i * raw->nnum + (*num)++] = f;
        break;
    }
    case KREIN_ROLE_LABEL:
        if (isnan(v) && !r->label_optional) return fault(r, piece, i, j, v);
        raw->label[i * raw->nlabel + (*label)++] = v;
        break;
    case KREIN_ROLE_WEIGHT:
        if (!(v >= 0)) return fault(r, piece, i, j, v);
        raw->weight[i] = v;
        break;
    case KREIN_ROLE_GROUP:
        if (isnan(v)) return fault(r, piece, i, j, v);
        krein__number_text(v, text);
        code = krein__rows_code(r, piece, j, 0, text, strlen(text));
        if (code == -3) return false;
        raw->group[i] = (int32_t)code;
        break;
    case KREIN_ROLE_ID:
        id = raw->id[i] = raw->id_text + i * ID;
        krein__number_text(v, id);
        break;
    case KREIN_ROLE_IGNORE:
        break;
    }
    return true;
}

static void convert(krein_reader *r, krein_raw *raw, krein_piece *piece, int64_t m) {
    const npy *a = r->state->own;
    int64_t si = a->fortran ? a->size : a->d * a->size, sj = a->fortran ? m * a->size : a->size;
    piece->got_rows = piece->rows;
    for (int64_t i = piece->first_row; i < piece->first_row + piece->rows; i++) {
        const unsigned char *p = a->buf + i * si;
        int64_t num = 0, label = 0;
        for (int64_t j = 0; j < a->d; j++, p += sj)
            if (!take(r, raw, piece, i, j, element(a, p), &num, &label)) return;
    }
}

/* m rows from row a->i on into buf; *m become the rows there are before an error. */
static krein_status fetch(krein_reader *r, npy *a, int64_t *m) {
    krein_bytes *in = r->state->in;
    krein_status st = KREIN_OK;
    size_t row = (size_t)(a->d * a->size), got, part = (size_t)(*m * a->size);
    size_t all = (size_t)*m * row;
    if (a->fortran) {
        for (int64_t j = 0; j < a->d && !st; j++)
            st = krein__bytes_at(in, a->offset + (j * a->n + a->i) * a->size,
                                 a->buf + (size_t)j * part, part);
    } else if (!krein__bytes_gzip(in)) {
        st = krein__bytes_at(in, a->offset + a->i * (int64_t)row, a->buf, all);
    } else {
        st = krein__bytes_read(in, a->buf, all, &got);
        if (!st && got < all) st = wrong_size(r, a, "shorter");
        *m = (int64_t)(got / row);
        return st;
    }
    if (st) *m = 0;
    return st;
}

static krein_status npy_next(krein_reader *r, krein_raw *raw) {
    krein_ctx *ctx = r->ctx;
    struct krein_reader_state *s = r->state;
    krein_block *b = &s->block;
    npy *a = s->own;
    krein_status st = KREIN_OK;
    int threads = ctx->threads;
    int64_t m = krein__min(a->room, a->n - a->i);
    raw->n = 0;
    TRY(krein__rows_room(r, raw, m, 0, m * ID));
    if (m == 0) goto done;
    if (!a->buf) NEW(a->buf, a->room * a->d * a->size);
    krein_status torn = fetch(r, a, &m);
    if (m == 0) {
        st = torn;
        goto done;
    }
    r->bytes_done = krein__bytes_done(s->in);
    b->npiece = krein__min(b->most, m);
    for (int64_t k = 0, from = 0; k < b->npiece; k++) {
        int64_t to = (k + 1) * (m / b->npiece) + krein__min(k + 1, m % b->npiece);
        b->piece[k] = (krein_piece){.first_row = from, .rows = to - from, .dict = b->piece[k].dict};
        from = to;
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) if (b->npiece > 1)
    for (int64_t k = 0; k < b->npiece; k++) convert(r, raw, &b->piece[k], m);
    TRY(krein__rows_status(r));
    TRY(krein__rows_merge(r, raw));
    a->i += m;
    /* what tore the file is reported by the next call: the rows before it come first */
    if (!torn && a->i == a->n && krein__bytes_gzip(s->in)) {
        size_t got;
        TRY(krein__bytes_read(s->in, a->buf, 1, &got));
        if (got) {
            st = wrong_size(r, a, "longer");
            goto done;
        }
    }
    for (int64_t k = 0; k < b->npiece; k++) raw->any_missing |= b->piece[k].missing;
    raw->n = m;
    s->row += m;
done:
    return st;
}

static krein_status npy_begin(krein_reader *r) {
    krein_ctx *ctx = r->ctx;
    struct krein_reader_state *s = r->state;
    npy *a = s->own;
    krein_status st = KREIN_OK;
    char skip[512];
    size_t got;
    TRY(krein__rows_roles(r));
    TRY(krein__bytes_rewind(s->in));
    a->i = 0;
    a->room = krein__max(1, krein__min((int64_t)s->buffer / (a->d * a->size), a->n));
    if (krein__bytes_gzip(s->in)) {
        for (int64_t left = a->offset; left > 0; left -= (int64_t)got) {
            TRY(krein__bytes_read(s->in, skip, (size_t)krein__min(left, (int64_t)sizeof skip),
                                  &got));
            if (got == 0) {
                st = krein__fail(ctx, KREIN_EIO, "%s: the file changed while it was read", r->path);
                goto done;
            }
        }
    }
done:
    return st;
}

const krein_reader_class krein__read_npy = {
    .name = "npy", .open = npy_open, .begin = npy_begin, .next = npy_next, .close = npy_close};
