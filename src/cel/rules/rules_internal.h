/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules_internal.h: the rules of a schema, compiled.
 *
 * A tree of nodes follows the schema, as far as it has rules. A node has the programs of its rules
 * and the type of `self`:
 *
 *     kc_cel_rules ── root ─┬─ rules: program, message program, field, reason
 *                           ├─ fields[] ──▶ node …      properties with rules at any depth
 *                           └─ items, additional ──▶ node …
 *
 * Types are declared once, at the topmost node with rules of a path, and nodes below use the parts
 * of that type. All memory belongs to the tree; programs are freed one by one.
 */
#ifndef KC_CEL_RULES_INTERNAL_H
#define KC_CEL_RULES_INTERNAL_H

#include "kc/cel.h"
#include "kc/cel_rules.h"
#include "kc/ref.h"

/* The variables of a rule, in this order. */
enum { KC__CEL_SELF, KC__CEL_OLD_SELF, KC__CEL_RULE_VARIABLES };

typedef struct kc__cel_schema_rule {
    kc_cel_program *program;   /* NULL: the rule is empty or invalid. */
    kc_cel_program *message;   /* Of messageExpression; NULL: none, or invalid. */
    const char *error;         /* Why the rule is invalid. */
    const char *message_error; /* Why messageExpression is invalid. */
    kc_str name;               /* In errors: the message, or the rule. */
    kc_str text;               /* What a broken rule says without messageExpression. */
    kc_str message_source;     /* The text of messageExpression. */
    kc_str field;              /* fieldPath, normalized. */
    kc_field_error_type reason;
    bool uses_old;
    bool optional_old; /* oldSelf is an optional value. */
} kc__cel_schema_rule;

typedef struct kc__cel_rule_node kc__cel_rule_node;

typedef struct kc__cel_rule_field {
    kc_str name;
    const kc__cel_rule_node *node;
} kc__cel_rule_field;

struct kc__cel_rule_node {
    const kc_schema *schema;
    const kc_cel_type *type; /* Of self; NULL without rules. */
    bool has_no_type;        /* It has rules nevertheless: they fail. */
    kc_str type_name;        /* Of JSON, quoted: the value that errors show. */
    kc__cel_schema_rule *rules;
    size_t n_rules;
    bool uses_old; /* One of the rules does. */
    const kc__cel_rule_node *items, *additional;
    const kc__cel_rule_field *fields; /* Sorted by name. */
    size_t n_fields;
};

struct kc_cel_rules {
    kc_ref refs;
    kc_arena arena;
    kc_cel_types *types;
    const kc__cel_rule_node *root; /* NULL: there are no rules. */
    KC_VEC(kc_cel_program *) programs;
    size_t program_memory; /* When they were compiled. */
    size_t n_rules;
};

/* ---- rules_compile.c: one node ---- */

/* Compiles expressions for a tree. Environments are made when they are first needed. */
typedef struct kc__cel_rule_compiler {
    kc_cel_rules *rules;
    const kc_map *stored_rules, *stored_messages; /* NULL with `all_stored`. */
    bool all_stored;
    kc_cel_env *stored_env, *new_env;
} kc__cel_rule_compiler;

void kc__cel_rule_compiler_done(kc__cel_rule_compiler *c);
/* Compiles the rules of `json`, a schema with at least one, into the node, whose type is set. */
void kc__cel_rules_compile_node(kc__cel_rule_compiler *c, const kc_value *json,
                                kc__cel_rule_node *node);

/* ---- rules_tree.c: the walk over a schema ---- */

/* Called for each node with rules after its children, with the path of the schema. */
typedef struct kc__cel_rule_place {
    const kc_value *json;
    const kc__cel_rule_node *node;
    const char *path;
    bool bounded;       /* Lists and maps around the schema have limits: … */
    uint64_t count;     /* … at most this many values exist in one object. */
    kc_str no_old_self; /* Path of a list whose items have no counterparts; empty: none. */
} kc__cel_rule_place;

typedef struct kc__cel_rule_visitor {
    /* False skips the rules of a node. May be NULL. */
    bool (*accepts)(const char *path, void *user);
    /* May be NULL. */
    void (*visit)(const kc__cel_rule_place *place, void *user);
    void *user;
} kc__cel_rule_visitor;

typedef struct kc__cel_rule_build_opts {
    const char *base;                    /* Path of the schema; not empty. */
    bool fragment;                       /* The schema is not that of a resource. */
    const kc__cel_rule_visitor *visitor; /* May be NULL. */
} kc__cel_rule_build_opts;

kc_cel_rules *kc__cel_rules_new(void);
/* Builds the tree of a schema. */
void kc__cel_rules_build(kc__cel_rule_compiler *c, const kc_value *openapi, const kc_schema *schema,
                         const kc__cel_rule_build_opts *opts);

/* ---- rules_old.c: values and the values they replace ---- */

/* A value that replaces another. `equal` is the cached result of the comparison. */
typedef struct kc__cel_correlated {
    const kc_value *value, *old;
    const kc_schema *schema;
    enum { KC__CEL_NOT_COMPARED, KC__CEL_UNCHANGED, KC__CEL_CHANGED } equal;
} kc__cel_correlated;

/* Whether the value equals the one it replaces, in Kubernetes' sense: lists of type map are
 * compared by key, and a member without a schema makes an object different. */
bool kc__cel_is_unchanged(kc__cel_correlated *c);

/* The parts of an old value by name or key, for long objects and lists of type map. */
typedef struct kc__cel_old_parts {
    const kc_value *old;
    const kc_value *keys; /* Of a list of type map. */
    kc_map index;
    kc_arena arena;
    bool indexed;
} kc__cel_old_parts;

/* `old` may be NULL or of any type. */
void kc__cel_old_object(kc__cel_old_parts *parts, const kc_value *old);
void kc__cel_old_list(kc__cel_old_parts *parts, const kc_value *old, const kc_schema *schema);
void kc__cel_old_parts_done(kc__cel_old_parts *parts);
/* The replaced value of a member or item; NULL: none. */
const kc_value *kc__cel_old_member(const kc__cel_old_parts *parts, kc_str name);
const kc_value *kc__cel_old_item(const kc__cel_old_parts *parts, const kc_value *item);

#endif
