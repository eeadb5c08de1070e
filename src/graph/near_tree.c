/* near_tree.c -- the nearest rows by a k-d tree, for few columns (friedman1977)
 *
 * Rows are halved along the column in which their box is longest, down to LEAF of them. A row looks
 * at its own half first, and at a box only where its nearest point is not beyond the k-th distance
 * found so far. That point is the row with its columns moved into the box; its distance is computed
 * like that of a row and in the same order, so that rounding cannot make it larger than that of a
 * row in the box: the lists are those of brute force. O(n log n) in time where columns are few. */
#include "graph/near.h"

#include "num/blas.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { LEAF = 24, DEPTH = 64, COLUMNS = 256 };

typedef struct node {
    int64_t from, until; /* its rows, in `order` */
    int64_t left, right; /* nodes, -1: a leaf */
} node;

typedef struct tree {
    krein_ctx *ctx;
    const krein_rows *x;
    int64_t d;
    int32_t *order; /* rows */
    float *row;     /* the same rows in that order */
    double *value;  /* of each row, by which it is placed */
    node *at;
    float *box; /* of each node: low, high (2 d) */
    int64_t nodes;
} tree;

/* ---- the tree ----------------------------------------------------------- */

static void bound(tree *t, int64_t k) {
    float *low = t->box + 2 * t->d * k, *high = low + t->d;
    for (int64_t j = 0; j < t->d; j++) {
        low[j] = INFINITY;
        high[j] = -INFINITY;
    }
    for (int64_t i = t->at[k].from; i < t->at[k].until; i++) {
        const float *x = t->x->x + t->order[i] * t->x->ld;
        for (int64_t j = 0; j < t->d; j++) {
            low[j] = x[j] < low[j] ? x[j] : low[j];
            high[j] = x[j] > high[j] ? x[j] : high[j];
        }
    }
}

static int64_t longest(const tree *t, int64_t k) {
    const float *low = t->box + 2 * t->d * k, *high = low + t->d;
    int64_t best = 0;
    for (int64_t j = 1; j < t->d; j++)
        if (high[j] - low[j] > high[best] - low[best]) best = j;
    return best;
}

static void grow(tree *t) {
    t->nodes = 1;
    t->at[0] = (node){0, t->x->n, -1, -1};
    for (int64_t k = 0; k < t->nodes; k++) {
        node *n = &t->at[k];
        bound(t, k);
        if (n->until - n->from <= LEAF) continue;
        int64_t middle = n->from + (n->until - n->from) / 2;
        const float *column = t->x->x + longest(t, k);
        for (int64_t i = n->from; i < n->until; i++)
            t->value[t->order[i]] = (double)column[t->order[i] * t->x->ld];
        krein__near_halve(t->order, t->value, n->from, n->until, middle);
        n->left = t->nodes++;
        n->right = t->nodes++;
        t->at[n->left] = (node){n->from, middle, -1, -1};
        t->at[n->right] = (node){middle, n->until, -1, -1};
    }
    for (int64_t i = 0; i < t->x->n; i++)
        memcpy(t->row + i * t->d, t->x->x + t->order[i] * t->x->ld, (size_t)t->d * sizeof *t->row);
}

/* More nodes than there can be: leaves have more than LEAF / 2 rows. */
static int64_t room(int64_t n) { return 4 * (n / LEAF + 1) + 1; }

static krein_status tree_begin(krein_ctx *ctx, const krein_rows *x, tree *t) {
    krein_status st = KREIN_OK;
    *t = (tree){.ctx = ctx, .x = x, .d = x->d};
    NEW(t->order, x->n);
    NEW(t->row, x->n * x->d);
    NEW(t->value, x->n);
    NEW(t->at, room(x->n));
    NEW(t->box, 2 * x->d * room(x->n));
    for (int64_t i = 0; i < x->n; i++) t->order[i] = (int32_t)i;
    grow(t);
done:
    return st;
}

static void tree_end(tree *t) {
    krein_ctx *ctx = t->ctx;
    krein__free(ctx, t->order);
    krein__free(ctx, t->row);
    krein__free(ctx, t->value);
    krein__free(ctx, t->at);
    krein__free(ctx, t->box);
}

/* ---- a row -------------------------------------------------------------- */

static double box_square(const tree *t, int64_t k, const float *x) {
    const float *low = t->box + 2 * t->d * k, *high = low + t->d;
    float nearest[COLUMNS];
    for (int64_t j = 0; j < t->d; j++)
        nearest[j] = x[j] < low[j] ? low[j] : x[j] > high[j] ? high[j] : x[j];
    return krein__near_square(t->d, x, nearest);
}

static void look_leaf(const tree *t, const node *n, int64_t place, const double *weight,
                      krein_nearest *out) {
    const float *x = t->row + place * t->d;
    int64_t i = t->order[place];
    for (int64_t p = n->from; p < n->until; p++) {
        int64_t j = t->order[p];
        if (p == place || (weight && weight[j] == 0)) continue;
        krein__near_offer(out, i, j, krein__near_square(t->d, x, t->row + p * t->d));
    }
}

/* The row at that place of the order. */
static void look(const tree *t, int64_t place, const double *weight, krein_nearest *out) {
    struct {
        int64_t node;
        double square;
    } todo[DEPTH] = {{0, 0}};
    const float *x = t->row + place * t->d;
    const double *far = out->square + (int64_t)t->order[place] * out->k + out->k - 1;
    for (int n = 1; n > 0;) {
        int64_t k = todo[--n].node;
        if (todo[n].square > *far) continue;
        const node *at = &t->at[k];
        if (at->left < 0) {
            look_leaf(t, at, place, weight, out);
            continue;
        }
        double left = box_square(t, at->left, x), right = box_square(t, at->right, x);
        bool first = left < right || (left == right && place < t->at[at->right].from);
        todo[n].node = first ? at->right : at->left;
        todo[n++].square = first ? right : left;
        todo[n].node = first ? at->left : at->right;
        todo[n++].square = first ? left : right;
    }
}

krein_status krein__near_tree(krein_ctx *ctx, const krein_rows *x, const double *weight,
                              krein_nearest *out) {
    krein_status st = KREIN_OK;
    tree t = {.ctx = ctx};
    enum { WAVE = 1 << 16 };
    if (krein__rows_sparse(x) || x->d > COLUMNS)
        return krein__fail(ctx, KREIN_EARG,
                           "near=tree is for dense rows of at most %d columns; use near=exact",
                           COLUMNS);
    TRY(tree_begin(ctx, x, &t));
    for (int64_t from = 0; from < x->n; from += WAVE) {
        int64_t until = krein__min(x->n, from + WAVE);
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 256)
        for (int64_t i = from; i < until; i++) look(&t, i, weight, out);
        krein__progress(ctx, "neighbours", (double)until, (double)x->n);
        TRY(krein__poll(ctx));
    }
done:
    tree_end(&t);
    return st;
}

double krein__near_tree_bytes(int64_t n, int64_t d) {
    double D = (double)d, R = (double)room(n);
    return (double)n * (12 + 4 * D) + R * (sizeof(node) + 8 * D);
}

/* Measured on Gaussian clouds of 40,000 rows with 1 to 16 columns (bench/bench_graph.c): a row
 * takes about 2.3 us times 1.75 for each column beyond three, and by all pairs 0.4 to 0.6 ns for
 * each of the n rows. */
bool krein__near_tree_pays(int64_t n, int64_t d, bool sparse) {
    double D = (double)d, one = 2300 * pow(1.75, D - 3);
    return !sparse && d <= COLUMNS && one < (double)n * (.42 + .0125 * D);
}
