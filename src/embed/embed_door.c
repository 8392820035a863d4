/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embed_door.c: the door of an embedded server: tracks requests in flight, so that the server can
 * be stopped.
 *
 * The server must not be stopped while a request of this process is in flight (apiserver.h), and
 * callers may keep transports for any time. So each request enters through the door, which is
 * closed before the server stops, and leaves when the server has finished it.
 */
#include "embed/embed_internal.h"

kc__embed_door *kc__embed_door_new(const kc_clock *clock)
{
    kc__embed_door *door = kc_new(kc__embed_door);
    kc_ref_init(&door->refs);
    kc_mutex_init(&door->mutex);
    kc_cond_init(&door->empty);
    kc_dlist_init(&door->inside);
    door->clock = clock;
    return door;
}

kc__embed_door *kc__embed_door_ref(kc__embed_door *door)
{
    kc_ref_add(&door->refs);
    return door;
}

kc__embed_door *kc__embed_door_unref(kc__embed_door *door)
{
    if (!door || !kc_ref_drop(&door->refs))
        return NULL;
    kc_cond_done(&door->empty);
    kc_mutex_done(&door->mutex);
    free(door);
    return NULL;
}

bool kc__embed_door_enter(kc__embed_door *door, kc__embed_guest *guest)
{
    bool open = false;
    kc_locked (&door->mutex) {
        open = door->api != NULL;
        if (!open)
            break;
        kc_dlist_push(&door->inside, &guest->link);
        guest->enter(guest, door->api,
                     door->api->contexts[door->next++ % door->api->n_contexts].loop);
    }
    return open;
}

void kc__embed_door_leave(kc__embed_door *door, kc__embed_guest *guest)
{
    kc_locked (&door->mutex) {
        kc_dlist_remove(&guest->link);
        if (kc_dlist_empty(&door->inside))
            kc_cond_broadcast(&door->empty);
    }
}

void kc__embed_door_close(kc__embed_door *door)
{
    kc_locked (&door->mutex) {
        door->api = NULL;
        kc_dlist_each (&door->inside, kc__embed_guest, link, guest)
            guest->leave(guest);
        while (!kc_dlist_empty(&door->inside))
            kc_cond_wait_until(&door->empty, &door->mutex, door->clock, KC_FOREVER);
    }
}
