/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bootstrap.c: the namespaces default, kube-system, kube-public and kube-node-lease. They are
 * written as a client's would be, and not again once they are there.
 */
#include "apiserver/rest/bootstrap.h"

#include "kc/thread.h"

static const char *const names[] = {"default", "kube-system", "kube-public", "kube-node-lease"};

typedef struct creation {
    kc__write write;
    kc_object *object;
    kc_latch *latch;
} creation;

static void created(kc__write *write)
{
    creation *c = kc_container_of(write, creation, write);
    kc_object_unref(write->result);
    kc_latch_count_down(c->latch);
}

static kc_object *namespace_named(kc__api *api, const char *name)
{
    uint8_t random[16];
    char uid[KC_UID_TEXT], now[KC_TIME_TEXT];
    kc_rand_bytes(&api->lanes[0].rand, random, sizeof(random));
    kc_uid_of(random, uid);
    kc_time_print(kc_clock_wall(api->clock), now);
    kc_autofree char *json = kc_asprintf(
        "{\"kind\":\"Namespace\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"%s\",\"uid\":\"%s\","
        "\"resourceVersion\":\"0\",\"creationTimestamp\":\"%s\","
        "\"labels\":{\"kubernetes.io/metadata.name\":\"%s\"}},"
        "\"spec\":{\"finalizers\":[\"kubernetes\"]},\"status\":{\"phase\":\"Active\"}}",
        name, uid, now, name);
    return kc_object_parse(kc_cstr(json), NULL, NULL);
}

static void create(kc__api *api, const char *name, creation *c)
{
    c->object = namespace_named(api, name);
    c->write = (kc__write){.cache = api->namespaces,
                           .verb = KC_STORAGE_PUT,
                           .key = kc_cstr(name),
                           .expected = KC_STORAGE_ABSENT,
                           .object = c->object,
                           .loop = api->lanes[0].loop,
                           .done = created};
    kc_latch_add(c->latch, 1);
    kc__store_submit(api->store, &c->write);
}

int kc__bootstrap_objects(kc__api *api, kc_error *err)
{
    creation creations[KC_COUNT(names)] = {0};
    kc_latch latch;
    int status = 0;
    kc_latch_init(&latch);
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        kc_auto(kc_object) *there = kc__cache_get(api->namespaces, kc_cstr(names[i]));
        creations[i].latch = &latch;
        if (!there)
            create(api, names[i], &creations[i]);
    }
    kc_latch_wait(&latch);
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        kc_object_unref(creations[i].object);
        if (creations[i].write.error.reason && status == 0) {
            kc_error_move(err, &creations[i].write.error);
            status = kc_error_wrap(err, "create namespace %s", names[i]);
        }
        kc_error_done(&creations[i].write.error);
    }
    kc_latch_done(&latch);
    return status;
}
