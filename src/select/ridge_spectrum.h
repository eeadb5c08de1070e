/* ridge_spectrum.h -- what gcv and evidence share: targets in the eigenvectors of the kernel
 * matrix. */
#ifndef KREIN_RIDGE_SPECTRUM_H
#define KREIN_RIDGE_SPECTRUM_H

#include "select/select.h"
#include "solve/smoother.h"

typedef struct krein_ridge_spectrum {
    krein_smoother s; /* targets centred, codes 1 and -1 for classes */
    krein_path path;  /* the lambda that is given, or those that the spectrum resolves */
    double *q;        /* of s */
} krein_ridge_spectrum;

/* free: 1 where the spectrum is that of HKH, for an intercept. lambda: NaN: a path. */
krein_status krein__ridge_spectrum_begin(const krein_view *v, const krein_spectrum *s, int64_t free,
                                         double lambda, krein_ridge_spectrum *out);
void krein__ridge_spectrum_end(const krein_view *v, krein_ridge_spectrum *r);

#endif
