/* SPDX-License-Identifier: Apache-2.0 */
/*
 * h1_read.c: reads requests with llhttp, strictly: no lenient flag is set.
 *
 * Bytes may be split anywhere, so what llhttp finds is appended to one buffer of text, with places
 * instead of pointers; when the head is complete, the places become the slices of the request. What
 * llhttp lets pass and a server must not: a missing or second Host, codings other than chunked,
 * versions other than 1.0 and 1.1, RTSP's methods, and endless heads, chunk extensions and
 * trailers.
 *
 * A callback that refuses a request answers it (kc__h1_refuse sets `broken`) and stops llhttp.
 */
#include "http/h1_internal.h"

enum {
    MAX_EXTRA = 16 * 1024,    /* Bytes of chunk extensions and trailers. */
    BODY_AT_ONCE = 64 * 1024, /* Room made for a body by its Content-Length alone. */
    KEEP_TEXT = 2048,         /* Larger buffers are given back after the request, */
    KEEP_FIELDS = 32,         /* so are lists of that many fields, */
    KEEP_ARENA = 4096,        /* and so is an arena that needed more than its first chunk. */
};

static h1 *h1_of(llhttp_t *parser)
{
    return parser->data;
}

static int refuse(llhttp_t *parser, int status, const char *why)
{
    kc__h1_refuse(h1_of(parser), status, why);
    return HPE_USER;
}

/* ---- the head's text ---- */

static int add_text(llhttp_t *parser, const char *at, size_t n)
{
    h1 *h = h1_of(parser);
    if (h->text.n + n > h->conn->limits->max_head)
        return refuse(parser, 431, "the head of the request is too large");
    kc_buf_append(&h->text, kc_str_of(at, n));
    return 0;
}

static int on_url(llhttp_t *parser, const char *at, size_t n)
{
    int r = add_text(parser, at, n);
    h1_of(parser)->target_end = h1_of(parser)->text.n;
    return r;
}

/* Trailers are read and dropped: nobody needs them, and as header fields they would be smuggled
 * past what has looked at those. */
static int drop_extra(llhttp_t *parser, const char *at, size_t n)
{
    h1 *h = h1_of(parser);
    (void)at;
    h->extra_bytes += n + 1;
    return h->extra_bytes > MAX_EXTRA
               ? refuse(parser, 400, "too much beside the body in its chunks")
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
            return refuse(parser, 431, "too many header fields");
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
    kc__headers *headers = &h->x.request.headers;
    headers->max_count = h->conn->limits->max_headers;
    headers->max_bytes = h->conn->limits->max_head;
    kc_vec_reserve(&headers->list, h->fields.n);
    kc_vec_each (&h->fields, f) {
        kc_scoped(kc_error) err = {0};
        kc_str name = kc_str_of(text + f->name, f->name_end - f->name);
        kc_str value = kc_str_of(text + f->value, f->value_end - f->value);
        if (kc__headers_add(headers, name, value, &err) < 0)
            return refuse(&h->parser, err.reason == KC_TOO_LARGE ? 431 : 400, kc_error_text(&err));
    }
    return 0;
}

static int make_target(h1 *h)
{
    kc_scoped(kc_error) err = {0};
    kc__request *request = &h->x.request;
    kc_str raw = kc_str_of(h->text.p, h->target_end);
    if (kc__target_parse(raw, NULL, &h->arena, &request->target, &err) == 0)
        return 0;
    return refuse(&h->parser, err.reason == KC_TOO_LARGE ? 414 : 400, kc_error_text(&err));
}

/* One Host, which an absolute target overrules; HTTP/1.0 may do without. */
static int check_host(h1 *h)
{
    kc__header *host = NULL;
    size_t count = 0;
    kc_vec_each (&h->x.request.headers.list, field) {
        if (!kc_str_eq_nocase(field->name, KC_STR("Host")))
            continue;
        host = field;
        count++;
    }
    if (count > 1 || (!count && !h->old))
        return refuse(&h->parser, 400,
                      count ? "more than one Host field" : "the Host field is missing");
    if (host && h->x.request.target.authority.n)
        host->value = h->x.request.target.authority;
    return 0;
}

static int check_coding(h1 *h)
{
    size_t at = 0;
    kc_str coding;
    const kc__headers *headers = &h->x.request.headers;
    if (!kc__headers_next(headers, KC_STR("Transfer-Encoding"), &at, &coding))
        return 0;
    if (h->old || (h->parser.flags & F_CONTENT_LENGTH))
        return refuse(&h->parser, 400, "Transfer-Encoding does not belong here");
    if (!kc_str_eq_nocase(coding, KC_STR("chunked")) ||
        kc__headers_next(headers, KC_STR("Transfer-Encoding"), &at, &coding))
        return refuse(&h->parser, 501, "the only Transfer-Encoding that is understood is chunked");
    return 0;
}

static int check_body(h1 *h)
{
    size_t max = h->conn->limits->max_body;
    if (h->parser.flags & F_CHUNKED)
        return 0;
    if (h->parser.content_length > max)
        return refuse(&h->parser, 413, "the body of the request is too large");
    if (h->parser.content_length)
        kc_buf_reserve(&h->body, KC_MIN((size_t)h->parser.content_length, BODY_AT_ONCE));
    return 0;
}

static int check_expect(h1 *h)
{
    kc_str expect = kc__headers_get(&h->x.request.headers, KC_STR("Expect"));
    bool has_body = (h->parser.flags & F_CHUNKED) || h->parser.content_length > 0;
    if (!expect.n || h->old)
        return 0;
    if (!kc_str_eq_nocase(expect, KC_STR("100-continue")))
        return refuse(&h->parser, 417, "an expectation that cannot be met");
    if (has_body)
        kc_buf_append(&h->conn->out, KC_STR("HTTP/1.1 100 Continue\r\n\r\n"));
    return 0;
}

static int check_line(h1 *h)
{
    unsigned major = h->parser.http_major, minor = h->parser.http_minor;
    if (major != 1 || minor > 1)
        return refuse(&h->parser, 505, "only HTTP/1.0 and HTTP/1.1 are spoken here");
    if (!is_http_method(h->parser.method))
        return refuse(&h->parser, 501, "this method is not known");
    h->old = minor == 0;
    h->x.request.protocol = h->old ? "HTTP/1.0" : "HTTP/1.1";
    h->x.request.upgradable = !h->old;
    h->x.request.method = kc_cstr(llhttp_method_name(h->parser.method));
    return 0;
}

static int on_head(llhttp_t *parser)
{
    static int (*const steps[])(h1 *h) = {check_line,   make_headers, make_target, check_host,
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
    parser->upgrade = 0; /* The request is a request; what follows it, the answer decides. */
    return 0;
}

static int on_body(llhttp_t *parser, const char *at, size_t n)
{
    h1 *h = h1_of(parser);
    if (h->body.n + n > h->conn->limits->max_body)
        return refuse(parser, 413, "the body of the request is too large");
    kc_buf_append(&h->body, kc_str_of(at, n));
    return 0;
}

static int on_complete(llhttp_t *parser)
{
    (void)parser;
    return HPE_PAUSED;
}

static const llhttp_settings_t settings = {
    .on_url = on_url,
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

/* ---- running it ---- */

void kc__h1_reader_init(h1 *h)
{
    llhttp_init(&h->parser, HTTP_REQUEST, &settings);
    h->parser.data = h;
}

static void give_back(kc_buf *buf)
{
    if (buf->cap > KEEP_TEXT)
        kc_buf_done(buf);
    else
        kc_buf_clear(buf);
}

void kc__h1_reader_reset(h1 *h)
{
    kc__h1_reader_init(h);
    h->started = h->head_done = false;
    h->head_bytes = h->extra_bytes = h->target_end = 0;
    give_back(&h->text);
    give_back(&h->body);
    kc_vec_clear(&h->fields);
    if (h->fields.cap > KEEP_FIELDS) {
        kc_vec_done(&h->fields);
        kc__headers_done(&h->x.request.headers);
    }
    kc__headers_clear(&h->x.request.headers);
    if (h->arena.used > KEEP_ARENA)
        kc_arena_done(&h->arena);
    else
        kc_arena_clear(&h->arena);
}

/* A method we have no name for is 501; what is no method at all is 400. */
static int status_of(const h1 *h, llhttp_errno_t e, kc_str bytes)
{
    size_t n = 0;
    bool ours = h->parser.http_major == 1 && h->parser.http_minor <= 1;
    if ((e == HPE_INVALID_VERSION && !ours) || e == HPE_PAUSED_H2_UPGRADE)
        return 505;
    if (e != HPE_INVALID_METHOD || h->head_bytes)
        return 400;
    while (n < bytes.n && kc__is_token_char(bytes.p[n]))
        n++;
    return n && n < bytes.n && bytes.p[n] == ' ' ? 501 : 400;
}

static void explain(h1 *h, llhttp_errno_t e, kc_str bytes)
{
    const char *reason = llhttp_get_error_reason(&h->parser);
    int status = status_of(h, e, bytes);
    kc__h1_refuse(h, status, reason && *reason ? reason : llhttp_errno_name(e));
}

size_t kc__h1_read(h1 *h, kc_str bytes, bool *ret_complete)
{
    llhttp_errno_t e = llhttp_execute(&h->parser, bytes.p, bytes.n);
    *ret_complete = e == HPE_PAUSED;
    h->started = true;
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
