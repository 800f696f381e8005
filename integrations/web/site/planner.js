/* planner.js - the planner page: from inputs to plans, a sentence, plots and lines to copy
 *
 * What is computed comes from the workers; here it is asked for and shown.  The state of the page is its address.
 *
 * SPDX-License-Identifier: MIT
 */
"use strict";

const $ = (id) => document.getElementById(id);
let answers = new Engine(); // never waits for a plot
const plots = new Engine();

// ---- numbers as people write them ----

const UNITS = { "": 1, B: 1, K: 2 ** 10, KIB: 2 ** 10, KB: 1e3, M: 2 ** 20, MIB: 2 ** 20, MB: 1e6, G: 2 ** 30, GIB: 2 ** 30,
    GB: 1e9, T: 2 ** 40, TIB: 2 ** 40, TB: 1e12 };
const COUNTS = { "": 1, K: 1e3, M: 1e6, G: 1e9, B: 1e9, T: 1e12 };
const trim = (x, digits = 3) => String(Number(x.toPrecision(digits)));

const readCount = (text) => {
    const m = /^([\d.,]+(?:e\+?\d+)?)\s*([kmgbt]?)$/i.exec(text.trim());
    return m ? Math.round(Number(m[1].replaceAll(",", "")) * COUNTS[m[2].toUpperCase()]) : NaN;
};
const showCount = (n) => {
    for (const [unit, size] of [["T", 1e12], ["G", 1e9], ["M", 1e6]])
        if (n >= size && Number.isInteger(n / size * 1000))
            return trim(n / size, 6) + unit;
    return n >= 1e7 ? String(n) : n.toLocaleString("en");
};
const readSize = (text) => {
    const m = /^([\d.,]+(?:e\+?\d+)?)\s*([a-z]*)$/i.exec(text.trim());
    return m ? Math.floor(Number(m[1].replaceAll(",", "")) * (UNITS[m[2].toUpperCase()] ?? NaN)) : NaN;
};
const showSize = (bytes) => {
    const units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let at = 0;
    for (; bytes >= 1024 && at < 4; at++)
        bytes /= 1024;
    return `${trim(bytes, bytes >= 1000 ? 4 : 3)} ${units[at]}`;
};
const readRate = (text) => {
    const m = /^\s*(?:1\s*(?:\/|in)\s*)([\d.,]+(?:e\+?\d+)?)\s*$/i.exec(text);
    if (m)
        return 1 / Number(m[1].replaceAll(",", ""));
    const percent = /%\s*$/.test(text);
    const number = text.trim() === "" ? NaN : Number(text.replace(/%\s*$/, ""));
    return percent ? number / 100 : number;
};
const showRate = (p) => p >= 1e-4 ? trim(p) : p.toExponential(Number.isInteger(Math.log10(p)) ? 0 : 1).replace(".0e", "e");
const readNumber = (text) => text.trim() === "" ? NaN : Number(text);

// ---- inputs ----

// A slider goes from 0 to 1000; 'at' and 'of' turn its place into a value and back.
const logarithmic = (low, high, round) => ({
    at: (x) => round(low * (high / low) ** (x / 1000)),
    of: (v) => Math.min(Math.max(1000 * Math.log(v / low) / Math.log(high / low), 0), 1000),
});
const twoDigits = (v) => Math.round(Number(v.toPrecision(2)));
const linear = (low, high, step = 1) => ({
    at: (x) => low + Math.round((high - low) * x / 1000 / step) * step,
    of: (v) => 1000 * (v - low) / (high - low),
});
// 0, then 1 to 'high' by powers.
const upTo = (high) => ({
    at: (x) => x < 20 ? 0 : twoDigits(high ** ((x - 20) / 980)),
    of: (v) => v <= 0 ? 0 : 20 + 980 * Math.log(v) / Math.log(high),
});

const FIELDS = [
    { id: "n", label: "Keys", start: 1e7, read: readCount, show: showCount, slide: logarithmic(1, 2 ** 40, twoDigits),
        low: 1, high: 2 ** 40, note: "at most in the set at one time: 10M, 1e7" },
    { id: "p", label: "Error rate", start: 0.001, read: readRate, show: showRate,
        slide: logarithmic(0.5, 1e-9, (v) => Number(v.toPrecision(1))), low: 1e-300, high: 1 - 1e-9,
        note: "of absent keys that are found, when all keys are in: 0.001, 0.1%, 1/1000" },
    { id: "bytes", label: "Size", start: 16 * 2 ** 20, read: readSize, show: showSize,
        low: 1, high: 2 ** 50,
        slide: logarithmic(64, 2 ** 43, (v) => Math.round(2 ** (Math.round(4 * Math.log2(v)) / 4))),
        note: "that the set may take: 16MiB, 500MB" },
];
const MORE = [
    { id: "replacements", label: "Replacements", slide: upTo(10000), low: 0, high: 10000,
        note: "of each key by another; 0: for ever, if keys are removed" },
    { id: "copies", label: "Copies counted", slide: upTo(255), low: 0, high: 255, note: "of one key; 0: keys are in or not" },
    { id: "values", label: "Bits of a value", slide: linear(0, 8), low: 0, high: 8, note: "kept with each key" },
    { id: "lines", label: "Cache lines", slide: linear(0, 6, 0.5), low: 0, high: 1000, zeroBelow: 1,
        note: "that a query may read on average, 1 or more; 0: any number" },
    { id: "threads", label: "Threads", slide: upTo(1024), low: 0, high: 1024, note: "that share the set; 0: one at a time" },
    { id: "ticks", label: "Ticks", slide: linear(0, 126), low: 0, high: 126, note: "after which keys are forgotten; 0: never" },
    { id: "overshoot", label: "Overshoot", slide: linear(0, 2, 0.05), low: 0, high: 1000,
        note: "keys beyond the plan, as a part of it, that the promise is for" },
].map((field) => ({ start: 0, read: readNumber, show: (v) => trim(v, 6), ...field }));
const CHECKS = ["deletes", "grows", "merges", "offline"];
const ALL = [...FIELDS, ...MORE];
const values = {};

function makeField(field, parent) {
    const box = document.createElement("div");
    box.className = "field";
    box.id = `field-${field.id}`;
    box.innerHTML = `<div class="top"><label for="${field.id}">${field.label}</label>
        <input class="typed" id="${field.id}" inputmode="text" autocomplete="off" spellcheck="false" aria-describedby="note-${field.id}"></div>
        <input type="range" id="slide-${field.id}" min="0" max="1000" step="any" aria-label="${field.label}, slider">
        <small id="note-${field.id}">${field.note}</small>`;
    parent.append(box);
    const typed = box.querySelector(".typed"), slider = box.querySelector("[type=range]"), note = box.querySelector("small");
    slider.step = 1;
    typed.addEventListener("input", () => {
        const value = field.read(typed.value);
        const good = value >= field.low && value <= field.high && !(field.zeroBelow && value > 0 && value < field.zeroBelow);
        typed.setAttribute("aria-invalid", String(!good));
        note.textContent = good ? field.note : `“${typed.value}” is not ${Number.isNaN(value) ? "understood" : `from ${field.show(field.zeroBelow ?? field.low)} to ${field.show(field.high)}`}: ${field.note}`;
        if (!good)
            return;
        values[field.id] = value;
        slider.value = field.slide.of(value);
        changed();
    });
    typed.addEventListener("change", () => {
        typed.setAttribute("aria-invalid", "false");
        typed.value = field.show(values[field.id]);
    });
    slider.addEventListener("input", () => {
        let value = Math.min(Math.max(field.slide.at(Number(slider.value)), field.low), field.high);
        if (field.zeroBelow && value < field.zeroBelow)
            value = 0;
        setField(field, value, false);
        changed();
    });
}

function setField(field, value, slide = true) {
    values[field.id] = value;
    $(field.id).value = field.show(value);
    $(field.id).setAttribute("aria-invalid", "false");
    $(`note-${field.id}`).textContent = field.note;
    $(`slide-${field.id}`).setAttribute("aria-valuetext", field.show(value));
    if (slide)
        $(`slide-${field.id}`).value = field.slide.of(value);
}

const question = () => document.querySelector("[name=question]:checked").value;

function needNow() {
    const asked = question();
    const need = { n: asked === "n" ? 0 : values.n, fpr: asked === "fpr" ? 0 : values.p, bytes: asked === "bytes" ? 0 : values.bytes,
        replacements: values.replacements, copies: values.copies, valueBits: values.values, linesMax: values.lines,
        threads: values.threads, ticks: values.ticks, overshoot: values.overshoot, order: $("order").value };
    for (const id of CHECKS)
        need[id] = $(id).checked;
    need.deletes ||= need.replacements > 0;
    return need;
}

// ---- the address ----

function toAddress() {
    const state = new URLSearchParams();
    if (question() !== "bytes")
        state.set("ask", question());
    for (const field of ALL) {
        const given = field.id === "n" ? question() !== "n" : field.id === "p" ? question() !== "fpr"
            : field.id === "bytes" ? question() !== "bytes" : values[field.id] !== 0;
        if (given)
            state.set(field.id, String(values[field.id]));
    }
    for (const id of CHECKS)
        if ($(id).checked)
            state.set(id, "1");
    if ($("order").value !== "balanced")
        state.set("order", $("order").value);
    if (chosen !== null)
        state.set("kind", chosen);
    history.replaceState(null, "", `#${state}`);
}

function fromAddress() {
    const state = new URLSearchParams(location.hash.slice(1));
    const asked = ["bytes", "fpr", "n"].includes(state.get("ask")) ? state.get("ask") : "bytes";
    document.querySelector(`[name=question][value=${asked}]`).checked = true;
    for (const field of ALL) {
        const value = state.has(field.id) ? Number(state.get(field.id)) : field.start;
        setField(field, value >= field.low && value <= field.high ? value : field.start);
    }
    for (const id of CHECKS)
        $(id).checked = state.get(id) === "1";
    $("order").value = ["bytes", "speed", "lines", "weighted"].includes(state.get("order")) ? state.get("order") : "balanced";
    chosen = state.get("kind");
    document.querySelector("details.more").open = MORE.some((field) => values[field.id] !== 0) || $("order").value !== "balanced";
    showFields();
}

function showFields() {
    $("field-n").hidden = question() === "n";
    $("field-p").hidden = question() === "fpr";
    $("field-bytes").hidden = question() === "bytes";
}

// ---- the answer ----

let need = null, plans = [], chosen = null; // 'chosen' is a kind that was clicked, or null: the best
let named = false; // the best plan is that of a search, and lines to copy must name its kind to get it
let asked = 0, timer = 0, waiting = 0;
const PATIENCE = 1000; // milliseconds

// The same colour for the same kind in all pictures; kinds without one are grey.
const COLOURS = { line: "#0072b2", steady: "#d55e00", rank: "#009e73", "blocked-bloom": "#56b4e9",
    "balanced-bloom": "#cc79a7" };
const colour = (kind) => COLOURS[kind] ?? (kind === "bloom" ? css("--text") : "#8a919b");
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const current = () => plans.find((plan) => plan.kind === chosen) ?? plans[0];

async function changed() {
    showFields();
    toAddress();
    clearTimeout(timer); // plots and costs are for who rests
    const id = ++asked, begin = performance.now();
    const now = needNow();
    // A few needs take seconds.  Who moves on does not wait for them.
    if (waiting > 0 && begin - waiting > PATIENCE) {
        answers.stop();
        answers = new Engine();
        waiting = 0;
    }
    waiting ||= begin;
    const late = setTimeout(() => {
        if (id === asked)
            $("why").textContent = "This one takes a while to search.";
    }, PATIENCE);
    try {
        const answer = await answers.ask("plans", { need: now });
        if (id !== asked)
            return;
        need = now;
        plans = answer.plans;
        named = answer.named;
        $("without").replaceChildren();
        showAnswer();
    } catch (error) {
        if (id !== asked)
            return;
        need = now;
        plans = [];
        showTrouble(error);
    }
    clearTimeout(late);
    waiting = 0;
    document.body.dataset.answered = String(id);
    clearTimeout(timer);
    timer = setTimeout(() => {
        drawPlots();
        if (plans.length > 0)
            showCosts(id);
    }, 120);
}

const data = (value, text) => `<data value="${value}">${text}</data>`;
const odds = (p) => p === 0 ? "0" : p.toExponential(0);
const able = (plan) => [plan.deletes && "remove", plan.counts && "count", plan.merges && "merge"].filter(Boolean).join(", ") || "add";

function showTrouble(error) {
    $("best").textContent = error.status === 1 ? "A number is out of its range" : "No kind can do all of that";
    $("why").textContent = `${capital(error.message)}.`;
    $("answer").style.removeProperty("--kind");
    for (const id of ["without", "facts", "plans", "params", "code"])
        $(id).replaceChildren();
}

const WISHES = { deletes: "removal", merges: "merging", copies: "copies", values: "values", ticks: "ticks", grow: "growth",
    offline: "knowing all keys", overshoot: "the overshoot", lines: "the limit of lines", sort: "that order", threads: "threads" };

/** What would be had without each of the wishes, as it becomes known. */
async function showCosts(id) {
    try {
        await answers.ask("costs", { need }, ({ wish, all, plan }) => {
            if (id !== asked)
                return;
            const item = document.createElement("li");
            item.dataset.wish = wish;
            item.innerHTML = `Without ${WISHES[wish]}: ${plan.kind}, ` + (need.n === 0 ? `${data(plan.n, showKeys(plan.n))} keys`
                : need.fpr === 0 ? `error rate ${data(plan.fpr, showRate(plan.fpr))} in place of ${showRate(all.fpr)}`
                : `${data(plan.bitsPerKey, plan.bitsPerKey.toFixed(2))} bits per key (${Math.round(100 * (1 - plan.bitsPerKey / all.bitsPerKey))} % less)`);
            $("without").append(item);
        });
        if (id === asked)
            document.body.dataset.costs = String(id);
    } catch { /* what they cost is not needed */ }
}

/** One sentence: why this one? */
function why(plan) {
    const above = plan.bitsPerKey - plan.boundBitsPerKey;
    const cost = `${plan.bitsPerKey.toFixed(2)} bits per key, ${above.toFixed(2)} above what any filter needs`;
    if (plan !== plans[0]) {
        const times = plan.bytes / plans[0].bytes;
        if (need.n === 0)
            return `Chosen by you: ${showKeys(plan.n)} keys, where ${plans[0].kind} takes ${showKeys(plans[0].n)}.`;
        return `Chosen by you: ${cost}; ${times.toFixed(2)} times the bytes of ${plans[0].kind}.`;
    }
    if (plans.length === 1)
        return `${need.threads > 0 ? `For ${need.threads} threads` : "The only kind that can do it"}: ${cost}.`;
    if (need.order === "balanced")
        return `It is the quickest of those that take at most 12 % more than the smallest: ${cost}.`;
    if (need.order === "speed")
        return `It is the quickest: ${cost}.`;
    if (need.order === "lines")
        return `It reads the fewest cache lines per query, ${trim(plan.linesPerQuery)}, and is the best that does: ${cost}.`;
    if (need.order === "weighted")
        return `It has the least sum of extra bits and cache lines: ${cost}.`;
    // Without a need for copies, sets come before multisets, even if these are better.
    const again = "but stores a key again each time that it is added";
    const sets = plans.filter((one) => one.counts === plan.counts).length < plans.length && !plan.counts ? "plain sets" : `${plans.length} kinds`;
    if (question() === "n") {
        const best = plans.reduce((a, b) => b.n > a.n ? b : a);
        return `It takes the most keys of the ${sets} that can do it.` +
            (best === plan ? "" : ` ${capital(best.kind)} takes more, ${showKeys(best.n)}, ${again}.`);
    }
    if (question() === "fpr") {
        const best = plans.reduce((a, b) => b.fpr < a.fpr ? b : a);
        return `It has the fewest errors of the ${sets} that can do it.` +
            (best === plan ? "" : ` ${capital(best.kind)} has fewer, ${showRate(best.fpr)}, ${again}.`);
    }
    const smallest = plans.reduce((a, b) => b.bytes < a.bytes ? b : a);
    const lines = plan.linesPerQuery === 1 ? "one cache line per query" : `${trim(plan.linesPerQuery)} cache lines per query`;
    if (smallest === plan)
        return `It is the smallest of the ${plans.length} kinds that can do it, with ${lines}: ${cost}.`;
    if (smallest.counts && !plan.counts)
        return `It is the smallest plain set, with ${lines}: ${cost}. ${capital(smallest.kind)} is smaller, ${smallest.bitsPerKey.toFixed(2)}, ${again}.`;
    return `It is within 2 % of the smallest, ${smallest.kind}, and reads fewer lines, ${trim(plan.linesPerQuery)}: ${cost}.`;
}
const capital = (text) => text[0].toUpperCase() + text.slice(1);
const showKeys = (n) => n < 1e7 ? n.toLocaleString("en") : n < 1e10 ? `${(n / 1e6).toFixed(2)} M` : `${(n / 1e9).toFixed(2)} G`;

function showAnswer() {
    if (!plans.some((plan) => plan.kind === chosen))
        chosen = null;
    const plan = current();
    $("answer").style.setProperty("--kind", colour(plan.kind));
    $("best").textContent = plan.kind;
    $("why").textContent = why(plan);
    const facts = [
        ["Size", data(plan.bytes, showSize(plan.bytes)), `${plan.bytes.toLocaleString("en")} bytes`],
        need.n === 0 ? ["Keys", data(plan.n, showKeys(plan.n)), ""] : null,
        ["Bits per key", data(plan.bitsPerKey, plan.bitsPerKey.toFixed(2)), `bound ${plan.boundBitsPerKey.toFixed(2)}`],
        ["Errors, full", data(plan.fpr, showRate(plan.fpr)), `1 in ${Math.round(1 / plan.fpr).toLocaleString("en")}`],
        ["Lines per query", data(plan.linesPerQuery, plan.linesPerQuery.toFixed(2)), "of 64 bytes"],
        plan.shards > 1 ? ["Shards", data(plan.shards, plan.shards), ""] : null,
        plan.replacements ? ["Replacements", data(plan.replacements, plan.replacements.toLocaleString("en")), "promised"] : null,
    ].filter(Boolean);
    $("facts").innerHTML = facts.map(([name, value, more]) =>
        `<div><dt>${name}</dt><dd>${value} <small>${more}</small></dd></div>`).join("");
    $("size-head").textContent = need.n === 0 ? "keys" : "size";
    $("plans").innerHTML = plans.map((one) => `<tr data-kind="${one.kind}" style="--kind:${colour(one.kind)}"${
        one === plan ? ' aria-current="true"' : ""}><th scope="row"><button type="button"><span class="dot"></span>${one.kind}</button></th>
        <td>${data(one.bitsPerKey, one.bitsPerKey.toFixed(2))}</td>
        <td>${need.n === 0 ? data(one.n, showKeys(one.n)) : data(one.bytes, showSize(one.bytes))}</td>
        <td>${data(one.fpr, showRate(one.fpr))}</td><td>${need.threads > 0 ? "" : data(one.fprHalf, showRate(one.fprHalf))}</td>
        <td>${data(one.linesPerQuery, one.linesPerQuery.toFixed(2))}</td><td>${data(one.linesPerInsert, one.linesPerInsert.toFixed(2))}</td>
        <td>${data(one.overflowProbability, odds(one.overflowProbability))}</td><td>${able(one)}</td></tr>`).join("");
    $("params").textContent = JSON.stringify({ kind: plan.kind, capacity: plan.capacity, stash: plan.stash, ...plan.params }, null, 2);
    showCode();
}

// ---- lines to copy ----

const written = { n: (v) => showCount(v).replaceAll(",", ""), bytes: (v) => Number.isInteger(v / 2 ** 20) ? `${v / 2 ** 20}MiB` : String(v) };

function options(plan) {
    const out = [];
    if (need.n > 0) out.push("-n", written.n(need.n));
    if (need.fpr > 0) out.push("-p", String(need.fpr));
    if (need.bytes > 0) out.push("--bytes", written.bytes(need.bytes));
    if (named || plan !== plans[0]) out.push("--kind", plan.kind);
    if (need.replacements > 0) out.push("--replacements", need.replacements);
    else if (need.deletes) out.push("--deletes");
    if (need.copies > 0) out.push("--copies", need.copies);
    if (need.merges) out.push("--merges");
    if (need.linesMax > 0) out.push("--lines", need.linesMax);
    if (need.ticks > 0) out.push("--ticks", need.ticks);
    if (need.overshoot > 0) out.push("--overshoot", need.overshoot);
    if (need.order !== "balanced") out.push("--sort", need.order);
    return out;
}

function commandLine(plan) {
    const plain = options(plan);
    const more = [need.valueBits > 0 && `--values ${need.valueBits}`, need.offline && need.threads === 0 && "--offline", need.grows && "--grow",
        need.threads > 0 && `--threads ${need.threads}`].filter(Boolean);
    const building = need.valueBits === 0 && need.threads === 0;
    return [`tamis plan ${[...plain, ...more].join(" ")}`,
        building ? `tamis build ${[...plain, ...(need.grows ? ["--grow"] : [])].join(" ")} -o set.tamis keys.txt\ntamis query set.tamis candidates.txt` : ""]
        .filter(Boolean).join("\n");
}

const MEMBERS = { n: "n", fpr: "fpr", bytes: "bytes", deletes: "deletes", offline: "offline", grows: "grows", copies: "copies",
    valueBits: "value_bits", overshoot: "overshoot", linesMax: "lines_max", replacements: "replacements", merges: "merges", ticks: "ticks" };

function members(plan, boolean) {
    const out = Object.entries(MEMBERS).filter(([name]) => need[name]).map(([name, member]) =>
        [member, need[name] === true ? boolean : String(need[name])]);
    return { plain: out, kind: named || plan !== plans[0] ? plan.kind : null };
}

const LANGUAGES = {
    "Command line": commandLine,
    C: (plan) => {
        const { plain, kind } = members(plan, "true");
        const shared = need.threads > 0;
        return ["#include <tamis/plan.h>", shared ? "#include <tamis/shared.h>" : "", "", "tamis_need need;", "tamis_need_init(&need);",
            ...plain.map(([name, value]) => `need.${name} = ${value};`),
            kind ? `need.kind = TAMIS_KIND_${kind.toUpperCase().replaceAll("-", "_")};` : "",
            need.order === "balanced" ? "" : `need.order = TAMIS_ORDER_${need.order.toUpperCase()};`,
            ...(shared ? ["tamis_shared_plan plan;", "tamis_shared_plan_init(&plan);", "tamis_shared *set;",
                `if (tamis_shared_plan_make(&need, ${need.threads}, &plan) != TAMIS_OK ||`,
                "    tamis_shared_create(&plan.params, plan.shards, NULL, &set) != TAMIS_OK)", "    return 2;"]
                : ["tamis_plan plan;", "tamis_plan_init(&plan);", "tamis_filter *set;", "if (tamis_plan_make(&need, &plan) != TAMIS_OK ||",
                    "    tamis_filter_create(&plan.params, NULL, &set) != TAMIS_OK)", "    return 2;"]),
        ].filter((line, i) => line !== "" || i === 2).join("\n");
    },
    Python: (plan) => {
        const { plain, kind } = members(plan, "True");
        const args = [...plain.map(([name, value]) => `${name}=${value}`), ...(kind ? [`kind="${kind}"`] : []),
            ...(need.order === "balanced" ? [] : [`order="${need.order}"`])];
        const shared = need.threads > 0 ? `SharedFilter(threads=${need.threads}, ` : "Filter(";
        return `import tamis\n\nset = tamis.${shared}${args.join(", ")})\nset.add("apple")\nprint("apple" in set)`;
    },
    JavaScript: (plan) => {
        if (need.threads > 0)
            return "// JavaScript has no sets that threads share.";
        const { kind } = members(plan, "true");
        const args = Object.keys(MEMBERS).filter((name) => need[name]).map((name) => `${name}: ${need[name]}`);
        if (kind) args.push(`kind: "${kind}"`);
        if (need.order !== "balanced") args.push(`order: "${need.order}"`);
        return `import { load } from "tamis";\n\nconst tamis = await load();\nconst set = tamis.create({ ${args.join(", ")} });\nset.add("apple");\nset.has("apple");`;
    },
};
let language = "Command line";

function showCode() {
    $("code").textContent = plans.length ? LANGUAGES[language](current()) : "";
    for (const tab of $("tabs").children)
        tab.setAttribute("aria-selected", String(tab.textContent === language));
}

// ---- plots ----

const STEPS = 30, MOST = 1.5, SAMPLE = 20000;
let charts = {};

/** At most five kinds: the best, the chosen one, and those with a colour of their own. */
function shown() {
    const order = plans.map((plan) => plan.kind);
    const first = [order[0], current().kind, ...order.filter((kind) => COLOURS[kind] || kind === "bloom"), ...order];
    return [...new Set(first)].slice(0, 5);
}

/** Labels at the ends of the lines, moved apart where they would overlap. */
function labelLines(u) {
    const ctx = u.ctx, ratio = devicePixelRatio;
    const labels = [];
    u.series.forEach((series, i) => {
        if (i === 0 || !series.label_)
            return;
        const column = u.data[i];
        for (let k = column.length - 1; k >= 0; k--) {
            if (column[k] == null)
                continue;
            labels.push({ text: series.label_, colour: series._stroke ?? series.line_, x: u.valToPos(u.data[0][k], "x", true),
                y: u.valToPos(column[k], "y", true) });
            break;
        }
    });
    ctx.save();
    ctx.font = `${12 * ratio}px system-ui, sans-serif`;
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    labels.sort((a, b) => a.y - b.y);
    const gap = 15 * ratio, low = u.bbox.top + u.bbox.height;
    labels.forEach((label, i) => { label.at = i === 0 ? label.y : Math.max(label.y, labels[i - 1].at + gap); });
    for (let i = labels.length - 1, limit = low; i >= 0; i--, limit = labels[i + 1]?.at - gap)
        labels[i].at = Math.min(labels[i].at, limit);
    for (const label of labels) {
        const x = Math.min(label.x, u.bbox.left + u.bbox.width) + 6 * ratio;
        ctx.fillStyle = label.colour;
        ctx.fillRect(x, label.at - 4 * ratio, 8 * ratio, 8 * ratio);
        ctx.fillStyle = css("--text");
        ctx.fillText(label.text, x + 12 * ratio, label.at);
    }
    ctx.restore();
}

const axis = (label, values, more = {}) => ({ label, labelSize: 22, labelFont: "12px system-ui, sans-serif", font: "12px system-ui, sans-serif",
    stroke: css("--soft"), grid: { stroke: css("--line"), width: 1 }, ticks: { stroke: css("--line"), width: 1 }, values, ...more });
const powers = (u, splits) => splits.map((v) => {
    const e = Math.log10(v);
    return Math.abs(e - Math.round(e)) < 1e-6 ? (v >= 0.01 ? String(Number(v.toPrecision(1))) : `1e${Math.round(e)}`) : "";
});
const tens = (u, i, low, high) => {
    const first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high) + 1e-9), step = last - first > 6 ? 2 : 1;
    return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, k) => 10 ** (first + step * k));
};
const series = (kind, more = {}) => ({ label: kind, label_: kind, line_: colour(kind), stroke: colour(kind),
    width: kind === current().kind ? 3 : 1.75, points: { show: false }, spanGaps: true, ...more });

function chart(id, make) {
    const box = $(id);
    charts[id]?.destroy();
    const width = Math.max(box.clientWidth, 200);
    const { data: columns, ...rest } = make(width);
    charts[id] = new uPlot({ width, height: id === "plot-bits" ? 320 : 280, legend: { show: false }, cursor: { show: false },
        padding: [8, 30 + 6.6 * Math.max(...shown().map((kind) => kind.length)), 0, 0], ...rest }, columns, box);
    box.setAttribute("role", "img");
}

function drawBits(rates, kinds, bits) {
    chart("plot-bits", () => ({
        data: [rates.map((p) => -Math.log10(p)), rates.map((p) => -Math.log2(p)), ...kinds.map((kind) => bits[kind] ?? rates.map(() => null))],
        scales: { x: { time: false, range: [1, 6] }, y: { range: (u, low, high) => [0, Math.min(Math.ceil((high ?? 30) / 4) * 4, 48)] } },
        axes: [axis("error rate", (u, splits) => splits.map((e) => Number.isInteger(e) ? (e <= 2 ? String(10 ** -e) : `1e-${e}`) : "")),
            axis("bits per key", null, { size: 48 })],
        series: [{}, { label: "bound", label_: "bound", line_: css("--soft"), stroke: css("--soft"), dash: [6, 5], width: 1.5,
            points: { show: false } }, ...kinds.map((kind) => series(kind))],
        hooks: { draw: [(u) => { labelLines(u); markNeed(u); }] },
    }));
    $("plot-bits").setAttribute("aria-label", `Bits per key at error rates from 0.1 to 0.000001, of ${kinds.join(", ")}`);
}

/** A dot where the plan is. */
function markNeed(u) {
    const plan = current(), x = -Math.log10(plan.fpr);
    if (!(x >= 1 && x <= 6))
        return;
    const ctx = u.ctx, ratio = devicePixelRatio;
    ctx.save();
    ctx.beginPath();
    ctx.arc(u.valToPos(x, "x", true), u.valToPos(plan.bitsPerKey, "y", true), 5 * ratio, 0, 7);
    ctx.fillStyle = colour(plan.kind);
    ctx.fill();
    ctx.lineWidth = 2 * ratio;
    ctx.strokeStyle = css("--page");
    ctx.stroke();
    ctx.restore();
}

function drawFill(kinds, fills) {
    const fill = Array.from({ length: STEPS }, (_, i) => MOST * (i + 1) / STEPS);
    chart("plot-fill", () => ({
        data: [fill, ...kinds.map((kind) => fill.map((_, i) => fills[kind]?.[i] || null))],
        scales: { x: { time: false, range: [0, MOST] }, y: { distr: 3, log: 10, range: (u, low, high) =>
            [10 ** Math.floor(Math.log10(Math.max(low ?? 1e-6, current().fpr / 1e4))), 10 ** Math.ceil(Math.log10(high ?? 1))] } },
        axes: [axis("keys in, of those planned", (u, splits) => splits.map((v) => `${Math.round(100 * v)} %`)),
            axis("error rate", powers, { size: 56, splits: tens, filter: (u, splits) => splits })],
        series: [{}, ...kinds.map((kind) => series(kind))],
        hooks: { draw: [labelLines] },
    }));
    $("plot-fill").setAttribute("aria-label", `Error rate while sets fill, of ${kinds.join(", ")}`);
}

/** Lines against bits; where bytes are given all have the same bits, and differ by their errors. */
function drawLines(marked) {
    const errors = question() === "fpr";
    const points = plans.map((plan) => [errors ? Math.log10(plan.fpr) : plan.bitsPerKey, plan.linesPerQuery, plan.kind])
        .sort((a, b) => a[0] - b[0]);
    const inside = points.filter((point) => errors || point[0] <= 2.5 * points[0][0]);
    const least = points[0][0], most = inside[inside.length - 1][0], room = Math.max(most - least, errors ? 0.2 : 2);
    $("lines-title").textContent = errors ? "Errors against reading" : "Size against reading";
    $("lines-note").textContent = `cache lines per absent key and ${errors ? "error rate" : "bits per key"}: lower left is better`;
    chart("plot-lines", () => ({
        padding: [8, 12, 0, 0],
        data: [inside.map((point) => point[0]), inside.map((point) => point[1])],
        scales: { x: { time: false, range: () => errors ? [least - 0.15 * room, most + 0.25 * room]
            : [Math.floor(least - 1), Math.ceil(most + room * 0.25 + 1)] }, y: { range: (u, low, high) => [0, Math.ceil((high ?? 4) + 0.5)] } },
        axes: [axis(errors ? "error rate" : "bits per key", errors ? (u, splits) => splits.map((e) => showRate(10 ** e)) : null),
            axis("lines per query", null, { size: 44 })],
        series: [{}, { paths: () => null, points: { show: false } }],
        hooks: { draw: [(u) => drawPoints(u, inside, marked)] },
    }));
    $("plot-lines").setAttribute("aria-label", `${$("lines-title").textContent} of ${inside.map((point) => point[2]).join(", ")}`);
}

function drawPoints(u, points, marked) {
    const ctx = u.ctx, ratio = devicePixelRatio, taken = [];
    ctx.save();
    ctx.font = `${12 * ratio}px system-ui, sans-serif`;
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    for (const [bits, lines, kind] of [...points].sort((a, b) => marked.includes(b[2]) - marked.includes(a[2]))) {
        const x = u.valToPos(bits, "x", true), y = u.valToPos(lines, "y", true), main = kind === current().kind;
        ctx.beginPath();
        ctx.arc(x, y, (main ? 6 : 4) * ratio, 0, 7);
        ctx.fillStyle = colour(kind);
        ctx.fill();
        const width = ctx.measureText(kind).width, height = 14 * ratio;
        const places = [[x + 9 * ratio, y], [x - 9 * ratio - width, y], [x - width / 2, y - 13 * ratio], [x - width / 2, y + 13 * ratio]];
        const free = places.find(([left, middle]) => left > u.bbox.left && left + width < u.bbox.left + u.bbox.width &&
            taken.every((t) => left + width + height / 2 < t[0] || t[0] + t[2] + height / 2 < left || Math.abs(middle - t[1]) > height) &&
            points.every((p) => p[2] === kind || Math.abs(u.valToPos(p[1], "y", true) - middle) > height / 2 ||
                u.valToPos(p[0], "x", true) < left - 5 * ratio || u.valToPos(p[0], "x", true) > left + width + 5 * ratio));
        if (!free)
            continue; // the table names it
        taken.push([free[0], free[1], width]);
        ctx.fillStyle = main ? css("--text") : css("--soft");
        ctx.fillText(kind, free[0], free[1]);
    }
    ctx.restore();
}

const RATES = Array.from({ length: 11 }, (_, i) => 10 ** -(1 + i / 2));
let bitsNow = {}, fillsNow = {}, keyBits = "", keyFills = "";

/** Plots come after the answer, a line at a time.  What has been drawn for the same need is kept. */
function drawPlots() {
    for (const id of ["plot-bits", "plot-fill", "plot-lines"])
        $(id).parentElement.hidden = plans.length === 0;
    if (plans.length === 0)
        return;
    const kinds = shown(), plan = current();
    const base = { ...need, n: need.n || plan.n, fpr: need.fpr || plan.fpr };
    const sample = { ...base, n: Math.min(base.n, SAMPLE) };
    $("fill-note").textContent = `sets of ${sample.n.toLocaleString("en")} keys, planned for this need and filled in this page`;
    drawLines(kinds);
    const nextBits = JSON.stringify([{ ...base, fpr: 0, bytes: 0, order: 0 }, kinds]);
    if (nextBits !== keyBits)
        bitsNow = {};
    const nextFills = JSON.stringify([{ ...sample, bytes: 0, order: 0 }, kinds]);
    if (nextFills !== keyFills)
        fillsNow = {};
    drawBits(RATES, kinds, bitsNow);
    drawFill(kinds, fillsNow);
    if (nextFills !== keyFills) {
        keyFills = nextFills;
        plots.ask("fills", { need: sample, kinds, steps: STEPS, most: MOST }, ({ kind, rates }) => {
            if (keyFills !== nextFills || plans.length === 0)
                return;
            fillsNow[kind] = rates;
            drawFill(kinds, fillsNow);
        }).catch(() => {});
    }
    if (nextBits !== keyBits) {
        keyBits = nextBits;
        plots.ask("bits", { need: base, kinds, rates: RATES }, ({ kind, bits }) => {
            if (keyBits !== nextBits || plans.length === 0)
                return;
            bitsNow[kind] = bits;
            drawBits(RATES, kinds, bitsNow);
        }).then(() => { document.body.dataset.plotted = "1"; }).catch(() => {});
    }
}

// ---- the page ----

function start() {
    FIELDS.forEach((field) => makeField(field, $("fields")));
    MORE.forEach((field) => makeField(field, $("more")));
    for (const name of Object.keys(LANGUAGES)) {
        const tab = document.createElement("button");
        tab.type = "button";
        tab.role = "tab";
        tab.textContent = name;
        tab.addEventListener("click", () => { language = name; showCode(); });
        $("tabs").append(tab);
    }
    for (const input of document.querySelectorAll("[name=question], .checks input, #order"))
        input.addEventListener("change", changed);
    $("plans").addEventListener("click", (event) => {
        const row = event.target.closest("button")?.closest("tr");
        if (!row)
            return;
        chosen = row.dataset.kind === plans[0].kind ? null : row.dataset.kind;
        toAddress();
        showAnswer();
        $("plans").querySelector(`[data-kind="${row.dataset.kind}"] button`).focus();
        drawPlots();
    });
    const copies = (button, text) => button.addEventListener("click", async () => {
        const label = button.textContent;
        try { await navigator.clipboard.writeText(text()); button.textContent = "Copied"; } catch { button.textContent = "Not allowed here"; }
        setTimeout(() => { button.textContent = label; }, 1200);
    });
    copies($("share"), () => location.href);
    copies($("take"), () => $("code").textContent);
    $("reset").addEventListener("click", () => { location.hash = ""; fromAddress(); changed(); });
    addEventListener("hashchange", () => { fromAddress(); changed(); });
    addEventListener("themechange", () => { if (plans.length) { showAnswer(); drawPlots(); } });
    let width = innerWidth;
    addEventListener("resize", () => {
        if (innerWidth === width)
            return;
        width = innerWidth;
        clearTimeout(timer);
        timer = setTimeout(drawPlots, 120);
    });
    fromAddress();
    changed();
}
start();
