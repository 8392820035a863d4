/* SPDX-License-Identifier: Apache-2.0 */
/*
 * configmap_strategy.c: the strategy of ConfigMaps. Keys must be valid file names, no key may be in
 * both maps, the data is at most 1 MiB, and an immutable ConfigMap cannot change.
 */
#include "apiserver/kinds/strategy.h"
#include "apiserver/kinds/strategy_internal.h"

static void validate_configmap(const kc_value *object, kc_field_errors *errors)
{
    const kc_value *data = kc_value_get(object, "data"),
                   *binary = kc_value_get(object, "binaryData");
    size_t total = 0;
    total += kc__validate_data_keys(data, "data", binary, errors);
    total += kc__validate_data_keys(binary, "binaryData", NULL, errors);
    if (total > KC__STRATEGY_MAX_DATA)
        kc_field_errors_add(errors, KC_FIELD_TOO_LONG, "[]", (kc_str){0},
                            "may not be more than %d bytes", KC__STRATEGY_MAX_DATA);
}

static void validate_configmap_update(const kc_value *object, const kc_value *old,
                                      kc_field_errors *errors)
{
    static const char *const fixed[] = {"data", "binaryData"};
    kc__validate_immutable(object, old, fixed, KC_COUNT(fixed), errors);
    kc__validate_metadata_again(object, errors);
    validate_configmap(object, errors);
}

const kc__strategy kc__strategy_configmap = {
    .validate = validate_configmap,
    .validate_update = validate_configmap_update,
};
