/* tamis.hpp - tamis.h for C++11 and later
 *
 * A tamis::filter owns a tamis_filter.  Keys are integers or texts; get() gives the handle for everything
 * that is not here.
 *
 *     tamis::filter set(1000000, 0.001);
 *     set.insert("apple");
 *     if (set.contains("apple")) ...
 *
 * What fails throws tamis::error, with the status; contains never fails.  The guarantees about threads and
 * failures are those of tamis.h.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_TAMIS_HPP
#define TAMIS_TAMIS_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#if __cplusplus >= 201703L
#include <string_view>
#endif
#if __cplusplus >= 202002L
#include <span>
#endif

#include <tamis/plan.h>
#include <tamis/tamis.h>

namespace tamis {

class error : public std::runtime_error {
  public:
    explicit error(tamis_status status, const char *reason = nullptr)
        : std::runtime_error(reason != nullptr ? reason : tamis_status_text(status)),
          status_(status) {
    }
    tamis_status status() const noexcept {
        return status_;
    }

  private:
    tamis_status status_;
};

inline void check(tamis_status status, const char *reason = nullptr) {
    if (status != TAMIS_OK)
        throw error(status, reason);
}

/* The same for a need or parameters: the text says which member is at fault. */
inline void check(tamis_status status, const tamis_need &need) {
    char why[512];
    if (status != TAMIS_OK)
        throw error(status, tamis_plan_explain(&need, why, sizeof why) == status ? why : nullptr);
}
inline void check(tamis_status status, const tamis_params &params) {
    char why[512];
    if (status != TAMIS_OK)
        throw error(status,
                    tamis_params_explain(&params, why, sizeof why) == status ? why : nullptr);
}

/* The best plan for a need. */
inline tamis_plan plan(const tamis_need &need) {
    tamis_plan made;
    tamis_plan_init(&made);
    check(tamis_plan_make(&need, &made), need);
    return made;
}

class filter {
    template <class T, class R>
    using if_integer = typename std::enable_if<std::is_integral<T>::value, R>::type;

  public:
    /* For n keys with an error rate of at most fpr. */
    filter(std::uint64_t n, double fpr) {
        tamis_need need;
        tamis_need_init(&need);
        need.n = n;
        need.fpr = fpr;
        if (fpr == 0) /* no default, but a mistake */
            throw error(TAMIS_E_ARGUMENT, "fpr is 0, but must be above 0 and below 1");
        check(tamis_filter_new(n, fpr, &own_), need);
    }
    explicit filter(const tamis_params &params) {
        check(tamis_filter_create(&params, nullptr, &own_), params);
    }
    /* Take over a handle. */
    explicit filter(tamis_filter *handle) noexcept : own_(handle) {
    }
    static filter load(const std::string &path) {
        return open(tamis_filter_load, path);
    }
    /* While it lives, nobody may cut off the file or change it in place: see tamis_filter_map. */
    static filter map(const std::string &path) {
        return open(tamis_filter_map, path);
    }
    static filter map_trusted(const std::string &path) {
        return open(tamis_filter_map_trusted, path);
    }

    filter(filter &&other) noexcept : own_(other.release()) {
    }
    filter &operator=(filter &&other) noexcept {
        std::swap(own_, other.own_);
        return *this;
    }
    filter(const filter &) = delete;
    filter &operator=(const filter &) = delete;
    ~filter() {
        tamis_filter_free(own_);
    }

    filter clone() const {
        tamis_filter *copy = nullptr;
        check(tamis_filter_clone(own_, nullptr, &copy));
        return filter(copy);
    }

    tamis_filter *get() const noexcept {
        return own_;
    }
    tamis_filter *release() noexcept {
        tamis_filter *const handle = own_;
        own_ = nullptr;
        return handle;
    }

    /* ---- one key: true if it was not there before; is it there; true if it was there ---- */

    bool insert(const void *key, std::size_t size) {
        bool added = false;
        check(tamis_filter_insert(own_, key, size, &added));
        return added;
    }
    bool contains(const void *key, std::size_t size) const noexcept {
        return tamis_filter_contains(own_, key, size);
    }
    bool remove(const void *key, std::size_t size) {
        return removed(tamis_filter_remove(own_, key, size));
    }
    std::uint64_t copies(const void *key, std::size_t size) const noexcept {
        return tamis_filter_copies(own_, key, size);
    }

    template <class T> if_integer<T, bool> insert(T key) {
        bool added = false;
        check(tamis_filter_insert_u64(own_, static_cast<std::uint64_t>(key), &added));
        return added;
    }
    template <class T> if_integer<T, bool> contains(T key) const noexcept {
        return tamis_filter_contains_u64(own_, static_cast<std::uint64_t>(key));
    }
    template <class T> if_integer<T, bool> remove(T key) {
        return removed(tamis_filter_remove_u64(own_, static_cast<std::uint64_t>(key)));
    }
    template <class T> if_integer<T, std::uint64_t> copies(T key) const noexcept {
        return tamis_filter_copies_u64(own_, static_cast<std::uint64_t>(key));
    }

    bool insert(const char *key) {
        return insert(key, std::strlen(key));
    }
    bool contains(const char *key) const noexcept {
        return contains(key, std::strlen(key));
    }
    bool remove(const char *key) {
        return remove(key, std::strlen(key));
    }
    bool insert(const std::string &key) {
        return insert(key.data(), key.size());
    }
    bool contains(const std::string &key) const noexcept {
        return contains(key.data(), key.size());
    }
    bool remove(const std::string &key) {
        return remove(key.data(), key.size());
    }
#if __cplusplus >= 201703L
    bool insert(std::string_view key) {
        return insert(key.data(), key.size());
    }
    bool contains(std::string_view key) const noexcept {
        return contains(key.data(), key.size());
    }
    bool remove(std::string_view key) {
        return remove(key.data(), key.size());
    }
#endif

    /* ---- many integers: insert them; how many are there, and which ---- */

    void insert_many(const std::uint64_t *keys, std::size_t n) {
        check(tamis_filter_insert_many_u64(own_, keys, n, nullptr, nullptr));
    }
    std::size_t contains_many(const std::uint64_t *keys, std::size_t n,
                              bool *present = nullptr) const noexcept {
        return tamis_filter_contains_many_u64(own_, keys, n, present);
    }
#if __cplusplus >= 202002L
    void insert_many(std::span<const std::uint64_t> keys) {
        insert_many(keys.data(), keys.size());
    }
    std::size_t contains_many(std::span<const std::uint64_t> keys) const noexcept {
        return contains_many(keys.data(), keys.size());
    }
#endif

    /* ---- whole filters ---- */

    std::uint64_t count() const noexcept {
        return tamis_filter_count(own_);
    }
    tamis_info info() const {
        tamis_info told;
        tamis_info_init(&told);
        check(tamis_filter_info(own_, &told));
        return told;
    }
    /* Of a mapped set: verify all of it; how many parts of it were found to be damaged. */
    void verify() const {
        const char *reason = nullptr;
        const tamis_status status = tamis_filter_verify(own_, &reason);
        check(status, reason);
    }
    std::uint64_t damage() const noexcept {
        return tamis_filter_damage(own_);
    }
    /* 'beyond': also where the union errs more often than was promised. */
    void merge(const filter &other, bool beyond = false) {
        check(tamis_filter_merge(own_, other.own_, beyond ? TAMIS_MERGE_BEYOND : 0));
    }
    void clear() {
        check(tamis_filter_clear(own_));
    }
    void save(const std::string &path) const {
        const char *reason = nullptr;
        const tamis_status status = tamis_filter_save(own_, path.c_str(), &reason);
        check(status, reason);
    }

  private:
    using opener = tamis_status(const char *, const tamis_allocator *, tamis_filter **,
                                const char **);

    static filter open(opener *open_file, const std::string &path) {
        tamis_filter *handle = nullptr;
        const char *reason = nullptr;
        const tamis_status status = open_file(path.c_str(), nullptr, &handle, &reason);
        check(status, reason);
        return filter(handle);
    }
    static bool removed(tamis_status status) {
        if (status != TAMIS_E_NOT_FOUND)
            check(status);
        return status == TAMIS_OK;
    }

    tamis_filter *own_ = nullptr;
};

} // namespace tamis

#endif
