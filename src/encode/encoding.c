/* encoding.c -- an encoding is made: its inputs from the columns of a file, its scaling from column
 * statistics. */
#include "encode/encoding.h"

#include "file/lines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void krein__encoding_clear(krein_ctx *ctx, krein_encoding *e) {
    for (int64_t j = 0; e->input && j < e->ninput; j++) {
        krein__free(ctx, e->input[j].name);
        krein__dict_clear(ctx, &e->input[j].dict);
        krein__target_clear(ctx, &e->input[j].target);
    }
    krein__free(ctx, e->input);
    krein__free(ctx, e->log);
    krein__free(ctx, e->centre);
    krein__free(ctx, e->factor);
    krein__free(ctx, e->fill);
    krein__free(ctx, e->range_low);
    krein__free(ctx, e->range_high);
    krein__free(ctx, e->metric);
    krein__free(ctx, e->matrix);
    for (int64_t k = 0; e->class_name && k < e->nclass; k++) krein__free(ctx, e->class_name[k]);
    krein__free(ctx, e->class_name);
    krein__free(ctx, e->class_value);
    memset(e, 0, sizeof *e);
}

int64_t krein__block_rows(int64_t d) {
    enum { ROWS = 10 * KREIN_TILE, WIDE = 4096 };
    if (d <= WIDE) return ROWS;
    return krein__max(KREIN_TILE, (int64_t)ROWS * WIDE / d / KREIN_TILE * KREIN_TILE);
}

const char *krein__scale_name(krein_scale scale) {
    static const char *const name[] = {"standard", "minmax", "unit", "none"};
    return name[scale];
}

/* ---- inputs ------------------------------------------------------------- */

/* A column of numbers is taken for text where a cell at its beginning is none: that cell, or NULL.
 */
static const char *odd_cell(const krein_dict *d) {
    const char *odd = NULL;
    int64_t numbers = 0;
    for (int64_t k = 0; k < d->n; k++) {
        char cell[40 + KREIN__PAD] = "";
        double value;
        snprintf(cell, 40, "%s", d->word[k]);
        bool number = krein__cell(cell, strlen(cell), &value) == KREIN_CELL_NUMBER;
        numbers += number;
        if (!number && !odd) odd = d->word[k];
    }
    return 2 * numbers > d->n ? odd : NULL;
}

static krein_status too_many_texts(const krein_reader *r, int64_t j) {
    const krein_column *c = &r->column[j];
    char column[96];
    long long number = (long long)krein__reader_number(r, j);
    krein__column_text(r, j, column);
    return krein__fail(r->ctx, KREIN_EDATA,
                       "%s: %s has %lld distinct texts, more than the %d categories that "
                       "`categories=onehot` allows; use `categories=auto`, or leave the column out "
                       "with `ignore=%lld`",
                       r->path, column, (long long)c->dict.n, KREIN_CATEGORIES_MAX, number);
}

static void warn_odd(const krein_reader *r, int64_t j) {
    char column[96], cell[48];
    const char *odd = odd_cell(&r->column[j].dict);
    if (!odd) return;
    krein__log(r->ctx, KREIN_LOG_WARNING,
               "%s: %s is taken for text because of a cell \"%s\", but most of its texts are "
               "numbers; correct that cell, or empty it",
               r->path, krein__column_text(r, j, column), krein__cell_text(odd, strlen(odd), cell));
}

int64_t krein__input_values(const krein_input *in) {
    if (!in->text) return krein__reading_parts(in->reading);
    return in->texts == KREIN_TEXTS_TARGET ? in->target.columns
           : in->texts == KREIN_TEXTS_HASH ? KREIN_HASHED / 2
                                           : in->dict.n;
}

bool krein__encoding_folds(const krein_encoding *e) {
    for (int64_t j = 0; j < e->ninput; j++)
        if (e->input[j].target.fold) return true;
    return false;
}

int64_t krein__place_inputs(krein_encoding *e) {
    int64_t d = 0;
    for (int64_t j = 0; j < e->ninput; j++) {
        krein_input *in = &e->input[j];
        in->at = -1;
        if (in->role != KREIN_ROLE_FEATURE) continue;
        in->at = d;
        d += krein__input_values(in) + in->indicator;
    }
    return d;
}

static void leave_out(krein_input *in, krein_left_out why) {
    in->role = KREIN_ROLE_IGNORE;
    in->left_out = why;
}

/* Texts that are nearly all distinct name the rows. */
static bool names_rows(const krein_stats *t, int64_t cat) {
    enum { FEW = 100 };
    int64_t seen = 0;
    for (int64_t k = 0; k < t->codes[cat]; k++) seen += t->code_count[cat][k] > 0;
    return seen >= FEW && 10 * seen > 9 * t->cells[cat];
}

/* Columns of means of the target; 0: there are none to be had. */
static int64_t target_columns(const krein_encoding *e, bool labels) {
    enum { CLASSES = 20 };
    if (!labels) return 0;
    if (e->task == KREIN_TASK_REGRESSION) return e->outputs;
    if (e->task == KREIN_TASK_CLASSIFICATION && e->nclass == 2) return 1;
    return e->nclass <= CLASSES ? e->nclass : 0;
}

/* How column j, a text, is encoded, or that it is left out. */
static krein_status encode_texts(krein_reader *r, int64_t j, const krein_stats *t, int64_t cat,
                                 krein_categories how, int64_t means, krein_input *in) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    krein_column *c = &r->column[j];
    bool many = c->dict.n > KREIN_CATEGORIES_MAX;
    bool useless = how != KREIN_CATEGORIES_ONEHOT && !c->hashed && names_rows(t, cat);
    if (how == KREIN_CATEGORIES_ONEHOT && many) return too_many_texts(r, j);
    if (useless || (how == KREIN_CATEGORIES_AUTO && many)) warn_odd(r, j);
    c->frozen = true;
    if (useless || (many && means == 0 && c->dict.n == KREIN_WORDS_MAX)) {
        leave_out(in, useless ? KREIN_LEFT_DISTINCT : KREIN_LEFT_MANY);
        krein__dict_clear(ctx, &c->dict); /* no word is looked up any more */
        return KREIN_OK;
    }
    TRY(krein__dict_copy(ctx, &c->dict, &in->dict));
    if (c->hashed || (many && means == 0)) {
        in->texts = KREIN_TEXTS_HASH;
        c->hashed = true;
        krein__dict_clear(ctx, &c->dict);
    } else if (many || how == KREIN_CATEGORIES_TARGET) {
        in->texts = KREIN_TEXTS_TARGET;
        c->open = true;
        TRY(krein__target_begin(ctx, c->dict.n, means, &in->target));
    }
done:
    return st;
}

krein_status krein__encode_inputs(krein_ctx *ctx, krein_reader *r, const krein_stats *stats,
                                  krein_categories how, bool labels, krein_encoding *e) {
    krein_status st = KREIN_OK;
    int64_t num = 0, cat = 0, means = target_columns(e, labels);
    e->d = 0;
    if (r->sparse) {
        e->d = r->d;
        e->sparse = true;
        return KREIN_OK;
    }
    e->header = r->header;
    ZNEW(e->input, r->ncolumn);
    e->ninput = r->ncolumn;
    /* Weights and groups that came beside rows in memory are no columns, and stand last. */
    while (e->ninput > 0 && r->column[e->ninput - 1].given > KREIN_ROLE_LABEL) e->ninput--;
    for (int64_t j = 0; j < e->ninput; j++) {
        krein_column *c = &r->column[j];
        krein_input *in = &e->input[j];
        if (c->name) DUP(in->name, c->name);
        in->role = c->role;
        in->text = c->text;
        in->reading = c->reading;
        in->shift = c->shift;
        if (c->role != KREIN_ROLE_FEATURE) continue;
        double absent = c->text ? stats->no_code[cat] : stats->absent[num];
        if (c->text && how == KREIN_CATEGORIES_TARGET && means == 0) {
            st = krein__fail(ctx, KREIN_EARG,
                             "%s: `categories=target` needs labels, numbers or at most 20 classes; "
                             "use `categories=hash`",
                             r->path);
            goto done;
        }
        if (c->text)
            TRY(encode_texts(r, j, stats, cat, how, means, in));
        else if (stats->count[num] == 0 && e->missing == KREIN_MISSING_AUTO)
            leave_out(in, KREIN_LEFT_EMPTY);
        if (c->text)
            cat++;
        else
            num += krein__input_values(in);
        in->indicator = e->missing == KREIN_MISSING_AUTO && absent > 0 && !in->left_out &&
                        in->texts != KREIN_TEXTS_TARGET; /* there it is a category */
    }
    e->d = krein__place_inputs(e);
done:
    return st;
}

/* ---- scaling ------------------------------------------------------------ */

/* What is known of a column before it is scaled. */
typedef struct column {
    double mean, variance, low, high; /* of the rows that count */
    double least, most;               /* of all */
} column;

static void scale_column(krein_encoding *e, int64_t at, column c) {
    e->fill[at] = (float)c.mean;
    e->centre[at] = 0;
    e->factor[at] = 1;
    if (e->scale == KREIN_SCALE_STANDARD) {
        e->centre[at] = e->sparse ? 0 : (float)c.mean;
        e->factor[at] = c.variance > 0 ? (float)(1 / sqrt(c.variance)) : 1;
    } else if (e->scale == KREIN_SCALE_MINMAX) {
        e->centre[at] = e->sparse ? 0 : (float)c.low;
        double range = e->sparse ? fmax(fabs(c.low), fabs(c.high)) : c.high - c.low;
        e->factor[at] = range > 0 ? (float)(1 / range) : (e->sparse ? 1 : 0);
    }
    e->low = fmin(e->low, (c.least - (double)e->centre[at]) * (double)e->factor[at]);
    e->high = fmax(e->high, (c.most - (double)e->centre[at]) * (double)e->factor[at]);
}

/* A row of length one has entries of at most 1. */
static void unit_bounds(krein_encoding *e) {
    if (e->scale != KREIN_SCALE_UNIT) return;
    e->low = e->low < 0 ? -1 : 0;
    e->high = e->high > 0 ? 1 : 0;
}

static void scale_sparse(const krein_stats *t, krein_encoding *e) {
    for (int64_t j = 0; j < e->d; j++) {
        column c = {0};
        if (j < t->nnum) {
            double mean = t->mean[j] / t->weight, square = t->m2[j] / t->weight;
            c = (column){mean,       square - mean * mean, t->low[j],
                         t->high[j], t->least[j],          t->most[j]};
        }
        scale_column(e, j, c);
    }
}

/* A column of zeros and ones, with a share p of ones. */
static void scale_indicator(krein_encoding *e, int64_t at, double p) {
    double low = p == 1 ? 1 : 0, high = p == 0 ? 0 : 1;
    scale_column(e, at, (column){p, p * (1 - p), low, high, low, high});
}

/* One column for each category: its indicator. Missing cells count where they have one too. */
static void scale_categories(const krein_stats *t, int64_t cat, const krein_input *in,
                             krein_encoding *e) {
    double seen = in->indicator ? t->no_code[cat] : 0;
    for (int64_t k = 0; k < t->codes[cat]; k++) seen += t->code_count[cat][k];
    for (int64_t k = 0; k < in->dict.n; k++)
        scale_indicator(e, in->at + k,
                        seen > 0 && k < t->codes[cat] ? t->code_count[cat][k] / seen : 0);
    if (in->indicator) scale_indicator(e, in->at + in->dict.n, t->no_code[cat] / seen);
}

/* Column b of a hashed text: 1 with code b, -1 with code b + HASHED / 2, else 0. */
static void scale_hashed(const krein_stats *t, int64_t cat, const krein_input *in,
                         krein_encoding *e) {
    double seen = in->indicator ? t->no_code[cat] : 0, *count = t->code_count[cat];
    for (int64_t k = 0; k < t->codes[cat]; k++) seen += count[k];
    for (int64_t b = 0; b < KREIN_HASHED / 2; b++) {
        int64_t minus = b + KREIN_HASHED / 2;
        double up = b < t->codes[cat] && seen > 0 ? count[b] / seen : 0;
        double down = minus < t->codes[cat] && seen > 0 ? count[minus] / seen : 0;
        double low = down > 0 ? -1 : up == 1 ? 1 : 0, high = up > 0 ? 1 : down == 1 ? -1 : 0;
        double mean = up - down;
        scale_column(e, in->at + b, (column){mean, up + down - mean * mean, low, high, low, high});
    }
    if (in->indicator) scale_indicator(e, in->at + KREIN_HASHED / 2, t->no_code[cat] / seen);
}

static void scale_means(const krein_stats *t, const krein_input *in, krein_encoding *e) {
    double other = in->dict.n == KREIN_WORDS_MAX ? t->weight : 0;
    for (int64_t at = 0; other > 0 && at < KREIN_FOLDS * (in->dict.n + 1); at++)
        other -= in->target.weight[at];
    for (int64_t k = 0; k < in->target.columns; k++) {
        krein_target_moments m = krein__target_moments(&in->target, k, other);
        scale_column(e, in->at + k, (column){m.mean, m.variance, m.low, m.high, m.low, m.high});
    }
}

static void scale_texts(const krein_stats *t, int64_t cat, const krein_input *in,
                        krein_encoding *e) {
    switch (in->texts) {
    case KREIN_TEXTS_ONEHOT:
        scale_categories(t, cat, in, e);
        break;
    case KREIN_TEXTS_TARGET:
        scale_means(t, in, e);
        break;
    case KREIN_TEXTS_HASH:
        scale_hashed(t, cat, in, e);
        break;
    }
}

/* The columns of a channel of an image are scaled as one. */
static krein_status scale_channel(const krein_reader *r, const krein_stats *t, int64_t channel,
                                  krein_encoding *e) {
    int64_t step = e->image[2];
    double count = 0, sum = 0, square = 0;
    column c = {0, 0, INFINITY, -INFINITY, INFINITY, -INFINITY};
    for (int64_t j = channel; j < e->d; j += step) {
        if (t->count[j] == 0) continue;
        count += t->count[j];
        sum += t->count[j] * t->mean[j];
        c.low = fmin(c.low, t->low[j]);
        c.high = fmax(c.high, t->high[j]);
        c.least = fmin(c.least, t->least[j]);
        c.most = fmax(c.most, t->most[j]);
    }
    if (count == 0)
        return krein__fail(r->ctx, KREIN_EDATA,
                           "%s: channel %lld of the images has no value in any row", r->path,
                           (long long)channel + 1);
    c.mean = sum / count;
    for (int64_t j = channel; j < e->d; j += step)
        square += t->m2[j] + t->count[j] * (t->mean[j] - c.mean) * (t->mean[j] - c.mean);
    c.variance = square / count;
    for (int64_t j = channel; j < e->d; j += step) scale_column(e, j, c);
    return KREIN_OK;
}

/* The number of the fewest digits that the cell can have had: it is shift + v, and v was rounded to
 * float32. */
static double cell_value(double shift, double v) {
    const float size = fabsf((float)v);
    const double half = ((double)nextafterf(size, INFINITY) - (double)size) / 2, x = shift + v;
    for (int digits = 1; digits < 16; digits++) {
        double short_one = krein__round_digits(x, digits);
        if (fabs(short_one - x) <= half) return short_one;
    }
    return x;
}

int64_t krein__encoding_ranges(const krein_encoding *e) { return e->ninput ? e->ninput : e->d; }

/* Column j of the ranges is number `num` of the statistics. */
static void set_range(const krein_stats *t, int64_t num, double shift, int64_t j,
                      krein_encoding *e) {
    if (num >= t->nnum || !(t->low[num] <= t->high[num])) return;
    e->range_low[j] = cell_value(shift, t->low[num]);
    e->range_high[j] = fmax(e->range_low[j], cell_value(shift, t->high[num]));
}

bool krein__encoding_range(const krein_encoding *e, int64_t j, double *low, double *high) {
    if (!e->range_low || j < 0 || j >= krein__encoding_ranges(e)) return false;
    if (e->ninput && (e->input[j].role != KREIN_ROLE_FEATURE || e->input[j].text)) return false;
    *low = e->range_low[j];
    *high = e->range_high[j];
    return true;
}

bool krein__encoding_outside(const krein_encoding *e, int64_t j, double value) {
    double low, high;
    if (isnan(value) || !krein__encoding_range(e, j, &low, &high)) return false;
    const double slack = 0x1p-22 * fmax(fabs(low), fabs(high));
    return value < low - slack || value > high + slack;
}

static krein_status scale_number(const krein_reader *r, const krein_stats *t, int64_t num,
                                 int64_t j, int64_t at, krein_encoding *e) {
    long long number = (long long)krein__reader_number(r, j);
    if (t->count[num] == 0)
        return krein__fail(r->ctx, KREIN_EDATA,
                           "%s: column %lld has no value in any row; leave it out with "
                           "`ignore=%lld`",
                           r->path, number, number);
    scale_column(e, at,
                 (column){t->mean[num], t->m2[num] / t->count[num], t->low[num], t->high[num],
                          t->least[num], t->most[num]});
    return KREIN_OK;
}

krein_status krein__encode_scaling(const krein_reader *r, const krein_stats *t, krein_encoding *e) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    int64_t num = 0, cat = 0;
    ZNEW(e->centre, e->d);
    ZNEW(e->factor, e->d);
    ZNEW(e->fill, e->d);
    ZNEW(e->range_low, krein__encoding_ranges(e));
    ZNEW(e->range_high, krein__encoding_ranges(e));
    e->low = INFINITY;
    e->high = -INFINITY;
    bool images = e->image[0] > 0;
    if (e->sparse) scale_sparse(t, e);
    for (int64_t j = 0; e->sparse && j < e->d; j++) set_range(t, j, 0, j, e);
    for (int64_t c = 0; images && c < e->image[2]; c++) TRY(scale_channel(r, t, c, e));
    for (int64_t j = 0; !e->sparse && !images && j < (e->ninput ? e->ninput : e->d); j++) {
        const krein_input *in = e->ninput ? &e->input[j] : NULL;
        if (in && in->left_out && in->text) cat++;
        if (in && in->left_out && !in->text) num += krein__input_values(in);
        if (in && in->role != KREIN_ROLE_FEATURE) continue;
        if (in && in->text) {
            scale_texts(t, cat++, in, e);
            continue;
        }
        int64_t parts = in ? krein__input_values(in) : 1, at = in ? in->at : j;
        for (int64_t k = 0; k < parts; k++) TRY(scale_number(r, t, num + k, j, at + k, e));
        set_range(t, num + parts - 1, in ? in->shift : 0, j, e); /* of a date: its days */
        if (in && in->indicator)
            scale_indicator(e, at + parts, t->absent[num] / (t->absent[num] + t->count[num]));
        num += parts;
    }
    unit_bounds(e);
done:
    return st;
}

/* ---- after scaling ------------------------------------------------------ */

krein_metric_kind krein__encoding_metric(const krein_encoding *e) {
    return e->matrix ? KREIN_METRIC_FULL : e->metric ? KREIN_METRIC_DIAGONAL : KREIN_METRIC_NONE;
}

bool krein__encoding_clips(const krein_encoding *e) {
    return e->clip > 0 && isfinite(e->clip) && !e->sparse && e->scale != KREIN_SCALE_UNIT;
}

bool krein__encoding_bytes(const krein_encoding *e) {
    return e->image[0] > 0 && !e->log && !e->metric && !e->matrix && e->scale != KREIN_SCALE_UNIT &&
           !krein__encoding_clips(e);
}

/* n numbers in place of those that are there; from NULL: none. */
static krein_status replace(krein_ctx *ctx, int64_t n, const double *from, float **to) {
    krein_status st = KREIN_OK;
    float *copy = NULL;
    if (from) NEW(copy, n);
    for (int64_t i = 0; from && i < n; i++) {
        copy[i] = (float)from[i];
        if (isfinite(copy[i])) continue;
        st = krein__fail(ctx, KREIN_ENUMERIC, "a number of the metric is not finite");
        goto done;
    }
    krein__free(ctx, *to);
    *to = copy;
    return KREIN_OK;
done:
    krein__free(ctx, copy);
    return st;
}

krein_status krein__encoding_set_metric(krein_ctx *ctx, krein_encoding *e, const double *a) {
    return replace(ctx, e->d, a, &e->metric);
}

krein_status krein__encoding_set_matrix(krein_ctx *ctx, krein_encoding *e, const double *A) {
    if (A && e->sparse)
        return krein__fail(ctx, KREIN_ESPEC,
                           "a full metric needs dense rows; give them as CSV or NPY");
    if (A && e->d > KREIN_MATRIX_MAX)
        return krein__fail(ctx, KREIN_ESPEC,
                           "a full metric takes at most %d columns, and there are %lld",
                           KREIN_MATRIX_MAX, (long long)e->d);
    return replace(ctx, e->d * e->d, A, &e->matrix);
}

/* From bounds of x_j to bounds of all factor[j] x_j. */
static void factor_bounds(int64_t d, const float *factor, double *low, double *high) {
    double least = INFINITY, most = -INFINITY;
    for (int64_t j = 0; j < d; j++) {
        double a = (double)factor[j];
        least = fmin(least, fmin(a * *low, a * *high));
        most = fmax(most, fmax(a * *low, a * *high));
    }
    *low = least;
    *high = most;
}

/* And of all sums over a row of the matrix. */
static void matrix_bounds(int64_t d, const float *matrix, double *low, double *high) {
    double least = INFINITY, most = -INFINITY;
    for (int64_t i = 0; i < d; i++) {
        double from = 0, to = 0;
        for (int64_t j = 0; j < d; j++) {
            double a = (double)matrix[i * d + j];
            from += fmin(a * *low, a * *high);
            to += fmax(a * *low, a * *high);
        }
        least = fmin(least, from);
        most = fmax(most, to);
    }
    *low = least;
    *high = most;
}

void krein__encoding_bounds(const krein_encoding *e, double *low, double *high) {
    *low = e->low;
    *high = e->high;
    if (krein__encoding_clips(e)) {
        *low = fmin(fmax(*low, (double)-e->clip), (double)e->clip);
        *high = fmin(fmax(*high, (double)-e->clip), (double)e->clip);
    }
    if (e->metric) factor_bounds(e->d, e->metric, low, high);
    if (e->matrix) matrix_bounds(e->d, e->matrix, low, high);
}
