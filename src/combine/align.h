/* align.h -- kernel target alignment, for the weighings that go by it. */
#ifndef KREIN_ALIGN_H
#define KREIN_ALIGN_H

#include "combine/combine.h"

/* As a weighing's `find`. */
krein_status krein__align(krein_bank *bank, const krein_values *values, double *mu);

#endif
