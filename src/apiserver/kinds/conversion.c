/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conversion.c: versions with a form of their own. Events have two groups: v1, which is stored, and
 * events.k8s.io/v1, which calls what it took over from there by other names. Of
 * HorizontalPodAutoscalers v2 is stored, which can say more than v1 (autoscaler_conversion.c).
 * Definitions have v1beta1, which differs in more than names (crd/crd_beta.c).
 *
 * To add one: its names or two functions, and a line in the table.
 */
#include "apiserver/kinds/conversion.h"

#include "apiserver/crd/crd_type.h"
#include "apiserver/crd/custom_object.h"
#include "apiserver/kinds/autoscaler.h"
#include "apiserver/kinds/typed.h"
#include "kc/edit.h"

#define DEFINITION(version) \
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions." version ".CustomResourceDefinition"

typedef struct renaming {
    const char *stored, *own;
} renaming;

static const renaming event_names[] = {
    {"involvedObject", "regarding"},
    {"message", "note"},
    {"source", "deprecatedSource"},
    {"firstTimestamp", "deprecatedFirstTimestamp"},
    {"lastTimestamp", "deprecatedLastTimestamp"},
    {"count", "deprecatedCount"},
    {"reportingComponent", "reportingController"},
};

static kc_object *definition_to_stored(const kc_object *object, kc_error *err)
{
    return kc__crd_decode(object, NULL, err);
}

static const struct conversion {
    const char *type_name; /* Of the version that is not stored. */
    const char *api_version;
    const char *stored_type;
    const char *stored_api_version;
    const renaming *names;
    size_t n;
    /* Instead of names. */
    kc_object *(*to_stored)(const kc_object *object, kc_error *err);
    kc_object *(*from_stored)(const kc_object *object, kc_error *err);
} conversions[] = {
    {.type_name = "io.k8s.api.events.v1.Event",
     .api_version = "events.k8s.io/v1",
     .stored_type = "io.k8s.api.core.v1.Event",
     .stored_api_version = "v1",
     .names = event_names,
     .n = KC_COUNT(event_names)},
    {.type_name = "io.k8s.api.autoscaling.v1.HorizontalPodAutoscaler",
     .api_version = "autoscaling/v1",
     .stored_type = "io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler",
     .stored_api_version = "autoscaling/v2",
     .to_stored = kc__autoscaler_to_v2,
     .from_stored = kc__autoscaler_to_v1},
    {.type_name = DEFINITION("v1beta1"),
     .api_version = KC__CRD_BETA,
     .stored_type = DEFINITION("v1"),
     .stored_api_version = KC__CRD_VERSION,
     .to_stored = definition_to_stored,
     .from_stored = kc__crd_to_beta},
};

static const struct conversion *find(const kc__resource *resource)
{
    /* Only what is stored under another group or version can need one. */
    if (!resource->type_name || !resource->storage_api_version)
        return NULL;
    for (size_t i = 0; i < KC_COUNT(conversions); i++)
        if (!strcmp(resource->type_name, conversions[i].type_name))
            return &conversions[i];
    return NULL;
}

bool kc__converts(const kc__resource *resource)
{
    return find(resource) != NULL;
}

static void rename_member(kc_edit *edit, const char *from, const char *to)
{
    kc_node *root = kc_edit_root(edit), *value = kc_node_get(root, kc_cstr(from));
    if (!value)
        return;
    value = kc_node_clone(edit, value);
    kc_node_remove(root, kc_cstr(from));
    kc_node_set(edit, root, kc_cstr(to), value);
}

static kc_object *finish(kc_edit *edit, const char *api_version, const char *type, kc_error *err)
{
    kc_node_set(edit, kc_edit_root(edit), KC_STR("apiVersion"),
                kc_node_str(edit, kc_cstr(api_version)));
    kc_auto(kc_object) *frozen = kc_edit_freeze(edit, err);
    return frozen ? kc__typed_decode(kc__type_find(kc_cstr(type)), frozen, NULL, err) : NULL;
}

const kc__message *kc__type_of(const kc__resource *resource, const kc_object *object)
{
    const struct conversion *c = find(resource);
    bool stored = c && kc_str_is(kc_object_api_version(object), c->stored_api_version);
    return stored ? kc__type_find(kc_cstr(c->stored_type)) : resource->type;
}

kc_object *kc__to_stored(const kc__resource *resource, const kc_object *object, kc_error *err)
{
    if (resource->custom)
        return kc__custom_to_storage(resource->custom, object, err);
    const struct conversion *c = find(resource);
    if (!c || !kc_str_is(kc_object_api_version(object), c->api_version))
        return kc_object_ref(object);
    if (c->to_stored)
        return c->to_stored(object, err);
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    for (size_t i = 0; i < c->n; i++)
        rename_member(edit, c->names[i].own, c->names[i].stored);
    return finish(edit, c->stored_api_version, c->stored_type, err);
}

kc_object *kc__from_stored(const kc__resource *resource, const kc_object *object, kc_error *err)
{
    if (resource->custom)
        return kc__custom_read(resource->custom, object, err);
    const struct conversion *c = find(resource);
    if (!c || !kc_str_is(kc_object_api_version(object), c->stored_api_version))
        return kc_object_ref(object);
    if (c->from_stored)
        return c->from_stored(object, err);
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    for (size_t i = 0; i < c->n; i++)
        rename_member(edit, c->names[i].stored, c->names[i].own);
    return finish(edit, c->api_version, c->type_name, err);
}
