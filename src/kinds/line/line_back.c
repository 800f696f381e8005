/* line_back.c - the back of lines: where a front line has its places, and what is done there
 *
 * SPDX-License-Identifier: MIT
 */
#include "kinds/line/line.h"

#include "hash/hash.h"

#define LINES_MAX ((uint64_t)1 << 38)

static unsigned line_bits_for(uint64_t n) {
    unsigned bits = 0;
    while (n > (uint64_t)1 << bits)
        bits++;
    return bits;
}

bool tamis_i_line_table_init(const tamis_i_line_need *need, tamis_i_line_table *t) {
    *t = (tamis_i_line_table){.lap = 0};
    if (need->lines < 1 || need->lines > LINES_MAX || need->back_lines > LINES_MAX ||
        need->homes > TAMIS_I_LINE_HOMES_MAX || need->back_homes > TAMIS_I_LINE_HOMES_MAX ||
        need->prints > TAMIS_I_LINE_PLANES_MAX || need->values > 8 ||
        (need->back_lines == 0) != (need->back_homes == 0))
        return false;
    t->front.n = need->lines;
    t->back.n = need->back_lines;
    t->places = need->back_lines < 2 ? (unsigned)need->back_lines : 2;
    const unsigned prints = (unsigned)need->prints, values = (unsigned)need->values;
    if (!tamis_i_line_bits_shape((unsigned)need->homes, prints, values, &t->front.shape))
        return false;
    if (need->back_lines != 0) {
        t->lap = need->lines / need->back_lines + (need->lines % need->back_lines != 0);
        if (t->places * t->lap > need->back_homes ||
            !tamis_i_line_bits_shape((unsigned)need->back_homes,
                                     prints + line_bits_for(need->homes), values, &t->back.shape))
            return false;
    }
    t->front_ops = tamis_i_line_bits_ops_for(&t->front, 0);
    t->back_ops = tamis_i_line_bits_ops_for(&t->back, 0);
    return line_bits_for(need->lines) + line_bits_for(need->homes) + prints <= 62;
}

/* ---- places ---- */

static uint64_t line_step(const tamis_i_line_table *t, uint64_t id) {
    return 1 + tamis_i_range(tamis_i_mix(id + 1), t->back.n - 1);
}

static uint64_t *line_back_at(const tamis_i_line_table *t, uint64_t number) {
    return t->back.lines + number * TAMIS_LINE_WORDS;
}

void tamis_i_line_back_find(const tamis_i_line_table *t, uint64_t line, tamis_i_line_places *p) {
    *p = (tamis_i_line_places){.n = t->places};
    if (p->n == 0)
        return;
    const uint64_t id = line / t->back.n, first = line - id * t->back.n;
    p->line[0] = line_back_at(t, first);
    p->home[0] = (unsigned)id;
    TAMIS_PREFETCH_RW(p->line[0]);
    if (p->n == 2) {
        const uint64_t second = first + line_step(t, id);
        p->line[1] = line_back_at(t, second < t->back.n ? second : second - t->back.n);
        p->home[1] = (unsigned)(t->lap + id);
        TAMIS_PREFETCH_RW(p->line[1]);
    }
}

/* The front line that a home of a back line is of; past the last one if it is of none. */
static uint64_t line_origin(const tamis_i_line_table *t, uint64_t number, unsigned home,
                            bool *second) {
    *second = home >= t->lap;
    const uint64_t id = *second ? home - t->lap : home;
    if (id >= t->lap || (*second && t->places < 2))
        return UINT64_MAX;
    if (*second) {
        const uint64_t step = line_step(t, id);
        number = number < step ? number + t->back.n - step : number - step;
    }
    return id * t->back.n + number;
}

void tamis_i_line_back_weigh(const tamis_i_line_table *t, tamis_i_line_places *p) {
    for (unsigned i = 0; i < p->n; i++)
        p->load[i] = t->back_ops->count(&t->back, p->line[i]);
}

unsigned tamis_i_line_back_room(const tamis_i_line_table *t, const tamis_i_line_places *p) {
    unsigned room = 0;
    for (unsigned i = 0; i < p->n; i++)
        room += t->back.shape.capacity - p->load[i];
    return room;
}

/* ---- entries ---- */

static uint64_t line_mask(unsigned bits) {
    return bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

static uint64_t line_matches(const tamis_i_line_table *t, const tamis_i_line_places *p, unsigned i,
                             uint64_t print) {
    return tamis_i_line_bits_look(&t->back.shape, p->line[i], p->home[i], print,
                                  line_mask(t->back.shape.prints));
}

unsigned tamis_i_line_back_copies(const tamis_i_line_table *t, const tamis_i_line_places *p,
                                  uint64_t print) {
    unsigned copies = 0;
    for (unsigned i = 0; i < p->n; i++)
        for (uint64_t left = line_matches(t, p, i, print); left != 0; left &= left - 1)
            copies++;
    return copies;
}

bool tamis_i_line_back_has(const tamis_i_line_table *t, const tamis_i_line_places *p,
                           uint64_t print) {
    unsigned found = 0;
    for (unsigned i = 0; i < p->n; i++)
        found |= t->back_ops->has(&t->back, p->line[i], p->home[i], print);
    return (found & TAMIS_I_LINE_FOUND) != 0;
}

void tamis_i_line_back_put(const tamis_i_line_table *t, tamis_i_line_places *p,
                           const tamis_i_line_entry *entry) {
    const unsigned i = p->n == 2 && p->load[1] < p->load[0];
    const uint64_t bits = tamis_i_line_back_print(t, entry->home, entry->print) |
                          (uint64_t)entry->value << t->back.shape.prints;
    TAMIS_ASSERT(p->n > 0 && p->load[i] < t->back.shape.capacity);
    (void)t->back_ops->add(&t->back, p->line[i], p->home[i], bits, UINT32_MAX);
    p->load[i]++;
}

bool tamis_i_line_back_drop(const tamis_i_line_table *t, tamis_i_line_places *p, uint64_t print) {
    for (unsigned i = 0; i < p->n; i++)
        if (t->back_ops->drop(&t->back, p->line[i], p->home[i], print, UINT32_MAX) != 0)
            return true;
    return false;
}

/* ---- moves ---- */

/* An entry of a full back line, and its other place. */
typedef struct line_mover {
    uint64_t *line, *other;
    unsigned at, home, other_home;
} line_mover;

/* Entry 'at' of a line.  False if it has no other place in a third line, beside those of 'p'. */
static bool line_mover_of(const tamis_i_line_table *t, const tamis_i_line_places *p, uint64_t *line,
                          unsigned at, line_mover *m) {
    const uint64_t number = (uint64_t)(line - t->back.lines) / TAMIS_LINE_WORDS;
    tamis_i_line_places own;
    bool second;
    m->line = line;
    m->at = at;
    m->home = tamis_i_line_bits_home(&t->back.shape, line, at);
    const uint64_t origin = line_origin(t, number, m->home, &second);
    if (origin >= t->front.n)
        return false;
    tamis_i_line_back_find(t, origin, &own);
    m->other = own.line[!second];
    m->other_home = own.home[!second];
    return m->other != p->line[0] && m->other != p->line[1];
}

static bool line_has_room(const tamis_i_line_table *t, const uint64_t *line) {
    return t->back_ops->count(&t->back, line) < t->back.shape.capacity;
}

static void line_move(const tamis_i_line_table *t, const line_mover *m) {
    const uint64_t bits = t->back_ops->get(&t->back, m->line, m->at);
    (void)t->back_ops->add(&t->back, m->other, m->other_home, bits, UINT32_MAX);
    if (t->back.shape.values == 0)
        (void)t->back_ops->drop(&t->back, m->line, m->home, bits, UINT32_MAX);
    else /* this one: an equal one may have another value */
        tamis_i_line_bits_drop(&t->back.shape, m->line, m->home, m->at);
}

/* Make room in a third line, which is full, by a move to a fourth. */
static bool line_move_on(const tamis_i_line_table *t, const tamis_i_line_places *p,
                         uint64_t *line) {
    const unsigned n = t->back_ops->count(&t->back, line);
    for (unsigned at = 0; at < n; at++) {
        line_mover m;
        if (line_mover_of(t, p, line, at, &m) && m.other != line && line_has_room(t, m.other)) {
            line_move(t, &m);
            return true;
        }
    }
    return false;
}

bool tamis_i_line_back_shift(const tamis_i_line_table *t, tamis_i_line_places *p) {
    for (unsigned moves = 1; p->n == 2 && moves <= 2; moves++)
        for (unsigned try = 0; try < 2 * TAMIS_I_LINE_ENTRIES_MAX; try++) {
            const unsigned i = try % 2, at = try / 2;
            line_mover m;
            if (at >= p->load[i] || !line_mover_of(t, p, p->line[i], at, &m))
                continue;
            if (!line_has_room(t, m.other) && (moves == 1 || !line_move_on(t, p, m.other)))
                continue;
            line_move(t, &m);
            p->load[i]--;
            return true;
        }
    return false;
}

/* ---- the lowest home ---- */

static unsigned line_ones_of(uint64_t x) {
    unsigned n = 0;
    for (; x != 0; x &= x - 1)
        n++;
    return n;
}

unsigned tamis_i_line_back_least(const tamis_i_line_table *t, tamis_i_line_places *p,
                                 unsigned *home) {
    unsigned least[2] = {UINT32_MAX, UINT32_MAX};
    p->least[0] = p->least[1] = 0;
    for (unsigned i = 0; i < p->n; i++) {
        p->least[i] =
            t->back_ops->lowest(&t->back, p->line[i], p->home[i], t->front.shape.prints, &least[i]);
        least[i] = p->least[i] == 0 ? UINT32_MAX : least[i];
    }
    *home = least[0] < least[1] ? least[0] : least[1];
    unsigned n = 0;
    for (unsigned i = 0; i < 2; i++) {
        p->least[i] = least[i] == *home ? p->least[i] : 0;
        n += line_ones_of(p->least[i]);
    }
    return n;
}

static unsigned line_first_of(uint64_t x) {
    unsigned at = 0;
    for (; (x & 1) == 0; x >>= 1)
        at++;
    return at;
}

/* No entry before the first one that is meant has its fingerprint, so that it is the one that is dropped. */
bool tamis_i_line_back_take(const tamis_i_line_table *t, tamis_i_line_places *p,
                            tamis_i_line_entry *entry) {
    const tamis_i_line_shape *const shape = &t->back.shape;
    const unsigned i = p->least[0] == 0;
    if (p->least[i] == 0)
        return false;
    const uint64_t bits = tamis_i_line_bits_get(shape, p->line[i], line_first_of(p->least[i]));
    const uint64_t print = bits & line_mask(shape->prints);
    entry->print = print & line_mask(t->front.shape.prints);
    entry->value = (unsigned)(bits >> shape->prints);
    (void)t->back_ops->drop(&t->back, p->line[i], p->home[i], print, UINT32_MAX);
    p->least[i] = (p->least[i] & (p->least[i] - 1)) >> 1;
    p->load[i]--;
    return true;
}

/* ---- values ---- */

bool tamis_i_line_back_value(const tamis_i_line_table *t, const tamis_i_line_places *p,
                             uint64_t print, unsigned *value) {
    for (unsigned i = 0; i < p->n; i++) {
        const uint64_t found = line_matches(t, p, i, print);
        if (found != 0) {
            *value = (unsigned)(tamis_i_line_bits_get(&t->back.shape, p->line[i],
                                                      line_first_of(found)) >>
                                t->back.shape.prints);
            return true;
        }
    }
    return false;
}

bool tamis_i_line_back_set_value(const tamis_i_line_table *t, const tamis_i_line_places *p,
                                 uint64_t print, unsigned value) {
    const unsigned prints = t->back.shape.prints;
    for (unsigned i = 0; i < p->n; i++) {
        const uint64_t found = line_matches(t, p, i, print);
        if (found != 0) {
            tamis_i_line_bits_put(&t->back.shape, p->line[i], line_first_of(found),
                                  (uint64_t)value << prints,
                                  line_mask(t->back.shape.values) << prints);
            return true;
        }
    }
    return false;
}

/* ---- whole tables ---- */

bool tamis_i_line_front_entry(const tamis_i_line_table *t, uint64_t line, unsigned at,
                              tamis_i_line_entry *entry) {
    const tamis_i_line_shape *const shape = &t->front.shape;
    const uint64_t *const words = t->front.lines + line * TAMIS_LINE_WORDS;
    const uint64_t bits = t->front_ops->get(&t->front, words, at);
    *entry = (tamis_i_line_entry){.line = line,
                                  .home = tamis_i_line_bits_home(shape, words, at),
                                  .print = bits & line_mask(shape->prints),
                                  .value = (unsigned)(bits >> shape->prints)};
    return entry->home < shape->homes;
}

bool tamis_i_line_back_entry(const tamis_i_line_table *t, uint64_t line, unsigned at,
                             tamis_i_line_entry *entry) {
    const tamis_i_line_shape *const shape = &t->back.shape;
    const uint64_t *const words = line_back_at(t, line);
    const uint64_t bits = t->back_ops->get(&t->back, words, at);
    const unsigned prints = t->front.shape.prints;
    bool second;
    *entry = (tamis_i_line_entry){
        .line = line_origin(t, line, tamis_i_line_bits_home(shape, words, at), &second),
        .home = (unsigned)((bits & line_mask(shape->prints)) >> prints),
        .print = bits & line_mask(prints),
        .value = (unsigned)(bits >> shape->prints)};
    return entry->line < t->front.n && entry->home < t->front.shape.homes;
}

/* Does an entry of the back belong to a home that its front line has given away? */
static bool line_was_given(const tamis_i_line_table *t, const tamis_i_line_entry *entry) {
    const uint64_t *const line = t->front.lines + entry->line * TAMIS_LINE_WORDS;
    return tamis_i_line_bits_away(&t->front.shape, line) &&
           tamis_i_line_bits_above(&t->front.shape, line, entry->home);
}

bool tamis_i_line_table_check(const tamis_i_line_table *t, uint64_t *entries, const char **reason) {
    *entries = 0;
    for (uint64_t i = 0; i < t->front.n; i++) {
        const uint64_t *const line = t->front.lines + i * TAMIS_LINE_WORDS;
        if (!tamis_i_line_bits_check(&t->front.shape, line, reason))
            return false;
        *entries += tamis_i_line_bits_count(&t->front.shape, line);
    }
    for (uint64_t i = 0; i < t->back.n; i++) {
        const uint64_t *const line = line_back_at(t, i);
        if (!tamis_i_line_bits_check(&t->back.shape, line, reason))
            return false;
        *reason = "a line of the back has given homes away";
        if (tamis_i_line_bits_away(&t->back.shape, line))
            return false;
        const unsigned n = tamis_i_line_bits_count(&t->back.shape, line);
        *reason = "an entry of the back belongs to no home that was given away";
        for (unsigned at = 0; at < n; at++) {
            tamis_i_line_entry entry;
            if (!tamis_i_line_back_entry(t, i, at, &entry) || !line_was_given(t, &entry))
                return false;
        }
        *entries += n;
    }
    return true;
}
