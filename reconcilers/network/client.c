/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.c: see client.h. A call is one request without retries: the reconciler's queue retries.
 */
#include "network/client.h"

#include "kc/json.h"

#include <stdio.h>

#define REQUEST_TIMEOUT (10 * KC_SECOND)
enum { MAX_ANSWER = 8 << 20 };

struct kc__network_client {
    kc_transport *transport;
    char *owner;
    const kc_clock *clock;
};

kc__network_client *kc__network_client_new(const kc__network_client_opts *opts)
{
    kc__network_client *client = kc_new(kc__network_client);
    client->transport = opts->transport;
    client->owner = kc_strdup(opts->owner);
    client->clock = opts->clock;
    return client;
}

kc__network_client *kc__network_client_free(kc__network_client *client)
{
    if (!client)
        return NULL;
    kc_transport_free(client->transport);
    free(client->owner);
    free(client);
    return NULL;
}

/* ---- one call ---- */

/* The service's error; without a valid error body, an error that this is not a network service. */
static int refusal(int status, const kc_value *response, kc_error *err)
{
    const kc_str reason = kc_value_as_str(kc_value_get(response, "reason"));
    if (!reason.n)
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE,
                            "not a network service: responded with status %d", status);
    const int result =
        kc_error_set(err, kc_reason_from(reason), "%s",
                     kc_value_as_cstr(kc_value_get(response, "message"), "request refused"));
    if (err)
        err->code = status;
    kc_value_each_item (kc_value_get(response, "causes"), cause)
        kc_error_add_cause(err, kc_value_as_cstr(kc_value_get(cause, "reason"), ""),
                           kc_value_as_str(kc_value_get(cause, "field")),
                           kc_value_as_str(kc_value_get(cause, "message")));
    return result;
}

static int send_request(kc__network_client *client, kc_http_request *request, kc_buf *out,
                        kc_error *err)
{
    request->deadline = kc_clock_deadline(client->clock, REQUEST_TIMEOUT);
    kc_scoped(kc_error) failed = {0};
    const int status = kc_http_request_send(client->transport, request, out, &failed);
    if (status >= 0)
        return status;
    if (kc__network_got_response(&failed)) /* Not sent: the token file is missing. */
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE, "network service: %s",
                            kc_error_text(&failed));
    kc_error_wrap(&failed, "network service");
    return kc_error_move(err, &failed);
}

/* The response body, an object with this member (NULL: any); NULL on error. Other servers respond
 * with 200 too: a login page, or a different program on that port. */
static kc_view *call(kc__network_client *client, kc_http_request *request, const char *member,
                     kc_error *err)
{
    kc_scoped(kc_buf) out = {.limit = MAX_ANSWER};
    const int status = send_request(client, request, &out, err);
    if (status < 0)
        return NULL;
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&out), NULL, NULL);
    const kc_value *root = view ? kc_view_root(view) : NULL;
    if (status >= 200 && status < 300 && kc_value_type(root) == KC_JSON_OBJECT &&
        (!member || kc_value_get(root, member)))
        return kc_take(view);
    refusal(status, root, err);
    return NULL;
}

/* Names of objects and a validated owner need no escapes. */
static char *target_of(kc_key key, const char *owner)
{
    return kc_asprintf("/v1/networks/%.*s/%.*s%s%s", KC_ARG(key.ns), KC_ARG(key.name),
                       owner ? "?owner=" : "", owner ? owner : "");
}

/* ---- calls ---- */

void kc__network_record_done(kc__network_record *record)
{
    kc_view_free(record->view);
    *record = (kc__network_record){0};
}

int kc__network_get(kc__network_client *client, kc_key key, kc_cancel *cancel,
                    kc__network_record *ret, kc_error *err)
{
    kc_scoped(kc_error) failed = {0};
    kc_autofree char *target = target_of(key, NULL);
    kc_view *view = call(
        client, &(kc_http_request){.method = "GET", .target = kc_cstr(target), .cancel = cancel},
        "cidr", &failed);
    if (!view)
        return kc_error_has_reason(&failed, KC_NOT_FOUND) ? 0 : kc_error_move(err, &failed);
    const kc_value *root = kc_view_root(view);
    *ret = (kc__network_record){
        .view = view,
        .cidr = kc_value_as_cstr(kc_value_get(root, "cidr"), ""),
        .gateway = kc_value_as_cstr(kc_value_get(root, "gateway"), ""),
        .ours = kc_str_is(kc_value_as_str(kc_value_get(root, "owner")), client->owner),
        .generation = (uint64_t)kc_value_as_i64_or(kc_value_get(root, "generation"), 0),
    };
    return 1;
}

static void network_client_write_member(kc_buf *out, const char *name, const char *text)
{
    kc_buf_printf(out, "%c\"%s\":", out->n ? ',' : '{', name);
    kc_json_quote(out, kc_cstr(text));
}

int kc__network_put(kc__network_client *client, kc_key key, const char *cidr, const char *gateway,
                    const kc__network_record *now, kc_cancel *cancel, kc_error *err)
{
    kc_autofree char *target = target_of(key, NULL);
    char tag[32] = "*";
    kc_scoped(kc_buf) body = {0};
    network_client_write_member(&body, "cidr", cidr);
    network_client_write_member(&body, "gateway", gateway);
    network_client_write_member(&body, "owner", client->owner);
    kc_buf_putc(&body, '}');
    if (now)
        snprintf(tag, sizeof(tag), "\"%llu\"", (unsigned long long)now->generation);
    const kc_http_field fields[] = {
        {KC_STR("Content-Type"), KC_STR("application/json")},
        {now ? KC_STR("If-Match") : KC_STR("If-None-Match"), kc_cstr(tag)},
    };
    kc_auto(kc_view) *response = call(client,
                                      &(kc_http_request){.method = "PUT",
                                                         .target = kc_cstr(target),
                                                         .fields = fields,
                                                         .n_fields = KC_COUNT(fields),
                                                         .body = kc_buf_str(&body),
                                                         .cancel = cancel},
                                      "cidr", err);
    return response ? 0 : kc_error_result(err);
}

int kc__network_remove(kc__network_client *client, kc_key key, kc_cancel *cancel, kc_error *err)
{
    kc_scoped(kc_error) failed = {0};
    kc_autofree char *target = target_of(key, client->owner);
    kc_auto(kc_view) *response = call(
        client, &(kc_http_request){.method = "DELETE", .target = kc_cstr(target), .cancel = cancel},
        NULL, &failed);
    if (response)
        return 1;
    if (kc_error_has_reason(&failed, KC_NOT_FOUND) || kc_error_has_reason(&failed, KC_CONFLICT))
        return 0;
    return kc_error_move(err, &failed);
}

int kc__network_each(kc__network_client *client, kc_cancel *cancel,
                     int (*each)(kc_key key, void *user, kc_error *err), void *user, kc_error *err)
{
    kc_autofree char *target = kc_asprintf("/v1/networks?owner=%s", client->owner);
    kc_auto(kc_view) *response = call(
        client, &(kc_http_request){.method = "GET", .target = kc_cstr(target), .cancel = cancel},
        "networks", err);
    if (!response)
        return kc_error_result(err);
    kc_value_each_item (kc_value_get(kc_view_root(response), "networks"), item) {
        const kc_key key = {kc_value_as_str(kc_value_get(item, "namespace")),
                            kc_value_as_str(kc_value_get(item, "name"))};
        if (key.name.n && each(key, user, err) < 0)
            return kc_error_result(err);
    }
    return 0;
}
