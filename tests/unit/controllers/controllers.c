/* SPDX-License-Identifier: Apache-2.0 */
/* Which controllers are chosen. */
#include "plane_testing.h"
#include "testing.h"

#include "kc/controllers.h"

static int add(const char *names, kc_error *err)
{
    kc_auto(kc_testenv) *env = kc_testenv_start(&(kc_testenv_opts){.seed = 1}, NULL);
    kc_controllers_opts opts = {.names = names};
    return kc_controllers_add(kc_testenv_manager(env), &opts, err);
}

static void all_are_added_unless_told_otherwise(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    assert_int_equal(add(NULL, &err), 0);
    assert_int_equal(add("*,-scheduler", &err), 0);
    assert_int_equal(add("deployment, replicaset", &err), 0);
}

static void an_unknown_name_is_refused_with_the_nearest(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    assert_int_equal(add("*,-sheduler", &err), -1);
    assert_non_null(strstr(kc_error_text(&err), "did you mean \"scheduler\"?"));
}

TESTS(all_are_added_unless_told_otherwise, an_unknown_name_is_refused_with_the_nearest)
