# SPDX-License-Identifier: MIT
# A run after an attack: it finds its sandbox empty and everything in order.
left=$(ls -A /tmp /var/tmp /dev/shm | grep -v ':$' | grep .)
here=$(ls -A | grep -vx 'witness.sh\|exec.py')
processes=$(ls -d /proc/[0-9]* | wc -l)
echo x >/tmp/x && rm /tmp/x || echo "cannot write"
grep -c . /proc/sysvipc/shm /proc/sysvipc/sem /proc/sysvipc/msg | grep -v ':1$'
(true) || echo "cannot fork"
[ -z "$left$here" ] && [ "$processes" -le 6 ] && echo clean || echo "found: $left $here; $processes processes"
