/* cmd_predict.c -- krein predict: one prediction a line, in constant memory.
 *
 *   [id,]class[,score...][,probability...][,set][,novelty]      a dropped row: an empty line
 *   [id,]number[,number...][,std...][,lower,upper...][,novelty]  these are the scores
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
    krein_predict_options ask;
    bool scores, probabilities, id;
    FILE *f; /* NULL: into the arrays */
    json_t *predictions, *score_rows, *probability_rows, *ids;
    json_t *stds, *lowers, *uppers, *sets, *novelties;
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

/* The names of labels or classes, | between them. */
static void put_labels(const sink *s, int64_t n, const int8_t *in, bool several) {
    size_t length = 1;
    for (int64_t c = 0; c < n; c++)
        if (in[c]) length += strlen(krein_model_class(s->model, c)) + 1;
    char *text = malloc(length), *to = text;
    for (int64_t c = 0; text && c < n; c++)
        if (in[c]) {
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

/* How sure it is. */
static void put_told(const sink *s, const krein_prediction *p) {
    char number[40];
    const int64_t k = s->info.outputs;
    if (p->std) put_numbers(s->f, p->std, k);
    for (int64_t c = 0; p->lower && c < k; c++) {
        put_numbers(s->f, &p->lower[c], 1);
        put_numbers(s->f, &p->upper[c], 1);
    }
    if (p->set) {
        fputc(',', s->f);
        put_labels(s, p->nclasses, p->set, true);
    }
    if (s->ask.novelty) fprintf(s->f, ",%s", cli_float_text(p->novelty, number));
}

/* A name for each of k columns, numbered where they are several. */
static void put_names(FILE *f, const char *name, int64_t k) {
    for (int64_t c = 1; c <= k; c++) {
        fprintf(f, "%s%s", *name ? "," : "", name);
        if (k > 1) fprintf(f, "%lld", (long long)c);
    }
}

static void put_head(const sink *s) {
    const bool classes = s->info.task == KREIN_TASK_CLASSIFICATION;
    const int64_t k = s->info.outputs;
    fputs(s->id ? "id,prediction" : "prediction", s->f);
    if (!classes && k > 1) fputc('1', s->f);
    for (int64_t c = 2; !classes && c <= k; c++) fprintf(s->f, ",prediction%lld", (long long)c);
    if (classes && s->scores) put_names(s->f, "score", k);
    for (int64_t c = 0; s->probabilities && c < s->info.classes; c++) {
        fputc(',', s->f);
        cli_put_cell(s->f, krein_model_class(s->model, c), true);
    }
    if (s->ask.std) put_names(s->f, "std", k);
    for (int64_t c = 1; s->ask.interval > 0 && !classes && c <= k; c++) {
        if (k > 1)
            fprintf(s->f, ",lower%lld,upper%lld", (long long)c, (long long)c);
        else
            fputs(",lower,upper", s->f);
    }
    if (s->ask.interval > 0 && classes) fputs(",set", s->f);
    if (s->ask.novelty) fputs(",novelty", s->f);
    fputc('\n', s->f);
}

static bool told(const sink *s) { return s->ask.std || s->ask.interval > 0 || s->ask.novelty; }

static void put_line(const sink *s, const krein_prediction *p) {
    char number[40];
    const bool labels = s->info.task == KREIN_TASK_MULTILABEL;
    const bool classes = s->info.task == KREIN_TASK_CLASSIFICATION || labels;
    const bool several = s->id || s->scores || s->probabilities || told(s);
    if (s->n == 1) put_header(s);
    if (labels && dropped(s, p)) fputc('?', s->f); /* nothing is the empty set */
    if (!dropped(s, p)) {
        if (s->id) {
            cli_put_cell(s->f, p->id ? p->id : "", true);
            fputc(',', s->f);
        }
        if (labels)
            put_labels(s, p->nclasses, p->labels, several);
        else if (classes)
            cli_put_cell(s->f, krein_model_class(s->model, p->label), several);
        else
            for (int64_t k = 0; k < s->info.outputs; k++) {
                if (k) fputc(',', s->f);
                fputs(cli_float_text(p->values[k], number), s->f);
            }
        if (classes && s->scores) put_numbers(s->f, p->scores, p->nscores);
        if (s->probabilities) put_numbers(s->f, p->probabilities, p->nclasses);
        put_told(s, p);
    }
    fputc('\n', s->f);
}

static json_t *numbers(const double *values, int64_t n) {
    json_t *array = json_array();
    for (int64_t k = 0; k < n; k++) json_array_append_new(array, cli_json_number(values[k]));
    return array;
}

static json_t *label_names(const sink *s, int64_t n, const int8_t *in) {
    json_t *names = json_array();
    for (int64_t c = 0; c < n; c++)
        if (in[c]) json_array_append_new(names, cli_json_text(krein_model_class(s->model, c)));
    return names;
}

/* One number, or one for each output. */
static json_t *outputs(const double *values, int64_t n) {
    if (!values) return json_null();
    return n > 1 ? numbers(values, n) : cli_json_number(values[0]);
}

static void keep_told(const sink *s, const krein_prediction *p) {
    const int64_t k = s->info.outputs;
    if (s->ask.std) json_array_append_new(s->stds, outputs(p->std, k));
    if (s->ask.interval > 0 && s->info.task == KREIN_TASK_CLASSIFICATION) {
        json_array_append_new(s->sets, p->set ? label_names(s, p->nclasses, p->set) : json_null());
    } else if (s->ask.interval > 0) {
        json_array_append_new(s->lowers, outputs(p->lower, k));
        json_array_append_new(s->uppers, outputs(p->upper, k));
    }
    if (s->ask.novelty) json_array_append_new(s->novelties, cli_json_number(p->novelty));
}

static void keep(const sink *s, const krein_prediction *p) {
    const bool gone = dropped(s, p);
    json_t *value = json_null();
    if (!gone && s->info.task == KREIN_TASK_CLASSIFICATION)
        value = cli_json_text(krein_model_class(s->model, p->label));
    else if (!gone && s->info.task == KREIN_TASK_MULTILABEL)
        value = label_names(s, p->nclasses, p->labels);
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
    keep_told(s, p);
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
        if (s->ask.std) json_object_set(object, "std", s->stds);
        if (s->ask.interval > 0 && s->info.task == KREIN_TASK_CLASSIFICATION) {
            json_object_set(object, "sets", s->sets);
        } else if (s->ask.interval > 0) {
            json_object_set(object, "lower", s->lowers);
            json_object_set(object, "upper", s->uppers);
        }
        if (s->ask.novelty) json_object_set(object, "novelty", s->novelties);
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
    return cli_error(
        CLI_USAGE,
        "predict: %s was trained without --probabilities; train it again with them, or "
        "use --scores",
        a->operand[0]);
}

/* The same for how sure it is. */
static int check_told(const cli_args *a, const sink *s) {
    const int says = s->info.uncertainty;
    if (!told(s)) return CLI_OK;
    if (!says)
        return cli_error(CLI_USAGE,
                         "predict: %s was trained without --uncertainty, which --std, --interval "
                         "and --novelty need; train it again with it",
                         a->operand[0]);
    if (s->ask.std && !(says & KREIN_SAYS_STD) && s->info.task == KREIN_TASK_REGRESSION)
        return cli_error(CLI_USAGE,
                         "predict: %s is %s: --std needs krr on a positive definite kernel; this "
                         "model has --interval",
                         a->operand[0], s->info.learner);
    if (s->ask.std && !(says & KREIN_SAYS_STD))
        return cli_error(CLI_USAGE,
                         "predict: %s predicts classes: they have --probabilities and --interval, "
                         "and no --std",
                         a->operand[0]);
    if (s->ask.novelty && !(says & KREIN_SAYS_NOVELTY))
        return cli_error(CLI_USAGE,
                         "predict: %s is %s: --novelty needs krr on a positive definite kernel, "
                         "trained with --uncertainty",
                         a->operand[0], s->info.learner);
    return CLI_OK;
}

int cli_cmd_predict(cli_app *app) {
    const cli_args *a = &app->args;
    krein_status st = KREIN_OK;
    krein_model *model = NULL;
    krein_data *data = NULL;
    cli_file file = {0};
    sink s = {.scores = a->scores, .probabilities = a->probabilities, .id = a->id != NULL};
    krein_predict_options_init(&s.ask);
    s.ask.std = a->std;
    s.ask.interval = a->interval;
    s.ask.novelty = a->novelty;
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
    if ((status = check_told(a, &s)) != CLI_OK) goto done;
    TRY(cli_open(app, a->operand[1], a->labels, &data));
    if (a->json && !a->output) {
        s.predictions = json_array();
        s.score_rows = json_array();
        s.probability_rows = json_array();
        s.ids = json_array();
        s.stds = json_array();
        s.lowers = json_array();
        s.uppers = json_array();
        s.sets = json_array();
        s.novelties = json_array();
    } else if (cli_file_open(app, &file, output)) {
        s.f = file.stream;
        app->streamed = s.f == stdout;
    } else {
        status = CLI_FAILED;
        goto done;
    }
    if (s.f && told(&s) && a->header == 1) put_head(&s);
    TRY(krein_predict_with(app->ctx, model, data, &s.ask, on_prediction, &s));
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
    json_decref(s.stds);
    json_decref(s.lowers);
    json_decref(s.uppers);
    json_decref(s.sets);
    json_decref(s.novelties);
    krein_data_close(data);
    krein_model_destroy(model);
    return status;
}
