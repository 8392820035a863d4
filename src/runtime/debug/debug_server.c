/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debug_server.c: pages by path, and health check pages.
 *
 * A health check page answers 200 "ok" when all its checks pass. With ?verbose, or when a check
 * fails (then with 500), it prints one line per check. Each check also has its own page below the
 * path: /readyz/caches. ?exclude=NAME skips one check. The reason of a failed check appears in the
 * log and on the page: the page is meant for operators, not for API clients.
 */
#include "runtime/debug/debug_server.h"

#include "http/message/query.h"
#include "http/server/server.h"
#include "runtime/debug/debug_access.h"

#include <ctype.h>
#include <stdio.h>

typedef struct debug_server_check {
    char *name;
    kc_health_check_fn *run;
    void *user;
} debug_server_check;

typedef struct debug_server_page {
    char *path, *type;
    void (*write)(kc_buf *out, void *user);
    void *user;
    bool of_checks;
    KC_VEC(debug_server_check) checks;
} debug_server_page;

struct kc__debug_server {
    kc_mutex
        mutex; /* Guards `pages` and their checks while they grow; no callback runs under it. */
    KC_VEC(debug_server_page *) pages;
    kc__http_server *server;
    kc__debug_access *access; /* Set while serving. */
};

/* ---- registration ---- */

static debug_server_page *debug_server_find(const kc__debug_server *site, kc_str path)
{
    kc_vec_each (&site->pages, p)
        if (kc_str_eq(kc_cstr((*p)->path), path))
            return *p;
    return NULL;
}

static debug_server_page *debug_server_add(kc__debug_server *site, const char *path,
                                           const char *type)
{
    debug_server_page *p = kc_new(debug_server_page);
    p->path = kc_strdup(path);
    p->type = kc_strdup(type);
    kc_vec_push(&site->pages, p);
    return p;
}

int kc__debug_server_add_page(kc__debug_server *site, const char *path, const char *type,
                              void (*write)(kc_buf *out, void *user), void *user, kc_error *err)
{
    bool taken = false;
    kc_locked (&site->mutex) {
        taken = debug_server_find(site, kc_cstr(path));
        if (taken)
            break;
        debug_server_page *p = debug_server_add(site, path, type);
        p->write = write;
        p->user = user;
    }
    return taken ? kc_error_set(err, KC_ALREADY_EXISTS, "page %s already exists", path) : 0;
}

static bool has_check(const debug_server_page *p, const char *name)
{
    kc_vec_each (&p->checks, c)
        if (strcmp(c->name, name) == 0)
            return true;
    return false;
}

int kc__debug_server_add_check(kc__debug_server *site, const char *path, const char *name,
                               kc_health_check_fn *run, void *user, kc_error *err)
{
    bool taken = false;
    kc_locked (&site->mutex) {
        debug_server_page *p = debug_server_find(site, kc_cstr(path));
        if (!p) {
            p = debug_server_add(site, path, "text/plain; charset=utf-8");
            p->of_checks = true;
        }
        taken = !p->of_checks || has_check(p, name);
        if (!taken)
            kc_vec_push(&p->checks, ((debug_server_check){kc_strdup(name), run, user}));
    }
    return taken ? kc_error_set(err, KC_ALREADY_EXISTS, "%s already has a check %s", path, name)
                 : 0;
}

/* ---- responses ---- */

static void debug_server_respond(kc__exchange *x, int status, const char *type, kc_str body)
{
    static const kc__http_header no_cache = {KC_STR_INIT("cache-control"),
                                             KC_STR_INIT("no-cache, no-store")};
    kc__exchange_respond(x, &(kc__http_response){.status = status,
                                                 .type = kc_cstr(type),
                                                 .headers = &no_cache,
                                                 .n_headers = 1,
                                                 .body = body,
                                                 .gzip = true});
}

static void answer_text(kc__exchange *x, int status, const char *text)
{
    debug_server_respond(x, status, "text/plain; charset=utf-8", kc_cstr(text));
}

static bool is_excluded(const kc__query *query, const char *name)
{
    size_t at = 0;
    for (kc_str one; kc__query_next(query, KC_STR("exclude"), &at, &one);)
        if (kc_str_eq(one, kc_cstr(name)))
            return true;
    return false;
}

static bool run_check(const debug_server_check *c, kc_buf *out)
{
    kc_scoped(kc_error) err = {0};
    bool ok = c->run(c->user, &err) >= 0;
    if (ok)
        kc_buf_printf(out, "[+]%s ok\n", c->name);
    else
        kc_buf_printf(out, "[-]%s failed: %s\n", c->name, kc_error_text(&err));
    return ok;
}

static void answer_checks(kc__exchange *x, const debug_server_page *p,
                          const debug_server_check *checks, size_t n)
{
    kc_scoped(kc_buf) out = {0};
    kc__query query = {0};
    bool all = true;
    kc__query_parse(x->request.target.query, NULL, x->request.arena, &query, NULL);
    for (size_t i = 0; i < n; i++) {
        if (is_excluded(&query, checks[i].name))
            kc_buf_printf(&out, "[+]%s excluded: ok\n", checks[i].name);
        else
            all = run_check(&checks[i], &out) && all;
    }
    kc_buf_printf(&out, "%s check %s\n", p->path + 1, all ? "passed" : "failed");
    if (!all || kc__query_has(&query, KC_STR("verbose")))
        debug_server_respond(x, all ? 200 : 500, p->type, kc_buf_str(&out));
    else
        answer_text(x, 200, "ok");
}

int kc__debug_server_check(kc__debug_server *site, const char *path, kc_error *err)
{
    kc_scoped(kc_arena) arena = {0};
    debug_server_check *checks = NULL;
    size_t n = 0;
    kc_locked (&site->mutex) {
        const debug_server_page *p = debug_server_find(site, kc_cstr(path));
        n = p ? p->checks.n : 0;
        checks = kc_arena_alloc(&arena, n * sizeof(debug_server_check) + 1);
        if (n)
            memcpy(checks, p->checks.items, n * sizeof(debug_server_check));
    }
    for (size_t i = 0; i < n; i++)
        if (checks[i].run(checks[i].user, err) < 0)
            return kc_error_wrap(err, "%s", checks[i].name);
    return 0;
}

/* Runs the checks registered so far. Checks are never removed, so a copy of the list is
 * sufficient. */
static void answer_page_of_checks(kc__debug_server *site, kc__exchange *x,
                                  const debug_server_page *p)
{
    debug_server_check *checks = NULL;
    size_t n = 0;
    kc_locked (&site->mutex) {
        n = p->checks.n;
        checks = kc_arena_alloc(x->request.arena, n * sizeof(debug_server_check));
        memcpy(checks, p->checks.items, n * sizeof(debug_server_check));
    }
    answer_checks(x, p, checks, n);
}

/* "/readyz/caches": one check of a health check page. */
static bool answer_one_check(kc__debug_server *site, kc__exchange *x)
{
    debug_server_check one = {0};
    const debug_server_page *of = NULL;
    if (x->request.target.n_segments != 2)
        return false;
    kc_str name = kc__target_segment(&x->request.target, 1), path = x->request.target.path;
    kc_locked (&site->mutex) {
        of = debug_server_find(site, kc_str_of(path.p, path.n - name.n - 1));
        if (of && of->of_checks)
            kc_vec_each (&of->checks, c)
                if (kc_str_eq(kc_cstr(c->name), name))
                    one = *c;
    }
    if (one.run)
        answer_checks(x, of, &one, 1);
    return one.run;
}

static const debug_server_page *page_at(kc__debug_server *site, kc_str path)
{
    const debug_server_page *p = NULL;
    kc_locked (&site->mutex)
        p = debug_server_find(site, path);
    return p;
}

static void access_decided(kc__exchange *x, int status, const char *text, void *user)
{
    kc_scoped(kc_buf) out = {0};
    if (status != 200) {
        answer_text(x, status, text);
        return;
    }
    const debug_server_page *p = page_at(user, x->request.target.path);
    p->write(&out, p->user);
    debug_server_respond(x, 200, p->type, kc_buf_str(&out));
}

static void debug_server_handle(kc__exchange *x, void *user)
{
    kc__debug_server *site = user;
    if (!kc_str_eq(x->request.method, KC_STR("GET")) &&
        !kc_str_eq(x->request.method, KC_STR("HEAD"))) {
        answer_text(x, 405, "method not allowed\n");
        return;
    }
    const debug_server_page *p = page_at(site, x->request.target.path);
    if (p && p->of_checks)
        answer_page_of_checks(site, x, p);
    else if (p)
        kc__debug_access_check(site->access, x, access_decided, site);
    else if (!answer_one_check(site, x))
        answer_text(x, 404, "404 page not found\n");
}

/* ---- serving ---- */

/* Splits "host:port": [::1]:80, 127.0.0.1:0, :8081. The host is written to `ret_host`. */
int kc__debug_split_address(const char *address, char ret_host[64], int *ret_port, kc_error *err)
{
    const char *colon = strrchr(address, ':');
    size_t n = colon ? (size_t)(colon - address) : 0;
    char *end = NULL;
    long port = colon && isdigit((unsigned char)colon[1]) ? strtol(colon + 1, &end, 10) : -1;
    if (port < 0 || port > 65535 || *end || n >= 64)
        return kc_error_set(err, KC_BAD_REQUEST, "%s is not a valid address: expected host:port",
                            address);
    bool bracketed = n > 1 && address[0] == '[' && address[n - 1] == ']';
    snprintf(ret_host, 64, "%.*s", (int)(bracketed ? n - 2 : n), address + bracketed);
    if (!n)
        snprintf(ret_host, 64, "0.0.0.0");
    else if (strcmp(ret_host, "localhost") == 0)
        snprintf(ret_host, 64, "127.0.0.1");
    *ret_port = (int)port;
    return 0;
}

int kc__debug_server_start(kc__debug_server *site, const kc__debug_server_opts *opts, kc_error *err)
{
    char host[64];
    kc__http_listener listener = {.address = host};
    if (kc__debug_split_address(opts->address, host, &listener.port, err) < 0)
        return kc_error_result(err);
    site->access = kc__debug_access_new(&(kc__debug_access_opts){.client = opts->client,
                                                                 .no_local = opts->no_local_trust,
                                                                 .clock = opts->clock,
                                                                 .log = opts->log});
    site->server = kc__http_server_start(&(kc__http_server_opts){.listeners = &listener,
                                                                 .n_listeners = 1,
                                                                 .loops = 1,
                                                                 .handle = debug_server_handle,
                                                                 .user = site,
                                                                 .log = opts->log},
                                         err);
    return site->server ? 0 : kc_error_wrap(err, "serve %s", opts->address);
}

void kc__debug_server_stop(kc__debug_server *site)
{
    kc__debug_access_stop(site->access);
    site->server = kc__http_server_stop(site->server, KC_SECOND);
    site->access = kc__debug_access_free(site->access);
}

int kc__debug_server_port(const kc__debug_server *site)
{
    return site->server ? kc__http_server_port(site->server, 0) : 0;
}

kc__debug_server *kc__debug_server_new(void)
{
    kc__debug_server *site = kc_new(kc__debug_server);
    kc_mutex_init(&site->mutex);
    return site;
}

static void page_free(debug_server_page *p)
{
    kc_vec_each (&p->checks, c)
        free(c->name);
    kc_vec_done(&p->checks);
    free(p->path);
    free(p->type);
    free(p);
}

kc__debug_server *kc__debug_server_free(kc__debug_server *site)
{
    if (!site)
        return NULL;
    kc__debug_server_stop(site);
    kc_vec_each (&site->pages, p)
        page_free(*p);
    kc_vec_done(&site->pages);
    kc_mutex_done(&site->mutex);
    free(site);
    return NULL;
}
