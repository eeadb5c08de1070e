/* select.h -- which kernel: criteria, the ranking of candidates, and the search over free
 * parameters. */
#ifndef KREIN_SELECT_H
#define KREIN_SELECT_H

#include "model/tries.h"
#include "select/view.h"

typedef struct krein_score {
    double value;       /* what is shown */
    double error, loss; /* what is compared, less is better: error first (NaN: there is none) */
    double lambda;      /* of the ridge regression behind it; NaN: none */
} krein_score;

/* Where none is asked for. */
#define KREIN_CRITERION_DEFAULT "loo"

/* One file a criterion; a line in criteria.def. */
typedef struct krein_criterion_class {
    krein_class cls;
    int tasks;   /* KREIN_FOR_...; 0: labels are not looked at */
    bool larger; /* the larger the better */
    /* What it wants to know of a kernel on n rows, added to *needs. */
    void (*needs)(const krein_values *values, int64_t n, krein_needs *needs);
    /* Not NULL: held-out errors of ridge regression, as *trial is filled in. */
    void (*trial)(const krein_values *values, krein_trial *trial);
    krein_status (*score)(const krein_view *view, const krein_values *values,
                          const krein_trial *trial, krein_score *out);
    /* Folds by which lambda is then chosen on all rows; NULL: by leave-one-out. */
    int64_t (*folds)(const krein_values *values);
} krein_criterion_class;

extern const krein_class *const krein__criteria[];
extern const int64_t krein__criterion_count;

#define KREIN_OPTION_RIDGE_LAMBDA                                                                  \
    {                                                                                              \
        .name = "lambda", .value = NAN, .low = 0, .low_open = true, .high = 1e30,                  \
        .help = "regularisation; the best of a path when not given"                                \
    }
#define KREIN_OPTION_RIDGE_INTERCEPT                                                               \
    {                                                                                              \
        .name = "intercept", .type = KREIN_OPTION_YESNO, .value = 1,                               \
        .help = "an intercept that is not regularised; without one targets are centred"            \
    }

/* The score of a number alone. */
krein_score krein__score_of(const krein_criterion_class *c, double value);
/* Of the best lambda of a trial, as a criterion's `score`: share of errors, or root mean square. */
krein_status krein__score_trial(const krein_view *v, const krein_values *values,
                                const krein_trial *t, krein_score *out);
/* Less in this order: error, then loss. One whose loss is no number is never better. */
bool krein__score_better(const krein_score *a, const krein_score *b);
/* KREIN_ESPEC that names the criterion: where the view has no eigenvalues, and where there are some
 * below zero by more than rounding. */
krein_status krein__need_spectrum(const krein_view *v, const char *name);
krein_status krein__need_positive(const krein_view *v, const char *name);

/* How many of n eigenvalues count as the main ones: as many as given, the root of n where that is
 * NaN; and their sum. */
int64_t krein__main_count(double given, int64_t n);
double krein__main_sum(const krein_view *v, double given);

/* A criterion as it was asked for. */
typedef struct krein_criterion {
    const krein_criterion_class *cls;
    krein_values values;
} krein_criterion;
krein_status krein__criterion_parse(krein_ctx *ctx, const char *spec, krein_criterion *out);
/* The word "none" leaves cls NULL. */
krein_status krein__criterion_parse_or_none(krein_ctx *ctx, const char *spec, krein_criterion *out);
void krein__criterion_clear(krein_ctx *ctx, krein_criterion *c);
/* KREIN_EDATA with the way out where it does not apply to such labels. */
krein_status krein__criterion_check(krein_ctx *ctx, const krein_criterion *c, krein_task task,
                                    bool labels);

/* ---- probes (probe.c) ------------------------------------------------- */

/* Targets of a row, as ridge regression has them whatever the learner (0: no labels), and those of
 * rows. */
int64_t krein__scored_targets(const krein_job *job);
void krein__scored_fill(const krein_job *job, int64_t n, const double *label, double *y,
                        int32_t *class);
/* n of the job's rows, a seeded choice. */
krein_status krein__probe_gather(krein_job *job, int64_t n, krein_probe *out);
/* Every so many-th row of a sample. */
krein_status krein__probe_thin(krein_ctx *ctx, const krein_probe *from, int64_t n,
                               krein_probe *out);
void krein__probe_end(krein_ctx *ctx, krein_probe *s);

/* ---- candidates and their scores (score_exact.c, score_features.c) */

enum { KREIN_CRITERIA_MAX = 16 };

/* The order in which n candidates are visited: the middle, then halves again and again. */
void krein__far_to_near(int64_t n, int64_t *order);

/* The criteria of one ranking, and what they need together. */
typedef struct krein_scoring {
    krein_criterion *criterion;
    int64_t n;
    krein_needs needs;
    int64_t trials;
    int64_t trial_of[KREIN_CRITERIA_MAX]; /* its trial, or -1 */
    krein_trial trial[KREIN_CRITERIA_MAX];
} krein_scoring;
void krein__scoring_begin(krein_criterion *criterion, int64_t n, int64_t rows, krein_scoring *out);

/* The scores from a view, or from the status of one that could not be made. trial: the candidate's
 * own copies. */
typedef struct krein_scored krein_scored;
krein_status krein__scoring_apply(krein_ctx *ctx, const krein_scoring *scoring, krein_status st,
                                  const krein_view *view, const krein_trial *trial,
                                  krein_scored *out);

/* The result of one kernel: for each criterion a score, or the reason why there is none. */
struct krein_scored {
    bool scored; /* false: there was no time */
    krein_score score[KREIN_CRITERIA_MAX];
    char *refused[KREIN_CRITERIA_MAX]; /* owned */
    char *map;                         /* complete spec, by features; or NULL; owned */
};
void krein__scored_clear(krein_ctx *ctx, krein_scored *v);

/* Candidates to score at once: a thread each where there are enough and memory has room for `bytes`
 * each beside what they share. 1: one after the other, on all threads. */
int krein__score_workers(krein_ctx *ctx, double shared, double bytes, int64_t n);
/* Scores n candidates with so many workers. deadline: krein__clock() after which no further one is
 * begun; 0: none. what: shown with the progress, or NULL. */
typedef krein_status krein_score_one(krein_ctx *ctx, const void *state, int64_t i,
                                     krein_scored *out);
krein_status krein__score_each(krein_ctx *ctx, int64_t n, int workers, double deadline,
                               const char *what, krein_score_one *one, const void *state,
                               krein_scored *out);

/* Kernels by their matrices on the sample. */
krein_status krein__score_exact(krein_ctx *ctx, krein_kernel *const *kernel, int64_t n,
                                const krein_probe *s, const krein_scoring *scoring, double deadline,
                                const char *what, krein_scored *out);
/* Bytes for one candidate, its matrix and all; what candidates share comes on top
 * (krein__gram_share_bytes). */
double krein__score_exact_bytes(const krein_kernel *k, int64_t n, int64_t d, int64_t labels,
                                int64_t columns, const krein_scoring *scoring);
/* By features of all rows of the job, as many candidates in one pass as fit. map: NULL: by kernel.
 * D: features, 0: the map's, or 1,024. */
krein_status krein__score_features(krein_job *job, krein_kernel *const *kernel, int64_t n,
                                   const char *map, int64_t D, const krein_scoring *scoring,
                                   double deadline, krein_scored *out);
/* By features of the sample, for a map that krein__map_fit_sample takes; at most KREIN_FEATURES_MAX
 * features. */
enum { KREIN_FEATURES_MAX = 2048 };
krein_status krein__score_sample(krein_ctx *ctx, krein_kernel *const *kernel, int64_t n,
                                 const char *map, const krein_probe *s,
                                 const krein_scoring *scoring, krein_scored *out);
double krein__score_sample_bytes(int64_t d, int64_t k);

/* ---- candidates and the scorer (scorer.c) --------------------------------- */

/* What somebody proposes: a kernel with its parameters, a map and its size; and what became of it.
 */
typedef struct krein_candidate {
    krein_kernel *kernel; /* the proposer's, and so is the map; no free parameter */
    const char *map; /* NULL: the kernel itself on a sample, the kernel's own map on all rows */
    int64_t D;       /* features, 0: the map's */
    krein_scored scored;
} krein_candidate;
void krein__candidates_clear(krein_ctx *ctx, krein_candidate *c,
                             int64_t n); /* what became of them */

/* How candidates are scored: by which criteria, on which rows. */
typedef struct krein_scorer {
    krein_job *job;
    krein_scoring scoring;
    krein_probe sample; /* n = 0: all rows of the job, by features in passes */
    double deadline;    /* krein__clock() after which none is begun; 0: none */
    const char *what;   /* shown with the progress, or NULL */
} krein_scorer;
/* The criteria outlive it. rows: of the sample; 0: all rows. deadline and what are then the
 * caller's to set. */
krein_status krein__scorer_begin(krein_job *job, krein_criterion *criterion, int64_t criteria,
                                 int64_t rows, krein_scorer *out);
/* The same criteria on fewer rows of the sample. */
krein_status krein__scorer_thin(const krein_scorer *from, int64_t rows, krein_scorer *out);
/* Candidates in a row that have the same map share the work. */
krein_status krein__scorer_run(const krein_scorer *s, krein_candidate *c, int64_t n);
/* What each row of the sample adds to the error of a candidate that was scored by its kernel, held
 * out and at its lambda: its weight where the class is wrong, or squared residuals. The scorer has
 * one criterion, of ridge regression with an intercept. loss: as many as rows. */
krein_status krein__scorer_rows(const krein_scorer *s, const krein_candidate *c, double *loss);
void krein__scorer_end(krein_scorer *s);

/* ---- the search (search.c) ---------------------------------------------- */

/* The best of a list on a sample of the rows; free parameters count as the median distance there,
 * and stay free. Scores that are held-out errors are added to what was tried. */
krein_status krein__select_from(krein_job *job, krein_criterion *criterion,
                                const krein_kernel_list *list, double time_limit,
                                krein_tries *tries, int64_t *best);
/* Gives the free parameters of the kernel their values. At most two may be free. map: the spec of
 * the map that the model will use, where it makes random features, else NULL. time_limit in
 * seconds (0: none): the best so far is taken when it has passed. The values are added to what was
 * tried; NULL: they are not kept. */
krein_status krein__select_kernel(krein_job *job, krein_criterion *criterion, const char *map,
                                  double time_limit, krein_tries *tries, krein_kernel *kernel);
/* Flops and bytes of the search, for plan; listed: kernels of a list that are scored before it. */
double krein__select_flops(int64_t n, int64_t free, int64_t listed, bool features);
double krein__select_bytes(krein_ctx *ctx, int64_t n, int64_t d, int64_t k, bool features);

#endif
