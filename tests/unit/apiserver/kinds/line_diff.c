/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/kinds/line_diff.h"

#include "apiserver/kinds/internal_form.h"
#include "kinds_testing.h"

static void assert_diff(const char *before, const char *after, const char *expected)
{
    kc_scoped(kc_buf) out = {0};
    kc__line_diff(kc_cstr(before), kc_cstr(after), &out);
    assert_string_equal(kc_buf_cstr(&out), expected);
}

static void equal_texts_have_no_diff(void **state)
{
    (void)state;
    assert_diff("a\nb", "a\nb", "");
    assert_diff("", "", "");
}

static void changed_line_has_three_lines_of_context(void **state)
{
    (void)state;
    assert_diff("1\n2\n3\n4\n5\n6\n7\n8\n9", "1\n2\n3\n4\nx\n6\n7\n8\n9",
                "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n");
    assert_diff("a\nb", "x\nb", "@@ -1,2 +1,2 @@\n-a\n+x\n b\n");
    assert_diff("a\nb", "a\nx", "@@ -1,2 +1,2 @@\n a\n-b\n+x\n");
    assert_diff("a", "b", "@@ -1 +1 @@\n-a\n+b\n");
}

static void added_and_removed_lines_are_shown(void **state)
{
    (void)state;
    assert_diff("a\nb\nc", "a\nc", "@@ -1,3 +1,2 @@\n a\n-b\n c\n");
    assert_diff("a\nc", "a\nb\nc", "@@ -1,2 +1,3 @@\n a\n+b\n c\n");
    assert_diff("a", "a\nb", "@@ -1 +1,2 @@\n a\n+b\n");
}

static void distant_changes_are_two_hunks_and_near_ones_one(void **state)
{
    (void)state;
    assert_diff("a\n1\n2\n3\n4\n5\n6\n7\nb", "x\n1\n2\n3\n4\n5\n6\n7\ny",
                "@@ -1,4 +1,4 @@\n-a\n+x\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+y\n");
    assert_diff("a\n1\n2\n3\n4\n5\n6\nb", "x\n1\n2\n3\n4\n5\n6\ny",
                "@@ -1,8 +1,8 @@\n-a\n+x\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+y\n");
}

static void texts_beyond_the_limit_are_not_compared(void **state)
{
    kc_scoped(kc_buf) text = {0}, out = {0};
    (void)state;
    for (int i = 0; i <= KC__LINE_DIFF_MAX; i++)
        kc_buf_printf(&text, "%d\n", i);
    kc__line_diff(kc_buf_str(&text), KC_STR("a"), &out);
    assert_int_equal(out.n, 0);
}

static void many_equal_lines_are_compared(void **state)
{
    kc_scoped(kc_buf) before = {0}, after = {0}, out = {0};
    (void)state;
    for (int i = 0; i < KC__LINE_DIFF_MAX - 1; i++) {
        kc_buf_puts(&before, i % 3 ? "same\n" : "a\n");
        kc_buf_puts(&after, i % 3 ? "same\n" : "b\n");
    }
    kc__line_diff(kc_buf_str(&before), kc_buf_str(&after), &out);
    assert_true(out.n > 0);
}

/* ---- structs of Kubernetes ---- */

static void assert_inner(const char *type, const char *json, const char *expected)
{
    kc_scoped(kc_arena) arena = {0};
    kc_auto(kc_object) *object = object_of(json);
    kc_auto(kc_view) *view = kc_view_of(object);
    kc_autofree char *wanted = kc_str_dup(kc_cstr(expected));
    for (char *c = wanted; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    assert_string_equal(kc__internal_form_json(type, kc_view_root(view), &arena), wanted);
}

static void struct_is_shown_with_all_go_fields(void **state)
{
    (void)state;
    assert_inner("io.k8s.api.core.v1.SeccompProfile", "{'type':'Unconfined'}",
                 "{'Type':'Unconfined','LocalhostProfile':null}");
    assert_inner("io.k8s.api.core.v1.EnvVar", "{'name':'a'}",
                 "{'Name':'a','Value':'','ValueFrom':null}");
    assert_inner("io.k8s.api.core.v1.ContainerPort", "{'containerPort':80,'hostIP':'::'}",
                 "{'Name':'','HostPort':0,'ContainerPort':80,'Protocol':'','HostIP':'::'}");
}

static void metadata_is_inlined(void **state)
{
    (void)state;
    assert_inner("io.k8s.api.core.v1.PersistentVolumeClaimTemplate",
                 "{'metadata':{'labels':{'a':'b'}},'spec':{}}",
                 "{'labels':{'a':'b'},'Spec':{'AccessModes':null,'Selector':null,'Resources':"
                 "{'Limits':null,'Requests':null},'VolumeName':'','StorageClassName':null,"
                 "'VolumeMode':null,'DataSource':null,'DataSourceRef':null,"
                 "'VolumeAttributesClassName':null}}");
}

static void lists_and_maps_are_shown(void **state)
{
    (void)state;
    assert_inner("io.k8s.api.core.v1.Capabilities", "{'add':['A','B']}",
                 "{'Add':['A','B'],'Drop':null}");
    assert_inner("io.k8s.api.core.v1.ResourceRequirements", "{'limits':{'cpu':'1'}}",
                 "{'Limits':{'cpu':'1'},'Requests':null,'Claims':null}");
}

TESTS(equal_texts_have_no_diff, changed_line_has_three_lines_of_context,
      added_and_removed_lines_are_shown, distant_changes_are_two_hunks_and_near_ones_one,
      texts_beyond_the_limit_are_not_compared, many_equal_lines_are_compared,
      struct_is_shown_with_all_go_fields, metadata_is_inlined, lists_and_maps_are_shown)
