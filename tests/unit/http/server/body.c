/* SPDX-License-Identifier: Apache-2.0 */
/* Response bodies as a connection pulls them, compressed and not; gzip itself. */
#include "testing.h"

#include "http/server/body.h"

#include <zlib.h>

/* ---- a source with a number of lines ---- */

typedef struct lines {
    size_t left;
    size_t waits_at; /* Says once that it has to wait when so many are left. */
    int ended, released;
} lines;

static kc__http_fill fill_lines(kc_buf *out, size_t room, void *user)
{
    lines *l = user;
    for (size_t end = out->n + room; out->n < end && l->left; l->left--) {
        if (l->left == l->waits_at) {
            l->waits_at = 0;
            return KC__HTTP_FILL_WAIT;
        }
        kc_buf_printf(out, "line %06zu\n", l->left);
    }
    return l->left ? KC__HTTP_FILL_MORE : KC__HTTP_FILL_END;
}

static void end_lines(void *user)
{
    ((lines *)user)->ended++;
}

static void release_lines(void *owner)
{
    ((lines *)owner)->released++;
}

static const kc__http_body_source source = {fill_lines, end_lines};

enum { LINE = 12 };

static kc__http_fill fill_text(kc__http_body *body, kc_buf *out, size_t room)
{
    return kc__http_body_fill_sink(body, &(kc__http_body_sink){.text = out}, room);
}

/* Pulls everything, at most `room` at a time; the last verdict. */
static kc__http_fill pull(kc__http_body *body, kc_buf *out, size_t room)
{
    for (int i = 0; i < 100000; i++) {
        kc__http_fill verdict = fill_text(body, out, room);
        if (verdict != KC__HTTP_FILL_MORE)
            return verdict;
    }
    fail_msg("the end is missing");
    return KC__HTTP_FILL_ABORT;
}

static kc__http_request request_accepting(const char *coding)
{
    kc__http_request request = {.method = KC_STR_INIT("GET")};
    if (coding)
        kc__http_headers_add(&request.headers, KC_STR("Accept-Encoding"), kc_cstr(coding), NULL);
    return request;
}

static void gunzip(kc_str text, kc_buf *out)
{
    z_stream z = {.next_in = (Bytef *)text.p, .avail_in = (uInt)text.n};
    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    int r = Z_OK;
    while (r == Z_OK) {
        char *to = kc_buf_reserve(out, 65536);
        z.next_out = (Bytef *)to;
        z.avail_out = 65536;
        r = inflate(&z, Z_SYNC_FLUSH);
        out->n += 65536 - z.avail_out;
        if (r == Z_OK && !z.avail_in && z.avail_out)
            break;
    }
    inflateEnd(&z);
}

static void expect_lines(kc_str text, size_t first)
{
    kc_scoped(kc_buf) expected = {0};
    for (; first; first--)
        kc_buf_printf(&expected, "line %06zu\n", first);
    assert_int_equal(text.n, expected.n);
    assert_true(kc_str_eq(text, kc_buf_str(&expected)));
}

/* ---- responses with a body ---- */

static void head_204_and_304_have_no_body(void **state)
{
    (void)state;
    assert_true(kc__http_response_has_body(KC_STR("GET"), 200));
    assert_true(kc__http_response_has_body(KC_STR("POST"), 404));
    assert_false(kc__http_response_has_body(KC_STR("HEAD"), 200));
    assert_false(kc__http_response_has_body(KC_STR("GET"), 204));
    assert_false(kc__http_response_has_body(KC_STR("GET"), 304));
}

/* ---- text ---- */

static void text_is_sent_in_parts_of_the_available_room(void **state)
{
    (void)state;
    lines l = {0};
    kc__http_request request = request_accepting(NULL);
    kc__http_body body;
    kc_scoped(kc_buf) out = {0};
    kc__http_body_begin(
        &body, &request,
        &(kc__http_response){.body = KC_STR("abcdefgh"), .owner = &l, .release = release_lines});
    assert_true(body.known && body.length == 8 && !body.gzip);
    assert_int_equal(fill_text(&body, &out, 3), KC__HTTP_FILL_MORE);
    assert_str(kc_buf_str(&out), "abc");
    assert_int_equal(pull(&body, &out, 3), KC__HTTP_FILL_END);
    assert_str(kc_buf_str(&out), "abcdefgh");
    assert_int_equal(l.released, 0);
    kc__http_body_done(&body);
    kc__http_body_done(&body);
    assert_int_equal(l.released, 1);
}

static void long_text_is_compressed_when_accepted_and_allowed(void **state)
{
    (void)state;
    kc_scoped(kc_buf) text = {0};
    lines l = {.left = 20000};
    fill_lines(&text, SIZE_MAX / 2, &l);
    static const struct {
        const char *coding;
        bool gzip, compressed;
        size_t length;
    } cases[] = {
        {"gzip", true, true, 240000},        {"gzip", false, false, 240000},
        {NULL, true, false, 240000},         {"gzip;q=0", true, false, 240000},
        {"br, gzip", true, true, 128 << 10}, {"gzip", true, false, (128 << 10) - 1},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc__http_request request = request_accepting(cases[i].coding);
        kc_scoped(kc_buf) out = {0};
        kc_scoped(kc_buf) back = {0};
        kc_str part = kc_str_of(text.p, cases[i].length);
        kc__http_body body;
        kc__http_body_begin(&body, &request,
                            &(kc__http_response){.body = part, .gzip = cases[i].gzip});
        assert_int_equal(body.gzip != NULL, cases[i].compressed);
        assert_int_equal(body.known, !cases[i].compressed);
        assert_int_equal(pull(&body, &out, 65536), KC__HTTP_FILL_END);
        if (cases[i].compressed) {
            assert_true(out.n < part.n / 4);
            gunzip(kc_buf_str(&out), &back);
        }
        assert_true(kc_str_eq(kc_buf_str(cases[i].compressed ? &back : &out), part));
        kc__http_body_done(&body);
        kc__http_headers_done(&request.headers);
    }
}

/* ---- sources ---- */

static void source_is_pulled_on_demand(void **state)
{
    (void)state;
    lines l = {.left = 10};
    kc__http_request request = request_accepting(NULL);
    kc__http_body body;
    kc_scoped(kc_buf) out = {0};
    kc__http_body_begin(&body, &request,
                        &(kc__http_response){.source = &source, .user = &l, .gzip = true});
    assert_false(body.known);
    assert_int_equal(fill_text(&body, &out, 2 * LINE), KC__HTTP_FILL_MORE);
    assert_int_equal(out.n, 2 * LINE);
    assert_int_equal(pull(&body, &out, 2 * LINE), KC__HTTP_FILL_END);
    expect_lines(kc_buf_str(&out), 10);
    kc__http_body_done(&body);
    assert_int_equal(l.ended, 1);
}

static void short_source_is_not_compressed_and_has_a_length(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 1000};
    for (size_t i = 0; i < KC_COUNT(counts); i++) {
        lines l = {.left = counts[i]};
        kc__http_request request = request_accepting("gzip");
        kc__http_body body;
        kc_scoped(kc_buf) out = {0};
        kc__http_body_begin(&body, &request,
                            &(kc__http_response){.source = &source, .user = &l, .gzip = true});
        assert_null(body.gzip);
        assert_true(body.known);
        assert_int_equal(body.length, counts[i] * LINE);
        assert_int_equal(pull(&body, &out, 100000), KC__HTTP_FILL_END);
        expect_lines(kc_buf_str(&out), counts[i]);
        kc__http_body_done(&body);
        kc__http_headers_done(&request.headers);
        assert_int_equal(l.ended, 1);
    }
}

static void long_source_is_compressed(void **state)
{
    (void)state;
    static const size_t lengths[] = {0, (size_t)50000 * LINE};
    for (size_t i = 0; i < KC_COUNT(lengths); i++) {
        lines l = {.left = 50000};
        kc__http_request request = request_accepting("gzip");
        kc__http_body body;
        kc_scoped(kc_buf) out = {0};
        kc_scoped(kc_buf) back = {0};
        kc__http_body_begin(&body, &request,
                            &(kc__http_response){
                                .source = &source, .user = &l, .gzip = true, .length = lengths[i]});
        assert_non_null(body.gzip);
        assert_false(body.known);
        assert_int_equal(pull(&body, &out, 65536), KC__HTTP_FILL_END);
        gunzip(kc_buf_str(&out), &back);
        expect_lines(kc_buf_str(&back), 50000);
        kc__http_body_done(&body);
        kc__http_headers_done(&request.headers);
    }
}

static void compressed_source_that_waits_is_flushed(void **state)
{
    (void)state;
    lines l = {.left = 20000, .waits_at = 1000};
    kc__http_request request = request_accepting("gzip");
    kc__http_body body;
    kc_scoped(kc_buf) out = {0};
    kc_scoped(kc_buf) back = {0};
    kc__http_body_begin(&body, &request,
                        &(kc__http_response){.source = &source, .user = &l, .gzip = true});
    assert_int_equal(pull(&body, &out, 65536), KC__HTTP_FILL_WAIT);
    gunzip(kc_buf_str(&out), &back);
    assert_int_equal(back.n, 19000 * LINE);
    kc_buf_clear(&back);
    assert_int_equal(pull(&body, &out, 65536), KC__HTTP_FILL_END);
    gunzip(kc_buf_str(&out), &back);
    expect_lines(kc_buf_str(&back), 20000);
    kc__http_body_done(&body);
    kc__http_headers_done(&request.headers);
}

static void source_that_waits_early_is_not_compressed(void **state)
{
    (void)state;
    lines l = {.left = 20000, .waits_at = 19990};
    kc__http_request request = request_accepting("gzip");
    kc__http_body body;
    kc_scoped(kc_buf) out = {0};
    kc__http_body_begin(&body, &request,
                        &(kc__http_response){.source = &source, .user = &l, .gzip = true});
    assert_true(!body.gzip && !body.known);
    assert_int_equal(pull(&body, &out, 65536), KC__HTTP_FILL_WAIT);
    assert_int_equal(out.n, 10 * LINE);
    assert_int_equal(pull(&body, &out, 65536), KC__HTTP_FILL_END);
    expect_lines(kc_buf_str(&out), 20000);
    kc__http_body_done(&body);
    kc__http_headers_done(&request.headers);
}

static void watch_is_not_read_ahead(void **state)
{
    (void)state;
    lines l = {.left = 20000};
    kc__http_request request = request_accepting("gzip");
    kc__http_body body;
    kc__http_body_begin(
        &body, &request,
        &(kc__http_response){.source = &source, .user = &l, .gzip = true, .flush = true});
    assert_int_equal(l.left, 20000);
    assert_null(body.gzip);
    kc__http_body_done(&body);
    kc__http_headers_done(&request.headers);
    assert_int_equal(l.ended, 1);
}

static void source_with_wrong_length_is_aborted(void **state)
{
    (void)state;
    static const size_t promises[] = {9 * LINE, 11 * LINE};
    for (size_t i = 0; i < KC_COUNT(promises); i++) {
        lines l = {.left = 10};
        kc__http_request request = request_accepting(NULL);
        kc__http_body body;
        kc_scoped(kc_buf) out = {0};
        kc__http_body_begin(
            &body, &request,
            &(kc__http_response){.source = &source, .user = &l, .length = promises[i]});
        assert_true(body.known && body.length == promises[i]);
        assert_int_equal(pull(&body, &out, 3 * LINE), KC__HTTP_FILL_ABORT);
        assert_true(out.n <= promises[i]);
        kc__http_body_done(&body);
    }
}

TESTS(head_204_and_304_have_no_body, text_is_sent_in_parts_of_the_available_room,
      long_text_is_compressed_when_accepted_and_allowed, source_is_pulled_on_demand,
      short_source_is_not_compressed_and_has_a_length, long_source_is_compressed,
      compressed_source_that_waits_is_flushed, source_that_waits_early_is_not_compressed,
      watch_is_not_read_ahead, source_with_wrong_length_is_aborted)
