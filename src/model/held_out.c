/* held_out.c -- the values of lambda that a learner compared, kept with the model for people. */
#include "model/model.h"

#include <math.h>
#include <string.h>

void krein__held_out_add(krein_held_out *p, double lambda, double error) {
    if (p->n == KREIN_HELD_OUT_MAX || !isfinite(lambda) || !isfinite(error)) return;
    int64_t at = p->n++;
    for (; at > 0 && p->lambda[at - 1] > lambda; at--) {
        p->lambda[at] = p->lambda[at - 1];
        p->error[at] = p->error[at - 1];
    }
    p->lambda[at] = lambda;
    p->error[at] = error;
}

static krein_status values_io(krein_archive *a, krein_ctx *ctx, const char *name, double *values,
                              int64_t n) {
    double *at = values;
    krein_status st = krein__archive_array(a, name, KREIN_TYPE_F64, &at, n);
    if (st != KREIN_OK || !krein__archive_reading(a)) return st;
    memcpy(values, at, (size_t)n * sizeof *values);
    krein__free(ctx, at);
    return st;
}

krein_status krein__held_out_io(krein_archive *a, krein_ctx *ctx, krein_held_out *p) {
    krein_status st = KREIN_OK;
    if (krein__archive_reading(a) ? !krein__archive_has(a, "path") : p->n == 0) return KREIN_OK;
    TRY(krein__archive_int(a, "path", &p->n, 1, KREIN_HELD_OUT_MAX));
    TRY(values_io(a, ctx, "path.lambda", p->lambda, p->n));
    TRY(values_io(a, ctx, "path.error", p->error, p->n));
    for (int64_t l = 0; l < p->n; l++)
        if (!(p->lambda[l] >= (l ? p->lambda[l - 1] : 0)) || !(p->error[l] >= 0)) {
            st = krein__fail(ctx, KREIN_EMODEL, "the model is damaged (its values of lambda)");
            goto done;
        }
done:
    return st;
}
