/* SPDX-License-Identifier: Apache-2.0 */
/* Selection of controllers. */
#include "plane_testing.h"
#include "testing.h"

#include "kc/controllers.h"

static int add(const char *names, kc_error *err)
{
    kc_auto(kc_testenv) *env = kc_testenv_start(&(kc_testenv_opts){.seed = 1}, NULL);
    kc_controllers_opts opts = {.names = names};
    return kc_controllers_add(kc_testenv_manager(env), &opts, err);
}

static void all_controllers_are_added_by_default(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    assert_int_equal(add(NULL, &err), 0);
    assert_int_equal(add("*,-scheduler", &err), 0);
    assert_int_equal(add("deployment, replicaset", &err), 0);
}

static void unknown_controller_is_refused_with_suggestion(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    assert_true(add("*,-sheduler", &err) < 0);
    assert_non_null(strstr(kc_error_text(&err), "did you mean \"scheduler\"?"));
}

TESTS(all_controllers_are_added_by_default, unknown_controller_is_refused_with_suggestion)
