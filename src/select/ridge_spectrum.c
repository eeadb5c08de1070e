/* ridge_spectrum.c -- targets in the eigenvectors of the kernel matrix. */
#include "select/ridge_spectrum.h"

#include "select/coding.h"

#include <math.h>
#include <string.h>

static void make_path(const krein_view *v, const krein_spectrum *s, double lambda, krein_path *p) {
    double top = s->n > 0 ? fmax(s->value[0], 1e-30) / v->labels->weight : 1;
    p->n = 0;
    if (isnan(lambda))
        krein__path_grid(p, fmin(fmax(top * 1e-11, v->floor), top * 10), top * 10, 4);
    else
        p->lambda[p->n++] = lambda;
}

krein_status krein__ridge_spectrum_begin(const krein_view *v, const krein_spectrum *s, int64_t free,
                                         double lambda, krein_ridge_spectrum *r) {
    krein_ctx *ctx = v->ctx;
    krein_status st = KREIN_OK;
    krein_coding c = {0};
    int64_t m = v->labels->m;
    memset(r, 0, sizeof *r);
    TRY(krein__coding(v, false, false, &c));
    ZNEW(r->q, s->n);
    r->s = (krein_smoother){.n = v->labels->heavy,
                            .k = c.q,
                            .m = s->n,
                            .free = free,
                            .weight = v->labels->weight,
                            .s = s->value,
                            .q = r->q};
    for (int64_t o = 0; o < c.q; o++) {
        double *a = c.a + o * m;
        a[m - 1] = 0; /* centred */
        r->s.square += krein__view_power(v, 0, a, a);
        for (int64_t j = 0; j < s->n; j++) {
            double dot = 0;
            for (int64_t i = 0; i < m; i++) dot += a[i] * s->part[j * m + i];
            r->q[j] += dot * dot;
        }
    }
    make_path(v, s, lambda, &r->path);
done:
    krein__coding_end(v, &c);
    return st;
}

void krein__ridge_spectrum_end(const krein_view *v, krein_ridge_spectrum *r) {
    krein__free(v->ctx, r->q);
    r->q = NULL;
}
