/* parts.c -- maps side by side.
 *
 * Each part is a whole map with its own spec, kernel, D and seed, and writes its columns of the
 * tile, times sqrt|c_p|. A model file holds each part as it would hold the map alone, under its
 * number. Learners multiply by one matrix for all features, or by none (map.h), so where a part has
 * a mix A_p (R_p x D_p) the whole has
 *     A = diag(A_1, A_2, ...),   A_p = I for a part without one,
 * of R x D doubles. Its columns are ordered by part, not by what they contribute, so blocks are
 * always multiplied by it first (fused_lambda = INFINITY).
 */
#include "map/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void destroy(krein_parts *s) {
    for (int64_t p = 0; p < s->n; p++) krein__map_destroy(s->part[p].map);
    s->n = 0;
}

/* Equal seeds would make equal frequencies in different parts: their errors would add up. A map
 * with parts draws nothing else. */
static uint64_t seed_of(const krein_map *map, int64_t part) {
    krein_rng g = krein__role((krein_rng){map->seed, KREIN_STREAM_MAP}, 256);
    return krein__rng_bits(g, (uint64_t)part, 0);
}

krein_status krein__parts_add_open(const krein_map *map, const char *spec,
                                   const krein_kernel *kernel, double coefficient,
                                   krein_parts *out) {
    krein_part *p = &out->part[out->n];
    krein_status st = krein__map_create(map->ctx, spec, kernel, 0, seed_of(map, out->n), &p->map);
    if (st != KREIN_OK) return st;
    p->map->d = map->d;
    p->map->sparse = map->sparse;
    p->coefficient = coefficient;
    out->n++;
    return KREIN_OK;
}

krein_status krein__parts_add(const krein_map *map, const char *spec, const krein_kernel *kernel,
                              double coefficient, int64_t D, krein_parts *out) {
    if (D < 1)
        return krein__fail(map->ctx, KREIN_ESPEC, "%s: D = %lld features are too few for its parts",
                           map->cls->cls.name, (long long)map->D);
    krein_status st = krein__parts_add_open(map, spec, kernel, coefficient, out);
    if (st == KREIN_OK) krein__map_ask(out->part[out->n - 1].map, D);
    return st;
}

/* ---- before the fit ----------------------------------------------------- */

int krein__parts_traits(const krein_parts *s) {
    int traits = 0;
    for (int64_t p = 0; p < s->n; p++) traits |= krein__map_traits(s->part[p].map);
    return traits & (KREIN_MAP_DATA | KREIN_MAP_MIX | KREIN_MAP_LABELS);
}

/* The parts that the map has, or those it would have, in `room`; false: there is no plan, and fit
 * repeats the message. */
static bool parts_of(const krein_map *map, krein_parts_fn plan, krein_parts *room,
                     const krein_parts **out) {
    *out = map->state ? map->state : room;
    return map->state || plan(map, room) == KREIN_OK;
}

int64_t krein__parts_features(const krein_map *map, int64_t n, krein_parts_fn plan) {
    krein_parts room = {0};
    const krein_parts *s;
    int64_t sum = 0;
    bool planned = parts_of(map, plan, &room, &s);
    for (int64_t p = 0; p < s->n; p++) sum += s->part[p].map->cls->features(s->part[p].map, n);
    destroy(&room);
    return planned ? sum : map->D;
}

void krein__parts_cost(const krein_map *map, int64_t n, krein_parts_fn plan, krein_cost *out) {
    krein_parts room = {0};
    const krein_parts *s;
    double features = 0;
    bool mix = false;
    *out = (krein_cost){.bytes = sizeof room + 8192};
    if (!parts_of(map, plan, &room, &s)) out->bytes = 0;
    for (int64_t p = 0; p < s->n; p++) {
        const krein_map *part = s->part[p].map;
        krein_cost own = {0};
        part->cls->cost(part, n, &own);
        out->bytes += own.bytes + 4096; /* and its specs */
        out->flops += own.flops;
        out->fit_flops += own.fit_flops;
        features += (double)part->cls->features(part, n);
        mix = mix || krein__map_traits(part) & KREIN_MAP_MIX;
    }
    if (mix) { /* the matrix, and blocks times it */
        out->bytes += 8 * features * features;
        out->flops += 2 * features * features;
    }
    out->bytes += (double)map->D; /* signs, once more than the parts hold them */
    destroy(&room);
}

/* ---- fitted ------------------------------------------------------------- */

/* R, D and scratch of the whole; where each part's features begin. */
static void place(krein_map *map, krein_parts *s) {
    map->R = map->D = map->scratch = 0;
    for (int64_t p = 0; p < s->n; p++) {
        const krein_map *part = s->part[p].map;
        s->part[p].first = map->R;
        s->part[p].feature = map->D;
        map->R += part->R;
        map->D += part->D;
        map->scratch = krein__max(map->scratch, part->scratch);
    }
}

/* The block of a part in the mix of the whole; the identity where the part has none. */
static void place_mix(krein_map *map, const krein_part *part, const double *mix) {
    double *to = map->mix + part->first * map->D + part->feature;
    for (int64_t i = 0; i < part->map->R; i++, to += map->D)
        if (mix)
            memcpy(to, mix + i * part->map->D, (size_t)part->map->D * sizeof *to);
        else
            to[i] = 1;
}

static krein_status join_mix(krein_map *map, const krein_parts *s) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    bool mixed = false;
    for (int64_t p = 0; p < s->n; p++) mixed = mixed || s->part[p].map->mix;
    if (!mixed) return KREIN_OK;
    ZNEW(map->mix, map->R * map->D);
    for (int64_t p = 0; p < s->n; p++) place_mix(map, &s->part[p], s->part[p].map->mix);
    map->fused_lambda = INFINITY;
done:
    return st;
}

krein_status krein__parts_remix(krein_map *map) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    const krein_parts *s = map->state;
    ZNEW(map->mix, map->R * map->D);
    for (int64_t p = 0; p < s->n; p++) {
        krein_map part = krein__map_on(ctx, s->part[p].map);
        bool own = !part.mix;
        TRY(krein__map_remix(&part));
        place_mix(map, &s->part[p], part.mix);
        if (own) krein__free(ctx, part.mix);
    }
done:
    if (st != KREIN_OK) {
        krein__free(ctx, map->mix);
        map->mix = NULL;
    }
    return st;
}

static krein_status signs(krein_map *map, const krein_parts *s) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    bool mixed = false;
    for (int64_t p = 0; p < s->n; p++)
        mixed = mixed || s->part[p].coefficient < 0 || s->part[p].map->sign;
    if (!mixed) return KREIN_OK;
    NEW(map->sign, map->D);
    for (int64_t p = 0; p < s->n; p++) {
        const krein_part *part = &s->part[p];
        for (int64_t i = 0; i < part->map->D; i++) {
            int sign = part->map->sign ? part->map->sign[i] : 1;
            map->sign[part->feature + i] = (int8_t)(part->coefficient < 0 ? -sign : sign);
        }
    }
done:
    return st;
}

krein_status krein__parts_fit(krein_map *map, krein_stream *rows, int64_t n, krein_parts_fn plan) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_parts *s = map->state;
    if (!s) {
        ZNEW(s, 1);
        map->state = s;
        TRY(plan(map, s));
    }
    for (int64_t p = 0; p < s->n; p++)
        TRY(krein__map_fit(s->part[p].map, map->d, map->sparse, rows, n));
    place(map, s);
    TRY(join_mix(map, s));
    TRY(signs(map, s));
done:
    return st;
}

void krein__parts_tile(const krein_map *map, const krein_rows *x, float *out, int64_t ld,
                       float *scratch) {
    const krein_parts *s = map->state;
    for (int64_t p = 0; p < s->n; p++) {
        const krein_part *part = &s->part[p];
        float *to = out + part->first, factor = (float)sqrt(fabs(part->coefficient));
        part->map->cls->tile(part->map, x, to, ld, scratch);
        for (int64_t i = 0; i < x->n && factor != 1; i++)
            for (int64_t j = 0; j < part->map->R; j++) to[i * ld + j] *= factor;
    }
}

/* What a file says of a part need not make sense. */
static krein_status check(krein_map *map, krein_parts *s, int64_t R, int64_t D) {
    bool good = true;
    for (int64_t p = 0; p < s->n; p++)
        good = good && s->part[p].map->cls->tile && isfinite(s->part[p].coefficient);
    place(map, s);
    if (good && map->R == R && map->D == D) return KREIN_OK;
    return krein__fail(map->ctx, KREIN_EMODEL, "the model is damaged (its parts are wrong)");
}

krein_status krein__parts_io(krein_map *map, krein_archive *a) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    bool reading = krein__archive_reading(a);
    if (reading) {
        krein_parts *made = NULL;
        ZNEW(made, 1);
        map->state = made;
    }
    krein_parts *s = map->state;
    int64_t n = s->n;
    TRY(krein__archive_int(a, "parts", &n, 1, KREIN_PARTS_MAX));
    for (int64_t p = 0; p < n; p++) {
        krein_part *part = &s->part[p];
        krein__archive_enter(a, p);
        st = krein__archive_double(a, "coefficient", &part->coefficient);
        if (st == KREIN_OK) st = krein__map_io(ctx, a, map->d, map->sparse, &part->map);
        krein__archive_leave(a);
        if (st != KREIN_OK) goto done;
        if (reading) s->n = p + 1;
    }
    if (reading) TRY(check(map, s, map->R, map->D));
done:
    return st;
}

void krein__parts_clear(krein_map *map) { destroy(map->state); }

/* Those of part p are called "p.name", as in a model file. */
bool krein__parts_array(const krein_map *map, int64_t i, krein_named_array *out) {
    const krein_parts *s = map->state;
    for (int64_t p = 0; p < s->n; p++) {
        const krein_map *part = s->part[p].map;
        krein_named_array own;
        for (int64_t j = 0; part->cls->array && part->cls->array(part, j, &own); j++) {
            if (i-- > 0) continue;
            *out = own;
            snprintf(out->name, sizeof out->name, "%lld.%.40s", (long long)p, own.name);
            return true;
        }
    }
    return false;
}

bool krein__parts_fact(const krein_map *map, int64_t i, krein_fact *out) {
    const krein_parts *s = map->state;
    for (int64_t p = 0; p < s->n; p++) {
        const krein_map *part = s->part[p].map;
        int64_t own = 0;
        while (part->cls->fact && part->cls->fact(part, own, out)) {
            if (i == 0) return true;
            own++;
            i--;
        }
    }
    return false;
}
