/* SPDX-License-Identifier: Apache-2.0 */
#include "kc/names.h"
#include "testing.h"

#define LABEL     "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
#define SUBDOMAIN LABEL "(\\." LABEL ")*"

static const char label_message[] =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must "
    "start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for "
    "validation is '" LABEL "')";
static const char subdomain_message[] =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'example.com', regex used for "
    "validation is '" SUBDOMAIN "')";
static const char name_part_message[] =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

/* c repeated n times, in the caller's buffer. */
static kc_str repeated(kc_buf *buf, char c, size_t n)
{
    kc_buf_clear(buf);
    for (size_t i = 0; i < n; i++)
        kc_buf_putc(buf, c);
    return kc_buf_str(buf);
}

static void assert_message(kc_name_rule rule, kc_str text, const char *first, const char *second)
{
    const char *messages[KC_NAME_MESSAGES] = {NULL};
    size_t n = kc_name_check(rule, text, messages);
    assert_int_equal(n, (first != NULL) + (second != NULL));
    if (first)
        assert_string_equal(messages[0], first);
    if (second)
        assert_string_equal(messages[1], second);
    assert_int_equal(kc_name_valid(rule, text), n == 0);
}

#define VALID(rule, ...)   assert_all(rule, true, (const char *[]){__VA_ARGS__, NULL})
#define INVALID(rule, ...) assert_all(rule, false, (const char *[]){__VA_ARGS__, NULL})

static void assert_all(kc_name_rule rule, bool valid, const char **names)
{
    for (; *names; names++)
        if (kc_name_valid(rule, kc_cstr(*names)) != valid)
            fail_msg("%s is %s", *names, valid ? "refused" : "accepted");
}

static void every_rule_accepts_valid_names(void **state)
{
    (void)state;
    VALID(KC_NAME_DNS_SUBDOMAIN, "a", "ab", "a-1", "0.1.a-b", "my-name.example.com");
    INVALID(KC_NAME_DNS_SUBDOMAIN, "", "A", "-a", "a-", "a..b", ".a", "a.", "a.-b", "a_b", "a b");
    VALID(KC_NAME_DNS_LABEL, "a", "0", "a--b", "1-a");
    INVALID(KC_NAME_DNS_LABEL, "", "a.b", "-", "a-", "-a", "a\n", "\xC3\xA9");
    VALID(KC_NAME_DNS_1035_LABEL, "a", "a0", "a-0");
    INVALID(KC_NAME_DNS_1035_LABEL, "", "0a", "0", "a-", "a.b");
    VALID(KC_NAME_PATH_SEGMENT, "", "system:masters", "a b", "...", "\xC3\xA9");
    INVALID(KC_NAME_PATH_SEGMENT, ".", "..", "a/b", "50%");
    VALID(KC_NAME_QUALIFIED, "simple", "now-with-dashes", "1-num.2-num", "Uppercase.Is_OK-123",
          "example.com/Uppercase.Is_OK-123", "1.2.3.4/5678", "a");
    INVALID(KC_NAME_QUALIFIED, "", "nospecialchars%^=@", "-a", "a-", "a/b/c", "/a", "a/",
            "Example.com/a", "a b", "example..com/x");
    VALID(KC_NAME_ANNOTATION_KEY, "Example.COM/My-Name", "x");
    INVALID(KC_NAME_ANNOTATION_KEY, "Example_COM/x", "a/b/c", "");
    VALID(KC_NAME_LABEL_VALUE, "", "a", "A_b.c-1");
    INVALID(KC_NAME_LABEL_VALUE, "-a", "a-", "a/b", "a b", ".");
    VALID(KC_NAME_WILDCARD, "*.a", "*.example.com");
    INVALID(KC_NAME_WILDCARD, "*", "*.", "a.b", "*.*.a", "*a.b");
    VALID(KC_NAME_SUBDOMAIN_LOOSE, "_a._b", "a_b.c");
    INVALID(KC_NAME_SUBDOMAIN_LOOSE, "__a", "a_", "_");
    VALID(KC_NAME_CONFIG_KEY, "a", "key.json", "a..", "_-", ".a");
    INVALID(KC_NAME_CONFIG_KEY, "", ".", "..", "..a", "a b");
    VALID(KC_NAME_ENV_VAR, "MY_VAR", "a.b-c", "_");
    INVALID(KC_NAME_ENV_VAR, "", "1a", "..", "a=b");
    VALID(KC_NAME_PORT, "http", "a-2", "8a");
    INVALID(KC_NAME_PORT, "", "80", "a--b", "-a", "a-", "HTTP", "abcdefghijklmnop");
    VALID(KC_NAME_C_IDENTIFIER, "_a1", "A");
    INVALID(KC_NAME_C_IDENTIFIER, "", "1a", "a-b");
    VALID(KC_NAME_HTTP_HEADER, "X-Header-Name", "1");
    INVALID(KC_NAME_HTTP_HEADER, "", "a_b");
    VALID(KC_NAME_PERCENT, "1%", "93%");
    INVALID(KC_NAME_PERCENT, "", "%", "1", "-1%", "1%%");
}

static void names_beyond_maximum_length_are_invalid(void **state)
{
    (void)state;
    kc_scoped(kc_buf) buf = {0};
    const char *at_most_63 = "must be no more than 63 characters",
               *at_most_253 = "must be no more than 253 characters";
    assert_message(KC_NAME_DNS_LABEL, repeated(&buf, 'a', 63), NULL, NULL);
    assert_message(KC_NAME_DNS_LABEL, repeated(&buf, 'a', 64), at_most_63, NULL);
    assert_message(KC_NAME_DNS_LABEL, repeated(&buf, 'A', 64), at_most_63, label_message);
    assert_message(KC_NAME_DNS_1035_LABEL, repeated(&buf, 'a', 64), at_most_63, NULL);
    assert_message(KC_NAME_DNS_SUBDOMAIN, repeated(&buf, 'a', 253), NULL, NULL);
    assert_message(KC_NAME_DNS_SUBDOMAIN, repeated(&buf, 'a', 254), at_most_253, NULL);
    assert_message(KC_NAME_DNS_SUBDOMAIN, repeated(&buf, '.', 254), at_most_253, subdomain_message);
    assert_message(KC_NAME_LABEL_VALUE, repeated(&buf, 'a', 63), NULL, NULL);
    assert_message(KC_NAME_LABEL_VALUE, repeated(&buf, 'a', 64), at_most_63, NULL);
    assert_message(KC_NAME_QUALIFIED, repeated(&buf, 'a', 64),
                   "name part must be no more than 63 characters", NULL);
    repeated(&buf, 'a', 254);
    kc_buf_puts(&buf, "/b");
    assert_message(KC_NAME_QUALIFIED, kc_buf_str(&buf),
                   "prefix part must be no more than 253 characters", NULL);
    repeated(&buf, 'A', 3 << 20);
    assert_false(kc_name_valid(KC_NAME_DNS_SUBDOMAIN, kc_buf_str(&buf)));
}

static void messages_match_kubernetes(void **state)
{
    (void)state;
    assert_message(KC_NAME_DNS_LABEL, KC_STR("a.b"), "must not contain dots", NULL);
    assert_message(KC_NAME_DNS_LABEL, KC_STR("a_b"), label_message, NULL);
    assert_message(KC_NAME_DNS_SUBDOMAIN, KC_STR("A"), subdomain_message, NULL);
    assert_message(
        KC_NAME_DNS_1035_LABEL, KC_STR("1"),
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start "
        "with an alphabetic character, and end with an alphanumeric character (e.g. "
        "'my-name',  or 'abc-123', regex used for validation is "
        "'[a-z]([-a-z0-9]*[a-z0-9])?')",
        NULL);
    assert_message(KC_NAME_PATH_SEGMENT, KC_STR("a/%"), "may not contain '/'",
                   "may not contain '%'");
    assert_message(KC_NAME_PATH_SEGMENT, KC_STR(".."), "may not be '..'", NULL);
    assert_message(KC_NAME_QUALIFIED, KC_STR(""), "name part must be non-empty", name_part_message);
    assert_message(KC_NAME_QUALIFIED, KC_STR("/a"), "prefix part must be non-empty", NULL);
    assert_message(
        KC_NAME_QUALIFIED, KC_STR("a/b/c"),
        "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and "
        "must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  "
        "or '123-abc', regex used for validation is "
        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix "
        "and '/' (e.g. 'example.com/MyName')",
        NULL);
    assert_message(
        KC_NAME_LABEL_VALUE, KC_STR("-"),
        "a valid label must be an empty string or consist of alphanumeric characters, '-', "
        "'_' or '.', and must start and end with an alphanumeric character (e.g. "
        "'MyValue',  or 'my_value',  or '12345', regex used for validation is "
        "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
        NULL);
    assert_message(KC_NAME_CONFIG_KEY, KC_STR("..a"), "must not start with '..'", NULL);
    const char *messages[KC_NAME_MESSAGES];
    assert_int_equal(kc_name_check(KC_NAME_QUALIFIED, KC_STR("A_/-"), messages), 2);
    assert_int_equal(kc_name_check(KC_NAME_PORT, KC_STR("-__________________--"), messages), 5);
    assert_string_equal(messages[4], "must not begin or end with a hyphen");
}

static void name_to_be_generated_may_end_with_a_dash(void **state)
{
    (void)state;
    const char *messages[KC_NAME_MESSAGES];
    static const struct {
        const char *text;
        kc_name_rule rule;
        size_t n;
    } table[] = {
        {"web-", KC_NAME_DNS_SUBDOMAIN, 0}, {"web--", KC_NAME_DNS_LABEL, 0},
        {"web", KC_NAME_DNS_LABEL, 0},      {"-", KC_NAME_DNS_LABEL, 1},
        {"W-", KC_NAME_DNS_LABEL, 0},       {"Web-", KC_NAME_DNS_LABEL, 1},
        {"..", KC_NAME_PATH_SEGMENT, 0},    {"a/", KC_NAME_PATH_SEGMENT, 1},
        {"", KC_NAME_DNS_SUBDOMAIN, 1},     {"1-", KC_NAME_DNS_1035_LABEL, 0},
    };
    for (size_t i = 0; i < KC_COUNT(table); i++)
        assert_int_equal(kc_name_check_prefix(table[i].rule, kc_cstr(table[i].text), messages),
                         table[i].n);
}

static void field_errors_contain_the_name(void **state)
{
    (void)state;
    kc_scoped(kc_field_errors) errors = {0};
    kc_scoped(kc_error) err = {0};
    kc_validate_name(&errors, "metadata.name", KC_NAME_DNS_LABEL, KC_STR("fine"));
    assert_int_equal(errors.list.n, 0);
    kc_validate_name(&errors, "metadata.name", KC_NAME_DNS_LABEL, KC_STR("a.b"));
    kc_validate_generate_name(&errors, "metadata.generateName", KC_NAME_PATH_SEGMENT,
                              KC_STR("a\"\n/"));
    assert_int_equal(errors.list.n, 2);
    assert_string_equal(errors.list.items[0].field, "metadata.name");
    assert_string_equal(errors.list.items[0].body, "Invalid value: \"a.b\": must not contain dots");
    assert_string_equal(errors.list.items[1].body,
                        "Invalid value: \"a\\\"\\n/\": may not contain '/'");
    kc_field_errors_to_error(&errors, KC_STR(""), KC_STR("Pod"), KC_STR("a.b"), &err);
    assert_error(&err, KC_INVALID, "Pod \"a.b\" is invalid: [metadata.name: Invalid value");
}

static void field_managers_are_validated(void **state)
{
    (void)state;
    kc_scoped(kc_field_errors) errors = {0};
    kc_scoped(kc_buf) buf = {0};
    kc_validate_field_manager(&errors, "m", KC_STR(""));
    kc_validate_field_manager(&errors, "m", KC_STR("kubectl apply \xC3\xA9 \xF0\x9F\x98\x80"));
    kc_validate_field_manager(&errors, "m", repeated(&buf, 'a', 128));
    assert_int_equal(errors.list.n, 0);
    kc_validate_field_manager(&errors, "m", repeated(&buf, '\n', 129));
    assert_int_equal(errors.list.n, 1);
    assert_string_equal(errors.list.items[0].body, "Too long: may not be more than 128 bytes");
    kc_validate_field_manager(&errors, "m", KC_STR("a\n\xC2\xA0"));
    assert_int_equal(errors.list.n, 3);
    assert_string_equal(errors.list.items[1].body,
                        "Invalid value: \"a\\n\\u00a0\": invalid character U+000A (at position 1)");
    assert_string_equal(errors.list.items[2].body,
                        "Invalid value: \"a\\n\\u00a0\": invalid character U+00A0 (at position 2)");
}

static void generated_names_end_with_five_random_characters(void **state)
{
    (void)state;
    char first[KC_GENERATED_NAME], second[KC_GENERATED_NAME];
    kc_rand rand, same;
    kc_rand_seed(&rand, 7);
    kc_rand_seed(&same, 7);
    kc_str name = kc_generate_name(KC_STR("web-"), &rand, first);
    assert_int_equal(name.n, 9);
    assert_true(kc_str_starts(name, KC_STR("web-")));
    assert_str(kc_generate_name(KC_STR("web-"), &same, second),
               first); /* The seed determines the name. */
    assert_string_not_equal(kc_generate_name(KC_STR("web-"), &same, second).p, first);
    assert_int_equal(kc_generate_name(KC_STR(""), &rand, first).n, 5);
    for (int i = 0; i < 1000; i++)
        for (const char *p = kc_generate_name(KC_STR(""), &rand, first).p; *p; p++)
            assert_non_null(strchr("bcdfghjklmnpqrstvwxz2456789", *p));
}

static void long_base_of_generated_name_is_truncated(void **state)
{
    (void)state;
    char out[KC_GENERATED_NAME];
    kc_scoped(kc_buf) buf = {0};
    kc_rand rand;
    kc_rand_seed(&rand, 7);
    kc_str name = kc_generate_name(repeated(&buf, 'x', 500), &rand, out);
    assert_int_equal(name.n, 63);
    assert_str(kc_str_sub(name, 0, 58),
               "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
    assert_true(kc_name_valid(KC_NAME_DNS_LABEL, name));
}

TESTS(every_rule_accepts_valid_names, names_beyond_maximum_length_are_invalid,
      messages_match_kubernetes, name_to_be_generated_may_end_with_a_dash,
      field_errors_contain_the_name, field_managers_are_validated,
      generated_names_end_with_five_random_characters, long_base_of_generated_name_is_truncated)
