/* default.c -- the default map of a kernel expression, from those that its base kernels name.
 *
 * A product of kernels with frequencies has frequencies, a product or a sum of polynomials is one.
 * Terms with the same map have it together where it makes features of a sum, side by side (auto)
 * where it does not and where the maps differ. What is left has landmarks.
 */
#include "map/parts.h"

static bool is_polynomial(const krein_kernel_class *c) {
    return c == &krein__kernel_linear || c == &krein__kernel_poly;
}

/* Of an expression of linear and poly. */
static int64_t degree(const krein_kernel *k) {
    if (k->node == KREIN_NODE_LEAF) {
        int64_t slot = krein__option_index(&k->kernel->cls, "degree");
        return slot < 0 ? 1 : (int64_t)k->values.number[slot];
    }
    if (k->node == KREIN_NODE_SCALE) return degree(k->left);
    int64_t left = degree(k->left), right = degree(k->right);
    return k->node == KREIN_NODE_PRODUCT ? left + right : krein__max(left, right);
}

/* Up to degree p. */
static double monomials(int64_t p, int64_t d) {
    double count = 1;
    for (int64_t i = 1; i <= p; i++) count *= (double)(d + i) / (double)i;
    return count;
}

static bool all_leaves(const krein_term *term, bool (*is)(const krein_kernel_class *)) {
    for (int64_t l = 0; l < term->n; l++)
        if (!is(term->leaf[l]->kernel)) return false;
    return true;
}

static const krein_map_class *leaf_map(const krein_kernel_class *c) {
    const krein_class *map =
        c->map ? krein__class_named(c->map, krein__maps, krein__map_count) : NULL;
    return map ? (const krein_map_class *)map : &krein__map_nystrom;
}

static bool is_fourier(const krein_kernel_class *c) {
    const krein_map_class *map = leaf_map(c);
    return map == &krein__map_orf || map == &krein__map_rff;
}

/* The columns themselves for linear, however many there are; a sketch where there is no room for
 * all monomials of a polynomial. */
static const krein_map_class *polynomial_map(const krein_term *term, int64_t d, int64_t D) {
    int64_t p = 0;
    if (term->n == 1 && krein__is_linear(term->leaf[0])) return &krein__map_explicit;
    for (int64_t l = 0; l < term->n; l++) p += degree(term->leaf[l]);
    return D == 0 || monomials(p, d) <= (double)D ? &krein__map_explicit : &krein__map_tensorsketch;
}

const krein_map_class *krein__map_default_term(const krein_kernel *k, int64_t t, int64_t d,
                                               int64_t D) {
    krein_term term = {.coefficient = 1};
    krein__kernel_term(k, t, &term); /* kernels that are too long are not parsed */
    if (all_leaves(&term, is_polynomial)) return polynomial_map(&term, d, D);
    if (term.n == 1) return leaf_map(term.leaf[0]->kernel);
    if (!all_leaves(&term, is_fourier)) return &krein__map_nystrom;
    return all_leaves(&term, krein__has_radius) ? &krein__map_orf : &krein__map_rff;
}

/* A sum of very many terms may leave no features for each: landmarks serve all at once. */
static const krein_map_class *side_by_side(int64_t terms, int64_t D) {
    bool room =
        terms <= KREIN_TERMS_MAX || (terms <= KREIN_PARTS_MAX && (D == 0 || D >= 2 * terms));
    return room ? &krein__map_auto : &krein__map_nystrom;
}

const krein_map_class *krein__map_default_class(const krein_kernel *k, int64_t d, int64_t D) {
    int64_t n = krein__kernel_term_count(k);
    /* terms share their monomials */
    if (krein__kernel_all(k, is_polynomial) && (D == 0 || monomials(degree(k), d) <= (double)D))
        return &krein__map_explicit;
    const krein_map_class *first = krein__map_default_term(k, 0, d, D / n);
    for (int64_t t = 1; t < n; t++)
        if (krein__map_default_term(k, t, d, D / n) != first) return side_by_side(n, D);
    return n <= krein__max(1, first->terms) ? first : side_by_side(n, D);
}

const char *krein__map_default(const krein_kernel *k, int64_t d, int64_t D) {
    return krein__map_default_class(k, d, D)->cls.name;
}
