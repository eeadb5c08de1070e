/* transformer -- a fitted map as a plain feature transformer, without a learner.
 *
 * It is fitted to some rows, written to memory as it would be to a file, and read again, by another
 * program perhaps; then it makes features of other rows. Their inner products (with signs, where
 * the kernel has negative ones) are the kernel's values, which any linear method can use. */
#include <krein.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { FITTED = 500, NEW = 4, COLUMNS = 3 };

/* The kernel of the encoded rows, as the program chose to scale them. */
static double kernel(const float *x, const float *y, const float *factor) {
    double square = 0;
    for (int j = 0; j < COLUMNS; j++) square += pow((double)(x[j] - y[j]) * (double)factor[j], 2);
    return exp(-square / 8); /* sigma = 2 */
}

static void show(const krein_model *model, const float *x, const float *z, int64_t D) {
    krein_array factor;
    if (!krein_model_array(model, "encoding.factor", &factor)) return;
    for (int i = 1; i < NEW; i++) {
        double product = 0;
        for (int64_t f = 0; f < D; f++) product += (double)z[f] * (double)z[i * D + f];
        printf("z(x1)'z(x%d) = %.4f, k(x1, x%d) = %.4f\n", i + 1, product, i + 1,
               kernel(x, x + i * COLUMNS, factor.at));
    }
    for (int64_t i = 0; krein_model_array_name(model, i); i++) {
        const char *name = krein_model_array_name(model, i);
        if (krein_model_array(model, name, &factor))
            printf("%-16s %lld x %lld\n", name, (long long)factor.rows, (long long)factor.columns);
    }
}

/* Fits, and gives the bytes of the transformer, for free(). */
static krein_status fit(krein_ctx *ctx, const float *x, void **bytes, int64_t *size) {
    krein_data *data = NULL;
    krein_model *model = NULL;
    krein_train_options o;
    krein_train_options_init(&o);
    o.kernel = "gaussian(sigma=2)";
    o.map = "nystrom(D=100)";
    krein_status st =
        krein_data_from_dense(ctx, FITTED, COLUMNS, x, COLUMNS, NULL, NULL, NULL, &data);
    if (st == KREIN_OK) st = krein_fit(ctx, data, &o, NULL, &model);
    if (st == KREIN_OK) st = krein_model_save_memory(ctx, model, NULL, 0, size);
    if (st == KREIN_OK && !(*bytes = malloc((size_t)*size))) st = KREIN_EMEMORY;
    if (st == KREIN_OK) st = krein_model_save_memory(ctx, model, *bytes, *size, size);
    krein_model_destroy(model);
    krein_data_close(data);
    return st;
}

static krein_status transform(krein_ctx *ctx, const float *x, const void *bytes, int64_t size) {
    krein_data *data = NULL;
    krein_model *model = NULL;
    krein_model_info info = KREIN_SIZED(krein_model_info);
    float *z = NULL;
    int64_t n = 0;
    krein_status st = krein_model_load_memory(ctx, bytes, size, &model);
    if (st == KREIN_OK)
        st = krein_data_from_dense(ctx, NEW, COLUMNS, x, COLUMNS, NULL, NULL, NULL, &data);
    if (st == KREIN_OK) {
        krein_model_describe(model, &info);
        z = malloc((size_t)(NEW * info.D) * sizeof *z);
        st = z ? krein_model_features(ctx, model, data, z, NEW, &n) : KREIN_EMEMORY;
    }
    if (st == KREIN_OK) {
        printf("%lld bytes: %s, %lld features\n", (long long)size, info.map, (long long)info.D);
        show(model, x, z, info.D);
    }
    free(z);
    krein_data_close(data);
    krein_model_destroy(model);
    return st;
}

int main(void) {
    static float x[FITTED + NEW][COLUMNS];
    krein_ctx *ctx = NULL;
    void *bytes = NULL;
    int64_t size = 0;
    for (int i = 0; i < FITTED + NEW; i++)
        for (int j = 0; j < COLUMNS; j++) x[i][j] = (float)sin(1.7 * i + 0.9 * j + 0.3 * i * j);
    krein_status st = krein_ctx_create(NULL, &ctx);
    if (st == KREIN_OK) st = fit(ctx, x[0], &bytes, &size);
    if (st == KREIN_OK) st = transform(ctx, x[FITTED], bytes, size);
    if (st != KREIN_OK) fprintf(stderr, "%s: %s\n", krein_status_text(st), krein_message(ctx));
    free(bytes);
    krein_ctx_destroy(ctx);
    return st != KREIN_OK;
}
