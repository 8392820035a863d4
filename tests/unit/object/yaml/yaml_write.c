/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "kc/yaml.h"

/* The output is `yaml`, and parses to the same value. Quotes in `json` may be '. */
static void assert_writes(const char *json, const char *yaml)
{
    kc_auto(kc_view) *view = view_of(json);
    kc_scoped(kc_buf) out = {0}, again = {0};
    kc_yaml_write(&out, kc_view_root(view));
    assert_string_equal(kc_buf_cstr(&out), yaml);
    kc_auto(kc_view) *back = kc_yaml_parse(kc_buf_str(&out), NULL, NULL);
    assert_non_null(back);
    kc_yaml_write(&again, kc_view_root(back));
    assert_string_equal(kc_buf_cstr(&again), yaml);
}

static void objects_are_blocks_with_sorted_keys(void **state)
{
    (void)state;
    assert_writes("{'kind':'Pod','apiVersion':'v1','metadata':{'name':'web','labels':{'b':'x','a':"
                  "'z'}}}",
                  "apiVersion: v1\n"
                  "kind: Pod\n"
                  "metadata:\n"
                  "  labels:\n"
                  "    a: z\n"
                  "    b: x\n"
                  "  name: web\n");
}

static void lists_start_at_column_of_their_key(void **state)
{
    (void)state;
    assert_writes("{'a':[1,{'b':2,'c':[3]},[4,[5]]]}", "a:\n"
                                                       "- 1\n"
                                                       "- b: 2\n"
                                                       "  c:\n"
                                                       "  - 3\n"
                                                       "- - 4\n"
                                                       "  - - 5\n");
}

static void empty_collections_are_written_in_flow_style(void **state)
{
    (void)state;
    assert_writes("{'a':{},'b':[],'c':[[],{}],'d':null,'e':''}",
                  "a: {}\nb: []\nc:\n- []\n- {}\nd: null\ne: \"\"\n");
    assert_writes("{}", "{}\n");
    assert_writes("[]", "[]\n");
}

static void root_may_be_scalar(void **state)
{
    (void)state;
    assert_writes("12", "12\n");
    assert_writes("'text'", "text\n");
    assert_writes("'two\\nlines\\n'", "|\n  two\n  lines\n");
    assert_writes("null", "null\n");
    assert_writes("true", "true\n");
    kc_scoped(kc_buf) out = {0};
    kc_yaml_write(&out, NULL);
    assert_string_equal(kc_buf_cstr(&out), "null\n");
}

static void numbers_are_formatted_as_in_go(void **state)
{
    (void)state;
    assert_writes("[0,-1,18446744073709551615,1.5,1234567.5,1e21,1e-7,-0.0,100000.5]",
                  "- 0\n- -1\n- 18446744073709551615\n- 1.5\n- 1.2345675e+06\n- 1e+21\n- 1e-07\n"
                  "- -0.0\n- 100000.5\n");
}

static void ambiguous_strings_are_double_quoted(void **state)
{
    (void)state;
    assert_writes("['yes','n','null','~','1','0x1F','1_0','1.5','.inf','2001-01-01',"
                  "'2001-1-1T1:2:3Z','1:30','12345678901234567890123']",
                  "- \"yes\"\n- \"n\"\n- \"null\"\n- \"~\"\n- \"1\"\n- \"0x1F\"\n- \"1_0\"\n"
                  "- \"1.5\"\n- \".inf\"\n- \"2001-01-01\"\n- \"2001-1-1T1:2:3Z\"\n- \"1:30\"\n"
                  "- \"12345678901234567890123\"\n");
    assert_writes("['yess','2001-02-29','1:60','0xg','1.5.2','a:b','a#b','=','<<','-x',':x','?x']",
                  "- yess\n- 2001-02-29\n- 1:60\n- 0xg\n- 1.5.2\n- a:b\n- a#b\n- =\n- <<\n- -x\n"
                  "- :x\n- ?x\n");
}

static void strings_with_syntax_are_single_quoted(void **state)
{
    (void)state;
    assert_writes("[' x','x ','a: b','a:','a #b','- x','-','? x','#x','&x','*x','!x','|','>','%x',"
                  "'@x','`x','[x','{x','---','...','\\u0027','it\\u0027s: ']",
                  "- ' x'\n- 'x '\n- 'a: b'\n- 'a:'\n- 'a #b'\n- '- x'\n- '-'\n- '? x'\n- '#x'\n"
                  "- '&x'\n- '*x'\n- '!x'\n- '|'\n- '>'\n- '%x'\n- '@x'\n- '`x'\n- '[x'\n- '{x'\n"
                  "- '---'\n- '...'\n- ''''\n- 'it''s: '\n");
}

static void special_characters_are_escaped(void **state)
{
    (void)state;
    assert_writes("['\\t','a\\u0000','\\u001b','\\u007f','\\u0085','\\ud83d\\ude00','\\ufeff',"
                  "'\\u2028','\\r\\\"\\\\']",
                  "- \"\\t\"\n- \"a\\0\"\n- \"\\e\"\n- \"\\x7F\"\n- \"\\N\"\n- \"\\U0001F600\"\n"
                  "- \"\\uFEFF\"\n- \"\\L\"\n- \"\\r\\\"\\\\\"\n");
    assert_writes("'\\u00e9\\u4e2d'", "\xC3\xA9\xE4\xB8\xAD\n");
}

static void multiline_text_is_literal_block(void **state)
{
    (void)state;
    assert_writes("{'a':'x\\ny'}", "a: |-\n  x\n  y\n");
    assert_writes("{'a':'x\\ny\\n'}", "a: |\n  x\n  y\n");
    assert_writes("{'a':'x\\n\\n','b':1}", "a: |+\n  x\n\nb: 1\n");
    assert_writes("{'a':' x\\ny'}", "a: |2-\n   x\n  y\n");
    assert_writes("{'a':'\\n'}", "a: |2+\n\n");
    assert_writes("{'a':['x\\n\\n  y\\n']}", "a:\n- |\n  x\n\n    y\n");
    assert_writes("[['x\\ny']]", "- - |-\n    x\n    y\n");
}

static void text_that_block_would_change_is_quoted(void **state)
{
    (void)state;
    assert_writes("{'a':'x \\ny'}", "a: \"x \\ny\"\n");
    assert_writes("{'a':'x\\n '}", "a: \"x\\n \"\n");
    assert_writes("{'a':'x\\ty\\n'}", "a: \"x\\ty\\n\"\n");
}

static void long_lines_are_folded(void **state)
{
    (void)state;
    assert_writes("{'a':'0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 "
                  "0123456789 0123456789 end'}",
                  "a: 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 "
                  "0123456789\n"
                  "  end\n");
    assert_writes(
        "{'a':'0123456789: 123456789 0123456789 0123456789 0123456789 0123456789 "
        "0123456789 0123456789 end'}",
        "a: '0123456789: 123456789 0123456789 0123456789 0123456789 0123456789 0123456789 "
        "0123456789\n"
        "  end'\n");
    assert_writes(
        "{'a':'\\t1234567890123456789012345678901234567890123456789012345678901234567890123"
        "456789  end here'}",
        "a: \"\\t1234567890123456789012345678901234567890123456789012345678901234567890123"
        "456789\n"
        "  \\ end here\"\n");
}

static void keys_are_quoted_like_strings(void **state)
{
    (void)state;
    assert_writes("{'1':1,'yes':2,'a: b':3,'':4,'<<':5,'x/y.z':6}",
                  "\"\": 4\n\"<<\": 5\n\"1\": 1\n'a: b': 3\nx/y.z: 6\n\"yes\": 2\n");
}

static void long_and_multiline_keys_use_question_mark(void **state)
{
    (void)state;
    assert_writes("{'a\\nb':['x'],'c\\rd':{'e':1}}",
                  "? |-\n  a\n  b\n: - x\n? \"c\\rd\"\n: e: 1\n");
    kc_scoped(kc_buf) json = {0}, yaml = {0};
    kc_buf_printf(&json, "{'%0129d':1}", 1);
    kc_buf_printf(&yaml, "? \"%0129d\"\n: 1\n", 1);
    assert_writes(kc_buf_cstr(&json), kc_buf_cstr(&yaml));
}

static void keys_are_sorted_in_natural_order(void **state)
{
    (void)state;
    assert_writes("{'a10':1,'a2':1,'a-':1,'aB':1,'ab':1,'a':1,'10':1,'9':1,'a01':1,'a1':1,'a00':1,"
                  "'a0':1}",
                  "\"9\": 1\n\"10\": 1\na: 1\na-: 1\na0: 1\na00: 1\na1: 1\na01: 1\na2: 1\n"
                  "a10: 1\naB: 1\nab: 1\n");
}

static void key_order_is_independent_of_input_order(void **state)
{
    (void)state;
    /* In the natural order 16 < 1e < 6i < 16. */
    kc_auto(kc_view) *one = view_of("{'16':1,'1e':1,'6i':1}");
    kc_auto(kc_view) *other = view_of("{'6i':1,'1e':1,'16':1}");
    kc_scoped(kc_buf) a = {0}, b = {0};
    kc_yaml_write(&a, kc_view_root(one));
    kc_yaml_write(&b, kc_view_root(other));
    assert_string_equal(kc_buf_cstr(&a), kc_buf_cstr(&b));
}

TESTS(objects_are_blocks_with_sorted_keys, lists_start_at_column_of_their_key,
      empty_collections_are_written_in_flow_style, root_may_be_scalar,
      numbers_are_formatted_as_in_go, ambiguous_strings_are_double_quoted,
      strings_with_syntax_are_single_quoted, special_characters_are_escaped,
      multiline_text_is_literal_block, text_that_block_would_change_is_quoted,
      long_lines_are_folded, keys_are_quoted_like_strings,
      long_and_multiline_keys_use_question_mark, keys_are_sorted_in_natural_order,
      key_order_is_independent_of_input_order)
