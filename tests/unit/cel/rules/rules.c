/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the rules of schemas. Texts use ' for ". */
#include "testing.h"

#include "kc/cel_rules.h"
#include "kc/thread.h"

static kc_view *parse_quoted(const char *text)
{
    kc_autofree char *json = kc_strdup(text);
    for (char *c = json; *c; c++)
        *c = *c == '\'' ? '"' : *c == '`' ? '\'' : *c;
    kc_scoped(kc_error) err = {0};
    kc_view *view = kc_view_parse(kc_cstr(json), NULL, &err);
    if (!view)
        fail_msg("%s: %s", json, kc_error_text(&err));
    return view;
}

static void write_errors(const kc_field_errors *errors, kc_buf *out)
{
    for (size_t i = 0; i < errors->list.n; i++)
        kc_buf_printf(out, "%s%s: %s", i ? "\n" : "", errors->list.items[i].field,
                      errors->list.items[i].body);
}

typedef struct rules_fixture {
    kc_view *openapi;
    kc_schema *schema;
    kc_cel_rules *rules;
} rules_fixture;

static rules_fixture compile_fixture(const char *openapi)
{
    kc_scoped(kc_error) err = {0};
    rules_fixture f = {.openapi = parse_quoted(openapi)};
    f.schema = kc_schema_compile(kc_view_root(f.openapi), NULL, &err);
    if (!f.schema)
        fail_msg("%s", kc_error_text(&err));
    f.rules = kc_cel_rules_compile(kc_view_root(f.openapi), f.schema, NULL);
    return f;
}

static void rules_fixture_done(rules_fixture *f)
{
    kc_cel_rules_unref(f->rules);
    kc_schema_unref(f->schema);
    kc_view_free(f->openapi);
}

typedef struct rules_row {
    const char *value, *old, *errors;
    const char *warnings; /* Defaults to none. */
} rules_row;

static void assert_row(const rules_fixture *f, const rules_row *row)
{
    kc_scoped(kc_field_errors) errors = {0};
    kc_scoped(kc_paths) warnings = {0};
    kc_scoped(kc_buf) text = {0}, warned = {0};
    kc_auto(kc_view) *value = parse_quoted(row->value);
    kc_auto(kc_view) *old = row->old ? parse_quoted(row->old) : NULL;
    kc_cel_rules_opts opts = {
        .old = old ? kc_view_root(old) : NULL, .ratchets = true, .warnings = &warnings};
    kc_cel_rules_result result =
        kc_cel_rules_validate(f->rules, kc_view_root(value), &opts, &errors);
    write_errors(&errors, &text);
    for (size_t i = 0; i < warnings.n; i++)
        kc_buf_printf(&warned, "%s%s", i ? "\n" : "", warnings.items[i]);
    assert_string_equal(kc_buf_cstr(&text), row->errors);
    assert_string_equal(kc_buf_cstr(&warned), row->warnings ? row->warnings : "");
    assert_int_equal(result, *row->errors ? KC_CEL_RULES_INVALID : KC_CEL_RULES_VALID);
}

static void assert_rows(const char *openapi, const rules_row *rows, size_t n)
{
    kc_scoped(rules_fixture) f = compile_fixture(openapi);
    assert_non_null(f.rules);
    for (size_t i = 0; i < n; i++)
        assert_row(&f, &rows[i]);
}

#define ASSERT_ROWS(openapi, rows) assert_rows(openapi, rows, KC_COUNT(rows))

/* ---- evaluation ---- */

static void schema_without_rules_compiles_to_nothing(void **state)
{
    (void)state;
    kc_scoped(rules_fixture) f = compile_fixture("{'type':'object'}");
    assert_null(f.rules);
}

static void broken_rules_are_reported_at_every_level(void **state)
{
    (void)state;
    static const rules_row rows[] = {
        {"{'a':1,'b':2}", NULL, ""},
        {"{'a':3,'b':2}", NULL, "<nil>: Invalid value: \"object\": failed rule: self.a < self.b"},
        {"{'a':3}", NULL,
         "<nil>: Invalid value: \"object\": no such key: b evaluating rule: self.a < self.b"},
        {"{'a':1,'b':2,'list':['x','yy']}", NULL, "list[1]: Invalid value: \"string\": too long"},
        {"{'a':1,'b':2,'map':{'k':5}}", NULL, "map[k]: Invalid value: \"integer\": 5 is too much"},
        {"{'a':1,'b':2,'in':{'x':1}}", NULL, "in.x: Forbidden: no x"},
        {"{'a':1,'b':2,'none':null}", NULL, ""},
        {"{'a':1,'b':2,'none':'a'}", NULL, "none: Required value: failed rule: false"},
        {"{'a':1,'b':2,'two':'a'}", NULL, "two: Duplicate value: \"string\""},
    };
    ASSERT_ROWS(
        "{'type':'object','x-kubernetes-validations':[{'rule':'self.a < self.b'}],'properties':{"
        "'a':{'type':'integer'},'b':{'type':'integer'},"
        "'list':{'type':'array','items':{'type':'string','x-kubernetes-validations':[{'rule':"
        "'self.size() < 2','message':' too long '}]}},"
        "'map':{'type':'object','additionalProperties':{'type':'integer',"
        "'x-kubernetes-validations':[{'rule':'self < 4','messageExpression':'string(self) + ` is "
        "too much`'}]}},"
        "'in':{'type':'object','properties':{'x':{'type':'integer'}},'x-kubernetes-validations':[{"
        "'rule':'!has(self.x)','message':'no x','reason':'FieldValueForbidden','fieldPath':'.x'}]},"
        "'none':{'type':'string','nullable':true,'x-kubernetes-validations':[{'rule':'false',"
        "'reason':'FieldValueRequired'}]},"
        "'two':{'type':'string','x-kubernetes-validations':[{'rule':'false','reason':"
        "'FieldValueDuplicate'}]}}}",
        rows);
}

static void root_rules_see_names_of_metadata(void **state)
{
    (void)state;
    static const rules_row rows[] = {
        {"{'metadata':{'name':'ab'}}", NULL, ""},
        {"{'metadata':{'name':'b','labels':{}}}", NULL,
         "<nil>: Invalid value: \"object\": failed rule: self.metadata.name.startsWith('a')"},
        {"{'metadata':{'name':'a'},'pod':{'kind':'Pod','apiVersion':'v1','metadata':{'name':'p'}}}",
         NULL, ""},
        {"{'metadata':{'name':'a'},'pod':{'kind':'Pod','apiVersion':'v1','metadata':{'name':'q'}}}",
         NULL, "pod: Invalid value: \"object\": no p"},
    };
    ASSERT_ROWS(
        "{'type':'object','x-kubernetes-validations':[{'rule':'self.metadata.name.startsWith(`a`)'"
        "}],'properties':{'pod':{'type':'object','x-kubernetes-embedded-resource':true,"
        "'x-kubernetes-preserve-unknown-fields':true,'x-kubernetes-validations':[{'rule':"
        "'self.kind == `Pod` && self.metadata.name == `p`','message':'no p'}]}}}",
        rows);
}

static void transition_rules_run_for_values_with_a_counterpart(void **state)
{
    (void)state;
    static const rules_row rows[] = {
        {"{'a':'x','o':'y'}", NULL, ""},
        {"{'a':'x'}", "{'a':'y'}", "a: Invalid value: \"string\": immutable"},
        {"{'a':'x'}", "{'b':'y'}", ""},
        {"{'l':[{'k':'a','v':1},{'k':'b','v':2}]}", "{'l':[{'k':'b','v':3},{'k':'a','v':1}]}",
         "l[1]: Invalid value: \"object\": shrinks"},
        {"{'l':[{'k':'c','v':1}]}", "{'l':[{'k':'b','v':3}]}", ""},
        {"{'m':{'x':1}}", "{'m':{'x':2}}", "m[x]: Invalid value: \"integer\": less"},
        {"{'o':'bad'}", NULL, "o: Invalid value: \"string\": not at first"},
        {"{'o':'bad'}", "{'o':'good'}", ""},
    };
    ASSERT_ROWS(
        "{'type':'object','properties':{"
        "'a':{'type':'string','x-kubernetes-validations':[{'rule':'self == oldSelf','message':"
        "'immutable'}]},'b':{'type':'string'},"
        "'l':{'type':'array','x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['k'],"
        "'items':{'type':'object','properties':{'k':{'type':'string'},'v':{'type':'integer'}},"
        "'x-kubernetes-validations':[{'rule':'self.v >= oldSelf.v','message':'shrinks'}]}},"
        "'m':{'type':'object','additionalProperties':{'type':'integer','x-kubernetes-validations':"
        "[{'rule':'self >= oldSelf','message':'less'}]}},"
        "'o':{'type':'string','x-kubernetes-validations':[{'rule':'oldSelf.hasValue() || self != "
        "`bad`','optionalOldSelf':true,'message':'not at first'}]}}}",
        rows);
}

static void unchanged_values_keep_their_errors_as_warnings(void **state)
{
    (void)state;
    static const rules_row rows[] = {
        {"{'s':{'a':'x','b':2}}", "{'s':{'a':'x','b':1}}", "",
         "s.a: Invalid value: \"string\": no x"},
        {"{'s':{'a':'x'}}", "{'s':{'a':'y'}}", "s.a: Invalid value: \"string\": no x"},
        {"{'l':['x','y'],'s':{'b':1}}", "{'l':['x','y']}", "",
         "l[0]: Invalid value: \"string\": no x"},
        {"{'l':['x','z']}", "{'l':['x','y']}", "l[0]: Invalid value: \"string\": no x"},
        {"{'k':[{'n':'a','v':1},{'n':'b','v':2}]}", "{'k':[{'n':'b','v':3},{'n':'a','v':1}]}", "",
         "k[0]: Invalid value: \"object\": small"},
        {"{'k':[{'n':'b','v':3},{'n':'a','v':1}],'s':{}}",
         "{'k':[{'n':'a','v':1},{'n':'b','v':3}]}", "", "k[1]: Invalid value: \"object\": small"},
        /* A member without a schema makes the object different. */
        {"{'f':{'p':1,'q':2}}", "{'f':{'p':1,'q':2}}", "f: Invalid value: \"object\": small"},
        {"{'f':{'p':1}}", "{'f':{'p':1}}", "", "f: Invalid value: \"object\": small"},
    };
    ASSERT_ROWS(
        "{'type':'object','properties':{'s':{'type':'object','properties':{'a':{'type':'string',"
        "'x-kubernetes-validations':[{'rule':'self != `x`','message':'no x'}]},'b':{'type':"
        "'integer'}}},"
        "'l':{'type':'array','items':{'type':'string','x-kubernetes-validations':[{'rule':'self != "
        "`x`','message':'no x'}]}},"
        "'k':{'type':'array','x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['n'],"
        "'items':{'type':'object','properties':{'n':{'type':'string'},'v':{'type':'integer'}},"
        "'x-kubernetes-validations':[{'rule':'self.v > 1','message':'small'}]}},"
        "'f':{'type':'object','x-kubernetes-preserve-unknown-fields':true,'properties':{'p':{"
        "'type':'integer'}},'x-kubernetes-validations':[{'rule':'self.p > 1','message':'small'}]}}"
        "}",
        rows);
}

static void unusable_messages_leave_that_of_the_rule(void **state)
{
    (void)state;
    static const rules_row rows[] = {
        {"{'m':''}", NULL, "<nil>: Invalid value: \"object\": failed rule: false"},
        {"{'m':'a\\nb'}", NULL, "<nil>: Invalid value: \"object\": failed rule: false"},
        {"{}", NULL, "<nil>: Invalid value: \"object\": failed rule: false"},
        {"{'m':'  x '}", NULL, "<nil>: Invalid value: \"object\": x"},
    };
    ASSERT_ROWS("{'type':'object','x-kubernetes-validations':[{'rule':'false','messageExpression':"
                "'self.m'}],'properties':{'m':{'type':'string'}}}",
                rows);
}

/* ---- budgets ---- */

static const char quadratic_schema[] =
    "{'type':'object','properties':{'l':{'type':'array','items':{'type':'integer'},"
    "'x-kubernetes-validations':[{'rule':'self.all(x, self.all(y, x == x && y == y))'}]},"
    "'m':{'type':'array','items':{'type':'array','items':{'type':'integer'},"
    "'x-kubernetes-validations':[{'rule':'self.all(x, self.all(y, x == x && y == y))'}]}}}}";

static void append_numbers(kc_buf *out, size_t n)
{
    kc_buf_putc(out, '[');
    for (size_t i = 0; i < n; i++)
        kc_buf_printf(out, "%s%zu", i ? "," : "", i);
    kc_buf_putc(out, ']');
}

static void evaluation_beyond_its_limit_ends_validation(void **state)
{
    (void)state;
    kc_scoped(rules_fixture) f = compile_fixture(quadratic_schema);
    kc_scoped(kc_buf) json = {0}, text = {0};
    kc_scoped(kc_field_errors) errors = {0};
    kc_buf_puts(&json, "{\"l\":");
    append_numbers(&json, 1000);
    kc_buf_putc(&json, '}');
    kc_auto(kc_view) *value = kc_view_parse(kc_buf_str(&json), NULL, NULL);
    assert_int_equal(kc_cel_rules_validate(f.rules, kc_view_root(value), NULL, &errors),
                     KC_CEL_RULES_INVALID);
    write_errors(&errors, &text);
    assert_string_equal(
        kc_buf_cstr(&text),
        "l: Invalid value: \"array\": 'operation cancelled: actual cost limit exceeded': no "
        "further validation rules will be run due to call cost exceeds limit for rule: "
        "self.all(x, self.all(y, x == x && y == y))");
}

static void object_beyond_its_budget_ends_validation(void **state)
{
    (void)state;
    kc_scoped(rules_fixture) f = compile_fixture(quadratic_schema);
    kc_scoped(kc_buf) json = {0};
    kc_scoped(kc_field_errors) errors = {0};
    kc_buf_puts(&json, "{\"m\":[");
    for (int i = 0; i < 30; i++) {
        kc_buf_puts(&json, i ? "," : "");
        append_numbers(&json, 300);
    }
    kc_buf_puts(&json, "]}");
    kc_auto(kc_view) *value = kc_view_parse(kc_buf_str(&json), NULL, NULL);
    int64_t budget = KC_CEL_OBJECT_COST_MAX;
    kc_cel_rules_opts opts = {.budget = &budget};
    assert_int_equal(kc_cel_rules_validate(f.rules, kc_view_root(value), &opts, &errors),
                     KC_CEL_RULES_INVALID);
    assert_int_equal(budget, -1);
    assert_int_equal(errors.list.n, 1);
    assert_string_equal(errors.list.items[0].body,
                        "Invalid value: \"array\": validation failed due to running out of cost "
                        "budget, no further validation rules will be run");
}

static void validation_stops_at_the_cost_that_the_caller_sets(void **state)
{
    (void)state;
    kc_scoped(rules_fixture) f = compile_fixture(quadratic_schema);
    kc_scoped(kc_field_errors) errors = {0};
    kc_auto(kc_view) *value = parse_quoted("{'l':[1,2,3,4,5,6,7,8]}");
    kc_cel_rules_opts opts = {.stop_at = 100};
    assert_int_equal(kc_cel_rules_validate(f.rules, kc_view_root(value), &opts, &errors),
                     KC_CEL_RULES_UNFINISHED);
    opts.stop_at = 5000;
    assert_int_equal(kc_cel_rules_validate(f.rules, kc_view_root(value), &opts, &errors),
                     KC_CEL_RULES_VALID);
}

/* ---- checks ---- */

static void check_into(const char *openapi, const kc_cel_rules_check_opts *opts, kc_buf *out)
{
    kc_scoped(rules_fixture) f = compile_fixture(openapi);
    kc_scoped(kc_field_errors) errors = {0};
    kc_cel_rules_check(kc_view_root(f.openapi), f.schema, opts, &errors);
    write_errors(&errors, out);
}

static void assert_check(const char *openapi, const char *expected)
{
    kc_scoped(kc_buf) text = {0};
    check_into(openapi, &(kc_cel_rules_check_opts){.base = "s"}, &text);
    assert_string_equal(kc_buf_cstr(&text), expected);
}

#define RULES(rules) "'x-kubernetes-validations':[" rules "]"

static void invalid_expressions_are_reported_with_their_rule(void **state)
{
    (void)state;
    assert_check("{'type':'object'," RULES("{'rule':'self.a'}") "}",
                 "s.x-kubernetes-validations[0].rule: Invalid value: {\"Rule\":\"self.a\","
                 "\"Message\":\"\",\"MessageExpression\":\"\",\"Reason\":null,\"FieldPath\":\"\","
                 "\"OptionalOldSelf\":null}: compilation failed: ERROR: <input>:1:5: undefined "
                 "field 'a'\n | self.a\n | ....^");
    assert_check("{'type':'object'," RULES("{'rule':'1'}") "}",
                 "s.x-kubernetes-validations[0].rule: Invalid value: {\"Rule\":\"1\",\"Message\":"
                 "\"\",\"MessageExpression\":\"\",\"Reason\":null,\"FieldPath\":\"\","
                 "\"OptionalOldSelf\":null}: cel expression must evaluate to a bool");
    assert_check("{'type':'object'," RULES("{'rule':'true','messageExpression':'1'}") "}",
                 "s.x-kubernetes-validations[0].messageExpression: Invalid value: {\"Rule\":"
                 "\"true\",\"Message\":\"\",\"MessageExpression\":\"1\",\"Reason\":null,"
                 "\"FieldPath\":\"\",\"OptionalOldSelf\":null}: messageExpression must evaluate to "
                 "a string");
}

static void old_self_needs_a_counterpart(void **state)
{
    (void)state;
    assert_check("{'type':'object','properties':{'l':{'type':'array','maxItems':5,'items':{'type':"
                 "'string','maxLength':5," RULES("{'rule':'self == oldSelf'}") "}}}}",
                 "s.properties[l].items.x-kubernetes-validations[0].rule: Invalid value: \"self == "
                 "oldSelf\": oldSelf cannot be used on the uncorrelatable portion of the schema "
                 "within s.properties[l]");
    assert_check("{'type':'object'," RULES("{'rule':'true','optionalOldSelf':true}") "}",
                 "s.x-kubernetes-validations[0].optionalOldSelf: Invalid value: true: may not be "
                 "set if oldSelf is not used in rule");
}

static void costs_are_limited(void **state)
{
    (void)state;
    assert_check(
        "{'type':'object','properties':{'l':{'type':'array','items':{'type':'string'," RULES(
            "{'rule':'self.contains(`a`)'}") "}}}}",
        "s.properties[l].items.x-kubernetes-validations[0].rule: Forbidden: estimated rule "
        "cost exceeds budget by factor of more than 100x (try simplifying the rule, or "
        "adding maxItems, maxProperties, and maxLength where arrays, maps, and strings "
        "are declared)\n"
        "s.properties[l].items.x-kubernetes-validations[0].rule: Forbidden: contributed "
        "to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema\n"
        "s: Forbidden: x-kubernetes-validations estimated rule cost total for entire "
        "OpenAPIv3 schema exceeds budget by factor of more than 100x (try simplifying the "
        "rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and "
        "strings are declared)");
    assert_check("{'type':'object','properties':{'l':{'type':'array','maxItems':100,'items':{"
                 "'type':'string','maxLength':100," RULES("{'rule':'self.contains(`a`)'}") "}}}}",
                 "");
}

static void new_expressions_lack_the_newest_functions(void **state)
{
    (void)state;
    static const char schema[] =
        "{'type':'object','properties':{'l':{'type':'array','maxItems':3,"
        "'items':{'type':'integer'}}}," RULES("{'rule':'self.l.sort() == self.l'}") "}";
    kc_scoped(kc_buf) fresh = {0}, stored = {0};
    kc_scoped(kc_map) rules = {0};
    kc_map_put(&rules, KC_STR("self.l.sort() == self.l"), &rules);
    check_into(schema, &(kc_cel_rules_check_opts){.base = "s"}, &fresh);
    check_into(schema, &(kc_cel_rules_check_opts){.base = "s", .stored_rules = &rules}, &stored);
    assert_non_null(strstr(kc_buf_cstr(&fresh), "undeclared reference to 'sort'"));
    assert_string_equal(kc_buf_cstr(&stored), "");
}

static void errors_of_the_schema_hide_rules_around_them(void **state)
{
    (void)state;
    kc_scoped(rules_fixture) f =
        compile_fixture("{'type':'object','properties':{'a':{'type':'object'," RULES(
            "{'rule':'self.x'}") "},'b':{'type':'object'," RULES("{'rule':'self.x'}") "}}}");
    kc_scoped(kc_field_errors) errors = {0};
    kc_field_errors_add(&errors, KC_FIELD_FORBIDDEN, "s.properties[a].type", (kc_str){0}, "no");
    kc_cel_rules_check(kc_view_root(f.openapi), f.schema, &(kc_cel_rules_check_opts){.base = "s"},
                       &errors);
    assert_int_equal(errors.list.n, 2);
    assert_string_equal(errors.list.items[1].field,
                        "s.properties[b].x-kubernetes-validations[0].rule");
}

static void rules_beyond_their_memory_are_refused(void **state)
{
    (void)state;
    kc_scoped(kc_buf) json = {0}, text = {0};
    kc_buf_puts(&json, "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\","
                       "\"maxLength\":5}},\"x-kubernetes-validations\":[");
    for (int i = 0; i < 400; i++)
        kc_buf_printf(&json, "%s{\"rule\":\"self.a.matches('(x%dab){900}')\"}", i ? "," : "", i);
    kc_buf_puts(&json, "]}");
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&json), NULL, NULL);
    kc_auto(kc_schema) *schema = kc_schema_compile(kc_view_root(view), NULL, NULL);
    kc_auto(kc_cel_rules) *rules = kc_cel_rules_compile(kc_view_root(view), schema, NULL);
    assert_true(kc_cel_rules_memory(rules) < 2 * (size_t)KC_CEL_RULES_MEMORY_MAX);
    kc_scoped(kc_field_errors) errors = {0};
    assert_false(kc_cel_rules_check(kc_view_root(view), schema, NULL, &errors));
    assert_non_null(strstr(errors.list.items[errors.list.n - 1].body, "exceed 16 MiB of memory"));
}

/* ---- threads ---- */

typedef struct shared_rules {
    const kc_cel_rules *rules;
    const kc_value *value;
    _Atomic int failures;
} shared_rules;

static void validate_repeatedly(void *user)
{
    shared_rules *shared = user;
    for (int i = 0; i < 200; i++) {
        kc_scoped(kc_field_errors) errors = {0};
        shared->failures += kc_cel_rules_validate(shared->rules, shared->value, NULL, &errors) !=
                            KC_CEL_RULES_VALID;
    }
}

static void threads_share_compiled_rules(void **state)
{
    (void)state;
    kc_scoped(rules_fixture) f = compile_fixture(
        "{'type':'object','properties':{'a':{'type':'string'},'b':{'type':'array','items':{'type':"
        "'string'}}}," RULES("{'rule':'self.a.matches(`^[a-z]+$`)'},{'rule':'self.b.all(x, "
                             "x.matches(`^(x|y)$`))'}") "}");
    kc_auto(kc_view) *value = parse_quoted("{'a':'abc','b':['x','y']}");
    shared_rules shared = {.rules = f.rules, .value = kc_view_root(value)};
    kc_thread *threads[4];
    for (size_t i = 0; i < KC_COUNT(threads); i++)
        threads[i] = kc_thread_start("rules", validate_repeatedly, &shared, NULL);
    for (size_t i = 0; i < KC_COUNT(threads); i++)
        kc_thread_join(threads[i]);
    assert_int_equal(shared.failures, 0);
}

TESTS(schema_without_rules_compiles_to_nothing, broken_rules_are_reported_at_every_level,
      root_rules_see_names_of_metadata, transition_rules_run_for_values_with_a_counterpart,
      unchanged_values_keep_their_errors_as_warnings, unusable_messages_leave_that_of_the_rule,
      evaluation_beyond_its_limit_ends_validation, object_beyond_its_budget_ends_validation,
      validation_stops_at_the_cost_that_the_caller_sets,
      invalid_expressions_are_reported_with_their_rule, old_self_needs_a_counterpart,
      costs_are_limited, new_expressions_lack_the_newest_functions,
      errors_of_the_schema_hide_rules_around_them, rules_beyond_their_memory_are_refused,
      threads_share_compiled_rules)
