/* posterior.h -- the stage behind a fit of ridge regression that keeps how sure it is. */
#ifndef KREIN_LEARN_POSTERIOR_H
#define KREIN_LEARN_POSTERIOR_H

#include "learn/learn.h"

/* Of the job's model, which has its weights and lambda; the map has its mix. */
krein_status krein__posterior_fit(krein_job *job);
/* Added to what the fit takes. */
void krein__posterior_cost(const krein_map *map, int64_t n, int64_t k, krein_cost *out,
                           int64_t *passes);

#endif
