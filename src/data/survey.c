/* survey.c -- see survey.h.
 *
 * NPY: the number of rows is in the header. Text of S bytes on P ranks: the lines that begin in
 *
 *     [S r / P, S (r + 1) / P)
 *
 * are rank r's stretch. It looks for the first newline there and goes on with the blocks of rows.c
 * to the first line behind it, so that what is a row, and what is not, is said in one place. Counts
 * of all stretches go to everybody: their sums are the number of the first row and line of each.
 * On the way a rank keeps marks, one every so many blocks; to find a row its owner reads on from
 * the mark before it. There are at most MOST: every other one is given up when they are full.
 *
 * Quotes may hide newlines, and a file with quotes says only from its beginning which; gzip cannot
 * be entered in the middle. One rank counts then, from the beginning to the end. That there are no
 * quotes is known when all bytes have been looked at: files with quotes are read twice.
 */
#include "data/survey.h"

#include "data/rows.h"
#include "dist/dist.h"

#include <string.h>

enum { MOST = 4096, STEP = 1 << 16, LEAST_SHARE = 4 };

/* Consecutive lines that one rank has counted. Numbers in it count from its own first row and
 * line; they are sent as they are. */
typedef struct stretch {
    int64_t rank;
    int64_t from, to;        /* the bytes in which its lines begin */
    int64_t rows, lines;     /* lines: with those that are no rows */
    krein_mark begin;        /* its first row, or where that would be */
    int64_t end;             /* the byte behind its last row */
    int64_t first, previous; /* rows and lines before it; known when all have met */
} stretch;

struct krein_survey {
    krein_reader *r;
    krein_ctx *ctx;
    int64_t rows;
    stretch *stretch; /* of all ranks, in the order of the rows; NULL: rows need no search */
    int64_t nstretch;
    krein_mark *mark; /* in this rank's stretch, ascending */
    int64_t nmark, blocks, stride;
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
    const krein_block *b = &r->state->block;
    char *end = b->buf + b->end;
    while (p < end && at->byte < to && at->row < row) {
        char *next = krein__block_row_end(b, p, end, &at->line);
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
    const krein_block *b = &r->state->block;
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

static krein_status go(krein_reader *r, int64_t byte, int64_t line) {
    krein_status st = krein__block_rewind(r);
    const krein_mark to = {.byte = byte, .line = line};
    return st == KREIN_OK && byte > 0 ? krein__block_seek(r, &to) : st;
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

/* Counts t's rows, from the line that begins at t->from on. Where quotes must not be there, it
 * stops at one. */
static krein_status count(krein_survey *s, stretch *t, bool *quoted) {
    krein_reader *r = s->r;
    krein_block *b = &r->state->block;
    krein_status st = KREIN_OK;
    bool empty = false, first = true;
    krein_mark at = {.byte = t->from, .line = 1};
    s->blocks = s->nmark = 0;
    s->stride = 1;
    TRY(go(r, t->from, 1));
    while (at.byte < t->to) {
        TRY(krein__poll(s->ctx));
        TRY(krein__block_next(r, &empty));
        if (empty) break;
        if (quoted && memchr(b->buf, '"', b->end)) {
            *quoted = true;
            break;
        }
        if (first && t->from == 0 && r->header) krein__block_drop_row(r);
        at.byte = b->byte + (int64_t)b->begin;
        at.line = b->line;
        if (first) t->begin = at;
        first = false;
        keep(s, &at);
        if (b->byte + (int64_t)b->end <= t->to)
            pass(r, &at);
        else
            walk(r, b->buf + b->begin, t->to, INT64_MAX, &at);
        if (t->rank == 0)
            krein__progress(s->ctx, "counting rows", (double)r->bytes_done, (double)r->bytes);
    }
    t->rows = at.row;
    t->lines = at.line - 1;
    t->end = at.byte - (b->added && at.byte == b->byte + (int64_t)b->length);
done:
    return st;
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

/* Where share k of the bytes begins. The first one holds at least one character: a byte order mark
 * stands before the first line, which is the first rank's nevertheless. */
static int64_t share(int64_t bytes, int k, int ranks) {
    int64_t at = bytes / ranks * k + krein__min(k, bytes % ranks);
    return k == 0 ? 0 : krein__max(at, LEAST_SHARE);
}

/* This rank's share. *quoted: some rank has seen a quote, and the counts mean nothing. */
static krein_status count_share(krein_survey *s, stretch *t, bool *quoted) {
    krein_reader *r = s->r;
    krein_block *b = &r->state->block;
    krein_status st = KREIN_OK;
    int ranks = krein__comm_size(s->ctx);
    bool quotes = b->quotes, seen = false;
    int64_t any, bytes = krein__bytes_size(r->state->in);
    int64_t from = share(bytes, (int)t->rank, ranks);
    t->to = share(bytes, (int)t->rank + 1, ranks);
    b->quotes = false; /* a newline is the end of a row, as long as no quote is seen */
    TRY(first_line(r, from, t->to, &t->from));
    TRY(count(s, t, quotes ? &seen : NULL));
    any = seen;
    TRY(krein__comm_fold(s->ctx, KREIN_FOLD_MAX, 1, &any));
    *quoted = any != 0;
done:
    b->quotes = quotes;
    return st;
}

/* The first rank counts for all. */
static krein_status count_alone(krein_survey *s, stretch *t) {
    *t = (stretch){.rank = t->rank, .to = INT64_MAX};
    return t->rank == 0 ? count(s, t, NULL) : KREIN_OK;
}

static void say_alone(krein_survey *s, const char *why) {
    if (krein__comm_rank(s->ctx) == 0 && krein__comm_size(s->ctx) > 1)
        krein__log(s->ctx, KREIN_LOG_INFO, "%s: %s, so that one process alone counts the rows",
                   s->r->path, why);
}

/* Everybody's stretch to everybody, and where each one begins. */
static krein_status meet(krein_survey *s, const stretch *mine) {
    krein_status st = KREIN_OK;
    int64_t *offset = NULL, lines = 0;
    char *all = NULL;
    TRY(krein__comm_gather(s->ctx, mine, (int64_t)sizeof *mine, &all, &offset));
    s->stretch = (stretch *)(void *)all;
    s->nstretch = krein__comm_size(s->ctx);
    for (int64_t k = 0; k < s->nstretch; k++) {
        s->stretch[k].first = s->rows;
        s->stretch[k].previous = lines;
        s->rows += s->stretch[k].rows;
        lines += s->stretch[k].lines;
    }
done:
    krein__free(s->ctx, offset);
    return st;
}

static krein_status count_text(krein_survey *s) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    stretch mine = {.rank = krein__comm_rank(ctx)};
    bool zipped = krein__bytes_gzip(s->r->state->in), quoted = false;
    NEW(s->mark, MOST);
    if (!zipped && krein__comm_size(ctx) > 1) {
        TRY(count_share(s, &mine, &quoted));
        if (!quoted) goto met;
    }
    say_alone(s, zipped ? "it is compressed" : "there are quotes in it");
    TRY(count_alone(s, &mine));
met:
    TRY(meet(s, &mine));
done:
    return st;
}

/* All ranks have the same file before them, as far as its size says. */
static krein_status compare(krein_reader *r) {
    int64_t size = r->bytes, least[] = {size, -size, r->n, -r->n};
    krein_status st = krein__comm_fold(r->ctx, KREIN_FOLD_MIN, KREIN__COUNT(least), least);
    if (st == KREIN_OK && (least[0] != -least[1] || least[2] != -least[3]))
        st = krein__fail(r->ctx, KREIN_EIO,
                         "%s: the processes see files of different size (%lld to %lld bytes); give "
                         "all of them the same file",
                         r->path, (long long)least[0], (long long)-least[1]);
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
    krein_reader *r = s->r;
    krein_block *b = &r->state->block;
    krein_status st = KREIN_OK;
    bool empty = false;
    int64_t low = 0, high = s->nmark; /* mark[low] is the last one at or before the row */
    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        if (s->mark[middle].row <= row)
            low = middle;
        else
            high = middle;
    }
    *at = s->mark[low];
    if (at->row < row) TRY(go(r, at->byte, at->line));
    while (at->row < row && !empty) {
        TRY(krein__poll(s->ctx));
        TRY(krein__block_next(r, &empty));
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
        at = (krein_mark){t->rows, t->end, t->lines + 1};
    else if (row > t->first && krein__comm_rank(s->ctx) == t->rank)
        TRY(find(s, t, row - t->first, &at));
    TRY(krein__comm_broadcast(s->ctx, (int)t->rank, &at, (int64_t)sizeof at));
    *out = (krein_mark){row, at.byte, t->previous + at.line};
done:
    return st == KREIN_OK ? st : krein__comm_agree(s->ctx, st);
}
