/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embed_door.c: the door of a server in this process: who is inside, so that it can be stopped.
 *
 * The server must not be stopped while a request of ours is under way (apiserver.h), and callers
 * may hold transports for as long as they like. So each request enters by the door, which is closed
 * first, and leaves when the server has done with it.
 */
#include "embed/embed_internal.h"

kc__door *kc__door_new(const kc_clock *clock)
{
    kc__door *door = kc_new(kc__door);
    kc_ref_init(&door->refs);
    kc_mutex_init(&door->mutex);
    kc_cond_init(&door->empty);
    kc_list_init(&door->inside);
    door->clock = clock;
    return door;
}

kc__door *kc__door_ref(kc__door *door)
{
    kc_ref_add(&door->refs);
    return door;
}

kc__door *kc__door_unref(kc__door *door)
{
    if (!door || !kc_ref_drop(&door->refs))
        return NULL;
    kc_cond_done(&door->empty);
    kc_mutex_done(&door->mutex);
    free(door);
    return NULL;
}

bool kc__door_enter(kc__door *door, kc__guest *guest)
{
    bool open = false;
    kc_locked (&door->mutex) {
        open = door->api != NULL;
        if (!open)
            break;
        kc_list_push(&door->inside, &guest->link);
        guest->enter(guest, door->api, door->api->lanes[door->next++ % door->api->n_lanes].loop);
    }
    return open;
}

void kc__door_leave(kc__door *door, kc__guest *guest)
{
    kc_locked (&door->mutex) {
        kc_list_remove(&guest->link);
        if (kc_list_empty(&door->inside))
            kc_cond_broadcast(&door->empty);
    }
}

void kc__door_close(kc__door *door)
{
    kc_locked (&door->mutex) {
        door->api = NULL;
        kc_list_each (&door->inside, kc__guest, link, guest)
            guest->leave(guest);
        while (!kc_list_empty(&door->inside))
            kc_cond_wait_until(&door->empty, &door->mutex, door->clock, KC_FOREVER);
    }
}
