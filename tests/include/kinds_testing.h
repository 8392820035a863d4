/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kinds_testing.h: defaulting and validation of built-in kinds, without a server. Objects are
 * written with ' for quotes.
 */
#ifndef KC_KINDS_TESTING_H
#define KC_KINDS_TESTING_H

#include "apiserver/codec/typed.h"
#include "apiserver/kinds/registry.h"
#include "apiserver/kinds/strategy.h"
#include "testing.h"

/* The object of a kind ("io.k8s.api.core.v1.Pod") with its type and its defaults. */
static inline kc_object *completed(const char *type_name, const kc__strategy *strategy,
                                   const char *json)
{
    const kc__type_message *type = kc__type_lookup(kc_cstr(type_name));
    assert_non_null(type);
    kc_auto(kc_object) *given = object_of(json);
    kc_auto(kc_object) *typed = kc__typed_decode(type, given, NULL, NULL);
    assert_non_null(typed);
    if (!strategy->defaults)
        return kc_take(typed);
    kc_auto(kc_edit) *edit = kc_edit_of(typed);
    kc__defaults_apply(strategy->defaults, edit, kc_edit_root(edit));
    kc_auto(kc_object) *filled = kc_edit_freeze(edit, NULL);
    kc_object *result = kc__typed_decode(type, filled, NULL, NULL);
    assert_non_null(result);
    return result;
}

/* Likewise, prepared for create. */
static inline kc_object *prepared(const char *type_name, const kc__strategy *strategy,
                                  const char *json)
{
    kc_auto(kc_object) *object = completed(type_name, strategy, json);
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    if (strategy->prepare)
        strategy->prepare(edit);
    kc_auto(kc_object) *frozen = kc_edit_freeze(edit, NULL);
    return kc__typed_decode(kc__type_lookup(kc_cstr(type_name)), frozen, NULL, NULL);
}

static inline void assert_errors(const kc_field_errors *errors, const char *expected)
{
    kc_scoped(kc_buf) out = {0};
    for (size_t i = 0; i < errors->list.n; i++)
        kc_buf_printf(&out, "%s%s: %s", i ? "\n" : "", errors->list.items[i].field,
                      errors->list.items[i].body);
    assert_string_equal(kc_buf_cstr(&out), expected);
}

static inline void check_rules(const kc__strategy *strategy, const kc_value *object,
                               kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors);
    if (strategy->rules)
        kc__validate_by_rules(strategy->rules, &root);
}

/* Asserts the errors of a new object, one per line; "" for none. */
static inline void assert_new(const char *type_name, const kc__strategy *strategy, const char *json,
                              const char *expected)
{
    kc_scoped(kc_field_errors) errors = {0};
    kc_auto(kc_object) *object = prepared(type_name, strategy, json);
    kc_auto(kc_view) *view = kc_view_of(object);
    check_rules(strategy, kc_view_root(view), &errors);
    if (strategy->validate)
        strategy->validate(kc_view_root(view), &errors);
    assert_errors(&errors, expected);
}

/* Asserts the errors of an update. */
static inline void assert_changed(const char *type_name, const kc__strategy *strategy,
                                  const char *before, const char *after, const char *expected)
{
    kc_scoped(kc_field_errors) errors = {0};
    kc_auto(kc_object) *one = prepared(type_name, strategy, before);
    kc_auto(kc_object) *two = prepared(type_name, strategy, after);
    kc_auto(kc_view) *old = kc_view_of(one), *now = kc_view_of(two);
    check_rules(strategy, kc_view_root(now), &errors);
    if (strategy->validate_update)
        strategy->validate_update(kc_view_root(now), kc_view_root(old), &errors);
    assert_errors(&errors, expected);
}

#endif
