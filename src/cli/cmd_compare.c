/* cmd_compare.c -- krein compare: several methods on the same splits, with tests. */
#include "cli/cli.h"

#include "base/base.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- JSON --------------------------------------------------------------- */

static json_t *result_json(const krein_compare_report *r, const krein_compare_result *e) {
    json_t *out = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "data", cli_json_text(r->sets[e->set]->name),
        "method", cli_json_text(r->methods[e->method]->name), "mean", cli_json_number(e->mean),
        "sd", cli_json_number(e->sd), "seconds", cli_json_number(e->seconds), "p",
        cli_json_number(e->p), "rank", cli_json_number(e->rank));
    json_t *values = json_array();
    for (int64_t j = 0; j < e->nvalues; j++)
        json_array_append_new(values, cli_json_number(e->values[j]));
    json_object_update_new(
        out, json_pack("{s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "best", e->best,
                       "similar", e->similar, "interval", cli_json_number(e->half), "bytes",
                       e->failures ? json_null() : cli_json_number(e->bytes), "wins",
                       cli_json_count(e->wins), "ties", cli_json_count(e->ties), "losses",
                       cli_json_count(e->losses), "failures", cli_json_count(e->failures), "failed",
                       cli_json_text(cli_flags(e->failed)), "cpu", cli_json_number(e->cpu),
                       "values", values));
    return out;
}

static json_t *sets_json(const krein_compare_report *r) {
    json_t *out = json_array();
    for (int64_t i = 0; i < r->nsets; i++) {
        const krein_compare_set *s = r->sets[i];
        json_array_append_new(out, json_pack("{s:o, s:o, s:o, s:o}", "data", cli_json_text(s->name),
                                             "n", cli_json_count(s->n), "d", cli_json_count(s->d),
                                             "test", cli_json_count(s->test)));
    }
    return out;
}

static json_t *methods_json(const krein_compare_report *r) {
    json_t *out = json_array();
    for (int64_t i = 0; i < r->nmethods; i++) {
        const krein_compare_method *m = r->methods[i];
        json_array_append_new(
            out, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:b, s:o, s:o, s:o}", "method",
                           cli_json_text(m->name), "learner", cli_json_text(m->learner), "kernel",
                           cli_json_text(m->kernel), "map", cli_json_text(m->map), "command",
                           cli_json_text(m->command), "rank", cli_json_number(m->rank), "p",
                           cli_json_number(m->p), "best", m->best, "similar", m->similar, "wins",
                           cli_json_count(m->wins), "ties", cli_json_count(m->ties), "losses",
                           cli_json_count(m->losses)));
    }
    return out;
}

static void print_json(const krein_compare_report *r) {
    json_t *results = json_array(), *friedman = json_null();
    for (int64_t i = 0; i < r->count; i++)
        json_array_append_new(results, result_json(r, r->results[i]));
    if (isfinite(r->difference))
        friedman = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "methods", cli_json_count(r->ranked),
                             "chi2", cli_json_number(r->chi2), "chi2_p", cli_json_number(r->chi2_p),
                             "f", cli_json_number(r->f), "f_p", cli_json_number(r->f_p),
                             "critical_difference", cli_json_number(r->difference));
    json_t *out = json_pack("{s:s, s:o, s:s, s:o, s:f, s:f, s:o, s:o, s:o, s:o, s:o}", "command",
                            "compare", "task", cli_json_text(cli_task_name(r->task)), "measure",
                            cli_measure_name(r->measure), "repeats", cli_json_count(r->repeats),
                            "holdout", r->holdout, "level", r->level, "parallel",
                            cli_json_count(r->parallel), "reused", cli_json_count(r->reused),
                            "sets", sets_json(r), "methods", methods_json(r), "friedman", friedman);
    json_object_set_new(out, "results", results);
    json_object_set_new(out, "seconds", cli_json_number(r->seconds));
    cli_print_json(out);
}

/* ---- the call ----------------------------------------------------------- */

/* What the library opens data sets with. */
typedef struct source {
    const cli_args *args;
    char *name[CLI_OPERANDS];
} source;

static krein_status open_set(void *user, krein_ctx *ctx, int64_t i, krein_data **out) {
    const source *s = user;
    return cli_open_on(s->args, ctx, s->args->operand[i], s->args->labels, out);
}

/* Base names, or the paths where two of them are the same. */
static bool make_names(source *s) {
    const cli_args *a = s->args;
    bool same = false;
    for (int i = 0; i < a->operands; i++) {
        if (!(s->name[i] = cli_model_name(a->operand[i]))) return false;
        *strrchr(s->name[i], '.') = 0;
        for (int j = 0; j < i; j++) same = same || strcmp(s->name[i], s->name[j]) == 0;
    }
    for (int i = 0; same && i < a->operands; i++) {
        free(s->name[i]);
        if (!(s->name[i] = strdup(a->operand[i]))) return false;
    }
    return true;
}

static cli_table table_form(const cli_args *a) {
    static const struct {
        const char *ending;
        cli_table form;
    } by_name[] = {{".md", CLI_TABLE_MARKDOWN}, {".tex", CLI_TABLE_LATEX}, {".csv", CLI_TABLE_CSV}};
    const char *ending = a->output ? strrchr(a->output, '.') : NULL;
    if (a->table >= 0) return (cli_table)a->table;
    for (int64_t k = 0; ending && k < KREIN__COUNT(by_name); k++)
        if (strcasecmp(ending, by_name[k].ending) == 0) return by_name[k].form;
    return CLI_TABLE_TEXT;
}

static void draw(krein_buffer *f, const void *report) { cli_compare_chart(f, report); }

static int write_results(cli_app *app, const krein_compare_report *r) {
    const cli_args *a = &app->args;
    cli_file file;
    if (a->json) {
        print_json(r);
    } else if (a->output) {
        if (!cli_file_open(app, &file, a->output)) return CLI_FAILED;
        cli_compare_table(file.stream, r, table_form(a));
        if (!cli_file_commit(&file)) return CLI_FAILED;
    } else {
        cli_compare_table(stdout, r, table_form(a));
    }
    return a->plot ? cli_plot_write(app, draw, r) : CLI_OK;
}

static int check_call(const cli_app *app) {
    const cli_args *a = &app->args;
    int status = CLI_OK;
    for (int i = 0; i < a->operands; i++)
        if (strcmp(a->operand[i], "-") == 0)
            return cli_error(CLI_USAGE,
                             "compare: data are read again for every training; give files, not "
                             "standard input");
    if (a->labels && a->operands > 1)
        return cli_error(CLI_USAGE, "compare: --labels is for one data set");
    if (a->json && a->output)
        return cli_error(CLI_USAGE, "compare: --json goes to standard output; leave -o out");
    if (cli_silent()) return CLI_OK;
    const char *const files[] = {a->output, a->results};
    for (int k = 0; k < 2 && status == CLI_OK; k++)
        if (files[k]) status = cli_check_output(a, files[k]);
    if (status == CLI_OK && a->plot) status = cli_check_plot(app);
    if (status == CLI_OK) status = cli_check_apart(a->output, a->results);
    if (status == CLI_OK) status = cli_check_apart(a->output, a->plot);
    if (status == CLI_OK) status = cli_check_apart(a->results, a->plot);
    return status;
}

int cli_cmd_compare(cli_app *app) {
    const cli_args *a = &app->args;
    krein_status st = KREIN_OK;
    krein_compare_options o;
    krein_train_options train;
    krein_compare_report r = KREIN_SIZED(krein_compare_report);
    source from = {.args = a};
    int status = check_call(app);
    if (status != CLI_OK) return status;
    cli_train_options(a, &train);
    train.kernels = NULL; /* the comparison's */
    train.holdout = 0;
    krein_compare_options_init(&o);
    o.sets = a->operands;
    o.names = (const char *const *)from.name;
    o.open = open_set;
    o.user = &from;
    o.learners = a->learners;
    o.kernels = a->kernels;
    o.maps = a->map_list;
    o.commands = a->commands.text;
    o.ncommands = a->commands.n;
    if (a->repeats > 0) o.repeats = a->repeats;
    if (a->holdout > 0) o.holdout = a->holdout;
    if (a->measure >= 0) o.measure = (krein_measure)a->measure;
    if (a->level > 0) o.level = a->level;
    o.parallel = a->parallel;
    o.results = a->results;
    o.train = &train;
    if (!make_names(&from)) {
        status = cli_error(CLI_FAILED, "out of memory");
        goto done;
    }
    TRY(krein_compare(app->ctx, &o, &r));
    cli_progress_erase(app);
    if (!cli_silent()) status = write_results(app, &r);
done:
    if (st == KREIN_ECANCEL && cli_cancelled() && a->results) {
        cli_progress_erase(app);
        status = cli_error(CLI_FAILED,
                           "cancelled; %s has what was done, and the same command goes on from it",
                           a->results);
    } else if (st != KREIN_OK) {
        status = cli_failure(app, st);
    }
    krein_compare_report_clear(app->ctx, &r);
    for (int i = 0; i < a->operands; i++) free(from.name[i]);
    return status;
}
