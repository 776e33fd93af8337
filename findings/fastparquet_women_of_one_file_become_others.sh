#!/bin/sh
# fastparquet 2026.9.0: the women of one file become others where the next file has men and others.
#
# Columns that pandas wrote as categories are read as such by default. Each file has codes and labels of its own; fastparquet keeps
# the codes of all files and the labels of the last. Where these are in another order, men and women change places; only codes beyond
# the last labels raise. Its documentation asks for equal labels in all parts where the argument categories is given, for files of
# other tools. The files are right: pyarrow and polars read them. So with one file, to which to_parquet(append=True) added.
#
# Seen:
#   other labels by fastparquet read by fastparquet ['man', 'other', 'man', 'other']
#   other labels by fastparquet read by pyarrow ['man', 'woman', 'man', 'other']
#   other labels by fastparquet read by polars ['man', 'woman', 'man', 'other']
#   other labels by pyarrow read by fastparquet ['man', 'other', 'man', 'other']
#   other labels by pyarrow read by pyarrow ['man', 'woman', 'man', 'other']
#   other labels by pyarrow read by polars ['man', 'woman', 'man', 'other']
#   other order by fastparquet read by fastparquet ['woman', 'man', 'man', 'woman']
#   other order by fastparquet read by pyarrow ['man', 'woman', 'man', 'woman']
#   other order by fastparquet read by polars ['man', 'woman', 'man', 'woman']
#   other order by pyarrow read by fastparquet ['woman', 'man', 'man', 'woman']
#   other order by pyarrow read by pyarrow ['man', 'woman', 'man', 'woman']
#   other order by pyarrow read by polars ['man', 'woman', 'man', 'woman']
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check fastparquet==2026.9.0 pandas==3.1.1 pyarrow==26.0.1 polars==2.1.0 numpy==2.4.6 cramjam==2.14.0
cat > "$folder/finding.py" <<'PYTHON'
import os
import tempfile

import pandas as pd
import polars as pl

os.chdir(tempfile.mkdtemp())
days = {
    "other labels": (pd.Categorical(["man", "woman"]), pd.Categorical(["man", "other"])),
    "other order": (pd.Categorical(["man", "woman"]), pd.Categorical(["man", "woman"], ["woman", "man"])),
}
for name, parts in days.items():
    for writer in ("fastparquet", "pyarrow"):
        folder = f"{name} {writer}"
        os.mkdir(folder)
        for i, groups in enumerate(parts):
            pd.DataFrame({"group": groups}).to_parquet(f"{folder}/{i}.parquet", engine=writer)
        for reader in ("fastparquet", "pyarrow"):
            print(name, "by", writer, "read by", reader, pd.read_parquet(folder, engine=reader)["group"].tolist())
        print(name, "by", writer, "read by polars", pl.read_parquet(f"{folder}/*.parquet")["group"].to_list())
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
other labels by fastparquet read by fastparquet ['man', 'other', 'man', 'other']
other labels by fastparquet read by pyarrow ['man', 'woman', 'man', 'other']
other labels by fastparquet read by polars ['man', 'woman', 'man', 'other']
other labels by pyarrow read by fastparquet ['man', 'other', 'man', 'other']
other labels by pyarrow read by pyarrow ['man', 'woman', 'man', 'other']
other labels by pyarrow read by polars ['man', 'woman', 'man', 'other']
other order by fastparquet read by fastparquet ['woman', 'man', 'man', 'woman']
other order by fastparquet read by pyarrow ['man', 'woman', 'man', 'woman']
other order by fastparquet read by polars ['man', 'woman', 'man', 'woman']
other order by pyarrow read by fastparquet ['woman', 'man', 'man', 'woman']
other order by pyarrow read by pyarrow ['man', 'woman', 'man', 'woman']
other order by pyarrow read by polars ['man', 'woman', 'man', 'woman']
TEXT
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"
