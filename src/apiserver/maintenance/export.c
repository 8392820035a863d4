/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.c: `kc store export`.
 *
 * Three passes over the same revision give the order in which objects can be created. Plain values
 * lose their metadata.resourceVersion; everything else is written as it is stored.
 */
#include "apiserver/maintenance/export.h"

#include "apiserver/kinds/key_layout.h"
#include "apiserver/maintenance/marker.h"
#include "apiserver/maintenance/object_keys.h"
#include "apiserver/maintenance/stored_kinds.h"
#include "apiserver/maintenance/values.h"
#include "apiserver/storage/stored_key.h"
#include "kc/edit.h"

#include <errno.h>

typedef struct export_walk {
    kc__storage *storage;
    const kc__maintenance_export_opts *opts;
    const kc__maintenance_kind *only; /* NULL: all kinds. */
    kc_str crds, namespaces;          /* Prefixes that precede the others. */
    bool first;                       /* This pass writes one of them. */
    FILE *out;
    kc__maintenance_exported *result;
    kc_error *err;
} export_walk;

static void report_unexported(export_walk *w, kc_str key, const kc_error *why)
{
    w->result->problems++;
    if (w->opts->problem)
        w->opts->problem(key, kc_error_text(why), w->opts->user);
}

/* The object without what has a meaning in this store only. */
static kc_object *exported_form(const kc_object *object, bool for_apply, kc_error *err)
{
    static const char *const set_by_servers[] = {"uid", "creationTimestamp", "generation",
                                                 "managedFields"};
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    kc_node *metadata = kc_node_get(kc_edit_root(edit), KC_STR("metadata"));
    kc_node_remove(metadata, KC_STR("resourceVersion"));
    if (for_apply) {
        kc_node_remove(kc_edit_root(edit), KC_STR("status"));
        for (size_t i = 0; i < KC_COUNT(set_by_servers); i++)
            kc_node_remove(metadata, kc_cstr(set_by_servers[i]));
    }
    return kc_edit_freeze(edit, err);
}

static int write_line(export_walk *w, const kc_object *object)
{
    const kc_str text = kc_object_json(object);
    if (fwrite(text.p, 1, text.n, w->out) != text.n || putc('\n', w->out) == EOF)
        return kc_error_set(w->err, KC_SERVICE_UNAVAILABLE, "cannot write: %s", strerror(errno));
    w->result->objects++;
    return 0;
}

/* Namespace and name follow the prefix of a key. */
static bool is_in_namespace(kc_str key, kc_str prefix, const char *namespace)
{
    kc_str rest = kc_str_sub(key, prefix.n, key.n);
    const kc_str first = kc_str_cut(&rest, '/');
    return rest.p && kc_str_is(first, namespace);
}

static bool is_selected(const export_walk *w, kc_str key, kc_str prefix)
{
    const bool precedes = kc_str_eq(prefix, w->crds) || kc_str_eq(prefix, w->namespaces);
    if ((precedes && !w->first) || (w->only && !kc_str_eq(prefix, w->only->prefix)))
        return false;
    return !w->opts->namespace || is_in_namespace(key, prefix, w->opts->namespace);
}

static bool is_secret(kc_str prefix, kc_str value)
{
    return kc_str_eq(prefix, kc__resource_key_builtin_prefix("", "secrets")) ||
           kc__maintenance_is_encrypted(value);
}

static int export_entry(const kc__storage_entry *entry, void *user)
{
    export_walk *w = user;
    kc_scoped(kc_error) why = {0};
    const kc_str prefix = kc__storage_key_prefix(entry->key);
    if (!is_selected(w, entry->key, prefix) || !kc__maintenance_is_object(entry->key))
        return 0;
    if (!w->opts->with_secrets && is_secret(prefix, entry->value)) {
        w->result->secrets++;
        return 0;
    }
    kc_auto(kc_object) *object =
        kc__maintenance_object_of(w->opts->encryption, w->storage, entry->key, entry->value, &why);
    if (object && w->opts->for_apply && kc_object_owners_json(object).n) {
        w->result->owned++;
        return 0;
    }
    kc_auto(kc_object) *shown = object ? exported_form(object, w->opts->for_apply, &why) : NULL;
    if (shown)
        return write_line(w, shown);
    report_unexported(w, entry->key, &why);
    return 0;
}

static int export_prefix(export_walk *w, kc_str prefix)
{
    const kc__storage_list_opts opts = {.prefix = prefix, .revision = w->result->revision};
    w->first = prefix.n > strlen(KC__STORAGE_KEY_ROOT);
    return kc__storage_list(w->storage, &opts, export_entry, w, NULL, w->err);
}

static int export_all(export_walk *w, kc_error *err)
{
    w->crds = kc__resource_key_builtin_prefix("apiextensions.k8s.io", "customresourcedefinitions");
    w->namespaces = kc__resource_key_builtin_prefix("", "namespaces");
    if (export_prefix(w, w->crds) < 0 || export_prefix(w, w->namespaces) < 0 ||
        export_prefix(w, KC_STR(KC__STORAGE_KEY_ROOT)) < 0)
        return kc_error_result(err);
    if (fflush(w->out) != 0)
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE, "cannot write: %s", strerror(errno));
    return 0;
}

int kc__maintenance_export(kc__storage *storage, const kc__maintenance_export_opts *opts, FILE *out,
                           kc__maintenance_exported *ret, kc_error *err)
{
    kc_scoped(kc__maintenance_kinds) kinds;
    kc__storage_state state = {0};
    export_walk w = {.storage = storage, .opts = opts, .out = out, .result = ret, .err = err};
    kc__maintenance_kinds_init(&kinds);
    if (kc__maintenance_require_complete(storage, err) < 0 ||
        kc__storage_progress(storage, &state, err) < 0 ||
        kc__maintenance_kinds_load(&kinds, storage, state.revision, opts->encryption, err) < 0)
        return kc_error_result(err);
    ret->revision = state.revision;
    w.only = opts->resource ? kc__maintenance_kinds_named(&kinds, opts->resource, err) : NULL;
    if (opts->resource && !w.only)
        return kc_error_result(err);
    return export_all(&w, err);
}
