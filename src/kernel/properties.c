/* properties.c -- what can be said of a kernel expression without data: free parameters,
 * definiteness, families, its profile by distance, its power series, its terms. */
#include "kernel/kernel.h"

#include <math.h>

static bool is_free(const krein_option *o, const krein_values *v, int64_t j) {
    return o[j].type == KREIN_OPTION_NUMBER && !o[j].derived && isnan(v->number[j]);
}

static bool is_range(const krein_option *o, const krein_values *v, int64_t j) {
    (void)o;
    return v->count[j] > 1;
}

/* The i-th value of the expression, from the left, of which `is` holds; how many there are. */
static int64_t find_slot(krein_kernel *k, int64_t i,
                         bool (*is)(const krein_option *, const krein_values *, int64_t),
                         krein_kernel **leaf, int64_t *slot) {
    if (!k) return 0;
    int64_t n = 0;
    if (k->node == KREIN_NODE_LEAF) {
        const krein_option *o = k->kernel->cls.options;
        for (int64_t j = 0; o && o[j].name; j++)
            if (is(o, &k->values, j)) {
                if (n == i && leaf) {
                    *leaf = k;
                    *slot = j;
                }
                n++;
            }
        return n;
    }
    n = find_slot(k->left, i, is, leaf, slot);
    return n + find_slot(k->right, i - n, is, leaf, slot);
}

int64_t krein__kernel_free(krein_kernel *k, int64_t i, krein_kernel **leaf, int64_t *slot) {
    return find_slot(k, i, is_free, leaf, slot);
}

int64_t krein__kernel_range(krein_kernel *k, int64_t i, krein_kernel **leaf, int64_t *slot) {
    return find_slot(k, i, is_range, leaf, slot);
}

bool krein__kernel_all(const krein_kernel *k, bool (*is)(const krein_kernel_class *)) {
    if (!k) return true;
    if (k->node == KREIN_NODE_LEAF) return is(k->kernel);
    return krein__kernel_all(k->left, is) && krein__kernel_all(k->right, is);
}

bool krein__is_radial(const krein_kernel_class *c) { return c->family == KREIN_FAMILY_RADIAL; }
bool krein__is_stationary(const krein_kernel_class *c) {
    return c->family == KREIN_FAMILY_RADIAL || c->family == KREIN_FAMILY_STATIONARY;
}
bool krein__has_frequency(const krein_kernel_class *c) { return c->frequency != NULL; }
bool krein__has_radius(const krein_kernel_class *c) { return c->radius != NULL; }
bool krein__has_mixture(const krein_kernel_class *c) { return c->mixture != NULL; }
bool krein__has_pitch(const krein_kernel_class *c) { return c->pitch != NULL; }
bool krein__has_rows(const krein_kernel_class *c) { return c->rows32 != NULL; }

bool krein__from_dots(const krein_kernel_class *c) { return c->values32 && !c->rows32; }

bool krein__is_linear(const krein_kernel *k) {
    while (k->node == KREIN_NODE_SCALE && k->number > 0) k = k->left;
    return k->node == KREIN_NODE_LEAF && k->kernel == &krein__kernel_linear;
}

bool krein__is_arccos(const krein_kernel_class *c) { return c == &krein__kernel_arccos; }

bool krein__is_ntk(const krein_kernel *k) {
    if (k->node == KREIN_NODE_LEAF) return k->kernel == &krein__kernel_ntk;
    if (k->node == KREIN_NODE_PRODUCT) return false;
    return krein__is_ntk(k->left) && (k->node == KREIN_NODE_SCALE || krein__is_ntk(k->right));
}

krein_definite krein__kernel_definite(const krein_kernel *k) {
    if (!k) return KREIN_DEFINITE_POSITIVE;
    if (k->node == KREIN_NODE_LEAF)
        return k->kernel->definite ? k->kernel->definite(k->values.number)
                                   : KREIN_DEFINITE_POSITIVE;
    if (k->node == KREIN_NODE_SCALE && k->number < 0) return KREIN_DEFINITE_NO;
    krein_definite left = krein__kernel_definite(k->left), right = krein__kernel_definite(k->right);
    return left > right ? left : right;
}

bool krein__kernel_positive(const krein_kernel *k) {
    return krein__kernel_definite(k) == KREIN_DEFINITE_POSITIVE;
}

static bool in_a_file(const krein_kernel *k) {
    if (k->node == KREIN_NODE_LEAF) return k->kernel->family == KREIN_FAMILY_TABLE;
    return in_a_file(k->left) || (k->right && in_a_file(k->right));
}

bool krein__kernel_indefinite(const krein_kernel *k) {
    return krein__kernel_definite(k) == KREIN_DEFINITE_NO && !in_a_file(k);
}

krein_status krein__kernel_settle(krein_ctx *ctx, krein_kernel *k, int64_t d,
                                  const krein_encoding *e) {
    krein_status st = KREIN_OK;
    if (!k) return KREIN_OK;
    if (k->node == KREIN_NODE_LEAF)
        return k->kernel->settle ? k->kernel->settle(ctx, k, d, e) : KREIN_OK;
    TRY(krein__kernel_settle(ctx, k->left, d, e));
    TRY(krein__kernel_settle(ctx, k->right, d, e));
done:
    return st;
}

/* leaf: how many came before. */
static krein_status leaves_io(krein_ctx *ctx, krein_archive *a, krein_kernel *k, int64_t d,
                              int64_t *leaf) {
    krein_status st = KREIN_OK;
    if (!k) return KREIN_OK;
    if (k->node == KREIN_NODE_LEAF) {
        krein__archive_enter(a, (*leaf)++);
        if (k->kernel->io) st = k->kernel->io(ctx, a, k, d);
        krein__archive_leave(a);
        return st;
    }
    TRY(leaves_io(ctx, a, k->left, d, leaf));
    TRY(leaves_io(ctx, a, k->right, d, leaf));
done:
    return st;
}

krein_status krein__kernel_io(krein_ctx *ctx, krein_archive *a, krein_kernel *k, int64_t d) {
    int64_t leaf = 0;
    return leaves_io(ctx, a, k, d, &leaf);
}

krein_status krein__kernel_check_inputs(krein_ctx *ctx, const krein_kernel *k, double low,
                                        double high, bool sparse) {
    if (!k) return KREIN_OK;
    if (k->node == KREIN_NODE_LEAF) {
        const krein_kernel_class *c = k->kernel;
        const double slack = 1e-5; /* of scaling in float32 */
        if (c->low < c->high && (low < c->low - slack || high > c->high + slack))
            return krein__fail(ctx, KREIN_EDATA,
                               "%s wants inputs %s, they go from %.6g to %.6g; %s", c->cls.name,
                               c->high < INFINITY ? "between 0 and 1" : "that are not negative",
                               low, high, c->advice);
        if (sparse && c->rows32 && !c->coordinate)
            return krein__fail(ctx, KREIN_EDATA,
                               "%s does not take sparse rows; give them as CSV "
                               "or NPY",
                               c->cls.name);
        return KREIN_OK;
    }
    krein_status st = krein__kernel_check_inputs(ctx, k->left, low, high, sparse);
    return st == KREIN_OK ? krein__kernel_check_inputs(ctx, k->right, low, high, sparse) : st;
}

double krein__kernel_profile(const krein_kernel *k, bool unit, double z) {
    if (k->node == KREIN_NODE_SCALE) return k->number * krein__kernel_profile(k->left, unit, z);
    if (k->node != KREIN_NODE_LEAF) {
        double left = krein__kernel_profile(k->left, unit, z);
        double right = krein__kernel_profile(k->right, unit, z);
        return k->node == KREIN_NODE_SUM ? left + right : left * right;
    }
    if (!k->kernel->values64) return NAN;
    /* |x|^2 + |y|^2 - 2 <x, y> = z^2 either way */
    double v = unit ? 1 - z * z / 2 : 0, yy = unit ? 1 : 0;
    k->kernel->values64(k->values.number, 1, &v, unit ? 1 : z * z, &yy);
    return v;
}

krein_status krein__kernel_series(krein_ctx *ctx, const krein_kernel *k, bool unit, int64_t count,
                                  double *a, double *reach) {
    krein_status st = KREIN_OK;
    double *b = NULL, reach2;
    if (k->node == KREIN_NODE_LEAF) {
        *reach = INFINITY;
        if (k->kernel->series && k->kernel->series(k->values.number, unit, count, a, reach))
            return KREIN_OK;
        return krein__fail(ctx, KREIN_ESPEC, "%s has no power series in <x, y>%s",
                           k->kernel->cls.name,
                           unit ? "" : " for rows of any length; try `scale=unit`");
    }
    TRY(krein__kernel_series(ctx, k->left, unit, count, a, reach));
    if (k->node == KREIN_NODE_SCALE) {
        for (int64_t i = 0; i < count; i++) a[i] *= k->number;
        return KREIN_OK;
    }
    NEW(b, count);
    TRY(krein__kernel_series(ctx, k->right, unit, count, b, &reach2));
    *reach = fmin(*reach, reach2);
    if (k->node == KREIN_NODE_SUM) {
        for (int64_t i = 0; i < count; i++) a[i] += b[i];
        goto done;
    }
    for (int64_t i = count - 1; i >= 0; i--) { /* from the top: a[i] needs a[0..i] only */
        double sum = 0;
        for (int64_t j = 0; j <= i; j++) sum += a[j] * b[i - j];
        a[i] = sum;
    }
done:
    krein__free(ctx, b);
    return st;
}

int64_t krein__kernel_term_count(const krein_kernel *k) {
    if (k->node == KREIN_NODE_LEAF) return 1;
    int64_t left = krein__kernel_term_count(k->left);
    if (k->node == KREIN_NODE_SCALE) return left;
    int64_t right = krein__kernel_term_count(k->right);
    /* many more than there may be must not overflow */
    return krein__min(k->node == KREIN_NODE_SUM ? left + right : left * right, INT32_MAX);
}

/* The t-th of k's `count` terms. Sums lean to the left: to count those on the right and take them
 * off is fast, to count those on the left at every node is not. */
static bool find_term(const krein_kernel *k, int64_t count, int64_t t, krein_term *out) {
    if (k->node == KREIN_NODE_LEAF) {
        if (out->n == KREIN_TERM_LEAVES) return false;
        out->leaf[out->n++] = k;
        return true;
    }
    if (k->node == KREIN_NODE_SCALE) {
        bool fits = find_term(k->left, count, t, out);
        out->coefficient *= k->number;
        return fits;
    }
    int64_t right = krein__kernel_term_count(k->right);
    if (k->node == KREIN_NODE_SUM) {
        int64_t left = count - right;
        return t < left ? find_term(k->left, left, t, out)
                        : find_term(k->right, right, t - left, out);
    }
    if (!find_term(k->left, count / right, t / right, out)) return false;
    double coefficient = out->coefficient;
    out->coefficient = 1;
    bool fits = find_term(k->right, right, t % right, out);
    out->coefficient *= coefficient;
    return fits;
}

bool krein__kernel_term(const krein_kernel *k, int64_t t, krein_term *out) {
    return find_term(k, krein__kernel_term_count(k), t, out);
}

krein_status krein__kernel_expand(krein_ctx *ctx, const krein_kernel *k, int64_t most,
                                  krein_term *out, int64_t *n) {
    int64_t count = krein__kernel_term_count(k);
    *n = 0;
    if (count > most)
        return krein__fail(ctx, KREIN_ESPEC,
                           "the kernel expands to more than %lld terms; try `map=nystrom`",
                           (long long)most);
    for (int64_t t = 0; t < count; t++) {
        out[t] = (krein_term){.coefficient = 1};
        if (!find_term(k, count, t, &out[t]))
            return krein__fail(ctx, KREIN_ESPEC, "a product has more than %d kernels",
                               KREIN_TERM_LEAVES);
    }
    *n = count;
    return KREIN_OK;
}

krein_status krein__kernel_terms(krein_ctx *ctx, const krein_kernel *k, krein_term *out,
                                 int64_t *n) {
    return krein__kernel_expand(ctx, k, KREIN_TERMS_MAX, out, n);
}
