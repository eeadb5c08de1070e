/* cmd_subspace.c -- krein subspace: train a network and keep the subspace of its path. */
#include "cli/cli.h"

#include "base/base.h"

#include <string.h>

static void print_json(const cli_args *a, const krein_report *t, const krein_subspace_info *r) {
    json_t *shares = json_array();
    for (int64_t k = 0; r->share && k < r->dimensions; k++)
        json_array_append_new(shares, cli_json_number(r->share[k]));
    json_t *out = json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "command", "subspace", "n",
        cli_json_count(t->n), "arch", cli_json_text(r->arch), "parameters",
        cli_json_count(r->parameters), "dimensions", cli_json_count(r->dimensions), "snapshots",
        cli_json_count(r->snapshots), "scores", cli_json_count(r->scores), "shares", shares);
    json_t *rest = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "learner", cli_json_text(t->learner),
                             "loo", cli_json_number(t->loo), "test", cli_json_metrics(t->test),
                             "output", cli_json_text(a->output), "model", cli_json_text(a->model),
                             "seconds", cli_json_number(t->seconds_total));
    json_object_update(out, rest);
    json_decref(rest);
    cli_print_json(out);
}

static void print_text(const cli_args *a, const krein_report *t, const krein_subspace_info *r) {
    char number[32], seconds[32];
    cli_line(stdout, "rows", "%s", cli_count_text(t->n, number));
    cli_line(stdout, "network", "%s, %s parameters", r->arch,
             cli_count_text(r->parameters, number));
    cli_line(stdout, "learner", "%s", t->learner);
    cli_line(stdout, "snapshots", "%s", cli_count_text(r->snapshots, number));
    if (t->test && t->test->task != KREIN_TASK_AUTO) cli_print_metrics(stdout, t->test, false);
    cli_line(stdout, "time", "%s", cli_seconds_text(t->seconds_total, seconds));
    cli_line(stdout, "output", "%s", a->output);
    if (a->model) cli_line(stdout, "model", "%s", a->model);
    if (r->share) cli_print_variance(stdout, r->dimensions, r->share, 1);
}

static int check_call(const cli_app *app) {
    const cli_args *a = &app->args;
    int status = cli_need_output(app);
    if (status != CLI_OK) return status;
    if (strcmp(a->output, "-") == 0 || (a->model && strcmp(a->model, "-") == 0))
        return cli_error(CLI_USAGE, "subspace: its files are not written to standard output");
    if ((status = cli_check_output(a, a->output)) != CLI_OK) return status;
    if (a->model && (status = cli_check_output(a, a->model)) != CLI_OK) return status;
    return cli_check_apart(a->output, a->model);
}

int cli_cmd_subspace(cli_app *app) {
    const cli_args *a = &app->args;
    krein_status st = KREIN_OK;
    krein_report report = KREIN_SIZED(krein_report);
    krein_subspace_info info = KREIN_SIZED(krein_subspace_info);
    krein_model *model = NULL;
    cli_training t = {0};
    int status = check_call(app);
    if (status != CLI_OK) return status;
    TRY(cli_training_open(app, &t));
    if (!t.options.learner) t.options.learner = "net";
    t.options.record = a->output;
    t.options.record_dimensions = a->dimensions;
    t.options.record_every = a->every;
    t.options.record_epochs = a->path_epochs;
    TRY(krein_train(app->ctx, t.data, &t.options, &report, &model));
    if (a->model) TRY(krein_model_save(app->ctx, model, a->model));
    TRY(krein_subspace_read(app->ctx, a->output, &info));
    cli_progress_erase(app);
    if (a->json)
        print_json(a, &report, &info);
    else
        print_text(a, &report, &info);
done:
    cli_progress_erase(app);
    if (st != KREIN_OK) status = cli_failure(app, st);
    cli_training_close(&t);
    krein_subspace_info_clear(app->ctx, &info);
    krein_report_clear(app->ctx, &report);
    krein_model_destroy(model);
    return status;
}
