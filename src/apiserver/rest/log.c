/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.c: pods/NAME/log: what a container has written, from the node that runs it.
 *
 *     GET …/pods/NAME/log ──▶ https://NODE:PORT/containerLogs/NAMESPACE/NAME/CONTAINER ──▶ passed
 * on
 *
 * The node says in its status where it answers, and in an annotation by which key it is known
 * (KC__SERVING_KEY); one that says none, a kubelet, is taken as it is, as Kubernetes does. We show
 * it the certificate of the server for nodes. A pod that has no node yet has written nothing: 204.
 */
#include "apiserver/rest/call.h"
#include "http/fetch.h"

#include "kc/field_error.h"
#include "kc/meta.h"
#include "kc/names.h"
#include "kc/view.h"

#include <arpa/inet.h>
#include <stdio.h>

/* Where it answers, if that is none of the addresses in its status. */
#define KC__SERVING_ADDRESS "kubecontroller.io/serving-address"
/* "sha256//" and the base64 of the hash of a node's public key, which only the node may write. */
#define KC__SERVING_KEY "kubecontroller.io/serving-key"

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

static int check_number(kc__call *call, const number *n, kc_field_errors *errors)
{
    int64_t value;
    if (kc__query_i64(&call->query, kc_cstr(n->name), n->least, &value, &call->error) < 0)
        return -1;
    kc_autofree char *text = kc_asprintf("%lld", (long long)value);
    if (value < n->least)
        kc_field_errors_add(errors, KC_FIELD_INVALID, n->name, kc_cstr(text), "%s", n->detail);
    return 0;
}

static kc__verdict check_times(kc__call *call, kc_field_errors *errors)
{
    kc_str since = {0};
    kc_time parsed;
    kc__query_get(&call->query, KC_STR("sinceTime"), &since);
    if (!kc_str_empty(since) && kc_time_parse(since, &parsed, &call->error) < 0)
        return KC__FAIL;
    if (!kc_str_empty(since) && kc__query_has(&call->query, KC_STR("sinceSeconds")))
        kc_field_errors_add(errors, KC_FIELD_FORBIDDEN, "", (kc_str){0},
                            "at most one of `sinceTime` or `sinceSeconds` may be specified");
    if (kc__query_has(&call->query, KC_STR("stream")))
        kc_field_errors_add(errors, KC_FIELD_FORBIDDEN, "stream", (kc_str){0},
                            "may not be specified");
    return KC__NEXT;
}

static kc__verdict decode(kc__call *call)
{
    kc_scoped(kc_field_errors) errors = {0};
    kc__limits_leave(call); /* It may stay for hours. */
    for (size_t i = 0; i < KC_COUNT(numbers); i++)
        if (check_number(call, &numbers[i], &errors) < 0)
            return KC__FAIL;
    kc__verdict verdict = check_times(call, &errors);
    if (verdict == KC__NEXT &&
        kc_field_errors_to_error(&errors, (kc_str){0}, KC_STR("PodLogOptions"), call->info.name,
                                 &call->error) < 0)
        return KC__FAIL;
    return verdict;
}

/* ---- which container ---- */

static const char *const lists[] = {"initContainers", "containers", "ephemeralContainers"};

static bool has_container(const kc_value *spec, kc_str name)
{
    for (size_t i = 0; i < KC_COUNT(lists); i++)
        kc_items (kc_get(spec, lists[i]), container)
            if (kc_str_eq(kc_as_str(kc_get(container, "name")), name))
                return true;
    return false;
}

static kc__verdict ask_for_name(kc__call *call, const kc_value *spec)
{
    kc_scoped(kc_buf) names = {0};
    for (size_t i = 0; i < KC_COUNT(lists); i++)
        kc_items (kc_get(spec, lists[i]), container) {
            kc_buf_puts(&names, names.n ? " " : "");
            kc_buf_append(&names, kc_as_str(kc_get(container, "name")));
        }
    return kc__fail(call, KC_BAD_REQUEST,
                    "a container name must be specified for pod %.*s, choose one of: [%s]",
                    KC_ARG(call->info.name), kc_buf_cstr(&names));
}

static kc__verdict choose_container(kc__call *call, const kc_value *spec, kc_str *ret)
{
    const kc_value *containers = kc_get(spec, "containers");
    kc_str name = {0};
    if (kc__query_get(&call->query, KC_STR("container"), &name) && !kc_str_empty(name)) {
        if (!has_container(spec, name))
            return kc__fail(call, KC_BAD_REQUEST, "container %.*s is not valid for pod %.*s",
                            KC_ARG(name), KC_ARG(call->info.name));
    } else if (kc_len(containers) != 1) {
        return ask_for_name(call, spec);
    } else {
        name = kc_as_str(kc_get(kc_at(containers, 0), "name"));
    }
    *ret = name;
    return KC__NEXT;
}

/* ---- where ---- */

static kc_str address_of(const kc_value *node)
{
    const kc_str own = kc_as_str(kc_get(kc_dig(node, "metadata.annotations"), KC__SERVING_ADDRESS));
    if (!kc_str_empty(own))
        return own;
    static const char *const preferred[] = {"InternalIP", "Hostname", "InternalDNS", "ExternalIP",
                                            "ExternalDNS"};
    for (size_t i = 0; i < KC_COUNT(preferred); i++)
        kc_items (kc_dig(node, "status.addresses"), address)
            if (kc_str_is(kc_as_str(kc_get(address, "type")), preferred[i]))
                return kc_as_str(kc_get(address, "address"));
    return (kc_str){0};
}

/* What a node says of itself becomes part of a URL. */
static bool is_host(kc_str host)
{
    unsigned char address[16];
    char text[64];
    if (kc_name_valid(KC_NAME_DNS_SUBDOMAIN, host))
        return true;
    snprintf(text, sizeof(text), "%.*s", (int)KC_MIN(host.n, sizeof(text) - 1), host.p);
    return inet_pton(AF_INET, text, address) == 1 || inet_pton(AF_INET6, text, address) == 1;
}

/* The parameters a node understands; they were checked, and none of them needs escaping but a
 * time's offset. */
static void write_query(kc__call *call, kc_buf *out)
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

static kc__verdict locate(kc__call *call, const kc_value *node, kc_str container, kc_buf *url)
{
    const kc_str host = address_of(node);
    const bool v6 = kc_str_find(host, ':') >= 0;
    if (!is_host(host))
        return kc__fail(call, KC_INTERNAL, "the node has no address: \"%.*s\"", KC_ARG(host));
    int64_t port = kc_as_i64_or(kc_dig(node, "status.daemonEndpoints.kubeletEndpoint.Port"), 0);
    port = port > 0 ? port : KUBELET_PORT;
    kc_buf_printf(url, "https://%s%.*s%s:%lld/containerLogs/%.*s/%.*s/%.*s", v6 ? "[" : "",
                  KC_ARG(host), v6 ? "]" : "", (long long)port, KC_ARG(call->info.ns),
                  KC_ARG(call->info.name), KC_ARG(container));
    write_query(call, url);
    return KC__NEXT;
}

/* ---- passing it on ---- */

/* Somebody between us and the container refuses: in its words. */
static kc__verdict refuse(kc__call *call, const kc__fetch_head *head)
{
    const kc_reason reason = head->status == 400   ? KC_BAD_REQUEST
                             : head->status == 404 ? KC_NOT_FOUND
                                                   : KC_INTERNAL;
    const kc_str text = kc_str_trim(head->text);
    if (!head->status)
        return kc__fail(call, KC_INTERNAL, "cannot reach the node: %s", kc_error_text(head->error));
    return kc__fail(call, reason, "%.*s", KC_ARG(text));
}

static void arrived(const kc__fetch_head *head, kc__pipe *body, void *user)
{
    kc__call *call = user;
    if (head->status < 200 || head->status > 299) {
        kc__call_go_on(call, refuse(call, head));
        return;
    }
    kc__answer_bytes(call, &(kc__answer){.status = 200,
                                         .type = KC_STR("text/plain"),
                                         .source = &kc__pipe_source,
                                         .user = kc__pipe_read_by(body, call->x),
                                         .flush = true});
}

static kc__verdict fetch(kc__call *call, kc_str node_name, kc_str container)
{
    kc__cache *nodes = kc__store_cache(call->api->store, KC_STR("/registry/core/nodes/"));
    kc_auto(kc_object) *node = kc__cache_get(nodes, node_name);
    if (!node) {
        kc__fail(call, KC_NOT_FOUND, "nodes \"%.*s\" not found", KC_ARG(node_name));
        kc_error_about(&call->error, (kc_str){0}, KC_STR("nodes"), node_name);
        return KC__FAIL;
    }
    if (!call->api->fetcher)
        return kc__fail(call, KC_SERVICE_UNAVAILABLE, "this server does not reach nodes");
    kc_auto(kc_view) *view = kc_view_of(node);
    kc_scoped(kc_buf) url = {0};
    kc__verdict verdict = locate(call, kc_view_root(view), container, &url);
    if (verdict != KC__NEXT)
        return verdict;
    kc_autofree char *pin =
        kc_str_dup(kc_object_annotation(node, KC_STR(KC__SERVING_KEY), call->arena));
    kc__fetch_start(call->api->fetcher,
                    &(kc__fetch_request){.url = kc_buf_cstr(&url), .pin = *pin ? pin : NULL},
                    call->x, arrived, call);
    return KC__LATER;
}

static kc__verdict answer(kc__call *call)
{
    call->current = kc__cache_get(call->served->cache, call->key);
    if (!call->current)
        return kc__fail_not_found(call, call->info.name);
    kc_auto(kc_view) *view = kc_view_of(call->current);
    const kc_value *spec = kc_get(kc_view_root(view), "spec");
    kc_str container = {0}, node = kc_as_str(kc_get(spec, "nodeName"));
    kc__verdict verdict = choose_container(call, spec, &container);
    if (verdict != KC__NEXT)
        return verdict;
    if (kc_str_empty(node))
        return kc__answer_bytes(call, &(kc__answer){.status = 204});
    return fetch(call, node, container);
}

const kc__verb kc__verb_log = {.name = "get", .bit = KC__GET, .decode = decode, .answer = answer};
