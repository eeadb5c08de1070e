/* sized.h -- structs that cross the interface and may grow.
 *
 * Their first field is their size, in bytes, as the caller knows it. Options are copied over the
 * defaults; reports are made in a struct of our own and given out as far as the caller's goes. What
 * the caller does not know of a report is freed here. */
#ifndef KREIN_SIZED_H
#define KREIN_SIZED_H

#include "base/base.h"

/* Copies the options that the caller gave (NULL: none) over the defaults in `to`. Refused: a size
 * of 0, that is options that were never initialised, and options of a newer header that say
 * something this library does not know. name: of the struct. */
krein_status krein__options_copy(krein_ctx *ctx, const void *given, void *to, const char *name);

/* Whether a struct that the caller gave is zero behind the first `own` bytes, which are what this
 * library knows of it; the second with a message. */
bool krein__sized_known(const void *given, size_t own);
krein_status krein__options_known(krein_ctx *ctx, const void *given, size_t own, const char *name);

/* For _init_sized: the defaults in own, as far as the caller's struct of `size` bytes goes. */
void krein__options_give(void *given, size_t size, const void *own);

/* report may be NULL; a size of 0 is refused. The first without a message. */
bool krein__sized(const void *report);
krein_status krein__report_check(krein_ctx *ctx, const void *report, const char *name);
/* At the end: the caller's report (or NULL) gets what is in own, where st is KREIN_OK, and zeros
 * else. What own holds afterwards is the caller of this function's to clear. */
void krein__report_finish(krein_status st, void *report, void *own);
/* For clearing: moves the caller's report into own, which is zeroed but for its size. */
void krein__report_take(void *own, void *report);

#endif
