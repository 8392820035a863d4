/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sequence of calls of the network service: "METHOD path owner if-match if-none-match body", one
 * a line. Each gets a JSON response, accepted networks exist, and no two networks overlap:
 * otherwise one of them could not be put again unchanged.
 */
#include "fuzzing.h"

#include "kc/json.h"
#include "reconcilers/network/service/service.h"

static kc_view *answer(kc__network_service *service, const kc__network_call *call, int *ret_status)
{
    kc_scoped(kc__network_reply) reply = {0};
    kc__network_service_call(service, call, &reply);
    kc_view *view = kc_view_parse(kc_buf_str(&reply.body), NULL, NULL);
    if (!view || reply.status < 200 || reply.status > 599)
        abort();
    if (reply.status >= 400 && !kc_value_as_str(kc_value_get(kc_view_root(view), "message")).n)
        abort();
    *ret_status = reply.status;
    return view;
}

static void play(kc__network_service *service, kc_str line)
{
    kc__network_call call = {0};
    int status = 0, found = 0;
    call.method = kc_str_cut(&line, ' ');
    call.path = kc_str_cut(&line, ' ');
    call.owner = kc_str_cut(&line, ' ');
    call.if_match = kc_str_cut(&line, ' ');
    call.if_none_match = kc_str_cut(&line, ' ');
    call.body = line;
    kc_auto(kc_view) *reply = answer(service, &call, &status);
    if (!kc_str_is(call.method, "PUT") || status >= 400)
        return;
    const kc__network_call enqueue = {.method = KC_STR("GET"), .path = call.path};
    kc_auto(kc_view) *there = answer(service, &enqueue, &found);
    if (found != 200)
        abort();
}

static void put_again(kc__network_service *service, const kc_value *network)
{
    kc_scoped(kc_buf) path = {0}, body = {0};
    int status = 0;
    kc_buf_printf(&path, "/v1/networks/%s/%s",
                  kc_value_as_cstr(kc_value_get(network, "namespace"), ""),
                  kc_value_as_cstr(kc_value_get(network, "name"), ""));
    kc_json_write(&body, network);
    const kc__network_call call = {
        .method = KC_STR("PUT"), .path = kc_buf_str(&path), .body = kc_buf_str(&body)};
    kc_auto(kc_view) *reply = answer(service, &call, &status);
    if (status != 200)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_auto(kc__network_service) *service =
        kc__network_service_start(&(kc__network_service_opts){0}, NULL);
    kc_str rest = kc_str_of((const char *)data, size);
    int status = 0;
    for (int i = 0; rest.p && i < 16; i++)
        play(service, kc_str_cut(&rest, '\n'));
    const kc__network_call list = {.method = KC_STR("GET"), .path = KC_STR("/v1/networks")};
    kc_auto(kc_view) *all = answer(service, &list, &status);
    kc_value_each_item (kc_value_get(kc_view_root(all), "networks"), network)
        put_again(service, network);
    return 0;
}
