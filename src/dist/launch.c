/* launch.c -- who started this process, and with how many others, by the environment.
 *
 * Every launcher tells its processes their number and how many there are, before any MPI is
 * loaded. srun is taken at its word for a step only: a batch script has SLURM_NTASKS as well, and
 * is one process. */
#include "dist/dist.h"

#include <stdlib.h>
#include <strings.h>

typedef struct words {
    const char *launcher, *size, *rank, *local_rank;
} words;

static const words known[] = {
    {"mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK"},
    {"mpirun", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_LOCAL_RANK"},
    {"mpirun", "PMI_SIZE", "PMI_RANK", "MPI_LOCALRANKID"},
    {"srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_LOCALID"},
};

/* A whole number in [least, most], or -1. */
static int number(const char *name, int least, int most) {
    const char *text = getenv(name);
    char *end;
    if (!text || !*text) return -1;
    const long value = strtol(text, &end, 10);
    return *end == 0 && value >= least && value <= most ? (int)value : -1;
}

krein_launch krein__launch(void) {
    const krein_launch alone = {.size = 1};
    const char *mpi = getenv("KREIN_MPI");
    if (mpi && strcasecmp(mpi, "off") == 0) return alone;
    for (int64_t k = 0; k < KREIN__COUNT(known); k++) {
        const words *w = &known[k];
        const int size = number(w->size, 1, 1 << 24);
        const int rank = size > 0 ? number(w->rank, 0, size - 1) : -1;
        if (rank < 0) continue;
        const int local = number(w->local_rank, 0, size - 1);
        return (krein_launch){w->launcher, rank, size, local > 0 ? local : 0};
    }
    return alone;
}
