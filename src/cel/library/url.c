/* SPDX-License-Identifier: Apache-2.0 */
/*
 * url.c: URLs: url("https://host:80/path?a=b").getHostname().
 *
 * A text is a URL if Go's url.ParseRequestURI accepts it: absolute, or a path from the root. A URL
 * refers to the text it was made of; its parts are decoded when a function asks for them.
 */
#include "cel/library/library_internal.h"

#include "kc/ascii.h"
#include "object/gofmt/go_url.h"

static const kc__go_url *url_of(kc_cel_value v)
{
    return v.opaque.data;
}

static void write_url(const void *data, kc_buf *out)
{
    kc__go_url_write(data, out);
}

/* URLs are equal if their normalized texts are. */
static kc__cel_equality equal_urls(const void *a, const void *b)
{
    kc_scoped(kc_buf) first = {0}, second = {0};
    write_url(a, &first);
    write_url(b, &second);
    return kc__cel_equality_of(kc_str_eq(kc_buf_str(&first), kc_buf_str(&second)));
}

const kc_cel_type kc__cel_type_url =
    KC__CEL_OPAQUE("kubernetes.URL", equal_urls, write_url, .go_name = "*url.URL");

/* The request form is the check; the reference form knows fragments. */
KC__CEL_FUNCTION(string_to_url)
{
    kc__go_url url;
    kc_scoped(kc_buf) why = {0};
    if (!kc__go_url_parse(a[0].text, KC__GO_URL_REQUEST, &url, &why) ||
        !kc__go_url_parse(a[0].text, KC__GO_URL_REFERENCE, &url, &why))
        return kc__cel_error(ev, "URL parse error during conversion from string: %s",
                             kc_buf_cstr(&why));
    return kc__cel_opaque(ev, &kc__cel_type_url, &url, sizeof(url));
}

KC__CEL_FUNCTION(is_url)
{
    kc__go_url url;
    return kc__cel_bool(kc__go_url_parse(a[0].text, KC__GO_URL_REQUEST, &url, NULL));
}

/* ---- parts ---- */

KC__CEL_FUNCTION(get_scheme)
{
    kc_cel_value scheme = kc__cel_copy_text(ev, KC_CEL_STRING, url_of(a[0])->scheme);
    for (size_t i = 0; i < scheme.text.n && !kc__cel_is_error(scheme); i++)
        ((char *)scheme.text.p)[i] = kc_lower(scheme.text.p[i]);
    return scheme;
}

KC__CEL_FUNCTION(get_host)
{
    kc_scoped(kc_buf) host = {0};
    kc__go_url_write_host(url_of(a[0]), &host);
    return kc__cel_copy_text(ev, KC_CEL_STRING, kc_buf_str(&host));
}

KC__CEL_FUNCTION(get_hostname)
{
    kc_scoped(kc_buf) host = {0};
    kc_str port;
    kc__go_url_write_host(url_of(a[0]), &host);
    return kc__cel_copy_text(ev, KC_CEL_STRING, kc__go_url_split_port(kc_buf_str(&host), &port));
}

KC__CEL_FUNCTION(get_port)
{
    kc_scoped(kc_buf) host = {0};
    kc_str port;
    kc__go_url_write_host(url_of(a[0]), &host);
    kc__go_url_split_port(kc_buf_str(&host), &port);
    return kc__cel_copy_text(ev, KC_CEL_STRING, port);
}

KC__CEL_FUNCTION(get_escaped_path)
{
    kc_scoped(kc_buf) path = {0};
    kc__go_url_write_path(url_of(a[0]), &path);
    return kc__cel_copy_text(ev, KC_CEL_STRING, kc_buf_str(&path));
}

/* Adds a value to the list of its key. */
static void add_query_value(kc__cel_eval *ev, kc__cel_map *map, kc_str key, kc_str value)
{
    kc_cel_value name = kc__cel_copy_text(ev, KC_CEL_STRING, key), found;
    if (!kc__cel_map_find(ev, kc__cel_map_value(map), name, &found)) {
        kc__cel_list *list = kc__cel_strings_new(ev, 1);
        if (!list)
            return;
        found = kc__cel_list_value(list);
        kc__cel_map_put(ev, map, name, found);
    }
    kc__cel_list_append(ev, found.list, kc__cel_copy_text(ev, KC_CEL_STRING, value));
}

KC__CEL_FUNCTION(get_query)
{
    kc__cel_map *map = kc__cel_map_new(ev, 0);
    kc_str rest = url_of(a[0])->query;
    while (map && rest.p && !ev->stopped) {
        kc_str key = kc_str_cut(&rest, '&');
        kc_scoped(kc_buf) name = {0}, value = {0};
        if (!key.n || kc_str_find(key, ';') >= 0)
            continue;
        kc_str behind = key;
        key = kc_str_cut(&behind, '=');
        if (kc__go_url_unescape_query(key, &name) && kc__go_url_unescape_query(behind, &value))
            add_query_value(ev, map, kc_buf_str(&name), kc_buf_str(&value));
    }
    return map && !ev->stopped ? kc__cel_map_value(map) : kc__cel_error_const(ev->why);
}

static const kc_cel_type query_type = {.kind = KC_CEL_MAP,
                                       .name = "map",
                                       .params = {&kc__cel_type_string, &kc__cel_type_list_string},
                                       .n_params = 2};

#define T_URL &kc__cel_type_url
#define URL_ROW(function, id, impl, result) \
    KC__CEL_ROW(function, id, true, impl, NULL, NULL, result, T_URL)

static const kc__cel_overload overloads[] = {
    KC__CEL_ROW("url", "string_to_url", false, string_to_url, kc__cel_cost_first,
                kc__cel_estimate_first_sized, T_URL, T_STRING),
    KC__CEL_ROW("isURL", "is_url_string", false, is_url, NULL, NULL, T_BOOL, T_STRING),
    URL_ROW("getScheme", "url_get_scheme", get_scheme, T_STRING),
    URL_ROW("getHost", "url_get_host", get_host, T_STRING),
    URL_ROW("getHostname", "url_get_hostname", get_hostname, T_STRING),
    URL_ROW("getPort", "url_get_port", get_port, T_STRING),
    URL_ROW("getEscapedPath", "url_get_escaped_path", get_escaped_path, T_STRING),
    URL_ROW("getQuery", "url_get_query", get_query, &query_type),
};

const kc__cel_library kc__cel_library_url = {overloads, KC_COUNT(overloads), KC__CEL_ALWAYS};
