/* progress.c -- the progress bar and the messages on standard error.
 *
 *   solving                [##########..............]  42%   12 s
 *
 * The bar appears only where stderr is a terminal, after half a second of work, and is
 * erased before anything else is printed and at the end. */
#include "cli/cli.h"

#include "base/base.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { BAR_MAX = 40, ROOM = 42 }; /* ROOM: all that is not the bar */

void cli_progress_begin(cli_app *app) {
    const char *term = getenv("TERM");
    app->progress.wanted =
        !app->args.quiet && isatty(STDERR_FILENO) && !(term && strcmp(term, "dumb") == 0);
    app->progress.started = krein__clock();
}

void cli_progress_erase(cli_app *app) {
    if (!app->progress.shown) return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    app->progress.shown = false;
}

static int bar_width(void) {
    struct winsize window;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0) return BAR_MAX / 2;
    const int room = (int)window.ws_col - ROOM;
    return room > BAR_MAX ? BAR_MAX : room;
}

void cli_on_progress(void *user, const char *what, double done, double total) {
    cli_app *app = user;
    cli_progress *p = &app->progress;
    if (!p->wanted || cli_seconds(app) < 0.5) return;
    if (strncmp(p->what, what, sizeof p->what - 1) != 0) {
        snprintf(p->what, sizeof p->what, "%s", what);
        p->started = krein__clock();
    }
    const double seconds = krein__clock() - p->started;
    const int width = bar_width();
    if (total > 0 && width > 4) {
        const double part = done >= total ? 1 : done > 0 ? done / total : 0;
        const int full = (int)(part * width);
        char bar[BAR_MAX + 1];
        memset(bar, '.', (size_t)width);
        memset(bar, '#', (size_t)full);
        bar[width] = 0;
        fprintf(stderr, "\r%-22.22s [%s] %3d%% %6.0f s\033[K", what, bar, (int)(100 * part),
                seconds);
    } else {
        fprintf(stderr, "\r%-22.22s %6.0f s\033[K", what, seconds);
    }
    fflush(stderr);
    p->shown = true;
}

void cli_on_log(void *user, krein_log_level level, const char *text) {
    cli_app *app = user;
    if (app->args.quiet || (level == KREIN_LOG_DEBUG && !app->args.verbose)) return;
    cli_progress_erase(app);
    fprintf(stderr, "krein: %s%s\n", level == KREIN_LOG_WARNING ? "warning: " : "",
            cli_flags(text));
}
