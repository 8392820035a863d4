/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_env.c: the environment of a container: envFrom, then env over it, $(NAME) in values replaced
 * by what was defined before.
 *
 * $(NAME) of a name that is not defined stays as it is; $$ is a dollar sign. A ConfigMap, Secret or
 * key that there is not is an error, unless it is optional: the container then waits, with
 * CreateContainerConfigError.
 */
#include "pods/pod_inputs.h"

#include "kc/kinds.h"
#include "kc/map.h"

/* Names in the order they were first set. */
typedef struct env {
    const kc__inputs *in;
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

/* ---- envFrom ---- */

/* Any printable ASCII but '='. */
static bool is_name(const char *name)
{
    for (const char *p = name; *p; p++)
        if (*p < 0x20 || *p > 0x7e || *p == '=')
            return false;
    return *name != '\0';
}

static int add_all(env *e, const kc_kind *kind, const kc_local_ref *ref, const char *prefix,
                   kc_error *err)
{
    kc__entries entries = {0};
    const bool optional = ref->optional && *ref->optional;
    if (kc__entries_of(e->in, kind, ref->name, false, &entries, err) < 0) {
        if (!optional || !kc_is_not_found(err))
            return -1;
        kc_error_done(err);
    }
    kc_vec_each (&entries, entry) {
        const char *name = kc_arena_printf(e->in->arena, "%s%s", prefix ? prefix : "", entry->key);
        if (is_name(name))
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

/* 1: there is none, and that is fine. */
static int key_value(env *e, const kc_kind *kind, const kc_key_selector *ref, const char **ret,
                     kc_error *err)
{
    kc__entries entries = {0};
    const bool optional = ref->optional && *ref->optional;
    int result = kc__entries_of(e->in, kind, ref->name, false, &entries, err);
    const kc__entry *found = result < 0 ? NULL : kc__entry_find(&entries, ref->key);
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
        return kc__field_value(e->in, from->field_ref->field_path, ret, err);
    if (from->resource_field_ref)
        return kc__resource_value(e->in, from->resource_field_ref, c, ret, err);
    if (from->config_map_key_ref)
        return key_value(e, &kc_kind_config_map, from->config_map_key_ref, ret, err);
    if (from->secret_key_ref)
        return key_value(e, &kc_kind_secret, from->secret_key_ref, ret, err);
    return 1;
}

/* Reads $(NAME) at `p`; its length, or 0. */
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
        return -1;
    if (!none)
        set(e, var->name, value);
    return 0;
}

static int add_everything(env *e, const kc_container *c, kc_error *err)
{
    for (size_t i = 0; i < c->n_env_from; i++)
        if (add_from(e, &c->env_from[i], err) < 0)
            return -1;
    for (size_t i = 0; i < c->n_env; i++)
        if (add_var(e, &c->env[i], c, err) < 0)
            return -1;
    return 0;
}

static char **expand_all(const env *e, char *const *texts, size_t n)
{
    char **expanded = kc_arena_calloc(e->in->arena, n + 1, sizeof(*expanded));
    for (size_t i = 0; i < n; i++)
        expanded[i] = (char *)expand(e, texts[i]);
    return expanded;
}

void kc__env_expand(const kc__inputs *in, kc_container *container, const kc_string_pair *pairs,
                    size_t n)
{
    env e = {.in = in};
    for (size_t i = 0; i < n; i++)
        kc_map_put(&e.values, kc_cstr(pairs[i].key), (void *)&pairs[i]);
    container->command = expand_all(&e, container->command, container->n_command);
    container->args = expand_all(&e, container->args, container->n_args);
    kc_map_done(&e.values);
}

int kc__env_make(const kc__inputs *in, const kc_container *container, kc_string_pair **ret,
                 size_t *ret_n, kc_error *err)
{
    env e = {.in = in};
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
