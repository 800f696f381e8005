/* test_costs.mjs PACKAGE SITE TOOL - what the planner page says that wishes cost is what 'tamis plan' says
 *
 * PACKAGE is the folder of tamis.js and tamis.wasm, SITE that of worker.js.  The worker runs here without a browser: its text
 * is put together as build.py does.
 *
 * SPDX-License-Identifier: MIT
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import vm from "node:vm";

const [, , folder, site, tool] = process.argv;
const text = readFileSync(join(folder, "tamis.js"), "utf8").replace(/^export /gm, "").replace("import.meta.url", "location.href") +
    readFileSync(join(site, "worker.js"), "utf8");
const waiting = new Map();
const worker = vm.createContext({ WebAssembly, TextEncoder, TextDecoder, setTimeout, performance, crypto: globalThis.crypto, URL,
    FinalizationRegistry, Error, TypeError, RangeError, Uint8Array, location: { href: "file:///" },
    postMessage: (answer) => waiting.get(answer.id)(answer) });
vm.runInContext(text, worker);
worker.onmessage({ data: { module: await WebAssembly.compile(readFileSync(join(folder, "tamis.wasm"))) } });

/** The parts of an answer. */
function ask(id, call, what) {
    return new Promise((done, fail) => {
        const parts = [];
        waiting.set(id, (answer) => {
            if (answer.part)
                parts.push(answer);
            else if (answer.error !== undefined)
                fail(new Error(answer.error));
            else
                done(parts);
        });
        worker.onmessage({ data: { id, call, ...what } });
    });
}

const OPTIONS = { n: "-n", fpr: "-p", bytes: "--bytes", deletes: "--deletes", merges: "--merges", copies: "--copies", valueBits: "--values",
    ticks: "--ticks", grows: "--grow", offline: "--offline", overshoot: "--overshoot", linesMax: "--lines", order: "--sort",
    replacements: "--replacements", threads: "--threads" };
const needs = [
    { n: 1e7, fpr: 0.001, deletes: true, merges: true },
    { n: 1e6, fpr: 0.01, valueBits: 8, deletes: true, overshoot: 0.5 },
    { n: 1e6, fpr: 1e-5, grows: true, ticks: 20 },
    { n: 1e5, fpr: 0.001, copies: 20, linesMax: 1, offline: true },
    { n: 1e5, fpr: 0.001, deletes: true, replacements: 50, copies: 3, order: "lines" },
    { n: 1e6, fpr: 0.001, deletes: true, merges: true, threads: 4 },
    { n: 0, fpr: 0.001, bytes: 1 << 20, deletes: true, merges: true },
    { n: 1e6, fpr: 0, bytes: 1 << 20, deletes: true, valueBits: 2 },
    { n: 1e6, fpr: 0.001 },
    { n: 1e6, fpr: 0.001, copies: 3 },
    { n: 1e6, fpr: 0.01, merges: true },
    { n: 1e6, fpr: 0.001, deletes: true, copies: 10 },
    { n: 1e7, fpr: 0.001, copies: 3, merges: true },
    { n: 1e6, fpr: 0.01, valueBits: 4, merges: true },
];
let costs = 0;
for (const [i, need] of needs.entries()) {
    const options = Object.entries(need).flatMap(([member, value]) => value === true ? [OPTIONS[member]]
        : value ? [OPTIONS[member], String(value)] : []);
    const told = JSON.parse(execFileSync(tool, ["plan", "--json", ...options], { encoding: "utf8" })).without;
    const shown = await ask(i + 1, "costs", { need: { order: "balanced", ...need } });
    const asTold = ({ wish, plan }) => ({ wish: wish === "deletes" && need.replacements ? "replacements" : wish, kind: plan.kind, n: plan.n, bytes: plan.bytes });
    assert.deepEqual(shown.map(asTold), told.map(({ wish, kind, n, bytes }) => ({ wish, kind, n, bytes })), JSON.stringify(need));
    costs += told.length;
}
assert.ok(costs > 10);
console.log(`ok: ${needs.length} needs, ${costs} wishes that cost something`);
