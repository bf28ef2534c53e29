# One image for the web server, the worker, beat and management commands.
FROM python:3.12-slim-bookworm AS build

ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/venv
COPY requirements/run.lock /tmp/run.lock
RUN /opt/venv/bin/pip install --require-hashes -r /tmp/run.lock


FROM python:3.12-slim-bookworm

ENV PATH=/opt/venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    DJANGO_SETTINGS_MODULE=dashboard.settings

# A number of our own, so that it is nobody else's on the host.
RUN groupadd --gid 10001 tokenpulse \
    && useradd --uid 10001 --gid 10001 --no-create-home --shell /usr/sbin/nologin tokenpulse

COPY --from=build /opt/venv /opt/venv
WORKDIR /app
COPY . .

# Settings are needed to read them, not to connect: these values serve this step alone.
RUN SECRET_KEY=build ENCRYPTION_KEYS=build REDIS_URL=redis://build DATABASE_URL=postgres://build/build \
    python manage.py collectstatic --no-input

USER 10001:10001
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s \
    CMD ["python", "docker/health.py", "web"]
CMD ["uvicorn", "dashboard.asgi:application", "--host", "0.0.0.0", "--port", "8000", \
     "--no-access-log", "--no-server-header", "--timeout-graceful-shutdown", "10"]
