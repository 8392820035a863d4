/* SPDX-License-Identifier: Apache-2.0 */
/*
 * media.c: parses the media type of a body as Go's mime.ParseMediaType does.
 *
 * The text of a media type is copied once into the arena, and the slices point into the copy: names
 * are lower-cased and quoted values unescaped in place, because neither grows. A parameter may be
 * repeated only with the same value; otherwise two parsers of one header could differ. Unlike in
 * Go, names with '*' (RFC 2231) are ordinary parameters: nothing here needs a file name.
 */
#include "http/message/media.h"

#include "http/message/header.h"

typedef struct cursor {
    char *at, *end;
} cursor;

static kc_str take_token(cursor *c)
{
    char *from = c->at;
    while (c->at < c->end && kc__http_is_token_char(*c->at))
        c->at++;
    return kc_str_of(from, (size_t)(c->at - from));
}

static kc_str take_token_lower(cursor *c)
{
    kc_str token = take_token(c);
    for (char *p = c->at - token.n; p < c->at; p++)
        if (*p >= 'A' && *p <= 'Z')
            *p |= 0x20;
    return token;
}

static void skip_space(cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t'))
        c->at++;
}

static bool take_char(cursor *c, char wanted)
{
    if (c->at == c->end || *c->at != wanted)
        return false;
    c->at++;
    return true;
}

/* A backslash escapes only characters that need it and stands for itself otherwise: some clients
 * send Windows paths. */
static bool is_escape(const cursor *c)
{
    return *c->at == '\\' && c->at + 1 < c->end &&
           kc_str_find(KC_STR("()<>@,;:\\\"/[]?="), c->at[1]) >= 0;
}

/* Starts after the opening quote. */
static bool take_quoted(cursor *c, kc_str *ret)
{
    char *from = c->at, *to = c->at;
    while (c->at < c->end && *c->at != '"') {
        if (is_escape(c))
            c->at++;
        *to++ = *c->at++;
    }
    *ret = kc_str_of(from, (size_t)(to - from));
    return take_char(c, '"');
}

static bool take_value(cursor *c, kc_str *ret)
{
    if (take_char(c, '"'))
        return take_quoted(c, ret);
    *ret = take_token(c);
    return ret->n > 0;
}

/* ";" name "=" value. */
static bool take_param(cursor *c, kc__media_param *ret)
{
    if (!take_char(c, ';'))
        return false;
    skip_space(c);
    ret->name = take_token_lower(c);
    skip_space(c);
    if (!ret->name.n || !take_char(c, '='))
        return false;
    skip_space(c);
    return take_value(c, &ret->value);
}

bool kc__media_param_get(const kc__media_type *media, kc_str name, kc_str *ret)
{
    for (size_t i = 0; i < media->n_params; i++)
        if (kc_str_eq(media->params[i].name, name)) {
            *ret = media->params[i].value;
            return true;
        }
    return false;
}

static int refuse_media_type(const char *why, kc_error *err)
{
    return kc_error_set(err, KC_UNSUPPORTED_MEDIA_TYPE, "the media type of the body %s", why);
}

/* Appends to `params`, which media->params points to. */
static int add_param(kc__media_type *media, kc__media_param *params, kc__media_param param,
                     kc_error *err)
{
    kc_str before;
    if (kc__media_param_get(media, param.name, &before))
        return kc_str_eq(before, param.value) ? 0
                                              : refuse_media_type("has a duplicate parameter", err);
    if (media->n_params == KC__MEDIA_MAX_PARAMS)
        return refuse_media_type("has too many parameters", err);
    params[media->n_params++] = param;
    return 0;
}

static int take_params(cursor *c, kc__media_type *media, kc__media_param *params, kc_error *err)
{
    for (skip_space(c); c->at < c->end; skip_space(c)) {
        cursor last = *c;
        kc__media_param param;
        if (take_char(&last, ';') && (skip_space(&last), last.at == last.end))
            break; /* A trailing semicolon is common and harmless. */
        if (!take_param(c, &param))
            return refuse_media_type("has an invalid parameter", err);
        int r = add_param(media, params, param, err);
        if (r < 0)
            return r;
    }
    return 0;
}

int kc__media_type_parse(kc_str text, kc_arena *arena, kc__media_type *ret, kc_error *err)
{
    kc__media_type media = {0};
    if (!kc__http_is_header_value(text))
        return refuse_media_type("has a control character", err);
    char *copy = kc_arena_strndup(arena, text.p, text.n);
    kc__media_param *params = kc_arena_calloc(arena, KC__MEDIA_MAX_PARAMS, sizeof(*params));
    if (!copy || !params)
        return kc_error_set(err, KC_TOO_LARGE, "the media type exceeds the memory limit");
    cursor c = {copy, copy + text.n};
    skip_space(&c);
    media.type = take_token_lower(&c);
    if (!media.type.n || !take_char(&c, '/'))
        return refuse_media_type("must be of the form type/subtype", err);
    media.subtype = take_token_lower(&c);
    skip_space(&c);
    if (!media.subtype.n || (c.at < c.end && *c.at != ';'))
        return refuse_media_type("must be of the form type/subtype", err);
    media.params = params;
    int r = take_params(&c, &media, params, err);
    if (r < 0)
        return r;
    *ret = media;
    return 0;
}

bool kc__media_type_is(const kc__media_type *media, const char *name)
{
    kc_str subtype = kc_cstr(name), type = kc_str_cut(&subtype, '/');
    return kc_str_eq(media->type, type) && kc_str_eq(media->subtype, subtype);
}
