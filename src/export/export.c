/* export.c -- a model as one C99 file that predicts (krein_model_export)
 *
 *     int NAME_predict(const float *x, float *scores)
 *
 * x has the raw input columns, scores get the decision values or the prediction; the result is the
 * number of the class, 0 for numbers; of several labels a row how many there are, those of the
 * scores above 0 (thresholds are taken off the scores). The file is encoding (columns.c), scores
 * (scores.c), head and names; it needs no memory but its constants and the stack, and math.h at
 * most.
 *
 * Sums and kernel values are float where that is good enough for the deviation of the scores, else
 * double. */
#include "export/source.h"

#include "base/rng.h"
#include "base/sized.h"
#include "file/writer.h"
#include "map/deep.h"
#include "map/waves.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CALLS = 200 }; /* bytes of stack that calls and their numbers take */

/* A name that C takes, and that does not end in what is added to it. */
static krein_status check_name(krein_ctx *ctx, const char *name) {
    static const char *const words[] = {
        "auto",    "break",  "case",     "char",   "const",    "continue", "default",
        "do",      "double", "else",     "enum",   "extern",   "float",    "for",
        "goto",    "if",     "inline",   "int",    "long",     "register", "restrict",
        "return",  "short",  "signed",   "sizeof", "static",   "struct",   "switch",
        "typedef", "union",  "unsigned", "void",   "volatile", "while"};
    enum { LONGEST = 60 };
    size_t n = strlen(name);
    bool good = n > 0 && n <= LONGEST && (isalpha((unsigned char)name[0]) || name[0] == '_');
    for (size_t i = 0; i < n; i++)
        good = good && (unsigned char)name[i] < 128 &&
               (isalnum((unsigned char)name[i]) || name[i] == '_');
    for (int64_t k = 0; k < KREIN__COUNT(words); k++) good = good && strcmp(name, words[k]) != 0;
    if (good) return KREIN_OK;
    return krein__fail(ctx, KREIN_EARG,
                       "\"%.60s\" is no name for a function in C: letters, digits and _, at most "
                       "%d, not a digit first; give another `name`",
                       name, LONGEST);
}

/* Scores are a linear function of the encoded row; not where the kernel is one of the map's own
 * features. With codes they are one of the codes: of a
 * unit vector, which may lie outside their range, nothing follows. */
static bool is_linear(const krein_map *map) {
    return krein__is_linear(map->kernel) && !krein__map_has_codes(map) && !map->cls->kernel;
}

/* How the scores are made; NULL: they cannot be. */
typedef krein_status scorer(krein_source *s, const krein_model *m);
static scorer *scorer_of(const krein_model *m) {
    const krein_map *map = m->map;
    if (is_linear(map)) return krein__source_linear;
    if (krein__map_has_waves(map)) return krein__source_waves;
    if (krein__map_is_deep(map)) return krein__source_layers;
    if (krein__map_has_codes(map))
        return krein__source_has_kernel(map->kernel) ? krein__source_coded : NULL;
    if (krein__map_traits(map) & (KREIN_MAP_DUAL | KREIN_MAP_VALUES))
        return krein__source_has_kernel(map->kernel) ? krein__source_values : NULL;
    return NULL;
}

static krein_status check(krein_ctx *ctx, const krein_model *m) {
    krein_status st = krein__model_need_head(ctx, m, "predict");
    if (st != KREIN_OK || scorer_of(m)) return st;
    return krein__fail(
        ctx, KREIN_EDATA,
        "the model cannot be written as a C program: map %s, kernel %s. What can: "
        "maps of frequencies (rff, orf, sorf, fastfood, qmc, learned, ...), deep, exact "
        "and nystrom with kernels other than arccos, ntk, spline and precomputed, "
        "and linear models; train with one of these",
        m->map->cls->cls.name, m->kernel_text);
}

/* The smallest deviation of a score over some rows: those that the map has, else random ones. */
static krein_status spread(krein_ctx *ctx, const krein_model *m, double *out) {
    enum { ROWS = 64 };
    krein_status st = KREIN_OK;
    int64_t d = m->map->d, k = m->k, n = ROWS;
    float *x = NULL;
    double *f = NULL;
    krein_rng g = {1, KREIN_STREAM_START};
    NEW(x, ROWS * d);
    NEW(f, ROWS * k);
    if (krein__map_traits(m->map) & (KREIN_MAP_DUAL | KREIN_MAP_VALUES)) {
        krein_rows at = krein__map_landmarks(m->map);
        n = krein__min(n, at.n);
        for (int64_t i = 0; i < n; i++) krein__row_copy(&at, i * at.n / n, x + i * d);
    } else {
        for (int64_t e = 0; e < ROWS * d; e++)
            x[e] = (float)krein__rng_normal(g, (uint64_t)(e / d), (uint64_t)(e % d));
    }
    TRY(krein__source_try(ctx, m, n, x, f));
    *out = INFINITY;
    for (int64_t c = 0; c < k; c++) {
        double mean = 0, square = 0;
        for (int64_t i = 0; i < n; i++) mean += f[i * k + c] / (double)n;
        for (int64_t i = 0; i < n; i++) square += pow(f[i * k + c] - mean, 2) / (double)n;
        if (square > 0) *out = fmin(*out, sqrt(square));
    }
done:
    krein__free(ctx, x);
    krein__free(ctx, f);
    return st;
}

/* Float sums are off by up to 2^-24 of the sum of the weights' sizes, times that of a feature. */
static krein_status needs_double(krein_ctx *ctx, const krein_model *m, bool *out) {
    static const double ALLOWED = 3e-4;
    krein_status st = KREIN_OK;
    double most = 0, scale = INFINITY;
    *out = false;
    if (is_linear(m->map) || m->packed.unit) return KREIN_OK;
    TRY(spread(ctx, m, &scale));
    for (int64_t c = 0; c < m->k; c++) {
        double sum = 0;
        for (int64_t i = 0; i < m->map->R; i++) sum += fabs(m->w[i * m->k + c]);
        most = fmax(most, sum);
    }
    double size = krein__map_has_waves(m->map) ? sqrt(2 / (double)m->map->R)
                  : krein__map_is_deep(m->map) ? krein__deep_factor(m->map)
                                               : 1;
    *out = 0x1p-24 * most * size > ALLOWED * scale;
done:
    return st;
}

/* ---- the parts of the file ---------------------------------------------- */

static void head(krein_source *s, const krein_model *m) {
    int64_t classes = m->encoding.nclass;
    krein__source_add(s,
                      "int %s_predict(const float *x, float *scores) {\n"
                      "    float z[COLUMNS];\n"
                      "    real f[SCORES];\n"
                      "    int c%s;\n"
                      "    encode(x, z);\n"
                      "    score(z, f);\n"
                      "    for (c = 0; c < SCORES; c++) scores[c] = (float)f[c];\n",
                      s->name,
                      m->head == KREIN_HEAD_VOTES                 ? ", a, b, most = -1, best = 0"
                      : m->head == KREIN_HEAD_BEST && classes > 2 ? ", best = 0"
                      : m->head == KREIN_HEAD_LABELS              ? ", count = 0"
                                                                  : "");
    if (m->head == KREIN_HEAD_VALUES)
        krein__source_add(s, "    return 0;\n");
    else if (m->head == KREIN_HEAD_LABELS)
        krein__source_add(s, "    for (c = 0; c < SCORES; c++) count += f[c] > 0;\n"
                             "    return count;\n");
    else if (m->head == KREIN_HEAD_BEST && classes == 2)
        krein__source_add(s, "    return f[0] > 0;\n");
    else if (m->head == KREIN_HEAD_BEST)
        krein__source_add(s, "    for (c = 1; c < SCORES; c++)\n"
                             "        if (f[c] > f[best]) best = c;\n"
                             "    return best;\n");
    else
        krein__source_add(
            s,
            "    for (c = 0; c < %lld; c++) { /* a score for each pair a < b, positive for b */\n"
            "        int votes = 0;\n"
            "        for (a = 0; a < c; a++) votes += f[a * %lld - a * (a + 1) / 2 + c - a - 1] > "
            "0;\n"
            "        for (b = c + 1; b < %lld; b++) votes += !(f[c * %lld - c * (c + 1) / 2 + b - "
            "c "
            "- 1] > 0);\n"
            "        if (votes > most) most = votes, best = c;\n"
            "    }\n"
            "    return best;\n",
            (long long)classes, (long long)classes, (long long)classes, (long long)classes);
    krein__source_add(s, "}\n");
    s->stack += 4 * (double)m->encoding.d + (s->wide ? 8 : 4) * (double)m->k;
}

static void class_names(krein_source *s, const krein_model *m) {
    const krein_encoding *e = &m->encoding;
    if (e->nclass == 0) return;
    krein__source_add(s, "const char *const %s_classes[%lld] = {", s->name, (long long)e->nclass);
    for (int64_t c = 0; c < e->nclass; c++) {
        krein__source_add(s, c ? ",\n    " : "\n    ");
        krein__source_text(s, e->class_name[c]);
    }
    krein__source_add(s, "};\n\n");
}

static int64_t inputs_of(const krein_encoding *e) {
    int64_t n = 0;
    if (e->ninput == 0) return e->d;
    for (int64_t j = 0; j < e->ninput; j++) n += e->input[j].role == KREIN_ROLE_FEATURE;
    return n;
}

/* Text within a comment: no end of it, nothing that is not printed, and no trigraph: "??/" at the
 * end of a line would join it with the next one. */
static void comment_text(krein_source *s, const char *text) {
    for (const char *c = text; *c; c++)
        krein__source_add(s, "%c",
                          (*c < 32 || *c > 126 || (*c == '/' && c > text && c[-1] == '*') ||
                           (*c == '*' && c[1] == '/') || (*c == '/' && c[1] == '*') ||
                           (*c == '?' && c[1] == '?'))
                              ? '_'
                              : *c);
}

/* The columns of x, in their order, with the categories of each. */
static void column_comment(krein_source *s, const krein_encoding *e) {
    enum { MOST = 200 };
    int64_t at = 0;
    for (int64_t j = 0; j < e->ninput && at < MOST; j++) {
        const krein_input *in = &e->input[j];
        if (in->role != KREIN_ROLE_FEATURE) continue;
        krein__source_add(s, " *   x[%lld] ", (long long)at++);
        if (in->name)
            comment_text(s, in->name);
        else
            krein__source_add(s, "column %lld", (long long)j + 1);
        for (int64_t c = 0; in->text && c < in->dict.n && c < MOST; c++) {
            krein__source_add(s, c ? ", %lld " : ": %lld ", (long long)c);
            comment_text(s, in->dict.word[c]);
        }
        krein__source_add(s, "\n");
    }
}

static void declarations(krein_source *s, const krein_model *m, const char *prefix) {
    krein__source_add(s, "enum { %s_INPUTS = %lld, %s_SCORES = %lld, %s_CLASSES = %lld };\n",
                      prefix, (long long)inputs_of(&m->encoding), prefix, (long long)m->k, prefix,
                      (long long)m->encoding.nclass);
    krein__source_add(s, "int %s_predict(const float *x, float *scores);\n", s->name);
    if (m->encoding.nclass > 0)
        krein__source_add(s, "extern const char *const %s_classes[%lld];\n", s->name,
                          (long long)m->encoding.nclass);
}

static void comment(krein_source *s, const krein_model *m, const krein_source *body,
                    const char *name) {
    bool classes = m->encoding.nclass > 0, labels = m->head == KREIN_HEAD_LABELS;
    krein__source_add(s, "/* %s -- a model of Krein as a C program\n *\n", name);
    krein__source_add(s, " *   learner   ");
    comment_text(s, m->learner ? m->learner : "");
    krein__source_add(s, "\n *   kernel    ");
    comment_text(s, m->kernel_text ? m->kernel_text : "");
    krein__source_add(s, "\n *   map       ");
    comment_text(s, m->map_text ? m->map_text : "");
    krein__source_add(
        s,
        "\n *\n"
        " * int %s_predict(const float *x, float *scores)\n"
        " * %s\n"
        " * scores gets %lld number%s%s.\n"
        " * x has %lld number%s: the raw input columns; categories by their number, a "
        "missing cell as NaN.\n",
        s->name,
        labels    ? "returns how many labels the row has."
        : classes ? "returns the number of the class."
                  : "returns 0.",
        (long long)m->k, m->k == 1 ? "" : "s",
        labels    ? ", one for each label: the row has those above 0"
        : classes ? ", the decision values"
                  : ", the prediction",
        (long long)inputs_of(&m->encoding), inputs_of(&m->encoding) == 1 ? "" : "s");
    column_comment(s, &m->encoding);
    if (body->drawn)
        krein__source_add(s, " *\n"
                             " * Frequencies are not stored: every row draws them again from their "
                             "seed (Philox4x64-10),\n"
                             " * which takes time and no memory.\n");
    krein__source_add(
        s,
        " *\n"
        " * Constants %.0f bytes, about %.0f operations a row, %.0f bytes of stack; %s, "
        "%s. */\n",
        body->bytes, body->flops, body->stack + CALLS,
        body->wide ? "sums in double" : "all in float", body->libm ? "math.h" : "no library");
}

/* ---- the whole ---------------------------------------------------------- */

static krein_status write_file(krein_ctx *ctx, const char *path, const krein_source *s) {
    krein_status st = KREIN_OK;
    krein_writer *w = NULL;
    TRY(krein__writer_open(ctx, path, &w));
    TRY(krein__writer_put(w, s->out.text, s->out.size));
    st = krein__writer_commit(w);
    w = NULL;
done:
    krein__writer_abort(w);
    return st;
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The upper case of the name, for the constants of the header. */
static void upper(const char *name, char *out, size_t size) {
    size_t i = 0;
    for (; name[i] && i + 1 < size; i++) out[i] = (char)toupper((unsigned char)name[i]);
    out[i] = 0;
}

static krein_status make_body(krein_source *s, const krein_model *m) {
    krein_status st = KREIN_OK;
    TRY(krein__source_columns(s, &m->encoding));
    TRY(scorer_of(m)(s, m));
    class_names(s, m);
    head(s, m);
    st = s->out.status;
done:
    return st;
}

static krein_status make_header(krein_source *s, const krein_model *m, const char *path) {
    char prefix[64];
    upper(s->name, prefix, sizeof prefix);
    krein__source_add(s, "/* %s -- what %s.c offers. */\n#ifndef %s_H\n#define %s_H\n\n",
                      base_name(path), s->name, prefix, prefix);
    declarations(s, m, prefix);
    krein__source_add(s, "\n#endif\n");
    return s->out.status;
}

static krein_status make_file(krein_source *s, const krein_model *m, const krein_source *body,
                              const char *name) {
    comment(s, m, body, name);
    if (s->libm &&
        (strstr(body->out.text, "EXP(") || strstr(body->out.text, "LOG(") ||
         strstr(body->out.text, "SQRT(") || strstr(body->out.text, "TANH(") || body->drawn))
        krein__source_add(s, "#include <math.h>\n");
    if (strstr(body->out.text, "int16_t") || body->drawn)
        krein__source_add(s, "#include <stdint.h> /* types of whole numbers, no library */\n");
    krein__source_add(s, "\ntypedef %s real;\n#define R(v) ((real)(v))\n",
                      s->wide ? "double" : "float");
    krein__source_add(s, "enum { COLUMNS = %lld, SCORES = %lld };\n", (long long)m->encoding.d,
                      (long long)m->k);
    krein__source_add(s, "int %s_predict(const float *x, float *scores);\n", s->name);
    if (m->encoding.nclass > 0)
        krein__source_add(s, "extern const char *const %s_classes[%lld];\n", s->name,
                          (long long)m->encoding.nclass);
    krein__source_functions(s, body->out.text);
    krein__source_add(s, "\n%s", body->out.text);
    return s->out.status;
}

void krein_export_options_init_sized(krein_export_options *options, size_t size) {
    const krein_export_options own = KREIN_SIZED(krein_export_options);
    krein__options_give(options, size, &own);
}

krein_status krein_model_export(krein_ctx *ctx, const krein_model *model, const char *path,
                                const krein_export_options *given, krein_export_report *report) {
    krein_status st = KREIN_OK;
    krein_model own = *model, *m = &own; /* thresholds are taken off its scores */
    own.intercept = NULL;
    krein_export_options o = KREIN_SIZED(krein_export_options);
    krein_export_report r = KREIN_SIZED(krein_export_report);
    krein_source body = {.out = {.ctx = ctx}}, whole = {.out = {.ctx = ctx}},
                 header = {.out = {.ctx = ctx}};
    TRY(krein__report_check(ctx, report, "krein_export_report"));
    TRY(krein__options_copy(ctx, given, &o, "krein_export_options"));
    const char *name = o.name ? o.name : "model";
    TRY(check_name(ctx, name));
    TRY(check(ctx, m));
    NEW(own.intercept, krein__max(1, m->k));
    for (int64_t c = 0; c < m->k; c++)
        own.intercept[c] = model->intercept[c] - (m->threshold ? m->threshold[c] : 0);
    body.name = whole.name = header.name = name;
    body.libm = whole.libm = !o.no_libm;
    body.stored = o.stored;
    TRY(needs_double(ctx, m, &body.wide));
    whole.wide = body.wide;
    TRY(make_body(&body, m));
    if (body.beyond && !body.wide) { /* weights that only a double holds */
        krein__source_end(&body);
        body = (krein_source){.out = {.ctx = ctx},
                              .name = name,
                              .libm = whole.libm,
                              .stored = o.stored,
                              .wide = true};
        whole.wide = true;
        TRY(make_body(&body, m));
    }
    if (body.beyond) {
        st = krein__fail(ctx, KREIN_ENUMERIC,
                         "the model has numbers that are not finite, and cannot be written as a C "
                         "program; train it with a larger lambda");
        goto done;
    }
    TRY(make_file(&whole, m, &body, base_name(path)));
    if (o.header) TRY(make_header(&header, m, o.header));
    if (o.header) TRY(write_file(ctx, o.header, &header));
    TRY(write_file(ctx, path, &whole));
    r.bytes = (int64_t)body.bytes;
    r.flops = (int64_t)body.flops;
    r.stack = (int64_t)body.stack + CALLS;
    r.file = (int64_t)whole.out.size;
    r.wide = body.wide;
    r.drawn = body.drawn;
done:
    krein__free(ctx, own.intercept);
    krein__source_end(&body);
    krein__source_end(&whole);
    krein__source_end(&header);
    krein__report_finish(st, report, &r);
    return st;
}
