/* blas.c -- the only file that names OpenBLAS and LAPACK
 *
 * Row-major in, row-major out. LAPACK is column-major: the upper triangle of our A is the
 * lower triangle of its A', the same matrix when A is symmetric. Hence
 *
 *   Cholesky   its L L' with L = U' is our U'U                     dpotrf "L"
 *   eigen      its columns are our rows                            dsyevd "L"
 *   QR         its columns are our rows                            dgeqrf, dorgqr
 *
 * and nothing is ever transposed. dsyevd (divide and conquer) and not dsyevr: seconds on
 * one thread (Zen 4) for a Wishart / a smooth kernel matrix of order n,
 *
 *   n          1000           2000            4000
 *   dsyevd     0.22 / 0.15    1.51 / 1.68    13.5 / 11.1     workspace 2 n^2 doubles
 *   dsyevr     0.21 / 0.18    1.67 / 1.92    14.4 / 11.9     workspace   n^2 doubles
 *
 * No clear winner: one run each on a shared machine, and an earlier, more disturbed one had
 * dsyevr ahead at 4000 (22.4 / 12.9 against 25.8 / 17.3). Divide and conquer is chosen since it
 * keeps clusters of eigenvalues, which kernel matrices have, orthogonal to machine precision; the
 * price is the workspace.
 *
 * LAPACKE is not used (Debian's OpenBLAS has none): the four routines are declared here. */
#include "num/blas.h"
#include "base/threads.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <pthread.h>

/* gfortran passes the length of each character argument after the others. */
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t);
void dsyevd_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w,
             double *work, const int *lwork, int *iwork, const int *liwork, int *info, size_t,
             size_t);
void dgeqrf_(const int *m, const int *n, double *a, const int *lda, double *tau, double *work,
             const int *lwork, int *info);
void dorgqr_(const int *m, const int *n, const int *k, double *a, const int *lda, const double *tau,
             double *work, const int *lwork, int *info);

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

double krein__ddot(int64_t n, const double *x, const double *y) {
    return n > 0 ? cblas_ddot(size(n), x, 1, y, 1) : 0;
}

void krein__dtrsm(bool transposed, int64_t n, int64_t m, const double *u, int64_t lda, double *b,
                  int64_t ldb) {
    if (n <= 0 || m <= 0) return;
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasUpper, op(transposed), CblasNonUnit, size(n),
                size(m), 1, u, lead(lda), b, lead(ldb));
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

krein_status krein__eigen(krein_ctx *ctx, int64_t n, double *a, int64_t lda, double *w) {
    krein_status st = KREIN_OK;
    double *work = NULL;
    int *iwork = NULL, info = 0;
    bool finite = true;
    if (n <= 0) return KREIN_OK;
    /* LAPACK counts its workspace, 1 + 6n + 2n^2, in an int. */
    if (n > 32000)
        return krein__fail(ctx, KREIN_EARG, "eigen: order %lld is above LAPACK's 32000",
                           (long long)n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i; j < n; j++) finite &= isfinite(a[i * lda + j]) != 0;
    if (!finite) /* LAPACK would iterate on NaN for ever */
        return krein__fail(ctx, KREIN_ENUMERIC, "eigen: the matrix has a NaN or an infinity in it");

    int order = size(n), ld = lead(lda);
    int lwork = size(1 + 6 * n + 2 * n * n), liwork = size(3 + 5 * n);
    NEW(work, lwork);
    NEW(iwork, liwork);
    krein_compute c = krein__compute_begin();
    dsyevd_("V", "L", &order, a, &ld, w, work, &lwork, iwork, &liwork, &info, 1, 1);
    krein__compute_end(c);
    if (info != 0)
        st = krein__fail(ctx, KREIN_ENUMERIC, "eigen: no convergence (dsyevd info %d, order %lld)",
                         info, (long long)n);
done:
    krein__free(ctx, work);
    krein__free(ctx, iwork);
    return st;
}

krein_status krein__haar_rows(krein_ctx *ctx, int64_t m, int64_t d, double *a) {
    enum { PANEL = 64 };
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
