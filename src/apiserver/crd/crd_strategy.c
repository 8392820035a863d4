/* SPDX-License-Identifier: Apache-2.0 */
/* crd_strategy.c: what is special about CustomResourceDefinitions, from the other files here. */
#include "apiserver/crd/crd_strategy.h"
#include "apiserver/crd/crd_internal.h"
#include "apiserver/crd/crd_status.h"
#include "apiserver/crd/crd_type.h"
#include "apiserver/crd/crd_validate.h"

static void validate(const kc_value *object, kc_field_errors *errors)
{
    kc__crd_validate(object, &(kc__crd_rules){.metadata_checked = true}, errors);
}

static void validate_update(const kc_value *object, const kc_value *old, kc_field_errors *errors)
{
    kc__crd_validate(object, &(kc__crd_rules){.old = old, .metadata_checked = true}, errors);
}

static void validate_beta(const kc_value *object, kc_field_errors *errors)
{
    kc__crd_rules rules = {.metadata_checked = true, .beta = true};
    kc__crd_validate(object, &rules, errors);
}

static void validate_beta_update(const kc_value *object, const kc_value *old,
                                 kc_field_errors *errors)
{
    kc__crd_rules rules = {.old = old, .metadata_checked = true, .beta = true};
    kc__crd_validate(object, &rules, errors);
}

/* Not before somebody has said that nothing is left of it. */
static bool may_go(const kc_value *object)
{
    return kc_str_is(kc_as_str(kc_get(kc__crd_condition(object, "Terminating"), "status")),
                     "False");
}

static void begin_deletion(kc_edit *edit, kc_time now)
{
    kc__crd_set_deletion(edit, KC__CRD_DELETION_PENDING, NULL, now);
}

#define COMMON                                                                                  \
    .generation = true, .conditional = true, .shows_deleted = true, .prepare = kc__crd_prepare, \
    .prepare_update = kc__crd_prepare_update, .may_go = may_go, .begin_deletion = begin_deletion

const kc__strategy kc__strategy_crd = {
    COMMON,
    .validate = validate,
    .validate_update = validate_update,
};

const kc__strategy kc__strategy_crd_beta = {
    COMMON,
    .validate = validate_beta,
    .validate_update = validate_beta_update,
};
