"""Pages: reports of campaigns and replays of recordings, as files, and inside notebooks."""
from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterable, List, Optional, Sequence, Union

from . import _program
from ._library import PathLike
from .dataset import BpmdFile
from .frame import Frame
from .recorder import Recorder

if TYPE_CHECKING:
    from .campaign import Campaign

# What a notebook stores: the page, deflated, in one static frame of its own. It needs nothing from the notebook, and
# stays when the notebook becomes HTML. A replay shows its picture until someone clicks: browsers allow few 3-D views at once.
_LOADER = """<!doctype html><meta charset="utf-8"><title>{title}</title>
<style>html,body{{margin:0;height:100%;font:14px system-ui,sans-serif;background:#f4f6f8}}
#start{{display:block;width:100%;height:100%;border:0;padding:0;cursor:pointer;position:relative;background:#f4f6f8}}
#start img{{width:100%;height:100%;object-fit:contain}}
#start span{{position:absolute;left:50%;bottom:1.5em;transform:translateX(-50%);background:#1a2733e6;color:#fff;
padding:.55em 1.1em;border-radius:.5em;font:14px system-ui,sans-serif}}</style>
{start}
<script id="page" type="text/plain">{data}</script>
<script>
async function openPage() {{
  const packed = Uint8Array.from(atob(document.getElementById("page").textContent), c => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const text = await new Response(stream).text();
  document.open();  // the base: links to a section of the page must not lead to the notebook
  document.write(text.replace(/<head>/i, '$&<base href="about:srcdoc">'));
  document.close();
}}
{action}
</script>"""


class Page:
    """A self-contained HTML page: `save(path)`, `open()` in the browser, or the last line of a notebook's cell."""

    def __init__(self, text: str, title: str, picture: Optional[bytes] = None, max_size: float = 5.0, height: int = 640):
        self.html, self.title, self.picture, self.max_size, self.height = text, title, picture, max_size, height

    @property
    def size(self) -> float:
        """MB, of the page as a file."""
        return len(self.html.encode()) / 1e6

    def save(self, path: PathLike) -> Path:
        """Writes the page."""
        path = Path(path)
        path.write_text(self.html, encoding="utf-8")
        return path

    def open(self) -> Path:
        """Writes the page to a temporary file and opens it in the browser."""
        import tempfile
        import webbrowser
        with tempfile.NamedTemporaryFile("w", suffix=".html", prefix="stickslip-", delete=False, encoding="utf-8") as file:
            file.write(self.html)
        webbrowser.open(Path(file.name).as_uri())
        return Path(file.name)

    def inner(self) -> str:
        """What a notebook shows inside its frame."""
        import base64
        import gzip
        import html
        data = base64.b64encode(gzip.compress(self.html.encode(), mtime=0)).decode()
        start, action = "", "openPage();"
        if self.picture is not None:
            image = base64.b64encode(self.picture).decode()
            start = (f'<button id="start"><img alt="{html.escape(self.title)}" src="data:image/png;base64,{image}">'
                     "<span>Show in 3-D</span></button>")
            action = 'document.getElementById("start").onclick = openPage;'
        return _LOADER.format(title=html.escape(self.title), start=start, data=data, action=action)

    def _repr_html_(self) -> str:
        import html
        inner = html.escape(self.inner(), quote=True)
        if len(inner) > 1e6 * self.max_size:
            return (f"<p>{html.escape(self.title)}: {len(inner) / 1e6:.1f} MB are too much for a notebook "
                    f"(max_size={self.max_size:g}); use <code>save(\"page.html\")</code>, or show fewer frames.</p>")
        return (f'<iframe srcdoc="{inner}" sandbox="allow-scripts allow-downloads allow-popups" '
                f'style="width:100%;height:{self.height}px;border:1px solid #d5dbe1;border-radius:6px" '
                f'title="{html.escape(self.title, quote=True)}"></iframe>')

    def _repr_png_(self) -> Optional[bytes]:
        return self.picture

    def __repr__(self) -> str:
        return f"<Page {self.title}: {self.size:.2f} MB; save(path), open()>"


def write_frames(path: PathLike, frames: Iterable[Frame], title: Optional[str] = None) -> None:
    """Frames of memory into a file."""
    texts: Any = {"title": title} if title else {}
    with Recorder(path, **texts) as recorder:
        for frame in frames:
            recorder.write(frame)


def view(what: Union[PathLike, BpmdFile, Frame, Sequence[Frame]], output: Optional[PathLike] = None, *,
         frame: Union[int, str, None] = None, every: Optional[int] = None, results: Optional[Sequence[str]] = None,
         simulation: Optional[int] = None, contacts: bool = True, title: Optional[str] = None,
         max_size: Optional[float] = None, height: int = 640) -> Page:
    """A replay in 3-D: of a file, of a frame, or of a list of frames. `output` writes it, too.

    In a notebook it shows a picture first and 3-D on click. `max_size` (MB; default 5, with `output` 25) thins out long
    recordings; `results` chooses the solvers whose answers are shown; `contacts=False` shows bodies only."""
    import tempfile
    with tempfile.TemporaryDirectory(prefix="stickslip-") as folder:
        if isinstance(what, BpmdFile):
            path: Any = what.path
        elif isinstance(what, (str, os.PathLike)):
            path = os.fspath(what)
        else:
            frames: List[Frame] = [what] if isinstance(what, Frame) else list(what)
            path = os.path.join(folder, "frames.h5")
            write_frames(path, frames, title)
        page, picture = os.path.join(folder, "replay.html"), os.path.join(folder, "replay.png")
        limit = max_size if max_size is not None else 25.0 if output is not None else 5.0
        flags = {"output": page, "picture": picture, "frame": frame, "every": every, "simulation": simulation, "title": title,
                 "results": ",".join(results) if results else None, "no_contacts": not contacts, "max_size": limit}
        _program.call("view", path, *_program.words_of(flags)).raise_for()
        text, image = Path(page).read_text(encoding="utf-8"), Path(picture).read_bytes()
    shown = Page(text, title or os.path.basename(path), image, max_size if max_size is not None else 5.0, height)
    if output is not None:
        shown.save(output)
    return shown


def report(ledger: Union[PathLike, "Campaign"], output: Optional[PathLike] = None, *, title: Optional[str] = None,
           tolerance: Sequence[float] = (), main: Optional[float] = None, measure: Optional[str] = None,
           max_size: float = 5.0, height: int = 800) -> Page:
    """The report of a campaign: success rates, costs, profiles, convergence. `output` writes it, too.

    Options are those of `stickslip report`: a problem counts as solved if `measure` is at most `tolerance`."""
    path = os.fspath(ledger) if isinstance(ledger, (str, os.PathLike)) else ledger.path
    import tempfile
    with tempfile.TemporaryDirectory(prefix="stickslip-") as folder:
        page = os.path.join(folder, "report.html")
        flags = {"output": page, "title": title, "tolerance": list(tolerance), "main": main, "measure": measure}
        _program.call("report", path, *_program.words_of(flags)).raise_for()
        text = Path(page).read_text(encoding="utf-8")
    shown = Page(text, title or f"report of {os.path.basename(path)}", None, max_size, height)
    if output is not None:
        shown.save(output)
    return shown
