/* test_agop.c -- the average gradient outer product: reference values, finite differences, and a
 * slow obvious sum; threads; what is refused. */
#include "common.h"

#include "kernel/gram.h"
#include "select/agop.h"

#include <stdio.h>
#include <string.h>

enum { N = 6, D = 3 };

/* ---- reference values ----------------------------------------------------
 * Six rows, lambda = 0.1, sigma = 1.5, targets centred; made by another program in double, printed
 * to ten digits. A step is: moments of the fit under the present metric, the next metric (and that
 * of power 1/2), then sigma, coefficients and moments of the fit under it. */

typedef struct step {
    double moments[D * D], metric[D * D], half[D * D], sigma, alpha[N], next[D * D];
} step;

typedef struct reference {
    const char *kernel;
    double alpha[N]; /* of the fit without a metric */
    step diagonal, full;
} reference;

static const double inputs[N][D] = {{0, 0, 0},  {1, 0, -1}, {0, 1, 2},
                                    {-1, 1, 0}, {2, -1, 1}, {1, 2, -2}};
static const double targets[N] = {0, 1, -1, .5, 2, -.5};
static const double second[N] = {1, 0, 0, 1, 0, -1};

static const reference references[] = {
    {"gaussian(sigma=%.12g)",
     {-1.6831590856, 1.2962296600, -1.3971058489, 1.3047639608, 1.7415683698, -1.0988962017},
     {{0.0982559340, 0.0598285243, 0.0707245314},
      {1.1350199100, 0.8856828417, 0.9629619452},
      {1.0682855633, 0.9436799658, 0.9839888605},
      1.6044637642,
      {-1.5908566493, 1.4044370506, -1.4683776528, 1.3878763875, 1.6877128302, -1.2431072865},
      {0.1281017806, 0.0616600270, 0.0721411397}},
     {{0.0982559340, -0.0624797261, -0.0052195249, -0.0624797261, 0.0598285243, -0.0057327496,
       -0.0052195249, -0.0057327496, 0.0707245314},
      {1.0372771205, -0.4583642710, -0.0472076944, -0.4583642710, 0.7557470599, -0.0564151812,
       -0.0472076944, -0.0564151812, 0.9601481494},
      {1.0294431087, -0.2638751191, -0.0297992633, -0.2638751191, 0.8674816185, -0.0367005583,
       -0.0297992633, -0.0367005583, 1.0217595199},
      1.6711365998,
      {-0.7644407896, 1.2347977144, -1.5083266244, 1.2244327305, 1.4253478134, -1.2784077908},
      {0.1815843620, -0.1452275155, 0.0217043628, -0.1452275155, 0.1187122834, -0.0202923878,
       0.0217043628, -0.0202923878, 0.0492931717}}},
    {"exponential(sigma=%.12g)",
     {-0.6584079707, 0.7759124344, -1.4190752085, 0.5233217552, 1.6746994951, -0.9068392630},
     {{0.0169771541, 0.0154043097, 0.0118573501},
      {1.0729792804, 1.0220685159, 0.8967114434},
      {1.0372727642, 1.0123654428, 0.9482517719},
      1.5556976259,
      {-0.6100280128, 0.7707418068, -1.4351471088, 0.5693559166, 1.6578657184, -0.9085812450},
      {0.0225754075, 0.0201232270, 0.0114718525}},
     {{0.0169771541, -0.0140960312, -0.0034710584, -0.0140960312, 0.0154043097, 0.0037260826,
       -0.0034710584, 0.0037260826, 0.0118573501},
      {0.9309152276, -0.5247809760, -0.0963654628, -0.5247809760, 0.8694503112, 0.1152611593,
       -0.0963654628, 0.1152611593, 0.8840361844},
      {0.9718936831, -0.3061164369, -0.0455626692, -0.3061164369, 0.9350968554, 0.0596319453,
       -0.0455626692, 0.0596319453, 0.9911297304},
      1.4893212517,
      {-0.3652874310, 0.6886405688, -1.3582989875, 0.6428291786, 1.5222462205, -0.9171616351},
      {0.0467448283, -0.0456876150, -0.0012675328, -0.0456876150, 0.0451417073, 0.0026789501,
       -0.0012675328, 0.0026789501, 0.0055441143}}},
    {"laplacian(sigma=%.12g)",
     {-0.4874628960, 0.7456284545, -1.2587978794, 0.3776261356, 1.5405437484, -0.8379597888},
     {{0.0118176896, 0.0081658261, 0.0073671408},
      {1.1385262266, 0.9464045339, 0.8989307479},
      {1.0698990846, 0.9754605325, 0.9506801240},
      1.5458954006,
      {-0.4469061882, 0.7570761732, -1.2597795603, 0.3856026226, 1.5347364189, -0.8559797311},
      {0.0158167450, 0.0104546768, 0.0078606681}},
     {{0.0118176896, -0.0078887902, 0.0015220014, -0.0078887902, 0.0081658261, 0.0016817737,
       0.0015220014, 0.0016817737, 0.0073671408},
      {1.0224366672, -0.4849817303, 0.1251317364, -0.4849817303, 0.7994484365, 0.1461384973,
       0.1251317364, 0.1461384973, 0.8781014051},
      {1.0234764304, -0.2855712627, 0.0836149995, -0.2855712627, 0.8926524528, 0.0995044290,
       0.0836149995, 0.0995044290, 0.9791733777},
      1.3305564979,
      {-0.2662311616, 0.6765611492, -1.1876072943, 0.3145241747, 1.5081532902, -0.7314135959},
      {0.0413387818, -0.0353515171, -0.0010211789, -0.0353515171, 0.0302745454, 0.0010234212,
       -0.0010211789, 0.0010234212, 0.0005478695}}},
    {"matern(nu=1.5,sigma=%.12g)",
     {-0.9760770993, 0.9274164370, -1.4292019273, 0.7829124437, 1.6908594205, -0.9647344137},
     {{0.0426729841, 0.0289762913, 0.0314065645},
      {1.1145532708, 0.9184292848, 0.9561687378},
      {1.0576381168, 0.9600846814, 0.9796116672},
      1.5882404156,
      {-0.9034484928, 0.9618184552, -1.4722859887, 0.8318174275, 1.6810000274, -1.0311357353},
      {0.0567766791, 0.0322006151, 0.0334480789}},
     {{0.0426729841, -0.0302200751, -0.0055520775, -0.0302200751, 0.0289762913, 0.0038368008,
       -0.0055520775, 0.0038368008, 0.0314065645},
      {0.9955233667, -0.4960010894, -0.0717296250, -0.4960010894, 0.7717166018, 0.0441447299,
       -0.0717296250, 0.0441447299, 0.9524519720},
      {1.0062375165, -0.2903644331, -0.0360921132, -0.2903644331, 0.8755217054, 0.0201163309,
       -0.0360921132, 0.0201163309, 1.0241631614},
      1.5964971610,
      {-0.4759153754, 0.8708019588, -1.4246782125, 0.8386111741, 1.4942282895, -1.0518196027},
      {0.1025787042, -0.0871181469, 0.0058106947, -0.0871181469, 0.0746701998, -0.0031786251,
       0.0058106947, -0.0031786251, 0.0175974739}}},
    {"matern(nu=2.5,sigma=%.12g)",
     {-1.1494570325, 1.0173160474, -1.4241558761, 0.9133821696, 1.6992267225, -0.9952642835},
     {{0.0576663666, 0.0362100399, 0.0424412631},
      {1.1265379981, 0.8926866761, 0.9664484659},
      {1.0639284427, 0.9470851415, 0.9854369608},
      1.5977245832,
      {-1.0737137755, 1.0784738076, -1.4758978537, 0.9712169009, 1.6846362849, -1.0934125967},
      {0.0775110999, 0.0393349246, 0.0459423567}},
     {{0.0576663666, -0.0389639624, -0.0059256136, -0.0389639624, 0.0362100399, 0.0020933297,
       -0.0059256136, 0.0020933297, 0.0424412631},
      {1.0142760573, -0.4860744049, -0.0637464789, -0.4860744049, 0.7486946263, 0.0088051763,
       -0.0637464789, 0.0088051763, 0.9643036309},
      {1.0166100499, -0.2846612377, -0.0342782725, -0.2846612377, 0.8617027260, -0.0000380779,
       -0.0342782725, -0.0000380779, 1.0293485198},
      1.6246150854,
      {-0.5444083830, 0.9689730934, -1.4456267649, 0.9269794430, 1.4785665092, -1.1108631431},
      {0.1296550164, -0.1059513930, 0.0097863140, -0.1059513930, 0.0873769559, -0.0070873596,
       0.0097863140, -0.0070873596, 0.0266123067}}},
};

static krein_kernel *kernel_of(krein_ctx *ctx, const char *format, double sigma) {
    char text[100];
    krein_kernel *k = NULL;
    snprintf(text, sizeof text, format, sigma);
    CHECK(krein__kernel_parse(ctx, text, &k) == KREIN_OK);
    return k;
}

/* u = A x in float32, the coefficients of the ridge regression of y (N x q) on it. */
static void fit(krein_ctx *ctx, const krein_kernel *k, const double *A, int64_t q, const double *y,
                float *u, double *alpha) {
    double K[N * N];
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < D; j++) {
            double sum = 0;
            for (int64_t l = 0; l < D; l++) sum += A[j * D + l] * inputs[i][l];
            u[i * D + j] = (float)sum;
        }
    krein_rows rows = krein__rows_dense(N, D, u, D);
    CHECK(krein__gram_full(ctx, k, &rows, &rows, K) == KREIN_OK);
    for (int64_t i = 0; i < N; i++) K[i * N + i] += 0.1;
    for (int64_t c = 0; c < q; c++) {
        double mean = 0;
        for (int64_t i = 0; i < N; i++) mean += y[i * q + c] / N;
        for (int64_t i = 0; i < N; i++) alpha[i * q + c] = y[i * q + c] - mean;
    }
    test_solve(N, q, K, alpha);
}

static void check_all(int64_t n, const double *got, const double *want, double tolerance) {
    for (int64_t i = 0; i < n; i++) CHECK_ABS(got[i], want[i], tolerance);
}

static void check_step(krein_ctx *ctx, const reference *r, const step *s, bool full) {
    const double printed = 6e-11, rounded = 3e-7; /* the second fit has rows in float32 */
    const double one[D * D] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    int64_t m = full ? D * D : D;
    float u[N * D];
    double alpha[N], h[D * D], a[D * D], A[D * D] = {0};
    bool found = true;
    krein_kernel *k = kernel_of(ctx, r->kernel, 1.5);
    krein_rows rows = krein__rows_dense(N, D, u, D);
    fit(ctx, k, one, 1, targets, u, alpha);
    check_all(N, alpha, r->alpha, printed);
    CHECK((full ? krein__agop_full(ctx, k, &rows, rows.n, 1, alpha, NULL, h)
                : krein__agop_diagonal(ctx, k, &rows, rows.n, 1, alpha, NULL, h)) == KREIN_OK);
    check_all(m, h, s->moments, printed);
    for (int turn = 0; turn < 2; turn++) { /* power 1/2, then 1, which is used below */
        double power = turn ? 1 : 0.5;
        if (full)
            CHECK(krein__metric_matrix(ctx, D, h, power, a, &found) == KREIN_OK);
        else
            found = krein__metric_factors(D, h, power, a);
        CHECK(found);
        check_all(m, a, turn ? s->metric : s->half, 1e-9);
    }
    krein__kernel_destroy(ctx, k);
    k = kernel_of(ctx, r->kernel, s->sigma);
    for (int64_t j = 0; j < D; j++) A[j * D + j] = a[j];
    fit(ctx, k, full ? a : A, 1, targets, u, alpha);
    check_all(N, alpha, s->alpha, 10 * rounded);
    CHECK((full ? krein__agop_full(ctx, k, &rows, rows.n, 1, alpha, a, h)
                : krein__agop_diagonal(ctx, k, &rows, rows.n, 1, alpha, a, h)) == KREIN_OK);
    check_all(m, h, s->next, rounded);
    krein__kernel_destroy(ctx, k);
}

static void printed_values(void) {
    krein_ctx *ctx = test_ctx(1);
    for (int64_t i = 0; i < KREIN__COUNT(references); i++) {
        check_step(ctx, &references[i], &references[i].diagonal, false);
        check_step(ctx, &references[i], &references[i].full, true);
    }
    krein_ctx_destroy(ctx);
}

static void two_outputs(void) {
    static const double want_alpha[N * 2] = {
        -0.6584079707, 0.8460018442, 0.7759124344, -0.2700665647, -1.4190752085, -0.3608677590,
        0.5233217552,  0.7393741446, 1.6746994951, -0.2066631535, -0.9068392630, -1.1706984615};
    static const double want[D * D] = {0.0390267251,  -0.0113593656, -0.0134226148,
                                       -0.0113593656, 0.0234183441,  -0.0001299568,
                                       -0.0134226148, -0.0001299568, 0.0253812375};
    const double one[D * D] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    krein_ctx *ctx = test_ctx(1);
    krein_kernel *k = kernel_of(ctx, "exponential(sigma=%g)", 1.5);
    float u[N * D];
    double y[N * 2], alpha[N * 2], H[D * D], h[D];
    krein_rows rows = krein__rows_dense(N, D, u, D);
    for (int64_t i = 0; i < N; i++) {
        y[2 * i] = targets[i];
        y[2 * i + 1] = second[i];
    }
    fit(ctx, k, one, 2, y, u, alpha);
    check_all(N * 2, alpha, want_alpha, 6e-11);
    CHECK(krein__agop_full(ctx, k, &rows, rows.n, 2, alpha, NULL, H) == KREIN_OK);
    check_all(D * D, H, want, 6e-11);
    CHECK(krein__agop_diagonal(ctx, k, &rows, rows.n, 2, alpha, NULL, h) == KREIN_OK);
    for (int64_t j = 0; j < D; j++) CHECK_ABS(h[j], want[j * (D + 1)], 6e-11);
    krein__kernel_destroy(ctx, k);
    krein_ctx_destroy(ctx);
}

/* ---- finite differences --------------------------------------------------- */

enum { ROWS = 23, WIDE = 5, OUT = 3 };

/* sum_l alpha_l k(u, u_l) over the rows but `self`. */
static double value(krein_ctx *ctx, const krein_kernel *k, const float *point, const float *u,
                    const double *alpha, int64_t self, int64_t c) {
    double v[ROWS], sum = 0;
    krein_rows x = krein__rows_dense(1, WIDE, point, WIDE);
    krein_rows y = krein__rows_dense(ROWS, WIDE, u, WIDE);
    CHECK(krein__gram_full(ctx, k, &x, &y, v) == KREIN_OK);
    for (int64_t l = 0; l < ROWS; l++) sum += l == self ? 0 : alpha[l * OUT + c] * v[l];
    return sum;
}

/* Differences over steps that are exact in float32: rows are multiples of 1/16, steps 2^-12, and
 * the second order is taken off by a step twice as long. Columns
 * have ties. */
static void differences(void) {
    static const char *const kernels[] = {
        "gaussian(sigma=1.3)",       "exponential(sigma=2.1)",   "laplacian(sigma=3)",
        "cauchy(sigma=1.7)",         "anova(c=1.6,sigma=1.2)",   "rq(alpha=0.7,sigma=1.1)",
        "2.5*rq(alpha=2,sigma=1.9)", "matern(nu=0.5,sigma=1.5)", "matern(nu=1.5,sigma=1.5)",
        "matern(nu=0.8,sigma=1.5)",  "matern(nu=1,sigma=1.5)",   "matern(nu=1.7,sigma=1.5)",
        "matern(nu=4,sigma=1.5)"};
    krein_ctx *ctx = test_ctx(2);
    float u[ROWS * WIDE];
    double alpha[ROWS * OUT];
    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t j = 0; j < WIDE; j++)
            u[i * WIDE + j] = (float)(rint(16 * 2 * det(i, j, .4)) / 16 + (double)(i % 2) / 64);
        for (int64_t c = 0; c < OUT; c++) alpha[i * OUT + c] = det(i, c, 1.9);
    }
    krein_rows rows = krein__rows_dense(ROWS, WIDE, u, WIDE);
    for (int64_t t = 0; t < KREIN__COUNT(kernels); t++) {
        krein_kernel *k = kernel_of(ctx, kernels[t], 0);
        double want[WIDE * WIDE] = {0}, h[WIDE], H[WIDE * WIDE];
        int64_t at = t % 2 ? ROWS : 7; /* of so many rows */
        for (int64_t i = 0; i < at; i++)
            for (int64_t c = 0; c < OUT; c++) {
                double g[WIDE];
                for (int64_t j = 0; j < WIDE; j++) {
                    float point[WIDE];
                    double slope[2];
                    memcpy(point, u + i * WIDE, sizeof point);
                    for (int s = 0; s < 2; s++) {
                        double by = ldexp(1, s - 12);
                        point[j] = u[i * WIDE + j] + (float)by;
                        slope[s] = value(ctx, k, point, u, alpha, i, c);
                        point[j] = u[i * WIDE + j] - (float)by;
                        slope[s] = (slope[s] - value(ctx, k, point, u, alpha, i, c)) / (2 * by);
                    }
                    g[j] = (4 * slope[0] - slope[1]) / 3;
                }
                for (int64_t e = 0; e < WIDE * WIDE; e++)
                    want[e] += g[e / WIDE] * g[e % WIDE] / (double)at;
            }
        CHECK(krein__agop_diagonal(ctx, k, &rows, at, OUT, alpha, NULL, h) == KREIN_OK);
        CHECK(krein__agop_full(ctx, k, &rows, at, OUT, alpha, NULL, H) == KREIN_OK);
        for (int64_t j = 0; j < WIDE; j++) CHECK_REL(h[j], want[j * (WIDE + 1)], 2e-7);
        for (int64_t e = 0; e < WIDE * WIDE; e++) CHECK_ABS(H[e], want[e], 2e-7);
        krein__kernel_destroy(ctx, k);
    }
    krein_ctx_destroy(ctx);
}

/* ---- the rest ------------------------------------------------------------- */

/* Duplicates of a row have no direction, with large coordinates too. */
static void duplicates(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_kernel *k = kernel_of(ctx, "exponential(sigma=%g)", 1);
    float u[4 * 2] = {1000.25f, -3000.5f, 1000.25f, -3000.5f,
                      1001.25f, -3000.5f, 1000.25f, -3003.5f};
    double alpha[4] = {2, 5, 1, -1}, h[2];
    krein_rows rows = krein__rows_dense(4, 2, u, 2);
    CHECK(krein__agop_diagonal(ctx, k, &rows, rows.n, 1, alpha, NULL, h) == KREIN_OK);
    double e1 = exp(-1), e3 = exp(-3), r = sqrt(10), er = exp(-r);
    /* rows 0 and 1 see row 2 at 1 and row 3 at 3; rows 2 and 3 see both of them and one another */
    double g2 = -7 * e1 + er / r, g3 = -er / r;
    CHECK_REL(h[0], (2 * e1 * e1 + g2 * g2 + g3 * g3) / 4, 1e-7);
    double v2 = 3 * er / r, v3 = 7 * e3 + 3 * er / r;
    CHECK_REL(h[1], (2 * e3 * e3 + v2 * v2 + v3 * v3) / 4, 1e-7);
    krein__kernel_destroy(ctx, k);
    krein_ctx_destroy(ctx);
}

/* Several pieces of outputs, a tile and more of rows; any number of threads, to the bit. */
static void threads(void) {
    enum { MANY = 300, COLUMNS = 70, OUTPUTS = 4 };
    static const char *const kernels[] = {"exponential(sigma=%g)", "laplacian(sigma=%g)"};
    float *x = test_dense(MANY, COLUMNS, .2);
    double *alpha = test_new(MANY * OUTPUTS, sizeof *alpha), h[2][COLUMNS];
    double *H[2] = {test_new(COLUMNS * COLUMNS, sizeof(double)),
                    test_new(COLUMNS * COLUMNS, sizeof(double))};
    for (int64_t i = 0; i < MANY * OUTPUTS; i++) alpha[i] = det(i, 1, .7);
    krein_rows rows = krein__rows_dense(MANY, COLUMNS, x, COLUMNS);
    for (int64_t t = 0; t < KREIN__COUNT(kernels); t++) {
        for (int s = 0; s < 2; s++) {
            krein_ctx *ctx = test_ctx(s ? 3 : 1);
            krein_kernel *k = kernel_of(ctx, kernels[t], 20);
            CHECK(krein__agop_diagonal(ctx, k, &rows, rows.n, OUTPUTS, alpha, NULL, h[s]) ==
                  KREIN_OK);
            CHECK(krein__agop_full(ctx, k, &rows, rows.n, OUTPUTS, alpha, NULL, H[s]) == KREIN_OK);
            krein__kernel_destroy(ctx, k);
            krein_ctx_destroy(ctx);
        }
        CHECK(memcmp(h[0], h[1], sizeof h[0]) == 0);
        CHECK(memcmp(H[0], H[1], COLUMNS * COLUMNS * sizeof(double)) == 0);
        for (int64_t j = 0; j < COLUMNS; j++) CHECK_REL(h[0][j], H[0][j * (COLUMNS + 1)], 1e-12);
    }
    free(x);
    free(alpha);
    free(H[0]);
    free(H[1]);
}

static void refused(void) {
    static const char *const text[][2] = {
        {"gaussian(sigma=1)+laplacian(sigma=1)", "one base kernel"},
        {"gaussian(sigma=1)*laplacian(sigma=1)", "one base kernel"},
        {"poly(degree=2)", "cannot be learned with the kernel poly"},
        {"gaussian", "needs a value of sigma"}};
    krein_ctx *ctx = test_ctx(1);
    float x[4] = {1, 2, 3, 5};
    double alpha[2] = {1, -1}, h[2], H[4];
    krein_rows rows = krein__rows_dense(2, 2, x, 2);
    for (int64_t t = 0; t < KREIN__COUNT(text); t++) {
        krein_kernel *k = NULL;
        CHECK(krein__kernel_parse(ctx, text[t][0], &k) == KREIN_OK);
        CHECK(krein__agop_diagonal(ctx, k, &rows, rows.n, 1, alpha, NULL, h) == KREIN_ESPEC);
        CHECK_HAS(krein_message(ctx), text[t][1]);
        CHECK(krein__agop_full(ctx, k, &rows, rows.n, 1, alpha, NULL, H) == KREIN_ESPEC);
        krein__kernel_destroy(ctx, k);
    }
    krein_ctx_destroy(ctx);
}

/* No gradient: the metric stays. */
static void no_signal(void) {
    krein_ctx *ctx = test_ctx(1);
    double zero[4] = {0}, a[4] = {3, 1, 4, 1};
    const double before[4] = {3, 1, 4, 1};
    bool found = true;
    CHECK(!krein__metric_factors(2, zero, 1, a));
    CHECK(krein__metric_matrix(ctx, 2, zero, 1, a, &found) == KREIN_OK && !found);
    check_all(4, a, before, 0);
    krein_ctx_destroy(ctx);
}

static void failing_allocations(void) {
    float x[8] = {1, 2, 3, 5, 2, 2, 1, 7};
    const double alpha[4] = {1, -1, 2, 1}, metric[4] = {1, .5, .5, 2};
    krein_rows rows = krein__rows_dense(4, 2, x, 2);
    for (int t = 0; t < 2; t++) {
        test_memory m;
        krein_ctx *ctx = test_ctx_with(1, &m);
        krein_kernel *kernel = kernel_of(ctx, t ? "laplacian(sigma=%g)" : "gaussian(sigma=%g)", 2);
        TEST_EVERY_ALLOCATION(&m, k) {
            double h[2], H[4], A[4];
            bool found;
            krein_status st = krein__agop_diagonal(ctx, kernel, &rows, rows.n, 1, alpha, NULL, h);
            if (st == KREIN_OK)
                st = krein__agop_full(ctx, kernel, &rows, rows.n, 1, alpha, metric, H);
            if (st == KREIN_OK) st = krein__metric_matrix(ctx, 2, H, 1, A, &found);
            CHECK(st == (test_has_failed(&m) ? KREIN_EMEMORY : KREIN_OK));
        }
        krein__kernel_destroy(ctx, kernel);
        krein_ctx_destroy(ctx);
    }
}

int main(void) {
    RUN(printed_values);
    RUN(two_outputs);
    RUN(differences);
    RUN(duplicates);
    RUN(threads);
    RUN(refused);
    RUN(no_signal);
    RUN(failing_allocations);
    return DONE();
}
