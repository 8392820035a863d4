/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "kc/dlist.h"

typedef struct item {
    char name;
    kc_dlist_link link;
} item;

/* The names in the list, forwards; also checks the backward links. */
static const char *names_of(kc_dlist *list, char *text)
{
    size_t n = 0;
    kc_dlist_each (list, item, link, it)
        text[n++] = it->name;
    text[n] = '\0';
    for (kc_dlist_link *link = list->head.prev; link != &list->head; link = link->prev)
        assert_int_equal(kc_container_of(link, item, link)->name, text[--n]);
    assert_int_equal(n, 0);
    return text;
}

#define assert_names(list, expected) assert_string_equal(names_of(list, (char[32]){0}), expected)

typedef struct fixture {
    kc_dlist list;
    item items[4];
} fixture;

static fixture *setup(fixture *f, const char *names)
{
    kc_dlist_init(&f->list);
    for (size_t i = 0; names[i]; i++) {
        f->items[i] = (item){.name = names[i]};
        kc_dlist_push(&f->list, &f->items[i].link);
    }
    return f;
}

static void push_adds_at_both_ends(void **state)
{
    (void)state;
    fixture f;
    setup(&f, "bc");
    item a = {.name = 'a'};
    kc_dlist_push_front(&f.list, &a.link);
    assert_names(&f.list, "abc");
}

static void empty_list_has_no_elements(void **state)
{
    (void)state;
    fixture f;
    setup(&f, "");
    assert_true(kc_dlist_empty(&f.list));
    assert_null(kc_dlist_first(&f.list));
    assert_null(kc_dlist_pop(&f.list));
    assert_names(&f.list, "");
}

static void pop_removes_first_element(void **state)
{
    (void)state;
    fixture f;
    setup(&f, "ab");
    assert_ptr_equal(kc_dlist_first(&f.list), &f.items[0].link);
    assert_ptr_equal(kc_dlist_pop(&f.list), &f.items[0].link);
    assert_false(kc_dlist_is_linked(&f.items[0].link));
    assert_names(&f.list, "b");
}

static void element_is_removed_without_its_list(void **state)
{
    (void)state;
    fixture f;
    setup(&f, "abc");
    kc_dlist_remove(&f.items[1].link);
    kc_dlist_remove(&f.items[1].link);
    assert_false(kc_dlist_is_linked(&f.items[1].link));
    assert_true(kc_dlist_is_linked(&f.items[0].link));
    assert_names(&f.list, "ac");
}

static void current_element_may_be_removed_and_freed(void **state)
{
    (void)state;
    kc_dlist list;
    kc_dlist_init(&list);
    for (int i = 0; i < 10; i++)
        kc_dlist_push(&list, &kc_new(item)->link);
    kc_dlist_each (&list, item, link, it) {
        kc_dlist_remove(&it->link);
        free(it);
    }
    assert_true(kc_dlist_empty(&list));
}

static void break_ends_the_loop(void **state)
{
    (void)state;
    fixture f;
    setup(&f, "abcd");
    char seen[5] = {0};
    size_t n = 0;
    kc_dlist_each (&f.list, item, link, it) {
        if (it->name == 'a')
            continue;
        if (it->name == 'c')
            break;
        seen[n++] = it->name;
    }
    assert_string_equal(seen, "b");
}

static void splice_moves_all_elements_to_the_end(void **state)
{
    (void)state;
    fixture f, g, empty;
    setup(&f, "ab");
    setup(&g, "cd");
    setup(&empty, "");
    kc_dlist_splice(&f.list, &g.list);
    assert_names(&f.list, "abcd");
    assert_true(kc_dlist_empty(&g.list));
    kc_dlist_splice(&f.list, &empty.list);
    assert_names(&f.list, "abcd");
    kc_dlist_splice(&empty.list, &f.list);
    assert_names(&empty.list, "abcd");
}

TESTS(push_adds_at_both_ends, empty_list_has_no_elements, pop_removes_first_element,
      element_is_removed_without_its_list, current_element_may_be_removed_and_freed,
      break_ends_the_loop, splice_moves_all_elements_to_the_end)
