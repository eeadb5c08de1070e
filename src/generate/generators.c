/* generators.c -- the synthetic data sets. U uniform, N standard normal, s the noise.
 *
 *   arm           x_j ~ U(-pi/2, pi/2), y = |p(x) - (.1, .1, .1)| + s N, p the hand of an arm
 *                 of d links of length 2/d; joint j turns about the z (even) or y (odd) axis
 *   friedman      x_j ~ U(0, 1), y = 10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5 + s N
 *   spiral        r = sqrt(U), phi = 2 pi turns r + pi y, x = r (cos phi, sin phi) + s N
 *   checkerboard  x ~ U(0, 1)^2, y = (floor(cells x1) + floor(cells x2)) mod 2, then x += s N
 *   moons         a ~ U(0, pi), x = (cos a, sin a) or (1 - cos a, 1/2 - sin a), + s N
 *   sine          x ~ U(0, 1), y = sin(2 pi frequency x) + s N
 *   blobs         x ~ N(centre of class y, s^2 I), centres ~ N(0, separation^2 I)
 *   multilabel    x ~ N(0, 1)^d, label c where |a_c'x + s N| > t_c, a_c a random direction of
 *                 length 1, t_c from 0.7 for the first label to 1.6 for the last
 *   spline        x ~ U(0, 1), y = Lambda_q(x) + s N, Lambda_q(u) = 1 + 2 sum_k cos(2 pi k u)/k^q
 *
 * Targets are computed from the inputs as rounded to float32, so that a file with noise 0
 * satisfies its formula. The centres of blobs and the directions of multilabel do not depend on the
 * seed: two seeds give two samples of one distribution, as a training and a test file should be.
 */
#include "generate/generate.h"

#include "base/rng.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

/* Roles, added to KREIN_STREAM_GENERATE. */
enum { INPUT = 0, NOISE = 1, CLASS = 2, CENTRE = 3, DIRECTION = 4 };
/* Chosen so that the first centres of blobs in the plane lie well apart. */
enum { CENTRE_SEED = 36 };

static krein_rng stream(uint64_t seed, uint64_t role) {
    return (krein_rng){seed, KREIN_STREAM_GENERATE + role};
}

static double uniform(uint64_t seed, int64_t i, int64_t j) {
    return krein__rng_uniform(stream(seed, INPUT), (uint64_t)i, (uint64_t)j);
}

/* Not drawn when there is no noise: 0 * N is 0 but takes its time. */
static double gauss(uint64_t seed, int64_t i, int64_t j, double noise) {
    if (noise == 0) return 0;
    return noise * krein__rng_normal(stream(seed, NOISE), (uint64_t)i, (uint64_t)j);
}

static int64_t draw_class(uint64_t seed, int64_t i, int64_t classes) {
    return (int64_t)krein__rng_below(stream(seed, CLASS), (uint64_t)i, 0, (uint64_t)classes);
}

/* ---- regression --------------------------------------------------------- */

static void arm_row(uint64_t seed, int64_t i, int64_t d, double noise, const krein_values *options,
                    float *x, double *y) {
    double p[3] = {0}, e[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}; /* hand, axes of its link */
    (void)options;
    for (int64_t j = 0; j < d; j++) {
        x[j] = (float)(pi * (uniform(seed, i, j) - 0.5));
        const double c = cos((double)x[j]), s = sin((double)x[j]);
        double *forward = e[0], *side = e[j % 2 ? 2 : 1];
        for (int k = 0; k < 3; k++) {
            const double f = forward[k], g = side[k];
            forward[k] = j % 2 ? c * f - s * g : c * f + s * g;
            side[k] = j % 2 ? s * f + c * g : c * g - s * f;
            p[k] += 2 / (double)d * forward[k];
        }
    }
    const double a = p[0] - 0.1, b = p[1] - 0.1, c = p[2] - 0.1;
    *y = sqrt(a * a + b * b + c * c) + gauss(seed, i, 0, noise);
}

const krein_generator_class krein__generator_arm = {
    .cls = {.name = "arm",
            .summary = "distance of a robot arm's hand from a point; smooth, strongly nonlinear",
            .cite = "",
            .details = "d joint angles of an arm of d links in space, after the kin8nm and kin40k "
                       "data sets. The noise is the standard deviation added to the distance."},
    .d = 8,
    .d_min = 1,
    .d_max = 64,
    .noise = 0.02,
    .row = arm_row};

static void friedman_row(uint64_t seed, int64_t i, int64_t d, double noise,
                         const krein_values *options, float *x, double *y) {
    (void)options;
    for (int64_t j = 0; j < d; j++) x[j] = (float)uniform(seed, i, j);
    const double x1 = x[0], x2 = x[1], x3 = x[2] - 0.5, x4 = x[3], x5 = x[4];
    *y = 10 * sin(pi * x1 * x2) + 20 * x3 * x3 + 10 * x4 + 5 * x5 + gauss(seed, i, 0, noise);
}

const krein_generator_class krein__generator_friedman = {
    .cls = {.name = "friedman",
            .summary = "Friedman's first function: five inputs matter, the others do not",
            .cite = "friedman1991"},
    .d = 10,
    .d_min = 5,
    .d_max = 100000,
    .noise = 1,
    .row = friedman_row};

static void sine_row(uint64_t seed, int64_t i, int64_t d, double noise, const krein_values *options,
                     float *x, double *y) {
    (void)d;
    x[0] = (float)uniform(seed, i, 0);
    *y = sin(2 * pi * options->number[0] * (double)x[0]) + gauss(seed, i, 0, noise);
}

static const krein_option sine_options[] = {{.name = "frequency",
                                             .type = KREIN_OPTION_NUMBER,
                                             .value = 1,
                                             .low = 0,
                                             .high = 1e6,
                                             .low_open = true,
                                             .help = "periods in the unit interval"},
                                            {.name = NULL}};

const krein_generator_class krein__generator_sine = {
    .cls = {.name = "sine",
            .summary = "a sine on the unit interval",
            .cite = "",
            .options = sine_options},
    .d = 1,
    .d_min = 1,
    .d_max = 1,
    .noise = 0.1,
    .row = sine_row};

/* Even q up to 8 by the Bernoulli polynomial in w = u (1 - u), which is symmetric as they are:
 * 1 + (-1)^(q/2-1) (2 pi)^q B_q(u)/q!. Other q by the series, cut at 4000 harmonics or where
 * they no longer count. */
static double periodic_spline(double q, double u) {
    u -= floor(u);
    const double w = u * (1 - u), t = 4 * pi * pi;
    if (q == 2) return 1 + t / 2 * (1. / 6 - w);
    if (q == 4) return 1 - t * t / 24 * (w * w - 1. / 30);
    if (q == 6) return 1 + t * t * t / 720 * (1. / 42 - w * w * (0.5 + w));
    if (q == 8) return 1 - t * t * t * t / 40320 * (w * w * (2. / 3 + w * (4. / 3 + w)) - 1. / 30);
    const double c1 = cos(2 * pi * u), s1 = sin(2 * pi * u), last = fmin(4000, pow(1e17, 1 / q));
    double c = 1, s = 0, sum = 0;
    for (int k = 1; k <= last; k++) {
        const double next = c * c1 - s * s1;
        s = s * c1 + c * s1;
        c = next;
        sum += c * pow(k, -q);
    }
    return 1 + 2 * sum;
}

static void spline_row(uint64_t seed, int64_t i, int64_t d, double noise,
                       const krein_values *options, float *x, double *y) {
    (void)d;
    x[0] = (float)uniform(seed, i, 0);
    *y = periodic_spline(options->number[0], (double)x[0]) + gauss(seed, i, 0, noise);
}

static const krein_option spline_options[] = {
    {.name = "q",
     .type = KREIN_OPTION_NUMBER,
     .value = 6,
     .low = 1,
     .high = 32,
     .low_open = true,
     .help = "order: smoothness of the target; 2, 4, 6 and 8 are fast"},
    {.name = NULL}};

const krein_generator_class krein__generator_spline = {
    .cls = {.name = "spline",
            .summary = "a periodic spline of order q, for rates of convergence",
            .cite = "",
            .options = spline_options,
            .details = "With the kernel of order 1/gamma the source condition r holds for "
                       "q = r/gamma + 1/2. Odd and fractional orders are summed as a series of "
                       "4000 terms per row."},
    .d = 1,
    .d_min = 1,
    .d_max = 1,
    .noise = 0.1,
    .row = spline_row};

/* ---- classification ----------------------------------------------------- */

static void spiral_row(uint64_t seed, int64_t i, int64_t d, double noise,
                       const krein_values *options, float *x, double *y) {
    (void)d;
    const int64_t label = draw_class(seed, i, 2);
    const double r = sqrt(uniform(seed, i, 0));
    const double phi = 2 * pi * options->number[0] * r + pi * (double)label;
    x[0] = (float)(r * cos(phi) + gauss(seed, i, 0, noise));
    x[1] = (float)(r * sin(phi) + gauss(seed, i, 1, noise));
    *y = (double)label;
}

static const krein_option spiral_options[] = {{.name = "turns",
                                               .type = KREIN_OPTION_NUMBER,
                                               .value = 2,
                                               .low = 0,
                                               .high = 1000,
                                               .low_open = true,
                                               .help = "turns of each arm"},
                                              {.name = NULL}};

const krein_generator_class krein__generator_spiral = {
    .cls = {.name = "spiral",
            .summary = "two classes on two spirals wound into each other",
            .cite = "",
            .options = spiral_options},
    .classification = true,
    .d = 2,
    .d_min = 2,
    .d_max = 2,
    .noise = 0.03,
    .row = spiral_row};

static void checkerboard_row(uint64_t seed, int64_t i, int64_t d, double noise,
                             const krein_values *options, float *x, double *y) {
    int64_t sum = 0;
    for (int64_t j = 0; j < d; j++) {
        x[j] = (float)uniform(seed, i, j);
        sum += (int64_t)floor(options->number[0] * (double)x[j]);
        if (noise > 0) x[j] = (float)((double)x[j] + gauss(seed, i, j, noise));
    }
    *y = (double)(sum % 2);
}

static const krein_option checkerboard_options[] = {{.name = "cells",
                                                     .type = KREIN_OPTION_INTEGER,
                                                     .value = 4,
                                                     .low = 2,
                                                     .high = 100000,
                                                     .help = "fields along each side"},
                                                    {.name = NULL}};

const krein_generator_class krein__generator_checkerboard = {
    .cls = {.name = "checkerboard",
            .summary = "two classes on the fields of a board",
            .cite = "",
            .options = checkerboard_options,
            .details = "The noise moves the points after their field has been looked up."},
    .classification = true,
    .d = 2,
    .d_min = 2,
    .d_max = 2,
    .noise = 0,
    .row = checkerboard_row};

static void moons_row(uint64_t seed, int64_t i, int64_t d, double noise,
                      const krein_values *options, float *x, double *y) {
    (void)d, (void)options;
    const int64_t label = draw_class(seed, i, 2);
    const double a = pi * uniform(seed, i, 0), c = cos(a), s = sin(a);
    x[0] = (float)((label ? 1 - c : c) + gauss(seed, i, 0, noise));
    x[1] = (float)((label ? 0.5 - s : s) + gauss(seed, i, 1, noise));
    *y = (double)label;
}

const krein_generator_class krein__generator_moons = {
    .cls = {.name = "moons", .summary = "two classes on two half circles", .cite = ""},
    .classification = true,
    .d = 2,
    .d_min = 2,
    .d_max = 2,
    .noise = 0.1,
    .row = moons_row};

static void blobs_row(uint64_t seed, int64_t i, int64_t d, double noise,
                      const krein_values *options, float *x, double *y) {
    const int64_t label = draw_class(seed, i, (int64_t)options->number[0]);
    const krein_rng centres = stream(CENTRE_SEED, CENTRE);
    for (int64_t j = 0; j < d; j++) {
        const double centre = krein__rng_normal(centres, (uint64_t)label, (uint64_t)j);
        x[j] = (float)(options->number[1] * centre + gauss(seed, i, j, noise));
    }
    *y = (double)label;
}

static const krein_option blobs_options[] = {{.name = "classes",
                                              .type = KREIN_OPTION_INTEGER,
                                              .value = 3,
                                              .low = 2,
                                              .high = 1000,
                                              .help = "number of classes"},
                                             {.name = "separation",
                                              .type = KREIN_OPTION_NUMBER,
                                              .value = 3,
                                              .low = 0,
                                              .high = 1e6,
                                              .help = "standard deviation of the centres"},
                                             {.name = NULL}};

const krein_generator_class krein__generator_blobs = {
    .cls = {.name = "blobs",
            .summary = "classes that are Gaussian clouds",
            .cite = "",
            .options = blobs_options},
    .classification = true,
    .d = 2,
    .d_min = 1,
    .d_max = 100000,
    .noise = 1,
    .row = blobs_row};

/* ---- several labels a row ------------------------------------------------ */

static void multilabel_row(uint64_t seed, int64_t i, int64_t d, double noise,
                           const krein_values *options, float *x, double *y) {
    const int64_t labels = (int64_t)options->number[0];
    for (int64_t j = 0; j < d; j++)
        x[j] = (float)krein__rng_normal(stream(seed, INPUT), (uint64_t)i, (uint64_t)j);
    *y = 0;
    for (int64_t c = 0; c < labels; c++) {
        double sum = 0, square = 0;
        for (int64_t j = 0; j < d; j++) {
            const double a =
                krein__rng_normal(stream(CENTRE_SEED, DIRECTION), (uint64_t)c, (uint64_t)j);
            sum += a * (double)x[j];
            square += a * a;
        }
        const double rare = 0.7 + 0.9 * (double)c / (double)(labels > 1 ? labels - 1 : 1);
        if (fabs(sum / sqrt(square) + gauss(seed, i, c, noise)) > rare) *y += ldexp(1, (int)c);
    }
}

static const krein_option multilabel_options[] = {{.name = "labels",
                                                   .type = KREIN_OPTION_INTEGER,
                                                   .value = 6,
                                                   .low = 1,
                                                   .high = 52,
                                                   .help = "number of labels"},
                                                  {.name = NULL}};

const krein_generator_class krein__generator_multilabel = {
    .cls = {.name = "multilabel",
            .summary = "several labels a row, or none: where a direction of the inputs is far out",
            .cite = "",
            .options = multilabel_options,
            .details =
                "For `task=multilabel`. The labels are the numbers from 1, | between them in "
                "CSV and commas in LIBSVM; about half of the rows have the first, a tenth "
                "the last. The noise is the standard deviation added before the comparison."},
    .labels = true,
    .d = 5,
    .d_min = 1,
    .d_max = 10000,
    .noise = 0.1,
    .row = multilabel_row};
