/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share.c: shares the certificates of several processes in a Secret.
 *
 * A process that finds a renewal due renews and writes the Secret, on the condition that it has not
 * changed since it was read. A process that loses this race reads again and finds nothing due. A
 * Secret that was installed empty, or that also holds other data, is filled in.
 */
#include "kc/base64.h"
#include "kc/edit.h"
#include "kc/kinds.h"
#include "kc/view.h"
#include "runtime/webhook/certs.h"

/* Attempts, each after a conflict with another writer. */
enum { TRIES = 10 };

static const struct {
    const char *name;
    size_t at; /* Offset of a kc_buf. */
} members[] = {
    {"ca.crt", offsetof(kc__webhook_certs, authorities)},
    {"ca.key", offsetof(kc__webhook_certs, authority_key)},
    {"tls.crt", offsetof(kc__webhook_certs, cert)},
    {"tls.key", offsetof(kc__webhook_certs, key)},
};

static kc_buf *member_of(kc__webhook_certs *certs, size_t i)
{
    return (kc_buf *)((char *)certs + members[i].at);
}

/* Members that cannot be read stay empty and are created again. */
static void read_secret(const kc_object *secret, kc__webhook_certs *ret)
{
    kc_auto(kc_view) *view = kc_view_of(secret);
    const kc_value *data = kc_value_get(kc_view_root(view), "data");
    for (size_t i = 0; i < KC_COUNT(members); i++)
        if (!kc_base64_read(member_of(ret, i), kc_value_as_str(kc_value_get(data, members[i].name)),
                            KC_BASE64))
            kc_buf_clear(member_of(ret, i));
}

static kc_object *secret_with(kc_edit *edit, kc__webhook_certs *certs, kc_error *err)
{
    kc_node *data = kc_node_ensure_object(edit, kc_edit_root(edit), KC_STR("data"));
    for (size_t i = 0; i < KC_COUNT(members); i++) {
        kc_buf text = {0};
        kc_base64_write(&text, kc_buf_str(member_of(certs, i)), KC_BASE64);
        kc_node_set(edit, data, kc_cstr(members[i].name), kc_node_str(edit, kc_buf_str(&text)));
        kc_buf_wipe(&text);
    }
    return kc_edit_freeze(edit, err);
}

static kc_edit *new_secret(kc_key key)
{
    kc_edit *edit = kc_edit_new();
    kc_node *root = kc_edit_root(edit);
    kc_node_set(edit, root, KC_STR("apiVersion"), kc_node_str(edit, KC_STR("v1")));
    kc_node_set(edit, root, KC_STR("kind"), kc_node_str(edit, KC_STR("Secret")));
    kc_node *metadata = kc_node_ensure_object(edit, root, KC_STR("metadata"));
    kc_node_set(edit, metadata, KC_STR("name"), kc_node_str(edit, key.name));
    kc_node_set(edit, metadata, KC_STR("namespace"), kc_node_str(edit, key.ns));
    kc_node_set(edit, root, KC_STR("type"), kc_node_str(edit, KC_STR("kubernetes.io/tls")));
    return edit;
}

/* `secret` is NULL if it did not exist. */
static int write_secret(kc_client *client, kc_key key, const kc_object *secret,
                        kc__webhook_certs *certs, kc_error *err)
{
    const kc_write_opts unfenced = {.unfenced = true};
    kc_auto(kc_edit) *edit = secret ? kc_edit_of(secret) : new_secret(key);
    kc_auto(kc_object) *wanted = secret_with(edit, certs, err);
    if (!wanted)
        return kc_error_result(err);
    kc_auto(kc_object) *written = secret ? kc_client_update(client, wanted, &unfenced, err)
                                         : kc_client_create(client, wanted, &unfenced, err);
    return written ? 0 : kc_error_result(err);
}

/* 1: another process was faster. */
static int share_once(kc_client *client, kc_key key, const kc__webhook_certs_spec *spec,
                      int64_t wall, kc__webhook_certs *certs, const char **ret_why, kc_error *err)
{
    kc_scoped(kc_error) why_not = {0};
    kc_auto(kc_object) *secret =
        kc_client_get(client, &kc_kind_secret, key, &(kc_get_opts){.live = true}, &why_not);
    if (!secret && !kc_is_not_found(&why_not))
        return kc_error_move(err, &why_not);
    if (secret)
        read_secret(secret, certs);
    if (kc__webhook_certs_renew(certs, spec, wall, ret_why, err) < 0)
        return kc_error_result(err);
    if (!*ret_why || write_secret(client, key, secret, certs, &why_not) == 0)
        return 0;
    if (kc_is_conflict(&why_not) || kc_is_already_exists(&why_not) || kc_is_not_found(&why_not))
        return 1;
    return kc_error_move(err, &why_not);
}

int kc__webhook_certs_share(kc_client *client, kc_key secret, const kc__webhook_certs_spec *spec,
                            int64_t wall, kc__webhook_certs *certs, const char **ret_why,
                            kc_error *err)
{
    for (int i = 0; i < TRIES; i++) {
        kc__webhook_certs found = {0};
        const int result = share_once(client, secret, spec, wall, &found, ret_why, err);
        if (result == 0) {
            kc__webhook_certs_done(certs);
            *certs = found;
            return 0;
        }
        kc__webhook_certs_done(&found);
        if (result < 0)
            return kc_error_wrap(err, "secret %.*s/%.*s", KC_ARG(secret.ns), KC_ARG(secret.name));
    }
    return kc_error_set(err, KC_CONFLICT, "secret %.*s/%.*s: too many conflicting updates",
                        KC_ARG(secret.ns), KC_ARG(secret.name));
}
