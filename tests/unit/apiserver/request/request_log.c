/* SPDX-License-Identifier: Apache-2.0 */
/* The log of requests at verbosity 6: its fields, streams, and what it must not contain. */
#include "api_testing.h"

#include "kc/thread.h"

typedef struct lines {
    kc_mutex lock;
    kc_buf text; /* Guarded by the lock. */
    kc_log *log;
    api *a;
} lines;

static void add_line(kc_str line, void *user)
{
    lines *l = user;
    kc_locked (&l->lock)
        kc_buf_append(&l->text, line);
}

static void lines_start(lines *l, int verbosity)
{
    kc_mutex_init(&l->lock);
    l->log = kc_log_new(&(kc_log_opts){.verbosity = verbosity, .write = add_line, .user = l});
    l->a = api_start(&(api_opts){.server.log = l->log});
}

static void lines_done(lines *l)
{
    api_stop(l->a);
    kc_log_free(l->log);
    kc_buf_done(&l->text);
    kc_mutex_done(&l->lock);
}

/* The line that contains the text, waiting for it; NULL without it. Owned by the api. */
static const char *line_with(lines *l, const char *part, int tries)
{
    const char *found = NULL;
    for (int i = 0; i < tries && !found; i++) {
        kc_locked (&l->lock) {
            const char *all = kc_buf_cstr(&l->text), *at = strstr(all, part);
            while (at && at > all && at[-1] != '\n')
                at--;
            if (at)
                found = text(l->a, "%.*s", (int)strcspn(at, "\n"), at);
        }
        if (!found)
            kc_clock_sleep(kc_clock_real(), 10 * KC_MILLISECOND);
    }
    return found;
}

static void request_is_logged_with_the_fields_of_kubernetes(void **state)
{
    (void)state;
    kc_scoped(lines) l = {0};
    lines_start(&l, 6);
    SEND(l.a, "GET", "/api/v1/namespaces/default/configmaps/none?pretty=true",
         .agent = "kubectl/v1.34.1", .headers = {"Audit-Id: an-audit-id"});
    const char *line = line_with(&l, "configmaps/none", 300);
    assert_non_null(line);
    assert_contains(line, "HTTP");
    assert_contains(line, "verb=GET");
    assert_contains(line, "/api/v1/namespaces/default/configmaps/none?pretty=true");
    assert_contains(line, "latency=");
    assert_contains(line, "userAgent=kubectl/v1.34.1");
    assert_contains(line, "audit-ID=an-audit-id");
    assert_contains(line, "user=system:anonymous");
    assert_contains(line, "resp=404");
}

static void list_and_watch_are_logged_as_verbs(void **state)
{
    (void)state;
    kc_scoped(lines) l = {0};
    lines_start(&l, 6);
    api_get(l.a, "/api/v1/namespaces/default/configmaps?limit=5");
    assert_contains(line_with(&l, "configmaps?limit=5", 300), "verb=LIST");
    watch *w = WATCH(l.a, "/api/v1/namespaces/default/secrets?watch=1");
    assert_null(line_with(&l, "secrets?watch=1", 3));
    watch_close(w);
    assert_contains(line_with(&l, "secrets?watch=1", 300), "verb=WATCH");
}

static void credentials_are_not_logged(void **state)
{
    (void)state;
    kc_scoped(lines) l = {0};
    lines_start(&l, 10);
    SEND(l.a, "POST", "/api/v1/namespaces/default/secrets?access_token=hidden1&Token=hidden2&a=b",
         .body = "{'metadata':{'name':'s'},'stringData':{'k':'hidden3'}}",
         .headers = {"Authorization: Bearer hidden4", "Cookie: hidden5"});
    const char *line = line_with(&l, "access_token", 300);
    assert_contains(line, "secrets?access_token=REDACTED&Token=REDACTED&a=b");
    kc_locked (&l.lock)
        assert_null(strstr(kc_buf_cstr(&l.text), "hidden"));
}

static void nothing_is_logged_below_verbosity_6(void **state)
{
    (void)state;
    kc_scoped(lines) l = {0};
    lines_start(&l, 5);
    api_get(l.a, "/api/v1/namespaces/default/configmaps/none");
    assert_null(line_with(&l, "configmaps/none", 3));
}

TESTS(request_is_logged_with_the_fields_of_kubernetes, list_and_watch_are_logged_as_verbs,
      credentials_are_not_logged, nothing_is_logged_below_verbosity_6)
