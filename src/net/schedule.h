/* schedule.h -- how the rate changes while a net is trained. */
#ifndef KREIN_SCHEDULE_H
#define KREIN_SCHEDULE_H

#include <stdint.h>

typedef enum krein_schedule_kind {
    KREIN_SCHEDULE_CONSTANT = 0,
    KREIN_SCHEDULE_STEP = 1, /* a tenth after half of the steps, a hundredth after three quarters */
    KREIN_SCHEDULE_COSINE = 2, /* half a period of cosine, down to zero */
    KREIN_SCHEDULE_WARMUP = 3  /* the same behind a rise over the first twentieth */
} krein_schedule_kind;
#define KREIN_SCHEDULE_WORDS "constant|step|cosine|warmup"

/* The factor of the rate at step t of total, from 0. In (0, 1]. */
double krein__schedule(krein_schedule_kind kind, int64_t t, int64_t total);

#endif
