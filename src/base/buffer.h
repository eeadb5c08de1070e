/* buffer.h -- text that grows while it is written. */
#ifndef KREIN_BUFFER_H
#define KREIN_BUFFER_H

#include "base/base.h"

/* Begins as {.ctx = ctx}. */
typedef struct krein_buffer {
    krein_ctx *ctx;
    char *text; /* ends with a zero; NULL: nothing was added */
    size_t size, room;
    krein_status status; /* the first failure; nothing is added after it */
} krein_buffer;

void krein__buffer_end(krein_buffer *b); /* also of a zeroed one */
/* Adds text by a format. */
void krein__buffer_add(krein_buffer *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void krein__buffer_add_list(krein_buffer *b, const char *format, va_list list)
    __attribute__((format(printf, 2, 0)));
/* Adds a text as it is. */
void krein__buffer_put(krein_buffer *b, const char *text);
void krein__buffer_put_bytes(krein_buffer *b, const char *text, size_t length);

#endif
