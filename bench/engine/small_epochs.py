"""The fixed cost of an epoch: 1,000 calls, time windows, file to file, compared with native."""

from _beside import bench, frames
from streamcloud import calls, native, network

ROWS, FILES = 1000, 40


def main() -> None:
    with bench() as b:
        print(f"epochs of {ROWS:,} tuples: aggregate 60/10 by caller, local[2]")
        whole = calls(0)
        files = b.write("calls", frames(FILES, lambda n: whole[n * ROWS : (n + 1) * ROWS]))
        stream = b.read(files, "caller string, time long, duration long")
        theirs = b.native(native(stream))
        print(f"  native    {1000 * theirs:6.0f} ms, median of triggers", flush=True)
        ours = b.ours(network(), {"calls": files}, ROWS)
        print(f"  Boxcars   {1000 * ours:6.0f} ms, {theirs / ours:.1f} times as fast")


if __name__ == "__main__":
    main()
