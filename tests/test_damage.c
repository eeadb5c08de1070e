/* test_damage.c -- model files that are damaged, or forged with a right checksum, are refused. */
#include "forge.h"
#include "model.h"

/* ---- damage ------------------------------------------------------------- */

/* A small file with everything in it: categories, text classes, landmarks. */
static test_bytes small_model(const char *map) {
    krein_ctx *ctx = test_ctx(1);
    krein_model *m = NULL;
    char rows[256];
    snprintf(rows, sizeof rows, "%s", make_file(SEVERAL, 12));
    if (train_file(ctx, rows, SEVERAL, kernels[0], map, &m) != KREIN_OK) {
        printf("%s\n", krein_message(ctx));
        exit(1);
    }
    test_bytes file = test_model_bytes(ctx, m);
    krein_model_destroy(m);
    krein_ctx_destroy(ctx);
    return file;
}

static bool refused(krein_ctx *ctx, test_memory *memory, const char *path, const char *what,
                    int64_t where) {
    krein_model *m = NULL;
    krein_status st = krein_model_load(ctx, path, &m);
    bool good = (st == KREIN_EMODEL || st == KREIN_EIO) && !m;
    if (!good)
        printf("%s %lld: status %d %s\n", what, (long long)where, (int)st, krein_message(ctx));
    if (good && !strstr(krein_message(ctx), path)) {
        printf("%s %lld: no file name in \"%s\"\n", what, (long long)where, krein_message(ctx));
        good = false;
    }
    krein_model_destroy(m);
    if (test_live(memory) != 0) {
        printf("%s %lld: leaks\n", what, (long long)where);
        good = false;
        atomic_store(&memory->live, 0);
    }
    return good;
}

static void every_truncation(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    test_bytes file = small_model("nystrom(D=4)");
    const char *path = test_path("cut.krein");
    spit(path, file.at, file.n);
    int bad = 0;
    for (int64_t n = file.n - 1; n >= 0; n -= test_sanitized() && n % 64 ? 3 : 1) {
        if (truncate(path, n) != 0) exit(1);
        bad += !refused(ctx, &memory, path, "cut to", n);
        if (bad > 5) break;
    }
    CHECK(bad == 0);
    /* and bytes too many */
    char *more = test_new(file.n + 64, 1);
    memcpy(more, file.at, (size_t)file.n);
    for (int64_t n = 1; n <= 64; n++) {
        spit(path, more, file.n + n);
        CHECK(refused(ctx, &memory, path, "more by", n));
    }
    free(more);
    free(file.at);
    krein_ctx_destroy(ctx);
}

static void every_bit(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    test_bytes file = small_model("nystrom(D=4)");
    const char *path = test_path("flip.krein");
    spit(path, file.at, file.n);
    int fd = open(path, O_WRONLY), bad = 0;
    if (fd < 0) exit(1);
    for (int64_t bit = 0; bit < 8 * file.n && bad < 6;
         bit += test_sanitized() && bit > 512 ? 13 : 1) {
        char c = (char)(file.at[bit / 8] ^ (1 << bit % 8));
        if (pwrite(fd, &c, 1, bit / 8) != 1) exit(1);
        bad += !refused(ctx, &memory, path, "bit", bit);
        if (pwrite(fd, file.at + bit / 8, 1, bit / 8) != 1) exit(1);
    }
    CHECK(bad == 0);
    close(fd);
    krein_model *m = NULL; /* it is whole again */
    CHECK(krein_model_load(ctx, path, &m) == KREIN_OK);
    krein_model_destroy(m);
    free(file.at);
    krein_ctx_destroy(ctx);
}

static void other_files(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    CHECK(refused(ctx, &memory, test_path("nosuch.krein"), "no file", 0));
    CHECK(refused(ctx, &memory, test_write("empty.krein", ""), "empty", 0));
    CHECK(refused(ctx, &memory, test_write("text.krein", "y,x\n1,2\n"), "text", 0));
    CHECK_HAS(krein_message(ctx), "not a krein model");
    CHECK(refused(ctx, &memory, test_dir(), "a directory", 0));
    krein_ctx_destroy(ctx);
}

/* ---- forgery: a right checksum over wrong contents ---------------------- */

static void every_entry(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    for (size_t map = 1; map < 3; map++) {
        test_bytes file = small_model(maps[map][0] == 'n' ? "nystrom(D=4)" : maps[map]);
        parts p = take_apart(&file);
        const char *path = test_path("forged.krein");
        krein_model *m = NULL;
        put_together(ctx, &p, -1, path); /* the forger's tools are right */
        CHECK(krein_model_load(ctx, path, &m) == KREIN_OK);
        krein_model_destroy(m);
        for (int i = 0; i < p.n; i++) {
            part *e = &p.all[i], old = *e;
            char what[120];
            snprintf(what, sizeof what, "%s without %s", maps[map], e->name);
            put_together(ctx, &p, i, path);
            CHECK(refused(ctx, &memory, path, what, i));
            snprintf(what, sizeof what, "%s, other type of %s", maps[map], e->name);
            e->type = old.type == KREIN_TYPE_I64   ? KREIN_TYPE_F64
                      : old.type == KREIN_TYPE_F64 ? KREIN_TYPE_I64
                      : old.type == KREIN_TYPE_I32 ? KREIN_TYPE_F32
                      : old.type == KREIN_TYPE_F32 ? KREIN_TYPE_I32
                                                   : KREIN_TYPE_F64;
            if (old.type == KREIN_TYPE_BYTES) e->n = old.n / 8;
            put_together(ctx, &p, -1, path);
            CHECK(refused(ctx, &memory, path, what, i));
            *e = old;
            for (int step = -1; step <= 1; step += 2) {
                snprintf(what, sizeof what, "%s, %d more of %s", maps[map], step, e->name);
                e->n = old.n + step;
                if (e->n < 0) continue;
                put_together(ctx, &p, -1, path);
                CHECK(refused(ctx, &memory, path, what, i));
                *e = old;
            }
            char keep[8];
            memcpy(keep, e->data, 8);
            if (e->type == KREIN_TYPE_I64 && e->n == 1 && strcmp(e->name, "map.seed") != 0)
                for (int low = 0; low < 2; low++) {
                    int64_t v = low ? -1 : INT64_MAX;
                    snprintf(what, sizeof what, "%s, %s out of range", maps[map], e->name);
                    memcpy(e->data, &v, 8);
                    put_together(ctx, &p, -1, path);
                    CHECK(refused(ctx, &memory, path, what, i));
                }
            bool real = e->type == KREIN_TYPE_F64 || e->type == KREIN_TYPE_F32;
            bool none = strcmp(e->name, "lambda") == 0; /* NaN: a learner may have none */
            if (real)
                for (int infinite = none; infinite < 2; infinite++) {
                    double v = infinite ? INFINITY : NAN;
                    float f = infinite ? INFINITY : NAN;
                    snprintf(what, sizeof what, "%s, %s not finite", maps[map], e->name);
                    if (e->type == KREIN_TYPE_F64)
                        memcpy(e->data, &v, 8);
                    else
                        memcpy(e->data, &f, 4);
                    put_together(ctx, &p, -1, path);
                    CHECK(refused(ctx, &memory, path, what, i));
                }
            if (e->type == KREIN_TYPE_I32) {
                int32_t v = 99;
                snprintf(what, sizeof what, "%s, %s out of range", maps[map], e->name);
                memcpy(e->data, &v, 4);
                put_together(ctx, &p, -1, path);
                CHECK(refused(ctx, &memory, path, what, i));
            }
            memcpy(e->data, keep, 8);
        }
        drop_parts(&p);
        free(file.at);
    }
    krein_ctx_destroy(ctx);
}

static void forgeries(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    const char *path = test_path("forged.krein");
    for (int which = 0; which < 15; which++) {
        test_bytes file = small_model(which == 13 ? "rff(D=16)" : "nystrom(D=4)");
        parts p = take_apart(&file);
        switch (which) {
        case 0:
            set_text(find(&p, "input.3.words"), "red\0red\0blue", 13);
            break; /* repeat */
        case 1:
            set_int(find(&p, "classes"), 1);
            set_text(find(&p, "class.names"), "a", 2);
            break;
        case 2:
            set_text(find(&p, "class.names"), "a\0b", 4);
            break;
        case 3:
            set_text(find(&p, "kernel"), "gaussian", 9);
            break; /* sigma is free */
        case 4:
            set_text(find(&p, "kernel"), "nosuch(sigma=1)", 16);
            break;
        case 5:
            set_text(find(&p, "kernel"), "gaussian(sigma=-1)", 19);
            break;
        case 6:
            set_text(find(&p, "map"), "nosuch", 7);
            break;
        case 7:
            set_text(find(&p, "map"), "nystrom(D=4", 12);
            break;
        case 8:
            set_int(find(&p, "map.R"), 3);
            break;
        case 9:
            set_int(find(&p, "map.R"), INT32_MAX);
            break;
        case 10:
            set_int(find(&p, "encoding.sparse"), 1);
            break;
        case 11:
            set_int(find(&p, "map.d"), 5);
            break;
        case 12:
            set_int(find(&p, "encoding.d"), 5);
            break;
        case 13:
            set_int(find(&p, "map.D"), 14);
            break;
        case 14:
            set_int(find(&p, "encoding.task"), KREIN_TASK_AUTO);
            break;
        }
        put_together(ctx, &p, -1, path);
        CHECK(refused(ctx, &memory, path, "forgery", which));
        drop_parts(&p);
        free(file.at);
    }
    krein_ctx_destroy(ctx);
}

/* Sparse landmarks point into rows and columns: each number is checked. */
static void forged_landmarks(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    krein_model *m = NULL;
    char rows[256];
    const char *path = test_path("sparse.krein");
    snprintf(rows, sizeof rows, "%s", make_file(SPARSE, 20));
    CHECK(train_file(ctx, rows, SPARSE, kernels[0], "nystrom(D=5)", &m) == KREIN_OK);
    CHECK(krein_model_save(ctx, m, path) == KREIN_OK);
    krein_model_destroy(m);
    test_bytes file = test_slurp(path);
    for (int which = 0; which < 6; which++) {
        parts p = take_apart(&file);
        int64_t *ptr = find(&p, "landmarks.ptr")->data;
        int32_t *col = find(&p, "landmarks.col")->data;
        switch (which) {
        case 0:
            ptr[0] = 1;
            break;
        case 1:
            ptr[2] = ptr[3] + 1;
            break;
        case 2:
            ptr[1] = -1;
            break;
        case 3:
            ptr[2] = INT64_MAX;
            break;
        case 4:
            col[0] = 1000;
            break;
        case 5:
            col[1] = col[0];
            break;
        }
        put_together(ctx, &p, -1, path);
        CHECK(refused(ctx, &memory, path, "landmarks", which));
        drop_parts(&p);
    }
    free(file.at);
    krein_ctx_destroy(ctx);
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    RUN(every_truncation);
    RUN(every_bit);
    RUN(other_files);
    RUN(every_entry);
    RUN(forgeries);
    RUN(forged_landmarks);
    return DONE();
}
