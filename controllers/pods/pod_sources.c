/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_sources.c: ConfigMaps and Secrets: what they hold, and which of them a pod names.
 */
#include "pods/pod_inputs.h"

#include "kc/base64.h"
#include "kc/kinds.h"
#include "kc/view.h"

const char *kc__source_name(const kc_kind *kind)
{
    return kind == &kc_kind_secret ? "secret" : "configmap";
}

/* ---- contents ---- */

static void add_texts(const kc_value *members, kc_arena *arena, kc__entries *ret)
{
    kc_members (members, key, value) {
        const kc_str text = kc_as_str(value);
        kc_vec_push(ret, (kc__entry){kc_arena_str(arena, key).p, kc_arena_str(arena, text)});
    }
}

static void add_bytes(const kc_value *members, kc_arena *arena, kc__entries *ret)
{
    kc_members (members, key, value) {
        kc_scoped(kc_buf) bytes = {0};
        if (!kc_base64_read(&bytes, kc_as_str(value), KC_BASE64))
            continue;
        kc_vec_push(
            ret, (kc__entry){kc_arena_str(arena, key).p, kc_arena_str(arena, kc_buf_str(&bytes))});
    }
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const kc__entry *)a)->key, ((const kc__entry *)b)->key);
}

int kc__entries_of(const kc__inputs *in, const kc_kind *kind, const char *name, bool binary,
                   kc__entries *ret, kc_error *err)
{
    const kc_key key = KC_KEY(in->state->ns, name ? name : "");
    kc_auto(kc_object) *object = kc_client_get(in->client, kind, key, NULL, err);
    if (!object)
        return kc_is_not_found(err) ? kc_error_set(err, KC_NOT_FOUND, "%s \"%s\" not found",
                                                   kc__source_name(kind), name ? name : "")
                                    : -1;
    kc_auto(kc_view) *view = kc_view_of(object);
    const kc_value *root = kc_view_root(view);
    if (kind == &kc_kind_secret)
        add_bytes(kc_get(root, "data"), in->arena, ret);
    else {
        add_texts(kc_get(root, "data"), in->arena, ret);
        if (binary)
            add_bytes(kc_get(root, "binaryData"), in->arena, ret);
    }
    kc_vec_sort(ret, by_key);
    return 0;
}

const kc__entry *kc__entry_find(const kc__entries *entries, const char *key)
{
    const kc__entry wanted = {.key = key};
    return entries->n ? bsearch(&wanted, entries->items, entries->n, sizeof(wanted), by_key) : NULL;
}

/* ---- which ones ---- */

typedef struct teller {
    void (*name)(const kc_kind *kind, const char *name, void *user);
    void *user;
} teller;

static void tell(const teller *to, const kc_kind *kind, const char *name)
{
    if (name && *name)
        to->name(kind, name, to->user);
}

static void tell_container(const kc_container *c, const teller *to)
{
    for (size_t i = 0; i < c->n_env_from; i++) {
        const kc_env_from *from = &c->env_from[i];
        if (from->config_map_ref)
            tell(to, &kc_kind_config_map, from->config_map_ref->name);
        if (from->secret_ref)
            tell(to, &kc_kind_secret, from->secret_ref->name);
    }
    for (size_t i = 0; i < c->n_env; i++) {
        const kc_env_source *from = c->env[i].value_from;
        if (from && from->config_map_key_ref)
            tell(to, &kc_kind_config_map, from->config_map_key_ref->name);
        if (from && from->secret_key_ref)
            tell(to, &kc_kind_secret, from->secret_key_ref->name);
    }
}

static void tell_projected(const char *json, const teller *to)
{
    kc_auto(kc_view) *view = kc_view_parse(kc_cstr(json), NULL, NULL);
    kc_items (view ? kc_get(kc_view_root(view), "sources") : NULL, source) {
        tell(to, &kc_kind_config_map, kc_as_cstr(kc_dig(source, "configMap.name"), NULL));
        tell(to, &kc_kind_secret, kc_as_cstr(kc_dig(source, "secret.name"), NULL));
    }
}

void kc__each_source(const kc_pod *pod, void (*name)(const kc_kind *kind, const char *name, void *),
                     void *user)
{
    const teller to = {name, user};
    const size_t n = pod->spec.n_init_containers + pod->spec.n_containers;
    for (size_t i = 0; i < n; i++)
        tell_container(kc__pod_container(pod, i), &to);
    for (size_t i = 0; i < pod->spec.n_volumes; i++) {
        const kc_volume *v = &pod->spec.volumes[i];
        if (v->config_map)
            tell(&to, &kc_kind_config_map, v->config_map->name);
        if (v->secret)
            tell(&to, &kc_kind_secret, v->secret->secret_name);
        if (v->projected.json)
            tell_projected(v->projected.json, &to);
    }
}
