/* ctx.c -- the context: message, log, progress, cancel, clock, options. */
#include "base/base.h"

#include "base/sized.h"
#include "base/text.h"
#include "base/threads.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

const char *krein_status_text(krein_status status) {
    switch (status) {
#define STATUS(name, value, text)                                                                  \
    case name:                                                                                     \
        return text;
        KREIN_STATUS_LIST(STATUS)
#undef STATUS
    }
    return "unknown status";
}

const char *krein_version(void) { return KREIN_VERSION_STRING; }

/* MemAvailable of /proc/meminfo, else 80% of the physical memory. */
static uint64_t available_memory(void) {
    FILE *f = fopen("/proc/meminfo", "r");
    char line[256];
    static const char key[] = "MemAvailable:";
    unsigned long long kb = 0;
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, key, sizeof key - 1) == 0) kb = strtoull(line + sizeof key - 1, NULL, 10);
    if (f) fclose(f);
    if (kb > 0) return (uint64_t)kb * 1024;
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 5 * 4 : (uint64_t)1 << 32;
}

/* What a thread may map beside the budget: OpenBLAS's buffer (128 MB), its stack (8 MB), an arena
 * of the C library (64 MB). */
static const uint64_t THREAD_SPACE = (uint64_t)200 << 20;

/* Under ulimit -v OpenBLAS waits for ever for a buffer that it does not get. So its room is kept
 * free: by fewer threads, where their number is ours to choose, and by a smaller budget. */
static void fit_address_space(krein_ctx *ctx) {
    struct rlimit limit;
    unsigned long long pages = 0;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
    FILE *f = fopen("/proc/self/statm", "r");
    char line[128];
    if (f && fgets(line, sizeof line, f)) pages = strtoull(line, NULL, 10);
    if (f) fclose(f);
    const uint64_t all = (uint64_t)limit.rlim_cur;
    const uint64_t used = (uint64_t)pages * (uint64_t)sysconf(_SC_PAGE_SIZE);
    const uint64_t left = all > used ? all - used : 0;
    while (!ctx->own_threads && ctx->threads > 1 &&
           (uint64_t)ctx->threads * THREAD_SPACE > left / 2)
        ctx->threads--;
    const uint64_t taken = (uint64_t)ctx->threads * THREAD_SPACE;
    const uint64_t most = left > taken ? (left - taken) / 10 * 9 : 0;
    if (ctx->budget <= most) return;
    ctx->budget = most;
    ctx->space = all;
}

void krein_ctx_options_init_sized(krein_ctx_options *given, size_t size) {
    krein_ctx_options own = KREIN_SIZED(krein_ctx_options), *options = &own;

    krein__options_give(given, size, options);
}

/* Not in large pages: on a virtual machine with fresh memory these took up to twice as long to be
 * cleared, and no command was clearly faster with them (docs/results/speed.md). */
static void *malloc_alloc(void *user, size_t bytes) {
    (void)user;
    return malloc(bytes);
}
static void malloc_release(void *user, void *p) {
    (void)user;
    free(p);
}

krein_status krein_ctx_create(const krein_ctx_options *given, krein_ctx **out) {
    krein_ctx_options options;
    krein_ctx_options_init(&options);
    *out = NULL;
    if (given && (given->size < sizeof given->size || /* never initialised */
                  !krein__sized_known(given, sizeof options)))
        return KREIN_EARG;
    if (given) memcpy(&options, given, given->size < sizeof options ? given->size : sizeof options);
    if (!options.memory.alloc) {
        options.memory.alloc = malloc_alloc;
        options.memory.release = malloc_release;
    }
    *out = NULL;
    krein_ctx *ctx = options.memory.alloc(options.memory.user, sizeof *ctx);
    if (!ctx) return KREIN_EMEMORY;
    memset(ctx, 0, sizeof *ctx);
    ctx->memory = options.memory;
    ctx->threads = options.threads;
    ctx->own_threads = options.threads > 0;
    if (ctx->threads <= 0) {
        const char *text = getenv("OMP_NUM_THREADS");
        long asked = text ? strtol(text, NULL, 10) : 0;
        const bool valid = asked > 0 && asked <= 4096;
        ctx->threads = valid ? (int)asked : krein__cpu_count();
        ctx->own_threads = valid;
    }
    ctx->budget = options.max_memory ? options.max_memory : available_memory() / 10 * 9;
    ctx->own_budget = options.max_memory > 0;
    fit_address_space(ctx);
    ctx->log = options.log;
    ctx->progress = options.progress;
    ctx->cancel = options.cancel;
    ctx->user = options.user;
    *out = ctx;
    return KREIN_OK;
}

void krein_ctx_destroy(krein_ctx *ctx) {
    if (ctx) ctx->memory.release(ctx->memory.user, ctx);
}

const char *krein_message(const krein_ctx *ctx) {
    if (!ctx)
        return "no context: out of memory, or its options were not initialised or have a field of "
               "a "
               "newer krein.h";
    return ctx->message;
}

uint64_t krein_ctx_peak_bytes(const krein_ctx *ctx) { return atomic_load(&ctx->peak); }

/* Texts quote names out of files: what leaves the library has no control characters. */
static void say(char *out, const char *format, va_list args) {
    char raw[KREIN__MESSAGE];
    vsnprintf(raw, sizeof raw, format, args);
    krein__escape(raw, out, KREIN__MESSAGE);
}

krein_status krein__fail(krein_ctx *ctx, krein_status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    say(ctx->message, format, args);
    va_end(args);
    ctx->status = status;
    return status;
}

krein_status krein__prefix(krein_ctx *ctx, krein_status status, const char *format, ...) {
    char front[KREIN__MESSAGE], old[KREIN__MESSAGE];
    va_list args;
    va_start(args, format);
    say(front, format, args);
    va_end(args);
    memcpy(old, ctx->message, sizeof old);
    size_t used = strlen(front);
    memcpy(ctx->message, front, used + 1);
    snprintf(ctx->message + used, sizeof ctx->message - used, "%s", old);
    ctx->status = status;
    return status;
}

void krein__log(krein_ctx *ctx, krein_log_level level, const char *format, ...) {
    if (!ctx->log) return;
    char text[KREIN__MESSAGE];
    va_list args;
    va_start(args, format);
    say(text, format, args);
    va_end(args);
    ctx->log(ctx->user, level, text);
}

void krein__progress(krein_ctx *ctx, const char *what, double done, double total) {
    if (!ctx->progress) return;
    double now = krein__clock();
    if (now - ctx->last_progress < 0.1 && !(total > 0 && done >= total)) return;
    ctx->last_progress = now;
    ctx->progress(ctx->user, what, done, total);
}

krein_status krein__poll(krein_ctx *ctx) {
    if (ctx->cancel && ctx->cancel(ctx->user))
        return krein__fail(ctx, KREIN_ECANCEL, "cancelled; nothing was written");
    if (krein__late(ctx->deadline))
        return krein__fail(ctx, KREIN_ETIME,
                           "`time_limit` has passed and nothing usable was found; give more time, "
                           "fewer rows or fewer candidates");
    return KREIN_OK;
}

bool krein__late(double deadline) { return deadline > 0 && krein__clock() >= deadline; }

bool krein__enough(const krein_ctx *ctx) { return krein__late(ctx->finish); }

const char *krein__bytes_text(double bytes, char *buf) {
    static const char *const unit[] = {"bytes", "kB", "MB", "GB", "TB", "PB"};
    int k = 0;
    while (bytes >= 1024 && k < 5) bytes /= 1024, k++;
    snprintf(buf, 32, k == 0 || bytes >= 100 ? "%.0f %s" : "%.1f %s", bytes, unit[k]);
    return buf;
}

const char *krein__number_text(double x, char *buf) {
    if (x == rint(x) && fabs(x) < 1e15) {
        snprintf(buf, 40, "%.0f", x);
        return buf;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(buf, 40, "%.*g", digits, x);
        if (strtod(buf, NULL) == x) break;
    }
    /* A caller's locale may print a comma; specs and files always use a point. */
    char *dot = strchr(buf, *localeconv()->decimal_point);
    if (dot) *dot = '.';
    return buf;
}

double krein__round_digits(double x, int digits) {
    char buf[40];
    snprintf(buf, sizeof buf, "%.*g", digits, x);
    return strtod(buf, NULL);
}

krein_ctx krein__ctx_beside(krein_ctx *parent) {
    krein_ctx own = *parent;
    own.parent = parent;
    own.beside = true;
    own.deadline = own.finish = 0; /* the parent's change while it runs */
    own.log = NULL;
    own.progress = NULL;
    own.cancel = NULL;
    return own;
}

krein_ctx krein__ctx_share(krein_ctx *parent, int shares) {
    krein_ctx own = *parent;
    own.parent = parent;
    own.comm = NULL;
    own.threads = 1;
    own.overlaps = false;
    own.log = NULL;
    own.progress = NULL;
    own.cancel = NULL;
    own.budget = own.held + (parent->budget - own.held) / (uint64_t)shares;
    return own;
}
