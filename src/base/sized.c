/* sized.c -- copies of structs whose first field is their size. */
#include "base/sized.h"

#include <string.h>

static size_t size_of(const void *s) {
    size_t size;
    memcpy(&size, s, sizeof size);
    return size;
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* All but the size. */
static void move(void *to, void *from) {
    size_t size = least(size_of(to), size_of(from));
    if (size <= sizeof size) return;
    memcpy((char *)to + sizeof size, (char *)from + sizeof size, size - sizeof size);
    memset((char *)from + sizeof size, 0, size - sizeof size);
}

static void zero(void *s) {
    if (size_of(s) > sizeof(size_t))
        memset((char *)s + sizeof(size_t), 0, size_of(s) - sizeof(size_t));
}

void krein__options_give(void *given, size_t size, const void *own) {
    if (size < sizeof size) return;
    memset(given, 0, size);
    memcpy(given, own, least(size, size_of(own)));
    memcpy(given, &size, sizeof size);
}

bool krein__sized_known(const void *given, size_t own) {
    for (size_t i = own; i < size_of(given); i++)
        if (((const char *)given)[i]) return false;
    return true;
}

krein_status krein__options_known(krein_ctx *ctx, const void *given, size_t own, const char *name) {
    if (krein__sized_known(given, own)) return KREIN_OK;
    return krein__fail(ctx, KREIN_EARG,
                       "%s of a newer version of krein.h: a field that this library does not know "
                       "is set; set it to 0, or use a newer library",
                       name);
}

krein_status krein__options_copy(krein_ctx *ctx, const void *given, void *to, const char *name) {
    krein_status st = KREIN_OK;
    if (!given) return KREIN_OK;
    size_t size = size_of(given), own = size_of(to);
    if (size < sizeof size)
        return krein__fail(ctx, KREIN_EARG,
                           "the options have no size; fill them with %s_init first", name);
    TRY(krein__options_known(ctx, given, own, name));
    memcpy((char *)to + sizeof size, (const char *)given + sizeof size,
           least(size, own) - sizeof size);
done:
    return st;
}

bool krein__sized(const void *report) { return !report || size_of(report) >= sizeof(size_t); }

krein_status krein__report_check(krein_ctx *ctx, const void *report, const char *name) {
    if (krein__sized(report)) return KREIN_OK;
    return krein__fail(ctx, KREIN_EARG, "the report has no size; begin with %s r = KREIN_SIZED(%s)",
                       name, name);
}

void krein__report_finish(krein_status st, void *report, void *own) {
    if (!report) return;
    zero(report);
    if (st == KREIN_OK) move(report, own);
}

void krein__report_take(void *own, void *report) {
    zero(own);
    move(own, report);
    zero(report);
}
