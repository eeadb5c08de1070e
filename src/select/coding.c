/* coding.c -- codes of labels
 *
 * A code gives each class c a number g_c: y = sum_c g_c 1_c = sum_c g_c (1_c - p_c 1) + (sum_c g_c
 * p_c)
 * 1. Those of the ideal kernel of C classes are sqrt(C/(C-1)) (e_c - 1/C): inner products 1 and
 * -1/(C-1); for two classes that is yy' with y = +-1. */
#include "select/coding.h"

#include <math.h>
#include <string.h>

void krein__coding_end(const krein_view *v, krein_coding *c) {
    krein__free(v->ctx, c->a);
    memset(c, 0, sizeof *c);
}

static void set_code(const krein_labels *l, const double *g, double *a) {
    double mean = 0;
    for (int64_t c = 0; c < l->classes; c++) {
        a[c] = g[c];
        mean += g[c] * l->mean[c];
    }
    a[l->classes] = mean;
}

/* n / (2 n_c) for the two sides of class c, or ones. */
static void code_against_rest(const krein_labels *l, int64_t c, bool balanced, double *g) {
    double p = l->mean[c];
    for (int64_t d = 0; d < l->classes; d++) {
        g[d] = d == c ? 1 : -1;
        if (balanced) g[d] /= 2 * (d == c ? p : 1 - p);
    }
}

static void code_ideal(const krein_labels *l, int64_t c, int64_t present, bool balanced,
                       double *g) {
    double C = (double)present;
    for (int64_t d = 0; d < l->classes; d++) {
        g[d] = sqrt(C / (C - 1)) * ((d == c) - 1 / C);
        if (balanced) g[d] = l->mean[d] > 0 ? g[d] / (C * l->mean[d]) : 0;
    }
}

krein_status krein__coding(const krein_view *v, bool balanced, bool ideal, krein_coding *out) {
    krein_ctx *ctx = v->ctx;
    krein_status st = KREIN_OK;
    const krein_labels *l = v->labels;
    int64_t m = l->m, present = 0;
    double *g = NULL;
    memset(out, 0, sizeof *out);
    ZNEW(out->a, m * m);
    NEW(g, m);
    if (!l->classes) {
        for (; out->q < m - 1; out->q++) out->a[out->q * m + out->q] = 1;
        goto done;
    }
    for (int64_t c = 0; c < l->classes; c++) present += l->mean[c] > 0;
    if (present < 2) {
        st = krein__fail(ctx, KREIN_EDATA,
                         "all rows are of one class: there is nothing to separate");
        goto done;
    }
    out->ideal = ideal;
    /* of two classes, the second is the positive one */
    bool two = !ideal && l->classes == 2;
    for (int64_t c = two ? 1 : 0; c < l->classes; c++) {
        if (!(l->mean[c] > 0)) continue;
        if (ideal)
            code_ideal(l, c, present, balanced, g);
        else
            code_against_rest(l, c, balanced, g);
        set_code(l, g, out->a + out->q++ * m);
    }
done:
    krein__free(ctx, g);
    if (st != KREIN_OK) krein__coding_end(v, out);
    return st;
}

double krein__coding_power(const krein_view *v, const krein_coding *c, int64_t r) {
    double sum = 0;
    int64_t m = v->labels->m;
    for (int64_t q = 0; q < c->q; q++) sum += krein__view_power(v, r, c->a + q * m, c->a + q * m);
    return c->ideal ? sum : sum / (double)c->q;
}

static double dot(const double *a, const double *b, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* |Y'Y|_F of the ideal kernel's vectors; one product with the matrix serves all pairs of a vector,
   or the work were the fourth power of the number of classes. */
static krein_status ideal_norm(const krein_view *v, const krein_coding *c, double *out) {
    krein_ctx *ctx = v->ctx;
    krein_status st = KREIN_OK;
    int64_t m = v->labels->m;
    double *t = NULL, sum = 0;
    NEW(t, m);
    for (int64_t q = 0; q < c->q; q++) {
        for (int64_t i = 0; i < m; i++) t[i] = dot(v->power + i * m, c->a + q * m, m);
        for (int64_t p = 0; p < c->q; p++) {
            double e = dot(t, c->a + p * m, m);
            sum += e * e;
        }
    }
    *out = sqrt(sum);
done:
    krein__free(ctx, t);
    return st;
}

krein_status krein__coding_alignment(const krein_view *v, const krein_coding *c, double square,
                                     double *out) {
    int64_t m = v->labels->m;
    double norm = sqrt(square), sum = 0;
    if (!(norm > 0))
        return krein__fail(v->ctx, KREIN_EDATA,
                           "the kernel is constant on these rows: there is nothing to align");
    if (c->ideal) {
        krein_status st = ideal_norm(v, c, &sum);
        *out = krein__coding_power(v, c, 1) / (norm * sum);
        return st;
    }
    for (int64_t q = 0; q < c->q; q++) {
        const double *a = c->a + q * m;
        double length = krein__view_power(v, 0, a, a);
        if (!(length > 0))
            return krein__fail(v->ctx, KREIN_EDATA,
                               "the targets are constant: there is nothing to align with");
        sum += krein__view_power(v, 1, a, a) / (norm * length);
    }
    *out = sum / (double)c->q;
    return KREIN_OK;
}
