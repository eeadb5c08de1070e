/* nystrom -- Nystrom features from D landmarks: rows drawn uniformly or by ridge leverage, k-means
 * centres (pick.c), or rows that the user gives
 *     r(x) = (k(x, l_1), ..., k(x, l_m)),   z(x) = Lambda^(-1/2) V' r(x),   K_mm = V Lambda V'
 * so that z'z = r' K_mm^+ r, exact on the landmarks.               (williams2001, rudi2015)
 * Negative eigenvalues (indefinite kernels) keep their sign in the signature.
 *
 * Indefinite kernels. Eigenvalues of K_mm that are near zero can be sums of large parts of both
 * signs that cancel on the landmarks and nowhere else: z is huge there and the error grows with m.
 * The half of the spectrum that is largest in size is safe from that (nakatsukasa2023). Where it
 * falls fast the half still ends in cancellation, hence no less than LEAST times the largest
 * eigenvalue of the sign that has the smaller one, as measured on tl1, tanh, epanechnikov and
 * differences of Gaussians on five sets of rows. All landmarks may have a positive K_mm while the
 * kernel is indefinite: its expression decides, for kernels in a table their spectrum.
 *
 * Float32. The blocks r carry a relative error of about eps = 6e-8. In z_j it is eps |r|
 * Lambda_j^(-1/2) against a signal of (Lambda_j / m)^(1/2): directions below CUT lambda_max are
 * noise and dropped. Learners prefer to accumulate r'r and multiply by the m x m matrix once
 * ("fused", map.h). The sums over blocks have a relative error of about 1e-8, as a matrix 2 sqrt(m)
 * 1e-8 n k2 with k2 the mean squared kernel value; divided by the smallest Lambda_j kept it must
 * stay below 0.3 n lambda: Lambda_j >= 6e-8 sqrt(m) k2 / lambda. No more than FUSED_CUT lambda_max
 * may be lost that way, which gives the least lambda for it. Cost: O(d m) a row; O(m^3) once.
 *
 * Many landmarks. From MANY on, for a positive definite kernel, z = T^-T r with K_mm + jitter I =
 * T'T takes the place of eigenvectors: features are another rotation of the same, at 2/3 m^3 flops
 * on all threads and not 9 m^3. The jitter is CUT lambda_max: directions that would be dropped are
 * damped.
 *
 * With bits = 8, 4, 2 or 1 the landmarks are codes (coded.c), rounded to the nearest: k-means
 * centres and rows move a little, and the features are those of the moved ones.
 */
#include "map/coded.h"
#include "map/pick.h"

#include "num/blas.h"

#include <math.h>
#include <string.h>

static const double CUT = 1e-7, FUSED_CUT = 1e-5;
static const double LEAST = 1e-3;
enum { MANY = 1024 }; /* landmarks: below, eigenvectors cost little */

enum { D_SLOT = 0, PICK = 1, FILE_SLOT = 2, BITS = 3 };
enum { IN_FLOAT = 32 };

static int bits_of(const krein_map *map) { return (int)map->values.number[BITS]; }

static krein_pick how(const krein_map *map) { return (krein_pick)map->values.number[PICK]; }
static const char *file(const krein_map *map) { return map->values.text[FILE_SLOT]; }

static krein_status accepts(krein_ctx *ctx, const krein_kernel *kernel) {
    (void)ctx, (void)kernel;
    return KREIN_OK; /* every kernel has values */
}

static int64_t features(const krein_map *map, int64_t n) {
    return file(map) ? map->D : krein__min(map->D, n);
}

static void cost(const krein_map *map, int64_t n, krein_cost *out) {
    int64_t m = features(map, n);
    krein__landmarks_cost(map, m, out);
    double M = (double)m;
    if (bits_of(map) != IN_FLOAT) out->bytes += krein__coded_bytes(map, m);
    if (!file(map)) krein__pick_cost(map, n, m, how(map), out);
    if (map->unmixed) return;
    bool factor = m >= MANY && krein__kernel_positive(map->kernel);
    /* K_mm, eigenvectors and LAPACK's work, mix */
    out->bytes +=
        5 * 8 * M * M + 800 * M +
        krein__gram_full_bytes(map->kernel, m, map->sparse ? 1024 : map->d, map->ctx->threads);
    out->fit_flops += M * M * krein__gram_flops(map->kernel, map->d) + (factor ? 1 : 9) * M * M * M;
}

/* Kernel values come from squares and products of inputs in float32. */
static krein_status check_inputs(const krein_map *map, const krein_stream *rows) {
    static const double MOST = 1e15;
    const krein_encoding *e = krein__stream_encoding(rows);
    double top = fmax(fabs(e->low), fabs(e->high));
    if (top <= MOST || krein__kernel_all(map->kernel, krein__has_rows)) return KREIN_OK;
    return krein__fail(map->ctx, KREIN_EDATA,
                       "nystrom: inputs reach %.3g, and their squares are too large for single "
                       "precision; use `scale=standard`",
                       top);
}

static bool in_table(const krein_kernel_class *c) { return c->family == KREIN_FAMILY_TABLE; }

/* A positive definite kernel with a minus, or a sum of such. */
static bool negative(const krein_kernel *k) {
    if (k->node == KREIN_NODE_SUM) return negative(k->left) && negative(k->right);
    if (k->node != KREIN_NODE_SCALE) return false;
    return k->number < 0 ? krein__kernel_positive(k->left) : negative(k->left);
}

/* The size from which eigenvalues (ascending) are safe; 0: all are. */
static double safe_size(const krein_kernel *kernel, int64_t m, const double *w) {
    int64_t low = 0, high = m - 1;
    double half = 0, other = fmin(fmax(-w[0], 0), fmax(w[m - 1], 0));
    if (krein__kernel_positive(kernel) || negative(kernel)) return 0;
    if (krein__kernel_all(kernel, in_table) && other <= CUT * fmax(-w[0], w[m - 1])) return 0;
    for (int64_t i = 0; i < m - m / 2; i++) half = -w[low] > w[high] ? -w[low++] : w[high--];
    return fmax(half, LEAST * other);
}

/* Fewer features than landmarks: a smaller D would make the same ones. */
static void tell(const krein_map *map, int64_t m, double safe, double top) {
    if (map->D == m) return;
    krein__log(map->ctx, KREIN_LOG_INFO, "nystrom: %lld landmarks give %lld features: %s",
               (long long)m, (long long)map->D,
               safe > CUT * top ? "of an indefinite kernel only the large half of the spectrum is "
                                  "safe from cancellation"
                                : "single precision resolves no more of the kernel's spectrum");
}

/* How far the factor says that landmarks are not explained by those before them. */
static void tell_factor(const krein_map *map, const double *t, double jitter) {
    int64_t m = map->R, few = 0;
    for (int64_t i = 0; i < m; i++) few += t[i * m + i] * t[i * m + i] < 10 * jitter;
    krein__log(
        map->ctx, few > 0 ? KREIN_LOG_INFO : KREIN_LOG_DEBUG,
        "nystrom: Cholesky factor of %lld landmarks with %.1e on the diagonal, which is what "
        "single precision resolves; %lld of them add no more than that to the others",
        (long long)m, jitter, (long long)few);
}

/* mix = T^-1; k is overwritten. */
static krein_status whiten_by_factor(krein_map *map, double *k) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    int64_t m = map->R;
    double top = 0, *diagonal = NULL;
    NEW(diagonal, m);
    for (int64_t i = 0; i < m; i++) { /* not below the largest eigenvalue, and near it */
        double sum = 0;
        for (int64_t j = 0; j < m; j++) sum += fabs(k[i * m + j]);
        top = fmax(top, sum);
    }
    if (!(top > 0)) {
        st = krein__fail(ctx, KREIN_ENUMERIC, "nystrom: the kernel is zero on the landmarks");
        goto done;
    }
    for (int64_t i = 0; i < m; i++) k[i * m + i] += CUT * top;
    TRY(krein__cholesky(ctx, m, k, m, NULL));
    tell_factor(map, k, CUT * top);
    TRY(krein__cholesky_inverse_diagonal(ctx, m, k, m, diagonal));
    NEW(map->mix, m * m);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < m; j++) map->mix[i * m + j] = j < i ? 0 : k[i * m + j];
    map->D = m;
    map->fused_lambda = INFINITY; /* there is no order of the columns to cut */
done:
    krein__free(ctx, diagonal);
    return st;
}

/* mix = V Lambda^(-1/2) for the eigenvalues that are kept, largest first; k is overwritten. */
static krein_status whiten_by_eigenvectors(krein_map *map, double *k, double k2) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    int64_t m = map->R, D = 0;
    double *w = NULL;
    NEW(w, m);
    TRY(krein__eigen(ctx, m, k, m, w));
    double top = fmax(fabs(w[0]), fabs(w[m - 1]));
    double safe = safe_size(map->kernel, m, w);
    bool mixed = false;
    for (int64_t j = 0; j < m; j++) {
        bool keep = fabs(w[j]) > CUT * top && fabs(w[j]) >= safe;
        D += keep;
        mixed = mixed || (keep && w[j] < 0);
    }
    if (D == 0) {
        st = krein__fail(ctx, KREIN_ENUMERIC, "nystrom: the kernel is zero on the landmarks");
        goto done;
    }
    NEW(map->mix, m * D);
    NEW(map->spectrum, D);
    if (mixed) NEW(map->sign, D);
    int64_t at = 0;
    for (int64_t j = m - 1; j >= 0; j--) {
        if (fabs(w[j]) <= CUT * top || fabs(w[j]) < safe) continue;
        double factor = 1 / sqrt(fabs(w[j]));
        for (int64_t i = 0; i < m; i++) map->mix[i * D + at] = k[j * m + i] * factor;
        if (mixed) map->sign[at] = w[j] < 0 ? -1 : 1;
        map->spectrum[at++] = fabs(w[j]);
    }
    map->fused_unit = 6e-8 * sqrt((double)m) * k2;
    map->fused_lambda = map->fused_unit / (FUSED_CUT * top);
    if (mixed) map->fused_lambda = INFINITY; /* the order is by value, not by size */
    map->D = D;
    tell(map, m, safe, top);
done:
    krein__free(ctx, w);
    return st;
}

static krein_status whiten(krein_map *map, bool factor) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    double *k = NULL, square;
    NEW(k, map->R * map->R);
    TRY(krein__landmarks_values(map, k, &square));
    TRY(factor ? whiten_by_factor(map, k) : whiten_by_eigenvectors(map, k, square));
done:
    krein__free(ctx, k);
    return st;
}

static bool by_factor(const krein_map *map) {
    return map->R >= MANY && krein__kernel_positive(map->kernel);
}

/* Columns beyond REACH times what the landmarks have are cut. */
static krein_status hold_codes(krein_map *map, const krein_matrix *marks) {
    static const float REACH = 1.5f;
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_rows rows = krein__matrix_rows(marks);
    int64_t d = map->d, m = marks->n;
    float *unit = NULL, *row = NULL, *divided = NULL;
    ZNEW(unit, d);
    NEW(row, d);
    NEW(divided, d * m);
    for (int64_t i = 0; i < m; i++) {
        krein__row_copy(&rows, i, row);
        for (int64_t j = 0; j < d; j++) unit[j] = fmaxf(unit[j], REACH * fabsf(row[j]));
    }
    for (int64_t j = 0; j < d; j++) unit[j] = unit[j] > 1e-30f ? 1 / unit[j] : 0;
    for (int64_t i = 0; i < m; i++) {
        krein__row_copy(&rows, i, row);
        for (int64_t j = 0; j < d; j++) divided[j * m + i] = unit[j] > 0 ? row[j] / unit[j] : 0;
    }
    krein_coded_given given = {.bits = bits_of(map), .m = m, .unit = unit, .rows = divided};
    TRY(krein__coded_give(map, &given));
done:
    krein__free(ctx, unit);
    krein__free(ctx, row);
    krein__free(ctx, divided);
    return st;
}

static krein_status hold(krein_map *map, krein_matrix *marks) {
    int bits = bits_of(map);
    if (bits == IN_FLOAT) return krein__landmarks_hold(map, marks, false);
    if (bits == 8 || bits == 4 || bits == 2 || bits == 1) return hold_codes(map, marks);
    return krein__fail(map->ctx, KREIN_ESPEC, "nystrom: bits=%d is not offered: 32, 8, 4, 2 or 1",
                       bits);
}

static krein_status fit(krein_map *map, krein_stream *rows, int64_t n) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_matrix marks = {0};
    int64_t m = features(map, n);
    if (m < map->D)
        krein__log(ctx, KREIN_LOG_WARNING, "nystrom: %lld landmarks asked for, there are %lld rows",
                   (long long)map->D, (long long)n);
    TRY(check_inputs(map, rows));
    TRY(file(map) ? krein__rows_given(rows, file(map), map->D, &marks)
                  : krein__pick(map, rows, n, m, how(map), &marks));
    TRY(hold(map, &marks));
    if (map->unmixed && krein__kernel_positive(map->kernel))
        map->D = map->R;
    else
        TRY(whiten(map, by_factor(map)));
done:
    krein__matrix_clear(ctx, &marks);
    return st;
}

/* Landmarks at equal distances: a sample has no order that could matter. */
static krein_status fit_sample(krein_map *map, const krein_rows *rows) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_matrix marks = {0};
    int64_t m = krein__min(map->D, rows->n), *index = NULL;
    NEW(index, m);
    for (int64_t i = 0; i < m; i++) index[i] = i * rows->n / m;
    TRY(krein__matrix_gather(ctx, rows, index, m, &marks));
    TRY(hold(map, &marks));
    TRY(whiten(map, by_factor(map)));
done:
    krein__free(ctx, index);
    krein__matrix_clear(ctx, &marks);
    return st;
}

/* The landmarks give the same matrix again; on another CPU or with another BLAS but for rounding
 * and the signs of eigenvectors, by which an eigenvalue at the threshold may come out on its other
 * side. A map that has fewer features than landmarks was made of eigenvectors. */
static krein_status remix(krein_map *map) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_map again = *map;
    again.mix = again.spectrum = NULL;
    again.sign = NULL;
    TRY(whiten(&again, map->D == map->R && by_factor(map)));
    if (again.D != map->D) {
        st = krein__fail(ctx, KREIN_ENUMERIC,
                         "nystrom: the landmarks gave %lld features where the model was trained, "
                         "and give %lld here; save a model of krein_fit for its features",
                         (long long)map->D, (long long)again.D);
        goto done;
    }
    map->mix = again.mix;
    again.mix = NULL;
done:
    krein__free(ctx, again.mix);
    krein__free(ctx, again.spectrum);
    krein__free(ctx, again.sign);
    return st;
}

static bool fact(const krein_map *map, int64_t i, krein_fact *out) {
    *out = (krein_fact){.name = "landmarks", .value = (double)map->R};
    return i == 0;
}

static krein_status io(krein_map *map, krein_archive *a) {
    int bits = bits_of(map);
    return bits == IN_FLOAT ? krein__landmarks_io(map, a, false) : krein__coded_io(map, a, bits);
}

static void tile(const krein_map *map, const krein_rows *x, float *out, int64_t ld,
                 float *scratch) {
    (bits_of(map) == IN_FLOAT ? krein__landmarks_tile : krein__coded_reals)(map, x, out, ld,
                                                                            scratch);
}

static int own_traits(const krein_map *map) {
    return bits_of(map) == IN_FLOAT ? KREIN_MAP_VALUES : KREIN_MAP_CODES;
}

static const krein_option options[] = {
    {.name = "D",
     .type = KREIN_OPTION_INTEGER,
     .value = NAN,
     .low = 1,
     .high = 1e6,
     .help = "number of landmarks; chosen from the data when not given"},
    {.name = "landmarks",
     .type = KREIN_OPTION_WORD,
     .value = KREIN_PICK_UNIFORM,
     .words = "uniform|kmeans|leverage",
     .help = "rows drawn uniformly, k-means centres, or rows drawn by ridge leverage scores"},
    {.name = "file",
     .type = KREIN_OPTION_TEXT,
     .help = "landmarks from this file: rows with the columns of the data, or one column of row "
             "numbers from 1"},
    [BITS] = {.name = "bits",
              .type = KREIN_OPTION_INTEGER,
              .value = IN_FLOAT,
              .low = 1,
              .high = IN_FLOAT,
              .help = "of the landmarks: 32, or whole numbers of 8, 4, 2 or 1"},
    {0}};

const krein_map_class krein__map_nystrom = {
    .cls =
        {"nystrom", "Nystrom features from landmarks", "williams2001", options,
         "For every kernel. Landmarks are training rows drawn uniformly, centres of k-means "
         "(better where rows form clusters; on wide sparse rows its k-means++ seeds), training "
         "rows drawn by ridge leverage scores (rows that others do not explain; positive "
         "definite kernels), or those of a file, at most D. Of an indefinite kernel about half as "
         "many features as landmarks are kept: the others would not approximate it. With bits "
         "below "
         "32 rows, landmarks and kernel values are whole numbers, and so are inner products; for "
         "kernels that are computed from these."},
    .terms = KREIN_EXPANSION_MAX,
    .kernels = "all",
    .time = "n d D + D^3",
    .traits = KREIN_MAP_DATA | KREIN_MAP_MIX,
    .own_traits = own_traits,
    .accepts = accepts,
    .features = features,
    .cost = cost,
    .fit = fit,
    .fit_sample = fit_sample,
    .remix = remix,
    .tile = tile,
    .codes = krein__coded_codes,
    .code_tile = krein__coded_tile,
    .array = krein__landmarks_array,
    .io = io,
    .clear = krein__landmarks_clear,
    .fact = fact};
