/* nearest.c -- lists of nearest rows, and distances of rows. */
#include "graph/near.h"

#include <math.h>

krein_status krein__nearest_begin(krein_ctx *ctx, int64_t n, int64_t k, krein_nearest *nn) {
    krein_status st = KREIN_OK;
    *nn = (krein_nearest){.n = n, .k = k};
    NEW(nn->near, n * k);
    NEW(nn->square, n * k);
    for (int64_t i = 0; i < n * k; i++) {
        nn->near[i] = -1;
        nn->square[i] = INFINITY;
    }
done:
    return st;
}

void krein__nearest_end(krein_ctx *ctx, krein_nearest *nn) {
    krein__free(ctx, nn->near);
    krein__free(ctx, nn->square);
    *nn = (krein_nearest){0};
}

bool krein__near_offer(krein_nearest *nn, int64_t i, int64_t j, double v) {
    int64_t k = nn->k, at = k;
    int32_t *near = nn->near + i * k;
    double *square = nn->square + i * k;
    while (at > 0 && (v < square[at - 1] || (v == square[at - 1] && (int32_t)j < near[at - 1])))
        at--;
    if (at == k || (at > 0 && near[at - 1] == (int32_t)j)) return false;
    for (int64_t to = k - 1; to > at; to--) {
        near[to] = near[to - 1];
        square[to] = square[to - 1];
    }
    near[at] = (int32_t)j;
    square[at] = v;
    return true;
}

static double sparse_distance(const krein_rows *x, int64_t i, int64_t j) {
    double sum = 0;
    int64_t a = x->ptr[i], b = x->ptr[j];
    const int64_t a1 = x->ptr[i + 1], b1 = x->ptr[j + 1];
    while (a < a1 || b < b1) {
        bool left = a < a1 && (b == b1 || x->col[a] <= x->col[b]),
             right = b < b1 && (a == a1 || x->col[b] <= x->col[a]);
        double v = (left ? (double)x->val[a] : 0) - (right ? (double)x->val[b] : 0);
        sum += v * v;
        a += left;
        b += right;
    }
    return sum;
}

double krein__near_distance(const krein_rows *x, int64_t i, int64_t j) {
    if (krein__rows_sparse(x)) return sparse_distance(x, i, j);
    return krein__near_square(x->d, x->x + i * x->ld, x->x + j * x->ld);
}

static bool before(const double *value, int32_t a, int32_t b) {
    return value[a] < value[b] || (value[a] == value[b] && a < b);
}

void krein__near_halve(int32_t *o, const double *value, int64_t from, int64_t until,
                       int64_t middle) {
    while (until - from > 1) {
        int32_t pivot = o[from + (until - from) / 2];
        int64_t i = from, j = until - 1;
        while (i <= j) {
            while (before(value, o[i], pivot)) i++;
            while (before(value, pivot, o[j])) j--;
            if (i > j) break;
            int32_t swap = o[i];
            o[i++] = o[j];
            o[j--] = swap;
        }
        if (middle <= j)
            until = j + 1;
        else if (middle >= i)
            from = i;
        else
            return;
    }
}
