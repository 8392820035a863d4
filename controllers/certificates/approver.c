/* SPDX-License-Identifier: Apache-2.0 */
/*
 * approver.c: the controller `csrapproving`: approves requests of nodes for client certificates.
 * The requester must be allowed to create `certificatesigningrequests/selfnodeclient`, if the
 * certificate has its own name, or `…/nodeclient`, according to a SubjectAccessReview.
 */
#include "certificates/certificates.h"

#include "common/identities.h"

#include "internal.h"

#include "kc/controller.h"
#include "kc/edit.h"

static const kc_kind review_kind = {.group = "authorization.k8s.io",
                                    .version = "v1",
                                    .kind = "SubjectAccessReview",
                                    .plural = "subjectaccessreviews",
                                    .singular = "subjectaccessreview"};

static const struct {
    const char *permission, *message;
    bool own_name; /* Only for a certificate with the name of its requester. */
} recognized[] = {
    {"selfnodeclient", "Auto approving self kubelet client certificate after SubjectAccessReview.",
     true},
    {"nodeclient", "Auto approving kubelet client certificate after SubjectAccessReview.", false},
};

/* ---- the review ---- */

static void copy_member(kc_edit *edit, kc_node *to, const char *name, const kc_value *value)
{
    if (value)
        kc_node_set(edit, to, kc_cstr(name), kc_node_from_value(edit, value));
}

static kc_object *review_of(const kc_value *request, const char *permission, kc_error *err)
{
    const kc_value *spec = kc_value_get(request, "spec");
    kc_auto(kc_edit) *edit = kc_edit_new();
    kc_node *root = kc_edit_root(edit), *about = kc_node_ensure_object(edit, root, KC_STR("spec")),
            *what = kc_node_ensure_object(edit, about, KC_STR("resourceAttributes"));
    kc_node_set(edit, root, KC_STR("apiVersion"),
                kc_node_str(edit, KC_STR("authorization.k8s.io/v1")));
    kc_node_set(edit, root, KC_STR("kind"), kc_node_str(edit, KC_STR("SubjectAccessReview")));
    copy_member(edit, about, "user", kc_value_get(spec, "username"));
    copy_member(edit, about, "uid", kc_value_get(spec, "uid"));
    copy_member(edit, about, "groups", kc_value_get(spec, "groups"));
    copy_member(edit, about, "extra", kc_value_get(spec, "extra"));
    kc_node_set(edit, what, KC_STR("group"), kc_node_str(edit, KC_STR("certificates.k8s.io")));
    kc_node_set(edit, what, KC_STR("version"), kc_node_str(edit, KC_STR("*")));
    kc_node_set(edit, what, KC_STR("resource"),
                kc_node_str(edit, KC_STR("certificatesigningrequests")));
    kc_node_set(edit, what, KC_STR("subresource"), kc_node_str(edit, kc_cstr(permission)));
    kc_node_set(edit, what, KC_STR("verb"), kc_node_str(edit, KC_STR("create")));
    return kc_edit_freeze(edit, err);
}

/* 1: allowed; 0: not; negative with an error. */
static int is_permitted(kc_context *ctx, const kc_value *request, const char *permission,
                        kc_error *err)
{
    kc_auto(kc_object) *review = review_of(request, permission, err);
    kc_auto(kc_object) *answer =
        review ? kc_client_create(ctx->client, review, &(kc_write_opts){.kind = &review_kind}, err)
               : NULL;
    if (!answer)
        return kc_error_result(err);
    kc_auto(kc_view) *view = kc_view_of(answer);
    return kc_value_as_bool(kc_value_nested(kc_view_root(view), "status.allowed"), false);
}

/* ---- approval ---- */

static kc_result approve(kc_context *ctx, const kc_object *request, const char *message,
                         kc_error *err)
{
    kc_auto(kc_object) *approved =
        kc__csr_with_condition(request, "Approved", "AutoApproved", kc_cstr(message), err);
    kc_auto(kc_object) *written =
        approved
            ? kc_client_update(ctx->client, approved,
                               &(kc_write_opts){.kind = &kc__csr_kind, .subresource = "approval"},
                               err)
            : NULL;
    if (written)
        return kc_done();
    return kc_is_conflict(err) ? kc_requeue() : kc_done_if_not_found(err);
}

static kc_result approve_if_permitted(kc_context *ctx, const kc_object *object,
                                      const kc_value *request, bool own_name, kc_error *err)
{
    for (size_t i = 0; i < KC_COUNT(recognized); i++) {
        if (recognized[i].own_name && !own_name)
            continue;
        const int permitted = is_permitted(ctx, request, recognized[i].permission, err);
        if (permitted < 0)
            return kc_retry(err);
        if (permitted)
            return approve(ctx, object, recognized[i].message, err);
    }
    return kc_done();
}

static kc_result csr_approve(kc_context *ctx, const kc_request *request, kc_error *err)
{
    const kc_certificate_signer *signer = ctx->user;
    kc_auto(kc_object) *object = kc_client_get(ctx->client, &kc__csr_kind, request->key, NULL, err);
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_buf) name = {0};
    kc_certificate_request wanted;
    if (!object)
        return kc_done_if_not_found(err);
    kc_auto(kc_view) *view = kc_view_of(object);
    const kc_value *root = kc_view_root(view);
    if (kc__csr_has_condition(root, "Approved") || kc__csr_has_condition(root, "Denied") ||
        kc_value_as_str(kc_value_nested(root, "status.certificate")).n)
        return kc_done();
    kc__csr_read(root, &arena, &wanted);
    if (!signer->is_node_client(&wanted, &name, signer->user))
        return kc_done();
    const kc_str user = kc_value_as_str(kc_value_nested(root, "spec.username"));
    return approve_if_permitted(ctx, object, root, kc_str_eq(user, kc_buf_str(&name)), err);
}

int kc__csr_approving_setup(kc_manager *manager, const kc_controllers_opts *opts, kc_error *err)
{
    if (!opts->certificate_signer)
        return 0;
    kc_certificate_signer *signer = kc_new(kc_certificate_signer);
    *signer = *opts->certificate_signer;
    kc_manager_defer(manager, signer, free);
    const kc_controller_opts controller = {.name = "csrapproving",
                                           .field_manager = KC__CONTROLLERS_MANAGER,
                                           .act_as =
                                               kc__common_identity(opts, KC__COMMON_CERTIFICATES),
                                           .kind = &kc__csr_kind,
                                           .reconcile = csr_approve,
                                           .user = signer,
                                           .workers = opts->workers};
    return kc_controller_new(manager, &controller, err) ? 0 : kc_error_result(err);
}
