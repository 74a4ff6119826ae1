# SPDX-License-Identifier: MIT
yes 'a line of output'
