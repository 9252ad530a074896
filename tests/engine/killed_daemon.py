"""Spark's daemon that forks workers, which can kill the run: see :mod:`tests.engine.killing`."""

from socket import socket

from pyspark import daemon

_work = daemon.worker


def _work_armed(sock: socket, authenticated: bool) -> int:
    from tests.engine.killing import arm  # after the fork, because it starts threads

    arm("worker")
    return _work(sock, authenticated)


if __name__ == "__main__":
    daemon.worker = _work_armed
    daemon.manager()
