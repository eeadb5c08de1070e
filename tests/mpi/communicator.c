/* communicator.c -- a program that has MPI of its own and hands a communicator over to Krein.
 *
 *   communicator FIRST.csv SECOND.csv BAD.csv
 *
 * The processes of even rank train on the first file, those of odd rank at the same time on the
 * second, each half on a communicator of its own; then all together on the first. Writes
 * half0.krein, half1.krein and world.krein. Run by communicator.sh; prints what went wrong, and
 * its status says whether anything did. */
#include <krein.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, bad;
static krein_ctx *ctx;

static void check(int good, const char *what) {
    if (good) return;
    printf("FAILED: rank %d: %s: %s\n", rank, what, krein_message(ctx));
    bad++;
}

/* All processes of the communicator have the same bytes there. */
static void same(MPI_Comm comm, const void *bytes, int n, const char *what) {
    char first[1024] = {0};
    memcpy(first, bytes, (size_t)n);
    MPI_Bcast(first, n, MPI_BYTE, 0, comm);
    check(memcmp(first, bytes, (size_t)n) == 0, what);
}

static krein_data *open_file(const char *path) {
    krein_data *data = NULL;
    check(krein_data_open(ctx, path, NULL, &data) == KREIN_OK, "open");
    return data;
}

static krein_status train(krein_data *data, krein_model **out) {
    krein_train_options o;
    krein_train_options_init(&o);
    o.kernel = "gaussian(sigma=2)";
    o.features = 48;
    o.lambda = 1e-3;
    return krein_train(ctx, data, &o, NULL, out);
}

/* Rows without labels that all processes have cannot be added to rows that are divided. */
static krein_status in_memory(krein_data *data) {
    const float x[12] = {0};
    krein_model *model = NULL;
    krein_data *more = NULL;
    krein_train_options o;
    krein_train_options_init(&o);
    check(krein_data_from_dense(ctx, 2, 6, x, 6, NULL, NULL, NULL, &more) == KREIN_OK, "rows");
    o.learner = "sskrr(parts=1)";
    o.unlabeled = more;
    o.features = 48;
    o.lambda = 1e-3;
    const krein_status st = krein_train(ctx, data, &o, NULL, &model);
    krein_model_destroy(model);
    krein_data_close(more);
    return st;
}

static krein_status count_row(void *user, const krein_prediction *p) {
    (void)p;
    ++*(int64_t *)user;
    return KREIN_OK;
}

/* Trains on the communicator, evaluates and predicts; the first process writes the model. */
static void work(MPI_Comm comm, const char *path, const char *out) {
    int me;
    krein_model *model = NULL;
    krein_metrics metrics = KREIN_SIZED(krein_metrics);
    const float row[2][6] = {{0.1f, -0.4f, 0.3f, 1, 0.2f, -1}, {-1, 0.5f, 0.9f, 0, -0.7f, 0.25f}};
    double value[2] = {0};
    int64_t told = 0;
    MPI_Comm_rank(comm, &me);
    check(krein_ctx_join(ctx, &comm) == KREIN_OK, "join");
    check(krein_ctx_join(ctx, &comm) == KREIN_EARG, "join twice");
    krein_data *data = open_file(path);
    check(train(data, &model) == KREIN_OK, "train");
    if (model) {
        check(krein_evaluate(ctx, model, data, &metrics) == KREIN_OK, "evaluate");
        same(comm, &metrics.rmse, sizeof metrics.rmse, "the same metrics");
        check(metrics.n == 6000, "all rows are evaluated");
        krein_metrics_clear(ctx, &metrics);
        check(krein_predict(ctx, model, data, count_row, &told) == KREIN_OK, "predict");
        check(told == (me == 0 ? 6000 : 0), "the first process has the predictions");
        check(krein_predict_dense(ctx, model, 2, 6, row[0], 6, value) == KREIN_OK, "predict rows");
        same(comm, value, sizeof value, "the same model");
        if (me == 0) check(krein_model_save(ctx, model, out) == KREIN_OK, "save");
    }
    check(krein_ctx_leave(ctx) == KREIN_OK, "leave");
    if (model) { /* by itself again: each predicts all rows of the same data */
        told = 0;
        check(krein_predict(ctx, model, data, count_row, &told) == KREIN_OK, "predict alone");
        check(told == 6000, "all rows alone");
    }
    krein_model_destroy(model);
    krein_data_close(data);
}

/* One process finds a bad cell: all have its message. Then they go on. */
static void failure(MPI_Comm comm, const char *bad_path, const char *good) {
    int size;
    krein_model *model = NULL;
    char message[200] = {0};
    check(krein_ctx_join(ctx, &comm) == KREIN_OK, "join again");
    krein_data *data = open_file(bad_path);
    const krein_status st = train(data, &model);
    check(st == KREIN_EFORMAT || st == KREIN_EDATA, "a bad cell");
    snprintf(message, sizeof message, "%s", krein_message(ctx));
    same(comm, message, sizeof message, "the same message");
    check(strstr(message, "5991") != NULL, "the message has the place");
    krein_data_close(data);
    data = open_file(good);
    MPI_Comm_size(comm, &size);
    check(in_memory(data) == (size > 1 ? KREIN_EARG : KREIN_OK), "rows without labels in memory");
    check(size == 1 || strstr(krein_message(ctx), "in memory"), "rows in memory: message");
    check(train(data, &model) == KREIN_OK, "train after a failure");
    krein_model_destroy(model);
    krein_data_close(data);
    check(krein_ctx_leave(ctx) == KREIN_OK, "leave again");
}

/* The first process leaves instead of working: the others are told, and nobody waits. */
static void absent(MPI_Comm comm, const char *path) {
    int me;
    krein_model *model = NULL;
    MPI_Comm_rank(comm, &me);
    check(krein_ctx_join(ctx, &comm) == KREIN_OK, "join for a last time");
    krein_data *data = open_file(path);
    if (me > 0) check(train(data, &model) == KREIN_ENUMERIC, "one is missing");
    check(krein_ctx_leave(ctx) == (me > 0 ? KREIN_OK : KREIN_ENUMERIC), "leave out of step");
    check(strstr(krein_message(ctx), "out of step") != NULL, "out of step");
    krein_data_close(data);
}

static void refusals(void) {
    MPI_Comm none = MPI_COMM_NULL, world = MPI_COMM_WORLD;
    krein_ctx *other = NULL;
    check(krein_ctx_leave(ctx) == KREIN_OK, "leave without having joined");
    check(krein_ctx_join(ctx, &none) == KREIN_EIO, "no communicator");
    check(strstr(krein_message(ctx), "MPI_COMM_NULL") != NULL, "no communicator: message");
    check(krein_ctx_create(NULL, &other) == KREIN_OK, "another context");
    check(krein_ctx_join(ctx, &world) == KREIN_OK, "join all");
    check(krein_ctx_join(other, &world) == KREIN_EIO, "two at a time");
    check(strstr(krein_message(other), "another context") != NULL, "two at a time: message");
    check(krein_ctx_leave(ctx) == KREIN_OK, "leave all");
    check(krein_ctx_join(other, &world) == KREIN_OK, "then the other");
    check(krein_ctx_leave(other) == KREIN_OK, "the other leaves");
    krein_ctx_destroy(other);
}

int main(int argc, char **argv) {
    int level, size, all = 0;
    MPI_Comm half;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 4 || krein_ctx_create(NULL, &ctx) != KREIN_OK) MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    refusals();
    work(half, argv[1 + rank % 2], rank % 2 ? "half1.krein" : "half0.krein");
    failure(half, argv[3], argv[1]);
    work(MPI_COMM_WORLD, argv[1], "world.krein");
    if (size > 2) absent(half, argv[1]);
    krein_ctx_destroy(ctx);
    ctx = NULL;
    MPI_Comm_free(&half);
    MPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* MPI still runs */
    MPI_Finalize();
    if (rank == 0 && all == 0) printf("all good on %d\n", size);
    return all > 0;
}
