/* SPDX-License-Identifier: Apache-2.0 */
/* Comments of a C file and the code they belong to. */
#include "testing.h"

#include "generate/read/comments.h"

/* The documentation of the code at a place. */
static void assert_doc(const char *text, unsigned line, unsigned column, const char *expected)
{
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_buf) out = {0};
    kc__gen_comments comments;
    kc__gen_comments_scan(&comments, kc_cstr(text), &arena);
    const kc__gen_comment_about about = kc__gen_comments_about(&comments, line, column, line);
    kc__gen_comments_doc(&comments, about.doc_from, about.doc_to, &out);
    if (!out.n)
        kc__gen_comments_doc(&comments, about.behind_from, about.behind_to, &out);
    assert_str(kc_buf_str(&out), expected);
}

static void documentation_is_read_above_its_code(void **state)
{
    (void)state;
    assert_doc("/// One.\n/// Two.\nint a;\n", 3, 1, "One.\nTwo.");
    assert_doc("/**\n * One.\n *\n * Two.\n */\nint a;\n", 6, 1, "One.\n\nTwo.");
    assert_doc("/** One. */ int a;\n", 1, 13, "One.");
    assert_doc("  /// A\n  int a;\n  /// B\n  int b;\n", 4, 3, "B");
}

static void documentation_is_read_behind_its_code(void **state)
{
    (void)state;
    assert_doc("int a; ///< One.\nint b;\n", 1, 1, "One.");
    assert_doc("int a; /**< One. */\nint b;\n", 1, 1, "One.");
    assert_doc("int a; ///< One.\nint b;\n", 2, 1, "");
}

static void plain_comments_are_no_documentation(void **state)
{
    (void)state;
    assert_doc("// One.\nint a;\n", 2, 1, "");
    assert_doc("/* One. */\nint a;\n", 2, 1, "");
    assert_doc("/// One.\n\nint a;\n", 3, 1, "");
    assert_doc("int a; // One.\nint b;\n", 1, 1, "");
}

static void markers_todos_and_text_after_a_rule_are_left_out(void **state)
{
    (void)state;
    assert_doc("/// One.\n/// +optional\n/// Two.\nint a;\n", 4, 1, "One.\nTwo.");
    assert_doc("/// One.\n/// TODO: more\n/// Two.\nint a;\n", 4, 1, "One.\nTwo.");
    assert_doc("/// One.\n/// ---\n/// For us.\nint a;\n", 4, 1, "One.");
    assert_doc("/// ```\n/// TODO\n/// ---\n/// ```\nint a;\n", 5, 1, "```\nTODO\n---\n```");
    assert_doc("///\n/// One.\n///\n///\n/// Two.\n///\nint a;\n", 7, 1, "One.\n\nTwo.");
}

static void comments_in_strings_are_ignored(void **state)
{
    (void)state;
    assert_doc("char *a = \"/* // \\\" */\";\n/// One.\nint b;\n", 3, 1, "One.");
    assert_doc("char a = '\"';\n/// One.\nint b;\n", 3, 1, "One.");
    assert_doc("/* open", 1, 1, "");
}

static void separate_comment_group_gives_markers_only(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    kc__gen_comments c;
    const char *text = "/// +nobody\n\n/// +mine\n\n/// Text.\n/// +too\nint a;\n";
    kc__gen_comments_scan(&c, kc_cstr(text), &arena);
    const kc__gen_comment_about about = kc__gen_comments_about(&c, 7, 1, 7);
    assert_int_equal(about.markers_from, 1);
    assert_int_equal(about.markers_to, 2);
    assert_int_equal(about.doc_from, 2);
    assert_int_equal(about.doc_to, 4);
    assert_false(c.items[0].is_used);
    assert_true(c.items[1].is_used);
    assert_int_equal(c.lines[c.items[3].first].line, 6);
    assert_int_equal(c.lines[c.items[3].first].column, 5);
    assert_str(c.lines[c.items[3].first].text, "+too");
}

TESTS(documentation_is_read_above_its_code, documentation_is_read_behind_its_code,
      plain_comments_are_no_documentation, markers_todos_and_text_after_a_rule_are_left_out,
      comments_in_strings_are_ignored, separate_comment_group_gives_markers_only)
