/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategy_configmap.c: ConfigMaps: keys that can be file names, no key in both maps, at most 1
 * MiB, and no change once immutable.
 */
#include "apiserver/kinds/strategy.h"
#include "apiserver/kinds/strategy_internal.h"

static void validate(const kc_value *object, kc_field_errors *errors)
{
    const kc_value *data = kc_get(object, "data"), *binary = kc_get(object, "binaryData");
    size_t total = 0;
    total += kc__validate_data_keys(data, "data", binary, errors);
    total += kc__validate_data_keys(binary, "binaryData", NULL, errors);
    if (total > KC__MAX_DATA)
        kc_field_errors_add(errors, KC_FIELD_TOO_LONG, "[]", (kc_str){0},
                            "may not be more than %d bytes", KC__MAX_DATA);
}

static void validate_update(const kc_value *object, const kc_value *old, kc_field_errors *errors)
{
    static const char *const fixed[] = {"data", "binaryData"};
    kc__validate_immutable(object, old, fixed, KC_COUNT(fixed), errors);
    kc__validate_metadata_again(object, errors);
    validate(object, errors);
}

const kc__strategy kc__strategy_configmap = {
    .validate = validate,
    .validate_update = validate_update,
};
