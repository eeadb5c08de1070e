/* data.c -- opening data and giving its columns their roles. */
#include "stream/data.h"

#include "base/limits.h"
#include "base/sized.h"
#include "file/lines.h"
#include "stream/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

void krein_data_options_init_sized(krein_data_options *given, size_t size) {
    krein_data_options own = KREIN_SIZED(krein_data_options), *options = &own;
    options->header = -1;
    options->missing = KREIN_MISSING_AUTO;
    krein__options_give(given, size, options);
}

enum { OWN_GROUP = 8 }; /* of krein_data.owned: the name of the groups of rows in memory */

/* The struct and its strings are copied: a caller's options may be gone when they are used. */
static krein_status copy_options(krein_data *data, const krein_data_options *given) {
    krein_ctx *ctx = data->ctx;
    krein_status st = KREIN_OK;
    krein_data_options *o = &data->options;
    krein_data_options_init(o);
    TRY(krein__options_copy(ctx, given, o, "krein_data_options"));
    const char **text[] = {&o->format, &o->label, &o->labels_file, &o->weights,
                           &o->group,  &o->id,    &o->ignore,      &o->image};
    for (int k = 0; k < KREIN__COUNT(text); k++)
        if (*text[k]) {
            DUP(data->owned[k], *text[k]);
            *text[k] = data->owned[k];
        }
    if (o->targets != 0) TRY(krein__limit_check(ctx, "targets", (double)o->targets));
done:
    return st;
}

static krein_status create(krein_ctx *ctx, const char *name, const krein_data_options *options,
                           krein_data **out) {
    krein_status st = KREIN_OK;
    krein_data *data = NULL;
    *out = NULL;
    ZNEW(data, 1);
    data->ctx = ctx;
    data->nrows = -1;
    data->label_column = -1;
    data->ahead_room = -1;
    DUP(data->name, name);
    TRY(copy_options(data, options));
    *out = data;
    return KREIN_OK;
done:
    krein_data_close(data);
    return st;
}

krein_status krein_data_open(krein_ctx *ctx, const char *path, const krein_data_options *options,
                             krein_data **out) {
    krein_status st = create(ctx, path, options, out);
    if (st != KREIN_OK) return st;
    krein_data *data = *out;
    krein_reader_options reading = {.format = data->options.format,
                                    .delimiter = data->options.delimiter,
                                    .header = data->options.header,
                                    .plain = data->options.types == KREIN_TYPES_PLAIN};
    if (data->options.own_rows) {
        st = krein__fail(ctx, KREIN_EARG,
                         "%s: `own_rows` is for rows in memory; the processes divide the rows of a "
                         "file",
                         path);
        goto done;
    }
    TRY(krein__reader_open(ctx, path, &reading, &data->reader));
    TRY(krein__data_image(data));
    if (data->options.labels_file) {
        krein_reader_options plain = {.header = -1};
        TRY(krein__reader_open(ctx, data->options.labels_file, &plain, &data->labels));
        if (data->labels->sparse || data->labels->ncolumn != 1) {
            st = krein__fail(ctx, KREIN_EFORMAT, "%s: a file of labels has one column",
                             data->options.labels_file);
            goto done;
        }
        data->labels->column[0].role = KREIN_ROLE_LABEL;
    }
    return KREIN_OK;
done:
    krein_data_close(data);
    *out = NULL;
    return st;
}

/* Options that name what the rows have anyway, or what only a file has. */
static krein_status check_memory_options(krein_data *data) {
    const krein_data_options *o = &data->options;
    const krein_reader *r = data->reader;
    bool label = o->label && strcmp(o->label, "none") != 0;
    bool given[KREIN_ROLE_IGNORE + 1] = {0};
    for (int64_t j = 0; j < r->ncolumn; j++) given[r->column[j].given] = true;
    const struct {
        bool wrong;
        const char *text;
    } all[] = {
        {o->labels_file, "`labels_file` is for files"},
        {o->id, "`id` is for files: predictions come in the order of the rows"},
        {label && given[KREIN_ROLE_LABEL], "labels are given, and `label` names a column"},
        {o->weights && given[KREIN_ROLE_WEIGHT], "weights are given, and `weights` names a column"},
        {o->group && given[KREIN_ROLE_GROUP], "groups are given, and `group` names a column"},
        {r->sparse && (label || o->weights || o->group || o->ignore),
         "sparse rows have no columns for `label`, `weights`, `group` or `ignore`"}};
    for (int64_t k = 0; k < KREIN__COUNT(all); k++)
        if (all[k].wrong)
            return krein__fail(data->ctx, KREIN_EARG, "%s: %s", data->name, all[k].text);
    return KREIN_OK;
}

/* What the view says of itself, where a file would need options. */
static krein_status memory_options(krein_data *data, const krein_rows_view *view) {
    krein_ctx *ctx = data->ctx;
    krein_status st = KREIN_OK;
    krein_data_options *o = &data->options;
    krein_reader *r = data->reader;
    int64_t targets = view->targets ? view->ntargets : 0;
    TRY(check_memory_options(data));
    if (o->targets > 0 && targets != o->targets) {
        st = krein__fail(ctx, KREIN_EARG, "%s: `targets=%lld`, but the rows have %lld", data->name,
                         (long long)o->targets, (long long)targets);
        goto done;
    }
    if (targets > 1) o->targets = targets;
    if (view->classes && o->task == KREIN_TASK_AUTO) o->task = KREIN_TASK_CLASSIFICATION;
    for (int64_t j = 0; j < r->ncolumn; j++) {
        if (r->column[j].given != KREIN_ROLE_GROUP) continue;
        DUP(data->owned[OWN_GROUP], r->column[j].name);
        o->group = data->owned[OWN_GROUP];
    }
    data->has_weight = view->weights != NULL;
    data->nlabel = krein__view_labels(view);
    data->has_label = data->nlabel > 0;
done:
    return st;
}

static krein_status memory_opened(krein_data *data, krein_status st) {
    if (st == KREIN_OK) {
        const krein_memory *m = data->reader->state->own;
        st = memory_options(data, &m->first);
        if (st == KREIN_OK) st = krein__data_image(data);
    }
    if (st != KREIN_OK) krein_data_close(data);
    return st;
}

krein_status krein__data_reopen(krein_data *data, const krein_rows_view *view) {
    krein_status st = KREIN_OK;
    krein_reader *reader = NULL;
    krein_data_options *o = &data->options;
    TRY(krein__memory_open(data->ctx, view, &reader));
    krein__data_reset(data);
    krein__reader_close(data->reader);
    data->reader = reader;
    if (o->group && o->group == data->owned[OWN_GROUP]) o->group = NULL;
    krein__free(data->ctx, data->owned[OWN_GROUP]);
    data->owned[OWN_GROUP] = NULL;
    o->targets = 0;
    st = memory_options(data, view);
done:
    return st;
}

krein_status krein_data_from_rows(krein_ctx *ctx, const krein_rows_view *view,
                                  const krein_data_options *options, krein_data **out) {
    krein_data *data = NULL;
    *out = NULL;
    krein_status st = create(ctx, "(memory)", options, &data);
    if (st != KREIN_OK) return st;
    st = memory_opened(data, krein__memory_open(ctx, view, &data->reader));
    if (st == KREIN_OK) *out = data;
    return st;
}

krein_status krein_data_from_source(krein_ctx *ctx, const krein_rows_source *source,
                                    const krein_data_options *options, krein_data **out) {
    krein_data *data = NULL;
    *out = NULL;
    krein_status st = create(ctx, "(memory)", options, &data);
    if (st != KREIN_OK) return st;
    st = memory_opened(data,
                       krein__source_open(ctx, source, data->options.own_rows != 0, &data->reader));
    if (st == KREIN_OK) *out = data;
    return st;
}

krein_status krein_data_from_dense(krein_ctx *ctx, int64_t n, int64_t d, const float *x, int64_t ld,
                                   const double *y, const double *weights,
                                   const krein_data_options *options, krein_data **out) {
    krein_rows_view v;
    krein_rows_view_init(&v);
    v.n = n;
    v.d = d;
    v.x = x;
    v.type = KREIN_FLOAT32;
    v.row_stride = ld;
    v.column_stride = 1;
    v.targets = y;
    v.ntargets = y && options ? options->targets : 0;
    v.weights = weights;
    if (ld < d) {
        *out = NULL;
        return krein__fail(ctx, KREIN_EARG, "rows in memory need n >= 0, d >= 1 and ld >= d");
    }
    return krein_data_from_rows(ctx, &v, options, out);
}

static void drop_segments(krein_data *data) {
    krein_ctx *ctx = data->ctx;
    for (int64_t k = 0; k < data->nsegment; k++) krein__raw_clear(ctx, &data->segment[k].raw);
    krein__free(ctx, data->segment);
    data->segment = NULL;
    data->nsegment = data->capacity = 0;
}

void krein__data_forget(krein_data *data) {
    drop_segments(data);
    data->in_memory = false;
}

static void drop_sets(krein_data *data) {
    if (data->sets) krein__sets_clear(data->ctx, data->sets);
    krein__free(data->ctx, data->sets);
    data->sets = NULL;
}

void krein__data_reset(krein_data *data) {
    krein_ctx *ctx = data->ctx;
    krein__data_quiet(data);
    krein__data_forget(data);
    krein__free(ctx, data->part);
    krein__free(ctx, data->label_map);
    data->part = NULL;
    data->label_map = NULL;
    drop_sets(data);
    data->by_name = data->scanned = data->label_open = false;
    memset(data->count, 0, sizeof data->count);
    memset(data->here, 0, sizeof data->here);
    memset(data->before, 0, sizeof data->before);
}

void krein_data_close(krein_data *data) {
    if (!data) return;
    krein_ctx *ctx = data->ctx;
    krein__data_quiet(data);
    drop_segments(data);
    krein__reader_close(data->reader);
    krein__reader_close(data->labels);
    for (int k = 0; k < KREIN__COUNT(data->owned); k++) krein__free(ctx, data->owned[k]);
    krein__raw_clear(ctx, &data->label_batch);
    drop_sets(data);
    krein__free(ctx, data->label_map);
    krein__free(ctx, data->part);
    krein__free(ctx, data->name);
    krein__free(ctx, data);
}

krein_status krein__data_keep(krein_data *data, krein_raw *raw) {
    krein_ctx *ctx = data->ctx;
    if (data->nsegment == data->capacity) {
        int64_t room = krein__max(16, 2 * data->capacity);
        krein_segment *bigger = krein__resize(ctx, data->segment, room, sizeof *bigger);
        if (!bigger) return ctx->status;
        data->segment = bigger;
        data->capacity = room;
    }
    data->segment[data->nsegment++] = (krein_segment){*raw, raw->nnum};
    memset(raw, 0, sizeof *raw);
    return KREIN_OK;
}

/* ---- roles -------------------------------------------------------------- */

static krein_status set_role(krein_data *data, const char *word, const char *option,
                             krein_role role) {
    krein_ctx *ctx = data->ctx;
    krein_reader *r = data->reader;
    int64_t j;
    krein_status st = krein__reader_find(r, word, option, &j);
    if (st != KREIN_OK) return st;
    if (r->column[j].role != KREIN_ROLE_FEATURE && r->column[j].role != role)
        return krein__fail(ctx, KREIN_EARG, "%s: column %lld has two roles; %s names it again",
                           r->path, (long long)krein__reader_number(r, j), option);
    r->column[j].role = role;
    return KREIN_OK;
}

/* The rule of the manual: a column named label/target/class/y, else the first. */
static int64_t default_label(const krein_reader *r, bool *guessed) {
    static const char *const names[] = {"label", "target", "class", "y"};
    for (int k = 0; k < 4; k++)
        for (int64_t j = 0; j < r->ncolumn; j++)
            if (r->column[j].name && strcasecmp(r->column[j].name, names[k]) == 0) {
                *guessed = false;
                return j;
            }
    *guessed = true;
    return 0;
}

static krein_status ignore_columns(krein_data *data) {
    const char *at = data->options.ignore;
    while (at && *at) {
        char word[256];
        size_t length = strcspn(at, ",");
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        krein_status st = set_role(data, word, "`ignore`", KREIN_ROLE_IGNORE);
        if (st != KREIN_OK) return st;
        at += length + (at[length] == ',');
    }
    return KREIN_OK;
}

/* Side columns: weights, group, id, ignored ones. */
krein_status krein__data_side_roles(krein_data *data) {
    krein_ctx *ctx = data->ctx;
    krein_reader *r = data->reader;
    const krein_data_options *o = &data->options;
    krein_status st = KREIN_OK;
    if (r->sparse && !r->memory) {
        if (o->weights || o->group || o->id || o->ignore)
            return krein__fail(
                ctx, KREIN_EARG,
                "%s: LIBSVM files have no columns for `weights`, `group`, `id` or `ignore`",
                r->path);
        return KREIN_OK;
    }
    data->has_weight = o->weights != NULL;
    for (int64_t j = 0; j < r->ncolumn; j++) {
        krein_column *c = &r->column[j];
        c->role = c->given;
        if (r->memory) c->text = c->given_text;
        data->has_weight = data->has_weight || c->given == KREIN_ROLE_WEIGHT;
    }
    if (o->weights) TRY(set_role(data, o->weights, "`weights`", KREIN_ROLE_WEIGHT));
    if (o->group) TRY(set_role(data, o->group, "`group`", KREIN_ROLE_GROUP));
    if (o->id) TRY(set_role(data, o->id, "`id`", KREIN_ROLE_ID));
    TRY(ignore_columns(data));
done:
    return st;
}

/* Labels that the caller gave with the rows. */
static void given_labels(krein_data *data, bool wanted) {
    krein_reader *r = data->reader;
    data->nlabel = 0;
    data->label_column = -1;
    for (int64_t j = 0; j < r->ncolumn; j++) {
        krein_column *c = &r->column[j];
        if (c->given != KREIN_ROLE_LABEL) continue;
        c->role = wanted ? KREIN_ROLE_LABEL : KREIN_ROLE_IGNORE;
        if (!wanted) continue;
        if (data->nlabel++ == 0) data->label_column = j;
    }
    data->has_label = data->nlabel > 0;
}

krein_status krein__data_label_role(krein_data *data) {
    krein_ctx *ctx = data->ctx;
    krein_reader *r = data->reader;
    const krein_data_options *o = &data->options;
    data->label_guessed = false;
    if (data->labels) {
        data->nlabel = 1;
        data->has_label = true;
        return KREIN_OK;
    }
    bool none =
        o->label ? strcmp(o->label, "none") == 0 : !r->memory && krein__data_image_alone(data);
    if (r->memory && (none || !o->label)) {
        given_labels(data, !none);
        return KREIN_OK;
    }
    if (none) {
        data->nlabel = 0;
        data->has_label = false;
        if (r->sparse) r->column[0].role = KREIN_ROLE_IGNORE;
        return KREIN_OK;
    }
    if (r->sparse) {
        r->column[0].role = KREIN_ROLE_LABEL;
        data->label_column = 0;
        data->nlabel = 1;
        data->has_label = true;
        return KREIN_OK;
    }
    if (o->targets > 0 && !r->memory) {
        if (o->targets >= r->ncolumn)
            return krein__fail(ctx, KREIN_EARG,
                               "%s: `targets=%lld`, but there are only %lld columns", r->path,
                               (long long)o->targets, (long long)r->ncolumn);
        for (int64_t j = 0; j < o->targets; j++) r->column[j].role = KREIN_ROLE_LABEL;
        data->nlabel = o->targets;
        data->label_column = 0;
        data->has_label = true;
        return KREIN_OK;
    }
    int64_t j = default_label(r, &data->label_guessed);
    if (o->label) {
        data->label_guessed = false;
        krein_status st = krein__reader_find(r, o->label, "`label`", &j);
        if (st != KREIN_OK) return st;
    }
    if (r->column[j].role != KREIN_ROLE_FEATURE)
        return krein__fail(ctx, KREIN_EARG,
                           "%s: column %lld is the label, but another option names it too; say "
                           "which column is the label with `label`",
                           r->path, (long long)krein__reader_number(r, j));
    r->column[j].role = KREIN_ROLE_LABEL;
    data->label_column = j;
    data->nlabel = 1;
    data->has_label = true;
    return KREIN_OK;
}

static krein_reader *label_reader(const krein_data *data) {
    return data->labels ? data->labels : data->reader;
}

krein_status krein__data_label_sets(krein_data *data, bool sets) {
    krein_reader *r = label_reader(data);
    for (int64_t j = 0; j < r->ncolumn; j++) {
        krein_column *c = &r->column[j];
        c->sets = sets && c->role == KREIN_ROLE_LABEL;
        if (!c->sets) continue;
        if (data->nlabel > 1 || r->format == KREIN_FORMAT_NPY || (r->memory && !c->given_text))
            return krein__fail(data->ctx, KREIN_EARG,
                               "%s: `task=multilabel` takes one column of texts, names with | or "
                               "blanks between them, and the label%s",
                               data->name,
                               data->nlabel > 1 ? "s are several columns" : " is a number");
        c->text = true;
        c->reading = (krein_reading){KREIN_AS_PLAIN, 0};
    }
    return KREIN_OK;
}

krein_status krein__data_label_words(krein_data *data, const krein_encoding *e) {
    krein_ctx *ctx = data->ctx;
    krein_status st = KREIN_OK;
    const krein_reader *r = label_reader(data);
    const krein_dict *words = &r->column[data->labels ? 0 : data->label_column].dict;
    if (e->task != KREIN_TASK_MULTILABEL)
        return krein__class_codes(ctx, words, e, &data->label_map);
    if (!data->sets) ZNEW(data->sets, 1);
    TRY(krein__sets_grow(ctx, words, e, r->format == KREIN_FORMAT_LIBSVM, data->sets));
done:
    return st;
}

/* Labels of raw->n rows from the separate file, whose batches end elsewhere. */
static krein_status fetch_labels(krein_data *data, krein_ctx *ctx, krein_raw *raw) {
    krein_status st = KREIN_OK;
    krein_raw *batch = &data->label_batch;
    int64_t have = 0, first = -1;
    krein__free(ctx, raw->label);
    NEW(raw->label, krein__max(raw->n, 1));
    raw->nlabel = 1;
    while (have < raw->n || raw->n == 0) {
        if (data->label_at == batch->n) {
            TRY(krein__reader_next(data->labels, batch));
            data->label_at = krein__min(data->label_skip, batch->n);
            data->label_skip -= data->label_at;
            if (batch->n == 0) break;
            if (data->label_at == batch->n) continue;
        }
        if (raw->n == 0) {
            st = krein__fail(ctx, KREIN_EFORMAT, "%s has more rows than %s", data->labels->path,
                             data->reader->path);
            goto done;
        }
        if (first < 0) raw->labels = batch->from;
        first = 0;
        int64_t m = krein__min(raw->n - have, batch->n - data->label_at);
        memcpy(raw->label + have, batch->label + data->label_at, (size_t)m * sizeof *raw->label);
        have += m;
        data->label_at += m;
    }
    if (have < raw->n)
        st = krein__fail(ctx, KREIN_EFORMAT, "%s has fewer rows than %s", data->labels->path,
                         data->reader->path);
done:
    return st;
}

/* The file ends before the share does. */
static krein_status changed(const krein_data *data, krein_ctx *ctx) {
    return krein__fail(ctx, KREIN_EIO, "%s changed while it was read: it has fewer rows",
                       data->name);
}

krein_status krein__data_share(krein_data *data) {
    const bool wanted = data->share_rows, own = data->options.own_rows;
    data->share = (krein_share){0}; /* of a call before: others may have left, or joined */
    data->share_rows = false;
    if (own) krein__memory_process(data->reader);
    if (wanted && own) krein__share_own(data->ctx, &data->share);
    if (!wanted || data->reader->memory) return KREIN_OK;
    return krein__share_find(data->reader, data->labels, &data->share);
}

int64_t krein__data_row(const krein_data *data, int64_t row) {
    return data->share.own ? data->share.first + row : row;
}

krein_status krein__data_fetch(krein_data *data, krein_ctx *ctx, krein_raw *raw) {
    krein_share *share = &data->share;
    krein_status st = KREIN_OK;
    raw->n = 0;
    if (krein__share_cut(share) && share->left == 0) return KREIN_OK;
    st = krein__reader_next(data->reader, raw);
    if (st != KREIN_OK) return st;
    if (krein__share_cut(share)) { /* a batch may go on behind the share */
        if (raw->n == 0) return changed(data, ctx);
        raw->n = krein__min(raw->n, share->left);
        share->left -= raw->n;
    }
    return data->labels && data->has_label ? fetch_labels(data, ctx, raw) : st;
}

krein_status krein__data_read(krein_data *data, krein_raw *raw) {
    krein_ctx *ctx = data->ctx;
    double start = krein__clock();
    krein_status st = krein__data_fetch(data, ctx, raw);
    double seconds = krein__clock() - start;
    data->seconds_read += seconds;
    data->seconds_waited += seconds;
    if (st == KREIN_OK) {
        double done = (double)data->reader->bytes_done, total = (double)data->reader->bytes;
        krein__progress(ctx, "reading", done, total);
        st = krein__poll(ctx);
    }
    return st;
}

krein_status krein__data_begin(krein_data *data) {
    krein_ctx *ctx = data->ctx;
    krein__data_quiet(data);
    krein_status st = krein__reader_begin(data->reader);
    if (st == KREIN_OK && data->labels) {
        krein__raw_clear(ctx, &data->label_batch);
        data->label_at = data->label_skip = 0;
        data->labels->missing_ok = true;
        data->labels->label_optional = data->reader->label_optional;
        st = krein__reader_begin(data->labels);
    }
    if (st == KREIN_OK && data->share.on)
        st = krein__share_begin(&data->share, data->reader, data->labels);
    data->passes++;
    return st;
}

int64_t krein__data_rows_here(const krein_data *data) {
    return data->share.on ? data->share.rows : data->nrows;
}

bool krein__data_may_have_labels(const krein_data *data) {
    const char *label = data->options.label;
    const krein_reader *r = data->reader;
    if (label) return strcmp(label, "none") != 0;
    return !r->memory || (r->ncolumn > 0 && r->column[0].given == KREIN_ROLE_LABEL);
}
