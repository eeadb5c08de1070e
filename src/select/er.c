/* er -- eigenvalue ratio (liu2015); the larger the better
 *     ER(t) = sum of the t largest eigenvalues of K / sum of the others
 * It does not look at labels: among Gaussians it grows with sigma without end, so a range of widths
 * has no best one inside. Cost: the largest eigenvalues by iteration. */
#include "select/select.h"

#include <math.h>

extern const krein_criterion_class krein__criterion_er;

static void needs(const krein_values *v, int64_t n, krein_needs *out) {
    out->top = krein__max(out->top, krein__main_count(v->number[0], n));
}

static krein_status score(const krein_view *v, const krein_values *values, const krein_trial *trial,
                          krein_score *out) {
    (void)trial;
    krein_status st = krein__need_positive(v, "er");
    if (st != KREIN_OK) return st;
    double sum = krein__main_sum(v, values->number[0]);
    /* a rest below rounding is rounding */
    *out = krein__score_of(&krein__criterion_er, sum / fmax(v->trace - sum, 1e-14 * v->trace));
    return KREIN_OK;
}

static const krein_option options[] = {{.name = "t",
                                        .type = KREIN_OPTION_INTEGER,
                                        .value = NAN,
                                        .low = 1,
                                        .high = 1e9,
                                        .help = "main eigenvalues; the root of the rows when not "
                                                "given"},
                                       {0}};

const krein_criterion_class krein__criterion_er = {
    .cls = {"er", "eigenvalue ratio, main over tail", "liu2015", options,
            "Sum of the t largest eigenvalues over the sum of the others. Labels do not matter: of "
            "kernels that differ in width the widest wins, so it ranks kernels of other kinds, or "
            "serves beside an error."},
    .larger = true,
    .needs = needs,
    .score = score};
