/* cli.h -- what the files of the program share. */
#ifndef KREIN_CLI_H
#define KREIN_CLI_H

#include "krein.h"
#include "base/target.h"
#include "cli/options.h"
#include "draw/svg.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>

/* Exit statuses. */
enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

typedef struct cli_progress {
    bool shown;     /* there is a bar on the terminal now */
    bool wanted;    /* stderr is a terminal and the user is not quiet */
    double started; /* clock at the start of `what` */
    char what[64];
} cli_progress;

typedef struct cli_app {
    cli_args args;
    const cli_command *command;
    krein_ctx *ctx; /* NULL for commands that do not compute */
    cli_progress progress;
    double started;
    bool streamed; /* some results went to stdout already */
} cli_app;

/* ---- main.c ------------------------------------------------------------- */

/* True after the first Ctrl-C or SIGTERM. */
bool cli_cancelled(void);
/* "krein: ..." on stderr; returns the status given. */
int cli_error(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The exit status of a library call that failed, after printing its message. */
int cli_failure(cli_app *app, krein_status status);
/* The exit status that it has. */
int cli_status_of(krein_status status);
/* True when standard output is a pipe that nobody reads any more. */
bool cli_stdout_gone(void);
double cli_seconds(const cli_app *app); /* since the start of the command */

/* ---- ranks.c: under a launcher, mpirun ---------------------------------- */

void cli_ranks_begin(void);                      /* first of all */
bool cli_silent(void);                           /* another process speaks for this one */
void cli_keep(const char *format, va_list list); /* instead of printing it */
/* True when this process runs the command; else the exit status is set. */
bool cli_ranks_admit(cli_app *app, int *status);
int cli_ranks_join(cli_app *app);             /* with the context made */
int cli_ranks_part(cli_app *app, int status); /* the exit status of all ranks */
int cli_ranks_end(int status);                /* last of all */

/* ---- progress.c --------------------------------------------------------- */

void cli_progress_begin(cli_app *app);
void cli_progress_erase(cli_app *app);
void cli_on_progress(void *app, const char *what, double done, double total);
/* A text of the library with the flags of this program for its options, good for the next few
 * calls; text may be NULL. And the lists of the library in such texts. */
const char *cli_flags(const char *text);
int cli_list(int64_t i, krein_entry *out);
int cli_list_option(int64_t i, int64_t k, krein_option_info *out);
void cli_on_log(void *app, krein_log_level level, const char *text);

/* ---- setup.c: options to the library's structs -------------------------- */

krein_status cli_open(cli_app *app, const char *path, const char *labels, krein_data **out);
/* The same on another context, from any thread. */
krein_status cli_open_on(const cli_args *args, krein_ctx *ctx, const char *path, const char *labels,
                         krein_data **out);
void cli_train_options(const cli_args *args, krein_train_options *out);
/* What train and plan are given: options, and data that the options name too. */
typedef struct cli_training {
    krein_train_options options;
    krein_data *data, *test, *unlabeled;
} cli_training;
krein_status cli_training_open(cli_app *app, cli_training *out);
void cli_training_close(cli_training *t);
/* A warning for options that the model decides; predict and evaluate. */
void cli_warn_ignored(cli_app *app);

/* ---- output.c ----------------------------------------------------------- */

/* Prints the object on one line of stdout and releases it. */
void cli_print_json(json_t *object);
json_t *cli_json_number(double x);                         /* NaN and infinity: null */
void cli_json_fact(json_t *facts, const krein_fact *fact); /* "name": its word or number */
json_t *cli_json_count(int64_t n);                         /* negative: null */
json_t *cli_json_text(const char *text); /* NULL: null; bytes that are not UTF-8: as Latin-1 */
json_t *cli_json_metrics(const krein_metrics *m); /* null when nothing was evaluated */
/* Names and paths as a terminal may have them: control characters as \xNN; good for the next few
 * calls. Predictions, which go to programs, are not changed. */
const char *cli_safe(const char *text);
void cli_put_safe(FILE *f, const char *format, va_list list);
/* "label      text" with the text in one column, made safe. */
void cli_line(FILE *f, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void cli_print_metrics(FILE *f, const krein_metrics *m, bool confusion);
const char *cli_metric_name(krein_metric_kind metric);
const char *cli_task_name(krein_task task); /* NULL for auto */
/* 40,000; buf of at least 32 bytes. */
const char *cli_count_text(int64_t n, char *buf);
const char *cli_seconds_text(double seconds, char *buf);
/* A cell of a line, quoted where it must be: for ends of lines, and in CSV for commas and quotes.
 */
void cli_put_cell(FILE *f, const char *text, bool csv);
/* The shortest decimal of at most nine digits that is x to float precision. */
const char *cli_float_text(double x, char *buf);
/* Text folded at `width`, each line after `indent` spaces. */
void cli_print_folded(FILE *f, const char *text, int indent, int width);
/* The same behind a word that stands in the indent of the first line. */
void cli_print_hanging(FILE *f, const char *head, const char *text, int indent, int width);
uint64_t cli_peak_rss(void); /* the most memory that this program had, in bytes */

/* ---- weight_chart.c: several kernels in one model ---------------------------- */

/* The line on the kernel; of a combination how many there are, with a bar for each weight. */
void cli_print_kernel(FILE *f, const char *kernel, int64_t n, const krein_kernel_weight *w);
json_t *cli_json_weights(int64_t n, const krein_kernel_weight *w); /* null where there are none */

/* ---- metric.c: the learned metric of a model ---------------------------- */

/* The line on the metric with the inputs of the largest factors, `shown` at most; nothing where
 * there is none. */
void cli_print_metric(FILE *f, const krein_model *model, int64_t shown);
json_t *cli_json_metric(const krein_model *model); /* null where there is none */

/* ---- file.c: a file written whole or not at all ------------------------- */

typedef struct cli_file {
    FILE *stream;
    krein_target target;
} cli_file;

/* False with the message printed. "-" is standard output. */
bool cli_file_open(cli_app *app, cli_file *file, const char *path);
bool cli_file_commit(cli_file *file);
void cli_file_abort(cli_file *file); /* also after commit and on a zeroed file */
/* Exit status 0 when a file could be made at path; a message otherwise. */
int cli_check_place(const char *path);
/* The same, and that it is none of the files that the command reads. */
int cli_check_output(const cli_args *args, const char *path);
/* Exit status 0 when two outputs (NULL: none) do not go to one file. */
int cli_check_apart(const char *path, const char *other);
/* Exit status 0 when there is an -o and it goes with --json; a message otherwise. */
int cli_need_output(const cli_app *app);
int64_t cli_file_size(const char *path); /* -1: not there */
/* DATA's base name without .gz and extension, with .krein; malloced. */
char *cli_model_name(const char *data);

/* Exit status 0 when a plot can go to --plot; a message otherwise. input: as above. */
int cli_check_plot(const cli_app *app);

/* What a function draws goes to the file of --plot; the exit status. */
int cli_plot_write(cli_app *app, void (*draw)(krein_buffer *f, const void *what), const void *what);
/* The same with n plots, two in a row (draw/svg.h). */
int cli_figure_write(cli_app *app, const char *title, int n, const krein_svg_plot *plots);

/* ---- figures for --plot: each writes its file; the exit status ---------- */

/* What was tried before a training (tried_chart.c). Nothing to draw: a message. */
int cli_tried_chart(cli_app *app, const krein_model *model);
/* The scores of kernels by each criterion (select_chart.c). */
int cli_select_chart(cli_app *app, const krein_select_report *r);

/* Rows in the plane of two principal components, by group (plane_chart.c). */
typedef struct cli_plane {
    int64_t n, room;
    double *x, *y;        /* n; NaN: dropped */
    const int32_t *group; /* n, below groups, or -1; NULL: none */
    int64_t groups;
    char *const *names; /* of the groups; NULL: numbers from 1 */
    const char *what;   /* the groups are: "class", "cluster" */
} cli_plane;
/* Takes values of krein_predict; user is the plane. */
krein_status cli_plane_take(void *user, const krein_prediction *prediction);
int cli_plane_chart(cli_app *app, const krein_pca_report *r, const cli_plane *plane);
void cli_plane_end(cli_plane *plane);

/* ---- spectrum_chart.c: the frequencies of a model, for --plot ------------ */

int cli_spectrum_chart(cli_app *app, const krein_model *model);

/* ---- compare_table.c, compare_chart.c: what compare found --------------- */

typedef enum cli_table {
    CLI_TABLE_TEXT,
    CLI_TABLE_MARKDOWN,
    CLI_TABLE_LATEX,
    CLI_TABLE_CSV
} cli_table;
void cli_compare_table(FILE *f, const krein_compare_report *r, cli_table form);
const char *cli_measure_name(krein_measure measure);
void cli_compare_chart(krein_buffer *f, const krein_compare_report *r);

/* ---- commands ----------------------------------------------------------- */

typedef struct cli_trained {
    krein_report report;
    int64_t bytes; /* of the model file */
    krein_model *model;
} cli_trained;
/* Trains and saves; on success the caller clears `out`. Also used by demo. */
int cli_train(cli_app *app, const char *output, cli_trained *out);
void cli_trained_clear(cli_app *app, cli_trained *out);
/* What was decided about the columns. */
void cli_print_notes(FILE *f, const krein_model *model);
json_t *cli_json_notes(const krein_model *model);

/* What was tried before the training (tried.c); nothing is printed where there is nothing. */
void cli_print_tried(FILE *f, const krein_model *model);
json_t *cli_json_tried(const krein_model *model);
json_t *cli_json_searched(const krein_model *model);
void cli_print_path(FILE *f, const krein_model *model); /* values of lambda */
json_t *cli_json_path(const krein_model *model);
/* Ranges of the input columns, at most so many. */
void cli_print_ranges(FILE *f, const krein_model *model, int64_t inputs, int64_t most);
json_t *cli_json_ranges(const krein_model *model, int64_t inputs);
void cli_print_report(FILE *f, const cli_trained *trained);

/* Entries of a table as text; NULL: all tables. Returns how many there are. */
int64_t cli_print_entries(FILE *f, const char *table);
extern const char *const cli_tables[]; /* kernels, maps, ...; ends with NULL */
/* Variance of principal components, as a table; the first and the last of many. */
void cli_print_variance(FILE *f, int64_t n, const double *variance, double total);
void cli_print_help(FILE *f, const cli_command *command);
void cli_print_usage(FILE *f);
void cli_print_man(FILE *f);

int cli_cmd_train(cli_app *app);
int cli_cmd_predict(cli_app *app);
int cli_cmd_evaluate(cli_app *app);
int cli_cmd_plan(cli_app *app);
int cli_cmd_transform(cli_app *app);
int cli_cmd_gram(cli_app *app);
int cli_cmd_approx(cli_app *app);
int cli_cmd_advise(cli_app *app);
int cli_cmd_compare(cli_app *app);
int cli_cmd_pca(cli_app *app);
int cli_cmd_select(cli_app *app);
int cli_cmd_cluster(cli_app *app);
int cli_cmd_fewshot(cli_app *app);
int cli_cmd_subspace(cli_app *app);
int cli_cmd_generate(cli_app *app);
int cli_cmd_export(cli_app *app);
int cli_cmd_report(cli_app *app);
int cli_cmd_quantize(cli_app *app);
int cli_cmd_info(cli_app *app);
int cli_cmd_list(cli_app *app);
int cli_cmd_help(cli_app *app);
int cli_cmd_demo(cli_app *app);
int cli_cmd_completion(cli_app *app);
int cli_cmd_ranks(cli_app *app);

#endif
