/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_account.c: implements the admission plugin ServiceAccount. A new pod gets the account
 * `default` if it names none, a projected volume with the account's token in every container
 * (service_account_volume.c), and the account's pull secrets if it has none. The account must
 * exist. An account with the annotation kubernetes.io/enforce-mountable-secrets limits the secrets
 * that its pods may use (mountable_secrets.c).
 *
 * A controller creates the account `default` of a new namespace. A request for it waits for up to
 * two seconds, as in Kubernetes.
 *
 * The kubelet's mirror pods are not changed, and must not use accounts or secrets.
 */
#include "apiserver/admission/plugins/service_account.h"

#include "apiserver/admission/chain/plugin_request.h"
#include "apiserver/admission/plugins/mountable_secrets.h"
#include "apiserver/admission/plugins/service_account_volume.h"
#include "apiserver/kinds/defaults.h"

#define MIRROR  "kubernetes.io/config.mirror"
#define ENFORCE "kubernetes.io/enforce-mountable-secrets"

/* ---- the account ---- */

#define POLL_INTERVAL (50 * KC_MILLISECOND)
#define POLL_TIMEOUT  (2 * KC_SECOND)

/* A request that waits for its account; in its arena. */
typedef struct kc__admission_account_wait {
    kc__rest_call *call;
    kc__loop_timer timer;
    int64_t deadline;
} kc__admission_account_wait;

static void account_poll(kc__loop_timer *timer)
{
    kc__rest_call_rerun(kc_container_of(timer, kc__admission_account_wait, timer)->call);
}

/* KC__REST_PENDING or KC__REST_ON_LOOP: the plugin is called again. KC__REST_NEXT: no more waiting.
 */
static kc__rest_verdict wait_for_account(kc__rest_call *call, kc_str name)
{
    kc__admission_account_wait *wait = call->account_wait;
    if (!kc_str_is(name, "default") || call->reinvoking)
        return KC__REST_NEXT;
    if (call->on_worker)
        return KC__REST_ON_LOOP;
    if (!wait) {
        wait = call->account_wait = kc_arena_new(call->arena, kc__admission_account_wait);
        wait->call = call;
        wait->timer = (kc__loop_timer){.loop = call->x->loop, .fire = account_poll};
        wait->deadline = kc_clock_deadline(call->api->clock, POLL_TIMEOUT);
    }
    if (kc_clock_now(call->api->clock) >= wait->deadline)
        return KC__REST_NEXT;
    kc__loop_timer_start(&wait->timer, kc_clock_deadline(call->api->clock, POLL_INTERVAL));
    return KC__REST_PENDING;
}

void kc__admission_service_account_release(kc__rest_call *call)
{
    if (call->account_wait)
        kc__loop_timer_stop(&call->account_wait->timer);
}

/* Reads the account into *ret_view. Rejects the request if it does not exist. */
static kc__rest_verdict read_account(kc__rest_call *call, kc_str name, kc_view **ret_view)
{
    kc_auto(kc_object) *object = kc__watch_cache_get(
        kc__admission_objects(call, "", "serviceaccounts"), kc__rest_key_of(call, name));
    const kc__rest_verdict waits = object ? KC__REST_NEXT : wait_for_account(call, name);
    if (waits != KC__REST_NEXT)
        return waits;
    if (!object)
        return kc__admission_forbid(call,
                                    "error looking up service account %.*s/%.*s: serviceaccount "
                                    "\"%.*s\" not found",
                                    KC_ARG(call->info.ns), KC_ARG(name), KC_ARG(name));
    *ret_view = kc_view_of(object);
    return KC__REST_NEXT;
}

static bool enforces_mountable_secrets(const kc_value *account)
{
    static const char *const yes[] = {"1", "t", "T", "TRUE", "true", "True", NULL};
    return kc_str_is_any(kc__admission_annotation_of(account, ENFORCE), yes);
}

/* ---- validation ---- */

static kc__rest_verdict check_mirror_pod(kc__rest_call *call, const kc_value *spec)
{
    if (kc_value_as_str(kc_value_get(spec, "serviceAccountName")).n)
        return kc__admission_forbid(call, "a mirror pod may not reference service accounts");
    if (kc__admission_pod_uses_secrets(spec))
        return kc__admission_forbid(call, "a mirror pod may not reference secrets");
    if (kc__admission_pod_uses_token_volume(spec))
        return kc__admission_forbid(
            call, "a mirror pod may not use ServiceAccountToken volume projections");
    return KC__REST_NEXT;
}

/* The account of a pod, in *ret_view. Rejects a pod without one. */
static kc__rest_verdict require_account(kc__rest_call *call, const kc_value *pod,
                                        kc_view **ret_view)
{
    const kc_str name = kc_value_as_str(kc_value_nested(pod, "spec.serviceAccountName"));
    if (!name.n)
        return kc__admission_forbid(call, "no service account specified for pod %.*s/%.*s",
                                    KC_ARG(call->info.ns),
                                    KC_ARG(kc_value_as_str(kc_value_nested(pod, "metadata.name"))));
    return read_account(call, name, ret_view);
}

static kc__rest_verdict check_new_pod(kc__rest_call *call, const kc_value *pod)
{
    const kc_value *spec = kc_value_get(pod, "spec");
    kc_auto(kc_view) *account = NULL;
    kc_scoped(kc_buf) why = {0};
    if (kc__admission_annotation_of(pod, MIRROR).p)
        return check_mirror_pod(call, spec);
    const kc__rest_verdict verdict = require_account(call, pod, &account);
    if (verdict != KC__REST_NEXT || !enforces_mountable_secrets(kc_view_root(account)))
        return verdict;
    kc__admission_check_mountable(kc_view_root(account), spec, &why);
    return why.n ? kc__admission_forbid(call, "%s", kc_buf_cstr(&why)) : KC__REST_NEXT;
}

/* Kubernetes reports a secret of an ephemeral container as an internal error. */
static kc__rest_verdict check_ephemeral(kc__rest_call *call, const kc_value *pod)
{
    kc_auto(kc_view) *account = NULL;
    kc_scoped(kc_buf) why = {0};
    const kc__rest_verdict verdict = require_account(call, pod, &account);
    if (verdict != KC__REST_NEXT || !enforces_mountable_secrets(kc_view_root(account)))
        return verdict;
    kc__admission_check_ephemeral_mountable(kc_view_root(account), kc_value_get(pod, "spec"), &why);
    return why.n ? kc__rest_fail(call, KC_UNKNOWN, "%s", kc_buf_cstr(&why)) : KC__REST_NEXT;
}

kc__rest_verdict kc__admission_service_account_validate(kc__rest_call *call)
{
    const bool creates = kc__admission_creates(call, "core/pods");
    if (!creates && !kc__admission_writes(call, "core/pods", "ephemeralcontainers"))
        return KC__REST_NEXT;
    kc_auto(kc_view) *view = kc_view_of(call->proposed);
    return creates ? check_new_pod(call, kc_view_root(view))
                   : check_ephemeral(call, kc_view_root(view));
}

/* ---- mutation ---- */

/* The pod's wish counts, then the account's; the default is true. */
static bool mounts_token(const kc_node *spec, const kc_value *account)
{
    const kc_node *own = kc_node_get(spec, KC_STR("automountServiceAccountToken"));
    if (kc_node_type(own) == KC_JSON_BOOL)
        return kc_node_as_bool(own, true);
    return kc_value_as_bool(kc_value_get(account, "automountServiceAccountToken"), true);
}

static void add_pull_secrets(kc_edit *edit, kc_node *spec, const kc_value *account)
{
    const kc_value *secrets = kc_value_get(account, "imagePullSecrets");
    if (kc_node_len(kc_node_get(spec, KC_STR("imagePullSecrets"))) || !kc_value_len(secrets))
        return;
    kc_node *list = kc_node_array(edit);
    kc_value_each_item (secrets, secret) {
        kc_node *reference = kc_node_object(edit);
        kc_node_set(edit, reference, KC_STR("name"),
                    kc_node_str(edit, kc_value_as_str(kc_value_get(secret, "name"))));
        kc_node_append(list, reference);
    }
    kc_node_set(edit, spec, KC_STR("imagePullSecrets"), list);
}

/* serviceAccount is the old name of the field; both are always equal. */
static kc_str set_account_name(kc_edit *edit, kc_node *spec)
{
    const kc_str name = kc__defaults_node_text(spec, "serviceAccountName");
    if (name.n)
        return name;
    kc_node_set(edit, spec, KC_STR("serviceAccountName"), kc_node_str(edit, KC_STR("default")));
    kc_node_set(edit, spec, KC_STR("serviceAccount"), kc_node_str(edit, KC_STR("default")));
    return KC_STR("default");
}

static kc__rest_verdict check_draft(kc__rest_call *call, const kc_edit *edit)
{
    kc_auto(kc_view) *view = kc_edit_view(edit, NULL);
    return view ? check_new_pod(call, kc_view_root(view)) : KC__REST_NEXT;
}

kc__rest_verdict kc__admission_service_account_mutate(kc__rest_call *call)
{
    if (!kc__admission_creates(call, "core/pods"))
        return KC__REST_NEXT;
    kc_edit *edit = kc__draft_edit(&call->draft);
    kc_node *root = kc_edit_root(edit), *spec = kc_node_get(root, KC_STR("spec"));
    const kc_node *annotations =
        kc_node_get(kc_node_get(root, KC_STR("metadata")), KC_STR("annotations"));
    kc_auto(kc_view) *account = NULL;
    if (kc_node_get(annotations, KC_STR(MIRROR)))
        return check_draft(call, edit);
    const kc__rest_verdict verdict = read_account(call, set_account_name(edit, spec), &account);
    if (verdict != KC__REST_NEXT)
        return verdict;
    if (mounts_token(spec, kc_view_root(account)))
        kc__admission_mount_token(edit, spec, call->rand);
    add_pull_secrets(edit, spec, kc_view_root(account));
    return enforces_mountable_secrets(kc_view_root(account)) ? check_draft(call, edit)
                                                             : KC__REST_NEXT;
}
