/* mpi [DATA.csv] -- the processes of a program that uses MPI train one model together.
 *
 *     mpicc mpi.c -o mpi $(pkg-config --cflags --libs krein)
 *     mpirun -n 4 ./mpi
 *
 * Each process reads a part of the rows, and all get the same model. Without an argument the first
 * process writes a synthetic file, mpi.csv; it leaves mpi.krein in the current directory. */
#include <krein.h>
#include <mpi.h>
#include <stdio.h>

static krein_status write_data(krein_ctx *ctx, const char *path) {
    krein_generate_options o;
    krein_generate_options_init(&o);
    o.n = 8000;
    o.seed = 1;
    return krein_generate(ctx, "friedman", &o, path);
}

/* Every process calls this, with the same options; the first one writes. */
static krein_status train(krein_ctx *ctx, const char *path, int rank) {
    krein_data *data = NULL;
    krein_model *model = NULL;
    krein_report report = KREIN_SIZED(krein_report);
    krein_train_options o;
    krein_train_options_init(&o);
    o.features = 256;
    o.holdout = 0.2;
    krein_status st = krein_data_open(ctx, path, NULL, &data);
    if (st == KREIN_OK) st = krein_train(ctx, data, &o, &report, &model);
    if (st == KREIN_OK) {
        if (rank == 0)
            printf("%lld rows, %s: held-out rmse %.4f\n", (long long)report.n, report.kernel,
                   report.test->rmse);
        krein_report_clear(ctx, &report);
        if (rank == 0) st = krein_model_save(ctx, model, "mpi.krein");
    }
    krein_model_destroy(model);
    krein_data_close(data);
    return st;
}

int main(int argc, char **argv) {
    int rank, level;
    krein_ctx *ctx = NULL;
    MPI_Comm all = MPI_COMM_WORLD; /* or any other communicator of the program */
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(all, &rank);
    const char *path = argc > 1 ? argv[1] : "mpi.csv";
    krein_status st = krein_ctx_create(NULL, &ctx);
    if (st == KREIN_OK && argc < 2 && rank == 0) st = write_data(ctx, path);
    /* A process that does not take part would be waited for: what fails before ends all. */
    if (st == KREIN_OK) st = krein_ctx_join(ctx, &all);
    if (st != KREIN_OK) {
        fprintf(stderr, "%s\n", krein_message(ctx));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    st = train(ctx, path, rank);
    if (st != KREIN_OK && rank == 0) fprintf(stderr, "%s\n", krein_message(ctx));
    krein_ctx_leave(ctx);
    krein_ctx_destroy(ctx);
    MPI_Finalize();
    return st != KREIN_OK;
}
