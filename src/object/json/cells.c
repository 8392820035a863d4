/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells.c: reads canonical text into the cells of a view.
 *
 * The text of an object was checked when it arrived, so its reader needs no checks: a string ends
 * at the next quote, if the text has no backslash, and after a value stands a comma or the end of
 * its container. Phases of a request make views again and again, so this is a hot loop, as scan.c
 * is. What canonical text rarely has (escapes, exponents, numbers of many digits) is left to the
 * full parser, which reads the same text.
 *
 * The cells are those that the full parser makes: a container before its content, with the distance
 * to its end. Strings stay where they are in the text, and the quote behind each becomes its NUL.
 *
 * Each cells_of_ function takes the position of its input and returns the one after it, or NULL for
 * a number that it does not read.
 */
#include "kc/ascii.h"
#include "object/model/object_internal.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { MOST_DIGITS = 18, MOST_EXACT = 15 };

/* A growing array; pointers, because adding to it is most of the work. */
typedef struct json_cells {
    kc_value *items, *next, *end;
} json_cells;

/* Not inline, so that the rest is, and a string takes no call. */
static void reserve_cells(json_cells *cells, size_t room) __attribute__((noinline));
static char *cells_of_number(json_cells *cells, char *at) __attribute__((noinline));
static char *cells_of_container(json_cells *cells, char *at) __attribute__((noinline));

static void reserve_cells(json_cells *cells, size_t room)
{
    const size_t n = (size_t)(cells->next - cells->items);
    cells->items = kc_reallocarray(cells->items, room, sizeof(*cells->items));
    cells->next = cells->items + n;
    cells->end = cells->items + room;
}

static inline kc_value *add_cell(json_cells *cells)
{
    if (cells->next == cells->end)
        reserve_cells(cells, 2 * (size_t)(cells->end - cells->items));
    return cells->next++;
}

/* The quote that ends a string. Reads up to KC__JSON_PADDING bytes behind the text. */
static inline char *closing_quote(char *at)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"');
    for (;; at += 16) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        const unsigned mask = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, quote));
        if (mask)
            return at + __builtin_ctz(mask);
    }
#else
    while (*at != '"')
        at++;
    return at;
#endif
}

static inline char *cells_of_string(json_cells *cells, char *at)
{
    char *text = at + 1, *end = closing_quote(text);
    *end = '\0';
    *add_cell(cells) = (kc_value){.tag = (uint64_t)(end - text) << YYJSON_TAG_BIT |
                                         YYJSON_TYPE_STR | YYJSON_SUBTYPE_NOESC,
                                  .uni.str = text};
    return end + 1;
}

/* A number with a fraction, which starts at `digits` and has its point at `at`. A quotient of two
 * exact numbers is rounded once, so it is the number that is nearest to the text. */
static char *cells_of_fraction(json_cells *cells, const char *digits, char *at, uint64_t number,
                               bool negative)
{
    static const double powers[MOST_EXACT + 1] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                  1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    const char *point = at++;
    for (; kc_is_digit(*at); at++)
        number = number * 10 + (uint64_t)(*at - '0');
    if (at - digits - 1 > MOST_EXACT || *at == 'e' || *at == 'E')
        return NULL;
    const double value = (double)number / powers[at - point - 1];
    *add_cell(cells) = (kc_value){.tag = YYJSON_TYPE_NUM | YYJSON_SUBTYPE_REAL,
                                  .uni.f64 = negative ? -value : value};
    return at;
}

static char *cells_of_number(json_cells *cells, char *at)
{
    const bool negative = *at == '-';
    uint64_t number = 0;
    at += negative;
    const char *digits = at;
    for (; kc_is_digit(*at); at++)
        number = number * 10 + (uint64_t)(*at - '0');
    if (*at == '.')
        return cells_of_fraction(cells, digits, at, number, negative);
    if (at - digits > MOST_DIGITS || (negative && !number) || *at == 'e' || *at == 'E')
        return NULL;
    *add_cell(cells) =
        negative
            ? (kc_value){.tag = YYJSON_TYPE_NUM | YYJSON_SUBTYPE_SINT, .uni.i64 = -(int64_t)number}
            : (kc_value){.tag = YYJSON_TYPE_NUM | YYJSON_SUBTYPE_UINT, .uni.u64 = number};
    return at;
}

static char *cells_of_word(json_cells *cells, char *at)
{
    static const uint8_t types[] = {['t' - 'f'] = YYJSON_TYPE_BOOL | YYJSON_SUBTYPE_TRUE,
                                    ['f' - 'f'] = YYJSON_TYPE_BOOL | YYJSON_SUBTYPE_FALSE,
                                    ['n' - 'f'] = YYJSON_TYPE_NULL};
    *add_cell(cells) = (kc_value){.tag = types[*at - 'f']};
    return at + (*at == 'f' ? 5 : 4);
}

static inline char *cells_of_value(json_cells *cells, char *at)
{
    if (*at == '"')
        return cells_of_string(cells, at);
    switch (*at) {
    case '{':
    case '[': return cells_of_container(cells, at);
    case 't':
    case 'f':
    case 'n': return cells_of_word(cells, at);
    default: return cells_of_number(cells, at);
    }
}

static char *cells_of_container(json_cells *cells, char *at)
{
    const bool object = *at++ == '{';
    const size_t place = (size_t)(cells->next - cells->items);
    size_t len = 0;
    *add_cell(cells) = (kc_value){0};
    if (*at == '}' || *at == ']')
        at++;
    else
        do {
            if (object)
                at = cells_of_string(cells, at) + 1;
            at = cells_of_value(cells, at);
            if (!at)
                return NULL;
            len++;
        } while (*at++ == ',');
    kc_value *cell = &cells->items[place];
    cell->tag = (uint64_t)len << YYJSON_TAG_BIT | (object ? YYJSON_TYPE_OBJ : YYJSON_TYPE_ARR);
    cell->uni.ofs = (size_t)(cells->next - cell) * sizeof(*cell);
    return at;
}

/* Sets the quotes behind strings again. */
static void restore_text(const json_cells *cells)
{
    for (const kc_value *cell = cells->items; cell < cells->next; cell++)
        if (unsafe_yyjson_get_type((kc_value *)cell) == YYJSON_TYPE_STR)
            ((char *)cell->uni.str)[unsafe_yyjson_get_len((kc_value *)cell)] = '"';
}

void kc__json_read_canonical(char *text, size_t n, kc_view *ret)
{
    enum { BYTES_OF_CELL = 6 }; /* Most texts have fewer cells than one for that many bytes. */
    json_cells cells = {0};
    memset(text + n, 0, KC__JSON_PADDING);
    *ret = (kc_view){.text = text};
    if (!memchr(text, '\\', n)) {
        reserve_cells(&cells, n / BYTES_OF_CELL + 8);
        const char *end = cells_of_value(&cells, text);
        assert(!end || end == text + n);
        if (end) {
            ret->root = cells.items;
            return;
        }
        restore_text(&cells);
        free(cells.items);
    }
    ret->doc = yyjson_read_opts(text, n, YYJSON_READ_INSITU, &kc__object_allocator, NULL);
    assert(ret->doc);
}
