/* SPDX-License-Identifier: Apache-2.0 */
/*
 * certificate_request.c: CertificateSigningRequests. The server writes the requester
 * into a new request, whatever the client sent, because approvers and signers decide by that; and
 * the times into conditions. The plugin CertificateSubjectRestriction rejects requests for client
 * certificates of the group system:masters.
 */
#include "apiserver/admission/plugins/certificate_request.h"

#include "apiserver/admission/chain/plugin_request.h"
#include "apiserver/kinds/certificates/pkcs10.h"
#include "apiserver/kinds/defaults.h"
#include "kc/buf.h"

#define REQUESTS      "certificates.k8s.io/certificatesigningrequests"
#define CLIENT_SIGNER "kubernetes.io/kube-apiserver-client"

/* ---- the requester ---- */

static kc_node *texts_node(kc_edit *edit, const kc_str *texts, size_t n)
{
    kc_node *list = kc_node_array(edit);
    for (size_t i = 0; i < n; i++)
        kc_node_append(list, kc_node_str(edit, texts[i]));
    return list;
}

static void set_requester(kc_edit *edit, const kc__user *user)
{
    static const char *const members[] = {"username", "uid", "groups", "extra"};
    kc_node *spec = kc_node_ensure_object(edit, kc_edit_root(edit), KC_STR("spec"));
    kc_node *extra = kc_node_object(edit);
    for (size_t i = 0; i < KC_COUNT(members); i++)
        kc_node_remove(spec, kc_cstr(members[i]));
    kc_node_set(edit, spec, KC_STR("username"), kc_node_str(edit, user->name));
    if (user->uid.n)
        kc_node_set(edit, spec, KC_STR("uid"), kc_node_str(edit, user->uid));
    if (user->n_groups)
        kc_node_set(edit, spec, KC_STR("groups"), texts_node(edit, user->groups, user->n_groups));
    for (size_t i = 0; i < user->n_extra; i++)
        kc_node_set(edit, extra, user->extra[i].key,
                    texts_node(edit, user->extra[i].values, user->extra[i].n_values));
    if (user->n_extra)
        kc_node_set(edit, spec, KC_STR("extra"), extra);
}

/* ---- times of conditions ---- */

/* When a condition got its status: the stored time if it has the same, else now. */
static kc_str transition_time(const kc_value *old, const kc_node *condition, kc_str now)
{
    kc_value_each_item (kc_value_nested(old, "status.conditions"), before) {
        const kc_str time = kc_value_as_str(kc_value_get(before, "lastTransitionTime"));
        if (time.n &&
            kc_str_eq(kc_value_as_str(kc_value_get(before, "type")),
                      kc__defaults_node_text(condition, "type")) &&
            kc_str_eq(kc_value_as_str(kc_value_get(before, "status")),
                      kc__defaults_node_text(condition, "status")))
            return time;
    }
    return now;
}

static void set_condition_times(kc__rest_call *call, kc_edit *edit)
{
    char text[KC_TIME_TEXT];
    const kc_str now = kc__rest_call_now(call, text);
    kc_auto(kc_view) *old = kc_view_of(call->current);
    kc_node *conditions =
        kc_node_get(kc_node_get(kc_edit_root(edit), KC_STR("status")), KC_STR("conditions"));
    kc_node_each_item (conditions, condition) {
        if (!kc__defaults_node_text(condition, "lastUpdateTime").n)
            kc_node_set(edit, condition, KC_STR("lastUpdateTime"), kc_node_str(edit, now));
        if (!kc__defaults_node_text(condition, "lastTransitionTime").n)
            kc_node_set(edit, condition, KC_STR("lastTransitionTime"),
                        kc_node_str(edit, transition_time(kc_view_root(old), condition, now)));
    }
}

kc__rest_verdict kc__admission_certificate_fields(kc__rest_call *call)
{
    if (kc__admission_creates(call, REQUESTS))
        set_requester(kc__draft_edit(&call->draft), &call->user);
    else if (call->current && (kc__admission_writes(call, REQUESTS, "approval") ||
                               kc__admission_writes(call, REQUESTS, "status")))
        set_condition_times(call, kc__draft_edit(&call->draft));
    return KC__REST_NEXT;
}

/* ---- CertificateSubjectRestriction ---- */

kc__rest_verdict kc__admission_certificate_subject(kc__rest_call *call)
{
    kc_scoped(kc_buf) why = {0};
    bool masters = false;
    if (!kc__admission_creates(call, REQUESTS))
        return KC__REST_NEXT;
    kc_auto(kc_view) *view = kc_view_of(call->proposed);
    const kc_value *spec = kc_value_get(kc_view_root(view), "spec");
    if (!kc_str_is(kc_value_as_str(kc_value_get(spec, "signerName")), CLIENT_SIGNER))
        return KC__REST_NEXT;
    if (!kc__pkcs10_has_organization(kc_value_as_str(kc_value_get(spec, "request")),
                                     "system:masters", &masters, &why))
        return kc__admission_forbid(call, "failed to parse CSR: %s", kc_buf_cstr(&why));
    return masters ? kc__admission_forbid(call, "use of " CLIENT_SIGNER
                                                " signer with system:masters group is not allowed")
                   : KC__REST_NEXT;
}
