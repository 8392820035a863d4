/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stored_kinds.c: the table of kinds that may be stored: the built-in ones in the version of their
 * stored form, and custom ones in every version of their CustomResourceDefinition, because the
 * server rewrites an object to a new storage version only when the object changes.
 *
 * object_key.c relates objects to keys.
 */
#include "apiserver/maintenance/stored_kinds.h"

#include "apiserver/kinds/key_layout.h"
#include "apiserver/maintenance/values.h"
#include "apiserver/storage/stored_key.h"
#include "kc/vec.h"
#include "kc/view.h"

static kc_str name_of_kind(kc_arena *arena, kc_str api_version, kc_str kind)
{
    return kc_arena_join(arena, api_version, KC_STR(" "), kind);
}

static void add_kind(kc__maintenance_kinds *kinds, const kc__maintenance_kind *kind,
                     kc_str api_version, kc_str name)
{
    kc__maintenance_kind *copy = kc_map_get(&kinds->by_prefix, kind->prefix);
    if (!copy) {
        copy = kc_arena_new(&kinds->arena, kc__maintenance_kind);
        *copy = *kind;
        kc_map_put(&kinds->by_prefix, copy->prefix, copy);
    }
    kc_map_put(&kinds->by_name, name_of_kind(&kinds->arena, api_version, name), copy);
}

static bool is_stored_version(const kc__resource *r)
{
    kc_str version = kc_cstr(r->storage_api_version);
    const ptrdiff_t slash = kc_str_find(version, '/');
    const kc_str group = kc_str_sub(version, 0, slash < 0 ? 0 : (size_t)slash);
    version = kc_str_sub(version, (size_t)(slash + 1), version.n);
    return kc_str_is(group, r->group) && kc_str_is(version, r->version);
}

void kc__maintenance_kinds_init(kc__maintenance_kinds *kinds)
{
    *kinds = (kc__maintenance_kinds){0};
    for (size_t i = 0; i < kc__resource_n_builtins; i++) {
        const kc__resource *r = &kc__resource_builtins[i];
        if (!r->key_prefix || !is_stored_version(r))
            continue;
        const kc__maintenance_kind kind = {
            .group = kc_cstr(r->group),
            .plural = kc_cstr(r->plural),
            .prefix = kc_cstr(r->key_prefix),
            .namespaced = r->namespaced,
            .is_definition = !strcmp(r->kind, "CustomResourceDefinition"),
            .type = r->type_name ? kc__type_lookup(kc_cstr(r->type_name)) : NULL,
        };
        add_kind(kinds, &kind, kc_cstr(r->storage_api_version), kc_cstr(r->kind));
    }
}

void kc__maintenance_kinds_done(kc__maintenance_kinds *kinds)
{
    kc_map_done(&kinds->by_prefix);
    kc_map_done(&kinds->by_name);
    kc_arena_done(&kinds->arena);
}

/* ---- custom kinds ---- */

static kc_str text_at(kc__maintenance_kinds *kinds, const kc_value *spec, const char *path)
{
    return kc_arena_str(&kinds->arena, kc_value_as_str(kc_value_nested(spec, path)));
}

int kc__maintenance_kinds_add(kc__maintenance_kinds *kinds, const kc_object *definition,
                              kc_error *err)
{
    kc_scoped(kc_buf) prefix = {0};
    kc_auto(kc_view) *view = kc_view_of(definition);
    const kc_value *spec = kc_value_get(kc_view_root(view), "spec");
    kc__maintenance_kind kind = {.group = text_at(kinds, spec, "group"),
                                 .plural = text_at(kinds, spec, "names.plural")};
    const kc_str name = kc_value_as_str(kc_value_nested(spec, "names.kind"));
    if (!kind.group.n || !kind.plural.n || !name.n)
        return kc_error_set(err, KC_INVALID,
                            "the CustomResourceDefinition \"%.*s\" has no group, plural or kind",
                            KC_ARG(kc_object_name(definition)));
    kc__resource_key_custom_prefix(&prefix, kind.group, kind.plural);
    kind.prefix = kc_arena_str(&kinds->arena, kc_buf_str(&prefix));
    if (kc__resource_key_prefix_is_builtin(kind.prefix) ||
        !kc_str_eq(kc__storage_key_prefix(kind.prefix), kind.prefix))
        return kc_error_set(err, KC_INVALID,
                            "the CustomResourceDefinition \"%.*s\" has an invalid group or plural: "
                            "its objects would have the keys of others",
                            KC_ARG(kc_object_name(definition)));
    kind.namespaced = kc_str_is(kc_value_as_str(kc_value_get(spec, "scope")), "Namespaced");
    kc_value_each_item (kc_value_get(spec, "versions"), version) {
        const kc_str text = kc_value_as_str(kc_value_get(version, "name"));
        const kc_str api_version = kc_arena_join(&kinds->arena, kind.group, KC_STR("/"), text);
        add_kind(kinds, &kind, api_version, name);
    }
    return 0;
}

typedef struct definition_load {
    kc__maintenance_kinds *kinds;
    kc__storage *storage;
    kc__encryption *encryption;
} definition_load;

static int load_definition(const kc__storage_entry *entry, void *user)
{
    definition_load *load = user;
    kc_auto(kc_object) *definition =
        kc__maintenance_object_of(load->encryption, load->storage, entry->key, entry->value, NULL);
    if (definition)
        (void)kc__maintenance_kinds_add(load->kinds, definition, NULL);
    return 0;
}

int kc__maintenance_kinds_load(kc__maintenance_kinds *kinds, kc__storage *storage,
                               uint64_t revision, kc__encryption *encryption, kc_error *err)
{
    definition_load load = {kinds, storage, encryption};
    const kc__storage_list_opts opts = {.prefix = kc__resource_key_builtin_prefix(
                                            "apiextensions.k8s.io", "customresourcedefinitions"),
                                        .revision = revision};
    return kc__storage_list(storage, &opts, load_definition, &load, NULL, err);
}

/* ---- lookups ---- */

const kc__maintenance_kind *kc__maintenance_kinds_at(const kc__maintenance_kinds *kinds,
                                                     kc_str prefix)
{
    return kc_map_get(&kinds->by_prefix, prefix);
}

/* "pods" or "pods.", "deployments" or "deployments.apps" */
static bool is_named(const kc__maintenance_kind *kind, kc_str resource)
{
    kc_str rest = resource;
    const kc_str plural = kc_str_cut(&rest, '.');
    return kc_str_eq(plural, kind->plural) && (!rest.p || kc_str_eq(rest, kind->group));
}

static void name_nearest(const kc__maintenance_kinds *kinds, const char *resource, kc_error *err)
{
    KC_VEC(const char *) names = {0};
    kc_arena scratch = {0};
    kc_map_each (&kinds->by_prefix, entry) {
        const kc__maintenance_kind *kind = entry->value;
        kc_vec_push(&names, kc_arena_strndup(&scratch, kind->plural.p, kind->plural.n));
    }
    const char *nearest = kc_str_nearest(kc_cstr(resource), names.items, names.n);
    kc_error_set(err, KC_INVALID, "the store knows no resource \"%s\"%s%s%s", resource,
                 nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    kc_vec_done(&names);
    kc_arena_done(&scratch);
}

const kc__maintenance_kind *kc__maintenance_kinds_named(const kc__maintenance_kinds *kinds,
                                                        const char *resource, kc_error *err)
{
    kc_map_each (&kinds->by_prefix, entry)
        if (is_named(entry->value, kc_cstr(resource)))
            return entry->value;
    name_nearest(kinds, resource, err);
    return NULL;
}
