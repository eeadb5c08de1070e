/* subspace.c -- projections on a subspace of the parameters, and its file: see subspace.h
 *
 * P'g is a sum over blocks of fixed length in float32, put together in float64 in their order. */
#include "net/subspace.h"

#include "num/blas.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 4096 };

/* ---- the trained parameters --------------------------------------------- */

/* One run more, or a longer one; the arrays have room where count is NULL. */
static void add_run(krein_trained *t, int64_t first, int64_t length) {
    if (length == 0) return;
    t->m += length;
    if (t->runs > 0 && t->first && t->first[t->runs - 1] + t->length[t->runs - 1] == first) {
        t->length[t->runs - 1] += length;
        return;
    }
    if (t->first) {
        t->first[t->runs] = first;
        t->length[t->runs] = length;
    }
    t->runs++;
}

static void walk(const krein_net *net, krein_trained *t) {
    krein_range range[KREIN_NET_RANGES];
    t->m = t->runs = 0;
    for (int64_t l = 0; l < net->layers; l++) {
        const krein_layer *at = &net->layer[l];
        for (int64_t part = 0; part < at->weights_parts; part++) {
            int64_t ranges = at->cls->ranges(at, part, range);
            for (int64_t q = 0; q < ranges; q++)
                for (int64_t i = 0; i < range[q].rows; i++)
                    add_run(t, range[q].first + i * range[q].ld, range[q].columns);
        }
    }
}

krein_status krein__trained_find(krein_ctx *ctx, const krein_net *net, krein_trained *out) {
    krein_status st = KREIN_OK;
    *out = (krein_trained){.ctx = ctx};
    walk(net, out); /* without arrays: an upper bound of the runs */
    NEW(out->first, krein__max(1, out->runs));
    NEW(out->length, krein__max(1, out->runs));
    walk(net, out);
done:
    if (st != KREIN_OK) krein__trained_clear(out);
    return st;
}

void krein__trained_clear(krein_trained *t) {
    if (!t->ctx) return;
    krein__free(t->ctx, t->first);
    krein__free(t->ctx, t->length);
    *t = (krein_trained){0};
}

void krein__trained_gather(const krein_trained *t, const float *p, float *to) {
    for (int64_t r = 0; r < t->runs; to += t->length[r++])
        memcpy(to, p + t->first[r], (size_t)t->length[r] * sizeof *to);
}

void krein__trained_scatter(const krein_trained *t, const float *from, float *p) {
    for (int64_t r = 0; r < t->runs; from += t->length[r++])
        memcpy(p + t->first[r], from, (size_t)t->length[r] * sizeof *p);
}

void krein__trained_gather64(const krein_trained *t, const float *p, double *to) {
    for (int64_t r = 0; r < t->runs; to += t->length[r++])
        for (int64_t i = 0; i < t->length[r]; i++) to[i] = (double)p[t->first[r] + i];
}

void krein__trained_scatter64(const krein_trained *t, const double *from, float *p) {
    for (int64_t r = 0; r < t->runs; from += t->length[r++])
        for (int64_t i = 0; i < t->length[r]; i++) p[t->first[r] + i] = (float)from[i];
}

/* ---- projections -------------------------------------------------------- */

void krein__subspace_project(const krein_subspace *s, int threads, const float *g, float *a) {
    krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t j = 0; j < s->s; j++) {
        krein__worker_begin();
        const float *row = s->basis + j * s->m;
        double sum = 0;
        for (int64_t i = 0; i < s->m; i += BLOCK)
            sum += (double)krein__sdot(krein__min(BLOCK, s->m - i), row + i, g + i);
        a[j] = (float)sum;
        krein__worker_end(c);
    }
    krein__compute_end(c);
}

void krein__subspace_move(const krein_subspace *s, int threads, const float *c, float *th) {
    krein_compute state = krein__compute_begin();
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < s->m; i += BLOCK) {
        krein__worker_begin();
        int64_t n = krein__min(BLOCK, s->m - i);
        for (int64_t j = 0; j < s->s; j++) krein__saxpy(n, c[j], s->basis + j * s->m + i, th + i);
        krein__worker_end(state);
    }
    krein__compute_end(state);
}

/* ---- the file ----------------------------------------------------------- */

void krein__subspace_clear(krein_subspace *s) {
    if (!s->ctx) return;
    krein__free(s->ctx, s->arch);
    krein__free(s->ctx, s->basis);
    krein__free(s->ctx, s->start);
    krein__free(s->ctx, s->share);
    *s = (krein_subspace){0};
}

static krein_status io(krein_archive *a, krein_subspace *s) {
    krein_status st = KREIN_OK;
    static const int64_t MOST = INT32_MAX;
    bool path = s->share != NULL;
    TRY(krein__archive_text(a, "subspace.arch", &s->arch));
    TRY(krein__archive_int(a, "subspace.h", &s->image.h, 1, MOST));
    TRY(krein__archive_int(a, "subspace.w", &s->image.w, 1, MOST));
    TRY(krein__archive_int(a, "subspace.c", &s->image.c, 1, MOST));
    TRY(krein__archive_int(a, "subspace.scores", &s->scores, 1, MOST));
    TRY(krein__archive_int(a, "subspace.parameters", &s->m, 1, MOST));
    TRY(krein__archive_int(a, "subspace.dimensions", &s->s, 1, s->m));
    TRY(krein__archive_int(a, "subspace.snapshots", &s->snapshots, 0, INT64_MAX / 4));
    TRY(krein__archive_bool(a, "subspace.path", &path));
    TRY(krein__archive_array(a, "subspace.basis", KREIN_TYPE_F32, &s->basis, s->s * s->m));
    TRY(krein__archive_array(a, "subspace.start", KREIN_TYPE_F32, &s->start, s->m));
    if (path) TRY(krein__archive_array(a, "subspace.share", KREIN_TYPE_F64, &s->share, s->s));
done:
    return st;
}

krein_status krein__subspace_save(krein_subspace *s, const char *path) {
    krein_status st = KREIN_OK;
    krein_archive *a = NULL;
    TRY(krein__archive_create(s->ctx, &a));
    TRY(io(a, s));
    TRY(krein__archive_save(a, path));
done:
    krein__archive_destroy(a);
    return st;
}

krein_status krein__subspace_load(krein_ctx *ctx, const char *path, krein_subspace *out) {
    krein_status st = KREIN_OK;
    krein_archive *a = NULL;
    *out = (krein_subspace){.ctx = ctx};
    TRY(krein__archive_load(ctx, path, &a));
    if (!krein__archive_has(a, "subspace.arch")) {
        st = krein__fail(ctx, KREIN_EMODEL,
                         "%s has no subspace of a network's parameters; `krein subspace` makes one",
                         path);
        goto done;
    }
    TRY(io(a, out));
done:
    krein__archive_destroy(a);
    if (st != KREIN_OK) krein__subspace_clear(out);
    return st;
}

krein_status krein__subspace_check(const krein_subspace *s, const char *name,
                                   const krein_net_kind *k, int64_t m) {
    if (strcmp(s->arch, k->arch) == 0 && s->image.h == k->image.h && s->image.w == k->image.w &&
        s->image.c == k->image.c && s->scores == k->scores && s->m == m)
        return KREIN_OK;
    return krein__fail(s->ctx, KREIN_EMODEL,
                       "%s is the subspace of another network: %s for rows of %lldx%lldx%lld and "
                       "%lld scores (%lld parameters); this one is %s for rows of %lldx%lldx%lld "
                       "and %lld scores (%lld parameters)",
                       name, s->arch, (long long)s->image.h, (long long)s->image.w,
                       (long long)s->image.c, (long long)s->scores, (long long)s->m, k->arch,
                       (long long)k->image.h, (long long)k->image.w, (long long)k->image.c,
                       (long long)k->scores, (long long)m);
}
