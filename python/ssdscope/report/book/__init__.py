"""The book: all the papers on one page, figure by figure, ours beside theirs.

`plan`
    Which papers, in which order; what is cut, and what a figure costs.
`parts`
    Figures that are complete, kept beside the page, so that an interrupted book goes on.
`making`
    The studies run one after the other; what fails is told, and the next is made.
`single`
    One study on a page of its own.
`page`
    What is kept put into one self-contained HTML file (`templates/book.html.j2`).
"""

from ssdscope.report.book.making import Book, make
from ssdscope.report.book.parts import begun, folder_of

__all__ = ["Book", "begun", "folder_of", "make"]
