/* SPDX-License-Identifier: Apache-2.0 */
#include "schema_testing.h"

#define LIST(rest) "{'type':'object','properties':{'l':{'type':'array'," rest "}}}"
#define SET        LIST("'x-kubernetes-list-type':'set','items':{}")
#define MAP(keys)  LIST("'x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':" keys)

static void duplicate_element_of_set_is_reported(void **state)
{
    (void)state;
    assert_list_errors(SET, "{'l':['a','b']}", "");
    assert_list_errors(SET, "{'l':['a','b','a']}", "l[2]: Duplicate value: \"a\"");
    assert_list_errors(SET, "{'l':[{'a':1,'b':2},{'b':2,'a':1}]}",
                       "l[1]: Duplicate value: {\"a\":1,\"b\":2}");
    assert_list_errors(SET, "{'l':[1,'1',true,null,[1]]}", "");
}

static void third_occurrence_is_not_reported_again(void **state)
{
    (void)state;
    assert_list_errors(SET, "{'l':['a','a','a','b','b']}",
                       "l[1]: Duplicate value: \"a\"\nl[4]: Duplicate value: \"b\"");
}

static void duplicate_key_of_map_is_reported(void **state)
{
    (void)state;
    assert_list_errors(MAP("['side']"), "{'l':[{'side':'left','n':1},{'side':'right'}]}", "");
    assert_list_errors(MAP("['side']"), "{'l':[{'side':'left','n':1},{'side':'left'}]}",
                       "l[1]: Duplicate value: {\"side\":\"left\"}");
    assert_list_errors(MAP("['side']"), "{'l':[{},{'n':1}]}", "l[1]: Duplicate value: {}");
    assert_list_errors(MAP("['side']"), "{'l':[{'side':'1'},{'side':1},{'side':null},{}]}", "");
}

static void keys_of_several_fields_are_combined(void **state)
{
    (void)state;
    const char *schema = MAP("['port','protocol']");
    assert_list_errors(schema, "{'l':[{'port':1,'protocol':'TCP'},{'port':1,'protocol':'UDP'}]}",
                       "");
    assert_list_errors(schema, "{'l':[{'protocol':'TCP','port':1},{'port':1,'protocol':'TCP'}]}",
                       "l[1]: Duplicate value: {\"port\":1,\"protocol\":\"TCP\"}");
    assert_list_errors(schema, "{'l':[{'port':1},null,{'port':1},{}]}",
                       "l[2]: Duplicate value: {\"port\":1}\nl[3]: Duplicate value: {}");
}

static void elements_of_map_must_be_objects(void **state)
{
    (void)state;
    assert_list_errors(MAP("['a']"), "{'l':[{'a':1},5]}",
                       "l[1]: Invalid value: 5: must be an object for an array of list-type map");
}

static void nested_lists_are_checked(void **state)
{
    (void)state;
    assert_list_errors("{'type':'object','properties':{'m':{'type':'object',"
                       "'additionalProperties':{'type':'array','items':{'type':'array',"
                       "'x-kubernetes-list-type':'set'}}}}}",
                       "{'m':{'k':[[1],[2,2]]}}", "m[k][1][1]: Duplicate value: 2");
}

static void duplicates_in_other_lists_are_allowed(void **state)
{
    (void)state;
    assert_list_errors(LIST("'x-kubernetes-list-type':'atomic'"), "{'l':[1,1]}", "");
    assert_list_errors(LIST("'items':{}"), "{'l':[1,1]}", "");
    assert_list_errors(SET, "{'l':'text'}", "");
}

static void long_lists_are_compared_by_hash(void **state)
{
    (void)state;
    kc_scoped(kc_buf) text = {0};
    kc_buf_puts(&text, "{'l':[");
    for (int i = 0; i < 100000; i++)
        kc_buf_printf(&text, "%s{'a':'key-%d'}", i ? "," : "", i == 99999 ? 4711 : i);
    kc_buf_puts(&text, "]}");
    assert_list_errors(MAP("['a']"), kc_buf_cstr(&text),
                       "l[99999]: Duplicate value: {\"a\":\"key-4711\"}");
    assert_list_errors(MAP("['a','b']"), kc_buf_cstr(&text),
                       "l[99999]: Duplicate value: {\"a\":\"key-4711\"}");
}

TESTS(duplicate_element_of_set_is_reported, third_occurrence_is_not_reported_again,
      duplicate_key_of_map_is_reported, keys_of_several_fields_are_combined,
      elements_of_map_must_be_objects, nested_lists_are_checked,
      duplicates_in_other_lists_are_allowed, long_lists_are_compared_by_hash)
