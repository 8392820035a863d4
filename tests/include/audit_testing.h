/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit_testing.h: a server in this process with an audit log in a file.
 *
 *     kc_scoped(audit_stage) t = {0};
 *     audit_stage_start(&t, "- level: Metadata\n", (kc__audit_sink_opts){0}, false);
 *     api_get(t.a, "/api/v1/pods");
 *     assert_non_null(event_with(&t, "\"verb\":\"list\"", "ResponseComplete", "", 300));
 */
#ifndef KC_AUDIT_TESTING_H
#define KC_AUDIT_TESTING_H

#include "api_testing.h"
#include "files_testing.h"

#include "apiserver/audit/audit.h"
#include "apiserver/audit/audit_file.h"

typedef struct audit_stage {
    scratch *dir;
    kc_metrics *metrics;
    kc__audit *audit;
    api *a;
} audit_stage;

static inline KC_UNUSED void audit_stage_start(audit_stage *t, const char *rules,
                                               kc__audit_sink_opts opts, bool legacy)
{
    kc_scoped(kc_error) err = {0};
    t->dir = scratch_new();
    t->metrics = kc_metrics_new();
    kc_autofree char *policy = scratch_path(t->dir, "policy.yaml");
    kc_autofree char *log = scratch_path(t->dir, "audit.log");
    kc_autofree char *text =
        kc_asprintf("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n%s", rules);
    scratch_write(t->dir, "policy.yaml", text);
    t->audit = kc__audit_new(policy, t->metrics, NULL, &err);
    if (!t->audit)
        fail_msg("%s", kc_error_text(&err));
    opts.buffer_events = 10000;
    opts.output = kc__audit_file_new(&(kc__audit_file_opts){.path = log}, &err);
    if (!opts.output || kc__audit_add_sink(t->audit, &opts, legacy, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    t->a = api_start(&(api_opts){.server.audit = t->audit});
}

static inline KC_UNUSED void audit_stage_done(audit_stage *t)
{
    api_stop(t->a);
    kc__audit_free(t->audit);
    kc_metrics_free(t->metrics);
    scratch_free(t->dir);
}

/* The line of the log that contains all three texts, waiting for it; NULL without one. */
static inline KC_UNUSED const char *event_with(audit_stage *t, const char *one, const char *two,
                                               const char *three, int tries)
{
    kc_autofree char *path = scratch_path(t->dir, "audit.log");
    for (int i = 0; i < tries; i++) {
        kc_scoped(kc_buf) bytes = {0};
        kc_file_read(path, (size_t)64 << 20, &bytes, NULL);
        for (kc_str rest = kc_buf_str(&bytes); rest.p && rest.n;) {
            const kc_str line = kc_str_cut(&rest, '\n');
            if (kc_str_contains(line, kc_cstr(one)) && kc_str_contains(line, kc_cstr(two)) &&
                kc_str_contains(line, kc_cstr(three)))
                return text(t->a, "%.*s", KC_ARG(line));
        }
        kc_clock_sleep(kc_clock_real(), 10 * KC_MILLISECOND);
    }
    return NULL;
}

#endif
