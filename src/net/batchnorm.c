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

#include "num/channels.h"

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
    l->sums = 8 * c; /* four sums in float64 */
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

/* The mean that the sums forwards are about: any number near it will do, so that the squares do not
 * cancel. */
static float about(const krein_layer *l, const krein_pass *b, int64_t channel) {
    float sum = 0;
    for (int64_t k = 0; k < l->from.w; k++) sum += b->x[k * l->from.c + channel];
    return sum / (float)l->from.w;
}

/* What all ways need, over some rows:
 *     forwards         sum of x - a, sum of (x - a)^2
 *     backwards        sum of gout, sum of gout (x - m)
 *     R{.} forwards    sum of R{x}, sum of R{x} (x - m)
 *     R{.} backwards   sum of R{gout}, sum of R{gout} (x - m); sum of gout (R{x} - <R{x}>) */
static void gather(const krein_layer *l, const krein_pass *b, krein_way way, int64_t row, int64_t n,
                   float *sum, float *scratch) {
    int64_t c = l->from.c, at = row * l->in, count = n * l->from.h * l->from.w;
    double *total = (double *)(void *)sum;
    if (way == KREIN_WAY_FORWARD && b->statistics == KREIN_STATISTICS_RUNNING) return;
    if (way == KREIN_WAY_GRADIENT || way == KREIN_WAY_R_GRADIENT) { /* these are backwards' */
        bool second = way == KREIN_WAY_R_GRADIENT;
        if ((second ? b->rwhole : b->whole)[DONE * c] > 0) return;
        way = second ? KREIN_WAY_R_BACKWARD : KREIN_WAY_BACKWARD;
    }
    memset(total, 0, (size_t)(4 * c) * sizeof *total);
    if (way == KREIN_WAY_FORWARD) {
        for (int64_t j = 0; j < c; j++) scratch[j] = about(l, b, j);
        krein__channels_sums(count, c, NULL, b->x + at, scratch, total, total + c);
        return;
    }
    const float *y = way == KREIN_WAY_BACKWARD    ? b->gout
                     : way == KREIN_WAY_R_FORWARD ? b->rx
                                                  : b->rgout;
    krein__channels_sums(count, c, y + at, b->x + at, b->whole + MEAN * c, total, total + c);
    if (way == KREIN_WAY_R_BACKWARD)
        krein__channels_sums(count, c, b->gout + at, b->rx + at, b->rwhole + R_MEAN * c,
                             total + 2 * c, total + 3 * c);
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

/* R{<gout h>} = <R{gout} h> + r (<gout (R{x} - <R{x}>)> - q <gout h>) */
static void settle(const krein_layer *l, const float *p, const float *v, const krein_pass *b,
                   krein_way way, int64_t groups) {
    int64_t c = l->from.c;
    bool forwards = way == KREIN_WAY_R_FORWARD;
    bool again = way == KREIN_WAY_GRADIENT || way == KREIN_WAY_R_GRADIENT;
    bool zero = forwards && b->statistics == KREIN_STATISTICS_RUNNING;
    float *to = v ? b->rwhole : b->whole;
    int first = forwards ? R_MEAN : v ? R_MEAN_G : MEAN_G;
    double N = pixels(l, b);
    if (way == KREIN_WAY_FORWARD) {
        settle_forward(l, p, b, groups);
        return;
    }
    if (again && to[DONE * c] > 0) return;
    for (int64_t j = 0; j < c; j++) {
        double r = (double)b->whole[SCALE * c + j];
        double one = sum_of(l, b, groups, j) / N, two = r * sum_of(l, b, groups, c + j) / N;
        if (v && !forwards)
            two += r * (sum_of(l, b, groups, 3 * c + j) / N -
                        (double)b->rwhole[R_Q * c + j] * (double)b->whole[MEAN_GH * c + j]);
        to[first * c + j] = zero ? 0 : (float)one;
        to[(first + 1) * c + j] = zero ? 0 : (float)two;
    }
    to[DONE * c] = !forwards;
}

/* ---- forwards and backwards ---------------------------------------------- */

static void forward(const krein_layer *l, const float *p, const krein_pass *b, int64_t row,
                    int64_t n, int64_t part, float *scratch) {
    int64_t c = l->from.c;
    const float *x = b->x + row * l->in, *gamma = p + l->first, *beta = gamma + c;
    float *scale = scratch, *shift = scratch + c;
    (void)part;
    for (int64_t j = 0; j < c; j++) {
        scale[j] = gamma[j] * b->whole[SCALE * c + j];
        shift[j] = beta[j] - scale[j] * b->whole[MEAN * c + j];
    }
    krein__channels_mix(n * l->from.h * l->from.w, c, 1, &x, scale, shift, b->out + row * l->in);
}

/* gx = A gout + B x + C */
static void backward(const krein_layer *l, const float *p, const krein_pass *b, int64_t row,
                     int64_t n, float *scratch) {
    int64_t c = l->from.c;
    bool running = b->statistics == KREIN_STATISTICS_RUNNING;
    const float *x[] = {b->gout + row * l->in, b->x + row * l->in};
    float *A = scratch, *B = A + c, *C = B + c;
    for (int64_t j = 0; j < c; j++) {
        float r = b->whole[SCALE * c + j];
        A[j] = p[l->first + j] * r;
        B[j] = running ? 0 : -A[j] * r * b->whole[MEAN_GH * c + j];
        C[j] = running ? 0 : -A[j] * b->whole[MEAN_G * c + j] - B[j] * b->whole[MEAN * c + j];
    }
    krein__channels_mix(n * l->from.h * l->from.w, c, 2, x, A, C, b->gx + row * l->in);
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
    const float *x[] = {b->rx + row * l->in, b->x + row * l->in};
    float *A = scratch, *B = A + c, *C = B + c;
    (void)part;
    for (int64_t j = 0; j < c; j++) {
        float r = b->whole[SCALE * c + j];
        A[j] = p[l->first + j] * r;
        B[j] = r * (v[l->first + j] - A[j] * b->rwhole[R_Q * c + j]);
        C[j] =
            v[l->first + c + j] - A[j] * b->rwhole[R_MEAN * c + j] - B[j] * b->whole[MEAN * c + j];
    }
    krein__channels_mix(n * l->from.h * l->from.w, c, 2, x, A, C, b->rout + row * l->in);
}

/* R{gx} = A R{gout} + B gout + C R{x} + D x + E */
static void r_backward(const krein_layer *l, const float *p, const float *v, const krein_pass *b,
                       int64_t row, int64_t n, float *scratch) {
    int64_t c = l->from.c, at = row * l->in;
    bool running = b->statistics == KREIN_STATISTICS_RUNNING;
    const float *x[] = {b->rgout + at, b->gout + at, b->rx + at, b->x + at};
    float *A = scratch, *B = A + c, *C = B + c, *D = C + c, *E = D + c;
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
    krein__channels_mix(n * l->from.h * l->from.w, c, 4, x, A, E, b->rgx + at);
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
