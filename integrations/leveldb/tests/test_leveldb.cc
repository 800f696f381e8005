/* test_leveldb.cc [N [FILE [ROUNDS]]] - real databases with the policy, beside LevelDB's own Bloom filter
 *
 * N keys, 100,000 by default, of the form name-1 .. or the lines of FILE, are written in an order of chance, the
 * database is compacted, and asked for all of them and for as many others.  What must hold is checked: nothing is
 * lost, filters take at most 1.05 of the bytes and err at most 0.8 as often.  Times are printed: the medians of
 * ROUNDS rounds, 1 by default, in which the two take turns.
 *
 * In C++ because the C interface can make a policy but not ask it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "../tamis_leveldb.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

#define CHECK(truth)                                                                               \
    do {                                                                                           \
        if (!(truth)) {                                                                            \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #truth);                       \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

using policy_of = std::unique_ptr<const leveldb::FilterPolicy>;

/* The C interface hands out an object of this class. */
policy_of ours(double bits = 10, uint64_t seed = 0) {
    tamis_leveldb_options options;
    tamis_leveldb_options_init(&options);
    options.bits_per_key = bits;
    options.seed = seed;
    leveldb_filterpolicy_t *const made = tamis_leveldb_policy(&options);
    CHECK(made != nullptr);
    return policy_of(reinterpret_cast<const leveldb::FilterPolicy *>(made));
}

/* A policy that counts what another does. */
struct counting : leveldb::FilterPolicy {
    explicit counting(policy_of p) : inner(std::move(p)) {
    }
    const char *Name() const override {
        return inner->Name();
    }
    void CreateFilter(const leveldb::Slice *keys, int n, std::string *to) const override {
        const size_t before = to->size();
        inner->CreateFilter(keys, n, to);
        bytes += to->size() - before;
        made += static_cast<uint64_t>(n);
    }
    bool KeyMayMatch(const leveldb::Slice &key, const leveldb::Slice &filter) const override {
        const bool yes = inner->KeyMayMatch(key, filter);
        asked++;
        matched += yes;
        return yes;
    }
    policy_of inner;
    mutable uint64_t bytes = 0, made = 0, asked = 0, matched = 0;
};

struct database {
    database(const std::string &folder, const leveldb::FilterPolicy *policy, size_t block = 4096) {
        leveldb::Options options;
        options.create_if_missing = true;
        options.filter_policy = policy;
        options.block_size = block;
        options.compression = leveldb::kNoCompression;
        CHECK(leveldb::DB::Open(options, folder, &db).ok());
    }
    ~database() {
        delete db;
    }
    void put(const std::string &key, const std::string &value) {
        CHECK(db->Put(leveldb::WriteOptions(), key, value).ok());
    }
    /* Is it there?  Anything but "yes" and "no" ends the test. */
    bool get(const std::string &key, std::string *value) {
        const leveldb::Status status = db->Get(leveldb::ReadOptions(), key, value);
        CHECK(status.ok() || status.IsNotFound());
        return status.ok();
    }
    leveldb::DB *db = nullptr;
};

struct work_folder {
    work_folder() {
        std::string name =
            (std::filesystem::temp_directory_path() / "tamis-leveldb-XXXXXX").string();
        CHECK(mkdtemp(name.data()) != nullptr);
        path = name;
    }
    ~work_folder() {
        std::filesystem::remove_all(path);
    }
    std::string path;
};

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

struct result {
    double write, hits, misses, bits, errors;
};

result run(const char *title, policy_of policy, const std::vector<std::string> &keys) {
    const work_folder work;
    counting counter(std::move(policy));
    const std::string value(100, 'v');
    std::string got;
    result r{};
    {
        database d(work.path, &counter);
        const double begin = now();
        for (const std::string &key : keys)
            d.put(key, value);
        d.db->CompactRange(nullptr, nullptr);
        r.write = now() - begin;
    }
    r.bits = 8.0 * static_cast<double>(counter.bytes) / static_cast<double>(counter.made);
    database d(work.path, &counter);
    double begin = now();
    for (const std::string &key : keys)
        CHECK(d.get(key, &got) && got == value);
    r.hits = (now() - begin) / static_cast<double>(keys.size());
    counter.asked = counter.matched = 0;
    begin = now();
    for (const std::string &key : keys)
        CHECK(!d.get(key + "?", &got));
    r.misses = (now() - begin) / static_cast<double>(keys.size());
    CHECK(counter.asked > keys.size() / 2);
    r.errors = static_cast<double>(counter.matched) / static_cast<double>(counter.asked);
    std::printf("%-20s written in %.2f s, a key found in %.2f us, missed in %.2f us; %.2f bits per "
                "key, errors %.5f\n",
                title, r.write, 1e6 * r.hits, 1e6 * r.misses, r.bits, r.errors);
    return r;
}

double median(const std::vector<result> &rounds, double result::*what) {
    std::vector<double> all;
    for (const result &one : rounds)
        all.push_back(one.*what);
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
}

result medians(const std::vector<result> &rounds) {
    return {median(rounds, &result::write), median(rounds, &result::hits),
            median(rounds, &result::misses), median(rounds, &result::bits),
            median(rounds, &result::errors)};
}

/* Beside the Bloom filter of LevelDB, in one run. */
void compare(const std::vector<std::string> &keys, size_t n_rounds) {
    std::vector<result> theirs, our_own;
    for (size_t i = 0; i < n_rounds; i++) {
        theirs.push_back(run("Bloom, 10 bits", policy_of(leveldb::NewBloomFilterPolicy(10)), keys));
        our_own.push_back(run("tamis, 10 bits", ours(), keys));
    }
    const result bloom = medians(theirs), tamis = medians(our_own);
    std::printf("tamis / Bloom: write %.2f, bytes %.3f, errors %.2f, hits %.2f, misses %.2f\n",
                tamis.write / bloom.write, tamis.bits / bloom.bits, tamis.errors / bloom.errors,
                tamis.hits / bloom.hits, tamis.misses / bloom.misses);
    CHECK(tamis.bits <= 1.05 * bloom.bits);
    CHECK(tamis.errors <= 0.8 * bloom.errors);
}

/* Keys that are written again and again, deleted, and read as of before. */
void versions() {
    const work_folder work;
    const policy_of policy = ours();
    database d(work.path, policy.get());
    std::string got;
    const leveldb::Snapshot *old = nullptr;
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 5000; i++)
            d.put("key-" + std::to_string(i), std::string(50, static_cast<char>('a' + round)));
        if (round == 2)
            old = d.db->GetSnapshot();
    }
    for (int i = 0; i < 5000; i += 2)
        CHECK(d.db->Delete(leveldb::WriteOptions(), "key-" + std::to_string(i)).ok());
    d.db->CompactRange(nullptr, nullptr);
    leveldb::ReadOptions before;
    before.snapshot = old;
    for (int i = 0; i < 5000; i++) {
        const std::string key = "key-" + std::to_string(i);
        CHECK(d.get(key, &got) == (i % 2 == 1) && (i % 2 == 0 || got[0] == 'e'));
        CHECK(d.db->Get(before, key, &got).ok() && got[0] == 'c');
    }
    d.db->ReleaseSnapshot(old);
}

/* A database that was made with other filters, or none, loses nothing, in any order. */
void other_filters() {
    const work_folder work;
    const policy_of bloom(leveldb::NewBloomFilterPolicy(10)), first = ours(), seeded = ours(10, 77),
                                                              wide = ours(20);
    CHECK(std::string(first->Name()) == "tamis.small.1");
    CHECK(std::string(seeded->Name()).rfind("tamis.small.1-", 0) == 0);
    CHECK(std::string(ours(10, 78)->Name()) != seeded->Name());
    CHECK(std::string(wide->Name()) == first->Name()); /* bytes tell their own bits */
    const leveldb::FilterPolicy *const turns[] = {bloom.get(), first.get(), nullptr, seeded.get(),
                                                  wide.get()};
    std::string got;
    int n = 0;
    for (int round = 0; round < 10; round++) {
        database d(work.path, turns[round % 5]);
        for (int i = 0; i < n; i++)
            CHECK(d.get("key-" + std::to_string(i), &got));
        for (const int end = n + 2000; n < end; n++)
            d.put("key-" + std::to_string(n), std::string(100, 'x'));
        if (round % 3 == 2)
            d.db->CompactRange(nullptr, nullptr);
        for (int i = 0; i < n; i++)
            CHECK(d.get("key-" + std::to_string(i), &got));
        CHECK(!d.get("none", &got));
    }
}

/* Filters of no key, of one, of very many, of damaged bytes: "no" is never said of a key that is there. */
void edges() {
    const policy_of policy = ours();
    std::vector<std::string> names;
    for (int i = 0; i < 70000; i++)
        names.push_back(std::to_string(i));
    const std::vector<leveldb::Slice> keys(names.begin(), names.end());
    for (const size_t n : {0, 1, 2, 3, 36, 1000, 65535, 70000}) {
        std::string filter;
        policy->CreateFilter(keys.data(), static_cast<int>(n), &filter);
        CHECK(filter.size() <= n * 10 / 8 + 4);
        for (size_t i = 0; i < n; i++)
            CHECK(policy->KeyMayMatch(keys[i], filter));
        for (size_t size = 0; size < filter.size() && size < 3; size++)
            CHECK(policy->KeyMayMatch(keys[0], leveldb::Slice(filter.data(), size)));
    }
    CHECK(policy->KeyMayMatch("a", leveldb::Slice("\xff\xff\xff\xff\xff\xff", 6)));
    const work_folder work;
    database d(work.path, policy.get(), 8 << 20); /* blocks of megabytes: one filter for all keys */
    std::string got;
    for (int i = 0; i < 100000; i++)
        d.put(std::to_string(i), "v");
    d.db->CompactRange(nullptr, nullptr);
    for (int i = 0; i < 100000; i += 7)
        CHECK(d.get(std::to_string(i), &got));
    tamis_leveldb_options options;
    tamis_leveldb_options_init(&options);
    for (const double bits : {0.0, 2.9, 48.1, -1.0, 1e300}) {
        options.bits_per_key = bits;
        CHECK(tamis_leveldb_policy(&options) == nullptr);
    }
    tamis_leveldb_options_init(&options);
    options.struct_size = 1;
    CHECK(tamis_leveldb_policy(&options) == nullptr);
    leveldb_filterpolicy_t *const plain = tamis_leveldb_policy(nullptr);
    CHECK(plain != nullptr);
    leveldb_filterpolicy_destroy(plain);
}

} // namespace

int main(int argc, char **argv) {
    const size_t n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100000;
    std::vector<std::string> keys;
    if (argc > 2) {
        std::ifstream file(argv[2]);
        for (std::string line; keys.size() < n && std::getline(file, line);)
            keys.push_back(line);
    }
    for (size_t i = keys.size(); argc <= 2 && i < n; i++)
        keys.push_back("name-" + std::to_string(i * 2654435761u % 4294967291u));
    CHECK(!keys.empty());
    std::shuffle(keys.begin(), keys.end(), std::mt19937_64(20261));
    std::printf("# %zu keys, seed 20261\n", keys.size());
    versions();
    other_filters();
    edges();
    compare(keys, argc > 3 ? std::max(std::strtoull(argv[3], nullptr, 10), 1ull) : 1);
    return 0;
}
