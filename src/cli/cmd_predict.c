/* cmd_predict.c -- krein predict: one prediction a line, in constant memory.
 *
 *   [id,]class[,score...][,probability...]      a dropped row: an empty line
 *   [id,]number[,number...]                     these are the scores
 *
 * Lines of one cell are the bare class name; lines of several are CSV, quoted where a
 * name or id needs it. Probabilities are in the order of the classes, which is that of
 * `krein info`. With --json and no -o the predictions are in the object. */
#include "cli/cli.h"

#include "base/base.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const krein_model *model;
    krein_model_info info;
    bool scores, probabilities, id;
    FILE *f; /* NULL: into the arrays */
    json_t *predictions, *score_rows, *probability_rows, *ids;
    int64_t n;
    bool write_failed;
    int error;
} sink;

static bool dropped(const sink *s, const krein_prediction *p) {
    if (s->info.task == KREIN_TASK_CLASSIFICATION) return p->label < 0;
    if (s->info.task == KREIN_TASK_MULTILABEL) return !p->labels;
    return !p->values || isnan(p->values[0]);
}

static void put_numbers(FILE *f, const double *values, int64_t n) {
    char number[40];
    for (int64_t k = 0; k < n; k++) {
        fputc(',', f);
        fputs(cli_float_text(values[k], number), f);
    }
}

/* The names of the row's labels, | between them. */
static void put_labels(const sink *s, const krein_prediction *p, bool several) {
    size_t length = 1;
    for (int64_t c = 0; c < p->nclasses; c++)
        if (p->labels[c]) length += strlen(krein_model_class(s->model, c)) + 1;
    char *text = malloc(length), *to = text;
    for (int64_t c = 0; text && c < p->nclasses; c++)
        if (p->labels[c]) {
            if (to > text) *to++ = '|';
            to = stpcpy(to, krein_model_class(s->model, c));
        }
    if (text) *to = 0;
    cli_put_cell(s->f, text ? text : "?", several);
    free(text);
}

/* Names of the columns of label sets with numbers behind them. */
static void put_header(const sink *s) {
    char text[256];
    const struct {
        bool there;
        const char *what;
    } all[] = {{s->scores, "score"}, {s->probabilities, "probability"}};
    if (s->info.task != KREIN_TASK_MULTILABEL || !(s->scores || s->probabilities)) return;
    fputs(s->id ? "id,labels" : "labels", s->f);
    for (int k = 0; k < 2; k++)
        for (int64_t c = 0; all[k].there && c < s->info.classes; c++) {
            snprintf(text, sizeof text, "%s %s", all[k].what, krein_model_class(s->model, c));
            fputc(',', s->f);
            cli_put_cell(s->f, text, true);
        }
    fputc('\n', s->f);
}

static void put_line(const sink *s, const krein_prediction *p) {
    char number[40];
    const bool labels = s->info.task == KREIN_TASK_MULTILABEL;
    const bool classes = s->info.task == KREIN_TASK_CLASSIFICATION || labels;
    const bool several = s->id || s->scores || s->probabilities;
    if (s->n == 1) put_header(s);
    if (labels && dropped(s, p)) fputc('?', s->f); /* nothing is the empty set */
    if (!dropped(s, p)) {
        if (s->id) {
            cli_put_cell(s->f, p->id ? p->id : "", true);
            fputc(',', s->f);
        }
        if (labels)
            put_labels(s, p, several);
        else if (classes)
            cli_put_cell(s->f, krein_model_class(s->model, p->label), several);
        else
            for (int64_t k = 0; k < s->info.outputs; k++) {
                if (k) fputc(',', s->f);
                fputs(cli_float_text(p->values[k], number), s->f);
            }
        if (classes && s->scores) put_numbers(s->f, p->scores, p->nscores);
        if (s->probabilities) put_numbers(s->f, p->probabilities, p->nclasses);
    }
    fputc('\n', s->f);
}

static json_t *numbers(const double *values, int64_t n) {
    json_t *array = json_array();
    for (int64_t k = 0; k < n; k++) json_array_append_new(array, cli_json_number(values[k]));
    return array;
}

static json_t *label_names(const sink *s, const krein_prediction *p) {
    json_t *names = json_array();
    for (int64_t c = 0; c < p->nclasses; c++)
        if (p->labels[c])
            json_array_append_new(names, cli_json_text(krein_model_class(s->model, c)));
    return names;
}

static void keep(const sink *s, const krein_prediction *p) {
    const bool gone = dropped(s, p);
    json_t *value = json_null();
    if (!gone && s->info.task == KREIN_TASK_CLASSIFICATION)
        value = cli_json_text(krein_model_class(s->model, p->label));
    else if (!gone && s->info.task == KREIN_TASK_MULTILABEL)
        value = label_names(s, p);
    else if (!gone && s->info.outputs > 1)
        value = numbers(p->values, s->info.outputs);
    else if (!gone)
        value = cli_json_number(p->values[0]);
    json_array_append_new(s->predictions, value);
    if (s->scores)
        json_array_append_new(s->score_rows, gone ? json_null() : numbers(p->scores, p->nscores));
    if (s->probabilities)
        json_array_append_new(s->probability_rows,
                              gone ? json_null() : numbers(p->probabilities, p->nclasses));
    if (s->id) json_array_append_new(s->ids, cli_json_text(p->id));
}

static krein_status on_prediction(void *user, const krein_prediction *p) {
    sink *s = user;
    s->n++;
    if (!s->f) {
        keep(s, p);
        return KREIN_OK;
    }
    put_line(s, p);
    if (!ferror(s->f)) return KREIN_OK;
    s->error = errno;
    s->write_failed = true;
    return KREIN_EIO;
}

static json_t *class_names(const sink *s) {
    json_t *names = json_array();
    for (int64_t k = 0; k < s->info.classes; k++)
        json_array_append_new(names, cli_json_text(krein_model_class(s->model, k)));
    return names;
}

static void print_json(const cli_app *app, const sink *s) {
    const cli_args *a = &app->args;
    json_t *object =
        json_pack("{s:s, s:o, s:o, s:o, s:o}", "command", "predict", "model",
                  cli_json_text(a->operand[0]), "n", cli_json_count(s->n), "output",
                  cli_json_text(a->output), "seconds", cli_json_number(cli_seconds(app)));
    if (s->probabilities || s->info.task == KREIN_TASK_MULTILABEL)
        json_object_set_new(object, "classes", class_names(s));
    if (!s->f) {
        json_object_set(object, "predictions", s->predictions);
        if (s->scores) json_object_set(object, "scores", s->score_rows);
        if (s->probabilities) json_object_set(object, "probabilities", s->probability_rows);
        if (s->id) json_object_set(object, "ids", s->ids);
    }
    cli_print_json(object);
}

/* Exit status 0 when the model has the probabilities that are asked for. */
static int check_probabilities(const cli_args *a, const krein_model_info *info) {
    if (!a->probabilities || info->probabilities) return CLI_OK;
    if (info->classes == 0)
        return cli_error(CLI_USAGE,
                         "predict: %s predicts numbers: there are no classes to have "
                         "--probabilities; leave it out",
                         a->operand[0]);
    if (info->task == KREIN_TASK_MULTILABEL)
        return cli_error(CLI_USAGE, "predict: %s has no probabilities: %s makes none; use --scores",
                         a->operand[0], info->learner);
    return cli_error(
        CLI_USAGE,
        "predict: %s was trained without --probabilities; train it again with them, or "
        "use --scores",
        a->operand[0]);
}

int cli_cmd_predict(cli_app *app) {
    const cli_args *a = &app->args;
    krein_status st = KREIN_OK;
    krein_model *model = NULL;
    krein_data *data = NULL;
    cli_file file = {0};
    sink s = {.scores = a->scores, .probabilities = a->probabilities, .id = a->id != NULL};
    int status = CLI_OK;
    const char *output = a->output && !cli_silent() ? a->output : "-";
    if (a->json && a->output && strcmp(a->output, "-") == 0)
        return cli_error(CLI_USAGE, "predict: --json and -o - both want standard output");
    if ((status = cli_check_output(a, output)) != CLI_OK) return status;
    cli_warn_ignored(app);
    TRY(krein_model_load(app->ctx, a->operand[0], &model));
    s.model = model;
    s.info = KREIN_SIZED(krein_model_info);
    krein_model_describe(model, &s.info);
    if ((status = check_probabilities(a, &s.info)) != CLI_OK) goto done;
    TRY(cli_open(app, a->operand[1], a->labels, &data));
    if (a->json && !a->output) {
        s.predictions = json_array();
        s.score_rows = json_array();
        s.probability_rows = json_array();
        s.ids = json_array();
    } else if (cli_file_open(app, &file, output)) {
        s.f = file.stream;
        app->streamed = s.f == stdout;
    } else {
        status = CLI_FAILED;
        goto done;
    }
    TRY(krein_predict(app->ctx, model, data, on_prediction, &s));
    cli_progress_erase(app);
    if (s.f && !cli_file_commit(&file)) status = CLI_FAILED;
    if (status == CLI_OK && a->json) print_json(app, &s);
done:
    if (st != KREIN_OK && s.write_failed && !cli_cancelled()) {
        /* A closed pipe is no news; main looks at stdout by itself. */
        cli_progress_erase(app);
        if (s.f != stdout) cli_error(0, "%s: %s", output, strerror(s.error));
        status = CLI_FAILED;
    } else if (st != KREIN_OK) {
        status = cli_failure(app, st);
    }
    cli_file_abort(&file);
    json_decref(s.predictions);
    json_decref(s.score_rows);
    json_decref(s.probability_rows);
    json_decref(s.ids);
    krein_data_close(data);
    krein_model_destroy(model);
    return status;
}
