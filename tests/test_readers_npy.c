/* test_readers_npy.c -- the NPY reader, all types, right and wrong; gzip and other sources. */
#include "readers.h"

#include <limits.h>
#include <signal.h>
#include <sys/resource.h>

/* ---- NPY ------------------------------------------------------------------------------------ */

static void put_npy(const char *name, int version, const char *descr, const char *order,
                    const char *shape, const void *data, size_t bytes) {
    char header[256], out[4096];
    snprintf(header, sizeof header, "{'descr': %s, 'fortran_order': %s, 'shape': %s, }", descr,
             order, shape);
    put(name, out, npy(out, version, header, data, bytes));
}
static void npy_is(const char *name, how h, const char *want) {
    char *s = steady(name, h);
    if (strcmp(s, want)) {
        printf("%s:\n got %s\nwant %s\n", name, s, want);
        test_bad++;
    }
    free(s);
}
static void npy_refused(const char *name, how h, const char *part) {
    char *s = steady(name, h);
    CHECK_HAS(s, "ERR ");
    CHECK_HAS(s, part);
    free(s);
}

static void swap_bytes(void *p, size_t size, size_t count) {
    unsigned char *b = p;
    for (size_t i = 0; i < count; i++, b += size)
        for (size_t k = 0; 2 * k + 1 < size; k++) {
            unsigned char c = b[k];
            b[k] = b[size - 1 - k];
            b[size - 1 - k] = c;
        }
}
static void type_is(const char *descr, void *v, size_t size, bool swap) {
    if (swap) swap_bytes(v, size, 6);
    for (int version = 1; version <= 3; version++) {
        put_npy("a.npy", version, descr, "False", "(3, 2)", v, 6 * size);
        npy_is("a.npy", plain, "1 2 ;3 4 ;5 100 ;");
        put_npy("a.npy", version, descr, "True", "(3, 2)", v, 6 * size);
        npy_is("a.npy", plain, "1 4 ;2 5 ;3 100 ;");
    }
    put_npy("a.npy", 1, descr, "True", "(6,)", v, 6 * size);
    npy_is("a.npy", plain, "1 ;2 ;3 ;4 ;5 ;100 ;");
}
#define TYPE(type, descr, swap) type_is(descr, (type[6]){1, 2, 3, 4, 5, 100}, sizeof(type), swap)

static void npy_types(void) {
    TYPE(float, "'<f4'", 0);
    TYPE(double, "'<f8'", 0);
    TYPE(int8_t, "'|i1'", 0);
    TYPE(int16_t, "'<i2'", 0);
    TYPE(int32_t, "\"<i4\"", 0);
    TYPE(int64_t, "'<i8'", 0);
    TYPE(uint8_t, "'|u1'", 0);
    TYPE(uint16_t, "'<u2'", 0);
    TYPE(uint32_t, "'<u4'", 0);
    TYPE(uint64_t, "'<u8'", 0);
    TYPE(float, "'>f4'", 1);
    TYPE(double, "'>f8'", 1);
    TYPE(int16_t, "'>i2'", 1);
    TYPE(int32_t, "'>i4'", 1);
    TYPE(int64_t, "'>i8'", 1);
    TYPE(uint16_t, "'>u2'", 1);
    TYPE(uint64_t, "'>u8'", 1);
    int16_t v[2] = {-1, -300};
    put_npy("a.npy", 1, "'<i2'", "False", "(1L, 2)", v, sizeof v);
    npy_is("a.npy", plain, "-1 -300 ;");
    put_npy("a.npy", 1, "'|b1'", "False", "(2, 1)", "\1\0", 2);
    npy_is("a.npy", plain, "1 ;0 ;");
    double w[6] = {1, 7, 2, 2, 8, 0.5};
    put_npy("a.npy", 1, "'<f8'", "False", "(2,3)", w, sizeof w);
    npy_is("a.npy", (how){AUTO, .roles = "lgw"}, "L1 w2 g0 ;L2 w0.5 g1 ; D1=7,8");
    npy_is("a.npy", (how){AUTO, .roles = "fi-"}, "1 i7 ;2 i8 ;");
}

static void npy_bad(void) {
    static const char *const types[][2] = {
        {"'<U5'", "text ('<U5')"},  {"'|S5'", "text"},      {"'<c16'", "complex"},
        {"'|O'", "Python objects"}, {"'<M8[ns]'", "dates"}, {"[('a', '<f8')]", "records"},
        {"'<f2'", "'<f2'"},         {"'<f16'", "'<f16'"},   {"'<i3'", "'<i3'"},
        {"''", "damaged"},          {"3", "damaged"}};
    static const char *const shapes[][2] = {
        {"(3, 3)", "shorter than its shape (3, 3)"},
        {"(1, 2)", "longer than its shape"},
        {"(-1, 2)", "negative"},
        {"(99999999999999999999, 2)", "too large"},
        {"(4611686018427387904, 4611686018427387904)", "too large"},
        {"(1, 2, 2, 1, 1)", "5 dimensions"},
        {"()", "0 dimensions"},
        {"(0, 2)", "no rows"},
        {"(2, 0)", "no columns"},
        {"(2 2)", "damaged"},
        {"(,)", "damaged"},
        {"(2, 2", "damaged"}};
    double v[4] = {1, 2, 3, 4};
    for (int k = 0; k < (int)(sizeof types / sizeof *types); k++) {
        put_npy("a.npy", 1, types[k][0], "False", "(2, 2)", v, sizeof v);
        npy_refused("a.npy", plain, types[k][1]);
    }
    for (int k = 0; k < (int)(sizeof shapes / sizeof *shapes); k++) {
        put_npy("a.npy", 1, "'<f8'", "False", shapes[k][0], v, sizeof v);
        npy_refused("a.npy", plain, shapes[k][1]);
    }
    put_npy("a.npy", 4, "'<f8'", "False", "(2, 2)", v, sizeof v);
    npy_refused("a.npy", plain, "version 4.0");
    put_npy("a.npy", 1, "'<f8'", "Maybe", "(2, 2)", v, sizeof v);
    npy_refused("a.npy", plain, "damaged");
    put("a.npy", "\x93NUMPY\2\0\xff\xff\xff\xff{}", 14);
    npy_refused("a.npy", plain, "damaged or longer than 1 MB");
    put("a.npy", "\x93NUMPY\1\0\xff\x00{}", 12);
    npy_refused("a.npy", plain, "ends inside its NPY header");
    put("a.npy", "\x93NUMPY\1", 7);
    npy_refused("a.npy", plain, "cut off");
    v[2] = NAN;
    put_npy("a.npy", 1, "'<f8'", "False", "(2, 2)", v, sizeof v);
    npy_refused("a.npy", plain, "a.npy:2: column 1 is NaN; drop such rows");
    npy_refused("a.npy", (how){AUTO, .roles = "lf"},
                "a.npy:2: column 1 is NaN: the row has no label");
    npy_is("a.npy", (how){AUTO, .missing_ok = true}, "1 2 ;nan 4 ;");
    npy_is("a.npy", (how){AUTO, .roles = "lf", .label_optional = true}, "2 L1 ;4 Lnan ;");
    v[1] = -INFINITY;
    put_npy("a.npy", 1, "'<f8'", "True", "(2, 2)", v, sizeof v);
    npy_refused("a.npy", (how){AUTO, .missing_ok = true}, "a.npy:2: column 1 is infinite");
    v[1] = 1e300;
    put_npy("a.npy", 1, "'<f8'", "False", "(2, 2)", v, sizeof v);
    npy_refused("a.npy", (how){AUTO, .missing_ok = true}, "a.npy:1: column 2 is 1e");
    npy_refused("a.npy", (how){AUTO, .roles = "fw", .missing_ok = false}, "NaN");
}

/* ---- gzip and other sources ------------------------------------------------------------------ */

static void gzip_files(void) {
    char out[4096];
    double v[6] = {1, 2, 3, 4, 5, 6};
    put_gz("a.gz", "x,y\n1,2\n", 8, "wb");
    put_gz("a.gz", "3,4\n", 4, "ab"); /* a second member */
    npy_is("a.gz", plain, "1 2 ;3 4 ;");
    FILE *f = fopen(file_name("a.gz"), "ab");
    fwrite("\0\0\0", 1, 3, f);
    fclose(f);
    npy_is("a.gz", plain, "1 2 ;3 4 ;");
    f = fopen(file_name("a.gz"), "ab");
    fwrite("garbage", 1, 7, f);
    fclose(f);
    npy_refused("a.gz", plain, "behind the gzip data");
    put_gz("a.gz", "1 1:2\n", 6, "wb");
    npy_is("a.gz", plain, "L1 0:2 ; d=1");
    put_gz("a.gz", "", 0, "wb");
    npy_refused("a.gz", plain, "the file is empty");
    for (int order = 0; order < 2; order++) {
        char header[128];
        for (int d = 2; d <= 4; d++) {
            snprintf(header, sizeof header,
                     "{'descr': '<f8', 'fortran_order': %s, 'shape': (2, %d), }",
                     order ? "True" : "False", d);
            put_gz("a.gz", out, npy(out, 1, header, v, sizeof v), "wb");
            if (d == 2) npy_refused("a.gz", plain, "longer than its shape");
            if (d == 3) npy_is("a.gz", plain, order ? "1 3 5 ;2 4 6 ;" : "1 2 3 ;4 5 6 ;");
            if (d == 4) npy_refused("a.gz", plain, "shorter than its shape");
        }
    }
}

/* A small array before much that does not belong to it, and one of too many columns: no more is
 * unpacked than the header asks for. Larger temporary files cannot be written here. */
static void gzip_behind_the_header(void) {
    enum { ZEROS = 4 << 20 };
    static const char *const shape[] = {"(2, 3)", "(2, 1000000000)"};
    static const char *const part[] = {"longer than its shape", "out of memory"};
    struct rlimit old, little;
    static char out[ZEROS + 4096];
    char header[128];
    if (getrlimit(RLIMIT_FSIZE, &old) != 0) SKIP("no limit of the size of files");
    little = old;
    little.rlim_cur = 1 << 20;
    signal(SIGXFSZ, SIG_IGN);
    for (int k = 0; k < 2; k++) {
        snprintf(header, sizeof header, "{'descr': '<f8', 'fortran_order': True, 'shape': %s, }",
                 shape[k]);
        put_gz("much.gz", out, npy(out, 1, header, "", 0) + ZEROS, "wb");
        CHECK(setrlimit(RLIMIT_FSIZE, &little) == 0);
        char *s = dump("much.gz", (how){AUTO, .fail = LONG_MAX}); /* memory may fail */
        CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0);
        CHECK_HAS(s, part[k]);
        free(s);
    }
    signal(SIGXFSZ, SIG_DFL);
}

static void gzip_truncated(void) {
    text t = {0};
    char *bytes = malloc(1 << 16);
    for (int i = 0; i < 700; i++) say(&t, "%d,%d,%d\n", i * 7919 % 1009, i * 31 % 17, i * i % 1013);
    put_gz("t.gz", t.s, t.n, "wb6");
    FILE *f = fopen(file_name("t.gz"), "rb");
    size_t n = bytes ? fread(bytes, 1, 1 << 16, f) : 0;
    fclose(f);
    CHECK(n > 100);
    char *all = dump("t.gz", plain);
    CHECK(!strstr(all, "ERR"));
    for (size_t k = 2; k < n; k += k < 40 || k + 12 > n ? 1 : 97) {
        put("u.gz", bytes, k);
        char *s = dump("u.gz", (how){AUTO, .options.buffer = 100 + k % 3000});
        CHECK_HAS(s, "truncated");
        free(s);
    }
    for (size_t k = 12; k < n; k += 131) { /* a flipped bit is found, at the latest by the sum */
        bytes[k] ^= 16;
        put("u.gz", bytes, n);
        char *s = dump("u.gz", plain);
        CHECK_HAS(s, "ERR");
        bytes[k] ^= 16;
        free(s);
    }
    free(all);
    free(bytes);
    free(t.s);
}

static void sources(void) {
    char path[1024];
    char *s = dump("nothing.csv", plain);
    CHECK_HAS(s, "ERR 3 nothing.csv: No such file or directory");
    free(s);
    s = dump_path(dir, plain, NULL);
    CHECK_HAS(s, "Is a directory");
    free(s);
    s = dump("../..", (how){.options = {.format = "tsv"}});
    CHECK_HAS(s, "ERR 3");
    free(s);
    put_text("a.csv", "1,2\n3,4\n");
    s = dump("a.csv", (how){.options = {.format = "tsv"}});
    CHECK_HAS(s, "`format=tsv`");
    free(s);
    if (geteuid() != 0) {
        chmod(file_name("a.csv"), 0);
        s = dump("a.csv", plain);
        CHECK_HAS(s, "Permission denied");
        free(s);
        chmod(file_name("a.csv"), 0600);
    }
    /* standard input, several passes; a pipe by name */
    int saved = dup(0), fd = open(file_name("a.csv"), O_RDONLY);
    dup2(fd, 0);
    s = dump_path("-", (how){AUTO, .passes = 2}, NULL);
    CHECK(!strcmp(s, "1 2 ;3 4 ;"));
    free(s);
    int ends[2];
    CHECK(!pipe(ends));
    CHECK(write(ends[1], "1,2\n5,x\n", 8) == 8);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    s = dump_path(path, (how){AUTO, .passes = 2}, NULL);
    CHECK(!strcmp(s, "1 c0 ;5 c1 ; D1=2,x"));
    free(s);
    close(ends[0]);
    dup2(saved, 0);
    close(saved);
    close(fd);
    const char *old = getenv("TMPDIR");
    char *copy = old ? strdup(old) : NULL;
    CHECK(!pipe(ends));
    close(ends[1]);
    setenv("TMPDIR", "/nowhere/at/all", 1);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    s = dump_path(path, plain, NULL);
    CHECK_HAS(s, "TMPDIR");
    free(s);
    close(ends[0]);
    if (copy)
        setenv("TMPDIR", copy, 1);
    else
        unsetenv("TMPDIR");
    free(copy);
}

int main(void) {
    if (!readers_start()) return 1;
    RUN(npy_types);
    RUN(npy_bad);
    RUN(gzip_files);
    RUN(gzip_behind_the_header);
    RUN(gzip_truncated);
    RUN(sources);
    return readers_done();
}
