/* libsvm -- C-SVM and epsilon-SVR on a kernel matrix: the only file that names LIBSVM
 *
 *     min over f, b   1/2 |f|^2 + sum_i C_i max(0, 1 - y_i (f(x_i) + b))
 *     dual            min 1/2 a'Ka - sum |a_i|,       sum a_i = 0,  0 <= y_i a_i <= C_i
 *     epsilon-SVR     min 1/2 a'Ka + epsilon sum |a_i| - sum y_i a_i,  sum a_i = 0,  |a_i| <= C
 *
 * Sequential minimal optimisation with second-order working sets (fan2005, chang2011), until no
 * pair of rows violates the optimality conditions by more than tol. LIBSVM rounds the kernel values
 * to float32 when it trains, so a dual objective has about seven digits.
 *
 * A precomputed kernel is read as x[i][number of row j].value, a svm_node of 16 bytes a value: rows
 * of nodes carry the numbers of the whole matrix, so that a machine on some of the rows points at
 * them and copies nothing. K need not be positive: where K_ii + K_jj - 2 K_ij is not, LIBSVM
 * moves along the pair as if it were tiny, up to a bound, and the objective falls all the same.
 *
 * Of two labels LIBSVM takes +1 as the first (the positive one) whatever the order of the rows; it
 * is looked up in the model rather than relied on. Weights of rows it has none.
 *
 * LIBSVM gives up after MOST iterations, or 100 a variable, and returns what it has. It says so to
 * stderr, which nothing but a redirection of the whole process would keep it from; the program
 * learns of it from the number of iterations, which goes through the print function.
 */
#include "solve/libsvm.h"

#include "base/spec.h"

#include <libsvm/svm.h>

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct krein_libsvm {
    krein_ctx *ctx;
    int64_t n;
    struct svm_node *nodes; /* n x (n + 1); column 0 is the number of the row, from 1 */
};

/* The print function is a global of LIBSVM. It is called by the thread that trains. */
static pthread_once_t print_set = PTHREAD_ONCE_INIT;
static _Thread_local int64_t iterations; /* of the last machine */
static void on_print(const char *text) {
    static const char KEY[] = "#iter = ";
    const char *at = strstr(text, KEY);
    if (at) iterations = strtoll(at + sizeof KEY - 1, NULL, 10);
}
static void set_print(void) { svm_set_print_string_function(on_print); }

enum { MOST = 10000000 };

krein_status krein__libsvm_begin(krein_ctx *ctx, int64_t n, const double *K, krein_libsvm **out) {
    krein_status st = KREIN_OK;
    krein_libsvm *t = NULL;
    *out = NULL;
    ZNEW(t, 1);
    t->ctx = ctx;
    t->n = n;
    NEW(t->nodes, n * (n + 1));
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        struct svm_node *row = t->nodes + i * (n + 1);
        row[0] = (struct svm_node){.index = 0, .value = (double)(i + 1)};
        for (int64_t j = 0; j < n; j++)
            row[j + 1] = (struct svm_node){.index = (int)(j + 1), .value = K[i * n + j]};
    }
    pthread_once(&print_set, set_print);
    *out = t;
    t = NULL;
done:
    krein__libsvm_end(t);
    return st;
}

void krein__libsvm_end(krein_libsvm *t) {
    if (!t) return;
    krein__free(t->ctx, t->nodes);
    krein__free(t->ctx, t);
}

void krein__libsvm_diagonal(krein_libsvm *t, int64_t i, double value) {
    t->nodes[i * (t->n + 1) + i + 1].value = value;
}

/* Columns that LIBSVM keeps, in bytes: all of them (float32) up to a quarter of a gigabyte. */
static double cache(int64_t m) { return fmin(4 * (double)m * (double)m, 0x1p28); }

double krein__libsvm_bytes(int64_t n, int machines, bool regression) {
    double N = (double)n, variables = (regression ? 2 : 1) * N;
    return 16 * N * (N + 1) + machines * (cache(n) + 160 * variables);
}

/* alpha (m) from the support vectors that the model has kept. */
static void unpack(const struct svm_model *model, double sign, krein_svm_machine *machine) {
    memset(machine->alpha, 0, (size_t)machine->m * sizeof *machine->alpha);
    for (int i = 0; i < model->l; i++)
        machine->alpha[model->sv_indices[i] - 1] = sign * model->sv_coef[0][i];
    machine->intercept = -sign * model->rho[0];
    machine->support = model->l;
}

/* 1/2 a'Ka */
static double energy(const krein_svm_machine *machine) {
    double sum = 0;
    for (int64_t i = 0; i < machine->m; i++) {
        const struct svm_node *k = machine->nodes[i];
        double f = 0;
        if (machine->alpha[i] == 0) continue;
        for (int64_t j = 0; j < machine->m; j++)
            if (machine->alpha[j] != 0) f += machine->alpha[j] * k[machine->row[j] + 1].value;
        sum += machine->alpha[i] * f;
    }
    return sum / 2;
}

/* Trains; NULL where LIBSVM does not like the parameters. */
static struct svm_model *train(const krein_libsvm *t, krein_svm_machine *machine,
                               struct svm_parameter *p) {
    struct svm_node **x = (struct svm_node **)machine->nodes;
    struct svm_problem problem = {.l = (int)machine->m, .y = machine->y, .x = x};
    p->kernel_type = PRECOMPUTED;
    p->cache_size = cache(machine->m) / 0x1p20 + 1;
    p->eps = machine->tol;
    p->shrinking = 1;
    for (int64_t i = 0; i < machine->m; i++) x[i] = t->nodes + machine->row[i] * (t->n + 1);
    machine->error = svm_check_parameter(&problem, p);
    if (machine->error) return NULL;
    int64_t variables = (p->svm_type == EPSILON_SVR ? 2 : 1) * machine->m;
    iterations = 0;
    struct svm_model *model = svm_train(&problem, p);
    machine->unfinished = iterations >= krein__max(MOST, 100 * variables);
    return model;
}

void krein__libsvm_classify(const krein_libsvm *t, krein_svm_machine *machine) {
    int label[2] = {-1, 1};
    struct svm_parameter p = {
        .svm_type = C_SVC, .C = 1, .nr_weight = 2, .weight_label = label, .weight = machine->C};
    struct svm_model *model = train(t, machine, &p);
    if (!model) return;
    unpack(model, model->label[0] > 0 ? 1 : -1, machine);
    svm_free_and_destroy_model(&model);
    machine->objective = energy(machine);
    for (int64_t i = 0; i < machine->m; i++) machine->objective -= fabs(machine->alpha[i]);
}

void krein__libsvm_regress(const krein_libsvm *t, krein_svm_machine *machine) {
    struct svm_parameter p = {.svm_type = EPSILON_SVR, .C = machine->C[1], .p = machine->epsilon};
    struct svm_model *model = train(t, machine, &p);
    if (!model) return;
    unpack(model, 1, machine);
    svm_free_and_destroy_model(&model);
    machine->objective = energy(machine);
    for (int64_t i = 0; i < machine->m; i++)
        machine->objective +=
            machine->epsilon * fabs(machine->alpha[i]) - machine->y[i] * machine->alpha[i];
}

const krein_class krein__solver_libsvm = {
    .name = "libsvm",
    .summary = "support vector machines on the kernel matrix, by LIBSVM",
    .cite = "chang2011",
    .details = "Sequential minimal optimisation on precomputed kernel values, indefinite ones too. "
               "Used by svm and svr with map=exact."};
