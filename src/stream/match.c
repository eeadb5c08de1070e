/* match.c -- a file is read with an encoding learned elsewhere: which of its columns are which. */
#include "stream/data.h"

#include <stdio.h>
#include <string.h>

krein_missing krein__data_missing(const krein_data *data, const krein_encoding *e) {
    return data->options.missing != KREIN_MISSING_AUTO ? data->options.missing : e->missing;
}

bool krein__data_unknown(const krein_data *data, const krein_encoding *e) {
    return data->options.unknown_ignore || e->unknown_ignore;
}

/* ---- matching ----------------------------------------------------------- */

/* The names of the inputs. Where they are not as many as the inputs, some input has no name of its
 * own, and columns cannot be matched by name. */
static krein_status input_names(krein_ctx *ctx, const krein_encoding *e, krein_dict *out) {
    for (int64_t j = 0; j < e->ninput; j++) {
        const char *name = e->input[j].name;
        if (name && *name && krein__dict_add(ctx, out, name, strlen(name)) < 0) return ctx->status;
    }
    return KREIN_OK;
}

/* Columns by name; of those with the same name the first. */
typedef struct columns {
    krein_dict name;
    int64_t *at; /* of each name */
} columns;

static krein_status index_columns(krein_ctx *ctx, const krein_reader *r, columns *out) {
    krein_status st = KREIN_OK;
    NEW(out->at, krein__max(1, r->ncolumn));
    for (int64_t j = 0; j < r->ncolumn; j++) {
        const char *name = r->column[j].name;
        int64_t known = out->name.n;
        if (!name) continue;
        if (krein__dict_add(ctx, &out->name, name, strlen(name)) < 0) return ctx->status;
        if (out->name.n > known) out->at[known] = j;
    }
done:
    return st;
}

static int64_t column_named(const columns *c, const char *name) {
    int64_t code = krein__dict_find(&c->name, name, strlen(name));
    return code < 0 ? -1 : c->at[code];
}

static void columns_clear(krein_ctx *ctx, columns *c) {
    krein__dict_clear(ctx, &c->name);
    krein__free(ctx, c->at);
}

static krein_status adopt(krein_data *data, const krein_input *in, krein_column *c) {
    krein_ctx *ctx = data->ctx;
    c->role = KREIN_ROLE_FEATURE;
    c->text = in->text;
    c->reading = in->reading;
    c->shift = in->shift;
    c->frozen = in->text;
    c->hashed = in->text && in->texts == KREIN_TEXTS_HASH;
    c->open = in->text && in->texts == KREIN_TEXTS_TARGET;
    krein__dict_clear(ctx, &c->dict);
    return in->text ? krein__dict_copy(ctx, &in->dict, &c->dict) : KREIN_OK;
}

/* Columns by name, in any order. The label is the column that `label` names, else that of the
 * training. */
static krein_status match_names(krein_data *data, const krein_encoding *e, const krein_dict *inputs,
                                bool need_label) {
    krein_ctx *ctx = data->ctx;
    krein_reader *r = data->reader;
    krein_status st = KREIN_OK;
    const char *label = data->options.label;
    const bool asked = need_label && label && strcmp(label, "none") != 0 && !data->labels;
    columns named = {0};
    TRY(index_columns(ctx, r, &named));
    if (asked) TRY(krein__data_label_role(data));
    for (int64_t j = 0; j < r->ncolumn; j++) {
        if (r->column[j].role != KREIN_ROLE_FEATURE) continue;
        r->column[j].role = KREIN_ROLE_IGNORE;
        const char *name = r->column[j].name;
        if (name && krein__dict_find(inputs, name, strlen(name)) < 0)
            krein__log(ctx, KREIN_LOG_WARNING,
                       "%s: column \"%s\" was not there at training and is ignored", r->path, name);
    }
    for (int64_t j = 0; j < e->ninput; j++) {
        const krein_input *in = &e->input[j];
        int64_t at = column_named(&named, in->name);
        if (in->role == KREIN_ROLE_FEATURE) {
            if (at < 0) {
                st = krein__fail(ctx, KREIN_EDATA,
                                 "%s: column \"%s\", which the model was trained on, is missing",
                                 r->path, in->name);
                goto done;
            }
            if (asked && at == data->label_column) {
                st = krein__fail(ctx, KREIN_EARG,
                                 "%s: `label` names column \"%s\", which is an input of the model",
                                 r->path, in->name);
                goto done;
            }
            TRY(adopt(data, in, &r->column[at]));
        } else if (in->role == KREIN_ROLE_LABEL && asked) {
            r->column[data->label_column].reading = in->reading;
        } else if (in->role == KREIN_ROLE_LABEL && at >= 0 && need_label) {
            r->column[at].role = KREIN_ROLE_LABEL;
            r->column[at].reading = in->reading;
            if (data->label_column < 0) data->label_column = at;
            data->nlabel++;
        }
    }
done:
    columns_clear(ctx, &named);
    return st;
}

static krein_status wrong_width(const krein_reader *r, int64_t all, int64_t labels,
                                int64_t features) {
    char without[48] = "", alone[48] = "";
    if (labels > 0)
        snprintf(without, sizeof without, " or %lld without the label", (long long)(all - labels));
    if (features < all - labels)
        snprintf(alone, sizeof alone, " or %lld with the inputs alone", (long long)features);
    return krein__fail(r->ctx, KREIN_EDATA,
                       "%s has %lld columns; expected are %lld as in the training data%s%s",
                       r->path, (long long)r->ncolumn, (long long)all, without, alone);
}

/* Columns by place: all that there were at training, all but the label, or the inputs alone. */
static krein_status match_width(krein_data *data, const krein_encoding *e, bool need_label) {
    krein_reader *r = data->reader;
    krein_status st = KREIN_OK;
    int64_t labels = 0, features = 0;
    for (int64_t j = 0; j < e->ninput; j++) {
        labels += e->input[j].role == KREIN_ROLE_LABEL;
        features += e->input[j].role == KREIN_ROLE_FEATURE;
    }
    bool with = r->ncolumn == e->ninput && !data->labels,
         without = r->ncolumn == e->ninput - labels, alone = r->ncolumn == features;
    if (!with && !without && !alone) return wrong_width(r, e->ninput, labels, features);
    int64_t at = 0;
    for (int64_t j = 0; j < e->ninput; j++) {
        const krein_input *in = &e->input[j];
        bool label = in->role == KREIN_ROLE_LABEL;
        if (label && !with) continue;
        if (in->role != KREIN_ROLE_FEATURE && !with && !without) continue;
        krein_column *c = &r->column[at];
        if (in->role == KREIN_ROLE_FEATURE) {
            TRY(adopt(data, in, c));
        } else if (label && need_label) {
            c->role = KREIN_ROLE_LABEL;
            c->reading = in->reading;
            if (data->label_column < 0) data->label_column = at;
            data->nlabel++;
        } else if (c->role == KREIN_ROLE_FEATURE) {
            c->role = KREIN_ROLE_IGNORE;
        }
        at++;
    }
done:
    return st;
}

/* Rows of numbers from a model trained on arrays or NPY: the i-th column is the i-th input. */
static krein_status match_plain(krein_data *data, const krein_encoding *e, bool need_label) {
    krein_ctx *ctx = data->ctx;
    krein_reader *r = data->reader;
    bool with = r->ncolumn == e->d + e->outputs && !data->labels;
    if (!with && r->ncolumn != e->d)
        return krein__fail(ctx, KREIN_EDATA, "%s has %lld columns; the model takes %lld inputs",
                           r->path, (long long)r->ncolumn, (long long)e->d);
    for (int64_t j = 0; j < r->ncolumn; j++) {
        bool label = with && j < e->outputs;
        r->column[j].role = !label       ? KREIN_ROLE_FEATURE
                            : need_label ? KREIN_ROLE_LABEL
                                         : KREIN_ROLE_IGNORE;
        if (!label) r->column[j].text = false;
        r->column[j].reading = (krein_reading){KREIN_AS_PLAIN, 0};
    }
    if (with && need_label) {
        data->label_column = 0;
        data->nlabel = e->outputs;
    }
    return KREIN_OK;
}

/* Rows in memory: the labels are known, inputs go by their names or by their order. */
static krein_status match_memory(krein_data *data, const krein_encoding *e, bool need_label) {
    krein_ctx *ctx = data->ctx;
    krein_reader *r = data->reader;
    krein_status st = KREIN_OK;
    krein_dict inputs = {0};
    int64_t have = 0, wanted = e->ninput ? 0 : e->d, left_out = 0, k = 0;
    TRY(krein__data_label_role(data));
    if (need_label && !data->has_label) {
        st = krein__fail(ctx, KREIN_EARG, "evaluation needs labels");
        goto done;
    }
    for (int64_t j = 0; j < r->ncolumn; j++) {
        krein_column *c = &r->column[j];
        if (!need_label && c->role == KREIN_ROLE_LABEL) c->role = KREIN_ROLE_IGNORE;
        have += c->role == KREIN_ROLE_FEATURE;
    }
    if (!need_label) data->nlabel = 0;
    if (r->sparse) {
        r->max_index = e->d;
        goto done;
    }
    if (e->header && r->header) TRY(input_names(ctx, e, &inputs));
    if (e->ninput > 0 && inputs.n == e->ninput) {
        data->by_name = true;
        st = match_names(data, e, &inputs, false);
        goto done;
    }
    for (int64_t j = 0; j < e->ninput; j++) {
        wanted += e->input[j].role == KREIN_ROLE_FEATURE;
        left_out += e->input[j].left_out != KREIN_LEFT_NOT;
    }
    if (have != wanted && have != wanted + left_out) {
        st = krein__fail(ctx, KREIN_EDATA, "the rows have %lld columns; the model takes %lld",
                         (long long)have, (long long)wanted);
        goto done;
    }
    for (int64_t j = 0; j < r->ncolumn; j++) {
        krein_column *c = &r->column[j];
        if (c->role != KREIN_ROLE_FEATURE) continue;
        c->shift = 0;
        c->text = false; /* where the model was trained on plain numbers */
        c->reading = (krein_reading){KREIN_AS_PLAIN, 0};
        while (k < e->ninput && e->input[k].role != KREIN_ROLE_FEATURE &&
               (have == wanted || !e->input[k].left_out))
            k++;
        if (e->ninput && e->input[k].left_out)
            c->role = KREIN_ROLE_IGNORE;
        else if (e->ninput)
            TRY(adopt(data, &e->input[k], c));
        k++;
    }
done:
    krein__dict_clear(ctx, &inputs);
    return st;
}

krein_status krein__data_match(krein_data *data, const krein_encoding *e, bool need_label) {
    krein_ctx *ctx = data->ctx;
    krein_reader *r = data->reader;
    krein_status st = KREIN_OK;
    krein_dict inputs = {0};
    krein__data_reset(data);
    if (e->sparse != r->sparse)
        return krein__fail(ctx, KREIN_EDATA,
                           "%s: the model was trained on %s rows, this file has %s "
                           "ones; convert one of them",
                           r->path, e->sparse ? "sparse (LIBSVM)" : "dense",
                           r->sparse ? "sparse" : "dense");
    TRY(krein__data_image_match(data, e));
    TRY(krein__data_side_roles(data));
    if (e->header && r->header) TRY(input_names(ctx, e, &inputs));
    data->label_column = -1;
    data->nlabel = 0;
    if (r->memory) {
        TRY(match_memory(data, e, need_label));
    } else if (r->sparse) {
        r->column[0].role = need_label ? KREIN_ROLE_LABEL : KREIN_ROLE_IGNORE;
        r->max_index = e->d;
        data->label_column = 0;
        data->nlabel = need_label ? 1 : 0;
    } else if (e->ninput == 0) {
        TRY(match_plain(data, e, need_label));
    } else if (inputs.n == e->ninput) {
        data->by_name = true;
        TRY(match_names(data, e, &inputs, need_label));
    } else {
        TRY(match_width(data, e, need_label));
    }
    if (data->labels && need_label) data->nlabel = 1;
    data->has_label = data->nlabel > 0;
    if (need_label && data->nlabel != e->outputs) {
        st = krein__fail(ctx, KREIN_EDATA,
                         "%s: the label column is missing, so nothing can be "
                         "evaluated; use predict",
                         r->path);
        goto done;
    }
    /* A numeric label must stay numeric, and a text one text, whatever this file looks like. */
    for (int64_t j = 0; j < r->ncolumn; j++)
        if (r->column[j].role == KREIN_ROLE_LABEL) r->column[j].text = e->label_text;
    if (data->labels) data->labels->column[0].text = e->label_text;
    TRY(krein__data_label_sets(data, e->task == KREIN_TASK_MULTILABEL));
    r->known_only = !krein__data_unknown(data, e);
    r->missing_ok = krein__data_missing(data, e) != KREIN_MISSING_ERROR;
    r->label_optional = krein__data_missing(data, e) == KREIN_MISSING_DROP;
    TRY(krein__data_share(data));
done:
    krein__dict_clear(ctx, &inputs);
    return st;
}
