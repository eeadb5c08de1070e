/* trail.c -- snapshots of the parameters and their principal components             (li2022)
 *
 *     C = snapshots - their mean (k x m),  G = C C' = V diag(e) V',  P = C'V_s diag(e_s)^(-1/2)
 *
 * the first s of them, by the small matrix G (k x k); shares e_i / trace G. (The thesis divides the
 * sum of the k snapshots by s instead of k.) Snapshots are float32, in memory or, where they do not
 * fit there, in a temporary file; C is read in panels of a few thousand columns, G and the products
 * are float64 and do not depend on where the snapshots are.
 *
 * Components whose eigenvalue is no more than the rounding errors of the snapshots are left out. */
#include "net/trail.h"

#include "file/bytes.h"
#include "num/blas.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

enum { PANEL = 4096 };

krein_status krein__trail_begin(krein_ctx *ctx, const krein_net *net, int64_t every, double most,
                                krein_trail *t) {
    krein_status st = KREIN_OK;
    *t = (krein_trail){.ctx = ctx, .every = every, .file = -1, .most = most};
    if (most <= 0) t->most = 0.25 * fmax(0, (double)ctx->budget - (double)ctx->held);
    TRY(krein__trained_find(ctx, net, &t->trained));
    NEW(t->row, krein__max(1, t->trained.m));
done:
    if (st != KREIN_OK) krein__trail_end(t);
    return st;
}

void krein__trail_end(krein_trail *t) {
    if (!t->ctx) return;
    krein__trained_clear(&t->trained);
    krein__free(t->ctx, t->kept);
    krein__free(t->ctx, t->start);
    krein__free(t->ctx, t->row);
    if (t->file >= 0) close(t->file);
    *t = (krein_trail){0};
}

/* ---- recording ---------------------------------------------------------- */

static krein_status broken(krein_trail *t, const char *what, int error) {
    return krein__fail(t->ctx, KREIN_EIO,
                       "snapshots of the parameters: the temporary file cannot be %s: %s; name a "
                       "folder with more room in TMPDIR, or take fewer snapshots",
                       what, strerror(error));
}

/* Snapshots behind those in memory go to the file. */
static krein_status put(krein_trail *t) {
    krein_status st = KREIN_OK;
    int64_t m = t->trained.m;
    size_t bytes = (size_t)m * sizeof *t->row;
    if (t->n < t->room) {
        memcpy(t->kept + t->n * m, t->row, bytes);
        return KREIN_OK;
    }
    if (t->file < 0) TRY(krein__temporary_file(t->ctx, "snapshots of the parameters", &t->file));
    off_t at = (off_t)(t->n - t->room) * (off_t)bytes;
    for (size_t done = 0; done < bytes;) {
        ssize_t k = pwrite(t->file, (const char *)t->row + done, bytes - done, at + (off_t)done);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return broken(t, "written", k < 0 ? errno : ENOSPC);
        done += (size_t)k;
    }
done:
    return st;
}

/* More room in memory: twice as much, as long as that is allowed. */
static krein_status grow(krein_trail *t) {
    int64_t m = t->trained.m, more = krein__max(16, 2 * t->room);
    more = krein__min(more, (int64_t)(t->most / (4 * (double)m)));
    if (t->n < t->room || t->file >= 0 || more <= t->room) return KREIN_OK;
    float *bigger = krein__resize(t->ctx, t->kept, more * m, sizeof *bigger);
    if (!bigger) { /* the file takes the rest */
        t->ctx->message[0] = 0;
        t->ctx->status = KREIN_OK;
        t->most = 0;
        return KREIN_OK;
    }
    t->kept = bigger;
    t->room = more;
    return KREIN_OK;
}

krein_status krein__trail_note(krein_trail *t, int64_t step, const float *p) {
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    if (step % t->every != 0 || (t->last > 0 && step > t->last)) return KREIN_OK;
    krein__trained_gather(&t->trained, p, t->row);
    for (int64_t i = 0; i < t->trained.m; i++)
        if (!isfinite(t->row[i])) return KREIN_OK; /* the training says so itself */
    if (step == 0 && !t->start) {
        NEW(t->start, t->trained.m);
        memcpy(t->start, t->row, (size_t)t->trained.m * sizeof *t->row);
    }
    TRY(grow(t));
    TRY(put(t));
    t->n++;
done:
    return st;
}

/* ---- components --------------------------------------------------------- */

/* Columns first .. first + w - 1 of C, less their means, to out (n x w). */
static krein_status panel(krein_trail *t, int64_t first, int64_t w, float *buffer, double *out) {
    int64_t m = t->trained.m;
    for (int64_t i = 0; i < t->n; i++) {
        const float *row = i < t->room ? t->kept + i * m + first : buffer;
        off_t at = ((off_t)(i - t->room) * (off_t)m + (off_t)first) * (off_t)sizeof *row;
        for (size_t done = 0, bytes = (size_t)w * sizeof *row; i >= t->room && done < bytes;) {
            ssize_t k = pread(t->file, (char *)buffer + done, bytes - done, at + (off_t)done);
            if (k < 0 && errno == EINTR) continue;
            if (k <= 0) return broken(t, "read", k < 0 ? errno : EIO);
            done += (size_t)k;
        }
        for (int64_t j = 0; j < w; j++) out[i * w + j] = (double)row[j];
    }
    for (int64_t j = 0; j < w; j++) {
        double sum = 0;
        for (int64_t i = 0; i < t->n; i++) sum += out[i * w + j];
        for (int64_t i = 0; i < t->n; i++) out[i * w + j] -= sum / (double)t->n;
    }
    return KREIN_OK;
}

/* G, both triangles, and the sum of squares of all snapshots. */
static krein_status gram(krein_trail *t, float *buffer, double *C, double *G) {
    krein_status st = KREIN_OK;
    int64_t n = t->n, m = t->trained.m;
    memset(G, 0, (size_t)(n * n) * sizeof *G);
    for (int64_t first = 0; first < m; first += PANEL) {
        int64_t w = krein__min(PANEL, m - first);
        TRY(krein__poll(t->ctx));
        TRY(panel(t, first, w, buffer, C));
        krein__pgemm(t->ctx, false, true, n, n, w, 1, C, w, C, w, 1, G, n);
        krein__progress(t->ctx, "components of the path", (double)(first + w), 2 * (double)m);
    }
done:
    return st;
}

/* Rows of the basis: C'v / sqrt(e). */
static krein_status project(krein_trail *t, float *buffer, double *C, const double *V,
                            const double *e, double *part, krein_subspace *out) {
    krein_status st = KREIN_OK;
    int64_t n = t->n, m = t->trained.m;
    for (int64_t first = 0; first < m; first += PANEL) {
        int64_t w = krein__min(PANEL, m - first);
        TRY(krein__poll(t->ctx));
        TRY(panel(t, first, w, buffer, C));
        krein__pgemm(t->ctx, false, false, out->s, w, n, 1, V, n, C, w, 0, part, w);
        for (int64_t j = 0; j < out->s; j++)
            for (int64_t i = 0; i < w; i++)
                out->basis[j * m + first + i] = (float)(part[j * w + i] / sqrt(e[j]));
        krein__progress(t->ctx, "components of the path", (double)(m + first + w), 2 * (double)m);
    }
done:
    return st;
}

krein_status krein__trail_components(krein_trail *t, const krein_net_kind *kind, int64_t s,
                                     krein_subspace *out) {
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    int64_t n = t->n, m = t->trained.m, w = krein__min(PANEL, m);
    float *buffer = NULL;
    double *C = NULL, *G = NULL, *e = NULL, *V = NULL, *part = NULL, total = 0;
    *out = (krein_subspace){.ctx = ctx, .image = kind->image, .scores = kind->scores, .m = m};
    if (n < 2) {
        st = krein__fail(ctx, KREIN_EDATA,
                         "the path of the training has %lld snapshot%s, and components need two or "
                         "more: train longer, or take snapshots more often",
                         (long long)n, n == 1 ? "" : "s");
        goto done;
    }
    NEW(buffer, w);
    NEW(C, n * w);
    NEW(G, n * n);
    NEW(e, n);
    TRY(gram(t, buffer, C, G));
    for (int64_t i = 0; i < n; i++) total += G[i * n + i];
    TRY(krein__eigen(ctx, n, G, n, e)); /* ascending */
    double least = fmax(total, 1e-300) * 1e-12;
    s = krein__min(krein__min(s, n - 1), m);
    while (s > 0 && !(e[n - s] > least)) s--;
    if (s == 0) {
        st = krein__fail(
            ctx, KREIN_ENUMERIC,
            "the parameters did not move in the training: it has no path; give a larger rate");
        goto done;
    }
    NEW(V, s * n);
    NEW(part, s * w);
    NEW(out->share, s);
    for (int64_t j = 0; j < s; j++) {
        memcpy(V + j * n, G + (n - 1 - j) * n, (size_t)n * sizeof *V);
        out->share[j] = e[n - 1 - j] / total;
    }
    for (int64_t j = 0; j < n / 2; j++) {
        double other = e[j];
        e[j] = e[n - 1 - j];
        e[n - 1 - j] = other;
    }
    out->s = s;
    out->snapshots = n;
    DUP(out->arch, kind->arch);
    NEW(out->basis, s * m);
    ZNEW(out->start, m);
    if (t->start) memcpy(out->start, t->start, (size_t)m * sizeof *out->start);
    TRY(project(t, buffer, C, V, e, part, out));
done:
    krein__free(ctx, buffer);
    krein__free(ctx, C);
    krein__free(ctx, G);
    krein__free(ctx, e);
    krein__free(ctx, V);
    krein__free(ctx, part);
    if (st != KREIN_OK) krein__subspace_clear(out);
    return st;
}
