/* SPDX-License-Identifier: Apache-2.0 */
/* Containers of somebody who is not root: in user namespaces, where there are any. */
#include "process_contract.h"

#include <grp.h>
#include <sys/prctl.h>
#include <sys/resource.h>

static node_opts contract_opts(void)
{
    return (node_opts){0};
}

static void containers_run_as_ourselves(void **state)
{
    (void)state;
    kc_auto(node) *n = contract_node();
    kc_autofree char *text = output_of(n, "id -u");
    assert_int_equal(strtol(text, NULL, 10), geteuid());
}

static void another_user_is_refused(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    assert_null(node_try(&(node_opts){.pods.user = "1"}, &err));
    assert_error(&err, KC_INVALID, "only root can become another");
}

static void an_empty_dir_is_shared_and_processes_are_alone(void **state)
{
    (void)state;
    kc_auto(node) *n = contract_node();
    if (n->rt->isolation.namespaces == KC__NAMESPACES_NONE) {
        print_message("%s\n", n->rt->isolation.text);
        skip();
    }
    kc_auto(kc_pod) *pod =
        pod_of("'volumes':[{'name':'v','emptyDir':{'medium':'Memory'}}],'containers':["
               "{'name':'a','command':['sh','-c','echo $$ > /data/from-a'],"
               "'volumeMounts':[{'name':'v','mountPath':'/data'}]},"
               "{'name':'b','command':['sh','-c','until cat /data/from-a; do sleep 0.02; done'],"
               "'volumeMounts':[{'name':'v','mountPath':'/data','readOnly':true}]}]");
    start(n, pod, 0);
    assert_int_equal(await_end(n, pod, "a", 0).exit_code, 0);
    assert_int_equal(await_end(n, pod, "b", 0).exit_code, 0);
    assert_true(has_logged(n, pod, "b", "1\n"));
}

static void too_many_processes_are_said(void **state)
{
    (void)state;
    kc_auto(node) *n = contract_node();
    kc_scoped(kc_error) err = {0};
    struct rlimit before, none;
    getrlimit(RLIMIT_NPROC, &before);
    none = before;
    none.rlim_cur = 1;
    setrlimit(RLIMIT_NPROC, &none);
    kc_auto(kc_pod) *pod = pod_running("true");
    const int started = start_with(n, pod, 0, 0, NULL, 0, &err);
    setrlimit(RLIMIT_NPROC, &before);
    assert_true(started < 0);
    assert_error(&err, KC_TOO_MANY_REQUESTS, "too many processes");
    start(n, pod, 0);
    assert_int_equal(await_end(n, pod, "c", 0).exit_code, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KC__EACH(cmocka_unit_test, CONTRACT, containers_run_as_ourselves, another_user_is_refused,
                 too_many_processes_are_said, an_empty_dir_is_shared_and_processes_are_alone)};
    if (geteuid() == 0 && (setgroups(0, NULL) < 0 || setresgid(65534, 65534, 65534) < 0 ||
                           setresuid(65534, 65534, 65534) < 0))
        return 1;
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); /* As somebody is who has always been nobody. */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
