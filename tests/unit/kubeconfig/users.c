/* SPDX-License-Identifier: Apache-2.0 */
/* The users of a kubeconfig, whatever its contexts say. */
#include "kubeconfig/users.h"

#include "kc/file.h"
#include "testing.h"

#include <stdio.h>
#include <unistd.h>

static int read_users(const char *text, kc__kubeconfig_users *ret, kc_error *err)
{
    char path[] = "/tmp/kc-users-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(kc_file_put(path, kc_cstr(text), NULL), 0);
    const int result = kc__kubeconfig_users_read(path, ret, err);
    unlink(path);
    return result;
}

static void every_user_is_read_in_the_order_of_the_file(void **state)
{
    (void)state;
    kc_scoped(kc__kubeconfig_users) users = {0};
    assert_int_equal(read_users("users: [{name: b, user: {token: t}}, {name: a, user: {}}]\n"
                                "contexts: [{name: x, context: {cluster: none, user: a}}]\n"
                                "current-context: x\n",
                                &users, NULL),
                     0);
    assert_int_equal(users.users.n, 2);
    assert_string_equal(users.users.items[0].name, "b");
    assert_string_equal(users.users.items[0].config->token, "t");
    assert_string_equal(users.users.items[1].name, "a");
    assert_null(users.users.items[1].config->token);
    assert_string_equal(users.current, "a");
}

static void file_without_users_or_context_is_empty(void **state)
{
    (void)state;
    kc_scoped(kc__kubeconfig_users) users = {0};
    assert_int_equal(read_users("current-context: x\n", &users, NULL), 0);
    assert_int_equal(users.users.n, 0);
    assert_null(users.current);
}

static void invalid_user_is_an_error_although_no_context_names_it(void **state)
{
    (void)state;
    kc_scoped(kc__kubeconfig_users) users = {0};
    kc_scoped(kc_error) err = {0};
    assert_true(read_users("users: [{name: a, user: {token: t}}, {name: b, user: {token: 1}}]\n",
                           &users, &err) < 0);
    assert_contains(kc_error_text(&err), "user \"b\": token is not a string");
    assert_int_equal(users.users.n, 0);
    assert_true(kc__kubeconfig_users_read("/nowhere/at/all", &users, &err) < 0);
}

TESTS(every_user_is_read_in_the_order_of_the_file, file_without_users_or_context_is_empty,
      invalid_user_is_an_error_although_no_context_names_it)
