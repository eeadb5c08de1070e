/* read_npy.c -- NumPy arrays: n x d or n numbers, C or Fortran order, either byte order.
 *
 * Nothing is mapped: a batch reads its rows (Fortran order: its part of every column) with pread,
 * so resident memory stays at one buffer. Images (n x h x w x c) are rows of h w c numbers; bytes
 * stay bytes where no shift is taken from them. Gzipped arrays are read in sequence, in Fortran
 * order after unpacking into a temporary file. The format is in npy.c.
 */
#include "file/npy.h"
#include "file/lines.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ID = 40, LOOK = 1000 };

typedef struct npy {
    krein_npy h;
    int64_t i; /* rows read */
    unsigned char *buf;
    int64_t room;  /* rows */
    int64_t *run;  /* d: so many features from this column on that can be taken at once */
    double *shift; /* d */
} npy;

static void npy_close(krein_reader *r) {
    npy *a = r->state->own;
    if (a) {
        krein__free(r->ctx, a->buf);
        krein__free(r->ctx, a->run);
        krein__free(r->ctx, a->shift);
    }
    krein__free(r->ctx, a);
    r->state->own = NULL;
}

/* ---- rows ---------------------------------------------------------------------------- */

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
                 ? ": the row has no label; give it one, or drop such rows with `missing=drop`"
             : isnan(v) ? "; drop such rows with `missing=drop` or fill them with `missing=mean`"
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
        if (raw->byte) {
            raw->byte[i * raw->nnum + (*num)++] = (uint8_t)v;
            break;
        }
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

/* Rows of floats in this machine's byte order are most of what there is, and a file larger than
 * memory is read several times: their features are taken a run at a time. False: one of them is not
 * a finite number, and take() knows what that means. */
static bool take_run(const npy *a, int64_t j, const unsigned char *p, float *out) {
    const double *shift = a->shift + j;
    int64_t n = a->run[j];
    uint32_t bad = 0;
    for (int64_t k = 0; k < n && a->h.size == 4; k++) {
        float v;
        memcpy(&v, p + 4 * k, sizeof v);
        out[k] = (float)((double)v - shift[k]);
    }
    for (int64_t k = 0; k < n && a->h.size == 8; k++) {
        double v;
        memcpy(&v, p + 8 * k, sizeof v);
        out[k] = (float)(v - shift[k]);
    }
    for (int64_t k = 0; k < n; k++) {
        uint32_t bits;
        memcpy(&bits, out + k, sizeof bits);
        bad |= (bits & 0x7f800000) == 0x7f800000;
    }
    return !bad;
}

/* Bytes that nothing is taken from stay as they are. */
static bool in_bytes(const krein_reader *r, const npy *a) {
    if (a->h.size != 1 || a->h.kind != 'u') return false;
    for (int64_t j = 0; j < a->h.d; j++)
        if (r->column[j].role == KREIN_ROLE_FEATURE && r->column[j].shift != 0) return false;
    return true;
}

static void find_runs(const krein_reader *r, npy *a) {
    bool plain =
        (r->in_bytes || (a->h.kind == 'f' && a->h.size >= 4 && !a->h.swap)) && !a->h.fortran;
    for (int64_t j = a->h.d - 1; j >= 0; j--) {
        bool feature = plain && r->column[j].role == KREIN_ROLE_FEATURE;
        a->run[j] = !feature ? 0 : j + 1 < a->h.d ? a->run[j + 1] + 1 : 1;
        a->shift[j] = r->column[j].shift;
    }
}

static void convert(krein_reader *r, krein_raw *raw, krein_piece *piece, int64_t m) {
    const npy *a = r->state->own;
    int64_t si = a->h.fortran ? a->h.size : a->h.d * a->h.size,
            sj = a->h.fortran ? m * a->h.size : a->h.size;
    piece->got_rows = piece->rows;
    for (int64_t i = piece->first_row; i < piece->first_row + piece->rows; i++) {
        const unsigned char *p = a->buf + i * si;
        int64_t num = 0, label = 0;
        for (int64_t j = 0; j < a->h.d;) {
            int64_t n = a->run[j];
            if (n > 0 && raw->byte) {
                memcpy(raw->byte + i * raw->nnum + num, p + j, (size_t)n);
                num += n;
                j += n;
                continue;
            }
            if (n > 0 && take_run(a, j, p + j * sj, raw->num + i * raw->nnum + num)) {
                num += n;
                j += n;
                continue;
            }
            for (int64_t end = j + krein__max(n, 1); j < end; j++)
                if (!take(r, raw, piece, i, j, krein__npy_element(&a->h, p + j * sj), &num, &label))
                    return;
        }
    }
}

/* m rows from row a->i on into buf; *m become the rows there are before an error. */
static krein_status fetch(krein_reader *r, npy *a, int64_t *m) {
    krein_bytes *in = r->state->in;
    krein_status st = KREIN_OK;
    size_t row = (size_t)(a->h.d * a->h.size), got, part = (size_t)(*m * a->h.size);
    size_t all = (size_t)*m * row;
    if (a->h.fortran) {
        for (int64_t j = 0; j < a->h.d && !st; j++)
            st = krein__bytes_at(in, a->h.offset + (j * a->h.n + a->i) * a->h.size,
                                 a->buf + (size_t)j * part, part);
    } else if (!krein__bytes_gzip(in)) {
        st = krein__bytes_at(in, a->h.offset + a->i * (int64_t)row, a->buf, all);
    } else {
        st = krein__bytes_read(in, a->buf, all, &got);
        if (!st && got < all) st = krein__npy_wrong_size(r->ctx, r->path, &a->h, "shorter");
        *m = (int64_t)(got / row);
        return st;
    }
    if (st) *m = 0;
    return st;
}

static krein_status npy_next(krein_reader *r, krein_raw *raw) {
    krein_ctx *ctx = r->ctx;
    struct krein_reader_state *s = r->state;
    krein_chunk *b = &s->block;
    npy *a = s->own;
    krein_status st = KREIN_OK;
    int threads = ctx->threads;
    int64_t m = krein__min(a->room, a->h.n - a->i);
    raw->n = 0;
    TRY(krein__rows_room(r, raw, m, 0, m * ID));
    if (m == 0) goto done;
    if (!a->buf) NEW(a->buf, a->room * a->h.d * a->h.size);
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
    if (!torn && a->i == a->h.n && krein__bytes_gzip(s->in)) {
        size_t got;
        TRY(krein__bytes_read(s->in, a->buf, 1, &got));
        if (got) {
            st = krein__npy_wrong_size(r->ctx, r->path, &a->h, "longer");
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
    r->in_bytes = in_bytes(r, a);
    find_runs(r, a);
    TRY(krein__bytes_rewind(s->in));
    a->i = 0;
    a->room = krein__max(1, krein__min((int64_t)s->buffer / (a->h.d * a->h.size), a->h.n));
    if (krein__bytes_gzip(s->in)) {
        for (int64_t left = a->h.offset; left > 0; left -= (int64_t)got) {
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

/* The first number of every column, a good shift. What is wrong with the file is said when it is
 * read. */
static krein_status look(krein_reader *r) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    npy *a = r->state->own;
    int64_t si = a->h.fortran ? a->h.size : a->h.d * a->h.size, missing = a->h.d;
    bool *found = NULL;
    ZNEW(found, a->h.d);
    TRY(npy_begin(r));
    a->room = krein__min(a->room, LOOK);
    NEW(a->buf, a->room * a->h.d * a->h.size);
    while (missing > 0 && a->i < krein__min(LOOK, a->h.n)) {
        int64_t m = krein__min(a->room, a->h.n - a->i);
        bool torn = fetch(r, a, &m) != KREIN_OK;
        int64_t sj = a->h.fortran ? m * a->h.size : a->h.size;
        for (int64_t i = 0; i < m && a->i + i < LOOK; i++)
            for (int64_t j = 0; j < a->h.d; j++) {
                double v = found[j] ? NAN : krein__npy_element(&a->h, a->buf + i * si + j * sj);
                if (!isfinite(v)) continue;
                r->column[j].first = v;
                found[j] = true;
                missing--;
            }
        a->i += m;
        if (torn || m == 0) break;
    }
done:
    krein__free(ctx, a->buf);
    krein__free(ctx, found);
    a->buf = NULL;
    return st;
}

static krein_status npy_open(krein_reader *r, const krein_reader_options *options) {
    krein_ctx *ctx = r->ctx;
    krein_bytes *in = r->state->in;
    krein_status st = KREIN_OK;
    npy *a;
    (void)options;
    ZNEW(a, 1);
    r->state->own = a;
    TRY(krein__npy_open(ctx, r->path, in, &a->h));
    if (!krein__bytes_gzip(in)) TRY(krein__npy_check_size(ctx, r->path, in, &a->h));
    ZNEW(r->column, a->h.d);
    r->ncolumn = a->h.d;
    ZNEW(a->run, a->h.d);
    ZNEW(a->shift, a->h.d);
    /* No more is unpacked than the header asks for, and one byte to see that there is more. */
    if (a->h.fortran) {
        TRY(krein__bytes_spool(in, a->h.offset + a->h.n * a->h.d * a->h.size + 1));
        TRY(krein__npy_check_size(ctx, r->path, in, &a->h));
    }
    if (!krein__bytes_gzip(in)) r->bytes = krein__bytes_size(in);
    r->n = a->h.n;
    memcpy(r->image, a->h.image, sizeof r->image);
    TRY(krein__chunk_init(r, false, false));
    TRY(look(r));
done:
    return st;
}

static krein_status npy_seek(krein_reader *r, const krein_mark *to) {
    npy *a = r->state->own;
    if (to->row > a->h.n)
        return krein__fail(r->ctx, KREIN_EIO, "%s: the file is shorter than it was", r->path);
    a->i = r->state->row = to->row;
    if (a->h.fortran) return KREIN_OK;
    return krein__bytes_seek(r->state->in, a->h.offset + to->row * a->h.d * a->h.size);
}

const krein_reader_class krein__read_npy = {.name = "npy",
                                            .open = npy_open,
                                            .begin = npy_begin,
                                            .next = npy_next,
                                            .seek = npy_seek,
                                            .close = npy_close};
