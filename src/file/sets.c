/* sets.c -- several labels in one cell. */
#include "file/sets.h"

#include <string.h>

static bool blank(char c) { return c == ' ' || c == '\t'; }

krein_set_names krein__set_names(const char *text, size_t length, char between) {
    while (length > 0 && blank(text[length - 1])) length--;
    return (krein_set_names){.at = length > 0 ? text : NULL,
                             .end = length > 0 ? text + length : NULL,
                             .between = between};
}

bool krein__set_next(krein_set_names *s) {
    const char *p = s->at, *q;
    if (!p) return false;
    while (p < s->end && blank(*p)) p++;
    if (s->between == ' ')
        for (q = p; q < s->end && !blank(*q);) q++;
    else if (!(q = memchr(p, s->between, (size_t)(s->end - p))))
        q = s->end;
    s->at = q < s->end ? q + 1 : NULL;
    while (q > p && blank(q[-1])) q--;
    s->name = p;
    s->length = (size_t)(q - p);
    return true;
}

bool krein__set_valid(const char *text, size_t length, char between) {
    krein_set_names s = krein__set_names(text, length, between);
    while (krein__set_next(&s))
        if (s.length == 0) return false;
    return true;
}
