/* options.c -- the option parser: --name=value, --name value, -nvalue, -n value, -qv, `--`.
 *
 * Options and operands may be mixed; "-" is an operand. A repeated option: the last one
 * counts, but for those that collect. Numbers are read strictly: the whole word, in range, or the
 * call is wrong.
 */
#include "cli/cli.h"

#include "base/spec.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NAMES = 128 };

void cli_defaults(cli_args *args) {
    memset(args, 0, sizeof *args);
    args->seed = 1;
    args->header = args->task = args->missing = args->unknown = args->scale = args->categories =
        args->types = -1;
    args->max_exact = -1;
    args->lambda = -1;
    args->noise = -1;
    args->method = args->graph = args->measure = args->table = args->subspace_start = -1;
}

/* ---- finding ------------------------------------------------------------ */

const cli_option *cli_find_option(const cli_command *command, const char *name, size_t length,
                                  char letter) {
    for (const cli_group *g = command->groups; g->title; g++)
        for (const cli_option *o = g->options; o->name; o++) {
            if (letter ? o->letter == letter
                       : strlen(o->name) == length && memcmp(o->name, name, length) == 0)
                return o;
        }
    return NULL;
}

static bool unknown_option(const cli_command *command, const char *name, size_t length) {
    const char *names[NAMES];
    char typed[64];
    int64_t n = 0;
    snprintf(typed, sizeof typed, "%.*s", (int)(length < 60 ? length : 60), name);
    for (const cli_group *g = command->groups; g->title; g++)
        for (const cli_option *o = g->options; o->name && n < NAMES; o++) names[n++] = o->name;
    const char *near = krein__nearest(typed, names, n);
    if (near)
        cli_error(CLI_USAGE, "%s: unknown option --%s; did you mean --%s?", command->name, typed,
                  near);
    else
        cli_error(CLI_USAGE, "%s: unknown option --%s; see 'krein help %s'", command->name, typed,
                  command->name);
    return false;
}

/* ---- values ------------------------------------------------------------- */

/* Decimal digits, point, sign and exponent only: no hexadecimal, no inf, no spaces. */
static bool read_number(const char *text, double *out) {
    char *end;
    if (!*text || text[strspn(text, "0123456789.+-eE")]) return false;
    *out = strtod(text, &end);
    return end != text && !*end && isfinite(*out);
}

static bool read_unsigned(const char *text, uint64_t *out) {
    if (!*text || text[strspn(text, "0123456789")]) return false;
    errno = 0;
    *out = strtoull(text, NULL, 10);
    return errno == 0;
}

static bool read_integer(const char *text, int64_t *out) {
    const bool minus = *text == '-';
    uint64_t value;
    if (!read_unsigned(text + minus, &value) || value > INT64_MAX) return false;
    *out = minus ? -(int64_t)value : (int64_t)value;
    return true;
}

/* 512M, 1.5G, 1000000 */
static bool read_size(const char *text, uint64_t *out) {
    static const char units[] = "KMGT";
    char digits[40];
    const size_t n = strspn(text, "0123456789.");
    double value, factor = 1;
    if (n == 0 || n >= sizeof digits) return false;
    memcpy(digits, text, n);
    digits[n] = 0;
    if (text[n]) {
        const char *unit = strchr(units, toupper((unsigned char)text[n]));
        if (!unit || text[n + 1]) return false;
        for (const char *u = units; u <= unit; u++) factor *= 1024;
    }
    if (!read_number(digits, &value)) return false;
    value *= factor;
    if (!(value >= 1 && value < 9.2e18)) return false;
    *out = (uint64_t)value;
    return true;
}

static bool read_char(const char *text, int *out) {
    if (strcmp(text, "tab") == 0 || strcmp(text, "\\t") == 0) return *out = '\t', true;
    if (strcmp(text, "space") == 0) return *out = ' ', true;
    *out = (unsigned char)text[0];
    return text[0] && !text[1];
}

/* "8,16,32" */
static bool read_counts(const cli_option *o, const char *text, cli_counts *out) {
    char number[24];
    out->n = 0;
    for (;;) {
        const size_t n = strcspn(text, ",");
        if (n >= sizeof number || out->n == CLI_LIST) return false;
        memcpy(number, text, n);
        number[n] = 0;
        int64_t *count = &out->count[out->n++];
        if (!read_integer(number, count) || (double)*count < o->low || (double)*count > o->high)
            return false;
        if (!text[n]) return true;
        text += n + 1;
    }
}

static bool add_text(const char *text, cli_texts *out) {
    if (!*text || out->n == CLI_LIST) return false;
    out->text[out->n++] = text;
    return true;
}

static bool read_word(const char *words, const char *text, int *out) {
    char word[32];
    for (int k = 0; krein__word(words, k, word, sizeof word); k++)
        if (strcmp(word, text) == 0) return *out = k, true;
    return false;
}

/* The row with its bounds filled in. */
static cli_option bounded(const cli_option *o) {
    cli_option out = *o;
    if (o->limit) krein_limit(o->limit, &out.low, &out.high);
    return out;
}

static void say_range(const cli_option *o, char *text, size_t size) {
    const bool open = o->type == CLI_ABOVE;
    if (o->high > 1e14)
        snprintf(text, size, open ? " greater than %g" : " of at least %g", o->low);
    else if (open)
        snprintf(text, size, " between %g and %g", o->low, o->high);
    else
        snprintf(text, size, " from %g to %g", o->low, o->high);
}

static bool read_named(const cli_named *named, const char *text, double *out) {
    while (named->word && strcmp(named->word, text) != 0) named++;
    *out = named->value;
    return named->word != NULL;
}

static void say_named(const cli_option *o, char *text, size_t size) {
    say_range(o, text, size);
    for (const cli_named *n = o->named; n->word; n++) {
        size_t used = strlen(text);
        snprintf(text + used, size - used, ", or %s", n->word);
    }
}

/* Stores the value at its place; the message is printed where it is wrong. */
static bool store(const cli_command *command, const cli_option *row, const char *text,
                  cli_args *args) {
    const cli_option filled = bounded(row), *o = &filled;
    void *where = (char *)args + o->where;
    const char *want = NULL;
    char range[80] = "";
    int64_t integer = 0;
    double number = 0;
    int word;
    switch (o->type) {
    case CLI_FLAG:
        *(bool *)where = true;
        break;
    case CLI_SET:
        *(int *)where = o->value;
        break;
    case CLI_TEXT:
        if (!*text) want = "a value that is not empty";
        if (o->words && !read_word(o->words, text, &word)) want = o->words;
        *(const char **)where = text;
        break;
    case CLI_WORD:
        if (!read_word(o->words, text, where)) want = o->words;
        break;
    case CLI_MAYBE:
        word = -1;
        if (*text && !read_word(o->words, text, &word)) want = o->words;
        *(int *)where = word + 2;
        break;
    case CLI_INTEGER:
        if (!read_integer(text, &integer) || (double)integer < o->low || (double)integer > o->high)
            want = "a whole number", say_range(o, range, sizeof range);
        *(int64_t *)where = integer;
        break;
    case CLI_NUMBER:
        if (!read_number(text, &number) || number < o->low || number > o->high)
            want = "a number", say_range(o, range, sizeof range);
        *(double *)where = number;
        break;
    case CLI_ABOVE:
        if (!read_number(text, &number) || number <= o->low || number >= o->high)
            want = "a number", say_range(o, range, sizeof range);
        *(double *)where = number;
        break;
    case CLI_SEED:
        if (!read_unsigned(text, where)) want = "a whole number of at most 64 bits";
        break;
    case CLI_SIZE:
        if (!read_size(text, where)) want = "a size such as 512M or 1.5G";
        break;
    case CLI_NAMED:
        if (!read_named(o->named, text, &number) &&
            (!read_number(text, &number) || number < o->low || number > o->high))
            want = "a number", say_named(o, range, sizeof range);
        *(double *)where = number;
        break;
    case CLI_CHAR:
        if (!read_char(text, where)) want = "one character, tab or space";
        break;
    case CLI_TEXTS:
        if (!add_text(text, where)) want = "a value that is not empty, at most 64 times";
        break;
    case CLI_COUNTS:
        if (!read_counts(o, text, where))
            want = "at most 64 whole numbers with commas between,",
            say_range(o, range, sizeof range);
        break;
    }
    if (!want) return true;
    cli_error(CLI_USAGE, "%s: --%s needs %s%s, got '%s'", command->name, o->name, want, range,
              text);
    return false;
}

/* ---- words of the command line ------------------------------------------ */

static bool missing_argument(const cli_command *command, const cli_option *o) {
    cli_error(CLI_USAGE, "%s: --%s needs %s after it", command->name, o->name, o->argument);
    return false;
}

static bool parse_long(const cli_command *command, char **argv, int argc, int *i, cli_args *args) {
    const char *name = argv[*i] + 2, *equals = strchr(name, '=');
    const size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const cli_option *o = cli_find_option(command, name, length, 0);
    if (!o) return unknown_option(command, name, length);
    if (!o->argument) {
        if (!equals) return store(command, o, "", args);
        if (o->type == CLI_MAYBE) return store(command, o, equals + 1, args);
        cli_error(CLI_USAGE, "%s: --%s takes no value", command->name, o->name);
        return false;
    }
    if (equals) return store(command, o, equals + 1, args);
    if (*i + 1 >= argc) return missing_argument(command, o);
    return store(command, o, argv[++*i], args);
}

static bool parse_short(const cli_command *command, char **argv, int argc, int *i, cli_args *args) {
    for (const char *p = argv[*i] + 1; *p; p++) {
        const cli_option *o = cli_find_option(command, "", 0, *p);
        if (!o) {
            cli_error(CLI_USAGE, "%s: unknown option -%c; see 'krein help %s'", command->name, *p,
                      command->name);
            return false;
        }
        if (!o->argument) {
            if (!store(command, o, "", args)) return false;
            continue;
        }
        if (p[1]) return store(command, o, p + 1 + (p[1] == '='), args);
        if (*i + 1 >= argc) return missing_argument(command, o);
        return store(command, o, argv[++*i], args);
    }
    return true;
}

bool cli_parse(const cli_command *command, int argc, char **argv, cli_args *args) {
    bool options = true, too_many = false;
    const char *first_extra = NULL;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (options && strcmp(word, "--") == 0) {
            options = false;
        } else if (options && word[0] == '-' && word[1] == '-') {
            if (!parse_long(command, argv, argc, &i, args)) return false;
        } else if (options && word[0] == '-' && word[1]) {
            if (!parse_short(command, argv, argc, &i, args)) return false;
        } else if (args->operands < command->most) {
            args->operand[args->operands++] = word;
        } else if (!too_many) {
            too_many = true;
            first_extra = word;
        }
        if (args->help) return true;
    }
    if (too_many) {
        cli_error(CLI_USAGE, "%s: '%s' is too much; usage: krein %s [options] %s", command->name,
                  first_extra, command->name, command->operands);
        return false;
    }
    if (args->operands < command->least) {
        cli_error(CLI_USAGE, "%s: %s missing; usage: krein %s [options] %s", command->name,
                  command->least - args->operands == 1 ? "an argument is" : "arguments are",
                  command->name, command->operands);
        return false;
    }
    return true;
}
