#!/usr/bin/env python
"""Django's command line for TokenPulse."""

import os
import sys

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
    from django.core.management import execute_from_command_line

    from dashboard.env import MissingSetting

    try:
        execute_from_command_line(sys.argv)
    except MissingSetting as error:
        print(error, file=sys.stderr)
        sys.exit(2)
