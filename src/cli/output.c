/* output.c -- results as text and as JSON. */
#include "cli/cli.h"

#include "base/base.h"
#include "base/text.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { TEXTS = 8, LABEL_WIDTH = 16, CONFUSION_MAX = 12, NAME_WIDTH = 12 };

/* ---- JSON --------------------------------------------------------------- */

void cli_print_json(json_t *object) {
    /* 17 digits: what is read back is the same number. */
    if (json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(17)) != 0)
        cli_error(0, "the JSON could not be written");
    fputc('\n', stdout);
    json_decref(object);
}

json_t *cli_json_number(double x) { return isfinite(x) ? json_real(x) : json_null(); }

void cli_json_fact(json_t *facts, const krein_fact *fact) {
    json_object_set_new(facts, fact->name,
                        fact->text ? cli_json_text(fact->text) : cli_json_number(fact->value));
}

json_t *cli_json_count(int64_t n) { return n >= 0 ? json_integer(n) : json_null(); }

json_t *cli_json_text(const char *text) {
    if (!text) return json_null();
    json_t *string = json_string(text);
    if (string) return string;
    /* Class names come from files in any encoding. */
    const size_t n = strlen(text);
    char *wide = malloc(2 * n + 1), *p = wide;
    if (!wide) return json_null();
    for (size_t k = 0; k < n; k++) {
        const unsigned char c = (unsigned char)text[k];
        if (c < 0x80) {
            *p++ = (char)c;
        } else {
            *p++ = (char)(0xC0 | c >> 6);
            *p++ = (char)(0x80 | (c & 0x3F));
        }
    }
    *p = 0;
    string = json_string(wide);
    free(wide);
    return string ? string : json_null();
}

/* log loss and AUC, where there are some. */
static json_t *with_probabilities(json_t *out, const krein_metrics *m) {
    if (!isnan(m->log_loss)) json_object_set_new(out, "log_loss", cli_json_number(m->log_loss));
    if (!isnan(m->auc)) json_object_set_new(out, "auc", cli_json_number(m->auc));
    return out;
}

static json_t *label_metrics_json(const krein_metrics *m) {
    json_t *labels = json_array();
    for (int64_t c = 0; c < m->classes; c++)
        json_array_append_new(labels, json_pack("{s:o, s:o, s:o, s:o}", "label",
                                                cli_json_text(m->class_names[c]), "rows",
                                                cli_json_count(m->label_rows[c]), "f1",
                                                cli_json_number(m->label_f1[c]), "auc",
                                                cli_json_number(m->label_auc[c])));
    json_t *out = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "n",
                            cli_json_count(m->n), "hamming_loss", cli_json_number(m->hamming_loss),
                            "subset_accuracy", cli_json_number(m->subset_accuracy), "micro_f1",
                            cli_json_number(m->micro_f1), "macro_f1", cli_json_number(m->macro_f1),
                            "macro_precision", cli_json_number(m->macro_precision), "macro_recall",
                            cli_json_number(m->macro_recall), "ranking_loss",
                            cli_json_number(m->ranking_loss), "labels", labels);
    return with_probabilities(out, m);
}

json_t *cli_json_metrics(const krein_metrics *m) {
    if (!m || m->task == KREIN_TASK_AUTO) return json_null();
    if (m->task == KREIN_TASK_REGRESSION)
        return json_pack("{s:o, s:o, s:o, s:o}", "n", cli_json_count(m->n), "rmse",
                         cli_json_number(m->rmse), "mae", cli_json_number(m->mae), "r2",
                         cli_json_number(m->r2));
    if (m->task == KREIN_TASK_MULTILABEL) return label_metrics_json(m);
    json_t *rows = json_array(), *names = json_array();
    for (int64_t i = 0; i < m->classes; i++) {
        json_t *row = json_array();
        for (int64_t j = 0; j < m->classes; j++)
            json_array_append_new(row, json_integer(m->confusion[i * m->classes + j]));
        json_array_append_new(rows, row);
        json_array_append_new(names, cli_json_text(m->class_names[i]));
    }
    json_t *out = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "n", cli_json_count(m->n), "accuracy",
        cli_json_number(m->accuracy), "error", cli_json_number(m->error), "macro_precision",
        cli_json_number(m->macro_precision), "macro_recall", cli_json_number(m->macro_recall),
        "macro_f1", cli_json_number(m->macro_f1), "confusion", rows, "classes", names);
    return with_probabilities(out, m);
}

void cli_put_cell(FILE *f, const char *text, bool csv) {
    if (!text[strcspn(text, csv ? ",\"\r\n" : "\r\n")]) {
        fputs(text, f);
        return;
    }
    fputc('"', f);
    for (; *text; text++) {
        if (*text == '"') fputc('"', f);
        fputc(*text, f);
    }
    fputc('"', f);
}

/* ---- text --------------------------------------------------------------- */

const char *cli_safe(const char *text) {
    static char *buffer[TEXTS];
    static int turn;
    const size_t length = krein__escape(text, NULL, 0);
    if (length == strlen(text)) return text;
    turn = (turn + 1) % TEXTS;
    char *out = realloc(buffer[turn], length + 1);
    if (!out) return "?";
    buffer[turn] = out;
    krein__escape(text, out, length + 1);
    return out;
}

void cli_put_safe(FILE *f, const char *format, va_list list) {
    va_list again;
    va_copy(again, list);
    const int length = vsnprintf(NULL, 0, format, list);
    char *text = length >= 0 ? malloc((size_t)length + 1) : NULL;
    if (text) vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    fputs(text ? cli_safe(text) : "out of memory", f);
    free(text);
}

void cli_line(FILE *f, const char *label, const char *format, ...) {
    va_list list;
    va_start(list, format);
    fprintf(f, "%-*s", LABEL_WIDTH, label);
    cli_put_safe(f, format, list);
    fputc('\n', f);
    va_end(list);
}

const char *cli_metric_name(krein_metric_kind metric) {
    static const char *const name[] = {"none", "diagonal", "full"};
    return name[metric];
}

const char *cli_task_name(krein_task task) {
    if (task == KREIN_TASK_REGRESSION) return "regression";
    if (task == KREIN_TASK_CLASSIFICATION) return "classification";
    if (task == KREIN_TASK_MULTILABEL) return "multilabel";
    return NULL;
}

const char *cli_count_text(int64_t n, char *buf) {
    char digits[24];
    const int length = snprintf(digits, sizeof digits, "%" PRId64, n);
    char *p = buf;
    for (int k = 0; k < length; k++) {
        if (k > (n < 0) && (length - k) % 3 == 0) *p++ = ',';
        *p++ = digits[k];
    }
    *p = 0;
    return buf;
}

const char *cli_seconds_text(double seconds, char *buf) {
    snprintf(buf, 32, seconds < 0.995 ? "%.2f s" : seconds < 99.5 ? "%.1f s" : "%.0f s", seconds);
    return buf;
}

const char *cli_float_text(double x, char *buf) {
    if (fabs(x) <= (double)FLT_MAX)
        *krein__put_float(buf, (float)x) = 0;
    else
        snprintf(buf, 40, "%.9g", x);
    return buf;
}

static void print_confusion(FILE *f, const krein_metrics *m) {
    if (m->classes < 1 || m->classes > CONFUSION_MAX || !m->confusion) return;
    int64_t largest = 0;
    char number[32];
    for (int64_t k = 0; k < m->classes * m->classes; k++)
        largest = krein__max(largest, m->confusion[k]);
    int width = (int)strlen(cli_count_text(largest, number));
    for (int64_t k = 0; k < m->classes; k++)
        width = (int)krein__max(
            width, krein__min(NAME_WIDTH, (int64_t)strlen(cli_safe(m->class_names[k]))));
    fprintf(f, "\nconfusion (a row is the true class, a column the predicted one)\n%*s",
            NAME_WIDTH + 2, "");
    for (int64_t k = 0; k < m->classes; k++)
        fprintf(f, "  %*.*s", width, width, cli_safe(m->class_names[k]));
    fputc('\n', f);
    for (int64_t i = 0; i < m->classes; i++) {
        fprintf(f, "  %-*.*s", NAME_WIDTH, NAME_WIDTH, cli_safe(m->class_names[i]));
        for (int64_t j = 0; j < m->classes; j++)
            fprintf(f, "  %*s", width, cli_count_text(m->confusion[i * m->classes + j], number));
        fputc('\n', f);
    }
}

static void print_label_metrics(FILE *f, const krein_metrics *m, bool all) {
    char number[32];
    cli_line(f, all ? "Hamming loss" : "test Hamming", "%.3f %%", 100 * m->hamming_loss);
    cli_line(f, all ? "subset accuracy" : "test subset", "%.3f %%", 100 * m->subset_accuracy);
    cli_line(f, all ? "micro F1" : "test micro F1", "%.4f", m->micro_f1);
    cli_line(f, all ? "macro F1" : "test macro F1", "%.4f", m->macro_f1);
    cli_line(f, all ? "ranking loss" : "test ranking", "%.4f", m->ranking_loss);
    if (!isnan(m->log_loss)) cli_line(f, all ? "log loss" : "test log loss", "%.6g", m->log_loss);
    if (!isnan(m->auc)) cli_line(f, all ? "mean AUC" : "test mean AUC", "%.6g", m->auc);
    if (!all || m->classes > CONFUSION_MAX) return;
    fprintf(f, "\n%-*s  %12s  %6s  %6s\n", NAME_WIDTH + 2, "label", "rows", "F1", "AUC");
    for (int64_t c = 0; c < m->classes; c++)
        fprintf(f, "  %-*.*s  %12s  %6.4f  %6.4f\n", NAME_WIDTH, NAME_WIDTH,
                cli_safe(m->class_names[c]), cli_count_text(m->label_rows[c], number),
                m->label_f1[c], m->label_auc[c]);
}

void cli_print_metrics(FILE *f, const krein_metrics *m, bool confusion) {
    char number[32];
    if (!m || m->task == KREIN_TASK_AUTO) return;
    cli_line(f, confusion ? "rows" : "test rows", "%s", cli_count_text(m->n, number));
    if (m->task == KREIN_TASK_REGRESSION) {
        cli_line(f, confusion ? "rmse" : "test rmse", "%.6g", m->rmse);
        cli_line(f, confusion ? "mae" : "test mae", "%.6g", m->mae);
        cli_line(f, confusion ? "r2" : "test r2", "%.6g", m->r2);
        return;
    }
    if (m->task == KREIN_TASK_MULTILABEL) {
        print_label_metrics(f, m, confusion);
        return;
    }
    cli_line(f, confusion ? "error" : "test error", "%.3f %%", 100 * m->error);
    cli_line(f, confusion ? "accuracy" : "test accuracy", "%.3f %%", 100 * m->accuracy);
    if (confusion) {
        cli_line(f, "macro precision", "%.4f", m->macro_precision);
        cli_line(f, "macro recall", "%.4f", m->macro_recall);
    }
    cli_line(f, confusion ? "macro F1" : "test macro F1", "%.4f", m->macro_f1);
    if (!isnan(m->log_loss))
        cli_line(f, confusion ? "log loss" : "test log loss", "%.6g", m->log_loss);
    if (!isnan(m->auc)) cli_line(f, confusion ? "AUC" : "test AUC", "%.6g", m->auc);
    if (confusion) print_confusion(f, m);
}

/* Characters of the next piece of a line: a word, or what fits of one that is too long for any line
 * and may be broken behind a '|'. */
static int piece(const char *p, int room) {
    int length = (int)strcspn(p, " \n");
    if (length <= room) return length;
    for (int k = room; k > 1; k--)
        if (p[k - 1] == '|') return k;
    return length;
}

void cli_print_hanging(FILE *f, const char *head, const char *text, int indent, int width) {
    int column = fprintf(f, "%-*s", indent, head);
    bool space = false;
    for (const char *p = text + strspn(text, " \n"); *p;) {
        const int length = piece(p, width - indent);
        if (column > indent && column + space + length > width) {
            fprintf(f, "\n%*s", indent, "");
            column = indent;
            space = false;
        }
        fprintf(f, "%s%.*s", space ? " " : "", length, p);
        column += space + length;
        p += length;
        space = *p == ' ' || *p == '\n';
        p += strspn(p, " \n");
    }
    fputc('\n', f);
}

void cli_print_folded(FILE *f, const char *text, int indent, int width) {
    if (text[strspn(text, " \n")]) cli_print_hanging(f, "", text, indent, width);
}

/* VmHWM, the most that this program had; ru_maxrss, where there is no /proc, also counts what the
 * process was before it became this program. */
uint64_t cli_peak_rss(void) {
    static const char key[] = "VmHWM:";
    char line[256];
    uint64_t kb = 0;
    struct rusage usage;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && kb == 0 && fgets(line, sizeof line, f))
        if (strncmp(line, key, sizeof key - 1) == 0) kb = strtoull(line + sizeof key - 1, NULL, 10);
    if (f) fclose(f);
    if (kb == 0 && getrusage(RUSAGE_SELF, &usage) == 0) kb = (uint64_t)usage.ru_maxrss;
    return kb * 1024; /* Linux counts both in kilobytes */
}
