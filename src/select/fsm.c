/* fsm -- feature space-based kernel matrix evaluation (nguyen2008); the smaller the better
 *     FSM = (s+ + s-) / |m+ - m-|,  s+- the spread of a class along the line through the means m+-
 * in feature space: with A, B, C the means of K over (+,+), (+,-), (-,-),
 *     p_i = mean_- K_i - mean_+ K_i + A - B (i in +),   d2 = |m+ - m-|^2 = A + C - 2B,
 *     FSM = (sqrt(sum p_i^2/(n+ - 1)) + the same of -) / d2.
 * With b = 1_+/n+ - 1_-/n- the p_i are (Kb)_i less their class's mean, and b = (1/n+ + 1/n-) (1_+ -
 * p_+ 1) is a multiple of a column of V: d2 and the sums of squares are moments. Several classes:
 * mean over one against the rest. Cost: 2 n^2 flops. */
#include "select/select.h"

#include <float.h>
#include <math.h>

extern const krein_criterion_class krein__criterion_fsm;

static void needs(const krein_values *v, int64_t n, krein_needs *out) {
    (void)v, (void)n;
    out->order = krein__max(out->order, 2);
    out->inside = true;
}

/* sqrt((sum of squares - n mean^2) / (n - 1)) */
static double spread(double squares, double sum, double n) {
    return sqrt(fmax(0, squares - sum * sum / n) / (n - 1));
}

static krein_status one_class(const krein_view *v, int64_t c, double *out) {
    const krein_labels *l = v->labels;
    int64_t m = l->m;
    const double *P1 = v->power + m * m, *P2 = v->power + 2 * m * m;
    double plus = l->weight * l->mean[c], minus = l->weight - plus;
    if (!(plus > 1) || !(minus > 1))
        return krein__fail(v->ctx, KREIN_EDATA,
                           "fsm needs two rows or more of a class and outside it");
    double scale = 1 / plus + 1 / minus, distance = scale * P1[c * m + c];
    /* sums of (K v_c)_i over the class, and over all rows */
    double inside = P1[c * m + c] + l->mean[c] * P1[(m - 1) * m + c], all = P1[(m - 1) * m + c];
    double s = spread(v->inside[c], inside, plus) +
               spread(P2[c * m + c] - v->inside[c], all - inside, minus);
    /* d2 = scale * distance beside the mean of K: less is rounding */
    double mean = fabs(P1[m * m - 1]) / (l->weight * l->weight);
    if (!(scale * distance > DBL_EPSILON * mean))
        return krein__fail(v->ctx, KREIN_EDATA,
                           "the means of the classes coincide in this kernel's space");
    *out = s / distance;
    return KREIN_OK;
}

static krein_status score(const krein_view *v, const krein_values *values, const krein_trial *trial,
                          krein_score *out) {
    (void)values, (void)trial;
    double sum = 0, one = 0;
    int64_t count = 0;
    for (int64_t c = v->labels->classes == 2; c < v->labels->classes; c++) {
        if (!(v->labels->mean[c] > 0)) continue;
        krein_status st = one_class(v, c, &one);
        if (st != KREIN_OK) return st;
        sum += one;
        count++;
    }
    if (count == 0) return krein__fail(v->ctx, KREIN_EDATA, "fsm needs rows of two classes");
    *out = krein__score_of(&krein__criterion_fsm, sum / (double)count);
    return KREIN_OK;
}

const krein_criterion_class krein__criterion_fsm = {
    .cls = {"fsm", "feature space-based kernel matrix evaluation", "nguyen2008", NULL,
            "Spread of the classes along the line through their means, over the distance of the "
            "means. Several classes: mean over one against the rest. The smaller the better."},
    .tasks = KREIN_FOR_CLASSES,
    .needs = needs,
    .score = score};
