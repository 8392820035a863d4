/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entry.c: the entries of a queue and their causes.
 *
 * An entry has room for most keys; a longer key gets an entry of its own size. Most keys have one
 * cause, themselves, which is stored in the entry. A block of causes, with room for the keys of
 * other objects, is attached to an entry when needed; some free blocks are kept, so that the queue
 * allocates nothing while it does not grow.
 */
#include "runtime/queue/queue_internal.h"

enum { SPARE_CAUSES = 256 };

/* ---- entries ---- */

static kc__queue_entry *allocate(kc_queue *queue, size_t text)
{
    if (text <= KC__QUEUE_COMMON_TEXT)
        return kc__queue_slabs_take(&queue->slabs);
    return kc_calloc(1, sizeof(kc__queue_entry) + text);
}

static void deallocate(kc_queue *queue, kc__queue_entry *entry)
{
    if (entry->slab)
        kc__queue_slabs_put(&queue->slabs, entry);
    else
        free(entry);
}

static kc_str queue_entry_put_text(char *to, kc_str text)
{
    if (text.n)
        memcpy(to, text.p, text.n);
    return (kc_str){to, text.n};
}

kc__queue_entry *kc__queue_entry_new(kc_queue *queue, kc_key key, uint64_t hash)
{
    kc__queue_entry *entry = allocate(queue, key.ns.n + key.name.n);
    entry->node.hash = hash;
    entry->node.key.ns = queue_entry_put_text(entry->text, key.ns);
    entry->node.key.name = queue_entry_put_text(entry->text + key.ns.n, key.name);
    kc__key_table_insert(&queue->entries, &entry->node);
    return entry;
}

void kc__queue_entry_free(kc_queue *queue, kc__queue_entry *entry)
{
    kc__key_table_remove(&queue->entries, &entry->node);
    kc__queue_drop_causes(queue, &entry->waits);
    deallocate(queue, entry);
}

void kc__queue_entries_done(kc_queue *queue)
{
    kc__key_table_each(&queue->entries, node)
    {
        kc__queue_entry *entry = kc_container_of(node, kc__queue_entry, node);
        free(entry->waits.block);
        free(entry->works.block);
        deallocate(queue, entry);
    }
    kc__key_table_done(&queue->entries);
    kc__queue_slabs_done(&queue->slabs);
    for (kc__queue_cause_block *next, *causes = queue->spare_causes; causes; causes = next) {
        next = causes->next;
        free(causes);
    }
}

/* ---- causes ---- */

static kc__queue_cause_block *borrow_causes(kc_queue *queue)
{
    kc__queue_cause_block *causes = queue->spare_causes;
    if (!causes)
        return kc_new(kc__queue_cause_block);
    queue->spare_causes = causes->next;
    queue->n_spare_causes--;
    causes->n = causes->newest = 0;
    return causes;
}

void kc__queue_drop_causes(kc_queue *queue, kc__queue_causes_of_entry *causes)
{
    kc__queue_cause_block *block = kc_take(causes->block);
    causes->n = 0;
    if (!block)
        return;
    if (queue->n_spare_causes >= SPARE_CAUSES) {
        free(block);
        return;
    }
    block->next = queue->spare_causes;
    queue->spare_causes = block;
    queue->n_spare_causes++;
}

static void push_cause(kc__queue_cause_block *causes, const kc_queue_cause *cause, int64_t at)
{
    causes->newest = (causes->newest + 1) % KC_QUEUE_CAUSES;
    causes->n = KC_MIN(causes->n + 1, (unsigned)KC_QUEUE_CAUSES);
    kc_queue_cause *kept = &causes->list[causes->newest];
    char *text = causes->text[causes->newest];
    kc_str ns = kc_str_sub(cause->key.ns, 0, KC__QUEUE_CAUSE_TEXT);
    *kept = *cause;
    kept->at = at;
    kept->key.ns = queue_entry_put_text(text, ns);
    kept->key.name = queue_entry_put_text(
        text + ns.n, kc_str_sub(cause->key.name, 0, (size_t)KC__QUEUE_CAUSE_TEXT - ns.n));
}

static kc_queue_cause own_cause(const kc__queue_own_cause *own)
{
    return (kc_queue_cause){
        .reason = own->reason, .kind = own->kind, .revision = own->revision, .at = own->at};
}

/* The block of an entry, with the single cause that it had before. */
static kc__queue_cause_block *block_of(kc_queue *queue, kc__queue_causes_of_entry *causes)
{
    if (causes->block)
        return causes->block;
    causes->block = borrow_causes(queue);
    kc_queue_cause first = own_cause(&causes->own);
    if (causes->n)
        push_cause(causes->block, &first, first.at);
    return causes->block;
}

void kc__queue_add_cause(kc_queue *queue, kc__queue_entry *entry, const kc_queue_cause *cause,
                         int64_t now)
{
    kc__queue_causes_of_entry *causes = &entry->waits;
    bool own = !cause->key.name.n || kc__key_same(cause->key, entry->node.key);
    if (own && causes->n == 0) {
        causes->own = (kc__queue_own_cause){cause->kind, cause->revision, now, cause->reason};
        causes->n = 1;
        return;
    }
    kc_queue_cause kept = *cause;
    if (own)
        kept.key = (kc_key){0};
    push_cause(block_of(queue, causes), &kept, now);
    if (causes->n < UINT32_MAX)
        causes->n++;
}

size_t kc__queue_causes(const kc__queue_causes_of_entry *causes, kc_key own, kc_queue_cause *ret,
                        size_t *ret_more)
{
    const kc__queue_cause_block *block = causes->block;
    size_t n = block ? block->n : causes->n;
    if (!block && n)
        ret[0] = own_cause(&causes->own);
    for (size_t i = 0; block && i < n; i++)
        ret[i] = block->list[(block->newest + KC_QUEUE_CAUSES - i) % KC_QUEUE_CAUSES];
    for (size_t i = 0; i < n; i++)
        if (!ret[i].key.name.n)
            ret[i].key = own;
    *ret_more = causes->n - n;
    return n;
}

const char *kc__queue_reason_text(kc_queue_reason reason)
{
    static const char *const texts[] = {
        [KC_QUEUE_REASON_OTHER] = "Other",     [KC_QUEUE_REASON_CREATED] = "Created",
        [KC_QUEUE_REASON_UPDATED] = "Updated", [KC_QUEUE_REASON_DELETED] = "Deleted",
        [KC_QUEUE_REASON_GENERIC] = "Generic", [KC_QUEUE_REASON_RESYNC] = "Resync",
        [KC_QUEUE_REASON_RETRY] = "Retry",     [KC_QUEUE_REASON_REQUEUE] = "Requeue",
    };
    return (size_t)reason < KC_COUNT(texts) ? texts[reason] : "Other";
}
