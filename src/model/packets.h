/* packets.h -- blocks of predictions: given to the caller, or kept until the rows before are. */
#ifndef KREIN_PACKETS_H
#define KREIN_PACKETS_H

#include "model/model.h"

/* A block of scored rows. */
typedef struct krein_scored {
    int64_t n, first;
    double *score, *p;   /* p: probabilities, or NULL */
    const bool *dropped; /* or NULL */
    char *const *id;     /* or NULL */
    int8_t *in_set;      /* k, of labels: room for a row's; NULL: another head */
} krein_scored;
krein_status krein__tell(const krein_model *m, const krein_scored *b, krein_predict_fn fn,
                         void *user);

typedef struct krein_packet {
    char *bytes;
    int64_t length;
} krein_packet;

typedef struct krein_packets {
    krein_ctx *ctx;
    const krein_model *m;
    krein_packet *at;
    int64_t n, room, next;
    krein_predict_fn fn;
    void *user;
    int8_t *in_set; /* as in krein_scored */
} krein_packets;
krein_status krein__packets_keep(krein_packets *all, const krein_scored *b);
/* Those of all processes, by the first one: called by all. */
krein_status krein__packets_tell(krein_packets *all);
void krein__packets_clear(krein_packets *all);

#endif
