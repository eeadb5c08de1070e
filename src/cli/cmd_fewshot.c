/* cmd_fewshot.c -- krein fewshot: methods that learn from few examples, over many tasks. */
#include "cli/cli.h"

#include "base/base.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- output ------------------------------------------------------------- */

static json_t *numbers(int64_t n, const double *values) {
    json_t *out = json_array();
    for (int64_t i = 0; i < n; i++) json_array_append_new(out, cli_json_number(values[i]));
    return out;
}

static json_t *counts(int64_t n, const int64_t *values) {
    json_t *out = json_array();
    for (int64_t i = 0; i < n; i++) json_array_append_new(out, cli_json_count(values[i]));
    return out;
}

static json_t *result_json(const krein_fewshot_result *r) {
    json_t *out =
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "method", r->method, "accuracy",
                  cli_json_number(r->accuracy), "sd", cli_json_number(r->sd), "tasks",
                  cli_json_count(r->tasks), "seconds", cli_json_number(r->seconds), "interval",
                  cli_json_number(r->interval), "detail", cli_json_text(r->detail), "kept",
                  cli_json_count(r->kept), "values", numbers(r->tasks, r->values));
    json_t *curve = r->points > 0 ? json_pack("{s:o, s:o}", "steps", counts(r->points, r->step),
                                              "accuracy", numbers(r->points, r->curve))
                                  : json_null();
    json_t *meta = r->looks > 0
                       ? json_pack("{s:o, s:o, s:o}", "steps", counts(r->looks, r->look_step),
                                   "loss", numbers(r->looks, r->look_loss), "validation",
                                   numbers(r->looks, r->look_accuracy))
                       : json_null();
    json_object_set_new(out, "curve", curve);
    json_object_set_new(out, "meta", meta);
    return out;
}

static void print_json(const cli_args *a, const krein_fewshot_report *r) {
    json_t *results = json_array();
    for (int64_t i = 0; i < r->count; i++)
        json_array_append_new(results, result_json(r->results[i]));
    json_t *out =
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "command", "fewshot", "ways",
                  cli_json_count(r->ways), "shots", cli_json_count(r->shots), "queries",
                  cli_json_count(r->queries), "arch", cli_json_text(r->arch), "parameters",
                  cli_json_count(r->parameters), "classes", counts(3, r->classes), "output",
                  cli_json_text(a->output), "seconds", cli_json_number(r->seconds));
    json_object_set_new(out, "results", results);
    cli_print_json(out);
}

static void print_text(const krein_fewshot_report *r) {
    char number[32], seconds[32];
    cli_line(stdout, "network", "%s, %s parameters", r->arch,
             cli_count_text(r->parameters, number));
    cli_line(stdout, "classes", "%lld for training, %lld for validation, %lld for tests",
             (long long)r->classes[0], (long long)r->classes[1], (long long)r->classes[2]);
    cli_line(stdout, "tasks", "%lld ways, %lld shots, %lld queries", (long long)r->ways,
             (long long)r->shots, (long long)r->queries);
    printf("\n%-12s%10s%8s%10s%7s%10s\n", "method", "accuracy", "sd", "+- (95 %)", "tasks", "time");
    for (int64_t i = 0; i < r->count; i++) {
        const krein_fewshot_result *e = r->results[i];
        printf("%-12s%8.2f %%%8.2f%10.2f%7lld%10s%s%s\n", e->method, 100 * e->accuracy, 100 * e->sd,
               100 * e->interval, (long long)e->tasks, cli_seconds_text(e->seconds, seconds),
               e->detail ? "  " : "", e->detail ? e->detail : "");
    }
}

/* ---- the plot ----------------------------------------------------------- */

enum { SERIES = 32 };

/* Accuracy of the steps on a test task, and of the meta training on validation tasks. */
static int plot(cli_app *app, const krein_fewshot_report *r) {
    krein_svg_series series[2][SERIES] = {{{0}}};
    krein_svg_plot plots[2] = {{.x_title = "steps on a test task",
                                .y_title = "accuracy",
                                .series = series[0],
                                .linear = true,
                                .whole = true},
                               {.x_title = "meta steps",
                                .y_title = "validation accuracy",
                                .series = series[1],
                                .linear = true,
                                .whole = true}};
    int status = CLI_FAILED;
    int64_t n = krein__min(r->count, SERIES);
    for (int64_t i = 0; i < n; i++) {
        const krein_fewshot_result *e = r->results[i];
        krein_svg_point *curve = calloc((size_t)e->points + 1, sizeof *curve);
        krein_svg_point *looks = calloc((size_t)e->looks + 1, sizeof *looks);
        series[0][i] = (krein_svg_series){e->method, e->points, curve};
        series[1][i] = (krein_svg_series){e->method, e->looks, looks};
        plots[0].n = plots[1].n = i + 1;
        if (!curve || !looks) {
            cli_error(CLI_FAILED, "out of memory");
            goto done;
        }
        for (int64_t k = 0; k < e->points; k++)
            curve[k] = (krein_svg_point){(double)e->step[k], e->curve[k], 0};
        for (int64_t k = 0; k < e->looks; k++)
            looks[k] = (krein_svg_point){(double)e->look_step[k], e->look_accuracy[k], 0};
    }
    status = cli_figure_write(app, "few-shot learning", 2, plots);
done:
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < 2; k++) free((void *)series[k][i].points);
    return status;
}

/* ---- the call ----------------------------------------------------------- */

static int check_call(const cli_app *app) {
    const cli_args *a = &app->args;
    int status = CLI_OK;
    if (a->methods.n == 0)
        return cli_error(CLI_USAGE,
                         "fewshot: --method NAME is required; 'krein list fewshot' has them");
    if (a->split.n > 0 && a->split.n != 3 && !(a->operands == 2 && a->split.n == 2))
        return cli_error(CLI_USAGE,
                         "fewshot: --class-split takes three numbers, for training, validation and "
                         "tests%s",
                         a->operands == 2 ? ", or the first two of them" : "");
    if (a->test_labels && a->operands < 2)
        return cli_error(CLI_USAGE, "fewshot: --test-labels is for a second file, TEST");
    const char *const files[] = {a->output, a->checkpoint};
    for (int k = 0; k < 2 && status == CLI_OK; k++)
        if (files[k] && (k == 0 || cli_file_size(files[k]) < 0))
            status = cli_check_output(a, files[k]);
    if (status == CLI_OK && a->plot) status = cli_check_plot(app);
    if (status == CLI_OK) status = cli_check_apart(a->output, a->checkpoint);
    if (status == CLI_OK) status = cli_check_apart(a->output, a->plot);
    if (status == CLI_OK) status = cli_check_apart(a->checkpoint, a->plot);
    return status;
}

static void options_of(const cli_args *a, krein_fewshot_options *o) {
    krein_fewshot_options_init(o);
    const struct {
        int64_t from, *to;
    } counts[] = {{a->ways, &o->ways},
                  {a->shots, &o->shots},
                  {a->queries, &o->queries},
                  {a->tasks, &o->tasks},
                  {a->dimensions, &o->dimensions},
                  {a->steps, &o->steps},
                  {a->test_steps, &o->test_steps},
                  {a->meta_steps, &o->meta_steps},
                  {a->meta_tasks, &o->meta_tasks},
                  {a->meta_queries, &o->meta_queries},
                  {a->epochs, &o->epochs},
                  {a->path_epochs, &o->path_epochs},
                  {a->validation_tasks, &o->validation_tasks},
                  {a->validate_every, &o->validate_every}};
    for (int64_t i = 0; i < KREIN__COUNT(counts); i++)
        if (counts[i].from > 0) *counts[i].to = counts[i].from;
    o->methods = a->methods.text;
    o->nmethods = a->methods.n;
    o->arch = a->arch;
    if (a->rate > 0) o->rate = a->rate;
    if (a->meta_rate > 0) o->meta_rate = a->meta_rate;
    for (int64_t k = 0; k < a->split.n; k++) o->split[k] = a->split.count[k];
    o->seed = a->seed;
    o->time_limit = a->time_limit;
    o->checkpoint = a->checkpoint;
    o->checkpoint_seconds = a->checkpoint_every;
    o->output = a->output;
}

int cli_cmd_fewshot(cli_app *app) {
    const cli_args *a = &app->args;
    krein_status st = KREIN_OK;
    krein_fewshot_options o;
    krein_fewshot_report r = KREIN_SIZED(krein_fewshot_report);
    krein_data *train = NULL, *test = NULL;
    int status = check_call(app);
    if (status != CLI_OK) return status;
    options_of(a, &o);
    TRY(cli_open(app, a->operand[0], a->labels, &train));
    if (a->operands > 1) TRY(cli_open(app, a->operand[1], a->test_labels, &test));
    TRY(krein_fewshot(app->ctx, train, test, &o, &r));
    cli_progress_erase(app);
    if (cli_silent()) goto done; /* the first process prints */
    if (a->json)
        print_json(a, &r);
    else
        print_text(&r);
    if (a->plot) status = plot(app, &r);
done:
    if (st == KREIN_ECANCEL && cli_cancelled() && a->checkpoint) {
        cli_progress_erase(app);
        status = cli_error(CLI_FAILED,
                           "cancelled; %s has what was done, and the same command goes on from it",
                           a->checkpoint);
    } else if (st != KREIN_OK) {
        status = cli_failure(app, st);
    }
    krein_fewshot_report_clear(app->ctx, &r);
    krein_data_close(train);
    krein_data_close(test);
    return status;
}
