/* cmd_train.c -- krein train: fit a model, write it, say what was chosen. */
#include "cli/cli.h"

#include "base/base.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void cli_trained_clear(cli_app *app, cli_trained *out) {
    krein_model_destroy(out->model);
    krein_report_clear(app->ctx, &out->report);
    memset(out, 0, sizeof *out);
}

int cli_train(cli_app *app, const char *output, cli_trained *out) {
    const cli_args *a = &app->args;
    krein_status st = KREIN_OK;
    cli_training t = {0};
    *out = (cli_trained){.report = KREIN_SIZED(krein_report)};
    TRY(cli_training_open(app, &t));
    TRY(krein_train(app->ctx, t.data, &t.options, &out->report, &out->model));
    if (cli_silent()) goto done; /* the first process writes */
    TRY(krein_model_save(app->ctx, out->model, output));
    out->bytes = cli_file_size(output);
    if (a->checkpoint) remove(a->checkpoint); /* the model is safe */
done:
    cli_training_close(&t);
    cli_progress_erase(app);
    if (st == KREIN_OK) return CLI_OK;
    const int status = cli_failure(app, st);
    cli_trained_clear(app, out);
    return status;
}

static void print_error(FILE *f, const krein_report *r, const char *how, double error) {
    if (!isfinite(error)) return;
    if (r->task == KREIN_TASK_CLASSIFICATION)
        cli_line(f, how, "%.3f %% error", 100 * error);
    else
        cli_line(f, how, "%.6g rmse", error);
}

void cli_print_report(FILE *f, const cli_trained *trained) {
    enum { INPUTS_SHOWN = 5 };
    const krein_report *r = &trained->report;
    char number[32], seconds[32];
    cli_line(f, "rows", "%s", cli_count_text(r->n, number));
    if (r->unlabelled > 0)
        cli_line(f, "without label", "%s", cli_count_text(r->unlabelled, number));
    cli_line(f, "inputs", "%s", cli_count_text(r->d, number));
    if (cli_task_name(r->task)) cli_line(f, "task", "%s", cli_task_name(r->task));
    if (r->learner) cli_line(f, "learner", "%s", r->learner);
    cli_print_kernel(f, r->kernel, r->kernels, r->weights);
    cli_print_metric(f, trained->model, INPUTS_SHOWN);
    if (r->map) cli_line(f, "map", "%s", r->map);
    if (r->D >= 0 && r->D != r->n) cli_line(f, "features", "%s", cli_count_text(r->D, number));
    if (r->lambda >= 0) cli_line(f, "lambda", "%.6g", r->lambda);
    print_error(f, r,
                r->folds > 1    ? "cross-validated"
                : r->folds == 1 ? "held out"
                                : "leave-one-out",
                r->loo);
    print_error(f, r, "after refit", r->refit);
    if (r->iterations > 0) cli_line(f, "iterations", "%s", cli_count_text(r->iterations, number));
    if (isfinite(r->residual)) cli_line(f, "residual", "%.2g", r->residual);
    if (isfinite(r->condition)) cli_line(f, "condition", "%.3g", r->condition);
    cli_print_tried(f, trained->model);
    cli_print_metrics(f, r->test, false);
    if (isfinite(r->seconds_total))
        cli_line(f, "time", "%s", cli_seconds_text(r->seconds_total, seconds));
}

void cli_print_notes(FILE *f, const krein_model *model) {
    for (int64_t i = 0; krein_model_note(model, i); i++)
        cli_line(f, "note", "%s", cli_safe(cli_flags(krein_model_note(model, i))));
}

json_t *cli_json_notes(const krein_model *model) {
    json_t *all = json_array();
    for (int64_t i = 0; krein_model_note(model, i); i++)
        json_array_append_new(all, cli_json_text(cli_flags(krein_model_note(model, i))));
    return all;
}

static json_t *report_json(const cli_trained *trained) {
    const krein_report *r = &trained->report;
    const char *measure = r->task == KREIN_TASK_CLASSIFICATION ? "error" : "rmse";
    json_t *loo = json_null(), *cv = json_null();
    if (isfinite(r->loo) && r->folds > 0)
        cv = json_pack("{s:f, s:o}", measure, r->loo, "folds", cli_json_count(r->folds));
    else if (isfinite(r->loo))
        loo = json_pack("{s:f}", measure, r->loo);
    json_t *seconds =
        json_pack("{s:o, s:o, s:o, s:o}", "read", cli_json_number(r->seconds_read), "select",
                  cli_json_number(r->seconds_select), "fit", cli_json_number(r->seconds_fit),
                  "total", cli_json_number(r->seconds_total));
    json_t *out = json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:o}",
        "command", "train", "n", cli_json_count(r->n), "d", cli_json_count(r->d), "task",
        cli_json_text(cli_task_name(r->task)), "learner", cli_json_text(r->learner), "kernel",
        cli_json_text(r->kernel), "map", cli_json_text(r->map), "D", cli_json_count(r->D), "lambda",
        cli_json_number(r->lambda), "weights", cli_json_weights(r->kernels, r->weights), "seconds",
        seconds, "peak_rss_bytes", (json_int_t)cli_peak_rss(), "model_bytes",
        cli_json_count(trained->bytes), "loo", loo, "cv", cv, "test", cli_json_metrics(r->test));
    json_object_set_new(out, "refit",
                        isfinite(r->refit) ? json_pack("{s:f}", measure, r->refit) : json_null());
    json_object_set_new(out, "unlabelled", cli_json_count(r->unlabelled));
    json_object_set_new(out, "iterations",
                        r->iterations > 0 ? cli_json_count(r->iterations) : json_null());
    json_object_set_new(out, "residual", cli_json_number(r->residual));
    json_object_set_new(out, "condition", cli_json_number(r->condition));
    json_object_set_new(out, "candidates", cli_json_tried(trained->model));
    json_object_set_new(out, "searched", cli_json_searched(trained->model));
    json_object_set_new(out, "metric", cli_json_metric(trained->model));
    return out;
}

/* The name of the model file; NULL with the status set when the call is wrong. Looked at
 * before training, which may take hours. */
static char *output_name(const cli_args *a, int *status) {
    *status = CLI_USAGE;
    if (!a->output && strcmp(a->operand[0], "-") == 0) {
        cli_error(0, "train: data from standard input have no name; give the model's with -o");
        return NULL;
    }
    char *name = a->output ? strdup(a->output) : cli_model_name(a->operand[0]);
    if (!name) {
        *status = cli_error(CLI_FAILED, "out of memory");
        return NULL;
    }
    if (strcmp(name, "-") == 0)
        cli_error(0, "train: a model is not written to standard output; give -o a file name");
    else if ((*status = cli_silent() ? CLI_OK : cli_check_output(a, name)) == CLI_OK)
        return name;
    free(name);
    return NULL;
}

int cli_cmd_train(cli_app *app) {
    const cli_args *a = &app->args;
    cli_trained trained;
    char size[32], rss[32];
    int status;
    if (a->test && a->holdout > 0)
        return cli_error(CLI_USAGE, "train: --test and --holdout exclude each other");
    if (a->checkpoint_every > 0 && !a->checkpoint)
        return cli_error(CLI_USAGE, "train: --checkpoint-every needs --checkpoint FILE");
    char *output = output_name(a, &status);
    if (!output) return status;
    if (a->checkpoint && (status = cli_check_output(a, a->checkpoint)) == CLI_OK)
        status = cli_check_apart(a->checkpoint, output);
    if (status == CLI_OK && a->graph_file &&
        (status = cli_check_output(a, a->graph_file)) == CLI_OK &&
        (status = cli_check_apart(a->graph_file, a->checkpoint)) == CLI_OK)
        status = cli_check_apart(a->graph_file, output);
    if (status == CLI_OK && a->plot && (status = cli_check_plot(app)) == CLI_OK &&
        (status = cli_check_apart(a->plot, a->checkpoint)) == CLI_OK &&
        (status = cli_check_apart(a->plot, a->graph_file)) == CLI_OK)
        status = cli_check_apart(a->plot, output);
    if (status != CLI_OK) {
        free(output);
        return status;
    }
    status = cli_train(app, output, &trained);
    if (status == CLI_OK && a->json) {
        json_t *object = report_json(&trained);
        json_object_set_new(object, "notes", cli_json_notes(trained.model));
        json_object_set_new(object, "output", cli_json_text(output));
        cli_print_json(object);
    } else if (status == CLI_OK) {
        const krein_report *r = &trained.report;
        cli_print_report(stdout, &trained);
        cli_print_notes(stdout, trained.model);
        if (a->verbose)
            fprintf(stderr, "krein: reading %.2f s, selecting %.2f s, fitting %.2f s\n",
                    r->seconds_read, r->seconds_select, r->seconds_fit);
        cli_line(stdout, "peak memory", "%s", krein__bytes_text((double)cli_peak_rss(), rss));
        cli_line(stdout, "model", "%s (%s)", output,
                 krein__bytes_text((double)trained.bytes, size));
    }
    if (status == CLI_OK) {
        if (a->plot && !cli_silent()) status = cli_tried_chart(app, trained.model);
        cli_trained_clear(app, &trained);
    }
    free(output);
    return status;
}
