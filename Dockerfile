# The service of HopRank: `docker compose --profile serve up --wait` runs it with its Neo4j.
FROM python:3.12-slim-bookworm AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /build
COPY pyproject.toml README.md LICENSE ./
COPY cypher cypher
COPY configs configs
COPY pipeline pipeline
# By uv, which reads in pyproject.toml that the package of the model's weights is to bring no PyTorch.
RUN pip install uv==0.9.* \
    && uv venv /opt/hoprank \
    && uv pip install --no-cache --python /opt/hoprank --constraint configs/constraints.txt ".[serve,mcp,ask]"

FROM python:3.12-slim-bookworm
RUN useradd --system --create-home --uid 10001 hoprank
COPY --from=build /opt/hoprank /opt/hoprank
ENV PATH=/opt/hoprank/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    HOPRANK_HOME=/home/hoprank/data
USER 10001
WORKDIR /home/hoprank
RUN mkdir data
VOLUME /home/hoprank/data
EXPOSE 8765
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=6 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8765/ready', timeout=4)"]
ENTRYPOINT ["hoprank"]
CMD ["serve", "--host", "0.0.0.0"]
