/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/background/trust_merge.h"
#include "testing.h"

#define PEM(text) "-----BEGIN CERTIFICATE-----\n" text "\n-----END CERTIFICATE-----\n"

static void assert_merged(const char *name, const char *published, const char *own,
                          const char *expected)
{
    kc_scoped(kc_buf) out = {0};
    kc__bootstrap_merge_trust(name, published ? kc_cstr(published) : (kc_str){0}, kc_cstr(own),
                              &out);
    assert_string_equal(kc_buf_cstr(&out), expected);
}

static void missing_certificates_are_added_behind_the_others(void **state)
{
    (void)state;
    assert_merged("client-ca-file", NULL, PEM("ours"), PEM("ours"));
    assert_merged("client-ca-file", "", PEM("ours"), PEM("ours"));
    assert_merged("client-ca-file", PEM("theirs"), PEM("ours"), PEM("theirs") PEM("ours"));
    assert_merged("client-ca-file", "text", PEM("ours"), "text\n" PEM("ours"));
    assert_merged("client-ca-file", PEM("a") PEM("b"), PEM("c") PEM("b") PEM("d"),
                  PEM("a") PEM("b") PEM("c") PEM("d"));
}

static void certificates_with_other_line_breaks_are_the_same(void **state)
{
    (void)state;
    assert_merged("client-ca-file", PEM("on\nes") PEM("x"), PEM("ones"), PEM("on\nes") PEM("x"));
    assert_merged("client-ca-file", PEM("ones"), PEM("one"), PEM("ones") PEM("one"));
    assert_merged("client-ca-file", "-----BEGIN CERTIFICATE-----\nones", PEM("ones"),
                  "-----BEGIN CERTIFICATE-----\nones\n" PEM("ones"));
}

static void missing_names_are_added_behind_the_others(void **state)
{
    (void)state;
    assert_merged("requestheader-allowed-names", NULL, "[\"a\"]", "[\"a\"]");
    assert_merged("requestheader-allowed-names", "[\"b\", \"a\"]", "[\"a\"]", "[\"b\", \"a\"]");
    assert_merged("requestheader-allowed-names", "[\"b\"]", "[\"a\",\"b\"]", "[\"b\",\"a\"]");
    assert_merged("requestheader-allowed-names", "{}", "[\"a\"]", "[\"a\"]");
    assert_merged("requestheader-allowed-names", "[", "[]", "[]");
}

TESTS(missing_certificates_are_added_behind_the_others,
      certificates_with_other_line_breaks_are_the_same, missing_names_are_added_behind_the_others)
