/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "apiserver/webhook/webhook_endpoint.h"

static void assert_cleaned(const char *path, bool escaped, const char *expected)
{
    kc_scoped(kc_buf) out = {0};
    kc__hook_path_clean(&out, kc_cstr(path), escaped);
    assert_string_equal(kc_buf_cstr(&out), expected);
}

static void slashes_and_dots_are_cleaned(void **state)
{
    (void)state;
    assert_cleaned("", true, "/");
    assert_cleaned("/", true, "/");
    assert_cleaned("//", true, "/");
    assert_cleaned("//validate", true, "/validate");
    assert_cleaned("/a//b/../c/", true, "/a/c");
    assert_cleaned("/../../x", true, "/x");
    assert_cleaned("/./a/.", true, "/a");
    assert_cleaned("a/b", false, "/a/b");
}

static void escapes_of_a_url_are_normalized(void **state)
{
    (void)state;
    assert_cleaned("/a%2Fb", true, "/a/b");
    assert_cleaned("/a%2e%2e/b", true, "/a../b");
    assert_cleaned("/a/%2e%2e/b", true, "/b");
    assert_cleaned("/a b", true, "/a%20b");
    assert_cleaned("/%41%3f", true, "/A%3F");
    assert_cleaned("/a;k=v&w=x", true, "/a;k=v&w=x");
    assert_cleaned("/{\"x\":1}", true, "/%7B%22x%22:1%7D");
}

static void path_of_a_service_is_not_unescaped(void **state)
{
    (void)state;
    assert_cleaned("/a%2Fb", false, "/a%252Fb");
}

TESTS(slashes_and_dots_are_cleaned, escapes_of_a_url_are_normalized,
      path_of_a_service_is_not_unescaped)
