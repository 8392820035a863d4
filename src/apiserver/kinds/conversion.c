/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conversion.c: converts the built-in resources that have a version with a form of its own.
 *
 * Two groups serve Events: v1 is the stored form, events.k8s.io/v1 renames some fields.
 * HorizontalPodAutoscalers are stored as v2, which has more fields than v1
 * (autoscaler_conversion.c). CustomResourceDefinitions have v1beta1, which differs in more than
 * names (apiextensions/crd_beta.c).
 *
 * To add a conversion: add a table of renamed fields or two functions, and a row in `conversions`.
 */
#include "apiserver/kinds/conversion.h"

#include "apiserver/codec/typed.h"
#include "apiserver/kinds/apiextensions/crd_type.h"
#include "apiserver/kinds/autoscaling/autoscaler.h"
#include "apiserver/kinds/resource_ops.h"
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

static const struct kind_conversion {
    const char *type_name; /* Type of the version that is not stored. */
    const char *api_version;
    const char *stored_type;
    const char *stored_api_version;
    const renaming *names;
    size_t n;
    /* Used instead of `names`. */
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

static const struct kind_conversion *find_conversion(const kc__resource *resource)
{
    /* Only a resource that is stored under another group or version can need a conversion. */
    if (!resource->type_name || !resource->storage_api_version)
        return NULL;
    for (size_t i = 0; i < KC_COUNT(conversions); i++)
        if (!strcmp(resource->type_name, conversions[i].type_name))
            return &conversions[i];
    return NULL;
}

bool kc__convert_is_needed(const kc__resource *resource)
{
    return find_conversion(resource) != NULL;
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

static kc_object *finish_conversion(kc_edit *edit, const char *api_version, const char *type,
                                    kc_error *err)
{
    kc_node_set(edit, kc_edit_root(edit), KC_STR("apiVersion"),
                kc_node_str(edit, kc_cstr(api_version)));
    kc_auto(kc_object) *frozen = kc_edit_freeze(edit, err);
    return frozen ? kc__typed_decode(kc__crd_type_find(kc_cstr(type)), frozen, NULL, err) : NULL;
}

const kc__type_message *kc__convert_type_of(const kc__resource *resource, const kc_object *object)
{
    const struct kind_conversion *c = find_conversion(resource);
    bool stored = c && kc_str_is(kc_object_api_version(object), c->stored_api_version);
    return stored ? kc__crd_type_find(kc_cstr(c->stored_type)) : resource->type;
}

static kc_object *apply_to_stored(const struct kind_conversion *c, const kc_object *object,
                                  kc_error *err)
{
    if (c->to_stored)
        return c->to_stored(object, err);
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    for (size_t i = 0; i < c->n; i++)
        rename_member(edit, c->names[i].own, c->names[i].stored);
    return finish_conversion(edit, c->stored_api_version, c->stored_type, err);
}

static kc_object *apply_from_stored(const struct kind_conversion *c, const kc_object *object,
                                    kc_error *err)
{
    if (c->from_stored)
        return c->from_stored(object, err);
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    for (size_t i = 0; i < c->n; i++)
        rename_member(edit, c->names[i].stored, c->names[i].own);
    return finish_conversion(edit, c->api_version, c->type_name, err);
}

kc_object *kc__builtin_to_stored(const kc__resource *resource, const kc_object *object,
                                 kc_error *err)
{
    const struct kind_conversion *c = find_conversion(resource);
    bool needed = c && kc_str_is(kc_object_api_version(object), c->api_version);
    return needed ? apply_to_stored(c, object, err) : kc_object_ref(object);
}

kc_object *kc__builtin_from_stored(const kc__resource *resource, const kc_object *object,
                                   kc_error *err)
{
    const struct kind_conversion *c = find_conversion(resource);
    bool needed = c && kc_str_is(kc_object_api_version(object), c->stored_api_version);
    return needed ? apply_from_stored(c, object, err) : kc_object_ref(object);
}

/* Kubernetes does not compare objects of different groups: fields of an Event of events.k8s.io have
 * no owner in v1. */
static bool is_in_one_group(const struct kind_conversion *c)
{
    kc_str own = kc_cstr(c->api_version), stored = kc_cstr(c->stored_api_version);
    return kc_str_eq(kc_str_cut(&own, '/'), kc_str_cut(&stored, '/'));
}

kc_object *kc__builtin_to_version(const kc__resource *resource, const kc_object *object,
                                  kc_str api_version, const kc__type_message **ret_type,
                                  kc_error *err)
{
    kc_str type = kc_cstr(resource->type_name), from = kc_object_api_version(object);
    for (size_t i = 0; i < KC_COUNT(conversions); i++) {
        const struct kind_conversion *c = &conversions[i];
        bool own = kc_str_is(type, c->type_name) || kc_str_is(type, c->stored_type);
        bool stores =
            kc_str_is(from, c->api_version) && kc_str_is(api_version, c->stored_api_version);
        bool shows =
            kc_str_is(from, c->stored_api_version) && kc_str_is(api_version, c->api_version);
        if (!own || (!stores && !shows) || !is_in_one_group(c))
            continue;
        *ret_type = kc__crd_type_find(kc_cstr(stores ? c->stored_type : c->type_name));
        return stores ? apply_to_stored(c, object, err) : apply_from_stored(c, object, err);
    }
    return NULL;
}

kc_object *kc__convert_to_stored(const kc__resource *resource, const kc_object *object,
                                 kc_error *err)
{
    return resource->ops->to_stored(resource, object, err);
}

kc_object *kc__convert_from_stored(const kc__resource *resource, const kc_object *object,
                                   kc_error *err)
{
    return resource->ops->from_stored(resource, object, err);
}
