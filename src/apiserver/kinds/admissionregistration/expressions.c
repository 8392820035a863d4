/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expressions.c: the environment of expressions in admission policies and webhooks.
 *
 * `request` and `namespaceObject` have declared types, so that a misspelled field is an error when
 * a policy is written; the values are plain JSON. A slot whose variable is not declared gets a name
 * that no expression can contain, so the index of a variable is the same in every program.
 *
 * To add a variable: a slot, a row in declare_slots, and its value in
 * admission/policies/policy_activation.c.
 */
#include "apiserver/kinds/admissionregistration/expressions.h"

#include "kc/arena.h"

/* New expressions may use what the previous minor version can evaluate, too. */
enum { NEW_VERSION = 33, STORED_VERSION = 34 };

struct kc__expression_env {
    /* For new and for stored expressions; of mutations. */
    kc_cel_env *envs[2], *patch_envs[2];
    kc_cel_types *types;
    const kc_cel_type *request, *namespace;
};

/* ---- declared types ---- */

const kc_cel_type *kc__expression_declare_object(kc_cel_types *types, const char *name,
                                                 const kc__expression_field *fields, size_t n)
{
    kc_cel_type *object = kc_cel_types_object(types, name);
    for (size_t i = 0; i < n; i++)
        kc_cel_types_add_field(types, object, kc_cstr(fields[i].name), fields[i].type);
    return object;
}

#define DECLARE KC__EXPRESSION_OBJECT

static const kc_cel_type *request_type(kc_cel_types *types)
{
    const kc_cel_type *text = kc_cel_type_basic(KC_CEL_STRING);
    const kc_cel_type *texts = kc_cel_types_list(types, text);
    const kc_cel_type *kind = DECLARE(types, "kubernetes.GroupVersionKind", {"group", text},
                                      {"version", text}, {"kind", text});
    const kc_cel_type *resource = DECLARE(types, "kubernetes.GroupVersionResource", {"group", text},
                                          {"version", text}, {"resource", text});
    const kc_cel_type *user =
        DECLARE(types, "kubernetes.UserInfo", {"username", text}, {"uid", text}, {"groups", texts},
                {"extra", kc_cel_types_map(types, text, texts)});
    return DECLARE(types, "kubernetes.AdmissionRequest", {"kind", kind}, {"resource", resource},
                   {"subResource", text}, {"requestKind", kind}, {"requestResource", resource},
                   {"requestSubResource", text}, {"name", text}, {"namespace", text},
                   {"operation", text}, {"userInfo", user},
                   {"dryRun", kc_cel_type_basic(KC_CEL_BOOL)},
                   {"options", kc_cel_type_basic(KC_CEL_DYN)});
}

static const kc_cel_type *namespace_metadata_type(kc_cel_types *types)
{
    const kc_cel_type *text = kc_cel_type_basic(KC_CEL_STRING);
    const kc_cel_type *number = kc_cel_type_basic(KC_CEL_INT);
    const kc_cel_type *time = kc_cel_type_basic(KC_CEL_TIMESTAMP);
    const kc_cel_type *map = kc_cel_types_map(types, text, text);
    return DECLARE(types, "kubernetes.NamespaceMetadata", {"name", text}, {"generateName", text},
                   {"namespace", text}, {"labels", map}, {"annotations", map}, {"UID", text},
                   {"creationTimestamp", time}, {"deletionGracePeriodSeconds", number},
                   {"deletionTimestamp", time}, {"generation", number}, {"resourceVersion", text},
                   {"finalizers", kc_cel_types_list(types, text)});
}

static const kc_cel_type *namespace_type(kc_cel_types *types)
{
    const kc_cel_type *text = kc_cel_type_basic(KC_CEL_STRING);
    const kc_cel_type *condition =
        DECLARE(types, "kubernetes.NamespaceCondition", {"status", text}, {"type", text},
                {"lastTransitionTime", kc_cel_type_basic(KC_CEL_TIMESTAMP)}, {"message", text},
                {"reason", text});
    const kc_cel_type *status =
        DECLARE(types, "kubernetes.NamespaceStatus",
                {"conditions", kc_cel_types_list(types, condition)}, {"phase", text});
    const kc_cel_type *spec =
        DECLARE(types, "kubernetes.NamespaceSpec", {"finalizers", kc_cel_types_list(types, text)});
    return DECLARE(types, "kubernetes.Namespace", {"metadata", namespace_metadata_type(types)},
                   {"spec", spec}, {"status", status});
}

kc__expression_env *kc__expression_env_new(void)
{
    kc__expression_env *env = kc_new(kc__expression_env);
    for (int stored = 0; stored < 2; stored++) {
        const unsigned version = stored ? STORED_VERSION : NEW_VERSION;
        env->envs[stored] = kc_cel_env_new(&(kc_cel_env_opts){.version = version});
        env->patch_envs[stored] =
            kc_cel_env_new(&(kc_cel_env_opts){.version = version, .with_patches = true});
    }
    env->types = kc_cel_types_new();
    env->request = request_type(env->types);
    env->namespace = namespace_type(env->types);
    return env;
}

kc__expression_env *kc__expression_env_free(kc__expression_env *env)
{
    if (!env)
        return NULL;
    kc_cel_types_free(env->types);
    for (int stored = 0; stored < 2; stored++) {
        kc_cel_env_free(env->envs[stored]);
        kc_cel_env_free(env->patch_envs[stored]);
    }
    free(env);
    return NULL;
}

/* ---- scopes ---- */

static kc_cel_type *variables_type(kc_cel_types *types, const kc_value *variables)
{
    kc_scoped(kc_arena) arena = {0};
    kc_str *names = kc_arena_calloc(&arena, kc_value_len(variables) + 1, sizeof(*names));
    size_t n = 0;
    kc_value_each_item (variables, variable)
        names[n++] = kc_value_as_str(kc_value_get(variable, "name"));
    return kc_cel_types_growing_object(types, "kubernetes.variables", names, n);
}

void kc__expression_scope_init(kc__expression_scope *scope, const kc__expression_env *env,
                               const kc_value *variables, bool composes)
{
    *scope = (kc__expression_scope){.env = env};
    if (!composes && !kc_value_len(variables))
        return;
    scope->types = kc_cel_types_new();
    scope->variables = variables_type(scope->types, variables);
}

void kc__expression_scope_done(kc__expression_scope *scope)
{
    kc_cel_types_free(scope->types);
    *scope = (kc__expression_scope){0};
}

void kc__expression_scope_declare(kc__expression_scope *scope, kc_str name,
                                  const kc_cel_program *program)
{
    const kc_cel_type *type = program ? kc_cel_program_type(program) : NULL;
    kc_cel_type_set_field(scope->variables, name, kc_cel_types_of_result(scope->types, type));
}

/* ---- compiling ---- */

void kc__expression_failure_done(kc__expression_failure *failure)
{
    kc_buf_done(&failure->detail);
    failure->internal = false;
}

static const kc_cel_type *or_dyn(const kc_cel_type *type)
{
    return type ? type : kc_cel_type_basic(KC_CEL_DYN);
}

static void declare_slots(const kc__expression_scope *scope, const kc__expression_opts *opts,
                          kc_cel_variable slots[KC__EXPRESSION_N_SLOTS])
{
    const kc_cel_type *dyn = kc_cel_type_basic(KC_CEL_DYN);
    for (size_t i = 0; i < KC__EXPRESSION_N_SLOTS; i++)
        slots[i] = (kc_cel_variable){"@", dyn};
    slots[KC__EXPRESSION_OBJECT] = (kc_cel_variable){"object", or_dyn(scope->object)};
    slots[KC__EXPRESSION_OLD_OBJECT] = (kc_cel_variable){"oldObject", or_dyn(scope->object)};
    slots[KC__EXPRESSION_NAMESPACE] = (kc_cel_variable){"namespaceObject", scope->env->namespace};
    slots[KC__EXPRESSION_REQUEST] = (kc_cel_variable){"request", scope->env->request};
    if (opts->has_params)
        slots[KC__EXPRESSION_PARAMS] = (kc_cel_variable){"params", or_dyn(scope->params)};
    if (opts->has_authorizer)
        slots[KC__EXPRESSION_AUTHORIZER] =
            (kc_cel_variable){"authorizer", kc_cel_type_authorizer()};
    if (opts->has_authorizer && !opts->hides_request_resource)
        slots[KC__EXPRESSION_REQUEST_RESOURCE] =
            (kc_cel_variable){"authorizer.requestResource", kc_cel_type_resource_check()};
    if (scope->variables)
        slots[KC__EXPRESSION_VARIABLES] = (kc_cel_variable){"variables", scope->variables};
}

static bool constructs(kc__expression_result result)
{
    return result == KC__EXPRESSION_APPLY_CONFIGURATION || result == KC__EXPRESSION_JSON_PATCH;
}

static kc_cel_program *compile_in_scope(const kc__expression_scope *scope, kc_str text,
                                        const kc__expression_opts *opts, kc_cel_errors *errors)
{
    kc_cel_variable slots[KC__EXPRESSION_N_SLOTS];
    kc_cel_env *const *envs = constructs(opts->result) ? scope->env->patch_envs : scope->env->envs;
    declare_slots(scope, opts, slots);
    return kc_cel_compile(
        envs[opts->stored], text,
        &(kc_cel_compile_opts){.variables = slots, .n_variables = KC__EXPRESSION_N_SLOTS}, errors);
}

static void report_errors(const kc_cel_errors *errors, kc_str text, kc__expression_failure *failure)
{
    failure->internal = errors->items.n && errors->items.items[0].line == 0;
    if (!failure->internal)
        kc_buf_puts(&failure->detail, "compilation failed: ");
    kc_cel_errors_write(errors, text, &failure->detail);
}

static const char *const results[] = {
    [KC__EXPRESSION_BOOL] = "bool",
    [KC__EXPRESSION_STRING] = "string",
    [KC__EXPRESSION_STRING_OR_NULL] = "one of [string null_type]",
    [KC__EXPRESSION_APPLY_CONFIGURATION] = "Object",
    [KC__EXPRESSION_JSON_PATCH] = "list(JSONPatch)",
};

static bool has_result_named(const kc_cel_program *program, const char *name)
{
    kc_scoped(kc_buf) own = {0};
    kc_cel_type_write_name(kc_cel_program_type(program), &own);
    return kc_str_is(kc_buf_str(&own), name);
}

static bool has_result(const kc_cel_program *program, kc__expression_result result)
{
    const kc_cel_kind kind = kc_cel_type_kind(kc_cel_program_type(program));
    switch (result) {
    case KC__EXPRESSION_BOOL: return kind == KC_CEL_BOOL;
    case KC__EXPRESSION_STRING: return kind == KC_CEL_STRING;
    case KC__EXPRESSION_STRING_OR_NULL: return kind == KC_CEL_STRING || kind == KC_CEL_NULL;
    case KC__EXPRESSION_APPLY_CONFIGURATION:
    case KC__EXPRESSION_JSON_PATCH: return has_result_named(program, results[result]);
    default: return true;
    }
}

static void report_result(const kc_cel_program *program, kc__expression_result result,
                          kc_buf *detail)
{
    kc_buf_printf(detail, "must evaluate to %s but got ", results[result]);
    kc_cel_type_write_name(kc_cel_program_type(program), detail);
}

kc_cel_program *kc__expression_compile(const kc__expression_scope *scope, kc_str text,
                                       const kc__expression_opts *opts,
                                       kc__expression_failure *failure)
{
    kc_scoped(kc_cel_errors) errors = {0};
    kc_auto(kc_cel_program) *program = compile_in_scope(scope, text, opts, &errors);
    if (!program) {
        report_errors(&errors, text, failure);
        return NULL;
    }
    if (has_result(program, opts->result))
        return kc_take(program);
    report_result(program, opts->result, &failure->detail);
    return NULL;
}

kc_cel_program *kc__expression_check(const kc__expression_scope *scope, kc_str text,
                                     bool has_params, kc_buf *errors)
{
    kc_scoped(kc_cel_errors) found = {0};
    const kc__expression_opts opts = {.result = KC__EXPRESSION_ANY,
                                      .has_params = has_params,
                                      .has_authorizer = true,
                                      .hides_request_resource = true,
                                      .stored = true};
    kc_cel_program *program = compile_in_scope(scope, text, &opts, &found);
    if (!program)
        kc_cel_errors_write(&found, text, errors);
    return program;
}
