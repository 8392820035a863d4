/* SPDX-License-Identifier: Apache-2.0 */
/* The whole server in a simulation: virtual time, and equal bytes for equal seeds. */
#include "kc/embedded_server.h"
#include "testing.h"

#include "kc/sim.h"

#define CONFIG_MAPS "/api/v1/namespaces/default/configmaps"

static void send_request(kc_transport *t, const char *method, const char *target, const char *body,
                         kc_buf *out)
{
    kc_scoped(kc_error) err = {0};
    const kc_http_field type = {KC_STR("Content-Type"), KC_STR("application/json")};
    const kc_http_request request = {.method = method,
                                     .target = kc_cstr(target),
                                     .fields = &type,
                                     .n_fields = 1,
                                     .body = kc_cstr(body)};
    kc_auto(kc_http_response) *r = kc_transport_open(t, &request, &err);
    if (!r)
        fail_msg("%s", kc_error_text(&err));
    char chunk[1000];
    for (ssize_t n; (n = kc_http_response_read(r, chunk, sizeof(chunk), NULL)) > 0;)
        kc_buf_append(out, kc_str_of(chunk, (size_t)n));
}

typedef struct writer {
    kc_transport *transport;
    int number;
} writer;

static void create_some(void *user)
{
    const writer *w = user;
    kc_scoped(kc_buf) ignored = {0};
    for (int i = 0; i < 5; i++) {
        kc_autofree char *body = kc_asprintf("{\"metadata\":{\"name\":\"w%d-%d\"}}", w->number, i);
        send_request(w->transport, "POST", CONFIG_MAPS, body, &ignored);
    }
}

/* What the server has after three clients wrote to it at a time. */
static char *run(uint64_t seed)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_sim) *sim = kc_sim_new(seed, 1767323045 * KC_SECOND);
    kc_sim_enter(sim);
    kc_rand rand = kc_sim_rand(sim);
    kc_embedded_server *server = kc_embedded_server_start(
        &(kc_embedded_server_opts){.clock = kc_sim_clock(sim), .rand = &rand}, &err);
    if (!server)
        fail_msg("%s", kc_error_text(&err));
    kc_transport *t = kc_embedded_server_transport(server, NULL);
    writer writers[3] = {{t, 0}, {t, 1}, {t, 2}};
    kc_thread *threads[3];
    for (int i = 0; i < 3; i++)
        threads[i] = kc_thread_start("writer", create_some, &writers[i], NULL);
    for (int i = 0; i < 3; i++)
        kc_thread_join(threads[i]);
    kc_sim_run_for(sim, KC_HOUR);
    kc_scoped(kc_buf) out = {0};
    send_request(t, "POST", CONFIG_MAPS, "{\"metadata\":{\"generateName\":\"late-\"}}", &out);
    send_request(t, "GET", CONFIG_MAPS, NULL, &out);
    kc_transport_free(t);
    kc_embedded_server_stop(server);
    kc_sim_leave(sim);
    return kc_strndup(out.p, out.n);
}

static void equal_seeds_give_equal_bytes(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        kc_autofree char *first = run(seed), *again = run(seed);
        assert_contains(first, "w2-4");
        assert_contains(first, "2026-01-02T04:04:05Z");
        assert_string_equal(first, again);
    }
}

static void different_seeds_give_different_orders(void **state)
{
    (void)state;
    kc_autofree char *one = run(1), *two = run(2);
    assert_string_not_equal(one, two);
}

TESTS(equal_seeds_give_equal_bytes, different_seeds_give_different_orders)
