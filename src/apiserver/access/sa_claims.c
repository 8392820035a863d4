/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sa_claims.c: writes and parses the claims of service-account tokens.
 *
 * Members are written in alphabetical order, as Kubernetes does: a client that decodes a token sees
 * the same text. Parsing copies into the arena of the claims, so that they outlive the token.
 *
 * The parser is strict about types (a number as "sub" is an error, not an absent claim) and about
 * duplicates: two readers of a token must not see different claims. It ignores unknown claims.
 */
#include "apiserver/access/sa_claims.h"

#include "kc/json.h"

#define LEGACY_PREFIX "kubernetes.io/serviceaccount/"

/* The size of a payload is bounded by that of a token (jose/jws.h). */
enum { MAX_CLAIMS_DEPTH = 16 };

/* ---- writing ---- */

/* "name": after a comma, unless it is the first member. */
static void begin_claim(kc_buf *out, const char *name)
{
    if (out->p[out->n - 1] != '{')
        kc_buf_putc(out, ',');
    kc_buf_printf(out, "\"%s\":", name);
}

static void write_text(kc_buf *out, const char *name, kc_str value)
{
    if (kc_str_empty(value))
        return;
    begin_claim(out, name);
    kc_json_quote(out, value);
}

static void write_time(kc_buf *out, const char *name, kc__sa_time time)
{
    if (!time.present)
        return;
    begin_claim(out, name);
    kc_buf_printf(out, "%lld", (long long)time.seconds);
}

static void write_ref(kc_buf *out, const char *name, const kc__sa_ref *ref)
{
    if (!ref->present)
        return;
    begin_claim(out, name);
    kc_buf_putc(out, '{');
    write_text(out, "name", ref->name);
    write_text(out, "uid", ref->uid);
    kc_buf_putc(out, '}');
}

static void write_audiences(kc_buf *out, const kc__sa_claims *claims)
{
    if (!claims->n_audiences)
        return;
    begin_claim(out, "aud");
    kc_json_quote_all(out, claims->audiences, claims->n_audiences);
}

static void write_private_claims(kc_buf *out, const kc__sa_claims *claims)
{
    begin_claim(out, "kubernetes.io");
    kc_buf_putc(out, '{');
    write_text(out, "namespace", claims->ns);
    write_ref(out, "node", &claims->node);
    write_ref(out, "pod", &claims->pod);
    write_ref(out, "secret", &claims->secret);
    write_ref(out, "serviceaccount", &claims->account);
    write_time(out, "warnafter", claims->warn_after);
    kc_buf_putc(out, '}');
}

static void write_person_claims(kc_buf *out, const kc__sa_claims *claims)
{
    begin_claim(out, "kubecontroller.io");
    kc_buf_printf(out, "{\"generation\":%lld", (long long)claims->generation);
    if (claims->session.n)
        write_text(out, "session", claims->session);
    write_ref(out, "user", &claims->person);
    kc_buf_putc(out, '}');
}

static void write_legacy_claims(kc_buf *out, const kc__sa_claims *claims)
{
    write_text(out, LEGACY_PREFIX "namespace", claims->ns);
    write_text(out, LEGACY_PREFIX "secret.name", claims->secret.name);
    write_text(out, LEGACY_PREFIX "service-account.name", claims->account.name);
    write_text(out, LEGACY_PREFIX "service-account.uid", claims->account.uid);
}

void kc__sa_claims_write(const kc__sa_claims *claims, kc_buf *out)
{
    kc_buf_putc(out, '{');
    write_audiences(out, claims);
    write_time(out, "exp", claims->expiry);
    write_time(out, "iat", claims->issued_at);
    write_text(out, "iss", claims->issuer);
    write_text(out, "jti", claims->id);
    if (claims->legacy)
        write_legacy_claims(out, claims);
    else if (claims->person.present)
        write_person_claims(out, claims);
    else
        write_private_claims(out, claims);
    write_time(out, "nbf", claims->not_before);
    write_text(out, "sub", claims->subject);
    kc_buf_putc(out, '}');
}

/* ---- parsing ---- */

/* The parser's state; `wrong` is the name of the first claim of another type. */
typedef struct claims_parser {
    kc__sa_claims *claims;
    const char *wrong;
} claims_parser;

static kc_str read_text(claims_parser *p, const kc_value *object, const char *name)
{
    const kc_value *value = kc_value_get(object, name);
    const kc_json_type type = kc_value_type(value);
    if (type != KC_JSON_STRING && type != KC_JSON_ABSENT && type != KC_JSON_NULL)
        p->wrong = name;
    return kc_arena_str(&p->claims->arena, kc_value_as_str(value));
}

static kc__sa_time read_time(claims_parser *p, const kc_value *object, const char *name)
{
    double number = 0;
    const kc_value *value = kc_value_get(object, name);
    if (!value || kc_value_type(value) == KC_JSON_NULL)
        return (kc__sa_time){0};
    if (!kc_value_as_f64(value, &number) || number > 1e15 || number < -1e15) {
        p->wrong = name;
        return (kc__sa_time){0};
    }
    return (kc__sa_time){true, (int64_t)number};
}

static kc__sa_ref read_ref(claims_parser *p, const kc_value *object, const char *name)
{
    const kc_value *value = kc_value_get(object, name);
    const kc_json_type type = kc_value_type(value);
    if (type != KC_JSON_OBJECT) {
        if (type != KC_JSON_ABSENT && type != KC_JSON_NULL)
            p->wrong = name;
        return (kc__sa_ref){0};
    }
    return (kc__sa_ref){true, read_text(p, value, "name"), read_text(p, value, "uid")};
}

/* One audience may be a string instead of an array. */
static void read_audiences(claims_parser *p, const kc_value *root)
{
    const kc_value *value = kc_value_get(root, "aud");
    const kc_json_type type = kc_value_type(value);
    const bool one = type == KC_JSON_STRING;
    const size_t n = one ? 1 : kc_value_len(value);
    if (type == KC_JSON_ABSENT || type == KC_JSON_NULL)
        return;
    if ((!one && type != KC_JSON_ARRAY) || n > KC__SA_MAX_AUDIENCES) {
        p->wrong = "aud";
        return;
    }
    kc_str *audiences = kc_arena_calloc(&p->claims->arena, n + 1, sizeof(*audiences));
    for (size_t i = 0; i < n; i++) {
        const kc_value *item = one ? value : kc_value_at(value, i);
        if (kc_value_type(item) != KC_JSON_STRING)
            p->wrong = "aud";
        audiences[i] = kc_arena_str(&p->claims->arena, kc_value_as_str(item));
    }
    p->claims->audiences = audiences;
    p->claims->n_audiences = n;
}

static void read_private_claims(claims_parser *p, const kc_value *root)
{
    kc__sa_claims *c = p->claims;
    const kc_value *own = kc_value_get(root, "kubernetes.io");
    if (own && kc_value_type(own) != KC_JSON_OBJECT)
        p->wrong = "kubernetes.io";
    c->ns = read_text(p, own, "namespace");
    c->account = read_ref(p, own, "serviceaccount");
    c->pod = read_ref(p, own, "pod");
    c->secret = read_ref(p, own, "secret");
    c->node = read_ref(p, own, "node");
    c->warn_after = read_time(p, own, "warnafter");
}

static void read_person_claims(claims_parser *p, const kc_value *own)
{
    kc__sa_claims *c = p->claims;
    c->person = read_ref(p, own, "user");
    c->session = read_text(p, own, "session");
    if (!c->person.present || !c->person.name.n ||
        !kc_value_as_i64(kc_value_get(own, "generation"), &c->generation))
        p->wrong = "kubecontroller.io";
}

static void read_legacy_claims(claims_parser *p, const kc_value *root)
{
    kc__sa_claims *c = p->claims;
    c->legacy = true;
    c->ns = read_text(p, root, LEGACY_PREFIX "namespace");
    c->secret = (kc__sa_ref){true, read_text(p, root, LEGACY_PREFIX "secret.name"), {0}};
    c->account = (kc__sa_ref){true, read_text(p, root, LEGACY_PREFIX "service-account.name"),
                              read_text(p, root, LEGACY_PREFIX "service-account.uid")};
}

static void read_claims(claims_parser *p, const kc_value *root)
{
    kc__sa_claims *c = p->claims;
    c->issuer = read_text(p, root, "iss");
    c->subject = read_text(p, root, "sub");
    c->id = read_text(p, root, "jti");
    c->expiry = read_time(p, root, "exp");
    c->not_before = read_time(p, root, "nbf");
    c->issued_at = read_time(p, root, "iat");
    read_audiences(p, root);
    if (kc_str_is(c->issuer, KC__SA_LEGACY_ISSUER))
        read_legacy_claims(p, root);
    else if (kc_value_get(root, "kubecontroller.io"))
        read_person_claims(p, kc_value_get(root, "kubecontroller.io"));
    else
        read_private_claims(p, root);
}

static kc_view *parse_payload(kc_str payload, kc_paths *duplicates)
{
    const kc_json_opts opts = {.max_depth = MAX_CLAIMS_DEPTH, .duplicates = duplicates};
    kc_auto(kc_view) *view = kc_view_parse(payload, &opts, NULL);
    const bool usable = view && kc_value_type(kc_view_root(view)) == KC_JSON_OBJECT;
    return usable ? kc_take(view) : NULL;
}

kc__sa_claims *kc__sa_claims_parse(kc_str payload, kc_error *err)
{
    kc_scoped(kc_paths) duplicates = {0};
    kc_auto(kc_view) *view = parse_payload(payload, &duplicates);
    if (!view || duplicates.n) {
        kc_error_set(err, KC_INVALID, "the claims are not a JSON object with distinct members");
        return NULL;
    }
    kc_auto(kc__sa_claims) *claims = kc_new(kc__sa_claims);
    kc_ref_init(&claims->refs);
    claims_parser p = {.claims = claims};
    read_claims(&p, kc_view_root(view));
    if (p.wrong) {
        kc_error_set(err, KC_INVALID, "the claim \"%s\" has the wrong type", p.wrong);
        return NULL;
    }
    return kc_take(claims);
}

kc__sa_claims *kc__sa_claims_ref(const kc__sa_claims *claims)
{
    kc__sa_claims *c = (kc__sa_claims *)claims;
    kc_ref_add(&c->refs);
    return c;
}

kc__sa_claims *kc__sa_claims_unref(const kc__sa_claims *claims)
{
    kc__sa_claims *c = (kc__sa_claims *)claims;
    if (c && kc_ref_drop(&c->refs)) {
        kc_arena_done(&c->arena);
        free(c);
    }
    return NULL;
}

bool kc__sa_claims_peek_issuer(kc_str payload, kc_buf *out)
{
    kc_auto(kc_view) *view = parse_payload(payload, NULL);
    const kc_str issuer = kc_value_as_str(kc_value_get(view ? kc_view_root(view) : NULL, "iss"));
    kc_buf_append(out, issuer);
    return issuer.n > 0;
}
