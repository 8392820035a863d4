/* SPDX-License-Identifier: Apache-2.0 */
#include "scaffold/names.h"
#include "testing.h"

#define assert_makes(call, expected)         \
    do {                                     \
        kc_autofree char *text = (call);     \
        assert_string_equal(text, expected); \
    } while (0)

static void assert_refuses(int (*check)(const char *text, kc_error *err), const char *text,
                           const char *part)
{
    kc_scoped(kc_error) err = {0};
    assert_true(check(text, &err) < 0);
    assert_error(&err, KC_INVALID, part);
}

static void versions_are_those_of_kubernetes(void **state)
{
    (void)state;
    static const char *const good[] = {"v1", "v12", "v1alpha1", "v2beta10"};
    for (size_t i = 0; i < KC_COUNT(good); i++)
        assert_int_equal(kc__check_version(good[i], NULL), 0);
    assert_refuses(kc__check_version, "1", "did you mean 'v1'?");
    assert_refuses(kc__check_version, "V1", "did you mean 'v1'?");
    assert_refuses(kc__check_version, "v1alpha", "did you mean 'v1alpha1'?");
    assert_refuses(kc__check_version, "v01", "'v01' is no version");
    assert_refuses(kc__check_version, "v1gamma1", "'v1gamma1' is no version");
    assert_refuses(kc__check_version, "", "'' is no version");
}

static void kinds_begin_with_a_capital(void **state)
{
    (void)state;
    assert_int_equal(kc__check_kind("RobotArm2", NULL), 0);
    assert_refuses(kc__check_kind, "robot", "did you mean 'Robot'?");
    assert_refuses(kc__check_kind, "robot_arm", "did you mean 'RobotArm'?");
    assert_refuses(kc__check_kind, "../x", "is no kind");
    assert_refuses(kc__check_kind, "", "is no kind");
}

static void groups_and_domains_are_names_of_dns(void **state)
{
    (void)state;
    assert_int_equal(kc__check_group("apps", NULL), 0);
    assert_refuses(kc__check_group, "My_Apps", "did you mean 'my-apps'?");
    assert_refuses(kc__check_group, "../up", "is no group");
    assert_refuses(kc__check_domain, "example..io", "is no domain");
    assert_refuses(kc__check_project_name, "9lives", "is no name of a project");
}

static void paths_begin_with_a_slash(void **state)
{
    (void)state;
    assert_int_equal(kc__check_hook_path("/mutate-a/b_c.d", NULL), 0);
    assert_refuses(kc__check_hook_path, "mutate", "did you mean '/mutate'?");
    assert_refuses(kc__check_hook_path, "/", "is no path");
    assert_refuses(kc__check_hook_path, "", "is no path");
    assert_refuses(kc__check_hook_path, "/a\"b", "is no path"); /* It stands in a text of C, */
    assert_refuses(kc__check_hook_path, "/a,b", "is no path");  /* and in a marker. */
}

static void what_is_said_of_an_image_can_stand_in_a_text(void **state)
{
    (void)state;
    assert_int_equal(kc__check_image("registry.example.com:5000/a/b_c:v1@sha256:0f", NULL), 0);
    assert_refuses(kc__check_image, "a b", "is no image");
    assert_refuses(kc__check_image, "", "is no image");
    assert_int_equal(kc__check_image_command("memcached,--limit=64,-v", NULL), 0);
    assert_refuses(kc__check_image_command, "say,\"hi\"", "without quotes");
    assert_refuses(kc__check_image_command, "a\\b", "is no command");
    assert_int_equal(kc__check_image_port("65535", NULL), 0);
    assert_refuses(kc__check_image_port, "0", "a number from 1 to 65535");
    assert_refuses(kc__check_image_user, "root", "is no user");
}

static void controllers_have_names_that_can_be_those_of_functions(void **state)
{
    (void)state;
    assert_int_equal(kc__check_controller("frigate-backup", NULL), 0);
    assert_refuses(kc__check_controller, "Frigate_Backup", "did you mean 'frigate-backup'?");
    assert_refuses(kc__check_controller, "9a", "is no name of a controller");
    assert_makes(kc__identifier(KC_STR("frigate-backup.v1/a")), "frigate_backup_v1_a");
}

static void kinds_have_names_in_c(void **state)
{
    (void)state;
    assert_makes(kc__snake_case(KC_STR("Robot")), "robot");
    assert_makes(kc__snake_case(KC_STR("RobotArm")), "robot_arm");
    assert_makes(kc__snake_case(KC_STR("HTTPProxy")), "http_proxy");
    assert_makes(kc__snake_case(KC_STR("ClusterIP")), "cluster_ip");
    assert_makes(kc__struct_name(KC_STR("Switch"), KC_STR("net-work")), "net_work_switch");
    assert_true(kc__says_kind("robot_arm", KC_STR("RobotArm")));
    assert_false(kc__says_kind("http_proxy", KC_STR("HTTPProxy")));
    assert_false(kc__says_kind("robot_v1", KC_STR("RobotV1")));
    assert_false(kc__says_kind("shirt_t", KC_STR("ShirtT")));
}

static void plurals_are_made_of_kinds(void **state)
{
    (void)state;
    assert_makes(kc__plural_of(KC_STR("Robot")), "robots");
    assert_makes(kc__plural_of(KC_STR("Policy")), "policies");
    assert_makes(kc__plural_of(KC_STR("Gateway")), "gateways");
    assert_makes(kc__plural_of(KC_STR("Address")), "addresses");
    assert_makes(kc__plural_of(KC_STR("Box")), "boxes");
    assert_makes(kc__plural_of(KC_STR("Branch")), "branches");
}

TESTS(versions_are_those_of_kubernetes, kinds_begin_with_a_capital,
      groups_and_domains_are_names_of_dns, paths_begin_with_a_slash,
      what_is_said_of_an_image_can_stand_in_a_text,
      controllers_have_names_that_can_be_those_of_functions, kinds_have_names_in_c,
      plurals_are_made_of_kinds)
