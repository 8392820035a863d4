/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport.c: GETs of a small object from the server in this process, over loopback: by the
 * transport, shared by all threads, and by libcurl as its manual has it, a blocking easy handle for
 * each thread. One thread, which drives the transport itself, shows what the transport adds to
 * curl; sixteen show what sharing one thread costs or, over TLS, gains. The bench judges processor
 * time, server included, which other programs on the machine hardly disturb; it prints requests
 * per second beside it.
 */
#include "bench.h"

#include "transport_testing.h"

#include "kc/thread.h"

#include <assert.h>
#include <curl/curl.h>
#include <time.h>

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
    while (kc_http_response_read(r, chunk, sizeof(chunk), NULL) > 0)
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

/* ---- measuring ---- */

enum { ROUNDS = 11, TIMES = 1000 };

typedef struct figures {
    double wall[ROUNDS], cpu[ROUNDS]; /* Of one request, in ns. */
} figures;

static double cpu_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void measure_round(setup *s, void (*get)(setup *s, size_t who), figures *f, size_t round)
{
    const double cpu = cpu_now();
    const int64_t wall = kc_clock_now(kc_clock_real());
    s->get = get;
    run_threads(s, TIMES);
    f->wall[round] = (double)(kc_clock_now(kc_clock_real()) - wall) / TIMES;
    f->cpu[round] = (cpu_now() - cpu) / TIMES;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof(*values), compare_doubles);
    return values[ROUNDS / 2];
}

static double print(const char *name, figures *f)
{
    const double wall = median(f->wall), cpu = median(f->cpu);
    printf("  %-20s %9.0f GETs/s %9.1f us of processor time each\n", name, 1e9 / wall, cpu / 1000);
    return cpu;
}

/* Processor time of a GET, server included, by curl's. */
static double measure(const char *title, size_t threads, setup *s)
{
    figures ours, curls;
    s->threads = threads;
    for (size_t i = 0; i < ROUNDS; i++) {
        measure_round(s, get_by_transport, &ours, i);
        measure_round(s, get_by_curl, &curls, i);
    }
    printf("GET over %s, %zu thread%s\n", title, threads, threads == 1 ? "" : "s");
    const double cpu = print("transport.h", &ours);
    return cpu / print("curl_easy_perform", &curls);
}

static void compare(const char *title, const char *url, const char *ca)
{
    kc_config config = {.server = url, .ca_file = ca};
    setup s = {.transport = kc_transport_http_new(&config, NULL, NULL), .url = url, .ca = ca};
    for (size_t i = 0; i < MAX_THREADS; i++)
        s.handles[i] = new_handle(&s);
    bench_at_most("CPU time of a GET, to a curl easy handle", measure(title, 1, &s), 1.6);
    bench_at_most("CPU time of a GET by 16 threads, to 16 curl easy handles",
                  measure(title, 16, &s), 1.6);
    for (size_t i = 0; i < MAX_THREADS; i++)
        curl_easy_cleanup(s.handles[i]);
    kc_transport_free(s.transport);
}

int main(void)
{
    stage *s = stage_start(NULL);
    compare("plain HTTP/1.1", s->plain_url, NULL);
    compare("HTTP/2 and TLS", s->tls_url, s->ca_file);
    stage_free(s);
    return bench_result();
}
