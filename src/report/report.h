/* report.h -- what there is to say of a model on rows: numbers, and the page that shows them.
 *
 *     model + data (+ training data)
 *        |
 *     rows.c          all rows, streamed: metrics, kept rows, samples
 *        |
 *     quality.c       measures with bootstrap intervals      baseline.c   constant and linear
 *     residuals.c     numbers: histogram, deciles, density   curves.c     ROC, PR, calibration
 *     importance.c    permutation, gradient                  dependence.c
 *     odd.c           largest errors, ranges, duplicates     learning.c   learning curve
 *     spectrum.c      eigenvalues, dimension, approximation  clusters.c   plane, sizes, silhouettes
 *        |
 *     krein_report_numbers  ->  json.c, page.c (sections, figures.c, style.c)
 *
 * Rows are streamed; what is kept of them is at most KREIN_REPORT_KEPT rows of scores and
 * `rows` sampled rows of inputs, whatever the size of the data. Samples and replicates follow from
 * the seed. */
#ifndef KREIN_REPORT_ROOM_H
#define KREIN_REPORT_ROOM_H

#include "base/buffer.h"
#include "model/posterior.h"
#include "stream/data.h"

enum {
    KREIN_REPORT_KEPT = 50000,     /* rows whose scores are kept */
    KREIN_REPORT_CELLS = 1 << 24,  /* scores and probabilities that are kept, at most */
    KREIN_REPORT_REPLICATES = 500, /* replicates */
    KREIN_REPORT_REPEATS = 5,      /* permutations of a column */
    KREIN_REPORT_SPECTRUM = 1000,  /* rows of the kernel matrix */
    KREIN_REPORT_GRID = 32,        /* cells of the density of predictions, each way */
    KREIN_REPORT_BINS = 30,        /* of histograms */
    KREIN_REPORT_POINTS = 120,     /* of a drawn curve */
    KREIN_REPORT_SHOWN = 6,        /* inputs with a partial dependence; classes with a curve */
    KREIN_REPORT_STEPS = 24,       /* values of a partial dependence */
    KREIN_REPORT_ODD = 10,         /* rows listed */
    KREIN_REPORT_MEASURES = 6,
    KREIN_REPORT_CURVE = 6 /* sizes of a learning curve */
};

/* ---- numbers ------------------------------------------------------------ */

/* A number with the bounds of its 95 % interval; NaN: none. */
typedef struct krein_span {
    double value, low, high;
} krein_span;

/* A measure of predictions. */
typedef struct krein_measured {
    const char *key, *title; /* for JSON; for people */
    bool larger;             /* the larger the better */
    bool share;              /* in 0 .. 1, shown in percent */
    krein_span model;
    double constant, linear; /* of the baselines; NaN: none */
} krein_measured;

/* Counts of the kept rows in equal bins. */
typedef struct krein_histogram {
    double low, high;
    int64_t bins, count[KREIN_REPORT_BINS];
} krein_histogram;

/* One output of a regression. */
typedef struct krein_output_numbers {
    double rmse, mae, r2;
    double low, high;                                    /* range of predictions and truths */
    int64_t grid[KREIN_REPORT_GRID * KREIN_REPORT_GRID]; /* truth x prediction */
    krein_histogram residuals;                           /* 1 % cut off at both ends, as below */
    int64_t beyond;                                      /* kept rows outside of it */
    double residual_mean, residual_sd;
    double decile_low[10], decile_high[10], decile_rmse[10], decile_bias[10]; /* by prediction */
    int64_t decile_n[10];
} krein_output_numbers;

/* A curve of a class against the rest. */
typedef struct krein_class_curve {
    int64_t class;
    double roc_area, pr_area; /* NaN: one side has no row; average precision */
    int64_t positives;
    int64_t nroc, npr;
    double fpr[KREIN_REPORT_POINTS], tpr[KREIN_REPORT_POINTS];
    double recall[KREIN_REPORT_POINTS], precision[KREIN_REPORT_POINTS];
} krein_class_curve;

/* Ten equal bins of the probability. */
typedef struct krein_calibration_curve {
    int64_t count[10];
    double predicted[10], observed[10]; /* means; NaN: no row */
    double error;                       /* mean of |predicted - observed| over the rows */
} krein_calibration_curve;

/* One input column, in the order of the file. */
typedef struct krein_input_numbers {
    char *name;
    int64_t column;            /* of the encoding's inputs; of sparse rows the encoded one */
    int64_t at, width;         /* its encoded columns */
    bool category, number;     /* number: one encoded column has its value */
    int64_t flag;              /* the one that says whether it is missing; -1: none */
    double importance, spread; /* by permutation: mean and sd over the repeats; NaN: not computed */
    double slope, gradient;    /* mean change, and mean size of it, for one sd; NaN: no number */
    int64_t outside;           /* rows outside the range of training, -1: not known */
    double trained_low, trained_high, low, high; /* of training, of these rows */
} krein_input_numbers;

/* The mean prediction as a function of one input. */
typedef struct krein_dependence {
    int64_t input; /* of krein_report_numbers.input */
    int64_t steps;
    double x[KREIN_REPORT_STEPS];
    char *label[KREIN_REPORT_STEPS];    /* of categories */
    double *y;                          /* lines x steps */
    double low, high;                   /* of the input, over the sample */
    int64_t density[KREIN_REPORT_BINS]; /* of numbers */
    int64_t count[KREIN_REPORT_STEPS];  /* of categories */
} krein_dependence;

typedef struct krein_odd_row {
    int64_t row; /* of the file, from 1, without the header */
    double error;
    char *truth, *predicted, *id;
} krein_odd_row;

typedef struct krein_curve_point {
    int64_t n;
    double error; /* of the rows of the report: rmse, share of errors, or of wrong labels */
    char *failed; /* why there is no number, or NULL */
} krein_curve_point;

typedef struct krein_plane_point {
    double x, y;
    int32_t class; /* cluster or class; -1: none */
} krein_plane_point;

typedef struct krein_report_numbers {
    const krein_model *model;
    char *data, *train;       /* names */
    krein_metrics metrics;    /* over all rows */
    int64_t n, kept, sampled; /* rows: all, with scores kept, of importance */
    bool labelled;

    int64_t nmeasures;
    krein_measured measure[KREIN_REPORT_MEASURES];
    const char *linear_word; /* how the linear baseline was made, or why there is none */
    int64_t ncoverage;
    double coverage_asked[4], coverage_found[4], coverage_width[4];

    int64_t noutputs;
    krein_output_numbers *output;
    int64_t ncurves; /* of classes against the rest; areas are there for all */
    krein_class_curve *curve;
    bool calibrated;
    krein_calibration_curve calibration;

    int64_t ninputs;
    krein_input_numbers *input;
    int64_t *order; /* inputs by importance, those that were permuted */
    int64_t norder, permuted_rows;
    const char *why_not; /* why there is no importance, or NULL */
    int64_t lines;       /* of a dependence: outputs, or classes */
    const char *line_title;
    int64_t ndependence;
    krein_dependence dependence[KREIN_REPORT_SHOWN];

    int64_t nodd;
    krein_odd_row odd[KREIN_REPORT_ODD];
    bool ranges; /* the model knows the ranges of training */
    int64_t outside_rows;
    bool compared; /* with the training rows */
    int64_t train_rows, duplicates, same_label;

    int64_t neigen, spectrum_rows;
    double *eigen;    /* descending, of K / m */
    double dimension; /* N(lambda) of the model's lambda; NaN: it has none */
    int64_t ndimension;
    double dimension_lambda[24], dimension_at[24];
    double approximation; /* |K - Khat|_F / |K|_F; NaN: no features */
    char *spectrum_not;   /* why there is no spectrum, or NULL */

    int64_t ncurve;
    krein_curve_point learning[KREIN_REPORT_CURVE];

    int64_t nplane, nclusters; /* clusters, or classes of the labels */
    krein_plane_point *plane;
    char **plane_names;
    double plane_share[2]; /* of the variance */
    int64_t *cluster_size;
    double *silhouette; /* mean of each cluster; NaN */
    double silhouette_mean;
    int64_t silhouette_rows;
    double ari, nmi;
    double seconds;
} krein_report_numbers;

/* ---- the work ----------------------------------------------------------- */

/* Scores of rows that are kept, by the model or a baseline. */
typedef struct krein_kept {
    int64_t n, k, outputs, classes;
    int64_t *row;   /* of the file, from 0 */
    int64_t *at;    /* the same without rows that were dropped */
    double *weight; /* NULL: all 1 */
    double *y;      /* n x outputs: targets; classes: n codes; label sets: n x classes of 0 and 1 */
    double *f;      /* n x k */
    float *p;       /* n x classes; NULL: the model has none */
} krein_kept;

typedef struct krein_reporting {
    krein_ctx *ctx;
    const krein_model *model;
    krein_data *data, *train; /* matched; train NULL: not given */
    krein_encoding base;      /* without clip and metric: columns stand for themselves */
    uint64_t seed;
    int64_t rows; /* sampled at most */
    bool curve;
    krein_kept kept;
    krein_predictor predictor;
    /* The sample: rows without clip and metric (dense), with them, labels, weights. */
    int64_t m;
    float *x;          /* m x d, room for whole tiles */
    krein_matrix full; /* as the model takes them */
    double *label, *weight;
    /* Models without labels: classes that the data have, one a row; NULL: none. */
    int32_t *own;
    int64_t nown, own_classes;
    char **own_names;
    krein_report_numbers *out;
} krein_reporting;

static inline krein_rng krein__report_stream(const krein_reporting *r, int64_t role) {
    return krein__substream(r->seed, KREIN_STREAM_REPORT, role);
}

/* rows.c */
krein_status krein__report_rows(krein_reporting *r);
/* At most so many rows of the sample, evenly from all of it: they stand in the order of the data,
 * whose first rows may be alike. index: their numbers in the sample; both are the caller's to free.
 */
krein_status krein__report_few(const krein_reporting *r, int64_t most, krein_matrix *x,
                               int64_t **index);
void krein__report_rows_clear(krein_reporting *r);
/* Scores of m rows without clip and metric, which are finished in place (room for whole tiles).
 * scores: m x k. */
krein_status krein__report_scores(krein_reporting *r, int64_t m, float *x, double *scores);
/* Of one row: what its prediction costs. Numbers: mean square over the outputs; classes: 1 where it
 * is wrong; label sets: share of wrong labels. label: as in a block. */
double krein__report_loss(const krein_reporting *r, const double *label, const double *score);

/* quality.c, baseline.c, residuals.c, curves.c */
krein_status krein__report_quality(krein_reporting *r);
typedef struct krein_baseline {
    double *constant; /* outputs, or classes: what is predicted */
    double *linear;   /* kept x outputs, or kept x classes; NULL: none */
    const char *word;
} krein_baseline;
krein_status krein__report_baseline(krein_reporting *r, krein_baseline *out);
void krein__baseline_clear(krein_ctx *ctx, krein_baseline *b);
krein_status krein__report_residuals(krein_reporting *r);
krein_status krein__report_curves(krein_reporting *r);
krein_status krein__report_coverage(krein_reporting *r);
/* Scores of a class against the rest: two classes, the score; else that of the class. False: there
 * are none (votes without probabilities). out: kept rows. */
bool krein__report_side(const krein_reporting *r, int64_t class, double *out);
/* Areas from scores in the order `order` (descending), by the weights of the rows; positive: 1 for
 * rows of the class. NaN: one side is empty. */
double krein__roc_area(int64_t n, const int32_t *order, const double *score, const int8_t *positive,
                       const double *weight);
double krein__pr_area(int64_t n, const int32_t *order, const double *score, const int8_t *positive,
                      const double *weight);
/* The order of scores, the largest first, equal ones by their numbers. */
krein_status krein__score_order(krein_ctx *ctx, int64_t n, const double *score, int32_t *order);

/* inputs.c, importance.c, dependence.c, odd.c, learning.c, spectrum.c, clusters.c */
krein_status krein__report_inputs(krein_reporting *r);
/* The number of the file that an encoded value without clip and metric stands for. */
double krein__report_raw(const krein_reporting *r, const krein_input_numbers *in, double x);
double krein__report_encoded(const krein_reporting *r, const krein_input_numbers *in, double raw);
/* Whether it is missing in a row without clip and metric; and makes it a value that is not. */
bool krein__report_missing(const krein_reporting *r, const krein_input_numbers *in, const float *x);
void krein__report_set(const krein_reporting *r, const krein_input_numbers *in, float value,
                       float *x);
/* The encoded column that has this number. */
int64_t krein__report_number_column(const krein_reporting *r, const krein_input_numbers *in);
/* Its range over the training rows; false: not known. And whether a value is outside of it. */
bool krein__report_trained_range(const krein_reporting *r, const krein_input_numbers *in,
                                 double *low, double *high);
bool krein__report_outside(const krein_reporting *r, const krein_input_numbers *in, double value);
krein_status krein__report_importance(krein_reporting *r);
krein_status krein__report_dependence(krein_reporting *r);
/* A row of the pass over all of them; ODD of the largest errors stay. */
krein_status krein__odd_offer(krein_reporting *r, const krein_block *b, int64_t i,
                              const double *score, const double *p);
krein_status krein__report_odd(krein_reporting *r);
krein_status krein__report_learning(krein_reporting *r);
krein_status krein__report_spectrum(krein_reporting *r);
/* Before the rows are read: classes of the data of a model that has no labels. */
krein_status krein__report_own_classes(krein_reporting *r);
krein_status krein__report_clusters(krein_reporting *r);

/* ---- what is made of the numbers ---------------------------------------- */

extern const char *const krein__metric_names[]; /* by krein_metric_kind */
krein_status krein__report_json(const krein_report_numbers *n, krein_buffer *out);
krein_status krein__report_page(const krein_report_numbers *n, const char *title,
                                krein_buffer *out);
void krein__report_clear(krein_ctx *ctx, krein_report_numbers *n);

#endif
