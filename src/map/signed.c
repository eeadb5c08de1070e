/* signed.c -- frequencies from signed radial measures (luo2022, corrected)
 *     k(x, y) ~= sum_i c_i cos w_i'(x - y),   w_i = r_i u_i,   z = sqrt|c_i| [cos w_i'x, sin w_i'x]
 * with the sign of c_i as the signature.
 *
 * Numbers of frequencies are in proportion to the masses, never random: the random number of
 * positive and negative draws would dominate the error. With O = Omega_d and two frequencies of
 * radii r, s
 *     on one direction               cov = (O(|r - s| z) + O((r + s) z)) / 2 - O(r z) O(s z)
 *     on two of one orthogonal block cov = O(sqrt(r^2 + s^2) z) - O(r z) O(s z)
 *     on others                      cov = 0.
 * The paper makes directions of positive and negative frequencies orthogonal to each other, which
 * raises the variance, as their product enters with a minus sign. Here they share directions
 * (nested, full) or have blocks of their own (separate): whichever has the smallest variance on
 * the distances of the data, by the formula above.
 */
#include "map/signed.h"

#include "map/draw.h"
#include "num/blas.h"

#include <math.h>
#include <string.h>

/* ---- plans --------------------------------------------------------------- */

/* n_i >= 1 in proportion to weight, by largest remainders, sum F; false where F < n. */
static bool allocate(int64_t n, const double *weight, int64_t F, int64_t *out) {
    double rest[KREIN_ATOMS_MAX], sum = 0;
    int64_t used = 0;
    if (F < n) return false;
    for (int64_t i = 0; i < n; i++) sum += weight[i];
    for (int64_t i = 0; i < n; i++) { /* one each, the others by weight */
        double share = (double)F * weight[i] / sum;
        out[i] = krein__max(1, (int64_t)share);
        rest[i] = share - (double)out[i];
        used += out[i];
    }
    while (used != F) {
        int64_t best = -1;
        double step = used < F ? 1 : -1;
        for (int64_t i = 0; i < n; i++) {
            if (step < 0 && out[i] == 1) continue;
            if (best < 0 || step * rest[i] > step * rest[best]) best = i;
        }
        if (best < 0) return false; /* never: F >= n */
        out[best] += (int64_t)step;
        rest[best] -= step;
        used += (int64_t)step;
    }
    return true;
}

static void add_list(krein_layout *p, int sequence) {
    p->list[p->nlist].sequence = sequence;
    p->list[p->nlist].first = p->ngroup;
    p->list[p->nlist].groups = p->list[p->nlist].total = 0;
    p->list[p->nlist++].mass = 0;
}

static void add_group(krein_layout *p, double r, double a, double n) {
    p->group[p->ngroup].r = r;
    p->group[p->ngroup].a = a;
    p->group[p->ngroup++].n = n;
    p->list[p->nlist - 1].groups++;
    p->list[p->nlist - 1].mass += a;
}

bool krein__layout_atoms(int64_t d, int64_t F, const krein_atoms *atoms, krein_coupling coupling,
                         krein_layout *out) {
    double weight[KREIN_ATOMS_MAX];
    int64_t count[KREIN_ATOMS_MAX], n = atoms->n;
    bool constant = n > 0 && atoms->r[0] == 0; /* one frequency says all of it */
    memset(out, 0, sizeof *out);
    out->coupling = coupling;
    out->d = d;
    for (int64_t j = constant; j < n; j++)
        weight[j] =
            coupling == KREIN_COUPLING_FULL ? 1 + 1e-9 * fabs(atoms->a[j]) : fabs(atoms->a[j]);
    count[0] = 1;
    if (n == 0 || (n > constant &&
                   !allocate(n - constant, weight + constant, F - constant, count + constant)))
        return false;
    int parts = coupling == KREIN_COUPLING_SEPARATE ? 2 : 1;
    for (int part = 0; part < parts; part++) {
        bool open = false;
        for (int64_t j = 0; j < n; j++) {
            if (parts == 2 && (atoms->a[j] < 0) != part) continue;
            if (parts == 1 || !open) add_list(out, part);
            open = true;
            add_group(out, atoms->r[j], atoms->a[j], (double)count[j]);
            out->list[out->nlist - 1].total += count[j];
        }
    }
    return true;
}

bool krein__layout_law(int64_t d, int64_t F, const krein_law *law, krein_coupling coupling,
                       krein_layout *out) {
    bool negative = law->mass[1] > 1e-9 * law->mass[0], positive = law->mass[0] > 0;
    double weight[2] = {law->mass[0], law->mass[1]};
    int64_t count[2] = {positive ? F : 0, positive ? 0 : F};
    memset(out, 0, sizeof *out);
    out->coupling = coupling;
    out->d = d;
    out->law = law;
    if (coupling == KREIN_COUPLING_FULL) weight[0] = weight[1] = 1;
    if (F < 1 || (positive && negative && !allocate(2, weight, F, count))) return false;
    for (int part = 0; part < 2; part++) {
        if (count[part] == 0) continue;
        add_list(out, coupling == KREIN_COUPLING_SEPARATE ? part : 0);
        for (int g = 0; g < KREIN_GROUPS; g++)
            add_group(out, krein__law_quantile(law, part, (g + 0.5) / KREIN_GROUPS),
                      (part ? -1 : 1) * law->mass[part] / KREIN_GROUPS,
                      (double)count[part] / KREIN_GROUPS);
        out->list[out->nlist - 1].total = count[part];
    }
    return true;
}

/* ---- variance ------------------------------------------------------------ */

/* Ordered pairs of positions of lists of lengths m and n that lie in the same block of d. */
static double block_pairs(int64_t m, int64_t n, int64_t d) {
    int64_t full = krein__min(m, n) / d * d, last = krein__min(m, n) - full;
    return (double)full * (double)d + (double)last * (double)krein__min(krein__max(m, n) - full, d);
}

/* Numbers of pairs of frequencies of groups j and k (of lists a and b) on one direction, and on
 * two of one block. Groups are spread over their list at random: expected numbers. */
static void pairs(const krein_layout *p, int64_t a, int64_t b, int64_t j, int64_t k, double *same,
                  double *block) {
    int64_t m = p->list[a].total, n = p->list[b].total;
    double nj = p->group[j].n, nk = p->group[k].n, M = (double)m, N = (double)n;
    *same = *block = 0;
    if (a == b) {
        *same = j == k ? nj : 0;
        if (m > 1)
            *block = (block_pairs(m, m, p->d) - M) * fmax(nj * (nk - (j == k)), 0) / (M * (M - 1));
    } else if (p->list[a].sequence == p->list[b].sequence) {
        double shared = fmin(M, N);
        *same = shared * nj * nk / (M * N);
        *block = (block_pairs(m, n, p->d) - shared) * nj * nk / (M * N);
    }
}

static double coupled(const krein_layout *p, const krein_omega_table *omega, double z) {
    double value[KREIN_ATOMS_MAX], sum = 0;
    for (int64_t j = 0; j < p->ngroup; j++) value[j] = krein__omega_at(omega, p->group[j].r * z);
    for (int64_t a = 0; a < p->nlist; a++)
        for (int64_t b = 0; b <= a; b++)
            for (int64_t j = p->list[a].first; j < p->list[a].first + p->list[a].groups; j++)
                for (int64_t k = p->list[b].first; k < p->list[b].first + p->list[b].groups; k++) {
                    double same, block, r = p->group[j].r, s = p->group[k].r, cov = 0;
                    pairs(p, a, b, j, k, &same, &block);
                    if (same > 0)
                        cov += same * ((krein__omega_at(omega, (r - s) * z) +
                                        krein__omega_at(omega, (r + s) * z)) /
                                           2 -
                                       value[j] * value[k]);
                    if (block > 0)
                        cov += block * (krein__omega_at(omega, sqrt(r * r + s * s) * z) -
                                        value[j] * value[k]);
                    sum += (a == b ? 1 : 2) * p->group[j].a / p->group[j].n * p->group[k].a /
                           p->group[k].n * cov;
                }
    return sum;
}

/* Per list: mass^2 / n ((1 + E O(2 r z)) / 2 - (E O(r z))^2), E over the radii of the list. */
static double independent(const krein_layout *p, const krein_omega_table *omega, double z) {
    double sum = 0;
    for (int64_t l = 0; l < p->nlist; l++) {
        double once = 0, twice = 0, mass = p->list[l].mass;
        for (int64_t j = p->list[l].first; j < p->list[l].first + p->list[l].groups; j++) {
            double share = p->group[j].a / mass;
            once += share * krein__omega_at(omega, p->group[j].r * z);
            twice += share * krein__omega_at(omega, 2 * p->group[j].r * z);
        }
        sum += mass * mass / (double)p->list[l].total * ((1 + twice) / 2 - once * once);
    }
    return sum;
}

double krein__layout_variance(const krein_layout *p, const krein_omega_table *omega, double z) {
    double v = p->coupling == KREIN_COUPLING_NONE ? independent(p, omega, z) : coupled(p, omega, z);
    return fmax(v, 0);
}

/* ---- drawing ------------------------------------------------------------- */

enum { DIRECTIONS = 1, ORDER = 2, RADII = 4 }; /* roles */

static krein_rng stream(const krein_map *map, int64_t number, uint64_t use) {
    return krein__role((krein_rng){map->seed, KREIN_STREAM_MAP + (uint64_t)number}, use);
}

/* n directions of a sequence: orthonormal in blocks of d, or independent. */
static krein_status directions(krein_map *map, krein_rng g, bool orthogonal, int64_t n, double *u) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    int64_t d = map->d;
    TRY(krein__normal_rows(ctx, g, 0, n, d, u));
    for (int64_t i = 0; orthogonal && i < n; i += d) {
        TRY(krein__haar_rows(ctx, krein__min(d, n - i), d, u + i * d));
        TRY(krein__poll(ctx));
    }
    for (int64_t i = 0; !orthogonal && i < n; i++) {
        double square = 0;
        for (int64_t j = 0; j < d; j++) square += u[i * d + j] * u[i * d + j];
        double factor = square > 0 ? 1 / sqrt(square) : 0;
        for (int64_t j = 0; j < d; j++) u[i * d + j] *= factor;
    }
done:
    return st;
}

/* Radius and coefficient of the frequencies of list l in order of their groups or strata. */
static void radii(const krein_map *map, const krein_layout *p, int64_t l, double *r, double *c) {
    int64_t n = p->list[l].total, at = 0;
    if (!p->law) {
        for (int64_t j = p->list[l].first; j < p->list[l].first + p->list[l].groups; j++)
            for (int64_t i = 0; i < (int64_t)p->group[j].n; i++, at++) {
                r[at] = p->group[j].r;
                c[at] = p->group[j].a / p->group[j].n;
            }
        return;
    }
    krein_rng g = stream(map, l, RADII);
    bool strata = p->coupling != KREIN_COUPLING_NONE;
    for (int64_t i = 0; i < n; i++) {
        double u = krein__rng_uniform(g, (uint64_t)i, 0);
        r[i] = krein__law_quantile(p->law, p->list[l].mass < 0,
                                   strata ? ((double)i + u) / (double)n : u);
        c[i] = p->list[l].mass / (double)n;
    }
}

static krein_status draw_list(krein_map *map, const krein_layout *p, int64_t l, const double *u,
                              double *w, double *c) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    int64_t n = p->list[l].total, d = map->d, *order = NULL;
    double *r = NULL, *coefficient = NULL;
    NEW(order, n);
    NEW(r, n);
    NEW(coefficient, n);
    radii(map, p, l, r, coefficient);
    krein__rng_permute(stream(map, l, ORDER), n, order);
    for (int64_t i = 0; i < n; i++) {
        c[i] = coefficient[order[i]];
        for (int64_t j = 0; j < d; j++) w[i * d + j] = r[order[i]] * u[i * d + j];
    }
done:
    krein__free(ctx, order);
    krein__free(ctx, r);
    krein__free(ctx, coefficient);
    return st;
}

/* Room behind the fourier state for the facts. */
static krein_status extend(krein_map *map, const double *fact) {
    krein_signed *s = krein__resize(map->ctx, map->state, 1, sizeof *s);
    if (!s) return map->ctx->status;
    map->state = s;
    memset(s->fact, 0, sizeof s->fact);
    if (fact) memcpy(s->fact, fact, sizeof s->fact);
    return KREIN_OK;
}

krein_status krein__signed_draw(krein_map *map, const krein_layout *p, const double *fact) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    int64_t d = map->d, F = 0, longest = 0, at = 0, made = -1;
    bool shares = p->coupling != KREIN_COUPLING_NONE;
    double *u = NULL, *w = NULL, *c = NULL;
    for (int64_t l = 0; l < p->nlist; l++) {
        F += p->list[l].total;
        longest = krein__max(longest, p->list[l].total);
    }
    NEW(u, longest * d);
    NEW(w, F * d);
    NEW(c, F);
    for (int64_t l = 0; l < p->nlist; l++) {
        int64_t number = shares ? p->list[l].sequence : l; /* of the sequence of directions */
        if (number != made)
            TRY(directions(map, stream(map, number, DIRECTIONS), shares,
                           shares ? longest : p->list[l].total, u));
        made = number;
        TRY(draw_list(map, p, l, u, w + at * d, c + at));
        at += p->list[l].total;
        TRY(krein__poll(ctx));
    }
    TRY(krein__fourier_weighted(map, F, w, c));
    TRY(extend(map, fact));
done:
    krein__free(ctx, u);
    krein__free(ctx, w);
    krein__free(ctx, c);
    return st;
}

/* ---- the class's functions ----------------------------------------------- */

static bool by_distance(const krein_kernel_class *c) {
    return c->values64 && (c->family == KREIN_FAMILY_RADIAL || c->family == KREIN_FAMILY_DOT);
}

krein_status krein__signed_accepts(krein_ctx *ctx, const krein_kernel *kernel, const char *name) {
    return krein__fourier_accepts(ctx, kernel, name, by_distance,
                                  "radial kernels, or dot-product kernels on rows of length one");
}

int64_t krein__signed_features(const krein_map *map, int64_t n) {
    (void)n;
    return krein__max(2, map->D / 2 * 2);
}

void krein__signed_cost(const krein_map *map, int64_t n, krein_cost *out) {
    int64_t D = krein__signed_features(map, n);
    double d = (double)map->d, F = (double)D / 2;
    krein__fourier_cost_of(map, D, false, KREIN_DRAWN_SINGLY, out);
    /* directions, frequencies, an orthogonal block; radii, coefficients and their order */
    out->bytes += 16 * F * d + 8 * fmin(d, F) * d + 40 * F;
    /* the sample of rows; grids of measures, law and least squares */
    out->bytes += 8 * d * 170 + 3e6;
    out->fit_flops = 100 * F * d + 4 * F * d * fmin(d, F) + 5e7;
}

krein_status krein__signed_io(krein_map *map, krein_archive *a) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    double *fact = NULL;
    TRY(krein__fourier_io(map, a));
    if (krein__archive_reading(a)) {
        TRY(krein__archive_array(a, "signed.facts", KREIN_TYPE_F64, &fact, 8));
        TRY(extend(map, fact));
    } else {
        fact = ((krein_signed *)map->state)->fact;
        st = krein__archive_array(a, "signed.facts", KREIN_TYPE_F64, &fact, 8);
        return st;
    }
done:
    krein__free(ctx, fact);
    return st;
}

/* Whether the decomposition exists follows from the kernel: it is not in the file. */
static krein_fact decomposition(const krein_map *map, double R) {
    static const char *const masses[] = {"finite masses", "finite masses up to R", "infinite mass"};
    krein_mass mass = krein__decomposition(map->kernel, map->d, R).mass;
    return (krein_fact){.name = "decomposition", .text = masses[mass], .value = mass};
}

bool krein__signed_fact(const krein_map *map, int64_t i, krein_fact *out) {
    static const char *const names[] = {"route", "coupling",  "mass+", "mass-",
                                        "atoms", "max error", "R",     "expected error"};
    static const char *const routes[] = {"", "density", "atoms"};
    static const char *const couplings[] = {"none", "nested", "full", "separate"};
    const double *fact = ((const krein_signed *)map->state)->fact;
    if (i == KREIN__COUNT(names)) *out = decomposition(map, fact[KREIN_FACT_REACH]);
    if (i < 0 || i >= KREIN__COUNT(names)) return i == KREIN__COUNT(names);
    double value = fact[i];
    *out = (krein_fact){.name = names[i], .value = value};
    if (i == KREIN_FACT_ROUTE && value >= 0 && value < KREIN__COUNT(routes))
        out->text = routes[(int)value];
    if (i == KREIN_FACT_COUPLING && value >= 0 && value < KREIN__COUNT(couplings))
        out->text = couplings[(int)value];
    return true;
}
