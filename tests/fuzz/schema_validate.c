/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_validate.c: any JSON as a value of a schema that uses every keyword. The results must
 * agree: no errors means valid, pruned means no unknown field, defaulted means no missing default.
 * Rewriting an object gives the same as these steps on a tree.
 */
#include "fuzzing.h"
#include "rewrite_testing.h"

/* Written with ' for quotes. */
static const char schema_text[] =
    "{'type':'object','required':['s','n'],'properties':{"
    "'s':{'type':'string','minLength':1,'maxLength':9,'pattern':'^(a|b)*[^x]+$'},"
    "'n':{'type':'number','minimum':-5,'maximum':1000.5,'multipleOf':0.5},"
    "'i':{'type':'integer','minimum':0,'exclusiveMinimum':true,'maximum':9,'multipleOf':3},"
    "'p':{'x-kubernetes-int-or-string':true,'default':80},"
    "'e':{'type':'string','enum':['a','b','c','d','e','f','g','h','i','j']},"
    "'k':{'enum':[1,2.5,null,true,{'a':[1]},[]],'x-kubernetes-preserve-unknown-fields':true},"
    "'u':{'type':'array','uniqueItems':true,'minItems':1,'maxItems':5},"
    "'m':{'type':'object','additionalProperties':{'type':'object','default':{'q':1},"
    "'properties':{'q':{'type':'integer','default':7}}},'minProperties':1,'maxProperties':3},"
    "'c':{'type':'object','additionalProperties':false},"
    "'r':{'type':'object','x-kubernetes-embedded-resource':true,"
    "'x-kubernetes-preserve-unknown-fields':true},"
    "'set':{'type':'array','x-kubernetes-list-type':'set','items':{'type':'string','nullable':true"
    "}},"
    "'map':{'type':'array','x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['a','b'],"
    "'items':{'type':'object','properties':{'a':{'type':'string'},'b':{'type':'integer','default':"
    "1}}}},"
    "'one':{'type':'array','x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['a'],"
    "'items':{'type':'object','x-kubernetes-preserve-unknown-fields':true}},"
    "'l':{'type':'object','x-kubernetes-preserve-unknown-fields':true,'anyOf':[{'required':['a']},"
    "{'properties':{'b':{'minimum':3}},'required':['b']}],'oneOf':[{'required':['c']},{'required':["
    "'d']}],'allOf':[{'not':{'required':['z']}},{'maxProperties':4}]},"
    "'f1':{'type':'string','format':'email'},'f2':{'type':'string','format':'uri'},"
    "'f3':{'type':'string','format':'hostname'},'f4':{'type':'string','format':'ipv4'},"
    "'f5':{'type':'string','format':'ipv6'},'f6':{'type':'string','format':'cidr'},"
    "'f7':{'type':'string','format':'mac'},'f8':{'type':'string','format':'uuid4'},"
    "'f9':{'type':'string','format':'isbn'},'f10':{'type':'string','format':'creditcard'},"
    "'f11':{'type':'string','format':'rgbcolor'},'f12':{'type':'string','format':'byte'},"
    "'f13':{'type':'string','format':'date-time'},'f14':{'type':'string','format':'duration'},"
    "'f15':{'type':'string','format':'date'},'f16':{'type':'string','format':'k8s-long-name'},"
    "'f17':{'type':'string','format':'ssn'},'f18':{'type':'string','format':'hexcolor'}}}";

static kc_schema *the_schema(void)
{
    char text[sizeof(schema_text)];
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = schema_text[i] == '\'' ? '"' : schema_text[i];
    kc_auto(kc_view) *view = kc_view_parse(kc_cstr(text), NULL, NULL);
    kc_schema *schema = kc_schema_compile(kc_view_root(view), NULL, NULL);
    assert(schema);
    return schema;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static kc_schema *schema; /* Compiled once, for speed. */
    if (!schema)
        schema = the_schema();
    kc_auto(kc_view) *view = kc_view_parse(kc_str_of((const char *)data, size), NULL, NULL);
    const kc_value *value = kc_view_root(view);
    if (!value)
        return 0;
    kc_scoped(kc_field_errors) errors = {.limit = 50};
    kc_scoped(kc_paths) unknown = {0};
    bool ok = kc_schema_validate(schema, value, NULL, &errors);
    assert(ok == (errors.list.n + errors.dropped == 0));
    kc_schema_validate_lists(schema, value, NULL, &errors);
    assert(kc_schema_would_prune(schema, value, NULL) ==
           (kc_schema_unknown(schema, value, NULL, &unknown) > 0));

    kc_auto(kc_edit) *edit = kc_edit_of_value(value);
    kc_schema_prune(schema, edit, NULL);
    kc_schema_drop_nulls(schema, edit);
    if (kc_schema_default(schema, edit, NULL, NULL) < 0)
        return 0;
    kc_auto(kc_view) *after = kc_edit_view(edit, NULL);
    if (!after)
        return 0;
    assert(!kc_schema_would_prune(schema, kc_view_root(after), NULL));
    assert(!kc_schema_would_drop_nulls(schema, kc_view_root(after)));
    assert(!kc_schema_would_default(schema, kc_view_root(after)));
    kc_auto(kc_object) *object = kc_object_parse(kc_str_of((const char *)data, size), NULL, NULL);
    kc_autofree char *difference = object ? any_rewrite_difference(schema, object, NULL) : NULL;
    if (difference)
        fprintf(stderr, "%s\n", difference);
    assert(!difference);
    return 0;
}
