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

static void version_must_be_a_kubernetes_version(void **state)
{
    (void)state;
    static const char *const good[] = {"v1", "v12", "v1alpha1", "v2beta10"};
    for (size_t i = 0; i < KC_COUNT(good); i++)
        assert_int_equal(kc__scaffold_check_version(good[i], NULL), 0);
    assert_refuses(kc__scaffold_check_version, "1", "did you mean 'v1'?");
    assert_refuses(kc__scaffold_check_version, "V1", "did you mean 'v1'?");
    assert_refuses(kc__scaffold_check_version, "v1alpha", "did you mean 'v1alpha1'?");
    assert_refuses(kc__scaffold_check_version, "v01", "'v01' is not a valid version");
    assert_refuses(kc__scaffold_check_version, "v1gamma1", "'v1gamma1' is not a valid version");
    assert_refuses(kc__scaffold_check_version, "", "'' is not a valid version");
}

static void kind_must_begin_with_a_capital(void **state)
{
    (void)state;
    assert_int_equal(kc__scaffold_check_kind("RobotArm2", NULL), 0);
    assert_refuses(kc__scaffold_check_kind, "robot", "did you mean 'Robot'?");
    assert_refuses(kc__scaffold_check_kind, "robot_arm", "did you mean 'RobotArm'?");
    assert_refuses(kc__scaffold_check_kind, "../x", "is not a valid kind");
    assert_refuses(kc__scaffold_check_kind, "", "is not a valid kind");
}

static void groups_and_domains_must_be_dns_names(void **state)
{
    (void)state;
    assert_int_equal(kc__scaffold_check_group("apps", NULL), 0);
    assert_refuses(kc__scaffold_check_group, "My_Apps", "did you mean 'my-apps'?");
    assert_refuses(kc__scaffold_check_group, "../up", "is not a valid group");
    assert_refuses(kc__scaffold_check_domain, "example..io", "is not a valid domain");
    assert_refuses(kc__scaffold_check_project_name, "9lives", "is not a valid project name");
}

static void path_must_begin_with_a_slash(void **state)
{
    (void)state;
    assert_int_equal(kc__scaffold_check_hook_path("/mutate-a/b_c.d", NULL), 0);
    assert_refuses(kc__scaffold_check_hook_path, "mutate", "did you mean '/mutate'?");
    assert_refuses(kc__scaffold_check_hook_path, "/", "is not a valid path");
    assert_refuses(kc__scaffold_check_hook_path, "", "is not a valid path");
    assert_refuses(kc__scaffold_check_hook_path, "/a\"b",
                   "is not a valid path"); /* It stands in a text of C, */
    assert_refuses(kc__scaffold_check_hook_path, "/a,b",
                   "is not a valid path"); /* and in a marker. */
}

static void image_fields_must_be_safe_in_templates(void **state)
{
    (void)state;
    assert_int_equal(kc__scaffold_check_image("registry.example.com:5000/a/b_c:v1@sha256:0f", NULL),
                     0);
    assert_refuses(kc__scaffold_check_image, "a b", "is not a valid image");
    assert_refuses(kc__scaffold_check_image, "", "is not a valid image");
    assert_int_equal(kc__scaffold_check_image_command("memcached,--limit=64,-v", NULL), 0);
    assert_refuses(kc__scaffold_check_image_command, "say,\"hi\"", "without quotes");
    assert_refuses(kc__scaffold_check_image_command, "a\\b", "is not a valid command");
    assert_int_equal(kc__scaffold_check_image_port("65535", NULL), 0);
    assert_refuses(kc__scaffold_check_image_port, "0", "a number from 1 to 65535");
    assert_refuses(kc__scaffold_check_image_user, "root", "is not a valid user");
}

static void controller_name_must_be_convertible_to_identifier(void **state)
{
    (void)state;
    assert_int_equal(kc__scaffold_check_controller("frigate-backup", NULL), 0);
    assert_refuses(kc__scaffold_check_controller, "Frigate_Backup",
                   "did you mean 'frigate-backup'?");
    assert_refuses(kc__scaffold_check_controller, "9a", "is not a valid controller name");
    assert_makes(kc__scaffold_identifier(KC_STR("frigate-backup.v1/a")), "frigate_backup_v1_a");
}

static void kinds_are_converted_to_snake_case(void **state)
{
    (void)state;
    assert_makes(kc__scaffold_snake_case(KC_STR("Robot")), "robot");
    assert_makes(kc__scaffold_snake_case(KC_STR("RobotArm")), "robot_arm");
    assert_makes(kc__scaffold_snake_case(KC_STR("HTTPProxy")), "http_proxy");
    assert_makes(kc__scaffold_snake_case(KC_STR("ClusterIP")), "cluster_ip");
    assert_makes(kc__scaffold_struct_name(KC_STR("Switch"), KC_STR("net-work")), "net_work_switch");
    assert_true(kc__scaffold_names_kind("robot_arm", KC_STR("RobotArm")));
    assert_false(kc__scaffold_names_kind("http_proxy", KC_STR("HTTPProxy")));
    assert_false(kc__scaffold_names_kind("robot_v1", KC_STR("RobotV1")));
    assert_false(kc__scaffold_names_kind("shirt_t", KC_STR("ShirtT")));
}

static void plurals_are_derived_from_kinds(void **state)
{
    (void)state;
    assert_makes(kc__scaffold_plural_of(KC_STR("Robot")), "robots");
    assert_makes(kc__scaffold_plural_of(KC_STR("Policy")), "policies");
    assert_makes(kc__scaffold_plural_of(KC_STR("Gateway")), "gateways");
    assert_makes(kc__scaffold_plural_of(KC_STR("Address")), "addresses");
    assert_makes(kc__scaffold_plural_of(KC_STR("Box")), "boxes");
    assert_makes(kc__scaffold_plural_of(KC_STR("Branch")), "branches");
}

TESTS(version_must_be_a_kubernetes_version, kind_must_begin_with_a_capital,
      groups_and_domains_must_be_dns_names, path_must_begin_with_a_slash,
      image_fields_must_be_safe_in_templates, controller_name_must_be_convertible_to_identifier,
      kinds_are_converted_to_snake_case, plurals_are_derived_from_kinds)
