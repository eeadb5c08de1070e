/* lines.c -- chunks of whole rows, and what threads do with them; see lines.h.
 *
 *   row := field { delimiter field } '\n'        field := blanks ( '"' ... '"' rest | rest )
 *
 * A chunk without any quote is cut by looking for newlines. With quotes it is scanned once from
 * its start, which is always the start of a row: a quote means something only at the start of a
 * field, so counting quotes would be misled by 5" pipes.
 */
#include "file/lines.h"

#include <stdio.h>
#include <string.h>

enum { PIECES = 256, RUN = 240 }; /* RUN: whole vectors, below 256 */

/* ---- blocks -------------------------------------------------------------- */

krein_status krein__chunk_init(krein_reader *r, bool quotes, bool trim) {
    krein_ctx *ctx = r->ctx;
    krein_chunk *b = &r->state->block;
    krein_status st = KREIN_OK;
    b->quotes = quotes;
    b->trim = trim;
    /* several for each thread: one that is held up does not hold up the others */
    b->most = ctx->threads > 1 ? krein__min(4 * (int64_t)ctx->threads, PIECES) : 1;
    ZNEW(b->piece, b->most);
done:
    return st;
}

static void clear_dicts(krein_reader *r) {
    krein_chunk *b = &r->state->block;
    for (int64_t p = 0; b->piece && p < b->most; p++) {
        if (!b->piece[p].dict) continue;
        for (int64_t k = 0; k < r->state->ndict; k++)
            krein__dict_clear(r->ctx, &b->piece[p].dict[k]);
        krein__free(r->ctx, b->piece[p].dict);
        b->piece[p].dict = NULL;
    }
}

void krein__chunk_clear(krein_reader *r) {
    krein_chunk *b = &r->state->block;
    clear_dicts(r);
    krein__free(r->ctx, b->piece);
    krein__free(r->ctx, b->buf);
    *b = (krein_chunk){0};
}

krein_status krein__chunk_rewind(krein_reader *r) {
    krein_chunk *b = &r->state->block;
    b->begin = b->end = b->length = 0;
    b->byte = 0;
    b->line = 1;
    b->npiece = 0;
    b->target = r->state->buffer;
    b->eof = b->started = b->closed = b->added = false;
    return krein__bytes_rewind(r->state->in);
}

krein_status krein__chunk_seek(krein_reader *r, const krein_mark *to) {
    krein_chunk *b = &r->state->block;
    krein_status st = krein__bytes_seek(r->state->in, to->byte);
    b->byte = to->byte;
    b->line = to->line;
    b->started = true; /* no byte order mark here */
    r->state->row = to->row;
    return st;
}

static int64_t count_of(const char *p, const char *end, char c) {
    int64_t n = 0;
    while (p < end) { /* short runs keep the counter in bytes: the loop becomes SIMD */
        const char *stop = end - p > RUN ? p + RUN : end;
        uint8_t k = 0;
        for (; p < stop; p++) k = (uint8_t)(k + (*p == c));
        n += k;
    }
    return n;
}

char *krein__chunk_row_end(const krein_chunk *b, char *p, char *end, int64_t *lines) {
    char d = b->delimiter;
    bool start = true;
    if (!b->quotes) {
        p = memchr(p, '\n', (size_t)(end - p));
        if (p && lines) ++*lines;
        return p ? p + 1 : NULL;
    }
    for (; p < end; p++) {
        char c = *p;
        if (!start && d && d != ' ') /* nothing else matters behind the start of a field */
            while (c != d && c != '\n' && p + 1 < end) c = *++p;
        if (c == '\n') {
            if (lines) ++*lines;
            return p + 1;
        }
        if (c == '"' && start) {
            char *open = p++;
            for (;;) { /* to the closing quote; two in a row stand for one */
                p = memchr(p, '"', (size_t)(end - p));
                if (!p) return NULL;
                if (p[1] != '"') break; /* the buffer is padded */
                p += 2;
            }
            if (lines) *lines += count_of(open, p, '\n');
            start = false;
        } else {
            bool separates = d ? c == d : c == ',' || c == ';';
            start =
                separates || c == ' ' || c == '\t' ? start || separates || !d || d == ' ' : false;
        }
    }
    return NULL;
}

static bool blank_line(const krein_chunk *b, const char *p, const char *end) {
    for (; p < end; p++) {
        bool blank = *p == ' ' || *p == '\n' || *p == '\r' || (*p == '\t' && b->delimiter != '\t');
        if (!blank) return false;
    }
    return true;
}

/* Whole rows where there are quotes, one by one, and the pieces with them: one scan by one thread
 * is the price of quotes. */
static void scan(krein_chunk *b, char *begin, char *end) {
    int64_t rows = 0, lines = 0; /* blank ones, of which it is not known if they end the file */
    krein_piece *piece = NULL;
    b->end = b->begin;
    b->npiece = 0;
    for (char *p = begin, *q; p < end; p = q) {
        q = krein__chunk_row_end(b, p, end, &lines);
        if (!q) break;
        rows++;
        if (b->trim && blank_line(b, p, q)) continue;
        if (!piece ||
            (piece->end - begin >= (end - begin) / b->most * b->npiece && b->npiece < b->most)) {
            char *from = piece ? piece->end : begin;
            piece = &b->piece[b->npiece++];
            *piece = (krein_piece){.begin = from, .dict = piece->dict};
        }
        piece->rows += rows;
        piece->lines += lines;
        piece->end = q;
        rows = lines = 0;
        b->end = (size_t)(q - b->buf);
    }
}

static krein_status fill(krein_reader *r) {
    krein_chunk *b = &r->state->block;
    krein_status st = KREIN_OK;
    size_t got = 0;
    if (b->room < b->target) {
        /* old contents are few bytes or all of them: a row longer than the buffer */
        char *buf = krein__resize(r->ctx, b->buf, (int64_t)(b->target + KREIN__PAD), 1);
        if (!buf)
            return krein__prefix(r->ctx, r->ctx->status,
                                 "%s:%lld: a row of %lld bytes or more: ", r->path,
                                 (long long)b->line, (long long)b->length);
        b->buf = buf;
        b->room = b->target;
    }
    if (!b->eof && b->length < b->target) {
        size_t want = b->target - b->length;
        st = krein__bytes_read(r->state->in, b->buf + b->length, want, &got);
        b->length += got;
        b->eof = st == KREIN_OK && got < want;
    }
    memset(b->buf + b->length, 0, KREIN__PAD);
    if (!b->started && b->length >= 3 && !memcmp(b->buf, "\xef\xbb\xbf", 3)) b->begin = 3;
    if (b->length >= 3 || b->eof) b->started = true;
    if (b->eof && !b->closed) { /* the last row may lack its newline */
        b->added = b->length > b->begin && b->buf[b->length - 1] != '\n';
        if (b->added) b->buf[b->length++] = '\n';
        b->closed = true;
    }
    return st;
}

/* Sets end behind the last newline, or that of the last row that is not blank. */
static void find_last(krein_chunk *b) {
    char *begin = b->buf + b->begin;
    char *last = memrchr(begin, '\n', b->length - b->begin);
    last = last ? last + 1 : begin;
    while (b->trim && last > begin) {
        char *p = last - 1;
        while (p > begin && p[-1] != '\n') p--;
        if (!blank_line(b, p, last)) break;
        last = p;
    }
    b->end = (size_t)(last - b->buf);
}

/* Cuts [begin, end) at newlines; false if there are quotes. Threads look for these and count, as
 * the text is too long to be looked at by one thread more often than need be. */
static bool cut(krein_reader *r) {
    krein_chunk *b = &r->state->block;
    char *begin = b->buf + b->begin, *end = b->buf + b->end;
    int threads = r->ctx->threads;
    bool quoted = false;
    b->npiece = 0;
    for (char *p = begin, *q; p < end; p = q) {
        krein_piece *piece = &b->piece[b->npiece++];
        q = begin + (end - begin) / b->most * b->npiece;
        if (q <= p) q = p + 1;
        q = b->npiece == b->most || q >= end
                ? end
                : (char *)memchr(q - 1, '\n', (size_t)(end - q + 1)) + 1;
        *piece = (krein_piece){.begin = p, .end = q, .dict = piece->dict};
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) if (b->npiece > 1)              \
    reduction(||                                                                                   \
              : quoted)
    for (int64_t i = 0; i < b->npiece; i++) {
        krein_piece *piece = &b->piece[i];
        quoted =
            quoted || (b->quotes && memchr(piece->begin, '"', (size_t)(piece->end - piece->begin)));
        if (quoted) continue;
        piece->rows = piece->lines = count_of(piece->begin, piece->end, '\n');
        if (b->mark) piece->pairs = count_of(piece->begin, piece->end, b->mark);
    }
    return !quoted;
}

/* Finds the whole rows and cuts them into pieces; end is begin when there are none. */
static void find_rows(krein_reader *r) {
    krein_chunk *b = &r->state->block;
    find_last(b);
    if (b->end > b->begin && !cut(r)) scan(b, b->buf + b->begin, b->buf + b->length);
}

/* Where each piece's rows and lines begin. */
static void number_pieces(krein_chunk *b) {
    int64_t rows = 0, line = b->line;
    for (int64_t i = 0; i < b->npiece; i++) {
        b->piece[i].first_row = rows;
        b->piece[i].line = line;
        rows += b->piece[i].rows;
        line += b->piece[i].lines;
    }
}

krein_status krein__chunk_next(krein_reader *r, bool *empty) {
    krein_chunk *b = &r->state->block;
    krein_status st = KREIN_OK;
    *empty = false;
    for (int64_t i = 0; i < b->npiece; i++) b->line += b->piece[i].lines;
    b->npiece = 0;
    b->length -= b->end;
    b->byte += (int64_t)b->end;
    if (b->buf) memmove(b->buf, b->buf + b->end, b->length);
    b->begin = b->end = 0;
    b->target = b->room > r->state->buffer ? b->room : r->state->buffer;
    for (;;) {
        st = fill(r);
        r->bytes_done = krein__bytes_done(r->state->in);
        if (st == KREIN_EMEMORY && b->room < b->target) return st;
        find_rows(r);
        if (b->end > b->begin) break; /* rows before a read error come first */
        if (st) return st;
        if (b->eof) {
            char *p = b->buf + b->begin, *end = b->buf + b->length;
            if (blank_line(b, p, end)) {
                *empty = true;
                return KREIN_OK;
            }
            int64_t line = b->line; /* find the row that has no end behind the blank ones */
            for (char *q; (q = krein__chunk_row_end(b, p, end, &line));) p = q;
            return krein__fail(r->ctx, KREIN_EFORMAT,
                               "%s:%lld: a quoted field begins in this row and is never closed; "
                               "double the quotes inside quoted fields",
                               r->path, (long long)line);
        }
        if (b->length == b->target) b->target *= 2;
    }
    number_pieces(b);
    return KREIN_OK;
}

void krein__chunk_drop_row(krein_reader *r) {
    krein_chunk *b = &r->state->block;
    krein_piece *piece = &b->piece[0];
    int64_t lines = 0;
    piece->begin = krein__chunk_row_end(b, piece->begin, piece->end, &lines);
    b->begin = (size_t)(piece->begin - b->buf);
    b->line += lines;
    piece->rows--;
    piece->lines -= lines;
    number_pieces(b);
}

/* ---- roles and arrays ------------------------------------------------------ */

krein_status krein__rows_roles(krein_reader *r) {
    krein_ctx *ctx = r->ctx;
    struct krein_reader_state *s = r->state;
    krein_status st = KREIN_OK;
    int64_t once[6] = {0};
    char a[96], b[96];
    clear_dicts(r);
    s->nnum = s->ncat = s->nlabel = s->ndict = s->row = 0;
    for (int64_t j = 0; j < r->ncolumn; j++) {
        krein_column *c = &r->column[j];
        int64_t role = (int64_t)c->role;
        if (role < KREIN_ROLE_WEIGHT || role == KREIN_ROLE_IGNORE) continue;
        if (once[role]++) {
            for (int64_t i = 0; i < j; i++) {
                if (r->column[i].role != c->role) continue;
                return krein__fail(ctx, KREIN_EARG, "%s: %s and %s cannot both be the %s", r->path,
                                   krein__column_text(r, i, a), krein__column_text(r, j, b),
                                   role == KREIN_ROLE_WEIGHT  ? "row weight"
                                   : role == KREIN_ROLE_GROUP ? "group"
                                                              : "id");
            }
        }
        if (c->role == KREIN_ROLE_WEIGHT && c->text)
            return krein__fail(ctx, KREIN_EDATA,
                               "%s: %s holds text; row weights must be numbers >= 0", r->path,
                               krein__column_text(r, j, a));
    }
    if (!s->dict_column) NEW(s->dict_column, r->ncolumn);
    if (!s->dict_slot) NEW(s->dict_slot, r->ncolumn);
    for (int64_t j = 0; j < r->ncolumn; j++) {
        krein_column *c = &r->column[j];
        bool feature = c->role == KREIN_ROLE_FEATURE, label = c->role == KREIN_ROLE_LABEL;
        if ((feature && c->text && !c->frozen && !c->hashed) || (label && c->text) ||
            c->role == KREIN_ROLE_GROUP) {
            s->dict_slot[s->ndict] = feature ? s->ncat : label ? s->nlabel : 0;
            s->dict_column[s->ndict++] = j;
        }
        s->nnum += feature && !c->text ? krein__reading_parts(c->reading) : 0;
        s->ncat += feature && c->text;
        s->nlabel += label;
    }
    s->weight = once[KREIN_ROLE_WEIGHT];
    s->group = once[KREIN_ROLE_GROUP];
    s->id = once[KREIN_ROLE_ID];
    if (s->ndict)
        for (int64_t p = 0; p < s->block.most; p++) ZNEW(s->block.piece[p].dict, s->ndict);
done:
    return st;
}

static krein_status room(krein_reader *r, krein_raw *raw, int k, void *array, bool wanted,
                         int64_t count, size_t size) {
    void *p;
    memcpy(&p, array, sizeof p);
    if (wanted && p && raw->room[k] >= count) return KREIN_OK;
    krein__free(r->ctx, p);
    p = NULL;
    raw->room[k] = 0;
    if (wanted) {
        count += count / 8; /* blocks of text do not hold the same number of rows each */
        p = krein__alloc(r->ctx, count, size);
        if (p) raw->room[k] = count;
    }
    memcpy(array, &p, sizeof p);
    return wanted && !p ? r->ctx->status : KREIN_OK;
}

krein_status krein__rows_room(krein_reader *r, krein_raw *raw, int64_t n, int64_t nnz,
                              int64_t id_bytes) {
    struct krein_reader_state *s = r->state;
    krein_status st = KREIN_OK;
    raw->n = 0;
    raw->nnum = s->nnum;
    raw->ncat = s->ncat;
    raw->nlabel = s->nlabel;
    raw->any_missing = false;
    raw->from = (krein_mark){s->row, s->block.byte + (int64_t)s->block.begin, s->block.line, 0};
    if (s->nnum + s->ncat + s->nlabel > 0 && n > INT64_MAX / 16 / (s->nnum + s->ncat + s->nlabel))
        return krein__fail(r->ctx, KREIN_EMEMORY, "%s: rows too long", r->path);
    bool some = s->nnum > 0, bytes = some && r->in_bytes;
    TRY(room(r, raw, 0, &raw->num, some && !bytes, n * s->nnum, sizeof *raw->num));
    TRY(room(r, raw, 1, &raw->cat, s->ncat > 0, n * s->ncat, sizeof *raw->cat));
    TRY(room(r, raw, 2, &raw->label, s->nlabel > 0, n * s->nlabel, sizeof *raw->label));
    TRY(room(r, raw, 3, &raw->weight, s->weight, n, sizeof *raw->weight));
    TRY(room(r, raw, 4, &raw->group, s->group, n, sizeof *raw->group));
    TRY(room(r, raw, 5, &raw->id, s->id, n, sizeof *raw->id));
    TRY(room(r, raw, 6, &raw->id_text, s->id, id_bytes, 1));
    TRY(room(r, raw, 7, &raw->ptr, r->sparse, n + 1, sizeof *raw->ptr));
    TRY(room(r, raw, 8, &raw->col, r->sparse, nnz, sizeof *raw->col));
    TRY(room(r, raw, 9, &raw->val, r->sparse, nnz, sizeof *raw->val));
    TRY(room(r, raw, 10, &raw->byte, bytes, n * s->nnum, sizeof *raw->byte));
done:
    return st;
}

/* ---- dictionaries that grow in parallel ------------------------------------ */

int64_t krein__rows_code(krein_reader *r, krein_piece *piece, int64_t j, int64_t k,
                         const char *word, size_t length) {
    const krein_column *c = &r->column[j];
    const krein_dict *known = &c->dict;
    if (c->hashed) return krein__word_hash(word, length);
    int64_t code = krein__dict_find(known, word, length);
    if (code >= 0) return code;
    if (k < 0 || (c->role == KREIN_ROLE_FEATURE && known->n >= KREIN_WORDS_MAX)) return -2;
    code = krein__dict_find(&piece->dict[k], word, length);
    if (code < 0) {
        /* the context's message is not for several threads at once */
#pragma omp critical(krein__rows_words)
        code = krein__dict_add(r->ctx, &piece->dict[k], word, length);
        if (code < 0) {
            piece->status = KREIN_EMEMORY;
            piece->text[0] = 0;
            return -3;
        }
    }
    return known->n + code;
}

/* -2: a text feature has as many words as it may. */
int64_t krein__dict_word(krein_ctx *ctx, krein_dict *d, const char *word, bool feature) {
    size_t length = strlen(word);
    if (!feature || d->n < KREIN_WORDS_MAX) return krein__dict_add(ctx, d, word, length);
    int64_t code = krein__dict_find(d, word, length);
    return code < 0 ? -2 : code;
}

static void recode(const krein_reader *r, krein_raw *raw, const krein_piece *piece, int64_t k,
                   int64_t base, const int64_t *code) {
    const struct krein_reader_state *s = r->state;
    krein_role role = r->column[s->dict_column[k]].role;
    int64_t slot = s->dict_slot[k];
    for (int64_t i = piece->first_row; i < piece->first_row + piece->got_rows; i++) {
        if (role == KREIN_ROLE_LABEL) {
            double *v = &raw->label[i * raw->nlabel + slot];
            if (*v >= (double)base) *v = (double)code[(int64_t)*v - base];
        } else {
            int32_t *v =
                role == KREIN_ROLE_GROUP ? &raw->group[i] : &raw->cat[i * raw->ncat + slot];
            if (*v >= base) *v = (int32_t)code[*v - base];
        }
    }
}

krein_status krein__rows_merge(krein_reader *r, krein_raw *raw) {
    krein_ctx *ctx = r->ctx;
    krein_chunk *b = &r->state->block;
    krein_status st = KREIN_OK;
    int64_t *code = NULL;
    for (int64_t k = 0; k < r->state->ndict; k++) {
        const krein_column *c = &r->column[r->state->dict_column[k]];
        krein_dict *all = &r->column[r->state->dict_column[k]].dict;
        int64_t base = all->n;
        for (int64_t p = 0; p < b->npiece; p++) {
            krein_dict *some = &b->piece[p].dict[k];
            if (some->n == 0) continue;
            NEW(code, some->n);
            for (int64_t i = 0; i < some->n; i++) {
                code[i] = krein__dict_word(ctx, all, some->word[i], c->role == KREIN_ROLE_FEATURE);
                if (code[i] == -1) {
                    st = ctx->status;
                    goto done;
                }
            }
            recode(r, raw, &b->piece[p], k, base, code);
            krein__free(ctx, code);
            code = NULL;
            krein__dict_clear(ctx, some);
        }
    }
done:
    krein__free(ctx, code);
    return st;
}

/* ---- errors ------------------------------------------------------------------ */

char *krein__rows_fail(krein_piece *piece, krein_status status, const char *at, const char *format,
                       ...) {
    va_list args;
    piece->status = status;
    piece->bad_line = piece->line + count_of(piece->begin, at, '\n');
    va_start(args, format);
    vsnprintf(piece->text, sizeof piece->text, format, args);
    va_end(args);
    return NULL;
}

krein_status krein__rows_status(krein_reader *r) {
    const krein_chunk *b = &r->state->block;
    for (int64_t i = 0; i < b->npiece; i++) {
        const krein_piece *p = &b->piece[i];
        if (p->status && p->text[0])
            return krein__fail(r->ctx, p->status, "%s:%lld: %s", r->path, (long long)p->bad_line,
                               p->text);
        if (p->status) return p->status;
    }
    return KREIN_OK;
}

const char *krein__column_text(const krein_reader *r, int64_t j, char *buf) {
    const char *name = r->column[j].name;
    char shown[48];
    if (name)
        snprintf(buf, 96, "column %lld (%s)", (long long)krein__reader_number(r, j),
                 krein__cell_text(name, strlen(name), shown));
    else
        snprintf(buf, 96, "column %lld", (long long)krein__reader_number(r, j));
    return buf;
}

const char *krein__cell_text(const char *text, size_t length, char *buf) {
    size_t n = length <= 40 ? length : 37;
    /* not through the middle of a UTF-8 character */
    while (n < length && n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80) n--;
    memcpy(buf, text, n);
    memcpy(buf + n, n < length ? "..." : "", n < length ? 4 : 1);
    return buf;
}
