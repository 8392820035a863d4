/* SPDX-License-Identifier: Apache-2.0 */
/* crd_strategy.c: the strategy of CustomResourceDefinitions, built from the other files here. */
#include "apiserver/kinds/apiextensions/crd_strategy.h"
#include "apiserver/kinds/apiextensions/crd_internal.h"
#include "apiserver/kinds/apiextensions/crd_status.h"
#include "apiserver/kinds/apiextensions/crd_type.h"
#include "apiserver/kinds/apiextensions/crd_validate.h"

static void validate_crd(const kc_value *object, kc_field_errors *errors)
{
    kc__crd_validate(object, &(kc__crd_rules){.metadata_checked = true}, errors);
}

static void validate_crd_update(const kc_value *object, const kc_value *old,
                                kc_field_errors *errors)
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

/* A CRD may be removed after its Terminating condition says that its objects are gone. */
static bool crd_may_be_removed(const kc_value *object)
{
    return kc_str_is(
        kc_value_as_str(kc_value_get(kc__crd_condition(object, "Terminating"), "status")), "False");
}

static void begin_deletion(kc_edit *edit, kc_time now)
{
    kc__crd_set_deletion(edit, KC__CRD_DELETION_PENDING, NULL, now);
}

static void default_crd(kc_edit *edit, kc_node *object)
{
    (void)object;
    kc__crd_default(edit);
}

static const kc__defaults crd_defaults = {.code = default_crd};

#define COMMON                                                                                  \
    .generation = true, .conditional = true, .shows_deleted = true, .prepare = kc__crd_prepare, \
    .prepare_update = kc__crd_prepare_update, .may_go = crd_may_be_removed,                     \
    .begin_deletion = begin_deletion, .warn_change = kc__crd_warnings, .validates_slowly = true

const kc__strategy kc__strategy_crd = {
    COMMON,
    .defaults = &crd_defaults,
    .validate = validate_crd,
    .validate_update = validate_crd_update,
};

const kc__strategy kc__strategy_crd_beta = {
    COMMON,
    .validate = validate_beta,
    .validate_update = validate_beta_update,
};
