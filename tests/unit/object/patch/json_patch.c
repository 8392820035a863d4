/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_patch.c: parsing, applying and creating JSON patches. Messages are part of the behaviour:
 * users search for those of Kubernetes.
 */
#include "kc/json_patch.h"
#include "testing.h"

static kc_json_patch *patch_of(const char *text, const kc_json_patch_opts *opts, kc_error *err)
{
    kc_scoped(kc_buf) json = {0};
    for (const char *p = text; *p; p++)
        kc_buf_putc(&json, *p == '\'' ? '"' : *p);
    return kc_json_patch_parse(kc_buf_str(&json), opts, err);
}

/* Applies a patch to a document and compares the result. */
#define gives(document, patch, result) check_gives(document, patch, result, __FILE__, __LINE__)
static void check_gives(const char *document, const char *text, const char *result,
                        const char *file, int line)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_json_patch) *patch = patch_of(text, NULL, &err);
    kc_auto(kc_edit) *edit = edit_of(document);
    if (!patch || kc_json_patch_apply(patch, edit, &err) < 0) {
        print_error("%s\n", kc_error_text(&err));
        _fail(file, line);
    }
    kc__assert_node_json(kc_edit_root(edit), result, file, line);
}

/* Applies a patch that must fail with a message. */
#define fails(document, patch, message) check_fails(document, patch, message, __FILE__, __LINE__)
static void check_fails(const char *document, const char *text, const char *message,
                        const char *file, int line)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_json_patch) *patch = patch_of(text, NULL, &err);
    kc_auto(kc_edit) *edit = edit_of(document);
    if (patch && kc_json_patch_apply(patch, edit, &err) != -(int)KC_INVALID) {
        print_error("did not fail: %s\n", text);
        _fail(file, line);
    }
    assert_int_equal(err.reason, KC_INVALID);
    kc__assert_str(kc_cstr(kc_error_text(&err)), message, file, line);
}

/* Creates a patch, compares it, and applies it. */
#define makes(from, to, patch) check_makes(from, to, patch, __FILE__, __LINE__)
static void check_makes(const char *from, const char *to, const char *patch, const char *file,
                        int line)
{
    kc_auto(kc_view) *a = view_of(from), *b = view_of(to);
    kc_auto(kc_edit) *made = kc_json_patch_make(kc_view_root(a), kc_view_root(b));
    kc__assert_node_json(kc_edit_root(made), patch, file, line);
    check_gives(from, patch, to, file, line);
}

static void add_sets_a_member_or_inserts_an_element(void **state)
{
    (void)state;
    gives("{'a':1}", "[{'op':'add','path':'/b','value':{'c':2}}]", "{'a':1,'b':{'c':2}}");
    gives("{'a':1}", "[{'op':'add','path':'/a','value':2}]", "{'a':2}");
    gives("{'l':[1,3]}", "[{'op':'add','path':'/l/1','value':2}]", "{'l':[1,2,3]}");
    gives("{'l':[1,2]}", "[{'op':'add','path':'/l/2','value':3}]", "{'l':[1,2,3]}");
    gives("{'l':[]}", "[{'op':'add','path':'/l/-','value':1}]", "{'l':[1]}");
    gives("{'l':[[]]}", "[{'op':'add','path':'/l/0/-','value':1}]", "{'l':[[1]]}");
}

static void add_without_container_fails(void **state)
{
    (void)state;
    fails(
        "{'a':1}", "[{'op':'add','path':'/b/c','value':1}]",
        "operation 0: add operation does not apply: doc is missing path: \"/b/c\": missing value");
    fails(
        "{'a':1}", "[{'op':'add','path':'/a/c','value':1}]",
        "operation 0: add operation does not apply: doc is missing path: \"/a/c\": missing value");
    fails(
        "{'a':null}", "[{'op':'add','path':'/a/c','value':1}]",
        "operation 0: add operation does not apply: doc is missing path: \"/a/c\": missing value");
}

static void add_at_invalid_index_fails(void **state)
{
    (void)state;
    fails("{'l':[1]}", "[{'op':'add','path':'/l/2','value':1}]",
          "operation 0: error in add for path: '/l/2': Unable to access invalid index: 2: invalid "
          "index referenced");
    fails("{'l':[1]}", "[{'op':'add','path':'/l/x','value':1}]",
          "operation 0: error in add for path: '/l/x': value was not a proper array index: 'x': "
          "strconv.Atoi: parsing \"x\": invalid syntax");
}

static void negative_indexes_count_from_the_end(void **state)
{
    (void)state;
    gives("{'l':[1,2]}", "[{'op':'add','path':'/l/-1','value':3}]", "{'l':[1,2,3]}");
    gives("{'l':[1,2]}", "[{'op':'remove','path':'/l/-1'}]", "{'l':[1]}");
    gives("{'l':[1,2]}", "[{'op':'replace','path':'/l/-2','value':0}]", "{'l':[0,2]}");
    gives("{'l':[{'a':1}]}", "[{'op':'test','path':'/l/-1/a','value':1}]", "{'l':[{'a':1}]}");
    fails("{'l':[1,2]}", "[{'op':'remove','path':'/l/-3'}]",
          "operation 0: error in remove for path: '/l/-3': Unable to access invalid index: -3: "
          "invalid index referenced");
}

static void absent_value_is_null(void **state)
{
    (void)state;
    gives("{}", "[{'op':'add','path':'/a'}]", "{'a':null}");
    gives("{'a':1}", "[{'op':'replace','path':'/a','value':null}]", "{'a':null}");
}

static void remove_deletes_existing_value(void **state)
{
    (void)state;
    gives("{'a':1,'b':2}", "[{'op':'remove','path':'/a'}]", "{'b':2}");
    gives("{'a':null}", "[{'op':'remove','path':'/a'}]", "{}");
    gives("{'l':[1,2,3]}", "[{'op':'remove','path':'/l/1'}]", "{'l':[1,3]}");
    fails(
        "{'a':1}", "[{'op':'remove','path':'/b'}]",
        "operation 0: error in remove for path: '/b': Unable to remove nonexistent key: b: missing "
        "value");
    fails(
        "{'l':[]}", "[{'op':'remove','path':'/l/0'}]",
        "operation 0: error in remove for path: '/l/0': Unable to access invalid index: 0: invalid "
        "index referenced");
    fails("{'l':[1]}", "[{'op':'remove','path':'/l/-'}]",
          "operation 0: error in remove for path: '/l/-': strconv.Atoi: parsing \"-\": invalid "
          "syntax");
}

static void replace_keeps_position(void **state)
{
    (void)state;
    gives("{'a':1,'b':2}", "[{'op':'replace','path':'/a','value':[]}]", "{'a':[],'b':2}");
    gives("{'l':[1,2,3]}", "[{'op':'replace','path':'/l/2','value':4}]", "{'l':[1,2,4]}");
}

static void replace_of_an_absent_member_adds_it(void **state)
{
    (void)state;
    gives("{'a':1}", "[{'op':'replace','path':'/b','value':2}]", "{'a':1,'b':2}");
    fails("{'l':[1]}", "[{'op':'replace','path':'/l/1','value':2}]",
          "operation 0: replace operation does not apply: doc is missing key: /l/1: missing value");
    fails(
        "{}", "[{'op':'replace','path':'/a/b','value':2}]",
        "operation 0: replace operation does not apply: doc is missing path: /a/b: missing value");
}

static void move_transfers_value(void **state)
{
    (void)state;
    gives("{'a':{'x':1},'b':{}}", "[{'op':'move','from':'/a/x','path':'/b/y'}]",
          "{'a':{},'b':{'y':1}}");
    gives("{'l':[1,2,3]}", "[{'op':'move','from':'/l/0','path':'/l/2'}]", "{'l':[2,3,1]}");
    gives("{'l':[1,2,3]}", "[{'op':'move','from':'/l/2','path':'/l/0'}]", "{'l':[3,1,2]}");
    gives("{'a':1}", "[{'op':'move','from':'/a','path':'/a'}]", "{'a':1}");
}

static void move_into_own_child_fails(void **state)
{
    (void)state;
    fails("{'a':{'b':{}}}", "[{'op':'move','from':'/a','path':'/a/b/c'}]",
          "operation 0: move operation does not apply: doc is missing destination path: /a/b/c: "
          "missing value");
    fails("{'a':1}", "[{'op':'move','from':'','path':'/a'}]",
          "operation 0: move operation does not apply: doc is missing from path: : missing value");
    fails("{'a':1}", "[{'op':'move','from':'/b','path':'/c'}]",
          "operation 0: error in move for path: '/b': Unable to remove nonexistent key: b: missing "
          "value");
}

static void copy_creates_independent_value(void **state)
{
    (void)state;
    gives("{'a':{'x':1}}",
          "[{'op':'copy','from':'/a','path':'/b'},{'op':'add','path':'/a/x','value':2}]",
          "{'a':{'x':2},'b':{'x':1}}");
    gives("{'a':1}", "[{'op':'copy','from':'','path':'/b'}]", "{'a':1,'b':{'a':1}}");
    gives("{'l':[1]}", "[{'op':'copy','from':'/l','path':'/l/0'}]", "{'l':[[1],1]}");
    fails("{'l':[1]}", "[{'op':'copy','from':'/l/3','path':'/x'}]",
          "operation 0: error in copy for from: '/l/3': Unable to access invalid index: 3: invalid "
          "index referenced");
}

static void test_compares_by_value(void **state)
{
    (void)state;
    gives("{'a':{'x':1,'y':[true,null]}}",
          "[{'op':'test','path':'/a','value':{'y':[true,null],'x':1.0}}]",
          "{'a':{'x':1,'y':[true,null]}}");
    gives("{'s':'\\u00e9'}", "[{'op':'test','path':'/s','value':'é'}]", "{'s':'é'}");
    fails("{'a':[1,2]}", "[{'op':'test','path':'/a','value':[2,1]}]",
          "operation 0: testing value /a failed: test failed");
    fails("{'a':1}", "[{'op':'test','path':'/a','value':'1'}]",
          "operation 0: testing value /a failed: test failed");
    fails("{'a':18446744073709551615}", "[{'op':'test','path':'/a','value':-1}]",
          "operation 0: testing value /a failed: test failed");
    fails("{'a':{'x':1,'y':2}}", "[{'op':'test','path':'/a','value':{'x':1}}]",
          "operation 0: testing value /a failed: test failed");
}

static void test_of_an_absent_member_succeeds_for_null(void **state)
{
    (void)state;
    gives("{'a':null}", "[{'op':'test','path':'/a','value':null}]", "{'a':null}");
    gives("{}", "[{'op':'test','path':'/a','value':null}]", "{}");
    gives("{}", "[{'op':'test','path':'/a'}]", "{}");
    fails("{}", "[{'op':'test','path':'/a','value':0}]",
          "operation 0: testing value /a failed: test failed");
    fails("{'l':[]}", "[{'op':'test','path':'/l/0','value':null}]",
          "operation 0: error in test for path: '/l/0': Unable to access invalid index: 0: invalid "
          "index referenced");
    fails("{}", "[{'op':'test','path':'/a/b','value':null}]",
          "operation 0: test operation does not apply: is missing path: /a/b: missing value");
}

static void empty_path_is_the_whole_document(void **state)
{
    (void)state;
    gives("{'a':1}", "[{'op':'test','path':'','value':{'a':1}}]", "{'a':1}");
    gives("{'a':1}", "[{'op':'replace','path':'','value':{'b':2}}]", "{'b':2}");
    gives("{'a':1}", "[{'op':'add','path':'','value':{'b':2}}]", "{'b':2}");
    gives("{'a':{'b':2}}", "[{'op':'move','from':'/a','path':''}]", "{'b':2}");
    fails("{'a':1}", "[{'op':'remove','path':''}]",
          "operation 0: remove operation does not apply: doc is missing path: \"\": missing value");
}

static void tokens_are_unescaped(void **state)
{
    (void)state;
    gives("{}", "[{'op':'add','path':'/a~1b','value':1},{'op':'add','path':'/c~0d','value':2}]",
          "{'a/b':1,'c~d':2}");
    gives("{}", "[{'op':'add','path':'/~01','value':1}]", "{'~1':1}");
    gives("{}", "[{'op':'add','path':'/~2~','value':1}]", "{'~2~':1}");
    gives("{}", "[{'op':'add','path':'/','value':1}]", "{'':1}");
    gives("{'':{'':1}}", "[{'op':'remove','path':'//'}]", "{'':{}}");
}

static void operations_see_earlier_results(void **state)
{
    (void)state;
    gives("{}",
          "[{'op':'add','path':'/l','value':[]},{'op':'add','path':'/l/-','value':{'n':1}},"
          "{'op':'test','path':'/l/0/n','value':1},{'op':'copy','from':'/l/0','path':'/l/-'},"
          "{'op':'remove','path':'/l/0/n'}]",
          "{'l':[{},{'n':1}]}");
    fails(
        "{}", "[{'op':'add','path':'/a','value':1},{'op':'remove','path':'/b'}]",
        "operation 1: error in remove for path: '/b': Unable to remove nonexistent key: b: missing "
        "value");
}

static void operations_are_validated_before_any_is_applied(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    assert_null(patch_of("{'op':'add'}", NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "must be a list of operations, not of type object");
    assert_null(patch_of("[{'op':'add','path':'/a'},3]", NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "operation 1: it must be an object, not of type integer");
    assert_null(patch_of("[{'op':7,'path':'/a'}]", NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "operation 0: op must be a string, not of type integer");
    assert_null(patch_of("[{'op':'add','path':[]}]", NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "operation 0: path must be a string, not of type array");
    assert_null(patch_of("[{'op':'increase','path':'/a'}]", NULL, &err));
    assert_error(&err, KC_INVALID, "operation 0: Unexpected kind: increase");
    assert_null(patch_of("[{'path':'/a'}]", NULL, &err));
    assert_error(&err, KC_INVALID, "operation 0: Unexpected kind: unknown");
    assert_null(patch_of("[{'op':'remove'}]", NULL, &err));
    assert_error(&err, KC_INVALID,
                 "operation 0: remove operation failed to decode path: missing value");
    assert_null(patch_of("[{'op':'move','path':'/a'}]", NULL, &err));
    assert_error(&err, KC_INVALID,
                 "operation 0: move operation failed to decode from: missing value");
    assert_null(patch_of("[{'op':'add','path':'a/b'}]", NULL, &err));
    assert_error(&err, KC_INVALID, "path must begin with '/': \"a/b\"");
    assert_null(patch_of("[{'op':'add'", NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "line 1");
    assert_null(patch_of("7", NULL, NULL));
}

static void null_or_empty_patch_changes_nothing(void **state)
{
    (void)state;
    gives("{'a':1}", "[]", "{'a':1}");
    gives("{'a':1}", "null", "{'a':1}");
}

static void unknown_members_of_operations_are_reported(void **state)
{
    (void)state;
    kc_scoped(kc_paths) unknown = {0};
    kc_auto(kc_json_patch) *patch =
        patch_of("[{'op':'add','path':'/a','vlaue':1},{'op':'remove','path':'/a','x':1,'y':2}]",
                 &(kc_json_patch_opts){.unknown = &unknown}, NULL);
    assert_int_equal(kc_json_patch_len(patch), 2);
    assert_int_equal(unknown.n, 3);
    assert_string_equal(unknown.items[0], "[0].vlaue");
    assert_string_equal(unknown.items[2], "[1].y");
}

static void more_than_ten_thousand_operations_fail(void **state)
{
    (void)state;
    kc_scoped(kc_buf) text = {0};
    kc_scoped(kc_error) err = {0};
    for (int i = 0; i <= 10000; i++)
        kc_buf_printf(&text, "%c{'op':'test','path':'/a'}", i ? ',' : '[');
    kc_buf_putc(&text, ']');
    assert_null(patch_of(kc_buf_cstr(&text), NULL, &err));
    assert_error(&err, KC_TOO_LARGE,
                 "The allowed maximum operations in a JSON patch is 10000, got 10001");
    assert_null(patch_of("[{'op':'remove','path':'/a'},{'op':'remove','path':'/b'}]",
                         &(kc_json_patch_opts){.max_operations = 1}, &err));
    assert_error(&err, KC_TOO_LARGE, "is 1, got 2");
}

/* Each doubles the document. */
static void copies_beyond_limit_fail(void **state)
{
    (void)state;
    kc_scoped(kc_buf) text = {0};
    kc_scoped(kc_error) err = {0};
    for (int i = 0; i < 60; i++)
        kc_buf_printf(&text, "%c{'op':'copy','from':'','path':'/c%d'}", i ? ',' : '[', i);
    kc_buf_putc(&text, ']');
    kc_auto(kc_json_patch) *patch = patch_of(kc_buf_cstr(&text), NULL, &err);
    kc_auto(kc_edit) *edit = edit_of("{'a':'some text'}");
    assert_int_equal(kc_json_patch_apply(patch, edit, &err), -(int)KC_INVALID);
    assert_error(&err, KC_INVALID, "Unable to complete the copy, the accumulated size increase");
    assert_contains(kc_error_text(&err), "exceeding the limit 3145728");
}

/* {"a":{"a":…{}}} */
static kc_edit *nested(int depth)
{
    kc_scoped(kc_buf) text = {0};
    for (int i = 1; i < depth; i++)
        kc_buf_puts(&text, "{'a':");
    kc_buf_puts(&text, "{}");
    for (int i = 1; i < depth; i++)
        kc_buf_putc(&text, '}');
    return edit_of(kc_buf_cstr(&text));
}

static void depth_beyond_limit_fails(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) path = {0};
    for (int i = 0; i < 255; i++)
        kc_buf_puts(&path, "/a");
    static const char *const ops[] = {"'copy','from':''", "'move','from':'/b'"};
    for (size_t i = 0; i < KC_COUNT(ops); i++) {
        kc_autofree char *text =
            kc_asprintf("[{'op':%s,'path':'%s/b'}]", ops[i], kc_buf_cstr(&path));
        kc_auto(kc_json_patch) *patch = patch_of(text, NULL, &err);
        kc_auto(kc_edit) *fits = nested(256), *too_deep = nested(512), *b = nested(257);
        kc_node_add(fits, kc_edit_root(fits), KC_STR("b"), kc_node_object(fits));
        kc_node_add(too_deep, kc_edit_root(too_deep), KC_STR("b"),
                    kc_node_clone(too_deep, kc_edit_root(b)));
        assert_int_equal(kc_json_patch_apply(patch, fits, NULL), 0);
        assert_int_equal(kc_json_patch_apply(patch, too_deep, &err), -(int)KC_INVALID);
        assert_contains(kc_error_text(&err), "objects and arrays are nested too deeply");
    }
}

/* A document {"l": [0, 1, …]} or {"o": {"k0": 0, …}}. */
static kc_edit *long_document(bool object, int n)
{
    kc_scoped(kc_buf) text = {0};
    kc_buf_puts(&text, object ? "{\"o\":{" : "{\"l\":[");
    for (int i = 0; i < n; i++) {
        kc_buf_puts(&text, i ? "," : "");
        if (object)
            kc_buf_printf(&text, "\"k%d\":", i);
        kc_buf_printf(&text, "%d", i);
    }
    kc_buf_puts(&text, object ? "}}" : "]}");
    return edit_of(kc_buf_cstr(&text));
}

/* An array with the same changes, made in the simple way. */
typedef struct plain {
    int items[1 << 18];
    int n;
} plain;

static void plain_change(plain *p, kc_buf *ops, int i)
{
    unsigned random = (unsigned)i * 2654435761u;
    int at = (int)(random % (unsigned)p->n);
    kc_buf_puts(ops, i ? "," : "[");
    if (random >> 30 == 0) {
        kc_buf_printf(ops, "{'op':'remove','path':'/l/%d'}", at);
        memmove(&p->items[at], &p->items[at + 1], (size_t)(--p->n - at) * sizeof(int));
    } else if (random >> 30 == 1) {
        kc_buf_printf(ops, "{'op':'replace','path':'/l/%d','value':%d}", at, -i);
        p->items[at] = -i;
    } else {
        kc_buf_printf(ops, "{'op':'add','path':'/l/%d','value':%d}", at, -i);
        memmove(&p->items[at + 1], &p->items[at], (size_t)(p->n++ - at) * sizeof(int));
        p->items[at] = -i;
    }
}

static void many_changes_of_long_array_are_fast_and_correct(void **state)
{
    (void)state;
    kc_scoped(kc_buf) ops = {0};
    kc_scoped(kc_error) err = {0};
    plain *p = kc_new(plain);
    for (p->n = 0; p->n < 200000; p->n++)
        p->items[p->n] = p->n;
    for (int i = 0; i < 10000; i++)
        plain_change(p, &ops, i);
    kc_buf_putc(&ops, ']');
    kc_auto(kc_json_patch) *patch = patch_of(kc_buf_cstr(&ops), NULL, &err);
    kc_auto(kc_edit) *edit = long_document(false, 200000);
    assert_int_equal(kc_json_patch_apply(patch, edit, &err), 0);

    kc_node *list = kc_node_get(kc_edit_root(edit), KC_STR("l"));
    assert_int_equal(kc_node_len(list), p->n);
    int at = 0;
    kc_node_each_item (list, item) {
        int64_t value;
        assert_true(kc_node_as_i64(item, &value));
        assert_int_equal(value, p->items[at++]);
    }
    assert_int_equal(at, p->n);
    free(p);
}

static void many_changes_of_long_object_are_fast_and_correct(void **state)
{
    (void)state;
    kc_scoped(kc_buf) ops = {0};
    for (int i = 0; i < 2500; i++)
        kc_buf_printf(
            &ops,
            "%c{'op':'remove','path':'/o/k%d'},{'op':'add','path':'/o/k%d','value':'again'},"
            "{'op':'replace','path':'/o/k%d','value':[]},{'op':'move','from':'/o/k%d',"
            "'path':'/o/n%d'}",
            i ? ',' : '[', i * 40, i * 40, i * 40 + 1, i * 40 + 2, i);
    kc_buf_putc(&ops, ']');
    kc_auto(kc_json_patch) *patch = patch_of(kc_buf_cstr(&ops), NULL, NULL);
    kc_auto(kc_edit) *edit = long_document(true, 100000);
    assert_int_equal(kc_json_patch_apply(patch, edit, NULL), 0);

    kc_auto(kc_view) *view = kc_edit_view(edit, NULL);
    const kc_value *o = kc_value_get(kc_view_root(view), "o");
    assert_int_equal(kc_value_len(o), 100000);
    assert_value_json(kc_value_get(o, "k40"), "'again'");
    assert_value_json(kc_value_get(o, "k41"), "[]");
    assert_null(kc_value_get(o, "k42"));
    assert_value_json(kc_value_get(o, "n1"), "42");
    assert_value_json(kc_value_get(o, "k43"), "43");
}

static void long_container_is_emptied_and_refilled(void **state)
{
    (void)state;
    kc_scoped(kc_buf) ops = {0};
    for (int i = 0; i < 100; i++)
        kc_buf_printf(&ops, "%c{'op':'remove','path':'/l/%d'},{'op':'remove','path':'/o/k%d'}",
                      i ? ',' : '[', i % 2 ? 99 - i : 0, i);
    for (int i = 0; i < 50; i++)
        kc_buf_printf(&ops, ",{'op':'add','path':'/l/0','value':%d},{'op':'add','path':'/o/%d'}", i,
                      i);
    kc_buf_putc(&ops, ']');
    kc_auto(kc_json_patch) *patch = patch_of(kc_buf_cstr(&ops), NULL, NULL);
    kc_auto(kc_edit) *edit = long_document(false, 100), *other = long_document(true, 100);
    kc_node_add(edit, kc_edit_root(edit), KC_STR("o"),
                kc_node_clone(edit, kc_node_get(kc_edit_root(other), KC_STR("o"))));
    assert_int_equal(kc_json_patch_apply(patch, edit, NULL), 0);
    kc_node *list = kc_node_get(kc_edit_root(edit), KC_STR("l"));
    assert_int_equal(kc_node_len(list), 50);
    assert_node_json(kc_node_at(list, 0), "49");
    assert_node_json(kc_node_at(list, 49), "0");
    assert_int_equal(kc_node_len(kc_node_get(kc_edit_root(edit), KC_STR("o"))), 50);
}

static void repeated_test_of_large_value_is_fast(void **state)
{
    (void)state;
    kc_scoped(kc_buf) ops = {0};
    for (int i = 0; i < 10000; i++)
        kc_buf_printf(&ops, "%c{'op':'copy','from':'/o/k1','path':'/x'}", i ? ',' : '[');
    kc_buf_puts(&ops, "]");
    kc_auto(kc_json_patch) *patch = patch_of(kc_buf_cstr(&ops), NULL, NULL);
    kc_auto(kc_edit) *edit = long_document(true, 100000);
    assert_int_equal(kc_json_patch_apply(patch, edit, NULL), 0);
    kc_auto(kc_json_patch) *test =
        patch_of("[{'op':'test','path':'/o','value':{'k0':0}}]", NULL, NULL);
    for (int i = 0; i < 10000; i++)
        assert_int_equal(kc_json_patch_apply(test, edit, NULL), -(int)KC_INVALID);
}

static void repeated_moves_of_large_values_are_bounded(void **state)
{
    (void)state;
    kc_scoped(kc_buf) ops = {0};
    kc_scoped(kc_error) err = {0};
    for (int i = 0; i < 5000; i++)
        kc_buf_printf(
            &ops, "%c{'op':'move','from':'/o','path':'/p'},{'op':'move','from':'/p','path':'/o'}",
            i ? ',' : '[');
    kc_buf_puts(&ops, "]");
    kc_auto(kc_json_patch) *patch = patch_of(kc_buf_cstr(&ops), NULL, NULL);
    kc_auto(kc_edit) *edit = long_document(true, 100000);
    assert_int_equal(kc_json_patch_apply(patch, edit, &err), -(int)KC_INVALID);
    assert_contains(kc_error_text(&err), "the patch copies and moves too much");
}

static void created_patch_contains_differences(void **state)
{
    (void)state;
    makes("{'a':1}", "{'a':1}", "[]");
    makes("{'a':1,'b':2}", "{'b':3,'c':4}",
          "[{'op':'remove','path':'/a'},{'op':'replace','path':'/b','value':3},"
          "{'op':'add','path':'/c','value':4}]");
    makes("{'a':{'x':{'y':1}}}", "{'a':{'x':{'y':null}}}",
          "[{'op':'replace','path':'/a/x/y','value':null}]");
    makes("{'a':1}", "{'a':{'b':1}}", "[{'op':'replace','path':'/a','value':{'b':1}}]");
    makes("{}", "{'a/b':1,'c~d':2}",
          "[{'op':'add','path':'/a~1b','value':1},{'op':'add','path':'/c~0d','value':2}]");
    makes("[1]", "{'a':1}", "[{'op':'replace','path':'','value':{'a':1}}]");
}

static void arrays_are_matched_from_both_ends(void **state)
{
    (void)state;
    makes("{'l':[1,2,3]}", "{'l':[1,3]}", "[{'op':'remove','path':'/l/1'}]");
    makes("{'l':[1,3]}", "{'l':[1,2,3]}", "[{'op':'add','path':'/l/1','value':2}]");
    makes("{'l':[1,2,3]}", "{'l':[1,5,3]}", "[{'op':'replace','path':'/l/1','value':5}]");
    makes("{'l':[1,2,3,4]}", "{'l':[]}",
          "[{'op':'remove','path':'/l/3'},{'op':'remove','path':'/l/2'},"
          "{'op':'remove','path':'/l/1'},{'op':'remove','path':'/l/0'}]");
    makes(
        "{'l':[{'n':1,'v':1},{'n':2}]}", "{'l':[{'n':1,'v':2},{'n':3},{'n':2}]}",
        "[{'op':'replace','path':'/l/0/v','value':2},{'op':'add','path':'/l/1','value':{'n':3}}]");
    makes("{'l':[1,1]}", "{'l':[1,1,1]}", "[{'op':'add','path':'/l/2','value':1}]");
}

static void patch_with_too_many_path_bytes_replaces_document(void **state)
{
    (void)state;
    kc_scoped(kc_buf) a = {0};
    kc_scoped(kc_buf) b = {0};
    kc_buf *texts[] = {&a, &b};
    for (int i = 0; i < 2; i++) {
        kc_buf_putc(texts[i], '{');
        kc_buf_putc(texts[i], '\'');
        for (int j = 0; j < 100000; j++)
            kc_buf_putc(texts[i], 'n');
        kc_buf_puts(texts[i], "':{");
        for (int j = 0; j < 1000; j++)
            kc_buf_printf(texts[i], "%s'k%d':%d", j ? "," : "", j, i);
        kc_buf_puts(texts[i], "}}");
    }
    kc_auto(kc_view) *from = view_of(kc_buf_cstr(&a)), *to = view_of(kc_buf_cstr(&b));
    kc_auto(kc_edit) *made = kc_json_patch_make(kc_view_root(from), kc_view_root(to));
    assert_int_equal(kc_node_len(kc_edit_root(made)), 1);
    assert_node_json(kc_node_get(kc_node_at(kc_edit_root(made), 0), KC_STR("path")), "''");
}

static int grow(const char *document, const char *text, size_t most, kc_error *err)
{
    kc_auto(kc_json_patch) *patch =
        patch_of(text, &(kc_json_patch_opts){.max_result_bytes = most}, err);
    kc_auto(kc_edit) *edit = edit_of(document);
    return kc_json_patch_apply(patch, edit, err);
}

static void document_beyond_limit_returns_too_large(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    const char *copies = "[{'op':'copy','from':'/a','path':'/b'},"
                         "{'op':'copy','from':'/a','path':'/c'}]";
    assert_int_equal(grow("{'a':'0123456789'}", copies, 100, NULL), 0);
    assert_int_equal(grow("{'a':'0123456789'}", copies, 40, &err), -(int)KC_TOO_LARGE);
    assert_string_equal(kc_error_text(&err),
                        "operation 1: the patched document exceeds the limit of 40 bytes");
    const char *add = "[{'op':'add','path':'/b','value':'01234567890123456789'}]";
    assert_int_equal(grow("{}", add, 15, NULL), -(int)KC_TOO_LARGE);
    assert_int_equal(grow("{'a':'0123456789'}", "[]", 10, NULL), -(int)KC_TOO_LARGE);
}

static void removals_free_space_below_limit(void **state)
{
    (void)state;
    kc_scoped(kc_buf) patch = {0};
    for (int i = 0; i < 50; i++)
        kc_buf_printf(&patch,
                      "%c{'op':'add','path':'/b','value':'0123456789'},{'op':'remove','path':'/b'}",
                      i ? ',' : '[');
    kc_buf_puts(&patch, "]");
    assert_int_equal(grow("{'a':1}", kc_buf_cstr(&patch), 60, NULL), 0);
}

TESTS(document_beyond_limit_returns_too_large, removals_free_space_below_limit,
      add_sets_a_member_or_inserts_an_element, add_without_container_fails,
      add_at_invalid_index_fails, negative_indexes_count_from_the_end, absent_value_is_null,
      remove_deletes_existing_value, replace_keeps_position, replace_of_an_absent_member_adds_it,
      move_transfers_value, move_into_own_child_fails, copy_creates_independent_value,
      test_compares_by_value, test_of_an_absent_member_succeeds_for_null,
      empty_path_is_the_whole_document, tokens_are_unescaped, operations_see_earlier_results,
      operations_are_validated_before_any_is_applied, null_or_empty_patch_changes_nothing,
      unknown_members_of_operations_are_reported, more_than_ten_thousand_operations_fail,
      copies_beyond_limit_fail, depth_beyond_limit_fails,
      many_changes_of_long_array_are_fast_and_correct,
      many_changes_of_long_object_are_fast_and_correct, long_container_is_emptied_and_refilled,
      repeated_test_of_large_value_is_fast, repeated_moves_of_large_values_are_bounded,
      created_patch_contains_differences, arrays_are_matched_from_both_ends,
      patch_with_too_many_path_bytes_replaces_document)
