/* smoother.c -- generalised cross-validation and evidence of ridge regression from eigenvalues
 *
 * With K = sum_j s_j v_j v_j', shift = W lambda (W = n without weights), t_j = shift / (s_j +
 * shift) and q_j = (v_j'y)^2, ridge regression f = Hy leaves y - f = sum_j t_j (v_j'y) v_j and n -
 * tr H = sum_j t_j, an intercept being one degree of freedom of H. Then (craven1979)
 *     gcv = (1/W) sum_j q_j t_j^2 / ((1/n) sum_j t_j)^2,
 * leave-one-out with every leverage replaced by their mean. The mean over k outputs.
 *
 * The evidence of the Gaussian process y ~ N(0, s2 C), C = K + shift I (rasmussen2006, 5.4.1):
 *     log p = -1/2 (N k log(2 pi s2) + k log det C + form / s2),   form = sum_j q_j / (s_j + shift)
 * with s2 = 1, or profiled: its best value, form / (N k), one for all outputs. With an intercept,
 * of which nothing is known before, N = n - 1 and the direction of the ones is left out of all sums
 * (the restricted likelihood). With weights w the noise of a row is s2 shift / w_i, and p is the
 * density of sqrt(w_i) y_i. Outputs are independent.
 *
 * Where m < N eigenvalues are given the others are zero: t = 1, and their share of |y|^2 is what
 * the q_j leave. Negative eigenvalues as small as rounding makes them count as zero; with larger
 * ones gcv takes 1 / (s + shift) away from its pole, as the solver does, and the evidence is zero
 * where C is not positive definite. Cost: m operations a lambda.
 */
#include "solve/smoother.h"

#include "num/spectrum.h"

#include <float.h>
#include <math.h>

double krein__pole_inverse(double s, double shift) {
    double sum = s + shift;
    return fabs(sum) > 1e-3 * shift ? 1 / sum : 1 / (1e-3 * shift);
}

static double noise(const krein_smoother *a) {
    return a->m > 0 ? krein__spectrum_noise(a->m, a->s) : 0;
}

static double eigenvalue(const krein_smoother *a, int64_t j, double least) {
    return a->s[j] < 0 && a->s[j] >= -least ? 0 : a->s[j];
}

/* Eigenvalues that are zero and not given; fewer than none where too many are. */
static int64_t zeros(const krein_smoother *a) { return a->n - a->free - a->m; }

/* |y|^2 in their directions. */
static double remainder_of(const krein_smoother *a) {
    double sum = 0;
    for (int64_t j = 0; j < a->m; j++) sum += a->q[j];
    double rest = a->square - sum;
    return zeros(a) > 0 && rest > (double)a->n * DBL_EPSILON * a->square ? rest : 0;
}

/* residual: sum of w (y - f)^2 over rows and outputs; left: n - tr H. */
static double gcv_of(int64_t n, int64_t k, double weight, double residual, double left) {
    double share = left / (double)n;
    return share > 0 ? residual / (weight * (double)k) / (share * share) : INFINITY;
}

double krein__gcv(const krein_smoother *a, double lambda) {
    double shift = a->weight * lambda, least = noise(a);
    double residual = remainder_of(a), left = (double)zeros(a);
    for (int64_t j = 0; j < a->m; j++) {
        double t = shift * krein__pole_inverse(eigenvalue(a, j, least), shift);
        residual += a->q[j] * t * t;
        left += t;
    }
    return gcv_of(a->n, a->k, a->weight, residual, left);
}

/* N: dimensions of y, n less the free ones; form: sum over outputs of y'C^-1 y. */
static double evidence_of(int64_t N, int64_t k, double form, double log_det, bool profile) {
    const double two_pi = 6.283185307179586;
    double count = (double)N * (double)k, s2 = profile ? form / count : 1;
    return -.5 * (count * log(two_pi * s2) + (double)k * log_det + (profile ? count : form));
}

double krein__evidence(const krein_smoother *a, double lambda, bool profile) {
    double shift = a->weight * lambda, least = noise(a), rest = remainder_of(a);
    double form = rest > 0 ? rest / shift : 0;
    double log_det = zeros(a) != 0 ? (double)zeros(a) * log(shift) : 0;
    for (int64_t j = 0; j < a->m; j++) {
        double value = eigenvalue(a, j, least) + shift;
        if (!(value > 0)) return -INFINITY;
        form += a->q[j] / value;
        log_det += log(value);
    }
    if (zeros(a) > 0 && !(shift > 0)) return -INFINITY;
    return evidence_of(a->n - a->free, a->k, form, log_det, profile);
}

static void grid(const krein_smoother *a, krein_path *p) {
    double top = 1e-30;
    for (int64_t j = 0; j < a->m; j++) top = fmax(top, fabs(a->s[j]));
    if (p->n == 0) krein__path_grid(p, top / a->weight * 1e-11, top / a->weight * 10, 4);
}

void krein__gcv_path(const krein_smoother *a, krein_path *p) {
    grid(a, p);
    for (int64_t l = 0; l < p->n; l++) {
        p->loss[l] = krein__gcv(a, p->lambda[l]);
        p->error[l] = NAN;
    }
    krein__path_choose(p);
}

void krein__evidence_path(const krein_smoother *a, bool profile, krein_path *p) {
    grid(a, p);
    for (int64_t l = 0; l < p->n; l++) {
        p->loss[l] = -krein__evidence(a, p->lambda[l], profile);
        p->error[l] = NAN;
    }
    krein__path_choose(p);
}
