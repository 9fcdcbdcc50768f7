# One process, no root, nothing writable but the database's folder. See docs/operations.md, "In a container".
FROM python:3.11.14-slim-bookworm AS builder
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/trainfare/venv
ENV PATH=/opt/trainfare/venv/bin:$PATH
WORKDIR /opt/trainfare
COPY requirements/build.txt requirements/main.txt requirements/
RUN pip install --require-hashes -r requirements/build.txt -r requirements/main.txt
COPY pyproject.toml README.md LICENSE ./
COPY migrations migrations
COPY scrapers scrapers
COPY app app
RUN pip install --no-deps --no-build-isolation --editable .

FROM python:3.11.14-slim-bookworm
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin trainfare \
    && install --directory --owner=trainfare /var/lib/trainfare
COPY --from=builder /opt/trainfare /opt/trainfare
ENV PATH=/opt/trainfare/venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    TRAINFARE_HOST=0.0.0.0 \
    TRAINFARE_PORT=8000 \
    TRAINFARE_DATABASE_URL=sqlite+aiosqlite:////var/lib/trainfare/trainfare.db
WORKDIR /opt/trainfare
USER 10001
VOLUME /var/lib/trainfare
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/readyz', timeout=2)"]
CMD ["trainfare", "serve"]
