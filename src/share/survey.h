/* survey.h -- where the rows of a file begin, found by all processes together.
 *
 * Each rank looks at its share of the bytes, and afterwards any rank can be told where any row is:
 * so each can read its share of the rows, cut where the work wants it. Rows are those that the
 * reader gives out.
 *
 * All functions but rows and close are collective over the ranks of the reader's context
 * (dist/dist.h); when one rank fails, all return its status and message.
 */
#ifndef KREIN_SURVEY_H
#define KREIN_SURVEY_H

#include "file/reader.h"

typedef struct krein_survey krein_survey;

/* Counts the rows, after krein__reader_begin. The reader must then be begun again; it has to live
 * as long as the survey, and none of its rows may be asked for while a mark is. */
krein_status krein__survey_open(krein_reader *r, krein_survey **out);
int64_t krein__survey_rows(const krein_survey *s); /* of all processes together */
/* Where a row begins (0 <= row <= rows): all ranks ask for the same one, and get the same mark.
 * After krein__reader_begin and krein__reader_seek the next batch begins with that row. */
krein_status krein__survey_mark(krein_survey *s, int64_t row, krein_mark *out);
void krein__survey_close(krein_survey *s);

#endif
