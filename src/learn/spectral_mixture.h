/* spectral_mixture.h -- a spectral mixture for the features of a map that can be trained. */
#ifndef KREIN_LEARN_SPECTRAL_MIXTURE_H
#define KREIN_LEARN_SPECTRAL_MIXTURE_H

#include "learn/windows.h"

/* Components where nothing says how many. */
enum { KREIN_COMPONENTS = 4 };
/* How many a kernel starts with: its own where it is the kernel spectral, else 0. */
int64_t krein__spectral_mixture_own(const krein_kernel *kernel);

/* Learns a mixture of q components from a sample of the rows that are trained on, those held out
 * are not looked at; the map's frequencies become draws from it. */
krein_status krein__spectral_mixture_learn(krein_job *job, const krein_windows *rows, int64_t q);
void krein__spectral_mixture_cost(int64_t n, int64_t d, int64_t k, int64_t q, krein_cost *out);

#endif
