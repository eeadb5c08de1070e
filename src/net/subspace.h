/* subspace.h -- training of a net in a subspace of its parameters: th <- th - eta P P'g.
 *
 * The trained parameters of a net are one vector of m numbers here, in the order of the net's own
 * vector, without the gaps and without what is not trained (running statistics). P has s
 * orthonormal columns of that length; they stand as rows. */
#ifndef KREIN_NET_SUBSPACE_H
#define KREIN_NET_SUBSPACE_H

#include "file/archive.h"
#include "net/net.h"

/* Where the trained parameters are in the net's vector: runs of numbers. */
typedef struct krein_trained {
    krein_ctx *ctx;
    int64_t m, runs;
    int64_t *first, *length;
} krein_trained;
krein_status krein__trained_find(krein_ctx *ctx, const krein_net *net, krein_trained *out);
void krein__trained_clear(krein_trained *t);
void krein__trained_gather(const krein_trained *t, const float *p, float *to);
void krein__trained_scatter(const krein_trained *t, const float *from, float *p);
/* The same with float64 on the side of the m. */
void krein__trained_gather64(const krein_trained *t, const float *p, double *to);
void krein__trained_scatter64(const krein_trained *t, const double *from, float *p);

/* The net that a subspace belongs to. */
typedef struct krein_net_kind {
    const char *arch;
    krein_shape image;
    int64_t scores;
} krein_net_kind;

typedef struct krein_subspace {
    krein_ctx *ctx;
    char *arch;
    krein_shape image;
    int64_t scores;
    int64_t m, s;
    int64_t snapshots; /* of the path that it comes from; 0: it comes from no path */
    float *basis;      /* s x m, orthonormal rows */
    float *start;      /* m: where the path began */
    double *share;     /* s: of the path's variance; NULL: it comes from no path */
} krein_subspace;

void krein__subspace_clear(krein_subspace *s);
krein_status krein__subspace_save(krein_subspace *s, const char *path);
krein_status krein__subspace_load(krein_ctx *ctx, const char *path, krein_subspace *out);
/* KREIN_EMODEL where it is one of another net; name: of its file. */
krein_status krein__subspace_check(const krein_subspace *s, const char *name,
                                   const krein_net_kind *kind, int64_t m);

/* a = P'g (s numbers), g the m gradients; th += P c. The same bits for any number of threads. */
void krein__subspace_project(const krein_subspace *s, int threads, const float *g, float *a);
void krein__subspace_move(const krein_subspace *s, int threads, const float *c, float *th);

#endif
