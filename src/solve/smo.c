/* smo -- C-SVM and epsilon-SVR on a kernel matrix, a bound for each row
 *
 *     min over f, b   1/2 |f|^2 + sum_i C_i max(0, 1 - y_i (f(x_i) + b))
 *     epsilon-SVR     1/2 |f|^2 + sum_i C_i max(0, |y_i - f(x_i) - b| - epsilon)
 *
 * Both have the dual, a_i the coefficient of k(x, x_i) with its sign,
 *
 *     min 1/2 a'Ka - y'a + epsilon |a|_1,   sum a_i = 0,   low_i <= a_i <= high_i:
 *     low_i, high_i = -C_i, C_i;   for classes epsilon = 0, and 0, C_i (y_i = 1) or -C_i, 0 (-1).
 *
 * A row of weight w has the bound w C: like w rows of bound C, whose coefficients add up.
 *
 * Sequential minimal optimisation with second-order working sets (fan2005), as LIBSVM (chang2011).
 * With G = Ka - y, the objective changes by u_i per unit that a_i rises and by -d_i that it falls,
 *
 *     u_i = G_i + epsilon where a_i >= 0, - epsilon where a_i < 0; infinite at the upper bound,
 *     d_i = G_i + epsilon where a_i > 0, - epsilon where a_i <= 0; -infinite at the lower bound.
 *
 * i has the least u; j, of those with d_j > u_i, the largest decrease (d_j - u_i)^2 / (K_ii + K_jj
 * - 2 K_ij). a_i rises and a_j falls by the same step, to a bound or to 0 at most. It ends where no
 * d is above a u by more than tol. One variable a row where LIBSVM has two for regression; else the
 * steps are LIBSVM's. K need not be positive: where K_ii + K_jj - 2 K_ij is not, it counts as tiny,
 * the step goes to a bound, and the objective falls all the same.
 *
 * Shrinking: a row with u above all d and d below all u is left out for a while; at ten times tol,
 * and at the end, G of these rows is made anew and they come back. Rows that are left out leave no
 * gaps: what is kept of the kernel is rows of the active columns, float32 (so that an objective has
 * about seven digits, as LIBSVM's), filled when they are first used. Up to a quarter of a gigabyte;
 * then the row that was not used for longest is dropped.
 *
 * A step reads the active rows twice: once for j, once to change G, which finds the next i.
 * One thread each; nothing but the machine decides what happens.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-trapping-math") /* see num/vec.c: else maxima stay scalar */
#elif defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed" /* with sanitizers the loops stay scalar */
#endif
#include "solve/smo.h"

#include "base/spec.h"

#include <math.h>
#include <string.h>

enum { MOST = 10000000 };          /* iterations, or 100 a row */
enum { BLOCK = 256 };              /* positions whose best is found by one comparison */
enum { SHRINK = 1000 };            /* iterations between looks for rows to leave out */
static const double TINY = 1e-12;  /* in the place of a curvature that is not positive */
static const double POLL = 0x1p24; /* positions visited between questions whether to stop */

struct krein_smo {
    krein_ctx *ctx;
    int64_t floats; /* in cache */
    /* of the positions: rows of the machine, the active ones first */
    int64_t *at;     /* number of the row in the machine */
    int32_t *column; /* and in the matrix */
    double *G, *a, *low, *high, *y, *diagonal;
    double *up, *down; /* what u and d add to G */
    /* kernel rows: of position p in slot[p], -1: nowhere */
    float *cache;
    int32_t *slot, *owner;
    int64_t *used;          /* when a slot was */
    int64_t *place, *order; /* scratch */
    double *scratch;
};

void krein__smo_end(krein_smo *s) {
    if (!s) return;
    void *all[] = {s->at,    s->column,   s->G,     s->a,     s->low,    s->high,
                   s->y,     s->diagonal, s->up,    s->down,  s->cache,  s->slot,
                   s->owner, s->used,     s->place, s->order, s->scratch};
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) krein__free(s->ctx, all[i]);
    krein__free(s->ctx, s);
}

/* Kernel rows that are kept. Two must always fit. */
static int64_t room(int64_t most) {
    int64_t fit = KREIN_SMO_ROOM / (int64_t)sizeof(float) / krein__max(1, most);
    return krein__max(2, krein__min(most, fit));
}

krein_status krein__smo_begin(krein_ctx *ctx, int64_t most, krein_smo **out) {
    return krein__smo_begin_with(ctx, most, room(most), out);
}

krein_status krein__smo_begin_with(krein_ctx *ctx, int64_t most, int64_t rows, krein_smo **out) {
    krein_status st = KREIN_OK;
    krein_smo *s = NULL;
    *out = NULL;
    ZNEW(s, 1);
    s->ctx = ctx;
    s->floats = rows * most;
    NEW(s->at, most);
    NEW(s->column, most);
    NEW(s->G, most);
    NEW(s->a, most);
    NEW(s->low, most);
    NEW(s->high, most);
    NEW(s->y, most);
    NEW(s->diagonal, most);
    NEW(s->up, most);
    NEW(s->down, most);
    NEW(s->cache, s->floats);
    NEW(s->slot, most);
    NEW(s->owner, most);
    NEW(s->used, most);
    NEW(s->place, most);
    NEW(s->order, most);
    NEW(s->scratch, most);
    *out = s;
    s = NULL;
done:
    krein__smo_end(s);
    return st;
}

double krein__smo_bytes(int64_t most) {
    return (double)most * (4 * (double)room(most) + 124) + 4096;
}

/* ---- passes over the active positions ----------------------------------- */

typedef struct best {
    int64_t at;   /* -1: there is none */
    double value; /* least u, or largest d */
} best;

#define INLINE static inline __attribute__((always_inline))

/* The largest d in out->value; the position of the largest decrease with the row of u = least. */
INLINE void find_down(int64_t n, const double *G, const double *down, const double *diagonal,
                      const float *row, double own, double least, best *out) {
    float most = 0, gain[BLOCK];
    *out = (best){-1, -INFINITY};
    for (int64_t first = 0; first < n; first += BLOCK) {
        const double *g = G + first, *d = down + first, *k = diagonal + first;
        const float *r = row + first;
        int64_t rows = n - first < BLOCK ? n - first : BLOCK;
        double top = out->value;
        float here = 0;
#pragma omp simd reduction(max : top, here)
        for (int64_t t = 0; t < rows; t++) {
            double value = g[t] + d[t], curve = own + k[t] - 2 * (double)r[t];
            float b = (float)(value - least), c = (float)(curve > TINY ? curve : TINY);
            top = value > top ? value : top;
            gain[t] = b > 0 ? b * b / c : 0;
            here = gain[t] > here ? gain[t] : here;
        }
        out->value = top;
        if (!(here > most)) continue;
        most = here;
        for (int64_t t = rows - 1; t >= 0; t--)
            if (gain[t] == here) out->at = first + t;
    }
}

/* G += step (row_i - row_j); the least u and its position. */
INLINE void change(int64_t n, double *G, const double *up, const float *row_i, const float *row_j,
                   double step, best *out) {
    *out = (best){-1, INFINITY};
    for (int64_t first = 0; first < n; first += BLOCK) {
        double *g = G + first, here = INFINITY;
        const double *u = up + first;
        const float *p = row_i + first, *q = row_j + first;
        int64_t rows = n - first < BLOCK ? n - first : BLOCK;
#pragma omp simd reduction(min : here)
        for (int64_t t = 0; t < rows; t++) {
            double value = g[t] + step * ((double)p[t] - (double)q[t]);
            g[t] = value;
            value += u[t];
            here = value < here ? value : here;
        }
        if (!(here < out->value)) continue;
        out->value = here;
        for (int64_t t = rows - 1; t >= 0; t--)
            if (g[t] + u[t] == here) out->at = first + t;
    }
}

#define PATH(NAME, TARGET)                                                                         \
    TARGET static void find_down_##NAME(int64_t n, const double *G, const double *down,            \
                                        const double *diagonal, const float *row, double own,      \
                                        double least, best *out) {                                 \
        find_down(n, G, down, diagonal, row, own, least, out);                                     \
    }                                                                                              \
    TARGET static void change_##NAME(int64_t n, double *G, const double *up, const float *row_i,   \
                                     const float *row_j, double step, best *out) {                 \
        change(n, G, up, row_i, row_j, step, out);                                                 \
    }

PATH(baseline, )
#if defined(__x86_64__)
PATH(avx2, __attribute__((target("avx2,fma"))))
static bool has_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif

/* ---- one machine -------------------------------------------------------- */

typedef struct work {
    krein_smo *s;
    const krein_smo_machine *m;
    int64_t n, active;
    const double *K;
    double
        unit; /* what K is multiplied by, and a divided: 2^k that makes the largest K_ii near 1 */
    int64_t slots, filled; /* rows that fit, and that are there */
    int64_t time;          /* counts uses of rows */
    best up;               /* least u of the active rows */
    double top;            /* largest d of them */
    bool wide;             /* AVX2 */
    bool unshrunk;         /* at ten times tol, once */
} work;

/* What u and d of a position add to G. */
static void set_ways(work *w, int64_t p) {
    krein_smo *s = w->s;
    double a = s->a[p], e = w->m->epsilon;
    s->up[p] = a < s->high[p] ? (a >= 0 ? e : -e) : INFINITY;
    s->down[p] = a > s->low[p] ? (a > 0 ? e : -e) : -INFINITY;
}

static void find_up(work *w) {
    const krein_smo *s = w->s;
    w->up = (best){-1, INFINITY};
    for (int64_t p = 0; p < w->active; p++)
        if (s->G[p] + s->up[p] < w->up.value) w->up = (best){p, s->G[p] + s->up[p]};
}

static void forget_rows(work *w) {
    w->slots = krein__min(w->active, w->s->floats / krein__max(1, w->active));
    w->filled = 0;
    for (int64_t p = 0; p < w->m->m; p++) w->s->slot[p] = -1;
}

/* A slot: a new one, or that of the row whose last use is farthest back, not that of `keep`. */
static int64_t free_slot(work *w, int64_t keep) {
    krein_smo *s = w->s;
    if (w->filled < w->slots) return w->filled++;
    int64_t oldest = -1;
    for (int64_t c = 0; c < w->slots; c++)
        if (s->owner[c] != keep && (oldest < 0 || s->used[c] < s->used[oldest])) oldest = c;
    s->slot[s->owner[oldest]] = -1;
    return oldest;
}

/* Row p of the active columns. The row of `keep` stays where it is. */
static const float *row_of(work *w, int64_t p, int64_t keep) {
    krein_smo *s = w->s;
    int64_t slot = s->slot[p];
    if (slot < 0) {
        slot = free_slot(w, keep);
        s->slot[p] = (int32_t)slot;
        s->owner[slot] = (int32_t)p;
        const double *from = w->K + s->column[p] * w->n;
        float *to = s->cache + slot * w->active;
        for (int64_t q = 0; q < w->active; q++) to[q] = (float)(from[s->column[q]] * w->unit);
        to[p] = (float)s->diagonal[p];
    }
    s->used[slot] = w->time++;
    return s->cache + slot * w->active;
}

static void begin(work *w) {
    krein_smo *s = w->s;
    const krein_smo_machine *m = w->m;
    double most = 0;
    for (int64_t i = 0; i < m->m; i++) {
        int64_t r = m->row[i];
        s->diagonal[i] = w->K[r * w->n + r] + (m->add ? m->add[i] : 0);
        most = fmax(most, fabs(s->diagonal[i]));
    }
    w->unit = most > 0 ? exp2(-rint(log2(most))) : 1;
    for (int64_t i = 0; i < m->m; i++) {
        bool up = m->regression || m->y[i] > 0, down = m->regression || m->y[i] < 0;
        s->at[i] = i;
        s->column[i] = (int32_t)m->row[i];
        s->y[i] = m->y[i];
        s->G[i] = -m->y[i];
        s->a[i] = 0;
        s->high[i] = up ? m->cost[i] / w->unit : 0;
        s->low[i] = down ? -m->cost[i] / w->unit : 0;
        s->diagonal[i] *= w->unit;
        set_ways(w, i);
    }
    w->active = m->m;
    forget_rows(w);
    find_up(w);
}

/* Step of i up and j down: the best one, or as far as they may go. */
static void move(work *w, int64_t i, int64_t j, const float *row_i, const float *row_j) {
    krein_smo *s = w->s;
    double curve = s->diagonal[i] + s->diagonal[j] - 2 * (double)row_i[j];
    double to_i = s->a[i] < 0 ? fmin(0, s->high[i]) : s->high[i];
    double to_j = s->a[j] > 0 ? fmax(0, s->low[j]) : s->low[j];
    double step = (s->G[j] + s->down[j] - w->up.value) / (curve > TINY ? curve : TINY);
    step = fmin(step, fmin(to_i - s->a[i], s->a[j] - to_j));
    s->a[i] = step == to_i - s->a[i] ? to_i : s->a[i] + step;
    s->a[j] = step == s->a[j] - to_j ? to_j : s->a[j] - step;
    set_ways(w, i);
    set_ways(w, j);
#if defined(__x86_64__)
    if (w->wide) {
        change_avx2(w->active, s->G, s->up, row_i, row_j, step, &w->up);
        return;
    }
#endif
    change_baseline(w->active, s->G, s->up, row_i, row_j, step, &w->up);
}

/* The partner of the row of the least u, or -1; the largest d in w->top. */
static int64_t partner(work *w, const float *row) {
    const krein_smo *s = w->s;
    best found;
    double own = s->diagonal[w->up.at];
#if defined(__x86_64__)
    if (w->wide)
        find_down_avx2(w->active, s->G, s->down, s->diagonal, row, own, w->up.value, &found);
    else
#endif
        find_down_baseline(w->active, s->G, s->down, s->diagonal, row, own, w->up.value, &found);
    w->top = found.value;
    if (found.at >= 0 || !(found.value > w->up.value)) return found.at;
    /* all decreases underflow in float32 */
    for (int64_t p = 0; p < w->active; p++)
        if (s->G[p] + s->down[p] == found.value) return p;
    return -1;
}

/* ---- shrinking ---------------------------------------------------------- */

/* Position p becomes what order[p] was. */
static void reorder(work *w, const int64_t *order) {
    krein_smo *s = w->s;
    double *column[] = {s->G, s->a, s->low, s->high, s->y, s->diagonal, s->up, s->down};
    int64_t m = w->m->m;
    for (int64_t c = 0; c < KREIN__COUNT(column); c++) {
        for (int64_t p = 0; p < m; p++) s->scratch[p] = column[c][order[p]];
        memcpy(column[c], s->scratch, (size_t)m * sizeof *s->scratch);
    }
    for (int64_t p = 0; p < m; p++) s->place[p] = s->at[order[p]];
    memcpy(s->at, s->place, (size_t)m * sizeof *s->at);
    for (int64_t p = 0; p < m; p++) s->column[p] = (int32_t)w->m->row[s->at[p]];
}

/* Kernel rows lose the columns of rows that are left out; kept: the old positions of those that
 * stay, ascending, so that every float moves to the front. */
static void narrow_rows(work *w, int64_t before, const int64_t *kept) {
    krein_smo *s = w->s;
    int64_t filled = 0;
    for (int64_t p = 0; p < before; p++) s->place[p] = s->slot[p] = -1;
    for (int64_t k = 0; k < w->active; k++) s->place[kept[k]] = k;
    for (int64_t c = 0; c < w->filled; c++) {
        int64_t p = s->place[s->owner[c]];
        if (p < 0) continue;
        const float *from = s->cache + c * before;
        float *to = s->cache + filled * w->active;
        for (int64_t k = 0; k < w->active; k++) to[k] = from[kept[k]];
        s->slot[p] = (int32_t)filled;
        s->owner[filled] = (int32_t)p;
        s->used[filled++] = s->used[c];
    }
    w->filled = filled;
    w->slots = krein__min(w->active, s->floats / krein__max(1, w->active));
}

/* G of the rows that were left out, from the coefficients, one kernel row after the other; all rows
 * are active again, in the order of the machine. */
static void unshrink(work *w) {
    krein_smo *s = w->s;
    const krein_smo_machine *m = w->m;
    if (w->active == m->m) return;
    for (int64_t p = w->active; p < m->m; p++) s->G[p] = -s->y[p];
    for (int64_t q = 0; q < m->m; q++) {
        const double *K = w->K + s->column[q] * w->n;
        double a = s->a[q];
        for (int64_t p = w->active; p < m->m && a != 0; p++)
            s->G[p] += a * (double)(float)(p == q ? s->diagonal[p] : K[s->column[p]] * w->unit);
    }
    for (int64_t p = 0; p < m->m; p++) s->order[s->at[p]] = p;
    reorder(w, s->order);
    w->active = m->m;
    forget_rows(w);
    find_up(w);
}

static bool idle(const work *w, int64_t p) {
    const krein_smo *s = w->s;
    return s->G[p] + s->up[p] > w->top && s->G[p] + s->down[p] < w->up.value;
}

/* The largest d; w->top is that of the last step. */
static void find_top(work *w) {
    w->top = -INFINITY;
    for (int64_t p = 0; p < w->active; p++) w->top = fmax(w->top, w->s->G[p] + w->s->down[p]);
}

/* Leaves idle rows out, where they are a fifth of the active ones: less is not worth the moving. */
static void shrink(work *w) {
    krein_smo *s = w->s;
    int64_t before = w->active, kept = 0, gone = 0;
    find_top(w);
    if (!w->unshrunk && w->top - w->up.value <= 10 * w->m->tol) {
        w->unshrunk = true;
        unshrink(w);
        before = w->active;
        find_top(w);
    }
    if (w->top - w->up.value <= w->m->tol) return;
    for (int64_t p = 0; p < before; p++) gone += idle(w, p);
    if (gone * 5 < before || gone == before) return;
    for (int64_t p = 0, out = before - gone; p < w->m->m; p++)
        s->order[p >= before ? p : idle(w, p) ? out++ : kept++] = p;
    w->active = kept;
    narrow_rows(w, before, s->order);
    reorder(w, s->order);
    find_up(w);
}

/* ---- what comes out ----------------------------------------------------- */

/* Minus the derivative at coefficients that are free, or the middle of what bounds leave. */
static double intercept(const work *w) {
    const krein_smo *s = w->s;
    double sum = 0;
    int64_t free = 0;
    for (int64_t p = 0; p < w->m->m; p++) {
        if (s->up[p] != s->down[p] || s->a[p] == 0) continue;
        sum += s->G[p] + s->up[p];
        free++;
    }
    if (free > 0) return -sum / (double)free;
    if (isinf(w->up.value) || isinf(w->top))
        return isinf(w->up.value) ? (isinf(w->top) ? 0 : -w->top) : -w->up.value;
    return -(w->up.value + w->top) / 2;
}

static void finish(work *w, krein_smo_machine *m) {
    const krein_smo *s = w->s;
    unshrink(w);
    find_top(w);
    m->violation = w->top - w->up.value;
    m->intercept = intercept(w);
    m->objective = 0;
    m->support = 0;
    for (int64_t p = 0; p < m->m; p++) {
        double a = s->a[p] * w->unit;
        m->alpha[s->at[p]] = a;
        m->objective += a * (s->G[p] - s->y[p]) / 2 + m->epsilon * fabs(a);
        m->support += s->a[p] != 0;
    }
}

krein_status krein__smo(krein_ctx *ctx, krein_smo *s, int64_t n, const double *K,
                        krein_smo_machine *m) {
    krein_status st = KREIN_OK;
    work w = {.s = s, .m = m, .n = n, .K = K};
    int64_t most = krein__max(MOST, 100 * m->m), wait = krein__min(m->m, SHRINK);
    double visited = 0;
#if defined(__x86_64__)
    w.wide = has_avx2();
#endif
    m->iterations = 0;
    m->unfinished = true;
    begin(&w);
    while (m->iterations < most) {
        if (--wait <= 0) {
            wait = krein__min(m->m, SHRINK);
            shrink(&w);
        }
        int64_t i = w.up.at, j = -1;
        const float *row_i = i < 0 ? NULL : row_of(&w, i, -1);
        if (row_i) j = partner(&w, row_i);
        if (j < 0 || w.top - w.up.value <= m->tol) {
            if (w.active == m->m) {
                m->unfinished = false;
                break;
            }
            unshrink(&w);
            wait = 1;
            continue;
        }
        move(&w, i, j, row_i, row_of(&w, j, i));
        m->iterations++;
        if ((visited += (double)w.active) < POLL) continue;
        visited = 0;
        TRY(krein__poll(ctx));
        if (krein__late(m->deadline)) break;
    }
    finish(&w, m);
done:
    return st;
}

const krein_class krein__solver_smo = {
    .name = "smo",
    .summary = "support vector machines on the kernel matrix, by pairs of rows",
    .cite = "fan2005",
    .details = "Sequential minimal optimisation with second-order working sets and shrinking; a "
               "bound for each row, indefinite kernels too. Used by svm and svr with map=exact."};
