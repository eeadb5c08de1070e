/* nearest -- the class of the nearest support row: by pixels (scaled as for the network), and by
 * features of a network trained on the training classes, rows of length one. */
#include "fewshot/fewshot.h"

enum { PIXELS, FEATURES, VARIANTS };

static krein_status learn(krein_fewshot_run *f, int64_t variant, krein_learned *out) {
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    if (variant == FEATURES) TRY(krein__features_learn(f));
    out->points = 1;
    out->own = variant == FEATURES ? f : NULL;
    DUP(out->detail, variant == FEATURES ? "features" : "pixels");
done:
    return st;
}

static krein_status solve(krein_ctx *ctx, const krein_learned *l, krein_bench *b,
                          double *accuracy) {
    krein_status st = KREIN_OK;
    const krein_episode *e = &b->e;
    krein_rows x = krein__task_space(b->f, e->images, l->own != NULL);
    int64_t n = e->size.ways * e->size.shots, queries = e->size.ways * e->size.queries, right = 0;
    float *support = NULL, *query = NULL;
    NEW(support, n * x.d);
    NEW(query, x.d);
    for (int64_t i = 0; i < n; i++) krein__row_copy(&x, e->support[i], support + i * x.d);
    for (int64_t q = 0; q < queries; q++) {
        int64_t best = 0;
        double least = 0;
        krein__row_copy(&x, e->query[q], query);
        for (int64_t i = 0; i < n; i++) {
            double far = 0;
            for (int64_t j = 0; j < x.d; j++) {
                double off = (double)query[j] - (double)support[i * x.d + j];
                far += off * off;
            }
            if (i > 0 && !(far < least)) continue;
            least = far;
            best = i;
        }
        right += e->support_label[best] == e->query_label[q];
    }
    *accuracy = (double)right / (double)queries;
done:
    krein__free(ctx, support);
    krein__free(ctx, query);
    return st;
}

const krein_fewshot_method krein__fewshot_nearest = {
    .cls = {"nearest", "the nearest support row, by pixels and by features", "", NULL, NULL},
    .variants = VARIANTS,
    .learns = true,
    .learn = learn,
    .solve = solve};
