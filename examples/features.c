/* features -- writes random features of a kernel as an .npy file for other programs.
 *
 * The kernel is a difference of two Gaussians, which is not positive definite: half of its
 * features count negatively, k(x, y) ~= sum_i s_i z_i(x) z_i(y). What it leaves in the current
 * directory: features.csv, features.npy (float32, rows x D) and features.sign.npy (D signs). */
#include <krein.h>
#include <stdio.h>

int main(void) {
    krein_ctx *ctx = NULL;
    krein_data *data = NULL;
    krein_generate_options rows;
    krein_train_options options;
    krein_transform_report report = KREIN_SIZED(krein_transform_report);
    krein_generate_options_init(&rows);
    krein_train_options_init(&options);
    rows.n = 3000;
    rows.seed = 1;
    options.kernel = "gaussian(sigma=2) - gaussian(sigma=5)";
    options.map = "orf(D=256)";

    krein_status st = krein_ctx_create(NULL, &ctx);
    if (st == KREIN_OK) st = krein_generate(ctx, "arm", &rows, "features.csv");
    if (st == KREIN_OK) st = krein_data_open(ctx, "features.csv", NULL, &data);
    if (st == KREIN_OK) st = krein_transform(ctx, data, &options, "features.npy", &report);
    if (st == KREIN_OK) {
        printf("%s\n%s\n", report.kernel, report.map);
        printf("%lld rows of %lld inputs, %lld features, %lld of them negative\n",
               (long long)report.n, (long long)report.d, (long long)report.D,
               (long long)report.negative);
        krein_transform_report_clear(ctx, &report);
    } else {
        fprintf(stderr, "%s: %s\n", krein_status_text(st), krein_message(ctx));
    }
    krein_data_close(data);
    krein_ctx_destroy(ctx);
    return st != KREIN_OK;
}
