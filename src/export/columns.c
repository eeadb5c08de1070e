/* columns.c -- raw columns to encoded ones, as stream/stream.c does it (encode/encoding.h).
 *
 * x has the columns of `krein info` in their order: numbers, categories as their number in the
 * order of `krein info`, NaN where a cell is missing. A category that is not there counts as none.
 */
#include "export/source.h"

#include <stdio.h>

/* One entry for each raw column that is a number, or a category. */
typedef struct slots {
    int64_t n;
    int64_t *input, *at, *flag, *codes;
    double *shift;
} slots;

static void slots_clear(krein_ctx *ctx, slots *s) {
    krein__free(ctx, s->input);
    krein__free(ctx, s->at);
    krein__free(ctx, s->flag);
    krein__free(ctx, s->codes);
    krein__free(ctx, s->shift);
}

static krein_status slots_begin(krein_ctx *ctx, int64_t n, slots *s) {
    krein_status st = KREIN_OK;
    *s = (slots){0};
    NEW(s->input, n);
    NEW(s->at, n);
    NEW(s->flag, n);
    NEW(s->codes, n);
    NEW(s->shift, n);
done:
    return st;
}

static void slots_add(slots *s, int64_t input, const krein_input *in) {
    int64_t values = krein__input_values(in);
    s->input[s->n] = input;
    s->at[s->n] = in->at;
    s->flag[s->n] = in->indicator ? in->at + values : -1;
    s->codes[s->n] = values;
    s->shift[s->n++] = in->shift;
}

static krein_status refuse(krein_ctx *ctx, const krein_input *in, int64_t j, const char *what) {
    char name[64];
    snprintf(name, sizeof name, "column %lld", (long long)j + 1);
    return krein__fail(ctx, KREIN_EDATA,
                       "%s %s and cannot be exported; leave it out (`ignore`), or train on numbers "
                       "and categories",
                       in->name ? in->name : name, what);
}

static void numbers(krein_source *s, const krein_encoding *e, const slots *n) {
    bool shifted = false;
    if (n->n == 0) return;
    for (int64_t i = 0; i < n->n; i++) shifted = shifted || n->shift[i] != 0;
    krein__source_ints(s, "number_input", n->n, n->input);
    krein__source_ints(s, "number_at", n->n, n->at);
    krein__source_ints(s, "number_flag", n->n, n->flag);
    if (shifted) krein__source_doubles(s, "number_shift", n->n, n->shift);
    if (e->log) krein__source_floats(s, "log_offset", e->d, e->log);
    krein__source_add(s,
                      "static void numbers(const float *x, float *z) {\n"
                      "    int i;\n"
                      "    for (i = 0; i < %lld; i++) {\n"
                      "        int at = number_at[i];\n"
                      "        float v = x[number_input[i]];\n"
                      "        int missing = v != v;\n",
                      (long long)n->n);
    if (shifted)
        krein__source_add(s, "        v = missing ? fill[at] : (float)((double)v - "
                             "number_shift[i]);\n");
    else
        krein__source_add(s, "        if (missing) v = fill[at];\n");
    krein__source_add(s, "        if (missing && number_flag[i] >= 0) z[number_flag[i]] = 1 - "
                         "centre[number_flag[i]];\n");
    if (e->log)
        krein__source_add(s,
                          "        if (log_offset[at] > 0) {\n"
                          "            real u = (real)v%s;\n"
                          "            v = (float)LOG((u > 0 ? u : 0) + (real)log_offset[at]);\n"
                          "        }\n",
                          shifted ? " + (real)number_shift[i]" : "");
    krein__source_add(s, "        z[at] = v - centre[at];\n"
                         "    }\n"
                         "}\n");
}

static void categories(krein_source *s, const slots *c) {
    if (c->n == 0) return;
    krein__source_ints(s, "category_input", c->n, c->input);
    krein__source_ints(s, "category_at", c->n, c->at);
    krein__source_ints(s, "category_flag", c->n, c->flag);
    krein__source_ints(s, "category_count", c->n, c->codes);
    krein__source_add(
        s,
        "static void categories(const float *x, float *z) {\n"
        "    int i, k;\n"
        "    for (i = 0; i < %lld; i++) {\n"
        "        int at = category_at[i], count = category_count[i], flag = category_flag[i];\n"
        "        float v = x[category_input[i]];\n"
        "        if (v >= 0 && v < (float)count) {\n"
        "            at += (int)v;\n"
        "            z[at] = 1 - centre[at];\n"
        "        } else if (v != v && flag >= 0) {\n"
        "            z[flag] = 1 - centre[flag];\n"
        "        } else if (v != v) {\n"
        "            for (k = at; k < at + count; k++) z[k] = fill[k] - centre[k];\n"
        "        }\n"
        "    }\n"
        "}\n",
        (long long)c->n);
}

/* Tables of means of the target, one for each such column. */
static void means(krein_source *s, const krein_encoding *e, int64_t j, int64_t input) {
    const krein_target_means *t = &e->input[j].target;
    char name[48];
    snprintf(name, sizeof name, "means_%lld", (long long)input);
    krein__source_floats(s, name, (t->words + 2) * t->columns, t->mean);
    krein__source_add(s,
                      "static void encode_%s(const float *x, float *z) {\n"
                      "    float v = x[%lld];\n"
                      "    int k, row = v != v ? %lld : v >= 0 && v < %lld ? (int)v : %lld;\n"
                      "    for (k = 0; k < %lld; k++)\n"
                      "        z[%lld + k] = %s[row * %lld + k] - centre[%lld + k];\n"
                      "}\n",
                      name, (long long)input, (long long)t->words, (long long)t->words,
                      (long long)t->words + 1, (long long)t->columns, (long long)e->input[j].at,
                      name, (long long)t->columns, (long long)e->input[j].at);
}

/* What is done to the whole row: z = raw - centre comes in. */
static void finish(krein_source *s, const krein_encoding *e) {
    bool clips = krein__encoding_clips(e), unit = e->scale == KREIN_SCALE_UNIT;
    krein__source_add(s, "    for (j = 0; j < %lld; j++) z[j] *= factor[j];\n", (long long)e->d);
    if (unit)
        krein__source_add(s,
                          "    for (j = 0; j < %lld; j++) square += (real)z[j] * (real)z[j];\n"
                          "    square = square > 0 ? 1 / SQRT(square) : 0;\n"
                          "    for (j = 0; j < %lld; j++) z[j] *= (float)square;\n",
                          (long long)e->d, (long long)e->d);
    if (clips)
        krein__source_add(s,
                          "    for (j = 0; j < %lld; j++) {\n"
                          "        if (z[j] > (float)%.9g) z[j] = (float)%.9g;\n"
                          "        if (z[j] < (float)%.9g) z[j] = (float)%.9g;\n"
                          "    }\n",
                          (long long)e->d, (double)e->clip, (double)e->clip, -(double)e->clip,
                          -(double)e->clip);
    if (e->metric)
        krein__source_add(s, "    for (j = 0; j < %lld; j++) z[j] *= metric[j];\n",
                          (long long)e->d);
    if (e->matrix)
        krein__source_add(s,
                          "    for (j = 0; j < %lld; j++) {\n"
                          "        float sum = 0;\n"
                          "        int k;\n"
                          "        for (k = 0; k < %lld; k++) sum += matrix[j * %lld + k] * z[k];\n"
                          "        turned[j] = sum;\n"
                          "    }\n"
                          "    for (j = 0; j < %lld; j++) z[j] = turned[j];\n",
                          (long long)e->d, (long long)e->d, (long long)e->d, (long long)e->d);
}

static krein_status dense(krein_source *s, const krein_encoding *e) {
    krein_ctx *ctx = s->out.ctx;
    krein_status st = KREIN_OK;
    slots number = {0}, category = {0};
    int64_t input = 0;
    TRY(slots_begin(ctx, e->ninput, &number));
    TRY(slots_begin(ctx, e->ninput, &category));
    for (int64_t j = 0; j < e->ninput; j++) {
        const krein_input *in = &e->input[j];
        if (in->role != KREIN_ROLE_FEATURE) continue;
        if (in->text && in->texts == KREIN_TEXTS_HASH)
            TRY(refuse(ctx, in, j, "is encoded by a hash of its texts"));
        if (!in->text && krein__reading_parts(in->reading) > 1)
            TRY(refuse(ctx, in, j, "holds dates"));
        if (in->text && in->texts == KREIN_TEXTS_TARGET)
            means(s, e, j, input);
        else if (in->at >= 0)
            slots_add(in->text ? &category : &number, input, in);
        input++;
    }
    if (number.n + category.n > 0) krein__source_floats(s, "fill", e->d, e->fill);
    numbers(s, e, &number);
    categories(s, &category);
    krein__source_add(s,
                      "static void encode(const float *x, float *z) {\n"
                      "    int j;\n%s%s"
                      "    for (j = 0; j < %lld; j++) z[j] = -centre[j];\n",
                      e->scale == KREIN_SCALE_UNIT ? "    real square = 0;\n" : "",
                      e->matrix ? "    float turned[COLUMNS];\n" : "", (long long)e->d);
    if (number.n > 0) krein__source_add(s, "    numbers(x, z);\n");
    if (category.n > 0) krein__source_add(s, "    categories(x, z);\n");
    input = 0;
    for (int64_t j = 0; j < e->ninput; j++) {
        const krein_input *in = &e->input[j];
        if (in->role != KREIN_ROLE_FEATURE) continue;
        if (in->text && in->texts == KREIN_TEXTS_TARGET)
            krein__source_add(s, "    encode_means_%lld(x, z);\n", (long long)input);
        input++;
    }
    finish(s, e);
    krein__source_add(s, "}\n\n");
done:
    slots_clear(ctx, &number);
    slots_clear(ctx, &category);
    return st;
}

static void sparse(krein_source *s, const krein_encoding *e) {
    krein__source_floats(s, "fill", e->d, e->fill);
    krein__source_add(s,
                      "static void encode(const float *x, float *z) {\n"
                      "    int j;\n%s"
                      "    for (j = 0; j < %lld; j++) z[j] = x[j] != x[j] ? fill[j] : x[j];\n",
                      e->scale == KREIN_SCALE_UNIT ? "    real square = 0;\n" : "",
                      (long long)e->d);
    finish(s, e);
    krein__source_add(s, "}\n\n");
}

krein_status krein__source_columns(krein_source *s, const krein_encoding *e) {
    if (!e->sparse) krein__source_floats(s, "centre", e->d, e->centre);
    krein__source_floats(s, "factor", e->d, e->factor);
    if (e->metric) krein__source_floats(s, "metric", e->d, e->metric);
    if (e->matrix) krein__source_floats(s, "matrix", e->d * e->d, e->matrix);
    s->flops += 4 * (double)e->d + (e->matrix ? 2 * (double)(e->d * e->d) : 0);
    s->stack += 4 * (double)e->d * (e->matrix ? 2 : 1);
    if (!e->sparse) return dense(s, e);
    sparse(s, e);
    return KREIN_OK;
}
