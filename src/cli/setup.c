/* setup.c -- what was typed, as the library's option structs. */
#include "cli/cli.h"

#include "base/base.h"

krein_status cli_open(cli_app *app, const char *path, const char *labels, krein_data **out) {
    return cli_open_on(&app->args, app->ctx, path, labels, out);
}

krein_status cli_open_on(const cli_args *a, krein_ctx *ctx, const char *path, const char *labels,
                         krein_data **out) {
    krein_data_options o;
    krein_data_options_init(&o);
    o.format = a->format;
    o.delimiter = (char)a->delimiter;
    o.header = a->header; /* -1: detected, in both */
    o.label = a->label;
    o.labels_file = labels;
    o.image = a->image;
    o.weights = a->weights;
    o.group = a->group;
    o.id = a->id;
    o.ignore = a->ignore;
    o.targets = a->targets;
    /* The words of the tables are in the order of the library's values. */
    if (a->task >= 0) o.task = (krein_task)a->task;
    if (a->missing >= 0) o.missing = (krein_missing)a->missing;
    if (a->unknown >= 0) o.unknown_ignore = a->unknown;
    if (a->types >= 0) o.types = (krein_types)a->types;
    if (a->categories >= 0) o.categories = (krein_categories)a->categories;
    if (a->scale >= 0) o.scale = (krein_scale)a->scale;
    return krein_data_open(ctx, path, &o, out);
}

void cli_train_options(const cli_args *a, krein_train_options *o) {
    krein_train_options_init(o);
    o->learner = a->learner;
    o->kernel = a->kernel;
    o->kernels = a->kernels;
    o->map = a->map;
    o->features = a->features;
    o->lambda = a->lambda;
    o->select = a->select;
    o->metric = a->metric;
    o->effort = a->effort;
    o->clip = a->clip;
    o->seed = a->seed;
    if (a->max_exact >= 0) o->max_exact = a->max_exact;
    o->time_limit = a->time_limit;
    o->checkpoint = a->checkpoint;
    o->graph_file = a->graph_file;
    o->checkpoint_seconds = a->checkpoint_every;
    o->holdout = a->holdout;
    o->probabilities = a->probabilities;
    o->uncertainty = a->uncertainty;
    o->subspace = a->subspace;
    if (a->subspace_start >= 0) o->subspace_start = a->subspace_start;
}

krein_status cli_training_open(cli_app *app, cli_training *out) {
    const cli_args *a = &app->args;
    krein_status st = KREIN_OK;
    *out = (cli_training){0};
    cli_train_options(a, &out->options);
    TRY(cli_open(app, a->operand[0], a->labels, &out->data));
    if (a->test) TRY(cli_open(app, a->test, a->test_labels, &out->test));
    if (a->unlabeled) TRY(cli_open(app, a->unlabeled, NULL, &out->unlabeled));
    out->options.test = out->test;
    out->options.unlabeled = out->unlabeled;
done:
    return st;
}

void cli_training_close(cli_training *t) {
    krein_data_close(t->test);
    krein_data_close(t->unlabeled);
    krein_data_close(t->data);
}

void cli_warn_ignored(cli_app *app) {
    const cli_args *a = &app->args;
    const struct {
        const char *name;
        bool given;
    } decided[] = {{"task", a->task > 0},
                   {"scale", a->scale >= 0},
                   {"categories", a->categories >= 0},
                   {"targets", a->targets > 0},
                   {"max-exact", a->max_exact >= 0}};
    char text[96];
    for (int64_t k = 0; k < KREIN__COUNT(decided); k++) {
        if (!decided[k].given) continue;
        snprintf(text, sizeof text, "--%s is ignored: the model knows it from training",
                 decided[k].name);
        cli_on_log(app, KREIN_LOG_WARNING, text);
    }
}
