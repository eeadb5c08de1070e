/* archive.h -- the container of model files: named, typed, aligned arrays with a checksum.
 *
 * One visiting function per object serves both directions: each krein__archive_* call writes the
 * value when the archive is being written and reads it back, checked, when it is being read.
 * Arrays are referenced, not copied, while writing: they must live until krein__archive_save.
 * The layout is in docs/model-format.md.
 */
#ifndef KREIN_ARCHIVE_H
#define KREIN_ARCHIVE_H

#include "base/base.h"

typedef struct krein_archive krein_archive;

krein_status krein__archive_create(krein_ctx *ctx, krein_archive **out);
krein_status krein__archive_load(krein_ctx *ctx, const char *path, krein_archive **out);
/* The bytes stay the caller's and must outlive the archive. */
krein_status krein__archive_load_memory(krein_ctx *ctx, const void *bytes, int64_t n,
                                        krein_archive **out);
krein_status krein__archive_save(krein_archive *a, const char *path);
/* The same bytes into memory with room for so many; KREIN_EARG where that is too little. to NULL:
 * none are written. Their number is krein__archive_bytes. */
krein_status krein__archive_save_memory(krein_archive *a, void *to, int64_t room);
void krein__archive_destroy(krein_archive *a);
/* Gives an array that was added to a written archive into its care. */
krein_status krein__archive_own(krein_archive *a, void *data);
/* Writing: readers must know this version of the format (docs/model-format.md) or a later one. */
void krein__archive_needs(krein_archive *a, int version);
bool krein__archive_reading(const krein_archive *a);
size_t krein__type_size(krein_type type);
/* Reading: there is an entry of that name. For what older files do not have. */
bool krein__archive_has(const krein_archive *a, const char *name);
int64_t krein__archive_bytes(const krein_archive *a); /* of the file */

/* Objects inside objects: between enter and leave every name has the number of the part
 * and a dot before it. They nest. */
void krein__archive_enter(krein_archive *a, int64_t part);
void krein__archive_leave(krein_archive *a);

/* A whole number in [low, high]. */
krein_status krein__archive_int(krein_archive *a, const char *name, int64_t *value, int64_t low,
                                int64_t high);
krein_status krein__archive_bool(krein_archive *a, const char *name, bool *value);
krein_status krein__archive_double(krein_archive *a, const char *name, double *value);
krein_status krein__archive_text(krein_archive *a, const char *name, char **value);
/* n texts (no entry may be NULL when writing). Reading allocates the array and the texts. */
krein_status krein__archive_texts(krein_archive *a, const char *name, char ***value, int64_t n);
/* n elements; reading allocates. *data is a pointer to the element type. NaN and infinity in
 * floating point arrays are refused when reading. */
krein_status krein__archive_array(krein_archive *a, const char *name, krein_type type, void *data,
                                  int64_t n);

#endif
