/* SPDX-License-Identifier: Apache-2.0 */
/* requests.c: reads and changes CertificateSigningRequests, for the controllers of this folder. */
#include "certificates/certificates.h"

#include "kc/base64.h"
#include "kc/edit.h"

const kc_kind kc__csr_kind = {.group = "certificates.k8s.io",
                              .version = "v1",
                              .kind = "CertificateSigningRequest",
                              .plural = "certificatesigningrequests",
                              .singular = "certificatesigningrequest"};

bool kc__csr_has_condition(const kc_value *request, const char *type)
{
    kc_value_each_item (kc_value_nested(request, "status.conditions"), condition)
        if (kc_str_is(kc_value_as_str(kc_value_get(condition, "type")), type) &&
            kc_str_is(kc_value_as_str(kc_value_get(condition, "status")), "True"))
            return true;
    return false;
}

void kc__csr_read(const kc_value *request, kc_arena *arena, kc_certificate_request *ret)
{
    const kc_value *spec = kc_value_get(request, "spec"), *list = kc_value_get(spec, "usages");
    kc_str *usages = kc_arena_calloc(arena, kc_value_len(list) + 1, sizeof(*usages));
    kc_scoped(kc_buf) pem = {0};
    *ret = (kc_certificate_request){
        .signer = kc_value_as_str(kc_value_get(spec, "signerName")),
        .usages = usages,
        .expiration_seconds = kc_value_as_i64_or(kc_value_get(spec, "expirationSeconds"), 0)};
    kc_value_each_item (list, usage)
        usages[ret->n_usages++] = kc_value_as_str(usage);
    if (kc_base64_read(&pem, kc_value_as_str(kc_value_get(spec, "request")), KC_BASE64))
        ret->pem = kc_arena_str(arena, kc_buf_str(&pem));
}

kc_object *kc__csr_with_condition(const kc_object *request, const char *type, const char *reason,
                                  kc_str message, kc_error *err)
{
    kc_auto(kc_edit) *edit = kc_edit_of(request);
    kc_node *status = kc_node_ensure_object(edit, kc_edit_root(edit), KC_STR("status")),
            *list = kc_node_get(status, KC_STR("conditions")), *one = kc_node_object(edit);
    if (kc_node_type(list) != KC_JSON_ARRAY) {
        list = kc_node_array(edit);
        kc_node_set(edit, status, KC_STR("conditions"), list);
    }
    kc_node_set(edit, one, KC_STR("type"), kc_node_str(edit, kc_cstr(type)));
    kc_node_set(edit, one, KC_STR("status"), kc_node_str(edit, KC_STR("True")));
    kc_node_set(edit, one, KC_STR("reason"), kc_node_str(edit, kc_cstr(reason)));
    kc_node_set(edit, one, KC_STR("message"), kc_node_str(edit, message));
    kc_node_append(list, one);
    return kc_edit_freeze(edit, err);
}
