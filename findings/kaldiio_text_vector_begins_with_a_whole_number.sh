#!/bin/sh
# kaldiio 2.18.1: a vector in a text archive is refused if its first number has no point.
#
# Kaldi, and kaldi_native_io as here, write 1 for 1.0 and 1e-05 for 0.00001 in text archives. kaldiio takes the type of a vector
# from its first number, and cannot convert the others; of whole numbers alone it makes int32, where Kaldi knows floats alone.
# Matrices are read as float32.
#
# Seen:
#   a  [ 0.5 1 2 ]: float32 [0.5, 1.0, 2.0]
#   a  [ 1 2 3 ]: int32 [1, 2, 3]
#   a  [ 1 0.5 2 ]: could not convert string '0.5' to int32 at row 0, column 2.
#   a  [ 1e-05 0.5 ]: could not convert string '1e-05' to int32 at row 0, column 1.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check kaldiio==2.18.1 kaldi-native-io==1.23.0 numpy==2.4.6
cat > "$folder/finding.py" <<'PYTHON'
import kaldi_native_io
import kaldiio
import numpy as np

for numbers in ([0.5, 1, 2], [1, 2, 3], [1, 0.5, 2], [1e-05, 0.5]):
    with kaldi_native_io.FloatVectorWriter("ark,t:vectors.ark") as writer:
        writer.write("a", np.array(numbers, np.float32))
    print(open("vectors.ark").read().strip(), end=": ")
    try:
        vector = dict(kaldiio.load_ark("vectors.ark"))["a"]
        print(vector.dtype, vector.tolist())
    except ValueError as error:
        print(error)
PYTHON
cat > "$folder/expected.txt" <<'TEXT'
a  [ 0.5 1 2 ]: float32 [0.5, 1.0, 2.0]
a  [ 1 2 3 ]: int32 [1, 2, 3]
a  [ 1 0.5 2 ]: could not convert string '0.5' to int32 at row 0, column 2.
a  [ 1e-05 0.5 ]: could not convert string '1e-05' to int32 at row 0, column 1.
TEXT
cd "$folder"
"$folder/venv/bin/python" -W ignore "$folder/finding.py" > "$folder/seen.txt"
cat "$folder/seen.txt"
diff "$folder/expected.txt" "$folder/seen.txt"
