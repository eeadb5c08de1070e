/* test_fewshot.c -- subspaces of a network's parameters and tasks of few examples: the meta
 * gradient against reference values and differences through all steps, paths and their components,
 * steps that stay in a subspace, drawing of tasks, all methods on small images, checkpoints, bad
 * input. */
#include "common.h"

#include "fewshot/fewshot.h"
#include "net/fit.h"
#include "num/blas.h"

/* ---- the tanh network of FORMULAS 15, in float64 -------------------------- */

enum { IN = 3, HIDDEN = 4, OUT = 3, M = IN * HIDDEN + HIDDEN + HIDDEN * OUT + OUT, S = 5 };
enum { SUPPORT = 6, QUERY = 5 };

typedef struct mlp {
    double x[SUPPORT * IN], q[QUERY * IN];
    int xc[SUPPORT], qc[QUERY];
    double th[M]; /* of the last support call */
} mlp;

static mlp mlp_make(void) {
    mlp t;
    for (int i = 0; i < SUPPORT; i++) {
        t.xc[i] = i % 3;
        for (int j = 0; j < IN; j++) t.x[i * IN + j] = det(i, j, 0);
    }
    for (int i = 0; i < QUERY; i++) {
        t.qc[i] = (i + 1) % 3;
        for (int j = 0; j < IN; j++) t.q[i * IN + j] = det(i, j, .9);
    }
    return t;
}

/* Mean loss of n rows at th, its gradient g (or NULL), and along v the derivative Hv of that. */
static double mlp_loss(int n, const double *x, const int *class, const double *th, double *g,
                       const double *v, double *Hv) {
    const double *W1 = th, *b1 = W1 + IN * HIDDEN, *W2 = b1 + HIDDEN, *b2 = W2 + HIDDEN * OUT;
    double loss = 0;
    if (g) memset(g, 0, M * sizeof *g);
    if (Hv) memset(Hv, 0, M * sizeof *Hv);
    for (int i = 0; i < n; i++) {
        double h[HIDDEN], rh[HIDDEN] = {0}, z[OUT], rz[OUT] = {0}, p[OUT], sum = 0, mean = 0;
        for (int k = 0; k < HIDDEN; k++) {
            double a = b1[k], ra = v ? v[IN * HIDDEN + k] : 0;
            for (int j = 0; j < IN; j++) {
                a += x[i * IN + j] * W1[j * HIDDEN + k];
                if (v) ra += x[i * IN + j] * v[j * HIDDEN + k];
            }
            h[k] = tanh(a);
            rh[k] = (1 - h[k] * h[k]) * ra;
        }
        const double *V2 = v ? v + IN * HIDDEN + HIDDEN : NULL;
        for (int c = 0; c < OUT; c++) {
            z[c] = b2[c];
            if (v) rz[c] = V2[HIDDEN * OUT + c];
            for (int k = 0; k < HIDDEN; k++) {
                z[c] += h[k] * W2[k * OUT + c];
                if (v) rz[c] += rh[k] * W2[k * OUT + c] + h[k] * V2[k * OUT + c];
            }
        }
        for (int c = 0; c < OUT; c++) sum += exp(z[c]);
        for (int c = 0; c < OUT; c++) p[c] = exp(z[c]) / sum;
        for (int c = 0; c < OUT; c++) mean += p[c] * rz[c];
        loss -= log(p[class[i]]) / n;
        for (int c = 0; c < OUT; c++) {
            double d = (p[c] - (c == class[i])) / n, rd = p[c] * (rz[c] - mean) / n;
            if (g) g[M - OUT + c] += d;
            if (Hv) Hv[M - OUT + c] += rd;
            for (int k = 0; k < HIDDEN; k++) {
                int w2 = IN * HIDDEN + HIDDEN + k * OUT + c;
                if (g) g[w2] += h[k] * d;
                if (Hv) Hv[w2] += rh[k] * d + h[k] * rd;
            }
        }
        for (int k = 0; k < HIDDEN; k++) {
            double back = 0, rback = 0, slope = 1 - h[k] * h[k];
            for (int c = 0; c < OUT; c++) {
                double d = (p[c] - (c == class[i])) / n, rd = p[c] * (rz[c] - mean) / n;
                back += d * W2[k * OUT + c];
                if (v) rback += rd * W2[k * OUT + c] + d * V2[k * OUT + c];
            }
            double a = back * slope, ra = rback * slope - 2 * back * h[k] * rh[k];
            if (g) g[IN * HIDDEN + k] += a;
            if (Hv) Hv[IN * HIDDEN + k] += ra;
            for (int j = 0; j < IN; j++) {
                if (g) g[j * HIDDEN + k] += x[i * IN + j] * a;
                if (Hv) Hv[j * HIDDEN + k] += x[i * IN + j] * ra;
            }
        }
    }
    return loss;
}

static double mlp_support(void *user, const double *th, double *g) {
    mlp *t = user;
    memcpy(t->th, th, sizeof t->th);
    return mlp_loss(SUPPORT, t->x, t->xc, th, g, NULL, NULL);
}

static double mlp_query(void *user, const double *th, double *g) {
    const mlp *t = user;
    return mlp_loss(QUERY, t->q, t->qc, th, g, NULL, NULL);
}

static void mlp_hessian(void *user, const double *v, double *Hv) {
    const mlp *t = user;
    mlp_loss(SUPPORT, t->x, t->xc, t->th, NULL, v, Hv);
}

static void reference(krein_ctx *ctx, double *th0, double *P) {
    for (int i = 0; i < M; i++) th0[i] = .5 * det(0, i, .2);
    for (int j = 0; j < S; j++)
        for (int i = 0; i < M; i++) P[j * M + i] = det(i, j, .4);
    CHECK(krein__haar_rows(ctx, S, M, P) == KREIN_OK);
}

/* The query loss behind T steps by plain loops. */
static double slow_meta_loss(const krein_fewshot_task *task, int64_t T, double rate,
                             const double *P, const double *th0) {
    double th[M], g[M];
    memcpy(th, th0, sizeof th);
    for (int64_t t = 0; t < T; t++) {
        task->support(task->user, th, g);
        for (int j = 0; j < S; j++) {
            double a = 0;
            for (int i = 0; i < M; i++) a += P[j * M + i] * g[i];
            for (int i = 0; i < M; i++) th[i] -= rate * a * P[j * M + i];
        }
    }
    return task->query(task->user, th, g);
}

static void meta_reference(void) {
    static const double LOSS[] = {1.046077127701, 1.056378795841, 1.071178617131};
    static const double LENGTH[] = {.120030950634, .347713887713, .565233107308};
    static const int64_t STEPS[] = {1, 3, 5};
    krein_ctx *ctx = test_ctx(2);
    mlp t = mlp_make();
    krein_fewshot_task task = {M, mlp_support, mlp_hessian, mlp_query, &t};
    double th0[M], P[S * M], dP[S * M], first[S * M];
    reference(ctx, th0, P);
    for (int k = 0; k < 3; k++) {
        krein_inner in = {.m = M, .s = S, .steps = STEPS[k], .P = P, .rate = .7};
        double *left = test_new(2 * in.steps * S, sizeof *left), length = 0, worst = 0;
        double *right = test_new(2 * in.steps * M, sizeof *right);
        double *room = test_new(krein__meta_room(&in), sizeof *room);
        krein_meta_terms terms = {left, right};
        double dot = 0, own = 0;
        CHECK_REL(krein__meta_task(&in, &task, th0, false, &terms, room), LOSS[k], 1e-11);
        krein__meta_gradient(ctx, &in, 1, left, right, first);
        CHECK_REL(krein__meta_task(&in, &task, th0, true, &terms, room), LOSS[k], 1e-11);
        krein__meta_gradient(ctx, &in, 1, left, right, dP);
        for (int i = 0; i < S * M; i++) length += dP[i] * dP[i];
        CHECK_REL(sqrt(length), LENGTH[k], 1e-10);
        for (int i = 0; i < S * M; i++) { /* through all steps */
            double was = P[i], h = 1e-5;
            P[i] = was + h;
            double up = slow_meta_loss(&task, in.steps, in.rate, P, th0);
            P[i] = was - h;
            double down = slow_meta_loss(&task, in.steps, in.rate, P, th0);
            P[i] = was;
            worst = fmax(worst, fabs((up - down) / (2 * h) - dP[i]));
        }
        CHECK_ELSE(worst < 1e-9, "differences are off by %g\n", worst);
        /* One step needs no second derivative; more do, and the first order is near. */
        for (int i = 0; i < S * M; i++) {
            dot += dP[i] * first[i];
            own += first[i] * first[i];
        }
        double cosine = dot / sqrt(length * own);
        if (k == 0) CHECK(memcmp(first, dP, sizeof dP) == 0);
        if (k > 0) CHECK_ELSE(cosine > .97 && cosine < .9999, "cosine %g\n", cosine);
        free(left), free(right), free(room);
    }
    krein_ctx_destroy(ctx);
}

/* Means over tasks are those of single ones. */
static void meta_tasks(void) {
    krein_ctx *ctx = test_ctx(2);
    mlp t[2] = {mlp_make(), mlp_make()};
    double th0[M], P[S * M], dP[S * M], one[S * M], sum[S * M] = {0};
    krein_inner in = {.m = M, .s = S, .steps = 3, .P = P, .rate = .7};
    double left[2 * 6 * S], right[2 * 6 * M], *room = test_new(krein__meta_room(&in), sizeof *room);
    for (int i = 0; i < SUPPORT * IN; i++) t[1].x[i] += .3;
    reference(ctx, th0, P);
    for (int k = 0; k < 2; k++) {
        krein_fewshot_task task = {M, mlp_support, mlp_hessian, mlp_query, &t[k]};
        krein_meta_terms terms = {left + k * 6 * S, right + k * 6 * M};
        krein__meta_task(&in, &task, th0, true, &terms, room);
        krein__meta_gradient(ctx, &in, 1, terms.left, terms.right, one);
        for (int i = 0; i < S * M; i++) sum[i] += one[i] / 2;
    }
    krein__meta_gradient(ctx, &in, 2, left, right, dP);
    for (int i = 0; i < S * M; i++) CHECK_ABS(dP[i], sum[i], 1e-14);
    free(room);
    krein_ctx_destroy(ctx);
}

/* ---- images --------------------------------------------------------------- */

enum { SIDE = 8, EACH = 12, CLASSES = 24 };

/* Rows of a class are its own pattern with noise, as bytes. */
static uint8_t pixel(int64_t class, int64_t row, int64_t at) {
    double pattern =
        sin(1.3 * (double)class + 0.8 * (double)(at % SIDE) * (1 + (double)(class % 5)) +
            1.1 * (double)(at / SIDE) * (1 + (double)(class % 3)));
    double noise = det(row + 13 * class, at, .3 * (double)row);
    return (uint8_t)(128 + 50 * pattern + 40 * noise);
}

static krein_data *open_images(krein_ctx *ctx, int64_t classes, uint8_t **x, int64_t **y) {
    int64_t n = classes * EACH, d = SIDE * SIDE;
    krein_rows_view v;
    krein_data_options o;
    krein_data *data = NULL;
    *x = test_new(n * d, 1);
    *y = test_new(n, sizeof **y);
    for (int64_t i = 0; i < n; i++) {
        (*y)[i] = i % classes;
        for (int64_t j = 0; j < d; j++) (*x)[i * d + j] = pixel(i % classes, i / classes, j);
    }
    krein_rows_view_init(&v);
    v.n = n;
    v.d = d;
    v.x = *x;
    v.type = KREIN_UINT8;
    v.row_stride = d;
    v.column_stride = 1;
    v.classes = *y;
    v.class_type = KREIN_INT64;
    krein_data_options_init(&o);
    o.image = "8x8";
    if (krein_data_from_rows(ctx, &v, &o, &data) != KREIN_OK) {
        printf("%s\n", krein_message(ctx));
        exit(1);
    }
    return data;
}

/* A run by hand, without data: images of float rows, all classes in each pool. */
typedef struct hand {
    krein_fewshot_run f;
    int64_t class[CLASSES];
} hand;

static void hand_make(krein_ctx *ctx, hand *h, const char *arch, krein_episode_size size) {
    krein_fewshot_run *f = &h->f;
    krein_images *im = &f->images[0];
    int64_t d = SIDE * SIDE;
    *h = (hand){0};
    f->ctx = ctx;
    krein_fewshot_options_init(&f->o);
    f->o.dimensions = 6;
    f->o.steps = 3;
    f->o.rate = .5;
    f->o.path_epochs = 5;
    f->o.meta_queries = size.queries;
    f->size = size;
    *im = (krein_images){.ctx = ctx, .n = CLASSES * EACH, .classes = CLASSES};
    im->shape = (krein_shape){SIDE, SIDE, 1};
    im->x = (krein_matrix){.n = im->n, .d = d};
    im->x.x = krein__alloc(ctx, im->n * d, sizeof(float));
    im->start = krein__alloc(ctx, CLASSES + 1, sizeof(int64_t));
    im->row = krein__alloc(ctx, im->n, sizeof(int64_t));
    im->name = krein__zalloc(ctx, CLASSES, sizeof(char *));
    for (int64_t c = 0; c <= CLASSES; c++) im->start[c] = c * EACH;
    for (int64_t i = 0; i < im->n; i++) {
        im->row[i] = i;
        for (int64_t j = 0; j < d; j++)
            im->x.x[i * d + j] = ((float)pixel(i / EACH, i % EACH, j) - 128) / 60;
    }
    for (int64_t c = 0; c < CLASSES; c++) {
        h->class[c] = c;
        im->name[c] = krein__format(ctx, "%lld", (long long)c);
    }
    f->train = f->validate = f->test = (krein_pool){im, CLASSES, h->class};
    f->arch = krein__strdup(ctx, arch);
    CHECK(krein__net_arch(ctx, arch, im->shape, size.ways, &f->net) == KREIN_OK);
    krein__net_start(&f->net, 3);
    CHECK(krein__trained_find(ctx, &f->net, &f->trained) == KREIN_OK);
    f->start = krein__alloc(ctx, f->trained.m, sizeof(double));
    krein__trained_gather64(&f->trained, f->net.p, f->start);
    f->bench = krein__zalloc(ctx, 1, sizeof *f->bench);
    CHECK(krein__bench_begin(f, &f->bench[0]) == KREIN_OK);
    f->benches = 1;
}

static void hand_clear(hand *h) {
    krein_fewshot_run *f = &h->f;
    krein__bench_end(&f->bench[0]);
    krein__free(f->ctx, f->bench);
    krein__free(f->ctx, f->start);
    krein__free(f->ctx, f->arch);
    krein__trained_clear(&f->trained);
    krein__net_clear(&f->net);
    krein__images_clear(&f->images[0]);
    CHECK(atomic_load(&f->ctx->held) == 0);
}

/* The meta gradient on the engine: its product with a direction is the difference of the loss along
 * it. bound: relative; ReLU and maxima have corners, and float32 its rounding. */
static void engine(const char *arch, double rate, double h, double bound) {
    krein_ctx *ctx = test_ctx(1);
    hand run;
    hand_make(ctx, &run, arch, (krein_episode_size){3, 2, 4});
    krein_fewshot_run *f = &run.f;
    krein_bench *b = &f->bench[0];
    int64_t m = f->trained.m, s = 6;
    krein_inner in = {.m = m, .s = s, .steps = 3, .rate = rate};
    double *P = test_new(s * m, sizeof *P), *Q = test_new(s * m, sizeof *Q);
    double *dP = test_new(s * m, sizeof *dP), *left = test_new(6 * s, sizeof *left);
    double *right = test_new(6 * m, sizeof *right), along = 0, length = 0;
    double *room = test_new(krein__meta_room(&in), sizeof *room);
    krein_meta_terms terms = {left, right};
    for (int64_t i = 0; i < s * m; i++) P[i] = test_random();
    CHECK(krein__haar_rows(ctx, s, m, P) == KREIN_OK);
    in.P = P;
    krein__episode_draw(&b->e, &f->train, 1, KREIN_EPISODE_TRAIN, 0);
    krein__bench_load(b);
    krein_fewshot_task task = krein__bench_task(b);
    krein__meta_task(&in, &task, f->start, true, &terms, room);
    krein__meta_gradient(ctx, &in, 1, left, right, dP);
    for (int64_t i = 0; i < s * m; i++) length += dP[i] * dP[i];
    length = sqrt(length);
    double loss[2];
    for (int side = 0; side < 2; side++) {
        for (int64_t i = 0; i < s * m; i++) Q[i] = P[i] + (side ? -h : h) * dP[i] / length;
        in.P = Q;
        loss[side] = krein__meta_task(&in, &task, f->start, false, &terms, room);
    }
    along = (loss[0] - loss[1]) / (2 * h);
    CHECK_ELSE(fabs(along - length) <= bound * length, "%s: difference %g, gradient %g\n", arch,
               along, length);
    free(P), free(Q), free(dP), free(left), free(right), free(room);
    hand_clear(&run);
    krein_ctx_destroy(ctx);
}

static void meta_engine(void) {
    engine("mlp(7)", .5, 3e-3, 1e-3);
    engine("convnet(1-3-3)", .2, 1e-3, 2e-2);
    engine("resnet(8)", .05, 1e-3, 5e-2);
}

/* ---- paths ---------------------------------------------------------------- */

static void paths(void) {
    krein_ctx *ctx = test_ctx(2);
    krein_net net;
    krein_shape shape = {4, 4, 2};
    krein_net_kind kind = {"convnet(2-3)", shape, 3};
    enum { N = 9, RANK = 3 };
    krein_subspace found[2];
    CHECK(krein__net_arch(ctx, kind.arch, shape, 3, &net) == KREIN_OK);
    krein__net_start(&net, 1);
    for (int disk = 0; disk < 2; disk++) {
        krein_trail t;
        CHECK(krein__trail_begin(ctx, &net, 2, disk ? 1 : 1e9, &t) == KREIN_OK);
        int64_t m = t.trained.m, all = 0;
        for (int64_t l = 0; l < net.layers; l++) all += net.layer[l].parameters;
        CHECK(m < all && m > all / 2); /* running statistics are not trained */
        float *p = test_new(net.count, sizeof *p), *row = test_new(m, sizeof *row);
        for (int64_t k = 0; k < 2 * N; k++) { /* a path in three directions; odd steps are wild */
            for (int64_t i = 0; i < m; i++) {
                double v = det(i, 1, 0);
                for (int r = 0; r < RANK; r++)
                    v += sin(.4 * (double)(k * (r + 1))) * det(i, 7 + r, .3) / (1 + r);
                row[i] = (float)(k % 2 ? 1e6 : v);
            }
            krein__trained_scatter(&t.trained, row, p);
            CHECK(krein__trail_note(&t, k, p) == KREIN_OK);
        }
        CHECK(t.n == N);
        CHECK((t.file >= 0) == disk);
        CHECK(krein__trail_components(&t, &kind, 5, &found[disk]) == KREIN_OK);
        const krein_subspace *s = &found[disk];
        double share = 0, worst = 0;
        CHECK(s->snapshots == N && s->m == m);
        for (int64_t j = 0; j < s->s; j++) {
            share += s->share[j];
            if (j > 0) CHECK(s->share[j] <= s->share[j - 1]);
            for (int64_t k = 0; k <= j && k < RANK;
                 k++) { /* orthonormal, the first three exactly */
                double dot = 0;
                for (int64_t i = 0; i < m; i++)
                    dot += (double)s->basis[j * m + i] * (double)s->basis[k * m + i];
                if (j < RANK) worst = fmax(worst, fabs(dot - (j == k)));
            }
        }
        CHECK(s->s >= RANK);
        CHECK_REL(share, 1, 1e-9);
        CHECK(s->share[0] + s->share[1] + s->share[2] > 1 - 1e-9);
        CHECK_ELSE(worst < 1e-5, "basis off by %g\n", worst);
        /* A step of the path lies in it. */
        for (int64_t i = 0; i < m; i++) row[i] = (float)det(i, 7, .3);
        float *a = test_new(s->s, sizeof *a);
        krein__subspace_project(s, 2, row, a);
        for (int64_t j = 0; j < s->s; j++) a[j] = -a[j];
        double before = 0, after = 0;
        for (int64_t i = 0; i < m; i++) before += (double)row[i] * (double)row[i];
        krein__subspace_move(s, 2, a, row);
        for (int64_t i = 0; i < m; i++) after += (double)row[i] * (double)row[i];
        CHECK(after < 1e-8 * before);
        free(a), free(p), free(row);
        krein__trail_end(&t);
    }
    CHECK(found[0].s == found[1].s);
    CHECK(memcmp(found[0].basis, found[1].basis,
                 (size_t)(found[0].s * found[0].m) * sizeof(float)) == 0);
    /* The file, and what it is of. */
    const char *path = test_path("p.krein");
    krein_subspace back;
    CHECK(krein__subspace_save(&found[0], path) == KREIN_OK);
    CHECK(krein__subspace_load(ctx, path, &back) == KREIN_OK);
    CHECK(back.s == found[0].s && back.m == found[0].m);
    CHECK(memcmp(back.basis, found[0].basis, (size_t)(back.s * back.m) * sizeof(float)) == 0);
    CHECK(krein__subspace_check(&back, path, &kind, back.m) == KREIN_OK);
    kind.scores = 4;
    CHECK(krein__subspace_check(&back, path, &kind, back.m) == KREIN_EMODEL);
    CHECK(strstr(krein_message(ctx), "of another network") != NULL);
    krein__subspace_clear(&back);
    for (int k = 0; k < 2; k++) krein__subspace_clear(&found[k]);
    krein__net_clear(&net);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
}

/* ---- steps in a subspace --------------------------------------------------- */

typedef struct seen {
    float *p[3];
    int64_t n, count;
} seen;

static krein_status see(void *user, int64_t step, const float *p) {
    seen *s = user;
    CHECK(step == s->n);
    if (s->n < 3) memcpy(s->p[s->n], p, (size_t)s->count * sizeof *p);
    s->n++;
    return KREIN_OK;
}

static krein_status one_window(void *user, int64_t which, krein_window *out) {
    (void)which;
    *out = *(krein_window *)user;
    return KREIN_OK;
}

static void steps_inside(void) {
    enum { N = 20, D = 5, K = 3, DIM = 4 };
    float *last = NULL;
    for (int threads = 1; threads <= 2; threads++) {
        krein_ctx *ctx = test_ctx(threads);
        krein_net net;
        krein_trained t;
        krein_fit_report report;
        float x[N * D], y[N * K] = {0};
        int32_t class[N];
        for (int i = 0; i < N; i++) {
            class[i] = i % K;
            for (int j = 0; j < D; j++) x[i * D + j] = (float)det(i, j, .1);
        }
        krein_window all = {krein__rows_dense(N, D, x, D), {y, class, NULL}};
        krein_fit_rows rows = {.n = N, .windows = 1, .window = one_window, .user = &all};
        CHECK(krein__net_arch(ctx, "mlp(6)", (krein_shape){1, 1, D}, K, &net) == KREIN_OK);
        krein__net_start(&net, 2);
        CHECK(krein__trained_find(ctx, &net, &t) == KREIN_OK);
        double *P = test_new(DIM * t.m, sizeof *P);
        krein_subspace sub = {.ctx = ctx, .m = t.m, .s = DIM};
        sub.basis = test_new(DIM * t.m, sizeof *sub.basis);
        for (int64_t i = 0; i < DIM * t.m; i++) P[i] = det(i % t.m, i / t.m, .2);
        CHECK(krein__haar_rows(ctx, DIM, t.m, P) == KREIN_OK);
        for (int64_t i = 0; i < DIM * t.m; i++) sub.basis[i] = (float)P[i];
        seen s = {.count = net.count};
        for (int k = 0; k < 3; k++) s.p[k] = test_new(net.count, sizeof(float));
        krein_fit_options o = {.loss = &krein__loss_softmax,
                               .optimizer = {.cls = &krein__optimizer_sgd},
                               .rate = .3,
                               .epochs = 4,
                               .batch = N,
                               .subspace = &sub,
                               .record = see,
                               .record_user = &s};
        CHECK(krein__net_fit(&net, &rows, &o, &report) == KREIN_OK);
        CHECK(s.n == 5);
        /* The first step is th - rate P P'g, of all rows. */
        krein_net_work w;
        float *g = test_new(net.count, sizeof *g);
        float *m0 = test_new(t.m, sizeof *m0), *m1 = test_new(t.m, sizeof *m1);
        CHECK(krein__net_work_begin(&net, N, true, &w) == KREIN_OK);
        krein__net_load(&w, &all.x, NULL, N);
        krein__net_loss_gradient(&w, s.p[0], &krein__loss_softmax, &all.aims, N, g);
        krein__trained_gather(&t, s.p[0], m0);
        krein__trained_gather(&t, s.p[1], m1);
        float *gm = test_new(t.m, sizeof *gm);
        krein__trained_gather(&t, g, gm);
        double worst = 0, moved = 0;
        for (int64_t i = 0; i < t.m; i++) {
            double want = (double)m0[i];
            for (int j = 0; j < DIM; j++) {
                double a = 0;
                for (int64_t k = 0; k < t.m; k++) a += P[j * t.m + k] * (double)gm[k];
                want -= .3 * a * P[j * t.m + i];
            }
            worst = fmax(worst, fabs(want - (double)m1[i]));
            moved = fmax(moved, fabs((double)m0[i] - (double)m1[i]));
        }
        CHECK(moved > 1e-3);
        CHECK_ELSE(worst < 1e-6, "step off by %g\n", worst);
        if (last) CHECK(memcmp(last, s.p[2], (size_t)net.count * sizeof *last) == 0);
        if (!last) {
            last = test_new(net.count, sizeof *last);
            memcpy(last, s.p[2], (size_t)net.count * sizeof *last);
        }
        krein__net_work_end(&w);
        for (int k = 0; k < 3; k++) free(s.p[k]);
        free(g), free(gm), free(m0), free(m1), free(P), free(sub.basis);
        krein__trained_clear(&t);
        krein__net_clear(&net);
        CHECK(atomic_load(&ctx->held) == 0);
        krein_ctx_destroy(ctx);
    }
    free(last);
}

/* ---- tasks ---------------------------------------------------------------- */

static void episodes(void) {
    krein_ctx *ctx = test_ctx(1);
    hand run;
    enum { WAYS = 5, SHOTS = 2, QUERIES = 4, DRAWS = 400 };
    hand_make(ctx, &run, "mlp(3)", (krein_episode_size){WAYS, SHOTS, QUERIES});
    krein_episode *e = &run.f.bench[0].e;
    int64_t hits[CLASSES] = {0}, first[WAYS * SHOTS];
    for (int64_t k = 0; k < DRAWS; k++) {
        krein__episode_draw(e, &run.f.train, 7, KREIN_EPISODE_TEST, k);
        bool used[CLASSES * EACH] = {false}, good = true;
        for (int64_t i = 0; i < WAYS * (SHOTS + QUERIES); i++) {
            bool shot = i < WAYS * SHOTS;
            int64_t row = shot ? e->support[i] : e->query[i - WAYS * SHOTS];
            int32_t label = shot ? e->support_label[i] : e->query_label[i - WAYS * SHOTS];
            good = good && !used[row] && row / EACH == e->class[label];
            used[row] = true;
        }
        CHECK(good);
        for (int64_t c = 0; c < WAYS; c++) hits[e->class[c]]++;
        if (k == 0) memcpy(first, e->support, sizeof first);
    }
    /* Each class is in a task with probability 5/24. */
    double p = (double)WAYS / CLASSES, sd = sqrt(DRAWS * p * (1 - p));
    for (int64_t c = 0; c < CLASSES; c++) CHECK(fabs((double)hits[c] - DRAWS * p) < 4.5 * sd);
    krein__episode_draw(e, &run.f.train, 7, KREIN_EPISODE_TEST, 0);
    CHECK(memcmp(first, e->support, sizeof first) == 0);
    krein__episode_draw(e, &run.f.train, 7, KREIN_EPISODE_VALIDATE, 0);
    CHECK(memcmp(first, e->support, sizeof first) != 0);
    /* What `well` trains on: all rows of the classes but the queries. */
    int64_t row[WAYS * EACH], n;
    int32_t label[WAYS * EACH];
    n = krein__task_rest(e, row, label);
    CHECK(n == WAYS * (EACH - QUERIES));
    for (int64_t i = 0; i < n; i++) {
        CHECK(row[i] / EACH == e->class[label[i]]);
        for (int64_t q = 0; q < WAYS * QUERIES; q++) CHECK(row[i] != e->query[q]);
    }
    /* Too few. */
    krein_pool few = {&run.f.images[0], 4, run.class};
    CHECK(krein__pool_check(ctx, &few, e->size, "test") == KREIN_EDATA);
    CHECK(strstr(krein_message(ctx), "4 test classes") != NULL);
    CHECK(krein__pool_check(ctx, &run.f.train, (krein_episode_size){5, 8, 5}, "test") ==
          KREIN_EDATA);
    CHECK(strstr(krein_message(ctx), "12 rows") != NULL);
    hand_clear(&run);
    krein_ctx_destroy(ctx);
}

/* ---- the whole ------------------------------------------------------------ */

static const char *const ALL[] = {"original", "pretrained", "well",  "meta", "first-order",
                                  "nearest",  "matching",   "ridge", "ntk"};
enum { METHODS = 9, RESULTS = 10 };

static krein_fewshot_options small(void) {
    krein_fewshot_options o;
    krein_fewshot_options_init(&o);
    o.methods = ALL;
    o.nmethods = METHODS;
    o.ways = 3;
    o.shots = 2;
    o.queries = 4;
    o.tasks = 6;
    o.arch = "convnet(1-4)";
    o.dimensions = 5;
    o.steps = 2;
    o.test_steps = 4;
    o.meta_steps = 6;
    o.meta_tasks = 2;
    o.validate_every = 3;
    o.validation_tasks = 3;
    o.epochs = 2;
    o.path_epochs = 4;
    return o;
}

static krein_status few(krein_ctx *ctx, const krein_fewshot_options *o, krein_fewshot_report *r) {
    uint8_t *x;
    int64_t *y;
    krein_data *data = open_images(ctx, CLASSES, &x, &y);
    *r = KREIN_SIZED(krein_fewshot_report);
    krein_status st = krein_fewshot(ctx, data, NULL, o, r);
    krein_data_close(data);
    free(x), free(y);
    return st;
}

static void same_results(const krein_fewshot_report *a, const krein_fewshot_report *b) {
    CHECK(a->count == b->count);
    for (int64_t i = 0; i < a->count && i < b->count; i++) {
        const krein_fewshot_result *p = a->results[i], *q = b->results[i];
        CHECK(strcmp(p->method, q->method) == 0 && p->tasks == q->tasks);
        CHECK_ELSE(memcmp(p->values, q->values, (size_t)p->tasks * sizeof *p->values) == 0,
                   "%s differs\n", p->method);
        CHECK(p->looks == q->looks);
        for (int64_t k = 1; k < p->looks; k++) CHECK(p->look_loss[k] == q->look_loss[k]);
    }
}

static void all_methods(void) {
    krein_fewshot_report r[2];
    krein_fewshot_options o = small();
    for (int threads = 1; threads <= 2; threads++) {
        krein_ctx *ctx = test_ctx(threads);
        krein_fewshot_report *own = &r[threads - 1];
        krein_status st = few(ctx, &o, own);
        CHECK_ELSE(st == KREIN_OK, "%s\n", krein_message(ctx));
        CHECK(own->count == RESULTS);
        krein_ctx_destroy(ctx);
    }
    same_results(&r[0], &r[1]);
    for (int64_t i = 0; i < r[0].count; i++) {
        const krein_fewshot_result *e = r[0].results[i];
        double sum = 0;
        for (int64_t k = 0; k < e->tasks; k++) sum += e->values[k];
        CHECK(e->tasks == o.tasks);
        CHECK_REL(e->accuracy, sum / (double)e->tasks, 1e-12);
        CHECK(e->sd >= 0 && e->interval >= 0);
        bool meta = strcmp(e->method, "meta") == 0 || strcmp(e->method, "first-order") == 0 ||
                    strcmp(e->method, "matching") == 0;
        CHECK((e->looks == 3) == meta && (e->kept >= 0) == meta);
        /* Patterns that rows share by far most of: neighbours find them. */
        if (e->detail && (strcmp(e->detail, "pixels") == 0 || strncmp(e->detail, "ntk", 3) == 0))
            CHECK_ELSE(e->accuracy > .6, "%s: %g\n", e->method, e->accuracy);
    }
    krein_ctx *ctx = test_ctx(1);
    for (int k = 0; k < 2; k++) krein_fewshot_report_clear(ctx, &r[k]);
    krein_ctx_destroy(ctx);
}

/* A subspace that is learned is better than the random one that it starts from. */
static void meta_learns(void) {
    static const char *const META[] = {"meta"};
    krein_fewshot_options o = small();
    krein_fewshot_report r;
    krein_ctx *ctx = test_ctx(2);
    o.methods = META;
    o.nmethods = 1;
    o.meta_steps = 40;
    o.validate_every = 20;
    o.validation_tasks = 10;
    o.meta_rate = .01;
    o.rate = .5;
    CHECK_ELSE(few(ctx, &o, &r) == KREIN_OK, "%s\n", krein_message(ctx));
    const krein_fewshot_result *e = r.results[0];
    CHECK(e->looks == 3);
    CHECK_ELSE(e->look_loss[2] < e->look_loss[1], "loss %g, then %g\n", e->look_loss[1],
               e->look_loss[2]);
    CHECK(e->look_accuracy[2] > e->look_accuracy[0]);
    krein_fewshot_report_clear(ctx, &r);
    krein_ctx_destroy(ctx);
}

/* A time limit ends the learning with the best so far. */
static void time_limit(void) {
    static const char *const TWO[] = {"meta", "ntk"};
    krein_fewshot_options o = small();
    krein_fewshot_report r;
    krein_ctx *ctx = test_ctx(1);
    o.methods = TWO;
    o.nmethods = 2;
    o.meta_steps = 10000000;
    o.time_limit = .2;
    CHECK_ELSE(few(ctx, &o, &r) == KREIN_OK, "%s\n", krein_message(ctx));
    CHECK(r.count == 2);
    for (int64_t i = 0; i < r.count; i++) {
        const krein_fewshot_result *e = r.results[i];
        CHECK(e->tasks >= 1 && e->tasks <= o.tasks && e->accuracy >= 0 && e->accuracy <= 1);
    }
    CHECK(r.results[0]->kept >= 0 && r.results[0]->looks >= 1);
    krein_fewshot_report_clear(ctx, &r);
    krein_ctx_destroy(ctx);
}

/* ---- checkpoints ----------------------------------------------------------- */

typedef struct counter {
    int64_t left;
} counter;

static int cancel(void *user) {
    counter *c = user;
    return c->left > 0 && --c->left == 0;
}

static void checkpoints(void) {
    static const char *const TWO[] = {"ntk", "meta", "matching"};
    krein_fewshot_options o = small();
    krein_fewshot_report whole, r;
    krein_ctx *ctx = test_ctx(1);
    o.methods = TWO;
    o.nmethods = 3;
    CHECK(few(ctx, &o, &whole) == KREIN_OK);
    o.checkpoint = test_path("few.state");
    o.checkpoint_seconds = 1e-9;
    int64_t cancelled = 0;
    counter c = {0};
    krein_ctx_options co;
    krein_ctx *stopped = NULL;
    krein_ctx_options_init(&co);
    co.threads = 1;
    co.cancel = cancel;
    co.user = &c;
    CHECK(krein_ctx_create(&co, &stopped) == KREIN_OK);
    krein_status st = KREIN_ECANCEL;
    for (int64_t k = 0; k < 200 && st == KREIN_ECANCEL; k++) { /* a little further every time */
        c.left = 20 + 12 * k;
        st = few(stopped, &o, &r);
        cancelled += st == KREIN_ECANCEL;
    }
    CHECK_ELSE(st == KREIN_OK, "%s\n", krein_message(stopped));
    CHECK(cancelled >= 2);
    same_results(&whole, &r);
    krein_fewshot_report_clear(stopped, &r);
    /* Nothing is left to do; and another job's file stays. */
    c.left = 0;
    CHECK(few(stopped, &o, &r) == KREIN_OK);
    same_results(&whole, &r);
    krein_fewshot_report_clear(stopped, &r);
    o.rate = .3;
    CHECK(few(stopped, &o, &r) == KREIN_EARG);
    CHECK(strstr(krein_message(stopped), "another few-shot run") != NULL);
    krein_ctx_destroy(stopped);
    krein_fewshot_report_clear(ctx, &whole);
    krein_ctx_destroy(ctx);
}

/* Every so-many-th allocation fails: the call says so, and gives all back. */
static void failing_memory(void) {
    test_memory m;
    krein_ctx *ctx = test_ctx_with(1, &m);
    krein_fewshot_options o = small();
    krein_fewshot_report r;
    krein_status st = KREIN_EMEMORY;
    int64_t failed = 0;
    o.tasks = 2;
    o.validation_tasks = 1;
    o.meta_steps = 2;
    o.validate_every = 2;
    o.epochs = o.path_epochs = 1;
    o.dimensions = 2;
    o.checkpoint = test_path("memory.state");
    for (int64_t k = 40; k < 100000 && st != KREIN_OK; k += test_sanitized() ? 97 : 7) {
        int64_t before = test_live(&m);
        remove(o.checkpoint);
        uint8_t *x;
        int64_t *y;
        krein_data *data = open_images(ctx, CLASSES, &x, &y);
        r = KREIN_SIZED(krein_fewshot_report);
        test_fail_at(&m, k);
        st = krein_fewshot(ctx, data, NULL, &o, &r);
        test_fail_at(&m, -1);
        CHECK(st == KREIN_OK || st == KREIN_EMEMORY);
        failed += st != KREIN_OK;
        krein_fewshot_report_clear(ctx, &r);
        krein_data_close(data);
        free(x), free(y);
        CHECK_ELSE(test_live(&m) == before, "allocation %lld: %lld blocks are lost\n", (long long)k,
                   (long long)(test_live(&m) - before));
    }
    CHECK(st == KREIN_OK);
    CHECK(failed > 5);
    krein_ctx_destroy(ctx);
}

static void bad_input(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_fewshot_options o = small();
    krein_fewshot_report r;
    static const char *const WRONG[] = {"metta"};
    const struct {
        int64_t ways, shots, queries, split[3];
        const char *arch, *says;
    } bad[] = {{7, 1, 4, {10, 7, 5}, NULL, "5 test classes"},
               {30, 1, 4, {0}, NULL, "training classes"},
               {3, 6, 7, {0}, NULL, "12 rows"},
               {3, 1, 4, {20, 5, 5}, NULL, "cannot be divided"},
               {3, 1, 4, {0}, "convnet(3-4)", "1 channel"},
               {3, 1, 4, {0}, "vgg(3)", "no network vgg"}};
    for (int64_t k = 0; k < KREIN__COUNT(bad); k++) {
        o = small();
        o.ways = bad[k].ways;
        o.shots = bad[k].shots;
        o.queries = bad[k].queries;
        memcpy(o.split, bad[k].split, sizeof o.split);
        if (bad[k].arch) o.arch = bad[k].arch;
        CHECK(few(ctx, &o, &r) != KREIN_OK);
        CHECK_ELSE(strstr(krein_message(ctx), bad[k].says) != NULL, "\"%s\" lacks \"%s\"\n",
                   krein_message(ctx), bad[k].says);
        krein_fewshot_report_clear(ctx, &r);
    }
    o = small();
    o.methods = WRONG;
    o.nmethods = 1;
    CHECK(few(ctx, &o, &r) == KREIN_ESPEC);
    CHECK(strstr(krein_message(ctx), "did you mean \"meta\"") != NULL);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(meta_reference);
    RUN(meta_tasks);
    RUN(meta_engine);
    RUN(paths);
    RUN(steps_inside);
    RUN(episodes);
    RUN(all_methods);
    RUN(meta_learns);
    RUN(time_limit);
    RUN(checkpoints);
    RUN(failing_memory);
    RUN(bad_input);
    return DONE();
}
