/* SPDX-License-Identifier: Apache-2.0 */
#include "client/stream/list_splitter.h"

#include "kc/kinds.h"
#include "testing.h"

/* Gathers items, one a line. */
static int gather(kc_object *object, void *user, kc_error *err)
{
    (void)err;
    kc_buf_append(user, kc_object_json(object));
    kc_buf_putc(user, '\n');
    kc_object_unref(object);
    return 0;
}

static char *quoted(const char *text)
{
    char *copy = kc_strdup(text);
    for (char *p = copy; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    return copy;
}

/* Cuts a text that comes in pieces of `piece` bytes; gives what came out, and the list behind it.
 */
static char *cut_in(const char *text, size_t piece, kc__stream_splitter *c, kc_error *err)
{
    kc_autofree char *json = quoted(text);
    kc_scoped(kc_buf) out = {0};
    c->each = gather;
    c->user = &out;
    kc_str rest = kc_cstr(json);
    while (rest.n) {
        if (kc__stream_splitter_feed(c, kc_str_sub(rest, 0, piece), err) < 0)
            return NULL;
        rest = kc_str_sub(rest, piece, rest.n);
    }
    kc_auto(kc_object) *list = kc__stream_splitter_end(c, err);
    if (!list)
        return NULL;
    kc_buf_append(&out, kc_object_json(list));
    return kc_buf_take(&out);
}

/* The same in every size of pieces. */
static void assert_cut(const kc_kind *kind, const char *text, const char *expected)
{
    kc_autofree char *want = quoted(expected);
    for (size_t piece = 1; piece <= strlen(text); piece++) {
        kc_scoped(kc__stream_splitter) c = {.kind = kind};
        kc_scoped(kc_error) err = {0};
        kc_autofree char *out = cut_in(text, piece, &c, &err);
        if (!out)
            fail_msg("in pieces of %zu: %s", piece, kc_error_text(&err));
        assert_string_equal(out, want);
    }
}

static void assert_refused(const char *text, kc_reason reason, const char *why)
{
    for (size_t piece = 1; piece <= strlen(text) + 1; piece++) {
        kc_scoped(kc__stream_splitter) c = {.kind = &kc_kind_pod};
        kc_scoped(kc_error) err = {0};
        kc_autofree char *out = cut_in(text, piece, &c, &err);
        if (out)
            fail_msg("%s was accepted: %s", text, out);
        assert_error(&err, reason, why);
    }
}

static void items_are_delivered_one_by_one(void **state)
{
    (void)state;
    assert_cut(
        NULL,
        "{'kind':'PodList','metadata':{'resourceVersion':'7'},'items':[{'a':1},{'b':[2,{}]}]}",
        "{'a':1}\n{'b':[2,{}]}\n"
        "{'kind':'PodList','metadata':{'resourceVersion':'7'},'items':[]}");
}

static void members_after_items_belong_to_the_list(void **state)
{
    (void)state;
    assert_cut(NULL,
               " { 'items' : [ {'a':1} , { 'b' : 2 } ] , 'metadata' : { 'continue' : 'x' } } \n",
               "{'a':1}\n{'b':2}\n{'items':[],'metadata':{'continue':'x'}}");
}

static void empty_list_has_no_items(void **state)
{
    (void)state;
    assert_cut(NULL, "{'items':[]}", "{'items':[]}");
    assert_cut(NULL, "{'items': [ ] }", "{'items':[]}");
    assert_cut(NULL, "{'items':null}", "{'items':null}");
    assert_cut(NULL, "{}", "{}");
}

static void only_items_of_the_outer_list_are_split(void **state)
{
    (void)state;
    assert_cut(NULL, "{'metadata':{'items':[{'x':1}]},'items':[{'items':[{'y':2}]}]}",
               "{'items':[{'y':2}]}\n{'metadata':{'items':[{'x':1}]},'items':[]}");
}

static void braces_in_strings_are_ignored(void **state)
{
    (void)state;
    assert_cut(NULL, "{'a\\'}':'\\\\','b':'},{','items':[{'x':'}]\\''},{'y':'\\\\'}]}",
               "{'x':'}]\\''}\n{'y':'\\\\'}\n{'a\\'}':'\\\\','b':'},{','items':[]}");
}

static void numbers_and_literals_end_at_delimiters(void **state)
{
    (void)state;
    assert_cut(NULL, "{'a':12,'b':true ,'c':null,'items':[{'d':-1.5}],'e':0}",
               "{'d':-1.5}\n{'a':12,'b':true,'c':null,'items':[],'e':0}");
}

static void missing_kind_is_added_to_items(void **state)
{
    (void)state;
    assert_cut(&kc_kind_deployment, "{'items':[{'metadata':{'name':'a'}},{'spec':{'kind':'x'}}]}",
               "{'kind':'Deployment','apiVersion':'apps/v1','metadata':{'name':'a'}}\n"
               "{'kind':'Deployment','apiVersion':'apps/v1','spec':{'kind':'x'}}\n{'items':[]}");
    assert_cut(&kc_kind_pod, "{'items':[{'apiVersion':'v2','kind':'Pot','a':1}]}",
               "{'apiVersion':'v2','kind':'Pot','a':1}\n{'items':[]}");
}

static void item_without_members_is_unchanged(void **state)
{
    (void)state;
    assert_cut(&kc_kind_pod, "{'items':[{},{ },{'a':1}]}",
               "{}\n{}\n{'kind':'Pod','apiVersion':'v1','a':1}\n{'items':[]}");
}

static void text_that_is_no_list_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "[]",
        "7",
        "{'items':[7]}",
        "{'items':['a']}",
        "{'items':[[]]}",
        "{'items':[{}{}]}",
        "{'items':[,{}]}",
        "{'items':[{},]}",
        "{'items':[{'a' 1}]}",
        "{'items':[{'a':}]}",
        "{items:[]}",
        "{'items':}",
        "{'a':1,}",
    };
    for (size_t i = 0; i < KC_COUNT(texts); i++)
        assert_refused(texts[i], KC_INTERNAL, "not a JSON list");
}

static void invalid_json_in_an_item_is_refused(void **state)
{
    (void)state;
    assert_refused("{'items':[{'a':[1 2]}]}", KC_INTERNAL, "list item: ");
    assert_refused("{'items':[{'a':nil}]}", KC_INTERNAL, "list item: ");
    assert_refused("{'a':nil}", KC_INTERNAL, "list response: ");
    assert_refused("{'items':[]} {}", KC_INTERNAL, "list response: ");
}

static void truncated_list_is_unavailable(void **state)
{
    (void)state;
    const char *text = "{'items':[{'a':1}],'metadata':{}}";
    for (size_t n = 0; n < strlen(text); n++) {
        kc_autofree char *part = kc_strndup(text, n);
        assert_refused(part, KC_SERVICE_UNAVAILABLE, "ended early");
    }
}

static void item_beyond_limit_is_refused(void **state)
{
    (void)state;
    kc_scoped(kc__stream_splitter) c = {.kind = &kc_kind_pod, .max_item = 20};
    kc_scoped(kc_error) err = {0};
    kc_autofree char *fits = cut_in("{'items':[{'a':'0123456789'}]}", 3, &c, &err);
    assert_non_null(fits);
    kc_scoped(kc__stream_splitter) d = {.kind = &kc_kind_pod, .max_item = 20};
    assert_null(cut_in("{'items':[{'a':'012345678901234'}]}", 3, &d, &err));
    assert_error(&err, KC_TOO_LARGE, "exceeds 20 bytes");
}

static void list_without_items_beyond_limit_is_refused(void **state)
{
    (void)state;
    kc_scoped(kc__stream_splitter) c = {.each = gather};
    kc_scoped(kc_error) err = {0};
    char zeros[4096];
    memset(zeros, 'x', sizeof(zeros));
    assert_int_equal(kc__stream_splitter_feed(&c, KC_STR("{\"a\":\""), &err), 0);
    int r = 0;
    size_t n = 0;
    while (r == 0 && (n += sizeof(zeros)) < 4 * KC__STREAM_SPLITTER_MAX_REST)
        r = kc__stream_splitter_feed(&c, kc_str_of(zeros, sizeof(zeros)), &err);
    assert_true(n <= KC__STREAM_SPLITTER_MAX_REST + sizeof(zeros));
    assert_error(&err, KC_TOO_LARGE, "without its items");
}

/* However long the list, one item is held. */
static void memory_is_bounded_by_one_item(void **state)
{
    (void)state;
    kc_scoped(kc_buf) out = {0};
    kc_scoped(kc__stream_splitter) c = {.kind = &kc_kind_pod, .each = gather, .user = &out};
    assert_int_equal(kc__stream_splitter_feed(&c, KC_STR("{\"items\":["), NULL), 0);
    for (int i = 0; i < 10000; i++) {
        kc_buf_clear(&out);
        assert_int_equal(
            kc__stream_splitter_feed(&c, KC_STR("{\"metadata\":{\"name\":\"some-name\"}}"), NULL),
            0);
        assert_true(out.n > 0);
        assert_int_equal(kc__stream_splitter_feed(&c, KC_STR(","), NULL), 0);
    }
    assert_true(c.item.cap < 1000 && c.rest.cap < 1000);
}

static int refuse(kc_object *object, void *user, kc_error *err)
{
    (void)user;
    kc_object_unref(object);
    return kc_error_set(err, KC_GONE, "enough");
}

static void callback_can_stop_the_list(void **state)
{
    (void)state;
    kc_scoped(kc__stream_splitter) c = {.each = refuse};
    kc_scoped(kc_error) err = {0};
    assert_int_equal(kc__stream_splitter_feed(&c, KC_STR("{\"items\":[{},{}]}"), &err), -KC_GONE);
    assert_error(&err, KC_GONE, "enough");
}

TESTS(items_are_delivered_one_by_one, members_after_items_belong_to_the_list,
      empty_list_has_no_items, only_items_of_the_outer_list_are_split,
      braces_in_strings_are_ignored, numbers_and_literals_end_at_delimiters,
      missing_kind_is_added_to_items, item_without_members_is_unchanged,
      text_that_is_no_list_is_refused, invalid_json_in_an_item_is_refused,
      truncated_list_is_unavailable, item_beyond_limit_is_refused,
      list_without_items_beyond_limit_is_refused, memory_is_bounded_by_one_item,
      callback_can_stop_the_list)
