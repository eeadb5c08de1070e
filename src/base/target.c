/* target.c -- see target.h. */
#include "base/target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES = 1000, LINKS = 40 };

krein_status krein__target_failure(krein_ctx *ctx, const char *path, int error) {
    const char *advice = "";
    switch (error) {
    case ENOSPC:
    case EDQUOT:
        advice = "; free some space or write to another disk";
        break;
    case EACCES:
    case EPERM:
    case EROFS:
        advice = "; choose a place that you may write to";
        break;
    case ENOENT:
    case ENOTDIR:
        advice = "; create the directory first";
        break;
    case EISDIR:
        advice = "; give the name of a file";
        break;
    case EFBIG:
        advice = "; the file system or a limit (ulimit -f) allows no larger file";
        break;
    default:
        break;
    }
    return krein__fail(ctx, KREIN_EIO, "%s: %s%s", path, strerror(error), advice);
}

/* ---- what path names ---------------------------------------------------- */

/* The descriptor that path is a name of, or -1. Opening such a name would start a regular file
 * behind it from its beginning again. */
static int descriptor(const char *path) {
    static const char folder[] = "/dev/fd/";
    char *end;
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0) return STDERR_FILENO;
    if (strncmp(path, folder, sizeof folder - 1) != 0) return -1;
    const char *digits = path + sizeof folder - 1;
    const long fd = strtol(digits, &end, 10);
    return end > digits && !*end && fd >= 0 && fd <= INT_MAX && fcntl((int)fd, F_GETFD) >= 0
               ? (int)fd
               : -1;
}

/* The file that path names, which need not exist. */
static krein_status follow(krein_target *t) {
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    char link[PATH_MAX];
    DUP(t->file, t->path);
    for (int k = 0; k < LINKS; k++) {
        const ssize_t n = readlink(t->file, link, sizeof link - 1);
        if (n < 0) return KREIN_OK; /* no link, or nothing yet */
        link[n] = 0;
        const char *slash = strrchr(t->file, '/');
        const int folder = *link == '/' || !slash ? 0 : (int)(slash - t->file) + 1;
        char *next = krein__format(ctx, "%.*s%s", folder, t->file, link);
        if (!next) return ctx->status;
        krein__free(ctx, t->file);
        t->file = next;
    }
    st = krein__target_failure(ctx, t->path, ELOOP);
done:
    return st;
}

/* ---- the temporary file ------------------------------------------------- */

/* name is BASE.tmp.NUMBER-NUMBER. */
static bool is_temporary(const char *name, const char *base) {
    static const char middle[] = ".tmp.", digits[] = "0123456789";
    const size_t n = strlen(base);
    if (strncmp(name, base, n) != 0 || strncmp(name + n, middle, sizeof middle - 1) != 0)
        return false;
    const char *p = name + n + sizeof middle - 1;
    const size_t pid = strspn(p, digits),
                 k = pid && p[pid] == '-' ? strspn(p + pid + 1, digits) : 0;
    return k && !p[pid + 1 + k];
}

/* Removes a temporary file whose owner is gone: nobody holds its lock. */
static void remove_dead(int folder, const char *name) {
    struct stat s;
    const int fd = openat(folder, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return;
    if (fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0)
        (void)unlinkat(folder, name, 0);
    (void)close(fd);
}

static void remove_all_dead(const krein_target *t) {
    const char *slash = strrchr(t->file, '/'), *base = slash ? slash + 1 : t->file;
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - t->file) + 1 : 1,
             slash ? t->file : ".");
    DIR *all = opendir(folder);
    if (!all) return;
    for (const struct dirent *e; (e = readdir(all));)
        if (is_temporary(e->d_name, base)) remove_dead(dirfd(all), e->d_name);
    (void)closedir(all);
}

/* Locks the file that was just made. False: another process took it for a dead one's meanwhile. */
static bool lock(int fd) {
    struct stat s;
    /* Where there are no locks nobody else can take it. */
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) return errno != EWOULDBLOCK;
    return fstat(fd, &s) != 0 || s.st_nlink > 0;
}

/* A file beside the target that nobody else has, with the mode of the one it replaces. */
static krein_status create_temporary(krein_target *t, const struct stat *old) {
    krein_ctx *ctx = t->ctx;
    for (int k = 0; k < TRIES; k++) {
        char *name = krein__format(ctx, "%s.tmp.%ld-%d", t->file, (long)getpid(), k);
        if (!name) return ctx->status;
        t->fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        const int error = t->fd < 0 ? errno : 0;
        if (t->fd >= 0 && lock(t->fd)) {
            t->temporary = name;
            /* Where that is refused the file has the umask's mode, which is no loss. */
            if (old && fchmod(t->fd, old->st_mode & 0777) != 0) errno = 0;
            return KREIN_OK;
        }
        krein__free(ctx, name);
        if (t->fd >= 0) (void)close(t->fd);
        t->fd = -1;
        if (error && error != EEXIST) return krein__target_failure(ctx, t->path, error);
    }
    return krein__fail(ctx, KREIN_EIO,
                       "%s: cannot make a temporary file beside it; remove %s.tmp.*", t->path,
                       t->path);
}

/* ---- open, commit, drop ------------------------------------------------- */

static krein_status open_target(krein_target *t) {
    krein_ctx *ctx = t->ctx;
    krein_status st = KREIN_OK;
    struct stat old;
    if (!*t->path) return krein__fail(ctx, KREIN_EARG, "output: the file name is empty");
    t->fd = descriptor(t->path);
    t->borrowed = t->fd >= 0;
    if (t->borrowed) return KREIN_OK;
    const bool exists = stat(t->path, &old) == 0;
    if (exists && S_ISDIR(old.st_mode)) return krein__target_failure(ctx, t->path, EISDIR);
    if (exists && !S_ISREG(old.st_mode)) {
        t->fd = open(t->path, O_WRONLY | O_CLOEXEC);
        return t->fd >= 0 ? KREIN_OK : krein__target_failure(ctx, t->path, errno);
    }
    /* A read-only file in a writable directory could be replaced; its owner said no. */
    if (exists && access(t->path, W_OK) != 0) return krein__target_failure(ctx, t->path, errno);
    TRY(follow(t));
    remove_all_dead(t);
    TRY(create_temporary(t, exists ? &old : NULL));
done:
    return st;
}

krein_status krein__target_open(krein_ctx *ctx, const char *path, krein_target *out) {
    krein_status st = KREIN_OK;
    *out = (krein_target){.ctx = ctx, .fd = -1};
    DUP(out->path, path);
    TRY(open_target(out));
done:
    if (st != KREIN_OK) krein__target_drop(out);
    return st;
}

static krein_status finish(krein_target *t) {
    /* Some file systems have no fsync; close still reports what they lost. */
    if (t->temporary && fsync(t->fd) != 0 && errno != EINVAL && errno != ENOTSUP)
        return krein__target_failure(t->ctx, t->path, errno);
    if (t->borrowed) return KREIN_OK;
    /* The lock stays until the temporary name is gone. */
    const int held = fcntl(t->fd, F_DUPFD_CLOEXEC, 0);
    const int r = close(t->fd);
    krein_status st = KREIN_OK;
    t->fd = -1;
    if ((r != 0 && errno != EINTR) || (t->temporary && rename(t->temporary, t->file) != 0)) {
        st = krein__target_failure(t->ctx, t->path, errno);
    } else {
        krein__free(t->ctx, t->temporary);
        t->temporary = NULL;
    }
    if (held >= 0) (void)close(held);
    return st;
}

krein_status krein__target_commit(krein_target *t) {
    const krein_status st = finish(t);
    krein__target_drop(t);
    return st;
}

void krein__target_drop(krein_target *t) {
    if (!t->ctx) return;
    if (t->fd >= 0 && !t->borrowed) (void)close(t->fd);
    if (t->temporary) (void)unlink(t->temporary);
    krein__free(t->ctx, t->temporary);
    krein__free(t->ctx, t->file);
    krein__free(t->ctx, t->path);
    *t = (krein_target){.fd = -1};
}
