/* flags.c -- options of the library as flags of this program.
 *
 * The library names options in its texts as `max_memory` or `map=nystrom`: a C program sets a
 * field, Python a keyword. Here they become --max-memory and --map nystrom. What stands between two
 * backquotes and is no option of any command is left as it is. */
#include "cli/cli.h"

#include <string.h>

enum { TEXTS = 8, LENGTH = 8192, NAME = 64 };

/* Options whose field in the library has another name than the flag. */
static const struct {
    const char *option, *flag;
} renamed[] = {{"unknown_ignore", "--unknown ignore"},
               {"header=yes", "--header"},
               {"header=no", "--no-header"},
               {"labels_file", "--labels"},
               {"repeats", "--repeat"},
               {"kernel", "-k"},
               {"n", "-n"}};

static bool is_option(const char *name) {
    for (const cli_command *c = cli_commands; c->name; c++)
        if (cli_find_option(c, name, strlen(name), 0)) return true;
    return false;
}

/* The flag of an option of `length` bytes, to out; false: there is none. */
static bool flag_of(const char *option, size_t length, char *out, size_t size) {
    char text[NAME], *equals;
    if (length >= sizeof text) return false;
    snprintf(text, sizeof text, "%.*s", (int)length, option);
    for (size_t k = 0; k < sizeof renamed / sizeof *renamed; k++)
        if (strcmp(renamed[k].option, text) == 0) {
            snprintf(out, size, "%s", renamed[k].flag);
            return true;
        }
    if ((equals = strchr(text, '='))) *equals = 0;
    for (char *p = text; *p; p++)
        if (*p == '_') *p = '-';
    if (!is_option(text)) return false;
    snprintf(out, size, "--%s%s%s", text, equals ? " " : "", equals ? equals + 1 : "");
    return true;
}

const char *cli_flags(const char *text) {
    static char buffer[TEXTS][LENGTH];
    static int turn;
    if (!text || !strchr(text, '`')) return text;
    char *out = buffer[turn = (turn + 1) % TEXTS];
    size_t used = 0;
    while (*text && used + NAME + 16 < LENGTH) {
        const char *end = *text == '`' ? strchr(text + 1, '`') : NULL;
        if (end && flag_of(text + 1, (size_t)(end - text) - 1, out + used, LENGTH - used)) {
            used += strlen(out + used);
            text = end + 1;
        } else {
            out[used++] = *text++;
        }
    }
    out[used] = 0;
    return out;
}

int cli_list(int64_t i, krein_entry *out) {
    if (!krein_list(i, out)) return 0;
    out->summary = cli_flags(out->summary);
    out->details = cli_flags(out->details);
    return 1;
}

int cli_list_option(int64_t i, int64_t k, krein_option_info *out) {
    if (!krein_list_option(i, k, out)) return 0;
    out->help = cli_flags(out->help);
    return 1;
}
