# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Sphinx makes HTML of these pages by this (make docs)."""
import pathlib
import re
import subprocess

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent

project = "softrdma"
author = "softrdma"
copyright = "softrdma contributors"
release = version = subprocess.run(
    [str(TOP / "scripts" / "version")], stdout=subprocess.PIPE, text=True,
    check=True).stdout.strip()
extensions = ["sphinx.ext.graphviz"]
graphviz_output_format = "svg"
html_theme = "alabaster"
html_theme_options = {
    "description": "an RDMA device in software",
    "fixed_sidebar": True,
    "page_width": "1100px",
    "sidebar_width": "240px",
}
html_sidebars = {"**": ["about.html", "navigation.html", "searchbox.html"]}
highlight_language = "none"

PAGES = {path.stem: str(path.relative_to(HERE).with_suffix(""))
         for path in HERE.glob("*/*.rst")}
MENTION = re.compile(r"(?<![\w/])([a-z-]+)\.rst\b")


def link_pages(app, doctree, docname):
    """ "memory.rst" in running text is a link to that page."""
    for text in list(doctree.findall(nodes.Text)):
        if isinstance(text.parent, (nodes.literal, nodes.literal_block,
                                    nodes.reference)):
            continue
        parts, at = [], 0
        for m in MENTION.finditer(text):
            if m[1] not in PAGES:
                continue
            parts.append(nodes.Text(text[at:m.start()]))
            uri = app.builder.get_relative_uri(docname, PAGES[m[1]])
            parts.append(nodes.reference("", m[1], refuri=uri, internal=True))
            at = m.end()
        if parts:
            parts.append(nodes.Text(text[at:]))
            text.parent.replace(text, parts)


class KernelDoc(Directive):
    """What the comments of a file of the module say, by the kernel's script."""

    required_arguments = 1

    def run(self):
        linux = subprocess.run([str(TOP / "scripts" / "linux-files")],
                               stdout=subprocess.PIPE, text=True,
                               check=True).stdout.strip()
        file = TOP / self.arguments[0]
        text = subprocess.run(
            ["perl", f"{linux}/scripts/kernel-doc", "-rst", str(file)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            check=True).stdout
        text = re.sub(r"^\.\. LINENO .*\n", "", text, flags=re.M)
        if ".. c:" not in text:
            raise self.error(f"nothing documented in {file}")
        node = nodes.container()
        self.state.nested_parse(StringList(text.splitlines(), str(file)), 0,
                                node, match_titles=False)
        return node.children


def setup(app):
    app.connect("doctree-resolved", link_pages)
    app.add_directive("kernel-doc", KernelDoc)
