/* joint.c -- an `auto` map whose parts are given: one for each kernel of a list.
 *     k = sum_m c_m k_m,   z = (sqrt(c_m) z_m)_m,   z_m by a map of k_m alone
 *
 * SHARES. D is divided in proportion to the shares. Maps that make as many features as there are
 * (explicit) take them from D first, and the others divide what they leave. linear without a spec
 * of its own takes more than its share as long as the others keep half of theirs, and is sketched
 * on wider rows, as in auto.c. Maps whose spec has a D are outside of all this. Two features for
 * each term of a kernel are the least that every map can make, and no kernel has less.
 */
#include "map/joint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct plan {
    const krein_joint *joint;
    krein_map *map; /* the whole */
    krein_parts *parts;
    bool *open;        /* n: its D is not settled yet */
    double left, mass; /* of D, and the sum of the shares, for these */
} plan;

static double share_of(const krein_joint *j, int64_t m) { return j->share ? j->share[m] : 1; }

/* Of what is left. Where the others' shares were far larger, taking them off leaves rounding: the
 * mass is not below the share itself. */
static double fraction(const plan *p, int64_t m) {
    double share = share_of(p->joint, m);
    return share / fmax(p->mass, share);
}

static int64_t portion(const plan *p, int64_t m) {
    int64_t least = 2 * krein__kernel_term_count(p->joint->kernel[m]);
    return krein__max(least, (int64_t)(p->left * fraction(p, m)));
}

static krein_status check(krein_ctx *ctx, const krein_joint *j, int64_t D) {
    if (j->n < 1 || j->n > KREIN_PARTS_MAX)
        return krein__fail(ctx, KREIN_EARG, "%lld kernels: a joint map takes 1 to %d",
                           (long long)j->n, KREIN_PARTS_MAX);
    if (D < 1)
        return krein__fail(ctx, KREIN_EARG, "%lld features are too few: at least one",
                           (long long)D);
    for (int64_t m = 0; m < j->n; m++) {
        if (!(j->coefficient[m] > 0 && isfinite(j->coefficient[m])))
            return krein__fail(ctx, KREIN_EARG,
                               "kernel %lld of %lld: its factor must be positive and finite",
                               (long long)m + 1, (long long)j->n);
        if (!(share_of(j, m) > 0 && isfinite(share_of(j, m))))
            return krein__fail(ctx, KREIN_EARG,
                               "kernel %lld of %lld: its share of the features must be positive",
                               (long long)m + 1, (long long)j->n);
    }
    return KREIN_OK;
}

/* Says which of the kernels a message is about. */
static krein_status which(krein_ctx *ctx, krein_status st, const krein_joint *j, int64_t m) {
    if (st != KREIN_ESPEC && st != KREIN_EARG) return st;
    char message[KREIN__MESSAGE];
    memcpy(message, ctx->message, sizeof message); /* printing may fail */
    char *text = krein__kernel_text(ctx, j->kernel[m]);
    if (!text) return ctx->status;
    memcpy(ctx->message, message, sizeof message);
    st = krein__prefix(ctx, st, "kernel %lld of %lld, %.120s: ", (long long)m + 1, (long long)j->n,
                       text);
    krein__free(ctx, text);
    return st;
}

static const char *spec_of(const krein_joint *j, int64_t m) {
    return j->spec && j->spec[m] ? j->spec[m] : NULL;
}

/* The m-th part, without a D unless its spec has one. */
static krein_status add(plan *p, int64_t m, const char *spec) {
    krein_ctx *ctx = p->map->ctx;
    const krein_joint *j = p->joint;
    krein_status st =
        krein__parts_add_open(p->map, spec, j->kernel[m], j->coefficient[m], p->parts);
    if (st == KREIN_OK && krein__map_traits(p->parts->part[m].map) & KREIN_MAP_DUAL)
        st = krein__fail(ctx, KREIN_ESPEC,
                         "the %s map has no features of its own beside others; try `map=nystrom`",
                         p->parts->part[m].map->cls->cls.name);
    return which(ctx, st, j, m);
}

static krein_status replace(plan *p, int64_t m, const char *spec) {
    krein_ctx *ctx = p->map->ctx;
    krein_map *other = NULL, *old = p->parts->part[m].map;
    krein_status st = krein__map_create(ctx, spec, old->kernel, 0, old->seed, &other);
    if (st != KREIN_OK) return which(ctx, st, p->joint, m);
    other->d = old->d;
    other->sparse = old->sparse;
    p->parts->part[m].map = other;
    krein__map_destroy(old);
    return KREIN_OK;
}

static bool has_D(const krein_map *part) { return krein__option_index(&part->cls->cls, "D") >= 0; }

/* The default map on its own share. */
static krein_status add_all(plan *p) {
    krein_status st = KREIN_OK;
    const krein_joint *j = p->joint;
    for (int64_t m = 0; m < j->n; m++) {
        const char *spec = spec_of(j, m);
        if (!spec) spec = krein__map_default(j->kernel[m], p->map->d, portion(p, m));
        TRY(add(p, m, spec));
        p->open[m] = p->parts->part[m].map->D == 0;
    }
    for (int64_t m = 0; m < j->n; m++)
        if (!p->open[m]) p->mass -= share_of(j, m);
done:
    return st;
}

/* Rows wider than the share of linear. */
static bool is_wide(const plan *p, int64_t m) {
    return !spec_of(p->joint, m) && krein__is_linear(p->joint->kernel[m]) &&
           p->map->d > portion(p, m);
}

static void take(plan *p, int64_t m, double features) {
    p->left -= features;
    p->mass -= share_of(p->joint, m);
    p->open[m] = false;
}

/* How many features an exact map makes. It needs memory for that, and does not say where there is
 * none. */
static krein_status count(const plan *p, int64_t m, double *features) {
    krein_ctx *ctx = p->map->ctx;
    const krein_map *part = p->parts->part[m].map;
    ctx->status = KREIN_OK;
    *features = (double)part->cls->features(part, 0);
    return ctx->status == KREIN_EMEMORY ? KREIN_EMEMORY : KREIN_OK;
}

/* Parts that make as many features as there are: those that fit into their share, or the wide
 * ones. */
static krein_status settle_exact(plan *p, bool wide) {
    krein_status st = KREIN_OK;
    const plan before = *p; /* portions do not depend on who takes first */
    for (int64_t m = 0; m < p->joint->n; m++) {
        double features;
        if (!p->open[m] || has_D(p->parts->part[m].map) || is_wide(&before, m) != wide) continue;
        TRY(count(p, m, &features));
        double others = p->left * (1 - fraction(p, m));
        if (wide && features > p->left - others / 2)
            TRY(replace(p, m, krein__map_tensorsketch.cls.name));
        else
            take(p, m, features);
    }
done:
    return st;
}

static void settle_rest(plan *p) {
    for (int64_t m = 0; m < p->joint->n; m++)
        if (p->open[m]) krein__map_ask(p->parts->part[m].map, portion(p, m));
}

krein_status krein__joint_create(krein_ctx *ctx, const krein_joint *joint, int64_t D, int64_t d,
                                 bool sparse, uint64_t seed, krein_map **out) {
    krein_status st = KREIN_OK;
    krein_kernel *sum = NULL;
    krein_map *map = NULL;
    plan p = {.joint = joint, .left = (double)D};
    *out = NULL;
    TRY(check(ctx, joint, D));
    TRY(krein__kernel_weighted_sum(ctx, joint->kernel, joint->coefficient, joint->n, &sum));
    TRY(krein__map_create(ctx, "auto", sum, D, seed, &map));
    map->d = d;
    map->sparse = sparse;
    ZNEW(p.parts, 1);
    map->state = p.parts;
    p.map = map;
    NEW(p.open, joint->n);
    for (int64_t m = 0; m < joint->n; m++) p.mass += share_of(joint, m);
    TRY(add_all(&p));
    TRY(settle_exact(&p, false));
    TRY(settle_exact(&p, true));
    settle_rest(&p);
    *out = map;
    map = NULL;
done:
    krein__free(ctx, p.open);
    krein__kernel_destroy(ctx, sum);
    krein__map_destroy(map);
    return st;
}

void krein__joint_first(const krein_map *map, int64_t *first) {
    const krein_parts *s = map->state;
    for (int64_t p = 0; p < s->n; p++) first[p] = s->part[p].feature;
    first[s->n] = map->D;
}

static bool all_default(const krein_parts *s) {
    for (int64_t p = 0; p < s->n; p++) {
        const krein_map *part = s->part[p].map;
        if (part->cls != krein__map_default_class(part->kernel, part->d, part->D)) return false;
    }
    return true;
}

krein_status krein__joint_text(const krein_map *map, char **out) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    const krein_parts *s = map->state;
    char *all = NULL, *text = NULL;
    size_t used = 0;
    *out = NULL;
    if (map->cls->io != krein__parts_io || all_default(s)) return KREIN_OK;
    for (int64_t p = 0; p < s->n; p++) {
        text = krein__map_text(s->part[p].map);
        size_t length = text ? strlen(text) : 0;
        char *longer = text ? krein__resize(ctx, all, (int64_t)(used + length + 3), 1) : NULL;
        if (!longer) {
            st = ctx->status;
            goto done;
        }
        all = longer;
        used += (size_t)snprintf(all + used, length + 3, "%s%s", p ? "; " : "", text);
        krein__free(ctx, text);
        text = NULL;
    }
    *out = all;
    all = NULL;
done:
    krein__free(ctx, text);
    krein__free(ctx, all);
    return st;
}
