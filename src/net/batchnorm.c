/* batchnorm -- each channel with mean 0 and variance 1 over a batch, then scaled      (ioffe2015)
 *     h = (x - m) r,   r = 1 / sqrt(var + 1e-5),   out = gamma h + beta
 * m and var over the N pixels of the channel in all rows of the batch (var divided by N), or the
 * running ones. Backwards, with means <.> over these pixels,
 *     gx = gamma r (gout - <gout> - h <gout h>),   ggamma = N <gout h>,   gbeta = N <gout>
 * and along v, whose parts are v_gamma and v_beta, with q = <h R{x}>,
 *     R{h}   = r (R{x} - <R{x}> - h q),            R{r} = -r^2 q
 *     R{out} = gamma R{h} + v_gamma h + v_beta
 *     R{gx}  = (v_gamma r + gamma R{r}) t + gamma r (R{gout} - <R{gout}> - R{h} <gout h> - h w)
 *              t = gout - <gout> - h <gout h>,   w = R{<gout h>} = <R{gout} h + gout R{h}>
 *     R{ggamma} = N w,   R{gbeta} = N <R{gout}>
 * With running statistics all means but those of the gradients are left out.
 *
 * The four in the net's vector are gamma, beta, running mean, running variance; the first two are
 * trained. The running variance is of the unbiased kind, as PyTorch has it. Sums over a group of
 * rows are float32 over each row of an image and float64 above; variances from differences to the
 * mean. */
#include "net/layer.h"

#include <math.h>
#include <string.h>

static const double EPSILON = 1e-5;

/* In whole: c numbers each. whole[DONE * c] says that MEAN_G and MEAN_GH are there, since forwards;
 * likewise in rwhole. */
enum { MEAN, SCALE, VARIANCE, MEAN_G, MEAN_GH, DONE };
/* In rwhole. */
enum { R_MEAN, R_Q, R_MEAN_G, R_MEAN_GH }; /* and DONE */

static krein_status shape(const struct krein_net *net, krein_layer *l) {
    (void)net;
    int64_t c = l->from.c;
    l->to = l->from;
    l->parameters = 4 * c;
    l->parts = 1;
    l->weights_parts = 1;
    l->part_size = 2 * c;
    l->whole = DONE * c + 1;
    l->sums = 4 * c; /* two sums in float64 */
    l->fixed = 5 * c;
    l->tile = krein__image_tile(l->in);
    l->flops = 6 * (double)l->in;
    return KREIN_OK;
}

static void start(const krein_layer *l, krein_rng g, float *p) {
    int64_t c = l->from.c;
    (void)g;
    for (int64_t j = 0; j < c; j++) p[l->first + j] = p[l->first + 3 * c + j] = 1;
}

static double pixels(const krein_layer *l, const krein_pass *b) {
    return (double)(b->n * l->from.h * l->from.w);
}

/* ---- sums over pixels ---------------------------------------------------- */

enum { LANES = 16 }; /* channels at a time */

/* What a pixel has, at one place of the vectors. */
typedef struct channels {
    const float *x, *gout, *rx, *rgout; /* NULL where they are not there */
    int64_t c;                          /* from a pixel to the next */
    float mean[LANES], scale[LANES], rmean[LANES], q[LANES];
} channels;

/* m channels of `count` pixels: the two terms of that way, added up. */
static inline void two_sums(krein_way way, const channels *s, int64_t at, int64_t count, int64_t m,
                            float *one, float *two) {
    for (int64_t j = 0; j < LANES; j++) one[j] = two[j] = 0;
    for (int64_t k = 0; k < count; k++, at += s->c)
        for (int64_t j = 0; j < m; j++) {
            float d = s->x[at + j] - s->mean[j], h = d * s->scale[j];
            if (way == KREIN_WAY_FORWARD) {
                one[j] += d;
                two[j] += d * d;
            } else if (way == KREIN_WAY_BACKWARD) {
                one[j] += s->gout[at + j];
                two[j] += s->gout[at + j] * h;
            } else if (way == KREIN_WAY_R_FORWARD) {
                one[j] += s->rx[at + j];
                two[j] += s->rx[at + j] * h;
            } else {
                float rh = s->scale[j] * (s->rx[at + j] - s->rmean[j] - h * s->q[j]);
                one[j] += s->rgout[at + j];
                two[j] += s->rgout[at + j] * h + s->gout[at + j] * rh;
            }
        }
}

/* The mean that the sums forwards are about: any number near it will do, so that the squares do not
 * cancel. */
static float about(const krein_layer *l, const krein_pass *b, int64_t channel) {
    float sum = 0;
    for (int64_t k = 0; k < l->from.w; k++) sum += b->x[k * l->from.c + channel];
    return sum / (float)l->from.w;
}

static void gather(const krein_layer *l, const krein_pass *b, krein_way way, int64_t row, int64_t n,
                   float *sum, float *scratch) {
    int64_t c = l->from.c, w = l->from.w;
    double *total = (double *)(void *)sum;
    (void)scratch;
    if (way == KREIN_WAY_FORWARD && b->statistics == KREIN_STATISTICS_RUNNING) return;
    if (way == KREIN_WAY_GRADIENT || way == KREIN_WAY_R_GRADIENT) { /* these are backwards' */
        bool second = way == KREIN_WAY_R_GRADIENT;
        if ((second ? b->rwhole : b->whole)[DONE * c] > 0) return;
        way = second ? KREIN_WAY_R_BACKWARD : KREIN_WAY_BACKWARD;
    }
    for (int64_t from = 0; from < c; from += LANES) {
        int64_t m = krein__min(LANES, c - from);
        channels s = {b->x, b->gout, b->rx, b->rgout, c, {0}, {0}, {0}, {0}};
        for (int64_t j = 0; j < m; j++) {
            if (way == KREIN_WAY_FORWARD) {
                s.mean[j] = about(l, b, from + j);
                continue;
            }
            s.mean[j] = b->whole[MEAN * c + from + j];
            s.scale[j] = b->whole[SCALE * c + from + j];
            if (way != KREIN_WAY_R_BACKWARD) continue;
            s.rmean[j] = b->rwhole[R_MEAN * c + from + j];
            s.q[j] = b->rwhole[R_Q * c + from + j];
        }
        for (int64_t j = 0; j < m; j++) total[from + j] = total[c + from + j] = 0;
        for (int64_t line = row * l->from.h; line < (row + n) * l->from.h; line++) {
            int64_t at = line * w * c + from;
            float one[LANES], two[LANES];
            if (m == LANES && way == KREIN_WAY_FORWARD)
                two_sums(KREIN_WAY_FORWARD, &s, at, w, LANES, one, two);
            else if (m == LANES && way == KREIN_WAY_BACKWARD)
                two_sums(KREIN_WAY_BACKWARD, &s, at, w, LANES, one, two);
            else if (m == LANES && way == KREIN_WAY_R_FORWARD)
                two_sums(KREIN_WAY_R_FORWARD, &s, at, w, LANES, one, two);
            else if (m == LANES)
                two_sums(KREIN_WAY_R_BACKWARD, &s, at, w, LANES, one, two);
            else
                two_sums(way, &s, at, w, m, one, two);
            for (int64_t j = 0; j < m; j++) {
                total[from + j] += (double)one[j];
                total[c + from + j] += (double)two[j];
            }
        }
    }
}

/* Sum of the groups. */
static double sum_of(const krein_layer *l, const krein_pass *b, int64_t groups, int64_t at) {
    double sum = 0;
    for (int64_t g = 0; g < groups; g++)
        sum += ((const double *)(const void *)(b->sums + g * l->sums))[at];
    return sum;
}

static void settle_forward(const krein_layer *l, const float *p, const krein_pass *b,
                           int64_t groups) {
    int64_t c = l->from.c;
    double N = pixels(l, b), mean, variance;
    for (int64_t j = 0; j < c; j++) {
        if (b->statistics == KREIN_STATISTICS_RUNNING) {
            mean = (double)p[l->first + 2 * c + j];
            variance = (double)p[l->first + 3 * c + j];
        } else {
            double one = sum_of(l, b, groups, j) / N, two = sum_of(l, b, groups, c + j) / N;
            mean = (double)about(l, b, j) + one;
            variance = two - one * one;
            if (variance < 0) variance = 0;
        }
        b->whole[MEAN * c + j] = (float)mean;
        b->whole[SCALE * c + j] = (float)(1 / sqrt(variance + EPSILON));
        b->whole[VARIANCE * c + j] = (float)variance;
    }
    b->whole[DONE * c] = 0;
}

/* Means of the two terms; forwards along v they are 0 with running statistics. */
static void settle(const krein_layer *l, const float *p, const float *v, const krein_pass *b,
                   krein_way way, int64_t groups) {
    int64_t c = l->from.c;
    bool forwards = way == KREIN_WAY_R_FORWARD;
    bool zero = forwards && b->statistics == KREIN_STATISTICS_RUNNING;
    float *to = v ? b->rwhole : b->whole;
    int first = forwards ? R_MEAN : v ? R_MEAN_G : MEAN_G;
    double N = pixels(l, b);
    if (way == KREIN_WAY_FORWARD) {
        settle_forward(l, p, b, groups);
        return;
    }
    bool again = way == KREIN_WAY_GRADIENT || way == KREIN_WAY_R_GRADIENT;
    if (again && to[DONE * c] > 0) return;
    for (int64_t j = 0; j < c; j++)
        for (int64_t k = 0; k < 2; k++)
            to[(first + k) * c + j] = zero ? 0 : (float)(sum_of(l, b, groups, k * c + j) / N);
    to[DONE * c] = !forwards;
}

/* ---- forwards and backwards ---------------------------------------------- */

static void forward(const krein_layer *l, const float *p, const krein_pass *b, int64_t row,
                    int64_t n, int64_t part, float *scratch) {
    int64_t c = l->from.c;
    const float *restrict x = b->x + row * l->in, *gamma = p + l->first, *beta = gamma + c;
    float *restrict out = b->out + row * l->in, *restrict scale = scratch,
                    *restrict shift = scratch + c;
    (void)part;
    for (int64_t j = 0; j < c; j++) {
        scale[j] = gamma[j] * b->whole[SCALE * c + j];
        shift[j] = beta[j] - scale[j] * b->whole[MEAN * c + j];
    }
    for (int64_t k = 0; k < n * l->in; k += c)
        for (int64_t j = 0; j < c; j++) out[k + j] = scale[j] * x[k + j] + shift[j];
}

/* gx = A gout + B x + C */
static void backward(const krein_layer *l, const float *p, const krein_pass *b, int64_t row,
                     int64_t n, float *scratch) {
    int64_t c = l->from.c;
    bool running = b->statistics == KREIN_STATISTICS_RUNNING;
    const float *restrict x = b->x + row * l->in, *restrict g = b->gout + row * l->in;
    float *restrict gx = b->gx + row * l->in, *restrict A = scratch, *restrict B = A + c,
                    *restrict C = B + c;
    for (int64_t j = 0; j < c; j++) {
        float r = b->whole[SCALE * c + j];
        A[j] = p[l->first + j] * r;
        B[j] = running ? 0 : -A[j] * r * b->whole[MEAN_GH * c + j];
        C[j] = running ? 0 : -A[j] * b->whole[MEAN_G * c + j] - B[j] * b->whole[MEAN * c + j];
    }
    for (int64_t k = 0; k < n * l->in; k += c)
        for (int64_t j = 0; j < c; j++) gx[k + j] = A[j] * g[k + j] + B[j] * x[k + j] + C[j];
}

static int64_t ranges(const krein_layer *l, int64_t part, krein_range *out) {
    (void)part;
    out[0] = (krein_range){l->first, 1, 2 * l->from.c, 2 * l->from.c, false};
    return 1;
}

static void gradient(const krein_layer *l, const krein_pass *b, int64_t part, float *g,
                     float *scratch) {
    int64_t c = l->from.c;
    float N = (float)pixels(l, b);
    (void)part, (void)scratch;
    for (int64_t j = 0; j < c; j++) {
        g[j] = N * b->whole[MEAN_GH * c + j];
        g[c + j] = N * b->whole[MEAN_G * c + j];
    }
}

static void note(const krein_layer *l, const krein_pass *b, double momentum, float *p) {
    int64_t c = l->from.c;
    double N = pixels(l, b), unbiased = N > 1 ? N / (N - 1) : 1;
    float *mean = p + l->first + 2 * c, *variance = mean + c;
    for (int64_t j = 0; j < c; j++) {
        mean[j] += (float)(momentum * ((double)b->whole[MEAN * c + j] - (double)mean[j]));
        variance[j] += (float)(momentum * (unbiased * (double)b->whole[VARIANCE * c + j] -
                                           (double)variance[j]));
    }
}

/* ---- derivatives along v -------------------------------------------------- */

static void r_forward(const krein_layer *l, const float *p, const float *v, const krein_pass *b,
                      int64_t row, int64_t n, int64_t part, float *scratch) {
    int64_t c = l->from.c;
    const float *restrict x = b->x + row * l->in, *restrict rx = b->rx + row * l->in;
    float *restrict rout = b->rout + row * l->in, *restrict A = scratch, *restrict B = A + c,
                    *restrict C = B + c;
    (void)part;
    for (int64_t j = 0; j < c; j++) {
        float r = b->whole[SCALE * c + j];
        A[j] = p[l->first + j] * r;
        B[j] = r * (v[l->first + j] - A[j] * b->rwhole[R_Q * c + j]);
        C[j] =
            v[l->first + c + j] - A[j] * b->rwhole[R_MEAN * c + j] - B[j] * b->whole[MEAN * c + j];
    }
    for (int64_t k = 0; k < n * l->in; k += c)
        for (int64_t j = 0; j < c; j++) rout[k + j] = A[j] * rx[k + j] + B[j] * x[k + j] + C[j];
}

/* R{gx} = A R{gout} + B gout + C R{x} + D x + E */
static void r_backward(const krein_layer *l, const float *p, const float *v, const krein_pass *b,
                       int64_t row, int64_t n, float *scratch) {
    int64_t c = l->from.c, at = row * l->in;
    bool running = b->statistics == KREIN_STATISTICS_RUNNING;
    const float *restrict x = b->x + at, *restrict rx = b->rx + at, *restrict g = b->gout + at,
                          *restrict rg = b->rgout + at;
    float *restrict rgx = b->rgx + at, *restrict A = scratch, *restrict B = A + c,
                    *restrict C = B + c, *restrict D = C + c, *restrict E = D + c;
    for (int64_t j = 0; j < c; j++) {
        float r = b->whole[SCALE * c + j], mean = b->whole[MEAN * c + j], q, rmean, mg, mgh, rmg, w;
        q = b->rwhole[R_Q * c + j], rmean = b->rwhole[R_MEAN * c + j];
        mg = running ? 0 : b->whole[MEAN_G * c + j];
        mgh = running ? 0 : b->whole[MEAN_GH * c + j];
        rmg = running ? 0 : b->rwhole[R_MEAN_G * c + j];
        w = running ? 0 : b->rwhole[R_MEAN_GH * c + j];
        A[j] = p[l->first + j] * r;
        B[j] = r * (v[l->first + j] - A[j] * q);
        C[j] = -A[j] * r * mgh;
        /* of h: -B mgh - A w, and from R{h} A mgh r q */
        float h = -B[j] * mgh - A[j] * w + A[j] * mgh * r * q;
        D[j] = h * r;
        E[j] = -B[j] * mg - A[j] * rmg - C[j] * rmean - D[j] * mean;
    }
    for (int64_t k = 0; k < n * l->in; k += c)
        for (int64_t j = 0; j < c; j++)
            rgx[k + j] =
                A[j] * rg[k + j] + B[j] * g[k + j] + C[j] * rx[k + j] + D[j] * x[k + j] + E[j];
}

static void r_gradient(const krein_layer *l, const krein_pass *b, int64_t part, float *g,
                       float *scratch) {
    int64_t c = l->from.c;
    float N = (float)pixels(l, b);
    (void)part, (void)scratch;
    for (int64_t j = 0; j < c; j++) {
        g[j] = N * b->rwhole[R_MEAN_GH * c + j];
        g[c + j] = N * b->rwhole[R_MEAN_G * c + j];
    }
}

const krein_layer_class krein__layer_batchnorm = {
    .cls = {"batchnorm", "channels with mean 0 and variance 1 over a batch", "ioffe2015", NULL,
            NULL},
    .shape = shape,
    .start = start,
    .gathers = KREIN_WAY_FORWARD | KREIN_WAY_BACKWARD | KREIN_WAY_GRADIENT | KREIN_WAY_R_FORWARD |
               KREIN_WAY_R_BACKWARD | KREIN_WAY_R_GRADIENT,
    .settles = KREIN_WAY_FORWARD | KREIN_WAY_BACKWARD | KREIN_WAY_GRADIENT | KREIN_WAY_R_FORWARD |
               KREIN_WAY_R_BACKWARD | KREIN_WAY_R_GRADIENT,
    .gather = gather,
    .settle = settle,
    .forward = forward,
    .backward = backward,
    .ranges = ranges,
    .gradient = gradient,
    .note = note,
    .r_forward = r_forward,
    .r_backward = r_backward,
    .r_gradient = r_gradient};
