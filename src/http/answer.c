/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer.c: writes the head of an answer. It is written once per request, so it is appended from
 * slices, without any printf, into a buffer that has room for it.
 */
#include "http/answer.h"

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

const char *kc__status_text(int status)
{
    static const char *const classes[] = {"",         "Informational", "Success",
                                          "Redirect", "Client Error",  "Server Error"};
    for (size_t i = 0; i < KC_COUNT(names); i++)
        if (names[i].status == status)
            return names[i].text;
    return classes[status >= 100 && status < 600 ? status / 100 : 0];
}

bool kc__answer_field_ok(const kc__header *field)
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
    return kc__is_header_name(field->name) && kc__is_header_value(field->value);
}

void kc__put_number(kc_buf *out, size_t number)
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
    kc__put_number(out, (size_t)status);
    kc_buf_putc(out, ' ');
    kc_buf_puts(out, kc__status_text(status));
    kc_buf_append(out, KC_STR("\r\n"));
}

void kc__answer_head(kc_buf *out, const kc__answer *answer, kc_str date)
{
    put_status(out, answer->status);
    if (answer->type.n && kc__is_header_value(answer->type))
        put_field(out, KC_STR("Content-Type"), answer->type);
    for (size_t i = 0; i < answer->n_headers; i++)
        if (kc__answer_field_ok(&answer->headers[i]))
            put_field(out, answer->headers[i].name, answer->headers[i].value);
    put_field(out, KC_STR("Date"), date);
}
