/* cmd_generate.c -- krein generate: synthetic data. */
#include "cli/cli.h"

#include "base/base.h"

#include <string.h>

int cli_cmd_generate(cli_app *app) {
    const cli_args *a = &app->args;
    krein_generate_options options;
    char number[32], bytes[32];
    int status;
    if ((status = cli_need_output(app)) != CLI_OK) return status;
    if (!a->rows) return cli_error(CLI_USAGE, "generate: -n N, the number of rows, is required");
    if ((status = cli_check_place(a->output)) != CLI_OK) return status;
    krein_generate_options_init(&options);
    options.n = a->rows;
    options.d = a->inputs;
    if (a->noise >= 0) options.noise = a->noise;
    options.seed = a->seed;
    const krein_status st = krein_generate(app->ctx, a->operand[0], &options, a->output);
    cli_progress_erase(app);
    if (st != KREIN_OK) return cli_failure(app, st);
    const int64_t size = cli_file_size(a->output);
    if (a->json) {
        cli_print_json(json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "command", "generate", "name",
                                 cli_json_text(a->operand[0]), "n", cli_json_count(a->rows),
                                 "output", cli_json_text(a->output), "bytes", cli_json_count(size),
                                 "seconds", cli_json_number(cli_seconds(app))));
    } else if (strcmp(a->output, "-") != 0) {
        cli_line(stdout, "rows", "%s", cli_count_text(a->rows, number));
        cli_line(stdout, "output", "%s (%s)", a->output, krein__bytes_text((double)size, bytes));
    }
    return CLI_OK;
}
