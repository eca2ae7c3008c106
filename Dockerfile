# The KRM function as an image: docker build -t krm-fn:dev .
#
# The base is any image with Python 3.11 and its venv module; `make images` pins it by digest. An index of one's own, and its
# certificates, come as the build secrets `pip` (a pip.conf) and `ca`; neither enters a layer.
ARG BASE=docker.io/library/python:3.11-slim-bookworm

FROM ${BASE} AS build
ENV PIP_CONFIG_FILE=/run/secrets/pip \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_ROOT_USER_ACTION=ignore
WORKDIR /src
COPY requirements-build.lock requirements-runtime.lock ./
# /opt/krm-fn is the environment; /opt/build, with what makes the wheel, stays behind.
RUN --mount=type=secret,id=pip --mount=type=secret,id=ca \
    python3 -m venv /opt/krm-fn && \
    /opt/krm-fn/bin/pip install --quiet --require-hashes -r requirements-runtime.lock && \
    python3 -m venv /opt/build && \
    /opt/build/bin/pip install --quiet --require-hashes -r requirements-build.lock
COPY pyproject.toml README.md LICENSE ./
COPY krm_fn krm_fn
RUN /opt/build/bin/pip wheel --quiet --no-deps --no-index --no-build-isolation -w /wheels . && \
    /opt/krm-fn/bin/pip install --quiet --no-deps --no-index /wheels/*.whl && \
    /opt/krm-fn/bin/pip uninstall --quiet --yes setuptools pip && \
    python3 -m compileall -q -f --invalidation-mode unchecked-hash /opt/krm-fn/lib

FROM ${BASE}
ARG BASE
ARG VERSION=dev
ARG REVISION=
LABEL org.opencontainers.image.title="krm-fn" \
      org.opencontainers.image.description="A KRM function that admits manifests as a cluster would, before it" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.base.name="${BASE}"
# Slim images come without .pyc; on a read-only root they would be compiled at every start.
RUN python3 -m compileall -q -x '/(test|lib2to3|idlelib|tkinter|dist-packages|site-packages)/' \
    "$(python3 -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')"
COPY --from=build /opt/krm-fn /opt/krm-fn
COPY tools/image-entry.py /opt/krm-fn/bin/image-entry.py
ENV PATH=/opt/krm-fn/bin:${PATH} \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONNOUSERSITE=1 \
    PYTHONSAFEPATH=1
USER 65534:65534
WORKDIR /
ENTRYPOINT ["/opt/krm-fn/bin/python3", "-I", "-B", "-S", "/opt/krm-fn/bin/image-entry.py"]
