/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flags.h: the flags of a verb, as a table. The parser, --help, shell completion and the flag
 * sections of the man pages (scripts/man) all read it.
 *
 *     static const kc__cli_flag_choice formats[] = {
 *         {"console", KC_LOG_CONSOLE}, {"json", KC_LOG_JSON}, {NULL}};
 *     static const kc__cli_flag flags[] = {
 *         {"secure-port", .argument = "PORT", .initial = "6443", .parse = kc__cli_flag_port,
 *          .offset = offsetof(options, secure_port), .help = "HTTPS port; 0 disables HTTPS"},
 *         {"log-format", .argument = "FORMAT", .initial = "console", .choices = formats,
 *          .offset = offsetof(options, log_format), .help = "log format"},
 *     };
 *     static const kc__cli_flag_set set = {.verb = "apiserver", KC__CLI_FLAGS(flags), …};
 *     …
 *     options o;
 *     switch (kc__cli_flags_parse(&set, argc, argv, &o, err)) …
 *
 * A flag with a closed set of values names them in `choices`; no parser, help text or completion
 * repeats them. A verb may include the rows of other sets (`parts`), some with another default.
 *
 * Syntax as in kubectl: "--flag value", "--flag=value", "-v 4", "-v=4", "-v4"; a switch is turned
 * on by "--flag" and off by "--flag=false". The last occurrence of a flag wins, except of a list
 * (kc__cli_flag_list), to which every occurrence adds. "--" ends the flags.
 */
#ifndef KC_CMD_FLAGS_H
#define KC_CMD_FLAGS_H

#include "kc/error.h"

#include <stdio.h>

/* Parses one value into *ret, whose type is the parser's. The error names the value and what is
 * accepted (kc__cli_flag_invalid); the caller prepends the flag. The result borrows from `text`. */
typedef int kc__cli_flag_parser(const char *text, void *ret, kc_error *err);

/* One value of a closed set. A set ends with a row whose name is NULL. */
typedef struct kc__cli_flag_choice {
    const char *name;
    int value;        /* Stored if the flag has no parser. */
    const char *help; /* NULL: none. */
} kc__cli_flag_choice;

typedef struct kc__cli_flag {
    const char *name;     /* Without dashes. */
    char letter;          /* Short form; 0: none. */
    const char *argument; /* Placeholder of the value in help, "PORT"; NULL: a switch. */
    const char *initial;  /* Default, in command-line syntax; NULL: the field stays zero. */
    const char *help;     /* Begins with what the flag sets; lower case, no full stop. */
    const char *details;  /* Further sentences for the man page; NULL: none. */
    const char *group;    /* Heading in help; flags of a group are adjacent. */
    const kc__cli_flag_choice *choices;   /* Closed set of values; NULL: an open set. */
    const char *(*choice_name)(size_t i); /* The same for a set known at run time only. */
    bool is_list;                         /* Comma-separated choices; '*' and '-NAME' allowed. */
    const char *values; /* Completion of an open set: "FILE", "DIR", or words; NULL: none. */
    kc__cli_flag_parser *parse; /* NULL: store the choice's value as an int. */
    size_t offset;              /* Of the field in the options. */
    size_t given; /* Of a bool that is set if the flag is on the command line; 0: none. */
} kc__cli_flag;

typedef struct kc__cli_flag_set kc__cli_flag_set;

/* Rows that a verb includes from another set. */
typedef struct kc__cli_flag_part {
    const kc__cli_flag_set *set; /* Its own rows are included, not its parts. */
    size_t at;                   /* Offset of that set's options in the verb's options. */
} kc__cli_flag_part;

/* Overrides of an included row for one verb; NULL: unchanged. */
typedef struct kc__cli_flag_change {
    const char *name;
    const char *initial, *help, *details;
} kc__cli_flag_change;

/* Positional arguments, in order. */
typedef struct kc__cli_flag_operands {
    const char *items[64];
    size_t n;
} kc__cli_flag_operands;

struct kc__cli_flag_set {
    const char *verb;                    /* "apiserver" */
    const char *operands;                /* For help: "[PATH…]"; NULL: the verb takes none. */
    size_t operands_at;                  /* Offset of a kc__cli_flag_operands in the options. */
    bool operand_is_dir;                 /* Completion: the operand is a directory. */
    const kc__cli_flag_choice *commands; /* Accepted first operands; NULL: any. */
    const char *synopsis;                /* One or two sentences for the top of help. */
    const char *examples;                /* Indented lines for the end of help. */
    const kc__cli_flag *flags;
    size_t n_flags;
    const kc__cli_flag_part *parts; /* After its own rows. */
    size_t n_parts;
    const kc__cli_flag_change *changes;
    size_t n_changes;
    size_t size; /* Of the options. */
};

#define KC__CLI_FLAGS(table)        .flags = (table), .n_flags = KC_COUNT(table)
#define KC__CLI_FLAG_PARTS(table)   .parts = (table), .n_parts = KC_COUNT(table)
#define KC__CLI_FLAG_CHANGES(table) .changes = (table), .n_changes = KC_COUNT(table)

/* The i-th flag of the verb, with the verb's overrides. False after the last. */
bool kc__cli_flag_at(const kc__cli_flag_set *set, size_t i, kc__cli_flag *ret);

/* The i-th accepted value of a flag with a closed set; NULL after the last, or for an open set. */
const char *kc__cli_flag_choice_at(const kc__cli_flag *flag, size_t i);

/*
 * Zeroes the options, sets defaults, parses argv[1] and on. 0: done; 1: help was requested.
 * KC_INVALID for an unknown flag, an invalid value or an unexpected argument; the message names the
 * flag, the value, the accepted values and the nearest of them. Options borrow from argv.
 */
int kc__cli_flags_parse(const kc__cli_flag_set *set, int argc, char **argv, void *ret_options,
                        kc_error *err);

/* Sets KC_INVALID, "invalid value 'TEXT': must be ACCEPTED"; returns -KC_INVALID. */
int kc__cli_flag_invalid(const char *text, const char *accepted, kc_error *err);

/* The row of `choices` named `text`; NULL, with an error that lists the names, if there is none.
 * `noun` names what is missing: "command". */
const kc__cli_flag_choice *kc__cli_flag_choose(const kc__cli_flag_choice *choices, const char *noun,
                                               const char *text, kc_error *err);

/* Writes the help: synopsis, flags by group with defaults and accepted values, examples. */
void kc__cli_flags_help(const kc__cli_flag_set *set, FILE *out);

/* Writes the flags as mdoc(7) sections, one per group, for the verb's man page. */
void kc__cli_flags_mdoc(const kc__cli_flag_set *set, FILE *out);

/* ---- parsers; the comment names the type of the field ---- */

kc__cli_flag_parser kc__cli_flag_text;     /* const char * */
kc__cli_flag_parser kc__cli_flag_switch;   /* bool: true, false, 1, 0, … */
kc__cli_flag_parser kc__cli_flag_port;     /* int, 0 to 65535 */
kc__cli_flag_parser kc__cli_flag_address;  /* const char *, an IPv4 or IPv6 address */
kc__cli_flag_parser kc__cli_flag_duration; /* int64_t, more than 0 */
kc__cli_flag_parser kc__cli_flag_interval; /* int64_t, 0 or more */
kc__cli_flag_parser kc__cli_flag_resync;   /* int64_t, at least a minute */
kc__cli_flag_parser kc__cli_flag_count;    /* size_t, 1 to 1,000,000,000 */
kc__cli_flag_parser kc__cli_flag_limit;    /* size_t, 0 or more */
kc__cli_flag_parser kc__cli_flag_bytes;    /* size_t, at least 1: 1048576, 1Mi */

/* The values of a flag that may be repeated. They borrow from argv. */
enum { KC__CLI_FLAG_LIST_MAX = 16 };
typedef struct kc__cli_flag_list {
    kc_str items[KC__CLI_FLAG_LIST_MAX];
    size_t n;
} kc__cli_flag_list;

kc__cli_flag_parser kc__cli_flag_repeated; /* kc__cli_flag_list: one value per occurrence; each is
                                              terminated. */
kc__cli_flag_parser kc__cli_flag_words;    /* kc__cli_flag_list: comma-separated values. */

/* ---- closed sets that several verbs share ---- */

extern const kc__cli_flag_choice kc__cli_flag_log_formats[]; /* kc_log_format */
extern const kc__cli_flag_choice kc__cli_flag_verbosities[]; /* int, 0 to 10 */

#endif
