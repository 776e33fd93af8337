"""Files of vectors as other tools write them, in the folder that is the argument."""

import json
import sys
from pathlib import Path

import duckdb
import h5py
import kaldi_native_io
import kaldiio
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from safetensors.numpy import save_file

folder = Path(sys.argv[1])
vectors = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
names = ["ann/1", "ann/2", "bob/1", "bob/2"]
by_name = dict(zip(names, vectors, strict=True))
np.save(folder / "expected.npy", vectors)


def at(name: str) -> str:
    return str(folder / name)


kaldiio.save_ark(at("kaldiio.ark"), by_name, scp=at("kaldiio.scp"))
kaldiio.save_ark(at("kaldiio_text.ark"), by_name, text=True)
kaldiio.save_ark(at("kaldiio_double.ark"), {k: v.astype(float) for k, v in by_name.items()})
kaldiio.save_ark(at("kaldiio_matrices.ark"), {name: v[None] for name, v in by_name.items()})
kaldiio.save_ark(at("all.ark"), {"all": vectors}, scp=at("all.scp"))
place = (folder / "all.scp").read_text().split()[1]
lines = [f"{name} {place}[{k}:{k}]\n" for k, name in enumerate(names)]
(folder / "ranges.scp").write_text("".join(lines))
for kind in ("ark", "ark,t"):
    file = at(f"native{'_text' * (kind == 'ark,t')}.ark")
    with kaldi_native_io.FloatVectorWriter(f"{kind}:{file}") as writer:
        for name, vector in by_name.items():
            writer.write(name, vector)
save_file(by_name, at("each.safetensors"))
save_file({"vectors": vectors}, at("one.safetensors"))
np.savez(folder / "each.npz", **by_name)
with h5py.File(folder / "each.h5", "w") as made:
    for name, vector in by_name.items():
        made[name] = vector
(folder / "lists.json").write_text(json.dumps({k: v.tolist() for k, v in by_name.items()}))
pl.DataFrame({"name": names, "vectors": vectors}).write_parquet(folder / "polars.parquet")
pl.DataFrame({"name": names, "vectors": vectors}).write_ndjson(folder / "polars.jsonl")
frame = pd.DataFrame({"name": names, "vectors": list(vectors)})
frame.to_parquet(folder / "pandas.parquet")
frame.to_json(folder / "pandas.jsonl", orient="records", lines=True)
wide = pd.DataFrame(vectors).assign(name=names)
wide.to_csv(folder / "pandas_wide.csv", index=False)
wide.rename(columns=str).to_parquet(folder / "pandas_wide.parquet")
numbered = {f"v{k}": column for k, column in enumerate(vectors.T)}
pl.DataFrame({"name": names, **numbered}).write_csv(folder / "polars_wide.csv")
pl.DataFrame({"name": names, **numbered}).write_parquet(folder / "polars_wide.parquet")
scores = pd.DataFrame([[0.75, 0.25], [0.5, 1]], index=["ann", "bob"], columns=["ann", "bob"])
scores.to_csv(folder / "matrix.csv")
scores.stack().rename_axis(["reference", "probe"]).rename("score").reset_index().to_json(
    folder / "scores.jsonl", orient="records", lines=True
)
tensors = pa.FixedShapeTensorArray.from_numpy_ndarray(vectors)
pq.write_table(pa.table({"name": names, "vectors": tensors}), folder / "tensors.parquet")
views = pa.array(vectors.tolist(), pa.list_view(pa.float32()))
pq.write_table(pa.table({"name": names, "vectors": views}), folder / "views.parquet")
for kind in ("FLOAT[]", "FLOAT[3]"):
    file = f"duckdb{'_array' * (kind == 'FLOAT[3]')}.parquet"
    duckdb.sql(
        f"COPY (SELECT name, vectors::{kind} vectors FROM frame UNION ALL SELECT 'none', NULL)"
        f" TO '{folder / file}'"
    )
