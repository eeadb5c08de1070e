/* cmd_completion.c -- krein completion bash: a script that completes commands, options,
 * their words, and the names of the library's tables. */
#include "cli/cli.h"

#include "base/spec.h"

#include <string.h>

static void put_words(FILE *f, const char *words) {
    char word[32];
    for (int64_t k = 0; krein__word(words, k, word, sizeof word); k++)
        fprintf(f, "%s%s", k ? " " : "", word);
}

static void put_names(FILE *f, const char *table) {
    krein_entry e = KREIN_SIZED(krein_entry);
    bool any = false;
    for (int64_t i = 0; cli_list(i, &e); i++) {
        if (table && strcmp(e.table, table) != 0) continue;
        fprintf(f, "%s%s", any ? " " : "", e.name);
        any = true;
    }
}

static void put_commands(FILE *f) {
    for (const cli_command *c = cli_commands; c->name; c++)
        if (!c->hidden) fprintf(f, "%s%s", c == cli_commands ? "" : " ", c->name);
}

/* The names that `complete` stands for. */
static void put_choice(FILE *f, const char *what) {
    if (strcmp(what, "names") == 0) {
        put_commands(f);
        fputc(' ', f);
        put_names(f, NULL);
    } else if (strcmp(what, "tables") == 0) {
        for (int k = 0; cli_tables[k]; k++) fprintf(f, "%s%s", k ? " " : "", cli_tables[k]);
    } else if (strcmp(what, "shells") == 0) {
        fputs("bash", f);
    } else {
        put_names(f, what);
    }
}

/* One branch of "case $command:$previous": what may follow an option. */
static void put_value(FILE *f, const cli_command *c, const cli_option *o) {
    if (!o->argument) return;
    fprintf(f, "    %s:--%s", c->name, o->name);
    if (o->letter) fprintf(f, "|%s:-%c", c->name, o->letter);
    fputs(") ", f);
    if (o->words) {
        fputs("choices='", f);
        put_words(f, o->words);
        fputc('\'', f);
    } else if (o->complete && strcmp(o->complete, "file") == 0) {
        fputs("files=yes", f);
    } else if (o->complete) {
        fputs("choices='", f);
        put_choice(f, o->complete);
        fputc('\'', f);
    } else {
        fputs("return", f);
    }
    fputs(" ;;\n", f);
}

static void put_bash(FILE *f) {
    fputs("# bash completion for krein; written by 'krein completion bash'\n"
          "_krein() {\n"
          "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
          "  local command=${COMP_WORDS[1]} choices='' files='' options='' operands=''\n"
          "  COMPREPLY=()\n"
          "  if ((COMP_CWORD == 1)); then\n"
          "    COMPREPLY=($(compgen -W '",
          f);
    put_commands(f);
    fputs(" --help --version' -- \"$current\"))\n"
          "    return\n"
          "  fi\n"
          "  # --option=value arrives as three words\n"
          "  [[ $previous == = ]] && previous=${COMP_WORDS[COMP_CWORD-2]}\n"
          "  if [[ $current == = ]]; then current=''; fi\n"
          "  case $command in\n",
          f);
    for (const cli_command *c = cli_commands; c->name; c++) {
        fprintf(f, "    %s) options='", c->name);
        bool any = false;
        for (const cli_group *g = c->groups; g->title; g++)
            for (const cli_option *o = g->options; o->name; o++) {
                fprintf(f, "%s--%s", any ? " " : "", o->name);
                any = true;
            }
        fputs("' operands='", f);
        if (strcmp(c->complete, "file") == 0)
            fputs("' files=yes", f);
        else
            put_choice(f, *c->complete ? c->complete : "none"), fputc('\'', f);
        fputs(" ;;\n", f);
    }
    fputs("  esac\n"
          "  if [[ $current == -* ]]; then\n"
          "    COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
          "    return\n"
          "  fi\n"
          "  case $command:$previous in\n",
          f);
    for (const cli_command *c = cli_commands; c->name; c++)
        for (const cli_group *g = c->groups; g->title; g++)
            for (const cli_option *o = g->options; o->name; o++) put_value(f, c, o);
    fputs("    *) choices=$operands ;;\n"
          "  esac\n"
          "  if [[ $choices ]]; then\n"
          "    COMPREPLY=($(compgen -W \"$choices\" -- \"$current\"))\n"
          "  elif [[ $files ]]; then\n"
          "    COMPREPLY=($(compgen -f -- \"$current\"))\n"
          "  fi\n"
          "}\n"
          "complete -o filenames -F _krein krein\n",
          f);
}

int cli_cmd_completion(cli_app *app) {
    const char *shell = app->args.operand[0];
    if (shell && strcmp(shell, "bash") != 0)
        return cli_error(CLI_USAGE, "completion: there is none for '%s'; bash only", shell);
    put_bash(stdout);
    return CLI_OK;
}
