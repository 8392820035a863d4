/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selection.c: selectors, checked against what the resource lets itself be selected by. A selector
 * that names one object makes the range that object, so it costs a look-up, not a walk.
 *
 * Fields of custom objects are those a client sees: with the defaults that the definition has by
 * now, without what it no longer knows. Only who selects by such a field pays for it.
 */
#include "apiserver/rest/selection.h"

#include "apiserver/crd/custom_object.h"

/* Kinds without fields of their own say it in other words. */
static kc__verdict not_selectable(kc__call *call)
{
    size_t n;
    const kc_field_requirement *terms = kc_field_selector_requirements(call->options.fields, &n);
    for (size_t i = 0; i < n && !call->resource->strategy->n_selectable; i++)
        if (kc_fields_has(call->served->fields, terms[i].field))
            continue;
        else if (call->resource->custom)
            return kc__fail(call, KC_BAD_REQUEST, "field label not supported: %.*s",
                            KC_ARG(terms[i].field));
        else
            return kc__fail(call, KC_BAD_REQUEST,
                            "\"%.*s\" is not a known field selector: only \"metadata.name\", "
                            "\"metadata.namespace\"",
                            KC_ARG(terms[i].field));
    return KC__FAIL;
}

/* The one key the selection can have, malloc'd; empty where there may be several. */
static kc_str only_key(kc__call *call)
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

/* The old path of a watch names one object; a selector may not name another. */
static bool is_contradiction(const kc__call *call)
{
    kc_str name;
    return call->info.named &&
           kc_field_selector_exact(call->options.fields, KC_STR("metadata.name"), &name) &&
           !kc_str_eq(name, call->info.name);
}

/* Whether the selector asks for more than what all objects have, and never in another form. */
static const kc__custom *shown_by(const kc__call *call)
{
    size_t n;
    const kc_field_requirement *terms = kc_field_selector_requirements(call->options.fields, &n);
    for (size_t i = 0; i < n && call->resource->custom; i++)
        if (!kc_str_is(terms[i].field, "metadata.name") &&
            !kc_str_is(terms[i].field, "metadata.namespace"))
            return call->resource->custom;
    return NULL;
}

kc__verdict kc__selection_take(kc__call *call, kc__selection *ret)
{
    if (kc_fields_check(call->served->fields, call->options.fields, &call->error) < 0)
        return not_selectable(call);
    if (is_contradiction(call))
        return kc__fail(call, KC_BAD_REQUEST,
                        "fieldSelector metadata.name doesn't match requested name");
    kc_str prefix = {0};
    if (call->resource->namespaced && !kc_str_empty(call->info.ns))
        prefix = kc_cstr(kc_asprintf("%.*s/", KC_ARG(call->info.ns)));
    const kc__custom *custom = shown_by(call);
    *ret = (kc__selection){
        .prefix = prefix,
        .key = only_key(call),
        .shown_by = custom,
        .labels = kc_take(call->options.labels),
        .fields = kc_take(call->options.fields),
        .table = call->served->fields,
        .snapshot = kc__snapshot_ref(call->snapshot),
    };
    return KC__NEXT;
}

void kc__selection_done(kc__selection *selection)
{
    free((char *)selection->prefix.p);
    free((char *)selection->key.p);
    kc_selector_free(selection->labels);
    kc_field_selector_free(selection->fields);
    kc__snapshot_unref(selection->snapshot);
    *selection = (kc__selection){0};
}

bool kc__selection_is_everything(const kc__selection *selection)
{
    return kc_selector_is_everything(selection->labels) &&
           kc_field_selector_is_everything(selection->fields);
}

static bool fields_match(const kc__selection *selection, const kc_object *object)
{
    if (!selection->shown_by)
        return kc_field_selector_match_object(selection->fields, selection->table, object);
    kc_auto(kc_object) *shown = kc__custom_read(selection->shown_by, object, NULL);
    return kc_field_selector_match_object(selection->fields, selection->table,
                                          shown ? shown : object);
}

bool kc__selection_matches(const kc__selection *selection, const kc_object *object)
{
    if (kc__selection_is_everything(selection))
        return true;
    return kc_selector_match(selection->labels, object) && fields_match(selection, object);
}

kc_cow_iter kc__selection_start(const kc__selection *selection, const kc_cow_snapshot *snapshot,
                                kc_str from)
{
    bool one = !kc_str_empty(selection->key);
    kc_cow_range range = {.prefix = one ? selection->key : selection->prefix, .from = from};
    return kc_cow_iter_start(snapshot, &range);
}

bool kc__selection_next(const kc__selection *selection, kc_cow_iter *at)
{
    while (kc_cow_iter_next(at))
        if ((kc_str_empty(selection->key) || kc_str_eq(at->key, selection->key)) &&
            kc__selection_matches(selection, at->object))
            return true;
    return false;
}
