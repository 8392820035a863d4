/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/access/impersonation.h"

#include "testing.h"

#include "kc/buf.h"

/* Reads header fields, given as name, value, …, NULL. The result is the user as JSON, the error, or
 * "none". */
static char *impersonated(const char *const *fields)
{
    kc_scoped(kc__http_headers) headers = {0};
    kc_scoped(kc_error) err = {0};
    kc_arena arena = {0};
    kc__impersonation as;
    kc__user user;
    kc_buf out = {0};
    for (size_t i = 0; fields[i]; i += 2)
        assert_int_equal(
            kc__http_headers_add(&headers, kc_cstr(fields[i]), kc_cstr(fields[i + 1]), NULL), 0);
    if (kc__impersonation_read(&headers, &arena, &as, &err) < 0) {
        kc_buf_puts(&out, kc_error_text(&err));
    } else if (!as.requested) {
        kc_buf_puts(&out, "none");
    } else {
        kc__impersonation_user(&as, &arena, &user);
        kc__user_write(&out, &user);
    }
    kc__impersonation_strip(&headers);
    kc_vec_each (&headers.list, field)
        assert_false(kc_str_starts(field->name, KC_STR("I")));
    kc_arena_done(&arena);
    return kc_buf_take(&out);
}

#define ASSERT_AS(expected, ...)                                                        \
    do {                                                                                \
        kc_autofree char *got = impersonated((const char *const[]){__VA_ARGS__, NULL}); \
        assert_string_equal(got, expected);                                             \
    } while (0)

static void request_without_fields_is_not_impersonated(void **state)
{
    (void)state;
    ASSERT_AS("none", "Accept", "x");
    ASSERT_AS("none", "Impersonate-User", "");
}

static void user_gets_named_groups_and_authenticated(void **state)
{
    (void)state;
    ASSERT_AS("{\"username\":\"bob\",\"groups\":[\"system:authenticated\"]}", "impersonate-user",
              "bob");
    ASSERT_AS("{\"username\":\"bob\",\"groups\":[\"a\",\"b\",\"system:authenticated\"]}",
              "Impersonate-User", "bob", "Impersonate-Group", "a", "Impersonate-Group", "b");
    ASSERT_AS("{\"username\":\"bob\",\"groups\":[\"system:unauthenticated\"]}", "Impersonate-User",
              "bob", "Impersonate-Group", "system:unauthenticated");
    ASSERT_AS("{\"username\":\"system:anonymous\",\"groups\":[\"system:unauthenticated\"]}",
              "Impersonate-User", "system:anonymous");
}

static void first_user_counts(void **state)
{
    (void)state;
    ASSERT_AS("{\"username\":\"bob\",\"groups\":[\"system:authenticated\"]}", "Impersonate-User",
              "bob", "Impersonate-User", "root");
}

static void service_account_gets_its_groups_unless_groups_are_named(void **state)
{
    (void)state;
    ASSERT_AS("{\"username\":\"system:serviceaccount:ns:robot\",\"groups\":[\"system:"
              "serviceaccounts\",\"system:serviceaccounts:ns\",\"system:authenticated\"]}",
              "Impersonate-User", "system:serviceaccount:ns:robot");
    ASSERT_AS("{\"username\":\"system:serviceaccount:ns:robot\",\"groups\":[\"x\",\"system:"
              "authenticated\"]}",
              "Impersonate-User", "system:serviceaccount:ns:robot", "Impersonate-Group", "x");
    ASSERT_AS("{\"username\":\"system:serviceaccount:ns:a:b\",\"groups\":[\"system:"
              "authenticated\"]}",
              "Impersonate-User", "system:serviceaccount:ns:a:b");
}

static void extra_keys_are_lower_case_decoded_and_in_order(void **state)
{
    (void)state;
    ASSERT_AS("{\"username\":\"bob\",\"uid\":\"7\",\"groups\":[\"system:authenticated\"],"
              "\"extra\":{\"a.io/k\":[\"1\"],\"bad%zz\":[\"4\"],\"scopes\":[\"2\",\"3\"]}}",
              "Impersonate-User", "bob", "Impersonate-Extra-Scopes", "2",
              "Impersonate-Extra-A.io%2fK", "1", "impersonate-extra-SCOPES", "3",
              "Impersonate-Extra-Bad%ZZ", "4", "Impersonate-Uid", "7");
}

static void parts_without_a_user_are_an_error(void **state)
{
    (void)state;
    ASSERT_AS("requested [{Group  a    } {Group  b    }] without impersonating a user",
              "Impersonate-Group", "a", "Impersonate-Group", "b");
    ASSERT_AS("requested [{UID  7  authentication.k8s.io/v1  }] without impersonating a user",
              "Impersonate-Uid", "7");
    ASSERT_AS(
        "requested [{UserExtra  v  authentication.k8s.io/v1  k}] without impersonating a user",
        "Impersonate-Extra-K", "v");
}

TESTS(request_without_fields_is_not_impersonated, user_gets_named_groups_and_authenticated,
      first_user_counts, service_account_gets_its_groups_unless_groups_are_named,
      extra_keys_are_lower_case_decoded_and_in_order, parts_without_a_user_are_an_error)
