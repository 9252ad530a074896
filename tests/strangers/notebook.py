"""A real notebook kernel of the installed environment."""

import queue
from pathlib import Path
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager

from tests.strangers.installed import Installed


class _Kernel(KernelManager):
    """A kernel with a given interpreter."""

    python: str

    @property
    def kernel_spec(self) -> KernelSpec:
        return KernelSpec(argv=[self.python, "-m", "ipykernel_launcher", "-f", "{connection_file}"])


def run_cells(installed: Installed, folder: Path, *cells: str) -> str:
    """Run cells in a new kernel, and return their output and errors."""
    manager = _Kernel()
    manager.python = installed.python
    manager.start_kernel(cwd=str(folder), env=installed.environment)
    client = manager.blocking_client()
    assert isinstance(client, BlockingKernelClient)
    client.start_channels()
    said: list[str] = []

    def hear(message: dict[str, Any]) -> None:
        content = message["content"]
        said.append(content.get("text", "") + "\n".join(content.get("traceback", ())))

    try:
        client.wait_for_ready(timeout=120)
        for cell in cells:
            client.execute_interactive(cell, timeout=240, output_hook=hear)
    except queue.Empty as silent:
        raise AssertionError(f"the kernel does not answer: {said}") from silent
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    return "".join(said)
