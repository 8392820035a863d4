/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded: the API server in the program's own process, with a controller beside it: a whole
 * control plane in one binary, without sockets between the two. With a folder it keeps its data;
 * with a port others reach it too.
 *
 *     embedded FOLDER PORT
 *     kubectl -s http://127.0.0.1:PORT get configmaps
 */
#include "kc/controller.h"
#include "kc/embed.h"
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

/* What another program would do: writes an object, and waits until the controller has seen it. */
static int use(kc_client *client, kc_error *err)
{
    kc_auto(kc_object) *hello =
        kc_object_parse(KC_STR("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\","
                               "\"metadata\":{\"name\":\"hello\",\"namespace\":\"default\"}}"),
                        NULL, err);
    kc_auto(kc_object) *written = kc_client_create(client, hello, NULL, err);
    return written ? kc_wait_for(client, &kc_kind_config_map, kc_object_key(hello), is_seen, NULL,
                                 10 * KC_SECOND, NULL, err)
                   : -1;
}

static int run(kc_embed *server, bool stay, kc_error *err)
{
    kc_auto(kc_client) *client = kc_embed_client(server, err);
    kc_auto(kc_manager) *manager =
        client ? kc_manager_new(&(kc_manager_opts){.client = client}, err) : NULL;
    kc_controller_opts opts = {.kind = &kc_kind_config_map, .reconcile = reconcile};
    if (!kc_controller_new(manager, &opts, err) || kc_manager_start(manager, err) < 0 ||
        use(client, err) < 0)
        return -1;
    puts("the controller has seen it");
    if (!stay)
        kc_manager_stop(manager);
    return kc_manager_wait(manager, err);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    kc_scoped(kc_error) err = {0};
    kc_embed_opts opts = {.folder = argc > 1 ? argv[1] : NULL, /* NULL: in memory. */
                          .port = argc > 2 ? atoi(argv[2]) : 0};
    kc_auto(kc_embed) *server = kc_embed_start(&opts, &err);
    if (!server || run(server, argc > 2, &err) < 0)
        return kc_manager_exit(&err);
    return 0;
}
