/* laprls_features.c -- laprls on features of all nodes: any map, and kernel values at landmarks
 *
 *     (Z'CZ + mu Z'LZ + lambda I) w = Z'Cy                                    (solve/manifold.c)
 *
 * by conjugate gradients on products with Z, which is kept where memory allows that and else made
 * again for every product. The solvers differ in the preconditioner:
 *     cg      none
 *     pcg     the same matrix from all labelled nodes and edges, where these are at most LABELS D
 *             and EDGES D, or CELLS / D; else from as many random sums of them
 *     direct  the matrix itself, so that a step or two refine its Cholesky solution
 * The sums are a sparse sketch (clarkson2013): every labelled node, or edge, is added to one row
 * with a random sign, which is unbiased. A sample of them would be as quick to make, and misses
 * directions that few of them know of, as equal rows make weights very unequal: on skin_nonskin the
 * condition number was 1,400 with a sample, and is 2.
 * The Laplacian of the graph of the landmarks, as in the thesis that FALKON's preconditioner was
 * adapted in, has next to no edges of a graph of nearest neighbours.
 *
 * Kernel values at many landmarks of a positive definite kernel are solved as such, in coordinates
 * in which the penalty is |w|^2 (solve/precondition.c): no feature is made of them.
 *
 * Both lambdas are chosen on the preconditioner's Laplacian term (laprls_choice.c), with more than
 * CHOICE features on the first CHOICE of them: of landmarks those are the features of the first
 * ones, of random features a sample, which counts for all. */
#include "learn/krr_pcg.h"
#include "learn/laprls.h"
#include "num/blas.h"

#include <math.h>
#include <string.h>

enum { LABELS = 4, EDGES = 3, CELLS = 30000000, CHOICE = 1024, ROWS = 4096, STRIP = 256 };

/* Rows of a sample. */
static int64_t sample_of(int64_t all, int64_t D, int64_t times) {
    return krein__min(all, krein__max(times * D, CELLS / D));
}

typedef krein_laprls_nodes fit;

/* ---- features of the nodes ---------------------------------------------- */

static krein_status make(void *state, int64_t block, float *out) {
    fit *t = state;
    int64_t first = block * t->features.rows;
    krein_rows x = krein__rows_slice(&t->s->points.x, first,
                                     krein__min(t->features.rows, t->features.n - first));
    const float *z = krein__blocks_features(&t->z, &x);
    if (z != out) memcpy(out, z, (size_t)(x.n * t->features.D) * sizeof *out);
    return KREIN_OK;
}

static double left(const krein_ctx *ctx) {
    return (double)ctx->budget - (double)atomic_load(&ctx->held);
}

static krein_status open_features(fit *t) {
    krein_laprls *s = t->s;
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    const krein_map *map = s->job->model->map;
    int64_t n = s->points.nodes, rows = krein__min(krein__block_rows(map->d), n);
    krein_rows first = krein__rows_slice(&s->points.x, 0, rows);
    TRY(krein__blocks_begin_at(map, &first, map->unmixed, &t->z));
    /* A constant costs nothing under D - W alone. */
    if (s->laplacian.normalized) memset(t->z.offset, 0, (size_t)map->R * sizeof *t->z.offset);
    int64_t D = t->z.width;
    t->features = (krein_features){.ctx = ctx,
                                   .n = n,
                                   .D = D,
                                   .rows = rows,
                                   .blocks = (n + rows - 1) / rows,
                                   .made = t->z.fused ? t->z.raw : t->z.mixed,
                                   .at = -1,
                                   .make = make,
                                   .state = t};
    double keep = 4 * (double)n * (double)D, other = 8 * 5 * (double)D * (double)D;
    if (s->solver != KREIN_LAPRLS_DIRECT && keep + other > left(ctx)) {
        krein__log(ctx, KREIN_LOG_INFO,
                   "%s: features are made again for every product: all of them would take "
                   "more than there is memory for",
                   s->name);
        goto done;
    }
    float *kept = NULL;
    NEW(kept, n * D);
    t->features.kept = kept;
    for (int64_t b = 0; b < t->features.blocks; b++) {
        TRY(make(t, b, kept + b * rows * D));
        krein__progress(ctx, "features", (double)(b + 1), (double)t->features.blocks);
        TRY(krein__poll(ctx));
    }
done:
    return st;
}

krein_status krein__laprls_nodes_features(fit *t, int64_t m, const int64_t *index, float *out) {
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    int64_t D = t->features.D;
    krein_matrix some = {0};
    for (int64_t i = 0; t->features.kept && i < m; i++)
        memcpy(out + i * D, t->features.kept + index[i] * D, (size_t)D * sizeof *out);
    for (int64_t i = 0; !t->features.kept && i < m; i += t->features.rows) {
        int64_t part = krein__min(t->features.rows, m - i);
        TRY(krein__matrix_gather(ctx, &t->s->points.x, index + i, part, &some));
        krein_rows x = krein__matrix_rows(&some);
        memcpy(out + i * D, krein__blocks_features(&t->z, &x), (size_t)(part * D) * sizeof *out);
        krein__matrix_clear(ctx, &some);
        t->features.at = -1; /* the block that was there is gone */
    }
done:
    krein__matrix_clear(ctx, &some);
    return st;
}

/* ---- the preconditioner ------------------------------------------------- */

/* Entry of row i from which on columns are not below j. */
static int64_t entry_from(const krein_graph *g, int64_t i, int64_t j) {
    int64_t low = g->ptr[i], high = g->ptr[i + 1];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (g->col[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Times of a node in rows of the sample. */
typedef struct part {
    int64_t row;
    double times;
} part;

typedef struct sketch {
    fit *t;
    krein_rng rng;
    int64_t all[2], row[2]; /* labelled nodes and edges, and the rows that they get */
    int64_t *label;         /* n: number of a labelled node, -1 without */
    int64_t *edge;          /* n: number of the first edge to a later node */
    int64_t *ptr;           /* rows of a block + 1: the parts of its nodes */
    part *parts;
    double *sum, *mean; /* labels: of a row's `times`; D */
} sketch;

/* One of the rows, with a sign; each has its own where they are enough. */
static part place(const sketch *s, int kind, int64_t number, double times) {
    uint64_t rows = (uint64_t)s->row[kind], at = (uint64_t)number, column = 2 * (uint64_t)kind;
    int64_t before = kind == 0 ? 0 : s->row[0];
    if (s->all[kind] <= s->row[kind]) return (part){before + number, times};
    bool minus = krein__rng_bits(s->rng, at, column + 1) & 1;
    return (part){before + (int64_t)krein__rng_below(s->rng, at, column, rows),
                  minus ? -times : times};
}

/* Those of node i, to `out`; their number. */
static int64_t parts_of(const sketch *s, int64_t i, part *out) {
    const krein_laplacian *l = &s->t->s->laplacian;
    int64_t count = 0;
    if (s->label[i] >= 0) out[count++] = place(s, 0, s->label[i], sqrt(s->t->s->form.share[i]));
    for (int64_t e = l->g ? l->g->ptr[i] : 0; l->g && e < l->g->ptr[i + 1]; e++) {
        int64_t j = l->g->col[e], low = krein__min(i, j), high = krein__max(i, j);
        int64_t number = s->edge[low] + entry_from(l->g, low, high) - entry_from(l->g, low, low);
        double root = sqrt(krein__laplacian_weight(l, i, e)) * krein__laplacian_factor(l, i);
        if (root > 0) out[count++] = place(s, 1, number, i < j ? root : -root);
    }
    return count;
}

/* Adds a block of nodes to the sample, strip by strip of the columns. */
static void add_block(const sketch *s, int64_t n, const float *z) {
    const fit *t = s->t;
    int64_t D = t->features.D, strips = (D + STRIP - 1) / STRIP;
#pragma omp parallel for num_threads(t->ctx->threads) schedule(dynamic)
    for (int64_t strip = 0; strip < strips; strip++) {
        int64_t first = strip * STRIP, wide = krein__min(STRIP, D - first);
        for (int64_t i = 0; i < n; i++) {
            const float *from = z + i * D + first;
            for (int64_t e = s->ptr[i]; e < s->ptr[i + 1]; e++) {
                float *to = t->sample + s->parts[e].row * D + first, f = (float)s->parts[e].times;
                for (int64_t j = 0; j < wide; j++) to[j] += f * from[j];
            }
        }
    }
}

/* Numbers of labelled nodes and of edges, room for the parts of a block. */
static krein_status sketch_begin(sketch *s) {
    fit *t = s->t;
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    const krein_graph *g = t->s->laplacian.g;
    int64_t n = t->features.n, rows = t->features.rows, most = 0;
    s->rng = krein__substream(t->s->job->seed, KREIN_STREAM_SAMPLE, KREIN_SAMPLE_PRECONDITION);
    NEW(s->label, n);
    NEW(s->edge, n);
    for (int64_t i = 0; i < n; i++) {
        s->label[i] = t->s->form.share[i] > 0 ? s->all[0]++ : -1;
        s->edge[i] = s->all[1];
        if (g) s->all[1] += g->ptr[i + 1] - entry_from(g, i, i);
    }
    for (int64_t i = 0; i < n; i += rows) {
        int64_t end = krein__min(n, i + rows);
        most = krein__max(most, end - i + (g ? g->ptr[end] - g->ptr[i] : 0));
    }
    NEW(s->ptr, rows + 1);
    NEW(s->parts, most);
    t->labels = s->row[0] = sample_of(s->all[0], t->features.D, LABELS);
    t->edges = s->row[1] = g ? sample_of(s->all[1], t->features.D, EDGES) : 0;
    ZNEW(t->sample, (t->labels + t->edges) * t->features.D);
    ZNEW(s->sum, t->labels);
    ZNEW(s->mean, t->features.D);
done:
    return st;
}

/* The labels' rows less their mean. */
static void centre(const sketch *s) {
    int64_t D = s->t->features.D;
    for (int64_t i = 0; i < s->row[0]; i++)
        for (int64_t j = 0; j < D; j++)
            s->t->sample[i * D + j] =
                (float)((double)s->t->sample[i * D + j] - s->sum[i] * s->mean[j]);
}

static krein_status make_sample(fit *t) {
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    const double *share = t->s->form.share;
    int64_t D = t->features.D, n;
    const float *z;
    sketch s = {.t = t};
    TRY(sketch_begin(&s));
    for (int64_t b = 0; b < t->features.blocks; b++) {
        int64_t first = b * t->features.rows;
        TRY(krein__features_block(&t->features, b, &z, &n));
        s.ptr[0] = 0;
        for (int64_t i = 0; i < n; i++) {
            s.ptr[i + 1] = s.ptr[i] + parts_of(&s, first + i, s.parts + s.ptr[i]);
            if (s.label[first + i] < 0) continue;
            s.sum[s.parts[s.ptr[i]].row] += s.parts[s.ptr[i]].times;
            for (int64_t j = 0; j < D; j++) s.mean[j] += share[first + i] * (double)z[i * D + j];
        }
        add_block(&s, n, z);
        krein__progress(ctx, "preconditioner", (double)(b + 1), (double)t->features.blocks);
        TRY(krein__poll(ctx));
    }
    centre(&s);
done:;
    void *all[] = {s.label, s.edge, s.ptr, s.parts, s.sum, s.mean};
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) krein__free(ctx, all[i]);
    return st;
}

/* G = X'X of the first d features of m rows, in the coordinates of the basis (of which the first d
 * follow from these), both triangles. */
static krein_status gram_of(const fit *t, int64_t d, int64_t m, const float *X, const float *T32,
                            double *G) {
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    int64_t D = t->features.D, tile = krein__syrk_tile(d);
    float *block = NULL, *tiles = NULL;
    NEW(block, ROWS * d);
    NEW(tiles, ctx->threads * tile * tile);
    memset(G, 0, (size_t)(d * d) * sizeof *G);
    for (int64_t first = 0; first < m; first += ROWS) {
        int64_t some = krein__min(ROWS, m - first), parts = (some + 127) / 128;
        for (int64_t i = 0; i < some; i++)
            memcpy(block + i * d, X + (first + i) * D, (size_t)d * sizeof *block);
        krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
        for (int64_t p = 0; p < parts; p++) {
            krein__worker_begin();
            if (T32)
                krein__strsm(krein__min(128, some - p * 128), d, T32, d, block + p * 128 * d, d);
            krein__worker_end(c);
        }
        krein__compute_end(c);
        krein__syrk_add(ctx, d, some, block, d, G, d, tiles);
        TRY(krein__poll(ctx));
    }
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < i; j++) G[i * d + j] = G[j * d + i];
done:
    krein__free(ctx, block);
    krein__free(ctx, tiles);
    return st;
}

/* The basis for this lambda, and of the first d features in it the Laplacian term and, where asked
 * for, that of the loss. */
static krein_status make_grams(fit *t, double lambda, int64_t d, bool loss) {
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    int64_t D = t->features.D;
    bool changed = false, graph = t->s->laplacian.g != NULL;
    float *T32 = NULL;
    if (t->basis.ctx) TRY(krein__basis_factor(&t->basis, lambda, &changed));
    if (changed || t->width != d) {
        krein__free(ctx, t->GC);
        krein__free(ctx, t->GL);
        t->GC = t->GL = NULL;
    }
    t->width = d;
    loss = loss && !t->GC;
    graph = graph && !t->GL;
    if (loss) NEW(t->GC, d * d);
    if (graph) NEW(t->GL, d * d);
    if (t->s->solver == KREIN_LAPRLS_DIRECT) { /* d is D */
        if (loss) TRY(krein__manifold_labels_gram(&t->s->form, D, t->features.kept, t->GC));
        if (graph)
            TRY(krein__manifold_laplacian_gram(ctx, &t->s->laplacian, D, t->features.kept, t->GL));
        goto done;
    }
    if (t->basis.ctx) {
        NEW(T32, d * d);
        for (int64_t i = 0; i < d; i++)
            for (int64_t j = 0; j < d; j++) T32[i * d + j] = (float)t->basis.k[i * D + j];
    }
    if (!t->sample && (loss || graph)) TRY(make_sample(t));
    if (loss) TRY(gram_of(t, d, t->labels, t->sample, T32, t->GC));
    if (graph) TRY(gram_of(t, d, t->edges, t->sample + t->labels * D, T32, t->GL));
done:
    krein__free(ctx, T32);
    return st;
}

/* ---- the lambdas -------------------------------------------------------- */

static krein_status choose(fit *t) {
    krein_laprls *s = t->s;
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    int64_t D = t->features.D, m = s->nsome, d = krein__min(D, CHOICE), *index = NULL;
    float *z = NULL;
    double *wide = NULL, all = 0, kept = 0;
    krein_laprls_view view = {.D = d};
    NEW(index, m);
    NEW(z, m * D);
    NEW(wide, m * D);
    NEW(view.Z, m * d);
    for (int64_t i = 0; i < m; i++) index[i] = s->points.node[s->some[i]];
    TRY(krein__laprls_nodes_features(t, m, index, z));
    for (int64_t e = 0; e < m * D; e++) wide[e] = (double)z[e];
    if (t->basis.ctx) krein__basis_from_raw(&t->basis, m, wide);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < D; j++) {
            all += wide[i * D + j] * wide[i * D + j];
            if (j < d) kept += wide[i * D + j] * wide[i * D + j];
            if (j < d) view.Z[i * d + j] = wide[i * D + j];
        }
    bool values = krein__map_traits(s->job->model->map) & KREIN_MAP_VALUES;
    double more = values || !(kept > 0) ? 1 : all / kept;
    for (int64_t e = 0; e < m * d; e++) view.Z[e] *= sqrt(more);
    view.least = krein__laprls_least(D, all / (double)m);
    if (t->GL) {
        NEW(view.GL, d * d);
        for (int64_t i = 0; i < d; i++)
            for (int64_t j = 0; j < d; j++) view.GL[i * d + j] = more * t->GL[i * t->width + j];
    }
    TRY(krein__laprls_choose(s, &view));
done:
    krein__free(ctx, index);
    krein__free(ctx, z);
    krein__free(ctx, wide);
    krein__free(ctx, view.Z);
    krein__free(ctx, view.GL);
    return st;
}

/* ---- the fit ------------------------------------------------------------ */

/* w (D x k) of the features as the model wants it. */
static krein_status hand_over(fit *t, double *w) {
    krein_model *m = t->s->job->model;
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    int64_t D = t->features.D, k = m->k;
    double *turned = NULL;
    if (t->basis.ctx) {
        NEW(turned, k * D);
        for (int64_t j = 0; j < D; j++)
            for (int64_t c = 0; c < k; c++) turned[c * D + j] = w[j * k + c];
        krein__basis_to_raw(&t->basis, k, turned);
        for (int64_t j = 0; j < D; j++)
            for (int64_t c = 0; c < k; c++) w[j * k + c] = turned[c * D + j];
    }
    krein_krr b = {.z = t->z};
    krein__krr_weights(t->s->job, &b, w);
done:
    krein__free(ctx, turned);
    return st;
}

/* The factor of the system, or of what stands for it. */
static krein_status make_factor(fit *t) {
    krein_laprls *s = t->s;
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    int64_t D = t->features.D;
    TRY(make_grams(t, s->job->lambda, D, true));
    if (!t->F) NEW(t->F, D * D);
    TRY(krein__manifold_factor(ctx, D, t->GC, t->GL, s->job->lambda, s->form.mu, t->F));
done:
    return st;
}

/* Nodes in the coordinates of the factor, and f less its intercept by weights in the same. */
typedef struct fitted {
    fit *t;
    const double *w; /* D x k */
    float *z;        /* of the most nodes that were asked for */
    int64_t room;
} fitted;

static krein_status at_nodes(void *user, int64_t m, const int64_t *node, double *z, double *g) {
    fitted *f = user;
    krein_ctx *ctx = f->t->ctx;
    krein_status st = KREIN_OK;
    int64_t D = f->t->features.D, k = f->t->s->rows.k;
    if (m > f->room) {
        krein__free(ctx, f->z);
        f->room = 0;
        NEW(f->z, m * D);
        f->room = m;
    }
    TRY(krein__laprls_nodes_features(f->t, m, node, f->z));
    for (int64_t e = 0; e < m * D; e++) z[e] = (double)f->z[e];
    if (f->t->basis.ctx) krein__basis_from_raw(&f->t->basis, m, z);
    krein__pgemm(ctx, false, false, m, k, D, 1, z, D, f->w, k, 0, g, k);
done:
    return st;
}

static krein_status calibrate(fit *t, const double *w) {
    krein_status st = KREIN_OK;
    fitted f = {.t = t, .w = w};
    if (!t->F) TRY(make_factor(t));
    TRY(krein__laprls_calibrate(t->s, t->features.D, at_nodes, &f, t->F,
                                t->s->job->model->intercept));
done:
    krein__free(t->ctx, f.z);
    return st;
}

krein_status krein__laprls_nodes_begin(krein_laprls *s, krein_laprls_nodes *t) {
    krein_job *job = s->job;
    krein_status st = KREIN_OK;
    bool look = krein__laprls_looks(s);
    *t = (fit){.s = s, .ctx = job->ctx};
    TRY(open_features(t));
    if (job->model->map->unmixed) TRY(krein__krr_basis(job, &t->z, &t->basis));
    double first = job->lambda > 0         ? job->lambda
                   : job->lambda_start > 0 ? job->lambda_start
                                           : 1e-6 * t->basis.size;
    if (look) {
        bool direct = s->solver == KREIN_LAPRLS_DIRECT;
        int64_t D = t->features.D;
        TRY(make_grams(t, first, direct ? D : krein__min(D, CHOICE), direct));
        TRY(choose(t));
    }
done:
    return st;
}

void krein__laprls_nodes_end(krein_laprls_nodes *t) {
    if (!t->ctx) return;
    void *all[] = {t->features.kept, t->sample, t->GC, t->GL, t->F};
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) krein__free(t->ctx, all[i]);
    krein__basis_clear(&t->basis);
    krein__blocks_end(&t->z);
    *t = (fit){0};
}

static krein_status run(fit *t) {
    krein_laprls *s = t->s;
    krein_job *job = s->job;
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    int64_t D = t->features.D;
    double *w = NULL;
    s->form.mu = s->lambda_i / s->square;
    if (s->solver != KREIN_LAPRLS_CG) {
        TRY(make_factor(t));
    } else if (t->basis.ctx) {
        bool changed;
        TRY(krein__basis_factor(&t->basis, job->lambda, &changed));
    }
    NEW(w, D * job->model->k);
    TRY(krein__manifold_features_cg(&s->form, &t->features, t->basis.ctx ? &t->basis : NULL, t->F,
                                    job->lambda, &s->limits, w, job->model->intercept, &s->result));
    if (job->probabilities) TRY(calibrate(t, w));
    TRY(hand_over(t, w));
done:
    krein__free(ctx, w);
    return st;
}

krein_status krein__laprls_features(krein_laprls *s) {
    krein_laprls_nodes t;
    krein_status st = krein__laprls_nodes_begin(s, &t);
    if (st == KREIN_OK) st = run(&t);
    krein__laprls_nodes_end(&t);
    return st;
}

double krein__laprls_features_bytes(const krein_map *map, krein_laprls_solver solver, int64_t n,
                                    int64_t k) {
    double N = (double)n, D = (double)map->cls->features(map, n), K = (double)k;
    double sample = (double)sample_of(n, (int64_t)D, LABELS) +
                    (double)sample_of(10 * n, (int64_t)D, EDGES) + 2.0 * ROWS;
    double base = krein__blocks_bytes(map, n) + 16 * N * K +
                  8 * (3 * D * D + (map->unmixed ? 2 * D * D : 0)) + 4.0 * ROWS * D +
                  krein__cg_bytes((int64_t)D, k) + KREIN_LAPRLS_CHOICE_ROWS * D * 12 +
                  krein__laprls_choose_bytes(n, krein__min((int64_t)D, CHOICE)) +
                  krein__laprls_calibrate_bytes(n, (int64_t)D, k);
    double parts = 16 * N + 400 * fmin(N, (double)krein__block_rows(map->d));
    if (solver == KREIN_LAPRLS_DIRECT)
        return base + 4 * N * D + krein__manifold_gram_bytes(n, (int64_t)D, map->ctx->threads);
    base += 4 * sample * D + 4 * D * D + parts;
    return base + fmin(4 * N * D, fmax(0, (double)map->ctx->budget / 3 - base));
}

double krein__laprls_features_flops(const krein_map *map, krein_laprls_solver solver, int64_t n,
                                    int64_t k) {
    double N = (double)n, D = (double)map->cls->features(map, n), K = (double)k;
    double rows = solver == KREIN_LAPRLS_DIRECT ? 2 * N : (LABELS + EDGES) * D;
    double steps = solver == KREIN_LAPRLS_DIRECT ? 3 : solver == KREIN_LAPRLS_CG ? 200 : 25;
    return (solver == KREIN_LAPRLS_CG ? 0 : rows * D * D + D * D * D / 3) + steps * 4 * N * D * K;
}
