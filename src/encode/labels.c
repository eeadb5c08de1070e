/* labels.c -- the task: text labels, two distinct values, or at most 20 distinct whole numbers
 * mean classification; everything else is regression. */
#include "encode/labels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEW_INTEGERS = 20 };

krein_status krein__label_set_add(krein_ctx *ctx, krein_label_set *set, double value) {
    if (set->n == 0 && !set->many) set->whole = true;
    if (value != rint(value)) set->whole = false;
    if (set->many) return KREIN_OK;
    int64_t low = 0, high = set->n;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (set->value[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < set->n && set->value[low] == value) return KREIN_OK;
    if (set->n == KREIN_CLASSES_MAX) {
        set->many = true;
        return KREIN_OK;
    }
    if (set->n == set->capacity) {
        int64_t room = krein__max(64, 2 * set->capacity);
        double *bigger = krein__resize(ctx, set->value, room, sizeof *bigger);
        if (!bigger) return ctx->status;
        set->value = bigger;
        set->capacity = room;
    }
    memmove(set->value + low + 1, set->value + low, (size_t)(set->n - low) * sizeof *set->value);
    set->value[low] = value;
    set->n++;
    return KREIN_OK;
}

void krein__label_set_clear(krein_ctx *ctx, krein_label_set *set) {
    krein__free(ctx, set->value);
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

krein_status krein__task_decide(krein_ctx *ctx, const char *path, krein_task asked, int64_t targets,
                                const krein_label_set *set, const krein_dict *words,
                                krein_encoding *e) {
    bool few = !set->many && (set->n == 2 || (set->whole && set->n <= FEW_INTEGERS));
    e->task = asked;
    if (targets > 1 || (targets == 1 && asked == KREIN_TASK_AUTO)) {
        if (asked == KREIN_TASK_CLASSIFICATION || words)
            return krein__fail(ctx, KREIN_EARG,
                               "%s: `targets` is for regression, and needs columns of numbers",
                               path);
        e->task = KREIN_TASK_REGRESSION;
    }
    if (e->task == KREIN_TASK_AUTO) {
        e->task = words || few ? KREIN_TASK_CLASSIFICATION : KREIN_TASK_REGRESSION;
        if (words)
            krein__log(ctx, KREIN_LOG_INFO, "task: classification (the label is text)");
        else if (few)
            krein__log(ctx, KREIN_LOG_INFO, "task: classification (the label has %lld values)",
                       (long long)set->n);
        else
            krein__log(ctx, KREIN_LOG_INFO, "task: regression");
        if (e->task == KREIN_TASK_REGRESSION && set->whole)
            krein__log(ctx, KREIN_LOG_WARNING,
                       "the label holds whole numbers, taken as a quantity; if they are classes, "
                       "pass `task=classification`");
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
