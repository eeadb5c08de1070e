/* loss.h -- losses of scores, with their gradients. */
#ifndef KREIN_NET_LOSS_H
#define KREIN_NET_LOSS_H

#include "base/spec.h"

/* What the k scores of a row should be. */
typedef struct krein_aims {
    const float *y;       /* n x k: numbers, or -1 and +1 for classes */
    const int32_t *class; /* n, or NULL: numbers */
    const float *weight;  /* n, or NULL: all 1. Rows of weight 0 have no loss. */
} krein_aims;

typedef struct krein_loss_class {
    krein_class cls;
    bool numbers;       /* it is for numbers as well as for classes */
    bool probabilities; /* exp of the scores are odds */
    /* Of one row with k scores: its value, and the gradient g of that. */
    double (*row)(int64_t k, const float *f, const float *y, int32_t class, float *g);
    /* The derivative of that gradient along r: h = (second derivative) r. */
    void (*r_row)(int64_t k, const float *f, const float *y, int32_t class, const float *r,
                  float *h);
} krein_loss_class;

#define LOSS(name) extern const krein_loss_class name;
#include "net/losses.def"
#undef LOSS
extern const krein_class *const krein__losses[];
extern const int64_t krein__loss_count;

/* The sum over n rows, weighted, and the gradient of `scale` times that (n x k). */
double krein__loss_rows(const krein_loss_class *loss, int64_t n, int64_t k, const float *f,
                        const krein_aims *aims, double scale, float *g);
/* The derivative of this gradient where f moves along r (n x k). */
void krein__loss_r_rows(const krein_loss_class *loss, int64_t n, int64_t k, const float *f,
                        const krein_aims *aims, double scale, const float *r, float *h);

#endif
