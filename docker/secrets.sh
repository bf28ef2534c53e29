#!/bin/sh
# Make the secrets that docker-compose.yml names, in secrets/: docker/secrets.sh [FOLDER]
#
# What is there already stays as it is. Only you can enter the folder; the files in it
# can be read by the containers' users, who are shown each its own alone.
set -eu

folder=${1:-secrets}
umask 022
mkdir -p "$folder"
chmod 700 "$folder"
cd "$folder"

random() { head -c 32 /dev/urandom | base64 | tr -d '\n' | tr '+/' '-_'; }

keep() {
    if [ ! -e "$1" ]; then
        printf '%s' "$2" >"$1.new"
        mv "$1.new" "$1"
    fi
}

keep secret_key "$(random)"
keep encryption_keys "$(random)"
keep postgres_password "$(random | tr -d =)"
keep valkey_password "$(random | tr -d =)"
keep database_url "postgres://tokenpulse:$(cat postgres_password)@postgres:5432/tokenpulse"
keep redis_url "redis://:$(cat valkey_password)@valkey:6379/0"
keep valkey_conf "requirepass $(cat valkey_password)
save ''
"
# Mail goes to the log until this is an address such as
# smtp+tls://user:password@host:587 (see docs/operations.md).
keep email_url consolemail://
