#!/bin/sh
# Installs or replaces the Berth binary, after its signature and checksum were verified with OpenSSL 3.
#
#   sh install.sh berth-1.0.0-linux-x64 --key release-key.pem [--prefix /usr/local] [--systemd berth.service]
#
# The first argument is the path of the binary, with the .sha256 and .sha256.sig of the release beside it, or an https address below
# which the three are. Get release-key.pem from the repository, not from where the binary comes from.
set -eu

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

source="" key="" prefix=/usr/local unit=""
while [ $# -gt 0 ]; do
  case "$1" in
    --key) key="${2:?--key needs a file}"; shift 2 ;;
    --prefix) prefix="${2:?--prefix needs a folder}"; shift 2 ;;
    --systemd) unit="${2:?--systemd needs a file}"; shift 2 ;;
    -*) fail "There is no option $1." ;;
    *) [ -z "$source" ] || fail "Give one binary."; source="$1"; shift ;;
  esac
done
[ -n "$source" ] || fail "Name the binary: sh install.sh berth-1.0.0-linux-x64 --key release-key.pem"
[ -n "$key" ] || fail "Name the public key: --key release-key.pem. Without it, nothing proves where the binary comes from."
[ -f "$key" ] || fail "There is no key at $key."
command -v openssl >/dev/null || fail "openssl is missing. Install it first."
command -v sha256sum >/dev/null || fail "sha256sum is missing. Install coreutils first."

if [ -n "$unit" ]; then
  [ "$(id -u)" = 0 ] || fail "--systemd needs root."
  [ -f "$unit" ] || fail "There is no unit at $unit."
fi

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT INT TERM
name="$(basename "$source")"
for suffix in "" .sha256 .sha256.sig; do
  case "$source" in
    https://*) curl --fail --silent --show-error --location --proto '=https' --output "$work/$name$suffix" "$source$suffix" \
      || fail "$source$suffix could not be fetched." ;;
    *) [ -f "$source$suffix" ] || fail "$source$suffix is missing. The release has it."
      cp "$source$suffix" "$work/$name$suffix" ;;
  esac
done

# The signature first: a checksum that nobody signed proves nothing.
openssl pkeyutl -verify -pubin -inkey "$key" -rawin -in "$work/$name.sha256" -sigfile "$work/$name.sha256.sig" >/dev/null 2>&1 \
  || fail "The signature of $name.sha256 is not valid for this key. Nothing was installed."
line="$(grep -E "^[0-9a-f]{64}  $name\$" "$work/$name.sha256")" || fail "$name.sha256 has no checksum of $name. Nothing was installed."
(cd "$work" && echo "$line" | sha256sum --check --status) \
  || fail "The checksum of $name is wrong. Nothing was installed."
chmod 755 "$work/$name"
version="$("$work/$name" version)" || fail "$name does not run on this machine. Nothing was installed."

mkdir -p "$prefix/bin"
# A rename takes the place of a running program; a copy over it would fail.
cp "$work/$name" "$prefix/bin/.berth.new"
mv -f "$prefix/bin/.berth.new" "$prefix/bin/berth"
echo "berth $version is at $prefix/bin/berth, verified."

if [ -n "$unit" ]; then
  id berth >/dev/null 2>&1 || useradd --system --home-dir /var/lib/berth --shell /usr/sbin/nologin berth
  mkdir -p /etc/berth
  [ -f /etc/berth/berth.env ] || (umask 077 && : >/etc/berth/berth.env)
  installed=/etc/systemd/system/berth.service
  sed "s#^ExecStart=/usr/local/bin/berth #ExecStart=$prefix/bin/berth #" "$unit" >"$work/berth.service"
  # The same unit with a new program: a running service goes over to it without refusing a request.
  how=restart
  if cmp -s "$work/berth.service" "$installed"; then how=reload-or-restart; fi
  cp "$work/berth.service" "$installed"
  # Where systemd does not run, such as in an image, the unit starts at the next boot.
  if [ -d /run/systemd/system ]; then
    systemctl daemon-reload
    systemctl enable berth
    systemctl "$how" berth
    echo "The service runs: journalctl -u berth shows the link for the first admin."
  fi
fi
