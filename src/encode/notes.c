/* notes.c -- what was decided about the columns, in words. The notes follow from the encoding
 * alone, so that a model file says the same as the training did. */
#include "encode/encoding.h"

#include "file/lines.h"

#include <stdio.h>
#include <string.h>

enum { SHOWN = 8, LENGTH = 600 };

typedef struct notes {
    krein_ctx *ctx;
    const krein_encoding *e;
    char **line;
    int64_t n, room;
} notes;

static krein_status add(notes *t, const char *line) {
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    if (t->n == t->room) {
        int64_t room = krein__max(8, 2 * t->room);
        char **bigger = krein__resize(ctx, t->line, room, sizeof *bigger);
        if (!bigger) return ctx->status;
        t->line = bigger;
        t->room = room;
    }
    DUP(t->line[t->n], line);
    t->n++;
done:
    return st;
}

static bool empty_left_out(const krein_input *in) { return in->left_out == KREIN_LEFT_EMPTY; }
static bool distinct_left_out(const krein_input *in) { return in->left_out == KREIN_LEFT_DISTINCT; }
static bool many_left_out(const krein_input *in) { return in->left_out == KREIN_LEFT_MANY; }
static bool feature(const krein_input *in) { return in->role == KREIN_ROLE_FEATURE; }
static bool means(const krein_input *in) { return feature(in) && in->texts == KREIN_TEXTS_TARGET; }
static bool hashed(const krein_input *in) { return feature(in) && in->texts == KREIN_TEXTS_HASH; }
static bool truths(const krein_input *in) {
    return feature(in) && in->reading.as == KREIN_AS_TRUTH;
}
static bool amounts(const krein_input *in) {
    return in->reading.as == KREIN_AS_AMOUNT && in->role <= KREIN_ROLE_LABEL;
}
static bool times(const krein_input *in) { return feature(in) && in->reading.as == KREIN_AS_TIME; }
static bool number_missing(const krein_input *in) { return in->indicator && !in->text; }
static bool text_missing(const krein_input *in) { return in->indicator && in->text; }

static bool logged(const notes *t, const krein_input *in) {
    return t->e->log && in->at >= 0 && t->e->log[in->at] > 0;
}

/* "before a, b, c and 5 more after", of the inputs that are so (NULL: whose logarithm is taken);
 * nothing where none is. */
static krein_status list(notes *t, const char *before, bool (*so)(const krein_input *),
                         const char *after) {
    char text[LENGTH], name[48];
    int64_t many = 0;
    int used = snprintf(text, sizeof text, "%s ", before);
    for (int64_t j = 0; j < t->e->ninput; j++) {
        const krein_input *in = &t->e->input[j];
        if (!(so ? so(in) : logged(t, in)) || many++ >= SHOWN) continue;
        const char *comma = many > 1 ? ", " : "";
        if (in->name && *in->name)
            used += snprintf(text + used, LENGTH - (size_t)used, "%s%s", comma,
                             krein__cell_text(in->name, strlen(in->name), name));
        else
            used += snprintf(text + used, LENGTH - (size_t)used, "%scolumn %lld", comma,
                             (long long)j + 1);
    }
    if (many == 0) return KREIN_OK;
    if (many > SHOWN)
        used += snprintf(text + used, LENGTH - (size_t)used, " and %lld more",
                         (long long)(many - SHOWN));
    snprintf(text + used, LENGTH - (size_t)used, "%s", after);
    return add(t, text);
}

/* A column a line: its form matters. */
static krein_status dates(notes *t) {
    static const char *const first[] = {"year first", "day first", "month first"};
    for (int64_t j = 0; j < t->e->ninput; j++) {
        const krein_input *in = &t->e->input[j];
        char text[LENGTH], name[48] = "";
        if (!feature(in) || in->reading.as != KREIN_AS_DATE) continue;
        if (in->name) krein__cell_text(in->name, strlen(in->name), name);
        if (!*name) snprintf(name, sizeof name, "column %lld", (long long)j + 1);
        snprintf(text, sizeof text, "dates, %s: %s: year, month, weekday%s and days",
                 first[in->reading.style & 3], name,
                 in->reading.style & KREIN_DATE_HOURS ? ", hour" : "");
        krein_status st = add(t, text);
        if (st != KREIN_OK) return st;
    }
    return KREIN_OK;
}

static krein_status images(notes *t) {
    const krein_encoding *e = t->e;
    char text[LENGTH];
    if (e->image[0] == 0) return KREIN_OK;
    snprintf(text, sizeof text, "images: %lld x %lld, %lld channel%s%s", (long long)e->image[0],
             (long long)e->image[1], (long long)e->image[2], e->image[2] == 1 ? "" : "s",
             e->scale == KREIN_SCALE_STANDARD || e->scale == KREIN_SCALE_MINMAX
                 ? ", scaled by channel"
                 : "");
    return add(t, text);
}

krein_status krein__encoding_notes(krein_ctx *ctx, const krein_encoding *e, char ***note,
                                   int64_t *n) {
    krein_status st = KREIN_OK;
    notes t = {.ctx = ctx, .e = e};
    *note = NULL;
    *n = 0;
    TRY(images(&t));
    TRY(dates(&t));
    TRY(list(&t, "times of day:", times, ": the hour"));
    TRY(list(&t, "truth values:", truths, ": 1 or 0"));
    TRY(list(&t, "amounts:", amounts, ": numbers without their signs and separators"));
    TRY(list(&t, "missing cells:", number_missing, ": the mean, and a column that says where"));
    TRY(list(&t, "missing cells:", text_missing, ": a category of their own"));
    TRY(list(&t, "left out:", empty_left_out, ": no cell has a value"));
    TRY(list(&t, "left out:", distinct_left_out,
             ": nearly all texts are distinct, as in names and numbers of rows"));
    TRY(list(&t, "left out:", many_left_out, ": more than 262,144 texts, and no labels to use"));
    TRY(list(&t, "categories:", means, ": the mean of the target, out of fold"));
    TRY(list(&t, "categories:", hashed, ": hashed into 256 columns"));
    TRY(list(&t, "logarithms:", NULL, ": heavy tails"));
    *note = t.line;
    *n = t.n;
    t = (notes){0};
done:
    krein__notes_free(ctx, t.line, t.n);
    return st;
}

void krein__notes_free(krein_ctx *ctx, char **note, int64_t n) {
    for (int64_t i = 0; i < n; i++) krein__free(ctx, note[i]);
    krein__free(ctx, note);
}

krein_status krein__encoding_say(krein_ctx *ctx, const krein_encoding *e) {
    char **note;
    int64_t n;
    krein_status st = krein__encoding_notes(ctx, e, &note, &n);
    for (int64_t i = 0; i < n; i++) krein__log(ctx, KREIN_LOG_INFO, "%s", note[i]);
    krein__notes_free(ctx, note, n);
    return st;
}
