/* SPDX-License-Identifier: Apache-2.0 */
/* The owner graph alone: which calls each change causes, and that its counts stay correct. */
#include "gc/graph.h"
#include "testing.h"

#include "kc/rand.h"

/* What the graph has said, one line each. */
typedef struct recorded {
    kc_buf text;
} recorded;

static void recorded_done(recorded *s)
{
    kc_buf_done(&s->text);
}

static void enqueue(const kc__gc_identity *what, void *user)
{
    kc_buf_printf(user, "look %.*s\n", KC_ARG(what->uid));
}

static void release(kc_str owner, kc_str dependent, void *user)
{
    kc_buf_printf(user, "release %.*s %.*s\n", KC_ARG(owner), KC_ARG(dependent));
}

static void report_invalid_namespace(const kc__gc_identity *dependent, const kc__gc_identity *owner,
                                     void *user)
{
    kc_buf_printf(user, "report %.*s of %.*s\n", KC_ARG(dependent->uid), KC_ARG(owner->uid));
}

static kc__gc_graph *graph_into(recorded *s)
{
    return kc__gc_graph_new(&(kc__gc_sink){enqueue, release, report_invalid_namespace, &s->text});
}

/* What was said since the last time. */
static void assert_recorded(recorded *s, const char *expected)
{
    assert_string_equal(kc_buf_cstr(&s->text), expected);
    kc_buf_clear(&s->text);
}

#define TYPE KC_STR("v1 ConfigMap")

/* An object whose name and uid are the same letter, as text: references as "bB" (upper case blocks,
 * the owner is named so), finalizers given as JSON. */
static void see(kc__gc_graph *graph, const char *ns, char id, const char *owners, const char *more)
{
    kc_scoped(kc_buf) text = {0};
    kc_buf_printf(&text,
                  "{'metadata':{'name':'%c','namespace':'%s','uid':'%c','resourceVersion':'7',"
                  "'ownerReferences':[",
                  id, ns, id);
    for (const char *o = owners; *o; o++) {
        const char owner = (char)(*o | 0x20);
        kc_buf_printf(&text,
                      "%s{'apiVersion':'v1','kind':'ConfigMap','name':'%c','uid':'%c',"
                      "'blockOwnerDeletion':%s}",
                      o == owners ? "" : ",", owner, owner, *o == owner ? "false" : "true");
    }
    kc_buf_printf(&text, "]%s}}", more);
    kc_auto(kc_object) *object = object_of(kc_buf_cstr(&text));
    kc__gc_observe(graph, TYPE, object);
}

#define DELETED    ",'deletionTimestamp':'2026-01-01T00:00:00Z'"
#define FOREGROUND DELETED ",'finalizers':['foregroundDeletion']"
#define ORPHAN     DELETED ",'finalizers':['orphan']"

static kc__gc_item item_of(kc__gc_graph *graph, const char *uid, kc_arena *arena)
{
    kc__gc_item item;
    if (!kc__gc_lookup(graph, kc_cstr(uid), arena, &item))
        fail_msg("%s not found", uid);
    return item;
}

static kc__gc_owner_state standing(kc__gc_graph *graph, const char *uid)
{
    kc_scoped(kc_arena) arena = {0};
    const kc__gc_item item = item_of(graph, uid, &arena);
    assert_int_equal(item.n_refs, 1);
    return item.refs[0].owner_state;
}

static void unseen_owner_is_looked_up(void **state)
{
    (void)state;
    kc_scoped(recorded) s = {0};
    kc_auto(kc__gc_graph) *graph = graph_into(&s);
    see(graph, "n", 'b', "a", "");
    assert_recorded(&s, "look a\n");
    assert_int_equal(standing(graph, "b"), KC__GC_UNSURE);
    see(graph, "n", 'a', "", "");
    assert_recorded(&s, "");
    assert_int_equal(standing(graph, "b"), KC__GC_SOLID);
}

static void deleted_owner_enqueues_its_dependents(void **state)
{
    (void)state;
    kc_scoped(recorded) s = {0};
    kc_auto(kc__gc_graph) *graph = graph_into(&s);
    see(graph, "n", 'a', "", "");
    see(graph, "n", 'b', "a", "");
    see(graph, "n", 'c', "a", "");
    assert_recorded(&s, "");
    kc__gc_observe_delete(graph, KC_STR("a"));
    assert_recorded(&s, "look a\n");
    assert_int_equal(standing(graph, "b"), KC__GC_UNSURE);
    kc__gc_absent(graph, &(kc__gc_identity){TYPE, KC_STR("n"), KC_STR("a"), KC_STR("a")});
    assert_recorded(&s, "look b\nlook c\n");
    assert_int_equal(standing(graph, "b"), KC__GC_ABSENT);
    see(graph, "n", 'd', "a", "");
    assert_recorded(&s, "look d\n");
}

static void object_that_left_its_informer_still_exists(void **state)
{
    (void)state;
    kc_scoped(recorded) s = {0};
    kc_auto(kc__gc_graph) *graph = graph_into(&s);
    see(graph, "n", 'a', "", "");
    see(graph, "n", 'b', "a", "");
    kc__gc_observe_delete(graph, KC_STR("a"));
    kc_buf_clear(&s.text);
    kc__gc_exists(graph, &(kc__gc_identity){TYPE, KC_STR("n"), KC_STR("a"), KC_STR("a")});
    assert_recorded(&s, "");
    see(graph, "n", 'a', "", "");
    assert_recorded(&s, "");
    assert_int_equal(standing(graph, "b"), KC__GC_SOLID);
}

static void owner_is_found_by_any_version_of_its_kind(void **state)
{
    (void)state;
    kc_scoped(recorded) s = {0};
    kc_auto(kc__gc_graph) *graph = graph_into(&s);
    kc_auto(kc_object) *owner = object_of("{'metadata':{'name':'a','namespace':'n','uid':'a'}}");
    kc_auto(kc_object) *child = object_of(
        "{'metadata':{'name':'b','namespace':'n','uid':'b','ownerReferences':[{'apiVersion':"
        "'x.example/v1alpha1','kind':'Robot','name':'a','uid':'a'}]}}");
    kc_auto(kc_object) *other = object_of(
        "{'metadata':{'name':'c','namespace':'n','uid':'c','ownerReferences':[{'apiVersion':"
        "'y.example/v1','kind':'Robot','name':'a','uid':'a'}]}}");
    kc__gc_observe(graph, KC_STR("x.example/v1 Robot"), owner);
    kc__gc_observe(graph, TYPE, child);
    assert_recorded(&s, "");
    assert_int_equal(standing(graph, "b"), KC__GC_SOLID);
    kc__gc_observe(graph, TYPE, other);
    assert_recorded(&s, "look c\n");
    assert_int_equal(standing(graph, "c"), KC__GC_UNSURE);
}

static void absence_is_per_namespace_and_name(void **state)
{
    (void)state;
    kc_scoped(recorded) s = {0};
    kc_auto(kc__gc_graph) *graph = graph_into(&s);
    see(graph, "n", 'b', "a", "");
    see(graph, "m", 'c', "a", "");
    assert_recorded(&s, "look a\nlook c\n");
    kc__gc_absent(graph, &(kc__gc_identity){TYPE, KC_STR("n"), KC_STR("other"), KC_STR("a")});
    assert_recorded(&s, "");
    kc__gc_absent(graph, &(kc__gc_identity){TYPE, KC_STR("n"), KC_STR("a"), KC_STR("a")});
    assert_recorded(&s, "look b\nlook c\n");
    assert_int_equal(standing(graph, "b"), KC__GC_ABSENT);
    assert_int_equal(standing(graph, "c"), KC__GC_UNSURE);
    kc__gc_exists(graph, &(kc__gc_identity){TYPE, KC_STR("m"), KC_STR("a"), KC_STR("a")});
    assert_recorded(&s, "look a\n");
    assert_int_equal(standing(graph, "b"), KC__GC_UNSURE);
}

static void absence_of_cluster_scoped_kind_applies_to_all_namespaces(void **state)
{
    (void)state;
    kc_scoped(recorded) s = {0};
    kc_auto(kc__gc_graph) *graph = graph_into(&s);
    see(graph, "n", 'b', "a", "");
    see(graph, "m", 'c', "a", "");
    kc__gc_absent(graph, &(kc__gc_identity){TYPE, {0}, KC_STR("a"), KC_STR("a")});
    assert_int_equal(standing(graph, "b"), KC__GC_ABSENT);
    assert_int_equal(standing(graph, "c"), KC__GC_ABSENT);
}

static void owners_in_other_namespaces_are_reported(void **state)
{
    (void)state;
    kc_scoped(recorded) s = {0};
    kc_auto(kc__gc_graph) *graph = graph_into(&s);
    see(graph, "n", 'b', "A", "");
    see(graph, "m", 'a', "", "");
    assert_recorded(&s, "look a\nreport b of a\n");
    assert_int_equal(standing(graph, "b"), KC__GC_FOREIGN);
    kc__gc_observe_delete(graph, KC_STR("a"));
    assert_int_equal(standing(graph, "b"), KC__GC_FOREIGN);
}

static void waiting_owner_is_enqueued_when_its_last_dependent_is_gone(void **state)
{
    (void)state;
    kc_scoped(recorded) s = {0};
    kc_auto(kc__gc_graph) *graph = graph_into(&s);
    see(graph, "n", 'a', "", "");
    see(graph, "n", 'b', "A", "");
    see(graph, "n", 'c', "A", "");
    see(graph, "n", 'd', "a", "");
    see(graph, "n", 'a', "", FOREGROUND);
    assert_recorded(&s, "look b\nlook c\nlook d\n");
    assert_int_equal(standing(graph, "b"), KC__GC_WAITING);
    see(graph, "n", 'a', "", FOREGROUND);
    kc__gc_observe_delete(graph, KC_STR("b"));
    assert_recorded(&s, "");
    see(graph, "n", 'c', "a", "");
    assert_recorded(&s, "look c\nlook a\n");
    kc__gc_observe_delete(graph, KC_STR("d"));
    assert_recorded(&s, "");
}

static void waiting_owner_without_dependents_is_enqueued(void **state)
{
    (void)state;
    kc_scoped(recorded) s = {0};
    kc_auto(kc__gc_graph) *graph = graph_into(&s);
    see(graph, "n", 'a', "A", FOREGROUND);
    assert_recorded(&s, "look a\nlook a\n");
}

static void orphans_are_released_one_by_one_and_then_their_owner(void **state)
{
    (void)state;
    kc_scoped(recorded) s = {0};
    kc_auto(kc__gc_graph) *graph = graph_into(&s);
    see(graph, "n", 'a', "", "");
    see(graph, "n", 'b', "A", "");
    see(graph, "n", 'c', "a", "");
    see(graph, "n", 'a', "", ORPHAN);
    assert_recorded(&s, "release a b\nrelease a c\n");
    assert_true(kc__gc_is_orphaning(graph, KC_STR("a")));
    see(graph, "n", 'b', "", "");
    see(graph, "n", 'd', "a", "");
    assert_recorded(&s, "release a d\n");
    see(graph, "n", 'c', "", "");
    kc__gc_observe_delete(graph, KC_STR("d"));
    assert_recorded(&s, "release a \n");
}

static void resend_repeats_all_pending_work(void **state)
{
    (void)state;
    kc_scoped(recorded) s = {0};
    kc_auto(kc__gc_graph) *graph = graph_into(&s);
    see(graph, "n", 'b', "a", "");
    see(graph, "n", 'c', "", FOREGROUND);
    see(graph, "n", 'd', "", ORPHAN);
    see(graph, "n", 'e', "D", "");
    see(graph, "n", 'f', "", "");
    see(graph, "n", 'g', "f", "");
    kc__gc_observe_delete(graph, KC_STR("f"));
    kc_buf_clear(&s.text);
    kc__gc_resend(graph);
    assert_recorded(&s, "look a\nlook c\nrelease d e\nlook f\n");
    kc__gc_absent(graph, &(kc__gc_identity){TYPE, KC_STR("n"), KC_STR("f"), KC_STR("f")});
    kc_buf_clear(&s.text);
    kc__gc_resend(graph);
    assert_recorded(&s, "look a\nlook c\nrelease d e\nlook g\n");
}

static void objects_of_unwatched_kinds_are_looked_up(void **state)
{
    (void)state;
    kc_scoped(recorded) s = {0};
    kc_auto(kc__gc_graph) *graph = graph_into(&s);
    see(graph, "n", 'a', "", "");
    see(graph, "n", 'b', "a", "");
    see(graph, "n", 'c', "b", "");
    kc__gc_unwatched(graph, KC_STR("v1 Secret"));
    assert_int_equal(kc__gc_graph_size(graph).nodes, 3);
    kc__gc_unwatched(graph, TYPE);
    assert_int_equal(kc__gc_graph_size(graph).nodes, 0);
    assert_int_equal(kc__gc_graph_size(graph).edges, 0);
}

static void attempts_are_counted_until_the_object_is_seen(void **state)
{
    (void)state;
    kc_scoped(recorded) s = {0};
    kc_auto(kc__gc_graph) *graph = graph_into(&s);
    see(graph, "n", 'b', "a", "");
    assert_int_equal(kc__gc_node_attempts(graph, KC_STR("a")), 0);
    assert_int_equal(kc__gc_node_attempts(graph, KC_STR("a")), 1);
    kc_buf_clear(&s.text);
    kc__gc_reconsider(graph);
    assert_recorded(&s, "look a\n");
    see(graph, "n", 'a', "", "");
    assert_int_equal(kc__gc_node_attempts(graph, KC_STR("a")), 0);
    assert_int_equal(kc__gc_node_attempts(graph, KC_STR("nobody")), 0);
}

/* ---- any order of events ---- */

enum { LETTERS = 12 };

static void random_owners(kc_rand *rand, char out[LETTERS + 1])
{
    size_t n = kc_rand_below(rand, 4);
    for (size_t i = 0; i < n; i++)
        out[i] = (char)((kc_rand_below(rand, 2) ? 'a' : 'A') + (int)kc_rand_below(rand, LETTERS));
    out[n] = 0;
}

static void random_event(kc__gc_graph *graph, kc_rand *rand)
{
    static const char *const more[] = {"", "", "", DELETED, FOREGROUND, ORPHAN};
    const char id = (char)('a' + (int)kc_rand_below(rand, LETTERS));
    const kc_str uid = kc_str_of(&id, 1);
    const char *ns = kc_rand_below(rand, 3) ? "n" : "m";
    char owners[LETTERS + 1];
    random_owners(rand, owners);
    switch (kc_rand_below(rand, 8)) {
    case 0: kc__gc_observe_delete(graph, uid); break;
    case 1: kc__gc_absent(graph, &(kc__gc_identity){TYPE, kc_cstr(ns), uid, uid}); break;
    case 2: kc__gc_exists(graph, &(kc__gc_identity){TYPE, kc_cstr(ns), uid, uid}); break;
    case 3:
        if (!kc_rand_below(rand, 20))
            kc__gc_unwatched(graph, TYPE);
        break;
    default: see(graph, ns, id, owners, more[kc_rand_below(rand, KC_COUNT(more))]);
    }
}

/* Counts what each node counts of itself, from the references of all. */
static void assert_counts(kc__gc_graph *graph)
{
    kc_scoped(kc_arena) arena = {0};
    size_t dependents[LETTERS] = {0}, refs = 0, nodes = 0;
    kc__gc_item items[LETTERS] = {0};
    bool known[LETTERS];
    for (int i = 0; i < LETTERS; i++) {
        const char id = (char)('a' + i);
        known[i] = kc__gc_lookup(graph, kc_str_of(&id, 1), &arena, &items[i]);
        nodes += known[i];
        for (size_t r = 0; r < items[i].n_refs; r++, refs++)
            dependents[*items[i].refs[r].uid.p - 'a']++;
    }
    for (int i = 0; i < LETTERS; i++) {
        assert_int_equal(items[i].n_dependents, dependents[i]);
        assert_true(known[i] || !dependents[i]);
        assert_true(!known[i] || items[i].seen || dependents[i]);
        assert_true(items[i].seen || !items[i].n_refs);
        assert_true(items[i].n_blocking <= items[i].n_dependents);
    }
    assert_int_equal(kc__gc_graph_size(graph).nodes, nodes);
    assert_int_equal(kc__gc_graph_size(graph).edges, refs);
}

static void random_events_keep_counts_consistent(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        kc_rand rand;
        kc_scoped(recorded) s = {0};
        kc_auto(kc__gc_graph) *graph = graph_into(&s);
        kc_rand_seed(&rand, seed);
        for (int i = 0; i < 400; i++) {
            random_event(graph, &rand);
            assert_counts(graph);
            kc_buf_clear(&s.text);
        }
        kc__gc_unwatched(graph, TYPE);
        assert_int_equal(kc__gc_graph_size(graph).nodes, 0);
    }
}

/* Deletes n dependents of an owner that waits; how much was said. */
static size_t lines_for(int n)
{
    kc_scoped(recorded) s = {0};
    kc_auto(kc__gc_graph) *graph = graph_into(&s);
    see(graph, "n", 'a', "", FOREGROUND);
    for (int i = 0; i < n; i++) {
        kc_autofree char *text = kc_asprintf(
            "{'metadata':{'name':'d-%d','namespace':'n','uid':'d-%d','ownerReferences':[{'"
            "apiVersion':'v1','kind':'ConfigMap','name':'a','uid':'a','blockOwnerDeletion':true}]}}",
            i, i);
        kc_auto(kc_object) *object = object_of(text);
        kc__gc_observe(graph, TYPE, object);
    }
    for (int i = 0; i < n; i++) {
        kc_autofree char *uid = kc_asprintf("d-%d", i);
        kc__gc_observe_delete(graph, kc_cstr(uid));
    }
    size_t lines = 0;
    for (size_t i = 0; i < s.text.n; i++)
        lines += s.text.p[i] == '\n';
    return lines;
}

static void work_grows_linearly_with_the_dependents(void **state)
{
    (void)state;
    assert_int_equal(lines_for(1000), 1 + 1000 + 1);
    assert_int_equal(lines_for(4000), 1 + 4000 + 1);
}

TESTS(unseen_owner_is_looked_up, deleted_owner_enqueues_its_dependents,
      object_that_left_its_informer_still_exists, owner_is_found_by_any_version_of_its_kind,
      absence_is_per_namespace_and_name, absence_of_cluster_scoped_kind_applies_to_all_namespaces,
      owners_in_other_namespaces_are_reported,
      waiting_owner_is_enqueued_when_its_last_dependent_is_gone,
      waiting_owner_without_dependents_is_enqueued,
      orphans_are_released_one_by_one_and_then_their_owner, resend_repeats_all_pending_work,
      objects_of_unwatched_kinds_are_looked_up, attempts_are_counted_until_the_object_is_seen,
      random_events_keep_counts_consistent, work_grows_linearly_with_the_dependents)
