/* buffer.c -- see buffer.h. */
#include "base/buffer.h"

#include <stdio.h>
#include <string.h>

void krein__buffer_end(krein_buffer *b) {
    if (b->ctx) krein__free(b->ctx, b->text);
    b->text = NULL;
    b->size = b->room = 0;
}

/* Room for so many bytes more, and a zero. */
static bool make_room(krein_buffer *b, size_t more) {
    if (b->status != KREIN_OK) return false;
    if (b->size + more + 1 <= b->room) return true;
    size_t room = 2 * b->room + more + 4096;
    char *text = krein__resize(b->ctx, b->text, (int64_t)room, 1);
    if (!text) {
        b->status = b->ctx->status;
        return false;
    }
    b->text = text;
    b->room = room;
    return true;
}

void krein__buffer_add_list(krein_buffer *b, const char *format, va_list list) {
    va_list again;
    va_copy(again, list);
    int length = vsnprintf(NULL, 0, format, list);
    if (length > 0 && make_room(b, (size_t)length)) {
        vsnprintf(b->text + b->size, (size_t)length + 1, format, again);
        b->size += (size_t)length;
    }
    va_end(again);
}

void krein__buffer_add(krein_buffer *b, const char *format, ...) {
    va_list list;
    va_start(list, format);
    krein__buffer_add_list(b, format, list);
    va_end(list);
}

void krein__buffer_put_bytes(krein_buffer *b, const char *text, size_t length) {
    if (!make_room(b, length)) return;
    memcpy(b->text + b->size, text, length);
    b->size += length;
    b->text[b->size] = 0;
}

void krein__buffer_put(krein_buffer *b, const char *text) {
    krein__buffer_put_bytes(b, text, strlen(text));
}
