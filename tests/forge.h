/* forge.h -- archives taken apart, changed, and put together again with a right checksum. */
#ifndef KREIN_TEST_FORGE_H
#define KREIN_TEST_FORGE_H

#include "common.h"

#include "file/archive.h"

/* The entries of a file, by the layout in docs/model-format.md. */
typedef struct part {
    char name[40];
    krein_type type;
    int64_t n;
    void *data; /* 8 bytes longer than needed, so that a count may be one too many */
} part;
typedef struct parts {
    part all[80];
    int n;
} parts;

static inline size_t width(krein_type type) {
    return type == KREIN_TYPE_BYTES ? 1 : type == KREIN_TYPE_I32 || type == KREIN_TYPE_F32 ? 4 : 8;
}

static inline parts take_apart(const test_bytes *file) {
    parts p = {.n = 0};
    uint64_t entries;
    memcpy(&entries, file->at + 24, 8);
    if (entries > 80) exit(1);
    for (uint64_t i = 0; i < entries; i++) {
        const char *e = file->at + 64 + 64 * i;
        uint32_t type;
        uint64_t count, offset;
        memcpy(p.all[p.n].name, e, 40);
        memcpy(&type, e + 40, 4);
        memcpy(&count, e + 48, 8);
        memcpy(&offset, e + 56, 8);
        p.all[p.n].type = (krein_type)type;
        p.all[p.n].n = (int64_t)count;
        size_t size = (size_t)count * width((krein_type)type);
        p.all[p.n].data = test_new((int64_t)size + 8, 1);
        memcpy(p.all[p.n].data, file->at + offset, size);
        p.n++;
    }
    return p;
}
static inline void drop_parts(parts *p) {
    for (int i = 0; i < p->n; i++) free(p->all[i].data);
    p->n = 0;
}

static inline void put_together(krein_ctx *ctx, const parts *p, int without, const char *path) {
    krein_archive *a = NULL;
    CHECK(krein__archive_create(ctx, &a) == KREIN_OK);
    for (int i = 0; i < p->n; i++) {
        void *data = p->all[i].data;
        if (i != without)
            CHECK(krein__archive_array(a, p->all[i].name, p->all[i].type, &data, p->all[i].n) ==
                  KREIN_OK);
    }
    CHECK(krein__archive_save(a, path) == KREIN_OK);
    krein__archive_destroy(a);
}

static inline part *find(parts *p, const char *name) {
    for (int i = 0; i < p->n; i++)
        if (strcmp(p->all[i].name, name) == 0) return &p->all[i];
    printf("no entry %s\n", name);
    exit(1);
}

static inline void set_text(part *p, const char *text, int64_t n) {
    free(p->data);
    p->data = test_new(n + 8, 1);
    memcpy(p->data, text, (size_t)n);
    p->n = n;
}
static inline void set_int(part *p, int64_t v) { memcpy(p->data, &v, 8); }

#endif
