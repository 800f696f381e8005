#!/bin/sh
# reference.sh OUTPUT - the reference of the public headers, OUTPUT/html/index.html, by Doxygen
#
# A warning is a failure, and so is an exported function without a description.
set -eu
mkdir -p "$1"
output=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
version=$(sed -n 's/^#define TAMIS_VERSION_[A-Z]* \([0-9]*\)/\1/p' include/tamis/tamis.h | paste -sd .)
rm -rf "$output/html" "$output/xml"
sed -e "s|@VERSION@|$version|; s|@OUTPUT@|$output|" docs/Doxyfile.in >"$output/Doxyfile"
doxygen "$output/Doxyfile" >"$output/log" 2>&1 || { cat "$output/log"; exit 1; }
if [ -s "$output/log" ]; then
    cat "$output/log"
    echo "reference.sh: Doxygen warns" >&2
    exit 1
fi
python3 - "$output/xml" tests/abi/symbols.txt <<'END'
import pathlib, sys
import xml.etree.ElementTree as tree
described = set()
for page in pathlib.Path(sys.argv[1]).glob("*_8h.xml"):
    for member in tree.parse(page).iter("memberdef"):
        if "".join(member.find("detaileddescription").itertext()).strip() or \
                "".join(member.find("briefdescription").itertext()).strip():
            described.add(member.find("name").text)
missing = sorted(set(pathlib.Path(sys.argv[2]).read_text().split()) - described)
if missing:
    sys.exit("reference.sh: without a description: " + ", ".join(missing))
END
echo "$output/html/index.html"
