"""Everything that takes an executor, by workers of Dask: the same bits with any number of them,
also where one dies."""

import os
import signal

import pytest
from helpers.executors import CALLS, result_bits, scan

import fastfair as ff

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
# Warnings are of Dask's own sockets, and of what it calls.
dask_warns = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
pytestmark = [pytest.mark.slow, pytest.mark.jit, dask_warns]


@pytest.fixture(scope="module")
def cluster():
    """Give three workers of one thread, on this machine alone."""
    with distributed.LocalCluster(
        n_workers=3,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        processes=True,
    ) as found:
        yield found


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("n_workers", [3, 2, 1])
def test_any_number_of_workers_gives_the_same_bits(n_workers, name, cluster):
    cluster.scale(n_workers)
    with distributed.Client(cluster) as client:
        client.wait_for_workers(n_workers)
        assert result_bits(CALLS[name](executor=client)) == result_bits(CALLS[name]())


@pytest.mark.parametrize("name", ["evaluate", "evaluate a scan"])
def test_a_worker_that_is_killed_costs_its_task(name, cluster):
    cluster.scale(2)
    wanted = result_bits(CALLS[name]())
    with distributed.Client(cluster) as client:
        client.wait_for_workers(2)
        killed = []

        def progress(done, _):
            if not killed:
                killed.append(next(iter(client.run(os.getpid).values())))
                os.kill(killed[0], signal.SIGKILL)

        assert result_bits(CALLS[name](executor=client, progress=progress)) == wanted
    assert killed


def test_files_that_workers_read_are_the_same_scan(cluster):
    cluster.scale(2)
    with distributed.Client(cluster) as client:
        client.wait_for_workers(2)
        found, wanted = (
            ff.evaluate(scan(executor=who), n_resamples=100, rng=0) for who in (client, None)
        )
    assert result_bits(found) == result_bits(wanted)
