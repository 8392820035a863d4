/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout1.c: a copy of a store as layout 1 would have it, for migration.py.
 *
 *     kc_layout1 FROM TO        both are folders of the file backend; TO is made
 *
 * Every change of FROM is made again in TO under the key that layout 1 had for it, so revisions and
 * history are the same. FROM must not have forgotten history yet.
 */
#include "apiserver/kinds/key_layout.h"
#include "apiserver/storage/file/file_backend.h"
#include "apiserver/storage/stored_key.h"
#include "layout_1.h"

#include "kc/arena.h"
#include "kc/vec.h"

#include <stdio.h>

#define BATCH_BYTES ((size_t)4 << 20)

typedef struct copying {
    kc__storage *to;
    kc_arena texts;
    KC_VEC(kc__storage_op) ops;
    size_t bytes;
    kc_error *err;
} copying;

static kc_str old_key(copying *c, kc_str key)
{
    for (size_t i = 0; i < kc__resource_n_builtins; i++) {
        const kc__resource *r = &kc__resource_builtins[i];
        if (!r->storage || !kc_str_starts(key, kc_cstr(r->key_prefix)))
            continue;
        const kc_str rest = kc_str_sub(key, strlen(r->key_prefix), key.n);
        return kc_cstr(
            kc_arena_printf(&c->texts, KC__STORAGE_KEY_ROOT "%s/%.*s", r->storage, KC_ARG(rest)));
    }
    return kc_arena_str(&c->texts, key);
}

static int flush(copying *c)
{
    kc__storage_result *results = kc_calloc(c->ops.n + 1, sizeof(*results));
    const int failed = kc__storage_commit(c->to, c->ops.items, c->ops.n, results, NULL, c->err);
    free(results);
    kc_vec_clear(&c->ops);
    kc_arena_clear(&c->texts);
    c->bytes = 0;
    return failed;
}

static int copy_event(const kc__storage_event *event, void *user)
{
    copying *c = user;
    kc_vec_push(&c->ops, (kc__storage_op){.verb = event->verb,
                                          .key = old_key(c, event->key),
                                          .expected = KC__STORAGE_ANY,
                                          .value = kc_arena_str(&c->texts, event->value)});
    c->bytes += event->value.n;
    return c->bytes < BATCH_BYTES ? 0 : flush(c);
}

static int copy_all(const char *from_folder, const char *to_folder, kc_error *err)
{
    kc_auto(kc__storage) *from = NULL, *to = NULL;
    if (kc__storage_open(&kc__storage_file_backend, &(kc__storage_opts){.location = from_folder},
                         &from, err) < 0 ||
        kc__storage_open(&kc__storage_file_backend, &(kc__storage_opts){.location = to_folder}, &to,
                         err) < 0)
        return -1;
    copying c = {.to = to, .err = err};
    int failed = kc__storage_history(from, KC__STORAGE_FIRST, copy_event, &c, err);
    if (!failed)
        failed = flush(&c);
    kc_vec_done(&c.ops);
    kc_arena_done(&c.texts);
    return failed;
}

int main(int argc, char **argv)
{
    kc_scoped(kc_error) err = {0};
    if (argc != 3) {
        fprintf(stderr, "usage: %s FROM TO\n", argv[0]);
        return 2;
    }
    if (copy_all(argv[1], argv[2], &err)) {
        fprintf(stderr, "%s: %s\n", argv[0], kc_error_text(&err));
        return 1;
    }
    return layout_set_version(argv[2], 3, 1) ? 0 : 1;
}
