/* SPDX-License-Identifier: Apache-2.0 */
/* The scheduler at work: a real server, virtual time, faults. */
#include "plane_testing.h"

#include "kc/controllers.h"
#include "kc/view.h"

/* ---- words ---- */

static void add_scheduler(kc_manager *manager)
{
    kc_scoped(kc_error) err = {0};
    OK(kc_controllers_add(manager, &(kc_controllers_opts){.names = "scheduler"}, &err), &err);
}

static kc_testenv *scheduling(uint64_t seed)
{
    kc_testenv *env = plane(seed);
    add_scheduler(kc_testenv_manager(env));
    return env;
}

static void apply(kc_testenv *env, const char *yaml)
{
    kc_scoped(kc_error) err = {0};
    OK(kc_testenv_apply(env, kc_cstr(yaml), &err), &err);
}

static void patch(kc_testenv *env, const kc_kind *kind, const char *name, const char *subresource,
                  const char *json)
{
    kc_scoped(kc_error) err = {0};
    kc_autofree char *text = kc_strdup(json);
    for (char *at = text; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    kc_auto(kc_object) *now = kc_client_patch(
        kc_testenv_client(env), kind, kind->namespaced ? KC_KEY("default", name) : KC_KEY("", name),
        KC_PATCH_MERGE, kc_cstr(text), &(kc_write_opts){.subresource = subresource}, &err);
    OK(now ? 0 : -1, &err);
}

static void set_status(kc_testenv *env, const kc_kind *kind, const char *name, const char *status)
{
    kc_autofree char *json = kc_asprintf("{'status':%s}", status);
    patch(env, kind, name, "status", json);
}

#define ROOM                                                 \
    "{'allocatable':{'cpu':'2','memory':'4Gi','pods':'10'}," \
    "'conditions':[{'type':'Ready','status':'True'}]}"

/* A ready node with these labels more. A new one is tainted until its controller has seen that it
 * is ready; here nobody is, so `taints` is what it has. */
static void node(kc_testenv *env, const char *name, const char *labels, const char *taints)
{
    kc_autofree char *yaml =
        kc_asprintf("{apiVersion: v1, kind: Node, metadata: {name: %s, labels: "
                    "{kubernetes.io/hostname: %s%s}}}",
                    name, name, labels);
    kc_autofree char *spec = kc_asprintf("{'spec':{'taints':[%s]}}", taints);
    apply(env, yaml);
    patch(env, &kc_kind_node, name, NULL, spec);
    set_status(env, &kc_kind_node, name, ROOM);
}

static void nodes(kc_testenv *env, int n)
{
    for (int i = 0; i < n; i++) {
        kc_autofree char *name = kc_asprintf("node-%d", i);
        node(env, name, "", "");
    }
}

/* A pod of one container; `spec` stands in its spec. */
static void pod(kc_testenv *env, const char *name, const char *cpu, const char *spec)
{
    kc_autofree char *yaml = kc_asprintf(
        "{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: default, labels: {app: web}}, "
        "spec: {containers: [{name: c, image: example/c, resources: {requests: {cpu: %s}}}]%s%s}}",
        name, cpu, *spec ? ", " : "", spec);
    apply(env, yaml);
}

static kc_view *view_of_pod(kc_testenv *env, const char *name)
{
    kc_auto(kc_object) *p = look_up(env, &kc_kind_pod, name);
    return p ? kc_view_of(p) : NULL;
}

/* The caller's; "" while it waits; NULL when there is no such pod. */
static char *node_of(kc_testenv *env, const char *name)
{
    kc_auto(kc_view) *v = view_of_pod(env, name);
    return v ? kc_str_dup(kc_as_str(kc_dig(kc_view_root(v), "spec.nodeName"))) : NULL;
}

static bool is_bound(kc_testenv *env, const char *name)
{
    kc_autofree char *where = node_of(env, name);
    return where && *where;
}

static void assert_on(kc_testenv *env, const char *name, const char *where)
{
    kc_autofree char *is = node_of(env, name);
    assert_non_null(is);
    assert_string_equal(is, where);
}

/* The PodScheduled condition: "Reason: message". */
static char *condition_of(kc_testenv *env, const char *name)
{
    kc_auto(kc_view) *v = view_of_pod(env, name);
    kc_items (kc_dig(kc_view_root(v), "status.conditions"), c)
        if (kc_str_is(kc_as_str(kc_get(c, "type")), "PodScheduled"))
            return kc_asprintf("%s: %s", kc_as_cstr(kc_get(c, "reason"), ""),
                               kc_as_cstr(kc_get(c, "message"), ""));
    return kc_strdup("");
}

static void assert_waits(kc_testenv *env, const char *name, const char *condition)
{
    kc_autofree char *is = condition_of(env, name);
    assert_string_equal(is, condition);
    assert_on(env, name, "");
}

static size_t count_events(kc_testenv *env, const char *name, const char *reason, const char *part)
{
    kc_scoped(kc_objects) list = {0};
    kc_scoped(kc_error) err = {0};
    size_t n = 0;
    OK(kc_client_list(kc_testenv_client(env), &kc_kind_event, NULL, &list, &err), &err);
    for (size_t i = 0; i < list.n; i++) {
        kc_auto(kc_view) *v = kc_view_of(list.items[i]);
        const kc_value *root = kc_view_root(v);
        n += kc_str_is(kc_as_str(kc_dig(root, "involvedObject.name")), name) &&
             kc_str_is(kc_as_str(kc_get(root, "reason")), reason) &&
             kc_str_contains(kc_as_str(kc_get(root, "message")), kc_cstr(part));
    }
    return n;
}

static void delete_pod(kc_testenv *env, const char *name)
{
    kc_scoped(kc_error) err = {0};
    OK(kc_client_delete(kc_testenv_client(env), &kc_kind_pod, KC_KEY("default", name),
                        &(kc_delete_opts){.now = true}, &err),
       &err);
}

/* ---- tests ---- */

static void a_pod_gets_a_node(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(1);
    nodes(env, 1);
    pod(env, "a", "100m", "");
    settle(env);
    assert_on(env, "a", "node-0");
    kc_testenv_advance(env, 5 * KC_SECOND);
    assert_int_equal(
        count_events(env, "a", "Scheduled", "Successfully assigned default/a to node-0"), 1);
}

static void pods_fill_nodes_and_no_more(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(2);
    nodes(env, 2);
    for (int i = 0; i < 5; i++) {
        kc_autofree char *name = kc_asprintf("p%d", i);
        pod(env, name, "1", "");
    }
    settle(env);
    size_t bound = 0, on_first = 0;
    for (int i = 0; i < 5; i++) {
        kc_autofree char *name = kc_asprintf("p%d", i), *where = node_of(env, name);
        bound += *where != 0;
        on_first += !strcmp(where, "node-0");
    }
    assert_int_equal(bound, 4);
    assert_int_equal(on_first, 2);
}

static void a_pod_that_fits_nowhere_says_why(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(3);
    nodes(env, 1);
    node(env, "tainted", "", "{'key':'dedicated','value':'db','effect':'NoSchedule'}");
    node(env, "cordoned", "", "");
    patch(env, &kc_kind_node, "cordoned", NULL, "{'spec':{'unschedulable':true}}");
    pod(env, "big", "3", "");
    settle(env);
    assert_waits(env, "big",
                 "Unschedulable: 0/3 nodes are available: 1 Insufficient cpu, 1 node(s) had "
                 "untolerated taint {dedicated: db}, 1 node(s) were unschedulable. preemption: 0/3 "
                 "nodes are available: 3 Preemption is not helpful for scheduling.");
    kc_testenv_advance(env, 5 * KC_SECOND);
    assert_int_equal(count_events(env, "big", "FailedScheduling", "0/3 nodes are available"), 1);
}

static void without_nodes_a_pod_waits_for_one(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(4);
    pod(env, "a", "100m", "");
    settle(env);
    assert_waits(env, "a", "Unschedulable: no nodes available to schedule pods");
    nodes(env, 1);
    kc_testenv_advance(env, 2 * KC_SECOND);
    assert_on(env, "a", "node-0");
}

static void a_node_that_is_not_ready_gets_nothing(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(5);
    nodes(env, 1);
    set_status(env, &kc_kind_node, "node-0",
               "{'conditions':[{'type':'Ready','status':'Unknown'}]}");
    pod(env, "a", "100m", "");
    settle(env);
    assert_waits(env, "a",
                 "Unschedulable: 0/1 nodes are available: 1 node(s) had untolerated taint "
                 "{node.kubernetes.io/unreachable: }. preemption: 0/1 nodes are available: 1 "
                 "Preemption is not helpful for scheduling.");
    set_status(env, &kc_kind_node, "node-0", ROOM);
    kc_testenv_advance(env, 2 * KC_SECOND);
    assert_on(env, "a", "node-0");
}

static void a_deleted_pod_makes_room(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(6);
    nodes(env, 1);
    pod(env, "first", "1500m", "");
    settle(env);
    pod(env, "second", "1500m", "");
    settle(env);
    assert_on(env, "second", "");
    kc_testenv_advance(env, 20 * KC_SECOND);
    delete_pod(env, "first");
    kc_testenv_advance(env, KC_MILLISECOND);
    assert_on(env, "second", "node-0");
}

static void a_finished_pod_makes_room(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(7);
    nodes(env, 1);
    pod(env, "first", "1500m", "");
    settle(env);
    pod(env, "second", "1500m", "");
    settle(env);
    set_status(env, &kc_kind_pod, "first", "{'phase':'Succeeded'}");
    kc_testenv_advance(env, 2 * KC_SECOND);
    assert_on(env, "second", "node-0");
}

static void pods_of_other_schedulers_are_left_alone(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(8);
    nodes(env, 1);
    pod(env, "a", "100m", "schedulerName: mine");
    settle(env);
    assert_waits(env, "a", "");
}

static void gates_hold_a_pod_back(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(9);
    nodes(env, 1);
    pod(env, "a", "100m", "schedulingGates: [{name: example.com/wait}]");
    settle(env);
    assert_waits(env, "a",
                 "SchedulingGated: Scheduling is blocked due to non-empty scheduling gates");
    patch(env, &kc_kind_pod, "a", NULL, "{'spec':{'schedulingGates':null}}");
    settle(env);
    assert_on(env, "a", "node-0");
}

static void a_missing_claim_is_waited_for(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(10);
    nodes(env, 1);
    pod(env, "a", "100m", "volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]");
    settle(env);
    kc_autofree char *why = condition_of(env, "a");
    assert_contains(why, "0/1 nodes are available: persistentvolumeclaim \"data\" not found.");
    apply(env,
          "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: "
          "default}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}");
    kc_testenv_advance(env, 2 * KC_SECOND);
    assert_on(env, "a", "node-0");
}

/* ---- how often ---- */

/* Of scheduler_schedule_attempts_total. */
static double attempts(kc_testenv *env, const char *result)
{
    kc_scoped(kc_buf) text = {0};
    kc_autofree char *series = kc_asprintf(
        "scheduler_schedule_attempts_total{profile=\"default-scheduler\",result=\"%s\"} ", result);
    kc_metrics_write(kc_manager_metrics(kc_testenv_manager(env)), &text);
    const char *at = strstr(kc_buf_cstr(&text), series);
    assert_non_null(at);
    return strtod(at + strlen(series), NULL);
}

/* Nothing else happens: it is tried again after five minutes, not before. */
static void what_waits_is_tried_again_now_and_then(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(11);
    nodes(env, 1);
    pod(env, "a", "3", "");
    settle(env);
    kc_testenv_advance(env, 4 * KC_MINUTE);
    assert_true(attempts(env, "unschedulable") == 1);
    kc_testenv_advance(env, 61 * KC_SECOND);
    assert_true(attempts(env, "unschedulable") == 2);
    assert_int_equal(count_events(env, "a", "FailedScheduling", ""), 1);
}

enum { CROWD = 40 };

static void what_does_not_help_wakes_nobody(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(15);
    nodes(env, 2);
    for (int i = 0; i < CROWD; i++) {
        kc_autofree char *name = kc_asprintf("big-%d", i);
        pod(env, name, "3", "");
    }
    settle(env);
    kc_testenv_advance(env, 20 * KC_SECOND);
    assert_true(attempts(env, "unschedulable") == CROWD);
    for (int i = 0; i < 5; i++) {
        pod(env, "small", "100m", "");
        kc_testenv_advance(env, KC_SECOND);
        assert_true(is_bound(env, "small"));
        delete_pod(env, "small");
        /* A heartbeat. */
        set_status(env, &kc_kind_node, "node-0",
                   "{'conditions':[{'type':'Ready','status':'True','reason':'Fine'}]}");
        kc_testenv_advance(env, KC_SECOND);
    }
    assert_true(attempts(env, "unschedulable") == CROWD);
    assert_true(attempts(env, "scheduled") == 5);
}

static void a_pod_says_what_keeps_it_now(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(16);
    node(env, "one", "", "{'key':'k','effect':'NoSchedule'}");
    pod(env, "big", "3", "");
    settle(env);
    kc_testenv_advance(env, 2 * KC_SECOND);
    patch(env, &kc_kind_node, "one", NULL, "{'spec':{'taints':null}}");
    kc_testenv_advance(env, 2 * KC_SECOND);
    kc_autofree char *why = condition_of(env, "big");
    assert_contains(why, "0/1 nodes are available: 1 Insufficient cpu.");
}

static void a_pod_waits_in_the_queue_people_see(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(17);
    kc_scoped(kc_buf) text = {0};
    nodes(env, 1);
    pod(env, "big", "3", "");
    pod(env, "gated", "1", "schedulingGates: [{name: example.com/wait}]");
    pod(env, "bound", "1", "");
    settle(env);
    kc_metrics_write(kc_manager_metrics(kc_testenv_manager(env)), &text);
    assert_contains(kc_buf_cstr(&text), "scheduler_pending_pods{queue=\"unschedulable\"} 1\n");
    assert_contains(kc_buf_cstr(&text), "scheduler_pending_pods{queue=\"gated\"} 1\n");
    assert_contains(kc_buf_cstr(&text), "scheduler_pending_pods{queue=\"active\"} 0\n");
    assert_contains(kc_buf_cstr(&text),
                    "scheduler_pod_scheduling_sli_duration_seconds_count{attempts=\"1\"} 1\n");
}

/* ---- preemption ---- */

static void classes(kc_testenv *env)
{
    apply(env, "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, "
               "value: 1000}");
}

static void a_more_important_pod_takes_the_place(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(12);
    classes(env);
    nodes(env, 1);
    pod(env, "low", "1500m", "terminationGracePeriodSeconds: 0");
    settle(env);
    assert_on(env, "low", "node-0");
    kc_testenv_advance(env, KC_SECOND);
    pod(env, "high", "1500m", "priority: 1000, priorityClassName: high");
    settle(env);
    kc_testenv_advance(env, 5 * KC_SECOND);
    assert_null(node_of(env, "low"));
    assert_on(env, "high", "node-0");
    assert_int_equal(count_events(env, "low", "Preempted", "on node node-0"), 1);
}

static void a_victim_is_waited_for_on_the_nominated_node(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(13);
    classes(env);
    nodes(env, 1);
    pod(env, "low", "1500m", "terminationGracePeriodSeconds: 30");
    settle(env);
    pod(env, "high", "1500m", "priority: 1000, priorityClassName: high");
    settle(env);
    kc_testenv_advance(env, 5 * KC_SECOND);
    kc_auto(kc_view) *low = view_of_pod(env, "low"), *high = view_of_pod(env, "high");
    assert_non_null(kc_dig(kc_view_root(low), "metadata.deletionTimestamp"));
    assert_str(kc_as_str(kc_dig(kc_view_root(high), "status.nominatedNodeName")), "node-0");
    bool told = false;
    kc_items (kc_dig(kc_view_root(low), "status.conditions"), c)
        told = told || kc_str_is(kc_as_str(kc_get(c, "reason")), "PreemptionByScheduler");
    assert_true(told);
    /* Room that was made for one is not for another that matters less. */
    pod(env, "other", "100m", "");
    delete_pod(env, "low");
    kc_testenv_advance(env, 12 * KC_SECOND);
    assert_on(env, "high", "node-0");
    assert_true(is_bound(env, "other"));
}

static void who_may_not_preempt_says_so(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(14);
    apply(env, "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: polite}, "
               "value: 1000, preemptionPolicy: Never}");
    nodes(env, 1);
    pod(env, "low", "1500m", "");
    settle(env);
    pod(env, "polite", "1500m",
        "priority: 1000, priorityClassName: polite, preemptionPolicy: Never");
    settle(env);
    assert_waits(env, "polite",
                 "Unschedulable: 0/1 nodes are available: 1 Insufficient cpu. preemption: not "
                 "eligible due to preemptionPolicy=Never.");
}

/* ---- faults ---- */

enum { MANY = 12 };

static void make_many(kc_testenv *env, int from, int to)
{
    for (int i = from; i < to; i++) {
        kc_autofree char *name = kc_asprintf("p%d", i);
        pod(env, name, "500m", "");
    }
}

/* All are bound, no node has more than it can take, and of none it was said twice. */
static void assert_all_bound(kc_testenv *env, int n, kc_fault fault, uint64_t seed)
{
    int per_node[4] = {0};
    for (int i = 0; i < n; i++) {
        kc_autofree char *name = kc_asprintf("p%d", i), *where = node_of(env, name);
        if (!where || !*where)
            fail_msg("%s waits (fault %d, seed %d)", name, fault, (int)seed);
        const size_t said = count_events(env, name, "Scheduled", "");
        if (said > 1 || said != count_events(env, name, "Scheduled", where))
            fail_msg("%s was bound twice (fault %d, seed %d)", name, fault, (int)seed);
        per_node[where[strlen("node-")] - '0']++;
    }
    for (int i = 0; i < 4; i++)
        if (per_node[i] > 4)
            fail_msg("node-%d has %d pods (fault %d, seed %d)", i, per_node[i], fault, (int)seed);
}

static void it_survives(kc_fault fault, uint64_t seed)
{
    kc_auto(kc_testenv) *env = scheduling(seed);
    nodes(env, 4);
    kc_testenv_fault(env, &(kc_fault_opts){fault, .chance = 0.3});
    make_many(env, 0, MANY / 2);
    kc_testenv_settle_within(env, 2 * KC_MINUTE, NULL);
    make_many(env, MANY / 2, MANY);
    kc_testenv_advance(env, KC_MINUTE);
    kc_testenv_clear_faults(env);
    kc_scoped(kc_error) err = {0};
    OK(kc_testenv_settle_within(env, 10 * KC_MINUTE, &err), &err);
    kc_testenv_advance(env, 30 * KC_SECOND);
    assert_all_bound(env, MANY, fault, seed);
}

static void it_survives_every_fault(void **state)
{
    (void)state;
    for (int fault = 1; fault < KC_FAULTS; fault++)
        for (uint64_t seed = 1; seed <= 3; seed++)
            it_survives((kc_fault)fault, seed);
}

static void a_late_cache_fills_no_node_twice(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        kc_auto(kc_testenv) *env = scheduling(seed);
        nodes(env, 3);
        settle(env);
        kc_testenv_fault(env,
                         &(kc_fault_opts){KC_FAULT_STALE_READ, .chance = 1, .kind = &kc_kind_pod});
        make_many(env, 0, MANY);
        kc_testenv_advance(env, KC_MINUTE);
        kc_testenv_clear_faults(env);
        kc_testenv_advance(env, KC_MINUTE);
        assert_all_bound(env, MANY, KC_FAULT_STALE_READ, seed);
    }
}

static void a_crash_between_two_writes_is_made_good(void **state)
{
    (void)state;
    for (size_t writes = 1; writes <= 2 * MANY + 1; writes++) {
        kc_auto(kc_testenv) *env = scheduling(20);
        nodes(env, 4);
        make_many(env, 0, MANY);
        kc_testenv_crash_after(env, writes);
        kc_testenv_settle(env, NULL);
        kc_testenv_advance(env, KC_SECOND);
        if (kc_testenv_crashed(env)) {
            assert_non_null(kc_testenv_restart(env, NULL));
            add_scheduler(kc_testenv_manager(env));
        }
        settle(env);
        kc_testenv_advance(env, 30 * KC_SECOND);
        assert_all_bound(env, MANY, KC_FAULT_NONE, writes);
    }
}

/* Whatever write is the last one of the first scheduler: the more important pod gets the node. */
static void a_crash_while_preempting_is_made_good(void **state)
{
    (void)state;
    for (size_t writes = 1; writes <= 8; writes++) {
        kc_auto(kc_testenv) *env = scheduling(21);
        classes(env);
        nodes(env, 1);
        pod(env, "low", "1500m", "terminationGracePeriodSeconds: 0");
        settle(env);
        pod(env, "high", "1500m", "priority: 1000, priorityClassName: high");
        kc_testenv_crash_after(env, writes);
        kc_testenv_settle(env, NULL);
        kc_testenv_advance(env, 3 * KC_SECOND);
        if (kc_testenv_crashed(env)) {
            assert_non_null(kc_testenv_restart(env, NULL));
            add_scheduler(kc_testenv_manager(env));
        }
        settle(env);
        kc_testenv_advance(env, 30 * KC_SECOND);
        assert_null(node_of(env, "low"));
        assert_on(env, "high", "node-0");
    }
}

static void a_nomination_outlives_who_made_it(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(22);
    classes(env);
    nodes(env, 1);
    pod(env, "low", "1500m", "terminationGracePeriodSeconds: 30");
    settle(env);
    pod(env, "high", "1500m", "priority: 1000, priorityClassName: high");
    settle(env);
    kc_testenv_advance(env, 2 * KC_SECOND);
    assert_non_null(kc_testenv_restart(env, NULL));
    add_scheduler(kc_testenv_manager(env));
    settle(env);
    /* When the victim is gone either would fit, not both: the room is made for one of them. */
    pod(env, "other", "1", "");
    settle(env);
    delete_pod(env, "low");
    kc_testenv_advance(env, 20 * KC_SECOND);
    assert_on(env, "high", "node-0");
    assert_on(env, "other", "");
}

static uint64_t fingerprint(uint64_t seed)
{
    kc_auto(kc_testenv) *env = scheduling(seed);
    nodes(env, 4);
    make_many(env, 0, MANY);
    settle(env);
    return kc_testenv_fingerprint(env);
}

static void a_seeded_run_can_be_had_again(void **state)
{
    (void)state;
    assert_true(fingerprint(1) == fingerprint(1));
    assert_true(fingerprint(1) != fingerprint(2));
}

static void assert_bound_soon(kc_testenv *env, const char *name)
{
    for (int tries = 0; tries < 1000 && !is_bound(env, name); tries++)
        kc_testenv_advance(env, 10 * KC_MILLISECOND);
    assert_true(is_bound(env, name));
}

/* Pods come and go while others are bound, on real threads. */
static void it_keeps_up_with_a_crowd_in_real_time(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(0);
    nodes(env, 4);
    settle(env);
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 4 * MANY; i++) {
            kc_autofree char *name = kc_asprintf("r%d-%d", round, i);
            pod(env, name, "10m", "terminationGracePeriodSeconds: 0");
        }
        for (int i = 0; i < 4 * MANY && round; i++) {
            kc_autofree char *name = kc_asprintf("r%d-%d", round - 1, i);
            delete_pod(env, name);
        }
    }
    for (int i = 0; i < 30; i++) {
        kc_autofree char *name = kc_asprintf("r3-%d", i);
        delete_pod(env, name);
    }
    for (int i = 30; i < 4 * MANY; i++) {
        kc_autofree char *name = kc_asprintf("r3-%d", i);
        assert_bound_soon(env, name);
    }
}

static void it_runs_in_real_time_too(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scheduling(0);
    nodes(env, 4);
    make_many(env, 0, MANY);
    settle(env);
    for (int i = 0; i < MANY; i++) {
        kc_autofree char *name = kc_asprintf("p%d", i);
        assert_bound_soon(env, name);
    }
}

TESTS(a_pod_gets_a_node, pods_fill_nodes_and_no_more, a_pod_that_fits_nowhere_says_why,
      without_nodes_a_pod_waits_for_one, a_node_that_is_not_ready_gets_nothing,
      a_deleted_pod_makes_room, a_finished_pod_makes_room, pods_of_other_schedulers_are_left_alone,
      gates_hold_a_pod_back, a_missing_claim_is_waited_for, what_waits_is_tried_again_now_and_then,
      what_does_not_help_wakes_nobody, a_pod_says_what_keeps_it_now,
      a_pod_waits_in_the_queue_people_see, a_more_important_pod_takes_the_place,
      a_victim_is_waited_for_on_the_nominated_node, who_may_not_preempt_says_so,
      it_survives_every_fault, a_late_cache_fills_no_node_twice,
      a_crash_between_two_writes_is_made_good, a_seeded_run_can_be_had_again,
      a_crash_while_preempting_is_made_good, a_nomination_outlives_who_made_it,
      it_runs_in_real_time_too, it_keeps_up_with_a_crowd_in_real_time)
