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
 * Kept of a row: the derivatives of the waves, -s sin a, or pairs -s sin a, s cos a.
 *
 * Frequencies are in radians, in x F; phases in turns. They stand in the order W, V, b in the
 * vector. A part is PART frequencies, of W and of V. Cost: 2 in F (40 more for the waves) flops a
 * row and set of frequencies, as much for each of the two ways back. */
#include "net/layer.h"

#include "num/blas.h"
#include "num/vec.h"

#include <math.h>
#include <string.h>

enum { WIDTH, SPECTRUM, SINES };
enum { STATIONARY = 0, NONSTATIONARY = 1 };
static const float TURN = (float)(0.5 / M_PI);

static bool sines(const krein_layer *l) { return l->values.number[SINES] > 0; }
static int64_t sets(const krein_layer *l) {
    return l->values.number[SPECTRUM] == STATIONARY ? 1 : 2;
}
static int64_t frequencies(const krein_layer *l) { return sines(l) ? l->out / 2 : l->out; }
static int64_t waves(const krein_layer *l) { return sines(l) ? 2 : 1; }
static int64_t set_size(const krein_layer *l) { return l->in * frequencies(l); }

/* Of one term; a stationary spectrum has it twice. */
static float factor(const krein_layer *l) {
    double M = (double)frequencies(l), terms = (double)(3 - sets(l));
    return (float)(terms / sqrt((sines(l) ? 4 : 2) * M));
}

static void shape(krein_layer *l) {
    int64_t width = (int64_t)l->values.number[WIDTH];
    l->out = sines(l) ? krein__max(1, width / 2) * 2 : width;
    l->parameters = sets(l) * set_size(l) + (sines(l) ? 0 : l->out);
    l->kept = sets(l) * l->out;
    l->parts = l->weights_parts = krein__net_parts(frequencies(l));
    l->part_size = sets(l) * l->in * krein__min(frequencies(l), KREIN_NET_PART);
    l->scratch = 3 * KREIN_NET_PART;
    l->flops = (double)sets(l) * (double)frequencies(l) * (2 * (double)l->in + 40);
}

krein_spectrum_at krein__spectral_at(const krein_layer *l, float *p) {
    float *first = p + l->first;
    return (krein_spectrum_at){.F = frequencies(l),
                               .first = first,
                               .second = first + (sets(l) - 1) * set_size(l),
                               .phase = sines(l) ? NULL : first + sets(l) * set_size(l)};
}

/* Where the derivatives of row i and frequency f of a set are kept. */
static float *kept_at(const krein_layer *l, const krein_pass *b, int64_t i, int64_t set,
                      int64_t f) {
    return b->kept + i * l->kept + set * l->out + waves(l) * f;
}

/* One row of waves: sc has pairs s cos, s sin of m frequencies. */
static void add_waves(bool pairs, bool add, int64_t m, const float *sc, float *out) {
    if (pairs)
        for (int64_t j = 0; j < 2 * m; j++) out[j] = (add ? out[j] : 0) + sc[j];
    else
        for (int64_t j = 0; j < m; j++) out[j] = (add ? out[j] : 0) + sc[2 * j];
}

static void keep_waves(bool pairs, int64_t m, const float *sc, float *kept) {
    if (pairs)
        for (int64_t j = 0; j < m; j++) {
            kept[2 * j] = -sc[2 * j + 1];
            kept[2 * j + 1] = sc[2 * j];
        }
    else
        for (int64_t j = 0; j < m; j++) kept[j] = -sc[2 * j + 1];
}

static void forward(const krein_layer *l, const float *p, const krein_pass *b, int64_t row,
                    int64_t n, int64_t part, float *scratch) {
    int64_t F = frequencies(l), from = part * KREIN_NET_PART,
            m = krein__min(KREIN_NET_PART, F - from);
    float *t = scratch, *sc = scratch + n * m, s = factor(l);
    const float *phase = p + l->first + sets(l) * set_size(l) + from;
    for (int64_t set = 0; set < sets(l); set++) {
        for (int64_t i = 0; i < n; i++)
            if (sines(l))
                memset(t + i * m, 0, (size_t)m * sizeof *t);
            else
                memcpy(t + i * m, phase, (size_t)m * sizeof *t);
        krein__sgemm(false, false, n, m, l->in, TURN, b->x + row * l->in, l->in,
                     p + l->first + set * set_size(l) + from, F, 1, t, m);
        krein__vsincos_turns(n * m, t, s, sc);
        for (int64_t i = 0; i < n; i++) {
            add_waves(sines(l), set > 0, m, sc + 2 * i * m,
                      b->out + (row + i) * l->out + waves(l) * from);
            if (b->kept) keep_waves(sines(l), m, sc + 2 * i * m, kept_at(l, b, row + i, set, from));
        }
    }
}

/* ga of m frequencies of one row. */
static void through_waves(bool pairs, int64_t m, const float *g, const float *kept, float *ga) {
    if (pairs)
        for (int64_t j = 0; j < m; j++)
            ga[j] = g[2 * j] * kept[2 * j] + g[2 * j + 1] * kept[2 * j + 1];
    else
        for (int64_t j = 0; j < m; j++) ga[j] = g[j] * kept[j];
}

static void backward(const krein_layer *l, const float *p, const krein_pass *b, int64_t row,
                     int64_t n, float *scratch) {
    int64_t F = frequencies(l), begun = 0;
    for (int64_t set = 0; set < sets(l); set++)
        for (int64_t from = 0; from < F; from += KREIN_NET_PART) {
            int64_t m = krein__min(KREIN_NET_PART, F - from);
            for (int64_t i = 0; i < n; i++)
                through_waves(sines(l), m, b->gout + (row + i) * l->out + waves(l) * from,
                              kept_at(l, b, row + i, set, from), scratch + i * m);
            krein__sgemm(false, true, n, l->in, m, 1, scratch, m,
                         p + l->first + set * set_size(l) + from, F, begun++ > 0,
                         b->gx + row * l->in, l->in);
        }
}

static int64_t ranges(const krein_layer *l, int64_t part, krein_range *out) {
    int64_t F = frequencies(l), from = part * KREIN_NET_PART,
            m = krein__min(KREIN_NET_PART, F - from);
    for (int64_t set = 0; set < sets(l); set++)
        out[set] = (krein_range){l->first + set * set_size(l) + from, l->in, m, F, true};
    return sets(l);
}

static void gradient(const krein_layer *l, const krein_pass *b, int64_t part, float *g,
                     float *scratch) {
    int64_t F = frequencies(l), from = part * KREIN_NET_PART,
            m = krein__min(KREIN_NET_PART, F - from);
    for (int64_t set = 0; set < sets(l); set++) {
        for (int64_t i = 0; i < b->n; i++)
            through_waves(sines(l), m, b->gout + i * l->out + waves(l) * from,
                          kept_at(l, b, i, set, from), scratch + i * m);
        krein__sgemm(true, false, l->in, m, b->n, 1, b->x, l->in, scratch, m, 0,
                     g + set * l->in * m, m);
    }
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
    .gradient = gradient};
