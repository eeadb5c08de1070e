/* sm -- the spectral measure of a kernel matrix (li2017spectral; definitions 3.6 and 4.1 of li2020)
 *
 *     SM = (1/n) sum_i phi(l_i) <y, v_i>^2,   (l_i, v_i) eigenpairs of N = K / Tr K
 *
 * phi(l) = l^r:  SM = y'N^r y / n, a chain of products with a vector, no eigenvalues. With h:
 * phi(l) = l for l > h, else 0. Labels are balanced, +-n/(2 n+-), unless balanced=no. Several
 * classes: mean over one against the rest, or the ideal kernel's vectors. norm=sum is N = K / sum
 * K, as printed: it favours narrow kernels, the identity above all, and loses to leave-one-out on
 * all of 23 sets. The trace is the reading that gives the thesis's results
 * (docs/results/selection.md).
 *
 * norm=sum, r = 1: 1 - n SM = 1 - y'Ky / sum K is the normalised cut of y = +-1, and with y =
 * sqrt(n)/n+- and K in place of N it is the squared mean discrepancy of the classes. (The thesis
 * has other factors in 4.1.1 and 4.1.2.) Cost: 2 n^2 flops a product, ceil(r/2) of them. */
#include "select/coding.h"

#include <math.h>

enum { R, BALANCED, H, NORM, CLASSES };
enum { SUM = 0, TRACE = 1 };

extern const krein_criterion_class krein__criterion_sm;

static void needs(const krein_values *v, int64_t n, krein_needs *out) {
    (void)n;
    bool hinge = !isnan(v->number[H]);
    out->order = krein__max(out->order, hinge ? 1 : (int64_t)v->number[R]);
    out->spectrum = out->spectrum || hinge;
    out->trace = out->trace || v->number[NORM] == TRACE;
}

/* sum over l_j > h of l_j (y'u_j)^2 */
static double hinge(const krein_view *v, const krein_coding *c, double sum, double h) {
    const krein_spectrum *s = &v->spectrum;
    int64_t m = v->labels->m;
    double total = 0;
    for (int64_t q = 0; q < c->q; q++)
        for (int64_t j = 0; j < s->n && s->value[j] / sum > h; j++) {
            double dot = 0;
            for (int64_t i = 0; i < m; i++) dot += c->a[q * m + i] * s->part[j * m + i];
            total += s->value[j] / sum * dot * dot;
        }
    return c->ideal ? total : total / (double)c->q;
}

/* A sum that is rounding: of a linear kernel on centred columns, say. */
static bool vanishes(const krein_view *v, double sum) {
    int64_t m = v->labels->m;
    double scale = 0;
    for (int64_t i = 0; i < m; i++) scale += fabs(v->power[m * m + i * m + i]);
    return !(sum > 1e-8 * scale);
}

static krein_status score(const krein_view *v, const krein_values *values, const krein_trial *trial,
                          krein_score *out) {
    (void)trial;
    krein_status st = KREIN_OK;
    krein_coding c = {0};
    int64_t m = v->labels->m, r = (int64_t)values->number[R];
    bool trace = values->number[NORM] == TRACE;
    double sum = trace ? v->trace : v->power[m * m + m * m - 1], h = values->number[H], measure;
    if (!isnan(h)) TRY(krein__need_spectrum(v, "sm with h"));
    if (vanishes(v, sum))
        return krein__fail(v->ctx, KREIN_EDATA,
                           "sm divides by the %s of the kernel matrix, which is %.3g here: it is "
                           "for kernels of positive values; take kta or ckta",
                           trace ? "trace" : "sum", sum);
    TRY(krein__coding(v, values->number[BALANCED] != 0, values->number[CLASSES] != 0, &c));
    if (isnan(h))
        measure = krein__coding_power(v, &c, r) / pow(sum, (double)r);
    else
        measure = hinge(v, &c, sum, h);
    *out = krein__score_of(&krein__criterion_sm, measure / v->labels->weight);
done:
    krein__coding_end(v, &c);
    return st;
}

static const krein_option options[] = {
    {.name = "r",
     .type = KREIN_OPTION_INTEGER,
     .value = 3,
     .low = 1,
     .high = 16,
     .help = "the power of the eigenvalues"},
    {.name = "balanced",
     .type = KREIN_OPTION_YESNO,
     .value = 1,
     .help = "labels n/(2 n+) and -n/(2 n-) instead of 1 and -1"},
    {.name = "h",
     .value = NAN,
     .low = 0,
     .high = 1,
     .help = "instead of a power, leave out eigenvalues up to this (costs a decomposition)"},
    {.name = "norm",
     .type = KREIN_OPTION_WORD,
     .value = TRACE,
     .words = "sum|trace",
     .help = "N is the matrix over its trace, or over its sum"},
    KREIN_OPTION_CLASSES,
    {0}};

const krein_criterion_class krein__criterion_sm = {
    .cls = {"sm", "spectral measure of the labels", "li2017spectral", options,
            "y'N^r y / n with the kernel matrix divided by its trace, N = K / Tr K: how much of "
            "the labels lies along the large eigenvalues. For classes. A few products of the "
            "matrix with a vector a kernel: no decomposition, no folds. norm=sum, the definition "
            "as printed, favours narrow kernels (the identity has n^-r, as the ideal kernel does): "
            "docs/results/selection.md."},
    .tasks = KREIN_FOR_CLASSES,
    .larger = true,
    .needs = needs,
    .score = score};
