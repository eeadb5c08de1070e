/* circulation.c -- flows between nodes made to balance, by taking paths away
 *
 * A flow is a sum of cycles, which balance at every node, and of paths that lead from nodes with
 * more going out than coming in (sources) to nodes with more coming in (sinks). Every node with
 * an excess going out reaches a sink: nothing leaves the set of nodes reached, so the set as a
 * whole takes in. Each path taken away, a shortest one, ends a source, a sink or an edge, so there
 * are at most k^2 + 2k, and rarely more than 2k where the imbalance is small. k^2 for each.
 */
#include "solve/circulation.h"

#include <math.h>

typedef struct network {
    int64_t k;
    double *flow, *excess, tiny; /* excess: what goes out more than comes in */
    int32_t *from, *queue;       /* of the search: the node before, -1: not reached */
} network;

static void balance(network *w) {
    double total = 0;
    for (int64_t a = 0; a < w->k; a++)
        for (int64_t b = 0; b < w->k; b++) {
            if (a == b) continue;
            w->excess[a] += w->flow[a * w->k + b];
            w->excess[b] -= w->flow[a * w->k + b];
            total += w->flow[a * w->k + b];
        }
    w->tiny = 1e-14 * total;
}

/* The sink nearest to `source`, -1: none, which only rounding can bring about. */
static int64_t nearest_sink(network *w, int64_t source) {
    int64_t k = w->k, head = 0, tail = 0;
    for (int64_t a = 0; a < k; a++) w->from[a] = -1;
    w->from[source] = (int32_t)source;
    w->queue[tail++] = (int32_t)source;
    while (head < tail) {
        int64_t a = w->queue[head++];
        if (w->excess[a] < 0) return a;
        for (int64_t b = 0; b < k; b++) {
            if (w->from[b] >= 0 || a == b || !(w->flow[a * k + b] > 0)) continue;
            w->from[b] = (int32_t)a;
            w->queue[tail++] = (int32_t)b;
        }
    }
    return -1;
}

static void take_away(network *w, int64_t source, int64_t sink) {
    double amount = fmin(w->excess[source], -w->excess[sink]);
    for (int64_t b = sink; b != source; b = w->from[b])
        amount = fmin(amount, w->flow[w->from[b] * w->k + b]);
    for (int64_t b = sink; b != source; b = w->from[b]) {
        double *edge = &w->flow[w->from[b] * w->k + b];
        *edge = *edge > amount ? *edge - amount : 0;
    }
    w->excess[source] -= amount;
    w->excess[sink] += amount;
}

krein_status krein__circulation(krein_ctx *ctx, int64_t k, double *flow) {
    krein_status st = KREIN_OK;
    network w = {.k = k, .flow = flow};
    ZNEW(w.excess, k);
    NEW(w.from, k);
    NEW(w.queue, k);
    balance(&w);
    for (int64_t source = 0; source < k; source++)
        while (w.excess[source] > w.tiny) {
            int64_t sink = nearest_sink(&w, source);
            if (sink < 0) break;
            take_away(&w, source, sink);
        }
done:
    krein__free(ctx, w.excess);
    krein__free(ctx, w.from);
    krein__free(ctx, w.queue);
    return st;
}
