/* cmd_report.c -- krein report: an HTML page about a model. */
#include "cli/cli.h"

#include "base/base.h"

#include <string.h>

/* What the page is called unless --title says it. */
static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int write_page(cli_app *app, const krein_page *page) {
    cli_file file;
    if (!cli_file_open(app, &file, app->args.output)) return CLI_FAILED;
    fwrite(page->html, 1, (size_t)page->html_bytes, file.stream);
    const bool written = cli_file_commit(&file);
    cli_file_abort(&file);
    return written ? CLI_OK : CLI_FAILED;
}

static void print_json(const cli_app *app, const krein_page *page) {
    const cli_args *a = &app->args;
    json_t *all = json_pack("{s:s, s:o, s:o}", "command", "report", "file",
                            cli_json_text(a->operand[0]), "output", cli_json_text(a->output));
    json_t *numbers = json_loads(page->json, 0, NULL);
    if (numbers) json_object_update(all, numbers);
    json_decref(numbers);
    cli_print_json(all);
}

/* The strongest inputs are in the page; here is what can be said in a few lines. */
static void print_lines(const cli_app *app, const krein_page *page) {
    const cli_args *a = &app->args;
    char bytes[32], seconds[32];
    if (strcmp(a->output, "-") == 0) return;
    cli_line(stdout, "page", "%s, %s", a->output,
             krein__bytes_text((double)page->html_bytes, bytes));
    cli_line(stdout, "seconds", "%s", cli_seconds_text(page->seconds, seconds));
}

static int check(cli_app *app) {
    const cli_args *a = &app->args;
    int status;
    if (!a->output && a->json) return CLI_OK;
    if ((status = cli_need_output(app)) != CLI_OK) return status;
    return cli_check_output(a, a->output);
}

int cli_cmd_report(cli_app *app) {
    const cli_args *a = &app->args;
    krein_status st = KREIN_OK;
    krein_model *model = NULL;
    krein_data *data = NULL, *train = NULL;
    krein_page_options options;
    krein_page page = KREIN_SIZED(krein_page);
    int status = check(app);
    if (status != CLI_OK) return status;
    cli_warn_ignored(app);
    krein_page_options_init(&options);
    TRY(krein_model_load(app->ctx, a->operand[0], &model));
    TRY(cli_open(app, a->operand[1], a->labels, &data));
    if (a->train) TRY(cli_open(app, a->train, a->train_labels, &train));
    options.title = a->title ? a->title : base_name(a->operand[0]);
    options.train = train;
    options.curve = a->curve;
    options.seed = a->seed;
    if (a->rows > 0) options.rows = a->rows;
    TRY(krein_model_report(app->ctx, model, data, &options, &page));
    cli_progress_erase(app);
    if (a->output) status = write_page(app, &page);
    if (status == CLI_OK && a->json) print_json(app, &page);
    if (status == CLI_OK && !a->json) print_lines(app, &page);
done:
    if (st != KREIN_OK) status = cli_failure(app, st);
    krein_page_clear(app->ctx, &page);
    krein_data_close(train);
    krein_data_close(data);
    krein_model_destroy(model);
    return status;
}
