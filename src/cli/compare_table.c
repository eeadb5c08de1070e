/* compare_table.c -- what compare found, as a table: text for people, Markdown and LaTeX for
 * papers, CSV for programs.
 *
 * Text has a block for each data set, with a line a method, and one over all sets. Markdown and
 * LaTeX have a line a data set and a column a method, as papers do: the best is bold, those that
 * are not significantly worse are in italics (underlined in LaTeX). CSV has a line for each method
 * on each data set. The share of errors is in percent, but for CSV. */
#include "cli/cli.h"

#include "base/base.h"

#include <math.h>
#include <string.h>

enum { CELL = 64 };

const char *cli_measure_name(krein_measure measure) {
    static const char *const names[] = {"auto", "rmse", "error", "logloss", "auc"};
    return names[measure];
}

static double shown(const krein_compare_report *r, double value) {
    return r->measure == KREIN_MEASURE_ERROR ? 100 * value : value;
}

static const char *unit(const krein_compare_report *r) {
    return r->measure == KREIN_MEASURE_ERROR ? "error %" : cli_measure_name(r->measure);
}

static krein_compare_result *result_of(const krein_compare_report *r, int64_t set, int64_t method) {
    return r->results[set * r->nmethods + method];
}

/* Digits behind the point so that the least deviation of the set has two; one that is rounding
 * alone does not count. */
static int digits_of(const krein_compare_report *r, int64_t set) {
    double least = INFINITY, most = 0;
    for (int64_t m = 0; m < r->nmethods; m++) {
        const krein_compare_result *e = result_of(r, set, m);
        if (e->failures) continue;
        if (e->sd > 1e-9 * fabs(e->mean)) least = fmin(least, shown(r, e->sd));
        most = fmax(most, fabs(shown(r, e->mean)));
    }
    if (!isfinite(least)) least = most > 0 ? most / 100 : 1;
    const int digits = 1 - (int)floor(log10(least));
    return digits < 0 ? 0 : digits > 12 ? 12 : digits;
}

static const char *p_text(double p, char *buf) {
    if (!isfinite(p))
        buf[0] = 0;
    else
        snprintf(buf, CELL, p < 1e-4 ? "%.0e" : p < 0.01 ? "%.4f" : "%.3f", p);
    return buf;
}

static const char *wins_text(int64_t wins, int64_t ties, int64_t losses, char *buf) {
    snprintf(buf, CELL, "%lld/%lld/%lld", (long long)wins, (long long)ties, (long long)losses);
    return buf;
}

static bool several(const krein_compare_report *r) { return r->nsets > 1 && r->ranked > 0; }

/* ---- text --------------------------------------------------------------- */

static int name_width(const krein_compare_report *r) {
    int width = 6;
    for (int64_t m = 0; m < r->nmethods; m++) {
        const int length = (int)strlen(cli_safe(r->methods[m]->name));
        width = length > width ? length : width;
    }
    return width;
}

static void put_set(FILE *f, const krein_compare_report *r, int64_t s, int width) {
    const krein_compare_set *set = r->sets[s];
    const int digits = digits_of(r, s);
    char n[32], test[32], p[CELL], wins[CELL], seconds[32], bytes[32];
    fprintf(f, "\n%s: %s rows, %lld columns, %s rows held out\n", cli_safe(set->name),
            cli_count_text(set->n, n), (long long)set->d, cli_count_text(set->test, test));
    fprintf(f, "%-*s  %10s %9s %5s  %7s   %9s %9s %9s\n", width, "method", unit(r), "sd", "rank",
            "p", "w/t/l", "time", "memory");
    for (int64_t m = 0; m < r->nmethods; m++) {
        const krein_compare_result *e = result_of(r, s, m);
        if (e->failures) {
            fprintf(f, "%-*s  %10s\n", width, cli_safe(r->methods[m]->name), "failed");
            continue;
        }
        fprintf(f, "%-*s  %10.*f %9.*f %5g  %7s %s %9s %9s %9s\n", width,
                cli_safe(r->methods[m]->name), digits, shown(r, e->mean), digits, shown(r, e->sd),
                e->rank, p_text(e->p, p),
                e->best      ? "*"
                : e->similar ? "~"
                             : " ",
                wins_text(e->wins, e->ties, e->losses, wins), cli_seconds_text(e->seconds, seconds),
                krein__bytes_text(e->bytes, bytes));
    }
}

static void put_over_all(FILE *f, const krein_compare_report *r, int width) {
    char p[CELL], q[CELL], wins[CELL], seconds[32], bytes[32];
    fprintf(f, "\nover all %lld data sets\n", (long long)r->nsets);
    fprintf(f, "%-*s  %10s  %9s   %9s %9s %9s\n", width, "method", "mean rank", "p signed", "w/t/l",
            "time", "memory");
    for (int64_t m = 0; m < r->nmethods; m++) {
        const krein_compare_method *e = r->methods[m];
        if (!isfinite(e->rank)) {
            fprintf(f, "%-*s  %10s\n", width, cli_safe(e->name), "failed");
            continue;
        }
        fprintf(f, "%-*s  %10.3f  %9s %s %9s %9s %9s\n", width, cli_safe(e->name), e->rank,
                p_text(e->p, p),
                e->best      ? "*"
                : e->similar ? "~"
                             : " ",
                wins_text(e->wins, e->ties, e->losses, wins), cli_seconds_text(e->seconds, seconds),
                krein__bytes_text(e->bytes, bytes));
    }
    if (isfinite(r->difference))
        fprintf(f,
                "Friedman: chi2 = %.3f (p = %s), F = %.3f (p = %s); mean ranks that differ by more "
                "than %.3f are different (Nemenyi)\n",
                r->chi2, p_text(r->chi2_p, p), r->f, p_text(r->f_p, q), r->difference);
}

static void put_failures(FILE *f, const krein_compare_report *r) {
    bool any = false;
    for (int64_t i = 0; i < r->count; i++) {
        const krein_compare_result *e = r->results[i];
        if (!e->failures) continue;
        fprintf(f, "%s%s on %s failed in %lld of %lld splits: %s\n", any ? "" : "\n",
                cli_safe(r->methods[e->method]->name), cli_safe(r->sets[e->set]->name),
                (long long)e->failures, (long long)e->nvalues, cli_safe(cli_flags(e->failed)));
        any = true;
    }
}

static void put_text_table(FILE *f, const krein_compare_report *r) {
    const int width = name_width(r);
    char seconds[32];
    fprintf(f, "%s, %s is better; %lld splits with %g %% held out; level %g\n", unit(r),
            r->larger ? "larger" : "smaller", (long long)r->repeats, 100 * r->holdout, r->level);
    for (int64_t s = 0; s < r->nsets; s++) put_set(f, r, s, width);
    if (several(r)) put_over_all(f, r, width);
    fputs("\n* best, ~ not significantly worse. ", f);
    if (r->parallel > 1)
        fprintf(f, "Time is of one thread, with %lld trainings at a time.\n",
                (long long)r->parallel);
    else
        fputs("Time is of one training at a time.\n", f);
    put_failures(f, r);
    fprintf(f, "%s in all%s\n", cli_seconds_text(r->seconds, seconds),
            r->reused ? ", without what was taken from --results" : "");
}

/* ---- Markdown and LaTeX ------------------------------------------------- */

/* How a form writes things. */
typedef struct style {
    const char *before, *between, *after; /* of a line */
    const char *best[2], *similar[2];     /* around a cell */
    const char *plus;                     /* between mean and deviation */
    const char *percent;
    bool latex;
} style;

static const style styles[] = {
    {"| ", " | ", " |\n", {"**", "**"}, {"*", "*"}, " ± ", "%", false},
    {"", " & ", " \\\\\n", {"\\textbf{", "}"}, {"\\underline{", "}"}, " $\\pm$ ", "\\%", true}};

/* Names are the user's: signs that mean something are escaped. */
static void put_name(FILE *f, const style *y, const char *name) {
    for (; *name; name++) {
        if (y->latex && *name == '\\')
            fputs("\\textbackslash{}", f);
        else if (y->latex && (*name == '~' || *name == '^'))
            fprintf(f, "\\%c{}", *name);
        else if (strchr(y->latex ? "&%$#_{}" : "|*_\\<", *name))
            fprintf(f, "\\%c", *name);
        else if ((unsigned char)*name >= ' ')
            fputc(*name, f);
    }
}

static void put_marked(FILE *f, const style *y, int best, int similar, const char *text) {
    const char *const *mark = best ? y->best : y->similar;
    const bool marked = best || similar;
    fprintf(f, "%s%s%s", marked ? mark[0] : "", text, marked ? mark[1] : "");
}

static void put_row(FILE *f, const style *y, const krein_compare_report *r, int64_t s) {
    const int digits = digits_of(r, s);
    char text[2 * CELL];
    fputs(y->before, f);
    put_name(f, y, r->sets[s]->name);
    for (int64_t m = 0; m < r->nmethods; m++) {
        const krein_compare_result *e = result_of(r, s, m);
        fputs(y->between, f);
        if (e->failures) {
            fputs(y->latex ? "--" : "–", f);
            continue;
        }
        snprintf(text, sizeof text, "%.*f%s%.*f", digits, shown(r, e->mean), y->plus, digits,
                 shown(r, e->sd));
        put_marked(f, y, e->best, e->similar, text);
    }
    fputs(y->after, f);
}

/* A line with a text for each method; NULL: none. */
static void put_line(FILE *f, const style *y, const krein_compare_report *r, const char *label,
                     const char *(*cell)(const krein_compare_method *m, char *buf), bool marked) {
    char text[CELL];
    fprintf(f, "%s%s", y->before, label);
    for (int64_t m = 0; m < r->nmethods; m++) {
        const krein_compare_method *e = r->methods[m];
        const char *what = cell(e, text);
        fputs(y->between, f);
        put_marked(f, y, marked && e->best, marked && e->similar,
                   *what      ? what
                   : y->latex ? "--"
                              : "–");
    }
    fputs(y->after, f);
}

static const char *rank_cell(const krein_compare_method *m, char *buf) {
    buf[0] = 0;
    if (isfinite(m->rank)) snprintf(buf, CELL, "%.2f", m->rank);
    return buf;
}
static const char *p_cell(const krein_compare_method *m, char *buf) { return p_text(m->p, buf); }
/* The sum of the seconds is no number where a method failed somewhere. */
static const char *wins_cell(const krein_compare_method *m, char *buf) {
    buf[0] = 0;
    return isfinite(m->seconds) ? wins_text(m->wins, m->ties, m->losses, buf) : buf;
}
static const char *seconds_cell(const krein_compare_method *m, char *buf) {
    buf[0] = 0;
    return isfinite(m->seconds) ? cli_seconds_text(m->seconds, buf) : buf;
}
static const char *bytes_cell(const krein_compare_method *m, char *buf) {
    buf[0] = 0;
    return isfinite(m->seconds) ? krein__bytes_text(m->bytes, buf) : buf;
}

static void put_head(FILE *f, const style *y, const krein_compare_report *r) {
    if (y->latex) {
        fputs("\\begin{tabular}{l", f);
        for (int64_t m = 0; m < r->nmethods; m++) fputc('r', f);
        fputs("}\n\\hline\n", f);
    }
    fprintf(f, "%s%s%s", y->before, cli_measure_name(r->measure),
            r->measure == KREIN_MEASURE_ERROR ? " " : "");
    if (r->measure == KREIN_MEASURE_ERROR) fputs(y->percent, f);
    for (int64_t m = 0; m < r->nmethods; m++) {
        fputs(y->between, f);
        put_name(f, y, r->methods[m]->name);
    }
    fputs(y->after, f);
    if (y->latex) {
        fputs("\\hline\n", f);
        return;
    }
    fputs("| ---", f);
    for (int64_t m = 0; m < r->nmethods; m++) fputs(" | ---:", f);
    fputs(" |\n", f);
}

static void put_matrix(FILE *f, const style *y, const krein_compare_report *r) {
    put_head(f, y, r);
    for (int64_t s = 0; s < r->nsets; s++) put_row(f, y, r, s);
    if (y->latex) fputs("\\hline\n", f);
    if (several(r)) {
        put_line(f, y, r, "mean rank", rank_cell, true);
        put_line(f, y, r, "p (signed ranks)", p_cell, false);
    }
    put_line(f, y, r, "wins/ties/losses", wins_cell, false);
    put_line(f, y, r, "time", seconds_cell, false);
    put_line(f, y, r, "memory", bytes_cell, false);
    if (y->latex) fputs("\\hline\n\\end{tabular}\n", f);
    fprintf(f,
            "%s%s of %lld splits, %g %s of the rows held out; best: bold, not significantly worse "
            "(corrected resampled t test, level %g): %s.",
            y->latex ? "% " : "\n", "Mean and standard deviation", (long long)r->repeats,
            100 * r->holdout, y->latex ? "percent" : "%", r->level,
            y->latex ? "underlined" : "italics");
    if (isfinite(r->difference))
        fprintf(f,
                " Friedman test of %lld methods: F = %.3f, p = %.2g; critical difference of the "
                "mean ranks %.3f.",
                (long long)r->ranked, r->f, r->f_p, r->difference);
    fputc('\n', f);
    if (!y->latex) put_failures(f, r);
}

/* ---- CSV ---------------------------------------------------------------- */

static void put_number(FILE *f, double x) {
    char text[40];
    if (isfinite(x)) fputs(krein__number_text(x, text), f);
}

static void put_csv(FILE *f, const krein_compare_report *r) {
    fputs("data,method,mean,sd,interval,rank,p,best,similar,wins,ties,losses,seconds,bytes,"
          "failures,failed\n",
          f);
    for (int64_t i = 0; i < r->count; i++) {
        const krein_compare_result *e = r->results[i];
        const double numbers[] = {e->mean, e->sd, e->half, e->rank, e->p};
        cli_put_cell(f, r->sets[e->set]->name, true);
        fputc(',', f);
        cli_put_cell(f, r->methods[e->method]->name, true);
        for (int64_t k = 0; k < KREIN__COUNT(numbers); k++) {
            fputc(',', f);
            put_number(f, numbers[k]);
        }
        fprintf(f, ",%d,%d,%lld,%lld,%lld,", e->best, e->similar, (long long)e->wins,
                (long long)e->ties, (long long)e->losses);
        put_number(f, e->seconds);
        fputc(',', f);
        put_number(f, e->failures ? NAN : e->bytes);
        fprintf(f, ",%lld,", (long long)e->failures);
        if (e->failed) cli_put_cell(f, cli_flags(e->failed), true);
        fputc('\n', f);
    }
}

void cli_compare_table(FILE *f, const krein_compare_report *r, cli_table form) {
    if (form == CLI_TABLE_TEXT)
        put_text_table(f, r);
    else if (form == CLI_TABLE_CSV)
        put_csv(f, r);
    else
        put_matrix(f, &styles[form == CLI_TABLE_LATEX], r);
}
