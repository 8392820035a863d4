/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selection.c: validates selectors against the selectable fields of the resource, and matches
 * objects. A selector that names one object reduces the range to that object, so it costs a look-up
 * instead of a walk.
 *
 * A field selector matches the object that a client sees. If reading transforms stored objects
 * (kc__resource_ops.transforms_on_read), each object is converted before it is matched; a selector
 * by name and namespace alone needs no conversion.
 */
#include "apiserver/verbs/selection.h"

#include "base/work.h"

#include "apiserver/kinds/conversion.h"
#include "apiserver/kinds/remote_conversion.h"

/* A resource without selectable fields of its own has a different message for the first unknown
 * field. */
static kc__rest_verdict fail_unknown_field(kc__rest_call *call)
{
    size_t n;
    const kc_field_requirement *terms = kc_field_selector_requirements(call->options.fields, &n);
    for (size_t i = 0; i < n && !call->resource->strategy->n_selectable; i++) {
        if (kc_fields_has(call->served->fields, terms[i].field))
            continue;
        call->resource->ops->set_field_error(terms[i].field, &call->error);
        break;
    }
    return KC__REST_FAIL;
}

/* The only key that the selection can match, malloc'd; empty if there may be several. */
static kc_str only_key(kc__rest_call *call)
{
    kc_str name, ns = call->info.ns;
    bool named = kc_field_selector_exact(call->options.fields, KC_STR("metadata.name"), &name);
    if (call->info.named) {
        name = call->info.name;
        named = true;
    }
    if (!named)
        return (kc_str){0};
    if (!call->resource->namespaced)
        return kc_cstr(kc_str_dup(name));
    if (kc_str_empty(ns) &&
        !kc_field_selector_exact(call->options.fields, KC_STR("metadata.namespace"), &ns))
        return (kc_str){0};
    return kc_cstr(kc_asprintf("%.*s/%.*s", KC_ARG(ns), KC_ARG(name)));
}

/* The deprecated watch path names one object; a selector must not name another. */
static bool is_contradiction(const kc__rest_call *call)
{
    kc_str name;
    return call->info.named &&
           kc_field_selector_exact(call->options.fields, KC_STR("metadata.name"), &name) &&
           !kc_str_eq(name, call->info.name);
}

/* Whether the labels that the client sees may differ from the stored ones. Metadata is shown as
 * stored. */
static bool reads_labels(const kc__rest_call *call)
{
    return call->form.as != KC__REST_AS_PARTIAL && kc__remote_may_be_needed(call->resource);
}

/* The resource, if the selector names a field that reading may change; else NULL. */
static const kc__resource *read_as(const kc__rest_call *call)
{
    size_t n;
    if (reads_labels(call))
        return call->resource;
    const kc_field_requirement *terms = kc_field_selector_requirements(call->options.fields, &n);
    for (size_t i = 0; i < n && call->resource->ops->transforms_on_read; i++)
        if (!kc_str_is(terms[i].field, "metadata.name") &&
            !kc_str_is(terms[i].field, "metadata.namespace"))
            return call->resource;
    return NULL;
}

/* A watch must not show Secrets of people that are created later. */
static bool hides_reserved(const kc__rest_call *call)
{
    if (!call->api->people || !kc_str_empty(call->info.ns) || *call->resource->group ||
        strcmp(call->resource->plural, "secrets") != 0)
        return false;
    kc_auto(kc_object) *ns =
        kc__watch_cache_get(call->api->namespaces, KC_STR(KC__REST_CREDENTIALS_NAMESPACE));
    return ns || call->verb->bit == KC__VERB_WATCH;
}

kc__rest_verdict kc__rest_selection_take(kc__rest_call *call, kc__rest_selection *ret)
{
    if (kc_fields_check(call->served->fields, call->options.fields, &call->error) < 0)
        return fail_unknown_field(call);
    if (is_contradiction(call))
        return kc__rest_fail(call, KC_BAD_REQUEST,
                             "fieldSelector metadata.name doesn't match requested name");
    kc_str prefix = {0};
    if (call->resource->namespaced && !kc_str_empty(call->info.ns))
        prefix = kc_cstr(kc_asprintf("%.*s/", KC_ARG(call->info.ns)));
    const kc__resource *reader = read_as(call); /* Before the selectors are moved. */
    *ret = (kc__rest_selection){
        .prefix = prefix,
        .key = only_key(call),
        .read_as = reader,
        .hides_reserved = hides_reserved(call),
        .reads_labels = reads_labels(call),
        .labels = kc_take(call->options.labels),
        .fields = kc_take(call->options.fields),
        .table = call->served->fields,
        .catalog = kc__rest_catalog_ref(call->catalog),
    };
    return KC__REST_NEXT;
}

void kc__rest_selection_done(kc__rest_selection *selection)
{
    free((char *)selection->prefix.p);
    free((char *)selection->key.p);
    kc_selector_free(selection->labels);
    kc_field_selector_free(selection->fields);
    kc__rest_catalog_unref(selection->catalog);
    *selection = (kc__rest_selection){0};
}

bool kc__rest_selection_is_everything(const kc__rest_selection *selection)
{
    return !selection->hides_reserved && kc_selector_is_everything(selection->labels) &&
           kc_field_selector_is_everything(selection->fields);
}

size_t kc__rest_selection_bytes(const kc__rest_selection *selection)
{
    size_t n = 0, bytes = selection->prefix.n + selection->key.n;
    const kc_requirement *labels = kc_selector_requirements(selection->labels, &n);
    for (size_t i = 0; i < n; i++) {
        bytes += sizeof(*labels) + labels[i].key.n + labels[i].n_values * sizeof(kc_str);
        for (size_t j = 0; j < labels[i].n_values; j++)
            bytes += labels[i].values[j].n;
    }
    const kc_field_requirement *fields = kc_field_selector_requirements(selection->fields, &n);
    for (size_t i = 0; i < n; i++)
        bytes += sizeof(*fields) + fields[i].field.n + fields[i].value.n;
    return bytes;
}

static bool fields_match(const kc__rest_selection *selection, const kc_object *object)
{
    if (!selection->read_as)
        return kc_field_selector_match_object(selection->fields, selection->table, object);
    kc_auto(kc_object) *shown = kc__convert_from_stored(selection->read_as, object, NULL);
    return kc_field_selector_match_object(selection->fields, selection->table,
                                          shown ? shown : object);
}

/* Labels and fields of the converted object. */
static bool shown_matches(const kc__rest_selection *selection, const kc_object *object)
{
    kc_auto(kc_object) *shown = kc__convert_from_stored(selection->read_as, object, NULL);
    const kc_object *seen = shown ? shown : object;
    return kc_selector_match(selection->labels, seen) &&
           kc_field_selector_match_object(selection->fields, selection->table, seen);
}

bool kc__rest_selection_matches(const kc__rest_selection *selection, const kc_object *object)
{
    if (kc__rest_selection_is_everything(selection))
        return true;
    if (selection->hides_reserved &&
        kc_str_is(kc_object_namespace(object), KC__REST_CREDENTIALS_NAMESPACE))
        return false;
    if (selection->reads_labels)
        return shown_matches(selection, object);
    return kc_selector_match(selection->labels, object) && fields_match(selection, object);
}

kc__cow_iter kc__rest_selection_start(const kc__rest_selection *selection,
                                      const kc__cow_snapshot *snapshot, kc_str from)
{
    bool one = !kc_str_empty(selection->key);
    kc__cow_range range = {.prefix = one ? selection->key : selection->prefix, .from = from};
    return kc__cow_iter_start(snapshot, &range);
}

bool kc__rest_selection_next(const kc__rest_selection *selection, kc__cow_iter *at)
{
    size_t budget;
    do {
        budget = KC__REST_SELECTION_SLICE;
        if (kc__rest_selection_next_within(selection, at, &budget))
            return true;
    } while (!budget && !kc__work_is_over());
    return false;
}

size_t kc__rest_selection_cost(const kc_object *object)
{
    return 1 + (kc_object_json(object).n >> 10);
}

bool kc__rest_selection_has(const kc__rest_selection *selection, const kc__cow_iter *at)
{
    return (kc_str_empty(selection->key) || kc_str_eq(at->key, selection->key)) &&
           kc__rest_selection_matches(selection, at->object);
}

bool kc__rest_selection_next_within(const kc__rest_selection *selection, kc__cow_iter *at,
                                    size_t *budget)
{
    while (*budget && kc__cow_iter_next(at)) {
        *budget -= KC_MIN(*budget, kc__rest_selection_cost(at->object));
        if (kc__rest_selection_has(selection, at))
            return true;
    }
    return false;
}
