/* ranks.c -- the program under a launcher (mpirun): which process works and prints, and how all end
 * with one status.
 *
 * Rank 0 alone prints. The standard output of the others is closed from the start; what they would
 * say on standard error is kept, and goes to rank 0 when the work fails. Standard error itself
 * stays open: what libraries and sanitizers say must not get lost.
 *
 * Some commands are for one process; they run on rank 0 and the others end at once. Some work
 * together. The rest is refused: it would run once for each rank, and write the same file. */
#include "cli/cli.h"

#include "base/base.h"
#include "dist/dist.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const char *const first_alone[] = {"plan", "info"}; /* and all that do not compute */
static const char *const together[] = {"compare", "evaluate", "fewshot", "predict",
                                       "ranks",   "select",   "train"};

static krein_launch launch = {.size = 1};
static bool joined;
static char kept[KREIN__MESSAGE]; /* what a silent rank had to say last */

bool cli_silent(void) { return launch.rank > 0; }

void cli_keep(const char *format, va_list list) { vsnprintf(kept, sizeof kept, format, list); }

void cli_ranks_begin(void) {
    launch = krein__launch();
    if (!cli_silent()) return;
    const int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0) dup2(nowhere, STDOUT_FILENO);
    if (nowhere > STDERR_FILENO) close(nowhere);
}

static bool in(const char *name, int64_t n, const char *const *list) {
    for (int64_t k = 0; k < n; k++)
        if (strcmp(name, list[k]) == 0) return true;
    return false;
}

static bool works_together(const cli_command *c) {
    return in(c->name, KREIN__COUNT(together), together);
}

bool cli_ranks_admit(cli_app *app, int *status) {
    const cli_command *c = app->command;
    *status = CLI_OK;
    if (cli_silent()) {
        app->args.quiet = true;
        app->args.verbose = false;
    }
    if (launch.size == 1 || works_together(c)) return true;
    if (!c->computes || in(c->name, KREIN__COUNT(first_alone), first_alone)) return !cli_silent();
    *status = cli_error(CLI_USAGE,
                        "%s runs in one process, but %s started %d; run it without %s, or with "
                        "KREIN_MPI=off where all of them shall do the same on their own",
                        c->name, launch.launcher, launch.size, launch.launcher);
    return false;
}

/* Where MPI itself is missing rank 0 hears nothing: the first rank of each machine speaks. */
static int cannot_join(cli_app *app) {
    if (launch.local_rank == 0)
        fprintf(stderr, "krein: rank %d: %s\n", launch.rank, cli_flags(krein_message(app->ctx)));
    return CLI_FAILED;
}

int cli_ranks_join(cli_app *app) {
    if (launch.size == 1 || !works_together(app->command)) return CLI_OK;
    if (krein__comm_open(app->ctx) != KREIN_OK) return cannot_join(app);
    joined = true;
    return CLI_OK;
}

/* The library's failure, or one that the program found by itself. */
static krein_status failure_of(cli_app *app, int status) {
    if (status == CLI_OK) return KREIN_OK;
    const krein_status st = status == CLI_USAGE ? KREIN_EARG : KREIN_EIO;
    return *kept ? krein__fail(app->ctx, st, "%s", kept) : st;
}

int cli_ranks_part(cli_app *app, int status) {
    if (!joined) return status;
    const krein_status st = krein__comm_agree(app->ctx, failure_of(app, status));
    /* Said before MPI ends: a launcher may kill all when the first has ended badly. */
    if (status == CLI_OK && st != KREIN_OK) status = cli_failure(app, st);
    /* Several may have failed, each in its own way: mpirun ends with the status of any. */
    if (cli_silent()) status = cli_status_of(st);
    krein__comm_close(app->ctx, st);
    return status;
}

int cli_ranks_end(int status) {
    enum { SECONDS = 2 };
    /* mpirun kills the others when one has ended badly: let rank 0 say why first. */
    if (status != CLI_OK && cli_silent() && !joined) sleep(SECONDS);
    return status;
}
