/* tuner.h -- the candidates of tune.c: what they share, how one is fitted and scored. */
#ifndef KREIN_TUNER_H
#define KREIN_TUNER_H

#include "select/tune_fit.h"

enum { KREIN_TUNER_BASES = 8, KREIN_TUNER_VIEWS = 24, KREIN_TUNER_CANDIDATES = 52 };
enum { KREIN_TUNER_FEW = 600 };   /* rows for a first look */
enum { KREIN_TUNER_SOME = 1000 }; /* for a second */
enum { KREIN_TUNER_STEPS = 6 };   /* of a metric */

/* A kernel; its scale is free, but of a mixture. */
typedef struct krein_tuner_base {
    krein_kernel *kernel;
    int metric;         /* 1: its distance is L1, 2: L2 */
    double spread;      /* the scale is c * spread * median distance */
    double least, most; /* c */
} krein_tuner_base;

/* A scale that was tried, and its leave-one-out error, where that is known. */
typedef struct krein_tuner_step {
    double c, lambda, error;
} krein_tuner_step;
enum { KREIN_TUNER_WALK = 16 }; /* that are kept */

typedef struct krein_tuner_candidate {
    int base, view;
    int64_t n;     /* rows of S */
    double c;      /* scale */
    double step;   /* by which the scale is searched; 1: it stays; 0: and so does lambda */
    double lambda; /* in: where to start */
    double loo, loss, error;
    double *alpha;  /* n x k; NULL: not kept */
    double *square; /* m, of the rows of V; NULL: not kept */
    krein_tuner_step walk[KREIN_TUNER_WALK];
    int steps; /* of them */
} krein_tuner_candidate;

typedef struct krein_tuner {
    krein_ctx *ctx;
    const krein_tune_options *o;
    krein_encoding *encoding;
    int64_t rows; /* of the training */
    krein_tune_sample s;
    krein_tuner_base base[KREIN_TUNER_BASES];
    int bases, mixtures; /* these stand behind the bases */
    krein_tune_view view[KREIN_TUNER_VIEWS];
    int views;
    krein_tuner_candidate all[KREIN_TUNER_CANDIDATES]; /* scored, in the order tried */
    int n;
    krein_tuned *out;
} krein_tuner;

bool krein__tuner_late(const krein_tuner *t);
/* Rows that are enough for a first look, and for a second. */
int64_t krein__tuner_few(const krein_tuner *t);
int64_t krein__tuner_some(const krein_tuner *t);
/* The kernel of a candidate, with its scale. */
krein_status krein__tuner_kernel(krein_ctx *ctx, const krein_tuner *t,
                                 const krein_tuner_candidate *c, krein_kernel **out);
/* Scale and lambda by leave-one-out; with run the error on V too. */
typedef krein_status krein_tuner_work(krein_ctx *ctx, const krein_tuner *t,
                                      krein_tuner_candidate *c);
krein_tuner_work krein__tuner_search, krein__tuner_run;
/* Several at once, a thread each. The results do not depend on how many threads there are. */
krein_status krein__tuner_at_once(const krein_tuner *t, krein_tuner_work *work,
                                  krein_tuner_candidate *c, int n);
/* Runs several, which are then among all. */
krein_status krein__tuner_run_all(krein_tuner *t, krein_tuner_candidate *c, int n);
/* Coefficients with the scale and the lambda that the candidate has. */
krein_status krein__tuner_coefficients(krein_tuner *t, const krein_tuner_candidate *c,
                                       krein_tune_fit *f);
/* For the report: the scales that the search of a candidate has tried, and a candidate. */
krein_status krein__tuner_walked(krein_tuner *t, const krein_tuner_candidate *c);
krein_status krein__tuner_record(krein_tuner *t, const krein_tuner_candidate *c, int64_t rows,
                                 double error, const char *learner);
/* Forgets n candidates from the i-th on. */
void krein__tuner_forget(krein_tuner *t, int i, int n);
/* Every kernel on few rows, without a metric. */
krein_status krein__tuner_plain(krein_tuner *t, int view);
const krein_tuner_candidate *krein__tuner_plain_of(const krein_tuner *t, int which);
/* The best so far on that many rows with a metric of that kind; -1: of any. */
int krein__tuner_best(const krein_tuner *t, int64_t rows, int metric);
/* Whether a candidate has a smaller error than another by more than chance. */
krein_status krein__tuner_surely(krein_tuner *t, krein_tuner_candidate c,
                                 krein_tuner_candidate than, bool *out);

/* Whether squared errors of m rows are less than others of these by more than chance. */
bool krein__tuner_gains(int64_t m, const double *square, const double *than);

/* The kernels once more with the logarithms of heavy-tailed columns, all or some. Everything later
 * is about the rows that won, and so is the report. */
krein_status krein__tuner_logs(krein_tuner *t);
/* Where the path of metrics starts: a candidate without one, or the same kernel under factors of
 * what the columns tell alone and two at a time, where that is clearly better on few rows. */
krein_status krein__tuner_start(krein_tuner *t, const krein_tuner_candidate *plain,
                                krein_tuner_candidate *start);
/* The path of metrics from a candidate; *best: the candidate of the best step. */
krein_status krein__tuner_learn_metric(krein_tuner *t, krein_metric_kind kind,
                                       const krein_tuner_candidate *from,
                                       krein_tuner_candidate *best);
/* Every kernel under the metric of the best step. */
krein_status krein__tuner_users(krein_tuner *t, const krein_tuner_candidate *best);
/* Sums of the winner and another kernel; *winner is the sum where that is surely better. */
krein_status krein__tuner_mixtures(krein_tuner *t, const krein_tuner_candidate **winner);
/* Support vector machines; *winner and C of the result are theirs where they are far better. */
krein_status krein__tuner_machines(krein_tuner *t, const krein_tuner_candidate **winner);

#endif
