/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signer.c: the controller `csrsigning`: signs approved CertificateSigningRequests of the built-in
 * signers. kc_controllers_opts supplies the function that signs; without it the controller does not
 * run. A request that the rules of its signer forbid gets the condition Failed, and is never
 * signed.
 */
#include "certificates/certificates.h"

#include "common/identities.h"

#include "internal.h"

#include "kc/base64.h"
#include "kc/controller.h"
#include "kc/edit.h"
#include "kc/log.h"

static bool is_built_in(kc_str signer)
{
    static const char *const names[] = {
        "kubernetes.io/kube-apiserver-client", "kubernetes.io/kube-apiserver-client-kubelet",
        "kubernetes.io/kubelet-serving", "kubernetes.io/legacy-unknown", NULL};
    return kc_str_is_any(signer, names);
}

static kc_object *with_certificate(const kc_object *request, kc_str pem, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    kc_auto(kc_edit) *edit = kc_edit_of(request);
    kc_base64_write(&text, pem, KC_BASE64);
    kc_edit_set_nested(edit, "status.certificate", kc_node_str(edit, kc_buf_str(&text)));
    return kc_edit_freeze(edit, err);
}

/* The request with its certificate, or with the condition Failed. NULL on error. */
static kc_object *signed_request(const kc_certificate_signer *signer, const kc_object *request,
                                 const kc_certificate_request *wanted, kc_error *err)
{
    kc_scoped(kc_buf) pem = {0};
    kc_scoped(kc_error) why = {0};
    if (signer->sign(wanted, &pem, signer->user, &why) == 0)
        return with_certificate(request, kc_buf_str(&pem), err);
    if (why.reason == KC_INVALID)
        return kc__csr_with_condition(request, "Failed", "SignerValidationFailure",
                                      kc_cstr(kc_error_text(&why)), err);
    kc_error_move(err, &why);
    return NULL;
}

static kc_result csr_sign(kc_context *ctx, const kc_request *request, kc_error *err)
{
    kc_auto(kc_object) *object = kc_client_get(ctx->client, &kc__csr_kind, request->key, NULL, err);
    kc_scoped(kc_arena) arena = {0};
    kc_certificate_request wanted;
    if (!object)
        return kc_done_if_not_found(err);
    kc_auto(kc_view) *view = kc_view_of(object);
    const kc_value *root = kc_view_root(view);
    kc__csr_read(root, &arena, &wanted);
    if (!is_built_in(wanted.signer) || !kc__csr_has_condition(root, "Approved") ||
        kc__csr_has_condition(root, "Denied") || kc__csr_has_condition(root, "Failed") ||
        kc_value_as_str(kc_value_nested(root, "status.certificate")).n)
        return kc_done();
    kc_auto(kc_object) *result = signed_request(ctx->user, object, &wanted, err);
    kc_auto(kc_object) *written = result ? kc_client_update_status(ctx->client, result, err) : NULL;
    if (written)
        return kc_done();
    return kc_is_conflict(err) ? kc_requeue() : kc_done_if_not_found(err);
}

int kc__csr_signing_setup(kc_manager *manager, const kc_controllers_opts *opts, kc_error *err)
{
    if (!opts->certificate_signer) {
        kc_log_info(kc_manager_log(manager),
                    "no CA for CertificateSigningRequests; not signing certificates");
        return 0;
    }
    kc_certificate_signer *signer = kc_new(kc_certificate_signer);
    *signer = *opts->certificate_signer;
    kc_manager_defer(manager, signer, free);
    const kc_controller_opts controller = {.name = "csrsigning",
                                           .field_manager = KC__CONTROLLERS_MANAGER,
                                           .act_as =
                                               kc__common_identity(opts, KC__COMMON_CERTIFICATES),
                                           .kind = &kc__csr_kind,
                                           .reconcile = csr_sign,
                                           .user = signer,
                                           .workers = opts->workers};
    return kc_controller_new(manager, &controller, err) ? 0 : kc_error_result(err);
}
