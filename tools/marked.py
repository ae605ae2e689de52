"""Tables in the documents that a tool writes: between a line `<!-- NAME: written by tools/TOOL --docs -->` and `<!-- NAME: end -->`."""


def put(page, tool, parts):
    """Replaces the marked parts of a document by lists of lines; one that has no marker, or two, is an error."""
    text = page.read_text()
    for name, lines in parts.items():
        begin, end = f"<!-- {name}: written by tools/{tool} --docs -->\n", f"<!-- {name}: end -->"
        if text.count(begin) != 1 or text.count(end) != 1:
            raise SystemExit(f"tools/{tool}: {page} does not mark where '{name}' begins and ends, or does so twice")
        before, rest = text.split(begin)
        text = before + begin + "\n".join(lines) + "\n" + end + rest.split(end)[1]
    page.write_text(text)
