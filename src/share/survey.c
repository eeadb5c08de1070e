/* survey.c -- see survey.h.
 *
 * NPY: the number of rows is in the header. Text of S bytes (of all files, one behind the other) on
 * P ranks: the lines that begin in
 *
 *     [S r / P, S (r + 1) / P)
 *
 * are rank r's, in each file a stretch. It looks for the first newline there and goes on with the
 * chunks of file/lines.c to the first line behind it, so that what is a row, and what is not, is
 * said in one place. Counts of all stretches go to everybody: their sums are the number of the
 * first row and line of each. On the way a rank keeps marks, one every so many chunks; to find a
 * row its owner reads on from the mark before it. There are at most MOST: every other one is given
 * up when they are full.
 *
 * Quotes may hide newlines, and only the beginning of a file says which; gzip cannot be entered in
 * the middle. Such a file is counted as a whole, by the rank that has its first byte. Whether there
 * are quotes is known when all bytes have been looked at: these files are read twice, unless they
 * are one rank's anyway.
 */
#include "share/survey.h"

#include "file/lines.h"
#include "dist/dist.h"

#include <string.h>

enum { MOST = 4096, STEP = 1 << 16, AFTER_MARK = 4 };

/* Lines of a file that one rank has counted. Numbers in it count from its own first row and line;
 * they are sent as they are. */
typedef struct stretch {
    int64_t rank, file;
    int64_t from, to;        /* the bytes in which its lines begin */
    int64_t rows, lines;     /* lines: with those that are no rows */
    krein_mark begin;        /* its first row, or where that would be */
    int64_t end;             /* the byte behind its last row */
    int64_t first, previous; /* rows of the data, lines of the file before it; known at the end */
} stretch;

struct krein_survey {
    krein_reader *r;
    krein_ctx *ctx;
    int64_t rows;
    stretch *stretch; /* of all ranks, in the order of the rows; NULL: rows need no search */
    int64_t nstretch;
    krein_mark *mark; /* in this rank's stretches: a file and numbers in its stretch */
    int64_t nmark, blocks, stride;
    double done, total; /* bytes of this rank, for its progress */
};

void krein__survey_close(krein_survey *s) {
    if (!s) return;
    krein__free(s->ctx, s->stretch);
    krein__free(s->ctx, s->mark);
    krein__free(s->ctx, s);
}

int64_t krein__survey_rows(const krein_survey *s) { return s->rows; }

/* ---- blocks of lines ------------------------------------------------------------------------- */

static bool is_row(const krein_reader *r, char *p) { return !r->sparse || krein__libsvm_row(p); }

/* Over the lines from p on, up to the first one that begins at byte `to` or later, or before which
 * there are `row` rows. */
static void walk(const krein_reader *r, char *p, int64_t to, int64_t row, krein_mark *at) {
    const krein_chunk *b = &r->state->block;
    char *end = b->buf + b->end;
    while (p < end && at->byte < to && at->row < row) {
        char *next = krein__chunk_row_end(b, p, end, &at->line);
        at->row += is_row(r, p);
        at->byte += next - p;
        p = next;
    }
}

static int64_t rows_of_piece(const krein_reader *r, const krein_piece *piece) {
    int64_t rows = 0;
    if (!r->sparse) return piece->rows;
    for (char *p = piece->begin; p < piece->end; p++) {
        rows += is_row(r, p);
        p = memchr(p, '\n', (size_t)(piece->end - p));
    }
    return rows;
}

/* Over a whole block. */
static void pass(const krein_reader *r, krein_mark *at) {
    const krein_chunk *b = &r->state->block;
    int threads = r->ctx->threads;
    int64_t rows = 0, lines = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) if (b->npiece > 1)              \
    reduction(+ : rows, lines)
    for (int64_t i = 0; i < b->npiece; i++) {
        rows += rows_of_piece(r, &b->piece[i]);
        lines += b->piece[i].lines;
    }
    at->row += rows;
    at->line += lines;
    at->byte = b->byte + (int64_t)b->end;
}

static krein_status go(krein_reader *r, const krein_mark *to) {
    krein_status st = krein__chunk_rewind(r);
    return st == KREIN_OK && to->byte > 0 ? krein__chunk_seek(r, to) : st;
}

/* ---- counting -------------------------------------------------------------------------------- */

static void keep(krein_survey *s, const krein_mark *at) {
    if (s->blocks++ % s->stride != 0) return;
    if (s->nmark == MOST) { /* those left are at multiples of twice the stride, as is this one */
        for (int64_t k = 0; 2 * k < MOST; k++) s->mark[k] = s->mark[2 * k];
        s->nmark = MOST / 2;
        s->stride *= 2;
    }
    s->mark[s->nmark++] = *at;
}

static void forget(krein_survey *s, int64_t file) {
    int64_t n = 0;
    for (int64_t k = 0; k < s->nmark; k++)
        if (s->mark[k].file != file) s->mark[n++] = s->mark[k];
    s->nmark = n;
}

static void progress(krein_survey *s, const stretch *t, int64_t byte) {
    if (t->rank == 0)
        krein__progress(s->ctx, "counting rows", s->done + (double)(byte - t->from), s->total);
}

/* Counts t's rows, from the line that begins at t->from on. Where quotes must not be there, it
 * stops at one. */
static krein_status count(krein_survey *s, krein_reader *r, stretch *t, bool *quoted) {
    krein_chunk *b = &r->state->block;
    krein_status st = KREIN_OK;
    bool empty = false, first = true;
    krein_mark at = {.byte = t->from, .line = 1, .file = t->file};
    t->begin = at;
    TRY(go(r, &at));
    while (at.byte < t->to) {
        TRY(krein__poll(s->ctx));
        TRY(krein__chunk_next(r, &empty));
        if (empty) break;
        if (quoted && memchr(b->buf, '"', b->end)) {
            *quoted = true;
            break;
        }
        if (first && t->from == 0 && r->header) krein__chunk_drop_row(r);
        at.byte = b->byte + (int64_t)b->begin;
        at.line = b->line;
        if (first) t->begin = at;
        first = false;
        keep(s, &at);
        if (b->byte + (int64_t)b->end <= t->to)
            pass(r, &at);
        else
            walk(r, b->buf + b->begin, t->to, INT64_MAX, &at);
        progress(s, t, krein__bytes_gzip(r->state->in) ? r->bytes_done : at.byte);
    }
    t->rows = at.row;
    t->lines = at.line - 1;
    t->end = at.byte - (b->added && at.byte == b->byte + (int64_t)b->length);
done:
    return st;
}

static krein_status count_whole(krein_survey *s, krein_reader *r, stretch *t) {
    *t = (stretch){.rank = t->rank, .file = t->file, .to = INT64_MAX};
    return count(s, r, t, NULL);
}

/* The first line that begins in [from, to), or to. */
static krein_status first_line(krein_reader *r, int64_t from, int64_t to, int64_t *out) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    char *text = NULL, *newline = NULL;
    *out = from;
    if (from == 0) return st;
    NEW(text, STEP);
    int64_t n = 0, at = from - 1;
    for (; at < to - 1 && !newline; at += n) {
        n = krein__min(STEP, to - 1 - at);
        TRY(krein__poll(ctx));
        TRY(krein__bytes_at(r->state->in, at, text, (size_t)n));
        newline = memchr(text, '\n', (size_t)n);
    }
    *out = newline ? at - n + (newline - text) + 1 : to;
done:
    krein__free(ctx, text);
    return st;
}

/* The lines that begin in [t->from, t->to) of a file without quotes. */
static krein_status count_part(krein_survey *s, krein_reader *r, stretch *t, bool *quoted) {
    krein_chunk *b = &r->state->block;
    krein_status st = KREIN_OK;
    bool quotes = b->quotes;
    b->quotes = false; /* a newline is the end of a row, as long as no quote is seen */
    TRY(first_line(r, t->from, t->to, &t->from));
    TRY(count(s, r, t, quotes ? quoted : NULL));
done:
    b->quotes = quotes;
    return st;
}

/* ---- shares ---------------------------------------------------------------------------------- */

/* What one rank does before all have met. */
typedef struct task {
    stretch *mine; /* room for one in each file */
    int64_t nmine;
    int64_t *quoted; /* by file: there are quotes, and several ranks have a part of it */
    int64_t from, to;
} task;

/* The byte where share k begins. */
static int64_t share(int64_t bytes, int k, int ranks) {
    return bytes / ranks * k + krein__min(k, bytes % ranks);
}

/* A place in a file as the border of a stretch. A byte order mark may stand before the first line,
 * which is nevertheless with the first byte. */
static int64_t border(int64_t byte) { return byte <= 0 ? 0 : krein__max(byte, AFTER_MARK); }

/* This rank's part of a file that stands at `offset` among all bytes. */
static krein_status count_file(krein_survey *s, task *w, int64_t file, int64_t offset) {
    krein_reader *r;
    krein_status st = KREIN_OK;
    int64_t bytes = krein__reader_file_bytes(s->r, file), end = offset + bytes;
    bool has_start = offset >= w->from && offset < w->to, whole = has_start && end <= w->to;
    bool quoted = false;
    stretch *t = &w->mine[w->nmine];
    if (end <= w->from || offset >= w->to) return st;
    *t = (stretch){.rank = krein__comm_rank(s->ctx), .file = file};
    TRY(krein__reader_enter(s->r, file, &r));
    bool zipped = krein__bytes_gzip(r->state->in);
    if (whole || zipped) {
        if (has_start) TRY(count_whole(s, r, t));
        w->nmine += has_start;
        if (has_start && !whole)
            krein__log(s->ctx, KREIN_LOG_INFO,
                       "%s is compressed, so that one process alone counts its rows", r->path);
    } else {
        t->from = border(w->from - offset);
        t->to = border(krein__min(w->to - offset, bytes));
        TRY(count_part(s, r, t, &quoted));
        w->quoted[file] = quoted;
        w->nmine++;
    }
    s->done += (double)(krein__min(end, w->to) - krein__max(offset, w->from));
done:
    return st;
}

/* Files in which some rank has seen a quote, though it has only a part of them. */
static krein_status count_quoted(krein_survey *s, task *w) {
    krein_reader *r;
    krein_status st = KREIN_OK;
    int64_t n = 0;
    TRY(krein__comm_fold(s->ctx, KREIN_FOLD_MAX, krein__reader_files(s->r), w->quoted));
    for (int64_t k = 0; k < w->nmine; k++) {
        stretch *t = &w->mine[k];
        bool again = w->quoted[t->file], starts = t->from == 0;
        if (again) {
            forget(s, t->file);
            if (!starts) continue;
            TRY(krein__reader_enter(s->r, t->file, &r));
            krein__log(s->ctx, KREIN_LOG_INFO,
                       "%s has quotes in it, so that one process alone counts its rows", r->path);
            TRY(count_whole(s, r, t));
        }
        w->mine[n++] = *t;
    }
    w->nmine = n;
done:
    return st;
}

/* Everybody's stretches to everybody, and where each one begins. */
static krein_status meet(krein_survey *s, const task *w) {
    krein_status st = KREIN_OK;
    int64_t *offset = NULL, lines = 0, size = (int64_t)sizeof *w->mine;
    char *all = NULL;
    TRY(krein__comm_gather(s->ctx, w->mine, w->nmine * size, &all, &offset));
    s->stretch = (stretch *)(void *)all;
    s->nstretch = offset[krein__comm_size(s->ctx)] / size;
    for (int64_t k = 0; k < s->nstretch; k++) {
        stretch *t = &s->stretch[k];
        if (k > 0 && t->file != t[-1].file) lines = 0;
        t->first = s->rows;
        t->previous = lines;
        s->rows += t->rows;
        lines += t->lines;
    }
done:
    krein__free(s->ctx, offset);
    return st;
}

static krein_status count_text(krein_survey *s) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    int64_t files = krein__reader_files(s->r), bytes = 0, offset = 0;
    int rank = krein__comm_rank(ctx), ranks = krein__comm_size(ctx);
    task w = {0};
    for (int64_t k = 0; k < files; k++) bytes += krein__reader_file_bytes(s->r, k);
    w.from = share(bytes, rank, ranks);
    w.to = share(bytes, rank + 1, ranks);
    s->total = (double)(w.to - w.from);
    s->stride = 1;
    NEW(s->mark, MOST);
    NEW(w.mine, files);
    ZNEW(w.quoted, files);
    for (int64_t k = 0; k < files; k++) {
        TRY(count_file(s, &w, k, offset));
        offset += krein__reader_file_bytes(s->r, k);
    }
    TRY(count_quoted(s, &w));
    TRY(meet(s, &w));
done:
    krein__free(ctx, w.mine);
    krein__free(ctx, w.quoted);
    return st;
}

/* All ranks have the same files before them, as far as number and size say. */
static krein_status compare(krein_reader *r) {
    int64_t size = r->bytes, files = krein__reader_files(r);
    int64_t least[] = {size, -size, r->n, -r->n, files, -files};
    krein_status st = krein__comm_fold(r->ctx, KREIN_FOLD_MIN, KREIN__COUNT(least), least);
    for (int64_t k = 0; k < KREIN__COUNT(least) && st == KREIN_OK; k += 2)
        if (least[k] != -least[k + 1])
            st = krein__fail(r->ctx, KREIN_EIO,
                             "%s: the processes see different files (%lld to %lld bytes, %lld to "
                             "%lld files); give all of them the same",
                             r->path, (long long)least[0], (long long)-least[1],
                             (long long)least[4], (long long)-least[5]);
    return st;
}

krein_status krein__survey_open(krein_reader *r, krein_survey **out) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    krein_survey *s = NULL;
    *out = NULL;
    ZNEW(s, 1);
    s->r = r;
    s->ctx = ctx;
    TRY(compare(r));
    if (r->format == KREIN_FORMAT_NPY)
        s->rows = r->n;
    else
        TRY(count_text(s));
    *out = s;
    return KREIN_OK;
done:
    krein__survey_close(s);
    return krein__comm_agree(ctx, st);
}

/* ---- where a row is -------------------------------------------------------------------------- */

/* On the rank that has counted it, by the numbers of its stretch. */
static krein_status find(krein_survey *s, const stretch *t, int64_t row, krein_mark *at) {
    krein_reader *r;
    krein_status st = KREIN_OK;
    bool empty = false;
    for (int64_t k = 0; k < s->nmark; k++) {
        const krein_mark *m = &s->mark[k];
        if (m->file == t->file && m->row <= row && m->row >= at->row) *at = *m;
    }
    TRY(krein__reader_enter(s->r, t->file, &r));
    if (at->row < row) TRY(go(r, at));
    while (at->row < row && !empty) {
        const krein_chunk *b = &r->state->block;
        TRY(krein__poll(s->ctx));
        TRY(krein__chunk_next(r, &empty));
        walk(r, b->buf + b->begin, INT64_MAX, row, at);
    }
    if (at->row < row || at->byte > t->end)
        st = krein__fail(s->ctx, KREIN_EIO, "%s: the file changed while it was read", r->path);
done:
    return st;
}

/* The stretch with that row; the last one that has any for the end. */
static const stretch *owner(const krein_survey *s, int64_t row) {
    const stretch *last = &s->stretch[0];
    for (int64_t k = 0; k < s->nstretch; k++) {
        const stretch *t = &s->stretch[k];
        if (t->rows > 0) last = t;
        if (row < t->first + t->rows) break;
    }
    return last;
}

krein_status krein__survey_mark(krein_survey *s, int64_t row, krein_mark *out) {
    krein_status st = KREIN_OK;
    *out = (krein_mark){.row = row};
    if (!s->stretch) return st;
    const stretch *t = owner(s, row);
    krein_mark at = t->begin;
    if (row == s->rows)
        at = (krein_mark){t->rows, t->end, t->lines + 1, t->file};
    else if (row > t->first && krein__comm_rank(s->ctx) == t->rank)
        TRY(find(s, t, row - t->first, &at));
    TRY(krein__comm_broadcast(s->ctx, (int)t->rank, &at, (int64_t)sizeof at));
    *out = (krein_mark){row, at.byte, t->previous + at.line, t->file};
done:
    return st == KREIN_OK ? st : krein__comm_agree(s->ctx, st);
}
