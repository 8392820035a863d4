/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builtin_validate.c: validates objects of built-in resources: metadata, finalizers, the kind's
 * table of rules, then the kind's functions (strategy.h). Errors are added in Kubernetes' order,
 * which clients see in the causes of a Status.
 */
#include "apiserver/kinds/builtin_validate.h"

#include "apiserver/kinds/strategy.h"
#include "kc/arena.h"
#include "kc/diff.h"
#include "kc/metadata_validation.h"

/* A finalizer of a built-in kind must be qualified with its owner's domain, or be one of three
 * standard names. */
static void validate_finalizers(const kc_value *object, kc_field_errors *errors)
{
    static const char *const standard[] = {"kubernetes", "orphan", "foregroundDeletion", NULL};
    size_t i = 0;
    kc_value_each_item (kc_value_get(kc_value_get(object, "metadata"), "finalizers"), item) {
        kc_str name = kc_value_as_str(item);
        if (kc_str_find(name, '/') < 0 && !kc_str_is_any(name, standard))
            kc_field_errors_add_value(
                errors, KC_FIELD_INVALID,
                kc_arena_printf(&errors->arena, "metadata.finalizers[%zu]", i), item,
                "name is neither a standard finalizer name nor is it fully qualified");
        i++;
    }
}

static void check_rules(const kc__resource *r, const kc__resource_change *change,
                        kc_field_errors *errors)
{
    kc__location root = kc__location_root(change->object, errors);
    if (r->strategy->rules && !change->part)
        kc__validate_by_rules(r->strategy->rules, &root);
}

static void validate_created(const kc__resource *r, const kc__resource_change *change,
                             kc_field_errors *errors)
{
    kc_metadata_rules rules = {.name = r->strategy->names, .namespaced = r->namespaced};
    kc_validate_metadata(errors, kc_value_get(change->object, "metadata"), &rules);
    validate_finalizers(change->object, errors);
    check_rules(r, change, errors);
    if (r->strategy->validate)
        r->strategy->validate(change->object, errors);
}

/* Validates by the kind's rules for the changed subresource. */
static void validate_changed_part(const kc__strategy *strategy, const kc__resource_change *change,
                                  kc_field_errors *errors)
{
    const char *part = change->part ? change->part : "";
    void (*validate)(const kc_value *, const kc_value *, kc_field_errors *) =
        !strcmp(part, "status")     ? strategy->validate_status
        : !strcmp(part, "finalize") ? strategy->validate_finalize
        : !*part                    ? strategy->validate_update
                                    : NULL;
    if (validate)
        validate(change->object, change->old, errors);
    else if (*part && strategy->validate_part)
        strategy->validate_part(change->object, change->old, part, errors);
}

/* Kubernetes validates metadata twice, by the rules of all kinds and by those of the kind, and
 * clients see both errors in the causes. */
static void validate_changed(const kc__resource *r, const kc__resource_change *change,
                             kc_field_errors *errors)
{
    kc_metadata_rules common = {.name = KC_NAME_PATH_SEGMENT, .namespaced = r->namespaced};
    const kc_value *metadata = kc_value_get(change->object, "metadata");
    kc_validate_metadata(errors, metadata, &common);
    for (int i = 0; i < 2; i++)
        kc_validate_metadata_update(errors, metadata, kc_value_get(change->old, "metadata"),
                                    &common);
    validate_finalizers(change->object, errors);
    check_rules(r, change, errors);
    validate_changed_part(r->strategy, change, errors);
}

void kc__builtin_validate(const kc__resource *r, const kc__resource_change *change,
                          kc_field_errors *errors)
{
    if (r->strategy->validates_slowly && !change->subresource && change->ret_unfinished) {
        *change->ret_unfinished = true;
        return;
    }
    if (change->old)
        validate_changed(r, change, errors);
    else
        validate_created(r, change, errors);
}

/* A name that is no DNS label cannot be the host name of a pod. */
static void warn_of_name(const kc__strategy *strategy, const kc_value *object, kc_paths *warnings)
{
    const char *messages[KC_NAME_MESSAGES];
    kc_scoped(kc_buf) text = {0};
    const kc_str name = kc_value_as_str(kc_value_nested(object, "metadata.name"));
    const size_t n = kc_name_check(KC_NAME_DNS_LABEL, name, messages);
    if (!n)
        return;
    kc_buf_printf(&text,
                  "metadata.name: this is used in %s, which can result in surprising behavior; a "
                  "DNS label is recommended: [",
                  strategy->warns_of_name);
    for (size_t i = 0; i < n; i++)
        kc_buf_printf(&text, "%s%s", i ? " " : "", messages[i]);
    kc_buf_putc(&text, ']');
    kc_vec_push(warnings, kc_str_dup(kc_buf_str(&text)));
}

/* Whether `warn` of a strategy applies to a change. */
static bool is_warned_about(const kc__strategy *strategy, const kc__resource_change *change)
{
    if (change->invalid || (strategy->warns_new_only && change->old))
        return false;
    const char *path = strategy->warns_if_changed;
    return !path || !change->old ||
           !kc_value_equal(kc_value_nested(change->object, path),
                           kc_value_nested(change->old, path), NULL);
}

void kc__builtin_warn(const kc__resource *r, const kc__resource_change *change, kc_paths *warnings)
{
    if (change->subresource)
        return;
    const kc__strategy *strategy = r->strategy;
    if (strategy->warns_of_name && !change->invalid && !change->old)
        warn_of_name(strategy, change->object, warnings);
    if (strategy->warn && is_warned_about(strategy, change))
        strategy->warn(change->object, warnings);
    if (strategy->warn_change)
        strategy->warn_change(change->object, change->old, warnings);
}
