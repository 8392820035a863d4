/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.c: see client.h. A call is one request; nothing is tried again here: what fails is the
 * reconciler's, whose queue knows how to wait.
 */
#include "network/client.h"

#include "kc/json.h"

#include <stdio.h>

#define PATIENCE (10 * KC_SECOND)
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

/* What the service says of a refusal; without any of it, that this is no answer of the service. */
static int refusal(int status, const kc_value *answer, kc_error *err)
{
    const kc_str reason = kc_as_str(kc_get(answer, "reason"));
    if (!reason.n)
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE,
                            "there is something else than a network service: it answered %d",
                            status);
    kc_error_set(err, kc_reason_from(reason), "%s",
                 kc_as_cstr(kc_get(answer, "message"), "it was refused"));
    if (err)
        err->code = status;
    kc_items (kc_get(answer, "causes"), cause)
        kc_error_add_cause(err, kc_as_cstr(kc_get(cause, "reason"), ""),
                           kc_as_str(kc_get(cause, "field")), kc_as_str(kc_get(cause, "message")));
    return -1;
}

static int send_request(kc__network_client *client, kc_http_request *request, kc_buf *out,
                        kc_error *err)
{
    request->deadline = kc_clock_deadline(client->clock, PATIENCE);
    const int status = kc_http_fetch(client->transport, request, out, err);
    return status < 0 ? kc_error_wrap(err, "network service") : status;
}

/* What it answered, an object with this member (NULL: any); NULL on error. Others say 200 too: a
 * page to log in, whatever else got the port. */
static kc_view *call(kc__network_client *client, kc_http_request *request, const char *member,
                     kc_error *err)
{
    kc_scoped(kc_buf) out = {.limit = MAX_ANSWER};
    const int status = send_request(client, request, &out, err);
    if (status < 0)
        return NULL;
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&out), NULL, NULL);
    const kc_value *root = view ? kc_view_root(view) : NULL;
    if (status >= 200 && status < 300 && kc_type_of(root) == KC_OBJECT &&
        (!member || kc_get(root, member)))
        return kc_take(view);
    refusal(status, root, err);
    return NULL;
}

/* Names of objects, and an owner that was checked, need no escapes. */
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
        return kc_failed_with(&failed, KC_NOT_FOUND) ? 0 : kc_error_move(err, &failed);
    const kc_value *root = kc_view_root(view);
    *ret = (kc__network_record){
        .view = view,
        .cidr = kc_as_cstr(kc_get(root, "cidr"), ""),
        .gateway = kc_as_cstr(kc_get(root, "gateway"), ""),
        .ours = kc_str_is(kc_as_str(kc_get(root, "owner")), client->owner),
        .generation = (uint64_t)kc_as_i64_or(kc_get(root, "generation"), 0),
    };
    return 1;
}

static void write_member(kc_buf *out, const char *name, const char *text)
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
    write_member(&body, "cidr", cidr);
    write_member(&body, "gateway", gateway);
    write_member(&body, "owner", client->owner);
    kc_buf_putc(&body, '}');
    if (now)
        snprintf(tag, sizeof(tag), "\"%llu\"", (unsigned long long)now->generation);
    const kc_http_field fields[] = {
        {KC_STR("Content-Type"), KC_STR("application/json")},
        {now ? KC_STR("If-Match") : KC_STR("If-None-Match"), kc_cstr(tag)},
    };
    kc_auto(kc_view) *answer = call(client,
                                    &(kc_http_request){.method = "PUT",
                                                       .target = kc_cstr(target),
                                                       .fields = fields,
                                                       .n_fields = KC_COUNT(fields),
                                                       .body = kc_buf_str(&body),
                                                       .cancel = cancel},
                                    "cidr", err);
    return answer ? 0 : -1;
}

int kc__network_remove(kc__network_client *client, kc_key key, kc_cancel *cancel, kc_error *err)
{
    kc_scoped(kc_error) failed = {0};
    kc_autofree char *target = target_of(key, client->owner);
    kc_auto(kc_view) *answer = call(
        client, &(kc_http_request){.method = "DELETE", .target = kc_cstr(target), .cancel = cancel},
        NULL, &failed);
    if (answer)
        return 1;
    if (kc_failed_with(&failed, KC_NOT_FOUND) || kc_failed_with(&failed, KC_CONFLICT))
        return 0;
    return kc_error_move(err, &failed);
}

int kc__network_each(kc__network_client *client, kc_cancel *cancel,
                     int (*each)(kc_key key, void *user, kc_error *err), void *user, kc_error *err)
{
    kc_autofree char *target = kc_asprintf("/v1/networks?owner=%s", client->owner);
    kc_auto(kc_view) *answer = call(
        client, &(kc_http_request){.method = "GET", .target = kc_cstr(target), .cancel = cancel},
        "networks", err);
    if (!answer)
        return -1;
    kc_items (kc_get(kc_view_root(answer), "networks"), item) {
        const kc_key key = {kc_as_str(kc_get(item, "namespace")), kc_as_str(kc_get(item, "name"))};
        if (key.name.n && each(key, user, err) < 0)
            return -1;
    }
    return 0;
}
