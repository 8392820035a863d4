/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_env.c: builds the environment of a container: the API server, envFrom, then env; $(NAME) in
 * values expands to variables that were defined before.
 *
 * $(NAME) of an undefined variable stays as it is; $$ is a dollar sign. A missing ConfigMap, Secret
 * or key is an error unless it is optional: the container then waits with
 * CreateContainerConfigError.
 */
#include "pods/pod_inputs.h"

#include "kc/kinds.h"
#include "kc/map.h"

/* Names in order of their first definition. */
typedef struct env {
    const kc__pod_inputs *in;
    kc_map values; /* Of kc_string_pair, by name. */
} env;

static void set(env *e, const char *name, const char *value)
{
    kc_string_pair *pair = kc_map_get(&e->values, kc_cstr(name));
    if (!pair) {
        pair = kc_arena_new(e->in->arena, kc_string_pair);
        pair->key = kc_arena_printf(e->in->arena, "%s", name);
        kc_map_put(&e->values, kc_cstr(pair->key), pair);
    }
    pair->value = (char *)value;
}

/* ---- the API server ---- */

/* The variables by which clients in a pod find the API server. */
static void add_api_server(env *e)
{
    kc_str rest = kc_cstr(e->in->api_server ? e->in->api_server : "");
    if (!kc_str_starts(rest, KC_STR("https://")))
        return;
    rest = kc_str_sub(rest, strlen("https://"), rest.n);
    const kc_str authority = kc_str_cut(&rest, '/');
    const ptrdiff_t colon = kc_str_rfind(authority, ':');
    const bool has_port =
        colon >= 0 && kc_str_find(kc_str_sub(authority, (size_t)colon, authority.n), ']') < 0;
    kc_str host = has_port ? kc_str_sub(authority, 0, (size_t)colon) : authority;
    const kc_str port =
        has_port ? kc_str_sub(authority, (size_t)colon + 1, authority.n) : KC_STR("443");
    if (kc_str_starts(host, KC_STR("[")) && kc_str_ends(host, KC_STR("]")))
        host = kc_str_sub(host, 1, host.n - 1);
    set(e, "KUBERNETES_SERVICE_HOST", kc_arena_str(e->in->arena, host).p);
    set(e, "KUBERNETES_SERVICE_PORT", kc_arena_str(e->in->arena, port).p);
    set(e, "KUBERNETES_SERVICE_PORT_HTTPS", kc_arena_str(e->in->arena, port).p);
}

/* ---- envFrom ---- */

/* Any printable ASCII but '='. */
static bool pod_env_is_name(const char *name)
{
    for (const char *p = name; *p; p++)
        if (*p < 0x20 || *p > 0x7e || *p == '=')
            return false;
    return *name != '\0';
}

static int add_all(env *e, const kc_kind *kind, const kc_local_ref *ref, const char *prefix,
                   kc_error *err)
{
    kc__pod_data_entries entries = {0};
    const bool optional = ref->optional && *ref->optional;
    if (kc__pod_data_entries_of(e->in, kind, ref->name, false, &entries, err) < 0) {
        if (!optional || !kc_is_not_found(err))
            return kc_error_result(err);
        kc_error_done(err);
    }
    kc_vec_each (&entries, entry) {
        const char *name = kc_arena_printf(e->in->arena, "%s%s", prefix ? prefix : "", entry->key);
        if (pod_env_is_name(name))
            set(e, name, entry->value.p ? entry->value.p : "");
    }
    kc_vec_done(&entries);
    return 0;
}

static int add_from(env *e, const kc_env_from *from, kc_error *err)
{
    if (from->config_map_ref)
        return add_all(e, &kc_kind_config_map, from->config_map_ref, from->prefix, err);
    if (from->secret_ref)
        return add_all(e, &kc_kind_secret, from->secret_ref, from->prefix, err);
    return 0;
}

/* ---- values ---- */

/* 1: missing and optional. */
static int key_value(env *e, const kc_kind *kind, const kc_key_selector *ref, const char **ret,
                     kc_error *err)
{
    kc__pod_data_entries entries = {0};
    const bool optional = ref->optional && *ref->optional;
    int result = kc__pod_data_entries_of(e->in, kind, ref->name, false, &entries, err);
    const kc__pod_data_entry *found =
        result < 0 ? NULL : kc__pod_data_entry_find(&entries, ref->key);
    if (found)
        *ret = found->value.p ? found->value.p : "";
    else if (optional && (result == 0 || kc_is_not_found(err))) {
        kc_error_done(err);
        result = 1;
    } else if (result == 0)
        result = kc_error_set(err, KC_NOT_FOUND, "couldn't find key %s in %s %s/%s", ref->key,
                              kind->kind, e->in->state->ns, ref->name ? ref->name : "");
    kc_vec_done(&entries);
    return result;
}

static int source_value(env *e, const kc_env_source *from, const kc_container *c, const char **ret,
                        kc_error *err)
{
    if (from->field_ref)
        return kc__pod_field_value(e->in, from->field_ref->field_path, ret, err);
    if (from->resource_field_ref)
        return kc__pod_resource_value(e->in, from->resource_field_ref, c, ret, err);
    if (from->config_map_key_ref)
        return key_value(e, &kc_kind_config_map, from->config_map_key_ref, ret, err);
    if (from->secret_key_ref)
        return key_value(e, &kc_kind_secret, from->secret_key_ref, ret, err);
    return 1;
}

/* Parses $(NAME) at `p`; returns its length, or 0. */
static size_t reference_at(const char *p, kc_str *ret_name)
{
    const char *end = p[1] == '(' ? strchr(p + 2, ')') : NULL;
    if (!end)
        return 0;
    *ret_name = kc_str_of(p + 2, (size_t)(end - p - 2));
    return (size_t)(end - p + 1);
}

static const char *expand(const env *e, const char *text)
{
    kc_scoped(kc_buf) out = {0};
    for (const char *p = text; *p;) {
        kc_str name;
        const size_t n = *p == '$' ? reference_at(p, &name) : 0;
        const kc_string_pair *pair = n ? kc_map_get(&e->values, name) : NULL;
        if (*p == '$' && p[1] == '$') {
            kc_buf_putc(&out, '$');
            p += 2;
        } else if (n) {
            kc_buf_append(&out, pair ? kc_cstr(pair->value) : kc_str_of(p, n));
            p += n;
        } else
            kc_buf_putc(&out, *p++);
    }
    return kc_arena_str(e->in->arena, kc_buf_str(&out)).p;
}

static int add_var(env *e, const kc_env_var *var, const kc_container *c, kc_error *err)
{
    const char *value = "";
    int none = 0;
    if (var->value && *var->value)
        value = expand(e, var->value);
    else if (var->value_from)
        none = source_value(e, var->value_from, c, &value, err);
    if (none < 0)
        return none;
    if (!none)
        set(e, var->name, value);
    return 0;
}

static int add_everything(env *e, const kc_container *c, kc_error *err)
{
    for (size_t i = 0; i < c->n_env_from; i++)
        if (add_from(e, &c->env_from[i], err) < 0)
            return kc_error_result(err);
    for (size_t i = 0; i < c->n_env; i++)
        if (add_var(e, &c->env[i], c, err) < 0)
            return kc_error_result(err);
    return 0;
}

static char **expand_all(const env *e, char *const *texts, size_t n)
{
    char **expanded = kc_arena_calloc(e->in->arena, n + 1, sizeof(*expanded));
    for (size_t i = 0; i < n; i++)
        expanded[i] = (char *)expand(e, texts[i]);
    return expanded;
}

/* ---- subPathExpr ---- */

static int pod_env_by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* "missing value for A, B": undefined names, each once, in order. */
static int missing_values(const env *e, const char *text, kc_error *err)
{
    kc_scoped(kc_map) names = {0};
    kc_scoped(kc_buf) list = {0};
    for (const char *p = text; *p;) {
        kc_str name;
        const size_t n = *p == '$' ? reference_at(p, &name) : 0;
        const kc_string_pair *pair = n ? kc_map_get(&e->values, name) : NULL;
        if (n && (!pair || !*pair->value))
            kc_map_put(&names, name, (void *)kc_arena_str(e->in->arena, name).p);
        p += *p == '$' && p[1] == '$' ? 2 : n ? n : 1;
    }
    if (!names.n)
        return 0;
    char **sorted = kc_arena_calloc(e->in->arena, names.n, sizeof(*sorted));
    size_t n = 0;
    kc_map_each (&names, it)
        sorted[n++] = it->value;
    qsort(sorted, n, sizeof(*sorted), pod_env_by_name);
    for (size_t i = 0; i < n; i++)
        kc_buf_printf(&list, "%s%s", i ? ", " : "", sorted[i]);
    return kc_error_set(err, KC_INVALID, "missing value for %s", kc_buf_cstr(&list));
}

/* A path inside the volume; errors have the kubelet's texts. */
static int check_sub_path(const char *path, kc_error *err)
{
    if (*path == '/')
        return kc_error_set(err, KC_INVALID, "error SubPath `%s` must not be an absolute path",
                            path);
    for (kc_str rest = kc_cstr(path); rest.p;)
        if (kc_str_is(kc_str_cut(&rest, '/'), ".."))
            return kc_error_set(err, KC_INVALID,
                                "unable to provision SubPath `%s`: must not contain '..'", path);
    return 0;
}

static int expand_mount(const env *e, kc_volume_mount *mount, kc_error *err)
{
    if (!mount->sub_path_expr || !*mount->sub_path_expr)
        return 0;
    if (missing_values(e, mount->sub_path_expr, err) < 0)
        return kc_error_result(err);
    mount->sub_path = (char *)expand(e, mount->sub_path_expr);
    return check_sub_path(mount->sub_path, err);
}

static int expand_mounts(const env *e, kc_container *container, kc_error *err)
{
    const size_t n = container->n_volume_mounts;
    kc_volume_mount *mounts = kc_arena_calloc(e->in->arena, n + 1, sizeof(*mounts));
    for (size_t i = 0; i < n; i++) {
        mounts[i] = container->volume_mounts[i];
        if (expand_mount(e, &mounts[i], err) < 0)
            return kc_error_result(err);
    }
    container->volume_mounts = mounts;
    return 0;
}

int kc__pod_env_expand(const kc__pod_inputs *in, kc_container *container,
                       const kc_string_pair *pairs, size_t n, kc_error *err)
{
    env e = {.in = in};
    for (size_t i = 0; i < n; i++)
        kc_map_put(&e.values, kc_cstr(pairs[i].key), (void *)&pairs[i]);
    container->command = expand_all(&e, container->command, container->n_command);
    container->args = expand_all(&e, container->args, container->n_args);
    const int done = expand_mounts(&e, container, err);
    kc_map_done(&e.values);
    return done;
}

int kc__pod_env_make(const kc__pod_inputs *in, const kc_container *container, kc_string_pair **ret,
                     size_t *ret_n, kc_error *err)
{
    env e = {.in = in};
    add_api_server(&e);
    const int result = add_everything(&e, container, err);
    if (result == 0) {
        size_t n = 0;
        kc_string_pair *pairs = kc_arena_calloc(in->arena, e.values.n + 1, sizeof(*pairs));
        kc_map_each (&e.values, it)
            pairs[n++] = *(const kc_string_pair *)it->value;
        *ret = pairs;
        *ret_n = n;
    }
    kc_map_done(&e.values);
    return result;
}
