/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cleaner.c: the controller `csrcleaner`: deletes old CertificateSigningRequests, with the
 * deadlines of kube-controller-manager: an hour after a certificate was issued, a denial or a
 * failure; a day without a decision; and when the certificate expires. The controller reconciles
 * each request at its deadline; kube-controller-manager looks at all of them every hour.
 */
#include "certificates/certificates.h"

#include "common/identities.h"

#include "internal.h"

#include "kc/base64.h"
#include "kc/controller.h"
#include "kc/meta.h"
#include "kc/time.h"

#define DECIDED (1 * KC_HOUR)
#define PENDING (24 * KC_HOUR)

/* The end of a time after a timestamp; KC_FOREVER: there is no timestamp. */
static kc_time end_after(kc_str timestamp, int64_t time)
{
    kc_time at;
    if (!timestamp.n || kc_time_parse(timestamp, &at, NULL) < 0)
        return KC_FOREVER;
    return at + time;
}

/* When an issued certificate expires; KC_FOREVER: not known. */
static kc_time certificate_end(const kc_certificate_signer *signer, kc_str base64)
{
    kc_scoped(kc_buf) pem = {0};
    kc_time end;
    if (!signer || !signer->certificate_end || !kc_base64_read(&pem, base64, KC_BASE64) ||
        !signer->certificate_end(kc_buf_str(&pem), &end, signer->user))
        return KC_FOREVER;
    return end;
}

/* When the request is to be deleted; KC_FOREVER: not as it is now. */
static kc_time deadline_of(const kc_certificate_signer *signer, const kc_object *object,
                           const kc_value *request)
{
    const kc_value *conditions = kc_value_nested(request, "status.conditions");
    const kc_str issued = kc_value_as_str(kc_value_nested(request, "status.certificate"));
    kc_time deadline = KC_FOREVER;
    if (!kc_value_len(conditions))
        return end_after(kc_object_creation_timestamp(object), PENDING);
    kc_value_each_item (conditions, condition) {
        const kc_str type = kc_value_as_str(kc_value_get(condition, "type"));
        const bool was_signed = kc_str_is(type, "Approved") && issued.n;
        const kc_str at = kc_value_as_str(kc_value_get(condition, "lastUpdateTime"));
        if (was_signed || kc_str_is(type, "Denied") || kc_str_is(type, "Failed"))
            deadline = KC_MIN(deadline, end_after(at, DECIDED));
        if (was_signed)
            deadline = KC_MIN(deadline, certificate_end(signer, issued));
    }
    return deadline;
}

static kc_result csr_clean(kc_context *ctx, const kc_request *request, kc_error *err)
{
    kc_auto(kc_object) *object = kc_client_get(ctx->client, &kc__csr_kind, request->key, NULL, err);
    if (!object)
        return kc_done_if_not_found(err);
    kc_auto(kc_view) *view = kc_view_of(object);
    const kc_time deadline = deadline_of(ctx->user, object, kc_view_root(view)),
                  now = kc_clock_wall(ctx->clock);
    if (deadline == KC_FOREVER)
        return kc_done();
    if (now <= deadline)
        return kc_requeue_after(deadline - now + 1);
    kc_autofree char *uid = kc_str_dup(kc_object_uid(object));
    if (kc_client_delete(ctx->client, &kc__csr_kind, request->key, &(kc_delete_opts){.uid = uid},
                         err) < 0)
        return kc_is_conflict(err) ? kc_requeue() : kc_done_if_not_found(err);
    return kc_done();
}

int kc__csr_cleaner_setup(kc_manager *manager, const kc_controllers_opts *opts, kc_error *err)
{
    kc_certificate_signer *signer = NULL;
    if (opts->certificate_signer) {
        signer = kc_new(kc_certificate_signer);
        *signer = *opts->certificate_signer;
        kc_manager_defer(manager, signer, free);
    }
    const kc_controller_opts controller = {.name = "csrcleaner",
                                           .field_manager = KC__CONTROLLERS_MANAGER,
                                           .act_as =
                                               kc__common_identity(opts, KC__COMMON_CERTIFICATES),
                                           .kind = &kc__csr_kind,
                                           .reconcile = csr_clean,
                                           .user = signer,
                                           .workers = opts->workers};
    return kc_controller_new(manager, &controller, err) ? 0 : kc_error_result(err);
}
