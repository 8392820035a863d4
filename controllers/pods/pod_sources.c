/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_sources.c: the data of ConfigMaps and Secrets, and the references of a pod to them.
 */
#include "pods/pod_inputs.h"

#include "kc/base64.h"
#include "kc/kinds.h"
#include "kc/view.h"

const char *kc__pod_source_name(const kc_kind *kind)
{
    return kind == &kc_kind_secret ? "secret" : "configmap";
}

/* ---- contents ---- */

static void add_texts(const kc_value *members, kc_arena *arena, kc__pod_data_entries *ret)
{
    kc_value_each_member (members, key, value) {
        const kc_str text = kc_value_as_str(value);
        kc_vec_push(ret,
                    (kc__pod_data_entry){kc_arena_str(arena, key).p, kc_arena_str(arena, text)});
    }
}

static void add_bytes(const kc_value *members, kc_arena *arena, kc__pod_data_entries *ret)
{
    kc_value_each_member (members, key, value) {
        kc_scoped(kc_buf) bytes = {0};
        if (!kc_base64_read(&bytes, kc_value_as_str(value), KC_BASE64))
            continue;
        kc_vec_push(ret, (kc__pod_data_entry){kc_arena_str(arena, key).p,
                                              kc_arena_str(arena, kc_buf_str(&bytes))});
    }
}

static int pod_sources_by_key(const void *a, const void *b)
{
    return strcmp(((const kc__pod_data_entry *)a)->key, ((const kc__pod_data_entry *)b)->key);
}

int kc__pod_data_entries_of(const kc__pod_inputs *in, const kc_kind *kind, const char *name,
                            bool binary, kc__pod_data_entries *ret, kc_error *err)
{
    const kc_key key = KC_KEY(in->state->ns, name ? name : "");
    kc_auto(kc_object) *object = kc_client_get(in->client, kind, key, NULL, err);
    if (!object)
        return kc_is_not_found(err) ? kc_error_set(err, KC_NOT_FOUND, "%s \"%s\" not found",
                                                   kc__pod_source_name(kind), name ? name : "")
                                    : kc_error_result(err);
    kc_auto(kc_view) *view = kc_view_of(object);
    const kc_value *root = kc_view_root(view);
    if (kind == &kc_kind_secret)
        add_bytes(kc_value_get(root, "data"), in->arena, ret);
    else {
        add_texts(kc_value_get(root, "data"), in->arena, ret);
        if (binary)
            add_bytes(kc_value_get(root, "binaryData"), in->arena, ret);
    }
    kc_vec_sort(ret, pod_sources_by_key);
    return 0;
}

const kc__pod_data_entry *kc__pod_data_entry_find(const kc__pod_data_entries *entries,
                                                  const char *key)
{
    const kc__pod_data_entry wanted = {.key = key};
    return entries->n
               ? bsearch(&wanted, entries->items, entries->n, sizeof(wanted), pod_sources_by_key)
               : NULL;
}

/* ---- references ---- */

typedef struct source_visitor {
    void (*name)(const kc_kind *kind, const char *name, void *user);
    void *user;
} source_visitor;

static void pod_sources_notify(const source_visitor *to, const kc_kind *kind, const char *name)
{
    if (name && *name)
        to->name(kind, name, to->user);
}

static void visit_container(const kc_container *c, const source_visitor *to)
{
    for (size_t i = 0; i < c->n_env_from; i++) {
        const kc_env_from *from = &c->env_from[i];
        if (from->config_map_ref)
            pod_sources_notify(to, &kc_kind_config_map, from->config_map_ref->name);
        if (from->secret_ref)
            pod_sources_notify(to, &kc_kind_secret, from->secret_ref->name);
    }
    for (size_t i = 0; i < c->n_env; i++) {
        const kc_env_source *from = c->env[i].value_from;
        if (from && from->config_map_key_ref)
            pod_sources_notify(to, &kc_kind_config_map, from->config_map_key_ref->name);
        if (from && from->secret_key_ref)
            pod_sources_notify(to, &kc_kind_secret, from->secret_key_ref->name);
    }
}

static void visit_projected(const char *json, const source_visitor *to)
{
    kc_auto(kc_view) *view = kc_view_parse(kc_cstr(json), NULL, NULL);
    kc_value_each_item (view ? kc_value_get(kc_view_root(view), "sources") : NULL, source) {
        pod_sources_notify(to, &kc_kind_config_map,
                           kc_value_as_cstr(kc_value_nested(source, "configMap.name"), NULL));
        pod_sources_notify(to, &kc_kind_secret,
                           kc_value_as_cstr(kc_value_nested(source, "secret.name"), NULL));
    }
}

void kc__pod_each_source(const kc_pod *pod,
                         void (*name)(const kc_kind *kind, const char *name, void *), void *user)
{
    const source_visitor to = {name, user};
    const size_t n = pod->spec.n_init_containers + pod->spec.n_containers;
    for (size_t i = 0; i < n; i++)
        visit_container(kc__pod_container(pod, i), &to);
    for (size_t i = 0; i < pod->spec.n_volumes; i++) {
        const kc_volume *v = &pod->spec.volumes[i];
        if (v->config_map)
            pod_sources_notify(&to, &kc_kind_config_map, v->config_map->name);
        if (v->secret)
            pod_sources_notify(&to, &kc_kind_secret, v->secret->secret_name);
        if (v->projected.json)
            visit_projected(v->projected.json, &to);
    }
}
