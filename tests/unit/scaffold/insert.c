/* SPDX-License-Identifier: Apache-2.0 */
#include "scaffold/insert.h"
#include "testing.h"

static void assert_inserts(const char *text, const char *name, const char *lines,
                           const char *expected)
{
    kc_scoped(kc_buf) out = {0};
    assert_int_equal(kc__scaffold_insert_at_marker(kc_cstr(text), name, kc_cstr(lines), &out),
                     KC__SCAFFOLD_INSERTED);
    assert_str(kc_buf_str(&out), expected);
}

static kc__scaffold_inserted result_of(const char *text, const char *name, const char *lines)
{
    kc_scoped(kc_buf) out = {0};
    kc__scaffold_inserted result =
        kc__scaffold_insert_at_marker(kc_cstr(text), name, kc_cstr(lines), &out);
    if (result != KC__SCAFFOLD_INSERTED)
        assert_int_equal(out.n, 0);
    return result;
}

static void lines_are_inserted_before_the_marker(void **state)
{
    (void)state;
    assert_inserts("a:\n# +kubebuilder:scaffold:list\nb\n", "list", "- x\n- y\n",
                   "a:\n- x\n- y\n# +kubebuilder:scaffold:list\nb\n");
    assert_inserts("# +kubebuilder:scaffold:list", "list", "- x\n",
                   "- x\n# +kubebuilder:scaffold:list");
}

static void lines_are_indented_as_the_marker(void **state)
{
    (void)state;
    assert_inserts("{\n    /* +kubebuilder:scaffold:builder */\n}\n", "builder",
                   "if (a)\n    b();\n\nc();\n",
                   "{\n    if (a)\n        b();\n\n    c();\n"
                   "    /* +kubebuilder:scaffold:builder */\n}\n");
}

static void existing_lines_are_not_inserted_again(void **state)
{
    (void)state;
    const char *text = "  moved();\n{\n  other();\n  // +kubebuilder:scaffold:builder\n}\n";
    assert_int_equal(result_of(text, "builder", "moved();\n"), KC__SCAFFOLD_INSERT_PRESENT);
    assert_int_equal(result_of(text, "builder", "more();\n"), KC__SCAFFOLD_INSERTED);
}

static void marker_name_must_match_completely(void **state)
{
    (void)state;
    const char *text = "// +kubebuilder:scaffold:webhookserver\n// +kubebuilder:scaffold:webhook\n";
    assert_inserts(text, "webhook", "x\n",
                   "// +kubebuilder:scaffold:webhookserver\nx\n// +kubebuilder:scaffold:webhook\n");
    assert_int_equal(result_of(text, "web", "x\n"), KC__SCAFFOLD_INSERT_NO_MARKER);
}

static void nothing_is_inserted_without_a_marker(void **state)
{
    (void)state;
    assert_int_equal(result_of("", "list", "x\n"), KC__SCAFFOLD_INSERT_NO_MARKER);
    assert_int_equal(result_of("a\nb\n", "list", "x\n"), KC__SCAFFOLD_INSERT_NO_MARKER);
}

static void first_of_several_markers_is_used(void **state)
{
    (void)state;
    assert_inserts("# +kubebuilder:scaffold:l\n# +kubebuilder:scaffold:l\n", "l", "x\n",
                   "x\n# +kubebuilder:scaffold:l\n# +kubebuilder:scaffold:l\n");
}

TESTS(lines_are_inserted_before_the_marker, lines_are_indented_as_the_marker,
      existing_lines_are_not_inserted_again, marker_name_must_match_completely,
      nothing_is_inserted_without_a_marker, first_of_several_markers_is_used)
