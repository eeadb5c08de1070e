/* run.c -- one training of a comparison. */
#include "compare/compare.h"

static double value_of(const krein_metrics *m, krein_measure measure) {
    switch (measure) {
    case KREIN_MEASURE_RMSE:
        return m->rmse;
    case KREIN_MEASURE_LOGLOSS:
        return m->log_loss;
    case KREIN_MEASURE_AUC:
        return m->auc;
    case KREIN_MEASURE_AUTO:
    case KREIN_MEASURE_ERROR:
        break;
    }
    return m->error;
}

krein_status krein__run_training(const krein_comparison *c, krein_ctx *ctx, int64_t set,
                                 int64_t split, const krein_method *m, krein_run *out) {
    krein_status st = KREIN_OK;
    krein_data *data = NULL;
    krein_model *model = NULL;
    krein_report report = KREIN_SIZED(krein_report);
    const krein_train_options o = krein__method_options(c, m, split);
    const double start = krein__clock();
    const uint64_t before = atomic_load(&ctx->held);
    if (m->refused) return krein__fail(ctx, KREIN_EARG, "%s", m->refused);
    TRY(c->o.open(c->o.user, ctx, set, &data));
    TRY(krein_train(ctx, data, &o, &report, &model));
    out->value = value_of(report.test, c->measure);
    out->seconds = krein__clock() - start;
    out->bytes = (double)(atomic_load(&ctx->peak) - before);
done:
    krein_report_clear(ctx, &report);
    krein_model_destroy(model);
    krein_data_close(data);
    return st;
}
