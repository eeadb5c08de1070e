/* cmd_help.c -- krein help: all of it from the tables of commands and of the library. */
#include "cli/cli.h"

#include "base/spec.h"

#include <ctype.h>
#include <string.h>

enum { OPTION_WIDTH = 26, WIDTH = 80, NAMES = 512, KEY_WIDTH = 17, KEY_TEXT = 1024 };

static void print_option(FILE *f, const cli_option *o) {
    char left[64];
    snprintf(left, sizeof left, "%c%c%c --%s%s%s", o->letter ? '-' : ' ',
             o->letter ? o->letter : ' ', o->letter ? ',' : ' ', o->name, o->argument ? " " : "",
             o->argument ? o->argument : "");
    if ((int)strlen(left) > OPTION_WIDTH - 2)
        fprintf(f, "  %s\n  %*s%s\n", left, OPTION_WIDTH, "", o->help);
    else
        fprintf(f, "  %-*s%s\n", OPTION_WIDTH, left, o->help);
}

static void print_group(FILE *f, const cli_group *g) {
    fprintf(f, "\n%s\n", g->title);
    for (const cli_option *o = g->options; o->name; o++) print_option(f, o);
}

void cli_print_usage(FILE *f) {
    fputs("krein: kernel machines for large data\n\n"
          "usage: krein COMMAND [options] ...\n\n",
          f);
    for (const cli_command *c = cli_commands; c->name; c++)
        if (!c->hidden) fprintf(f, "  %-10s %s\n", c->name, c->summary);
    fputs("\nStart with 'krein demo', or with your own data: 'krein train data.csv'.\n"
          "'krein help COMMAND' has the options; 'krein list' and 'krein help NAME' the\n"
          "kernels, maps, learners and generators.\n",
          f);
}

void cli_print_help(FILE *f, const cli_command *command) {
    fprintf(f, "usage: krein %s [options]%s%s\n\n%s\n", command->name,
            *command->operands ? " " : "", command->operands, command->summary);
    if (command->details) fprintf(f, "\n%s\n", command->details);
    for (const cli_group *g = command->groups; g->title; g++) print_group(f, g);
    if (!command->examples) return;
    fputs("\nExamples\n", f);
    for (const char *p = command->examples; *p;) {
        const int length = (int)strcspn(p, "\n");
        fprintf(f, "  %.*s\n", length, p);
        p += length + (p[length] == '\n');
    }
}

/* An option of a spec. */
static void print_key(FILE *f, const krein_option_info *o) {
    char name[64], text[KEY_TEXT];
    snprintf(name, sizeof name, "    %s ", o->name);
    snprintf(text, sizeof text, "%s (%s%s%s%s%s)", o->help, o->type, *o->range ? " in " : "",
             o->range, *o->default_value ? "; default " : "", o->default_value);
    cli_print_hanging(f, name, text, KEY_WIDTH, WIDTH);
}

static void print_entry(FILE *f, int64_t i, const krein_entry *e) {
    krein_option_info o = KREIN_SIZED(krein_option_info);
    static const char *const singular[][2] = {{"kernels", "kernel"},      {"maps", "map"},
                                              {"learners", "learner"},    {"criteria", "criterion"},
                                              {"weighings", "weighing"},  {"solvers", "solver"},
                                              {"generators", "generator"}};
    const char *kind = e->table;
    for (int64_t k = 0; k < KREIN__COUNT(singular); k++)
        if (strcmp(singular[k][0], e->table) == 0) kind = singular[k][1];
    fprintf(f, "%s (%s)\n", e->name, kind);
    cli_print_folded(f, e->summary, 2, WIDTH);
    if (*e->family) fprintf(f, "  %c%s.\n", toupper((unsigned char)*e->family), e->family + 1);
    if (e->details) cli_print_folded(f, e->details, 2, WIDTH);
    if (e->cite && *e->cite) fprintf(f, "  reference: %s\n", e->cite);
    for (int64_t k = 0; cli_list_option(i, k, &o); k++) {
        if (k == 0) fputs("\n  Options\n", f);
        print_key(f, &o);
    }
}

/* Everything that can be asked for, for the nearest name. */
static int unknown_name(const char *name) {
    const char *names[NAMES];
    krein_entry e = KREIN_SIZED(krein_entry);
    int64_t n = 0;
    for (const cli_command *c = cli_commands; c->name; c++)
        if (!c->hidden) names[n++] = c->name;
    for (int64_t i = 0; n < NAMES && cli_list(i, &e); i++) names[n++] = e.name;
    const char *near = krein__nearest(name, names, n);
    if (near) return cli_error(CLI_USAGE, "there is no '%s'; did you mean '%s'?", name, near);
    return cli_error(CLI_USAGE, "there is no '%s'; see 'krein help' and 'krein list'", name);
}

int cli_cmd_help(cli_app *app) {
    const char *name = app->args.operand[0];
    krein_entry e = KREIN_SIZED(krein_entry);
    if (app->args.man) {
        cli_print_man(stdout);
        return CLI_OK;
    }
    if (!name) {
        cli_print_usage(stdout);
        return CLI_OK;
    }
    bool found = false;
    const cli_command *command = cli_find_command(name);
    if (command) {
        cli_print_help(stdout, command);
        found = true;
    }
    for (int64_t i = 0; cli_list(i, &e); i++) {
        if (strcmp(e.name, name) != 0 && strcmp(e.alias, name) != 0) continue;
        if (found) putchar('\n');
        print_entry(stdout, i, &e);
        found = true;
    }
    for (int k = 0; !found && cli_tables[k]; k++)
        if (strcmp(cli_tables[k], name) == 0) {
            cli_print_entries(stdout, name);
            found = true;
        }
    return found ? CLI_OK : unknown_name(name);
}
