/* main.c -- finds the command, sets up context and signals, turns results into exit statuses.
 *
 *   0  success
 *   1  the work failed, was cancelled, or its results could not be written
 *   2  the call was wrong: KREIN_EARG, KREIN_ESPEC, options, operands
 */
#include "cli/cli.h"

#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <unistd.h>

static volatile sig_atomic_t stop;

static void on_signal(int number) { stop = number; }

bool cli_cancelled(void) { return stop != 0; }

static int on_cancel(void *user) {
    (void)user;
    return stop != 0;
}

/* The first Ctrl-C asks the library to stop, the second one ends the program: SA_RESETHAND.
 * SIGINT is taken also where a script's "&" has set it to be ignored, so that kill -INT
 * works there. Writing to a closed pipe is an error like others. */
static void catch_signals(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    action.sa_handler = on_signal;
    action.sa_flags = (int)SA_RESETHAND;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    action.sa_handler = SIG_IGN;
    action.sa_flags = 0;
    sigaction(SIGPIPE, &action, NULL);
}

/* A descriptor 0, 1 or 2 that is closed would be given to the next file that is opened,
 * and our messages would land in it. Reading only: writing to it stays an error. */
static void fill_descriptors(void) {
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) < 0) _exit(CLI_FAILED);
}

/* ---- messages ----------------------------------------------------------- */

int cli_error(int status, const char *format, ...) {
    va_list list;
    va_start(list, format);
    if (cli_silent()) {
        cli_keep(format, list);
    } else {
        fputs("krein: ", stderr);
        cli_put_safe(stderr, format, list);
        fputc('\n', stderr);
    }
    va_end(list);
    return status;
}

bool cli_stdout_gone(void) {
    struct pollfd fd = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&fd, 1, 0) > 0 && (fd.revents & POLLERR);
}

int cli_status_of(krein_status status) {
    if (status == KREIN_OK) return CLI_OK;
    return status == KREIN_EARG || status == KREIN_ESPEC ? CLI_USAGE : CLI_FAILED;
}

int cli_failure(cli_app *app, krein_status status) {
    cli_progress_erase(app);
    if (cli_cancelled() && status == KREIN_ECANCEL && app->args.checkpoint)
        return cli_error(CLI_FAILED, "%s", cli_flags(krein_message(app->ctx)));
    if (cli_cancelled())
        return cli_error(CLI_FAILED,
                         app->streamed ? "cancelled" : "cancelled; nothing was written");
    if (status == KREIN_EIO && cli_stdout_gone()) return CLI_FAILED;
    const char *text = app->ctx ? cli_flags(krein_message(app->ctx)) : "";
    cli_error(CLI_FAILED, "%s", *text ? text : krein_status_text(status));
    return cli_status_of(status);
}

double cli_seconds(const cli_app *app) { return krein__clock() - app->started; }

/* What is still in the buffer of stdout may not fit on the disk. */
static int finish(int status) {
    errno = 0;
    const bool bad = fflush(stdout) != 0 || ferror(stdout);
    if (!bad) return status;
    if (errno != EPIPE && !cli_stdout_gone())
        cli_error(CLI_FAILED, "standard output: %s", errno ? strerror(errno) : "write error");
    return status == CLI_OK ? CLI_FAILED : status;
}

/* ---- OpenBLAS and OpenMP ------------------------------------------------ */

/* The OpenBLAS of Debian 12 does not know recent CPUs and runs them on code for a Prescott
 * (SSE3), ten times slower than need be; a choice that OPENBLAS_CORETYPE alone can override.
 * KREIN_TEST_CORE stands in for OpenBLAS's choice in the tests: the core "better" than that is
 * then the one that runs now, which every CPU can run. True when the variable was set here. */
static bool better_blas(bool verbose) {
    const char *set = getenv("OPENBLAS_CORETYPE"), *pretended = getenv("KREIN_TEST_CORE");
    if (set && *set) return false;
    const char *better, *chosen = krein_blas_core(&better);
    if (pretended) {
        if (!better) better = chosen;
        chosen = pretended;
    }
    if (!better || (chosen && strcasecmp(chosen, better) == 0)) return false;
    if (setenv("OPENBLAS_CORETYPE", better, 1) != 0) return false;
    if (verbose)
        cli_error(0, "OpenBLAS chose %s; restarted with %s", chosen ? chosen : "nothing", better);
    return true;
}

/* Threads of libgomp that spin while they wait take the CPU from those that work as soon as the
 * machine has anything else to do (measured at a load of five: twenty times slower; at a load of
 * three once the other way, 7 s against 11). True when set here. */
static bool patient_threads(void) {
    return !getenv("OMP_WAIT_POLICY") && setenv("OMP_WAIT_POLICY", "passive", 1) == 0;
}

/* The threads of OpenBLAS are never used, and each maps 128 MB when the program starts. True when
 * set here. */
static bool no_blas_threads(void) {
    return !getenv("OPENBLAS_NUM_THREADS") && setenv("OPENBLAS_NUM_THREADS", "1", 1) == 0;
}

/* Both libraries read their variables when they are loaded, before main: so the program starts
 * itself again, once; KREIN_REEXEC marks the second start. */
static void right_start(char **argv, bool verbose) {
    if (getenv("KREIN_REEXEC")) {
        unsetenv("KREIN_REEXEC");
        return;
    }
    const bool blas = better_blas(verbose), threads = patient_threads(), alone = no_blas_threads();
    if ((!blas && !threads && !alone) || setenv("KREIN_REEXEC", "1", 1) != 0) return;
    execv("/proc/self/exe", argv);
    if (verbose) cli_error(0, "restarting failed: %s; going on as it is", strerror(errno));
    unsetenv("KREIN_REEXEC");
}

/* ---- commands ----------------------------------------------------------- */

static int run(cli_app *app) {
    krein_ctx_options options;
    krein_ctx_options_init(&options);
    options.threads = (int)app->args.threads;
    options.max_memory = app->args.max_memory;
    options.log = cli_on_log;
    options.progress = cli_on_progress;
    options.cancel = on_cancel;
    options.user = app;
    if (krein_ctx_create(&options, &app->ctx) != KREIN_OK)
        return cli_error(CLI_FAILED, "out of memory");
    catch_signals();
    int status = cli_ranks_join(app);
    if (status == CLI_OK) {
        cli_progress_begin(app);
        status = app->command->run(app);
        cli_progress_erase(app);
        status = cli_ranks_part(app, finish(status));
    }
    krein_ctx_destroy(app->ctx);
    app->ctx = NULL;
    return status;
}

static int no_such_command(const char *name) {
    const char *near = cli_nearest_command(name);
    if (name[0] == '-')
        return cli_error(CLI_USAGE, "options come after the command: krein COMMAND %s", name);
    if (near)
        return cli_error(CLI_USAGE, "there is no command '%s'; did you mean '%s'?", name, near);
    return cli_error(CLI_USAGE, "there is no command '%s'; see 'krein help'", name);
}

static int call(int argc, char **argv) {
    if (argc < 2) {
        if (!cli_silent()) cli_print_usage(stderr);
        return CLI_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        printf("krein %s\n", krein_version());
        return finish(CLI_OK);
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) name = "help";

    cli_app app = {.command = cli_find_command(name), .started = krein__clock()};
    if (!app.command) return no_such_command(name);
    cli_defaults(&app.args);
    if (!cli_parse(app.command, argc - 1, argv + 1, &app.args)) return CLI_USAGE;
    if (app.args.help) {
        cli_print_help(stdout, app.command);
        return finish(CLI_OK);
    }
    int status;
    if (!cli_ranks_admit(&app, &status)) return status;
    if (!app.command->computes) return finish(app.command->run(&app));
    right_start(argv, app.args.verbose);
    return run(&app);
}

/* Under a limit of the address space (ulimit -v) a thread of OpenBLAS may wait for ever for the
 * buffer that it wants at the start; leaving main would wait for that thread. */
static int leave(int status) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        (void)fflush(NULL);
        _exit(status);
    }
    return status;
}

int main(int argc, char **argv) {
    fill_descriptors();
    signal(SIGPIPE, SIG_IGN);
    cli_ranks_begin();
    return leave(cli_ranks_end(call(argc, argv)));
}
