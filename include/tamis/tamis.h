/* tamis.h - compact sets that change
 *
 * A tamis_filter answers "is this key in the set?" from a few bits per key.  It is never wrong for
 * a key that was inserted and not removed; for a key that is not there it answers "present" with a
 * small probability, the error rate, which was promised when the filter was planned.
 *
 *     tamis_filter *f;
 *     if (tamis_filter_new(1000000, 0.001, &f) == TAMIS_OK) {
 *         if (tamis_filter_insert(f, "apple", 5, NULL) == TAMIS_OK)
 *             puts(tamis_filter_contains(f, "apple", 5) ? "apple: present" : "never printed");
 *         tamis_filter_free(f);
 *     }
 *
 * Read this first:
 *
 *  - "present" means probably present.  Only "absent" is certain.
 *  - Never remove a key that was not inserted.  A filter that can see the mistake refuses it with
 *    TAMIS_E_NOT_FOUND; with the probability of its error rate it cannot, and then a key that
 *    shares all that is stored of the removed one is lost.
 *  - Keys are hashed under a seed, which is chosen at random unless you give one.  With the default hash,
 *    TAMIS_HASH_AES, nobody who picks keys and knows neither the seed nor the file can prepare keys that
 *    collide.  The seed is stored in the file: who reads the file knows it.  TAMIS_HASH_XXH3 is for keys that
 *    nobody chooses to do harm.  docs/hash.md says what is promised to whom.
 *  - Filters can be merged only if they have the same parameters, the same hash and the same seed.
 *  - Threads: any number of threads may read a filter at the same time.  A call that changes a filter
 *    (it takes a pointer without const) needs it for itself alone.  Nothing is locked inside, and
 *    distinct filters share nothing.  For sets that threads change together there is tamis/shared.h.
 *  - The library does not print, exit, abort or set errno, and it allocates only in the functions
 *    that make a filter or let it grow, and in those that say so: refresh, merge, and writing the
 *    compact form to a file.  A call that fails leaves everything as it was before.
 *
 * Structs that cross this interface begin with struct_size, which their _init function sets; zero in
 * any other member means the default.  That is how members can be added without breaking callers.
 *
 * Planning is in tamis/plan.h, the analysis by itself in tamis/model.h.
 *
 * The header is not split: it is the manual of one handle.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_TAMIS_H
#define TAMIS_TAMIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TAMIS_VERSION_MAJOR 0
#define TAMIS_VERSION_MINOR 1
#define TAMIS_VERSION_PATCH 0

#if defined(__GNUC__) && __GNUC__ >= 4
#define TAMIS_API        __attribute__((visibility("default")))
#define TAMIS_MUST_CHECK __attribute__((warn_unused_result))
#else
#define TAMIS_API
#define TAMIS_MUST_CHECK
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------------------------------------------------
 * Status
 */

/* What a call that can fail returns.  The numbers are part of the interface and do not change. */
typedef enum tamis_status {
    TAMIS_OK = 0,
    TAMIS_E_ARGUMENT = 1,    /* an argument is out of its range, or a pointer is NULL */
    TAMIS_E_NOMEM = 2,       /* the allocator returned NULL */
    TAMIS_E_FULL = 3,        /* no room for this key: table and stash are full */
    TAMIS_E_NOT_FOUND = 4,   /* the key to be removed is certainly not in the set */
    TAMIS_E_UNSUPPORTED = 5, /* this kind of filter cannot do that */
    TAMIS_E_MISMATCH = 6,    /* two filters differ in kind, parameters, hash or seed */
    TAMIS_E_READONLY = 7,    /* the filter is a read-only view */
    TAMIS_E_TOO_LARGE = 8,   /* a size does not fit this machine or the limits of the format */
    TAMIS_E_IO = 9,          /* the operating system refused to read, write, map or give entropy */
    TAMIS_E_FORMAT = 10,     /* the bytes are not a tamis file, or are damaged */
    TAMIS_E_VERSION = 11,    /* the file was written by a newer version of the format */
    TAMIS_E_DOMAIN = 12,     /* a model was asked outside the domain where it holds */
    TAMIS_E_LOCKED = 13,     /* the table is open elsewhere, or by a parent (tamis/table.h) */
    TAMIS_E_AMBIGUOUS = 14,  /* several links of a series claim the key to be removed */
    TAMIS_E_PROMISE = 15     /* the set would err, or errs, more often than was promised */
} tamis_status;

/* The meaning of 'status' in a few English words; "unknown status" for any other number.
 * The text is static. */
TAMIS_API const char *tamis_status_text(tamis_status status);

/* The version of the library at run time, "major.minor.patch".  The text is static. */
TAMIS_API const char *tamis_version(void);

/* -------------------------------------------------------------------------------------------------
 * Memory
 */

/* Where a filter's memory comes from.  A filter is one block, allocated when it is made and freed by
 * tamis_filter_free.  Calls that need memory for themselves, which they say, take it from there too and give
 * it back before they return; inserting, removing and asking never do, unless the filter may grow.
 *
 * alloc returns a block of at least 'size' bytes, aligned to 'align' (a power of two, at least 64),
 * or NULL; its content does not matter.  free gets the same 'size' back.  Both must stay callable
 * as long as the filter lives.  Where NULL is passed for an allocator, the filter uses the system's
 * memory, with huge pages where the system offers them.
 *
 * alloc_zeroed may be NULL; then blocks that must be zero are cleared after alloc.  An allocator that has
 * fresh pages of the system, which are zero, saves that by it: a large filter is then made, and grows, at
 * once. */
typedef struct tamis_allocator {
    void *(*alloc)(void *context, size_t size, size_t align);
    void (*free)(void *context, void *block, size_t size);
    void *context;
    void *(*alloc_zeroed)(void *context, size_t size, size_t align);
} tamis_allocator;

/* -------------------------------------------------------------------------------------------------
 * Keys and digests
 */

/* A key is any string of bytes, also the empty one.  It is hashed once, to a digest of 128 bits, by the
 * filter's hash and seed, and everything below works on the digest. */
typedef struct tamis_digest {
    uint64_t lo;
    uint64_t hi;
} tamis_digest;

/* A key by reference, for the batched calls. */
typedef struct tamis_bytes {
    const void *data;
    size_t size;
} tamis_bytes;

/* The hashes.  The numbers are stored in files and do not change; nor do the digests (docs/format.md). */
typedef enum tamis_hash_id {
    TAMIS_HASH_DEFAULT = 0, /* TAMIS_HASH_AES */
    TAMIS_HASH_XXH3 = 1, /* XXH3-128, a seed of 64 bits: for keys that nobody chooses to do harm */
    TAMIS_HASH_AES = 2   /* universal hash and AES-128, a seed of 128 bits: for keys from anyone */
} tamis_hash_id;

/* The name of a hash as the command line spells it ("aes"), or NULL for no such hash. */
TAMIS_API const char *tamis_hash_name(tamis_hash_id hash);

/* A hash with its seed, ready for use: see tamis_hasher_init, below.  Its size is part of the interface; its
 * content is not.  It may be copied, and many threads may read it. */
typedef union tamis_hasher {
    uint64_t words[256];
    long double aligned;
} tamis_hasher;

/* Digest of the 'size' bytes at 'key'.  'key' may be NULL if 'size' is 0.
 *
 * Use it to hash once and ask many filters that share hash and seed.  A caller with good 128-bit hashes of
 * their own may pass those instead, to every function that takes a digest: all 128 bits should look random.
 * Filters do not tell the two apart. */
TAMIS_API tamis_digest tamis_hash(const tamis_hasher *hasher, const void *key, size_t size);

/* Digest of an integer key: that of its 8 bytes in little-endian order, but faster. */
TAMIS_API tamis_digest tamis_hash_u64(const tamis_hasher *hasher, uint64_t key);

/* Which of n sets or machines a key belongs to, 0 to n - 1; n >= 1.  The same digest always gives the same
 * number, on every machine.
 *
 * Use it to split keys over several sets of your own.  Do not take bits of the digest for that: the sets draw
 * from the same bits.  With digest.hi % 64 each of 64 sets gets keys that agree in six bits of their
 * fingerprints, and errs up to 64 times as often as promised; with the upper bits of digest.lo all its keys
 * go to a sixty-fourth of its buckets, and it is full at once.  Here all bits are mixed again. */
TAMIS_API uint64_t tamis_digest_shard(tamis_digest digest, uint64_t n);

/* -------------------------------------------------------------------------------------------------
 * Kinds and parameters
 */

/* The structures.  The numbers are stored in files and do not change; 10 and 11 were kinds that are gone. */
typedef enum tamis_kind {
    TAMIS_KIND_ANY = 0,            /* the planner chooses */
    TAMIS_KIND_BLOOM = 1,          /* standard Bloom filter: a set, no removal */
    TAMIS_KIND_COUNTING_BLOOM = 2, /* counting Bloom filter, 4-bit counters: a multiset, removal */
    TAMIS_KIND_BLOCKED_BLOOM = 3,  /* Bloom filter within one cache line: a set, no removal */
    TAMIS_KIND_DLEFT = 4,          /* d-left buckets, shrinking fingerprints: a set, no removal */
    TAMIS_KIND_DLEFT_COUNTING = 5, /* d-left buckets of counted cells: a multiset, removal */
    TAMIS_KIND_DLEFT_DYNAMIC = 6,  /* the same, with remainders that shrink: a multiset, removal */
    TAMIS_KIND_RANK = 7,           /* rank-indexed chains of fingerprints: a multiset, removal */
    TAMIS_KIND_RANK_COUNTING = 8,  /* the same with a counter in each slot: a multiset, removal */
    TAMIS_KIND_BALANCED_BLOOM = 9, /* Bloom filters in balanced blocks: a set, no removal */
    TAMIS_KIND_STEADY =
        12, /* runs of fingerprints that spill over: a multiset, removal, never ages */
    TAMIS_KIND_WINDOW = 13, /* the same with ages: a set that forgets (tamis/window.h) */
    TAMIS_KIND_LINE = 14 /* fingerprints in one line per key: a multiset with removal, or a set */
} tamis_kind;

/* The name of a kind as the command line spells it ("blocked-bloom"), or NULL for no such kind.
 * The text is static. */
TAMIS_API const char *tamis_kind_name(tamis_kind kind);

/* Fill 'kind' with the kind called 'name'.  TAMIS_E_ARGUMENT if there is none. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_kind_parse(const char *name, tamis_kind *kind);

/* What a kind can do, as a sum of these; 0 for no such kind. */
#define TAMIS_CAN_REMOVE 1u /* tamis_filter_remove */
#define TAMIS_CAN_COUNT  2u /* multiset: a key may be there several times, tamis_filter_copies */
#define TAMIS_CAN_MERGE  4u /* tamis_filter_merge */
#define TAMIS_CAN_FORGET 8u /* tamis_window_tick (tamis/window.h) */
TAMIS_API unsigned tamis_kind_abilities(tamis_kind kind);

/* Exact parameters of a filter: all that is needed, with the keys, to build the same bytes again.
 *
 * The meaning of value[i] depends on the kind and is given by an index below and a name
 * (tamis_param_name).  This struct is complete and does not grow: new parameters are new indices. */
#define TAMIS_PARAMS_MAX 16
typedef struct tamis_params {
    size_t struct_size;
    tamis_kind kind;    /* required */
    tamis_hash_id hash; /* of keys */
    uint64_t capacity;  /* keys that it is made for, 1 to 2^40; required */
    uint64_t seed;      /* of the hash; 0: a random one is chosen, if seed_high is 0 too */
    uint64_t seed_high; /* its upper 64 bits; 0 for TAMIS_HASH_XXH3 */
    uint64_t stash;     /* keys that the stash can take; 0: the kind's default */
    uint64_t value[TAMIS_PARAMS_MAX];
    /* The error rate that was promised for 'capacity' keys: what a plan was asked for.  The set carries it
     * (tamis_filter_promise), nothing is computed from it.  Below 1; 0: none was promised. */
    double fpr;
} tamis_params;

#define TAMIS_CAPACITY_MAX ((uint64_t)1 << 40)

/* What a set of these parameters can do, a sum as above: what its kind can, or less, as a 'line' that is a
 * set.  0 if there is no such kind, or struct_size makes no sense. */
TAMIS_API unsigned tamis_params_abilities(const tamis_params *params);

/* bloom */
#define TAMIS_BLOOM_BITS        0 /* bits in the table, any number up to 2^48; default 9.6 per key */
#define TAMIS_BLOOM_HASHES      1 /* bits set per key, 1 to 64; default bits/capacity * ln 2 */
#define TAMIS_BLOOM_PARTITIONED 2 /* 1: each hash has its own equal part of the table; default 0 */
/* counting-bloom */
#define TAMIS_COUNTING_BLOOM_COUNTERS 0 /* counters of 4 bits, up to 2^46; default 9.6 per key */
#define TAMIS_COUNTING_BLOOM_HASHES   1 /* counters raised per key, 1 to 64 */
/* blocked-bloom */
#define TAMIS_BLOCKED_BLOOM_BLOCKS 0 /* blocks of 512 bits, up to 2^39; default 10.5 bits per key */
#define TAMIS_BLOCKED_BLOOM_HASHES 1 /* bits set per key in its block, 1 to 16 */
#define TAMIS_BLOCKED_BLOOM_LANES                                                                  \
    2 /* 0: anywhere in it; 8: one in each of eight words, hashes is 8 */

/* dleft */
#define TAMIS_DLEFT_BUCKET_BITS 0 /* 64 or 128; default 64 */
#define TAMIS_DLEFT_SUBTABLES   1 /* 2 to 4; default 3, or 2 for tamis_filter_build */
#define TAMIS_DLEFT_BUCKETS     2 /* per subtable, up to 2^38; default: mean load 4 (64), 6.4 (128) */
#define TAMIS_DLEFT_GROUP       3 /* 1 or 4 buckets share their bits; default 1 */
#define TAMIS_DLEFT_PLAIN       4 /* 1: without semi-sorting, twice the errors or more; default 0 */

/* dleft-counting; bits of a bucket: cells * (remainder + counter), up to 512 */
#define TAMIS_DLEFT_COUNTING_SUBTABLES      0 /* 2 to 4; default 4 */
#define TAMIS_DLEFT_COUNTING_BUCKETS        1 /* per subtable, up to 2^38; default: 3/4 of cells used */
#define TAMIS_DLEFT_COUNTING_CELLS          2 /* per bucket, 2 to 16; default 8 */
#define TAMIS_DLEFT_COUNTING_REMAINDER_BITS 3 /* of a cell, 1 to 32; default 14 */
#define TAMIS_DLEFT_COUNTING_COUNTER_BITS   4 /* of a cell, 1 to 8, 64 in a bucket; default 2 */
#define TAMIS_DLEFT_COUNTING_MOVES          5 /* longest chain of moves, 1 to 8 or TAMIS_NONE; default 3 */
#define TAMIS_NONE                          255 /* a parameter of 0, where 0 already means the default */

/* dleft-dynamic */
#define TAMIS_DLEFT_DYNAMIC_SUBTABLES      0 /* 2 to 4; default 4 */
#define TAMIS_DLEFT_DYNAMIC_BUCKETS        1 /* per subtable, up to 2^38; default: mean load 6 */
#define TAMIS_DLEFT_DYNAMIC_BUCKET_BITS    2 /* up to 512; default 128 */
#define TAMIS_DLEFT_DYNAMIC_REMAINDER_BITS 3 /* that are always kept, 2 to 32; default 12 */
#define TAMIS_DLEFT_DYNAMIC_COUNTER_BITS   4 /* of an element, 1 to 8 or TAMIS_NONE; default 1 */
#define TAMIS_DLEFT_DYNAMIC_SIZES          5 /* lengths in a bucket, 1 or 2; default 2 */
#define TAMIS_DLEFT_DYNAMIC_MOVES          6 /* longest chain of moves, 1 to 8 or TAMIS_NONE; default 3 */

/* balanced-bloom */
#define TAMIS_BALANCED_BLOOM_SCHEME  0 /* 1 SINGLE, 2 SEQUENTIAL, 3 MHT; default 3 */
#define TAMIS_BALANCED_BLOOM_CHOICES 1 /* of a key, 1 to 8, 1 for SINGLE; default 3 */
#define TAMIS_BALANCED_BLOOM_BLOCK_BITS                                                            \
    2                                   /* a multiple of 64 up to 512, with counter; default 512 */
#define TAMIS_BALANCED_BLOOM_BLOCKS   3 /* in all, up to 2^38; default 12 bits per key */
#define TAMIS_BALANCED_BLOOM_HASHES   4 /* bits set per key in its block, 1 to 32 */
#define TAMIS_BALANCED_BLOOM_LOAD_MAX 5 /* keys in a block, 1 to 4095; default: mean + 1 */
#define TAMIS_BALANCED_BLOOM_COIN     6 /* of 2^32 keys, those taken as last; default 2^32 */
#define TAMIS_BALANCED_BLOOM_RATIO    7 /* MHT: sub-table to the one before, of 2^32; default 0.1708 */
#define TAMIS_BALANCED_BLOOM_BUDGET   8 /* looks per 1000 keys, 1000 to 8000; default: no limit */

/* rank, rank-counting; the defaults from 'slots' on belong together, for buckets = 0 only */
#define TAMIS_RANK_BUCKETS          0 /* up to 2^38; default: 0.64 keys per home */
#define TAMIS_RANK_HOMES            1 /* of a bucket, 1 to 64; default 64 if buckets = 0 */
#define TAMIS_RANK_FINGERPRINT_BITS 2 /* of a fingerprint, 1 to 56; default 6 */
#define TAMIS_RANK_SLOTS            3 /* of a bucket, 1 to 512 */
#define TAMIS_RANK_SLOTS_2          4 /* of an extension of it, up to 512 */
#define TAMIS_RANK_SLOTS_3          5 /* of a second extension, up to 512 */
#define TAMIS_RANK_EXTENSIONS_2     6 /* of the first kind, up to the number of buckets */
#define TAMIS_RANK_EXTENSIONS_3     7 /* of the second kind, up to that of the first */
#define TAMIS_RANK_VALUE_BITS       8 /* rank: of a value kept with each key, up to 8; default none */
#define TAMIS_RANK_COUNTER_BITS     8 /* rank-counting: of a counter, 1 to 8; default 2 */

/* steady; the defaults of the spill buckets and origin bits belong together, for buckets = 0 only */
#define TAMIS_STEADY_BUCKETS          0 /* up to 2^38; default: 0.92 of the slots are used */
#define TAMIS_STEADY_BUCKET_BITS      1 /* of a bucket, a multiple of 512 up to 32768; default 1024 */
#define TAMIS_STEADY_HOMES            2 /* of a bucket, 1 to bucket_bits - 2; default a sixth of its bits */
#define TAMIS_STEADY_FINGERPRINT_BITS 3 /* of a fingerprint, 1 to 48; default 9 */
#define TAMIS_STEADY_SPILL_BUCKETS    4 /* of the back, where full buckets spill over, 0 to 2^38 */
#define TAMIS_STEADY_SPILL_BITS       5 /* of a bucket of the back, a multiple of 512 up to 32768 */
#define TAMIS_STEADY_ORIGIN_BITS                                                                   \
    6 /* of an entry in the back: which of 2^this buckets it is of; 0 to 8 */
#define TAMIS_STEADY_VALUE_BITS   7 /* of a value kept with each key, up to 8; default none */
#define TAMIS_STEADY_COUNTER_BITS 8 /* of a counter kept with each key, up to 8; default none */
#define TAMIS_STEADY_COPIES       9 /* equal entries in a run, 1 to 255, before the stash; default 4 */

/* window; the first seven are those of steady */
#define TAMIS_WINDOW_TICKS 7 /* of which the keys are kept, 1 to 126; default 8 */

/* line */
#define TAMIS_LINE_LINES            0 /* of 512 bits, in front */
#define TAMIS_LINE_HOMES            1 /* of a line */
#define TAMIS_LINE_FINGERPRINT_BITS 2 /* of a fingerprint */
#define TAMIS_LINE_BACK_LINES       3 /* of the back, which has what full lines give away */
#define TAMIS_LINE_BACK_HOMES       4 /* of a line of the back */
#define TAMIS_LINE_VALUE_BITS       5 /* of a value kept with each key; default none */
#define TAMIS_LINE_SET              6 /* 1: a set, a key that seems present is not stored again; default 0 */

/* All members zero but struct_size. */
static inline void tamis_params_init(tamis_params *params) {
    memset(params, 0, sizeof *params);
    params->struct_size = sizeof *params;
}

/* Set seed and seed_high to the seed that 'text' is: a number from 1 to 2^64 - 1, or 0x and 1 to 32
 * hexadecimal digits, not all 0.  All doors of the library write seeds so.  TAMIS_E_ARGUMENT if it is
 * neither, and nothing is set. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_seed_parse(const char *text, tamis_params *params);

/* Give the parameters a random seed, of as many bits as their hash has (128, or 64 for TAMIS_HASH_XXH3): as
 * tamis_filter_create does where there is none, for those who need the seed first.  TAMIS_E_ARGUMENT if there
 * is no such hash, TAMIS_E_IO if the system gives no randomness; nothing is then changed. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_seed_draw(tamis_params *params);

/* Prepare the hash of these parameters, of which only hash, seed and seed_high are used.  TAMIS_E_ARGUMENT if
 * there is no such hash, no seed, or a seed that is too long. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_hasher_init(tamis_hasher *hasher,
                                                          const tamis_params *params);

/* The name of value[index] for 'kind' ("hashes"), or NULL if the kind has no such parameter.
 * The indices of a kind are dense: the first NULL ends them.  The text is static. */
TAMIS_API const char *tamis_param_name(tamis_kind kind, unsigned index);

/* -------------------------------------------------------------------------------------------------
 * Making and freeing
 */

/* A set of keys.  Opaque. */
typedef struct tamis_filter tamis_filter;

/* Make an empty filter with exactly the given parameters; zeros in them take their defaults.
 *
 * TAMIS_E_ARGUMENT if a parameter is out of range, TAMIS_E_TOO_LARGE if the size does not fit this
 * machine, TAMIS_E_NOMEM, or TAMIS_E_IO if no random seed could be had.  '*filter' is set on success
 * only; the caller frees it.  'allocator' may be NULL; it is copied.  The cost is that of clearing
 * the memory (none for large filters from the system's memory, which comes zeroed). */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_create(const tamis_params *params,
                                                            const tamis_allocator *allocator,
                                                            tamis_filter **filter);

/* Make an empty filter for 'n' keys with error rate at most 'fpr' when 'n' keys are in it: plan with
 * the defaults (tamis/plan.h), then create.  1 <= n <= 2^40, 0 < fpr < 1.  Planning costs a few microseconds,
 * and some 30 milliseconds for rates below 1e-12; a plan that is kept (tamis_plan_make) serves for any number
 * of filters.
 *
 * Statuses as tamis_filter_create and tamis_plan_make. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_new(uint64_t n, double fpr,
                                                         tamis_filter **filter);

/* Make a copy with its own memory, writable even if the source is a read-only view, of which the copy is
 * checked.  TAMIS_E_ARGUMENT, TAMIS_E_TOO_LARGE, TAMIS_E_NOMEM; of a view TAMIS_E_FORMAT. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_clone(const tamis_filter *source,
                                                           const tamis_allocator *allocator,
                                                           tamis_filter **filter);

/* Free a filter, or end a view.  NULL is allowed. */
TAMIS_API void tamis_filter_free(tamis_filter *filter);

/* -------------------------------------------------------------------------------------------------
 * One key at a time
 *
 * Each call comes for a key of bytes, for an integer (_u64: the key is its 8 little-endian bytes) and
 * for a ready digest (_digest).  All pointers are required unless said otherwise; the key pointer may
 * be NULL if its size is 0.
 */

/* Insert a key.
 *
 * '*added' (may be NULL) tells: true if the key was new, false if it was (probably) there already.
 * A set then stays as it is; a multiset holds one more copy.  Inserting beyond the capacity keeps
 * working while there is room; the error rate rises (tamis_filter_info).
 *
 * TAMIS_E_FULL if there is no room in table and stash, TAMIS_E_READONLY for a view; the filter and
 * '*added' are then unchanged. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_insert(tamis_filter *filter, const void *key,
                                                            size_t size, bool *added);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_insert_u64(tamis_filter *filter, uint64_t key,
                                                                bool *added);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_insert_digest(tamis_filter *filter,
                                                                   tamis_digest digest,
                                                                   bool *added);

/* Is the key in the set?  false is certain, true holds up to the error rate.  Cannot fail: NULL with a size
 * above 0 is no key, and in no set. */
TAMIS_API bool tamis_filter_contains(const tamis_filter *filter, const void *key, size_t size);
TAMIS_API bool tamis_filter_contains_u64(const tamis_filter *filter, uint64_t key);
TAMIS_API bool tamis_filter_contains_digest(const tamis_filter *filter, tamis_digest digest);

/* Begin to fetch the memory that a call for this key will read, without waiting for it.  For those who
 * work on one key after the other and know the keys some time before they need the answers: hash a
 * key, prefetch, go on with others, ask with the digest.  Where keys come many at a time, batches
 * (tamis_filter_contains_many) do it better.  Has no other effect. */
TAMIS_API void tamis_filter_prefetch_digest(const tamis_filter *filter, tamis_digest digest);

/* Remove one copy of a key that was inserted.
 *
 * TAMIS_E_NOT_FOUND if the key is certainly not there, TAMIS_E_UNSUPPORTED if the kind cannot
 * remove, TAMIS_E_READONLY, TAMIS_E_AMBIGUOUS (series only, see Growth); the filter is then unchanged.  The
 * caller must guarantee that the key was inserted: that it was not cannot be seen with the
 * probability of the error rate. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_remove(tamis_filter *filter, const void *key,
                                                            size_t size);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_remove_u64(tamis_filter *filter, uint64_t key);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_remove_digest(tamis_filter *filter,
                                                                   tamis_digest digest);

/* How many copies of the key a multiset holds: never less than the true number, as long as no counter
 * has saturated.  For a set 0 or 1, as tamis_filter_contains.  Cannot fail. */
TAMIS_API uint64_t tamis_filter_copies(const tamis_filter *filter, const void *key, size_t size);
TAMIS_API uint64_t tamis_filter_copies_u64(const tamis_filter *filter, uint64_t key);
TAMIS_API uint64_t tamis_filter_copies_digest(const tamis_filter *filter, tamis_digest digest);

/* -------------------------------------------------------------------------------------------------
 * Many keys at a time
 *
 * The fast path for filters larger than the cache: memory is fetched ahead while earlier keys are
 * worked on.  The answers, and the bytes of the filter afterwards, are exactly those of the calls for
 * one key, made in order.
 */

/* Insert n keys in order.
 *
 * 'added' (may be NULL) has room for n answers as of tamis_filter_insert.  '*done' (may be NULL) is
 * set to the number of keys inserted, n on success.  If a key finds no room (TAMIS_E_FULL), those
 * before it are in, it and those after it are not.  TAMIS_E_READONLY for a view, TAMIS_E_ARGUMENT if one
 * of the keys is NULL with a size above 0: none is then in, and '*done' is unchanged. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_insert_many(tamis_filter *filter,
                                                                 const tamis_bytes *keys, size_t n,
                                                                 bool *added, size_t *done);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_insert_many_u64(tamis_filter *filter,
                                                                     const uint64_t *keys, size_t n,
                                                                     bool *added, size_t *done);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_insert_many_digest(tamis_filter *filter,
                                                                        const tamis_digest *digests,
                                                                        size_t n, bool *added,
                                                                        size_t *done);

/* Query n keys.  Returns how many are present; 'present' (may be NULL) gets the n answers.  Cannot fail, as
 * tamis_filter_contains: NULL with a size above 0 is answered with false. */
TAMIS_API size_t tamis_filter_contains_many(const tamis_filter *filter, const tamis_bytes *keys,
                                            size_t n, bool *present);
TAMIS_API size_t tamis_filter_contains_many_u64(const tamis_filter *filter, const uint64_t *keys,
                                                size_t n, bool *present);
TAMIS_API size_t tamis_filter_contains_many_digest(const tamis_filter *filter,
                                                   const tamis_digest *digests, size_t n,
                                                   bool *present);

/* Remove one copy of each of n keys, in order.
 *
 * 'removed' (may be NULL) gets n answers: false where the key was certainly not there, or several links
 * of a series claim it, which is no error here.  '*count' (may be NULL) is set to the number removed.
 * TAMIS_E_UNSUPPORTED, TAMIS_E_READONLY, TAMIS_E_ARGUMENT if one of the keys is NULL with a size above 0:
 * nothing was removed. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_remove_many(tamis_filter *filter,
                                                                 const tamis_bytes *keys, size_t n,
                                                                 bool *removed, size_t *count);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_remove_many_u64(tamis_filter *filter,
                                                                     const uint64_t *keys, size_t n,
                                                                     bool *removed, size_t *count);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_remove_many_digest(tamis_filter *filter,
                                                                        const tamis_digest *digests,
                                                                        size_t n, bool *removed,
                                                                        size_t *count);

/* -------------------------------------------------------------------------------------------------
 * All keys at once
 *
 * Some structures place keys better when they know all of them: dleft then has about half the error rate,
 * from two choices instead of three.  The result is an ordinary filter, and more keys may be
 * inserted later.
 */

/* Keys, as digests, that can be read more than once.  read stores up to 'room' of the next digests and sets
 * '*n' to how many, 0 at the end; rewind goes back to the first.  Both return false if they fail. */
typedef struct tamis_source {
    bool (*read)(void *context, tamis_digest *digests, size_t room, size_t *n);
    bool (*rewind)(void *context);
    void *context;
} tamis_source;

/* Where a key goes that finds several of its buckets equally full. */
typedef enum tamis_ties {
    TAMIS_TIES_RANDOM = 0, /* to any of them: the best */
    TAMIS_TIES_LEFT = 1,   /* to the leftmost */
    TAMIS_TIES_STAY = 2    /* to the one where it is, if that is among them, else to the leftmost */
} tamis_ties;

/* How to build.  NULL for this struct means all defaults. */
typedef struct tamis_build_options {
    size_t struct_size;
    unsigned passes; /* how often every key is placed anew, up to 1000; 0 means 10 */
    tamis_ties ties;
    void (*progress)(void *context, double fraction); /* called now and then, 0 to 1; or NULL */
    void *context;
} tamis_build_options;

static inline void tamis_build_options_init(tamis_build_options *options) {
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
}

/* Make a filter that holds all keys of 'source', once each.
 *
 * 'params' as for tamis_filter_create, but hash and seed must be those that the digests were made with, and
 * zeros take the defaults that are best when all keys are known.  A kind that cannot use that
 * knowledge inserts the keys one after the other.
 *
 * Statuses as tamis_filter_create and tamis_filter_insert, and TAMIS_E_IO if 'source' fails.  Needs, besides
 * the filter, about one byte per key and one per bucket of work space, from the same allocator.
 * Reads the source 'passes' + 3 times at most. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_build(const tamis_params *params,
                                                           const tamis_source *source,
                                                           const tamis_build_options *options,
                                                           const tamis_allocator *allocator,
                                                           tamis_filter **filter);

/* Like tamis_filter_build, from an array. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_build_many(
    const tamis_params *params, const tamis_digest *digests, size_t n,
    const tamis_build_options *options, const tamis_allocator *allocator, tamis_filter **filter);

/* -------------------------------------------------------------------------------------------------
 * Values
 *
 * A rank filter with value bits (TAMIS_RANK_VALUE_BITS) keeps a small number with each key: a state, a
 * class, a set that the key belongs to.  A key inserted without a value has the value 0.  Keys that share a
 * fingerprint cannot be told apart, so that with the probability of the error rate a value is that of
 * another key; a key is never lost.  Each call also comes for a ready digest (_digest).
 */

/* Bits of a value; 0 if the filter keeps none. */
TAMIS_API unsigned tamis_filter_value_bits(const tamis_filter *filter);

/* Like tamis_filter_insert, but with a value.
 *
 * TAMIS_E_UNSUPPORTED if the filter keeps no values, TAMIS_E_ARGUMENT if the value has too many bits,
 * TAMIS_E_FULL also if there is room in the stash only, which keeps no values. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_insert_value(tamis_filter *filter,
                                                                  const void *key, size_t size,
                                                                  unsigned value, bool *added);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_insert_value_digest(tamis_filter *filter,
                                                                         tamis_digest digest,
                                                                         unsigned value,
                                                                         bool *added);

/* The value of a key; of one of its copies, if it has several.  TAMIS_E_NOT_FOUND if the key is certainly
 * not there, TAMIS_E_UNSUPPORTED; '*value' is then unchanged. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_lookup_value(const tamis_filter *filter,
                                                                  const void *key, size_t size,
                                                                  unsigned *value);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_lookup_value_digest(const tamis_filter *filter,
                                                                         tamis_digest digest,
                                                                         unsigned *value);

/* Give a key that is in another value: the one that tamis_filter_lookup_value tells changes.
 * TAMIS_E_NOT_FOUND, and all statuses of tamis_filter_insert_value, TAMIS_E_FULL also if copies of the key
 * are in the stash and the table has no room for all of them; the filter is then unchanged. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_update_value(tamis_filter *filter,
                                                                  const void *key, size_t size,
                                                                  unsigned value);
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_update_value_digest(tamis_filter *filter,
                                                                         tamis_digest digest,
                                                                         unsigned value);

/* -------------------------------------------------------------------------------------------------
 * Whole filters
 */

/* Number of keys held.  A multiset counts every copy.  A set counts the inserts that were answered
 * "added", which misses the few that a false positive hid; after a merge it is the sum of both
 * counts, in which keys that were in both stand twice. */
TAMIS_API uint64_t tamis_filter_count(const tamis_filter *filter);

/* The hash of the filter, with its seed, for tamis_hash: valid as long as the filter. */
TAMIS_API const tamis_hasher *tamis_filter_hasher(const tamis_filter *filter);

/* The parameters, with all defaults, hash and seed filled in: pass them to tamis_filter_create to make
 * a filter that can be merged with this one.  'params' must have been through tamis_params_init.
 * TAMIS_E_ARGUMENT. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_params(const tamis_filter *filter,
                                                            tamis_params *params);

/* What the keys of a filter are.  Text and integers that look alike are different keys: "17" has two
 * bytes, the integer 17 has eight.  A question in the wrong form is answered "absent", and nothing tells
 * of the mistake. */
typedef enum tamis_key_form {
    TAMIS_KEYS_UNKNOWN = 0, /* nobody has said; also: keys of several forms */
    TAMIS_KEYS_BYTES = 1,   /* text, or any other bytes */
    TAMIS_KEYS_U64 = 2      /* integers of 8 bytes, as of the functions with _u64 */
} tamis_key_form;

/* Note the form of the keys, for those who come to ask: it is kept in files, copies and the compact
 * form, and filters of different forms do not merge.  The calls for keys do not look at it; 'tamis query'
 * and its like do, and refuse keys of another form.  A filter for which this was never called has no form,
 * and its file is one of format version 1 if the hash is XXH3; with a form it is one of version 2, which
 * readers of version 1 refuse as too new.
 *
 * TAMIS_E_MISMATCH if the filter has keys and is known to be of another form, TAMIS_E_READONLY,
 * TAMIS_E_ARGUMENT; it is then unchanged. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_set_key_form(tamis_filter *filter,
                                                                  tamis_key_form form);
TAMIS_API tamis_key_form tamis_filter_key_form(const tamis_filter *filter);

/* Remove all keys; parameters, hash, seed and form of keys stay.  TAMIS_E_READONLY. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_clear(tamis_filter *filter);

/* Add all keys of 'source' to 'filter'.  If one of them is a series, see Growth, below.  Else:
 *
 * A union that would err more often than was promised for 'filter' (or, if nothing was, for 'source') is
 * refused with TAMIS_E_PROMISE, unless 'flags' has TAMIS_MERGE_BEYOND.  A promise is a mean over seeds, so
 * that a union of no more different keys than were planned keeps it, whatever its rate is; how many there are
 * is told by how full the table is, within five standard deviations (tamis_filter_keeps).  The promise stays
 * as it was, and tamis_filter_keeps tells what has become of it.  Sets that together hold no more keys than
 * one is made for are merged straight away; otherwise the union is made aside and its error rate measured,
 * which takes memory for a second set until it is done.  The union of
 * two of kind line or window is always made aside.
 *
 * The form of keys is then that of both, or unknown if it is of one of them.
 *
 * TAMIS_E_MISMATCH if kind, parameters, hash or seed differ (the promises may), or forms of keys that are
 * known, TAMIS_E_UNSUPPORTED if the kind cannot merge, TAMIS_E_FULL if the union does not fit, TAMIS_E_NOMEM,
 * TAMIS_E_READONLY, TAMIS_E_ARGUMENT if both are the same filter or there is no such flag; 'filter' is then
 * unchanged. */
#define TAMIS_MERGE_BEYOND 1u /* also where the union errs more often than was promised */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_merge(tamis_filter *filter,
                                                           const tamis_filter *source,
                                                           unsigned flags);

/* Make the filter anew from the keys that are in it, which 'source' tells as digests, each as often as
 * it is in.
 *
 * What a multiset has lost by keys that came and went comes back: line and dleft-dynamic get the length of
 * their fingerprints again, counters that had stopped count again, keys in the stash find room.  Until it
 * succeeds the filter is not changed, and a second one of the same size exists.  A set loses nothing by
 * use: its keys are looked for, and it stays as it is.  (A balanced-bloom that was merged is better built
 * anew: tamis_filter_build.)
 *
 * TAMIS_E_MISMATCH if a key is not in the filter, or, of a multiset, if there are more or fewer than it
 * counts: a key that 'source' left out would be lost.  That is all that can be checked: with as many keys
 * as before, one that was told twice in place of another, or a false positive, is not noticed.  A set
 * loses no key, whatever is told.
 *
 * TAMIS_E_UNSUPPORTED if the filter keeps values, which 'source' does not tell, or is a series (below);
 * TAMIS_E_IO if 'source' fails, TAMIS_E_READONLY, TAMIS_E_NOMEM, TAMIS_E_FULL, TAMIS_E_ARGUMENT; the filter
 * is then unchanged. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_refresh(tamis_filter *filter,
                                                             const tamis_source *source);

/* What a filter is and how it fares. */
#define TAMIS_LOADS_MAX 64
typedef struct tamis_info {
    size_t struct_size;
    tamis_params params;
    uint64_t count;      /* tamis_filter_count */
    uint64_t bytes;      /* state, stash and table */
    double bits_per_key; /* bytes * 8 / count; infinite while count is 0 */
    double fpr;          /* error rate of a query now, from what is in the table now */
    uint64_t stash_used; /* keys in the stash */
    uint64_t stash_size; /* keys it can take */
    uint64_t saturated;  /* counters that have stopped counting */
    size_t n_loads;      /* entries in use in load_histogram */
    /* bloom: number of bits that are 0, 1.  counting-bloom: of counters with value 0 to 15.
     * blocked-bloom: of blocks with 0, 1 to 16, 17 to 32, ... bits set.
     * Kinds with buckets: of buckets that hold 0, 1, 2, ... keys, the last entry and more. */
    uint64_t load_histogram[TAMIS_LOADS_MAX];
    /* balanced-bloom, else 0: blocks that an insert looked at, mean over
     * the keys that are in, and those that a query for an absent key reads now. */
    double reads_per_insert, reads_per_query;
    /* What follows is about series (tamis_filter_grow); of these, all the rest is the sum over the links,
     * but for params, which are those of the first. */
    uint64_t capacity;   /* keys that all links are made for */
    double fpr_promised; /* tamis_filter_promise; of one link: what that was planned for */
    unsigned n_links;    /* 1 for a filter that has not grown */
    /* Filters that the keys are spread over (tamis/shared.h).  If there are several, all the rest is their
     * sum, but for params, which are those of one, n_links, the most that one of them has, and fpr and reads,
     * which are the mean. */
    unsigned n_shards;
    /* Windows (tamis/window.h), else 0: the present tick, and buckets that are to be cleared. */
    uint64_t tick, to_clear;
    uint64_t
        file_bytes; /* of the encoded filter: 'bytes', headers and checksums; of a link its own */
    bool grows;     /* it has grown, or may grow: fpr_promised is for all links together */
} tamis_info;

static inline void tamis_info_init(tamis_info *info) {
    memset(info, 0, sizeof *info);
    info->struct_size = sizeof *info;
}

/* Fill 'info', which must have been through tamis_info_init.  TAMIS_E_ARGUMENT.
 * Reads the whole table: the cost is that of its size. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_info(const tamis_filter *filter,
                                                          tamis_info *info);

/* Like tamis_filter_info, but quick for sets of any size: of tables of more than 1 MiB a sample is read,
 * of 1 MiB over the number of such links.  Their fpr is then a little more than it is, 1 to 7 % with one
 * link, and too low once in a million times; saturated, n_loads, load_histogram and the reads are 0. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_glance(const tamis_filter *filter,
                                                            tamis_info *info);

/* Does a filter that was planned for this error rate keep it?  0 stands for what it carries
 * (tamis_filter_promise); if nothing was promised, nothing is broken.  TAMIS_OK while it has no more keys
 * than it was made for.  With more of them, in several parts, or after a merge of balanced-bloom filters,
 * whose unions are worse, the error rate that it has now must be no higher, which costs what
 * tamis_filter_info does; or the table no fuller than as many different keys as were planned make it, as
 * after a merge of sets that have keys in common.  A set that has grown keeps its promise also where its
 * rate is higher by chance, as long as its links are used as planned (tamis_filter_grow).  TAMIS_E_PROMISE
 * if it does not, TAMIS_E_ARGUMENT.
 *
 * Up to five standard deviations are chance.  In a small set they hide some keys: of a Bloom filter, in
 * blocks or not, for n keys at rate p, up to about 5 / sqrt(n log2(1/p)) of n, one in five of 100 keys at
 * 0.01, one in 28 of 1,000 at 1e-6.  So many more keys err up to e^(2.3 sqrt(log2(1/p) / n)) times as
 * often, 1.8 times and 1.4 times.  Kinds that keep fingerprints have up to 1.05 times the rate. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_keeps(const tamis_filter *filter, double fpr);

/* Like tamis_filter_info, for one link of a series; the first and oldest is number 0. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_link_info(const tamis_filter *filter,
                                                               unsigned link, tamis_info *info);

/* -------------------------------------------------------------------------------------------------
 * Growth
 *
 * A set that outgrows its plan is continued by a further filter of the same kind, a link: twice as
 * large, and with a lower error rate, so that all links together keep the promise.  The handle stays the
 * same, and so do all calls, but for these:
 *
 *  - A query asks the newest link first, and costs as much as all of them.
 *  - A key is removed from the link that claims it.  If two claim it, one of them may be wrong, and to
 *    remove it there would lose another key: TAMIS_E_AMBIGUOUS, nothing is changed and the key stays.  For
 *    a key whose copies are all in one link the odds of that are below the error rate of the series.  A key
 *    that is added again after growth may be in two links, and then is always refused: counting-bloom,
 *    dleft-counting and rank-counting keep the copies of a key together (up to three times the keys that a
 *    link was made for), rank while there is room, line and dleft-dynamic where removals have left some.
 *  - tamis_filter_merge, where one of both is a series, is for all kinds: 'filter' gets copies of the links
 *    of 'source' that have keys, from its own allocator.  Parameters may differ, but for kind, hash, seed
 *    and bits of values: TAMIS_E_MISMATCH.  The error rates of both add up, also where both have the same
 *    keys; TAMIS_E_PROMISE if the promise (that of 'filter', or of 'source' if it has none) is not above
 *    them: give another one first (tamis_filter_allow_growth), or TAMIS_MERGE_BEYOND.  TAMIS_E_TOO_LARGE for
 *    more than 41 links, TAMIS_E_NOMEM.  'filter' is then unchanged.  After a merge all links count as full:
 *    the next insert adds one, or (without 'automatic') overfills the last; call tamis_filter_grow before.
 *    A key that was in both is in two links, and counted twice.
 *  - tamis_filter_refresh and the compact form are TAMIS_E_UNSUPPORTED.
 *
 * Who knows the number of keys should plan for it: one large filter is smaller and faster than a series.
 * A series whose keys are at hand is best built anew (docs/growth.md).
 */

/* How a filter grows.  NULL for this struct means all defaults. */
typedef struct tamis_growth {
    size_t struct_size;
    double fpr; /* error rate promised for all links together, below 1; 0: as before, or for a first
                 * growth twice what the filter was planned for, or without that twice its rate now */
    uint64_t n; /* keys of the next link, up to 2^40; 0: twice those of the largest */
    bool
        automatic; /* inserts add a link when the newest has the keys it was made for; they may then
                     * allocate, and return the statuses of tamis_filter_grow */
} tamis_growth;

static inline void tamis_growth_init(tamis_growth *growth) {
    memset(growth, 0, sizeof *growth);
    growth->struct_size = sizeof *growth;
}

/* Add a link, to which all new keys go from now on.
 *
 * Of the promise is used up what the present links were planned for (tamis_params.fpr), or of one that is not
 * full its part of that; the link is planned for 1 / (links + 1) of what remains, 'links' counting the new
 * one.  So the mean over seeds keeps the promise, and chance uses up none of it.  Where that is not known,
 * or a link has more different keys than it was made for (tamis_filter_keeps), or errs more than was planned
 * beyond what chance explains, it is the error rate that the link has now.  A filter that is to grow should
 * be planned for it (need.grows, tamis/plan.h): it then has half of the promise, and the next ones 1/6,
 * 1/12, 1/20, ... of it.  Links of kinds that can remove are planned for it (need.deletes); if keys are to
 * be removed, so should the first one be.
 *
 * TAMIS_E_PROMISE if nothing remains of the promise, TAMIS_E_TOO_LARGE if there are 41 links, the next one
 * would be too large, or (n = 0) more than 8 times as large as the largest; TAMIS_E_UNSUPPORTED if the
 * kind cannot have an error rate that low, TAMIS_E_NOMEM, TAMIS_E_READONLY, TAMIS_E_ARGUMENT; nothing
 * is then changed.  The memory comes from the filter's allocator.  Reads all tables once. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_grow(tamis_filter *filter,
                                                          const tamis_growth *growth);

/* Say how a filter will grow, without a new link now; 'n' has no meaning here.  The promise is stored in
 * files, 'automatic' is not: who loads a filter decides.  TAMIS_E_PROMISE if the promise that is given is not
 * above what the links have used up, nor above their error rates now: it is broken already.  What the first
 * link will have when it is full is not looked at: plan it for less than the promise (need.grows).
 * TAMIS_E_ARGUMENT, TAMIS_E_READONLY, TAMIS_E_NOMEM; nothing is then changed. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_allow_growth(tamis_filter *filter,
                                                                  const tamis_growth *growth);

/* The error rate that was promised: what the set was planned for (tamis_params.fpr), or, if it has grown or
 * may grow, for all links together.  0: nothing was. */
TAMIS_API double tamis_filter_promise(const tamis_filter *filter);

/* -------------------------------------------------------------------------------------------------
 * Files
 *
 * All kinds share one little-endian format (tamis-format(5)).  There is one loader, behind every
 * function here.  It reads only within the length given, checks every field, checksum and derived
 * size and then the structure itself, and allocates no more than the input's length justifies.
 * Damaged, foreign or newer input is refused; it is never answered with "absent".  What is mapped is read
 * later: see tamis_filter_map.
 *
 * '*reason' (may be NULL) is set on failure to a static sentence that says what is wrong.
 */

/* Bytes that the encoded filter takes. */
TAMIS_API uint64_t tamis_filter_encoded_size(const tamis_filter *filter);

/* Write the encoded filter to 'buffer'.  TAMIS_E_ARGUMENT if 'size' is not exactly the encoded
 * size; the buffer is then untouched. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_encode(const tamis_filter *filter,
                                                            void *buffer, size_t size);

/* Write a part of the encoded filter: 'size' of its bytes from 'offset' on.  Parts that follow each other
 * are the whole, if the filter does not change meanwhile: for those who send or store it in pieces of bounded
 * size.  TAMIS_E_ARGUMENT if it has no such bytes; the buffer is then untouched.  A part that has a header
 * (the first 256 bytes; of a series also one before each link) costs a pass over the table for its
 * checksum, and so do the checksums behind a table of more than 64 KiB, all together; any other part only its
 * own size. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_encode_part(const tamis_filter *filter,
                                                                 uint64_t offset, void *buffer,
                                                                 size_t size);

/* Make a filter from 'size' bytes, which must be one encoded filter and nothing more.
 * TAMIS_E_FORMAT, TAMIS_E_VERSION, TAMIS_E_TOO_LARGE, TAMIS_E_NOMEM, TAMIS_E_ARGUMENT. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_decode(const void *data, size_t size,
                                                            const tamis_allocator *allocator,
                                                            tamis_filter **filter,
                                                            const char **reason);

/* Bytes that come from somewhere, in order.  read fills the buffer with the next 'size' bytes, or returns
 * false if it cannot. */
typedef struct tamis_reader {
    bool (*read)(void *context, void *buffer, size_t size);
    void *context;
} tamis_reader;

/* Like tamis_filter_decode, but the bytes are read one after the other, straight into the filter: no
 * second copy of them is needed.  Also reads the compact form, with a buffer for all of it.  The caller
 * vouches that 'size' bytes are really there: memory is allocated by it.  TAMIS_E_IO if the reader fails. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_decode_from(const tamis_reader *reader,
                                                                 uint64_t size,
                                                                 const tamis_allocator *allocator,
                                                                 tamis_filter **filter,
                                                                 const char **reason);

/* Like tamis_filter_decode, but a read-only view that answers from 'data' itself, without a copy.
 * 'data' must be aligned to 8 bytes (64 is faster) and must stay, unchanged, until the view is freed: if it
 * changes, see tamis_filter_map.
 * TAMIS_E_UNSUPPORTED on a big-endian machine. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_view(const void *data, size_t size,
                                                          const tamis_allocator *allocator,
                                                          tamis_filter **filter,
                                                          const char **reason);

/* Like tamis_filter_view, but verified in parts, as tamis_filter_map says of a mapped file: for one
 * question of a large set that was just read into memory. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_view_parts(const void *data, size_t size,
                                                                const tamis_allocator *allocator,
                                                                tamis_filter **filter,
                                                                const char **reason);

/* Save to a file, atomically: a temporary file beside 'path' is written, synced and renamed.  On
 * failure (TAMIS_E_IO, TAMIS_E_NOMEM) the old file, if any, is as before and no temporary stays.  A
 * symbolic link is itself replaced; a device or a pipe is written to directly. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_save(const tamis_filter *filter,
                                                          const char *path, const char **reason);

/* Write the encoded filter to a descriptor, which may be a pipe.  TAMIS_E_IO: part of it may have been
 * written. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_save_fd(const tamis_filter *filter, int fd,
                                                             const char **reason);

/* Load a file.  Statuses as tamis_filter_decode, and TAMIS_E_IO. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_load(const char *path,
                                                          const tamis_allocator *allocator,
                                                          tamis_filter **filter,
                                                          const char **reason);

/* Load from a descriptor, which may be a pipe, up to its end.  The descriptor stays open. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_load_fd(int fd,
                                                             const tamis_allocator *allocator,
                                                             tamis_filter **filter,
                                                             const char **reason);

/* Map a file as a read-only view: many processes share one copy in memory.  Statuses as tamis_filter_view,
 * and TAMIS_E_IO.
 *
 * While the view lives, nobody may cut off the file or change it in place; tamis_filter_save replaces files,
 * it does not change them.  If the file is cut off, or its disk cannot be read, the next call that touches
 * what is gone ends the process by SIGBUS.  If bytes are overwritten, answers may be wrong, "absent" among
 * them; no call reads outside of the set or writes anything but its own for that.  Where others can write
 * to the file, use tamis_filter_load.
 *
 * A set of more than 64 KiB is not read when it is mapped, only its headers and a table of checksums: that
 * takes less than a millisecond, whatever its size.  Its table is verified in parts of 64 KiB, each when a
 * query first touches it.  A key of a damaged part is answered "present", never "absent" (one copy, by
 * tamis_filter_copies), and tamis_filter_damage tells of it; calls with a status return TAMIS_E_FORMAT.
 * Calls that read all of the set (info, glance, clone, merge, save, encode, the compact form,
 * tamis_window_info) verify what was not yet verified first, and return TAMIS_E_FORMAT if some of it is
 * damaged.  Files of versions before 3, and small ones, are read and verified at once. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_map(const char *path,
                                                         const tamis_allocator *allocator,
                                                         tamis_filter **filter,
                                                         const char **reason);

/* Like it, for a file that the caller trusts, since he has written or verified it himself: queries compute
 * no checksum.  If it is damaged, answers may be wrong, "absent" among them; but nothing outside of it is
 * ever read.  Calls that read all of the set verify it, as above. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_map_trusted(const char *path,
                                                                 const tamis_allocator *allocator,
                                                                 tamis_filter **filter,
                                                                 const char **reason);

/* Verify all of a mapped set, checksums and structure, that was not yet verified; later queries need not.
 * TAMIS_E_FORMAT: part of it is damaged.  Sets that were not mapped have been verified when they were read,
 * and are good.  Threads may go on asking. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_verify(const tamis_filter *filter,
                                                            const char **reason);

/* How many parts of a mapped set were found to be damaged, by all calls and threads so far; 0 if none was. */
TAMIS_API uint64_t tamis_filter_damage(const tamis_filter *filter);

/* -------------------------------------------------------------------------------------------------
 * Compact form
 *
 * What is empty in a table need not be sent.  The kinds rank and rank-counting have a form without it, for
 * the wire or the archive: about 1/load + fingerprint + 1 bits per key, less than a Bloom filter needs.
 * It is checked like a file.  tamis_filter_load and tamis_filter_load_fd read it too; it cannot be mapped.
 */

/* Bytes of the compact form; 0 if the kind has none, or if the filter takes more than 2 MiB and 64 bytes for
 * each of these: a large one that is all but empty, or has a huge stash.  Reads the whole table. */
TAMIS_API uint64_t tamis_filter_compact_size(const tamis_filter *filter);

/* Write the compact form to 'buffer'.  TAMIS_E_ARGUMENT if 'size' is not exactly that size,
 * TAMIS_E_UNSUPPORTED if there is no such form; the buffer is then untouched.  Of a view a copy is made and
 * checked first: TAMIS_E_NOMEM, TAMIS_E_FORMAT. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_compact_encode(const tamis_filter *filter,
                                                                    void *buffer, size_t size);

/* Like tamis_filter_save, but the compact form.  Needs a buffer for all of it, from the filter's allocator.
 * TAMIS_E_UNSUPPORTED. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_compact_save(const tamis_filter *filter,
                                                                  const char *path,
                                                                  const char **reason);

/* Like tamis_filter_save_fd, but the compact form.  TAMIS_E_UNSUPPORTED, TAMIS_E_NOMEM. */
TAMIS_API TAMIS_MUST_CHECK tamis_status tamis_filter_compact_save_fd(const tamis_filter *filter,
                                                                     int fd, const char **reason);

/* Make a filter from 'size' bytes, which must be one compact form and nothing more.  Its answers are those
 * of the filter that was written, whose bytes it need not have; written again, it gives the same bytes.
 * Takes time in proportion to 'size', and no more memory than a handle, 2 MiB and 64 times 'size', whatever
 * the bytes say.
 * TAMIS_E_FORMAT, TAMIS_E_VERSION, TAMIS_E_TOO_LARGE, TAMIS_E_NOMEM, TAMIS_E_ARGUMENT. */
TAMIS_API TAMIS_MUST_CHECK tamis_status
tamis_filter_compact_decode(const void *data, size_t size, const tamis_allocator *allocator,
                            tamis_filter **filter, const char **reason);

#ifdef __cplusplus
}
#endif

#endif
