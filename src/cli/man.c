/* man.c -- krein help --man: the manual page as troff, from the same tables as the help. */
#include "cli/cli.h"

#include <ctype.h>
#include <string.h>

/* Text that troff shall leave alone. Lines are kept. */
static void put(FILE *f, const char *text) {
    bool start = true;
    for (; *text; text++) {
        if (start && (*text == '.' || *text == '\'')) fputs("\\&", f);
        if (*text == '\\')
            fputs("\\e", f);
        else if (*text == '-')
            fputs("\\-", f);
        else if (*text == '^')
            fputs("\\(ha", f);
        else if (*text == '~')
            fputs("\\(ti", f);
        else if (*text == '\'' || *text == '`')
            fputs(*text == '`' ? "\\(ga" : "\\(aq", f);
        else
            fputc(*text, f);
        start = *text == '\n';
    }
}

static void put_line(FILE *f, const char *text) {
    put(f, text);
    fputc('\n', f);
}

static void heading(FILE *f, const char *text) {
    fputs(".SH ", f);
    for (; *text; text++) fputc(toupper((unsigned char)*text), f);
    fputc('\n', f);
}

static void put_options(FILE *f, const cli_option *options) {
    for (const cli_option *o = options; o->name; o++) {
        fputs(".TP\n", f);
        if (o->letter) fprintf(f, "\\fB\\-%c\\fR, ", o->letter);
        fputs("\\fB\\-\\-", f);
        put(f, o->name);
        fputs("\\fR", f);
        if (o->argument) {
            fputs("=\\fI", f);
            put(f, o->argument);
            fputs("\\fR", f);
        }
        fputc('\n', f);
        put_line(f, o->help);
    }
}

static void put_examples(FILE *f, const char *lines) {
    fputs(".nf\n", f);
    put_line(f, lines);
    fputs(".fi\n", f);
}

/* The options of its own in full; shared ones by the name of their section. */
static void put_command(FILE *f, const cli_command *c) {
    bool data = false;
    fputs(".SS \"krein ", f);
    put(f, c->name);
    fprintf(f, " [options]%s", *c->operands ? " " : "");
    put(f, c->operands);
    fputs("\"\n", f);
    put_line(f, c->summary);
    if (c->details) {
        fputs(".PP\n", f);
        put_line(f, c->details);
    }
    for (const cli_group *g = c->groups; g->title; g++) {
        if (g->options == cli_data_options)
            data = true;
        else if (g->options != cli_everywhere)
            put_options(f, g->options);
    }
    fputs(".PP\n", f);
    fputs(data ? "Takes the options of DATA and OPTIONS EVERYWHERE below.\n"
               : "Takes the OPTIONS EVERYWHERE below.\n",
          f);
    if (c->examples) {
        fputs(".PP\nExamples:\n.PP\n.RS 4\n", f);
        put_examples(f, c->examples);
        fputs(".RE\n", f);
    }
}

static void put_table(FILE *f, const char *table) {
    krein_entry e = KREIN_SIZED(krein_entry);
    krein_option_info o = KREIN_SIZED(krein_option_info);
    bool first = true;
    for (int64_t i = 0; cli_list(i, &e); i++) {
        if (strcmp(e.table, table) != 0) continue;
        if (first) heading(f, table);
        first = false;
        fputs(".TP\n\\fB", f);
        put(f, e.name);
        fputs("\\fR\n", f);
        put(f, e.summary);
        if (e.cite && *e.cite) {
            fputs(" [", f);
            put(f, e.cite);
            fputc(']', f);
        }
        fputc('\n', f);
        bool any = false;
        for (int64_t k = 0; cli_list_option(i, k, &o); k++) {
            if (!any) fputs(".RS\n", f);
            any = true;
            fputs(".TP\n\\fI", f);
            put(f, o.name);
            fputs("\\fR\n", f);
            put(f, o.help);
            fputs(" (", f);
            put(f, o.type);
            if (*o.range) fputs(" in ", f), put(f, o.range);
            if (*o.default_value) fputs("; default ", f), put(f, o.default_value);
            fputs(")\n", f);
        }
        if (any) fputs(".RE\n", f);
    }
}

static void put_data(FILE *f) {
    heading(f, "data");
    put_line(f,
             "DATA is CSV (comma, semicolon, tab or space; header or none; quoted fields),\n"
             "LIBSVM text, or NPY (one or two dimensions), any of them gzipped. The format is\n"
             "found from the content; - is standard input. A name with *, ? or [ that is no file\n"
             "is a pattern: all files that match it are read, in the order of their names, as if\n"
             "they were one.");
    fputs(".PP\n", f);
    put_line(f, "The label is the column named label, target, class or y, else the first; the\n"
                "leading field of LIBSVM. Text labels, two distinct values, or at most 20\n"
                "distinct integers mean classification. A CSV column is text when one of its\n"
                "first 1,000 cells is not a number; text columns are categories, one indicator\n"
                "column each. Columns, categories, scaling and class names are kept in the\n"
                "model, so predict and evaluate take raw data: with a header columns are matched\n"
                "by name; without one, the same width means that the label is there, one column\n"
                "less that it is not.");
    put_options(f, cli_data_options);
}

static void put_end(FILE *f) {
    heading(f, "exit status");
    fputs(".TP\n0\nSuccess.\n.TP\n1\nThe work failed or was cancelled: a file, the data, memory, "
          "the numbers.\n.TP\n2\nThe call was wrong: an option, an argument, a spec.\n",
          f);
    heading(f, "environment");
    fputs(".TP\n\\fBOMP_NUM_THREADS\\fR\nThreads where \\fB\\-\\-threads\\fR is not given.\n"
          ".TP\n\\fBOPENBLAS_CORETYPE\\fR\nThe code that OpenBLAS uses. Where it is not set and "
          "OpenBLAS does not know the CPU,\nthe program sets it and starts itself again.\n"
          ".TP\n\\fBOPENBLAS_NUM_THREADS\\fR, \\fBOMP_WAIT_POLICY\\fR\nWhere they are not set, the "
          "program sets them to 1 and passive in the same way:\nits own threads do the work.\n"
          ".TP\n\\fBKREIN_MPI\\fR\nThe file libkrein_mpi.so, which is loaded under mpirun or srun, "
          "where it is not found\nby itself. \\fBoff\\fR: the processes know nothing of each "
          "other.\n"
          ".TP\n\\fBTMPDIR\\fR\nWhere standard input is spooled and the demo works (/tmp).\n",
          f);
    heading(f, "files");
    fputs(".TP\n\\fI*.krein\\fR\nModels. All files are written under a temporary name beside the "
          "target and renamed,\nso that a failure leaves an older file whole.\n",
          f);
    heading(f, "examples");
    put_line(f, "Train with everything chosen from the data, keep a fifth of the rows to test:");
    fputs(".PP\n.RS 4\n", f);
    put_examples(f, "krein train data.csv --holdout 0.2");
    fputs(".RE\n.PP\n", f);
    put_line(f, "Predict a stream:");
    fputs(".PP\n.RS 4\n", f);
    put_examples(f, "zcat new.csv.gz | krein predict data.krein -");
    fputs(".RE\n.PP\n", f);
    put_line(f, "A model of a sum of kernels on 4,096 features:");
    fputs(".PP\n.RS 4\n", f);
    put_examples(
        f, "krein train data.csv -k \"0.5*gaussian(sigma=1) + 0.5*gaussian(sigma=8)\" -D 4096");
    fputs(".RE\n.PP\n", f);
    put_line(f, "The same with weights found from the data, among ten widths:");
    fputs(".PP\n.RS 4\n", f);
    put_examples(f, "krein train data.csv --learner mkl --kernels \"gaussian(sigma=0.5..16:10)\"");
    fputs(".RE\n", f);
}

void cli_print_man(FILE *f) {
    fprintf(f, ".TH KREIN 1 \"\" \"krein %s\" \"User Commands\"\n", krein_version());
    heading(f, "name");
    fputs("krein \\- kernel machines for large data\n", f);
    heading(f, "synopsis");
    for (const cli_command *c = cli_commands; c->name; c++) {
        if (c->hidden) continue;
        fprintf(f, "\\fBkrein %s\\fR [\\fIoptions\\fR]%s", c->name, *c->operands ? " " : "");
        put(f, c->operands);
        fputs("\n.br\n", f);
    }
    fputs("\\fBkrein \\-\\-version\\fR\n", f);
    heading(f, "description");
    put_line(f,
             "Krein fits kernel machines to data that are too large for a kernel matrix: it maps\n"
             "rows to features whose inner products approximate a kernel, and fits a linear\n"
             "model to these, in time linear in the number of rows and in memory that does not\n"
             "grow with it. Kernels, maps, learners and generators are given as specs,\n"
             "name(key=value, ...); kernels also as expressions of them with +, -, *, numeric\n"
             "factors and parentheses. What a spec leaves open is chosen from the data.");
    fputs(".PP\n", f);
    put_line(f, "Results go to standard output, messages and progress to standard error. Options\n"
                "may be written --name=value or --name value and may stand anywhere after the\n"
                "command; -- ends them. The same seed gives the same model for any number of\n"
                "threads.");
    heading(f, "commands");
    for (const cli_command *c = cli_commands; c->name; c++)
        if (!c->hidden) put_command(f, c);
    put_data(f);
    heading(f, "options everywhere");
    put_options(f, cli_everywhere);
    for (int k = 0; cli_tables[k]; k++) put_table(f, cli_tables[k]);
    put_end(f);
}
