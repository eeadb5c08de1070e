/* kta -- kernel target alignment (cristianini2001)
 *     KTA = <K, yy'>_F / (|K|_F |yy'|_F) = y'Ky / (n |K|_F)  for y = +-1
 * Several classes: mean over one against the rest, or the ideal kernel in place of yy'. Numbers are
 * centred. Cost: 2 n^2 flops. */
#include "select/coding.h"

#include <math.h>

static void needs(const krein_values *v, int64_t n, krein_needs *out) {
    (void)v, (void)n;
    out->order = krein__max(out->order, 1);
    out->square = true;
}

extern const krein_criterion_class krein__criterion_kta;

static krein_status score(const krein_view *v, const krein_values *values, const krein_trial *trial,
                          krein_score *out) {
    (void)trial;
    krein_coding c = {0};
    double value = NAN;
    krein_status st = krein__coding(v, false, values->number[0] != 0, &c);
    if (st == KREIN_OK) st = krein__coding_alignment(v, &c, v->square, &value);
    if (st == KREIN_OK) *out = krein__score_of(&krein__criterion_kta, value);
    krein__coding_end(v, &c);
    return st;
}

static const krein_option options[] = {KREIN_OPTION_CLASSES, {0}};

const krein_criterion_class krein__criterion_kta = {
    .cls = {"kta", "kernel target alignment", "cristianini2001", options,
            "The cosine of the angle between the kernel matrix and that of the labels. For two "
            "classes of different size ckta is the better one."},
    .tasks = KREIN_FOR_CLASSES | KREIN_FOR_NUMBERS,
    .larger = true,
    .needs = needs,
    .score = score};
