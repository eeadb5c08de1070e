/* file.c -- output files of the program itself, written whole or not at all.
 *
 * A temporary file beside the target is renamed over it at the end. What exists and is no
 * regular file (a device, a pipe) is written directly. Models and .npy files are written
 * by the library, which does the same. */
#include "cli/cli.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int complain(const char *path) {
    return cli_error(CLI_FAILED, "%s: %s", path, strerror(errno));
}

/* text with another one after it; malloced. */
static char *join(const char *text, size_t length, const char *end) {
    const size_t more = strlen(end) + 1;
    char *out = malloc(length + more);
    if (!out) return NULL;
    memcpy(out, text, length);
    memcpy(out + length, end, more);
    return out;
}

bool cli_file_open(cli_file *file, const char *path) {
    struct stat old;
    *file = (cli_file){.path = path};
    if (strcmp(path, "-") == 0) {
        file->stream = stdout;
        return true;
    }
    const bool exists = stat(path, &old) == 0;
    if (exists && !S_ISREG(old.st_mode)) {
        file->stream = fopen(path, "we");
        if (!file->stream) complain(path);
        return file->stream != NULL;
    }
    /* A link is followed: the file it names is replaced. */
    char *target = exists ? realpath(path, NULL) : strdup(path);
    file->temporary = target ? join(target, strlen(target), ".tmp.XXXXXX") : NULL;
    free(target);
    const int fd = file->temporary ? mkstemp(file->temporary) : -1;
    if (fd < 0) {
        complain(path);
        free(file->temporary);
        file->temporary = NULL;
        return false;
    }
    const mode_t mask = umask(0);
    umask(mask);
    if (fchmod(fd, exists ? old.st_mode & 0777 : 0666 & ~mask) == 0) file->stream = fdopen(fd, "w");
    if (file->stream) return true;
    complain(path);
    close(fd);
    cli_file_abort(file);
    return false;
}

bool cli_file_commit(cli_file *file) {
    if (file->stream == stdout) return true; /* main flushes it and looks for errors */
    bool good = fflush(file->stream) == 0 && !ferror(file->stream);
    if (good && file->temporary) good = fsync(fileno(file->stream)) == 0;
    if (fclose(file->stream) != 0) good = false;
    file->stream = NULL;
    if (good && file->temporary) {
        char *target = join(file->temporary, strlen(file->temporary) - strlen(".tmp.XXXXXX"), "");
        good = target && rename(file->temporary, target) == 0;
        free(target);
        if (good) {
            free(file->temporary);
            file->temporary = NULL;
        }
    }
    if (!good) complain(file->path);
    cli_file_abort(file);
    return good;
}

void cli_file_abort(cli_file *file) {
    if (file->stream && file->stream != stdout) fclose(file->stream);
    if (file->temporary) unlink(file->temporary);
    free(file->temporary);
    file->stream = NULL;
    file->temporary = NULL;
}

int cli_need_output(const cli_app *app) {
    const cli_args *a = &app->args;
    if (!a->output) return cli_error(CLI_USAGE, "%s: -o FILE is required", app->command->name);
    if (strcmp(a->output, "-") == 0 && a->json)
        return cli_error(CLI_USAGE, "%s: --json and -o - both want standard output",
                         app->command->name);
    return CLI_OK;
}

int64_t cli_file_size(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 ? (int64_t)status.st_size : -1;
}

static bool same_file(const char *path, const struct stat *other) {
    struct stat one;
    return strcmp(path, "-") != 0 && stat(path, &one) == 0 && one.st_dev == other->st_dev &&
           one.st_ino == other->st_ino;
}

/* Whether path is a pattern for several files, as the library takes it. */
static bool is_pattern(const char *path) {
    struct stat status;
    return strpbrk(path, "*?[") && stat(path, &status) != 0;
}

static bool is_input(const char *input, const struct stat *out) {
    glob_t found = {0};
    bool same = same_file(input, out);
    if (is_pattern(input) && glob(input, GLOB_NOSORT, NULL, &found) == 0)
        for (size_t k = 0; k < found.gl_pathc; k++) same |= same_file(found.gl_pathv[k], out);
    globfree(&found);
    return same;
}

int cli_check_output(const char *path, const char *input) {
    struct stat out, in;
    const char *slash = strrchr(path, '/');
    if (strcmp(path, "-") == 0) return CLI_OK;
    if (stat(path, &out) == 0) {
        if (S_ISDIR(out.st_mode)) return errno = EISDIR, complain(path);
        if (input && is_input(input, &out))
            return cli_error(CLI_USAGE,
                             "%s is the data and would be overwritten; name another file", path);
        if (!S_ISREG(out.st_mode)) return CLI_OK;
    }
    if (slash && !slash[1]) return errno = EISDIR, complain(path);
    char *folder = slash ? join(path, slash == path ? 1 : (size_t)(slash - path), "") : NULL;
    int status = CLI_OK;
    const bool directory = stat(folder ? folder : ".", &in) == 0 && S_ISDIR(in.st_mode);
    if (folder && !directory && errno != ENOENT) errno = ENOTDIR;
    if (!directory || access(folder ? folder : ".", W_OK | X_OK) != 0)
        status = cli_error(CLI_FAILED, "%s cannot be written: %s: %s", path,
                           folder ? folder : "this directory", strerror(errno));
    free(folder);
    return status;
}

char *cli_model_name(const char *data) {
    const char *slash = strrchr(data, '/'), *base = slash ? slash + 1 : data;
    size_t length = strlen(base);
    if (length > 3 && strcmp(base + length - 3, ".gz") == 0) length -= 3;
    for (size_t k = length; k-- > 1;)
        if (base[k] == '.') {
            length = k;
            break;
        }
    if (is_pattern(data)) { /* the text before the part that varies */
        length = strcspn(base, "*?[");
        while (length > 0 && strchr("-_.", base[length - 1])) length--;
        if (length == 0) return join("model", 5, ".krein");
    }
    return join(base, length, ".krein");
}
