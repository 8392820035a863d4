/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lease.c: the node's lease in kube-node-lease, renewed every ten seconds.
 *
 * The lease from the last response is kept and sent back with a new renewTime: one request each. If
 * the write fails because the lease was changed or deleted, it is read or created again. The
 * lease's owner is its Node, so both are deleted together; if the Node was recreated, the owner
 * reference is updated too.
 */
#include "pods/nodes.h"

#include "kc/kinds.h"

#define NAMESPACE "kube-node-lease"
#define SECONDS   40

/* Builds the lease over the existing one (NULL: none). */
static kc_object *lease_of(const kc__pods_node *node, const kc_object *was, kc_error *err)
{
    char time[KC_TIME_TEXT];
    kc_auto(kc_edit) *edit = was ? kc_edit_of(was) : kc_edit_new();
    kc_edit_set_nested(edit, "apiVersion", kc_node_str(edit, KC_STR("coordination.k8s.io/v1")));
    kc_edit_set_nested(edit, "kind", kc_node_str(edit, KC_STR("Lease")));
    kc_edit_set_name(edit, kc_cstr(node->name));
    kc_edit_set_namespace(edit, KC_STR(NAMESPACE));
    const kc_owner owner = {.api_version = KC_STR("v1"),
                            .kind = KC_STR("Node"),
                            .name = kc_cstr(node->name),
                            .uid = kc_cstr(node->uid)};
    if (!was || !kc_object_owned_by(was, owner.uid))
        kc_edit_set_owner(edit, &owner);
    kc_edit_set_nested(edit, "spec.holderIdentity", kc_node_str(edit, kc_cstr(node->name)));
    kc_edit_set_nested(edit, "spec.leaseDurationSeconds", kc_node_i64(edit, SECONDS));
    kc_edit_set_nested(
        edit, "spec.renewTime",
        kc_node_str(edit, kc_time_print_micro(kc_clock_wall(node->nodes->clock), time)));
    return kc_edit_freeze(edit, err);
}

static int make_namespace(kc_client *client, kc_error *err)
{
    kc_auto(kc_object) *wanted = kc_object_parse(
        KC_STR("{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"" NAMESPACE
               "\"}}"),
        NULL, err);
    kc_auto(kc_object) *made = wanted ? kc_client_create(client, wanted, NULL, err) : NULL;
    if (!made && !kc_is_already_exists(err))
        return kc_error_result(err);
    kc_error_done(err);
    return 0;
}

static int pods_lease_create(kc__pods_node *node, kc_error *err)
{
    kc_client *client = node->client;
    kc_auto(kc_object) *wanted = lease_of(node, NULL, err);
    if (!wanted)
        return kc_error_result(err);
    node->lease = kc_client_create(client, wanted, NULL, err);
    if (!node->lease && kc_is_not_found(err)) {
        kc_error_done(err);
        if (make_namespace(client, err) < 0)
            return kc_error_result(err);
        node->lease = kc_client_create(client, wanted, NULL, err);
    }
    return node->lease ? 0 : kc_error_result(err);
}

static int update(kc__pods_node *node, kc_error *err)
{
    kc_auto(kc_object) *wanted = lease_of(node, node->lease, err);
    node->lease = kc_object_unref(node->lease);
    if (!wanted)
        return kc_error_result(err);
    node->lease = kc_client_update(node->client, wanted, NULL, err);
    return node->lease ? 0 : kc_error_result(err);
}

/* Reads or creates the lease. */
static int pods_lease_find(kc__pods_node *node, kc_error *err)
{
    node->lease =
        kc_client_get(node->client, &kc_kind_lease, KC_KEY(NAMESPACE, node->name), NULL, err);
    if (node->lease)
        return update(node, err);
    return kc_ignore_not_found(err) < 0 ? kc_error_result(err) : pods_lease_create(node, err);
}

int kc__pods_node_renew_lease(kc__pods_node *node, kc_error *err)
{
    if (!node->lease)
        return pods_lease_find(node, err);
    if (update(node, err) == 0)
        return 0;
    if (!kc_is_conflict(err) && !kc_is_not_found(err))
        return kc_error_result(err);
    kc_error_done(err);
    return pods_lease_find(node, err);
}
