/* near_recall.c -- how many of the nearest rows were found: of ROWS rows drawn at random, whose
 * nearest are found by brute force. A row that is as near as the k-th counts. */
#include "graph/near.h"

#include "base/rng.h"

enum { ROWS = 100 };

krein_status krein__near_recall(krein_ctx *ctx, const krein_rows *x, const double *weight,
                                uint64_t seed, const krein_nearest *nn, double *out) {
    krein_status st = KREIN_OK;
    int64_t m = krein__min(ROWS, x->n), hits = 0, *row = NULL;
    krein_nearest truth = {0};
    NEW(row, m);
    TRY(krein__nearest_begin(ctx, m, nn->k, &truth));
    krein__rng_choose((krein_rng){seed, KREIN_STREAM_RECALL}, x->n, m, row);
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
    for (int64_t q = 0; q < m; q++)
        for (int64_t j = 0; j < x->n; j++)
            if (j != row[q] && (!weight || weight[j] > 0))
                krein__near_offer(&truth, q, j, krein__near_distance(x, row[q], j));
    for (int64_t q = 0; q < m; q++) {
        double far = truth.square[q * nn->k + nn->k - 1];
        for (int64_t t = 0; t < nn->k; t++) hits += nn->square[row[q] * nn->k + t] <= far;
    }
    *out = (double)hits / (double)(m * nn->k);
done:
    krein__nearest_end(ctx, &truth);
    krein__free(ctx, row);
    return st;
}
