/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_share.c: the certificates of several processes, in a Secret.
 *
 * Whoever finds that something is due renews it and writes the Secret, on condition that it is
 * still the one that was read; whoever was slower reads again, and finds that nothing is due any
 * more. A Secret that an installation has made empty, or that holds other data too, is filled.
 */
#include "kc/base64.h"
#include "kc/edit.h"
#include "kc/kinds.h"
#include "kc/view.h"
#include "runtime/webhook_certs.h"

#include "http/certificate.h"

/* Every time somebody else has written it. */
enum { TRIES = 10 };

static const struct {
    const char *name;
    size_t at; /* A kc_buf. */
} members[] = {
    {"ca.crt", offsetof(kc__hook_certs, authorities)},
    {"ca.key", offsetof(kc__hook_certs, authority_key)},
    {"tls.crt", offsetof(kc__hook_certs, cert)},
    {"tls.key", offsetof(kc__hook_certs, key)},
};

static kc_buf *member_of(kc__hook_certs *certs, size_t i)
{
    return (kc_buf *)((char *)certs + members[i].at);
}

/* What cannot be read stays empty, and is made anew. */
static void read_secret(const kc_object *secret, kc__hook_certs *ret)
{
    kc_auto(kc_view) *view = kc_view_of(secret);
    const kc_value *data = kc_get(kc_view_root(view), "data");
    for (size_t i = 0; i < KC_COUNT(members); i++)
        if (!kc_base64_read(member_of(ret, i), kc_as_str(kc_get(data, members[i].name)), KC_BASE64))
            kc_buf_clear(member_of(ret, i));
}

static kc_object *secret_with(kc_edit *edit, kc__hook_certs *certs, kc_error *err)
{
    kc_node *data = kc_node_need_object(edit, kc_edit_root(edit), KC_STR("data"));
    for (size_t i = 0; i < KC_COUNT(members); i++) {
        kc_buf text = {0};
        kc_base64_write(&text, kc_buf_str(member_of(certs, i)), KC_BASE64);
        kc_node_set(edit, data, kc_cstr(members[i].name), kc_node_str(edit, kc_buf_str(&text)));
        kc__wipe(&text);
    }
    return kc_edit_freeze(edit, err);
}

static kc_edit *new_secret(kc_key key)
{
    kc_edit *edit = kc_edit_new();
    kc_node *root = kc_edit_root(edit);
    kc_node_set(edit, root, KC_STR("apiVersion"), kc_node_str(edit, KC_STR("v1")));
    kc_node_set(edit, root, KC_STR("kind"), kc_node_str(edit, KC_STR("Secret")));
    kc_node *metadata = kc_node_need_object(edit, root, KC_STR("metadata"));
    kc_node_set(edit, metadata, KC_STR("name"), kc_node_str(edit, key.name));
    kc_node_set(edit, metadata, KC_STR("namespace"), kc_node_str(edit, key.ns));
    kc_node_set(edit, root, KC_STR("type"), kc_node_str(edit, KC_STR("kubernetes.io/tls")));
    return edit;
}

/* `secret` is NULL when there was none. */
static int write_secret(kc_client *client, kc_key key, const kc_object *secret,
                        kc__hook_certs *certs, kc_error *err)
{
    const kc_write_opts unfenced = {.unfenced = true};
    kc_auto(kc_edit) *edit = secret ? kc_edit_of(secret) : new_secret(key);
    kc_auto(kc_object) *wanted = secret_with(edit, certs, err);
    if (!wanted)
        return -1;
    kc_auto(kc_object) *written = secret ? kc_client_update(client, wanted, &unfenced, err)
                                         : kc_client_create(client, wanted, &unfenced, err);
    return written ? 0 : -1;
}

/* 1: somebody was faster. */
static int share_once(kc_client *client, kc_key key, const kc__hook_certs_spec *spec, int64_t wall,
                      kc__hook_certs *certs, const char **ret_why, kc_error *err)
{
    kc_scoped(kc_error) why_not = {0};
    kc_auto(kc_object) *secret =
        kc_client_get(client, &kc_kind_secret, key, &(kc_get_opts){.live = true}, &why_not);
    if (!secret && !kc_is_not_found(&why_not))
        return kc_error_move(err, &why_not);
    if (secret)
        read_secret(secret, certs);
    if (kc__hook_certs_renew(certs, spec, wall, ret_why, err) < 0)
        return -1;
    if (!*ret_why || write_secret(client, key, secret, certs, &why_not) == 0)
        return 0;
    if (kc_is_conflict(&why_not) || kc_is_already_exists(&why_not) || kc_is_not_found(&why_not))
        return 1;
    return kc_error_move(err, &why_not);
}

int kc__hook_certs_share(kc_client *client, kc_key secret, const kc__hook_certs_spec *spec,
                         int64_t wall, kc__hook_certs *certs, const char **ret_why, kc_error *err)
{
    for (int i = 0; i < TRIES; i++) {
        kc__hook_certs found = {0};
        const int result = share_once(client, secret, spec, wall, &found, ret_why, err);
        if (result == 0) {
            kc__hook_certs_done(certs);
            *certs = found;
            return 0;
        }
        kc__hook_certs_done(&found);
        if (result < 0)
            return kc_error_wrap(err, "secret %.*s/%.*s", KC_ARG(secret.ns), KC_ARG(secret.name));
    }
    return kc_error_set(err, KC_CONFLICT, "secret %.*s/%.*s changes all the time",
                        KC_ARG(secret.ns), KC_ARG(secret.name));
}
