/* spec.h -- the small language name(key=value, ...) and the option tables behind it.
 *
 *   spec   := name [ "(" [ key "=" value { "," key "=" value } ] ")" ]
 *   value  := number | word | yes | no | "quoted text" | range
 *   number := decimal with optional sign and exponent, or base^exponent (2^-15)
 *   range  := number ".." number ":" count     count values spaced geometrically
 *
 * Every kernel, map, learner, criterion and generator owns a constant table of
 * krein_option. It is the only source for the parser's checks and defaults, for
 * `krein list` and `krein help`, for the man page and for the model file.
 */
#ifndef KREIN_SPEC_H
#define KREIN_SPEC_H

#include "base/base.h"

typedef enum krein_option_type {
    KREIN_OPTION_NUMBER = 0,
    KREIN_OPTION_INTEGER = 1,
    KREIN_OPTION_YESNO = 2,
    KREIN_OPTION_WORD = 3, /* one of `words`, stored as its index */
    KREIN_OPTION_TEXT = 4
} krein_option_type;

enum { KREIN_OPTIONS_MAX = 24 };

/* A table ends with an entry whose name is NULL. */
typedef struct krein_option {
    const char *name;
    krein_option_type type;
    double value;     /* default; NaN: none (free for kernels, chosen for maps) */
    double low, high; /* allowed range */
    bool low_open, high_open;
    const char *words; /* "a|b|c" */
    const char *help;
    const char *text; /* default of TEXT options */
    bool derived;     /* NaN stands for a value that follows from the data's shape: not free */
    bool added;       /* model files may be older than the option: they have the value `old` */
    double old;
} krein_option;

/* Values in the order of the table. A value that was not given holds the default
 * and given[i] is false; NaN means it has none. Ranges only where the caller
 * allows them (families of kernels): then count[i] > 1, last[i] is the end and
 * place[i] where it stands in the text. */
typedef struct krein_values {
    double number[KREIN_OPTIONS_MAX];
    bool given[KREIN_OPTIONS_MAX];
    int64_t count[KREIN_OPTIONS_MAX];
    double last[KREIN_OPTIONS_MAX];
    int64_t place[KREIN_OPTIONS_MAX];
    char *text[KREIN_OPTIONS_MAX]; /* owned */
} krein_values;

/* What every class description starts with, so that generic code can walk it. */
typedef struct krein_class {
    const char *name;
    const char *summary;
    const char *cite;
    const krein_option *options; /* NULL: none */
    const char *details;         /* a paragraph for `krein help NAME`, or NULL */
} krein_class;

/* A cursor into a spec for messages that point at the place. */
typedef struct krein_cursor {
    const char *text, *at;
    const char *what; /* "kernel", "map": for messages */
} krein_cursor;

void krein__skip_space(krein_cursor *c);
/* Reads a number (2^-15 too); false when there is none at the cursor. */
bool krein__read_number(krein_cursor *c, double *out);
/* Reads a name [a-z_][a-z0-9_]*; false when there is none. */
bool krein__read_name(krein_cursor *c, char *out, size_t size);
/* KREIN_ESPEC with the text and a caret-like "at column N". */
krein_status krein__spec_error(krein_ctx *ctx, const krein_cursor *c, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Looks a name up in an array of class pointers; the error names the nearest one
 * and lists what exists. */
krein_status krein__find_class(krein_ctx *ctx, const krein_cursor *c, const char *name,
                               const krein_class *const *classes, int64_t n, int64_t *out);
/* The class of that name, NULL where there is none. */
const krein_class *krein__class_named(const char *name, const krein_class *const *classes,
                                      int64_t n);
/* Parses "(key=value, ...)" at the cursor, if there is one, against the table. */
krein_status krein__parse_options(krein_ctx *ctx, krein_cursor *c, const krein_class *cls,
                                  bool ranges, krein_values *out);
/* A whole spec: name, options, nothing after it. */
krein_status krein__parse_spec(krein_ctx *ctx, const char *text, const char *what,
                               const krein_class *const *classes, int64_t n, int64_t *which,
                               krein_values *out);
/* The same without a table: reads the name, then pair after pair. A pair is a key and its value as
 * it stands there, text of the spec; *key is empty at the end. */
typedef struct krein_pair {
    char key[64];
    const char *value;
    size_t length;
} krein_pair;
krein_status krein__spec_name(krein_ctx *ctx, krein_cursor *c, char *name, size_t size);
krein_status krein__spec_pair(krein_ctx *ctx, krein_cursor *c, krein_pair *out);
/* Of values from a model file: options that it does not have get their old values. */
void krein__values_old(const krein_class *cls, krein_values *values);
void krein__values_clear(krein_ctx *ctx, krein_values *values);
krein_status krein__values_copy(krein_ctx *ctx, const krein_values *from, krein_values *to);

int64_t krein__option_index(const krein_class *cls, const char *name);
/* "name(key=value, ...)" with every value that is not NaN, so that parsing it back
 * gives the same values. Owned by the caller. */
char *krein__spec_text(krein_ctx *ctx, const krein_class *cls, const krein_values *values);
/* The nearest of the names by edit distance, or NULL when none is near. */
const char *krein__nearest(const char *name, const char *const *names, int64_t n);
/* The k-th word of "a|b|c" copied to out; false past the end. */
bool krein__word(const char *words, int64_t k, char *out, size_t size);

#endif
