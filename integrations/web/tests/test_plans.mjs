/* test_plans.mjs PACKAGE PLANS [ROWS] [SEED] - the module plans as the library does on this machine
 *
 * PACKAGE is the folder of tamis.js and tamis.wasm, PLANS the program plans.c.  Kinds, parameters, sizes and statuses are
 * equal.  Real numbers differ by what the mathematics of the two C libraries do, in the last bits: 1e-12 of their value.  Odds
 * of failure are tails of numbers with means up to n: their logarithm changes by about the root of the mean times what the mean
 * changes by, so they may differ by 1e-11 times the root of n.
 *
 * SPDX-License-Identifier: MIT
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [, , folder, program, rows = process.env.TAMIS_TEST_LONG ? "10250" : "300", seed = "1"] = process.argv;
const { load } = await import(pathToFileURL(`${folder}/tamis.js`));
const tamis = await load();
const wasm = tamis._wasm;
const text = program.endsWith(".txt") ? readFileSync(program, "utf8")
    : execFileSync(program, [rows, seed], { maxBuffer: 1 << 30 }).toString();
const NEEDS = 18, PLAN = 39, PARAMS = 21, PROMISE = 4;
// Places of a plan that are counted, not measured: its parameters, n, bytes, replacements and shards.
const COUNTED = new Set([...Array(PARAMS).keys(), PARAMS, PARAMS + 1, PARAMS + 9, PARAMS + 10, PARAMS + 11]);
COUNTED.delete(PROMISE);
const ODDS = PARAMS + 6;
let needs = 0, plans = 0, equal = 0, worst = 0, worstOdds = 0, refused = 0, failures = 0;

function compare(got, want, need) {
    plans++;
    let same = true;
    for (let k = 0; k < PLAN; k++) {
        if (got[k] === want[k])
            continue;
        same = false;
        const error = Math.abs(got[k] - want[k]) / Math.max(Math.abs(got[k]), Math.abs(want[k]));
        if (k === ODDS)
            worstOdds = Math.max(worstOdds, error);
        else if (!COUNTED.has(k))
            worst = Math.max(worst, error);
        const most = COUNTED.has(k) ? 0 : k === ODDS ? 1e-11 * Math.sqrt(want[PARAMS]) : 1e-12;
        if (error > most && failures++ < 10)
            console.log(`FAIL: number ${k} is ${got[k]}, not ${want[k]}; kind ${want[0]}, need ${need.join(" ")}`);
    }
    equal += same;
}

const lines = text.split("\n");
for (let at = 0; lines[at]?.startsWith("need "); needs++) {
    const need = lines[at++].split(" ").slice(1).map(Number);
    const n = Number(lines[at++].split(" ")[1]);
    const numbers = tamis._numbers();
    numbers.set(need.slice(0, NEEDS));
    const threads = need[NEEDS];
    const got = threads > 0 ? wasm.plan_shared(threads) : wasm.plan(1);
    if (got !== n) {
        if (failures++ < 10)
            console.log(`FAIL: ${got} plans, not ${n}; need ${need.join(" ")}`);
        at += Math.max(n, 0);
        continue;
    }
    refused += n < 0;
    const answers = tamis._numbers();
    for (let i = 0; i < n; i++)
        compare(answers.subarray(i * PLAN, (i + 1) * PLAN), lines[at++].trim().split(" ").map(Number), need);
}
console.log(`${needs} needs, ${plans} plans, ${refused} refused, seed ${seed}: ${equal} equal to the last bit, ` +
    `the others within ${worst.toExponential(1)}, odds of failure within ${worstOdds.toExponential(1)}`);
if (plans === 0 || failures > 0) {
    console.log(`FAIL: ${failures} differences`);
    process.exit(1);
}
