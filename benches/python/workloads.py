"""The workloads on CPython's asyncio, or on uvloop if that is the first argument.

Reads lines `NAME ROUNDS` and answers each with nanoseconds per operation, so that a process is started once and measured
often. The numbers of operations are smaller than in Rust, where the workloads tell what they mean.
"""

import asyncio
import sys
import time

SPAWNED = 20_000
ONE_BY_ONE = 10_000
YIELDING, YIELDS = 200, 100
LEAVES = 10_000
BRANCHES = 10_000


async def value(index):
    return index


async def spawn_join():
    tasks = [asyncio.create_task(value(index)) for index in range(SPAWNED)]
    total = 0
    for task in tasks:
        total += await task
    assert total == sum(range(SPAWNED))
    return SPAWNED


async def spawn_one():
    total = 0
    for index in range(ONE_BY_ONE):
        total += await asyncio.create_task(value(index))
    assert total == sum(range(ONE_BY_ONE))
    return ONE_BY_ONE


async def spawn_detached():
    done, left, kept = asyncio.Event(), SPAWNED, set()

    async def arrive():
        nonlocal left
        left -= 1
        if left == 0:
            done.set()

    for _ in range(SPAWNED):
        # The loop keeps weak references only, so the documentation asks for this set.
        task = asyncio.create_task(arrive())
        kept.add(task)
        task.add_done_callback(kept.discard)
    await done.wait()
    return SPAWNED


async def yield_many():
    async def body():
        for _ in range(YIELDS):
            await asyncio.sleep(0)

    tasks = [asyncio.create_task(body()) for _ in range(YIELDING)]
    for task in tasks:
        await task
    return YIELDING * YIELDS


async def skynet():
    async def tree(first, leaves):
        if leaves == 1:
            return first
        step = leaves // 10
        children = [asyncio.create_task(tree(first + index * step, step)) for index in range(10)]
        total = 0
        for child in children:
            total += await child
        return total

    assert await asyncio.create_task(tree(0, LEAVES)) == sum(range(LEAVES))
    return LEAVES


async def group_100k():
    async with asyncio.TaskGroup() as group:
        for index in range(SPAWNED):
            group.create_task(value(index))
    return SPAWNED


async def gather_10k():
    async def woken(index):
        await asyncio.sleep(0)
        return index

    assert sum(await asyncio.gather(*map(woken, range(BRANCHES)))) == sum(range(BRANCHES))
    return BRANCHES


async def cancel_100k():
    tasks = [asyncio.create_task(asyncio.Event().wait()) for _ in range(SPAWNED)]
    await asyncio.sleep(0)
    begin = time.perf_counter_ns()
    for task in tasks:
        task.cancel()
    for task in tasks:
        try:
            await task
        except asyncio.CancelledError:
            pass
    return SPAWNED, time.perf_counter_ns() - begin


async def timeout_ready():
    for index in range(ONE_BY_ONE):
        async with asyncio.timeout(3600):
            assert await value(index) == index
    return ONE_BY_ONE


async def timeout_pending():
    for _ in range(ONE_BY_ONE):
        async with asyncio.timeout(3600):
            await asyncio.sleep(0)
    return ONE_BY_ONE


WORKLOADS = [spawn_join, spawn_one, spawn_detached, yield_many, skynet, group_100k, gather_10k, cancel_100k,
             timeout_ready, timeout_pending]


async def measure(workload, rounds):
    """Nanoseconds per operation. A workload may say which part of its time counts."""
    spent = operations = 0
    for _ in range(rounds):
        begin = time.perf_counter_ns()
        done = await workload()
        if isinstance(done, tuple):
            done, time_that_counts = done
            spent += time_that_counts
        else:
            spent += time.perf_counter_ns() - begin
        operations += done
    return spent / operations


def main():
    factory = None
    if sys.argv[1:] == ["uvloop"]:
        import uvloop

        factory = uvloop.new_event_loop
    known = {workload.__name__: workload for workload in WORKLOADS}
    with asyncio.Runner(loop_factory=factory) as runner:
        print("ready", flush=True)
        for line in sys.stdin:
            name, rounds = line.split()
            print(runner.run(measure(known[name], int(rounds))), flush=True)


main()
