/* instructions.c - one operation of one kind, for a tool that counts instructions
 *
 *      instructions KIND RATE OP MODE
 *      instructions                       the names of all kinds
 *
 * KIND+lines is the plan of a kind for the fewest lines, and not for the fewest bytes: 'steady' and 'window'
 * have one of their own.  'line' is planned with deletes, line+set without.  OP is insert, absent, present or
 * remove; MODE is single or batch.  Everything is prepared first.  Then measured_calls() works on N integers;
 * count only this function:
 *
 *      valgrind --tool=callgrind --toggle-collect=measured_calls instructions line 0.001 insert batch
 *
 * The result is the total divided by N.  The filter is the planner's for CAPACITY keys at the error
 * rate RATE, half full when inserts begin and full for the other operations.  Keys and seed are fixed,
 * so the same program gives the same number every time.  Answers are checked.
 * 'scripts/instructions.sh' makes the whole table.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tamis/plan.h>

#define CAPACITY 40000u
#define N        16000u /* keys that are measured */
#define SEED     1u
#define LINES    "+lines"
#define SET      "+set"

static uint64_t keys[2 * CAPACITY];
static bool answers[N];

typedef enum operation { INSERT, ABSENT, PRESENT, REMOVE } operation;

static void fail(const char *what) {
    fprintf(stderr, "instructions: %s\n", what);
    exit(2);
}

static void must(tamis_status status) {
    if (status != TAMIS_OK)
        fail(tamis_status_text(status));
}

static size_t single_calls(tamis_filter *filter, operation op, const uint64_t *from) {
    size_t yes = 0;
    for (size_t i = 0; i < N; i++) {
        if (op == INSERT)
            yes += tamis_filter_insert_u64(filter, from[i], &answers[i]) == TAMIS_OK;
        else if (op == REMOVE)
            yes += tamis_filter_remove_u64(filter, from[i]) == TAMIS_OK;
        else
            yes += tamis_filter_contains_u64(filter, from[i]);
    }
    return yes;
}

static size_t batch_calls(tamis_filter *filter, operation op, const uint64_t *from) {
    size_t yes = 0;
    if (op == INSERT)
        must(tamis_filter_insert_many_u64(filter, from, N, answers, &yes));
    else if (op == REMOVE)
        must(tamis_filter_remove_many_u64(filter, from, N, answers, &yes));
    else
        yes = tamis_filter_contains_many_u64(filter, from, N, answers);
    return yes;
}

__attribute__((noinline)) size_t measured_calls(tamis_filter *filter, operation op, bool batch,
                                                const uint64_t *from);
size_t measured_calls(tamis_filter *filter, operation op, bool batch, const uint64_t *from) {
    return batch ? batch_calls(filter, op, from) : single_calls(filter, op, from);
}

static operation parse(const char *name) {
    static const char *const names[] = {"insert", "absent", "present", "remove"};
    for (int i = 0; i < 4; i++)
        if (strcmp(names[i], name) == 0)
            return (operation)i;
    fail("OP is insert, absent, present or remove");
    return INSERT;
}

static int print_kinds(void) {
    for (int kind = 1; kind < 256; kind++) /* the numbers fit one byte of a file */
        if (tamis_kind_name((tamis_kind)kind) != NULL)
            puts(tamis_kind_name((tamis_kind)kind));
    puts("steady" LINES);
    puts("window" LINES);
    puts("line" SET);
    return 0;
}

/* The kind, the order of its plans, and whether keys are removed. */
static void parse_kind(const char *text, tamis_need *need) {
    char name[64];
    const size_t size = strcspn(text, "+");
    if (size >= sizeof name)
        fail("no kind has such a name");
    memcpy(name, text, size);
    name[size] = '\0';
    need->order = strcmp(text + size, LINES) == 0 ? TAMIS_ORDER_LINES : TAMIS_ORDER_BYTES;
    must(tamis_kind_parse(name, &need->kind));
    /* What they are for. */
    need->deletes = need->kind == TAMIS_KIND_STEADY ||
                    (need->kind == TAMIS_KIND_LINE && strcmp(text + size, SET) != 0);
}

int main(int argc, char **argv) {
    if (argc == 1)
        return print_kinds();
    if (argc != 5)
        fail("usage: instructions [KIND RATE OP MODE]");
    const operation op = parse(argv[3]);
    const bool batch = strcmp(argv[4], "batch") == 0;
    tamis_need need;
    tamis_plan plan;
    tamis_filter *filter;
    tamis_need_init(&need);
    tamis_plan_init(&plan);
    need.n = CAPACITY;
    need.fpr = strtod(argv[2], NULL);
    parse_kind(argv[1], &need);
    must(tamis_plan_make(&need, &plan));
    if (op == REMOVE && !(tamis_params_abilities(&plan.params) & TAMIS_CAN_REMOVE))
        return 1;
    plan.params.seed = SEED;
    must(tamis_filter_create(&plan.params, NULL, &filter));
    for (size_t i = 0; i < 2 * CAPACITY; i++)
        keys[i] = i * 0x9e3779b97f4a7c15u;
    const size_t before = op == INSERT ? CAPACITY / 2 : CAPACITY;
    must(tamis_filter_insert_many_u64(filter, keys, before, NULL, NULL));
    const uint64_t *const from = op == PRESENT || op == REMOVE ? keys : keys + before;
    const size_t yes = measured_calls(filter, op, batch, from);
    tamis_filter_free(filter);
    if (op == ABSENT ? yes > N / 50 : yes < N - N / 50)
        fail("the answers are wrong");
    printf("%u\n", N);
    return 0;
}
