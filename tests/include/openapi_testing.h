/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi_testing.h: reads OpenAPI documents.
 *
 *     kc_scoped(fixture) f = builtin();
 *     read_v3(&f, "", "v1");
 *     ASSERT_AT(FIELD("core.v1.ContainerPort", "name.type"), "\"string\"");
 */
#ifndef KC_OPENAPI_TESTING_H
#define KC_OPENAPI_TESTING_H

#include "apiserver/openapi/openapi.h"
#include "kc/json.h"
#include "kc/path.h"
#include "testing.h"

/* A snapshot, what makes its documents, and the last one, parsed. */
typedef struct fixture {
    kc__registry *kinds;
    kc__openapi *openapi;
    kc_view *view;
    kc_buf found;
} fixture;

static inline void fixture_done(fixture *f)
{
    kc_view_free(f->view);
    kc__openapi_free(f->openapi);
    kc__registry_unref(f->kinds);
    kc_buf_done(&f->found);
}

static inline fixture of_kinds(const kc__registry_opts *opts)
{
    return (fixture){.kinds = kc__registry_new(opts), .openapi = kc__openapi_new(NULL)};
}

static inline fixture builtin(void)
{
    return of_kinds(&(kc__registry_opts){.find_type = kc__type_lookup});
}

/* Takes ownership of the reference. */
static inline void read_document(fixture *f, kc__openapi_document *doc)
{
    kc_error err = {0};
    assert_non_null(doc);
    kc_view_free(f->view);
    f->view = kc_view_parse(kc__openapi_body(doc), NULL, &err);
    if (!f->view)
        fail_msg("%s", kc_error_text(&err));
    kc__openapi_document_unref(doc);
}

static inline void read_v3(fixture *f, const char *group, const char *version)
{
    read_document(f, kc__openapi_v3(f->openapi, f->kinds, kc_cstr(group), kc_cstr(version)));
}

static inline void read_v2(fixture *f)
{
    read_document(f, kc__openapi_v2(f->openapi, f->kinds, KC__OPENAPI_JSON));
}

/* JSON of the value at a path of the document; "" if there is none. */
static inline const char *at(fixture *f, const char *text)
{
    kc_error err = {0};
    kc_auto(kc_path) *path = kc_path_parse(kc_cstr(text), &err);
    if (!path)
        fail_msg("%s: %s", text, kc_error_text(&err));
    const kc_value *value = kc_path_get(path, kc_view_root(f->view));
    kc_buf_clear(&f->found);
    if (value)
        kc_json_write(&f->found, value);
    return kc_buf_cstr(&f->found);
}

#define SCHEMA(name) "components.schemas['io.k8s.api." name "']"
#define MAPS         "paths['/api/v1/namespaces/{namespace}/configmaps']"
#define MAP          "paths['/api/v1/namespaces/{namespace}/configmaps/{name}']"
#define FIELD(a, b)  SCHEMA(a) ".properties." b
#define REF(name)    "{\"$ref\":\"#/components/schemas/io.k8s.api." name "\"}"
#define META_REF(of) \
    "{\"$ref\":\"#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1." of "\"}"
#define ASSERT_AT(path, expected) assert_string_equal(at(&f, path), expected)
#define SHARED(name)              "components.schemas['io.k8s.apimachinery.pkg." name "']"

#endif
