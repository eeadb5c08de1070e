/* ckta -- centred kernel target alignment (cortes2012)
 *     CKTA = <HKH, yc yc'>_F / (|HKH|_F |yc yc'|_F),   H = I - 11'/n,   yc = Hy
 * Several classes: mean over one against the rest, or the ideal kernel. Cost: 4 n^2 flops. */
#include "select/coding.h"

#include <math.h>

static void needs(const krein_values *v, int64_t n, krein_needs *out) {
    (void)v, (void)n;
    out->order = krein__max(out->order, 1);
    out->centred_square = true;
}

extern const krein_criterion_class krein__criterion_ckta;

static krein_status score(const krein_view *v, const krein_values *values, const krein_trial *trial,
                          krein_score *out) {
    (void)trial;
    krein_status st = KREIN_OK;
    krein_coding c = {0};
    int64_t m = v->labels->m;
    double value;
    TRY(krein__coding(v, false, values->number[0] != 0, &c));
    for (int64_t q = 0; q < c.q; q++) c.a[q * m + m - 1] = 0; /* the part along the ones */
    TRY(krein__coding_alignment(v, &c, v->centred_square, &value));
    *out = krein__score_of(&krein__criterion_ckta, value);
done:
    krein__coding_end(v, &c);
    return st;
}

static const krein_option options[] = {KREIN_OPTION_CLASSES, {0}};

const krein_criterion_class krein__criterion_ckta = {
    .cls = {"ckta", "centred kernel target alignment", "cortes2012", options,
            "Alignment of the kernel matrix and the labels, both less their means."},
    .tasks = KREIN_FOR_CLASSES | KREIN_FOR_NUMBERS,
    .larger = true,
    .needs = needs,
    .score = score};
