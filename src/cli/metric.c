/* metric.c -- the learned metric of a model: how much each encoded input counts.
 *
 *   metric          diagonal: x4 1.9, x1 1.6, colour=red 0.31, ...
 *
 * An input counts by its factor; under a matrix by the length of its column, which is the same for
 * a diagonal one. */
#include "cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 1024, LARGEST = 10 };

typedef struct input {
    int64_t j;
    double factor;
} input;

static int descending(const void *a, const void *b) {
    const input *x = a, *y = b;
    if (x->factor != y->factor) return x->factor < y->factor ? 1 : -1;
    return (x->j > y->j) - (x->j < y->j);
}

static bool factors(const krein_model *model, krein_array *out) {
    return krein_model_array(model, "encoding.matrix", out) ||
           krein_model_array(model, "encoding.metric", out);
}

/* All inputs, the largest factor first; NULL where there is no metric or no memory. */
static input *ranked(const krein_model *model, int64_t *n) {
    krein_array a;
    *n = 0;
    if (!factors(model, &a)) return NULL;
    const float *at = a.at;
    input *all = calloc((size_t)a.columns, sizeof *all);
    if (!all) return NULL;
    *n = a.columns;
    for (int64_t j = 0; j < a.columns; j++) {
        double square = 0;
        for (int64_t i = 0; i < a.rows; i++) square += pow((double)at[i * a.columns + j], 2);
        all[j] = (input){j, sqrt(square)};
    }
    qsort(all, (size_t)a.columns, sizeof *all, descending);
    return all;
}

static const char *kind_of(const krein_model *model) {
    krein_model_info info = KREIN_SIZED(krein_model_info);
    krein_model_describe(model, &info);
    return info.metric == KREIN_METRIC_NONE ? NULL : cli_metric_name(info.metric);
}

void cli_print_metric(FILE *f, const krein_model *model, int64_t shown) {
    const char *kind = kind_of(model);
    char text[LARGEST * 80] = "", name[48];
    int64_t n;
    if (!kind) return;
    input *all = ranked(model, &n);
    shown = shown < LARGEST ? shown : LARGEST;
    for (int64_t i = 0; i < n && i < shown; i++) {
        const size_t used = strlen(text);
        krein_model_encoded_name(model, all[i].j, name, sizeof name);
        snprintf(text + used, sizeof text - used, "%s%s %.2g", i ? ", " : ": ", name,
                 all[i].factor);
    }
    cli_line(f, "metric", "%s%s%s", kind, text, n > shown ? ", ..." : "");
    free(all);
}

json_t *cli_json_metric(const krein_model *model) {
    const char *kind = kind_of(model);
    json_t *values = json_array(), *largest = json_array();
    char name[NAME];
    krein_array a;
    int64_t n;
    input *all = ranked(model, &n);
    for (int64_t i = 0; i < n && i < LARGEST; i++) {
        krein_model_encoded_name(model, all[i].j, name, sizeof name);
        json_array_append_new(largest, json_pack("{s:o, s:o}", "input", cli_json_text(name),
                                                 "factor", cli_json_number(all[i].factor)));
    }
    free(all);
    if (factors(model, &a))
        for (int64_t i = 0; i < a.rows * a.columns; i++)
            json_array_append_new(values, cli_json_number((double)((const float *)a.at)[i]));
    if (kind)
        return json_pack("{s:s, s:o, s:o}", "kind", kind, "factors", values, "largest", largest);
    json_decref(values);
    json_decref(largest);
    return json_null();
}
