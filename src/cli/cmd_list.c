/* cmd_list.c -- krein list: the library's tables. */
#include "cli/cli.h"

#include "base/spec.h"

#include <string.h>

const char *const cli_tables[] = {"kernels", "maps",       "learners", "criteria", "weighings",
                                  "solvers", "generators", "fewshot",  NULL};

/* What a kernel is, or a map is for, stands on a second line where they alone are listed. */
static void print_more(FILE *f, const krein_entry *e) {
    if (*e->family) fprintf(f, "%-14s %s\n", "", e->family);
    if (!*e->kernels) return;
    fprintf(f, "%-14s kernels: %s; time: %s", "", e->kernels, e->time);
    fprintf(f, *e->cite ? "; %s\n" : "\n", e->cite);
}

int64_t cli_print_entries(FILE *f, const char *table) {
    krein_entry e = KREIN_SIZED(krein_entry);
    int64_t count = 0;
    const char *last = "";
    for (int64_t i = 0; cli_list(i, &e); i++) {
        if (table && strcmp(table, e.table) != 0) continue;
        if (!table && strcmp(last, e.table) != 0) fprintf(f, "%s%s\n", count ? "\n" : "", e.table);
        fprintf(f, "%s%-14s %s\n", table ? "" : "  ", e.name, e.summary);
        if (table) print_more(f, &e);
        last = e.table;
        count++;
    }
    return count;
}

static json_t *options_json(int64_t i) {
    krein_option_info o = KREIN_SIZED(krein_option_info);
    json_t *array = json_array();
    for (int64_t k = 0; cli_list_option(i, k, &o); k++)
        json_array_append_new(
            array, json_pack("{s:o, s:o, s:o, s:o, s:o}", "name", cli_json_text(o.name), "type",
                             cli_json_text(o.type), "default",
                             *o.default_value ? cli_json_text(o.default_value) : json_null(),
                             "range", *o.range ? cli_json_text(o.range) : json_null(), "help",
                             cli_json_text(o.help)));
    return array;
}

static void print_json(const char *table) {
    krein_entry e = KREIN_SIZED(krein_entry);
    json_t *entries = json_array();
    for (int64_t i = 0; cli_list(i, &e); i++) {
        if (table && strcmp(table, e.table) != 0) continue;
        json_array_append_new(
            entries,
            json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "table", cli_json_text(e.table),
                      "name", cli_json_text(e.name), "summary", cli_json_text(e.summary), "cite",
                      e.cite && *e.cite ? cli_json_text(e.cite) : json_null(), "family",
                      *e.family ? cli_json_text(e.family) : json_null(), "kernels",
                      *e.kernels ? cli_json_text(e.kernels) : json_null(), "time",
                      *e.time ? cli_json_text(e.time) : json_null(), "options", options_json(i)));
    }
    cli_print_json(json_pack("{s:s, s:o}", "command", "list", "entries", entries));
}

int cli_cmd_list(cli_app *app) {
    const char *table = app->args.operand[0];
    int64_t n = 0;
    while (cli_tables[n] && (!table || strcmp(cli_tables[n], table) != 0)) n++;
    if (table && !cli_tables[n]) {
        const char *near = krein__nearest(table, cli_tables, n);
        return cli_error(CLI_USAGE, "list: there is no '%s'; %s%s%s", table,
                         near ? "did you mean "
                              : "choose from kernels, maps, learners, criteria, "
                                "weighings, solvers, generators, fewshot",
                         near ? near : "", near ? "?" : "");
    }
    if (app->args.json)
        print_json(table);
    else if (cli_print_entries(stdout, table) == 0)
        printf("there are no %s in this version\n", table ? table : "entries");
    return CLI_OK;
}
