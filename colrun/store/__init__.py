"""The store: results as files that never lie. No database, no lock: a shared filesystem with links is enough.

    results/<sweep>/
      rows -> _generations/<n>        what readers see: Parquet parts, each with an index of the jobs it holds
      _generations/<n>/<n>-<k>.parquet
      _runs/<run>.json                provenance, once per run
      _failed/<job>.json              traceback of a job that raised
      _broken/                        parts that could not be read, set aside
      _stale/                         rows of an older numerics version, set aside on request
      _tmp/                           files being written

A part is written under a unique temporary name, flushed to disk and linked to its own, so it is there whole or not at
all. Its name is the next number, which only one process can take; one that comes second reads what was published and
leaves it out of its own part, so no row appears twice (see `generations`). Compaction builds the next generation aside,
ends the current one and switches by renaming one symbolic link.
"""
