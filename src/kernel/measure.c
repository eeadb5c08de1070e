/* measure.c -- signed radial measures of kernels that are functions of the distance.
 *
 * With p(w) = (2 pi)^-d int k(z) e^{-iw'z} dz and S_{d-1} the surface of the sphere,
 *     f(r) = S_{d-1} r^(d-1) p(r),   k(z) = int_0^inf f(r) Omega_d(r z) dr,   k(0) = |f+| - |f-|.
 * The surface factor is missing in luo2022, where it hides that the measure of a kernel cut off
 * with a jump (epanechnikov with a > 2 beyond the unit sphere) has infinite mass.
 *
 * Finite mass. Sums, differences and products of positive definite kernels have it. A kernel that
 * goes to zero like (a - z)^m at z = a and stays there has |f(r)| ~ r^((d-3)/2 - m): finite for
 * m > (d - 1)/2. Otherwise a measure of finite mass can give it on [0, R] only where R <= a: for R
 * > a the masses grow without bound as the error falls. A function of <x, y> is one of the distance
 * on [0, 2] alone, and smooth there.
 *
 * The law: f is a sum of known densities with signs (a difference of Gaussians: chi laws). On an
 * even grid of log r that holds all but 1e-8 of the mass, the two parts are summed by the
 * trapezoid rule and inverted by linear interpolation.
 *
 * Atoms: data see 0 <= z <= R only, and there any smooth k has a measure of small mass. On grids
 * of z (Chebyshev) and r,
 *     min  mean_i (sum_j (a+_j - a-_j) Omega(r_j z_i) - k(z_i))^2 + delta^2 (sum_j a+_j + a-_j)^2
 * over a+, a- >= 0 (nnls.c); 3 to 20 of them are not zero. The masses are within some 10% of the
 * linear program that minimises them for the same greatest error.
 */
#include "kernel/measure.h"

#include "num/nnls.h"

#include <math.h>
#include <string.h>

/* ---- finite mass ---------------------------------------------------------- */

static krein_decomposition leaf_decomposition(const krein_kernel *leaf, int64_t d, double R) {
    krein_decomposition out = {.mass = KREIN_MASS_FINITE, .edge = INFINITY};
    if (leaf->kernel->family == KREIN_FAMILY_DOT) out.mass = KREIN_MASS_WITHIN;
    if (!leaf->kernel->edge) return out;
    double power, edge = leaf->kernel->edge(leaf->values.number, &power);
    if (power > ((double)d - 1) / 2) return out;
    return (krein_decomposition){R <= edge ? KREIN_MASS_WITHIN : KREIN_MASS_INFINITE, edge, power};
}

krein_decomposition krein__decomposition(const krein_kernel *k, int64_t d, double R) {
    if (k->node == KREIN_NODE_LEAF) return leaf_decomposition(k, d, R);
    krein_decomposition left = krein__decomposition(k->left, d, R);
    if (k->node == KREIN_NODE_SCALE) return left;
    krein_decomposition right = krein__decomposition(k->right, d, R);
    return right.mass > left.mass ? right : left;
}

/* ---- the law ------------------------------------------------------------- */

static bool is_gaussian(const krein_kernel *leaf) {
    return leaf->kernel == &krein__kernel_gaussian;
}

/* A product of Gaussians is one: 1 / sigma^2 adds up. */
static bool component(const krein_term *t, int64_t d, krein_component *out) {
    const krein_kernel *leaf = t->leaf[0];
    if (!krein__is_radial(leaf->kernel) || !leaf->kernel->density) return false;
    out->a = t->coefficient;
    if (leaf->kernel->mass) out->a *= leaf->kernel->mass(leaf->values.number, d);
    out->density = leaf->kernel->density;
    memcpy(out->p, leaf->values.number, sizeof out->p);
    if (t->n == 1) return true;
    double precision = 0;
    for (int64_t l = 0; l < t->n; l++) {
        if (!is_gaussian(t->leaf[l])) return false;
        precision += 1 / (t->leaf[l]->values.number[0] * t->leaf[l]->values.number[0]);
    }
    out->p[0] = 1 / sqrt(precision);
    return true;
}

krein_status krein__kernel_components(krein_ctx *ctx, const krein_kernel *k, int64_t d,
                                      krein_component *out, int64_t *n) {
    krein_status st = KREIN_OK;
    krein_term *terms = NULL;
    int64_t count;
    *n = 0;
    NEW(terms, KREIN_TERMS_MAX);
    TRY(krein__kernel_terms(ctx, k, terms, &count));
    for (int64_t t = 0; t < count; t++)
        if (!component(&terms[t], d, &out[t])) goto done;
    *n = count;
done:
    krein__free(ctx, terms);
    return st;
}

/* f(r) dr = g(v) dv, v = log r; size: sum of |a| density instead. */
static double log_density(const krein_component *c, int64_t n, int64_t d, double v, bool size) {
    double r = exp(v), sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (size ? fabs(c[i].a) : c[i].a) * c[i].density(c[i].p, d, r);
    return sum * r;
}

/* The range of log r outside of which there is no more than 1e-8 of the mass at each end. */
static krein_status law_range(krein_ctx *ctx, const krein_component *c, int64_t n, int64_t d,
                              double *low, double *high) {
    krein_status st = KREIN_OK;
    const double end = 32, step = fmin(0.02, 0.5 / sqrt((double)d)); /* of half a peak's width */
    const int64_t count = (int64_t)(2 * end / step);
    double *mass = NULL, total = 0, sum = 0;
    NEW(mass, count);
    for (int64_t i = 0; i < count; i++)
        total += mass[i] = log_density(c, n, d, (double)i * step - end, true);
    *low = -end;
    *high = end;
    for (int64_t i = 0; i < count && sum <= (1 - 1e-8) * total; i++) {
        sum += mass[i];
        if (sum < 1e-8 * total) *low = (double)i * step - end;
        *high = (double)(i + 1) * step - end;
    }
done:
    krein__free(ctx, mass);
    return st;
}

krein_status krein__law_make(krein_ctx *ctx, int64_t d, const krein_component *c, int64_t n,
                             krein_law *out) {
    krein_status st = KREIN_OK;
    double low = 0, high = 0, last[2] = {0};
    out->n = 20000;
    NEW(out->r, out->n);
    for (int s = 0; s < 2; s++) NEW(out->cumulative[s], out->n);
    TRY(law_range(ctx, c, n, d, &low, &high));
    double step = (high - low) / (double)(out->n - 1);
    for (int64_t i = 0; i < out->n; i++) {
        double v = low + step * (double)i, g = log_density(c, n, d, v, false);
        double part[2] = {fmax(g, 0), fmax(-g, 0)};
        out->r[i] = exp(v);
        for (int s = 0; s < 2; s++) {
            out->mass[s] = i ? out->mass[s] + step * (last[s] + part[s]) / 2 : 0;
            out->cumulative[s][i] = out->mass[s];
            last[s] = part[s];
        }
    }
done:
    return st;
}

double krein__law_quantile(const krein_law *law, int part, double u) {
    const double *f = law->cumulative[part];
    double want = u * law->mass[part];
    int64_t low = 0, high = law->n - 1; /* f[low] <= want < f[high] */
    while (high - low > 1) {
        int64_t mid = (low + high) / 2;
        if (f[mid] <= want)
            low = mid;
        else
            high = mid;
    }
    double width = f[high] - f[low], share = width > 0 ? (want - f[low]) / width : 0;
    return law->r[low] + fmin(share, 1) * (law->r[high] - law->r[low]);
}

void krein__law_clear(krein_ctx *ctx, krein_law *law) {
    krein__free(ctx, law->r);
    for (int s = 0; s < 2; s++) krein__free(ctx, law->cumulative[s]);
    memset(law, 0, sizeof *law);
}

/* ---- atoms --------------------------------------------------------------- */

/* The distance at which k has gone half the way it goes on [0, R]: what a Gaussian of bandwidth
 * sigma does at 1.2 sigma. */
static double half_way(const krein_atom_grid *g) {
    double most = 0;
    for (int64_t i = 0; i < g->ncheck; i++) most = fmax(most, fabs(g->kcheck[i] - g->kcheck[0]));
    for (int64_t i = 0; i < g->ncheck; i++)
        if (fabs(g->kcheck[i] - g->kcheck[0]) > most / 2) return g->zcheck[i];
    return g->R;
}

static krein_status distances(krein_ctx *ctx, krein_atom_grid *g, const krein_kernel *kernel,
                              bool unit) {
    krein_status st = KREIN_OK;
    g->nz = 96;
    g->ncheck = 512;
    NEW(g->z, g->nz);
    NEW(g->k, g->nz);
    NEW(g->zcheck, g->ncheck);
    NEW(g->kcheck, g->ncheck);
    for (int64_t i = 0; i < g->nz; i++) { /* Chebyshev, and the two ends */
        double angle = M_PI * ((double)i - 0.5) / (double)(g->nz - 2);
        g->z[i] = i == 0 ? 0 : i == g->nz - 1 ? g->R : g->R / 2 * (1 - cos(angle));
        g->k[i] = krein__kernel_profile(kernel, unit, g->z[i]);
    }
    for (int64_t i = 0; i < g->ncheck; i++) {
        g->zcheck[i] = g->R * (double)i / (double)(g->ncheck - 1);
        g->kcheck[i] = krein__kernel_profile(kernel, unit, g->zcheck[i]);
        g->top = fmax(g->top, fabs(g->kcheck[i]));
    }
done:
    return st;
}

/* Columns: Omega(r_j z), then their negatives. The last row is the mass, filled by atoms_fit. */
static krein_status columns(krein_ctx *ctx, krein_atom_grid *g) {
    krein_status st = KREIN_OK;
    int64_t m = g->nz + 1, n = g->positive ? g->nr : 2 * g->nr;
    double scale = 1 / sqrt((double)g->nz);
    NEW(g->a, m * n);
    NEW(g->b, m);
    NEW(g->unknowns, n);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < g->nz; i++)
            g->a[j * m + i] = j < g->nr ? scale * krein__omega_at(&g->omega, g->r[j] * g->z[i])
                                        : -g->a[(j - g->nr) * m + i];
    for (int64_t i = 0; i < g->nz; i++) g->b[i] = scale * g->k[i] / g->top;
    g->b[g->nz] = 0;
done:
    return st;
}

krein_status krein__atom_grid(krein_ctx *ctx, const krein_kernel *kernel, bool unit, int64_t d,
                              double R, krein_atom_grid *out) {
    krein_status st = KREIN_OK;
    double root = sqrt((double)d);
    memset(out, 0, sizeof *out);
    out->d = d;
    out->R = R;
    out->positive = krein__kernel_all(kernel, krein__is_radial) && krein__kernel_positive(kernel);
    TRY(distances(ctx, out, kernel, unit));
    if (!(out->top > 0)) {
        st = krein__fail(ctx, KREIN_ENUMERIC, "the kernel is zero at all distances of the data");
        goto done;
    }
    double most = fmin(7 * root / half_way(out), 60 * root / R) + 12 * M_PI / R;
    out->nr = (int64_t)fmin(fmax(1.5 * most * R / root, 200), 400);
    NEW(out->r, out->nr);
    for (int64_t j = 0; j < out->nr; j++) out->r[j] = most * (double)j / (double)(out->nr - 1);
    TRY(krein__omega_table(ctx, d, 2 * most * R, &out->omega));
    TRY(columns(ctx, out));
done:
    return st;
}

double krein__atoms_value(const krein_omega_table *omega, const krein_atoms *atoms, double z) {
    double sum = 0;
    for (int64_t j = 0; j < atoms->n; j++)
        sum += atoms->a[j] * krein__omega_at(omega, atoms->r[j] * z);
    return sum;
}

static void summarise(const krein_atom_grid *g, krein_atoms *atoms) {
    atoms->mass[0] = atoms->mass[1] = atoms->error = 0;
    for (int64_t j = 0; j < atoms->n; j++) atoms->mass[atoms->a[j] < 0] += fabs(atoms->a[j]);
    for (int64_t i = 0; i < g->ncheck; i++)
        atoms->error = fmax(
            atoms->error, fabs(krein__atoms_value(&g->omega, atoms, g->zcheck[i]) - g->kcheck[i]));
}

krein_status krein__atoms_fit(krein_ctx *ctx, krein_atom_grid *g, double delta, krein_atoms *out) {
    krein_status st = KREIN_OK;
    int64_t m = g->nz + 1, n = g->positive ? g->nr : 2 * g->nr;
    for (int64_t j = 0; j < n; j++) g->a[j * m + g->nz] = delta;
    TRY(krein__nnls(ctx, m, n, g->a, g->b, g->unknowns));
    out->n = 0;
    for (int64_t j = 0; j < g->nr; j++) {
        double a = g->unknowns[j] - (g->positive ? 0 : g->unknowns[g->nr + j]);
        if (a == 0 || out->n == KREIN_ATOMS_MAX) continue;
        out->r[out->n] = g->r[j];
        out->a[out->n++] = a * g->top;
    }
    summarise(g, out);
done:
    return st;
}

void krein__atoms_merge(const krein_atom_grid *g, int64_t most, krein_atoms *atoms) {
    while (atoms->n > most) {
        int64_t best = -1;
        double least = INFINITY;
        for (int64_t j = 0; j + 1 < atoms->n; j++) {
            double a = atoms->a[j], b = atoms->a[j + 1], gap = atoms->r[j + 1] - atoms->r[j];
            double harm = fabs(a) * fabs(b) / (fabs(a) + fabs(b)) * gap * gap;
            if (a * b <= 0 || harm >= least) continue;
            least = harm;
            best = j;
        }
        if (best < 0) break;
        double a = atoms->a[best], b = atoms->a[best + 1], r = atoms->r[best];
        double r2 = atoms->r[best + 1]; /* the same curvature at 0 */
        atoms->r[best] = sqrt((a * r * r + b * r2 * r2) / (a + b));
        atoms->a[best] = a + b;
        atoms->n--;
        for (int64_t j = best + 1; j < atoms->n; j++) {
            atoms->r[j] = atoms->r[j + 1];
            atoms->a[j] = atoms->a[j + 1];
        }
    }
    summarise(g, atoms);
}

void krein__atom_grid_clear(krein_ctx *ctx, krein_atom_grid *g) {
    krein__omega_clear(ctx, &g->omega);
    krein__free(ctx, g->z);
    krein__free(ctx, g->k);
    krein__free(ctx, g->r);
    krein__free(ctx, g->zcheck);
    krein__free(ctx, g->kcheck);
    krein__free(ctx, g->a);
    krein__free(ctx, g->b);
    krein__free(ctx, g->unknowns);
    memset(g, 0, sizeof *g);
}
