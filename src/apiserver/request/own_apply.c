/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_apply.c: server-side apply: merges the configuration of a manager into the stored object.
 *
 *     body ─ YAML or JSON ─▶ configuration ─┐
 *     stored object ─┬─ fields ─────────────┼─▶ engine ─▶ object ─ decode ─▶ call->body
 *                    └─ owners ─────────────┘         └─▶ owners, or conflicts
 *
 * The configuration is not decoded as an object of its kind: what it omits stays omitted. The
 * result is. An object that does not exist is created from an empty one. The order of the checks is
 * that of Kubernetes, and so are the messages; most failures are internal errors there.
 *
 * The manager "kubectl" takes over objects of client-side apply: fields that the annotation
 * last-applied-configuration has with their stored value are no conflicts, and the annotation is
 * kept up to date.
 */
#include "apiserver/request/own_internal.h"

#include "apiserver/call/go_json.h"
#include "apiserver/kinds/resource_ops.h"
#include "apiserver/request/body.h"
#include "apiserver/request/decode.h"
#include "apiserver/request/write.h"
#include "kc/kind.h"
#include "kc/metadata_validation.h"
#include "kc/yaml.h"
#include "object/gofmt/go_json.h"
#include "object/yaml/yaml_duplicates.h"

#define LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"

/* ---- the configuration ---- */

static kc__rest_verdict refuse_config(kc__rest_call *call, const kc_error *why)
{
    kc_scoped(kc_buf) text = {0};
    if (why->reason == KC_TOO_LARGE)
        return kc__rest_fail(call, KC_TOO_LARGE, "%s", kc_error_text(why));
    kc__rest_body_yaml_error(&text, call->x->request.body, why);
    return kc__rest_fail(call, KC_BAD_REQUEST,
                         "error decoding YAML: error converting YAML to JSON: %s",
                         kc_buf_cstr(&text));
}

/* Parses the body into call->config, once for all tries. Nothing and null are empty. */
static kc__rest_verdict read_config(kc__rest_call *call)
{
    kc_scoped(kc_error) why = {0};
    if (call->config)
        return KC__REST_NEXT;
    kc_scoped(kc_paths) duplicates = {0};
    kc_auto(kc_view) *view = kc_yaml_parse_first(call->x->request.body,
                                                 &(kc_json_opts){.duplicates = &duplicates}, &why);
    /* Members that override those of a merge key count, too. */
    call->config_has_duplicates =
        duplicates.n > 0 || memmem(call->x->request.body.p, call->x->request.body.n, "<<", 2);
    if (!view)
        return refuse_config(call, &why);
    const kc_value *root = kc_view_root(view);
    kc_json_type type = kc_value_type(root);
    if (type != KC_JSON_OBJECT && type != KC_JSON_NULL)
        return kc__rest_fail(call, KC_BAD_REQUEST,
                             "error decoding YAML: error unmarshaling JSON: while decoding JSON: "
                             "json: cannot unmarshal %s into Go value of type "
                             "map[string]interface {}",
                             kc__rest_go_json_type(root));
    call->config = type == KC_JSON_OBJECT ? kc_take(view) : kc_view_parse(KC_STR("{}"), NULL, NULL);
    return KC__REST_NEXT;
}

static kc_str config_text(const kc_value *config, const char *names)
{
    return kc_value_as_str(kc_value_nested(config, names));
}

/* "/v1, Kind=ConfigMap" */
static const char *kind_text(kc_arena *arena, const kc_value *config)
{
    kc_str api_version = config_text(config, "apiVersion");
    kc_gvk gvk = kc_gvk_of(api_version, config_text(config, "kind"));
    bool valid = kc_str_rfind(api_version, '/') == kc_str_find(api_version, '/');
    if (!valid)
        gvk = (kc_gvk){0};
    return kc_arena_printf(arena, "%.*s/%.*s, Kind=%.*s", KC_ARG(gvk.group), KC_ARG(gvk.version),
                           KC_ARG(gvk.kind));
}

/* "default/web; apps/v1, Kind=Deployment": an object in messages. */
static const char *object_text(kc_arena *arena, const kc_value *object)
{
    return kc_arena_printf(arena, "%.*s/%.*s; %s",
                           KC_ARG(config_text(object, "metadata.namespace")),
                           KC_ARG(config_text(object, "metadata.name")), kind_text(arena, object));
}

/* The configuration must be of the kind and version of the path. */
static kc__rest_verdict check_config_kind(const kc__rest_owning *o, const kc_value *config)
{
    if (kc_str_eq(config_text(config, "apiVersion"), o->version) &&
        kc_str_is(config_text(config, "kind"), o->resource->kind))
        return KC__REST_NEXT;
    return kc__rest_fail(o->call, KC_BAD_REQUEST, "invalid object type: %s",
                         kind_text(o->call->arena, config));
}

/* ---- client-side apply ---- */

/* The annotation of an object; empty for none. */
static kc_str last_applied_of(const kc_value *object)
{
    const kc_value *annotations = kc_value_nested(object, "metadata.annotations");
    return kc_value_as_str(kc_value_get(annotations, LAST_APPLIED));
}

/* Fields that client-side apply has set, and that nothing has changed since. */
static const kc__fields_set *fields_applied_by_client(kc_arena *arena, void *user)
{
    const kc__rest_owning *o = user;
    const kc__fields_type *type = o->topology->type;
    const kc_value *live = kc_view_root(o->live_view);
    kc__fields_comparison changed;
    kc_view *view = kc_view_parse(last_applied_of(live), NULL, NULL);
    if (!view)
        return NULL;
    kc_vec_push(&((kc__rest_owning *)user)->views, view);
    const kc_value *last = kc_view_root(view);
    if (!kc_str_eq(config_text(last, "apiVersion"), o->version) ||
        kc__fields_validate(type, live, false, NULL) < 0 ||
        kc__fields_validate(type, last, false, NULL) < 0 ||
        kc__fields_compare(arena, type, last, live, &changed, NULL) < 0)
        return NULL;
    const kc__fields_set *set = kc__fields_set_of_value(arena, type, last);
    set = kc__fields_set_difference(arena, set, changed.modified);
    set = kc__fields_set_difference(arena, set, changed.added);
    return kc__fields_set_difference(arena, set, changed.removed);
}

/* The configuration as client-side apply would record it. */
static void write_last_applied(kc_buf *out, const kc_value *config)
{
    kc_auto(kc_edit) *edit = kc_edit_of_value(config);
    kc_node *metadata = kc_node_get(kc_edit_root(edit), KC_STR("metadata"));
    kc_node_remove(kc_node_get(metadata, KC_STR("annotations")), KC_STR(LAST_APPLIED));
    kc_auto(kc_view) *view = kc_edit_view(edit, NULL);
    kc__go_json(out, kc_view_root(view));
    kc_buf_putc(out, '\n');
}

/* Whether annotations are as large as they may be. */
static bool annotations_are_too_large(const kc_node *annotations)
{
    size_t total = 0;
    kc_node_each_member (annotations, name, value)
        total += name.n + kc_node_as_str(value).n;
    return total > KC_ANNOTATIONS_MAX;
}

/* Sets the annotation of an object that has it; drops it if the annotations become too large. */
static int update_last_applied(kc__rest_owning *o, kc_object **object, kc_error *err)
{
    kc__rest_call *call = o->call;
    if (!kc_str_is(call->options.field_manager, "kubectl") ||
        !memmem(kc_object_annotations_json(*object).p, kc_object_annotations_json(*object).n,
                LAST_APPLIED, sizeof(LAST_APPLIED) - 1))
        return 0;
    kc_auto(kc_edit) *edit = kc_edit_of(*object);
    kc_node *annotations =
        kc_node_get(kc_node_get(kc_edit_root(edit), KC_STR("metadata")), KC_STR("annotations"));
    if (!kc_node_as_str(kc_node_get(annotations, KC_STR(LAST_APPLIED))).n)
        return 0;
    kc_scoped(kc_buf) text = {0};
    write_last_applied(&text, kc_view_root(call->config));
    kc_node_set(edit, annotations, KC_STR(LAST_APPLIED), kc_node_str(edit, kc_buf_str(&text)));
    if (annotations_are_too_large(annotations))
        kc_node_remove(annotations, KC_STR(LAST_APPLIED));
    kc_object *changed = kc_edit_freeze(edit, err);
    if (!changed)
        return kc_error_result(err);
    kc_object_unref(*object);
    *object = changed;
    return 0;
}

/* ---- the merge ---- */

/* Checks both objects against the type of the kind. */
static kc__rest_verdict check_applied_types(kc__rest_owning *o, const kc__fields_request *request)
{
    kc__rest_call *call = o->call;
    kc_scoped(kc_error) why = {0};
    if (kc__fields_validate(o->topology->type, request->object.value, false, &why) < 0)
        return kc__rest_fail(call, KC_UNKNOWN, "failed to create typed patch object (%s): %s",
                             object_text(call->arena, request->object.value), kc_error_text(&why));
    if (!o->topology->decoded &&
        kc__fields_validate(o->topology->type, request->live.value, true, &why) < 0)
        return kc__rest_fail(call, KC_UNKNOWN, "failed to create typed live object (%s): %s",
                             object_text(call->arena, request->live.value), kc_error_text(&why));
    return KC__REST_NEXT;
}

/* An object without owners belongs to a manager of its own before the first apply. */
static kc__rest_verdict begin_owners(kc__rest_owning *o, const kc__fields_request *request)
{
    kc_scoped(kc_error) why = {0};
    if (o->managed.owners.n || !o->live ||
        kc__fields_managed_begin(&o->managed, request, kc_view_root(o->topology->empty), &why) == 0)
        return KC__REST_NEXT;
    return kc__rest_fail(o->call, KC_UNKNOWN, "failed to create manager for existing fields: %s",
                         kc_error_text(&why));
}

/* Merges; *ret_value is NULL if the object does not change. */
static kc__rest_verdict merge_config(kc__rest_owning *o, const kc_value **ret_value)
{
    kc__rest_call *call = o->call;
    const kc_value *config = kc_view_root(call->config);
    kc__fields_request request = kc__rest_owning_request(o, call->options.field_manager);
    kc_scoped(kc_error) why = {0};
    request.object.value = config;
    request.force = call->options.force == KC__REST_YES;
    if (o->live && kc_str_is(call->options.field_manager, "kubectl") &&
        last_applied_of(kc_view_root(o->live_view)).n) {
        request.allowed = fields_applied_by_client;
        request.user = o;
    }
    kc__rest_verdict verdict = begin_owners(o, &request);
    if (verdict != KC__REST_NEXT)
        return verdict;
    if (kc_value_type(kc_value_nested(config, "metadata.managedFields")) == KC_JSON_ARRAY)
        return kc__rest_fail(call, KC_BAD_REQUEST, "metadata.managedFields must be nil");
    verdict = check_applied_types(o, &request);
    if (verdict != KC__REST_NEXT)
        return verdict;
    if (kc__fields_managed_apply(&o->managed, &request, ret_value, &why) == 0)
        return KC__REST_NEXT;
    if (why.reason == KC_CONFLICT)
        kc_error_move(&call->error, &why);
    else
        kc__rest_fail(call, KC_UNKNOWN, "%s", kc_error_text(&why));
    return KC__REST_FAIL;
}

/* ---- the result ---- */

/* Duplicate keys: a warning for each, or an error under strict validation. */
static kc__rest_verdict check_strict(kc__rest_call *call)
{
    kc_scoped(kc_buf) lines = {0};
    if (!call->config_has_duplicates || call->options.validation == KC__REST_VALIDATE_IGNORE ||
        call->tries)
        return KC__REST_NEXT;
    kc__yaml_list_duplicates(&lines, call->x->request.body);
    if (!lines.n)
        return KC__REST_NEXT;
    if (call->options.validation == KC__REST_VALIDATE_STRICT)
        return kc__rest_fail(call, KC_BAD_REQUEST,
                             "error strict decoding YAML: error converting YAML to JSON: yaml: "
                             "unmarshal errors:%s",
                             kc_buf_cstr(&lines));
    kc_str rest = kc_buf_str(&lines);
    kc_str_cut(&rest, '\n');
    while (rest.p)
        kc__rest_warn(call, kc_str_trim(kc_str_cut(&rest, '\n')));
    return KC__REST_NEXT;
}

/* Kubernetes converts values here, and does not decode them: other words for a number that is not
 * whole, where one is required, and for bytes that are not base64. */
static const char *conversion_text(kc_arena *arena, const kc_error *why)
{
    static const kc_str number = KC_STR_INIT("json: cannot unmarshal number "),
                        type = KC_STR_INIT(" of type "), base64 = KC_STR_INIT("illegal base64 ");
    kc_str text = kc_cstr(kc_error_text(why));
    if (kc_str_starts(text, base64))
        return kc_arena_printf(arena, "error decoding from json: %s", text.p);
    const bool is_field = kc_str_starts(text, number) && strstr(text.p, " into Go struct field ");
    const char *of = is_field ? strstr(text.p, type.p) : NULL;
    return of ? kc_arena_printf(arena, "cannot convert float64 to %s", of + type.n) : text.p;
}

static kc__rest_verdict refuse_merged(kc__rest_call *call, const kc_error *why)
{
    const kc_value *config = kc_view_root(call->config);
    if (why->reason == KC_TOO_LARGE)
        return kc__rest_fail(call, KC_TOO_LARGE, "%s", kc_error_text(why));
    return kc__rest_fail(call, KC_UNKNOWN,
                         "failed to convert new object (%s) to proper version: unable to convert "
                         "unstructured object to %s: %s",
                         object_text(call->arena, config), kind_text(call->arena, config),
                         conversion_text(call->arena, why));
}

/* The merged value as an object of the kind; NULL on error. */
static kc_object *decode_merged(kc__rest_call *call, const kc_value *value)
{
    kc_scoped(kc_buf) text = {.limit = KC_JSON_MAX_BYTES};
    kc_scoped(kc_error) why = {0};
    const kc__resource_decode_source source = {.patched = true, .applied = true};
    kc_json_write(&text, value);
    kc_auto(kc_object) *object = NULL;
    if (text.failed)
        kc_error_set(&why, KC_TOO_LARGE, "the object is larger than %zu bytes", KC_JSON_MAX_BYTES);
    else
        object = kc_object_parse(kc_buf_str(&text), NULL, &why);
    if (object && kc__rest_decode_object(call, &object, &source, NULL, &why) == 0)
        return kc_take(object);
    refuse_merged(call, &why);
    return NULL;
}

/* Kubernetes stores the metadata of an applied custom object as it was merged, with `labels: {}`,
 * and drops that when it reads the object. A subresource does not write metadata. */
static void find_merged_metadata(kc__rest_call *call, const kc_value *merged)
{
    const kc__resource *r = call->request_resource;
    kc_scoped(kc_buf) text = {0};
    if (!merged || call->subresource || !r->ops->find_merged_metadata)
        return;
    r->ops->find_merged_metadata(kc_value_get(merged, "metadata"), &text);
    call->merged_metadata = kc_arena_str(call->arena, kc_buf_str(&text));
}

/* Sets call->body to the result and its owners. */
static kc__rest_verdict take_merged(kc__rest_owning *o, const kc_value *value)
{
    kc__rest_call *call = o->call;
    kc_scoped(kc_buf) fields = {0};
    if (!value && !o->live)
        value = kc_view_root(o->topology->empty);
    kc_auto(kc_object) *object = value ? decode_merged(call, value) : kc_object_ref(o->live);
    if (!object || update_last_applied(o, &object, &call->error) < 0)
        return KC__REST_FAIL;
    find_merged_metadata(call, value);
    if (o->managed.owners.n)
        kc__fields_managed_write(&fields, &o->managed);
    call->managed_fields = kc_arena_str(call->arena, kc_buf_str(&fields));
    kc_object_unref(call->body);
    call->body = kc_object_with_managed_fields(object, call->managed_fields);
    call->owned = true;
    return KC__REST_NEXT;
}

/* A new object cannot have a uid: the configuration is about another object. */
static kc__rest_verdict check_new_uid(kc__rest_call *call)
{
    const kc__resource *r = call->resource;
    kc_str uid = kc_object_uid(call->body), name = call->info.name;
    if (call->current || kc_str_empty(uid))
        return KC__REST_NEXT;
    kc__rest_fail(call, KC_CONFLICT,
                  "Operation cannot be fulfilled on %s%s%s \"%.*s\": uid mismatch: the provided "
                  "object specified uid %.*s, and no existing object was found",
                  r->plural, *r->group ? "." : "", r->group, KC_ARG(name), KC_ARG(uid));
    kc_error_about(&call->error, kc_cstr(r->group), kc_cstr(r->plural), name);
    return KC__REST_FAIL;
}

static kc__rest_verdict apply_to_live(kc__rest_owning *o)
{
    kc__rest_call *call = o->call;
    const kc_value *value = NULL;
    kc__rest_verdict verdict = check_config_kind(o, kc_view_root(call->config));
    if (verdict == KC__REST_NEXT)
        verdict = merge_config(o, &value);
    if (verdict == KC__REST_NEXT)
        verdict = check_strict(call);
    if (verdict == KC__REST_NEXT)
        verdict = take_merged(o, value);
    return verdict == KC__REST_NEXT ? check_new_uid(call) : verdict;
}

kc__rest_verdict kc__rest_own_apply(kc__rest_call *call)
{
    kc__rest_owning o;
    kc_scoped(kc_error) why = {0};
    kc__rest_verdict verdict = read_config(call);
    if (verdict == KC__REST_NEXT)
        verdict = kc__rest_own_await(call);
    if (verdict != KC__REST_NEXT)
        return verdict;
    if (kc__rest_owning_begin(&o, call, &why) < 0)
        verdict = kc__rest_fail(call, KC_UNKNOWN, "failed to decode managed fields: %s",
                                kc_error_text(&why));
    else
        verdict = apply_to_live(&o);
    kc__rest_owning_done(&o);
    if (verdict == KC__REST_FAIL && kc__rest_own_is_waiting(call)) {
        kc_error_done(&call->error);
        return kc__rest_own_await(call);
    }
    return verdict;
}
