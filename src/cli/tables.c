/* tables.c -- every option and every command: the one place where they are described. */
#include "cli/cli.h"

#include "base/spec.h"

#include <math.h>
#include <string.h>

#define AT(field) .where = offsetof(cli_args, field)
#define END                                                                                        \
    { .name = NULL }

/* ---- options ------------------------------------------------------------ */

const cli_option cli_everywhere[] = {
    {"seed", 's', "N", CLI_SEED, AT(seed), .help = "seed of everything that is random (1)"},
    {"threads", 'j', "N", CLI_INTEGER, AT(threads), .low = 1, .high = 4096,
     .help = "threads (OMP_NUM_THREADS, or the CPUs it may use)"},
    {"max-memory", 0, "SIZE", CLI_SIZE, AT(max_memory),
     .help = "memory to use, e.g. 1.5G (most of what is free)"},
    {"quiet", 'q', NULL, CLI_FLAG, AT(quiet), .help = "errors only on standard error"},
    {"verbose", 'v', NULL, CLI_FLAG, AT(verbose), .help = "say more on standard error"},
    {"json", 0, NULL, CLI_FLAG, AT(json), .help = "one JSON object on one line instead of text"},
    {"help", 'h', NULL, CLI_FLAG, AT(help), .help = "this help"},
    END};

const cli_option cli_data_options[] = {
    {"label", 0, "COL", CLI_TEXT, AT(label),
     .help = "label: name, number from 1, first, last or none"},
    {"labels", 0, "FILE", CLI_TEXT, AT(labels), .complete = "file",
     .help = "labels of an .npy in an .npy of their own"},
    {"image", 0, "HxWxC", CLI_TEXT, AT(image),
     .help = "a row is an image of this shape, e.g. 32x32x3"},
    {"weights", 0, "COL", CLI_TEXT, AT(weights),
     .help = "row weights: with weight 2 a row counts twice"},
    {"group", 0, "COL", CLI_TEXT, AT(group), .help = "column whose equal values stay in one fold"},
    {"ignore", 0, "COL[,COL]", CLI_TEXT, AT(ignore), .help = "columns to leave out"},
    {"id", 0, "COL", CLI_TEXT, AT(id), .help = "no input; predict and pca pass it through"},
    {"header", 0, NULL, CLI_SET, AT(header), .value = 1, .help = "the first line holds names"},
    {"no-header", 0, NULL, CLI_SET, AT(header), .value = 0, .help = "the first line holds data"},
    {"format", 0, "FORMAT", CLI_TEXT, AT(format), .words = "csv|libsvm|npy",
     .help = "csv, libsvm or npy (found from the content)"},
    {"delimiter", 0, "C", CLI_CHAR, AT(delimiter),
     .help = "separator of a CSV: a character, tab, space (found)"},
    {"task", 't', "TASK", CLI_WORD, AT(task), .words = "auto|regression|classification|multilabel",
     .help = "auto, regression, classification, multilabel (auto)"},
    {"multilabel", 0, NULL, CLI_SET, AT(task), .value = 3,
     .help = "several labels a row: a|b or a b (LIBSVM: a,b)"},
    {"targets", 0, "K", CLI_INTEGER, AT(targets), .limit = "targets",
     .help = "the first K columns are a vector-valued target"},
    {"missing", 0, "WHAT", CLI_WORD, AT(missing), .words = "error|mean|drop|auto",
     .help = "empty cells, ?, NaN: auto, error, mean, drop (auto)"},
    {"unknown", 0, "WHAT", CLI_WORD, AT(unknown), .words = "error|ignore",
     .help = "categories new since training: error, ignore (error)"},
    {"types", 0, "WHICH", CLI_WORD, AT(types), .words = "auto|plain",
     .help = "auto: dates, yes/no, $1,200, 5% are no texts (auto)"},
    {"categories", 0, "HOW", CLI_WORD, AT(categories), .words = "auto|onehot|target|hash",
     .help = "text columns: auto, onehot, target, hash (auto)"},
    {"scale", 0, "HOW", CLI_WORD, AT(scale), .words = "standard|minmax|unit|none",
     .help = "standard, minmax, unit (rows) or none (standard)"},
    {"max-exact", 0, "N", CLI_INTEGER, AT(max_exact), .limit = "max_exact",
     .help = "most rows for an n x n matrix (10,000)"},
    END};

static const cli_option model_options[] = {
    {"kernel", 'k', "EXPR", CLI_TEXT, AT(kernel), .complete = "kernels",
     .help = "kernel (gaussian, sigma the median distance)"},
    {"map", 'm', "SPEC", CLI_TEXT, AT(map), .complete = "maps",
     .help = "feature map (by kernel: orf for the Gaussian)"},
    {"features", 'D', "N", CLI_INTEGER, AT(features), .limit = "features",
     .help = "number of features: the map's D (1,024)"},
    END};

static const cli_named lambdas[] = {{"auto", -1}, {0}};
static const cli_named efforts[] = {{"low", 0.1}, {"normal", 1}, {"high", 10}, {0}};
static const cli_named clips[] = {{"none", INFINITY}, {0}};

/* Of every training, whatever the learner, the kernel and the map are. */
#define HOW_TO_TRAIN                                                                               \
    {"features",                                                                                   \
     'D',                                                                                          \
     "N",                                                                                          \
     CLI_INTEGER,                                                                                  \
     AT(features),                                                                                 \
     .limit = "features",                                                                          \
     .help = "number of features: the map's D (from the data)"},                                   \
        {"lambda",  'l',           "X",                                                            \
         CLI_NAMED, AT(lambda),    .named = lambdas,                                               \
         .low = 0,  .high = 1e300, .help = "regularisation, or auto: by leave-one-out (auto)"},    \
        {"select",                                                                                 \
         0,                                                                                        \
         "SPEC",                                                                                   \
         CLI_TEXT,                                                                                 \
         AT(select),                                                                               \
         .complete = "criteria",                                                                   \
         .help = "how kernel and parameters are chosen, or none (loo)"},                           \
        {"metric", 0,          "WHAT",                                                             \
         CLI_TEXT, AT(metric), .help = "learned: none, diagonal, full or file=MODEL (auto)"},      \
        {"effort",    0,           "X",                                                            \
         CLI_NAMED,   AT(effort),  .named = efforts,                                               \
         .low = 0.01, .high = 100, .help = "of the choice: low, normal, high, a number (normal)"}, \
        {"clip",                                                                                   \
         0,                                                                                        \
         "X",                                                                                      \
         CLI_NAMED,                                                                                \
         AT(clip),                                                                                 \
         .named = clips,                                                                           \
         .low = 1e-3,                                                                              \
         .high = 1e30,                                                                             \
         .help = "cut scaled values at X, or none (8; none with -k)"},                             \
    {                                                                                              \
        "time-limit", 0, "SECONDS", CLI_ABOVE, AT(time_limit),                                     \
            .low = 0, .high = 1e15, .help = "of the whole training; sizes shrink to meet it"       \
    }

static const cli_option train_options[] = {
    {"output", 'o', "MODEL", CLI_TEXT, AT(output), .complete = "file",
     .help = "model file (DATA's base name + .krein)"},
    {"learner", 0, "SPEC", CLI_TEXT, AT(learner), .complete = "learners",
     .help = "what is fitted (krr)"},
    {"kernel", 'k', "EXPR", CLI_TEXT, AT(kernel), .complete = "kernels",
     .help = "kernel (chosen); parameters not given are chosen"},
    {"kernels", 0, "LIST", CLI_TEXT, AT(kernels), .complete = "kernels",
     .help = "k1; k2; ...: mkl sums them; else the best (--select)"},
    {"map", 'm', "SPEC", CLI_TEXT, AT(map), .complete = "maps",
     .help = "feature map (exact on few rows, then by kernel)"},
    HOW_TO_TRAIN,
    {"unlabeled", 0, "FILE", CLI_TEXT, AT(unlabeled), .complete = "file",
     .help = "rows without labels, for learners that use them"},
    {"graph-file", 0, "FILE", CLI_TEXT, AT(graph_file), .complete = "file",
     .help = "graph of the rows: read, or written if not there"},
    {"subspace", 0, "FILE", CLI_TEXT, AT(subspace), .complete = "file",
     .help = "net: train in that subspace ('krein subspace')"},
    {"subspace-start", 0, "WHERE", CLI_WORD, AT(subspace_start), .words = "new|path",
     .help = "from a new start, or where its path began (new)"},
    {"checkpoint", 0, "FILE", CLI_TEXT, AT(checkpoint), .complete = "file",
     .help = "state of a long training, to go on from it"},
    {"checkpoint-every", 0, "SECONDS", CLI_ABOVE, AT(checkpoint_every), .low = 0, .high = 1e15,
     .help = "time between two writes of that file (30)"},
    {"probabilities", 0, NULL, CLI_FLAG, AT(probabilities),
     .help = "store what is needed to predict probabilities"},
    {"uncertainty", 0, NULL, CLI_FLAG, AT(uncertainty),
     .help = "store what is needed to say how sure predictions are"},
    {"plot", 0, "FILE.svg", CLI_TEXT, AT(plot), .complete = "file",
     .help = "draw the held-out errors of what was tried"},
    END};

static const cli_option quantize_options[] = {
    {"output", 'o', "MODEL", CLI_TEXT, AT(output), .complete = "file", .help = "the new model"},
    {"bits", 0, "B", CLI_INTEGER, AT(bits), .low = 1, .high = 8, .help = "8, 4, 2 or 1 (8)"},
    {"data", 0, "DATA", CLI_TEXT, AT(data), .complete = "file",
     .help = "rows to round for, and to measure on"},
    END};

static const cli_option report_options[] = {
    {"output", 'o', "FILE", CLI_TEXT, AT(output), .complete = "file", .help = "the page, HTML"},
    {"train", 0, "FILE", CLI_TEXT, AT(train), .complete = "file",
     .help = "the rows it was trained on: duplicates, baselines"},
    {"train-labels", 0, "FILE", CLI_TEXT, AT(train_labels), .complete = "file",
     .help = "labels of these, of an .npy"},
    {"curve", 0, NULL, CLI_FLAG, AT(curve), .help = "learning curve: trains on parts of --train"},
    {"rows", 0, "N", CLI_INTEGER, AT(rows), .limit = "rows",
     .help = "sampled for inputs and kernel, at most (2,000)"},
    {"title", 0, "TEXT", CLI_TEXT, AT(title), .help = "of the page (the model's file)"},
    END};

static const cli_option export_options[] = {
    {"output", 'o', "FILE", CLI_TEXT, AT(output), .complete = "file", .help = "the C file"},
    {"name", 0, "NAME", CLI_TEXT, AT(name), .help = "of the function: NAME_predict (model)"},
    {"header-file", 0, "FILE", CLI_TEXT, AT(header_file), .complete = "file",
     .help = "a header for it as well"},
    {"no-libm", 0, NULL, CLI_FLAG, AT(no_libm), .help = "exp, log and the like without math.h"},
    {"stored", 0, NULL, CLI_FLAG, AT(stored),
     .help = "frequencies as constants, also where drawing them again takes less room"},
    END};

static const cli_option test_options[] = {
    {"test", 0, "FILE", CLI_TEXT, AT(test), .complete = "file",
     .help = "data to evaluate the model on after training"},
    {"test-labels", 0, "FILE", CLI_TEXT, AT(test_labels), .complete = "file",
     .help = "labels of an .npy test set"},
    {"holdout", 0, "FRACTION", CLI_ABOVE, AT(holdout), .limit = "holdout",
     .help = "keep this part of the rows out and evaluate on it"},
    END};

#define INTERVAL(text)                                                                             \
    { "interval", 0, "P", CLI_ABOVE, AT(interval), .low = 0, .high = 1, .help = text }

static const cli_option predict_options[] = {
    {"output", 'o', "FILE", CLI_TEXT, AT(output), .complete = "file",
     .help = "where the predictions go (standard output)"},
    {"scores", 0, NULL, CLI_FLAG, AT(scores), .help = "add the decision values to each line"},
    {"probabilities", 0, NULL, CLI_FLAG, AT(probabilities),
     .help = "add a probability for each class, in class order"},
    {"std", 0, NULL, CLI_MAYBE, AT(std), .words = "mean",
     .help = "add the standard deviation (=mean: without noise)"},
    INTERVAL("add an interval, or a set of classes, that covers P"),
    {"novelty", 0, NULL, CLI_FLAG, AT(novelty),
     .help = "add how far the row is from those trained on; 1: far"},
    END};

static const cli_option evaluate_options[] = {
    INTERVAL("coverage of the intervals that are counted (0.9)"), END};

static const cli_option feature_options[] = {{"output", 'o', "FILE", CLI_TEXT, AT(output),
                                              .complete = "file",
                                              .help = ".npy, or .libsvm without zeros (required)"},
                                             END};

static const cli_option gram_options[] = {
    {"output", 'o', "FILE", CLI_TEXT, AT(output), .complete = "file",
     .help = "the .npy file to write (required without --check)"},
    {"check", 0, NULL, CLI_FLAG, AT(check),
     .help = "report symmetry, eigenvalues, the negative part"},
    {"repair", 0, "HOW", CLI_WORD, AT(repair), .words = "none|clip|flip|shift",
     .help = "make it positive: clip, flip, shift eigenvalues"},
    END};

static const cli_option kernel_options[] = {
    {"kernel", 'k', "EXPR", CLI_TEXT, AT(kernel), .complete = "kernels",
     .help = "kernel (gaussian, sigma the median distance)"},
    END};

static const cli_option approx_options[] = {
    {"kernel", 'k', "EXPR", CLI_TEXT, AT(kernel), .complete = "kernels",
     .help = "kernel (gaussian, sigma the median distance)"},
    {"map", 'm', "SPEC", CLI_TEXTS, AT(maps), .complete = "maps",
     .help = "feature map; repeat it to compare several (required)"},
    {"features", 'D', "N[,N]", CLI_COUNTS, AT(sizes), .limit = "features",
     .help = "numbers of features to try"},
    {"rows", 'n', "N", CLI_INTEGER, AT(rows), .limit = "rows",
     .help = "rows sampled for the kernel matrix (1,000)"},
    {"repeat", 0, "N", CLI_INTEGER, AT(repeats), .limit = "repeats",
     .help = "draws of the features (10)"},
    {"plot", 0, "FILE.svg", CLI_TEXT, AT(plot), .complete = "file",
     .help = "draw error against D and against time"},
    END};

static const cli_option info_options[] = {
    {"plot", 0, "FILE.svg", CLI_TEXT, AT(plot), .complete = "file",
     .help = "draw the frequencies: by input, and their lengths"},
    END};

static const cli_option select_options[] = {
    {"kernels", 0, "LIST", CLI_TEXT, AT(kernels), .complete = "kernels",
     .help = "k1; k2; ...: ranges make families (21 Gaussians)"},
    {"kernel", 'k', "EXPR", CLI_TEXT, AT(kernel), .complete = "kernels",
     .help = "the same, for one kernel or family"},
    {"criterion", 'c', "SPEC", CLI_TEXTS, AT(criteria), .complete = "criteria",
     .help = "criterion; repeat it for several (loo)"},
    {"map", 'm', "SPEC", CLI_TEXT, AT(map), .complete = "maps",
     .help = "score by features (exact up to --max-exact rows)"},
    {"features", 'D', "N", CLI_INTEGER, AT(features), .limit = "features",
     .help = "number of features: the map's D (1,024)"},
    {"time-limit", 0, "SECONDS", CLI_ABOVE, AT(time_limit), .low = 0, .high = 1e15,
     .help = "begin no kernel after that, and give the best so far"},
    {"plot", 0, "FILE.svg", CLI_TEXT, AT(plot), .complete = "file",
     .help = "draw the scores, a plot for each criterion"},
    END};

static const cli_option compare_options[] = {
    {"learners", 0, "LIST", CLI_TEXT, AT(learners), .complete = "learners",
     .help = "l1; l2; ...: learners to compare (train's default)"},
    {"kernels", 0, "LIST", CLI_TEXT, AT(kernels), .complete = "kernels",
     .help = "k1; k2; ...: each with each learner; ranges too"},
    {"maps", 0, "LIST", CLI_TEXT, AT(map_list), .complete = "maps",
     .help = "m1; m2; ...: each with each of those"},
    {"command", 0, "NAME: SHELL", CLI_TEXTS, AT(commands),
     .help = "another program, with {train} {test} {model} {out}"},
    {"repeat", 0, "N", CLI_INTEGER, AT(repeats), .limit = "repeats",
     .help = "splits, the same for all methods (30)"},
    {"holdout", 0, "FRACTION", CLI_ABOVE, AT(holdout), .limit = "holdout",
     .help = "part of the rows that a split tests on (0.3)"},
    {"measure", 0, "WHICH", CLI_WORD, AT(measure), .words = "auto|rmse|error|logloss|auc",
     .help = "rmse, error, logloss or auc (error, or rmse)"},
    {"level", 0, "P", CLI_ABOVE, AT(level), .low = 0, .high = 1,
     .help = "level of the tests (0.05)"},
    {"parallel", 0, "N", CLI_INTEGER, AT(parallel), .low = 1, .high = 4096,
     .help = "trainings at a time, one thread each (the threads)"},
    {"results", 0, "FILE", CLI_TEXT, AT(results), .complete = "file",
     .help = "append results to it, and go on from it"},
    {"output", 'o', "FILE", CLI_TEXT, AT(output), .complete = "file",
     .help = "where the table goes (standard output)"},
    {"table", 0, "FORM", CLI_WORD, AT(table), .words = "text|markdown|latex|csv",
     .help = "text, markdown, latex, csv (by -o's name, or text)"},
    {"plot", 0, "FILE.svg", CLI_TEXT, AT(plot), .complete = "file",
     .help = "draw means with intervals, and mean ranks"},
    END};

static const cli_option compare_train_options[] = {HOW_TO_TRAIN, END};

static const cli_option advise_options[] = {
    {"kernel", 'k', "EXPR", CLI_TEXT, AT(kernel), .complete = "kernels",
     .help = "kernel (gaussian, sigma the median distance)"},
    {"rows", 'n', "N", CLI_INTEGER, AT(rows), .limit = "rows",
     .help = "rows sampled for the kernel matrix (2,000)"},
    END};

static const cli_option pca_options[] = {
    {"components", 0, "C", CLI_INTEGER, AT(components), .limit = "components",
     .help = "number of components (2)"},
    {"output", 'o', "FILE", CLI_TEXT, AT(output), .complete = "file",
     .help = "scores of the rows: CSV, or .npy by name"},
    {"model", 0, "MODEL", CLI_TEXT, AT(model), .complete = "file",
     .help = "model file: predict gives the scores of other rows"},
    {"kernel", 'k', "EXPR", CLI_TEXT, AT(kernel), .complete = "kernels",
     .help = "kernel (gaussian, sigma the median distance)"},
    {"map", 'm', "SPEC", CLI_TEXT, AT(map), .complete = "maps",
     .help = "feature map (exact on few rows, then by kernel)"},
    {"features", 'D', "N", CLI_INTEGER, AT(features), .limit = "features",
     .help = "number of features: the map's D (1,024)"},
    {"plot", 0, "FILE.svg", CLI_TEXT, AT(plot), .complete = "file",
     .help = "draw the rows by their first two, and by class"},
    END};

static const cli_option cluster_options[] = {
    {"clusters", 'c', "C", CLI_INTEGER, AT(clusters), .limit = "clusters",
     .help = "number of clusters (required)"},
    {"method", 0, "HOW", CLI_WORD, AT(method), .words = "kmeans|spectral",
     .help = "kmeans or spectral (kmeans)"},
    {"output", 'o', "FILE", CLI_TEXT, AT(output), .complete = "file",
     .help = "where the cluster of each row goes, one a line"},
    {"model", 0, "MODEL", CLI_TEXT, AT(model), .complete = "file",
     .help = "write a model that predicts clusters (kmeans)"},
    {"restarts", 0, "N", CLI_INTEGER, AT(restarts), .limit = "restarts",
     .help = "runs of k-means, of which the best is kept (10)"},
    {"graph", 0, "WHICH", CLI_WORD, AT(graph), .words = "full|knn",
     .help = "spectral: all pairs, or nearest neighbours (full)"},
    {"neighbours", 0, "K", CLI_INTEGER, AT(neighbours), .limit = "neighbours",
     .help = "of each row in the graph knn (10)"},
    {"graph-file", 0, "FILE", CLI_TEXT, AT(graph_file), .complete = "file",
     .help = "that graph: read, or written if not there"},
    {"plot", 0, "FILE.svg", CLI_TEXT, AT(plot), .complete = "file",
     .help = "draw the rows by two components, and by cluster"},
    END};

static const cli_option cluster_map_options[] = {
    {"kernel", 'k', "EXPR", CLI_TEXT, AT(kernel), .complete = "kernels",
     .help = "kernel (gaussian, sigma the median distance)"},
    {"map", 'm', "SPEC", CLI_TEXT, AT(map), .complete = "maps",
     .help = "feature map (exact to 4,000 rows, then by kernel)"},
    {"features", 'D', "N", CLI_INTEGER, AT(features), .limit = "features",
     .help = "number of features: the map's D (1,024)"},
    END};

static const cli_option fewshot_options[] = {
    {"method", 0, "NAME", CLI_TEXTS, AT(methods), .complete = "fewshot",
     .help = "how tasks are learned; may be repeated (required)"},
    {"ways", 0, "N", CLI_INTEGER, AT(ways), .limit = "ways", .help = "classes of a task (5)"},
    {"shots", 0, "K", CLI_INTEGER, AT(shots), .limit = "shots",
     .help = "rows of each class to learn from (1)"},
    {"queries", 0, "Q", CLI_INTEGER, AT(queries), .limit = "queries",
     .help = "rows of each class to be told (15)"},
    {"tasks", 0, "M", CLI_INTEGER, AT(tasks), .limit = "tasks",
     .help = "test tasks that are measured (100)"},
    {"class-split", 0, "A,B,C", CLI_COUNTS, AT(split), .low = 1, .high = 1e6,
     .help = "classes for training, validation, tests (64,16,20 %)"},
    {"test-labels", 0, "FILE", CLI_TEXT, AT(test_labels), .complete = "file",
     .help = "labels of TEST, where that is an .npy of inputs"},
    {"output", 'o', "FILE", CLI_TEXT, AT(output), .complete = "file",
     .help = "file for the subspace that meta learns"},
    {"plot", 0, "FILE.svg", CLI_TEXT, AT(plot), .complete = "file",
     .help = "draw accuracy against steps, and the meta training"},
    END};

static const cli_option subspace_options[] = {
    {"output", 'o', "FILE", CLI_TEXT, AT(output), .complete = "file",
     .help = "the subspace (required)"},
    {"learner", 0, "SPEC", CLI_TEXT, AT(learner), .complete = "learners",
     .help = "the network and its training (net)"},
    {"dimensions", 0, "S", CLI_INTEGER, AT(dimensions), .limit = "dimensions",
     .help = "principal components that are kept (40)"},
    {"every", 0, "K", CLI_INTEGER, AT(every), .limit = "every",
     .help = "steps between snapshots (so that they are 200)"},
    {"path-epochs", 0, "N", CLI_INTEGER, AT(path_epochs), .limit = "path_epochs",
     .help = "epochs of the path, from the first (all)"},
    {"model", 0, "MODEL", CLI_TEXT, AT(model), .complete = "file",
     .help = "write the model that was trained, too"},
    {"time-limit", 0, "SECONDS", CLI_ABOVE, AT(time_limit), .low = 0, .high = 1e15,
     .help = "of the training"},
    END};

static const cli_option fewshot_training_options[] = {
    {"arch", 0, "NET", CLI_TEXT, AT(arch), .help = "network (convnet(C-32-32-32), C channels)"},
    {"dimensions", 0, "S", CLI_INTEGER, AT(dimensions), .limit = "dimensions",
     .help = "of the subspace (40)"},
    {"steps", 0, "T", CLI_INTEGER, AT(steps), .limit = "steps",
     .help = "on a task in meta training (5)"},
    {"rate", 0, "X", CLI_NUMBER, AT(rate), .limit = "rate",
     .help = "of these steps (1); other methods try several"},
    {"test-steps", 0, "T", CLI_INTEGER, AT(test_steps), .limit = "test_steps",
     .help = "on a test task, at most (20)"},
    {"meta-steps", 0, "N", CLI_INTEGER, AT(meta_steps), .limit = "meta_steps",
     .help = "of the training over tasks (1,000)"},
    {"meta-tasks", 0, "M", CLI_INTEGER, AT(meta_tasks), .limit = "meta_tasks",
     .help = "of each of these (4)"},
    {"meta-rate", 0, "X", CLI_NUMBER, AT(meta_rate), .limit = "meta_rate",
     .help = "of adam on the subspace (0.0003)"},
    {"meta-queries", 0, "Q", CLI_INTEGER, AT(meta_queries), .limit = "queries",
     .help = "rows of each class in the meta loss (as queries)"},
    {"epochs", 0, "N", CLI_INTEGER, AT(epochs), .limit = "epochs",
     .help = "of the network for features (20)"},
    {"path-epochs", 0, "N", CLI_INTEGER, AT(path_epochs), .limit = "path_epochs",
     .help = "of a training whose path makes a subspace (20)"},
    {"validation-tasks", 0, "M", CLI_INTEGER, AT(validation_tasks), .limit = "validation_tasks",
     .help = "for every choice (20)"},
    {"validate-every", 0, "N", CLI_INTEGER, AT(validate_every), .limit = "validate_every",
     .help = "meta steps between two looks at them (50)"},
    {"time-limit", 0, "SECONDS", CLI_ABOVE, AT(time_limit), .low = 0, .high = 1e15,
     .help = "of all methods, which share it"},
    {"checkpoint", 0, "FILE", CLI_TEXT, AT(checkpoint), .complete = "file",
     .help = "state of a long training, to go on from it"},
    {"checkpoint-every", 0, "SECONDS", CLI_ABOVE, AT(checkpoint_every), .low = 0, .high = 1e15,
     .help = "time between two writes of that file (30)"},
    END};

static const cli_option generate_options[] = {
    {"output", 'o', "FILE", CLI_TEXT, AT(output), .complete = "file",
     .help = "name in .csv, .npy or .libsvm, then .gz (required)"},
    {"rows", 'n', "N", CLI_INTEGER, AT(rows), .low = 1, .high = 1e15,
     .help = "number of rows (required)"},
    {"inputs", 'd', "D", CLI_INTEGER, AT(inputs), .low = 1, .high = 1e7,
     .help = "number of inputs (the generator's)"},
    {"noise", 0, "S", CLI_NUMBER, AT(noise), .low = 0, .high = 1e30,
     .help = "standard deviation of the noise (the generator's)"},
    END};

static const cli_option help_options[] = {
    {"man", 0, NULL, CLI_FLAG, AT(man), .help = "the manual page, as troff"}, END};

/* ---- commands ----------------------------------------------------------- */

#define EVERYWHERE                                                                                 \
    { "Everywhere", cli_everywhere }
#define DATA                                                                                       \
    { "Data", cli_data_options }

const cli_command cli_commands[] = {
    {"train",
     "DATA",
     "fit a model and write it",
     "With no option at all the data are scaled, and exponential, laplacian and\n"
     "gaussian kernels compete on held-out rows, with and without a learned weight\n"
     "of each column (--metric); features and regularisation are chosen too. What was\n"
     "chosen is printed, and 'krein info' shows the weights; --plot draws the errors\n"
     "of all that was tried. With -k only parameters that are not given and\n"
     "regularisation are chosen; --metric and --clip are then none. The printed\n"
     "kernel, map and lambda with --metric file=MODEL give the same predictions\n"
     "again.\n"
     "\n"
     "DATA is CSV, LIBSVM or NPY, plain or gzipped; - is standard input, a pattern in\n"
     "quotes ('part-*.csv') all files that match. Of several --kernels, learners that\n"
     "take several (mkl) train on a weighted sum and print the weights, and -m may be\n"
     "a list with a map for each; other learners get the best kernel by --select. With\n"
     "--checkpoint a training that was interrupted, also by SIGTERM or a crash, goes\n"
     "on where it stood when the same command is given again. Under mpirun krr, dckrr\n"
     "and sskrr share the rows between the processes.\n"
     "\n"
     "With --uncertainty learners other than krr, and for classes svm and laprls, keep\n"
     "a fifth of the rows (30 to 5,000) from the training, to know what the model does\n"
     "on rows that it has not seen; so do dckrr, sskrr, kgd and labelprop with\n"
     "--probabilities.",
     "krein train data.csv\n"
     "krein train data.csv --holdout 0.2 -o model.krein --plot tried.svg\n"
     "krein train big.csv.gz -k laplacian -D 4096 --max-memory 2G\n"
     "krein train huge.npy -D 512 --checkpoint huge.state -o huge.krein\n"
     "krein train data.csv --learner mkl --kernels \"gaussian(sigma=1..8:4); linear\"\n"
     "krein train data.csv --learner \"mkl(method=easymkl, base=svm)\" \\\n"
     "    --kernels \"gaussian; poly(degree=2..3:2)\"",
     1,
     1,
     true,
     false,
     cli_cmd_train,
     {{"Model", train_options}, {"Test", test_options}, DATA, EVERYWHERE},
     "file"},
    {"predict",
     "MODEL DATA",
     "one prediction a line",
     "Prints the class name or the number for each row, in order and in constant\n"
     "memory; a dropped row gives an empty line. Columns are matched by name where\n"
     "there is a header; a label column may be there and is ignored. Scores, then\n"
     "probabilities follow the prediction on its line; the order of the classes is\n"
     "that of 'krein info', and \"classes\" with --json. Then come, of a model that was\n"
     "trained with --uncertainty, --std, --interval (the lower and the upper bound, or\n"
     "the set of classes joined by \"|\") and --novelty, with a line of names before\n"
     "the first where --header is given.",
     "krein predict model.krein new.csv\n"
     "krein predict model.krein new.csv --id name --scores -o out.csv\n"
     "krein predict model.krein new.csv --probabilities\n"
     "krein predict model.krein new.csv --interval 0.9 --std --novelty --header",
     2,
     2,
     true,
     false,
     cli_cmd_predict,
     {{"Predictions", predict_options}, DATA, EVERYWHERE},
     "file"},
    {"evaluate",
     "MODEL DATA",
     "metrics on labelled data",
     "Of a model that was trained with --uncertainty also the share of labels inside\n"
     "intervals (sets of classes), and how wide these are.",
     "krein evaluate model.krein test.csv\n"
     "krein evaluate model.krein test.csv --json",
     2,
     2,
     true,
     false,
     cli_cmd_evaluate,
     {{"Metrics", evaluate_options}, DATA, EVERYWHERE},
     "file"},
    {"transform",
     "DATA",
     "write features as .npy or .libsvm",
     "Writes float32 features, rows x D. Where features have mixed signs, the signs\n"
     "are written beside them (z.sign.npy for z.npy).",
     "krein transform data.csv -k \"gaussian(sigma=2)\" -m \"orf(D=512)\" -o z.npy",
     1,
     1,
     true,
     false,
     cli_cmd_transform,
     {{"Features", feature_options}, {"Map", model_options}, DATA, EVERYWHERE},
     "file"},
    {"gram",
     "DATA [DATA2]",
     "write kernel values as .npy",
     "Writes float64 kernel values of DATA's rows with DATA2's rows (or DATA's).\n"
     "Columns are scaled by DATA's statistics; --scale none takes rows as they are.\n"
     "--check and --repair are for one DATA of at most --max-exact rows.",
     "krein gram data.csv -k \"laplacian(sigma=3)\" --scale none -o K.npy\n"
     "krein gram data.csv -k \"gaussian(sigma=1) - gaussian(sigma=10)\" --check\n"
     "krein gram data.csv -k \"poly(c=-1)\" --repair clip -o K.npy",
     1,
     2,
     true,
     false,
     cli_cmd_gram,
     {{"Kernel values", gram_options}, {"Kernel", kernel_options}, DATA, EVERYWHERE},
     "file"},
    {"select",
     "DATA",
     "score kernels by a criterion",
     "Prints a score for each kernel, in the order given, and the best one. Criteria: see\n"
     "'krein list criteria'. A range makes a family, spaced geometrically: low..high:count. A\n"
     "free scale is the median distance of the rows. Up to --max-exact rows kernels are\n"
     "scored by their matrices; above, and with -m or -D, by features of all rows. loo,\n"
     "cv, gcv and evidence find their lambda on a path unless they are given one.",
     "krein select data.csv --kernels \"gaussian(sigma=2^-5..2^5:21)\" -c loo -c ckta\n"
     "krein select data.csv --kernels \"gaussian; laplacian; poly(degree=2..4:3)\" -c "
     "\"cv(k=10)\"\n"
     "krein select big.csv -k \"gaussian(sigma=0.1..100:31)\" -c \"sm(r=3)\" -m \"orf(D=512)\"",
     1,
     1,
     true,
     false,
     cli_cmd_select,
     {{"Selection", select_options}, DATA, EVERYWHERE},
     "file"},
    {"approx",
     "DATA",
     "how well feature maps approximate a kernel",
     "Prints |K - Khat|_F / |K|_F on a sample of rows, its mean and standard deviation\n"
     "over draws of the features, the largest error of a kernel value, and the time to\n"
     "transform the sample, for each map and number of features.",
     "krein approx data.csv -k \"gaussian(sigma=2)\" -m rff -m orf -m sorf \\\n"
     "    --features 64,128,256,512 --plot maps.svg",
     1,
     1,
     true,
     false,
     cli_cmd_approx,
     {{"Comparison", approx_options}, DATA, EVERYWHERE},
     "file"},
    {"compare",
     "DATA...",
     "several methods on the same splits, with tests",
     "Trains every method on the same seeded splits of every DATA and prints mean and\n"
     "deviation of the measure, rank, time and memory. p is of the corrected resampled\n"
     "t test against the best method, which respects that splits overlap; * marks the\n"
     "best, ~ those that are not significantly worse. With several DATA also mean ranks\n"
     "(Friedman test, critical difference) and Wilcoxon's signed rank test.\n"
     "\n"
     "Methods are all combinations of --learners, --kernels and --maps; 'default' in a\n"
     "list is what train takes by itself, {k1; k2} are several kernels for one mkl. Split\n"
     "r is that of 'krein train --holdout F --seed SEED+r', r from 0. A --command gets\n"
     "the rows as CSV without a header, the label first ({train}) or left out ({test}),\n"
     "and writes one prediction a line to {out}; {model} is a file of its own. With\n"
     "--results a comparison that was interrupted goes on, and methods can be added. A\n"
     "method that fails is told, and the table goes on without it. Under mpirun the\n"
     "trainings are shared between the processes. docs/compare.md has the formulas.",
     "krein compare a.csv b.csv --learners \"krr; svm; logistic\" --kernels \"gaussian; "
     "laplacian\"\n"
     "krein compare a.csv --learners \"default; askl\" --repeat 10 --plot a.svg -o a.md\n"
     "krein compare a.csv --results a.jsonl --command \\\n"
     "    \"trees: python3 fit.py {train} {model} && python3 use.py {model} {test} {out}\"",
     1,
     CLI_OPERANDS,
     true,
     false,
     cli_cmd_compare,
     {{"Comparison", compare_options}, {"Training", compare_train_options}, DATA, EVERYWHERE},
     "file"},
    {"advise",
     "DATA",
     "what theory asks for: features, parts, lambda",
     "From the eigenvalues of a kernel on a sample of rows, and from the labels: how\n"
     "many directions the kernel has (effective dimension) and how fast they grow in\n"
     "number (gamma), how smooth the labels are for it (r), hence the regularisation,\n"
     "random features, landmarks and parts of the data that keep the best rate. First\n"
     "as powers of the number of rows, then with the constants of the sample. Without\n"
     "labels (--label none) r is 1/2. docs/advise.md says how far to trust it.",
     "krein advise data.csv\n"
     "krein advise big.csv.gz -k \"laplacian(sigma=3)\" --rows 4000 --json",
     1,
     1,
     true,
     false,
     cli_cmd_advise,
     {{"Sample", advise_options}, DATA, EVERYWHERE},
     "file"},
    {"pca",
     "DATA",
     "kernel principal components",
     "Prints the variance along the first components, its part of the whole, and\n"
     "the sum of these parts. -o writes the components of the rows, one line a row\n"
     "(an empty line for a dropped one), with a header pc1,pc2,... and the --id\n"
     "column before it. With --model, 'krein predict MODEL new.csv' transforms other\n"
     "rows. Labels are not needed; a label column is left out of the inputs. --plot\n"
     "marks rows by class, where the labels are classes; at most 2,000 rows are drawn.",
     "krein pca data.csv --components 10 --plot plane.svg\n"
     "krein pca data.csv -k \"gaussian(sigma=3)\" --components 2 -o scores.csv \\\n"
     "    --model pca.krein\n"
     "krein predict pca.krein new.csv",
     1,
     1,
     true,
     false,
     cli_cmd_pca,
     {{"Components", pca_options}, DATA, EVERYWHERE},
     "file"},
    {"cluster",
     "DATA",
     "kernel k-means and spectral clustering",
     "Prints the sizes of the clusters, their silhouette (on at most 2,000 rows) and,\n"
     "where the labels of DATA are classes, adjusted Rand index and normalised mutual\n"
     "information with them. Labels serve nothing else. Where no column is named\n"
     "label, target, class or y the first is the label: --label none says that there\n"
     "is none. -o writes the cluster of each row as predict does: a number from 1 a\n"
     "line, the largest cluster first, the --id before it, an empty line for a dropped\n"
     "row. --plot draws at most 2,000 rows in the plane of the first two principal\n"
     "components of the kernel.",
     "krein cluster data.csv --clusters 5 -o clusters.csv --model clusters.krein\n"
     "krein cluster rings.csv --label none -c 2 --method spectral --graph knn",
     1,
     1,
     true,
     false,
     cli_cmd_cluster,
     {{"Clusters", cluster_options}, {"Kernel", cluster_map_options}, DATA, EVERYWHERE},
     "file"},
    {"subspace",
     "DATA",
     "the subspace of a network's training path",
     "Trains a network as train does, keeps its parameters on the way, and writes the\n"
     "principal components of these snapshots: directions in which another training\n"
     "of the same network finds its way (train --subspace).",
     "krein subspace x.npy --labels y.npy --image 32x32x3 -o p.krein \\\n"
     "    --learner \"net(arch=\\\"convnet(3-32-32-32)\\\", optimizer=sgd, epochs=20)\"\n"
     "krein train x.npy --labels y.npy --image 32x32x3 --learner net --subspace p.krein",
     1,
     1,
     true,
     false,
     cli_cmd_subspace,
     {{"Subspace", subspace_options}, {"Test", test_options}, DATA, EVERYWHERE},
     "file"},
    {"fewshot",
     "TRAIN [TEST]",
     "learning from few examples over many tasks",
     "Tasks of a few classes (--ways), with a few rows of each to learn from (--shots)\n"
     "and others to be told (--queries). Methods learn on tasks of TRAIN's classes,\n"
     "choose by tasks of validation classes, and are measured on tasks of TEST's\n"
     "classes, or of a part of TRAIN's where there is no TEST. Rows are images: an .npy\n"
     "of n x h x w x c numbers, or rows with --image; 'krein list fewshot' has the\n"
     "methods.",
     "krein fewshot x.npy --labels y.npy --image 32x32x3 --class-split 128,32,40 \\\n"
     "    --method original --method meta --ways 5 --shots 5\n"
     "krein fewshot train.npy test.npy --labels train-y.npy --test-labels test-y.npy \\\n"
     "    --method ridge --json",
     1,
     2,
     true,
     false,
     cli_cmd_fewshot,
     {{"Tasks", fewshot_options}, {"Training", fewshot_training_options}, DATA, EVERYWHERE},
     "file"},
    {"generate",
     "NAME",
     "write synthetic data",
     "NAME is a generator: see 'krein list generators'. The target comes first; CSV\n"
     "has a header y,x1,x2,... and NPY is float32.",
     "krein generate arm -n 40000 -o arm.csv\n"
     "krein generate \"spiral(turns=3)\" -n 2000 --noise 0.02 -o spiral.csv.gz",
     1,
     1,
     true,
     false,
     cli_cmd_generate,
     {{"Data set", generate_options}, EVERYWHERE},
     "generators"},
    {"plan",
     "DATA",
     "memory, operations and passes that train would need",
     "Takes train's options and reads the data once at most. The exit status is 1\n"
     "where training does not fit in --max-memory, with what would fit.",
     "krein plan big.csv --max-memory 4G",
     1,
     1,
     true,
     false,
     cli_cmd_plan,
     {{"Model", train_options}, {"Test", test_options}, DATA, EVERYWHERE},
     "file"},
    {"info",
     "MODEL",
     "what a model is",
     "With --plot it also draws the frequencies of the model's features and, where a\n"
     "learner has trained them, those at the start: their mean size for each encoded\n"
     "input, and a histogram of their lengths.",
     "krein info model.krein\n"
     "krein info askl.krein --plot spectrum.svg",
     1,
     1,
     true,
     false,
     cli_cmd_info,
     {{"Figure", info_options}, EVERYWHERE},
     "file"},
    {"quantize",
     "MODEL",
     "the same model in 8, 4, 2 or 1 bits",
     "For models on random features (rff, orf, sorf, fastfood, learned, ...) and on kernel\n"
     "values (nystrom, exact). Frequencies or landmarks, features and weights become whole\n"
     "numbers, rounded so that the scores on the rows of --data change least; with labels\n"
     "the accuracy before and after is told.",
     "krein quantize model.krein --bits 8 --data train.csv -o small.krein",
     1,
     1,
     true,
     false,
     cli_cmd_quantize,
     {{"Bits", quantize_options}, DATA, EVERYWHERE},
     "file"},
    {"report",
     "MODEL DATA",
     "an HTML page about a model",
     "What the model is and what else was tried; how good it is on DATA, with intervals\n"
     "and beside a constant and a linear model; which inputs matter; which rows are odd;\n"
     "the kernel on these rows. Of clusters and principal components their plane. One\n"
     "file that asks for no other, for screens, phones and paper. DATA has labels where\n"
     "the model predicts some, and should not be what it was trained on. --json prints\n"
     "all numbers; then -o may be left out.",
     "krein report model.krein test.csv -o report.html\n"
     "krein report model.krein test.csv --train train.csv --curve -o report.html",
     2,
     2,
     true,
     false,
     cli_cmd_report,
     {{"Page", report_options}, DATA, EVERYWHERE},
     "file"},
    {"export",
     "MODEL",
     "one C99 file that predicts",
     "Writes a program without dependencies, with\n"
     "    int NAME_predict(const float *x, float *scores)\n"
     "x has the raw input columns in the order of `krein info`: categories by their\n"
     "number in the order of the comment at the top of the file, missing cells as NaN.\n"
     "The result is the number of the class, or 0 for numbers; scores get the decision\n"
     "values, or the prediction.",
     "krein export model.krein -o model.c\n"
     "krein export model.krein -o iris.c --name iris --header-file iris.h --no-libm",
     1,
     1,
     true,
     false,
     cli_cmd_export,
     {{"Program", export_options}, EVERYWHERE},
     "file"},
    {"list",
     "[kernels|maps|learners|criteria|weighings|solvers|generators]",
     "what there is",
     NULL,
     "krein list maps",
     0,
     1,
     false,
     false,
     cli_cmd_list,
     {EVERYWHERE},
     "tables"},
    {"help",
     "[COMMAND | NAME]",
     "help on a command, or on every thing of that name",
     NULL,
     "krein help train\nkrein help orf",
     0,
     1,
     false,
     false,
     cli_cmd_help,
     {{"Help", help_options}, EVERYWHERE},
     "names"},
    {"demo",
     "",
     "the two-minute tour on built-in data",
     "Works in a temporary directory that is removed at the end.",
     NULL,
     0,
     0,
     true,
     false,
     cli_cmd_demo,
     {EVERYWHERE},
     ""},
    {"completion",
     "[bash]",
     "completion for a shell",
     NULL,
     "eval \"$(krein completion bash)\"",
     0,
     1,
     false,
     true,
     cli_cmd_completion,
     {EVERYWHERE},
     "shells"},
    {"ranks",
     "",
     "the processes that a launcher started",
     "Under mpirun or srun: where the ranks are, the threads and the memory that each\n"
     "takes by itself, and how many bytes of a sum over all ranks are made in a second.",
     "mpirun -n 4 krein ranks",
     0,
     0,
     true,
     true,
     cli_cmd_ranks,
     {EVERYWHERE},
     ""},
    {.name = NULL}};

const cli_command *cli_find_command(const char *name) {
    for (const cli_command *c = cli_commands; c->name; c++)
        if (strcmp(c->name, name) == 0) return c;
    return NULL;
}

const char *cli_nearest_command(const char *name) {
    const char *names[KREIN__COUNT(cli_commands)];
    int64_t n = 0;
    for (const cli_command *c = cli_commands; c->name; c++)
        if (!c->hidden) names[n++] = c->name;
    return krein__nearest(name, names, n);
}
