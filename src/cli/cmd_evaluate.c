/* cmd_evaluate.c -- krein evaluate: metrics of a model on labelled data. */
#include "cli/cli.h"

#include "base/base.h"

int cli_cmd_evaluate(cli_app *app) {
    const cli_args *a = &app->args;
    krein_status st = KREIN_OK;
    krein_model *model = NULL;
    krein_data *data = NULL;
    krein_metrics metrics = KREIN_SIZED(krein_metrics);
    char seconds[32];
    cli_warn_ignored(app);
    TRY(krein_model_load(app->ctx, a->operand[0], &model));
    TRY(cli_open(app, a->operand[1], a->labels, &data));
    TRY(a->interval > 0 ? krein_evaluate_interval(app->ctx, model, data, a->interval, &metrics)
                        : krein_evaluate(app->ctx, model, data, &metrics));
    cli_progress_erase(app);
    if (a->json) {
        cli_print_json(json_pack(
            "{s:s, s:o, s:o, s:o}", "command", "evaluate", "model", cli_json_text(a->operand[0]),
            "metrics", cli_json_metrics(&metrics), "seconds", cli_json_number(cli_seconds(app))));
    } else {
        cli_print_metrics(stdout, &metrics, true);
        if (a->verbose) fprintf(stderr, "krein: %s\n", cli_seconds_text(cli_seconds(app), seconds));
    }
done:;
    const int status = st == KREIN_OK ? CLI_OK : cli_failure(app, st);
    krein_metrics_clear(app->ctx, &metrics);
    krein_data_close(data);
    krein_model_destroy(model);
    return status;
}
