/* cmd_demo.c -- krein demo: the two-minute tour.
 *
 * Every line that is shown with "$ krein" is what a user would type, and is run as such: it
 * goes through the option parser and the commands' own functions, in a temporary directory
 * that is removed at the end. */
#include "cli/cli.h"

#include "base/base.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS = 16, LINE = 160 };

typedef struct {
    cli_app *app;
    bool talk; /* not with --json */
    char folder[512];
} demo;

/* ---- the temporary directory -------------------------------------------- */

static int enter(demo *d) {
    const char *tmp = getenv("TMPDIR");
    snprintf(d->folder, sizeof d->folder, "%s/krein-demo-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(d->folder)) {
        cli_error(0, "%s: %s; set TMPDIR to a directory you may write to", d->folder,
                  strerror(errno));
        d->folder[0] = 0;
        return CLI_FAILED;
    }
    if (chdir(d->folder) != 0) return cli_error(CLI_FAILED, "%s: %s", d->folder, strerror(errno));
    return CLI_OK;
}

static void leave(const demo *d) {
    DIR *folder = d->folder[0] ? opendir(d->folder) : NULL;
    if (!folder) return;
    for (const struct dirent *e; (e = readdir(folder));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            unlinkat(dirfd(folder), e->d_name, 0);
    closedir(folder);
    if (chdir("/") == 0) rmdir(d->folder);
}

/* ---- commands as typed -------------------------------------------------- */

typedef struct {
    cli_app app;
    char line[LINE];
    char *argv[WORDS];
} typed;

/* Shows the line and parses it; the words of our own lines need no quotes. */
static int type(const demo *d, const char *line, typed *out) {
    int argc = 0;
    char *save = NULL;
    memset(out, 0, sizeof *out);
    snprintf(out->line, sizeof out->line, "%s", line);
    if (d->talk) {
        printf("$ krein %s\n", line);
        fflush(stdout);
    }
    for (char *w = strtok_r(out->line, " ", &save); w && argc < WORDS - 1;
         w = strtok_r(NULL, " ", &save))
        out->argv[argc++] = w;
    out->app = *d->app;
    out->app.command = cli_find_command(out->argv[0]);
    cli_defaults(&out->app.args);
    if (!out->app.command || !cli_parse(out->app.command, argc, out->argv, &out->app.args))
        return CLI_USAGE;
    out->app.args.quiet = true;
    out->app.started = krein__clock();
    return CLI_OK;
}

/* KREIN_TEST_DEMO divides the rows: a test need not take as long as a tour. */
static int generate(const demo *d, const char *what, int rows, const char *rest) {
    typed t;
    krein_generate_options o;
    char line[LINE];
    const char *divisor = getenv("KREIN_TEST_DEMO");
    const int by = divisor ? atoi(divisor) : 1;
    snprintf(line, sizeof line, "generate %s -n %d %s", what, by > 0 ? rows / by : rows, rest);
    const int status = type(d, line, &t);
    if (status != CLI_OK) return status;
    krein_generate_options_init(&o);
    o.n = t.app.args.rows;
    o.seed = t.app.args.seed;
    const krein_status st =
        krein_generate(d->app->ctx, t.app.args.operand[0], &o, t.app.args.output);
    return st == KREIN_OK ? CLI_OK : cli_failure(d->app, st);
}

static int train(const demo *d, const char *line, const char *model, cli_trained *out) {
    typed t;
    const int status = type(d, line, &t);
    memset(out, 0, sizeof *out);
    return status == CLI_OK ? cli_train(&t.app, model, out) : status;
}

/* ---- the picture -------------------------------------------------------- */

enum { COLUMNS = 64, LINES = 26, SHOWN = 220 };

/* Classes of the grid by the model, and some of the points by the file, on top. */
static int picture(const demo *d, const krein_model *model) {
    static float x[COLUMNS * LINES][2];
    static double score[COLUMNS * LINES];
    char cell[LINES][COLUMNS];
    for (int i = 0; i < LINES; i++)
        for (int j = 0; j < COLUMNS; j++) {
            x[i * COLUMNS + j][0] = 1.15f * (2 * ((float)j + 0.5f) / COLUMNS - 1);
            x[i * COLUMNS + j][1] = 1.15f * (1 - 2 * ((float)i + 0.5f) / LINES);
        }
    const krein_status st =
        krein_predict_dense(d->app->ctx, model, (int64_t)COLUMNS * LINES, 2, x[0], 2, score);
    if (st != KREIN_OK) return cli_failure(d->app, st);
    for (int i = 0; i < LINES; i++)
        for (int j = 0; j < COLUMNS; j++) cell[i][j] = score[i * COLUMNS + j] > 0 ? '.' : ' ';

    FILE *f = fopen("spiral.csv", "re");
    char line[LINE];
    const char *second = krein_model_class(model, 1);
    for (int k = -1; f && k < SHOWN && fgets(line, sizeof line, f); k++) {
        char *end = line;
        if (k < 0) continue; /* the header */
        const char *label = strtok_r(line, ",", &end);
        const double u = strtod(end, &end), v = strtod(end + (*end == ','), NULL);
        const int j = (int)floor((u / 1.15 + 1) / 2 * COLUMNS);
        const int i = (int)floor((1 - v / 1.15) / 2 * LINES);
        if (i < 0 || i >= LINES || j < 0 || j >= COLUMNS) continue;
        cell[i][j] = label && second && strcmp(label, second) == 0 ? 'x' : 'o';
    }
    if (f) fclose(f);

    const bool colour = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
    for (int i = 0; i < LINES; i++) {
        fputs("    ", stdout);
        for (int j = 0; j < COLUMNS; j++) {
            const bool first = score[i * COLUMNS + j] <= 0;
            if (colour) fputs(first ? "\033[44;97m" : "\033[43;30m", stdout);
            putchar(colour && cell[i][j] == '.' ? ' ' : cell[i][j]);
            if (colour && j == COLUMNS - 1) fputs("\033[0m", stdout);
        }
        putchar('\n');
    }
    return CLI_OK;
}

/* ---- the tour ----------------------------------------------------------- */

typedef struct {
    const char *what;
    double rmse, seconds;
    int64_t n;
} result;

static int regression(const demo *d, result results[3]) {
    static const struct {
        const char *what, *line, *model;
    } runs[] = {
        {"krein train, no options", "train arm.csv --test test.csv", "arm.krein"},
        {"linear model", "train arm.csv --test test.csv -k linear -o linear.krein", "linear.krein"},
        {"exact kernel, fewer rows", "train few.csv --test test.csv -m exact", "few.krein"}};
    int status;
    char bytes[32], number[32], seconds[32];
    if (d->talk)
        puts("1. Regression: where is the hand of a robot arm, given the angles of its joints?\n");
    if ((status = generate(d, "arm", 40000, "-o arm.csv"))) return status;
    if ((status = generate(d, "arm", 5000, "--seed 2 -o test.csv"))) return status;
    for (int k = 0; k < 3; k++) {
        cli_trained t;
        if (k == 2 && (status = generate(d, "arm", 2000, "-o few.csv"))) return status;
        if ((status = train(d, runs[k].line, runs[k].model, &t))) return status;
        results[k] =
            (result){runs[k].what, t.report.test->rmse, t.report.seconds_total, t.report.n};
        if (k == 0 && d->talk) {
            cli_print_report(stdout, &t);
            cli_line(stdout, "peak memory", "%s", krein__bytes_text((double)cli_peak_rss(), bytes));
            puts("\nNothing was said about kernel, features or regularisation: all of it was\n"
                 "chosen from the data. Beside it, a linear model of the same rows, and the\n"
                 "kernel itself on as many rows as a kernel matrix is pleasant for:\n");
        }
        cli_trained_clear(d->app, &t);
    }
    if (!d->talk) return CLI_OK;
    printf("\n    %-28s %10s %12s %10s\n", "", "rows", "test RMSE", "time");
    for (int k = 0; k < 3; k++)
        printf("    %-28s %10s %12.5g %10s\n", results[k].what,
               cli_count_text(results[k].n, number), results[k].rmse,
               cli_seconds_text(results[k].seconds, seconds));
    return CLI_OK;
}

static int classification(const demo *d, double *error) {
    cli_trained t;
    int status;
    if (d->talk) puts("\n2. Classification: two spirals\n");
    if ((status = generate(d, "spiral", 2000, "-o spiral.csv"))) return status;
    if ((status = train(d, "train spiral.csv", "spiral.krein", &t))) return status;
    *error = t.report.loo;
    if (d->talk) {
        cli_print_report(stdout, &t);
        puts("\nThe plane as the model sees it (dots: the second class), and some of the rows:\n");
        status = picture(d, t.model);
    }
    cli_trained_clear(d->app, &t);
    return status;
}

int cli_cmd_demo(cli_app *app) {
    demo d = {.app = app, .talk = !app->args.json};
    result results[3];
    double error = NAN;
    app->args.quiet = !app->args.verbose; /* the bar stays */
    int status = enter(&d);
    if (status == CLI_OK) status = regression(&d, results);
    if (status == CLI_OK) status = classification(&d, &error);
    leave(&d);
    if (status != CLI_OK) return status;
    if (app->args.json) {
        json_t *list = json_array();
        for (int k = 0; k < 3; k++)
            json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:o}", "what", results[k].what,
                                                  "n", cli_json_count(results[k].n), "rmse",
                                                  cli_json_number(results[k].rmse), "seconds",
                                                  cli_json_number(results[k].seconds)));
        cli_print_json(json_pack("{s:s, s:o, s:o, s:I, s:o}", "command", "demo", "regression", list,
                                 "spiral_loo_error", cli_json_number(error), "peak_rss_bytes",
                                 (json_int_t)cli_peak_rss(), "seconds",
                                 cli_json_number(cli_seconds(app))));
        return CLI_OK;
    }
    puts("\nTry next:\n"
         "  krein train your.csv --holdout 0.2      the same on your data\n"
         "  krein predict your.krein new.csv        one prediction a line\n"
         "  krein help train                        what can be said, when something must be");
    return CLI_OK;
}
