/* lp -- weights of bounded p-norm, learned with ridge regression on the sum (kloft2011, and
 * cortes2009 for ridge regression)
 *
 *     min over theta >= 0, |theta|_p <= r, f_m in H_m, b:
 *         sum_i w_i (y_i - b - sum_m f_m(x_i))^2 + W lambda sum_m |f_m|^2 / theta_m
 *
 * The squared loss whatever the learner that is trained on the sum afterwards. |f|^2 / theta is
 * convex in both, so the problem is. For given theta the f_m = theta_m sum_i alpha_i k_m(., x_i)
 * are those of ridge regression with K_theta = sum theta_m K_m, and what is left is W lambda
 * F(theta), F = y'(K_theta + W lambda I)^-1 y (centred; summed over outputs), convex and falling in
 * theta, with -dF/dtheta_m = g_m = alpha'K_m alpha (ridge_sum.h). For given f_m the best weights
 * are
 *     theta_m ~ |f_m|^(2/(p+1)),   |f_m|^2 = theta_m^2 g_m.                                    (1)
 * Taking turns (kloft2011) never raises the objective, and a limit with all theta_m > 0 on the way
 * is a minimum, since the problem is convex and each half has one solution; but it takes some ten
 * to a hundred factorisations (near the end an error shrinks by 2/(p+1) a turn at worst, and not at
 * all for p = 1). With the curvature H of F, which costs little beside a factorisation, a handful
 * does:
 *
 *  p > 1  The conditions of the minimum, log g_m - (p-1) log theta_m the same for all kernels, are
 *         solved by Newton steps in t = log theta,
 *             (Theta H Theta + (p-1) diag(theta g)) dt = theta g (log g - (p-1) t - c),
 *         Theta = diag(theta), c such that sum theta^p dt = 0; a positive matrix, that of a Newton
 *         step of F in t at the minimum. Entries of dt are at most 4, down from small theta 20.
 *  p = 1  The minimum over the simplex of F to second order, by non-negative least squares; an
 *         augmented term holds sum theta = r. p below 1.01 counts as 1.
 *
 * A step that raises F is taken back and tried again at a quarter of its length; where even short
 * ones raise it, (1) is taken. So F falls from step to step as it does for (1) alone. Weights below
 * 1e-4 of the largest count as 0 in the end.
 *
 * F is convex, so its distance to the minimum is at most r |g|_q - g'theta, 1/p + 1/q = 1. The
 * search ends where that is 1e-13 of g'theta, or weights no longer change.
 *
 * r = M^(1/p - 1): equal weights 1/M are on the boundary, so that lambda, chosen for the mean of
 * the kernels, means the same for every p. (The textbook's r = 1 is another lambda.) p = 1 leaves
 * kernels out, p -> infinity is the average.
 *
 * Cost: 4 to 10 factorisations, some more for p near 1, of n x n, or of D x D after one pass over
 * the rows. */
#include "combine/lp.h"

#include "combine/combine.h"
#include "num/blas.h"
#include "num/nnls.h"

#include <math.h>
#include <string.h>

enum { STEPS = 100 };
static const double NEAR = 1e-13;  /* distance to the minimum, as part of g'theta */
static const double STILL = 1e-10; /* largest change of a weight, as part of the largest */
static const double NONE = 1e-4;
static const double JUMP = 4, SHORT = .05;
static const double SMALL = 1e-3;  /* of the largest: may fall faster */
static const double LEAST = 1.01;  /* p below counts as 1 */
static const double NEARBY = 1e-8; /* part of H_mm that keeps kernels that are the same together */
static const double PENALTY = 100; /* of a sum other than r, as part of the largest slope */

/* A point and what is known there. */
typedef struct point {
    double *theta, *g, *H; /* M, M, M x M */
    double F;
} point;

typedef struct search {
    krein_ctx *ctx;
    krein_ridge_sum *ridge;
    int64_t M;
    double p, r;
    double jump;         /* the largest entry of a step */
    const double *scale; /* or NULL */
    point now, next;
    double *Q, *x, *beta, *unit; /* M x M, M x 2, M, M */
} search;

static double scale_of(const search *s, int64_t m) { return s->scale ? s->scale[m] : 1; }

/* F and its derivatives at the point's theta. */
static krein_status look(search *s, point *a) {
    krein_status st = KREIN_OK;
    int64_t M = s->M;
    for (int64_t m = 0; m < M; m++) s->beta[m] = a->theta[m] * scale_of(s, m);
    TRY(krein__ridge_sum_at(s->ridge, s->beta, &a->F, a->g, a->H));
    for (int64_t m = 0; m < M; m++) {
        a->g[m] = fmax(0, a->g[m]) * scale_of(s, m); /* rounding */
        for (int64_t l = 0; l < M; l++) a->H[m * M + l] *= scale_of(s, m) * scale_of(s, l);
    }
    TRY(krein__poll(s->ctx));
done:
    return st;
}

double krein__lp_norm(int64_t M, const double *v, double q) {
    double most = 0, sum = 0;
    for (int64_t m = 0; m < M; m++) most = fmax(most, v[m]);
    if (!(most > 0) || isinf(q)) return most;
    for (int64_t m = 0; m < M; m++) sum += pow(v[m] / most, q);
    return most * pow(sum, 1 / q);
}

double krein__lp_dual(double p) { return p > 1 ? p / (p - 1) : INFINITY; }

double krein__lp_exponent(double p) { return p < LEAST ? 1 : p; }

double krein__lp_radius(int64_t M, double p) { return pow((double)M, 1 / p - 1); }

void krein__lp_onto(int64_t M, double p, double *theta) {
    double size = krein__lp_norm(M, theta, p), least = p == 1 ? 1e-16 : 1e-100;
    double r = krein__lp_radius(M, p);
    for (int64_t m = 0; m < M; m++) theta[m] = fmax(theta[m] * r / size, least);
}

void krein__lp_cut(int64_t M, const double *theta, double *mu) {
    double most = krein__lp_norm(M, theta, INFINITY);
    for (int64_t m = 0; m < M; m++) mu[m] = theta[m] >= NONE * most ? theta[m] : 0;
}

static void to_boundary(const search *s, double *theta) { krein__lp_onto(s->M, s->p, theta); }

/* (1) */
static void closed_form(const search *s, const point *a, double *theta) {
    for (int64_t m = 0; m < s->M; m++)
        theta[m] = pow(a->theta[m] * a->theta[m] * a->g[m], 1 / (s->p + 1));
    to_boundary(s, theta);
}

/* False where rounding leaves no factor. */
static bool newton(search *s, const point *a, double *theta) {
    int64_t M = s->M;
    double most = krein__lp_norm(M, a->g, INFINITY),
           largest = krein__lp_norm(M, a->theta, INFINITY);
    double top = 0, bottom = 0;
    for (int64_t m = 0; m < M; m++) {
        double g = fmax(a->g[m], 1e-30 * most), part = a->theta[m] * g;
        for (int64_t l = 0; l < M; l++)
            s->Q[m * M + l] = a->theta[m] * a->H[m * M + l] * a->theta[l];
        s->Q[m * M + m] += (s->p - 1) * part;
        s->x[2 * m] = part * (log(g) - (s->p - 1) * log(a->theta[m]));
        s->x[2 * m + 1] = part;
    }
    if (krein__dpotrf(M, s->Q, M) != 0) return false;
    krein__dtrsm(true, M, 2, s->Q, M, s->x, 2);
    krein__dtrsm(false, M, 2, s->Q, M, s->x, 2);
    for (int64_t m = 0; m < M; m++) {
        double share = pow(a->theta[m] / s->r, s->p);
        top += share * s->x[2 * m];
        bottom += share * s->x[2 * m + 1];
    }
    if (!(bottom > 0)) return false;
    for (int64_t m = 0; m < M; m++) {
        double dt = s->x[2 * m] - top / bottom * s->x[2 * m + 1];
        double down = a->theta[m] < SMALL * largest ? 5 * s->jump : s->jump;
        if (isnan(dt)) return false;
        theta[m] = a->theta[m] * exp(fmin(s->jump, fmax(-down, dt)));
    }
    to_boundary(s, theta);
    return true;
}

/* p = 1: the minimum over the simplex of F to second order; a part of the way, where the whole way
 * was too far. In units of 1 / sqrt H_mm; sum theta = r by a penalty, and then exactly. */
static krein_status to_vertex(search *s, const point *a, double *theta, bool *found) {
    krein_ctx *ctx = s->ctx;
    int64_t M = s->M;
    double most = krein__lp_norm(M, a->g, INFINITY), size = 0;
    *found = false;
    for (int64_t m = 0; m < M; m++) {
        double h = a->H[m * M + m];
        s->unit[m] = h > 0 ? 1 / sqrt(h) : 0;
        size = fmax(size, s->unit[m]);
    }
    if (!(size > 0)) return KREIN_OK;
    for (int64_t m = 0; m < M; m++)
        if (!(s->unit[m] > 0)) s->unit[m] = size;
    double penalty = PENALTY * most / s->r, level = 0; /* of g where theta > 0, in the end */
    for (int64_t m = 0; m < M; m++) level += a->g[m] * a->theta[m] / s->r;
    for (int64_t m = 0; m < M; m++) {
        double sum = a->g[m] - level + penalty * s->r;
        for (int64_t l = 0; l < M; l++) {
            sum += a->H[m * M + l] * a->theta[l];
            s->Q[m * M + l] = s->unit[m] * s->unit[l] * (a->H[m * M + l] + penalty);
        }
        s->Q[m * M + m] += NEARBY;
        s->x[m] = s->unit[m] * sum + NEARBY * a->theta[m] / s->unit[m];
    }
    krein_status st = krein__nnls_form(ctx, M, s->Q, s->x, theta);
    if (st == KREIN_ENUMERIC) return KREIN_OK;
    if (st != KREIN_OK) return st;
    for (int64_t m = 0; m < M; m++) theta[m] *= s->unit[m];
    if (!(krein__lp_norm(M, theta, INFINITY) > 0)) return KREIN_OK;
    to_boundary(s, theta);
    for (int64_t m = 0; m < M; m++)
        theta[m] = a->theta[m] + s->jump / JUMP * (theta[m] - a->theta[m]);
    to_boundary(s, theta);
    *found = true;
    return KREIN_OK;
}

/* Not above F by more than its rounding. */
static bool lower(const search *s, const point *to, const point *from) {
    return to->F <= from->F + 1e-14 * krein__ridge_sum_zero(s->ridge);
}

static double gap(const search *s, const point *a, double *scale) {
    *scale = 0;
    for (int64_t m = 0; m < s->M; m++) *scale += a->g[m] * a->theta[m];
    return s->r * krein__lp_norm(s->M, a->g, krein__lp_dual(s->p)) - *scale;
}

static double change(const search *s) {
    double most = 0;
    for (int64_t m = 0; m < s->M; m++) most = fmax(most, fabs(s->next.theta[m] - s->now.theta[m]));
    return most / krein__lp_norm(s->M, s->now.theta, INFINITY);
}

static krein_status minimise(search *s) {
    krein_status st = KREIN_OK;
    double scale, distance = 0;
    int64_t steps = 1;
    for (int64_t m = 0; m < s->M; m++) s->now.theta[m] = 1 / (double)s->M;
    TRY(look(s, &s->now));
    for (; steps < STEPS; steps++) {
        distance = gap(s, &s->now, &scale);
        if (distance <= NEAR * scale) break;
        bool quick = s->jump >= SHORT;
        if (quick && s->p > 1) quick = newton(s, &s->now, s->next.theta);
        if (quick && s->p == 1) TRY(to_vertex(s, &s->now, s->next.theta, &quick));
        if (!quick) closed_form(s, &s->now, s->next.theta);
        TRY(look(s, &s->next));
        bool fell = lower(s, &s->next, &s->now);
        if (!fell && !quick) break; /* rounding */
        s->jump = !quick ? 10 * SHORT : fell ? fmin(JUMP, 2 * s->jump) : s->jump / 4;
        if (!fell) continue;
        bool still = change(s) <= STILL;
        point t = s->now;
        s->now = s->next;
        s->next = t;
        krein__progress(s->ctx, "weighing kernels", (double)steps, (double)STEPS);
        if (still) break;
    }
    krein__log(s->ctx, KREIN_LOG_DEBUG,
               "weights after %lld factorisations, within %.2g of F = %.6g", (long long)steps,
               distance, s->now.F);
done:
    return st;
}

static krein_status make_point(krein_ctx *ctx, int64_t M, point *a) {
    krein_status st = KREIN_OK;
    NEW(a->theta, M);
    NEW(a->g, M);
    NEW(a->H, M * M);
done:
    return st;
}

static void end_point(krein_ctx *ctx, point *a) {
    krein__free(ctx, a->theta);
    krein__free(ctx, a->g);
    krein__free(ctx, a->H);
}

krein_status krein__lp_weights(krein_bank *b, double p, const double *scale, double *theta) {
    krein_ctx *ctx = b->ctx;
    krein_status st = KREIN_OK;
    double lambda;
    p = krein__lp_exponent(p);
    search s = {.ctx = ctx,
                .M = b->M,
                .p = p,
                .r = krein__lp_radius(b->M, p),
                .jump = JUMP,
                .scale = scale};
    NEW(s.Q, b->M * b->M);
    NEW(s.x, 2 * b->M);
    NEW(s.beta, b->M);
    NEW(s.unit, b->M);
    TRY(make_point(ctx, b->M, &s.now));
    TRY(make_point(ctx, b->M, &s.next));
    TRY(krein__bank_lambda(b, &lambda));
    TRY(krein__ridge_sum_begin(b, lambda, &s.ridge));
    TRY(minimise(&s));
    krein__lp_cut(b->M, s.now.theta, theta);
done:
    krein__ridge_sum_end(s.ridge);
    end_point(ctx, &s.now);
    end_point(ctx, &s.next);
    krein__free(ctx, s.Q);
    krein__free(ctx, s.x);
    krein__free(ctx, s.beta);
    krein__free(ctx, s.unit);
    return st;
}

enum { P = KREIN_WEIGHING_OWN };

static krein_status find(krein_bank *b, const krein_values *v, double *mu) {
    return krein__lp_weights(b, v->number[P], NULL, mu);
}

/* ridge_sum.c, and the lambda for it. */
void krein__lp_cost(const krein_bank_size *s, krein_cost *out) {
    enum { USUAL = 8 }; /* factorisations */
    double D = s->side, k = (double)s->k;
    out->bytes +=
        16 * D * (double)s->M * k + 8 * D * (D + 4 * k + 4) + krein__bank_sample_bytes(s, 1);
    out->flops +=
        krein__bank_cross_flops(s) + USUAL * (D * D * D / 3 + 2 * D * D * (double)s->M * k);
}

static const krein_option options[] = {KREIN_WEIGHING_OPTIONS, KREIN_OPTION_P, {0}};

const krein_weighing_class krein__weigh_lp = {
    .cls = {"lp", "ridge regression with a p-norm of the weights", "kloft2011", options, NULL},
    .tasks = KREIN_FOR_NUMBERS | KREIN_FOR_CLASSES,
    .row_weights = true,
    .find = find,
    .cost = krein__lp_cost};
