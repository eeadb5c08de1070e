/* ridge_spectrum.h -- what gcv and evidence share: targets in the eigenvectors of the kernel
 * matrix. */
#ifndef KREIN_RIDGE_SPECTRUM_H
#define KREIN_RIDGE_SPECTRUM_H

#include "select/select.h"
#include "solve/smoother.h"

/* Targets centred, codes 1 and -1 for classes. q is owned by the caller. free: 1 where the spectrum
 * is that of HKH, for an intercept. */
krein_status krein__ridge_spectrum(const krein_view *v, const krein_spectrum *s, int64_t free,
                                   double **q, krein_smoother *out);
/* The lambda that is given, or those of a path that the spectrum resolves. */
void krein__ridge_path(const krein_view *v, const krein_spectrum *s, double lambda, krein_path *p);

#endif
