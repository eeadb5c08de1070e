/* cmd_gram.c -- krein gram: kernel values as .npy, and what is wrong with them. */
#include "cli/cli.h"

#include "base/base.h"

#include <math.h>
#include <string.h>

static json_t *spectrum_json(const krein_gram_spectrum *s) {
    if (!s) return json_null();
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "asymmetry", cli_json_number(s->asymmetry),
                     "eigenvalue_min", cli_json_number(s->low), "eigenvalue_max",
                     cli_json_number(s->high), "negative", cli_json_count(s->negative),
                     "negative_mass", cli_json_number(s->negative_mass));
}

static void print_spectrum(FILE *f, const krein_gram_spectrum *s) {
    char number[32];
    double rounding = 1e-14 * fmax(fabs(s->low), fabs(s->high));
    cli_line(f, "asymmetry", "%.3g%s", s->asymmetry,
             s->asymmetry == 0          ? " (symmetric)"
             : s->asymmetry <= rounding ? " (symmetric but for rounding)"
                                        : "");
    cli_line(f, "eigenvalues", "%.6g to %.6g", s->low, s->high);
    if (s->negative == 0)
        cli_line(f, "negative part", "none: positive semi-definite on these rows");
    else
        cli_line(f, "negative part", "%s eigenvalues, %.3g %% of the mass: indefinite",
                 cli_count_text(s->negative, number), 100 * s->negative_mass);
}

static void print_report(const cli_app *app, const krein_transform_report *r,
                         const krein_gram_spectrum *spectrum) {
    const char *output = app->args.output;
    char number[32], seconds[32];
    if (app->args.json) {
        cli_print_json(json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "command", "gram", "n",
                                 cli_json_count(r->n), "n2", cli_json_count(r->D), "d",
                                 cli_json_count(r->d), "kernel", cli_json_text(r->kernel), "check",
                                 spectrum_json(spectrum), "output", cli_json_text(output),
                                 "seconds", cli_json_number(r->seconds)));
        return;
    }
    /* stdout has the values where they go there */
    FILE *f = output && strcmp(output, "-") == 0 ? stderr : stdout;
    if (f == stderr && app->args.quiet) return;
    cli_line(f, "rows", "%s", cli_count_text(r->n, number));
    if (r->D >= 0) cli_line(f, "columns", "%s", cli_count_text(r->D, number));
    cli_line(f, "inputs", "%s", cli_count_text(r->d, number));
    if (r->kernel) cli_line(f, "kernel", "%s", r->kernel);
    if (spectrum) print_spectrum(f, spectrum);
    cli_line(f, "time", "%s", cli_seconds_text(r->seconds, seconds));
    if (output && f == stdout) cli_line(f, "output", "%s", output);
}

/* --check may go without -o; both want one DATA. */
static int check_call(const cli_app *app) {
    const cli_args *a = &app->args;
    bool examine = a->check || a->repair;
    if (examine && a->operands > 1)
        return cli_error(CLI_USAGE, "gram: --check and --repair take one DATA: the matrix of its "
                                    "rows with themselves");
    if (!a->output && examine && !a->repair) return CLI_OK;
    return cli_need_output(app);
}

int cli_cmd_gram(cli_app *app) {
    const cli_args *a = &app->args;
    krein_status st = KREIN_OK;
    krein_train_options options;
    krein_transform_report r = KREIN_SIZED(krein_transform_report);
    krein_gram_spectrum spectrum = KREIN_SIZED(krein_gram_spectrum);
    krein_data *data = NULL, *data2 = NULL;
    bool examine = a->check || a->repair;
    int status;
    if ((status = check_call(app)) != CLI_OK) return status;
    if (a->output && (status = cli_check_output(a, a->output)) != CLI_OK) return status;
    cli_train_options(a, &options);
    TRY(cli_open(app, a->operand[0], a->labels, &data));
    if (a->operands > 1) TRY(cli_open(app, a->operand[1], NULL, &data2));
    if (examine)
        TRY(krein_gram_check(app->ctx, data, &options, (krein_repair)a->repair, a->output,
                             &spectrum, &r));
    else
        TRY(krein_gram(app->ctx, data, data2, &options, a->output, &r));
    cli_progress_erase(app);
    print_report(app, &r, examine ? &spectrum : NULL);
done:
    if (st != KREIN_OK) status = cli_failure(app, st);
    krein_transform_report_clear(app->ctx, &r);
    krein_data_close(data2);
    krein_data_close(data);
    return status;
}
