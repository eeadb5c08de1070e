/* cmd_approx.c -- krein approx: how well feature maps approximate a kernel. */
#include "cli/cli.h"

#include "base/base.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void print_json(const krein_approx_report *r) {
    json_t *results = json_array();
    for (int64_t i = 0; i < r->count; i++) {
        const krein_approx_result *e = r->results[i];
        json_t *facts = json_object();
        for (int64_t k = 0; k < e->nfacts; k++) cli_json_fact(facts, &e->facts[k]);
        json_array_append_new(results, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "map",
                                                 cli_json_text(e->map), "D", cli_json_count(e->D),
                                                 "error_mean", cli_json_number(e->error_mean),
                                                 "error_sd", cli_json_number(e->error_sd), "worst",
                                                 cli_json_number(e->worst), "seconds",
                                                 cli_json_number(e->seconds), "facts", facts,
                                                 "refused", cli_json_text(cli_flags(e->refused))));
    }
    cli_print_json(json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "command", "approx", "n",
                             cli_json_count(r->n), "d", cli_json_count(r->d), "rows",
                             cli_json_count(r->rows), "repeats", cli_json_count(r->repeats),
                             "kernel", cli_json_text(r->kernel), "results", results, "seconds",
                             cli_json_number(r->seconds)));
}

/* What the maps tell of themselves, a line each, under the table. */
static void print_facts(const krein_approx_report *r) {
    bool any = false;
    for (int64_t i = 0; i < r->count; i++) {
        const krein_approx_result *e = r->results[i];
        if (e->nfacts == 0) continue;
        printf("%s%s:", any ? "" : "\n", e->map);
        for (int64_t k = 0; k < e->nfacts; k++) {
            const krein_fact *f = &e->facts[k];
            printf("%s %s ", k ? "," : "", f->name);
            if (f->text)
                printf("%s", f->text);
            else
                printf("%.4g", f->value);
        }
        printf("\n");
        any = true;
    }
}

static void print_table(const krein_approx_report *r) {
    char number[32], seconds[32], mean[32], sd[32];
    int width = 3;
    cli_line(stdout, "kernel", "%s", r->kernel);
    cli_line(stdout, "rows", "%s, sampled", cli_count_text(r->rows, number));
    cli_line(stdout, "repeats", "%s", cli_count_text(r->repeats, number));
    for (int64_t i = 0; i < r->count; i++) {
        int length = (int)strlen(cli_safe(r->results[i]->map));
        width = length > width ? length : width;
    }
    printf("\n%-*s %8s  %10s %10s %10s %10s\n", width, "map", "D", "error", "sd", "worst", "time");
    for (int64_t i = 0; i < r->count; i++) {
        const krein_approx_result *e = r->results[i];
        if (e->refused) {
            printf("%-*s %8lld  %s\n", width, cli_safe(e->map), (long long)e->D,
                   cli_flags(e->refused));
            continue;
        }
        snprintf(mean, sizeof mean, "%.5f", e->error_mean);
        if (e->error_mean < 0.01) snprintf(mean, sizeof mean, "%.3e", e->error_mean);
        snprintf(sd, sizeof sd, "%.2e", e->error_sd);
        snprintf(seconds, sizeof seconds, "%.3g ms", 1000 * e->seconds);
        printf("%-*s %8lld  %10s %10s %10.2e %10s\n", width, cli_safe(e->map), (long long)e->D,
               mean, isfinite(e->error_sd) ? sd : "-", e->worst, seconds);
    }
    print_facts(r);
}

/* The map's name as it was typed stands for all its sizes. */
static int write_plot(cli_app *app, const krein_approx_report *r) {
    const cli_args *a = &app->args;
    char title[512];
    int status = CLI_FAILED;
    const int64_t n = a->maps.n;
    krein_svg_point *points = calloc((size_t)(2 * r->count) + 1, sizeof *points);
    krein_svg_series *series = calloc((size_t)(2 * n), sizeof *series);
    if (points && series) {
        int64_t at = 0;
        for (int64_t m = 0; m < n; m++) {
            krein_svg_series *by_size = &series[m], *by_time = &series[n + m];
            by_size->name = by_time->name = a->maps.text[m];
            by_size->points = points + at;
            by_time->points = points + r->count + at;
            for (int64_t i = 0; i < r->count; i++) {
                const krein_approx_result *e = r->results[i];
                if (e->series != m || e->refused) continue;
                points[at] = (krein_svg_point){(double)e->D, e->error_mean, e->error_sd};
                points[r->count + at++] = (krein_svg_point){e->seconds, e->error_mean, e->error_sd};
                by_size->n = ++by_time->n;
            }
        }
        snprintf(title, sizeof title, "%s, %lld rows, %lld draws", r->kernel, (long long)r->rows,
                 (long long)r->repeats);
        const krein_svg_plot plots[2] = {
            {.x_title = "features D", .y_title = "relative error", .n = n, .series = series},
            {.x_title = "seconds to transform the rows",
             .y_title = "relative error",
             .n = n,
             .series = series + n}};
        status = cli_figure_write(app, title, 2, plots);
    }
    free(points);
    free(series);
    return status;
}

int cli_cmd_approx(cli_app *app) {
    const cli_args *a = &app->args;
    krein_status st = KREIN_OK;
    krein_approx_options o;
    krein_approx_report r = KREIN_SIZED(krein_approx_report);
    krein_data *data = NULL;
    int status = CLI_OK;
    bool any = false;
    if (a->maps.n == 0)
        return cli_error(CLI_USAGE, "approx: give a map with -m; 'krein list maps' shows them");
    if (a->plot && (status = cli_check_plot(app)) != CLI_OK) return status;
    krein_approx_options_init(&o);
    o.kernel = a->kernel;
    o.maps = a->maps.text;
    o.nmaps = a->maps.n;
    o.features = a->sizes.count;
    o.nfeatures = a->sizes.n;
    if (a->rows > 0) o.rows = a->rows;
    if (a->repeats > 0) o.repeats = a->repeats;
    if (a->max_exact >= 0) o.max_exact = a->max_exact;
    o.seed = a->seed;
    TRY(cli_open(app, a->operand[0], a->labels, &data));
    TRY(krein_approx(app->ctx, data, &o, &r));
    cli_progress_erase(app);
    if (a->json)
        print_json(&r);
    else
        print_table(&r);
    if (a->plot) status = write_plot(app, &r);
    for (int64_t i = 0; i < r.count; i++) any = any || !r.results[i]->refused;
    if (status == CLI_OK && !any)
        status =
            cli_error(CLI_FAILED, "no map gave a result: %s", cli_flags(r.results[0]->refused));
done:
    if (st != KREIN_OK) status = cli_failure(app, st);
    krein_approx_report_clear(app->ctx, &r);
    krein_data_close(data);
    return status;
}
