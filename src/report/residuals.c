/* residuals.c -- errors of a regression over the kept rows: density of predictions and truths,
 * histogram of the residuals y - f, error by decile of the prediction. */
#include "report/report.h"

#include "num/order.h"

#include <math.h>
#include <stdlib.h>

/* Number of the bin of x among n equal ones from low to high. */
static int64_t bin_of(double x, double low, double high, int64_t n) {
    double at = (x - low) / (high - low) * (double)n;
    return krein__max(0, krein__min(n - 1, (int64_t)floor(at)));
}

typedef struct pair {
    double y, f, w;
} pair;

static int by_prediction(const void *a, const void *b) {
    const pair *x = a, *y = b;
    if (x->f != y->f) return x->f < y->f ? -1 : 1;
    return x->y < y->y ? -1 : x->y > y->y;
}

static void totals(int64_t n, const pair *p, krein_output_numbers *o) {
    double all = 0, mean = 0, square = 0, size = 0, spread = 0, bias = 0;
    o->low = INFINITY;
    o->high = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        double e = p[i].y - p[i].f;
        all += p[i].w;
        mean += p[i].w * p[i].y;
        bias += p[i].w * e;
        square += p[i].w * e * e;
        size += p[i].w * fabs(e);
        o->low = fmin(o->low, fmin(p[i].y, p[i].f));
        o->high = fmax(o->high, fmax(p[i].y, p[i].f));
    }
    mean /= all;
    for (int64_t i = 0; i < n; i++) spread += p[i].w * (p[i].y - mean) * (p[i].y - mean);
    o->rmse = sqrt(square / all);
    o->mae = size / all;
    o->r2 = spread > 0 ? 1 - square / spread : NAN;
    o->residual_mean = bias / all;
    o->residual_sd = sqrt(fmax(0, square / all - o->residual_mean * o->residual_mean));
    if (!(o->high > o->low)) o->low -= 0.5, o->high += 0.5;
}

/* From the 0.5 % to the 99.5 % quantile, and zero in the middle of a bin's edge or not: equal bins.
 */
static void histogram(int64_t n, const pair *p, double *e, krein_output_numbers *o) {
    krein_histogram *h = &o->residuals;
    for (int64_t i = 0; i < n; i++) e[i] = p[i].y - p[i].f;
    qsort(e, (size_t)n, sizeof *e, krein__ascending);
    h->low = e[(int64_t)(0.005 * (double)(n - 1))];
    h->high = e[(int64_t)ceil(0.995 * (double)(n - 1))];
    h->bins = KREIN_REPORT_BINS;
    if (!(h->high > h->low)) h->low -= 0.5, h->high += 0.5;
    for (int64_t i = 0; i < n; i++) {
        if (e[i] < h->low || e[i] > h->high)
            o->beyond++;
        else
            h->count[bin_of(e[i], h->low, h->high, h->bins)]++;
    }
}

static void deciles(int64_t n, const pair *p, krein_output_numbers *o) {
    for (int64_t t = 0; t < 10; t++) {
        int64_t from = n * t / 10, to = n * (t + 1) / 10;
        double all = 0, square = 0, sum = 0;
        for (int64_t i = from; i < to; i++) {
            double e = p[i].y - p[i].f;
            all += p[i].w;
            square += p[i].w * e * e;
            sum += p[i].w * e;
        }
        o->decile_n[t] = to - from;
        o->decile_low[t] = to > from ? p[from].f : NAN;
        o->decile_high[t] = to > from ? p[to - 1].f : NAN;
        o->decile_rmse[t] = all > 0 ? sqrt(square / all) : NAN;
        o->decile_bias[t] = all > 0 ? sum / all : NAN;
    }
}

krein_status krein__report_residuals(krein_reporting *r) {
    krein_ctx *ctx = r->ctx;
    krein_status st = KREIN_OK;
    const krein_kept *k = &r->kept;
    krein_report_numbers *out = r->out;
    pair *p = NULL;
    double *e = NULL;
    if (r->model->encoding.task != KREIN_TASK_REGRESSION) return st;
    NEW(p, k->n);
    NEW(e, k->n);
    ZNEW(out->output, k->outputs);
    out->noutputs = k->outputs;
    for (int64_t c = 0; c < k->outputs; c++) {
        krein_output_numbers *o = &out->output[c];
        for (int64_t i = 0; i < k->n; i++)
            p[i] =
                (pair){k->y[i * k->outputs + c], k->f[i * k->k + c], k->weight ? k->weight[i] : 1};
        qsort(p, (size_t)k->n, sizeof *p, by_prediction);
        totals(k->n, p, o);
        histogram(k->n, p, e, o);
        deciles(k->n, p, o);
        for (int64_t i = 0; i < k->n; i++)
            o->grid[bin_of(p[i].y, o->low, o->high, KREIN_REPORT_GRID) * KREIN_REPORT_GRID +
                    bin_of(p[i].f, o->low, o->high, KREIN_REPORT_GRID)]++;
    }
done:
    krein__free(ctx, p);
    krein__free(ctx, e);
    return st;
}
