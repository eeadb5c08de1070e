/* text.h -- numbers as text without printf, for writing many of them. No terminating NUL. */
#ifndef KREIN_TEXT_H
#define KREIN_TEXT_H

#include <stdint.h>

/* Both write at p and return the place behind the last character. */
char *krein__put_integer(char *p, int64_t value);
char *krein__put_float(char *p, float f); /* at most 16 characters */

#endif
