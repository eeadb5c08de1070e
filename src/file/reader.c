/* reader.c -- opens a data file: finds the format, hands over to read_csv, read_libsvm, read_npy.
 *
 * By content, after unpacking: "\x93NUMPY" is NPY; if every field behind the first of every line
 * at the beginning (64 KB) has the form index:number, LIBSVM; else CSV.
 */
#include "file/reader.h"

#include "base/text.h"
#include "file/lines.h"

#include <stdlib.h>
#include <string.h>

enum { HEAD = 1 << 16, BUFFER = 4 << 20, SMALL = 1 << 16, LEAST = 16, SHOWN = 8 };

static const krein_reader_class *const classes[] = {
    [KREIN_FORMAT_CSV] = &krein__read_csv,
    [KREIN_FORMAT_LIBSVM] = &krein__read_libsvm,
    [KREIN_FORMAT_NPY] = &krein__read_npy,
};

void krein__raw_clear(krein_ctx *ctx, krein_raw *raw) {
    krein__free(ctx, raw->num);
    krein__free(ctx, raw->byte);
    krein__free(ctx, raw->cat);
    krein__free(ctx, raw->label);
    krein__free(ctx, raw->weight);
    krein__free(ctx, raw->group);
    krein__free(ctx, raw->id);
    krein__free(ctx, raw->id_text);
    krein__free(ctx, raw->ptr);
    krein__free(ctx, raw->col);
    krein__free(ctx, raw->val);
    *raw = (krein_raw){0};
}

static krein_status sniff(krein_reader *r) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    char *head = NULL, *text;
    size_t got, length;
    NEW(head, HEAD + KREIN__PAD);
    st = krein__bytes_read(r->state->in, head, HEAD, &got);
    if (got == 0) { /* a damaged file that yields something is reported where it breaks off */
        if (!st) st = krein__fail(ctx, KREIN_EFORMAT, "%s: the file is empty", r->path);
        goto done;
    }
    st = KREIN_OK;
    memset(head + got, 0, KREIN__PAD);
    r->format = KREIN_FORMAT_CSV;
    if (got >= 6 && !memcmp(head, "\x93NUMPY", 6)) {
        r->format = KREIN_FORMAT_NPY;
        goto done;
    }
    if (got >= 2 && (!memcmp(head, "\xff\xfe", 2) || !memcmp(head, "\xfe\xff", 2))) {
        st = krein__fail(ctx, KREIN_EFORMAT,
                         "%s: the text is UTF-16; convert it, for example with iconv -t UTF-8",
                         r->path);
        goto done;
    }
    if (memchr(head, 0, got)) {
        st = krein__fail(ctx, KREIN_EFORMAT,
                         "%s: binary data, neither CSV, LIBSVM nor NPY (nor gzip of these)",
                         r->path);
        goto done;
    }
    text = got >= 3 && !memcmp(head, "\xef\xbb\xbf", 3) ? head + 3 : head;
    length = (size_t)(head + got - text);
    if (got == HEAD) { /* not the line, or at least the field, that is cut off */
        size_t n = length;
        while (n > 0 && text[n - 1] != '\n') n--;
        if (n == 0) {
            n = length;
            while (n > 0 && text[n - 1] != ' ') n--;
        }
        length = n;
    }
    text[length] = '\n'; /* a sentinel: behind the last field, or instead of one cut off */
    if (krein__libsvm_looks(text, length)) r->format = KREIN_FORMAT_LIBSVM;
done:
    krein__free(ctx, head);
    return st;
}

size_t krein__reader_good_buffer(const krein_reader *r, const krein_reader_options *options) {
    enum { RATIO = 8 }; /* by which gzip makes numbers shorter, about */
    uint64_t wanted = (uint64_t)BUFFER * (uint64_t)r->ctx->threads, most = r->ctx->budget / 32;
    uint64_t content = r->bytes < 0 ? wanted : (uint64_t)r->bytes * (r->gzip ? RATIO : 1) + SMALL;
    if (options->buffer) return options->buffer < LEAST ? LEAST : options->buffer;
    if (content < wanted) wanted = content;
    if (most < SMALL) most = SMALL;
    return (size_t)(wanted < most ? wanted : most);
}

static krein_status open_file(krein_ctx *ctx, const char *path, const krein_reader_options *options,
                              krein_reader **out) {
    krein_status st = KREIN_OK;
    krein_reader *r = NULL;
    ZNEW(r, 1);
    r->ctx = ctx;
    r->n = r->bytes = -1;
    DUP(r->path, path);
    ZNEW(r->state, 1);
    TRY(krein__bytes_open(ctx, r->path, &r->state->in));
    r->gzip = krein__bytes_gzip(r->state->in);
    r->bytes = krein__bytes_size(r->state->in);
    r->state->buffer = krein__reader_good_buffer(r, options);
    if (options->format) {
        int k = 0;
        while (k < 3 && strcmp(options->format, classes[k]->name)) k++;
        if (k == 3) {
            st = krein__fail(ctx, KREIN_EARG, "`format=%s` is not known; csv, libsvm or npy",
                             options->format);
            goto done;
        }
        r->format = (krein_format)k;
    } else {
        TRY(sniff(r));
    }
    r->cls = classes[r->format];
    TRY(r->cls->open(r, options));
    *out = r;
    r = NULL;
done:
    krein__reader_close(r);
    return st;
}

krein_status krein__reader_open(krein_ctx *ctx, const char *path,
                                const krein_reader_options *options, krein_reader **out) {
    static const krein_reader_options standard = {.header = -1};
    char **file = NULL;
    int64_t n = 0;
    *out = NULL;
    if (!options) options = &standard;
    krein_status st = krein__files_match(ctx, path, &file, &n);
    if (st != KREIN_OK) return st;
    if (n > 1) return krein__chain_open(ctx, path, file, n, options, out);
    st = open_file(ctx, n == 1 ? file[0] : path, options, out);
    krein__files_free(ctx, file, n);
    return st;
}

krein_status krein__reader_begin(krein_reader *r) {
    r->bytes_done = 0;
    return r->cls->begin(r);
}

krein_status krein__reader_seek(krein_reader *r, const krein_mark *to) {
    return to->row > 0 ? r->cls->seek(r, to) : KREIN_OK;
}

void krein__reader_use(krein_reader *r, krein_ctx *ctx) {
    r->ctx = ctx;
    if (r->state->in) krein__bytes_use(r->state->in, ctx);
    if (r->cls->use) r->cls->use(r, ctx);
}

double krein__reader_bytes(const krein_reader *r) { return 3 * (double)r->state->buffer; }

void krein__reader_buffer(krein_reader *r, size_t bytes) {
    krein_chunk *b = &r->state->block;
    r->state->buffer = bytes;
    krein__free(r->ctx, b->buf); /* what looked at the file had a larger one */
    b->buf = NULL;
    b->room = b->begin = b->end = b->length = 0;
    b->npiece = 0;
}

krein_status krein__reader_next(krein_reader *r, krein_raw *raw) {
    double start = krein__clock();
    raw->n = 0;
    krein_status st = krein__poll(r->ctx);
    if (!st) st = r->cls->next(r, raw);
    if (st) raw->n = 0;
    r->seconds += krein__clock() - start;
    return st;
}

void krein__reader_close(krein_reader *r) {
    if (!r) return;
    krein_ctx *ctx = r->ctx;
    if (r->state) {
        if (r->cls) r->cls->close(r);
        krein__chunk_clear(r);
        krein__free(ctx, r->state->dict_column);
        krein__free(ctx, r->state->dict_slot);
        krein__bytes_close(r->state->in);
    }
    for (int64_t j = 0; r->column && j < r->ncolumn; j++) {
        krein__free(ctx, r->column[j].name);
        krein__dict_clear(ctx, &r->column[j].dict);
    }
    krein__free(ctx, r->column);
    krein__free(ctx, r->state);
    krein__free(ctx, r->path);
    krein__free(ctx, r);
}

/* Columns that a number can mean: not those that are no columns to the caller. */
static void numbered(const krein_reader *r, int64_t *first, int64_t *count) {
    int64_t low = 0, high = r->ncolumn;
    while (low < high && r->column[low].given == KREIN_ROLE_LABEL) low++;
    while (high > low && r->column[high - 1].given != KREIN_ROLE_FEATURE) high--;
    *first = low;
    *count = high - low;
}

int64_t krein__reader_number(const krein_reader *r, int64_t j) {
    int64_t first, count;
    numbered(r, &first, &count);
    return j - first + 1;
}

/* ---- which column is meant ---------------------------------------------------------- */

static krein_status not_found(krein_reader *r, const char *word, const char *option) {
    char list[KREIN__MESSAGE / 2] = "", cell[48], shown[48];
    const char *nearest = NULL;
    int64_t best = 1 + (int64_t)strnlen(word, KREIN_NAME_CUT) / 2;
    size_t used = 0;
    int64_t n = 0, first, count;
    krein__cell_text(word, strlen(word), shown);
    numbered(r, &first, &count);
    for (int64_t j = 0; j < r->ncolumn; j++) {
        const char *name = r->column[j].name;
        if (!name || r->column[j].given != KREIN_ROLE_FEATURE) continue;
        int64_t k = krein__edit_distance(word, name);
        if (k < best) {
            best = k;
            nearest = name;
        }
        if (n++ >= SHOWN) continue;
        krein__cell_text(name, strlen(name), cell);
        size_t k2 = strlen(cell);
        memcpy(list + used, ", ", 2);
        memcpy(list + used + 2, cell, k2 + 1);
        used += k2 + 2;
    }
    if (n == 0)
        return krein__fail(r->ctx, KREIN_EARG,
                           "%s %s: %s has no column names; give a number from 1 to %lld, first or "
                           "last",
                           option, shown, r->path, (long long)count);
    if (nearest)
        return krein__fail(r->ctx, KREIN_EARG,
                           "%s %s: no such column in %s; did you mean \"%s\"? There are %s%s, or a "
                           "number from 1 to %lld",
                           option, shown, r->path, krein__cell_text(nearest, strlen(nearest), cell),
                           list + 2, n > SHOWN ? ", ..." : "", (long long)count);
    return krein__fail(r->ctx, KREIN_EARG,
                       "%s %s: no such column in %s; there are %s%s, or a number from 1 to %lld",
                       option, shown, r->path, list + 2, n > SHOWN ? ", ..." : "",
                       (long long)count);
}

krein_status krein__reader_find(krein_reader *r, const char *word, const char *option,
                                int64_t *out) {
    int64_t found = -1, number = 0, first, count;
    *out = -1;
    numbered(r, &first, &count);
    for (int64_t j = 0; j < r->ncolumn; j++) {
        if (!r->column[j].name || strcmp(r->column[j].name, word)) continue;
        if (found >= 0) {
            char shown[48];
            return krein__fail(r->ctx, KREIN_EARG,
                               "%s %s: columns %lld and %lld of %s both have this name; use the "
                               "number",
                               option, krein__cell_text(word, strlen(word), shown),
                               (long long)found + 1, (long long)j + 1, r->path);
        }
        found = j;
    }
    if (found < 0 && !strcmp(word, "first")) found = first;
    if (found < 0 && !strcmp(word, "last")) found = first + count - 1;
    if (found < 0 && *word) {
        const char *p = word;
        for (; *p >= '0' && *p <= '9' && number <= count; p++) number = number * 10 + *p - '0';
        if (!*p && number >= 1 && number <= count) found = first + number - 1;
    }
    if (found < 0) return not_found(r, word, option);
    *out = found;
    return KREIN_OK;
}
