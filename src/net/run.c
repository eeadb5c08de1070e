/* run.c -- forwards through a net with as little memory as its shape allows.
 *
 * The output of a layer is read by the next one and by those that have a shortcut from it; behind
 * the last of these its place is free. A place is as large as the largest output: three of them are
 * enough for residual blocks, two for layers behind each other. */
#include "net/run.h"

#include <string.h>

enum { LINE = 16 }; /* floats of a cache line */

typedef struct plan {
    int64_t place[KREIN_NET_LAYERS]; /* of the output of each layer */
    int64_t places, size;            /* how many there are; floats of one */
    int64_t columns, whole, sums, scratch;
} plan;

static int64_t lines(int64_t floats) { return (floats + LINE - 1) / LINE * LINE; }

/* The layer that shortcut l comes from; -1: the input. */
static int64_t source(const krein_net *net, int64_t l) { return l - 1 - net->layer[l].back; }

/* The last layer that reads the output of layer l. */
static int64_t last_use(const krein_net *net, int64_t l) {
    int64_t last = l + 1;
    for (int64_t i = l + 2; i < net->layers; i++)
        if (net->layer[i].back > 0 && source(net, i) == l) last = i;
    return last;
}

static plan make_plan(const krein_net *net, int64_t rows) {
    plan out = {.scratch = krein__net_scratch(net, rows)};
    int64_t until[KREIN_NET_LAYERS] = {0}; /* of each place */
    int64_t tiles = (rows + KREIN_NET_TILE - 1) / KREIN_NET_TILE;
    for (int64_t l = 0; l < net->layers; l++) {
        const krein_layer *at = &net->layer[l];
        int64_t k = 0;
        while (k < out.places && until[k] >= l) k++;
        out.places = krein__max(out.places, k + 1);
        out.place[l] = k;
        until[k] = last_use(net, l);
        out.size = krein__max(out.size, lines(rows * at->out));
        if (at->by_columns)
            out.columns = krein__max(out.columns, lines(tiles * KREIN_NET_TILE * at->in));
        out.whole = krein__max(out.whole, lines(at->whole));
        out.sums = krein__max(out.sums, lines(KREIN_NET_GROUPS * at->sums));
    }
    return out;
}

int64_t krein__net_run_floats(const krein_net *net, int64_t rows) {
    plan s = make_plan(net, rows);
    return s.places * s.size + s.columns + s.whole + s.sums + s.scratch + LINE;
}

const float *krein__net_run(const krein_net *net, int64_t rows, float *x, float *memory) {
    plan s = make_plan(net, rows);
    krein_net_work w = {.net = net,
                        .rows = rows,
                        .x = x,
                        .p = net->p,
                        .statistics = KREIN_STATISTICS_RUNNING,
                        .each = s.scratch};
    float *at = (float *)(((uintptr_t)memory + 63) / 64 * 64);
    float *columns = at + s.places * s.size, *whole = columns + s.columns, *sums = whole + s.whole;
    w.scratch = sums + s.sums;
    memset(columns, 0, (size_t)(s.columns + s.whole + s.sums) * sizeof *columns);
    for (int64_t l = 0; l < net->layers; l++) {
        krein_pass *b = &w.pass[l];
        b->out = at + s.place[l] * s.size;
        b->x = l > 0 ? w.pass[l - 1].out : x;
        b->columns = columns;
        b->whole = whole;
        b->sums = sums;
        if (net->layer[l].back > 0) b->aside = source(net, l) >= 0 ? w.pass[source(net, l)].out : x;
    }
    return krein__net_forward(&w, rows);
}
