/* peer_leveldb.cc - the Bloom filter of LevelDB (Debian: libleveldb-dev)
 *
 * LevelDB makes a filter from a list of keys, all at once, and never changes it.  So "insert", in batches
 * only, is what LevelDB does when it writes a table: one filter for each batch of keys.  Queries go to one
 * filter of all inserted keys, made before the first query; that temporarily takes 32 bytes per key.  It
 * has whole bits per key and a hash of 32 bits: with many keys that hash alone errs as often as n / 2^32.
 *
 * In C++ because the C interface can make a policy but not query it.
 *
 * SPDX-License-Identifier: MIT
 */
extern "C" {
#include "bench/bench.h"
#include "bench/tasks.h"

#include <tamis/model.h>
}

#include <cmath>
#include <cstring>
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace {

const uint64_t keys_max = 100000000;

struct filter {
    std::unique_ptr<const leveldb::FilterPolicy> policy;
    std::vector<uint64_t> keys;
    std::vector<leveldb::Slice> batch;
    std::string made, scratch;
    bool ready = false;
    bool huge = false;
};

leveldb::Slice slice_of(const uint64_t *key) {
    return leveldb::Slice(reinterpret_cast<const char *>(key), sizeof *key);
}

void make(filter *f) {
    std::vector<leveldb::Slice> slices;
    slices.reserve(f->keys.size());
    for (const uint64_t &key : f->keys)
        slices.push_back(slice_of(&key));
    f->made.clear();
    f->policy->CreateFilter(slices.data(), static_cast<int>(slices.size()), &f->made);
    bench_advise(&f->made[0], f->made.size(), f->huge);
    f->ready = true;
}

const char *create(bench_subject *subject, const bench_setup *setup) {
    if (setup->digests || setup->text)
        return "it takes keys only, no digests";
    if (setup->n > keys_max)
        return "it takes too much memory to make";
    const int bits = static_cast<int>(setup->bits);
    try {
        filter *const f = new filter;
        f->policy.reset(leveldb::NewBloomFilterPolicy(bits));
        f->huge = setup->huge;
        f->keys.reserve(setup->n);
        subject->self = f;
    } catch (const std::bad_alloc &) {
        return "no memory";
    }
    double k = std::floor(bits * 0.69), fpr; /* as it is written there */
    k = k < 1 ? 1 : k > 30 ? 30 : k;
    const double n = static_cast<double>(setup->n), m = n * bits;
    subject->bytes = static_cast<uint64_t>(m / 8) + 1;
    subject->predicted_fpr =
        tamis_model_bloom(m, n, static_cast<unsigned>(k), &fpr) == TAMIS_OK ? fpr : NAN;
    subject->lines = 2; /* as for every Bloom filter that is half full */
    subject->can_remove = false;
    return nullptr;
}

void destroy(bench_subject *subject) {
    delete static_cast<filter *>(subject->self);
    subject->self = nullptr;
}

void clear(const bench_subject *subject) {
    filter *const f = static_cast<filter *>(subject->self);
    f->keys.clear();
    f->ready = false;
}

size_t insert(const bench_subject *subject, const bench_keys *keys) {
    filter *const f = static_cast<filter *>(subject->self);
    f->batch.clear();
    for (size_t i = 0; i < keys->n; i++)
        f->batch.push_back(slice_of(&keys->u64[i]));
    f->scratch.clear();
    f->policy->CreateFilter(f->batch.data(), static_cast<int>(keys->n), &f->scratch);
    f->keys.insert(f->keys.end(), keys->u64, keys->u64 + keys->n);
    f->ready = false;
    return keys->n;
}

size_t query(const bench_subject *subject, const bench_keys *keys) {
    filter *const f = static_cast<filter *>(subject->self);
    if (!f->ready)
        make(f);
    const leveldb::Slice all(f->made);
    size_t present = 0;
    for (size_t i = 0; i < keys->n; i++)
        present += f->policy->KeyMayMatch(slice_of(&keys->u64[i]), all) ? 1 : 0;
    return present;
}

} // namespace

extern "C" {
extern const bench_engine bench_engine_leveldb;
const bench_engine bench_engine_leveldb = {
    create, destroy, clear, {nullptr, nullptr, insert}, {}, {query, nullptr, nullptr}};

size_t bench_leveldb_build(const tamis_bytes *keys, size_t n, unsigned char *out, size_t room) {
    static const std::unique_ptr<const leveldb::FilterPolicy> policy(
        leveldb::NewBloomFilterPolicy(10));
    static std::vector<leveldb::Slice> slices;
    static std::string made;
    slices.clear();
    for (size_t i = 0; i < n; i++)
        slices.push_back(leveldb::Slice(static_cast<const char *>(keys[i].data), keys[i].size));
    made.clear();
    policy->CreateFilter(slices.data(), static_cast<int>(n), &made);
    if (made.size() > room)
        return 0;
    memcpy(out, made.data(), made.size());
    return made.size();
}

bool bench_leveldb_contains(const unsigned char *bytes, size_t size, tamis_bytes key) {
    static const std::unique_ptr<const leveldb::FilterPolicy> policy(
        leveldb::NewBloomFilterPolicy(10));
    return policy->KeyMayMatch(leveldb::Slice(static_cast<const char *>(key.data), key.size),
                               leveldb::Slice(reinterpret_cast<const char *>(bytes), size));
}
}
