#!/bin/sh
# Stands in for timedatectl, which needs a running systemd.
sync=@SYNC@; props=; value=; verb=status
while [ $# -gt 0 ]; do case "$1" in
  -p|--property) props="$props $(echo "$2" | tr , ' ')"; shift;;
  --property=*) props="$props $(echo "${1#*=}" | tr , ' ')";;
  -p*) props="$props $(echo "${1#-p}" | tr , ' ')";;
  --value) value=1;;
  -*) ;;
  *) verb=$1;;
esac; shift; done

get() { case "$1" in
  Timezone) echo Etc/UTC;;
  LocalRTC) echo no;;
  CanNTP) echo yes;;
  NTP|NTPSynchronized) echo $sync;;
  TimeUSec|RTCTimeUSec) date '+%a %F %T %Z';;
  *) return 1;;
esac; }

case "$verb" in
show)
  for key in ${props:-Timezone LocalRTC CanNTP NTP NTPSynchronized TimeUSec RTCTimeUSec}; do
    text=$(get "$key") || continue
    if [ -n "$value" ]; then echo "$text"; else echo "$key=$text"; fi
  done;;
status)
  if [ $sync = yes ]; then service=active; else service=inactive; fi
  printf '%26s: %s\n' 'Local time' "$(date '+%a %F %T %Z')" 'Universal time' "$(date -u '+%a %F %T UTC')" \
    'RTC time' "$(date -u '+%a %F %T')" 'Time zone' 'Etc/UTC (UTC, +0000)' \
    'System clock synchronized' $sync 'NTP service' $service 'RTC in local TZ' no;;
*)
  echo "Failed to connect to bus: Permission denied" >&2; exit 1;;
esac
