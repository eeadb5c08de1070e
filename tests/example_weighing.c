/* norms -- weights that give every kernel the same part in the norm of the sum
 *     mu_m = |K_m|_F^-power,   |K|_F^2 = sum_ij w_i w_j K_ij^2     (0 where the norm is 0)
 * w_i are row weights, which count as repeated rows. power = 1: all mu_m K_m have one norm;
 * power = 0: the plain mean. Labels are not looked at.
 *
 * On features K = Z diag(s) Z', s = +-1:  |K|_F^2 = sum_ij s_i s_j (z_i'z_j)^2, from Z'Z.
 *
 * Cost: 3 n^2 flops for a kernel, or one pass of n D_m^2, which the bank counts.
 *
 * The second worked example of CONTRIBUTING.md: a whole weighing in one file. It would live in
 * src/combine/norms.c with the line WEIGHING(krein__weigh_norms) in src/combine/weighings.def; here
 * a test includes it.
 */
#include "combine/codes.h"
#include "combine/combine.h"

#include <math.h>

enum { POWER = KREIN_WEIGHING_OWN };

static double matrix_square(const krein_bank *b, int64_t m) {
    int64_t n = b->rows.n;
    const double *w = b->rows.weight;
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double value = b->K[m][i * n + j];
            sum += (w ? w[i] * w[j] : 1) * value * value;
        }
    return sum;
}

static double feature_square(const krein_bank *b, const krein_moments *g, int64_t m) {
    double sum = 0;
    for (int64_t i = b->first[m]; i < b->first[m + 1]; i++)
        for (int64_t j = b->first[m]; j < b->first[m + 1]; j++) {
            double value = g->G[i * g->D + j];
            sum += krein__bank_sign(b, i) * krein__bank_sign(b, j) * value * value;
        }
    return sum;
}

/* A bank has matrices (few rows) or features (many). */
static krein_status find(krein_bank *b, const krein_values *values, double *mu) {
    krein_status st = KREIN_OK;
    krein_moments g = {0};
    if (!b->K) TRY(krein__moments_of(b, false, &g));
    for (int64_t m = 0; m < b->M; m++) {
        double square = b->K ? matrix_square(b, m) : feature_square(b, &g, m);
        mu[m] = square > 0 ? pow(square, -values->number[POWER] / 2) : 0;
        TRY(krein__poll(b->ctx));
    }
done:
    krein__moments_clear(b->ctx, &g);
    return st;
}

static void cost(const krein_bank_size *size, krein_cost *out) {
    if (size->matrices) out->flops += 3 * (double)size->M * size->rows * size->rows;
}

static const krein_option options[] = {
    KREIN_WEIGHING_OPTIONS,
    {.name = "power", .value = 1, .low = 0, .high = 10, .help = "of the norm; 0: equal weights"},
    {0}};

const krein_weighing_class krein__weigh_norms = {
    .cls = {"norms", "in inverse proportion to the norm of each kernel matrix", "", options, NULL},
    .tasks = KREIN_FOR_NUMBERS | KREIN_FOR_CLASSES,
    .indefinite = true,
    .row_weights = true,
    .way_out = "every kernel is zero on these rows; are all inputs zero?",
    .find = find,
    .cost = cost};
