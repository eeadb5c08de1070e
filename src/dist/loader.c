/* loader.c -- finds and loads libkrein_mpi.so, the only part of Krein that knows MPI.
 *
 * Looked for, in this order:
 *     KREIN_MPI                   a path; nothing else is tried then
 *     beside this code            the program, or the library that it is in: a build tree
 *     krein/ beside it            an installed library
 *     ../LIBDIR/krein beside it   an installed program
 *     the install folder          as it was configured
 *
 * RTLD_GLOBAL: MPI libraries load plugins of their own, which look for MPI's symbols in the global
 * scope. The library stays loaded: MPI leaves threads and exit handlers behind. */
#include "dist/dist.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* Set by the build, for this file. */
#ifndef KREIN_LIBDIR
#define KREIN_LIBDIR "lib" /* from the folder above the program's */
#endif
#ifndef KREIN_FULL_LIBDIR
#define KREIN_FULL_LIBDIR "/usr/local/lib"
#endif
#define FILE_NAME "libkrein_mpi.so"

/* The folder of the library or program that has this function; path of PATH_MAX. */
static bool own_folder(char *path) {
    Dl_info info;
    char *end;
    /* Of a static program dladdr knows argv[0] only. */
    const bool known = dladdr((void *)(uintptr_t)&krein__transport_load, &info) != 0 &&
                       info.dli_fname && strstr(info.dli_fname, ".so");
    if (!realpath(known ? info.dli_fname : "/proc/self/exe", path)) return false;
    if (!(end = strrchr(path, '/'))) return false;
    *end = 0;
    return true;
}

/* The first file that is there; path of PATH_MAX. */
static bool look(char *path) {
    static const char *const below[] = {FILE_NAME, "krein/" FILE_NAME,
                                        "../" KREIN_LIBDIR "/krein/" FILE_NAME};
    char folder[PATH_MAX];
    if (own_folder(folder))
        for (int64_t k = 0; k < KREIN__COUNT(below); k++)
            if (snprintf(path, PATH_MAX, "%s/%s", folder, below[k]) < PATH_MAX &&
                access(path, R_OK) == 0)
                return true;
    snprintf(path, PATH_MAX, "%s/krein/%s", KREIN_FULL_LIBDIR, FILE_NAME);
    return access(path, R_OK) == 0;
}

/* What the library is wanted for, to text of `size` bytes. */
static const char *reason(const krein_launch *l, char *text, size_t size) {
    if (!l) return "a communicator is given";
    snprintf(text, size, "%s started %d processes", l->launcher, l->size);
    return text;
}

static const krein_transport *missing(krein_ctx *ctx, const krein_launch *l) {
    char text[64];
    krein__fail(ctx, KREIN_EIO,
                "%s, but this Krein was built without MPI, or its " FILE_NAME
                " is not where it was installed; install libopenmpi-dev and build Krein again, "
                "name the file in KREIN_MPI, or run one process%s%s",
                reason(l, text, sizeof text), l ? " without " : "", l ? l->launcher : "");
    return NULL;
}

static const krein_transport *broken(krein_ctx *ctx, const krein_launch *l, const char *why) {
    char text[64];
    krein__fail(ctx, KREIN_EIO, "%s, but MPI cannot be loaded: %s", reason(l, text, sizeof text),
                why ? why : "no reason given");
    return NULL;
}

static const krein_transport *other_version(krein_ctx *ctx, const char *path) {
    krein__fail(ctx, KREIN_EIO,
                "%s belongs to another version of Krein; install both from the same build", path);
    return NULL;
}

const krein_transport *krein__transport_load(krein_ctx *ctx, const krein_launch *launch) {
    char path[PATH_MAX];
    const char *given = getenv("KREIN_MPI");
    if (given && *given) {
        if (strcasecmp(given, "off") == 0) return broken(ctx, launch, "KREIN_MPI=off forbids it");
        if (snprintf(path, sizeof path, "%s", given) >= (int)sizeof path)
            return broken(ctx, launch, "KREIN_MPI is too long");
    } else if (!look(path)) {
        return missing(ctx, launch);
    }
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!library) return broken(ctx, launch, dlerror());
    krein_transport_fn *table;
    void *symbol = dlsym(library, KREIN_TRANSPORT_SYMBOL);
    if (!symbol) return other_version(ctx, path);
    memcpy(&table, &symbol, sizeof table); /* ISO C has no cast from data to function */
    const krein_transport *wire = table();
    return wire->abi == KREIN_TRANSPORT_ABI ? wire : other_version(ctx, path);
}
