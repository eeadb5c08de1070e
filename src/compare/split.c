/* split.c -- the rows of a split as CSV for another program, and the measure of its predictions.
 *
 * Inputs are the columns that a model would take: numbers, texts as they are, a date as the numbers
 * that it is read as (year, month, weekday, hour, days). Missing cells are empty. Sparse rows are
 * written with their zeros. */
#include "compare/compare.h"

#include "base/text.h"
#include "file/number.h"
#include "file/writer.h"
#include "model/model.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPARSE_COLUMNS = 20000 }; /* of sparse rows that are written with their zeros */

/* ---- writing ------------------------------------------------------------ */

typedef struct row_writer {
    krein_data *data;
    krein_writer *to[2]; /* training rows, held-out rows */
    krein_split *split;
    float *dense; /* a sparse row; zeros between calls */
    int64_t room; /* held-out rows */
} row_writer;

static krein_status put(krein_writer *w, const char *text) {
    return krein__writer_put(w, text, strlen(text));
}

static krein_status put_number(krein_writer *w, double x) {
    char text[40];
    return isnan(x) ? KREIN_OK : put(w, krein__number_text(x, text));
}

/* The number that was read as x less a shift: the shortest that is read so again. */
static krein_status put_shifted(krein_writer *w, float x, double shift) {
    double value = (double)x + shift;
    for (int digits = 6; digits <= 17; digits++) {
        const double rounded = krein__round_digits((double)x + shift, digits);
        if ((float)(rounded - shift) != x) continue;
        value = rounded;
        break;
    }
    return put_number(w, value);
}

/* In quotes where it has a character that means something. */
static krein_status put_word(krein_writer *w, const char *word) {
    krein_status st = KREIN_OK;
    if (!word[strcspn(word, ",\"\r\n; \t'")] && *word) return put(w, word);
    TRY(put(w, "\""));
    for (; *word; word++) {
        if (*word == '"') TRY(put(w, "\""));
        TRY(krein__writer_put(w, word, 1));
    }
    TRY(put(w, "\""));
done:
    return st;
}

static double label_of(const row_writer *o, const krein_raw *raw, int64_t i, int64_t k) {
    const krein_encoding *e = &o->split->e;
    const double label = raw->label[i * raw->nlabel + k];
    if (e->task != KREIN_TASK_CLASSIFICATION) return label;
    return (double)krein__class_of(e, o->data->label_map, label);
}

static krein_status put_labels(const row_writer *o, krein_writer *w, const krein_raw *raw,
                               int64_t i) {
    krein_status st = KREIN_OK;
    const krein_encoding *e = &o->split->e;
    for (int64_t k = 0; k < raw->nlabel; k++) {
        const double label = label_of(o, raw, i, k);
        if (k > 0) TRY(put(w, ","));
        if (e->task == KREIN_TASK_CLASSIFICATION)
            TRY(put_word(w, e->class_name[(int64_t)label]));
        else
            TRY(put_number(w, label));
    }
done:
    return st;
}

static krein_status put_sparse(row_writer *o, krein_writer *w, const krein_raw *raw, int64_t i,
                               bool first) {
    krein_status st = KREIN_OK;
    char text[24];
    for (int64_t k = raw->ptr[i]; k < raw->ptr[i + 1]; k++) o->dense[raw->col[k]] = raw->val[k];
    for (int64_t j = 0; j < o->split->e.d; j++) {
        if (j > 0 || !first) TRY(put(w, ","));
        *krein__put_float(text, o->dense[j]) = 0;
        if (!isnan(o->dense[j])) TRY(put(w, text));
    }
    for (int64_t k = raw->ptr[i]; k < raw->ptr[i + 1]; k++) o->dense[raw->col[k]] = 0;
done:
    return st;
}

static krein_status put_text(const row_writer *o, krein_writer *w, int64_t column, int32_t code) {
    const krein_column *c = &o->data->reader->column[column];
    if (code < 0) return KREIN_OK;
    return c->hashed || code >= c->dict.n ? put_number(w, code) : put_word(w, c->dict.word[code]);
}

/* Numbers and texts in the order of the columns. */
static krein_status put_inputs(row_writer *o, krein_writer *w, const krein_raw *raw, int64_t ld,
                               int64_t i, bool first) {
    krein_status st = KREIN_OK;
    const krein_reader *r = o->data->reader;
    const krein_encoding *e = &o->split->e;
    int64_t number = 0, text = 0;
    if (raw->ptr) return put_sparse(o, w, raw, i, first);
    for (int64_t j = 0; j < r->ncolumn; j++) {
        const krein_column *c = &r->column[j];
        if (c->role != KREIN_ROLE_FEATURE) continue;
        const int64_t parts = c->text ? 1 : krein__reading_parts(c->reading);
        const bool left_out = e->ninput > 0 && e->input[j].left_out != KREIN_LEFT_NOT;
        for (int64_t k = 0; k < parts && !left_out; k++) {
            if (!first) TRY(put(w, ","));
            first = false;
            if (c->text) {
                TRY(put_text(o, w, j, raw->cat[i * raw->ncat + text]));
                continue;
            }
            /* The shift is taken off the last part alone. */
            const double shift = k == parts - 1 ? c->shift : 0;
            TRY(put_shifted(w, raw->num[i * ld + number + k], shift));
        }
        if (c->text)
            text++;
        else
            number += parts;
    }
done:
    return st;
}

static krein_status remember(row_writer *o, krein_ctx *ctx, const krein_raw *raw, int64_t i) {
    krein_split *s = o->split;
    if (s->n == o->room) {
        const int64_t room = krein__max(1024, 2 * o->room);
        double *label = krein__resize(ctx, s->label, room * raw->nlabel, sizeof *label);
        if (!label) return ctx->status;
        s->label = label;
        double *weight = krein__resize(ctx, s->weight, room, sizeof *weight);
        if (!weight) return ctx->status;
        s->weight = weight;
        o->room = room;
    }
    for (int64_t k = 0; k < raw->nlabel; k++)
        s->label[s->n * raw->nlabel + k] = label_of(o, raw, i, k);
    s->weight[s->n++] = raw->weight ? raw->weight[i] : 1;
    return KREIN_OK;
}

static krein_status write_rows(row_writer *o, krein_ctx *ctx) {
    krein_status st = KREIN_OK;
    krein_data *data = o->data;
    krein_raw_pass pass = {0};
    krein_raw *raw;
    int64_t ld;
    TRY(krein__raw_begin(&pass, data));
    for (;;) {
        TRY(krein__raw_next(&pass, &raw, &ld));
        if (!raw) break;
        TRY(krein__poll(ctx));
        o->split->outputs = raw->nlabel;
        for (int64_t i = 0; i < raw->n; i++) {
            const int part = data->part ? data->part[raw->from.row + i] : KREIN_PART_TRAIN;
            if (part != KREIN_PART_TRAIN && part != KREIN_PART_HELD) continue;
            krein_writer *w = o->to[part == KREIN_PART_HELD];
            if (part == KREIN_PART_TRAIN)
                TRY(put_labels(o, w, raw, i));
            else
                TRY(remember(o, ctx, raw, i));
            TRY(put_inputs(o, w, raw, ld, i, part == KREIN_PART_HELD));
            TRY(put(w, "\n"));
        }
    }
done:
    krein__raw_end(&pass);
    return st;
}

krein_status krein__split_write(krein_data *data, double holdout, uint64_t seed, const char *train,
                                const char *test, krein_split *out) {
    krein_ctx *ctx = data->ctx;
    krein_status st = KREIN_OK;
    row_writer o = {.data = data, .split = out};
    *out = (krein_split){0};
    TRY(krein__data_scan(data, KREIN_LABELS_WANTED, holdout, seed, &out->e));
    if (data->reader->sparse) {
        if (out->e.d > SPARSE_COLUMNS) {
            st = krein__fail(ctx, KREIN_EDATA,
                             "sparse rows of %lld columns are not written as CSV for other "
                             "programs; at most %d are",
                             (long long)out->e.d, SPARSE_COLUMNS);
            goto done;
        }
        ZNEW(o.dense, krein__max(1, out->e.d));
    }
    TRY(krein__writer_open(ctx, train, &o.to[0]));
    TRY(krein__writer_open(ctx, test, &o.to[1]));
    TRY(write_rows(&o, ctx));
    for (int k = 0; k < 2; k++) {
        krein_writer *w = o.to[k];
        o.to[k] = NULL;
        TRY(krein__writer_commit(w));
    }
done:
    krein__writer_abort(o.to[0]);
    krein__writer_abort(o.to[1]);
    krein__free(ctx, o.dense);
    return st;
}

void krein__split_clear(krein_ctx *ctx, krein_split *s) {
    krein__free(ctx, s->label);
    krein__free(ctx, s->weight);
    krein__encoding_clear(ctx, &s->e);
}

/* ---- measuring ---------------------------------------------------------- */

/* The number of the class that a text means, -1: none. Numbers may be spelled in other ways. */
static int64_t class_of(const krein_encoding *e, const char *text, size_t length) {
    double x;
    for (int64_t k = 0; k < e->nclass; k++)
        if (strlen(e->class_name[k]) == length && memcmp(e->class_name[k], text, length) == 0)
            return k;
    if (!e->class_value || krein__cell(text, length, &x) != KREIN_CELL_NUMBER) return -1;
    for (int64_t k = 0; k < e->nclass; k++)
        if (e->class_value[k] == x) return k;
    return -1;
}

/* The next cell of a line, without blanks and quotes around it; false at its end. A quoted cell may
 * have commas, and doubled quotes become one. */
static bool next_cell(char **at, char **cell, size_t *length) {
    char *p = *at, *to;
    if (!p) return false;
    p += strspn(p, " \t");
    if (*p == '"') {
        *cell = to = ++p;
        for (; *p && !(*p == '"' && p[1] != '"'); p++) {
            *to++ = *p;
            if (*p == '"') p++;
        }
        *length = (size_t)(to - *cell);
        if (*p) p++;
    } else {
        *cell = p;
        *length = strcspn(p, ",");
        p += *length;
        while (*length > 0 && strchr(" \t", (*cell)[*length - 1])) --*length;
    }
    p = strchr(p, ',');
    *at = p ? p + 1 : NULL;
    return true;
}

/* What is added up over the held-out rows. */
typedef struct score {
    const krein_split *s;
    krein_measure measure;
    double sum, weight;
    krein_row_score *side[2]; /* auc: of the two classes */
    int64_t n[2];
} score;

static krein_status bad_line(krein_ctx *ctx, int64_t row, const char *text, const char *why) {
    return krein__fail(ctx, KREIN_EDATA, "line %lld of its predictions is \"%.60s\": %s",
                       (long long)row + 1, text, why);
}

static krein_status add_numbers(krein_ctx *ctx, score *o, int64_t row, char *line) {
    const krein_split *s = o->s;
    char *at = line, *cell;
    size_t length;
    for (int64_t k = 0; k < s->outputs; k++) {
        double f;
        if (!next_cell(&at, &cell, &length) || krein__cell(cell, length, &f) != KREIN_CELL_NUMBER)
            return bad_line(ctx, row, line, "a number was expected");
        const double e = f - s->label[row * s->outputs + k];
        o->sum += s->weight[row] * (e * e) / (double)s->outputs;
    }
    o->weight += s->weight[row];
    return KREIN_OK;
}

/* Where they are not, a loss could be below that of the truth. Digits may be few. */
static bool are_probabilities(int64_t n, double least, double sum) {
    return least >= -1e-6 && fabs(sum - 1) <= 0.01 + 0.001 * (double)n;
}

static krein_status add_class(krein_ctx *ctx, score *o, int64_t row, char *line) {
    const krein_split *s = o->s;
    const int64_t truth = (int64_t)s->label[row];
    char *at = line, *cell;
    size_t length;
    double p, own = NAN, second = NAN, least = INFINITY, sum = 0;
    next_cell(&at, &cell, &length);
    const int64_t guess = class_of(&s->e, cell, length);
    if (guess < 0) return bad_line(ctx, row, line, "that is none of the classes");
    if (o->measure == KREIN_MEASURE_ERROR) {
        o->sum += guess == truth ? 0 : s->weight[row];
    } else {
        for (int64_t k = 0; k < s->e.nclass; k++) {
            if (!next_cell(&at, &cell, &length) ||
                krein__cell(cell, length, &p) != KREIN_CELL_NUMBER)
                return bad_line(ctx, row, line,
                                "this measure needs the probabilities of all classes behind the "
                                "prediction, with commas between");
            if (k == truth) own = p;
            if (k == 1) second = p;
            least = fmin(least, p);
            sum += p;
        }
        if (o->measure == KREIN_MEASURE_LOGLOSS && !are_probabilities(s->e.nclass, least, sum))
            return bad_line(ctx, row, line,
                            "probabilities are not below 0, and those of all classes sum to 1");
        o->sum += s->weight[row] * krein__log_loss(own);
        if (o->measure == KREIN_MEASURE_AUC && s->weight[row] > 0)
            o->side[truth][o->n[truth]++] = (krein_row_score){second, s->weight[row]};
    }
    o->weight += s->weight[row];
    return KREIN_OK;
}

/* Lines of the file; blank ones at the end do not count. */
static krein_status read_lines(krein_ctx *ctx, score *o, FILE *f, int64_t *rows) {
    krein_status st = KREIN_OK;
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    int64_t blank = 0;
    while ((length = getline(&line, &room, f)) >= 0) {
        while (length > 0 && strchr("\r\n", line[length - 1])) length -= 1;
        line[length] = 0;
        /* krein__cell reads behind the end of a number. */
        char *padded = krein__alloc(ctx, length + 1 + KREIN__PAD, 1);
        if (!padded) {
            st = ctx->status;
            break;
        }
        memcpy(padded, line, (size_t)length + 1);
        memset(padded + length + 1, 0, KREIN__PAD);
        blank = padded[strspn(padded, " \t")] ? 0 : blank + 1;
        if (blank == 0 && *rows < o->s->n)
            st = o->s->e.task == KREIN_TASK_CLASSIFICATION ? add_class(ctx, o, *rows, padded)
                                                           : add_numbers(ctx, o, *rows, padded);
        krein__free(ctx, padded);
        if (st != KREIN_OK) break;
        if (blank == 0) ++*rows;
    }
    free(line);
    return st;
}

krein_status krein__split_measure(krein_ctx *ctx, const krein_split *s, const char *path,
                                  krein_measure measure, double *out) {
    krein_status st = KREIN_OK;
    score o = {.s = s, .measure = measure};
    int64_t rows = 0;
    FILE *f = fopen(path, "r");
    if (!f) return krein__fail(ctx, KREIN_EIO, "it wrote no predictions to {out}");
    for (int k = 0; k < 2 && measure == KREIN_MEASURE_AUC; k++) NEW(o.side[k], s->n);
    TRY(read_lines(ctx, &o, f, &rows));
    if (rows != s->n) {
        st = krein__fail(ctx, KREIN_EDATA, "it wrote %lld predictions for %lld rows",
                         (long long)rows, (long long)s->n);
        goto done;
    }
    *out = o.sum / o.weight;
    if (measure == KREIN_MEASURE_RMSE) *out = sqrt(*out);
    if (measure == KREIN_MEASURE_AUC) *out = krein__auc(o.n[0], o.side[0], o.n[1], o.side[1]);
done:
    fclose(f);
    krein__free(ctx, o.side[0]);
    krein__free(ctx, o.side[1]);
    return st;
}
