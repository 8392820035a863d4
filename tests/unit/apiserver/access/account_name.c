/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/access/account_name.h"
#include "testing.h"

static void account_has_name_and_group_of_its_namespace(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    assert_str(kc__user_account_name(&arena, KC_STR("default"), KC_STR("web")),
               "system:serviceaccount:default:web");
    assert_str(kc__user_account_group(&arena, KC_STR("default")), "system:serviceaccounts:default");
}

static void name_of_an_account_is_split(void **state)
{
    (void)state;
    kc_str ns = {0}, name = {0};
    assert_true(kc__user_account_split(KC_STR("system:serviceaccount:default:a.b"), &ns, &name));
    assert_str(ns, "default");
    assert_str(name, "a.b");
}

static void other_user_names_are_not_split(void **state)
{
    (void)state;
    static const char *const names[] = {
        "bob",
        "system:serviceaccount:",
        "system:serviceaccount:default",
        "system:serviceaccount:default:",
        "system:serviceaccount::web",
        "system:serviceaccount:default:web:x",
        "system:serviceaccount:a.b:web",
        "system:serviceaccount:default:Web",
        "system:serviceaccounts:default:web",
    };
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        kc_str ns = {0}, name = {0};
        assert_false(kc__user_account_split(kc_cstr(names[i]), &ns, &name));
        assert_int_equal(ns.n + name.n, 0);
    }
}

TESTS(account_has_name_and_group_of_its_namespace, name_of_an_account_is_split,
      other_user_names_are_not_split)
