/* test_checkpoint_damage.c -- checkpoints that are forged with a right checksum: every number of
 * them changed in turn. Training refuses the file or comes to an end; it does not crash, leak, read
 * outside of its arrays, or go on without looking at the cancel flag. */
#include "forge.h"
#include "train.h"

enum { ROWS = 2100, POLLS = 20000 }; /* of rows: more than a block */

typedef struct job {
    const char *name, *path, *labels, *map;
    krein_keep keep;
    const char *learner; /* NULL: the default */
} job;

static int cancel(void *user) {
    int64_t *left = user;
    return *left >= 0 && (*left)-- == 0;
}

/* Trains from the state or from the start, up to so many polls (< 0: any). */
static krein_status train(const job *j, const char *state, int64_t polls, test_memory *memory,
                          char *message) {
    krein_ctx *ctx = test_ctx_with(1, memory);
    krein_data_options d;
    krein_train_options o = defaults();
    krein_data *data = NULL;
    krein_model *m = NULL;
    ctx->cancel = cancel;
    ctx->user = &polls;
    ctx->budget = (uint64_t)256 << 20;
    krein_data_options_init(&d);
    d.labels_file = j->labels;
    o.kernel = "gaussian(sigma=2)";
    o.map = j->map;
    o.learner = j->learner;
    o.lambda = 1e-3;
    ctx->keep_rows = j->keep;
    o.checkpoint = state;
    o.checkpoint_seconds = 1e-9;
    krein_status st = krein_data_open(ctx, j->path, &d, &data);
    if (st == KREIN_OK) st = krein_train(ctx, data, &o, NULL, &m);
    snprintf(message, KREIN__MESSAGE, "%s", krein_message(ctx));
    krein_model_destroy(m);
    krein_data_close(data);
    if (test_live(memory) != 0) {
        printf("%s: %lld blocks leak\n", j->name, (long long)test_live(memory));
        test_bad++;
    }
    krein_ctx_destroy(ctx);
    return st;
}

/* A state in the middle of the rows. */
static parts state_of(const job *j, const char *path) {
    test_memory memory;
    char message[KREIN__MESSAGE];
    parts p = {.n = 0};
    for (int64_t polls = 1; polls < 200; polls++) {
        unlink(path);
        krein_status st = train(j, path, polls, &memory, message);
        if (st == KREIN_OK) break; /* the last one is at the end of the rows: good enough */
        if (access(path, F_OK) != 0) continue;
        test_bytes file = test_slurp(path);
        p = take_apart(&file);
        free(file.at);
        int64_t row = 0;
        for (int i = 0; i < p.n; i++)
            if (strcmp(p.all[i].name, "place.row") == 0 || strcmp(p.all[i].name, "net.step") == 0)
                memcpy(&row, p.all[i].data, 8);
        if (row > 0) return p;
        drop_parts(&p);
    }
    printf("%s: no state was written\n", j->name);
    exit(1);
}

typedef struct forger {
    const job *j;
    const char *path;
    parts p;
    krein_ctx *ctx;
    int64_t good, refused;
} forger;

/* Training with the forged state ends, and a refusal names the file. */
static krein_status try_it(forger *f, const char *what, const char *name) {
    test_memory memory;
    char message[KREIN__MESSAGE];
    krein_status st = train(f->j, f->path, POLLS, &memory, message);
    bool fine = st != KREIN_ECANCEL;
    if (st == KREIN_EARG || st == KREIN_EMODEL)
        fine = fine && strstr(message, f->path) && strstr(message, "remove the file");
    if (!fine || getenv("TEST_VERBOSE"))
        printf("%s, %s %s: status %d %s\n", f->j->name, what, name, (int)st, message);
    CHECK(fine);
    f->good += st == KREIN_OK;
    f->refused += st != KREIN_OK;
    return st;
}

static krein_status forge(forger *f, int without, const char *what, const char *name) {
    put_together(f->ctx, &f->p, without, f->path);
    return try_it(f, what, name);
}

static void forge_number(forger *f, part *e) {
    int64_t old, now;
    memcpy(&old, e->data, 8);
    const int64_t values[] = {0, 1, -1, old + 1, old - 1, INT32_MAX, INT64_MAX, INT64_MIN};
    for (int64_t k = 0; k < KREIN__COUNT(values); k++) {
        char what[64];
        now = values[k];
        if (now == old) continue;
        snprintf(what, sizeof what, "%lld in place of %lld in", (long long)now, (long long)old);
        set_int(e, now);
        forge(f, -1, what, e->name);
    }
    set_int(e, old);
}

static void forge_real(forger *f, part *e) {
    static const double values[] = {0, -1, 1e300, NAN};
    char old[8];
    memcpy(old, e->data, 8);
    for (int64_t k = 0; k < KREIN__COUNT(values); k++) {
        char what[64];
        float single = (float)values[k];
        snprintf(what, sizeof what, "%g in", values[k]);
        if (e->type == KREIN_TYPE_F64)
            memcpy(e->data, &values[k], 8);
        else
            memcpy(e->data, &single, 4);
        forge(f, -1, what, e->name);
    }
    memcpy(e->data, old, 8);
}

static void forge_kinds(forger *f, part *e) {
    static const int32_t values[] = {0, 1, 4, -1, 99, INT32_MAX};
    int32_t *all = e->data;
    for (int64_t i = 0; i < e->n && i < 4; i++) {
        const int32_t old = all[i];
        for (int64_t k = 0; k < KREIN__COUNT(values); k++) {
            all[i] = values[k];
            if (values[k] != old) forge(f, -1, "another value in", e->name);
        }
        all[i] = old;
    }
}

static void forge_size(forger *f, part *e) {
    const int64_t n = e->n;
    for (int step = -1; step <= 1; step += 2) {
        e->n = n + step;
        if (e->n >= 0)
            CHECK(forge(f, -1, step < 0 ? "one less of" : "one more of", e->name) == KREIN_EARG);
    }
    e->n = n;
}

static void every_entry(const job *j, const char *path, const parts *state) {
    forger f = {.j = j, .path = path, .p = *state, .ctx = test_ctx(1)};
    CHECK(forge(&f, -1, "nothing changed", "") == KREIN_OK); /* the forger's tools are right */
    for (int i = 0; i < f.p.n; i++) {
        part *e = &f.p.all[i];
        CHECK(forge(&f, i, "without", e->name) == KREIN_EARG);
        forge_size(&f, e);
        if (e->type == KREIN_TYPE_I64 && e->n == 1) forge_number(&f, e);
        if (e->type == KREIN_TYPE_I32) forge_kinds(&f, e);
        if (e->type == KREIN_TYPE_F64 || e->type == KREIN_TYPE_F32) forge_real(&f, e);
    }
    CHECK(f.good > 0 && f.refused > 100);
    krein_ctx_destroy(f.ctx);
    unlink(f.path);
}

/* What the numbers say together: each of these passes alone. */
static void together(const job *j, const char *path, const parts *state) {
    static const struct {
        const char *name[2];
        int64_t value[2];
    } cases[] = {{{"learned", "data.train"}, {0, 0}},
                 {{"learned", "chosen"}, {0, 0}},
                 {{"data.rows", "data.train"}, {0, 0}},
                 {{"data.rows", "data.train"}, {1 << 20, 1 << 20}},
                 {{"data.rows", "data.train"}, {INT64_MAX, INT64_MAX}},
                 {{"data.train", "data.held"}, {ROWS / 2, ROWS - ROWS / 2}},
                 {{"data.train", "data.dropped"}, {ROWS / 2, ROWS - ROWS / 2}},
                 {{"place.row", "place.streamed"}, {ROWS, ROWS}},
                 {{"place.streamed", "ridge.n"}, {1, 1}},
                 {{"place.from.row", "place.labels.row"}, {0, 0}},
                 {{"place.from.byte", "place.from.line"}, {INT64_MAX, INT64_MAX}},
                 {{"encoding.task", "classes"}, {2, 2}}};
    forger f = {.j = j, .path = path, .p = *state, .ctx = test_ctx(1)};
    for (int64_t k = 0; k < KREIN__COUNT(cases); k++) {
        part *e[2] = {NULL, NULL};
        int64_t old[2] = {0};
        for (int s = 0; s < 2; s++)
            for (int i = 0; i < f.p.n; i++)
                if (strcmp(f.p.all[i].name, cases[k].name[s]) == 0) e[s] = &f.p.all[i];
        for (int s = 0; s < 2; s++) {
            if (!e[s]) continue;
            memcpy(&old[s], e[s]->data, 8);
            set_int(e[s], cases[k].value[s]);
        }
        forge(&f, -1, cases[k].name[0], cases[k].name[1]);
        for (int s = 0; s < 2; s++)
            if (e[s]) set_int(e[s], old[s]);
    }
    krein_ctx_destroy(f.ctx);
    unlink(f.path);
}

static void forge_job(const job *j) {
    char path[320]; /* test_path keeps a few */
    snprintf(path, sizeof path, "%s", test_path("forged"));
    parts state = state_of(j, path);
    every_entry(j, path, &state);
    together(j, path, &state);
    drop_parts(&state);
}

/* Two columns: nearly all of the time is that of reading cells. */
static rows narrow(int64_t n, double noise, uint64_t seed) {
    rows r = make_rows(n, 2, 1, seed);
    for (int64_t i = 0; i < n; i++) {
        for (int j = 0; j < 2; j++) r.x[2 * i + j] = rintf(1000 * r.x[2 * i + j]) / 1000;
        r.y[i] =
            rint(100 * (sin(4 * (double)r.x[2 * i]) + (double)r.x[2 * i + 1]) + noise * normal());
        r.y[i] /= 100;
    }
    return r;
}

static void numbers(void) {
    rows r = narrow(ROWS, 1, 5);
    forge_job(&(job){"numbers", write_rows("a.csv", &r), NULL, "rff(D=8)", -1, NULL});
    drop(&r);
}

static void landmarks(void) {
    rows r = narrow(ROWS, 1, 5);
    forge_job(&(job){"landmarks", write_rows("a.csv", &r), NULL, "nystrom(D=8)", -1, NULL});
    drop(&r);
}

static void words(void) {
    const char *path = test_path("w.csv");
    FILE *f = fopen(path, "w");
    fprintf(f, "kind,a,colour,b\n");
    for (int i = 0; i < ROWS; i++)
        fprintf(f, "%s,%.5g,%s,%.5g\n", det(i, 0, 0) > 0 ? "high" : "low", det(i, 0, 1),
                i % 3 ? "red" : "blue", det(i, 1, 1));
    fclose(f);
    forge_job(&(job){"words", path, NULL, "rff(D=8)", -1, NULL});
}

/* Several files: the next row is in the second one. */
static void several(void) {
    char name[16];
    for (int k = 0; k < 3; k++) {
        rows r = narrow(ROWS / 3, 1, 5 + (uint64_t)k);
        snprintf(name, sizeof name, "p%d.csv", k);
        write_rows(name, &r);
        drop(&r);
    }
    forge_job(&(job){"several files", test_path("p?.csv"), NULL, "rff(D=8)", -1, NULL});
}

static void sparse(void) {
    const char *path = test_path("s.txt");
    FILE *f = fopen(path, "w");
    for (int i = 0; i < ROWS; i++)
        fprintf(f, "%.5g %d:%.5g %d:%.5g\n", det(i, 0, 0), 1 + i % 3, det(i, 0, 1), 4 + i % 4,
                det(i, 1, 1));
    fclose(f);
    forge_job(&(job){"sparse", path, NULL, "nystrom(D=8)", -1, NULL});
}

/* Rows in memory: there is no encoding in the state. Another run may not have the memory. */
static void in_memory(void) {
    rows r = narrow(ROWS, 1, 5);
    job j = {"in memory", write_rows("a.csv", &r), NULL, "rff(D=8)", KREIN_KEEP_MEMORY, NULL};
    const char *path = test_path("state");
    test_memory memory;
    char message[KREIN__MESSAGE];
    forge_job(&j);
    parts p = state_of(&j, path);
    drop_parts(&p);
    j.keep = KREIN_KEEP_STREAM;
    CHECK(train(&j, path, -1, &memory, message) == KREIN_OK);
    unlink(path);
    drop(&r);
}

/* A net on its way, from a file and in memory. */
static void nets(void) {
    rows r = narrow(200, 1, 5);
    char path[256];
    snprintf(path, sizeof path, "%s", write_rows("a.csv", &r));
    static const char learner[] = "askl(D=6, epochs=2, batch=60)";
    forge_job(&(job){"a net", path, NULL, NULL, KREIN_KEEP_STREAM, learner});
    forge_job(&(job){"a net in memory", path, NULL, NULL, KREIN_KEEP_MEMORY, learner});
    drop(&r);
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    RUN(numbers);
    RUN(landmarks);
    RUN(words);
    RUN(several);
    RUN(sparse);
    RUN(in_memory);
    RUN(nets);
    return DONE();
}
