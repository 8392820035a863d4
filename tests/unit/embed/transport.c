/* SPDX-License-Identifier: Apache-2.0 */
#include "embed/wrap_server.h"
#include "testing.h"

#include "apiserver/storage/memory/memory_backend.h"

#include "kc/thread.h"

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#define CONFIG_MAPS "/api/v1/namespaces/default/configmaps"

static kc_embedded_server *start(const kc_embedded_server_opts *opts)
{
    kc_scoped(kc_error) err = {0};
    kc_embedded_server *server = kc_embedded_server_start(opts, &err);
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
static int send_request(kc_transport *t, const char *method, const char *target, const char *body,
                        kc_buf *out)
{
    kc_auto(kc_http_response) *r = request(t, method, target, body);
    char chunk[1000];
    for (ssize_t n; (n = kc_http_response_read(r, chunk, sizeof(chunk), NULL)) != 0;) {
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
    assert_int_equal(send_request(t, "POST", CONFIG_MAPS, body, NULL), 201);
}

static void requests_return_responses(void **state)
{
    (void)state;
    kc_auto(kc_embedded_server) *server = start(NULL);
    kc_auto(kc_transport) *t = kc_embedded_server_transport(server, NULL);
    kc_scoped(kc_buf) out = {0};
    create(t, "a", 1);
    assert_int_equal(send_request(t, "GET", CONFIG_MAPS "/a", NULL, &out), 200);
    assert_contains(kc_buf_cstr(&out), "\"k\":\"x\"");
    assert_int_equal(send_request(t, "GET", CONFIG_MAPS "/b", NULL, NULL), 404);
}

static void response_header_names_are_lower_case(void **state)
{
    (void)state;
    kc_auto(kc_embedded_server) *server = start(NULL);
    kc_auto(kc_transport) *t = kc_embedded_server_transport(server, NULL);
    kc_auto(kc_http_response) *r = request(t, "GET", "/version", NULL);
    assert_true(
        kc_str_eq(kc_http_response_field(r, KC_STR("content-type")), KC_STR("application/json")));
    assert_true(kc_http_response_field(r, KC_STR("audit-id")).n > 0);
    assert_int_equal(kc_http_response_field(r, KC_STR("x-nothing")).n, 0);
}

/* Many times what may lie between the two, read bit by bit. */
static void long_response_waits_for_its_reader(void **state)
{
    (void)state;
    kc_auto(kc_embedded_server) *server = start(NULL);
    kc_auto(kc_transport) *t = kc_embedded_server_transport(server, NULL);
    for (int i = 0; i < 30; i++) {
        char name[16];
        snprintf(name, sizeof(name), "big-%d", i);
        create(t, name, 100000);
    }
    kc_scoped(kc_buf) out = {0};
    assert_int_equal(send_request(t, "GET", CONFIG_MAPS, NULL, &out), 200);
    assert_true(out.n > 3000000);
    assert_int_equal(out.p[out.n - 1], '}');
}

/* ---- watches ---- */

static ssize_t next_bytes(kc_http_response *r, kc_buf *out, kc_error *err)
{
    char chunk[4096];
    const ssize_t n = kc_http_response_read(r, chunk, sizeof(chunk), err);
    if (n > 0)
        kc_buf_append(out, kc_str_of(chunk, (size_t)n));
    return n;
}

static void create_b(void *user)
{
    create(user, "b", 1);
}

static void watch_blocks_until_an_event(void **state)
{
    (void)state;
    kc_auto(kc_embedded_server) *server = start(NULL);
    kc_auto(kc_transport) *t = kc_embedded_server_transport(server, NULL);
    kc_auto(kc_http_response) *w = request(t, "GET", CONFIG_MAPS "?watch=1", NULL);
    kc_thread *thread = kc_thread_start("writer", create_b, t, NULL);
    kc_scoped(kc_buf) out = {0};
    while (!out.n || !strstr(kc_buf_cstr(&out), "\"name\":\"b\""))
        assert_true(next_bytes(w, &out, NULL) > 0);
    kc_thread_join(thread);
}

static void read_that_timed_out_can_be_repeated(void **state)
{
    (void)state;
    kc_auto(kc_embedded_server) *server = start(NULL);
    kc_auto(kc_transport) *t = kc_embedded_server_transport(server, NULL);
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

static void cancelled_token_ends_a_read(void **state)
{
    (void)state;
    kc_auto(kc_embedded_server) *server = start(NULL);
    kc_auto(kc_transport) *t = kc_embedded_server_transport(server, NULL);
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

static void deadline_ends_the_whole_response(void **state)
{
    (void)state;
    kc_auto(kc_embedded_server) *server = start(NULL);
    kc_auto(kc_transport) *t = kc_embedded_server_transport(server, NULL);
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

/* Without a reader the buffered bytes are bounded, and closing in the middle is clean. */
static void response_may_be_closed_at_any_time(void **state)
{
    (void)state;
    kc_auto(kc_embedded_server) *server = start(NULL);
    kc_auto(kc_transport) *t = kc_embedded_server_transport(server, NULL);
    kc_auto(kc_http_response) *idle = request(t, "GET", CONFIG_MAPS "?watch=1", NULL);
    for (int i = 0; i < 20; i++) {
        char name[16];
        snprintf(name, sizeof(name), "big-%d", i);
        create(t, name, 100000);
        kc_auto(kc_http_response) *list = request(t, "GET", CONFIG_MAPS, NULL);
        char one;
        assert_int_equal(kc_http_response_read(list, &one, 1, NULL), 1);
    }
}

/* ---- the end of the server ---- */

static void stop_ends_open_requests(void **state)
{
    (void)state;
    kc_embedded_server *server = start(NULL);
    kc_auto(kc_transport) *t = kc_embedded_server_transport(server, NULL);
    kc_auto(kc_http_response) *w = request(t, "GET", CONFIG_MAPS "?watch=1", NULL);
    kc_embedded_server_stop(server);
    kc_scoped(kc_buf) out = {0};
    while (next_bytes(w, &out, NULL) > 0)
        ;
    kc_scoped(kc_error) err = {0};
    assert_null(kc_transport_open(
        t, &(kc_http_request){.method = "GET", .target = KC_STR("/version")}, &err));
    assert_error(&err, KC_SERVICE_UNAVAILABLE, "has stopped");
    assert_int_equal(err.code, 0);
}

static void memory_outlives_its_server(void **state)
{
    (void)state;
    kc_auto(kc_embedded_memory) *memory = kc_embedded_memory_new();
    for (int i = 0; i < 2; i++) {
        kc_auto(kc_embedded_server) *server = start(&(kc_embedded_server_opts){.memory = memory});
        kc_auto(kc_transport) *t = kc_embedded_server_transport(server, NULL);
        if (i == 0)
            create(t, "a", 1);
        else
            assert_int_equal(send_request(t, "GET", CONFIG_MAPS "/a", NULL, NULL), 200);
    }
}

static void directory_outlives_its_server(void **state)
{
    (void)state;
    char folder[] = "/tmp/kc-embed-XXXXXX";
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < 2; i++) {
        kc_auto(kc_embedded_server) *server =
            start(&(kc_embedded_server_opts){.dir = folder, .threads = 1});
        kc_auto(kc_transport) *t = kc_embedded_server_transport(server, NULL);
        if (i == 0)
            create(t, "a", 1);
        else
            assert_int_equal(send_request(t, "GET", CONFIG_MAPS "/a", NULL, NULL), 200);
    }
    DIR *dir = opendir(folder);
    for (const struct dirent *entry; (entry = readdir(dir));)
        unlinkat(dirfd(dir), entry->d_name, 0);
    closedir(dir);
    rmdir(folder);
}

static void server_listens_only_with_a_port(void **state)
{
    (void)state;
    kc_auto(kc_embedded_server) *closed = start(NULL);
    kc_auto(kc_embedded_server) *open = start(&(kc_embedded_server_opts){.port = -1});
    assert_int_equal(kc_embedded_server_port(closed), 0);
    assert_true(kc_embedded_server_port(open) > 0);
}

static void memory_in_use_is_a_conflict(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_embedded_memory) *memory = kc_embedded_memory_new();
    kc_auto(kc_embedded_server) *first = start(&(kc_embedded_server_opts){.memory = memory});
    assert_null(kc_embedded_server_start(&(kc_embedded_server_opts){.memory = memory}, &err));
    assert_error(&err, KC_CONFLICT, "in use");
}

/* ---- around an external server ---- */

static void external_server_is_used_and_left_running(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc__storage *storage = NULL;
    assert_int_equal(
        kc__storage_open(&kc__storage_memory_backend, &(kc__storage_opts){0}, &storage, &err), 0);
    kc_auto(kc__apiserver) *server =
        kc__apiserver_start(&(kc__apiserver_opts){.storage = storage}, &err);
    assert_non_null(server);
    kc_embedded_server *first = kc__embed_wrap_server(server, NULL);
    assert_int_equal(kc_embedded_server_port(first), 0);
    kc_auto(kc_transport) *t = kc_embedded_server_transport(first, NULL);
    create(t, "one", 10);
    kc_embedded_server_stop(first);
    assert_null(kc_transport_open(
        t, &(kc_http_request){.method = "GET", .target = KC_STR(CONFIG_MAPS "/one")}, &err));
    kc_auto(kc_embedded_server) *second = kc__embed_wrap_server(server, NULL);
    kc_auto(kc_transport) *again = kc_embedded_server_transport(second, NULL);
    assert_int_equal(send_request(again, "GET", CONFIG_MAPS "/one", NULL, NULL), 200);
}

/* ---- concurrency ---- */

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
    kc_auto(kc_embedded_server) *server = start(NULL);
    kc_auto(kc_transport) *t = kc_embedded_server_transport(
        server, &(kc_embedded_server_user){.name = "robot", .groups = NULL});
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

static void user_of_a_request_replaces_that_of_the_transport(void **state)
{
    (void)state;
    kc_auto(kc_embedded_server) *server = start(NULL);
    kc_auto(kc_transport) *t = kc_embedded_server_transport(server, NULL);
    const kc_client_user node = {"system:node:a", (const char *const[]){"system:nodes", NULL}};
    const kc_http_field type = {KC_STR("Content-Type"), KC_STR("application/json")};
    kc_http_request whoami = {.method = "POST",
                              .target = KC_STR("/apis/authentication.k8s.io/v1/selfsubjectreviews"),
                              .fields = &type,
                              .n_fields = 1,
                              .body = KC_STR("{}"),
                              .as = &node};
    kc_scoped(kc_buf) acting = {0}, own = {0};
    assert_int_equal(kc_http_request_send(t, &whoami, &acting, NULL), 201);
    assert_contains(kc_buf_cstr(&acting),
                    "{\"username\":\"system:node:a\",\"groups\":[\"system:nodes\"");
    whoami.as = NULL;
    assert_int_equal(kc_http_request_send(t, &whoami, &own, NULL), 201);
    assert_contains(kc_buf_cstr(&own),
                    "{\"username\":\"system:admin\",\"groups\":[\"system:masters\"");
}

TESTS(requests_return_responses, response_header_names_are_lower_case,
      long_response_waits_for_its_reader, watch_blocks_until_an_event,
      read_that_timed_out_can_be_repeated, cancelled_token_ends_a_read,
      deadline_ends_the_whole_response, response_may_be_closed_at_any_time, stop_ends_open_requests,
      memory_outlives_its_server, directory_outlives_its_server, server_listens_only_with_a_port,
      memory_in_use_is_a_conflict, external_server_is_used_and_left_running,
      many_threads_share_a_transport, user_of_a_request_replaces_that_of_the_transport)
