/* SPDX-License-Identifier: Apache-2.0 */
#include "cel_testing.h"

static const cel_setup plain = {0};

static void urls_are_taken_apart(void **state)
{
    (void)state;
    static const cel_row rows[] = {
        {"url('https://user@Example.com:80/a%20b?x=1&x=2&y=%41+b#f').getHost()",
         "\"Example.com:80\""},
        {"url('HTTPS://example.com/').getScheme()", "\"https\""},
        {"url('https://[::1]:80/').getHostname()", "\"::1\""},
        {"url('https://example.com:80/').getPort()", "\"80\""},
        {"url('https://example.com/').getPort()", "\"\""},
        {"url('/a b').getEscapedPath()", "\"/a%20b\""},
        {"url('https://h/?x=1&x=2&y=%41+b').getQuery()",
         "{\"x\": [\"1\", \"2\"], \"y\": [\"A b\"]}"},
        {"isURL('../x')", "false"},
        {"isURL('https://a:b:c')", "false"},
        {"url('https://a/') == url('https://a/')", "true"},
    };
    ASSERT_CEL(&plain, rows);
}

static void urls_are_normalized_and_rejected_as_in_go(void **state)
{
    (void)state;
#define NO_URL "error: URL parse error during conversion from string: parse "
    static const cel_row rows[] = {
        {"url('')", NO_URL "\"\": empty url"},
        {"url('x')", NO_URL "\"x\": invalid URI for request"},
        {"url(':x')", NO_URL "\":x\": missing protocol scheme"},
        {"url('/%zz')", NO_URL "\"/%zz\": invalid URL escape \"%zz\""},
        {"url('http://a b/')", NO_URL "\"http://a b/\": invalid character \" \" in host name"},
        {"url('http://a:x/')", NO_URL "\"http://a:x/\": invalid port \":x\" after host"},
        {"url('http://[::1/')", NO_URL "\"http://[::1/\": missing ']' in host"},
        {"url('http://a%41/')", NO_URL "\"http://a%41/\": invalid URL escape \"%41\""},
        {"url('http://%a:b@h/')", NO_URL "\"http://%a:b@h/\": invalid URL escape \"%a\""},
        {"url('http://ü@h/')", NO_URL "\"http://ü@h/\": net/url: invalid userinfo"},
        {"url('/a\\tb')", NO_URL "\"/a\\tb\": net/url: invalid control character in URL"},
        {"url('//a b/')", NO_URL "\"//a b/\": invalid character \" \" in host name"},
        {"url('mailto:x#%z')", NO_URL "\"mailto:x#%z\": invalid URL escape \"%z\""},
        {"url('http://[fe80::1%25a%20b]:80/').getHostname()", "\"fe80::1%a b\""},
        {"url('http://%C3%A9/').getHost()", "\"é\""},
        {"url('//host/path').getHost()", "\"host\""},
        {"url('http://a/%41 b').getEscapedPath()", "\"/A%20b\""},
        {"url('http://a/%41').getEscapedPath()", "\"/%41\""},
        {"url('mailto:x').getEscapedPath()", "\"\""},
        {"url('HTTP://a/%41 ') == url('http://a/A%20')", "true"},
        {"url('http://a/?') == url('http://a/')", "false"},
        {"url('http://a#') == url('http://a')", "error: URL parse error during conversion from "
                                                "string: parse \"http://a#\": invalid character "
                                                "\"#\" in host name"},
        {"url('http://a/#') == url('http://a/')", "true"},
        {"format.uri().validate('a b').value()",
         "[\"parse \\\"a b\\\": invalid URI for request\"]"},
    };
    ASSERT_CEL(&plain, rows);
}

TESTS(urls_are_taken_apart, urls_are_normalized_and_rejected_as_in_go)
