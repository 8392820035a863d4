/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy_mutation.c: applies the result of a mutation's expression: a JSON patch, or an apply
 * configuration that is merged as server-side apply merges it, without owners of fields.
 *
 * An apply configuration must not contain atomic lists, maps or structs: it would replace fields
 * that its author does not mention.
 */
#include "apiserver/admission/policies/policy_mutation.h"

#include "apiserver/admission/chain/attributes.h"
#include "apiserver/kinds/resource_ops.h"
#include "apiserver/kinds/topology.h"
#include "kc/json_patch.h"

/* ---- JSON patches ---- */

/* A patch as text, from a list of JSONPatch objects. */
typedef struct patch_writer {
    kc_buf out;
    kc_buf value; /* Of the operation in progress; empty: none. */
    kc_str op, path, from;
    kc_buf *why;
    bool failed;
} patch_writer;

static bool write_value(patch_writer *w, kc_cel_value value)
{
    kc_scoped(kc_buf) mismatch = {0};
    if (!kc_cel_check_object_names(value, &mismatch)) {
        kc_buf_printf(w->why, "type mismatch: %s", kc_buf_cstr(&mismatch));
        return false;
    }
    if (kc_cel_write_json(value, &w->value))
        return true;
    kc_buf_puts(w->why, "JSONPath valueExpression evaluated to a type that could not marshal to "
                        "JSON");
    return false;
}

static bool read_operation_member(kc_str name, kc_cel_value value, void *user)
{
    patch_writer *w = user;
    const kc_str text = value.kind == KC_CEL_STRING ? value.text : (kc_str){0};
    if (kc_str_is(name, "op"))
        w->op = text;
    else if (kc_str_is(name, "path"))
        w->path = text;
    else if (kc_str_is(name, "from"))
        w->from = text;
    else if (kc_str_is(name, "value"))
        w->failed = !write_value(w, value);
    return !w->failed;
}

static bool write_operation(kc_str name, kc_cel_value operation, void *user)
{
    patch_writer *w = user;
    (void)name;
    w->op = w->path = w->from = (kc_str){0};
    kc_buf_clear(&w->value);
    kc_cel_each(operation, read_operation_member, w);
    if (w->failed)
        return false;
    kc_buf_puts(&w->out, w->out.n > 1 ? ",{\"op\":" : "{\"op\":");
    kc_json_quote(&w->out, w->op);
    kc_buf_puts(&w->out, ",\"path\":");
    kc_json_quote(&w->out, w->path);
    if (w->from.n) {
        kc_buf_puts(&w->out, ",\"from\":");
        kc_json_quote(&w->out, w->from);
    }
    if (w->value.n) {
        kc_buf_puts(&w->out, ",\"value\":");
        kc_buf_append(&w->out, kc_buf_str(&w->value));
    }
    kc_buf_putc(&w->out, '}');
    return true;
}

static bool is_failed_test(const kc_error *err)
{
    return kc_str_ends(kc_cstr(kc_error_text(err)), KC_STR("test failed"));
}

/* A failed test operation leaves the object as it is. */
static kc__admission_mutated apply_json_patch(kc_str text, const kc_object *object, kc_object **ret,
                                              kc_buf *why)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_json_patch) *patch = kc_json_patch_parse(text, NULL, &err);
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    if (patch && kc_json_patch_apply(patch, edit, &err) == 0)
        *ret = kc_edit_freeze(edit, &err);
    else if (is_failed_test(&err))
        *ret = kc_object_ref(object);
    if (*ret)
        return KC__ADMISSION_MUTATED;
    kc_buf_printf(why, "JSON Patch: %s", kc__admission_patch_error(&err));
    return KC__ADMISSION_MUTATION_FAILED;
}

static kc__admission_mutated patch_object(kc_cel_value value, const kc_object *object,
                                          kc_object **ret, kc_buf *why)
{
    patch_writer w = {.why = why};
    kc_buf_putc(&w.out, '[');
    kc_cel_each(value, write_operation, &w);
    kc_buf_putc(&w.out, ']');
    const kc__admission_mutated result =
        w.failed ? KC__ADMISSION_MUTATION_FAILED
                 : apply_json_patch(kc_buf_str(&w.out), object, ret, why);
    kc_buf_done(&w.out);
    kc_buf_done(&w.value);
    return result;
}

/* ---- apply configurations ---- */

typedef struct atomics_search {
    kc_buf path;
    kc_buf found;
} atomics_search;

static void note_atomic(atomics_search *s)
{
    kc_buf_puts(&s->found, s->found.n ? ", " : "");
    kc_buf_append(&s->found, kc_buf_str(&s->path));
}

/* Finds the atomic containers of a configuration. */
static void find_atomics(atomics_search *s, const kc__fields_type *type, const kc_value *value)
{
    const size_t before = s->path.n;
    const kc_json_type kind = kc_value_type(value);
    if (kind == KC_JSON_OBJECT && type->has_object) {
        if (type->object_relation == KC__FIELDS_ATOMIC)
            note_atomic(s);
        kc_value_each_member (value, name, member) {
            const kc__fields_field *field = kc__fields_type_field(type, name);
            kc_buf_printf(&s->path, ".%.*s", KC_ARG(name));
            if (field)
                find_atomics(s, field->type, member);
            s->path.n = before;
        }
    }
    if (kind == KC_JSON_ARRAY && type->has_list) {
        size_t i = 0;
        if (type->list_relation == KC__FIELDS_ATOMIC)
            note_atomic(s);
        kc_value_each_item (value, item) {
            kc_buf_printf(&s->path, "[%zu]", i++);
            find_atomics(s, type->items, item);
            s->path.n = before;
        }
    }
}

static bool check_atomics(const kc__fields_type *type, const kc_value *config, kc_buf *why)
{
    atomics_search s = {0};
    find_atomics(&s, type, config);
    const bool fine = !s.found.n;
    if (!fine)
        kc_buf_printf(why,
                      "error applying patch: invalid ApplyConfiguration: may not mutate atomic "
                      "arrays, maps or structs: %s",
                      kc_buf_cstr(&s.found));
    kc_buf_done(&s.path);
    kc_buf_done(&s.found);
    return fine;
}

static bool check_typed(const kc__fields_type *type, const kc_value *value, const char *what,
                        kc_buf *why)
{
    kc_scoped(kc_error) err = {0};
    if (kc__fields_validate(type, value, false, &err) == 0)
        return true;
    kc_buf_printf(why, "error applying patch: failed to convert %s object to typed object: %s",
                  what, kc_error_text(&err));
    return false;
}

/* Merges a configuration into an object; NULL: `why`. */
static kc_object *merge_configuration(const kc__fields_type *type, const kc_object *object,
                                      const kc_value *config, kc_buf *why)
{
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_view) *live = kc_view_of(object);
    if (!check_typed(type, config, "patch", why) || !check_atomics(type, config, why) ||
        !check_typed(type, kc_view_root(live), "original", why))
        return NULL;
    const kc_value *merged = kc__fields_merge(&arena, type, kc_view_root(live), config, NULL);
    if (merged == kc_view_root(live))
        return kc_object_ref(object);
    kc_auto(kc_edit) *edit = kc_edit_of_value(merged);
    kc_object *result = kc_edit_freeze(edit, &err);
    if (!result)
        kc_buf_printf(why, "error applying patch: %s", kc_error_text(&err));
    return result;
}

/* The configuration with the apiVersion and kind of the object. */
static kc_view *configuration_of(kc_cel_value value, const kc_object *object, kc_buf *why)
{
    kc_scoped(kc_buf) text = {0};
    kc_scoped(kc_buf) mismatch = {0};
    if (!kc_cel_check_object_names(value, &mismatch)) {
        kc_buf_printf(why, "type mismatch: %s", kc_buf_cstr(&mismatch));
        return NULL;
    }
    if (!kc_cel_write_json(value, &text)) {
        kc_buf_puts(why, "invalid return type: the value cannot be written as JSON");
        return NULL;
    }
    kc_auto(kc_view) *bare = kc_view_parse(kc_buf_str(&text), NULL, NULL);
    kc_auto(kc_edit) *edit = bare ? kc_edit_of_value(kc_view_root(bare)) : NULL;
    if (!edit)
        return NULL;
    kc_node *root = kc_edit_root(edit);
    kc_node_set(edit, root, KC_STR("apiVersion"), kc_node_str(edit, kc_object_api_version(object)));
    kc_node_set(edit, root, KC_STR("kind"), kc_node_str(edit, kc_object_kind(object)));
    kc_auto(kc_object) *config = kc_edit_freeze(edit, NULL);
    return config ? kc_view_of(config) : NULL;
}

static kc__admission_mutated apply_configuration(kc__rest_call *call, kc_cel_value value,
                                                 const kc__resource *type, const kc_object *object,
                                                 kc_object **ret, kc_buf *why)
{
    kc_auto(kc_view) *config = configuration_of(value, object, why);
    const kc__resource_topology *topology = type->ops->topology(type, call->api->topologies);
    if (config)
        *ret = merge_configuration(topology->type, object, kc_view_root(config), why);
    return *ret ? KC__ADMISSION_MUTATED : KC__ADMISSION_MUTATION_FAILED;
}

/* ---- a mutation ---- */

kc__admission_mutated kc__admission_mutation_apply(kc__admission_activation *a,
                                                   const kc__admission_mutation *mutation,
                                                   const kc__resource *type, kc_object **ret,
                                                   kc_buf *why)
{
    int64_t budget = KC__ADMISSION_POLICY_BUDGET;
    kc__admission_outcome outcome;
    *ret = NULL;
    if (!mutation->expression.program) {
        kc_buf_puts(why, mutation->expression.error);
        return KC__ADMISSION_MUTATION_FAILED;
    }
    switch (kc__admission_evaluate(a, &mutation->expression, &budget, &outcome)) {
    case KC__ADMISSION_MUST_OFFLOAD: return KC__ADMISSION_MUTATION_OFFLOAD;
    case KC__ADMISSION_EVALUATED: break;
    default: kc_buf_append(why, outcome.error); return KC__ADMISSION_MUTATION_FAILED;
    }
    const kc_object *object = a->ev->shown[0];
    return mutation->is_json_patch
               ? patch_object(outcome.value, object, ret, why)
               : apply_configuration(a->ev->call, outcome.value, type, object, ret, why);
}
