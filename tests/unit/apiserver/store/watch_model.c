/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watchers compared with a model: random writers on three loops, and watchers that stop and resume
 * from their bookmark revision. The test records each stored event by revision; at the end each
 * watcher must have received the events of its key filter, once and in order.
 */
#include "store_testing.h"

enum { WRITERS = 12, WRITES = 400, MOST = WRITERS * WRITES + 2, OBSERVERS = 24, NAMESPACES = 3 };

/* What was stored at a revision; no key: nothing of this resource. */
typedef struct fact {
    char key[16];
} fact;

typedef struct shared_state {
    stage *s;
    fact facts[MOST]; /* By revision: each is written once, by one thread. */
    kc_latch writers;
} shared_state;

/* ---- writers: each has one write in progress and starts the next when it is done ---- */

typedef struct writer {
    kc__store_write write;
    shared_state *w;
    kc_rand random;
    int left;
    char key[16];
    kc_object *object;
} writer;

static void next_write(writer *x);

static void on_written(kc__store_write *write)
{
    writer *x = kc_container_of(write, writer, write);
    if (write->outcome == KC__STORAGE_STORED && write->cache == x->w->s->pods)
        memcpy(x->w->facts[write->revision].key, x->key, sizeof(x->key));
    kc_object_unref(write->result);
    kc_error_done(&write->error);
    if (--x->left)
        next_write(x);
    else
        kc_latch_count_down(&x->w->writers);
}

static void next_write(writer *x)
{
    const uint64_t expected[] = {KC__STORAGE_ANY, KC__STORAGE_ANY, KC__STORAGE_ABSENT};
    snprintf(x->key, sizeof(x->key), "%c/%d", 'a' + (int)kc_rand_below(&x->random, NAMESPACES),
             (int)kc_rand_below(&x->random, 4));
    const bool deletion = kc_rand_below(&x->random, 4) == 0;
    x->write = (kc__store_write){
        .cache = kc_rand_below(&x->random, 8) ? x->w->s->pods : x->w->s->maps,
        .verb = deletion ? KC__STORAGE_DELETE : KC__STORAGE_PUT,
        .key = kc_cstr(x->key),
        .expected = expected[kc_rand_below(&x->random, 3)],
        .object = deletion ? NULL : x->object,
        .loop = x->w->s->loops[kc_rand_below(&x->random, STAGE_LOOPS)],
        .done = on_written,
    };
    kc__store_submit(x->w->s->store, &x->write);
}

/* ---- viewers ---- */

typedef struct observer {
    shared_state *w;
    kc__loop *loop;
    kc__store_watch_opts opts;
    kc__store_watcher *watcher;
    kc_rand random;
    uint64_t seen[MOST];
    size_t n;
    uint64_t claimed;
    bool broken;
} observer;

/* Takes some or all, and checks the bookmark it could send at each moment. */
static void take_some(observer *v)
{
    kc__store_event *event = NULL;
    while (kc_rand_below(&v->random, 50) &&
           kc__store_watch_next(v->watcher, &event) == KC__STORE_WATCH_EVENT) {
        v->broken |= event->revision <= v->claimed;
        v->claimed = kc__store_watch_revision(v->watcher);
        v->broken |= v->claimed < event->revision;
        v->seen[v->n++] = event->revision;
        kc__store_event_unref(event);
    }
    const uint64_t claims = kc__store_watch_revision(v->watcher);
    v->broken |= claims < v->claimed;
    v->claimed = claims;
}

static void take_all(observer *v)
{
    kc__store_event *event = NULL;
    kc__store_watch_result state;
    while ((state = kc__store_watch_next(v->watcher, &event)) == KC__STORE_WATCH_EVENT) {
        v->broken |= event->revision <= v->claimed;
        v->seen[v->n++] = event->revision;
        kc__store_event_unref(event);
    }
    v->broken |= state != KC__STORE_WATCH_EMPTY;
}

static void on_ready(void *user)
{
    take_all(user);
}

static void start(void *user)
{
    observer *v = user;
    v->watcher = kc__store_watch_start(&v->opts);
    take_all(v);
}

/* Stops, and goes on from its last bookmark. */
static void restart(void *user)
{
    observer *v = user;
    take_some(v);
    v->opts.since = v->claimed;
    kc__store_watch_stop(v->watcher);
    v->watcher = kc__store_watch_start(&v->opts);
    take_some(v);
    take_all(v);
}

static void finish(void *user)
{
    observer *v = user;
    take_all(v);
    v->watcher = kc__store_watch_stop(v->watcher);
}

static bool concerns(const observer *v, const fact *f)
{
    if (v->opts.key.n)
        return kc_str_is(v->opts.key, f->key);
    return kc_str_starts(kc_cstr(f->key), v->opts.prefix);
}

static void expect_exactly_once(const observer *v)
{
    const uint64_t newest = kc__store_revision(v->w->s->store);
    size_t n = 0;
    assert_false(v->broken);
    for (uint64_t revision = 2; revision <= newest; revision++) {
        const fact *f = &v->w->facts[revision];
        if (!f->key[0] || !concerns(v, f))
            continue;
        assert_true(n < v->n);
        assert_int_equal(v->seen[n], revision);
        n++;
    }
    assert_int_equal(n, v->n);
}

static const struct {
    const char *prefix, *key;
} interests[] = {{"", ""}, {"a/", ""}, {"", "b/1"}, {"c", ""}, {"", "a/0"}, {"", ""}};

static void set_up(shared_state *w, observer *v, size_t i)
{
    *v = (observer){.w = w, .loop = w->s->loops[i % STAGE_LOOPS]};
    v->opts = (kc__store_watch_opts){.cache = w->s->pods,
                                     .loop = v->loop,
                                     .since = 1,
                                     .max_queued = i % 2 ? MOST : 3, /* Often full. */
                                     .prefix = kc_cstr(interests[i % KC_COUNT(interests)].prefix),
                                     .key = kc_cstr(interests[i % KC_COUNT(interests)].key),
                                     .ready = on_ready,
                                     .user = v};
    kc_rand_seed(&v->random, i);
    v->claimed = 1;
}

static void begin_writing(shared_state *w, writer *writers, const kc_object *object)
{
    kc_latch_init(&w->writers);
    kc_latch_add(&w->writers, WRITERS);
    for (size_t i = 0; i < WRITERS; i++) {
        writers[i] = (writer){.w = w, .left = WRITES, .object = (kc_object *)object};
        kc_rand_seed(&writers[i].random, 100 + i);
        next_write(&writers[i]);
    }
}

static void every_watcher_gets_every_event_exactly_once_and_in_order(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_make();
    s->opts.max_batch = 8;
    stage_open(s);
    kc_autofree shared_state *w = kc_new(shared_state);
    kc_autofree observer *observers = kc_calloc(OBSERVERS, sizeof(*observers));
    kc_auto(kc_object) *object = object_of("{'data':'x'}");
    writer writers[WRITERS];
    kc_rand random;
    kc_rand_seed(&random, 1);
    w->s = s;
    begin_writing(w, writers, object);
    for (size_t i = 0; i < OBSERVERS; i++) {
        set_up(w, &observers[i], i);
        on_loop(observers[i].loop, start, &observers[i]);
    }
    while (!kc_latch_wait_until(&w->writers, kc_clock_real(), 0)) {
        observer *v = &observers[kc_rand_below(&random, OBSERVERS)];
        on_loop(v->loop, restart, v);
    }
    for (size_t i = 0; i < OBSERVERS; i++)
        on_loop(observers[i].loop, finish, &observers[i]);
    for (size_t i = 0; i < OBSERVERS; i++)
        expect_exactly_once(&observers[i]);
    kc_latch_done(&w->writers);
}

TESTS(every_watcher_gets_every_event_exactly_once_and_in_order)
