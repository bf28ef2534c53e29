"""Django settings. Whatever differs between installations comes from ``env.SCHEME``."""

from __future__ import annotations

from pathlib import Path

from celery.schedules import crontab
from csp.constants import NONE, SELF, UNSAFE_INLINE

from dashboard import env as environment

env = environment.read()
BASE_DIR = Path(__file__).resolve().parent.parent

SECRET_KEY = env("SECRET_KEY")
DEBUG = env("DEBUG")
ALLOWED_HOSTS = env("ALLOWED_HOSTS")
CSRF_TRUSTED_ORIGINS = env("CSRF_TRUSTED_ORIGINS")
BASE_URL = env("BASE_URL").rstrip("/")

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "servestatic",
    "django.contrib.staticfiles",
    "channels",
    "csp",
    "collectors",
    "alerts",
    "dashboard",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "servestatic.middleware.ServeStaticMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "dashboard.urls"
ASGI_APPLICATION = "dashboard.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# One pool a process: a thread borrows a connection for a query and gives it back
# while it waits for a model's answer, so that hundreds of threads need few.
DATABASES = {
    "default": {
        **env.db("DATABASE_URL"),
        "CONN_MAX_AGE": 0,
        "OPTIONS": {
            "pool": {
                "min_size": 1,
                "max_size": env("DATABASE_POOL_SIZE"),
                "timeout": 30,
            },
        },
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"

REDIS_URL = env("REDIS_URL")
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [REDIS_URL], "prefix": "tokenpulse"},
    }
}

# Who is told of each stored sample, in this order and in its transaction.
SAMPLE_SINKS = ["alerts.evaluator.on_sample", "dashboard.live.on_sample"]
# Who is told when the word for a monitor changes.
STATE_SINKS = ["dashboard.live.on_state"]
ENCRYPTION_KEYS = env("ENCRYPTION_KEYS")
# A key may be named by its environment variable; only these patterns may be read,
# so that a form cannot send this machine's other variables to a server.
KEY_VARIABLES = env("KEY_VARIABLES")
SIMULATOR_URL = env("SIMULATOR_URL").rstrip("/")
VANTAGE = env("VANTAGE")
ALERT_MAIL_TO = env("ALERT_MAIL_TO")
# Days; 0 is for ever.
KEEP_RAW_DAYS = env("KEEP_RAW_DAYS")
KEEP_5MIN_DAYS = env("KEEP_5MIN_DAYS")
KEEP_1H_DAYS = env("KEEP_1H_DAYS")
KEEP_1D_DAYS = env("KEEP_1D_DAYS")

CELERY_BROKER_URL = REDIS_URL
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "global_keyprefix": "tokenpulse:",
    "health_check_interval": 10,
    "socket_connect_timeout": 5,
}
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_TIMEZONE = "UTC"
# In memory: what is due lives in the database, so beat has nothing to remember.
CELERY_BEAT_SCHEDULER = "celery.beat:Scheduler"
CELERY_BEAT_MAX_LOOP_INTERVAL = 1
CELERY_BEAT_SCHEDULE = {
    "tick": {
        "task": "collectors.tick",
        "schedule": 1.0,
        "options": {"expires": 3},
    },
    "sweep": {
        "task": "collectors.sweep",
        "schedule": 5.0,
        "options": {"expires": 5},
    },
    "watch": {
        "task": "alerts.watch",
        "schedule": 5.0,
        "options": {"expires": 5},
    },
    "deliver": {
        "task": "alerts.deliver",
        "schedule": 2.0,
        "options": {"expires": 5},
    },
    "roll_up": {
        "task": "collectors.roll_up",
        "schedule": 60.0,
        "options": {"expires": 60},
    },
    # Deletes once a day; each hour it tries what was in use the hour before.
    "retain": {
        "task": "collectors.retain",
        "schedule": crontab(minute="37"),
        "options": {"expires": 3000},
    },
    "housekeep": {
        "task": "collectors.housekeep",
        "schedule": crontab(minute="7"),
        "options": {"expires": 3000},
    },
}

vars().update(env.email("EMAIL_URL"))
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env("EMAIL_FROM")
EMAIL_TIMEOUT = 20

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "overview"
LOGOUT_REDIRECT_URL = "login"

SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = env("HTTPS")
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if env("HTTPS") else None
SECURE_HSTS_SECONDS = 31_536_000 if env("HTTPS") else 0
SECURE_CONTENT_TYPE_NOSNIFF = True
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        # Plotly positions its parts by style attributes, which no nonce can allow.
        "style-src-attr": [UNSAFE_INLINE],
    }
}

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

STATIC_URL = "/static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "dashboard.storage.ModuleManifestStorage"},
}
SERVESTATIC_USE_MANIFEST = not DEBUG

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"},
    },
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": "line"},
    },
    "root": {"handlers": ["console"], "level": env("LOG_LEVEL")},
    "loggers": {
        # Request lines carry base URLs, and ours is to say how a probe went.
        "httpx": {"level": "WARNING"},
        "httpcore": {"level": "WARNING"},
        "celery.worker.strategy": {"level": "WARNING"},
        "celery.app.trace": {"level": "WARNING"},
        "celery.beat": {"level": "WARNING"},
    },
}
