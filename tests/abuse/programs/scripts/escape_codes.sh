# SPDX-License-Identifier: MIT
printf '\033]0;owned\007\033[2J\n'
