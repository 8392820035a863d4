/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit_event.c: writes an event as kube-apiserver does: members in the order of the Go struct,
 * empty ones absent. Every request is written twice at the level Metadata, so this writes text
 * directly, without a tree.
 */
#include "apiserver/audit/audit_internal.h"

#include "kc/json.h"
#include "kc/time.h"
#include "object/gofmt/go_quote.h"

#include <arpa/inet.h>

enum { MAX_AGENT = 1024 };

/* Names are KC_STR: their length is known. */
static void put_text(kc_buf *out, kc_str name, kc_str value)
{
    kc_buf_append(out, name);
    kc_json_quote(out, value);
}

/* ---- source addresses ---- */

/* IPv4 addresses are mapped to IPv6, so that the two forms of one are equal, as in Go. */
static bool parse_source(kc_str text, struct in6_addr *ret)
{
    char copy[INET6_ADDRSTRLEN];
    const kc_str trimmed = kc_str_trim(text);
    struct in_addr v4;
    if (!trimmed.n || trimmed.n >= sizeof(copy))
        return false;
    memcpy(copy, trimmed.p, trimmed.n);
    copy[trimmed.n] = '\0';
    if (inet_pton(AF_INET, copy, &v4) != 1)
        return inet_pton(AF_INET6, copy, ret) == 1;
    *ret = (struct in6_addr){.s6_addr = {[10] = 0xff, [11] = 0xff}};
    memcpy(&ret->s6_addr[12], &v4, sizeof(v4));
    return true;
}

static void put_source(kc_buf *out, const struct in6_addr *address)
{
    char text[INET6_ADDRSTRLEN];
    if (IN6_IS_ADDR_V4MAPPED(address))
        inet_ntop(AF_INET, &address->s6_addr[12], text, sizeof(text));
    else
        inet_ntop(AF_INET6, address, text, sizeof(text));
    kc_buf_puts(out, out->n && out->p[out->n - 1] == '"' ? ",\"" : "\"");
    kc_buf_puts(out, text);
    kc_buf_putc(out, '"');
}

static bool has_source(kc_str forwarded, const struct in6_addr *address)
{
    struct in6_addr one;
    while (forwarded.p && forwarded.n)
        if (parse_source(kc_str_cut(&forwarded, ','), &one) && !memcmp(&one, address, sizeof(one)))
            return true;
    return false;
}

/* X-Forwarded-For, X-Real-Ip, the address of the connection, as utilnet.SourceIPs. */
static void write_sources(kc_buf *out, const kc__http_request *request)
{
    const kc_str forwarded = kc__http_headers_get(&request->headers, KC_STR("X-Forwarded-For")),
                 real = kc__http_headers_get(&request->headers, KC_STR("X-Real-Ip"));
    struct in6_addr one, last;
    bool any = false;
    if (!forwarded.n && !real.n) { /* The usual case: the address is printed already. */
        if (request->peer && request->peer->address[0])
            kc_json_quote(out, kc_cstr(request->peer->address));
        return;
    }
    for (kc_str rest = forwarded; rest.p && rest.n;) {
        if (!parse_source(kc_str_cut(&rest, ','), &one))
            continue;
        put_source(out, &one);
        last = one;
        any = true;
    }
    if (parse_source(real, &one) && !has_source(forwarded, &one)) {
        put_source(out, &one);
        last = one;
        any = true;
    }
    if (request->peer && parse_source(kc_cstr(request->peer->address), &one) &&
        (!any || memcmp(&one, &last, sizeof(one)) != 0))
        put_source(out, &one);
}

/* ---- parts ---- */

static void write_agent(kc_buf *out, kc_str agent)
{
    if (!agent.n)
        return;
    if (agent.n <= MAX_AGENT) {
        put_text(out, KC_STR(",\"userAgent\":"), agent);
        return;
    }
    kc_scoped(kc_buf) cut = {0};
    kc_buf_append(&cut, kc_str_sub(agent, 0, MAX_AGENT));
    kc_buf_puts(&cut, "...TRUNCATED");
    put_text(out, KC_STR(",\"userAgent\":"), kc_buf_str(&cut));
}

/* A member of objectRef, if it is not empty; its name begins with a comma. */
static void put_reference(kc_buf *out, bool *first, kc_str name, kc_str value)
{
    if (!value.n)
        return;
    if (*first)
        kc_buf_append(out, KC_STR(",\"objectRef\":{"));
    put_text(out, kc_str_sub(name, *first, name.n), value);
    *first = false;
}

static void write_reference(kc_buf *out, const kc__rest_request_info *info,
                            const kc__audit_event *event)
{
    bool first = true;
    if (!info->is_resource)
        return;
    put_reference(out, &first, KC_STR(",\"resource\":"), info->resource);
    put_reference(out, &first, KC_STR(",\"namespace\":"), info->ns.n ? info->ns : event->ns);
    put_reference(out, &first, KC_STR(",\"name\":"), info->name.n ? info->name : event->name);
    put_reference(out, &first, KC_STR(",\"uid\":"), event->uid);
    put_reference(out, &first, KC_STR(",\"apiGroup\":"), info->group);
    put_reference(out, &first, KC_STR(",\"apiVersion\":"), info->version);
    put_reference(out, &first, KC_STR(",\"resourceVersion\":"), event->version);
    put_reference(out, &first, KC_STR(",\"subresource\":"), info->subresource);
    kc_buf_puts(out, first ? ",\"objectRef\":{}" : "}");
}

static void put_code(kc_buf *out, int code)
{
    const char digits[] = {(char)('0' + code / 100 % 10), (char)('0' + code / 10 % 10),
                           (char)('0' + code % 10)};
    kc_buf_append(out, KC_STR(",\"responseStatus\":{\"metadata\":{},\"code\":"));
    kc_buf_append(out, kc_str_of(digits, sizeof(digits)));
    kc_buf_putc(out, '}');
}

static void write_response(kc_buf *out, const kc__audit_event *event,
                           const kc__audit_stage_of *stage)
{
    if (stage->status.n) {
        kc_buf_puts(out, ",\"responseStatus\":");
        kc_buf_append(out, stage->status);
    } else if (stage->code) {
        put_code(out, stage->code);
    }
    if (event->request_object.n && !stage->without_objects) {
        kc_buf_puts(out, ",\"requestObject\":");
        kc_buf_append(out, event->request_object);
    }
    if (stage->response_object.n && !stage->without_objects) {
        kc_buf_puts(out, ",\"responseObject\":");
        kc_buf_append(out, stage->response_object);
    }
}

static void write_annotations(kc_buf *out, const kc__audit_event *event, bool truncated)
{
    bool first = true, pending = truncated;
    if (!event->annotations.n && !truncated)
        return;
    kc_buf_puts(out, ",\"annotations\":{");
    kc_vec_each (&event->annotations, annotation) {
        if (pending && kc_str_cmp(KC_STR("audit.k8s.io/truncated"), annotation->key) < 0) {
            kc_buf_printf(out, "%s\"audit.k8s.io/truncated\":\"true\"", first ? "" : ",");
            first = pending = false;
        }
        kc_buf_puts(out, first ? "" : ",");
        kc_json_quote(out, annotation->key);
        kc_buf_putc(out, ':');
        kc_json_quote(out, annotation->value);
        first = false;
    }
    if (pending)
        kc_buf_printf(out, "%s\"audit.k8s.io/truncated\":\"true\"", first ? "" : ",");
    kc_buf_putc(out, '}');
}

/* ---- times ---- */

static void put_digits(char *out, int64_t number, int n)
{
    for (; n > 0; number /= 10)
        out[--n] = (char)('0' + number % 10);
}

/* "2006-01-02T15:04:05.000000Z". Each event has two, so this is written without the C library. The
 * date is that of Howard Hinnant's civil_from_days. */
void kc__audit_write_time(char *out, int64_t time)
{
    const int64_t day_ns = 24 * KC_HOUR, days = time / day_ns, rest = time % day_ns,
                  z = days + 719468, era = z / 146097, doe = z - era * 146097,
                  yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365,
                  doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153,
                  month = mp < 10 ? mp + 3 : mp - 9;
    memcpy(out, "0000-00-00T00:00:00.000000Z", KC__AUDIT_TIME);
    put_digits(out, yoe + era * 400 + (month <= 2), 4);
    put_digits(out + 5, month, 2);
    put_digits(out + 8, doy - (153 * mp + 2) / 5 + 1, 2);
    put_digits(out + 11, rest / KC_HOUR, 2);
    put_digits(out + 14, rest / KC_MINUTE % 60, 2);
    put_digits(out + 17, rest / KC_SECOND % 60, 2);
    put_digits(out + 20, rest / 1000 % 1000000, 6);
}

/* Both times of an event; most of the first stage are equal. */
static void put_times(kc_buf *out, const kc__audit_event *event, int64_t stage_time)
{
    const kc_str received = kc_str_of(event->received_text, KC__AUDIT_TIME);
    char text[KC__AUDIT_TIME];
    kc_buf_append(out, KC_STR(",\"requestReceivedTimestamp\":\""));
    kc_buf_append(out, received);
    kc_buf_append(out, KC_STR("\",\"stageTimestamp\":\""));
    if (stage_time == event->received) {
        kc_buf_append(out, received);
        return;
    }
    kc__audit_write_time(text, stage_time);
    kc_buf_append(out, kc_str_of(text, sizeof(text)));
}

/* ---- the event ---- */

/* Parts that do not depend on the stage: the first stage writes them, the others copy them. */
static void write_requester(kc_buf *out, const kc__rest_call *call, kc__audit_event *event)
{
    const size_t from = out->n;
    if (event->requester.p) {
        kc_buf_append(out, event->requester);
        return;
    }
    put_text(out, KC_STR("\",\"requestURI\":"), call->x->request.target.raw);
    put_text(out, KC_STR(",\"verb\":"), kc_cstr(call->info.verb));
    kc_buf_append(out, KC_STR(",\"user\":"));
    kc__user_write(out, &event->user);
    event->requester = kc_arena_str(call->arena, kc_str_sub(kc_buf_str(out), from, out->n));
    kc__audit_write_time(event->received_text, event->received);
}

static void write_source(kc_buf *out, const kc__rest_call *call, kc__audit_event *event)
{
    const kc__http_request *request = &call->x->request;
    const kc_str sources = KC_STR(",\"sourceIPs\":[");
    const size_t from = out->n;
    if (event->source.p) {
        kc_buf_append(out, event->source);
        return;
    }
    kc_buf_append(out, sources);
    write_sources(out, request);
    if (out->n > from + sources.n)
        kc_buf_putc(out, ']');
    else
        out->n = from;
    write_agent(out, kc__http_headers_get(&request->headers, KC_STR("User-Agent")));
    event->source = kc_arena_str(call->arena, kc_str_sub(kc_buf_str(out), from, out->n));
}

static void write_head(kc_buf *out, const kc__rest_call *call, kc__audit_event *event,
                       const kc__audit_stage_of *stage)
{
    kc_buf_append(out,
                  KC_STR("{\"kind\":\"Event\",\"apiVersion\":\"audit.k8s.io/v1\",\"level\":\""));
    kc_buf_puts(out, kc__audit_level_names[event->decision.level]);
    put_text(out, KC_STR("\",\"auditID\":"), call->audit_id);
    kc_buf_append(out, KC_STR(",\"stage\":\""));
    kc_buf_puts(out, kc__audit_stage_names[stage->stage]);
    write_requester(out, call, event);
    if (event->impersonated && stage->stage != KC__AUDIT_REQUEST_RECEIVED) {
        kc_buf_puts(out, ",\"impersonatedUser\":");
        kc__user_write(out, &call->user);
    }
    write_source(out, call, event);
}

void kc__audit_write(kc_buf *out, const kc__rest_call *call, kc__audit_event *event,
                     const kc__audit_stage_of *stage, kc__audit_places *ret_places)
{
    kc_buf_reserve(out, 1024 + event->requester.n + event->source.n + event->request_object.n +
                            stage->response_object.n);
    write_head(out, call, event, stage);
    write_reference(out, &call->info, event);
    write_response(out, event, stage);
    ret_places->object = out->n;
    put_times(out, event, stage->time);
    ret_places->time = out->n - KC__AUDIT_TIME;
    kc_buf_putc(out, '"');
    write_annotations(out, event, stage->without_objects);
    kc_buf_puts(out, "}\n");
}

/* ---- legacy ---- */

static void put_quoted(kc_buf *out, const char *name, kc_str value)
{
    kc_buf_puts(out, name);
    kc__go_quote(out, value);
}

static void write_groups(kc_buf *out, const kc__user *user)
{
    kc_scoped(kc_buf) groups = {0};
    for (size_t i = 0; i < user->n_groups; i++) {
        kc_buf_puts(&groups, i ? "," : "");
        kc__go_quote(&groups, user->groups[i]);
    }
    kc__go_quote(out, kc_buf_str(&groups));
}

void kc__audit_write_legacy(kc_buf *out, const kc__rest_call *call, const kc__audit_event *event,
                            const kc__audit_stage_of *stage)
{
    char time[KC_TIME_TEXT];
    kc_scoped(kc_buf) sources = {0};
    const kc_str none = KC_STR("<none>"), ns = call->info.ns.n ? call->info.ns : event->ns;
    const bool as = event->impersonated && stage->stage != KC__AUDIT_REQUEST_RECEIVED;
    write_sources(&sources, &call->x->request);
    kc_str list = kc_buf_str(&sources), first = kc_str_cut(&list, ',');
    first = first.n > 2 ? kc_str_sub(first, 1, first.n - 1) : KC_STR("<unknown>");
    kc_buf_append(out, kc_time_print_micro(event->received, time));
    put_quoted(out, " AUDIT: id=", call->audit_id);
    put_quoted(out, " stage=", kc_cstr(kc__audit_stage_names[stage->stage]));
    put_quoted(out, " ip=", first);
    put_quoted(out, " method=", kc_cstr(call->info.verb));
    put_quoted(out, " user=", event->user.name.n ? event->user.name : none);
    kc_buf_puts(out, " groups=");
    if (event->user.name.n && event->user.n_groups)
        write_groups(out, &event->user);
    else
        kc__go_quote(out, none);
    put_quoted(out, " as=", as ? call->user.name : KC_STR("<self>"));
    kc_buf_puts(out, " asgroups=");
    if (as && call->user.n_groups)
        write_groups(out, &call->user);
    else
        kc__go_quote(out, KC_STR("<lookup>"));
    put_quoted(
        out, " user-agent=", kc__http_headers_get(&call->x->request.headers, KC_STR("User-Agent")));
    put_quoted(out, " namespace=", ns.n ? ns : none);
    put_quoted(out, " uri=", call->x->request.target.raw);
    if (stage->code)
        kc_buf_printf(out, " response=\"%d\"\n", stage->code);
    else
        kc_buf_puts(out, " response=\"<deferred>\"\n");
}
