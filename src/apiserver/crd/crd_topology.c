/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_topology.c: the topology of a version of a CRD (kinds/topology.h), from its schema.
 *
 * A server uses few of its custom resources, and the graph of types takes as much memory as all
 * else of a small CRD, so the first write of an object builds it: on a worker thread if the schema
 * is large (kc__crd_topology_is_slow), because a schema of 1 MiB takes many milliseconds. Two
 * threads that need it at the same time build it twice, and one of the results is freed.
 *
 * metadata has the type of every object, also in embedded resources. Without a schema all types are
 * deduced from values. So are those of a schema that has no types of ownership: such a schema
 * passed validation in an earlier release, and its objects stay writable.
 */
#include "apiserver/codec/type_fields.h"
#include "apiserver/crd/crd_resource_internal.h"
#include "apiserver/kinds/apiextensions/crd_type.h"

#define OBJECT_TYPE "object"

static kc__fields_types *types_of_schema(const kc__custom *version, const kc_value *schema)
{
    kc_auto(kc__fields_types) *types = kc__fields_types_new();
    kc__fields_openapi_opts opts = {.preserve_unknown = version->preserve,
                                    .metadata = kc__crd_object_meta_type->name};
    kc__type_fields_add(types, kc__crd_object_meta_type);
    if (kc__fields_types_add_custom(types, KC_STR(OBJECT_TYPE), schema, &opts, NULL) < 0)
        return NULL;
    kc__fields_types_finish(types);
    return kc_take(types);
}

static kc__resource_topology *build_custom_topology(const kc__custom *version)
{
    kc_scoped(kc_buf) empty = {0};
    kc_auto(kc_view) *schema =
        version->schema_text.n ? kc_view_parse(version->schema_text, NULL, NULL) : NULL;
    kc_buf_puts(&empty, "{\"apiVersion\":");
    kc_json_quote(&empty, kc_cstr(version->api_version));
    kc_buf_puts(&empty, ",\"kind\":");
    kc_json_quote(&empty, kc_cstr(version->kind));
    kc_buf_putc(&empty, '}');
    kc__fields_types *types = types_of_schema(version, schema ? kc_view_root(schema) : NULL);
    if (!types)
        types = types_of_schema(version, NULL);
    return kc__resource_topology_new(types, kc__fields_types_get(types, KC_STR(OBJECT_TYPE)),
                                     kc_buf_str(&empty));
}

const kc__resource_topology *kc__crd_topology(const kc__custom *version)
{
    kc__resource_topology *known =
        atomic_load_explicit(&version->topology->built, memory_order_acquire);
    if (known)
        return known;
    kc__resource_topology *built = build_custom_topology(version);
    if (atomic_compare_exchange_strong(&version->topology->built, &known, built))
        return built;
    kc__resource_topology_free(built);
    return known;
}

/* Managers may have owned fields in any version, so an update may need the topology of each. */
bool kc__crd_topology_is_slow(const kc__crd *crd)
{
    enum { LARGE_SCHEMA = 16 * 1024 }; /* Takes a quarter of a millisecond. */
    for (size_t i = 0; i < crd->n_versions; i++) {
        const kc__custom *version = &crd->versions[i];
        if (version->schema_text.n > LARGE_SCHEMA &&
            !atomic_load_explicit(&version->topology->built, memory_order_relaxed))
            return true;
    }
    return false;
}

void kc__crd_topology_free(const kc__custom *version)
{
    if (version->topology)
        kc__resource_topology_free(atomic_load(&version->topology->built));
}
