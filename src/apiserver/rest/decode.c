/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode.c: reading request bodies.
 *
 *     bytes ─(Content-Type: JSON, YAML, protobuf)─▶ object ─▶ of this kind? ─▶ typed
 *
 * Fields the type does not know, and fields that stand twice, are dropped in silence, with a
 * warning for each (the default), or refused: the client chooses with fieldValidation.
 */
#include "apiserver/rest/decode.h"

#include "apiserver/crd/custom_object.h"
#include "apiserver/kinds/typed.h"
#include "apiserver/rest/body.h"
#include "apiserver/rest/write.h"
#include "kc/kind.h"

static kc__verdict unrecognized(kc__call *call, kc_error *why)
{
    kc_scoped(kc_buf) start = {0};
    if (why->reason == KC_TOO_LARGE) {
        kc_error_move(&call->error, why);
        return KC__FAIL;
    }
    kc__body_summary(&start, call->x->request.body);
    return kc__fail(call, KC_BAD_REQUEST,
                    "the object provided is unrecognized (must be of type %s): %s (%s)",
                    call->spoken->kind, kc_error_text(why), kc_buf_cstr(&start));
}

/* ---- options of a delete ---- */

/* They are no object of the resource: what is wrong with them is not the client's fault, as far as
 * Kubernetes is concerned. */
static kc__verdict bad_options(kc__call *call, const kc_error *why)
{
    return kc__fail(call, why->reason == KC_TOO_LARGE ? KC_TOO_LARGE : KC_UNKNOWN, "%s",
                    kc_error_text(why));
}

static kc_object *read_options(kc__call *call, kc__body_type type, kc_error *err)
{
    kc_auto(kc_object) *body = kc__body_read(call->x->request.body, type, NULL, err);
    if (!body)
        return NULL;
    kc_str kind = kc_object_kind(body);
    if (!kc_str_empty(kind) && !kc_str_is(kind, "DeleteOptions")) {
        kc_error_set(err, KC_BAD_REQUEST,
                     "no kind \"%.*s\" is registered for version \"%.*s\" in scheme "
                     "\"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27\"",
                     KC_ARG(kind), KC_ARG(kc_object_api_version(body)));
        return NULL;
    }
    return kc__typed_decode(kc__definition_of_kind(KC_STR("v1"), KC_STR("DeleteOptions")), body,
                            NULL, err);
}

kc__verdict kc__decode_options_body(kc__call *call, kc_object **ret)
{
    kc__body_type type;
    kc_scoped(kc_error) err = {0};
    *ret = NULL;
    if (kc_str_empty(call->x->request.body))
        return KC__NEXT;
    if (kc__body_type_of(call, &type) != KC__NEXT)
        return KC__FAIL;
    *ret = read_options(call, type, &err);
    return *ret ? KC__NEXT : bad_options(call, &err);
}

/* ---- the right kind ---- */

static void first_label(kc_str group, kc_str *ret)
{
    *ret = kc_str_empty(group) ? KC_STR("core") : kc_str_cut(&group, '.');
}

/* Whether it is what is spoken here, of some version; `other` is the resource of that kind. What a
 * subresource speaks is none, and has had other groups. */
static bool is_own_kind(const kc__call *call, const kc__resource *other, kc_str api_version,
                        kc_str kind)
{
    const kc__resource *r = call->spoken;
    if (other)
        return !strcmp(other->kind, r->kind) && !strcmp(other->group, r->group);
    return r != call->resource && kc_str_is(kind, r->kind) &&
           kc__definition_of_kind(api_version, kind);
}

/* Why an object of another kind cannot stand here. */
static int wrong_kind(kc__call *call, kc_gvk got, kc_str api_version, kc_error *err)
{
    const kc__resource *r = call->spoken;
    const kc__resource *other =
        kc__kinds_find_kind(call->snapshot->kinds, got.group, got.version, got.kind);
    /* There are kinds that no path serves: lists, options, Status. */
    bool known = other || kc__definition_of_kind(api_version, got.kind);
    const char *scheme = call->resource->custom ? "k8s.io/client-go/scale/util.go:146"
                                                : "pkg/api/legacyscheme/scheme.go:30";
    if (!known || call->resource->custom || is_own_kind(call, other, api_version, got.kind))
        return kc_error_set(err, KC_BAD_REQUEST,
                            "no kind \"%.*s\" is registered for version \"%.*s\" in scheme \"%s\"",
                            KC_ARG(got.kind), KC_ARG(api_version), scheme);
    kc_str group;
    first_label(kc_cstr(r->group), &group);
    return kc_error_set(err, KC_BAD_REQUEST,
                        "converting (%.*s.%.*s) to (%.*s.%s): unknown conversion",
                        KC_ARG(got.version), KC_ARG(got.kind), KC_ARG(group), r->kind);
}

/* "apps/v1", "v1" */
static kc_str own_api_version(kc__call *call)
{
    const kc__resource *r = call->spoken;
    return *r->group ? kc_cstr(kc_arena_printf(call->arena, "%s/%s", r->group, r->version))
                     : kc_cstr(r->version);
}

/* An object that does not say what it is, is what the path says. */
static int name_kind(kc__call *call, kc_object **object, kc_error *err)
{
    kc_auto(kc_edit) *edit = kc_edit_of(*object);
    kc_node *root = kc_edit_root(edit);
    kc_node_set(edit, root, KC_STR("kind"), kc_node_str(edit, kc_cstr(call->spoken->kind)));
    kc_node_set(edit, root, KC_STR("apiVersion"), kc_node_str(edit, own_api_version(call)));
    kc_object *named = kc_edit_freeze(edit, err);
    if (!named)
        return -1;
    kc_object_unref(*object);
    *object = named;
    return 0;
}

/* Another version of what a subresource speaks, with the same contents. */
static bool is_as_good(const kc__call *call, kc_str api_version)
{
    return call->subresource && call->subresource->also &&
           kc_str_is(api_version, call->subresource->also);
}

int kc__decode_kind(kc__call *call, kc_object **object, kc_error *err)
{
    kc_str api_version = kc_object_api_version(*object), kind = kc_object_kind(*object);
    kc_str own = own_api_version(call);
    bool complete = !kc_str_empty(api_version) && !kc_str_empty(kind);
    if (kc_str_empty(api_version))
        api_version = own;
    if (kc_str_empty(kind))
        kind = kc_cstr(call->spoken->kind);
    bool right = kc_str_eq(api_version, own) || is_as_good(call, api_version);
    if (!right || !kc_str_is(kind, call->spoken->kind))
        return wrong_kind(call, kc_gvk_of(api_version, kind), api_version, err);
    return complete ? 0 : name_kind(call, object, err);
}

/* What Kubernetes puts before the reason, where it got so far as to know what was sent. */
static kc__verdict not_handled(kc__call *call, kc_error *why)
{
    kc_str api_version = kc_object_api_version(call->given), kind = kc_object_kind(call->given);
    if (kc_str_empty(api_version))
        api_version = own_api_version(call);
    if (kc_str_empty(kind))
        kind = kc_cstr(call->spoken->kind);
    kc_gvk got = kc_gvk_of(api_version, kind);
    const kc__resource *r = call->spoken,
                       *other = kc__kinds_find_kind(call->snapshot->kinds, got.group, got.version,
                                                    got.kind);
    if (kc_str_empty(got.version)) {
        kc_error_set(why, KC_BAD_REQUEST, "unexpected GroupVersion string: %.*s",
                     KC_ARG(api_version));
        return unrecognized(call, why);
    }
    if (is_own_kind(call, other, api_version, kind))
        return kc__fail(
            call, KC_BAD_REQUEST,
            "the API version in the data (%.*s) does not match the expected API version "
            "(%s/%s)",
            KC_ARG(api_version), r->group, r->version);
    return kc__fail(call, KC_BAD_REQUEST, "%.*s in version \"%.*s\" cannot be handled as a %s: %s",
                    KC_ARG(got.kind), KC_ARG(got.version), r->kind, kc_error_text(why));
}

/* ---- typed ---- */

/* The sentences of strict decoding about the text of an object. */
static void find_complaints(kc__call *call, kc_str text, const kc_paths *twice, kc_paths *ret)
{
    for (size_t i = 0; twice && i < twice->n; i++)
        kc_vec_push(ret, kc_asprintf("duplicate field \"%s\"", twice->items[i]));
    kc__typed_complaints(call->spoken->type, text, ret);
}

const char *kc__complaints_join(const kc_paths *complaints, kc_arena *arena)
{
    kc_scoped(kc_buf) all = {0};
    kc_buf_puts(&all, "strict decoding error: ");
    for (size_t i = 0; i < complaints->n; i++)
        kc_buf_printf(&all, "%s%s", i ? ", " : "", complaints->items[i]);
    return kc_arena_strndup(arena, kc_buf_cstr(&all), all.n);
}

/* Warnings, or under strict validation a refusal. */
static kc__verdict complain(kc__call *call, const kc_paths *complaints)
{
    const kc__resource *r = call->spoken;
    if (complaints->n && call->options.validation == KC__VALIDATE_STRICT)
        return kc__fail(call, KC_BAD_REQUEST, "%s in version \"%s\" cannot be handled as a %s: %s",
                        r->kind, r->version, r->kind, kc__complaints_join(complaints, call->arena));
    for (size_t i = 0; i < complaints->n; i++)
        kc__warn(call, kc_cstr(complaints->items[i]));
    return KC__NEXT;
}

static kc__verdict decode_typed(kc__call *call, kc_str text, const kc_paths *twice)
{
    const kc__resource *r = call->spoken;
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_paths) complaints = {0};
    kc_object *typed = kc__typed_decode(r->type, call->given, NULL, &err);
    if (!typed)
        return kc__fail(call, err.reason, "%s in version \"%s\" cannot be handled as a %s: %s",
                        r->kind, r->version, r->kind, kc_error_text(&err));
    bool same = typed == call->given && text.n == kc_object_json(typed).n;
    kc_object_unref(call->given);
    call->given = typed;
    /* Nothing was dropped and nothing was shortened: there is nothing to complain about. */
    if ((same && !twice->n) || call->options.validation == KC__VALIDATE_IGNORE)
        return KC__NEXT;
    find_complaints(call, text, twice, &complaints);
    return complain(call, &complaints);
}

/* ---- custom resources ---- */

/* The version of the definition that an object says it is of; NULL: there is none. */
static const kc__custom *version_of(const kc__custom *custom, const kc_object *object)
{
    size_t n;
    const kc__custom *versions = kc__crd_versions(custom->crd, &n);
    for (size_t i = 0; i < n; i++)
        if (kc_str_is(kc_object_api_version(object), versions[i].api_version))
            return &versions[i];
    return NULL;
}

/* Of a version that there is not, nothing is known. */
static void know_nothing(const kc_object *object, kc_paths *unknown)
{
    kc_auto(kc_view) *view = kc_view_of(object);
    kc_members (kc_view_root(view), name, value)
        if (value && !kc_str_is(name, "kind") && !kc_str_is(name, "apiVersion") &&
            !kc_str_is(name, "metadata"))
            kc_vec_push(unknown, kc_str_dup(name));
}

int kc__decode_custom(kc__call *call, kc_object **object, kc_paths *complaints, kc_error *err)
{
    kc_scoped(kc_paths) unknown = {0};
    /* One that says what it is was read before anybody saw that it is of another version. */
    const kc__custom *custom = version_of(call->resource->custom, *object);
    bool right = kc__custom_check_kind(call->resource->custom, *object, err) == 0;
    if (!right && (!kc_object_kind(*object).n || !kc_object_api_version(*object).n))
        return -1;
    if (!custom)
        know_nothing(*object, &unknown);
    kc_auto(kc_object) *decoded =
        custom ? kc__custom_decode(custom, *object, &unknown, right ? err : NULL)
               : kc_object_ref(*object);
    if (!decoded)
        return -1;
    for (size_t i = 0; i < unknown.n; i++)
        kc_vec_push(complaints, kc_asprintf("unknown field \"%s\"", unknown.items[i]));
    kc_object_unref(*object);
    *object = kc_take(decoded);
    return right ? 0 : -1;
}

/* JSON that says a thing twice is read without a word: whoever is to complain asks for it. What was
 * dropped is missing in the object, so one as long as its text has nothing twice. */
static void find_twice(kc__call *call, kc__body_type type, const kc_paths *twice,
                       kc_paths *complaints)
{
    kc_scoped(kc_paths) found = {0};
    kc_str body = call->x->request.body;
    if (type == KC__BODY_JSON) {
        if (body.n != kc_object_json(call->given).n)
            kc_view_free(kc_view_parse(body, &(kc_json_opts){.duplicates = &found}, NULL));
        twice = &found;
    }
    for (size_t i = 0; i < twice->n; i++)
        kc_vec_push(complaints, kc_asprintf("duplicate field \"%s\"", twice->items[i]));
}

static kc__verdict decode_custom(kc__call *call, kc__body_type type, const kc_paths *twice)
{
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_paths) complaints = {0};
    if (call->options.validation != KC__VALIDATE_IGNORE)
        find_twice(call, type, twice, &complaints);
    bool decoded = kc__decode_custom(call, &call->given, &complaints, &err) == 0;
    bool silent = !complaints.n || call->options.validation == KC__VALIDATE_IGNORE;
    if (!silent && complain(call, &complaints) != KC__NEXT)
        return KC__FAIL;
    return decoded ? KC__NEXT : kc__fail(call, err.reason, "%s", kc_error_text(&err));
}

kc__verdict kc__decode_body(kc__call *call)
{
    kc__body_type type;
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_paths) twice = {0};
    if (kc__body_type_of(call, &type) != KC__NEXT)
        return KC__FAIL;
    call->given = kc__body_read(call->x->request.body, type, &twice, &err);
    if (!call->given)
        return unrecognized(call, &err);
    if (call->spoken->custom)
        return decode_custom(call, type, &twice);
    if (kc__decode_kind(call, &call->given, &err) < 0)
        return not_handled(call, &err);
    kc_auto(kc_object) *kept = kc_object_ref(call->given); /* `text` may be its. */
    kc_str text = type == KC__BODY_JSON ? call->x->request.body : kc_object_json(kept);
    kc__verdict verdict = decode_typed(call, text, &twice);
    return verdict == KC__NEXT ? kc__fill_in(call, &call->given) : verdict;
}
