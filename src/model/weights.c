/* weights.c -- the kernels of a combination and their weights: shown with a model that was trained
 * on several kernels. Prediction goes by the map and does not look at them. */
#include "model/weights.h"

#include <math.h>

void krein__weights_free(krein_ctx *ctx, int64_t n, krein_kernel_weight *w) {
    for (int64_t m = 0; w && m < n; m++) krein__free(ctx, w[m].kernel);
    krein__free(ctx, w);
}

krein_status krein__weights_copy(krein_ctx *ctx, int64_t n, const krein_kernel_weight *from,
                                 krein_kernel_weight **out) {
    krein_status st = KREIN_OK;
    krein_kernel_weight *w = NULL;
    *out = NULL;
    if (n == 0) return KREIN_OK;
    ZNEW(w, n);
    for (int64_t m = 0; m < n; m++) {
        DUP(w[m].kernel, from[m].kernel);
        w[m].weight = from[m].weight;
    }
    *out = w;
    w = NULL;
done:
    krein__weights_free(ctx, n, w);
    return st;
}

static krein_status put(krein_archive *a, krein_ctx *ctx, int64_t n, const krein_kernel_weight *w) {
    krein_status st = KREIN_OK;
    char **text = NULL;
    double *weight = NULL;
    NEW(text, n);
    NEW(weight, n);
    for (int64_t m = 0; m < n; m++) {
        text[m] = w[m].kernel;
        weight[m] = w[m].weight;
    }
    TRY(krein__archive_texts(a, "combination.kernels", &text, n));
    TRY(krein__archive_array(a, "combination.weights", KREIN_TYPE_F64, &weight, n));
    st = krein__archive_own(a, weight); /* frees it where it fails */
    weight = NULL;
done:
    krein__free(ctx, weight);
    krein__free(ctx, text);
    return st;
}

static krein_status get(krein_archive *a, krein_ctx *ctx, int64_t n, krein_kernel_weight *w) {
    krein_status st = KREIN_OK;
    char **text = NULL;
    double *weight = NULL;
    TRY(krein__archive_texts(a, "combination.kernels", &text, n));
    for (int64_t m = 0; m < n; m++) w[m].kernel = text[m];
    TRY(krein__archive_array(a, "combination.weights", KREIN_TYPE_F64, &weight, n));
    for (int64_t m = 0; m < n; m++) {
        w[m].weight = weight[m];
        if (!(weight[m] >= 0 && isfinite(weight[m])) || !*text[m]) {
            st = krein__fail(ctx, KREIN_EMODEL, "the model is damaged (its kernels' weights)");
            goto done;
        }
    }
done:
    krein__free(ctx, weight);
    krein__free(ctx, text);
    return st;
}

krein_status krein__weights_io(krein_archive *a, krein_ctx *ctx, int64_t *n,
                               krein_kernel_weight **w) {
    krein_status st = KREIN_OK;
    bool reading = krein__archive_reading(a);
    if (reading ? !krein__archive_has(a, "combination") : *n == 0) return KREIN_OK;
    TRY(krein__archive_int(a, "combination", n, 0, KREIN_WEIGHTS_MAX));
    if (*n == 0) goto done;
    if (!reading) return put(a, ctx, *n, *w);
    ZNEW(*w, *n);
    TRY(get(a, ctx, *n, *w));
done:
    return st;
}
