/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport.c: GETs of a small object from the server in this process, over loopback: by our
 * transport, shared by all threads, and by libcurl as its manual has it, a blocking easy handle for
 * each thread. One thread shows what handing over to the transport's thread costs; sixteen show
 * what sharing costs or, over TLS, gains.
 */
#include "bench.h"

#include "transport_testing.h"

#include "kc/thread.h"

#include <assert.h>
#include <curl/curl.h>

enum { MAX_THREADS = 16 };
#define TARGET "/api/v1/namespaces/default"

typedef struct setup {
    kc_transport *transport;
    const char *url, *ca;
    CURL *handles[MAX_THREADS];
    size_t threads;
    size_t each; /* Requests of one thread. */
    void (*get)(struct setup *s, size_t who);
    _Atomic size_t next;
} setup;

static void get_by_transport(setup *s, size_t who)
{
    char chunk[4096];
    kc_auto(kc_http_response) *r = kc_transport_open(
        s->transport, &(kc_http_request){.method = "GET", .target = KC_STR(TARGET)}, NULL);
    (void)who;
    assert(r && r->status == 200);
    while (kc_http_read(r, chunk, sizeof(chunk), NULL) > 0)
        ;
}

static size_t ignore(char *bytes, size_t size, size_t n, void *user)
{
    (void)bytes, (void)user;
    return size * n;
}

static void get_by_curl(setup *s, size_t who)
{
    CURLcode result = curl_easy_perform(s->handles[who]);
    assert(result == CURLE_OK);
    bench_use(result);
}

static void work(void *user)
{
    setup *s = user;
    const size_t who = atomic_fetch_add(&s->next, 1);
    for (size_t i = 0; i < s->each; i++)
        s->get(s, who);
}

static void run_threads(setup *s, size_t times)
{
    kc_thread *threads[MAX_THREADS];
    s->next = 0;
    s->each = times / s->threads + 1;
    if (s->threads == 1) {
        work(s);
        return;
    }
    for (size_t i = 0; i < s->threads; i++)
        threads[i] = kc_thread_start("get", work, s, NULL);
    for (size_t i = 0; i < s->threads; i++)
        kc_thread_join(threads[i]);
}

static void run_transport(void *input, size_t times)
{
    setup *s = input;
    s->get = get_by_transport;
    run_threads(s, times);
}

static void run_curl(void *input, size_t times)
{
    setup *s = input;
    s->get = get_by_curl;
    run_threads(s, times);
}

static CURL *new_handle(const setup *s)
{
    CURL *easy = curl_easy_init();
    kc_autofree char *url = kc_asprintf("%s" TARGET, s->url);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, ignore);
    if (s->ca)
        curl_easy_setopt(easy, CURLOPT_CAINFO, s->ca);
    return easy;
}

/* How many times as fast as curl we are. */
static double measure(const char *title, setup *s, size_t threads)
{
    contestant all[] = {{"transport.h", run_transport}, {"curl_easy_perform", run_curl}};
    s->threads = threads;
    bench_run(title, all, KC_COUNT(all), s);
    return all[1].ns / all[0].ns;
}

static void compare(const char *title, const char *url, const char *ca, double alone, double many)
{
    kc_config config = {.server = url, .ca_file = ca};
    setup s = {.transport = kc_transport_http_new(&config, NULL, NULL), .url = url, .ca = ca};
    for (size_t i = 0; i < MAX_THREADS; i++)
        s.handles[i] = new_handle(&s);
    kc_autofree char *one = kc_asprintf("GET over %s, 1 thread", title);
    kc_autofree char *sixteen = kc_asprintf("GET over %s, 16 threads", title);
    bench_at_least("times as fast as curl's easy handle", measure(one, &s, 1), alone);
    bench_at_least("times as fast as 16 of curl's easy handles", measure(sixteen, &s, 16), many);
    for (size_t i = 0; i < MAX_THREADS; i++)
        curl_easy_cleanup(s.handles[i]);
    kc_transport_free(s.transport);
}

int main(void)
{
    stage *s = stage_start(NULL);
    compare("plain HTTP/1.1", s->plain_url, NULL, 0.4, 0.4);
    compare("HTTP/2 and TLS", s->tls_url, s->ca_file, 0.4, 0.4);
    stage_free(s);
    return bench_result();
}
