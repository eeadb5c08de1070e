/* test_figure.c -- plots as SVG: what is drawn where, and names that are markup. */
#include "common.h"

#include "draw/svg.h"

#include <math.h>

static krein_buffer drawn(krein_ctx *ctx, const char *title, int n, const krein_svg_plot *plots) {
    krein_buffer text = {.ctx = ctx};
    krein__svg_figure(&text, title, n, plots);
    CHECK(text.status == KREIN_OK && text.text);
    if (!text.text) exit(1);
    return text;
}

static int count(const char *text, const char *part) {
    int n = 0;
    for (; (text = strstr(text, part)); text += strlen(part)) n++;
    return n;
}

/* Every x=".." y=".." of a mark is inside of some frame. */
static void marks_are_inside(const char *text) {
    double frame[8][4];
    int frames = 0;
    for (const char *at = text; frames < 8 && (at = strstr(at, "<rect class=\"frame\"")); at++)
        if (sscanf(at, "<rect class=\"frame\" x=\"%lf\" y=\"%lf\" width=\"%lf\" height=\"%lf\"",
                   &frame[frames][0], &frame[frames][1], &frame[frames][2], &frame[frames][3]) == 4)
            frames++;
    CHECK(frames > 0);
    const char *end = strstr(text, "<g class=\"legend\">");
    int marks = 0;
    for (const char *at = text; (at = strstr(at, "<use href=")) && (!end || at < end); at++) {
        double x, y;
        bool inside = false;
        char name[16];
        CHECK(sscanf(at, "<use href=\"#%15[a-z0-9]\" x=\"%lf\" y=\"%lf\"", name, &x, &y) == 3);
        for (int f = 0; f < frames; f++)
            inside = inside || (x >= frame[f][0] && x <= frame[f][0] + frame[f][2] &&
                                y >= frame[f][1] && y <= frame[f][1] + frame[f][3]);
        CHECK(inside);
        marks++;
    }
    CHECK(marks > 0);
}

static void plots(void) {
    krein_ctx *ctx = test_ctx(1);
    const krein_svg_point a[] = {{1, 5, 0}, {10, 4, 1}, {NAN, NAN, 0}, {100, -3, 0}, {1000, 2, 0}};
    const krein_svg_point b[] = {{2, 7, 0}, {0, 7, 0}, {-1, 7, 0}};
    const krein_svg_series series[] = {{"one", 5, a}, {"<two> & \"more\"", 3, b}};
    krein_svg_plot p[5];
    for (int k = 0; k < 5; k++)
        p[k] = (krein_svg_plot){.x_title = "x", .y_title = "y < z", .n = 2, .series = series};
    p[1].semilog = p[2].linear = p[3].linear = p[3].marks = p[3].loose = p[4].semilog = true;
    for (int n = 1; n <= 5; n++) {
        krein_buffer text = drawn(ctx, "a & b", n, p);
        CHECK(count(text.text, "<rect class=\"frame\"") == n);
        CHECK(count(text.text, "&lt;two&gt; &amp;") > 0 && !strstr(text.text, "<two>"));
        CHECK(count(text.text, "<title>a &amp; b</title>") == 1);
        marks_are_inside(text.text);
        krein__buffer_end(&text);
    }
    /* A log axis has no place for x <= 0, nor for y <= 0; a linear one has. */
    krein_buffer log = drawn(ctx, "t", 1, &p[0]), semi = drawn(ctx, "t", 1, &p[1]);
    krein_buffer linear = drawn(ctx, "t", 1, &p[2]), marks = drawn(ctx, "t", 1, &p[3]);
    const int legend = 2;
    CHECK(count(log.text, "<use ") == 3 + 1 + legend);
    CHECK(count(semi.text, "<use ") == 4 + 1 + legend);
    CHECK(count(linear.text, "<use ") == 4 + 3 + legend);
    CHECK(count(marks.text, "<path class=\"line") == 0);
    /* The line is broken where a point is not finite. */
    const char *line = strstr(semi.text, "<path class=\"line s0");
    const char *end = line ? strchr(line, '>') : NULL;
    int moves = 0;
    for (const char *at = line; at && at < end; at++) moves += *at == 'M';
    CHECK(moves == 2);
    krein__buffer_end(&log);
    krein__buffer_end(&semi);
    krein__buffer_end(&linear);
    krein__buffer_end(&marks);
    krein_ctx_destroy(ctx);
}

/* Names are bytes of the user: markup, control characters, what is no UTF-8. */
static void names(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_buffer text = {.ctx = ctx};
    krein__svg_text(&text, "a<b>&\"c\" \xc3\xa4 \xe4 \x01\x1b[1m\xef\xbf\xbf\xed\xa0\x80 \xc3");
    CHECK(text.text && strcmp(text.text, "a&lt;b&gt;&amp;&quot;c&quot; \xc3\xa4 &#228; [1m"
                                         "&#237;&#160;&#128; &#195;") == 0);
    krein__buffer_end(&text);
    krein_ctx_destroy(ctx);
}

/* One value, all values equal, and none at all. */
static void few_points(void) {
    krein_ctx *ctx = test_ctx(1);
    const krein_svg_point same[] = {{3, 0, 0}, {3, 0, 0}}, none[] = {{NAN, 1, 0}};
    for (int kind = 0; kind < 4; kind++)
        for (int k = 0; k < 3; k++) {
            const krein_svg_series s = {"s", k == 2 ? 1 : k + 1, k == 2 ? none : same};
            const krein_svg_plot p = {.x_title = "x",
                                      .y_title = "y",
                                      .n = 1,
                                      .series = &s,
                                      .linear = kind == 1 || kind == 2,
                                      .loose = kind == 2,
                                      .semilog = kind == 3};
            krein_buffer text = drawn(ctx, "t", 1, &p);
            CHECK(!strstr(text.text, "nan") && !strstr(text.text, "inf"));
            krein__buffer_end(&text);
        }
    krein_ctx_destroy(ctx);
}

static void no_memory(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    const krein_svg_point a[] = {{1, 5, 0}, {10, 4, 1}};
    const krein_svg_series s = {"s", 2, a};
    const krein_svg_plot p = {.x_title = "x", .y_title = "y", .n = 1, .series = &s};
    TEST_EVERY_ALLOCATION(&memory, k) {
        krein_buffer text = {.ctx = ctx};
        krein__svg_figure(&text, "t", 1, &p);
        CHECK(text.status == KREIN_OK || text.status == KREIN_EMEMORY);
        krein__buffer_end(&text);
    }
    krein_ctx_destroy(ctx);
}

int main(void) {
    RUN(plots);
    RUN(names);
    RUN(few_points);
    RUN(no_memory);
    return DONE();
}
