/* kpca.h -- kernel principal components. */
#ifndef KREIN_KPCA_H
#define KREIN_KPCA_H

#include "learn/learn.h"

/* Makes the job's model, whose encoding is learned and whose map is fitted, one that gives the
 * first components of a row, largest variance first. KREIN_EDATA where there are fewer. negative:
 * the part of the spectrum's mass that is negative (0 for a positive kernel). */
krein_status krein__kpca(krein_job *job, int64_t components, double *negative);
/* Bytes that this holds, beside the map and the model. */
double krein__kpca_bytes(const krein_map *map, int64_t n, int64_t components);

#endif
