/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.c: settings of single reconcilers in the config file, under reconcilers.NAME.KEY.
 *
 * The file is read before all reconcilers are known (plugins bring their own), so reading keeps
 * names, texts and lines; later each is looked up, and an unknown one is an error with its line and
 * the nearest name, as for all other keys.
 */
#include "app/app_internal.h"

#include "kc/arena.h"
#include "kc/yaml.h"

/* ---- reading ---- */

static bool scalar_text(const kc_value *value, kc_arena *arena, const char **ret)
{
    const kc_json_type type = kc_value_type(value);
    if (type != KC_JSON_STRING && type != KC_JSON_INT && type != KC_JSON_FLOAT &&
        type != KC_JSON_BOOL)
        return false;
    kc_scoped(kc_buf) text = {0};
    if (type == KC_JSON_STRING)
        kc_buf_append(&text, kc_value_as_str(value));
    else
        kc_json_write(&text, value);
    *ret = kc_arena_strndup(arena, kc_buf_cstr(&text), text.n);
    return true;
}

static size_t count_settings(const kc_value *section)
{
    size_t n = 0;
    kc_value_each_member (section, name, members) {
        (void)name;
        n += kc_value_len(members);
    }
    return n;
}

/* The line of reconcilers.NAME.KEY. */
static size_t line_of(kc_str text, kc_str name, kc_str key)
{
    kc_scoped(kc_buf) path = {0};
    kc_buf_printf(&path, "reconcilers.%.*s.%.*s", KC_ARG(name), KC_ARG(key));
    return kc_yaml_line_of(text, kc_buf_cstr(&path));
}

int kc__app_settings_read(const kc_value *section, kc_str text, kc_arena *arena,
                          const kc_app_config_setting **ret, kc_error *err)
{
    kc_app_config_setting *all = kc_arena_calloc(arena, count_settings(section) + 1, sizeof(*all));
    size_t n = 0;
    if (section && kc_value_type(section) != KC_JSON_OBJECT &&
        kc_value_type(section) != KC_JSON_NULL)
        return kc_error_set(err, KC_INVALID, "reconcilers: must contain names of reconcilers");
    kc_value_each_member (section, name, members) {
        if (kc_value_type(members) != KC_JSON_OBJECT && kc_value_type(members) != KC_JSON_NULL)
            return kc_error_set(err, KC_INVALID,
                                "reconcilers.%.*s: must contain settings, not "
                                "a value",
                                KC_ARG(name));
        kc_value_each_member (members, key, value) {
            kc_app_config_setting *one = &all[n++];
            one->line = line_of(text, name, key);
            one->reconciler = kc_arena_strndup(arena, name.p, name.n);
            one->name = kc_arena_strndup(arena, key.p, key.n);
            if (!scalar_text(value, arena, &one->value))
                return kc_error_set(err, KC_INVALID,
                                    "line %zu: reconcilers.%s.%s: must be a string, a number or "
                                    "a boolean",
                                    one->line, one->reconciler, one->name);
        }
    }
    *ret = all;
    return 0;
}

/* ---- lookup ---- */

static const kc_setting *app_settings_find(const kc_setting *rows, const char *name)
{
    for (; rows && rows->name; rows++)
        if (!strcmp(rows->name, name))
            return rows;
    return NULL;
}

static int app_settings_unknown(const kc_app_config *config, const kc_app_config_setting *setting,
                                const char *what, const char *nearest, kc_error *err)
{
    kc_error_set(err, KC_INVALID, "line %zu: reconcilers.%s.%s: unknown %s%s%s%s", setting->line,
                 setting->reconciler, setting->name, what, nearest ? "; did you mean \"" : "",
                 nearest ? nearest : "", nearest ? "\"?" : "");
    return *config->file ? kc_error_wrap(err, "%s", config->file) : kc_error_result(err);
}

static const char *nearest_setting(const kc_setting *rows, const char *name)
{
    enum { MAX = 64 };
    const char *names[MAX];
    size_t n = 0;
    for (; rows && rows->name && n < MAX; rows++)
        names[n++] = rows->name;
    return kc_str_nearest(kc_cstr(name), names, n);
}

static int app_settings_check_one(const kc_app_config *config, const kc_app_config_setting *setting,
                                  const kc_app *app, kc_error *err)
{
    kc_autofree const char **names = kc__app_names(app);
    size_t n = 0;
    for (const kc_app_entry *entry; (entry = kc_app_entry_at(app, n)); n++) {
        if (strcmp(entry->name, setting->reconciler) != 0)
            continue;
        const kc_setting *rows = entry->reconciler->settings;
        return app_settings_find(rows, setting->name)
                   ? 0
                   : app_settings_unknown(config, setting, "setting",
                                          nearest_setting(rows, setting->name), err);
    }
    return app_settings_unknown(config, setting, "reconciler",
                                kc_str_nearest(kc_cstr(setting->reconciler), names, n), err);
}

int kc__app_settings_check(const kc_app_config *config, const kc_app *app, kc_error *err)
{
    for (const kc_app_config_setting *s = config->settings; s->reconciler; s++)
        if (app_settings_check_one(config, s, app, err) < 0)
            return kc_error_result(err);
    return 0;
}

static const char *app_settings_value_of(const kc_app_config *config, const char *reconciler,
                                         const kc_setting *row)
{
    for (const kc_app_config_setting *s = config->settings; s->reconciler; s++)
        if (!strcmp(s->reconciler, reconciler) && !strcmp(s->name, row->name))
            return s->value;
    return row->default_value;
}

const char *const *kc__app_settings_of(const kc_app_config *config, const char *reconciler,
                                       const kc_setting *rows, kc_arena *arena)
{
    size_t n = 0;
    while (rows && rows[n].name)
        n++;
    const char **values = kc_arena_calloc(arena, n + 1, sizeof(*values));
    for (size_t i = 0; i < n; i++)
        values[i] =
            kc_arena_printf(arena, "%s", app_settings_value_of(config, reconciler, &rows[i]));
    return values;
}
