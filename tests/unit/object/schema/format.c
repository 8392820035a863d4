/* SPDX-License-Identifier: Apache-2.0 */
#include "schema_testing.h"

static bool fits_format(const char *format, const char *text)
{
    kc_autofree char *json = kc_asprintf("{'type':'string','format':'%s'}", format);
    kc_auto(kc_schema) *schema = schema_of(json);
    kc_scoped(kc_buf) quoted = {0};
    kc_scoped(kc_field_errors) errors = {0};
    kc_json_quote(&quoted, kc_cstr(text));
    kc_auto(kc_view) *value = kc_view_parse(kc_buf_str(&quoted), NULL, NULL);
    return kc_schema_validate(schema, kc_view_root(value), NULL, &errors);
}

static void kc__assert_format(const char *format, const char *const *texts, bool expected)
{
    for (; *texts; texts++)
        if (fits_format(format, *texts) != expected)
            fail_msg("%s: \"%s\" should be %s", format, *texts, expected ? "valid" : "invalid");
}

#define assert_valid(format, ...) \
    kc__assert_format(format, (const char *const[]){__VA_ARGS__, NULL}, true)
#define assert_invalid(format, ...) \
    kc__assert_format(format, (const char *const[]){__VA_ARGS__, NULL}, false)

static void invalid_format_is_type_error_with_value(void **state)
{
    (void)state;
    assert_errors("{'type':'object','properties':{'t':{'type':'string','format':'date-time'}}}",
                  "{'t':'now'}",
                  "t: Invalid value: \"now\": t in body must be of type date-time: \"now\"");
}

static void format_implies_string_type(void **state)
{
    (void)state;
    assert_errors("{'type':'string','format':'date'}", "5",
                  "<nil>: Invalid value: \"int64\":  in body must be of type date: \"int64\"");
    assert_errors("{'format':'date'}", "true",
                  "<nil>: Invalid value: \"\":  in body must be of type date: \"\"");
    assert_errors("{'type':'string','format':'date'}", "[]",
                  "<nil>: Invalid value: \"array\":  in body must be of type string: \"array\"");
}

static void unknown_formats_allow_everything(void **state)
{
    (void)state;
    assert_valid("nonsense", "", "x");
    assert_valid("int32", "x");
    assert_errors("{'type':'integer','format':'int32'}", "99999999999", "");
}

static void dashes_in_format_name_are_ignored(void **state)
{
    (void)state;
    assert_invalid("date-time", "x");
    assert_invalid("datetime", "x");
    assert_invalid("u-u-i-d", "x");
}

static void times_and_durations_are_validated(void **state)
{
    (void)state;
    assert_valid("date", "2020-02-29", "0000-01-01");
    assert_invalid("date", "2021-02-29", "2020-13-01", "2020-1-1", "2020-01-00", "2020-01-01x", "");
    assert_valid("date-time", "2020-01-01T00:00:00Z", "2020-01-01t23:59:59.5+01:00");
    assert_invalid("date-time", "2020-01-01T24:00:00Z", "2020-01-01T00:00:60Z",
                   "2020-01-01T00:00:00", "2020-01-01 00:00:00Z", "2020-01-01T00:00:00+0100");
    assert_valid("duration", "1h30m", "-1.5s", "0", "1\u00b5s", "2 days", "3 Weeks", "1d");
    assert_invalid("duration", "", "1", "h", "1y", "9223372036854775808", ".s");
}

static void network_addresses_are_validated(void **state)
{
    (void)state;
    assert_valid("ipv4", "10.0.0.1", "010.0.0.1", "::ffff:1.2.3.4");
    assert_invalid("ipv4", "10.0.0", "10.0.0.256", "::1", "10.0.0.1 ");
    assert_valid("ipv6", "::", "::1", "1:2:3:4:5:6:7:8", "1::", "::ffff:1.2.3.4");
    assert_invalid("ipv6", "1:2:3:4:5:6:7:8:9", "1::2::3", "12345::", "10.0.0.1", "fe80::1%eth0",
                   "::ffff:01.2.3.4", "1:", ":1");
    assert_valid("cidr", "10.0.0.0/8", "::/0", "fe80::1/128");
    assert_invalid("cidr", "10.0.0.0", "10.0.0.0/33", "::/129", "10.0.0.0/");
    assert_valid("mac", "00:11:22:aa:BB:cc", "00-11-22-33-44-55", "0011.2233.4455",
                 "00:11:22:33:44:55:66:77");
    assert_invalid("mac", "00:11:22:33:44", "00:11:22:33:44-55", "0:1:2:3:4:5", "001122334455");
}

static void host_names_are_validated(void **state)
{
    (void)state;
    assert_valid("hostname", "localhost", "a.example.com", "xn--x.de", "b\u00fccher.example");
    assert_invalid("hostname", "-a", "a_b", "a..b", "1.2.3.4", "",
                   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.com");
    assert_valid("k8s-short-name", "a", "a-1");
    assert_invalid("k8s-short-name", "", "-a", "a-", "A", "a.b");
    assert_valid("k8s-long-name", "a.b-c.d");
    assert_invalid("k8s-long-name", "", "a..b", ".a", "a.", "a.-b");
}

static void uris_and_mail_addresses_are_validated(void **state)
{
    (void)state;
    assert_valid("uri", "http://h:80/p?q", "/path", "mailto:x", "*", "http://[::1]:8/",
                 "http://u:p@h/%20", "a+b://h");
    assert_invalid("uri", "", "path", "http://h:x/", "http://[::1/", "http://h/%2", "http://a b/",
                   ":x", "http://h%20/");
    assert_valid("email", "a@b.c", "A B <a@b.c>", "\"a b\"@c", "a@[10.0.0.1]", "a@b (c (d))",
                 "g: a@b;", "\u00e9@\u00e9.x");
    assert_invalid("email", "", "a", "a@", "@b", "a..b@c", ".a@b", "a@b, c@d", "g:;", "a@[x]",
                   "<a@b", "a@b (c", "a@[01.2.3.4]");
}

static void identifiers_are_validated(void **state)
{
    (void)state;
    assert_valid("uuid", "123e4567-e89b-12d3-a456-426614174000",
                 "123E4567E89B12D3A456426614174000");
    assert_invalid("uuid", "123e4567-e89b-12d3-a456-42661417400",
                   "g23e4567-e89b-12d3-a456-42661417400");
    assert_valid("uuid3", "123e4567-e89b-32d3-a456-426614174000");
    assert_invalid("uuid3", "123e4567-e89b-42d3-a456-426614174000");
    assert_valid("uuid4", "123e4567-e89b-42d3-B456-426614174000");
    assert_invalid("uuid4", "123e4567-e89b-42d3-c456-426614174000");
    assert_valid("uuid5", "123e4567-e89b-52d3-9456-426614174000");
    assert_invalid("uuid5", "123e4567-e89b-12d3-9456-426614174000");
    assert_valid("bsonobjectid", "507f1f77bcf86cd799439011");
    assert_invalid("bsonobjectid", "507f1f77bcf86cd79943901", "507f1f77bcf86cd79943901g");
    assert_valid("isbn", "0321751043", "978-0321751041");
    assert_invalid("isbn", "0321751044", "978-0321751042");
    assert_valid("isbn10", "080442957X");
    assert_invalid("isbn10", "978-0321751041");
    assert_valid("isbn13", "978 0321751041");
    assert_invalid("isbn13", "0321751043");
    assert_valid("creditcard", "4111 1111 1111 1111", "378282246310005", "30569309025904");
    assert_invalid("creditcard", "4111 1111 1111 1112", "1234", "");
    assert_valid("ssn", "123-45-6789", "123 45 6789");
    assert_invalid("ssn", "123456789", "123-456-789");
}

static void other_formats_are_validated(void **state)
{
    (void)state;
    assert_valid("hexcolor", "#fff", "A0b1C2");
    assert_invalid("hexcolor", "#ffff", "#ggg", "");
    assert_valid("rgbcolor", "rgb(0,10,255)", "rgb( 1 , 2 , 3 )");
    assert_invalid("rgbcolor", "rgb(256,0,0)", "rgb(01,0,0)", "rgb(1,2)", "rgb(1,2,3", "");
    assert_valid("byte", "YQ==", "YWI=", "YWJj");
    assert_invalid("byte", "", "YQ=", "YQ", "Y===", "YQ==YQ==", "YW-j");
    assert_valid("password", "", "secret");
}

TESTS(invalid_format_is_type_error_with_value, format_implies_string_type,
      unknown_formats_allow_everything, dashes_in_format_name_are_ignored,
      times_and_durations_are_validated, network_addresses_are_validated, host_names_are_validated,
      uris_and_mail_addresses_are_validated, identifiers_are_validated, other_formats_are_validated)
