/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cel.c: `kc cel eval EXPR` evaluates an expression with an object, for authors of validation rules
 * and policies: its value, its type, and its cost as Kubernetes counts it.
 *
 * `self` is the object and `oldSelf` the object it replaces. With --schema both have the types that
 * the CRD declares, as in a rule of its schema; without it they are dyn.
 */
#include "command.h"

#include "kc/cel.h"
#include "kc/cel_rules.h"
#include "kc/file.h"
#include "kc/yaml.h"

#include <inttypes.h>

enum { EVAL };

typedef struct cli_cel_options {
    kc__cli_flag_operands operands;
    const char *file, *old, *schema;
    bool stored;
} cli_cel_options;

static const kc__cli_flag_choice cel_commands[] = {
    {"eval", EVAL, "evaluate an expression and print its value, type and cost"}, {NULL}};

#define CEL_AT(field) offsetof(cli_cel_options, field)

static const kc__cli_flag cel_flags[] = {
    {"filename", 'f', "FILE", .parse = kc__cli_flag_text, .offset = CEL_AT(file), .values = "FILE",
     .group = "Input",
     .help = "YAML or JSON file with the object that is 'self'; '-' is standard input"},
    {"old", .argument = "FILE", .parse = kc__cli_flag_text, .offset = CEL_AT(old), .values = "FILE",
     .group = "Input", .help = "file with the object that is 'oldSelf'"},
    {"schema", .argument = "FILE", .parse = kc__cli_flag_text, .offset = CEL_AT(schema),
     .values = "FILE", .group = "Input",
     .help = "file with a CustomResourceDefinition whose schema declares the types of 'self' and "
             "'oldSelf'",
     .details = "The version is that of the object's apiVersion, or else the storage version."},
    {"stored", .parse = kc__cli_flag_switch, .offset = CEL_AT(stored), .group = "Input",
     .help = "allow functions that only stored expressions may use, such as those of the newest "
             "version"},
};

const kc__cli_flag_set kc__cli_cel_flags = {
    .verb = "cel",
    .operands = "eval EXPR",
    .operands_at = CEL_AT(operands),
    .commands = cel_commands,
    .synopsis =
        "Evaluates an expression of the Common Expression Language (CEL) as Kubernetes does."
        "\nWithout a file 'self' is null.",
    .examples = "  kc cel eval '[1, 2, 3].sum()'\n"
                "  kc cel eval 'self.spec.replicas <= 3' -f robot.yaml\n"
                "  kubectl get deployment web -o yaml | kc cel eval self.spec.replicas -f -\n"
                "  kc cel eval 'self.spec.size >= oldSelf.spec.size' -f new.yaml --old old.yaml "
                "--schema crd.yaml\n",
    KC__CLI_FLAGS(cel_flags),
    .size = sizeof(cli_cel_options),
};

/* ---- files ---- */

static bool is_standard_input(const char *path)
{
    return path && !strcmp(path, "-");
}

/* The first object of a file; NULL on error. */
static kc_view *read_object_file(const char *path, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    kc_auto(kc_view) *view = NULL;
    if (kc_file_read_input(path, KC_FILE_MAX, &text, err) < 0)
        return NULL;
    view = kc_yaml_parse_first(kc_buf_str(&text), NULL, err);
    if (!view)
        kc_error_wrap(err, "%s", is_standard_input(path) ? "standard input" : path);
    return kc_take(view);
}

static const kc_value *schema_of_version(const kc_value *version)
{
    return kc_value_get(kc_value_get(version, "schema"), "openAPIV3Schema");
}

/* The schema for objects of an apiVersion; that of the storage version without a match. */
static const kc_value *find_crd_schema(const kc_value *crd, kc_str api_version)
{
    const kc_value *spec = kc_value_get(crd, "spec"), *found = NULL;
    kc_str group = kc_value_as_str(kc_value_get(spec, "group"));
    kc_value_each_item (kc_value_get(spec, "versions"), version) {
        kc_str name = kc_value_as_str(kc_value_get(version, "name"));
        kc_autofree char *full = kc_asprintf("%.*s/%.*s", KC_ARG(group), KC_ARG(name));
        if (kc_str_is(api_version, full))
            return schema_of_version(version);
        if (!found || kc_value_as_bool(kc_value_get(version, "storage"), false))
            found = schema_of_version(version);
    }
    return found;
}

/* ---- evaluation ---- */

typedef struct cel_session {
    kc_view *self, *old, *crd;
    kc_schema *schema;
    kc_cel_types *types;
    const kc_cel_type *type;
} cel_session;

static void cel_session_done(cel_session *s)
{
    kc_cel_types_free(s->types);
    kc_schema_unref(s->schema);
    kc_view_free(s->self);
    kc_view_free(s->old);
    kc_view_free(s->crd);
}

static int declare_types(cel_session *s, const char *path, kc_error *err)
{
    s->type = kc_cel_type_basic(KC_CEL_DYN);
    if (!path)
        return 0;
    if (!(s->crd = read_object_file(path, err)))
        return kc_error_result(err);
    const kc_value *json = find_crd_schema(
        kc_view_root(s->crd), kc_value_as_str(kc_value_get(kc_view_root(s->self), "apiVersion")));
    if (!json)
        return kc_error_set(err, KC_INVALID, "%s: no CustomResourceDefinition with a schema", path);
    if (!(s->schema = kc_schema_compile(json, NULL, err)))
        return kc_error_wrap(err, "%s", path);
    s->types = kc_cel_types_new();
    s->type = kc_cel_types_schema(s->types, s->schema, "self",
                                  &(kc_cel_schema_opts){.resource_root = true});
    return s->type ? 0 : kc_error_set(err, KC_INVALID, "%s: the schema has no type in CEL", path);
}

static int open_session(cel_session *s, const cli_cel_options *o, kc_error *err)
{
    if (o->file && !(s->self = read_object_file(o->file, err)))
        return kc_error_result(err);
    if (o->old && !(s->old = read_object_file(o->old, err)))
        return kc_error_result(err);
    return declare_types(s, o->schema, err);
}

static void print_result(const kc_cel_program *program, kc_cel_value value, uint64_t cost)
{
    kc_scoped(kc_buf) text = {0}, type = {0};
    kc_cel_cost estimate = kc_cel_program_cost(program);
    kc_cel_write_text(value, &text);
    kc_cel_type_write(kc_cel_program_type(program), &type);
    printf("value     %s\ntype      %s\ncost      %" PRIu64 " (limit %" PRIu64 ")\n",
           kc_buf_cstr(&text), kc_buf_cstr(&type), cost, KC_CEL_COST_MAX);
    if (estimate.max == UINT64_MAX)
        printf("estimate  %" PRIu64 " or more, without bound\n", estimate.min);
    else
        printf("estimate  %" PRIu64 " to %" PRIu64 " (limit of a rule %d)\n", estimate.min,
               estimate.max, KC_CEL_RULE_COST_MAX);
}

/* Values in the order of the variables. Without a file for oldSelf there is no such variable. */
static int evaluate_expression(const cel_session *s, const cli_cel_options *o, kc_str expression,
                               kc_error *err)
{
    kc_auto(kc_cel_env) *env = kc_cel_env_new(&(kc_cel_env_opts){.version = o->stored ? 34 : 33});
    kc_scoped(kc_cel_errors) errors = {0};
    kc_scoped(kc_arena) arena = {0};
    const kc_cel_variable variables[] = {{"self", s->type}, {"oldSelf", s->type}};
    const kc_cel_value values[] = {kc_cel_of_json(kc_view_root(s->self), s->type),
                                   kc_cel_of_json(kc_view_root(s->old), s->type)};
    kc_cel_compile_opts compile = {.variables = variables, .n_variables = s->old ? 2 : 1};
    kc_auto(kc_cel_program) *program = kc_cel_compile(env, expression, &compile, &errors);
    if (!program) {
        kc_scoped(kc_buf) text = {0};
        kc_cel_errors_write(&errors, expression, &text);
        return kc_error_set(err, KC_INVALID, "%s", kc_buf_cstr(&text));
    }
    kc_cel_value result;
    uint64_t cost = 0;
    kc_cel_eval_opts eval = {.arena = &arena, .ret_cost = &cost};
    if (kc_cel_evaluate(program, values, &eval, &result, err) < 0)
        return kc_error_wrap(err, "evaluation failed after a cost of %" PRIu64, cost);
    print_result(program, result, cost);
    return 0;
}

/* ---- the command ---- */

static int check_cel_options(const cli_cel_options *o, kc_error *err)
{
    const int n =
        is_standard_input(o->file) + is_standard_input(o->old) + is_standard_input(o->schema);
    if (o->operands.n && !kc__cli_flag_choose(cel_commands, "command", o->operands.items[0], err))
        return kc_error_result(err);
    if (o->operands.n != 2)
        return kc_error_set(err, KC_INVALID, "expected 'eval' and one expression");
    if (n > 1)
        return kc_error_set(err, KC_INVALID,
                            "only one of --filename, --old and --schema can be standard input");
    return 0;
}

int kc__cli_command_cel(int argc, char **argv)
{
    cli_cel_options o;
    kc_scoped(kc_error) err = {0};
    kc_scoped(cel_session) session = {0};
    const int parsed = kc__cli_flags_parse(&kc__cli_cel_flags, argc, argv, &o, &err);
    if (parsed > 0) {
        kc__cli_flags_help(&kc__cli_cel_flags, stdout);
        return 0;
    }
    if (parsed < 0 || check_cel_options(&o, &err) < 0)
        return kc__cli_usage_error("cel", &err);
    if (open_session(&session, &o, &err) < 0) {
        fprintf(stderr, "kc cel: %s\n", kc_error_text(&err));
        return 1;
    }
    if (evaluate_expression(&session, &o, kc_cstr(o.operands.items[1]), &err) < 0) {
        /* Errors of the expression have a position and no prefix, like those of a compiler. */
        fprintf(stderr, "%s\n", kc_error_text(&err));
        return 1;
    }
    return 0;
}
