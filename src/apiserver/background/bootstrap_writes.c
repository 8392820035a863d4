/* SPDX-License-Identifier: Apache-2.0 */
/* bootstrap_writes.c: see bootstrap_writes.h. */
#include "apiserver/background/bootstrap_writes.h"

#include "kc/uid.h"

typedef struct bootstrap_write {
    kc__store_write write;
    kc_object *object; /* NULL: a deletion. */
    kc_latch *latch;
    char key[];
} bootstrap_write;

static void bootstrap_written(kc__store_write *write)
{
    bootstrap_write *w = kc_container_of(write, bootstrap_write, write);
    write->result = kc_object_unref(write->result);
    kc_latch_count_down(w->latch);
}

void kc__bootstrap_writes_init(kc__bootstrap_writes *writes, kc__rest_api *api)
{
    *writes = (kc__bootstrap_writes){.api = api};
    kc_latch_init(&writes->latch);
}

static void submit_bootstrap_write(kc__bootstrap_writes *writes, kc__watch_cache *cache, kc_str key,
                                   kc_object *object, uint64_t expected, int64_t ttl)
{
    bootstrap_write *w = kc_calloc(1, sizeof(*w) + key.n + 1);
    memcpy(w->key, key.p, key.n);
    w->object = object;
    w->latch = &writes->latch;
    w->write = (kc__store_write){.cache = cache,
                                 .verb = object ? KC__STORAGE_PUT : KC__STORAGE_DELETE,
                                 .key = kc_str_of(w->key, key.n),
                                 .expected = expected,
                                 .ttl = ttl,
                                 .object = object,
                                 .loop = writes->api->contexts[0].loop,
                                 .done = bootstrap_written};
    kc_vec_push(&writes->list, w);
    kc_latch_add(&writes->latch, 1);
    kc__store_submit(writes->api->store, &w->write);
}

void kc__bootstrap_writes_put(kc__bootstrap_writes *writes, kc__watch_cache *cache, kc_str key,
                              kc_object *object, uint64_t expected)
{
    submit_bootstrap_write(writes, cache, key, object, expected, 0);
}

void kc__bootstrap_writes_put_for(kc__bootstrap_writes *writes, kc__watch_cache *cache, kc_str key,
                                  kc_object *object, int64_t seconds)
{
    submit_bootstrap_write(writes, cache, key, object, KC__STORAGE_ANY, seconds);
}

void kc__bootstrap_writes_delete(kc__bootstrap_writes *writes, kc__watch_cache *cache, kc_str key,
                                 uint64_t expected)
{
    submit_bootstrap_write(writes, cache, key, NULL, expected, 0);
}

int kc__bootstrap_writes_wait(kc__bootstrap_writes *writes, kc_error *err)
{
    int status = 0;
    kc_latch_wait(&writes->latch);
    kc_vec_each (&writes->list, it) {
        bootstrap_write *w = *it;
        if (w->write.error.reason && status == 0) {
            kc_error_move(err, &w->write.error);
            status = kc_error_wrap(err, "create %s", w->key);
        }
        kc_error_done(&w->write.error);
        kc_object_unref(w->object);
        free(w);
    }
    kc_vec_done(&writes->list);
    kc_latch_done(&writes->latch);
    return status;
}

void kc__bootstrap_system_fields(kc__rest_api *api, int generation, kc_buf *out)
{
    uint8_t random[16];
    char uid[KC_UID_TEXT], now[KC_TIME_TEXT];
    kc_rand_bytes(&api->contexts[0].rand, random, sizeof(random));
    kc_uid_of(random, uid);
    kc_time_print(kc_clock_wall(api->clock), now);
    kc_buf_printf(out, ",\"uid\":\"%s\",\"resourceVersion\":\"0\"", uid);
    if (generation)
        kc_buf_printf(out, ",\"generation\":%d", generation);
    kc_buf_printf(out, ",\"creationTimestamp\":\"%s\"", now);
}
