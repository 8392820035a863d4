/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.c: the rules for names and their messages.
 *
 * A rule is a row of `rules`: its maximum length, the expression to match, and a message for each.
 * Rules with further conditions have a function. Matching is hand-written, over a table of
 * character classes; the messages contain regular expressions only because those of Kubernetes do.
 *
 * To add a rule: a name in names.h, its message below, a row.
 */
#include "kc/names.h"

#include "object/gofmt/go_quote.h"

enum {
    LOWER = 1,
    UPPER = 2,
    DIGIT = 4,
    DASH = 8,
    DOT = 16,
    UNDERSCORE = 32,
    LOWER_OR_DIGIT = LOWER | DIGIT,
    LETTER = LOWER | UPPER,
    ALNUM = LETTER | DIGIT,
};

static const uint8_t classes[256] = {
    ['a' ... 'z'] = LOWER, ['A' ... 'Z'] = UPPER, ['0' ... '9'] = DIGIT,
    ['-'] = DASH,          ['.'] = DOT,           ['_'] = UNDERSCORE,
};

static bool name_rules_equals(char c, unsigned mask)
{
    return classes[(unsigned char)c] & mask;
}

static bool all_are(kc_str s, unsigned mask)
{
    for (size_t i = 0; i < s.n; i++)
        if (!name_rules_equals(s.p[i], mask))
            return false;
    return true;
}

/* At least one character; the first, the middle and the last of these classes. */
static bool name_rules_is_word(kc_str s, unsigned first, unsigned middle, unsigned last)
{
    return s.n && name_rules_equals(s.p[0], first) && all_are(kc_str_sub(s, 1, s.n), middle) &&
           (s.n == 1 || name_rules_equals(s.p[s.n - 1], last));
}

static bool is_dns_label(kc_str s)
{
    return name_rules_is_word(s, LOWER_OR_DIGIT, LOWER_OR_DIGIT | DASH, LOWER_OR_DIGIT);
}

static bool is_1035_label(kc_str s)
{
    return name_rules_is_word(s, LOWER, LOWER_OR_DIGIT | DASH, LOWER_OR_DIGIT);
}

static bool is_loose_label(kc_str s)
{
    if (s.n && s.p[0] == '_')
        s = kc_str_sub(s, 1, s.n);
    return name_rules_is_word(s, LOWER_OR_DIGIT, LOWER_OR_DIGIT | DASH | UNDERSCORE,
                              LOWER_OR_DIGIT);
}

static bool is_label_of_any_case(kc_str s)
{
    return name_rules_is_word(s, ALNUM, ALNUM | DASH, ALNUM);
}

static bool each_part(kc_str s, bool (*matches)(kc_str))
{
    kc_str rest = s;
    do {
        if (!matches(kc_str_cut(&rest, '.')))
            return false;
    } while (rest.p);
    return true;
}

static bool is_subdomain(kc_str s)
{
    return each_part(s, is_dns_label);
}

static bool is_loose_subdomain(kc_str s)
{
    return each_part(s, is_loose_label);
}

static bool is_subdomain_of_any_case(kc_str s)
{
    return each_part(s, is_label_of_any_case);
}

static bool is_wildcard(kc_str s)
{
    return kc_str_starts(s, KC_STR("*.")) && is_subdomain(kc_str_sub(s, 2, s.n));
}

static bool is_name_part(kc_str s)
{
    return name_rules_is_word(s, ALNUM, ALNUM | DASH | DOT | UNDERSCORE, ALNUM);
}

static bool is_label_value(kc_str s)
{
    return s.n == 0 || is_name_part(s);
}

static bool is_config_key(kc_str s)
{
    return s.n && all_are(s, ALNUM | DASH | DOT | UNDERSCORE);
}

static bool is_env_var(kc_str s)
{
    return is_config_key(s) && !name_rules_equals(s.p[0], DIGIT);
}

static bool is_identifier(kc_str s)
{
    return s.n && !name_rules_equals(s.p[0], DIGIT) && all_are(s, ALNUM | UNDERSCORE);
}

static bool is_header(kc_str s)
{
    return s.n && all_are(s, ALNUM | DASH);
}

static bool is_percent(kc_str s)
{
    return s.n > 1 && s.p[s.n - 1] == '%' && all_are(kc_str_sub(s, 0, s.n - 1), DIGIT);
}

typedef struct name_rules_messages {
    size_t n;
    const char **texts;
} name_rules_messages;

static void name_rules_report(name_rules_messages *m, const char *text)
{
    m->texts[m->n++] = text;
}

#define AT_MOST(n)    "must be no more than " #n " characters"
#define MATCHING(fmt) "regex used for validation is '" fmt "')"
#define LABEL         "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
#define SUBDOMAIN     LABEL "(\\." LABEL ")*"
#define LOOSE_LABEL   "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
#define NAME_PART     "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
#define NAME_PART_TEXT                                                                          \
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an " \
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', " MATCHING(NAME_PART)
#define SUBDOMAIN_TEXT                                                                           \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or " \
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', " MATCHING( \
        SUBDOMAIN)

static void name_rules_check_label(kc_str s, name_rules_messages *m);
static void check_path_segment(kc_str s, name_rules_messages *m);
static void check_qualified(kc_str s, name_rules_messages *m);
static void check_annotation_key(kc_str s, name_rules_messages *m);
static void name_rules_check_port(kc_str s, name_rules_messages *m);
static void check_no_parent(kc_str s, name_rules_messages *m);

static const struct name_rules_rule {
    size_t most; /* 0: no limit. */
    const char *too_long;
    bool (*matches)(kc_str text); /* NULL: `more` checks everything. */
    const char *mismatch;
    void (*more)(kc_str text, name_rules_messages *m);
} rules[KC_N_NAME_RULES] = {
    [KC_NAME_DNS_SUBDOMAIN] = {253, AT_MOST(253), is_subdomain, SUBDOMAIN_TEXT},
    [KC_NAME_DNS_LABEL] = {63, AT_MOST(63), .more = name_rules_check_label},
    [KC_NAME_DNS_1035_LABEL] =
        {63, AT_MOST(63), is_1035_label,
         "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with "
         "an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "
         "'abc-123', " MATCHING("[a-z]([-a-z0-9]*[a-z0-9])?")},
    [KC_NAME_PATH_SEGMENT] = {.more = check_path_segment},
    [KC_NAME_QUALIFIED] = {.more = check_qualified},
    [KC_NAME_ANNOTATION_KEY] = {.more = check_annotation_key},
    [KC_NAME_LABEL_VALUE] =
        {63, AT_MOST(63), is_label_value,
         "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
         "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "
         "'my_value',  or '12345', " MATCHING("(" NAME_PART ")?")},
    [KC_NAME_WILDCARD] =
        {253, AT_MOST(253), is_wildcard,
         "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, "
         "which must consist of lower case alphanumeric characters, '-' or '.' and end with an "
         "alphanumeric character (e.g. '*.example.com', " MATCHING("\\*\\." SUBDOMAIN)},
    [KC_NAME_SUBDOMAIN_LOOSE] =
        {253, AT_MOST(253), is_loose_subdomain,
         "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', "
         "'-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', " MATCHING(
             LOOSE_LABEL "(\\." LOOSE_LABEL ")*")},
    [KC_NAME_CONFIG_KEY] =
        {253, AT_MOST(253), is_config_key,
         "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
         "'key.name',  or 'KEY_NAME',  or 'key-name', " MATCHING("[-._a-zA-Z0-9]+"),
         check_no_parent},
    [KC_NAME_ENV_VAR] =
        {0, NULL, is_env_var,
         "a valid environment variable name must consist of alphabetic characters, digits, '_', "
         "'-', or '.', and must not start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or "
         "'MyEnvName1', " MATCHING("[-._a-zA-Z][-._a-zA-Z0-9]*"),
         check_no_parent},
    [KC_NAME_PORT] = {15, AT_MOST(15), .more = name_rules_check_port},
    [KC_NAME_C_IDENTIFIER] =
        {0, NULL, is_identifier,
         "a valid C identifier must start with alphabetic character or '_', followed by a string "
         "of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', " MATCHING(
             "[A-Za-z_][A-Za-z0-9_]*")},
    [KC_NAME_HTTP_HEADER] =
        {0, NULL, is_header,
         "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. "
         "'X-Header-Name', " MATCHING("[-A-Za-z0-9]+")},
    [KC_NAME_PERCENT] =
        {0, NULL, is_percent,
         "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  "
         "or '93%', " MATCHING("[0-9]+%")},
};

static void name_rules_check_label(kc_str s, name_rules_messages *m)
{
    if (is_dns_label(s))
        return;
    name_rules_report(
        m, is_subdomain(s)
               ? "must not contain dots"
               : "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or "
                 "'-', and must start and end with an alphanumeric character (e.g. 'my-name',  or "
                 "'123-abc', " MATCHING(LABEL));
}

static void check_path_content(kc_str s, name_rules_messages *m)
{
    if (kc_str_find(s, '/') >= 0)
        name_rules_report(m, "may not contain '/'");
    if (kc_str_find(s, '%') >= 0)
        name_rules_report(m, "may not contain '%'");
}

static void check_path_segment(kc_str s, name_rules_messages *m)
{
    if (kc_str_is(s, "."))
        name_rules_report(m, "may not be '.'");
    else if (kc_str_is(s, ".."))
        name_rules_report(m, "may not be '..'");
    else
        check_path_content(s, m);
}

static void check_prefix_part(kc_str s, bool (*matches)(kc_str), name_rules_messages *m)
{
    if (s.n == 0) {
        name_rules_report(m, "prefix part must be non-empty");
        return;
    }
    if (s.n > 253)
        name_rules_report(m, "prefix part " AT_MOST(253));
    if (!matches(s))
        name_rules_report(m, "prefix part " SUBDOMAIN_TEXT);
}

static void check_qualified_with(kc_str s, bool (*prefix_matches)(kc_str), name_rules_messages *m)
{
    kc_str rest = s, name = kc_str_cut(&rest, '/');
    if (rest.p && kc_str_find(rest, '/') >= 0) {
        name_rules_report(
            m, "a qualified name " NAME_PART_TEXT
               " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')");
        return;
    }
    if (rest.p) {
        check_prefix_part(name, prefix_matches, m);
        name = rest;
    }
    if (name.n == 0)
        name_rules_report(m, "name part must be non-empty");
    else if (name.n > 63)
        name_rules_report(m, "name part " AT_MOST(63));
    if (!is_name_part(name))
        name_rules_report(m, "name part " NAME_PART_TEXT);
}

static void check_qualified(kc_str s, name_rules_messages *m)
{
    check_qualified_with(s, is_subdomain, m);
}

static void check_annotation_key(kc_str s, name_rules_messages *m)
{
    check_qualified_with(s, is_subdomain_of_any_case, m);
}

static void name_rules_check_port(kc_str s, name_rules_messages *m)
{
    bool letter = false;
    for (size_t i = 0; i < s.n; i++)
        letter |= name_rules_equals(s.p[i], LOWER);
    if (!s.n || !all_are(s, LOWER_OR_DIGIT | DASH))
        name_rules_report(m,
                          "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
    if (!letter)
        name_rules_report(m, "must contain at least one letter (a-z)");
    if (kc_str_contains(s, KC_STR("--")))
        name_rules_report(m, "must not contain consecutive hyphens");
    if (s.n && (s.p[0] == '-' || s.p[s.n - 1] == '-'))
        name_rules_report(m, "must not begin or end with a hyphen");
}

/* Keys and variables become file names: none may lead out of its directory. */
static void check_no_parent(kc_str s, name_rules_messages *m)
{
    if (kc_str_is(s, "."))
        name_rules_report(m, "must not be '.'");
    else if (kc_str_is(s, ".."))
        name_rules_report(m, "must not be '..'");
    else if (kc_str_starts(s, KC_STR("..")))
        name_rules_report(m, "must not start with '..'");
}

size_t kc_name_check(kc_name_rule rule, kc_str text, const char *ret_messages[KC_NAME_MESSAGES])
{
    const struct name_rules_rule *r = &rules[rule];
    name_rules_messages m = {.texts = ret_messages};
    if (r->most && text.n > r->most)
        name_rules_report(&m, r->too_long);
    if (r->matches && !r->matches(text))
        name_rules_report(&m, r->mismatch);
    if (r->more)
        r->more(text, &m);
    return m.n;
}

bool kc_name_valid(kc_name_rule rule, kc_str text)
{
    const char *ignored[KC_NAME_MESSAGES];
    return kc_name_check(rule, text, ignored) == 0;
}

size_t kc_name_check_prefix(kc_name_rule rule, kc_str text,
                            const char *ret_messages[KC_NAME_MESSAGES])
{
    name_rules_messages m = {.texts = ret_messages};
    if (rule == KC_NAME_PATH_SEGMENT) {
        check_path_content(text, &m);
        return m.n;
    }
    if (text.n < 2 || text.p[text.n - 1] != '-')
        return kc_name_check(rule, text, ret_messages);
    /* Replaces the dash and the character before it by a letter and checks the result. */
    kc_autofree char *masked = kc_str_dup(kc_str_sub(text, 0, text.n - 1));
    masked[text.n - 2] = 'a';
    return kc_name_check(rule, kc_str_of(masked, text.n - 1), ret_messages);
}

static void add_messages(kc_field_errors *errors, const char *field, kc_str text,
                         const char *const *texts, size_t n)
{
    kc_scoped(kc_buf) quoted = {0};
    if (n)
        kc__go_quote(&quoted, text);
    for (size_t i = 0; i < n; i++)
        kc_field_errors_add(errors, KC_FIELD_INVALID, field, kc_buf_str(&quoted), "%s", texts[i]);
}

void kc_validate_name(kc_field_errors *errors, const char *field, kc_name_rule rule, kc_str text)
{
    const char *texts[KC_NAME_MESSAGES];
    add_messages(errors, field, text, texts, kc_name_check(rule, text, texts));
}

void kc_validate_generate_name(kc_field_errors *errors, const char *field, kc_name_rule rule,
                               kc_str text)
{
    const char *texts[KC_NAME_MESSAGES];
    add_messages(errors, field, text, texts, kc_name_check_prefix(rule, text, texts));
}

void kc_validate_field_manager(kc_field_errors *errors, const char *field, kc_str manager)
{
    /* Does not check its characters then: each error would contain the whole name. */
    if (manager.n > KC_FIELD_MANAGER_MAX) {
        kc_field_errors_add(errors, KC_FIELD_TOO_LONG, field, (kc_str){0},
                            "may not be more than %d bytes", KC_FIELD_MANAGER_MAX);
        return;
    }
    kc_scoped(kc_buf) quoted = {0};
    kc__go_quote(&quoted, manager);
    for (size_t at = 0; at < manager.n;) {
        size_t position = at;
        uint32_t code = kc__go_next_rune(manager, &at);
        if (!kc__go_is_printable(code))
            kc_field_errors_add(errors, KC_FIELD_INVALID, field, kc_buf_str(&quoted),
                                "invalid character U+%04X (at position %zu)", code, position);
    }
}

kc_str kc_generate_name(kc_str base, kc_rand *rand, char out[KC_GENERATED_NAME])
{
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    enum { RANDOM = 5, LONGEST = 63 - RANDOM };
    size_t n = KC_MIN(base.n, (size_t)LONGEST), end = n + RANDOM;
    memcpy(out, base.n ? base.p : "", n);
    while (n < end)
        out[n++] = letters[kc_rand_below(rand, sizeof(letters) - 1)];
    out[n] = '\0';
    return kc_str_of(out, n);
}
