/* memory.c -- readers of the caller's rows: arrays, or blocks of them that a function gives.
 *
 * To what comes behind it, a block of rows looks like a file with the columns
 *
 *     labels | inputs (none where rows are sparse) | weight | group
 *
 * whose roles are known. Batches are converted from the arrays as they are asked for, so that no
 * more than a batch is ever copied. The first block of a source is asked for when it is opened; the
 * first pass goes on from there, so that a source of which one pass is wanted need not rewind.
 */
#include "stream/memory.h"
#include "base/sized.h"
#include "dist/dist.h"
#include "file/lines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

enum { LEAST = 1 << 16, MOST = 4 << 20 };

static krein_memory *own(const krein_reader *r) { return r->state->own; }

/* ---- blocks ------------------------------------------------------------- */

static void set_cells(krein_reader *r) {
    krein_memory *s = own(r);
    const krein_rows_view *v = &s->view;
    krein_cells *to = s->cells;
    for (int64_t k = 0; k < krein__view_labels(v); k++) *to++ = krein__view_label(v, k);
    for (int64_t j = 0; j < krein__view_inputs(v); j++) *to++ = krein__view_input(v, j);
    if (v->weights) *to++ = (krein_cells){.number = v->weights, .type = KREIN_FLOAT64, .stride = 1};
    if (v->groups || v->group_names) *to++ = krein__view_group(v);
}

static krein_status call_failed(krein_reader *r, const char *what, krein_status status) {
    return krein__fail(r->ctx, status, "%s: the function %s of the source of rows failed: %s",
                       r->path, what, krein_status_text(status));
}

/* n is 0 at the end. */
static krein_status ask(krein_reader *r, krein_rows_view *v) {
    krein_memory *s = own(r);
    krein_rows_view given;
    krein_rows_view_init(&given);
    krein_status st = s->source.next(s->source.user, &given);
    if (st != KREIN_OK) return call_failed(r, "next", st);
    if (given.size > 0 && given.n == 0) {
        *v = given;
        return KREIN_OK;
    }
    return krein__view_take(r->ctx, &given, r->state->row, v);
}

static krein_status next_block(krein_reader *r) {
    krein_memory *s = own(r);
    krein_rows_view v;
    krein_status st = KREIN_OK;
    TRY(ask(r, &v));
    s->at = 0;
    s->unread = false;
    s->ended = v.n == 0;
    if (s->ended) goto done;
    TRY(krein__view_same(r->ctx, &s->first, &v));
    s->view = v;
    set_cells(r);
    for (int64_t j = 0; j < r->ncolumn; j++)
        if (s->cells[j].is_text != r->column[j].given_text) {
            st = krein__fail(
                r->ctx, KREIN_EARG, "column %lld is %s in one block of rows and %s in another",
                (long long)krein__reader_number(r, j), r->column[j].given_text ? "text" : "numbers",
                s->cells[j].is_text ? "text" : "numbers");
            goto done;
        }
done:
    return st;
}

/* ---- opening ------------------------------------------------------------ */

static void memory_close(krein_reader *r) {
    krein_memory *s = own(r);
    if (!s) return;
    krein__free(r->ctx, s->cells);
    krein__free(r->ctx, s->look);
    krein__free(r->ctx, s->input);
    krein__free(r->ctx, s->shift);
    krein__free(r->ctx, s);
    r->state->own = NULL;
}

/* The name of a column that the inputs do not have. */
static krein_status own_name(krein_reader *r, const krein_rows_view *v, const char *word,
                             int64_t number, char **out) {
    char name[64];
    int length = number ? snprintf(name, sizeof name, "%s%lld", word, (long long)number)
                        : snprintf(name, sizeof name, "%s", word);
    for (int64_t j = 0; v->names && j < v->d && length + 1 < (int)sizeof name; j++)
        if (strcmp(v->names[j], name) == 0) {
            name[length++] = '_';
            name[length] = 0;
            j = -1;
        }
    *out = krein__strdup(r->ctx, name);
    return *out ? KREIN_OK : r->ctx->status;
}

static krein_status make_columns(krein_reader *r) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    krein_memory *s = own(r);
    const krein_rows_view *v = &s->view;
    int64_t labels = krein__view_labels(v), inputs = krein__view_inputs(v);
    bool group = v->groups || v->group_names;
    int64_t n = labels + inputs + (v->weights != NULL) + group;
    ZNEW(r->column, n);
    r->ncolumn = n;
    /* All that a reader keeps is asked for here: passes leave nothing behind. */
    NEW(r->state->dict_column, krein__max(1, n));
    NEW(r->state->dict_slot, krein__max(1, n));
    NEW(s->cells, krein__max(1, n));
    NEW(s->look, krein__max(1, n));
    NEW(s->input, krein__max(1, inputs * KREIN_READ_PARTS));
    NEW(s->shift, krein__max(1, inputs * KREIN_READ_PARTS));
    set_cells(r);
    for (int64_t j = 0; j < n; j++) {
        krein_column *c = &r->column[j];
        c->given = j < labels            ? KREIN_ROLE_LABEL
                   : j < labels + inputs ? KREIN_ROLE_FEATURE
                   : group && j == n - 1 ? KREIN_ROLE_GROUP
                                         : KREIN_ROLE_WEIGHT;
        c->role = c->given;
        c->text = c->given_text = s->cells[j].is_text;
        if (c->given == KREIN_ROLE_FEATURE && v->names)
            DUP(c->name, v->names[j - labels]);
        else if (c->given == KREIN_ROLE_LABEL && v->names)
            TRY(own_name(r, v, "label", labels > 1 ? j + 1 : 0, &c->name));
        else if (c->given == KREIN_ROLE_WEIGHT || c->given == KREIN_ROLE_GROUP)
            TRY(own_name(r, v, c->given == KREIN_ROLE_WEIGHT ? "(weight)" : "(group)", 0,
                         &c->name));
    }
    r->header = v->names != NULL;
    r->sparse = v->indptr != NULL;
    r->d = r->sparse ? v->d : 0;
done:
    return st;
}

static krein_look look_at(const krein_cells *cells, int64_t rows) {
    krein_look seen = {0};
    krein__reading_begin(&seen.texts);
    for (int64_t i = 0; cells->is_text && !cells->category && i < rows; i++) {
        const char *text = krein__cells_text(cells, i);
        if (text && !krein__missing_word(text, strlen(text)))
            krein__reading_look(&seen.texts, text, strlen(text));
    }
    for (int64_t i = 0; !cells->is_text && i < rows && !seen.found; i++) {
        seen.number = krein__cells_number(cells, i);
        seen.found = isfinite(seen.number);
    }
    return seen;
}

void krein__memory_look(const krein_reader *r, int64_t rows, krein_look *out) {
    const krein_memory *s = own(r);
    for (int64_t j = 0; j < r->ncolumn; j++)
        out[j] = s->source.next && rows > 0 ? s->look[j]
                                            : look_at(&s->cells[j], krein__min(rows, s->view.n));
}

void krein__look_add(const krein_reader *r, krein_look *look, const krein_look *behind) {
    for (int64_t j = 0; j < r->ncolumn; j++) {
        krein__reading_add(&look[j].texts, &behind[j].texts);
        if (look[j].found || !behind[j].found) continue;
        look[j].number = behind[j].number;
        look[j].found = true;
    }
}

/* The first number of a column is a good shift, as for files. */
void krein__memory_looked(krein_reader *r, const krein_look *look) {
    if (!look) look = own(r)->look;
    for (int64_t j = 0; j < r->ncolumn; j++) {
        krein_column *c = &r->column[j];
        c->guess = krein__reading_end(&look[j].texts);
        c->first = look[j].found ? look[j].number : 0;
        if (c->guess.as) c->first = krein__reading_first(&look[j].texts, c->guess);
    }
}

/* ---- the same rows ------------------------------------------------------ */

static uint64_t digest_text(uint64_t h, const char *text) {
    static const char none[] = "\1"; /* no text has it */
    const char *t = text ? text : none;
    return XXH3_64bits_withSeed(t, strlen(t) + 1, h);
}

static uint64_t digest_numbers(uint64_t h, const krein_cells *cells, int64_t n) {
    enum { CHUNK = 512 };
    double value[CHUNK];
    for (int64_t i = 0; i < n; i += CHUNK) {
        int64_t m = krein__min(CHUNK, n - i);
        for (int64_t j = 0; j < m; j++) value[j] = krein__cells_number(cells, i + j);
        h = XXH3_64bits_withSeed(value, (size_t)m * sizeof *value, h);
    }
    return h;
}

/* Rows and columns of the entries, then the entries. */
static uint64_t digest_sparse(uint64_t h, const krein_rows_view *v) {
    int64_t entries = krein__whole(v->indptr, v->indptr_type, v->n);
    krein_cells rows = {.number = v->indptr, .type = v->indptr_type, .stride = 1};
    krein_cells columns = {.number = v->indices, .type = v->index_type, .stride = 1};
    krein_cells values = {.number = v->values, .type = v->type, .stride = 1};
    h = digest_numbers(h, &rows, v->n + 1);
    h = digest_numbers(h, &columns, entries);
    return digest_numbers(h, &values, entries);
}

krein_status krein__memory_digest(const krein_reader *r, uint64_t *out) {
    const krein_memory *s = own(r);
    const krein_rows_view *v = &s->view;
    uint64_t h = (uint64_t)v->d;
    if (s->source.next)
        return krein__fail(r->ctx, KREIN_EARG,
                           "`checkpoint`: rows that a function gives cannot be told from others; "
                           "give arrays, or a file");
    for (int64_t j = 0; j < r->ncolumn; j++) {
        h = digest_text(h, r->column[j].name);
        for (int64_t i = 0; s->cells[j].is_text && i < v->n; i++)
            h = digest_text(h, krein__cells_text(&s->cells[j], i));
        if (!s->cells[j].is_text) h = digest_numbers(h, &s->cells[j], v->n);
    }
    *out = v->indptr ? digest_sparse(h, v) : h;
    return KREIN_OK;
}

/* ---- whose rows --------------------------------------------------------- */

void krein__memory_process(krein_reader *r) {
    own(r)->process = krein__comm_size(r->ctx) > 1 ? krein__comm_rank(r->ctx) : -1;
}

krein_row_text krein__row_text(const krein_reader *r, int64_t row) {
    krein_row_text out;
    const int process = r->memory ? own(r)->process : -1;
    if (process < 0)
        snprintf(out.text, sizeof out.text, "row %lld", (long long)row + 1);
    else
        snprintf(out.text, sizeof out.text, "row %lld of process %d", (long long)row + 1, process);
    return out;
}

static size_t batch_bytes(const krein_ctx *ctx) {
    uint64_t wanted = (uint64_t)MOST * (uint64_t)ctx->threads, most = ctx->budget / 32;
    if (most < LEAST) most = LEAST;
    return (size_t)(wanted < most ? wanted : most);
}

extern const krein_reader_class krein__read_memory;

static krein_status make_reader(krein_ctx *ctx, krein_reader **out) {
    krein_status st = KREIN_OK;
    krein_reader *r = NULL;
    ZNEW(r, 1);
    *out = r;
    r->ctx = ctx;
    r->n = r->bytes = -1;
    r->format = KREIN_FORMAT_MEMORY;
    r->memory = true;
    r->cls = &krein__read_memory;
    DUP(r->path, "(memory)");
    ZNEW(r->state, 1);
    r->state->buffer = batch_bytes(ctx);
    krein_memory *s;
    ZNEW(s, 1);
    s->process = -1;
    r->state->own = s;
done:
    return st;
}

static krein_status finish(krein_reader *r) {
    krein_memory *s = own(r);
    krein_status st = make_columns(r);
    if (st != KREIN_OK) return st;
    s->first = s->view;
    s->unread = true;
    for (int64_t j = 0; j < r->ncolumn; j++)
        s->look[j] = look_at(&s->cells[j], krein__min(KREIN_LOOK_ROWS, s->view.n));
    krein__memory_looked(r, NULL);
    return KREIN_OK;
}

krein_status krein__memory_open(krein_ctx *ctx, const krein_rows_view *view, krein_reader **out) {
    krein_status st = KREIN_OK;
    krein_reader *r = NULL;
    *out = NULL;
    TRY(make_reader(ctx, &r));
    krein_memory *s = own(r);
    TRY(krein__view_take(ctx, view, 0, &s->view));
    TRY(finish(r));
    r->n = s->view.n;
    r->again = true;
    for (int64_t j = 0; j < r->ncolumn; j++) r->again = r->again && !r->column[j].text;
    *out = r;
    r = NULL;
done:
    krein__reader_close(r);
    return st;
}

/* A source without rows: what it has is nobody's matter. */
static void no_block(krein_reader *r) {
    krein_memory *s = own(r);
    s->source = KREIN_SIZED(krein_rows_source);
    krein_rows_view_init(&s->view);
    s->view.d = 1;
    r->alone = false;
    r->n = 0;
}

krein_status krein__source_open(krein_ctx *ctx, const krein_rows_source *source, bool empty,
                                krein_reader **out) {
    krein_status st = KREIN_OK;
    krein_reader *r = NULL;
    *out = NULL;
    TRY(make_reader(ctx, &r));
    krein_memory *s = own(r);
    r->alone = true;
    s->source = KREIN_SIZED(krein_rows_source);
    if (source && source->size)
        TRY(krein__options_copy(ctx, source, &s->source, "krein_rows_source"));
    if (!s->source.next) {
        st = krein__fail(ctx, KREIN_EARG, "a source of rows needs the function next");
        goto done;
    }
    TRY(ask(r, &s->view));
    if (s->view.n == 0 && !empty) {
        st = krein__fail(ctx, KREIN_EDATA, "the source of rows has no rows");
        goto done;
    }
    if (s->view.n == 0) no_block(r);
    TRY(finish(r));
    *out = r;
    r = NULL;
done:
    krein__reader_close(r);
    return st;
}

/* ---- a pass ------------------------------------------------------------- */

static krein_status rewind_block(krein_reader *r) {
    krein_memory *s = own(r);
    s->at = 0;
    s->ended = false;
    if (!s->source.next || s->unread) return KREIN_OK;
    if (!s->source.rewind)
        return krein__fail(r->ctx, KREIN_EDATA,
                           "%s: the rows do not fit in memory and must be read again, but their "
                           "source has no function rewind",
                           r->path);
    krein_status st = s->source.rewind(s->source.user);
    if (st != KREIN_OK) return call_failed(r, "rewind", st);
    s->view.n = 0; /* the next one is asked for when rows are wanted */
    return KREIN_OK;
}

/* A model may want text where there are numbers, and the other way round. */
static krein_status check_kinds(krein_reader *r) {
    for (int64_t j = 0; j < r->ncolumn; j++) {
        krein_column *c = &r->column[j];
        char column[96];
        if (c->role == KREIN_ROLE_FEATURE && c->reading.as && !c->given_text) {
            if (krein__reading_parts(c->reading) > 1)
                return krein__fail(r->ctx, KREIN_EDATA,
                                   "%s holds numbers, and the model was trained on dates there",
                                   krein__column_text(r, j, column));
            c->reading = (krein_reading){KREIN_AS_PLAIN, 0}; /* they are what would be read */
        }
        if (c->text == c->given_text) continue;
        if (c->role == KREIN_ROLE_FEATURE && c->reading.as) continue;
        if (c->role == KREIN_ROLE_LABEL)
            return krein__fail(r->ctx, KREIN_EDATA,
                               "the labels are %s, and the model was trained on %s",
                               c->given_text ? "text" : "numbers", c->text ? "text" : "numbers");
        if (c->role == KREIN_ROLE_FEATURE)
            return krein__fail(r->ctx, KREIN_EDATA,
                               "%s holds %s, and the model was trained on %s there",
                               krein__column_text(r, j, column), c->given_text ? "text" : "numbers",
                               c->text ? "text" : "numbers");
    }
    return KREIN_OK;
}

static krein_status memory_begin(krein_reader *r) {
    krein_status st = KREIN_OK;
    krein_memory *s = own(r);
    int64_t n = 0, labels = krein__view_labels(&s->first);
    TRY(check_kinds(r));
    TRY(krein__rows_roles(r));
    TRY(rewind_block(r));
    for (int64_t j = 0; j < r->ncolumn; j++) {
        if (r->column[j].role != KREIN_ROLE_FEATURE || r->column[j].text) continue;
        int64_t parts = krein__reading_parts(r->column[j].reading);
        for (int64_t k = 0; k < parts; k++) {
            s->input[n] = j - labels;
            s->shift[n++] = k == parts - 1 ? r->column[j].shift : 0;
        }
    }
    if (r->sparse) r->d = r->max_index > 0 ? r->max_index : s->first.d;
    r->in_bytes = !s->source.next && s->view.x && !r->sparse && s->view.type == KREIN_UINT8;
    for (int64_t k = 0; k < n; k++) r->in_bytes = r->in_bytes && s->shift[k] == 0;
done:
    return st;
}

/* Rows of the block that fit a batch, and their entries where they are sparse. */
static int64_t batch_rows(const krein_reader *r, int64_t *entries) {
    const krein_memory *s = own(r);
    const krein_rows_view *v = &s->view;
    const struct krein_reader_state *state = r->state;
    int64_t left = v->n - s->at, room = (int64_t)state->buffer, m = 0;
    *entries = 0;
    if (!r->sparse)
        return krein__min(
            left, krein__max(1, room / (4 * (state->nnum + state->ncat) + 8 * state->nlabel + 16)));
    int64_t from = krein__whole(v->indptr, v->indptr_type, s->at);
    for (; m < left; m++) {
        int64_t more = krein__whole(v->indptr, v->indptr_type, s->at + m + 1) - from;
        if (m > 0 && 8 * more + 24 * m > room) break;
        *entries = more;
    }
    return m;
}

static krein_status memory_next(krein_reader *r, krein_raw *raw) {
    krein_memory *s = own(r);
    krein_status st = KREIN_OK;
    int64_t entries;
    raw->n = 0;
    if (s->source.next && !s->ended && s->at == s->view.n) TRY(next_block(r));
    int64_t m = s->ended ? 0 : batch_rows(r, &entries);
    if (m == 0) goto done;
    TRY(krein__rows_room(r, raw, m, entries, 0));
    TRY(krein__convert(r, s, m, raw));
    raw->n = m;
    s->at += m;
    s->unread = false;
    r->state->row += m;
done:
    return st;
}

static krein_status memory_seek(krein_reader *r, const krein_mark *to) {
    krein_memory *s = own(r);
    krein_status st = KREIN_OK;
    while (r->state->row < to->row) {
        if (s->source.next && s->at == s->view.n) TRY(next_block(r));
        int64_t m = s->ended ? 0 : krein__min(s->view.n - s->at, to->row - r->state->row);
        if (m == 0)
            return krein__fail(r->ctx, KREIN_EIO, "%s: there are fewer rows than before", r->path);
        s->at += m;
        s->unread = false;
        r->state->row += m;
    }
done:
    return st;
}

const krein_reader_class krein__read_memory = {.name = "memory",
                                               .begin = memory_begin,
                                               .next = memory_next,
                                               .seek = memory_seek,
                                               .close = memory_close};
