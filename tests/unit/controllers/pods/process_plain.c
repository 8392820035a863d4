/* SPDX-License-Identifier: Apache-2.0 */
/* Containers without namespaces and cgroups. */
#include "process_contract.h"

static node_opts contract_opts(void)
{
    return (node_opts){.limit = {.no_namespaces = true, .no_cgroup = true}};
}

static void volumes_are_refused_with_reason(void **state)
{
    (void)state;
    kc_auto(node) *n = contract_node();
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_pod) *pod =
        pod_of("'volumes':[{'name':'v','emptyDir':{}}],'containers':[{'name':'c','command':['true']"
               ",'volumeMounts':[{'name':'v','mountPath':'/data'}]}]");
    assert_true(start_with(n, pod, 0, 0, NULL, 0, &err) < 0);
    assert_error(&err, KC_INVALID, "volume v cannot be mounted at /data");
}

static void termination_message_is_read_from_file_in_the_environment(void **state)
{
    (void)state;
    kc_auto(node) *n = contract_node();
    kc_auto(kc_pod) *pod = pod_running("echo because > $KC_TERMINATION_LOG; exit 1");
    start(n, pod, 0);
    assert_string_equal(await_end(n, pod, "c", 0).message, "because\n");
}

/* Two planes made of one copy have pods of the same uid. */
static void pod_of_another_node_is_unchanged(void **state)
{
    (void)state;
    kc_auto(node) *n = contract_node(), *other = contract_node();
    kc_auto(kc_pod) *pod = pod_running("sleep 1000");
    start(n, pod, 0);
    start(other, pod, 0);
    stop(n, pod, "c", 0, true);
    await_end(n, pod, "c", 0);
    assert_int_equal(observe(other, pod, "c", 0).phase, KC__POD_CONTAINER_RUNNING);
    stop(other, pod, "c", 0, true);
    assert_int_equal(await_end(other, pod, "c", 0).exit_code, 137);
}

TESTS(CONTRACT, pod_of_another_node_is_unchanged, volumes_are_refused_with_reason,
      termination_message_is_read_from_file_in_the_environment)
