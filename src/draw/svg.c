/* svg.c -- see svg.h. */
#include "draw/svg.h"

#include "base/text.h"

#include <math.h>
#include <string.h>
#include <stdio.h>

/* Okabe and Ito's palette, black apart (it is the ink), in an order of contrast. */
static const char *const colours[KREIN_SVG_COLOURS] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                       "#e69f00", "#56b4e9", "#8c6bb1", "#7f7f7f"};
static const char *const dashes[] = {"none", "7 3", "2 3", "9 3 2 3"};

/* The i-th series: colours come round first, then dash and marker differ. */
int krein__svg_dash(int look) { return (look / 2 + look / KREIN_SVG_COLOURS) % 4; }

double krein__svg_scaled(const krein_svg_axis *a, double value) {
    return a->linear ? value : log10(value);
}

double krein__svg_at(const krein_svg_axis *a, double value) {
    return a->from + a->length * (krein__svg_scaled(a, value) - a->low) / (a->high - a->low);
}

/* XML text: names and kernels are the user's. */
void krein__svg_text(krein_buffer *f, const char *text) {
    for (int n; *text; text += n > 0 ? n : 1) {
        n = krein__utf8(text);
        if (n == 0) /* taken as Latin-1 */
            krein__buffer_add(f, "&#%d;", (unsigned char)*text);
        else if (*text == '<')
            krein__buffer_put(f, "&lt;");
        else if (*text == '>')
            krein__buffer_put(f, "&gt;");
        else if (*text == '&')
            krein__buffer_put(f, "&amp;");
        else if (*text == '"')
            krein__buffer_put(f, "&quot;");
        else if ((unsigned char)*text >= ' ' &&
                 !(n == 3 && memcmp(text, "\xef\xbf", 2) == 0 && (unsigned char)text[2] >= 0xbe))
            krein__buffer_put_bytes(f, text, (size_t)n); /* XML has no U+FFFE and U+FFFF */
    }
}

/* Long numbers with an exponent, and on an axis that has such all above 9,999. */
static void put_label(krein_buffer *f, double x, double y, const char *class,
                      const krein_svg_axis *a, double value) {
    char text[32];
    double end = a->linear ? a->high : pow(10, a->high), most = end < 1e6 ? 1e6 : 0.99e4;
    if (value == 0 || (fabs(value) > 0.9e-3 && fabs(value) < most))
        snprintf(text, sizeof text, "%g", value);
    else
        snprintf(text, sizeof text, "%.3ge%d", value / pow(10, floor(log10(fabs(value) * 1.01))),
                 (int)floor(log10(fabs(value) * 1.01)));
    krein__buffer_add(f, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", class, x, y, text);
}

static void put_tick(krein_buffer *f, const krein_svg_axis *a, const krein_svg_axis *other,
                     bool across, double value) {
    double here = krein__svg_at(a, value), end = other->from + other->length;
    if (krein__svg_scaled(a, value) < a->low || krein__svg_scaled(a, value) > a->high) return;
    if (across) {
        krein__buffer_add(f, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>\n", here, other->from,
                          end);
        put_label(f, here, fmax(other->from, end) + 16, "tick", a, value);
    } else {
        krein__buffer_add(f, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>\n", other->from, here,
                          end);
        put_label(f, other->from - 6, here + 4, "tick side", a, value);
    }
}

/* Linear, or within less than a factor of eight: at four to ten multiples of 1, 2 or 5 times a
 * power of ten. */
static void put_even_ticks(krein_buffer *f, const krein_svg_axis *a, const krein_svg_axis *other,
                           bool across) {
    double low = a->linear ? a->low : pow(10, a->low),
           high = a->linear ? a->high : pow(10, a->high);
    double rough = (high - low) / (a->ticks > 0 ? a->ticks : 8);
    double power = pow(10, floor(log10(rough))), ratio = rough / power;
    double step = power * (ratio <= 1 ? 1 : ratio <= 2 ? 2 : ratio <= 5 ? 5 : 10);
    if (a->whole) step = fmax(step, 1);
    for (double k = ceil(low / step); k * step <= high; k++)
        put_tick(f, a, other, across, k * step + 0.0); /* no -0 */
}

/* Ticks at 1, 2, 5 times the powers of ten, or at powers alone where those are many. */
void krein__svg_ticks(krein_buffer *f, const krein_svg_axis *a, const krein_svg_axis *other,
                      bool across) {
    static const double steps[] = {1, 2, 5};
    double span = a->high - a->low;
    int stride = span > 8 ? 2 : 1, subdivisions = span > 2.2 ? 1 : 3;
    if (a->linear || span < 0.9) {
        put_even_ticks(f, a, other, across);
        return;
    }
    for (int e = (int)floor(a->low); e <= (int)ceil(a->high); e++)
        for (int k = 0; k < subdivisions && (stride == 1 || e % 2 == 0); k++)
            put_tick(f, a, other, across, steps[k] * pow(10, e));
}

void krein__svg_mark(krein_buffer *f, int look, bool small, double x, double y, const char *tip) {
    krein__buffer_add(f, "<use href=\"#%s%d\" x=\"%.1f\" y=\"%.1f\" class=\"mark m%d\"",
                      small ? "dot" : "mark", (look + look / KREIN_SVG_COLOURS) % 4, x, y,
                      look % KREIN_SVG_COLOURS);
    if (*tip) {
        krein__buffer_put(f, "><title>");
        krein__svg_text(f, tip);
        krein__buffer_put(f, "</title></use>\n");
    } else {
        krein__buffer_put(f, "/>\n");
    }
}

void krein__svg_marker(krein_buffer *f, int look, double x, double y) {
    krein__svg_mark(f, look, false, x, y, "");
}

static void put_style(krein_buffer *f) {
    /* Plain colours first: not every program that shows SVG knows media queries or variables. */
    krein__buffer_put(
        f, "<style>\n"
           "text{font:12px sans-serif;fill:#1a1a1a}\n"
           ".title{font-size:13px;text-anchor:middle}\n"
           ".tick{text-anchor:middle}\n"
           ".side{text-anchor:end}\n"
           ".paper{fill:#ffffff}\n"
           ".frame{fill:none;stroke:#1a1a1a}\n"
           ".grid{fill:none;stroke:#dddddd;stroke-width:0.7}\n"
           ".line{fill:none;stroke-width:1.8}\n"
           ".bar{fill:none;stroke-width:1}\n"
           ".thick{fill:none;stroke:#1a1a1a;stroke-width:4}\n"
           ".mark{stroke:none}\n"
           "@media screen and (prefers-color-scheme:dark){text{fill:#e8e8e8}.paper{fill:#14171a}"
           ".frame,.thick{stroke:#e8e8e8}.grid{stroke:#3a3a3a}}\n");
    for (int k = 0; k < KREIN_SVG_COLOURS; k++)
        krein__buffer_add(f, ".s%d{stroke:%s}.m%d{fill:%s}\n", k, colours[k], k, colours[k]);
    for (int k = 0; k < 4; k++) krein__buffer_add(f, ".d%d{stroke-dasharray:%s}\n", k, dashes[k]);
    krein__buffer_put(f, "</style>\n<defs>\n"
                         "<circle id=\"mark0\" r=\"3.6\"/>\n"
                         "<rect id=\"mark1\" x=\"-3.3\" y=\"-3.3\" width=\"6.6\" height=\"6.6\"/>\n"
                         "<path id=\"mark2\" d=\"M0-4.4L4.2 3.2H-4.2Z\"/>\n"
                         "<path id=\"mark3\" d=\"M0-4.8L4.8 0L0 4.8L-4.8 0Z\"/>\n"
                         "<circle id=\"dot0\" r=\"2.2\"/>\n"
                         "<rect id=\"dot1\" x=\"-2\" y=\"-2\" width=\"4\" height=\"4\"/>\n"
                         "<path id=\"dot2\" d=\"M0-2.7L2.6 2H-2.6Z\"/>\n"
                         "<path id=\"dot3\" d=\"M0-2.9L2.9 0L0 2.9L-2.9 0Z\"/>\n"
                         "</defs>\n");
}

void krein__svg_begin(krein_buffer *f, const char *title, int width, int height) {
    krein__buffer_add(f,
                      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                      "viewBox=\"0 0 %d %d\" role=\"img\">\n<title>",
                      width, height, width, height);
    krein__svg_text(f, title);
    krein__buffer_put(f, "</title>\n");
    put_style(f);
    krein__buffer_add(f, "<rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n", width, height);
    krein__buffer_add(f, "<text class=\"title\" x=\"%d\" y=\"24\">", width / 2);
    krein__svg_text(f, title);
    krein__buffer_put(f, "</text>\n");
}

void krein__svg_end(krein_buffer *f) { krein__buffer_put(f, "</svg>\n"); }

void krein__svg_label(krein_buffer *f, double x, double y, const char *class, const char *text) {
    krein__buffer_add(f, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class, x, y);
    krein__svg_text(f, text);
    krein__buffer_put(f, "</text>\n");
}
