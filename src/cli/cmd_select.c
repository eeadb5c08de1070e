/* cmd_select.c -- krein select: scores of kernels by criteria, and the best by each. */
#include "cli/cli.h"

#include "base/base.h"

#include <math.h>
#include <string.h>

static json_t *scores_json(const krein_select_report *r, const krein_select_ranking *k) {
    json_t *scores = json_array();
    for (int64_t i = 0; i < r->count; i++) {
        const krein_select_score *s = k->scores[i];
        json_t *one = json_pack("{s:o, s:o}", "kernel", cli_json_text(r->kernels[i]), "score",
                                cli_json_number(s->score));
        if (!isnan(s->lambda)) json_object_set_new(one, "lambda", cli_json_number(s->lambda));
        if (s->refused) json_object_set_new(one, "refused", cli_json_text(cli_flags(s->refused)));
        if (r->maps[i]) json_object_set_new(one, "map", cli_json_text(r->maps[i]));
        json_array_append_new(scores, one);
    }
    return scores;
}

static json_t *ranking_json(const krein_select_report *r, const krein_select_ranking *k) {
    return json_pack("{s:o, s:b, s:o, s:o}", "criterion", cli_json_text(k->criterion), "larger",
                     k->larger, "scores", scores_json(r, k), "best",
                     cli_json_text(k->best >= 0 ? r->kernels[k->best] : NULL));
}

static void print_json(const krein_select_report *r) {
    json_t *out =
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "command", "select", "n",
                  cli_json_count(r->n), "d", cli_json_count(r->d), "task",
                  cli_json_text(cli_task_name(r->task)), "map", cli_json_text(r->map), "scored",
                  cli_json_count(r->scored), "seconds", cli_json_number(r->seconds));
    json_t *all = json_array();
    for (int64_t c = 0; c < r->nrankings; c++)
        json_array_append_new(all, ranking_json(r, r->rankings[c]));
    json_object_set_new(out, "criteria", all);
    cli_print_json(out);
}

enum { COLUMN = 16 };

/* The best of a column has a star. */
static void print_row(const krein_select_report *r, int64_t i, int width) {
    char text[32];
    printf("%-*s", width, cli_safe(r->kernels[i]));
    for (int64_t c = 0; c < r->nrankings; c++) {
        const krein_select_ranking *k = r->rankings[c];
        const krein_select_score *s = k->scores[i];
        snprintf(text, sizeof text, "%.6g", s->score);
        if (isnan(s->score)) snprintf(text, sizeof text, "%s", s->refused ? "refused" : "-");
        printf("%*s%s", COLUMN - 2, text, i == k->best ? " *" : "  ");
    }
    putchar('\n');
}

/* A reason is said once, with the first kernel that it is given for. */
static void print_refusals(const krein_select_report *r) {
    for (int64_t c = 0; c < r->nrankings; c++)
        for (int64_t i = 0; i < r->count; i++) {
            const krein_select_score *s = r->rankings[c]->scores[i];
            bool said = false;
            for (int64_t b = 0; b < i && s->refused; b++) {
                const char *other = r->rankings[c]->scores[b]->refused;
                said = said || (other && strcmp(other, s->refused) == 0);
            }
            if (s->refused && !said)
                printf("refused: %s, %s: %s\n", r->rankings[c]->criterion, cli_safe(r->kernels[i]),
                       cli_flags(s->refused));
        }
}

/* As it was typed, the middle left out where it is too long. */
static void print_head(const krein_select_report *r, const cli_args *a, int width) {
    enum { ROOM = COLUMN - 2, FRONT = 4, BACK = ROOM - FRONT - 2 };
    printf("\n%-*s", width, "kernel");
    for (int64_t c = 0; c < r->nrankings; c++) {
        const char *name = c < a->criteria.n ? cli_safe(a->criteria.text[c]) : "loo";
        size_t length = strlen(name);
        if (length > ROOM)
            printf("%.*s..%s  ", FRONT, name, name + length - BACK);
        else
            printf("%*s  ", ROOM, name);
    }
    putchar('\n');
}

/* All scores are the same number. */
static bool level(const krein_select_report *r, const krein_select_ranking *k) {
    double first = NAN;
    int64_t count = 0;
    for (int64_t i = 0; i < r->count; i++) {
        double score = k->scores[i]->score;
        if (isnan(score)) continue;
        if (count++ == 0) first = score;
        if (score != first) return false;
    }
    return count > 1;
}

/* The map where it is the same for all kernels. */
static const char *scored_by(const krein_select_report *r) {
    const char *map = NULL;
    if (r->exact) return "the kernel itself";
    for (int64_t i = 0; i < r->count; i++) {
        if (!r->maps[i]) continue;
        if (map && strcmp(map, r->maps[i]) != 0) return "features, each kernel its map (--json)";
        map = r->maps[i];
    }
    return map ? map : "features";
}

static void print_text(const krein_select_report *r, const cli_args *a) {
    char number[32], seconds[32];
    int width = 6;
    cli_line(stdout, "rows", "%s", cli_count_text(r->n, number));
    cli_line(stdout, "inputs", "%s", cli_count_text(r->d, number));
    if (cli_task_name(r->task)) cli_line(stdout, "task", "%s", cli_task_name(r->task));
    cli_line(stdout, "scored by", "%s", scored_by(r));
    if (r->scored < r->count)
        cli_line(stdout, "time limit", "%lld of %lld kernels were scored", (long long)r->scored,
                 (long long)r->count);
    cli_line(stdout, "time", "%s", cli_seconds_text(r->seconds, seconds));
    for (int64_t i = 0; i < r->count; i++) {
        int length = (int)strlen(cli_safe(r->kernels[i]));
        width = length > width ? length : width;
    }
    print_head(r, a, width);
    for (int64_t i = 0; i < r->count; i++) print_row(r, i, width);
    putchar('\n');
    print_refusals(r);
    for (int64_t c = 0; c < r->nrankings; c++) {
        const krein_select_ranking *k = r->rankings[c];
        if (k->best < 0) continue;
        if (level(r, k)) printf("%s: all scores are equal\n", k->criterion);
        printf("best by %s, %s wins: %s\n", k->criterion, k->larger ? "larger" : "smaller",
               cli_safe(r->kernels[k->best]));
    }
}

/* Exit status 1 where a criterion has no winner. */
static int check_winners(const krein_select_report *r) {
    for (int64_t c = 0; c < r->nrankings; c++) {
        const krein_select_ranking *k = r->rankings[c];
        const char *why = NULL;
        for (int64_t i = 0; i < r->count && !why; i++) why = k->scores[i]->refused;
        if (k->best < 0)
            return cli_error(CLI_FAILED, "no kernel has a score by %s: %s", k->criterion,
                             why ? cli_flags(why) : "there was no time");
    }
    return CLI_OK;
}

int cli_cmd_select(cli_app *app) {
    const cli_args *a = &app->args;
    krein_status st = KREIN_OK;
    krein_select_options o;
    krein_select_report r = KREIN_SIZED(krein_select_report);
    krein_data *data = NULL;
    int status = CLI_OK;
    if (a->kernel && a->kernels)
        return cli_error(CLI_USAGE, "select: give -k or --kernels, not both");
    if (a->plot && (status = cli_check_plot(app)) != CLI_OK) return status;
    krein_select_options_init(&o);
    o.kernels = a->kernels ? a->kernels : a->kernel;
    o.criteria = a->criteria.text;
    o.ncriteria = a->criteria.n;
    o.map = a->map;
    o.features = a->features;
    o.seed = a->seed;
    o.time_limit = a->time_limit;
    if (a->max_exact >= 0) o.max_exact = a->max_exact;
    TRY(cli_open(app, a->operand[0], a->labels, &data));
    TRY(krein_select(app->ctx, data, &o, &r));
    cli_progress_erase(app);
    if (a->json)
        print_json(&r);
    else
        print_text(&r, a);
    status = check_winners(&r);
    if (a->plot && !cli_silent()) {
        const int drawn = cli_select_chart(app, &r);
        status = status == CLI_OK ? drawn : status;
    }
done:
    if (st != KREIN_OK) status = cli_failure(app, st);
    krein_select_report_clear(app->ctx, &r);
    krein_data_close(data);
    return status;
}
