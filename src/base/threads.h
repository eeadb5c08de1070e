/* threads.h -- one level of parallelism: our loops over tiles, never BLAS's.
 *
 * krein__compute_begin switches OpenBLAS to one thread (through the hook that num
 * installs) and flushes denormals on the calling thread; _end restores both. Inside
 * a parallel region every worker calls krein__flush_denormals_on first.
 */
#ifndef KREIN_THREADS_H
#define KREIN_THREADS_H

#include "base/base.h"

int krein__cpu_count(void);               /* the CPUs this process may use */
unsigned krein__flush_denormals_on(void); /* returns the mode to restore */
void krein__flush_denormals_restore(unsigned mode);

#endif
