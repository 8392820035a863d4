/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flags.h: the flags of a verb, as a table: from it come parsing, --help, completion and the checks
 * of the man page.
 *
 *     static const kc_flag flags[] = {
 *         {"secure-port", .argument = "PORT", .initial = "6443", .parse = kc_flag_port,
 *          .offset = offsetof(options, secure_port), .help = "port for TLS; 0 turns it off"},
 *     };
 *     static const kc_flag_set set = {.verb = "apiserver", KC_FLAGS(flags), …};
 *     …
 *     options o;
 *     switch (kc_flags_parse(&set, argc, argv, &o, err)) …
 *
 * A verb may have the rows of others beside its own (`parts`), some of them with another default.
 *
 * As kubectl's: "--flag value", "--flag=value", "-v 4", "-v=4", "-v4"; a switch is turned on by
 * "--flag" and off by "--flag=false". Given twice, the last one counts. "--" ends the flags.
 */
#ifndef KC_CMD_FLAGS_H
#define KC_CMD_FLAGS_H

#include "kc/error.h"

#include <stdio.h>

/* Reads one value into *ret, whose type is the parser's. The error is what is wrong with `text`;
 * the flag's name is put before it. Whatever it stores borrows from `text`. */
typedef int kc_flag_parser(const char *text, void *ret, kc_error *err);

typedef struct kc_flag {
    const char *name;     /* Without dashes. */
    char letter;          /* A short one; 0: none. */
    const char *argument; /* What stands for the value in help, "PORT"; NULL: a switch. */
    const char *initial;  /* The default, as it would be typed; NULL: the field stays zero. */
    const char *help;     /* Begins in lower case, ends without full stop. */
    const char *group;    /* A heading in help; flags of a group stand together. */
    const char *values;   /* For completion: "a b", "FILE", "FOLDER"; NULL: nothing to offer. */
    kc_flag_parser *parse;
    size_t offset; /* Of the field in the options. */
} kc_flag;

typedef struct kc_flag_set kc_flag_set;

/* Rows that a verb has from another, or from a set that is no verb's. */
typedef struct kc_flag_part {
    const kc_flag_set *set; /* Of which it has the own rows. */
    size_t at;              /* Where that one's options are in the verb's. */
} kc_flag_part;

/* What a shared row says otherwise in one verb; NULL: as it stands there. */
typedef struct kc_flag_change {
    const char *name;
    const char *initial, *help;
} kc_flag_change;

/* What a verb takes beside flags, in order. */
typedef struct kc_flag_operands {
    const char *items[64];
    size_t n;
} kc_flag_operands;

struct kc_flag_set {
    const char *verb;     /* "apiserver" */
    const char *operands; /* For help: "[PATH…]"; NULL: it takes none. */
    size_t operands_at;   /* Offset of a kc_flag_operands in the options. */
    const char *synopsis; /* A sentence or two for the top of help. */
    const char *examples; /* Lines for its end, indented. */
    const kc_flag *flags;
    size_t n_flags;
    const kc_flag_part *parts; /* Behind its own. */
    size_t n_parts;
    const kc_flag_change *changes;
    size_t n_changes;
    size_t size; /* Of the options. */
};

#define KC_FLAGS(table)        .flags = (table), .n_flags = KC_COUNT(table)
#define KC_FLAG_PARTS(table)   .parts = (table), .n_parts = KC_COUNT(table)
#define KC_FLAG_CHANGES(table) .changes = (table), .n_changes = KC_COUNT(table)

/* A flag by its number, as it is in this verb. False behind the last. */
bool kc_flag_at(const kc_flag_set *set, size_t i, kc_flag *ret);

/*
 * Zeroes the options, sets defaults, reads argv[1] and on. 0: done; 1: help was asked for. Negative
 * with a sentence (KC_INVALID) for an unknown flag (with what may have been meant), a value that is
 * none, or an argument that is no flag. Options borrow from argv.
 */
int kc_flags_parse(const kc_flag_set *set, int argc, char **argv, void *ret_options, kc_error *err);

/* Writes the help: synopsis, flags by group with their defaults, examples. */
void kc_flags_help(const kc_flag_set *set, FILE *out);

/* ---- parsers; the type of the field stands at each ---- */

kc_flag_parser kc_flag_text;       /* const char * */
kc_flag_parser kc_flag_switch;     /* bool: true, false, 1, 0, … */
kc_flag_parser kc_flag_port;       /* int, 0 to 65535 */
kc_flag_parser kc_flag_address;    /* const char *, an IPv4 or IPv6 address */
kc_flag_parser kc_flag_duration;   /* int64_t, more than 0 */
kc_flag_parser kc_flag_verbosity;  /* int, 0 to 10 */
kc_flag_parser kc_flag_log_format; /* kc_log_format */

#endif
