/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syntax_internal.h: from text to a tree.
 *
 *     expression ─ lexer.c ─▶ tokens ─ parser.c, macro.c ─▶ tree ─ checker.c ─▶ tree with types
 *
 * A tree belongs to the arena of its compilation. Positions are byte offsets into the expression;
 * source.c converts them to lines and columns for messages.
 */
#ifndef KC_CEL_SYNTAX_INTERNAL_H
#define KC_CEL_SYNTAX_INTERNAL_H

#include "cel/type/type_internal.h"

/* ---- messages (source.c) ---- */

/* Positions of errors that have none. */
#define KC__CEL_NOWHERE       UINT32_MAX
#define KC__CEL_INSTANTIATION (UINT32_MAX - 1) /* Of the program, not of the expression. */

enum { KC__CEL_ERRORS_MAX = 100 };

/* What one compilation shares. */
typedef struct kc__cel_source {
    kc_str text;
    kc_arena *arena;
    kc_cel_errors *errors;
    uint32_t last_at; /* Of the last error. */
    size_t n_nodes, max_nodes;
} kc__cel_source;

/* Adds an error at a position, or KC__CEL_NOWHERE. */
void kc__cel_report(kc__cel_source *source, uint32_t at, const char *fmt, ...) KC_PRINTF(3, 4);
bool kc__cel_failed(const kc__cel_source *source);

/* ---- tokens (lexer.c) ---- */

typedef enum kc__cel_token_kind {
    KC__CEL_T_END,
    KC__CEL_T_IDENT,
    KC__CEL_T_ESCAPED_IDENT,
    KC__CEL_T_INT,
    KC__CEL_T_UINT,
    KC__CEL_T_FLOAT,
    KC__CEL_T_STRING,
    KC__CEL_T_BYTES,
    KC__CEL_T_TRUE,
    KC__CEL_T_FALSE,
    KC__CEL_T_NULL,
    KC__CEL_T_IN,
    KC__CEL_T_OPERATOR, /* Punctuation; the text tells which. */
} kc__cel_token_kind;

typedef struct kc__cel_token {
    kc__cel_token_kind kind;
    kc_str text;
    uint32_t at;
} kc__cel_token;

/* The next token at or after *at, which moves behind it. Reports what is no token and skips it. */
kc__cel_token kc__cel_lex(kc__cel_source *source, uint32_t *at);
/* The content of a string or bytes token. False with a message. */
bool kc__cel_unescape(kc_arena *arena, kc_str token, bool bytes, kc_str *ret, const char **why);

/* ---- the tree ---- */

typedef enum kc__cel_expr_kind {
    KC__CEL_UNSPECIFIED, /* In place of what could not be parsed. */
    KC__CEL_LITERAL,
    KC__CEL_IDENT,
    KC__CEL_SELECT,
    KC__CEL_CALL,
    KC__CEL_LIST,
    KC__CEL_MAP,
    KC__CEL_STRUCT,
    KC__CEL_FOLD,
} kc__cel_expr_kind;

typedef struct kc__cel_expr kc__cel_expr;
typedef struct kc__cel_overload kc__cel_overload;

typedef struct kc__cel_entry {
    kc__cel_expr *key; /* Of a map. */
    kc_str field;      /* Of a struct. */
    kc__cel_expr *value;
    uint32_t at;
    bool optional;
} kc__cel_entry;

/* Where a value comes from, for the estimation of costs: a path through declared types. */
typedef struct kc__cel_path {
    bool known;
    const kc_cel_type *type; /* NULL when the path leads nowhere. */
} kc__cel_path;

/* Estimated sizes of the keys and values of a list or map. */
typedef struct kc__cel_entry_size {
    bool known;
    kc_cel_kind container;
    kc_cel_cost key, value;
} kc__cel_entry_size;

struct kc__cel_expr {
    kc__cel_expr_kind kind;
    uint32_t at;
    const kc_cel_type *type; /* Set by the checker. */
    /* Set by the estimation of costs. */
    bool has_size;
    kc_cel_cost size;
    kc__cel_entry_size entry_size;
    kc__cel_path path;
    union {
        kc_cel_value literal;
        struct {
            kc_str name;
            int variable; /* Index of a declared variable; -1 for a local one. Set by the checker.
                           */
            int local;    /* Index of a local variable; -1 for others. */
            const kc_cel_type *names_type; /* The identifier is the name of a type. */
            bool has_no_value;             /* The name of a type that only the checker knows. */
        } ident;
        struct {
            kc__cel_expr *operand;
            kc_str field;
            bool test_only; /* has(operand.field) */
        } select;
        struct {
            kc_str function;
            kc__cel_expr *target; /* NULL for a global function. */
            kc__cel_expr **args;
            size_t n_args;
            const kc__cel_overload *const *overloads; /* That match. Set by the checker. */
            size_t n_overloads;
            const kc__cel_overload *const *declared; /* All of the function; also by the checker. */
            size_t n_declared;
        } call;
        struct {
            kc__cel_expr **items;
            bool *optional; /* Per item; NULL when none is. */
            size_t n;
        } list;
        struct {
            kc_str type_name; /* Of a struct. */
            kc__cel_entry *entries;
            size_t n;
        } map;
        struct {
            kc__cel_expr *range, *init, *condition, *step, *result;
            kc_str var, var2, accu;                /* var2 is empty with one variable. */
            int var_local, var2_local, accu_local; /* Set by the checker. */
        } fold;
    };
};

/* The names of operators as functions, as cel-go has them. */
#define KC__CEL_OP_CONDITIONAL   "_?_:_"
#define KC__CEL_OP_AND           "_&&_"
#define KC__CEL_OP_OR            "_||_"
#define KC__CEL_OP_NOT           "!_"
#define KC__CEL_OP_NOT_FALSE     "@not_strictly_false"
#define KC__CEL_OP_EQUAL         "_==_"
#define KC__CEL_OP_NOT_EQUAL     "_!=_"
#define KC__CEL_OP_LESS          "_<_"
#define KC__CEL_OP_LESS_EQUAL    "_<=_"
#define KC__CEL_OP_GREATER       "_>_"
#define KC__CEL_OP_GREATER_EQUAL "_>=_"
#define KC__CEL_OP_IN            "@in"
#define KC__CEL_OP_ADD           "_+_"
#define KC__CEL_OP_SUBTRACT      "_-_"
#define KC__CEL_OP_MULTIPLY      "_*_"
#define KC__CEL_OP_DIVIDE        "_/_"
#define KC__CEL_OP_MODULO        "_%_"
#define KC__CEL_OP_NEGATE        "-_"
#define KC__CEL_OP_INDEX         "_[_]"
#define KC__CEL_OP_OPT_INDEX     "_[?_]"
#define KC__CEL_OP_OPT_SELECT    "_?._"
#define KC__CEL_MAP_INSERT       "cel.@mapInsert"
#define KC__CEL_ACCUMULATOR      "@result"

/* Constructors. Each returns a node at a position; an expression with too many nodes is reported
 * once, and construction continues with nodes that nothing evaluates. */
kc__cel_expr *kc__cel_new_expr(kc__cel_source *s, kc__cel_expr_kind kind, uint32_t at);
kc__cel_expr *kc__cel_new_literal(kc__cel_source *s, uint32_t at, kc_cel_value value);
kc__cel_expr *kc__cel_new_ident(kc__cel_source *s, uint32_t at, kc_str name);
kc__cel_expr *kc__cel_new_select(kc__cel_source *s, uint32_t at, kc__cel_expr *operand,
                                 kc_str field);
/* `args` is copied; up to three arguments. */
kc__cel_expr *kc__cel_new_call(kc__cel_source *s, uint32_t at, const char *function, size_t n,
                               kc__cel_expr *const *args);
kc__cel_expr *kc__cel_new_member_call(kc__cel_source *s, uint32_t at, const char *function,
                                      kc__cel_expr *target);
/* The copy has the positions of the original. */
kc__cel_expr *kc__cel_copy_expr(kc__cel_source *s, const kc__cel_expr *expr);
#define kc__cel_call(s, at, function, ...)                                          \
    kc__cel_new_call(s, at, function,                                               \
                     sizeof((kc__cel_expr *const[]){__VA_ARGS__}) / sizeof(void *), \
                     (kc__cel_expr *const[]){__VA_ARGS__})

/* ---- parser and macros ---- */

/* NULL when an error was reported. */
kc__cel_expr *kc__cel_parse(const kc_cel_env *env, kc__cel_source *source);

/* Expands a call that is a macro. False when it is none; *ret is NULL when an error was
 * reported. */
bool kc__cel_expand_macro(const kc_cel_env *env, kc__cel_source *source, uint32_t at,
                          kc_str function, kc__cel_expr *target, kc__cel_expr **args, size_t n,
                          kc__cel_expr **ret);

/* ---- checker ---- */

typedef struct kc__cel_scope {
    const kc_cel_variable *variables;
    size_t n_variables;
    uint64_t used;   /* Bits of variables, as in kc_cel_program. */
    size_t n_locals; /* The number of local variables alive at once, at most. */
} kc__cel_scope;

/* Sets types, overloads and variables in the tree. False when an error was reported. */
bool kc__cel_check(const kc_cel_env *env, kc__cel_source *source, kc__cel_scope *scope,
                   kc__cel_expr *root);
/* Checks constant arguments of a checked tree (validate.c). */
bool kc__cel_validate(const kc_cel_env *env, kc__cel_source *source, const kc__cel_expr *root);

#endif
