"""The report: one self-contained HTML page with claims, figures, provenance and an explorer of every curve.

gather.py      what the page shows, from stored rows
curves.py      rows → means, errors and quartiles per curve, for the explorer
page.py        the page: page.html (jinja2), style.css and explorer.js in one file
"""
