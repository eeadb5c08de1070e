/* options.h -- GNU style options from tables, and the tables of every command.
 *
 * A table row says what an option is called, what it takes, where the value goes and
 * what it does. The parser, `krein help`, the man page and the completion all read the
 * same rows; a new option is one row in tables.c and one field of cli_args.
 */
#ifndef KREIN_CLI_OPTIONS_H
#define KREIN_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum cli_type {
    CLI_FLAG = 0,    /* bool, set to true */
    CLI_SET = 1,     /* int, set to `value` */
    CLI_TEXT = 2,    /* const char *; one of `words` where there are any */
    CLI_WORD = 3,    /* int, the index among `words` "a|b|c" */
    CLI_INTEGER = 4, /* int64_t in [low, high] */
    CLI_NUMBER = 5,  /* double in [low, high] */
    CLI_ABOVE = 6,   /* double in (low, high) */
    CLI_SEED = 7,    /* uint64_t */
    CLI_SIZE = 8,    /* uint64_t; K, M, G, T are powers of 1024 */
    CLI_NAMED = 9,   /* double in [low, high], or a word of `named` with its value */
    CLI_CHAR = 10,   /* int, one character; "tab" and "space" by name */
    CLI_TEXTS = 11,  /* cli_texts; the option may be repeated */
    CLI_COUNTS = 12, /* cli_counts: whole numbers in [low, high], "8,16,32" */
    CLI_MAYBE = 13   /* int: 1, or with =WORD 2 and the index among `words` */
} cli_type;

/* A word that stands for a number; the last has no word. */
typedef struct cli_named {
    const char *word;
    double value;
} cli_named;

/* A table ends with a row whose name is NULL. */
typedef struct cli_option {
    const char *name;
    char letter;          /* 0: no short form */
    const char *argument; /* "N"; NULL: takes none */
    cli_type type;
    size_t where;           /* offset in cli_args */
    const char *help;       /* one line */
    const char *words;      /* CLI_WORD */
    const cli_named *named; /* CLI_NAMED */
    double low, high;
    const char *limit;    /* low and high are those of this option of the library */
    int value;            /* CLI_SET */
    const char *complete; /* for the shell: "file", or a table of the library, "kernels" */
} cli_option;

enum { CLI_OPERANDS = 64, CLI_LIST = 64 };

typedef struct cli_texts {
    const char *text[CLI_LIST];
    int64_t n;
} cli_texts;

typedef struct cli_counts {
    int64_t count[CLI_LIST];
    int64_t n;
} cli_counts;

/* What was typed. The initial values (cli_defaults) mean "not given". */
typedef struct cli_args {
    /* everywhere */
    uint64_t seed, max_memory;
    int64_t threads;
    bool quiet, verbose, json, help;
    /* data */
    const char *format, *label, *labels, *weights, *group, *ignore, *id, *image;
    int delimiter, header, task, missing, unknown, scale, categories, types;
    int64_t targets, max_exact;
    /* train */
    const char *output, *learner, *kernel, *map, *select, *test, *test_labels, *unlabeled;
    int64_t features;
    double lambda, time_limit, holdout, checkpoint_every, effort, clip;
    const char *metric;
    const char *checkpoint, *graph_file;
    bool probabilities; /* predict's too */
    bool uncertainty;
    /* the others */
    bool scores, man, check;
    int std;
    double interval;
    bool novelty;
    int repair;
    int64_t rows, inputs, repeats;
    double noise;
    cli_texts maps;
    cli_counts sizes;
    const char *plot, *model;
    int64_t components;
    /* select */
    const char *kernels; /* train's too */
    cli_texts criteria;
    /* report */
    const char *train, *train_labels, *title;
    bool curve;
    /* export */
    const char *name, *header_file;
    bool no_libm, stored;
    /* quantize */
    const char *data;
    int64_t bits;
    /* cluster */
    int64_t clusters, neighbours, restarts;
    int method, graph;
    /* compare */
    const char *learners, *map_list, *results;
    cli_texts commands;
    int measure, table;
    double level;
    int64_t parallel;
    /* fewshot, subspace */
    cli_texts methods;
    cli_counts split;
    const char *arch, *subspace;
    int64_t ways, shots, queries, tasks, dimensions, steps, test_steps, meta_steps, meta_tasks,
        meta_queries, epochs, path_epochs, validation_tasks, validate_every, every;
    double rate, meta_rate;
    int subspace_start;

    const char *operand[CLI_OPERANDS];
    int operands;
} cli_args;

typedef struct cli_group {
    const char *title;
    const cli_option *options;
} cli_group;

struct cli_app;

typedef struct cli_command {
    const char *name;
    const char *operands; /* for the usage line: "MODEL DATA" */
    const char *summary;  /* one line */
    const char *details;  /* a paragraph or more, lines broken by hand; or NULL */
    const char *examples; /* one command a line; or NULL */
    int least, most;      /* operands */
    bool computes;        /* wants a context and a good BLAS */
    bool hidden;
    int (*run)(struct cli_app *app); /* returns the exit status */
    cli_group groups[5];             /* own options first; ends with a NULL title */
    const char *complete;            /* operands, for the shell: "file", "generators", ... */
} cli_command;

/* tables.c: ends with a command whose name is NULL. */
extern const cli_command cli_commands[];
extern const cli_option cli_everywhere[], cli_data_options[];
const cli_command *cli_find_command(const char *name);
/* The nearest command's name, or NULL. */
const char *cli_nearest_command(const char *name);

void cli_defaults(cli_args *args);
/* False when something is wrong: then the message has been printed. argv[0] is the
 * command's name. --help stops the checks and sets args->help. */
bool cli_parse(const cli_command *command, int argc, char **argv, cli_args *args);
/* The row of a long name or a letter, or NULL. */
const cli_option *cli_find_option(const cli_command *command, const char *name, size_t length,
                                  char letter);

#endif
