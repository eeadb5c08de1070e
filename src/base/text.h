/* text.h -- numbers as text without printf, for writing many of them; names to show and to compare.
 */
#ifndef KREIN_TEXT_H
#define KREIN_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Both write at p, without a terminating NUL, and return the place behind the last character. */
char *krein__put_integer(char *p, int64_t value);
char *krein__put_float(char *p, float f); /* at most 16 characters */

/* Names of columns, classes and files are other people's bytes, and a terminal obeys some of them.
 * Writes text to out with control characters (those of UTF-8 as well) as \xNN, cut where `size`
 * bytes are full; returns the bytes that the whole takes, without the NUL. */
size_t krein__escape(const char *text, char *out, size_t size);

/* Bytes of the character of UTF-8 that begins here; 0: it is none. */
int krein__utf8(const char *text);

enum { KREIN_NAME_CUT = 64 };
/* Edits (insert, delete, replace a byte; case is free) from a to b, both cut at so many bytes. */
int64_t krein__edit_distance(const char *a, const char *b);

#endif
