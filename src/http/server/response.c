/* SPDX-License-Identifier: Apache-2.0 */
/*
 * response.c: writes the head of a response. This happens once per request, so it appends slices to
 * a preallocated buffer, without printf.
 */
#include "http/server/response.h"

typedef struct status_name {
    int status;
    const char *text;
} status_name;

static const status_name names[] = {
    {100, "Continue"},
    {101, "Switching Protocols"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Request Entity Too Large"},
    {414, "Request URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {422, "Unprocessable Entity"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
    {507, "Insufficient Storage"},
};

const char *kc__http_status_text(int status)
{
    static const char *const classes[] = {"",         "Informational", "Success",
                                          "Redirect", "Client Error",  "Server Error"};
    for (size_t i = 0; i < KC_COUNT(names); i++)
        if (names[i].status == status)
            return names[i].text;
    return classes[status >= 100 && status < 600 ? status / 100 : 0];
}

kc__http_response kc__http_response_refusal(const kc__http_limits *limits, int status, kc_str text)
{
    static const kc__http_header retry = {KC_STR_INIT("Retry-After"), KC_STR_INIT("1")};
    static const kc__http_refusal none;
    const kc__http_refusal *custom = status == 413   ? &limits->too_large
                                     : status == 429 ? &limits->too_many
                                                     : &none;
    return (kc__http_response){
        .status = status,
        .type = custom->body.n ? custom->type : KC_STR("text/plain; charset=utf-8"),
        .body = custom->body.n ? custom->body : text,
        .headers = status == 429 ? &retry : NULL,
        .n_headers = status == 429,
    };
}

bool kc__http_response_field_ok(const kc__http_header *field)
{
    static const kc_str ours[] = {
        KC_STR_INIT("Connection"),
        KC_STR_INIT("Content-Length"),
        KC_STR_INIT("Content-Encoding"),
        KC_STR_INIT("Transfer-Encoding"),
        KC_STR_INIT("Date"),
        KC_STR_INIT("Keep-Alive"),
        KC_STR_INIT("Upgrade"),
    };
    for (size_t i = 0; i < KC_COUNT(ours); i++)
        if (kc_str_eq_nocase(field->name, ours[i]))
            return false;
    return kc__http_is_header_name(field->name) && kc__http_is_header_value(field->value);
}

void kc__http_append_number(kc_buf *out, size_t number)
{
    char digits[20], *first = digits + sizeof(digits);
    do
        *--first = (char)('0' + number % 10);
    while (number /= 10);
    kc_buf_append(out, kc_str_of(first, (size_t)(digits + sizeof(digits) - first)));
}

static void put_field(kc_buf *out, kc_str name, kc_str value)
{
    kc_buf_append(out, name);
    kc_buf_append(out, KC_STR(": "));
    kc_buf_append(out, value);
    kc_buf_append(out, KC_STR("\r\n"));
}

static void put_status(kc_buf *out, int status)
{
    if (status == 200) {
        kc_buf_append(out, KC_STR("HTTP/1.1 200 OK\r\n"));
        return;
    }
    kc_buf_append(out, KC_STR("HTTP/1.1 "));
    kc__http_append_number(out, (size_t)status);
    kc_buf_putc(out, ' ');
    kc_buf_puts(out, kc__http_status_text(status));
    kc_buf_append(out, KC_STR("\r\n"));
}

void kc__http_response_head(kc_buf *out, const kc__http_response *response, kc_str date)
{
    put_status(out, response->status);
    if (response->type.n && kc__http_is_header_value(response->type))
        put_field(out, KC_STR("Content-Type"), response->type);
    for (size_t i = 0; i < response->n_headers; i++)
        if (kc__http_response_field_ok(&response->headers[i]))
            put_field(out, response->headers[i].name, response->headers[i].value);
    put_field(out, KC_STR("Date"), date);
}
