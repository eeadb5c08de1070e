/* solvers.c -- the table of solvers, for listing; learners call them by their functions. */
#include "solve/ridge.h"

#define SOLVER(name) extern const krein_class name;
#include "solve/solvers.def"
#undef SOLVER

const krein_class *const krein__solvers[] = {
#define SOLVER(name) &name,
#include "solve/solvers.def"
#undef SOLVER
};
const int64_t krein__solver_count = KREIN__COUNT(krein__solvers);
