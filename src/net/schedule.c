/* schedule.c -- factors of the rate. */
#include "net/schedule.h"

#include <math.h>

double krein__schedule(krein_schedule_kind kind, int64_t t, int64_t total) {
    double part = ((double)t + 0.5) / (double)(total > 0 ? total : 1);
    static const double RISE = 0.05;
    switch (kind) {
    case KREIN_SCHEDULE_CONSTANT:
        return 1;
    case KREIN_SCHEDULE_STEP:
        return part < 0.5 ? 1 : part < 0.75 ? 0.1 : 0.01;
    case KREIN_SCHEDULE_COSINE:
        return 0.5 * (1 + cos(M_PI * fmin(part, 1)));
    case KREIN_SCHEDULE_WARMUP:
        break;
    }
    if (part < RISE) return part / RISE;
    return 0.5 * (1 + cos(M_PI * fmin(1, (part - RISE) / (1 - RISE))));
}
