/* from_file [DATA.csv] -- trains on a file, saves the model, loads it and predicts.
 *
 * Without an argument it first writes a synthetic file. What it leaves in the current directory:
 * from_file.csv (without an argument) and from_file.krein. */
#include <krein.h>
#include <stdio.h>

static void say(void *user, krein_log_level level, const char *text) {
    (void)user;
    if (level > KREIN_LOG_DEBUG) fprintf(stderr, "krein: %s\n", text);
}

static krein_status write_data(krein_ctx *ctx, const char *path) {
    krein_generate_options o;
    krein_generate_options_init(&o);
    o.n = 500;
    o.seed = 1;
    return krein_generate(ctx, "friedman", &o, path);
}

/* A fifth of the rows is kept out of training and evaluated afterwards. */
static krein_status train_and_save(krein_ctx *ctx, const char *path, const char *to) {
    krein_data *data = NULL;
    krein_model *model = NULL;
    krein_report report = KREIN_SIZED(krein_report);
    krein_train_options o;
    krein_train_options_init(&o);
    o.kernel = "gaussian"; /* no sigma: it is selected */
    o.holdout = 0.2;
    krein_status st = krein_data_open(ctx, path, NULL, &data);
    if (st == KREIN_OK) st = krein_train(ctx, data, &o, &report, &model);
    if (st == KREIN_OK) {
        printf("%lld rows, %s, %s, lambda = %g\n", (long long)report.n, report.kernel, report.map,
               report.lambda);
        if (report.task == KREIN_TASK_REGRESSION)
            printf("held-out rmse %.4f, r2 %.4f\n", report.test->rmse, report.test->r2);
        else
            printf("held-out accuracy %.4f\n", report.test->accuracy);
        krein_report_clear(ctx, &report);
        st = krein_model_save(ctx, model, to);
    }
    krein_model_destroy(model);
    krein_data_close(data);
    return st;
}

/* Called once a row, in order; the pointers live until the call returns. */
static krein_status show(void *user, const krein_prediction *p) {
    const krein_model *model = user;
    if (p->row >= 3) return KREIN_OK;
    if (p->label >= 0)
        printf("row %lld: class %s\n", (long long)p->row, krein_model_class(model, p->label));
    else if (p->values)
        printf("row %lld: %.4f\n", (long long)p->row, p->values[0]);
    else
        printf("row %lld: no prediction\n", (long long)p->row);
    return KREIN_OK;
}

static krein_status load_and_predict(krein_ctx *ctx, const char *from, const char *path) {
    krein_model *model = NULL;
    krein_data *data = NULL;
    krein_status st = krein_model_load(ctx, from, &model);
    if (st == KREIN_OK) st = krein_data_open(ctx, path, NULL, &data);
    if (st == KREIN_OK) st = krein_predict(ctx, model, data, show, model);
    krein_data_close(data);
    krein_model_destroy(model);
    return st;
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "from_file.csv";
    krein_ctx_options o;
    krein_ctx *ctx = NULL;
    krein_ctx_options_init(&o);
    o.log = say;
    krein_status st = krein_ctx_create(&o, &ctx);
    if (st == KREIN_OK && argc < 2) st = write_data(ctx, path);
    if (st == KREIN_OK) st = train_and_save(ctx, path, "from_file.krein");
    if (st == KREIN_OK) st = load_and_predict(ctx, "from_file.krein", path);
    if (st != KREIN_OK) fprintf(stderr, "%s: %s\n", krein_status_text(st), krein_message(ctx));
    krein_ctx_destroy(ctx);
    return st != KREIN_OK;
}
