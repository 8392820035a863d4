/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.c: validates and converts names of a project's parts.
 *
 * Names given by the user are validated before anything is written, with Kubernetes' rules; most
 * mistakes are of case or a missing letter, so the error suggests the nearest valid name.
 */
#include "scaffold/names.h"

#include "kc/ascii.h"
#include "kc/names.h"

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* ---- validation ---- */

/* Frees `meant`. */
static int bad(const char *what, const char *text, const char *rule, char *meant, bool meant_good,
               kc_error *err)
{
    kc_autofree char *suggestion = meant;
    if (meant_good && strcmp(meant, text) != 0)
        return kc_error_set(err, KC_INVALID, "'%s' is not a valid %s: %s; did you mean '%s'?", text,
                            what, rule, suggestion);
    return kc_error_set(err, KC_INVALID, "'%s' is not a valid %s: %s", text, what, rule);
}

static int check_dns(const char *what, const char *text, kc_name_rule rule, const char *sentence,
                     kc_error *err)
{
    if (kc_name_valid(rule, kc_cstr(text)))
        return 0;
    char *meant = kc__scaffold_lower_case(kc_cstr(text));
    for (char *c = meant; *c; c++)
        if (*c == '_' || *c == ' ')
            *c = '-';
    return bad(what, text, sentence, meant, kc_name_valid(rule, kc_cstr(meant)), err);
}

static const char SUBDOMAIN[] = "lower case letters, digits, '-' and '.'";
static const char LABEL[] = "lower case letters, digits and '-', at most 63, starting with a "
                            "letter";

int kc__scaffold_check_domain(const char *text, kc_error *err)
{
    return check_dns("domain", text, KC_NAME_DNS_SUBDOMAIN, SUBDOMAIN, err);
}

int kc__scaffold_check_project_name(const char *text, kc_error *err)
{
    return check_dns("project name", text, KC_NAME_DNS_1035_LABEL, LABEL, err);
}

int kc__scaffold_check_group(const char *text, kc_error *err)
{
    return check_dns("group", text, KC_NAME_DNS_SUBDOMAIN, SUBDOMAIN, err);
}

int kc__scaffold_check_plural(const char *text, kc_error *err)
{
    return check_dns("plural", text, KC_NAME_DNS_1035_LABEL, LABEL, err);
}

int kc__scaffold_check_controller(const char *text, kc_error *err)
{
    return check_dns("controller name", text, KC_NAME_DNS_1035_LABEL, LABEL, err);
}

/* Letters, digits and some of `others`, at least one. */
static bool scaffold_names_is_of(const char *text, const char *others)
{
    bool good = *text != 0;
    for (; good && *text; text++)
        good = kc_is_alnum(*text) || strchr(others, *text);
    return good;
}

int kc__scaffold_check_image(const char *text, kc_error *err)
{
    if (scaffold_names_is_of(text, "./:@_-"))
        return 0;
    return bad("image", text, "example: registry.example.com/a/b:v1", NULL, false, err);
}

int kc__scaffold_check_image_command(const char *text, kc_error *err)
{
    if (*text && !strpbrk(text, "\"\\\n\t"))
        return 0;
    return bad("command", text, "comma-separated words without quotes", NULL, false, err);
}

static int scaffold_names_check_number(const char *what, const char *text, uint64_t most,
                                       kc_error *err)
{
    uint64_t n;
    kc_autofree char *rule = kc_asprintf("a number from 1 to %llu", (unsigned long long)most);
    if (kc_str_to_u64(kc_cstr(text), &n) && n >= 1 && n <= most)
        return 0;
    return bad(what, text, rule, NULL, false, err);
}

int kc__scaffold_check_image_port(const char *text, kc_error *err)
{
    return scaffold_names_check_number("port", text, UINT16_MAX, err);
}

int kc__scaffold_check_image_user(const char *text, kc_error *err)
{
    return scaffold_names_check_number("user", text, INT32_MAX, err);
}

/* Characters that need no escapes in a C string, a marker and a URL. */
static bool is_path(const char *text)
{
    bool good = *text == '/' && text[1];
    for (; good && *text; text++)
        good = kc_is_alnum(*text) || strchr("/-_.", *text);
    return good;
}

int kc__scaffold_check_hook_path(const char *text, kc_error *err)
{
    if (is_path(text))
        return 0;
    char *meant = kc_asprintf("/%s", text);
    return bad("path", text, "'/' followed by letters, digits, '-', '_', '.' and '/'", meant,
               is_path(meant), err);
}

static const char *scaffold_names_skip_digits(const char *text)
{
    if (*text == '0')
        return text;
    while (is_digit(*text))
        text++;
    return text;
}

/* v1, v2beta1, v1alpha3 */
static bool scaffold_names_is_version(const char *text)
{
    const char *at = *text == 'v' ? scaffold_names_skip_digits(text + 1) : text;
    if (at < text + 2)
        return false;
    if (!*at)
        return true;
    const size_t stage = !strncmp(at, "alpha", 5) ? 5 : !strncmp(at, "beta", 4) ? 4 : 0;
    const char *end = scaffold_names_skip_digits(at + stage);
    return stage && end > at + stage && !*end;
}

int kc__scaffold_check_version(const char *text, kc_error *err)
{
    if (scaffold_names_is_version(text))
        return 0;
    kc_autofree char *lower = kc__scaffold_lower_case(kc_cstr(text));
    char *meant = lower[0] == 'v' ? kc_strdup(lower) : kc_asprintf("v%s", lower);
    if (!scaffold_names_is_version(meant)) {
        kc_autofree char *shorter = meant;
        meant = kc_asprintf("%s1", shorter); /* v1alpha */
    }
    return bad("version", text, "examples: v1, v1beta1, v1alpha1", meant,
               scaffold_names_is_version(meant), err);
}

static bool scaffold_names_is_kind(const char *text)
{
    bool good = is_upper(*text) && strlen(text) <= 63;
    for (; good && *text; text++)
        good = is_upper(*text) || is_digit(*text) || (*text >= 'a' && *text <= 'z');
    return good;
}

/* robot_arm, robot-arm → RobotArm */
static char *camel_case(const char *text)
{
    kc_buf out = {0};
    bool begins = true;
    for (; *text; text++) {
        if (*text == '_' || *text == '-' || *text == ' ') {
            begins = true;
            continue;
        }
        const bool lower = *text >= 'a' && *text <= 'z';
        kc_buf_putc(&out, begins && lower ? (char)(*text - 'a' + 'A') : *text);
        begins = false;
    }
    return kc_buf_take(&out);
}

int kc__scaffold_check_kind(const char *text, kc_error *err)
{
    if (scaffold_names_is_kind(text))
        return 0;
    char *meant = camel_case(text);
    return bad("kind", text,
               "letters and digits, starting with an upper case letter; example: "
               "RobotArm",
               meant, scaffold_names_is_kind(meant), err);
}

/* ---- names in C ---- */

char *kc__scaffold_lower_case(kc_str text)
{
    char *out = kc_str_dup(text);
    for (char *c = out; *c; c++)
        *c = kc_lower(*c);
    return out;
}

char *kc__scaffold_identifier(kc_str text)
{
    char *out = kc_str_dup(text);
    for (char *c = out; *c; c++)
        if (*c == '.' || *c == '-' || *c == '/')
            *c = '_';
    return out;
}

char *kc__scaffold_snake_case(kc_str kind)
{
    kc_buf out = {0};
    for (size_t i = 0; i < kind.n; i++) {
        const char c = kind.p[i];
        /* A word starts after a lower case letter, and with the last of several capitals: HTTP
         * Proxy. */
        const bool after_small = i && !is_upper(kind.p[i - 1]);
        const bool before_small =
            i && i + 1 < kind.n && !is_upper(kind.p[i + 1]) && !is_digit(kind.p[i + 1]);
        if (is_upper(c) && (after_small || before_small))
            kc_buf_putc(&out, '_');
        kc_buf_putc(&out, kc_lower(c));
    }
    return kc_buf_take(&out);
}

char *kc__scaffold_plural_of(kc_str kind)
{
    kc_autofree char *lower = kc__scaffold_lower_case(kind);
    const size_t n = strlen(lower);
    const char last = n ? lower[n - 1] : 0, before = n > 1 ? lower[n - 2] : 0;
    if (last == 'y' && !strchr("aeiou", before))
        return kc_asprintf("%.*sies", (int)n - 1, lower);
    const bool hisses = last == 's' || last == 'x' || last == 'z' ||
                        (last == 'h' && (before == 's' || before == 'c'));
    return kc_asprintf("%s%s", lower, hisses ? "es" : "s");
}

char *kc__scaffold_struct_name(kc_str kind, kc_str group)
{
    static const char *const words[] = {
        "auto",   "bool",     "break",  "case",   "char",   "const",    "continue", "default",
        "do",     "double",   "else",   "enum",   "extern", "float",    "for",      "goto",
        "if",     "inline",   "int",    "long",   "main",   "register", "return",   "short",
        "signed", "sizeof",   "static", "struct", "switch", "typedef",  "union",    "unsigned",
        "void",   "volatile", "while",  "class",  "new",    "private",  "public",   "template"};
    kc_autofree char *snake = kc__scaffold_snake_case(kind);
    bool taken = false;
    for (size_t i = 0; i < KC_COUNT(words); i++)
        taken |= !strcmp(snake, words[i]);
    if (!taken)
        return kc_take(snake);
    char *name = kc_asprintf("%.*s_%s", KC_ARG(group), snake);
    for (char *c = name; *c; c++)
        if (*c == '-' || *c == '.')
            *c = '_';
    return name;
}

bool kc__scaffold_names_kind(const char *struct_name, kc_str kind)
{
    kc_autofree char *camel = camel_case(struct_name);
    const kc_str name = kc_cstr(struct_name);
    if (!kc_str_is(kind, camel) || kc_str_ends(name, KC_STR("_t")))
        return false;
    /* Names of structs have no version. */
    const char *last = strrchr(struct_name, '_'), *first = strchr(struct_name, '_');
    kc_autofree char *begin = first ? kc_strndup(struct_name, (size_t)(first - struct_name)) : NULL;
    return !first || (!scaffold_names_is_version(last + 1) && !scaffold_names_is_version(begin));
}
