/* threads -- one model, several threads that predict with it at the same time.
 *
 * A model is never changed once it is made. Each thread has a context of its own, and its data are
 * opened on that: memory, messages and threads are then its own, too. */
#include <krein.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>

enum { TRAINED = 600, THREADS = 4, ROWS = 200 };

typedef struct work {
    const krein_model *model;
    int number;
    float x[ROWS][2];
    double value[ROWS];
    krein_status st;
    uint64_t peak;
} work;

static double truth(const float *x) { return sin((double)x[0]) + (double)x[1] * (double)x[1]; }

static void *predict(void *user) {
    work *w = user;
    krein_ctx_options o;
    krein_ctx *ctx = NULL;
    krein_ctx_options_init(&o);
    o.threads = 1; /* there are as many of us as is wanted */
    w->st = krein_ctx_create(&o, &ctx);
    if (w->st == KREIN_OK)
        w->st = krein_predict_dense(ctx, w->model, ROWS, 2, w->x[0], 2, w->value);
    if (w->st == KREIN_OK)
        w->peak = krein_ctx_peak_bytes(ctx);
    else
        fprintf(stderr, "thread %d: %s\n", w->number, krein_message(ctx));
    krein_ctx_destroy(ctx);
    return NULL;
}

static krein_status train(krein_ctx *ctx, krein_model **model) {
    static float x[TRAINED][2];
    static double y[TRAINED];
    krein_data *data = NULL;
    for (int i = 0; i < TRAINED; i++) {
        x[i][0] = (float)(0.01 * i - 3);
        x[i][1] = (float)sin(7.0 * i);
        y[i] = truth(x[i]);
    }
    krein_status st = krein_data_from_dense(ctx, TRAINED, 2, x[0], 2, y, NULL, NULL, &data);
    if (st == KREIN_OK) st = krein_train(ctx, data, NULL, NULL, model);
    krein_data_close(data);
    return st;
}

int main(void) {
    static work w[THREADS];
    pthread_t thread[THREADS];
    krein_ctx *ctx = NULL;
    krein_model *model = NULL;
    int started = 0, failed = 0;
    krein_status st = krein_ctx_create(NULL, &ctx);
    if (st == KREIN_OK) st = train(ctx, &model);
    for (; st == KREIN_OK && started < THREADS; started++) {
        work *one = &w[started];
        one->model = model;
        one->number = started + 1;
        for (int i = 0; i < ROWS; i++) {
            one->x[i][0] = (float)(0.02 * i - 2 + 0.003 * started);
            one->x[i][1] = (float)cos(3.0 * i + started);
        }
        if (pthread_create(&thread[started], NULL, predict, one) != 0) break;
    }
    for (int t = 0; t < started; t++) {
        double most = 0;
        pthread_join(thread[t], NULL);
        failed += w[t].st != KREIN_OK;
        for (int i = 0; i < ROWS; i++) most = fmax(most, fabs(w[t].value[i] - truth(w[t].x[i])));
        printf("thread %d: %d rows, largest error %.1e, %llu bytes at most\n", t + 1, ROWS, most,
               (unsigned long long)w[t].peak);
    }
    if (st != KREIN_OK) fprintf(stderr, "%s\n", krein_message(ctx));
    /* The model goes when no thread uses it any more, its context after it. */
    krein_model_destroy(model);
    krein_ctx_destroy(ctx);
    return st != KREIN_OK || started < THREADS || failed > 0;
}
