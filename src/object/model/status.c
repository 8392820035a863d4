/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.c: writes a Status as a Kubernetes API server does: members in the order of the Go struct,
 * without empty ones. Clients use `reason`, `code` and `details`; users read `message`.
 */
#include "object/model/status.h"

#include "kc/json.h"

/* Appends ,"name":"text" (without the comma for the first member) unless the text is empty. */
static void member(kc_buf *out, const char *name, const char *text)
{
    if (!text || !*text)
        return;
    if (out->n && out->p[out->n - 1] != '{')
        kc_buf_putc(out, ',');
    kc_buf_printf(out, "\"%s\":", name);
    kc_json_quote(out, kc_cstr(text));
}

static void status_write_causes(kc_buf *out, const kc_error *error)
{
    if (!error->causes.n)
        return;
    kc_buf_puts(out, out->p[out->n - 1] == '{' ? "\"causes\":[" : ",\"causes\":[");
    for (size_t i = 0; i < error->causes.n; i++) {
        const kc_cause *cause = &error->causes.items[i];
        kc_buf_puts(out, i ? ",{" : "{");
        member(out, "reason", cause->reason);
        member(out, "message", cause->message);
        member(out, "field", cause->field);
        kc_buf_putc(out, '}');
    }
    kc_buf_putc(out, ']');
}

static bool has_details(const kc_error *error)
{
    return error->name || error->group || error->kind || error->uid || error->causes.n ||
           error->retry_after_seconds;
}

static void write_details(kc_buf *out, const kc_error *error)
{
    kc_buf_puts(out, ",\"details\":{");
    member(out, "name", error->name);
    member(out, "group", error->group);
    member(out, "kind", error->kind);
    member(out, "uid", error->uid);
    status_write_causes(out, error);
    if (error->retry_after_seconds)
        kc_buf_printf(out, "%s\"retryAfterSeconds\":%d", out->p[out->n - 1] == '{' ? "" : ",",
                      error->retry_after_seconds);
    kc_buf_putc(out, '}');
}

void kc__status_write(kc_buf *out, const kc_error *error, const kc__status_opts *opts)
{
    kc_buf_puts(out, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{");
    if (opts && !kc_str_empty(opts->continue_token)) {
        kc_buf_puts(out, "\"continue\":");
        kc_json_quote(out, opts->continue_token);
    }
    kc_buf_puts(out, "},\"status\":\"Failure\"");
    member(out, "message", error->message);
    member(out, "reason", kc_reason_text(error->reason));
    if (has_details(error) || (opts && opts->details))
        write_details(out, error);
    kc_buf_printf(out, ",\"code\":%d}", error->code);
}

void kc__status_write_success(kc_buf *out, kc_str group, kc_str resource, kc_str name, kc_str uid)
{
    kc_buf_puts(out, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
                     "\"status\":\"Success\",\"details\":{\"name\":");
    kc_json_quote(out, name);
    if (!kc_str_empty(group)) {
        kc_buf_puts(out, ",\"group\":");
        kc_json_quote(out, group);
    }
    kc_buf_puts(out, ",\"kind\":");
    kc_json_quote(out, resource);
    if (!kc_str_empty(uid)) {
        kc_buf_puts(out, ",\"uid\":");
        kc_json_quote(out, uid);
    }
    kc_buf_puts(out, "}}");
}
