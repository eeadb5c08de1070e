/* model.h -- the trained pipe: encoding -> map -> weights. */
#ifndef KREIN_MODEL_H
#define KREIN_MODEL_H

#include "map/map.h"

struct krein_model {
    krein_ctx *ctx;
    krein_encoding encoding;
    krein_map *map;
    char *learner; /* complete specs, for people and for training again */
    char *kernel_text, *map_text;
    double lambda;
    int64_t n;         /* rows trained on */
    int64_t k;         /* outputs: targets; classes, but one for two classes */
    double *w;         /* R x k, weights of the raw features */
    double *intercept; /* k */
    int64_t bytes;     /* of the file it came from or went to, 0 before */
};

/* Outputs of the linear model for a task. */
int64_t krein__model_outputs(const krein_encoding *e);

/* Decision values of encoded rows, threaded over tiles; out is x->n x k. */
typedef struct krein_scorer {
    const krein_model *model;
    void *scratch;
    int64_t each; /* bytes of scratch per thread */
} krein_scorer;
krein_status krein__scorer_begin(const krein_model *model, krein_scorer *out);
void krein__scorer_run(const krein_scorer *s, const krein_rows *x, double *out);
void krein__scorer_end(krein_scorer *s);
/* The class that the k decision values of a row stand for. */
int64_t krein__model_decide(const krein_model *model, const double *score);

/* Metrics over the given part of data that has been learned or matched already. */
krein_status krein__model_measure(const krein_model *model, krein_data *data, int part,
                                  krein_metrics *out);

#endif
