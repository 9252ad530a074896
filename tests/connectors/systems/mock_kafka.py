"""A program that runs librdkafka's mock Kafka cluster: ``python mock_kafka.py FOLDER``.

The address of its broker is written to ``address``. Its data is lost when it ends.
"""

import sys
import time
from pathlib import Path

from confluent_kafka.admin import AdminClient

if __name__ == "__main__":
    client = AdminClient({"test.mock.num.brokers": 1, "bootstrap.servers": "mock", "log_level": 2})
    (broker,) = client.list_topics(timeout=10).brokers.values()
    address = Path(sys.argv[1]) / "address"
    address.with_suffix(".part").write_text(f"{broker.host}:{broker.port}")
    address.with_suffix(".part").rename(address)
    while True:
        client.poll(1)
        time.sleep(0)
