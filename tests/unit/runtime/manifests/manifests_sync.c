/* SPDX-License-Identifier: Apache-2.0 */
/* Syncs of a directory of manifests with the real server: what is applied, what is pruned, what is
 * kept because something is broken, and how failures are reported. */
#include "faulty.h"
#include "files_testing.h"
#include "runtime/manifests/manifests_internal.h"

#include "kc/embedded_server.h"
#include "kc/kinds.h"
#include "kc/view.h"

#define MAP(name, value) \
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " name "}\ndata: {k: " value "}\n"
#define DEFINITION                                                                                \
    "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: "      \
    "widgets.sync.test}\nspec:\n  group: sync.test\n  scope: Namespaced\n  names: {kind: Widget," \
    " plural: widgets}\n  versions:\n  - {name: v1, served: true, storage: true, "                \
    "schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}\n"
#define WIDGET "apiVersion: sync.test/v1\nkind: Widget\nmetadata: {name: w}\n"
#define STATUS(code, reason)                                                                 \
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":\"" reason \
    "\",\"code\":" #code "}"

typedef struct site {
    kc_embedded_server *server;
    faulty *faults;
    kc_client *client;
    kc_metrics *metrics;
    scratch *s;
    kc__manifests_opts opts;
    kc__manifests *m;
    kc_buf results; /* "applied ConfigMap a; pruned …; failed: MESSAGE; " */
    kc_buf log;
    kc_log *logger;
    kc__manifests_summary summary;
} site;

static void note_result(const kc__manifests_result *r, void *user)
{
    static const char *const actions[] = {"applied", "pruned", "failed"};
    site *t = user;
    kc_buf_printf(&t->results, "%s%s ", r->unchanged ? "un" : "", actions[r->action]);
    if (r->action == KC__MANIFESTS_FAILED)
        kc_buf_puts(&t->results,
                    r->message +
                        (strstr(r->message, t->s->dir) == r->message ? strlen(t->s->dir) + 1 : 0));
    else
        kc_buf_printf(&t->results, "%s %.*s", r->kind->kind, KC_ARG(r->key.name));
    kc_buf_puts(&t->results, "; ");
}

static void note_line(kc_str line, void *user)
{
    kc_buf_append(&((site *)user)->log, line);
}

/* A process that ended: a new one has no memory. */
static void site_restart(site *t)
{
    kc_scoped(kc_error) err = {0};
    kc__manifests_free(t->m);
    t->m = kc__manifests_new(&t->opts, &err);
    if (!t->m)
        fail_msg("%s", kc_error_text(&err));
}

static site *site_new(void)
{
    site *t = kc_new(site);
    t->server = kc_embedded_server_start(NULL, NULL);
    assert_non_null(t->server);
    t->faults = faulty_new(kc_embedded_server_transport(t->server, NULL), kc_clock_real());
    t->client = kc_client_new(&(kc_client_opts){.transport = faulty_transport(t->faults)}, NULL);
    t->metrics = kc_metrics_new();
    t->logger = kc_log_new(&(kc_log_opts){.write = note_line, .user = t});
    t->s = scratch_new();
    t->opts = (kc__manifests_opts){.dir = t->s->dir,
                                   .client = t->client,
                                   .set_ns = "kube-system",
                                   .set_name = "site",
                                   .tooling = "kc/v1.0.0",
                                   .debounce = 10 * KC_MILLISECOND,
                                   .log = t->logger,
                                   .metrics = t->metrics,
                                   .report = note_result,
                                   .user = t};
    site_restart(t);
    return t;
}

static void site_free(site *t)
{
    kc__manifests_free(t->m);
    scratch_free(t->s);
    kc_log_free(t->logger);
    kc_metrics_free(t->metrics);
    kc_client_unref(t->client);
    kc_embedded_server_stop(t->server);
    kc_buf_done(&t->results);
    kc_buf_done(&t->log);
    free(t);
}
KC_AUTO_DEFINE(site, site_free)

/* What a sync did. */
static const char *synced(site *t)
{
    kc_buf_clear(&t->results);
    assert_int_equal(kc__manifests_sync(t->m, NULL, &t->summary, NULL), 0);
    return kc_buf_cstr(&t->results) ? kc_buf_cstr(&t->results) : "";
}

static kc_object *map_of(const site *t, const char *ns, const char *name)
{
    return kc_client_get(t->client, &kc_kind_config_map, KC_KEY(ns, name), NULL, NULL);
}

static bool exists(const site *t, const char *name)
{
    kc_auto(kc_object) *map = map_of(t, "default", name);
    return map != NULL;
}

static void assert_annotation(const site *t, const char *name, const char *value)
{
    kc_scoped(kc_arena) arena = {0};
    kc_auto(kc_object) *parent = map_of(t, "kube-system", "site");
    assert_non_null(parent);
    assert_str(kc_object_annotation(parent, kc_cstr(name), &arena), value);
}

static void change(const site *t, const char *name, const char *patch)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *changed =
        kc_client_patch(t->client, &kc_kind_config_map, KC_KEY("default", name), KC_PATCH_MERGE,
                        kc_cstr(patch), NULL, &err);
    if (!changed)
        fail_msg("%s", kc_error_text(&err));
}

/* ---- applying ---- */

static void objects_are_applied_once_per_change(void **state)
{
    (void)state;
    kc_auto(site) *t = site_new();
    scratch_write(t->s, "a.yaml", MAP("a", "one"));
    scratch_write(t->s, "sub/b.yaml", MAP("b", "one"));
    assert_string_equal(synced(t), "applied ConfigMap a; applied ConfigMap b; ");
    assert_string_equal(synced(t), "");
    scratch_write(t->s, "a.yaml", MAP("a", "two"));
    assert_string_equal(synced(t), "applied ConfigMap a; ");
    assert_int_equal(t->summary.objects, 2);
    site_restart(t);
    assert_string_equal(synced(t), "unapplied ConfigMap a; unapplied ConfigMap b; ");
}

static void fields_that_the_manifest_dropped_are_removed(void **state)
{
    (void)state;
    kc_auto(site) *t = site_new();
    scratch_write(t->s, "a.yaml",
                  "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {x: '1', y: '2'}}");
    synced(t);
    change(t, "a", "{\"data\":{\"z\":\"3\"}}");
    scratch_write(t->s, "a.yaml",
                  "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {x: '1'}}");
    assert_string_equal(synced(t), "applied ConfigMap a; ");
    kc_auto(kc_object) *map = map_of(t, "default", "a");
    kc_auto(kc_view) *view = kc_view_of(map);
    assert_value_json(kc_value_get(kc_view_root(view), "data"), "{\"x\":\"1\",\"z\":\"3\"}");
}

static void drifted_and_deleted_objects_are_restored(void **state)
{
    (void)state;
    kc_auto(site) *t = site_new();
    scratch_write(t->s, "a.yaml", MAP("a", "one") "---\n" MAP("b", "one"));
    synced(t);
    change(t, "a", "{\"data\":{\"k\":\"drifted\"}}");
    assert_int_equal(
        kc_client_delete(t->client, &kc_kind_config_map, KC_KEY("default", "b"), NULL, NULL), 0);
    assert_string_equal(synced(t), "applied ConfigMap a; applied ConfigMap b; ");
    kc_auto(kc_object) *map = map_of(t, "default", "a");
    assert_contains(kc_object_json(map).p, "\"k\":\"one\"");
}

static void conflict_is_a_failure_without_force(void **state)
{
    (void)state;
    kc_auto(site) *t = site_new();
    t->opts.no_force = true;
    site_restart(t);
    scratch_write(t->s, "a.yaml", MAP("a", "one"));
    synced(t);
    change(t, "a", "{\"data\":{\"k\":\"mine\"}}");
    assert_contains(synced(t),
                    "failed a.yaml: line 1: ConfigMap default/a: Apply failed with 1 conflict");
    kc_auto(kc_object) *map = map_of(t, "default", "a");
    assert_contains(kc_object_json(map).p, "\"k\":\"mine\"");
}

static void crd_is_served_before_its_objects_are_applied(void **state)
{
    (void)state;
    kc_auto(site) *t = site_new();
    scratch_write(t->s, "a.yaml", WIDGET);
    scratch_write(t->s, "b.yaml", DEFINITION);
    assert_string_equal(synced(t), "applied CustomResourceDefinition widgets.sync.test; "
                                   "applied Widget w; ");
    scratch_write(t->s, "empty.yaml", "# nothing\n");
    scratch_remove(t->s, "a.yaml");
    scratch_remove(t->s, "b.yaml");
    assert_string_equal(synced(t),
                        "pruned Widget w; pruned CustomResourceDefinition widgets.sync.test; ");
}

/* ---- the apply set ---- */

static void parent_describes_the_set_as_kubectl_does(void **state)
{
    (void)state;
    kc_auto(site) *t = site_new();
    scratch_write(t->s, "a.yaml",
                  MAP("a", "one") "---\n"
                                  "{apiVersion: v1, kind: Namespace, metadata: {name: far}}\n---\n"
                                  "{apiVersion: apps/v1, kind: ControllerRevision, metadata: "
                                  "{name: r, namespace: far}, revision: 1}\n");
    synced(t);
    kc_auto(kc_object) *parent = map_of(t, "kube-system", "site");
    /* base64url(sha256("site.kube-system.ConfigMap.")) */
    assert_true(
        kc_object_label_is(parent, KC_STR(KC__APPLY_SET_ID),
                           KC_STR("applyset-lE9NrdepGw4d_Amrc1X8ke9eV2GYYTEm26O1tJ6J4Lg-v1")));
    assert_annotation(t, KC__APPLY_SET_TOOLING, "kc/v1.0.0");
    assert_annotation(t, KC__APPLY_SET_KINDS, "ConfigMap,ControllerRevision.apps,Namespace");
    assert_annotation(t, KC__APPLY_SET_NAMESPACES, "default,far");
    kc_auto(kc_object) *map = map_of(t, "default", "a");
    assert_true(kc_object_label_is(map, KC_STR(KC__APPLY_SET_PART_OF),
                                   kc_cstr(kc__apply_set_id(t->m->set))));
    scratch_write(t->s, "a.yaml", MAP("a", "one"));
    synced(t);
    assert_annotation(t, KC__APPLY_SET_KINDS, "ConfigMap");
    assert_annotation(t, KC__APPLY_SET_NAMESPACES, "default");
}

static void set_of_another_tool_is_refused(void **state)
{
    (void)state;
    kc_auto(site) *t = site_new();
    scratch_write(t->s, "a.yaml", MAP("a", "one"));
    synced(t);
    t->opts.tooling = "kubectl/v1.34.1";
    site_restart(t);
    assert_non_null(strstr(synced(t), "is managed by the tool \"kc\", not by \"kubectl\""));
    assert_int_equal(t->summary.failed, 1);
}

static void member_of_another_set_is_refused(void **state)
{
    (void)state;
    kc_auto(site) *t = site_new();
    scratch_write(t->s, "a.yaml", MAP("a", "one"));
    synced(t);
    t->opts.set_name = "other";
    site_restart(t);
    assert_non_null(strstr(synced(t), "is a member of another apply set"));
    scratch_write(t->s, "a.yaml",
                  "{apiVersion: v1, kind: ConfigMap, metadata: {name: b, labels: "
                  "{applyset.kubernetes.io/part-of: mine}}}");
    assert_non_null(strstr(synced(t), "already set in input data"));
}

/* ---- pruning ---- */

static void objects_that_left_are_pruned(void **state)
{
    (void)state;
    kc_auto(site) *t = site_new();
    scratch_write(t->s, "a.yaml", MAP("a", "one") "---\n" MAP("b", "one"));
    scratch_write(t->s, "c.yaml", MAP("c", "one"));
    synced(t);
    kc_auto(kc_object) *foreign = object_of(
        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'foreign','namespace':'default'}}");
    kc_auto(kc_object) *made = kc_client_create(t->client, foreign, NULL, NULL);
    assert_non_null(made);
    scratch_remove(t->s, "c.yaml");
    scratch_write(t->s, "a.yaml", MAP("a", "one"));
    assert_string_equal(synced(t), "pruned ConfigMap b; pruned ConfigMap c; ");
    assert_true(exists(t, "a") && exists(t, "foreign"));
    assert_false(exists(t, "b") || exists(t, "c"));
}

static void nothing_is_pruned_with_the_option(void **state)
{
    (void)state;
    kc_auto(site) *t = site_new();
    t->opts.no_prune = true;
    site_restart(t);
    scratch_write(t->s, "a.yaml", MAP("a", "one"));
    scratch_write(t->s, "b.yaml", MAP("b", "one"));
    synced(t);
    scratch_remove(t->s, "b.yaml");
    assert_string_equal(synced(t), "");
    assert_true(exists(t, "b"));
    t->opts.no_prune = false;
    site_restart(t);
    assert_non_null(strstr(synced(t), "pruned ConfigMap b; "));
}

static void nothing_is_pruned_while_a_file_is_broken(void **state)
{
    static const struct {
        const char *text, *message;
    } broken[] = {
        {"a: [\n", "failed b.yaml: line 2, column 1: "},
        {"", "failed b.yaml: the file is empty; "},
        {"apiVersion: v1\nkind: ConfigMap\n",
         "failed b.yaml: line 1: the object has no metadata.name"},
        {MAP("b", "one") "---\nkind: X\n", "failed b.yaml: line 6: the object has no apiVersion"},
        {"apiVersion: v1\nkind: Wrong\nmetadata: {name: b}\n",
         "failed b.yaml: line 1: Wrong b: no matches for kind \"Wrong\" in version \"v1\""},
        {"\n\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\nwrong: 1\n",
         "failed b.yaml: line 3: ConfigMap default/b: "},
    };
    (void)state;
    kc_auto(site) *t = site_new();
    scratch_write(t->s, "a.yaml", MAP("a", "one"));
    scratch_write(t->s, "b.yaml", MAP("b", "one"));
    scratch_write(t->s, "c.yaml", MAP("c", "one"));
    synced(t);
    scratch_remove(t->s, "c.yaml");
    for (size_t i = 0; i < KC_COUNT(broken); i++) {
        scratch_write(t->s, "b.yaml", broken[i].text);
        assert_non_null(strstr(synced(t), broken[i].message));
        assert_true(t->summary.kept);
        assert_true(exists(t, "b") && exists(t, "c"));
    }
    scratch_write(t->s, "b.yaml", MAP("b", "one"));
    assert_non_null(strstr(synced(t), "pruned ConfigMap c; "));
    assert_false(t->summary.kept);
}

static void empty_directory_prunes_only_if_it_was_seen_full(void **state)
{
    (void)state;
    kc_auto(site) *t = site_new();
    assert_string_equal(synced(t), "");
    scratch_write(t->s, "a.yaml", MAP("a", "one"));
    synced(t);
    scratch_remove(t->s, "a.yaml");
    site_restart(t);
    assert_non_null(strstr(synced(t), "so nothing is pruned"));
    assert_true(exists(t, "a"));
    scratch_write(t->s, "a.yaml", MAP("a", "one"));
    synced(t);
    scratch_remove(t->s, "a.yaml");
    assert_string_equal(synced(t), "pruned ConfigMap a; ");
}

static void missing_directory_prunes_nothing(void **state)
{
    (void)state;
    kc_auto(site) *t = site_new();
    kc_scoped(kc_error) err = {0};
    scratch_write(t->s, "root/a.yaml", MAP("a", "one"));
    kc_autofree char *root = scratch_path(t->s, "root//");
    t->opts.dir = root;
    site_restart(t);
    synced(t);
    scratch_rename(t->s, "root", "away");
    assert_non_null(strstr(synced(t), "cannot open directory"));
    assert_true(exists(t, "a"));
    assert_null(kc__manifests_new(&t->opts, &err));
    assert_error(&err, KC_NOT_FOUND, "cannot read the directory of manifests");
    scratch_rename(t->s, "away", "root");
    assert_string_equal(synced(t), "");
    assert_int_equal(t->summary.failed, 0);
}

static void object_in_two_files_is_a_failure(void **state)
{
    (void)state;
    kc_auto(site) *t = site_new();
    scratch_write(t->s, "a.yaml", MAP("a", "one"));
    scratch_write(t->s, "b.yaml",
                  "# twice\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: "
                  "default}}\n");
    const char *results = synced(t);
    assert_contains(results, "failed b.yaml: line 2: ConfigMap default/a: the object is defined "
                             "twice, first in ");
    assert_contains(results, "applied ConfigMap a; ");
}

/* ---- interruptions ---- */

/* Every request may be the last one of a process. The next process must finish the work. */
static void process_that_ends_after_any_request_leaks_nothing(void **state)
{
    (void)state;
    bool whole = false;
    for (int allowed = 0; !whole; allowed++) {
        kc_auto(site) *t = site_new();
        scratch_write(t->s, "a.yaml", MAP("a", "one") "---\n" MAP("old", "one"));
        synced(t);
        scratch_write(t->s, "a.yaml",
                      MAP("a", "two") "---\n{apiVersion: v1, kind: Secret, metadata: {name: new}}");
        faulty_allow(t->faults, allowed);
        synced(t);
        whole = t->summary.failed == 0;
        faulty_heal(t->faults);
        site_restart(t);
        synced(t);
        assert_int_equal(t->summary.failed, 0);
        assert_true(exists(t, "a"));
        assert_false(exists(t, "old"));
        assert_annotation(t, KC__APPLY_SET_KINDS, "ConfigMap,Secret");
        /* And what it created can be pruned. */
        scratch_write(t->s, "a.yaml", "# nothing\n");
        synced(t);
        assert_int_equal(t->summary.pruned, 2);
        assert_true(allowed < 40);
    }
}

/* ---- failures ---- */

static double metric(const site *t, const char *line)
{
    kc_scoped(kc_buf) text = {0};
    kc_metrics_write(t->metrics, &text);
    const char *at = strstr(kc_buf_cstr(&text), line);
    return at ? strtod(at + strlen(line), NULL) : -1;
}

static void failure_is_logged_once_and_counted(void **state)
{
    (void)state;
    kc_auto(site) *t = site_new();
    scratch_write(t->s, "a.yaml", "a: [\n");
    scratch_write(t->s, "b.yaml", MAP("b", "one"));
    synced(t);
    assert_contains(kc_buf_cstr(&t->log), "a.yaml: line 2, column 1: ");
    assert_true(exists(t, "b"));
    kc_buf_clear(&t->log);
    synced(t);
    assert_int_equal(t->log.n, 0);
    assert_true(metric(t, "\nkc_manifests_errors_total{stage=\"parse\"} ") == 2);
    assert_true(metric(t, "\nkc_manifests_problems ") == 1);
    assert_true(metric(t, "\nkc_manifests_syncs_total{result=\"error\"} ") == 2);
    scratch_write(t->s, "a.yaml", MAP("a", "one"));
    synced(t);
    assert_true(metric(t, "\nkc_manifests_problems ") == 0);
    assert_true(metric(t, "\nkc_manifests_objects ") == 2);
    scratch_write(t->s, "a.yaml", "a: [\n");
    kc_buf_clear(&t->log);
    synced(t);
    assert_contains(kc_buf_cstr(&t->log), "a.yaml: line 2, column 1: ");
}

static size_t events_about(const site *t, const char *kind, const char *reason)
{
    kc_scoped(kc_object_list) events = {0};
    size_t n = 0;
    assert_int_equal(kc_client_list(t->client, &kc_kind_event, NULL, &events, NULL), 0);
    for (size_t i = 0; i < events.n; i++) {
        kc_auto(kc_view) *view = kc_view_of(events.items[i]);
        const kc_value *root = kc_view_root(view);
        n += kc_str_is(kc_value_as_str(kc_value_nested(root, "involvedObject.kind")), kind) &&
             kc_str_is(kc_value_as_str(kc_value_get(root, "reason")), reason);
    }
    return n;
}

static void failures_are_events_of_parent_and_object(void **state)
{
    (void)state;
    kc_auto(site) *t = site_new();
    t->opts.recorder = kc_recorder_new(
        &(kc_recorder_opts){.client = t->client, .component = "kc-manifests"}, NULL);
    site_restart(t);
    scratch_write(t->s, "s.yaml", "{apiVersion: v1, kind: Secret, metadata: {name: s}, type: a}");
    scratch_write(t->s, "x.yaml", "x: [\n");
    synced(t);
    scratch_write(t->s, "s.yaml", "{apiVersion: v1, kind: Secret, metadata: {name: s}, type: b}");
    synced(t);
    assert_int_equal(t->summary.failed, 2);
    kc_recorder_stop(t->opts.recorder, kc_clock_deadline(kc_clock_real(), 10 * KC_SECOND));
    assert_int_equal(events_about(t, "ConfigMap", "InvalidManifest"), 1);
    assert_int_equal(events_about(t, "ConfigMap", "ApplyFailed"), 1);
    assert_int_equal(events_about(t, "Secret", "ApplyFailed"), 1);
    assert_int_equal(events_about(t, "ConfigMap", "Synced"), 1);
}

static void unreachable_server_is_one_failure_and_is_retried(void **state)
{
    (void)state;
    kc_auto(site) *t = site_new();
    scratch_write(t->s, "a.yaml", MAP("a", "one"));
    faulty_respond(t->faults, "configmaps", -1, 503, STATUS(503, "ServiceUnavailable"));
    synced(t);
    assert_int_equal(t->summary.failed, 1);
    assert_true(t->m->retry);
    faulty_heal(t->faults);
    assert_string_equal(synced(t), "applied ConfigMap a; ");
    assert_false(t->m->retry);
}

static void dry_run_changes_nothing(void **state)
{
    (void)state;
    kc_auto(site) *t = site_new();
    scratch_write(t->s, "a.yaml", MAP("a", "one"));
    scratch_write(t->s, "b.yaml", MAP("b", "one"));
    synced(t);
    t->opts.dry_run = true;
    site_restart(t);
    scratch_remove(t->s, "b.yaml");
    scratch_write(t->s, "a.yaml", MAP("a", "two") "---\n" MAP("c", "one"));
    assert_string_equal(synced(t),
                        "applied ConfigMap a; applied ConfigMap c; pruned ConfigMap b; ");
    assert_true(exists(t, "b"));
    assert_false(exists(t, "c"));
    kc_auto(kc_object) *map = map_of(t, "default", "a");
    assert_contains(kc_object_json(map).p, "\"k\":\"one\"");
}

static void dry_run_accepts_objects_of_new_kinds_and_namespaces(void **state)
{
    (void)state;
    kc_auto(site) *t = site_new();
    t->opts.dry_run = true;
    site_restart(t);
    scratch_write(t->s, "a.yaml",
                  DEFINITION "---\n" WIDGET
                             "---\n{apiVersion: v1, kind: Namespace, metadata: {name: far}}\n"
                             "---\n{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: "
                             "far}}\n---\n{apiVersion: v1, kind: Secret, metadata: {name: s, "
                             "namespace: nowhere}}\n");
    assert_string_equal(synced(t),
                        "applied CustomResourceDefinition widgets.sync.test; applied Namespace "
                        "far; applied Widget w; applied Secret s; failed a.yaml: line 19: Secret "
                        "nowhere/s: namespaces \"nowhere\" not found; ");
}

/* ---- the loop ---- */

typedef struct looping {
    site *t;
    kc_cancel *stop;
} looping;

static void run_loop(void *user)
{
    const looping *l = user;
    assert_int_equal(kc__manifests_run(l->t->m, l->stop, NULL), 0);
}

static bool await(const site *t, const char *name, bool wanted)
{
    for (int i = 0; i < 1000; i++) {
        if (exists(t, name) == wanted)
            return true;
        kc_clock_sleep(kc_clock_real(), 10 * KC_MILLISECOND);
    }
    return false;
}

static void loop_follows_the_directory_until_stopped(void **state)
{
    (void)state;
    kc_auto(site) *t = site_new();
    t->opts.log = NULL;
    t->opts.report = NULL;
    site_restart(t);
    kc_auto(kc_cancel) *stop = kc_cancel_new(NULL);
    looping l = {t, stop};
    scratch_write(t->s, "a.yaml", MAP("a", "one"));
    kc_thread *thread = kc_thread_start("loop", run_loop, &l, NULL);
    assert_true(await(t, "a", true));
    scratch_write(t->s, "sub/b.yaml", MAP("b", "one"));
    assert_true(await(t, "b", true));
    scratch_write(t->s, "sub/c.yaml", MAP("c", "one"));
    assert_true(await(t, "c", true));
    scratch_remove(t->s, "sub/b.yaml");
    assert_true(await(t, "b", false));
    assert_true(exists(t, "a") && exists(t, "c"));
    kc_cancel_fire(stop);
    kc_thread_join(thread);
}

static void loop_restores_drift_at_the_resync(void **state)
{
    (void)state;
    kc_auto(site) *t = site_new();
    t->opts.log = NULL;
    t->opts.report = NULL;
    t->opts.resync = 50 * KC_MILLISECOND;
    site_restart(t);
    kc_auto(kc_cancel) *stop = kc_cancel_new(NULL);
    looping l = {t, stop};
    scratch_write(t->s, "a.yaml", MAP("a", "one"));
    kc_thread *thread = kc_thread_start("loop", run_loop, &l, NULL);
    assert_true(await(t, "a", true));
    assert_int_equal(
        kc_client_delete(t->client, &kc_kind_config_map, KC_KEY("default", "a"), NULL, NULL), 0);
    assert_true(await(t, "a", true));
    kc_cancel_fire(stop);
    kc_thread_join(thread);
}

TESTS(objects_are_applied_once_per_change, fields_that_the_manifest_dropped_are_removed,
      drifted_and_deleted_objects_are_restored, conflict_is_a_failure_without_force,
      crd_is_served_before_its_objects_are_applied, parent_describes_the_set_as_kubectl_does,
      set_of_another_tool_is_refused, member_of_another_set_is_refused,
      objects_that_left_are_pruned, nothing_is_pruned_with_the_option,
      nothing_is_pruned_while_a_file_is_broken, empty_directory_prunes_only_if_it_was_seen_full,
      missing_directory_prunes_nothing, object_in_two_files_is_a_failure,
      process_that_ends_after_any_request_leaks_nothing, failure_is_logged_once_and_counted,
      failures_are_events_of_parent_and_object, unreachable_server_is_one_failure_and_is_retried,
      dry_run_changes_nothing, dry_run_accepts_objects_of_new_kinds_and_namespaces,
      loop_follows_the_directory_until_stopped, loop_restores_drift_at_the_resync)
