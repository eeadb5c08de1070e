/* criteria.c -- the table of selection criteria. */
#include "select/select.h"

#define CRITERION(name) extern const krein_criterion_class name;
#include "select/criteria.def"
#undef CRITERION

const krein_class *const krein__criteria[] = {
#define CRITERION(name) &name.cls,
#include "select/criteria.def"
#undef CRITERION
};
const int64_t krein__criterion_count = KREIN__COUNT(krein__criteria);
