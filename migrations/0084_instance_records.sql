-- What admins see of the service's past: its figures of each minute of the last day, and when it ran.
CREATE TABLE instance_figures (
  -- Minutes since 1970.
  minute INTEGER PRIMARY KEY,
  -- JSON: a number by the name of each figure.
  figures TEXT NOT NULL
) STRICT;

CREATE TABLE instance_runs (
  started_at INTEGER PRIMARY KEY,
  -- The last sign of life.
  seen_at INTEGER NOT NULL,
  -- NULL while the service runs, and forever if it ended without warning.
  ended_at INTEGER,
  -- Which file the database was; NULL on a server. A copy of it, such as a restored backup, is another file.
  file TEXT,
  -- Turns that had been interrupted before this run and that it took up.
  resumed_turns INTEGER NOT NULL DEFAULT 0
) STRICT;
