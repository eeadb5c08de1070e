/* cmd_quantize.c -- krein quantize: a model in a few bits, and what that costs in accuracy. */
#include "cli/cli.h"

#include "base/base.h"

#include <math.h>

/* Metrics on the data, where they have labels; size 0 is left where they have none. */
static krein_status measure(cli_app *app, const krein_model *model, bool *there,
                            krein_metrics *out) {
    krein_data *data = NULL;
    krein_status st = cli_open(app, app->args.data, app->args.labels, &data);
    if (st == KREIN_OK) st = krein_evaluate(app->ctx, model, data, out);
    *there = st == KREIN_OK;
    krein_data_close(data);
    return st == KREIN_EDATA ? KREIN_OK : st; /* rows without labels are rows to round for */
}

static double error_of(const krein_metrics *m) {
    if (m->task == KREIN_TASK_MULTILABEL) return m->hamming_loss;
    return m->task == KREIN_TASK_CLASSIFICATION ? m->error : m->rmse;
}

static void print_report(const cli_app *app, const krein_model *small, int64_t before,
                         int64_t after, bool measured, const krein_metrics *was,
                         const krein_metrics *is) {
    const cli_args *a = &app->args;
    krein_model_info info = KREIN_SIZED(krein_model_info);
    char first[32], second[32];
    bool labels = measured && was->task == KREIN_TASK_MULTILABEL;
    bool classes = measured && was->task != KREIN_TASK_REGRESSION;
    krein_model_describe(small, &info);
    if (a->json) {
        cli_print_json(json_pack(
            "{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "command", "quantize", "output",
            cli_json_text(a->output), "bits", cli_json_count(a->bits ? a->bits : 8), "map",
            cli_json_text(info.map), "bytes", cli_json_count(after), "bytes_before",
            cli_json_count(before), "before", measured ? cli_json_metrics(was) : json_null(),
            "after", measured ? cli_json_metrics(is) : json_null()));
        return;
    }
    cli_line(stdout, "model", "%s (%s, before %s)", a->output,
             krein__bytes_text((double)after, first), krein__bytes_text((double)before, second));
    cli_line(stdout, "map", "%s", info.map);
    if (measured)
        cli_line(stdout,
                 labels    ? "Hamming loss"
                 : classes ? "error"
                           : "rmse",
                 classes ? "%.3f %%, before %.3f %%" : "%.6g, before %.6g",
                 error_of(is) * (classes ? 100 : 1), error_of(was) * (classes ? 100 : 1));
}

int cli_cmd_quantize(cli_app *app) {
    const cli_args *a = &app->args;
    krein_status st = KREIN_OK;
    krein_model *model = NULL, *small = NULL;
    krein_data *data = NULL;
    krein_metrics was = KREIN_SIZED(krein_metrics), is = KREIN_SIZED(krein_metrics);
    bool measured = false;
    int64_t before = 0, after = 0;
    int status;
    if ((status = cli_need_output(app)) != CLI_OK) return status;
    if ((status = cli_check_output(a, a->output)) != CLI_OK) return status;
    TRY(krein_model_load(app->ctx, a->operand[0], &model));
    if (a->data) TRY(cli_open(app, a->data, a->labels, &data));
    TRY(krein_model_quantize(app->ctx, model, a->bits ? (int)a->bits : 8, data, &small));
    TRY(krein_model_save(app->ctx, small, a->output));
    TRY(krein_model_save_memory(app->ctx, model, NULL, 0, &before));
    TRY(krein_model_save_memory(app->ctx, small, NULL, 0, &after));
    if (a->data) TRY(measure(app, model, &measured, &was));
    if (measured) TRY(measure(app, small, &measured, &is));
    cli_progress_erase(app);
    print_report(app, small, before, after, measured, &was, &is);
done:
    if (st != KREIN_OK) status = cli_failure(app, st);
    krein_metrics_clear(app->ctx, &was);
    krein_metrics_clear(app->ctx, &is);
    krein_data_close(data);
    krein_model_destroy(small);
    krein_model_destroy(model);
    return status;
}
