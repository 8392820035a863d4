/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reconciler_testing.h: helpers for tests of reconcilers: the fields of an object, and its Events.
 */
#ifndef KC_RECONCILER_TESTING_H
#define KC_RECONCILER_TESTING_H

#define SCENARIO_OF_RECONCILERS
#include "scenario_testing.h"

static inline KC_UNUSED void apply_file(kc_testenv *env, const char *path)
{
    kc_scoped(kc_error) err = {0};
    OK(kc_testenv_apply_file(env, path, &err), &err);
}

/* The string at a path, "" if it does not exist; the caller frees it. */
static inline KC_UNUSED char *text_of(kc_testenv *env, const kc_kind *kind, const char *name,
                                      const char *path)
{
    kc_auto(kc_object) *object = look_up(env, kind, name);
    assert_non_null(object);
    kc_auto(kc_view) *view = kc_view_of(object);
    kc_buf out = {0};
    const kc_value *value = kc_value_nested(kc_view_root(view), path);
    if (kc_value_as_str(value).p)
        kc_buf_append(&out, kc_value_as_str(value));
    else if (value)
        kc_json_write(&out, value);
    return kc_buf_take(&out);
}

#define assert_field_is(env, kind, name, path, text)              \
    do {                                                          \
        kc_autofree char *text_ = text_of(env, kind, name, path); \
        assert_string_equal(text_, text);                         \
    } while (0)

/* Number of Events with this reason, and `part` in their message. */
static inline KC_UNUSED size_t count_recorded_events(kc_testenv *env, const char *reason,
                                                     const char *part)
{
    kc_scoped(kc_object_list) events = {0};
    size_t n = 0;
    kc_client_list(kc_testenv_client(env), &kc_kind_event, NULL, &events, NULL);
    for (size_t i = 0; i < events.n; i++) {
        kc_auto(kc_view) *view = kc_view_of(events.items[i]);
        const kc_value *root = kc_view_root(view);
        n += kc_str_is(kc_value_as_str(kc_value_get(root, "reason")), reason) &&
             kc_str_contains(kc_value_as_str(kc_value_get(root, "message")), kc_cstr(part));
    }
    return n;
}

static inline KC_UNUSED void patch_object(kc_testenv *env, const kc_kind *kind, const char *name,
                                          const char *json)
{
    kc_scoped(kc_error) err = {0};
    kc_autofree char *patch = kc_strdup(json);
    for (char *c = patch; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    kc_auto(kc_object) *now = kc_client_patch(kc_testenv_client(env), kind, KC_KEY("default", name),
                                              KC_PATCH_MERGE, kc_cstr(patch), NULL, &err);
    OK(now ? 0 : -1, &err);
}

#endif
