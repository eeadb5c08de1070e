/* file.c -- output files of the program itself, as streams over base/target.h; questions about
 * paths. Models and .npy files are written by the library. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
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

/* The stream has a descriptor of its own: closing it leaves the target's open. */
static FILE *stream_of(const krein_target *t) {
    if (t->fd == STDOUT_FILENO) return stdout;
    const int fd = fcntl(t->fd, F_DUPFD_CLOEXEC, 0);
    FILE *stream = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!stream && fd >= 0) close(fd);
    return stream;
}

bool cli_file_open(cli_app *app, cli_file *file, const char *path) {
    file->stream = NULL;
    if (krein__target_open(app->ctx, path, &file->target) != KREIN_OK) {
        cli_error(0, "%s", krein_message(app->ctx));
        return false;
    }
    file->stream = stream_of(&file->target);
    if (file->stream) return true;
    complain(path);
    cli_file_abort(file);
    return false;
}

bool cli_file_commit(cli_file *file) {
    if (file->stream == stdout) return true; /* main flushes it and looks for errors */
    krein_ctx *ctx = file->target.ctx;
    bool good = fflush(file->stream) == 0 && !ferror(file->stream);
    if (fclose(file->stream) != 0) good = false;
    file->stream = NULL;
    if (!good) {
        complain(file->target.path);
    } else if (krein__target_commit(&file->target) != KREIN_OK) {
        cli_error(0, "%s", krein_message(ctx));
        good = false;
    }
    cli_file_abort(file);
    return good;
}

void cli_file_abort(cli_file *file) {
    if (file->stream && file->stream != stdout) fclose(file->stream);
    file->stream = NULL;
    krein__target_drop(&file->target);
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

int cli_check_place(const char *path) {
    struct stat out, in;
    const char *slash = strrchr(path, '/');
    if (strcmp(path, "-") == 0) return CLI_OK;
    if (stat(path, &out) == 0) {
        if (S_ISDIR(out.st_mode)) return errno = EISDIR, complain(path);
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

int cli_check_output(const cli_args *a, const char *path) {
    struct stat out;
    const char *const others[] = {a->labels, a->data, a->test, a->unlabeled, a->train};
    bool input = false;
    if (strcmp(path, "-") != 0 && stat(path, &out) == 0) {
        for (int k = 0; k < a->operands; k++) input |= is_input(a->operand[k], &out);
        for (size_t k = 0; k < sizeof others / sizeof *others; k++)
            input |= others[k] && is_input(others[k], &out);
    }
    if (input)
        return cli_error(CLI_USAGE, "%s is read and would be overwritten; name another file", path);
    return cli_check_place(path);
}

int cli_check_apart(const char *path, const char *other) {
    struct stat out;
    if (!path || !other || strcmp(path, "-") == 0) return CLI_OK;
    if (strcmp(path, other) != 0 &&
        (stat(path, &out) != 0 || !S_ISREG(out.st_mode) || !same_file(other, &out)))
        return CLI_OK;
    return cli_error(CLI_USAGE, "two outputs are to go to the same file, %s; name two", path);
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

int cli_check_plot(const cli_app *app) {
    const char *plot = app->args.plot, *ending = strrchr(plot, '.');
    if (!ending || strcasecmp(ending, ".svg") != 0)
        return cli_error(CLI_USAGE, "%s: plots are SVG: name a file in .svg, not %s",
                         app->command->name, plot);
    return cli_check_output(&app->args, plot);
}

int cli_plot_write(cli_app *app, void (*draw)(krein_buffer *f, const void *what),
                   const void *what) {
    cli_file file;
    krein_buffer text = {.ctx = app->ctx};
    int status = CLI_FAILED;
    draw(&text, what);
    if (text.status != KREIN_OK)
        status = cli_failure(app, text.status);
    else if (cli_file_open(app, &file, app->args.plot)) {
        fwrite(text.text, 1, text.size, file.stream);
        if (cli_file_commit(&file)) status = CLI_OK;
        cli_file_abort(&file);
    }
    krein__buffer_end(&text);
    return status;
}

typedef struct figure {
    const char *title;
    int n;
    const krein_svg_plot *plots;
} figure;

static void draw_figure(krein_buffer *f, const void *what) {
    const figure *one = what;
    krein__svg_figure(f, one->title, one->n, one->plots);
}

int cli_figure_write(cli_app *app, const char *title, int n, const krein_svg_plot *plots) {
    const figure one = {title, n, plots};
    return cli_plot_write(app, draw_figure, &one);
}
