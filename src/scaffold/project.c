/* SPDX-License-Identifier: Apache-2.0 */
/*
 * project.c: the PROJECT file as an edit, so that writing keeps unknown content: plugins, fields of
 * later versions. Keys are written in order.
 */
#include "scaffold/project.h"

#include "kc/yaml.h"

static const char COMMENT[] =
    "# What has been scaffolded in this project. 'kc create' and 'kc edit' read and write it.\n";
static const kc_str IMAGES = KC_STR_INIT("deploy-image.c.kubecontroller.io/v1");
static const kc_str LAYOUT = KC_STR_INIT("c.kubecontroller.io/v1");

struct kc__scaffold_project_file {
    kc_edit *edit;
};

/* ---- names ---- */

bool kc__scaffold_names_have(const kc__scaffold_names *names, kc_str name)
{
    for (size_t i = 0; i < names->n; i++)
        if (kc_str_eq(names->items[i], name))
            return true;
    return false;
}

int kc__scaffold_names_add(kc__scaffold_names *names, kc_str name, kc_error *err)
{
    if (kc__scaffold_names_have(names, name))
        return 0;
    if (names->n == KC__SCAFFOLD_MAX_NAMES)
        return kc_error_set(err, KC_TOO_LARGE, "'%.*s': limit of %d reached", KC_ARG(name),
                            KC__SCAFFOLD_MAX_NAMES);
    names->items[names->n++] = name;
    return 0;
}

/* ---- texts of nodes ---- */

static kc_str scaffold_project_text_of(const kc_node *in, const char *name)
{
    return kc_node_as_str(kc_node_get(in, kc_cstr(name)));
}

static void scaffold_project_set_text(kc_edit *edit, kc_node *in, const char *name, kc_str text)
{
    if (text.n)
        kc_node_set(edit, in, kc_cstr(name), kc_node_str(edit, text));
}

static void set_true(kc_edit *edit, kc_node *in, const char *name, bool on)
{
    if (on)
        kc_node_set(edit, in, kc_cstr(name), kc_node_bool(edit, true));
}

static bool scaffold_project_is_true(const kc_node *in, const char *name)
{
    return kc_node_as_bool(kc_node_get(in, kc_cstr(name)), false);
}

/* A list of texts, or of objects with a text member `member`. Entries beyond the limit are ignored
 * and stay in the file. */
static kc__scaffold_names names_of(const kc_node *list, const char *member)
{
    kc__scaffold_names names = {.n = 0};
    kc_node_each_item (list, item) {
        kc_str name = member ? scaffold_project_text_of(item, member) : kc_node_as_str(item);
        if (name.n)
            kc__scaffold_names_add(&names, name, NULL);
    }
    return names;
}

static bool node_has_name(const kc_node *list, const char *member, kc_str name)
{
    kc_node_each_item (list, item) {
        if (kc_str_eq(member ? scaffold_project_text_of(item, member) : kc_node_as_str(item), name))
            return true;
    }
    return false;
}

/* Appends missing ones. */
static void scaffold_project_add_names(kc_edit *edit, kc_node *in, const char *list_name,
                                       const char *member, const kc__scaffold_names *names)
{
    kc_node *list = kc_node_get(in, kc_cstr(list_name));
    if (names->n && kc_node_type(list) != KC_JSON_ARRAY) {
        list = kc_node_array(edit);
        kc_node_set(edit, in, kc_cstr(list_name), list);
    }
    for (size_t i = 0; i < names->n; i++) {
        kc_node *item = member ? kc_node_object(edit) : kc_node_str(edit, names->items[i]);
        if (node_has_name(list, member, names->items[i]))
            continue;
        if (member)
            scaffold_project_set_text(edit, item, member, names->items[i]);
        kc_node_append(list, item);
    }
}

/* ---- the file ---- */

kc__scaffold_project_file *kc__scaffold_project_new(kc_str name, kc_str domain, kc_str repo)
{
    kc__scaffold_project_file *project = kc_new(kc__scaffold_project_file);
    kc_edit *edit = project->edit = kc_edit_new();
    kc_node *root = kc_edit_root(edit), *layout = kc_node_array(edit);
    kc_node_append(layout, kc_node_str(edit, LAYOUT));
    kc_node_set(edit, root, KC_STR("layout"), layout);
    scaffold_project_set_text(edit, root, "projectName", name);
    scaffold_project_set_text(edit, root, "domain", domain);
    scaffold_project_set_text(edit, root, "repo", repo);
    scaffold_project_set_text(edit, root, "version", KC_STR("3"));
    return project;
}

kc__scaffold_project_file *kc__scaffold_project_parse(kc_str text, kc_error *err)
{
    kc_auto(kc_view) *view = kc_yaml_parse(text, NULL, err);
    if (!view) {
        kc_error_wrap(err, "PROJECT");
        return NULL;
    }
    const kc_value *root = kc_view_root(view);
    if (!kc_value_as_str(kc_value_get(root, "projectName")).n ||
        !kc_value_as_str(kc_value_get(root, "domain")).n) {
        kc_error_set(err, KC_INVALID, "projectName or domain is missing in PROJECT");
        return NULL;
    }
    kc__scaffold_project_file *project = kc_new(kc__scaffold_project_file);
    project->edit = kc_edit_of_value(root);
    return project;
}

kc__scaffold_project_file *kc__scaffold_project_file_free(kc__scaffold_project_file *project)
{
    if (!project)
        return NULL;
    kc_edit_free(project->edit);
    free(project);
    return NULL;
}

int kc__scaffold_project_write(const kc__scaffold_project_file *project, kc_buf *out, kc_error *err)
{
    kc_auto(kc_view) *view = kc_edit_view(project->edit, err);
    if (!view)
        return kc_error_result(err);
    kc_buf_puts(out, COMMENT);
    kc_yaml_write(out, kc_view_root(view));
    return 0;
}

kc_str kc__scaffold_project_name(const kc__scaffold_project_file *project)
{
    return scaffold_project_text_of(kc_edit_root(project->edit), "projectName");
}

kc_str kc__scaffold_project_domain(const kc__scaffold_project_file *project)
{
    return scaffold_project_text_of(kc_edit_root(project->edit), "domain");
}

kc_str kc__scaffold_project_repo(const kc__scaffold_project_file *project)
{
    return scaffold_project_text_of(kc_edit_root(project->edit), "repo");
}

bool kc__scaffold_project_multigroup(const kc__scaffold_project_file *project)
{
    return scaffold_project_is_true(kc_edit_root(project->edit), "multigroup");
}

bool kc__scaffold_project_namespaced(const kc__scaffold_project_file *project)
{
    return scaffold_project_is_true(kc_edit_root(project->edit), "namespaced");
}

static void set_switch(kc__scaffold_project_file *project, const char *name, bool on)
{
    kc_node *root = kc_edit_root(project->edit);
    kc_node_remove(root, kc_cstr(name));
    set_true(project->edit, root, name, on);
}

void kc__scaffold_project_set_multigroup(kc__scaffold_project_file *project, bool on)
{
    set_switch(project, "multigroup", on);
}

void kc__scaffold_project_set_namespaced(kc__scaffold_project_file *project, bool on)
{
    set_switch(project, "namespaced", on);
}

/* ---- resources ---- */

static kc_node *resources_of(const kc__scaffold_project_file *project)
{
    return kc_node_get(kc_edit_root(project->edit), KC_STR("resources"));
}

/* ---- images: recorded like kubebuilder's plugin ---- */

static kc_node *images_of(const kc__scaffold_project_file *project)
{
    kc_node *plugins = kc_node_get(kc_edit_root(project->edit), KC_STR("plugins"));
    return kc_node_get(kc_node_get(plugins, IMAGES), KC_STR("resources"));
}

static kc_node *find_image(const kc__scaffold_project_file *project, kc_str group, kc_str version,
                           kc_str kind)
{
    kc_node_each_item (images_of(project), item) {
        if (kc_str_eq(scaffold_project_text_of(item, "group"), group) &&
            kc_str_eq(scaffold_project_text_of(item, "version"), version) &&
            kc_str_eq(scaffold_project_text_of(item, "kind"), kind))
            return item;
    }
    return NULL;
}

static kc__scaffold_image image_of(const kc__scaffold_project_file *project, const kc_node *node)
{
    const kc_node *found = find_image(project, scaffold_project_text_of(node, "group"),
                                      scaffold_project_text_of(node, "version"),
                                      scaffold_project_text_of(node, "kind"));
    const kc_node *options = kc_node_get(found, KC_STR("options"));
    return (kc__scaffold_image){.image = scaffold_project_text_of(options, "image"),
                                .command = scaffold_project_text_of(options, "containerCommand"),
                                .port = scaffold_project_text_of(options, "containerPort"),
                                .user = scaffold_project_text_of(options, "runAsUser")};
}

static void put_image(kc__scaffold_project_file *project, const kc__scaffold_resource *r)
{
    kc_edit *edit = project->edit;
    kc_node *plugins = kc_node_ensure_object(edit, kc_edit_root(edit), KC_STR("plugins"));
    kc_node *plugin = kc_node_ensure_object(edit, plugins, IMAGES);
    kc_node *node = find_image(project, r->group, r->version, r->kind);
    if (kc_node_type(images_of(project)) != KC_JSON_ARRAY)
        kc_node_set(edit, plugin, KC_STR("resources"), kc_node_array(edit));
    if (!node) {
        node = kc_node_object(edit);
        kc_node_append(images_of(project), node);
    }
    scaffold_project_set_text(edit, node, "domain", r->domain);
    scaffold_project_set_text(edit, node, "group", r->group);
    scaffold_project_set_text(edit, node, "version", r->version);
    scaffold_project_set_text(edit, node, "kind", r->kind);
    kc_node *options = kc_node_ensure_object(edit, node, KC_STR("options"));
    scaffold_project_set_text(edit, options, "image", r->image.image);
    scaffold_project_set_text(edit, options, "containerCommand", r->image.command);
    scaffold_project_set_text(edit, options, "containerPort", r->image.port);
    scaffold_project_set_text(edit, options, "runAsUser", r->image.user);
}

/* ---- kinds ---- */

size_t kc__scaffold_project_count(const kc__scaffold_project_file *project)
{
    kc_node *list = resources_of(project);
    return kc_node_type(list) == KC_JSON_ARRAY ? kc_node_len(list) : 0;
}

kc__scaffold_resource kc__scaffold_project_at(const kc__scaffold_project_file *project,
                                              size_t index)
{
    const kc_node *node = kc_node_at(resources_of(project), index);
    const kc_node *api = kc_node_get(node, KC_STR("api"));
    const kc_node *webhooks = kc_node_get(node, KC_STR("webhooks"));
    return (kc__scaffold_resource){
        .group = scaffold_project_text_of(node, "group"),
        .version = scaffold_project_text_of(node, "version"),
        .kind = scaffold_project_text_of(node, "kind"),
        .plural = scaffold_project_text_of(node, "plural"),
        .domain = scaffold_project_text_of(node, "domain"),
        .api = api != NULL,
        .ssa = scaffold_project_is_true(api, "ssa"),
        .cluster_scoped = api && !scaffold_project_is_true(api, "namespaced"),
        .controller = scaffold_project_is_true(node, "controller"),
        .controllers = names_of(kc_node_get(node, KC_STR("controllers")), "name"),
        .defaulting = scaffold_project_is_true(webhooks, "defaulting"),
        .validation = scaffold_project_is_true(webhooks, "validation"),
        .conversion = scaffold_project_is_true(webhooks, "conversion"),
        .defaulting_path = scaffold_project_text_of(webhooks, "defaultingPath"),
        .validation_path = scaffold_project_text_of(webhooks, "validationPath"),
        .spokes = names_of(kc_node_get(webhooks, KC_STR("spoke")), NULL),
        .image = image_of(project, node),
        .core = scaffold_project_is_true(node, "core"),
        .external = scaffold_project_is_true(node, "external"),
        .path = scaffold_project_text_of(node, "path"),
        .module = scaffold_project_text_of(node, "module"),
    };
}

static kc_node *find_node(const kc__scaffold_project_file *project, kc_str group, kc_str version,
                          kc_str kind)
{
    for (size_t i = 0; i < kc__scaffold_project_count(project); i++) {
        kc__scaffold_resource has = kc__scaffold_project_at(project, i);
        if (kc_str_eq(has.group, group) && kc_str_eq(has.version, version) &&
            kc_str_eq(has.kind, kind))
            return kc_node_at(resources_of(project), i);
    }
    return NULL;
}

bool kc__scaffold_project_find(const kc__scaffold_project_file *project, kc_str group,
                               kc_str version, kc_str kind, kc__scaffold_resource *ret)
{
    const kc_node *node = find_node(project, group, version, kind);
    for (size_t i = 0; node && i < kc__scaffold_project_count(project); i++)
        if (kc_node_at(resources_of(project), i) == node)
            *ret = kc__scaffold_project_at(project, i);
    return node != NULL;
}

static kc_node *add_node(kc__scaffold_project_file *project, const kc__scaffold_resource *resource)
{
    kc_edit *edit = project->edit;
    kc_node *list = resources_of(project), *node = kc_node_object(edit);
    if (kc_node_type(list) != KC_JSON_ARRAY) {
        list = kc_node_array(edit);
        kc_node_set(edit, kc_edit_root(edit), KC_STR("resources"), list);
    }
    scaffold_project_set_text(edit, node, "group", resource->group);
    scaffold_project_set_text(edit, node, "version", resource->version);
    scaffold_project_set_text(edit, node, "kind", resource->kind);
    kc_node_append(list, node);
    return node;
}

static void put_api(kc_edit *edit, kc_node *node, const kc__scaffold_resource *resource)
{
    kc_node *api = kc_node_ensure_object(edit, node, KC_STR("api"));
    scaffold_project_set_text(edit, api, "crdVersion", KC_STR("v1"));
    set_true(edit, api, "namespaced", !resource->cluster_scoped);
    set_true(edit, api, "ssa", resource->ssa);
}

static void put_webhooks(kc_edit *edit, kc_node *node, const kc__scaffold_resource *resource)
{
    kc_node *webhooks = kc_node_ensure_object(edit, node, KC_STR("webhooks"));
    scaffold_project_set_text(edit, webhooks, "webhookVersion", KC_STR("v1"));
    set_true(edit, webhooks, "defaulting", resource->defaulting);
    set_true(edit, webhooks, "validation", resource->validation);
    set_true(edit, webhooks, "conversion", resource->conversion);
    scaffold_project_set_text(edit, webhooks, "defaultingPath", resource->defaulting_path);
    scaffold_project_set_text(edit, webhooks, "validationPath", resource->validation_path);
    scaffold_project_add_names(edit, webhooks, "spoke", NULL, &resource->spokes);
}

void kc__scaffold_project_put(kc__scaffold_project_file *project,
                              const kc__scaffold_resource *resource)
{
    kc_edit *edit = project->edit;
    kc_node *node = find_node(project, resource->group, resource->version, resource->kind);
    if (!node)
        node = add_node(project, resource);
    scaffold_project_set_text(edit, node, "domain", resource->domain);
    scaffold_project_set_text(edit, node, "plural", resource->plural);
    set_true(edit, node, "core", resource->core);
    set_true(edit, node, "external", resource->external);
    scaffold_project_set_text(edit, node, "path", resource->path);
    scaffold_project_set_text(edit, node, "module", resource->module);
    if (resource->api)
        put_api(edit, node, resource);
    if (resource->image.image.n)
        put_image(project, resource);
    set_true(edit, node, "controller", resource->controller);
    scaffold_project_add_names(edit, node, "controllers", "name", &resource->controllers);
    if (resource->defaulting || resource->validation || resource->conversion)
        put_webhooks(edit, node, resource);
}
