/* SPDX-License-Identifier: Apache-2.0 */
/* URLs of webhooks, with the errors of Go's url.Parse and Kubernetes' ValidateWebhookURL. */
#include "apiserver/kinds/admissionregistration/webhook_url.h"

#include "testing.h"

#define FORM "; desired format: https://host[/path]"

static void note(kc_field_error_type type, kc_str shown, const char *detail, void *user)
{
    kc_buf *out = user;
    kc_buf_puts(out, out->n ? "\n" : "");
    if (type == KC_FIELD_INVALID)
        kc_buf_printf(out, "\"%.*s\": ", KC_ARG(shown));
    kc_buf_puts(out, detail);
}

static void expect(const char *url, const char *errors)
{
    kc_scoped(kc_buf) out = {0};
    kc__hook_url_check(kc_cstr(url), note, &out);
    assert_string_equal(kc_buf_cstr(&out), errors);
}

static void https_url_with_host_port_and_path_is_valid(void **state)
{
    (void)state;
    expect("https://host.example", "");
    expect("https://host.example/", "");
    expect("https://host.example:8443/a/b%20c", "");
    expect("https://[::1]:8443/a", "");
    expect("https://[::1]", "");
    expect("HTTPS://host.example/p", "");
    expect("https://host:", "");
}

static void other_scheme_user_query_or_fragment_is_invalid(void **state)
{
    (void)state;
    expect("http://x", "\"http\": 'https' is the only allowed URL scheme" FORM);
    expect("https:///p", "\"\": host must be specified" FORM);
    expect("https:x", "\"\": host must be specified" FORM);
    expect("https://u:p@x", "\"u:p\": user information is not permitted in the URL");
    expect("https://@x", "\"\": user information is not permitted in the URL");
    expect("https://x/p#f", "\"f\": fragments are not permitted in the URL");
    expect("https://x/p?a=b", "\"a=b\": query parameters are not permitted in the URL");
    expect("//x", "\"\": 'https' is the only allowed URL scheme" FORM);
    expect("http://u@x/?q#f", "\"http\": 'https' is the only allowed URL scheme" FORM "\n"
                              "\"u\": user information is not permitted in the URL\n"
                              "\"f\": fragments are not permitted in the URL\n"
                              "\"q\": query parameters are not permitted in the URL");
}

#define INVALID(reason) "url must be a valid URL: parse " reason FORM

static void unparsable_url_is_invalid_with_error_of_go(void **state)
{
    (void)state;
    expect("https://a b/", INVALID("\"https://a b/\": invalid character \" \" in host name"));
    expect("https://x\r\nHost: y/",
           INVALID("\"https://x\\r\\nHost: y/\": net/url: invalid control character in URL"));
    expect("https://x:port/", INVALID("\"https://x:port/\": invalid port \":port\" after host"));
    expect("https://[::1/", INVALID("\"https://[::1/\": missing ']' in host"));
    expect("https://x/%zz", INVALID("\"https://x/%zz\": invalid URL escape \"%zz\""));
    expect("https://x/%4", INVALID("\"https://x/%4\": invalid URL escape \"%4\""));
    expect("https://%41/", INVALID("\"https://%41/\": invalid URL escape \"%41\""));
    expect("https://a{b}/@x", INVALID("\"https://a{b}/@x\": invalid character \"{\" in host name"));
    expect("https://u r@x/", INVALID("\"https://u r@x/\": net/url: invalid userinfo"));
    expect("://x", INVALID("\"://x\": missing protocol scheme"));
    expect("1a:b/c", INVALID("\"1a:b/c\": first path segment in URL cannot contain colon"));
    expect("https://x/#%zz", INVALID("\"https://x/#%zz\": invalid URL escape \"%zz\""));
}

TESTS(https_url_with_host_port_and_path_is_valid, other_scheme_user_query_or_fragment_is_invalid,
      unparsable_url_is_invalid_with_error_of_go)
