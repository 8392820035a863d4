/* SPDX-License-Identifier: Apache-2.0 */
#include "schema_testing.h"

#define FIELD(schema) "{'type':'object','properties':{'x':" schema "}}"

static void valid_object_has_no_errors(void **state)
{
    (void)state;
    assert_errors(FIELD("{'type':'integer','minimum':0,'maximum':10}"), "{'x':10}", "");
    assert_errors(FIELD("{'type':'string'}"), "{}", "");
    assert_errors("{}", "[1,'a',null]", "");
}

static void error_names_missing_required_member(void **state)
{
    (void)state;
    assert_errors("{'type':'object','properties':{'spec':{'type':'object','required':['b','a']}}}",
                  "{'spec':{'c':1}}", "spec.b: Required value\nspec.a: Required value");
    assert_errors("{'type':'object','required':['spec']}", "{}", "spec: Required value");
}

static void all_required_members_of_large_object_are_checked(void **state)
{
    (void)state;
    kc_scoped(kc_buf) schema = {0};
    kc_scoped(kc_buf) value = {0};
    kc_buf_puts(&schema, "{'type':'object','required':[");
    kc_buf_puts(&value, "{");
    for (int i = 0; i < 200; i++) {
        kc_buf_printf(&schema, "%s'f%d'", i ? "," : "", i);
        if (i != 150)
            kc_buf_printf(&value, "%s'f%d':1", i ? "," : "", i);
    }
    kc_buf_puts(&schema, "]}");
    kc_buf_puts(&value, "}");
    assert_errors(kc_buf_cstr(&schema), kc_buf_cstr(&value), "f150: Required value");
}

static void type_error_contains_both_types(void **state)
{
    (void)state;
    assert_errors(FIELD("{'type':'integer'}"), "{'x':'1'}",
                  "x: Invalid value: \"string\": x in body must be of type integer: \"string\"");
    assert_errors(FIELD("{'type':'string'}"), "{'x':[]}",
                  "x: Invalid value: \"array\": x in body must be of type string: \"array\"");
    assert_errors("{'type':'object'}", "true",
                  "<nil>: Invalid value: \"boolean\":  in body must be of type object: "
                  "\"boolean\"");
}

static void type_error_has_its_own_reason(void **state)
{
    (void)state;
    kc_auto(kc_schema) *schema = schema_of(FIELD("{'type':'integer'}"));
    kc_auto(kc_view) *value = view_of("{'x':'1'}");
    kc_scoped(kc_field_errors) errors = {0};
    kc_schema_validate(schema, kc_view_root(value), NULL, &errors);
    assert_int_equal(errors.list.items[0].type, KC_FIELD_TYPE_INVALID);
}

static void null_needs_nullable(void **state)
{
    (void)state;
    assert_errors(FIELD("{'type':'string'}"), "{'x':null}",
                  "x: Invalid value: \"null\": x in body must be of type string: \"null\"");
    assert_errors(FIELD("{'type':'string','nullable':true}"), "{'x':null}", "");
    assert_errors(FIELD("{'x-kubernetes-preserve-unknown-fields':true}"), "{'x':null}", "");
}

static void whole_float_is_an_integer(void **state)
{
    (void)state;
    assert_errors(FIELD("{'type':'integer'}"), "{'x':3.0}", "");
    assert_errors(FIELD("{'type':'integer'}"), "{'x':3.5}",
                  "x: Invalid value: \"number\": x in body must be of type integer: \"number\"");
    assert_errors(FIELD("{'type':'number'}"), "{'x':3}", "");
}

static void integers_beyond_64_bits_signed_are_numbers(void **state)
{
    (void)state;
    assert_errors(FIELD("{'type':'integer'}"), "{'x':9223372036854775807}", "");
    assert_errors(FIELD("{'type':'integer'}"), "{'x':9223372036854775808}",
                  "x: Invalid value: \"number\": x in body must be of type integer: \"number\"");
    assert_errors(FIELD("{'type':'number','maximum':5}"), "{'x':9223372036854775808}",
                  "x: Invalid value: 9.223372036854776e+18: x in body should be less than or equal "
                  "to 5");
}

static void int_or_string_accepts_only_both_types(void **state)
{
    (void)state;
    const char *schema = FIELD("{'x-kubernetes-int-or-string':true}");
    assert_errors(schema, "{'x':1}", "");
    assert_errors(schema, "{'x':'1'}", "");
    assert_errors(schema, "{'x':true}",
                  "x: Invalid value: \"boolean\": x in body must be of type integer,string: "
                  "\"boolean\"");
}

static void bound_errors_name_the_bound(void **state)
{
    (void)state;
    assert_errors(FIELD("{'type':'integer','maximum':10}"), "{'x':11}",
                  "x: Invalid value: 11: x in body should be less than or equal to 10");
    assert_errors(FIELD("{'type':'integer','minimum':1,'exclusiveMinimum':true}"), "{'x':1}",
                  "x: Invalid value: 1: x in body should be greater than 1");
    assert_errors(FIELD("{'type':'number','maximum':1000000,'exclusiveMaximum':true}"),
                  "{'x':1000000.5}",
                  "x: Invalid value: 1.0000005e+06: x in body should be less than 1e+06");
}

static bool is_valid(const char *schema_json, const char *json)
{
    kc_auto(kc_schema) *schema = schema_of(schema_json);
    kc_auto(kc_view) *value = view_of(json);
    kc_scoped(kc_field_errors) errors = {0};
    return kc_schema_validate(schema, kc_view_root(value), NULL, &errors);
}

/* The quiet pass decides numbers between the bounds by itself; those on a bound, and all others,
 * are checked rule by rule. */
static void numbers_around_each_bound_are_valid_as_the_bound_says(void **state)
{
    (void)state;
    static const struct {
        const char *rules, *valid[3], *invalid[3];
    } cases[] = {
        {"'minimum':3", {"3", "4", "3.5"}, {"2", "2.5", "-9223372036854775808"}},
        {"'minimum':3,'exclusiveMinimum':true", {"4", "3.5"}, {"3", "2", "3.0"}},
        {"'maximum':3", {"3", "2", "3.0"}, {"4", "3.5", "9223372036854775808"}},
        {"'maximum':3,'exclusiveMaximum':true", {"2", "2.5"}, {"3", "4", "3.0"}},
        {"'minimum':-2,'maximum':2", {"-2", "0", "2.0"}, {"-3", "3", "2.5"}},
        {"'minimum':9223372036854775807,'exclusiveMinimum':true",
         {0},
         {"9223372036854775807", "0"}},
        {"'maximum':-9223372036854775808,'exclusiveMaximum':true",
         {0},
         {"-9223372036854775808", "0"}},
        {"'minimum':-9223372036854775808", {"-9223372036854775808", "0", "1e300"}, {"-1e300"}},
        {"'exclusiveMinimum':true,'exclusiveMaximum':true", {"0", "-5", "1e300"}, {0}},
        {"'minimum':0,'multipleOf':2", {"0", "4", "2.0"}, {"3", "-2", "2.5"}},
        {"'minimum':2,'maximum':1", {0}, {"1", "2", "1.5"}},
    };
    for (size_t i = 0; i < KC_COUNT(cases) * 3; i++) {
        const char *rules = cases[i / 3].rules, *valid = cases[i / 3].valid[i % 3],
                   *invalid = cases[i / 3].invalid[i % 3];
        kc_autofree char *schema = kc_asprintf(FIELD("{'type':'number',%s}"), rules);
        kc_autofree char *good = kc_asprintf("{'x':%s}", valid ? valid : "0");
        kc_autofree char *bad = kc_asprintf("{'x':%s}", invalid ? invalid : "0");
        if ((valid && !is_valid(schema, good)) || (invalid && is_valid(schema, bad)))
            fail_msg("%s: %s, %s", rules, good, bad);
    }
}

static void numbers_between_bounds_are_looked_up_in_the_enum(void **state)
{
    (void)state;
    const char *schema = FIELD("{'type':'integer','minimum':0,'maximum':9,'enum':[1,2,11]}");
    assert_true(is_valid(schema, "{'x':2}"));
    assert_false(is_valid(schema, "{'x':3}"));
    assert_false(is_valid(schema, "{'x':11}"));
}

static void strings_of_a_short_enum_are_compared_whole(void **state)
{
    (void)state;
    const char *schema =
        FIELD("{'enum':[{'b':['TCP']},'TCP','UDP',1,'','a-very-long-name-with-an-end']}");
    static const char *const valid[] = {
        "'TCP'", "'UDP'", "''", "'a-very-long-name-with-an-end'", "1", "1.0", "{'b':['TCP']}"};
    static const char *const invalid[] = {
        "'TCPs'", "'TC'", "'UCP'", "'a-very-long-name-with-an-eNd'", "'1'", "2", "'b'", "['TCP']"};
    for (size_t i = 0; i < KC_COUNT(valid); i++) {
        kc_autofree char *json = kc_asprintf("{'x':%s}", valid[i]);
        assert_true(is_valid(schema, json));
    }
    for (size_t i = 0; i < KC_COUNT(invalid); i++) {
        kc_autofree char *json = kc_asprintf("{'x':%s}", invalid[i]);
        assert_false(is_valid(schema, json));
    }
}

/* The quiet pass decides about a list of scalars without rules by itself. */
static void elements_of_a_plain_list_are_checked(void **state)
{
    (void)state;
    const char *strings = FIELD("{'type':'array','items':{'type':'string'}}");
    assert_errors(strings, "{'x':[]}", "");
    assert_errors(strings, "{'x':['a','','b']}", "");
    assert_errors(strings, "{'x':['a',1,null]}",
                  "x[1]: Invalid value: \"integer\": x[1] in body must be of type string: "
                  "\"integer\"\n"
                  "x[2]: Invalid value: \"null\": x[2] in body must be of type string: \"null\"");
    assert_errors(strings, "{'x':'a'}",
                  "x: Invalid value: \"string\": x in body must be of type array: \"string\"");
    assert_false(is_valid(strings, "{'x':[['a']]}"));
    assert_false(is_valid(strings, "{'x':null}"));
    assert_true(is_valid(FIELD("{'type':'array','items':{'type':'string','nullable':true}}"),
                         "{'x':['a',null]}"));
    assert_false(is_valid(FIELD("{'type':'array','items':{'type':'string','maxLength':1}}"),
                          "{'x':['ab']}"));
    assert_false(is_valid(FIELD("{'type':'array','maxItems':1,'items':{'type':'string'}}"),
                          "{'x':['a','b']}"));
    assert_false(is_valid(FIELD("{'type':'array','items':{'type':'integer'}}"),
                          "{'x':[1,9223372036854775808]}"));
    assert_true(is_valid(FIELD("{'type':'array','items':{'type':'integer'}}"), "{'x':[1,2.0]}"));
    assert_true(is_valid(FIELD("{'type':'array','items':{}}"), "{'x':[1,['a'],{}]}"));
    assert_true(is_valid(FIELD("{'type':'array'}"), "{'x':[1,['a'],{}]}"));
    assert_false(
        is_valid(FIELD("{'anyOf':[{'type':'array','items':{'type':'string'}}]}"), "{'x':['a',1]}"));
}

#define ITEMS(x, y)                                                                               \
    "{'type':'array','items':{'type':'object','properties':{'x':{'type':'" x "'},'y':{'type':'" y \
    "'}}}}"

static void items_need_not_have_the_members_of_the_item_before(void **state)
{
    (void)state;
    const char *schema = "{'type':'object','properties':{'a':" ITEMS(
        "integer", "string") ",'b':" ITEMS("string", "integer") "}}";
    assert_errors(schema,
                  "{'a':[{'x':1,'y':'s'},{'y':'s','x':1},{'x':1},{},{'z':1,'y':'s'},{'y':'s'},"
                  "{'x':1,'y':'s'}],'b':[{'x':'s','y':1},{'y':1,'x':'s'}]}",
                  "");
    assert_errors(schema, "{'a':[{'x':1,'y':'s'},{'y':1,'x':1},{'x':'s'}],'b':[{'x':1,'y':1}]}",
                  "a[1].y: Invalid value: \"integer\": a[1].y in body must be of type string: "
                  "\"integer\"\n"
                  "a[2].x: Invalid value: \"string\": a[2].x in body must be of type integer: "
                  "\"string\"\n"
                  "b[0].x: Invalid value: \"integer\": b[0].x in body must be of type string: "
                  "\"integer\"");
}

static void items_with_many_members_or_on_a_deep_level_are_checked(void **state)
{
    (void)state;
    kc_scoped(kc_buf) schema = {0}, valid = {0}, invalid = {0};
    enum { LEVELS = 12, MEMBERS = 40 };
    for (int i = 0; i < LEVELS; i++) {
        kc_buf_puts(&schema, "{'type':'object','properties':{'l':{'type':'array','items':");
        kc_buf_puts(&valid, "{'l':[{},");
    }
    kc_buf_puts(&schema, "{'type':'object','properties':{");
    kc_buf_puts(&valid, "{");
    for (int i = 0; i < MEMBERS; i++) {
        kc_buf_printf(&schema, "%s'f%d':{'type':'%s'}", i ? "," : "", i,
                      i % 2 ? "string" : "integer");
        kc_buf_printf(&valid, i % 2 ? "%s'f%d':'s'" : "%s'f%d':1", i ? "," : "", i);
    }
    kc_buf_append(&invalid, kc_buf_str(&valid));
    kc_buf_puts(&invalid, "},{'f38':1,'f39':1");
    kc_buf_puts(&valid, "},{'f39':'s','f38':1");
    for (int i = 0; i < LEVELS; i++) {
        kc_buf_puts(&schema, i ? "}}}" : "}}}}}");
        kc_buf_puts(&valid, i ? "]}" : "}]}");
        kc_buf_puts(&invalid, i ? "]}" : "}]}");
    }
    assert_true(is_valid(kc_buf_cstr(&schema), kc_buf_cstr(&valid)));
    assert_false(is_valid(kc_buf_cstr(&schema), kc_buf_cstr(&invalid)));
}

static void fraction_of_bound_is_ignored_for_integers(void **state)
{
    (void)state;
    assert_errors(FIELD("{'type':'integer','maximum':10.5}"), "{'x':11}",
                  "x: Invalid value: 11: x in body should be less than or equal to 10");
}

static void multiples_are_exact_for_integers_and_near_for_floats(void **state)
{
    (void)state;
    assert_errors(FIELD("{'type':'integer','multipleOf':3}"), "{'x':7}",
                  "x: Invalid value: 7: x in body should be a multiple of 3");
    assert_errors(FIELD("{'type':'number','multipleOf':0.1}"), "{'x':0.3}", "");
    assert_errors(FIELD("{'type':'number','multipleOf':0.5}"), "{'x':2}", "");
    assert_errors(FIELD("{'type':'number','multipleOf':0.1}"), "{'x':0.35}",
                  "x: Invalid value: 0.35: x in body should be a multiple of 0.1");
    assert_errors(FIELD("{'type':'integer','multipleOf':0}"), "{'x':2}",
                  "x: Invalid value: 0: factor MultipleOf declared for x must be positive: 0");
}

static void lengths_count_code_points(void **state)
{
    (void)state;
    assert_errors(FIELD("{'type':'string','maxLength':3,'minLength':3}"), "{'x':'äöü'}", "");
    assert_errors(FIELD("{'type':'string','maxLength':2}"), "{'x':'äöü'}",
                  "x: Too long: may not be more than 2 bytes");
    assert_errors(FIELD("{'type':'string','maxLength':1}"), "{'x':'ab'}",
                  "x: Too long: may not be more than 1 byte");
    assert_errors(FIELD("{'type':'string','minLength':3}"), "{'x':'äö'}",
                  "x: Invalid value: \"äö\": x in body should be at least 3 chars long");
}

static void only_first_failure_of_length_and_pattern_is_reported(void **state)
{
    (void)state;
    assert_errors(FIELD("{'type':'string','maxLength':2,'pattern':'^b'}"), "{'x':'aaa'}",
                  "x: Too long: may not be more than 2 bytes");
}

static void pattern_is_not_anchored_and_error_contains_it(void **state)
{
    (void)state;
    assert_errors(FIELD("{'type':'string','pattern':'b+'}"), "{'x':'abc'}", "");
    assert_errors(FIELD("{'type':'string','pattern':'^[a-z]+$'}"), "{'x':'A\\t'}",
                  "x: Invalid value: \"A\\t\": x in body should match '^[a-z]+$'");
}

static void match_beyond_time_limit_is_an_error(void **state)
{
    (void)state;
    kc_scoped(kc_buf) value = {0};
    kc_buf_puts(&value, "{'x':'");
    for (unsigned i = 0; i < 400000; i++)
        kc_buf_putc(&value, "ab"[i * i / 7 % 2]); /* Many different states of the automaton. */
    kc_buf_puts(&value, "'}");
    kc_auto(kc_schema) *schema = schema_of(FIELD("{'type':'string','pattern':'[ab]*a[ab]{900}c'}"));
    kc_auto(kc_view) *view = view_of(kc_buf_cstr(&value));
    kc_scoped(kc_field_errors) errors = {0};
    assert_false(kc_schema_validate(schema, kc_view_root(view), NULL, &errors));
    assert_contains(errors.list.items[0].body, "matching exceeded its time limit");
}

static void pattern_that_backtracks_is_matched_in_linear_time(void **state)
{
    (void)state;
    kc_scoped(kc_buf) value = {0};
    kc_buf_puts(&value, "{'x':'");
    for (int i = 0; i < 200000; i++)
        kc_buf_putc(&value, 'x');
    kc_buf_puts(&value, "'}");
    kc_auto(kc_view) *view = view_of(kc_buf_cstr(&value));
    static const char *const patterns[] = {"(x|w)*[yz]", "(a|b|c|x)+d", "(?:xx?)+y"};
    for (size_t i = 0; i < KC_COUNT(patterns); i++) {
        kc_scoped(kc_buf) json = {0};
        kc_scoped(kc_field_errors) errors = {0};
        kc_buf_printf(&json, FIELD("{'type':'string','pattern':'%s'}"), patterns[i]);
        kc_auto(kc_schema) *schema = schema_of(kc_buf_cstr(&json));
        assert_false(kc_schema_validate(schema, kc_view_root(view), NULL, &errors));
        assert_contains(errors.list.items[0].body, "should match");
        assert_null(strstr(errors.list.items[0].body, "exceeded its time limit"));
    }
}

/* Two thousand alternatives, each of which compares the whole object. */
static void enums_in_alternatives_use_the_budget(void **state)
{
    (void)state;
    kc_scoped(kc_buf) json = {0}, value = {0};
    kc_buf_puts(&json, "{'type':'object','anyOf':[");
    for (int i = 0; i < 2000; i++)
        kc_buf_printf(&json, "%s{'enum':[{'a':%d}]}", i ? "," : "", i);
    kc_buf_puts(&json, "]}");
    kc_buf_puts(&value, "{'l':[0");
    for (int i = 0; i < 100000; i++)
        kc_buf_puts(&value, ",1");
    kc_buf_puts(&value, "]}");
    kc_auto(kc_schema) *schema = schema_of(kc_buf_cstr(&json));
    kc_auto(kc_view) *view = view_of(kc_buf_cstr(&value));
    kc_scoped(kc_field_errors) errors = {0};
    assert_false(kc_schema_validate(schema, kc_view_root(view), NULL, &errors));
    assert_int_equal(errors.list.n, 1);
    assert_contains(errors.list.items[0].body, "is too complex to validate");
}

static void expensive_matches_share_a_time_limit(void **state)
{
    (void)state;
    kc_scoped(kc_buf) value = {0};
    kc_buf_puts(&value, "[");
    for (int i = 0; i < 20000; i++)
        kc_buf_printf(&value, "%s'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab'", i ? "," : "");
    kc_buf_puts(&value, "]");
    kc_auto(kc_schema) *schema =
        schema_of("{'type':'array','items':{'type':'string','pattern':'^(a+)+$'}}");
    kc_auto(kc_view) *view = view_of(kc_buf_cstr(&value));
    kc_scoped(kc_field_errors) errors = {0};
    assert_false(kc_schema_validate(schema, kc_view_root(view), NULL, &errors));
    assert_int_equal(errors.list.n, 1000);
    assert_int_equal(errors.dropped, 19000);
}

static void long_text_passes_a_pattern_with_groups(void **state)
{
    (void)state;
    kc_scoped(kc_buf) value = {0};
    kc_buf_puts(&value, "{'x':'");
    for (int i = 0; i < 100000; i++)
        kc_buf_puts(&value, "ab");
    kc_buf_puts(&value, "'}");
    assert_errors(FIELD("{'type':'string','pattern':'^(?:a|b)*$'}"), kc_buf_cstr(&value), "");
}

static void enum_error_lists_supported_values(void **state)
{
    (void)state;
    assert_errors(FIELD("{'type':'string','enum':['L','M','S']}"), "{'x':'XL'}",
                  "x: Unsupported value: \"XL\": supported values: \"L\", \"M\", \"S\"");
    assert_errors(FIELD("{'enum':[1,{'a':1},null]}"), "{'x':2}",
                  "x: Unsupported value: 2: supported values: \"1\", \"{\\\"a\\\":1}\", \"null\"");
    assert_errors(FIELD("{'enum':[1,{'a':1,'b':[]}]}"), "{'x':{'b':[],'a':1.0}}", "");
    assert_errors(FIELD("{'type':'number','enum':[1]}"), "{'x':1.5}",
                  "x: Unsupported value: 1.5: supported values: \"1\"");
}

static void long_enum_is_found_by_hash(void **state)
{
    (void)state;
    const char *schema = FIELD("{'enum':['a','b','c','d','e','f','g','h','i','i','']}");
    assert_errors(schema, "{'x':'h'}", "");
    assert_errors(schema, "{'x':''}", "");
    assert_errors(schema, "{'x':1}",
                  "x: Unsupported value: 1: supported values: \"a\", \"b\", \"c\", \"d\", \"e\", "
                  "\"f\", \"g\", \"h\", \"i\", \"i\", \"\"");
}

static void long_enum_supports_values_of_any_type(void **state)
{
    (void)state;
    const char *schema = FIELD("{'enum':[1,2,3,4,5,6,7,8,'9',{'b':1,'a':[]},true,null]}");
    assert_errors(schema, "{'x':8.0}", "");
    assert_errors(schema, "{'x':'9'}", "");
    assert_errors(schema, "{'x':{'a':[],'b':1}}", "");
    kc_auto(kc_schema) *compiled = schema_of(schema);
    static const char *const others[] = {"{'x':9}", "{'x':'8'}", "{'x':null}", "{'x':false}"};
    for (size_t i = 0; i < KC_COUNT(others); i++) {
        kc_auto(kc_view) *value = view_of(others[i]);
        kc_scoped(kc_field_errors) errors = {0};
        assert_false(kc_schema_validate(compiled, kc_view_root(value), NULL, &errors));
    }
}

static void null_is_in_no_enum(void **state)
{
    (void)state;
    assert_errors(FIELD("{'type':'string','nullable':true,'enum':['a']}"), "{'x':null}",
                  "x: Unsupported value: null: supported values: \"a\"");
}

static void sizes_of_lists_and_maps_are_checked(void **state)
{
    (void)state;
    assert_errors(FIELD("{'type':'array','maxItems':3}"), "{'x':[1,2,3,4]}",
                  "x: Too many: 4: must have at most 3 items");
    assert_errors(FIELD("{'type':'array','maxItems':1}"), "{'x':[1,2]}",
                  "x: Too many: 2: must have at most 1 item");
    assert_errors(FIELD("{'type':'array','minItems':1}"), "{'x':[]}",
                  "x: Invalid value: 0: x in body should have at least 1 items");
    assert_errors(FIELD("{'type':'object','maxProperties':1}"), "{'x':{'a':1,'b':2}}",
                  "x: Too many: 2: must have at most 1 item");
    assert_errors(FIELD("{'type':'object','minProperties':2}"), "{'x':{'a':1}}",
                  "x: Invalid value: 1: x in body should have at least 2 properties");
}

static void unique_items_compares_by_value(void **state)
{
    (void)state;
    const char *schema = FIELD("{'type':'array','uniqueItems':true}");
    const char *error = "x: Invalid value: \"\": x in body shouldn't contain duplicates";
    assert_errors(schema, "{'x':[1,'1',true,null,[1],{'a':1}]}", "");
    assert_errors(schema, "{'x':[1,2,1]}", error);
    assert_errors(schema, "{'x':[{'a':1,'b':2},{'b':2,'a':1}]}", error);
}

static void paths_name_members_elements_and_keys(void **state)
{
    (void)state;
    assert_errors(FIELD("{'type':'array','items':{'type':'object','additionalProperties':"
                        "{'type':'object','properties':{'n':{'type':'integer'}}}}}"),
                  "{'x':[{},{'k.l':{'n':'a'}}]}",
                  "x[1].k.l.n: Invalid value: \"string\": x[1].k.l.n in body must be of type "
                  "integer: \"string\"");
}

static void base_prefixes_fields_only(void **state)
{
    (void)state;
    kc__assert_judged(
        kc_schema_validate,
        "{'type':'object','properties':{'n':{'type':'integer'}},'anyOf':[{'required':"
        "['z']}]}",
        "{'n':true}", "status",
        "status: Invalid value: \"\": \"\" must validate at least one schema (anyOf)\n"
        "status.z: Required value\n"
        "status.n: Invalid value: \"boolean\": n in body must be of type integer: "
        "\"boolean\"",
        __FILE__, __LINE__);
}

static void closed_objects_reject_other_members(void **state)
{
    (void)state;
    assert_errors(FIELD("{'type':'object','additionalProperties':false}"), "{'x':{'y':1}}",
                  "x: Invalid value: \"y\": x.y in body is a forbidden property");
}

static void all_errors_are_reported_at_once(void **state)
{
    (void)state;
    assert_errors("{'type':'object','required':['z'],'properties':{'a':{'type':'integer'},"
                  "'b':{'type':'array','items':{'type':'string','maxLength':1}}}}",
                  "{'a':'x','b':['y','zz',1]}",
                  "a: Invalid value: \"string\": a in body must be of type integer: \"string\"\n"
                  "b[1]: Too long: may not be more than 1 byte\n"
                  "b[2]: Invalid value: \"integer\": b[2] in body must be of type string: "
                  "\"integer\"\n"
                  "z: Required value");
}

static void any_of_reports_best_matching_branch(void **state)
{
    (void)state;
    assert_errors("{'type':'object','properties':{'a':{'type':'integer'}},'anyOf':["
                  "{'required':['z']},{'required':['a'],'properties':{'a':{'minimum':5}}}]}",
                  "{'a':3}",
                  "<nil>: Invalid value: \"\": \"\" must validate at least one schema (anyOf)\n"
                  "a: Invalid value: 3: a in body should be greater than or equal to 5");
}

static void one_of_counts_alternatives(void **state)
{
    (void)state;
    const char *schema = FIELD("{'type':'object','oneOf':[{'required':['a']},{'required':['b']}]}");
    assert_errors(schema, "{'x':{'a':1}}", "");
    assert_errors(
        schema, "{'x':{'a':1,'b':1}}",
        "<nil>: Invalid value: \"\": \"x\" must validate one and only one schema (oneOf). "
        "Found 2 valid alternatives");
    assert_errors(
        schema, "{'x':{}}",
        "<nil>: Invalid value: \"\": \"x\" must validate one and only one schema (oneOf). "
        "Found none valid\nx.a: Required value");
}

static void all_of_reports_every_branch_and_each_error_once(void **state)
{
    (void)state;
    assert_errors(FIELD("{'type':'integer','minimum':5,'allOf':[{'minimum':5},{'maximum':9},"
                        "{'multipleOf':2}]}"),
                  "{'x':3}",
                  "x: Invalid value: 3: x in body should be greater than or equal to 5\n"
                  "x: Invalid value: 3: x in body should be a multiple of 2\n"
                  "<nil>: Invalid value: \"\": \"x\" must validate all the schemas (allOf)");
    assert_errors(FIELD("{'type':'integer','allOf':[{'minimum':5}]}"), "{'x':3}",
                  "x: Invalid value: 3: x in body should be greater than or equal to 5\n"
                  "<nil>: Invalid value: \"\": \"x\" must validate all the schemas (allOf). None "
                  "validated");
}

static void not_rejects_matching_value(void **state)
{
    (void)state;
    const char *schema = FIELD("{'type':'integer','not':{'minimum':5}}");
    assert_errors(schema, "{'x':3}", "");
    assert_errors(schema, "{'x':7}",
                  "<nil>: Invalid value: \"\": \"x\" must not validate the schema (not)");
}

static void exponential_branches_exceed_budget(void **state)
{
    (void)state;
    kc_scoped(kc_buf) value = {0};
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_view) *json =
        view_of("{'Node':{'type':'object','anyOf':[{'properties':{'n':{'$ref':'#/definitions/Node'}"
                "}},{'properties':{'n':{'$ref':'#/definitions/Node'}}}],"
                "'properties':{'bad':{'type':'integer'}}}}");
    kc_auto(kc_schema_defs) *defs = kc_schema_defs_compile(kc_view_root(json), NULL, &err);
    assert_non_null(defs);
    for (int i = 0; i < 60; i++)
        kc_buf_puts(&value, "{'n':");
    kc_buf_puts(&value, "{'bad':'x'}");
    for (int i = 0; i < 60; i++)
        kc_buf_puts(&value, "}");
    kc_auto(kc_view) *view = view_of(kc_buf_cstr(&value));
    kc_scoped(kc_field_errors) errors = {0};
    assert_false(kc_schema_validate(kc_schema_defs_get(defs, KC_STR("Node")), kc_view_root(view),
                                    NULL, &errors));
    kc_autofree char *lines = lines_of(&errors);
    assert_contains(lines, "too complex to validate");
    assert_int_equal(errors.list.n, 1);
}

static void recursive_branch_terminates(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_view) *json = view_of(
        "{'Loop':{'type':'object','anyOf':[{'$ref':'#/definitions/Loop'},{'required':['a']}]}}");
    kc_auto(kc_schema_defs) *defs = kc_schema_defs_compile(kc_view_root(json), NULL, &err);
    kc_auto(kc_view) *view = view_of("{'b':1}");
    kc_scoped(kc_field_errors) errors = {0};
    assert_false(kc_schema_validate(kc_schema_defs_get(defs, KC_STR("Loop")), kc_view_root(view),
                                    NULL, &errors));
    assert_contains(errors.list.items[0].body, "too complex to validate");
}

static void values_in_errors_match_kubernetes(void **state)
{
    (void)state;
    assert_errors(FIELD("{'enum':['a']}"), "{'x':{'b':'<','a':1e30}}",
                  "x: Unsupported value: {\"a\":1e+30,\"b\":\"\\u003c\"}: supported values: \"a\"");
    assert_errors(FIELD("{'enum':['a']}"), "{'x':'\\u0001\\u200b\\n'}",
                  "x: Unsupported value: \"\\x01\\u200b\\n\": supported values: \"a\"");
    assert_errors(FIELD("{'enum':['a']}"), "{'x':0.00001}",
                  "x: Unsupported value: 1e-05: supported values: \"a\"");
}

static void null_schema_allows_everything(void **state)
{
    (void)state;
    kc_auto(kc_view) *view = view_of("{'b':1}");
    kc_scoped(kc_field_errors) errors = {0};
    assert_true(kc_schema_validate(NULL, kc_view_root(view), NULL, &errors));
    assert_true(kc_schema_validate_lists(NULL, kc_view_root(view), NULL, &errors));
}

TESTS(valid_object_has_no_errors, error_names_missing_required_member,
      all_required_members_of_large_object_are_checked, type_error_contains_both_types,
      type_error_has_its_own_reason, null_needs_nullable, whole_float_is_an_integer,
      integers_beyond_64_bits_signed_are_numbers, int_or_string_accepts_only_both_types,
      bound_errors_name_the_bound, numbers_around_each_bound_are_valid_as_the_bound_says,
      strings_of_a_short_enum_are_compared_whole, numbers_between_bounds_are_looked_up_in_the_enum,
      elements_of_a_plain_list_are_checked, items_need_not_have_the_members_of_the_item_before,
      items_with_many_members_or_on_a_deep_level_are_checked,
      fraction_of_bound_is_ignored_for_integers,
      multiples_are_exact_for_integers_and_near_for_floats, lengths_count_code_points,
      only_first_failure_of_length_and_pattern_is_reported,
      pattern_is_not_anchored_and_error_contains_it, match_beyond_time_limit_is_an_error,
      expensive_matches_share_a_time_limit, pattern_that_backtracks_is_matched_in_linear_time,
      enums_in_alternatives_use_the_budget, long_text_passes_a_pattern_with_groups,
      enum_error_lists_supported_values, long_enum_is_found_by_hash,
      long_enum_supports_values_of_any_type, null_is_in_no_enum,
      sizes_of_lists_and_maps_are_checked, unique_items_compares_by_value,
      paths_name_members_elements_and_keys, base_prefixes_fields_only,
      closed_objects_reject_other_members, all_errors_are_reported_at_once,
      any_of_reports_best_matching_branch, one_of_counts_alternatives,
      all_of_reports_every_branch_and_each_error_once, not_rejects_matching_value,
      exponential_branches_exceed_budget, recursive_branch_terminates,
      values_in_errors_match_kubernetes, null_schema_allows_everything)
