/* test_net_fit.c -- the loop over mini-batches: reference values, convergence to a known spectrum,
 * the same bits for any number of threads, the ways in which it ends. */
#include "common.h"

#include "base/rng.h"
#include "net/fit.h"

/* ---- FORMULAS 10 -------------------------------------------------------- */

enum { IN = 3, M = 5, OUT = 2, LABELLED = 4, ALL = 6 };

static void set_spectrum(const krein_net *net) {
    krein_spectrum_at at = krein__spectral_at(&net->layer[0], net->p);
    for (int64_t j = 0; j < IN; j++)
        for (int64_t f = 0; f < M; f++) {
            at.first[krein__panel_index(IN, j, f)] = (float)det(j, f, .3);
            at.second[krein__panel_index(IN, j, f)] = (float)det(j, f, 1.9);
        }
    for (int64_t f = 0; at.phase && f < M; f++) at.phase[f] = (float)(det(0, f, .9) / (2 * M_PI));
}

static krein_net make_net(krein_ctx *ctx, int64_t in, const char *first, const char *second) {
    krein_net net;
    krein__net_begin(ctx, in, &net);
    if (krein__net_add(&net, first) != KREIN_OK ||
        (second && krein__net_add(&net, second) != KREIN_OK) || krein__net_ready(&net) != KREIN_OK)
        exit(1);
    return net;
}

static const float *run_rows(krein_net_work *w, const float *x, int64_t n) {
    krein_rows rows = krein__rows_dense(n, w->net->in, x, w->net->in);
    krein__net_load(w, &rows, NULL, n);
    return krein__net_forward(w, n);
}

static void features(void) {
    krein_ctx *ctx = test_ctx(1);
    float *x = test_dense(4, IN, 0);
    krein_net_work w = {0};
    static const double want[] = {.470214882816, .557587027369, .504867306513, .61071436442,
                                  .28750932864};
    krein_net net = make_net(ctx, IN, "spectral(width=5)", NULL);
    set_spectrum(&net);
    CHECK(krein__net_work_begin(&net, 4, false, &w) == KREIN_OK);
    const float *z = run_rows(&w, x, 2);
    for (int f = 0; f < M; f++) CHECK_ABS((double)z[f], want[f], 5e-7);
    krein__net_work_end(&w);
    krein__net_clear(&net);
    net = make_net(ctx, IN, "spectral(width=10, sines=yes)", NULL);
    set_spectrum(&net);
    CHECK(krein__net_work_begin(&net, 4, false, &w) == KREIN_OK);
    z = run_rows(&w, x, 2);
    double sum = 0;
    for (int f = 0; f < 2 * M; f++) sum += (double)z[f] * (double)z[2 * M + f];
    CHECK_ABS(sum, .417179008723, 1e-6);
    krein__net_work_end(&w);
    krein__net_clear(&net);
    free(x);
    krein_ctx_destroy(ctx);
}

static void add_part(void *user, int64_t layer, int64_t ranges, const krein_range *range,
                     float *g) {
    double *to = user;
    (void)layer;
    for (int64_t q = 0; q < ranges; q++)
        for (int64_t i = 0; i < range[q].rows; i++)
            for (int64_t j = 0; j < range[q].columns; j++)
                to[range[q].first + i * range[q].ld + j] += (double)*g++;
}

static double length(const double *g, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += g[i] * g[i];
    return sqrt(sum);
}

/* J and its gradient: the loss on four rows, the penalty of z on six. */
static void objective(void) {
    static const struct {
        const krein_loss_class *loss;
        double J, smooth, first, second, W;
    } want[] = {
        {&krein__loss_square, 2.436898790096, 2.28258891298, .5084559744, .7777045847,
         1.5120308933},
        {&krein__loss_softmax, .78852563495, .634215757835, .1215938514, .1455331865, .1138559133}};
    const double lA = .05, lB = .02;
    krein_ctx *ctx = test_ctx(1);
    float *x = test_dense(LABELLED, IN, 0), *all = test_dense(ALL, IN, 0);
    float *y = test_dense(LABELLED, OUT, .5), *W = test_dense(M, OUT, 2.2);
    int32_t class[] = {0, 1, 1, 0};
    for (int q = 0; q < 2; q++) {
        krein_net net = make_net(ctx, IN, "spectral(width=5)", "affine(width=2, intercept=no)");
        krein_net_work w = {0};
        double *g = test_new(net.count, sizeof *g), trace;
        set_spectrum(&net);
        memcpy(net.p + net.layer[1].first, W, sizeof *W * M * OUT);
        CHECK(krein__net_work_begin(&net, ALL, true, &w) == KREIN_OK);
        const float *f = run_rows(&w, x, LABELLED);
        krein_aims aims = {y, class, NULL};
        double smooth =
            krein__loss_rows(want[q].loss, LABELLED, OUT, f, &aims, 1.0 / LABELLED, w.gradient[1]) /
            LABELLED;
        krein__net_backward(&w, 1);
        krein__net_gradient(&w, 1, add_part, g);
        krein__net_gradient(&w, 0, add_part, g);
        run_rows(&w, all, ALL);
        for (int i = 0; i < ALL * M; i++) {
            double z = (double)w.pass[0].out[i];
            smooth += lB * z * z;
            w.gradient[0][i] = (float)(2 * lB * z);
        }
        krein__net_gradient(&w, 0, add_part, g);
        CHECK(krein__penalty_value(ctx, KREIN_PENALTY_TRACE, 0, lA, M, OUT,
                                   net.p + net.layer[1].first, &trace) == KREIN_OK);
        CHECK_REL(smooth, want[q].smooth, 2e-6);
        CHECK_REL(smooth + trace, want[q].J, 2e-6);
        krein_spectrum_at at = krein__spectral_at(&net.layer[0], net.p);
        CHECK_REL(length(g + (at.first - net.p), IN * KREIN_PANEL), want[q].first, 1e-5);
        CHECK_REL(length(g + (at.second - net.p), IN * KREIN_PANEL), want[q].second, 1e-5);
        CHECK_REL(length(g + net.layer[1].first, M * OUT), want[q].W, 1e-5);
        krein__net_work_end(&w);
        krein__net_clear(&net);
        free(g);
    }
    free(x), free(all), free(y), free(W);
    krein_ctx_destroy(ctx);
}

/* ---- rows --------------------------------------------------------------- */

typedef struct problem {
    int64_t n, d, held, windows;
    int64_t k; /* outputs; 0: one */
    float *x, *y;
    int32_t *class; /* or NULL */
} problem;

/* Two waves: the frequencies that are to be found. */
static const double TRUE_W[2][2] = {{2, -1}, {-0.5, 2.5}};

static problem two_waves(int64_t n, int64_t held) {
    problem p = {.n = n, .d = 2, .held = held, .windows = 1};
    krein_rng g = {3, KREIN_STREAM_GENERATE};
    p.x = test_new((n + held) * 2, sizeof *p.x);
    p.y = test_new(n + held, sizeof *p.y);
    for (int64_t i = 0; i < n + held; i++) {
        double a = 0, b = 0;
        for (int64_t j = 0; j < 2; j++) {
            double x = 4 * krein__rng_uniform(g, (uint64_t)i, (uint64_t)j) - 2;
            p.x[2 * i + j] = (float)x;
            a += TRUE_W[0][j] * x;
            b += TRUE_W[1][j] * x;
        }
        p.y[i] = (float)(cos(a) + 0.8 * sin(b));
    }
    return p;
}

/* The same as two classes. */
static problem two_classes(int64_t n, int64_t held) {
    problem p = two_waves(n, held);
    p.class = test_new(n + held, sizeof *p.class);
    for (int64_t i = 0; i < n + held; i++) {
        p.class[i] = p.y[i] > 0;
        p.y[i] = p.class[i] ? 1 : -1;
    }
    return p;
}

static void drop(problem *p) {
    free(p->x);
    free(p->y);
    free(p->class);
}

static krein_window slice(const problem *p, int64_t first, int64_t n) {
    return (krein_window){
        krein__rows_dense(n, p->d, p->x + first * p->d, p->d),
        {p->y + first * krein__max(1, p->k), p->class ? p->class + first : NULL, NULL}};
}

static krein_status window(void *user, int64_t which, krein_window *out) {
    const problem *p = user;
    int64_t from = p->n * which / p->windows, end = p->n * (which + 1) / p->windows;
    *out = slice(p, from, end - from);
    return KREIN_OK;
}

static krein_fit_rows rows_of(problem *p) {
    return (krein_fit_rows){p->n, p->windows, window, p, slice(p, p->n, p->held)};
}

static krein_fit_options options_of(krein_ctx *ctx, const problem *p, const char *optimizer) {
    krein_fit_options o = {.loss = p->class ? &krein__loss_hinge : &krein__loss_square,
                           .epochs = 10,
                           .batch = 32,
                           .seed = 11};
    int64_t which;
    if (krein__parse_spec(ctx, optimizer, "optimizer", krein__optimizers, krein__optimizer_count,
                          &which, &o.optimizer.values) != KREIN_OK)
        exit(1);
    o.optimizer.cls = (const krein_optimizer_class *)krein__optimizers[which];
    o.rate = o.optimizer.cls->rate;
    return o;
}

/* Frequencies from a normal, phases uniform; the last layer is zero. */
static krein_net start_net(krein_ctx *ctx, int64_t d, const char *spectral, const char *affine) {
    krein_net net = make_net(ctx, d, spectral, affine);
    krein_spectrum_at at = krein__spectral_at(&net.layer[0], net.p);
    krein_rng g = {1, KREIN_STREAM_MAP}, h = {1, KREIN_STREAM_PHASE};
    for (int64_t f = 0; f < at.F; f++) {
        for (int64_t j = 0; j < d; j++) {
            int64_t i = krein__panel_index(d, j, f);
            at.first[i] = (float)(2 * krein__rng_normal(g, (uint64_t)f, (uint64_t)j));
            if (at.second != at.first)
                at.second[i] = (float)(2 * krein__rng_normal(g, (uint64_t)f, (uint64_t)(d + j)));
        }
        if (at.phase) at.phase[f] = (float)krein__rng_uniform(h, (uint64_t)f, 0);
    }
    return net;
}

/* ---- convergence -------------------------------------------------------- */

/* The energy of the head that lies on frequencies near one of the two true ones. */
static double found(const krein_net *net, int which) {
    krein_spectrum_at at = krein__spectral_at(&net->layer[0], net->p);
    const float *w = net->p + net->layer[1].first;
    double near = 0, all = 0;
    for (int64_t f = 0; f < at.F; f++) {
        double plus = 0, minus = 0, e = (double)w[f] * (double)w[f];
        for (int64_t j = 0; j < 2; j++) {
            double w_j = (double)at.first[krein__panel_index(2, j, f)];
            plus += pow(w_j - TRUE_W[which][j], 2);
            minus += pow(w_j + TRUE_W[which][j], 2);
        }
        near += fmin(plus, minus) < 0.3 * 0.3 ? e : 0;
        all += e;
    }
    return near / all;
}

static void finds_the_true_frequencies(void) {
    krein_ctx *ctx = test_ctx(2);
    int64_t n = test_sanitized() ? 1000 : 2000;
    problem p = two_waves(n, 400);
    krein_net net = start_net(ctx, 2, "spectral(width=24, spectrum=stationary)", "affine(width=1)");
    krein_fit_rows rows = rows_of(&p);
    krein_fit_options o = options_of(ctx, &p, "adam");
    krein_fit_report r;
    o.epochs = 80;
    o.rate = 0.02;
    o.schedule = KREIN_SCHEDULE_COSINE;
    o.penalty = KREIN_PENALTY_GROUP; /* features that are not needed go */
    o.lambda_a = 0.01;
    CHECK(krein__net_fit(&net, &rows, &o, &r) == KREIN_OK);
    CHECK(r.end == KREIN_FIT_EPOCHS && r.epochs == 80);
    double first = found(&net, 0), second = found(&net, 1);
    CHECK_ELSE(r.best.error < 0.1, "error %g\n", r.best.error);
    CHECK_ELSE(first > 0.2 && second > 0.2 && first + second > 0.9,
               "energy on the true frequencies: %g and %g\n", first, second);
    krein__values_clear(ctx, &o.optimizer.values);
    krein__net_clear(&net);
    drop(&p);
    krein_ctx_destroy(ctx);
}

/* Every optimiser and loss learns the classes. */
static void learns(void) {
    for (int64_t q = 0; q < krein__optimizer_count; q++)
        for (int64_t l = 0; l < krein__loss_count; l++) {
            krein_ctx *ctx = test_ctx(1);
            problem p = two_classes(800, 300);
            krein_net net = start_net(ctx, 2, "spectral(width=32)", "affine(width=1)");
            krein_fit_rows rows = rows_of(&p);
            krein_fit_options o = options_of(ctx, &p, krein__optimizers[q]->name);
            krein_fit_report r;
            o.loss = (const krein_loss_class *)krein__losses[l];
            o.epochs = 30;
            o.rate = q == 1 ? 0.02 : o.rate;
            CHECK(krein__net_fit(&net, &rows, &o, &r) == KREIN_OK);
            CHECK_ELSE(r.best.error < 0.15, "%s, %s: error %g\n", krein__optimizers[q]->name,
                       krein__losses[l]->name, r.best.error);
            krein__values_clear(ctx, &o.optimizer.values);
            krein__net_clear(&net);
            CHECK(atomic_load(&ctx->held) == 0);
            drop(&p);
            krein_ctx_destroy(ctx);
        }
}

/* ---- bits --------------------------------------------------------------- */

static float *trained(int threads, double clip, int64_t windows, int64_t batch) {
    krein_ctx *ctx = test_ctx(threads);
    problem p = two_classes(500, 100);
    p.windows = windows;
    krein_net net = start_net(ctx, 2, "spectral(width=300)", "affine(width=1)");
    krein_fit_rows rows = rows_of(&p);
    krein_fit_options o = options_of(ctx, &p, "adam");
    krein_fit_report r;
    o.epochs = 3;
    o.batch = batch;
    o.clip = clip;
    o.penalty = KREIN_PENALTY_TRACE;
    o.lambda_a = 1e-3;
    o.lambda_b = 1e-2;
    CHECK(krein__net_fit(&net, &rows, &o, &r) == KREIN_OK);
    float *out = test_new(net.count, sizeof *out);
    memcpy(out, net.p, (size_t)net.count * sizeof *out);
    krein__values_clear(ctx, &o.optimizer.values);
    krein__net_clear(&net);
    drop(&p);
    krein_ctx_destroy(ctx);
    return out;
}

static void bits(void) {
    size_t size = (2 * 2 * 300 + 300 + 300 + 1) * sizeof(float);
    for (int64_t batch = 32; batch <= 200; batch += 84) {
        float *one = trained(1, 0, 1, batch), *two = trained(2, 0, 1, batch);
        float *three = trained(3, 0, 1, batch), *unclipped = trained(2, 1e9, 1, batch);
        float *clipped = trained(1, 1e-3, 1, batch), *again = trained(2, 1e-3, 1, batch);
        float *windows = trained(1, 0, 3, batch), *w2 = trained(2, 0, 3, batch);
        CHECK(memcmp(one, two, size) == 0 && memcmp(one, three, size) == 0);
        CHECK(memcmp(one, unclipped, size) == 0); /* made whole, the gradient is the same */
        CHECK(memcmp(clipped, again, size) == 0 && memcmp(clipped, one, size) != 0);
        CHECK(memcmp(windows, w2, size) == 0 && memcmp(windows, one, size) != 0);
        free(one), free(two), free(three), free(unclipped);
        free(clipped), free(again), free(windows), free(w2);
    }
}

/* An epoch visits every row once, in windows or not: where nothing moves its mean loss is that of
 * all rows. */
static void visits_every_row_once(void) {
    for (int64_t windows = 1; windows <= 4; windows++) {
        krein_ctx *ctx = test_ctx(1);
        problem p = two_waves(301, 0);
        krein_net net = start_net(ctx, 2, "spectral(width=20)", "affine(width=1)");
        for (int i = 0; i < 20; i++) net.p[net.layer[1].first + i] = (float)det(i, 0, 0.1);
        p.windows = windows;
        krein_fit_rows rows = rows_of(&p);
        krein_fit_options o = options_of(ctx, &p, "sgd");
        krein_fit_report r;
        krein_net_work w = {0};
        krein_window all = slice(&p, 0, p.n);
        double mean, error;
        o.rate = 1e-30;
        o.epochs = 2;
        CHECK(krein__net_work_begin(&net, 64, true, &w) == KREIN_OK);
        CHECK(krein__net_measure(&w, &all, o.loss, &mean, &error, NULL) == KREIN_OK);
        CHECK(krein__net_fit(&net, &rows, &o, &r) == KREIN_OK);
        CHECK(r.epochs == 2 && r.steps >= 20);
        CHECK_REL(r.last.loss, mean, 1e-6);
        krein__net_work_end(&w);
        krein__values_clear(ctx, &o.optimizer.values);
        krein__net_clear(&net);
        drop(&p);
        krein_ctx_destroy(ctx);
    }
}

typedef struct watcher {
    bool loss, error;
    double last;
} watcher;

static void watch(void *user, const char *what, double done, double total) {
    watcher *w = user;
    w->loss = w->loss || strstr(what, "loss ");
    w->error = w->error || strstr(what, "error ");
    w->last = done / total;
}

/* Progress has the loss, and the error of the rows held out where there are some. */
static void tells_how_far_it_is(void) {
    for (int64_t held = 0; held <= 100; held += 100) {
        krein_ctx *ctx = test_ctx(1);
        problem p = two_waves(300, held);
        krein_net net = start_net(ctx, 2, "spectral(width=20)", "affine(width=1)");
        krein_fit_rows rows = rows_of(&p);
        krein_fit_options o = options_of(ctx, &p, "adam");
        krein_fit_report r;
        watcher seen = {0};
        ctx->progress = watch;
        ctx->user = &seen;
        CHECK(krein__net_fit(&net, &rows, &o, &r) == KREIN_OK);
        CHECK(seen.loss && seen.error == (held > 0) && seen.last == 1);
        krein__values_clear(ctx, &o.optimizer.values);
        krein__net_clear(&net);
        drop(&p);
        krein_ctx_destroy(ctx);
    }
}

/* ---- interrupted -------------------------------------------------------- */

/* Keeps states in memory. */
typedef struct memory {
    krein_fit_snapshot s;
    float *array[4];
    bool there;
    bool killed;    /* nothing is kept at a cancel */
    int64_t asked;  /* how often it was due */
    int64_t states; /* kept */
    int64_t polls;  /* until the cancel; < 0: never */
} memory;

static int stop(void *user) {
    memory *m = user;
    return m->polls >= 0 && m->polls-- == 0;
}

static bool due(void *user) { return ((memory *)user)->asked++ % 5 == 0; }

static krein_status keep_state(void *user, const krein_fit_snapshot *now, bool must) {
    memory *m = user;
    if (must && m->killed) return KREIN_OK;
    const float *from[] = {now->p, now->best, now->s, now->r};
    for (int i = 0; i < (now->at.done ? 1 : 4); i++) {
        if (!m->array[i]) m->array[i] = test_new(now->count, sizeof(float));
        if (from[i]) memcpy(m->array[i], from[i], (size_t)now->count * sizeof(float));
    }
    m->s = *now;
    m->there = true;
    m->states++;
    return KREIN_OK;
}

static krein_status recall_state(void *user, krein_fit_snapshot *to, bool *found) {
    memory *m = user;
    float *into[] = {to->p, to->best, to->s, to->r};
    *found = m->there;
    if (!m->there) return KREIN_OK;
    CHECK(to->count == m->s.count);
    for (int i = 0; i < (m->s.at.done ? 1 : 4); i++)
        if (into[i]) memcpy(into[i], m->array[i], (size_t)to->count * sizeof(float));
    to->at = m->s.at;
    to->report = m->s.report;
    return KREIN_OK;
}

/* A training in one go (polls < 0), or cut off again and again after so many polls. */
static krein_fit_report run_cut(const char *optimizer, int64_t windows, double clip, bool killed,
                                int64_t polls, int *turns, float *out) {
    memory m = {.killed = killed};
    krein_fit_keeper keeper = {recall_state, due, keep_state, &m};
    krein_fit_report r = {0};
    krein_status st = KREIN_ECANCEL;
    problem p = two_classes(400, 100);
    p.windows = windows;
    for (*turns = 0; st == KREIN_ECANCEL && *turns < 100; ++*turns) {
        krein_ctx *ctx = test_ctx(1 + *turns % 2);
        krein_net net = start_net(ctx, 2, "spectral(width=12)", "affine(width=1)");
        krein_fit_rows rows = rows_of(&p);
        krein_fit_options o = options_of(ctx, &p, optimizer);
        m.polls = polls;
        ctx->cancel = stop;
        ctx->user = &m;
        o.epochs = 6;
        o.clip = clip;
        o.schedule = KREIN_SCHEDULE_WARMUP;
        o.penalty = KREIN_PENALTY_TRACE;
        o.lambda_a = 1e-3;
        o.lambda_b = 1e-2;
        o.keeper = polls < 0 ? NULL : &keeper;
        st = krein__net_fit(&net, &rows, &o, &r);
        if (st == KREIN_OK) memcpy(out, net.p, (size_t)net.count * sizeof *out);
        krein__values_clear(ctx, &o.optimizer.values);
        krein__net_clear(&net);
        CHECK(atomic_load(&ctx->held) == 0);
        krein_ctx_destroy(ctx);
    }
    CHECK(st == KREIN_OK);
    CHECK(polls < 0 || (m.s.at.done && m.states > 3));
    for (int i = 0; i < 4; i++) free(m.array[i]);
    drop(&p);
    return r;
}

static bool same_state(const krein_fit_state *a, const krein_fit_state *b) {
    return a->epoch == b->epoch && a->loss == b->loss && a->objective == b->objective &&
           a->held == b->held && a->error == b->error;
}

/* Cut off between any two steps, while a window is measured, or behind the last state that was
 * kept: the same parameters and report in the end, to the bit. */
static void goes_on(void) {
    enum { ROOM = 256 };
    float *one = test_new(ROOM, sizeof *one), *two = test_new(ROOM, sizeof *two);
    int turns;
    for (int64_t q = 0; q < krein__optimizer_count; q++)
        for (int64_t windows = 1; windows <= 3; windows += 2)
            for (int64_t polls = 7; polls < 40; polls += 16) {
                const char *name = krein__optimizers[q]->name;
                double clip = polls > 20 ? 0.05 : 0;
                krein_fit_report a = run_cut(name, windows, clip, false, -1, &turns, one);
                krein_fit_report b =
                    run_cut(name, windows, clip, windows == 3 && polls > 8, polls, &turns, two);
                CHECK_ELSE(memcmp(one, two, ROOM * sizeof *one) == 0, "%s, %d windows: differs\n",
                           name, (int)windows);
                CHECK(turns > 2 && a.steps == b.steps && a.epochs == b.epochs && a.end == b.end);
                CHECK(same_state(&a.best, &b.best) && same_state(&a.last, &b.last));
            }
    free(one), free(two);
}

/* ---- a penalty against another solver ----------------------------------- */

/* x of A x = b, n x n, A positive definite; b is overwritten by x. */
static void solve_small(int n, double *A, double *b) {
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++) {
            double f = A[i * n + k] / A[k * n + k];
            for (int j = k; j < n; j++) A[i * n + j] -= f * A[k * n + j];
            b[i] -= f * b[k];
        }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) b[i] -= A[i * n + j] * b[j];
        b[i] /= A[i * n + i];
    }
}

enum { ROWS = 40, WIDE = 5, TARGETS = 3 };

/* mean |X W - Y|^2 of W = U V'. */
static double mean_square(const float *x, const float *y, const double *U, const double *V) {
    double sum = 0;
    for (int i = 0; i < ROWS; i++)
        for (int c = 0; c < TARGETS; c++) {
            double f = -(double)y[i * TARGETS + c];
            for (int j = 0; j < WIDE; j++)
                for (int r = 0; r < TARGETS; r++)
                    f += (double)x[i * WIDE + j] * U[j * TARGETS + r] * V[c * TARGETS + r];
            sum += f * f;
        }
    return sum / ROWS;
}

/* min over U, V of mean |X U V' - Y|^2 + lambda / 2 (|U|^2 + |V|^2), which has the least value of
 * the problem with the trace norm of W = U V': by turns, each exactly. */
static double by_factors(const float *x, const float *y, double lambda) {
    enum { R = TARGETS, N = WIDE * R };
    double U[WIDE * R], V[TARGETS * R], A[N * N], b[N], value = 0;
    double XX[WIDE * WIDE] = {0}, XY[WIDE * TARGETS] = {0}, XU[WIDE * R]; /* X'X, X'Y, X'X U */
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < WIDE; j++) {
            const double a = (double)x[i * WIDE + j] / ROWS;
            for (int l = 0; l < WIDE; l++) XX[j * WIDE + l] += a * (double)x[i * WIDE + l];
            for (int c = 0; c < TARGETS; c++) XY[j * TARGETS + c] += a * (double)y[i * TARGETS + c];
        }
    for (int i = 0; i < WIDE * R; i++) U[i] = det(i, 1, 0.2);
    for (int i = 0; i < TARGETS * R; i++) V[i] = det(i, 2, 0.7);
    for (int turn = 0; turn < 4000; turn++) {
        memset(XU, 0, sizeof XU);
        for (int e = 0; e < WIDE * R; e++)
            for (int l = 0; l < WIDE; l++) XU[e] += XX[e / R * WIDE + l] * U[l * R + e % R];
        for (int c = 0; c < TARGETS; c++) { /* a row of V */
            for (int i = 0; i < R * R; i++) A[i] = i % (R + 1) == 0 ? lambda / 2 : 0;
            for (int r = 0; r < R; r++) b[r] = 0;
            for (int j = 0; j < WIDE; j++)
                for (int r = 0; r < R; r++) {
                    b[r] += U[j * R + r] * XY[j * TARGETS + c];
                    for (int s = 0; s < R; s++) A[r * R + s] += U[j * R + r] * XU[j * R + s];
                }
            solve_small(R, A, b);
            memcpy(V + c * R, b, sizeof *b * R);
        }
        memset(A, 0, sizeof A); /* all of U */
        memset(b, 0, sizeof b);
        for (int i = 0; i < N; i++) A[i * N + i] = lambda / 2;
        for (int e = 0; e < N; e++)
            for (int c = 0; c < TARGETS; c++) {
                b[e] += XY[e / R * TARGETS + c] * V[c * R + e % R];
                for (int g = 0; g < N; g++)
                    A[e * N + g] += XX[e / R * WIDE + g / R] * V[c * R + e % R] * V[c * R + g % R];
            }
        solve_small(N, A, b);
        memcpy(U, b, sizeof U);
    }
    for (int i = 0; i < WIDE * R; i++) value += lambda / 2 * U[i] * U[i];
    for (int i = 0; i < TARGETS * R; i++) value += lambda / 2 * V[i] * V[i];
    return value + mean_square(x, y, U, V);
}

/* Proximal steps of the engine on all rows at once come to the least value of the whole problem,
 * with momentum too. */
static void trace_norm_by(const char *optimizer, double rate) {
    float *x = test_dense(ROWS, WIDE, 0.4), *y = test_dense(ROWS, TARGETS, 1.7);
    for (double lambda = 0.05; lambda < 1; lambda *= 4) {
        krein_ctx *ctx = test_ctx(1);
        krein_net net = make_net(ctx, WIDE, "affine(width=3, intercept=no)", NULL);
        problem p = {.n = ROWS, .d = WIDE, .windows = 1, .k = TARGETS, .x = x, .y = y};
        krein_fit_rows rows = rows_of(&p);
        krein_fit_options o = options_of(ctx, &p, optimizer);
        krein_fit_report r;
        o.rate = rate;
        o.last = true; /* loss and penalty of an epoch are not of the same step */
        o.epochs = test_sanitized() ? 2000 : 4000;
        o.batch = ROWS;
        o.penalty = KREIN_PENALTY_TRACE;
        o.lambda_a = lambda;
        CHECK(krein__net_fit(&net, &rows, &o, &r) == KREIN_OK);
        double least = by_factors(x, y, lambda), V[TARGETS * TARGETS] = {0}, W[WIDE * TARGETS];
        for (int i = 0; i < TARGETS; i++) V[i * TARGETS + i] = 1;
        for (int i = 0; i < WIDE * TARGETS; i++) W[i] = (double)net.p[i];
        double trace, got = mean_square(x, y, W, V);
        CHECK(krein__penalty_value(ctx, KREIN_PENALTY_TRACE, 0, lambda, WIDE, TARGETS, net.p,
                                   &trace) == KREIN_OK);
        CHECK_ELSE(fabs(got + trace - least) < 1e-5 * least, "lambda %g: %.9g, and %.9g\n", lambda,
                   got + trace, least);
        krein__values_clear(ctx, &o.optimizer.values);
        krein__net_clear(&net);
        krein_ctx_destroy(ctx);
    }
    free(x), free(y);
}

static void trace_norm_against_another_solver(void) {
    trace_norm_by("sgd(momentum=0)", 0.2);
    trace_norm_by("sgd(momentum=0.8)", 0.1);
}

/* ---- pairs of rows, |W|^2 ----------------------------------------------- */

enum { ENDS = 6 };

/* Every step has the same pairs: rows i and i + 1. */
static krein_status same_pairs(void *user, int64_t step, float *x) {
    const float *ends = user;
    CHECK(step > 0);
    for (int64_t i = 0; i + 1 < ENDS; i++) {
        memcpy(x + 2 * i * WIDE, ends + i * WIDE, WIDE * sizeof *x);
        memcpy(x + (2 * i + 1) * WIDE, ends + (i + 1) * WIDE, WIDE * sizeof *x);
    }
    return KREIN_OK;
}

/* mean |X W + b - Y|^2 + w |W|^2 + c sum |W'(a - b)|^2 by its normal equations: the intercept has
 * nothing of the pairs. */
static void pairs_against_normal_equations(void) {
    enum { N = WIDE + 1 };
    krein_ctx *ctx = test_ctx(1);
    float *x = test_dense(ROWS, WIDE, 0.4), *y = test_dense(ROWS, TARGETS, 1.7),
          *ends = test_dense(ENDS, WIDE, 2.3);
    krein_net net = make_net(ctx, WIDE, "affine(width=3)", NULL);
    problem p = {.n = ROWS, .d = WIDE, .windows = 1, .k = TARGETS, .x = x, .y = y};
    krein_fit_rows rows = rows_of(&p);
    krein_fit_options o = options_of(ctx, &p, "sgd");
    krein_fit_report r;
    const double weight = 0.02, each = 0.3;
    o.rate = 0.05;
    o.epochs = 3000;
    o.batch = ROWS;
    o.penalty = KREIN_PENALTY_NONE;
    o.lambda_w = weight;
    o.last = true;
    o.pairs = (krein_fit_pairs){ENDS - 1, each, same_pairs, ends};
    CHECK(krein__net_fit(&net, &rows, &o, &r) == KREIN_OK);
    double objective = 0, A[N * N], b[N];
    for (int c = 0; c < TARGETS; c++) {
        memset(A, 0, sizeof A), memset(b, 0, sizeof b);
        for (int j = 0; j < WIDE; j++) A[j * N + j] = weight;
        for (int i = 0; i < ROWS + ENDS - 1; i++) {
            double z[N];
            int e = i - ROWS;
            for (int j = 0; j < WIDE; j++)
                z[j] = e < 0 ? (double)x[i * WIDE + j]
                             : (double)ends[e * WIDE + j] - (double)ends[(e + 1) * WIDE + j];
            z[WIDE] = e < 0;
            for (int j = 0; j < N; j++) {
                if (e < 0) b[j] += z[j] * (double)y[i * TARGETS + c] / ROWS;
                for (int l = 0; l < N; l++)
                    A[j * N + l] += z[j] * z[l] * (e < 0 ? 1.0 / ROWS : each);
            }
        }
        solve_small(N, A, b);
        for (int j = 0; j < N; j++)
            CHECK_ABS((double)net.p[net.layer[0].first + j * TARGETS + c], b[j], 2e-5);
        for (int i = 0; i < ROWS; i++) {
            double f = b[WIDE] - (double)y[i * TARGETS + c];
            for (int j = 0; j < WIDE; j++) f += (double)x[i * WIDE + j] * b[j];
            objective += f * f / ROWS;
        }
        for (int j = 0; j < WIDE; j++) objective += weight * b[j] * b[j];
        for (int e = 0; e + 1 < ENDS; e++) {
            double f = 0;
            for (int j = 0; j < WIDE; j++)
                f += ((double)ends[e * WIDE + j] - (double)ends[(e + 1) * WIDE + j]) * b[j];
            objective += each * f * f;
        }
    }
    CHECK_REL(r.last.objective, objective, 1e-4);
    krein__values_clear(ctx, &o.optimizer.values);
    krein__net_clear(&net);
    free(x), free(y), free(ends);
    krein_ctx_destroy(ctx);
}

/* ---- paces, lines in the log ------------------------------------------- */

/* One step of gradient descent from the same start. */
static float *stepped(double pace, int64_t *first) {
    krein_ctx *ctx = test_ctx(1);
    problem p = two_classes(64, 0);
    krein_net net = start_net(ctx, 2, "spectral(width=20)", "affine(width=1)");
    krein_fit_rows rows = rows_of(&p);
    krein_fit_options o = options_of(ctx, &p, "sgd");
    krein_fit_report r;
    float *w = net.p + net.layer[1].first, *change = test_new(net.count, sizeof *change);
    for (int64_t f = 0; f < 20; f++) w[f] = (float)det(f, 0, .4); /* else frequencies stay */
    memcpy(change, net.p, (size_t)net.count * sizeof *change);
    o.epochs = 1;
    o.batch = 64;
    o.pace[0] = pace;
    CHECK(krein__net_fit(&net, &rows, &o, &r) == KREIN_OK && r.steps == 1);
    for (int64_t i = 0; i < net.count; i++) change[i] = net.p[i] - change[i];
    *first = net.layer[1].first;
    krein__values_clear(ctx, &o.optimizer.values);
    krein__net_clear(&net);
    drop(&p);
    krein_ctx_destroy(ctx);
    return change;
}

static void paces(void) {
    int64_t head;
    float *plain = stepped(0, &head), *one = stepped(1, &head), *slow = stepped(.25, &head);
    double moved = 0;
    CHECK(memcmp(plain, one, (size_t)(head + 21) * sizeof *one) == 0);
    CHECK(memcmp(plain + head, slow + head, 21 * sizeof *slow) == 0);
    for (int64_t i = 0; i < 2 * 2 * 20; i++) {
        CHECK_ABS((double)slow[i], .25 * (double)plain[i], 1e-6); /* rounding at frequencies to 8 */
        moved = fmax(moved, fabs((double)plain[i]));
    }
    CHECK(moved > 1e-4);
    free(plain), free(one), free(slow);
}

/* Losses in the lines of a log, their number. */
static int losses_of(const char *text, double *loss, int most) {
    int n = 0;
    for (const char *at = text; n < most && (at = strstr(at, ", step ")); n++) {
        at = strstr(at, ": loss ");
        if (!at) break;
        loss[n] = strtod(at += strlen(": loss "), NULL);
    }
    return n;
}

static float *logged(int64_t report, test_log *log) {
    krein_ctx *ctx = test_ctx_full(1, NULL, log);
    problem p = two_classes(160, 40);
    krein_net net = start_net(ctx, 2, "spectral(width=20)", "affine(width=1)");
    krein_fit_rows rows = rows_of(&p);
    krein_fit_options o = options_of(ctx, &p, "adam");
    krein_fit_report r;
    o.epochs = 2;
    o.batch = 40;
    o.report = report;
    CHECK(krein__net_fit(&net, &rows, &o, &r) == KREIN_OK && r.steps == 8);
    float *out = test_new(net.count, sizeof *out);
    memcpy(out, net.p, (size_t)net.count * sizeof *out);
    krein__values_clear(ctx, &o.optimizer.values);
    krein__net_clear(&net);
    drop(&p);
    krein_ctx_destroy(ctx);
    return out;
}

/* Lines every few steps: means since the last one, within an epoch. They change nothing. */
static void lines(void) {
    static test_log epochs, steps, three;
    double e[16], s[16], t[16];
    float *a = logged(0, &epochs), *b = logged(1, &steps), *c = logged(3, &three);
    size_t size = (2 * 2 * 20 + 20 + 20 + 1) * sizeof *a;
    CHECK(memcmp(a, b, size) == 0 && memcmp(a, c, size) == 0);
    CHECK(losses_of(epochs.text, e, 16) == 2);
    CHECK(losses_of(steps.text, s, 16) == 8);
    CHECK(losses_of(three.text, t, 16) == 2);
    CHECK(strstr(three.text, "epoch 1, step 3:") && strstr(three.text, "epoch 2, step 6:"));
    for (int i = 0; i < 2; i++) /* five digits are printed */
        CHECK_ABS(e[i], (s[4 * i] + s[4 * i + 1] + s[4 * i + 2] + s[4 * i + 3]) / 4, 2e-5);
    CHECK_ABS(t[0], (s[0] + s[1] + s[2]) / 3, 2e-5);
    CHECK_ABS(t[1], (s[4] + s[5]) / 2, 2e-5); /* steps 5 and 6; the fourth was of the first epoch */
    free(a), free(b), free(c);
}

/* ---- ends --------------------------------------------------------------- */

typedef struct outcome {
    krein_fit_report r;
    bool same_start; /* the parameters are those of the start */
    bool same_first; /* those of the first layer are */
    bool finite;
} outcome;

static outcome ended(problem *p, void (*set)(krein_fit_options *)) {
    krein_ctx *ctx = test_ctx(1);
    outcome out = {.finite = true};
    krein_net net = start_net(ctx, 2, "spectral(width=20)", "affine(width=1)");
    krein_fit_rows rows = rows_of(p);
    krein_fit_options o = options_of(ctx, p, "sgd");
    float *was = test_new(net.count, sizeof *was);
    memcpy(was, net.p, (size_t)net.count * sizeof *was);
    set(&o);
    CHECK(krein__net_fit(&net, &rows, &o, &out.r) == KREIN_OK);
    out.same_start = memcmp(was, net.p, (size_t)net.count * sizeof *was) == 0;
    out.same_first = memcmp(was, net.p, (size_t)net.layer[1].first * sizeof *was) == 0;
    for (int64_t i = 0; i < net.count; i++) out.finite = out.finite && isfinite(net.p[i]);
    krein__values_clear(ctx, &o.optimizer.values);
    krein__net_clear(&net);
    free(was);
    krein_ctx_destroy(ctx);
    return out;
}

static void wild(krein_fit_options *o) { o->rate = 1e20; }
static void wild_trace(krein_fit_options *o) {
    o->rate = 1e20;
    o->penalty = KREIN_PENALTY_TRACE;
    o->lambda_a = 1e-6;
}
static void still(krein_fit_options *o) {
    o->rate = 1e-30;
    o->patience = 3;
    o->epochs = 50;
}
static void late(krein_fit_options *o) { o->deadline = krein__clock() - 1; }
static void frozen(krein_fit_options *o) { o->frozen[0] = true; }
static void one_batch(krein_fit_options *o) { o->batch = 100000; }

static void ends(void) {
    problem p = two_waves(300, 100), q = two_classes(300, 100), alone = two_waves(300, 0);
    outcome o = ended(&p, wild);
    CHECK(o.r.end == KREIN_FIT_DIVERGED && o.finite);
    CHECK(o.r.best.epoch < o.r.epochs + 1 && isfinite(o.r.best.error));
    o = ended(&q, wild); /* the hinge itself stays small until scores are no numbers */
    CHECK(o.finite && isfinite(o.r.best.error));
    o = ended(&p, wild_trace);
    CHECK(o.r.end == KREIN_FIT_DIVERGED && o.finite);
    o = ended(&alone, wild);
    CHECK(o.r.end == KREIN_FIT_DIVERGED && o.finite);
    o = ended(&p, still);
    CHECK(o.r.end == KREIN_FIT_PATIENCE && o.r.epochs == 3 && o.same_start);
    o = ended(&p, late);
    CHECK(o.r.end == KREIN_FIT_TIME && o.r.steps == 1);
    o = ended(&p, frozen);
    CHECK(o.r.end == KREIN_FIT_EPOCHS && o.same_first && !o.same_start);
    o = ended(&p, one_batch);
    CHECK(o.r.end == KREIN_FIT_EPOCHS && o.r.steps == 10);
    o = ended(&alone, frozen);
    CHECK(o.r.end == KREIN_FIT_EPOCHS && isnan(o.r.best.error) && o.r.best.loss < 1);
    drop(&p), drop(&q), drop(&alone);
}

static void every_allocation(void) {
    test_memory m;
    krein_ctx *ctx = test_ctx_with(1, &m);
    problem p = two_classes(60, 20);
    TEST_EVERY_ALLOCATION(&m, k) {
        krein_net net;
        krein_fit_rows rows = rows_of(&p);
        krein_fit_report r;
        krein_fit_options o = {.loss = &krein__loss_hinge,
                               .optimizer = {.cls = &krein__optimizer_sgd},
                               .rate = 0.1,
                               .epochs = 1,
                               .batch = 16,
                               .penalty = KREIN_PENALTY_TRACE,
                               .lambda_a = 1e-4,
                               .clip = 1};
        krein__net_begin(ctx, 2, &net);
        krein_status st = krein__net_add(&net, "spectral(width=6)");
        if (st == KREIN_OK) st = krein__net_add(&net, "affine(width=1)");
        if (st == KREIN_OK) st = krein__net_ready(&net);
        if (st == KREIN_OK) st = krein__net_fit(&net, &rows, &o, &r);
        CHECK(st == (test_has_failed(&m) ? KREIN_EMEMORY : KREIN_OK));
        krein__net_clear(&net);
    }
    drop(&p);
    krein_ctx_destroy(ctx);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(features);
    RUN(objective);
    RUN(finds_the_true_frequencies);
    RUN(learns);
    RUN(bits);
    RUN(visits_every_row_once);
    RUN(tells_how_far_it_is);
    RUN(goes_on);
    RUN(trace_norm_against_another_solver);
    RUN(pairs_against_normal_equations);
    RUN(paces);
    RUN(lines);
    RUN(ends);
    RUN(every_allocation);
    return DONE();
}
