"""The daemon of Spark that forks workers, but these are armed: see :mod:`tests.engine.killing`."""

from socket import socket

from pyspark import daemon

_work = daemon.worker


def _work_armed(sock: socket, authenticated: bool) -> int:
    from tests.engine.killing import arm  # behind the fork, for it starts threads

    arm("worker")
    return _work(sock, authenticated)


if __name__ == "__main__":
    daemon.worker = _work_armed
    daemon.manager()
