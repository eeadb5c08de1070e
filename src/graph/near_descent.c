/* near_descent.c -- nearest rows, approximately: a neighbour of a neighbour is likely one
 * (dong2011)
 *
 * Lists of L > k rows are begun by TREES random trees: rows are halved by which of two of them is
 * nearer, down to LEAF rows, and those of a leaf are compared. Then, again and again, each row
 * brings together the rows that it names and those that name it: two of them are compared unless
 * both were there the time before. It ends when less than 1 in 1,000 places of the lists changes.
 *
 * Departures from the paper: the trees in the place of random lists; of the new ones in a list the
 * nearest take part first, the others in a later round; of more than SIDE rows that name one,
 * every so-many-th takes part. Which pairs are compared in a round is fixed at its beginning, and
 * lists keep the smallest by (distance, number), so that threads do not change what comes out.
 * About n^1.14 comparisons in the paper's experiments; recall is measured (near_recall.c). */
#include "graph/near.h"

#include "base/rng.h"
#include "num/blas.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { TREES = 4, LEAF = 32, SIDE = 12, ROUNDS = 20, CHUNK = 2048 };
enum { TEAM = 2 * SIDE, PAIRS = TEAM * (TEAM - 1) / 2 + TEAM * TEAM };

typedef struct found {
    int32_t a, b;
    double square;
} found;

typedef struct descent {
    krein_ctx *ctx;
    const krein_rows *x;
    const double *weight;
    krein_rng rng;
    int64_t n, L;
    krein_nearest nn;
    uint8_t *fresh;       /* n x L: the entry came since it last took part */
    int32_t *new, *old;   /* n x SIDE: that take part in the round, -1: none */
    int32_t *rnew, *rold; /* n x SIDE: those who name the row among them */
    found *pair;          /* CHUNK x PAIRS */
    int64_t *pairs;       /* CHUNK */
} descent;

/* As krein__near_offer, with the flags. */
static bool put(descent *s, int64_t i, int64_t j, double square) {
    int64_t L = s->L, at = L - 1;
    uint8_t *fresh = s->fresh + i * L;
    const int32_t *near = s->nn.near + i * L;
    if (s->weight && s->weight[j] == 0) return false;
    if (!krein__near_offer(&s->nn, i, j, square)) return false;
    for (; near[at] != (int32_t)j; at--) fresh[at] = fresh[at - 1];
    fresh[at] = 1;
    return true;
}

/* ---- random trees ------------------------------------------------------- */

static void join_leaf(descent *s, const int32_t *row, int64_t m) {
    for (int64_t a = 0; a < m; a++)
        for (int64_t b = a + 1; b < m; b++) {
            double square = krein__near_distance(s->x, row[a], row[b]);
            put(s, row[a], row[b], square);
            put(s, row[b], row[a], square);
        }
}

/* Cuts the rows of a part in two; its first place and the tree address what is drawn. */
static void cut(const descent *s, uint64_t tree, int32_t *order, double *value, int64_t from,
                int64_t until, int64_t depth) {
    int64_t m = until - from;
    uint64_t at = (uint64_t)from << 8 | (uint64_t)depth;
    int64_t p = (int64_t)krein__rng_below(s->rng, at, 2 * tree, (uint64_t)m),
            q = (int64_t)krein__rng_below(s->rng, at, 2 * tree + 1, (uint64_t)m - 1);
    q += q >= p;
    int32_t a = order[from + p], b = order[from + q];
    for (int64_t i = from; i < until; i++) {
        int32_t r = order[i];
        double v = krein__near_distance(s->x, r, a) - krein__near_distance(s->x, r, b);
        value[r] = isfinite(v) ? v : 0;
    }
    krein__near_halve(order, value, from, until, from + m / 2);
}

/* Level by level: parts are halved until they are leaves. */
static krein_status grow(descent *s, uint64_t tree, int32_t *order, double *value) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    int64_t parts = 1, depth = 0;
    for (int64_t i = 0; i < s->n; i++) order[i] = (int32_t)i;
    for (; s->n / parts > LEAF; parts *= 2, depth++) {
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
        for (int64_t p = 0; p < parts; p++)
            cut(s, tree, order, value, p * s->n / parts, (p + 1) * s->n / parts, depth);
        TRY(krein__poll(ctx));
    }
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 16)
    for (int64_t p = 0; p < parts; p++) {
        int64_t from = p * s->n / parts;
        join_leaf(s, order + from, (p + 1) * s->n / parts - from);
    }
done:
    return st;
}

static krein_status begin_lists(descent *s) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    int32_t *order = NULL;
    double *value = NULL;
    NEW(order, s->n);
    NEW(value, s->n);
    for (uint64_t t = 0; t < TREES; t++) TRY(grow(s, t, order, value));
done:
    krein__free(ctx, order);
    krein__free(ctx, value);
    return st;
}

/* ---- a round ------------------------------------------------------------ */

/* Who takes part: the nearest of the fresh ones, which are not fresh any more, and of the others.
 */
static void choose(descent *s, int64_t i) {
    int64_t news = 0, olds = 0;
    for (int64_t t = 0; t < SIDE; t++) s->new[i * SIDE + t] = s->old[i * SIDE + t] = -1;
    for (int64_t t = 0; t < s->L; t++) {
        int32_t j = s->nn.near[i * s->L + t];
        uint8_t *fresh = &s->fresh[i * s->L + t];
        if (j < 0) break;
        if (*fresh && news < SIDE) {
            s->new[i * SIDE + news++] = j;
            *fresh = 0;
        } else if (!*fresh && olds < SIDE) {
            s->old[i * SIDE + olds++] = j;
        }
    }
}

/* Those who name a row: all, or every so-many-th from a random one on. */
static krein_status reverse(descent *s, const int32_t *of, uint64_t round, int32_t *out) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    int64_t *ptr = NULL, total = s->n * SIDE;
    int32_t *who = NULL;
    ZNEW(ptr, s->n + 2);
    NEW(who, total);
    for (int64_t e = 0; e < total; e++)
        if (of[e] >= 0) ptr[of[e] + 2]++;
    for (int64_t i = 0; i < s->n; i++) ptr[i + 2] += ptr[i + 1];
    for (int64_t e = 0; e < total; e++)
        if (of[e] >= 0) who[ptr[of[e] + 1]++] = (int32_t)(e / SIDE);
    for (int64_t i = 0; i < s->n; i++) {
        int64_t m = ptr[i + 1] - ptr[i];
        double u = m > SIDE ? krein__rng_uniform(s->rng, (uint64_t)i, round) : 0;
        for (int64_t t = 0; t < SIDE; t++) {
            int64_t at = m > SIDE ? (int64_t)(((double)t + u) * (double)m / SIDE) : t;
            out[i * SIDE + t] = at < m ? who[ptr[i] + at] : -1;
        }
    }
done:
    krein__free(ctx, ptr);
    krein__free(ctx, who);
    return st;
}

/* Both sides without repetitions. */
static int64_t team(const int32_t *a, const int32_t *b, int32_t *out) {
    int64_t n = 0;
    for (int64_t t = 0; t < TEAM; t++) {
        int32_t j = t < SIDE ? a[t] : b[t - SIDE];
        bool there = j < 0;
        for (int64_t u = 0; u < n && !there; u++) there = out[u] == j;
        if (!there) out[n++] = j;
    }
    return n;
}

static void meet(const descent *s, int32_t a, int32_t b, found *to, int64_t *n) {
    if (a == b) return;
    double square = krein__near_distance(s->x, a, b);
    if (square <= s->nn.square[a * s->L + s->L - 1] || square <= s->nn.square[b * s->L + s->L - 1])
        to[(*n)++] = (found){a, b, square};
}

static int64_t join(const descent *s, int64_t i, found *to) {
    int32_t new[TEAM], old[TEAM];
    int64_t n = 0, news = team(s->new + i *SIDE, s->rnew + i * SIDE, new),
            olds = team(s->old + i * SIDE, s->rold + i * SIDE, old);
    for (int64_t a = 0; a < news; a++) {
        for (int64_t b = a + 1; b < news; b++) meet(s, new[a], new[b], to, &n);
        for (int64_t b = 0; b < olds; b++) meet(s, new[a], old[b], to, &n);
    }
    return n;
}

/* What was found, into the lists of the rows of which `part` of `parts` has charge. */
static void apply(descent *s, int64_t rows, int64_t part, int64_t parts) {
    for (int64_t r = 0; r < rows; r++)
        for (int64_t e = 0; e < s->pairs[r]; e++) {
            const found *f = &s->pair[r * PAIRS + e];
            if (f->a % parts == part) put(s, f->a, f->b, f->square);
            if (f->b % parts == part) put(s, f->b, f->a, f->square);
        }
}

static krein_status round_of(descent *s, uint64_t round) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    for (int64_t i = 0; i < s->n; i++) choose(s, i);
    TRY(reverse(s, s->new, 2 * round, s->rnew));
    TRY(reverse(s, s->old, 2 * round + 1, s->rold));
    for (int64_t from = 0; from < s->n; from += CHUNK) {
        int64_t rows = krein__min(CHUNK, s->n - from);
        int parts = ctx->threads;
#pragma omp parallel for num_threads(parts) schedule(dynamic, 32)
        for (int64_t r = 0; r < rows; r++) s->pairs[r] = join(s, from + r, s->pair + r * PAIRS);
#pragma omp parallel for num_threads(parts) schedule(static)
        for (int64_t p = 0; p < parts; p++) apply(s, rows, p, parts);
        TRY(krein__poll(ctx));
    }
done:
    return st;
}

static int64_t count_fresh(const descent *s) {
    int64_t n = 0;
    for (int64_t e = 0; e < s->n * s->L; e++) n += s->fresh[e];
    return n;
}

/* ---- the whole ---------------------------------------------------------- */

/* Longer lists find more. */
static int64_t length(int64_t n, int64_t k) { return krein__min(n - 1, krein__max(20, k + k / 2)); }

static krein_status descend(descent *s) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    NEW(s->new, s->n * SIDE);
    NEW(s->old, s->n * SIDE);
    NEW(s->rnew, s->n * SIDE);
    NEW(s->rold, s->n * SIDE);
    NEW(s->pair, CHUNK * (int64_t)PAIRS);
    NEW(s->pairs, CHUNK);
    TRY(begin_lists(s));
    for (uint64_t round = 0; round < ROUNDS; round++) {
        TRY(round_of(s, round));
        int64_t fresh = count_fresh(s);
        krein__progress(ctx, "neighbours", (double)(round + 1), ROUNDS);
        krein__log(ctx, KREIN_LOG_DEBUG, "neighbours: round %d, %.2f %% of the places are new",
                   (int)round + 1, 100.0 * (double)fresh / (double)(s->n * s->L));
        if (fresh * 1000 < s->n * s->L || krein__enough(ctx)) break;
    }
    krein__progress(ctx, "neighbours", ROUNDS, ROUNDS);
done:
    return st;
}

krein_status krein__near_descent(krein_ctx *ctx, const krein_rows *x, const double *weight,
                                 uint64_t seed, krein_nearest *out) {
    krein_status st = KREIN_OK;
    descent s = {.ctx = ctx,
                 .x = x,
                 .weight = weight,
                 .rng = {seed, KREIN_STREAM_GRAPH},
                 .n = x->n,
                 .L = length(x->n, out->k)};
    TRY(krein__nearest_begin(ctx, s.n, s.L, &s.nn));
    ZNEW(s.fresh, s.n * s.L);
    TRY(descend(&s));
    for (int64_t i = 0; i < s.n; i++) {
        memcpy(out->near + i * out->k, s.nn.near + i * s.L, (size_t)out->k * sizeof *out->near);
        memcpy(out->square + i * out->k, s.nn.square + i * s.L,
               (size_t)out->k * sizeof *out->square);
    }
done:
    krein__nearest_end(ctx, &s.nn);
    krein__free(ctx, s.fresh);
    krein__free(ctx, s.new);
    krein__free(ctx, s.old);
    krein__free(ctx, s.rnew);
    krein__free(ctx, s.rold);
    krein__free(ctx, s.pair);
    krein__free(ctx, s.pairs);
    return st;
}

double krein__near_descent_bytes(int64_t n, int64_t k) {
    double N = (double)n, L = (double)length(n, k);
    return N * (13 * L + 4.0 * 5 * SIDE + 16) + (double)CHUNK * ((double)PAIRS * sizeof(found) + 8);
}
