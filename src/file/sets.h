/* sets.h -- several labels in one cell, such as "red|large" or "1,5,7".
 *
 *   set := [ name { between name } ]      blanks, or nothing, are the empty set
 *
 * between is '|' or ',', with blanks around it that do not count, or ' ', of which many are one.
 * Names are compared byte by byte; one that comes twice counts once. */
#ifndef KREIN_SETS_H
#define KREIN_SETS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct krein_set_names {
    const char *at, *end; /* at NULL: there are no more */
    char between;
    const char *name; /* the last one, of `length` bytes: 0 where two separators follow each other,
                         or one stands at an end */
    size_t length;
} krein_set_names;

krein_set_names krein__set_names(const char *text, size_t length, char between);
/* The next name; false: there is none. */
bool krein__set_next(krein_set_names *s);
/* No name of the text is empty. */
bool krein__set_valid(const char *text, size_t length, char between);

#endif
