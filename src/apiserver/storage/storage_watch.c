/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_watch.c: watches over a history (storage_watch.h).
 *
 * A watch has a position: every event up to it was delivered or has another prefix. Opening walks
 * the history from `since`; every later commit walks on from the position. So a watch receives each
 * event once, in order, whether it was committed before or after the watch began.
 *
 * The API server keeps no watch open on an exclusive backend: its committer publishes its own
 * commits. The list of watches is therefore short and usually empty.
 */
#include "apiserver/storage/storage_watch.h"

struct kc__storage_watch {
    kc_dlist_link link;
    kc__storage_watch_opts opts; /* The prefix is a copy, behind the struct. */
    uint64_t position;
    bool ended;
    bool stopped; /* By the callback. */
};

void kc__storage_watches_init(kc__storage_watches *watches, kc__storage_walk_fn *walk,
                              void *backend)
{
    *watches = (kc__storage_watches){.walk = walk, .backend = backend};
    kc_dlist_init(&watches->list);
}

static kc__storage_watch *watch_new(const kc__storage_watch_opts *opts)
{
    kc__storage_watch *watch = kc_calloc(1, sizeof(*watch) + opts->prefix.n);
    watch->opts = *opts;
    watch->position = opts->since;
    if (opts->prefix.n)
        memcpy(watch + 1, opts->prefix.p, opts->prefix.n);
    watch->opts.prefix = kc_str_of((const char *)(watch + 1), opts->prefix.n);
    return watch;
}

static int deliver_event(const kc__storage_event *event, void *user)
{
    kc__storage_watch *watch = user;
    watch->position = event->revision;
    if (!kc_str_starts(event->key, watch->opts.prefix))
        return 0;
    const int stop = watch->opts.event(event, watch->opts.user);
    watch->stopped = stop != 0;
    return stop;
}

/* Delivers events up to `revision` to a watch. */
static int deliver_all(kc__storage_watches *watches, kc__storage_watch *watch, uint64_t revision,
                       kc_error *err)
{
    const kc__storage_watch_opts *opts = &watch->opts;
    if (watch->position > revision)
        return 0; /* The watch starts at a future revision. */
    const int failed = watch->position < revision ? watches->walk(watches->backend, watch->position,
                                                                  deliver_event, watch, err)
                                                  : 0;
    if (!failed && opts->progress)
        opts->progress(revision, opts->user);
    return failed;
}

int kc__storage_watches_add(kc__storage_watches *watches, const kc__storage_watch_opts *opts,
                            uint64_t revision, kc__storage_watch **ret_watch, kc_error *err)
{
    kc__storage_watch *watch = watch_new(opts);
    const int failed = deliver_all(watches, watch, revision, err);
    if (failed) {
        free(watch);
        return failed;
    }
    kc_dlist_push(&watches->list, &watch->link);
    *ret_watch = watch;
    return 0;
}

void kc__storage_watches_remove(kc__storage_watch *watch)
{
    kc_dlist_remove(&watch->link);
    free(watch);
}

void kc__storage_watches_tell(kc__storage_watches *watches, uint64_t revision)
{
    kc_dlist_each (&watches->list, kc__storage_watch, link, watch) {
        kc_scoped(kc_error) err = {0};
        if (watch->ended || !deliver_all(watches, watch, revision, &err))
            continue;
        watch->ended = true;
        if (!watch->stopped && watch->opts.failed)
            watch->opts.failed(&err, watch->opts.user);
    }
}
