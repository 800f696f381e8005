/* worker.js - the module at work beside the page; tamis.js stands before it
 *
 * A message is { id, call, ... }; answers have the id.  What takes long is answered in parts, and dropped if a later
 * question of the same call has come meanwhile: between parts the worker looks for messages.
 *
 * SPDX-License-Identifier: MIT
 */
let ready = null;
let sets = null;
const latest = {};
const breathe = () => new Promise((done) => setTimeout(done));

/** A need as the library takes it: in the page, what is asked for is 0. */
const given = (need) => Object.fromEntries(Object.entries(need).filter(([, value]) => value !== 0));

/** What is left of a need without a wish. */
const WISHES = {
    deletes: { deletes: false, replacements: 0 },
    merges: { merges: false },
    copies: { copies: 0 },
    values: { valueBits: 0 },
    ticks: { ticks: 0 },
    grow: { grows: false },
    offline: { offline: false },
    overshoot: { overshoot: 0 },
    lines: { linesMax: 0 },
    sort: { order: "balanced" },
    threads: { threads: 0 },
};
const SAVES = 0.95; // of bits or errors, at most this much is left

/** Is a plan with a wish less so much better?  What was asked for is keys, errors or bytes. */
function saves(need, all, plan) {
    if (!need.n)
        return plan.n * SAVES >= all.n;
    return need.fpr ? plan.bitsPerKey <= all.bitsPerKey * SAVES : plan.fpr <= all.fpr * SAVES;
}

const calls = {
    /** The plans of a need; 'named' if one that does not name a kind is made without a search, and is another. */
    async plans({ need }) {
        const tamis = await ready;
        if (need.threads > 0)
            return { plans: [tamis.plan(given(need))], named: false };
        const plans = tamis.planAll(given(need));
        const searched = need.bytes || need.replacements || need.copies || need.valueBits || need.linesMax || need.offline || need.order === "lines" || need.order === "weighted";
        return { plans, named: !searched && tamis.plan(given(need)).bytes !== plans[0].bytes };
    },

    /** What each wish costs: plans without it that are more than some 5 % better, a wish at a time.  'tamis plan' does the
     * same (cli/plan_costs.c), and names them as here. */
    async costs({ id, need }, part) {
        const tamis = await ready;
        const asked = latest.plans; // the next question does not wait
        const all = tamis.plan(given(need));
        for (const [wish, without] of Object.entries(WISHES)) {
            if (!Object.entries(without).some(([member, value]) => need[member] && need[member] !== value))
                continue;
            try {
                const plan = tamis.plan(given({ ...need, ...without }));
                if (saves(need, all, plan))
                    part({ wish, all, plan });
            } catch { /* without it there may be no plan: for fewer bytes, say */ }
            await breathe();
            if (latest.costs !== id || latest.plans !== asked)
                return null;
        }
        return { done: true };
    },

    /** Bits per key of some kinds at some error rates, a kind at a time. */
    async bits({ id, need, kinds, rates }, part) {
        const tamis = await ready;
        for (const kind of kinds) {
            const bits = [];
            for (const fpr of rates) {
                try {
                    bits.push(tamis.plan(given({ ...need, kind, fpr, bytes: 0, threads: 0 })).bitsPerKey);
                } catch {
                    bits.push(null);
                }
                await breathe();
                if (latest.bits !== id)
                    return null;
            }
            part({ kind, bits });
        }
        return { done: true };
    },

    /** Error rates while sets of some kinds, planned for the need, are filled to 'most' times their keys. */
    async fills({ id, need, kinds, steps, most }, part) {
        const tamis = await ready;
        for (const kind of kinds) {
            let rates = [];
            try {
                const set = tamis.create(given({ ...need, kind, bytes: 0, threads: 0 }), { seed: 1 });
                rates = set.fill(Math.round(need.n * most), steps);
                set.free();
            } catch { /* a need that this kind cannot have by itself */ }
            await breathe();
            if (latest.fills !== id)
                return null;
            part({ kind, rates });
        }
        return { done: true };
    },

    /** A set of the keys in a file, one per line. */
    async build({ id, file, need }, part) {
        const tamis = await ready;
        const begin = performance.now();
        const builder = tamis.builder(need, need.seed === undefined ? {} : { seed: BigInt(need.seed) });
        const size = 4 << 20;
        for (let from = 0; from < file.size; from += size) {
            builder.addText(new Uint8Array(await file.slice(from, from + size).arrayBuffer()));
            if (latest.build !== id) {
                builder.free();
                return null;
            }
            part({ fraction: (from + size) / file.size, count: builder.count });
        }
        const set = builder.build();
        sets?.free();
        sets = set;
        const bytes = set.save();
        return { info: set.info(), bytes, milliseconds: performance.now() - begin };
    },

    /** A set from the bytes of a file. */
    async open({ file }) {
        const tamis = await ready;
        const begin = performance.now();
        const bytes = new Uint8Array(await file.arrayBuffer());
        const set = tamis.load(bytes);
        sets?.free();
        sets = set;
        return { info: set.info(), bytes, milliseconds: performance.now() - begin };
    },

    /** Which of these keys are in? */
    async ask({ keys, u64 }) {
        return { answers: keys.map((key) => sets.has(u64 ? BigInt(key) : key)) };
    },
};

onmessage = async ({ data }) => {
    if (data.module) {
        ready = load(data.module);
        return;
    }
    const { id, call } = data;
    latest[call] = id;
    await breathe(); // later questions make this one needless
    if (call !== "ask" && latest[call] !== id)
        return;
    try {
        const answer = await calls[call](data, (result) => postMessage({ id, part: true, ...result }));
        if (answer !== null)
            postMessage({ id, ...answer });
    } catch (error) {
        postMessage({ id, error: error.message, status: error.status ?? 0 });
    }
};
