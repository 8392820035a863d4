/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cel.h: the Common Expression Language, with the functions, costs and messages of Kubernetes
 * v1.34.
 *
 *     kc_auto(kc_cel_env) *env = kc_cel_env_new(NULL);
 *     kc_cel_variable self = {"self", kc_cel_type_basic(KC_CEL_DYN)};
 *     kc_scoped(kc_cel_errors) errors = {0};
 *     kc_auto(kc_cel_program) *program = kc_cel_compile(
 *         env, KC_STR("self.replicas <= self.maxReplicas"),
 *         &(kc_cel_compile_opts){.variables = &self, .n_variables = 1}, &errors);
 *     if (!program)
 *         return …;                                           kc_cel_errors_write(&errors, …)
 *
 *     kc_scoped(kc_arena) arena = {0};
 *     kc_cel_value object = kc_cel_of_json(kc_view_root(view), self.type), result;
 *     kc_cel_eval_opts opts = {.arena = &arena};
 *     if (kc_cel_evaluate(program, &object, &opts, &result, err) < 0)
 *         return …;                                           "no such key: replicas"
 *     if (!kc_cel_is_true(result))
 *         …
 *
 * Environments, types and programs are immutable: any number of threads may use them. A value is
 * plain data that refers to what it was made from: a view, an arena, a program. An evaluation
 * belongs to one thread and never blocks; its time and memory are bounded by its budget.
 */
#ifndef KC_CEL_H
#define KC_CEL_H

#include "kc/arena.h"
#include "kc/buf.h"
#include "kc/error.h"
#include "kc/schema.h"
#include "kc/view.h"

typedef struct kc_cel_env kc_cel_env;
typedef struct kc_cel_type kc_cel_type;
typedef struct kc_cel_types kc_cel_types;
typedef struct kc_cel_program kc_cel_program;

/* Kinds of values and of types. */
typedef enum kc_cel_kind {
    KC_CEL_ERROR, /* A failed evaluation; a type that could not be determined. */
    KC_CEL_NULL,
    KC_CEL_BOOL,
    KC_CEL_INT,
    KC_CEL_UINT,
    KC_CEL_DOUBLE,
    KC_CEL_STRING,
    KC_CEL_BYTES,
    KC_CEL_TIMESTAMP,
    KC_CEL_DURATION,
    KC_CEL_LIST,
    KC_CEL_MAP,
    KC_CEL_OBJECT, /* A JSON object with declared fields. */
    KC_CEL_TYPE,
    KC_CEL_OPTIONAL,
    KC_CEL_OPAQUE, /* A value of a library: a URL, a quantity, … */
    /* Of types only: */
    KC_CEL_DYN,
    KC_CEL_PARAM,
} kc_cel_kind;

/* ---- values ---- */

typedef struct kc_cel_value {
    uint8_t kind; /* kc_cel_kind. */
    uint8_t form; /* Of a list or map: its representation. */
    int16_t zone; /* Of a timestamp: minutes east of UTC in its text. */
    union {
        uint32_t nanos; /* Of a timestamp. */
        uint32_t
            reading; /* Of a list or map that is JSON: which reading of it, in an evaluation. */
    };
    union {
        bool boolean;
        int64_t integer; /* An int; a timestamp in seconds since 1970; a duration in nanoseconds. */
        uint64_t natural;
        double number;
        kc_str text; /* A string, bytes, or the message of an error. */
        const kc_cel_type *type;
        const struct kc_cel_value *inner; /* Of an optional; NULL for none. */
        struct {
            const kc_value *json;
            const kc_cel_type *type;
        } json; /* A list, map or object that is JSON; with KC_CEL_DYN, JSON not yet read. */
        struct kc__cel_list *list;
        struct kc__cel_map *map;
        const struct kc_cel_lookup *lookup;
        struct {
            const kc_cel_type *type;
            const void *data;
        } opaque;
    };
} kc_cel_value;

/* JSON, which must outlive the value; NULL is null. An evaluation reads it according to the type: a
 * declared type gives declared fields and formats, KC_CEL_DYN the types of JSON. */
kc_cel_value kc_cel_of_json(const kc_value *json, const kc_cel_type *type);
kc_cel_value kc_cel_of_bool(bool value);
kc_cel_value kc_cel_of_int(int64_t value);
kc_cel_value kc_cel_of_str(kc_str text);
kc_cel_value kc_cel_null(void);
/* An optional value; NULL for none. The inner value, which may be JSON not yet read, must outlive
 * the result. */
kc_cel_value kc_cel_of_optional(const kc_cel_value *inner);

/*
 * An object whose fields are computed when they are read, such as the variables of a policy. `get`
 * returns the value of a declared field, and sets *ret_found; it runs on the thread of the
 * evaluation. A value of kind KC_CEL_ERROR fails the evaluation with its text. The lookup and the
 * values must outlive the evaluation's result.
 */
typedef struct kc_cel_lookup {
    kc_cel_value (*get)(kc_str name, bool *ret_found, void *user);
    void *user;
    size_t n_fields;
} kc_cel_lookup;
kc_cel_value kc_cel_of_lookup(const kc_cel_lookup *lookup);
/* A failed value, for `get`. The message is not copied. */
kc_cel_value kc_cel_of_error(kc_str message);

/* ---- authorization ---- */

/* What an expression checks: a path, or a resource. Empty parts are not set. */
typedef struct kc_cel_authorizer_check {
    kc_str verb, path;
    kc_str group, resource, subresource, ns, name, field_selector, label_selector;
    /* The service account that the check is about; empty: the user of the request. */
    kc_str service_account, service_account_ns;
} kc_cel_authorizer_check;

typedef struct kc_cel_decision {
    bool allowed;
    kc_str reason, error; /* Copied after the call. */
} kc_cel_decision;

/* Answers the checks of the variable `authorizer`. Runs on the thread of the evaluation and must
 * not block. */
typedef struct kc_cel_authorizer {
    void (*check)(const kc_cel_authorizer_check *check, kc_cel_decision *ret, void *user);
    void *user;
} kc_cel_authorizer;
kc_cel_value kc_cel_of_authorizer(const kc_cel_authorizer *authorizer);
/* The type of that variable. */
const kc_cel_type *kc_cel_type_authorizer(void);

/* A check of a resource whose attributes are already set: the variable authorizer.requestResource.
 */
typedef struct kc_cel_resource_check {
    const kc_cel_authorizer *authorizer;
    kc_cel_authorizer_check check;
} kc_cel_resource_check;
kc_cel_value kc_cel_of_resource_check(const kc_cel_resource_check *check);
const kc_cel_type *kc_cel_type_resource_check(void);

static inline bool kc_cel_is_true(kc_cel_value value)
{
    return value.kind == KC_CEL_BOOL && value.boolean;
}

/* Writes a value as JSON: bytes as base64, timestamps and durations as text. False for a value that
 * JSON cannot express: a type, an opaque value, a map with keys that are not strings. */
bool kc_cel_write_json(kc_cel_value value, kc_buf *out);
/* Calls `each` for the elements of a list, with an empty name, or for the members of a map or
 * object, until it returns false. */
void kc_cel_each(kc_cel_value container, bool (*each)(kc_str name, kc_cel_value value, void *user),
                 void *user);
/* Writes a value as an expression that denotes it, for people. */
void kc_cel_write_text(kc_cel_value value, kc_buf *out);

/* Checks that each Object in a value is named by the path of the field it is in: Object.spec for
 * the field spec of Object. False with Kubernetes' message. */
bool kc_cel_check_object_names(kc_cel_value value, kc_buf *why);

/* ---- types ---- */

/* A type without parameters: KC_CEL_DYN, KC_CEL_INT, … Static. */
const kc_cel_type *kc_cel_type_basic(kc_cel_kind kind);
kc_cel_kind kc_cel_type_kind(const kc_cel_type *type);
/* The type as messages name it: "list(map(string, dyn))". */
void kc_cel_type_write(const kc_cel_type *type, kc_buf *out);
/* The type as cel-go prints it elsewhere: "null_type", "google.protobuf.Timestamp". */
void kc_cel_type_write_name(const kc_cel_type *type, kc_buf *out);

/* A registry of types. Types live as long as their registry, programs that use them included. */
kc_cel_types *kc_cel_types_new(void);
kc_cel_types *kc_cel_types_free(kc_cel_types *types);
KC_AUTO_DEFINE(kc_cel_types, kc_cel_types_free)
/* Bytes of memory. */
size_t kc_cel_types_memory(const kc_cel_types *types);

const kc_cel_type *kc_cel_types_list(kc_cel_types *types, const kc_cel_type *element);
const kc_cel_type *kc_cel_types_map(kc_cel_types *types, const kc_cel_type *key,
                                    const kc_cel_type *value);
const kc_cel_type *kc_cel_types_optional(kc_cel_types *types, const kc_cel_type *inner);
/* An object type and, one by one, its fields. Complete it before the first use. */
kc_cel_type *kc_cel_types_object(kc_cel_types *types, const char *name);
void kc_cel_types_add_field(kc_cel_types *types, kc_cel_type *object, kc_str name,
                            const kc_cel_type *type);
/*
 * An object type whose fields appear while expressions are compiled, such as the variables of a
 * policy: a field exists from the time it gets its type (kc_cel_type_set_field), which may be
 * replaced. The names are copied; a repeated name counts once. Only the compiling thread may use
 * the type.
 */
kc_cel_type *kc_cel_types_growing_object(kc_cel_types *types, const char *name,
                                         const kc_str *fields, size_t n);
void kc_cel_type_set_field(kc_cel_type *object, kc_str name, const kc_cel_type *type);
/* The type that Kubernetes declares for a field that holds results of type `result`: scalars, lists
 * and maps of such; dyn for everything else, and for NULL. */
const kc_cel_type *kc_cel_types_of_result(kc_cel_types *types, const kc_cel_type *result);

/*
 * The type of a structural schema, nested types included, as Kubernetes declares it: names that are
 * no identifiers or reserved are escaped, fields that cannot be expressed are left out. NULL for a
 * schema without a type in CEL. `name` is the name of the type in messages. The schema must outlive
 * the registry.
 */
typedef struct kc_cel_schema_opts {
    bool resource_root; /* Add apiVersion, kind, metadata.name and metadata.generateName. */
} kc_cel_schema_opts;
const kc_cel_type *kc_cel_types_schema(kc_cel_types *types, const kc_schema *schema,
                                       const char *name, const kc_cel_schema_opts *opts);

/* The types of parts: of the field with a name in JSON, of the elements of a list or map. NULL when
 * there is none. For rules below the root of a schema. */
const kc_cel_type *kc_cel_type_of_field(const kc_cel_type *object, kc_str json);
const kc_cel_type *kc_cel_type_of_elements(const kc_cel_type *container);
/* How many values of a declared type a request can hold at most: Kubernetes multiplies the cost of
 * a rule in a list without bounds by it. */
uint64_t kc_cel_type_max_count(const kc_cel_type *type);

/* ---- environments ---- */

typedef struct kc_cel_env_opts {
    /* Minor version of Kubernetes whose functions are available: 33 for new expressions, as the
     * reference compiles them. Defaults to the newest, 34. */
    unsigned version;
    bool with_bind; /* The macro cel.bind, which no feature of Kubernetes enables. */
    /* What mutating policies construct: Object{…}, Object.spec{…}, JSONPatch{…}; and the function
     * jsonpatch.escapeKey. */
    bool with_patches;
    /* CEL without the checks that Kubernetes adds: lists and maps may mix types, constant durations
     * and patterns are not checked when they are compiled. */
    bool heterogeneous_literals;
} kc_cel_env_opts;

/* opts may be NULL. */
kc_cel_env *kc_cel_env_new(const kc_cel_env_opts *opts);
kc_cel_env *kc_cel_env_free(kc_cel_env *env);
KC_AUTO_DEFINE(kc_cel_env, kc_cel_env_free)

/* ---- compilation ---- */

typedef struct kc_cel_error {
    int line, column; /* From 1; -1 and 0 when the error has no place; 0 and 0 when the expression
                       * is valid but its program cannot be made. */
    char *message;
} kc_cel_error;

/* Zeroed means none. Owns the messages. */
typedef struct kc_cel_errors {
    KC_VEC(kc_cel_error) items;
    size_t left_off; /* Errors beyond the first 100. */
} kc_cel_errors;

void kc_cel_errors_done(kc_cel_errors *errors);
/* Writes the errors as cel-go displays them, with the line of the expression:
 *     ERROR: <input>:1:6: undefined field 'x'
 *      | self.x
 *      | ....^ */
void kc_cel_errors_write(const kc_cel_errors *errors, kc_str expression, kc_buf *out);

typedef struct kc_cel_variable {
    const char *name; /* May be qualified: "variables.x". */
    const kc_cel_type *type;
} kc_cel_variable;

typedef struct kc_cel_compile_opts {
    const kc_cel_variable *variables;
    size_t n_variables;
    size_t max_nodes; /* Of the expression, macros expanded. Defaults to KC_CEL_NODES_MAX. */
} kc_cel_compile_opts;

enum {
    KC_CEL_EXPRESSION_MAX = 100000, /* Code points, as in cel-go. */
    KC_CEL_NODES_MAX = 100000,
    KC_CEL_DEPTH_MAX = 250, /* As in cel-go. */
};

/*
 * Parses, checks and plans an expression. NULL with at least one error when it is invalid. opts may
 * be NULL. Copies the expression and the names of variables, keeps the types. Takes time linear in
 * the expression, apart from regular expressions and types.
 */
kc_cel_program *kc_cel_compile(const kc_cel_env *env, kc_str expression,
                               const kc_cel_compile_opts *opts, kc_cel_errors *errors);
kc_cel_program *kc_cel_program_free(kc_cel_program *program);
KC_AUTO_DEFINE(kc_cel_program, kc_cel_program_free)

/* The type of the result. */
const kc_cel_type *kc_cel_program_type(const kc_cel_program *program);
/* Bytes of memory. */
size_t kc_cel_program_memory(const kc_cel_program *program);
/* True if the program reads the variable with this index. */
bool kc_cel_program_uses(const kc_cel_program *program, size_t variable);

/*
 * A program that only compares a part of a variable with a text: request.userInfo.username == "x".
 * A caller with many such programs can read each part once for all of them.
 */
typedef struct kc_cel_comparison {
    size_t variable;
    uint32_t part; /* The same for programs that compare the same part; others may have it, too. */
    kc_str text;
    bool negated; /* != */
} kc_cel_comparison;

/* False for any other program. */
bool kc_cel_program_comparison(const kc_cel_program *program, kc_cel_comparison *ret);
/* True if both programs, which are comparisons, compare the same part. */
bool kc_cel_program_same_part(const kc_cel_program *a, const kc_cel_program *b);
/* The part in JSON of an unknown type. False if it is absent or no text: evaluation tells. */
bool kc_cel_program_read_part(const kc_cel_program *program, kc_cel_value variable, kc_str *ret);

typedef struct kc_cel_cost {
    uint64_t min, max; /* UINT64_MAX without a bound. */
} kc_cel_cost;

/* The cost that Kubernetes estimates from the expression and the types of its variables. */
kc_cel_cost kc_cel_program_cost(const kc_cel_program *program);

/* ---- evaluation ---- */

typedef struct kc_cel_eval_opts {
    kc_arena *arena;    /* Holds the result and everything in between. Required. */
    uint64_t budget;    /* Units of cost. Defaults to KC_CEL_COST_MAX. */
    size_t max_bytes;   /* Of memory from the arena. Defaults to 64 MiB. */
    uint64_t *ret_cost; /* Receives the cost, also of a failed evaluation. May be NULL. */
    /* Steps that regular expressions may take whose automaton does not fit its cache; reduced by
     * those taken. For several evaluations with one limit. Defaults to KC_CEL_REGEX_STEPS_MAX. */
    uint64_t *regex_steps;
} kc_cel_eval_opts;

#define KC_CEL_COST_MAX        ((uint64_t)1000000)  /* Kubernetes' limit of one expression. */
#define KC_CEL_REGEX_STEPS_MAX ((uint64_t)30000000) /* A few tenths of a second. */

/*
 * Evaluates a program with one value per variable. Negative with KC_BAD_REQUEST and cel-go's
 * message when the evaluation fails, with KC_TOO_LARGE when it exceeds the budget or the memory.
 */
int kc_cel_evaluate(const kc_cel_program *program, const kc_cel_value *variables,
                    const kc_cel_eval_opts *opts, kc_cel_value *ret, kc_error *err);

#endif
