/* labels.c -- the task: text labels, two distinct values, at most 20 distinct whole numbers, or at
 * most 100 consecutive ones that come often mean classification; everything else is regression.
 * Several labels a row must be asked for. */
#include "encode/labels.h"

#include "file/lines.h"
#include "file/sets.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    FEW_INTEGERS = 20,
    RUN_INTEGERS = 100, /* consecutive whole numbers, each of them... */
    RUN_LEAST = 10,     /* ...in so many rows... */
    RUN_MEAN = 100,     /* ...and on average in so many */
    FEW_WORDS = 10      /* that may be distinct in a small table */
};

static krein_status insert(krein_ctx *ctx, krein_label_set *set, int64_t at, double value) {
    if (set->n == set->capacity) {
        int64_t room = krein__max(64, 2 * set->capacity);
        double *bigger = krein__resize(ctx, set->value, room, sizeof *bigger);
        if (!bigger) return ctx->status;
        set->value = bigger;
        int64_t *count = krein__resize(ctx, set->count, room, sizeof *count);
        if (!count) return ctx->status;
        set->count = count;
        set->capacity = room;
    }
    size_t behind = (size_t)(set->n - at);
    memmove(set->value + at + 1, set->value + at, behind * sizeof *set->value);
    memmove(set->count + at + 1, set->count + at, behind * sizeof *set->count);
    set->value[at] = value;
    set->count[at] = 0;
    set->n++;
    return KREIN_OK;
}

krein_status krein__label_set_count(krein_ctx *ctx, krein_label_set *set, double value,
                                    int64_t rows) {
    krein_status st = KREIN_OK;
    if (set->n == 0 && !set->many) set->whole = true;
    if (value != rint(value)) set->whole = false;
    set->rows += rows;
    if (set->many) return KREIN_OK;
    int64_t low = 0, high = set->n;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (set->value[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == set->n || set->value[low] != value) {
        set->many = set->n == KREIN_CLASSES_MAX;
        if (set->many) return KREIN_OK;
        TRY(insert(ctx, set, low, value));
    }
    set->count[low] += rows;
done:
    return st;
}

krein_status krein__label_set_add(krein_ctx *ctx, krein_label_set *set, double value) {
    set->steps = set->rows == 0 || (set->steps && value == set->last + 1);
    set->last = value;
    return krein__label_set_count(ctx, set, value, 1);
}

void krein__label_set_clear(krein_ctx *ctx, krein_label_set *set) {
    krein__free(ctx, set->value);
    krein__free(ctx, set->count);
    memset(set, 0, sizeof *set);
}

static int by_bytes(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static krein_status text_classes(krein_ctx *ctx, const krein_dict *words, krein_encoding *e) {
    krein_status st = KREIN_OK;
    e->label_text = true;
    ZNEW(e->class_name, words->n);
    e->nclass = words->n;
    for (int64_t k = 0; k < words->n; k++) DUP(e->class_name[k], words->word[k]);
    qsort(e->class_name, (size_t)e->nclass, sizeof *e->class_name, by_bytes);
done:
    return st;
}

static krein_status number_classes(krein_ctx *ctx, const krein_label_set *set, krein_encoding *e) {
    krein_status st = KREIN_OK;
    char text[40];
    ZNEW(e->class_name, set->n);
    NEW(e->class_value, set->n);
    e->nclass = set->n;
    for (int64_t k = 0; k < set->n; k++) {
        e->class_value[k] = set->value[k];
        DUP(e->class_name[k], krein__number_text(set->value[k], text));
    }
done:
    return st;
}

/* ---- several labels a row ----------------------------------------------- */

/* A copy with room behind it: numbers are read eight bytes at a time. */
static bool is_number(const char *name, size_t length, double *v) {
    char text[64] = "";
    if (length > sizeof text / 2) return false;
    memcpy(text, name, length);
    return krein__cell(text, length, v) == KREIN_CELL_NUMBER;
}

static int by_number(const void *a, const void *b) {
    double x = 0, y = 0;
    const char *s = *(char *const *)a, *t = *(char *const *)b;
    is_number(s, strlen(s), &x);
    is_number(t, strlen(t), &y);
    return x != y ? (x > y) - (x < y) : strcmp(s, t);
}

char krein__sets_between(const krein_encoding *e, bool commas) {
    return commas ? ',' : e->label_blanks ? ' ' : '|';
}

/* All names that come in the words; |, where it comes anywhere, is what stands between them. */
static krein_status set_labels(krein_ctx *ctx, const krein_label_column *column,
                               const krein_dict *words, krein_encoding *e) {
    krein_status st = KREIN_OK;
    krein_dict names = {0};
    bool numbers = true;
    double v;
    e->label_blanks = !column->commas;
    for (int64_t w = 0; w < words->n && e->label_blanks; w++)
        e->label_blanks = !strchr(words->word[w], '|');
    for (int64_t w = 0; w < words->n && names.n <= KREIN_CLASSES_MAX; w++) {
        const char *word = words->word[w];
        krein_set_names s =
            krein__set_names(word, strlen(word), krein__sets_between(e, column->commas));
        while (krein__set_next(&s)) {
            numbers = numbers && is_number(s.name, s.length, &v);
            if (krein__dict_add(ctx, &names, s.name, s.length) < 0) {
                st = ctx->status;
                goto done;
            }
        }
    }
    if (names.n == 0 || names.n > KREIN_CLASSES_MAX) {
        st = krein__fail(ctx, KREIN_EDATA,
                         names.n == 0 ? "%s: no row has a label; is `label` the right column?"
                                      : "%s: there are more than %d labels; is `label` the right "
                                        "column? Names are separated by | or blanks",
                         column->path, KREIN_CLASSES_MAX);
        goto done;
    }
    TRY(text_classes(ctx, &names, e));
    if (numbers) qsort(e->class_name, (size_t)e->nclass, sizeof *e->class_name, by_number);
done:
    krein__dict_clear(ctx, &names);
    return st;
}

krein_status krein__sets_grow(krein_ctx *ctx, const krein_dict *words, const krein_encoding *e,
                              bool commas, krein_sets *s) {
    krein_status st = KREIN_OK;
    for (int64_t c = s->name.n; c < e->nclass; c++)
        if (krein__dict_add(ctx, &s->name, e->class_name[c], strlen(e->class_name[c])) < 0)
            return ctx->status;
    if (words->n + 1 > s->room) {
        int64_t room = krein__max(2 * s->room, words->n + 1);
        int64_t *start = krein__resize(ctx, s->start, room, sizeof *start);
        if (!start) return ctx->status;
        s->start = start;
        s->room = room;
    }
    if (s->n == 0) s->start[0] = 0;
    for (; s->n < words->n; s->n++) {
        const char *word = words->word[s->n];
        int64_t first = s->start[s->n], at = first;
        krein_set_names names =
            krein__set_names(word, strlen(word), krein__sets_between(e, commas));
        while (krein__set_next(&names)) {
            int32_t label = (int32_t)krein__dict_find(&s->name, names.name, names.length);
            bool twice = false;
            for (int64_t k = first; k < at; k++) twice = twice || s->label[k] == label;
            if (twice) continue;
            if (at == s->label_room) {
                int64_t room = krein__max(256, 2 * s->label_room);
                int32_t *more = krein__resize(ctx, s->label, room, sizeof *more);
                if (!more) return ctx->status;
                s->label = more;
                s->label_room = room;
            }
            s->label[at++] = label;
        }
        s->start[s->n + 1] = at;
    }
    return st;
}

bool krein__sets_unknown(const krein_sets *s, const char *word, char between, char out[48]) {
    krein_set_names names = krein__set_names(word, strlen(word), between);
    while (krein__set_next(&names))
        if (krein__dict_find(&s->name, names.name, names.length) < 0) {
            krein__cell_text(names.name, names.length, out);
            return true;
        }
    return false;
}

void krein__set_codes(const krein_sets *s, int64_t set, int64_t nclass, double *y) {
    for (int64_t c = 0; c < nclass; c++) y[c] = -1;
    for (int64_t k = s->start[set]; k < s->start[set + 1]; k++) y[s->label[k]] = 1;
}

bool krein__set_has(const krein_sets *s, int64_t set, int64_t label) {
    for (int64_t k = s->start[set]; k < s->start[set + 1]; k++)
        if (s->label[k] == label) return true;
    return false;
}

void krein__sets_clear(krein_ctx *ctx, krein_sets *s) {
    krein__free(ctx, s->start);
    krein__free(ctx, s->label);
    krein__dict_clear(ctx, &s->name);
    memset(s, 0, sizeof *s);
}

/* ---- the task ----------------------------------------------------------- */

/* Whole numbers without a gap that all come often, as codes of classes do. */
static bool runs(const krein_label_set *set) {
    if (set->many || !set->whole || set->n < 2 || set->n > RUN_INTEGERS) return false;
    if (set->value[set->n - 1] - set->value[0] != (double)(set->n - 1)) return false;
    for (int64_t k = 0; k < set->n; k++)
        if (set->count[k] < RUN_LEAST) return false;
    return set->rows >= RUN_MEAN * set->n;
}

/* "the label (column 1, age)", in buf of at least 120 bytes; hint: of a guess the option. */
static const char *label_text(const krein_label_column *c, bool hint, char *buf) {
    char name[48] = "";
    if (c->name) krein__cell_text(c->name, strlen(c->name), name);
    if (c->number > 0)
        snprintf(buf, 120, "the label (column %lld%s%s%s)", (long long)c->number, *name ? ", " : "",
                 name, hint && c->guessed && *name ? "; `label` names another" : "");
    else
        snprintf(buf, 120, "the label");
    return buf;
}

static void say_guess(krein_ctx *ctx, const krein_label_column *column, bool few,
                      const krein_label_set *set, const krein_dict *words,
                      const krein_encoding *e) {
    char label[120], low[40], high[40];
    label_text(column, true, label);
    if ((words ? words->n : set->n) < 2 && e->task == KREIN_TASK_CLASSIFICATION)
        return; /* it is refused, or the caller's own */
    if (words)
        krein__log(ctx, KREIN_LOG_INFO, "task: classification: %s is text, with %lld classes",
                   label, (long long)words->n);
    else if (few)
        krein__log(ctx, KREIN_LOG_INFO, "task: classification: %s has %lld values", label,
                   (long long)set->n);
    else if (e->task == KREIN_TASK_CLASSIFICATION)
        krein__log(ctx, KREIN_LOG_INFO,
                   "task: classification: %s has the whole numbers %s to %s, all of them often; if "
                   "they are a quantity, pass `task=regression`",
                   label, krein__number_text(set->value[0], low),
                   krein__number_text(set->value[set->n - 1], high));
    else if (set->whole)
        krein__log(ctx, KREIN_LOG_WARNING,
                   "task: regression: %s holds whole numbers, taken as a quantity; if they are "
                   "classes, pass `task=classification`",
                   label);
    else
        krein__log(ctx, KREIN_LOG_INFO, "task: regression: %s is a number", label);
}

/* 1, 2, 3, ... under a name of row numbers, or in many rows without any name. */
static bool numbers_rows(const krein_label_column *column, const krein_label_set *set) {
    enum { MANY = 100 };
    static const char *const names[] = {"", "id", "index", "row", "no", "nr", "key", "unnamed: 0"};
    if (!set->steps || set->rows <= 2) return false;
    if (!column->name) return set->rows >= MANY;
    for (int64_t k = 0; k < KREIN__COUNT(names); k++)
        if (strcasecmp(column->name, names[k]) == 0) return true;
    return false;
}

/* Whole numbers, all distinct, under a name such as customer_id, "User ID" or orderId. */
static bool names_rows(const krein_label_column *column, const krein_label_set *set) {
    size_t n = column->name ? strlen(column->name) : 0;
    if (n < 3 || !set->whole || (!set->many && (set->n < set->rows || set->rows <= FEW_INTEGERS)))
        return false;
    const char *end = column->name + n - 2;
    bool word = end[-1] == '_' || end[-1] == ' ' || end[-1] == '-' || end[-1] == '.';
    return strcmp(end, "Id") == 0 || (strcasecmp(end, "id") == 0 && word);
}

krein_status krein__label_check(krein_ctx *ctx, const krein_label_column *column, krein_task asked,
                                const krein_label_set *set, const krein_dict *words) {
    char label[120];
    label_text(column, false, label);
    if (words && asked == KREIN_TASK_AUTO && words->n > FEW_WORDS && 2 * words->n > set->rows)
        return krein__fail(ctx, KREIN_EDATA,
                           "%s: %s has %lld distinct texts in %lld rows, too many to be classes: "
                           "name the label with `label=NAME`%s",
                           column->path, label, (long long)words->n, (long long)set->rows,
                           column->guessed ? "" : ", or pass `task=classification`");
    if (column->guessed && numbers_rows(column, set))
        return krein__fail(ctx, KREIN_EDATA,
                           "%s: the first column (%s) numbers the rows and would be the label: "
                           "name the label with `label=NAME`, or pass `label=first`",
                           column->path,
                           column->name && *column->name ? column->name : "without a name");
    if (column->guessed && names_rows(column, set))
        return krein__fail(ctx, KREIN_EDATA,
                           "%s: the first column (%s) has another number in each row and would be "
                           "the label: name the label with `label=NAME`, or pass `label=first`",
                           column->path, column->name);
    return KREIN_OK;
}

krein_status krein__task_decide(krein_ctx *ctx, const krein_label_column *column, krein_task asked,
                                int64_t targets, const krein_label_set *set,
                                const krein_dict *words, krein_encoding *e) {
    const char *path = column->path;
    bool few = !set->many && (set->n == 2 || (set->whole && set->n <= FEW_INTEGERS));
    e->task = asked;
    if (asked == KREIN_TASK_MULTILABEL) {
        e->outputs = 1;
        return set_labels(ctx, column, words, e);
    }
    if (targets > 1 || (targets == 1 && asked == KREIN_TASK_AUTO)) {
        if (asked == KREIN_TASK_CLASSIFICATION || words)
            return krein__fail(ctx, KREIN_EARG,
                               "%s: `targets` is for regression, and needs columns of numbers",
                               path);
        e->task = KREIN_TASK_REGRESSION;
    }
    if (e->task == KREIN_TASK_AUTO) {
        e->task = words || few || runs(set) ? KREIN_TASK_CLASSIFICATION : KREIN_TASK_REGRESSION;
        say_guess(ctx, column, few, set, words, e);
    }
    e->outputs = krein__max(1, targets);
    if (e->task == KREIN_TASK_REGRESSION) {
        if (words)
            return krein__fail(ctx, KREIN_EDATA,
                               "%s: the label column holds text (\"%.40s\"), which regression "
                               "cannot use; choose another with `label`, or `task=classification`",
                               path, words->n ? words->word[0] : "");
        return KREIN_OK;
    }
    e->outputs = 1;
    if ((words && words->n > KREIN_CLASSES_MAX) || (!words && set->many))
        return krein__fail(
            ctx, KREIN_EDATA,
            "%s: the label has more than %d distinct values; is it a quantity? (`task=regression`)",
            path, KREIN_CLASSES_MAX);
    return words ? text_classes(ctx, words, e) : number_classes(ctx, set, e);
}

krein_status krein__class_codes(krein_ctx *ctx, const krein_dict *words, const krein_encoding *e,
                                int64_t **out) {
    krein_status st = KREIN_OK;
    int64_t *map = NULL;
    NEW(map, words->n);
    for (int64_t k = 0; k < words->n; k++) {
        map[k] = -1;
        for (int64_t low = 0, high = e->nclass; low < high;) {
            int64_t middle = (low + high) / 2;
            int order = strcmp(e->class_name[middle], words->word[k]);
            if (order == 0) map[k] = middle;
            if (order == 0) break;
            if (order < 0)
                low = middle + 1;
            else
                high = middle;
        }
    }
    krein__free(ctx, *out);
    *out = map;
done:
    return st;
}

int64_t krein__class_of(const krein_encoding *e, const int64_t *map, double label) {
    if (isnan(label)) return -1;
    if (map) return map[(int64_t)label];
    if (!e->class_value) return -1; /* numbers for a model whose classes are words */
    for (int64_t low = 0, high = e->nclass; low < high;) {
        int64_t middle = (low + high) / 2;
        if (e->class_value[middle] == label) return middle;
        if (e->class_value[middle] < label)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}
