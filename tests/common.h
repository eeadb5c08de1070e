/* common.h -- small helpers that several test programs share; test.h is the harness.
 *
 *   double det(i, j, s)              sin(1.7 i + 0.9 j + 0.3 i j + 0.1 + s): the inputs of every
 *                                    reference value in FORMULAS.md
 *   krein_ctx *test_ctx(threads)     a plain context; exits when there is none
 *   test_ctx_small(threads, bytes)   one with a budget
 *   test_memory                      an allocator that counts live blocks, fails one allocation and
 *                                    hands out NaN:
 *                                        test_memory m;
 *                                        krein_ctx *ctx = test_ctx_with(1, &m);
 *                                        test_fail_at(&m, 7);   // the 8th from now; -1: none
 *                                        ...
 *                                        CHECK(test_live(&m) == 0);
 *   TEST_EVERY_ALLOCATION(m, k) { st = work(); ... }
 *                                    runs the body with the k-th allocation failing, k = 0, 1, ...
 *                                    until a run that asks for no more than k; each run must give
 *                                    back what it took
 *   TEST_SOME_ALLOCATIONS(m, k, first, step) { ... }
 *                                    the same for k = first, first + step, ...
 *   test_log                         a log callback that keeps the text and counts warnings
 *   test_path(name)                  a path in a directory of this process, removed at exit
 *   test_write(name, text)           writes a small file there and returns its path
 *   test_files(), test_empty_dir()   how many files are there; the same, and removes them
 *   test_slurp(path)                 a whole file as test_bytes; test_same(a, b) compares two
 *   test_model_bytes(ctx, model)     the file that the model is saved as
 *   test_same_model(a, b)            two of these files hold the same model, but for what was
 *                                    tried, which only one that was chosen has
 *   test_set(name)                   path of NAME.csv.gz among the data sets, NULL where absent
 *   test_sanitized()                 KREIN_SANITIZED is set: use smaller sizes
 *   test_start(argv)                 first in main of a program with threads: OpenMP then sleeps
 *                                    between its loops (spinning on a busy machine costs most)
 *   test_dense(n, d, s)              n x d of det(i, j, s) as float32
 *   test_solve(n, m, a, b)           a x = b by elimination
 *   test_ridge(n, k, K, y, ...)      kernel ridge regression by it
 *   test_random                      a tiny generator of its own (xorshift), for inputs only
 */
#ifndef KREIN_TEST_COMMON_H
#define KREIN_TEST_COMMON_H

#include "test.h"

#include "base/base.h"

#include <dirent.h>
#include <unistd.h>

static inline double det(int64_t i, int64_t j, double s) {
    double a = (double)i, b = (double)j;
    return sin(1.7 * a + 0.9 * b + 0.3 * a * b + 0.1 + s);
}

static inline bool test_sanitized(void) { return getenv("KREIN_SANITIZED") != NULL; }

/* libgomp reads the setting before main, so the program starts itself again with it. */
static inline void test_start(char **argv) {
    if (getenv("OMP_WAIT_POLICY") || setenv("OMP_WAIT_POLICY", "passive", 1) != 0) return;
    execv("/proc/self/exe", argv); /* where that fails: slower, no more */
}

/* calloc that does not return NULL, for the tests' own arrays. */
static inline void *test_new(int64_t count, size_t size) {
    void *p = calloc((size_t)(count > 0 ? count : 1), size);
    if (!p) {
        printf("no memory for the test itself\n");
        exit(1);
    }
    return p;
}

/* ---- allocator ---------------------------------------------------------- */

typedef struct test_memory {
    _Atomic int64_t live, calls, fail_at; /* blocks, allocations so far, the one that fails */
} test_memory;
#define TEST_GARBAGE                                                                               \
    65536 /* bytes of a block, from its beginning, that are not as malloc left them */

static inline void *test_memory_alloc(void *user, size_t bytes) {
    test_memory *m = user;
    if (atomic_fetch_add(&m->calls, 1) == atomic_load(&m->fail_at)) return NULL;
    void *p = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (p) atomic_fetch_add(&m->live, 1);
    /* NaN: what is read before it is written shows */
    if (p) memset(p, 0xff, bytes < TEST_GARBAGE ? bytes : TEST_GARBAGE);
    return p;
}
static inline void test_memory_release(void *user, void *p) {
    test_memory *m = user;
    if (p) atomic_fetch_sub(&m->live, 1);
    free(p);
}

/* Blocks held now. */
static inline int64_t test_live(test_memory *m) { return atomic_load(&m->live); }
/* The k-th allocation from now on fails (0: the next one), once; k < 0: none. */
static inline void test_fail_at(test_memory *m, int64_t k) {
    atomic_store(&m->calls, 0);
    atomic_store(&m->fail_at, k < 0 ? -1 : k);
}
/* The failing allocation has been reached since test_fail_at. */
static inline bool test_has_failed(test_memory *m) {
    return atomic_load(&m->fail_at) >= 0 && atomic_load(&m->calls) > atomic_load(&m->fail_at);
}

/* ---- log ---------------------------------------------------------------- */

typedef struct test_log {
    int warnings, infos;
    char text[8192]; /* every line, with a newline after each */
} test_log;

static inline void test_log_line(void *user, krein_log_level level, const char *text) {
    test_log *log = user;
    size_t used = strlen(log->text);
    log->warnings += level == KREIN_LOG_WARNING;
    log->infos += level == KREIN_LOG_INFO;
    snprintf(log->text + used, sizeof log->text - used, "%s\n", text);
}

/* ---- contexts ----------------------------------------------------------- */

/* memory and log may be NULL; both are reset. After this memory->live is 0: the context itself
 * is not counted, so that no leak means test_live() == 0 before krein_ctx_destroy. */
static inline krein_ctx *test_ctx_full(int threads, test_memory *memory, test_log *log) {
    krein_ctx_options o;
    krein_ctx *ctx = NULL;
    krein_ctx_options_init(&o);
    o.threads = threads;
    o.max_memory = (uint64_t)1 << 31;
    if (memory) {
        atomic_init(&memory->live, 0);
        atomic_init(&memory->calls, 0);
        atomic_init(&memory->fail_at, -1);
        o.memory = (krein_allocator){test_memory_alloc, test_memory_release, memory};
    }
    if (log) {
        memset(log, 0, sizeof *log);
        o.log = test_log_line;
        o.user = log;
    }
    if (krein_ctx_create(&o, &ctx) != KREIN_OK) {
        printf("no context\n");
        exit(1);
    }
    if (memory) atomic_store(&memory->live, 0);
    return ctx;
}
static inline krein_ctx *test_ctx_with(int threads, test_memory *memory) {
    return test_ctx_full(threads, memory, NULL);
}
static inline krein_ctx *test_ctx(int threads) { return test_ctx_full(threads, NULL, NULL); }

/* With a budget of so many bytes. */
static inline krein_ctx *test_ctx_small(int threads, uint64_t bytes) {
    krein_ctx_options o;
    krein_ctx *ctx = NULL;
    krein_ctx_options_init(&o);
    o.threads = threads;
    o.max_memory = bytes;
    if (krein_ctx_create(&o, &ctx) != KREIN_OK) {
        printf("no context\n");
        exit(1);
    }
    return ctx;
}

/* One turn of the loop below; true: go on with k. */
static inline bool test_next_failure(test_memory *m, int64_t *k, int64_t first, int64_t step,
                                     int64_t *before, const char *file, int line) {
    if (*k >= 0) {
        bool reached = test_has_failed(m);
        if (test_live(m) != *before) {
            printf("%s:%d: %lld blocks leak when allocation %lld fails\n", file, line,
                   (long long)(test_live(m) - *before), (long long)*k);
            test_bad++;
            atomic_store(&m->live, *before);
        }
        if (!reached || *k > 100000) {
            test_fail_at(m, -1);
            return false;
        }
    }
    *k = *k < 0 ? first : *k + step;
    *before = test_live(m);
    test_fail_at(m, *k);
    return true;
}
/* The last run of the body has no failure (test_has_failed(m) is false in it). No break inside. */
#define TEST_SOME_ALLOCATIONS(m, k, first, step)                                                   \
    for (int64_t k = -1, before_ = 0;                                                              \
         test_next_failure((m), &k, (first), (step), &before_, __FILE__, __LINE__);)
#define TEST_EVERY_ALLOCATION(m, k) TEST_SOME_ALLOCATIONS(m, k, 0, 1)

/* ---- files -------------------------------------------------------------- */

static char test_dir_name[192];
/* How many files there are; the directory is flat. */
static inline int test_each_file(bool remove) {
    DIR *dir = opendir(test_dir_name);
    char path[512];
    int n = 0;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (e->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", test_dir_name, e->d_name);
        n++;
        if (remove) unlink(path);
    }
    if (dir) closedir(dir);
    return n;
}
static inline int test_files(void) { return test_each_file(false); }
static inline int test_empty_dir(void) { return test_each_file(true); }
static inline void test_remove_dir(void) {
    test_empty_dir();
    rmdir(test_dir_name);
}
/* A directory of this process, removed at exit. */
static inline const char *test_dir(void) {
    if (!test_dir_name[0]) {
        const char *tmp = getenv("TMPDIR");
        snprintf(test_dir_name, sizeof test_dir_name, "%.150s/krein_test_XXXXXX",
                 tmp && *tmp ? tmp : "/tmp");
        if (!mkdtemp(test_dir_name)) {
            printf("no temporary directory\n");
            exit(1);
        }
        atexit(test_remove_dir);
    }
    return test_dir_name;
}
/* DIR/name; valid until the fourth next call. */
static inline const char *test_path(const char *name) {
    static char path[4][320];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", test_dir(), name);
    return path[turn];
}
static inline const char *test_write(const char *name, const char *text) {
    const char *path = test_path(name);
    FILE *f = fopen(path, "wb");
    if (!f || fputs(text, f) < 0 || fclose(f) != 0) {
        printf("%s: cannot be written\n", path);
        exit(1);
    }
    return path;
}

/* A file in memory with a NUL behind it, for free(); at is NULL where there is none. */
typedef struct test_bytes {
    char *at;
    int64_t n;
} test_bytes;
static inline test_bytes test_slurp(const char *path) {
    test_bytes b = {NULL, 0};
    FILE *f = fopen(path, "rb");
    if (!f) return b;
    fseek(f, 0, SEEK_END);
    b.n = ftell(f);
    rewind(f);
    b.at = test_new(b.n + 1, 1);
    if (fread(b.at, 1, (size_t)b.n, f) != (size_t)b.n) exit(1);
    fclose(f);
    return b;
}
static inline bool test_same(test_bytes a, test_bytes b) {
    return a.at && b.at && a.n == b.n && memcmp(a.at, b.at, (size_t)a.n) == 0;
}

/* None where there is no model. */
static inline test_bytes test_model_bytes(krein_ctx *ctx, const krein_model *m) {
    const char *path = test_path("model.krein");
    test_bytes none = {NULL, 0};
    if (!m) return none;
    CHECK(krein_model_save(ctx, m, path) == KREIN_OK);
    return test_slurp(path);
}

static inline bool test_same_arrays(const krein_model *a, const krein_model *b) {
    for (int64_t i = 0; krein_model_array_name(a, i); i++) {
        krein_array p, q;
        char name[64];
        snprintf(name, sizeof name, "%s", krein_model_array_name(a, i));
        if (strncmp(name, "path.", 5) == 0 || strncmp(name, "searched.", 9) == 0) continue;
        if (!krein_model_array(a, name, &p) || !krein_model_array(b, name, &q) ||
            p.bytes != q.bytes || memcmp(p.at, q.at, p.bytes) != 0)
            return false;
    }
    return true;
}

static inline bool test_same_model(test_bytes a, test_bytes b) {
    krein_ctx *ctx = test_ctx(1);
    krein_model *m = NULL, *n = NULL;
    krein_model_info x = KREIN_SIZED(krein_model_info), y = x;
    CHECK(krein_model_load_memory(ctx, a.at, a.n, &m) == KREIN_OK);
    CHECK(krein_model_load_memory(ctx, b.at, b.n, &n) == KREIN_OK);
    bool same = m && n;
    if (same) {
        krein_model_describe(m, &x);
        krein_model_describe(n, &y);
        same = strcmp(x.learner, y.learner) == 0 && strcmp(x.kernel, y.kernel) == 0 &&
               strcmp(x.map, y.map) == 0 && x.n == y.n && x.D == y.D &&
               (x.lambda == y.lambda || (isnan(x.lambda) && isnan(y.lambda))) &&
               test_same_arrays(m, n) && test_same_arrays(n, m);
    }
    krein_model_destroy(m);
    krein_model_destroy(n);
    krein_ctx_destroy(ctx);
    return same;
}

/* The data sets are in KREIN_DATA, else ../shared/data. Valid until the second next call. */
static inline const char *test_set(const char *name) {
    static char path[2][600];
    static int turn;
    const char *folder = getenv("KREIN_DATA");
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s.csv.gz", folder ? folder : "../shared/data",
             name);
    return access(path[turn], R_OK) == 0 ? path[turn] : NULL;
}

/* ---- inputs ------------------------------------------------------------- */

static uint64_t test_random_state = 88172645463325252u;
static inline uint64_t test_random_bits(void) {
    test_random_state ^= test_random_state << 13;
    test_random_state ^= test_random_state >> 7;
    test_random_state ^= test_random_state << 17;
    return test_random_state;
}
static inline int64_t test_random_below(int64_t n) {
    return (int64_t)(test_random_bits() >> 1) % n;
}
static inline double test_random(void) { /* (-1, 1) */
    return (double)(test_random_bits() >> 11) * 0x1p-52 - 1;
}

/* n x d of float32 numbers, smooth and without ties; s makes different sets. */
static inline float *test_dense(int64_t n, int64_t d, double s) {
    float *x = test_new(n * d, sizeof *x);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++) x[i * d + j] = (float)det(i, j, s);
    return x;
}

/* ---- the obvious way ---------------------------------------------------- */

static inline void test_swap(int64_t n, double *a, double *b) {
    for (int64_t j = 0; j < n; j++) {
        double t = a[j];
        a[j] = b[j], b[j] = t;
    }
}
/* a (n x n) x = b (n x m) by elimination with row exchanges; both are overwritten, b with x. */
static inline void test_solve(int64_t n, int64_t m, double *a, double *b) {
    for (int64_t c = 0; c < n; c++) {
        int64_t p = c;
        for (int64_t i = c + 1; i < n; i++)
            if (fabs(a[i * n + c]) > fabs(a[p * n + c])) p = i;
        test_swap(n, a + c * n, a + p * n);
        test_swap(m, b + c * m, b + p * m);
        for (int64_t i = 0; i < n; i++) {
            if (i == c) continue;
            double f = a[i * n + c] / a[c * n + c];
            for (int64_t j = c; j < n; j++) a[i * n + j] -= f * a[c * n + j];
            for (int64_t j = 0; j < m; j++) b[i * m + j] -= f * b[c * m + j];
        }
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) b[i * m + j] /= a[i * n + i];
}

/* Ridge regression on a kernel matrix, of the rows that `in` has (NULL: all) and that have a weight
 * (NULL: one): (K + diag(shift / w)) alpha + b 1 = y, sum alpha = 0, by elimination; the
 * predictions f (n x k) for all rows. */
static inline void test_ridge(int64_t n, int64_t k, const double *K, const double *y,
                              const double *weight, const bool *in, double shift, bool intercept,
                              double *f) {
    int64_t m = 0, *row = test_new(n, sizeof *row);
    for (int64_t i = 0; i < n; i++)
        if ((!in || in[i]) && (!weight || weight[i] > 0)) row[m++] = i;
    int64_t N = m + intercept;
    double *A = test_new(N * N, sizeof *A), *x = test_new(N * k, sizeof *x);
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < m; j++) A[i * N + j] = K[row[i] * n + row[j]];
        A[i * N + i] += shift / (weight ? weight[row[i]] : 1);
        if (intercept) A[i * N + m] = A[m * N + i] = 1;
        for (int64_t c = 0; c < k; c++) x[i * k + c] = y[row[i] * k + c];
    }
    test_solve(N, k, A, x);
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < k; c++) {
            f[i * k + c] = intercept ? x[m * k + c] : 0;
            for (int64_t j = 0; j < m; j++) f[i * k + c] += K[i * n + row[j]] * x[j * k + c];
        }
    free(A);
    free(x);
    free(row);
}

#endif
