/* alignment -- weights in proportion to kernel target alignment (cristianini2001)
 *
 *     mu_m ~ max(0, KTA(K_m)),   KTA(K) = <K, yy'>_F / (|K|_F |yy'|_F) = y'Ky / (|K|_F |y|^2)
 *
 * The cosine of the angle between K_m and yy': it has no unit, so the scale of a kernel does not
 * matter. With K_m that were orthogonal to each other, sum_m KTA(K_m) K_m / |K_m|_F would be the
 * projection of yy' on their span, hence the sum that is aligned best (centered.c drops that
 * assumption). Several classes: mean over one against the rest; numbers: targets less their mean;
 * row weights count as repeated rows. The same number as the criterion kta. An indefinite kernel
 * may point away from the labels: that counts as 0.
 *
 * On features K = Z diag(s) Z', with signs s = +-1:  y'Ky = sum_j s_j (z_j'y)^2 and |K|_F^2 =
 * sum_ij s_i s_j (z_i'z_j)^2, from the kernel's own block of Z'Z.
 *
 * Cost: (2 + 2k) n^2 flops for a kernel, or one pass of n D_m^2. */
#include "combine/align.h"
#include "combine/codes.h"
#include "select/coding.h"

#include <math.h>
#include <string.h>

/* ---- matrices: the view that the criteria have of a kernel -------------- */

static krein_status align(const krein_view *v, double *mu) {
    krein_coding code = {0};
    krein_status st = krein__coding(v, false, false, &code);
    *mu = 0;
    if (st == KREIN_OK && v->square > 0) st = krein__coding_alignment(v, &code, v->square, mu);
    krein__coding_end(v, &code);
    return st;
}

static krein_status by_matrices(krein_bank *b, double *mu) {
    krein_ctx *ctx = b->ctx;
    krein_status st = KREIN_OK;
    const krein_needs needs = {.order = 1, .square = true};
    krein_labels labels = {0};
    krein_view view = {0};
    size_t bytes = (size_t)(b->rows.n * b->rows.n) * sizeof(double);
    double *copy = NULL; /* the view multiplies weights into its matrix */
    if (b->rows.weight) NEW(copy, b->rows.n * b->rows.n);
    TRY(krein__labels_of(ctx, &b->rows, &labels));
    for (int64_t m = 0; m < b->M; m++) {
        if (copy) memcpy(copy, b->K[m], bytes);
        TRY(krein__view_exact(ctx, b->kernel[m], &b->rows, &labels, &needs, NULL, 0,
                              copy ? copy : b->K[m], &view));
        st = align(&view, &mu[m]);
        krein__view_clear(&view);
        TRY(st);
        TRY(krein__poll(ctx));
    }
done:
    krein__free(ctx, copy);
    krein__labels_end(ctx, &labels);
    return st;
}

/* ---- features ----------------------------------------------------------- */

static double pow2(double x) { return x * x; }

static double norm(const krein_bank *b, const krein_moments *g, int64_t m) {
    double sum = 0;
    for (int64_t i = b->first[m]; i < b->first[m + 1]; i++)
        for (int64_t j = b->first[m]; j < b->first[m + 1]; j++)
            sum += krein__bank_sign(b, i) * krein__bank_sign(b, j) * pow2(g->G[i * g->D + j]);
    return sqrt(fmax(0, sum));
}

/* y'Ky / |y|^2 of target q; codes of classes are not centred. */
static double quotient(const krein_bank *b, const krein_moments *g, bool classes, int64_t m,
                       int64_t q, double length) {
    double sum = 0, mean = classes ? 0 : g->weight * g->ymean[q];
    for (int64_t j = b->first[m]; j < b->first[m + 1]; j++)
        sum += krein__bank_sign(b, j) * pow2(g->B[j * g->k + q] - mean * g->mean[j]);
    return sum / (classes ? g->ysquare[q] : length);
}

static krein_status by_features(krein_bank *b, double *mu) {
    krein_ctx *ctx = b->ctx;
    krein_status st = KREIN_OK;
    krein_moments g = {0};
    double *length = NULL;
    bool classes = krein__job_classes(b->job);
    TRY(krein__moments_of(b, false, &g));
    NEW(length, g.k);
    TRY(krein__code_lengths(ctx, classes, g.k, g.weight, g.ymean, g.ysquare, length));
    for (int64_t m = 0; m < b->M; m++) {
        double size = norm(b, &g, m);
        int64_t present = 0;
        mu[m] = 0;
        for (int64_t q = 0; q < g.k; q++) {
            if (!(length[q] > 0) || !(size > 0)) continue;
            mu[m] += quotient(b, &g, classes, m, q, length[q]) / size;
            present++;
        }
        if (present > 0) mu[m] /= (double)present;
    }
done:
    krein__free(ctx, length);
    krein__moments_clear(ctx, &g);
    return st;
}

krein_status krein__align(krein_bank *b, const krein_values *v, double *mu) {
    (void)v;
    krein_status st = b->K ? by_matrices(b, mu) : by_features(b, mu);
    for (int64_t m = 0; st == KREIN_OK && m < b->M; m++) mu[m] = fmax(0, mu[m]);
    return st;
}

static const krein_option options[] = {KREIN_WEIGHING_OPTIONS, {0}};

const krein_weighing_class krein__weigh_alignment = {
    .cls = {"alignment", "in proportion to kernel target alignment", "cristianini2001", options,
            NULL},
    .tasks = KREIN_FOR_NUMBERS | KREIN_FOR_CLASSES,
    .indefinite = true,
    .row_weights = true,
    .find = krein__align};
