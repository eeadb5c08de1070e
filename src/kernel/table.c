/* table.c -- kernel matrices in NPY files, mapped into memory, and numbers that follow from a
 * leaf's options. The header of a file is checked as for data (file/npy.c); pages are read when
 * they are looked at. */
#include "kernel/table.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static bool is_no_table(const krein_kernel_class *c) { return c->family != KREIN_FAMILY_TABLE; }

bool krein__has_tables(const krein_kernel *k) { return !krein__kernel_all(k, is_no_table); }

/* Leaves with a table, into out where that is not NULL. */
static int64_t collect(const krein_kernel *k, krein_table *out) {
    if (!k) return 0;
    if (k->node == KREIN_NODE_LEAF) {
        if (is_no_table(k->kernel) && !k->kernel->numbers) return 0;
        if (out) out->leaf = k;
        return 1;
    }
    int64_t n = collect(k->left, out);
    return n + collect(k->right, out ? out + n : NULL);
}

static krein_status read_header(krein_ctx *ctx, const char *path, krein_npy *npy) {
    krein_status st = KREIN_OK;
    krein_bytes *in = NULL;
    TRY(krein__bytes_open(ctx, path, &in));
    if (krein__bytes_gzip(in)) {
        st = krein__fail(ctx, KREIN_EFORMAT, "%s: a kernel matrix must not be gzipped: unpack it",
                         path);
        goto done;
    }
    TRY(krein__npy_open(ctx, path, in, npy));
    TRY(krein__npy_check_size(ctx, path, in, npy));
    if (npy->kind != 'f' || npy->n != npy->d)
        st = krein__fail(ctx, KREIN_EFORMAT,
                         "%s: a kernel matrix is square and of float32 or float64; this one is "
                         "%lld x %lld%s",
                         path, (long long)npy->n, (long long)npy->d,
                         npy->kind == 'f' ? "" : " of other numbers");
done:
    krein__bytes_close(in);
    return st;
}

static krein_status make_numbers(krein_ctx *ctx, int64_t d, krein_table *t) {
    krein_status st = KREIN_OK;
    NEW(t->numbers, t->leaf->kernel->count(t->leaf, d));
    TRY(t->leaf->kernel->numbers(ctx, t->leaf, d, t->numbers));
done:
    return st;
}

static krein_status open_one(krein_ctx *ctx, int64_t d, krein_table *t) {
    if (t->leaf->kernel->numbers) return make_numbers(ctx, d, t);
    const char *path = t->leaf->values.text[0];
    if (!path || !*path)
        return krein__fail(ctx, KREIN_ESPEC, "%s needs the matrix: precomputed(file=\"K.npy\")",
                           t->leaf->kernel->cls.name);
    krein_status st = read_header(ctx, path, &t->npy);
    if (st != KREIN_OK) return st;
    t->size = (size_t)(t->npy.offset + t->npy.n * t->npy.d * t->npy.size);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *p = fd < 0 ? MAP_FAILED : mmap(NULL, t->size, PROT_READ, MAP_SHARED, fd, 0);
    int failed = errno;
    if (fd >= 0) close(fd);
    if (p == MAP_FAILED) return krein__fail(ctx, KREIN_EIO, "%s: %s", path, strerror(failed));
    t->bytes = p;
    return KREIN_OK;
}

krein_status krein__tables_open(krein_ctx *ctx, const krein_kernel *k, int64_t d, krein_table **out,
                                int64_t *n) {
    krein_status st = KREIN_OK;
    *out = NULL;
    *n = collect(k, NULL);
    if (*n == 0) return KREIN_OK;
    ZNEW(*out, *n);
    collect(k, *out);
    for (int64_t i = 0; i < *n; i++) TRY(open_one(ctx, d, *out + i));
done:
    if (st != KREIN_OK) {
        krein__tables_close(ctx, *out, *n);
        *out = NULL;
        *n = 0;
    }
    return st;
}

void krein__tables_close(krein_ctx *ctx, krein_table *t, int64_t n) {
    for (int64_t i = 0; t && i < n; i++) {
        if (t[i].bytes) munmap((void *)(uintptr_t)t[i].bytes, t[i].size);
        krein__free(ctx, t[i].numbers);
    }
    krein__free(ctx, t);
}

double krein__tables_bytes(const krein_kernel *k, int64_t d) {
    if (!k) return 0;
    if (k->node != KREIN_NODE_LEAF)
        return krein__tables_bytes(k->left, d) + krein__tables_bytes(k->right, d);
    double numbers = k->kernel->count ? 8 * (double)k->kernel->count(k, d) : 0;
    return numbers + (numbers > 0 || !is_no_table(k->kernel) ? sizeof(krein_table) : 0);
}

const krein_table *krein__table_of(const krein_table *t, int64_t n, const krein_kernel *leaf) {
    for (int64_t i = 0; i < n; i++)
        if (t[i].leaf == leaf) return &t[i];
    return NULL;
}

const double *krein__table_numbers(const krein_table *t, int64_t n, const krein_kernel *leaf) {
    const krein_table *own = krein__table_of(t, n, leaf);
    return own && own->numbers ? own->numbers : leaf->values.number;
}

int64_t krein__table_row(const krein_table *t, double x) {
    return x >= 0 && x < (double)t->npy.n && x == rint(x) ? (int64_t)x : -1;
}

double krein__table_value(const krein_table *t, int64_t i, int64_t j) {
    if (i < 0 || j < 0) return NAN;
    int64_t at = t->npy.fortran ? j * t->npy.n + i : i * t->npy.n + j;
    return krein__npy_element(&t->npy, t->bytes + t->npy.offset + at * t->npy.size);
}

bool krein__table_asymmetry(const krein_table *t, int64_t *i, int64_t *j) {
    enum { BLOCK = 64 }; /* both triangles in pieces that stay in the cache */
    const int64_t n = t->npy.n;
    for (int64_t a = 0; a < n; a += BLOCK)
        for (int64_t b = a; b < n; b += BLOCK)
            for (*i = a; *i < krein__min(n, a + BLOCK); ++*i)
                for (*j = krein__max(*i, b); *j < krein__min(n, b + BLOCK); ++*j) {
                    double u = krein__table_value(t, *i, *j), v = krein__table_value(t, *j, *i);
                    if (!(fabs(u - v) <= 1e-5 * (fabs(u) + fabs(v)))) return true;
                }
    return false;
}
