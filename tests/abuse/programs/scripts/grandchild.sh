# SPDX-License-Identifier: MIT
(sleep 0.1; echo child) &
wait
echo parent
(setsid sleep 100 &)
