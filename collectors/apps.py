from django.apps import AppConfig
from django.core import checks


class CollectorsConfig(AppConfig):
    name = "collectors"

    def ready(self) -> None:
        from collectors import retention

        checks.register(retention.check_settings)
