/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.c: the table of config file keys, and the code that reads the file.
 *
 * The table defines each key: its path, its type, its default. To add a key: a field in
 * app_config.h with its default in the comment, a row here, a line in configs/kubecontroller.yaml.
 * Reading has two passes: all keys of the file must be in the table (an unknown key is an error),
 * then the table's rows take their values. One section is not in the table, `reconcilers`: see
 * settings.c.
 */
#include "app/app_internal.h"

#include "kc/arena.h"
#include "kc/duration.h"
#include "kc/file.h"
#include "kc/yaml.h"

#include <stddef.h>

typedef enum key_type { TEXT, SWITCH, NUMBER, DURATION, LIST } key_type;

typedef struct key {
    const char *path;
    key_type type;
    size_t offset;
    const char *initial; /* As YAML. */
    const char *values;  /* For a text: allowed values, separated by spaces. */
    int least, most;     /* Range of a number, or of a duration in seconds. */
} key;

#define AT(field) offsetof(kc_app_config, field)
#define MANAGER   "reconcilermgr."
#define LEASE     MANAGER "leader-elect-"
#define SERVER    "apiextmgr.gin.server."
#define INSECURE  "apiextmgr.gin.insecure."
#define SECURE    "apiextmgr.gin.secure."
#define SETTINGS  "reconcilers"

static const key keys[] = {
    {MANAGER "metrics-bind-address", TEXT, AT(manager.metrics_address), ":18001"},
    {MANAGER "health-probe-bind-address", TEXT, AT(manager.health_address), ":18002"},
    {MANAGER "concurrence", NUMBER, AT(manager.concurrence), "1", .least = 1, .most = 1000},
    {MANAGER "apiserver-enabled", SWITCH, AT(manager.apiserver_enabled), "true"},
    {MANAGER "kubeconfig", TEXT, AT(manager.kubeconfig), ""},
    {MANAGER "controllers", LIST, AT(manager.reconcilers), "*"},
    {MANAGER "leader-elect", SWITCH, AT(manager.leader_elect), "false"},
    {MANAGER "leader-elect-namespace", TEXT, AT(manager.lease_namespace), "default"},
    {LEASE "lease-duration", DURATION, AT(manager.lease_duration), "15s", .least = 1, .most = 3600},
    {LEASE "renew-deadline", DURATION, AT(manager.lease_renew), "10s", .most = 3600},
    {LEASE "retry-period", DURATION, AT(manager.lease_retry), "2s", .most = 3600},
    {SERVER "mode", TEXT, AT(apiext.mode), "release", .values = "release debug test"},
    {SERVER "healthz", SWITCH, AT(apiext.healthz), "true"},
    {SERVER "middlewares", LIST, AT(apiext.middlewares), NULL},
    {SERVER "max-ping-count", NUMBER, AT(apiext.max_ping_count), "3", .most = 1000},
    {INSECURE "bind-address", TEXT, AT(apiext.insecure_address), "127.0.0.1"},
    {INSECURE "bind-port", NUMBER, AT(apiext.insecure_port), "9080", .most = 65535},
    {SECURE "bind-address", TEXT, AT(apiext.secure_address), "127.0.0.1"},
    {SECURE "bind-port", NUMBER, AT(apiext.secure_port), "9443", .most = 65535},
    {SECURE "tls.cert-file", TEXT, AT(apiext.cert_file), ""},
    {SECURE "tls.private-key-file", TEXT, AT(apiext.key_file), ""},
    {"log.name", TEXT, AT(log.name), ""},
    {"log.development", SWITCH, AT(log.development), "false"},
    {"log.level", TEXT, AT(log.level), "info", .values = "error warn info debug"},
    {"log.format", TEXT, AT(log.format), "console", .values = "console json"},
    {"log.enable-color", SWITCH, AT(log.colour), "false"},
    {"log.disable-caller", SWITCH, AT(log.no_caller), "true"},
    {"log.disable-stacktrace", SWITCH, AT(log.no_stacktrace), "true"},
    {"log.output-paths", LIST, AT(log.output_paths), "stderr"},
    {"log.error-output-paths", LIST, AT(log.error_output_paths), "stderr"},
};

enum { MAX_FILE = 1 << 20 };

typedef struct app_config_reading {
    kc_str text;
    kc_app_config *config;
    kc_arena *arena;
} app_config_reading;

/* ---- errors ---- */

/* "line 3: log.levle: …" */
static int app_config_wrong(const app_config_reading *r, const char *path, kc_error *err,
                            const char *fmt, ...) KC_PRINTF(4, 5);
static int app_config_wrong(const app_config_reading *r, const char *path, kc_error *err,
                            const char *fmt, ...)
{
    kc_scoped(kc_buf) what = {0};
    va_list args;
    va_start(args, fmt);
    kc_buf_vprintf(&what, fmt, args);
    va_end(args);
    const size_t line = kc_yaml_line_of(r->text, path);
    if (!line)
        return kc_error_set(err, KC_INVALID, "%s: %s", path, kc_buf_cstr(&what));
    return kc_error_set(err, KC_INVALID, "line %zu: %s: %s", line, path, kc_buf_cstr(&what));
}

/* ---- unknown keys ---- */

/* The name that follows `prefix` in a key's path: "level" of "log.level" behind "log.". */
static kc_str name_behind(const char *path, kc_str prefix)
{
    kc_str rest = kc_cstr(path);
    if (!kc_str_starts(rest, prefix))
        return (kc_str){0};
    rest = kc_str_sub(rest, prefix.n, rest.n);
    return kc_str_cut(&rest, '.');
}

static const char *nearest_name(const app_config_reading *r, kc_str typed, kc_str prefix)
{
    const char *names[KC_COUNT(keys) + 1];
    size_t n = 0;
    if (!prefix.n)
        names[n++] = SETTINGS;
    for (size_t i = 0; i < KC_COUNT(keys); i++) {
        const kc_str name = name_behind(keys[i].path, prefix);
        if (name.p)
            names[n++] = kc_arena_strndup(r->arena, name.p, name.n);
    }
    return kc_str_nearest(typed, names, n);
}

static int unknown_key(const app_config_reading *r, const char *path, kc_str name, kc_str prefix,
                       kc_error *err)
{
    const char *nearest = nearest_name(r, name, prefix);
    return app_config_wrong(r, path, err, "unknown key%s%s%s", nearest ? "; did you mean \"" : "",
                            nearest ? nearest : "", nearest ? "\"?" : "");
}

typedef enum key_place { NOWHERE, ABOVE_KEYS, IS_KEY } key_place;

static key_place app_config_position_of(kc_str path)
{
    if (kc_str_is(path, SETTINGS))
        return IS_KEY;
    for (size_t i = 0; i < KC_COUNT(keys); i++) {
        const kc_str known = kc_cstr(keys[i].path);
        if (kc_str_eq(known, path))
            return IS_KEY;
        if (kc_str_starts(known, path) && known.p[path.n] == '.')
            return ABOVE_KEYS;
    }
    return NOWHERE;
}

/* Not deeper than the table: unknown subtrees are not visited. */
static int check_members(const app_config_reading *r, const kc_value *value, kc_str prefix,
                         kc_error *err)
{
    kc_value_each_member (value, name, member) {
        kc_scoped(kc_buf) path = {0};
        kc_buf_append(&path, prefix);
        kc_buf_append(&path, name);
        const key_place place = app_config_position_of(kc_buf_str(&path));
        if (place == NOWHERE)
            return unknown_key(r, kc_buf_cstr(&path), name, prefix, err);
        if (place == IS_KEY || kc_value_type(member) == KC_JSON_NULL)
            continue;
        if (kc_value_type(member) != KC_JSON_OBJECT)
            return app_config_wrong(r, kc_buf_cstr(&path), err,
                                    "must contain further keys, not a value");
        kc_buf_putc(&path, '.');
        if (check_members(r, member, kc_buf_str(&path), err) < 0)
            return kc_error_result(err);
    }
    return 0;
}

/* ---- values ---- */

static bool app_config_is_one_of(kc_str text, const char *values)
{
    kc_str rest = kc_cstr(values);
    while (rest.p)
        if (kc_str_eq(kc_str_cut(&rest, ' '), text))
            return true;
    return false;
}

static int app_config_set_text(const app_config_reading *r, const key *k, const kc_value *value,
                               void *field, kc_error *err)
{
    const kc_str text = kc_value_as_str(value);
    if (!text.p)
        return app_config_wrong(r, k->path, err, "must be a string, quoted if necessary");
    if (k->values && !app_config_is_one_of(text, k->values))
        return app_config_wrong(r, k->path, err, "\"%.*s\" is not one of: %s", KC_ARG(text),
                                k->values);
    *(const char **)field = kc_arena_strndup(r->arena, text.p, text.n);
    return 0;
}

static int set_switch(const app_config_reading *r, const key *k, const kc_value *value, void *field,
                      kc_error *err)
{
    if (kc_value_type(value) != KC_JSON_BOOL)
        return app_config_wrong(r, k->path, err, "must be true or false");
    *(bool *)field = kc_value_as_bool(value, false);
    return 0;
}

static int set_number(const app_config_reading *r, const key *k, const kc_value *value, void *field,
                      kc_error *err)
{
    int64_t number;
    if (!kc_value_as_i64(value, &number) || number < k->least || number > k->most)
        return app_config_wrong(r, k->path, err, "must be a number from %d to %d", k->least,
                                k->most);
    *(int *)field = (int)number;
    return 0;
}

static int set_duration(const app_config_reading *r, const key *k, const kc_value *value,
                        void *field, kc_error *err)
{
    int64_t ns;
    const kc_str text = kc_value_as_str(value);
    if (!text.p || kc_duration_parse(text, &ns, NULL) < 0 || ns <= 0 || ns < k->least * KC_SECOND ||
        ns > k->most * KC_SECOND)
        return app_config_wrong(r, k->path, err,
                                "must be a duration from %d to %d seconds, "
                                "such as %s",
                                k->least, k->most, k->initial);
    *(int64_t *)field = ns;
    return 0;
}

static int set_list(const app_config_reading *r, const key *k, const kc_value *value, void *field,
                    kc_error *err)
{
    const char **items = kc_arena_alloc(r->arena, (kc_value_len(value) + 1) * sizeof(*items));
    size_t n = 0;
    if (kc_value_type(value) != KC_JSON_ARRAY)
        return app_config_wrong(r, k->path, err, "must be a list of strings");
    kc_value_each_item (value, item) {
        const kc_str text = kc_value_as_str(item);
        if (kc_str_empty(text))
            return app_config_wrong(r, k->path, err, "item %zu is not a string", n + 1);
        items[n++] = kc_arena_strndup(r->arena, text.p, text.n);
    }
    items[n] = NULL;
    *(const char *const **)field = items;
    return 0;
}

static int set_value(const app_config_reading *r, const key *k, const kc_value *value,
                     kc_error *err)
{
    static int (*const set[])(const app_config_reading *, const key *, const kc_value *, void *,
                              kc_error *) = {[TEXT] = app_config_set_text,
                                             [SWITCH] = set_switch,
                                             [NUMBER] = set_number,
                                             [DURATION] = set_duration,
                                             [LIST] = set_list};
    return set[k->type](r, k, value, (char *)r->config + k->offset, err);
}

static void set_default(const app_config_reading *r, const key *k)
{
    void *field = (char *)r->config + k->offset;
    int64_t number = 0;
    switch (k->type) {
    case TEXT: *(const char **)field = k->initial; break;
    case SWITCH: *(bool *)field = !strcmp(k->initial, "true"); break;
    case NUMBER:
        kc_str_to_i64(kc_cstr(k->initial), &number);
        *(int *)field = (int)number;
        break;
    case DURATION: kc_duration_parse(kc_cstr(k->initial), field, NULL); break;
    case LIST: {
        const char **items = kc_arena_alloc(r->arena, 2 * sizeof(*items));
        items[0] = k->initial;
        items[1] = NULL;
        *(const char *const **)field = items;
        break;
    }
    }
}

/* ---- consistency ---- */

/* The rules of election.h. */
static int check_lease(const app_config_reading *r, kc_error *err)
{
    const kc_app_config *c = r->config;
    if (c->manager.lease_duration <= c->manager.lease_renew)
        return app_config_wrong(r, LEASE "lease-duration", err,
                                "must be greater than leader-elect-renew-deadline");
    if ((double)c->manager.lease_renew <= 1.2 * (double)c->manager.lease_retry)
        return app_config_wrong(r, LEASE "renew-deadline", err,
                                "must be greater than 1.2 times leader-elect-retry-period");
    return 0;
}

static int check_together(const app_config_reading *r, kc_error *err)
{
    const kc_app_config *c = r->config;
    if (!*c->apiext.cert_file != !*c->apiext.key_file)
        return app_config_wrong(r, "apiextmgr.gin.secure.tls", err,
                                "cert-file and private-key-file must be set together");
    if (c->apiext.secure_port && c->apiext.secure_port == c->apiext.insecure_port &&
        !strcmp(c->apiext.secure_address, c->apiext.insecure_address))
        return app_config_wrong(r, "apiextmgr.gin.secure.bind-port", err,
                                "conflicts with the port of insecure");
    return check_lease(r, err);
}

static int app_config_read_all(const app_config_reading *r, kc_error *err)
{
    kc_scoped(kc_paths) twice = {0};
    kc_auto(kc_view) *view = kc_yaml_parse(r->text, &(kc_json_opts){.duplicates = &twice}, err);
    if (!view)
        return kc_error_result(err);
    if (twice.n)
        return app_config_wrong(r, twice.items[0], err, "duplicate key");
    const kc_value *root = kc_view_root(view);
    if (kc_value_type(root) != KC_JSON_OBJECT && kc_value_type(root) != KC_JSON_NULL)
        return kc_error_set(err, KC_INVALID, "must be a mapping");
    if (check_members(r, root, KC_STR(""), err) < 0)
        return kc_error_result(err);
    for (size_t i = 0; i < KC_COUNT(keys); i++) {
        const kc_value *value = kc_value_nested(root, keys[i].path);
        set_default(r, &keys[i]);
        if (value && kc_value_type(value) != KC_JSON_NULL && set_value(r, &keys[i], value, err) < 0)
            return kc_error_result(err);
    }
    if (kc__app_settings_read(kc_value_get(root, SETTINGS), r->text, r->arena, &r->config->settings,
                              err) < 0)
        return kc_error_result(err);
    return check_together(r, err);
}

kc_app_config *kc_app_config_parse(kc_str yaml, kc_error *err)
{
    kc_app_config *config = kc_new(kc_app_config);
    kc_arena *arena = kc_new(kc_arena);
    config->memory = arena;
    config->file = "";
    const app_config_reading r = {.text = yaml, .config = config, .arena = arena};
    return app_config_read_all(&r, err) < 0 ? kc_app_config_free(config) : config;
}

kc_app_config *kc_app_config_free(kc_app_config *config)
{
    if (!config)
        return NULL;
    kc_arena_done(config->memory);
    free(config->memory);
    free(config);
    return NULL;
}

/* ---- the file ---- */

kc_app_config *kc_app_config_load(const char *path, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    if (kc_file_read(path, MAX_FILE, &text, err) < 0)
        return NULL;
    kc_app_config *config = kc_app_config_parse(kc_buf_str(&text), err);
    if (config)
        config->file = kc_arena_printf(config->memory, "%s", path);
    else
        kc_error_wrap(err, "%s", path);
    return config;
}
