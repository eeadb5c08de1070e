/* net_machine.h -- what learners that train a net share: their options, the training with its
 * report, the last layer solved for again, probabilities. */
#ifndef KREIN_NET_MACHINE_H
#define KREIN_NET_MACHINE_H

#include "learn/windows.h"

/* Options that all of them have, in this order; the learner's own stand before and behind. */
enum {
    KREIN_NET_LOSS,
    KREIN_NET_OPTIMIZER,
    KREIN_NET_EPOCHS,
    KREIN_NET_BATCH,
    KREIN_NET_RATE,
    KREIN_NET_SCHEDULE,
    KREIN_NET_PATIENCE,
    KREIN_NET_CLIP,
    KREIN_NET_REFIT,
    KREIN_NET_REPORT,
    KREIN_NET_PLAIN,                            /* so many */
    KREIN_NET_FREQUENCY_RATE = KREIN_NET_PLAIN, /* of nets with frequencies */
    KREIN_NET_OWN                               /* so many with it */
};
/* own_rate, own_frequency: where these come from when they are not given. */
#define KREIN_NET_OPTIONS(size_of_batch, own_rate, own_frequency)                                  \
    KREIN_NET_PLAIN_OPTIONS(size_of_batch, own_rate), {                                            \
        .name = "frequency_rate", .type = KREIN_OPTION_NUMBER, .value = NAN, .low = 0,             \
        .low_open = true, .high = 1e30,                                                            \
        .help = "length of the steps of frequencies, in units of their typical size at the "       \
                "start; when not given " own_frequency " with adam, and with others the rate "     \
                "itself in no unit"                                                                \
    }
#define KREIN_NET_PLAIN_OPTIONS(size_of_batch, own_rate)                                           \
    {.name = "loss",                                                                               \
     .type = KREIN_OPTION_WORD,                                                                    \
     .value = NAN,                                                                                 \
     .words = "hinge|hinge2|square|softmax|logistic",                                              \
     .help = "softmax for classes, square for numbers when not given"},                            \
        {.name = "optimizer",                                                                      \
         .type = KREIN_OPTION_WORD,                                                                \
         .value = 1,                                                                               \
         .words = "sgd|adam|adadelta",                                                             \
         .help = "how steps follow from gradients"},                                               \
        {.name = "epochs",                                                                         \
         .type = KREIN_OPTION_INTEGER,                                                             \
         .value = NAN,                                                                             \
         .low = 1,                                                                                 \
         .high = 1e6,                                                                              \
         .help = "visits of every row, at most; when not given 10 to 200, so that there are "      \
                 "about 20,000 steps"},                                                            \
        {.name = "batch",                                                                          \
         .type = KREIN_OPTION_INTEGER,                                                             \
         .value = size_of_batch,                                                                   \
         .low = 1,                                                                                 \
         .high = 1e6,                                                                              \
         .help = "rows of a step"},                                                                \
        {.name = "rate",                                                                           \
         .type = KREIN_OPTION_NUMBER,                                                              \
         .value = NAN,                                                                             \
         .low = 0,                                                                                 \
         .low_open = true,                                                                         \
         .high = 1e30,                                                                             \
         .help = "length of the steps; " own_rate " when not given"},                              \
        {.name = "schedule",                                                                       \
         .type = KREIN_OPTION_WORD,                                                                \
         .value = KREIN_SCHEDULE_COSINE,                                                           \
         .words = KREIN_SCHEDULE_WORDS,                                                            \
         .help = "how the rate falls over the epochs"},                                            \
        {.name = "patience",                                                                       \
         .type = KREIN_OPTION_INTEGER,                                                             \
         .value = 20,                                                                              \
         .low = 0,                                                                                 \
         .high = 1e6,                                                                              \
         .help = "epochs without a better held-out error before the end; 0: all epochs"},          \
        {.name = "clip",                                                                           \
         .type = KREIN_OPTION_NUMBER,                                                              \
         .value = 0,                                                                               \
         .low = 0,                                                                                 \
         .high = 1e30,                                                                             \
         .help = "gradients are made no longer than that; 0: as they are"},                        \
        {.name = "refit",                                                                          \
         .type = KREIN_OPTION_WORD,                                                                \
         .value = NAN,                                                                             \
         .words = "no|yes",                                                                        \
         .help = "solve for the weights by ridge regression in the end; when not given: with "     \
                 "the square loss"},                                                               \
    {                                                                                              \
        .name = "report", .type = KREIN_OPTION_INTEGER, .value = 0, .low = 0, .high = 1e9,         \
        .help = "steps between two lines with loss and held-out error in the log (-vv); 0: one "   \
                "an epoch"                                                                         \
    }

typedef struct krein_net_machine {
    const char *name; /* of the learner */
    int64_t first;    /* of these options among its own */
    krein_job *job;
    krein_net net;
    krein_windows w;
    krein_fit_options o;
    krein_fit_report r;
    bool refit;
    bool plain; /* it has no frequencies, and no option for them */
    /* private */
    float *scores; /* of the rows held out, by the net */
    double error;  /* of these; NaN: there are none */
} krein_net_machine;

const krein_loss_class *krein__net_loss(const krein_net_machine *m, const krein_values *v,
                                        bool classes);
bool krein__net_refits(const krein_net_machine *m, const krein_values *v,
                       const krein_loss_class *loss);
int64_t krein__net_epochs(const krein_net_machine *m, const krein_values *v, int64_t n);

/* Options become those of the fit; epochs and rates get the values that were chosen. With adam the
 * rate is `rate`, 0: its own, and that of frequencies so many times `faster`. A loss that is not
 * for the labels is refused. name, first and job are set. */
krein_status krein__net_machine_begin(krein_net_machine *m, krein_values *values, double rate,
                                      double faster);
/* Once layer l has its frequencies: how long their steps are. */
void krein__net_machine_pace(krein_net_machine *m, const krein_values *values, int64_t l);
/* Trains the net on the windows, both ready, and says what came out. */
krein_status krein__net_machine_train(krein_net_machine *m);
/* After that: weights of the model by ridge regression on the map as it is now, where there is a
 * refit that time allows; else give() makes them from the net. Probabilities follow. */
typedef krein_status krein_give_fn(krein_net_machine *m);
krein_status krein__net_machine_end(krein_net_machine *m, krein_give_fn *give);
void krein__net_machine_clear(krein_net_machine *m);
/* What the net and the refit take; passes: of the refit. The net has its layers. */
void krein__net_machine_cost(const krein_net_machine *m, const krein_map *map,
                             const krein_values *v, int64_t n, int64_t k, bool path,
                             const bool *frozen, krein_cost *out, int64_t *passes);

/* The last layer as weights (R x k) and intercepts in the units of the data; root: the features of
 * the map are so many times those of the net. */
void krein__net_weights(const krein_net_machine *m, double root, double *w, double *intercept);

#endif
