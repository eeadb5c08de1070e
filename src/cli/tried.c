/* tried.c -- what was tried before a model was trained: candidates, values of kernel parameters and
 * of lambda; as text and JSON. */
#include "cli/cli.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The same kernel, but for its parameters, with the same kind of metric, on the same map. */
static bool alike(const krein_tried *a, const krein_tried *b) {
    size_t length = strcspn(a->kernel, "(");
    return a->metric == b->metric && strcmp(a->learner, b->learner) == 0 &&
           strcmp(a->map, b->map) == 0 && strcspn(b->kernel, "(") == length &&
           memcmp(a->kernel, b->kernel, length) == 0;
}

/* Kernels of the list "k1; k2; ..." that a sum is of; 1: there is one kernel. The name of a file
 * may have a ';' of its own. */
static int64_t kernels_of(const krein_tried *c) {
    int64_t n = 1;
    bool quoted = false;
    for (const char *at = c->kernel; *at; at++) {
        quoted ^= *at == '"';
        n += *at == ';' && !quoted;
    }
    return n;
}

/* The kernel itself: features have a number. */
static bool exact(const krein_tried *c) { return !strchr(c->map, '('); }

enum { CANDIDATE = 400 };

/* "krr  gaussian(sigma=2)", with the map where it is not the kernel itself. */
static const char *candidate_text(const krein_tried *c, char text[CANDIDATE]) {
    int64_t n = kernels_of(c);
    int length = (int)strcspn(c->learner, n > 1 ? "," : "(");
    if (n > 1)
        snprintf(text, CANDIDATE, "%.*s)  %" PRId64 " kernels", length, c->learner, n);
    else
        snprintf(text, CANDIDATE, "%.*s  %s%s%s", length, c->learner, c->kernel,
                 exact(c) ? "" : " on ", exact(c) ? "" : c->map);
    return text;
}

static void print_candidate(FILE *f, const char *label, int width, const krein_tried *c,
                            bool classes) {
    char text[CANDIDATE];
    cli_line(f, label, "%-*s  %-9s %s%.4g%s", width, candidate_text(c, text),
             c->metric ? cli_metric_name(c->metric) : "", classes ? "" : "rmse ",
             classes ? 100 * c->error : c->error, classes ? " % error" : "");
}

/* Where the candidates from `from` on end: those of a weighing, the first of which is a sum, come
 * behind those of a metric, on other rows. */
static int64_t end_of(const krein_model *m, int64_t from) {
    int64_t to = from + 1;
    while (krein_model_tried(m, to) && (kernels_of(krein_model_tried(m, to)) == 1 ||
                                        kernels_of(krein_model_tried(m, from)) > 1))
        to++;
    return to;
}

/* The least error on other rows of its kind, among candidates `from` to `to` that were fitted to
 * the most rows (those of a map to rows of their own); without rows to score there is no error. */
static bool best_of_kind(const krein_model *m, int64_t from, int64_t to, int64_t i) {
    const krein_tried *c = krein_model_tried(m, i);
    bool best = isfinite(c->error);
    for (int64_t j = from; j < to && best; j++) {
        const krein_tried *o = krein_model_tried(m, j);
        if (exact(o) != exact(c)) continue;
        bool before = o->error < c->error || (o->error == c->error && j < i);
        best = o->rows <= c->rows && (j == i || o->rows < c->rows || !alike(c, o) || !before);
    }
    return best;
}

/* Each kernel with and without a metric. --json has all. */
void cli_print_tried(FILE *f, const krein_model *m) {
    krein_model_info info = KREIN_SIZED(krein_model_info);
    krein_model_describe(m, &info);
    const bool classes = info.task == KREIN_TASK_CLASSIFICATION;
    for (int64_t from = 0, to; krein_model_tried(m, from); from = to) {
        char text[CANDIDATE];
        int width = 36;
        bool first = true;
        to = end_of(m, from);
        for (int64_t i = from; i < to; i++)
            if (best_of_kind(m, from, to, i)) {
                int length = (int)strlen(candidate_text(krein_model_tried(m, i), text));
                if (length > width) width = length;
            }
        for (int64_t i = from; i < to; i++)
            if (best_of_kind(m, from, to, i)) {
                print_candidate(f, first ? "tried" : "", width, krein_model_tried(m, i), classes);
                first = false;
            }
    }
}

json_t *cli_json_tried(const krein_model *m) {
    json_t *all = json_array();
    const krein_tried *c;
    for (int64_t i = 0; (c = krein_model_tried(m, i)); i++) {
        json_array_append_new(
            all, json_pack("{s:o, s:o, s:o, s:s, s:o, s:o}", "kernel", cli_json_text(c->kernel),
                           "map", cli_json_text(c->map), "learner", cli_json_text(c->learner),
                           "metric", cli_metric_name(c->metric), "rows", cli_json_count(c->rows),
                           "error", cli_json_number(c->error)));
    }
    return all;
}

json_t *cli_json_searched(const krein_model *m) {
    json_t *all = json_array();
    const krein_searched *c;
    for (int64_t i = 0; (c = krein_model_searched(m, i)); i++)
        json_array_append_new(
            all,
            json_pack("{s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o}", "kernel",
                      cli_json_text(c->kernel), "parameter", cli_json_text(c->parameter), "value",
                      cli_json_number(c->value), "lambda", cli_json_number(c->lambda), "metric",
                      cli_metric_name(c->metric), "rows", cli_json_count(c->rows), "criterion",
                      cli_json_text(c->criterion), "score", cli_json_number(c->score)));
    return all;
}

/* The values of lambda with their held-out errors; NULL: there are none. */
static const double *path_of(const krein_model *m, const double **error, int64_t *n) {
    krein_array lambda, errors;
    *n = 0;
    if (!krein_model_array(m, "path.lambda", &lambda)) return NULL;
    if (!krein_model_array(m, "path.error", &errors)) return NULL;
    *n = lambda.columns;
    *error = errors.at;
    return lambda.at;
}

json_t *cli_json_path(const krein_model *m) {
    json_t *all = json_array();
    const double *error = NULL;
    int64_t n;
    const double *lambda = path_of(m, &error, &n);
    for (int64_t i = 0; i < n; i++)
        json_array_append_new(all, json_pack("{s:o, s:o}", "lambda", cli_json_number(lambda[i]),
                                             "error", cli_json_number(error[i])));
    return all;
}

void cli_print_path(FILE *f, const krein_model *m) {
    krein_model_info info = KREIN_SIZED(krein_model_info);
    const double *error = NULL;
    int64_t n, best = 0, worst = 0;
    const double *lambda = path_of(m, &error, &n);
    krein_model_describe(m, &info);
    const bool classes = info.task == KREIN_TASK_CLASSIFICATION;
    if (n < 2) return;
    for (int64_t i = 1; i < n; i++) {
        if (error[i] < error[best]) best = i;
        if (error[i] > error[worst]) worst = i;
    }
    cli_line(f, "lambdas tried", "%" PRId64 ", %.3g to %.3g: held-out %s %.4g to %.4g%s", n,
             lambda[0], lambda[n - 1], classes ? "error" : "rmse",
             (classes ? 100 : 1) * error[best], (classes ? 100 : 1) * error[worst],
             classes ? " %" : "");
}

json_t *cli_json_ranges(const krein_model *m, int64_t inputs) {
    json_t *all = json_array();
    double low, high;
    for (int64_t j = 0; j < inputs; j++)
        json_array_append_new(all, krein_model_range(m, j, &low, &high)
                                       ? json_pack("{s:o, s:o}", "low", cli_json_number(low),
                                                   "high", cli_json_number(high))
                                       : json_null());
    return all;
}

void cli_print_ranges(FILE *f, const krein_model *m, int64_t inputs, int64_t most) {
    bool first = true;
    int64_t shown = 0, more = 0;
    for (int64_t j = 0; j < inputs; j++) {
        double low, high;
        char number[32];
        const char *name = krein_model_column(m, j);
        if (!krein_model_range(m, j, &low, &high)) continue;
        if (shown++ >= most) {
            more++;
            continue;
        }
        snprintf(number, sizeof number, "column %" PRId64, krein_model_column_number(m, j));
        cli_line(f, first ? "ranges" : "", "%s  %.7g to %.7g", name ? name : number, low, high);
        first = false;
    }
    if (more > 0) cli_line(f, "", "and %" PRId64 " more", more);
}
