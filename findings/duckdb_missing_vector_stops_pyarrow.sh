#!/bin/sh
# DuckDB 2.0.1 and pyarrow 26.0.1: a Parquet file with a missing vector is read by DuckDB and polars, not by pyarrow.
#
# DuckDB writes arrays of a fixed size (FLOAT[2]), one of them NULL, as for a sample of which no features could be had. pyarrow, and
# so pandas, finds lists that are longer than their values. With lists (FLOAT[]), or written by polars 2.1.0, it reads them.
#
# Seen:
#   FLOAT[2] DuckDB [[1.0, 2.0], None, [5.0, 6.0]]
#   FLOAT[2] polars [[1.0, 2.0], None, [5.0, 6.0]]
#   FLOAT[2] pyarrow ArrowInvalid Length spanned by list offsets (5) larger than values array (length 4)
#   FLOAT[] DuckDB [[1.0, 2.0], None, [5.0, 6.0]]
#   FLOAT[] polars [[1.0, 2.0], None, [5.0, 6.0]]
#   FLOAT[] pyarrow [[1.0, 2.0], None, [5.0, 6.0]]
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check duckdb==2.0.1 pyarrow==26.0.1 polars==2.1.0 numpy==2.4.6
cat > "$folder/finding.py" <<'PYTHON'
import duckdb
import polars as pl
import pyarrow.parquet as pq

for kind in ("FLOAT[2]", "FLOAT[]"):
    duckdb.sql(f"COPY (SELECT [1, 2]::{kind} v UNION ALL SELECT NULL UNION ALL SELECT [5, 6]::{kind}) TO 'v.parquet'")
    print(kind, "DuckDB", [row[0] and [*row[0]] for row in duckdb.sql("FROM 'v.parquet'").fetchall()])
    print(kind, "polars", [*map(lambda v: v if v is None else [*v], pl.read_parquet("v.parquet")["v"].to_list())])
    try:
        print(kind, "pyarrow", pq.read_table("v.parquet")["v"].to_pylist())
    except Exception as error:
        print(kind, "pyarrow", type(error).__name__, error)
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
FLOAT[2] DuckDB [[1.0, 2.0], None, [5.0, 6.0]]
FLOAT[2] polars [[1.0, 2.0], None, [5.0, 6.0]]
FLOAT[2] pyarrow ArrowInvalid Length spanned by list offsets (5) larger than values array (length 4)
FLOAT[] DuckDB [[1.0, 2.0], None, [5.0, 6.0]]
FLOAT[] polars [[1.0, 2.0], None, [5.0, 6.0]]
FLOAT[] pyarrow [[1.0, 2.0], None, [5.0, 6.0]]
TEXT
cd "$folder"
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"
