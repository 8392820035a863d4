/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy_types.c: checks the expressions of a policy against the types of the objects that its
 * rules name. At run time objects have no declared types, so a misspelled field is an error of one
 * request; the warnings show it when the policy is written.
 *
 *     rules ─▶ up to 10 kinds ─▶ for each: types ─▶ compile every expression ─▶ warnings
 *
 * Types are those of the OpenAPI schemas, as Kubernetes declares them: a quantity has no type, a
 * type that contains itself is an empty object.
 */
#include "apiserver/admission/policies/policy_status.h"

#include "kc/json.h"
#include "kc/kind.h"
#include "kc/schema.h"
#include "kc/vec.h"

enum { MAX_KINDS = 10 };

/* ---- types ---- */

typedef struct message_typer {
    kc_cel_types *types;
    kc_arena arena;                        /* Names. */
    KC_VEC(const kc__type_message *) path; /* The messages that contain this one. */
} message_typer;

static const kc_cel_type *message_type(message_typer *t, const kc__type_message *message,
                                       const char *name);

static const kc_cel_type *single_type(message_typer *t, const kc__type_field *field,
                                      const char *name)
{
    switch (field->kind) {
    case KC__FIELD_BOOL: return kc_cel_type_basic(KC_CEL_BOOL);
    case KC__FIELD_INT32:
    case KC__FIELD_INT64:
    case KC__FIELD_UINT32:
    case KC__FIELD_UINT64: return kc_cel_type_basic(KC_CEL_INT);
    case KC__FIELD_FLOAT:
    case KC__FIELD_DOUBLE: return kc_cel_type_basic(KC_CEL_DOUBLE);
    case KC__FIELD_STRING:
    case KC__FIELD_DURATION: return kc_cel_type_basic(KC_CEL_STRING);
    case KC__FIELD_BYTES: return kc_cel_type_basic(KC_CEL_BYTES);
    case KC__FIELD_TIME:
    case KC__FIELD_MICRO_TIME: return kc_cel_type_basic(KC_CEL_TIMESTAMP);
    case KC__FIELD_INT_OR_STRING: return kc_cel_type_basic(KC_CEL_DYN);
    case KC__FIELD_RAW:
    case KC__FIELD_FIELDS_V1: return kc_cel_types_object(t->types, name);
    case KC__FIELD_LIST: return kc_cel_types_list(t->types, kc_cel_type_basic(KC_CEL_STRING));
    case KC__FIELD_MESSAGE: return message_type(t, field->message, name);
    default: return NULL; /* Any value, or one of several types. */
    }
}

static const kc_cel_type *field_type(message_typer *t, const kc__type_field *field,
                                     const char *name)
{
    static const char *const element[] = {
        [KC__SINGLE] = "", [KC__REPEATED] = ".@idx", [KC__MAPPED] = ".@elem"};
    const kc_cel_type *one =
        single_type(t, field, kc_arena_printf(&t->arena, "%s%s", name, element[field->shape]));
    if (!one || field->shape == KC__SINGLE)
        return one;
    return field->shape == KC__REPEATED
               ? kc_cel_types_list(t->types, one)
               : kc_cel_types_map(t->types, kc_cel_type_basic(KC_CEL_STRING), one);
}

/* Collects the fields, those of embedded structs included. */
static void collect_fields(const kc__type_message *message, kc_arena *arena, kc_str *names,
                           const kc__type_field **fields, size_t *n)
{
    for (size_t i = 0; i < message->n_fields; i++) {
        const kc__type_field *field = &message->fields[i];
        if (field->marks & KC__INLINE) {
            collect_fields(field->message, arena, names, fields, n);
            continue;
        }
        names[*n] = field->name;
        fields[(*n)++] = field;
    }
}

static size_t count_fields(const kc__type_message *message)
{
    size_t n = message->n_fields;
    for (size_t i = 0; i < message->n_fields; i++)
        if (message->fields[i].marks & KC__INLINE)
            n += count_fields(message->fields[i].message);
    return n;
}

static const kc_cel_type *declare_message(message_typer *t, const kc__type_message *message,
                                          const char *name)
{
    const size_t most = count_fields(message);
    kc_str *names = kc_arena_calloc(&t->arena, most + 1, sizeof(*names));
    const kc__type_field **fields =
        kc_arena_calloc(&t->arena, most + 1, sizeof(const kc__type_field *));
    size_t n = 0;
    collect_fields(message, &t->arena, names, fields, &n);
    kc_cel_type *object = kc_cel_types_growing_object(t->types, name, names, n);
    for (size_t i = 0; i < n; i++) {
        const char *path = kc_arena_printf(&t->arena, "%s.%.*s", name, KC_ARG(names[i]));
        kc_cel_type_set_field(object, names[i], field_type(t, fields[i], path));
    }
    return object;
}

static const kc_cel_type *message_type(message_typer *t, const kc__type_message *message,
                                       const char *name)
{
    if (message->marks & KC__ANY_VALUE)
        return NULL;
    for (size_t i = 0; i < t->path.n; i++)
        if (t->path.items[i] == message)
            return kc_cel_types_object(t->types, name);
    kc_vec_push(&t->path, message);
    const kc_cel_type *type = declare_message(t, message, name);
    t->path.n--;
    return type;
}

static const kc_cel_type *type_of_message(kc_cel_types *types, const kc__type_message *message,
                                          const char *name)
{
    message_typer t = {.types = types};
    const kc_cel_type *type = message_type(&t, message, name);
    kc_vec_done(&t.path);
    kc_arena_done(&t.arena);
    return type;
}

/* The schema of a custom resource declares only part of its metadata. */
static const kc_cel_type *type_of_custom(kc_cel_types *types, const kc__resource *resource,
                                         kc_schema **ret_schema)
{
    const kc_str text = resource->schema.n ? resource->schema : KC_STR("{\"type\":\"object\"}");
    const kc__type_message *metadata =
        kc__type_lookup(KC_STR("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"));
    kc_auto(kc_view) *view = kc_view_parse(text, NULL, NULL);
    *ret_schema = view ? kc_schema_compile(kc_view_root(view), NULL, NULL) : NULL;
    kc_cel_type *type = (kc_cel_type *)kc_cel_types_schema(
        types, *ret_schema, resource->kind, &(kc_cel_schema_opts){.resource_root = true});
    if (type && metadata)
        kc_cel_type_set_field(type, KC_STR("metadata"),
                              type_of_message(types, metadata, "ObjectMeta"));
    return type;
}

/* A kind and its type. */
typedef struct checked_kind {
    const kc__resource *resource;
    const kc_cel_type *type;
    kc_schema *schema;
    kc__expression_scope scope; /* With the policy's variables. */
} checked_kind;

static void declare_kind(kc_cel_types *types, checked_kind *kind)
{
    kind->type = kind->resource->type
                     ? type_of_message(types, kind->resource->type, kind->resource->kind)
                     : type_of_custom(types, kind->resource, &kind->schema);
}

/* ---- kinds ---- */

typedef struct checked_kinds {
    checked_kind items[MAX_KINDS * 2];
    size_t n;
} checked_kinds;

static kc_gvk kind_of(const kc__resource *r)
{
    return (kc_gvk){kc_cstr(r->group), kc_cstr(r->version), kc_cstr(r->kind)};
}

static int compare_kinds(const void *a, const void *b)
{
    const checked_kind *x = a, *y = b;
    return kc_gvk_cmp(kind_of(x->resource), kind_of(y->resource));
}

static void add_kind(checked_kinds *kinds, const kc__resource *resource)
{
    for (size_t i = 0; i < kinds->n; i++)
        if (kc_gvk_eq(kind_of(kinds->items[i].resource), kind_of(resource)))
            return;
    if (kinds->n < KC_COUNT(kinds->items))
        kinds->items[kinds->n++].resource = resource;
}

static bool list_has(const kc_value *list, const char *text)
{
    kc_value_each_item (list, item)
        if (kc_str_is(kc_value_as_str(item), text))
            return true;
    return false;
}

static bool list_has_star(const kc_value *list)
{
    kc_value_each_item (list, item)
        if (kc_str_find(kc_value_as_str(item), '*') >= 0)
            return true;
    return !kc_value_len(list);
}

/* The empty group stands for any group, as in Kubernetes' mapper. */
static bool rule_names(const kc_value *rule, const kc__resource *r)
{
    const kc_value *groups = kc_value_get(rule, "apiGroups"),
                   *resources = kc_value_get(rule, "resources");
    return (list_has(groups, r->group) || list_has(groups, "")) &&
           list_has(kc_value_get(rule, "apiVersions"), r->version) &&
           (list_has(resources, r->plural) || list_has(resources, r->singular));
}

/* True when enough kinds were found. */
static bool add_kinds_of_rule(checked_kinds *kinds, const kc__registry *registry,
                              const kc_value *rule)
{
    size_t n, found = 0;
    const kc__resource *all = kc__registry_resources(registry, &n);
    if (list_has_star(kc_value_get(rule, "apiGroups")) ||
        list_has_star(kc_value_get(rule, "apiVersions")))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!rule_names(rule, &all[i]))
            continue;
        add_kind(kinds, &all[i]);
        if (++found == MAX_KINDS)
            return true;
    }
    return false;
}

static void find_kinds(const kc__registry *registry, const kc_value *spec, checked_kinds *ret)
{
    kc_value_each_item (kc_value_nested(spec, "matchConstraints.resourceRules"), rule)
        if (ret->n < MAX_KINDS && add_kinds_of_rule(ret, registry, rule))
            break;
    qsort(ret->items, ret->n, sizeof(ret->items[0]), compare_kinds);
}

/* ---- expressions ---- */

typedef struct type_check {
    const kc__expression_env *env;
    const kc_value *variables;
    checked_kinds kinds;
    const kc_cel_type *params; /* NULL: unknown. */
    kc_buf *out;
    size_t n_warnings;
} type_check;

/* Compiles the variables with the types of one kind. Errors in them are not reported: a variable
 * that does not compile has any type. */
static void declare_variables(const type_check *check, checked_kind *kind)
{
    kc__expression_scope_init(&kind->scope, check->env, check->variables, true);
    kind->scope.object = kind->type;
    kind->scope.params = check->params;
    kc_value_each_item (check->variables, variable) {
        kc_scoped(kc_buf) ignored = {0};
        kc_auto(kc_cel_program) *program = kc__expression_check(
            &kind->scope, kc_value_as_str(kc_value_get(variable, "expression")),
            check->params != NULL, &ignored);
        kc__expression_scope_declare(&kind->scope, kc_value_as_str(kc_value_get(variable, "name")),
                                     program);
    }
}

static void check_expression(type_check *check, const char *field, size_t index, kc_str text)
{
    kc_scoped(kc_buf) warning = {0};
    for (size_t i = 0; i < check->kinds.n; i++) {
        kc_scoped(kc_buf) errors = {0};
        if (!check->kinds.items[i].type)
            continue;
        kc_auto(kc_cel_program) *program = kc__expression_check(&check->kinds.items[i].scope, text,
                                                                check->params != NULL, &errors);
        if (program)
            continue;
        kc_buf_puts(&warning, warning.n ? "\n" : "");
        kc_gvk_write(&warning, kind_of(check->kinds.items[i].resource));
        kc_buf_printf(&warning, ": %s\n", kc_buf_cstr(&errors));
    }
    if (!warning.n)
        return;
    kc_buf_puts(check->out, check->n_warnings++ ? "," : "\"expressionWarnings\":[");
    kc_buf_printf(check->out, "{\"fieldRef\":\"spec.validations[%zu].%s\",\"warning\":", index,
                  field);
    kc_json_quote(check->out, kc_buf_str(&warning));
    kc_buf_putc(check->out, '}');
}

static void find_params(const kc__registry *registry, const kc_value *spec, checked_kind *ret)
{
    const kc_value *kind = kc_value_get(spec, "paramKind");
    const kc_gvk gvk = kc_gvk_of(kc_value_as_str(kc_value_get(kind, "apiVersion")),
                                 kc_value_as_str(kc_value_get(kind, "kind")));
    ret->resource =
        kind ? kc__registry_find_kind(registry, gvk.group, gvk.version, gvk.kind) : NULL;
}

static void check_validations(type_check *check, const kc_value *validations)
{
    size_t i = 0;
    kc_value_each_item (validations, validation) {
        const kc_str message = kc_value_as_str(kc_value_get(validation, "messageExpression"));
        check_expression(check, "expression", i,
                         kc_value_as_str(kc_value_get(validation, "expression")));
        if (message.n)
            check_expression(check, "messageExpression", i, message);
        i++;
    }
}

void kc__admission_policy_check_types(const kc__expression_env *env, const kc__registry *kinds,
                                      const kc_value *policy, kc_buf *ret)
{
    const kc_value *spec = kc_value_get(policy, "spec");
    kc_auto(kc_cel_types) *types = kc_cel_types_new();
    type_check check = {.env = env, .variables = kc_value_get(spec, "variables"), .out = ret};
    checked_kind params = {0};
    find_kinds(kinds, spec, &check.kinds);
    find_params(kinds, spec, &params);
    for (size_t i = 0; i < check.kinds.n; i++)
        declare_kind(types, &check.kinds.items[i]);
    if (params.resource)
        declare_kind(types, &params);
    check.params = params.type;
    for (size_t i = 0; i < check.kinds.n; i++)
        declare_variables(&check, &check.kinds.items[i]);
    kc_buf_putc(ret, '{');
    check_validations(&check, kc_value_get(spec, "validations"));
    kc_buf_puts(ret, check.n_warnings ? "]}" : "}");
    for (size_t i = 0; i < check.kinds.n; i++) {
        kc__expression_scope_done(&check.kinds.items[i].scope);
        kc_schema_unref(check.kinds.items[i].schema);
    }
    kc_schema_unref(params.schema);
}
