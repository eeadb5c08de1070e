/* state.h -- few-shot training in a file: results that are there, and what is being learned. */
#ifndef KREIN_FEWSHOT_STATE_H
#define KREIN_FEWSHOT_STATE_H

#include "fewshot/fewshot.h"

/* Where the learning over tasks stands between two steps. */
typedef struct krein_outer_kept {
    int64_t size, step, seen;
    double loss;     /* sum over the steps since the last look, `seen` of them */
    double accuracy; /* of the best */
    double *x, *best;
    float *s, *r;
    krein_learned *learned; /* looks so far; `most` have room */
    int64_t most;
} krein_outer_kept;

/* Reads the file that the options name, if it is there; that of another job is refused. *out is
 * NULL where none is named. */
krein_status krein__state_open(krein_fewshot_run *f, krein_fewshot_report *r,
                               krein_fewshot_state **out);
void krein__state_close(krein_fewshot_state *s);
/* The other functions take NULL. Results of the report are kept from the next write on; which: the
 * number of the method and variant that is learned now. */
bool krein__state_due(const krein_fewshot_state *s);
krein_status krein__state_keep(krein_fewshot_state *s, krein_outer_kept *now, bool must);
/* Goes on where the file stood, if that was the method that is learned now. */
krein_status krein__state_recall(krein_fewshot_state *s, krein_outer_kept *now);
/* A result more is in the report: it is written. */
krein_status krein__state_finished(krein_fewshot_state *s);

#endif
