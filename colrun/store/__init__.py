"""The store: results as files that never lie. No database, no lock: a shared filesystem is enough.

    results/<sweep>/
      rows -> _generations/<n>        what readers see: Parquet parts, each with an index of the jobs it holds
      _generations/<n>/<unit>.parquet
      _runs/<run>.json                provenance, once per run
      _failed/<job>.json              traceback of a job that raised
      _broken/                        parts that could not be read, set aside
      _stale/                         rows of an older numerics version, set aside on request
      _tmp/                           files being written

A part is written under a unique temporary name, flushed to disk and renamed, so it is there whole or not at all. Its
name is a hash of what it holds: two processes that do the same work write the same name, and no row appears twice.
Compaction builds the next generation beside the current one and switches by renaming one symbolic link.
"""
