/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Amendments of the packaged definitions: what they add, and that they never contradict the
 * package.
 */
#include "definitions_testing.h"

#define A_PROTO "message A { // +optional\n optional string b = 1; }"
#define HEAD    "package k8s.io.x.v1\n"

static void assert_amended(const char *amendments, const char *part)
{
    kc_scoped(fixture) f = generate_amended(A_PROTO, GO_A, amendments);
    assert_string_equal(kc_buf_cstr(&f.errors), "");
    assert_int_equal(f.status, 0);
    assert_contains(kc_buf_cstr(&f.tables), part);
}

static void assert_refused(const char *amendments, const char *part)
{
    kc_scoped(fixture) f = generate_amended(A_PROTO, GO_A, amendments);
    assert_contains(kc_buf_cstr(&f.errors), part);
    assert_int_not_equal(f.status, 0);
    assert_int_equal(f.tables.n, 0);
}

static void field_is_added_in_order(void **state)
{
    (void)state;
    assert_amended(HEAD "amend A\n  field c 2 int64 omitempty pointer first\n  : Text.\n",
                   "    {KC_STR_INIT(\"c\"), 2, 2, 0, 0x3, 0, NULL, \"int64\", NULL, NULL, NULL},\n"
                   "    {KC_STR_INIT(\"b\"), 1,");
    assert_amended(
        HEAD "amend A\n  field c 2 repeated string required listType=map listMapKey=x\n"
             "  field d 3 map bytes default={} go=map[string]v1.D after=b\n",
        "{KC_STR_INIT(\"d\"), 3, 8, 2, 0x0, 0, NULL, \"map[string]v1.D\", NULL, NULL, "
        "\"{}\"},\n"
        "    {KC_STR_INIT(\"c\"), 2, 7, 1, 0x84, 0, NULL, \"[]string\", NULL, \"x\", NULL}");
}

static void message_of_a_new_package_copies_fields_of_an_older_one(void **state)
{
    (void)state;
    const char *amendments = "package k8s.io.x.v2\n"
                             "message B\n  field a 1 A omitempty pointer\n"
                             "message A like k8s.io.x.v1.A structType=atomic\n  same b\n"
                             "  field self 2 repeated A\n";
    assert_amended(amendments, "/* io.k8s.x.v2.A */\n    {KC_STR_INIT(\"b\"), 1, 7, 0, 0x1,");
    assert_amended(amendments, "\"[]v2.A\"");
    assert_amended(amendments, "{KC_STR_INIT(\"io.k8s.x.v2.A\"), \"v2.A\", fields + 1, 2, 0x200,");
    assert_amended(amendments, "{KC_STR_INIT(\"a\"), 1, 9, 0, 0x3, 0, &messages[1], \"v2.A\",");
}

static void amendment_that_equals_the_package_changes_nothing(void **state)
{
    (void)state;
    kc_scoped(fixture) plain = generate(A_PROTO, GO_A);
    kc_scoped(fixture) amended = generate_amended(
        A_PROTO, GO_A,
        HEAD "message A like k8s.io.x.v0.A\n: Other words.\n  same b\n"
             "amend A\n  field b 1 string omitempty\n  : Other words.\n  set b optional\n");
    assert_string_equal(kc_buf_cstr(&amended.errors), "");
    assert_string_equal(kc_buf_cstr(&amended.tables), kc_buf_cstr(&plain.tables));
}

static void amendment_that_contradicts_the_package_fails(void **state)
{
    (void)state;
    assert_refused(HEAD "amend A\n  field b 2 string omitempty\n",
                   "amendments.txt:3: io.k8s.x.v1.A.b: the packaged definitions have another "
                   "number");
    assert_refused(HEAD "amend A\n  field b 1 int32 omitempty\n", "have another type");
    assert_refused(HEAD "amend A\n  field b 1 repeated string omitempty\n", "have another shape");
    assert_refused(HEAD "amend A\n  field b 1 string\n", "have another set of markers");
    assert_refused(HEAD "amend A\n  field b 1 string omitempty default=1\n",
                   "have another default");
    assert_refused(HEAD "amend A\n  field b 1 string omitempty go=v1.T\n", "have another Go type");
    assert_refused(HEAD "amend A\n  field c 1 string\n",
                   "io.k8s.x.v1.A.c: the number 1 is that of the field 'b'");
    assert_refused(HEAD "message A structType=atomic\n", "have other markers");
    assert_refused(HEAD "message A like k8s.io.x.v0.A\n  same z\n", "has no field 'z'");
}

static void default_that_differs_from_the_package_fails(void **state)
{
    (void)state;
    const char *proto = "message A {\n  // +optional\n  // +default=1\n  optional string b = 1;\n}";
    kc_scoped(fixture) equal = generate_amended(proto, GO_A, HEAD "amend A\n  set b default=1\n");
    assert_int_equal(equal.status, 0);
    kc_scoped(fixture) other = generate_amended(proto, GO_A, HEAD "amend A\n  set b default=2\n");
    assert_contains(kc_buf_cstr(&other.errors),
                    "io.k8s.x.v1.A.b: the packaged definitions have the default 1");
    assert_int_not_equal(other.status, 0);
}

static void disabled_and_omitzero_are_added_to_a_packaged_field(void **state)
{
    (void)state;
    assert_amended(HEAD "amend A\n  set b disabled\n", "1, 7, 0, 0x4001, 0,");
    assert_amended(HEAD "amend A\n  set b omitzero\n", "1, 7, 0, 0x801, 0,");
    assert_amended(HEAD "amend A\n  field b 1 string omitempty disabled\n", "1, 7, 0, 0x4001, 0,");
}

static void enumeration_is_found_by_the_go_type_of_a_field(void **state)
{
    (void)state;
    const char *amendments =
        HEAD "enum T Two\nenum T One Two\namend A\n  field c 2 string go=v1.T\n";
    assert_amended(amendments, "{KC_STR_INIT(\"c\"), 2, 7, 0, 0x0, 1, NULL, \"v1.T\",");
    assert_amended(amendments, "\"[\\\"One\\\",\\\"Two\\\"]\", /* k8s.io.x.v1.T */");
}

static void invalid_line_fails(void **state)
{
    (void)state;
    assert_refused("amend A\n", "amendments.txt:1: 'amend' stands below no package");
    assert_refused(HEAD "field b 1 string\n", "'field' stands below no message");
    assert_refused(HEAD "amend Z\n", "no message is called 'Z'");
    assert_refused(HEAD "amend A\n  field c 0 string\n", "'0' is no field number");
    assert_refused(HEAD "amend A\n  field c 2 Z\n", "no message is called 'Z'");
    assert_refused(HEAD "amend A\n  field c 2 string big\n", "'big' is not known");
    assert_refused(HEAD "amend A\n  field c 2 string listType=bag\n",
                   "'listType=bag' is not known");
    assert_refused(HEAD "amend A\n  field c 2 string after=z\n", "has no field 'z'");
    assert_refused(HEAD "amend A\n  remove b\n", "'remove' is not known: see amend.c");
    assert_refused(HEAD "amend\n", "'amend' needs a name");
    assert_refused(HEAD "message B\n  same b\n", "io.k8s.x.v1.B is like no other message");
}

TESTS(field_is_added_in_order, message_of_a_new_package_copies_fields_of_an_older_one,
      amendment_that_equals_the_package_changes_nothing,
      amendment_that_contradicts_the_package_fails, default_that_differs_from_the_package_fails,
      disabled_and_omitzero_are_added_to_a_packaged_field,
      enumeration_is_found_by_the_go_type_of_a_field, invalid_line_fails)
