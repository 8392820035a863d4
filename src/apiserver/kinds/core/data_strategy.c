/* SPDX-License-Identifier: Apache-2.0 */
/* data_strategy.c: the validation rules for the data of ConfigMaps and Secrets. */
#include "apiserver/kinds/strategy_internal.h"

#include "kc/diff.h"
#include "kc/metadata_validation.h"
#include "kc/names.h"
#include "object/model/value_members.h"

static void check_key(const char *field, kc_str key, bool duplicate, kc_field_errors *errors)
{
    if (!duplicate && kc_name_valid(KC_NAME_CONFIG_KEY, key))
        return;
    const char *path = kc_arena_printf(&errors->arena, "%s[%.*s]", field, KC_ARG(key));
    kc_validate_name(errors, path, KC_NAME_CONFIG_KEY, key);
    if (!duplicate)
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
    kc_scoped(kc__value_members) in_other = {.object = other};
    bool binary = strcmp(field, "data") != 0;
    kc_value_each_member (data, key, value) {
        kc_str text = kc_value_as_str(value);
        check_key(field, key, kc__value_members_find(&in_other, key), errors);
        total += binary ? text.n / 4 * 3 : text.n;
    }
    return total;
}

void kc__validate_immutable(const kc_value *object, const kc_value *old, const char *const *members,
                            size_t n, kc_field_errors *errors)
{
    static const char why[] = "field is immutable when `immutable` is set";
    if (!kc_value_as_bool(kc_value_get(old, "immutable"), false))
        return;
    if (!kc_value_as_bool(kc_value_get(object, "immutable"), false))
        kc_field_errors_add(errors, KC_FIELD_FORBIDDEN, "immutable", (kc_str){0}, why);
    for (size_t i = 0; i < n; i++)
        if (!kc_value_equal(kc_value_get(object, members[i]), kc_value_get(old, members[i]), NULL))
            kc_field_errors_add(errors, KC_FIELD_FORBIDDEN, members[i], (kc_str){0}, why);
}

void kc__validate_metadata_again(const kc_value *object, kc_field_errors *errors)
{
    kc_validate_metadata(errors, kc_value_get(object, "metadata"),
                         &(kc_metadata_rules){.namespaced = true});
}
