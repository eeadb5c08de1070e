/* cmd_export.c -- krein export: a model as one C99 file. */
#include "cli/cli.h"

#include "base/base.h"

#include <string.h>

static void print_report(const cli_app *app, const krein_export_report *r) {
    const cli_args *a = &app->args;
    char number[32], bytes[32];
    if (a->json) {
        cli_print_json(json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:b, s:b}", "command", "export",
                                 "output", cli_json_text(a->output), "bytes",
                                 cli_json_count(r->bytes), "operations", cli_json_count(r->flops),
                                 "stack", cli_json_count(r->stack), "text", cli_json_count(r->file),
                                 "double", r->wide, "drawn", r->drawn));
        return;
    }
    FILE *f = strcmp(a->output, "-") == 0 ? stderr : stdout; /* stdout has the program */
    if (f == stderr && a->quiet) return;
    cli_line(f, "program", "%s", a->output);
    cli_line(f, "constants", "%s", krein__bytes_text((double)r->bytes, bytes));
    cli_line(f, "operations", "%s a row", cli_count_text(r->flops, number));
    cli_line(f, "stack", "%s bytes", cli_count_text(r->stack, number));
    if (r->drawn)
        cli_line(f, "frequencies", "drawn again for every row; --stored is larger and faster");
    cli_line(f, "numbers", "%s", r->wide ? "double: float sums would lose digits" : "float");
}

int cli_cmd_export(cli_app *app) {
    const cli_args *a = &app->args;
    krein_status st = KREIN_OK;
    krein_model *model = NULL;
    krein_export_options options;
    krein_export_report r = KREIN_SIZED(krein_export_report);
    int status;
    if ((status = cli_need_output(app)) != CLI_OK) return status;
    if ((status = cli_check_output(a, a->output)) != CLI_OK) return status;
    if (a->header_file && (status = cli_check_output(a, a->header_file)) != CLI_OK) return status;
    if ((status = cli_check_apart(a->output, a->header_file)) != CLI_OK) return status;
    krein_export_options_init(&options);
    options.name = a->name;
    options.header = a->header_file;
    options.no_libm = a->no_libm;
    options.stored = a->stored;
    TRY(krein_model_load(app->ctx, a->operand[0], &model));
    TRY(krein_model_export(app->ctx, model, a->output, &options, &r));
    print_report(app, &r);
done:
    if (st != KREIN_OK) status = cli_failure(app, st);
    krein_model_destroy(model);
    return status;
}
