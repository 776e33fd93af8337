"""Run a command, its output thrown away, and print its wall time, processor time and peak memory as
JSON."""

import json
import os
import sys
import time

command = sys.argv[1:]
silence = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
start = time.perf_counter()
child = os.posix_spawn(command[0], command, os.environ, file_actions=silence)
_, status, usage = os.wait4(child, 0)
seconds = time.perf_counter() - start
unit = 1 if sys.platform == "darwin" else 1024
processor = usage.ru_utime + usage.ru_stime  # of its own processes as well
print(
    json.dumps(
        {"seconds": seconds, "processor_seconds": processor, "peak_bytes": usage.ru_maxrss * unit}
    )
)
sys.exit(os.waitstatus_to_exitcode(status) != 0)
