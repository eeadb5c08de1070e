/* spectral -- cosines with frequencies that are trained                         (li2020)
 *     M features, the same phase in both terms:
 *         z = (cos(x W + b) + cos(x V + b)) / sqrt(2 M)
 *     2M features, sines=yes, in pairs:
 *         z = [cos(x W) + cos(x V), sin(x W) + sin(x V)] / sqrt(4 M)
 * W and V are two sets of frequencies; with a stationary spectrum they are one, V = W. With
 * independent phases in the two terms the features would estimate another, stationary kernel.
 *
 * Backwards, with g the gradient of z, a = x W + b and s the factor:
 *     ga = -s g . sin a         (sines: -s g_cos . sin a + s g_sin . cos a)
 *     gW = x'ga,   gx = ga W' + ga_V V'
 * Kept: the derivatives of the waves, -s sin a, with sines also s cos a; n x PANEL of each
 * set, panel and wave.
 *
 * Along a direction with frequencies U in the place of W (phases are not trained, and stay):
 *     ra = R{x} W + x U,   R{z} = (derivatives of the waves) ra
 *     R{ga} = R{g} . (-s sin a) - g . (s cos a) . ra     (sines: and the same of g_sin)
 *     R{gW} = x'R{ga} + R{x}'ga,   R{gx} = R{ga} W' + ga U'
 *
 * Frequencies are in radians, in x F in panels (panels.h); phases in turns. They stand in the order
 * W, V, b in the vector, with zeros up to whole panels. A part of the output is a panel of W and
 * the same of V; a part of the parameters is a block of rows of one panel. Cost: 2 in F (40 more
 * for the waves) flops a row and set of frequencies, as much for each of the two ways back. */
#include "net/layer.h"

#include "num/blas.h"
#include "num/vec.h"

#include <math.h>

enum { WIDTH, SPECTRUM, SINES };
enum { STATIONARY = 0, NONSTATIONARY = 1 };
enum { BLOCK = 256 }; /* rows of a panel whose gradient and states fit into a small cache */
enum { NEAR = 1024 }; /* rows of a panel that stay in it while the rows of a tile pass */
static const float TURN = (float)(0.5 / M_PI);

static bool sines(const krein_layer *l) { return l->values.number[SINES] > 0; }
static int64_t sets(const krein_layer *l) {
    return l->values.number[SPECTRUM] == STATIONARY ? 1 : 2;
}
static int64_t frequencies(const krein_layer *l) { return sines(l) ? l->out / 2 : l->out; }
static int64_t waves(const krein_layer *l) { return sines(l) ? 2 : 1; }
static int64_t panels(const krein_layer *l) { return krein__panels(frequencies(l)); }
static int64_t panel_size(const krein_layer *l) { return l->in * KREIN_PANEL; }
static int64_t set_size(const krein_layer *l) { return panels(l) * panel_size(l); }
/* Frequencies of a panel. */
static int64_t in_panel(const krein_layer *l, int64_t panel) {
    return krein__min(KREIN_PANEL, frequencies(l) - panel * KREIN_PANEL);
}
/* Rows of a panel whose gradient is a part. */
static int64_t block_rows(const krein_layer *l) {
    int64_t blocks = (l->in + BLOCK - 1) / BLOCK;
    return (l->in + blocks - 1) / blocks;
}
static int64_t blocks(const krein_layer *l) { return (l->in + block_rows(l) - 1) / block_rows(l); }

/* Of one term; a stationary spectrum has it twice. */
static float factor(const krein_layer *l) {
    double M = (double)frequencies(l), terms = (double)(3 - sets(l));
    return (float)(terms / sqrt((sines(l) ? 4 : 2) * M));
}

static krein_status shape(const struct krein_net *net, krein_layer *l) {
    (void)net;
    int64_t width = (int64_t)l->values.number[WIDTH];
    l->out = sines(l) ? krein__max(1, width / 2) * 2 : width;
    l->parameters = sets(l) * set_size(l) + (sines(l) ? 0 : panels(l) * KREIN_PANEL);
    l->kept = sets(l) * waves(l) * panels(l) * KREIN_PANEL;
    l->parts = panels(l);
    l->weights_parts = sets(l) * panels(l) * blocks(l);
    l->part_size = block_rows(l) * KREIN_PANEL;
    l->scratch = 3 * KREIN_PANEL;
    l->rkept = sets(l) * 2 * panels(l) * KREIN_PANEL;
    l->by_columns = true;
    l->quantisers = 1;
    l->most = (double)sets(l) * (double)factor(l);
    l->flops = (double)sets(l) * (double)frequencies(l) * (2 * (double)l->in + 40);
    return KREIN_OK;
}

krein_spectrum_at krein__spectral_at(const krein_layer *l, float *p) {
    float *first = p + l->first;
    return (krein_spectrum_at){.F = frequencies(l),
                               .first = first,
                               .second = first + (sets(l) - 1) * set_size(l),
                               .phase = sines(l) ? NULL : first + sets(l) * set_size(l)};
}

/* Where the derivatives are kept: of row i on, of one of the waves. */
static float *kept_at(const krein_layer *l, const krein_pass *b, int64_t i, int64_t set,
                      int64_t panel, int64_t wave) {
    return b->kept + (((set * panels(l) + panel) * waves(l) + wave) * b->n + i) * KREIN_PANEL;
}

/* t <- -(x W + b) in turns: cos is that of a, and sin is -sin a. */
static void angles(const krein_layer *l, const float *p, const krein_pass *b, int64_t row,
                   int64_t n, int64_t set, int64_t panel, float *t) {
    const float *x = b->columns + row * l->in,
                *W = p + l->first + set * set_size(l) + panel * panel_size(l),
                *phase = p + l->first + sets(l) * set_size(l) + panel * KREIN_PANEL;
    /* Meanwhile the panel that comes next is brought near, a third of it from each place on. */
    bool last = panel + 1 == panels(l) && set + 1 == sets(l);
    const float *next = set + 1 < sets(l) ? W + set_size(l)
                        : last            ? W
                                          : W + panel_size(l) - set * set_size(l);
    for (int64_t from = 0; from < l->in; from += NEAR) {
        int64_t k = krein__min(NEAR, l->in - from), third = k * KREIN_PANEL / KREIN_AHEAD;
        krein_ahead ahead = {.floats = third};
        for (int i = 0; i < KREIN_AHEAD; i++) ahead.at[i] = next + from * KREIN_PANEL + i * third;
        krein__panel_product(from > 0, n, k, x + from * KREIN_NET_TILE, KREIN_NET_TILE,
                             W + from * KREIN_PANEL, t, KREIN_PANEL, &ahead);
    }
    for (int64_t i = 0; i < n; i++, t += KREIN_PANEL)
        for (int64_t j = 0; j < KREIN_PANEL; j++) t[j] = -TURN * t[j] - (sines(l) ? 0 : phase[j]);
}

/* One row of a panel: s cos of m frequencies, and with pairs -s sin. */
static void add_waves(bool pairs, bool add, int64_t m, const float *c, const float *s, float *out) {
    if (pairs)
        for (int64_t j = 0; j < m; j++) {
            out[2 * j] = (add ? out[2 * j] : 0) + c[j];
            out[2 * j + 1] = (add ? out[2 * j + 1] : 0) - s[j];
        }
    else
        for (int64_t j = 0; j < m; j++) out[j] = (add ? out[j] : 0) + c[j];
}

static void forward(const krein_layer *l, const float *p, const krein_pass *b, int64_t row,
                    int64_t n, int64_t part, float *scratch) {
    int64_t size = n * KREIN_PANEL;
    float *t = scratch;
    for (int64_t set = 0; set < sets(l); set++) {
        float *s = b->kept ? kept_at(l, b, row, set, part, 0) : scratch + size;
        float *c = b->kept && sines(l) ? kept_at(l, b, row, set, part, 1) : scratch + 2 * size;
        angles(l, p, b, row, n, set, part, t);
        krein__vsincos_apart(size, t, factor(l), c, s);
        for (int64_t i = 0; i < n; i++)
            add_waves(sines(l), set > 0, in_panel(l, part), c + i * KREIN_PANEL,
                      s + i * KREIN_PANEL,
                      b->out + (row + i) * l->out + waves(l) * part * KREIN_PANEL);
    }
}

/* ga of a panel (n x PANEL) for rows from `row` on; zeros beyond its frequencies. */
static void through_waves(const krein_layer *l, const krein_pass *b, int64_t row, int64_t n,
                          int64_t set, int64_t panel, float *ga) {
    int64_t m = in_panel(l, panel);
    const float *s = kept_at(l, b, row, set, panel, 0);
    const float *c = sines(l) ? kept_at(l, b, row, set, panel, 1) : NULL;
    const float *g = b->gout + row * l->out + waves(l) * panel * KREIN_PANEL;
    for (int64_t i = 0; i < n; i++, g += l->out, s += KREIN_PANEL, ga += KREIN_PANEL) {
        if (c) {
            for (int64_t j = 0; j < m; j++) ga[j] = g[2 * j] * s[j] + g[2 * j + 1] * c[j];
            c += KREIN_PANEL;
        } else {
            for (int64_t j = 0; j < m; j++) ga[j] = g[j] * s[j];
        }
        for (int64_t j = m; j < KREIN_PANEL; j++) ga[j] = 0;
    }
}

static void backward(const krein_layer *l, const float *p, const krein_pass *b, int64_t row,
                     int64_t n, float *scratch) {
    int64_t begun = 0;
    for (int64_t set = 0; set < sets(l); set++)
        for (int64_t panel = 0; panel < panels(l); panel++) {
            through_waves(l, b, row, n, set, panel, scratch);
            krein__sgemm(false, true, n, l->in, KREIN_PANEL, 1, scratch, KREIN_PANEL,
                         p + l->first + set * set_size(l) + panel * panel_size(l), KREIN_PANEL,
                         begun++ > 0, b->gx + row * l->in, l->in);
        }
}

/* Which rows of which panel a part of the parameters is. */
typedef struct block {
    int64_t set, panel, from, rows;
} block;
static block block_of(const krein_layer *l, int64_t part) {
    int64_t panel = part / blocks(l), from = part % blocks(l) * block_rows(l);
    return (block){panel / panels(l), panel % panels(l), from,
                   krein__min(block_rows(l), l->in - from)};
}

static int64_t ranges(const krein_layer *l, int64_t part, krein_range *out) {
    block at = block_of(l, part);
    int64_t first = l->first + at.set * set_size(l) + at.panel * panel_size(l);
    out[0] = (krein_range){first + at.from * KREIN_PANEL, at.rows, KREIN_PANEL, KREIN_PANEL, true};
    return 1;
}

/* One for all frequencies. */
static int64_t quantiser(const krein_layer *l, int64_t part, int64_t column) {
    return column < in_panel(l, block_of(l, part).panel) ? 0 : -1;
}

static void gradient(const krein_layer *l, const krein_pass *b, int64_t part, float *g,
                     float *scratch) {
    block at = block_of(l, part);
    krein_range range;
    ranges(l, part, &range);
    krein_ahead ahead = {.floats = range.rows * range.columns};
    for (int i = 0; i < KREIN_AHEAD; i++) ahead.at[i] = b->ahead[i] ? b->ahead[i] + range.first : g;
    through_waves(l, b, 0, b->n, at.set, at.panel, scratch);
    krein__panel_product(false, at.rows, b->n, b->x + at.from, l->in, scratch, g, KREIN_PANEL,
                         &ahead);
}

/* ---- derivatives along v ------------------------------------------------- */

/* ra, and s cos a, of row i on. */
static float *rkept_at(const krein_layer *l, const krein_pass *b, int64_t i, int64_t set,
                       int64_t panel, int64_t which) {
    return b->rkept + (((set * panels(l) + panel) * 2 + which) * b->n + i) * KREIN_PANEL;
}

static const float *panel_at(const krein_layer *l, const float *p, int64_t set, int64_t panel) {
    return p + l->first + set * set_size(l) + panel * panel_size(l);
}

static void r_forward(const krein_layer *l, const float *p, const float *v, const krein_pass *b,
                      int64_t row, int64_t n, int64_t part, float *scratch) {
    int64_t size = n * KREIN_PANEL, m = in_panel(l, part), wide = waves(l);
    for (int64_t set = 0; set < sets(l); set++) {
        float *ra = rkept_at(l, b, row, set, part, 0), *c = rkept_at(l, b, row, set, part, 1);
        const float *s = kept_at(l, b, row, set, part, 0);
        angles(l, p, b, row, n, set, part, scratch);
        krein__vsincos_apart(size, scratch, factor(l), c, scratch + size);
        krein__sgemm(false, false, n, KREIN_PANEL, l->in, 1, b->x + row * l->in, l->in,
                     panel_at(l, v, set, part), KREIN_PANEL, 0, ra, KREIN_PANEL);
        if (!b->still)
            krein__sgemm(false, false, n, KREIN_PANEL, l->in, 1, b->rx + row * l->in, l->in,
                         panel_at(l, p, set, part), KREIN_PANEL, 1, ra, KREIN_PANEL);
        for (int64_t i = 0; i < n; i++) {
            float *out = b->rout + (row + i) * l->out + wide * part * KREIN_PANEL;
            for (int64_t j = 0; j < m; j++) {
                int64_t at = i * KREIN_PANEL + j;
                out[wide * j] = (set > 0 ? out[wide * j] : 0) + s[at] * ra[at];
                if (wide == 2) out[2 * j + 1] = (set > 0 ? out[2 * j + 1] : 0) + c[at] * ra[at];
            }
        }
    }
}

/* R{ga} of a panel as through_waves makes ga. */
static void r_through_waves(const krein_layer *l, const krein_pass *b, int64_t row, int64_t n,
                            int64_t set, int64_t panel, float *rga) {
    krein_pass t = *b;
    int64_t m = in_panel(l, panel), wide = waves(l);
    const float *ra = rkept_at(l, b, row, set, panel, 0), *c = rkept_at(l, b, row, set, panel, 1);
    const float *s = kept_at(l, b, row, set, panel, 0);
    t.gout = b->rgout;
    through_waves(l, &t, row, n, set, panel, rga);
    for (int64_t i = 0; i < n; i++) {
        const float *g = b->gout + (row + i) * l->out + wide * panel * KREIN_PANEL;
        for (int64_t j = 0; j < m; j++) {
            int64_t at = i * KREIN_PANEL + j;
            rga[at] -= g[wide * j] * c[at] * ra[at];
            if (wide == 2) rga[at] += g[2 * j + 1] * s[at] * ra[at];
        }
    }
}

static void r_backward(const krein_layer *l, const float *p, const float *v, const krein_pass *b,
                       int64_t row, int64_t n, float *scratch) {
    int64_t begun = 0;
    float *ga = scratch + n * KREIN_PANEL;
    for (int64_t set = 0; set < sets(l); set++)
        for (int64_t panel = 0; panel < panels(l); panel++) {
            r_through_waves(l, b, row, n, set, panel, scratch);
            through_waves(l, b, row, n, set, panel, ga);
            krein__sgemm(false, true, n, l->in, KREIN_PANEL, 1, scratch, KREIN_PANEL,
                         panel_at(l, p, set, panel), KREIN_PANEL, begun++ > 0, b->rgx + row * l->in,
                         l->in);
            krein__sgemm(false, true, n, l->in, KREIN_PANEL, 1, ga, KREIN_PANEL,
                         panel_at(l, v, set, panel), KREIN_PANEL, 1, b->rgx + row * l->in, l->in);
        }
}

static void r_gradient(const krein_layer *l, const krein_pass *b, int64_t part, float *g,
                       float *scratch) {
    block at = block_of(l, part);
    r_through_waves(l, b, 0, b->n, at.set, at.panel, scratch);
    krein__panel_product(false, at.rows, b->n, b->x + at.from, l->in, scratch, g, KREIN_PANEL,
                         NULL);
    if (b->still) return;
    through_waves(l, b, 0, b->n, at.set, at.panel, scratch);
    krein__panel_product(true, at.rows, b->n, b->rx + at.from, l->in, scratch, g, KREIN_PANEL,
                         NULL);
}

static const krein_option options[] = {
    {.name = "width",
     .type = KREIN_OPTION_INTEGER,
     .value = NAN,
     .low = 1,
     .high = 1e7,
     .help = "numbers of a row of output"},
    {.name = "spectrum",
     .type = KREIN_OPTION_WORD,
     .value = NONSTATIONARY,
     .words = "stationary|nonstationary",
     .help = "one set of frequencies, or one for each of the two terms"},
    {.name = "sines",
     .type = KREIN_OPTION_YESNO,
     .value = 0,
     .help = "pairs of cosines and sines instead of cosines with phases"},
    {0}};

const krein_layer_class krein__layer_spectral = {
    .cls = {"spectral", "cosines with frequencies that are trained", "li2020", options, NULL},
    .shape = shape,
    .forward = forward,
    .backward = backward,
    .ranges = ranges,
    .gradient = gradient,
    .r_forward = r_forward,
    .r_backward = r_backward,
    .r_gradient = r_gradient,
    .quantiser = quantiser};
