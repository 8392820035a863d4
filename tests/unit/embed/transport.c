/* SPDX-License-Identifier: Apache-2.0 */
#include "embed/around.h"
#include "testing.h"

#include "apiserver/storage/storage_memory.h"

#include "kc/thread.h"

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#define CONFIG_MAPS "/api/v1/namespaces/default/configmaps"

static kc_embed *start(const kc_embed_opts *opts)
{
    kc_scoped(kc_error) err = {0};
    kc_embed *server = kc_embed_start(opts, &err);
    if (!server)
        fail_msg("%s", kc_error_text(&err));
    return server;
}

static kc_http_response *request(kc_transport *t, const char *method, const char *target,
                                 const char *body)
{
    kc_scoped(kc_error) err = {0};
    const kc_http_field type = {KC_STR("Content-Type"), KC_STR("application/json")};
    kc_http_response *r = kc_transport_open(t,
                                            &(kc_http_request){.method = method,
                                                               .target = kc_cstr(target),
                                                               .fields = &type,
                                                               .n_fields = 1,
                                                               .body = kc_cstr(body)},
                                            &err);
    if (!r)
        fail_msg("%s %s: %s", method, target, kc_error_text(&err));
    return r;
}

/* The status, and all of the body. */
static int ask(kc_transport *t, const char *method, const char *target, const char *body,
               kc_buf *out)
{
    kc_auto(kc_http_response) *r = request(t, method, target, body);
    char chunk[1000];
    for (ssize_t n; (n = kc_http_read(r, chunk, sizeof(chunk), NULL)) != 0;) {
        assert_true(n > 0);
        if (out)
            kc_buf_append(out, kc_str_of(chunk, (size_t)n));
    }
    return r->status;
}

static void create(kc_transport *t, const char *name, size_t filler)
{
    kc_autofree char *fill = kc_calloc(1, filler + 1);
    memset(fill, 'x', filler);
    kc_autofree char *body =
        kc_asprintf("{\"metadata\":{\"name\":\"%s\"},\"data\":{\"k\":\"%s\"}}", name, fill);
    assert_int_equal(ask(t, "POST", CONFIG_MAPS, body, NULL), 201);
}

static void requests_are_answered(void **state)
{
    (void)state;
    kc_auto(kc_embed) *server = start(NULL);
    kc_auto(kc_transport) *t = kc_embed_transport(server, NULL);
    kc_scoped(kc_buf) out = {0};
    create(t, "a", 1);
    assert_int_equal(ask(t, "GET", CONFIG_MAPS "/a", NULL, &out), 200);
    assert_contains(kc_buf_cstr(&out), "\"k\":\"x\"");
    assert_int_equal(ask(t, "GET", CONFIG_MAPS "/b", NULL, NULL), 404);
}

static void fields_of_an_answer_are_in_lower_case(void **state)
{
    (void)state;
    kc_auto(kc_embed) *server = start(NULL);
    kc_auto(kc_transport) *t = kc_embed_transport(server, NULL);
    kc_auto(kc_http_response) *r = request(t, "GET", "/version", NULL);
    assert_true(kc_str_eq(kc_http_field_of(r, KC_STR("content-type")), KC_STR("application/json")));
    assert_true(kc_http_field_of(r, KC_STR("audit-id")).n > 0);
    assert_int_equal(kc_http_field_of(r, KC_STR("x-nothing")).n, 0);
}

/* Many times what may lie between the two, read bit by bit. */
static void a_long_answer_waits_for_its_reader(void **state)
{
    (void)state;
    kc_auto(kc_embed) *server = start(NULL);
    kc_auto(kc_transport) *t = kc_embed_transport(server, NULL);
    for (int i = 0; i < 30; i++) {
        char name[16];
        snprintf(name, sizeof(name), "big-%d", i);
        create(t, name, 100000);
    }
    kc_scoped(kc_buf) out = {0};
    assert_int_equal(ask(t, "GET", CONFIG_MAPS, NULL, &out), 200);
    assert_true(out.n > 3000000);
    assert_int_equal(out.p[out.n - 1], '}');
}

/* ---- watches ---- */

static ssize_t next_bytes(kc_http_response *r, kc_buf *out, kc_error *err)
{
    char chunk[4096];
    const ssize_t n = kc_http_read(r, chunk, sizeof(chunk), err);
    if (n > 0)
        kc_buf_append(out, kc_str_of(chunk, (size_t)n));
    return n;
}

static void create_b(void *user)
{
    create(user, "b", 1);
}

static void a_watch_blocks_until_something_happens(void **state)
{
    (void)state;
    kc_auto(kc_embed) *server = start(NULL);
    kc_auto(kc_transport) *t = kc_embed_transport(server, NULL);
    kc_auto(kc_http_response) *w = request(t, "GET", CONFIG_MAPS "?watch=1", NULL);
    kc_thread *thread = kc_thread_start("writer", create_b, t, NULL);
    kc_scoped(kc_buf) out = {0};
    while (!out.n || !strstr(kc_buf_cstr(&out), "\"name\":\"b\""))
        assert_true(next_bytes(w, &out, NULL) > 0);
    kc_thread_join(thread);
}

static void a_read_that_is_late_can_be_repeated(void **state)
{
    (void)state;
    kc_auto(kc_embed) *server = start(NULL);
    kc_auto(kc_transport) *t = kc_embed_transport(server, NULL);
    kc_auto(kc_http_response) *w = request(t, "GET", CONFIG_MAPS "?watch=1", NULL);
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) out = {0};
    w->read_deadline = kc_clock_deadline(kc_clock_real(), KC_MILLISECOND);
    assert_true(next_bytes(w, &out, &err) < 0);
    assert_int_equal(err.reason, KC_TIMEOUT);
    w->read_deadline = 0;
    create(t, "a", 1);
    assert_true(next_bytes(w, &out, NULL) > 0);
}

static void fire(void *user)
{
    kc_cancel_fire(user);
}

static void a_fired_token_ends_a_read(void **state)
{
    (void)state;
    kc_auto(kc_embed) *server = start(NULL);
    kc_auto(kc_transport) *t = kc_embed_transport(server, NULL);
    kc_auto(kc_cancel) *cancel = kc_cancel_new(NULL);
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) out = {0};
    const kc_http_request watch = {
        .method = "GET", .target = KC_STR(CONFIG_MAPS "?watch=1"), .cancel = cancel};
    kc_auto(kc_http_response) *w = kc_transport_open(t, &watch, NULL);
    assert_non_null(w);
    kc_thread *thread = kc_thread_start("canceller", fire, cancel, NULL);
    while (next_bytes(w, &out, &err) > 0)
        ;
    assert_error(&err, KC_TIMEOUT, "cancelled");
    kc_thread_join(thread);
    kc_error_done(&err);
    assert_null(kc_transport_open(t, &watch, &err));
    assert_error(&err, KC_TIMEOUT, "cancelled");
}

static void a_deadline_ends_the_whole_answer(void **state)
{
    (void)state;
    kc_auto(kc_embed) *server = start(NULL);
    kc_auto(kc_transport) *t = kc_embed_transport(server, NULL);
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) out = {0};
    kc_auto(kc_http_response) *w = kc_transport_open(
        t,
        &(kc_http_request){.method = "GET",
                           .target = KC_STR(CONFIG_MAPS "?watch=1"),
                           .deadline = kc_clock_deadline(kc_clock_real(), 50 * KC_MILLISECOND)},
        &err);
    if (w)
        assert_true(next_bytes(w, &out, &err) < 0);
    assert_int_equal(err.reason, KC_TIMEOUT);
}

/* Nobody reads: what is kept for the reader is bounded, and closing in the middle is clean. */
static void answers_may_be_closed_anywhere(void **state)
{
    (void)state;
    kc_auto(kc_embed) *server = start(NULL);
    kc_auto(kc_transport) *t = kc_embed_transport(server, NULL);
    kc_auto(kc_http_response) *idle = request(t, "GET", CONFIG_MAPS "?watch=1", NULL);
    for (int i = 0; i < 20; i++) {
        char name[16];
        snprintf(name, sizeof(name), "big-%d", i);
        create(t, name, 100000);
        kc_auto(kc_http_response) *list = request(t, "GET", CONFIG_MAPS, NULL);
        char one;
        assert_int_equal(kc_http_read(list, &one, 1, NULL), 1);
    }
}

/* ---- the end of the server ---- */

static void stopping_ends_what_is_under_way(void **state)
{
    (void)state;
    kc_embed *server = start(NULL);
    kc_auto(kc_transport) *t = kc_embed_transport(server, NULL);
    kc_auto(kc_http_response) *w = request(t, "GET", CONFIG_MAPS "?watch=1", NULL);
    kc_embed_stop(server);
    kc_scoped(kc_buf) out = {0};
    while (next_bytes(w, &out, NULL) > 0)
        ;
    kc_scoped(kc_error) err = {0};
    assert_null(kc_transport_open(
        t, &(kc_http_request){.method = "GET", .target = KC_STR("/version")}, &err));
    assert_error(&err, KC_SERVICE_UNAVAILABLE, "has stopped");
    assert_int_equal(err.code, 0);
}

static void a_memory_outlives_its_server(void **state)
{
    (void)state;
    kc_auto(kc_embed_memory) *memory = kc_embed_memory_new();
    for (int i = 0; i < 2; i++) {
        kc_auto(kc_embed) *server = start(&(kc_embed_opts){.memory = memory});
        kc_auto(kc_transport) *t = kc_embed_transport(server, NULL);
        if (i == 0)
            create(t, "a", 1);
        else
            assert_int_equal(ask(t, "GET", CONFIG_MAPS "/a", NULL, NULL), 200);
    }
}

static void a_folder_outlives_its_server(void **state)
{
    (void)state;
    char folder[] = "/tmp/kc-embed-XXXXXX";
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < 2; i++) {
        kc_auto(kc_embed) *server = start(&(kc_embed_opts){.folder = folder, .threads = 1});
        kc_auto(kc_transport) *t = kc_embed_transport(server, NULL);
        if (i == 0)
            create(t, "a", 1);
        else
            assert_int_equal(ask(t, "GET", CONFIG_MAPS "/a", NULL, NULL), 200);
    }
    DIR *dir = opendir(folder);
    for (const struct dirent *entry; (entry = readdir(dir));)
        unlinkat(dirfd(dir), entry->d_name, 0);
    closedir(dir);
    rmdir(folder);
}

static void a_port_lets_others_in(void **state)
{
    (void)state;
    kc_auto(kc_embed) *closed = start(NULL);
    kc_auto(kc_embed) *open = start(&(kc_embed_opts){.port = -1});
    assert_int_equal(kc_embed_port(closed), 0);
    assert_true(kc_embed_port(open) > 0);
}

static void a_folder_in_use_is_an_error(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_embed_memory) *memory = kc_embed_memory_new();
    kc_auto(kc_embed) *first = start(&(kc_embed_opts){.memory = memory});
    assert_null(kc_embed_start(&(kc_embed_opts){.memory = memory}, &err));
    assert_error(&err, KC_CONFLICT, "in use");
}

/* ---- around a server of somebody else's ---- */

static void a_server_of_another_is_used_and_left_running(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_storage *storage = NULL;
    assert_int_equal(kc_storage_open(&kc_storage_memory, &(kc_storage_opts){0}, &storage, &err), 0);
    kc_auto(kc_apiserver) *server =
        kc_apiserver_start(&(kc_apiserver_opts){.storage = storage}, &err);
    assert_non_null(server);
    kc_embed *first = kc__embed_around(server, NULL);
    assert_int_equal(kc_embed_port(first), 0);
    kc_auto(kc_transport) *t = kc_embed_transport(first, NULL);
    create(t, "one", 10);
    kc_embed_stop(first);
    assert_null(kc_transport_open(
        t, &(kc_http_request){.method = "GET", .target = KC_STR(CONFIG_MAPS "/one")}, &err));
    kc_auto(kc_embed) *second = kc__embed_around(server, NULL);
    kc_auto(kc_transport) *again = kc_embed_transport(second, NULL);
    assert_int_equal(ask(again, "GET", CONFIG_MAPS "/one", NULL, NULL), 200);
}

/* ---- many at a time ---- */

enum { WRITERS = 4, WRITES = 20 };

typedef struct writer {
    kc_transport *t;
    int number;
} writer;

static void write_some(void *user)
{
    const writer *w = user;
    for (int i = 0; i < WRITES; i++) {
        char name[32];
        snprintf(name, sizeof(name), "w-%d-%d", w->number, i);
        create(w->t, name, 100);
    }
}

static size_t count(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, part)); at++)
        n++;
    return n;
}

static void many_threads_share_a_transport(void **state)
{
    (void)state;
    kc_auto(kc_embed) *server = start(NULL);
    kc_auto(kc_transport) *t =
        kc_embed_transport(server, &(kc_embed_user){.name = "robot", .groups = NULL});
    kc_auto(kc_http_response) *w = request(t, "GET", CONFIG_MAPS "?watch=1", NULL);
    writer writers[WRITERS];
    kc_thread *threads[WRITERS];
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (writer){t, i};
        threads[i] = kc_thread_start("writer", write_some, &writers[i], NULL);
    }
    kc_scoped(kc_buf) out = {0};
    while (!out.n || count(kc_buf_cstr(&out), "\"ADDED\"") < WRITERS * WRITES)
        assert_true(next_bytes(w, &out, NULL) > 0);
    for (int i = 0; i < WRITERS; i++)
        kc_thread_join(threads[i]);
}

TESTS(requests_are_answered, fields_of_an_answer_are_in_lower_case,
      a_long_answer_waits_for_its_reader, a_watch_blocks_until_something_happens,
      a_read_that_is_late_can_be_repeated, a_fired_token_ends_a_read,
      a_deadline_ends_the_whole_answer, answers_may_be_closed_anywhere,
      stopping_ends_what_is_under_way, a_memory_outlives_its_server, a_folder_outlives_its_server,
      a_port_lets_others_in, a_folder_in_use_is_an_error,
      a_server_of_another_is_used_and_left_running, many_threads_share_a_transport)
