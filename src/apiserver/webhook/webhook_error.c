/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_error.c: why a call of a webhook failed. Admission and conversion webhooks are called by
 * the same client, so both have these messages; each puts its own prefix before them.
 */
#include "apiserver/webhook/webhook_error.h"

#include "apiserver/call/go_json.h"
#include "kc/json.h"

typedef struct status_sentence {
    int status;
    const char *text;
} status_sentence;

/* The error text that client-go has for a status code. */
static const status_sentence sentences[] = {
    {400, "the server rejected our request for an unknown reason"},
    {401, "the server has asked for the client to provide credentials"},
    {404, "the server could not find the requested resource"},
    {405, "the server does not allow this method on the requested resource"},
    {406, "the server was unable to respond with a content type that the client supports"},
    {409, "the server reported a conflict"},
    {415, "the body of the request was in an unknown format - accepted media types include: "},
    {422, "the server rejected our request due to an error in our request"},
    {429, "the server has received too many requests and has asked us to try again later"},
    {503, "the server is currently unable to handle the request"},
    {504, "the server was unable to return a response in the time allotted, but may still be "
          "processing the request"},
};

/* The body of the response, if it is text. */
static kc_str words_of(const kc__http_client_response *response)
{
    const kc_str text = kc_str_trim(response->body);
    return kc_str_starts(response->type, KC_STR("text/")) && text.n ? text : KC_STR("unknown");
}

static void write_status_error(const kc__http_client_response *response, kc_buf *out)
{
    for (size_t i = 0; i < KC_COUNT(sentences); i++)
        if (sentences[i].status == response->status) {
            kc_buf_puts(out, sentences[i].text);
            return;
        }
    if (response->status == 403) {
        kc_buf_append(out, words_of(response));
        return;
    }
    if (response->status < 500) {
        kc_buf_printf(out,
                      "the server responded with the status code %d but did not return more "
                      "information",
                      response->status);
        return;
    }
    kc_buf_puts(out, "an error on the server (");
    kc_json_quote(out, words_of(response));
    kc_buf_puts(out, ") has prevented the request from succeeding");
}

/* The message of a Status, if the body is one. */
static bool write_own_status(const kc__http_client_response *response, kc_buf *out)
{
    kc_auto(kc_view) *view = kc_view_parse(response->body, NULL, NULL);
    const kc_value *root = view ? kc_view_root(view) : NULL;
    const kc_str message = kc_value_as_str(kc_value_get(root, "message"));
    if (!kc_str_is(kc_value_as_str(kc_value_get(root, "kind")), "Status") || kc_str_empty(message))
        return false;
    kc_buf_append(out, message);
    return true;
}

void kc__hook_write_error(kc_buf *out, const kc__http_client_response *response, const char *url)
{
    if (!response->status)
        kc_buf_printf(out, "Post \"%s\": %s", url, response->error);
    else if (!write_own_status(response, out))
        write_status_error(response, out);
}

/* ---- bodies ---- */

int kc__hook_report_no_object(kc_str body, const kc_value *root, const kc_error *why, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    const bool open = body.n && (body.p[0] == '{' || body.p[0] == '[');
    if (root || (body.n && !open)) /* Text that is not JSON is parsed as YAML: a string. */
        kc_buf_printf(&text,
                      "json: cannot unmarshal %s into Go value of type struct { APIVersion string "
                      "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
                      "\"json:\\\"kind,omitempty\\\"\" }",
                      root ? kc__rest_go_json_type(root) : "string");
    else if (!kc__rest_go_json_error(body, &text))
        kc_buf_puts(&text, kc_error_text(why));
    return kc_error_set(err, KC_BAD_REQUEST, "couldn't get version/kind; json parse error: %s",
                        kc_buf_cstr(&text));
}
