/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plane_testing.h: helpers for tests with a test environment.
 *
 *     kc_auto(kc_testenv) *env = plane(7);                       simulated, with this seed
 *     kc_auto(kc_object) *map = make(env, "{kind: ConfigMap, …}");
 */
#ifndef KC_PLANE_TESTING_H
#define KC_PLANE_TESTING_H

#include "kc/kinds.h"
#include "kc/testenv.h"
#include "testing.h"

static inline KC_UNUSED kc_testenv *plane(uint64_t seed)
{
    return kc_testenv_start(&(kc_testenv_opts){.seed = seed}, NULL);
}

/* Fails the test with the error's text unless the call succeeded: ok(kc_f(…, &err), &err). */
static inline KC_UNUSED int plane_ok(int result, const kc_error *err, const char *file, int line)
{
    if (result < 0) {
        print_error("%s:%d: %s\n", file, line, kc_error_text(err));
        fail();
    }
    return result;
}
#define OK(call, err) plane_ok(call, err, __FILE__, __LINE__)

/* Creates an object from JSON (' stands for "); the caller owns it. */
static inline KC_UNUSED kc_object *make(kc_testenv *env, const char *json)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *wanted = object_of(json);
    kc_object *made = kc_client_create(kc_testenv_client(env), wanted, NULL, &err);
    if (!made)
        fail_msg("%s", kc_error_text(&err));
    return made;
}

/* NULL if it does not exist. */
static inline KC_UNUSED kc_object *look_up(kc_testenv *env, const kc_kind *kind, const char *name)
{
    return kc_client_get(kc_testenv_client(env), kind, KC_KEY("default", name), NULL, NULL);
}

static inline KC_UNUSED void settle(kc_testenv *env)
{
    kc_scoped(kc_error) err = {0};
    if (kc_testenv_settle(env, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
}

#define CONFIG_MAP(name) \
    "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'" name "','namespace':'default'}}"

#endif
