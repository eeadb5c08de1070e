/* read_chain.c -- several files that match a pattern, read as if they were one.
 *
 * One file at a time is open, with a reader of its own; the columns (roles, shifts, dictionaries)
 * are those of all files together and are lent to it. It numbers rows and lines from its own start,
 * so that messages name the file at fault; what is handed on counts from the start of the data.
 *
 * The files must be alike: format, delimiter, number of columns, header. Before the first row the
 * beginning of each is looked at (of the first 1,000 of them): a column is text when one of them
 * has text there. Empty files are left out: a program that writes in parts may leave
 * some empty.
 */
#include "file/lines.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LOOKED = 1000 };

typedef struct chain {
    char **file;
    int64_t nfile;
    int64_t *bytes; /* before each file, and of all: nfile + 1 */
    int64_t *rows;  /* the same; NULL where they are not known beforehand */
    const char *format;
    char delimiter;
    krein_reader *open; /* the reader of file `at`, or NULL */
    krein_column *own;  /* its columns, while it has those of all files */
    int64_t at;
    int64_t before; /* what its row numbers lack */
} chain;

/* ---- patterns -------------------------------------------------------------------------------- */

static int by_bytes(const void *a, const void *b) {
    const char *x, *y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return strcmp(x, y);
}

void krein__files_free(krein_ctx *ctx, char **file, int64_t n) {
    for (int64_t k = 0; file && k < n; k++) krein__free(ctx, file[k]);
    krein__free(ctx, file);
}

krein_status krein__files_match(krein_ctx *ctx, const char *path, char ***file, int64_t *n) {
    krein_status st = KREIN_OK;
    glob_t found = {0};
    struct stat info;
    *file = NULL;
    *n = 0;
    if (!strpbrk(path, "*?[") || stat(path, &info) == 0) return st;
    int code = glob(path, GLOB_NOSORT, NULL, &found);
    if (code != 0) {
        st = code == GLOB_NOMATCH
                 ? krein__fail(ctx, KREIN_EIO,
                               "%s: there is no such file, and none that matches "
                               "it as a pattern",
                               path)
                 : krein__fail(ctx, code == GLOB_NOSPACE ? KREIN_EMEMORY : KREIN_EIO,
                               "%s: the files that match cannot be listed: %s", path,
                               strerror(errno));
        goto done;
    }
    /* not in the order of a locale: the rows' order must not depend on it */
    qsort(found.gl_pathv, found.gl_pathc, sizeof *found.gl_pathv, by_bytes);
    ZNEW(*file, (int64_t)found.gl_pathc);
    for (; *n < (int64_t)found.gl_pathc; ++*n) DUP((*file)[*n], found.gl_pathv[*n]);
done:
    globfree(&found);
    if (st != KREIN_OK) {
        krein__files_free(ctx, *file, *n);
        *file = NULL;
        *n = 0;
    }
    return st;
}

/* ---- one of the files ------------------------------------------------------------------------ */

static void leave(krein_reader *r) {
    chain *c = r->state->own;
    if (!c->open) return;
    if (c->own) c->open->column = c->own;
    c->own = NULL;
    krein__reader_close(c->open);
    c->open = NULL;
}

static krein_status unlike_names(krein_reader *r, const krein_reader *one) {
    const chain *c = r->state->own;
    char here[48], there[48];
    for (int64_t j = 0; j < r->ncolumn; j++) {
        const char *a = r->column[j].name ? r->column[j].name : "",
                   *b = one->column[j].name ? one->column[j].name : "";
        if (strcmp(a, b) != 0)
            return krein__fail(
                r->ctx, KREIN_EFORMAT,
                "%s: the header has \"%s\" for column %lld, that of %s \"%s\"; files "
                "read together need the same columns in the same order",
                one->path, krein__cell_text(b, strlen(b), here), (long long)j + 1, c->file[0],
                krein__cell_text(a, strlen(a), there));
    }
    return KREIN_OK;
}

/* What is not as in the first file. */
static krein_status unlike(krein_reader *r, const krein_reader *one) {
    const chain *c = r->state->own;
    if (r->format != one->format)
        return krein__fail(r->ctx, KREIN_EFORMAT,
                           "%s looks like %s, but %s like %s; files read together need one format: "
                           "convert them, or say which it is with `format`",
                           one->path, one->cls->name, c->file[0], c->format);
    if (r->ncolumn != one->ncolumn)
        return krein__fail(r->ctx, KREIN_EFORMAT,
                           "%s has %lld column%s, but %s has %lld; files read together need the "
                           "same columns",
                           one->path, (long long)one->ncolumn, one->ncolumn == 1 ? "" : "s",
                           c->file[0], (long long)r->ncolumn);
    if (memcmp(r->image, one->image, sizeof r->image) != 0)
        return krein__fail(r->ctx, KREIN_EFORMAT,
                           "%s has images of another shape than %s; files read together need the "
                           "same",
                           one->path, c->file[0]);
    if (r->header != one->header)
        return krein__fail(r->ctx, KREIN_EFORMAT,
                           "%s has %s, but %s has %s; files read together have it all or none: if "
                           "that is only the look of them, say `header=yes` or `header=no`",
                           one->path, one->header ? "a header" : "no header", c->file[0],
                           r->header ? "one" : "none");
    return r->header ? unlike_names(r, one) : KREIN_OK;
}

/* As the first file was; no more than a header is looked at. */
static krein_status enter(krein_reader *r, int64_t k) {
    chain *c = r->state->own;
    krein_status st = KREIN_OK;
    const krein_reader_options like = {.format = c->format,
                                       .delimiter = c->delimiter,
                                       .header = r->header,
                                       .buffer = r->state->buffer,
                                       .look = 1};
    if (!c->open || c->at != k) {
        leave(r);
        c->at = k;
        TRY(krein__reader_open(r->ctx, c->file[k], &like, &c->open));
        TRY(unlike(r, c->open));
        c->own = c->open->column;
        c->open->column = r->column;
    }
    if (c->open->state->buffer != r->state->buffer) krein__reader_buffer(c->open, r->state->buffer);
done:
    if (st != KREIN_OK) leave(r);
    return st;
}

static krein_status begin(krein_reader *r, int64_t k, int64_t before) {
    chain *c = r->state->own;
    krein_status st = enter(r, k);
    if (st != KREIN_OK) return st;
    krein_reader *one = c->open;
    one->missing_ok = r->missing_ok;
    one->label_optional = r->label_optional;
    one->known_only = r->known_only;
    one->max_index = r->max_index;
    one->d = r->d;
    c->before = before;
    return krein__reader_begin(one);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static krein_status chain_begin(krein_reader *r) { return begin(r, 0, 0); }

static krein_status chain_next(krein_reader *r, krein_raw *raw) {
    chain *c = r->state->own;
    krein_status st = KREIN_OK;
    raw->n = 0;
    if (!c->open) /* it could not be opened, and that was reported */
        return krein__fail(r->ctx, KREIN_EIO, "%s: reading has ended with an error", r->path);
    for (;;) {
        krein_reader *one = c->open;
        TRY(krein__reader_next(one, raw));
        r->bytes_done = c->bytes[c->at] + one->bytes_done;
        if (one->d > r->d) r->d = one->d;
        if (raw->n > 0 || c->at == c->nfile - 1) break;
        TRY(begin(r, c->at + 1, c->before + one->state->row));
    }
    raw->from.row += c->before;
    raw->from.file = c->at;
done:
    return st;
}

static krein_status chain_seek(krein_reader *r, const krein_mark *to) {
    chain *c = r->state->own;
    krein_mark mark = *to;
    int64_t before = 0; /* rows of text then go on from the mark's own number */
    if (c->rows) {
        mark.file = 0;
        while (mark.file < c->nfile - 1 && c->rows[mark.file + 1] <= to->row) mark.file++;
        before = c->rows[mark.file];
        mark.row -= before;
    }
    if (mark.file < 0 || mark.file >= c->nfile)
        return krein__fail(r->ctx, KREIN_EIO, "%s: there are fewer files than there were", r->path);
    krein_status st = begin(r, mark.file, before);
    return st == KREIN_OK ? krein__reader_seek(c->open, &mark) : st;
}

static void chain_use(krein_reader *r, krein_ctx *ctx) {
    chain *c = r->state->own;
    if (c->open) krein__reader_use(c->open, ctx);
}

static void chain_close(krein_reader *r) {
    chain *c = r->state->own;
    if (!c) return;
    leave(r);
    krein__files_free(r->ctx, c->file, c->nfile);
    krein__free(r->ctx, c->bytes);
    krein__free(r->ctx, c->rows);
    krein__free(r->ctx, c);
    r->state->own = NULL;
}

static const krein_reader_class krein__read_chain = {.name = "files",
                                                     .begin = chain_begin,
                                                     .next = chain_next,
                                                     .seek = chain_seek,
                                                     .close = chain_close,
                                                     .use = chain_use};

/* ---- opening --------------------------------------------------------------------------------- */

/* Sizes; files without a byte are left out, unless there is no other. */
static krein_status measure(krein_reader *r) {
    krein_ctx *ctx = r->ctx;
    chain *c = r->state->own;
    krein_status st = KREIN_OK;
    int64_t n = 0, empty = 0;
    struct stat info;
    ZNEW(c->bytes, c->nfile + 1);
    for (int64_t k = 0; k < c->nfile; k++) {
        if (stat(c->file[k], &info) != 0 || !S_ISREG(info.st_mode)) {
            st = krein__fail(ctx, KREIN_EIO, "%s matches %s, which is no regular file", r->path,
                             c->file[k]);
            goto done;
        }
        if (info.st_size == 0 && (n > 0 || k < c->nfile - 1)) {
            empty++;
            continue;
        }
        char *name = c->file[k]; /* swapped: all of them stay in the list, to be freed */
        c->file[k] = c->file[n];
        c->file[n] = name;
        c->bytes[n + 1] = c->bytes[n] + (int64_t)info.st_size;
        n++;
    }
    if (empty > 0)
        krein__log(ctx, KREIN_LOG_INFO, "%s: %lld file%s without a byte", r->path, (long long)empty,
                   empty == 1 ? " is" : "s are");
    for (; c->nfile > n; c->nfile--) krein__free(ctx, c->file[c->nfile - 1]);
    r->bytes = c->bytes[n];
done:
    return st;
}

/* The first file says what all of them are. Its columns become those of all. */
static void adopt(krein_reader *r, krein_reader *first) {
    chain *c = r->state->own;
    r->format = first->format;
    r->header = first->header;
    r->sparse = first->sparse;
    memcpy(r->image, first->image, sizeof r->image);
    r->delimiter = first->delimiter;
    r->column = first->column;
    r->ncolumn = first->ncolumn;
    c->format = first->cls->name;
    c->delimiter = first->delimiter;
    first->column = NULL;
}

/* Words without a number look like a header in one file and not in another: where the first one has
 * a header, this one is asked whether its first row is the same. */
static krein_status look_again(krein_reader *r, const char *path, krein_reader_options options,
                               krein_reader **one) {
    krein_reader *other = NULL;
    options.header = 1;
    krein_status st = krein__reader_open(r->ctx, path, &options, &other);
    if (st == KREIN_OK && other->ncolumn == r->ncolumn && unlike_names(r, other) == KREIN_OK) {
        krein__reader_close(*one);
        *one = other;
        return KREIN_OK;
    }
    krein__reader_close(other);
    return st == KREIN_EMEMORY ? st : KREIN_OK;
}

static krein_status look(krein_reader *r, int64_t k, krein_reader_options options) {
    chain *c = r->state->own;
    krein_reader *one = NULL;
    krein_status st = KREIN_OK;
    if (k > 0) options.delimiter = c->delimiter;
    TRY(krein__reader_open(r->ctx, c->file[k], &options, &one));
    r->gzip |= one->gzip;
    if (c->rows) c->rows[k + 1] = c->rows[k] + one->n;
    if (k == 0) {
        adopt(r, one);
        goto done;
    }
    if (one->format == r->format && r->header && !one->header && options.header < 0)
        TRY(look_again(r, c->file[k], options, &one));
    TRY(unlike(r, one));
    for (int64_t j = 0; j < r->ncolumn; j++) {
        krein_column *all = &r->column[j], *here = &one->column[j];
        if (all->text != here->text || all->guess.as != here->guess.as ||
            all->guess.style != here->guess.style)
            all->guess = (krein_reading){KREIN_AS_PLAIN, 0}; /* unless all files agree */
        all->text |= here->text;
    }
done:
    krein__reader_close(one);
    return st;
}

static krein_status look_at_all(krein_reader *r, const krein_reader_options *options) {
    krein_ctx *ctx = r->ctx;
    chain *c = r->state->own;
    krein_status st = KREIN_OK;
    NEW(c->rows, c->nfile + 1);
    c->rows[0] = 0;
    for (int64_t k = 0; k < c->nfile; k++) {
        if (k >= LOOKED && !c->rows) break;
        TRY(krein__poll(ctx));
        TRY(look(r, k, *options));
        if (r->format == KREIN_FORMAT_NPY) continue;
        krein__free(ctx, c->rows); /* only the header of an array tells them */
        c->rows = NULL;
    }
    if (c->rows) r->n = c->rows[c->nfile];
done:
    return st;
}

krein_status krein__chain_open(krein_ctx *ctx, const char *path, char **file, int64_t n,
                               const krein_reader_options *options, krein_reader **out) {
    krein_status st = KREIN_OK;
    krein_reader *r = NULL;
    chain *c = NULL;
    ZNEW(r, 1);
    r->ctx = ctx;
    r->n = r->bytes = -1;
    r->cls = &krein__read_chain;
    DUP(r->path, path);
    ZNEW(r->state, 1);
    ZNEW(c, 1);
    r->state->own = c;
    c->file = file;
    c->nfile = n;
    file = NULL;
    TRY(measure(r));
    TRY(look_at_all(r, options));
    r->state->buffer = krein__reader_good_buffer(r, options);
    *out = r;
    r = NULL;
done:
    krein__files_free(ctx, file, n);
    krein__reader_close(r);
    return st;
}

/* ---- the files behind a reader --------------------------------------------------------------- */

static const chain *chain_of(const krein_reader *r) {
    return r->cls == &krein__read_chain ? r->state->own : NULL;
}

int64_t krein__reader_files(const krein_reader *r) {
    const chain *c = chain_of(r);
    return c ? c->nfile : 1;
}

const char *krein__reader_file(const krein_reader *r, int64_t k) {
    const chain *c = chain_of(r);
    return c ? c->file[k] : r->path;
}

int64_t krein__reader_file_bytes(const krein_reader *r, int64_t k) {
    const chain *c = chain_of(r);
    return c ? c->bytes[k + 1] - c->bytes[k] : krein__bytes_size(r->state->in);
}

krein_status krein__reader_enter(krein_reader *r, int64_t k, krein_reader **out) {
    const chain *c = chain_of(r);
    krein_status st = c ? enter(r, k) : KREIN_OK;
    *out = c ? c->open : r;
    return st;
}
