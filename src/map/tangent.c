/* tangent.c -- random features of ntk(depth, bias, scale)
 *
 *     Psi = Phi = [scale x, bias];  depth times, with weights of their own in every layer:
 *     A    = sqrt(2/m0) step(W0 Psi)              E <A, A> = J_0 / pi
 *     Psi' = [sqrt(2/m1) ramp(W1 Psi), bias]      E <Psi', Psi'> = |Psi| |Psi| J_1 / pi + bias^2
 *     Phi' = [Psi', A (x) Phi]                    or a sketch of A (x) Phi
 *
 * which is S, T of kernel/ntk.c with means in place of S' and of the product T J_0: z = Phi of the
 * last layer. W0, W1 have as many inputs as Psi has entries: d, then m1 (papers print m for both,
 * and sketch Psi instead of Phi, which makes another kernel).                (jacot2018,
 * zandieh2021)
 *
 * One layer is unbiased: its Psi and Phi are not random. Deeper ones are not, since J_0 and J_1 are
 * curved and their argument <Psi, Psi> is an estimate: the bias falls like 1/m1, the standard
 * deviation like its root.
 *
 * Terms of a sum are networks of their own with a share of D each.
 */
#include "map/tangent.h"

#include "kernel/arc.h"
#include "map/tile.h"
#include "num/countsketch.h"
#include "num/fft.h"

#include <math.h>
#include <string.h>

typedef struct layer {
    krein_units step, ramp;
    krein_countsketch left, right; /* of A and of Phi, with mcs */
} layer;

typedef struct network {
    krein_tangent_plan plan;
    layer *layers;
    krein_fft *fft;
    float factor; /* sqrt |coefficient| */
} network;

typedef struct tangent {
    int64_t terms;
    int64_t first[KREIN_TERMS_MAX + 1]; /* features of term t */
    network net[KREIN_TERMS_MAX];
} tangent;

enum { STEP = 1, RAMP = 2, LEFT = 3, RIGHT = 4, ROLES = 8 };

/* ---- the plan ----------------------------------------------------------- */

int64_t krein__tangent_option(const krein_map *map, int64_t slot) {
    double value = map->values.number[slot];
    return isnan(value) ? 0 : (int64_t)value;
}

int64_t krein__tangent_width(const krein_tangent_plan *p, int64_t layers) {
    static const int64_t MOST = INT64_MAX / 4;
    int64_t width = p->in, own = p->m1 + p->constant;
    if (p->mcs > 0) return layers > 0 ? own + p->mcs : width;
    for (int64_t l = 0; l < layers; l++) {
        if (width >= (MOST - own) / p->m0) return MOST;
        width = own + p->m0 * width;
    }
    return width;
}

static bool plan_term(const krein_map *map, const krein_kernel *leaf, krein_tangent_plan_fn plan,
                      int64_t D, krein_tangent_plan *p) {
    const double *v = leaf->values.number;
    memset(p, 0, sizeof *p);
    p->depth = (int64_t)v[0];
    p->bias = v[1];
    p->scale = v[2];
    p->constant = p->bias > 0;
    p->in = map->d + p->constant;
    return plan(map, D, p);
}

/* Features that term t of n may have. */
static int64_t share(int64_t D, int64_t t, int64_t n) {
    return krein__units_first(D, t + 1, n) - krein__units_first(D, t, n);
}

int64_t krein__tangent_features(const krein_map *map, krein_tangent_plan_fn plan) {
    krein_term terms[KREIN_TERMS_MAX];
    krein_tangent_plan p;
    int64_t n, sum = 0;
    if (krein__kernel_terms(map->ctx, map->kernel, terms, &n) != KREIN_OK) return map->D;
    for (int64_t t = 0; t < n; t++) {
        if (!plan_term(map, terms[t].leaf[0], plan, share(map->D, t, n), &p)) return map->D;
        sum += krein__tangent_width(&p, p.depth);
    }
    return sum;
}

/* Entries of Psi before layer l. */
static int64_t inputs(const krein_tangent_plan *p, int64_t l) {
    return l == 0 ? p->in : p->m1 + p->constant;
}

/* Features between layers that are held at a time: two of them where there are two. */
static int64_t between(const krein_tangent_plan *p) {
    int64_t last = p->depth > 1 ? krein__tangent_width(p, p->depth - 1) : 0;
    return last + (p->depth > 2 ? krein__tangent_width(p, p->depth - 2) : 0);
}

/* Floats of scratch: tiles of x, of A and of the layers between; two sketches, or a row of x. */
static int64_t scratch_of(const krein_tangent_plan *p, bool sparse) {
    int64_t row = p->mcs > 0 ? 2 * p->mcs : p->in;
    return KREIN_TILE * ((sparse ? 0 : p->in) + p->m0 + between(p)) + row;
}

static void cost_term(const krein_tangent_plan *p, krein_cost *out, double *scratch) {
    double m0 = (double)p->m0, m1 = (double)p->m1, mcs = (double)p->mcs, none = 0;
    out->bytes += (double)p->depth * (double)sizeof(layer);
    for (int64_t l = 0; l < p->depth; l++) {
        double in = (double)inputs(p, l), phi = (double)krein__tangent_width(p, l);
        out->bytes += krein__units_bytes(in, m0 + m1, false, &none);
        out->fit_flops += krein__units_fit_flops(in, m0 + m1, false);
        out->flops += (2 * in + 2) * (m0 + m1);
        if (mcs > 0) {
            out->bytes += 8 * (m0 + phi) + 256;
            out->flops += 2 * (m0 + phi) + 3 * 2.5 * mcs * log2(mcs) + 4 * mcs;
        } else {
            out->flops += m0 * phi;
        }
    }
    if (mcs > 0) out->bytes += krein__fft_bytes(p->mcs);
    *scratch = fmax(*scratch, (double)scratch_of(p, false));
}

void krein__tangent_cost(const krein_map *map, krein_tangent_plan_fn plan, krein_cost *out) {
    krein_term terms[KREIN_TERMS_MAX];
    krein_tangent_plan p;
    int64_t n;
    double scratch = 0, D = (double)map->D;
    memset(out, 0, sizeof *out);
    if (krein__kernel_terms(map->ctx, map->kernel, terms, &n) != KREIN_OK) return;
    for (int64_t t = 0; t < n; t++)
        if (plan_term(map, terms[t].leaf[0], plan, share(map->D, t, n), &p))
            cost_term(&p, out, &scratch);
    out->bytes += D + (double)(sizeof(tangent) + sizeof terms) +
                  map->ctx->threads * 4 * (scratch + KREIN_TILE * D) + 32768;
}

/* ---- state -------------------------------------------------------------- */

static krein_rng stream(const krein_map *map, int64_t t, int64_t l, int role) {
    uint64_t own = (uint64_t)(ROLES * l + role);
    return krein__role((krein_rng){map->seed, KREIN_STREAM_MAP + (uint64_t)(16 * t)}, own);
}

/* The first layer sees [x, 1]: its weights and signs take the factors of [scale x, bias]. */
static void scale_units(const krein_tangent_plan *p, krein_units *u) {
    for (int64_t j = 0; j < u->in; j++) {
        float by = (float)(p->constant && j == u->in - 1 ? p->bias : p->scale);
        for (int64_t f = 0; f < u->m; f++) u->W[j * u->m + f] *= by;
    }
}
static void scale_signs(const krein_tangent_plan *p, krein_countsketch *c) {
    for (int64_t j = 0; j < c->in; j++)
        c->sign[j] *= (float)(p->constant && j == c->in - 1 ? p->bias : p->scale);
}

static krein_status fit_layer(krein_map *map, network *net, int64_t t, int64_t l) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    const krein_tangent_plan *p = &net->plan;
    layer *a = &net->layers[l];
    int64_t in = inputs(p, l), phi = krein__tangent_width(p, l);
    TRY(krein__units_create(ctx, stream(map, t, l, STEP), in, p->m0, false, &a->step));
    TRY(krein__units_create(ctx, stream(map, t, l, RAMP), in, p->m1, false, &a->ramp));
    if (l == 0) {
        scale_units(p, &a->step);
        scale_units(p, &a->ramp);
    }
    if (p->mcs == 0) goto done;
    TRY(krein__countsketch_create(ctx, stream(map, t, l, LEFT), p->m0, p->mcs, &a->left));
    TRY(krein__countsketch_create(ctx, stream(map, t, l, RIGHT), phi, p->mcs, &a->right));
    if (l == 0) scale_signs(p, &a->right);
done:
    return st;
}

static krein_status fit_term(krein_map *map, network *net, int64_t t) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    ZNEW(net->layers, net->plan.depth);
    for (int64_t l = 0; l < net->plan.depth; l++) TRY(fit_layer(map, net, t, l));
    if (net->plan.mcs > 0) TRY(krein__fft_create(ctx, net->plan.mcs, &net->fft));
done:
    return st;
}

/* Of a pair of standardised rows with an angle of 60 degrees, |khat - k| / k with the product
 * itself: a layer multiplies T by <A, A>, which has the mean p = J_0 / pi and the variance
 * (2 p - p^2) / m0, so that the relative variance grows by a factor of about 1 + (2/p - 1) / m0;
 * <Psi', Psi'> adds q^2 (2 J_2 / pi - (J_1 / pi)^2) / m1. Estimates of one layer in the angle of
 * the next are left out: it is an estimate for a warning, no bound. */
static double expected_error(const krein_tangent_plan *p) {
    static const double COSINE = 0.5;
    double bias = p->bias * p->bias, q = p->scale * p->scale * (double)(p->in - p->constant);
    double S = q * COSINE + bias, T = S, square = T * T; /* T and the mean of That^2 */
    q += bias;
    for (int64_t l = 0; l < p->depth; l++, q += bias) {
        double c = S / q, zero, one, two, again = c;
        krein__arc_pair64(1, &c, &zero, &one);
        krein__arc64(2, 1, &again, &two);
        S = q * one + bias;
        square = S * S + q * q * (2 * two - one * one) / (double)p->m1 + 2 * S * zero * T +
                 (zero * zero + (2 * zero - zero * zero) / (double)p->m0) * square;
        T = T * zero + S;
    }
    return sqrt(fmax(0, square / (T * T) - 1));
}

/* A product of layers needs m0^depth features, so that m0 is small where there are many. */
static void tell_error(const krein_map *map, const krein_tangent_plan *p) {
    static const double MOST = 0.5;
    double error = p->mcs > 0 ? 0 : expected_error(p);
    if (error < MOST) return;
    krein__log(map->ctx, KREIN_LOG_WARNING,
               "%s: %lld layers leave m0 = %lld steps to each with D = %lld, for a relative error "
               "of about %.1g; use `map=ntksketch`, whose error does not grow like that, or more "
               "features",
               map->cls->cls.name, (long long)p->depth, (long long)p->m0, (long long)map->D, error);
}

/* The plans of all terms, and where their features are. */
static krein_status plan_all(krein_map *map, tangent *s, const krein_term *terms,
                             krein_tangent_plan_fn plan) {
    map->scratch = 0;
    for (int64_t t = 0; t < s->terms; t++) {
        krein_tangent_plan *p = &s->net[t].plan;
        if (!plan_term(map, terms[t].leaf[0], plan, share(map->D, t, s->terms), p))
            return krein__fail(map->ctx, KREIN_ESPEC,
                               "%s needs at least %lld features on %lld columns with these widths "
                               "and this depth, got D = %lld; raise D%s",
                               map->cls->cls.name, (long long)(p->least * s->terms),
                               (long long)map->d, (long long)map->D,
                               p->mcs > 0 ? "" : ", or use ntksketch");
        s->first[t + 1] = s->first[t] + krein__tangent_width(p, p->depth);
        s->net[t].factor = (float)sqrt(fabs(terms[t].coefficient));
        tell_error(map, p);
        map->scratch = krein__max(map->scratch, scratch_of(p, map->sparse));
    }
    return KREIN_OK;
}

krein_status krein__tangent_fit(krein_map *map, krein_tangent_plan_fn plan) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_term *terms = NULL;
    tangent *s = NULL;
    NEW(terms, KREIN_TERMS_MAX);
    ZNEW(s, 1);
    map->state = s;
    TRY(krein__kernel_terms(ctx, map->kernel, terms, &s->terms));
    TRY(plan_all(map, s, terms, plan));
    for (int64_t t = 0; t < s->terms; t++) TRY(fit_term(map, &s->net[t], t));
    TRY(krein__units_signs(map, terms, s->terms, s->first));
    map->D = map->R = s->first[s->terms];
done:
    krein__free(ctx, terms);
    return st;
}

void krein__tangent_clear(krein_map *map) {
    krein_ctx *ctx = map->ctx;
    tangent *s = map->state;
    for (int64_t t = 0; t < s->terms; t++) {
        network *net = &s->net[t];
        for (int64_t l = 0; net->layers && l < net->plan.depth; l++) {
            krein__units_clear(ctx, &net->layers[l].step);
            krein__units_clear(ctx, &net->layers[l].ramp);
            krein__countsketch_clear(ctx, &net->layers[l].left);
            krein__countsketch_clear(ctx, &net->layers[l].right);
        }
        krein__free(ctx, net->layers);
        if (net->fft) krein__fft_destroy(ctx, net->fft);
    }
}

krein_status krein__tangent_accepts(krein_ctx *ctx, const krein_kernel *kernel, const char *name) {
    if (krein__is_ntk(kernel)) return KREIN_OK;
    return krein__map_refuse(ctx, kernel, name, "tangent kernels (ntk), their sums and factors");
}

/* ---- rows --------------------------------------------------------------- */

/* C(x) of a CSR row, with a 1 behind its last column where the sketch has one more input. */
static void count_sparse(const krein_countsketch *s, const krein_rows *rows, int64_t i,
                         int64_t length, float *c) {
    memset(c, 0, (size_t)length * sizeof *c);
    for (int64_t k = rows->ptr[i]; k < rows->ptr[i + 1]; k++)
        c[s->hash[rows->col[k]]] += s->sign[rows->col[k]] * rows->val[k];
    if (s->in > rows->d) c[s->hash[rows->d]] += s->sign[rows->d];
}

/* TensorSketch: the circular convolution of C(A) and C(Phi); b is a spare row. phi is NULL for row
 * i of `rows`. */
static void sketch(const network *net, const layer *a, const float *step, const float *phi,
                   const krein_rows *rows, int64_t i, float *b, float *out) {
    int64_t length = net->plan.mcs;
    float *c = b + length;
    krein__countsketch(&a->left, step, length, b);
    if (phi)
        krein__countsketch(&a->right, phi, length, c);
    else
        count_sparse(&a->right, rows, i, length, c);
    krein__fft_forward(net->fft, b, b);
    krein__fft_forward(net->fft, c, c);
    krein__fft_multiply(net->fft, b, c, b);
    krein__fft_inverse(net->fft, b, out);
}

/* [scale x, bias] of row i. */
static void first_phi(const krein_tangent_plan *p, const krein_rows *rows, int64_t i, float *phi) {
    krein__row_copy(rows, i, phi);
    for (int64_t j = 0; j < rows->d; j++) phi[j] *= (float)p->scale;
    if (p->constant) phi[rows->d] = (float)p->bias;
}

static void outer(int64_t m, const float *a, int64_t n, const float *phi, float *out) {
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) out[i * n + j] = a[i] * phi[j];
}

/* A tile on its way through the layers. */
typedef struct pass {
    const krein_rows *rows;
    const float *x; /* the padded tile, NULL for CSR rows */
    float *step;    /* KREIN_TILE x m0 */
    float *row;
    float *phi[2]; /* layers between, in turn */
} pass;

static void units(const network *net, int64_t l, const krein_units *u, int order, const pass *w,
                  const float *psi, int64_t ldpsi, float *out, int64_t ld) {
    float scale = (float)sqrt(2 / (double)u->m);
    if (l == 0 && !w->x) {
        krein__units_sparse(u, order, scale, w->rows, 0, u->m, out, ld);
        for (int64_t i = w->rows->n; i < KREIN_TILE; i++) /* what the next layer multiplies */
            memset(out + i * ld, 0, (size_t)u->m * sizeof *out);
        return;
    }
    krein__units_dense(u, order, scale, l == 0 ? w->x : psi, l == 0 ? net->plan.in : ldpsi, 0, u->m,
                       out, ld);
}

/* Layer l: phi (stride ldphi; Psi are its first entries) to out. */
static void forward(const network *net, int64_t l, const pass *w, const float *phi, int64_t ldphi,
                    float *out, int64_t ld) {
    const krein_tangent_plan *p = &net->plan;
    const layer *a = &net->layers[l];
    int64_t own = p->m1 + p->constant, before = krein__tangent_width(p, l);
    units(net, l, &a->ramp, 1, w, phi, ldphi, out, ld);
    for (int64_t i = 0; p->constant && i < KREIN_TILE; i++) out[i * ld + p->m1] = (float)p->bias;
    units(net, l, &a->step, 0, w, phi, ldphi, w->step, p->m0);
    for (int64_t i = 0; i < w->rows->n; i++) {
        const float *step = w->step + i * p->m0, *from = l > 0 ? phi + i * ldphi : NULL;
        float *to = out + i * ld + own;
        if (p->mcs > 0) {
            if (l == 0) from = w->x ? w->x + i * p->in : NULL;
            sketch(net, a, step, from, w->rows, i, w->row, to);
            continue;
        }
        if (l == 0) {
            first_phi(p, w->rows, i, w->row);
            from = w->row;
        }
        outer(p->m0, step, before, from, to);
    }
}

static void run(const network *net, pass *w, float *out, int64_t ld) {
    const krein_tangent_plan *p = &net->plan;
    const float *phi = NULL;
    int64_t ldphi = 0;
    for (int64_t l = 0; l < p->depth; l++) {
        bool last = l == p->depth - 1;
        float *to = last ? out : w->phi[l % 2];
        int64_t ldto = last ? ld : krein__tangent_width(p, l + 1);
        forward(net, l, w, phi, ldphi, to, ldto);
        phi = to;
        ldphi = ldto;
    }
}

void krein__tangent_tile(const krein_map *map, const krein_rows *rows, float *out, int64_t ld,
                         float *scratch) {
    const tangent *s = map->state;
    for (int64_t t = 0; t < s->terms; t++) {
        const network *net = &s->net[t];
        const krein_tangent_plan *p = &net->plan;
        float *at = scratch, *z = out + s->first[t];
        pass w = {.rows = rows};
        if (!rows->ptr) {
            w.x = krein__tile_pad(rows, p->in, at);
            at += KREIN_TILE * p->in;
        }
        w.step = at;
        at += KREIN_TILE * p->m0;
        w.row = at;
        at += p->mcs > 0 ? 2 * p->mcs : p->in;
        /* the last layer but one and every second before it, and the rest, which are narrower */
        int64_t wide = p->depth & 1;
        if (p->depth > 1) w.phi[wide] = at;
        if (p->depth > 2) w.phi[!wide] = at + KREIN_TILE * krein__tangent_width(p, p->depth - 1);
        run(net, &w, z, ld);
        int64_t m = s->first[t + 1] - s->first[t];
        for (int64_t i = 0; net->factor != 1 && i < rows->n; i++)
            for (int64_t f = 0; f < m; f++) z[i * ld + f] *= net->factor;
    }
}
