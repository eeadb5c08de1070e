/* losses.c -- the losses of a row with scores f
 *     square    sum_c (f_c - y_c)^2
 *     logistic  sum_c log(1 + exp(-y_c f_c)),  y_c = -1 or +1
 *     softmax   -log(exp f_y / sum_c exp f_c); one score of two classes: logistic
 *     hinge     max(0, 1 + max_{c != y} f_c - f_y); one score: max(0, 1 - y f)   (crammer2001)
 *     hinge2    its square
 * Each with its second derivative times a vector r of scores.
 * A class is y; where the hinge has a corner its gradient is 0. Everything of a row in float64. */
#include "net/loss.h"

#include <math.h>
#include <string.h>

const krein_class *const krein__losses[] = {
#define LOSS(name) &name.cls,
#include "net/losses.def"
#undef LOSS
};
const int64_t krein__loss_count = KREIN__COUNT(krein__losses);

double krein__loss_rows(const krein_loss_class *loss, int64_t n, int64_t k, const float *f,
                        const krein_aims *aims, double scale, float *g) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        double w = aims->weight ? (double)aims->weight[i] : 1;
        if (w == 0) {
            memset(g + i * k, 0, (size_t)k * sizeof *g);
            continue;
        }
        sum += w * loss->row(k, f + i * k, aims->y + i * k, aims->class ? aims->class[i] : 0,
                             g + i * k);
        for (int64_t c = 0; c < k; c++) g[i * k + c] = (float)(scale * w * (double)g[i * k + c]);
    }
    return sum;
}

void krein__loss_r_rows(const krein_loss_class *loss, int64_t n, int64_t k, const float *f,
                        const krein_aims *aims, double scale, const float *r, float *h) {
    for (int64_t i = 0; i < n; i++, f += k, r += k, h += k) {
        double w = aims->weight ? (double)aims->weight[i] : 1;
        if (w == 0) {
            memset(h, 0, (size_t)k * sizeof *h);
            continue;
        }
        loss->r_row(k, f, aims->y + i * k, aims->class ? aims->class[i] : 0, r, h);
        for (int64_t c = 0; c < k; c++) h[c] = (float)(scale * w * (double)h[c]);
    }
}

static double square(int64_t k, const float *f, const float *y, int32_t class, float *g) {
    double sum = 0;
    (void)class;
    for (int64_t c = 0; c < k; c++) {
        double r = (double)f[c] - (double)y[c];
        sum += r * r;
        g[c] = (float)(2 * r);
    }
    return sum;
}

static void r_square(int64_t k, const float *f, const float *y, int32_t class, const float *r,
                     float *h) {
    (void)f, (void)y, (void)class;
    for (int64_t c = 0; c < k; c++) h[c] = 2 * r[c];
}

static double logistic(int64_t k, const float *f, const float *y, int32_t class, float *g) {
    double sum = 0;
    (void)class;
    for (int64_t c = 0; c < k; c++) {
        double m = (double)y[c] * (double)f[c], e = exp(-fabs(m)), s = 1 / (1 + e);
        sum += log1p(e) + fmax(-m, 0);
        g[c] = (float)(-(double)y[c] * (m > 0 ? e * s : s));
    }
    return sum;
}

static void r_logistic(int64_t k, const float *f, const float *y, int32_t class, const float *r,
                       float *h) {
    (void)y, (void)class;
    for (int64_t c = 0; c < k; c++) {
        double e = exp(-fabs((double)f[c])), s = 1 / (1 + e);
        h[c] = (float)(e * s * s * (double)r[c]);
    }
}

static double softmax(int64_t k, const float *f, const float *y, int32_t class, float *g) {
    if (k == 1) return logistic(k, f, y, class, g);
    double top = (double)f[0], sum = 0;
    for (int64_t c = 1; c < k; c++) top = fmax(top, (double)f[c]);
    for (int64_t c = 0; c < k; c++) sum += exp((double)f[c] - top);
    for (int64_t c = 0; c < k; c++)
        g[c] = (float)(exp((double)f[c] - top) / sum - (c == class ? 1 : 0));
    return log(sum) + top - (double)f[class];
}

/* p_c (r_c - sum_d p_d r_d) */
static void r_softmax(int64_t k, const float *f, const float *y, int32_t class, const float *r,
                      float *h) {
    if (k == 1) {
        r_logistic(k, f, y, class, r, h);
        return;
    }
    double top = (double)f[0], sum = 0, mean = 0;
    for (int64_t c = 1; c < k; c++) top = fmax(top, (double)f[c]);
    for (int64_t c = 0; c < k; c++) {
        double e = exp((double)f[c] - top);
        sum += e;
        mean += e * (double)r[c];
    }
    for (int64_t c = 0; c < k; c++)
        h[c] = (float)(exp((double)f[c] - top) / sum * ((double)r[c] - mean / sum));
}

/* 1 - margin, at least 0; *rival: the class that comes next, -1 where there is one score. */
static double slack(int64_t k, const float *f, const float *y, int32_t class, int64_t *rival) {
    *rival = -1;
    if (k == 1) return fmax(0, 1 - (double)y[0] * (double)f[0]);
    for (int64_t c = 0; c < k; c++)
        if (c != class && (*rival < 0 || f[c] > f[*rival])) *rival = c;
    return fmax(0, 1 + (double)f[*rival] - (double)f[class]);
}

/* slope: derivative of the loss by the slack. */
static void push(int64_t k, const float *y, int32_t class, int64_t rival, double slope, float *g) {
    memset(g, 0, (size_t)k * sizeof *g);
    if (rival < 0) {
        g[0] = (float)(-slope * (double)y[0]);
        return;
    }
    g[rival] = (float)slope;
    g[class] = (float)-slope;
}

/* fmax has no NaN: scores that are none must not pass for a loss of 0. */
static bool broken(int64_t k, const float *f) {
    for (int64_t c = 0; c < k; c++)
        if (!isfinite(f[c])) return true;
    return false;
}

static double hinge(int64_t k, const float *f, const float *y, int32_t class, float *g) {
    int64_t rival;
    double s = slack(k, f, y, class, &rival);
    push(k, y, class, rival, s > 0, g);
    return broken(k, f) ? NAN : s;
}

static double hinge2(int64_t k, const float *f, const float *y, int32_t class, float *g) {
    int64_t rival;
    double s = slack(k, f, y, class, &rival);
    push(k, y, class, rival, 2 * s, g);
    return broken(k, f) ? NAN : s * s;
}

/* Piecewise linear. */
static void r_hinge(int64_t k, const float *f, const float *y, int32_t class, const float *r,
                    float *h) {
    (void)f, (void)y, (void)class, (void)r;
    memset(h, 0, (size_t)k * sizeof *h);
}

static void r_hinge2(int64_t k, const float *f, const float *y, int32_t class, const float *r,
                     float *h) {
    int64_t rival;
    double s = slack(k, f, y, class, &rival);
    double along = rival < 0 ? -(double)y[0] * (double)r[0] : (double)r[rival] - (double)r[class];
    push(k, y, class, rival, s > 0 ? 2 * along : 0, h);
}

const krein_loss_class krein__loss_square = {.cls = {"square", "squared error", "", NULL, NULL},
                                             .numbers = true,
                                             .row = square,
                                             .r_row = r_square};
const krein_loss_class krein__loss_logistic = {
    .cls = {"logistic", "log loss of each score", "", NULL, NULL},
    .row = logistic,
    .r_row = r_logistic};
const krein_loss_class krein__loss_softmax = {
    .cls = {"softmax", "log loss of the class", "", NULL, NULL},
    .probabilities = true,
    .row = softmax,
    .r_row = r_softmax};
const krein_loss_class krein__loss_hinge = {
    .cls = {"hinge", "multi-class hinge", "crammer2001", NULL, NULL},
    .row = hinge,
    .r_row = r_hinge};
const krein_loss_class krein__loss_hinge2 = {
    .cls = {"hinge2", "squared multi-class hinge", "crammer2001", NULL, NULL},
    .row = hinge2,
    .r_row = r_hinge2};
