/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_log.c: one line for each request, at verbosity 6:
 *
 *     "HTTP" verb="GET" URI="/api/v1/pods?limit=500" latency=1.2ms userAgent="kubectl/v1.34" …
 *
 * The names of the fields are kube-apiserver's, with the user added. A line never contains header
 * fields other than User-Agent, and no body. Credentials in a query are a mistake of a client, but
 * they occur: values of parameters whose name contains "token" are replaced. `continue` is kept, it
 * names a position only.
 */
#include "apiserver/request/request_log.h"

#include "apiserver/call/response_end.h"
#include "kc/ascii.h"

/* What the line needs after the call has ended. The strings are behind the struct. */
typedef struct request_line {
    kc__rest_response_end end;
    const kc_clock *clock;
    kc_log *log;
    int64_t received;
    int status;
    bool upgraded;
    const char *verb, *uri, *user, *agent, *audit_id, *source;
} request_line;

static bool contains_token(kc_str name)
{
    static const char word[] = "token";
    for (size_t i = 0; i + strlen(word) <= name.n; i++) {
        size_t n = 0;
        while (word[n] && kc_lower(name.p[i + n]) == word[n])
            n++;
        if (!word[n])
            return true;
    }
    return false;
}

/* The request target, without values that may be credentials. */
static void write_uri(kc_buf *out, kc_str raw)
{
    kc_str rest = raw;
    const kc_str path = kc_str_cut(&rest, '?');
    kc_buf_append(out, path);
    for (char before = '?'; rest.p; before = '&') {
        kc_str parameter = kc_str_cut(&rest, '&');
        const kc_str name = kc_str_cut(&parameter, '=');
        kc_buf_putc(out, before);
        kc_buf_append(out, name);
        if (!parameter.p)
            continue;
        kc_buf_putc(out, '=');
        kc_buf_append(out, contains_token(name) ? KC_STR("REDACTED") : parameter);
    }
}

/* The verb of kube-apiserver's log: LIST and WATCH besides the methods. */
static kc_str logged_verb(const kc__rest_call *call)
{
    const bool reads = kc_str_is(call->x->request.method, "GET");
    if (reads && call->info.is_resource && !strcmp(call->info.verb, "watch"))
        return KC_STR("WATCH");
    if (reads && call->info.is_resource && !strcmp(call->info.verb, "list"))
        return KC_STR("LIST");
    return call->x->request.method;
}

static void log_line(const request_line *line)
{
    const int64_t latency = kc_clock_now(line->clock) - line->received;
    if (line->upgraded)
        kc_log_verbose(line->log, KC__REST_REQUEST_LOG, "HTTP", kc_kv("verb", line->verb),
                       kc_kv("URI", line->uri), kc_kv_duration("latency", latency),
                       kc_kv("userAgent", line->agent), kc_kv("audit-ID", line->audit_id),
                       kc_kv("srcIP", line->source), kc_kv("user", line->user),
                       kc_kv("hijacked", (bool)true));
    else
        kc_log_verbose(line->log, KC__REST_REQUEST_LOG, "HTTP", kc_kv("verb", line->verb),
                       kc_kv("URI", line->uri), kc_kv_duration("latency", latency),
                       kc_kv("userAgent", line->agent), kc_kv("audit-ID", line->audit_id),
                       kc_kv("srcIP", line->source), kc_kv("user", line->user),
                       kc_kv("resp", line->status));
}

static void line_ended(kc__rest_response_end *end)
{
    request_line *line = kc_container_of(end, request_line, end);
    log_line(line);
    free(line);
}

static const char *copy_text(char **to, kc_str text)
{
    char *copy = *to;
    if (text.n)
        memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    *to += text.n + 1;
    return copy;
}

static request_line *line_of(const kc__rest_call *call, const kc__http_response *response)
{
    const kc__http_request *request = &call->x->request;
    kc_scoped(kc_buf) uri = {0};
    kc_scoped(kc_buf) source = {0};
    const kc_str verb = logged_verb(call),
                 agent = kc__http_headers_get(&request->headers, KC_STR("User-Agent"));
    write_uri(&uri, request->target.raw);
    if (request->peer && *request->peer->address)
        kc_buf_printf(&source, "%s:%d", request->peer->address, request->peer->port);
    request_line *line = kc_calloc(1, sizeof(*line) + verb.n + uri.n + call->user.name.n + agent.n +
                                          call->audit_id.n + source.n + 6);
    char *to = (char *)(line + 1);
    line->clock = call->api->clock;
    line->log = call->api->log;
    line->received = request->received;
    line->status = response->status;
    line->upgraded = response->upgrade != NULL;
    line->verb = copy_text(&to, verb);
    line->uri = copy_text(&to, kc_buf_str(&uri));
    line->user = copy_text(&to, call->user.name);
    line->agent = copy_text(&to, agent);
    line->audit_id = copy_text(&to, call->audit_id);
    line->source = copy_text(&to, kc_buf_str(&source));
    return line;
}

void kc__rest_log_request(kc__rest_call *call, kc__http_response *response)
{
    if (!kc_log_v(call->api->log, KC__REST_REQUEST_LOG))
        return;
    request_line *line = line_of(call, response);
    if (!kc__rest_response_end_attach(&line->end, response, line_ended))
        line_ended(&line->end);
}
