/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mountable_secrets.c: finds the secrets that a pod refers to. An account that enforces mountable
 * secrets lists those that its pods may use in volumes and variables (`secrets`) and to pull images
 * (`imagePullSecrets`).
 */
#include "apiserver/admission/plugins/mountable_secrets.h"

#include "apiserver/authz/pod_references.h"
#include "kc/map.h"

/* ---- all secrets of a pod ---- */

static void note_secret(kc__authz_object_type type, kc_str ns, kc_str name, void *user)
{
    bool *found = user;
    (void)type, (void)ns, (void)name;
    *found = true;
}

bool kc__admission_pod_uses_secrets(const kc_value *spec)
{
    bool found = false;
    kc__authz_pod_secrets(spec, (kc_str){0}, note_secret, &found);
    return found;
}

bool kc__admission_pod_uses_token_volume(const kc_value *spec)
{
    kc_value_each_item (kc_value_get(spec, "volumes"), volume)
        kc_value_each_item (kc_value_nested(volume, "projected.sources"), source)
            if (kc_value_get(source, "serviceAccountToken"))
                return true;
    return false;
}

/* ---- what an account allows ---- */

typedef struct mountable {
    kc_str account;
    kc_map secrets, pull_secrets; /* By name. */
} mountable;

static void mountable_done(mountable *m)
{
    kc_map_done(&m->secrets);
    kc_map_done(&m->pull_secrets);
}

static void read_references(kc_map *to, const kc_value *list)
{
    kc_value_each_item (list, reference) {
        const kc_str name = kc_value_as_str(kc_value_get(reference, "name"));
        if (name.p)
            kc_map_put(to, name, (void *)reference);
    }
}

static void read_mountable(const kc_value *account, mountable *ret)
{
    ret->account = kc_value_as_str(kc_value_nested(account, "metadata.name"));
    read_references(&ret->secrets, kc_value_get(account, "secrets"));
    read_references(&ret->pull_secrets, kc_value_get(account, "imagePullSecrets"));
}

static bool is_forbidden(const mountable *m, const kc_value *name)
{
    return name && !kc_map_get(&m->secrets, kc_value_as_str(name));
}

#define NOT_ALLOWED                                                           \
    "secret.secretName=\"%.*s\" is not allowed because service account %.*s " \
    "does not reference that secret"

static void check_volumes(const mountable *m, const kc_value *spec, kc_buf *out)
{
    kc_value_each_item (kc_value_get(spec, "volumes"), volume) {
        const kc_value *name = kc_value_nested(volume, "secret.secretName");
        if (!is_forbidden(m, name))
            continue;
        kc_buf_printf(out, "volume with " NOT_ALLOWED, KC_ARG(kc_value_as_str(name)),
                      KC_ARG(m->account));
        return;
    }
}

static void check_container(const mountable *m, const kc_value *container, const char *noun,
                            kc_buf *out)
{
    const kc_str own = kc_value_as_str(kc_value_get(container, "name"));
    kc_value_each_item (kc_value_get(container, "env"), variable) {
        const kc_value *name = kc_value_nested(variable, "valueFrom.secretKeyRef.name");
        if (!is_forbidden(m, name))
            continue;
        kc_buf_printf(out, "%s %.*s with envVar %.*s referencing " NOT_ALLOWED, noun, KC_ARG(own),
                      KC_ARG(kc_value_as_str(kc_value_get(variable, "name"))),
                      KC_ARG(kc_value_as_str(name)), KC_ARG(m->account));
        return;
    }
    kc_value_each_item (kc_value_get(container, "envFrom"), from) {
        const kc_value *name = kc_value_nested(from, "secretRef.name");
        if (!is_forbidden(m, name))
            continue;
        kc_buf_printf(out, "%s %.*s with envFrom referencing " NOT_ALLOWED, noun, KC_ARG(own),
                      KC_ARG(kc_value_as_str(name)), KC_ARG(m->account));
        return;
    }
}

static void check_container_list(const mountable *m, const kc_value *containers, const char *noun,
                                 kc_buf *out)
{
    kc_value_each_item (containers, container) {
        check_container(m, container, noun, out);
        if (out->n)
            return;
    }
}

static void check_pull_secrets(const mountable *m, const kc_value *spec, kc_buf *out)
{
    size_t i = 0;
    kc_value_each_item (kc_value_get(spec, "imagePullSecrets"), reference) {
        const kc_str name = kc_value_as_str(kc_value_get(reference, "name"));
        if (!kc_map_get(&m->pull_secrets, name)) {
            kc_buf_printf(out,
                          "imagePullSecrets[%zu].name=\"%.*s\" is not allowed because service "
                          "account %.*s does not reference that imagePullSecret",
                          i, KC_ARG(name), KC_ARG(m->account));
            return;
        }
        i++;
    }
}

void kc__admission_check_mountable(const kc_value *account, const kc_value *spec, kc_buf *out)
{
    kc_scoped(mountable) m = {0};
    read_mountable(account, &m);
    check_volumes(&m, spec, out);
    if (!out->n)
        check_container_list(&m, kc_value_get(spec, "initContainers"), "init container", out);
    if (!out->n)
        check_container_list(&m, kc_value_get(spec, "containers"), "container", out);
    if (!out->n)
        check_pull_secrets(&m, spec, out);
}

void kc__admission_check_ephemeral_mountable(const kc_value *account, const kc_value *spec,
                                             kc_buf *out)
{
    kc_scoped(mountable) m = {0};
    read_mountable(account, &m);
    check_container_list(&m, kc_value_get(spec, "ephemeralContainers"), "ephemeral container", out);
}
