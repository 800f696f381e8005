/* test_site.mjs SITE MODULES BUILD - the site in a real browser
 *
 * SITE is what build.py made, MODULES npm's modules, BUILD the folder of the command line, which is asked the same, of the
 * library and of the package.  Pages are opened from file:// and from a server.  Needs are drawn at random with a fixed seed,
 * which is printed; SEED is another one.  TAMIS_SLOW multiplies the limit of time, for slow machines.
 *
 * SPDX-License-Identifier: MIT
 */
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { createReadStream, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";

const [, , siteArg, modulesArg, buildArg] = process.argv;
const site = resolve(siteArg), modules = resolve(modulesArg), build = resolve(buildArg), tool = join(build, "tamis");
const root = fileURLToPath(new URL("../../..", import.meta.url));
const require = createRequire(join(modules, "x.js"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const run = promisify(execFile);
const seed = Number(process.env.SEED ?? 1);
const slow = Number(process.env.TAMIS_SLOW ?? 1);
const work = mkdtempSync(join(tmpdir(), "tamis-site-"));
process.on("exit", () => rmSync(work, { recursive: true, force: true }));

let state = BigInt(seed);
function draw() { // SplitMix64, in [0, 1)
    state = BigInt.asUintN(64, state + 0x9e3779b97f4a7c15n);
    let z = state;
    z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
    z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
    return Number((z ^ (z >> 31n)) >> 11n) / 2 ** 53;
}
const between = (low, high) => low + (high - low) * draw();
const chance = (p) => draw() < p;

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const types = { html: "text/html", js: "text/javascript", css: "text/css", svg: "image/svg+xml", txt: "text/plain" };
const server = createServer((request, response) => {
    const path = join(site, new URL(request.url, "http://x").pathname);
    if (!path.startsWith(site) || !existsSync(path)) {
        response.writeHead(404).end();
        return;
    }
    response.writeHead(200, { "content-type": types[path.split(".").pop()] ?? "application/octet-stream" });
    createReadStream(path).pipe(response);
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const base = { file: pathToFileURL(site).href, server: `http://127.0.0.1:${server.address().port}` };

async function open(page, { from = "file", width = 1440, theme = "light" } = {}) {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: theme });
    const tab = await context.newPage();
    tab.faults = [];
    tab.on("pageerror", (error) => tab.faults.push(error.message));
    tab.on("console", (message) => { if (message.type() === "error") tab.faults.push(message.text()); });
    tab.on("request", (request) => {
        if (!request.url().startsWith(base[from]) && !/^(blob|data):/.test(request.url()))
            tab.faults.push(`asks for ${request.url()}`);
    });
    await tab.goto(`${base[from]}/${page}`);
    return tab;
}
async function close(tab) {
    assert.deepEqual(tab.faults, []);
    await tab.context().close();
}

/** Do something and wait for its answer, which is not the one that the page begins with. */
async function answered(tab, act) {
    await tab.waitForFunction(() => Number(document.body.dataset.answered ?? 0) > 0, null, { timeout: 60000 });
    const before = await tab.evaluate(() => Number(document.body.dataset.answered ?? 0));
    await act();
    await tab.waitForFunction((n) => Number(document.body.dataset.answered ?? 0) > n, before, { timeout: 60000 });
}
const rows = (tab) => tab.$$eval("#plans tr", (all) => all.map((row) => ({ kind: row.dataset.kind,
    numbers: [...row.querySelectorAll("data")].map((one) => Number(one.value)) })));

function drawNeed() {
    const need = { n: Math.round(2 ** between(0, 34)), p: Number((2 ** -between(1, 22)).toPrecision(4)) };
    for (const [name, p] of [["deletes", 0.35], ["grows", 0.15], ["merges", 0.15], ["offline", 0.15]])
        if (chance(p))
            need[name] = 1;
    if (need.deletes && chance(0.4)) need.replacements = Math.round(between(1, 200));
    if (chance(0.15)) need.copies = Math.round(between(2, 30));
    if (chance(0.1)) need.values = Math.round(between(1, 8));
    if (chance(0.15)) need.lines = Number(between(1, 4).toPrecision(2));
    if (chance(0.1)) need.threads = Math.round(between(1, 64));
    if (chance(0.1)) need.overshoot = Number(between(0, 1).toPrecision(2));
    if (chance(0.05)) need.ticks = Math.round(between(1, 100));
    if (chance(0.2)) need.order = chance(0.5) ? "lines" : "weighted";
    const asked = draw();
    if (asked < 0.03) {
        need.ask = "fpr";
        need.bytes = Math.round(need.n * between(0.8, 4)) + 300;
        delete need.p;
    } else if (asked < 0.06) {
        need.ask = "n";
        need.bytes = Math.round(2 ** between(10, 30));
        delete need.n;
    }
    if (need.threads)
        delete need.offline;
    return need;
}

function asOptions(need) {
    const out = ["plan", "--json"];
    const flags = { deletes: "--deletes", grows: "--grow", merges: "--merges", offline: "--offline" };
    const valued = { n: "-n", p: "-p", bytes: "--bytes", replacements: "--replacements", copies: "--copies", values: "--values",
        lines: "--lines", threads: "--threads", overshoot: "--overshoot", ticks: "--ticks", order: "--sort" };
    for (const [name, option] of Object.entries(flags))
        if (need[name]) out.push(option);
    for (const [name, option] of Object.entries(valued))
        if (need[name] !== undefined) out.push(option, String(need[name]));
    return need.threads ? out : [...out, "--all"];
}

const near = (a, b, within) => a === b || Math.abs(a - b) <= within * Math.max(Math.abs(a), Math.abs(b));

/** Every number of the table, beside 'tamis plan --json'. */
async function testNumbersAreThoseOfTheCommandLine() {
    const tab = await open("planner.html");
    const needs = Array.from({ length: process.env.TAMIS_SITE_NEEDS ? Number(process.env.TAMIS_SITE_NEEDS) : 200 }, drawNeed);
    let plans = 0, refused = 0;
    for (const need of needs) {
        const told = run(tool, asOptions(need)).then(({ stdout }) => JSON.parse(stdout), () => null);
        await answered(tab, () => tab.evaluate((hash) => { location.hash = hash; }, new URLSearchParams(need).toString()));
        const shown = await rows(tab);
        const want = await told;
        if (want === null) {
            assert.equal(shown.length, 0, `the command refuses ${JSON.stringify(need)}`);
            refused++;
            continue;
        }
        const list = Array.isArray(want) ? want : [want];
        assert.deepEqual(shown.map((one) => one.kind), list.map((one) => one.kind), JSON.stringify(need));
        list.forEach((plan, i) => {
            const { numbers } = shown[i];
            const expected = [plan.bits_per_key, need.ask === "n" ? plan.n : plan.bytes, plan.fpr, ...(need.threads ? [] : [plan.fpr_half]),
                plan.lines_per_query, plan.lines_per_insert, plan.overflow_probability];
            assert.equal(numbers.length, expected.length);
            numbers.forEach((number, k) => assert.ok(near(number, expected[k], k === expected.length - 1 ? 1e-11 * Math.sqrt(plan.n) : 1e-12),
                `${plan.kind}: number ${k} is ${number}, not ${expected[k]}; ${JSON.stringify(need)}`));
            plans++;
        });
    }
    await close(tab);
    return `${needs.length} needs, ${plans} plans, ${refused} refused, seed ${seed}`;
}

/** Milliseconds for which the pages' own threads have worked, and for which they could have and got no core. */
function threadTimes() {
    const parents = {}, names = {};
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name)))
        try {
            const [, name, rest] = /\((.*)\) (.*)/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8"));
            parents[pid] = rest.split(" ")[1];
            names[pid] = readFileSync(`/proc/${pid}/cmdline`, "utf8") || name;
        } catch { /* it has ended */ }
    const ours = (pid) => pid === String(process.pid) || (parents[pid] !== undefined && ours(parents[pid]));
    let worked = 0, waited = 0;
    for (const pid of Object.keys(parents).filter((one) => names[one].includes("--type=renderer") && ours(one)))
        for (const task of readdirSync(`/proc/${pid}/task`))
            try {
                if (task !== pid && !/^DedicatedWorker/.test(readFileSync(`/proc/${pid}/task/${task}/comm`, "utf8")))
                    continue;
                const [run, wait] = readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ").map(Number);
                worked += run / 1e6;
                waited += wait / 1e6;
            } catch { /* the same */ }
    return { worked, waited };
}

/** Move a slider: milliseconds until the answer is on the screen, by the clock, and without those for which the page waited for a
 * core that others used; what it worked counts in any case. */
async function move(tab, id, at) {
    const before = threadTimes();
    const clock = await tab.evaluate(([id, at]) => new Promise((done) => {
        const slider = document.getElementById(`slide-${id}`), begin = performance.now();
        new MutationObserver((_, observer) => {
            observer.disconnect();
            requestAnimationFrame(() => setTimeout(() => done(performance.now() - begin)));
        }).observe(document.body, { attributeFilter: ["data-answered"] });
        slider.value = at;
        slider.dispatchEvent(new Event("input", { bubbles: true }));
    }), [id, at]);
    const after = threadTimes();
    return { clock, own: Math.min(clock, Math.max(clock - (after.waited - before.waited), after.worked - before.worked)) };
}

/** Every input changes the answer or the address, by slider and by hand; the answer comes quickly. */
async function testEveryInputAnswers() {
    const tab = await open("planner.html", { from: "server" });
    await tab.waitForSelector("#plans tr");
    await tab.waitForFunction(() => document.body.dataset.plotted, null, { timeout: 60000 });
    await tab.click("summary");
    const times = [];
    const fields = await tab.$$eval(".field:not([hidden]) input.typed", (all) => all.map((one) => one.id));
    assert.deepEqual(fields, ["n", "p", "replacements", "copies", "values", "lines", "threads", "ticks", "overshoot"]);
    for (const id of fields) {
        for (const at of ["200", "350", "500", "700", "900"])
            times.push(await move(tab, id, at));
        const value = { n: "3M", p: "1/500" }[id] ?? "0";
        await answered(tab, () => tab.fill(`#${id}`, value));
        assert.equal(new URLSearchParams((await tab.url()).split("#")[1]).get(id), { n: "3000000", p: "0.002" }[id] ?? null);
    }
    for (const id of ["deletes", "grows", "merges", "offline"]) {
        await answered(tab, () => tab.check(`#${id}`));
        assert.match(await tab.url(), new RegExp(`${id}=1`));
        await answered(tab, () => tab.uncheck(`#${id}`));
    }
    await answered(tab, () => tab.selectOption("#order", "lines"));
    assert.match(await tab.textContent("#why"), /fewest cache lines/);
    await answered(tab, () => tab.check("[name=question][value=n]"));
    assert.equal(await tab.isVisible("#n"), false);
    await answered(tab, () => tab.fill("#bytes", "1 MiB"));
    await tab.fill("#p", "two");
    assert.equal(await tab.getAttribute("#p", "aria-invalid"), "true");
    assert.match(await tab.textContent("#note-p"), /^“two” is not understood: .*0\.001, 0\.1%, 1\/1000$/);
    await tab.fill("#p", "3");
    assert.match(await tab.textContent("#note-p"), /^“3” is not from .* to /);
    const sorted = (which) => times.map((time) => Math.round(time[which])).sort((a, b) => a - b);
    const own = sorted("own"), clock = sorted("clock"), middle = times.length >> 1;
    assert.ok(own[middle] <= 100 * slow, `an answer takes ${own[middle]} ms`);
    await close(tab);
    return `${times.length} moves of sliders: ${own[middle]} ms in the middle, ${own.at(-1)} at most; by the clock ${clock[middle]} and ${clock.at(-1)}`;
}

/** An address brings back the same plan, also a kind that was chosen. */
async function testAddressIsThePlan() {
    const first = await open("planner.html#n=250000&p=0.0005&deletes=1&replacements=20");
    await first.waitForSelector("#plans tr");
    await first.click("#plans tr:nth-child(2) button");
    const url = first.url(), kind = await first.textContent("#best"), shown = await rows(first);
    assert.match(await first.textContent("#code"), new RegExp(`tamis plan -n 250000 -p 0.0005 --kind ${kind} --replacements 20`));
    const second = await open("planner.html" + new URL(url).hash);
    await second.waitForSelector("#plans tr");
    assert.equal(await second.textContent("#best"), kind);
    assert.deepEqual(await rows(second), shown);
    await second.reload();
    await second.waitForSelector("#plans tr");
    assert.equal(await second.textContent("#best"), kind);
    const lines = (await second.textContent("#code")).split("\n");
    const told = execFileSync(tool, [...lines[0].split(" ").slice(1), "--json"]).toString();
    assert.equal(JSON.parse(told).bytes, Number(await second.getAttribute("#facts data", "value")));
    await close(first);
    await close(second);
}

/** What each wish costs is told, and what to leave out of a need that nothing can do. */
async function testWishesHaveTheirPrice() {
    const tab = await open("planner.html#n=10000000&p=0.001&copies=3&merges=1");
    await tab.waitForSelector("#without li[data-wish=merges]", { timeout: 60000 });
    assert.match(await tab.textContent("#without li[data-wish=merges]"), /^Without merging: [a-z-]+, 15\.\d\d bits per key \(7\d % less\)$/);
    assert.match(await tab.textContent("#without li[data-wish=copies]"), /^Without copies: line, 13\.\d\d bits per key \(7\d % less\)$/);
    await answered(tab, () => tab.evaluate(() => { location.hash = "n=1000&p=0.001&merges=1&values=4&copies=3"; }));
    assert.equal(await tab.textContent("#best"), "No kind can do all of that");
    assert.equal(await tab.textContent("#why"), "No kind can do merges, copies of 3 and valueBits of 4 together; possible without merges, copies or valueBits.");
    assert.equal(await tab.$("#without li"), null);
    await close(tab);
}

/** The lines to copy, in each language, make the set that the page shows. */
async function testLinesToCopy() {
    const more = ["", "deletes=1", "deletes=1&replacements=20", "copies=5", "values=3", "lines=1.5", "threads=8", "ticks=10", "overshoot=0.5", "merges=1",
        "grows=1", "offline=1", "order=lines", "order=weighted", "deletes=1&kind=rank", "kind=blocked-bloom"];
    const needs = [...more.map((one) => `n=100000&p=0.001&${one}`), "n=100000&ask=fpr&bytes=200000", "p=0.01&ask=n&bytes=100000&deletes=1", "n=777&p=0.03&deletes=1"];
    const tab = await open("planner.html");
    const all = [];
    for (const need of needs) {
        await answered(tab, () => tab.evaluate((hash) => { location.hash = hash; }, need));
        const text = {};
        for (const name of ["Command line", "C", "Python", "JavaScript"]) {
            await tab.click(`#tabs >> text="${name}"`);
            text[name] = await tab.textContent("#code");
        }
        all.push({ need, text, shown: `${await tab.textContent("#best")} ${await tab.getAttribute("#facts data", "value")}` });
    }
    await close(tab);
    const folder = join(work, "lines");
    mkdirSync(folder);
    const at = (name) => join(folder, name);
    const compare = (language, lines) => assert.deepEqual(lines.trim().split("\n"), all.map((one) => one.shown), language);

    for (const name of ["keys.txt", "candidates.txt"])
        writeFileSync(at(name), "apple\npear\n");
    compare("Command line", all.map(({ text, need }) => {
        const [plan, ...others] = text["Command line"].split("\n").map((line) => line.split(" "));
        const told = JSON.parse(execFileSync(tool, [...plan.slice(1), "--json"]));
        for (const line of others)
            assert.equal(execFileSync(tool, line.slice(1), { cwd: folder }).toString(), line[1] === "query" ? "apple\npear\n" : "", `${line.join(" ")}; ${need}`);
        return `${told.kind} ${told.bytes}`;
    }).join("\n"));

    // A function each; what a program would do next follows.
    const functions = all.map(({ text }, i) => {
        const [head, body] = text.C.split("\n\n");
        assert.match(head, /^#include <tamis\/plan.h>(\n#include <tamis\/shared.h>)?$/);
        const type = /tamis_shared \*set/.test(body) ? "shared" : "filter";
        return `static int lines_${i}(void) {\n${body}\n` +
            'printf("%s %llu\\n", tamis_kind_name(plan.params.kind), (unsigned long long)plan.bytes);\n' +
            `const int status = tamis_${type}_insert(set, "apple", 5, NULL) != TAMIS_OK || !tamis_${type}_contains(set, "apple", 5);\n` +
            `tamis_${type}_free(set);\nreturn status;\n}`;
    });
    writeFileSync(at("lines.c"), ["#include <tamis/plan.h>", "#include <tamis/shared.h>", "#include <stdio.h>", ...functions, "int main(void) {",
        `return ${all.map((_, i) => `lines_${i}()`).join(" || ")};`, "}"].join("\n"));
    execFileSync("cc", ["-std=c11", "-Wall", "-Wextra", "-Werror", `-I${root}/include`, at("lines.c"), join(build, "libtamis.a"), "-lm", "-pthread", "-o", at("lines")]);
    compare("C", execFileSync(at("lines")).toString());

    execFileSync("/usr/bin/python3", [join(root, "bindings/python/build_backend/tamis_build.py"), "install", at("python")],
        { env: { ...process.env, TAMIS_LIBRARY: join(build, "libtamis.a") }, stdio: "pipe" });
    writeFileSync(at("lines.py"), all.map(({ text }) => `${text.Python}\nprint(set.params.kind, set.info().bytes)`).join("\n"));
    const python = execFileSync("/usr/bin/python3", [at("lines.py")], { env: { ...process.env, PYTHONPATH: at("python") } }).toString();
    assert.equal(python.match(/^True$/gm)?.length, all.length);
    compare("Python", python.replace(/^True\n/gm, ""));

    mkdirSync(at("node_modules"));
    symlinkSync(join(build, "integrations/web/package"), at("node_modules/tamis"));
    const begin = 'import { load } from "tamis";\n\nconst tamis = await load();\n';
    writeFileSync(at("lines.mjs"), begin + all.map(({ text, shown, need }) => {
        if (/threads/.test(need))
            return `console.log("${shown}");`;
        assert.ok(text.JavaScript.startsWith(begin));
        return `{ ${text.JavaScript.slice(begin.length)}\nconst { kind, bytes } = set.info(); console.log(kind, bytes, set.has("apple") ? "" : "lost"); }`;
    }).join("\n"));
    compare("JavaScript", execFileSync(process.execPath, [at("lines.mjs")], { cwd: folder }).toString().replace(/ +$/gm, ""));
    return `${all.length} needs in four languages`;
}

/** By keys alone: reach the inputs, change them, choose a kind, find a page. */
async function testKeyboard() {
    const tab = await open("planner.html");
    await tab.waitForSelector("#plans tr");
    const focus = () => tab.evaluate(() => document.activeElement.id || document.activeElement.value || document.activeElement.textContent.trim());
    const until = async (what) => {
        for (let i = 0; i < 80; i++) {
            await tab.keyboard.press("Tab");
            if (await focus() === what)
                return;
        }
        assert.fail(`the Tab key does not reach ${what}`);
    };
    await tab.keyboard.press("Tab");
    assert.equal(await focus(), "To the content");
    await until("slide-n");
    await answered(tab, () => tab.keyboard.press("ArrowRight"));
    await until("p");
    await tab.keyboard.press("Control+a");
    await answered(tab, () => tab.keyboard.type("0.02"));
    await until("deletes");
    await answered(tab, () => tab.keyboard.press("Space"));
    assert.match(await tab.url(), /p=0.02&deletes=1/);
    await until("rank");
    await tab.keyboard.press("Enter");
    assert.equal(await tab.textContent("#best"), "rank");
    assert.equal(await focus(), "rank");
    await tab.keyboard.press("Shift+Tab");
    await tab.evaluate(() => document.activeElement.blur());
    await tab.keyboard.press("/");
    assert.equal(await focus(), "search-box");
    await tab.keyboard.type("tamis_filter_remove");
    await tab.waitForFunction(() => /^tamis_filter_remove\b/.test(document.querySelector("#search-results a")?.firstChild.data ?? ""));
    await tab.keyboard.press("ArrowDown");
    await Promise.all([tab.waitForNavigation(), tab.keyboard.press("Enter")]);
    assert.match(tab.url(), /reference-tamis.html#tamis_filter_remove$/);
    await close(tab);
}

/** A set of 100,000 keys: made in the page, equal to that of the command, asked, saved and opened again. */
async function testSetInThePage() {
    const keys = Array.from({ length: 100000 }, (_, i) => `user-${i}@example.org`);
    writeFileSync(join(work, "keys.txt"), keys.join("\n") + "\n");
    execFileSync(tool, ["build", "-p", "0.001", "--seed", "99", "-o", join(work, "theirs.tamis"), join(work, "keys.txt")]);
    const tab = await open("set.html#seed=99");
    const made = (n) => tab.waitForFunction((n) => document.body.dataset.made === String(n), n, { timeout: 60000 });
    await tab.setInputFiles("#file", join(work, "keys.txt"));
    await made(1);
    assert.equal(await tab.textContent("#made-kind"), "line");
    const [download] = await Promise.all([tab.waitForEvent("download"), tab.click("#save")]);
    const saved = readFileSync(await download.path());
    assert.ok(saved.equals(readFileSync(join(work, "theirs.tamis"))), "the file is not that of the command line");
    await tab.fill("#key", "user-777@example.org");
    await tab.keyboard.press("Enter");
    await tab.waitForFunction(() => /Probably in/.test(document.querySelector("#verdict").textContent));
    await tab.fill("#key", "nobody");
    await tab.click("#ask");
    await tab.waitForFunction(() => /Certainly not/.test(document.querySelector("#verdict").textContent));
    await tab.fill("#many", [...keys.slice(0, 50), ...Array.from({ length: 50 }, (_, i) => `absent ${i}`)].join("\n"));
    await tab.click("#ask-many");
    await tab.waitForFunction(() => document.querySelector("#counted").textContent !== "");
    const found = Number((await tab.textContent("#counted")).split(" ")[0]);
    assert.ok(found >= 50 && found <= 53, `${found} of 50 keys and 50 others are found`);
    writeFileSync(join(work, "mine.tamis"), saved);
    await tab.setInputFiles("#file", join(work, "mine.tamis"));
    await made(2);
    assert.match(await tab.textContent("#made"), /opened and verified/);
    saved[300] ^= 1;
    writeFileSync(join(work, "damaged.tamis"), saved);
    await tab.setInputFiles("#file", join(work, "damaged.tamis"));
    await tab.waitForSelector(".trouble");
    await tab.click("#sample");
    await made(3);
    assert.equal(await tab.getAttribute("#made-count", "value").then((n) => n > 99800), true);
    await close(tab);
}

/** No serious fault of accessibility, nothing wider than the page: at both widths, light and dark. */
async function testPagesForEveryone() {
    let n = 0;
    for (const width of [375, 1440])
        for (const theme of ["light", "dark"])
            for (const page of ["index.html", "planner.html#deletes=1&copies=3", "set.html", "guide.html", "reference-plan.html", "man-tamis.1.html"]) {
                const tab = await open(page, { width, theme });
                if (page.startsWith("planner"))
                    await tab.waitForFunction(() => document.body.dataset.plotted, null, { timeout: 60000 });
                assert.equal(await tab.evaluate(() => document.documentElement.dataset.theme), theme);
                const over = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);
                assert.ok(over <= 0, `${page} is ${over} px too wide at ${width}`);
                await tab.evaluate(axe);
                const { violations } = await tab.evaluate(() => window.axe.run(document, { resultTypes: ["violations"], preload: false }));
                const serious = violations.filter((one) => ["serious", "critical"].includes(one.impact));
                assert.deepEqual(serious.map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html).join(" | ")}`), [], `${page}, ${width}, ${theme}`);
                await close(tab);
                n++;
            }
    return `${n} views`;
}

/** All that the planner loads, and that it is not too much. */
async function testSizeOfThePage() {
    const tab = await open("planner.html", { from: "server" });
    await tab.waitForSelector("#plans tr");
    const names = await tab.evaluate(() => performance.getEntriesByType("resource").map((one) => one.name)
        .filter((name) => name.startsWith(location.origin)).map((name) => name.slice(location.origin.length + 1)));
    const size = ["planner.html", ...names].reduce((sum, name) => sum + statSync(join(site, name)).size, 0);
    assert.ok(names.length >= 5 && size <= 300000, `${size} bytes`);
    await close(tab);
    return `${size} bytes in ${names.length + 1} files`;
}

/** Every link and picture of every page leads to a file and an anchor that are there. */
function testNoDeadLink() {
    const pages = readdirSync(site).filter((name) => name.endsWith(".html"));
    const texts = Object.fromEntries(pages.map((name) => [name, readFileSync(join(site, name), "utf8")]));
    const anchors = Object.fromEntries(pages.map((name) => [name, new Set([...texts[name].matchAll(/\sid="([^"]+)"/g)].map((m) => m[1]))]));
    let links = 0;
    const dead = [];
    for (const page of pages)
        for (const [, target] of texts[page].replace(/<(script|style)[^>]*>.*?<\/\1>/gs, "").matchAll(/\s(?:href|src)="([^"]+)"/g)) {
            if (/^(https?|data|mailto):/.test(target))
                continue;
            links++;
            const [path, anchor] = target.replaceAll("&amp;", "&").split("#");
            const name = path === "" ? page : decodeURIComponent(path);
            if (!existsSync(join(site, name)) || (anchor && anchors[name] && !anchors[name].has(decodeURIComponent(anchor))))
                dead.push(`${page}: ${target}`);
        }
    assert.deepEqual(dead, []);
    return `${links} links of ${pages.length} pages`;
}

async function testHtmlIsValid() {
    const { HtmlValidate } = require("html-validate");
    const validator = new HtmlValidate({ extends: ["html-validate:standard"], rules: { "no-inline-style": "off", "no-trailing-whitespace": "off",
        "long-title": "off", "valid-id": "off", "no-redundant-role": "off", "void-style": "off", "prefer-native-element": "off", "no-implicit-button-type": "off",
        "attribute-boolean-style": "off", "wcag/h30": "off", "wcag/h63": "off", "unique-landmark": "off", "no-raw-characters": "off", "tel-non-breaking": "off" } });
    const faults = [];
    for (const name of readdirSync(site).filter((one) => one.endsWith(".html"))) {
        const report = await validator.validateFile(join(site, name));
        for (const result of report.results)
            for (const message of result.messages.filter((one) => one.severity === 2))
                faults.push(`${name}:${message.line}: ${message.ruleId}: ${message.message}`);
    }
    assert.deepEqual(faults.slice(0, 30), [], `${faults.length} faults`);
}

let failed = 0;
const only = process.env.ONLY;
for (const test of [testNoDeadLink, testHtmlIsValid, testSizeOfThePage, testAddressIsThePlan, testWishesHaveTheirPrice, testLinesToCopy, testEveryInputAnswers, testKeyboard, testSetInThePage,
    testPagesForEveryone, testNumbersAreThoseOfTheCommandLine]) {
    if (only && !test.name.includes(only))
        continue;
    const begin = performance.now();
    try {
        const what = await test();
        console.log(`ok: ${test.name}${what ? `: ${what}` : ""} (${((performance.now() - begin) / 1000).toFixed(1)} s)`);
    } catch (error) {
        failed++;
        console.log(`FAIL: ${test.name}: ${error.stack}`);
    }
}
await browser.close();
server.close();
process.exit(failed === 0 ? 0 : 1);
