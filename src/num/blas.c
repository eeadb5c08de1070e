/* blas.c -- the only file that names OpenBLAS and LAPACK
 *
 * Row-major in, row-major out. LAPACK is column-major: the upper triangle of our A is the
 * lower triangle of its A', the same matrix when A is symmetric. Hence
 *
 *   Cholesky   its L L' with L = U' is our U'U                     dpotrf "L"
 *   eigen      its columns are our rows             dsytrd "L", dstedc, dormtr
 *   QR         its columns are our rows                            dgeqrf, dorgqr
 *   indefinite its L D L' is our U' D U                      dsytrf_rk "L", dsytrs_3, dsycon_3
 *
 * and nothing is ever transposed. The eigendecomposition is LAPACK's divide and conquer (dsyevd)
 * taken apart, because its last step, the multiplication with the Householder vectors, falls into
 * independent columns: ours to run in parallel. Seconds on one thread (Zen 4), smooth kernel
 * matrix:
 *
 *   n                          2000    4000    4096 (stride 4096)
 *   dsytrd  (half of it memory)  0.5     5.8     7.1
 *   dstedc                       0.3     1.5     1.7
 *   dormtr                       0.6     4.7     6.5
 *
 * Divide and conquer keeps clusters of eigenvalues, which kernel matrices have, orthogonal to
 * machine precision.
 *
 * LAPACKE is not used (Debian's OpenBLAS has none): the routines are declared here. */
#include "num/blas.h"
#include "base/threads.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <string.h>

/* gfortran passes the length of each character argument after the others. */
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t);
void spotrf_(const char *uplo, const int *n, float *a, const int *lda, int *info, size_t);
void dsytrd_(const char *uplo, const int *n, double *a, const int *lda, double *d, double *e,
             double *tau, double *work, const int *lwork, int *info, size_t);
void dsterf_(const int *n, double *d, double *e, int *info);
void dstedc_(const char *compz, const int *n, double *d, double *e, double *z, const int *ldz,
             double *work, const int *lwork, int *iwork, const int *liwork, int *info, size_t);
void dormtr_(const char *side, const char *uplo, const char *trans, const int *m, const int *n,
             const double *a, const int *lda, const double *tau, double *c, const int *ldc,
             double *work, const int *lwork, int *info, size_t, size_t, size_t);
void dgeqrf_(const int *m, const int *n, double *a, const int *lda, double *tau, double *work,
             const int *lwork, int *info);
void dorgqr_(const int *m, const int *n, const int *k, double *a, const int *lda, const double *tau,
             double *work, const int *lwork, int *info);

void dsytrf_rk_(const char *uplo, const int *n, double *a, const int *lda, double *e, int *ipiv,
                double *work, const int *lwork, int *info, size_t);
void dsytrs_3_(const char *uplo, const int *n, const int *nrhs, const double *a, const int *lda,
               const double *e, const int *ipiv, double *b, const int *ldb, int *info, size_t);
void dsycon_3_(const char *uplo, const int *n, const double *a, const int *lda, const double *e,
               const int *ipiv, const double *anorm, double *rcond, double *work, int *iwork,
               int *info, size_t);

/* Householder vectors and eigenvectors taken together; what dormtr needs for its best block. */
enum { PANEL = 64, VECTORS = 256, BACK_WORK = VECTORS * PANEL + 65 * PANEL };

/* Two contexts may compute at once on two threads of the caller, and OpenBLAS has one thread
 * count for both: the first in saves it and the last out restores it. This count of users is
 * process-wide because what it guards is. */
static pthread_mutex_t users_lock = PTHREAD_MUTEX_INITIALIZER;
static int users, users_saved;

/* Likewise the denormal mode of this thread, which OpenMP workers born inside inherit: a nested
 * begin hands out the mode of the outermost, the one that workers must be left in. */
static _Thread_local int nested;
static _Thread_local unsigned outermost;

krein_compute krein__compute_begin(void) {
    pthread_mutex_lock(&users_lock);
    if (users++ == 0) {
        users_saved = openblas_get_num_threads();
        if (users_saved != 1) openblas_set_num_threads(1);
    }
    int saved = users_saved;
    pthread_mutex_unlock(&users_lock);
    unsigned mode = krein__flush_denormals_on();
    if (nested++ == 0) outermost = mode;
    return (krein_compute){.blas_threads = saved, .mode = outermost};
}

void krein__compute_end(krein_compute c) {
    if (--nested == 0) krein__flush_denormals_restore(c.mode);
    pthread_mutex_lock(&users_lock);
    if (--users == 0 && users_saved != 1) openblas_set_num_threads(users_saved);
    pthread_mutex_unlock(&users_lock);
}

void krein__worker_begin(void) { krein__flush_denormals_on(); }

void krein__worker_end(krein_compute c) {
    if (omp_get_thread_num() != 0) krein__flush_denormals_restore(c.mode);
}

const char *krein__blas_core(void) { return openblas_get_corename(); }

/* Sizes fit an int everywhere in Krein: rows of a block, columns, features. A leading
 * dimension of zero (an empty matrix) would make OpenBLAS print a complaint. */
static int size(int64_t n) { return (int)n; }
static int lead(int64_t ld) { return (int)(ld > 0 ? ld : 1); }
static CBLAS_TRANSPOSE op(bool transposed) { return transposed ? CblasTrans : CblasNoTrans; }

void krein__sgemm(bool ta, bool tb, int64_t m, int64_t n, int64_t k, float alpha, const float *a,
                  int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc) {
    if (m <= 0 || n <= 0) return;
    cblas_sgemm(CblasRowMajor, op(ta), op(tb), size(m), size(n), size(k), alpha, a, lead(lda), b,
                lead(ldb), beta, c, lead(ldc));
}

void krein__dgemm(bool ta, bool tb, int64_t m, int64_t n, int64_t k, double alpha, const double *a,
                  int64_t lda, const double *b, int64_t ldb, double beta, double *c, int64_t ldc) {
    if (m <= 0 || n <= 0) return;
    cblas_dgemm(CblasRowMajor, op(ta), op(tb), size(m), size(n), size(k), alpha, a, lead(lda), b,
                lead(ldb), beta, c, lead(ldc));
}

void krein__sgemv(bool transposed, int64_t m, int64_t n, float alpha, const float *a, int64_t lda,
                  const float *x, int64_t incx, float beta, float *y, int64_t incy) {
    if (m > 0 && n > 0)
        cblas_sgemv(CblasRowMajor, op(transposed), size(m), size(n), alpha, a, lead(lda), x,
                    size(incx), beta, y, size(incy));
}

void krein__dgemv(bool transposed, int64_t m, int64_t n, double alpha, const double *a, int64_t lda,
                  const double *x, int64_t incx, double beta, double *y) {
    if (m > 0 && n > 0)
        cblas_dgemv(CblasRowMajor, op(transposed), size(m), size(n), alpha, a, lead(lda), x,
                    size(incx), beta, y, 1);
}

void krein__ssyrk(int64_t n, int64_t k, float alpha, const float *a, int64_t lda, float beta,
                  float *c, int64_t ldc) {
    if (n <= 0) return;
    cblas_ssyrk(CblasRowMajor, CblasUpper, CblasTrans, size(n), size(k), alpha, a, lead(lda), beta,
                c, lead(ldc));
}

void krein__dsyrk(int64_t n, int64_t k, double alpha, const double *a, int64_t lda, double beta,
                  double *c, int64_t ldc) {
    if (n <= 0) return;
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, size(n), size(k), alpha, a, lead(lda), beta,
                c, lead(ldc));
}

void krein__strsm(int64_t m, int64_t n, const float *u, int64_t ldu, float *b, int64_t ldb) {
    if (m > 0 && n > 0)
        cblas_strsm(CblasRowMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, size(m),
                    size(n), 1, u, lead(ldu), b, lead(ldb));
}

float krein__sdot(int64_t n, const float *x, const float *y) {
    return n > 0 ? cblas_sdot(size(n), x, 1, y, 1) : 0;
}

void krein__saxpy(int64_t n, float alpha, const float *x, float *y) {
    if (n > 0) cblas_saxpy(size(n), alpha, x, 1, y, 1);
}

double krein__ddot(int64_t n, const double *x, const double *y) {
    return n > 0 ? cblas_ddot(size(n), x, 1, y, 1) : 0;
}

void krein__dtrsm(bool transposed, int64_t n, int64_t m, const double *u, int64_t lda, double *b,
                  int64_t ldb) {
    if (n <= 0 || m <= 0) return;
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasUpper, op(transposed), CblasNonUnit, size(n),
                size(m), 1, u, lead(lda), b, lead(ldb));
}

void krein__strsm_left(bool transposed, int64_t n, int64_t m, const float *u, int64_t lda, float *b,
                       int64_t ldb) {
    if (n <= 0 || m <= 0) return;
    cblas_strsm(CblasRowMajor, CblasLeft, CblasUpper, op(transposed), CblasNonUnit, size(n),
                size(m), 1, u, lead(lda), b, lead(ldb));
}

int64_t krein__spotrf(int64_t n, float *a, int64_t lda) {
    int order = size(n), ld = lead(lda), info = 0;
    if (n <= 0) return 0;
    spotrf_("L", &order, a, &ld, &info, 1);
    int64_t rows = info > 0 ? info : n; /* as in krein__dpotrf */
    for (int64_t i = 0; i < rows; i++)
        if (!isfinite(a[i * lda + i]) || a[i * lda + i] <= 0) return i + 1;
    return info;
}

void krein__dtrsv(bool transposed, int64_t n, const double *u, int64_t lda, double *b) {
    if (n > 0)
        cblas_dtrsv(CblasRowMajor, CblasUpper, op(transposed), CblasNonUnit, size(n), u, lead(lda),
                    b, 1);
}

void krein__strsv(bool transposed, int64_t n, const float *u, int64_t lda, float *b) {
    if (n > 0)
        cblas_strsv(CblasRowMajor, CblasUpper, op(transposed), CblasNonUnit, size(n), u, lead(lda),
                    b, 1);
}

int64_t krein__dpotrf(int64_t n, double *a, int64_t lda) {
    int order = size(n), ld = lead(lda), info = 0;
    if (n <= 0) return 0;
    dpotrf_("L", &order, a, &ld, &info, 1);
    /* OpenBLAS lets a NaN pass for a positive pivot, and an infinite one is no pivot either.
     * Before the row where it stopped every pivot has been computed. */
    int64_t rows = info > 0 ? info : n;
    for (int64_t i = 0; i < rows; i++)
        if (!isfinite(a[i * lda + i]) || a[i * lda + i] <= 0) return i + 1;
    return info;
}

krein_status krein__indefinite(krein_ctx *ctx, int64_t n, double *a, int64_t lda, double *e,
                               int *pivot, double *margin) {
    krein_status st = KREIN_OK;
    double *work = NULL;
    int *iwork = NULL, order = size(n), ld = lead(lda), lwork = size(n * PANEL), info = 0;
    const double one = 1;
    *margin = 0;
    NEW(work, n * PANEL);
    NEW(iwork, n);
    krein_compute c = krein__compute_begin();
    dsytrf_rk_("L", &order, a, &ld, e, pivot, work, &lwork, &info, 1);
    /* With 1 for |A| the reciprocal condition is that of |A^-1|. */
    if (info == 0) dsycon_3_("L", &order, a, &ld, e, pivot, &one, margin, work, iwork, &info, 1);
    krein__compute_end(c);
    if (info < 0) st = krein__fail(ctx, KREIN_ENUMERIC, "indefinite: LAPACK info %d", info);
done:
    krein__free(ctx, work);
    krein__free(ctx, iwork);
    return st;
}

void krein__indefinite_solve(int64_t n, const double *a, int64_t lda, const double *e,
                             const int *pivot, int64_t m, double *b, int64_t ldb) {
    int order = size(n), ld = lead(lda), right = size(m), ldx = lead(ldb), ignored = 0;
    if (n > 0 && m > 0) dsytrs_3_("L", &order, &right, a, &ld, e, pivot, b, &ldx, &ignored, 1);
}

/* z = Q z for the Q of dsytrd, in panels of eigenvectors: fixed ones, so that the bits do not
 * depend on the threads that share them. work: BACK_WORK doubles for each thread. */
static void back_transform(krein_ctx *ctx, int64_t n, double *a, int64_t lda, const double *tau,
                           double *z, int64_t stride, double *work, krein_compute c) {
    int64_t panels = (n + VECTORS - 1) / VECTORS;
    int order = size(n), ld = lead(lda), ldz = size(stride), lwork = BACK_WORK;
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic) if (panels > 1)
    for (int64_t p = 0; p < panels; p++) {
        krein__worker_begin();
        int columns = size(krein__min(VECTORS, n - p * VECTORS)), ignored = 0;
        dormtr_("L", "L", "N", &order, &columns, a, &ld, tau, z + p * VECTORS * stride, &ldz,
                work + omp_get_thread_num() * BACK_WORK, &lwork, &ignored, 1, 1, 1);
        krein__worker_end(c);
    }
}

static krein_status eigen(krein_ctx *ctx, int64_t n, double *a, int64_t lda, double *w,
                          bool vectors) {
    krein_status st = KREIN_OK;
    double *work = NULL, *z = NULL, *tau = NULL, *back = NULL, high = 0;
    int *iwork = NULL, info = 0;
    bool finite = true;
    if (n <= 0) return KREIN_OK;
    /* LAPACK counts its workspace, about n^2, in an int. */
    if (n > 32000)
        return krein__fail(
            ctx, KREIN_EARG,
            "eigenvalues of %lld rows: 32,000 is the most; use fewer rows, or a map with features",
            (long long)n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i; j < n; j++) {
            finite &= isfinite(a[i * lda + j]) != 0;
            high = fmax(high, fabs(a[i * lda + j]));
        }
    if (!finite) /* LAPACK would iterate on NaN for ever */
        return krein__fail(ctx, KREIN_ENUMERIC,
                           "eigen: the matrix has a NaN or an infinity in it; very large inputs or "
                           "kernel values overflow: try `scale=standard`");

    if (high == 0) high = 1;
    /* An exact power of two keeps every intermediate result in range. */
    double scale = ldexp(1, -ilogb(high));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i; j < n; j++) a[i * lda + j] *= scale;
    /* A stride of a power of two would map whole columns to one cache set. */
    int64_t stride = n % 64 == 0 ? n + 8 : n;
    int order = size(n), ld = lead(lda), ldz = size(stride);
    int64_t square = vectors ? n * n : 0;
    int lwork = size(1 + 4 * n + krein__max(square, PANEL * n)), liwork = size(3 + 5 * n);
    NEW(work, lwork);
    NEW(tau, 2 * n);
    if (vectors) {
        NEW(iwork, liwork);
        NEW(z, stride * n);
        NEW(back, ctx->threads * BACK_WORK);
    }
    double *off = tau + n;
    krein_compute c = krein__compute_begin();
    dsytrd_("L", &order, a, &ld, w, off, tau, work, &lwork, &info, 1);
    if (info == 0 && !vectors) dsterf_(&order, w, off, &info);
    if (info == 0 && vectors) {
        dstedc_("I", &order, w, off, z, &ldz, work, &lwork, iwork, &liwork, &info, 1);
        if (info == 0) back_transform(ctx, n, a, lda, tau, z, stride, back, c);
    }
    krein__compute_end(c);
    for (int64_t i = 0; i < n; i++) {
        w[i] /= scale;
        if (vectors) memcpy(a + i * lda, z + i * stride, (size_t)n * sizeof *a);
    }
    if (info != 0)
        st = krein__fail(ctx, KREIN_ENUMERIC, "eigen: no convergence (LAPACK info %d, order %lld)",
                         info, (long long)n);
done:
    krein__free(ctx, work);
    krein__free(ctx, iwork);
    krein__free(ctx, z);
    krein__free(ctx, back);
    krein__free(ctx, tau);
    return st;
}

krein_status krein__eigen(krein_ctx *ctx, int64_t n, double *a, int64_t lda, double *w) {
    return eigen(ctx, n, a, lda, w, true);
}

krein_status krein__eigenvalues(krein_ctx *ctx, int64_t n, double *a, int64_t lda, double *w) {
    return eigen(ctx, n, a, lda, w, false);
}

krein_status krein__haar_rows(krein_ctx *ctx, int64_t m, int64_t d, double *a) {
    krein_status st = KREIN_OK;
    double *tau = NULL, *work = NULL;
    bool *flip = NULL;
    if (m <= 0) return KREIN_OK;
    int rows = size(d), columns = size(m), lwork = size(m * PANEL), info = 0;
    NEW(tau, m);
    NEW(work, m * PANEL);
    NEW(flip, m);
    krein_compute c = krein__compute_begin();
    /* Our row-major m x d is LAPACK's d x m, so our rows are the columns that it orthogonalises. */
    dgeqrf_(&rows, &columns, a, &rows, tau, work, &lwork, &info);
    for (int64_t i = 0; i < m; i++) flip[i] = a[i * d + i] < 0; /* R's diagonal */
    if (info == 0) dorgqr_(&rows, &columns, &columns, a, &rows, tau, work, &lwork, &info);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; flip[i] && j < d; j++) a[i * d + j] = -a[i * d + j];
    krein__compute_end(c);
    if (info != 0) st = krein__fail(ctx, KREIN_ENUMERIC, "QR: LAPACK info %d", info);
done:
    krein__free(ctx, tau);
    krein__free(ctx, work);
    krein__free(ctx, flip);
    return st;
}

krein_status krein__trapezoid(krein_ctx *ctx, int64_t m, int64_t n, double *a) {
    krein_status st = KREIN_OK;
    double *tau = NULL, *work = NULL;
    int rows = size(n), columns = size(m), lwork = size(m * PANEL), info = 0;
    NEW(tau, n);
    NEW(work, m * PANEL);
    krein_compute c = krein__compute_begin();
    /* Our row-major m x n is LAPACK's n x m, of which R is our L. */
    dgeqrf_(&rows, &columns, a, &rows, tau, work, &lwork, &info);
    krein__compute_end(c);
    if (info != 0) st = krein__fail(ctx, KREIN_ENUMERIC, "QR: LAPACK info %d", info);
done:
    krein__free(ctx, tau);
    krein__free(ctx, work);
    return st;
}
