/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scale.c: pods made and deleted until there are as many as the set wants.
 *
 * New pods are all the same but for their name, which the server chooses: the object is made once.
 * They are created in growing batches (common/parallel.h), so that a set whose pods are refused
 * (by a quota, say) does not storm the server; deletions go all at once. No more than KC__RS_BURST
 * in one call, so that one large set does not keep the others waiting.
 */
#include "replicaset/replica_set.h"

#include "common/parallel.h"
#include "common/refusals.h"

enum { NAME_MAX_BYTES = 253 };

/* ---- making ---- */

static void put_metadata(const kc__rs_call *call, const kc_value *from, kc_edit *pod)
{
    static const char *const copied[] = {"labels", "annotations", "finalizers"};
    const char *name = call->rs->metadata.name;
    kc_scoped(kc_buf) prefix = {0};
    kc_buf_printf(&prefix, "%s%s", name, strlen(name) < NAME_MAX_BYTES ? "-" : "");
    kc_edit_put(pod, "metadata.generateName", kc_node_str(pod, kc_buf_str(&prefix)));
    kc_edit_set_namespace(pod, kc_object_namespace(call->object));
    kc_node *to = kc_node_get(kc_edit_root(pod), KC_STR("metadata"));
    for (size_t i = 0; i < KC_COUNT(copied); i++) {
        kc_node *part = kc_node_copy(pod, kc_get(from, copied[i]));
        if (part)
            kc_node_set(pod, to, kc_cstr(copied[i]), part);
    }
    const kc_owner owner = kc_owner_of(call->object, true);
    kc_edit_set_owner(pod, &owner);
}

static kc_object *pod_of_template(const kc__rs_call *call, kc_error *err)
{
    kc_auto(kc_view) *view = kc_view_parse(kc_cstr(call->rs->spec.template.json), NULL, err);
    const kc_value *metadata = view ? kc_get(kc_view_root(view), "metadata") : NULL;
    const bool has_labels = kc_len(kc_get(metadata, "labels")) > 0;
    if (view && !has_labels)
        kc_error_set(err, KC_INVALID, "unable to create pods, no labels");
    if (!has_labels)
        return NULL;
    kc_auto(kc_edit) *pod = kc_edit_new();
    kc_edit_put(pod, "apiVersion", kc_node_str(pod, KC_STR("v1")));
    kc_edit_put(pod, "kind", kc_node_str(pod, KC_STR("Pod")));
    put_metadata(call, metadata, pod);
    kc_edit_put(pod, "spec", kc_node_copy(pod, kc_get(kc_view_root(view), "spec")));
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
        kc_event(ctx->recorder, m->call->object, KC_NORMAL, "SuccessfulCreate", "Created pod: %.*s",
                 KC_ARG(kc_object_name(made)));
        return 0;
    }
    if (kc__namespace_is_ending(&why))
        return 0; /* Nothing more will come of it, and the set goes too. */
    if (kc__rs_is_doubtful(&why))
        kc__doubts_put(&m->call->controller->doubts, kc_object_key(m->call->object));
    kc_event(ctx->recorder, m->call->object, KC_WARNING, "FailedCreate", "Error creating: %s",
             kc_error_text(&why));
    return kc_error_move(err, &why);
}

static int make(kc__rs_call *call, size_t n, kc_error *err)
{
    kc_auto(kc_object) *pod = pod_of_template(call, err);
    if (!pod)
        return -1;
    return kc__slow_start(n, make_one, &(making){call, pod}, err) == n ? 0 : -1;
}

/* ---- deleting ---- */

static int delete_one(size_t i, void *user, kc_error *err)
{
    kc__rs_call *call = user;
    const kc_object *pod = call->active[i].pod;
    const kc_key key = kc_object_key(pod);
    kc_scoped(kc_error) why = {0};
    kc_autofree char *uid = kc_str_dup(kc_object_uid(pod));
    if (kc_client_delete(call->ctx->client, &kc_kind_pod, key, &(kc_delete_opts){.uid = uid},
                         &why) == 0) {
        call->n_changed++;
        kc_event(call->ctx->recorder, call->object, KC_NORMAL, "SuccessfulDelete",
                 "Deleted pod: %.*s", KC_ARG(key.name));
        return 0;
    }
    if (kc_is_not_found(&why))
        return 0;
    if (kc__rs_is_doubtful(&why))
        kc__doubts_put(&call->controller->doubts, kc_object_key(call->object));
    kc_event(call->ctx->recorder, call->object, KC_WARNING, "FailedDelete", "Error deleting: %s",
             kc_error_text(&why));
    kc_error_wrap(&why, "unable to delete pods");
    return kc_error_move(err, &why);
}

static int delete(kc__rs_call *call, size_t n, kc_error *err)
{
    if (n < call->n_active && kc__rs_rank(call, n, err) < 0)
        return -1;
    return kc__parallel(n, delete_one, call, err) == n ? 0 : -1;
}

int kc__rs_scale(kc__rs_call *call, bool *ret_more, kc_error *err)
{
    const int64_t missing = call->wanted - (int64_t)call->n_active;
    const size_t n = (size_t)(missing < 0 ? -missing : missing);
    const size_t now = KC_MIN(n, (size_t)KC__RS_BURST);
    *ret_more = n > now;
    if (!n)
        return 0;
    return missing > 0 ? make(call, now, err) : delete (call, now, err);
}
