/* SPDX-License-Identifier: Apache-2.0 */
/* cel_schema_testing.h: an object with the types of a structural schema, as the variable self. */
#ifndef KC_CEL_SCHEMA_TESTING_H
#define KC_CEL_SCHEMA_TESTING_H

#include "cel_testing.h"

#include "kc/schema.h"

static const char schema_text[] =
    "{'type':'object','required':['name'],'properties':{"
    "'name':{'type':'string','maxLength':10},"
    "'free':{'type':'string'},"
    "'mode':{'type':'string','enum':['a','bbbb']},"
    "'replicas':{'type':'integer'},'maxReplicas':{'type':'integer'},"
    "'ratio':{'type':'number'},"
    "'when':{'type':'string','format':'date-time'},"
    "'day':{'type':'string','format':'date'},"
    "'wait':{'type':'string','format':'duration'},"
    "'data':{'type':'string','format':'byte'},"
    "'port':{'x-kubernetes-int-or-string':true},"
    "'in':{'type':'string'},'a-b.c/d__e':{'type':'string'},"
    "'tags':{'type':'array','maxItems':5,'x-kubernetes-list-type':'set','items':{'type':'string','maxLength':3}},"
    "'items':{'type':'array','x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['k'],"
    "'items':{'type':'object','properties':{'k':{'type':'string'},'v':{'type':'integer'}}}},"
    "'labels':{'type':'object','additionalProperties':{'type':'string'}},"
    "'limits':{'type':'object','maxProperties':4,'additionalProperties':{'type':'integer'}},"
    "'opaque':{'x-kubernetes-preserve-unknown-fields':true},"
    "'maybe':{'type':'string','nullable':true},"
    "'inner':{'type':'object','properties':{'x':{'type':'integer'}}},"
    "'other':{'type':'object','properties':{'x':{'type':'integer'}}}}}";

static const char object_text[] =
    "{'name':'abc','mode':'a','replicas':1,'maxReplicas':2,'ratio':1,"
    "'when':'2020-01-02T03:04:05Z','day':'2020-01-02','wait':'90s','data':'YWJj','port':8080,"
    "'in':'x','a-b.c/d__e':'y','tags':['a','b'],'items':[{'k':'p','v':1},{'k':'q','v':2}],"
    "'labels':{'l':'m'},'limits':{'cpu':3},'opaque':{'z':1},'maybe':null,"
    "'inner':{'x':1},'other':{'x':1}}";

typedef struct typed_self {
    kc_view *view;
    kc_schema *schema;
    kc_cel_types *types;
    cel_setup setup;
} typed_self;

static inline typed_self declare_object(const char *schema, const char *object)
{
    typed_self self = {0};
    kc_autofree char *text = kc_strdup(schema);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    self.view = kc_view_parse(kc_cstr(text), NULL, NULL);
    assert_non_null(self.view);
    self.schema = kc_schema_compile(kc_view_root(self.view), NULL, NULL);
    assert_non_null(self.schema);
    self.types = kc_cel_types_new();
    self.setup.type = kc_cel_types_schema(self.types, self.schema, "self_type", NULL);
    self.setup.json = object;
    assert_non_null(self.setup.type);
    return self;
}

static inline typed_self declare_self(void)
{
    return declare_object(schema_text, object_text);
}

/* Lists that Kubernetes compares and adds in ways of their own. */
static const char lists_schema_text[] =
    "{'type':'object','properties':{"
    "'tags':{'type':'array','x-kubernetes-list-type':'set','items':{'type':'string'}},"
    "'items':{'type':'array','x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['k'],"
    "'items':{'type':'object','properties':{'k':{'type':'string'},'v':{'type':'integer'}}}},"
    "'inner':{'type':'object','properties':{'x':{'type':'integer'}}},"
    "'times':{'type':'array','items':{'type':'string','format':'date-time'}},"
    "'matrix':{'type':'array','items':{'type':'array','items':{'type':'integer'}}},"
    "'ratios':{'type':'array','x-kubernetes-list-type':'set','items':{'type':'number'}},"
    "'pairs':{'type':'array','x-kubernetes-list-type':'set',"
    "'items':{'type':'array','x-kubernetes-list-type':'atomic','items':{'type':'integer'}}},"
    "'reserved':{'type':'array','x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['in'],"
    "'items':{'type':'object','properties':{'in':{'type':'string'},'v':{'type':'integer'}}}},"
    "'ports':{'type':'array','items':{'x-kubernetes-int-or-string':true}},"
    "'none':{'type':'array','items':{'type':'string'}}}}";

static const char lists_object_text[] =
    "{'tags':['a','b'],'items':[{'k':'p','v':1},{'k':'q','v':2}],'inner':{'x':1},"
    "'times':['2020-01-02T03:04:05Z'],'matrix':[[1],[2,3]],'ratios':[1,2.5],'pairs':[[1]],"
    "'reserved':[{'in':'a','v':1},{'in':'b','v':2}],'ports':[80],'none':[]}";

static inline typed_self declare_lists(void)
{
    return declare_object(lists_schema_text, lists_object_text);
}

static inline void release_self(typed_self *self)
{
    kc_cel_types_free(self->types);
    kc_schema_unref(self->schema);
    kc_view_free(self->view);
}

#endif
