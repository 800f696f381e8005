#!/bin/sh
# test_newcomer.sh SOURCE BUILD CC - what the first pages promise is there
#
# README.md and CONTRIBUTING.md name commands and files: each of them must exist.  The lines of README.md for the command
# line, and the job of 'make run', are run.  setup.sh is tried on a machine where nothing is installed and nothing can be.
. "$1/tests/release.sh"
cd "$source"
status=0
fault() {
    echo "FAIL: $*"
    status=1
}

for page in README.md CONTRIBUTING.md; do
    # "make x" in backquotes, and at the start of a line of a block of code
    awk '/^```/ { inside = !inside } inside || /^    / { sub(/^ *(\$ )?/, "`") } { print }' "$page" |
        grep -oE '`make [a-z0-9-]+' | sed 's/.*make //' | sort -u |
        while read -r target; do
            grep -q "^$target:" Makefile || echo "FAIL: $page: no target 'make $target'"
        done
    # [text](file) that is not a web address or a place in the page itself
    grep -oE '\]\([^)#]+' "$page" | sed 's/^](//' | grep -v '://' | sort -u |
        while read -r file; do
            [ -e "$file" ] || echo "FAIL: $page: no file $file"
        done
done >"$work/pages"
if [ -s "$work/pages" ]; then
    cat "$work/pages"
    status=1
fi
grep -q 'make run' README.md || fault "README.md does not name 'make run'"
grep -q 'make test' README.md || fault "README.md does not name 'make test'"

# Every target of the Makefile is in its help.
make -s help >"$work/help" || fault "make help"
sed -n 's/^\.PHONY: //p' Makefile | tr ' ' '\n' | grep . | while read -r target; do
    grep -q "^$target " "$work/help" || echo "FAIL: make help does not list $target"
done >"$work/targets"
if [ -s "$work/targets" ]; then
    cat "$work/targets"
    status=1
fi

# The lines of README.md for the command line, as printed.
mkdir "$work/lines"
printf '%s\n' apple plum cherry >"$work/lines/words.txt"
printf '%s\n' apple pear >"$work/lines/candidates.txt"
sed -n '/^```sh$/,/^```$/p' README.md | sed '/^```/d' >"$work/lines/script"
[ -s "$work/lines/script" ] || fault "README.md has no lines for the command line"
(cd "$work/lines" && PATH=$release:$PATH sh -eu script) >"$work/lines/out" || fault "the lines of README.md for the command line"
printf '%s\n' apple pear apple apple pear >"$work/lines/wanted"
head -n 5 "$work/lines/out" | cmp - "$work/lines/wanted" || { cat "$work/lines/out"; fault "the answers to the lines of README.md"; }
grep -q 'line' "$work/lines/out" || fault "README.md: tamis plan"

# The main job, with the release tool.
if scripts/demo.sh "$release/tamis" >"$work/demo" 2>&1; then
    tail -n 5 "$work/demo"
else
    cat "$work/demo"
    fault "scripts/demo.sh"
fi

# The site where there is no network: npm's own words are shown.
mkdir "$work/npm"
cat >"$work/npm/npm" <<'END'
#!/bin/sh
case " $* " in *" --silent "*) ;; *) echo "npm ERR! network: no way to get there" >&2 ;; esac
exit 1
END
chmod +x "$work/npm/npm"
mkdir "$work/package"
if PATH=$work/npm:$PATH integrations/web/site/site.sh "$work/package" "$work/site" >"$work/out" 2>&1; then
    fault "site.sh succeeds without npm"
fi
grep -q '^npm ERR! network' "$work/out" || { cat "$work/out"; fault "site.sh hides why npm fails"; }

# setup.sh where there is nothing: it names each package once, and fails.
mkdir "$work/bin"
for tool in sh id cat; do
    ln -s "$(command -v $tool)" "$work/bin/$tool"
done
if PATH=$work/bin CC=cc sh scripts/setup.sh build test >"$work/out" 2>"$work/err"; then
    fault "setup.sh succeeds without a compiler"
fi
[ -s "$work/out" ] && fault "setup.sh prints on stdout"
for package in gcc cmake ninja-build libxxhash-dev libcmocka-dev; do
    [ "$(tr ' :' '\n\n' <"$work/err" | grep -cx "$package")" -eq 1 ] || fault "setup.sh: $package"
done
code=0
sh scripts/setup.sh no-such-group 2>/dev/null || code=$?
[ "$code" -eq 2 ] || fault "setup.sh takes an unknown group"
sh scripts/setup.sh build words test || fault "setup.sh finds something missing after it was installed"

[ "$status" -eq 0 ] && echo "ok"
exit "$status"
