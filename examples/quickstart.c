/* Fits y = sin(x1) + x2^2 on 500 rows in memory and predicts one new row. */
#include <krein.h>
#include <math.h>
#include <stdio.h>

int main(void) {
    static float x[500][2];
    static double y[500];
    for (int i = 0; i < 500; i++) {
        x[i][0] = (float)(0.013 * i - 3);
        x[i][1] = (float)sin(7.0 * i);
        y[i] = sin((double)x[i][0]) + (double)x[i][1] * (double)x[i][1];
    }
    krein_ctx *ctx = NULL;
    krein_data *data = NULL;
    krein_model *model = NULL;
    const float row[2] = {1.0f, 0.5f};
    double value;
    if (krein_ctx_create(NULL, &ctx) == KREIN_OK &&
        krein_data_from_dense(ctx, 500, 2, x[0], 2, y, NULL, NULL, &data) == KREIN_OK &&
        krein_train(ctx, data, NULL, NULL, &model) == KREIN_OK &&
        krein_predict_dense(ctx, model, 1, 2, row, 2, &value) == KREIN_OK)
        printf("predicted %.3f, true %.3f\n", value, sin(1.0) + 0.25);
    else
        fprintf(stderr, "%s\n", krein_message(ctx));
    int failed = model == NULL;
    krein_model_destroy(model);
    krein_data_close(data);
    krein_ctx_destroy(ctx);
    return failed;
}
