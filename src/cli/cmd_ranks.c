/* cmd_ranks.c -- krein ranks: the processes that a launcher started, and what they have.
 *
 *   mpirun -n 4 krein ranks
 *
 * A look at the machine before a long run: where the ranks are, how many threads and how much
 * memory each takes, and how fast sums travel. KREIN_TEST_RANK makes one rank fail, for the tests:
 * "2" in the library, "2c" in the program. */
#include "cli/cli.h"

#include "base/base.h"
#include "base/threads.h"
#include "dist/dist.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DOUBLES = 1 << 20, TURNS = 5 };

typedef struct rank_info {
    char host[64];
    int64_t cpus, threads, bytes;
} rank_info;

static krein_status fail_for_tests(krein_ctx *ctx, int *status) {
    const char *text = getenv("KREIN_TEST_RANK");
    char *end;
    if (!text || strtol(text, &end, 10) != krein__comm_rank(ctx)) return KREIN_OK;
    if (*end != 'c') return krein__fail(ctx, KREIN_EDATA, "rank %s fails, as it was told", text);
    *status = cli_error(CLI_USAGE, "rank %s complains, as it was told", text);
    return KREIN_OK;
}

/* Bytes of the array, not those sent, in a second. */
static krein_status measure(krein_ctx *ctx, double *speed) {
    krein_status st = KREIN_OK;
    double *x = NULL, best = 0;
    ZNEW(x, DOUBLES);
    for (int k = 0; k < TURNS; k++) {
        TRY(krein__comm_barrier(ctx));
        const double start = krein__clock();
        TRY(krein__comm_sum(ctx, DOUBLES, x));
        const double now = (double)DOUBLES * sizeof *x / (krein__clock() - start);
        if (now > best) best = now;
    }
    *speed = best;
done:
    krein__free(ctx, x);
    return st;
}

static void print_json(int64_t n, const rank_info *all, double speed) {
    json_t *rows = json_array();
    for (int64_t r = 0; r < n; r++)
        json_array_append_new(
            rows, json_pack("{s:o, s:I, s:I, s:I}", "host", cli_json_text(all[r].host), "cpus",
                            (json_int_t)all[r].cpus, "threads", (json_int_t)all[r].threads,
                            "memory_bytes", (json_int_t)all[r].bytes));
    cli_print_json(json_pack("{s:s, s:I, s:o, s:o}", "command", "ranks", "n", (json_int_t)n,
                             "sum_bytes_per_second", n > 1 ? cli_json_number(speed) : json_null(),
                             "ranks", rows));
}

static void print_text(int64_t n, const rank_info *all, double speed) {
    char bytes[32];
    printf("%-6s%-24s%6s%9s  %s\n", "rank", "host", "CPUs", "threads", "memory");
    for (int64_t r = 0; r < n; r++)
        printf("%-6d%-24.23s%6d%9d  %s\n", (int)r, all[r].host, (int)all[r].cpus,
               (int)all[r].threads, krein__bytes_text((double)all[r].bytes, bytes));
    if (n > 1) printf("sums: %s a second\n", krein__bytes_text(speed, bytes));
}

int cli_cmd_ranks(cli_app *app) {
    krein_ctx *ctx = app->ctx;
    krein_status st = KREIN_OK;
    int status = CLI_OK;
    double speed = 0;
    char *all = NULL;
    int64_t *offset = NULL;
    rank_info mine = {
        .cpus = krein__cpu_count(), .threads = ctx->threads, .bytes = (int64_t)ctx->budget};
    gethostname(mine.host, sizeof mine.host - 1);
    TRY(krein__comm_gather(ctx, &mine, sizeof mine, &all, &offset));
    TRY(fail_for_tests(ctx, &status));
    if (status != CLI_OK) goto done;
    TRY(measure(ctx, &speed));
    if (app->args.json)
        print_json(krein__comm_size(ctx), (const rank_info *)(const void *)all, speed);
    else
        print_text(krein__comm_size(ctx), (const rank_info *)(const void *)all, speed);
done:
    krein__free(ctx, all);
    krein__free(ctx, offset);
    return st == KREIN_OK ? status : cli_failure(app, st);
}
