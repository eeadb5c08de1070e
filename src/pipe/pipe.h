/* pipe.h -- from specs to features: the one object behind every entry point.
 *
 *     begin    specs parsed and checked, before any row is read
 *     meet     data scanned, encoding made, kernel and columns go together
 *     choose   parameters of the kernel: the median distance, or a search (training.h)
 *     map      the map, its size and what the work with it takes; refused where that does not fit
 *     fit      the map is ready: rows in, features and signs out
 *
 * The pipe makes a model from the start (job.model): once fitted it is a feature transformer, and
 * with a head (weights, intercepts, classes) what people call a model.
 *
 * What differs between those who use a pipe is their purpose: what they need memory for, and which
 * map suits them. Everything else stands here once. */
#ifndef KREIN_PIPE_H
#define KREIN_PIPE_H

#include "learn/learn.h"
#include "pipe/limits.h"

/* What can be asked of every pipe. The texts outlive it. */
typedef struct krein_pipe_options {
    const char *kernel; /* NULL: the default */
    const char *map;    /* NULL: by the number of rows, the kernel and the purpose */
    int64_t features;   /* 0: the map's own, or a number by the purpose */
    uint64_t seed;
    int64_t max_exact;
} krein_pipe_options;

/* What the work takes. */
typedef struct krein_need {
    double bytes; /* at most, with what is held already */
    double flops;
    int64_t passes;
    bool fits; /* the bytes are within the budget */
} krein_need;

typedef struct krein_pipe krein_pipe;

typedef struct krein_purpose {
    const char *what;        /* what needs memory, in messages: "training" */
    const char *blind;       /* who knows no labels: "components"; NULL: labels are known */
    krein_matrix_use matrix; /* whether the kernel matrix may be the default */
    const void *user;        /* for the functions below; any of them may be NULL */
    /* Rows up to which it is, where rows are few; NULL: KREIN_EXACT_ROWS. */
    int64_t (*few)(const krein_pipe *p);
    /* Features by default; NULL: KREIN_FEATURES, fewer rows than that: as many as rows. */
    int64_t (*features)(const krein_pipe *p);
    /* The default map of so many features; NULL: by the kernel. */
    const char *(*map)(const krein_pipe *p, int64_t D);
    /* Makes the map of a spec; NULL: of the pipe's one kernel. */
    krein_status (*create)(const krein_pipe *p, const char *spec, int64_t D, krein_map **out);
    /* Rows of the largest kernel matrix; NULL: all. KREIN_EARG where these are too many and there
     * is another way out than features. */
    krein_status (*matrix_rows)(const krein_pipe *p, int64_t *rows);
    /* The default may be that map: what the options rule out. NULL: any. */
    bool (*suits)(const krein_pipe *p, const krein_map *map);
    /* What the work with job.model->map takes; NULL: the map and a block of features. */
    void (*cost)(const krein_pipe *p, krein_need *out);
    /* Further advice where it does not fit; false: none. NULL: none. */
    bool (*advice)(const krein_pipe *p, char *text, size_t size);
} krein_purpose;

struct krein_pipe {
    krein_ctx *ctx;
    krein_pipe_options o;
    krein_purpose purpose;
    krein_kernel *kernel; /* NULL once the map has it (fit) */
    krein_job job;        /* data, rows and their number; model: encoding once met, then the map */
    int64_t rows; /* that features are made of: the training rows, and more in some trainings */
    double rows_bytes; /* of the rows in memory, or of a batch, and all that is held beside */
    bool wide;         /* a linear kernel of more columns than the memory budget allows */
};

/* The default kernel, where none is asked for. */
#define KREIN_KERNEL_DEFAULT "gaussian"

/* Parses the kernel; p is zeroed. And the map, where one is asked for: it takes the kernel, and
 * what is asked of it. */
krein_status krein__pipe_begin(krein_ctx *ctx, const krein_pipe_options *o,
                               const krein_purpose *purpose, krein_pipe *p);
/* The same for a kernel that the pipe takes over. */
krein_status krein__pipe_begin_with(krein_ctx *ctx, const krein_pipe_options *o,
                                    const krein_purpose *purpose, krein_kernel *kernel,
                                    krein_pipe *p);
/* A map that is asked for, made of that kernel: before any row is read. dual may be NULL. */
krein_status krein__pipe_check_map(const krein_pipe *p, const char *spec,
                                   const krein_kernel *kernel, int64_t features, bool *dual);
/* The map that is asked for, not fitted; NULL where none is. The caller's to destroy. */
krein_status krein__pipe_asked_map(const krein_pipe *p, krein_map **out);
/* Scans the data; then kernel, columns and rows. */
krein_status krein__pipe_meet(krein_pipe *p, krein_data *data, krein_label_use labels);
/* Its parts: the scan and the stream of the training rows; the kernel. symmetric: see
 * krein__kernel_meet_rows. */
krein_status krein__pipe_scan(krein_pipe *p, krein_data *data, krein_label_use labels);
krein_status krein__pipe_meet_kernel(krein_pipe *p, bool symmetric);
/* Free parameters of the kernel get the median distance. */
krein_status krein__pipe_median(krein_pipe *p);
/* Chooses the map. need may be NULL: then what does not fit is refused. */
krein_status krein__pipe_map(krein_pipe *p, krein_need *need);
/* A smaller map where its size is the default: features in the place of the kernel matrix, then
 * half as many. *smaller: there was one. */
krein_status krein__pipe_smaller(krein_pipe *p, krein_need *need, bool *smaller);
/* What to do where it does not fit, to text. */
void krein__pipe_advice(krein_pipe *p, char *text, size_t size);
/* KREIN_EMEMORY with the numbers and that. */
krein_status krein__pipe_refuse(krein_pipe *p, const krein_need *need);
/* The map was made of the kernel as it was before its parameters were chosen: now it takes the
 * kernel over. */
void krein__pipe_settle(krein_pipe *p);
/* Settles and fits the map; the model knows the kernel and the map by their specs. */
krein_status krein__pipe_fit(krein_pipe *p);
/* The model ends here: it has no head. Columns that were left out as labels stay so in it, other
 * data may come without. */
krein_status krein__pipe_close_headless(krein_pipe *p);
/* Begins, meets, chooses and fits: a feature transformer. carried: labels are written with the
 * features. job.rows are the rows it was fitted to. */
krein_status krein__pipe_transformer(krein_ctx *ctx, const krein_train_options *options,
                                     krein_data *data, bool carried, krein_pipe *p);
/* Labels that nobody looks at, in the encoding: see above. */
void krein__pipe_name_labels(krein_pipe *p);
/* The model becomes the caller's. */
krein_model *krein__pipe_take_model(krein_pipe *p);
void krein__pipe_end(krein_pipe *p);

/* The number of features was asked for. */
bool krein__pipe_asked(const krein_pipe *p, const krein_map *map);
bool krein__pipe_is_exact(const krein_pipe *p); /* the map is the kernel matrix */
/* Features of a training by default: 4,096, fewer where they would cost more than 2e12 flops or are
 * not fewer than the rows; 1,024 where the rows are very many. */
int64_t krein__training_features(const krein_pipe *p);

#endif
