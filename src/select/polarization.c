/* polarization -- kernel polarization (baram2005)
 *     y'Ky = <K, yy'>_F:  what the thesis prints as kta; not normalised, so that only kernels of
 * one scale should be compared by it. Several classes: mean over one against the rest, or the ideal
 * kernel. Numbers are centred. Cost: 2 n^2 flops. */
#include "select/coding.h"

static void needs(const krein_values *v, int64_t n, krein_needs *out) {
    (void)v, (void)n;
    out->order = krein__max(out->order, 1);
}

extern const krein_criterion_class krein__criterion_polarization;

static krein_status score(const krein_view *v, const krein_values *values, const krein_trial *trial,
                          krein_score *out) {
    (void)trial;
    krein_coding c = {0};
    krein_status st = krein__coding(v, false, values->number[0] != 0, &c);
    if (st == KREIN_OK)
        *out = krein__score_of(&krein__criterion_polarization, krein__coding_power(v, &c, 1));
    krein__coding_end(v, &c);
    return st;
}

static const krein_option options[] = {KREIN_OPTION_CLASSES, {0}};

const krein_criterion_class krein__criterion_polarization = {
    .cls = {"polarization", "kernel polarization y'Ky", "baram2005", options,
            "The numerator of kta alone. It grows with the kernel: compare kernels of one scale."},
    .tasks = KREIN_FOR_CLASSES | KREIN_FOR_NUMBERS,
    .larger = true,
    .needs = needs,
    .score = score};
