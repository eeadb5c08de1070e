/* sets.c -- a first look at the data sets of a comparison, and the number that stands for a run. */
#include "compare/compare.h"

#include <math.h>
#include <string.h>
#include <xxhash.h>

bool krein__measure_larger(krein_measure m) { return m == KREIN_MEASURE_AUC; }

const char *krein__measure_name(krein_measure m) {
    static const char *const names[] = {"auto", "rmse", "error", "logloss", "auc"};
    return names[m];
}

/* ---- numbers that stand for things -------------------------------------- */

static uint64_t mix(uint64_t h, const void *bytes, size_t n) {
    return XXH3_64bits_withSeed(bytes, n, h);
}

static uint64_t mix_number(uint64_t h, double x) { return mix(h, &x, sizeof x); }

static uint64_t mix_text(uint64_t h, const char *text) {
    return text ? mix(mix_number(h, 1), text, strlen(text)) : mix_number(h, 0);
}

static uint64_t mix_row(uint64_t h, const krein_raw *raw, int64_t ld, int64_t i) {
    if (raw->num) h = mix(h, raw->num + i * ld, (size_t)raw->nnum * sizeof *raw->num);
    if (raw->byte) h = mix(h, raw->byte + i * ld, (size_t)raw->nnum);
    if (raw->cat) h = mix(h, raw->cat + i * raw->ncat, (size_t)raw->ncat * sizeof *raw->cat);
    if (raw->label)
        h = mix(h, raw->label + i * raw->nlabel, (size_t)raw->nlabel * sizeof *raw->label);
    if (raw->weight) h = mix_number(h, raw->weight[i]);
    if (raw->group) h = mix_number(h, raw->group[i]);
    if (raw->ptr) {
        const int64_t from = raw->ptr[i], n = raw->ptr[i + 1] - from;
        h = mix_number(h, (double)n);
        h = mix(h, raw->col + from, (size_t)n * sizeof *raw->col);
        h = mix(h, raw->val + from, (size_t)n * sizeof *raw->val);
    }
    return h;
}

/* Rows, words and names of classes, and the options that say how rows are encoded. */
static krein_status digest(krein_data *data, const krein_encoding *e, uint64_t *out) {
    krein_status st = KREIN_OK;
    const krein_data_options *o = &data->options;
    const krein_reader *r = data->reader;
    const double facts[] = {o->task,  o->missing,         o->unknown_ignore,
                            o->scale, (double)o->targets, o->categories,
                            o->types, (double)e->nclass};
    krein_raw_pass pass = {0};
    krein_raw *raw;
    int64_t ld;
    uint64_t h = mix(0, facts, sizeof facts);
    for (int64_t c = 0; c < e->nclass; c++) h = mix_text(h, e->class_name[c]);
    for (int64_t j = 0; j < r->ncolumn; j++) {
        const krein_column *column = &r->column[j];
        h = mix_number(mix_number(h, column->role), column->shift);
        for (int64_t k = 0; column->role == KREIN_ROLE_FEATURE && k < column->dict.n; k++)
            h = mix_text(h, column->dict.word[k]);
    }
    TRY(krein__raw_begin(&pass, data));
    for (;;) {
        TRY(krein__raw_next(&pass, &raw, &ld));
        if (!raw) break;
        for (int64_t i = 0; i < raw->n; i++) h = mix_row(h, raw, ld, i);
        TRY(krein__poll(data->ctx));
    }
    *out = h;
done:
    krein__raw_end(&pass);
    return st;
}

uint64_t krein__run_key(const krein_comparison *c, const krein_set *s, const krein_method *m,
                        int64_t split) {
    const krein_train_options o = krein__method_options(c, m, split);
    uint64_t h = mix_text(s->digest, KREIN_VERSION_STRING);
    const double numbers[] = {
        (double)o.features, o.lambda, (double)o.max_exact, o.time_limit, o.holdout,
        o.effort,           o.clip,   c->measure};
    const char *const texts[] = {m->learner, m->kernel, m->map, m->command, o.select, o.metric};
    h = mix(h, numbers, sizeof numbers);
    h = mix(h, &o.seed, sizeof o.seed);
    /* Sizes follow from a budget that was given. That of a machine is what is free just now. */
    if (c->ctx->own_budget) h = mix_number(h, (double)c->ctx->budget);
    for (int64_t k = 0; k < KREIN__COUNT(texts); k++) h = mix_text(h, texts[k]);
    return h;
}

/* ---- a look ------------------------------------------------------------- */

static krein_status scan(krein_comparison *c, int64_t i) {
    krein_ctx *ctx = c->ctx;
    krein_status st = KREIN_OK;
    krein_set *s = &c->set[i];
    krein_data *data = NULL;
    krein_encoding e = {0};
    s->name = c->o.names[i];
    TRY(c->o.open(c->o.user, ctx, i, &data));
    TRY(krein__data_scan(data, KREIN_LABELS_WANTED, c->o.holdout, c->train.seed, &e));
    if (e.task == KREIN_TASK_MULTILABEL) {
        st = krein__fail(ctx, KREIN_EDATA,
                         "%s: rows with several labels have no measure here; compare them by train "
                         "and evaluate",
                         s->name);
        goto done;
    }
    s->train = data->count[KREIN_PART_TRAIN];
    s->test = data->count[KREIN_PART_HELD];
    s->n = s->train + s->test;
    s->d = e.d;
    s->task = e.task;
    s->classes = e.nclass;
    if (s->train < 1 || s->test < 1) {
        st = krein__fail(ctx, KREIN_EDATA,
                         "%s: of %lld rows %lld would be trained on and %lld held out; more rows "
                         "are needed, or another `holdout`",
                         s->name, (long long)s->n, (long long)s->train, (long long)s->test);
        goto done;
    }
    TRY(digest(data, &e, &s->digest));
done:
    krein__encoding_clear(ctx, &e);
    krein_data_close(data);
    return st;
}

/* Whether the measure suits the labels, which are all of one kind. */
static krein_status check_measure(krein_comparison *c) {
    krein_ctx *ctx = c->ctx;
    const bool classes = c->set[0].task == KREIN_TASK_CLASSIFICATION;
    for (int64_t i = 1; i < c->sets; i++)
        if ((c->set[i].task == KREIN_TASK_CLASSIFICATION) != classes)
            return krein__fail(ctx, KREIN_EDATA,
                               "the labels of %s are %s, those of %s %s: no measure is for both; "
                               "compare them apart, or say what they are (`task`)",
                               c->set[0].name, classes ? "classes" : "numbers", c->set[i].name,
                               classes ? "numbers" : "classes");
    if (c->measure == KREIN_MEASURE_AUTO)
        c->measure = classes ? KREIN_MEASURE_ERROR : KREIN_MEASURE_RMSE;
    if (classes != (c->measure != KREIN_MEASURE_RMSE))
        return krein__fail(ctx, KREIN_EARG, "`measure=%s` is for %s, and the labels of %s are %s",
                           krein__measure_name(c->measure), classes ? "numbers" : "classes",
                           c->set[0].name,
                           classes ? "classes; take error, logloss or auc" : "numbers; take rmse");
    for (int64_t i = 0; c->measure == KREIN_MEASURE_AUC && i < c->sets; i++)
        if (c->set[i].classes != 2)
            return krein__fail(ctx, KREIN_EARG,
                               "`measure=auc` is for two classes, and %s has %lld; take logloss or "
                               "error",
                               c->set[i].name, (long long)c->set[i].classes);
    return KREIN_OK;
}

krein_status krein__sets_scan(krein_comparison *c) {
    krein_ctx *ctx = c->ctx;
    krein_status st = KREIN_OK;
    ZNEW(c->set, c->sets);
    c->measure = c->o.measure;
    for (int64_t i = 0; i < c->sets; i++) TRY(scan(c, i));
    TRY(check_measure(c));
done:
    return st;
}
