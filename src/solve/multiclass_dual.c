/* multiclass_dual.c -- the constraints of machines of all classes at once. */
#include "solve/multiclass_dual.h"

#include "solve/circulation.h"

#include <math.h>
#include <string.h>

void krein__multiclass_restore(int64_t n, int64_t classes, const int32_t *class, const double *cap,
                               double *all) {
    for (int64_t i = 0; i < n; i++) {
        double *alpha = all + i * classes, sum = 0;
        for (int64_t c = 0; c < classes; c++) {
            if (c == class[i]) continue;
            alpha[c] = fmin(alpha[c], 0);
            sum -= alpha[c];
        }
        double keep = sum > cap[i] ? cap[i] / sum : 1;
        for (int64_t c = 0; c < classes && keep < 1; c++) alpha[c] *= keep;
        bool full = sum >= cap[i] * (1 - 1e-12); /* not short of its bound by rounding */
        alpha[class[i]] = full ? cap[i] : sum;
    }
}

static void sum_flows(int64_t n, int64_t k, const int32_t *class, const double *alpha,
                      double *flow) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < k; c++)
            if (c != class[i]) flow[class[i] * k + c] -= alpha[i * k + c];
}

krein_status krein__multiclass_balance(krein_ctx *ctx, int64_t n, int64_t k, const int32_t *class,
                                       const double *cap, double *alpha, double *taken) {
    krein_status st = KREIN_OK;
    double *flow = NULL, *balanced = NULL;
    *taken = 0;
    ZNEW(flow, k * k);
    NEW(balanced, k * k);
    sum_flows(n, k, class, alpha, flow);
    memcpy(balanced, flow, (size_t)(k * k) * sizeof *balanced);
    TRY(krein__circulation(ctx, k, balanced));
    for (int64_t e = 0; e < k * k; e++) {
        *taken += flow[e] - balanced[e];
        flow[e] = flow[e] > 0 ? balanced[e] / flow[e] : 1; /* what is kept */
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < k; c++)
            if (c != class[i]) alpha[i * k + c] *= flow[class[i] * k + c];
    krein__multiclass_restore(n, k, class, cap, alpha);
done:
    krein__free(ctx, flow);
    krein__free(ctx, balanced);
    return st;
}

double krein__water_level(int64_t n, const double *V, double mass, double slope) {
    double level = -INFINITY;
    for (int64_t above = n + 1;;) {
        double sum = 0;
        int64_t count = 0;
        for (int64_t a = 0; a < n; a++)
            if (V[a] > level) {
                sum += V[a];
                count++;
            }
        if (count >= above || count == 0) return level;
        above = count;
        level = (sum - mass) / ((double)count + slope);
    }
}
