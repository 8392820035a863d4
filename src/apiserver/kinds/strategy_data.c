/* SPDX-License-Identifier: Apache-2.0 */
/* strategy_data.c: the rules of ConfigMaps and Secrets about their data. */
#include "apiserver/kinds/strategy_internal.h"

#include "kc/diff.h"
#include "kc/metadata_validation.h"
#include "kc/names.h"

static void check_key(const char *field, kc_str key, const kc_value *other, kc_field_errors *errors)
{
    const char *path = kc_arena_printf(&errors->arena, "%s[%.*s]", field, KC_ARG(key));
    kc_validate_name(errors, path, KC_NAME_CONFIG_KEY, key);
    if (!kc_get_str(other, key))
        return;
    kc_scoped(kc_buf) quoted = {0};
    kc_json_quote(&quoted, key);
    kc_field_errors_add(errors, KC_FIELD_INVALID, path, kc_buf_str(&quoted),
                        "duplicate of key present in binaryData");
}

size_t kc__validate_data_keys(const kc_value *data, const char *field, const kc_value *other,
                              kc_field_errors *errors)
{
    size_t total = 0;
    bool binary = strcmp(field, "data") != 0;
    kc_members (data, key, value) {
        kc_str text = kc_as_str(value);
        check_key(field, key, other, errors);
        total += binary ? text.n / 4 * 3 : text.n;
    }
    return total;
}

void kc__validate_immutable(const kc_value *object, const kc_value *old, const char *const *members,
                            size_t n, kc_field_errors *errors)
{
    static const char why[] = "field is immutable when `immutable` is set";
    if (!kc_as_bool(kc_get(old, "immutable"), false))
        return;
    if (!kc_as_bool(kc_get(object, "immutable"), false))
        kc_field_errors_add(errors, KC_FIELD_FORBIDDEN, "immutable", (kc_str){0}, why);
    for (size_t i = 0; i < n; i++)
        if (!kc_value_equal(kc_get(object, members[i]), kc_get(old, members[i]), NULL))
            kc_field_errors_add(errors, KC_FIELD_FORBIDDEN, members[i], (kc_str){0}, why);
}

void kc__validate_metadata_again(const kc_value *object, kc_field_errors *errors)
{
    kc_validate_metadata(errors, kc_get(object, "metadata"),
                         &(kc_metadata_rules){.namespaced = true});
}
