/* hpp.cpp - tamis.hpp as a program uses it; exit code 0 if all is as it should be
 *
 * SPDX-License-Identifier: MIT
 */
#include <tamis/tamis.hpp>

#include <cstdio>
#include <vector>

static int faults;

static void must(bool condition, const char *what) {
    if (!condition) {
        std::printf("FAIL: %s\n", what);
        faults++;
    }
}

static void keys() {
    tamis_need need;
    tamis_need_init(&need);
    need.n = 1000;
    need.fpr = 1e-6;
    need.deletes = true;
    tamis::filter set(tamis::plan(need).params);
    must(set.insert("apple") && set.insert(std::string("pear")), "texts are new");
    must(!set.insert("apple"), "a text is not new twice");
    must(set.contains(std::string("apple")) && !set.contains("plum"), "texts");
    must(set.insert(5) && set.insert(6u) && set.insert(std::uint64_t(7)), "integers are new");
    must(set.contains(std::uint64_t(5)) && set.contains(6LL) && !set.contains(8), "integers");
    must(set.contains("apple", 5) && set.copies("apple", 5) == 2 && set.copies(5) == 1, "copies");
    must(set.remove("pear") && !set.remove("pear") && !set.contains("pear"), "removal");
    must(set.remove(5) && !set.remove(5), "removal of an integer");
#if __cplusplus >= 201703L
    must(set.contains(std::string_view("apple")), "a view of a text");
#endif
    must(set.count() == 4 && set.info().count == 4, "the count");
}

static void whole() {
    tamis::filter a(10000, 0.001);
    std::vector<std::uint64_t> some(1000);
    for (std::size_t i = 0; i < some.size(); i++)
        some[i] = i;
    a.insert_many(some.data(), some.size());
    must(a.contains_many(some.data(), some.size()) == some.size(), "many");
#if __cplusplus >= 202002L
    a.insert_many(some);
    must(a.contains_many(some) == some.size(), "a span");
#endif
    tamis::filter b = a.clone();
    b.insert(5000);
    a.merge(b);
    must(a.contains(5000), "the union");
    a.save("hpp.tamis");
    const tamis::filter loaded = tamis::filter::load("hpp.tamis");
    const tamis::filter mapped = tamis::filter::map("hpp.tamis");
    must(loaded.contains(5000) && mapped.contains(5000), "files");
    tamis::filter moved = std::move(b);
    must(b.get() == nullptr && moved.contains(5000), "a handle that moves");
    moved.clear();
    must(moved.count() == 0, "nothing is left");
}

static void failures() {
    try {
        tamis::filter::load("does-not-exist.tamis");
        must(false, "a file that is not there");
    } catch (const tamis::error &e) {
        must(e.status() == TAMIS_E_IO && std::strstr(e.what(), "no such file") != nullptr, e.what());
    }
    try {
        tamis::filter none(0, 0.5);
        must(false, "a set for no keys");
    } catch (const tamis::error &e) {
        must(e.status() == TAMIS_E_ARGUMENT, e.what());
    }
    try {
        tamis::filter none(1000, 1.5);
        must(false, "an error rate above 1");
    } catch (const tamis::error &e) {
        must(e.status() == TAMIS_E_ARGUMENT &&
                 std::strcmp(e.what(), "fpr is 1.5, but must be above 0 and below 1") == 0,
             e.what());
    }
    try {
        tamis::filter none(1000, 0);
        must(false, "no error rate");
    } catch (const tamis::error &e) {
        must(std::strstr(e.what(), "fpr is 0, but must be") != nullptr, e.what());
    }
    tamis_need need;
    tamis_need_init(&need);
    need.n = 1000;
    need.merges = true;
    need.copies = 3;
    need.value_bits = 4;
    try {
        tamis::plan(need);
        must(false, "merges, copies and values");
    } catch (const tamis::error &e) {
        must(e.status() == TAMIS_E_UNSUPPORTED &&
                 std::strstr(e.what(), "possible without merges, copies or value_bits") != nullptr,
             e.what());
    }
    tamis_params params;
    tamis_params_init(&params);
    params.kind = TAMIS_KIND_BLOOM;
    params.capacity = 1000;
    params.value[TAMIS_BLOOM_HASHES] = 99;
    try {
        tamis::filter none(params);
        must(false, "99 hashes");
    } catch (const tamis::error &e) {
        must(std::strcmp(e.what(), "hashes is 99, which is out of its range") == 0, e.what());
    }
    tamis::filter set(100, 0.01);
    try {
        set.remove(1);
        must(false, "a kind that cannot remove");
    } catch (const tamis::error &e) {
        must(e.status() == TAMIS_E_UNSUPPORTED, e.what());
    }
}

int main() {
    keys();
    whole();
    failures();
    return faults == 0 ? 0 : 1;
}
