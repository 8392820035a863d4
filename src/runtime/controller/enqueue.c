/* SPDX-License-Identifier: Apache-2.0 */
/*
 * enqueue.c: adds the keys that a map-to-keys function or owner references name. For an update both
 * states are mapped, which nearly always name the same keys, and each key must be added once. A few
 * keys are compared one by one; a function that names many gets a hash map.
 */
#include "runtime/controller/enqueue.h"

enum { FEW = 8 };

void kc__enqueuer_begin(kc_enqueuer *to, kc_queue *queue, const kc_queue_add_opts *opts)
{
    to->queue = queue;
    to->opts = *opts;
    kc_vec_clear(&to->keys);
    if (to->seen.n)
        kc_map_clear(&to->seen);
    kc_arena_clear(&to->arena);
}

void kc__enqueuer_done(kc_enqueuer *to)
{
    kc_vec_done(&to->keys);
    kc_map_done(&to->seen);
    kc_arena_done(&to->arena);
}

/* A name has no slash, so the text identifies the key. */
static kc_str enqueue_text_of(kc_enqueuer *to, kc_key key)
{
    char *text = kc_arena_alloc(&to->arena, key.ns.n + key.name.n + 1);
    if (key.ns.n)
        memcpy(text, key.ns.p, key.ns.n);
    text[key.ns.n] = '/';
    if (key.name.n)
        memcpy(text + key.ns.n + 1, key.name.p, key.name.n);
    return (kc_str){text, key.ns.n + key.name.n + 1};
}

static bool is_among_few(const kc_enqueuer *to, kc_key key)
{
    kc_vec_each (&to->keys, other)
        if (kc_key_eq(*other, key))
            return true;
    return false;
}

static void enqueue_record(kc_enqueuer *to, kc_key key)
{
    kc_str text = enqueue_text_of(to, key);
    kc_vec_push(&to->keys,
                (kc_key){kc_str_sub(text, 0, key.ns.n), kc_str_sub(text, key.ns.n + 1, text.n)});
    if (to->keys.n < FEW)
        return;
    if (to->seen.n == 0)
        for (size_t i = 0; i + 1 < to->keys.n; i++)
            kc_map_put(&to->seen, enqueue_text_of(to, to->keys.items[i]), to);
    kc_map_put(&to->seen, text, to);
}

static bool was_added(kc_enqueuer *to, kc_key key)
{
    return to->keys.n < FEW ? is_among_few(to, key)
                            : kc_map_get(&to->seen, enqueue_text_of(to, key)) != NULL;
}

void kc_enqueue(kc_enqueuer *to, kc_key key)
{
    if (was_added(to, key))
        return;
    enqueue_record(to, key);
    kc_queue_add_with(to->queue, key, &to->opts);
}
