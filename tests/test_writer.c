/* test_writer.c -- whole files or none, every failure reported. */
#include "common.h"

#include "file/writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <zlib.h>

static krein_ctx *ctx;

/* The whole file, gunzipped when it is gzip; gzread passes other files through. */
static size_t slurp(const char *path, char *out, size_t size) {
    gzFile f = gzopen(path, "rb");
    if (!f) return 0;
    const int n = gzread(f, out, (unsigned)size);
    CHECK(gzclose(f) == Z_OK);
    return n < 0 ? 0 : (size_t)n;
}

static krein_status write_text(krein_ctx *c, const char *path, const char *text) {
    krein_writer *w;
    krein_status st = krein__writer_open(c, path, &w);
    if (st != KREIN_OK) {
        CHECK(w == NULL);
        return st;
    }
    st = krein__writer_put(w, text, strlen(text));
    if (st == KREIN_OK) return krein__writer_commit(w);
    krein__writer_abort(w);
    return st;
}

/* A file that no writer has made. */
static void spit(const char *name) {
    FILE *f = fopen(test_path(name), "w");
    CHECK(f && fclose(f) == 0);
}

static void holds(const char *path, const char *text) {
    char got[256] = {0};
    slurp(path, got, sizeof got - 1);
    CHECK(strcmp(got, text) == 0);
}

static void round_trips(void) {
    static char all[3000000], got[3000001];
    for (size_t i = 0; i < sizeof all; i++) all[i] = (char)((i * i) >> 7 ^ i >> 3);
    static const char *const names[] = {"a.bin", "a.bin.gz"};
    static const size_t pieces[] = {1, 17, 4096, 131072, 131073, 3000000};
    for (int k = 0; k < 2; k++) {
        for (size_t p = k ? 1 : 0; p < 6; p++) {
            krein_writer *w;
            CHECK(krein__writer_open(ctx, test_path(names[k]), &w) == KREIN_OK);
            for (size_t at = 0; at < sizeof all; at += pieces[p]) {
                const size_t n = sizeof all - at < pieces[p] ? sizeof all - at : pieces[p];
                CHECK(krein__writer_put(w, all + at, n) == KREIN_OK);
            }
            CHECK(krein__writer_commit(w) == KREIN_OK);
            CHECK(slurp(test_path(names[k]), got, sizeof got) == sizeof all);
            CHECK(memcmp(all, got, sizeof all) == 0);
        }
    }
    CHECK(test_files() == 2);
    CHECK(write_text(ctx, test_path("empty.gz"), "") == KREIN_OK);
    holds(test_path("empty.gz"), "");
    FILE *f = fopen(test_path("a.bin.gz"), "rb");
    CHECK(fgetc(f) == 0x1f && fgetc(f) == 0x8b); /* really compressed */
    fclose(f);
    test_empty_dir();
}

static void nothing_before_commit(void) {
    krein_writer *w;
    CHECK(write_text(ctx, test_path("a"), "old") == KREIN_OK);
    CHECK(krein__writer_open(ctx, test_path("a"), &w) == KREIN_OK);
    CHECK(krein__writer_put(w, "new", 3) == KREIN_OK);
    CHECK(test_files() == 2);
    holds(test_path("a"), "old");
    krein__writer_abort(w);
    holds(test_path("a"), "old");
    CHECK(test_files() == 1);
    krein__writer_abort(NULL);
    /* Two at once on one name do not meet. */
    krein_writer *v;
    CHECK(krein__writer_open(ctx, test_path("a"), &w) == KREIN_OK);
    CHECK(krein__writer_open(ctx, test_path("a"), &v) == KREIN_OK);
    CHECK(krein__writer_put(w, "one", 3) == KREIN_OK && krein__writer_put(v, "two", 3) == KREIN_OK);
    CHECK(krein__writer_commit(w) == KREIN_OK);
    holds(test_path("a"), "one");
    CHECK(krein__writer_commit(v) == KREIN_OK);
    holds(test_path("a"), "two");
    test_empty_dir();
}

static void modes_and_links(void) {
    struct stat s;
    const mode_t mask = umask(027);
    CHECK(write_text(ctx, test_path("a"), "x") == KREIN_OK);
    CHECK(stat(test_path("a"), &s) == 0 && (s.st_mode & 0777) == 0640);
    CHECK(chmod(test_path("a"), 0604) == 0);
    CHECK(write_text(ctx, test_path("a"), "y") == KREIN_OK);
    CHECK(stat(test_path("a"), &s) == 0 && (s.st_mode & 0777) == 0604);
    umask(mask);
    CHECK(symlink("a", test_path("link")) == 0);
    CHECK(write_text(ctx, test_path("link"), "through") == KREIN_OK);
    CHECK(lstat(test_path("link"), &s) == 0 && S_ISLNK(s.st_mode));
    holds(test_path("a"), "through");
    test_empty_dir();
}

/* Where a link leads is where the file is made, whether or not there is one. */
static void links_to_nothing(void) {
    struct stat s;
    CHECK(mkdir(test_path("folder"), 0700) == 0);
    CHECK(symlink("folder/new", test_path("link")) == 0);
    CHECK(symlink("link", test_path("link2")) == 0);
    CHECK(write_text(ctx, test_path("link2"), "made") == KREIN_OK);
    CHECK(lstat(test_path("link"), &s) == 0 && S_ISLNK(s.st_mode));
    CHECK(lstat(test_path("link2"), &s) == 0 && S_ISLNK(s.st_mode));
    holds(test_path("folder/new"), "made");
    CHECK(symlink("loop", test_path("loop")) == 0);
    CHECK(write_text(ctx, test_path("loop"), "x") == KREIN_EIO);
    CHECK_HAS(krein_message(ctx), "symbolic links");
    CHECK(symlink("nowhere/new", test_path("lost")) == 0);
    CHECK(write_text(ctx, test_path("lost"), "x") == KREIN_EIO);
    CHECK_HAS(krein_message(ctx), "No such file or directory; ");
    CHECK(unlink(test_path("folder/new")) == 0 && rmdir(test_path("folder")) == 0);
    test_empty_dir();
}

/* A file under /dev is a file like others: nothing of the old one is left behind the new one. */
static void shared_memory(void) {
    char path[64];
    struct stat s;
    if (stat("/dev/shm", &s) != 0 || access("/dev/shm", W_OK) != 0) SKIP("there is no /dev/shm");
    snprintf(path, sizeof path, "/dev/shm/krein_test_%ld", (long)getpid());
    CHECK(write_text(ctx, path, "a long text") == KREIN_OK);
    const bool first = stat(path, &s) == 0;
    const ino_t old = s.st_ino;
    CHECK(write_text(ctx, path, "short") == KREIN_OK);
    CHECK(first && stat(path, &s) == 0 && s.st_size == 5 && s.st_ino != old);
    holds(path, "short");
    unlink(path);
}

/* /dev/fd/N is the open file, which keeps its place, and not a file to be replaced. */
static void descriptors(void) {
    char name[32];
    struct stat before, after;
    const int fd = open(test_path("log"), O_RDWR | O_CREAT, 0600);
    CHECK(fd >= 0 && write(fd, "first ", 6) == 6);
    snprintf(name, sizeof name, "/dev/fd/%d", fd);
    CHECK(fstat(fd, &before) == 0);
    CHECK(write_text(ctx, name, "second") == KREIN_OK);
    CHECK(stat(test_path("log"), &after) == 0 && before.st_ino == after.st_ino);
    CHECK(fcntl(fd, F_GETFD) >= 0); /* still open */
    close(fd);
    holds(test_path("log"), "first second");
    test_empty_dir();
}

/* What a killed run has left is removed by the next one; what a living one writes is not. */
static void killed(void) {
    krein_writer *w;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        if (krein__writer_open(ctx, test_path("a"), &w) != KREIN_OK) _exit(1);
        _exit(krein__writer_put(w, "lost", 4) == KREIN_OK ? 0 : 1);
    }
    int status = 1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(test_files() == 1);
    spit("a.tmp.backup");
    spit("b.tmp.1-0");
    CHECK(krein__writer_open(ctx, test_path("a"), &w) == KREIN_OK);
    CHECK(test_files() == 3); /* a living one and two of other names */
    CHECK(write_text(ctx, test_path("a"), "second") == KREIN_OK);
    CHECK(test_files() == 4);
    CHECK(krein__writer_put(w, "first", 5) == KREIN_OK && krein__writer_commit(w) == KREIN_OK);
    holds(test_path("a"), "first");
    CHECK(test_files() == 3);
    test_empty_dir();
}

static void devices(void) {
    krein_writer *w;
    char block[300000] = {0}, got[8] = {0};
    struct stat s;
    CHECK(write_text(ctx, "/dev/null", "gone") == KREIN_OK);
    CHECK(stat("/dev/null", &s) == 0 && S_ISCHR(s.st_mode));
    CHECK(write_text(ctx, "/dev/full", "x") == KREIN_EIO);
    CHECK_HAS(krein_message(ctx), "/dev/full: No space left on device; ");
    CHECK(krein__writer_open(ctx, "/dev/full", &w) == KREIN_OK);
    CHECK(krein__writer_put(w, block, sizeof block) == KREIN_EIO);
    CHECK(krein__writer_put(w, block, 1) == KREIN_EIO); /* stays failed */
    CHECK(krein__writer_commit(w) == KREIN_EIO);
    /* A pipe is written, not replaced. */
    CHECK(mkfifo(test_path("pipe"), 0600) == 0);
    const int fd = open(test_path("pipe"), O_RDONLY | O_NONBLOCK);
    CHECK(write_text(ctx, test_path("pipe"), "hello") == KREIN_OK);
    CHECK(read(fd, got, sizeof got) == 5 && memcmp(got, "hello", 5) == 0);
    close(fd);
    CHECK(lstat(test_path("pipe"), &s) == 0 && S_ISFIFO(s.st_mode));
    test_empty_dir();
}

static void standard_output(void) {
    fflush(stdout);
    const int saved = dup(STDOUT_FILENO);
    const int fd = open(test_path("out"), O_RDWR | O_CREAT, 0600);
    dup2(fd, STDOUT_FILENO);
    const krein_status st = write_text(ctx, "-", "to stdout");
    const krein_status st2 = write_text(ctx, "/dev/stdout", ", twice");
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(fd);
    CHECK(st == KREIN_OK && st2 == KREIN_OK);
    holds(test_path("out"), "to stdout, twice");
    test_empty_dir();
}

static void refusals(void) {
    CHECK(write_text(ctx, test_dir(), "x") == KREIN_EIO);
    CHECK_HAS(krein_message(ctx), "Is a directory");
    CHECK(write_text(ctx, test_path("no/such/place"), "x") == KREIN_EIO);
    CHECK_HAS(krein_message(ctx), "no/such/place: No such file or directory; ");
    CHECK(write_text(ctx, "", "x") == KREIN_EARG);
    CHECK(test_files() == 0);
}

static void read_only_folder(void) {
    const bool root = geteuid() == 0;
    CHECK(write_text(ctx, test_path("a"), "old") == KREIN_OK);
    chmod(test_dir(), 0555);
    if (root && seteuid(65534) != 0) SKIP("root may write everywhere");
    CHECK(write_text(ctx, test_path("a"), "new") == KREIN_EIO);
    CHECK_HAS(krein_message(ctx), "a: Permission denied; ");
    if (root) CHECK(seteuid(0) == 0);
    chmod(test_dir(), 0700);
    holds(test_path("a"), "old");
    CHECK(test_files() == 1);
    test_empty_dir();
}

static void npy(void) {
    static const struct {
        const char *type;
        int64_t n, d;
        const char *want;
    } cases[] = {{"<f4", 3, 2, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }"},
                 {"<f8", 1234567890123, 1,
                  "{'descr': '<f8', 'fortran_order': False, 'shape': (1234567890123, 1), }"},
                 {"|i1", 7, -1, "{'descr': '|i1', 'fortran_order': False, 'shape': (7,), }"}};
    for (int k = 0; k < 3; k++) {
        krein_writer *w;
        unsigned char got[512];
        CHECK(krein__writer_open(ctx, test_path("a.npy"), &w) == KREIN_OK);
        CHECK(krein__npy_header(w, cases[k].type, cases[k].n, cases[k].d) == KREIN_OK);
        CHECK(krein__writer_commit(w) == KREIN_OK);
        const size_t n = slurp(test_path("a.npy"), (char *)got, sizeof got);
        CHECK(n % 64 == 0 && n > 10 && (size_t)got[8] + 256u * got[9] + 10 == n);
        CHECK(memcmp(got, "\x93NUMPY\x01\x00", 8) == 0 && got[n - 1] == '\n');
        CHECK(memcmp(got + 10, cases[k].want, strlen(cases[k].want)) == 0);
    }
    test_empty_dir();
}

/* ---- every allocation may fail ------------------------------------------ */

static void allocation_failures(void) {
    test_memory m;
    krein_ctx *poor = test_ctx_with(1, &m);
    int64_t runs = 0;
    CHECK(write_text(poor, test_path("a.gz"), "old") == KREIN_OK);
    TEST_EVERY_ALLOCATION(&m, k) {
        krein_status st = write_text(poor, test_path("a.gz"), "new");
        CHECK(st == (test_has_failed(&m) ? KREIN_EMEMORY : KREIN_OK));
        CHECK(test_files() == 1);
        holds(test_path("a.gz"), st == KREIN_OK ? "new" : "old");
        runs++;
    }
    CHECK(runs > 5);
    krein_ctx_destroy(poor);
    test_empty_dir();
}

int main(void) {
    ctx = test_ctx(0);
    RUN(round_trips);
    RUN(nothing_before_commit);
    RUN(modes_and_links);
    RUN(links_to_nothing);
    RUN(shared_memory);
    RUN(descriptors);
    RUN(killed);
    RUN(devices);
    RUN(standard_output);
    RUN(refusals);
    RUN(read_only_folder);
    RUN(npy);
    RUN(allocation_failures);
    krein_ctx_destroy(ctx);
    return DONE();
}
