/* SPDX-License-Identifier: Apache-2.0 */
/*
 * h1_read.c: parses requests with llhttp, strictly: no lenient flag is set.
 *
 * Input may be split anywhere, so the pieces that llhttp finds are appended to one text buffer and
 * recorded as offsets; when the head is complete, the offsets become the slices of the request.
 * This file also rejects what llhttp accepts and a server must not: more than one space between the
 * parts of a request line, a missing or second Host, transfer codings other than chunked, versions
 * other than 1.0 and 1.1, the methods of RTSP, and unlimited heads, chunk extensions and trailers.
 *
 * llhttp is paused after the head of a request with a body, so that the server can decide about it
 * (h1.c) before the first byte of the body is buffered. Buffers grow with the received size, not
 * with the announced one, and are charged to the budget as they grow.
 *
 * A callback that refuses a request responds to it (kc__h1_refuse sets `broken`) and stops llhttp.
 */
#include "http/h1/h1_internal.h"

enum {
    MAX_EXTRA = 16 * 1024, /* Bytes of chunk extensions and trailers. */
    KEEP_TEXT = 2048,      /* Larger buffers are freed after the request, */
    KEEP_FIELDS = 32,      /* as are longer lists of fields, */
    KEEP_ARENA = 4096,     /* and an arena that needed more than its first chunk. */
};

static h1 *h1_of(llhttp_t *parser)
{
    return parser->data;
}

static int refuse_h1_request(llhttp_t *parser, int status, const char *why)
{
    kc__h1_refuse(h1_of(parser), status, why);
    return HPE_USER;
}

/* ---- the budget ---- */

/* Returns the size of the request's buffers. */
static size_t buffered(const h1 *h)
{
    return (h->text.cap > KC__HTTP_FREE_HEAD ? h->text.cap : 0) + h->body.cap;
}

static bool charge(h1 *h)
{
    return kc__http_charge_set(h->conn->budget, &h->charge, buffered(h));
}

/* ---- the head's text ---- */

static int add_text(llhttp_t *parser, const char *at, size_t n)
{
    h1 *h = h1_of(parser);
    size_t before = h->text.cap;
    if (h->text.n + n > h->conn->limits->max_head)
        return refuse_h1_request(parser, 431, "the head of the request is too large");
    kc_buf_append(&h->text, kc_str_of(at, n));
    if (h->text.cap != before && !charge(h))
        return refuse_h1_request(parser, 429, "too many unauthenticated requests");
    return 0;
}

/* ---- the request line: METHOD SP TARGET SP "HTTP/" VERSION ---- */

/* Returns how many bytes of the request came before `at`. */
static size_t place_of(const h1 *h, const char *at)
{
    return h->head_bytes + (size_t)(at - h->chunk);
}

static int on_method(llhttp_t *parser, const char *at, size_t n)
{
    h1 *h = h1_of(parser);
    h->line_at = place_of(h, at + n);
    return 0;
}

/* A part of the line begins at `at` and must be `gap` bytes after the previous one. */
static int check_gap(llhttp_t *parser, const char *at, size_t gap)
{
    h1 *h = h1_of(parser);
    if (place_of(h, at) == h->line_at + gap)
        return 0;
    return refuse_h1_request(parser, 400,
                             "a request line must have exactly one space between its parts");
}

static int on_url(llhttp_t *parser, const char *at, size_t n)
{
    h1 *h = h1_of(parser);
    int r = h->target_end ? 0 : check_gap(parser, at, 1);
    if (r || (r = add_text(parser, at, n)))
        return r;
    h->target_end = h->text.n;
    h->line_at = place_of(h, at + n);
    return 0;
}

static int on_version(llhttp_t *parser, const char *at, size_t n)
{
    h1 *h = h1_of(parser);
    (void)n;
    int r = h->line_done ? 0 : check_gap(parser, at, sizeof(" HTTP/") - 1);
    h->line_done = true;
    return r;
}

/* ---- fields ---- */

/* Trailers are parsed and dropped: nothing uses them, and treated as header fields they would
 * bypass the checks of the head. */
static int drop_extra(llhttp_t *parser, const char *at, size_t n)
{
    h1 *h = h1_of(parser);
    (void)at;
    h->extra_bytes += n + 1;
    return h->extra_bytes > MAX_EXTRA
               ? refuse_h1_request(parser, 400, "chunk extensions and trailers are too large")
               : 0;
}

static int on_field(llhttp_t *parser, const char *at, size_t n)
{
    h1 *h = h1_of(parser);
    if (h->head_done)
        return drop_extra(parser, at, n);
    const h1_field *last = h->fields.n ? kc_vec_last(&h->fields) : NULL;
    if (!last || last->name_end) {
        if (h->fields.n >= h->conn->limits->max_headers)
            return refuse_h1_request(parser, 431, "too many header fields");
        kc_vec_push(&h->fields, (h1_field){.name = (uint32_t)h->text.n});
    }
    return add_text(parser, at, n);
}

static int on_field_end(llhttp_t *parser)
{
    h1 *h = h1_of(parser);
    if (h->head_done)
        return 0;
    h1_field *field = kc_vec_last(&h->fields);
    field->name_end = field->value = field->value_end = (uint32_t)h->text.n;
    return 0;
}

static int on_value(llhttp_t *parser, const char *at, size_t n)
{
    return h1_of(parser)->head_done ? drop_extra(parser, at, n) : add_text(parser, at, n);
}

static int on_value_end(llhttp_t *parser)
{
    h1 *h = h1_of(parser);
    if (!h->head_done)
        kc_vec_last(&h->fields)->value_end = (uint32_t)h->text.n;
    return 0;
}

/* ---- the complete head ---- */

static bool is_http_method(unsigned method)
{
    return method != HTTP_PRI && method != HTTP_SOURCE && method != HTTP_CONNECT &&
           !(method >= HTTP_DESCRIBE && method <= HTTP_FLUSH);
}

static int make_headers(h1 *h)
{
    const char *text = kc_buf_cstr(&h->text);
    kc__http_headers *headers = &h->x.request.headers;
    headers->max_count = h->conn->limits->max_headers;
    headers->max_bytes = h->conn->limits->max_head;
    kc_vec_reserve(&headers->list, h->fields.n);
    kc_vec_each (&h->fields, f) {
        kc_scoped(kc_error) err = {0};
        kc_str name = kc_str_of(text + f->name, f->name_end - f->name);
        kc_str value = kc_str_of(text + f->value, f->value_end - f->value);
        if (kc__http_headers_add(headers, name, value, &err) < 0)
            return refuse_h1_request(&h->parser, err.reason == KC_TOO_LARGE ? 431 : 400,
                                     kc_error_text(&err));
    }
    return 0;
}

static int make_target(h1 *h)
{
    kc_scoped(kc_error) err = {0};
    kc__http_request *request = &h->x.request;
    kc_str raw = kc_str_of(h->text.p, h->target_end);
    if (kc__target_parse(raw, NULL, &h->arena, &request->target, &err) == 0)
        return 0;
    return refuse_h1_request(&h->parser, err.reason == KC_TOO_LARGE ? 414 : 400,
                             kc_error_text(&err));
}

/* Exactly one Host, which an absolute-form target overrides; optional in HTTP/1.0. */
static int check_h1_host(h1 *h)
{
    kc__http_header *host = NULL;
    size_t count = 0;
    kc_vec_each (&h->x.request.headers.list, field) {
        if (!kc_str_eq_nocase(field->name, KC_STR("Host")))
            continue;
        host = field;
        count++;
    }
    if (count > 1 || (!count && !h->old))
        return refuse_h1_request(&h->parser, 400,
                                 count ? "more than one Host field" : "the Host field is missing");
    if (host && h->x.request.target.authority.n)
        host->value = h->x.request.target.authority;
    return 0;
}

static int check_coding(h1 *h)
{
    size_t at = 0;
    kc_str coding;
    const kc__http_headers *headers = &h->x.request.headers;
    if (!kc__http_headers_next(headers, KC_STR("Transfer-Encoding"), &at, &coding))
        return 0;
    if (h->old || (h->parser.flags & F_CONTENT_LENGTH))
        return refuse_h1_request(
            &h->parser, 400, "Transfer-Encoding is not allowed with HTTP/1.0 or Content-Length");
    if (!kc_str_eq_nocase(coding, KC_STR("chunked")) ||
        kc__http_headers_next(headers, KC_STR("Transfer-Encoding"), &at, &coding))
        return refuse_h1_request(&h->parser, 501,
                                 "unsupported Transfer-Encoding: only chunked is supported");
    return 0;
}

static bool is_chunked(const h1 *h)
{
    return h->parser.flags & F_CHUNKED;
}

static bool has_body(const h1 *h)
{
    return is_chunked(h) || h->parser.content_length > 0;
}

static int check_body(h1 *h)
{
    if (is_chunked(h) || h->parser.content_length <= h->conn->limits->max_body)
        return 0;
    return refuse_h1_request(&h->parser, 413, "the body of the request is too large");
}

static int check_expect(h1 *h)
{
    kc_str expect = kc__http_headers_get(&h->x.request.headers, KC_STR("Expect"));
    if (!expect.n || h->old)
        return 0;
    if (!kc_str_eq_nocase(expect, KC_STR("100-continue")))
        return refuse_h1_request(&h->parser, 417,
                                 "unsupported expectation: only 100-continue is supported");
    h->expects = has_body(h);
    return 0;
}

static int check_line(h1 *h)
{
    unsigned major = h->parser.http_major, minor = h->parser.http_minor;
    if (major != 1 || minor > 1)
        return refuse_h1_request(&h->parser, 505,
                                 "unsupported HTTP version: only 1.0 and 1.1 are supported");
    if (!is_http_method(h->parser.method))
        return refuse_h1_request(&h->parser, 501, "unknown method");
    h->old = minor == 0;
    h->x.request.protocol = h->old ? "HTTP/1.0" : "HTTP/1.1";
    h->x.request.upgradable = !h->old;
    h->x.request.method = kc_cstr(llhttp_method_name(h->parser.method));
    return 0;
}

static int on_head(llhttp_t *parser)
{
    static int (*const steps[])(h1 *h) = {check_line,   make_headers, make_target, check_h1_host,
                                          check_coding, check_body,   check_expect};
    h1 *h = h1_of(parser);
    for (size_t i = 0; i < KC_COUNT(steps); i++) {
        int r = steps[i](h);
        if (r)
            return r;
    }
    h->head_done = true;
    h->keep_alive = llhttp_should_keep_alive(parser);
    h->x.request.received = h->now;
    parser->upgrade =
        0; /* Treat it as an ordinary request; the response decides about an upgrade. */
    return has_body(h) ? HPE_PAUSED : 0;
}

/* ---- the body ---- */

size_t kc__h1_body_within(const h1 *h, size_t max)
{
    bool known = !is_chunked(h) && !h->expects && h->parser.content_length <= max;
    return known ? (size_t)h->parser.content_length : SIZE_MAX;
}

/* The buffer doubles as it grows, but not beyond the announced size. */
void kc__h1_expect_body(h1 *h)
{
    bool known = !is_chunked(h);
    if (known && h->parser.content_length > h->max_body)
        kc__h1_refuse(h, 413, "the body of the request is too large");
    h->body.limit = known ? (size_t)h->parser.content_length : h->max_body;
}

void kc__h1_continue(h1 *h)
{
    if (h->expects)
        kc_buf_append(&h->conn->out, KC_STR("HTTP/1.1 100 Continue\r\n\r\n"));
    h->expects = false;
}

static int on_body(llhttp_t *parser, const char *at, size_t n)
{
    h1 *h = h1_of(parser);
    size_t before = h->body.cap;
    if (h->body.n + n > h->max_body)
        return refuse_h1_request(parser, 413, "the body of the request is too large");
    kc_buf_append(&h->body, kc_str_of(at, n));
    if (h->body.failed || (h->body.cap != before && !charge(h)))
        return refuse_h1_request(parser, 429, "too many requests are in flight");
    return 0;
}

static int on_complete(llhttp_t *parser)
{
    h1_of(parser)->complete = true;
    return HPE_PAUSED;
}

static const llhttp_settings_t settings = {
    .on_method = on_method,
    .on_url = on_url,
    .on_version = on_version,
    .on_header_field = on_field,
    .on_header_field_complete = on_field_end,
    .on_header_value = on_value,
    .on_header_value_complete = on_value_end,
    .on_headers_complete = on_head,
    .on_body = on_body,
    .on_chunk_extension_name = drop_extra,
    .on_chunk_extension_value = drop_extra,
    .on_message_complete = on_complete,
};

/* ---- running the parser ---- */

void kc__h1_reader_init(h1 *h)
{
    llhttp_init(&h->parser, HTTP_REQUEST, &settings);
    h->parser.data = h;
}

static void release_buffer(kc_buf *buf)
{
    if (buf->cap > KEEP_TEXT)
        kc_buf_done(buf);
    else
        kc_buf_clear(buf);
}

void kc__h1_drop_body(h1 *h)
{
    release_buffer(&h->body);
    if (h->charge.bytes)
        charge(h);
}

void kc__h1_reader_reset(h1 *h)
{
    kc__h1_reader_init(h);
    h->started = h->head_done = h->complete = h->paused = h->line_done = false;
    h->expects = h->accepted = h->discard = false;
    h->head_bytes = h->extra_bytes = h->target_end = h->line_at = 0;
    h->x.state = NULL;
    h->x.request.body = (kc_str){0};
    kc__http_charge_end(h->conn->budget, &h->charge);
    release_buffer(&h->text);
    release_buffer(&h->body);
    kc_vec_clear(&h->fields);
    if (h->fields.cap > KEEP_FIELDS) {
        kc_vec_done(&h->fields);
        kc__http_headers_done(&h->x.request.headers);
    }
    kc__http_headers_clear(&h->x.request.headers);
    if (h->arena.used > KEEP_ARENA)
        kc_arena_done(&h->arena);
    else
        kc_arena_clear(&h->arena);
}

/* An unknown method is 501; text that cannot be a method is 400. */
static int status_of(const h1 *h, llhttp_errno_t e, kc_str bytes)
{
    size_t n = 0;
    bool ours = h->parser.http_major == 1 && h->parser.http_minor <= 1;
    if ((e == HPE_INVALID_VERSION && !ours) || e == HPE_PAUSED_H2_UPGRADE)
        return 505;
    if (e != HPE_INVALID_METHOD || h->head_bytes)
        return 400;
    while (n < bytes.n && kc__http_is_token_char(bytes.p[n]))
        n++;
    return n && n < bytes.n && bytes.p[n] == ' ' ? 501 : 400;
}

static void explain(h1 *h, llhttp_errno_t e, kc_str bytes)
{
    const char *reason = llhttp_get_error_reason(&h->parser);
    int status = status_of(h, e, bytes);
    kc__h1_refuse(h, status, reason && *reason ? reason : llhttp_errno_name(e));
}

size_t kc__h1_read(h1 *h, kc_str bytes, h1_event *ret_event)
{
    h->chunk = bytes.p;
    if (h->paused)
        llhttp_resume(&h->parser);
    llhttp_errno_t e = llhttp_execute(&h->parser, bytes.p, bytes.n);
    h->started = true;
    h->paused = e == HPE_PAUSED && !h->complete;
    *ret_event = e != HPE_PAUSED ? H1_MORE : h->complete ? H1_COMPLETE : H1_HEAD;
    if (e == HPE_PAUSED)
        return (size_t)(llhttp_get_error_pos(&h->parser) - bytes.p);
    if (e != HPE_OK && !h->broken)
        explain(h, e, bytes);
    if (!h->head_done)
        h->head_bytes += bytes.n;
    if (!h->broken && h->head_bytes > h->conn->limits->max_head)
        kc__h1_refuse(h, 431, "the head of the request is too large");
    return bytes.n;
}
