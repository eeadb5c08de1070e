/* cmd_pca.c -- krein pca: kernel principal components, their scores and a model of them. */
#include "cli/cli.h"

#include "base/base.h"

#include <inttypes.h>
#include <string.h>

enum { ROWS_SHOWN = 20 };

static json_t *numbers(const double *values, int64_t n) {
    json_t *array = json_array();
    for (int64_t k = 0; k < n; k++) json_array_append_new(array, cli_json_number(values[k]));
    return array;
}

static void print_json(const cli_args *a, const krein_pca_report *r) {
    json_t *out =
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "command", "pca", "n",
                  cli_json_count(r->n), "d", cli_json_count(r->d), "D", cli_json_count(r->D),
                  "kernel", cli_json_text(r->kernel), "map", cli_json_text(r->map), "components",
                  cli_json_count(r->components), "variance", numbers(r->variance, r->components),
                  "ratio", numbers(r->ratio, r->components));
    json_t *rest =
        json_pack("{s:o, s:o, s:o, s:o, s:o}", "total", cli_json_number(r->total), "negative_mass",
                  cli_json_number(r->negative_mass), "seconds", cli_json_number(r->seconds),
                  "output", cli_json_text(a->output), "model", cli_json_text(a->model));
    json_object_update(out, rest);
    json_decref(rest);
    cli_print_json(out);
}

void cli_print_variance(FILE *f, int64_t n, const double *variance, double total) {
    double sum = 0;
    fprintf(f, "\n%-12s%12s%12s%14s\n", "component", "variance", "ratio", "cumulative");
    for (int64_t k = 0; k < n; k++) {
        sum += variance[k];
        if (k == ROWS_SHOWN - 1 && n > ROWS_SHOWN) fprintf(f, "...\n");
        if (k >= ROWS_SHOWN - 1 && k < n - 1) continue;
        fprintf(f, "%-12" PRId64 "%12.6g%11.3f%%%13.3f%%\n", k + 1, variance[k],
                100 * variance[k] / total, 100 * sum / total);
    }
}

static void print_text(const cli_app *app, const krein_pca_report *r) {
    const cli_args *a = &app->args;
    char number[32], seconds[32];
    /* stdout has the scores where they go there */
    FILE *f = a->output && strcmp(a->output, "-") == 0 ? stderr : stdout;
    if (f == stderr && a->quiet) return;
    cli_line(f, "rows", "%s", cli_count_text(r->n, number));
    cli_line(f, "inputs", "%s", cli_count_text(r->d, number));
    cli_line(f, "kernel", "%s", r->kernel);
    cli_line(f, "map", "%s", r->map);
    cli_line(f, "features", "%s", cli_count_text(r->D, number));
    if (r->negative_mass > 0)
        cli_line(f, "negative part", "%.3g %% of the spectrum: indefinite", 100 * r->negative_mass);
    cli_line(f, "time", "%s", cli_seconds_text(r->seconds, seconds));
    if (a->output && f == stdout) cli_line(f, "output", "%s", a->output);
    if (a->model) cli_line(f, "model", "%s", a->model);
    cli_print_variance(f, r->components, r->variance, r->total);
}

/* Scores and model each need a place of their own. */
static int check_call(const cli_app *app) {
    const cli_args *a = &app->args;
    int status = CLI_OK;
    if (a->output) {
        if ((status = cli_need_output(app)) != CLI_OK) return status;
        if ((status = cli_check_output(a, a->output)) != CLI_OK) return status;
    }
    if (a->plot) {
        if (a->components == 1)
            return cli_error(CLI_USAGE, "pca: --plot draws two components; give --components 2");
        if ((status = cli_check_plot(app)) != CLI_OK) return status;
        if ((status = cli_check_apart(a->output, a->plot)) != CLI_OK) return status;
        if ((status = cli_check_apart(a->model, a->plot)) != CLI_OK) return status;
    }
    if (!a->model) return CLI_OK;
    if (strcmp(a->model, "-") == 0)
        return cli_error(CLI_USAGE, "pca: --model takes a file; standard output is for -o -");
    if ((status = cli_check_apart(a->output, a->model)) != CLI_OK) return status;
    return cli_check_output(a, a->model);
}

/* The plane of the first two, by class where the data have classes. */
static int draw(cli_app *app, krein_data *data, const krein_model *model,
                const krein_pca_report *r) {
    krein_classes classes = KREIN_SIZED(krein_classes);
    cli_plane plane = {.what = "class"};
    krein_status st = krein_predict(app->ctx, model, data, cli_plane_take, &plane);
    if (st == KREIN_OK) {
        st = krein_data_classes(app->ctx, data, &classes);
        cli_progress_erase(app);
        if (st == KREIN_EDATA) { /* components need no labels */
            cli_error(0, "pca: the figure has no classes: %s", cli_flags(krein_message(app->ctx)));
            st = KREIN_OK;
        }
    }
    cli_progress_erase(app);
    if (classes.n == plane.n) {
        plane.group = classes.class_of;
        plane.groups = classes.classes;
        plane.names = classes.names;
    }
    const int status = st == KREIN_OK ? cli_plane_chart(app, r, &plane) : cli_failure(app, st);
    cli_plane_end(&plane);
    krein_classes_clear(app->ctx, &classes);
    return status;
}

int cli_cmd_pca(cli_app *app) {
    const cli_args *a = &app->args;
    krein_status st = KREIN_OK;
    krein_pca_options o;
    krein_pca_report r = KREIN_SIZED(krein_pca_report);
    krein_data *data = NULL;
    krein_model *model = NULL;
    int status;
    if ((status = check_call(app)) != CLI_OK) return status;
    krein_pca_options_init(&o);
    o.kernel = a->kernel;
    o.map = a->map;
    o.features = a->features;
    o.seed = a->seed;
    if (a->components > 0) o.components = a->components;
    if (a->max_exact >= 0) o.max_exact = a->max_exact;
    TRY(cli_open(app, a->operand[0], a->labels, &data));
    TRY(krein_pca(app->ctx, data, &o, a->output, &r, &model));
    if (a->model) TRY(krein_model_save(app->ctx, model, a->model));
    cli_progress_erase(app);
    if (a->json)
        print_json(a, &r);
    else
        print_text(app, &r);
    if (a->plot) status = draw(app, data, model, &r);
done:
    if (st != KREIN_OK) status = cli_failure(app, st);
    krein_model_destroy(model);
    krein_pca_report_clear(app->ctx, &r);
    krein_data_close(data);
    return status;
}
