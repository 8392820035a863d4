/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded: the API server and a controller in one process: a whole control plane in one binary,
 * without sockets between the two. With a directory the data is durable; with a port other programs
 * can connect.
 *
 *     embedded FOLDER PORT
 *     kubectl -s http://127.0.0.1:PORT get configmaps
 */
#include "kc/controller.h"
#include "kc/embedded_server.h"
#include "kc/kinds.h"
#include "kc/wait.h"

#include <stdio.h>

static kc_result reconcile(kc_context *ctx, const kc_request *req, kc_error *err)
{
    kc_auto(kc_object) *map = kc_client_get(ctx->client, &kc_kind_config_map, req->key, NULL, err);
    if (!map)
        return kc_done_if_not_found(err);
    kc_auto(kc_object) *seen =
        kc_client_patch(ctx->client, &kc_kind_config_map, req->key, KC_PATCH_MERGE,
                        KC_STR("{\"metadata\":{\"annotations\":{\"seen\":\"yes\"}}}"), NULL, err);
    return seen ? kc_done() : kc_retry(err);
}

static bool is_seen(const kc_object *object, const void *unused)
{
    (void)unused;
    return object && kc_object_annotation_is(object, KC_STR("seen"), KC_STR("yes"));
}

/* The role of another program: writes an object and waits until the controller has processed it. */
static int use(kc_client *client, kc_error *err)
{
    kc_auto(kc_object) *hello =
        kc_object_parse(KC_STR("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\","
                               "\"metadata\":{\"name\":\"hello\",\"namespace\":\"default\"}}"),
                        NULL, err);
    kc_auto(kc_object) *written = kc_client_create(client, hello, NULL, err);
    return written ? kc_wait_for(client, &kc_kind_config_map, kc_object_key(hello), is_seen, NULL,
                                 10 * KC_SECOND, NULL, err)
                   : kc_error_result(err);
}

static int run(kc_embedded_server *server, bool stay, kc_error *err)
{
    kc_auto(kc_client) *client = kc_embedded_server_client(server, err);
    kc_auto(kc_manager) *manager =
        client ? kc_manager_new(&(kc_manager_opts){.client = client}, err) : NULL;
    kc_controller_opts opts = {.kind = &kc_kind_config_map, .reconcile = reconcile};
    if (!kc_controller_new(manager, &opts, err) || kc_manager_start(manager, err) < 0 ||
        use(client, err) < 0)
        return kc_error_result(err);
    puts("the controller has seen it");
    if (!stay)
        kc_manager_stop(manager);
    return kc_manager_wait(manager, err);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    kc_scoped(kc_error) err = {0};
    kc_embedded_server_opts opts = {.dir = argc > 1 ? argv[1] : NULL, /* NULL: in memory. */
                                    .port = argc > 2 ? atoi(argv[2]) : 0};
    kc_auto(kc_embedded_server) *server = kc_embedded_server_start(&opts, &err);
    if (!server || run(server, argc > 2, &err) < 0)
        return kc_manager_exit(&err);
    return 0;
}
