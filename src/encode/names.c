/* names.c -- encoded columns by name, for people:
 *
 *     age               a number
 *     colour=red        the indicator of a category
 *     when (weekday)    a part of a date
 *     age (missing)     where the cell was missing
 *     town (mean)       the mean of the target; of several, town (mean 2)
 *     town (hash 17)    a hashed category
 *     column 3          an input without a name, by its number in the file */
#include "encode/encoding.h"

#include <stdio.h>

/* Parts of a date; the days are the last, behind the hour where there is one. */
static const char *date_part(const krein_reading *r, int64_t k) {
    static const char *const part[] = {"year", "month", "weekday", "hour", "days"};
    return part[k == 3 && !(r->style & KREIN_DATE_HOURS) ? 4 : k];
}

/* What follows the input's name for the k-th of its columns. */
static void detail(const krein_input *in, int64_t k, char *text, size_t size) {
    text[0] = 0;
    if (k == krein__input_values(in))
        snprintf(text, size, " (missing)");
    else if (!in->text && in->reading.as == KREIN_AS_DATE)
        snprintf(text, size, " (%s)", date_part(&in->reading, k));
    else if (in->text && in->texts == KREIN_TEXTS_ONEHOT)
        snprintf(text, size, "=%s", in->dict.word[k]);
    else if (in->text && in->texts == KREIN_TEXTS_HASH)
        snprintf(text, size, " (hash %lld)", (long long)k + 1);
    else if (in->text && in->target.columns == 1)
        snprintf(text, size, " (mean)");
    else if (in->text)
        snprintf(text, size, " (mean %lld)", (long long)k + 1);
}

void krein__encoded_name(const krein_encoding *e, int64_t j, char *text, size_t size) {
    for (int64_t i = 0; i < e->ninput && size > 0; i++) {
        const krein_input *in = &e->input[i];
        if (in->at < 0 || j < in->at || j >= in->at + krein__input_values(in) + in->indicator)
            continue;
        int used = in->name && *in->name ? snprintf(text, size, "%s", in->name)
                                         : snprintf(text, size, "column %lld", (long long)i + 1);
        if (used >= 0 && (size_t)used < size)
            detail(in, j - in->at, text + used, size - (size_t)used);
        return;
    }
    snprintf(text, size, "column %lld", (long long)j + 1); /* sparse rows */
}
