/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.c: pods/NAME/log: streams the log of a container from the node that runs it.
 *
 *     GET …/pods/NAME/log ──▶ https://NODE:PORT/containerLogs/NAMESPACE/NAME/CONTAINER ──▶ client
 *
 * The node's status has its address, and an annotation pins its public key
 * (KC__REST_LOG_SERVING_KEY). A node without the annotation, such as a kubelet, is not verified, as
 * in Kubernetes. The server authenticates with its client certificate for nodes. A pod without a
 * node has no log yet: 204.
 */
#include "apiserver/kinds/key_layout.h"
#include "apiserver/request/credential_check.h"
#include "apiserver/request/phases.h"
#include "http/client/proxy.h"

#include "kc/field_error.h"
#include "kc/meta.h"
#include "kc/names.h"
#include "kc/view.h"

#include <arpa/inet.h>
#include <stdio.h>

/* The node's serving address, if it is not among the addresses in its status. */
#define KC__REST_LOG_SERVING_ADDRESS "kubecontroller.io/serving-address"
/* "sha256//" and the base64 hash of a node's public key, which only the node may write. */
#define KC__REST_LOG_SERVING_KEY "kubecontroller.io/serving-key"

enum { KUBELET_PORT = 10250 };

/* ---- options ---- */

typedef struct number {
    const char *name;
    int64_t least;
    const char *detail;
} number;

static const number numbers[] = {
    {"tailLines", 0, "must be greater than or equal to 0"},
    {"limitBytes", 1, "must be greater than 0"},
    {"sinceSeconds", 1, "must be greater than 0"},
};
static const char *const switches[] = {"follow", "previous", "timestamps"};

static int check_log_number(kc__rest_call *call, const number *n, kc_field_errors *errors)
{
    int64_t value;
    if (kc__query_i64(&call->query, kc_cstr(n->name), n->least, &value, &call->error) < 0)
        return -1;
    kc_autofree char *text = kc_asprintf("%lld", (long long)value);
    if (value < n->least)
        kc_field_errors_add(errors, KC_FIELD_INVALID, n->name, kc_cstr(text), "%s", n->detail);
    return 0;
}

static kc__rest_verdict check_times(kc__rest_call *call, kc_field_errors *errors)
{
    kc_str since = {0};
    kc_time parsed;
    kc__query_get(&call->query, KC_STR("sinceTime"), &since);
    if (!kc_str_empty(since) && kc_time_parse(since, &parsed, &call->error) < 0)
        return KC__REST_FAIL;
    if (!kc_str_empty(since) && kc__query_has(&call->query, KC_STR("sinceSeconds")))
        kc_field_errors_add(errors, KC_FIELD_FORBIDDEN, "", (kc_str){0},
                            "at most one of `sinceTime` or `sinceSeconds` may be specified");
    if (kc__query_has(&call->query, KC_STR("stream")))
        kc_field_errors_add(errors, KC_FIELD_FORBIDDEN, "stream", (kc_str){0},
                            "may not be specified");
    return KC__REST_NEXT;
}

static kc__rest_verdict decode_log(kc__rest_call *call)
{
    kc_scoped(kc_field_errors) errors = {0};
    kc__rest_limits_release(call); /* The response may stay open for hours. */
    for (size_t i = 0; i < KC_COUNT(numbers); i++)
        if (check_log_number(call, &numbers[i], &errors) < 0)
            return KC__REST_FAIL;
    kc__rest_verdict verdict = check_times(call, &errors);
    if (verdict == KC__REST_NEXT &&
        kc_field_errors_to_error(&errors, (kc_str){0}, KC_STR("PodLogOptions"), call->info.name,
                                 &call->error) < 0)
        return KC__REST_FAIL;
    return verdict;
}

/* ---- selecting the container ---- */

static const char *const lists[] = {"initContainers", "containers", "ephemeralContainers"};

static bool has_container(const kc_value *spec, kc_str name)
{
    for (size_t i = 0; i < KC_COUNT(lists); i++)
        kc_value_each_item (kc_value_get(spec, lists[i]), container)
            if (kc_str_eq(kc_value_as_str(kc_value_get(container, "name")), name))
                return true;
    return false;
}

static kc__rest_verdict require_container_name(kc__rest_call *call, const kc_value *spec)
{
    kc_scoped(kc_buf) names = {0};
    for (size_t i = 0; i < KC_COUNT(lists); i++)
        kc_value_each_item (kc_value_get(spec, lists[i]), container) {
            kc_buf_puts(&names, names.n ? " " : "");
            kc_buf_append(&names, kc_value_as_str(kc_value_get(container, "name")));
        }
    return kc__rest_fail(call, KC_BAD_REQUEST,
                         "a container name must be specified for pod %.*s, choose one of: [%s]",
                         KC_ARG(call->info.name), kc_buf_cstr(&names));
}

static kc__rest_verdict choose_container(kc__rest_call *call, const kc_value *spec, kc_str *ret)
{
    const kc_value *containers = kc_value_get(spec, "containers");
    kc_str name = {0};
    if (kc__query_get(&call->query, KC_STR("container"), &name) && !kc_str_empty(name)) {
        if (!has_container(spec, name))
            return kc__rest_fail(call, KC_BAD_REQUEST, "container %.*s is not valid for pod %.*s",
                                 KC_ARG(name), KC_ARG(call->info.name));
    } else if (kc_value_len(containers) != 1) {
        return require_container_name(call, spec);
    } else {
        name = kc_value_as_str(kc_value_get(kc_value_at(containers, 0), "name"));
    }
    *ret = name;
    return KC__REST_NEXT;
}

/* ---- the node's URL ---- */

static kc_str address_of(const kc_value *node)
{
    const kc_str own = kc_value_as_str(
        kc_value_get(kc_value_nested(node, "metadata.annotations"), KC__REST_LOG_SERVING_ADDRESS));
    if (!kc_str_empty(own))
        return own;
    static const char *const preferred[] = {"InternalIP", "Hostname", "InternalDNS", "ExternalIP",
                                            "ExternalDNS"};
    for (size_t i = 0; i < KC_COUNT(preferred); i++)
        kc_value_each_item (kc_value_nested(node, "status.addresses"), address)
            if (kc_str_is(kc_value_as_str(kc_value_get(address, "type")), preferred[i]))
                return kc_value_as_str(kc_value_get(address, "address"));
    return (kc_str){0};
}

/* The address comes from the node and becomes part of a URL. */
static bool is_host(kc_str host)
{
    unsigned char address[16];
    char text[64];
    if (kc_name_valid(KC_NAME_DNS_SUBDOMAIN, host))
        return true;
    snprintf(text, sizeof(text), "%.*s", (int)KC_MIN(host.n, sizeof(text) - 1), host.p);
    return inet_pton(AF_INET, text, address) == 1 || inet_pton(AF_INET6, text, address) == 1;
}

/* The query parameters that a node supports. They are validated, and only the offset of a time
 * needs escaping. */
static void write_query(kc__rest_call *call, kc_buf *out)
{
    const char *sign = "?";
    for (size_t i = 0; i < KC_COUNT(switches); i++)
        if (kc__query_flag(&call->query, kc_cstr(switches[i]))) {
            kc_buf_printf(out, "%s%s=true", sign, switches[i]);
            sign = "&";
        }
    for (size_t i = 0; i < KC_COUNT(numbers); i++) {
        int64_t value;
        if (!kc__query_has(&call->query, kc_cstr(numbers[i].name)))
            continue;
        kc__query_i64(&call->query, kc_cstr(numbers[i].name), 0, &value, NULL);
        kc_buf_printf(out, "%s%s=%lld", sign, numbers[i].name, (long long)value);
        sign = "&";
    }
    kc_str since = {0};
    kc_time at;
    char text[KC_TIME_TEXT];
    kc__query_get(&call->query, KC_STR("sinceTime"), &since);
    if (!kc_str_empty(since) && kc_time_parse(since, &at, NULL) == 0)
        kc_buf_printf(out, "%ssinceTime=%.*s", sign, KC_ARG(kc_time_print(at, text)));
}

static kc__rest_verdict locate(kc__rest_call *call, const kc_value *node, kc_str container,
                               kc_buf *url)
{
    const kc_str host = address_of(node);
    const bool v6 = kc_str_find(host, ':') >= 0;
    if (!is_host(host))
        return kc__rest_fail(call, KC_INTERNAL, "the node has no address: \"%.*s\"", KC_ARG(host));
    int64_t port =
        kc_value_as_i64_or(kc_value_nested(node, "status.daemonEndpoints.kubeletEndpoint.Port"), 0);
    port = port > 0 ? port : KUBELET_PORT;
    kc_buf_printf(url, "https://%s%.*s%s:%lld/containerLogs/%.*s/%.*s/%.*s", v6 ? "[" : "",
                  KC_ARG(host), v6 ? "]" : "", (long long)port, KC_ARG(call->info.ns),
                  KC_ARG(call->info.name), KC_ARG(container));
    write_query(call, url);
    return KC__REST_NEXT;
}

/* ---- the response ---- */

/* The node, or a proxy before it, rejected the request: respond with its message. */
static kc__rest_verdict refuse_log_request(kc__rest_call *call, const kc__http_proxy_head *head)
{
    const kc_reason reason = head->status == 400   ? KC_BAD_REQUEST
                             : head->status == 404 ? KC_NOT_FOUND
                                                   : KC_INTERNAL;
    const kc_str text = kc_str_trim(head->text);
    if (!head->status)
        return kc__rest_fail(call, KC_INTERNAL, "cannot reach the node: %s",
                             kc_error_text(head->error));
    return kc__rest_fail(call, reason, "%.*s", KC_ARG(text));
}

static void arrived(const kc__http_proxy_head *head, kc__pipe *body, void *user)
{
    kc__rest_call *call = user;
    if (head->status < 200 || head->status > 299) {
        kc__rest_call_resume(call, refuse_log_request(call, head));
        return;
    }
    kc__http_response response = {.status = 200,
                                  .type = KC_STR("text/plain"),
                                  .source = &kc__pipe_source,
                                  .user = kc__pipe_read_by(body, call->x),
                                  .flush = true};
    kc__rest_credential_guard(call, &response); /* A log may be followed for hours. */
    kc__rest_respond_bytes(call, &response);
}

static kc__rest_verdict fetch(kc__rest_call *call, kc_str node_name, kc_str container)
{
    kc__watch_cache *nodes =
        kc__store_watch_cache(call->api->store, kc__resource_key_builtin_prefix("", "nodes"));
    kc_auto(kc_object) *node = kc__watch_cache_get(nodes, node_name);
    if (!node) {
        kc__rest_fail(call, KC_NOT_FOUND, "nodes \"%.*s\" not found", KC_ARG(node_name));
        kc_error_about(&call->error, (kc_str){0}, KC_STR("nodes"), node_name);
        return KC__REST_FAIL;
    }
    if (!call->api->http_proxy)
        return kc__rest_fail(call, KC_SERVICE_UNAVAILABLE,
                             "this server has no connection to nodes");
    kc_auto(kc_view) *view = kc_view_of(node);
    kc_scoped(kc_buf) url = {0};
    kc__rest_verdict verdict = locate(call, kc_view_root(view), container, &url);
    if (verdict != KC__REST_NEXT)
        return verdict;
    kc_autofree char *pin =
        kc_str_dup(kc_object_annotation(node, KC_STR(KC__REST_LOG_SERVING_KEY), call->arena));
    kc__http_proxy_start(
        call->api->http_proxy,
        &(kc__http_proxy_request){.url = kc_buf_cstr(&url), .pin = *pin ? pin : NULL}, call->x,
        arrived, call);
    return KC__REST_PENDING;
}

static kc__rest_verdict respond_log(kc__rest_call *call)
{
    call->current = kc__watch_cache_get(call->served->cache, call->key);
    if (!call->current)
        return kc__rest_fail_not_found(call, call->info.name);
    kc_auto(kc_view) *view = kc_view_of(call->current);
    const kc_value *spec = kc_value_get(kc_view_root(view), "spec");
    kc_str container = {0}, node = kc_value_as_str(kc_value_get(spec, "nodeName"));
    kc__rest_verdict verdict = choose_container(call, spec, &container);
    if (verdict != KC__REST_NEXT)
        return verdict;
    if (kc_str_empty(node))
        return kc__rest_respond_bytes(call, &(kc__http_response){.status = 204});
    return fetch(call, node, container);
}

const kc__rest_verb kc__rest_verb_log = {.name = "get",
                                         .on_loop = true,
                                         .bit = KC__VERB_GET,
                                         .decode = decode_log,
                                         .respond = respond_log};
