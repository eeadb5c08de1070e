/* cmd_gram.c -- krein gram: kernel values as .npy. */
#include "cli/cli.h"

#include "base/base.h"

#include <string.h>

static void print_report(const cli_app *app, const krein_transform_report *r) {
    const char *output = app->args.output;
    char number[32], seconds[32];
    if (app->args.json) {
        cli_print_json(json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "command", "gram", "n",
                                 cli_json_count(r->n), "n2", cli_json_count(r->D), "d",
                                 cli_json_count(r->d), "kernel", cli_json_text(r->kernel), "output",
                                 cli_json_text(output), "seconds", cli_json_number(r->seconds)));
        return;
    }
    FILE *f = strcmp(output, "-") == 0 ? stderr : stdout; /* stdout has the values */
    if (f == stderr && app->args.quiet) return;
    cli_line(f, "rows", "%s", cli_count_text(r->n, number));
    if (r->D >= 0) cli_line(f, "columns", "%s", cli_count_text(r->D, number));
    cli_line(f, "inputs", "%s", cli_count_text(r->d, number));
    if (r->kernel) cli_line(f, "kernel", "%s", r->kernel);
    cli_line(f, "time", "%s", cli_seconds_text(r->seconds, seconds));
    if (f == stdout) cli_line(f, "output", "%s", output);
}

int cli_cmd_gram(cli_app *app) {
    const cli_args *a = &app->args;
    krein_status st = KREIN_OK;
    krein_train_options options;
    krein_transform_report r;
    krein_data *data = NULL, *data2 = NULL;
    int status;
    memset(&r, 0, sizeof r);
    if ((status = cli_need_output(app)) != CLI_OK) return status;
    for (int k = 0; k < a->operands; k++)
        if ((status = cli_check_output(a->output, a->operand[k])) != CLI_OK) return status;
    cli_train_options(a, &options);
    TRY(cli_open(app, a->operand[0], a->labels, &data));
    if (a->operands > 1) TRY(cli_open(app, a->operand[1], NULL, &data2));
    TRY(krein_gram(app->ctx, data, data2, &options, a->output, &r));
    cli_progress_erase(app);
    print_report(app, &r);
done:
    if (st != KREIN_OK) status = cli_failure(app, st);
    krein_transform_report_clear(app->ctx, &r);
    krein_data_close(data2);
    krein_data_close(data);
    return status;
}
