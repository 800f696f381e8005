/* pictures.mjs SITE MODULES OUTPUT - the pictures of the planner in the documentation
 *
 * On a wide screen, light, and on a phone, dark; with pngquant they have 48 colours, which nobody sees, and a third of the bytes.
 *
 * SPDX-License-Identifier: MIT
 */
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [, , site, modules, output] = process.argv.map((word) => resolve(word));
const { chromium } = createRequire(join(modules, "x.js"))("playwright-core");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const views = [["planner-desktop", 1440, 1160, "light", "n=10000000&p=0.001&deletes=1"], ["planner-phone", 375, 780, "dark", "n=10000000&p=0.001"]];
for (const [name, width, height, colorScheme, need] of views) {
    const tab = await browser.newPage({ viewport: { width, height }, colorScheme });
    await tab.goto(`${pathToFileURL(site).href}/planner.html#${need}`);
    await tab.waitForFunction(() => document.body.dataset.plotted, null, { timeout: 120000 });
    if (width < 900) // a phone: what stands below the inputs
        await tab.evaluate(() => document.querySelector("#answer").scrollIntoView());
    const path = join(output, `${name}.png`);
    await tab.screenshot({ path });
    execFileSync("pngquant", ["--force", "--skip-if-larger", "--speed", "1", "--output", path, "48", path]);
    await tab.close();
}
await browser.close();
