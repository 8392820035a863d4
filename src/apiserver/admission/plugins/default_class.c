/* SPDX-License-Identifier: Apache-2.0 */
/*
 * default_class.c: implements the admission plugins DefaultStorageClass and DefaultIngressClass. A
 * new claim or Ingress that names no class, neither in its spec nor in the annotation that preceded
 * the field, gets the class that is annotated as the default: of several, the newest, and of
 * several of the same second, the first by name.
 */
#include "apiserver/admission/plugins/default_class.h"

#include "apiserver/admission/chain/plugin_request.h"
#include "apiserver/kinds/defaults.h"

typedef struct class_default {
    const char *storage;           /* Of the objects that get a class. */
    const char *field;             /* Of their spec. */
    const char *annotation;        /* Names a class in place of the field. */
    const char *group, *plural;    /* Of the classes. */
    const char *const *is_default; /* Annotations that mark the default; NULL-terminated. */
} class_default;

static const class_default storage_class = {
    .storage = "core/persistentvolumeclaims",
    .field = "storageClassName",
    .annotation = "volume.beta.kubernetes.io/storage-class",
    .group = "storage.k8s.io",
    .plural = "storageclasses",
    .is_default = (const char *const[]){"storageclass.kubernetes.io/is-default-class",
                                        "storageclass.beta.kubernetes.io/is-default-class", NULL},
};

static const class_default ingress_class = {
    .storage = "networking.k8s.io/ingresses",
    .field = "ingressClassName",
    .annotation = "kubernetes.io/ingress.class",
    .group = "networking.k8s.io",
    .plural = "ingressclasses",
    .is_default = (const char *const[]){"ingressclass.kubernetes.io/is-default-class", NULL},
};

static bool is_default_class(const class_default *what, const kc_object *object)
{
    /* Most classes have no such annotation: the bytes tell without parsing. */
    if (!kc_str_contains(kc_object_annotations_json(object), KC_STR("/is-default-class")))
        return false;
    kc_auto(kc_view) *view = kc_view_of(object);
    for (const char *const *name = what->is_default; *name; name++)
        if (kc_str_is(kc__admission_annotation_of(kc_view_root(view), *name), "true"))
            return true;
    return false;
}

/* Times of creation have one format, so their text compares as they do. */
static kc_str newest_default(kc__rest_call *call, const class_default *what)
{
    uint64_t revision;
    kc_auto(kc__cow_snapshot) *all =
        kc__watch_cache_snapshot(kc__admission_objects(call, what->group, what->plural), &revision);
    kc__cow_iter it = kc__cow_iter_start(all, NULL);
    const kc_object *newest = NULL;
    while (kc__cow_iter_next(&it))
        if (is_default_class(what, it.object) &&
            (!newest || kc_str_cmp(kc_object_creation_timestamp(it.object),
                                   kc_object_creation_timestamp(newest)) > 0))
            newest = it.object;
    return newest ? kc_arena_str(call->arena, kc_object_name(newest)) : (kc_str){0};
}

static kc__rest_verdict set_class(kc__rest_call *call, const class_default *what)
{
    if (!kc__admission_creates(call, what->storage))
        return KC__REST_NEXT;
    kc_edit *edit = kc__draft_edit(&call->draft);
    kc_node *root = kc_edit_root(edit), *spec = kc_node_get(root, KC_STR("spec"));
    const kc_node *annotations =
        kc_node_get(kc_node_get(root, KC_STR("metadata")), KC_STR("annotations"));
    if (!kc__defaults_node_absent(spec, what->field) ||
        kc_node_get(annotations, kc_cstr(what->annotation)))
        return KC__REST_NEXT;
    const kc_str class = newest_default(call, what);
    if (!kc_str_empty(class))
        kc_node_set(edit, spec, kc_cstr(what->field), kc_node_str(edit, class));
    return KC__REST_NEXT;
}

kc__rest_verdict kc__admission_default_storage_class(kc__rest_call *call)
{
    return set_class(call, &storage_class);
}

kc__rest_verdict kc__admission_default_ingress_class(kc__rest_call *call)
{
    return set_class(call, &ingress_class);
}
