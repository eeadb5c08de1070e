/* weight_chart.c -- the kernels of a combination: a bar chart, and JSON.
 *
 *   kernel          sum of 3 kernels, 1 of them of weight 0
 *     gaussian(sigma=0.5)  0.2517  ############
 *     gaussian(sigma=2)    0.7483  ##############################
 *     linear                    0
 *
 * Bars are in proportion to the weights, the largest is full. */
#include "cli/cli.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    BARS_MAX = 40, /* lines */
    BAR = 30,
    BAR_NARROW = 12,
    INDENT = 2,
    NUMBER = 6,   /* 0.1234 */
    SPACES = 2,   /* between columns */
    NAME_MIN = 12 /* of the kernel's text, however narrow the window */
};

json_t *cli_json_weights(int64_t n, const krein_kernel_weight *w) {
    if (n == 0 || !w) return json_null();
    json_t *out = json_array();
    for (int64_t m = 0; m < n; m++)
        json_array_append_new(out, json_pack("{s:o, s:o}", "kernel", cli_json_text(w[m].kernel),
                                             "weight", cli_json_number(w[m].weight)));
    return out;
}

static int columns(FILE *f) {
    struct winsize window;
    const int fd = fileno(f);
    if (!isatty(fd) || ioctl(fd, TIOCGWINSZ, &window) != 0 || window.ws_col == 0) return 80;
    return window.ws_col;
}

/* The program keeps the C locale; what the user's terminal shows is in the environment. */
static bool utf8(void) {
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (int k = 0; k < 3; k++) {
        const char *value = getenv(names[k]);
        if (value && *value) return strstr(value, "UTF-8") || strstr(value, "utf8");
    }
    return false;
}

/* Of `room` characters, the part between 0 and 1; where there are block characters, by eighths. */
static void put_bar(FILE *f, double part, int room, bool blocks) {
    const int unit = blocks ? 8 : 1, length = (int)rint(part * room * unit);
    for (int k = 0; k < length / unit; k++) fputs(blocks ? "\xe2\x96\x88" : "#", f);
    if (length % unit) fprintf(f, "\xe2\x96%c", 0x90 - length % unit);
}

static void put_name(FILE *f, const char *text, int room) {
    int length = (int)strlen(text);
    if (length <= room) {
        fprintf(f, "%-*s", room, text);
        return;
    }
    length = room - 3;
    while (length > 0 && (text[length] & 0xC0) == 0x80) length--; /* no half of a character */
    fprintf(f, "%.*s...%*s", length, text, room - 3 - length, "");
}

/* How many are heavier; of equal ones those before it count. */
static int64_t rank(int64_t n, const krein_kernel_weight *w, int64_t m) {
    int64_t before = 0;
    for (int64_t j = 0; j < n; j++)
        before += w[j].weight > w[m].weight || (j < m && w[j].weight == w[m].weight);
    return before;
}

static void print_bars(FILE *f, int64_t n, const krein_kernel_weight *w) {
    const bool blocks = utf8();
    const int width = columns(f), bar = width < 80 ? BAR_NARROW : BAR;
    int room = width - INDENT - 2 * SPACES - NUMBER - bar, longest = 0;
    double largest = 0, rest = 0;
    for (int64_t m = 0; m < n; m++) {
        const int length = (int)strlen(cli_safe(w[m].kernel));
        if (rank(n, w, m) < BARS_MAX && length > longest) longest = length;
        largest = fmax(largest, w[m].weight);
    }
    room = room < NAME_MIN ? NAME_MIN : room;
    room = room < longest ? room : longest;
    for (int64_t m = 0; m < n; m++) {
        if (rank(n, w, m) >= BARS_MAX) {
            rest += w[m].weight;
            continue;
        }
        fprintf(f, "%*s", INDENT, "");
        put_name(f, cli_safe(w[m].kernel), room);
        if (w[m].weight > 0) {
            fprintf(f, "%*s%*.4f%*s", SPACES, "", NUMBER, w[m].weight, SPACES, "");
            put_bar(f, w[m].weight / largest, bar, blocks);
            fputc('\n', f);
        } else {
            fprintf(f, "%*s%*s\n", SPACES, "", NUMBER, "0");
        }
    }
    if (n > BARS_MAX)
        fprintf(f, "%*sand %" PRId64 " more, together %.4f\n", INDENT, "", n - BARS_MAX, rest);
}

void cli_print_kernel(FILE *f, const char *kernel, int64_t n, const krein_kernel_weight *w) {
    int64_t zeros = 0;
    if (n == 0) {
        if (kernel) cli_line(f, "kernel", "%s", kernel);
        return;
    }
    for (int64_t m = 0; w && m < n; m++) zeros += w[m].weight == 0;
    char some[64] = "";
    if (zeros) snprintf(some, sizeof some, ", %" PRId64 " of them of weight 0", zeros);
    cli_line(f, "kernel", "sum of %" PRId64 " kernel%s%s", n, n == 1 ? "" : "s", some);
    if (w) print_bars(f, n, w);
}
