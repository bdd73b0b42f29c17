# docker build -t treeaudit .
# docker run --rm --network none -v "$PWD:/work" treeaudit scan model.pkl
FROM python:3.13-slim AS build
COPY . /source
# Wheels alone: the image has no compiler, and needs none.
RUN python -m venv /opt/treeaudit \
 && /opt/treeaudit/bin/python -m pip install --no-cache-dir --disable-pip-version-check \
    --only-binary=:all: --no-binary=treeaudit "/source[lz4,parquet]"

FROM python:3.13-slim
COPY --from=build /opt/treeaudit /opt/treeaudit
RUN useradd --create-home --uid 1000 auditor
USER auditor
WORKDIR /work
ENV PYTHONUTF8=1
ENTRYPOINT ["/opt/treeaudit/bin/treeaudit"]
CMD ["--help"]
