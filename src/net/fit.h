/* fit.h -- training of a net by mini-batches. */
#ifndef KREIN_NET_FIT_H
#define KREIN_NET_FIT_H

#include "net/loss.h"
#include "net/net.h"
#include "net/optimizer.h"
#include "net/penalty.h"
#include "net/schedule.h"
#include "net/subspace.h"

/* Rows with what they aim at. */
typedef struct krein_window {
    krein_rows x;
    krein_aims aims;
} krein_window;

/* The rows of a training come in windows, which are in memory one at a time; one window where all
 * of them are. */
typedef struct krein_fit_rows {
    int64_t n, windows;
    /* Window number `which`, until the next call. */
    krein_status (*window)(void *user, int64_t which, krein_window *out);
    void *user;
    krein_window held; /* rows that are not trained on and say when to stop; x.n 0: none */
} krein_fit_rows;

/* A term of the objective on pairs of rows beside those of the data, drawn anew for every step:
 * scale times the sum over a step's pairs of |f(a) - f(b)|^2. */
typedef struct krein_fit_pairs {
    int64_t n; /* pairs of a step; 0: there is no such term */
    double scale;
    /* The rows of a step's pairs, a behind b (2 n x in, of the net). By the number of the step. */
    krein_status (*draw)(void *user, int64_t step, float *x);
    void *user;
} krein_fit_pairs;

typedef struct krein_fit_options {
    const krein_loss_class *loss;
    krein_optimizer optimizer;
    double rate;
    krein_schedule_kind schedule;
    int64_t epochs, batch;
    bool last;        /* the state of the last epoch is left, not of the best */
    int64_t patience; /* epochs without a better state before the end; 0: all epochs */
    int64_t report;   /* steps between two lines in the log; 0: one an epoch */
    double clip;      /* the gradient is made no longer than that; 0: as it is */
    krein_penalty penalty;
    double lambda_a; /* of that, on the weights of the last layer */
    int64_t theta;   /* of that (penalty.h) */
    double lambda_w; /* times |W|^2, W the same weights, beside the penalty */
    krein_fit_pairs pairs;
    double decay;    /* times the weights of the other layers is added to their gradient */
    double lambda_b; /* times the mean of |z|^2, z the output of the first layer */
    bool frozen[KREIN_NET_LAYERS]; /* their parameters stay */
    double pace[KREIN_NET_LAYERS]; /* factors of the rate in each layer; 0: 1 */
    uint64_t seed;
    double deadline;                       /* krein__clock(); 0: none */
    const struct krein_fit_keeper *keeper; /* of the state on the way; NULL: it is not kept */
    /* Steps stay in it (P-SGD): the optimiser works on its coordinates, whose gradient is P'g.
     * NULL: in the whole space. Without penalties, frozen layers and paces. */
    const krein_subspace *subspace;
    /* Called with the parameters at the start (step 0) and behind every step; or NULL. */
    krein_status (*record)(void *user, int64_t step, const float *p);
    void *record_user;
} krein_fit_options;

typedef enum krein_fit_end {
    KREIN_FIT_EPOCHS = 0,   /* all were made */
    KREIN_FIT_PATIENCE = 1, /* nothing better came */
    KREIN_FIT_TIME = 2,
    KREIN_FIT_DIVERGED = 3 /* the loss was no number any more */
} krein_fit_end;

/* The state of an epoch. */
typedef struct krein_fit_state {
    int64_t epoch;      /* 0: before the first */
    double loss;        /* mean over the rows while they were trained on; the start: NaN */
    double objective;   /* with the penalties */
    double held, error; /* loss and error of the rows held out; NaN where there are none */
} krein_fit_state;

typedef struct krein_fit_report {
    krein_fit_end end;
    int64_t epochs, steps;
    krein_fit_state best, last;
} krein_fit_report;

/* Where a training stands between two steps. The order of the rows follows from seed, epoch and
 * window. */
typedef struct krein_fit_place {
    int64_t epoch, window, batch; /* of the next step; behind the last window: its measuring */
    int64_t step;                 /* steps made */
    double loss, activity;        /* sums over the epoch so far */
    int64_t seen, batches;        /* rows and steps of these sums */
    bool done;                    /* nothing is left to do: p is what came out */
} krein_fit_place;

/* All that a training needs to go on, to the bit. */
typedef struct krein_fit_snapshot {
    krein_fit_place at;
    krein_fit_report report; /* so far */
    int64_t count;           /* of the arrays */
    float *p, *best;         /* parameters: now, of the best epoch */
    float *s, *r;            /* states of the optimiser; r is NULL where it has one */
} krein_fit_snapshot;

/* Who keeps such states, and has one from before. */
typedef struct krein_fit_keeper {
    /* Fills *to, whose arrays are there, and sets *found; of a training that is done p alone. */
    krein_status (*recall)(void *user, krein_fit_snapshot *to, bool *found);
    /* Asked before every step. */
    bool (*due)(void *user);
    /* must: the training is cancelled, and failing is an error. What is done is kept, too. */
    krein_status (*keep)(void *user, const krein_fit_snapshot *now, bool must);
    void *user;
} krein_fit_keeper;

/* Trains from the parameters that the net has, and leaves those of the best epoch: of the least
 * error on the rows held out (of equal ones the least loss), without any of the least objective; or
 * with `last` of the last. */
krein_status krein__net_fit(krein_net *net, const krein_fit_rows *rows,
                            const krein_fit_options *options, krein_fit_report *out);
/* Bytes beside the rows and the net itself. */
double krein__net_fit_bytes(const krein_net *net, const krein_fit_options *options);

/* The k scores of a row do not say its class. */
bool krein__net_wrong(int64_t k, const float *f, const float *y, int32_t class);
/* How far a score is from its target; of a loss that is not for numbers the code -1 or +1 that it
 * decides for. */
double krein__net_off(const krein_loss_class *loss, float f, float y);
/* Mean loss and error of rows: the share of wrong classes, or the root of the mean square of all
 * outputs; scores (n x out) may be NULL. */
krein_status krein__net_measure(krein_net_work *w, const krein_window *rows,
                                const krein_loss_class *loss, double *mean, double *error,
                                float *scores);

#endif
