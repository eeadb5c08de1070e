/* source.c -- text, numbers and arrays of a C file. */
#include "export/source.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void krein__source_end(krein_source *s) { krein__buffer_end(&s->out); }

void krein__source_add(krein_source *s, const char *format, ...) {
    va_list list;
    va_start(list, format);
    krein__buffer_add_list(&s->out, format, list);
    va_end(list);
}

/* Eight or so a line. */
static void begin(krein_source *s, const char *type, const char *name, int64_t n, size_t each) {
    s->bytes += (double)n * (double)each;
    krein__source_add(s, "static const %s %s[%lld] = {", type, name, (long long)n);
}

static void separate(krein_source *s, int64_t i, int64_t line) {
    krein__source_add(s, i == 0 ? "\n    " : i % line == 0 ? ",\n    " : ", ");
}

static void end(krein_source *s) { krein__source_add(s, "};\n"); }

/* A float literal needs a point or an exponent. */
static void add_float(krein_source *s, double v) {
    char text[40];
    s->beyond = s->beyond || !isfinite(v);
    snprintf(text, sizeof text, "%.9g", v);
    krein__source_add(s, "%s%sf", text, strpbrk(text, ".e") ? "" : ".0");
}

void krein__source_floats(krein_source *s, const char *name, int64_t n, const float *v) {
    begin(s, "float", name, n, 4);
    for (int64_t i = 0; i < n; i++) {
        separate(s, i, 8);
        add_float(s, (double)v[i]);
    }
    end(s);
}

void krein__source_doubles(krein_source *s, const char *name, int64_t n, const double *v) {
    begin(s, "double", name, n, 8);
    for (int64_t i = 0; i < n; i++) {
        separate(s, i, 4);
        krein__source_add(s, "%.17g", v[i]);
    }
    end(s);
}

void krein__source_reals(krein_source *s, const char *name, int64_t n, const double *v) {
    if (s->wide) {
        krein__source_doubles(s, name, n, v);
        return;
    }
    begin(s, "float", name, n, 4);
    for (int64_t i = 0; i < n; i++) {
        separate(s, i, 8);
        add_float(s, (double)(float)v[i]); /* C has no floats below the least */
    }
    end(s);
}

void krein__source_words(krein_source *s, const char *type, size_t bytes, const char *name,
                         int64_t n, const int64_t *v) {
    begin(s, type, name, n, bytes);
    for (int64_t i = 0; i < n; i++) {
        separate(s, i, 16);
        krein__source_add(s, v[i] > INT32_MAX ? "%lldu" : "%lld", (long long)v[i]);
    }
    end(s);
}

void krein__source_ints(krein_source *s, const char *name, int64_t n, const int64_t *v) {
    krein__source_words(s, "int", 4, name, n, v);
}

void krein__source_uint32(krein_source *s, const char *name, int64_t n, const uint32_t *v) {
    begin(s, "uint32_t", name, n, 4);
    for (int64_t i = 0; i < n; i++) {
        separate(s, i, 8);
        krein__source_add(s, "0x%lx", (unsigned long)v[i]);
    }
    end(s);
}

void krein__source_bytes(krein_source *s, const char *name, int64_t n, const uint8_t *v) {
    begin(s, "unsigned char", name, n, 1);
    for (int64_t i = 0; i < n; i++) {
        separate(s, i, 24);
        krein__source_add(s, "%d", v[i]);
    }
    end(s);
}

/* Other bytes than plain ASCII as octal numbers of three digits, so that none grows longer by what
 * follows; "??" could begin a trigraph. */
void krein__source_text(krein_source *s, const char *text) {
    krein__source_add(s, "\"");
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        if (*c < 32 || *c > 126 || *c == '"' || *c == '\\' || *c == '?')
            krein__source_add(s, "\\%03o", *c);
        else
            krein__source_add(s, "%c", *c);
    krein__source_add(s, "\"");
}
