/* SPDX-License-Identifier: Apache-2.0 */
#include "plane.h"

#include "kc/map.h"

/* Records notifications: "+name" for an add, "~name", "-name", "?name" for a deletion that
 * was missed, "=name" for a resync, "!" for synced; "*" before an initial add. */
typedef struct journal {
    kc_mutex mutex;
    kc_buf text;
    size_t n;
} journal;

static void note(journal *d, const char *mark, const kc_change *change)
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

static const kc_event_handler_ops OPS = {on_added, on_updated, on_deleted, on_synced};

static journal *journal_new(void)
{
    journal *d = kc_new(journal);
    kc_mutex_init(&d->mutex);
    return d;
}

static void journal_free(journal *d)
{
    kc_buf_done(&d->text);
    kc_mutex_done(&d->mutex);
    free(d);
}

static bool journal_is(journal *d, const char *text)
{
    bool same = false;
    kc_locked (&d->mutex)
        same = kc_str_is(kc_buf_str(&d->text), text);
    return same;
}

static size_t n_notes(journal *d)
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
    return kc_informer_wait_synced(informer, kc_clock_deadline(kc_clock_real(), KC_MINUTE), NULL);
}

static void handlers_are_called_in_order_of_the_server(void **state)
{
    (void)state;
    plane *p = plane_new(NULL);
    journal *d = journal_new();
    create(p->client, "default", "one", "", "v");
    kc_informer *informer = informer_of(p);
    kc_event_handler *l = kc_informer_add_handler(informer, &OPS, d, 0);
    assert_false(kc_informer_has_synced(informer));
    kc_cache_start(p->cache, NULL);
    assert_true(synced(informer));
    assert_true(kc_event_handler_has_synced(l));
    assert_true(journal_is(d, "*+one ! "));
    create(p->client, "default", "two", "", "v");
    update(p->client, "default", "one", "w");
    erase(p->client, "default", "two");
    eventually(journal_is(d, "*+one ! +two ~one -two "));
    kc_event_handler_remove(l);
    kc_informer_release(informer);
    plane_free(p);
    journal_free(d);
}

static void late_handler_gets_existing_objects(void **state)
{
    (void)state;
    plane *p = plane_started(NULL);
    journal *d = journal_new();
    create(p->client, "default", "one", "", "v");
    kc_informer *informer = informer_of(p);
    assert_true(synced(informer));
    create(p->client, "default", "two", "", "v");
    eventually(kc_informer_count(informer) == 2);
    kc_event_handler *l = kc_informer_add_handler(informer, &OPS, d, 0);
    eventually(kc_event_handler_has_synced(l));
    assert_true(journal_is(d, "*+one *+two ! "));
    create(p->client, "default", "three", "", "v");
    eventually(journal_is(d, "*+one *+two ! +three "));
    kc_event_handler_remove(l);
    kc_informer_release(informer);
    plane_free(p);
    journal_free(d);
}

static void removed_handler_is_not_called(void **state)
{
    (void)state;
    plane *p = plane_started(NULL);
    journal *gone = journal_new(), *stays = journal_new();
    kc_informer *informer = informer_of(p);
    kc_event_handler *a = kc_informer_add_handler(informer, &OPS, gone, 0);
    kc_event_handler *b = kc_informer_add_handler(informer, &OPS, stays, 0);
    create(p->client, "default", "one", "", "v");
    eventually(n_notes(gone) == 2 && n_notes(stays) == 2);
    kc_event_handler_remove(a);
    create(p->client, "default", "two", "", "v");
    eventually(n_notes(stays) == 3);
    assert_int_equal(n_notes(gone), 2);
    kc_event_handler_remove(b);
    kc_informer_release(informer);
    plane_free(p);
    journal_free(gone);
    journal_free(stays);
}

static void last_release_stops_the_informer(void **state)
{
    (void)state;
    plane *p = plane_started(NULL);
    kc_informer *one = informer_of(p), *two = informer_of(p);
    assert_ptr_equal(one, two);
    assert_true(synced(one));
    kc_informer_release(one);
    create(p->client, "default", "one", "", "v");
    eventually(kc_informer_count(two) == 1);
    const size_t before = faulty_count(p->faults, "watch=true");
    kc_informer_release(two);
    kc_informer *again = informer_of(p);
    assert_true(synced(again));
    assert_int_equal(faulty_count(p->faults, "watch=true"), before + 1);
    kc_informer_release(again);
    plane_free(p);
}

static void metadata_informer_shares_the_object_informer(void **state)
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

static void resync_calls_only_handlers_that_requested_it(void **state)
{
    (void)state;
    plane *p = plane_virtual(NULL);
    journal *often = journal_new(), *never = journal_new();
    create(p->client, "default", "one", "", "v");
    kc_informer *informer = informer_of(p);
    kc_event_handler *a = kc_informer_add_handler(informer, &OPS, often, 30 * KC_SECOND);
    kc_event_handler *b = kc_informer_add_handler(informer, &OPS, never, -1);
    kc_cache_start(p->cache, NULL);
    eventually(kc_informer_has_synced(informer));
    eventually(journal_is(often, "*+one ! =one "));
    eventually(journal_is(often, "*+one ! =one =one "));
    assert_true(journal_is(never, "*+one ! "));
    kc_event_handler_remove(a);
    kc_event_handler_remove(b);
    kc_informer_release(informer);
    plane_free(p);
    journal_free(often);
    journal_free(never);
}

static void deletion_missed_by_the_watch_is_final_state_unknown(void **state)
{
    (void)state;
    plane *p = plane_virtual(NULL);
    journal *d = journal_new();
    create(p->client, "default", "one", "", "v");
    create(p->client, "default", "two", "", "v");
    kc_informer *informer = informer_of(p);
    kc_event_handler *l = kc_informer_add_handler(informer, &OPS, d, 0);
    kc_cache_start(p->cache, NULL);
    eventually(journal_is(d, "*+one *+two ! "));
    faulty_freeze(p->faults, true);
    erase(p->client, "default", "one");
    faulty_respond(p->faults, "watch=true", 1, 410,
                   "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"Expired\","
                   "\"message\":\"too old resource version\",\"code\":410}");
    faulty_end_watches(p->faults, true);
    faulty_freeze(p->faults, false);
    eventually(journal_is(d, "*+one *+two ! ?one "));
    assert_int_equal(kc_informer_count(informer), 1);
    kc_event_handler_remove(l);
    kc_informer_release(informer);
    plane_free(p);
    journal_free(d);
}

static void revision_follows_events_and_bookmarks(void **state)
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

static void read_from_cache(const kc_change *change, void *user)
{
    plane *p = ((void **)user)[0];
    kc_auto(kc_object) *read =
        kc_cache_get(p->cache, &kc_kind_config_map, kc_object_key(change->object), NULL);
    assert_non_null(read);
    *(bool *)((void **)user)[1] = true;
}

static void handlers_are_called_without_locks(void **state)
{
    (void)state;
    plane *p = plane_started(NULL);
    bool notified = false;
    void *user[] = {p, &notified};
    static const kc_event_handler_ops ops = {.updated = read_from_cache};
    create(p->client, "default", "one", "", "v");
    kc_informer *informer = informer_of(p);
    assert_true(synced(informer));
    kc_event_handler *l = kc_informer_add_handler(informer, &ops, user, 0);
    update(p->client, "default", "one", "w");
    eventually(revision_of(p, "default", "one") &&
               kc_informer_revision(informer) >= revision_of(p, "default", "one"));
    update(p->client, "default", "one", "x");
    const uint64_t last = update(p->client, "default", "one", "y");
    eventually(kc_informer_revision(informer) >= last);
    kc_event_handler_remove(l);
    assert_true(notified);
    kc_informer_release(informer);
    plane_free(p);
}

TESTS(handlers_are_called_in_order_of_the_server, late_handler_gets_existing_objects,
      removed_handler_is_not_called, last_release_stops_the_informer,
      metadata_informer_shares_the_object_informer, resync_calls_only_handlers_that_requested_it,
      deletion_missed_by_the_watch_is_final_state_unknown, revision_follows_events_and_bookmarks,
      handlers_are_called_without_locks)
