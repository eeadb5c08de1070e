/* spec.c -- parsing name(key=value, ...) against option tables; see spec.h for the grammar. */
#include "base/spec.h"

#include "base/text.h"

#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 64, NAMES = 128 };

void krein__skip_space(krein_cursor *c) {
    while (*c->at == ' ' || *c->at == '\t' || *c->at == '\n') c->at++;
}

bool krein__read_name(krein_cursor *c, char *out, size_t size) {
    krein__skip_space(c);
    const char *p = c->at;
    if (!isalpha((unsigned char)*p) && *p != '_') return false;
    size_t n = 0;
    while (isalnum((unsigned char)*p) || *p == '_') {
        if (n + 1 < size) out[n++] = *p;
        p++;
    }
    out[n] = 0;
    c->at = p;
    return true;
}

/* An unsigned decimal without words such as "inf" or hexadecimal forms. A point that starts ".."
 * is not part of it. Copied to a buffer because the range "1..2:3" would confuse strtod. */
static bool plain_number(const char **at, double *out) {
    const char *p = *at;
    char buf[NAME];
    size_t n = 0;
    bool digits = false, point = false;
    for (; n + 1 < sizeof buf; p++) {
        if (isdigit((unsigned char)*p)) {
            digits = true;
        } else if (*p == '.' && !point && p[1] != '.') {
            point = true;
        } else {
            break;
        }
        buf[n++] = *p;
    }
    if (!digits) return false;
    if (*p == 'e' || *p == 'E') {
        const char *q = p + 1;
        if (*q == '+' || *q == '-') q++;
        if (isdigit((unsigned char)*q)) {
            while (isdigit((unsigned char)*q)) q++;
            if (n + (size_t)(q - p) + 1 >= sizeof buf) return false;
            memcpy(buf + n, p, (size_t)(q - p));
            n += (size_t)(q - p);
            p = q;
        }
    }
    if (isdigit((unsigned char)*p)) return false; /* too long for any number we print */
    buf[n] = 0;
    char *dot = strchr(buf, '.');
    if (dot) *dot = *localeconv()->decimal_point; /* strtod reads as the caller's locale does */
    *out = strtod(buf, NULL);
    *at = p;
    return true;
}

bool krein__read_number(krein_cursor *c, double *out) {
    krein__skip_space(c);
    const char *p = c->at;
    double sign = 1, value, power, power_sign = 1;
    if (*p == '+' || *p == '-') sign = *p++ == '-' ? -1 : 1;
    if (!plain_number(&p, &value)) return false;
    if (*p == '^') {
        const char *q = p + 1;
        if (*q == '+' || *q == '-') power_sign = *q++ == '-' ? -1 : 1;
        if (plain_number(&q, &power)) {
            value = pow(value, power_sign * power);
            p = q;
        }
    }
    *out = sign * value;
    c->at = p;
    return true;
}

krein_status krein__spec_error(krein_ctx *ctx, const krein_cursor *c, const char *format, ...) {
    char text[KREIN__MESSAGE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    /* Of a long text, such as a list of kernels, the part around the place. */
    const char *from = c->at - c->text > 150 ? c->at - 100 : c->text;
    while (((unsigned char)*from & 0xC0) == 0x80) from++; /* not from inside a letter */
    return krein__fail(ctx, KREIN_ESPEC, "%s \"%s%.200s\", column %d: %s", c->what,
                       from > c->text ? "..." : "", from, (int)(c->at - c->text) + 1, text);
}

const char *krein__nearest(const char *name, const char *const *names, int64_t n) {
    const char *best = NULL;
    int64_t least = 1 + (int64_t)strnlen(name, KREIN_NAME_CUT) / 2;
    for (int64_t i = 0; i < n; i++) {
        size_t common = strlen(name);
        /* A beginning ("gauss" for gaussian) is as good as one wrong letter. */
        int64_t e = common >= 3 && strncmp(name, names[i], common) == 0
                        ? 1
                        : krein__edit_distance(name, names[i]);
        if (e < least) {
            least = e;
            best = names[i];
        }
    }
    return best;
}

/* "; did you mean X? There are: a, b, c", or "; there are: a, b, c" */
static void suggestion(const char *name, const char *const *names, int64_t n, char *out,
                       size_t size) {
    const char *near = krein__nearest(name, names, n);
    const char *lead = near ? " There are: " : " there are: ";
    size_t used = 0;
    if (near)
        used = (size_t)snprintf(out, size, "; did you mean \"%s\"?", near);
    else
        used = (size_t)snprintf(out, size, ";");
    for (int64_t i = 0; i < n && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", i == 0 ? lead : ", ", names[i]);
    if (n == 0 && used < size) snprintf(out + used, size - used, " it takes none");
}

const krein_class *krein__class_named(const char *name, const krein_class *const *classes,
                                      int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (strcmp(classes[i]->name, name) == 0) return classes[i];
    return NULL;
}

krein_status krein__find_class(krein_ctx *ctx, const krein_cursor *c, const char *name,
                               const krein_class *const *classes, int64_t n, int64_t *out) {
    const char *names[NAMES] = {NULL};
    for (int64_t i = 0; i < n; i++) {
        names[i] = classes[i]->name;
        if (strcmp(classes[i]->name, name) == 0) {
            *out = i;
            return KREIN_OK;
        }
    }
    char text[512];
    suggestion(name, names, n, text, sizeof text);
    return krein__spec_error(ctx, c, "unknown %s \"%s\"%s", c->what, name, text);
}

static int64_t option_count(const krein_class *cls) {
    int64_t n = 0;
    while (cls->options && cls->options[n].name) n++;
    return n;
}

int64_t krein__option_index(const krein_class *cls, const char *name) {
    for (int64_t i = 0; i < option_count(cls); i++)
        if (strcmp(cls->options[i].name, name) == 0) return i;
    return -1;
}

bool krein__word(const char *words, int64_t k, char *out, size_t size) {
    for (; words; k--) {
        size_t length = strcspn(words, "|");
        if (k == 0) {
            snprintf(out, size, "%.*s", (int)length, words);
            return true;
        }
        words = words[length] ? words + length + 1 : NULL;
    }
    return false;
}

static krein_status check_range(krein_ctx *ctx, const krein_cursor *c, const krein_option *o,
                                double x) {
    char value[40], low[40], high[40];
    bool whole = o->type != KREIN_OPTION_INTEGER || x == rint(x);
    bool above = o->low_open ? x > o->low : x >= o->low;
    bool below = o->high_open ? x < o->high : x <= o->high;
    if (isfinite(x) && whole && above && below) return KREIN_OK;
    return krein__spec_error(ctx, c, "%s = %s is out of range; it takes %s in %c%s, %s%c", o->name,
                             krein__number_text(x, value), whole ? "a value" : "a whole number",
                             o->low_open ? '(' : '[', krein__number_text(o->low, low),
                             krein__number_text(o->high, high), o->high_open ? ')' : ']');
}

static krein_status parse_word(krein_ctx *ctx, krein_cursor *c, const krein_option *o,
                               double *out) {
    char word[NAME], candidate[NAME];
    krein_cursor start = *c;
    const char *words = o->type == KREIN_OPTION_YESNO ? "no|yes" : o->words;
    if (krein__read_name(c, word, sizeof word))
        for (int64_t k = 0; krein__word(words, k, candidate, sizeof candidate); k++)
            if (strcmp(word, candidate) == 0) {
                *out = (double)k;
                return KREIN_OK;
            }
    return krein__spec_error(ctx, &start, "%s must be one of %s", o->name, words);
}

static krein_status parse_text(krein_ctx *ctx, krein_cursor *c, const krein_option *o, char **out) {
    krein__skip_space(c);
    const char *from = c->at, *to;
    if (*from == '"') {
        to = strchr(++from, '"');
        if (!to) return krein__spec_error(ctx, c, "the quote of %s is not closed", o->name);
        c->at = to + 1;
    } else {
        to = from + strcspn(from, ",)");
        c->at = to;
        /* It is printed in quotes, and must be read back from there. */
        const char *quote = memchr(from, '"', (size_t)(to - from));
        if (quote) {
            c->at = quote;
            return krein__spec_error(ctx, c, "%s cannot have a quote inside", o->name);
        }
        while (to > from && to[-1] == ' ') to--;
    }
    krein__free(ctx, *out);
    *out = krein__strndup(ctx, from, (size_t)(to - from));
    return *out ? KREIN_OK : ctx->status;
}

/* The rest of a range, with the cursor on its ".."; start is at its low end. */
static krein_status parse_range(krein_ctx *ctx, krein_cursor *c, const krein_cursor *start,
                                const krein_option *o, krein_values *v, int64_t i) {
    double low = v->number[i], high = 0, count;
    c->at += 2;
    /* "1...5" would be 1 to 0.5: hardly what was meant. */
    bool written = *c->at != '.' && krein__read_number(c, &high);
    krein__skip_space(c);
    if (!written || *c->at != ':')
        return krein__spec_error(ctx, start,
                                 "a range is written low..high:count, as in 0.1..10:20");
    c->at++;
    if (!krein__read_number(c, &count) || count < 1 || count > 10000 || count != rint(count))
        return krein__spec_error(ctx, start,
                                 "the count of a range is a whole number from 1 to 10,000");
    krein_status st = check_range(ctx, start, o, high);
    if (st != KREIN_OK) return st;
    if (low <= 0 || high <= 0)
        return krein__spec_error(ctx, start,
                                 "a range is spaced geometrically: both ends must be positive; "
                                 "list other values with \";\" between the kernels");
    if (count == 1 && low != high)
        return krein__spec_error(ctx, start,
                                 "a range from one value to another has a count of at least 2");
    v->count[i] = (int64_t)count;
    v->last[i] = high;
    v->place[i] = start->at - start->text;
    return KREIN_OK;
}

static krein_status parse_number(krein_ctx *ctx, krein_cursor *c, const krein_option *o,
                                 bool ranges, krein_values *v, int64_t i) {
    krein_cursor start = *c;
    if (!krein__read_number(c, &v->number[i]))
        return krein__spec_error(ctx, &start, "%s needs a number", o->name);
    krein_status st = check_range(ctx, &start, o, v->number[i]);
    krein__skip_space(c);
    if (st != KREIN_OK || strncmp(c->at, "..", 2) != 0) return st;
    if (ranges) return parse_range(ctx, c, &start, o, v, i);
    return krein__spec_error(
        ctx, &start,
        "%s takes one number here, not a range; ranges make families of kernels, in `kernels`",
        o->name);
}

static krein_status parse_pair(krein_ctx *ctx, krein_cursor *c, const krein_class *cls, bool ranges,
                               krein_values *v) {
    char key[NAME];
    krein_cursor start = *c;
    if (!krein__read_name(c, key, sizeof key))
        return krein__spec_error(ctx, c, "expected key=value or \")\"");
    int64_t i = krein__option_index(cls, key);
    if (i < 0) {
        const char *names[KREIN_OPTIONS_MAX] = {NULL};
        int64_t n = option_count(cls);
        for (int64_t j = 0; j < n; j++) names[j] = cls->options[j].name;
        char text[512];
        suggestion(key, names, n, text, sizeof text);
        return krein__spec_error(ctx, &start, "%s has no key \"%s\"%s", cls->name, key, text);
    }
    krein__skip_space(c);
    if (*c->at != '=') return krein__spec_error(ctx, c, "expected \"=\" after %s", key);
    c->at++;
    krein__skip_space(c);
    if (v->given[i]) return krein__spec_error(ctx, &start, "%s is given twice", key);
    v->given[i] = true;
    const krein_option *o = &cls->options[i];
    switch (o->type) {
    case KREIN_OPTION_NUMBER:
    case KREIN_OPTION_INTEGER:
        return parse_number(ctx, c, o, ranges, v, i);
    case KREIN_OPTION_YESNO:
    case KREIN_OPTION_WORD:
        return parse_word(ctx, c, o, &v->number[i]);
    case KREIN_OPTION_TEXT:
        return parse_text(ctx, c, o, &v->text[i]);
    }
    return KREIN_OK;
}

krein_status krein__parse_options(krein_ctx *ctx, krein_cursor *c, const krein_class *cls,
                                  bool ranges, krein_values *v) {
    krein_status st = KREIN_OK;
    memset(v, 0, sizeof *v);
    for (int64_t i = 0; i < option_count(cls); i++) {
        v->number[i] = cls->options[i].value;
        v->count[i] = 1;
        if (cls->options[i].text) DUP(v->text[i], cls->options[i].text);
    }
    krein__skip_space(c);
    if (*c->at != '(') return KREIN_OK;
    c->at++;
    for (krein__skip_space(c); *c->at != ')';) {
        TRY(parse_pair(ctx, c, cls, ranges, v));
        krein__skip_space(c);
        if (*c->at == ',') {
            c->at++;
            krein__skip_space(c);
            if (*c->at == ')') {
                st = krein__spec_error(ctx, c, "expected key=value after \",\"");
                goto done;
            }
        } else if (*c->at != ')') {
            st = krein__spec_error(ctx, c, "expected \",\" or the closing \")\" of %s", cls->name);
            goto done;
        }
    }
    c->at++;
done:
    if (st != KREIN_OK) krein__values_clear(ctx, v);
    return st;
}

krein_status krein__spec_name(krein_ctx *ctx, krein_cursor *c, char *name, size_t size) {
    krein__skip_space(c);
    if (krein__read_name(c, name, size)) return KREIN_OK;
    return krein__spec_error(ctx, c, "expected the name of a %s", c->what);
}

/* The end of a value: behind its quotes, or before the next ',' or ')'. */
static const char *value_end(const char *at) {
    if (*at != '"') return at + strcspn(at, ",)");
    const char *quote = strchr(at + 1, '"');
    return quote ? quote + 1 : at + strlen(at);
}

krein_status krein__spec_pair(krein_ctx *ctx, krein_cursor *c, krein_pair *out) {
    *out = (krein_pair){0};
    krein__skip_space(c);
    if (*c->at == 0) return KREIN_OK;
    bool last = *c->at == ')';
    if (!last && *c->at != '(' && *c->at != ',')
        return krein__spec_error(ctx, c, "expected \",\" or the closing \")\"");
    c->at++;
    krein__skip_space(c);
    if (last)
        return *c->at ? krein__spec_error(ctx, c, "unexpected text after the %s", c->what)
                      : KREIN_OK;
    if (*c->at == ')' && c->at[-1] != ',') return krein__spec_pair(ctx, c, out);
    if (!krein__read_name(c, out->key, sizeof out->key))
        return krein__spec_error(ctx, c, "expected key=value or \")\"");
    krein__skip_space(c);
    if (*c->at != '=') return krein__spec_error(ctx, c, "expected \"=\" after %s", out->key);
    c->at++;
    krein__skip_space(c);
    out->value = c->at;
    c->at = value_end(c->at);
    out->length = (size_t)(c->at - out->value);
    return KREIN_OK;
}

/* "-order" of "first-order": a spec stands alone, and no minus can follow its name. */
static void add_hyphened(krein_cursor *c, char *name, size_t size) {
    size_t n = strlen(name);
    if (*c->at != '-' || !isalpha((unsigned char)c->at[1])) return;
    while (isalnum((unsigned char)*c->at) || *c->at == '_' || *c->at == '-') {
        if (n + 1 < size) name[n++] = *c->at;
        c->at++;
    }
    name[n] = 0;
}

krein_status krein__parse_spec(krein_ctx *ctx, const char *text, const char *what,
                               const krein_class *const *classes, int64_t n, int64_t *which,
                               krein_values *out) {
    krein_cursor c = {text, text, what};
    char name[NAME];
    memset(out, 0, sizeof *out);
    krein__skip_space(&c);
    krein_cursor start = c;
    krein_status st = krein__spec_name(ctx, &c, name, sizeof name);
    if (st != KREIN_OK) return st;
    add_hyphened(&c, name, sizeof name);
    st = krein__find_class(ctx, &start, name, classes, n, which);
    if (st != KREIN_OK) return st;
    st = krein__parse_options(ctx, &c, classes[*which], false, out);
    if (st != KREIN_OK) return st;
    krein__skip_space(&c);
    if (*c.at) {
        st = krein__spec_error(ctx, &c, "unexpected text after the %s", what);
        krein__values_clear(ctx, out);
    }
    return st;
}

void krein__values_old(const krein_class *cls, krein_values *v) {
    for (int64_t i = 0; i < option_count(cls); i++)
        if (cls->options[i].added && !v->given[i]) v->number[i] = cls->options[i].old;
}

void krein__values_clear(krein_ctx *ctx, krein_values *v) {
    for (int64_t i = 0; i < KREIN_OPTIONS_MAX; i++) {
        krein__free(ctx, v->text[i]);
        v->text[i] = NULL;
    }
}

krein_status krein__values_copy(krein_ctx *ctx, const krein_values *from, krein_values *to) {
    krein_status st = KREIN_OK;
    *to = *from;
    memset(to->text, 0, sizeof to->text);
    for (int64_t i = 0; i < KREIN_OPTIONS_MAX; i++)
        if (from->text[i]) DUP(to->text[i], from->text[i]);
done:
    if (st != KREIN_OK) krein__values_clear(ctx, to);
    return st;
}

char *krein__spec_text(krein_ctx *ctx, const krein_class *cls, const krein_values *v) {
    char buf[KREIN__MESSAGE], number[40], word[NAME];
    size_t used = (size_t)snprintf(buf, sizeof buf, "%s", cls->name);
    int64_t shown = 0;
    for (int64_t i = 0; i < option_count(cls) && used < sizeof buf; i++) {
        const krein_option *o = &cls->options[i];
        const char *value;
        if (o->type == KREIN_OPTION_TEXT) {
            if (!v->text[i] || (o->text && strcmp(v->text[i], o->text) == 0)) continue;
            value = v->text[i];
        } else if (isnan(v->number[i])) {
            continue;
        } else if (o->type == KREIN_OPTION_NUMBER || o->type == KREIN_OPTION_INTEGER) {
            value = krein__number_text(v->number[i], number);
        } else {
            krein__word(o->type == KREIN_OPTION_YESNO ? "no|yes" : o->words, (int64_t)v->number[i],
                        word, sizeof word);
            value = word;
        }
        const char *quote = o->type == KREIN_OPTION_TEXT ? "\"" : "";
        used += (size_t)snprintf(buf + used, sizeof buf - used, "%s%s=%s%s%s", shown++ ? ", " : "(",
                                 o->name, quote, value, quote);
    }
    if (shown && used < sizeof buf) used += (size_t)snprintf(buf + used, sizeof buf - used, ")");
    if (used >= sizeof buf) {
        krein__fail(ctx, KREIN_ESPEC, "%s: the spec is too long to print", cls->name);
        return NULL;
    }
    return krein__strdup(ctx, buf);
}
