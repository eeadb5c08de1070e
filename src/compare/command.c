/* command.c -- one run of another program: its files, its process, what it said.
 *
 * The rows of the split are written to a scratch folder (TMPDIR, else /tmp), the command is run by
 * /bin/sh, and its predictions are measured as ours are. seconds is the time from the start of the
 * shell to its end, bytes the largest resident memory of a process that it waited for. The
 * processes are a group of their own, which is ended where the comparison is cancelled, or time is
 * up. */
#include "compare/compare.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { PATH = 512, LAST_LINES = 3, LAST_TEXT = 400 };

/* ---- the scratch folder ------------------------------------------------- */

/* Names go into the command as they are. */
static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/+-";

static krein_status make_folder(krein_ctx *ctx, char folder[PATH]) {
    const char *where = getenv("TMPDIR");
    if (!where || !*where || strlen(where) > PATH - 64) where = "/tmp";
    if (where[strspn(where, plain)])
        return krein__fail(ctx, KREIN_EIO,
                           "TMPDIR is %s: a command needs names without blanks and signs", where);
    snprintf(folder, PATH, "%s/krein-compare-XXXXXX", where);
    if (mkdtemp(folder)) return KREIN_OK;
    return krein__fail(ctx, KREIN_EIO, "%s: %s; TMPDIR says where scratch files go", where,
                       strerror(errno));
}

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *walk) {
    (void)s, (void)kind, (void)walk;
    return remove(path);
}

static void remove_folder(const char *folder) {
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- the command -------------------------------------------------------- */

typedef struct files {
    char folder[PATH];
    char *name[4]; /* train, test, model, out */
    char *said;    /* what the command writes to standard error */
} files;

static const char *const words[] = {"{train}", "{test}", "{model}", "{out}"};

static krein_status make_files(krein_ctx *ctx, files *f) {
    static const char *const base[] = {"train.csv", "test.csv", "model", "out"};
    krein_status st = make_folder(ctx, f->folder);
    if (st != KREIN_OK) {
        f->folder[0] = 0;
        return st;
    }
    for (int k = 0; k < 4; k++)
        if (!(f->name[k] = krein__format(ctx, "%s/%s", f->folder, base[k]))) return ctx->status;
    if (!(f->said = krein__format(ctx, "%s/stderr", f->folder))) return ctx->status;
    return KREIN_OK;
}

static void clear_files(krein_ctx *ctx, files *f) {
    if (f->folder[0]) remove_folder(f->folder);
    for (int k = 0; k < 4; k++) krein__free(ctx, f->name[k]);
    krein__free(ctx, f->said);
}

static char *fill_in(krein_ctx *ctx, const char *command, const files *f) {
    size_t length = 1;
    for (const char *at = command; *at; at++) length += *at == '{' ? PATH : 1;
    char *text = krein__alloc(ctx, (int64_t)length, 1), *to = text;
    while (text && *command) {
        int k = 0;
        while (k < 4 && strncmp(command, words[k], strlen(words[k])) != 0) k++;
        if (k == 4) {
            *to++ = *command++;
            continue;
        }
        to = stpcpy(to, f->name[k]);
        command += strlen(words[k]);
    }
    if (text) *to = 0;
    return text;
}

/* The environment, with the number of threads of a run. */
static char **environment(krein_ctx *ctx, char threads[32]) {
    static const char name[] = "OMP_NUM_THREADS=";
    int64_t n = 0, kept = 0;
    while (environ[n]) n++;
    char **all = krein__alloc(ctx, n + 2, sizeof *all);
    if (!all) return NULL;
    for (int64_t i = 0; i < n; i++)
        if (strncmp(environ[i], name, sizeof name - 1) != 0) all[kept++] = environ[i];
    snprintf(threads, 32, "%s%d", name, ctx->threads);
    all[kept++] = threads;
    all[kept] = NULL;
    return all;
}

/* Signals as a program expects them, a group of its own, and streams that are not ours. */
static int start(const char *command, const char *said, char **env, pid_t *pid) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t how;
    sigset_t usual, none;
    char *argv[] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c", (char *)(uintptr_t)command,
                    NULL};
    sigemptyset(&none);
    sigemptyset(&usual);
    static const int signals[] = {SIGPIPE, SIGINT, SIGTERM, SIGQUIT, SIGHUP};
    for (size_t k = 0; k < sizeof signals / sizeof *signals; k++) sigaddset(&usual, signals[k]);
    if (posix_spawn_file_actions_init(&actions) != 0) return ENOMEM;
    if (posix_spawnattr_init(&how) != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return ENOMEM;
    }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, said, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
                                       POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&how, 0);
    posix_spawnattr_setsigdefault(&how, &usual);
    posix_spawnattr_setsigmask(&how, &none);
    const int error = posix_spawn(pid, "/bin/sh", &actions, &how, argv, env);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&how);
    return error;
}

static void rest(double seconds) {
    const struct timespec t = {(time_t)seconds, (long)(1e9 * (seconds - floor(seconds)))};
    nanosleep(&t, NULL);
}

/* Peak resident bytes so far of a process and those below it, as far as /proc tells. */
static double seen_bytes(long pid, int depth) {
    char path[64], line[256];
    static const char peak[] = "VmHWM:";
    double most = 0;
    snprintf(path, sizeof path, "/proc/%ld/status", pid);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, peak, sizeof peak - 1) == 0)
            most = 1024 * (double)strtol(line + sizeof peak - 1, NULL, 10); /* in kB */
    if (f) fclose(f);
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", pid, pid);
    if (depth == 0 || !(f = fopen(path, "r"))) return most;
    for (char *at = fgets(line, sizeof line, f); at;) { /* numbers with blanks between */
        char *end;
        const long child = strtol(at, &end, 10);
        if (end == at) break;
        most = fmax(most, seen_bytes(child, depth - 1));
        at = end;
    }
    fclose(f);
    return most;
}

/* Waits for the end of the process; asks now and then whether to go on, and how large it is. */
static krein_status await(krein_ctx *ctx, pid_t pid, double deadline, int *status,
                          struct rusage *usage, double *seen) {
    enum { GENERATIONS = 8 };
    krein_status st = KREIN_OK;
    double pause = 0.0005;
    for (*seen = 0;; *seen = fmax(*seen, seen_bytes(pid, GENERATIONS))) {
        const pid_t ended = wait4(pid, status, WNOHANG, usage);
        if (ended == pid) return KREIN_OK;
        if (ended < 0 && errno != EINTR)
            return krein__fail(ctx, KREIN_EIO, "waiting for its process: %s", strerror(errno));
        if ((st = krein__poll(ctx)) == KREIN_OK && krein__late(deadline))
            st = krein__fail(ctx, KREIN_ETIME, "it ran longer than `time_limit` and was ended");
        if (st != KREIN_OK) break;
        rest(pause);
        if (pause < 0.01) pause *= 2;
    }
    kill(-pid, SIGTERM);
    for (int tries = 0; tries < 100; tries++) {
        if (wait4(pid, status, WNOHANG, usage) == pid) return st;
        rest(0.01);
    }
    kill(-pid, SIGKILL);
    while (wait4(pid, status, 0, usage) < 0 && errno == EINTR) {
    }
    return st;
}

/* The last lines of what it said, with " | " between. */
static void last_lines(const files *of, char text[LAST_TEXT]) {
    const char *folder = of->folder;
    const size_t length = strlen(folder);
    FILE *f = fopen(of->said, "r");
    char end[LAST_TEXT];
    text[0] = 0;
    if (!f) return;
    if (fseek(f, 0, SEEK_END) == 0) {
        const long size = ftell(f);
        fseek(f, size > LAST_TEXT - 1 ? size - (LAST_TEXT - 1) : 0, SEEK_SET);
    }
    size_t n = fread(end, 1, sizeof end - 1, f);
    fclose(f);
    while (n > 0 && strchr("\r\n\t ", end[n - 1])) n--;
    end[n] = 0;
    size_t from = n;
    for (int lines = 0; from > 0; from--)
        if (end[from - 1] == '\n' && ++lines == LAST_LINES) break;
    size_t used = 0;
    for (size_t i = from; i < n && used + 4 < LAST_TEXT; i++) {
        if (strncmp(end + i, folder, length) == 0 && end[i + length] == '/') {
            i += length; /* the name of a scratch folder says nothing */
            continue;
        }
        if (end[i] != '\n') {
            text[used++] = end[i];
            continue;
        }
        memcpy(text + used, " | ", 3);
        used += 3;
    }
    text[used] = 0;
}

static krein_status judge(krein_ctx *ctx, int status, const files *f) {
    char text[LAST_TEXT];
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return KREIN_OK;
    last_lines(f, text);
    const char *colon = *text ? ": " : "";
    if (WIFSIGNALED(status))
        return krein__fail(ctx, KREIN_EIO, "it was ended by signal %d%s%s", WTERMSIG(status), colon,
                           text);
    return krein__fail(ctx, KREIN_EIO, "exit status %d%s%s", WEXITSTATUS(status), colon, text);
}

static double seconds_of(struct timeval t) { return (double)t.tv_sec + 1e-6 * (double)t.tv_usec; }

static krein_status call(krein_ctx *ctx, const char *command, const files *f, double limit,
                         krein_run *out) {
    krein_status st = KREIN_OK;
    struct rusage usage = {0}, own = {0};
    double seen;
    char threads[32], *text = fill_in(ctx, command, f), **env = environment(ctx, threads);
    pid_t pid;
    int status = 0;
    if (!text || !env) {
        st = ctx->status;
        goto done;
    }
    const double begin = krein__clock();
    const int error = start(text, f->said, env, &pid);
    if (error) {
        st = krein__fail(ctx, KREIN_EIO, "/bin/sh could not be started: %s", strerror(error));
        goto done;
    }
    /* As our own trainings may take a fifth and a second more. */
    getrusage(RUSAGE_SELF, &own);
    TRY(await(ctx, pid, limit > 0 ? begin + 1.2 * limit + 1 : 0, &status, &usage, &seen));
    out->seconds = krein__clock() - begin;
    out->cpu = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    out->bytes =
        usage.ru_maxrss > own.ru_maxrss || seen == 0 ? 1024 * (double)usage.ru_maxrss : seen;
    TRY(judge(ctx, status, f));
done:
    krein__free(ctx, text);
    krein__free(ctx, env);
    return st;
}

krein_status krein__run_command(const krein_comparison *c, krein_ctx *ctx, int64_t set,
                                int64_t split, const krein_method *m, krein_run *out) {
    krein_status st = KREIN_OK;
    krein_data *data = NULL;
    krein_split rows = {0};
    files f = {0};
    TRY(make_files(ctx, &f));
    TRY(c->o.open(c->o.user, ctx, set, &data));
    TRY(krein__split_write(data, c->o.holdout, c->train.seed + (uint64_t)split, f.name[0],
                           f.name[1], &rows));
    krein_data_close(data);
    data = NULL;
    TRY(call(ctx, m->command, &f, c->train.time_limit, out));
    TRY(krein__split_measure(ctx, &rows, f.name[3], c->measure, &out->value));
done:
    krein__split_clear(ctx, &rows);
    krein_data_close(data);
    clear_files(ctx, &f);
    return st;
}
