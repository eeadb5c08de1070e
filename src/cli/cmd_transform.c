/* cmd_transform.c -- krein transform: features as .npy or .libsvm. */
#include "cli/cli.h"

#include "base/base.h"

#include <string.h>

static void print_report(const cli_app *app, const krein_transform_report *r) {
    const char *output = app->args.output;
    char number[32], seconds[32];
    if (app->args.json) {
        cli_print_json(json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "command",
                                 "transform", "n", cli_json_count(r->n), "d", cli_json_count(r->d),
                                 "D", cli_json_count(r->D), "negative", cli_json_count(r->negative),
                                 "kernel", cli_json_text(r->kernel), "map", cli_json_text(r->map),
                                 "output", cli_json_text(output), "seconds",
                                 cli_json_number(r->seconds)));
        return;
    }
    FILE *f = strcmp(output, "-") == 0 ? stderr : stdout; /* stdout has the features */
    if (f == stderr && app->args.quiet) return;
    cli_line(f, "rows", "%s", cli_count_text(r->n, number));
    cli_line(f, "inputs", "%s", cli_count_text(r->d, number));
    if (r->kernel) cli_line(f, "kernel", "%s", r->kernel);
    if (r->map) cli_line(f, "map", "%s", r->map);
    cli_line(f, "features", "%s", cli_count_text(r->D, number));
    if (r->negative > 0) cli_line(f, "negative", "%s", cli_count_text(r->negative, number));
    cli_line(f, "time", "%s", cli_seconds_text(r->seconds, seconds));
    if (f == stdout) cli_line(f, "output", "%s", output);
}

int cli_cmd_transform(cli_app *app) {
    const cli_args *a = &app->args;
    krein_status st = KREIN_OK;
    krein_train_options options;
    krein_transform_report r = KREIN_SIZED(krein_transform_report);
    krein_data *data = NULL;
    int status;
    if ((status = cli_need_output(app)) != CLI_OK) return status;
    if ((status = cli_check_output(a, a->output)) != CLI_OK) return status;
    cli_train_options(a, &options);
    TRY(cli_open(app, a->operand[0], a->labels, &data));
    TRY(krein_transform(app->ctx, data, &options, a->output, &r));
    cli_progress_erase(app);
    print_report(app, &r);
done:
    if (st != KREIN_OK) status = cli_failure(app, st);
    krein_transform_report_clear(app->ctx, &r);
    krein_data_close(data);
    return status;
}
