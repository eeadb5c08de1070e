/* ssn -- support vector machines on features by semismooth Newton steps (after Yan and Li 2020)
 *
 *     min over w, b   P = 1/2 |w|^2 + sum_i loss_i(t_i - w'z_i - b)
 *
 * Coordinate descent is slow where C is large and the features' spectrum falls fast, as kernel
 * features' does. Here the losses (see conjugate.h) are smoothed around the present beta by a
 * proximal term,
 *
 *     env_i(r) = max over b' in the box of
 *                b' r - epsilon |b'| - delta b'^2 / 2 - (b' - beta_i)^2 / (2 s_i)
 *
 * whose maximiser is  beta+_i = clip(soft(r + beta_i / s_i, epsilon) / (delta + 1 / s_i)),  and the
 * smooth convex function 1/2 |w|^2 + sum env_i is minimised by Newton's method: the gradient is
 * (w - sum beta+ z, -sum beta+), the Hessian I + sum over J of h_i z_i z_i' with the rows J inside
 * their box, h_i = 1 / (delta + 1 / s_i). Along a step the function is piecewise quadratic and the
 * best length is found exactly. Then beta <- beta+ (the method of multipliers), s grows, and so on;
 * where INNER steps do not solve it, beta stays and s falls. The intercept is one more unknown
 * without a penalty.
 *
 * The duality gap falls apart into the part of the smoothing and that of the Newton steps:
 *
 *     P - D = FY + 1/2 |w - sum beta+ z|^2 - b sum beta+,
 *     FY = sum_i loss_i(r_i) + epsilon |beta+_i| + delta beta+_i^2 / 2 - beta+_i r_i  >=  0,
 *
 * so Newton steps go on while their part is not much smaller, and it stops where
 * P - D + R |sum beta+| <= tol P (R bounds |b|). s_i = rate cost_i: a row is in J within 1 / rate
 * of its kink. For the squared hinge nothing is smoothed (1 / s = 0): it is Newton's method.
 *
 * J has no more rows than features at the end; a system of min(|J|, D) unknowns is solved. While J
 * is large (MANY) the Hessian is that of a sample of it: the length of the step makes up for it.
 * A step costs one pass over all features, one over those with beta+ != 0, |J| D min(|J|, D) flops
 * and a Cholesky factorisation.
 */

#include "base/spec.h"
#include "num/blas.h"
#include "solve/conjugate.h"

#include <omp.h>
#include <string.h>

enum { CHUNK = 256, COLUMNS = 256, TILE = 256, ROWS = 4096 };

typedef struct state {
    krein_ctx *ctx;
    krein_features *z;
    krein_machine *m;
    const krein_machine_options *o;
    int64_t D, most; /* most: rows of J in the Hessian at most */
    double rate;     /* of s; INFINITY: no smoothing */
    double scale;    /* of targets */
    double *w, b;
    double *score;   /* n: w'z */
    float *along;    /* n: the step's */
    double *plus;    /* n: beta+ */
    double *best;    /* n: that of the least gap so far, which the machine has */
    int32_t *inside; /* J, numbers of rows in dual */
    int64_t *block;  /* blocks + 1: where their rows begin in dual */
    int64_t ninside;
    double *sum;           /* D: sum beta+ z */
    double total;          /* sum beta+ */
    double loss, young;    /* sums over rows: losses; FY */
    double *cross, *right; /* D: sum h z; D x 2: what the Hessian is solved for */
    float *step;           /* D */
    double step_b;
    float *A, *tile; /* rows of J times sqrt(h); scratch of threads */
    double *H;       /* min(|J|, D) squared */
    double *diagonal;
    int64_t held; /* rows in A */
} state;

/* Rows of J in the Hessian: as many as unknowns determine it well. */
static int64_t many(int64_t n, int64_t D) { return krein__min(n, krein__max(4096, 8 * D)); }

static void flush(state *s) {
    krein__syrk_add(s->ctx, s->D, s->held, s->A, s->D, s->H, s->D, s->tile);
    s->held = 0;
}

/* ---- passes over the features ------------------------------------------- */

/* out_i = v'z_i for the machine's rows. */
static krein_status project(state *s, const float *v, float *out) {
    krein_status st = KREIN_OK;
    for (int64_t k = 0; k < s->z->blocks; k++) {
        const float *z;
        int64_t rows, first = k * s->z->rows;
        if (s->block[k] == s->block[k + 1]) continue;
        TRY(krein__features_block(s->z, k, &z, &rows));
        krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(s->ctx->threads) schedule(dynamic)
        for (int64_t from = s->block[k]; from < s->block[k + 1]; from += CHUNK) {
            krein__worker_begin();
            int64_t to = krein__min(from + CHUNK, s->block[k + 1]);
            for (int64_t i = from; i < to; i++)
                out[i] = krein__sdot(s->D, v, z + (s->m->dual[i].row - first) * s->D);
            krein__worker_end(c);
        }
        krein__compute_end(c);
    }
    st = krein__poll(s->ctx);
done:
    return st;
}

/* sum += sum of weight_i z_i over the rows i = which[0 .. n-1] (or from, from + 1, ...) of a block,
 * for some columns: float32 sums of CHUNK rows, added in float64. */
static void add_rows(const state *s, const float *z, int64_t first, int64_t from, int64_t n,
                     const int32_t *which, const double *weight, int64_t column, double *sum) {
    float part[COLUMNS];
    int64_t width = krein__min(COLUMNS, s->D - column);
    for (int64_t i = 0; i < n; i += CHUNK) {
        memset(part, 0, sizeof part);
        for (int64_t k = i; k < krein__min(i + CHUNK, n); k++) {
            const krein_dual *d = &s->m->dual[which ? which[k] : from + k];
            if (weight[k] == 0) continue;
            krein__saxpy(width, (float)weight[k], z + (d->row - first) * s->D + column, part);
        }
        for (int64_t j = 0; j < width; j++) sum[column + j] += (double)part[j];
    }
}

/* Rows of J from `from` on in a block, times sqrt of h, into A; where A is full, and the system is
 * that of the features, their products are added to H. */
static void gather(state *s, const float *z, int64_t first, int64_t from, int64_t to,
                   const double *h) {
    for (int64_t k = from; k < to; k++) {
        const float *row = z + (s->m->dual[s->inside[k]].row - first) * s->D;
        float *copy = s->A + s->held++ * s->D, factor = (float)sqrt(h[k]);
        for (int64_t j = 0; j < s->D; j++) copy[j] = factor * row[j];
        if (s->ninside >= s->D && s->held == ROWS) flush(s);
    }
}

/* sum = sum beta+ z, cross = sum h z, and the rows of J, in one pass over the blocks that have any.
 */
static krein_status collect(state *s, const double *h) {
    krein_status st = KREIN_OK;
    int64_t at = 0, tiles = (s->D + COLUMNS - 1) / COLUMNS;
    memset(s->sum, 0, (size_t)s->D * sizeof *s->sum);
    memset(s->cross, 0, (size_t)s->D * sizeof *s->cross);
    s->held = 0;
    if (s->ninside >= s->D) memset(s->H, 0, (size_t)(s->D * s->D) * sizeof *s->H);
    for (int64_t k = 0; k < s->z->blocks; k++) {
        const float *z;
        int64_t rows, first = k * s->z->rows, from = s->block[k], n = s->block[k + 1] - from;
        int64_t next = at;
        while (next < s->ninside && s->inside[next] < from + n) next++;
        bool any = next > at;
        for (int64_t i = 0; i < n && !any; i++) any = s->plus[from + i] != 0;
        if (!any) continue;
        TRY(krein__features_block(s->z, k, &z, &rows));
        krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(s->ctx->threads) schedule(dynamic)
        for (int64_t t = 0; t < tiles; t++) {
            krein__worker_begin();
            add_rows(s, z, first, from, n, NULL, s->plus + from, t * COLUMNS, s->sum);
            if (s->o->intercept)
                add_rows(s, z, first, from, next - at, s->inside + at, h + at, t * COLUMNS,
                         s->cross);
            krein__worker_end(c);
        }
        krein__compute_end(c);
        gather(s, z, first, at, next, h);
        at = next;
    }
    if (s->ninside >= s->D) flush(s);
    st = krein__poll(s->ctx);
done:
    return st;
}

/* ---- rows: beta+, losses, line search ----------------------------------- */

static double smoothing(const state *s, const krein_dual *d) { /* 1 / s_i */
    return isinf(s->rate) ? 0 : 1 / (s->rate * d->cost);
}

/* beta+ at the residual r; inside: it lies inside the box, off the kink at 0. */
static double prox(const state *s, const krein_dual *d, const krein_box *x, double r,
                   bool *inside) {
    double inverse = smoothing(s, d), u = krein__soft(r + d->beta * inverse, s->o->epsilon);
    double free = u / (x->delta + inverse), beta = krein__clip(x, free);
    *inside = u != 0 && free > x->low && free < x->high;
    return beta;
}

/* beta+, J and the sums over rows at the present w and b. */
static void look(state *s) {
    s->loss = s->young = s->total = 0;
    s->ninside = 0;
    for (int64_t i = 0; i < s->m->n; i++) {
        const krein_dual *d = &s->m->dual[i];
        krein_box x = krein__box(s->o->loss, d);
        double r = (double)d->target - s->score[i] - s->b;
        bool inside;
        s->plus[i] = prox(s, d, &x, r, &inside);
        if (inside) s->inside[s->ninside++] = (int32_t)i;
        double loss = krein__loss(&x, s->o->epsilon, r);
        s->loss += loss;
        s->young += loss - krein__conjugate_at(&x, s->o->epsilon, s->plus[i], r);
        s->total += s->plus[i];
    }
}

/* The slope of the smooth function after a length of the step. */
static double slope(const state *s, double length, double dw, double dd) {
    double sum = 0;
    for (int64_t i = 0; i < s->m->n; i++) {
        const krein_dual *d = &s->m->dual[i];
        krein_box x = krein__box(s->o->loss, d);
        double move = (double)s->along[i] + s->step_b;
        double r = (double)d->target - s->score[i] - s->b - length * move;
        bool inside;
        sum += prox(s, d, &x, r, &inside) * move;
    }
    return dw + length * dd - sum;
}

static double best_length(const state *s) {
    double dw = 0, dd = 0, low = 0, high = 1;
    for (int64_t j = 0; j < s->D; j++) {
        dw += s->w[j] * (double)s->step[j];
        dd += (double)s->step[j] * (double)s->step[j];
    }
    /* A sampled Hessian may be too flat or too steep. */
    double here = slope(s, 1, dw, dd);
    if (fabs(here) <= 1e-9 * fabs(slope(s, 0, dw, dd))) return 1;
    for (int i = 0; i < 6 && here < 0; i++) {
        low = high;
        high *= 2;
        here = slope(s, high, dw, dd);
    }
    if (here < 0) return high;
    for (int i = 0; i < 30 && high - low > 1e-4 * high; i++) {
        double middle = (low + high) / 2;
        *(slope(s, middle, dw, dd) > 0 ? &high : &low) = middle;
    }
    return (low + high) / 2;
}

/* ---- the Newton step ---------------------------------------------------- */

/* Thins J to at most `most` rows; h: their weights in the Hessian. */
static void weigh(state *s, double *h) {
    int64_t n = krein__min(s->ninside, s->most);
    double share = n > 0 ? (double)s->ninside / (double)n : 1;
    for (int64_t k = 0; k < n; k++) {
        int32_t i = s->inside[(int64_t)((double)k * share)];
        const krein_dual *d = &s->m->dual[i];
        s->inside[k] = i;
        h[k] = share / (krein__box(s->o->loss, d).delta + smoothing(s, d));
    }
    s->ninside = n;
}

/* Upper triangle of H = A A', m x m, by tiles. */
static void gram_of_rows(state *s, int64_t m) {
    int64_t tiles = (m + TILE - 1) / TILE;
    krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(s->ctx->threads) schedule(dynamic)
    for (int64_t q = 0; q < tiles * tiles; q++) {
        krein__worker_begin();
        int64_t i = q / tiles * TILE, j = q % tiles * TILE;
        float *t = s->tile + omp_get_thread_num() * TILE * TILE;
        int64_t rows = krein__min(TILE, m - i), columns = krein__min(TILE, m - j);
        if (i <= j) {
            krein__sgemm(false, true, rows, columns, s->D, 1, s->A + i * s->D, s->D,
                         s->A + j * s->D, s->D, 0, t, TILE);
            for (int64_t a = 0; a < rows; a++)
                for (int64_t b = 0; b < columns; b++)
                    s->H[(i + a) * m + j + b] = (double)t[a * TILE + b];
        }
        krein__worker_end(c);
    }
    krein__compute_end(c);
}

/* Factorises I + H (m x m, upper triangle). H comes from float32 products: where C is so large that
 * their rounding makes it indefinite, more than I is added, as little as it takes; the step's
 * length makes up for it. */
static krein_status factorise(state *s, int64_t m) {
    krein_status st = KREIN_OK;
    int64_t pivot;
    double top = 0, more = 0;
    for (int64_t i = 0; i < m; i++) {
        s->diagonal[i] = s->H[i * m + i];
        top = fmax(top, s->diagonal[i]);
        for (int64_t j = i + 1; j < m; j++) s->H[j * m + i] = s->H[i * m + j]; /* kept there */
    }
    for (int tries = 0; tries < 8; tries++) {
        for (int64_t i = 0; i < m; i++) s->H[i * m + i] = s->diagonal[i] + 1 + more;
        st = krein__cholesky(s->ctx, m, s->H, m, &pivot);
        if (st != KREIN_ENUMERIC) break;
        more = more > 0 ? 8 * more : 1e-7 * top;
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = i + 1; j < m; j++) s->H[i * m + j] = s->H[j * m + i];
    }
    return st;
}

/* X = (I + A'A)^-1 X for the two columns of X (D x 2). Where J is the smaller,
 * X - A' (I + A A')^-1 A X. */
static krein_status solve(state *s, double *X) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    int64_t m = s->ninside, D = s->D;
    double *y = NULL;
    if (m == 0) return KREIN_OK;
    if (m >= D) {
        TRY(factorise(s, D));
        TRY(krein__cholesky_solve(ctx, D, s->H, D, 2, X, 2));
        return KREIN_OK;
    }
    NEW(y, m * 2);
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t i = 0; i < m; i++) {
        double a = 0, b = 0;
        for (int64_t j = 0; j < D; j++) {
            a += (double)s->A[i * D + j] * X[2 * j];
            b += (double)s->A[i * D + j] * X[2 * j + 1];
        }
        y[2 * i] = a;
        y[2 * i + 1] = b;
    }
    gram_of_rows(s, m);
    TRY(factorise(s, m));
    TRY(krein__cholesky_solve(ctx, m, s->H, m, 2, y, 2));
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t from = 0; from < D; from += COLUMNS)
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = from; j < krein__min(from + COLUMNS, D); j++) {
                X[2 * j] -= (double)s->A[i * D + j] * y[2 * i];
                X[2 * j + 1] -= (double)s->A[i * D + j] * y[2 * i + 1];
            }
done:
    krein__free(ctx, y);
    return st;
}

/* The step of w and b: b is eliminated by its own row of the Hessian. */
static krein_status direction(state *s, const double *h) {
    krein_status st = KREIN_OK;
    int64_t D = s->D;
    double *X = s->right, bb = 0, bg = 0, bh = 0;
    for (int64_t i = 0; i < s->ninside; i++) bb += h[i];
    for (int64_t j = 0; j < D; j++) {
        X[2 * j] = s->w[j] - s->sum[j];
        X[2 * j + 1] = s->cross[j];
    }
    TRY(solve(s, X));
    for (int64_t j = 0; j < D; j++) {
        bg += s->cross[j] * X[2 * j];
        bh += s->cross[j] * X[2 * j + 1];
    }
    /* rows of J alone may not determine b */
    double curvature = bb - bh + 1e-8 * bb;
    s->step_b = 0;
    if (s->o->intercept) {
        double g = -s->total - bg;
        s->step_b = curvature > 0 ? -g / curvature : (g > 0 ? -1 : 1) * s->scale;
        double longest = 4 * s->scale / fmax(1e-300, fabs(s->step_b));
        if (longest < 1) s->step_b *= longest;
    }
    for (int64_t j = 0; j < D; j++) s->step[j] = (float)(-X[2 * j] - s->step_b * X[2 * j + 1]);
done:
    return st;
}

static krein_status take_step(state *s) {
    krein_status st = KREIN_OK;
    TRY(project(s, s->step, s->along));
    double length = best_length(s);
    for (int64_t j = 0; j < s->D; j++) s->w[j] += length * (double)s->step[j];
    for (int64_t i = 0; i < s->m->n; i++) s->score[i] += length * (double)s->along[i];
    s->b += length * s->step_b;
done:
    return st;
}

/* ---- the whole ---------------------------------------------------------- */

/* Scores of w itself: steps add up rounding. */
static krein_status refresh(state *s) {
    for (int64_t j = 0; j < s->D; j++) s->step[j] = (float)s->w[j];
    krein_status st = project(s, s->step, s->along);
    for (int64_t i = 0; st == KREIN_OK && i < s->m->n; i++) s->score[i] = (double)s->along[i];
    for (int64_t j = 0; j < s->D; j++) s->w[j] = (double)s->step[j];
    return st;
}

static krein_status begin(state *s) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    int64_t n = s->m->n, D = s->D, system = krein__min(s->most, D);
    double square = 0;
    NEW(s->w, D);
    NEW(s->score, n);
    NEW(s->along, n);
    NEW(s->plus, n);
    NEW(s->best, n);
    NEW(s->inside, n);
    NEW(s->block, s->z->blocks + 1);
    NEW(s->sum, D);
    NEW(s->cross, D);
    NEW(s->right, 2 * D);
    NEW(s->step, D);
    NEW(s->A, krein__max(D, ROWS) * D);
    NEW(s->tile, ctx->threads * krein__max(TILE * TILE, krein__syrk_tile(D) * krein__syrk_tile(D)));
    NEW(s->H, system * system);
    NEW(s->diagonal, system);
    for (int64_t k = 0, at = 0; k <= s->z->blocks; k++) {
        while (at < n && s->m->dual[at].row < k * s->z->rows) at++;
        s->block[k] = at;
    }
    for (int64_t i = 0; i < n; i++) square += pow((double)s->m->dual[i].target, 2);
    s->scale = square > 0 ? sqrt(square / (double)n) : 1;
    memcpy(s->w, s->m->w, (size_t)D * sizeof *s->w);
    s->b = s->o->intercept ? s->m->b : 0;
    TRY(refresh(s));
done:
    return st;
}

static void end(state *s) {
    krein_ctx *ctx = s->ctx;
    krein__free(ctx, s->w);
    krein__free(ctx, s->score);
    krein__free(ctx, s->along);
    krein__free(ctx, s->plus);
    krein__free(ctx, s->best);
    krein__free(ctx, s->inside);
    krein__free(ctx, s->block);
    krein__free(ctx, s->sum);
    krein__free(ctx, s->cross);
    krein__free(ctx, s->right);
    krein__free(ctx, s->step);
    krein__free(ctx, s->A);
    krein__free(ctx, s->tile);
    krein__free(ctx, s->H);
    krein__free(ctx, s->diagonal);
}

/* Takes over beta+ and (w, b) as the machine's; beta itself is still where the smoothing is. */
static void keep(state *s, double primal, double dual) {
    krein_machine *m = s->m;
    m->primal = primal;
    m->dual_value = dual;
    m->b = s->b;
    memcpy(m->w, s->w, (size_t)s->D * sizeof *m->w);
    memcpy(s->best, s->plus, (size_t)m->n * sizeof *s->best);
    m->support = 0;
    for (int64_t i = 0; i < m->n; i++) m->support += s->plus[i] != 0;
}

static void set_beta(state *s, const double *beta) {
    for (int64_t i = 0; i < s->m->n; i++) s->m->dual[i].beta = beta[i];
}

static double square_of(int64_t n, const double *x) { return krein__ddot(n, x, x); }

krein_status krein__ssn(krein_features *z, krein_machine *m, const krein_machine_options *o) {
    enum { STEPS = 200, INNER = 25 };
    krein_ctx *ctx = z->ctx;
    krein_status st = KREIN_OK;
    state s = {.ctx = ctx, .z = z, .m = m, .o = o, .D = z->D, .most = many(m->n, z->D)};
    double *h = NULL, grow = 4, least = INFINITY;
    krein_compute compute = krein__compute_begin(); /* BLAS must not split sums by its threads */
    if (krein__trivial(m, o, z->D)) goto done;
    TRY(begin(&s));
    NEW(h, s.m->n);
    s.rate = o->loss == KREIN_LOSS_HINGE2 ? INFINITY : 1 / (8 * s.scale);
    for (int64_t step = 0, inner = 0; step < STEPS; step++) {
        look(&s);
        int64_t inside = s.ninside;
        weigh(&s, h);
        TRY(collect(&s, h));
        double difference = 0;
        for (int64_t j = 0; j < s.D; j++) difference += pow(s.w[j] - s.sum[j], 2);
        double slack = o->intercept ? (2 * fabs(s.b) + s.scale) * fabs(s.total) : 0;
        double primal = square_of(s.D, s.w) / 2 + s.loss;
        double gap = s.young + difference / 2 + slack;
        m->passes++;
        krein__log(
            ctx, KREIN_LOG_DEBUG,
            "step %lld: primal %.8g, gap %.2g (smoothing %.2g, Newton %.2g, sum %.2g), J %lld, "
            "rate %.3g",
            (long long)step, primal, gap / primal, s.young / primal, difference / 2 / primal,
            slack / primal, (long long)inside, s.rate);
        m->converged = gap <= o->tol * primal;
        bool late = krein__late(o->deadline);
        if (gap < least) keep(&s, primal, primal - gap);
        least = fmin(least, gap);
        if (m->converged || late || step + 1 == STEPS) break;
        bool solved = difference / 2 + slack <= 0.3 * s.young;
        if (solved || ++inner == INNER) {
            if (solved)
                set_beta(&s, s.plus);
            else /* too rough to be solved: the same with more smoothing */
                grow = sqrt(grow);
            s.rate *= solved ? grow : 1 / (grow * grow);
            inner = 0;
            TRY(refresh(&s));
            continue;
        }
        TRY(direction(&s, h));
        TRY(take_step(&s));
    }
    if (isfinite(least)) set_beta(&s, s.best);
done:
    krein__free(ctx, h);
    end(&s);
    krein__compute_end(compute);
    return st;
}

double krein__ssn_bytes(int64_t rows, int64_t D, int threads) {
    double n = (double)rows, m = (double)many(rows, D), d = (double)D, system = fmin(m, d);
    return 48 * n + 64 * d + 4 * d * fmax(d, ROWS) + 8 * system * system + 1.1e6 * threads +
           16 * m + 4096;
}

const krein_class krein__solver_ssn = {
    "ssn", "semismooth Newton steps with the method of multipliers, for hinge and epsilon losses",
    "yan2020", NULL,
    "Support vector machines on features, where coordinate descent would take long. Stops by the "
    "duality gap."};
