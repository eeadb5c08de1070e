/* signed_fit.c -- which measure and which layout: the smallest expected squared error on the
 * distances of the data, variance plus squared bias. The law has no bias; atoms have less mass,
 * as they must give k on [0, R] only, and less with a larger error. Mixtures of Gaussians (srf,
 * digmm) are a law of their own, with a bias. */
#include "map/signed.h"

#include "kernel/mixture.h"

#include <math.h>
#include <string.h>

typedef struct search {
    krein_map *map;
    const krein_signed_options *o;
    int64_t F, n; /* frequencies, rows */
    krein_spread spread;
    double k0, k[KREIN_DISTANCES], mean; /* k(0), kernel values there, mean of their squares */
    krein_component component[KREIN_TERMS_MAX];
    krein_law law;
    krein_atom_grid grid;
    krein_atoms atoms;
    krein_omega_table omega; /* of the law */
    krein_layout trial, best;
    double error; /* expected square of the best */
    double fact[8];
} search;

/* |K - Khat|_F / |K|_F that is expected of n rows, from the mean squared error at the distances of
 * the data and the error of the diagonal, which has no variance. No features at all have 1. */
static double relative(const search *s, double square, double diagonal) {
    double n = fmax(1, (double)s->n), norm = (n - 1) * s->mean + s->k0 * s->k0;
    return norm > 0 ? sqrt(((n - 1) * square + diagonal * diagonal) / norm) : 0;
}

/* Takes the trial where it is better. */
static void compare(search *s, const krein_omega_table *omega, const krein_atoms *atoms) {
    double sum = 0;
    for (int q = 0; q < KREIN_DISTANCES; q++) {
        double z = s->spread.z[q];
        double bias = atoms ? krein__atoms_value(omega, atoms, z) - s->k[q] : 0;
        sum += krein__layout_variance(&s->trial, omega, z) + bias * bias;
    }
    sum /= KREIN_DISTANCES;
    double diagonal = atoms ? krein__atoms_value(omega, atoms, 0) - s->k0 : 0;
    double expected = relative(s, sum, diagonal);
    sum += diagonal * diagonal / KREIN_DISTANCES; /* must not be forgotten */
    if (!(sum < s->error)) return;
    const double *mass = atoms ? atoms->mass : s->law.mass;
    double fact[] = {atoms ? KREIN_ROUTE_ATOMS : KREIN_ROUTE_DENSITY,
                     s->trial.coupling,
                     mass[0],
                     mass[1],
                     atoms ? (double)atoms->n : 0,
                     atoms ? atoms->error : 0,
                     s->spread.R,
                     expected};
    s->error = sum;
    s->best = s->trial;
    memcpy(s->fact, fact, sizeof fact);
}

static void try_couplings(search *s, const krein_omega_table *omega, const krein_atoms *atoms) {
    int first = s->o->independent ? 0 : 1, last = s->o->independent ? 0 : 3;
    if (s->o->coupling) first = last = s->o->coupling;
    for (int c = first; c <= last; c++) {
        krein_coupling coupling = (krein_coupling)c;
        if (atoms ? krein__layout_atoms(s->map->d, s->F, atoms, coupling, &s->trial)
                  : krein__layout_law(s->map->d, s->F, &s->law, coupling, &s->trial))
            compare(s, omega, atoms);
    }
}

static krein_status try_law(search *s) {
    krein_ctx *ctx = s->map->ctx;
    krein_status st = KREIN_OK;
    int64_t n;
    TRY(krein__kernel_components(ctx, s->map->kernel, s->map->d, s->component, &n));
    if (n == 0) {
        if (s->o->route == KREIN_ROUTE_DENSITY)
            st = krein__fail(ctx, KREIN_ESPEC,
                             "%s: a base kernel has no known spectral density; try route=atoms",
                             s->o->name);
        goto done;
    }
    TRY(krein__law_make(ctx, s->map->d, s->component, n, &s->law));
    double far = 0;
    for (int part = 0; part < 2; part++)
        if (s->law.mass[part] > 0)
            far = fmax(far, krein__law_quantile(&s->law, part, 1 - 0.5 / KREIN_GROUPS));
    TRY(krein__omega_table(ctx, s->map->d, 2 * far * s->spread.z[KREIN_DISTANCES - 1], &s->omega));
    try_couplings(s, &s->omega, NULL);
done:
    return st;
}

/* The largest weight of the mass that meets the error asked for. */
static krein_status atoms_within(search *s) {
    krein_ctx *ctx = s->map->ctx;
    krein_status st = KREIN_OK;
    double low = log(1e-7), high = log(0.3), want = s->o->tol * s->grid.top;
    TRY(krein__atoms_fit(ctx, &s->grid, exp(low), &s->atoms));
    if (!(s->atoms.error <= want)) {
        st = krein__fail(ctx, KREIN_ESPEC,
                         "%s: tol = %g cannot be met on [0, %.3g], the least error is %.2g of the "
                         "largest kernel value; give a larger tol",
                         s->o->name, s->o->tol, s->spread.R, s->atoms.error / s->grid.top);
        goto done;
    }
    for (int step = 0; step < 12; step++) {
        double mid = (low + high) / 2;
        TRY(krein__atoms_fit(ctx, &s->grid, exp(mid), &s->atoms));
        if (s->atoms.error <= want)
            low = mid;
        else
            high = mid;
    }
    TRY(krein__atoms_fit(ctx, &s->grid, exp(low), &s->atoms));
    try_couplings(s, &s->grid.omega, &s->atoms);
done:
    return st;
}

static krein_status try_atoms(search *s) {
    static const double weight[] = {1e-2, 2e-3, 5e-4, 1e-4};
    krein_ctx *ctx = s->map->ctx;
    krein_status st = KREIN_OK;
    bool none = s->error == INFINITY;
    TRY(krein__atom_grid(ctx, s->map->kernel, s->spread.unit, s->map->d, s->spread.R, &s->grid));
    if (!isnan(s->o->tol)) {
        TRY(atoms_within(s));
        goto done;
    }
    for (int64_t i = 0; i < KREIN__COUNT(weight); i++) {
        TRY(krein__atoms_fit(ctx, &s->grid, weight[i], &s->atoms));
        try_couplings(s, &s->grid.omega, &s->atoms);
    }
    if (none && s->error == INFINITY) { /* fewer frequencies than atoms */
        TRY(krein__atoms_fit(ctx, &s->grid, weight[0], &s->atoms));
        krein__atoms_merge(&s->grid, s->F, &s->atoms);
        try_couplings(s, &s->grid.omega, &s->atoms);
    }
done:
    return st;
}

static krein_status too_few(const search *s) {
    return krein__fail(s->map->ctx, KREIN_ESPEC,
                       "%s: D = %lld features are too few for this kernel; give a larger D",
                       s->o->name, (long long)s->map->D);
}

/* max |k| on [0, R] */
static double largest(const search *s) {
    double top = 0;
    for (int i = 0; i <= 64; i++)
        top = fmax(
            top, fabs(krein__kernel_profile(s->map->kernel, s->spread.unit, s->spread.R * i / 64)));
    return top;
}

/* What makes the features useless where they are expected to be worse than none. */
static krein_status useless(const search *s, const krein_decomposition *found, double top) {
    const double *fact = s->fact;
    krein_ctx *ctx = s->map->ctx;
    if (found->mass == KREIN_MASS_INFINITE)
        return krein__fail(ctx, KREIN_ESPEC,
                           "%s: the kernel is cut off at the distance %.3g like (%.3g - z)^%g, and "
                           "its spectral measure has infinite mass on %lld columns, for which the "
                           "power must be above %g; with D = %lld the expected relative error is "
                           "%.2g, that of no features 1; try nystrom",
                           s->o->name, found->edge, found->edge, found->power, (long long)s->map->d,
                           ((double)s->map->d - 1) / 2, (long long)s->map->D,
                           fact[KREIN_FACT_EXPECTED]);
    if (fact[KREIN_FACT_ERROR] >= top / 4)
        return krein__fail(ctx, KREIN_ESPEC,
                           "%s: atoms are off by %.2g for kernel values up to %.2g: the kernel is "
                           "too narrow for distances up to %.3g; try nystrom",
                           s->o->name, fact[KREIN_FACT_ERROR], top, s->spread.R);
    return krein__fail(ctx, KREIN_ESPEC,
                       "%s: the spectral measure has the mass %.3g + %.3g for kernel values up to "
                       "%.3g, the expected relative error with D = %lld is %.2g; give a larger D, "
                       "or try tensorsketch, maclaurin or nystrom",
                       s->o->name, fact[KREIN_FACT_POSITIVE], fact[KREIN_FACT_NEGATIVE], top,
                       (long long)s->map->D, fact[KREIN_FACT_EXPECTED]);
}

/* A mass far above |k| means that large features cancel: say so rather than give noise. A positive
 * definite kernel that is narrow has an expected error above 1 as well, and its diagonal is right.
 */
static krein_status useful(const search *s) {
    const double *fact = s->fact;
    double top = largest(s), mass = fact[KREIN_FACT_POSITIVE] + fact[KREIN_FACT_NEGATIVE];
    krein_decomposition found = krein__decomposition(s->map->kernel, s->map->d, s->spread.R);
    bool doubtful =
        mass > 4 * top || found.mass == KREIN_MASS_INFINITE || fact[KREIN_FACT_ERROR] >= top / 4;
    if (doubtful && fact[KREIN_FACT_EXPECTED] >= 1) return useless(s, &found, top);
    if (found.mass == KREIN_MASS_INFINITE)
        krein__log(s->map->ctx, KREIN_LOG_WARNING,
                   "%s: the spectral measure of the kernel has infinite mass on %lld columns; the "
                   "features are off by up to %.2g for kernel values up to %.2g, also with more of "
                   "them; for less use `map=nystrom`",
                   s->o->name, (long long)s->map->d, fact[KREIN_FACT_ERROR], top);
    return KREIN_OK;
}

static krein_status begin(search *s, krein_map *map, krein_stream *rows, int64_t n,
                          const krein_signed_options *o) {
    s->map = map;
    s->o = o;
    s->F = map->D / 2;
    s->n = n;
    s->error = INFINITY;
    krein_status st = krein__spread(map, rows, n, &s->spread);
    s->k0 = krein__kernel_profile(map->kernel, s->spread.unit, 0);
    for (int q = 0; q < KREIN_DISTANCES; q++) {
        s->k[q] = krein__kernel_profile(map->kernel, s->spread.unit, s->spread.z[q]);
        s->mean += s->k[q] * s->k[q] / KREIN_DISTANCES;
    }
    return st;
}

static void end(krein_ctx *ctx, search *s) {
    if (!s) return;
    krein__law_clear(ctx, &s->law);
    krein__atom_grid_clear(ctx, &s->grid);
    krein__omega_clear(ctx, &s->omega);
    krein__free(ctx, s);
}

krein_status krein__signed_fit(krein_map *map, krein_stream *rows, int64_t n,
                               const krein_signed_options *o) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    search *s = NULL;
    ZNEW(s, 1);
    TRY(begin(s, map, rows, n, o));
    if (o->route != KREIN_ROUTE_ATOMS) TRY(try_law(s));
    if (o->route != KREIN_ROUTE_DENSITY) TRY(try_atoms(s));
    TRY(s->error == INFINITY ? too_few(s) : useful(s));
    TRY(krein__signed_draw(map, &s->best, s->fact));
done:
    end(ctx, s);
    return st;
}

/* Mean squared bias of a law at the distances of the data. */
static double bias_of(const search *s) {
    enum { QUANTILES = 100 };
    double sum = 0;
    for (int q = 0; q < KREIN_DISTANCES; q++) {
        double off = -s->k[q];
        for (int part = 0; part < 2; part++)
            for (int i = 0; i < QUANTILES && s->law.mass[part] > 0; i++) {
                double r = krein__law_quantile(&s->law, part, (i + 0.5) / QUANTILES);
                off += (part ? -1 : 1) * s->law.mass[part] / QUANTILES *
                       krein__omega_at(&s->omega, r * s->spread.z[q]);
            }
        sum += off * off / KREIN_DISTANCES;
    }
    return sum;
}

static krein_status no_mixture(const search *s, double error) {
    return krein__fail(s->map->ctx, KREIN_ESPEC,
                       "%s: no %smixture of Gaussians comes near this kernel on [0, %.3g]: off by "
                       "%.2g for kernel values up to %.2g; try gorf or nystrom",
                       s->o->name, s->o->clip ? "positive " : "", s->spread.R, error, largest(s));
}

krein_status krein__signed_mixture(krein_map *map, krein_stream *rows, int64_t n,
                                   const krein_signed_options *o) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    search *s = NULL;
    krein_mixture mixture = {0};
    ZNEW(s, 1);
    TRY(begin(s, map, rows, n, o));
    TRY(krein__mixture_fit(ctx, map->kernel, s->spread.unit, map->d, s->spread.R, o->clip,
                           &mixture));
    s->law = mixture.law;
    if (!(mixture.error < 0.5 * largest(s)) || !(s->law.mass[0] + s->law.mass[1] > 0)) {
        st = no_mixture(s, mixture.error);
        goto done;
    }
    if (!krein__layout_law(map->d, s->F, &s->law, KREIN_COUPLING_NONE, &s->trial)) {
        st = too_few(s);
        goto done;
    }
    TRY(krein__omega_table(ctx, map->d, 0, &s->omega)); /* radii go far; the function itself */
    compare(s, &s->omega, NULL);
    s->fact[KREIN_FACT_ERROR] = mixture.error;
    s->fact[KREIN_FACT_EXPECTED] =
        relative(s, s->error + bias_of(s), s->law.mass[0] - s->law.mass[1] - s->k0);
    TRY(useful(s));
    TRY(krein__signed_draw(map, &s->best, s->fact));
done:
    end(ctx, s);
    return st;
}
