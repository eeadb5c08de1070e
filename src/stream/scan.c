/* scan.c -- the first look at a data set: rows, task, classes, categories, held-out rows and
 * column statistics; from them the encoding.
 *
 * One pass where nothing is held out or kept apart; two more over the rows (in memory, or the file
 * again) where the statistics must leave out rows that are only known at the end. Rows are kept in
 * memory while they fit a third of the budget; beyond it they are forgotten and the file is read
 * again for every pass.
 */
#include "stream/data.h"
#include "stream/memory.h"
#include "stream/scan.h"
#include "dist/dist.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const int64_t NPY_IN_MEMORY = (int64_t)64 << 20;

static bool no_label(const krein_data *data, const krein_raw *raw, int64_t i) {
    for (int64_t k = 0; raw->label && k < raw->nlabel && data->has_label; k++)
        if (isnan(raw->label[i * raw->nlabel + k])) return true;
    return false;
}

static bool incomplete(const krein_raw *raw, int64_t ld, int64_t i) {
    if (!raw->any_missing) return false;
    for (int64_t k = raw->ptr ? raw->ptr[i] : 0; raw->ptr && k < raw->ptr[i + 1]; k++)
        if (isnan(raw->val[k])) return true;
    if (raw->ptr) return false;
    for (int64_t j = 0; j < raw->nnum; j++)
        if (isnan(raw->num[i * ld + j])) return true;
    for (int64_t k = 0; k < raw->ncat; k++)
        if (raw->cat[i * raw->ncat + k] == -1) return true;
    return false;
}

int krein__raw_part(const krein_data *data, const krein_raw *raw, int64_t ld, int64_t i,
                    bool drop) {
    bool none = no_label(data, raw, i);
    if (drop && ((none && !data->unlabelled) || incomplete(raw, ld, i))) return KREIN_PART_DROPPED;
    return none && data->unlabelled ? KREIN_PART_UNLABELLED : KREIN_PART_TRAIN;
}

/* ---- scanning ----------------------------------------------------------- */

/* Labels and groups of every row, for choosing held-out rows by class or group. */
static krein_status remember_labels(krein_scan *s, const krein_raw *raw) {
    krein_ctx *ctx = s->ctx;
    if (s->rows + raw->n > s->label_room) {
        int64_t room = krein__max(2 * s->label_room, s->rows + raw->n);
        double *label = krein__resize(ctx, s->label, room, sizeof *label);
        if (!label) return ctx->status;
        s->label = label;
        int32_t *group = krein__resize(ctx, s->group, room, sizeof *group);
        if (!group) return ctx->status;
        s->group = group;
        s->label_room = room;
    }
    for (int64_t i = 0; i < raw->n; i++) {
        s->label[s->rows + i] = raw->nlabel ? raw->label[i * raw->nlabel] : 0;
        s->group[s->rows + i] = raw->group ? raw->group[i] : 0;
    }
    return KREIN_OK;
}

void krein__sum_labels(krein_scan *s, const krein_raw *raw, int64_t i) {
    double w = raw->weight ? raw->weight[i] : 1;
    for (int64_t k = 0; k < raw->nlabel; k++)
        s->label_sum[k] += w * raw->label[i * raw->nlabel + k];
}

static krein_status scan_labels(krein_scan *s, const krein_raw *raw, int64_t i) {
    for (int64_t k = 0; k < raw->nlabel; k++) {
        double y = raw->label[i * raw->nlabel + k];
        if (!isfinite(y))
            return krein__fail(s->ctx, KREIN_EDATA, "%s: %s has a label that is %s", s->data->name,
                               krein__row_text(s->data->reader, raw->from.row + i).text,
                               isinf(y) ? "infinite"
                                        : "NaN; drop such rows with the missing option");
        s->data->label_most = fmax(s->data->label_most, fabs(y));
        krein_status st = krein__label_set_add(s->ctx, &s->labels, y);
        if (st != KREIN_OK) return st;
    }
    krein__sum_labels(s, raw, i);
    return KREIN_OK;
}

static krein_status scan_batch(krein_scan *s, const krein_raw *raw, int64_t ld, bool holdout) {
    krein_status st = KREIN_OK;
    bool drop = s->data->options.missing == KREIN_MISSING_DROP;
    if (holdout) TRY(remember_labels(s, raw));
    for (int64_t i = 0; i < raw->n; i++) {
        int part = krein__raw_part(s->data, raw, ld, i, drop);
        s->unlabelled += part == KREIN_PART_UNLABELLED;
        if (part != KREIN_PART_TRAIN) continue;
        s->kept++;
        if (s->data->has_label) TRY(scan_labels(s, raw, i));
        if (s->stats_now) TRY(krein__stats_add(s->ctx, &s->stats, raw, ld, i));
    }
    s->rows += raw->n;
done:
    return st;
}

void krein__feature_counts(const krein_data *data, int64_t *nnum, int64_t *ncat) {
    *nnum = *ncat = 0;
    for (int64_t j = 0; j < data->reader->ncolumn && !data->reader->sparse; j++)
        if (data->reader->column[j].role == KREIN_ROLE_FEATURE) {
            const krein_column *c = &data->reader->column[j];
            *ncat += c->text;
            *nnum += c->text ? 0 : krein__reading_parts(c->reading);
        }
}

static bool keep_in_memory(const krein_data *data) {
    krein_keep keep = data->ctx->keep_rows;
    if (data->once) return false;
    if (keep != KREIN_KEEP_AUTO) return keep == KREIN_KEEP_MEMORY;
    const krein_reader *r = data->reader;
    if (r->again) return false;
    return r->format != KREIN_FORMAT_NPY || r->gzip ||
           r->bytes / krein__comm_size(data->ctx) < NPY_IN_MEMORY;
}

static krein_status no_time(const krein_scan *s) {
    return krein__fail(s->ctx, KREIN_ETIME,
                       "%s: `time_limit` passed in the first pass over the data, after %lld rows; "
                       "give more time, or fewer rows",
                       s->data->name, (long long)s->rows);
}

static krein_status scan_file(krein_scan *s, bool holdout) {
    krein_data *data = s->data;
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    krein_raw_pass pass = {0};
    krein_raw *raw;
    int64_t ld;
    bool memory = keep_in_memory(data);
    uint64_t limit = ctx->keep_rows == KREIN_KEEP_MEMORY ? UINT64_MAX : ctx->budget / 3;
    uint64_t before = atomic_load(&ctx->held);
    TRY(krein__raw_begin(&pass, data));
    for (;;) {
        st = krein__raw_next(&pass, &raw, &ld);
        if (st == KREIN_ETIME) st = no_time(s);
        if (st != KREIN_OK) goto done;
        if (!raw) break;
        TRY(scan_batch(s, raw, ld, holdout));
        if (memory && atomic_load(&ctx->held) - before > limit) {
            krein__log(ctx, KREIN_LOG_INFO,
                       "%s does not fit in memory; it is read in several passes", data->name);
            krein__data_forget(data);
            memory = false;
        }
        if (memory) TRY(krein__data_keep(data, raw));
    }
    data->in_memory = memory;
    if (data->share.own) TRY(krein__share_number(ctx, s->rows, &data->share));
    data->nrows = data->share.on ? data->share.total : s->rows;
done:
    krein__raw_end(&pass);
    return st;
}

/* ---- with the other processes ------------------------------------------- */

static krein_status recode_counts(krein_ctx *ctx, const krein_recode *r, krein_stats *s) {
    krein_status st = KREIN_OK;
    double *old = NULL;
    for (int64_t k = 0; k < s->ncat; k++) {
        int64_t codes = s->codes[k], most = -1;
        if (codes == 0 || !r->cat[k]) continue;
        NEW(old, codes);
        memcpy(old, s->code_count[k], (size_t)codes * sizeof *old);
        for (int64_t c = 0; c < codes; c++)
            if (old[c] > 0) most = krein__max(most, r->cat[k][c]);
        TRY(krein__stats_codes(ctx, s, k, most + 1));
        memset(s->code_count[k], 0, (size_t)s->codes[k] * sizeof *s->code_count[k]);
        for (int64_t c = 0; c < codes; c++)
            if (old[c] > 0 && r->cat[k][c] >= 0) s->code_count[k][r->cat[k][c]] += old[c];
        krein__free(ctx, old);
        old = NULL;
    }
done:
    krein__free(ctx, old);
    return st;
}

/* The column with the text labels, in the data or in a file of their own; NULL: there is none. */
static krein_column *text_label(const krein_data *data) {
    krein_reader *r = data->labels ? data->labels : data->reader;
    int64_t j = data->labels ? 0 : data->label_column;
    if (!data->has_label || data->nlabel != 1 || j < 0) return NULL;
    return r->column[j].text ? &r->column[j] : NULL;
}

static void recode_rows(krein_data *data, const krein_recode *r) {
    for (int64_t s = 0; s < data->nsegment; s++) {
        krein_raw *raw = &data->segment[s].raw;
        for (int64_t i = 0; i < raw->n; i++) {
            for (int64_t k = 0; k < raw->ncat; k++) {
                int32_t *c = &raw->cat[i * raw->ncat + k];
                if (r->cat[k] && *c >= 0) *c = (int32_t)r->cat[k][*c];
            }
            if (r->label && !isnan(raw->label[i]))
                raw->label[i] = (double)r->label[(int64_t)raw->label[i]];
            if (r->group && raw->group) raw->group[i] = (int32_t)r->group[raw->group[i]];
        }
    }
}

/* From here[] to count[], before[] and root[]. */
static krein_status count_parts(krein_data *data) {
    if (data->share.on)
        return krein__share_counts(data->ctx, KREIN_PARTS, data->here, data->count, data->before,
                                   data->root);
    memcpy(data->count, data->here, sizeof data->count);
    memset(data->before, 0, sizeof data->before);
    return KREIN_OK;
}

/* Words, labels and numbers of rows, so far; columns follow when all parts are known. */
static krein_status put_together(krein_scan *s) {
    krein_ctx *ctx = s->ctx;
    krein_data *data = s->data;
    krein_status st = KREIN_OK;
    krein_recode codes = {0};
    int64_t rows[2] = {s->kept, s->unlabelled};
    if (!data->share.on) return KREIN_OK;
    TRY(krein__share_words(data->reader, text_label(data), &codes));
    recode_rows(data, &codes);
    if (s->stats_now) TRY(recode_counts(ctx, &codes, &s->stats));
    for (int64_t i = 0; s->label && i < s->rows; i++) {
        if (codes.label && !isnan(s->label[i]))
            s->label[i] = (double)codes.label[(int64_t)s->label[i]];
        if (codes.group) s->group[i] = (int32_t)codes.group[s->group[i]];
    }
    TRY(krein__share_labels(ctx, &s->labels));
    TRY(krein__comm_fold(ctx, KREIN_FOLD_SUM, 2, rows));
    TRY(krein__comm_most(ctx, 1, &data->label_most));
    s->all_kept = rows[0];
    s->all_unlabelled = rows[1];
done:
    krein__recode_clear(ctx, &codes);
    return st;
}

/* ---- the whole scan ------------------------------------------------------- */

/* The way out is with the option that took the columns. */
static krein_status no_inputs(const krein_data *data) {
    const krein_data_options *o = &data->options;
    char label[120];
    snprintf(label, sizeof label,
             "the label is column %lld: change it with `label`, or use `label=none`",
             (long long)data->label_column + 1);
    return krein__fail(data->ctx, KREIN_EDATA,
                       "%s: no column is left for the inputs (%lld in the file); %s", data->name,
                       (long long)data->reader->ncolumn,
                       o->ignore && *o->ignore   ? "leave fewer of them out with `ignore`"
                       : data->label_column >= 0 ? label
                                                 : "other options name all of them");
}

/* Sparse rows and images have no cells that could be left empty: NaN there is a mistake until said
 * otherwise.
 */
static krein_missing missing_of(const krein_data *data) {
    krein_missing missing = data->options.missing;
    bool none = data->reader->sparse || data->image[0] > 0;
    return missing == KREIN_MISSING_AUTO && none ? KREIN_MISSING_ERROR : missing;
}

/* Texts that look like something else are read as that: features as anything, labels as amounts. */
static void choose_reading(krein_column *c, krein_types types, bool memory) {
    bool feature = c->role == KREIN_ROLE_FEATURE, label = c->role == KREIN_ROLE_LABEL;
    c->reading = (krein_reading){KREIN_AS_PLAIN, 0};
    if (c->guess.as == KREIN_AS_PLAIN) return;
    c->text = types == KREIN_TYPES_PLAIN ||
              (!feature && !(label && !memory && c->guess.as == KREIN_AS_AMOUNT));
    if (!c->text) c->reading = c->guess;
}

static krein_status prepare_reader(krein_data *data, bool need_label) {
    krein_ctx *ctx = data->ctx;
    krein_reader *r = data->reader;
    krein_status st = KREIN_OK;
    const krein_data_options *o = &data->options;
    TRY(krein__data_side_roles(data));
    TRY(krein__data_label_role(data));
    if (need_label && !data->has_label) {
        st = krein__fail(ctx, KREIN_EARG,
                         data->image[0] > 0 && !o->label
                             ? "%s: training needs labels, and there are no columns but those of "
                               "the images; give the labels in a file of their own (`labels_file`)"
                             : "%s: training needs a label; `label=none` leaves it out",
                         data->name);
        goto done;
    }
    if (!need_label && data->has_label) {
        /* Not read at all, so that nothing in it can be wrong. */
        for (int64_t j = 0; j < r->ncolumn; j++)
            if (r->column[j].role == KREIN_ROLE_LABEL) r->column[j].role = KREIN_ROLE_IGNORE;
        data->has_label = false;
        data->nlabel = 0;
    }
    TRY(krein__data_image_check(data));
    bool affine =
        (o->scale == KREIN_SCALE_STANDARD || o->scale == KREIN_SCALE_MINMAX) && data->image[0] == 0;
    for (int64_t j = 0; j < r->ncolumn; j++) {
        krein_column *c = &r->column[j];
        c->frozen = c->open = false;
        choose_reading(c, o->types, r->memory);
        c->hashed =
            o->categories == KREIN_CATEGORIES_HASH && c->text && c->role == KREIN_ROLE_FEATURE;
        krein__dict_clear(ctx, &c->dict);
        bool date = c->reading.as == KREIN_AS_DATE; /* days are counted from the first one */
        c->shift = (affine || date) && !c->text && c->role == KREIN_ROLE_FEATURE ? c->first : 0;
    }
    if (need_label) TRY(krein__data_label_sets(data, o->task == KREIN_TASK_MULTILABEL));
    r->known_only = false;
    r->missing_ok = missing_of(data) != KREIN_MISSING_ERROR;
    r->label_optional = o->missing == KREIN_MISSING_DROP || data->unlabelled;
    int64_t nnum, ncat;
    krein__feature_counts(data, &nnum, &ncat);
    if (!r->sparse && nnum + ncat == 0) st = no_inputs(data);
done:
    return st;
}

/* Columns that are hashed because they turned out to have many words: the codes that are there
 * already become hashes. */
static krein_status hash_codes(krein_scan *s, krein_encoding *e) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    krein_recode codes = {0};
    int64_t cat = 0;
    bool any = false;
    ZNEW(codes.cat, krein__max(1, s->stats.ncat));
    codes.ncat = s->stats.ncat;
    for (int64_t j = 0; j < e->ninput; j++) {
        krein_input *in = &e->input[j];
        if (!in->text || s->data->reader->column[j].role != KREIN_ROLE_FEATURE) continue;
        int64_t **code = &codes.cat[cat++];
        if (in->texts != KREIN_TEXTS_HASH || in->dict.n == 0) continue;
        NEW(*code, in->dict.n);
        for (int64_t k = 0; k < in->dict.n; k++)
            (*code)[k] = krein__word_hash(in->dict.word[k], strlen(in->dict.word[k]));
        krein__dict_clear(ctx, &in->dict);
        any = true;
    }
    if (!any) goto done;
    recode_rows(s->data, &codes);
    TRY(recode_counts(ctx, &codes, &s->stats));
done:
    krein__recode_clear(ctx, &codes);
    return st;
}

/* The task, its classes, and the map from the words of the label to them. */
static krein_status decide_labels(krein_scan *s, krein_label_use labels, krein_encoding *e) {
    krein_data *data = s->data;
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    krein_dict *words = NULL;
    krein_reader *from = data->labels ? data->labels : data->reader;
    int64_t column = data->labels ? 0 : data->label_column;
    if (from && from->column[column].text) words = &from->column[column].dict;
    for (int64_t k = 0; data->options.targets > 1 && from && k < from->ncolumn; k++)
        if (from->column[k].role == KREIN_ROLE_LABEL && from->column[k].text)
            words = &from->column[k].dict; /* refused below */
    krein_task task = data->options.task;
    if (labels == KREIN_LABELS_CARRIED)
        task = words ? KREIN_TASK_CLASSIFICATION : KREIN_TASK_REGRESSION;
    krein_label_column label = {.path = data->name,
                                .guessed = data->label_guessed,
                                .commas = from->format == KREIN_FORMAT_LIBSVM};
    if (!data->labels && !data->reader->sparse && data->nlabel == 1 &&
        from->column[column].given == KREIN_ROLE_FEATURE) {
        label.name = from->column[column].name;
        if (!label.name && from->header) label.name = ""; /* an empty cell in the header */
        label.number = krein__reader_number(from, column);
    }
    if (labels == KREIN_LABELS_WANTED && task != KREIN_TASK_MULTILABEL)
        TRY(krein__label_check(ctx, &label, task, &s->labels, words));
    TRY(krein__task_decide(ctx, &label, task, data->options.targets, &s->labels, words, e));
    if (e->task == KREIN_TASK_CLASSIFICATION && e->nclass < 2 && !data->one_class) {
        st = krein__fail(ctx, KREIN_EDATA,
                         "%s: the label has one class only (\"%.60s\"); classification needs two: "
                         "is `label` the right column?",
                         data->name, e->nclass ? e->class_name[0] : "");
        goto done;
    }
    if (words) TRY(krein__data_label_words(data, e));
done:
    return st;
}

/* None of the parts that were asked for is empty. */
static krein_status check_parts(const krein_data *data, double holdout, bool calibrate) {
    const int64_t *n = data->count, least = n[KREIN_PART_TRAIN] < 2;
    if (holdout > 0 && (least || n[KREIN_PART_HELD] < 1))
        return krein__fail(data->ctx, KREIN_EDATA, "%s: too few rows for `holdout=%g`", data->name,
                           holdout);
    if (!calibrate || (!least && n[KREIN_PART_CALIBRATE] > 0)) return KREIN_OK;
    return krein__fail(data->ctx, KREIN_EDATA,
                       "%s: %lld rows are too few%s: for `uncertainty` and `probabilities` this "
                       "learner keeps 30 rows or more from the training, and at least 60 are "
                       "needed; krr keeps none",
                       data->name, (long long)(n[KREIN_PART_TRAIN] + n[KREIN_PART_CALIBRATE]),
                       data->options.group ? ", or their groups" : "");
}

static krein_status too_few(const krein_scan *s) {
    long long kept = (long long)s->all_kept, all = kept + (long long)s->all_unlabelled;
    if (all > kept)
        return krein__fail(s->ctx, KREIN_EDATA,
                           "%s: %lld of %lld rows %s a label; at least two are needed",
                           s->data->name, kept, all, kept == 1 ? "has" : "have");
    return krein__fail(s->ctx, KREIN_EDATA, "%s: %lld usable row%s; at least two are needed",
                       s->data->name, kept, kept == 1 ? "" : "s");
}

krein_status krein__data_scan(krein_data *data, krein_label_use labels, double holdout,
                              uint64_t seed, krein_encoding *e) {
    krein_ctx *ctx = data->ctx;
    krein_status st = KREIN_OK;
    bool parts = holdout > 0 || data->calibrate;
    krein_scan s = {.data = data, .ctx = ctx, .stats_now = !parts};
    bool need_label = labels != KREIN_LABELS_IGNORED;
    memset(e, 0, sizeof *e);
    krein__data_reset(data);
    data->label_most = 0;
    e->scale = data->options.scale;
    memcpy(e->image, data->image, sizeof e->image);
    e->missing = missing_of(data);
    e->unknown_ignore = data->options.unknown_ignore;
    /* What the processes have agreed on is for the scan that they make together. */
    if (data->options.own_rows && !data->share_rows) krein__memory_looked(data->reader, NULL);
    TRY(prepare_reader(data, need_label));
    if (need_label && !data->has_label) {
        st = krein__fail(ctx, KREIN_EARG, "training needs labels");
        goto done;
    }
    if (s.stats_now) {
        int64_t nnum, ncat;
        krein__feature_counts(data, &nnum, &ncat);
        TRY(krein__stats_begin(ctx, &s.stats, nnum, ncat, data->reader->sparse));
    }
    TRY(krein__data_share(data));
    TRY(scan_file(&s, parts));
    s.all_kept = s.kept;
    s.all_unlabelled = s.unlabelled;
    TRY(put_together(&s));
    if (s.all_kept < 2) {
        st = too_few(&s);
        goto done;
    }
    if (data->has_label) TRY(decide_labels(&s, labels, e));
    data->here[KREIN_PART_TRAIN] = s.kept;
    data->here[KREIN_PART_UNLABELLED] = s.unlabelled;
    data->here[KREIN_PART_DROPPED] = s.rows - s.kept - s.unlabelled;
    if (parts) {
        memset(data->here, 0, sizeof data->here);
        TRY(krein__hold_out(&s, e, holdout, seed));
    }
    TRY(count_parts(data));
    if (parts) TRY(check_parts(data, holdout, krein__calibrates(data, e)));
    krein__stats_end(&s.stats);
    if (data->share.on) {
        TRY(krein__share_stats(ctx, &s.stats));
        TRY(krein__comm_sum(ctx, data->nlabel, s.label_sum));
    }
    if (!(s.stats.weight > 0)) {
        st = krein__fail(ctx, KREIN_EDATA, "%s: all row weights are zero", data->name);
        goto done;
    }
    TRY(krein__encode_inputs(ctx, data->reader, &s.stats, data->options.categories,
                             labels == KREIN_LABELS_WANTED, e));
    TRY(hash_codes(&s, e));
    TRY(krein__scan_targets(&s, e));
    if (e->d == 0) {
        st = krein__fail(ctx, KREIN_EDATA,
                         e->sparse ? "%s: the rows have no inputs"
                                   : "%s: no column is left for the inputs: those without a value "
                                     "and texts that are nearly all distinct are left out "
                                     "(`categories=onehot` and `categories=hash` use such texts)",
                         data->name);
        goto done;
    }
    TRY(krein__encode_scaling(data->reader, &s.stats, e));
    data->scanned = true;
    for (int64_t k = 0; k < data->nlabel; k++)
        data->label_mean[k] = s.label_sum[k] / s.stats.weight;
done:
    krein__label_set_clear(ctx, &s.labels);
    krein__stats_clear(ctx, &s.stats);
    krein__free(ctx, s.label);
    krein__free(ctx, s.group);
    if (st != KREIN_OK) krein__encoding_clear(ctx, e);
    return st;
}

void krein__data_scanned(const krein_data *data, krein_scanned *out) {
    out->nrows = data->nrows;
    out->label_most = data->label_most;
    memcpy(out->count, data->count, sizeof out->count);
    memcpy(out->label_mean, data->label_mean, sizeof out->label_mean);
}

/* Words of a text label in the order of the classes. Those of label sets come as they are read. */
static krein_status recall_words(krein_data *data, const krein_encoding *e) {
    krein_ctx *ctx = data->ctx;
    krein_reader *from = data->labels ? data->labels : data->reader;
    krein_dict *words = &from->column[data->labels ? 0 : data->label_column].dict;
    krein__dict_clear(ctx, words);
    data->label_open = e->task == KREIN_TASK_MULTILABEL;
    for (int64_t k = 0; k < e->nclass && !data->label_open; k++)
        if (krein__dict_add(ctx, words, e->class_name[k], strlen(e->class_name[k])) < 0)
            return ctx->status;
    return krein__data_label_words(data, e);
}

/* What was found belongs to these columns and options. Wrong numbers would point outside of rows.
 */
static bool same_data(const krein_data *data, const krein_encoding *e) {
    const krein_reader *r = data->reader, *from = data->labels ? data->labels : r;
    const krein_data_options *o = &data->options;
    const bool classes = e->task == KREIN_TASK_CLASSIFICATION;
    const bool words = from->column[data->labels ? 0 : data->label_column].text;
    bool same = e->sparse == r->sparse && e->ninput == (r->sparse ? 0 : r->ncolumn) &&
                e->scale == o->scale && e->missing == missing_of(data) &&
                memcmp(e->image, data->image, sizeof e->image) == 0 &&
                e->unknown_ignore == o->unknown_ignore && e->task != KREIN_TASK_AUTO &&
                e->outputs == data->nlabel && (!classes || data->nlabel == 1) &&
                words == e->label_text;
    for (int64_t j = 0; same && j < e->ninput; j++) {
        const krein_input *in = &e->input[j];
        const krein_column *c = &r->column[j];
        same = (in->role == c->role || (in->left_out && c->role == KREIN_ROLE_FEATURE)) &&
               in->text == c->text && in->shift == c->shift && in->reading.as == c->reading.as &&
               in->reading.style == c->reading.style && !in->name == !c->name &&
               (!c->name || strcmp(in->name, c->name) == 0);
    }
    return same;
}

krein_status krein__data_recall(krein_data *data, const krein_scanned *l, const krein_encoding *e) {
    krein_ctx *ctx = data->ctx;
    krein_reader *r = data->reader;
    krein_status st = KREIN_OK;
    krein__data_reset(data);
    TRY(prepare_reader(data, true));
    if (!same_data(data, e)) {
        st = krein__fail(ctx, KREIN_EMODEL, "the columns are not those of %s", data->name);
        goto done;
    }
    if (r->sparse) r->max_index = e->d;
    for (int64_t j = 0; j < e->ninput; j++) {
        if (e->input[j].left_out) r->column[j].frozen = true;
        if (e->input[j].role != KREIN_ROLE_FEATURE || !e->input[j].text) continue;
        TRY(krein__dict_copy(ctx, &e->input[j].dict, &r->column[j].dict));
        r->column[j].frozen = true;
        r->column[j].hashed = e->input[j].texts == KREIN_TEXTS_HASH;
    }
    if (e->label_text) TRY(recall_words(data, e));
    data->batch_bytes = krein__reader_bytes(r); /* none was read yet */
    data->nrows = l->nrows;
    data->label_most = l->label_most;
    memcpy(data->count, l->count, sizeof l->count);
    memcpy(data->here, data->count, sizeof data->here);
    memcpy(data->label_mean, l->label_mean, sizeof data->label_mean);
    data->scanned = true;
done:
    return st;
}
