#!/usr/bin/env python3
"""plot.py - pictures in one style, as SVG: lines with their names at the end, bars that are sorted

Used by scripts/figures*.py and others there.  At most six series; those that matter are thick.  Colours are Okabe and
Ito's, which everybody can tell apart, and the same kind has the same colour in every picture, those of the site included.

SPDX-License-Identifier: MIT
"""
import html
import math

COLOURS = {
    "line": "#0072b2", "steady": "#d55e00", "rank": "#009e73", "blocked-bloom": "#56b4e9",
    "bloom": "#000000", "balanced-bloom": "#cc79a7", "cuckoo": "#cc79a7", "bound": "#6b7280",
}
GREY = "#8a919b"
TEXT, SOFT, GRID = "#1b2027", "#57606c", "#e3e6ea"
FONT = "font-family=\"system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif\""


def text(x, y, words, size=14, colour=TEXT, anchor="start", weight="normal", turn=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" text-anchor="{anchor}" font-weight="{weight}"'
            f'{turn}>{html.escape(words)}</text>')


def power(value):
    """A power of ten, as people write it."""
    if value >= 0.001:
        return f"{value:g}"
    return "10" + "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(c)] if c != "-" else "⁻" for c in str(round(math.log10(value))))


class Lines:
    """A chart of lines.  The scale of y, or of x, may be that of powers of ten."""

    def __init__(self, title, note, x, y, *, log_y=True, log_x=False, width=900, height=520):
        self.title, self.note, self.log_y, self.log_x = title, note, log_y, log_x
        (self.x_name, self.x0, self.x1, self.x_step), (self.y_name, self.y0, self.y1, self.y_step) = x, y
        self.width, self.height = width, height
        self.left, self.right, self.top, self.bottom = 76, width - 178, 78, height - 62
        self.series, self.marks = [], []

    def px(self, x):
        x, low, high = (math.log10(v) for v in (x, self.x0, self.x1)) if self.log_x else (x, self.x0, self.x1)
        return self.left + (self.right - self.left) * (x - low) / (high - low)

    def py(self, y):
        y, low, high = (math.log10(v) for v in (y, self.y0, self.y1)) if self.log_y else (y, self.y0, self.y1)
        return self.bottom - (self.bottom - self.top) * (y - low) / (high - low)

    def add(self, name, points, *, colour=None, thick=False, dash="", dots=()):
        """A line through points, and dots where something was measured."""
        self.series.append((name, sorted(points), colour or COLOURS.get(name, GREY), thick, dash, list(dots)))
        assert len(self.series) <= 6, "too many series to tell apart"

    def mark(self, x, y, words, anchor="start"):
        self.marks.append((x, y, words, anchor))

    def ticks(self):
        out = []
        y = self.y0
        while y <= self.y1 * (1.0000001 if self.y1 > 0 else 1):
            at = self.py(y)
            out.append(f'<path d="M{self.left} {at:.1f}H{self.right}" stroke="{GRID}"/>')
            out.append(text(self.left - 10, at + 5, power(y) if self.log_y else f"{y:g}", 13, SOFT, "end"))
            y = y * self.y_step if self.log_y else y + self.y_step
        x = self.x0
        sign = 1 if self.x1 > self.x0 else -1
        while sign * x <= sign * self.x1 * (1 + sign * 1e-7):
            at = self.px(x)
            out.append(f'<path d="M{at:.1f} {self.top}V{self.bottom}" stroke="{GRID}"/>')
            out.append(text(at, self.bottom + 22, power(x) if self.log_x else f"{x:g}", 13, SOFT, "middle"))
            x = x * self.x_step if self.log_x else x + self.x_step
        return out

    def inside(self, points):
        x_low, x_high = min(self.x0, self.x1), max(self.x0, self.x1)
        return [(x, y) for x, y in points if x_low - 1e-9 <= x <= x_high + 1e-9 and self.y0 * 0.999 <= y <= self.y1 * 1.001]

    def save(self, path):
        out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" {FONT} role="img" '
               f'aria-label="{html.escape(self.title)}"><rect width="100%" height="100%" fill="#ffffff"/>',
               text(24, 34, self.title, 19, TEXT, weight="600"), text(24, 57, self.note, 14, SOFT)]
        out += self.ticks()
        out.append(text((self.left + self.right) / 2, self.height - 16, self.x_name, 14, SOFT, "middle"))
        middle = (self.top + self.bottom) / 2
        out.append(text(22, middle, self.y_name, 14, SOFT, "middle", turn=f' transform="rotate(-90 22 {middle:.1f})"'))
        labels = []
        for name, points, colour, thick, dash, dots in sorted(self.series, key=lambda s: s[3]):
            seen = self.inside(points)
            if not seen:
                continue
            way = "L".join(f"{self.px(x):.1f} {self.py(y):.1f}" for x, y in seen)
            out.append(f'<path d="M{way}" fill="none" stroke="{colour}" stroke-width="{4 if thick else 2}" stroke-linejoin="round"'
                       f'{f" stroke-dasharray={chr(34)}{dash}{chr(34)}" if dash else ""}/>')
            for x, y in self.inside(dots):
                out.append(f'<circle cx="{self.px(x):.1f}" cy="{self.py(y):.1f}" r="{5 if thick else 4}" fill="{colour}" stroke="#ffffff" stroke-width="1.5"/>')
            end = max(seen, key=lambda p: self.px(p[0]))
            labels.append([self.py(end[1]), self.px(end[0]), name, colour, thick])
        labels.sort()
        for i in range(1, len(labels)):
            labels[i].append(0)
        at = -1e9
        places = []
        for y, x, name, colour, thick, *_ in labels:
            at = max(y, at + 20)
            places.append(at)
        limit = self.bottom + 6
        for i in range(len(places) - 1, -1, -1):
            places[i] = min(places[i], limit)
            limit = places[i] - 20
        for (y, x, name, colour, thick, *_), place in zip(labels, places):
            if abs(place - y) > 6:
                out.append(f'<path d="M{x + 3:.1f} {y:.1f}L{x + 14:.1f} {place:.1f}" stroke="{colour}" fill="none"/>')
            out.append(f'<circle cx="{x + 18:.1f}" cy="{place:.1f}" r="5" fill="{colour}"/>')
            out.append(text(x + 28, place + 5, name, 15, TEXT, weight="600" if thick else "normal"))
        for x, y, words, anchor in self.marks:
            out.append(text(self.px(x), self.py(y), words, 13, SOFT, anchor))
        path.write_text("\n".join(out) + "\n</svg>\n", encoding="utf-8")


def bars(path, title, note, rows, unit, columns):
    """Sorted horizontal bars.  'rows' are (name, numbers), 'columns' the names of the numbers; the first one sorts."""
    rows = sorted(rows, key=lambda row: row[1][0])
    shades = ["#0072b2", "#56b4e9", "#8a919b", "#c9ced6"][:len(columns)]
    thick, gap = 11, 12
    step = thick * len(columns) + gap
    width, left, top = 900, 170, 104
    height = top + step * len(rows) + 44
    most = max(value for _, numbers in rows for value in numbers if value is not None)
    scale = (width - left - 90) / most
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" {FONT} role="img" aria-label="{html.escape(title)}">'
           '<rect width="100%" height="100%" fill="#ffffff"/>', text(24, 34, title, 19, TEXT, weight="600"), text(24, 57, note, 14, SOFT)]
    x = left
    for name, shade in zip(columns, shades):
        out += [f'<rect x="{x}" y="76" width="12" height="12" fill="{shade}"/>', text(x + 18, 87, name, 14, TEXT)]
        x += 40 + 8 * len(name)
    for i, (name, numbers) in enumerate(rows):
        y = top + i * step
        out.append(text(left - 12, y + thick * len(columns) / 2 + 5, name, 14, TEXT, "end"))
        for k, value in enumerate(numbers):
            if value is None:
                continue
            long = max(value * scale, 1)
            out += [f'<rect x="{left}" y="{y + k * thick}" width="{long:.1f}" height="{thick - 2}" fill="{shades[k]}"/>',
                    text(left + long + 6, y + k * thick + thick - 2, f"{value:.2f}" if value < 10 else f"{value:.1f}", 11, SOFT)]
    out.append(text(left, height - 16, unit, 13, SOFT))
    path.write_text("\n".join(out) + "\n</svg>\n", encoding="utf-8")


def blocks(path):
    """The blocks of a file of 'tamis reproduce --plot-data': name -> points."""
    out, now = {}, None
    for line in path.read_text().splitlines():
        if line.startswith("# "):
            now = out.setdefault(line[2:], [])
        elif line.strip():
            now.append(tuple(float(word) for word in line.split()[:2]))
    return out
