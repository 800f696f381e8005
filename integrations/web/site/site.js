/* site.js - what every page has: the theme, and the search
 *
 * SPDX-License-Identifier: MIT
 */
(() => {
    "use strict";
    const root = document.documentElement;
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const stored = () => { try { return localStorage.getItem("theme"); } catch { return null; } };
    const apply = () => {
        root.dataset.theme = stored() ?? (dark.matches ? "dark" : "light");
        dispatchEvent(new Event("themechange"));
    };
    dark.addEventListener("change", apply);
    apply();

    addEventListener("DOMContentLoaded", () => {
        document.querySelector(".theme")?.addEventListener("click", () => {
            const next = root.dataset.theme === "dark" ? "light" : "dark";
            try { localStorage.setItem("theme", next); } catch { root.dataset.theme = next; }
            apply();
        });
        const box = document.querySelector("#search-box");
        const list = document.querySelector("#search-results");
        if (!box)
            return;
        // The index is a script, so that it loads from file:// as well; not before it is needed.
        let index = null;
        let loading = null;
        const fetchIndex = () => loading ??= new Promise((done) => {
            const script = document.createElement("script");
            script.src = box.dataset.index;
            script.onload = done;
            document.head.append(script);
        });
        // A page counts by where the words are: its title, its words' beginnings, its text.
        const find = (words) => index.map(([url, title, page, text]) => {
            const name = title.toLowerCase();
            let score = 0;
            for (const word of words) {
                if (name === word) score += 30;
                else if (name.startsWith(word)) score += 12;
                else if (name.includes(word)) score += 8;
                else if (text.includes(word)) score += 1;
                else return null;
            }
            return { url, title, page, score: score - name.length / 100 };
        }).filter(Boolean).sort((a, b) => b.score - a.score).slice(0, 12);
        const show = async () => {
            await fetchIndex();
            index = window.TAMIS_SEARCH;
            const words = box.value.toLowerCase().split(/\s+/).filter(Boolean); // as they are by now
            const found = words.length ? find(words) : [];
            list.replaceChildren(...found.map((hit) => {
                const item = document.createElement("li");
                const link = document.createElement("a");
                const page = document.createElement("small");
                link.href = box.dataset.root + hit.url;
                link.textContent = hit.title;
                page.textContent = hit.page;
                link.append(page);
                item.append(link);
                return item;
            }));
            if (words.length && !found.length) {
                const item = document.createElement("li");
                item.textContent = "nothing found";
                list.replaceChildren(item);
            }
        };
        box.addEventListener("input", show);
        box.addEventListener("keydown", (event) => {
            if (event.key === "Escape") { box.value = ""; list.replaceChildren(); }
            if (event.key === "ArrowDown") { event.preventDefault(); list.querySelector("a")?.focus(); }
            if (event.key === "Enter") list.querySelector("a")?.click();
        });
        list.addEventListener("keydown", (event) => {
            const links = [...list.querySelectorAll("a")];
            const at = links.indexOf(document.activeElement);
            if (event.key === "ArrowDown") { event.preventDefault(); links[at + 1]?.focus(); }
            if (event.key === "ArrowUp") { event.preventDefault(); (links[at - 1] ?? box).focus(); }
            if (event.key === "Escape") { list.replaceChildren(); box.focus(); }
        });
        document.addEventListener("click", (event) => {
            if (!event.target.closest(".search"))
                list.replaceChildren();
        });
        document.addEventListener("keydown", (event) => {
            if (event.key === "/" && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) {
                event.preventDefault();
                box.focus();
            }
        });
    });
})();
