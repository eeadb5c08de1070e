/* cmd_info.c -- krein info: what a model is. */
#include "cli/cli.h"

#include "base/base.h"

#include <inttypes.h>
#include <math.h>

enum { NAMES_SHOWN = 20, FACTORS_SHOWN = 10, RANGES_SHOWN = 10 };

/* Seeds above 2^63 do not fit jansson's integers. */
static json_t *seed_json(uint64_t seed) {
    char text[24];
    if (seed <= INT64_MAX) return json_integer((json_int_t)seed);
    snprintf(text, sizeof text, "%" PRIu64, seed);
    return json_string(text);
}

/* Name and shape of what krein_model_array gives. */
static json_t *arrays_json(const krein_model *model) {
    json_t *all = json_array();
    krein_array array;
    for (int64_t i = 0; krein_model_array_name(model, i); i++) {
        const char *name = krein_model_array_name(model, i);
        if (krein_model_array(model, name, &array))
            json_array_append_new(all, json_pack("{s:o, s:o, s:o}", "name", cli_json_text(name),
                                                 "rows", cli_json_count(array.rows), "columns",
                                                 cli_json_count(array.columns)));
    }
    return all;
}

static void print_json(const char *path, const krein_model *model, const krein_model_info *i) {
    json_t *classes = json_null(), *columns = json_array();
    if (i->classes > 0) {
        classes = json_array();
        for (int64_t k = 0; k < i->classes; k++)
            json_array_append_new(classes, cli_json_text(krein_model_class(model, k)));
    }
    for (int64_t j = 0; j < i->inputs; j++)
        json_array_append_new(columns, cli_json_text(krein_model_column(model, j)));
    json_t *out =
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "command", "info", "model",
                  cli_json_text(path), "task", cli_json_text(cli_task_name(i->task)), "n",
                  cli_json_count(i->n), "d", cli_json_count(i->d), "D", cli_json_count(i->D),
                  "inputs", cli_json_count(i->inputs), "outputs", cli_json_count(i->outputs),
                  "classes", classes, "columns", columns);
    json_t *rest = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o}", "learner",
                             cli_json_text(i->learner), "kernel", cli_json_text(i->kernel), "map",
                             cli_json_text(i->map), "scale", cli_json_text(i->scale), "lambda",
                             cli_json_number(i->lambda), "seed", seed_json(i->seed), "negative",
                             cli_json_count(i->negative), "probabilities", i->probabilities,
                             "bytes", cli_json_count(i->bytes));
    json_t *facts = json_object();
    krein_fact fact;
    for (int64_t k = 0; krein_model_fact(model, k, &fact); k++) cli_json_fact(facts, &fact);
    json_object_set_new(out, "facts", facts);
    json_object_set_new(out, "metric", cli_json_metric(model));
    json_object_set_new(out, "clip", cli_json_number(i->clip));
    json_object_set_new(out, "uncertainty", json_boolean(i->uncertainty));
    json_object_set_new(out, "notes", cli_json_notes(model));
    json_t *variance = i->variance ? json_array() : json_null();
    for (int64_t k = 0; i->variance && k < i->outputs; k++)
        json_array_append_new(variance, cli_json_number(i->variance[k]));
    json_object_set_new(out, "variance", variance);
    json_object_set_new(out, "variance_total", cli_json_number(i->variance_total));
    json_object_set_new(out, "weights", cli_json_weights(i->kernels, i->weights));
    json_object_set_new(out, "ranges", cli_json_ranges(model, i->inputs));
    json_object_set_new(out, "candidates", cli_json_tried(model));
    json_object_set_new(out, "searched", cli_json_searched(model));
    json_object_set_new(out, "path", cli_json_path(model));
    json_object_set_new(out, "arrays", arrays_json(model));
    json_object_update(out, rest);
    json_decref(rest);
    cli_print_json(out);
}

static void print_names(const char *label, const krein_model *model, int64_t n,
                        const char *(*name)(const krein_model *, int64_t)) {
    bool any = false;
    for (int64_t k = 0; k < n && k < NAMES_SHOWN; k++) any = any || name(model, k);
    if (!any) return;
    printf("%-16s", label);
    for (int64_t k = 0; k < n && k < NAMES_SHOWN; k++) {
        const char *text = name(model, k);
        printf("%s%s", k ? ", " : "", text ? cli_safe(text) : "?");
    }
    puts(n > NAMES_SHOWN ? ", ..." : "");
}

static void print_text(const char *path, const krein_model *model, const krein_model_info *i) {
    char number[32], bytes[32];
    const char *task = cli_task_name(i->task);
    cli_line(stdout, "model", "%s (%s)", path, krein__bytes_text((double)i->bytes, bytes));
    const bool labels = i->task == KREIN_TASK_MULTILABEL;
    if (task && i->classes > 0)
        cli_line(stdout, "task", "%s, %" PRId64 " %s", task, i->classes,
                 labels ? "labels" : "classes");
    else if (task)
        cli_line(stdout, "task", "%s%s", task, i->outputs > 1 ? " with several targets" : "");
    if (i->classes > 0)
        print_names(labels ? "labels" : "classes", model, i->classes, krein_model_class);
    cli_line(stdout, "trained on", "%s rows", cli_count_text(i->n, number));
    cli_line(stdout, "columns", "%s", cli_count_text(i->inputs, number));
    print_names("", model, i->inputs, krein_model_column);
    cli_print_ranges(stdout, model, i->inputs, RANGES_SHOWN);
    if (i->d != i->inputs) cli_line(stdout, "encoded inputs", "%s", cli_count_text(i->d, number));
    cli_print_notes(stdout, model);
    if (i->variance)
        cli_line(stdout, "components", "%s", cli_count_text(i->outputs, number));
    else if (i->outputs > 1)
        cli_line(stdout, "outputs", "%s", cli_count_text(i->outputs, number));
    if (i->scale) cli_line(stdout, "scale", "%s", i->scale);
    if (isfinite(i->clip)) cli_line(stdout, "clip", "%g", i->clip);
    cli_print_metric(stdout, model, FACTORS_SHOWN);
    if (i->learner) cli_line(stdout, "learner", "%s", i->learner);
    cli_print_kernel(stdout, i->kernel, i->kernels, i->weights);
    if (i->map) cli_line(stdout, "map", "%s", i->map);
    if (i->D >= 0) cli_line(stdout, "features", "%s", cli_count_text(i->D, number));
    if (i->negative > 0)
        cli_line(stdout, "negative", "%s features", cli_count_text(i->negative, number));
    krein_fact fact;
    for (int64_t k = 0; krein_model_fact(model, k, &fact); k++)
        if (fact.text)
            cli_line(stdout, fact.name, "%s", fact.text);
        else
            cli_line(stdout, fact.name, "%.6g", fact.value);
    if (isfinite(i->lambda)) cli_line(stdout, "lambda", "%.6g", i->lambda);
    cli_print_path(stdout, model);
    cli_print_tried(stdout, model);
    cli_line(stdout, "seed", "%" PRIu64, i->seed);
    if (task) cli_line(stdout, "probabilities", "%s", i->probabilities ? "yes" : "no");
    if (i->uncertainty)
        cli_line(stdout, "uncertainty", "%s%s%s", i->uncertainty & KREIN_SAYS_STD ? "std, " : "",
                 i->task == KREIN_TASK_CLASSIFICATION ? "sets of classes" : "intervals",
                 i->uncertainty & KREIN_SAYS_NOVELTY ? ", novelty" : "");
    if (i->variance) cli_print_variance(stdout, i->outputs, i->variance, i->variance_total);
}

int cli_cmd_info(cli_app *app) {
    const char *path = app->args.operand[0];
    krein_model *model = NULL;
    krein_model_info info = KREIN_SIZED(krein_model_info);
    int status = CLI_OK;
    if (app->args.plot && (status = cli_check_plot(app)) != CLI_OK) return status;
    const krein_status st = krein_model_load(app->ctx, path, &model);
    if (st != KREIN_OK) return cli_failure(app, st);
    krein_model_describe(model, &info);
    if (app->args.plot && (status = cli_spectrum_chart(app, model)) != CLI_OK) goto done;
    if (app->args.json)
        print_json(path, model, &info);
    else
        print_text(path, model, &info);
done:
    krein_model_destroy(model);
    return status;
}
