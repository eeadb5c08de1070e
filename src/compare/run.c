/* run.c -- one training of a comparison. */
#include "compare/compare.h"

#include <time.h>

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

/* CPU seconds so far: of the process, reading ahead included, or beside other trainings of the
 * thread. */
static double cpu_clock(const krein_comparison *c) {
    struct timespec t = {0};
    clock_gettime(c->workers == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

krein_status krein__run_training(const krein_comparison *c, krein_ctx *ctx, int64_t set,
                                 int64_t split, const krein_method *m, krein_run *out) {
    krein_status st = KREIN_OK;
    krein_data *data = NULL;
    krein_model *model = NULL;
    krein_report report = KREIN_SIZED(krein_report);
    const krein_train_options o = krein__method_options(c, m, split);
    const double start = krein__clock(), cpu = cpu_clock(c);
    const uint64_t before = atomic_load(&ctx->held);
    if (m->refused) return krein__fail(ctx, KREIN_EARG, "%s", m->refused);
    TRY(c->o.open(c->o.user, ctx, set, &data));
    TRY(krein_train(ctx, data, &o, &report, &model));
    out->value = value_of(report.test, c->measure);
    out->seconds = krein__clock() - start;
    out->cpu = cpu_clock(c) - cpu;
    out->bytes = (double)(atomic_load(&ctx->peak) - before);
done:
    krein_report_clear(ctx, &report);
    krein_model_destroy(model);
    krein_data_close(data);
    return st;
}
