/* together.h -- what the processes that share the rows of a stream put together.
 *
 * Code that adds up over a stream calls krein__stream_sum behind its loop, and is the same for one
 * process and for many: every function on a stream is collective where the stream is shared
 * (krein__stream_shared), and a plain return where it is not. How collectives work, and what
 * happens when a process fails, is in dist/dist.h; the rooms behind this one use these functions
 * instead. */
#ifndef KREIN_TOGETHER_H
#define KREIN_TOGETHER_H

#include "stream/data.h"

/* This process is number turn of turns, where work that all could do is divided by its number. */
int64_t krein__stream_turn(const krein_stream *s);
int64_t krein__stream_turns(const krein_stream *s);

/* x[i] becomes the sum over the processes, in their order; of counts; the largest. */
krein_status krein__stream_sum(krein_stream *s, int64_t n, double *x);
krein_status krein__stream_count(krein_stream *s, int64_t n, int64_t *x);
krein_status krein__stream_most(krein_stream *s, int64_t n, double *x);
/* x becomes the least, and flags are set where one is. */
krein_status krein__stream_least(krein_stream *s, int64_t *x);
krein_status krein__stream_any(krein_stream *s, int64_t n, bool *flag);
/* x becomes the sum over the processes, before that over those before this one. */
krein_status krein__stream_before(krein_stream *s, int64_t *x, int64_t *before);
/* n elements of `size` bytes of each process behind each other: *all is the caller's to free,
 * *count of them. A copy where the stream is not shared. */
krein_status krein__stream_join(krein_stream *s, const void *mine, int64_t n, size_t size,
                                void *all, int64_t *count);
/* What the process has there that has the first rows of the stream. */
krein_status krein__stream_from_root(krein_stream *s, void *bytes, int64_t n);
/* What the first process has there that says `mine`; the last one's where none does. */
krein_status krein__stream_from_first(krein_stream *s, bool mine, void *bytes, int64_t n);

/* ---- calls of the interface --------------------------------------------- */

/* The processes that have joined the context's; 1: it is alone. */
int krein__processes(const krein_ctx *ctx);
/* A call that processes make together. begin forgets a failure of the call before; end returns the
 * same status on all, that of the first process that failed, with its message. A call may contain
 * another. */
void krein__call_begin(krein_ctx *ctx);
krein_status krein__call_end(krein_ctx *ctx, krein_status mine);

#endif
