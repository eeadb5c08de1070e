/* fewshot.h -- learning from few examples over many tasks: what the methods share.
 *
 * A method learns something on tasks of the training classes, chooses by tasks of the validation
 * classes, and is measured on tasks of the test classes. Tasks run in parallel, one a thread, each
 * with buffers of its own; what comes out stands at the number of the task, and sums over tasks
 * have one order. */
#ifndef KREIN_FEWSHOT_H
#define KREIN_FEWSHOT_H

#include "base/threads.h"
#include "fewshot/episodes.h"
#include "fewshot/inner.h"
#include "net/trail.h"

typedef struct krein_fewshot_run krein_fewshot_run;
typedef struct krein_fewshot_state krein_fewshot_state;

/* A task on a network: what one thread works with. */
typedef struct krein_bench {
    krein_fewshot_run *f;
    krein_episode e;
    krein_net_work support, query;
    float *p, *q;       /* parameters for support and queries, like the net's */
    float *v, *Hv;      /* like them */
    float *y;           /* zeros: what losses of classes do not read */
    double *th, *g, *a; /* m, m, s of krein__inner_step */
    double *room;       /* of krein__meta_task, or NULL */
} krein_bench;

struct krein_fewshot_run {
    krein_ctx *ctx;
    krein_fewshot_options o;
    krein_images images[2]; /* of the first file, of the second */
    float *centre, *factor; /* scaling of their columns, by the training classes */
    krein_pool train, validate, test;
    krein_episode_size size;
    char *arch;
    krein_net net; /* with `ways` scores, at the start */
    krein_trained trained;
    double *start; /* m: the trained parameters there */
    int64_t benches;
    krein_bench *bench;
    int64_t points, *point;             /* steps on a task behind which accuracies are measured */
    double deadline;                    /* of the method that learns now; 0: none */
    double end;                         /* of the tasks that are measured; 0: none */
    struct krein_feature_net *features; /* shared by methods, once it was wanted */
    krein_fewshot_state *state;         /* of a checkpoint, or NULL */
    krein_subspace learned;             /* the last one; m = 0: none */
};

/* ---- methods ------------------------------------------------------------ */

/* What a method found by its learning. */
typedef struct krein_learned {
    char *detail;   /* what was chosen; or NULL */
    int64_t points; /* accuracies of a task: f->points, or 1 */
    int64_t chosen; /* the one that counts */
    int64_t looks, *look_step, kept;
    double *look_loss, *look_accuracy;
    void *own; /* the method's */
} krein_learned;

typedef struct krein_fewshot_method {
    krein_class cls;
    int64_t variants; /* results that it has, at least 1 */
    bool learns;      /* over tasks or rows of the training classes: it gets a share of the time */
    /* Learns and chooses. */
    krein_status (*learn)(krein_fewshot_run *f, int64_t variant, krein_learned *out);
    /* Accuracies on the task b->e, `points` of them. Called on several threads. */
    krein_status (*solve)(krein_ctx *ctx, const krein_learned *l, krein_bench *b, double *accuracy);
    void (*clear)(krein_fewshot_run *f, krein_learned *l);
} krein_fewshot_method;

#define METHOD(name) extern const krein_fewshot_method name;
#include "fewshot/methods.def"
#undef METHOD
extern const krein_class *const krein__fewshot_methods[];
extern const int64_t krein__fewshot_method_count;

/* ---- tasks: run.c ------------------------------------------------------- */

/* What is done with a task on a bench; ctx has no callbacks. */
typedef krein_status krein_each_fn(krein_ctx *ctx, void *user, krein_bench *b, int64_t which);
/* What it leaves behind: `each` bytes of a task, at their place by its number. */
typedef struct krein_task_result {
    void *data;
    size_t each;
} krein_task_result;
/* For tasks first .. first + n - 1 of that use, drawn before. what: for the progress, or NULL.
 * Where several processes work together each does a part of the tasks, and all get all results. */
krein_status krein__each_task(krein_fewshot_run *f, krein_episode_use use, int64_t first, int64_t n,
                              const char *what, krein_each_fn *fn, void *user,
                              const krein_task_result *out, int64_t outs);
bool krein__tasks_together(const krein_fewshot_run *f); /* several processes do */
bool krein__tasks_first(const krein_fewshot_run *f);    /* this is the one that writes files */
/* All processes fail, or none. */
krein_status krein__tasks_agree(const krein_fewshot_run *f, krein_status st);
/* Accuracies of the method on tasks 0 .. n - 1 of that use: n x points. */
krein_status krein__measure(krein_fewshot_run *f, const krein_fewshot_method *method,
                            const krein_learned *l, krein_episode_use use, int64_t n,
                            const char *what, double *accuracy);
/* The mean over tasks of each of the points. */
void krein__means(int64_t n, int64_t points, const double *accuracy, double *mean);

/* ---- task.c ------------------------------------------------------------- */

krein_status krein__bench_begin(krein_fewshot_run *f, krein_bench *b);
void krein__bench_end(krein_bench *b);
/* The task b->e as functions of the m trained parameters. */
krein_fewshot_task krein__bench_task(krein_bench *b);
/* The rows of the task go into the buffers. */
void krein__bench_load(krein_bench *b);
/* Share of queries whose class the scores at th say. */
double krein__bench_accuracy(krein_bench *b, const double *th);
/* Steps from the start in a space (P NULL: all directions), with the accuracy at the points. */
void krein__bench_descend(krein_bench *b, const krein_inner *in, double *accuracy);

/* ---- outer.c: what is learned over tasks -------------------------------- */

typedef struct krein_outer {
    const char *what; /* for progress and messages */
    int64_t size;
    double *x;   /* start in, best state out */
    double rate; /* of adam */
    int64_t steps;
    krein_status (*gradient)(void *user, int64_t step, const double *x, double *loss, double *g);
    krein_status (*settle)(void *user, double *x); /* behind a step; or NULL */
    krein_status (*validate)(void *user, const double *x, double *accuracy);
    void *user;
} krein_outer;
/* Fills looks and kept of *out. */
krein_status krein__outer_run(krein_fewshot_run *f, krein_outer *o, krein_learned *out);
void krein__learned_clear(krein_ctx *ctx, krein_learned *l);

/* ---- space.c: methods that take gradient steps on a task ----------------- */

typedef struct krein_space {
    krein_inner in;
    double *P;    /* in.P, owned; NULL: all directions, or a new one for each task */
    bool by_task; /* the path on all rows of the task's classes but its queries */
} krein_space;
/* Chooses one of the rates and the number of steps; out->own is the space
 * s, which is taken over. */
krein_status krein__space_choose(krein_fewshot_run *f, const krein_fewshot_method *method,
                                 krein_space *s, int64_t n, const double *rates,
                                 krein_learned *out);
krein_status krein__space_solve(krein_ctx *ctx, const krein_learned *l, krein_bench *b,
                                double *accuracy);
void krein__space_clear(krein_fewshot_run *f, krein_learned *l);
/* Rows of the task's classes that are no queries, and their labels; their number. */
int64_t krein__task_rest(const krein_episode *e, int64_t *row, int32_t *label);
/* The subspace of the path of a training from the start on those rows, classes 0 .. ways - 1. */
krein_status krein__path_subspace(krein_ctx *ctx, const krein_fewshot_run *f,
                                  const krein_images *im, int64_t n, const int64_t *row,
                                  const int32_t *label, double **P, int64_t *s);
/* meta and first-order. */
krein_status krein__meta_learn(krein_fewshot_run *f, const krein_fewshot_method *method, bool exact,
                               krein_learned *out);

/* ---- features.c: a network trained on the training classes --------------- */

/* Learns it, once, and makes the features of all rows of both files: rows of length one. */
krein_status krein__features_learn(krein_fewshot_run *f);
void krein__features_clear(krein_fewshot_run *f);
/* Rows of the images of a task: pixels as they are scaled, or features. */
krein_rows krein__task_space(const krein_fewshot_run *f, const krein_images *im, bool features);

/* ---- ridge_tasks.c: kernel ridge regression on a task --------------------- */

/* Chooses one of n kernels (specs without free parameters) and lambda on validation tasks.
 * features: of the network; else pixels. */
krein_status krein__task_ridge_choose(krein_fewshot_run *f, const krein_fewshot_method *method,
                                      int64_t n, const char *const *kernels, bool features,
                                      krein_learned *out);
krein_status krein__task_ridge_solve(krein_ctx *ctx, const krein_learned *l, krein_bench *b,
                                     double *accuracy);
void krein__task_ridge_clear(krein_fewshot_run *f, krein_learned *l);

#endif
