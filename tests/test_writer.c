/* test_writer.c -- whole files or none, every failure reported. */
#include "data/writer.h"
#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static char folder[] = "/tmp/krein_writer_XXXXXX";
static krein_ctx *ctx;

static const char *in_folder(const char *name) {
    static char path[4][512];
    static int k;
    k = (k + 1) % 4;
    snprintf(path[k], sizeof path[k], "%s/%s", folder, name);
    return path[k];
}

static int files(void) {
    int n = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; (e = readdir(d));) n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void empty_folder(void) {
    DIR *d = opendir(folder);
    for (struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.') unlink(in_folder(e->d_name));
    closedir(d);
}

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
            CHECK(krein__writer_open(ctx, in_folder(names[k]), &w) == KREIN_OK);
            for (size_t at = 0; at < sizeof all; at += pieces[p]) {
                const size_t n = sizeof all - at < pieces[p] ? sizeof all - at : pieces[p];
                CHECK(krein__writer_put(w, all + at, n) == KREIN_OK);
            }
            CHECK(krein__writer_commit(w) == KREIN_OK);
            CHECK(slurp(in_folder(names[k]), got, sizeof got) == sizeof all);
            CHECK(memcmp(all, got, sizeof all) == 0);
        }
    }
    CHECK(files() == 2);
    CHECK(write_text(ctx, in_folder("empty.gz"), "") == KREIN_OK);
    holds(in_folder("empty.gz"), "");
    FILE *f = fopen(in_folder("a.bin.gz"), "rb");
    CHECK(fgetc(f) == 0x1f && fgetc(f) == 0x8b); /* really compressed */
    fclose(f);
    empty_folder();
}

static void nothing_before_commit(void) {
    krein_writer *w;
    CHECK(write_text(ctx, in_folder("a"), "old") == KREIN_OK);
    CHECK(krein__writer_open(ctx, in_folder("a"), &w) == KREIN_OK);
    CHECK(krein__writer_put(w, "new", 3) == KREIN_OK);
    CHECK(files() == 2);
    holds(in_folder("a"), "old");
    krein__writer_abort(w);
    holds(in_folder("a"), "old");
    CHECK(files() == 1);
    krein__writer_abort(NULL);
    /* Two at once on one name do not meet. */
    krein_writer *v;
    CHECK(krein__writer_open(ctx, in_folder("a"), &w) == KREIN_OK);
    CHECK(krein__writer_open(ctx, in_folder("a"), &v) == KREIN_OK);
    CHECK(krein__writer_put(w, "one", 3) == KREIN_OK && krein__writer_put(v, "two", 3) == KREIN_OK);
    CHECK(krein__writer_commit(w) == KREIN_OK);
    holds(in_folder("a"), "one");
    CHECK(krein__writer_commit(v) == KREIN_OK);
    holds(in_folder("a"), "two");
    empty_folder();
}

static void modes_and_links(void) {
    struct stat s;
    const mode_t mask = umask(027);
    CHECK(write_text(ctx, in_folder("a"), "x") == KREIN_OK);
    CHECK(stat(in_folder("a"), &s) == 0 && (s.st_mode & 0777) == 0640);
    CHECK(chmod(in_folder("a"), 0604) == 0);
    CHECK(write_text(ctx, in_folder("a"), "y") == KREIN_OK);
    CHECK(stat(in_folder("a"), &s) == 0 && (s.st_mode & 0777) == 0604);
    umask(mask);
    CHECK(symlink("a", in_folder("link")) == 0);
    CHECK(write_text(ctx, in_folder("link"), "through") == KREIN_OK);
    CHECK(lstat(in_folder("link"), &s) == 0 && S_ISLNK(s.st_mode));
    holds(in_folder("a"), "through");
    empty_folder();
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
    CHECK(mkfifo(in_folder("pipe"), 0600) == 0);
    const int fd = open(in_folder("pipe"), O_RDONLY | O_NONBLOCK);
    CHECK(write_text(ctx, in_folder("pipe"), "hello") == KREIN_OK);
    CHECK(read(fd, got, sizeof got) == 5 && memcmp(got, "hello", 5) == 0);
    close(fd);
    CHECK(lstat(in_folder("pipe"), &s) == 0 && S_ISFIFO(s.st_mode));
    empty_folder();
}

static void standard_output(void) {
    fflush(stdout);
    const int saved = dup(STDOUT_FILENO);
    const int fd = open(in_folder("out"), O_RDWR | O_CREAT, 0600);
    dup2(fd, STDOUT_FILENO);
    const krein_status st = write_text(ctx, "-", "to stdout");
    const krein_status st2 = write_text(ctx, "/dev/stdout", ", twice");
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(fd);
    CHECK(st == KREIN_OK && st2 == KREIN_OK);
    holds(in_folder("out"), "to stdout, twice");
    empty_folder();
}

static void refusals(void) {
    CHECK(write_text(ctx, folder, "x") == KREIN_EIO);
    CHECK_HAS(krein_message(ctx), "Is a directory");
    CHECK(write_text(ctx, in_folder("no/such/place"), "x") == KREIN_EIO);
    CHECK_HAS(krein_message(ctx), "no/such/place: No such file or directory; ");
    CHECK(write_text(ctx, "", "x") == KREIN_EARG);
    CHECK(files() == 0);
}

static void read_only_folder(void) {
    const bool root = geteuid() == 0;
    CHECK(write_text(ctx, in_folder("a"), "old") == KREIN_OK);
    chmod(folder, 0555);
    if (root && seteuid(65534) != 0) SKIP("root may write everywhere");
    CHECK(write_text(ctx, in_folder("a"), "new") == KREIN_EIO);
    CHECK_HAS(krein_message(ctx), "a: Permission denied; ");
    if (root) CHECK(seteuid(0) == 0);
    chmod(folder, 0700);
    holds(in_folder("a"), "old");
    CHECK(files() == 1);
    empty_folder();
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
        CHECK(krein__writer_open(ctx, in_folder("a.npy"), &w) == KREIN_OK);
        CHECK(krein__npy_header(w, cases[k].type, cases[k].n, cases[k].d) == KREIN_OK);
        CHECK(krein__writer_commit(w) == KREIN_OK);
        const size_t n = slurp(in_folder("a.npy"), (char *)got, sizeof got);
        CHECK(n % 64 == 0 && n > 10 && (size_t)got[8] + 256u * got[9] + 10 == n);
        CHECK(memcmp(got, "\x93NUMPY\x01\x00", 8) == 0 && got[n - 1] == '\n');
        CHECK(memcmp(got + 10, cases[k].want, strlen(cases[k].want)) == 0);
    }
    empty_folder();
}

/* ---- every allocation may fail ------------------------------------------ */

static int64_t allowed, live;
static void *stingy(void *user, size_t bytes) {
    (void)user;
    if (allowed-- <= 0) return NULL;
    live++;
    return aligned_alloc(64, (bytes + 63) / 64 * 64 + (bytes == 0 ? 64 : 0));
}
static void give_back(void *user, void *p) {
    (void)user;
    if (p) live--;
    free(p);
}

static void allocation_failures(void) {
    krein_ctx_options o;
    krein_ctx_options_init(&o);
    o.memory = (krein_allocator){stingy, give_back, NULL};
    allowed = 1 << 20;
    krein_ctx *poor;
    CHECK(krein_ctx_create(&o, &poor) == KREIN_OK);
    CHECK(write_text(poor, in_folder("a.gz"), "old") == KREIN_OK);
    const int64_t before = live;
    krein_status st = KREIN_EMEMORY;
    int64_t k = 0;
    for (; st != KREIN_OK && k < 100; k++) {
        allowed = k;
        st = write_text(poor, in_folder("a.gz"), "new");
        CHECK(st == KREIN_OK || st == KREIN_EMEMORY);
        CHECK(live == before);
        CHECK(files() == 1);
        if (st != KREIN_OK) holds(in_folder("a.gz"), "old");
    }
    CHECK(st == KREIN_OK && k > 5);
    holds(in_folder("a.gz"), "new");
    allowed = 1 << 20;
    krein_ctx_destroy(poor);
    CHECK(live == 0);
    empty_folder();
}

int main(void) {
    if (!mkdtemp(folder) || krein_ctx_create(NULL, &ctx) != KREIN_OK) return 1;
    RUN(round_trips);
    RUN(nothing_before_commit);
    RUN(modes_and_links);
    RUN(devices);
    RUN(standard_output);
    RUN(refusals);
    RUN(read_only_folder);
    RUN(npy);
    RUN(allocation_failures);
    krein_ctx_destroy(ctx);
    rmdir(folder);
    return DONE();
}
