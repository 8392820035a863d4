/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scale.c: creates and deletes pods until their number is spec.replicas.
 *
 * New pods differ only in their name, which the server generates: the object is built once.
 * Creations run in growing batches (common/parallel.h), so that a ReplicaSet whose pods are refused
 * (by a quota, say) does not flood the server; deletions run all at once. A call does at most
 * KC__RS_BURST of them, so that one large ReplicaSet does not delay the others.
 */
#include "replicaset/replica_set.h"

#include "common/parallel.h"
#include "common/refusals.h"

enum { NAME_MAX_BYTES = 253 };

/* ---- creation ---- */

static void rs_scale_put_metadata(const kc__rs_call *call, const kc_value *from, kc_edit *pod)
{
    static const char *const copied[] = {"labels", "annotations", "finalizers"};
    const char *name = call->rs->metadata.name;
    kc_scoped(kc_buf) prefix = {0};
    kc_buf_printf(&prefix, "%s%s", name, strlen(name) < NAME_MAX_BYTES ? "-" : "");
    kc_edit_set_nested(pod, "metadata.generateName", kc_node_str(pod, kc_buf_str(&prefix)));
    kc_edit_set_namespace(pod, kc_object_namespace(call->object));
    kc_node *to = kc_node_get(kc_edit_root(pod), KC_STR("metadata"));
    for (size_t i = 0; i < KC_COUNT(copied); i++) {
        kc_node *part = kc_node_from_value(pod, kc_value_get(from, copied[i]));
        if (part)
            kc_node_set(pod, to, kc_cstr(copied[i]), part);
    }
    const kc_owner owner = kc_owner_of(call->object, true);
    kc_edit_set_owner(pod, &owner);
}

static kc_object *pod_of_template(const kc__rs_call *call, kc_error *err)
{
    kc_auto(kc_view) *view = kc_view_parse(kc_cstr(call->rs->spec.template.json), NULL, err);
    const kc_value *metadata = view ? kc_value_get(kc_view_root(view), "metadata") : NULL;
    const bool has_labels = kc_value_len(kc_value_get(metadata, "labels")) > 0;
    if (view && !has_labels)
        kc_error_set(err, KC_INVALID, "unable to create pods, no labels");
    if (!has_labels)
        return NULL;
    kc_auto(kc_edit) *pod = kc_edit_new();
    kc_edit_set_nested(pod, "apiVersion", kc_node_str(pod, KC_STR("v1")));
    kc_edit_set_nested(pod, "kind", kc_node_str(pod, KC_STR("Pod")));
    rs_scale_put_metadata(call, metadata, pod);
    kc_edit_set_nested(pod, "spec",
                       kc_node_from_value(pod, kc_value_get(kc_view_root(view), "spec")));
    return kc_edit_freeze(pod, err);
}

typedef struct making {
    kc__rs_call *call;
    const kc_object *pod;
} making;

static int make_one(size_t i, void *user, kc_error *err)
{
    (void)i;
    const making *m = user;
    kc_context *ctx = m->call->ctx;
    kc_scoped(kc_error) why = {0};
    kc_auto(kc_object) *made = kc_client_create(ctx->client, m->pod, NULL, &why);
    if (made) {
        m->call->n_changed++;
        kc_recorder_event(ctx->recorder, m->call->object, KC_EVENT_TYPE_NORMAL, "SuccessfulCreate",
                          "Created pod: %.*s", KC_ARG(kc_object_name(made)));
        return 0;
    }
    if (kc__common_namespace_is_terminating(&why))
        return 0; /* The namespace is terminating, and the ReplicaSet with it: do not retry. */
    if (kc__rs_has_expectations(&why))
        kc__rs_expectations_put(&m->call->controller->expectations, kc_object_key(m->call->object));
    kc_recorder_event(ctx->recorder, m->call->object, KC_EVENT_TYPE_WARNING, "FailedCreate",
                      "Error creating: %s", kc_error_text(&why));
    return kc_error_move(err, &why);
}

static int rs_scale_make(kc__rs_call *call, size_t n, kc_error *err)
{
    kc_auto(kc_object) *pod = pod_of_template(call, err);
    if (!pod)
        return kc_error_result(err);
    return kc__common_slow_start(n, make_one, &(making){call, pod}, err) == n
               ? 0
               : kc_error_result(err);
}

/* ---- deletion ---- */

static int rs_scale_delete_one(size_t i, void *user, kc_error *err)
{
    kc__rs_call *call = user;
    const kc_object *pod = call->active[i].pod;
    const kc_key key = kc_object_key(pod);
    kc_scoped(kc_error) why = {0};
    kc_autofree char *uid = kc_str_dup(kc_object_uid(pod));
    if (kc_client_delete(call->ctx->client, &kc_kind_pod, key, &(kc_delete_opts){.uid = uid},
                         &why) == 0) {
        call->n_changed++;
        kc_recorder_event(call->ctx->recorder, call->object, KC_EVENT_TYPE_NORMAL,
                          "SuccessfulDelete", "Deleted pod: %.*s", KC_ARG(key.name));
        return 0;
    }
    if (kc_is_not_found(&why))
        return 0;
    if (kc__rs_has_expectations(&why))
        kc__rs_expectations_put(&call->controller->expectations, kc_object_key(call->object));
    kc_recorder_event(call->ctx->recorder, call->object, KC_EVENT_TYPE_WARNING, "FailedDelete",
                      "Error deleting: %s", kc_error_text(&why));
    kc_error_wrap(&why, "unable to delete pods");
    return kc_error_move(err, &why);
}

static int delete(kc__rs_call *call, size_t n, kc_error *err)
{
    if (n < call->n_active && kc__rs_rank(call, n, err) < 0)
        return kc_error_result(err);
    return kc__common_parallel(n, rs_scale_delete_one, call, err) == n ? 0 : kc_error_result(err);
}

int kc__rs_scale(kc__rs_call *call, bool *ret_more, kc_error *err)
{
    const int64_t missing = call->wanted - (int64_t)call->n_active;
    const size_t n = (size_t)(missing < 0 ? -missing : missing);
    const size_t now = KC_MIN(n, (size_t)KC__RS_BURST);
    *ret_more = n > now;
    if (!n)
        return 0;
    return missing > 0 ? rs_scale_make(call, now, err) : delete (call, now, err);
}
