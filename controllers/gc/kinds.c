/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kinds.c: maps kinds to resources. Owner references contain apiVersion and kind; discovery
 * (monitors.c) provides the resources for all versions. An unknown kind may be served later, so a
 * reference to it never counts as a reference to an absent object.
 */
#include "gc/collector.h"

typedef struct gc_kinds_known {
    char *type; /* "apps/v1 Deployment" */
    kc__gc_resource resource;
    bool served, was_served;
} gc_kinds_known;

char *kc__gc_type_of(const kc_kind *kind)
{
    kc_scoped(kc_buf) text = {0};
    kc_api_version_write(&text, kc_cstr(kind->group), kc_cstr(kind->version));
    kc_buf_printf(&text, " %s", kind->kind);
    return kc_buf_take(&text);
}

bool kc__gc_resource_of(kc__gc *gc, kc_str type, kc__gc_resource *ret)
{
    const gc_kinds_known *k = NULL;
    kc_locked (&gc->mutex) {
        k = kc_map_get(&gc->kinds, type);
        if (!k || !k->served)
            return false;
        *ret = k->resource;
    }
    return true;
}

void kc__gc_note_merges_only(kc__gc *gc, kc_str type)
{
    kc_locked (&gc->mutex) {
        gc_kinds_known *k = kc_map_get(&gc->kinds, type);
        if (k)
            k->resource.merges_only = true;
    }
}

/* ---- discovery results ---- */

void kc__gc_resources_begin(kc__gc *gc, bool complete)
{
    kc_map_each (&gc->kinds, entry) {
        gc_kinds_known *k = entry->value;
        k->was_served = k->served;
        k->served = k->served && !complete;
    }
}

void kc__gc_resources_add(kc__gc *gc, const kc_kind *kind)
{
    kc_autofree char *type = kc__gc_type_of(kind);
    gc_kinds_known *k = kc_map_get(&gc->kinds, kc_cstr(type));
    if (!k) {
        k = kc_new(gc_kinds_known);
        k->type = kc_take(type);
        kc_map_put(&gc->kinds, kc_cstr(k->type), k);
    }
    k->resource.kind = kind;
    k->served = true;
}

bool kc__gc_resources_have_new(const kc__gc *gc)
{
    kc_map_each (&gc->kinds, entry) {
        const gc_kinds_known *k = entry->value;
        if (k->served && !k->was_served)
            return true;
    }
    return false;
}

void kc__gc_kinds_done(kc__gc *gc)
{
    kc_map_each (&gc->kinds, entry) {
        gc_kinds_known *k = entry->value;
        free(k->type);
        free(k);
    }
    kc_map_done(&gc->kinds);
}
