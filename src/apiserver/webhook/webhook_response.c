/* SPDX-License-Identifier: Apache-2.0 */
/* webhook_response.c: see webhook_response.h. */
#include "apiserver/webhook/webhook_response.h"

#include "apiserver/call/go_json.h"
#include "object/gofmt/go_quote.h"

int kc__hook_check_members(const kc_value *object, const char *where,
                           const kc__hook_member *members, size_t n, kc_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const kc_value *value = kc_value_get(object, members[i].name);
        const kc_json_type type = kc_value_type(value);
        if (type != KC_JSON_ABSENT && type != KC_JSON_NULL && type != members[i].type)
            return kc_error_set(err, KC_BAD_REQUEST,
                                "json: cannot unmarshal %s into Go struct field %s.%s of type %s",
                                kc__rest_go_json_type(value), where, members[i].name,
                                members[i].go_type);
    }
    return 0;
}

int kc__hook_check_named(const kc_value *review, const char *expected, kc_error *err)
{
    kc_str version = kc_value_as_str(kc_value_get(review, "apiVersion")), group = {0};
    const kc_str kind = kc_value_as_str(kc_value_get(review, "kind"));
    if (!kc_str_empty(kind) && !kc_str_empty(version))
        return 0;
    if (kc_str_find(version, '/') >= 0)
        group = kc_str_cut(&version, '/');
    return kc_error_set(err, KC_INVALID,
                        "expected webhook response of %s, got %.*s/%.*s, Kind=%.*s", expected,
                        KC_ARG(group), KC_ARG(version), KC_ARG(kind));
}

int kc__hook_check_uid(const kc_value *response, kc_str uid, kc_error *err)
{
    const kc_str found = kc_value_as_str(kc_value_get(response, "uid"));
    if (kc_str_eq(found, uid))
        return 0;
    kc_scoped(kc_buf) quoted = {0};
    kc__go_quote(&quoted, found);
    return kc_error_set(err, KC_INVALID, "expected response.uid=\"%.*s\", got %s", KC_ARG(uid),
                        kc_buf_cstr(&quoted));
}
