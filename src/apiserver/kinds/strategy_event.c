/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategy_event.c: Events, and Leases, which are as small and as often written.
 */
#include "apiserver/kinds/strategy.h"

/* ---- Event ---- */

/* An event lies in the namespace of what it is about; one about no namespace's object in default.
 */
static void check_namespace(const kc__place *root)
{
    kc__place about = kc__member(root, "involvedObject"), ns = kc__member(&about, "namespace");
    kc_str own = kc_as_str(kc_get(kc_get(root->value, "metadata"), "namespace"));
    if (!about.value || kc_str_eq(kc__text(&ns), own))
        return;
    if (!kc__there(&ns) && kc_str_is(own, "default"))
        return;
    kc__wrong(&ns, KC_FIELD_INVALID, "does not match event.namespace");
}

static const kc__rule event_[] = {{.code = check_namespace}};
static const kc__rules event_rules = KC__RULES(event_);

static const kc_field_def selectable[] = {
    {.field = "involvedObject.kind"},
    {.field = "involvedObject.namespace"},
    {.field = "involvedObject.name"},
    {.field = "involvedObject.uid"},
    {.field = "involvedObject.apiVersion"},
    {.field = "involvedObject.resourceVersion"},
    {.field = "involvedObject.fieldPath"},
    {.field = "reason"},
    {.field = "reportingComponent"},
    {.field = "source", .path = "source.component"},
    {.field = "type"},
};

const kc__strategy kc__strategy_event = {
    .upserts = true,
    .selectable = selectable,
    .n_selectable = KC_COUNT(selectable),
    .rules = &event_rules,
};

/* ---- Lease ---- */

static void check_duration(const kc__place *duration)
{
    if (duration->value)
        kc__check_above_0(duration);
}

static const kc__rule lease_spec_[] = {
    {"leaseDurationSeconds", .code = check_duration},
    {"leaseTransitions", .number = KC__AT_LEAST_0},
};
static const kc__rules lease_spec = KC__RULES(lease_spec_);
static const kc__rule lease_[] = {{"spec", .of = &lease_spec}};
static const kc__rules lease_rules = KC__RULES(lease_);

const kc__strategy kc__strategy_lease = {
    .upserts = true, .conditional = true, .rules = &lease_rules};
