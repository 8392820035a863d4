/* SPDX-License-Identifier: Apache-2.0 */
/* up_initial.c: a stand-in, until manifests are part of the binary: definitions by their files. */
#include "up.h"

#include "apiserver/serving/files.h"
#include "kc/json.h"
#include "kc/view.h"
#include "kc/yaml.h"

#include <glob.h>

typedef struct application {
    const kc__up *up;
    kc_error *err;
} application;

static int create(kc_view *document, void *user)
{
    const application *a = user;
    kc_auto(kc_view) *view = document;
    kc_scoped(kc_buf) json = {0};
    kc_scoped(kc_error) failed = {0};
    kc_json_write(&json, kc_view_root(view));
    kc_auto(kc_object) *object = kc_object_parse(kc_buf_str(&json), NULL, a->err);
    kc_auto(kc_object) *made =
        object ? kc_client_create(a->up->client, object, NULL, &failed) : NULL;
    if (object && !made && !kc_is_already_exists(&failed))
        return kc_error_move(a->err, &failed);
    return object ? 0 : -1;
}

int kc__up_load_initial(const kc__up *up, kc_error *err)
{
    glob_t found;
    int result = 0;
    application a = {up, err};
    if (glob("manifests/*/*.*_*.yaml", 0, NULL, &found) != 0)
        return 0;
    for (size_t i = 0; i < found.gl_pathc && result == 0; i++) {
        kc_scoped(kc_buf) text = {0};
        result = kc__read_file(found.gl_pathv[i], &text, err);
        if (result == 0)
            result = kc_yaml_each(kc_buf_str(&text), NULL, create, &a, err);
    }
    globfree(&found);
    return result;
}
