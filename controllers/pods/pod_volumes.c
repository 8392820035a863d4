/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_volumes.c: the files of volumes of type ConfigMap, Secret, downwardAPI and projected.
 *
 * A file's mode is that of the item, of the volume, or 0644, the first that is set. Of two files
 * with the same path the later one wins. A missing source is an error unless it is optional: the
 * pod then waits. Tokens of service accounts are only for containers that can read them: simulated
 * ones get none.
 */
#include "pods/pod_inputs.h"

#include "kc/kinds.h"
#include "kc/map.h"
#include "kc/view.h"

#define DEFAULT_MODE 0644

typedef struct files {
    const kc__pod_inputs *in;
    KC_VEC(kc__pod_volume_file) list;
    kc_map by_path; /* Index in the list, plus one. */
    int mode;
} files;

static int mode_or(const int32_t *mode, int fallback)
{
    return mode ? *mode : fallback;
}

/* ".." leaves the volume; the server refuses such pods. */
static int check_path(const char *path, kc_error *err)
{
    kc_str rest = kc_cstr(path);
    if (!*path || *path == '/')
        return kc_error_set(err, KC_INVALID, "invalid path: %s", path);
    while (rest.p)
        if (kc_str_is(kc_str_cut(&rest, '/'), ".."))
            return kc_error_set(err, KC_INVALID, "invalid path, must not contain '..': %s", path);
    return 0;
}

static int pod_volumes_add(files *f, const char *path, kc_str bytes, int mode, kc_error *err)
{
    if (check_path(path, err) < 0)
        return kc_error_result(err);
    const kc__pod_volume_file file = {.path = path, .bytes = bytes, .mode = mode};
    const uintptr_t place = (uintptr_t)kc_map_get(&f->by_path, kc_cstr(path));
    if (place) {
        f->list.items[place - 1] = file;
        return 0;
    }
    kc_vec_push(&f->list, file);
    kc_map_put(&f->by_path, kc_cstr(path), (void *)(uintptr_t)f->list.n);
    return 0;
}

/* ---- ConfigMaps and Secrets ---- */

static int add_items(files *f, const kc_kind *kind, const kc__pod_data_entries *entries,
                     const kc_key_to_path *items, size_t n, bool optional, kc_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const kc__pod_data_entry *entry = kc__pod_data_entry_find(entries, items[i].key);
        if (!entry && optional)
            continue;
        if (!entry)
            return kc_error_set(err, KC_NOT_FOUND, "%s references non-existent %s key: %s",
                                kc__pod_source_name(kind),
                                kind == &kc_kind_secret ? "secret" : "config", items[i].key);
        if (pod_volumes_add(f, items[i].path, entry->value, mode_or(items[i].mode, f->mode), err) <
            0)
            return kc_error_result(err);
    }
    return 0;
}

static int pod_volumes_add_source(files *f, const kc_kind *kind, const char *name,
                                  const kc_key_to_path *items, size_t n, const bool *may_miss,
                                  kc_error *err)
{
    kc__pod_data_entries entries = {0};
    const bool optional = may_miss && *may_miss;
    int result = kc__pod_data_entries_of(f->in, kind, name, true, &entries, err);
    if (result < 0 && optional && kc_is_not_found(err)) {
        kc_error_done(err);
        result = 0;
    } else if (result == 0 && n)
        result = add_items(f, kind, &entries, items, n, optional, err);
    else if (result == 0)
        for (size_t i = 0; i < entries.n && result == 0; i++)
            result = pod_volumes_add(f, entries.items[i].key, entries.items[i].value, f->mode, err);
    kc_vec_done(&entries);
    return result;
}

/* ---- downwardAPI ---- */

static int add_downward(files *f, const kc_downward_volume *v, kc_error *err)
{
    for (size_t i = 0; i < v->n_items; i++) {
        const kc_downward_file *item = &v->items[i];
        const char *value = "";
        if (item->field_ref &&
            kc__pod_field_value(f->in, item->field_ref->field_path, &value, err) < 0)
            return kc_error_result(err);
        if (item->resource_field_ref &&
            kc__pod_resource_value(f->in, item->resource_field_ref, NULL, &value, err) < 0)
            return kc_error_result(err);
        if (pod_volumes_add(f, item->path, kc_cstr(value), mode_or(item->mode, f->mode), err) < 0)
            return kc_error_result(err);
    }
    return 0;
}

/* ---- projected ---- */

static int add_token(files *f, const kc_token_projection *p, kc_error *err)
{
    kc_str token;
    if (!f->in->issues_tokens)
        return 0;
    if (kc__pod_token_text(f->in, p, &token, err) < 0)
        return kc_error_result(err);
    return pod_volumes_add(f, p->path, token, f->mode, err);
}

/* A server without a CA publishes none; the volume that admission adds to every pod names it. */
static const bool *may_be_missing(const files *f, const kc_config_map_volume *source)
{
    static const bool missing = true;
    const bool is_root_ca = source->name && !strcmp(source->name, "kube-root-ca.crt");
    return is_root_ca && !f->in->has_root_ca ? &missing : source->optional;
}

static int add_projection(files *f, const kc_projection *p, kc_error *err)
{
    if (p->service_account_token)
        return add_token(f, p->service_account_token, err);
    if (p->config_map)
        return pod_volumes_add_source(f, &kc_kind_config_map, p->config_map->name,
                                      p->config_map->items, p->config_map->n_items,
                                      may_be_missing(f, p->config_map), err);
    if (p->secret)
        return pod_volumes_add_source(f, &kc_kind_secret, p->secret->name, p->secret->items,
                                      p->secret->n_items, p->secret->optional, err);
    return p->downward_api ? add_downward(f, p->downward_api, err) : 0;
}

static int pod_volumes_decode(const kc__pod_inputs *in, const kc_struct *type, const char *json,
                              void *ret, kc_error *err)
{
    kc_auto(kc_view) *view = kc_view_parse(kc_cstr(json), NULL, err);
    return view ? kc_struct_decode_value(type, kc_view_root(view), in->arena, ret, err)
                : kc_error_result(err);
}

static int add_projected(files *f, const char *json, kc_error *err)
{
    kc_projected_volume v = {0};
    if (pod_volumes_decode(f->in, &kc_projected_volume_struct, json, &v, err) < 0)
        return kc_error_result(err);
    f->mode = mode_or(v.default_mode, DEFAULT_MODE);
    for (size_t i = 0; i < v.n_sources; i++)
        if (add_projection(f, &v.sources[i], err) < 0)
            return kc_error_result(err);
    return 0;
}

static int add_downward_json(files *f, const char *json, kc_error *err)
{
    kc_downward_volume v = {0};
    if (pod_volumes_decode(f->in, &kc_downward_volume_struct, json, &v, err) < 0)
        return kc_error_result(err);
    f->mode = mode_or(v.default_mode, DEFAULT_MODE);
    return add_downward(f, &v, err);
}

static int add_volume(files *f, const kc_volume *v, kc_error *err)
{
    if (v->config_map) {
        const kc_config_map_volume *c = v->config_map;
        f->mode = mode_or(c->default_mode, DEFAULT_MODE);
        return pod_volumes_add_source(f, &kc_kind_config_map, c->name, c->items, c->n_items,
                                      c->optional, err);
    }
    if (v->secret) {
        const kc_secret_volume *s = v->secret;
        f->mode = mode_or(s->default_mode, DEFAULT_MODE);
        return pod_volumes_add_source(f, &kc_kind_secret, s->secret_name, s->items, s->n_items,
                                      s->optional, err);
    }
    return v->projected.json ? add_projected(f, v->projected.json, err)
                             : add_downward_json(f, v->downward_api.json, err);
}

/* ---- all types ---- */

int kc__pod_volume_files(const kc__pod_inputs *in, const kc_volume *volume,
                         kc__pod_volume_file **ret, size_t *ret_n, kc_error *err)
{
    files f = {.in = in, .mode = DEFAULT_MODE};
    if (!volume->config_map && !volume->secret && !volume->projected.json &&
        !volume->downward_api.json)
        return 0;
    const int result = add_volume(&f, volume, err);
    if (result == 0) {
        *ret = kc_arena_calloc(in->arena, f.list.n + 1, sizeof(**ret));
        if (f.list.n)
            memcpy(*ret, f.list.items, f.list.n * sizeof(**ret));
        *ret_n = f.list.n;
    }
    kc_map_done(&f.by_path);
    kc_vec_done(&f.list);
    return result < 0 ? result : 1;
}
