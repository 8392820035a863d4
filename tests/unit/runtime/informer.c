/* SPDX-License-Identifier: Apache-2.0 */
#include "plane.h"

#include "kc/map.h"

/* Writes down what it is told: "+name" for an add, "~name", "-name", "?name" for a deletion that
 * was missed, "=name" for a resync, "!" for synced; "*" before an initial add. */
typedef struct diary {
    kc_mutex mutex;
    kc_buf text;
    size_t n;
} diary;

static void note(diary *d, const char *mark, const kc_change *change)
{
    kc_locked (&d->mutex) {
        kc_buf_puts(&d->text, change && change->initial ? "*" : "");
        kc_buf_puts(&d->text, mark);
        if (change)
            kc_buf_append(&d->text, kc_object_name(change->object));
        kc_buf_putc(&d->text, ' ');
        d->n++;
    }
}

static void on_added(const kc_change *change, void *user)
{
    assert_null(change->old);
    note(user, "+", change);
}

static void on_updated(const kc_change *change, void *user)
{
    assert_non_null(change->old);
    note(user, change->resync ? "=" : "~", change);
}

static void on_deleted(const kc_change *change, void *user)
{
    note(user, change->state_unknown ? "?" : "-", change);
}

static void on_synced(void *user)
{
    note(user, "!", NULL);
}

static const kc_listener_ops OPS = {on_added, on_updated, on_deleted, on_synced};

static diary *diary_new(void)
{
    diary *d = kc_new(diary);
    kc_mutex_init(&d->mutex);
    return d;
}

static void diary_free(diary *d)
{
    kc_buf_done(&d->text);
    kc_mutex_done(&d->mutex);
    free(d);
}

static bool says(diary *d, const char *text)
{
    bool same = false;
    kc_locked (&d->mutex)
        same = kc_str_is(kc_buf_str(&d->text), text);
    return same;
}

static size_t n_notes(diary *d)
{
    size_t n = 0;
    kc_locked (&d->mutex)
        n = d->n;
    return n;
}

static kc_informer *informer_of(plane *p)
{
    kc_scoped(kc_error) err = {0};
    kc_informer *informer = kc_cache_informer(p->cache, &kc_kind_config_map, &err);
    if (!informer)
        fail_msg("%s", kc_error_text(&err));
    return informer;
}

static bool synced(kc_informer *informer)
{
    return kc_informer_wait_synced(informer, kc_clock_deadline(kc_clock_real(), 10 * KC_SECOND),
                                   NULL);
}

static void listeners_are_told_in_the_order_of_the_server(void **state)
{
    (void)state;
    plane *p = plane_new(NULL);
    diary *d = diary_new();
    create(p->client, "default", "one", "", "v");
    kc_informer *informer = informer_of(p);
    kc_listener *l = kc_informer_listen(informer, &OPS, d, 0);
    assert_false(kc_informer_synced(informer));
    kc_cache_start(p->cache, NULL);
    assert_true(synced(informer));
    assert_true(kc_listener_synced(l));
    assert_true(says(d, "*+one ! "));
    create(p->client, "default", "two", "", "v");
    update(p->client, "default", "one", "w");
    erase(p->client, "default", "two");
    eventually(says(d, "*+one ! +two ~one -two "));
    kc_listener_remove(l);
    kc_informer_release(informer);
    plane_free(p);
    diary_free(d);
}

static void who_comes_late_is_told_what_is_there(void **state)
{
    (void)state;
    plane *p = plane_started(NULL);
    diary *d = diary_new();
    create(p->client, "default", "one", "", "v");
    kc_informer *informer = informer_of(p);
    assert_true(synced(informer));
    create(p->client, "default", "two", "", "v");
    eventually(kc_informer_count(informer) == 2);
    kc_listener *l = kc_informer_listen(informer, &OPS, d, 0);
    eventually(kc_listener_synced(l));
    assert_true(says(d, "*+one *+two ! "));
    create(p->client, "default", "three", "", "v");
    eventually(says(d, "*+one *+two ! +three "));
    kc_listener_remove(l);
    kc_informer_release(informer);
    plane_free(p);
    diary_free(d);
}

static void a_removed_listener_hears_nothing_more(void **state)
{
    (void)state;
    plane *p = plane_started(NULL);
    diary *gone = diary_new(), *stays = diary_new();
    kc_informer *informer = informer_of(p);
    kc_listener *a = kc_informer_listen(informer, &OPS, gone, 0);
    kc_listener *b = kc_informer_listen(informer, &OPS, stays, 0);
    create(p->client, "default", "one", "", "v");
    eventually(n_notes(gone) == 2 && n_notes(stays) == 2);
    kc_listener_remove(a);
    create(p->client, "default", "two", "", "v");
    eventually(n_notes(stays) == 3);
    assert_int_equal(n_notes(gone), 2);
    kc_listener_remove(b);
    kc_informer_release(informer);
    plane_free(p);
    diary_free(gone);
    diary_free(stays);
}

static void the_last_user_stops_the_informer(void **state)
{
    (void)state;
    plane *p = plane_started(NULL);
    kc_informer *one = informer_of(p), *two = informer_of(p);
    assert_ptr_equal(one, two);
    assert_true(synced(one));
    kc_informer_release(one);
    create(p->client, "default", "one", "", "v");
    eventually(kc_informer_count(two) == 1);
    const size_t before = faulty_count(p->way, "watch=true");
    kc_informer_release(two);
    kc_informer *again = informer_of(p);
    assert_true(synced(again));
    assert_int_equal(faulty_count(p->way, "watch=true"), before + 1);
    kc_informer_release(again);
    plane_free(p);
}

static void metadata_shares_the_informer_of_objects(void **state)
{
    (void)state;
    plane *p = plane_started(NULL);
    kc_informer *whole = informer_of(p);
    kc_informer *meta = kc_cache_metadata_informer(p->cache, &kc_kind_config_map, NULL);
    assert_ptr_equal(whole, meta);
    kc_informer_release(meta);
    kc_informer_release(whole);
    meta = kc_cache_metadata_informer(p->cache, &kc_kind_config_map, NULL);
    assert_true(synced(meta));
    whole = informer_of(p);
    assert_ptr_not_equal(whole, meta);
    kc_informer_release(meta);
    kc_informer_release(whole);
    plane_free(p);
}

static void a_resync_tells_who_asked_for_it_and_skips_nobody_else(void **state)
{
    (void)state;
    plane *p = plane_virtual(NULL);
    diary *often = diary_new(), *never = diary_new();
    create(p->client, "default", "one", "", "v");
    kc_informer *informer = informer_of(p);
    kc_listener *a = kc_informer_listen(informer, &OPS, often, 30 * KC_SECOND);
    kc_listener *b = kc_informer_listen(informer, &OPS, never, -1);
    kc_cache_start(p->cache, NULL);
    eventually(kc_informer_synced(informer));
    eventually(says(often, "*+one ! =one "));
    eventually(says(often, "*+one ! =one =one "));
    assert_true(says(never, "*+one ! "));
    kc_listener_remove(a);
    kc_listener_remove(b);
    kc_informer_release(informer);
    plane_free(p);
    diary_free(often);
    diary_free(never);
}

static void what_was_deleted_unseen_is_told_as_unknown(void **state)
{
    (void)state;
    plane *p = plane_virtual(NULL);
    diary *d = diary_new();
    create(p->client, "default", "one", "", "v");
    create(p->client, "default", "two", "", "v");
    kc_informer *informer = informer_of(p);
    kc_listener *l = kc_informer_listen(informer, &OPS, d, 0);
    kc_cache_start(p->cache, NULL);
    eventually(says(d, "*+one *+two ! "));
    faulty_freeze(p->way, true);
    erase(p->client, "default", "one");
    faulty_answer(p->way, "watch=true", 1, 410,
                  "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"Expired\","
                  "\"message\":\"too old resource version\",\"code\":410}");
    faulty_end_watches(p->way, true);
    faulty_freeze(p->way, false);
    eventually(says(d, "*+one *+two ! ?one "));
    assert_int_equal(kc_informer_count(informer), 1);
    kc_listener_remove(l);
    kc_informer_release(informer);
    plane_free(p);
    diary_free(d);
}

static void the_revision_moves_with_events_and_bookmarks(void **state)
{
    (void)state;
    plane *p = plane_virtual(NULL);
    kc_informer *informer = informer_of(p);
    assert_int_equal(kc_informer_revision(informer), 0);
    kc_cache_start(p->cache, NULL);
    const uint64_t one = create(p->client, "default", "one", "", "v");
    eventually(kc_informer_revision(informer) >= one);
    kc_auto(kc_object) *secret = object_of("{'apiVersion':'v1','kind':'Secret','metadata':{"
                                           "'namespace':'default','name':'s'}}");
    kc_auto(kc_object) *made = kc_client_create(p->client, secret, NULL, NULL);
    assert_non_null(made);
    eventually(kc_informer_revision(informer) >= kc_object_revision(made)); /* A bookmark. */
    kc_informer_release(informer);
    plane_free(p);
}

static void a_listener_may_read_from_the_cache(const kc_change *change, void *user)
{
    plane *p = ((void **)user)[0];
    kc_auto(kc_object) *read =
        kc_cache_get(p->cache, &kc_kind_config_map, kc_object_key(change->object), NULL);
    assert_non_null(read);
    *(bool *)((void **)user)[1] = true;
}

static void listeners_are_called_without_locks(void **state)
{
    (void)state;
    plane *p = plane_started(NULL);
    bool told = false;
    void *user[] = {p, &told};
    static const kc_listener_ops ops = {.updated = a_listener_may_read_from_the_cache};
    create(p->client, "default", "one", "", "v");
    kc_informer *informer = informer_of(p);
    assert_true(synced(informer));
    kc_listener *l = kc_informer_listen(informer, &ops, user, 0);
    update(p->client, "default", "one", "w");
    eventually(revision_of(p, "default", "one") &&
               kc_informer_revision(informer) >= revision_of(p, "default", "one"));
    update(p->client, "default", "one", "x");
    const uint64_t last = update(p->client, "default", "one", "y");
    eventually(kc_informer_revision(informer) >= last);
    kc_listener_remove(l);
    assert_true(told);
    kc_informer_release(informer);
    plane_free(p);
}

TESTS(listeners_are_told_in_the_order_of_the_server, who_comes_late_is_told_what_is_there,
      a_removed_listener_hears_nothing_more, the_last_user_stops_the_informer,
      metadata_shares_the_informer_of_objects,
      a_resync_tells_who_asked_for_it_and_skips_nobody_else,
      what_was_deleted_unseen_is_told_as_unknown, the_revision_moves_with_events_and_bookmarks,
      listeners_are_called_without_locks)
