/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_layout.c: storage key prefixes, from the table of built-in resources.
 *
 * A custom resource must never share a prefix with a built-in one, because deleting a CRD deletes
 * everything under its prefix. Two rules ensure this. The group of a CRD contains a dot and is none
 * of the server's own groups (kc__resource_key_group_is_builtin), which the CRD's validation and
 * status enforce. And code that derives a prefix from a stored CRD calls
 * kc__resource_key_prefix_is_builtin before it uses the prefix.
 *
 * To reserve a group that is not served: add a row in `reserved`. Served groups are reserved
 * because they are in kc__resource_builtin_groups.
 */
#include "apiserver/kinds/key_layout.h"

#include "apiserver/storage/stored_key.h"

#include <assert.h>

/* Groups of kube-apiserver v1.34 that this server does not serve. */
static const char *const reserved[] = {
    "internal.apiserver.k8s.io",
    "storagemigration.k8s.io",
};

/* Records of servers, and the resources by which kube-apiserver's encryption selects them. */
static const struct key_record {
    const char *prefix, *resource;
} records[] = {
    {KC__STORAGE_KEY_ROOT "ranges/", "servicenodeportallocations"},
    {KC__STORAGE_KEY_ROOT "masterleases/", "apiServerIPInfo"},
    {KC__STORAGE_KEY_ROOT "peerserverleases/", "apiServerPeerIPInfo"},
};

kc_str kc__resource_key_builtin_prefix(const char *group, const char *plural)
{
    for (size_t i = 0; i < kc__resource_n_builtins; i++) {
        const kc__resource *r = &kc__resource_builtins[i];
        if (r->key_prefix && !strcmp(r->plural, plural) && !strcmp(r->group, group))
            return kc_cstr(r->key_prefix);
    }
    assert(!"unknown built-in resource");
    return (kc_str){0};
}

bool kc__resource_key_group_is_builtin(kc_str group)
{
    for (size_t i = 0; i < kc__resource_n_builtin_groups; i++)
        if (kc_str_is(group, kc__resource_builtin_groups[i].name))
            return true;
    for (size_t i = 0; i < KC_COUNT(reserved); i++)
        if (kc_str_is(group, reserved[i]))
            return true;
    return false;
}

bool kc__resource_key_prefix_is_builtin(kc_str prefix)
{
    for (size_t i = 0; i < kc__resource_n_builtins; i++) {
        const kc_str own = kc_cstr(kc__resource_builtins[i].key_prefix);
        if (own.n && (kc_str_starts(prefix, own) || kc_str_starts(own, prefix)))
            return true;
    }
    return false;
}

void kc__resource_key_resource(kc_str prefix, kc_str *ret_group, kc_str *ret_plural)
{
    for (size_t i = 0; i < kc__resource_n_builtins; i++) {
        const kc__resource *r = &kc__resource_builtins[i];
        const bool events = !strcmp(r->plural, "events");
        if (!r->key_prefix || !kc_str_is(prefix, r->key_prefix))
            continue;
        *ret_group = events ? KC_STR("") : kc_cstr(r->group);
        *ret_plural = kc_cstr(r->plural);
        return;
    }
    for (size_t i = 0; i < KC_COUNT(records); i++)
        if (kc_str_is(prefix, records[i].prefix)) {
            *ret_group = KC_STR("");
            *ret_plural = kc_cstr(records[i].resource);
            return;
        }
    kc_str rest = kc_str_sub(prefix, strlen(KC__STORAGE_KEY_ROOT), prefix.n);
    *ret_group = kc_str_cut(&rest, '/');
    *ret_plural = kc_str_cut(&rest, '/');
}

bool kc__resource_key_is_record(kc_str prefix)
{
    for (size_t i = 0; i < KC_COUNT(records); i++)
        if (kc_str_is(prefix, records[i].prefix))
            return true;
    return false;
}

void kc__resource_key_custom_prefix(kc_buf *out, kc_str group, kc_str plural)
{
    kc_buf_printf(out, KC__STORAGE_KEY_ROOT "%.*s/%.*s/", KC_ARG(group), KC_ARG(plural));
}
