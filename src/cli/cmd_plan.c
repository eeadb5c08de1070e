/* cmd_plan.c -- krein plan: what train would need, before it is needed. */
#include "cli/cli.h"

#include "base/base.h"

#include <math.h>
#include <string.h>

static void print_text(const krein_report *r) {
    char number[32];
    cli_line(stdout, "rows", "%s", cli_count_text(r->n, number));
    cli_line(stdout, "inputs", "%s", cli_count_text(r->d, number));
    if (strchr(r->kernel, ';')) /* a list */
        cli_line(stdout, "kernel", "chosen among %s", r->kernel);
    else
        cli_print_kernel(stdout, r->kernel, r->kernels, r->weights);
    if (r->metric) cli_line(stdout, "metric", "at most %s", cli_metric_name(r->metric));
    if (r->map) cli_line(stdout, "map", "%s", r->map);
    if (r->D >= 0) cli_line(stdout, "features", "%s", cli_count_text(r->D, number));
    cli_line(stdout, "memory", "%s", krein__bytes_text((double)r->bytes_peak, number));
    if (isfinite(r->flops)) cli_line(stdout, "operations", "%.2g", r->flops);
    if (r->passes >= 0) cli_line(stdout, "passes", "%s", cli_count_text(r->passes, number));
    cli_line(stdout, "fits", "%s", r->fits ? "yes" : "no");
}

int cli_cmd_plan(cli_app *app) {
    const cli_args *a = &app->args;
    krein_status st = KREIN_OK;
    krein_report r = KREIN_SIZED(krein_report);
    cli_training t = {0};
    int status = CLI_OK;
    if (a->test && a->holdout > 0)
        return cli_error(CLI_USAGE, "plan: --test and --holdout exclude each other");
    TRY(cli_training_open(app, &t));
    TRY(krein_plan(app->ctx, t.data, &t.options, &r));
    cli_progress_erase(app);
    if (a->json)
        cli_print_json(json_pack(
            "{s:s, s:o, s:o, s:o, s:I, s:o, s:o, s:b, s:o, s:s, s:o, s:o}", "command", "plan", "n",
            cli_json_count(r.n), "d", cli_json_count(r.d), "D", cli_json_count(r.D), "bytes_peak",
            (json_int_t)r.bytes_peak, "flops", cli_json_number(r.flops), "passes",
            cli_json_count(r.passes), "fits", r.fits, "kernel", cli_json_text(r.kernel), "metric",
            cli_metric_name(r.metric), "map", cli_json_text(r.map), "advice",
            r.advice && *r.advice ? cli_json_text(cli_flags(r.advice)) : json_null()));
    else
        print_text(&r);
    if (!r.fits) {
        char bytes[32];
        fflush(stdout);
        status = cli_error(CLI_FAILED, "training needs %s, which does not fit%s%s",
                           krein__bytes_text((double)r.bytes_peak, bytes),
                           r.advice && *r.advice ? "; " : "", r.advice ? cli_flags(r.advice) : "");
    } else if (r.advice && *r.advice && !a->json) {
        cli_line(stdout, "advice", "%s", cli_flags(r.advice));
    }
done:
    if (st != KREIN_OK) status = cli_failure(app, st);
    krein_report_clear(app->ctx, &r);
    cli_training_close(&t);
    return status;
}
