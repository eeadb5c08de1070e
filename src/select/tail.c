/* tail -- tail sum of the eigenvalues, the local Rademacher bound (thesis, (3.27) and (4.3))
 *     sum_{j > theta} lambda_j(K) = Tr K - sum of the theta largest;   the smaller the better
 * It does not look at labels: kernels must be of one scale, and of widths the largest wins. Cost:
 * the largest eigenvalues by iteration. */
#include "select/select.h"

#include <math.h>

extern const krein_criterion_class krein__criterion_tail;

static void needs(const krein_values *v, int64_t n, krein_needs *out) {
    out->top = krein__max(out->top, krein__max(1, krein__main_count(v->number[0], n)));
}

static krein_status score(const krein_view *v, const krein_values *values, const krein_trial *trial,
                          krein_score *out) {
    (void)trial;
    krein_status st = krein__need_positive(v, "tail");
    if (st != KREIN_OK) return st;
    double sum = krein__main_sum(v, values->number[0]);
    *out = krein__score_of(&krein__criterion_tail, fmax(0, v->trace - sum));
    return KREIN_OK;
}

static const krein_option options[] = {{.name = "theta",
                                        .type = KREIN_OPTION_INTEGER,
                                        .value = NAN,
                                        .low = 0,
                                        .high = 1e9,
                                        .help = "eigenvalues left out; the root of the rows when "
                                                "not given"},
                                       {0}};

const krein_criterion_class krein__criterion_tail = {
    .cls = {"tail", "sum of the tail eigenvalues", "bartlett2005", options,
            "Trace less the theta largest eigenvalues: the part of the local Rademacher complexity "
            "that depends on the kernel. Labels do not matter: compare kernels of one scale; of "
            "widths the widest wins."},
    .needs = needs,
    .score = score};
