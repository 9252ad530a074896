# The image of the executors that Spark starts on Kubernetes: Spark's own image plus Boxcars.
# Its Python must have the same minor version (3.x) as the driver's.
#   docker build -f deploy/executor.Dockerfile -t boxcars-executor .
ARG SPARK_IMAGE=apache/spark:4.3.0-python3
FROM ${SPARK_IMAGE}
USER root
COPY pyproject.toml requirements.lock README.md LICENSE /src/
COPY bin/hatch_build.py /src/bin/
COPY boxcars /src/boxcars
RUN pip install --no-cache-dir --no-deps --require-hashes -r /src/requirements.lock \
    && pip install --no-cache-dir --no-deps --no-build-isolation /src
USER spark
