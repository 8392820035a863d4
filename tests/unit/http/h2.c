/* SPDX-License-Identifier: Apache-2.0 */
/* Requests and answers over HTTP/2, and what becomes of them when the client or the connection goes
 * away. Flow control is in h2_flow.c, abuse in h2_abuse.c. */
#include "h2_testing.h"

static void a_request_is_answered(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    int32_t id = get(&p, "/version?pretty=1");
    settle(&p);
    assert_int_equal(reply_of(&p, id)->status, 200);
    assert_str(kc_buf_str(&reply_of(&p, id)->body), "ok");
    assert_str(kc_buf_str(&reply_of(&p, id)->head),
               "x-kind: test\ncontent-type: text/plain\ncontent-length: 2\n"
               "date: Thu, 01 Jan 1970 00:00:00 GMT\n");
    assert_true(reply_of(&p, id)->ended && reply_of(&p, id)->closed);
    assert_int_equal(reply_of(&p, id)->code, NGHTTP2_NO_ERROR);
    plane_close(&p);
}

static void the_handler_sees_the_request(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    nghttp2_nv more[] = {nv("accept", "*/*"), nv("x-empty", "")};
    request(&p, "POST", "/a/../b%20c?x=1", more, 2, KC_STR("hello"), false);
    settle(&p);
    assert_str(kc_buf_str(&p.seen),
               "POST /b c\nhost: localhost:6080\naccept: */*\nx-empty: \n5 bytes\n");
    plane_close(&p);
}

TESTS(a_request_is_answered, the_handler_sees_the_request)
