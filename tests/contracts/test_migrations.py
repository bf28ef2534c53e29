"""Migrations and models say the same."""

import pytest
from django.core.management import call_command


@pytest.mark.django_db
def test_every_change_of_a_model_has_its_migration(capsys):
    # Exits with 1 where one is missing; here, since it also asks the database.
    call_command("makemigrations", check_changes=True, dry_run=True)
    assert capsys.readouterr().out.strip() == "No changes detected"
